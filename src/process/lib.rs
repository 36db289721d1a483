//! A child process with limits: its own process group, a deadline, a limit on its output, and a
//! clean-up that removes everything it leaves.
//!
//! * [`Children`]: the children of a build, or of a process, which end with it. [`Children::run`]
//!   asks a child once, [`conversation`] several times. [`Launch`] says which program that is.
//! * `child`: a running process and its process group.
//! * [`keeper`]: the process between a build and a child, which ends all that the child has
//!   started; [`warden`]: the process that cleans up after a build that was killed.
//! * `private`: directories that must not outlive a build; `directory`: the way in which the system
//!   makes, locks and removes one.
//! * `orphans`: processes that a child has started, also if they left its group; [`Removal`]:
//!   removes objects that a child has made outside of its processes.
//! * [`Turns`]: how many of some children may run at a time.
//! * `script`: the interpreters of scripts, for a system that does not start them itself.
//!
//! Windows has twins of these modules: a child and all that it starts are in a job, which the
//! system ends as a whole.

#[cfg_attr(windows, path = "child_in_job.rs")]
#[cfg_attr(not(any(unix, windows)), path = "child_alone.rs")]
mod child;
mod children;
#[cfg_attr(not(any(unix, windows)), path = "without_conversation.rs")]
pub mod conversation;
#[cfg_attr(windows, path = "directory_with_lock_file.rs")]
#[cfg_attr(not(any(unix, windows)), path = "plain_directory.rs")]
mod directory;
#[cfg(any(unix, windows))]
#[cfg_attr(windows, path = "frames_by_threads.rs")]
mod frames;
#[cfg_attr(windows, path = "keeper_of_job.rs")]
#[cfg_attr(not(any(target_os = "linux", windows)), path = "without_keeper.rs")]
pub mod keeper;
mod launch;
mod marked;
#[cfg_attr(not(unix), path = "without_orphans.rs")]
mod orphans;
mod private;
mod removal;
#[cfg(any(windows, test))]
mod script;
mod turns;
#[cfg_attr(not(any(unix, windows)), path = "without_warden.rs")]
pub mod warden;

#[cfg(unix)]
pub use child::become_command;
pub use child::withhold_files;
pub use children::Children;
pub use launch::{Inherited, Launch, Stderr, Variable};
pub use private::PrivateDirectory;
pub use removal::Removal;
pub use turns::Turns;

use child::Child;
use std::collections::VecDeque;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The smallest room for the output of a plugin, in bytes.
const READ_AHEAD: usize = 1 << 20;

/// The time that a child may take after it was told to end, or after its pipe has closed.
const GRACE: Duration = Duration::from_secs(1);

/// The time between two looks at a silent child: it may have ended while another process holds its
/// pipe.
const LOOK: Duration = Duration::from_millis(100);

/// The number of bytes at the end of stderr that an error shows.
const STDERR_TAIL: usize = 4 * 1024;

/// A line of stderr that is longer, in bytes, is passed on in parts.
const LONGEST_LINE: usize = 64 * 1024;

/// Limits of a child, and of all that it starts.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The time limit of the child; `None` for no limit.
    pub timeout: Option<Duration>,
    /// The largest output of the child, in bytes.
    pub output: u64,
    /// The memory of each process and of all together, in bytes; `None` for no limit. A child
    /// without a keeper has none.
    pub memory: Option<u64>,
    /// The number of processes and threads at a time; `None` for no limit. A child without a keeper
    /// has none.
    pub processes: Option<u64>,
}

impl Default for Limits {
    /// Ten minutes, 1 GiB of output, 8 GiB of memory and 4096 processes and threads.
    fn default() -> Limits {
        Limits { timeout: Some(Duration::from_mins(10)), output: 1 << 30, memory: Some(8 << 30), processes: Some(4096) }
    }
}

/// The number of bytes of a child's stderr that a host is shown: a child that never stops writing
/// does not fill the log of its build.
const MOST_SHOWN: usize = 16 << 20;

/// The reason why a call failed.
#[derive(Debug)]
pub enum Failure {
    NotStarted(io::Error),
    Status(String),
    /// The child ended before it answered.
    Ended(String),
    TimedOut(Duration),
    TooMuchOutput(u64),
    Io(io::Error),
}

/// A failed call: the reason, and the end of its stderr.
#[derive(Debug)]
pub struct Failed {
    pub failure: Failure,
    pub stderr: String,
    /// The output of a child that has exited with another status than 0; else empty.
    pub stdout: Vec<u8>,
}

impl Failed {
    /// The failure of a child that could not be started.
    pub fn not_started(error: io::Error) -> Failed {
        Failed { failure: Failure::NotStarted(error), stderr: String::new(), stdout: Vec::new() }
    }
}

