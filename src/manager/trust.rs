//! [`Trust`]: `trust.yaml`, in which a user or an organisation says whose plugins may be installed, and on what conditions.
//!
//! It lies with the user's own files, or where `RUSTOMIZE_TRUST` says. Nothing that a repository
//! holds changes it: `plugins.yaml` asks, this file grants. Without it every source may be
//! installed, as what it was when it was locked.

use super::discover::Installed;
use super::permissions::{Permissions, is_like};
use super::requirements::{API_VERSION, check_head};
use super::source::Source;
use crate::config::{Decode, Decoder};
use crate::diag::{Error, ErrorKind, Result};
use crate::load::FileLimit;
use crate::yaml::{Arena, Node, Place, first_document};
use minisign_verify::{PublicKey, Signature};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The name of the file.
pub const FILE: &str = "trust.yaml";

const KIND: &str = "TrustPolicy";

/// What a user trusts.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    /// The file; `None` if there is none, and nothing is asked.
    path: Option<PathBuf>,
    rules: Vec<Rule>,
}

/// What holds for the sources of a pattern.
#[derive(Clone, Debug)]
pub struct Rule {
    /// `*` is any part of a source or of a name in it, `**` at the end all that follows.
    pattern: String,
    is_allowed: bool,
    /// The minisign keys of which one has to have signed; none if no signature is asked for.
    keys: Vec<String>,
    /// How long a release has to have been there.
    min_age: Option<Duration>,
    /// What plugins are granted; `None` if the rule does not say, which grants nothing.
    permissions: Option<Permissions>,
    place: Option<Place>,
}

#[derive(Default)]
struct RawFile<'a> {
    api_version: &'a str,
    kind: &'a str,
    rules: Vec<RawRule<'a>>,
}

#[derive(Default)]
struct RawRule<'a> {
    source: &'a str,
    deny: bool,
    require: &'a str,
    keys: Vec<&'a str>,
    min_release_age: &'a str,
    permissions: Option<Permissions>,
    place: Option<Place>,
}

impl<'a> Decode<'a> for RawFile<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        cx.object(
            node,
            &mut [("apiVersion", &mut self.api_version), ("kind", &mut self.kind), ("rules", &mut self.rules)],
        )?;
        Ok(())
    }
}

impl<'a> Decode<'a> for RawRule<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        let mut permissions = Permissions::default();
        cx.object(
            node,
            &mut [
                ("source", &mut self.source),
                ("deny", &mut self.deny),
                ("require", &mut self.require),
                ("keys", &mut self.keys),
                ("minReleaseAge", &mut self.min_release_age),
                ("permissions", &mut permissions),
            ],
        )?;
        self.permissions = node.get("permissions").map(|_| permissions);
        self.place = cx.arena.place(node.pos);
        Ok(())
    }
}

fn refused(message: String) -> Error {
    Error::new(ErrorKind::Plugin, message)
}

impl Trust {
    /// Reads a file. One that is not there says nothing, unless it was asked for by name.
    ///
    /// # Errors
    /// It cannot be read, or is not of its form.
    pub fn read(path: &Path, is_named: bool) -> Result<Trust> {
        match FileLimit::default().read_to_string(path) {
            Ok(text) => Trust::parse(path, text),
            Err(e) if e.kind() == io::ErrorKind::NotFound && !is_named => Ok(Trust::default()),
            Err(e) => Err(Error::new(ErrorKind::Io, format!("cannot read '{}': {e}", path.display()))),
        }
    }

    fn parse(path: &Path, text: String) -> Result<Trust> {
        let arena = Arena::new();
        let source = arena.add_source(path.display().to_string(), text);
        let cx = Decoder::strict(&arena);
        let mut raw = RawFile::default();
        let node = first_document(&arena, source).map_err(|m| Error::malformed(&arena, m))?.unwrap_or_else(Node::null);
        raw.decode(&node, &cx)?;
        check_head(&cx, node.pos, (raw.api_version, raw.kind), KIND)?;
        let rules = raw.rules.into_iter().map(rule).collect::<Result<_>>()?;
        Ok(Trust { path: Some(path.to_owned()), rules })
    }

