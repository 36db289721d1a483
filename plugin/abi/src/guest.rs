//! The plugin's side: the four functions for a type that implements [`Guest`], which needs no
//! unsafe code.

use crate::plugin::is_length;
use crate::types::{Buffer, Request, Response, Text};
use crate::{CallError, Mode};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A request to the plugin.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'r> {
    pub mode: Mode,
    /// The configuration object, YAML.
    pub config: &'r str,
    /// The absolute path of the kustomization's directory.
    pub root: &'r str,
    /// YAML documents; empty for a generator.
    pub resources: &'r str,
    /// A JSON object.
    pub options: &'r str,
}

/// A plugin whose inputs and outputs are texts.
pub trait Guest {
    /// The description of the plugin: a JSON object.
    fn describe() -> String;

    /// Carries out a request, and returns YAML documents.
    ///
    /// # Errors
    /// The reason why the plugin failed.
    fn run(asked: Asked<'_>) -> Result<String, CallError>;
}

/// `rustomize_plugin_describe`.
///
/// # Safety
/// `response` is a response of the header, and no other code uses it until this function returns.
pub unsafe extern "C" fn describe<G: Guest>(response: *mut Response) -> i32 {
    answer(
        || Ok(G::describe()),
        |output, error| {
            // SAFETY: the caller keeps the rules under `# Safety`.
            unsafe { write(response, output, error) }
        },
    )
}

/// `rustomize_plugin_run`.
///
/// # Safety
/// `request` and `response` are those of the header, and no other code uses them until this
/// function returns.
pub unsafe extern "C" fn run<G: Guest>(request: *const Request, response: *mut Response) -> i32 {
    // SAFETY: the caller keeps the rules under `# Safety`; a struct begins with its size.
    if unsafe { request.cast::<u32>().read() } < size_of::<Request>() as u32 {
        return answer(
            || Err(CallError::Broken("a request that is too short".to_owned())),
            // SAFETY: the caller keeps the rules under `# Safety`.
            |output, error| unsafe { write(response, output, error) },
        );
    }
    // SAFETY: the caller keeps the rules under `# Safety`; the request outlives this call.
    let asked = unsafe { asked(&*request) };
    answer(
        || G::run(asked?),
        |output, error| {
            // SAFETY: the caller keeps the rules under `# Safety`.
            unsafe { write(response, output, error) }
        },
    )
}

/// `rustomize_plugin_free`.
///
/// # Safety
/// The buffer is all zero, or [`describe`] or [`run`] filled it and it was not freed yet.
pub unsafe extern "C" fn free(buffer: *mut Buffer) {
    // SAFETY: the caller keeps the rules under `# Safety`.
    let buffer = unsafe { &mut *buffer };
    let taken = std::mem::take(buffer);
    if !taken.data.is_null() {
        // SAFETY: these are the parts of a vector that `buffer_of` took apart.
        drop(unsafe { Vec::from_raw_parts(taken.data, taken.len, taken.capacity) });
    }
}

fn answer(call: impl FnOnce() -> Result<String, CallError>, write: impl FnOnce(String, String) -> bool) -> i32 {
    // A panic must not cross the boundary. Data that the panic left incomplete is not used again:
    // each call makes its own.
    let result = catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|fault| Err(CallError::Panicked(words(&*fault))));
    let (status, output, error) = match result {
        Ok(output) => (0, output, String::new()),
        Err(CallError::Failed(why)) => (1, String::new(), why),
        Err(CallError::Panicked(why)) => (2, String::new(), why),
        Err(CallError::Unsupported) => (3, String::new(), String::new()),
        Err(CallError::Broken(how)) => (1, String::new(), how),
    };
    if write(output, error) { status } else { 1 }
}

fn words(fault: &(dyn Any + Send)) -> String {
    let text = fault.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| fault.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

/// # Safety
/// The texts of the request are those of the header.
unsafe fn asked(request: &Request) -> Result<Asked<'_>, CallError> {
    // SAFETY: the caller keeps the rules under `# Safety`.
    let text = |text: &Text| unsafe { lent(text) };
    let modes = [Mode::Generate, Mode::Transform, Mode::Validate];
    let mode = modes.into_iter().find(|mode| *mode as u32 == request.mode).ok_or(CallError::Unsupported)?;
    Ok(Asked {
        mode,
        config: text(&request.config)?,
        root: text(&request.root)?,
        resources: text(&request.resources)?,
        options: text(&request.options)?,
    })
}

