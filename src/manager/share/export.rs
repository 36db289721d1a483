//! `plugin export --mounts`: the bundles of an environment as files that any web server serves.
//!
//! `v3/file_metadatas/<mount>` lists the files of a mount, `v3/file_content/<SHA-256>` is the
//! content of one. A content never changes under its name, and both lists change in one step, so a
//! server gives the old state or the new one. The contents of the state before stay for clients
//! that have read its lists.

use super::mounts::{CONTENTS, LISTS, MOUNTS, MountedFile, files, is_sum};
use crate::diag::{Code, Error, Result};
use crate::id::content::{self, sha256};
use crate::policy::environment::Environment;
use crate::store::exclusive::ExclusiveRoot;
use rustomize_files::{self as files, Directory, PREFIX, RECORD, Staged, folder_of};
use rustomize_plugins::failure::cannot;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The directory of everything that is served.
const SERVED: &str = "v3";

/// The files that were written and removed.
#[derive(Debug, Default)]
pub struct ExportChanges {
    pub written: Vec<PathBuf>,
    pub removed: Vec<PathBuf>,
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
        all.push((mount, files(environment, mount).map_err(cannot("list the bundles of", &environment.directory))?));
    }
    let root = ExclusiveRoot::lock(to, || {})?;
    let lists = to.join(LISTS);
    let contents = root.make_folder(&to.join(CONTENTS))?;
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
    let read = |mount: &str| root.held().read(&Path::new(LISTS).join(mount), RECORD).ok();
    let before: Vec<Option<Vec<u8>>> = texts.iter().map(|(mount, _)| read(mount)).collect();
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
        let entries = fs::read_dir(directory).map_err(cannot("read", directory))?;
        let paths: io::Result<Vec<PathBuf>> = entries.map(|entry| Ok(entry?.path())).collect();
        paths.map_err(cannot("read", directory))
    };
    for path in entries(to)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_own = match name == SERVED && path.is_dir() {
            true => entries(&path)?.iter().all(|below| own.contains(below)),
            false => name.starts_with(PREFIX),
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
    contents: &Directory,
    written: &mut Vec<PathBuf>,
) -> Result<MountedFile> {
    let own = files::open(file).map_err(cannot("read", file))?;
    let facts = *own.facts();
    let mut own = own.into_file();
    let mode = if content::counts_as_executable(&own).map_err(cannot("read", file))? { 0o755 } else { 0o644 };
    let stage = root.stage()?;
    let mut copy = Staged::new_in(stage.held()).map_err(cannot("write to", root.path()))?;
    let size = std::io::copy(&mut own, &mut copy).map_err(cannot("copy", file))?;
    let sum = copy.reread().and_then(sha256).map_err(cannot("read", file))?;
    let place = contents.path().join(&sum);
    let is_there = contents.file(Path::new(&sum)).and_then(sha256).is_ok_and(|found| found == sum);
    if !is_there {
        copy.put_for_good(contents, Path::new(&sum), 0o644).map_err(cannot("write", &place))?;
        written.push(place);
    }
    Ok(MountedFile { path, sha256: sum, size, mode, uid: facts.owner, gid: facts.group })
}

/// Puts the lists of all mounts in their place, in one step.
fn put_lists(root: &ExclusiveRoot, texts: &[(&str, Vec<u8>)], place: &Path) -> Result<()> {
    let stage = root.stage()?;
    let name = Path::new("lists");
    let made = stage.path().join(name);
    let write = || -> io::Result<()> {
        let lists = stage.held().make_new(name, 0o755)?;
        stage.held().permit(name, 0o755)?;
        texts.iter().try_for_each(|(mount, text)| lists.write(Path::new(mount), text, 0o644))
    };
    write().map_err(cannot("write to", &made))?;
    let folder = root.make_folder(folder_of(place))?;
    let last = Path::new(place.file_name().unwrap_or_default());
    if folder.facts(last).is_err() {
        return stage.held().rename(name, &folder, last).map_err(cannot("write", place));
    }
    // The old lists go with the stage.
    stage.held().exchange(name, &folder, last).map_err(|e| {
        cannot("exchange", place)(e)
            .hint("the file system has to exchange directories in one step: export to a local one, and copy that")
    })
}

/// Removes contents that neither the lists nor those before them name.
fn remove_unneeded(contents: &Directory, needed: &BTreeSet<String>) -> Result<Vec<PathBuf>> {
    let mut removed = Vec::new();
    for (name, _) in contents.entries().map_err(cannot("read", contents.path()))? {
        let name = name.to_string_lossy().into_owned();
        if is_sum(&name) && !needed.contains(&name) {
            let path = contents.path().join(&name);
            contents.remove(Path::new(&name)).map_err(cannot("remove", &path))?;
            removed.push(path);
        }
    }
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
