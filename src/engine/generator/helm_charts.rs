//! [`Charts`]: the charts of one kustomization, which helm renders side by side.
//!
//! The first chart that is asked for renders all. After a chart that cannot be made ready, no
//! further chart is: the result is the one of charts that are rendered one after the other.

use crate::diag::Result;
use crate::stage::{Build, ChartEntry};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// The charts of one kustomization. Clones are handles of the same charts.
#[derive(Clone, Default)]
pub struct Charts<'a>(Rc<RefCell<State<'a>>>);

#[derive(Default)]
struct State<'a> {
    entries: Vec<Rc<ChartEntry<'a>>>,
    /// What helm has printed, by the number of the chart; `None` for a chart that was not rendered,
    /// or whose output was taken.
    printed: Vec<Option<Result<Vec<u8>>>>,
}

impl<'a> Charts<'a> {
    /// Adds a chart, and returns its number.
    pub(super) fn add(&self, entry: Rc<ChartEntry<'a>>) -> usize {
        let entries = &mut self.0.borrow_mut().entries;
        entries.push(entry);
        entries.len() - 1
    }

    /// What helm prints for a chart. O(charts) runs of helm for the first chart.
    ///
    /// # Errors
    /// The chart cannot be made ready, or helm fails.
    pub(super) fn printed(&self, build: &mut Build<'a>, number: usize) -> Result<Vec<u8>> {
        let taken = |state: &mut State<'a>| state.printed.get_mut(number).and_then(Option::take);
        if let Some(printed) = taken(&mut self.0.borrow_mut()) {
            return printed;
        }
        let entries: Vec<Rc<ChartEntry<'a>>> = self.0.borrow().entries[number..].to_vec();
        let helm = Arc::clone(&build.cx.options.helm.program);
        let mut printed = helm.render(build, &entries).into_iter();
        let own = printed.next().unwrap_or_else(|| Ok(Vec::new()));
        let state = &mut *self.0.borrow_mut();
        state.printed.clear();
        state.printed.resize_with(number + 1, || None);
        state.printed.extend(printed.map(Some));
        own
    }
}
