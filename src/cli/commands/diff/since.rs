//! `diff --since`: the sides are builds of a commit and of the working tree, or of two commits. The
//! files of commits are read into memory; if the builds run programs, they are written to a private
//! directory. The working tree of the user stays unchanged.

use crate::commands::diff::sides::{Asked, Others, Side, Sides};
use crate::commands::diff::state::{Exporter, Start, State, is_read_from_disk};
use crate::failures::Failures;
use crate::git::{self, CommitFiles, git, paths_of};
use crate::messages::Messages;
use crate::request::BuildRequest;
use anyhow::{Context, Result, bail};
use rustomize_base::parallel;
use rustomize_engine::load::clean;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The commits that a range names.
pub(crate) struct Range {
    pub old: Revision,
    /// `None` for the working tree.
    pub new: Option<Revision>,
}

/// A commit that a user has named.
pub(crate) struct Revision {
    /// The name that the user gives the commit.
    pub name: String,
    /// The id of the commit.
    pub commit: String,
}

/// Builds both sides of each root that the changed files can affect.
///
/// # Errors
/// The working directory is not in a repository, a commit is unknown, or a root is not a
/// kustomization. Roots that do not build are among the failures.
pub(crate) fn sides(
    request: &BuildRequest,
    range: &str,
    failures: &mut Failures,
    messages: &mut Messages,
) -> Result<Vec<Sides>> {
    let (top, prefix) =
        git::top_and_prefix().context("without two sides, 'diff' compares a commit with the working tree")?;
    check_roots(&request.directories, &prefix)?;
    let range = Range::parse(&top, range)?;
    let Known { changed, old, new } = known(request, &top, &range)?;
    if changed.is_empty() && request.directories.is_empty() {
        return Ok(Vec::new());
    }
    let mut exporter = Exporter::default();
    let mut of_commit = |Revision { name, commit }: &Revision, read: Option<CommitFiles>| {
        let place = Start { top: &top, prefix: &prefix };
        match read {
            Some(files) => State::in_memory(request, name, place, files),
            None => {
                let written = exporter.write(&top, commit)?;
                State::on_disk(request, name, Start { top: &written, prefix: &prefix })
            }
        }
    };
    let old = of_commit(&range.old, old)?;
    let new = match &range.new {
        Some(revision) => of_commit(revision, new)?,
        None => State::on_disk(request, "the working tree", Start { top: &top, prefix: &prefix })?,
    };
    let mut states = [old, new];
    let known = states.each_ref().map(State::paths);
    for root in request.directories.iter().filter(|_| !request.roots.all) {
        if !known.iter().any(|paths| paths.contains(root)) {
            bail!("'{root}' has no kustomization, neither in {} nor in {}", states[0].name, states[1].name);
        }
    }
    let mut wanted: BTreeSet<String> = BTreeSet::new();
    for state in &states {
        wanted.extend(state.affected(request, &changed)?);
    }
    for state in &mut states {
        state.roots.retain(|root| wanted.contains(&root.path));
    }
    let olds = states[0].build(request, Asked::Nothing, failures, messages)?;
    let news = {
        let texts = olds.iter().map(|(root, side)| (root, side.texts().iter().map(String::as_str)));
        let others: Others<'_> = texts.map(|(root, texts)| (root.as_str(), texts.collect())).collect();
        states[1].build(request, Asked::OfOthersThan(&others), failures, messages)?
    };
    let mut sides: BTreeMap<String, [Option<Side>; 2]> = BTreeMap::new();
    for (at, built) in [olds, news].into_iter().enumerate() {
        for (root, side) in built {
            sides.entry(root).or_default()[at] = Some(side);
        }
    }
    // A root is not compared if one of its sides has failed.
    let has_both = |root: &str, found: &[Option<Side>; 2]| {
        known.iter().zip(found).all(|(paths, side)| side.is_some() || !paths.contains(root))
    };
    let absent = |side: Option<Side>| side.unwrap_or_else(Side::nothing);
    let sides = sides.into_iter().filter(|(root, found)| has_both(root, found));
    let sides = sides.map(|(root, [old, new])| Sides { root: Some(root), before: absent(old), after: absent(new) });
    Ok(sides.collect())
}

