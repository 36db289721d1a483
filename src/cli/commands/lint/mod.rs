//! `lint`: builds kustomizations and prints their findings.

pub(crate) mod fix;
pub(crate) mod version;

use crate::cli::commands::lint::fix::Fixing;
use crate::cli::flags::build::BuildFlags;
use crate::cli::flags::hidden::hidden;
use crate::cli::messages::{Messages, Reported};
use crate::cli::request::BuildRequest;
use crate::cli::settings::RootSettings;
use crate::cli::{roots, status_line};
use crate::diag::{Code, Error, Warned, Warning};
use crate::load::Disk;
use crate::stage::UsedEntries;
use crate::workspace::{Together, build_all};
use anyhow::{Result, bail};
use clap::Args;
use rustomize_base::observe::Observer;
use std::collections::{BTreeMap, BTreeSet};

/// `lint`.
#[derive(Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
#[command(mut_args(hidden(["output", "layout", "depfile", "strict", "stdin_as", "keep_going"])))]
pub(crate) struct Lint {
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
    #[arg(long)]
    pub schema: bool,

    /// The version of Kubernetes whose kinds count, as in 1.31; implies --schema [default: the
    /// newest]
    #[arg(long, value_name = "VERSION")]
    pub kubernetes_version: Option<String>,

    #[command(flatten)]
    pub build: BuildFlags,
}

fn finding_code(text: &str) -> Result<Code, String> {
    Code::finding(text).map_err(|hint| format!("not the code of a finding: {hint}"))
}

const ABOUT: &str = "Build kustomizations, with the flags of 'build', and print findings to stderr: entries without effect and \
    likely mistakes, of which kustomize says nothing. A comment '# lint: allow CODE REASON' on the line of a finding, or on \
    the line above it, allows it; 'rustomize.yaml' allows findings for whole directories.";

const EXAMPLES: &str = "Examples:
  # Look for mistakes in an overlay
  rustomize lint overlays/prod

  # Look for secrets in clear text, too
  rustomize lint -W clear-text-secret overlays/prod

  # In every kustomization below a directory, with the findings as commands of GitHub Actions
  rustomize lint --all deploy --error-format github

Exit status: 0 no finding, 1 findings or an error.";

/// The most findings of one code that are printed.
const SHOWN: usize = 100;

/// Runs `lint`.
///
/// # Errors
/// There is a finding, a flag is not valid, or a root cannot be built.
pub(crate) fn run(args: Lint, observer: Observer, messages: &mut Messages) -> Result<()> {
    let Lint { warn, allow, only, fix, dry_run, schema, kubernetes_version, build } = args;
    if build.output.output.is_some() || build.files.stdin_as.is_some() {
        bail!("'lint' has neither --output nor --stdin-as");
    }
    let also = warn.iter().chain(&only).copied().collect();
    let request = BuildRequest::new(build, observer)?.with_findings(also);
    let is_checked = schema || kubernetes_version.is_some();
    let request = if is_checked { request.with_schemas(kubernetes_version.as_deref())? } else { request };
    let is_asked = |code| (only.is_empty() || only.contains(&code)) && !allow.contains(&code);
    let paths = roots::directories(&request)?;
    let mut looked = look(&request, &paths)?;
    looked.findings.retain(|finding| is_asked(finding.code()));
    if fix {
        let options = |root: &str| request.options(root);
        let fixing = Fixing { is_dry: dry_run, options: &options };
        let changed = fix::fix(&looked.findings, &fixing, messages)?;
        if changed > 0 && !dry_run {
            looked = look(&request, &paths)?;
            looked.findings.retain(|finding| is_asked(finding.code()));
        }
    }
    looked.report(&paths, messages)
}

