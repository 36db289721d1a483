//! [`ContainerEngine`]: the program that runs containers.
//!
//! kustomize calls docker. Here the first program of [`NAMES`] that answers is taken: a docker
//! client without its daemon does not hide a podman that works.

use crate::diag::{Code, Error, Result};
use rustomize_process::{Children, Failed, Failure, Launch, Limits};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The programs that can run containers, in the order in which they are asked.
pub const NAMES: [&str; 3] = ["docker", "podman", "nerdctl"];

/// The variable that names the program.
pub const VARIABLE: &str = "KRM_FN_RUNTIME";

/// The time limit of an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The most characters of a program's answer that a message shows.
const LONGEST: usize = 200;

/// The program that runs containers: one that the user names, or the first that answers. Copies
/// share the answers: each program is asked at most once.
#[derive(Clone, Debug, Default)]
pub struct ContainerEngine {
    /// The program that the user names. It is not tried.
    named: Option<PathBuf>,
    answers: Arc<Mutex<Option<Vec<Answer>>>>,
}

/// The answer of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// One of [`NAMES`].
    pub name: &'static str,
    /// The reason why the program cannot run containers; `None` if it can.
    pub failure: Option<String>,
}

impl ContainerEngine {
    /// The engine that the user names; the first that answers for `None`.
    pub fn new(named: Option<PathBuf>) -> ContainerEngine {
        ContainerEngine { named, answers: Arc::default() }
    }

    /// The program that the user names.
    pub fn named(&self) -> Option<&Path> {
        self.named.as_deref()
    }

    /// The program that runs containers. The first call without a named program asks for one: it
    /// costs a process for each program that is asked.
    ///
    /// # Errors
    /// No program answers.
    pub fn program(&self, children: &Children) -> Result<PathBuf> {
        if let Some(named) = &self.named {
            return Ok(named.clone());
        }
        let answers = self.answers(children);
        if let Some(found) = answers.iter().find(|answer| answer.failure.is_none()) {
            return Ok(found.name.into());
        }
        let tried = answers.iter().map(|a| format!("{} ({})", a.name, a.failure.as_deref().unwrap_or_default()));
        let message = format!("no container engine answers: {}", tried.collect::<Vec<_>>().join(", "));
        Err(Error::new(Code::PluginMissing, message)
            .hint(format!("start an engine, or name one that works: {VARIABLE}=podman rustomize build ...")))
    }

    /// The answers of the programs, up to the first that works. A named program is not asked.
    pub fn answers(&self, children: &Children) -> Vec<Answer> {
        // Threads that need an engine wait for the one that asks.
        let mut known = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answers) = &*known {
            return answers.clone();
        }
        let mut answers: Vec<Answer> = Vec::new();
        for name in NAMES {
            answers.push(Answer { name, failure: ask(name, children).err() });
            if answers.last().is_some_and(|answer| answer.failure.is_none()) {
                break;
            }
        }
        // A build that was ended has ended the programs, too: they were not heard.
        if !children.have_ended() {
            *known = Some(answers.clone());
        }
        answers
    }
}

/// Asks a program for the containers that run: only one that reaches its daemon, or needs none,
/// can say. Every engine has this command, and it changes nothing.
fn ask(name: &str, children: &Children) -> std::result::Result<(), String> {
    let limits = Limits { timeout: Some(PATIENCE), output: 1 << 20, ..Limits::default() };
    children.run(Launch::new(name).args(["ps", "-q"]).limited(limits)).map(drop).map_err(
        |Failed { failure, stderr, stdout: _ }| match failure {
            Failure::NotStarted(e) if e.kind() == std::io::ErrorKind::NotFound => "not in PATH".to_owned(),
            Failure::NotStarted(e) => format!("cannot be started: {e}"),
            Failure::TimedOut(_) => format!("no answer in {} s", PATIENCE.as_secs()),
            failure => match stderr.lines().rfind(|line| !line.trim().is_empty()) {
                Some(line) => line.trim().chars().filter(|c| !c.is_control()).take(LONGEST).collect(),
                None => format!("'{name} ps' failed: {failure:?}"),
            },
        },
    )
}
