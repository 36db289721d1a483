//! The differences of sides, as every form prints them.

use crate::cli::commands::diff::listing::Section;
use crate::cli::commands::diff::sides::Sides;
use crate::cli::commands::diff::versions::Upgrade;
use crate::diff::Summary;
use serde_json::Value;

/// All differences.
pub struct Report<'s> {
    pub total: Summary,
    /// The behaviours that make the difference, if two versions of kustomize are compared.
    pub upgrade: Option<Upgrade>,
    pub compared: Vec<Compared<'s>>,
}

/// The differences of two sides.
pub struct Compared<'s> {
    pub sides: &'s Sides,
    pub summary: Summary,
    /// The differences as lines; empty if they are printed as JSON.
    pub sections: Vec<Section>,
    /// The differences as JSON; empty unless they are printed so.
    pub changes: Vec<Value>,
}
