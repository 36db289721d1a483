//! `lint`: builds kustomizations and prints their findings.

use super::args::{Build, Lint, Results};
use super::messages::{Messages, Reported};
use super::{build, roots, status_line};
use crate::diag::{Code, Warned, Warning};
use crate::load::Disk;
use crate::parallel;
use crate::workspace::{Together, build_all};
use anyhow::{Context, Result, bail};
use std::collections::{BTreeMap, BTreeSet};

/// The most findings of one code that are printed.
const SHOWN: usize = 100;

/// Runs `lint`.
///
/// # Errors
/// There is a finding, flags that cannot be, or a root that cannot be built.
pub fn run(args: Lint, messages: &mut Messages) -> Result<()> {
    let Lint { only, allow, build: flags } = args;
    if flags.output.is_some() || flags.stdin_as.is_some() {
        bail!("'lint' has neither --output nor --stdin-as");
    }
    let flags = Build { lint: true, results: Results::Dropped, ..flags };
    let paths = roots::directories(&flags)?;
    let mut options = Vec::with_capacity(paths.len());
    for (i, root) in paths.iter().enumerate() {
        options.push(build::options(&flags, root, i == 0).with_context(|| format!("in {root}"))?);
    }
    let together = Together { jobs: flags.jobs.unwrap_or_else(parallel::cores), keep_going: true };
    let built = build_all(
        &Disk::new(),
        &paths,
        |i| options[i].clone(),
        together,
        |_, output| {
            // A resource that cannot be printed fails here as it fails `build`.
            output.print_in_pieces()?;
            Ok(output.findings().to_vec())
        },
    );
    status_line::end();
    let mut failures = 0;
    let mut findings: Vec<Warning> = Vec::new();
    for (root, built) in paths.iter().zip(built) {
        let Some(Warned { value, warnings }) = built else { continue };
        for warning in warnings {
            // What is deprecated is a finding here.
            match warning.code() {
                Code::Deprecated => findings.push(warning),
                _ => messages.warning(&warning, Some(root)),
            }
        }
        match value {
            Ok(more) => findings.extend(more),
            Err(error) => {
                failures += 1;
                messages.error(&error, Some(root));
            }
        }
    }
    findings.retain(|finding| (only.is_empty() || only.contains(&finding.code())) && !allow.contains(&finding.code()));
    let findings = sorted(findings);
    print(&findings, messages);
    match (failures, findings.len()) {
        (0, 0) => Ok(()),
        (failures, count) => {
            messages.note(&format!("findings: {count}, roots that do not build: {failures}, roots: {}", paths.len()));
            Err(Reported.into())
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
