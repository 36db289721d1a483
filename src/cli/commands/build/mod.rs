//! `build`: builds a root, and writes its resources.

pub(crate) mod depfile;
pub(crate) mod results;
pub(crate) mod several;
pub(crate) mod verdict;

use crate::commands::build::depfile::Rule;
use crate::commands::build::verdict::Verdict;
use crate::flags::build::BuildFlags;
use crate::groups::{Grouping, grouped};
use crate::messages::Messages;
use crate::request::BuildRequest;
use crate::root_files::RootFiles;
use crate::settings::RootSettings;
use crate::{output, status_line};
use anyhow::{Result, bail};
use clap::Args;
use results::{Results, strictly};
use rustomize_base::observe::Observer;
use rustomize_engine::workspace;
use std::mem::ManuallyDrop;
use std::path::Path;

/// `build`.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Build {
    #[command(flatten)]
    pub build: BuildFlags,
}

const EXAMPLES: &str = "Examples:
  # Build the current directory
  rustomize build

  # Build an overlay and apply it
  rustomize build overlays/prod | kubectl apply -f -

  # Build with exec plugins from $XDG_CONFIG_HOME/kustomize/plugin
  rustomize build --enable-alpha-plugins overlays/prod

  # One file per object
  rustomize build overlays/prod -o rendered/

  # Patch what another tool prints: the kustomization has all.yaml among its resources
  helm template web charts/web | rustomize build overlays/helm --stdin-as all.yaml

  # Every overlay below a directory, one file each
  rustomize build --all --leaves deploy -o rendered/

Exit status: 0 success, 1 error, 130 interrupted, 141 the reader of the output has gone.";

/// Runs `build`.
///
/// # Errors
/// The flags are not valid, the build fails, or the output cannot be written. Nothing is on stdout
/// then.
pub(crate) fn run(args: Build, observer: Observer, messages: &mut Messages) -> Result<()> {
    build(&BuildRequest::new(args.build, observer)?, Results::Written, messages)
}

/// Builds the roots of a request.
///
/// # Errors
/// As [`run`].
pub(crate) fn build(request: &BuildRequest, results: Results, messages: &mut Messages) -> Result<()> {
    let (roots, wanted) = (&request.roots, &request.output);
    let directory = match request.directories.as_slice() {
        _ if roots.all || roots.shard.is_some() || wanted.layout.is_some() => {
            return several::build(request, results, messages);
        }
        [] => ".",
        [directory] => directory,
        _ if request.stdin_as.is_some() => bail!("--stdin-as is for one directory"),
        _ => return several::build(request, results, messages),
    };
    if wanted.depfile.is_some() && wanted.output.as_deref().is_some_and(Path::is_dir) {
        bail!("--depfile needs one file for a result, and the one that --output names is a directory");
    }
    let options = request.options(directory)?;
    // The process ends after this: its texts need not be freed.
    let workspace = ManuallyDrop::new(request.workspace());
    let files = RootFiles::of(request, directory)?;
    let built = workspace::build(&workspace, &*files.loader, directory, &options);
    status_line::end();
    for warning in &built.warnings {
        messages.warning(warning);
    }
    let output = built.value?;
    files.check_given(&output)?;
    if wanted.strict {
        let allowed = RootSettings::above(directory)?;
        let findings = allowed.others(output.findings().to_vec());
        let findings = grouped(findings, None, Grouping::found(roots.each));
        strictly(allowed.others(built.warnings).len(), &findings, messages)?;
    }
    if results == Results::Dropped {
        // `build` fails for a resource that cannot be printed, and so does `validate`.
        output.check_printable()?;
        let mut verdict = Verdict::new(roots.each);
        if let Some(known) = &request.known {
            verdict.add(output.check(known)?, None);
        }
        output.leave();
        return verdict.end(messages);
    }
    output::write(&output, wanted.output.as_deref())?;
    if let (Some(depfile), Some(target)) = (&wanted.depfile, &wanted.output) {
        depfile::write(depfile, &[Rule { target: target.clone(), files: output.files() }])?;
    }
    output.leave();
    Ok(())
}
