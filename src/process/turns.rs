//! [`Turns`]: how many of some processes may run at a time.

use super::lock;
use std::num::NonZero;
use std::sync::{Condvar, Mutex, PoisonError};

/// Turns that threads take before they start a process, and wait for.
pub struct Turns {
    free: Mutex<usize>,
    given_back: Condvar,
}

/// A turn, which is given back when this is dropped. A thread that has one must not wait for
/// another.
#[must_use]
pub struct Turn<'t>(&'t Turns);

impl Turns {
    /// At most `count` turns at a time.
    pub fn new(count: NonZero<usize>) -> Self {
        Turns { free: Mutex::new(count.get()), given_back: Condvar::new() }
    }

    /// Waits for a turn.
    pub fn take(&self) -> Turn<'_> {
        let free = lock(&self.free);
        let mut free = self.given_back.wait_while(free, |free| *free == 0).unwrap_or_else(PoisonError::into_inner);
        *free -= 1;
        Turn(self)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *lock(&self.0.free) += 1;
        self.0.given_back.notify_one();
    }
}
