//! `plugin sync --environment`: makes the synced files of an environment those of its server.
//!
//! The lists of both mounts come first; only files that are not here with the same content are
//! fetched. All files go into a directory of their own, with the URL of the server, and one link
//! says which of these directories counts: whoever is cut off has changed nothing. On systems where
//! this program makes no links, a file has the name of the directory.

use super::mounts::{CONTENTS, LISTS, MOUNTS, MountedFile};
use crate::diag::{Code, Error, Result};
use crate::fetch::Transfer;
use crate::id::content::sha256;
use crate::policy::environment::{CURRENT, SERVER, current};
use crate::store::exclusive::ExclusiveRoot;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rustomize_base::windows_path::slashed;
use rustomize_files::{self as files, Directory, Kind, RECORD, folder_of};
use rustomize_plugins::failure::cannot;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

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
        for file in MountedFile::listed(text, url)? {
            let path = file.path.clone();
            let content = format!("{server}/{CONTENTS}/{}?environment={environment}", file.sha256);
            if wanted.insert(format!("{folder}/{path}"), (file, content)).is_some() {
                return Err(Error::new(Code::Refused, format!("'{url}' names the file '{path}' twice")));
            }
        }
    }
    let place = root.held();
    clear(place, None)?;
    let here = synced_files(place)?;
    let own = rustomize_files::own_user();
    let is_same = |path: &String, file: &MountedFile| {
        here.files
            .get(path)
            .is_some_and(|local| local.sha256 == file.sha256 && has_mode(local, file.mode) && local.owner == own)
    };
    let is_same_server = here.server.as_deref().is_some_and(|text| text.trim_end() == server);
    let removed = here.files.keys().filter(|path| !wanted.contains_key(*path)).count();
    let mut done = SyncCounts { files: wanted.len(), fetched: 0, removed };
    if removed == 0 && is_same_server && wanted.iter().all(|(path, (file, _))| is_same(path, file)) {
        return Ok(done);
    }
    let staged = root.stage()?;
    let cannot_write = |path: &str| cannot("write", &staged.path().join(path));
    for (path, (file, url)) in &wanted {
        let below = Path::new(path);
        let make = || {
            let folder = staged.held().make(folder_of(below), 0o755)?;
            folder.create(Path::new(below.file_name().unwrap_or_default()), mode_of(file.mode))
        };
        let mut made = make().map_err(cannot_write(path))?;
        match (&here.directory, here.files.get(path)) {
            (Some(current), Some(local)) if local.sha256 == file.sha256 => {
                let old = current.file(below).map_err(cannot_write(path))?;
                io::copy(&mut old.into_file(), &mut made).map_err(cannot_write(path))?;
            }
            _ => {
                let bytes = transfer.get(url)?;
                let found = sha256(&bytes[..]).map_err(cannot_write(path))?;
                if found != file.sha256 || bytes.len() as u64 != file.size {
                    let message = format!("'{url}' differs from the list of the server: SHA-256 {found}");
                    return Err(Error::new(Code::FetchFailed, message).hint("nothing was changed"));
                }
                made.write_all(&bytes).map_err(cannot_write(path))?;
                done.fetched += 1;
            }
        }
    }
    staged.held().write(Path::new(SERVER), format!("{server}\n").as_bytes(), 0o644).map_err(cannot_write(SERVER))?;
    let before = current(place);
    let generation = format!("{GENERATION}{}", staged.name().display());
    let put = || -> io::Result<()> {
        place.permit(root.below(staged.path()).map_err(io::Error::other)?, 0o755)?;
        staged.keep_as(place, Path::new(&generation))?;
        lead_to(&generation, &root)
    };
    put().map_err(cannot("write to", place.path()))?;
    clear(place, before)?;
    Ok(done)
}

/// Makes a directory the one that counts, in one step.
fn lead_to(generation: &str, root: &ExclusiveRoot) -> io::Result<()> {
    let (place, link) = (root.stage().map_err(io::Error::other)?, Path::new(CURRENT));
    match place.held().link(Path::new(generation), link) {
        Err(e) if e.kind() == io::ErrorKind::Unsupported => place.held().write(link, generation.as_bytes(), 0o644)?,
        made => made?,
    }
    place.held().rename(link, root.held(), link)
}

/// Returns true if a file has the permissions of its mode, or the system has none.
fn has_mode(local: &LocalFile, mode: u32) -> bool {
    !cfg!(unix) || local.mode == mode_of(mode)
}

/// The permissions of a synced file: those of a program, or of any other file. Neither lets another
/// user write, whatever the server says.
fn mode_of(mode: u32) -> u32 {
    if mode & 0o111 == 0 { 0o644 } else { 0o755 }
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
fn clear(place: &Directory, before: Option<PathBuf>) -> Result<()> {
    let counts = current(place).unwrap_or_default();
    let entries = place.entries().map_err(cannot("read", place.path()))?.into_iter().map(|(name, _)| name);
    let is_old = |name: &OsString| name.to_string_lossy().starts_with(GENERATION) && *name != *counts.as_os_str();
    let changed = |name: &OsString| place.facts(Path::new(name)).ok().and_then(|facts| facts.changed);
    let mut old: Vec<_> = entries.filter(is_old).map(|name| (changed(&name), name)).collect();
    old.sort_unstable();
    match before {
        Some(before) => old.retain(|(_, name)| *name != *before.as_os_str()),
        None => drop(old.pop()),
    }
    old.iter()
        .try_for_each(|(_, name)| place.remove(Path::new(name)).map_err(cannot("remove", &place.path().join(name))))
}

/// The synced files that builds use now.
#[derive(Default)]
struct SyncedFiles {
    directory: Option<Directory>,
    files: BTreeMap<String, LocalFile>,
    /// The text that names the server.
    server: Option<String>,
}

struct LocalFile {
    sha256: String,
    mode: u32,
    owner: u32,
}

/// Reads the synced files that builds use now.
fn synced_files(place: &Directory) -> Result<SyncedFiles> {
    // A sync wrote the name; it is that of a directory beside it.
    let Some(directory) = current(place).and_then(|name| place.below(&name).ok()) else {
        return Ok(SyncedFiles::default());
    };
    let mut files = BTreeMap::new();
    let mut add = |member: &files::Member<'_>| -> io::Result<bool> {
        let is_server = member.path == Path::new(SERVER);
        let path = slashed(member.path.clone());
        let (Kind::File, false, Some(path)) = (member.kind, is_server, path.to_str()) else {
            return Ok(member.kind == Kind::Directory);
        };
        match member.directory.file(Path::new(&member.name)) {
            // A file that cannot be read is fetched again.
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {}
            file => {
                let file = file?;
                let (mode, owner) = (file.facts().mode & 0o7777, file.facts().owner);
                files.insert(path.to_owned(), LocalFile { mode, owner, sha256: sha256(file)? });
            }
        }
        Ok(false)
    };
    directory.walk(&mut add).map_err(cannot("read", directory.path()))?;
    let server = directory.read_text(Path::new(SERVER), RECORD).ok();
    Ok(SyncedFiles { directory: Some(directory), files, server })
}
