//! [`Plugin`]: a shared object with the four functions.

use crate::guest::Asked;
use crate::types::{Buffer, Describe, Free, Request, Response, Run, Text};
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

/// The reason why a call failed.
#[derive(Debug, PartialEq, Eq)]
pub enum CallError {
    /// The plugin gives the reason.
    Failed(String),
    /// The plugin caught a fault of its own.
    Panicked(String),
    /// The plugin does not support the mode.
    Unsupported,
    /// The plugin broke the rules of the interface.
    Broken(String),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Failed(why) => f.write_str(why),
            CallError::Panicked(why) => write!(f, "it panicked: {why}"),
            CallError::Unsupported => f.write_str("it cannot do what the field that lists it asks for"),
            CallError::Broken(how) => write!(f, "it broke the rules of the plugin interface: {how}"),
        }
    }
}

impl std::error::Error for CallError {}

/// A text that a plugin has made, in the plugin's own memory. The plugin frees the text when this
/// value is dropped.
///
/// To free the text is a call of the plugin, so the plugin cannot move to another thread before:
///
/// ```compile_fail,E0505
/// fn send(plugin: rustomize_plugin_abi::Plugin) {
///     let described = plugin.describe();
///     std::thread::spawn(move || plugin.describe().is_ok());
///     drop(described);
/// }
/// ```
pub struct Output<'p> {
    buffer: Buffer,
    free: Free,
    plugin: PhantomData<&'p Plugin>,
}

impl<'p> Output<'p> {
    /// Takes a buffer of `plugin`, which is freed once, whether it is a text or not.
    fn new(buffer: Buffer, plugin: &'p Plugin) -> Result<Output<'p>, CallError> {
        let output = Output { buffer, free: plugin.free, plugin: PhantomData };
        if output.buffer.data.is_null() && output.buffer.len > 0 {
            return Err(CallError::Broken(format!("{} bytes at a null address", output.buffer.len)));
        }
        if !is_length(output.buffer.len) {
            return Err(CallError::Broken(format!("a text of {} bytes", output.buffer.len)));
        }
        match std::str::from_utf8(output.bytes()) {
            Ok(_) => Ok(output),
            Err(e) => Err(CallError::Broken(format!("a text that is not valid UTF-8 at byte {}", e.valid_up_to()))),
        }
    }

    fn bytes(&self) -> &[u8] {
        if self.buffer.len == 0 || !is_length(self.buffer.len) {
            return &[];
        }
        // SAFETY: the header says that the plugin owns `len` bytes at `data`, which stay as they
        // are until the buffer is freed, and that consumes this value. `new` has checked that
        // `data` is not null.
        unsafe { std::slice::from_raw_parts(self.buffer.data, self.buffer.len) }
    }
}

impl Deref for Output<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        // SAFETY: `new` has checked that the bytes are UTF-8, and nobody writes to them.
        unsafe { std::str::from_utf8_unchecked(self.bytes()) }
    }
}

impl Drop for Output<'_> {
    fn drop(&mut self) {
        // SAFETY: the buffer is the plugin's own, or all zero, and is freed once.
        unsafe { (self.free)(&raw mut self.buffer) };
    }
}

impl fmt::Debug for Output<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// A plugin that was opened. It stays open until the process ends: threads and handlers that it has
/// started cannot be unloaded.
///
/// The header promises a plugin that its calls come one after the other, from any thread: this value
/// can move to another thread, and is not shared by threads.
///
/// ```compile_fail,E0277
/// fn shared(plugin: &rustomize_plugin_abi::Plugin) -> impl Sync { plugin }
/// ```
pub struct Plugin {
    describe: Describe,
    run: Run,
    free: Free,
    serial: PhantomData<Cell<()>>,
}

impl Plugin {
    /// A plugin of this process.
    ///
    /// # Safety
    /// The functions keep the rules of the header, as in `Plugin::open`.
    pub(crate) unsafe fn from_parts(describe: Describe, run: Run, free: Free) -> Plugin {
        Plugin { describe, run, free, serial: PhantomData }
    }

    /// The description of the plugin: a JSON object.
    ///
    /// # Errors
    /// The plugin fails, or its answer is not valid UTF-8.
    pub fn describe(&self) -> Result<Output<'_>, CallError> {
        let mut response = response();
        // SAFETY: the response is ours, zero except for its size, and lives until the call has
        // returned.
        let status = unsafe { (self.describe)(&raw mut response) };
        self.take(status, response)
    }

    /// Lets the plugin carry out a request, and returns what it printed without a copy.
    ///
    /// # Errors
    /// The plugin fails, or its answer is not valid UTF-8.
    pub fn run(&self, asked: &Asked<'_>) -> Result<Output<'_>, CallError> {
        let request = Request {
            size: size_of::<Request>() as u32,
            mode: asked.mode as u32,
            config: Text::from(asked.config),
            root: Text::from(asked.root),
            resources: Text::from(asked.resources),
            options: Text::from(asked.options),
        };
        let mut response = response();
        // SAFETY: request and response are ours and live until the call has returned, and so do the
        // texts that the request points to; the plugin keeps none of them.
        let status = unsafe { (self.run)(&raw const request, &raw mut response) };
        self.take(status, response)
    }

    fn take(&self, status: i32, response: Response) -> Result<Output<'_>, CallError> {
        let output = Output::new(response.output, self);
        let error = Output::new(response.error, self);
        match status {
            0 => output,
            1 => Err(CallError::Failed(error?.to_owned())),
            2 => Err(CallError::Panicked(error?.to_owned())),
            3 => Err(CallError::Unsupported),
            other => Err(CallError::Broken(format!("it returned {other}"))),
        }
    }
}

/// Returns true if memory can have this length.
pub(crate) fn is_length(len: usize) -> bool {
    isize::try_from(len).is_ok()
}

fn response() -> Response {
    Response { size: size_of::<Response>() as u32, ..Response::default() }
}

#[cfg(test)]
mod tests {
    use super::{CallError, Plugin};
    use crate::types::{Buffer, Request, Response};
    use crate::{Asked, Mode};
    use std::ptr::NonNull;

    unsafe extern "C" fn describe(_: *mut Response) -> i32 {
        0
    }

    unsafe extern "C" fn free(_: *mut Buffer) {}

    unsafe extern "C" fn run(_: *const Request, response: *mut Response) -> i32 {
        // SAFETY: the response is the host's.
        let response = unsafe { &mut *response };
        response.output = Buffer { data: NonNull::dangling().as_ptr(), len: usize::MAX, capacity: 0 };
        0
    }

    #[test]
    fn a_length_that_no_memory_has_is_refused() {
        let asked = Asked { mode: Mode::Generate, config: "", root: "/", resources: "", options: "{}" };
        // SAFETY: the functions write to nothing but the response, and free nothing.
        let plugin = unsafe { Plugin::from_parts(describe, run, free) };
        let broken = CallError::Broken(format!("a text of {} bytes", usize::MAX));
        assert_eq!(plugin.run(&asked).map(|output| output.to_owned()), Err(broken));
    }
}
