//! Fetching plugins: the versions of a plugin, the downloads of a version, and their content.
//!
//! * [`archive`]: archives of plugins; [`origin`]: where they came from; [`identity`]: source and
//!   origin, which tell plugins apart.
//! * [`oci`]: from registries. Files over HTTP, registries and git repositories are asked as for
//!   remote kustomizations.

pub mod archive;
pub mod identity;
pub mod oci;
pub mod origin;

use crate::diag::{Code, Error, Result};
use crate::id::content::sha256;
use crate::id::location::{Location, repository_url};
use crate::id::name::{PREFIX, Platform};
use crate::id::source::Source;
use crate::id::version::Version;
use crate::load::{FileLimit, RepoSpec, clean, is_url};
use rustomize_base::host::{Host, NoHost};
use rustomize_process::Children;
use rustomize_sources::client::{Client, check_protected, success};
use rustomize_sources::git::Git;
use rustomize_sources::http::{Http, Watch};
use rustomize_sources::oci::{Repository, check_tags};
use rustomize_sources::{ReadFile, Secrets};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The platforms that a template with `{os}` or `{arch}` is tried for: no list names them.
const PLATFORMS: [(&str, &str); 5] =
    [("linux", "amd64"), ("linux", "arm64"), ("darwin", "amd64"), ("darwin", "arm64"), ("windows", "amd64")];

/// A file, an archive or a directory that can be fetched: a version of a plugin for one platform,
/// or for any. A server, a lock file or a requirement names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Download {
    pub platform: Platform,
    /// Where it is: `https://...`, `oci://host/path@sha256:...`, `git::...?ref=<commit>` or a path.
    pub url: String,
    /// How many bytes it has, where that is known.
    pub size: Option<u64>,
    /// Its SHA-256 in hex, where that is known.
    pub sha256: Option<String>,
}

/// The fetched content, and its time of release, if the server gives one.
#[derive(Debug)]
pub struct Fetched {
    pub content: FetchedContent,
    pub released: Option<SystemTime>,
}

/// The content of a download.
#[derive(Debug)]
pub enum FetchedContent {
    /// The content of a file or an archive.
    Bytes(Vec<u8>),
    /// A directory that stays as it is; what git keeps in it does not belong to it. Its own
    /// relative paths begin there.
    Directory(Base),
}

/// Where relative paths begin.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Base {
    pub directory: PathBuf,
    /// The clone that they must not leave.
    pub within: Option<Checkout>,
}

/// A clone of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Checkout {
    pub directory: PathBuf,
    /// The address of the repository.
    pub url: String,
}

impl Base {
    /// A directory of the user.
    pub fn new(directory: &Path) -> Base {
        Base { directory: directory.to_owned(), within: None }
    }

    /// The place of a path, which may be a link, but leads to no other repository.
    fn resolve(&self, path: &str) -> Result<PathBuf> {
        let place = self.directory.join(path);
        let Some(within) = &self.within else { return Ok(place) };
        let real = |path: &Path| {
            dunce::canonicalize(path).map_err(|e| fault(format!("cannot read '{}': {e}", path.display())))
        };
        if real(&place)?.starts_with(real(&within.directory)?) {
            return Ok(place);
        }
        Err(fault(format!("'{path}' leads out of the repository that names it")))
    }
}

/// Limits of what is fetched.
#[derive(Clone, Copy, Debug)]
pub struct FetchLimits {
    /// For one file.
    pub timeout: Duration,
    /// In bytes, for one file.
    pub size: u64,
}

impl Default for FetchLimits {
    fn default() -> Self {
        FetchLimits { timeout: Duration::from_secs(600), size: 1 << 30 }
    }
}

/// The client that fetches plugins.
pub struct Transfer {
    client: Client,
    git: Git,
    /// For a file on this machine.
    limit: FileLimit,
    /// True if nothing is fetched.
    pub offline: bool,
    host: Arc<dyn Host>,
}

pub(super) fn fault(message: String) -> Error {
    Error::new(Code::FetchFailed, message)
}

