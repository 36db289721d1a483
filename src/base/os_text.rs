//! Texts of the system, such as paths, that are read from other programs as bytes.

use std::ffi::OsString;

/// The text of the system that bytes stand for: any bytes are one. No copy is made.
#[cfg(unix)]
pub fn from_bytes(bytes: Vec<u8>) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
}

/// The text of the system that bytes stand for: programs print UTF-8 here. Other bytes become
/// replacement characters, so that the text names nothing that exists. O(bytes).
#[cfg(not(unix))]
pub fn from_bytes(bytes: Vec<u8>) -> OsString {
    String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()).into()
}
