//! The command line: the only place that knows terminal, environment and exit status.
//!
//! Exit status: 0 for success, 1 for any error (as kustomize), 130 after a signal, unless a build
//! had nothing to clean up, 141 when the reader of our output has gone. `diff` exits with 1 for a
//! difference and 2 for any error.

mod args;
mod build;
mod cache;
mod cache_command;
mod called;
mod cfg;
mod command_word;
mod compat;
mod completion;
mod copy;
mod copy_args;
mod depfile;
mod diff;
mod diff_args;
mod diff_compat;
mod diff_html;
mod diff_json;
mod diff_listing;
mod diff_markdown;
mod diff_since;
mod diff_text;
mod doctor;
mod edit;
mod edit_args;
mod explain;
mod explain_code;
mod findings;
mod fn_run;
mod git;
mod help;
mod hook;
mod hook_args;
mod krm_function;
mod lint;
mod lint_args;
mod lint_fix;
mod lint_version;
mod lsp;
mod man;
mod managed;
mod messages;
mod openapi;
mod other_tools;
mod output;
mod plugin;
mod plugin_args;
mod plugin_author;
mod plugin_flags;
pub mod plugin_host;
mod plugin_images;
mod plugin_install;
mod plugin_look;
mod plugin_run;
mod plugin_share;
mod plugin_trust;
mod plugin_why;
mod progress;
mod remote_args;
mod report;
mod roots;
mod settings;
mod signals;
mod status_line;
mod switch;
mod tree;
mod tree_text;
pub mod tried;
mod vendor;
mod version;
mod watch;
mod writer;

/// For tests of the library, which name users and systems that they are not run by.
pub use cache::directory as cache_directory;

use crate::memory;
use crate::parallel;
use clap::error::ErrorKind as ClapError;
use messages::{ErrorFormat, MessageFlags, Messages};
use std::process::ExitCode;
use watch::Watching;

/// Exit status when stdout is closed: that of a process that SIGPIPE ends.
const BROKEN_PIPE: u8 = 141;

/// Exit status of an error.
const FAILED: u8 = 1;

/// Exit status of `diff` when something differs.
const DIFFERENT: u8 = 1;

/// Exit status of `diff` for an error.
const TROUBLE: u8 = 2;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    // A process around another one has one thread.
    if std::env::args_os().nth(1).is_some_and(|first| plugin_host::is_asked(&first)) {
        return plugin_host::main();
    }
    signals::exit_at_abort();
    let status = on_stack();
    signals::children().dismiss_warden();
    status
}

/// Runs the command line on a stack that nested documents fit on.
fn on_stack() -> ExitCode {
    if memory::stack().is_none_or(|bytes| bytes >= parallel::STACK as u64) {
        return run();
    }
    match parallel::thread("main").spawn(run) {
        Ok(main) => main.join().unwrap_or(ExitCode::from(FAILED)),
        Err(_) => run(),
    }
}

