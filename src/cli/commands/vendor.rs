//! `vendor`: copies the remote parts of kustomizations beside them, and locks their versions.

use crate::flags::build::BuildFlags;
use crate::flags::hidden::hidden;
use crate::messages::Messages;
use crate::request::BuildRequest;
use crate::{host, roots, writer};
use anyhow::{Context, Result, bail};
use clap::Args;
use rustomize_base::observe::Observer;
use rustomize_base::windows_path::slashed;
use rustomize_engine::load::RepoSpec;
use rustomize_engine::load::artifact_reference::is_artifact;
use rustomize_engine::workspace;
use rustomize_sources::Disk;
use rustomize_sources::lock::{FILE, RemoteLock};
use rustomize_sources::vendor::{Copies, write};
use std::path::Path;

/// `vendor`.
#[derive(Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
#[command(mut_args(hidden(["output", "layout", "depfile", "shard", "locked", "each"])))]
pub(crate) struct Vendor {
    /// Write the lock alone: 'build --locked' fetches what the cache does not have
    #[arg(long)]
    pub lock_only: bool,

    #[command(flatten)]
    pub build: BuildFlags,
}

const ABOUT: &str = "Build a kustomization, with the flags of 'build', and copy the remote parts that the build uses into \
    .kustomization.vendor beside it. kustomization.lock gets their versions and checksums. 'build --locked' uses exactly these. \
    A failed command leaves the lock as it was.";

const EXAMPLES: &str = "Examples:
  # Lock the remote bases and charts of an overlay, and build it without the network
  rustomize vendor --enable-helm overlays/prod
  rustomize build --enable-helm --locked --offline overlays/prod

  # Lock the versions, without copies
  rustomize vendor --lock-only overlays/prod";

/// Runs `vendor`.
///
/// # Errors
/// The flags are not valid, a build fails, or files cannot be written. The lock of that root is
/// unchanged then.
pub(crate) fn run(args: Vendor, observer: Observer, messages: &mut Messages) -> Result<()> {
    let flags = args.build;
    if flags.remote.locked {
        bail!("'vendor' makes the lock that --locked uses: leave --locked out");
    }
    if flags.output.output.is_some() || flags.roots.shard.is_some() {
        bail!("'vendor' prints no resources: leave --output and --shard out");
    }
    let copies = if args.lock_only { Copies::Dropped } else { Copies::Kept };
    let request = BuildRequest::new(flags, observer)?;
    for root in &roots::directories(&request)? {
        let lock = vendor(&request, root, copies, messages).with_context(|| format!("in {root}"))?;
        let count = lock.parts().count();
        let parts = if count == 1 { "remote part" } else { "remote parts" };
        let line = format!("{}: {count} {parts}", slashed(Path::new(root).join(FILE)).display());
        writer::say(&line);
    }
    Ok(())
}

/// Builds a root and locks its remote parts.
fn vendor(request: &BuildRequest, root: &str, copies: Copies, messages: &mut Messages) -> Result<RemoteLock> {
    if RepoSpec::parse(root).is_some() || is_artifact(root) {
        bail!("'{root}' is not on this machine: a lock is written beside a local kustomization");
    }
    let directory = Path::new(root);
    let (options, remote_parts) = request.options_and_remote_parts(root)?;
    // Two commands would remove each other's copies.
    let _lock = rustomize_files::lock(directory, || {});
    let workspace = request.workspace();
    let disk = Disk::new();
    let built = workspace::build(&workspace, &disk, root, &options);
    for warning in built.warnings {
        messages.warning(&warning);
    }
    built.value?;
    Ok(write(&remote_parts, directory, copies, host::children())?)
}
