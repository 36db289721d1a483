//! The host side of plugins; the author side is /plugin.
//!
//! * [`locate`]: where the plugin for a kind is found; [`classify`]: what a shared object is.
//! * [`wire`]: resources to bytes and back, with the annotations that plugins see.
//! * [`exec`]: plugins that are executables; [`function`]: KRM functions, executables and
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
pub mod shared_object;
pub mod wire;

use crate::diag::{Error, ErrorKind, Result};
use crate::generator::Generator;
use crate::load::Root;
use crate::manager::describe::{Command, Protocol};
use crate::manager::held::HeldCopy;
use crate::manager::permissions::Permissions;
use crate::manager::resolve::{COMPONENT, Found, Managed, Manager, Use};
use crate::pipeline::Session;
use crate::process::Limits;
use crate::resource::{ResMap, Resource};
use crate::transformer::Transformer;
use exec::{ExecPlugin, Mode, Program};
use function::{Function, FunctionOptions};
use isolation::{Isolation, Level};
use locate::Placed;
use shared_object::{Host, SharedObjectPlugin};
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

/// Whether and how external plugins run.
#[derive(Clone, Debug)]
pub struct PluginOptions {
    /// Without it a build that needs an external plugin fails.
    pub enabled: bool,
    /// How long one call may take; `None` for as long as it likes.
    pub timeout: Option<Duration>,
    /// How many bytes one call may print.
    pub output_limit: u64,
    /// The directories that may hold plugins, first that exists.
    pub homes: Vec<PathBuf>,
    /// Takes what plugins print on stderr, as it comes.
    pub stderr: fn(&[u8]),
    /// How much of the user's rights plugins get.
    pub isolation: Isolation,
    /// How many bytes of address space a shared object's process may have; `None` for no limit.
    pub memory_limit: Option<u64>,
    /// The program that runs shared objects, as `PROGRAM` [`host::ARGUMENT`] `CONFINEMENT PATH`.
    pub host: Option<PathBuf>,
    /// Where the programs are that load genuine Go plugins; `None` for nowhere.
    pub go_hosts: Option<PathBuf>,
    /// Gives variables of this process to plugins that were granted them.
    pub variable: fn(&str) -> Option<OsString>,
    /// What is known of installed plugins.
    pub manager: Managed,
    /// What holds for functions alone.
    pub functions: FunctionOptions,
}

impl Default for PluginOptions {
    fn default() -> Self {
        PluginOptions {
            enabled: false,
            timeout: Some(Duration::from_secs(600)),
            output_limit: 1 << 30,
            homes: Vec::new(),
            stderr: |_| {},
            isolation: Isolation { installed: Level::Auto, ..Isolation::default() },
            memory_limit: Some(8 << 30),
            host: None,
            go_hosts: None,
            variable: |_| None,
            manager: Managed::default(),
            functions: FunctionOptions::default(),
        }
    }
}

impl PluginOptions {
    /// The user's home.
    pub fn home(&self) -> Option<PathBuf> {
        (self.variable)("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
    }

    /// What one call may take.
    pub fn limits(&self) -> Limits {
        Limits { timeout: self.timeout, output: self.output_limit, stderr: self.stderr }
    }
}

/// The shared objects that run: by path and, where each is confined to a root, that.
type Hosts = HashMap<(PathBuf, Option<PathBuf>), Rc<Host>>;

/// The plugins of a build.
pub struct Plugins {
    pub options: PluginOptions,
    hosts: RefCell<Hosts>,
    manager: OnceCell<Option<Manager>>,
}

impl Plugins {
    /// Nothing is started yet.
    pub fn new(options: PluginOptions) -> Self {
        Plugins { options, hosts: RefCell::default(), manager: OnceCell::new() }
    }

    /// What is known of installed plugins, looked for when the first object asks for one.
    fn manager(&self) -> Result<Option<&Manager>> {
        if self.manager.get().is_none() {
            let made = self.options.manager.make()?;
            return Ok(self.manager.get_or_init(|| made).as_ref());
        }
        Ok(self.manager.get().and_then(Option::as_ref))
    }
}

/// A plugin of any kind, with its configuration.
pub enum External {
    Exec(ExecPlugin),
    SharedObject(SharedObjectPlugin),
    Function(Function),
}

impl External {
    /// Finds the plugin for a configuration object: a function if the object says so, else what is
    /// placed for its kind. `root` is the root that lists the entry.
    ///
    /// # Errors
    /// Plugins are not enabled, there is none for the object, or its configuration is wrong.
    pub fn load<'a>(session: &Session<'a>, root: &Root, config: Resource<'a>, mode: Mode) -> Result<Self> {
        if !session.plugins.options.enabled {
            let kind = config.id().gvk.kind;
            let message = format!("external plugins disabled; unable to load external plugin '{kind}'");
            let error = Error::new(ErrorKind::Plugin, message).at(session.arena.place(config.pos()));
            return Err(
                error.hint("plugins can do whatever you can do; if you trust this one, pass --enable-alpha-plugins")
            );
        }
        if function::is_function(&config) {
            return Function::load(session, root, &config).map(External::Function);
        }
        let place = session.arena.place(config.pos());
        let options = &session.plugins.options;
        // A component is of an installed plugin, whatever is placed for its kind.
        let asked = config.annotation(COMPONENT);
        let placed = match asked {
            Some(_) => None,
            None => locate::locate(options, config.id()).map_err(|e| e.at(place.clone()))?,
        };
        let found = match placed {
            Some(placed) => Some(Use::Bundled(placed)),
            None => {
                let find = |manager: &Manager| manager.find(options, config.id(), mode.role(), asked);
                let manager = session.plugins.manager().map_err(|e| e.at(place.clone()))?;
                manager.map_or(Ok(None), find).map_err(|e| e.at(place.clone()))?
            }
        };
        let mut isolation = options.isolation.clone();
        let placed = match found {
            None => return Err(nothing(session, &config, asked).at(place)),
            Some(Use::Bundled(placed)) => placed,
            Some(Use::Synced(placed)) => {
                isolation = isolation.of_installed(&Permissions::default(), options.variable);
                placed
            }
            Some(Use::Ambient(path)) => {
                session.warn(format!("'{}' in PATH is used for {}", path.display(), config.id()));
                Placed::Executable(path)
            }
            Some(Use::Installed(found)) => return External::installed(session, root, &config, mode, *found),
        };
        match placed {
            Placed::Executable(path) => {
                let program = Program::placed(path, isolation);
                ExecPlugin::load(session, root, &config, mode, program).map(External::Exec)
            }
            Placed::SharedObject { path, program, instead_of } => {
                if let Some(executable) = instead_of {
                    let executable = executable.display();
                    session.warn(format!("'{executable}' is not executable: '{}' is used", path.display()));
                }
                SharedObjectPlugin::load(session, root, &config, mode, (&program, &path), &isolation)
                    .map(External::SharedObject)
            }
        }
    }