/// The changed files, and the files of the commits that are read into memory.
struct Known {
    changed: Vec<PathBuf>,
    old: Option<CommitFiles>,
    new: Option<CommitFiles>,
}

/// Asks git for all at once: each answer takes as long as a small build.
fn known(request: &BuildRequest, top: &Path, range: &Range) -> Result<Known> {
    enum Question<'r> {
        Changed,
        Files(&'r str),
    }
    enum Answer {
        Changed(Vec<PathBuf>),
        Files(Option<CommitFiles>),
    }
    let commits = [Some(&range.old), range.new.as_ref()].into_iter().flatten();
    let commits = commits.filter(|_| request.reads_files_alone()).map(|of| Question::Files(&of.commit));
    let questions: Vec<Question<'_>> = std::iter::once(Question::Changed).chain(commits).collect();
    let answers = parallel::each(&questions, questions.len(), |question| match question {
        Question::Changed => changed(top, range).map(Answer::Changed),
        Question::Files(commit) => git::files_of(top, commit, is_read_from_disk).map(Answer::Files),
    });
    let (mut changed, mut files) = (Vec::new(), Vec::new());
    for answer in answers {
        match answer? {
            Answer::Changed(all) => changed = all,
            Answer::Files(of_commit) => files.push(of_commit),
        }
    }
    if changed.iter().any(|file| is_read_from_disk(file)) {
        files.clear();
    }
    let mut files = files.into_iter();
    Ok(Known { changed, old: files.next().flatten(), new: files.next().flatten() })
}

/// Returns true if a text names one or two commits of the repository around the working directory.
pub(crate) fn is_range(text: &str) -> bool {
    git::top().is_ok_and(|top| Range::parse(&top, text).is_ok())
}

impl Range {
    /// Reads `OLD`, `OLD..NEW` or `OLD...NEW`. A missing part of the last two is HEAD.
    ///
    /// # Errors
    /// git does not know a commit.
    pub(crate) fn parse(top: &Path, text: &str) -> Result<Range> {
        let commit = |name: &str| {
            let name = if name.is_empty() { "HEAD" } else { name };
            Ok::<_, anyhow::Error>(Revision { name: name.to_owned(), commit: git::commit(top, name)? })
        };
        if let Some((old, new)) = text.split_once("...") {
            let (old, new) = (commit(old)?, commit(new)?);
            let base = git(top, &["merge-base", &old.commit, &new.commit], None)
                .with_context(|| format!("'{}' and '{}' have no commit in common", old.name, new.name))?;
            let commit = String::from_utf8_lossy(&base).trim().to_owned();
            let name = commit.chars().take(12).collect();
            return Ok(Range { old: Revision { name, commit }, new: Some(new) });
        }
        match text.split_once("..") {
            Some((old, new)) => Ok(Range { old: commit(old)?, new: Some(commit(new)?) }),
            None if text.is_empty() => bail!("--since needs a revision"),
            None => Ok(Range { old: commit(text)?, new: None }),
        }
    }
}

/// The files that differ, as paths from the top of the repository.
///
/// # Errors
/// git fails.
pub(crate) fn changed(top: &Path, range: &Range) -> Result<Vec<PathBuf>> {
    let commits = [Some(&range.old), range.new.as_ref()].into_iter().flatten();
    let commits: Vec<&str> = commits.map(|revision| revision.commit.as_str()).collect();
    let mut changed = git::differing(top, &commits)?;
    if range.new.is_none() {
        let new_files = git(top, &["ls-files", "--others", "--exclude-standard", "-z"], None)?;
        changed.extend(paths_of(&new_files));
    }
    Ok(changed)
}

/// Refuses roots that are not in the repository.
fn check_roots(roots: &[String], prefix: &Path) -> Result<()> {
    for root in roots {
        let place = clean(&prefix.join(root).to_string_lossy());
        if Path::new(root).is_absolute() || place == ".." || place.starts_with("../") {
            bail!("'{root}' is not a directory of this repository, named from the working directory");
        }
    }
    Ok(())
}
