//! The installed plugins below a root: every candidate, and why it is used or refused.

use super::installed_artifacts;
use super::record::{AskedBy, Record, RecordedDownload};
use super::sibling_files::{partial, sum_file};
use crate::author::describe::DescribeError;
use crate::author::manifest::Manifest;
use crate::diag::Error;
use crate::fetch::identity::PluginId;
use crate::fetch::origin::Origin;
use crate::fetch::{Base, Checkout, is_repository};
use crate::id::content;
use crate::id::location::Location;
use crate::id::name::{BESIDE, FileName, NameError, PREFIX, Platform};
use crate::id::requirement::Requirement;
use crate::id::source::Source;
use crate::load::RepoSpec;
use rustomize_files::{self as files, Opened, RECORD};
use rustomize_process::Launch;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Deepest directory below a root that can be a source's: its host and fifteen parts.
const MOST_DEPTH: usize = 16;

/// The beginning of the name of a directory, in that of a source, with plugins of the source from
/// another origin than those beside it. The sum of the origin follows.
const FROM: &str = ".from-";

/// How many characters of the sum of an origin follow [`FROM`].
const FROM_LENGTH: usize = 16;

/// A file that is named as a plugin, or is in the directory of one.
#[derive(Debug)]
pub struct Candidate {
    pub path: PathBuf,
    /// The address that its directory stands for; `None` directly in the root.
    pub source: Option<Source>,
    /// Where it came from, as far as the files beside it say.
    pub origin: Origin,
    /// The plugin's identity, or the reason why the file is ignored. The content is not checked
    /// yet: see [`Installed::verify`].
    pub verdict: Result<Installed, Refusal>,
}

impl Candidate {
    /// The same, not considered if its content does not match its sum file. O(bytes of the file).
    pub fn verified(mut self) -> Candidate {
        if let Ok(installed) = &self.verdict
            && let Err(why) = installed.verify()
        {
            self.verdict = Err(why);
        }
        self
    }
}

/// An installed plugin with a valid name: a binary, a directory that a runtime runs, or a bundle.
/// Its identity is its source, origin, signer, version and sum; its path is none of these.
#[derive(Clone, Debug)]
pub struct Installed {
    pub source: Source,
    /// Where it came from, its signer, and whose wish it was.
    pub record: Record,
    pub path: PathBuf,
    pub file: FileName,
    /// The checksum of the content in its sum file, in hex: see [`content::sum`].
    pub sum: String,
}

impl PartialEq for Installed {
    /// The same content at the same path.
    fn eq(&self, other: &Self) -> bool {
        (&self.path, &self.sum) == (&other.path, &other.sum)
    }
}

impl Installed {
    /// Compares the content with its checksum, and the files that the installation has made with
    /// their own checksums. O(bytes of the plugin).
    ///
    /// # Errors
    /// The content differs, or cannot be read.
    pub fn verify(&self) -> Result<Installed, Refusal> {
        let opened = Opened::entry(&self.path).map_err(Refusal::Io)?;
        let is_directory = matches!(opened, Opened::Directory(_));
        let found = match opened {
            directory @ Opened::Directory(_) => content::sum_of(directory),
            Opened::File(file) => content::sha256(file.into_file()),
        };
        let found = found.map_err(Refusal::Io)?;
        if found != self.sum {
            return Err(Refusal::SumDiffers { want: self.sum.clone(), found });
        }
        let differing =
            if is_directory { installed_artifacts::differing(&self.path).map_err(Refusal::Io)? } else { None };
        match differing {
            None => Ok(self.clone()),
            Some(name) => Err(Refusal::MadeDiffers(name)),
        }
    }

    /// The id of the plugin, which has no version.
    pub fn id(&self) -> PluginId {
        let Record { origin, within, .. } = &self.record;
        PluginId { source: self.source.clone(), origin: origin.clone(), within: within.clone() }
    }

    /// Returns true if this is the plugin that a requirement means, in a version that it allows:
    /// it came from there, or the requirement names no place and the user installed it under that
    /// source by name. `id` is the requirement's plugin.
    pub fn meets(&self, wanted: &Requirement, id: &PluginId) -> bool {
        let is_named = wanted.from.is_empty() && self.record.asked_by == AskedBy::User;
        self.source == id.source
            && wanted.constraint.allows(&self.file.version)
            && (is_named || self.came_from(wanted, id))
    }

