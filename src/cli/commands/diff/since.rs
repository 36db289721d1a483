//! `diff --since`: the sides are builds of a commit and of the working tree, or of two commits. The
//! files of commits are written to a private directory; the working tree of the user stays
//! unchanged.

use crate::cli::commands::diff::sides::{Content, Side, Sides, built};
use crate::cli::failures::Failures;
use crate::cli::git::{self, git, paths_of};
use crate::cli::host;
use crate::cli::messages::Messages;
use crate::cli::request::BuildRequest;
use crate::config::kustomization::FILE_NAMES;
use crate::diag::Warned;
use crate::load::{Disk, clean};
use crate::pipeline::affected::affected;
use crate::pipeline::roots::{FoundRoot, find};
use crate::stage::Options;
use anyhow::{Context, Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// One of the two states of the repository.
struct State {
    /// The name that the user gives the state.
    name: String,
    /// The top directory of its files.
    top: PathBuf,
    /// The directory that paths of roots start at; `None` if this state lacks it.
    directory: Option<PathBuf>,
    /// The roots that the user asks for and that this state has.
    roots: Vec<FoundRoot>,
}

/// The commits that a range names, each with its name and its id.
pub(crate) struct Range {
    pub old: (String, String),
    /// `None` for the working tree.
    pub new: Option<(String, String)>,
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
    let top = git::top()?;
    let prefix = git::prefix()?;
    check_roots(&request.directories, &prefix)?;
    let range = Range::parse(&top, range)?;
    let changed = changed(&top, &range)?;
    let directory = host::children().directory("rustomize-diff-").context("no directory for the files of git")?;
    let old = git::export(&top, directory.path(), "old", Some(&range.old.1))?;
    let mut states = [
        State::of(request, &range.old.0, old, &prefix)?,
        match &range.new {
            Some((name, commit)) => {
                let new = git::export(&top, directory.path(), "new", Some(commit))?;
                State::of(request, name, new, &prefix)?
            }
            None => State::of(request, "the working tree", top, &prefix)?,
        },
    ];
    for root in request.directories.iter().filter(|_| !request.roots.all) {
        if !states.iter().any(|state| state.roots.iter().any(|found| found.path == *root)) {
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
    let mut sides: BTreeMap<String, [Option<Side>; 2]> = BTreeMap::new();
    for (at, state) in states.iter().enumerate() {
        for (root, side) in state.build(request, failures, messages)? {
            sides.entry(root).or_default()[at] = Some(side);
        }
    }
    // A root is not compared if one of its sides has failed.
    let has_both = |root: &str, found: &[Option<Side>; 2]| {
        let exists = |state: &State| state.roots.iter().any(|found| found.path == root);
        states.iter().zip(found).all(|(state, side)| side.is_some() || !exists(state))
    };
    let absent = |side: Option<Side>| {
        side.unwrap_or_else(|| Side { name: "nothing".to_owned(), content: Content::Built(Vec::new()) })
    };
    let sides = sides.into_iter().filter(|(root, found)| has_both(root, found));
    let sides = sides.map(|(root, [old, new])| Sides { root: Some(root), before: absent(old), after: absent(new) });
    Ok(sides.collect())
}

impl Range {
    /// Reads `OLD`, `OLD..NEW` or `OLD...NEW`. A missing part of the last two is HEAD.
    ///
    /// # Errors
    /// git does not know a commit.
    pub(crate) fn parse(top: &Path, text: &str) -> Result<Range> {
        let commit = |name: &str| {
            let name = if name.is_empty() { "HEAD" } else { name };
            Ok::<_, anyhow::Error>((name.to_owned(), git::commit(top, name)?))
        };
        if let Some((old, new)) = text.split_once("...") {
            let (old, new) = (commit(old)?, commit(new)?);
            let base = git(top, &["merge-base", &old.1, &new.1], None)
                .with_context(|| format!("'{}' and '{}' have no commit in common", old.0, new.0))?;
            let base = String::from_utf8_lossy(&base).trim().to_owned();
            return Ok(Range { old: (base.chars().take(12).collect(), base), new: Some(new) });
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
    let mut words =
        vec!["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=dirty", &range.old.1];
    if let Some((_, new)) = &range.new {
        words.push(new);
    }
    words.push("--");
    let mut changed: Vec<PathBuf> = paths_of(&git(top, &words, None)?).collect();
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

impl State {
    /// A state of the repository, with its roots.
    fn of(request: &BuildRequest, name: &str, top: PathBuf, prefix: &Path) -> Result<State> {
        let directory = Some(top.join(prefix)).filter(|directory| directory.is_dir());
        let mut state = State { name: name.to_owned(), top, directory, roots: Vec::new() };
        state.roots = state.within(|| roots(request))?.unwrap_or_default();
        Ok(state)
    }

    /// Runs an action in the directory that paths of roots start at; `None` if this state lacks it.
    fn within<T>(&self, action: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        self.directory.as_ref().map(|directory| git::within(directory, action)).transpose()
    }

    /// The roots that files affect; without the roots that others use, if the flags say so.
    fn affected(&self, request: &BuildRequest, changed: &[PathBuf]) -> Result<Vec<String>> {
        let limit = request.file_limit;
        let changed = changed.iter().map(|file| self.top.join(file));
        let found = self.within(|| Ok(affected(&Disk::new(), self.roots.clone(), changed, limit)))?;
        let wanted = found.unwrap_or_default().into_iter().filter(|root| !(request.roots.leaves && root.is_used));
        Ok(wanted.map(|root| root.path).collect())
    }

    /// Builds the roots.
    fn build(
        &self,
        request: &BuildRequest,
        failures: &mut Failures,
        messages: &mut Messages,
    ) -> Result<Vec<(String, Side)>> {
        let paths: Vec<String> = self.roots.iter().map(|root| root.path.clone()).collect();
        let results = self.within(|| {
            let options = |root: &String| request.options(root).with_context(|| format!("in {root} of {}", self.name));
            let options: Vec<Options> = paths.iter().map(options).collect::<Result<_>>()?;
            Ok(built(request, &paths, &options))
        })?;
        let mut sides = Vec::new();
        for (root, built) in paths.into_iter().zip(results.unwrap_or_default()) {
            let Some(Warned { value, warnings }) = built else { continue };
            let named = format!("{root} of {}", self.name);
            warnings.iter().for_each(|warning| messages.warning(warning, Some(&named)));
            match value {
                Ok(side) => sides.push((root, Side { name: named, ..side })),
                Err(error) => failures.add(&named, error),
            }
        }
        Ok(sides)
    }
}

/// The roots that the arguments ask for and that exist in the working directory.
fn roots(request: &BuildRequest) -> Result<Vec<FoundRoot>> {
    let here = [".".to_owned()];
    let named = request.directories.as_slice();
    let directories = if named.is_empty() { &here } else { named };
    let directories = directories.iter().filter(|directory| Path::new(directory).is_dir());
    let mut found = Vec::new();
    for directory in directories {
        if named.is_empty() || request.roots.all {
            let below = find(&Disk::new(), directory, request.file_limit);
            found.extend(below.with_context(|| format!("cannot look for kustomizations in '{directory}'"))?);
        } else if FILE_NAMES.iter().any(|name| Path::new(directory).join(name).is_file()) {
            found.push(FoundRoot { path: directory.clone(), is_used: false });
        }
    }
    Ok(found)
}
