//! [`Worker`]: a plugin that is started once for a build and called over frames.
//!
//! An installed plugin that says `"worker": true` is started with the argument `worker`. Its first
//! frame is a JSON object, which may be empty. Each request is a frame of `plugin/abi`: the kind is
//! the role; the texts are the configuration, the root, the resources and the options, a JSON
//! object with `request` (the number of the request), `args`, `component` and `parameters`. An
//! answer is a frame whose content begins with the number of the request, as 8 bytes, lowest first;
//! the rest is what an exec plugin would print.

use super::PluginOptions;
use super::failure::{Called, explain};
use super::isolation::Level;
use super::program::PluginProgram;
use crate::diag::{Code, Error, Result};
use crate::load::Root;
use rustomize_plugin_abi::Mode as Task;
use rustomize_plugin_abi::frame::{answer, head};
use rustomize_process::conversation::Conversation;
use rustomize_process::{Failed, Launch};
use rustomize_yaml::Pos;
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The argument that makes a program a worker.
pub const ARGUMENT: &str = "worker";

/// Bytes of the request's number in an answer.
const NUMBER: usize = size_of::<u64>();

/// A running plugin, shared by all configuration objects of a root.
pub struct Worker {
    running: Mutex<Running>,
    path: PathBuf,
}

struct Running {
    conversation: Conversation,
    /// The number of the last request.
    last: u64,
    /// True if a call has failed: the process has ended then, or cannot be trusted any more.
    is_broken: bool,
}

/// One request.
pub struct WorkerRequest<'r> {
    pub task: Task,
    pub config: &'r str,
    pub root: &'r str,
    pub resources: &'r [u8],
    /// The arguments that an exec plugin would get behind the name of its configuration file.
    pub args: Vec<String>,
    pub component: &'r str,
    /// JSON; empty for nothing.
    pub parameters: &'r str,
}

/// The reason why a request was not answered.
pub enum Unanswered {
    /// The process ended, took too long, or printed too much.
    Failed(Failed),
    /// The plugin says why it failed.
    Refused(String),
    /// The plugin broke a rule of the frames: this one.
    Broken(&'static str),
    /// An earlier call has failed.
    Ended,
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("path", &self.path).finish_non_exhaustive()
    }
}

/// The workers of a build: by program, arguments and, where each is confined to a root, that.
#[derive(Default)]
pub struct Workers(Mutex<HashMap<Key, Arc<Worker>>>);

type Key = (PathBuf, Vec<std::ffi::OsString>, Option<PathBuf>);

impl Workers {
    /// The worker of a plugin, which is started when it is first asked for.
    ///
    /// # Errors
    /// The plugin cannot be started, or its first frame is not valid.
    pub fn of(&self, options: &PluginOptions, program: &PluginProgram, root: &Root) -> Result<Arc<Worker>> {
        let confined_to = (program.isolation.level != Level::Off).then(|| root.real.to_path_buf());
        let key = (program.shown.clone(), program.launch.args.clone(), confined_to);
        // A second caller waits until the first has started it.
        let mut workers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(worker) = workers.get(&key) {
            return Ok(Arc::clone(worker));
        }
        let worker = Arc::new(Worker::start(options, program, key.2.as_deref())?);
        workers.insert(key, Arc::clone(&worker));
        Ok(worker)
    }
}

impl Worker {
    /// Starts a program as a worker. `root` is what it may read, where it is confined.
    fn start(options: &PluginOptions, program: &PluginProgram, root: Option<&Path>) -> Result<Worker> {
        let path = program.shown.clone();
        let name = format!("plugin '{}'", path.display());
        let fault = |what: String| Error::new(Code::PluginFailed, format!("{name} {what}"));
        let launch = program.launch.clone().args([ARGUMENT]).reading(root);
        let launch = Launch { directory: root.map(Path::to_owned), ..launch };
        let confined = options.confined(launch, &program.isolation);
        let confined = confined.map_err(|e| fault(format!("cannot be started as a worker: {e}")))?;
        let called = Called { program: &path, name: &name, pos: Pos::NONE, isolation: Some(&program.isolation) };
        let failed = |failed: Failed| explain(options, &failed, called);
        let mut conversation = Conversation::start(&options.children, options.limited(confined)).map_err(failed)?;
        let hello = conversation.exchange(&[]).map_err(failed)?;
        let is_object = serde_json::from_slice::<serde_json::Map<_, _>>(&hello.content).is_ok();
        if hello.kind != answer::OUTPUT || !is_object {
            let error = fault("says that it is a worker, and its first frame is not a JSON object".to_owned());
            return Err(error.hint("a worker prints nothing but frames on stdout: the SDKs of rustomize do that"));
        }
        let running = Mutex::new(Running { conversation, last: 0, is_broken: false });
        Ok(Worker { running, path })
    }

    /// Calls the plugin and gives what it printed. O(bytes).
    ///
    /// # Errors
    /// The process ends, takes too long, answers another request, or says that it failed. Every
    /// later call fails after the first two.
    pub fn ask(&self, request: &WorkerRequest<'_>) -> std::result::Result<Vec<u8>, Unanswered> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.is_broken {
            return Err(Unanswered::Ended);
        }
        running.is_broken = true;
        if !running.conversation.is_silent() {
            return Err(Unanswered::Broken("it answered when nothing was asked"));
        }
        running.last += 1;
        let number = running.last;
        let options = serde_json::json!({
            "request": number, "args": request.args, "component": request.component,
            "parameters": serde_json::from_str::<serde_json::Value>(request.parameters).unwrap_or_default(),
        });
        let options = options.to_string();
        let texts = [request.config.as_bytes(), request.root.as_bytes(), request.resources, options.as_bytes()];
        let lengths = texts.map(|text| (text.len() as u64).to_le_bytes());
        let size = texts.iter().map(|text| text.len() + size_of::<u64>()).sum();
        let head = head(request.task as u8, size);
        let mut parts: Vec<&[u8]> = vec![&head];
        for (len, text) in lengths.iter().zip(texts) {
            parts.extend([len, text]);
        }
        let mut frame = running.conversation.exchange(&parts).map_err(Unanswered::Failed)?;
        let Some((said, _)) = frame.content.split_first_chunk::<NUMBER>() else {
            return Err(Unanswered::Broken("its answer is too short for the number of the request"));
        };
        if u64::from_le_bytes(*said) != number {
            return Err(Unanswered::Broken("it answered another request than the one that was asked"));
        }
        frame.content.drain(..NUMBER);
        match frame.kind {
            answer::OUTPUT => {
                running.is_broken = false;
                Ok(frame.content)
            }
            answer::FAILED => {
                running.is_broken = false;
                Err(Unanswered::Refused(String::from_utf8_lossy(&frame.content).into_owned()))
            }
            _ => Err(Unanswered::Broken("its answer is a frame of an unknown kind")),
        }
    }

    /// The program.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