    /// Returns true if it is a version of a plugin. Where it came from is not known more closely
    /// than its origin, if an older version of this program installed it.
    pub fn is_of(&self, id: &PluginId) -> bool {
        let Record { origin, within, download, .. } = &self.record;
        self.source == id.source && *origin == id.origin && (*within == id.within || download.is_none())
    }

    /// Returns true if it came from the place that a requirement names.
    fn came_from(&self, wanted: &Requirement, id: &PluginId) -> bool {
        let is_here = |download: &RecordedDownload| match wanted.location() {
            // Its origin is its path.
            Ok(Location::Local(_)) => true,
            Ok(location) => location.gives(&wanted.source, &download.url, Some(&self.file.version), &download.platform),
            Err(_) => false,
        };
        self.is_of(id) && self.record.download.as_ref().is_none_or(is_here)
    }

    /// Returns true if a lock can name it for a requirement: it came from there, and the download
    /// is known.
    pub fn is_lockable(&self, wanted: &Requirement, id: &PluginId) -> bool {
        self.record.download.is_some() && self.came_from(wanted, id)
    }

    /// Where the relative paths of its dependencies begin: the place that it came from.
    pub fn base(&self) -> Base {
        let repository = |url: String| {
            let within = Some(Checkout { directory: self.path.clone(), url });
            Base { directory: self.path.clone(), within }
        };
        match &self.record.origin {
            Origin::Elsewhere(place) => match place.strip_prefix("git::") {
                Some(url) => repository(url.to_owned()),
                None => Base::new(Path::new(place)),
            },
            Origin::Own => {
                let url = self.record.download.as_ref().map_or("", |download| &download.url);
                match RepoSpec::parse(url).filter(|_| is_repository(url)) {
                    Some(spec) => repository(spec.url),
                    None => Base::new(&self.path),
                }
            }
        }
    }

    /// The manifest of a bundle; `None` for a plugin.
    ///
    /// # Errors
    /// The manifest of the directory cannot be read.
    pub fn bundle(&self) -> Result<Option<Manifest>, Refusal> {
        if !self.path.is_dir() {
            return Ok(None);
        }
        let manifest = Manifest::read(&self.path).map_err(Refusal::Directory)?;
        Ok(Some(manifest).filter(Manifest::is_bundle))
    }

    /// The launch of the plugin; for a bundle, that of its entry `file`.
    ///
    /// # Errors
    /// The manifest of the directory cannot be read.
    pub fn launch(&self, file: &str) -> Result<Launch, Refusal> {
        if !self.path.is_dir() {
            return Ok(Launch::new(&self.path));
        }
        let launch = Manifest::read(&self.path).map_err(Refusal::Directory)?.launch(&self.path);
        Ok(of_entry(launch, &self.path, file))
    }
}

/// The launch of one plugin of a bundle: a file in the directory. Without a file, the launch stays.
pub fn of_entry(launch: Launch, directory: &Path, file: &str) -> Launch {
    if file.is_empty() { launch } else { Launch { program: directory.join(file), ..launch } }
}

/// Why a candidate is not considered.
#[derive(Debug)]
pub enum Refusal {
    /// It is directly in the root, or in a directory that does not belong to a source.
    NoSource,
    Name(NameError),
    /// The sum file is missing.
    NoSum(PathBuf),
    /// The sum file cannot be read.
    SumUnread(PathBuf, io::Error),
    /// The sum file holds something else than 64 hex digits.
    SumForm(PathBuf),
    /// The file with its identity cannot be used, for this reason.
    Record(String),
    /// The content is not what was installed.
    SumDiffers {
        want: String,
        found: String,
    },
    /// Something that was made when it was installed is not what it was: its name.
    MadeDiffers(String),
    NotExecutable,
    /// It is a directory, but not a plugin.
    Directory(Error),
    /// The plugin is present and not installed: the reason, as far as it is known.
    Partial(String),
    Describe(DescribeError),
    /// It did not describe itself when it was asked before: why.
    NotDescribed(String),
    Io(io::Error),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NoSource => f.write_str("it is not in a directory for its source, as in github.com/acme/app"),
            Refusal::Name(why) => why.fmt(f),
            Refusal::NoSum(path) => write!(f, "its sum file '{}' does not exist", path.display()),
            Refusal::SumUnread(path, e) => write!(f, "its sum file '{}' cannot be read: {e}", path.display()),
            Refusal::SumForm(path) => write!(f, "its sum file '{}' does not hold a SHA-256 in hex", path.display()),
            Refusal::Record(why) => f.write_str(why),
            Refusal::SumDiffers { want, found } => {
                write!(f, "its content has changed since it was installed: SHA-256 {found}, its sum file says {want}")
            }
            Refusal::MadeDiffers(name) => {
                write!(f, "its '{name}' differs from the file that was made when it was installed")
            }
            Refusal::NotExecutable => f.write_str("it is not executable"),
            Refusal::Directory(why) => why.fmt(f),
            Refusal::Partial(why) => write!(f, "it is not installed: {}", why.trim_end()),
            Refusal::Describe(why) => why.fmt(f),
            Refusal::NotDescribed(why) => {
                write!(f, "{why} (so it was when it was last asked; to ask it again: rustomize plugin verify)")
            }
            Refusal::Io(e) => write!(f, "it cannot be read: {e}"),
        }
    }
}

