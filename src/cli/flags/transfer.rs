//! How plugins are fetched.

use crate::flags::size::size;
use clap::Args;
use rustomize_manager::fetch::FetchLimits;
use rustomize_manager::install::PARALLEL;

/// How plugins are fetched.
#[derive(Args, Clone, Copy)]
pub struct TransferFlags {
    /// Fetch nothing: use installed plugins and the cache
    #[arg(long)]
    pub offline: bool,

    /// The number of plugins that are fetched and unpacked at the same time
    #[arg(long, value_name = "NUMBER", default_value_t = PARALLEL)]
    pub parallel: usize,

    /// The largest size of a plugin's file, as in 64MiB
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = size)]
    pub size_limit: u64,
}

impl Default for TransferFlags {
    fn default() -> Self {
        TransferFlags { offline: false, parallel: PARALLEL, size_limit: FetchLimits::default().size }
    }
}
