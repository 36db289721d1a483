//! Checksums of bytes and of directories, and copies of directories.
//!
//! The sum of a directory is the SHA-256 of one line for each file and link, sorted by path:
//! `<sha256> - <path>` for a file, `<sha256 of its target> l <path>` for a link. In a path with a
//! line break or a backslash both are escaped, so that no path can pass for several lines.
//! Directories without files and entries called `.git` are left out: git keeps neither.

use super::owner::link;
use crate::files::{Directory, Opened, PlainFile, folder_of};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

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

/// True for a SHA-256 in hex, in lower case.
pub fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// A file or link of a directory.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Member {
    /// The path in the directory, with `/` between its names.
    name: String,
    path: PathBuf,
    is_link: bool,
}

/// The sum of a directory. O(bytes of its files).
///
/// # Errors
/// A file cannot be read, is a pipe or a device, or has a name that is not valid UTF-8.
pub fn directory(top: &Path) -> io::Result<String> {
    of(members(top)?)
}

/// The sum that a copy of a directory has: links that lead out of the directory are left out.
/// O(bytes of its files).
///
/// # Errors
/// As [`directory`].
pub fn of_copy(top: &Path) -> io::Result<String> {
    let mut copied = Vec::new();
    for member in members(top)? {
        if !member.is_link || stays_inside(&member.name, &fs::read_link(&member.path)?) {
            copied.push(member);
        }
    }
    of(copied)
}

fn of(members: Vec<Member>) -> io::Result<String> {
    let mut lines = String::new();
    for member in members {
        let (sum, mark) = match member.is_link {
            true => (sha256(fs::read_link(&member.path)?.as_os_str().as_encoded_bytes()), 'l'),
            false => (sha256_of(plain(&member.path)?)?, '-'),
        };
        let name = member.name.replace('\\', "\\\\").replace('\n', "\\n");
        lines.push_str(&format!("{sum} {mark} {name}\n"));
    }
    Ok(sha256(lines.as_bytes()))
}

/// The files and links below a directory, sorted. Links are not followed.
fn members(top: &Path) -> io::Result<Vec<Member>> {
    let mut found = Vec::new();
    let mut queue = vec![(String::new(), top.to_owned())];
    while let Some((prefix, folder)) = queue.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let fault =
                |what: &str| io::Error::new(io::ErrorKind::InvalidData, format!("'{}' {what}", entry.path().display()));
            if entry.file_name() == ".git" {
                continue;
            }
            let own = entry.file_name().into_string().map_err(|_| fault("has a name that is not valid UTF-8"))?;
            let (kind, name, path) = (entry.file_type()?, format!("{prefix}{own}"), entry.path());
            if kind.is_dir() {
                queue.push((format!("{name}/"), path));
            } else if kind.is_file() || kind.is_symlink() {
                found.push(Member { name, path, is_link: kind.is_symlink() });
            } else {
                return Err(fault("is neither a file, a directory nor a link"));
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Copies the files and links of a directory into another directory, if `is_wanted` is true for
/// their names. A link that leads out of the directory is not copied: a build refuses it.
///
/// # Errors
/// As [`directory`], or the copy cannot be written.
pub fn copy(from: &Path, to: &Path, is_wanted: impl Fn(&str) -> bool) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for member in members(from)?.iter().filter(|member| is_wanted(&member.name)) {
        let place = to.join(&member.name);
        if member.is_link {
            let target = fs::read_link(&member.path)?;
            if stays_inside(&member.name, &target) {
                fs::create_dir_all(place.parent().unwrap_or(to))?;
                link(&target, &place)?;
            }
        } else {
            fs::create_dir_all(place.parent().unwrap_or(to))?;
            copy_file(&member.path, &place)?;
        }
    }
    Ok(())
}

/// Opens a file that was a plain one when its directory was read.
fn plain(path: &Path) -> io::Result<PlainFile> {
    match Opened::entry(path)? {
        Opened::File(file) => Ok(file),
        Opened::Directory(_) => Err(io::ErrorKind::IsADirectory.into()),
    }
}

/// Copies a file. Of its permissions the right to execute stays.
fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let from = plain(from)?;
    let mode = if from.facts().is_executable() { 0o755 } else { 0o644 };
    let name = to.file_name().map(Path::new).unwrap_or(Path::new(""));
    let mut made = Directory::open(folder_of(to))?.create(name, mode)?;
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
