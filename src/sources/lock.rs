//! [`RemoteLock`]: `kustomization.lock`, which has the version and the checksum of each remote part
//! of a root; [`Lock`]: the lock that a build is held to, with the copies beside it.
//!
//! The file is JSON, by kind and name, with sorted keys. The place of a copy consists of hashes and
//! of a few letters of the name: paths in the file are never used.

use super::git::is_commit;
use super::limit::ReadFile;
use super::sum::{self, is_sha256};
use super::{FileLimit, cache, host};
use crate::diag::{Code, Error, Result};
use rustomize_base::shell::quoted;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// The name of the file.
pub const FILE: &str = "kustomization.lock";

/// The directory of the copies. `build --all` skips directories whose name begins with a dot.
pub const VENDOR: &str = ".kustomization.vendor";

/// The version of the file's format.
const LOCK_VERSION: u32 = 1;

/// The largest size of a lock.
const LIMIT: FileLimit = FileLimit(64 << 20);

/// The largest number of letters of a name in the name of its copy.
const READABLE: usize = 40;

/// The kind of a remote part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PartKind {
    /// A version of a git repository.
    Git,
    /// A file over HTTP.
    File,
    /// A helm chart.
    Chart,
    /// A directory in an OCI registry.
    Artifact,
}

impl PartKind {
    /// The directory of the kind, in the cache and among the copies.
    pub fn directory(self) -> &'static str {
        match self {
            PartKind::Git => "git",
            PartKind::File => "files",
            PartKind::Chart => "charts",
            PartKind::Artifact => "artifacts",
        }
    }
}

/// A remote part: the name that a build uses for it, without the user of a URL.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RemotePart {
    pub kind: PartKind,
    pub name: String,
}

impl RemotePart {
    /// A part with a name, which may be a URL with a user.
    pub fn new(kind: PartKind, name: &str) -> Self {
        RemotePart { kind, name: host::without_user(name) }
    }

    /// The name without its version.
    fn stem(&self) -> &str {
        let name = self.name.as_str();
        let end = match self.kind {
            PartKind::Git => name.find('?'),
            PartKind::File => None,
            PartKind::Chart => name.match_indices(' ').nth(1).map(|(at, _)| at),
            PartKind::Artifact => name.rfind('/').and_then(|last| Some(last + name[last..].find([':', '@'])?)),
        };
        &name[..end.unwrap_or(name.len())]
    }
}

impl fmt::Display for RemotePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            PartKind::Git => "the repository",
            PartKind::File => "the file",
            PartKind::Chart => "the chart",
            PartKind::Artifact => "the artifact",
        };
        write!(f, "{kind} '{}'", self.name)
    }
}

/// The version and the checksum of a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Pin {
    /// The commit of a repository or the digest of an artifact; empty for files and charts.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// The SHA-256 of a file, or the sum of the files of a directory.
    pub content: String,
}

/// The versions and checksums of the remote parts of a root.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RemoteLock {
    lock_version: u32,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    git: BTreeMap<String, Pin>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    files: BTreeMap<String, Pin>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    charts: BTreeMap<String, Pin>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    artifacts: BTreeMap<String, Pin>,
}

/// The format of a lock, without the rest of its content.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LockFormat {
    lock_version: u32,
}

impl RemoteLock {
    /// A lock without parts.
    pub fn new() -> Self {
        RemoteLock { lock_version: LOCK_VERSION, ..RemoteLock::default() }
    }

    /// Reads the content of a lock.
    ///
    /// # Errors
    /// The content does not have the format of this version.
    pub fn parse(text: &str) -> Result<RemoteLock> {
        let fault = |e: serde_json::Error| Error::new(Code::NotYaml, e.to_string());
        let form: LockFormat = serde_json::from_str(text).map_err(fault)?;
        if form.lock_version != LOCK_VERSION {
            let message = format!("its format is {}, and this version reads format {LOCK_VERSION}", form.lock_version);
            return Err(Error::new(Code::BadValue, message).hint("a newer rustomize may have written it: use that one"));
        }
        let lock: RemoteLock = serde_json::from_str(text).map_err(fault)?;
        for (part, pin) in lock.parts() {
            check(&part, pin)?;
        }
        Ok(lock)
    }

    /// The content of the file.
    ///
    /// # Errors
    /// JSON cannot express a value. All values of a lock are texts and numbers, which it can.
    pub fn print(&self) -> Result<String> {
        let text = serde_json::to_string_pretty(self).map_err(|e| Error::new(Code::NotYaml, e.to_string()))?;
        Ok(text + "\n")
    }

    fn of_kind(&self, kind: PartKind) -> &BTreeMap<String, Pin> {
        match kind {
            PartKind::Git => &self.git,
            PartKind::File => &self.files,
            PartKind::Chart => &self.charts,
            PartKind::Artifact => &self.artifacts,
        }
    }

