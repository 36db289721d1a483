//! The `apiVersion` and `kind` of the plugin manager's own files.

use crate::config::{Decoder, Written};
use crate::diag::{Code, Result};
use rustomize_yaml::Pos;

/// The `apiVersion` of all these files.
pub const API_VERSION: &str = "rustomize.dev/v1";

/// The `apiVersion` and `kind` of a file.
pub struct FileHead<'h> {
    pub api_version: Written<'h>,
    pub kind: Written<'h>,
}

/// Checks the head of a file of the manager, which begins at `pos` and has to be of a kind.
///
/// # Errors
/// One of the fields is missing, or has another value.
pub fn check_head(cx: &Decoder<'_>, pos: Pos, head: FileHead<'_>, kind: &str) -> Result<()> {
    for (field, found, want) in [("apiVersion", head.api_version, API_VERSION), ("kind", head.kind, kind)] {
        if found.text.is_empty() {
            return Err(cx
                .error(pos, format!("missing field \"{field}\""))
                .with_code(Code::MissingField)
                .hint(format!("write {field}: {want}")));
        }
        if found.text != want {
            let error = cx.error(found.pos, format!("{field} should be {want}, not '{}'", found.text));
            return Err(error.hint(format!("write {field}: {want}")));
        }
    }
    Ok(())
}
