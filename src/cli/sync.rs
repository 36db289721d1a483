//! Synchronizes the bundles of an environment with its server.

use crate::cli::installer::transfer;
use crate::manager::fetch::FetchLimits;
use crate::manager::policy::Policy;
use crate::manager::policy::environment::Environment;
use crate::manager::share::sync::{self, SyncCounts};
use anyhow::{Result, bail};

/// Makes the local bundles of an environment the same as those of its server.
///
/// # Errors
/// The server is not trusted or cannot be asked, or a file cannot be written.
pub fn sync_environment(environment: &Environment, server: &str, policy: &Policy) -> Result<SyncCounts> {
    let server = server.trim_end_matches('/');
    policy.trust.check_server(server, &environment.name)?;
    let Some(place) = &environment.synced else {
        bail!("the directory for synced files is not known\n  hint: set HOME, XDG_CACHE_HOME or RUSTOMIZE_CACHE_DIR")
    };
    Ok(sync::sync(&transfer(false, FetchLimits::default().size, None), server, &environment.name, place)?)
}
