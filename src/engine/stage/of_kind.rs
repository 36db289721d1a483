//! [`OfKind`]: a finding about resources that holds as long as they keep their kind.

use crate::diag::Warning;
use crate::resource::ResId;
use rustomize_yaml::Pos;

/// A finding about resources of a kind. A later patch, also one of a layer above, may give them
/// another kind: whether the finding holds is known once all patches are applied.
#[derive(Clone)]
pub struct OfKind<'a> {
    /// The finding, which names no resource yet.
    pub finding: Warning,
    pub kind: &'a str,
    /// The resources, by their places, and the ids that they had.
    pub resources: Vec<(Pos, ResId<'a>)>,
}
