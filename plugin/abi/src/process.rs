//! [`serve`]: this process becomes the process of one plugin.

use crate::CallError;
use crate::frame::{Frame, answer};
use crate::plugin::Plugin;
use std::convert::Infallible;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

#[cfg_attr(windows, path = "process_of_windows.rs")]
#[cfg_attr(not(windows), path = "process_of_unix.rs")]
mod system;

#[cfg(target_os = "linux")]
pub(crate) use system::check_only_thread;
#[cfg(windows)]
pub use system::take_pipes;
use system::{end, end_with};

/// Opens the shared object at `path` and answers the [`Frame`]s of `requests` on `answers`. When
/// `requests` ends, kills the process group, this process included: no process that the plugin has
/// started outlives it. On Windows it ends this process alone, and the job that its keeper is in
/// ends the others. Does not return once the plugin is opened.
///
/// # Soundness
///
/// A shared object may write to any memory of its process, and no check of the file rules that out.
/// This function is safe to call for the reason that `exec` is: the process no longer belongs to its
/// caller. Three facts make that true.
///
/// * No other thread runs code of the caller: the function returns an error, before it opens
///   anything, if this process has a second thread.
/// * The calling thread never returns to the caller, not even by a panic: every way out of this
///   function kills the process. So no destructor and no exit handler of the caller runs.
/// * The one other thread is of this module. It waits for the end of `requests`, to kill the process
///   of a plugin that does not return. On Windows the end of the keeper does that.
///
/// A plugin that keeps the rules of the header damages nothing. A plugin that breaks them damages
/// only its own process, which the caller has confined, and in which only this module runs. The
/// answer of a plugin is a text that the reader of `answers` checks.
///
/// # Errors
/// This process has a second thread, or cannot start one. The plugin was not opened then.
pub fn serve(path: &Path, requests: File, mut answers: File) -> io::Result<Infallible> {
    system::check_only_thread()?;
    end_with(&requests)?;
    let _guard = EndOnDrop;
    // SAFETY: from here on, this module is the only safe code that runs in this process, as
    // described above. The plugin is opened once and called by this thread alone.
    let opened = unsafe { Plugin::open(path) };
    // If the reader has ended, writing the answer fails, and nobody needs it.
    let _ = match opened {
        Ok(plugin) => answer_all(&plugin, requests, &mut answers),
        Err(e) => Frame::write(answer::NOT_OPENED, &e.to_string(), &mut answers),
    };
    end()
}

/// Answers requests until the pipe of requests ends.
fn answer_all(plugin: &Plugin, requests: File, answers: &mut File) -> io::Result<()> {
    let mut requests = BufReader::new(requests);
    reply(plugin.describe().as_deref(), answers)?;
    let mut request = Frame::default();
    while request.read(&mut requests)? {
        match request.asked() {
            Some(asked) => match std::env::set_current_dir(asked.root) {
                Ok(()) => reply(plugin.run(&asked).as_deref(), answers)?,
                Err(e) => {
                    let why = format!("cannot change to the directory '{}': {e}", asked.root);
                    Frame::write(answer::FAILED, &why, answers)?;
                }
            },
            None => Frame::write(answer::BROKEN, "a malformed request", answers)?,
        }
    }
    Ok(())
}

/// Writes the result of a call.
fn reply(result: Result<&str, &CallError>, to: &mut File) -> io::Result<()> {
    match result {
        Ok(output) => Frame::write(answer::OUTPUT, output, to),
        Err(CallError::Failed(why)) => Frame::write(answer::FAILED, why, to),
        Err(CallError::Panicked(why)) => Frame::write(answer::PANICKED, why, to),
        Err(CallError::Unsupported) => Frame::write(answer::UNSUPPORTED, "", to),
        Err(CallError::Broken(how)) => Frame::write(answer::BROKEN, how, to),
    }
}

/// Kills the process if a panic leaves [`serve`].
struct EndOnDrop;

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        end();
    }
}
