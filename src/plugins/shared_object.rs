//! Plugins that are shared objects: `<kind>.so` with the functions of `plugin/abi`, each in a
//! process of its own.
//!
//! The process is started when the first configuration object for the plugin is loaded, and serves
//! the whole build. A transformer gets all resources and prints what is to be there afterwards, as
//! one list: resources keep the order of its output, unlike what an exec plugin prints. *Cost*: the
//! process once, and printing and reading the resources once each.

use super::failure::{Called, explain};
use super::isolation::{Isolation, Level};
use super::options::FunctionOptions;
use super::{PluginOptions, Runners};
use crate::diag::{Code, Error, Result};
use crate::load::Root;
use crate::resource::{ResMap, Resource};
use crate::stage::format::Format;
use crate::stage::{Build, Generator, Given, Mode, Plugin, PluginEntry, Transformer, wire};
use rustomize_plugin_abi::frame::{Frame, answer, head};
use rustomize_plugin_abi::{Asked, Mode as Task};
use rustomize_process::conversation::Conversation;
use rustomize_process::{Failed, Launch};
use rustomize_yaml::Pos;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The program that loads a shared object.
#[derive(Clone, Debug)]
pub enum SharedObjectLoader {
    /// The helper of the host, for a shared object with the functions of `plugin/abi`.
    Helper,
    /// A Go program, for a genuine Go plugin.
    GoProgram(PathBuf),
}

/// A shared object, and the program that loads it.
#[derive(Clone, Debug)]
pub struct LoadableObject {
    pub file: SharedObjectFile,
    pub loader: SharedObjectLoader,
}

impl LoadableObject {
    /// A file that is loaded where the user has placed it.
    pub fn placed(path: PathBuf, loader: SharedObjectLoader) -> LoadableObject {
        LoadableObject { file: SharedObjectFile::placed(path), loader }
    }
}

/// The file of a shared object, and its name in errors.
#[derive(Clone, Debug)]
pub struct SharedObjectFile {
    /// The file that is loaded: the held copy of an installed plugin.
    pub path: PathBuf,
    /// The path that the user knows.
    pub shown: PathBuf,
}

impl SharedObjectFile {
    /// A file that is loaded where the user has placed it.
    pub fn placed(path: PathBuf) -> SharedObjectFile {
        SharedObjectFile { shown: path.clone(), path }
    }

    /// A text of the process that has loaded the file, with the path that the user knows.
    fn named(&self, text: &str) -> String {
        text.replace(&*self.path.to_string_lossy(), &self.shown.to_string_lossy())
    }
}

/// A running plugin, shared by all configuration objects for it.
pub struct SharedObjectProcess {
    conversation: Mutex<Conversation>,
    file: SharedObjectFile,
    description: Description,
}

/// The description that a plugin prints; unknown fields are ignored.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Description {
    /// The modes that it supports: `generate`, `transform`, `validate`; `None` for all.
    modes: Option<Vec<String>>,
}

impl SharedObjectProcess {
    /// The process of a plugin in a build, started when it is first asked for.
    ///
    /// # Errors
    /// As [`SharedObjectProcess::start`].
    fn of(
        runners: &Runners,
        isolation: &Isolation,
        object: &LoadableObject,
        root: &Root,
    ) -> Result<Arc<SharedObjectProcess>> {
        let confined_to = (isolation.level != Level::Off).then(|| root.real.to_path_buf());
        let key = (object.file.path.clone(), confined_to);
        // Whoever asks for a plugin that is being started waits for it.
        let mut hosts = runners.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(host) = hosts.get(&key) {
            return Ok(Arc::clone(host));
        }
        let host = Arc::new(SharedObjectProcess::start(&runners.options, isolation, object, key.1.as_deref())?);
        hosts.insert(key, Arc::clone(&host));
        Ok(host)
    }

