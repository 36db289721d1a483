//! The frames of a conversation, on systems whose pipes cannot be waited for: a thread reads frames
//! from the child's stdout, and another one writes to its stdin.

use super::{Failure, LOOK, Limits};
use rustomize_plugin_abi::frame::{Frame, HEAD, READ_AHEAD, content_len};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// The ends of the channels to the threads of the two pipes.
pub(super) struct Frames {
    to: Sender<Vec<u8>>,
    from: Receiver<Result<Frame, Stop>>,
    /// The number of frames that the child has begun.
    begun: Arc<AtomicU64>,
    /// The number of frames that were taken.
    taken: u64,
    /// The time limit of each exchange.
    timeout: Option<Duration>,
}

/// The reason why no further frame comes.
enum Stop {
    Closed,
    TooMuch(u64),
    Io(io::Error),
}

impl Frames {
    /// # Errors
    /// A thread cannot be started.
    pub(super) fn new(input: PipeWriter, output: PipeReader, limits: Limits) -> io::Result<Frames> {
        let (to, texts) = channel();
        std::thread::Builder::new().spawn(move || write(&texts, input))?;
        let (frames, from) = channel();
        let begun = Arc::new(AtomicU64::new(0));
        let noted = Arc::clone(&begun);
        std::thread::Builder::new().spawn(move || read(output, limits.output, &noted, &frames))?;
        Ok(Frames { to, from, begun, taken: 0, timeout: limits.timeout })
    }

    /// Sends a frame, given in parts, and waits for one; `None` if there comes none: the child has
    /// closed its end, or `has_ended` says that it has ended.
    ///
    /// # Errors
    /// The child takes too long or answers with too much, or a pipe fails.
    pub(super) fn exchange(
        &mut self,
        parts: &[&[u8]],
        has_ended: impl Fn() -> io::Result<bool>,
    ) -> Result<Option<Frame>, Failure> {
        let deadline = self.timeout.and_then(|t| Instant::now().checked_add(t));
        if !parts.is_empty() {
            // A child that does not listen any more says more in its answer.
            let _ = self.to.send(parts.concat());
        }
        loop {
            let left = deadline.map(|d| d.saturating_duration_since(Instant::now()));
            match self.from.recv_timeout(left.unwrap_or(LOOK).min(LOOK)) {
                Ok(Ok(frame)) => {
                    self.taken += 1;
                    return Ok(Some(frame));
                }
                Ok(Err(Stop::TooMuch(limit))) => return Err(Failure::TooMuchOutput(limit)),
                Ok(Err(Stop::Io(e))) => return Err(Failure::Io(e)),
                Ok(Err(Stop::Closed)) | Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) if left == Some(Duration::ZERO) => {
                    return Err(Failure::TimedOut(self.timeout.unwrap_or_default()));
                }
                // Another process may hold the pipe of a child that has ended.
                Err(RecvTimeoutError::Timeout) => {
                    if has_ended().map_err(Failure::Io)? && self.is_silent() {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Returns whether nothing has come that was not read.
    pub(super) fn is_silent(&self) -> bool {
        self.begun.load(Ordering::Acquire) == self.taken
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
