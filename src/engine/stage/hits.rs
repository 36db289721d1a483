//! [`Hit`]: whether an entry of a kustomization has found something to work on.

use std::sync::atomic::{AtomicBool, Ordering};

/// True if an entry has had an effect. Several threads may note one.
#[derive(Debug, Default)]
pub struct Hit(AtomicBool);

impl Clone for Hit {
    /// The copy of an entry has had no effect yet.
    fn clone(&self) -> Self {
        Hit::default()
    }
}

impl Hit {
    /// Notes an effect. It is read before it is written: threads do not take the line of the cache
    /// from each other once it is set.
    pub fn note(&self) {
        if !self.0.load(Ordering::Relaxed) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    /// True if there has been an effect.
    pub fn is_noted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
