//! The checksum of a plugin's content: the SHA-256 of its file, or of the list of its files (P26,
//! P27).

use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

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
/// It cannot be read.
pub fn own_in(path: &Path) -> io::Result<Option<String>> {
    if !path.is_dir() {
        return Ok(None);
    }
    let names = fs::read_dir(path)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let names = names.collect::<io::Result<Vec<String>>>()?;
    Ok(names.into_iter().filter(|name| is_own(name)).min())
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

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The sum of a plugin: of a file its SHA-256; of a directory the SHA-256 of the lines
/// `<sha256> <x or -> <path>` of its files, by path. O(bytes).
///
/// # Errors
/// It cannot be read, or holds something else than files and directories.
pub fn sum(path: &Path) -> io::Result<String> {
    if !path.is_dir() {
        return sha256(File::open(path)?);
    }
    let mut lines = String::new();
    for (name, file) in files(path)? {
        let opened = File::open(&file)?;
        let mark = if is_executable(&opened)? { 'x' } else { '-' };
        lines.push_str(&format!("{} {mark} {name}\n", sha256(opened)?));
    }
    sha256(lines.as_bytes())
}

/// The files of a plugin's directory, by the names that they have in it, sorted.
///
/// # Errors
/// It cannot be read, or holds something else than files and directories.
pub fn files(directory: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    let mut queue = vec![(String::new(), directory.to_owned())];
    while let Some((prefix, folder)) = queue.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let wrong =
                |what: &str| io::Error::new(io::ErrorKind::InvalidData, format!("'{}' {what}", entry.path().display()));
            let name = entry.file_name().into_string().map_err(|_| wrong("has a name that is not valid UTF-8"))?;
            if prefix.is_empty() && OWN.contains(&name.as_str()) {
                continue;
            }
            let kind = entry.file_type()?;
            let name = format!("{prefix}{name}");
            if kind.is_dir() {
                queue.push((format!("{name}/"), entry.path()));
            } else if kind.is_file() {
                found.push((name, entry.path()));
            } else {
                return Err(wrong("is neither a file nor a directory"));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Copies the files of a plugin's directory.
///
/// # Errors
/// As [`files`], or they cannot be written.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for (name, file) in files(from)? {
        let target = to.join(name);
        fs::create_dir_all(target.parent().unwrap_or(to))?;
        fs::copy(file, target)?;
    }
    Ok(())
}

/// Returns whether anybody may execute a file.
///
/// # Errors
/// The system does not say.
#[cfg(unix)]
pub fn is_executable(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt;
    Ok(file.metadata()?.permissions().mode() & 0o111 != 0)
}

/// Returns whether anybody may execute a file.
///
/// # Errors
/// None here.
#[cfg(not(unix))]
pub fn is_executable(_: &File) -> io::Result<bool> {
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::{copy, sum};
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
        copy(&one, &two).unwrap();
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
    }
}
