//! A child process with limits: its own process group, a deadline, a limit on its output, and a
//! clean-up that removes everything it leaves.
//!
//! * [`Children`]: the children of a build, or of a process, which end with it. [`Children::run`]
//!   asks a child once, [`conversation`] several times.
//! * `child`: a running process and its process group.
//! * `private`: directories that must not outlive a build; `directory`: the way in which the system
//!   makes, locks and removes one.
//! * `orphans`: processes that a child has started, also if they left its group; [`Removal`]:
//!   removes objects that a child has made outside of its processes.

#[cfg_attr(not(unix), path = "child_alone.rs")]
mod child;
mod children;
#[cfg_attr(not(unix), path = "without_conversation.rs")]
pub mod conversation;
#[cfg_attr(not(unix), path = "plain_directory.rs")]
mod directory;
#[cfg_attr(not(unix), path = "without_orphans.rs")]
mod orphans;
mod private;
mod removal;

#[cfg(unix)]
pub(crate) use child::name;
pub use children::Children;
pub use private::PrivateDirectory;
pub use removal::Removal;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, PipeReader, Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The smallest room for the output of a plugin, in bytes.
const READ_AHEAD: usize = 1 << 20;

/// The size of a pipe in bytes: the most that a user may ask for by default.
const PIPE_SIZE: usize = 1 << 20;

/// The time that a child may take after it was told to end, or after its pipe has closed.
const GRACE: Duration = Duration::from_secs(1);

/// The number of bytes at the end of stderr that an error shows.
const STDERR_TAIL: usize = 4 * 1024;

/// A line of stderr that is longer, in bytes, is passed on in parts.
const LONGEST_LINE: usize = 64 * 1024;

/// Limits of a child.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The time limit of the child; `None` for no limit.
    pub timeout: Option<Duration>,
    /// The largest output of the child, in bytes.
    pub output: u64,
    /// Receives the child's stderr, in whole lines: those of several children do not mix. A very
    /// long line comes in parts. At the end it receives nothing once more.
    pub stderr: fn(&[u8]),
}

/// The program to run.
pub struct Call<'c> {
    /// A path, or a name to look for in PATH.
    pub program: &'c Path,
    pub args: Vec<OsString>,
    /// The child's working directory; `None` for the directory of this process.
    pub directory: Option<&'c Path>,
    /// Variables that are set.
    pub environment: Vec<(Cow<'static, str>, OsString)>,
    /// True if the child has the variables of this process as well.
    pub inherits: bool,
    /// Variables that are removed.
    pub without: &'static [&'static str],
    /// The stdin of the child; `None` for an empty stdin.
    pub stdin: Option<Vec<u8>>,
}

impl Call<'_> {
    /// The command, without its pipes. Its exit status is not checked here.
    fn expression(&self, mark: &str) -> duct::Expression {
        // As a text: a path of one name would not be searched in PATH.
        let mut expression = duct::cmd(self.program.as_os_str(), &self.args).unchecked();
        if let Some(directory) = self.directory {
            expression = expression.dir(directory);
        }
        for name in self.without {
            expression = expression.env_remove(name);
        }
        let marked = self.environment.iter().map(|(name, value)| (&**name, value.as_os_str()));
        let marked = marked.chain([(orphans::VARIABLE, mark.as_ref())]);
        if !self.inherits {
            return expression.full_env(marked);
        }
        marked.fold(expression, |expression, (name, value)| expression.env(name, value))
    }
}

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
}

/// The value behind a lock. A thread that panics leaves no value half changed here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for the output to end and for the child to exit.
fn collect(
    handle: &duct::Handle,
    output: Receiver<io::Result<Vec<u8>>>,
    options: &Limits,
    deadline: Option<Instant>,
) -> Result<Vec<u8>, Failure> {
    let timed_out = || Failure::TimedOut(options.timeout.unwrap_or_default());
    let left = deadline.map(|d| d.saturating_duration_since(Instant::now()));
    let read = match left {
        Some(left) => output.recv_timeout(left),
        None => output.recv().map_err(|_| RecvTimeoutError::Disconnected),
    };
    let bytes = match read {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(e)) if e.kind() == io::ErrorKind::FileTooLarge => {
            return Err(Failure::TooMuchOutput(options.output));
        }
        Ok(Err(e)) => return Err(Failure::Io(e)),
        Err(RecvTimeoutError::Timeout) => return Err(timed_out()),
        Err(RecvTimeoutError::Disconnected) => {
            return Err(Failure::Io(io::Error::other("the reader of its output ended")));
        }
    };
    let waited = match deadline {
        Some(deadline) => handle.wait_deadline(deadline).map_err(Failure::Io)?,
        None => Some(handle.wait().map_err(Failure::Io)?),
    };
    match waited {
        None => Err(timed_out()),
        Some(done) if done.status.success() => Ok(bytes),
        Some(done) => Err(Failure::Status(done.status.to_string())),
    }
}

/// The part of a stream that a reader keeps.
enum Keep {
    /// Everything, up to a limit.
    All { limit: u64, expected: usize },
    /// The end. The whole stream is passed on, in whole lines.
    Tail { pass: fn(&[u8]) },
}

/// The reading end of a pipe that a thread fills. A child that stops reading early is not an error.
fn write_in_thread(bytes: Vec<u8>) -> io::Result<(PipeReader, JoinHandle<Vec<u8>>)> {
    let (reader, mut writer) = io::pipe()?;
    widen(&reader);
    let thread = std::thread::Builder::new().spawn(move || {
        let _ = writer.write_all(&bytes);
        bytes
    })?;
    Ok((reader, thread))
}

/// Asks for a large pipe: fewer turns between two processes. A system that refuses has a small one.
#[cfg(target_os = "linux")]
fn widen(pipe: &PipeReader) {
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, PIPE_SIZE);
}

/// Pipes of other systems have one size.
#[cfg(not(target_os = "linux"))]
fn widen(_: &PipeReader) {}

fn read_in_thread(mut pipe: PipeReader, keep: Keep) -> io::Result<Receiver<io::Result<Vec<u8>>>> {
    let (send, receive) = channel();
    std::thread::Builder::new().spawn(move || {
        let result = match keep {
            Keep::All { limit, expected } => read_all(&mut pipe, limit, expected),
            Keep::Tail { pass } => read_tail(&mut pipe, pass),
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

fn read_tail(pipe: &mut PipeReader, pass: fn(&[u8])) -> io::Result<Vec<u8>> {
    let mut tail: VecDeque<u8> = VecDeque::with_capacity(STDERR_TAIL);
    let mut buffer = [0; 8 * 1024];
    let mut open = Vec::new();
    loop {
        let n = match pipe.read(&mut buffer) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            read => read,
        };
        if matches!(n, Ok(0) | Err(_)) {
            pass(&open);
            pass(&[]);
        }
        let n = n?;
        if n == 0 {
            return Ok(tail.into());
        }
        open.extend_from_slice(&buffer[..n]);
        let end = open.iter().rposition(|&byte| byte == b'\n').map(|at| at + 1);
        if let Some(end) = end.or((open.len() > LONGEST_LINE).then_some(open.len())) {
            pass(&open[..end]);
            open.drain(..end);
        }
        tail.extend(&buffer[..n]);
        let excess = tail.len().saturating_sub(STDERR_TAIL);
        tail.drain(..excess);
    }
}
