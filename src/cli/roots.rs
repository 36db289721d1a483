//! `build` with several roots: finds the roots, builds them, and writes their results.

use super::args::{Build, Layout, Results, Shard};
use super::depfile::{self, Rule};
use super::findings::Verdict;
use super::messages::Messages;
use super::settings::Found;
use super::writer;
use super::{build, compat, managed, output, status_line};
use crate::check::Findings;
use crate::diag::{Result as Built, Warned, Warning};
use crate::load::{Disk, FileLimit, clean};
use crate::meter::FastIndexMap;
use crate::pipeline::affected::affected;
use crate::pipeline::roots::find;
use crate::shown;
use crate::stage::Options;
use crate::workspace::{Output, Together, build_all};
use crate::{diag, parallel};
use anyhow::{Context, Result, bail};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// A root to build.
struct Chosen {
    /// The directory, from where the command was started.
    path: String,
    /// The path of its result below the output directory, without an extension.
    name: PathBuf,
}

/// The files of a root's result, each as pieces that follow each other.
type Files = Vec<(PathBuf, Vec<String>)>;

/// The result of a root.
struct Rendered {
    files: Files,
    /// The files that the result was made of.
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
pub fn run(args: &Build, messages: &mut Messages) -> Result<()> {
    let chosen = part(chosen(args)?, args.shard)?;
    let layout = args.layout.unwrap_or(Layout::Root);
    if args.output.is_some() {
        check_names(&chosen)?;
    }
    if args.depfile.is_some() && layout == Layout::Resource {
        bail!("--depfile needs one file for each root, and '--layout resource' makes several");
    }
    let jobs = args.jobs.unwrap_or_else(parallel::cores);
    let paths: Vec<String> = chosen.iter().map(|root| root.path.clone()).collect();
    // Each root may have its own plugins.yaml and its own lock. Without plugins and locks all roots
    // have the same options, but for the version that their rustomize.yaml names.
    let has_own = args.enable_alpha_plugins.unwrap_or(false) || args.locked;
    let mut options: Vec<Options> = Vec::with_capacity(paths.len());
    for root in &paths {
        options.push(match options.first() {
            Some(first) if !has_own => Options { compat: compat::of_root(args.compat, root)?, ..first.clone() },
            first => build::options(args, root, first.is_none()).with_context(|| format!("in {root}"))?,
        });
    }
    let together = Together { jobs, keep_going: args.keep_going };
    let files = |i: usize, output: Output<'_>| {
        let files = rendered(&output, &chosen[i], args.output.as_deref(), layout)?;
        let findings = args.known.as_deref().map(|known| output.check(known)).transpose()?.unwrap_or_default();
        Ok(Rendered { files, read: output.files(), findings, lint: output.findings().to_vec() })
    };
    let built = build_all(&Disk::new(), &paths, |i| options[i].clone(), together, files);
    status_line::end();
    let mut failures = Failures::default();
    let mut verdict = Verdict::default();
    let mut results = Vec::new();
    let (mut warned, mut findings) = (0, Vec::new());
    for (root, built) in paths.iter().zip(built) {
        let Some(Warned { value, warnings }) = built else { continue };
        for warning in &warnings {
            messages.warning(warning, Some(root));
        }
        let allowed = if args.strict { Found::above(root)? } else { Found::default() };
        warned += allowed.others(warnings).len();
        match value {
            Ok(mut rendered) => {
                verdict.add(std::mem::take(&mut rendered.findings), Some(root), messages);
                findings.extend(allowed.others(std::mem::take(&mut rendered.lint)));
                results.push((root, rendered));
            }
            Err(error) => failures.add(root, error),
        }
    }
    if args.strict && failures.is_empty() {
        build::strictly(warned, &findings, messages)?;
    }
    if failures.is_empty() || args.keep_going {
        write(args, results)?;
    }
    failures.report(paths.len(), messages)?;
    verdict.end()
}

/// The directories of the roots that the arguments name.
///
/// # Errors
/// A directory cannot be read, or is without kustomizations.
pub fn directories(args: &Build) -> Result<Vec<String>> {
    Ok(chosen(args)?.into_iter().map(|root| root.path).collect())
}