    /// What a plugin asks for that nothing grants: neither the rule for its source, nor `others`.
    ///
    /// # Errors
    /// The source is denied, or no rule allows it.
    pub fn ungranted(
        &self,
        source: &Source,
        asked: &Permissions,
        others: &Permissions,
        home: Option<&Path>,
    ) -> Result<Permissions> {
        let granted = self.rule(source)?.and_then(|rule| rule.permissions.clone()).unwrap_or_default();
        Ok(asked.beyond(&granted, home).beyond(others, home))
    }

    /// The rule for a source, the first that is for it; `None` if there is no file.
    ///
    /// # Errors
    /// It is denied, or no rule allows it.
    pub fn rule(&self, source: &Source) -> Result<Option<&Rule>> {
        let Some(path) = &self.path else { return Ok(None) };
        let shown = path.display();
        let Some(rule) = self.rules.iter().find(|rule| is_match(&rule.pattern, &source.to_string())) else {
            let error = refused(format!("the source '{source}' is not trusted: no rule in '{shown}' is for it"));
            return Err(error.hint(format!("if you trust it, add it there: - source: {source}")));
        };
        if rule.is_allowed {
            return Ok(Some(rule));
        }
        Err(refused(format!("the source '{source}' is denied by '{}' in '{shown}'", rule.pattern))
            .at(rule.place.clone()))
    }
}

/// Why a plugin may not run: it asks for what nobody has granted.
pub fn not_granted(source: &Source, beyond: &Permissions) -> Error {
    refused(format!("'{source}' asks for {beyond}, which nothing grants"))
        .hint(format!("if you trust it with that: rustomize plugin trust {source} {}", beyond.flags()))
}

/// The text of a file with one more rule, before all others, everything else as it was; an empty
/// text becomes a file.
///
/// # Errors
/// The file, or what becomes of it, is not of its form, or is written in a way that no line can be
/// added to.
pub fn with(path: &Path, text: &str, rule: &str) -> Result<String> {
    let text = match text.trim().is_empty() {
        true => format!("apiVersion: {API_VERSION}\nkind: {KIND}\nrules:\n"),
        false if text.ends_with('\n') => text.to_owned(),
        false => format!("{text}\n"),
    };
    Trust::parse(path, text.clone())?;
    let mut lines: Vec<&str> = text.lines().collect();
    let new = match lines.iter().position(|line| line.starts_with("rules:")) {
        None => format!("{text}rules:\n- {rule}\n"),
        Some(at) => {
            let rest = lines[at]["rules:".len()..].trim_start();
            if !(rest.is_empty() || rest.starts_with('#')) {
                let error = Error::input(format!("'rules' in '{}' is written on one line", path.display()));
                return Err(error.hint(format!("add it by hand: - {rule}")));
            }
            let first = lines[at + 1..].iter().find(|line| line.trim_start().starts_with('-'));
            let indent = first.map_or(0, |line| line.len() - line.trim_start().len());
            let line = format!("{}- {rule}", " ".repeat(indent));
            lines.insert(at + 1, &line);
            lines.join("\n") + "\n"
        }
    };
    Trust::parse(path, new.clone())?;
    Ok(new)
}

