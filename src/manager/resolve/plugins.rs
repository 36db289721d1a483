//! [`ManagedPlugins`]: the plugins of a build, those that were placed and those that were
//! installed.

use crate::diag::{Code, Error, Result};
use crate::manager::author::describe::Protocol;
use crate::manager::resolve::{COMPONENT, Found, Managed, Manager, Use};
use crate::plugin::exec::ExecPlugin;
use crate::plugin::function::{self, Function};
use crate::plugin::locate::{self, Placed};
use crate::plugin::permissions::Permissions;
use crate::plugin::program::{Command, HeldCopy, Program, is_binary};
use crate::plugin::shared_object::SharedObjectPlugin;
use crate::plugin::{PluginOptions, Runners};
use crate::resource::Resource;
use crate::stage::{Build, Plugin, PluginEntry, Plugins};
use std::sync::{Arc, Mutex, PoisonError};

/// The plugins of a build. A plugin that somebody has placed comes before an installed one.
pub struct ManagedPlugins {
    runners: Runners,
    managed: Managed,
    /// The installed plugins: unknown until the first object asks, then `None` if there are none.
    manager: Mutex<Option<Option<Manager>>>,
}

impl ManagedPlugins {
    /// Plugins of which none was looked for and none runs.
    pub fn new(options: PluginOptions, managed: Managed) -> Self {
        ManagedPlugins { runners: Runners::new(options), managed, manager: Mutex::default() }
    }

    /// Calls `ask` with the installed plugins, which the first call looks for; `None` if there are
    /// none. Threads call it in turn, so that nothing is looked at twice.
    fn ask<T>(&self, ask: impl FnOnce(&Manager) -> Result<Option<T>>) -> Result<Option<T>> {
        let mut known = self.manager.lock().unwrap_or_else(PoisonError::into_inner);
        let manager = match &mut *known {
            Some(manager) => manager,
            unknown => unknown.insert(self.managed.make()?),
        };
        manager.as_ref().map_or(Ok(None), ask)
    }

    /// An installed plugin, with what it was granted.
    fn installed<'a>(
        &self,
        build: &mut Build<'a>,
        entry: PluginEntry<'_, 'a>,
        found: Found,
    ) -> Result<Box<dyn Plugin<'a>>> {
        let options = &self.runners.options;
        let isolation = options.isolation.of_installed(&found.permissions, options.variable);
        let held = self.held(&found)?;
        // A script is called by the path that the user knows.
        let is_shared_object = found.protocol == Protocol::SharedObject;
        let command = match &held {
            Some(held) if held.file.is_none() || is_shared_object => held.command.clone(),
            _ => found.command,
        };
        let Command { program: path, args, directory, needs, environment } = command;
        if is_shared_object {
            let own = locate::program_for(&path, &path, options)?;
            let plugin = SharedObjectPlugin::load(build, &self.runners, entry, (&own, &path), &isolation)?;
            return Ok(Box::new(plugin));
        }
        let component = Some(found.component.name);
        let program = Program {
            path,
            opened: found.opened,
            held,
            args,
            directory,
            needs,
            component,
            parameters: found.parameters,
            environment,
            isolation,
        };
        match found.protocol {
            Protocol::Krm => Ok(Box::new(Function::of(build, options, entry, program)?)),
            _ => Ok(Box::new(ExecPlugin::load(build, options, entry, program)?)),
        }
    }

    /// The copy of an installed plugin that runs in its place. None of a program that the system
    /// runs from what was opened and hashed.
    fn held(&self, found: &Found) -> Result<Option<Arc<HeldCopy>>> {
        if found.protocol != Protocol::SharedObject && found.opened.as_deref().is_some_and(is_binary) {
            return Ok(None);
        }
        let path = found.installed.path.display();
        let wrong = |why| Error::new(Code::Plugin, format!("'{path}' does not run: {why}"));
        self.ask(|manager| manager.held(&found.installed, &self.runners.options.children).map(Some).map_err(wrong))
    }

    /// Why there is no plugin for a configuration object.
    fn nothing(&self, config: &Resource<'_>, asked: Option<&str>) -> Error {
        match asked {
            Some(name) => {
                let message = format!("no installed plugin has the component '{name}', which {COMPONENT} names");
                Error::new(Code::Plugin, message).hint("'rustomize plugin list' says what is installed")
            }
            None => {
                let error = locate::nothing(&self.runners.options, config.id());
                match self.ask(|manager| Ok(Some(manager.refused()))).ok().flatten().unwrap_or(0) {
                    0 => error,
                    n => {
                        error.hint(format!("{n} installed files are not considered: 'rustomize plugin list' says why"))
                    }
                }
            }
        }
    }
}

impl Plugins for ManagedPlugins {
    /// Finds the plugin for a configuration object: a function if the object says so, else what is
    /// placed for its kind, else what is installed for it.
    fn load<'a>(&self, build: &mut Build<'a>, entry: PluginEntry<'_, 'a>) -> Result<Box<dyn Plugin<'a>>> {
        let config = entry.config;
        self.runners.check_enabled(config)?;
        if function::is_function(config) {
            return Ok(Box::new(Function::load(build, &self.runners.options, entry)?));
        }
        let pos = config.pos();
        let options = &self.runners.options;
        // A component is of an installed plugin, whatever is placed for its kind.
        let asked = config.annotation(COMPONENT);
        let placed = match asked {
            Some(_) => None,
            None => locate::locate(options, config.id()).map_err(|e| e.at(pos))?,
        };
        let found = match placed {
            Some(placed) => Some(Use::Bundled(placed)),
            None => {
                let find = |manager: &Manager| manager.find(options, config.id(), entry.mode.into(), asked);
                self.ask(find).map_err(|e| e.at(pos))?
            }
        };
        let mut isolation = options.isolation.clone();
        let placed = match found {
            None => return Err(self.nothing(config, asked).at(pos)),
            Some(Use::Bundled(placed)) => placed,
            Some(Use::Synced(placed)) => {
                isolation = isolation.of_installed(&Permissions::default(), options.variable);
                placed
            }
            Some(Use::Ambient(path)) => {
                build.warn(Code::Plugin, format!("'{}' in PATH is used for {}", path.display(), config.id()));
                Placed::Executable(path)
            }
            Some(Use::Installed(found)) => return self.installed(build, entry, *found),
        };
        self.runners.placed(build, entry, (placed, isolation))
    }
}
