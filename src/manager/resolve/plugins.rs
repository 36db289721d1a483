//! [`ManagedPlugins`]: the plugins of a build, those that users place by hand and those that are
//! installed.

use super::build_scope::{BuildScope, InputsAndPolicy};
use super::inputs::Inputs;
use super::{COMPONENT, Chosen, PluginRequest, Provider, Resolver, Thoroughness, Tier};
use crate::author::conform::conform;
use crate::author::describe::Protocol;
use crate::diag::{Code, Error, Result, nearest};
use crate::id::shell::in_directory;
use crate::policy::{LOCKED_ALONE, Policy};
use crate::resource::{ResMap, Resource};
use crate::stage::{Build, Generator, Given, Plugin, PluginEntry, Plugins, Transformer};
use crate::store::discover::of_entry;
use crate::store::verified_copy::VerifiedCopy;
use rustomize_base::shell::quoted;
use rustomize_plugins::exec::ExecPlugin;
use rustomize_plugins::function::{self, Function};
use rustomize_plugins::locate;
use rustomize_plugins::permissions::Permissions;
use rustomize_plugins::program::PluginProgram;
use rustomize_plugins::shared_object::{LoadableObject, SharedObjectFile, SharedObjectPlugin};
use rustomize_plugins::{PluginOptions, Runners, note};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Where a build looks for installed plugins: nowhere by default.
#[derive(Debug, Default)]
pub struct Managed {
    /// The scope whose files are read when the first object asks for a plugin.
    scope: Option<BuildScope>,
    known: Option<InputsAndPolicy>,
}

impl Managed {
    /// In a scope. A build without plugins reads nothing of it.
    pub fn in_scope(scope: BuildScope) -> Managed {
        Managed { scope: Some(scope), known: None }
    }

    /// In known places.
    pub fn in_places(inputs: Inputs, policy: Policy) -> Managed {
        Managed { scope: None, known: Some(InputsAndPolicy { inputs, policy }) }
    }

    fn known(&mut self) -> Result<&InputsAndPolicy> {
        if self.known.is_none()
            && let Some(scope) = &self.scope
        {
            self.known = Some(scope.inputs()?);
        }
        Ok(self.known.get_or_insert_default())
    }
}

/// The plugins of a build.
pub struct ManagedPlugins {
    runners: Runners,
    managed: Mutex<Managed>,
}

impl ManagedPlugins {
    /// Plugins of which none was looked for and none runs.
    pub fn new(options: PluginOptions, managed: Managed) -> Self {
        ManagedPlugins { runners: Runners::new(options), managed: Mutex::new(managed) }
    }

