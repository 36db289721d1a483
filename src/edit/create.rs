//! Writes a new kustomization file into the working directory, for `rustomize create`: the bytes
//! that `kustomize create` writes.

use crate::diag::{Code, Error, Result};
use crate::load::kustomization_file::FILE_NAMES;
use crate::load::{FileLimit, join};
use crate::metadata::Metadata;
use crate::stage::resources_in;
use crate::{Place, glob, place};
use rustomize_sources::ReadFile;
use rustomize_yaml::{Heap, Key, Mapping, Node, Pos, Sequence, emit, encoding};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

/// The fields of the new file. An empty text leaves its field out.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Files, directories, repositories and patterns, separated by commas.
    pub resources: String,
    pub namespace: String,
    pub name_prefix: String,
    pub name_suffix: String,
    /// `key:value` pairs, separated by commas.
    pub labels: String,
    /// `key:value` pairs, separated by commas.
    pub annotations: String,
    /// True if the files with resources in the working directory are added.
    pub detects: bool,
    /// True if the files of all directories below are added, too.
    pub is_recursive: bool,
}

/// Writes `kustomization.yaml`. Nothing is written if anything fails.
///
/// # Errors
/// There is a kustomization file, a resource leads to nothing, a pair is malformed, or the
/// directory cannot be read or written.
pub fn create(place: &Place, wanted: &Wanted) -> Result<()> {
    let mut resources = match wanted.resources.as_str() {
        "" => Vec::new(),
        given => glob::references(place, &split(given))?,
    };
    let exists = || Error::new(Code::Exists, "kustomization file already exists");
    if FILE_NAMES.iter().any(|name| fs::symlink_metadata(name).is_ok()) {
        return Err(exists().hint("change it with 'rustomize edit'"));
    }
    if wanted.detects {
        let mut detected = Vec::new();
        detect("", wanted.is_recursive, &mut detected)?;
        let given: BTreeSet<&String> = resources.iter().collect();
        detected.retain(|path| !given.contains(path));
        resources.append(&mut detected);
    }
    let text = text(wanted, &resources)?;
    place::write_new(Path::new(FILE_NAMES[0]), text.as_bytes()).map_err(|fault| match fault.kind() {
        io::ErrorKind::AlreadyExists => exists(),
        _ => unusable(FILE_NAMES[0], &fault),
    })
}

fn split(list: &str) -> Vec<String> {
    list.split(',').map(str::to_owned).collect()
}

fn unusable(path: &str, fault: &io::Error) -> Error {
    Error::io(fault, format!("'{path}': {fault}"))
}

/// Adds the paths of the files in a directory that have resources, in the order of their names. A
/// directory with a kustomization is added itself.
fn detect(directory: &str, is_recursive: bool, found: &mut Vec<String>) -> Result<()> {
    let named = if directory.is_empty() { "." } else { directory };
    let unreadable = |fault: io::Error| unusable(named, &fault);
    let entries = fs::read_dir(named).map_err(unreadable)?.collect::<io::Result<Vec<_>>>().map_err(unreadable)?;
    let mut names: Vec<_> = entries.into_iter().map(|entry| entry.file_name()).collect();
    names.sort_unstable();
    for name in names {
        let not_utf8 = || Error::new(Code::Encoding, format!("'{}' in '{named}' is not UTF-8", name.display()));
        let name = name.to_str().ok_or_else(not_utf8)?;
        let path = if directory.is_empty() { name.to_owned() } else { join(directory, name) };
        let metadata = fs::symlink_metadata(&path).map_err(|fault| unusable(&path, &fault))?;
        if !metadata.is_dir() {
            let bytes = FileLimit::default().read(Path::new(&path)).map_err(|fault| unusable(&path, &fault))?;
            if has_resources(&path, bytes) {
                found.push(path);
            }
        } else if is_recursive {
            match FILE_NAMES.iter().any(|file| Path::new(&path).join(file).exists()) {
                true => found.push(path),
                false => detect(&path, true, found)?,
            }
        }
    }
    Ok(())
}

/// Returns true if all documents of a text are resources. A text without documents passes.
fn has_resources(name: &str, bytes: Vec<u8>) -> bool {
    let heap = Heap::new();
    let arena = heap.arena();
    let Ok(text) = encoding::decode(bytes) else { return false };
    let read = resources_in(arena, arena.add_file(name, text), Error::from);
    read.is_ok_and(|resources| resources.annotations.is_ok())
}

/// The text of the file: each field printed by itself, in kustomize's order.
fn text(wanted: &Wanted, resources: &[String]) -> Result<String> {
    let annotations = pairs(Metadata::Annotation, &wanted.annotations)?;
    let labels = pairs(Metadata::Label, &wanted.labels)?;
    let list: Sequence<'_> = resources.iter().map(|path| Node::string(path)).collect();
    let fields: [(&str, Node<'_>); 8] = [
        ("apiVersion", Node::string("kustomize.config.k8s.io/v1beta1")),
        ("kind", Node::string("Kustomization")),
        ("resources", Node::new(list, Pos::NONE)),
        ("namePrefix", Node::string(&wanted.name_prefix)),
        ("nameSuffix", Node::string(&wanted.name_suffix)),
        ("namespace", Node::string(&wanted.namespace)),
        (Metadata::Label.field(), mapping(&labels).into()),
        (Metadata::Annotation.field(), mapping(&annotations).into()),
    ];
    let mut text = String::new();
    for (name, value) in fields {
        let is_empty = value.is_null_or_empty() || value.as_scalar().is_some_and(|scalar| scalar.text().is_empty());
        if !is_empty {
            let mut field = Mapping::new();
            field.insert(Key::string(name), value);
            emit::document(&mut text, &field.into()).map_err(|fault| Error::new(Code::NotYaml, fault.message))?;
        }
    }
    Ok(text)
}

type Pairs = BTreeMap<String, String>;

fn pairs(kind: Metadata, list: &str) -> Result<Pairs> {
    if list.is_empty() { Ok(Pairs::new()) } else { kind.pairs(&split(list)) }
}

fn mapping(pairs: &Pairs) -> Mapping<'_> {
    let mut mapping = Mapping::new();
    for (key, value) in pairs {
        mapping.insert(Key::string(key), Node::string(value));
    }
    mapping
}
