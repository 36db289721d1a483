//! [`Settings`]: `rustomize.yaml`, the file that allows findings in a directory and below it.

use crate::config::{Decode, Decoder, Described, Shape, Written, read_alone};
use crate::diag::{Code, Error, Result};
use regex::Regex;
use rustomize_base::compat::{Compat, UnknownVersion};
use rustomize_yaml::{Node, Pos};
use std::path::{Path, PathBuf};

/// The name of the file.
pub const FILE: &str = "rustomize.yaml";

/// Settings of rustomize for a directory and the directories below it.
#[derive(Default, Decode, Described)]
struct File<'a> {
    /// Settings of `lint` and of `build --strict`.
    lint: Option<Lint<'a>>,
    /// The version of kustomize whose bytes are printed, as in `5.7.1` or `kubectl-1.34`.
    compat: Written<'a>,
}

/// What a build reads of the file.
#[derive(Default, Decode, Described)]
struct OfBuilds<'a> {
    /// Anything.
    lint: Node<'a>,
    /// The version of kustomize whose bytes are printed.
    compat: Written<'a>,
}

/// Settings of `lint`.
#[derive(Default, Decode, Described)]
struct Lint<'a> {
    /// Findings that are allowed.
    allow: Vec<Allow<'a>>,
}

/// Findings that are allowed.
#[derive(Default, Decode, Described)]
struct Allow<'a> {
    /// The code of the findings.
    code: Written<'a>,
    /// The files that may have the findings, as a pattern from the directory of this file: `*` is
    /// any text without a slash, `**` any text, `?` one character. Without a path all files may.
    path: Option<Written<'a>>,
    /// Why the findings are allowed.
    reason: &'a str,
    pos: Pos,
}

/// The shape of the file, for its JSON Schema.
pub const SHAPE: Shape = <File<'_> as Described>::SHAPE;

/// The findings that the `rustomize.yaml` of a directory allows.
#[derive(Clone, Debug)]
pub struct Settings {
    directory: PathBuf,
    allowed: Vec<Allowed>,
}

/// The findings that one entry allows.
#[derive(Clone, Debug)]
struct Allowed {
    code: Code,
    /// Matches the paths of files from the directory; `None` for all files.
    path: Option<Regex>,
}

impl Settings {
    /// Reads the text of the file of a directory.
    ///
    /// # Errors
    /// The text is not valid.
    pub fn parse(directory: &Path, text: String) -> Result<Settings> {
        let allowed = parse(&directory.join(FILE).display().to_string(), text)?;
        Ok(Settings { directory: directory.to_owned(), allowed })
    }

    /// The version of kustomize that the text of the file of a directory names. The settings of
    /// `lint` are not looked at: they are nothing to a build.
    ///
    /// # Errors
    /// The text is not YAML, has an unknown field, or names a version that is not known.
    pub fn compat(directory: &Path, text: String) -> Result<Option<Compat>> {
        read_alone(directory.join(FILE).display().to_string(), text, |arena, node| {
            let mut file = OfBuilds::default();
            node.map_or(Ok(()), |node| file.decode(node, &Decoder::strict(arena)))?;
            named(file.compat)
        })
    }

    /// Returns true if a finding with a code, in a file if its place is known, is allowed.
    pub fn allows(&self, code: Code, file: Option<&Path>) -> bool {
        let file = file.and_then(|file| file.strip_prefix(&self.directory).ok()).map(Path::to_string_lossy);
        self.allowed.iter().any(|allowed| {
            let is_for = |pattern: &Regex| file.as_ref().is_some_and(|file| pattern.is_match(file));
            allowed.code == code && allowed.path.as_ref().is_none_or(is_for)
        })
    }
}

/// Reads the text of a file that errors call `name`.
fn parse(name: &str, text: String) -> Result<Vec<Allowed>> {
    read_alone(name, text, |arena, node| {
        let mut file = File::default();
        node.map_or(Ok(()), |node| file.decode(node, &Decoder::strict(arena)))?;
        let allowed = file.lint.unwrap_or_default().allow.iter().map(allowed).collect::<Result<_>>()?;
        named(file.compat)?;
        Ok(allowed)
    })
}

