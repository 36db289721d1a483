//! Archives of plugins. See [`rustomize_sources::archive`].

use crate::diag::{Code, Result};
use crate::id::content::is_own;
use rustomize_sources::archive;
use std::path::Path;

/// Writes the content of an archive of a plugin into an empty directory; bytes that are not an
/// archive become the file `name` there.
///
/// # Errors
/// As [`archive::unpack`].
pub fn unpack(shown: &str, bytes: &[u8], name: &str, into: &Path) -> Result<()> {
    let unpacked = archive::unpack(shown, bytes, name, into, is_own);
    unpacked.map_err(|e| e.with_code(Code::BadPlugin).hint("nothing was installed"))
}
