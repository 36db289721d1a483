//! [`Source`]: the address that names a plugin, and its directory below a root.

use crate::load::host;
use percent_encoding::percent_decode_str;
use rustomize_base::shown::is_unseen;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Beginnings of names that say what is clear already: ours and Packer's, longest first.
const PREFIXES: [&str; 4] = ["rustomize-plugin-", "packer-plugin-", "rustomize-", "packer-"];

/// Most parts behind the host.
pub(super) const MOST_PARTS: usize = 15;

/// A plugin's address: a host and two to fifteen parts, as in `github.com/acme/app`. The last part
/// is the plugin's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source(String);

/// The fault of an invalid source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceError {
    Scheme,
    Fragment,
    Query,
    TooShort,
    TooLong(usize),
    /// A part that would lead somewhere else.
    Part(String),
    /// The name begins with a prefix; what it would be without.
    Prefixed(String),
    /// A pattern has `**` before its end.
    Rest,
    /// The host is neither a name nor an address.
    Host(String),
    /// It has a character that an address cannot have.
    Character(char),
    /// It is written otherwise than all others write it; how they do.
    Spelling(String),
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceError::Scheme => f.write_str("has a scheme: it is an address as in 'github.com/acme/app'"),
            SourceError::Fragment => f.write_str("has a fragment ('#')"),
            SourceError::Query => f.write_str("has a query ('?')"),
            SourceError::TooShort => f.write_str("has fewer than three parts: expected 'host/owner/name' or more"),
            SourceError::TooLong(parts) => write!(f, "has {parts} parts behind the host; {MOST_PARTS} are the most"),
            SourceError::Part(part) => write!(f, "has the part '{part}', which cannot be the name of a directory"),
            SourceError::Prefixed(raw) => {
                write!(f, "ends in a name with a prefix that is left out: use '{raw}'")
            }
            SourceError::Rest => f.write_str("has '**' before its end: use '**' at the end only, and '*' for one part"),
            SourceError::Host(host) => write!(f, "has the invalid host '{host}': expected a name or an address"),
            SourceError::Character(c) => write!(f, "has the character {c:?}, which a source cannot contain"),
            SourceError::Spelling(_) => f.write_str("is another spelling of a source, and each has only one"),
        }
    }
}

impl std::error::Error for SourceError {}

impl SourceError {
    /// The correct spelling, if it is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            SourceError::Spelling(canonical) => Some(format!("write it as '{canonical}'")),
            SourceError::TooShort => Some("write host, owner and name, as in github.com/acme/app".to_owned()),
            _ => None,
        }
    }
}

/// The canonical spelling of an address, or of a pattern for addresses, as far as there is one:
/// what is encoded is decoded, and what means nothing is gone. Rules are compared with this alone.
pub(crate) fn canonical(text: &str) -> String {
    let decoded = percent_decode_str(text).decode_utf8_lossy();
    let plain: String = decoded.chars().filter(|c| c.is_ascii() && !c.is_ascii_control() && *c != ' ').collect();
    let plain = plain.to_ascii_lowercase();
    let (host, path) = plain.split_once('/').unwrap_or((&plain, ""));
    let host = host::canonical(host).unwrap_or_else(|| host.to_owned());
    let path = path.strip_suffix(".git").unwrap_or(path);
    if path.is_empty() { host } else { format!("{host}/{path}") }
}

impl FromStr for Source {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, SourceError> {
        if text.contains("://") {
            return Err(SourceError::Scheme);
        }
        if text.contains('#') {
            return Err(SourceError::Fragment);
        }
        if text.contains('?') {
            return Err(SourceError::Query);
        }
        let parts: Vec<&str> = text.split('/').collect();
        if let Some(part) = parts.iter().find(|part| matches!(**part, "" | "." | "..") || part.contains('\0')) {
            return Err(SourceError::Part((*part).to_owned()));
        }
        match parts.len() - 1 {
            0 | 1 => return Err(SourceError::TooShort),
            n if n > MOST_PARTS => return Err(SourceError::TooLong(n)),
            _ => {}
        }
        check_spelling(text)?;
        // A rule that names the source would be for others too.
        if text.contains('*') {
            return Err(SourceError::Character('*'));
        }
        if !host::is_canonical(parts[0]) {
            return Err(SourceError::Host(parts[0].to_owned()));
        }
        let name = parts[parts.len() - 1];
        if let Some(raw) = prefixed(name) {
            return Err(SourceError::Prefixed(raw.to_owned()));
        }
        Ok(Source(text.to_owned()))
    }
}

/// A name without its prefix, if it has one.
pub(super) fn prefixed(name: &str) -> Option<&str> {
    PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix))
}

