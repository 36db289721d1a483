//! The host side of plugins: external plugins, found by kind. No configuration is left behind on
//! any path. The author side is /plugin.
//!
//! * [`locate`]: where the plugin for a kind is found; [`classify`]: what a shared object is.
//! * [`program`]: the executable of a plugin; [`exec`]: plugins that are executables; [`worker`]:
//!   those that are started once; `failure`: errors of processes; `refusal`: what a sandbox
//!   has refused a process; [`function`]: KRM functions,
//!   executables and containers; [`container`]: the arguments of a container's engine;
//!   [`container_engine`]: which program that is; [`options`]: which plugins may run, and how.
//! * [`shared_object`]: plugins that are shared objects; `confined_process`: the process that one
//!   runs in, on Unix.
//! * [`go`]: plugins written in Go for kustomize.
//! * [`isolation`]: how much of the user's rights a plugin gets; [`confinement`]: how its process
//!   gives up the others; `sandbox`: which Linux can hold it to; `system_calls`: the system calls
//!   that it keeps; `mounts`: its view of the files.
//!
//! Children run with the limits of [`rustomize_process`].

#[cfg(target_os = "linux")]
mod system_calls;
pub mod classify;
pub mod confinement;
pub mod container;
pub mod container_engine;
pub mod exec;
pub mod failure;
pub mod function;
pub mod go;
#[cfg_attr(not(unix), path = "confined_process_in_job.rs")]
pub mod confined_process;
pub mod isolation;
pub mod locate;
#[cfg(target_os = "linux")]
mod mounts;
pub mod options;
pub mod permissions;
pub mod program;
mod refusal;
#[cfg_attr(not(target_os = "linux"), path = "without_sandbox.rs")]
mod sandbox;
pub mod shared_object;
pub mod worker;

pub use options::PluginOptions;

// The modules of this crate name those of the engine by their own paths.
use rustomize_engine::{config, diag, load, resource, stage};

use crate::diag::{Code, Result};
use crate::resource::Resource;
use crate::stage::{Build, Plugin, PluginEntry, Plugins, disabled};
use exec::ExecPlugin;
use function::Function;
use isolation::Isolation;
use locate::Placed;
use program::PluginProgram;
use rustomize_base::observe::Work;
use shared_object::{SharedObjectPlugin, SharedObjectProcess};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use worker::Workers;

/// The shared objects that run: by path and, where each is confined to a root, that.
type Hosts = HashMap<(PathBuf, Option<PathBuf>), Arc<SharedObjectProcess>>;

/// The options and running processes of plugins. As the [`Plugins`] of a build it finds functions
/// and the plugins in plugin homes, and no installed ones.
pub struct Runners {
    pub options: Arc<PluginOptions>,
    hosts: Mutex<Hosts>,
    /// The exec plugins that are started once.
    pub workers: Workers,
}

impl Runners {
    /// Runners without a process.
    pub fn new(options: PluginOptions) -> Self {
        Runners { options: Arc::new(options), hosts: Mutex::default(), workers: Workers::default() }
    }

    /// Fails where no plugin may run.
    ///
    /// # Errors
    /// Plugins are not enabled.
    pub fn check_enabled(&self, config: &Resource<'_>) -> Result<()> {
        if self.options.enabled {
            return Ok(());
        }
        let error = disabled(config);
        let is_program = function::is_program(config.node()) && !self.options.functions.exec;
        Err(error.hint(match is_program {
            true => {
                "functions can do whatever you can do; if you trust this one, pass --enable-alpha-plugins --enable-exec"
            }
            false => "plugins can do whatever you can do; if you trust this one, pass --enable-alpha-plugins",
        }))
    }

    /// A plugin from a plugin home.
    ///
    /// # Errors
    /// Its configuration is invalid, or it cannot be opened.
    pub fn placed<'a>(
        &self,
        build: &mut Build<'a>,
        entry: PluginEntry<'_, 'a>,
        placed: Placed,
        isolation: Isolation,
    ) -> Result<Box<dyn Plugin<'a>>> {
        match placed {
            Placed::Executable(path) => {
                let program = PluginProgram::placed(path, isolation);
                Ok(Box::new(ExecPlugin::load(build, &self.options, entry, program)?))
            }
            Placed::SharedObject { object, instead_of } => {
                if let Some(executable) = instead_of {
                    let executable = executable.display();
                    build.warn(
                        Code::PluginMessage,
                        format!("'{executable}' is not executable: '{}' is used", object.file.path.display()),
                    );
                }
                Ok(Box::new(SharedObjectPlugin::load(build, self, entry, &object, &isolation)?))
            }
        }
    }
}

impl Plugins for Runners {
    fn load<'a>(&self, build: &mut Build<'a>, entry: PluginEntry<'_, 'a>) -> Result<Box<dyn Plugin<'a>>> {
        self.check_enabled(entry.config)?;
        if function::is_function(entry.config.node()) {
            note(build, entry.config, || "the function that the object names".to_owned());
            return Ok(Box::new(Function::load(build, &self.options, entry)?));
        }
        let pos = entry.config.pos();
        let placed = locate::locate(&self.options, entry.config.id()).map_err(|e| e.at(pos))?;
        let placed = placed.ok_or_else(|| locate::nothing(&self.options, entry.config.id()).at(pos))?;
        note(build, entry.config, || format!("{}, placed by hand", placed.path().display()));
        self.placed(build, entry, placed, self.options.isolation.clone())
    }
}

/// Notes which plugin a build uses for a configuration object, and why.
pub fn note(build: &Build<'_>, config: &Resource<'_>, how: impl FnOnce() -> String) {
    let name = || config.id().gvk.to_string();
    build.cx.options.observer.note(Work::Choice, name, how);
}
