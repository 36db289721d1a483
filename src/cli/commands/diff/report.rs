//! The differences of two sides, for all forms of output.

use crate::cli::commands::diff::listing::Section;
use crate::cli::commands::diff::sides::Sides;
use crate::cli::commands::diff::versions::Upgrade;
use crate::diff::Summary;
use serde_json::Value;

/// All differences.
pub(crate) struct Report<'s> {
    pub total: Summary,
    /// The changes of behaviour, if two versions of kustomize are compared.
    pub upgrade: Option<Upgrade>,
    pub compared: Vec<Compared<'s>>,
}

/// The differences of two sides.
pub(crate) struct Compared<'s> {
    pub sides: &'s Sides,
    pub summary: Summary,
    /// The differences as lines; empty if they are printed as JSON.
    pub sections: Vec<Section>,
    /// The differences as JSON; empty unless they are printed as JSON.
    pub changes: Vec<Value>,
}
