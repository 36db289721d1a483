//! One call of a plugin, outside of a build.

use super::{Built, bundle, strip_build_annotations};
use crate::diag::{Code, Error, Result, Warned};
use crate::resource::{ResMap, Resource};
use crate::stage::{Build, Context, Given, Mode, PluginEntry, resources_in};
use std::rc::Rc;

/// A request to a plugin.
pub struct Call<'c> {
    /// The name of the configuration in errors.
    pub name: &'c str,
    /// Its configuration object.
    pub config: String,
    pub mode: Mode,
    /// The input of a transformer or validator.
    pub resources: String,
}

/// Calls the plugin that a configuration object is for, in a directory. Gives what it printed, as
/// it would go on through a build.
///
/// # Errors
/// The configuration is not one object, its plugin is missing, or the plugin fails.
pub fn call<'a>(cx: &Rc<Context<'a>>, directory: &str, call: Call<'_>) -> Warned<Result<Built<'a>>> {
    let mut build = Build::new(cx);
    let value = run(&mut build, directory, call);
    let value = value.map(|map| Built { map, history: None, findings: Vec::new() });
    Warned { value, warnings: build.warnings }
}

fn run<'a>(build: &mut Build<'a>, directory: &str, call: Call<'_>) -> Result<ResMap<'a>> {
    let arena = build.arena;
    bundle::learn(build)?;
    let root = build.cx.files.root(directory)?;
    let mut configs = read(build, call.name, call.config)?;
    let (Some(config), true) = (configs.pop(), configs.is_empty()) else {
        return Err(Error::new(
            Code::NoMatch,
            format!("'{}' holds {} objects, and one is the configuration", call.name, configs.len() + 1),
        ));
    };
    let plugin = build.plugin(PluginEntry { root: &root, config: &config, mode: call.mode })?;
    let mut map = ResMap::default();
    for resource in read(build, "stdin", call.resources)? {
        map.append(arena, resource)?;
    }
    match call.mode {
        Mode::Generate => {
            for resource in plugin.generate(build)? {
                map.append(arena, resource)?;
            }
        }
        Mode::Transform => plugin.transform(&mut map, build)?,
        Mode::Validate => {
            if let Some(printed) = plugin.check(&map, &mut Given::default(), build)? {
                map = ResMap::default();
                printed.into_iter().try_for_each(|resource| map.append(arena, resource))?;
            }
        }
    }
    map.edit_content(|resource| {
        strip_build_annotations(build.arena.compat(), resource);
        Ok(())
    })?;
    Ok(map)
}

fn read<'a>(build: &mut Build<'a>, name: &str, text: String) -> Result<Vec<Resource<'a>>> {
    let arena = build.arena;
    let source = arena.add_source(name, text);
    let mut resources = resources_in(arena, source, Error::from)?.all;
    build.schema.note_scope(build.arena, &mut resources)?;
    Ok(resources)
}
