//! [`Observer`]: notes the pieces of work of builds as they begin and end, for progress, times and
//! `--verbose`. A build without an observer costs one look at an option for each piece.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// The kinds of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Work {
    /// A root, from its kustomization to its resources.
    Root,
    /// A kustomization of a root: it contains its bases, components and steps.
    Layer,
    /// A built-in generator or transformer, or several transformers that share a pass.
    Step,
    /// A call of a plugin.
    Plugin,
    /// A run of helm that renders a chart.
    Chart,
    /// A remote file, repository or artifact, or a chart that is pulled.
    Fetch,
    /// Reading a file.
    File,
    /// Printing the resources.
    Print,
    /// The choice of a plugin.
    Choice,
}

impl Work {
    /// Its word in tables and data.
    pub fn word(self) -> &'static str {
        match self {
            Work::Root => "root",
            Work::Layer => "kustomization",
            Work::Step => "step",
            Work::Plugin => "plugin",
            Work::Chart => "chart",
            Work::Fetch => "fetch",
            Work::File => "file",
            Work::Print => "print",
            Work::Choice => "choice",
        }
    }
}

/// A piece of work.
#[derive(Clone, Debug)]
pub struct Span {
    pub work: Work,
    /// The name of the file, plugin, chart or other thing, without passwords.
    pub name: String,
    /// Where it came from, or why it was chosen; often empty.
    pub how: String,
    /// The file of the kustomization that it is for; empty if there is none.
    pub kustomization: String,
    /// The number of its thread, from 0.
    pub thread: usize,
    /// From the start of the observer.
    pub start: Duration,
    /// From the start of the observer. For work that has not ended, its start.
    pub end: Duration,
}

/// The number of roots that are built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Roots {
    pub done: usize,
    /// The roots that builds have been asked for so far.
    pub all: usize,
}

/// Notes the work of builds, or nothing. Clones note to the same place.
#[derive(Clone, Default)]
pub struct Observer(Option<Arc<Log>>);

struct Log {
    start: Instant,
    /// True if the reading of files is noted.
    has_files: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Work that has not ended, by its number.
    open: BTreeMap<u64, Span>,
    done: Vec<Span>,
    begun: u64,
    /// The roots that are to be built.
    roots: usize,
    /// The numbers of threads.
    threads: HashMap<ThreadId, usize>,
}

impl State {
    /// The number of the calling thread.
    fn thread(&mut self) -> usize {
        let next = self.threads.len();
        *self.threads.entry(std::thread::current().id()).or_insert(next)
    }

    /// The file of the kustomization that a thread works on.
    fn layer(&self, thread: usize) -> String {
        let above = self.open.values().rev().find(|span| span.thread == thread && span.work == Work::Layer);
        above.map(|span| span.name.clone()).unwrap_or_default()
    }
}

impl Log {
    /// A thread that panics leaves nothing half changed here.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer {
    /// An observer that notes work from now on; with `has_files` also the reading of each file.
    pub fn on(has_files: bool) -> Observer {
        Observer(Some(Arc::new(Log { start: Instant::now(), has_files, state: Mutex::default() })))
    }

    /// Returns true if work is noted.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Notes that work begins. It ends when the result is dropped. `name` is called only if the
    /// work is noted.
    pub fn begin(&self, work: Work, name: impl FnOnce() -> String) -> Noted {
        self.begin_with(work, name, |state, thread| state.layer(thread))
    }

    /// As [`Observer::begin`], for work that another thread does for the kustomization `layer`.
    pub fn begin_in(&self, layer: &str, work: Work, name: impl FnOnce() -> String) -> Noted {
        self.begin_with(work, name, |_, _| layer.to_owned())
    }

    /// The file of the kustomization that this thread works on; empty if there is none, or no work
    /// is noted.
    pub fn layer(&self) -> String {
        let Some(log) = &self.0 else { return String::new() };
        let mut state = log.lock();
        let thread = state.thread();
        state.layer(thread)
    }

    fn begin_with(
        &self,
        work: Work,
        name: impl FnOnce() -> String,
        layer: impl FnOnce(&State, usize) -> String,
    ) -> Noted {
        let Some(log) = self.0.as_ref().filter(|log| log.has_files || work != Work::File) else { return Noted(None) };
        let name = name();
        let mut state = log.lock();
        let thread = state.thread();
        state.begun += 1;
        let number = state.begun;
        let kustomization = layer(&state, thread);
        let start = log.start.elapsed();
        let span = Span { work, name, how: String::new(), kustomization, thread, start, end: start };
        state.open.insert(number, span);
        drop(state);
        Noted(Some((Arc::clone(log), number)))
    }

    /// Notes that more roots are to be built.
    pub fn expect_roots(&self, count: usize) {
        if let Some(log) = &self.0 {
            log.lock().roots += count;
        }
    }

    /// Notes a fact that takes no time.
    pub fn note(&self, work: Work, name: impl FnOnce() -> String, how: impl FnOnce() -> String) {
        self.begin(work, name).says(how);
    }

    /// The work that has ended, in the order in which it began.
    pub fn done(&self) -> Vec<Span> {
        let mut done = self.0.as_ref().map_or_else(Vec::new, |log| log.lock().done.clone());
        done.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
        done
    }

    /// The work that has not ended, in the order in which it began, and the roots.
    pub fn open(&self) -> (Vec<Span>, Roots) {
        let Some(log) = &self.0 else { return Default::default() };
        let state = log.lock();
        let done = state.done.iter().filter(|span| span.work == Work::Root).count();
        (state.open.values().cloned().collect(), Roots { done, all: state.roots })
    }

    /// The time since the observer was made; zero without one.
    pub fn elapsed(&self) -> Duration {
        self.0.as_ref().map_or(Duration::ZERO, |log| log.start.elapsed())
    }
}

/// Work that has begun, and ends when this is dropped.
#[must_use]
pub struct Noted(Option<(Arc<Log>, u64)>);

impl Noted {
    /// Notes where the thing came from, or why it was chosen.
    pub fn says(&self, how: impl FnOnce() -> String) {
        if let Some((log, number)) = &self.0 {
            let how = how();
            if let Some(span) = log.lock().open.get_mut(number) {
                span.how = how;
            }
        }
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        if let Some((log, number)) = &self.0 {
            let mut state = log.lock();
            if let Some(mut span) = state.open.remove(number) {
                span.end = log.start.elapsed();
                state.done.push(span);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Observer, Work};

    #[test]
    fn work_is_noted_with_its_end_and_its_reason() {
        let observer = Observer::on(false);
        let outer = observer.begin(Work::Layer, || "a".to_owned());
        let inner = observer.begin(Work::Fetch, || "b".to_owned());
        inner.says(|| "the cache".to_owned());
        assert_eq!(observer.open().0.len(), 2);
        drop(inner);
        drop(observer.begin(Work::File, || panic!("files are not noted")));
        drop(outer);
        let done = observer.done();
        let names: Vec<_> = done.iter().map(|span| (span.name.as_str(), span.how.as_str())).collect();
        assert_eq!(names, [("a", ""), ("b", "the cache")]);
        assert_eq!((done[0].kustomization.as_str(), done[1].kustomization.as_str()), ("", "a"));
        assert!(done[0].start <= done[1].start && done[1].end <= done[0].end);
    }

    #[test]
    fn without_an_observer_no_name_is_made() {
        let observer = Observer::default();
        observer.note(Work::Plugin, || panic!("a name"), || panic!("a reason"));
        assert!(observer.done().is_empty() && !observer.is_on());
    }
}