    /// All parts with their pins, by kind and name.
    pub fn parts(&self) -> impl Iterator<Item = (RemotePart, &Pin)> {
        let kinds = [PartKind::Git, PartKind::File, PartKind::Chart, PartKind::Artifact];
        kinds.into_iter().flat_map(|kind| {
            self.of_kind(kind).iter().map(move |(name, pin)| (RemotePart { kind, name: name.clone() }, pin))
        })
    }

    /// Sets the pin of a part.
    pub fn set(&mut self, part: RemotePart, pin: Pin) {
        let kind = match part.kind {
            PartKind::Git => &mut self.git,
            PartKind::File => &mut self.files,
            PartKind::Chart => &mut self.charts,
            PartKind::Artifact => &mut self.artifacts,
        };
        kind.insert(part.name, pin);
    }

    /// The pin of a part.
    pub fn get(&self, part: &RemotePart) -> Option<&Pin> {
        self.of_kind(part.kind).get(&part.name)
    }
}

fn check(part: &RemotePart, pin: &Pin) -> Result<()> {
    let is_version = match part.kind {
        PartKind::Git => is_commit(&pin.version),
        PartKind::Artifact => pin.version.strip_prefix("sha256:").is_some_and(is_sha256),
        PartKind::File | PartKind::Chart => pin.version.is_empty(),
    };
    if is_version && is_sha256(&pin.content) {
        return Ok(());
    }
    Err(Error::new(Code::BadValue, format!("the version or the sum of {part} is not valid")))
}

/// The path of a part's copy below the directory of copies.
pub fn copy_path(part: &RemotePart, pin: &Pin) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' || c == '-' { c } else { '_' };
    let name = part.name.split_once("://").map_or(part.name.as_str(), |(_, rest)| rest);
    let readable: String = name.chars().take(READABLE).map(plain).collect();
    let readable = readable.trim_start_matches(['.', '-']);
    let identity = cache::hash(&format!("{}\n{}\n{}", part.name, pin.version, pin.content));
    Path::new(part.kind.directory()).join(format!("{readable}-{}", &identity[..16]))
}

/// The lock that a build is held to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    parts: RemoteLock,
    /// The directory with the lock and the copies.
    directory: PathBuf,
    /// The directory as messages show it.
    shown: String,
}

impl Lock {
    /// Reads the lock beside a kustomization. `shown` is the directory as the user has named it.
    ///
    /// # Errors
    /// The lock does not exist, cannot be read, or does not have the format of this version.
    pub fn read(directory: &Path, shown: &str) -> Result<Lock> {
        let path = directory.join(FILE);
        let in_file = |e: Error| e.context(format!("reading '{}'", path.display()));
        let text = LIMIT.read_to_string(&path).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => Error::new(Code::MissingFile, format!("there is no '{}'", path.display()))
                .hint(format!("make it with: {}", vendor_command(shown))),
            _ => in_file(Error::io(&e, e.to_string())),
        })?;
        let parts = RemoteLock::parse(&text).map_err(in_file)?;
        Ok(Lock { parts, directory: directory.to_owned(), shown: shown.to_owned() })
    }

    /// The pin of a part.
    ///
    /// # Errors
    /// The lock does not have the part.
    pub fn pin(&self, part: &RemotePart) -> Result<&Pin> {
        self.parts.get(part).ok_or_else(|| {
            let file = self.directory.join(FILE);
            let similar =
                self.parts.of_kind(part.kind).keys().map(|name| RemotePart { kind: part.kind, name: name.clone() });
            let similar = similar.filter(|other| other.stem() == part.stem());
            let others: Vec<String> = similar.map(|other| format!("'{}'", other.name)).collect();
            let has = if others.is_empty() { String::new() } else { format!(", which has {}", others.join(", ")) };
            let message = format!("{part} is not in the lock '{}'{has}", file.display());
            self.advised(Error::new(Code::NotFetched, message))
        })
    }

    /// An error with the command that makes the lock again.
    pub fn advised(&self, error: Error) -> Error {
        error.hint(format!("if the tree is right, lock it again: {}", vendor_command(&self.shown)))
    }

    /// The copy of a part that is a directory; `None` for a part without a copy.
    ///
    /// # Errors
    /// The copy differs from the lock, or cannot be read.
    pub fn copied_directory(&self, part: &RemotePart, pin: &Pin) -> Result<Option<PathBuf>> {
        let Some(place) = self.copied(part, pin)? else { return Ok(None) };
        let found = sum::directory(&place).map_err(|e| cannot_read(&place, &e))?;
        compare(part, pin, &found, &place).map_err(|e| self.advised(e))?;
        Ok(Some(place))
    }

    /// The copy of a part that is a file; `None` for a part without a copy.
    ///
    /// # Errors
    /// As [`Lock::copied_directory`], or the file is larger than `limit`.
    pub fn copied_file(&self, part: &RemotePart, pin: &Pin, limit: FileLimit) -> Result<Option<Vec<u8>>> {
        let Some(place) = self.copied(part, pin)? else { return Ok(None) };
        let content = limit.read(&place).map_err(|e| cannot_read(&place, &e))?;
        compare(part, pin, &sum::sha256(&content), &place).map_err(|e| self.advised(e))?;
        Ok(Some(content))
    }

    /// The place of a copy. A link on the way is refused.
    fn copied(&self, part: &RemotePart, pin: &Pin) -> Result<Option<PathBuf>> {
        let top = self.directory.join(VENDOR);
        let place = top.join(copy_path(part, pin));
        let on_the_way = [top, place.parent().map(Path::to_owned).unwrap_or_default(), place.clone()];
        for path in &on_the_way {
            match path.symlink_metadata() {
                Err(_) => return Ok(None),
                Ok(is) if is.is_symlink() => {
                    return Err(Error::new(Code::Refused, format!("security; '{}' is a link", path.display())));
                }
                Ok(_) => {}
            }
        }
        Ok(Some(place))
    }
}

