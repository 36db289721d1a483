//! References to git repositories, in all of kustomize's spellings.

use super::clean;
use super::path::is_absolute;
use rustomize_base::duration::{Unit, parse_in};
use std::time::Duration;

/// The time limit of one git command, unless the reference has one.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(27);

/// A repository, a directory in it, and a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepoSpec {
    /// The reference as it was written.
    pub raw: String,
    /// The URL that git clones.
    pub url: String,
    /// The number of bytes of `url` that are the host.
    host: usize,
    /// A directory in the repository; empty for its top.
    pub path: String,
    /// A branch, tag, full ref or full commit hash; empty for the default branch.
    pub reference: String,
    /// True if submodules are checked out as well.
    pub submodules: bool,
    /// The time limit of one git command.
    pub timeout: Duration,
    /// True if the reference itself has the time limit.
    pub has_timeout: bool,
}

impl RepoSpec {
    /// Reads a reference; `None` if the text does not refer to a repository, and so is a path.
    pub fn parse(raw: &str) -> Option<RepoSpec> {
        if is_absolute(raw) {
            return None;
        }
        let (location, query) = raw.split_once('?').unwrap_or((raw, ""));
        let query = Query::parse(query);
        let location = strip_prefix_ignoring_case(location, "git::").unwrap_or(location);
        let (scheme, rest) = ["ssh://", "https://", "http://", "file://"]
            .into_iter()
            .find_map(|scheme| Some((scheme, strip_prefix_ignoring_case(location, scheme)?)))
            .unwrap_or(("", location));
        let (user, rest) = split_user(rest);
        let github = ["github.com/", "github.com:"].into_iter().find_map(|h| strip_prefix_ignoring_case(rest, h));
        if scheme.is_empty() && user.is_empty() && github.is_none() {
            return None;
        }
        let (host, rest) = match (scheme, github) {
            ("file://", _) => (format!("file://{user}"), rest),
            (_, Some(rest)) => (github_host(scheme, user), rest),
            _ => {
                let at = host_end(rest, scheme.is_empty())?;
                (format!("{scheme}{user}{}", &rest[..at]), &rest[at..])
            }
        };
        let (repo, path) = split_path(rest, scheme == "file://")?;
        // `repo//base`, `repo.git//base` and `_git/repo//base` are spellings of one place.
        let path = Some(clean(path.trim_start_matches('/'))).filter(|path| path != ".").unwrap_or_default();
        if repo.is_empty() || path.starts_with("..") {
            return None;
        }
        Some(RepoSpec {
            raw: raw.to_owned(),
            host: host.len(),
            url: host + repo,
            path,
            reference: query.reference,
            submodules: query.submodules,
            timeout: query.timeout.unwrap_or(DEFAULT_TIMEOUT),
            has_timeout: query.timeout.is_some(),
        })
    }

    /// The repository and its version, as a lock names them.
    pub fn name(&self) -> String {
        let mut name = self.url.clone();
        let mut separator = '?';
        if !self.reference.is_empty() {
            name.push_str(&format!("?ref={}", self.reference));
            separator = '&';
        }
        if !self.submodules {
            name.push_str(&format!("{separator}submodules=false"));
        }
        name
    }

    /// The host that git asks, with scheme and user, and the path of the repository on it.
    pub fn host_and_path(&self) -> (&str, &str) {
        self.url.split_at(self.host)
    }

    /// Returns true if git would read a repository of this machine.
    pub fn is_of_this_machine(&self) -> bool {
        self.url.starts_with("file://")
    }
}

fn strip_prefix_ignoring_case<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

/// Splits off `name@` at the start, if there is such a name.
fn split_user(text: &str) -> (&str, &str) {
    match text.find('@') {
        Some(at) => {
            let name = &text[..at];
            let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
            if is_name { text.split_at(at + 1) } else { ("", text) }
        }
        None => ("", text),
    }
}

fn github_host(scheme: &str, user: &str) -> String {
    if scheme == "ssh://" || !user.is_empty() { format!("{user}github.com:") } else { "https://github.com/".to_owned() }
}