    /// An installed plugin, with what it was granted.
    fn installed<'a>(
        session: &Session<'a>,
        root: &Root,
        config: &Resource<'a>,
        mode: Mode,
        found: Found,
    ) -> Result<Self> {
        let options = &session.plugins.options;
        let isolation = options.isolation.of_installed(&found.permissions, options.variable);
        let held = held(session, &found)?;
        // A script is called by the path that the user knows.
        let is_shared_object = found.protocol == Protocol::SharedObject;
        let command = match &held {
            Some(held) if held.file.is_none() || is_shared_object => held.command.clone(),
            _ => found.command,
        };
        let Command { program: path, args, directory, needs, environment } = command;
        if is_shared_object {
            let own = locate::program_for(&path, &path, options)?;
            let plugin = SharedObjectPlugin::load(session, root, config, mode, (&own, &path), &isolation);
            return plugin.map(External::SharedObject);
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
            Protocol::Krm => Function::of(session, root, config, program).map(External::Function),
            _ => ExecPlugin::load(session, root, config, mode, program).map(External::Exec),
        }
    }

    /// Lets a validator look at all resources, and gives what it printed.
    ///
    /// # Errors
    /// The plugin fails, or prints no resources.
    pub fn print_for<'a>(&self, session: &Session<'a>, map: &ResMap<'a>) -> Result<Vec<Resource<'a>>> {
        match self {
            External::Exec(plugin) => plugin.print_for(session, map),
            External::SharedObject(plugin) => plugin.print_for(session, map),
            External::Function(function) => function.print_for(session, map),
        }
    }
}

/// The copy of an installed plugin that runs in its place. None of a program that the system runs
/// from what was opened and hashed.
fn held(session: &Session<'_>, found: &Found) -> Result<Option<Rc<HeldCopy>>> {
    if found.protocol != Protocol::SharedObject && found.opened.as_deref().is_some_and(exec::is_binary) {
        return Ok(None);
    }
    let Some(manager) = session.plugins.manager.get().and_then(Option::as_ref) else { return Ok(None) };
    let path = found.installed.path.display();
    let wrong = |why| Error::new(ErrorKind::Plugin, format!("'{path}' does not run: {why}"));
    manager.held(&found.installed).map(Some).map_err(wrong)
}

/// Why there is no plugin for a configuration object.
fn nothing(session: &Session<'_>, config: &Resource<'_>, asked: Option<&str>) -> Error {
    let manager = session.plugins.manager.get().and_then(Option::as_ref);
    match asked {
        Some(name) => {
            let message = format!("no installed plugin has the component '{name}', which {COMPONENT} names");
            Error::new(ErrorKind::Plugin, message).hint("'rustomize plugin list' says what is installed")
        }
        None => {
            let error = locate::nothing(&session.plugins.options, config.id());
            match manager.map_or(0, Manager::refused) {
                0 => error,
                n => error.hint(format!("{n} installed files are not considered: 'rustomize plugin list' says why")),
            }
        }
    }
}

impl<'a> Generator<'a> for External {
    fn generate(&self, session: &Session<'a>) -> Result<Vec<Resource<'a>>> {
        let mut resources = match self {
            External::Exec(plugin) => plugin.generate(session),
            External::SharedObject(plugin) => plugin.generate(session),
            External::Function(function) => function.generate(session),
        }?;
        for resource in &mut resources {
            if let Some(warning) = wire::take_generator_options(session.arena, resource)? {
                session.warn(warning);
            }
        }
        Ok(resources)
    }
}

impl<'a> Transformer<'a> for External {
    fn transform(&self, map: &mut ResMap<'a>, session: &Session<'a>) -> Result<()> {
        match self {
            External::Exec(plugin) => plugin.transform(map, session),
            External::SharedObject(plugin) => plugin.transform(map, session),
            External::Function(function) => function.transform(map, session),
        }
    }
}
