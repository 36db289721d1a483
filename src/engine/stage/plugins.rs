//! [`Plugins`]: the external plugins of a build.

use super::format::Format;
use super::wire::Ids;
use super::{Build, Generator, Transformer};
use crate::diag::{Code, Error, Result};
use crate::load::Root;
use crate::resource::{ResMap, Resource};
use rustomize_yaml::Arena;

/// The task of a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Generate,
    Transform,
    /// As a transformer that changes nothing.
    Validate,
}

impl Mode {
    /// The role of a plugin with this task.
    pub fn role(self) -> &'static str {
        match self {
            Mode::Generate => "generator",
            Mode::Transform => "transformer",
            Mode::Validate => "validator",
        }
    }

    /// The value of `KUSTOMIZE_PLUGIN_MODE`.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Generate => "generate",
            Mode::Transform | Mode::Validate => "transform",
        }
    }
}

/// An external plugin with its configuration, ready to run.
pub trait Plugin<'a>: Generator<'a> + Transformer<'a> {
    /// Returns true if a validator removes the resources that it does not print, as kustomize's Go
    /// plugins do.
    fn prints_all(&self) -> bool {
        false
    }

    /// Returns true if it is a post-processor: as a transformer it runs after all other
    /// transformers of its kustomization.
    fn runs_last(&self) -> bool {
        false
    }

    /// Lets a validator look at all resources, and returns the resources that it printed; `None` if
    /// its output is its input, byte for byte. `given` has the input that earlier validators got
    /// for `map`.
    ///
    /// # Errors
    /// The plugin fails, or prints a document that is not a resource.
    fn check(&self, map: &ResMap<'a>, given: &mut Given, build: &mut Build<'a>) -> Result<Option<Vec<Resource<'a>>>>;
}

/// Resources as validators read them. As long as the resources stay the same, they are printed once
/// for each notation.
#[derive(Default)]
pub struct Given(Vec<((Format, Ids), String)>);

impl Given {
    /// The resources in a notation. O(size) for the first validator that asks for it.
    ///
    /// # Errors
    /// A resource cannot be printed.
    pub fn in_notation<'a>(&mut self, notation: (Format, Ids), map: &ResMap<'a>, arena: Arena<'a>) -> Result<&str> {
        let known = self.0.iter().position(|(known, _)| *known == notation);
        let i = match known {
            Some(i) => i,
            None => {
                let text = notation.0.print(arena, map.iter().cloned(), notation.1)?;
                self.0.push((notation, text));
                self.0.len() - 1
            }
        };
        Ok(&self.0[i].1)
    }
}

/// A configuration object of a plugin, and the root that lists it.
#[derive(Clone, Copy)]
pub struct PluginEntry<'e, 'a> {
    /// The root that lists the object.
    pub root: &'e Root,
    pub config: &'e Resource<'a>,
    /// The task that the field gives the plugin.
    pub mode: Mode,
}

/// Where a build finds its external plugins.
pub trait Plugins: Send + Sync {
    /// Finds the plugin for a configuration object.
    ///
    /// # Errors
    /// Plugins are not enabled, the object's plugin is missing, or its configuration is wrong.
    fn load<'a>(&self, build: &mut Build<'a>, entry: PluginEntry<'_, 'a>) -> Result<Box<dyn Plugin<'a>>>;
}

/// The error of a build that needs a plugin but is not allowed to run one, in kustomize's words.
pub fn disabled(config: &Resource<'_>) -> Error {
    let kind = config.id().gvk.kind;
    let message = format!("external plugins disabled; unable to load external plugin '{kind}'");
    Error::new(Code::NotEnabled, message).at(config.pos())
}

/// A build without external plugins.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoPlugins;

impl Plugins for NoPlugins {
    fn load<'a>(&self, _: &mut Build<'a>, entry: PluginEntry<'_, 'a>) -> Result<Box<dyn Plugin<'a>>> {
        Err(disabled(entry.config))
    }
}
