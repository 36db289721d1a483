//! The warden of a process: another process that cleans up if the first one is killed.
//!
//! It reads from a pipe which private directories there are, and which containers may have to be
//! removed. When the pipe ends, it removes what is left of them.

use super::child::set_apart;
use super::removal;
use rustomize_base::os_text;
use rustomize_files::remove;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, PipeWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The first argument of a program that is asked to be a warden.
pub const ARGUMENT: &str = concat!("__warden@", env!("CARGO_PKG_VERSION"));

/// The number of tries to remove a directory: keepers end, meanwhile, the processes that write to
/// it.
const ROUNDS: usize = 100;

/// The time between two tries.
const PAUSE: Duration = Duration::from_millis(20);

/// The longest time that a process waits for its warden.
const PATIENCE: Duration = Duration::from_secs(1);

/// The beginnings of lines. A line ends with a zero byte; the lines of a command end with an empty
/// one.
const ADDED: u8 = b'+';
const REMOVED: u8 = b'-';
const COMMAND: u8 = b'!';

/// The warden of this process, as this process sees it.
pub(super) struct Warden {
    /// `None` once the warden was dismissed.
    to: Mutex<Option<PipeWriter>>,
    handle: duct::Handle,
}

impl Warden {
    /// Starts a warden.
    ///
    /// # Errors
    /// The program cannot be started.
    pub(super) fn start(program: &Path) -> io::Result<Warden> {
        let (from, to) = io::pipe()?;
        let expression = duct::cmd(program.as_os_str(), [ARGUMENT]).unchecked().stdin_file(from);
        let expression = expression.stdout_null().stderr_null().dir("/").before_spawn(|command| {
            // It outlives this process.
            set_apart(command);
            Ok(())
        });
        Ok(Warden { to: Mutex::new(Some(to)), handle: expression.start()? })
    }

    /// The process.
    pub(super) fn pid(&self) -> Option<u32> {
        self.handle.pids().first().copied()
    }

    /// Says that a directory was made.
    pub(super) fn add(&self, directory: &Path) {
        self.say(ADDED, [directory.as_os_str()]);
    }

    /// Says that a directory was removed, or is to stay.
    pub(super) fn forget(&self, directory: &Path) {
        self.say(REMOVED, [directory.as_os_str()]);
    }

    /// Says which command removes the container whose id is in the directory.
    pub(super) fn add_command<'w>(&self, directory: &'w Path, command: impl Iterator<Item = &'w OsStr>) {
        self.say(COMMAND, [directory.as_os_str()].into_iter().chain(command).chain([OsStr::new("")]));
    }

    /// Writes lines. If the warden has ended, nobody reads them.
    fn say<'w>(&self, kind: u8, lines: impl IntoIterator<Item = &'w OsStr>) {
        let mut text = vec![kind];
        for line in lines {
            text.extend(line.as_encoded_bytes());
            text.push(0);
        }
        let mut to = self.to.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = to.as_mut().map(|to| to.write_all(&text));
    }

    /// Lets the warden end, and waits for its end: not every system has a process that waits for
    /// those whose parent is gone.
    pub(super) fn dismiss(&self) {
        drop(self.to.lock().unwrap_or_else(PoisonError::into_inner).take());
        let _ = self.handle.wait_deadline(Instant::now() + PATIENCE);
    }
}

/// Becomes a warden: returns when the pipe on stdin has ended and everything is removed.
///
/// # Errors
/// The pipe cannot be read.
pub fn watch() -> io::Result<()> {
    let mut left: BTreeMap<PathBuf, Vec<OsString>> = BTreeMap::new();
    let mut lines = io::stdin().lock().split(0).map(|line| line.map(os_text::from_bytes));
    while let Some(line) = lines.next().transpose()? {
        let Some((kind, directory)) = line.as_encoded_bytes().split_first() else { continue };
        let directory = PathBuf::from(os_text::from_bytes(directory.to_vec()));
        match *kind {
            ADDED => drop(left.insert(directory, Vec::new())),
            REMOVED => drop(left.remove(&directory)),
            _ => {
                let command = lines.by_ref().map_while(|line| line.ok().filter(|line| !line.is_empty()));
                left.insert(directory, command.collect());
            }
        }
    }
    for (directory, command) in &left {
        if let Some((program, args)) = command.split_first()
            && let Some(id) = removal::id(directory)
            && let Ok(command) = removal::expression(program, args, &id).start()
        {
            let _ = command.wait_deadline(Instant::now() + removal::PATIENCE);
            let _ = command.kill();
        }
    }
    for _ in 0..ROUNDS {
        left.retain(|directory, _| remove(directory).is_err() || directory.symlink_metadata().is_ok());
        // A process that ends at this moment may still make an entry of a directory that is gone.
        if left.is_empty() {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}
