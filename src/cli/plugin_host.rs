//! This program as the process that runs a plugin. Behind [`ARGUMENT`]: `CONFINEMENT PATH`
//! runs a shared object; `CONFINEMENT exec PROGRAM ARGUMENT...` becomes another program, confined;
//! `CONFINEMENT report` says as JSON which parts of the confinement this system enforces. Builds
//! and `doctor` start it; nobody types it.

use crate::plugin::confine::Confinement;
use crate::plugin::host;
use crate::plugin::isolation::ARGUMENT;
use std::path::PathBuf;
use std::process::ExitCode;

/// The program that builds start: the small one, if it exists beside this one, else this one.
pub fn program() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    let small = own.with_file_name(format!("rustomize-plugin-host{}", std::env::consts::EXE_SUFFIX));
    Some(if small.is_file() { small } else { own })
}

/// Serves the plugin that the arguments name. The argument parser is not asked: this is on the way
/// of every first call.
pub fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let is_asked = args.next().is_some_and(|first| first == ARGUMENT);
    let confinement = args.next().and_then(|text| serde_json::from_str::<Confinement>(text.to_str()?).ok());
    let (true, Some(confinement), Some(path)) = (is_asked, confinement, args.next().map(PathBuf::from)) else {
        eprintln!("Error: {} is for builds of this version: they start it where a plugin is a shared object", ARGUMENT);
        return ExitCode::FAILURE;
    };
    let Err(e) = match args.next().map(PathBuf::from) {
        None if path.as_os_str() == "report" => {
            return match host::report(&confinement) {
                Ok(parts) => {
                    println!("{}", serde_json::json!(parts));
                    ExitCode::SUCCESS
                }
                Err(_) => ExitCode::FAILURE,
            };
        }
        Some(program) if path.as_os_str() == "exec" => host::exec(&program, args, &confinement),
        _ => host::serve(&path, &confinement),
    };
    eprintln!("Error: the process of the plugin: {e}");
    ExitCode::FAILURE
}
