//! [`Program`]: what runs when a plugin is called, and how it is started.

use super::PluginOptions;
use super::isolation::{Confined, Isolation, Level};
use crate::stage::format::Format;
use rustomize_process::PrivateDirectory;
use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The variable in which a plugin finds its parameters, as JSON.
pub const PARAMETERS: &str = "RUSTOMIZE_PLUGIN_PARAMETERS";

/// How a plugin is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The plugin itself, or what runs it.
    pub program: PathBuf,
    /// Arguments before those of the call: the file that is run.
    pub args: Vec<OsString>,
    /// The directory that holds the plugin, where it is one.
    pub directory: Option<PathBuf>,
    /// The plugins that it calls, and the programs that run those.
    pub needs: Vec<PathBuf>,
    /// Variables that what runs it needs.
    pub environment: Vec<(&'static str, OsString)>,
}

impl Command {
    /// That of an executable.
    pub fn of_binary(path: &Path) -> Command {
        let (args, needs, environment) = Default::default();
        Command { program: path.to_owned(), args, directory: None, needs, environment }
    }

    /// The command of one plugin of a bundle: a file in the directory. Without a file, the same.
    #[must_use]
    pub fn of_entry(self, file: &str) -> Command {
        match &self.directory {
            Some(directory) if !file.is_empty() => Command { program: directory.join(file), ..self },
            _ => self,
        }
    }

    /// The variables that it is started with.
    pub fn variables(&self) -> impl Iterator<Item = (Cow<'static, str>, OsString)> {
        self.environment.iter().map(|(name, value)| ((*name).into(), value.clone()))
    }

    /// Paths that it reads besides the program.
    pub fn files(&self) -> Vec<&Path> {
        self.directory.as_deref().into_iter().chain(self.needs.iter().map(PathBuf::as_path)).collect()
    }
}

/// A copy of an installed plugin that nobody else has, as long as this is here. The copy has the
/// plugin's sum, and runs even if the plugin's own file is replaced or written to.
pub struct HeldCopy {
    /// How the copy is started.
    pub command: Command,
    pub place: HeldPlace,
}

/// Where a copy is.
pub enum HeldPlace {
    /// In memory: a program, which nobody can change any more.
    Memory(File),
    /// A file in a private directory.
    File(PathBuf, PrivateDirectory),
    /// A directory in a private one, which the command names.
    Directory(PrivateDirectory),
}

impl HeldCopy {
    /// The path of the copy, if it is one file.
    pub fn file(&self) -> Option<&Path> {
        match &self.place {
            HeldPlace::File(file, _) => Some(file),
            HeldPlace::Memory(_) | HeldPlace::Directory(_) => None,
        }
    }

    /// The program that is started, with a descriptor that the process which starts it passes on.
    ///
    /// # Errors
    /// The system refuses a descriptor.
    pub fn program(&self) -> std::io::Result<(PathBuf, Option<File>)> {
        match &self.place {
            HeldPlace::Memory(sealed) => by_descriptor(sealed).map(|(path, file)| (path, Some(file))),
            HeldPlace::File(file, _) => Ok((file.clone(), None)),
            HeldPlace::Directory(_) => Ok((self.command.program.clone(), None)),
        }
    }
}

impl fmt::Debug for HeldCopy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.command.fmt(f)
    }
}

/// An executable with its arguments, component and rights.
#[derive(Clone)]
pub struct Program {
    pub path: PathBuf,
    /// A copy that runs in its place.
    pub held: Option<Arc<HeldCopy>>,
    /// The arguments before those of a plugin: the file that an interpreter runs.
    pub args: Vec<OsString>,
    /// The directory of such a plugin.
    pub directory: Option<PathBuf>,
    /// The plugins that it calls, and the programs that run those.
    pub needs: Vec<PathBuf>,
    /// The component of an installed plugin.
    pub component: Option<String>,
    /// The parameters of an installed plugin, as JSON; empty for none.
    pub parameters: String,
    /// Variables that what runs it needs.
    pub environment: Vec<(&'static str, OsString)>,
    /// How much of the user's rights it gets.
    pub isolation: Isolation,
    /// The notation that it reads and prints as an exec plugin.
    pub format: Format,
}

impl Program {
    /// A placed plugin, run from its path.
    pub fn placed(path: PathBuf, isolation: Isolation) -> Program {
        let (args, needs, parameters, environment) = Default::default();
        Program {
            path,
            held: None,
            args,
            directory: None,
            needs,
            component: None,
            parameters,
            environment,
            isolation,
            format: Format::Yaml,
        }
    }

