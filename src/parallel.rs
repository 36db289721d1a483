//! Work on all cores: threads take turns at runs of items, and results come in the order of items.

use crate::meter;
use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Work on fewer bytes than this takes less time than starting a thread. A debug build always
/// starts threads, so that every test is also a test of several threads.
const WORTH_A_THREAD: usize = if cfg!(debug_assertions) { 1 } else { 512 << 10 };

/// The number of runs for each thread. It is more than one so that a run of large items does not
/// keep the other threads waiting.
const RUNS: usize = 16;

/// The stack of a thread, which nested mappings and lists need.
const STACK: usize = 8 << 20;

/// The number of threads for work on a text of `size` bytes: 1 for a short text, otherwise `limit`.
/// Without a limit it is the number of cores.
pub fn threads(size: usize, limit: Option<NonZero<usize>>) -> usize {
    if size < WORTH_A_THREAD { 1 } else { limit.unwrap_or_else(cores).get() }
}

/// The number of cores that this process may use.
pub fn cores() -> NonZero<usize> {
    thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN)
}

/// Cuts `items` into runs, and returns the result of each run, in their order. `worker` is called
/// once on each thread, and returns the function that does a run. With one thread, all items are
/// one run.
pub fn runs<'i, W, I, R>(items: &'i [I], threads: usize, worker: impl Fn() -> W + Sync) -> Vec<R>
where
    W: FnMut(&'i [I]) -> R,
    I: Sync,
    R: Send,
{
    spread(items.chunks(run_length(items.len(), threads)), threads, worker)
}

/// As [`runs`], for work that changes the items.
pub fn runs_mut<'i, W, I, R>(items: &'i mut [I], threads: usize, worker: impl Fn() -> W + Sync) -> Vec<R>
where
    W: FnMut(&'i mut [I]) -> R,
    I: Send,
    R: Send,
{
    let length = run_length(items.len(), threads);
    spread(items.chunks_mut(length), threads, worker)
}

/// The number of items in a run.
fn run_length(items: usize, threads: usize) -> usize {
    let runs = if threads <= 1 { 1 } else { threads * RUNS };
    items.div_ceil(runs).max(1)
}

/// Calls `work` for each item on up to `threads` threads, and returns the results in the order of
/// the items. A thread takes the next item as soon as it has done one.
pub fn each<'i, I: Sync, R: Send>(items: &'i [I], threads: usize, work: impl Fn(&'i I) -> R + Sync) -> Vec<R> {
    spread(items.iter(), threads, || &work)
}

/// Does pieces of work on up to `threads` threads, this one among them, and returns the results in
/// the order of the pieces. A thread takes the next piece as soon as it has done one.
fn spread<T, R: Send, W: FnMut(T) -> R>(
    pieces: impl ExactSizeIterator<Item = T> + Send,
    threads: usize,
    worker: impl Fn() -> W + Sync,
) -> Vec<R> {
    let count = pieces.len();
    let pieces = Mutex::new(pieces.enumerate());
    let next = || pieces.lock().unwrap_or_else(PoisonError::into_inner).next();
    let take_turns = || {
        let mut work = worker();
        std::iter::from_fn(next).map(|(i, piece)| (i, work(piece))).collect::<Vec<_>>()
    };
    let mut done = thread::scope(|scope| {
        // If no thread can be started, this thread does all the work.
        let start = |_| {
            let counted = || (take_turns(), meter::taken());
            thread::Builder::new().stack_size(STACK).spawn_scoped(scope, counted).ok()
        };
        let others: Vec<_> = (1..threads.min(count)).map_while(start).collect();
        let mut done = take_turns();
        for other in others {
            let (part, steps) = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            done.extend(part);
            meter::count(steps as usize);
        }
        done
    });
    done.sort_unstable_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, made)| made).collect()
}

#[cfg(test)]
mod tests {
    use super::{each, meter, runs, runs_mut};

    #[test]
    fn results_come_in_the_order_of_items_whatever_the_number_of_threads() {
        let items: Vec<usize> = (0..1_000).collect();
        for threads in [1, 2, 7, 2_000] {
            let doubled = runs(&items, threads, || |run: &[usize]| run.iter().map(|i| i * 2).collect::<Vec<_>>());
            let want: Vec<usize> = items.iter().map(|i| 2 * i).collect();
            assert_eq!(doubled.concat(), want, "{threads} threads");
            let mut changed = items.clone();
            let first = runs_mut(&mut changed, threads, || {
                |run: &mut [usize]| {
                    run.iter_mut().for_each(|i| *i *= 2);
                    run[0]
                }
            });
            assert_eq!(changed, want, "{threads} threads");
            assert!(first.is_sorted(), "{threads} threads");
        }
    }

    #[test]
    fn items_are_done_one_by_one_in_order_on_any_number_of_threads() {
        let items: Vec<usize> = (0..1_000).collect();
        for threads in [0, 1, 2, 7, 2_000] {
            let doubled: Vec<usize> = each(&items, threads, |i| 2 * i);
            assert_eq!(doubled, items.iter().map(|i| 2 * i).collect::<Vec<_>>(), "{threads} threads");
        }
        assert!(each(&[(); 0], 3, |()| ()).is_empty());
    }

    #[test]
    fn nothing_is_made_of_no_items() {
        assert!(runs(&[(); 0], 3, || |run: &[()]| run.len()).is_empty());
    }

    #[test]
    fn steps_of_other_threads_count() {
        meter::reset();
        runs(&[1; 100], 4, || |run: &[usize]| meter::count(run.len()));
        assert_eq!(meter::taken(), if cfg!(debug_assertions) { 100 } else { 0 });
    }
}