/// The end of the host, its separator included: a slash, or a colon in a text without a scheme.
fn host_end(text: &str, is_scp: bool) -> Option<usize> {
    let slash = text.find('/');
    let colon = if is_scp { text.find(':') } else { None };
    let at = match (slash, colon) {
        (Some(s), Some(c)) => s.min(c),
        (s, c) => s.or(c)?,
    };
    Some(at + 1)
}

/// The repository and the path in it.
fn split_path(text: &str, is_file: bool) -> Option<(&str, &str)> {
    if let Some(at) = text.find("_git/") {
        let start = at + "_git/".len();
        let end = text[start..].find('/').map_or(text.len(), |i| start + i);
        return Some(text.split_at(end));
    }
    if let Some(at) = text.find("//") {
        return Some((&text[..at], &text[at + 2..]));
    }
    if let Some(at) = text.find(".git") {
        return Some(text.split_at(at + ".git".len()));
    }
    if is_file {
        return Some((text, ""));
    }
    let first = text.find('/')?;
    let second = text[first + 1..].find('/').map_or(text.len(), |i| first + 1 + i);
    let repo = &text[..second];
    let is_whole = first > 0 && second > first + 1;
    is_whole.then_some((repo, &text[second..]))
}

/// The query after the `?`.
struct Query {
    reference: String,
    submodules: bool,
    timeout: Option<Duration>,
}

impl Query {
    /// Reads a query. One that cannot be read counts as an empty query.
    fn parse(text: &str) -> Query {
        let pairs = pairs(text).unwrap_or_default();
        let first = |name: &str| pairs.iter().find(|(k, _)| k == name).map(|(_, v)| v.as_str());
        let reference = ["ref", "version"].into_iter().filter_map(first).find(|v| !v.is_empty()).unwrap_or_default();
        let submodules = !matches!(first("submodules"), Some("0" | "f" | "F" | "false" | "FALSE" | "False"));
        Query { reference: reference.to_owned(), submodules, timeout: first("timeout").and_then(timeout) }
    }
}

fn pairs(text: &str) -> Option<Vec<(String, String)>> {
    if text.contains(';') {
        return None;
    }
    let pair = |part: &str| {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        Some((unescape(key)?, unescape(value)?))
    };
    text.split('&').filter(|part| !part.is_empty()).map(pair).collect()
}

/// Decodes the escapes of a form; `None` for an invalid escape.
fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(b) = rest.next() {
        bytes.push(match b {
            b'+' => b' ',
            b'%' => {
                let digit = |b: Option<u8>| char::from(b?).to_digit(16);
                (digit(rest.next())? * 16 + digit(rest.next())?) as u8
            }
            b => b,
        });
    }
    String::from_utf8(bytes).ok()
}