/// The roots that the arguments name, each with its name.
fn chosen(args: &Build) -> Result<Vec<Chosen>> {
    let here = [".".to_owned()];
    let directories = if args.directory.is_empty() { &here } else { args.directory.as_slice() };
    let name = |path: &str, below: &str| {
        let (path, below) = (PathBuf::from(clean(path)), PathBuf::from(clean(below)));
        let rest = path.strip_prefix(below).unwrap_or(&path).components();
        let rest: PathBuf = rest.filter(|part| matches!(part, Component::Normal(_))).collect();
        if rest.as_os_str().is_empty() { own_name(&path) } else { rest }
    };
    if !args.all {
        return Ok(directories.iter().map(|path| Chosen { path: path.clone(), name: name(path, ".") }).collect());
    }
    let changed = args.affected_by.as_deref().map(file_names).transpose()?;
    let mut all = Vec::new();
    for directory in directories {
        let found = find(&Disk::new(), directory, FileLimit(args.file_size_limit))
            .with_context(|| format!("cannot look for kustomizations in '{directory}'"))?;
        let found = match &changed {
            Some(changed) => affected(&Disk::new(), found, changed.clone(), FileLimit(args.file_size_limit)),
            None if found.is_empty() => bail!("there is no kustomization at or below '{directory}'"),
            None => found,
        };
        let wanted = found.into_iter().filter(|root| !(args.leaves && root.is_used));
        all.extend(wanted.map(|root| Chosen { name: name(&root.path, directory), path: root.path }));
    }
    Ok(all)
}

/// The names of files, where `-` stands for those on stdin.
fn file_names(files: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut names = Vec::new();
    for file in files {
        if file.as_os_str() != "-" {
            names.push(file.clone());
            continue;
        }
        let mut text = Vec::new();
        std::io::stdin().read_to_end(&mut text).context("cannot read the names of files on stdin")?;
        let end = if text.contains(&0) { 0 } else { b'\n' };
        let lines = text.split(|&byte| byte == end).filter(|name| !name.is_empty());
        names.extend(lines.map(|name| PathBuf::from(OsStr::from_bytes(name))));
    }
    Ok(names)
}

/// The name of a directory that is named by `.` or `..`.
fn own_name(path: &Path) -> PathBuf {
    let real = path.canonicalize().ok();
    real.as_deref().and_then(Path::file_name).unwrap_or("root".as_ref()).into()
}

/// The roots of one part. Neighbours go to different parts: they cost about the same.
fn part(roots: Vec<Chosen>, shard: Option<Shard>) -> Result<Vec<Chosen>> {
    let Some(Shard { index, count }) = shard else { return Ok(roots) };
    let index = match index {
        Some(index) => index,
        None => managed::variable("JOB_COMPLETION_INDEX")
            .and_then(|text| text.to_str()?.parse().ok())
            .filter(|index| *index < count.get())
            .with_context(|| {
                format!("--shard {count} needs JOB_COMPLETION_INDEX, a number below {count}: say --shard I/{count}")
            })?,
    };
    Ok(roots.into_iter().skip(index).step_by(count.get()).collect())
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

/// Writes the results: to stdout one after the other, each behind a comment that names its root, or
/// into a directory.
fn write(args: &Build, results: Vec<(&String, Rendered)>) -> Result<()> {
    if args.results == Results::Dropped {
        return Ok(());
    }
    if let Some(directory) = &args.output {
        let (mut texts, mut rules) = (Vec::new(), Vec::new());
        for Rendered { files, read, .. } in results.into_iter().map(|(_, rendered)| rendered) {
            let files = files.into_iter().map(|(name, text)| (directory.join(name), text));
            texts.extend(files);
            rules.extend(texts.last().map(|(target, _)| Rule { target: target.clone(), files: read }));
        }
        output::write_files(directory, texts)?;
        return args.depfile.as_ref().map_or(Ok(()), |depfile| depfile::write(depfile, &rules));
    }
    let head = |i: usize, root: &str| {
        let end = if i == 0 { "" } else { "---\n" };
        Cow::Owned(format!("{end}# Root: {}\n", shown::line(&shown::masked(root))).into_bytes())
    };
    let pieces = results.iter().enumerate().flat_map(|(i, (root, Rendered { files, .. }))| {
        let texts = files.iter().flat_map(|(_, text)| text).map(|text| Cow::Borrowed(text.as_bytes()));
        std::iter::once(head(i, root)).chain(texts)
    });
    Ok(writer::data(pieces)?)
}

/// The faults of all roots: each fault once, with the roots that have it.
#[derive(Default)]
pub struct Failures {
    count: usize,
    by_fault: FastIndexMap<String, (diag::Error, Vec<String>)>,
}

impl Failures {
    /// How many roots failed.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns true if no root failed.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds the fault of a root.
    pub fn add(&mut self, root: &str, error: diag::Error) {
        self.count += 1;
        let (_, roots) = self.by_fault.entry(error.fault()).or_insert_with(|| (error, Vec::new()));
        roots.push(root.to_owned());
    }

    /// Prints each fault.
    ///
    /// # Errors
    /// A root failed.
    pub fn report(self, all: usize, messages: &mut Messages) -> Result<()> {
        for (error, roots) in self.by_fault.values() {
            messages.error(error, Some(&roots.join(", ")));
        }
        match self.count {
            0 => Ok(()),
            n => bail!("{n} of {all} roots failed"),
        }
    }
}
