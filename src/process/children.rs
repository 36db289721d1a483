//! [`Children`]: processes and private directories that do not outlive the build that needs them.

use super::child::Child;
use super::keeper::{self, Keeping};
use super::launch::Launch;
use super::marked::Marked;
use super::orphans::{self, Strays};
use super::warden::Warden;
use super::{Failed, Failure, GRACE, Keep, Limits, Output, PrivateDirectory, READ_AHEAD, Removal};
use super::{collect, lock, private, read_in_thread, widen, write_in_thread};
use rustomize_base::host::{Host, NoHost};
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::io::{self, PipeReader, PipeWriter};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, Once, OnceLock};
use std::thread::JoinHandle;
use std::time::Instant;

/// The children of a build, or of several builds, and their private directories. Copies of this are
/// handles of the same children. The owner of a copy can end them all, from any thread, and begin
/// the next build with new ones.
#[derive(Clone)]
pub struct Children(Arc<Inner>);

struct Inner {
    /// The beginning of the marks of these children, which nobody can guess.
    marks: String,
    running: Mutex<Vec<Arc<Child>>>,
    directories: Mutex<Vec<PathBuf>>,
    /// Remove the objects that running children may have made.
    removals: Mutex<Vec<Arc<Removal>>>,
    has_ended: AtomicBool,
    /// The number of children so far.
    count: AtomicU32,
    strays: Strays,
    /// The program around the children. It names the program that keeps them and cleans up if this
    /// process is killed.
    host: Arc<dyn Host>,
    keeper: OnceLock<Option<PathBuf>>,
    warden: OnceLock<Option<Warden>>,
    prepared: Once,
    swept: Once,
}

impl Default for Children {
    fn default() -> Self {
        Children::new()
    }
}

impl fmt::Debug for Children {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Children").field(&self.0.marks).finish()
    }
}

impl Children {
    /// No children yet. They have no keeper: what they have started may outlive this process if it
    /// is killed, and their memory has no limit.
    pub fn new() -> Self {
        Children::with(Arc::new(NoHost), Strays::Marked)
    }

    /// All children of this process. A child that is not among them was adopted, and ends with
    /// them. The helper of `host` keeps each child. A process without children pays nothing.
    pub fn of_process(host: Arc<dyn Host>) -> Self {
        Children::with(host, Strays::All)
    }

    fn with(host: Arc<dyn Host>, strays: Strays) -> Self {
        // The keys are random, and known to this process alone.
        let random = || RandomState::new().hash_one(std::process::id());
        Children(Arc::new(Inner {
            marks: format!("{:016x}{:016x}-", random(), random()),
            running: Mutex::default(),
            directories: Mutex::default(),
            removals: Mutex::default(),
            has_ended: AtomicBool::new(false),
            count: AtomicU32::new(0),
            strays,
            host,
            keeper: OnceLock::new(),
            warden: OnceLock::new(),
            prepared: Once::new(),
            swept: Once::new(),
        }))
    }

    /// Prepares for children, unless that was done. Must be called before a lock is taken.
    pub fn prepare(&self) {
        self.0.prepared.call_once(|| {
            self.0.host.prepare_for_children();
            // The warden comes first: it outlives this process, and what is adopted may not.
            let _ = self.0.warden.set(self.keeper().and_then(|keeper| Warden::start(keeper).ok()));
            orphans::adopt(self.0.strays);
        });
    }

    /// The program that keeps children.
    fn keeper(&self) -> Option<&Path> {
        self.0.keeper.get_or_init(|| self.0.host.helper().filter(|_| keeper::IS_KNOWN_HERE)).as_deref()
    }

    /// Lets the process end that cleans up if this one is killed, and waits for it. For the end of
    /// this process.
    pub fn dismiss_warden(&self) {
        if let Some(warden) = self.warden() {
            warden.dismiss();
        }
    }

    /// The process that cleans up if this one is killed.
    fn warden(&self) -> Option<&Warden> {
        self.0.warden.get().and_then(Option::as_ref)
    }

    /// Returns true if [`Children::end`] was called. Then no child starts any more, and a failure
    /// means only that.
    pub fn have_ended(&self) -> bool {
        self.0.has_ended.load(Ordering::SeqCst)
    }

    /// Ends every running child, and removes the objects that children have made and the
    /// directories that were made for them.
    pub fn end(&self) {
        self.0.has_ended.store(true, Ordering::SeqCst);
        let running = std::mem::take(&mut *lock(&self.0.running));
        running.iter().for_each(|child| child.end());
        let deadline = Instant::now() + GRACE;
        for child in running.iter().filter(|child| child.is_kept()) {
            if !matches!(child.handle.wait_deadline(deadline), Ok(Some(_))) {
                child.kill();
            }
        }
        self.end_strays(None);
        std::mem::take(&mut *lock(&self.0.removals)).iter().for_each(|removal| removal.run(self));
        private::remove_all(std::mem::take(&mut *lock(&self.0.directories)));
    }

    /// Ends the processes that the children have left; called when no child will run any more.
    pub fn end_orphans(&self) {
        if !orphans::are_none() {
            self.end_strays(None);
        }
    }

