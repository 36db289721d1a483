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

use crate::config::kustomization::EMPTY;
use crate::config::{Decoder, Kustomization};
use crate::diag::{Code, Error, Result, Warning, nearest};
use crate::lint::file;
use crate::load::kustomization_file::FILE_NAMES;
use crate::load::loader::Entry;
use crate::load::{Files, Root, join};
use crate::stage::{Build, Context};
use rustomize_yaml::{Arena, Malformed, Pos, Source, documents, first_document, json};
use std::path::Path;

/// The file that makes a directory a chart of Helm.
const CHART: &str = "Chart.yaml";

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
    /// As [`Target::read`].
    pub fn load(build: &mut Build<'a>, root: Root) -> Result<Self> {
        Ok(Target::read(&build.cx, root)?.noted_in(build))
    }

    /// As [`Target::load`], before there is a build.
    ///
    /// # Errors
    /// A missing file, several files, a text that is not YAML, unknown fields, wrong types, or a
    /// wrong kind.
    pub fn read(cx: &Context<'a>, root: Root) -> Result<ReadTarget<'a>> {
        let source = find(&cx.files, &root)?;
        let (arena, compat) = (cx.arena, cx.arena.compat());
        let start = source.pos(0);
        let invalid = |e: Error| e.through(start, "invalid Kustomization");
        let malformed = |m: Malformed| invalid(m.into());
        let node = first_document(arena, source).map_err(malformed)?;
        node.as_ref().map_or(Ok(()), json::check_keys).map_err(malformed)?;
        let (kustomization, warnings) = Kustomization::from_node(node.as_ref(), &Decoder::strict(arena))
            .map_err(|e| advised_of_documents(e, arena, source))
            .map_err(invalid)?;
        let findings = if cx.options.lint { file::findings(arena, source, node.as_ref()) } else { Vec::new() };
        let file_name = source.name.rsplit('/').next().unwrap_or_default().to_owned();
        let helm_namespace = if compat.leaves_namespaces_to_charts() { kustomization.namespace } else { "" };
        let target = Target { root, kustomization, file: source.name.clone(), file_name, start, helm_namespace };
        Ok(ReadTarget { target, warnings, findings })
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

/// A kustomization that was read, with the warnings and findings about its file.
pub struct ReadTarget<'a> {
    pub target: Target<'a>,
    warnings: Vec<Warning>,
    /// Empty if the build is not asked for findings.
    findings: Vec<Warning>,
}

impl<'a> ReadTarget<'a> {
    /// Adds the warnings and findings to those of a build.
    pub fn noted_in(self, build: &mut Build<'a>) -> Target<'a> {
        let ReadTarget { target, warnings, findings } = self;
        build.warnings.extend(warnings);
        build.find(|| findings);
        target
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

/// The error about a kustomization whose first document is empty: it names the line that ends that
/// document, if another one follows. Other errors stay as they are. O(size of the file).
fn advised_of_documents<'a>(error: Error, arena: Arena<'a>, source: &'a Source) -> Error {
    if error.message() != EMPTY {
        return error;
    }
    let all = documents(arena, source).unwrap_or_default();
    let second = all.iter().find(|node| node.as_mapping().is_some_and(|fields| !fields.is_empty()));
    let offset = second.and_then(|second| arena.heap().outermost(second.pos())).map(|(_, offset)| offset);
    let before = offset.and_then(|offset| source.text.get(..offset));
    match before.and_then(|before| before.rfind("\n---")) {
        Some(end) => {
            let hint = "remove this line: the document above it is empty, and no further document is read";
            Error::new(error.code(), EMPTY).at(source.pos(end + 1)).hint(hint)
        }
        None => error,
    }
}

/// At most this many files are listed in a hint.
const LISTED: usize = 5;

/// The advice about a directory without a kustomization file: it suggests a directory or file that
/// the user may mean. O(entries of the directory).
fn without_kustomization(files: &Files<'_>, root: &Root) -> String {
    let mut entries = files.list(root);
    entries.sort();
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
    if others.iter().any(|name| name == CHART) {
        let (above, name) = root.shown.rsplit_once('/').unwrap_or((".", &root.shown));
        return format!(
            "it is a chart of Helm: write helmGlobals: {{chartHome: {above}}} and helmCharts: [{{name: {name}}}], and pass --enable-helm"
        );
    }
    let is_yaml = |name: &&String| [".yaml", ".yml", ".json"].iter().any(|end| name.ends_with(end));
    let listed: Vec<String> = others.iter().filter(is_yaml).take(LISTED).map(|name| join(&root.shown, name)).collect();
    match (roots.is_empty(), listed.is_empty()) {
        (false, _) => format!("directories below it have one: {}", roots.join(", ")),
        (true, false) => format!("list its files in 'resources' of a kustomization: {}", listed.join(", ")),
        (true, true) if root.shown == "." && directories.iter().any(|name| !name.starts_with('.')) => {
            "name another directory; see those below this one that have one: rustomize tree --all".to_owned()
        }
        (true, true) if root.shown == "." => "name another directory, or begin here: rustomize create".to_owned(),
        (true, true) => "add a kustomization file, or name another directory".to_owned(),
    }
}
