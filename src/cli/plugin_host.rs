//! `__plugin-host CONFINEMENT PATH`: this program as the process that runs a shared object; `__plugin-host CONFINEMENT exec PROGRAM
//! ARGUMENT...`: as the one that becomes another program, confined; `__plugin-host CONFINEMENT report`: says as JSON what of the
//! confinement this system cannot enforce. Builds and `doctor` start it; nobody types it.

use crate::plugin::confine::Confinement;
use crate::plugin::host;
use std::path::PathBuf;
use std::process::ExitCode;

/// The first argument.
pub const COMMAND: &str = "__plugin-host";

/// Serves the plugin that the arguments name. The argument parser is not asked: this is on the way of every first call.
pub fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(2);
    let confinement = args.next().and_then(|text| serde_json::from_str::<Confinement>(text.to_str()?).ok());
    let (Some(confinement), Some(path)) = (confinement, args.next().map(PathBuf::from)) else {
        eprintln!("Error: {COMMAND} is for builds: they start it where a plugin is a shared object");
        return ExitCode::FAILURE;
    };
    let served = match args.next().map(PathBuf::from) {
        None if path.as_os_str() == "report" => {
            return match confinement.apply() {
                Ok(missing) => {
                    println!("{}", serde_json::json!(missing));
                    ExitCode::SUCCESS
                }
                Err(_) => ExitCode::FAILURE,
            };
        }
        Some(program) if path.as_os_str() == "exec" => host::exec(&program, args, &confinement).map(drop),
        _ => host::serve(&path, &confinement),
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("Error: the process of the plugin: {e}");
            ExitCode::FAILURE
        }
    }
}
