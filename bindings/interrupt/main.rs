//! Lets the host of a WebAssembly program end it at any time: `rustomize-interrupt FILE` rewrites
//! the program in the file. The host sets a byte in the program's memory, whose address is the
//! exported global `interrupt`, and the program ends with a trap.
//!
//! wazero has something alike, but calls a function in each loop: builds then take four times as
//! long. A look at a byte costs a tenth of a build. docs/design.md has the figures.

mod rewriter;

use std::env;
use std::fs;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(file) = env::args_os().nth(1) else {
        eprintln!("usage: rustomize-interrupt FILE");
        return ExitCode::FAILURE;
    };
    let done = fs::read(&file)
        .map_err(|e| e.to_string())
        .and_then(|program| rewriter::interruptible(&program).map_err(|e| e.to_string()))
        .and_then(|program| fs::write(&file, program).map_err(|e| e.to_string()));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("rustomize-interrupt: {}: {message}", file.display());
            ExitCode::FAILURE
        }
    }
}
