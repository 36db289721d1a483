//! [`Frame`]: a message between a build and the process of a plugin.
//!
//! The first frame of the process is the plugin's description, or the reason why the plugin cannot
//! be opened. Then the process answers each request with one frame. The kind of a request is its
//! [`Mode`]; its content is four texts, each after its length as 8 bytes, lowest first:
//! configuration, root, resources, options.

use crate::Mode;
use crate::guest::Asked;
use std::io::{self, IoSlice, Read, Write};

/// A message: its kind and its content.
///
/// On the wire: one byte, the length of the content as 8 bytes, lowest first, and the content.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Frame {
    pub kind: u8,
    pub content: Vec<u8>,
}

/// The kinds of an answer.
pub mod answer {
    /// The resources that the plugin printed.
    pub const OUTPUT: u8 = 0;
    /// The reason why the plugin failed.
    pub const FAILED: u8 = 1;
    /// The message of a panic.
    pub const PANICKED: u8 = 2;
    /// The plugin does not support the mode.
    pub const UNSUPPORTED: u8 = 3;
    /// The rule of the interface that the plugin broke.
    pub const BROKEN: u8 = 4;
    /// The reason why the plugin cannot be opened.
    pub const NOT_OPENED: u8 = 5;
}

/// Bytes before the content of a frame.
pub const HEAD: usize = 9;

/// The memory that is reserved for a content before its first bytes are read.
pub const READ_AHEAD: u64 = 64 << 20;

/// The bytes before a content of `len` bytes.
pub fn head(kind: u8, len: usize) -> [u8; HEAD] {
    let mut head = [kind; HEAD];
    head[1..].copy_from_slice(&(len as u64).to_le_bytes());
    head
}

/// The length of the content after a head.
pub fn content_len(head: &[u8; HEAD]) -> u64 {
    head[1..].iter().rev().fold(0, |len, &byte| len << 8 | u64::from(byte))
}

impl Frame {
    /// Replaces this frame by the next one of a stream, in the same memory; returns `false` at the
    /// end of the stream.
    ///
    /// # Errors
    /// The stream fails, or ends inside a frame.
    pub fn read(&mut self, from: &mut impl Read) -> io::Result<bool> {
        let mut head = [0; HEAD];
        if from.read(&mut head[..1])? == 0 {
            return Ok(false);
        }
        from.read_exact(&mut head[1..])?;
        let len = content_len(&head);
        self.kind = head[0];
        self.content.clear();
        self.content.reserve(len.min(READ_AHEAD) as usize);
        if from.take(len).read_to_end(&mut self.content)? as u64 != len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(true)
    }

    /// Writes a frame, with one system call if the stream takes the whole frame at once.
    ///
    /// # Errors
    /// The stream fails.
    pub fn write(kind: u8, content: &str, to: &mut impl Write) -> io::Result<()> {
        let head = head(kind, content.len());
        let mut parts = [IoSlice::new(&head), IoSlice::new(content.as_bytes())];
        let mut parts = &mut parts[..];
        // Removes empty parts.
        IoSlice::advance_slices(&mut parts, 0);
        while !parts.is_empty() {
            match to.write_vectored(parts) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => IoSlice::advance_slices(&mut parts, n),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        to.flush()
    }

    /// The call that this frame requests; `None` for a malformed request.
    pub fn asked(&self) -> Option<Asked<'_>> {
        let modes = [Mode::Generate, Mode::Transform, Mode::Validate];
        let mode = modes.into_iter().find(|m| *m as u32 == u32::from(self.kind))?;
        let mut rest = self.content.as_slice();
        let mut text = || {
            let (len, after) = rest.split_first_chunk()?;
            let len = usize::try_from(u64::from_le_bytes(*len)).ok()?;
            let (text, after) = after.split_at_checked(len)?;
            rest = after;
            std::str::from_utf8(text).ok()
        };
        Some(Asked { mode, config: text()?, root: text()?, resources: text()?, options: text()? })
    }
}
