//! Where builds get their inputs: the files of this machine, remote parts, and rendered charts.
//! Each is behind a trait of the engine.
//!
//! * [`Disk`]: the files of this machine; [`Remembered`]: the same for many looks at them;
//!   [`limit`]: files that are read as a whole; [`links`]: where paths lead when links are
//!   followed.
//! * [`reach`]: the directories that this process may read.
//! * [`remote`]: the remote parts of builds; [`lock`]: their versions and checksums; [`vendor`]:
//!   their copies beside a lock; [`cache`]: their copies that are kept between builds; `owner`: the
//!   owners of directories.
//! * [`git`]: clones of repositories; [`git_command`]: the arguments of git.
//! * [`artifacts`]: directories in OCI registries; [`oci`]: registries; `challenge`: their servers
//!   of tokens; [`archive`]: archives that were fetched.
//! * [`http`]: files over HTTP; [`client`]: servers that are asked several times; [`sum`]:
//!   checksums.
//! * [`helm`]: renders charts by running helm.

pub mod archive;
pub mod artifacts;
pub mod cache;
mod challenge;
pub mod client;
pub mod disk;
pub mod git;
pub mod git_command;
pub mod helm;
pub mod http;
pub mod limit;
pub mod links;
pub mod lock;
pub mod oci;
#[cfg_attr(windows, path = "owner_by_profile.rs")]
#[cfg_attr(not(any(unix, windows)), path = "without_owner.rs")]
mod owner;
pub mod place;
pub mod reach;
pub mod remembered;
pub mod remote;
pub mod sum;
pub mod vendor;

pub use disk::Disk;
pub use helm::HelmProgram;
pub use limit::ReadFile;
pub use lock::Lock;
pub use remembered::Remembered;
pub use remote::RemoteParts;

use rustomize_base::host::Host;
use rustomize_engine::diag;
use rustomize_engine::load::{FileLimit, RepoSpec, host, is_url};
use rustomize_process::Children;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Options for remote files and repositories.
#[derive(Clone, Debug)]
pub struct RemoteOptions {
    /// The directory that keeps clones between builds; `None` if they are not kept.
    pub cache: Option<PathBuf>,
    /// True if nothing is fetched: a part that the cache lacks is an error.
    pub offline: bool,
    /// The time limit of one fetch over HTTP, and of one git command for a reference without a
    /// limit.
    pub timeout: Option<Duration>,
    /// The largest size of a file over HTTP, in bytes.
    pub size_limit: u64,
    /// The lock that the build must follow.
    pub lock: Option<Arc<Lock>>,
    /// The secrets of the user for registries.
    pub secrets: Secrets,
    /// The runner of git.
    pub children: Children,
}

impl RemoteOptions {
    /// Returns true if other options fetch the same parts in the same way.
    fn is_same(&self, other: &RemoteOptions) -> bool {
        let RemoteOptions { cache, offline, timeout, size_limit, lock, secrets, children: _ } = self;
        (cache, offline, timeout) == (&other.cache, &other.offline, &other.timeout)
            && (size_limit, lock, secrets) == (&other.size_limit, &other.lock, &other.secrets)
    }
}

/// The host that has the secrets of the user for registries; none by default.
#[derive(Clone, Debug, Default)]
pub struct Secrets(pub Option<Arc<dyn Host>>);

impl Secrets {
    /// The token, or `user:password`, for a server.
    pub fn token(&self, server: &str) -> Option<String> {
        self.0.as_ref()?.token(server)
    }
}

impl PartialEq for Secrets {
    /// The same host.
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(host), Some(other)) => Arc::ptr_eq(host, other),
            (host, other) => host.is_none() && other.is_none(),
        }
    }
}

impl Eq for Secrets {}

impl Default for RemoteOptions {
    fn default() -> Self {
        RemoteOptions {
            cache: None,
            offline: false,
            timeout: None,
            size_limit: 64 << 20,
            lock: None,
            secrets: Secrets::default(),
            children: Children::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{RemoteOptions, Secrets};
    use rustomize_base::host::NoHost;
    use std::sync::Arc;

    /// A workspace keeps what it has read for builds with equal options.
    #[test]
    fn options_are_equal_if_their_secrets_come_from_one_host() {
        let of_host = |host: &Arc<NoHost>| {
            let secrets = Secrets(Some(Arc::clone(host) as _));
            RemoteOptions { secrets, ..RemoteOptions::default() }
        };
        let one = Arc::new(NoHost);
        assert!(RemoteOptions::default().is_same(&RemoteOptions::default()));
        assert!(of_host(&one).is_same(&of_host(&one)));
        assert!(!of_host(&one).is_same(&RemoteOptions::default()));
    }
}
