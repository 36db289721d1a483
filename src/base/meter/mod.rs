//! A meter of the work of a build, for the tests that hold builds to linear time.
//!
//! Steps are counted at the bottom, where no code can pass by: a [`List`] counts each item that is
//! asked for, [`RandomState`] each key that is hashed, and the types above them each look at a
//! node, an identity or a text. So a new stage is counted without a line of its own. A release
//! build counts nothing: there the types of this module are those of the standard library and of
//! foldhash.

#[cfg(debug_assertions)]
mod counting;
#[cfg(not(debug_assertions))]
mod plain;

#[cfg(debug_assertions)]
pub use counting::{Counted, List, RandomState, ThinList, counted};
#[cfg(not(debug_assertions))]
pub use plain::{Counted, List, RandomState, ThinList, counted};

/// A hash table of a build.
pub type FastMap<K, V> = hashbrown::HashMap<K, V, RandomState>;

/// A set of a build.
pub type FastSet<T> = hashbrown::HashSet<T, RandomState>;

/// A hash table of a build that keeps its entries in their order.
pub type FastIndexMap<K, V> = indexmap::IndexMap<K, V, RandomState>;

#[cfg(debug_assertions)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// So many bytes are copied or compared in one step.
const WORD: usize = 8;

/// Counts steps: nodes visited, keys looked up, texts compared.
#[inline]
pub fn count(steps: usize) {
    #[cfg(debug_assertions)]
    STEPS.with(|all| all.set(all.get() + steps as u64));
    #[cfg(not(debug_assertions))]
    let _ = steps;
}

/// Counts the steps of copying or searching a text.
#[inline]
pub fn count_text(text: &str) {
    count_bytes(text.as_bytes());
}

/// As [`count_text`], of bytes.
#[inline]
pub fn count_bytes(bytes: &[u8]) {
    count(1 + bytes.len() / WORD);
}

/// Starts to count again, on this thread.
pub fn reset() {
    #[cfg(debug_assertions)]
    STEPS.with(|all| all.set(0));
}

/// The steps that were counted on this thread; 0 in release builds.
pub fn taken() -> u64 {
    #[cfg(debug_assertions)]
    return STEPS.with(std::cell::Cell::get);
    #[cfg(not(debug_assertions))]
    0
}
