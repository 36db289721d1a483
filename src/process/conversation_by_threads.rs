//! A child that answers more than once, on systems whose pipes cannot be waited for: a thread reads
//! frames from the child's stdout, and another one writes to its stdin.

use super::child::Child;
use super::keeper::Keeping;
use super::{Children, Failed, Failure, GRACE, Keep, LOOK, Launch, read_in_thread};
use rustomize_plugin_abi::frame::{Frame, HEAD, READ_AHEAD, content_len};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// A running child. When it is dropped, the child ends, with all that it has started.
pub struct Conversation {
    children: Children,
    child: Arc<Child>,
    to: Sender<Vec<u8>>,
    from: Receiver<Result<Frame, Stop>>,
    /// The number of frames that the child has begun.
    begun: Arc<AtomicU64>,
    /// The number of frames that were taken.
    taken: u64,
    errors: Receiver<io::Result<Vec<u8>>>,
    /// Its objects exist until the child has ended.
    launch: Launch,
}

/// The reason why no further frame comes.
enum Stop {
    Closed,
    TooMuch(u64),
    Io(io::Error),
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
        let (stdin, input) = io::pipe()?;
        let (output, stdout) = io::pipe()?;
        let (errors, stderr) = io::pipe()?;
        let mut marked = children.marked(&launch, &Keeping::until_child_ends(&launch.limits))?;
        let errors = read_in_thread(errors, Keep::Tail { stderr: launch.stderr.clone() })?;
        marked.expression = marked.expression.stdin_file(stdin).stdout_file(stdout).stderr_file(stderr);
        let child = children.start(marked)?;
        let (to, texts) = channel();
        std::thread::Builder::new().spawn(move || write(&texts, input))?;
        let (frames, from) = channel();
        let begun = Arc::new(AtomicU64::new(0));
        let (limit, noted) = (launch.limits.output, Arc::clone(&begun));
        std::thread::Builder::new().spawn(move || read(output, limit, &noted, &frames))?;
        Ok(Conversation { children: children.clone(), child, to, from, begun, taken: 0, errors, launch })
    }

    /// Sends a frame, given in parts whose first holds the head, and waits for one. Without parts
    /// it only waits.
    ///
    /// It costs the transfer and a copy of the parts.
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
        self.begun.load(Ordering::Acquire) == self.taken
    }

    fn try_exchange(&mut self, parts: &[&[u8]]) -> Result<Frame, Failure> {
        let limits = self.launch.limits;
        let deadline = limits.timeout.and_then(|t| Instant::now().checked_add(t));
        if !parts.is_empty() {
            // A child that does not listen any more says more in its answer.
            let _ = self.to.send(parts.concat());
        }
        loop {
            let left = deadline.map(|d| d.saturating_duration_since(Instant::now()));
            match self.from.recv_timeout(left.unwrap_or(LOOK).min(LOOK)) {
                Ok(Ok(frame)) => {
                    self.taken += 1;
                    return Ok(frame);
                }
                Ok(Err(Stop::TooMuch(limit))) => return Err(Failure::TooMuchOutput(limit)),
                Ok(Err(Stop::Io(e))) => return Err(Failure::Io(e)),
                Ok(Err(Stop::Closed)) | Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
                Err(RecvTimeoutError::Timeout) if left == Some(Duration::ZERO) => {
                    return Err(Failure::TimedOut(limits.timeout.unwrap_or_default()));
                }
                Err(RecvTimeoutError::Timeout) => {
                    // Another process may hold the pipe of a child that has ended.
                    let has_ended = self.child.handle.try_wait().map_err(Failure::Io)?.is_some();
                    if has_ended && self.is_silent() {
                        return Err(self.ended());
                    }
                }
            }
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

/// Writes texts until the child does not listen any more, or the conversation has ended.
fn write(texts: &Receiver<Vec<u8>>, mut to: PipeWriter) {
    while let Ok(text) = texts.recv() {
        if to.write_all(&text).is_err() {
            return;
        }
    }
}

/// Reads frames until there are no more, or nobody takes them.
fn read(mut from: PipeReader, limit: u64, begun: &AtomicU64, frames: &Sender<Result<Frame, Stop>>) {
    loop {
        let frame = frame(&mut from, limit, begun);
        let is_last = frame.is_err();
        if frames.send(frame).is_err() || is_last {
            return;
        }
    }
}

/// Reads a frame, whose content has at most `limit` bytes.
fn frame(from: &mut PipeReader, limit: u64, begun: &AtomicU64) -> Result<Frame, Stop> {
    let mut head = [0; HEAD];
    fill(from, &mut head[..1])?;
    begun.fetch_add(1, Ordering::Release);
    fill(from, &mut head[1..])?;
    let len = content_len(&head);
    if len > limit {
        return Err(Stop::TooMuch(limit));
    }
    let mut content = Vec::with_capacity(len.min(READ_AHEAD) as usize);
    match from.take(len).read_to_end(&mut content) {
        Ok(n) if n as u64 == len => Ok(Frame { kind: head[0], content }),
        Ok(_) => Err(Stop::Closed),
        Err(e) => Err(Stop::Io(e)),
    }
}

/// Fills memory with the bytes that come next.
fn fill(from: &mut PipeReader, into: &mut [u8]) -> Result<(), Stop> {
    from.read_exact(into).map_err(|e| match e.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe => Stop::Closed,
        _ => Stop::Io(e),
    })
}