    /// Calls `ask` with the resolver. Threads call it in turn, so that nothing is looked at twice.
    fn ask<T>(&self, ask: impl FnOnce(&Resolver<'_>) -> Result<T>) -> Result<T> {
        let mut managed = self.managed.lock().unwrap_or_else(PoisonError::into_inner);
        let InputsAndPolicy { inputs, policy } = managed.known()?;
        ask(&Resolver { inputs, policy, options: &self.runners.options })
    }

    /// A component of an installed plugin, with the permissions that it was granted.
    fn installed<'a>(
        &self,
        build: &mut Build<'a>,
        entry: PluginEntry<'_, 'a>,
        found: Provider,
    ) -> Result<Box<dyn Plugin<'a>>> {
        if let Some(schema) = &found.component.schema {
            conform(build.arena, entry.config, schema, &found.installed.source.to_string())?;
        }
        let options = &self.runners.options;
        let isolation = options.isolation.of_installed(&found.permissions, &*options.host);
        let VerifiedCopy { launch, directory } = self.copy(&found)?;
        let known = found.launch.program;
        let runs_last = found.runs_last;
        let launch = match &directory {
            Some(directory) => of_entry(launch, directory, &found.component.entry),
            None => launch,
        };
        if found.protocol == Protocol::SharedObject {
            let file = SharedObjectFile { path: launch.program, shown: known };
            let loader = locate::loader_of(&file, &file.shown, options)?;
            let object = LoadableObject { file, loader };
            let plugin = SharedObjectPlugin::load(build, &self.runners, entry, &object, &isolation)?;
            return Ok(in_order(plugin, runs_last));
        }
        // A file is called by the path that the user knows, and may read its own file.
        let (shown, launch) = match directory {
            Some(_) => (launch.program.clone(), launch),
            None => (known.clone(), launch.reading(known.parent())),
        };
        let component = Some(found.component.name);
        let parameters = found.parameters;
        let program = PluginProgram { shown, launch, component, parameters, isolation, format: found.format };
        match found.protocol {
            Protocol::Krm => Ok(in_order(Function::of(build, options, entry, program)?, runs_last)),
            _ => {
                let plugin = ExecPlugin::load(build, options, entry, program)?;
                let plugin = if found.worker { plugin.with_worker(&self.runners.workers)? } else { plugin };
                Ok(in_order(plugin, runs_last))
            }
        }
    }

    /// The copy of an installed plugin that runs in its place.
    fn copy(&self, found: &Provider) -> Result<VerifiedCopy> {
        let path = found.installed.path.display();
        let wrong = |why| Error::new(Code::BadPlugin, format!("'{path}' does not run: {why}"));
        let children = &self.runners.options.children;
        self.ask(|resolver| resolver.inputs.copy(&found.installed, children).map_err(wrong))
    }

    /// The error of an object that no plugin is for, which the root `shown` lists. It names the
    /// plugins that are required, and the kind that may be meant.
    fn without_plugin(&self, request: &PluginRequest<'_>, shown: &str) -> Error {
        let id = request.id;
        let error = locate::nothing(&self.runners.options, id);
        let known = self.ask(|resolver| {
            let needs = resolver.inputs.projects(request)?;
            let names = needs.iter().flat_map(|project| &project.needs).map(|need| need.wanted.name.clone());
            Ok((names.collect::<Vec<_>>(), resolver.inputs.known_kinds()))
        });
        let (required, kinds) = known.unwrap_or_default();
        let kind = format!("{}/{}", request.api_version(), id.gvk.kind);
        let asks = |command: &str| in_directory(command, Path::new(shown));
        let error = match required.is_empty() {
            true => error,
            false => error
                .prefixed(&format!("no plugin provides {kind}: "))
                .context(format!("plugins.yaml requires {}", required.join(", "))),
        };
        let last = |title: &str| title.rsplit('/').next().unwrap_or_default().to_owned();
        let names: Vec<String> = kinds.iter().map(|title| last(title)).collect();
        if let Some(near) = nearest(id.gvk.kind, names.iter().map(String::as_str)) {
            let title = kinds.iter().find(|title| last(title) == near).map_or(near, String::as_str);
            return error.advised(|_| Some(format!("did you mean {title}?")));
        }
        // A plugin that is placed wrongly is meant.
        let is_general = |hint: &String| hint == locate::PUT_THERE || hint == locate::SET_HOME;
        if !error.hints().iter().any(is_general) {
            return error;
        }
        let why =
            format!("see where plugins are looked for: {}", asks(&format!("rustomize plugin why {}", quoted(&kind))));
        let add = format!("add the plugin that provides it: {}", asks("rustomize plugin add SOURCE"));
        match required.is_empty() {
            true => error.hint(add).hint(why),
            false => error.advised(|_| Some(add.clone())).hint(why),
        }
    }

    /// The error of a configuration object without a plugin.
    fn nothing(&self, request: &PluginRequest<'_>, shown: &str) -> Error {
        match request.component {
            Some(name) => {
                let message = format!("no installed plugin provides '{name}', which the annotation {COMPONENT} names");
                Error::new(Code::PluginMissing, message).hint("see what is installed: rustomize plugin list")
            }
            None => {
                let error = self.without_plugin(request, shown);
                let error = match self.ask(|resolver| Ok(resolver.inputs.of_others())).unwrap_or(0) {
                    0 => error,
                    n => error.hint(format!(
                        "a build leaves {n} installed plugins alone, which this project does not require; see them: rustomize plugin why"
                    )),
                };
                match self.ask(|resolver| Ok(resolver.inputs.refused())).unwrap_or(0) {
                    0 => error,
                    n => {
                        error.hint(format!("installed files that cannot be used: {n}; see why: rustomize plugin list"))
                    }
                }
            }
        }
    }
}

