//! The frames of a conversation: each write and each read waits for its pipe, up to a deadline.

use super::{Failure, LOOK, Limits, widen};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustomize_plugin_abi::frame::{Frame, HEAD, READ_AHEAD, content_len};
use std::io::{self, IoSlice, PipeReader, PipeWriter, Read, Write};
use std::time::{Duration, Instant};

/// The ends of the pipes to a child and from it.
pub(super) struct Frames {
    to: PipeWriter,
    from: PipeReader,
    /// The limits of each exchange.
    limits: Limits,
}

impl Frames {
    /// # Errors
    /// The system refuses to read and write without waiting.
    pub(super) fn new(to: PipeWriter, from: PipeReader, limits: Limits) -> io::Result<Frames> {
        // Only the ends of this process: each end of a pipe has flags of its own.
        rustix::io::ioctl_fionbio(&to, true)?;
        rustix::io::ioctl_fionbio(&from, true)?;
        widen(&to);
        widen(&from);
        Ok(Frames { to, from, limits })
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
        let limits = self.limits;
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
                Progress::Done(frame) => return Ok(Some(frame)),
                Progress::Closed => return Ok(None),
                Progress::Waiting => {}
            }
            let left = deadline.map(|d| d.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Err(Failure::TimedOut(limits.timeout.unwrap_or_default()));
            }
            let is_ready = self.wait(!unsent.is_empty(), left.unwrap_or(LOOK).min(LOOK))?;
            if !is_ready && has_ended().map_err(Failure::Io)? {
                return Ok(None);
            }
        }
    }

    /// Returns whether nothing has come that was not read.
    pub(super) fn is_silent(&self) -> bool {
        let mut ends = [PollFd::new(&self.from, PollFlags::IN)];
        poll(&mut ends, Some(&Timespec::default())).is_ok() && !ends[0].revents().contains(PollFlags::IN)
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