/// The findings, warnings and errors of the builds of all roots.
#[derive(Default)]
struct Looked<'p> {
    /// The warnings and errors of builds, each with its root.
    warnings: Vec<(&'p str, Warning)>,
    errors: Vec<(&'p str, Error)>,
    /// The findings in the order of files and lines.
    findings: Vec<Warning>,
    /// The number of findings of the schema check that were not kept.
    left_out: usize,
}

/// Builds the roots.
fn look<'p>(request: &BuildRequest, paths: &'p [String]) -> Result<Looked<'p>> {
    let used_entries = UsedEntries::default();
    let mut options = request.options_of(paths)?;
    options.iter_mut().for_each(|of_root| of_root.used_entries = used_entries.clone());
    let together = Together { keep_going: true, ..request.together() };
    let built = build_all(
        &Disk::new(),
        paths,
        |i| options[i].clone(),
        together,
        |_, output| {
            // `build` fails for a resource that cannot be printed, and so does `lint`.
            output.check_printable()?;
            let checked = request.known.as_ref().map(|known| output.check(known)).transpose()?.unwrap_or_default();
            let found = (output.findings().to_vec(), checked);
            if paths.len() == 1 {
                output.leave();
            }
            Ok(found)
        },
    );
    status_line::end();
    let mut looked = Looked::default();
    if options.iter().any(|of_root| of_root.lint_also.contains(&Code::Version)) {
        looked.findings = version::findings(paths, &options, together);
    }
    for (root, built) in paths.iter().zip(built) {
        let Some(Warned { value, warnings }) = built else { continue };
        let allowed = RootSettings::above(root)?;
        // `lint` reports a field that is deprecated or has no effect as a finding.
        let (deprecated, warnings): (Vec<_>, Vec<_>) =
            warnings.into_iter().partition(|warning| matches!(warning.code(), Code::Deprecated | Code::Unused));
        looked.warnings.extend(warnings.into_iter().map(|warning| (root.as_str(), warning)));
        looked.findings.extend(allowed.others(deprecated));
        match value {
            Ok((findings, checked)) => {
                looked.findings.extend(allowed.others(findings));
                looked.findings.extend(allowed.others(checked.shown));
                looked.left_out += checked.left_out;
            }
            Err(error) => looked.errors.push((root, error)),
        }
    }
    // An entry of a shared base or component may have an effect in another root.
    let is_used = |finding: &Warning| finding.place().is_some_and(|place| used_entries.contains(place));
    looked.findings.retain(|finding| finding.code() != Code::NoEffect || !is_used(finding));
    looked.findings = sorted(looked.findings);
    Ok(looked)
}

impl Looked<'_> {
    /// Prints everything.
    ///
    /// # Errors
    /// There is a finding or an error.
    fn report(self, paths: &[String], messages: &mut Messages) -> Result<()> {
        for (root, warning) in &self.warnings {
            messages.warning(warning, Some(root));
        }
        for (root, error) in &self.errors {
            messages.error(error, Some(root));
        }
        print(&self.findings, messages);
        if self.left_out > 0 {
            messages.note(&format!("{} more findings of the schema check are not shown", self.left_out));
        }
        match (self.errors.len(), self.findings.len() + self.left_out) {
            (0, 0) => Ok(()),
            (failures, count) => {
                messages
                    .note(&format!("findings: {count}, roots that do not build: {failures}, roots: {}", paths.len()));
                Err(Reported.into())
            }
        }
    }
}

/// The findings in the order of files and lines, each once: several roots may have a base in
/// common.
fn sorted(mut findings: Vec<Warning>) -> Vec<Warning> {
    let place = |finding: &Warning| finding.place().map(|p| (p.file.clone(), p.line, p.column));
    findings.sort_by_cached_key(|finding| (place(finding), finding.code().as_str(), finding.message().to_owned()));
    let mut known = BTreeSet::new();
    let key = |finding: &Warning| {
        // Resources without a place in a file are told apart by their ids.
        let resource = finding.resource().filter(|_| finding.place().is_none()).map(str::to_owned);
        (place(finding), finding.code().as_str(), finding.message().to_owned(), resource)
    };
    findings.retain(|finding| known.insert(key(finding)));
    findings
}

/// Prints the first findings of each code, and how many more there are.
fn print(findings: &[Warning], messages: &mut Messages) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in findings {
        let count = counts.entry(finding.code().as_str()).or_default();
        *count += 1;
        if *count <= SHOWN {
            messages.finding(finding, None);
        }
    }
    for (code, count) in counts.into_iter().filter(|(_, count)| *count > SHOWN) {
        messages.note(&format!("{} more findings of {code} are not shown", count - SHOWN));
    }
}
