//! The entries of kustomizations that name a file or a resource.

use super::check::{Known, KnownResource};
use super::links::{PlacedText, names_files, path_start, resource_at, selected, selects, target, texts_of, written};
use super::texts::{Texts, uri_of};
use super::{Files, links};
use crate::load::kustomization_file;
use lsp_types::{Location, Position, Range, ReferenceParams};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The kinds whose replicas an entry of `replicas` sets.
const WITH_REPLICAS: [&str; 4] = ["Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"];

/// The files, and the resource in them if there is one, whose references are asked for.
#[derive(Debug, Default)]
struct Subject {
    /// Each with the line where the subject begins, counted from 0.
    files: BTreeMap<PathBuf, u32>,
    kind: String,
    /// All names that the resource has or had; empty for a file.
    names: BTreeSet<String>,
}

/// A kustomization of the open directories.
struct Layer {
    file: PathBuf,
    text: Arc<str>,
    entries: Vec<PlacedText>,
    /// The indices of the entries that name files, each with its file.
    targets: Vec<(usize, PathBuf)>,
}

/// The entries that name the file or the resource of a place, in all kustomizations of the open
/// directories: paths to the file, and selectors with the name of the resource in the
/// kustomizations that have it. O(text of all kustomizations + known resources).
pub(crate) fn references(
    texts: &Texts,
    files: &Files,
    folders: &[PathBuf],
    known: &Known,
    params: &ReferenceParams,
) -> Vec<Location> {
    let Some(subject) = subject(texts, files, known, params) else { return Vec::new() };
    let layers: Vec<Layer> = links::kustomizations(texts, files, folders)
        .into_iter()
        .map(|(file, text)| Layer::new(files, file, text))
        .collect();
    let mut found: BTreeSet<(&Path, Position, Position)> = BTreeSet::new();
    for layer in &layers {
        let named = layer.targets.iter().filter(|(_, file)| subject.files.contains_key(file));
        found.extend(layer.ranges(texts, named.map(|(at, _)| &layer.entries[*at])));
    }
    for layer in with_resources(&layers, &subject) {
        found.extend(layer.ranges(texts, subject.selected_in(&layer.entries)));
    }
    if params.context.include_declaration {
        let at = |line: u32| Position::new(line, 0);
        found.extend(subject.files.iter().map(|(file, line)| (file.as_path(), at(*line), at(*line))));
    }
    let location = |(file, start, end)| Some(Location::new(uri_of(file)?, Range::new(start, end)));
    found.into_iter().filter_map(location).collect()
}

/// The subject that a place names: the file of an entry, the resources of a selector, or the
/// resource of a document; elsewhere in a file, the file itself.
fn subject(texts: &Texts, files: &Files, known: &Known, params: &ReferenceParams) -> Option<Subject> {
    let at = &params.text_document_position;
    let (path, text, offset) = texts.at(at)?;
    let here = at.position.line as usize + 1;
    let named = if kustomization_file::is_one(&path) {
        let entries = texts_of(&text);
        let own = links::text_at(&entries, &text, here, offset);
        if let Some(file) = own.and_then(|own| target(files, &path, &own.path, &own.text)) {
            return Some(Subject { files: [(file, 0)].into(), ..Subject::default() });
        }
        own.or_else(|| entries.iter().find(|t| t.line() == here)).and_then(|own| selected(&entries, own))
    } else {
        resource_at(&text, here)
    };
    let Some((kind, name)) = named.filter(|(_, name)| !name.is_empty()) else {
        return Some(Subject { files: [(path, 0)].into(), ..Subject::default() });
    };
    // The resource of a place in its own file, else the resources that a selector leads to.
    let fits = |r: &&KnownResource| (kind.is_empty() || r.kind == kind) && r.names.contains(&name);
    let is_own = |file: &Path| kustomization_file::is_one(&path) || file == path;
    let resources: Vec<_> = known.values().flatten().filter(fits).filter(|r| is_own(&r.file)).collect();
    let mut subject = Subject { kind, names: [name].into(), ..Subject::default() };
    for resource in resources {
        subject.kind.clone_from(&resource.kind);
        subject.names.extend(resource.names.iter().cloned());
        subject.files.insert(resource.file.clone(), resource.line);
    }
    if subject.files.is_empty() && !kustomization_file::is_one(&path) {
        subject.files.insert(path, 0);
    }
    Some(subject)
}

