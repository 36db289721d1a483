//! The C compiler of this machine.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// True if this machine has a C compiler.
#[expect(clippy::disallowed_methods, reason = "a real compiler makes real files")]
pub fn has_compiler() -> bool {
    Command::new("cc").arg("--version").output().is_ok()
}

/// Runs the C compiler; `None` without one.
pub fn cc(from: &Path, to: &PathBuf, args: &[&str]) -> Option<()> {
    #[expect(clippy::disallowed_methods, reason = "a real compiler makes real files")]
    let mut command = Command::new("cc");
    let output = command.args(args).arg("-o").arg(to).arg(from).stdin(Stdio::null()).output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(())
}
