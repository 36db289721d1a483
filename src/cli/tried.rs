//! Runs a command line in this process, for the fuzzer.

use crate::arguments;
use crate::commands::validate::Validate;
use crate::flags::build::BuildFlags;
use crate::flags::files::FileFlags;
use crate::flags::helm::HelmFlags;
use crate::flags::remote::RemoteFlags;
use crate::request::BuildRequest;
use anyhow::Result;
use rustomize_base::observe::Observer;
use rustomize_engine::stage::NoPlugins;
use rustomize_engine::workspace::{self, Workspace};
use rustomize_sources::Disk;
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
