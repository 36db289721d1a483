//! The command line: the only place that knows terminal, environment and exit status.
//!
//! Exit status: 0 for success, 1 for any error (as kustomize), 130 after Ctrl-C, 141 when the
//! reader of our output has gone.

mod args;
mod build;
mod cache;
mod command_word;
mod doctor;
mod managed;
mod output;
mod plugin;
mod plugin_doctor;
mod plugin_flags;
pub mod plugin_host;
mod plugin_install;
mod plugin_look;
mod plugin_run;
mod progress;
mod report;
mod version;

use crate::plugin::host;
use crate::process;
use clap::error::ErrorKind as ClapError;
use std::io::Write;
use std::process::ExitCode;

/// Exit status after SIGINT, SIGTERM or SIGHUP.
const INTERRUPTED: u8 = 130;

/// Exit status when stdout is closed: that of a process that SIGPIPE ends.
const BROKEN_PIPE: u8 = 141;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let program = std::env::args_os().next().map(std::path::PathBuf::from);
    if std::env::args_os().nth(1).is_some_and(|first| first == host::ARGUMENT) {
        return plugin_host::main();
    }
    let name = program.as_deref().and_then(std::path::Path::file_name);
    let as_kustomize = name.is_some_and(|n| n.to_string_lossy().starts_with("kustomize"));
    let command = match args::parse(as_kustomize) {
        Ok(command) => command,
        Err(e) => {
            let is_answer = matches!(e.kind(), ClapError::DisplayHelp | ClapError::DisplayVersion);
            let _ = e.print();
            return if is_answer { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
    };
    // Plugins and their configurations do not outlive an interrupted build.
    let handler = ctrlc::set_handler(|| {
        process::end_all();
        std::process::exit(INTERRUPTED.into());
    });
    if let Err(e) = handler {
        eprintln!("Warning: Ctrl-C will not clean up: {e}");
    }
    let result = match command {
        args::Command::Build(build) => build::run(&build),
        args::Command::Doctor(doctor) => doctor::run(&doctor),
        args::Command::Plugin(command) => plugin::run(&command),
        args::Command::Version(version) => version::run(&version, as_kustomize),
    };
    match result {
        // The handler ends the process too; whoever comes first says the same.
        _ if process::was_ended() => ExitCode::from(INTERRUPTED),
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => match e.downcast_ref::<std::io::Error>() {
            Some(io) if io.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::from(BROKEN_PIPE),
            _ => {
                let _ = writeln!(std::io::stderr(), "Error: {e:#}");
                ExitCode::FAILURE
            }
        },
    }
}