/// The value behind a lock. A thread that panics leaves no value half changed here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for the output to end and for the child to exit, with any status.
fn collect(
    child: &Child,
    output: Receiver<io::Result<Vec<u8>>>,
    limits: &Limits,
    deadline: Option<Instant>,
) -> Result<Output, Failure> {
    let timed_out = || Failure::TimedOut(limits.timeout.unwrap_or_default());
    let left = || deadline.map_or(LOOK, |d| d.saturating_duration_since(Instant::now()));
    let read = loop {
        match output.recv_timeout(left().min(LOOK)) {
            // A keeper stays until the output has ended. The child, or somebody else, has killed
            // it.
            Err(RecvTimeoutError::Timeout) if child.is_kept() => {
                if let Some(done) = child.handle.try_wait().map_err(Failure::Io)? {
                    return Err(Failure::Status(done.status.to_string()));
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            read => break read,
        }
        if left().is_zero() {
            break Err(RecvTimeoutError::Timeout);
        }
    };
    let bytes = match read {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(e)) if e.kind() == io::ErrorKind::FileTooLarge => {
            return Err(Failure::TooMuchOutput(limits.output));
        }
        Ok(Err(e)) => return Err(Failure::Io(e)),
        Err(RecvTimeoutError::Timeout) => return Err(timed_out()),
        Err(RecvTimeoutError::Disconnected) => {
            return Err(Failure::Io(io::Error::other("the reader of its output ended")));
        }
    };
    child.output_has_ended();
    let waited = match deadline {
        Some(deadline) => child.handle.wait_deadline(deadline).map_err(Failure::Io)?,
        None => Some(child.handle.wait().map_err(Failure::Io)?),
    };
    match waited {
        None => Err(timed_out()),
        Some(done) if done.status.success() => Ok(Output { bytes, status: None }),
        Some(_) if let Some(e) = keeper::not_started(&bytes) => Err(Failure::NotStarted(e)),
        Some(done) => Ok(Output { bytes, status: Some(done.status.to_string()) }),
    }
}

/// The output of a child that has exited.
struct Output {
    bytes: Vec<u8>,
    /// The status, if it is another one than 0.
    status: Option<String>,
}

/// The part of a stream that a reader keeps.
enum Keep {
    /// Everything, up to a limit.
    All { limit: u64, expected: usize },
    /// The end. The reader of stderr gets the whole stream, in whole lines.
    Tail { stderr: Stderr },
}

/// Writes bytes to a pipe in a thread, which gives them back. A child that stops reading early is
/// not an error.
fn write_in_thread(bytes: Vec<u8>, mut pipe: PipeWriter) -> io::Result<JoinHandle<Vec<u8>>> {
    std::thread::Builder::new().spawn(move || {
        let _ = pipe.write_all(&bytes);
        bytes
    })
}

/// Asks for a large pipe: fewer turns between two processes. A system that refuses has a small one.
#[cfg(target_os = "linux")]
fn widen(pipe: &impl std::os::fd::AsFd) {
    /// The size in bytes: the most that a user may ask for by default.
    const SIZE: usize = 1 << 20;
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, SIZE);
}

/// Pipes of other systems have one size.
#[cfg(not(target_os = "linux"))]
fn widen<P>(_: &P) {}

fn read_in_thread(mut pipe: PipeReader, keep: Keep) -> io::Result<Receiver<io::Result<Vec<u8>>>> {
    let (send, receive) = channel();
    std::thread::Builder::new().spawn(move || {
        let result = match keep {
            Keep::All { limit, expected } => read_all(&mut pipe, limit, expected),
            Keep::Tail { stderr } => read_tail(&mut pipe, &stderr),
        };
        let _ = send.send(result);
    })?;
    Ok(receive)
}

fn read_all(pipe: &mut PipeReader, limit: u64, expected: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(expected);
    pipe.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

/// Reads stderr to its end, and returns the last bytes. The host is shown the first
/// [`MOST_SHOWN`] bytes.
fn read_tail(pipe: &mut PipeReader, stderr: &Stderr) -> io::Result<Vec<u8>> {
    let mut left = Some(MOST_SHOWN);
    let mut show = |bytes: &[u8]| {
        let Some(before) = left else { return };
        left = before.checked_sub(bytes.len());
        if left.is_some() {
            return stderr.pass(bytes);
        }
        stderr.pass(&[]);
        stderr.pass(format!("(a program has written {MOST_SHOWN} bytes to stderr: no more is shown)\n").as_bytes());
    };
    let mut tail: VecDeque<u8> = VecDeque::with_capacity(STDERR_TAIL);
    let mut buffer = [0; 8 * 1024];
    let mut open = Vec::new();
    loop {
        let n = match pipe.read(&mut buffer) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            read => read,
        };
        if matches!(n, Ok(0) | Err(_)) {
            show(&open);
            stderr.pass(&[]);
        }
        let n = n?;
        if n == 0 {
            return Ok(tail.into());
        }
        open.extend_from_slice(&buffer[..n]);
        let end = open.iter().rposition(|&byte| byte == b'\n').map(|at| at + 1);
        if let Some(end) = end.or((open.len() > LONGEST_LINE).then_some(open.len())) {
            show(&open[..end]);
            open.drain(..end);
        }
        tail.extend(&buffer[..n]);
        let excess = tail.len().saturating_sub(STDERR_TAIL);
        tail.drain(..excess);
    }
}
