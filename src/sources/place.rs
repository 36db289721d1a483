//! The places from which remote parts come, in the words of `--verbose`.

pub const BESIDE_LOCK: &str = "the copy beside the lock";
pub const CACHE: &str = "the cache";
pub const SERVER: &str = "the server";
