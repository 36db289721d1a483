//! [`Launch`]: a program to start, with all that its process gets.

use super::keeper::Keeping;
use super::marked::Marked;
use super::{Limits, orphans};
use rustomize_base::host::Host;
use rustomize_base::search_path::SearchPath;
use std::any::Any;
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A variable of a process, and its value.
pub type Variable = (Cow<'static, str>, OsString);

/// A program to start, with its arguments, variables, input and limits. Steps take a launch and
/// return it changed: a copy runs in place of the program, or a sandbox around it.
#[derive(Clone)]
pub struct Launch {
    /// A path, or a name to look for in PATH.
    pub program: PathBuf,
    pub args: Vec<OsString>,
    /// The working directory; `None` for that of this process.
    pub directory: Option<PathBuf>,
    /// The variables of this process that the child has as well.
    pub inherits: Inherited,
    /// Further variables. Of two with one name the later counts.
    pub variables: Vec<Variable>,
    /// The content of stdin; `None` for an empty stdin.
    pub stdin: Option<Vec<u8>>,
    pub limits: Limits,
    pub stderr: Stderr,
    /// Files and directories that a sandbox lets the program read.
    pub reads: Vec<PathBuf>,
    /// Programs that a sandbox lets the program call.
    pub calls: Vec<PathBuf>,
    /// A copy of the program in memory: see [`Launch::opened`].
    pub in_memory: Option<Arc<File>>,
    /// Objects that exist as long as the launch and its process do: see [`Launch::keeping`].
    pub kept: Vec<Arc<dyn Any + Send + Sync>>,
}

/// The variables of this process that a child has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inherited {
    All,
    /// All except those with these names.
    AllBut(&'static [&'static str]),
    Nothing,
}

/// The reader of a child's stderr. An error has its end in any case.
#[derive(Clone, Debug)]
pub enum Stderr {
    /// Nobody else reads it.
    Kept,
    /// The host shows it: see [`Host::relay`].
    Relayed(Arc<dyn Host>),
}

impl Stderr {
    pub(super) fn pass(&self, bytes: &[u8]) {
        if let Stderr::Relayed(host) = self {
            host.relay(bytes);
        }
    }
}

impl fmt::Debug for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Launch").field("program", &self.program).field("args", &self.args).finish_non_exhaustive()
    }
}

impl Launch {
    /// A program with the variables of this process and the default limits.
    pub fn new(program: impl Into<PathBuf>) -> Launch {
        Launch {
            program: program.into(),
            args: Vec::new(),
            directory: None,
            inherits: Inherited::All,
            variables: Vec::new(),
            stdin: None,
            limits: Limits::default(),
            stderr: Stderr::Kept,
            reads: Vec::new(),
            calls: Vec::new(),
            in_memory: None,
            kept: Vec::new(),
        }
    }

    /// Adds arguments behind those that the launch has.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Launch {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Adds variables.
    #[must_use]
    pub fn variables(mut self, variables: impl IntoIterator<Item = Variable>) -> Launch {
        self.variables.extend(variables);
        self
    }

    /// Starts in a directory.
    #[must_use]
    pub fn in_directory(self, directory: impl Into<PathBuf>) -> Launch {
        Launch { directory: Some(directory.into()), ..self }
    }

