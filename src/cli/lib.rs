//! The command line: the only place that knows terminal, environment and exit status.
//!
//! Exit status: 0 for success, 1 for any error (as kustomize), 130 after a signal, unless a build
//! had nothing to clean up, 141 if the reader of our output has closed it. `diff` exits with 1 for
//! a difference and 2 for any error.

mod arguments;
mod commands;
mod flags;
mod help;
mod leading_flags;
mod synonyms;
mod invoked_as;
mod request;
mod roots;
mod root_files;
mod groups;
mod failures;
mod kustomize_version;
mod settings;
mod plugin_options;
mod machine;
#[cfg_attr(not(unix), path = "user_of_windows.rs")]
mod user;
mod cache;
mod variable;
mod host;
mod git;
mod paint;
mod line_diff;
mod changes;
mod output;
mod messages;
mod report;
mod work;
mod progress;
mod status_line;
mod writer;
#[cfg_attr(not(unix), path = "console_signals.rs")]
mod signals;
#[cfg_attr(not(unix), path = "console_colors.rs")]
mod colors;
pub mod plugin_host;
pub mod tried;

/// For tests of the library, which choose a user and a system.
pub use cache::directory as cache_directory;

use arguments::Command;
use clap::error::ErrorKind as ClapError;
use commands::completion;
use flags::look::{ErrorFormat, LookFlags};
use invoked_as::InvokedAs;
use messages::Messages;
use rustomize_base::memory;
use rustomize_base::parallel;
use std::process::ExitCode;
use work::Watching;

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
    // A process that keeps or confines another one must have one thread.
    if std::env::args_os().nth(1).is_some_and(|first| plugin_host::is_asked(&first)) {
        return plugin_host::main();
    }
    signals::exit_at_abort();
    colors::enable();
    let status = on_stack();
    host::children().dismiss_warden();
    colors::restore();
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
    let invoked_as = InvokedAs::from_file_name(name);
    if let Some(shell) = std::env::var_os(completion::VARIABLE) {
        let answer = completion::answer(&shell, std::env::args_os().collect(), arguments::program(invoked_as));
        return status(answer, Messages::new(LookFlags::default()), Exits { success: 0, error: FAILED });
    }
    let (command, flags) = match arguments::parse(invoked_as) {
        Ok(parsed) => parsed,
        Err(answer) => return refused(&answer, invoked_as),
    };
    if let Err(error) = commands::mcp::limit_reads() {
        return status(Err(error), Messages::new(flags), Exits { success: 0, error: FAILED });
    }
    let children = host::children();
    let is_prepared_later = match &command {
        // The server ends its calls by itself.
        Command::Mcp(_) => true,
        // Only signals with a handler end the first process of a container.
        _ if std::process::id() == 1 => false,
        Command::Build(_) | Command::Validate(_) | Command::Explain(_) => true,
        // A mend holds the lock of the file that it changes.
        Command::Lint(lint) => !lint.0.fix,
        _ => false,
    };
    if !is_prepared_later {
        children.prepare();
    }
    let mut messages = Messages::new(flags);
    let mut exits = Exits { success: 0, error: FAILED };
    let build = command.build_flags();
    let watching = match Watching::start(build.map(|flags| &flags.watch), &messages) {
        Ok(watching) => watching,
        Err(error) => return status(Err(error), messages, exits),
    };
    build.into_iter().flat_map(request::deprecated).for_each(writer::say);
    let is_build = matches!(command, Command::Build(_));
    let result = dispatch(command, invoked_as, &watching, &mut messages, &mut exits);
    // The error of a build says more than the error of the file for its work.
    let result = result.and(watching.end(&messages));
    children.end_orphans();
    if children.have_ended() {
        // The thread for signals ends this process after it has cleaned up.
        loop {
            std::thread::park();
        }
    }
    if is_build && result.is_ok() {
        messages.tip_after_warnings(&format!("'{} lint' looks for more mistakes", invoked_as.words()));
    }
    status(result, messages, exits)
}

/// Runs a command.
fn dispatch(
    command: Command,
    invoked_as: InvokedAs,
    watching: &Watching,
    messages: &mut Messages,
    exits: &mut Exits,
) -> anyhow::Result<()> {
    use commands::{
        affected, build, cache, cfg, completion, create, diff, doctor, edit, explain, fn_run, hook, images, install_to,
        krm_function, lint, localize, lsp, man, mcp, openapi, plugin, promote, tree, validate, vendor, version, watch,
    };
    let observer = watching.observer();
    match command {
        Command::Build(args) => build::run(*args.0, observer, messages),
        Command::Validate(args) => validate::run(*args.0, observer, messages),
        Command::Lint(args) => lint::run(*args.0, observer, messages),
        Command::Diff(args) => {
            exits.error = TROUBLE;
            let differs = diff::run(*args.0, observer, messages)?;
            exits.success = if differs { DIFFERENT } else { 0 };
            Ok(())
        }
        Command::Tree(args) => tree::run(&args.0),
        Command::Watch(args) => watch::run(*args.0, messages),
        Command::Images(args) => images::run(*args.0, observer, messages),
        Command::Affected(args) => affected::run(&args.0, messages),
        Command::Explain(args) => explain::run(*args.0, observer, messages),
        Command::Edit(args) => edit::run(&args.0, messages),
        Command::Promote(args) => promote::run(&args.0, messages),
        Command::Create(args) => create::run(&args.0),
        Command::Localize(args) => localize::run(&args.0, messages),
        Command::Vendor(args) => vendor::run(*args.0, observer, messages),
        Command::Cache(args) => cache::run(&args.0),
        Command::Hook(args) => hook::run(&args.0, arguments::validate, messages),
        Command::Plugin(args) => plugin::run(&args.0),
        Command::Doctor(args) => doctor::run(&args.0),
        Command::InstallTo(args) => install_to::run(&args.0),
        Command::Lsp(args) => lsp::run(*args.0),
        Command::Mcp(args) => mcp::run(&args.0),
        Command::KrmFunction(args) => krm_function::run(*args.0, observer, messages),
        Command::Cfg(args) => cfg::run(&args.0),
        Command::Fn(args) => fn_run::run(&args.0),
        Command::Openapi(args) => openapi::run(&args.0),
        Command::Version(args) => version::run(&args.0, invoked_as),
        Command::Completion(args) => completion::run(&args.0, invoked_as),
        Command::Man(args) => man::run(&args.0, arguments::spoken(invoked_as)),
    }
}

/// Prints the answer of the parser of arguments, which is help or an error.
fn refused(answer: &clap::Error, invoked_as: InvokedAs) -> ExitCode {
    if matches!(answer.kind(), ClapError::DisplayHelp | ClapError::DisplayVersion) {
        writer::usage(answer);
        return ExitCode::SUCCESS;
    }
    let error = if arguments::names_diff(invoked_as) { TROUBLE } else { FAILED };
    let error_format = ErrorFormat::of_refused(std::env::args_os());
    if error_format == ErrorFormat::Human {
        writer::usage(answer);
        return ExitCode::from(error);
    }
    let messages = Messages::new(LookFlags { error_format, ..LookFlags::default() });
    let text = answer.render().to_string();
    let fault = anyhow::anyhow!("{}", text.trim().trim_start_matches("error: "));
    status(Err(fault), messages, Exits { success: 0, error })
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
    let has_reader = !io.is_some_and(writer::is_closed_pipe);
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
