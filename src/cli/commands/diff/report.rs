//! The differences of all sides, for all forms of output.

use crate::commands::diff::groups::DiffGroup;
use crate::commands::diff::item::Item;
use crate::commands::diff::listing::Section;
use crate::commands::diff::sides::Sides;
use crate::commands::diff::versions::Upgrade;
use rustomize_engine::diff::Summary;
use serde_json::Value;

/// All differences.
pub(crate) struct Report<'s> {
    pub total: Summary,
    /// The changes of behaviour, if two versions of kustomize are compared.
    pub upgrade: Option<Upgrade>,
    /// The differences that several resources have; none with `--each`.
    pub groups: Vec<DiffGroup>,
    /// The data of all groups; empty unless they are printed as JSON.
    pub group_data: Vec<Value>,
    pub roots: Vec<RootReport<'s>>,
}

/// The differences of two sides that are in no group.
pub(crate) struct RootReport<'s> {
    pub sides: &'s Sides,
    pub summary: Summary,
    pub sections: Vec<Section>,
    /// All differences as JSON; empty unless they are printed as JSON.
    pub changes: Vec<Value>,
}

/// The differences of two sides.
pub(crate) struct Compared<'s> {
    pub sides: &'s Sides,
    pub summary: Summary,
    pub items: Vec<Item>,
    /// The differences as JSON; empty unless they are printed as JSON.
    pub changes: Vec<Value>,
}
