//! `install-to`: copies this program into a directory, under the names that callers look for.

use crate::kustomize_version;
use crate::plugin_host;
use crate::writer::{self, Shown};
use anyhow::{Context, Result};
use clap::Args;
use rustomize_engine::diag::{Code, Error};
use rustomize_engine::load::path;
use rustomize_files::{Directory, Kind, PREFIX, Staged, Temporary};
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
/// A name is not valid or is that of a directory, or a file cannot be written. All files are as
/// they were then, even if the disk is full; but Windows may refuse to replace a program that runs.
pub(crate) fn run(args: &InstallTo) -> Result<()> {
    let own = std::env::current_exe().context("the file of this program is not known")?;
    let helper = plugin_host::program().filter(|helper| *helper != own);
    let shown = args.directory.display();
    if let Some(fault) = path::fault(&args.directory.to_string_lossy()) {
        return Err(Error::new(Code::Usage, format!("'{shown}' {fault}")).into());
    }
    let names = args.names.iter().map(|name| checked(name)).collect::<Result<Vec<_>>>()?;
    let helper_name = helper.as_deref().and_then(Path::file_name).map(Path::new);
    fs::create_dir_all(&args.directory).with_context(|| format!("cannot make the directory {shown}"))?;
    let directory = Directory::open(&args.directory).with_context(|| format!("cannot open {shown}"))?;
    for name in helper_name.into_iter().chain(names.iter().map(PathBuf::as_path)) {
        refuse_directory(&directory, name)?;
    }
    rustomize_files::sweep(&directory);
    // All content is on the disk before the first file is replaced.
    let files = ready(&own, helper.as_deref(), &names, &directory);
    for (name, file) in files.with_context(|| format!("cannot write to {shown}"))? {
        file.put(&directory, name).with_context(|| format!("cannot write {}", args.directory.join(name).display()))?;
    }
    let paths = names.iter().map(|name| format!("{}\n", args.directory.join(name).display()));
    writer::print(&Shown::message(&paths.collect::<String>()))?;
    Ok(())
}

/// Refuses a name that is that of a directory: nothing can take its place in one step.
fn refuse_directory(directory: &Directory, name: &Path) -> Result<()> {
    if !directory.facts(name).is_ok_and(|facts| facts.kind == Kind::Directory) {
        return Ok(());
    }
    let shown = directory.path().join(name);
    let fault = Error::new(Code::WrongKind, format!("'{}' is a directory: no program is installed", shown.display()));
    Err(fault.hint("rename the directory, or give the program another name with --as").into())
}

/// A file that only lacks its name.
enum Ready {
    Copy(Staged),
    /// A link in a directory of its own, which has the name already.
    Link(Temporary),
}

impl Ready {
    /// Gives the file its name. A file or link that has the name is replaced.
    fn put(self, directory: &Directory, name: &Path) -> io::Result<()> {
        match self {
            Ready::Copy(copy) => copy.put(directory, name, MODE),
            // A name that is taken cannot be linked, and a link that is renamed replaces it.
            Ready::Link(place) => place.held().rename(name, directory, name),
        }
    }
}

/// The files of an installation with their names, in the order in which they take their places:
/// the program for plugins, this program, and the links to it. O(size).
fn ready<'n>(
    own: &Path,
    helper: Option<&'n Path>,
    names: &'n [PathBuf],
    directory: &Directory,
) -> io::Result<Vec<(&'n Path, Ready)>> {
    let mut files = Vec::new();
    if let Some(helper) = helper {
        files.push((Path::new(helper.file_name().unwrap_or_default()), copied(helper, directory)?));
    }
    let Some((first, others)) = names.split_first() else { return Ok(files) };
    files.push((first, copied(own, directory)?));
    for other in others.iter().filter(|other| *other != first) {
        let file = linked(first, other, directory).or_else(|_| copied(own, directory))?;
        files.push((other, file));
    }
    Ok(files)
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
    if let Some(fault) = rustomize_files::name_fault(stem.as_ref()) {
        return Err(Error::new(Code::Usage, format!("'{name}' {fault}")).into());
    }
    if stem == "rustomize-plugin-host" {
        return Err(Error::new(Code::Usage, format!("'{name}' is the name of another program of rustomize")).into());
    }
    kustomize_version::of_program(&file)?;
    Ok(file)
}

/// A copy of a file. Its content is on the disk. O(size).
fn copied(file: &Path, directory: &Directory) -> io::Result<Ready> {
    let mut copy = Staged::new_in(directory)?;
    io::copy(&mut File::open(file)?, &mut copy)?;
    copy.sync_all()?;
    Ok(Ready::Copy(copy))
}

/// A link from a name to another one in the same directory.
fn linked(first: &Path, name: &Path, directory: &Directory) -> io::Result<Ready> {
    let place = Temporary::new_in(directory, PREFIX)?;
    place.held().link(first, name)?;
    Ok(Ready::Link(place))
}
