//! The errors of plugins: a plugin that cannot be used, and a process that failed.

use super::PluginOptions;
use crate::diag::{Code, Error};
use rustomize_process::{Failed, Failure};
use rustomize_yaml::Pos;
use std::path::Path;

/// A plugin that cannot be used.
pub fn bad_plugin(message: impl Into<String>) -> Error {
    Error::new(Code::BadPlugin, message)
}

/// The error of a step on a file: `verb` is what cannot be done.
pub fn cannot(verb: &str, path: &Path) -> impl FnOnce(std::io::Error) -> Error + use<> {
    let message = format!("cannot {verb} '{}'", path.display());
    move |e| Error::io(&e, format!("{message}: {e}"))
}

/// Describes a failure, with the end of the plugin's messages, unless the user has seen them.
pub(super) fn explain(options: &PluginOptions, failed: &Failed, program: &Path, name: &str, pos: Pos) -> Error {
    let program = program.display();
    let code = match &failed.failure {
        Failure::TimedOut(_) => Code::Timeout,
        Failure::TooMuchOutput(_) => Code::TooLarge,
        _ => Code::PluginFailed,
    };
    let (what, hint) = match &failed.failure {
        Failure::NotStarted(e) => (
            format!("'{program}' cannot be started: {e}"),
            Some("is its interpreter there, and is the file one for this machine?"),
        ),
        Failure::Status(status) => (format!("'{program}' failed: {status}"), Some(after_failure(options, failed))),
        Failure::Ended(status) => {
            let message = format!("'{program}' ended in the middle of a call: {status}");
            (message, Some(after_failure(options, failed)))
        }
        Failure::TimedOut(t) => {
            let message = format!(
                "'{program}' took longer than {} s, or left a process behind that holds its output",
                t.as_secs_f64()
            );
            (message, Some("--plugin-timeout sets the limit"))
        }
        Failure::TooMuchOutput(n) => {
            (format!("'{program}' printed more than {n} bytes"), Some("--plugin-output-limit sets the limit"))
        }
        Failure::Io(e) => (format!("talking to '{program}' failed: {e}"), None),
    };
    let mut message = format!("{name}: {what}");
    let said = failed.stderr.trim_end();
    if !said.is_empty() && !options.shows_stderr {
        let lines: Vec<&str> = said.lines().collect();
        message.push_str("; it said last:");
        for line in &lines[lines.len().saturating_sub(10)..] {
            message.push_str("\n    ");
            message.push_str(line);
        }
    }
    let error = Error::new(code, message).at(pos);
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

/// The advice about a plugin that has ended with a failure.
fn after_failure(options: &PluginOptions, failed: &Failed) -> &'static str {
    match (failed.stderr.trim_end().is_empty(), options.shows_stderr) {
        (true, _) => "the plugin has said nothing on stderr: run it by hand with its configuration",
        (false, true) => "the messages of the plugin are above",
        (false, false) => "read the messages of the plugin, and correct its configuration",
    }
}