/// The sum that a sum file holds: hex digits and nothing else but a line's end.
fn read_sum(path: &Path) -> Result<String, Refusal> {
    let text = files::read_text(path, RECORD).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => Refusal::NoSum(path.to_owned()),
        io::ErrorKind::InvalidData | io::ErrorKind::FileTooLarge => Refusal::SumForm(path.to_owned()),
        _ => Refusal::SumUnread(path.to_owned(), e),
    })?;
    let sum = text.trim_end();
    let is_sum = sum.len() == 64 && sum.bytes().all(|b| b.is_ascii_hexdigit());
    if is_sum { Ok(sum.to_ascii_lowercase()) } else { Err(Refusal::SumForm(path.to_owned())) }
}

fn check(path: &Path, source: &Source, host: &Platform) -> Result<Installed, Refusal> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let file = FileName::parse(&name, source.name(), host).map_err(Refusal::Name)?;
    match files::read_text(&partial(path), RECORD) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) => return Err(Refusal::Io(e)),
        Ok(why) => return Err(Refusal::Partial(why)),
    }
    let sum = read_sum(&sum_file(path))?;
    match Opened::entry(path).map_err(Refusal::Io)? {
        Opened::Directory(_) => drop(Manifest::read(path).map_err(Refusal::Directory)?),
        Opened::File(file) if !file.facts().is_executable() => return Err(Refusal::NotExecutable),
        Opened::File(_) => {}
    }
    let record = Record::read(path, source, &file.version, &sum).map_err(Refusal::Record)?;
    Ok(Installed { source: source.clone(), record, path: path.to_owned(), file, sum })
}

/// The place for a plugin below a root. It is in the directory of its source, or below that, in a
/// directory for its origin, if the plugin of another origin has the place.
pub fn place_of(root: &Path, id: &PluginId, file: &FileName) -> PathBuf {
    let (folder, name) = (root.join(id.source.directory()), file.to_string());
    let place = format!("{}\n{}", id.origin, id.within);
    let sum = content::sha256(place.as_bytes()).unwrap_or_default();
    let own = folder.join(format!("{FROM}{}", &sum[..FROM_LENGTH.min(sum.len())])).join(&name);
    let first = folder.join(name);
    let is_taken = |path: &Path| match Record::place_beside(path) {
        Some((origin, within)) => (origin, within) != (id.origin.clone(), id.within.clone()),
        None => path.exists() && !partial(path).exists() && id.origin != Origin::Own,
    };
    let is_own = own.exists() || partial(&own).exists();
    if is_own || is_taken(&first) { own } else { first }
}

/// The candidates for one source, from every origin, best first: those that are considered by
/// version, highest first, then the others by path. O(number of them).
pub fn candidates(root: &Path, source: &Source, host: &Platform) -> Vec<Candidate> {
    let mut found = of_source(&root.join(source.directory()), Some(source), host);
    sort(&mut found);
    found
}

