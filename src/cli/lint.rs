//! `lint`: builds kustomizations and prints their findings.

use super::args::{Build, Results};
use super::lint_args::Lint;
use super::lint_fix::{self, Fixing};
use super::messages::{Messages, Reported};
use super::settings::Found;
use super::{build, lint_version, roots, status_line};
use crate::check::Known;
use crate::diag::{Code, Error, Warned, Warning};
use crate::load::Disk;
use crate::parallel;
use crate::stage::{Options, UsedEntries};
use crate::workspace::{Together, build_all};
use anyhow::{Context, Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The most findings of one code that are printed.
const SHOWN: usize = 100;

/// Runs `lint`.
///
/// # Errors
/// There is a finding, flags that cannot be, or a root that cannot be built.
pub fn run(args: Lint, messages: &mut Messages) -> Result<()> {
    if args.build.output.is_some() || args.build.stdin_as.is_some() {
        bail!("'lint' has neither --output nor --stdin-as");
    }
    let lint_also = args.warn.iter().chain(&args.only).copied().collect();
    let is_checked = args.schema || args.kubernetes_version.is_some();
    let known = is_checked.then(|| Known::new(args.kubernetes_version.as_deref()).map(Arc::new)).transpose()?;
    let flags = Build { lint: true, lint_also, known, results: Results::Dropped, ..args.build };
    let is_asked = |code| (args.only.is_empty() || args.only.contains(&code)) && !args.allow.contains(&code);
    let paths = roots::directories(&flags)?;
    let mut looked = look(&flags, &paths, true)?;
    looked.findings.retain(|finding| is_asked(finding.code()));
    if args.fix {
        let options = |root: &str| build::options(&flags, root, false);
        let fixing = Fixing { is_dry: args.dry_run, options: &options };
        let changed = lint_fix::fix(&looked.findings, &fixing, messages)?;
        if changed > 0 && !args.dry_run {
            looked = look(&flags, &paths, false)?;
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
    /// In the order of files and lines.
    findings: Vec<Warning>,
    /// How many findings of the schema check were not kept.
    left_out: usize,
}

/// Builds the roots. `first` is false if the command has built them already.
fn look<'p>(flags: &Build, paths: &'p [String], first: bool) -> Result<Looked<'p>> {
    let mut options = Vec::with_capacity(paths.len());
    let used_entries = UsedEntries::default();
    for (i, root) in paths.iter().enumerate() {
        let of_root = build::options(flags, root, first && i == 0).with_context(|| format!("in {root}"))?;
        options.push(Options { used_entries: used_entries.clone(), ..of_root });
    }
    let together = Together { jobs: flags.jobs.unwrap_or_else(parallel::cores), keep_going: true };
    let built = build_all(
        &Disk::new(),
        paths,
        |i| options[i].clone(),
        together,
        |_, output| {
            // A resource that cannot be printed fails here as it fails `build`.
            output.check_printable()?;
            let checked = flags.known.as_deref().map(|known| output.check(known)).transpose()?.unwrap_or_default();
            let found = (output.findings().to_vec(), checked);
            if paths.len() == 1 {
                output.leave();
            }
            Ok(found)
        },
    );
    status_line::end();
    let mut looked = Looked::default();
    if flags.lint_also.contains(&Code::Version) {
        looked.findings = lint_version::findings(paths, &options, together);
    }
    for (root, built) in paths.iter().zip(built) {
        let Some(Warned { value, warnings }) = built else { continue };
        let allowed = Found::above(root)?;
        // A deprecated field is a finding here.
        let (deprecated, warnings): (Vec<_>, Vec<_>) =
            warnings.into_iter().partition(|warning| warning.code() == Code::Deprecated);
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
    // A file that a base or component names may have an effect in another root.
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
