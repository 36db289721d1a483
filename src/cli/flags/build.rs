//! The flags of `build`, and of every other command that builds.

use crate::flags::complete;
use crate::flags::files::FileFlags;
use crate::flags::heading;
use crate::flags::helm::HelmFlags;
use crate::flags::output::OutputFlags;
use crate::flags::plugins::PluginFlags;
use crate::flags::remote::RemoteFlags;
use crate::flags::roots::RootFlags;
use crate::flags::switch::Switch;
use crate::flags::watch::WatchFlags;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;

/// The flags of a build, as typed.
#[derive(Args)]
pub(crate) struct BuildFlags {
    /// The directory with the kustomization, or several [default: .]
    #[arg(value_name = "DIR", num_args = 0.., add = ArgValueCompleter::new(complete::kustomizations))]
    pub directory: Vec<String>,

    #[command(flatten)]
    pub output: OutputFlags,

    #[command(flatten)]
    pub files: FileFlags,

    #[command(flatten)]
    pub roots: RootFlags,

    #[command(flatten)]
    pub watch: WatchFlags,

    /// Run plugins, which can do whatever you can do
    #[arg(long, alias = "enable_alpha_plugins", switch(), help_heading = heading::PLUGINS)]
    pub enable_alpha_plugins: Option<bool>,

    #[command(flatten)]
    pub plugins: PluginFlags,

    #[command(flatten)]
    pub helm: HelmFlags,

    #[command(flatten)]
    pub remote: RemoteFlags,
}
