//! `plugin`: makes plugins.

use super::args::Plugin;
use super::build;
use crate::plugin::{PluginOptions, go};
use anyhow::Result;
use std::io::Write;

/// Runs `plugin`.
///
/// # Errors
/// What the subcommand says.
pub fn run(command: &Plugin) -> Result<()> {
    let variable = |name: &str| std::env::var_os(name);
    let options = PluginOptions {
        host: std::env::current_exe().ok(),
        go_hosts: build::go_hosts(|name| variable(name).map(Into::into)),
        stderr: |bytes| drop(std::io::stderr().write_all(bytes)),
        ..PluginOptions::default()
    };
    let built = match command {
        Plugin::Build { directory, output } => go::build(directory, output.as_deref(), &options)?,
        Plugin::Adopt { file } => go::adopt(file, &options)?,
    };
    writeln!(std::io::stdout(), "{}: {} ({})", built.path.display(), built.modes.join(", "), built.go)?;
    Ok(())
}