fn rule(raw: RawRule<'_>) -> Result<Rule> {
    let wrong = |message: String| Error::input(message).at(raw.place.clone());
    if raw.source.is_empty() {
        return Err(wrong("a rule has no 'source'".to_owned()).hint("as in source: github.com/acme/*"));
    }
    let asks = match (raw.require, raw.keys.is_empty()) {
        ("minisign", true) => return Err(wrong("a signature is required, and 'keys' says whose".to_owned())),
        ("minisign", false) | ("", false) => true,
        ("" | "checksum", true) => false,
        ("checksum", false) => return Err(wrong("there are keys, and 'require' asks for no signature".to_owned())),
        (other, _) => return Err(wrong(format!("'require' is 'checksum' or 'minisign', not '{other}'"))),
    };
    for key in raw.keys.iter().filter(|_| asks) {
        PublicKey::from_base64(key).map_err(|_| wrong(format!("'{key}' is no public key of minisign")))?;
    }
    let min_age = match raw.min_release_age {
        "" => None,
        text => Some(age(text).ok_or_else(|| wrong(format!("'{text}' is no time, as in 72h or 7d")))?),
    };
    Ok(Rule {
        pattern: raw.source.to_owned(),
        is_allowed: !raw.deny,
        keys: raw.keys.iter().map(|&key| key.to_owned()).collect(),
        min_age,
        permissions: raw.permissions,
        place: raw.place,
    })
}

fn age(text: &str) -> Option<Duration> {
    let units = [('m', 60), ('h', 3600), ('d', 86400)];
    let (number, seconds) = units.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(*unit)?, *seconds)))?;
    Some(Duration::from_secs(number.parse::<u64>().ok()?.checked_mul(seconds)?))
}

/// Whether a pattern is for a source. Part by part: `acme*` is not for what lies below another
/// owner.
fn is_match(pattern: &str, source: &str) -> bool {
    let mut parts = source.split('/');
    for wanted in pattern.split('/') {
        if wanted == "**" {
            return parts.next().is_some();
        }
        match parts.next() {
            Some(part) if is_like(wanted, part) => {}
            _ => return false,
        }
    }
    parts.next().is_none()
}

impl Rule {
    /// Whether a signature is asked for.
    pub fn wants_signature(&self) -> bool {
        !self.keys.is_empty()
    }

    /// Holds what a plugin asks for to what the rule says that plugins may be granted, if it says
    /// so.
    ///
    /// # Errors
    /// It asks for more.
    pub fn check_permissions(&self, source: &Source, asked: &Permissions, home: Option<&Path>) -> Result<()> {
        let beyond = self.permissions.as_ref().map(|granted| asked.beyond(granted, home)).unwrap_or_default();
        match beyond.is_empty() {
            true => Ok(()),
            false => Err(not_granted(source, &beyond).at(self.place.clone())),
        }
    }

    /// Whether what is installed was signed by one of the keys, where that is asked for.
    pub fn is_signed(&self, installed: &Installed) -> bool {
        !self.wants_signature() || installed.signer().is_some_and(|signer| self.keys.contains(&signer))
    }

    /// Holds content to the signature that came with it, and gives the key.
    ///
    /// # Errors
    /// It is by none of the keys, or of something else.
    pub fn check_signature(&self, shown: &str, content: &[u8], signature: &str) -> Result<&str> {
        let signature = Signature::decode(signature)
            .map_err(|_| refused(format!("the signature of '{shown}' is none of minisign")))?;
        let is_by =
            |key: &String| PublicKey::from_base64(key).is_ok_and(|key| key.verify(content, &signature, false).is_ok());
        if let Some(key) = self.keys.iter().find(|key| is_by(key)) {
            return Ok(key);
        }
        let message = format!("'{shown}' is not signed by one of the keys that are trusted for '{}'", self.pattern);
        Err(refused(message).at(self.place.clone()).hint("nothing was installed"))
    }

