//! The machine of the user, as this process sees it.

use crate::host::{children, host};
use crate::{cache, flags::transfer::TransferFlags};
use rustomize_base::search_path::SearchPath;
use rustomize_manager::install::session::TransferOptions;
use rustomize_manager::policy::machine::Machine;
use std::path::{Path, PathBuf};

/// The machine of the user.
pub(super) fn machine() -> Machine {
    Machine { host: host(), children: children().clone(), cache: cache::writable(), user_cache: cache::of_user() }
}

impl From<TransferFlags> for TransferOptions {
    fn from(flags: TransferFlags) -> Self {
        TransferOptions { offline: flags.offline, parallel: flags.parallel, size_limit: flags.size_limit }
    }
}

/// The machine of the user for a command that keeps nothing: no cache is made for it.
pub(super) fn machine_without_cache() -> Machine {
    Machine { host: host(), children: children().clone(), cache: None, user_cache: None }
}

/// The first file with a name in the directories of `PATH`.
pub(super) fn in_path(name: impl AsRef<Path>) -> Option<PathBuf> {
    SearchPath::of(&*host()).find(name, Path::is_file)
}
