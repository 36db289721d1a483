//! The errors of plugins: a plugin that cannot be used, and a process that failed.

use super::PluginOptions;
use super::isolation::Isolation;
use super::refusal;
use crate::diag::{Code, Error, nearest};
use rustomize_base::shell::quoted;
use rustomize_process::{Failed, Failure};
use rustomize_yaml::Pos;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
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

/// A plugin that was called.
#[derive(Clone, Copy)]
pub(super) struct Called<'c> {
    /// The path of the program, as the user knows it, or a name that is looked for in PATH.
    pub program: &'c Path,
    /// How errors call the plugin.
    pub name: &'c str,
    /// The configuration object.
    pub pos: Pos,
    /// The rights of the plugin; `None` for a program outside of the sandbox.
    pub isolation: Option<&'c Isolation>,
}

/// Describes a failure, with the end of the plugin's messages, unless the user has seen them.
pub(super) fn explain(options: &PluginOptions, failed: &Failed, called: Called<'_>) -> Error {
    let Called { program: path, name, pos, isolation } = called;
    let program = path.display();
    let refusal = match &failed.failure {
        Failure::Status(status) | Failure::Ended(status) => {
            isolation.and_then(|isolation| refusal::of(isolation, &*options.host, status, &failed.stderr))
        }
        _ => None,
    };
    let code = match &failed.failure {
        Failure::TimedOut(_) => Code::Timeout,
        Failure::TooMuchOutput(_) => Code::TooLarge,
        _ => Code::PluginFailed,
    };
    let (what, hint) = match &failed.failure {
        Failure::NotStarted(e) => {
            let (why, hint) = not_started(path, e);
            (format!("'{program}' cannot be started: {why}"), Some(hint))
        }
        Failure::Status(status) => {
            (format!("'{program}' failed: {status}"), Some(after_failure(options, failed, path, status)))
        }
        Failure::Ended(status) => {
            let message = format!("'{program}' ended in the middle of a call: {status}");
            (message, Some(after_failure(options, failed, path, status)))
        }
        Failure::TimedOut(t) => {
            let message = format!(
                "'{program}' took longer than {} s, or left a process behind that holds its output",
                t.as_secs_f64()
            );
            (message, Some("--plugin-timeout sets the limit".to_owned()))
        }
        Failure::TooMuchOutput(n) => {
            let hint = "--plugin-output-limit sets the limit".to_owned();
            (format!("'{program}' printed more than {n} bytes"), Some(hint))
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
    let (sandbox, refused) = refusal.map_or((String::new(), None), |refusal| (refusal.sandbox, refusal.hint));
    let error = error.context(sandbox);
    match refused.or(hint) {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

/// The reason why a program could not be started, and the advice: the system has one error for a
/// missing program and for a missing interpreter.
fn not_started(program: &Path, e: &io::Error) -> (String, String) {
    let file = quoted(&program.to_string_lossy());
    let is_name = program.components().count() == 1 && !program.is_absolute();
    match program.metadata() {
        _ if is_name && e.kind() == io::ErrorKind::NotFound => {
            ("no directory of PATH has it".to_owned(), format!("install {file}, or name its file, as in ./{file}"))
        }
        Err(_) if e.kind() == io::ErrorKind::NotFound => {
            let hint = match similar(program) {
                Some(name) => format!("did you mean '{name}'?"),
                None => "add the file, or correct its path".to_owned(),
            };
            ("the file does not exist".to_owned(), hint)
        }
        Ok(metadata) if metadata.is_dir() => ("it is a directory".to_owned(), "name the executable in it".to_owned()),
        Ok(_) if e.kind() == io::ErrorKind::PermissionDenied => {
            ("the file is not executable".to_owned(), format!("make it executable: chmod +x {file}"))
        }
        Ok(_) => match first_line(program) {
            Some(line) if line.ends_with('\r') => (
                "its first line ends with a carriage return, which counts as a part of its interpreter's name"
                    .to_owned(),
                format!("write line ends of Unix: sed -i 's/\\r$//' {file}"),
            ),
            Some(line) if e.kind() == io::ErrorKind::NotFound => {
                let interpreter = line.split_whitespace().next().unwrap_or_default().to_owned();
                let hint = "install the interpreter, or correct the first line of the file";
                (format!("its interpreter '{interpreter}' does not exist"), hint.to_owned())
            }
            _ => (
                e.to_string(),
                without_interpreter(program).unwrap_or_else(|| "is the file one for this machine?".to_owned()),
            ),
        },
        Err(_) => (e.to_string(), "see whether you may read its directory".to_owned()),
    }
}

/// The interpreter in the first line of a script, with its arguments; `None` for another file.
fn first_line(program: &Path) -> Option<String> {
    let mut line = Vec::new();
    BufReader::new(File::open(program).ok()?.take(LONGEST_LINE)).read_until(b'\n', &mut line).ok()?;
    let line = String::from_utf8_lossy(&line).into_owned();
    Some(line.strip_prefix("#!")?.trim_end_matches('\n').to_owned())
}

/// The longest first line of a script that is looked at, in bytes.
const LONGEST_LINE: u64 = 4096;

/// The advice about a script whose first line does not name its interpreter: the system then runs
/// it with its shell, or not at all. `None` for other files.
pub(super) fn without_interpreter(program: &Path) -> Option<String> {
    let mut start = Vec::new();
    File::open(program).ok()?.take(4).read_to_end(&mut start).ok()?;
    let is_text = start.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
    (is_text && !start.starts_with(b"#!")).then(|| {
        let file = quoted(&program.to_string_lossy());
        format!("its first line does not name an interpreter, as '#!/bin/sh' or '#!/usr/bin/env python3' does: {file}")
    })
}

/// The file in the directory of a missing one whose name is most like it.
fn similar(program: &Path) -> Option<String> {
    let typed = program.file_name()?.to_str()?;
    let entries = fs::read_dir(program.parent()?).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = entries.collect();
    names.sort();
    nearest(typed, names.iter().map(String::as_str)).map(str::to_owned)
}

/// The advice about a plugin that has ended with a failure.
fn after_failure(options: &PluginOptions, failed: &Failed, program: &Path, status: &str) -> String {
    if let Some(hint) = without_interpreter(program) {
        return hint;
    }
    let hint = match (failed.stderr.trim_end().is_empty(), options.shows_stderr) {
        (true, _) if status.contains("SIGKILL") => "the system has ended it, as it does where memory runs out",
        (true, _) if status.starts_with("signal") => "it has crashed: that is a fault of the plugin, for its author",
        (true, _) => "the plugin has said nothing on stderr: run it by hand with its configuration",
        (false, true) if status.ends_with(" 127") => {
            "a program that the plugin calls is missing, as its message above says: install that program"
        }
        (false, true) => "the messages of the plugin are above",
        (false, false) => "read the messages of the plugin, and correct its configuration",
    };
    hint.to_owned()
}
