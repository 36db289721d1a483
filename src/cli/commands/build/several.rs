//! `build` with several roots: builds them, and writes their results.

use crate::commands::build::depfile::{self, Rule};
use crate::commands::build::results::{Results, strictly};
use crate::commands::build::verdict::Verdict;
use crate::failures::Failures;
use crate::flags::roots::Layout;
use crate::groups::{Grouping, Groups};
use crate::messages::Messages;
use crate::request::BuildRequest;
use crate::roots::{Chosen, chosen, part};
use crate::settings::RootSettings;
use crate::{output, status_line, writer};
use anyhow::{Result, bail};
use rustomize_base::shown;
use rustomize_engine::check::Findings;
use rustomize_engine::diag::{Result as Built, Warned, Warning};
use rustomize_engine::workspace::{Output, build_all};
use rustomize_sources::Disk;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The files of a root's result, each as pieces that follow each other.
type Files = Vec<(PathBuf, Vec<String>)>;

/// The result of a root.
struct Rendered {
    files: Files,
    /// The input files of the result.
    read: Vec<PathBuf>,
    /// The findings of the check against schemas.
    findings: Findings,
    /// The findings of lint.
    lint: Vec<Warning>,
}

/// Builds the roots that the flags name.
///
/// # Errors
/// No root is found, a root cannot be built, or a result cannot be written. Without --keep-going
/// nothing is on stdout and no file is written then.
pub(crate) fn build(request: &BuildRequest, results: Results, messages: &mut Messages) -> Result<()> {
    build_chosen(request, &part(chosen(request)?, request.roots.shard)?, results, messages)
}

/// Builds roots.
///
/// # Errors
/// As [`build`].
pub(crate) fn build_chosen(
    request: &BuildRequest,
    chosen: &[Chosen],
    results: Results,
    messages: &mut Messages,
) -> Result<()> {
    let layout = request.output.layout.unwrap_or(Layout::Root);
    if request.output.output.is_some() {
        check_names(chosen)?;
    }
    if request.output.depfile.is_some() && layout == Layout::Resource {
        bail!("--depfile needs one file for each root, and '--layout resource' makes several");
    }
    let paths: Vec<String> = chosen.iter().map(|root| root.path.clone()).collect();
    let options = request.options_of(&paths)?;
    let files = |i: usize, output: Output<'_>| {
        let files = rendered(&output, &chosen[i], request.output.output.as_deref(), layout)?;
        let findings = request.known.as_ref().map(|known| output.check(known)).transpose()?.unwrap_or_default();
        if let Some(repeated) = &request.repeated {
            repeated.note(&paths[i], output.files());
        }
        Ok(Rendered { files, read: output.files(), findings, lint: output.findings().to_vec() })
    };
    let built = build_all(&Disk::new(), &paths, |i| options[i].clone(), request.together(), files);
    status_line::end();
    let is_each = request.roots.each;
    let mut failures = Failures::new(is_each);
    let mut verdict = Verdict::new(is_each);
    let mut rendered_roots = Vec::new();
    let (mut said, mut findings) = (Groups::new(Grouping::said(is_each)), Groups::new(Grouping::found(is_each)));
    let mut warned = 0;
    for (root, built) in paths.iter().zip(built) {
        let Some(Warned { value, warnings }) = built else { continue };
        warnings.iter().for_each(|warning| said.add(warning.clone(), Some(root)));
        let allowed = if request.output.strict { RootSettings::above(root)? } else { RootSettings::default() };
        warned += allowed.others(warnings).len();
        match value {
            Ok(mut rendered) => {
                verdict.add(std::mem::take(&mut rendered.findings), Some(root));
                let found = allowed.others(std::mem::take(&mut rendered.lint));
                found.into_iter().for_each(|finding| findings.add(finding, Some(root)));
                rendered_roots.push((root, rendered));
            }
            Err(error) => failures.add(root, &error),
        }
    }
    messages.warnings(&said.end());
    if request.output.strict && failures.is_empty() {
        strictly(warned, &findings.end(), messages)?;
    }
    if failures.is_empty() || request.roots.keep_going {
        write(request, results, rendered_roots)?;
    }
    failures.report(paths.len(), messages)?;
    verdict.end(messages)
}

/// Refuses two roots whose results would be one file.
fn check_names(roots: &[Chosen]) -> Result<()> {
    let mut known: BTreeMap<&Path, &str> = BTreeMap::new();
    for root in roots {
        if let Some(other) = known.insert(&root.name, &root.path) {
            bail!(
                "the results of '{other}' and '{}' would be one file: build them into directories of their own",
                root.path
            );
        }
    }
    Ok(())
}

/// The texts of a root's result, with their paths below the output directory; the path is empty for
/// stdout.
fn rendered(output: &Output<'_>, root: &Chosen, into: Option<&Path>, layout: Layout) -> Built<Files> {
    match (into, layout) {
        (None, _) => Ok(vec![(PathBuf::new(), output.print_in_pieces()?)]),
        (Some(_), Layout::Root) => {
            let mut name = root.name.clone().into_os_string();
            name.push(".yaml");
            Ok(vec![(name.into(), output.print_in_pieces()?)])
        }
        (Some(_), Layout::Resource) => {
            let files = output::files(output)?;
            Ok(files.into_iter().map(|(name, text)| (root.name.join(name), vec![text])).collect())
        }
    }
}

/// Writes the results: to stdout one after the other, each after a comment that names its root, or
/// into a directory.
fn write(request: &BuildRequest, results: Results, rendered: Vec<(&String, Rendered)>) -> Result<()> {
    if results == Results::Dropped {
        return Ok(());
    }
    if let Some(directory) = &request.output.output {
        let (mut texts, mut rules) = (Vec::new(), Vec::new());
        for Rendered { files, read, .. } in rendered.into_iter().map(|(_, rendered)| rendered) {
            let files = files.into_iter().map(|(name, text)| (directory.join(name), text));
            texts.extend(files);
            rules.extend(texts.last().map(|(target, _)| Rule { target: target.clone(), files: read }));
        }
        output::write_files(directory, texts)?;
        return request.output.depfile.as_ref().map_or(Ok(()), |depfile| depfile::write(depfile, &rules));
    }
    let head = |i: usize, root: &str| {
        let end = if i == 0 { "" } else { "---\n" };
        Cow::Owned(format!("{end}# Root: {}\n", shown::line(&shown::masked(root))).into_bytes())
    };
    let pieces = rendered.iter().enumerate().flat_map(|(i, (root, Rendered { files, .. }))| {
        let texts = files.iter().flat_map(|(_, text)| text).map(|text| Cow::Borrowed(text.as_bytes()));
        std::iter::once(head(i, root)).chain(texts)
    });
    Ok(writer::data(pieces)?)
}
