//! The flags of `create` and `localize`, exactly as typed: those of kustomize, and `--enable-helm`.

use super::compat::{self, Versions};
use super::switch::switch;
use clap::Args;

pub const CREATE_EXAMPLES: &str = "Examples:
  # Start an overlay of a base
  rustomize create --resources ../base

  # List the files of the working directory that have objects
  rustomize create --autodetect

  # Set several fields
  rustomize create --resources deployment.yaml,service.yaml,../base --namespace staging --nameprefix acme-";

/// `create`.
#[derive(Args)]
pub struct Create {
    /// Files, directories, repositories and patterns for 'resources', separated by commas
    #[arg(long, value_name = "PATH,...", allow_hyphen_values = true)]
    pub resources: Option<String>,

    /// The value of 'namespace'
    #[arg(long, value_name = "NAMESPACE", allow_hyphen_values = true)]
    pub namespace: Option<String>,

    /// The entries of 'commonAnnotations', separated by commas
    #[arg(long, value_name = "KEY:VALUE,...", allow_hyphen_values = true)]
    pub annotations: Option<String>,

    /// The entries of 'commonLabels', separated by commas
    #[arg(long, value_name = "KEY:VALUE,...", allow_hyphen_values = true)]
    pub labels: Option<String>,

    /// The value of 'namePrefix'
    #[arg(long, value_name = "PREFIX", allow_hyphen_values = true)]
    pub nameprefix: Option<String>,

    /// The value of 'nameSuffix'
    #[arg(long, value_name = "SUFFIX", allow_hyphen_values = true)]
    pub namesuffix: Option<String>,

    /// Add the files of the working directory that have objects to 'resources'
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", value_parser = switch)]
    pub autodetect: Option<bool>,

    /// With --autodetect: look into directories, and add those with a kustomization
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", value_parser = switch)]
    pub recursive: Option<bool>,

    /// The version of kustomize that counts, as in 5.7.1 or kubectl-1.34 [default: the newest]
    #[arg(long, value_name = "VERSION", value_parser = compat::flag)]
    pub compat: Option<Versions>,

    #[arg(hide = true)]
    pub ignored: Vec<String>,
}

pub const LOCALIZE: &str = "Copy a kustomization with all that it names into a new directory. Remote files and repositories \
    become files below 'localized-files' of the copy, and the fields name those. The original and the copy are built, \
    and their results must be the same. The fields of the copied kustomization files are sorted, and comments are \
    lost, as with kustomize. A failure leaves nothing behind.";

pub const LOCALIZE_EXAMPLES: &str = "Examples:
  # Copy the working directory to ./localized-NAME
  rustomize localize

  # Copy an overlay that uses a base beside it
  rustomize localize overlays/prod /tmp/copy --scope .

  # Copy a version of a repository
  rustomize localize 'https://github.com/example/app//deploy?ref=v1.2.3' vendor/app";

/// `localize`.
#[derive(Args)]
pub struct Localize {
    /// The directory or repository with the kustomization [default: .]
    #[arg(value_name = "TARGET")]
    pub target: Option<String>,

    /// The directory of the copy: it must not exist, and its parent must
    /// [default: ./localized-NAME]
    #[arg(value_name = "DESTINATION")]
    pub destination: Option<String>,

    /// The directory that local paths cannot leave; not for repositories [default: TARGET]
    #[arg(long, value_name = "DIR", allow_hyphen_values = true)]
    pub scope: Option<String>,

    /// Do not build the original and the copy
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", value_parser = switch)]
    pub no_verify: Option<bool>,

    /// Let both builds run helm
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", value_parser = switch)]
    pub enable_helm: Option<bool>,

    /// The version of kustomize that builds both, as in 5.7.1 or kubectl-1.34 [default: the newest]
    #[arg(long, value_name = "VERSION", value_parser = compat::flag)]
    pub compat: Option<Versions>,
}
