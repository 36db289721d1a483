//! [`ForKinds`]: files that entries of kustomizations name, and that are for some kinds of
//! resources; [`UsedEntries`]: such entries that have an effect.

use crate::config::Written;
use crate::schema::Gvk;
use rustomize_yaml::{Place, Pos};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A file of `configurations`, `crds` or `openapi`, and the kinds that it is for. The resources of
/// these kinds may come in a layer above: whether there are any is known once all are there.
#[derive(Clone)]
pub struct ForKinds<'a> {
    pub entry: Written<'a>,
    pub field: KindField,
    pub kinds: Vec<NamedKind<'a>>,
}

/// The field of the entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum KindField {
    Configurations,
    Crds,
    OpenApi,
}

/// A kind that a file names.
#[derive(Clone)]
pub struct NamedKind<'a> {
    pub gvk: Gvk<'a>,
    pub pos: Pos,
}

/// The entries whose files have an effect in a build, by their places. Builds of several roots may
/// share one: a base or component may be of use for one of them alone.
#[derive(Clone, Default)]
pub struct UsedEntries(Arc<Mutex<BTreeSet<String>>>);

impl UsedEntries {
    /// Notes an entry.
    pub fn note(&self, entry: &Place) {
        self.lock().insert(entry.to_string());
    }

    /// Returns true if the entry at a place was noted.
    pub fn contains(&self, entry: &Place) -> bool {
        self.lock().contains(&entry.to_string())
    }

    /// The set. A thread that panics leaves nothing half changed here.
    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