    /// Starts a process and opens the plugin in it. `root` is what it may read, where it is
    /// confined.
    ///
    /// # Errors
    /// The process cannot be started, or the plugin cannot be opened.
    pub fn start(
        options: &PluginOptions,
        isolation: &Isolation,
        object: &LoadableObject,
        root: Option<&Path>,
    ) -> Result<SharedObjectProcess> {
        let LoadableObject { file, loader } = object;
        let (path, name) = (file.path.as_path(), format!("plugin '{}'", file.shown.display()));
        let fault = |what: String| Error::new(Code::PluginFailed, format!("{name} {what}"));
        let own = options.helper().map_err(|lack| fault(format!("is a shared object, and {lack} to run it in")))?;
        let (launch, orders) = match loader {
            SharedObjectLoader::Helper => (Launch::new(path), &[][..]),
            SharedObjectLoader::GoProgram(program) => {
                (Launch::new(program).args([path]).reading([program]), &["exec"][..])
            }
        };
        let launch = launch.reading(options.places(path)).reading(root);
        let no_directory = |e| fault(format!("has no place for temporary files: {e}"));
        let grants = isolation.grants(options, &launch.reads).map_err(no_directory)?;
        let launch = options.limited(grants.launched(launch, own, orders));
        let called = Called { program: &file.shown, name: &name, pos: Pos::NONE, isolation: Some(isolation) };
        let failed = |failed: Failed| explain(options, &failed, called);
        let mut conversation = Conversation::start(&options.children, launch).map_err(failed)?;
        let hello = conversation.exchange(&[]).map_err(failed)?;
        let description = match hello.kind {
            answer::OUTPUT => serde_json::from_slice(&hello.content)
                .map_err(|e| fault(format!("does not describe itself as a JSON object: {e}")))?,
            answer::NOT_OPENED => return Err(fault(file.named(&text(hello)))),
            _ => return Err(fault(file.named(&format!("cannot describe itself: {}", words(hello))))),
        };
        Ok(SharedObjectProcess { conversation: Mutex::new(conversation), file: file.clone(), description })
    }

    /// Calls the plugin. It costs the transfer and no copy of the texts.
    ///
    /// # Errors
    /// The process ends, takes too long or answers with too much. What the plugin itself says is in
    /// the frame.
    pub fn ask(&self, asked: &Asked<'_>) -> std::result::Result<Frame, Failed> {
        let texts = [asked.config, asked.root, asked.resources, asked.options];
        let lengths = texts.map(|text| (text.len() as u64).to_le_bytes());
        let size = texts.iter().map(|text| text.len() + size_of::<u64>()).sum();
        let head = head(asked.mode as u8, size);
        let mut parts: Vec<&[u8]> = vec![&head];
        for (len, text) in lengths.iter().zip(texts) {
            parts.extend([len, text.as_bytes()]);
        }
        self.conversation.lock().unwrap_or_else(PoisonError::into_inner).exchange(&parts)
    }

    /// The modes that the plugin says it supports.
    pub fn modes(&self) -> &[String] {
        self.description.modes.as_deref().unwrap_or_default()
    }

    fn can(&self, mode: &str) -> bool {
        self.description.modes.as_ref().is_none_or(|modes| modes.iter().any(|m| m == mode))
    }
}

/// The options of the command line that plugins may read, as JSON; docs/plugin-abi.md describes it.
fn options(build: &Build<'_>, functions: &FunctionOptions, root: &str) -> String {
    let helm = &build.cx.options.helm;
    let options = serde_json::json!({
        "loadRestrictor": build.cx.options.restrictor.as_str(),
        "helm": {
            "enabled": helm.enabled,
            "command": helm.command,
            "apiVersions": build.helm_api_versions,
            "kubeVersion": helm.kube_version,
            "debug": helm.debug,
        },
        "functions": {
            "enableExec": functions.exec,
            "network": functions.network,
            "networkName": functions.network_name,
            "mounts": functions.mounts,
            "env": functions.variables,
            "asCurrentUser": functions.user.is_some(),
            "workingDir": root,
        },
    });
    options.to_string()
}

fn text(frame: Frame) -> String {
    String::from_utf8_lossy(&frame.content).into_owned()
}

/// The reason why a call failed, in words.
fn words(frame: Frame) -> String {
    match frame.kind {
        answer::FAILED => text(frame),
        answer::PANICKED => format!("it panicked: {}", text(frame)),
        answer::UNSUPPORTED => "it cannot do what the field that lists it asks for".to_owned(),
        answer::BROKEN => format!("it broke the rules of the plugin interface: {}", text(frame)),
        other => format!("it answered with a frame of the unknown kind {other}"),
    }
}

/// A plugin with its configuration, ready to run.
pub struct SharedObjectPlugin {
    options: Arc<PluginOptions>,
    host: Arc<SharedObjectProcess>,
    /// The configuration as the plugin gets it.
    config: String,
    root: Root,
    /// The name of the plugin in errors.
    name: String,
    pos: Pos,
    isolation: Isolation,
}

