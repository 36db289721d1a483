//! The resources of a text, read to find out whether the text has any.

use crate::diag::{Code, Error, Result};
use crate::resource::{ResMap, Resource};
use crate::stage::resources_in;
use crate::yaml::{Arena, Malformed, Source};

/// The resources of a text, of which no two have one id.
///
/// # Errors
/// A document is not a resource, or two have one id.
pub fn resources<'a>(arena: Arena<'a>, source: &'a Source) -> Result<Vec<Resource<'a>>> {
    let malformed =
        |fault: Malformed| Error::new(Code::NotYaml, format!("MalformedYAMLError: {}", fault.message)).at(fault.pos);
    let read = resources_in(arena, source, malformed)?;
    read.annotations?;
    let mut map = ResMap::new();
    for resource in read.all {
        map.append(arena, resource)?;
    }
    Ok(map.into_resources())
}
