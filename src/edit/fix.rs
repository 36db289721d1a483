//! `fix`: turns deprecated fields into current ones, and keeps their text and comments.

use super::draft::{self, Draft};
use super::{Place, metadata, vars};
use crate::diag::{Error, Result};
use crate::stage::{Context, Options};
use rustomize_sources::Disk;
use rustomize_yaml::{Entries, Heap, Key, Mapping, Node, Sequence};
use std::fs;
use std::path::Path;

/// The keys of an entry of `helmChartInflationGenerator`, each with its key in `helmCharts`.
const CHART_KEYS: [(&str, &str); 7] = [
    ("chartName", "name"),
    ("chartVersion", "version"),
    ("chartRepoUrl", "repo"),
    ("values", "valuesFile"),
    ("valuesLocal", "valuesInline"),
    ("valuesMerge", "valuesMerge"),
    ("releaseName", "releaseName"),
];

/// Turns deprecated fields of the kustomization file into current ones. With `has_vars`, variables
/// become replacements as well, and the files that use them are changed.
///
/// # Errors
/// A label is both in `commonLabels` and in `labels`, or a variable cannot become a replacement.
pub fn fix(place: &mut Place, has_vars: bool) -> Result<()> {
    let mut files = Vec::new();
    place.change(|draft| {
        convert(draft, Path::new(""))?;
        if has_vars {
            files = vars::convert(draft)?;
        }
        Ok(())
    })?;
    vars::write(&files)
}

/// The text of a kustomization file with current fields in place of deprecated ones, variables
/// excepted. `None` if the text stays as it is. `name` is the name of the file in `directory`.
///
/// # Errors
/// As [`fix`].
pub fn fixed(directory: &Path, name: &'static str, text: String, options: Options) -> Result<Option<String>> {
    let heap = Heap::new();
    let disk = Disk::new();
    let cx = Context::new(&heap, &disk, options);
    let fixed = Draft::read(cx, name, text).and_then(|mut draft| {
        convert(&mut draft, directory)?;
        draft.finish()
    });
    fixed.map_err(|e| e.located(&heap))
}

/// Converts the deprecated fields of a kustomization file in a directory, variables excepted.
fn convert(draft: &mut Draft<'_>, directory: &Path) -> Result<()> {
    draft.set_type();
    draft.rename("bases", "resources")?;
    draft.rename("imageTags", "images")?;
    for field in ["configMapGenerator", "secretGenerator"] {
        join_env(draft, field)?;
    }
    convert_charts(draft)?;
    draft.rename("patchesJson6902", "patches")?;
    convert_merge_patches(draft, directory)?;
    convert_labels(draft)
}

/// Turns `env` into one more entry of `envs`.
fn join_env(draft: &mut Draft<'_>, field: &'static str) -> Result<()> {
    if draft.items(field).all(|item| draft::get(item, "env").is_none()) {
        return Ok(());
    }
    for entry in draft.list(field)?.iter_mut().filter_map(Node::as_mapping_mut) {
        let key = draft::written_key(entry, "env");
        let Some(old) = key.and_then(|key| entry.remove(key)).filter(|old| !old.is_null_or_empty()) else { continue };
        let key = draft::written_key(entry, "envs");
        match key.and_then(|key| entry.get_mut(key)).and_then(Node::as_sequence_mut) {
            Some(envs) => envs.push(old),
            None => {
                let pos = old.pos();
                entry.insert(Key::string("envs"), metadata::list_of(old, pos));
            }
        }
    }
    Ok(())
}

/// Turns entries of `helmChartInflationGenerator` into charts. Their directories become the globals
/// of a file without globals.
fn convert_charts(draft: &mut Draft<'_>) -> Result<()> {
    let Some(value) = draft.remove("helmChartInflationGenerator")? else { return Ok(()) };
    let pos = value.pos();
    let old = value.into_sequence().unwrap_or_default();
    let mut globals = Mapping::new();
    for (key, home) in [("chartHome", "chartHome"), ("helmHome", "configHome")] {
        if let Some(entry) = old.iter().filter(|entry| !draft::text(entry, key).is_empty()).last() {
            globals.insert(Key::string(home), Node::string(draft::text(entry, key)));
        }
    }
    if !globals.is_empty() && draft.get("helmGlobals").is_none_or(Node::is_null) {
        draft.remove("helmGlobals")?;
        draft.put("helmGlobals", globals.into());
    }
    let charts: Sequence<'_> = old.into_iter().map(chart).collect();
    draft.append("helmCharts", charts, pos)
}

fn chart(old: Node<'_>) -> Node<'_> {
    let pos = old.pos();
    let Ok(old) = old.into_mapping() else { return Node::null() };
    let is_in_braces = old.is_in_braces();
    let mut entries = Entries::new();
    for entry in old.into_entries() {
        let (key, value) = entry.into_parts();
        if let Some((_, name)) = CHART_KEYS.iter().find(|(old, _)| old.eq_ignore_ascii_case(key.text())) {
            entries.push(rustomize_yaml::Entry::new(Key::string(name), value));
        }
    }
    Node::new(Mapping::from_entries(entries).with_braces(is_in_braces), pos)
}

/// Turns strategic merge patches into patches. Patches in files are named by their path.
fn convert_merge_patches(draft: &mut Draft<'_>, directory: &Path) -> Result<()> {
    let Some(value) = draft.remove("patchesStrategicMerge")? else { return Ok(()) };
    let pos = value.pos();
    let written = value.into_sequence().unwrap_or_default().into_iter();
    let patches: Sequence<'_> = written.map(|written| patch(written, directory)).collect();
    draft.append("patches", patches, pos)
}

fn patch<'a>(written: Node<'a>, directory: &Path) -> Node<'a> {
    let is_file = written.as_scalar().is_some_and(|path| fs::read(directory.join(path.text())).is_ok());
    let pos = written.pos();
    let mut entry = Mapping::new();
    entry.insert(Key::string(if is_file { "path" } else { "patch" }), written);
    Node::new(entry, pos)
}

/// Turns `commonLabels` into an entry of `labels` that also applies to selectors.
fn convert_labels(draft: &mut Draft<'_>) -> Result<()> {
    let Some(pairs) = draft.remove("commonLabels")?.filter(|pairs| !pairs.is_null_or_empty()) else { return Ok(()) };
    for label in draft.items("labels") {
        let taken = draft::get(label, "pairs").and_then(Node::as_mapping).into_iter().flat_map(Mapping::iter);
        for entry in taken {
            let key = entry.key().text();
            if pairs.get(key).is_some() {
                let message = format!("label name '{key}' exists in both commonLabels and labels");
                return Err(Error::input(message)
                    .at(entry.key().pos())
                    .hint("remove one of the two: 'commonLabels' wins in a build"));
            }
        }
    }
    let pos = pairs.pos();
    draft.append("labels", Sequence::from_iter([metadata::from_common_labels(pairs)]), pos)
}
