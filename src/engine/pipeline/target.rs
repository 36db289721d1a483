//! The head of a kustomization: its kind and metadata; [`Target`] is a root with its file, read and
//! checked.
//!
//! *Fields*: `apiVersion`, `kind`, `metadata`.
//! *Reads*: the one file named `kustomization.yaml`, `kustomization.yml` or `Kustomization`, and of
//! it the first document.
//! *Order*: before anything else of its layer.
//! *Cost*: O(size of the file).
//! *Quirks*: duplicate keys are not an error, the last one wins (case
//! kust-duplicate-keys-last-wins); a second document is ignored (kust-second-document-ignored).
//! *Example*: `testdata/reference/target.txtar`

use crate::config::kustomization::FILE_NAMES;
use crate::config::{Decoder, Kustomization};
use crate::diag::{Code, Error, Result, nearest};
use crate::lint::file;
use crate::load::loader::Entry;
use crate::load::{Files, Root, join};
use crate::stage::Build;
use rustomize_yaml::{Malformed, Pos, Source, first_document, json};
use std::path::Path;

/// One kustomization root.
#[derive(Debug)]
pub struct Target<'a> {
    pub root: Root,
    pub kustomization: Kustomization<'a>,
    /// The kustomization file, as messages name it.
    pub file: String,
    /// Its name alone.
    pub file_name: String,
    /// The first byte of the file.
    start: Pos,
    /// The namespace that helm is told, for charts that name none: this root's, or that of the
    /// nearest one above.
    pub helm_namespace: &'a str,
}

impl<'a> Target<'a> {
    /// Finds, reads and checks the kustomization of a root.
    ///
    /// # Errors
    /// A missing file, several files, a text that is not YAML, unknown fields, wrong types, or a
    /// wrong kind.
    pub fn load(build: &mut Build<'a>, root: Root) -> Result<Self> {
        let source = find(&build.cx.files, &root)?;
        let (arena, compat) = (build.arena, build.arena.compat());
        let start = source.pos(0);
        let invalid = |e: Error| e.through(start, "invalid Kustomization");
        let malformed = |m: Malformed| invalid(m.into());
        let node = first_document(arena, source).map_err(malformed)?;
        node.as_ref().map_or(Ok(()), json::check_keys).map_err(malformed)?;
        let (kustomization, warnings) =
            Kustomization::from_node(node.as_ref(), &Decoder::strict(arena)).map_err(invalid)?;
        build.warnings.extend(warnings);
        build.find(|| file::findings(arena, source, node.as_ref()));
        let file_name = source.name.rsplit('/').next().unwrap_or_default().to_owned();
        let helm_namespace = if compat.leaves_namespaces_to_charts() { kustomization.namespace } else { "" };
        Ok(Target { root, kustomization, file: source.name.clone(), file_name, start, helm_namespace })
    }

    /// As [`Target::load`], for a base or component of another root.
    ///
    /// # Errors
    /// As [`Target::load`].
    pub fn load_below(build: &mut Build<'a>, root: Root, above: &Target<'a>) -> Result<Self> {
        let mut target = Target::load(build, root)?;
        let compat = build.arena.compat();
        let (own, given) = (&mut target.kustomization.namespace, above.kustomization.namespace);
        if compat.inherits_namespaces() && own.is_empty() {
            (*own, target.helm_namespace) = (given, given);
        }
        if compat.charts_inherit_namespaces() && target.helm_namespace.is_empty() {
            target.helm_namespace = above.helm_namespace;
        }
        Ok(target)
    }

    /// An error in a field of this kustomization file.
    pub fn error(&self, field: &str, message: impl Into<String>) -> Error {
        Error::new(Code::BadValue, message).at(self.kustomization.place_of(field)).at(self.start)
    }
}

/// The one kustomization file of a root.
///
/// # Errors
/// The file is missing, several exist, or it cannot be read.
pub fn find<'a>(files: &Files<'a>, root: &Root) -> Result<&'a Source> {
    let mut found: Vec<&'a Source> = Vec::new();
    let mut fault = None;
    for name in FILE_NAMES {
        match files.text_if_any(root, name) {
            Ok(source) => found.extend(source),
            Err(e) => fault = fault.or(Some(e)),
        }
    }
    match (found.as_slice(), fault) {
        ([only], _) => Ok(only),
        ([], Some(e)) => Err(e),
        ([], None) => {
            let message =
                "unable to find one of 'kustomization.yaml', 'kustomization.yml' or 'Kustomization' in directory";
            let error = Error::new(Code::NoKustomization, format!("{message} '{}'", root.shown));
            Err(error.hint(without_kustomization(files, root)))
        }
        (several, _) => {
            let names: Vec<&str> = several.iter().map(|s| s.name.as_str()).collect();
            Err(Error::new(
                Code::NoKustomization,
                format!("Found multiple kustomization files under: {}: {}", join(&root.shown, "."), names.join(", ")),
            )
            .hint("remove all but one of them"))
        }
    }
}

/// So many files are listed in a hint.
const LISTED: usize = 5;

/// The advice about a directory without a kustomization file: its files show what the user may
/// mean. O(entries of the directory).
fn without_kustomization(files: &Files<'_>, root: &Root) -> String {
    let entries = files.list(root);
    let (directories, others): (Vec<_>, Vec<_>) = entries.iter().partition(|entry| entry.is_directory);
    let names = |entries: Vec<&Entry>| -> Vec<String> {
        entries.iter().map(|entry| entry.name.to_string_lossy().into_owned()).collect()
    };
    let (directories, others) = (names(directories), names(others));
    if let Some(name) = others.iter().find(|name| nearest(name, FILE_NAMES).is_some()) {
        return format!("rename '{}' to 'kustomization.yaml'", join(&root.shown, name));
    }
    let is_root = |name: &&String| FILE_NAMES.iter().any(|file| files.has(root, &Path::new(name).join(file)));
    let roots: Vec<String> =
        directories.iter().filter(is_root).take(LISTED).map(|name| join(&root.shown, name)).collect();
    let is_yaml = |name: &&String| [".yaml", ".yml", ".json"].iter().any(|end| name.ends_with(end));
    let listed: Vec<String> = others.iter().filter(is_yaml).take(LISTED).map(|name| join(&root.shown, name)).collect();
    match (roots.is_empty(), listed.is_empty()) {
        (false, _) => format!("directories below it have one: {}", roots.join(", ")),
        (true, false) => format!("list its files in 'resources' of a kustomization: {}", listed.join(", ")),
        (true, true) => "add a kustomization file, or name another directory".to_owned(),
    }
}
