//! The annotations in which kustomize keeps the file and the place of a resource while `cfg` works
//! on it, each under a new name and a deprecated one.

use super::{Item, wrong_kind};
use crate::diag::{Code, Error, Result};
use rustomize_yaml::noted::{Document, Noted, Shape};
use rustomize_yaml::{Arena, Scalar, Style, Tag};

/// The path of the file, and its deprecated name.
pub const PATH: [&str; 2] = ["internal.config.kubernetes.io/path", "config.kubernetes.io/path"];

/// The number of the document in its file, and its deprecated name.
pub const INDEX: [&str; 2] = ["internal.config.kubernetes.io/index", "config.kubernetes.io/index"];

/// The number of the resource in the input of a function, and its deprecated name.
pub const ID: [&str; 2] = ["internal.config.kubernetes.io/id", "config.k8s.io/id"];

/// The style of lists in the file.
pub const SEQUENCE_INDENT: &str = "internal.config.kubernetes.io/seqindent";

/// The number of the resource in the input of a step.
const STEP_ID: &str = "internal.config.kubernetes.io/annotations-migration-resource-id";

const PAIRS: [([&str; 2], &str); 3] = [(PATH, "path"), (INDEX, "index"), (ID, "id")];

/// The value of an annotation; an empty one counts as missing.
pub fn get<'a>(item: &Item<'a>, key: &str) -> Option<&'a str> {
    let annotations = item.root().get("metadata")?.get("annotations")?;
    annotations.get(key).map(Noted::value).filter(|value| !value.is_empty())
}

/// Returns true if an item has an annotation, whatever its value.
pub fn has(item: &Item<'_>, key: &str) -> bool {
    let annotations = item.root().get("metadata").and_then(|metadata| metadata.get("annotations"));
    annotations.is_some_and(|annotations| annotations.get(key).is_some())
}

/// Removes empty annotations, and empty metadata.
///
/// # Errors
/// The item, or its metadata, is not a mapping.
pub fn clear_empty(item: &mut Item<'_>) -> Result<()> {
    let fault = |document: &Document<'_>, node: &Noted<'_>| {
        wrong_kind("MappingNode", node).at(document.pos(node)).hint("a resource is a mapping, and so is its metadata")
    };
    let metadata = item.root().get("metadata").filter(|metadata| !metadata.is_null());
    for node in [Some(item.root()), metadata].into_iter().flatten() {
        if !matches!(node.shape, Shape::Mapping { .. }) {
            return Err(fault(&item.document, node));
        }
    }
    let root = &mut item.document.root;
    let is_empty = |node: &Noted<'_>| match &node.shape {
        Shape::Mapping { entries, .. } => entries.is_empty(),
        Shape::Sequence { items, .. } => items.is_empty(),
        Shape::Scalar(_) | Shape::Alias(_) => true,
    };
    if let Some(metadata) = root.get_mut("metadata") {
        remove_if(metadata, "annotations", is_empty);
    }
    remove_if(root, "metadata", is_empty);
    Ok(())
}

fn remove_if(node: &mut Noted<'_>, key: &str, is_meant: impl Fn(&Noted<'_>) -> bool) {
    if let Some(entries) = node.entries_mut()
        && let Some(i) = entries.iter().position(|(k, value)| k.value() == key && is_meant(value))
    {
        entries.remove(i);
    }
}

/// The mapping under a key, which is made if it is missing.
fn mapping<'n, 'a>(node: &'n mut Noted<'a>, key: &'static str) -> Result<&'n mut Vec<(Noted<'a>, Noted<'a>)>> {
    if node.get(key).is_none()
        && let Some(entries) = node.entries_mut()
    {
        entries.push((Noted::text(key), Noted::mapping(Vec::new())));
    }
    match node.get_mut(key) {
        Some(Noted { shape: Shape::Mapping { entries, .. }, .. }) => Ok(entries),
        Some(below) => Err(wrong_kind("MappingNode", below)),
        None => Err(Error::new(Code::WrongType, format!("'{key}' is not in a mapping"))),
    }
}

/// Sets an annotation: a new one comes last, in single quotes; an existing one keeps its quotes and
/// loses its comments.
///
/// # Errors
/// The item, its metadata or its annotations are not a mapping.
pub fn set<'a>(arena: Arena<'a>, item: &mut Item<'a>, key: &'static str, value: &str) -> Result<()> {
    clear_empty(item)?;
    let start = item.document.pos(item.root());
    mapping(&mut item.document.root, "metadata")?;
    let Some(metadata) = item.document.root.get_mut("metadata") else { return Ok(()) };
    let annotations = mapping(metadata, "annotations").map_err(|e| e.at(start))?;
    let text = arena.text(value);
    match annotations.iter_mut().find(|(k, _)| k.value() == key) {
        Some((_, old)) => {
            let style = old.as_scalar().map_or(Style::Plain, Scalar::style);
            *old = Noted::scalar(Scalar::new(text, style, Tag::Str));
        }
        None => annotations.push((Noted::text(key), Noted::scalar(Scalar::new(text, Style::Single, Tag::Str)))),
    }
    Ok(())
}

