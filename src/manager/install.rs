//! Putting plugins where they are found, and taking them away (P02, P03, P23 to P32).

use super::describe::{DescribeError, Description};
use super::discover::{Candidate, Installed, sha256, sum_file};
use super::name::{FileName, Platform};
use super::source::Source;
use super::version::{ApiVersion, Version, VersionError};
use crate::diag::{Error, ErrorKind, Result};
use crate::plugin::PluginOptions;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

fn fault(message: String) -> Error {
    Error::new(ErrorKind::Plugin, message)
}

fn io(what: &str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let message = format!("cannot {what} '{}'", path.display());
    move |e| Error::new(ErrorKind::Io, format!("{message}: {e}"))
}

/// The path that says that a plugin is not complete: written before anything else, and removed last (U45).
pub fn partial(binary: &Path) -> PathBuf {
    let mut name = binary.as_os_str().to_owned();
    name.push(".partial");
    name.into()
}

/// Installs a binary of this machine under a source, as the version that it says it is. What is installed is a copy, with its sum beside
/// it; until that is complete, it is not considered.
///
/// # Errors
/// The binary does not describe itself, or the copy cannot be written.
pub fn from_path(root: &Path, source: &Source, binary: &Path, options: &PluginOptions) -> Result<Installed> {
    let shown = binary.display();
    let binary = &binary.canonicalize().map_err(io("find", binary))?;
    if binary.is_dir() {
        return Err(fault(format!("'{shown}' is a directory")).hint("name the plugin's executable"));
    }
    let description = Description::ask(binary, options)
        .map_err(|e| fault(format!("'{shown}' is no plugin that can be installed: {e}")).hint(describe_hint(&e)))?;
    let wrong = |e: VersionError| fault(format!("'{shown}' says of its version: {e}"));
    let version: Version = description.version.parse().map_err(wrong)?;
    let api: ApiVersion = description.api_version.parse().map_err(wrong)?;
    description.check(&version, api).map_err(|e| fault(format!("'{shown}' cannot be installed: {e}")))?;
    let file = FileName { name: source.name().to_owned(), version, api, platform: Platform::host() };
    let folder = root.join(source.directory());
    let path = folder.join(file.to_string());
    fs::create_dir_all(&folder).map_err(io("make the directories of", &folder))?;
    let sum = put(binary, &path).map_err(io("write", &path))?;
    Ok(Installed { source: source.clone(), path, file, sum })
}

fn describe_hint(error: &DescribeError) -> &'static str {
    match error {
        DescribeError::Form(_) => {
            "run with the argument 'describe' it prints one JSON object: {\"version\": \"1.0.0\", \"api_version\": \"x1.0\", \"generators\": [...], ...}"
        }
        _ => "is it executable, and for this machine?",
    }
}

/// Copies a binary and writes its sum; gives the sum.
fn put(from: &Path, to: &Path) -> io::Result<String> {
    let folder = to.parent().unwrap_or(Path::new("."));
    let marker = partial(to);
    File::create(&marker)?.sync_all()?;
    let mut copy = tempfile::Builder::new().prefix(".rustomize-").tempfile_in(folder)?;
    io::copy(&mut File::open(from)?, copy.as_file_mut())?;
    copy.as_file().set_permissions(fs::Permissions::from_mode(0o755))?;
    copy.as_file().sync_all()?;
    let sum = sha256(File::open(copy.path())?)?;
    // An older sum of the same name goes first: a new binary is never held to it.
    match fs::remove_file(sum_file(to)) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    copy.persist(to)?;
    let mut sums = tempfile::Builder::new().prefix(".rustomize-").tempfile_in(folder)?;
    writeln!(sums, "{sum}")?;
    sums.as_file().sync_all()?;
    sums.persist(sum_file(to))?;
    fs::remove_file(marker)?;
    Ok(sum)
}

/// Takes installed plugins away, with what lies beside them; directories that are empty then go, too. Gives the paths of the binaries.
///
/// # Errors
/// A file cannot be removed.
pub fn remove(root: &Path, candidates: &[Candidate]) -> Result<Vec<PathBuf>> {
    let mut removed = Vec::new();
    for candidate in candidates {
        let path = &candidate.path;
        // Without its sum a binary is not considered: that goes first.
        for file in [&sum_file(path), path, &partial(path)] {
            match fs::remove_file(file) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(io("remove", file)(e)),
                _ => {}
            }
        }
        let mut folder = path.parent();
        while let Some(empty) = folder.filter(|folder| *folder != root && folder.starts_with(root)) {
            if fs::remove_dir(empty).is_err() {
                break;
            }
            folder = empty.parent();
        }
        removed.push(path.clone());
    }
    Ok(removed)
}
