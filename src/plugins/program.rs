//! [`PluginProgram`]: the program of a plugin that is an executable.

use super::isolation::Isolation;
use crate::stage::format::Format;
use rustomize_process::{Launch, Variable};
use std::fs::File;
use std::path::{Path, PathBuf};

/// The variable in which a plugin finds its parameters, as JSON.
pub const PARAMETERS: &str = "RUSTOMIZE_PLUGIN_PARAMETERS";

/// A plugin that is an executable, with its component and rights.
#[derive(Clone)]
pub struct PluginProgram {
    /// The path that errors name: that of the program which the user knows.
    pub shown: PathBuf,
    /// The program, with the arguments before those of a call: the file that an interpreter runs.
    pub launch: Launch,
    /// The component of an installed plugin.
    pub component: Option<String>,
    /// The parameters of an installed plugin, as JSON; empty for none.
    pub parameters: String,
    /// How much of the user's rights it gets.
    pub isolation: Isolation,
    /// The notation that it reads and prints as an exec plugin.
    pub format: Format,
}

impl PluginProgram {
    /// A placed plugin, run from its path.
    pub fn placed(path: PathBuf, isolation: Isolation) -> PluginProgram {
        PluginProgram {
            launch: Launch::new(&path),
            shown: path,
            component: None,
            parameters: String::new(),
            isolation,
            format: Format::Yaml,
        }
    }

    /// The variables that an installed plugin gets besides its configuration.
    pub(super) fn variables(&self) -> impl Iterator<Item = Variable> {
        let component = self.component.iter().map(|name| ("RUSTOMIZE_PLUGIN_COMPONENT".into(), name.into()));
        let parameters = Some(&self.parameters).filter(|text| !text.is_empty());
        component.chain(parameters.map(|text| (PARAMETERS.into(), text.into())))
    }
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

/// Returns whether a file begins as a script, with the path of an interpreter. The next read begins
/// at the start of the file.
pub fn is_script(mut file: &File) -> bool {
    use std::io::{Read, Seek};
    let mut start = [0; 2];
    file.read_exact(&mut start).is_ok() && file.rewind().is_ok() && start == *b"#!"
}

/// Returns whether the system runs a file itself.
#[cfg(not(unix))]
pub fn is_binary(file: &File) -> bool {
    use std::io::{Read, Seek};
    let mut start = [0; 2];
    let (mut read, mut again) = (file, file);
    read.read_exact(&mut start).is_ok_and(|()| start == *b"MZ") && again.rewind().is_ok()
}

/// Returns whether the system runs a file itself.
#[cfg(unix)]
pub fn is_binary(file: &File) -> bool {
    let mut start = [0; 4];
    std::os::unix::fs::FileExt::read_exact_at(file, &mut start, 0).is_ok_and(|()| start == *b"\x7fELF")
}
