//! `vendor`: copies the remote parts of kustomizations beside them, and locks their versions.

use super::messages::Messages;
use super::remote_args::Vendor;
use super::{build, roots, signals, writer};
use crate::load::Disk;
use crate::load::RepoSpec;
use crate::load::artifact_reference::is_artifact;
use crate::load::lock::{FILE, RemoteLock};
use crate::load::vendor::{Copies, write};
use crate::workspace::{self, Workspace};
use anyhow::{Context, Result, bail};
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use std::path::Path;

/// Runs `vendor`.
///
/// # Errors
/// Flags that cannot be, a build that fails, or files that cannot be written. The lock of that root
/// is as before then.
pub fn run(command: &Vendor, messages: &mut Messages) -> Result<()> {
    let args = &command.build;
    if args.locked {
        bail!("'vendor' makes the lock that --locked uses: leave --locked out");
    }
    if args.output.is_some() || args.shard.is_some() {
        bail!("'vendor' prints no resources: leave --output and --shard out");
    }
    let copies = if command.lock_only { Copies::Dropped } else { Copies::Kept };
    for (i, root) in roots::directories(args)?.iter().enumerate() {
        let lock = vendor(command, root, copies, i == 0, messages).with_context(|| format!("in {root}"))?;
        let count = lock.parts().count();
        let parts = if count == 1 { "remote part" } else { "remote parts" };
        let line = format!("{}: {count} {parts}", Path::new(root).join(FILE).display());
        writer::say(&line);
    }
    Ok(())
}

/// Builds a root and locks its remote parts.
fn vendor(command: &Vendor, root: &str, copies: Copies, first: bool, messages: &mut Messages) -> Result<RemoteLock> {
    if RepoSpec::parse(root).is_some() || is_artifact(root) {
        bail!("a lock is written beside a kustomization of this machine, and '{root}' is from elsewhere");
    }
    let directory = Path::new(root);
    let options = build::options(&command.build, root, first)?;
    // Two commands would remove each other's copies.
    let handle = open(directory, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let handle = handle.with_context(|| format!("cannot open '{root}'"))?;
    flock(&handle, FlockOperation::LockExclusive).with_context(|| format!("cannot lock '{root}'"))?;
    let workspace = command.build.jobs.map_or_else(Workspace::new, Workspace::with_jobs);
    let disk = Disk::new();
    let built = workspace::build(&workspace, &disk, root, &options);
    for warning in built.warnings {
        messages.warning(&warning, None);
    }
    let output = built.value?;
    Ok(write(output.remote_parts(), directory, copies, signals::children())?)
}
