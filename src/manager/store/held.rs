//! Makes the [`HeldCopy`] of an installed plugin, and holds it to the plugin's sum.

use super::discover::{Installed, Refusal};
use crate::manager::author::manifest::Manifest;
use crate::manager::id::content::{self, MADE, NODE_MODULES};
use crate::plugin::program::{Command, HeldCopy};
use crate::process::Children;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Directories that were made in a plugin's own when it was installed: they are not copied.
const MADE_THERE: [&str; 2] = [MADE, NODE_MODULES];

/// Copies a plugin and holds the copy to its sum. O(bytes of the plugin).
///
/// # Errors
/// It cannot be copied, or is not what was installed.
pub fn copy(installed: &Installed, children: &Children) -> Result<HeldCopy, Refusal> {
    let directory = children.directory("rustomize-plugin-").map_err(Refusal::Io)?;
    let copy = directory.path().join(installed.path.file_name().unwrap_or_default());
    let is_directory = installed.path.is_dir();
    // The programs of a bundle run from the copy; an interpreter reads that of a plugin.
    if !is_directory || is_bundle(&installed.path) {
        check_runs(directory.path()).map_err(Refusal::Io)?;
    }
    let beside = match is_directory {
        true => copy_directory(&installed.path, &copy),
        false => copy_file(&installed.path, &copy),
    };
    let beside = beside.map_err(Refusal::Io)?;
    let found = content::sum(&copy).map_err(Refusal::Io)?;
    if found != installed.sum {
        return Err(Refusal::SumDiffers { want: installed.sum.clone(), found });
    }
    let mut command = match is_directory {
        true => Manifest::read(&copy).map_err(Refusal::Directory)?.command(&copy),
        false => Command::of_binary(&copy),
    };
    command.needs.extend(beside);
    Ok(HeldCopy { command, file: (!is_directory).then_some(copy), directory })
}

fn is_bundle(directory: &Path) -> bool {
    Manifest::read(directory).is_ok_and(|manifest| manifest.is_bundle())
}

/// Checks that the system runs programs of a directory.
fn check_runs(directory: &Path) -> io::Result<()> {
    if rustix::fs::statvfs(directory)?.f_flag.contains(rustix::fs::StatVfsMountFlags::NOEXEC) {
        let message = format!("programs cannot run in '{}': set TMPDIR to another directory", directory.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path) -> io::Result<Vec<PathBuf>> {
    fs::copy(from, to)?;
    fs::set_permissions(to, Permissions::from_mode(0o700))?;
    Ok(Vec::new())
}

/// Copies the content of a directory, and leads to what was made there, which is returned.
fn copy_directory(from: &Path, to: &Path) -> io::Result<Vec<PathBuf>> {
    fs::create_dir(to)?;
    content::copy(from, to)?;
    let beside: Vec<PathBuf> = MADE_THERE.iter().map(|name| from.join(name)).filter(|path| path.is_dir()).collect();
    for path in &beside {
        symlink(path, to.join(path.file_name().unwrap_or_default()))?;
    }
    Ok(beside)
}

#[cfg(test)]
mod tests {
    use super::copy;
    use crate::manager::id::content;
    use crate::manager::id::name::{FileName, Platform};
    use crate::manager::store::discover::{Installed, Refusal};
    use crate::process::Children;
    use std::fs;
    use std::path::Path;

    /// A plugin that was installed with a sum.
    fn installed(path: &Path, sum: String) -> Installed {
        let file = FileName::parse("rustomize-plugin-app_v1.0.0_x1.0_any_any", "app", &Platform::host()).unwrap();
        Installed { source: "h.io/acme/app".parse().unwrap(), path: path.to_owned(), file, sum, opened: None }
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
