//! The flags of `vendor` and `cache`.

use super::args::{Build, Format};
use clap::{Args, Subcommand};

/// The long description of `vendor`.
pub const VENDOR: &str = "Build a kustomization, with the flags of 'build', and copy the remote parts that the build uses into \
    .kustomization.vendor beside it. kustomization.lock gets their versions and checksums. 'build --locked' uses exactly these. \
    A failed command leaves the lock as it was.";

/// The examples of `vendor`.
pub const VENDOR_EXAMPLES: &str = "Examples:
  # Lock the remote bases and charts of an overlay, and build it without the network
  rustomize vendor --enable-helm overlays/prod
  rustomize build --enable-helm --locked --offline overlays/prod

  # Lock the versions, without copies
  rustomize vendor --lock-only overlays/prod";

/// `vendor`.
#[derive(Args)]
#[command(mut_arg("output", |flag| flag.hide(true)), mut_arg("layout", |flag| flag.hide(true)))]
#[command(mut_arg("depfile", |flag| flag.hide(true)), mut_arg("shard", |flag| flag.hide(true)))]
#[command(mut_arg("locked", |flag| flag.hide(true)))]
pub struct Vendor {
    /// Write the lock alone: 'build --locked' fetches what the cache does not have
    #[arg(long)]
    pub lock_only: bool,

    #[command(flatten)]
    pub build: Build,
}

/// `cache`.
#[derive(Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub struct CacheCommand {
    #[command(subcommand)]
    pub verb: CacheVerb,
}

/// The verbs of `cache`.
#[derive(Subcommand)]
pub enum CacheVerb {
    /// Print the directory
    Dir,
    /// List the remote parts, with the size of each
    List {
        /// How to print: text or json
        #[arg(short, long, value_name = "FORMAT", default_value = "text")]
        output: Format,
    },
    /// Remove all remote parts; builds fetch what they need again
    Clean,
}
