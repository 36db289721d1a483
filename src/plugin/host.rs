//! The process in which a shared object runs: opened once, called as often as the build likes, and
//! ended without loss for anybody.
//!
//! It speaks in [`Frame`]s. What it first says is what the plugin says of itself, or why it cannot
//! be opened; then it answers each request. A request's kind is the [`Mode`], its content four
//! texts, each behind its length as 8 bytes, lowest first: configuration, root, resources, options.

use super::confine::Confinement;
use crate::process::conversation::Frame;
use crate::process::name;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Signal, getpid, kill_process, kill_process_group};
use rustomize_plugin_abi::{Asked, CallError, Mode, Output, Plugin};
use std::convert::Infallible;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The first argument of a program that is asked to be this process. Two versions of the tool do
/// not understand each other.
pub const ARGUMENT: &str = concat!("__plugin-host@", env!("CARGO_PKG_VERSION"));

/// What an answer is: its frame's kind.
pub mod answer {
    /// What the plugin printed.
    pub const OUTPUT: u8 = 0;
    /// Why it failed.
    pub const FAILED: u8 = 1;
    /// How it panicked.
    pub const PANICKED: u8 = 2;
    /// It does not do that.
    pub const UNSUPPORTED: u8 = 3;
    /// How it broke the rules of the interface.
    pub const BROKEN: u8 = 4;
    /// Why it could not be opened.
    pub const NOT_OPENED: u8 = 5;
}

/// Serves a plugin on stdin and stdout until stdin ends; then the process group, this process
/// included, is killed: what the plugin has started does not outlive it.
///
/// # Errors
/// The process cannot be set up, or nobody takes its answers.
pub fn serve(path: &Path, confinement: &Confinement) -> io::Result<()> {
    // The plugin prints where it wants: not into our frames.
    let input = File::from(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?);
    let mut output = File::from(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?);
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    confine(confinement)?;
    let watched = input.try_clone()?;
    // A plugin that never returns does not outlive who asked it.
    std::thread::Builder::new().spawn(move || {
        wait_for_end(&watched);
        end();
    })?;
    let mut input = BufReader::new(input);
    let plugin = match Plugin::open(path) {
        Ok(plugin) => plugin,
        Err(e) => return Frame::write(answer::NOT_OPENED, &e.to_string(), &mut output),
    };
    reply(plugin.describe(), &mut output)?;
    let mut request = Frame::default();
    while request.read(&mut input)? {
        match asked(&request) {
            Some(call) => {
                rustix::process::chdir(call.root)?;
                reply(plugin.run(&call), &mut output)?;
            }
            None => Frame::write(answer::BROKEN, "a request that is none", &mut output)?,
        }
    }
    end();
    Ok(())
}

/// Returns when nobody can write into a pipe any more.
fn wait_for_end(pipe: &File) {
    loop {
        // The end is always reported; what is to be read is not asked for.
        let mut ends = [PollFd::new(pipe, PollFlags::empty())];
        match poll(&mut ends, None) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) | Err(_) => return,
        }
    }
}

/// Becomes another program, confined.
///
/// # Errors
/// It cannot be started.
pub fn exec(program: &Path, args: impl Iterator<Item = OsString>, confinement: &Confinement) -> io::Result<Infallible> {
    confine(confinement)?;
    let opened = reopened(program);
    let program = opened.as_ref().map_or(program, |(_, path)| path);
    if confinement.sandbox.is_some() {
        // What the program is read from is open for this process alone.
        close_fds::set_fds_cloexec(3, &[]);
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "this process was started with limits, and becomes what it was started for"
    )]
    let mut command = Command::new(program);
    name(&mut command);
    Err(command.args(args).exec())
}

/// Opens a program that is given by its descriptor once more, by its path: the descriptor is of the
/// view of the files before this process had one of its own. `None` if another file is there now.
fn reopened(program: &Path) -> Option<(File, PathBuf)> {
    if !program.starts_with("/proc/self/fd") {
        return None;
    }
    let file = File::open(std::fs::read_link(program).ok()?).ok()?;
    let identity = |stat: std::fs::Metadata| (stat.dev(), stat.ino());
    let is_same = identity(file.metadata().ok()?) == identity(program.metadata().ok()?);
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    is_same.then_some((file, path))
}

fn confine(confinement: &Confinement) -> io::Result<()> {
    for missing in confinement.apply()? {
        // The end of a pipe to whoever asked for this process.
        let _ = writeln!(io::stderr(), "Warning: plugin isolation: {missing}");
    }
    Ok(())
}

fn end() {
    let _ = kill_process_group(getpid(), Signal::KILL);
    // Not the leader of its group, as when a person runs it.
    let _ = kill_process(getpid(), Signal::KILL);
}

/// Writes what came of a call.
fn reply(result: Result<Output, CallError>, to: &mut File) -> io::Result<()> {
    match result {
        Ok(output) => Frame::write(answer::OUTPUT, &output, to),
        Err(CallError::Failed(why)) => Frame::write(answer::FAILED, &why, to),
        Err(CallError::Panicked(why)) => Frame::write(answer::PANICKED, &why, to),
        Err(CallError::Unsupported) => Frame::write(answer::UNSUPPORTED, "", to),
        Err(CallError::Broken(how)) => Frame::write(answer::BROKEN, &how, to),
    }
}

/// What a frame asks the plugin for; `None` if it is no request.
pub fn asked(request: &Frame) -> Option<Asked<'_>> {
    let mode =
        [Mode::Generate, Mode::Transform, Mode::Validate].into_iter().find(|m| *m as u32 == u32::from(request.kind));
    let mut rest = request.content.as_slice();
    let mut text = || {
        let (len, after) = rest.split_first_chunk()?;
        let (text, after) = after.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
        rest = after;
        std::str::from_utf8(text).ok()
    };
    Some(Asked { mode: mode?, config: text()?, root: text()?, resources: text()?, options: text()? })
}
