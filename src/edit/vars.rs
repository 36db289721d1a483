//! Turns variables into replacements. For each variable, the files of the kustomization are
//! searched for `$(NAME)`. Each place becomes a target of a replacement, and the text
//! `NAME_PLACEHOLDER`.

use super::draft::{self, Draft};
use super::place;
use crate::config::kustomization::Patch;
use crate::config::var::Var;
use crate::config::{Decode, Decoder};
use crate::diag::{Code, Error, Result};
use crate::load::join;
use crate::load::kustomization_file::FILE_NAMES;
use crate::schema::Gvk;
use rustomize_yaml::{Arena, Key, Mapping, Node, Pos, Scalar, Sequence, Value, documents, first_document};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A file with resources or a patch.
pub struct ResourceFile {
    path: String,
    text: String,
    is_changed: bool,
}

/// A file, and the entry of `patches` that names it.
struct UsedFile<'a> {
    file: ResourceFile,
    patch: Option<Patch<'a>>,
    /// The documents of its text; none if it is not valid YAML.
    documents: Vec<Node<'a>>,
}

/// The files that may have a variable, by its name.
#[derive(Default)]
struct FilesByVariable(BTreeMap<String, BTreeSet<usize>>);

impl FilesByVariable {
    /// Adds a file, which may be known already. O(text).
    fn add(&mut self, at: usize, of: &UsedFile<'_>) {
        self.add_text(at, &of.file.text);
        // A text may be written in another way than it reads.
        let mut open: Vec<&Node<'_>> = of.documents.iter().collect();
        while let Some(node) = open.pop() {
            match node.value() {
                Value::Scalar(scalar) => self.add_text(at, scalar.text()),
                Value::Sequence(items) => open.extend(items),
                Value::Mapping(mapping) => open.extend(mapping.iter().map(|entry| entry.value())),
            }
        }
    }

    fn add_text(&mut self, at: usize, text: &str) {
        let (mut start, ends) = (0, text.match_indices(')'));
        for (end, _) in ends {
            if let Some((_, name)) = text[start..end].rsplit_once("$(") {
                self.0.entry(name.to_owned()).or_default().insert(at);
            }
            start = end + 1;
        }
    }

    /// The places of the files that may have a variable, in order. `all` is the number of files.
    fn of(&self, name: &str, all: usize) -> Vec<usize> {
        match name.contains(')') || name.contains("$(") {
            true => (0..all).collect(),
            false => self.0.get(name).into_iter().flatten().copied().collect(),
        }
    }
}

/// The entries of a kustomization that name files.
struct FileEntries<'e, 'a> {
    resources: &'e [&'a str],
    patches: &'e [Node<'a>],
}

/// The variable as a part of a text.
struct Piece {
    path: String,
    /// The character that splits the text; `None` if the variable is the whole text.
    delimiter: Option<char>,
    index: usize,
}

/// Turns the variables of a kustomization into replacements. Returns the files that use them, with
/// their new texts.
///
/// # Errors
/// A variable is part of a text without a delimiter around it, or a kustomization below cannot be
/// read.
pub fn convert(draft: &mut Draft<'_>) -> Result<Vec<ResourceFile>> {
    let arena = draft.arena;
    let cx = Decoder::strict(arena);
    let Some(written) = draft.get("vars").filter(|node| !node.is_null()).cloned() else { return Ok(Vec::new()) };
    let mut vars = Vec::<Var<'_>>::new();
    vars.decode(&written, &cx)?;
    let mut used = Vec::new();
    let (resources, patches) = (draft.texts("resources"), draft.items("patches").cloned().collect::<Vec<_>>());
    files(arena, ".", FileEntries { resources: &resources, patches: &patches }, &mut used)?;
    let mut by_variable = FilesByVariable::default();
    used.iter().enumerate().for_each(|(at, file)| by_variable.add(at, file));
    let mut replacements = Sequence::default();
    for var in &vars {
        let mut targets = Sequence::default();
        let having = by_variable.of(var.name, used.len());
        for UsedFile { file, patch, documents } in having.iter().map(|at| &used[*at]) {
            for node in documents.iter().flat_map(unlisted) {
                let pieces = pieces(node, var.name).map_err(|Unsplit { message, pos }| {
                    let error = Error::new(Code::WrongType, format!("error with {}: {message}", file.path)).at(pos);
                    error.hint("give the variable a text of its own, or the same sign on both sides, as in /$(NAME)/")
                })?;
                targets.extend(pieces.iter().map(|piece| target(arena, node, patch.as_ref(), piece)));
            }
        }
        replacements.push(replacement(arena, var, targets));
        for at in having {
            let file = &mut used[at].file;
            let text = file.text.replace(&format!("$({})", var.name), &format!("{}_PLACEHOLDER", var.name));
            if text != file.text {
                (file.text, file.is_changed) = (text, true);
                used[at].documents = read(arena, &used[at].file);
                by_variable.add(at, &used[at]);
            }
        }
    }
    draft.remove("vars")?;
    draft.list("replacements")?.extend(replacements.into_items());
    draft.drop_if_empty("replacements")?;
    Ok(used.into_iter().map(|used| used.file).filter(|file| file.is_changed).collect())
}