/// Compares bytes with a sum that was known before.
pub(super) fn check_sum(url: &str, bytes: &[u8], want: &str) -> Result<()> {
    let found = sha256(bytes).map_err(|e| fault(e.to_string()))?;
    if found == want {
        return Ok(());
    }
    Err(fault(format!("'{url}' is not what was announced: SHA-256 {found}, expected {want}"))
        .hint("it was changed, or the download was cut off; nothing was installed"))
}

impl Transfer {
    /// A client with limits. Clones of repositories are kept in `cache`.
    pub fn new(limits: FetchLimits, cache: Option<PathBuf>, offline: bool, children: Children) -> Transfer {
        Transfer {
            client: Client::new(Http::new(limits.timeout, limits.size, offline)),
            git: Git::new(cache, offline, Some(limits.timeout), children),
            limit: FileLimit(limits.size),
            offline,
            host: Arc::new(NoHost),
        }
    }

    /// Asks servers as the user of a host: a token is sent to its own server alone, and encrypted.
    pub fn for_host(self, host: &Arc<dyn Host>) -> Self {
        let client = self.client.with_secrets(Secrets(Some(Arc::clone(host))));
        Transfer { client, host: Arc::clone(host), ..self }
    }

    /// The time, with which the age of a release is compared.
    pub fn now(&self) -> SystemTime {
        self.host.now()
    }

    /// Calls `watch` with the progress of the files that are fetched from now on.
    pub fn watched(self, watch: Watch) -> Self {
        Transfer { client: self.client.watched(watch), ..self }
    }

    /// A repository of a registry, `host/path`.
    pub fn repository<'t>(&'t self, name: &'t str) -> Repository<'t> {
        Repository::new(&self.client, name)
    }

    /// The content of a file.
    ///
    /// # Errors
    /// The server does not answer, or not with success.
    pub fn get(&self, url: &str) -> Result<Vec<u8>> {
        Ok(success(url, self.client.ask_as_user(url)?)?.body)
    }

    /// The versions of a plugin, lowest first; `None` if only the plugin itself says its version.
    ///
    /// # Errors
    /// The source does not answer.
    pub fn versions(&self, source: &Source, location: &Location) -> Result<Option<Vec<Version>>> {
        if let Location::Git(spec) = location {
            check_protected(&spec.url)?;
        }
        let tags = match location {
            Location::Http(_) | Location::Local(_) => return Ok(None),
            Location::Git(spec) if !spec.reference.is_empty() => return Ok(None),
            Location::Git(spec) => self.tags(spec)?,
            Location::Oci(name) => self.repository(name).tags()?,
            Location::Releases => self.tags(&releases(source)?)?,
        };
        // A pre-release is not offered, and a tag that is not a version is one for other purposes.
        let mut versions: Vec<Version> =
            tags.iter().filter_map(|tag| tag.parse().ok()).filter(Version::is_final).collect();
        versions.sort();
        versions.dedup();
        Ok(Some(versions))
    }

    fn tags(&self, spec: &RepoSpec) -> Result<Vec<String>> {
        let tags = self.git.tags(spec)?;
        check_tags(&spec.url, tags.len())?;
        Ok(tags.into_iter().map(|(tag, _)| tag).collect())
    }

    /// The downloads of a version. `version` is one of [`Transfer::versions`], or the version of an
    /// exact constraint.
    ///
    /// # Errors
    /// The server cannot be asked, or lacks a download.
    pub fn downloads(&self, source: &Source, location: &Location, version: Option<&Version>) -> Result<Vec<Download>> {
        let any = |url: String| Download { platform: Platform::any(), url, size: None, sha256: None };
        match location {
            Location::Local(path) => Ok(vec![any(path.display().to_string())]),
            Location::Git(spec) => {
                check_protected(&spec.url)?;
                let mut spec = (**spec).clone();
                if let Some(version) = version.filter(|_| spec.reference.is_empty()) {
                    spec.reference = self.tag_of(&spec, version)?;
                }
                let commit = self.git.commit(&spec)?;
                Ok(vec![any(git_url(&spec, &commit))])
            }
            Location::Oci(name) => {
                let repository = self.repository(name);
                let version = version.map(ToString::to_string).unwrap_or_default();
                let tags = repository.tags()?;
                let tag = tags.into_iter().find(|tag| tag.strip_prefix('v').unwrap_or(tag) == version);
                oci::downloads(&repository, &tag.ok_or_else(|| fault(format!("'oci://{name}' has no tag v{version}")))?)
            }
            Location::Http(template) => self.templated(template, version),
            Location::Releases => {
                let version = version.ok_or_else(|| fault(format!("'{source}' has no releases")))?;
                self.released(source, version)
            }
        }
    }

