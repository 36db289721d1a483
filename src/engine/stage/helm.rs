//! [`Helm`]: what a build knows of the program that renders charts.

use super::Build;
use crate::config::helm::{HelmChart, HelmGlobals};
use crate::diag::{Code, Error, Result};
use crate::load::{Root, join};
use std::path::PathBuf;
use std::rc::Rc;

/// A chart of a kustomization, checked.
pub struct ChartEntry<'a> {
    pub chart: HelmChart<'a>,
    pub globals: HelmGlobals<'a>,
    pub root: Root,
    pub namespace: &'a str,
    pub debug: bool,
}

impl ChartEntry<'_> {
    /// The directory that holds this chart.
    pub fn home(&self) -> PathBuf {
        let home = if self.globals.chart_home.is_empty() { "charts" } else { self.globals.chart_home };
        let home = join(&self.root.real.to_string_lossy(), home);
        match (self.chart.version, self.chart.repo) {
            ("", _) | (_, "") => home.into(),
            (version, _) => join(&home, &format!("{}-{version}", self.chart.name)).into(),
        }
    }
}

/// Renders charts.
pub trait Helm: Send + Sync {
    /// Refuses a chart whose files lead out of the repository that the chart's root was cloned
    /// from.
    ///
    /// # Errors
    /// The chart, or helm's configuration, is elsewhere.
    fn check(&self, entry: &ChartEntry<'_>) -> Result<()>;

    /// Checks that a chart can be had without the network.
    ///
    /// # Errors
    /// It would have to be pulled, or is not in the lock.
    fn check_fetched<'a>(&self, build: &Build<'a>, entry: &ChartEntry<'a>) -> Result<()>;

    /// What charts of one kustomization print, in their order, up to the first that cannot be made
    /// ready.
    fn render<'a>(&self, build: &mut Build<'a>, entries: &[Rc<ChartEntry<'a>>]) -> Vec<Result<Vec<u8>>>;
}

/// A build without a program for charts.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHelm;

fn missing(entry: &ChartEntry<'_>) -> Error {
    let error =
        Error::new(Code::NotEnabled, "charts are rendered by helm, and this build has none").at(entry.chart.pos);
    error.hint("the option 'helm.program' of a build renders charts")
}

impl Helm for NoHelm {
    fn check(&self, entry: &ChartEntry<'_>) -> Result<()> {
        Err(missing(entry))
    }

    fn check_fetched<'a>(&self, _: &Build<'a>, entry: &ChartEntry<'a>) -> Result<()> {
        Err(missing(entry))
    }

    fn render<'a>(&self, _: &mut Build<'a>, entries: &[Rc<ChartEntry<'a>>]) -> Vec<Result<Vec<u8>>> {
        entries.iter().take(1).map(|entry| Err(missing(entry))).collect()
    }
}