    /// Adds files and directories that a sandbox lets the program read.
    #[must_use]
    pub fn reading<P: Into<PathBuf>>(mut self, paths: impl IntoIterator<Item = P>) -> Launch {
        self.reads.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Gives the program an input.
    #[must_use]
    pub fn with_input(self, input: Vec<u8>) -> Launch {
        Launch { stdin: Some(input), ..self }
    }

    /// Sets the limits.
    #[must_use]
    pub fn limited(self, limits: Limits) -> Launch {
        Launch { limits, ..self }
    }

    /// Keeps an object as long as the process may need it.
    #[must_use]
    pub fn keeping(mut self, object: impl Any + Send + Sync) -> Launch {
        self.kept.push(Arc::new(object));
        self
    }

    /// Lets another program start this one: it gets `args`, then this program and its arguments.
    #[must_use]
    pub fn through(self, other: PathBuf, args: impl IntoIterator<Item = OsString>) -> Launch {
        let own = [self.program.into_os_string()].into_iter().chain(self.args);
        Launch { program: other, args: args.into_iter().chain(own).collect(), ..self }
    }

    /// Runs the copy in memory, if there is one, by a descriptor that this process passes on to the
    /// next one that it starts. On Windows, which starts no scripts, the interpreter that the first
    /// line of a script names runs it.
    ///
    /// # Errors
    /// The system refuses a descriptor.
    pub fn opened(mut self) -> io::Result<Launch> {
        match self.in_memory.take() {
            None => Ok(interpreted(self)),
            Some(copy) => {
                let (program, inherited) = by_descriptor(&copy)?;
                Ok(Launch { program, ..self }.keeping(inherited))
            }
        }
    }

    /// The path of the program, whose name is looked for in a [`SearchPath`]. `inherited` is PATH
    /// of this process; where none is known, the system looks for the name.
    fn located(&self, inherited: Option<&OsStr>) -> io::Result<Cow<'_, Path>> {
        let own = self.variables.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| &**value);
        let inherited = inherited.filter(|_| !matches!(self.inherits, Inherited::Nothing));
        let (1, Some(path)) = (self.program.components().count(), own.or(inherited)) else {
            return Ok(Cow::Borrowed(&self.program));
        };
        let found = SearchPath::from(path).find(&self.program, rustomize_files::is_program);
        found.map(Cow::Owned).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// The command, without its pipes: the keeper of the program, if there is one. Its exit status
    /// is not checked here. `path` is PATH of this process.
    pub(super) fn marked(
        &self,
        mark: String,
        keeper: Option<&Path>,
        keeping: &Keeping,
        path: Option<&OsStr>,
    ) -> io::Result<Marked> {
        let program = self.located(path)?;
        // As a text: the system looks for a name in PATH, and not for a path of one name.
        let expression = match keeper {
            Some(keeper) => duct::cmd(keeper.as_os_str(), keeping.arguments(&program, &self.args)?),
            None => duct::cmd(program.as_os_str(), &self.args),
        };
        let mut expression = expression.unchecked();
        if let Some(directory) = &self.directory {
            expression = expression.dir(directory);
        }
        if let Inherited::AllBut(names) = self.inherits {
            expression = names.iter().fold(expression, |expression, name| expression.env_remove(name));
        }
        let variables = self.variables.iter().map(|(name, value)| (&**name, value.as_os_str()));
        let variables = variables.chain([(orphans::VARIABLE, OsStr::new(&mark))]);
        let expression = match self.inherits {
            Inherited::Nothing => expression.full_env(variables),
            _ => variables.fold(expression, |expression, (name, value)| expression.env(name, value)),
        };
        Ok(Marked { expression, mark, is_kept: keeper.is_some() })
    }
}

/// A path that leads to an open program, for this process and the next one it starts.
#[cfg(unix)]
fn by_descriptor(opened: &File) -> io::Result<(PathBuf, File)> {
    let inherited = rustix::io::dup(opened)?;
    let path = PathBuf::from(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&inherited)));
    Ok((path, inherited.into()))
}

/// The launch as it is: the system starts scripts itself.
#[cfg(not(windows))]
fn interpreted(launch: Launch) -> Launch {
    launch
}

/// Runs a script by the interpreter that its first line names: the file with that path, or else the
/// program in PATH with its name.
#[cfg(windows)]
fn interpreted(launch: Launch) -> Launch {
    use super::script::{interpreter, name_of};
    use std::io::Read;
    /// The longest first line, in bytes.
    const LONGEST: u64 = 4096;
    let mut start = Vec::new();
    let file = File::open(&launch.program);
    let is_read = file.is_ok_and(|file| file.take(LONGEST).read_to_end(&mut start).is_ok());
    let Some(words) = interpreter(&start).filter(|_| is_read) else { return launch };
    let mut words = words.into_iter();
    let named = words.next().unwrap_or_default();
    let program = if Path::new(&named).is_file() { &*named } else { name_of(&named) };
    launch.through(program.into(), words.map(OsString::from))
}

/// Fails: this system does not have such paths.
#[cfg(not(unix))]
fn by_descriptor(_: &File) -> io::Result<(PathBuf, File)> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::Launch;
    use std::ffi::OsString;

    #[test]
    fn another_program_gets_the_program_and_its_arguments() {
        let launch = Launch::new("app").args(["a", "b"]).through("helper".into(), [OsString::from("exec")]);
        let words: Vec<&str> = launch.args.iter().filter_map(|arg| arg.to_str()).collect();
        assert_eq!((launch.program.to_str(), &words[..]), (Some("helper"), &["exec", "app", "a", "b"][..]));
    }

    #[test]
    fn a_launch_is_shown_without_its_variables_and_its_input() {
        let launch = Launch::new("app").variables([("TOKEN".into(), "s3cret".into())]).with_input(b"s3cret".to_vec());
        assert!(!format!("{launch:?}").contains("s3cret"));
    }
}
