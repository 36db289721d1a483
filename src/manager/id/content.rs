//! The checksum of a plugin's content: the SHA-256 of its file, or of the list of its files.
//!
//! Two plugins that differ have different texts that are hashed: no name has a line break, and a
//! list begins with a digit of a sum, which no program begins with ([`check_program`]).

use rustomize_base::hex::hex;
use rustomize_files::{self as files, Directory, Kind, Opened, PlainFile, name_fault, shown};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

/// Names in a plugin's directory that are not part of the plugin: those of git, and those of files
/// that were made by the installation.
const OWN: [&str; 3] = [".git", MADE, NODE_MODULES];

/// Where Node looks for packages.
pub const NODE_MODULES: &str = "node_modules";

/// Returns true if a name in a plugin's directory is not part of the plugin. The case of the
/// letters does not matter, because some file systems ignore it.
pub fn is_own(name: &str) -> bool {
    OWN.iter().any(|own| own.eq_ignore_ascii_case(name))
}

/// The first name in a directory that is such a name; none of a file.
///
/// # Errors
/// The directory cannot be read.
pub fn own_in(path: &Path) -> io::Result<Option<String>> {
    let Opened::Directory(directory) = Opened::named(path)? else { return Ok(None) };
    let names = directory.entries()?.into_iter().map(|(name, _)| name.to_string_lossy().into_owned());
    Ok(names.filter(|name| is_own(name)).min())
}

/// The directory, within that of a plugin, with the files that its installation has made: the
/// dependencies of its language, or its binary.
pub const MADE: &str = ".rustomize";

/// The SHA-256 of a stream, in hex. O(bytes).
///
/// # Errors
/// The stream fails.
pub fn sha256(mut from: impl Read) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match from.read(&mut buffer)? {
            0 => break,
            n => hash.update(&buffer[..n]),
        }
    }
    Ok(hex(&hash.finalize()))
}

/// The sum of a plugin that a user has named: see [`sum_of`]. O(bytes).
///
/// # Errors
/// The plugin cannot be read, or contains other entries than files and directories.
pub fn sum(path: &Path) -> io::Result<String> {
    sum_of(Opened::named(path)?)
}

/// The sum of a plugin: of a file its SHA-256; of a directory the SHA-256 of the lines
/// `<sha256> <x or -> <path>` of its files, by path. O(bytes). A path has `/` between its names on
/// every system; [`counts_as_executable`] decides about `x`.
///
/// # Errors
/// It cannot be read, holds something else than files and directories, or a name has a
/// character that cannot be seen.
pub fn sum_of(plugin: Opened) -> io::Result<String> {
    let directory = match plugin {
        Opened::File(file) => return sha256(file),
        Opened::Directory(directory) => directory,
    };
    let mut lines: BTreeMap<String, String> = BTreeMap::new();
    each(&directory, &mut |name, file| {
        let file = file.into_file();
        let mark = if counts_as_executable(&file)? { 'x' } else { '-' };
        let line = format!("{} {mark} {name}\n", sha256(&file)?);
        lines.insert(name.to_owned(), line);
        Ok(())
    })?;
    sha256(lines.into_values().collect::<String>().as_bytes())
}

/// The files of a plugin's directory, by the names that they have in it, sorted.
///
/// # Errors
/// As [`sum_of`].
pub fn files(directory: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    walk(&Directory::open(directory)?, &mut |member, name| {
        found.push((name.to_owned(), directory.join(&member.path)));
        Ok(())
    })?;
    found.sort();
    Ok(found)
}

/// Visits the files of a plugin's directory, each with its name there and open.
///
/// # Errors
/// As [`sum_of`], or `visit` fails.
pub fn each(directory: &Directory, visit: &mut dyn FnMut(&str, PlainFile) -> io::Result<()>) -> io::Result<()> {
    walk(directory, &mut |member, name| visit(name, member.directory.file(Path::new(&member.name))?))
}

/// Visits the entries that are files of the plugin.
fn walk(directory: &Directory, visit: &mut dyn FnMut(&files::Member<'_>, &str) -> io::Result<()>) -> io::Result<()> {
    directory.walk(&mut |member| {
        let path = || shown(member.directory.path().join(&member.name).as_os_str());
        let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, format!("'{}' {what}", path()));
        let is_top = member.path.components().count() == 1;
        if is_top && OWN.iter().any(|own| member.name == *own) {
            return Ok(false);
        }
        if let Some(fault) = name_fault(&member.name) {
            return Err(wrong(fault));
        }
        match (member.kind, member.path.to_str()) {
            (Kind::Directory, _) => return Ok(true),
            // The names, and so the sums, are the same on all systems.
            (Kind::File, Some(name)) => visit(member, &name.replace(MAIN_SEPARATOR, "/"))?,
            _ => return Err(wrong("is neither a file nor a directory")),
        }
        Ok(false)
    })
}

