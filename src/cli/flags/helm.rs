//! The flags of helm.

use crate::flags::heading;
use crate::flags::switch::Switch;
use clap::Args;

/// How charts are made into resources.
#[derive(Args)]
pub(crate) struct HelmFlags {
    /// Run helm for 'helmCharts'; charts can do what helm lets them
    #[arg(long, alias = "enable_helm", switch(), help_heading = heading::HELM)]
    pub enable_helm: Option<bool>,

    /// The helm to run: a path, or a name in PATH
    #[arg(long, alias = "helm_command", value_name = "COMMAND", default_value = "helm", help_heading = heading::HELM, hide_short_help = true)]
    pub helm_command: String,

    /// An API version for .Capabilities.APIVersions; may be repeated
    #[arg(long, value_name = "VERSION", help_heading = heading::HELM, hide_short_help = true)]
    pub helm_api_versions: Vec<String>,

    /// The version of Kubernetes for .Capabilities.KubeVersion
    #[arg(long, value_name = "VERSION", default_value = "", hide_default_value = true, help_heading = heading::HELM, hide_short_help = true)]
    pub helm_kube_version: String,

    /// Let helm print its steps
    #[arg(long, switch(), help_heading = heading::HELM, hide_short_help = true)]
    pub helm_debug: Option<bool>,

    /// Let helm use your own logins and repositories
    ///
    /// Charts whose kustomization names a 'configHome' ignore it.
    #[arg(long, help_heading = heading::HELM, hide_short_help = true)]
    pub helm_user_config: bool,
}
