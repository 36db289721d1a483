//! [`HelmProgram`]: renders charts by running helm.
//!
//! Each chart is made ready in turn, then helm runs for as many at a time as there are processors.
//! A chart that is pulled is rendered before the next one is made ready: helm writes to its home
//! then.
//!
//! * [`entry`]: one chart: where it is, its values; [`command`]: the arguments of helm.
//! * [`run`]: runs helm; [`user`]: the user's own configuration of it.

pub mod command;
mod entry;
mod run;
mod user;

use crate::diag::{Error, Result};
use crate::links;
use entry::{ChartRun, ReadyChart};
use run::Run;
use rustomize_base::observe::Work;
use rustomize_base::parallel;
use rustomize_engine::stage::{Build, ChartEntry, Helm};
use rustomize_process::{Children, Limits};
use rustomize_yaml::Pos;
use std::ffi::OsString;
use std::rc::Rc;

/// Returns the value of a variable of this process.
pub type Variable = fn(&str) -> Option<OsString>;

/// helm, as a child of this process. A build names the program.
#[derive(Clone, Debug)]
pub struct HelmProgram {
    /// The runner of helm.
    pub children: Children,
    /// The limits of one call of helm.
    pub limits: Limits,
    /// True to let helm use the logins and repositories of the user.
    pub user_config: bool,
    /// Gives variables of this process: helm reads some of them.
    pub variable: Variable,
}

impl Default for HelmProgram {
    fn default() -> Self {
        HelmProgram { children: Children::new(), limits: Limits::default(), user_config: false, variable: |_| None }
    }
}

/// A chart with its name and the place of its entry.
type Named<'e> = (ReadyChart, &'e str, Pos);

impl Helm for HelmProgram {
    fn check(&self, entry: &ChartEntry<'_>) -> Result<()> {
        let at = |e: Error| e.at(entry.chart.pos);
        links::hold(&entry.root, &entry.home().join(entry.chart.name)).map_err(at)?;
        if !entry.globals.config_home.is_empty() {
            let config = std::path::absolute(entry.globals.config_home).unwrap_or_default();
            links::hold(&entry.root, &config).map_err(at)?;
        }
        Ok(())
    }

    fn check_fetched<'a>(&self, build: &Build<'a>, entry: &ChartEntry<'a>) -> Result<()> {
        ChartRun::new(self, entry).present(build, &entry.home()).map(drop)
    }

    fn render<'a>(&self, build: &mut Build<'a>, entries: &[Rc<ChartEntry<'a>>]) -> Vec<Result<Vec<u8>>> {
        let mut ready: Vec<Named<'_>> = Vec::with_capacity(entries.len());
        let mut printed = Vec::with_capacity(entries.len());
        for entry in entries {
            let chart = ChartRun::new(self, entry).ready(build);
            let is_pulled = chart.as_ref().is_ok_and(|chart| chart.is_pulled);
            if is_pulled || chart.is_err() {
                printed.append(&mut self.side_by_side(build, &std::mem::take(&mut ready)));
            }
            match chart {
                Ok(chart) => ready.push((chart, entry.chart.name, entry.chart.pos)),
                Err(e) => {
                    printed.push(Err(e));
                    return printed;
                }
            }
            if is_pulled {
                printed.append(&mut self.side_by_side(build, &std::mem::take(&mut ready)));
            }
        }
        printed.append(&mut self.side_by_side(build, &ready));
        printed
    }
}

impl HelmProgram {
    /// What helm prints for charts that are ready.
    fn side_by_side(&self, build: &Build<'_>, ready: &[Named<'_>]) -> Vec<Result<Vec<u8>>> {
        let options = &build.cx.options;
        let (helm, observer, layer) = (Run::new(self, &options.helm), &options.observer, options.observer.layer());
        let threads = build.arena.threads(usize::MAX).min(ready.len());
        parallel::each(ready, threads, |(chart, name, pos)| {
            let noted = observer.begin_in(&layer, Work::Chart, || (*name).to_owned());
            noted.says(|| format!("{}, by {}", chart.directory.display(), options.helm.command));
            helm.run(chart.command.clone(), &chart.environment, *pos)
        })
    }
}
