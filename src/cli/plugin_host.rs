//! This program as a process around other programs. Builds and `doctor` start it; users do not.
//!
//! * [`isolation::ARGUMENT`]` CONFINEMENT PATH` runs a shared object;
//!   `CONFINEMENT exec PROGRAM ARGUMENT...` becomes another program, confined; `CONFINEMENT report`
//!   prints as JSON which parts of the confinement this system enforces.
//! * [`keeper::ARGUMENT`]` KEEPING PROGRAM ARGUMENT...` keeps another program.
//! * [`warden::ARGUMENT`] cleans up after the process that started it.

use rustomize_plugins::confined_process;
use rustomize_plugins::confinement::Confinement;
use rustomize_plugins::isolation;
use rustomize_process::keeper::{self, Keeping, become_program, keep};
use rustomize_process::warden;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::ExitCode;

/// The program that builds start: the small one, if it exists beside this one, else this one.
pub fn program() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    let small = own.with_file_name(format!("rustomize-plugin-host{}", std::env::consts::EXE_SUFFIX));
    Some(if small.is_file() { small } else { own })
}

/// Returns true if the first argument asks for such a process. The argument parser is not used,
/// because every call passes here.
pub fn is_asked(first: &OsStr) -> bool {
    [isolation::ARGUMENT, keeper::ARGUMENT, warden::ARGUMENT].iter().any(|argument| first == *argument)
}

/// Becomes the process that the arguments name.
pub fn main() -> ExitCode {
    let mut args = std::env::args_os();
    let own = args.next().unwrap_or_default();
    let first = args.next().unwrap_or_default();
    if first == isolation::ARGUMENT {
        return run(args);
    }
    if first == warden::ARGUMENT {
        return if warden::watch().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let keeping = args.next().and_then(|text| serde_json::from_str::<Keeping>(text.to_str()?).ok());
    let (true, Some(keeping), Some(program)) = (first == keeper::ARGUMENT, keeping, args.next()) else {
        return misused();
    };
    let kept = keep(&keeping, |keeping| {
        // This program need not start again to confine the plugin: this process is confined
        // already.
        let mut args = args.peekable();
        if program == own && args.next_if(|first| first == isolation::ARGUMENT).is_some() {
            return run(args);
        }
        become_program(keeping, program.as_ref(), args)
    });
    kept.unwrap_or_else(|e| failed(&e))
}

/// Runs the plugin that the arguments after [`isolation::ARGUMENT`] name, confined.
fn run(mut args: impl Iterator<Item = OsString>) -> ExitCode {
    let confinement = args.next().and_then(|text| serde_json::from_str::<Confinement>(text.to_str()?).ok());
    let (Some(confinement), Some(path)) = (confinement, args.next().map(PathBuf::from)) else { return misused() };
    let Err(e) = match args.next().map(PathBuf::from) {
        None if path.as_os_str() == "report" => {
            return match confined_process::report(&confinement) {
                Ok(parts) => {
                    println!("{}", serde_json::json!(parts));
                    ExitCode::SUCCESS
                }
                Err(_) => ExitCode::FAILURE,
            };
        }
        Some(program) if path.as_os_str() == "exec" => confined_process::exec(&program, args, &confinement),
        _ => confined_process::serve(&path, &confinement),
    };
    failed(&e)
}

fn misused() -> ExitCode {
    let argument = isolation::ARGUMENT;
    eprintln!("Error: {argument} is internal: builds of this version use it to run shared objects");
    ExitCode::FAILURE
}

fn failed(e: &std::io::Error) -> ExitCode {
    eprintln!("Error: the process of the plugin: {e}");
    ExitCode::FAILURE
}
