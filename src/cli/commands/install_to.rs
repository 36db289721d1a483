//! `install-to`: copies this program into a directory, under the names that callers look for.

use crate::kustomize_version;
use crate::plugin_host;
use crate::writer::{self, Shown};
use anyhow::{Context, Result};
use clap::Args;
use rustomize_engine::diag::{Code, Error};
use rustomize_files::{Directory, PREFIX, Staged, Temporary};
use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};

/// `install-to`.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct InstallTo {
    /// The directory for the program; it is made if it does not exist
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,

    /// The names of the program there. 'kustomize-v5.7.1' builds as kustomize v5.7.1 does
    #[arg(long = "as", value_name = "NAME", num_args = 1.., default_value = "rustomize")]
    pub names: Vec<String>,
}

const EXAMPLES: &str = "Examples:
  # In an init container of Argo CD's repository server
  rustomize install-to /custom-tools --as kustomize kustomize-v5.7.1

  # For this user
  rustomize install-to ~/.local/bin --as rustomize kubectl-rustomize";

/// The permissions of a program.
const MODE: u32 = 0o755;

/// Runs `install-to`. The first name is a copy of this program, and each other name is a link to
/// it, or a copy on a system that permits no links. The program for plugins that are shared objects
/// comes along if it is beside this one. Files and links that have the names are replaced, and a
/// process that runs them goes on.
///
/// # Errors
/// A name is not valid, or a file cannot be written. A full disk leaves all files as they were.
pub(crate) fn run(args: &InstallTo) -> Result<()> {
    let own = std::env::current_exe().context("the file of this program is not known")?;
    let helper = plugin_host::program().filter(|helper| *helper != own);
    let names = args.names.iter().map(|name| checked(name)).collect::<Result<Vec<_>>>()?;
    let shown = args.directory.display();
    fs::create_dir_all(&args.directory).with_context(|| format!("cannot make the directory {shown}"))?;
    let directory = Directory::open(&args.directory).with_context(|| format!("cannot open {shown}"))?;
    rustomize_files::sweep(&directory);
    let failed = || format!("cannot write to {shown}");
    let program = copied(&own, &directory).with_context(failed)?;
    let helper = helper.map(|helper| Ok::<_, io::Error>((copied(&helper, &directory)?, helper)));
    // All content is on the disk before the first file is replaced.
    if let Some((copy, helper)) = helper.transpose().with_context(failed)? {
        let name = helper.file_name().unwrap_or_default();
        copy.put(&directory, Path::new(name), MODE).with_context(failed)?;
    }
    let Some((first, others)) = names.split_first() else { return Ok(()) };
    program.put(&directory, first, MODE).with_context(failed)?;
    for other in others.iter().filter(|other| *other != first) {
        link(&directory, first, other).with_context(failed)?;
    }
    let paths = names.iter().map(|name| format!("{}\n", args.directory.join(name).display()));
    writer::print(&Shown::message(&paths.collect::<String>()))?;
    Ok(())
}

/// The file name for a name that a user has given, with the suffix of this system.
///
/// # Errors
/// It is not the name of a file, is that of the program for plugins, or names a version of
/// kustomize that is not known: the program would refuse to run under it.
fn checked(name: &str) -> Result<PathBuf> {
    let suffix = std::env::consts::EXE_SUFFIX;
    let stem = name.strip_suffix(suffix).unwrap_or(name);
    let file = PathBuf::from(format!("{stem}{suffix}"));
    let parts: Vec<Component<'_>> = Path::new(name).components().collect();
    let is_plain = matches!(parts[..], [Component::Normal(only)] if only == name);
    if !is_plain || stem.is_empty() || name.contains(['/', '\\', ':', '\0']) {
        let fault = Error::new(Code::Usage, format!("'{name}' is not the name of a file"));
        return Err(fault.hint("DIR is the directory, and --as takes names in it").into());
    }
    if stem == "rustomize-plugin-host" {
        return Err(Error::new(Code::Usage, format!("'{name}' is the name of another program of rustomize")).into());
    }
    kustomize_version::of_program(&file)?;
    Ok(file)
}

/// A copy of a file, not in its place yet. Its content is on the disk. O(size).
fn copied(file: &Path, directory: &Directory) -> io::Result<Staged> {
    let mut copy = Staged::new_in(directory)?;
    io::copy(&mut File::open(file)?, &mut copy)?;
    copy.sync_all()?;
    Ok(copy)
}

/// Makes `other` a link to `first` in the same directory, or a copy where no link can be made.
fn link(directory: &Directory, first: &Path, other: &Path) -> io::Result<()> {
    let made = || {
        let place = Temporary::new_in(directory, PREFIX)?;
        place.held().link(first, other)?;
        // A name that is taken cannot be linked, and a link that is renamed replaces it.
        place.held().rename(other, directory, other)
    };
    made().or_else(|_| copied(&directory.path().join(first), directory)?.put(directory, other, MODE))
}
