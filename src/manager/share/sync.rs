//! `plugin sync --environment`: makes what was synced for an environment what its server has (M05
//! to M08, M10 to M15).
//!
//! The lists of both mounts come first; only files that are not here with the same content are
//! fetched. All files go into a directory of their own, with the URL of the server, and one link
//! says which of these directories counts: whoever is cut off has changed nothing.

use super::mounts::{CONTENTS, LISTS, MOUNTS, MountedFile, is_sum};
use crate::diag::{Code, Error, Result};
use crate::manager::fetch::Transfer;
use crate::manager::id::content::{self, sha256};
use crate::manager::policy::environment::SERVER;
use crate::manager::store::exclusive::ExclusiveRoot;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

/// The link to what counts.
const CURRENT: &str = "current";

/// The beginning of the names of directories that were synced.
const GENERATION: &str = "generation-";

/// Characters that are not escaped in the path of a URL.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// How often lists are read that change meanwhile.
const MOST_READS: usize = 5;

/// The counts of a sync.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncCounts {
    /// How many files there are.
    pub files: usize,
    pub fetched: usize,
    pub removed: usize,
}

fn io(what: &str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let message = format!("cannot {what} '{}'", path.display());
    move |e| Error::io(&e, format!("{message}: {e}"))
}

/// Syncs the mounts of an environment to `place`. A second run fetches the metadata and nothing
/// else.
///
/// # Errors
/// The server cannot be asked, says something that cannot be, or sends something else than it has
/// said; or it cannot be written.
pub fn sync(transfer: &Transfer, server: &str, environment: &str, place: &Path) -> Result<SyncCounts> {
    let root = ExclusiveRoot::lock(place, || {})?;
    let environment = utf8_percent_encode(environment, PATH);
    let mut wanted: BTreeMap<String, (MountedFile, String)> = BTreeMap::new();
    let urls = MOUNTS.map(|(mount, _)| format!("{server}/{LISTS}/{mount}?environment={environment}"));
    for ((text, url), (_, folder)) in lists(transfer, &urls)?.iter().zip(&urls).zip(MOUNTS) {
        let files: Vec<MountedFile> = serde_json::from_slice(text)
            .map_err(|e| Error::new(Code::FetchFailed, format!("the answer of '{url}' is not a list of files: {e}")))?;
        for file in files {
            let path = file.path.clone();
            let is_path = Path::new(&path).components().all(|c| matches!(c, Component::Normal(_))) && !path.is_empty();
            let refused = |what: &str| {
                let message = format!("'{url}' names the file '{path}'{what}");
                Err(Error::new(Code::Refused, message).hint("nothing was changed"))
            };
            if !is_path || path.contains('\\') {
                return refused(", which is not a path below the mount");
            }
            if file.mode & !0o777 != 0 {
                return refused(&format!(" with mode {:o}: a mode has permissions alone, at most 777", file.mode));
            }
            if !is_sum(&file.sha256) {
                return refused(" without a SHA-256 in hex");
            }
            let content = format!("{server}/{CONTENTS}/{}?environment={environment}", file.sha256);
            if file.mode & 0o400 == 0 {
                let message = format!("'{url}' names the file '{path}' with mode {:o}", file.mode);
                return Err(Error::new(Code::Refused, message).hint("its owner could not read it: nothing was changed"));
            }
            if wanted.insert(format!("{folder}/{path}"), (file, content)).is_some() {
                return Err(Error::new(Code::Refused, format!("'{url}' names the file '{path}' twice")));
            }
        }
    }
    let current = place.join(CURRENT);
    clear(place, &current, None)?;
    let here = here(&current)?;
    let is_root = rustix::process::geteuid().is_root();
    let is_same = |path: &String, file: &MountedFile| {
        here.get(path).is_some_and(|local| {
            let is_owned = !is_root || (local.uid, local.gid) == (file.uid, file.gid);
            local.sha256 == file.sha256 && local.mode == file.mode && is_owned
        })
    };
    let is_same_server = fs::read_to_string(current.join(SERVER)).is_ok_and(|text| text.trim_end() == server);
    let removed = here.keys().filter(|path| !wanted.contains_key(*path)).count();
    let mut done = SyncCounts { files: wanted.len(), fetched: 0, removed };
    if removed == 0 && is_same_server && wanted.iter().all(|(path, (file, _))| is_same(path, file)) {
        return Ok(done);
    }
    let staged = root.stage()?;
    for (path, (file, url)) in &wanted {
        let target = staged.path().join(path);
        fs::create_dir_all(target.parent().unwrap_or(place)).map_err(io("write to", place))?;
        match here.get(path).filter(|local| local.sha256 == file.sha256) {
            Some(_) => drop(fs::copy(current.join(path), &target).map_err(io("write", &target))?),
            None => {
                let bytes = transfer.get(url)?;
                let found = sha256(&bytes[..]).map_err(io("read", &target))?;
                if found != file.sha256 || bytes.len() as u64 != file.size {
                    let message = format!("'{url}' differs from the list of the server: SHA-256 {found}");
                    return Err(Error::new(Code::FetchFailed, message).hint("nothing was changed"));
                }
                fs::write(&target, bytes).map_err(io("write", &target))?;
                done.fetched += 1;
            }
        }
        fs::set_permissions(&target, fs::Permissions::from_mode(file.mode)).map_err(io("write", &target))?;
        if is_root {
            chown(&target, Some(file.uid), Some(file.gid)).map_err(io("change the owner of", &target))?;
        }
    }
    let record = staged.path().join(SERVER);
    fs::write(&record, format!("{server}\n")).map_err(io("write", &record))?;
    fs::set_permissions(staged.path(), fs::Permissions::from_mode(0o755)).map_err(io("write to", place))?;
    let before = fs::read_link(&current).ok();
    let generation = staged.path().file_name().unwrap_or_default().to_string_lossy().trim_start_matches('.').to_owned();
    let generation = format!("{GENERATION}{generation}");
    fs::rename(staged.path(), place.join(&generation)).map_err(io("write to", place))?;
    let link = root.stage()?;
    symlink(&generation, link.path().join(CURRENT)).map_err(io("write to", place))?;
    fs::rename(link.path().join(CURRENT), &current).map_err(io("write to", place))?;
    clear(place, &current, before)?;
    Ok(done)
}