/// A plugin that runs after all other transformers of its kustomization.
struct PostProcessor<P>(P);

/// A plugin as a build runs it: as a post-processor if it is one.
fn in_order<'a>(plugin: impl Plugin<'a> + 'static, runs_last: bool) -> Box<dyn Plugin<'a>> {
    if runs_last { Box::new(PostProcessor(plugin)) } else { Box::new(plugin) }
}

impl<'a, P: Plugin<'a>> Generator<'a> for PostProcessor<P> {
    fn generate(&self, build: &mut Build<'a>) -> Result<Vec<Resource<'a>>> {
        self.0.generate(build)
    }
}

impl<'a, P: Plugin<'a>> Transformer<'a> for PostProcessor<P> {
    fn transform(&self, map: &mut ResMap<'a>, build: &mut Build<'a>) -> Result<()> {
        self.0.transform(map, build)
    }
}

impl<'a, P: Plugin<'a>> Plugin<'a> for PostProcessor<P> {
    fn prints_all(&self) -> bool {
        self.0.prints_all()
    }

    fn runs_last(&self) -> bool {
        true
    }

    fn check(&self, map: &ResMap<'a>, given: &mut Given, build: &mut Build<'a>) -> Result<Option<Vec<Resource<'a>>>> {
        self.0.check(map, given, build)
    }
}

/// The error about an object for which only a locked plugin may be used. A plugin that is placed
/// for another kind or version is most likely meant: it needs no lock.
fn advised_of_placed(error: Error, options: &PluginOptions, request: &PluginRequest<'_>) -> Error {
    let advice = || locate::placed_elsewhere(options, request.id);
    match error.message().ends_with(LOCKED_ALONE).then(advice).flatten() {
        Some(hint) => error.advised(|_| Some(hint.clone())),
        None => error,
    }
}

impl Plugins for ManagedPlugins {
    /// Finds the plugin for a configuration object: see [`Tier::ORDER`].
    fn load<'a>(&self, build: &mut Build<'a>, entry: PluginEntry<'_, 'a>) -> Result<Box<dyn Plugin<'a>>> {
        let config = entry.config;
        self.runners.check_enabled(config)?;
        let pos = config.pos();
        let options = &self.runners.options;
        let asked = config.annotation(COMPONENT);
        let request = PluginRequest {
            id: config.id(),
            role: entry.mode.into(),
            component: asked,
            is_function: function::is_function(config.node()),
            directory: &entry.root.real,
            clone: entry.root.remote(),
        };
        // Functions and plugins placed by hand need no inputs: nothing is read or installed for
        // them.
        let early = Resolver { inputs: &Inputs::default(), policy: &Policy::default(), options };
        let found = match early.by_hand(&request).map_err(|e| e.at(pos))? {
            Some(found) => Some(found),
            None => self
                .ask(|resolver| resolver.resolve(&request, Thoroughness::FirstFound).chosen)
                .map_err(|e| advised_of_placed(e, options, &request).at(pos))?,
        };
        if let Some(chosen) = &found {
            note(build, config, || chosen.reason());
        }
        let (tier, placed) = match found {
            None => return Err(self.nothing(&request, &entry.root.shown).at(pos)),
            Some(Chosen::Function) => return Ok(Box::new(Function::load(build, options, entry)?)),
            Some(Chosen::Installed(provider)) => return self.installed(build, entry, *provider),
            Some(Chosen::Placed(tier, placed)) => (tier, placed),
        };
        let isolation = match tier {
            // A synced plugin was written by others, as an installed plugin, and gets no
            // permissions.
            Tier::Synced => options.isolation.of_installed(&Permissions::default(), &*options.host),
            _ => options.isolation.clone(),
        };
        if tier == Tier::Path {
            let path = placed.path().display();
            build.warn(Code::PluginMessage, format!("'{path}' in PATH is used for {}", config.id()));
        }
        self.runners.placed(build, entry, placed, isolation)
    }
}
