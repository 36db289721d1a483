//! The structs of `rustomize_plugin.h`, field by field. tests/header.rs compares sizes and offsets
//! with those of a C compiler.

use std::ptr;

/// A text that is lent for a call.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Text {
    pub data: *const u8,
    pub len: usize,
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text { data: text.as_ptr(), len: text.len() }
    }
}

/// A text that a plugin has made.
#[derive(Debug)]
#[repr(C)]
pub struct Buffer {
    pub data: *mut u8,
    pub len: usize,
    pub capacity: usize,
}

impl Default for Buffer {
    fn default() -> Self {
        Buffer { data: ptr::null_mut(), len: 0, capacity: 0 }
    }
}

/// A request to a plugin.
#[derive(Debug)]
#[repr(C)]
pub struct Request {
    pub size: u32,
    pub mode: u32,
    pub config: Text,
    pub root: Text,
    pub resources: Text,
    pub options: Text,
}

/// The answer of a plugin.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Response {
    pub size: u32,
    pub flags: u32,
    pub output: Buffer,
    pub error: Buffer,
}

/// `rustomize_plugin_abi_version`.
pub type AbiVersion = unsafe extern "C" fn() -> u32;
/// `rustomize_plugin_describe`.
pub type Describe = unsafe extern "C" fn(*mut Response) -> i32;
/// `rustomize_plugin_run`.
pub type Run = unsafe extern "C" fn(*const Request, *mut Response) -> i32;
/// `rustomize_plugin_free`.
pub type Free = unsafe extern "C" fn(*mut Buffer);