/// The lists of both mounts in one state of the server. The first list is read again after the
/// second: if it is still the same, nothing has changed in between.
fn lists(transfer: &Transfer, [first, second]: &[String; 2]) -> Result<[Vec<u8>; 2]> {
    let mut before = transfer.get(first)?;
    for _ in 0..MOST_READS {
        let list = transfer.get(second)?;
        let again = transfer.get(first)?;
        if again == before {
            return Ok([before, list]);
        }
        before = again;
    }
    let message = format!("'{first}' has changed {MOST_READS} times while the lists were read");
    Err(Error::new(Code::Checksum, message).hint("nothing was changed here: sync again when its export has ended"))
}

/// Removes generations, also those of runs that were cut off. The one that counts stays, and one
/// that a build may still read: the one that counted `before`, else the newest.
fn clear(place: &Path, current: &Path, before: Option<PathBuf>) -> Result<()> {
    let counts = fs::read_link(current).unwrap_or_default();
    let is_old = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        name.to_string_lossy().starts_with(GENERATION) && name != counts.as_os_str()
    };
    let entries = fs::read_dir(place).map_err(io("read", place))?.filter_map(std::result::Result::ok);
    let mut old: Vec<_> = entries.filter(is_old).map(|entry| (filled(&entry), entry.path())).collect();
    old.sort_unstable();
    match before {
        Some(before) => old.retain(|(_, path)| *path != place.join(&before)),
        None => drop(old.pop()),
    }
    old.iter().try_for_each(|(_, path)| fs::remove_dir_all(path).map_err(io("remove", path)))
}

/// When the entries of a directory last changed; `None`, the earliest, if that is unknown.
fn filled(entry: &fs::DirEntry) -> Option<SystemTime> {
    entry.metadata().and_then(|metadata| metadata.modified()).ok()
}

/// The files that count now, by their paths.
fn here(current: &Path) -> Result<BTreeMap<String, MountedFile>> {
    if !current.is_dir() {
        return Ok(BTreeMap::new());
    }
    let read = |path: String, file: &PathBuf| -> io::Result<(String, MountedFile)> {
        let opened = fs::File::open(file)?;
        let of = opened.metadata()?;
        let (size, mode, uid, gid) = (of.len(), of.mode() & 0o777, of.uid(), of.gid());
        let metadata = MountedFile { path: path.clone(), sha256: sha256(opened)?, size, mode, uid, gid };
        Ok((path, metadata))
    };
    let mut files = content::files(current).map_err(io("read", current))?;
    files.retain(|(path, _)| path != SERVER);
    let read = |(path, file): (String, PathBuf)| match read(path, &file) {
        // A file that cannot be read is fetched again.
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => None,
        other => Some(other.map_err(io("read", &file))),
    };
    files.into_iter().filter_map(read).collect()
}
