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
