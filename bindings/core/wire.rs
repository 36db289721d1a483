//! [`Connection`]: messages over a pair of streams.

use std::io::{self, Read, Write};

/// Longer messages are written without a copy.
const SHORT: usize = 4 << 10;

/// The streams to and from the host.
pub(crate) struct Connection {
    input: Box<dyn Read + Send>,
    output: Box<dyn Write + Send>,
}

/// A message that was read.
pub(crate) struct Message {
    pub kind: u8,
    pub payload: Vec<u8>,
}

/// The error about a host that does not keep to the protocol.
pub(crate) fn broken(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the host does not keep to the protocol: {text}"))
}

impl Connection {
    pub(crate) fn new(input: impl Read + Send + 'static, output: impl Write + Send + 'static) -> Self {
        Connection { input: Box::new(input), output: Box::new(output) }
    }

    /// Writes a message.
    ///
    /// # Errors
    /// The stream fails, or the message is longer than 4 GiB.
    pub(crate) fn write(&mut self, kind: u8, payload: &[u8]) -> io::Result<()> {
        let length = u32::try_from(payload.len() + 1).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let mut start = Vec::with_capacity(5 + if payload.len() <= SHORT { payload.len() } else { 0 });
        start.extend_from_slice(&length.to_le_bytes());
        start.push(kind);
        if payload.len() <= SHORT {
            start.extend_from_slice(payload);
            self.output.write_all(&start)?;
        } else {
            self.output.write_all(&start)?;
            self.output.write_all(payload)?;
        }
        self.output.flush()
    }

    /// Reads a message; `None` at the end of the stream.
    ///
    /// # Errors
    /// The stream fails or ends inside of a message, or memory is short.
    pub(crate) fn read(&mut self) -> io::Result<Option<Message>> {
        let mut length = [0; 4];
        match self.input.read(&mut length)? {
            0 => return Ok(None),
            some => self.input.read_exact(&mut length[some..])?,
        }
        let length = u32::from_le_bytes(length) as usize;
        let Some(length) = length.checked_sub(1) else { return Err(broken("a message is empty")) };
        let mut kind = [0];
        self.input.read_exact(&mut kind)?;
        let mut payload = Vec::new();
        payload.try_reserve_exact(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
        (&mut self.input).take(length as u64).read_to_end(&mut payload)?;
        if payload.len() < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Some(Message { kind: kind[0], payload }))
    }
}
