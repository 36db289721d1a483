//! A child that answers more than once. It lives as long as a build needs it, and exchanges frames
//! over the pipes that are its stdin and stdout.

use super::child::Child;
use super::frames::Frames;
use super::keeper::Keeping;
use super::{Children, Failed, Failure, GRACE, Keep, Launch, read_in_thread};
use rustomize_plugin_abi::frame::Frame;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Instant;

/// A running child. When it is dropped, the child ends, with all that it has started.
pub struct Conversation {
    children: Children,
    child: Arc<Child>,
    frames: Frames,
    errors: Receiver<io::Result<Vec<u8>>>,
    /// Its objects exist until the child has ended.
    _launch: Launch,
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
        let frames = Frames::new(to, from, launch.limits)?;
        let mut marked = children.marked(&launch, &Keeping::until_child_ends(&launch.limits))?;
        let errors = read_in_thread(errors, Keep::Tail { stderr: launch.stderr.clone() })?;
        marked.expression = marked.expression.stdin_file(stdin).stdout_file(stdout).stderr_file(stderr);
        let child = children.start(marked)?;
        Ok(Conversation { children: children.clone(), child, frames, errors, _launch: launch })
    }

    /// Sends a frame, given in parts whose first holds the head, and waits for one. Without parts
    /// it only waits.
    ///
    /// It costs the transfer; on Windows also a copy of the parts.
    ///
    /// # Errors
    /// The child ends, takes too long or answers with too much. It is ended then, and no later
    /// exchange succeeds.
    pub fn exchange(&mut self, parts: &[&[u8]]) -> Result<Frame, Failed> {
        let has_ended = || Ok(self.child.handle.try_wait()?.is_some());
        let answer = self.frames.exchange(parts, has_ended).and_then(|frame| frame.ok_or_else(|| self.ended()));
        answer.map_err(|failure| {
            self.end();
            let stderr = self.errors.recv_timeout(GRACE).unwrap_or_else(|_| Ok(Vec::new())).unwrap_or_default();
            Failed { failure, stderr: String::from_utf8_lossy(&stderr).into_owned(), stdout: Vec::new() }
        })
    }

    /// Returns whether the child has sent nothing that was not read. One that has ended is silent:
    /// the next exchange says that.
    pub fn is_silent(&self) -> bool {
        self.frames.is_silent()
    }

    fn end(&self) {
        self.children.end_child(&self.child);
    }

    /// The failure of a child that sends no more.
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
