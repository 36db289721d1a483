//! [`State`]: a state of a repository: its working tree, or a commit. The files of a commit are
//! read into memory; if builds run programs, or read more than a loader has, they are written to a
//! private directory.

use crate::commands::diff::sides::{Asked, Side, built};
use crate::failures::Failures;
use crate::git::{self, CommitFiles};
use crate::groups::{Grouping, Groups};
use crate::host;
use crate::messages::Messages;
use crate::request::BuildRequest;
use anyhow::{Context, Result, bail};
use rustomize_engine::diag::Warned;
use rustomize_engine::load::loader::{Entry, NotOpened, Opened};
use rustomize_engine::load::{Loader, Memory, kustomization_file};
use rustomize_engine::pipeline::affected::affected;
use rustomize_engine::pipeline::roots::{FoundRoot, find};
use rustomize_engine::stage::Options;
use rustomize_process::PrivateDirectory;
use rustomize_sources::Disk;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// One of the two states of the repository.
pub(crate) struct State {
    /// The name that the user gives the state.
    pub name: String,
    /// The top directory of its files.
    top: PathBuf,
    /// The directory that paths of roots start at; `None` if this state lacks it.
    directory: Option<PathBuf>,
    files: StateFiles,
    /// The roots that the user asks for and that this state has.
    pub roots: Vec<FoundRoot>,
}

/// The directories of a state.
#[derive(Clone, Copy)]
pub(crate) struct Start<'s> {
    /// The top directory of its files.
    pub top: &'s Path,
    /// The directory that paths of roots start at, from there.
    pub prefix: &'s Path,
}

/// The files of a state.
enum StateFiles {
    Disk,
    Memory(CommitLoader),
}

/// The files of a commit in memory, at the places that they have in the working tree.
struct CommitLoader {
    files: Memory,
    /// The directory that relative paths begin at.
    directory: PathBuf,
}

impl Loader for CommitLoader {
    fn directory(&self, path: &Path) -> io::Result<PathBuf> {
        self.files.directory(&self.directory.join(path))
    }

    fn open(&self, path: &Path) -> Result<Opened, NotOpened> {
        self.files.open(&self.directory.join(path))
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>> {
        self.files.list(&self.directory.join(directory))
    }
}

/// Files that builds read from the disk, and not through a loader.
const READ_FROM_DISK: [&str; 5] =
    ["rustomize.yaml", "kustomization.lock", ".kustomization.vendor", "plugins.yaml", ".gitattributes"];

/// Returns true for a file that builds read from the disk, and for one of git's that decides how
/// other files are written there.
pub(crate) fn is_read_from_disk(file: &Path) -> bool {
    file.components().any(|part| READ_FROM_DISK.iter().any(|name| part.as_os_str() == *name))
}

/// Writes the files of commits into a private directory, which is removed afterwards.
#[derive(Default)]
pub(crate) struct Exporter {
    directory: Option<PrivateDirectory>,
    count: usize,
}

impl Exporter {
    /// Writes the files of a commit, and returns their directory.
    ///
    /// # Errors
    /// git fails, or the directory cannot be written to.
    pub(crate) fn write(&mut self, top: &Path, commit: &str) -> Result<PathBuf> {
        if self.directory.is_none() {
            let made = host::children().directory("rustomize-diff-").context("no directory for the files of git")?;
            self.directory = Some(made);
        }
        let Some(directory) = &self.directory else { bail!("no directory for the files of git") };
        self.count += 1;
        git::export(top, directory.path(), &format!("state{}", self.count), Some(commit))
    }
}

impl State {
    /// A state whose files are on the disk.
    ///
    /// # Errors
    /// Its directories cannot be read.
    pub(crate) fn on_disk(request: &BuildRequest, name: &str, start: Start<'_>) -> Result<State> {
        let directory = start.top.join(start.prefix);
        let directory = Some(directory).filter(|directory| directory.is_dir());
        State::of(request, name, start.top, directory, StateFiles::Disk)
    }