/// Checks that a directory of the cache, or a chart home, has the content that a lock gives for a
/// part.
///
/// # Errors
/// The content differs, or the directory cannot be read.
pub fn check_content(part: &RemotePart, pin: &Pin, place: &Path) -> Result<()> {
    let found = match part.kind {
        // The copy of a clone, whose sum the lock has, does not have links that lead out.
        PartKind::Git => sum::of_copy(place),
        _ => sum::named_directory(place),
    };
    compare(part, pin, &found.map_err(|e| cannot_read(place, &e))?, place)
}

fn compare(part: &RemotePart, pin: &Pin, found: &str, place: &Path) -> Result<()> {
    if found == pin.content {
        return Ok(());
    }
    let message = format!("'{}' differs from the lock for {part}: {found}, expected {}", place.display(), pin.content);
    Err(Error::new(Code::Checksum, message))
}

fn cannot_read(place: &Path, e: &std::io::Error) -> Error {
    Error::io(e, format!("'{}' cannot be read: {e}", place.display()))
}

/// The command that locks a root.
pub fn vendor_command(directory: &str) -> String {
    format!("rustomize vendor {}", quoted(directory))
}

#[cfg(test)]
mod tests {
    use super::{PartKind, Pin, RemoteLock, RemotePart, copy_path};

    #[test]
    fn a_lock_is_read_as_it_was_printed() {
        let mut lock = RemoteLock::new();
        let pin = |version: &str| Pin { version: version.to_owned(), content: "0".repeat(64) };
        let part = RemotePart::new(PartKind::Git, "https://u:word@h.io/r?ref=v1");
        lock.set(part.clone(), pin(&"a".repeat(40)));
        lock.set(RemotePart::new(PartKind::File, "https://h.io/a.yaml"), pin(""));
        let text = lock.print().unwrap();
        assert!(!text.contains("word"), "{text}");
        let read = RemoteLock::parse(&text).unwrap();
        assert_eq!(read, lock);
        assert!(read.get(&part).is_some() && read.parts().count() == 2);
    }

    #[test]
    fn other_forms_are_refused() {
        let refused = |text: &str, words: &str| {
            let error = RemoteLock::parse(text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        };
        refused("", "EOF");
        refused("{}", "lockVersion");
        refused(r#"{"lockVersion": 2, "new": {}}"#, "its format is 2");
        refused(r#"{"lockVersion": 1, "other": {}}"#, "unknown field `other`");
        refused(r#"{"lockVersion": 1, "git": {"u": {"version": "v1", "content": ""}}}"#, "is not valid");
        refused(r#"{"lockVersion": 1, "files": {"u": {"content": "../../x"}}}"#, "is not valid");
    }

    #[test]
    fn versions_of_one_part_are_told_from_others() {
        for (kind, name, stem) in [
            (PartKind::Git, "https://h.io/r?ref=v1", "https://h.io/r"),
            (PartKind::Git, "https://h.io/r", "https://h.io/r"),
            (PartKind::File, "https://h.io/a?b", "https://h.io/a?b"),
            (PartKind::Chart, "https://h.io/charts app 1.2", "https://h.io/charts app"),
            (PartKind::Artifact, "oci://h.io:5000/a/b:v1", "oci://h.io:5000/a/b"),
            (PartKind::Artifact, "oci://h.io:5000/a@sha256:0", "oci://h.io:5000/a"),
        ] {
            assert_eq!(RemotePart::new(kind, name).stem(), stem);
        }
    }

    #[test]
    fn a_name_leads_nowhere() {
        let pin = Pin { version: String::new(), content: String::new() };
        for name in ["../../etc/passwd", "https://h.io/../../x", "..", "", "-rf", "a\0b/\n"] {
            let path = copy_path(&RemotePart::new(PartKind::File, name), &pin).display().to_string();
            assert!(path.starts_with("files/") && path.matches('/').count() == 1 && !path.contains("/."), "{path}");
        }
    }
}
