//! [`SourcePattern`]: which sources a rule is for.

use super::source::{MOST_PARTS, SourceError, check_spelling, prefixed};
use crate::load::host;
use rustomize_plugins::permissions::is_like;

/// A source in which `*` is any part or any text in one, and `**` at the end all that follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePattern(String);

/// All that follows.
const REST: &str = "**";

impl SourcePattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// The pattern cannot match any source.
    pub fn parse(text: &str) -> Result<SourcePattern, SourceError> {
        if text.contains("://") {
            return Err(SourceError::Scheme);
        }
        let parts: Vec<&str> = text.split('/').collect();
        if let Some(part) = parts.iter().find(|part| matches!(**part, "" | "." | "..")) {
            return Err(SourceError::Part((*part).to_owned()));
        }
        check_spelling(text)?;
        let (last, before) = parts.split_last().map_or(("", &[][..]), |(last, before)| (*last, before));
        if before.contains(&REST) {
            return Err(SourceError::Rest);
        }
        match before.len() {
            0 | 1 if last != REST => return Err(SourceError::TooShort),
            n if n > MOST_PARTS => return Err(SourceError::TooLong(n)),
            _ => {}
        }
        if !parts[0].contains('*') && !host::is_canonical(parts[0]) {
            return Err(SourceError::Host(parts[0].to_owned()));
        }
        match prefixed(last) {
            Some(raw) => Err(SourceError::Prefixed(raw.to_owned())),
            None => Ok(SourcePattern(text.to_owned())),
        }
    }

    /// The pattern as it is written.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns whether it is for a source.
    pub fn is_for(&self, source: &str) -> bool {
        matches(&self.0, source)
    }

    /// Returns whether it is for an address, or for something above it: `h.io/acme/*` is for
    /// `h.io/acme/app/releases`.
    pub fn is_above(&self, address: &str) -> bool {
        address.match_indices('/').map(|(at, _)| &address[..at]).chain([address]).any(|above| self.is_for(above))
    }

    /// Returns whether it is for all that another one is for.
    pub fn covers(&self, other: &SourcePattern) -> bool {
        (self.0.ends_with(REST) || !other.0.ends_with(REST)) && self.is_for(&other.0)
    }
}

/// Returns true if a pattern matches a text with slashes, part by part: `acme*` matches nothing
/// below another owner.
pub fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = text.split('/');
    for wanted in pattern.split('/') {
        if wanted == REST {
            return parts.next().is_some();
        }
        match parts.next() {
            Some(part) if is_like(wanted, part) => {}
            _ => return false,
        }
    }
    parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::SourcePattern;

    fn pattern(text: &str) -> SourcePattern {
        SourcePattern::parse(text).unwrap()
    }

    #[test]
    fn patterns_match_part_by_part() {
        for (text, yes, no) in [
            ("github.com/acme/*", "github.com/acme/app", "github.com/acme-evil/app"),
            ("github.com/acme/*", "github.com/acme/x", "github.com/acme/x/y"),
            ("github.com/**", "github.com/a/b/c", "gitlab.com/a/b"),
            ("*/acme/app-*", "h.io/acme/app-one", "h.io/acme/app"),
            ("h.io/a/b", "h.io/a/b", "h.io/a/bc"),
        ] {
            assert!(pattern(text).is_for(yes) && !pattern(text).is_for(no), "{text}");
        }
        assert!(pattern("h.io/a/*").is_above("h.io/a/b/c/d") && !pattern("h.io/a/*").is_above("h.io/b/a/c"));
    }

    #[test]
    fn one_covers_another() {
        for (wide, narrow, both) in [
            ("**", "h.io/a/b", false),
            ("**", "**", true),
            ("h.io/**", "h.io/a/**", false),
            ("h.io/*/*", "h.io/a/b*", false),
        ] {
            assert!(pattern(wide).covers(&pattern(narrow)), "{wide} {narrow}");
            assert_eq!(pattern(narrow).covers(&pattern(wide)), both, "{wide} {narrow}");
        }
        assert!(!pattern("h.io/*/*").covers(&pattern("h.io/a/**")));
    }
}
