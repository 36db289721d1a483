//! Checksums of bytes and of directories, and copies of directories.
//!
//! The sum of a directory is the SHA-256 of one line for each file and link, sorted by path:
//! `<sha256> - <path>` for a file, `<sha256 of its target> l <path>` for a link. In a path with a
//! line break or a backslash both are escaped, so that no path can pass for several lines.
//! Directories without files and entries called `.git` are left out: git keeps neither.

pub use rustomize_engine::load::artifact_reference::is_sha256;

use rustomize_files::{self as files, Directory, Kind, folder_of};
use sha2::{Digest, Sha256};
use std::io::{self, Read};
use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf};

/// The SHA-256 of bytes, in hex. O(bytes).
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The SHA-256 of a stream, in hex, with constant memory.
fn sha256_of(mut from: impl Read) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(hex(&hash.finalize())),
            n => hash.update(&buffer[..n]),
        }
    }
}

/// A file or link of a directory.
struct Part<'d> {
    /// Its directory, and its name there.
    folder: &'d Directory,
    own: &'d Path,
    /// The path in the directory where the walk began, with `/` between its names.
    name: &'d str,
    /// The target of a link.
    target: Option<PathBuf>,
}

impl Part<'_> {
    /// Returns true for a link that leads out of the directory where the walk began.
    fn leads_out(&self) -> bool {
        self.target.as_ref().is_some_and(|target| !stays_inside(self.name, target))
    }

    /// The line that a sum is made of.
    fn line(&self) -> io::Result<String> {
        let (sum, mark) = match &self.target {
            Some(target) => (sha256(target.as_os_str().as_encoded_bytes()), 'l'),
            None => (sha256_of(self.folder.file(self.own)?)?, '-'),
        };
        let name = self.name.replace('\\', "\\\\").replace('\n', "\\n");
        Ok(format!("{sum} {mark} {name}\n"))
    }
}

/// The sum of a directory. O(bytes of its files).
///
/// # Errors
/// The directory is a link, a file cannot be read, is a pipe or a device, or has a name that is not
/// valid UTF-8.
pub fn directory(top: &Path) -> io::Result<String> {
    of(&files::directory(top)?, |_| true)
}

/// As [`directory`], for one that a user has named, perhaps by a link.
///
/// # Errors
/// As [`directory`], but for the link.
pub fn named_directory(top: &Path) -> io::Result<String> {
    of(&Directory::open(top)?, |_| true)
}

/// The sum that a copy of a directory has: links that lead out of the directory are left out.
/// O(bytes of its files).
///
/// # Errors
/// As [`directory`].
pub fn of_copy(top: &Path) -> io::Result<String> {
    of(&files::directory(top)?, |part| !part.leads_out())
}

fn of(top: &Directory, is_wanted: impl Fn(&Part<'_>) -> bool) -> io::Result<String> {
    let mut lines: Vec<(String, String)> = Vec::new();
    each_part(top, &mut |part| {
        if is_wanted(part) {
            lines.push((part.name.to_owned(), part.line()?));
        }
        Ok(())
    })?;
    lines.sort_unstable();
    Ok(sha256(lines.into_iter().map(|(_, line)| line).collect::<String>().as_bytes()))
}

/// Visits the files and links below a directory. Links are not followed.
fn each_part(top: &Directory, visit: &mut dyn FnMut(&Part<'_>) -> io::Result<()>) -> io::Result<()> {
    top.walk(&mut |member| {
        let own = Path::new(&member.name);
        let fault = |what: &str| {
            let path = member.directory.path().join(own);
            io::Error::new(io::ErrorKind::InvalidData, format!("'{}' {what}", files::shown(path.as_os_str())))
        };
        if member.name == ".git" {
            return Ok(false);
        }
        let name = member.path.to_str().ok_or_else(|| fault("has a name that is not valid UTF-8"))?;
        let name = &name.replace(MAIN_SEPARATOR, "/");
        let target = match member.kind {
            Kind::Directory => return Ok(true),
            Kind::File => None,
            Kind::Link => Some(member.directory.target(own)?),
            Kind::Other => return Err(fault("is neither a file, a directory nor a link")),
        };
        visit(&Part { folder: member.directory, own, name, target }).map(|()| false)
    })
}

/// Copies the files and links of a directory into another directory, if `is_wanted` is true for
/// their names. A link that leads out of the directory is not copied: a build refuses it.
///
/// # Errors
/// As [`directory`], or the copy cannot be written.
pub fn copy(from: &Path, to: &Path, is_wanted: impl Fn(&str) -> bool) -> io::Result<()> {
    let to = Directory::open(folder_of(to))?.make(Path::new(to.file_name().unwrap_or_default()), 0o777)?;
    each_part(&files::directory(from)?, &mut |part| {
        if !is_wanted(part.name) || part.leads_out() {
            return Ok(());
        }
        let folder = to.make(Path::new(part.name).parent().unwrap_or(Path::new("")), 0o777)?;
        match &part.target {
            Some(target) => folder.link(target, part.own),
            None => copy_file(part, &folder),
        }
    })
}

/// Copies a file. Of its permissions the right to execute stays.
fn copy_file(part: &Part<'_>, to: &Directory) -> io::Result<()> {
    let from = part.folder.file(part.own)?;
    let mode = if from.facts().is_executable() { 0o755 } else { 0o644 };
    let mut made = to.create(part.own, mode)?;
    io::copy(&mut from.into_file(), &mut made).map(drop)
}

/// Returns true if a link called `name` in a directory leads to a place in the same directory,
/// judged by the texts alone.
fn stays_inside(name: &str, target: &Path) -> bool {
    let mut depth = name.matches('/').count();
    for part in target.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{copy, directory, of_copy};
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_name_with_line_breaks_does_not_pass_for_several_files() {
        let sum_of = |files: &[(&str, &str)]| {
            let folder = tempfile::tempdir().unwrap();
            for (name, text) in files {
                fs::write(folder.path().join(name), text).unwrap();
            }
            directory(folder.path()).unwrap()
        };
        let b = super::sha256(b"b");
        let forged = format!("a\n{b} - b");
        assert_ne!(sum_of(&[("a", "a"), ("b", "b")]), sum_of(&[(&forged, "a")]));
        assert_ne!(sum_of(&[("a\\nb", "")]), sum_of(&[("a\nb", "")]));
    }

    #[test]
    fn a_copy_has_the_sum_of_what_it_may_hold() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        fs::create_dir_all(one.join("deep/empty")).unwrap();
        fs::create_dir_all(one.join(".git")).unwrap();
        fs::write(one.join(".git/HEAD"), "x").unwrap();
        fs::write(one.join("deep/a"), "a").unwrap();
        symlink("../deep/a", one.join("deep/inside")).unwrap();
        let first = directory(&one).unwrap();
        copy(&one, &two, |_| true).unwrap();
        assert_eq!(directory(&two).unwrap(), first);
        symlink("../../one", one.join("deep/outside")).unwrap();
        symlink("/etc", one.join("absolute")).unwrap();
        assert_ne!(directory(&one).unwrap(), first);
        assert_eq!(of_copy(&one).unwrap(), first);
        fs::remove_dir_all(&two).unwrap();
        copy(&one, &two, |_| true).unwrap();
        assert_eq!(directory(&two).unwrap(), first, "links that lead out are left out");
        fs::write(two.join("deep/a"), "b").unwrap();
        assert_ne!(directory(&two).unwrap(), first);
        fs::remove_dir_all(&two).unwrap();
        copy(&one, &two, |name| name != "deep/a").unwrap();
        assert!(!two.join("deep/a").exists());
    }
}
