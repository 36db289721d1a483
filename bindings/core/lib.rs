//! The core for programs that embed rustomize: a program for `wasm32-wasip1` that reads requests
//! from stdin and writes answers to stdout. It imports nothing but a few functions of WASI, opens
//! no file and has no network: what a build needs of the outside it asks from its host. One instance
//! answers any number of requests, one after the other; nothing of a request is left for the next
//! one.
//!
//! The program returns at the end of its input. A host may then call its main function again, with
//! more input: it is exported as `__main_void`, and the memory is still there. Only the first call
//! is that of `_start`.
//!
//! # Messages
//!
//! A message in either direction is the length of the rest as four bytes, the least significant
//! one first; then one byte, its kind; then its payload. Texts are UTF-8. The host writes:
//!
//! | kind | payload | meaning |
//! |---|---|---|
//! | `F` | path, NUL, content | a file of the next request, which then asks the host for no file |
//! | `R` | a JSON object | a request |
//! | `+` | as the question says | the answer to a question |
//! | `-` | a letter, place, NUL, text | the answer is an error: see below |
//!
//! The core writes, between a request and its last message, which is `.`:
//!
//! | kind | payload | meaning | payload of the answer `+` |
//! |---|---|---|---|
//! | `d` | path | which directory is this? | its place: absolute, without links |
//! | `o` | path | which file is this? | its place |
//! | `r` | place | the content of a file | bytes |
//! | `l` | place | the entries of a directory | for each `d` (directory) or `f`, name, NUL |
//! | `D` `O` `R` `L` | as above | the same about the directories that answers to `g` name | as above |
//! | `g` | a JSON object: `raw`, `url`, `path`, `ref`, `submodules`, `timeout` in ms | clone a repository | the directory of the clone |
//! | `h` | URL | the file that a server has | bytes |
//! | `y` | a piece of the output, as it is printed | no question: the next piece follows | |
//! | `.` | a JSON object | the end of the request | |
//!
//! The letter of an error is `n` if nothing exists there, `d` for a directory in place of a file,
//! `f` for a file in place of a directory, `p` for a lack of permission, `o` for anything else. Its
//! place is that of the path, or empty. An answer to `h` with the letter `n` lets the build look
//! for a repository at the URL.
//!
//! # Requests
//!
//! See [`Request`]. A member or a word that is not known is an error. The last message of a request
//! has:
//!
//! | member | of | meaning |
//! |---|---|---|
//! | `ok` | all | false if the request failed |
//! | `errors` | failed requests | messages, as `--error-format json` prints them |
//! | `leftOut` | failed requests | the number of errors that are not shown |
//! | `text` | failed requests | all errors as one text |
//! | `warnings` | all | messages |
//! | `files` | `build`, `lint`, `explain` | the places of the files that the build read |
//! | `findings` | `lint` | messages |
//! | `explanation` | `explain` | as `explain -o json` prints it |
//! | `difference` | `diff` | `summary` and `resources`, as in `diff -o json` |
//! | `version`, `kustomize` | `version` | the versions of the core, and of kustomize that it can build as |
//!
//! A host that breaks this protocol ends the program: exit status 1. A panic or a lack of memory
//! ends an instance with a trap, its message on stderr; the host then makes a new instance.

mod answer;
mod host;
mod request;
mod wire;

pub use request::{BuildOptions, DiffSide, Request};

use host::Host;
use std::io::{self, Read, Write};
use std::sync::Arc;
use wire::Connection;

/// Answers requests until the input ends.
///
/// # Errors
/// The host does not keep to the protocol, or a stream fails.
pub fn serve(input: impl Read + Send + 'static, output: impl Write + Send + 'static) -> io::Result<()> {
    let host = Arc::new(Host::new(Connection::new(input, output)));
    while let Some((text, files)) = host.next_request()? {
        let end = answer::answer(&host, &text, files);
        host.end(&end)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