    /// A state whose files are in memory.
    ///
    /// # Errors
    /// A kustomization cannot be looked for.
    pub(crate) fn in_memory(request: &BuildRequest, name: &str, start: Start<'_>, files: CommitFiles) -> Result<State> {
        let files = files.into_iter().map(|(path, content)| (start.top.join(path), content)).collect();
        let loader = CommitLoader { files, directory: start.top.join(start.prefix) };
        let directory = loader.directory(Path::new(".")).ok();
        State::of(request, name, start.top, directory, StateFiles::Memory(loader))
    }

    fn of(
        request: &BuildRequest,
        name: &str,
        top: &Path,
        directory: Option<PathBuf>,
        files: StateFiles,
    ) -> Result<State> {
        let mut state = State { name: name.to_owned(), top: top.to_owned(), directory, files, roots: Vec::new() };
        state.roots = state.within(|loader| roots(loader, request))?.unwrap_or_default();
        Ok(state)
    }

    /// The paths of its roots.
    pub(crate) fn paths(&self) -> BTreeSet<String> {
        self.roots.iter().map(|root| root.path.clone()).collect()
    }

    /// Runs an action with the files of the state, whose relative paths start where those of roots
    /// do; `None` if this state lacks that directory.
    fn within<T>(&self, action: impl FnOnce(&dyn Loader) -> Result<T>) -> Result<Option<T>> {
        let Some(directory) = &self.directory else { return Ok(None) };
        let done = match &self.files {
            StateFiles::Disk => git::within(directory, || action(&Disk::new())),
            StateFiles::Memory(loader) => action(loader),
        };
        done.map(Some)
    }

    /// The roots that files affect; without the roots that others use, if the flags say so.
    ///
    /// # Errors
    /// The directory of the state is gone.
    pub(crate) fn affected(&self, request: &BuildRequest, changed: &[PathBuf]) -> Result<Vec<String>> {
        let limit = request.file_limit;
        let changed = changed.iter().map(|file| self.top.join(file));
        let found = self.within(|loader| Ok(affected(loader, self.roots.clone(), changed, limit)))?;
        let wanted = found.unwrap_or_default().into_iter().filter(|root| !(request.roots.leaves && root.is_used));
        Ok(wanted.map(|root| root.path).collect())
    }

    /// Builds the roots.
    ///
    /// # Errors
    /// The options of a root are not valid.
    pub(crate) fn build(
        &self,
        request: &BuildRequest,
        asked: Asked<'_>,
        failures: &mut Failures,
        messages: &mut Messages,
    ) -> Result<Vec<(String, Side)>> {
        let paths: Vec<String> = self.roots.iter().map(|root| root.path.clone()).collect();
        let results = self.within(|loader| {
            let options = |root: &String| request.options(root).with_context(|| format!("in {root} of {}", self.name));
            let options: Vec<Options> = paths.iter().map(options).collect::<Result<_>>()?;
            Ok(built(request, loader, &paths, &options, asked))
        })?;
        let mut sides = Vec::new();
        let mut said = Groups::new(Grouping::said(request.roots.each));
        for (root, built) in paths.into_iter().zip(results.unwrap_or_default()) {
            let Some(Warned { value, warnings }) = built else { continue };
            let named = format!("{root} of {}", self.name);
            warnings.into_iter().for_each(|warning| said.add(warning, Some(&named)));
            match value {
                Ok(side) => sides.push((root, Side { name: named, ..side })),
                Err(error) => failures.add(&named, &error),
            }
        }
        messages.warnings(&said.end());
        Ok(sides)
    }
}

/// The roots that the arguments ask for and that exist in the working directory.
fn roots(loader: &dyn Loader, request: &BuildRequest) -> Result<Vec<FoundRoot>> {
    let here = [".".to_owned()];
    let named = request.directories.as_slice();
    let directories = if named.is_empty() { &here } else { named };
    let directories = directories.iter().filter(|directory| loader.directory(Path::new(directory)).is_ok());
    let mut found = Vec::new();
    for directory in directories {
        if named.is_empty() || request.roots.all {
            let below = find(loader, directory, request.file_limit);
            found.extend(below.with_context(|| format!("cannot look for kustomizations in '{directory}'"))?);
        } else if kustomization_file::name_in(loader, Path::new(directory)).is_some() {
            found.push(FoundRoot { path: directory.clone(), is_used: false });
        }
    }
    Ok(found)
}