    fn tag_of(&self, spec: &RepoSpec, version: &Version) -> Result<String> {
        let tag = self.tags(spec)?.into_iter().find(|tag| tag.parse().ok().as_ref() == Some(version));
        tag.ok_or_else(|| fault(format!("'{}' has no tag v{version}", spec.url)))
    }

    /// The URLs that a template stands for.
    fn templated(&self, template: &str, version: Option<&Version>) -> Result<Vec<Download>> {
        let mut url = template.to_owned();
        if template.contains("{version}") {
            let version = version.ok_or_else(|| {
                let error = fault(format!("the requirement does not say which version of '{template}' to fetch"));
                error.hint("name an exact version, as in version: '1.2.3': a file server has no list of versions")
            })?;
            url = url.replace("{version}", &version.to_string());
        }
        let download = |url: String, platform| Download { platform, url, size: None, sha256: None };
        if !url.contains("{os}") && !url.contains("{arch}") {
            return Ok(vec![download(url, Platform::any())]);
        }
        let platforms = PLATFORMS.map(|(os, arch)| Platform { os: os.to_owned(), arch: arch.to_owned() });
        let host = Platform::host();
        let all = platforms.iter().cloned().chain((!platforms.contains(&host)).then_some(host));
        Ok(all.map(|p| download(url.replace("{os}", &p.os).replace("{arch}", &p.arch), p)).collect())
    }

    /// The files of a release: its file of sums names them.
    fn released(&self, source: &Source, version: &Version) -> Result<Vec<Download>> {
        let base = format!("{}/releases/download/v{version}", repository_url(source));
        let stem = format!("{PREFIX}{}_v{version}", source.name());
        let sums = self.get(&format!("{base}/{stem}_SHA256SUMS"))?;
        let sums = String::from_utf8_lossy(&sums);
        let entry = |line: &str| {
            let (sum, name) = line.split_once(char::is_whitespace)?;
            let name = name.trim_start().trim_start_matches('*');
            let bare = [".zip", ".tar.gz", ".tgz", ".exe"].iter().fold(name, |n, end| n.strip_suffix(end).unwrap_or(n));
            let (os, arch) = bare.strip_prefix(&stem)?.strip_prefix("_x")?.split_once('_')?.1.split_once('_')?;
            let is_sum = sum.len() == 64 && sum.bytes().all(|b| b.is_ascii_hexdigit());
            is_sum.then(|| Download {
                platform: Platform { os: os.to_owned(), arch: arch.to_owned() },
                url: format!("{base}/{name}"),
                size: None,
                sha256: Some(sum.to_ascii_lowercase()),
            })
        };
        let found: Vec<Download> = sums.lines().filter_map(entry).collect();
        if found.is_empty() {
            let message = format!("'{base}/{stem}_SHA256SUMS' does not name a file of this plugin");
            return Err(fault(message).hint(format!("its lines are '<sha256>  {stem}_x1.0_<os>_<arch>.zip'")));
        }
        Ok(found)
    }

