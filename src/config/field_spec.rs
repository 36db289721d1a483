//! [`FieldSpec`]: which field of which kind a transformer works on, and the walk to it.

use super::decode::{Decode, Decoder};
use crate::diag::{Error, Result};
use crate::resource::Gvk;
use crate::yaml::{Arena, Mapping, Node, Scalar, Value};

/// A field spec as the tables hold it.
#[derive(Debug)]
pub struct DefaultSpec {
    pub group: &'static str,
    pub version: &'static str,
    pub kind: &'static str,
    pub path: &'static str,
    pub create: bool,
}

/// A field of the kinds that `gvk` selects: empty parts select any.
#[derive(Clone, Debug, Default)]
pub struct FieldSpec<'a> {
    /// The kinds it is for.
    pub gvk: Gvk<'a>,
    /// Keys joined by slashes; `\/` is a slash in a key. Lists on the way are entered, `[]` behind a key says
    /// that one is expected there and nothing is made.
    pub path: &'a str,
    /// Whether a missing field is made.
    pub create: bool,
}

impl<'a> Decode<'a> for FieldSpec<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        cx.object(
            node,
            &mut [
                ("group", &mut self.gvk.group),
                ("version", &mut self.gvk.version),
                ("kind", &mut self.gvk.kind),
                ("path", &mut self.path),
                ("create", &mut self.create),
            ],
        )?;
        Ok(())
    }
}

impl From<&DefaultSpec> for FieldSpec<'_> {
    fn from(s: &DefaultSpec) -> Self {
        FieldSpec { gvk: Gvk { group: s.group, version: s.version, kind: s.kind }, path: s.path, create: s.create }
    }
}

/// One element of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step<'a> {
    pub key: &'a str,
    /// Written with `[]`: never made, and an empty list where it is null.
    pub list: bool,
}

impl<'a> Step<'a> {
    fn new(part: &'a str) -> Self {
        let (key, list) = part.strip_suffix("[]").map_or((part, false), |key| (key, true));
        Step { key: key.trim(), list }
    }

    /// Refuses what is not the name of a field, once a mapping is asked for it. Upstream reads one part of a path as the
    /// path of its own language, which has items of lists, too.
    ///
    /// # Errors
    /// The step is empty, `*`, `-`, a number or in brackets.
    pub fn check(&self) -> Result<()> {
        let is_item = || {
            self.key == "-" || self.key.parse::<i64>().is_ok() || (self.key.starts_with('[') && self.key.ends_with(']'))
        };
        match self.key.as_bytes() {
            [] => Err(Error::input("cannot set or create an empty field name")),
            b"*" => Err(Error::input("wildcard is not supported in the path of a field")
                .hint("lists on the way are entered without a sign")),
            [b'*' | b'-' | b'+' | b'[' | b'0'..=b'9', ..] if is_item() => {
                Err(Error::input(format!("wrong node kind: '{}' is for an item of a list, found a mapping", self.key)))
            }
            _ => Ok(()),
        }
    }

    /// Makes a null list an empty one, as upstream does on its way.
    pub fn settle(&self, value: &mut Node<'_>) {
        if self.list && value.is_null() {
            value.value = Value::Sequence(Vec::new());
        }
    }
}

/// Splits a path at its slashes.
pub fn split<'a>(arena: &'a Arena, path: &'a str) -> Vec<Step<'a>> {
    let path = path.strip_prefix('/').unwrap_or(path);
    if !path.contains("\\/") {
        return path.split('/').map(Step::new).collect();
    }
    let marked = arena.text(&path.replace("\\/", "\u{0}"));
    marked.split('/').map(|part| Step::new(arena.text(&part.replace('\u{0}', "/")))).collect()
}

/// What a missing field becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Create {
    No,
    Scalar,
    Mapping,
}

/// Calls `edit` on every node that a path leads to. O(nodes on the way).
///
/// # Errors
/// A scalar stands on the way, a part of the path is not a field, or those of `edit`.
pub fn walk<'a>(
    node: &mut Node<'a>,
    path: &[Step<'a>],
    create: Create,
    edit: &mut dyn FnMut(&mut Node<'a>) -> Result<()>,
) -> Result<()> {
    let Some((step, rest)) = path.split_first() else {
        return edit(node);
    };
    match &mut node.value {
        Value::Sequence(items) => items.iter_mut().try_for_each(|item| walk(item, path, create, edit)),
        Value::Scalar(s) if s.is_null() => Ok(()),
        Value::Scalar(_) => Err(Error::input("expected sequence or mapping node, found a scalar")),
        Value::Mapping(m) => {
            step.check()?;
            let makes = create != Create::No && !step.list;
            if !makes && !m.contains(step.key) {
                return Ok(());
            }
            let value = m.get_or_insert_with(step.key, || Scalar::plain("").into());
            step.settle(value);
            // A null that is written is a text to a transformer that makes one.
            let is_text = rest.is_empty() && create == Create::Scalar;
            if makes && value.is_null() && !is_text {
                value.value = Value::Mapping(Mapping::new());
            }
            walk(value, rest, create, edit)
        }
    }
}

/// A list of field specs, with their paths split, and for each kind the ones that apply.
#[derive(Clone, Debug, Default)]
pub struct FieldSpecs<'a> {
    specs: Vec<(FieldSpec<'a>, Vec<Step<'a>>)>,
}

impl<'a> FieldSpecs<'a> {
    /// Splits the paths of some specs.
    pub fn new(arena: &'a Arena, specs: impl IntoIterator<Item = FieldSpec<'a>>) -> Self {
        let with_path = |spec: FieldSpec<'a>| (split(arena, spec.path), spec);
        FieldSpecs { specs: specs.into_iter().map(with_path).map(|(path, spec)| (spec, path)).collect() }
    }

    /// Whether there are no specs.
    pub fn is_empty(&self) -> bool {
        self.specs.is_empty()
    }

    /// Whether there is just one spec, with this path and for all kinds.
    pub fn is_one_for_all(&self, path: &str) -> bool {
        matches!(self.specs.as_slice(), [(spec, _)] if spec.path == path && spec.gvk == Gvk::default())
    }

    /// The specs for one kind, in order.
    pub fn for_gvk<'s>(&'s self, gvk: Gvk<'s>) -> impl Iterator<Item = (&'s FieldSpec<'a>, &'s [Step<'a>])> + 's {
        self.specs.iter().filter(move |(spec, _)| spec.gvk.selects(&gvk)).map(|(spec, path)| (spec, &path[..]))
    }
}

/// Adds specs to a list as upstream merges them: one with a path that is there already for
/// the same or more kinds is dropped.
///
/// # Errors
/// The two disagree about `create`.
pub fn merge<'a>(into: &mut Vec<FieldSpec<'a>>, specs: impl IntoIterator<Item = FieldSpec<'a>>) -> Result<()> {
    for spec in specs {
        match into.iter().find(|have| have.path == spec.path && spec.gvk.selects(&have.gvk)) {
            None => into.push(spec),
            Some(have) if have.create == spec.create => {}
            Some(_) => {
                return Err(Error::input(format!("conflicting fieldspecs for path '{}'", spec.path)));
            }
        }
    }
    Ok(())
}
