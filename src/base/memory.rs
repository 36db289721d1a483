//! Memory: how much of it the system gives to this process, and how much the steps of a build may
//! fill.
//!
//! A small input can make a huge output: a text that is put into another one ten thousand times, a
//! base that is used twice by each of thirty layers. So everything that steps make is counted where
//! it is made, and drawn from the one [`Budget`] of the build: texts, lists that are copied,
//! entries that are added, documents that are read again, and the output. Memory that is freed
//! again is not given back to the budget.

use std::cell::Cell;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The budget of a build where the system has enough memory, in bytes.
pub const USUAL_BUDGET: u64 = 4 << 30;

/// So many bytes are compared with no limit but the user's: most builds make fewer, and never ask
/// the system.
const QUIET: u64 = 32 << 20;

/// A thread draws from the budget when it has made so many bytes.
const UNDRAWN: usize = 64 << 10;

thread_local! {
    /// The bytes that this thread has made and not drawn yet.
    static MADE: Cell<usize> = const { Cell::new(0) };
}

/// Counts bytes that a step has made. [`Budget::check`] draws them.
#[inline]
pub fn made(bytes: usize) {
    MADE.set(MADE.get().saturating_add(bytes));
}

/// The bytes that the steps of one build may make.
#[derive(Debug, Default)]
pub struct Budget {
    /// `None` for the usual one.
    limit: Option<u64>,
    spent: AtomicU64,
}

/// A build has made more than its budget allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent {
    /// The budget in bytes.
    pub limit: u64,
}

impl Budget {
    /// The budget of work that is in no build.
    pub const fn none() -> Self {
        Budget::new(Some(u64::MAX))
    }

    /// A budget of which nothing is spent; `None` for [`USUAL_BUDGET`], or for a quarter of the
    /// memory that the system gives, if that is less: what grows takes twice its size.
    pub const fn new(limit: Option<u64>) -> Self {
        Budget { limit, spent: AtomicU64::new(0) }
    }

    /// Draws the bytes that this thread has [`made`], if they are many. O(1).
    ///
    /// # Errors
    /// The budget is spent.
    #[inline]
    pub fn check(&self) -> Result<(), Spent> {
        if MADE.get() < UNDRAWN { Ok(()) } else { self.spend(MADE.take()) }
    }

    /// Draws bytes.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn spend(&self, bytes: usize) -> Result<(), Spent> {
        let before = self.spent.fetch_add(bytes as u64, Ordering::Relaxed);
        self.hold(before.saturating_add(bytes as u64))
    }

    /// Returns whether so many more bytes may be made, and draws nothing.
    ///
    /// # Errors
    /// More bytes are asked for than are left.
    pub fn has_room(&self, bytes: usize) -> Result<(), Spent> {
        self.hold(self.spent.load(Ordering::Relaxed).saturating_add(bytes as u64))
    }

    /// The bytes that are left.
    ///
    /// Cost: the first call of a process asks the system for its memory, which takes some thirty
    /// system calls in a container.
    pub fn left(&self) -> usize {
        self.left_of(self.limit.unwrap_or_else(|| *USUAL))
    }

    /// The bytes that are left without asking the system: as many as [`left`](Budget::left) gives,
    /// or fewer.
    pub fn left_for_sure(&self) -> usize {
        self.left_of(self.limit.unwrap_or(QUIET))
    }

    fn left_of(&self, limit: u64) -> usize {
        usize::try_from(limit.saturating_sub(self.spent.load(Ordering::Relaxed))).unwrap_or(usize::MAX)
    }

    fn hold(&self, spent: u64) -> Result<(), Spent> {
        if self.limit.is_none() && spent <= QUIET {
            return Ok(());
        }
        let limit = self.limit.unwrap_or_else(|| *USUAL);
        if spent > limit { Err(Spent { limit }) } else { Ok(()) }
    }
}

static USUAL: LazyLock<u64> = LazyLock::new(|| given().map_or(USUAL_BUDGET, |given| USUAL_BUDGET.min(given / 4)));

/// The bytes of memory that the system gives to this process: the least of its own limits, of those
/// of its control groups, and of all memory; `None` if that is unknown. Asks the system each time.
pub fn given() -> Option<u64> {
    [addresses(), system::of_groups(), system::all()].into_iter().flatten().min()
}

/// The bytes that this process may address, if that is limited. Memory that is not written to, as
/// most of a stack, counts here alone.
pub fn addresses() -> Option<u64> {
    system::addresses()
}

/// The bytes of the stack that the system gives to the first thread, if that is limited.
pub fn stack() -> Option<u64> {
    system::stack()
}

#[cfg(target_os = "linux")]
mod system {
    use rustix::process::{Resource, getrlimit};
    use std::fs;
    use std::path::Path;

    pub(super) fn addresses() -> Option<u64> {
        [Resource::As, Resource::Data].into_iter().filter_map(|resource| getrlimit(resource).current).min()
    }

    pub(super) fn stack() -> Option<u64> {
        getrlimit(Resource::Stack).current
    }

    /// The memory of the machine.
    pub(super) fn all() -> Option<u64> {
        let info = rustix::system::sysinfo();
        Some((info.totalram as u64).saturating_mul(u64::from(info.mem_unit))).filter(|bytes| *bytes > 0)
    }

    /// The least limit of the groups that this process is in.
    pub(super) fn of_groups() -> Option<u64> {
        let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
        groups.lines().filter_map(of_group).min()
    }

    /// The least limit of a group, as a line of `/proc/self/cgroup` names it, and of those above
    /// it.
    fn of_group(line: &str) -> Option<u64> {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, group) = (parts.next()?, parts.next()?, parts.next()?);
        let (mount, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => return None,
        };
        let limit = |group: &Path| {
            let directory = Path::new(mount).join(group.strip_prefix("/").unwrap_or(group));
            fs::read_to_string(directory.join(file)).ok()?.trim().parse::<u64>().ok()
        };
        Path::new(group).ancestors().filter_map(limit).min()
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn addresses() -> Option<u64> {
        None
    }

    /// Not known, and on Windows a constant of the program: 2 MiB or less.
    pub(super) fn stack() -> Option<u64> {
        cfg!(windows).then_some(1 << 20)
    }

    pub(super) fn all() -> Option<u64> {
        None
    }

    pub(super) fn of_groups() -> Option<u64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, Spent, UNDRAWN, given, made};

    #[test]
    fn what_a_thread_makes_is_drawn_from_the_budget_that_is_checked() {
        let budget = Budget::new(Some(3 * UNDRAWN as u64));
        made(UNDRAWN - 1);
        assert_eq!((budget.check(), budget.left()), (Ok(()), 3 * UNDRAWN));
        made(1);
        assert_eq!((budget.check(), budget.left()), (Ok(()), 2 * UNDRAWN));
        assert_eq!(budget.left_for_sure(), budget.left());
        assert_eq!(budget.has_room(2 * UNDRAWN + 1), Err(Spent { limit: 3 * UNDRAWN as u64 }));
        assert_eq!((budget.has_room(2 * UNDRAWN), budget.spend(2 * UNDRAWN), budget.left()), (Ok(()), Ok(()), 0));
        assert_eq!(budget.spend(1), Err(Spent { limit: 3 * UNDRAWN as u64 }));
        made(usize::MAX);
        assert_eq!(Budget::none().check(), Ok(()));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_system_says_how_much_memory_there_is() {
        assert!(given().is_some_and(|bytes| bytes > 1 << 20));
    }
}
