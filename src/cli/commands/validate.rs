//! `validate`: builds as `build` does, and writes nothing but errors and warnings.

use crate::commands::build::build;
use crate::commands::build::results::Results;
use crate::flags::build::BuildFlags;
use crate::flags::hidden::hidden;
use crate::flags::schemas::SchemaFlags;
use crate::messages::Messages;
use crate::request::BuildRequest;
use anyhow::{Result, bail};
use clap::Args;
use rustomize_base::observe::Observer;

/// `validate`.
#[derive(Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
#[command(mut_args(hidden(["output", "layout", "depfile"])))]
pub(crate) struct Validate {
    #[command(flatten)]
    pub schemas: SchemaFlags,

    #[command(flatten)]
    pub build: BuildFlags,
}

const ABOUT: &str = "Build a kustomization and run its validators, with the flags of 'build', and print nothing: the exit status \
    and the errors say whether it builds.";

const EXAMPLES: &str = "Examples:
  # Check an overlay before a commit
  rustomize validate --enable-alpha-plugins overlays/prod

  # Check every overlay below a directory, and show all faults
  rustomize validate --all --leaves --keep-going deploy

  # Hold the resources to the schemas of Kubernetes 1.31
  rustomize validate --kubernetes-version 1.31 overlays/prod

  # Check what the commits of a branch have changed
  git diff -z --name-only main... | rustomize validate --all --affected-by -";

/// Runs `validate`.
///
/// # Errors
/// The flags are not valid (--output is not allowed), the build fails, or with --schema a resource
/// does not fit the schema of its kind.
pub(crate) fn run(args: Validate, observer: Observer, messages: &mut Messages) -> Result<()> {
    let Validate { build: flags, schemas } = args;
    if flags.output.output.is_some() {
        bail!("'validate' writes nothing, and --output asks for a file: leave it out, or use 'build'");
    }
    let request = BuildRequest::new(flags, observer)?.with_schemas(&schemas)?;
    build(&request, Results::Dropped, messages)
}