impl Subject {
    /// The names in selectors that select the resource. O(entries × log entries).
    fn selected_in<'e>(&self, entries: &'e [PlacedText]) -> Vec<&'e PlacedText> {
        let is = |entry: &PlacedText, field: &str| {
            selects(&entry.path) && entry.path.last().is_some_and(|last| last == field)
        };
        let kinds = entries.iter().filter(|entry| is(entry, "kind")).map(|entry| (entry.mapping, entry.text.as_str()));
        let kinds: BTreeMap<usize, &str> = kinds.collect();
        let selects_it = |entry: &&PlacedText| {
            let has_kind = kinds.get(&entry.mapping).is_none_or(|kind| kind.is_empty() || *kind == self.kind);
            let sets_replicas = entry.path.first().is_some_and(|first| first == "replicas");
            has_kind && (!sets_replicas || WITH_REPLICAS.contains(&self.kind.as_str()))
        };
        let names = entries.iter().filter(|entry| is(entry, "name") && self.names.contains(&entry.text));
        names.filter(selects_it).collect()
    }
}

impl Layer {
    fn new(files: &Files, file: PathBuf, text: Arc<str>) -> Layer {
        let entries = texts_of(&text);
        let targets = entries.iter().enumerate().filter(|(_, entry)| names_files(&entry.path));
        let targets = targets.filter_map(|(i, entry)| Some((i, target(files, &file, &entry.path, &entry.text)?)));
        Layer { targets: targets.collect(), file, text, entries }
    }

    /// The file, and the start and end of each entry; an entry that is not written as it reads has
    /// the start of its line.
    fn ranges<'l>(
        &'l self,
        texts: &'l Texts,
        entries: impl IntoIterator<Item = &'l PlacedText>,
    ) -> impl Iterator<Item = (&'l Path, Position, Position)> {
        entries.into_iter().map(move |entry| {
            let start = path_start(&entry.path, &entry.text);
            let range = written(texts, &self.text, entry, start, &entry.text[start..]).unwrap_or_else(|| {
                let at = Position::new(u32::try_from(entry.line() - 1).unwrap_or(u32::MAX), 0);
                Range::new(at, at)
            });
            (&*self.file, range.start, range.end)
        })
    }
}

/// The kustomizations that have the resource of a subject: those that lead to its file, and the
/// components that work on the resources of these. O(entries × log kustomizations).
fn with_resources<'l>(layers: &'l [Layer], subject: &Subject) -> Vec<&'l Layer> {
    if subject.names.is_empty() {
        return Vec::new();
    }
    let index: BTreeMap<&Path, usize> = layers.iter().enumerate().map(|(i, layer)| (&*layer.file, i)).collect();
    let mut above: BTreeMap<&Path, Vec<usize>> = BTreeMap::new();
    for (i, layer) in layers.iter().enumerate() {
        layer.targets.iter().for_each(|(_, file)| above.entry(file).or_default().push(i));
    }
    let (mut having, mut open) = (BTreeSet::new(), Vec::new());
    open.extend(subject.files.keys().flat_map(|file| above.get(file.as_path()).into_iter().flatten()).copied());
    while let Some(i) = open.pop() {
        if !having.insert(i) {
            continue;
        }
        let layer = &layers[i];
        open.extend(above.get(layer.file.as_path()).into_iter().flatten());
        let components = layer.targets.iter().filter(|(at, _)| layer.entries[*at].path == ["components"]);
        open.extend(components.filter_map(|(_, file)| index.get(file.as_path())));
    }
    having.into_iter().map(|i| &layers[i]).collect()
}
