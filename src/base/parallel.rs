//! Work on all cores: threads take turns at runs of items, and results come in the order of items.
//!
//! The steps of a build share threads that stay ([`runs`], [`runs_mut`]): starting threads, and new
//! memory for each of them, took a twentieth of a build. Whole builds and other work that may wait
//! have threads of their own ([`each`]).

use crate::{memory, meter};
use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::num::NonZero;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;

/// Work on fewer bytes than this takes less time than starting a thread. A debug build always
/// starts threads, so that every test is also a test of several threads.
const WORTH_A_THREAD: usize = if cfg!(debug_assertions) { 1 } else { 512 << 10 };

/// The number of runs for each thread. It is more than one so that a run of large items does not
/// keep the other threads waiting.
const RUNS: usize = 16;

/// The stack of a thread in bytes, which nested mappings and lists need.
pub const STACK: usize = 8 << 20;

/// A thread of its own, with the stack that builds need.
pub fn thread(name: &str) -> thread::Builder {
    thread::Builder::new().name(name.to_owned()).stack_size(STACK)
}

/// The number of threads for work on a text of `size` bytes: 1 for a short text, otherwise `limit`.
/// Without a limit it is the number of cores.
pub fn threads(size: usize, limit: Option<NonZero<usize>>) -> usize {
    if size < WORTH_A_THREAD { 1 } else { limit.unwrap_or_else(cores).get() }
}

/// The bytes that a thread addresses: its stack, and the memory that the allocator keeps for it.
const ADDRESSES: u64 = 128 << 20;

/// The number of cores that this process may use, or fewer if it may not address much memory. The
/// system is asked once: its answer is in three files.
pub fn cores() -> NonZero<usize> {
    static CORES: LazyLock<NonZero<usize>> = LazyLock::new(|| {
        let cores = thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        let room = memory::addresses().map_or(usize::MAX, |bytes| (bytes / ADDRESSES) as usize);
        NonZero::new(cores.get().min(room)).unwrap_or(NonZero::<usize>::MIN)
    });
    *CORES
}

/// The threads that builds share, one less than there are cores: the thread that asks works as
/// well. `None` if the system starts no thread.
static POOL: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
    let threads = ThreadPoolBuilder::new().num_threads(cores().get().saturating_sub(1).max(1));
    let threads = threads.stack_size(STACK).thread_name(|i| format!("work {i}")).start_handler(leaver());
    let pool = threads.build().ok();
    // A new thread may wait for this core. It leaves it as soon as it runs.
    thread::yield_now();
    pool
});

/// A function that moves the calling thread away from the core on which this one runs. Linux often
/// begins a thread on the core of the thread that starts it, although another core has nothing to
/// do, and moves one of the two after four milliseconds.
#[cfg(target_os = "linux")]
fn leaver() -> impl Fn(usize) + Send + Sync {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
    let here = sched_getcpu();
    move |_| {
        let Ok(all) = sched_getaffinity(None) else { return };
        let mut others = all;
        if here < CpuSet::MAX_CPU {
            others.unset(here);
        }
        // Forbidding the core moves the thread. Allowing the core again does not.
        if others.count() > 0 && sched_setaffinity(None, &others).is_ok() {
            let _ = sched_setaffinity(None, &all);
        }
    }
}

/// Threads begin where the system puts them.
#[cfg(not(target_os = "linux"))]
fn leaver() -> impl Fn(usize) + Send + Sync {
    |_| {}
}

/// The number of the calling thread among the shared ones, from 1; 0 for a thread that is not
/// shared.
fn number() -> usize {
    rayon_core::current_thread_index().map_or(0, |i| i + 1)
}

