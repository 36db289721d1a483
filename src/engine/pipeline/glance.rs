//! The documents of kustomization files, without a build.

use crate::load::{FileLimit, Loader};
use rustomize_yaml::{Heap, Node, documents, encoding};
use std::path::Path;

/// Calls `take` with each document of a file. Returns false for a file that cannot be read; its
/// build reports the reason. O(size of the file).
pub(super) fn documents_of(loader: &dyn Loader, path: &Path, limit: FileLimit, take: impl FnMut(&Node<'_>)) -> bool {
    let Some(bytes) = loader.open(path).ok().and_then(|opened| opened.read(limit).ok()) else { return false };
    match encoding::decode(bytes) {
        Ok(text) => documents_in(text, take),
        Err(_) => false,
    }
}

/// Calls `take` with each document of a text. Returns false for a text that is not YAML. O(size).
pub(super) fn documents_in(text: impl Into<encoding::Text>, take: impl FnMut(&Node<'_>)) -> bool {
    let heap = Heap::new();
    let arena = heap.arena();
    match documents(arena, arena.add_file("", text.into())) {
        Ok(read) => {
            read.iter().for_each(take);
            true
        }
        Err(_) => false,
    }
}
