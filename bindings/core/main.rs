//! The program of the core: it answers requests from stdin until its end.

use std::process::ExitCode;

fn main() -> ExitCode {
    match rustomize_core::serve(std::io::stdin(), std::io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
