//! [`Version`]: tells without a look at the values that two lists or mappings hold the same ones.
//!
//! A trace compares each resource after each step with a copy from before it. Most steps change a
//! few values of a resource: the lists and mappings around the others have the version of their
//! copies, and are not looked into.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

/// The version of the values of a list or mapping, and of all values below. Two that have the same
/// version hold the same values. Invariant: every method that lets a caller change a value below
/// forgets the version; copies keep it.
#[derive(Debug, Default)]
pub(super) struct Version(AtomicU32);

/// No version: it is not that of any list or mapping.
const NONE: u32 = 0;

/// The number of versions that a thread takes at once.
const BLOCK: u32 = 1024;

/// The first version that no thread has taken.
static NEXT: AtomicU32 = AtomicU32::new(NONE + 1);

thread_local! {
    /// The versions that this thread has taken and not given: the first one, and the end.
    static LEFT: Cell<(u32, u32)> = const { Cell::new((0, 0)) };
}

impl Clone for Version {
    fn clone(&self) -> Self {
        Version(AtomicU32::new(self.get()))
    }
}

impl Version {
    fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns true if there is no version.
    pub(super) fn is_none(&self) -> bool {
        self.get() == NONE
    }

    /// Forgets the version, because a value may be changed now.
    #[inline(always)]
    pub(super) fn forget(&mut self) {
        *self.0.get_mut() = NONE;
    }

    /// Returns true if both are the same version.
    #[inline]
    pub(super) fn is(&self, other: &Version) -> bool {
        let version = self.get();
        version != NONE && version == other.get()
    }

    /// Gives a version that nothing else has, unless there is one. All versions of a process are
    /// taken one day: then there is none.
    pub(super) fn give(&self) {
        if self.is_none() {
            self.0.store(new(), Ordering::Relaxed);
        }
    }

    /// Takes the version of another list or mapping, which holds the same values.
    pub(super) fn take(&mut self, other: &Version) {
        other.give();
        *self.0.get_mut() = other.get();
    }
}

/// A version that nothing has.
fn new() -> u32 {
    LEFT.with(|left| {
        let (mut next, mut end) = left.get();
        if next == end {
            let block = NEXT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| next.checked_add(BLOCK));
            let Ok(block) = block else { return NONE };
            (next, end) = (block, block + BLOCK);
        }
        left.set((next + 1, end));
        next
    })
}

#[cfg(test)]
mod tests {
    use crate::{Heap, Mapping, Node, Sequence, first_document};

    /// A change of a tree that may be none.
    type Change<T> = (&'static str, fn(&mut T));

    #[test]
    fn whoever_may_change_a_value_makes_all_around_it_forget_their_versions() {
        let heap = Heap::new();
        let arena = heap.arena();
        let source = arena.add_source("text", "a: {b: 1}\nc: [1, 2]\n".to_owned());
        let tree = first_document(arena, source).unwrap().unwrap();
        tree.give_versions();
        assert!(tree.clone().has_version_of(&tree) && !Node::null().has_version_of(&Node::null()));
        let mappings: [Change<Mapping<'_>>; 12] = [
            ("iter_mut", |m| {
                let _ = m.iter_mut().next();
            }),
            ("for_each_value", |m| m.for_each_value(|_| {})),
            ("try_for_each", |m| m.try_for_each(|_, _| Ok::<(), ()>(())).unwrap()),
            ("take_entries", |m| drop(m.take_entries())),
            ("set_entries", |m| m.set_entries(Default::default())),
            ("get_mut", |m| {
                let _ = m.get_mut("a");
            }),
            ("insert", |m| drop(m.insert("d", Node::null()))),
            ("put_all", |m| m.put_all(Default::default())),
            ("get_or_insert_with", |m| {
                let _ = m.get_or_insert_with("a", Node::null);
            }),
            ("remove", |m| drop(m.remove("a"))),
            ("keep_last_of_each", Mapping::keep_last_of_each),
            ("retain", |m| m.retain(|_, _| false)),
        ];
        for (name, change) in mappings {
            let mut changed = tree.clone();
            change(changed.as_mapping_mut().unwrap());
            assert!(!changed.has_version_of(&tree), "{name}");
        }
        let lists: [Change<Sequence<'_>>; 8] = [
            ("iter_mut", |s| {
                let _ = s.iter_mut().next();
            }),
            ("for_each_value", |s| s.for_each_value(|_| {})),
            ("items_mut", |s| {
                let _ = s.items_mut();
            }),
            ("get_mut", |s| {
                let _ = s.get_mut(0);
            }),
            ("last_mut", |s| {
                let _ = s.last_mut();
            }),
            ("push", |s| s.push(Node::null())),
            ("insert", |s| s.insert(0, Node::null())),
            ("remove", |s| drop(s.remove(0))),
        ];
        for (name, change) in lists {
            let mut changed = tree.clone();
            let list = changed.as_mapping_mut().unwrap().get_mut("c").unwrap();
            change(list.as_sequence_mut().unwrap());
            let was = tree.get("c").unwrap();
            assert!(!list.has_version_of(was), "{name}");
            assert!(!changed.has_version_of(&tree), "{name}");
            // The other values keep theirs.
            assert!(changed.get("a").unwrap().has_version_of(tree.get("a").unwrap()), "{name}");
        }
    }

    #[test]
    fn a_look_and_a_version_that_is_taken_keep_it() {
        let heap = Heap::new();
        let arena = heap.arena();
        let read = |text: &str| {
            let source = arena.add_source("text", text.to_owned());
            first_document(arena, source).unwrap().unwrap()
        };
        let (tree, mut other) = (read("a: {b: 1}\n"), read("a: {b: 1}\n"));
        tree.give_versions();
        let mut same = tree.clone();
        assert!(same.as_mapping_mut().unwrap().get_mut("none").is_none() && same.get("a").is_some());
        assert!(same.has_version_of(&tree) && !other.has_version_of(&tree));
        other.set_version_of(&tree);
        assert!(other.has_version_of(&tree));
    }
}
