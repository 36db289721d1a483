//! The process of a plugin, on Unix.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Signal, getpid, kill_process, kill_process_group};
use std::fs::File;
use std::io;

/// Checks that no other thread runs in this process.
#[cfg(target_os = "linux")]
pub(crate) fn check_only_thread() -> io::Result<()> {
    match std::fs::read_dir("/proc/self/task")?.count() {
        1 => Ok(()),
        n => Err(io::Error::other(format!("this needs a process with one thread; this one has {n}"))),
    }
}

/// Checks that no other thread was started in this process.
#[cfg(target_vendor = "apple")]
pub(super) fn check_only_thread() -> io::Result<()> {
    unsafe extern "C" {
        safe fn pthread_is_threaded_np() -> std::ffi::c_int;
    }
    match pthread_is_threaded_np() {
        0 => Ok(()),
        _ => Err(io::Error::other("this needs a process with one thread; this one has started others")),
    }
}

/// Fails: on this system the number of threads is unknown.
#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
pub(super) fn check_only_thread() -> io::Result<()> {
    Err(io::Error::other("this system does not say how many threads a process has"))
}

/// Starts a thread that kills the process when the other end of a pipe is closed.
///
/// # Errors
/// The system refuses a thread.
pub(super) fn end_with(pipe: &File) -> io::Result<()> {
    let watched = pipe.try_clone()?;
    std::thread::Builder::new().spawn(move || {
        wait_for_end(&watched);
        end();
    })?;
    Ok(())
}

/// Returns when the other end of a pipe is closed.
fn wait_for_end(pipe: &File) {
    loop {
        // `poll` always reports the end; readable bytes are not asked for.
        let mut ends = [PollFd::new(pipe, PollFlags::empty())];
        match poll(&mut ends, None) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) | Err(_) => return,
        }
    }
}

/// Kills the process group of this process.
pub(super) fn end() -> ! {
    let _ = kill_process_group(getpid(), Signal::KILL);
    // A process that a person started does not always lead its group.
    let _ = kill_process(getpid(), Signal::KILL);
    // Not reached: no process outlives SIGKILL to itself. Runs no exit handler either.
    std::process::abort()
}
