//! [`Run`]: runs helm, with its limits. It may be used by several threads at a time.

use super::HelmProgram;
use super::command::HelmCommand;
use crate::diag::{Code, Error, Result};
use regex::Regex;
use rustomize_base::parallel;
use rustomize_engine::stage::HelmOptions;
use rustomize_process::{Failed, Failure, Launch, Turns, Variable};
use rustomize_yaml::Pos;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::sync::{LazyLock, Mutex, PoisonError};

/// All builds of a process together run as many helms at a time as there are processors.
static TURNS: LazyLock<Turns> = LazyLock::new(|| Turns::new(parallel::cores()));

/// The variables of a run of helm that are set.
pub(super) type Environment = Vec<Variable>;

/// The program that renders charts.
#[derive(Clone, Copy)]
pub(super) struct Run<'h> {
    helm: &'h HelmProgram,
    options: &'h HelmOptions,
}

impl<'h> Run<'h> {
    /// helm, as the options of a build name it.
    pub(super) fn new(helm: &'h HelmProgram, options: &'h HelmOptions) -> Self {
        Run { helm, options }
    }

    /// Runs helm for the chart at `pos`, and returns its output.
    ///
    /// # Errors
    /// helm is missing, fails, takes too long or prints too much.
    pub(super) fn run(&self, command: HelmCommand, environment: &Environment, pos: Pos) -> Result<Vec<u8>> {
        let args = command.arguments;
        let shown: Vec<String> = args.iter().map(|a| a.to_string_lossy().into_owned()).collect();
        let launch = Launch::new(&self.options.command).args(args).variables(environment.iter().cloned());
        let _turn = TURNS.take();
        let launch = launch.limited(self.helm.limits);
        self.helm.children.run(launch).map_err(|failed| self.explain(&shown, &failed, pos))
    }

    fn explain(&self, args: &[String], failed: &Failed, pos: Pos) -> Error {
        let command = &self.options.command;
        let what = match &failed.failure {
            Failure::NotStarted(e) if e.kind() == io::ErrorKind::NotFound && !command.contains('/') => {
                format!("no directory of PATH has a program '{command}'")
            }
            Failure::NotStarted(e) => format!("it cannot be started: {e}"),
            Failure::Status(status) | Failure::Ended(status) => status.clone(),
            Failure::TimedOut(t) => format!("it took longer than {} s", t.as_secs_f64()),
            Failure::TooMuchOutput(n) => format!("it printed more than {n} bytes"),
            Failure::Io(e) => format!("talking to it failed: {e}"),
        };
        let mut message = format!("unable to run: '{command} {}': {what}", args.join(" "));
        for line in failed.stderr.trim_end().lines() {
            message.push_str("\n    ");
            message.push_str(line);
        }
        let error = Error::new(Code::HelmFailed, message).at(pos);
        match &failed.failure {
            Failure::NotStarted(_) => error.hint("install helm, or name its program: --helm-command /path/to/helm"),
            Failure::TimedOut(_) => error.with_code(Code::Timeout).hint("--plugin-timeout sets the limit"),
            Failure::TooMuchOutput(_) => error.hint("--plugin-output-limit sets the limit"),
            Failure::Status(_) | Failure::Ended(_) if failed.stderr.contains(".yaml:") => {
                error.hint("correct the template that helm names, or the values that it gets")
            }
            Failure::Status(_) | Failure::Ended(_) => error.hint("correct the entry, as the message of helm says"),
            Failure::Io(_) => error,
        }
    }

    /// Refuses a helm that is neither version 3 nor 4. `command` prints the version. A process runs
    /// it once for each program: other threads wait for the answer. With `again`, as before a chart
    /// is pulled, it runs in any case, as kustomize does it.
    ///
    /// # Errors
    /// helm has another version, or fails.
    pub(super) fn check_version(
        &self,
        command: HelmCommand,
        again: bool,
        environment: &Environment,
        pos: Pos,
    ) -> Result<()> {
        #[allow(clippy::expect_used, reason = "the pattern is a constant")]
        static VERSION: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"v?[0-9]+(\.[0-9]+)+").expect("a pattern"));
        static GOOD: Mutex<BTreeSet<(String, Vec<OsString>)>> = Mutex::new(BTreeSet::new());
        let mut good = GOOD.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = (self.options.command.clone(), command.arguments.clone());
        if good.contains(&asked) && !again {
            return Ok(());
        }
        let printed = self.run(command, environment, pos)?;
        let printed = String::from_utf8_lossy(&printed);
        let fault = |message: String| Error::new(Code::HelmFailed, message);
        let version = VERSION.find(&printed).map(|m| m.as_str());
        let version = version.ok_or_else(|| fault(format!("cannot find version string in '{}'", printed.trim())))?;
        match version.trim_start_matches('v').split('.').next() {
            Some("3" | "4") => {
                good.insert(asked);
                Ok(())
            }
            _ => Err(fault(format!("this plugin requires helm V3 or V4 but got {version}"))),
        }
    }
}
