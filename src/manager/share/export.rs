//! `plugin export --mounts`: the bundles of an environment as files that any web server serves
//! (M04, M09, M11).
//!
//! `v3/file_metadatas/<mount>` lists the files of a mount, `v3/file_content/<SHA-256>` is the
//! content of one. A content never changes under its name, and both lists change in one step, so a
//! server gives the old state or the new one. The contents of the state before stay for clients
//! that have read its lists.

use super::mounts::{CONTENTS, LISTS, MOUNTS, MountedFile, files, is_sum};
use crate::atomic;
use crate::diag::{Code, Error, Result};
use crate::manager::id::content::sha256;
use crate::manager::policy::environment::Environment;
use crate::manager::store::exclusive::ExclusiveRoot;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The directory of everything that is served.
const SERVED: &str = "v3";

/// The files that were written and removed.
#[derive(Debug, Default)]
pub struct ExportChanges {
    pub written: Vec<PathBuf>,
    pub removed: Vec<PathBuf>,
}

fn io(what: &str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let message = format!("cannot {what} '{}'", path.display());
    move |e| Error::io(&e, format!("{message}: {e}"))
}

/// Writes the mounts of an environment into a directory, which does not exist yet, is empty, or has
/// an earlier export. O(bytes of the files).
///
/// # Errors
/// The directory has other files, a file cannot be read or written, or the file system cannot
/// exchange directories. Whoever serves the directory serves the state before then.
pub fn export(environment: &Environment, to: &Path) -> Result<ExportChanges> {
    check_place(to)?;
    let mut all: Vec<(&str, BTreeMap<String, PathBuf>)> = Vec::new();
    for (mount, _) in MOUNTS {
        all.push((mount, files(environment, mount).map_err(io("list the bundles of", &environment.directory))?));
    }
    let root = ExclusiveRoot::lock(to, || {})?;
    let (lists, contents) = (to.join(LISTS), to.join(CONTENTS));
    for folder in [to.join(SERVED), contents.clone()] {
        root.make_folder(&folder)?;
    }
    let mut done = ExportChanges::default();
    let mut texts: Vec<(&str, Vec<u8>)> = Vec::new();
    let mut needed: BTreeSet<String> = BTreeSet::new();
    for (mount, files) in all {
        let mut listed = Vec::new();
        for (path, file) in files {
            let metadata = add(&root, path, &file, &contents, &mut done.written)?;
            needed.insert(metadata.sha256.clone());
            listed.push(metadata);
        }
        let text = serde_json::to_vec(&listed).map_err(|e| Error::new(Code::Internal, e.to_string()))?;
        texts.push((mount, text));
    }
    let before: Vec<Option<Vec<u8>>> = texts.iter().map(|(mount, _)| fs::read(lists.join(mount)).ok()).collect();
    if texts.iter().zip(&before).all(|((_, text), before)| before.as_ref() == Some(text)) {
        return Ok(done);
    }
    for text in before.iter().flatten() {
        let known: Vec<MountedFile> = serde_json::from_slice(text).unwrap_or_default();
        needed.extend(known.into_iter().map(|file| file.sha256));
    }
    put_lists(&root, &texts, &lists)?;
    done.written.extend(texts.iter().map(|(mount, _)| lists.join(mount)));
    done.removed = remove_unneeded(&contents, &needed)?;
    Ok(done)
}

/// Refuses a place where files of somebody else would be mixed with those of the export.
fn check_place(to: &Path) -> Result<()> {
    let refused = |why: &str| {
        let error = Error::new(Code::Usage, format!("'{}' {why}", to.display()));
        Err(error.hint("name a directory that does not exist yet, or one with an earlier export"))
    };
    match to.metadata() {
        Err(_) => return Ok(()),
        Ok(there) if !there.is_dir() => return refused("is not a directory"),
        Ok(_) if MOUNTS.iter().all(|(mount, _)| to.join(LISTS).join(mount).is_file()) => return Ok(()),
        Ok(_) => {}
    }
    // A first export that was cut off has left contents, and no lists.
    let own: BTreeSet<PathBuf> = [LISTS, CONTENTS].into_iter().map(|path| to.join(path)).collect();
    let entries = |directory: &Path| -> Result<Vec<PathBuf>> {
        let entries = fs::read_dir(directory).map_err(io("read", directory))?;
        let paths: io::Result<Vec<PathBuf>> = entries.map(|entry| Ok(entry?.path())).collect();
        paths.map_err(io("read", directory))
    };
    for path in entries(to)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_own = match name == SERVED && path.is_dir() {
            true => entries(&path)?.iter().all(|below| own.contains(below)),
            false => name.starts_with(atomic::PREFIX),
        };
        if !is_own {
            return refused("is not empty, and has no earlier export");
        }
    }
    Ok(())
}

