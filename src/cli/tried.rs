//! Runs a command line in this process, for the fuzzer.

use crate::cli::arguments;
use crate::cli::commands::validate::Validate;
use crate::cli::flags::build::BuildFlags;
use crate::cli::flags::files::FileFlags;
use crate::cli::flags::helm::HelmFlags;
use crate::cli::flags::remote::RemoteFlags;
use crate::cli::request::BuildRequest;
use crate::load::Disk;
use crate::stage::NoPlugins;
use crate::workspace::{self, Workspace};
use anyhow::Result;
use rustomize_base::observe::Observer;
use std::sync::Arc;

/// Parses the flags of `build` and builds a directory, without effects outside of this process:
/// nothing is fetched, run or written. The steps may make `limit` bytes.
///
/// # Errors
/// The flags are wrong, or the build fails.
pub fn build(flags: &[String], directory: &str, limit: u64) -> Result<String> {
    let Validate { build: given, .. } = arguments::validate(flags)?;
    let build_size_limit = Some(given.files.build_size_limit.unwrap_or(limit).min(limit));
    let kept = BuildFlags {
        directory: vec![directory.to_owned()],
        enable_alpha_plugins: None,
        files: FileFlags { build_size_limit, stdin_as: None, ..given.files },
        helm: HelmFlags { enable_helm: None, ..given.helm },
        remote: RemoteFlags { offline: true, locked: false, remote_cache: None, ..given.remote },
        ..given
    };
    let request = BuildRequest::new(kept, Observer::default())?;
    let mut options = request.options(directory)?;
    options.plugins = Arc::new(NoPlugins);
    let (workspace, disk) = (Workspace::new(), Disk::new());
    let built = workspace::build(&workspace, &disk, directory, &options);
    Ok(built.value?.print()?)
}