    /// The variables that what runs it needs.
    pub(super) fn own_variables(&self) -> impl Iterator<Item = (Cow<'static, str>, OsString)> {
        self.environment.iter().map(|(name, value)| ((*name).into(), value.clone()))
    }

    /// The variables that an installed plugin gets besides its configuration.
    pub(super) fn variables(&self) -> impl Iterator<Item = (Cow<'static, str>, OsString)> {
        let component = self.component.iter().map(|name| ("RUSTOMIZE_PLUGIN_COMPONENT".into(), name.into()));
        let parameters = Some(&self.parameters).filter(|text| !text.is_empty());
        component.chain(parameters.map(|text| (PARAMETERS.into(), text.into()))).chain(self.own_variables())
    }

    /// How to start it with arguments, able to read `paths`.
    ///
    /// # Errors
    /// As [`PluginOptions::confined`].
    pub(super) fn confined(
        &self,
        options: &PluginOptions,
        args: impl IntoIterator<Item = OsString>,
        paths: &[&Path],
    ) -> std::io::Result<Confined> {
        let args = self.args.iter().cloned().chain(args).collect();
        let mut readable = paths.to_vec();
        readable.extend(self.directory.as_deref());
        let of_needs: Vec<PathBuf> = match self.isolation.level {
            Level::Off => Vec::new(),
            _ => self.needs.iter().flat_map(|need| options.places(need)).collect(),
        };
        readable.extend(of_needs.iter().map(PathBuf::as_path));
        readable.extend(self.needs.iter().map(PathBuf::as_path).filter(|path| path.is_absolute()));
        // The copy that was checked runs. That of a directory has its program in it.
        let (program, inherited) = match self.held.as_deref() {
            Some(held) if !matches!(held.place, HeldPlace::Directory(_)) => {
                // The plugin may read its own file.
                readable.extend(self.path.parent());
                held.program()?
            }
            _ => (self.path.clone(), None),
        };
        let confined = options.confined(&self.isolation, &program, args, &readable)?;
        Ok(Confined { inherited, ..confined })
    }
}

/// A path that leads to an open program, for this process and the next one it starts.
#[cfg(unix)]
fn by_descriptor(opened: &File) -> std::io::Result<(PathBuf, File)> {
    let inherited = rustix::io::dup(opened)?;
    let path = PathBuf::from(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&inherited)));
    Ok((path, inherited.into()))
}

/// Fails: this system does not have such paths.
#[cfg(not(unix))]
fn by_descriptor(_: &File) -> std::io::Result<(PathBuf, File)> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// The longest name of a file in memory, in bytes.
#[cfg(target_os = "linux")]
const LONGEST_NAME: usize = 249;

/// Copies a program into memory, where nobody can change it any more: its content can be checked
/// and run without a moment in between. Its name is the path of the program, `shown`. O(bytes).
///
/// # Errors
/// The program cannot be read, or the system refuses such a file, or refuses to run it.
#[cfg(target_os = "linux")]
pub fn sealed(mut program: &File, shown: &Path) -> std::io::Result<File> {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    use std::io::Seek;
    let name = shown.to_string_lossy();
    let name = &name[..name.floor_char_boundary(LONGEST_NAME)];
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let made = match memfd_create(name, flags | MemfdFlags::EXEC) {
        // An older kernel does not know the flag, and needs none.
        Err(rustix::io::Errno::INVAL) => memfd_create(name, flags),
        made => made,
    };
    let mut copy = File::from(made?);
    std::io::copy(&mut program, &mut copy)?;
    fcntl_add_seals(&copy, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
    copy.rewind()?;
    Ok(copy)
}

/// Fails: this system has no files in memory.
#[cfg(not(target_os = "linux"))]
pub fn sealed(_: &File, _: &Path) -> std::io::Result<File> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Returns whether the system runs a file itself.
#[cfg(unix)]
pub fn is_binary(file: &File) -> bool {
    let mut start = [0; 4];
    std::os::unix::fs::FileExt::read_exact_at(file, &mut start, 0).is_ok_and(|()| start == *b"\x7fELF")
}