/// Cuts `items` into runs, and returns the result of each run, in their order. `worker` is called
/// once on each thread, and returns the function that does a run. With one thread, all items are
/// one run. A thread that waits for its runs may do those of others: whoever calls this must not
/// hold a lock that `worker` needs.
pub fn runs<'i, W, I, R>(items: &'i [I], threads: usize, worker: impl Fn() -> W + Sync) -> Vec<R>
where
    W: FnMut(&'i [I]) -> R,
    I: Sync,
    R: Send,
{
    Pieces::of(items.chunks(run_length(items.len(), threads)), threads).on_pool(threads, worker)
}

/// As [`runs`], for work that changes the items.
pub fn runs_mut<'i, W, I, R>(items: &'i mut [I], threads: usize, worker: impl Fn() -> W + Sync) -> Vec<R>
where
    W: FnMut(&'i mut [I]) -> R,
    I: Send,
    R: Send,
{
    let length = run_length(items.len(), threads);
    Pieces::of(items.chunks_mut(length), threads).on_pool(threads, worker)
}

/// The number of items in a run.
fn run_length(items: usize, threads: usize) -> usize {
    let runs = if threads <= 1 { 1 } else { threads * RUNS };
    items.div_ceil(runs).max(1)
}

/// Calls `work` for each item on up to `threads` threads of its own, and returns the results in the
/// order of the items. A thread takes the next item as soon as it has done one.
pub fn each<'i, I: Sync, R: Send>(items: &'i [I], threads: usize, work: impl Fn(&'i I) -> R + Sync) -> Vec<R> {
    Pieces::of(items.iter(), 1).on_new_threads(threads, || &work)
}

/// Pieces of work; `None` for those that a thread has taken.
struct Pieces<P> {
    left: Vec<Mutex<Option<P>>>,
    /// Each thread begins with a share of the pieces, the same one in every step: it finds in the
    /// cache of its core what it has left there. With one share, pieces are begun in their order.
    shares: usize,
}

/// The results of pieces, with the numbers of the pieces.
type Done<R> = Vec<(usize, R)>;

impl<P: Send> Pieces<P> {
    fn of(pieces: impl Iterator<Item = P>, shares: usize) -> Self {
        Pieces { left: pieces.map(|piece| Mutex::new(Some(piece))).collect(), shares: shares.max(1) }
    }

    /// Does the pieces of the calling thread's share, then those that other shares still have, the
    /// last one first. Several threads may do this at the same time.
    fn work<R, W: FnMut(P) -> R>(&self, worker: impl Fn() -> W) -> Done<R> {
        let mut work = worker();
        let count = self.left.len();
        let begin = |share: usize| share * count / self.shares;
        let share = number() % self.shares;
        let order = (begin(share)..begin(share + 1)).chain((0..count).rev());
        let take = |i: usize| Some((i, self.left[i].lock().unwrap_or_else(PoisonError::into_inner).take()?));
        order.filter_map(take).map(|(i, piece)| (i, work(piece))).collect()
    }

    /// Does the pieces on this thread and on shared ones, `threads` in all. Returns the results in
    /// the order of the pieces.
    fn on_pool<R: Send, W: FnMut(P) -> R>(self, threads: usize, worker: impl Fn() -> W + Sync) -> Vec<R> {
        let others = threads.min(self.left.len()).saturating_sub(1);
        let Some(pool) = (others > 0).then(|| POOL.as_ref()).flatten() else {
            return in_order(self.work(&worker));
        };
        let of_others = Mutex::new((Vec::new(), 0));
        let mut done = pool.in_place_scope(|scope| {
            for _ in 0..others {
                scope.spawn(|_| {
                    let before = meter::taken();
                    let done = self.work(&worker);
                    let mut of_others = of_others.lock().unwrap_or_else(PoisonError::into_inner);
                    of_others.0.extend(done);
                    of_others.1 += meter::taken() - before;
                });
            }
            self.work(&worker)
        });
        let (more, steps) = of_others.into_inner().unwrap_or_else(PoisonError::into_inner);
        meter::count(steps as usize);
        done.extend(more);
        in_order(done)
    }

    /// Does the pieces on this thread and on new ones, `threads` in all. Returns the results in the
    /// order of the pieces.
    fn on_new_threads<R: Send, W: FnMut(P) -> R>(self, threads: usize, worker: impl Fn() -> W + Sync) -> Vec<R> {
        let done = thread::scope(|scope| {
            // If no thread can be started, this thread does all the work.
            let start = |_| {
                let counted = || (self.work(&worker), meter::taken());
                thread::Builder::new().stack_size(STACK).spawn_scoped(scope, counted).ok()
            };
            let others: Vec<_> = (1..threads.min(self.left.len())).map_while(start).collect();
            let mut done = self.work(&worker);
            for other in others {
                let (part, steps) = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                done.extend(part);
                meter::count(steps as usize);
            }
            done
        });
        in_order(done)
    }
}

fn in_order<R>(mut done: Done<R>) -> Vec<R> {
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