/// Writes changed files.
///
/// # Errors
/// A file cannot be written. The files before it have been written.
pub fn write(files: &[ResourceFile]) -> Result<()> {
    files.iter().try_for_each(|ResourceFile { path, text, .. }| {
        place::write(Path::new(path), text.as_bytes()).map_err(|e| Error::io(&e, format!("'{path}': {e}")))
    })
}

/// The files that a kustomization in a directory names, and the files of the kustomizations that it
/// names.
fn files<'a>(
    arena: Arena<'a>,
    directory: &str,
    FileEntries { resources, patches }: FileEntries<'_, 'a>,
    used: &mut Vec<UsedFile<'a>>,
) -> Result<()> {
    for resource in resources {
        let path = join(directory, resource);
        for name in FILE_NAMES {
            let Ok(text) = fs::read_to_string(Path::new(&path).join(name)) else { continue };
            let root = first_document(arena, arena.add_source(join(&path, name), text))?;
            let Some(root) = root else { continue };
            let list = |field| draft::get(&root, field).and_then(Node::as_sequence).into_iter().flatten();
            let texts = |field| list(field).filter_map(Node::as_scalar).map(Scalar::text);
            let resources: Vec<&str> = texts("resources").chain(texts("bases")).collect();
            let patches: Vec<Node<'a>> = list("patches").cloned().collect();
            files(arena, &path, FileEntries { resources: &resources, patches: &patches }, used)?;
        }
        add(arena, path, None, used);
    }
    for entry in patches {
        let mut patch = Patch::default();
        patch.decode(entry, &Decoder::strict(arena))?;
        if !patch.path.is_empty() {
            add(arena, join(directory, patch.path), Some(patch), used);
        }
    }
    Ok(())
}

fn add<'a>(arena: Arena<'a>, path: String, patch: Option<Patch<'a>>, used: &mut Vec<UsedFile<'a>>) {
    if let Ok(text) = fs::read_to_string(&path) {
        let file = ResourceFile { path, text, is_changed: false };
        used.push(UsedFile { documents: read(arena, &file), file, patch });
    }
}

/// The documents of a file; none if it is not valid YAML.
fn read<'a>(arena: Arena<'a>, file: &ResourceFile) -> Vec<Node<'a>> {
    documents(arena, arena.add_source(file.path.clone(), file.text.clone())).unwrap_or_default()
}

/// The resources in a document: the document itself, or its items if it is a list.
fn unlisted<'n, 'a>(node: &'n Node<'a>) -> Vec<&'n Node<'a>> {
    let is_list = matches!(node.get_text("kind"), Some("List" | "ResourceList"));
    let items = node.get("items").and_then(Node::as_sequence).filter(|_| is_list);
    items.map_or_else(|| vec![node], |items| items.iter().collect())
}

/// The fault of a text in which no sign separates a variable from what is around it.
struct Unsplit {
    message: String,
    pos: Pos,
}

/// The places of a variable in a resource.
fn pieces(node: &Node<'_>, name: &str) -> Result<Vec<Piece>, Unsplit> {
    let mut found = Vec::new();
    search(node, &format!("$({name})"), &mut Vec::new(), &mut found)?;
    Ok(found)
}

