//! [`VerifiedCopy`]: the copy of an installed plugin that runs in its place.

use super::discover::{Installed, Refusal};
use super::installed_artifacts;
use crate::author::manifest::Manifest;
use crate::id::content;
use rustomize_files::{Directory, Opened, PlainFile};
use rustomize_plugins::program::{is_binary, sealed};
use rustomize_process::{Children, Launch};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A copy of an installed plugin that has the sum of the plugin, and that no other process writes
/// to. It runs even if the file of the plugin is replaced or written to. It exists as long as its
/// launch does.
#[derive(Clone, Debug)]
pub struct VerifiedCopy {
    pub launch: Launch,
    /// The copy, if the plugin is a directory.
    pub directory: Option<PathBuf>,
}

impl VerifiedCopy {
    /// Copies a plugin, with the files that its installation made, and compares the copy with its
    /// sums. O(bytes of the plugin).
    ///
    /// # Errors
    /// The plugin cannot be copied, or has changed since it was installed.
    pub fn of(installed: &Installed, children: &Children) -> Result<VerifiedCopy, Refusal> {
        copy(installed, children)
    }
}

fn copy(installed: &Installed, children: &Children) -> Result<VerifiedCopy, Refusal> {
    if let Some(sealed) = in_memory(&installed.path).map_err(Refusal::Io)? {
        let found = content::sha256(&sealed).map_err(Refusal::Io)?;
        check_sum(installed, found)?;
        let launch = Launch { in_memory: Some(Arc::new(sealed)), ..Launch::new(&installed.path) };
        return Ok(VerifiedCopy { launch, directory: None });
    }
    let directory = children.directory("rustomize-plugin-").map_err(Refusal::Io)?;
    let name = Path::new(installed.path.file_name().unwrap_or_default());
    let copy = directory.path().join(name);
    let held = Directory::open(directory.path()).map_err(Refusal::Io)?;
    let (is_directory, runs) = match Opened::entry(&installed.path).map_err(Refusal::Io)? {
        Opened::Directory(own) => {
            let runs = copy_directory(&own, &held, name).map_err(Refusal::Io)?;
            // The programs of a bundle run from the copy; an interpreter reads that of a plugin.
            (true, runs || is_bundle(&installed.path))
        }
        Opened::File(own) => {
            copy_file(own, &held, name).map_err(Refusal::Io)?;
            (false, true)
        }
    };
    if runs {
        check_runs(directory.path()).map_err(Refusal::Io)?;
    }
    check_sum(installed, Opened::entry(&copy).and_then(content::sum_of).map_err(Refusal::Io)?)?;
    let launch = match is_directory {
        true => {
            let copied = held.below(name).map_err(Refusal::Io)?;
            if let Some(name) = installed_artifacts::differing_of(&installed.path, &copied).map_err(Refusal::Io)? {
                return Err(Refusal::MadeDiffers(name));
            }
            Manifest::read(&copy).map_err(Refusal::Directory)?.launch(&copy)
        }
        false => Launch::new(&copy),
    };
    Ok(VerifiedCopy { launch: launch.keeping(directory), directory: is_directory.then_some(copy) })
}

/// A copy in memory of a program that the system runs itself; `None` for anything else, and on a
/// system that does not run such copies. An interpreter opens a path, and so needs a file.
fn in_memory(path: &Path) -> io::Result<Option<File>> {
    match Opened::entry(path)? {
        Opened::Directory(_) => Ok(None),
        Opened::File(file) => {
            let program = file.into_file();
            Ok(if is_binary(&program) { sealed(&program, path).ok() } else { None })
        }
    }
}

fn check_sum(installed: &Installed, found: String) -> Result<(), Refusal> {
    match found == installed.sum {
        true => Ok(()),
        false => Err(Refusal::SumDiffers { want: installed.sum.clone(), found }),
    }
}

fn is_bundle(directory: &Path) -> bool {
    Manifest::read(directory).is_ok_and(|manifest| manifest.is_bundle())
}

/// Checks that the system runs programs of a directory.
fn check_runs(directory: &Path) -> io::Result<()> {
    if rustomize_files::refuses_programs(directory)? {
        let message = format!("programs cannot run in '{}': set TMPDIR to another directory", directory.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    }
    Ok(())
}

fn copy_file(from: PlainFile, to: &Directory, name: &Path) -> io::Result<()> {
    io::copy(&mut from.into_file(), &mut to.create(name, 0o700)?).map(drop)
}

/// Copies a directory with what was made in it. Gives whether the system has to run something from
/// the copy of the latter.
fn copy_directory(from: &Directory, to: &Directory, name: &Path) -> io::Result<bool> {
    let copy = to.make_new(name, 0o755)?;
    content::copy(from, &copy)?;
    installed_artifacts::copy(from, &copy)
}

#[cfg(test)]
mod tests {
    use super::copy;
    use crate::id::content;
    use crate::id::name::{FileName, Platform};
    use crate::store::discover::{Installed, Refusal};
    use crate::store::record::Record;
    use rustomize_process::Children;
    use std::fs;
    use std::path::Path;

    /// A plugin that was installed with a sum.
    fn installed(path: &Path, sum: String) -> Installed {
        let file = FileName::parse("rustomize-plugin-app_v1.0.0_x1.0_any_any", "app", &Platform::host()).unwrap();
        let source = "h.io/acme/app".parse().unwrap();
        let record = Record::read(path, &source, &file.version, &sum).unwrap();
        Installed { source, record, path: path.to_owned(), file, sum }
    }

    #[test]
    fn a_copy_of_what_was_replaced_after_its_check_does_not_run() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("app");
        let directory = folder.path().join("directory");
        fs::create_dir(&directory).unwrap();
        let manifest = "apiVersion: rustomize.dev/v1\nkind: Plugin\nruntime: bash\n";
        fs::write(directory.join("plugin.yaml"), manifest).unwrap();
        let children = Children::new();
        for (path, inner) in [(&file, file.clone()), (&directory, directory.join("main.sh"))] {
            fs::write(&inner, "own").unwrap();
            let installed = installed(path, content::sum(path).unwrap());
            assert!(copy(&installed, &children).is_ok());
            fs::write(&inner, "other").unwrap();
            assert!(matches!(copy(&installed, &children), Err(Refusal::SumDiffers { .. })));
        }
    }
}
