//! Processes that a child has started and that left its process group, as daemons do: where the
//! child failed, they go too.
//!
//! Each child has a variable that its own children inherit. This process adopts what loses its
//! parent, and so finds them among its children. On systems without that, they stay.

use rustix::process::{Pid, Signal, WaitOptions, kill_process, set_child_subreaper, waitpid};
use std::fs;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

/// The variable.
pub const VARIABLE: &str = "RUSTOMIZE_CHILD";

/// Processes that start others while they are ended are looked for again, so often.
const ROUNDS: usize = 16;

/// A value of the variable that no other child has. From here on this process adopts orphans.
pub fn mark() -> String {
    static ADOPT: Once = Once::new();
    static COUNT: AtomicU32 = AtomicU32::new(0);
    ADOPT.call_once(|| {
        let _ = set_child_subreaper(Some(rustix::process::getpid()));
    });
    format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Ends adopted processes that carry a mark; all that carry any mark of this process, for `None`.
pub fn end(mark: Option<&str>) {
    let entry = match mark {
        Some(mark) => format!("{VARIABLE}={mark}\0"),
        None => format!("{VARIABLE}={}-", std::process::id()),
    };
    for _ in 0..ROUNDS {
        let marked: Vec<Pid> = children().into_iter().filter(|&pid| carries(pid, &entry)).collect();
        if marked.is_empty() {
            return;
        }
        for &pid in &marked {
            let _ = kill_process(pid, Signal::KILL);
        }
        for &pid in &marked {
            let _ = waitpid(Some(pid), WaitOptions::empty());
        }
    }
}

/// The children of this process: those of its threads.
fn children() -> Vec<Pid> {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else { return Vec::new() };
    let lists = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect::<Vec<_>>())
        .collect()
}

/// Whether a process has the entry in its environment. One that has ended has none.
fn carries(pid: Pid, entry: &str) -> bool {
    let environment = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).unwrap_or_default();
    let at_start = environment.starts_with(entry.as_bytes());
    at_start || memchr::memmem::find(&environment, format!("\0{entry}").as_bytes()).is_some()
}