/// All candidates below a root, by source. A root that is not there holds none. O(number of files
/// below it).
pub fn all(root: &Path, host: &Platform) -> Vec<Candidate> {
    let mut found = Vec::new();
    let mut queue = vec![(root.to_owned(), String::new(), 0)];
    while let Some((directory, address, depth)) = queue.pop() {
        let source: Option<Source> = address.parse().ok();
        found.extend(of_source(&directory, source.as_ref(), host));
        if depth == MOST_DEPTH {
            continue;
        }
        for (name, path) in entries(&directory) {
            // Links are not followed: only files that were put below a root count.
            let is_own = name.starts_with('.') || name.starts_with(PREFIX);
            if !is_own && path.symlink_metadata().is_ok_and(|m| m.is_dir()) {
                let address = if address.is_empty() { name } else { format!("{address}/{name}") };
                queue.push((path, address, depth + 1));
            }
        }
    }
    sort(&mut found);
    found
}

fn entries(directory: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    entries.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path()))).collect()
}

/// The candidates in the directory of a source, and in those for its other origins.
fn of_source(directory: &Path, source: Option<&Source>, host: &Platform) -> Vec<Candidate> {
    let is_folder = |path: &Path| path.symlink_metadata().is_ok_and(|m| m.is_dir());
    let others = entries(directory).into_iter().filter(|(name, path)| name.starts_with(FROM) && is_folder(path));
    let folders: Vec<PathBuf> = [directory.to_owned()].into_iter().chain(others.map(|(_, path)| path)).collect();
    folders.iter().flat_map(|folder| in_directory(folder, source, host)).collect()
}

fn in_directory(directory: &Path, source: Option<&Source>, host: &Platform) -> Vec<Candidate> {
    let is_beside = |name: &str| BESIDE.iter().chain([&".partial"]).any(|end| name.ends_with(end));
    let is_candidate = |name: &str, path: &Path| name.starts_with(PREFIX) && !is_beside(name) && path.exists();
    let files = entries(directory).into_iter().filter(|(name, path)| is_candidate(name, path));
    files
        .map(|(_, path)| {
            let verdict = source.map_or(Err(Refusal::NoSource), |source| check(&path, source, host));
            let origin = match &verdict {
                Ok(installed) => installed.record.origin.clone(),
                Err(_) => Record::place_beside(&path).map_or(Origin::Own, |(origin, _)| origin),
            };
            Candidate { path, source: source.cloned(), origin, verdict }
        })
        .collect()
}

fn sort(candidates: &mut [Candidate]) {
    let version =
        |c: &Candidate| c.verdict.as_ref().ok().map(|installed| std::cmp::Reverse(installed.file.version.clone()));
    candidates.sort_by(|a, b| {
        let by_verdict = a.verdict.is_err().cmp(&b.verdict.is_err());
        a.source.cmp(&b.source).then(by_verdict).then(version(a).cmp(&version(b))).then(a.path.cmp(&b.path))
    });
}

/// The installed version to take of the candidates of one source, which come best first: of those
/// that `is_allowed` the highest whose content is what it should be. O(bytes of it).
pub fn choose(candidates: Vec<Candidate>, is_allowed: impl Fn(&Installed) -> bool) -> Option<Installed> {
    let considered = candidates.into_iter().filter_map(|candidate| candidate.verdict.ok());
    let mut allowed = considered.filter(|installed| is_allowed(installed));
    allowed.find_map(|installed| installed.verify().ok())
}

#[cfg(test)]
mod tests {
    use super::{Refusal, all, candidates, choose};
    use crate::id::content::sha256;
    use crate::id::name::{NameError, Platform};
    use crate::id::source::Source;
    use crate::id::version::Constraint;
    use crate::store::sibling_files::sum_file;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::{Path, PathBuf};
    use tempfile::TempDir;

    fn host() -> Platform {
        Platform { os: "linux".to_owned(), arch: "amd64".to_owned() }
    }

