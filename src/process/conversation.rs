//! A child that answers more than once. It lives as long as a build needs it, and exchanges frames
//! over the pipes that are its stdin and stdout.

use super::child::Child;
use super::keeper::Keeping;
use super::{Children, Failed, Failure, GRACE, Keep, LOOK, Launch, read_in_thread, widen};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustomize_plugin_abi::frame::{Frame, HEAD, READ_AHEAD, content_len};
use std::io::{self, IoSlice, PipeReader, PipeWriter, Read, Write};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

/// A running child. When it is dropped, the child ends, with its process group and the processes
/// that have left the group.
pub struct Conversation {
    children: Children,
    child: Arc<Child>,
    to: PipeWriter,
    from: PipeReader,
    errors: Receiver<io::Result<Vec<u8>>>,
    /// Its objects exist until the child has ended.
    launch: Launch,
}

impl Conversation {
    /// Starts a child. The stdin of `launch` is ignored; its limits are those of each exchange.
    ///
    /// # Errors
    /// The child cannot be started.
    pub fn start(children: &Children, launch: Launch) -> Result<Self, Failed> {
        Conversation::try_start(children, launch).map_err(Failed::not_started)
    }

    fn try_start(children: &Children, launch: Launch) -> io::Result<Self> {
        let (stdin, to) = io::pipe()?;
        let (from, stdout) = io::pipe()?;
        let (errors, stderr) = io::pipe()?;
        // Only the ends of this process: each end of a pipe has flags of its own.
        rustix::io::ioctl_fionbio(&to, true)?;
        rustix::io::ioctl_fionbio(&from, true)?;
        widen(&stdin);
        widen(&from);
        let mut marked = children.marked(&launch, &Keeping::until_child_ends(&launch.limits))?;
        let errors = read_in_thread(errors, Keep::Tail { stderr: launch.stderr.clone() })?;
        marked.expression = marked.expression.stdin_file(stdin).stdout_file(stdout).stderr_file(stderr);
        let child = children.start(marked)?;
        Ok(Conversation { children: children.clone(), child, to, from, errors, launch })
    }

    /// Sends a frame, given in parts whose first holds the head, and waits for one. Without parts
    /// it only waits.
    ///
    /// It costs the transfer and no copy of the parts.
    ///
    /// # Errors
    /// The child ends, takes too long or answers with too much. It is ended then, and no later
    /// exchange succeeds.
    pub fn exchange(&mut self, parts: &[&[u8]]) -> Result<Frame, Failed> {
        self.try_exchange(parts).map_err(|failure| {
            self.end();
            let stderr = self.errors.recv_timeout(GRACE).unwrap_or_else(|_| Ok(Vec::new())).unwrap_or_default();
            Failed { failure, stderr: String::from_utf8_lossy(&stderr).into_owned(), stdout: Vec::new() }
        })
    }

    /// Returns whether the child has sent nothing that was not read. One that has ended is silent:
    /// the next exchange says that.
    pub fn is_silent(&self) -> bool {
        let mut ends = [PollFd::new(&self.from, PollFlags::IN)];
        poll(&mut ends, Some(&Timespec::default())).is_ok() && !ends[0].revents().contains(PollFlags::IN)
    }

    fn try_exchange(&mut self, parts: &[&[u8]]) -> Result<Frame, Failure> {
        let limits = self.launch.limits;
        let deadline = limits.timeout.and_then(|t| Instant::now().checked_add(t));
        let mut parts: Vec<IoSlice<'_>> = parts.iter().map(|part| IoSlice::new(part)).collect();
        let mut unsent = parts.as_mut_slice();
        // Forgets empty parts.
        IoSlice::advance_slices(&mut unsent, 0);
        let mut received = Received::default();
        loop {
            while !unsent.is_empty() {
                match self.to.write_vectored(unsent) {
                    Ok(n) => IoSlice::advance_slices(&mut unsent, n),
                    Err(e) if e.kind() == io::ErrorKind::WouldBlock => break,
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                    // The child has ended, or does not listen: its answer says more.
                    Err(e) if e.kind() == io::ErrorKind::BrokenPipe => unsent = &mut [],
                    Err(e) => return Err(Failure::Io(e)),
                }
            }
            match received.read(&mut self.from, limits.output)? {
                Progress::Done(frame) => return Ok(frame),
                Progress::Closed => return Err(self.ended()),
                Progress::Waiting => {}
            }
            let left = deadline.map(|d| d.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Err(Failure::TimedOut(limits.timeout.unwrap_or_default()));
            }
            if !self.wait(!unsent.is_empty(), left.unwrap_or(LOOK).min(LOOK))?
                && self.child.handle.try_wait().map_err(Failure::Io)?.is_some()
            {
                return Err(self.ended());
            }
        }
    }

    /// Waits until data can be read or written; returns false if neither is possible in time.
    fn wait(&self, to_write: bool, time: Duration) -> Result<bool, Failure> {
        let mut ends = [PollFd::new(&self.from, PollFlags::IN), PollFd::new(&self.to, PollFlags::OUT)];
        let ends = &mut ends[..if to_write { 2 } else { 1 }];
        let time = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) as _ };
        match poll(ends, Some(&time)) {
            Ok(n) => Ok(n > 0),
            Err(rustix::io::Errno::INTR) => Ok(true),
            Err(e) => Err(Failure::Io(e.into())),
        }
    }

    fn end(&self) {
        self.children.end_child(&self.child);
    }

    fn ended(&self) -> Failure {
        match self.child.handle.wait_deadline(Instant::now() + GRACE) {
            Ok(Some(output)) => Failure::Ended(output.status.to_string()),
            Ok(None) => Failure::Io(io::Error::other("it closed the pipe that its answers come through")),
            Err(e) => Failure::Io(e),
        }
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        self.end();
        // The child's stderr is shown up to its end.
        let _ = self.errors.recv_timeout(GRACE);
        self.children.forget(&self.child);
    }
}

/// The part of a frame that has arrived.
#[derive(Default)]
struct Received {
    head: Vec<u8>,
    content: Vec<u8>,
}

enum Progress {
    Done(Frame),
    Waiting,
    Closed,
}

impl Received {
    fn read(&mut self, from: &mut PipeReader, limit: u64) -> Result<Progress, Failure> {
        if let Some(stop) = fill(from, &mut self.head, HEAD as u64)? {
            return Ok(stop);
        }
        let mut head = [0; HEAD];
        head.copy_from_slice(&self.head);
        let len = content_len(&head);
        if len > limit {
            return Err(Failure::TooMuchOutput(limit));
        }
        if self.content.capacity() == 0 {
            self.content.reserve(len.min(READ_AHEAD) as usize);
        }
        if let Some(stop) = fill(from, &mut self.content, len)? {
            return Ok(stop);
        }
        Ok(Progress::Done(Frame { kind: head[0], content: std::mem::take(&mut self.content) }))
    }
}

/// Reads until `into` has `len` bytes; then returns `None`.
fn fill(from: &mut PipeReader, into: &mut Vec<u8>, len: u64) -> Result<Option<Progress>, Failure> {
    let missing = len - into.len() as u64;
    match from.take(missing).read_to_end(into) {
        Ok(n) if n as u64 == missing => Ok(None),
        Ok(_) => Ok(Some(Progress::Closed)),
        Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(Some(Progress::Waiting)),
        Err(e) => Err(Failure::Io(e)),
    }
}
