//! The host side of plugins; the author side is /plugin.
//!
//! * [`locate`]: where the plugin for a kind is found; [`classify`]: what a shared object is.
//! * [`program`]: what runs; [`exec`]: plugins that are executables; [`function`]: KRM functions, executables and
//!   containers; [`container`]: what the engine of a container is called with.
//! * [`shared_object`]: plugins that are shared objects; [`host`]: the process that one runs in.
//! * [`go`]: plugins written in Go for kustomize.
//! * [`isolation`]: how much of the user's rights a plugin gets; [`confine`]: how its process gives
//!   up the others; `calls`: the system calls that it keeps; `mounts`: its view of the files.
//!
//! Children run with the limits of [`crate::process`].

#[cfg(target_os = "linux")]
mod calls;
pub mod classify;
pub mod confine;
pub mod container;
pub mod exec;
pub mod function;
pub mod go;
pub mod host;
pub mod isolation;
pub mod locate;
#[cfg(target_os = "linux")]
mod mounts;
pub mod options;
pub mod permissions;
pub mod program;
pub mod shared_object;

pub use options::PluginOptions;

use crate::diag::{Error, ErrorKind, Result};
use crate::resource::Resource;
use crate::stage::{Build, Plugin, PluginEntry, Plugins};
use exec::ExecPlugin;
use function::Function;
use isolation::Isolation;
use locate::Placed;
use program::Program;
use shared_object::{Host, SharedObjectPlugin};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The shared objects that run: by path and, where each is confined to a root, that.
type Hosts = HashMap<(PathBuf, Option<PathBuf>), Arc<Host>>;

/// Runs the plugins of builds: makes of a program and a configuration object a plugin. As the
/// [`Plugins`] of a build it knows those that were placed, and functions.
pub struct Runners {
    pub options: Arc<PluginOptions>,
    hosts: Mutex<Hosts>,
}

impl Runners {
    /// Nothing is started yet.
    pub fn new(options: PluginOptions) -> Self {
        Runners { options: Arc::new(options), hosts: Mutex::default() }
    }

    /// Refuses to run a plugin where none may.
    ///
    /// # Errors
    /// Plugins are not enabled.
    pub fn check_enabled(&self, build: &Build<'_>, config: &Resource<'_>) -> Result<()> {
        if self.options.enabled {
            return Ok(());
        }
        let kind = config.id().gvk.kind;
        let message = format!("external plugins disabled; unable to load external plugin '{kind}'");
        let error = Error::new(ErrorKind::Plugin, message).at(build.arena.place(config.pos()));
        Err(error.hint("plugins can do whatever you can do; if you trust this one, pass --enable-alpha-plugins"))
    }

    /// The function that a configuration object describes.
    ///
    /// # Errors
    /// As [`Function::load`].
    pub fn function<'a>(&self, build: &mut Build<'a>, entry: PluginEntry<'_, 'a>) -> Result<Box<dyn Plugin<'a>>> {
        Ok(Box::new(Function::load(build, &self.options, entry)?))
    }

    /// A plugin that lies in a plugin home.
    ///
    /// # Errors
    /// Its configuration is wrong, or it cannot be opened.
    pub fn placed<'a>(
        &self,
        build: &mut Build<'a>,
        entry: PluginEntry<'_, 'a>,
        (placed, isolation): (Placed, Isolation),
    ) -> Result<Box<dyn Plugin<'a>>> {
        match placed {
            Placed::Executable(path) => self.exec(build, entry, Program::placed(path, isolation)),
            Placed::SharedObject { path, program, instead_of } => {
                if let Some(executable) = instead_of {
                    let executable = executable.display();
                    build.warn(format!("'{executable}' is not executable: '{}' is used", path.display()));
                }
                self.shared_object(build, entry, (&program, &path), &isolation)
            }
        }
    }

    /// A program that is called as kustomize calls exec plugins.
    ///
    /// # Errors
    /// Its configuration is wrong.
    pub fn exec<'a>(
        &self,
        build: &Build<'a>,
        entry: PluginEntry<'_, 'a>,
        program: Program,
    ) -> Result<Box<dyn Plugin<'a>>> {
        Ok(Box::new(ExecPlugin::load(build, &self.options, entry, program)?))
    }

    /// A program that is called as a KRM function.
    ///
    /// # Errors
    /// Its configuration cannot be printed.
    pub fn krm<'a>(
        &self,
        build: &Build<'a>,
        entry: PluginEntry<'_, 'a>,
        program: Program,
    ) -> Result<Box<dyn Plugin<'a>>> {
        Ok(Box::new(Function::of(build, &self.options, entry, program)?))
    }

    /// A shared object, which the first configuration object for it starts.
    ///
    /// # Errors
    /// As [`SharedObjectPlugin::load`].
    pub fn shared_object<'a>(
        &self,
        build: &Build<'a>,
        entry: PluginEntry<'_, 'a>,
        program: (&shared_object::Program, &Path),
        isolation: &Isolation,
    ) -> Result<Box<dyn Plugin<'a>>> {
        Ok(Box::new(SharedObjectPlugin::load(build, self, entry, program, isolation)?))
    }
}

impl Plugins for Runners {
    fn load<'a>(&self, build: &mut Build<'a>, entry: PluginEntry<'_, 'a>) -> Result<Box<dyn Plugin<'a>>> {
        self.check_enabled(build, entry.config)?;
        if function::is_function(entry.config) {
            return self.function(build, entry);
        }
        let place = build.arena.place(entry.config.pos());
        let placed = locate::locate(&self.options, entry.config.id()).map_err(|e| e.at(place.clone()))?;
        let placed = placed.ok_or_else(|| locate::nothing(&self.options, entry.config.id()).at(place))?;
        self.placed(build, entry, (placed, self.options.isolation.clone()))
    }
}