fn run() -> ExitCode {
    let program = std::env::args_os().next().map(std::path::PathBuf::from);
    let name = program.as_deref().and_then(std::path::Path::file_name);
    let called = called::Called::from_file_name(name);
    if let Some(shell) = std::env::var_os(completion::VARIABLE) {
        let answer = completion::answer(&shell, std::env::args_os().collect(), args::program(called));
        return status(answer, Messages::new(MessageFlags::default()), Exits { success: 0, error: 1 });
    }
    let (mut command, flags) = match args::parse(called) {
        Ok(parsed) => parsed,
        Err(e) => {
            let is_answer = matches!(e.kind(), ClapError::DisplayHelp | ClapError::DisplayVersion);
            let error = if args::names_diff(called) { TROUBLE } else { 1 };
            return match ErrorFormat::of_refused(std::env::args_os()) {
                _ if is_answer => {
                    writer::usage(&e);
                    ExitCode::SUCCESS
                }
                ErrorFormat::Human => {
                    writer::usage(&e);
                    ExitCode::from(error)
                }
                error_format => {
                    let messages = Messages::new(MessageFlags { error_format, ..MessageFlags::default() });
                    let text = e.render().to_string();
                    let fault = anyhow::anyhow!("{}", text.trim().trim_start_matches("error: "));
                    status(Err(fault), messages, Exits { success: 0, error })
                }
            };
        }
    };
    let children = signals::children();
    // Only signals with a handler end the first process of a container.
    if !matches!(command, args::Command::Build(_) | args::Command::Validate(_)) || std::process::id() == 1 {
        children.prepare();
    }
    let mut messages = Messages::new(flags);
    let mut exits = Exits { success: 0, error: 1 };
    let watching = match builds(&mut command).map(|build| Watching::start(build, &messages)).transpose() {
        Ok(watching) => watching,
        Err(error) => return status(Err(error), messages, exits),
    };
    let is_build = matches!(command, args::Command::Build(_));
    let result = match command {
        args::Command::Build(build) => build::run(&build.0, &mut messages),
        args::Command::Validate(build) => build::validate(*build.0, &mut messages),
        args::Command::Lint(lint) => lint::run(*lint.0, &mut messages),
        args::Command::Diff(command) => {
            exits.error = TROUBLE;
            diff::run(&command.0, &mut messages).map(|differs| exits.success = if differs { DIFFERENT } else { 0 })
        }
        args::Command::Tree(command) => tree::run(&command.0),
        args::Command::Doctor(doctor) => doctor::run(&doctor.0),
        args::Command::Explain(explain) => explain::run(&explain.0, &mut messages),
        args::Command::Edit(edit) => edit::run(&edit.0),
        args::Command::Hook(command) => hook::run(&command.0, &mut messages),
        args::Command::KrmFunction(function) => krm_function::run(&function.0, &mut messages),
        args::Command::Create(create) => copy::create(&create.0),
        args::Command::Localize(localize) => copy::localize(&localize.0, &mut messages),
        args::Command::Plugin(command) => plugin::run(&command.0),
        args::Command::Version(version) => version::run(&version.0, called),
        args::Command::Completion(completion) => completion::run(&completion.0, called),
        args::Command::Man(man) => man::run(&man.0, args::program(called)),
        args::Command::Openapi(openapi) => openapi::run(&openapi.0),
        args::Command::Cfg(cfg) => cfg::run(&cfg.0),
        args::Command::Lsp(lsp) => lsp::run(*lsp.0),
        args::Command::Fn(command) => fn_run::run(&command.0),
        args::Command::Vendor(command) => vendor::run(&command.0, &mut messages),
        args::Command::Cache(command) => cache_command::run(&command.0),
    };
    // The error of a build says more than one of the file for its work.
    let result = result.and(watching.map_or(Ok(()), |watching| watching.end(&messages)));
    children.end_orphans();
    if children.have_ended() {
        // The thread for signals ends this process when it has cleaned up.
        loop {
            std::thread::park();
        }
    }
    if is_build && result.is_ok() {
        messages.tip_after_warnings(&format!("'{} lint' looks for more mistakes", called.words()));
    }
    status(result, messages, exits)
}

/// The flags of the builds that a command makes; `None` for a command that builds nothing.
fn builds(command: &mut args::Command) -> Option<&mut args::Build> {
    match command {
        args::Command::Build(build) => Some(&mut build.0),
        args::Command::Validate(validate) => Some(&mut validate.0.build),
        args::Command::Lint(lint) => Some(&mut lint.0.build),
        args::Command::Diff(diff) => Some(&mut diff.0.build),
        args::Command::Explain(explain) => Some(&mut explain.0.build),
        args::Command::KrmFunction(function) => Some(&mut function.0.build),
        args::Command::Vendor(vendor) => Some(&mut vendor.0.build),
        _ => None,
    }
}

/// The exit status of a command for each outcome.
#[derive(Clone, Copy)]
struct Exits {
    success: u8,
    error: u8,
}

/// The exit status of a command, whose error is printed.
fn status(result: anyhow::Result<()>, mut messages: Messages, exits: Exits) -> ExitCode {
    let io = result.as_ref().err().and_then(|e| e.downcast_ref::<std::io::Error>());
    let has_reader = io.is_none_or(|io| io.kind() != std::io::ErrorKind::BrokenPipe);
    if let Err(error) = &result
        && has_reader
    {
        messages.failure(error);
    }
    messages.finish(result.is_ok());
    match result {
        Ok(()) => ExitCode::from(exits.success),
        Err(_) if has_reader => ExitCode::from(exits.error),
        Err(_) => ExitCode::from(BROKEN_PIPE),
    }
}