/// Copies the files of a plugin's directory. Of their permissions the right to execute stays.
///
/// # Errors
/// As [`sum_of`], or they cannot be written.
pub fn copy(from: &Directory, to: &Directory) -> io::Result<()> {
    each(from, &mut |name, file| {
        let path = Path::new(name);
        let mode = if file.facts().is_executable() { 0o755 } else { 0o644 };
        let folder = to.make(path.parent().unwrap_or(Path::new("")), 0o755)?;
        let mut made = folder.create(Path::new(path.file_name().unwrap_or_default()), mode)?;
        io::copy(&mut file.into_file(), &mut made).map(drop)
    })
}

/// The first bytes of programs: of scripts, and of binaries for Linux, Windows and macOS.
const STARTS: [&[u8]; 5] = [b"#!", b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"];

/// Returns whether a file begins as a program. The next read begins at the start of the file.
fn begins_as_program(mut file: &File) -> io::Result<bool> {
    let mut start = Vec::new();
    file.take(4).read_to_end(&mut start)?;
    file.rewind()?;
    Ok(STARTS.iter().any(|known| start.starts_with(known)))
}

/// Checks that a file is a program: the system runs it itself, or it names its interpreter. Any
/// other file is data: a shell would run its lines as commands, and show them in its errors.
///
/// # Errors
/// The file is not a program, or cannot be read.
pub fn check_program(path: &Path) -> io::Result<()> {
    match begins_as_program(&files::open(path)?.into_file())? {
        true => Ok(()),
        false => {
            Err(io::Error::new(io::ErrorKind::InvalidData, "its first bytes are neither those of a program nor '#!'"))
        }
    }
}

/// Returns whether a file counts as executable. Unix goes by the permissions of the file, and other
/// systems go by its first bytes. The sums of a plugin are then equal on all systems if the files
/// that have the permission are those that begin as programs.
///
/// # Errors
/// The file cannot be read.
pub fn counts_as_executable(file: &File) -> io::Result<bool> {
    match cfg!(unix) {
        true => Ok(files::is_executable(&file.metadata()?)),
        false => begins_as_program(file),
    }
}

#[cfg(test)]
mod tests {
    use super::{check_program, sum};
    use rustomize_files::Directory;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_directory_is_known_by_its_files_their_names_and_whether_they_run() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        fs::create_dir_all(one.join("deep")).unwrap();
        fs::write(one.join("deep/main.py"), "print()").unwrap();
        fs::write(one.join("plugin.yaml"), "runtime: python").unwrap();
        fs::create_dir_all(one.join(".git")).unwrap();
        fs::write(one.join(".git/HEAD"), "x").unwrap();
        let first = sum(&one).unwrap();
        fs::create_dir(&two).unwrap();
        super::copy(&Directory::open(&one).unwrap(), &Directory::open(&two).unwrap()).unwrap();
        assert_eq!(sum(&two).unwrap(), first);
        fs::create_dir_all(two.join(".rustomize/venv")).unwrap();
        fs::write(two.join(".rustomize/venv/x"), "x").unwrap();
        assert_eq!(sum(&two).unwrap(), first);
        fs::set_permissions(two.join("plugin.yaml"), fs::Permissions::from_mode(0o755)).unwrap();
        assert_ne!(sum(&two).unwrap(), first);
        fs::rename(one.join("deep/main.py"), one.join("main.py")).unwrap();
        assert_ne!(sum(&one).unwrap(), first);
        symlink("/etc/passwd", one.join("link")).unwrap();
        assert!(sum(&one).unwrap_err().to_string().contains("neither a file nor"));
        // A link to the directory itself is followed: the user has named it.
        symlink(&two, folder.path().join("named")).unwrap();
        assert_eq!(sum(&folder.path().join("named")).unwrap(), sum(&two).unwrap());
    }

    #[test]
    fn a_name_that_can_pass_for_several_lines_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a\nb", "a\rb", "a\u{1b}b", "a\u{202e}b"] {
            fs::create_dir(folder.path().join(name)).unwrap();
            let error = sum(folder.path()).unwrap_err().to_string();
            assert!(error.contains("cannot be seen") && !error.contains(name), "{error}");
            fs::remove_dir(folder.path().join(name)).unwrap();
        }
    }

    #[test]
    fn a_list_of_files_is_not_a_program() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for text in ["", "#", &format!("{} - main.sh\n", "0".repeat(64)), "-----BEGIN OPENSSH", "root:x:0"] {
            fs::write(&path, text).unwrap();
            assert!(check_program(&path).is_err(), "{text}");
        }
        fs::write(&path, "#!/bin/sh\n").unwrap();
        check_program(&path).unwrap();
    }
}
