//! Layers that several builds share: when a second build asks for a base, the base is accumulated
//! for all builds, and each of them gets a copy.

use super::{ForKinds, OfKind, Uses};
use crate::config::TransformerConfig;
use crate::config::var::Var;
use crate::diag::Warning;
use crate::resource::ResMap;
use rustomize_base::compat::Compat;
use rustomize_base::meter::{FastIndexMap, FastMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The accumulated resources, and the field specs that the transformers of this and all parent
/// roots use.
#[derive(Default)]
pub struct Accumulator<'a> {
    pub map: ResMap<'a>,
    /// `None` until the first root has brought its own.
    pub config: Option<Arc<TransformerConfig<'a>>>,
    /// The vars of all layers so far, by name.
    pub vars: Vars<'a>,
}

/// Vars by name, in the order in which they came.
pub type Vars<'a> = FastIndexMap<&'a str, Var<'a>>;

impl Accumulator<'_> {
    /// A copy. O(size of the resources).
    #[must_use]
    pub fn copy(&self) -> Self {
        Accumulator { map: self.map.copy(), config: self.config.clone(), vars: self.vars.clone() }
    }
}

/// The resources of a base, and other facts that a build learns from it.
pub struct Layer<'a> {
    pub all: Accumulator<'a>,
    pub warnings: Vec<Warning>,
    pub findings: Vec<Warning>,
    pub for_kinds: Vec<ForKinds<'a>>,
    pub of_kind: Vec<OfKind<'a>>,
    pub uses: Uses,
    /// The files that it was made of.
    pub files: Vec<PathBuf>,
    /// True if the built-in schema was asked for.
    pub uses_builtin_schema: bool,
}

/// The key of a layer: its directory, without links, and its name in messages.
pub type Key = (PathBuf, String);

/// The known state of a layer.
#[derive(Clone)]
pub enum Known<'a> {
    /// One build has accumulated it for itself, for the root in this directory.
    Asked(PathBuf),
    /// Each build accumulates it by itself.
    Own,
    Shared(Arc<Layer<'a>>),
}

/// The layers that builds have asked for so far.
pub struct Layers<'a> {
    known: Mutex<FastMap<Key, Known<'a>>>,
    /// The transformer configuration that every root begins with.
    pub default_config: Arc<TransformerConfig<'a>>,
}

impl<'a> Layers<'a> {
    /// The layers of builds for a version of kustomize; none is known yet.
    pub fn new(compat: Compat) -> Self {
        Layers { known: Mutex::default(), default_config: TransformerConfig::shared_defaults(compat) }
    }

    /// A layer, if it is known.
    pub fn get(&self, key: &Key) -> Option<Arc<Layer<'a>>> {
        match self.lock().get(key) {
            Some(Known::Shared(layer)) => Some(Arc::clone(layer)),
            _ => None,
        }
    }

    /// The known state of a layer that the root in the directory `above` asks for; `None` on the
    /// first request.
    pub fn ask(&self, key: &Key, above: &Path) -> Option<Known<'a>> {
        let mut known = self.lock();
        let found = known.get(key).cloned();
        if found.is_none() {
            known.insert(key.clone(), Known::Asked(above.to_owned()));
        }
        found
    }

    /// Stores the state of a layer. If two builds have made a layer at the same time, the first one
    /// stays.
    pub fn keep(&self, key: Key, layer: Known<'a>) {
        let mut known = self.lock();
        if !matches!(known.get(&key), Some(Known::Shared(_))) {
            known.insert(key, layer);
        }
    }

    /// The table of layers. A thread that panics leaves nothing half changed here.
    fn lock(&self) -> MutexGuard<'_, FastMap<Key, Known<'a>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