/// # Safety
/// There are `len` bytes at `data`, and they stay as long as the request.
unsafe fn lent<'r>(text: &Text) -> Result<&'r str, CallError> {
    if text.len == 0 {
        return Ok("");
    }
    if text.data.is_null() || !is_length(text.len) {
        return Err(CallError::Broken(format!("a text of the request has {} bytes at a null address", text.len)));
    }
    // SAFETY: the caller keeps the rules under `# Safety`.
    let bytes = unsafe { std::slice::from_raw_parts(text.data, text.len) };
    std::str::from_utf8(bytes).map_err(|e| CallError::Broken(format!("a text of the request is not UTF-8: {e}")))
}

/// Fills a response. Returns false, and writes nothing, if the struct is too short.
///
/// # Safety
/// The response is a struct of the header.
unsafe fn write(response: *mut Response, output: String, error: String) -> bool {
    // SAFETY: the caller keeps the rules under `# Safety`; a struct begins with its size.
    if unsafe { response.cast::<u32>().read() } < size_of::<Response>() as u32 {
        return false;
    }
    // SAFETY: the caller keeps the rules under `# Safety`.
    let response = unsafe { &mut *response };
    response.output = buffer_of(output);
    response.error = buffer_of(error);
    true
}

fn buffer_of(text: String) -> Buffer {
    if text.is_empty() {
        return Buffer::default();
    }
    let mut bytes = std::mem::ManuallyDrop::new(text.into_bytes());
    Buffer { data: bytes.as_mut_ptr(), len: bytes.len(), capacity: bytes.capacity() }
}

/// Exports the four functions for a type that implements [`Guest`]. One shared object has one
/// plugin.
#[macro_export]
macro_rules! export {
    ($guest:ty) => {
        const _: () = {
            use $crate::types::{Buffer, Request, Response};

            #[unsafe(no_mangle)]
            extern "C" fn rustomize_plugin_abi_version() -> u32 {
                $crate::ABI_VERSION
            }

            // SAFETY (of all three): rustomize calls them as the header says.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn rustomize_plugin_describe(response: *mut Response) -> i32 {
                unsafe { $crate::guest::describe::<$guest>(response) }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn rustomize_plugin_run(request: *const Request, response: *mut Response) -> i32 {
                unsafe { $crate::guest::run::<$guest>(request, response) }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn rustomize_plugin_free(buffer: *mut Buffer) {
                unsafe { $crate::guest::free(buffer) }
            }
        };
    };
}

/// Calls a guest through the structs of the header, as a host does: for tests of plugins.
///
/// # Errors
/// The guest fails.
pub fn call<G: Guest>(asked: &Asked<'_>) -> Result<String, CallError> {
    // SAFETY: the functions of this module keep the rules of the header for every guest.
    let functions = unsafe { crate::plugin::Plugin::from_parts(describe::<G>, run::<G>, free) };
    functions.run(asked).map(|output| output.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Asked, Guest, free, run};
    use crate::CallError;
    use crate::types::{Request, Response, Text};

    struct Echo;

    impl Guest for Echo {
        fn describe() -> String {
            "{}".to_owned()
        }

        fn run(asked: Asked<'_>) -> Result<String, CallError> {
            Ok(asked.config.to_owned())
        }
    }

    #[test]
    fn what_is_not_there_is_not_read_or_written() {
        let nowhere = Text { data: std::ptr::null(), len: 3 };
        let empty = Text { data: std::ptr::null(), len: 0 };
        let request = |size: usize, config| Request {
            size: size as u32,
            mode: 1,
            config,
            root: empty,
            resources: empty,
            options: empty,
        };
        let call = |request: &Request, size: usize| {
            let mut response = Response { size: size as u32, ..Response::default() };
            // SAFETY: both are structs of the header, and this function owns them.
            let status = unsafe { run::<Echo>(request, &raw mut response) };
            let lengths = (response.output.len, response.error.len);
            for buffer in [&raw mut response.output, &raw mut response.error] {
                // SAFETY: the buffer is empty, or the guest has filled it.
                unsafe { free(buffer) };
            }
            (status, lengths.0, lengths.1 > 0)
        };
        let (whole, room) = (size_of::<Request>(), size_of::<Response>());
        assert_eq!(call(&request(whole, Text::from("abc")), room), (0, 3, false));
        assert_eq!(call(&request(8, Text::from("abc")), room), (1, 0, true));
        assert_eq!(call(&request(whole, nowhere), room), (1, 0, true));
        assert_eq!(call(&request(whole, Text { len: usize::MAX, ..Text::from("abc") }), room), (1, 0, true));
        assert_eq!(call(&request(whole, Text::from("abc")), 8), (1, 0, false));
    }
}
