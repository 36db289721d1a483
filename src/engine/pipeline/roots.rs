//! Finds the roots below a directory, for `build --all`.
//!
//! A root is a directory with a kustomization file whose kind is no Component. Directories whose
//! names begin with a dot are not looked into, and links are not followed.

use crate::load::kustomization_file::FILE_NAMES;
use crate::load::loader::Entry;
use crate::load::{FileLimit, Loader};
use rustomize_yaml::{Heap, Node, encoding, first_document};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// The fields that name directories with kustomizations.
const FIELDS: [&str; 6] = ["resources", "bases", "components", "generators", "transformers", "validators"];

/// A directory with a kustomization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundRoot {
    /// As it is named from where the process was started.
    pub path: String,
    /// True if another kustomization that was found names the directory.
    pub is_used: bool,
}

/// Finds the roots at and below a directory, sorted by their paths. O(entries of the directories +
/// size of the kustomization files).
///
/// # Errors
/// A directory cannot be read. An invalid kustomization is an error when it is built, not here.
pub fn find(loader: &dyn Loader, directory: &str, limit: FileLimit) -> io::Result<Vec<FoundRoot>> {
    find_in_few(loader, directory, limit, usize::MAX)
}

/// As [`find`], in at most `most` directories.
///
/// # Errors
/// As [`find`], or there are more directories.
pub fn find_in_few(loader: &dyn Loader, directory: &str, limit: FileLimit, most: usize) -> io::Result<Vec<FoundRoot>> {
    Ok(find_each(loader, directory, limit, most)?.roots)
}

/// Finds a Component at or below a directory: the first by its path. As [`find`], it takes
/// O(entries of the directories + size of the kustomization files).
pub fn find_component(loader: &dyn Loader, directory: &str, limit: FileLimit) -> Option<String> {
    let found = find_each(loader, directory, limit, usize::MAX).ok()?;
    found.components.into_iter().min()
}

/// The kustomizations at and below a directory.
struct FoundAll {
    /// By their paths.
    roots: Vec<FoundRoot>,
    /// The directories of Components.
    components: Vec<String>,
}

fn find_each(loader: &dyn Loader, directory: &str, limit: FileLimit, most: usize) -> io::Result<FoundAll> {
    let (mut found, mut components, mut seen) = (Vec::new(), Vec::new(), 0);
    let mut used: BTreeSet<PathBuf> = BTreeSet::new();
    let mut queue = vec![(directory.to_owned(), loader.directory(Path::new(directory))?)];
    while let Some((path, place)) = queue.pop() {
        let entries = loader.list(&place)?;
        seen += 1;
        if seen > most {
            return Err(io::Error::other(format!("there are more than {most} directories")));
        }
        if let Some(file) = FILE_NAMES.iter().find(|name| entries.iter().any(|entry| entry.name == **name)) {
            let summary = Summary::of(loader, &place.join(file), limit);
            let named = summary.entries.iter().filter_map(|entry| loader.directory(&place.join(entry)).ok());
            // A directory that names itself is not left out: its build reports the fault.
            used.extend(named.filter(|named| *named != place));
            match summary.is_component {
                true => components.push(path.clone()),
                false => found.push((path.clone(), place.clone())),
            }
        }
        let is_open = |entry: &&Entry| entry.is_directory && !entry.name.as_encoded_bytes().starts_with(b".");
        for name in entries.iter().filter(is_open).map(|entry| &entry.name) {
            let path = match path.as_str() {
                "." => name.to_string_lossy().into_owned(),
                path => format!("{}/{}", path.trim_end_matches('/'), name.to_string_lossy()),
            };
            queue.push((path, place.join(name)));
        }
    }
    found.sort_unstable();
    let root = |(path, place): (String, PathBuf)| FoundRoot { path, is_used: used.contains(&place) };
    Ok(FoundAll { roots: found.into_iter().map(root).collect(), components })
}

/// The part of a kustomization file that decides which roots are built; empty for a file that
/// cannot be read.
#[derive(Default)]
struct Summary {
    is_component: bool,
    /// The entries of [`FIELDS`], some of which are paths of directories.
    entries: Vec<String>,
}

impl Summary {
    fn of(loader: &dyn Loader, file: &Path, limit: FileLimit) -> Summary {
        let opened = loader.open(file).ok();
        let Some(bytes) = opened.and_then(|opened| opened.read(limit).ok()) else { return Summary::default() };
        let Ok(text) = encoding::decode(bytes) else { return Summary::default() };
        let heap = Heap::new();
        let arena = heap.arena();
        let Ok(Some(node)) = first_document(arena, arena.add_file("", text)) else { return Summary::default() };
        let items = FIELDS.iter().filter_map(|field| node.get(field).and_then(Node::as_sequence)).flatten();
        let texts = items.filter_map(|item| item.as_scalar()).map(|scalar| scalar.text());
        Summary {
            is_component: node.get_text("kind") == Some("Component"),
            entries: texts.filter(|text| !text.is_empty() && !text.contains('\n')).map(str::to_owned).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{find, find_component};
    use crate::load::{FileLimit, Memory};

    #[test]
    fn roots_are_found_and_those_that_others_use_are_known() {
        let files = Memory::from_iter([
            ("app/base/kustomization.yaml", "resources: [service.yaml]\n"),
            ("app/base/service.yaml", "kind: Service\n"),
            ("app/overlays/prod/Kustomization", "resources: [../../base]\ncomponents: [../../part]\n"),
            ("app/overlays/test/kustomization.yml", "bases: [../../base/]\n"),
            ("app/part/kustomization.yaml", "kind: Component\n"),
            ("app/.git/kustomization.yaml", "resources: []\n"),
            ("app/broken/kustomization.yaml", "resources: [\n"),
            ("app/self/kustomization.yaml", "resources: [../self]\n"),
        ]);
        let found = |directory: &str| -> Vec<(String, bool)> {
            let roots = find(&files, directory, FileLimit::default()).unwrap();
            roots.into_iter().map(|root| (root.path, root.is_used)).collect()
        };
        let want = [
            ("app/base", true),
            ("app/broken", false),
            ("app/overlays/prod", false),
            ("app/overlays/test", false),
            ("app/self", false),
        ];
        assert_eq!(found("app"), want.map(|(path, is_used)| (path.to_owned(), is_used)));
        assert_eq!(found("app/overlays/prod"), [("app/overlays/prod".to_owned(), false)]);
        assert!(find(&files, "none", FileLimit::default()).is_err());
        let component = |directory: &str| find_component(&files, directory, FileLimit::default());
        assert_eq!(
            [component("app/part"), component("app")],
            [Some("app/part".to_owned()), Some("app/part".to_owned())]
        );
        assert_eq!(component("app/base"), None);
    }
}
