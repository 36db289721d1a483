//! [`Untraced`]: what edits have changed since a trace looked at the resources.

use std::sync::Arc;

/// The changes of a map of resources since a trace looked at it. A build without a trace notes
/// nothing.
#[derive(Default, Debug)]
pub(super) struct Untraced {
    /// The places of the resources that may have changed, in any order; `None` if any may have.
    places: Option<Vec<u32>>,
    /// The numbers by which a trace knows the resources, until one is added, removed or moved.
    numbers: Option<Arc<[u32]>>,
}

impl Untraced {
    /// Notes that one resource may have changed. O(1).
    pub(super) fn note(&mut self, i: usize) {
        if let Some(places) = &mut self.places {
            places.push(i as u32);
        }
    }

    /// Notes that any resource may have changed, moved or gone.
    pub(super) fn note_all(&mut self) {
        *self = Untraced::default();
    }

    /// The places of the resources that may have changed since the last call, in order; `None` if
    /// any may have.
    pub(super) fn take_places(&mut self) -> Option<Vec<u32>> {
        let mut places = self.places.replace(Vec::new())?;
        places.sort_unstable();
        places.dedup();
        Some(places)
    }

    /// The numbers of the resources, if they are known.
    pub(super) fn numbers(&self) -> Option<Arc<[u32]>> {
        self.numbers.clone()
    }

    /// Notes the numbers of the resources, unless one of them is new.
    pub(super) fn set_numbers(&mut self, numbers: &Arc<[u32]>) {
        self.numbers = Some(numbers).filter(|numbers| !numbers.contains(&0)).cloned();
    }

    /// Notes that a resource was added, removed or moved, or gets another number.
    pub(super) fn forget_numbers(&mut self) {
        self.numbers = None;
    }
}
