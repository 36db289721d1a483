//! A command line that is tried out in this process, for the fuzzer.

use super::args::Build;
use super::{args, build};
use crate::workspace::{self, Workspace};
use anyhow::Result;
use std::sync::Arc;

/// Parses the flags of `build` and builds a directory as they say, but for what leads out of this
/// process: nothing is fetched, run or written. The steps may make `limit` bytes.
///
/// # Errors
/// The flags are wrong, or the build fails.
pub fn build(flags: &[String], directory: &str, limit: u64) -> Result<String> {
    let mut given = args::validate(flags)?.build;
    given.directory = vec![directory.to_owned()];
    (given.offline, given.enable_helm, given.enable_alpha_plugins) = (true, None, None);
    given.build_size_limit = Some(given.build_size_limit.unwrap_or(limit).min(limit));
    given.remote_cache = None;
    given.locked = false;
    let mut options = build::options(&given, directory, false)?;
    options.plugins = Arc::new(crate::stage::NoPlugins);
    let files = build::Files::of(&Build { stdin_as: None, ..Build::default() }, directory)?;
    let workspace = Workspace::new();
    let built = workspace::build(&workspace, &*files.loader, directory, &options);
    Ok(built.value?.print()?)
}
