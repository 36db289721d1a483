//! The arguments of `lint`.

use super::args::{Build, heading};
use crate::diag::Code;
use clap::Args;

/// `lint`.
#[derive(Args)]
#[command(mut_arg("output", |flag| flag.hide(true)), mut_arg("layout", |flag| flag.hide(true)))]
#[command(mut_arg("depfile", |flag| flag.hide(true)), mut_arg("strict", |flag| flag.hide(true)))]
#[command(mut_arg("stdin_as", |flag| flag.hide(true)), mut_arg("keep_going", |flag| flag.hide(true)))]
pub struct Lint {
    /// Turn on the findings of a code that is off by default; may be repeated
    #[arg(short = 'W', long = "warn", value_name = "CODE", value_parser = finding_code)]
    pub warn: Vec<Code>,

    /// Turn off the findings of a code, also if -W names it; may be repeated
    #[arg(short = 'A', long, value_name = "CODE", value_parser = finding_code)]
    pub allow: Vec<Code>,

    /// Print the findings of this code and no other; may be repeated
    #[arg(long, value_name = "CODE", value_parser = finding_code)]
    pub only: Vec<Code>,

    /// Mend the findings where the mend is sure, and print the others
    ///
    /// Deprecated fields as by 'edit fix', kinds in other upper and lower case letters, and quotes,
    /// 'export' and ': ' in env files. A kustomization is changed only if it builds the same bytes
    /// with current fields.
    #[arg(long)]
    pub fix: bool,

    /// With --fix: show what would change, and change nothing
    #[arg(long, requires = "fix")]
    pub dry_run: bool,

    /// Hold the resources to the schemas of their kinds, too, as 'validate --schema'
    #[arg(long, help_heading = heading::SCHEMA, hide_short_help = true)]
    pub schema: bool,

    /// The version of Kubernetes whose kinds count, as in 1.31; implies --schema [default: the
    /// newest]
    #[arg(long, value_name = "VERSION", help_heading = heading::SCHEMA, hide_short_help = true)]
    pub kubernetes_version: Option<String>,

    #[command(flatten)]
    pub build: Build,
}

fn finding_code(text: &str) -> Result<Code, String> {
    Code::finding(text).map_err(|hint| format!("not the code of a finding: {hint}"))
}

/// The description of `lint`.
pub const LINT: &str = "Build kustomizations, with the flags of 'build', and print findings to stderr: entries without effect and \
    likely mistakes, of which kustomize says nothing. A comment '# lint: allow CODE REASON' on the line of a finding, or on \
    the line above it, allows it; 'rustomize.yaml' allows findings for whole directories.";

/// The examples of `lint`.
pub const LINT_EXAMPLES: &str = "Examples:
  # Look for mistakes in an overlay
  rustomize lint overlays/prod

  # Look for secrets in clear text, too
  rustomize lint -W clear-text-secret overlays/prod

  # In every kustomization below a directory, with the findings as commands of GitHub Actions
  rustomize lint --all deploy --error-format github

Exit status: 0 no finding, 1 findings or an error.";
