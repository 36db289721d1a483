//! Ends the processes that a child has started and that outlive it, even if they left its process
//! group, as daemons do.
//!
//! A child that has a keeper ends with all that it has started: see [`super::keeper`]. This is for
//! children without one, and for the case that somebody has killed a keeper. Each child has a
//! variable that its own children inherit. This process adopts processes that lose their parent,
//! and so finds them among its children. On systems without adoption they keep running.

use super::child::Child;
use super::lock;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process, waitid, waitpid};
use std::fs;
use std::sync::{Arc, Mutex};

/// The variable that marks a child.
pub(crate) const VARIABLE: &str = "RUSTOMIZE_CHILD";

/// The number of searches for processes that are started while others are ended.
const ROUNDS: usize = 64;

/// Returns true if this process is without children. One call of the system.
pub(crate) fn are_none() -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::All, look), Err(rustix::io::Errno::CHILD))
}

/// Makes orphans children of this process, if the system can do that.
pub(crate) fn adopt(_: Strays) {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// The adopted processes that belong to the children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strays {
    /// Those with the mark of one of them.
    Marked,
    /// All but those with the mark of a running child: the children are all children of this
    /// process. A process without a mark has removed it, or has made one up.
    All,
}

/// The processes that are ended.
pub(crate) enum Meant<'m> {
    /// The processes of one child.
    Mark(&'m str),
    /// The processes of all children whose marks begin in this way.
    Begin(&'m str),
}

/// Ends the adopted processes that `meant` names, and for [`Strays::All`] those without the mark of
/// a running child. `warden` stays.
pub(crate) fn end(meant: &Meant<'_>, strays: Strays, running: &Mutex<Vec<Arc<Child>>>, warden: Option<u32>) {
    let entry = match meant {
        Meant::Mark(mark) => format!("{VARIABLE}={mark}\0"),
        Meant::Begin(begin) => format!("{VARIABLE}={begin}"),
    };
    for _ in 0..ROUNDS {
        let (adopted, marks) = adopted(running, warden);
        let is_running = |environment: &[u8]| marks.iter().any(|mark| carries(environment, mark));
        let is_meant =
            |environment: &[u8]| carries(environment, &entry) || strays == Strays::All && !is_running(environment);
        let meant: Vec<Pid> = adopted.into_iter().filter(|&pid| is_meant(&environment(pid))).collect();
        if meant.is_empty() {
            return;
        }
        for &pid in &meant {
            let _ = kill_process(pid, Signal::KILL);
        }
        for &pid in &meant {
            let _ = waitpid(Some(pid), WaitOptions::empty());
        }
    }
}

/// The children of this process that it has not started itself, and the entries with the marks of
/// those that it has started.
fn adopted(running: &Mutex<Vec<Arc<Child>>>, warden: Option<u32>) -> (Vec<Pid>, Vec<String>) {
    // The lock is held while a child is started, so every child that is visible here is in the
    // list.
    let running = lock(running);
    let is_warden = |pid: Pid| warden.is_some_and(|warden| i64::from(warden) == i64::from(pid.as_raw_nonzero().get()));
    let is_own = |pid: &Pid| is_warden(*pid) || running.iter().any(|child| child.is(*pid));
    let adopted = children_of("self").into_iter().filter(|pid| !is_own(pid)).collect();
    (adopted, running.iter().map(|child| format!("{VARIABLE}={}\0", child.mark())).collect())
}

/// The children of a process, which are the children of its threads. `self` is this process.
pub(super) fn children_of(process: &str) -> Vec<Pid> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{process}/task")) else { return Vec::new() };
    let lists = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect::<Vec<_>>())
        .collect()
}

/// The environment that a process was started with; empty for a process that has ended.
fn environment(pid: Pid) -> Vec<u8> {
    fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).unwrap_or_default()
}

/// Returns true if an environment has an entry that begins with `entry`.
fn carries(environment: &[u8], entry: &str) -> bool {
    let at_start = environment.starts_with(entry.as_bytes());
    at_start || memchr::memmem::find(environment, format!("\0{entry}").as_bytes()).is_some()
}
