//! [`PluginId`]: which plugin something is, whatever its version. With the signer, the version and
//! the sum of one content it is the identity of an installed plugin, which
//! [`Record`](crate::store::record::Record) keeps.

use super::Base;
use super::origin::Origin;
use crate::diag::{Code, Error, Result};
use crate::id::location::Location;
use crate::id::requirement::Requirement;
use crate::id::source::Source;
use std::fmt;

/// A source and the place that its plugin comes from. Two plugins with one source and different
/// places are different plugins: nothing that is for one of them is for the other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PluginId {
    pub source: Source,
    pub origin: Origin,
    /// The part of the place that trust rules do not see: see [`Location::within`].
    pub within: String,
}

impl PluginId {
    /// The plugin that a requirement means. Relative paths are those of `base`.
    ///
    /// # Errors
    /// The requirement's `from` is not valid.
    pub fn of(wanted: &Requirement, base: &Base) -> Result<PluginId> {
        let location = wanted.location().map_err(|e| Error::new(Code::BadPlugin, e.to_string()))?;
        Ok(PluginId::at(&wanted.source, &location, base))
    }

    /// The plugin of a source at a location. Relative paths are those of `base`.
    pub fn at(source: &Source, location: &Location, base: &Base) -> PluginId {
        PluginId { source: source.clone(), origin: Origin::at(source, location, base), within: location.within() }
    }

    /// The plugin of a source from its own place.
    pub fn own(source: Source) -> PluginId {
        PluginId { source, origin: Origin::Own, within: String::new() }
    }
}

impl fmt::Display for PluginId {
    /// The source, and the origin where the source names another one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.source, self.origin)
    }
}
