//! The resources of a text, read to find out whether the text has any.

use crate::diag::{Error, Result};
use crate::resource::{ResMap, Resource};
use crate::stage::resources_in;
use crate::yaml::{Arena, Source};

/// The resources of a text, of which no two have one id.
///
/// # Errors
/// A document is not a resource, or two have one id.
pub fn resources<'a>(arena: Arena<'a>, source: &'a Source) -> Result<Vec<Resource<'a>>> {
    let malformed = Error::from;
    let read = resources_in(arena, source, malformed)?;
    read.annotations?;
    let mut map = ResMap::new();
    for resource in read.all {
        map.append(arena, resource)?;
    }
    Ok(map.into_resources())
}