/// Holds an address, or a pattern for addresses, to its one spelling.
///
/// # Errors
/// The address is not in its canonical spelling, or has a forbidden character.
pub(super) fn check_spelling(text: &str) -> Result<(), SourceError> {
    // Another letter is not another spelling.
    let decoded = percent_decode_str(text).decode_utf8_lossy();
    if let Some(c) = decoded.chars().find(|c| !c.is_ascii() && !c.is_whitespace() && !is_unseen(*c)) {
        return Err(SourceError::Character(c));
    }
    let canonical = canonical(text);
    if canonical != text {
        return Err(SourceError::Spelling(canonical));
    }
    text.chars().find(|c| *c == '%').map_or(Ok(()), |c| Err(SourceError::Character(c)))
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Source {
    /// The host.
    pub fn host(&self) -> &str {
        self.0.split('/').next().unwrap_or_default()
    }

    /// The plugin's name: the last part.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// The directory of the plugin, below a root: one for each part.
    pub fn directory(&self) -> PathBuf {
        self.0.split('/').collect()
    }

    /// The path of the repository that releases the plugin, behind the host: the name has the
    /// prefix there that a source omits.
    pub fn repository(&self) -> String {
        let parts: Vec<&str> = self.0.split('/').skip(1).collect();
        let (name, owners) = parts.split_last().unwrap_or((&"", &[]));
        owners.iter().map(|part| format!("{part}/")).collect::<String>() + "rustomize-plugin-" + name
    }
}

#[cfg(test)]
mod tests {
    use super::{Source, SourceError};

    fn source(text: &str) -> Result<Source, SourceError> {
        text.parse()
    }

    #[test]
    fn parts_are_directories() {
        let source = source("github.com/acme/app").unwrap();
        assert_eq!(source.directory(), std::path::Path::new("github.com").join("acme").join("app"));
        assert_eq!(source.host(), "github.com");
    }

    #[test]
    fn scheme_fragment_and_query_are_rejected() {
        assert_eq!(source("https://github.com/acme/app"), Err(SourceError::Scheme));
        assert_eq!(source("github.com/acme/app#x"), Err(SourceError::Fragment));
        assert_eq!(source("github.com/acme/app?x=y"), Err(SourceError::Query));
    }

    #[test]
    fn two_to_fifteen_parts_behind_the_host() {
        let with = |parts: usize| source(&format!("h.io{}", "/p".repeat(parts)));
        assert_eq!([with(0), with(1)], [Err(SourceError::TooShort), Err(SourceError::TooShort)]);
        assert!(with(2).is_ok() && with(15).is_ok());
        assert_eq!(with(16), Err(SourceError::TooLong(16)));
    }

    #[test]
    fn only_slashes_separate() {
        assert_eq!(source("h.io/a:b/c\\d").unwrap().name(), "c\\d");
        assert_eq!(source("h.io\\a\\b"), Err(SourceError::TooShort));
    }

    #[test]
    fn parts_that_lead_elsewhere_are_rejected() {
        for part in ["..", ".", "", "a\0b"] {
            assert_eq!(source(&format!("h.io/{part}/x")), Err(SourceError::Part(part.to_owned())));
        }
    }

    #[test]
    fn a_source_has_one_spelling() {
        let spelling = |text: &str| match source(text) {
            Err(SourceError::Spelling(canonical)) => canonical,
            other => panic!("{text}: {other:?}"),
        };
        for text in ["H.io/a/b", "h.io./a/b", "h.io:443/a/b", "u@h.io/a/b", "h.io/a/B", "h.io/%61/b", "h.io/a/b\u{a0}"]
        {
            assert_eq!(spelling(text), "h.io/a/b", "{text}");
        }
        assert_eq!(source("h.io/a/100%"), Err(SourceError::Character('%')));
        for text in ["h.io/acme/\u{fc}n\u{ef}", "h.io/acme/%C3%BCni", "h.io/acme/%FFn"] {
            assert!(matches!(source(text), Err(SourceError::Character(c)) if !c.is_ascii()), "{text}");
        }
        // A rule for such a source would be one for others.
        for text in ["h.io/a/*", "h.io/*/b", "h.io/a/**"] {
            assert_eq!(source(text), Err(SourceError::Character('*')), "{text}");
        }
        assert_eq!(source("h..io/a/b"), Err(SourceError::Host("h..io".to_owned())));
    }

    #[test]
    fn the_last_part_is_the_name() {
        assert_eq!(source("h.io/a/b/c").unwrap().name(), "c");
    }

    #[test]
    fn a_prefix_is_rejected_and_the_raw_name_proposed() {
        for (name, raw) in [("rustomize-plugin-app", "app"), ("rustomize-app", "app"), ("packer-plugin-app", "app")] {
            let error = source(&format!("h.io/a/{name}")).unwrap_err();
            assert_eq!(error, SourceError::Prefixed(raw.to_owned()));
            assert!(error.to_string().contains("use 'app'"), "{error}");
        }
        assert!(source("h.io/a/my-rustomize-plugin").is_ok());
    }

    #[test]
    fn the_repository_has_the_prefix() {
        assert_eq!(source("github.com/x/y").unwrap().repository(), "x/rustomize-plugin-y");
        assert_eq!(source("git.io/a/b/c").unwrap().repository(), "a/b/rustomize-plugin-c");
    }
}
