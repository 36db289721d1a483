//! [`Selector`]: the target of a patch or replacement, as the user writes it.

use super::{Decode, Described};
use rustomize_yaml::Pos;

/// A `target`: every part is a pattern that must match the whole text; an empty part matches
/// anything.
#[derive(Clone, Debug, Default, Decode, Described)]
pub struct Selector<'a> {
    /// API group, as in `apps`; `^$` for the core group.
    pub group: &'a str,
    /// API version, as in `v1`.
    pub version: &'a str,
    /// Kind, as in `Deployment`.
    pub kind: &'a str,
    /// Name; the original one counts beside the current one.
    pub name: &'a str,
    /// Namespace; `default` stands for a missing namespace.
    pub namespace: &'a str,
    /// Kubernetes selector over annotations, as in `zone in (eu, us), !draft`.
    pub annotation_selector: &'a str,
    /// Kubernetes selector over labels.
    pub label_selector: &'a str,
    pub pos: Pos,
}

impl<'a> Selector<'a> {
    /// Returns true if the selector asks for nothing.
    pub fn is_empty(&self) -> bool {
        self.parts().iter().all(|part| part.is_empty())
    }

    /// Returns true if another selector asks for the same, wherever it is written.
    pub fn is_same(&self, other: &Selector<'_>) -> bool {
        self.parts() == other.parts()
    }

    fn parts(&self) -> [&'a str; 7] {
        let Selector { group, version, kind, name, namespace, annotation_selector, label_selector, pos: _ } = *self;
        [group, version, kind, name, namespace, annotation_selector, label_selector]
    }
}