impl SharedObjectPlugin {
    /// Starts the plugin for a configuration object, unless it runs. `root` is the root that lists
    /// the entry.
    ///
    /// # Errors
    /// The plugin cannot be opened, or does not have the role of the field that lists the entry.
    pub fn load<'a>(
        build: &Build<'a>,
        runners: &Runners,
        PluginEntry { root, config, mode }: PluginEntry<'_, 'a>,
        object: &LoadableObject,
        isolation: &Isolation,
    ) -> Result<Self> {
        let arena = build.arena;
        let pos = config.pos();
        let host = SharedObjectProcess::of(runners, isolation, object, root).map_err(|e| e.at(pos))?;
        let name = format!("plugin {}", config.id());
        let can = match mode {
            Mode::Generate => host.can("generate"),
            // A transformer that changes nothing is a validator.
            Mode::Transform | Mode::Validate => host.can("transform") || host.can("validate"),
        };
        if !can {
            let error = Error::new(Code::WrongKind, format!("{name} is not a {}", mode.role())).at(pos);
            let modes = host.modes().join(", ");
            return Err(error.hint(format!("'{}' says that it can: {modes}", object.file.shown.display())));
        }
        Ok(SharedObjectPlugin {
            options: Arc::clone(&runners.options),
            host,
            config: wire::print_config(arena, config)?,
            root: root.clone(),
            name,
            pos,
            isolation: isolation.clone(),
        })
    }

    /// Calls the plugin and reads what it printed.
    fn call<'a>(&self, build: &mut Build<'a>, task: Task, resources: &str) -> Result<Vec<Resource<'a>>> {
        let printed = self.ask(build, task, resources)?;
        self.parse(build, printed)
    }

    fn parse<'a>(&self, build: &mut Build<'a>, printed: Vec<u8>) -> Result<Vec<Resource<'a>>> {
        wire::parse(build, format!("the output of {}", self.name), printed)
    }

    /// Calls the plugin and gives what it printed.
    fn ask(&self, build: &mut Build<'_>, task: Task, resources: &str) -> Result<Vec<u8>> {
        let fault = |message: String| Error::new(Code::PluginFailed, format!("{}: {message}", self.name)).at(self.pos);
        let root = self.root.real.to_str().ok_or_else(|| fault("its root's path is not valid UTF-8".to_owned()))?;
        let options = options(build, &self.options.functions, root);
        let asked = Asked { mode: task, config: &self.config, root, resources, options: &options };
        let answer = self.host.ask(&asked).map_err(|failed| {
            let (program, isolation) = (&*self.host.file.shown, Some(&self.isolation));
            explain(&self.options, &failed, Called { program, name: &self.name, pos: self.pos, isolation })
        })?;
        match answer.kind {
            answer::OUTPUT => Ok(answer.content),
            _ => Err(fault(self.host.file.named(&words(answer)))),
        }
    }
}

impl<'a> Generator<'a> for SharedObjectPlugin {
    fn generate(&self, build: &mut Build<'a>) -> Result<Vec<Resource<'a>>> {
        let resources = self.call(build, Task::Generate, "")?;
        wire::generated(build, resources)
    }
}

impl<'a> Transformer<'a> for SharedObjectPlugin {
    fn transform(&self, map: &mut ResMap<'a>, build: &mut Build<'a>) -> Result<()> {
        let arena = build.arena;
        let input = wire::print(arena, std::mem::take(map).into_resources().into_iter(), wire::Ids::Without)?;
        *map = wire::replace_by_output(arena, self.call(build, Task::Transform, &input)?, &self.name)?;
        Ok(())
    }
}

impl<'a> Plugin<'a> for SharedObjectPlugin {
    fn prints_all(&self) -> bool {
        true
    }

    fn check(&self, map: &ResMap<'a>, given: &mut Given, build: &mut Build<'a>) -> Result<Option<Vec<Resource<'a>>>> {
        let task = if self.host.can("validate") { Task::Validate } else { Task::Transform };
        let input = given.in_notation((Format::Yaml, wire::Ids::Without), map, build.arena)?;
        let printed = self.ask(build, task, input)?;
        match printed == input.as_bytes() {
            true => Ok(None),
            false => self.parse(build, printed).map(Some),
        }
    }
}