    /// A mark that no other child has, and that nobody can guess.
    pub(super) fn mark(&self) -> String {
        format!("{}{}", self.0.marks, self.0.count.fetch_add(1, Ordering::Relaxed))
    }

    /// The command of a launch, and its mark.
    pub(super) fn marked(&self, launch: &Launch, keeping: &Keeping) -> io::Result<Marked> {
        let path = self.0.host.variable("PATH");
        launch.marked(self.mark(), self.keeper(), keeping, path.as_deref())
    }

    /// Ends a child that has failed, or is not needed any more, and all that it has started.
    pub(super) fn end_child(&self, child: &Child) {
        let has_ended = || matches!(child.handle.wait_deadline(Instant::now() + GRACE), Ok(Some(_)));
        if !child.is_kept() || !matches!(child.handle.try_wait(), Ok(Some(_))) {
            child.end();
            if !has_ended() {
                child.kill();
                has_ended();
            }
        }
        // A child can have ended its keeper, which is a process of the same user.
        self.end_strays(Some(child.mark()));
    }

    /// Ends adopted processes that carry `mark`. For `None` it ends the processes that carry any
    /// mark of these children; if these are all children of this process, also those without the
    /// mark of a child that runs.
    pub(super) fn end_strays(&self, mark: Option<&str>) {
        let meant = match mark {
            Some(mark) => orphans::Meant::Mark(mark),
            None => orphans::Meant::Begin(&self.0.marks),
        };
        let warden = self.warden().and_then(Warden::pid);
        orphans::end(&meant, self.0.strays, &self.0.running, warden);
    }

    /// Runs a child until it has exited and closed its stdout and stderr. Processes that it has
    /// started are ended then. The cost is the process, and copies of its input and output.
    ///
    /// # Errors
    /// The child cannot be started, exits with another status than 0, takes too long or prints too
    /// much. In the latter two cases its whole process group is ended.
    pub fn run(&self, mut launch: Launch) -> Result<Vec<u8>, Failed> {
        let input = launch.stdin.take();
        self.begin(&launch, if input.is_some() { Stdin::Pipe } else { Stdin::Empty })?.finish(&launch.limits, input)
    }

    /// [`Children::run`] for a child whose input is made while the child starts, so that neither
    /// waits for the other. The stdin of `launch` is ignored. The time limit begins when the input
    /// is there.
    ///
    /// # Errors
    /// The inner ones are those of [`Children::run`]. The outer one is that of `input`: the child
    /// is ended then, and has read nothing.
    pub fn run_with<E>(
        &self,
        launch: &Launch,
        input: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Result<Vec<u8>, Failed>, E> {
        let begun = match self.begin(launch, Stdin::Pipe) {
            Ok(begun) => begun,
            Err(failed) => return Ok(Err(failed)),
        };
        match input() {
            Ok(input) => Ok(begun.finish(&launch.limits, Some(input))),
            Err(e) => {
                self.end_child(&begun.child);
                self.forget(&begun.child);
                Err(e)
            }
        }
    }

    /// Starts a child that waits for its input, if it has any.
    fn begin(&self, launch: &Launch, stdin: Stdin) -> Result<Begun<'_>, Failed> {
        let begin = || -> io::Result<Begun<'_>> {
            let (output, stdout) = io::pipe()?;
            let (errors, stderr) = io::pipe()?;
            widen(&output);
            let mut marked = self.marked(launch, &Keeping::until_output_ends(&launch.limits))?;
            let mut input = None;
            marked.expression = if stdin == Stdin::Pipe {
                let (reader, writer) = io::pipe()?;
                widen(&reader);
                input = Some(writer);
                marked.expression.stdin_file(reader)
            } else {
                marked.expression.stdin_null()
            };
            let errors = read_in_thread(errors, Keep::Tail { stderr: launch.stderr.clone() })?;
            marked.expression = marked.expression.stdout_file(stdout).stderr_file(stderr);
            Ok(Begun { children: self, child: self.start(marked)?, input, output, errors })
        };
        begin().map_err(Failed::not_started)
    }

    /// [`Children::run`] for a child that makes an object outside of its own processes. `removal`
    /// runs when the child has failed, or when [`Children::end`] is called before the child has
    /// ended. In the latter case [`Children::end`] runs it, even if it is running already, which
    /// may end the first run.
    ///
    /// # Errors
    /// As [`Children::run`].
    pub fn run_or_remove(&self, launch: Launch, removal: Removal) -> Result<Vec<u8>, Failed> {
        let removal = Arc::new(removal);
        self.prepare();
        if let Some(warden) = self.warden() {
            warden.add_command(removal.directory(), removal.command());
        }
        lock(&self.0.removals).push(Arc::clone(&removal));
        let outcome = self.run(launch);
        if outcome.is_err() && !self.have_ended() {
            removal.run(self);
        }
        if !self.have_ended() {
            lock(&self.0.removals).retain(|other| !Arc::ptr_eq(other, &removal));
        }
        outcome
    }

    /// Starts a child, unless the children have ended.
    pub(super) fn start(&self, marked: Marked) -> io::Result<Arc<Child>> {
        self.start_if(marked, || !self.have_ended())
    }

    /// Starts a child that cleans up; it starts even after the children have ended.
    pub(super) fn start_also_after_end(&self, marked: Marked) -> io::Result<Arc<Child>> {
        self.start_if(marked, || true)
    }

    fn start_if(&self, marked: Marked, may_start: impl FnOnce() -> bool) -> io::Result<Arc<Child>> {
        self.prepare();
        // The lock is held during the start. So a thread that ends the children finds every running
        // child, and a child that has just begun is not mistaken for a stray.
        let mut running = lock(&self.0.running);
        if !may_start() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let child = Arc::new(Child::start(marked)?);
        running.push(Arc::clone(&child));
        Ok(child)
    }

    /// Forgets a child that has ended.
    pub(super) fn forget(&self, child: &Arc<Child>) {
        lock(&self.0.running).retain(|other| !Arc::ptr_eq(other, child));
    }

    /// Makes a directory that only this user can look into, in the system's place for temporary
    /// files. The first call removes such directories that killed processes of this user have left
    /// there.
    ///
    /// # Errors
    /// The directory cannot be made.
    pub fn directory(&self, prefix: &str) -> io::Result<PrivateDirectory> {
        let parent = tempfile::env::temp_dir();
        self.0.swept.call_once(|| private::sweep(&parent));
        PrivateDirectory::locked(self, &parent, prefix)
    }

    /// Makes a directory that only this user can look into, in another directory, and removes those
    /// that killed processes have left there.
    ///
    /// # Errors
    /// The directory cannot be made.
    pub fn directory_in(&self, parent: &Path, prefix: &str) -> io::Result<PrivateDirectory> {
        private::sweep_beside(parent);
        PrivateDirectory::locked(self, parent, prefix)
    }

    /// Makes a directory with `make` and adds it to the list, unless the children have ended.
    pub(super) fn list(&self, make: impl FnOnce() -> io::Result<PathBuf>) -> io::Result<PathBuf> {
        self.prepare();
        let mut directories = lock(&self.0.directories);
        if self.have_ended() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let path = make()?;
        directories.push(path.clone());
        if let Some(warden) = self.warden() {
            warden.add(&path);
        }
        Ok(path)
    }

    /// Removes a directory from the list.
    pub(super) fn unlist(&self, path: &Path) {
        lock(&self.0.directories).retain(|d| *d != path);
        if let Some(warden) = self.warden() {
            warden.forget(path);
        }
    }
}