/// Adds the content of a file, unless it exists already, and returns the file's entry in the list.
/// The entry describes the copy, so a file that changes meanwhile is either the old or the new one.
fn add(
    root: &ExclusiveRoot,
    path: String,
    file: &Path,
    contents: &Path,
    written: &mut Vec<PathBuf>,
) -> Result<MountedFile> {
    let of = fs::metadata(file).map_err(io("read", file))?;
    let stage = root.stage()?;
    let copy = stage.path().join("content");
    fs::copy(file, &copy).map_err(io("copy", file))?;
    let opened = File::open(&copy).map_err(io("read", &copy))?;
    let size = opened.metadata().map_err(io("read", &copy))?.len();
    let sum = sha256(&opened).map_err(io("read", &copy))?;
    let place = contents.join(&sum);
    let is_there = File::open(&place).and_then(sha256).is_ok_and(|found| found == sum);
    if !is_there {
        let put = || {
            fs::set_permissions(&copy, Permissions::from_mode(0o644))?;
            opened.sync_all()?;
            fs::rename(&copy, &place)
        };
        put().map_err(io("write", &place))?;
        written.push(place);
    }
    let mode = if of.mode() & 0o111 == 0 { 0o644 } else { 0o755 };
    Ok(MountedFile { path, sha256: sum, size, mode, uid: of.uid(), gid: of.gid() })
}

/// Puts the lists of all mounts in their place, in one step.
fn put_lists(root: &ExclusiveRoot, texts: &[(&str, Vec<u8>)], place: &Path) -> Result<()> {
    let stage = root.stage()?;
    let made = stage.path().join("lists");
    let write = || -> io::Result<()> {
        fs::create_dir(&made)?;
        fs::set_permissions(&made, Permissions::from_mode(0o755))?;
        for (mount, text) in texts {
            atomic::write(&made.join(mount), text, 0o644)?;
        }
        Ok(())
    };
    write().map_err(io("write to", &made))?;
    if place.symlink_metadata().is_err() {
        return fs::rename(&made, place).map_err(io("write", place));
    }
    // The old lists go with the stage.
    renameat_with(CWD, &made, CWD, place, RenameFlags::EXCHANGE).map_err(|e| {
        io("exchange", place)(e.into())
            .hint("the file system has to exchange directories in one step: export to a local one, and copy that")
    })
}

/// Removes contents that neither the lists nor those before them name.
fn remove_unneeded(contents: &Path, needed: &BTreeSet<String>) -> Result<Vec<PathBuf>> {
    let mut removed = Vec::new();
    for entry in fs::read_dir(contents).map_err(io("read", contents))? {
        let entry = entry.map_err(io("read", contents))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if is_sum(&name) && !needed.contains(&name) {
            fs::remove_file(entry.path()).map_err(io("remove", &entry.path()))?;
            removed.push(entry.path());
        }
    }
    removed.sort();
    Ok(removed)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{ExclusiveRoot, put_lists};
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    };
    use std::fs;

    /// Makes the system answer this thread as it does where a file system cannot exchange
    /// directories: an exchange fails with EINVAL, every other renaming works.
    #[expect(clippy::unwrap_used, reason = "a test that cannot prepare fails")]
    fn without_exchange() {
        const FLAGS: u8 = 4;
        let exchange = u64::from(rustix::fs::RenameFlags::EXCHANGE.bits());
        let is = SeccompCondition::new(FLAGS, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, exchange).unwrap();
        let rules = [(libc::SYS_renameat2, vec![SeccompRule::new(vec![is]).unwrap()])];
        let refused = SeccompAction::Errno(rustix::io::Errno::INVAL.raw_os_error().unsigned_abs());
        let architecture = std::env::consts::ARCH.try_into().unwrap();
        let filter = SeccompFilter::new(rules.into(), SeccompAction::Allow, refused, architecture).unwrap();
        seccompiler::apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
    }

    #[test]
    fn where_directories_cannot_be_exchanged_the_old_lists_stay() {
        let folder = tempfile::tempdir().unwrap();
        let lists = folder.path().join("lists");
        let put = |text: &str| {
            let root = ExclusiveRoot::lock(folder.path(), || {}).unwrap();
            put_lists(&root, &[("plugins", text.into()), ("schemas", text.into())], &lists)
        };
        let refused = std::thread::scope(|scope| {
            let limited = scope.spawn(|| {
                without_exchange();
                put("first").unwrap();
                put("second").unwrap_err()
            });
            limited.join().unwrap()
        });
        assert!(refused.to_string().contains("cannot exchange"), "{refused}");
        assert!(refused.hints().iter().any(|hint| hint.contains("export to a local one")), "{refused:?}");
        for mount in ["plugins", "schemas"] {
            assert_eq!(fs::read_to_string(lists.join(mount)).unwrap(), "first");
        }
        // Where they can be, the new ones take their place.
        put("second").unwrap();
        assert_eq!(fs::read_to_string(lists.join("plugins")).unwrap(), "second");
        assert_eq!(fs::read_dir(&lists).unwrap().count(), 2);
    }
}
