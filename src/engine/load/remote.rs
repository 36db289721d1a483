//! The remote parts of builds, as a build asks for them: repositories, files over HTTP, charts and
//! artifacts. [`Remotes`] is the option of a build that brings them; [`Fetch`] has the parts of the
//! builds that share their files.

use super::artifact_reference::{self, ArtifactReference};
use super::loader::{Loader, Memory};
use super::{NotLoaded, RepoSpec, is_url};
use crate::diag::{Code, Error, Result};
use rustomize_base::observe::Observer;
use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where builds get their remote parts.
pub trait Remotes: Any + Send + Sync {
    /// The remote parts of builds that share their files, none of them fetched yet.
    fn open(self: Arc<Self>, observer: &Observer) -> Arc<dyn Fetch>;

    /// Returns true if nothing is fetched: a part that is not kept is an error.
    fn is_offline(&self) -> bool {
        false
    }

    /// Returns true if builds are held to a lock.
    fn is_locked(&self) -> bool {
        false
    }

    /// Returns true if `other` gives the same parts in the same way, so that builds with either of
    /// them may share what they fetch.
    fn is_like(&self, other: &dyn Remotes) -> bool;
}

/// Fetches the remote parts of builds that share their files, each part once.
pub trait Fetch: Send + Sync {
    /// The files of this machine: the directories that the other functions return are there.
    fn machine(&self) -> &dyn Loader;

    /// The directory of a version of a repository.
    ///
    /// # Errors
    /// The repository cannot be cloned, or its version differs from the lock.
    fn repository(&self, spec: &RepoSpec) -> Result<PathBuf>;

    /// Clones several repositories side by side, if that saves time.
    fn prefetch(&self, _specs: Vec<RepoSpec>) {}

    /// The directory of an artifact.
    ///
    /// # Errors
    /// The artifact cannot be fetched, or differs from the lock.
    fn artifact(&self, reference: &ArtifactReference) -> Result<PathBuf>;

    /// The file that a server has at a URL.
    ///
    /// # Errors
    /// The file cannot be fetched, or differs from the lock.
    fn file(&self, url: &str) -> Result<Arc<[u8]>, NotLoaded>;

    /// The directory of a chart that need not be pulled: `home` if the chart home has the chart,
    /// else a copy of it that is kept elsewhere. `None` for a chart that must be pulled.
    ///
    /// # Errors
    /// The chart would have to be pulled and may not, or differs from the lock.
    fn chart(&self, chart: ChartName<'_>, home: &Path) -> Result<Option<PathBuf>>;

    /// Notes a chart that was pulled into its chart home.
    ///
    /// # Errors
    /// The chart differs from the lock, or cannot be read.
    fn keep_chart(&self, chart: ChartName<'_>, pulled: &Path) -> Result<()>;

    /// Keeps a copy of a chart that was pulled for a remote root, and returns its place.
    ///
    /// # Errors
    /// The chart differs from the lock, or cannot be read or copied.
    fn take_chart(&self, chart: ChartName<'_>, pulled: &Path) -> Result<PathBuf>;
}

/// A chart that is pulled: its repository, its name and its version.
#[derive(Clone, Copy, Debug)]
pub struct ChartName<'c> {
    pub repo: &'c str,
    pub name: &'c str,
    pub version: &'c str,
    pub devel: bool,
}

/// No remote parts: a build that names one fails.
#[derive(Debug, Default)]
pub struct NoRemotes(Memory);

impl NoRemotes {
    /// Builds that read files of their loader alone.
    pub fn new() -> Self {
        NoRemotes::default()
    }
}

/// The error for a part, which `name` calls in messages.
fn refused(name: &str) -> Error {
    let error = Error::new(Code::NotEnabled, format!("{name} is remote, and this build has no remote parts"));
    error.hint("the option 'remote' of a build says where remote parts come from")
}

impl Remotes for NoRemotes {
    fn open(self: Arc<Self>, _: &Observer) -> Arc<dyn Fetch> {
        self
    }

    fn is_like(&self, other: &dyn Remotes) -> bool {
        (other as &dyn Any).is::<NoRemotes>()
    }
}

impl Fetch for NoRemotes {
    fn machine(&self) -> &dyn Loader {
        &self.0
    }

    fn repository(&self, spec: &RepoSpec) -> Result<PathBuf> {
        Err(refused(&format!("the repository '{}'", super::host::without_user(&spec.raw))))
    }

    fn artifact(&self, reference: &ArtifactReference) -> Result<PathBuf> {
        Err(refused(&format!("the artifact '{}'", reference.name())))
    }

    fn file(&self, url: &str) -> Result<Arc<[u8]>, NotLoaded> {
        let error = refused(&format!("the file '{}'", super::host::without_user(url)));
        // A URL that does not lead to a file may lead to a repository.
        Err(NotLoaded { missing: RepoSpec::parse(url).is_some(), error })
    }

    fn chart(&self, chart: ChartName<'_>, _: &Path) -> Result<Option<PathBuf>> {
        Err(refused(&format!("the chart '{}'", chart.name)))
    }

    fn keep_chart(&self, chart: ChartName<'_>, _: &Path) -> Result<()> {
        Err(refused(&format!("the chart '{}'", chart.name)))
    }

    fn take_chart(&self, chart: ChartName<'_>, _: &Path) -> Result<PathBuf> {
        Err(refused(&format!("the chart '{}'", chart.name)))
    }
}

/// Returns true if an entry names a file, a repository or an artifact that is fetched.
pub fn is_remote(entry: &str) -> bool {
    is_url(entry) || artifact_reference::is_artifact(entry) || RepoSpec::parse(entry).is_some()
}

/// The artifact that an entry names; `None` for any other entry.
pub fn artifact_in(entry: &str) -> Option<Result<ArtifactReference>> {
    artifact_reference::is_artifact(entry).then(|| ArtifactReference::parse(entry))
}
