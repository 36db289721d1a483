//! [`Charts`]: the charts of one kustomization, which helm renders side by side.
//!
//! The first chart that is asked for renders all: each is made ready in turn, then helm runs for
//! as many at a time as there are processors. A chart that is pulled is rendered before the next
//! one is made ready: helm writes to its home then. After a chart that cannot be made ready, no
//! further chart is: the result is the one of charts that are rendered one after the other.

use super::helm_entry::{ChartEntry, ReadyChart};
use super::helm_run::Helm;
use crate::diag::Result;
use crate::stage::Build;
use rustomize_base::observe::Work;
use rustomize_base::parallel;
use rustomize_yaml::Pos;
use std::cell::RefCell;
use std::rc::Rc;

/// The charts of one kustomization. Clones are handles of the same charts.
#[derive(Clone, Default)]
pub struct Charts<'a>(Rc<RefCell<State<'a>>>);

#[derive(Default)]
struct State<'a> {
    entries: Vec<Rc<ChartEntry<'a>>>,
    /// The output of helm, by the number of the chart; `None` for a chart that was not rendered, or
    /// whose output was taken.
    printed: Vec<Option<Result<Vec<u8>>>>,
}

impl<'a> Charts<'a> {
    /// Adds a chart, and returns its number.
    pub(super) fn add(&self, entry: Rc<ChartEntry<'a>>) -> usize {
        let entries = &mut self.0.borrow_mut().entries;
        entries.push(entry);
        entries.len() - 1
    }

    /// The output of helm for a chart. O(charts) runs of helm for the first chart.
    ///
    /// # Errors
    /// The chart cannot be made ready, or helm fails.
    pub(super) fn printed(&self, build: &mut Build<'a>, number: usize) -> Result<Vec<u8>> {
        let taken = |state: &mut State<'a>| state.printed.get_mut(number).and_then(Option::take);
        if let Some(printed) = taken(&mut self.0.borrow_mut()) {
            return printed;
        }
        let entries: Vec<Rc<ChartEntry<'a>>> = self.0.borrow().entries[number..].to_vec();
        let mut printed = render(build, &entries).into_iter();
        let own = printed.next().unwrap_or_else(|| Ok(Vec::new()));
        let state = &mut *self.0.borrow_mut();
        state.printed.clear();
        state.printed.resize_with(number + 1, || None);
        state.printed.extend(printed.map(Some));
        own
    }
}

/// The output of helm for charts, in their order, up to the first that cannot be made ready.
fn render<'a>(build: &mut Build<'a>, entries: &[Rc<ChartEntry<'a>>]) -> Vec<Result<Vec<u8>>> {
    let mut ready: Vec<Named<'_>> = Vec::with_capacity(entries.len());
    let mut printed = Vec::with_capacity(entries.len());
    for entry in entries {
        let chart = entry.ready(build);
        let is_pulled = chart.as_ref().is_ok_and(|chart| chart.is_pulled);
        if is_pulled || chart.is_err() {
            printed.append(&mut side_by_side(build, &std::mem::take(&mut ready)));
        }
        match chart {
            Ok(chart) => ready.push((chart, entry.chart.name, entry.chart.pos)),
            Err(e) => {
                printed.push(Err(e));
                return printed;
            }
        }
        if is_pulled {
            printed.append(&mut side_by_side(build, &std::mem::take(&mut ready)));
        }
    }
    printed.append(&mut side_by_side(build, &ready));
    printed
}

/// A chart with its name and the place of its entry.
type Named<'e> = (ReadyChart, &'e str, Pos);

/// The output of helm for charts that are ready.
fn side_by_side(build: &Build<'_>, ready: &[Named<'_>]) -> Vec<Result<Vec<u8>>> {
    let options = &build.cx.options;
    let (helm, observer, layer) = (Helm::new(options), &options.observer, options.observer.layer());
    let threads = build.arena.threads(usize::MAX).min(ready.len());
    parallel::each(ready, threads, |(chart, name, pos)| {
        let noted = observer.begin_in(&layer, Work::Chart, || (*name).to_owned());
        noted.says(|| format!("{}, by {}", chart.directory.display(), options.helm.command));
        helm.run(chart.command.clone(), &chart.environment, *pos)
    })
}