    /// Fetches a download, held to the size and the sum that it is said to have. Relative paths
    /// are those of `base`.
    ///
    /// # Errors
    /// The download cannot be fetched, or differs from its sum.
    pub fn fetch(&self, download: &Download, base: &Base) -> Result<Fetched> {
        let url = &download.url;
        let mut released = None;
        let bytes = match url {
            _ if is_repository(url) => {
                let spec = RepoSpec::parse(url)
                    .ok_or_else(|| fault(format!("'{url}' is not the address of a git repository")))?;
                check_protected(&spec.url)?;
                let directory = self.git.checkout(&spec)?;
                let released = self.git.time(&spec, &directory)?;
                let within = Checkout { directory: directory.clone(), url: spec.url };
                let whole = Base { directory, within: Some(within) };
                let own = Base { directory: whole.resolve(&spec.path)?, ..whole };
                return Ok(Fetched { content: FetchedContent::Directory(own), released });
            }
            _ if url.starts_with("oci://") => {
                let (name, digest) = url["oci://".len()..].split_once('@').unwrap_or_default();
                self.repository(name).blob(digest)?
            }
            _ if url.contains("://") => {
                let answer = success(url, self.client.ask_as_user(url)?)?;
                let said = answer.headers.get("last-modified").and_then(|said| said.to_str().ok());
                released = said.and_then(|said| httpdate::parse_http_date(said).ok());
                answer.body
            }
            _ => {
                let path = base.resolve(url)?;
                if path.is_dir() {
                    let own = Base { directory: path, within: base.within.clone() };
                    return Ok(Fetched { content: FetchedContent::Directory(own), released });
                }
                self.limit.read(&path).map_err(|e| {
                    let error = fault(format!("cannot read '{}': {e}", clean(&path.to_string_lossy())));
                    match e.kind() {
                        std::io::ErrorKind::FileTooLarge => error.hint("--size-limit sets the limit"),
                        std::io::ErrorKind::NotFound => {
                            error.hint("correct the path, which begins in the directory of the file that names it")
                        }
                        _ => error,
                    }
                })?
            }
        };
        if let Some(size) = download.size.filter(|size| *size != bytes.len() as u64) {
            return Err(fault(format!("'{url}' has {} bytes, {size} were announced", bytes.len())));
        }
        if let Some(want) = &download.sha256 {
            check_sum(url, &bytes, want)?;
        }
        Ok(Fetched { content: FetchedContent::Bytes(bytes), released })
    }

    /// The signature of a download: `<URL>.minisig`, or in a registry the layer of the tag
    /// `sha256-<sum>.minisig`.
    ///
    /// # Errors
    /// The signature is missing, or a download of this kind cannot have one.
    pub fn signature(&self, download: &Download) -> Result<String> {
        let url = &download.url;
        let bytes = match url.strip_prefix("oci://") {
            Some(rest) => {
                let (name, digest) = rest.split_once('@').unwrap_or_default();
                let repository = self.repository(name);
                let layers = oci::downloads(&repository, &format!("{}.minisig", digest.replace(':', "-")))?;
                let layer = layers.first().and_then(|layer| layer.url.split_once('@'));
                let (_, digest) = layer.ok_or_else(|| fault(format!("'{url}' has no signature")))?;
                repository.blob(digest)?
            }
            None if is_url(url) => self.get(&format!("{url}.minisig"))?,
            None => return Err(unsigned(url)),
        };
        String::from_utf8(bytes).map_err(|_| fault(format!("the signature of '{url}' is not text")))
    }
}

/// The error for a directory, which cannot have a signature.
pub(crate) fn unsigned(url: &str) -> Error {
    fault(format!("'{url}' has no signature: only files, releases and registries have signatures"))
}

/// The repository of a source's releases, for git.
fn releases(source: &Source) -> Result<RepoSpec> {
    let url = format!("git::{}.git", repository_url(source));
    RepoSpec::parse(&url).ok_or_else(|| fault(format!("'{source}' is not the address of a repository")))
}

/// Returns true if a download is a directory of a repository: see [`git_url`].
pub(crate) fn is_repository(url: &str) -> bool {
    url.starts_with("git::")
}

/// A commit of a repository, as a lock file writes it.
fn git_url(spec: &RepoSpec, commit: &str) -> String {
    let path = if spec.path.is_empty() { String::new() } else { format!("//{}", spec.path) };
    let submodules = if spec.submodules { "" } else { "&submodules=false" };
    let url = &spec.url;
    format!("git::{url}{path}?ref={commit}{submodules}")
}