    /// Puts a binary and its sum file below a root.
    fn put(root: &Path, directory: &str, name: &str) -> PathBuf {
        let path = root.join(directory).join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, name).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(sum_file(&path), sha256(name.as_bytes()).unwrap()).unwrap();
        path
    }

    fn source(text: &str) -> Source {
        text.parse().unwrap()
    }

    #[test]
    fn a_binary_lies_in_the_directory_of_its_source() {
        let root = TempDir::new().unwrap();
        let name = "rustomize-plugin-app_v1.0.0_x1.0_linux_amd64";
        let right = put(root.path(), "h.io/acme/app", name);
        put(root.path(), "", name);
        put(root.path(), "h.io", name);
        let found = all(root.path(), &host());
        assert_eq!(found.len(), 3);
        let taken: Vec<&PathBuf> = found.iter().filter(|c| c.verdict.is_ok()).map(|c| &c.path).collect();
        assert_eq!(taken, [&right]);
        assert_eq!(found.iter().filter(|c| matches!(c.verdict, Err(Refusal::NoSource))).count(), 2);
        assert!(all(&root.path().join("nowhere"), &host()).is_empty());
    }

    #[test]
    fn without_its_sum_a_binary_is_not_considered() {
        let root = TempDir::new().unwrap();
        let path = put(root.path(), "h.io/acme/app", "rustomize-plugin-app_v1.0.0_x1.0_linux_amd64");
        let verdict = || candidates(root.path(), &source("h.io/acme/app"), &host()).remove(0).verified().verdict;
        assert!(verdict().is_ok());
        fs::write(&path, "another").unwrap();
        assert!(matches!(verdict(), Err(Refusal::SumDiffers { .. })));
        fs::write(sum_file(&path), format!("{}  {}", "0".repeat(64), path.display())).unwrap();
        assert!(matches!(verdict(), Err(Refusal::SumForm(_))));
        fs::remove_file(sum_file(&path)).unwrap();
        assert!(matches!(verdict(), Err(Refusal::NoSum(_))));
        fs::create_dir(sum_file(&path)).unwrap();
        assert!(matches!(verdict(), Err(Refusal::SumUnread(..))));
    }

    #[test]
    fn bad_candidates_are_skipped_and_kept_with_their_reason() {
        let root = TempDir::new().unwrap();
        put(root.path(), "h.io/acme/app", "rustomize-plugin-app_v1.0.0_x1.0_linux_amd64");
        put(root.path(), "h.io/acme/app", "rustomize-plugin-app_v3.0.0_x1.0_linux_arm64");
        put(root.path(), "h.io/acme/app", "rustomize-plugin-other_v3.0.0_x1.0_linux_amd64");
        let locked = put(root.path(), "h.io/acme/app", "rustomize-plugin-app_v4.0.0_x1.0_linux_amd64");
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o644)).unwrap();
        let found = candidates(root.path(), &source("h.io/acme/app"), &host());
        assert_eq!(found.len(), 4);
        assert!(matches!(found[1].verdict, Err(Refusal::Name(NameError::Platform(_)))), "{found:?}");
        assert!(matches!(found[2].verdict, Err(Refusal::NotExecutable)));
        assert!(matches!(found[3].verdict, Err(Refusal::Name(NameError::OtherName(_)))));
        let taken = choose(found, |_| true).unwrap();
        assert_eq!(taken.file.version.to_string(), "1.0.0");
    }

    #[test]
    fn the_highest_version_that_a_constraint_allows() {
        let root = TempDir::new().unwrap();
        for version in ["1.0.0", "1.0.1-dev", "1.2.0", "2.0.0"] {
            put(root.path(), "h.io/acme/app", &format!("rustomize-plugin-app_v{version}_x1.0_linux_amd64"));
        }
        let taken = |constraint: &str| {
            let found = candidates(root.path(), &source("h.io/acme/app"), &host());
            let constraint: Constraint = constraint.parse().unwrap();
            choose(found, |installed| constraint.allows(&installed.file.version))
                .map(|taken| taken.file.version.to_string())
        };
        assert_eq!(taken("> 0").as_deref(), Some("2.0.0"));
        assert_eq!(taken("~> 1.0").as_deref(), Some("1.2.0"));
        assert_eq!(taken("~> 1.0.0").as_deref(), Some("1.0.1-dev"));
        assert_eq!(taken("= 1.0.0").as_deref(), Some("1.0.0"));
        assert_eq!(taken("> 3"), None);
    }

    #[test]
    fn one_name_from_two_sources_is_two_candidates() {
        let root = TempDir::new().unwrap();
        for owner in ["acme", "other"] {
            put(root.path(), &format!("h.io/{owner}/app"), "rustomize-plugin-app_v1.0.0_x1.0_linux_amd64");
        }
        let found = all(root.path(), &host());
        let sources: Vec<String> = found.iter().map(|c| c.source.as_ref().unwrap().to_string()).collect();
        assert_eq!(sources, ["h.io/acme/app", "h.io/other/app"]);
    }
}
