//! Systems without locks of directories.

use std::fs::File;
use std::path::Path;

/// Takes no lock.
pub fn lock(_: &Path, _: impl FnOnce()) -> Option<File> {
    None
}