/// Removes an annotation.
pub fn clear(item: &mut Item<'_>, key: &str) {
    let annotations = item.document.root.get_mut("metadata").and_then(|metadata| metadata.get_mut("annotations"));
    if let Some(annotations) = annotations {
        remove_if(annotations, key, |_| true);
    }
}

/// Gives each annotation of a pair the value that the other one has.
///
/// # Errors
/// The two differ, or an annotation cannot be set.
pub fn complete<'a>(arena: Arena<'a>, item: &mut Item<'a>) -> Result<()> {
    for ([new, old], _) in PAIRS {
        match (get(item, new), get(item, old)) {
            (Some(value), None) => set(arena, item, old, value)?,
            (None, Some(value)) => set(arena, item, new, value)?,
            _ => {}
        }
    }
    Ok(())
}

fn mismatch(what: &str) -> Error {
    let fault = format!("resource input to function has mismatched legacy and internal {what} annotations");
    Error::new(Code::BadValue, fault)
}

fn check(item: &Item<'_>) -> Result<()> {
    for ([new, old], what) in PAIRS {
        if let (Some(new), Some(old)) = (get(item, new), get(item, old))
            && new != old
        {
            return Err(mismatch(what));
        }
    }
    Ok(())
}

/// The annotations of an item before a step: those of each pair.
type Before<'a> = Vec<[Option<&'a str>; 2]>;

/// Runs a step, and makes the pairs of annotations agree afterwards. Returns `None` if no item is
/// left: then kustomize prints nothing at all.
///
/// # Errors
/// The step fails, or a pair does not agree.
pub fn step<'a>(
    arena: Arena<'a>,
    mut items: Vec<Item<'a>>,
    run: impl FnOnce(Vec<Item<'a>>) -> Result<Vec<Item<'a>>>,
) -> Result<Option<Vec<Item<'a>>>> {
    let mut before: Vec<Before<'a>> = Vec::with_capacity(items.len());
    for (i, item) in items.iter_mut().enumerate() {
        set(arena, item, STEP_ID, &i.to_string())?;
        before.push(PAIRS.iter().map(|(pair, _)| pair.map(|key| get(item, key))).collect());
        complete(arena, item)?;
        check(item)?;
    }
    let mut items = run(items)?;
    if items.is_empty() {
        return Ok(None);
    }
    let (uses_new, uses_old) = used(&before)?;
    for item in &mut items {
        complete(arena, item)?;
        altered(arena, item, &before)?;
        for ([new, old], _) in PAIRS {
            if !uses_new {
                clear(item, new);
            }
            if !uses_old {
                clear(item, old);
            }
        }
        check(item)?;
        clear(item, STEP_ID);
    }
    Ok(Some(items))
}

/// Returns, for both names of an annotation, true if the items had annotations with that name.
fn used(before: &[Before<'_>]) -> Result<(bool, bool)> {
    if before.is_empty() {
        return Ok((true, true));
    }
    let mut used = [None, None];
    for pairs in before {
        let has = [0, 1].map(|name| pairs.iter().any(|pair| pair[name].is_some()));
        if has == [false, false] {
            continue;
        }
        for (known, has) in used.iter_mut().zip(has) {
            if *known.get_or_insert(has) != has {
                let fault = "the annotation formatting in the input resources is not consistent";
                return Err(Error::new(Code::BadValue, fault));
            }
        }
    }
    Ok((used[0].unwrap_or_default(), used[1].unwrap_or_default()))
}

/// Carries a change of one annotation of a pair over to the other one.
fn altered<'a>(arena: Arena<'a>, item: &mut Item<'a>, before: &[Before<'a>]) -> Result<()> {
    let Some(before) = get(item, STEP_ID).and_then(|id| before.get(id.parse::<usize>().ok()?)) else { return Ok(()) };
    for (([new, old], what), was) in PAIRS.into_iter().zip(before).take(2) {
        let Some(was) = was[0].or(was[1]) else { continue };
        let is = [new, old].map(|key| get(item, key).unwrap_or_default());
        match is {
            [a, b] if a != was && b != was && a != b => return Err(mismatch(what)),
            [a, _] if a != was => set(arena, item, old, a)?,
            [_, b] if b != was => set(arena, item, new, b)?,
            _ => {}
        }
    }
    Ok(())
}
