//! `localize`: a copy of a kustomization whose remote parts are files.

use crate::flags::compat::{self, Versions};
use crate::flags::complete;
use crate::flags::switch::{Switch, is_on};
use crate::messages::Messages;
use crate::request::plain_options;
use crate::{host, writer};
use anyhow::Result;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use rustomize_edit::localize::{self, LocalizeRequest};
use rustomize_engine::stage::HelmOptions;
use rustomize_sources::HelmProgram;
use std::sync::Arc;

/// `localize`.
#[derive(Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Localize {
    /// The directory or repository with the kustomization [default: .]
    #[arg(value_name = "TARGET", add = ArgValueCompleter::new(complete::directories))]
    pub target: Option<String>,

    /// The directory of the copy: it must not exist, and its parent must
    /// [default: ./localized-NAME]
    #[arg(value_name = "DESTINATION")]
    pub destination: Option<String>,

    /// The directory that local paths cannot leave; not for repositories [default: TARGET]
    #[arg(long, value_name = "DIR", allow_hyphen_values = true, add = ArgValueCompleter::new(complete::directories))]
    pub scope: Option<String>,

    /// Do not build the original and the copy
    #[arg(long, switch())]
    pub no_verify: Option<bool>,

    /// Let both builds run helm
    #[arg(long, switch())]
    pub enable_helm: Option<bool>,

    /// The version of kustomize that builds both, as in 5.7.1 or kubectl-1.34 [default: the newest]
    #[arg(long, value_name = "VERSION", value_parser = compat::version)]
    pub compat: Option<Versions>,
}

const ABOUT: &str = "Copy a kustomization with all that it names into a new directory. Remote files and repositories \
    become files below 'localized-files' of the copy, and the fields name those. The original and the copy are built, \
    and their results must be the same. The fields of the copied kustomization files are sorted, and comments are \
    lost, as with kustomize. A failure leaves nothing behind.";

const EXAMPLES: &str = "Examples:
  # Copy the working directory to ./localized-NAME
  rustomize localize

  # Copy an overlay that uses a base beside it
  rustomize localize overlays/prod /tmp/copy --scope .

  # Copy a version of a repository
  rustomize localize 'https://github.com/example/app//deploy?ref=v1.2.3' vendor/app";

/// Runs `localize`.
///
/// # Errors
/// As [`localize::localize`].
pub(crate) fn run(flags: &Localize, messages: &mut Messages) -> Result<()> {
    let mut options = plain_options(flags.compat)?;
    let children = host::children();
    let program = Arc::new(HelmProgram { children: children.clone(), host: host::host(), ..HelmProgram::default() });
    options.helm = HelmOptions { enabled: is_on(flags.enable_helm), program, ..HelmOptions::default() };
    let target = flags.target.as_deref().unwrap_or(".");
    let is_verified = !is_on(flags.no_verify);
    let made = localize::localize(&LocalizeRequest {
        target,
        scope: flags.scope.as_deref().unwrap_or_default(),
        destination: flags.destination.as_deref().unwrap_or_default(),
        is_verified,
        options: &options,
        children,
    });
    for warning in made.warnings {
        messages.warning(&warning);
    }
    let place = made.value?;
    let place = place.display();
    if is_verified {
        let words = "are the same after localization.";
        writer::say(&format!("VERIFICATION SUCCESS: `kustomize build` for {target} and {place} {words}"));
    }
    writer::say(&format!("SUCCESS: localized \"{target}\" to directory {place}"));
    Ok(())
}
