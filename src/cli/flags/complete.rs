//! The completions of values: words that only this machine or kustomize knows.

use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter};
use rustomize_engine::load::kustomization_file;
use rustomize_engine::resource::Behavior;
use rustomize_engine::schema::builtin_kinds;
use rustomize_engine::stage::BuildMetadata;
use rustomize_manager::id::name::Platform;
use rustomize_manager::store::discover::all;
use rustomize_manager::store::root;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// The number of directories that one completion reads at most.
const MOST_DIRECTORIES: usize = 2_000;

/// The depth below the typed directory at which kustomizations are searched at most.
const MOST_DEPTH: usize = 4;

/// Words of a list.
fn listed<T: AsRef<str>>(words: &[T], typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let fitting = words.iter().map(AsRef::as_ref).filter(|word| word.starts_with(typed.as_ref()));
    fitting.map(CompletionCandidate::new).collect()
}

/// The words of 'buildMetadata'.
pub(crate) fn build_metadata(typed: &OsStr) -> Vec<CompletionCandidate> {
    listed(&BuildMetadata::WORDS, typed)
}

/// The behaviors of a ConfigMap or Secret towards one of the same name.
pub(crate) fn behaviors(typed: &OsStr) -> Vec<CompletionCandidate> {
    listed(&Behavior::WORDS, typed)
}

/// Types of Secrets.
pub(crate) fn secret_types(typed: &OsStr) -> Vec<CompletionCandidate> {
    listed(&["Opaque", "kubernetes.io/tls"], typed)
}

/// Files and directories.
pub(crate) fn files(typed: &OsStr) -> Vec<CompletionCandidate> {
    PathCompleter::any().complete(typed)
}

/// Directories.
pub(crate) fn directories(typed: &OsStr) -> Vec<CompletionCandidate> {
    PathCompleter::dir().complete(typed)
}

/// Kubernetes' own kinds.
pub(crate) fn kinds(typed: &OsStr) -> Vec<CompletionCandidate> {
    let names: BTreeSet<&str> = builtin_kinds().collect();
    listed(&names.into_iter().collect::<Vec<_>>(), typed)
}

/// The sources of installed plugins.
pub(crate) fn plugins(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Ok(root) = root::root(|name| std::env::var_os(name)) else { return Vec::new() };
    let candidates = all(&root, &Platform::host());
    let sources: BTreeSet<String> =
        candidates.iter().filter_map(|c| c.source.as_ref()).map(ToString::to_string).collect();
    listed(&sources.into_iter().collect::<Vec<_>>(), typed)
}

/// Directories with a kustomization, at and below the typed directory; all directories if none has
/// one.
pub(crate) fn kustomizations(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Some(typed_text) = typed.to_str() else { return Vec::new() };
    let (parent, _) = typed_text.rsplit_once('/').map_or(("", typed_text), |(parent, name)| (parent, name));
    let parent = if typed_text.starts_with('/') && parent.is_empty() { "/" } else { parent };
    let mut found = Vec::new();
    let mut left = MOST_DIRECTORIES;
    collect(Path::new(parent), MOST_DEPTH, &mut left, &mut found);
    let mut names: Vec<String> = found.iter().filter_map(|path| path.to_str()).map(str::to_owned).collect();
    names.retain(|name| name.starts_with(typed_text) && !name.is_empty());
    names.sort();
    if names.is_empty() { directories(typed) } else { listed(&names, typed) }
}

/// Adds the directories with a kustomization at and below a directory, without hidden directories
/// and links.
fn collect(directory: &Path, depth: usize, left: &mut usize, found: &mut Vec<PathBuf>) {
    if *left == 0 {
        return;
    }
    *left -= 1;
    let readable = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let Ok(entries) = fs::read_dir(readable) else { return };
    let mut below = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name();
        if kustomization_file::is_one(Path::new(&name)) {
            found.push(directory.to_owned());
        }
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) && !name.as_encoded_bytes().starts_with(b".") {
            below.push(directory.join(name));
        }
    }
    if depth > 0 {
        below.sort();
        for directory in below {
            collect(&directory, depth - 1, left, found);
        }
    }
}
