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
use rustomize_base::host::{Host, NoHost};
use rustomize_base::observe::Work;
use rustomize_base::parallel;
use rustomize_engine::stage::{Build, ChartEntry, Helm};
use rustomize_process::{Children, Limits};
use rustomize_yaml::Pos;
use std::rc::Rc;
use std::sync::Arc;

/// helm, as a child of this process. A build names the program.
#[derive(Clone, Debug)]
pub struct HelmProgram {
    /// The runner of helm.
    pub children: Children,
    /// The limits of one call of helm.
    pub limits: Limits,
    /// True to let helm use the logins and repositories of the user.
    pub user_config: bool,
    /// The host: helm reads some variables of its environment.
    pub host: Arc<dyn Host>,
}

impl Default for HelmProgram {
    fn default() -> Self {
        HelmProgram { children: Children::new(), limits: Limits::default(), user_config: false, host: Arc::new(NoHost) }
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
    /// The output of helm for charts that are ready.
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
