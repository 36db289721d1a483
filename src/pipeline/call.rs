//! One call of a plugin, outside of a build.

use super::{Session, bundle, documents_to_resources, strip_build_annotations};
use crate::diag::{Error, Result};
use crate::generator::Generator;
use crate::plugin::External;
use crate::plugin::exec::Mode;
use crate::resource::{ResMap, Resource};
use crate::transformer::Transformer;
use crate::yaml::documents;

/// What is asked of a plugin.
pub struct Call<'c> {
    /// What errors call the configuration.
    pub name: &'c str,
    /// Its configuration object.
    pub config: String,
    pub mode: Mode,
    /// What a transformer or validator gets.
    pub resources: String,
}

/// Calls the plugin that a configuration object is for, in a directory. Gives what it printed, as
/// it would go on through a build.
///
/// # Errors
/// The configuration is not one object, there is no plugin for it, or the plugin fails.
pub fn call<'a>(session: &Session<'a>, directory: &str, call: Call<'_>) -> Result<ResMap<'a>> {
    bundle::learn(session)?;
    let root = session.files.root(directory)?;
    let mut configs = read(session, call.name, call.config)?;
    let (Some(config), true) = (configs.pop(), configs.is_empty()) else {
        return Err(Error::input(format!(
            "'{}' holds {} objects, and one is the configuration",
            call.name,
            configs.len() + 1
        )));
    };
    let plugin = External::load(session, &root, config, call.mode)?;
    let mut map = ResMap::default();
    for resource in read(session, "stdin", call.resources)? {
        map.append(session.arena, resource)?;
    }
    match call.mode {
        Mode::Generate => {
            for resource in plugin.generate(session)? {
                map.append(session.arena, resource)?;
            }
        }
        Mode::Transform => plugin.transform(&mut map, session)?,
        Mode::Validate => {
            let printed = plugin.print_for(session, &map)?;
            map = ResMap::default();
            printed.into_iter().try_for_each(|resource| map.append(session.arena, resource))?;
        }
    }
    map.edit_content(|resource| {
        strip_build_annotations(resource);
        Ok(())
    })?;
    Ok(map)
}

fn read<'a>(session: &Session<'a>, name: &str, text: String) -> Result<Vec<Resource<'a>>> {
    let source = session.arena.add_source(name, text);
    let nodes = documents(session.arena, source).map_err(|m| Error::malformed(session.arena, m))?;
    documents_to_resources(session, nodes)
}
