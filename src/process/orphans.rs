//! Processes that a child has started and that outlive it, also those that left its process group,
//! as daemons do: they end with it.
//!
//! Each child has a variable that its own children inherit. This process adopts what loses its
//! parent, and so finds them among its children. On systems without that, they stay.

use super::RUNNING;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process, waitid, waitpid};
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Once, PoisonError};

/// The variable.
pub const VARIABLE: &str = "RUSTOMIZE_CHILD";

/// Processes that start others while they are ended are looked for again, so often.
const ROUNDS: usize = 64;

/// Whether [`own_all`] was called.
static ALL: AtomicBool = AtomicBool::new(false);

/// Says that this process has no children but those that this module starts: so one without the
/// variable was adopted, and has taken the variable away.
pub fn own_all() {
    ALL.store(true, Ordering::Relaxed);
}

/// Whether this process has no children at all. One call of the system.
pub fn are_none() -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::All, look), Err(rustix::io::Errno::CHILD))
}

/// A value of the variable that no other child has. From here on this process adopts orphans.
pub fn mark() -> String {
    static ADOPT: Once = Once::new();
    static COUNT: AtomicU32 = AtomicU32::new(0);
    ADOPT.call_once(adopt);
    format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Lets orphans become children of this process, where the system can.
fn adopt() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Ends adopted processes that carry a mark; all that carry any mark of this process, for `None`.
/// After [`own_all`], those without any mark, too.
pub fn end(mark: Option<&str>) {
    let any = format!("{VARIABLE}={}-", std::process::id());
    let entry = mark.map_or_else(|| any.clone(), |mark| format!("{VARIABLE}={mark}\0"));
    let is_meant =
        |environment: &[u8]| carries(environment, &entry) || ALL.load(Ordering::Relaxed) && !carries(environment, &any);
    for _ in 0..ROUNDS {
        let adopted = adopted().into_iter();
        let meant: Vec<Pid> = adopted.filter(|&pid| is_meant(&environment(pid))).collect();
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

/// The children of this process that it has not started, or that have run to their end.
fn adopted() -> Vec<Pid> {
    // A child is started while this is held: none is here that is not listed.
    let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    children().into_iter().filter(|pid| !running.contains(pid)).collect()
}

/// The children of this process: those of its threads.
fn children() -> Vec<Pid> {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else { return Vec::new() };
    let lists = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect::<Vec<_>>())
        .collect()
}

/// The environment that a process was started with. One that has ended has none.
fn environment(pid: Pid) -> Vec<u8> {
    fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).unwrap_or_default()
}

/// Whether an environment has an entry, or one that begins so.
fn carries(environment: &[u8], entry: &str) -> bool {
    let at_start = environment.starts_with(entry.as_bytes());
    at_start || memchr::memmem::find(environment, format!("\0{entry}").as_bytes()).is_some()
}