fn search(node: &Node<'_>, var: &str, path: &mut Vec<String>, found: &mut Vec<Piece>) -> Result<(), Unsplit> {
    match node.value() {
        Value::Sequence(items) => {
            for (i, item) in items.iter().enumerate() {
                path.push(i.to_string());
                search(item, var, path, found)?;
                path.pop();
            }
        }
        Value::Mapping(mapping) => {
            let mut entries: Vec<_> = mapping.iter().collect();
            entries.sort_by_key(|entry| entry.key().pos());
            for entry in entries {
                let key = entry.key().text().trim();
                path.push(if key.contains('.') { format!("[{key}]") } else { key.to_owned() });
                search(entry.value(), var, path, found)?;
                path.pop();
            }
        }
        Value::Scalar(scalar) => {
            if let Some(start) = scalar.text().find(var) {
                let unsplit = |message| Unsplit { message, pos: node.pos() };
                let (delimiter, index) = split(scalar.text(), var, start).map_err(unsplit)?;
                found.push(Piece { path: path.join("."), delimiter, index });
            }
        }
    }
    Ok(())
}

/// The character that splits a text so that the variable is one of its parts, and the index of the
/// part.
fn split(text: &str, var: &str, start: usize) -> Result<(Option<char>, usize), String> {
    let (before, after) = (text[..start].chars().next_back(), text[start + var.len()..].chars().next());
    match (before, after) {
        (None, None) => Ok((None, 0)),
        (None, Some(after)) => Ok((Some(after), 0)),
        (Some(before), None) => Ok((Some(before), text.split(before).count() - 1)),
        (Some(before), Some(after)) if before == after => {
            let index = text.split(before).position(|part| part == var);
            let index = index.ok_or_else(|| format!("internal error: could not get index of var {var}"))?;
            Ok((Some(before), index))
        }
        _ => Err(format!("cannot convert all vars to replacements; {var} is not delimited")),
    }
}

/// A mapping of the texts in `entries` that are not empty.
fn texts<'a>(entries: &[(&'static str, &'a str)]) -> Mapping<'a> {
    let mut mapping = Mapping::new();
    for (name, text) in entries.iter().filter(|(_, text)| !text.is_empty()) {
        mapping.insert(Key::string(name), Node::string(text));
    }
    mapping
}

/// The target for a place in a resource or in a patch. A patch may apply to several resources,
/// whose names may differ from its own.
fn target<'a>(arena: Arena<'a>, node: &Node<'a>, patch: Option<&Patch<'a>>, piece: &Piece) -> Node<'a> {
    let metadata = |name| node.get("metadata").and_then(|metadata| metadata.get_text(name)).unwrap_or_default();
    let kind = node.get_text("kind").unwrap_or_default();
    let select = match patch.filter(|patch| !(patch.options.allow_name_change && patch.options.allow_kind_change)) {
        Some(patch) => {
            let of = patch.target.clone().unwrap_or_default();
            let own = metadata("namespace");
            texts(&[
                ("group", of.group),
                ("version", of.version),
                ("kind", if patch.options.allow_kind_change { kind } else { of.kind }),
                ("name", if patch.options.allow_name_change { metadata("name") } else { of.name }),
                ("namespace", if own.is_empty() { of.namespace } else { own }),
                ("annotationSelector", of.annotation_selector),
                ("labelSelector", of.label_selector),
            ])
        }
        None => {
            let Gvk { group, version, .. } = Gvk::new(node.get_text("apiVersion").unwrap_or_default(), kind);
            let (name, namespace) = (metadata("name"), metadata("namespace"));
            texts(&[("group", group), ("version", version), ("kind", kind), ("name", name), ("namespace", namespace)])
        }
    };
    let mut target = Mapping::new();
    target.insert(Key::string("select"), select.into());
    let path = Node::string(arena.text(&piece.path));
    target.insert(Key::string("fieldPaths"), Value::Sequence(Sequence::from_iter([path])).into());
    if let Some(delimiter) = piece.delimiter {
        let mut options = texts(&[("delimiter", arena.text(delimiter.encode_utf8(&mut [0; 4])))]);
        if piece.index > 0 {
            options.insert(Key::string("index"), Scalar::plain(arena.text(&piece.index.to_string())).into());
        }
        target.insert(Key::string("options"), options.into());
    }
    target.into()
}

fn replacement<'a>(arena: Arena<'a>, var: &Var<'a>, targets: Sequence<'a>) -> Node<'a> {
    let Gvk { group, version, kind, .. } = var.object.gvk;
    let source = texts(&[
        ("group", arena.text(group)),
        ("version", arena.text(version)),
        ("kind", kind),
        ("name", var.object.name),
        ("namespace", var.object.namespace),
        ("fieldPath", var.field.path),
    ]);
    let mut entry = Mapping::new();
    entry.insert(Key::string("source"), source.into());
    if !targets.is_empty() {
        entry.insert(Key::string("targets"), Value::Sequence(targets).into());
    }
    entry.into()
}