    /// Holds a release to the time that it has to have been there. `released` is when it came.
    ///
    /// # Errors
    /// It is younger, or nothing says how old it is.
    pub fn check_age(&self, shown: &str, released: Option<SystemTime>, now: SystemTime) -> Result<()> {
        let Some(wanted) = self.min_age else { return Ok(()) };
        let hours = |time: Duration| time.as_secs() / 3600;
        let message = match released.map(|released| now.duration_since(released).unwrap_or_default()) {
            Some(age) if age >= wanted => return Ok(()),
            Some(age) => format!("'{shown}' is {} hours old, and has to be {}", hours(age), hours(wanted)),
            None => format!("nothing says how old '{shown}' is, and it has to be {} hours", hours(wanted)),
        };
        Err(refused(message).at(self.place.clone()).hint("nothing was installed"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Trust, age, is_match, with};
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    const HEAD: &str = "apiVersion: rustomize.dev/v1\nkind: TrustPolicy\n";

    fn parse(rules: &str) -> Result<Trust, String> {
        Trust::parse(Path::new("trust.yaml"), format!("{HEAD}{rules}")).map_err(|e| e.to_string())
    }

    #[test]
    fn patterns_match_part_by_part() {
        for (pattern, yes, no) in [
            ("github.com/acme/*", "github.com/acme/app", "github.com/acme-evil/app"),
            ("github.com/acme/*", "github.com/acme/x", "github.com/acme/x/y"),
            ("github.com/**", "github.com/a/b/c", "gitlab.com/a/b"),
            ("*/acme/app-*", "h.io/acme/app-one", "h.io/acme/app"),
            ("h.io/a/b", "h.io/a/b", "h.io/a/bc"),
        ] {
            assert!(is_match(pattern, yes) && !is_match(pattern, no), "{pattern}");
        }
        assert_eq!(age("7d"), Some(Duration::from_secs(7 * 86400)));
        assert!(age("").is_none() && age("7").is_none() && age("-1h").is_none() && age("7\u{e9}").is_none());
    }

    #[test]
    fn the_first_rule_for_a_source_counts_and_others_are_refused() {
        let trust =
            parse("rules:\n- {source: h.io/acme/bad, deny: true}\n- {source: 'h.io/acme/*', minReleaseAge: 48h}\n")
                .unwrap();
        let rule = |source: &str| {
            trust.rule(&source.parse().unwrap()).map(|rule| rule.cloned().unwrap()).map_err(|e| e.to_string())
        };
        assert!(rule("h.io/acme/bad").unwrap_err().contains("is denied by 'h.io/acme/bad'"));
        assert!(rule("h.io/other/app").unwrap_err().contains("add it there: - source: h.io/other/app"));
        let good = rule("h.io/acme/app").unwrap();
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let before = |hours: u64| Some(now - Duration::from_secs(hours * 3600));
        assert!(good.check_age("x", before(48), now).is_ok());
        assert!(
            good.check_age("x", before(47), now).unwrap_err().to_string().contains("is 47 hours old, and has to be 48")
        );
        assert!(good.check_age("x", None, now).unwrap_err().to_string().contains("nothing says how old"));
        assert!(Trust::default().rule(&"h.io/any/thing".parse().unwrap()).unwrap().is_none());
    }

    #[test]
    fn a_rule_is_added_before_all_others() {
        let path = Path::new("trust.yaml");
        assert_eq!(with(path, "", "source: a/b/c").unwrap(), format!("{HEAD}rules:\n- source: a/b/c\n"));
        let text = format!("{HEAD}# whom\nrules: # first wins\n  # old\n  - source: x\n");
        let want = format!("{HEAD}# whom\nrules: # first wins\n  - source: a/b/c\n  # old\n  - source: x\n");
        assert_eq!(with(path, &text, "source: a/b/c").unwrap(), want);
        assert!(
            with(path, &format!("{HEAD}rules: []\n"), "source: a").unwrap_err().to_string().contains("on one line")
        );
        assert!(with(path, "", "sorce: a").unwrap_err().to_string().contains("unknown field"));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (rules, words) in [
            ("rules: [{deny: true}]\n", "no 'source'"),
            ("rules: [{source: x, require: minisign}]\n", "'keys' says whose"),
            ("rules: [{source: x, keys: [nonsense]}]\n", "no public key"),
            ("rules: [{source: x, require: gpg}]\n", "'checksum' or 'minisign'"),
            ("rules: [{source: x, minReleaseAge: soon}]\n", "no time"),
            ("rules: [{source: x, allow: true}]\n", "unknown field"),
        ] {
            let error = parse(rules).unwrap_err();
            assert!(error.contains(words), "{rules}: {error}");
        }
    }
}
