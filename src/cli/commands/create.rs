//! `create`: a new kustomization file.

use crate::commands::edit::words::text;
use crate::flags::compat::{self, Versions};
use crate::flags::complete;
use crate::flags::switch::{Switch, is_on};
use crate::request::plain_options;
use anyhow::Result;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use rustomize_edit::Place;
use rustomize_edit::create::{self, Wanted};

/// `create`.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Create {
    /// Files, directories, repositories and patterns for 'resources', separated by commas
    #[arg(long, value_name = "PATH,...", allow_hyphen_values = true, add = ArgValueCompleter::new(complete::files))]
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
    #[arg(long, switch())]
    pub autodetect: Option<bool>,

    /// With --autodetect: look into directories, and add those with a kustomization
    #[arg(long, switch())]
    pub recursive: Option<bool>,

    /// The version of kustomize that counts, as in 5.7.1 or kubectl-1.34 [default: the newest]
    #[arg(long, value_name = "VERSION", value_parser = compat::version)]
    pub compat: Option<Versions>,

    #[arg(hide = true)]
    pub ignored: Vec<String>,
}

const EXAMPLES: &str = "Examples:
  # Start an overlay of a base
  rustomize create --resources ../base

  # List the files of the working directory that have objects
  rustomize create --autodetect

  # Set several fields
  rustomize create --resources deployment.yaml,service.yaml,../base --namespace staging --nameprefix acme-";

/// Runs `create`.
///
/// # Errors
/// As [`create::create`].
pub(crate) fn run(flags: &Create) -> Result<()> {
    let wanted = Wanted {
        resources: text(&flags.resources),
        namespace: text(&flags.namespace),
        name_prefix: text(&flags.nameprefix),
        name_suffix: text(&flags.namesuffix),
        labels: text(&flags.labels),
        annotations: text(&flags.annotations),
        detects: is_on(flags.autodetect),
        is_recursive: is_on(flags.recursive),
    };
    Ok(create::create(&Place::new(plain_options(flags.compat)?), &wanted)?)
}
