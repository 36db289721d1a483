//! Work on all cores: threads take turns at runs of items, and results come in the order of items.

use crate::steps;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Fewer bytes than this are done sooner than a thread is started.
const WORTH_A_THREAD: usize = 512 << 10;

/// Runs for each thread: with several, one run of large items does not keep the others waiting.
const RUNS: usize = 8;

/// The stack of a thread, which nested mappings and lists need.
const STACK: usize = 8 << 20;

/// How many threads are worth having for work on a text of `size` bytes: as many as there may be,
/// or one alone. Without a limit there may be one on each core.
pub fn threads(size: usize, limit: Option<NonZero<usize>>) -> usize {
    if size < WORTH_A_THREAD { 1 } else { limit.unwrap_or_else(cores).get() }
}

/// How many cores there are for this process.
pub fn cores() -> NonZero<usize> {
    thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN)
}

/// Cuts `items` into runs, and gives what is made of each run, in their order. Each thread gets one
/// of `tools`, of which `worker` makes what does a run. With one tool no thread is started, and all
/// is one run.
pub fn runs<'i, T, W, I, R>(items: &'i [I], tools: Vec<T>, worker: impl Fn(T) -> W + Sync) -> Vec<R>
where
    T: Send,
    W: FnMut(&'i [I]) -> R,
    I: Sync,
    R: Send,
{
    let count = if tools.len() == 1 { 1 } else { tools.len() * RUNS };
    let runs: Vec<&'i [I]> = items.chunks(items.len().div_ceil(count).max(1)).collect();
    spread(runs.len(), tools, |tool| {
        let (mut work, runs) = (worker(tool), &runs);
        move |i| work(runs[i])
    })
}

/// Calls `work` for each item on up to `threads` threads, and returns the results in the order of
/// the items. A thread takes the next item as soon as it has done one.
pub fn each<'i, I: Sync, R: Send>(items: &'i [I], threads: usize, work: impl Fn(&'i I) -> R + Sync) -> Vec<R> {
    spread(items.len(), vec![(); threads.max(1)], |()| |i| work(&items[i]))
}

/// Does the work numbered 0 to `count`, and returns the results in the order of the numbers. Each
/// thread gets one of `tools`, and takes the next number as soon as it has done one.
fn spread<T: Send, R: Send, W: FnMut(usize) -> R>(
    count: usize,
    tools: Vec<T>,
    worker: impl Fn(T) -> W + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let take_turns = |tool: T| {
        let mut work = worker(tool);
        let turn = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&i| i < count);
        std::iter::from_fn(turn).map(|i| (i, work(i))).collect::<Vec<_>>()
    };
    let mut done = thread::scope(|scope| {
        let mut tools = tools.into_iter();
        let own = tools.next();
        // Where no thread can be started, this one does all.
        let start = |tool| {
            let counted = || (take_turns(tool), steps::taken());
            thread::Builder::new().stack_size(STACK).spawn_scoped(scope, counted).ok()
        };
        let others: Vec<_> = tools.take(count.saturating_sub(1)).map_while(start).collect();
        let mut done = own.map(take_turns).unwrap_or_default();
        for other in others {
            let (part, steps) = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            done.extend(part);
            steps::add(steps as usize);
        }
        done
    });
    done.sort_unstable_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, made)| made).collect()
}

#[cfg(test)]
mod tests {
    use super::{each, runs, steps};

    #[test]
    fn results_come_in_the_order_of_items_whatever_the_number_of_threads() {
        let items: Vec<usize> = (0..1_000).collect();
        for threads in [1, 2, 7, 2_000] {
            let doubled = runs(&items, vec![2; threads], |factor| {
                move |run: &[usize]| run.iter().map(|i| i * factor).collect::<Vec<_>>()
            });
            assert_eq!(doubled.concat(), items.iter().map(|i| 2 * i).collect::<Vec<_>>(), "{threads} threads");
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
        assert!(runs(&[(); 0], vec![(); 3], |()| |run: &[()]| run.len()).is_empty());
    }

    #[test]
    fn steps_of_other_threads_count() {
        steps::reset();
        runs(&[1; 100], vec![(); 4], |()| |run: &[usize]| steps::add(run.len()));
        assert_eq!(steps::taken(), if cfg!(debug_assertions) { 100 } else { 0 });
    }
}