fn named(compat: Written<'_>) -> Result<Option<Compat>> {
    let unknown = |e: UnknownVersion| {
        let hint = format!("the known ones are {}", UnknownVersion::known());
        Error::new(Code::BadValue, e.to_string()).at(compat.pos).hint(hint)
    };
    if compat.is_empty() { Ok(None) } else { Compat::parse(&compat).map(Some).map_err(unknown) }
}

fn allowed(entry: &Allow<'_>) -> Result<Allowed> {
    let missing = |field: &str, hint: &str| {
        Err(Error::new(Code::MissingField, format!("missing field '{field}'")).at(entry.pos).hint(hint))
    };
    if entry.code.is_empty() {
        return missing("code", "name the code of the findings, as in code: no-effect");
    }
    if entry.reason.trim().is_empty() {
        return missing("reason", "say why the findings are allowed, as in reason: clusters without Argo have none");
    }
    let code = Code::finding(&entry.code).map_err(|hint| {
        Error::new(Code::BadValue, format!("'{}' is not the code of a finding", entry.code))
            .at(entry.code.pos)
            .hint(hint)
    })?;
    let path = entry.path.filter(|path| !path.is_empty()).map(|path| {
        let invalid = |_| Error::new(Code::BadPattern, "the pattern is too large").at(path.pos);
        Regex::new(&expression(&path)).map_err(invalid)
    });
    Ok(Allowed { code, path: path.transpose()? })
}

/// A pattern of paths as a regular expression.
fn expression(pattern: &str) -> String {
    let mut expression = "^(?s)".to_owned();
    let mut rest = pattern.strip_prefix("./").unwrap_or(pattern);
    while let Some(c) = rest.chars().next() {
        let (part, length) = match c {
            _ if rest.starts_with("**/") => ("(.*/)?".into(), 3),
            _ if rest.starts_with("**") => (".*".into(), 2),
            '*' => ("[^/]*".into(), 1),
            '?' => ("[^/]".into(), 1),
            c => (regex::escape(&rest[..c.len_utf8()]), c.len_utf8()),
        };
        expression += &part;
        rest = &rest[length..];
    }
    expression + "$"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, fits: &[&str], others: &[&str]) {
        let pattern = Regex::new(&expression(pattern)).unwrap();
        for path in fits {
            assert!(pattern.is_match(path), "{path}");
        }
        for path in others {
            assert!(!pattern.is_match(path), "{path}");
        }
    }

    #[test]
    fn patterns_of_paths() {
        check("base/*.yaml", &["base/a.yaml", "base/.yaml"], &["base/b/a.yaml", "base/a.yml", "x/base/a.yaml"]);
        check("**/web.yaml", &["web.yaml", "a/b/web.yaml"], &["a/xweb.yaml"]);
        check("overlays/**", &["overlays/a", "overlays/a/b.yaml"], &["base/a"]);
        check("./a?c[1]", &["abc[1]", "aäc[1]"], &["a/c[1]", "ac[1]", "abc1"]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let fault = |text: &str| parse(FILE, text.to_owned()).map(drop).map_err(|e| e.to_string());
        assert_eq!(fault(""), Ok(()));
        assert_eq!(fault("lint: {allow: [{code: no-effect, reason: shared base}]}\n"), Ok(()));
        for (text, words) in [
            ("lint: {alow: []}\n", "did you mean 'allow'"),
            ("lnt: {}\n", "did you mean 'lint'"),
            ("lint:\n  allow:\n  - code: no-effect\n", "rustomize.yaml:3:5"),
            ("lint: {allow: [{code: no-effect, reason: ' '}]}\n", "missing field 'reason'"),
            ("lint: {allow: [{reason: x}]}\n", "missing field 'code'"),
            ("lint: {allow: [{code: no-efect, reason: x}]}\n", "did you mean 'no-effect'"),
            ("lint: {allow: no-effect}\n", "expected a list"),
        ] {
            let error = fault(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
