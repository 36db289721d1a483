//! Reads the resources of a text, to find out whether it has any.

use crate::diag::{Error, Result};
use crate::resource::{ResMap, Resource};
use crate::stage::resources_in;
use rustomize_yaml::{Arena, Source};

/// The resources of a text, with different ids.
///
/// # Errors
/// A document is not a resource, or two resources have the same id.
pub(super) fn resources<'a>(arena: Arena<'a>, source: &'a Source) -> Result<Vec<Resource<'a>>> {
    let malformed = Error::from;
    let read = resources_in(arena, source, malformed)?;
    read.annotations?;
    let mut map = ResMap::new();
    for resource in read.all {
        map.append(arena, resource)?;
    }
    Ok(map.into_resources())
}