/// The stdin of a child.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stdin {
    Empty,
    Pipe,
}

/// A child that was started, and whose output is not read yet.
struct Begun<'c> {
    children: &'c Children,
    child: Arc<Child>,
    /// The end of the child's stdin that is written to.
    input: Option<PipeWriter>,
    output: PipeReader,
    errors: Receiver<io::Result<Vec<u8>>>,
}

impl Begun<'_> {
    /// Gives the child its input, and waits as [`Children::run`] says.
    fn finish(self, limits: &Limits, input: Option<Vec<u8>>) -> Result<Vec<u8>, Failed> {
        let Begun { children, child, input: pipe, output, errors } = self;
        // A transformer prints about as much as it reads. Memory that is not written to costs
        // nothing.
        let expected = input.as_ref().map_or(READ_AHEAD, |bytes| READ_AHEAD + bytes.len() + bytes.len() / 4);
        let keep = Keep::All { limit: limits.output, expected };
        let threads = || {
            let writer = input.zip(pipe).map(|(bytes, pipe)| write_in_thread(bytes, pipe)).transpose()?;
            Ok((writer, read_in_thread(output, keep)?))
        };
        let deadline = limits.timeout.and_then(|t| Instant::now().checked_add(t));
        let (writer, outcome) = match threads() {
            Ok((writer, output)) => (writer, collect(&child, output, limits, deadline)),
            Err(e) => (None, Err(Failure::Io(e))),
        };
        if !matches!(outcome, Ok(Output { status: None, .. })) {
            children.end_child(&child);
        }
        // The input is freed where it was allocated, so that the allocator has room for reading the
        // output.
        if let Some(writer) = writer.filter(JoinHandle::is_finished) {
            drop(writer.join());
        }
        children.forget(&child);
        // A process that still holds stderr is not waited for: its output so far is shown all the
        // same.
        let stderr = errors.recv_timeout(GRACE).unwrap_or_else(|_| Ok(Vec::new()));
        // This comes last, so that processes that only pass on the child's output can finish.
        if !child.is_kept() && !orphans::are_none() {
            child.end_group();
            children.end_strays(Some(child.mark()));
        }
        let stderr = String::from_utf8_lossy(&stderr.unwrap_or_default()).into_owned();
        match outcome {
            Ok(Output { bytes, status: None }) => Ok(bytes),
            Ok(Output { bytes: stdout, status: Some(status) }) => {
                Err(Failed { failure: Failure::Status(status), stderr, stdout })
            }
            Err(failure) => Err(Failed { failure, stderr, stdout: Vec::new() }),
        }
    }
}