/// The units of Go's `time.ParseDuration`, by which kustomize reads a timeout: it has no days.
const GO_UNITS: [Unit; 7] =
    [("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];

/// Reads seconds, or a duration in Go's spelling; `None` for zero or less, as in kustomize.
fn timeout(text: &str) -> Option<Duration> {
    let seconds = text.parse::<u64>().ok().map(Duration::from_secs);
    seconds.or_else(|| parse_in(text, &GO_UNITS).ok()).filter(|timeout| !timeout.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(raw: &str, want: Option<(&str, &str, &str)>) {
        let got = RepoSpec::parse(raw);
        let got = got.as_ref().map(|s| (s.url.as_str(), s.path.as_str(), s.reference.as_str()));
        assert_eq!(got, want, "{raw}");
    }

    #[test]
    fn spellings_of_github() {
        let g = "https://github.com/org/repo";
        check("github.com/org/repo", Some((g, "", "")));
        check("http://github.com/org/repo/a/b", Some((g, "a/b", "")));
        check("GitHub.com/org/repo//a/b?ref=v1", Some((g, "a/b", "v1")));
        check("github.com:org/repo/a", Some((g, "a", "")));
        check("git@github.com:org/repo", Some(("git@github.com:org/repo", "", "")));
        check("git@github.com:org/repo.git/a", Some(("git@github.com:org/repo.git", "a", "")));
        check("ssh://git@github.com/org/repo/a?ref=m", Some(("git@github.com:org/repo", "a", "m")));
        check("ssh://github.com/org/repo", Some(("github.com:org/repo", "", "")));
        check("user@github.com/org/repo", Some(("user@github.com:org/repo", "", "")));
        check("https://user@github.com/org/repo.git//a?ref=x", Some(("user@github.com:org/repo.git", "a", "x")));
        check("git::https://github.com/org/repo//a", Some((g, "a", "")));
    }

    #[test]
    fn spellings_of_other_hosts() {
        check("https://h/org/repo/a/b/c", Some(("https://h/org/repo", "a/b/c", "")));
        check("https://h/g1/g2/repo.git/a", Some(("https://h/g1/g2/repo.git", "a", "")));
        check("https://h/g1/g2/repo//a/b", Some(("https://h/g1/g2/repo", "a/b", "")));
        check("https://h/org//a", Some(("https://h/org", "a", "")));
        check("https://me:pw@h/org/repo", Some(("https://me:pw@h/org/repo", "", "")));
        check("https://h/repo.git", Some(("https://h/repo.git", "", "")));
        check("HTTPS://h/org/repo/", Some(("https://h/org/repo", "", "")));
        check("ssh://git@h:7999/org/repo.git/a", Some(("ssh://git@h:7999/org/repo.git", "a", "")));
        check("git@h:g1/g2/repo.git//a", Some(("git@h:g1/g2/repo.git", "a", "")));
        check("org-1234@h/org/repo/a", Some(("org-1234@h/org/repo", "a", "")));
        check("git@h/x:y/repo.git", Some(("git@h/x:y/repo.git", "", "")));
        check("https://h/o/p/_git/repo/a/b?version=GBmain", Some(("https://h/o/p/_git/repo", "a/b", "GBmain")));
        check("https://h/o/p/_git/repo//a", Some(("https://h/o/p/_git/repo", "a", "")));
        check("git@h:repo.git//a", Some(("git@h:repo.git", "a", "")));
        check("https://h/o/r////a", Some(("https://h/o/r", "a", "")));
        check("https://h/org/repo.git.d/a", Some(("https://h/org/repo.git", ".d/a", "")));
        check("https://h/o/r//a/../a/b", Some(("https://h/o/r", "a/b", "")));
        check("file:///srv/r.git/a", Some(("file:///srv/r.git", "a", "")));
        check("file:///srv/r//a/b", Some(("file:///srv/r", "a/b", "")));
        check("file://me@srv/git/r//a", Some(("file://me@srv/git/r", "a", "")));
        check("https://h/o/r#frag", Some(("https://h/o/r#frag", "", "")));
    }

    #[test]
    fn paths() {
        let paths = [
            "https://h/repo",
            "h/org/repo",
            "gh:org/repo",
            "ftp://h/o/r",
            "github.com/org",
            "1a@h:o/r",
            "https://h/o/r//../x",
            "/srv/x.git",
            "../base",
            "base",
            "",
        ];
        paths.into_iter().for_each(|raw| check(raw, None));
    }

    #[test]
    fn queries() {
        let parse = |query: &str| RepoSpec::parse(&format!("https://h/o/r?{query}")).unwrap();
        assert_eq!(parse("ref=v1&version=v2").reference, "v1");
        assert_eq!(parse("ref=&version=v3").reference, "v3");
        assert_eq!(parse("ref=a/b%2Fc+d").reference, "a/b/c d");
        assert_eq!(parse("ref=a;b").reference, "");
        assert_eq!(parse("ref=%zz").reference, "");
        assert_eq!(parse("Ref=x").reference, "");
        assert!(!parse("submodules=false").submodules && !parse("submodules=0").submodules);
        assert!(parse("submodules=no").submodules);
        assert_eq!(parse("timeout=1m30s").timeout, Duration::from_secs(90));
        assert_eq!(parse("timeout=1").timeout, Duration::from_secs(1));
        assert_eq!(parse("timeout=1.5s250000us").timeout, Duration::from_millis(1750));
        for text in ["-1", "0", "0s", "1d", "m", "1m1"] {
            assert_eq!(parse(&format!("timeout={text}")).timeout, DEFAULT_TIMEOUT, "{text}");
        }
    }
}
