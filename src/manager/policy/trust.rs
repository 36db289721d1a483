//! [`Trust`]: `trust.yaml`, in which a user or an organisation says whose plugins may be installed,
//! and on what conditions.
//!
//! The file is with the user's own files, or where `RUSTOMIZE_TRUST` says. Nothing that a
//! repository holds changes it: `plugins.yaml` asks, this file grants. Without this file every
//! source is allowed; the lock file still pins its content.

use crate::config::{Decode, Decoder, Written, read_alone};
use crate::diag::{Code, Error, Result};
use crate::fetch::Download;
use crate::fetch::identity::PluginId;
use crate::fetch::origin::Origin;
use crate::id::content::sha256;
use crate::id::head::{FileHead, check_head};
use crate::id::name::Platform;
use crate::id::pattern::{SourcePattern, matches};
use crate::id::source::Source;
use crate::id::statement::Statement;
use crate::load::FileLimit;
use crate::load::host;
use crate::store::discover::Installed;
use minisign_verify::{PublicKey, Signature};
use rustomize_base::duration;
use rustomize_base::shell::quoted;
use rustomize_plugins::permissions::Permissions;
use rustomize_sources::ReadFile;
use rustomize_yaml::{Node, Place};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The name of the file.
pub const FILE: &str = "trust.yaml";

/// The kind of the file.
pub(super) const KIND: &str = "TrustPolicy";

/// A `from` that any place is.
pub const EVERYWHERE: &str = "**";

/// The trust rules of a user.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    /// The file; `None` without one, when every source is trusted.
    path: Option<PathBuf>,
    pub(super) rules: Vec<TrustRule>,
    /// The files of other configuration roots. They grant nothing; what one of them forbids is
    /// forbidden, and what one of them asks for is asked for.
    others: Vec<Trust>,
}

/// The rules for one plugin: the first that matches it of each file.
#[derive(Clone, Debug, Default)]
pub struct Ruling<'t> {
    /// The rule of the user's own file, which alone grants permissions.
    own: Option<&'t TrustRule>,
    others: Vec<&'t TrustRule>,
}

/// A trust rule: it holds for the sources of a pattern.
#[derive(Clone, Debug)]
pub struct TrustRule {
    pub(super) pattern: SourcePattern,
    /// Where they come from, as [`Origin`] says it, with `*` and `**` as in a pattern; `None` for
    /// the place that their source names.
    pub(super) from: Option<String>,
    pub(super) is_allowed: bool,
    /// The minisign keys of which one has to have signed; none if no signature is asked for.
    pub(super) keys: Vec<String>,
    /// The least age of a release.
    pub(super) min_age: Option<Duration>,
    /// The permissions that plugins are granted; a rule with `None` grants nothing.
    pub(super) permissions: Option<Permissions>,
    pub(super) place: Option<Place>,
}

#[derive(Default, Decode)]
struct RawTrust<'a> {
    api_version: Written<'a>,
    kind: Written<'a>,
    rules: Vec<RawTrustRule<'a>>,
}

#[derive(Default)]
struct RawTrustRule<'a> {
    source: &'a str,
    from: &'a str,
    deny: bool,
    require: &'a str,
    keys: Vec<&'a str>,
    min_release_age: &'a str,
    permissions: Option<Permissions>,
    place: Option<Place>,
}

// By hand: a rule knows its place in the file, and a null is a rule that has permissions.
impl<'a> Decode<'a> for RawTrustRule<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        let mut permissions = Permissions::default();
        cx.object(
            node,
            &mut [
                ("source", &mut self.source),
                ("from", &mut self.from),
                ("deny", &mut self.deny),
                ("require", &mut self.require),
                ("keys", &mut self.keys),
                ("minReleaseAge", &mut self.min_release_age),
                ("permissions", &mut permissions),
            ],
        )?;
        self.permissions = node.get("permissions").map(|_| permissions);
        self.place = cx.arena.place(node.pos());
        Ok(())
    }
}

fn refused(message: String) -> Error {
    Error::new(Code::PluginRefused, message)
}

impl Trust {
    /// Reads a file. A missing file is the same as no rules: every source is trusted.
    ///
    /// # Errors
    /// The file cannot be read, or is not valid.
    pub fn read(path: &Path) -> Result<Trust> {
        match FileLimit::default().read_to_string(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Trust::default()),
            read => Trust::of_text(path, read),
        }
    }

    /// Reads a file that has to exist.
    ///
    /// # Errors
    /// The file cannot be read, or is not valid.
    pub fn read_existing(path: &Path) -> Result<Trust> {
        Trust::of_text(path, FileLimit::default().read_to_string(path))
    }

    fn of_text(path: &Path, read: io::Result<String>) -> Result<Trust> {
        let text = read.map_err(|e| Error::io(&e, format!("cannot read '{}': {e}", path.display())))?;
        Trust::parse(path, text)
    }

    /// Reads the text of the trust file at `path`.
    ///
    /// # Errors
    /// The text is not a list of trust rules.
    pub fn parse(path: &Path, text: String) -> Result<Trust> {
        read_alone(path.display().to_string(), text, |arena, node| {
            let cx = Decoder::strict(arena);
            let mut raw = RawTrust::default();
            let null = Node::null();
            let node = node.unwrap_or(&null);
            raw.decode(node, &cx)?;
            check_head(&cx, node.pos(), FileHead { api_version: raw.api_version, kind: raw.kind }, KIND)?;
            let rules = raw.rules.into_iter().map(rule).collect::<Result<_>>()?;
            Ok(Trust { path: Some(path.to_owned()), rules, others: Vec::new() })
        })
    }

    /// The same rules, and in addition all that files of other configuration roots forbid.
    pub fn with(self, others: Vec<Trust>) -> Trust {
        Trust { others: others.into_iter().filter(|other| other.path.is_some()).collect(), ..self }
    }

    /// The permissions that a plugin asks for, and that neither the rule for its source nor
    /// `others` grants.
    ///
    /// # Errors
    /// The source is denied, or no rule allows it.
    pub fn ungranted(
        &self,
        source: &Source,
        origin: &Origin,
        asked: &Permissions,
        others: &Permissions,
        home: Option<&Path>,
    ) -> Result<Permissions> {
        let granted = self.rule(source, origin)?.own.and_then(|rule| rule.permissions.clone()).unwrap_or_default();
        Ok(asked.beyond(&granted, home).beyond(others, home))
    }

    /// The first rule of each file that matches a source and its origin; none without a trust file.
    ///
    /// # Errors
    /// A rule denies the source, or a file has no rule that allows it.
    pub fn rule(&self, source: &Source, origin: &Origin) -> Result<Ruling<'_>> {
        let others = self.others.iter().map(|other| other.rule_of_file(source, origin));
        let others = others.filter_map(Result::transpose).collect::<Result<Vec<_>>>()?;
        Ok(Ruling { own: self.rule_of_file(source, origin)?, others })
    }

    fn rule_of_file(&self, source: &Source, origin: &Origin) -> Result<Option<&TrustRule>> {
        let Some(path) = &self.path else { return Ok(None) };
        let shown = path.display();
        let Some(rule) = self.rules.iter().find(|rule| rule.is_for(source, origin)) else {
            let message = format!("the source '{source}'{origin} is not trusted: no rule in '{shown}' is for it");
            let rule = match origin {
                Origin::Own => format!("- source: {}", in_yaml(&source.to_string())),
                Origin::Elsewhere(text) => {
                    let (source, from) = (in_yaml(&source.to_string()), in_yaml(text));
                    format!("- {{source: {source}, from: {from}}}")
                }
            };
            let command = format!("rustomize plugin trust {} {}", word(source), origin.flag());
            return Err(refused(message)
                .hint(format!("if you trust it, add this rule there: {rule}"))
                .hint(format!("or let this command add it: {}", command.trim_end())));
        };
        if rule.is_allowed {
            return Ok(Some(rule));
        }
        let pattern = rule.pattern.text();
        Err(refused(format!("the source '{source}'{origin} is denied by '{pattern}' in '{shown}'"))
            .at(rule.place.clone()))
    }

    /// Returns whether there is a file.
    pub fn is_there(&self) -> bool {
        self.path.is_some() || !self.others.is_empty()
    }

    /// Checks that a server may be asked for the bundles of an environment. Rules know these as the
    /// source `<host and path of the server>/environment/<name in lower case>`. Bundles have no
    /// signature and no age, so no rule that asks for one is met.
    ///
    /// # Errors
    /// A rule denies the server, no rule allows it, or the rule asks for a signature or an age.
    pub fn check_server(&self, server: &str, environment: &str) -> Result<()> {
        if !self.is_there() {
            return Ok(());
        }
        let url = host::without_user(server);
        let source: Source = bundles_of(server, environment)
            .parse()
            .map_err(|e| refused(format!("a trust rule cannot name '{environment}' of '{url}': its source {e}")))?;
        let ruling = self.rule(&source, &Origin::Own)?;
        let asks = |rule: &&TrustRule| rule.wants_signature() || rule.min_age.is_some();
        let Some(rule) = ruling.rules().find(asks) else { return Ok(()) };
        let asked = if rule.wants_signature() { "a signature" } else { "an age" };
        let message =
            format!("a rule asks for {asked}, and '{environment}' of '{url}' has neither a signature nor an age");
        Err(refused(message)
            .at(rule.place.clone())
            .hint(format!("put a rule for it alone before that one: - source: {}", in_yaml(&source.to_string()))))
    }

    /// The rule for what is installed, which was signed where that is asked for.
    ///
    /// # Errors
    /// A rule denies the plugin, no rule allows it, or its record has no signer.
    pub fn check_installed(&self, installed: &Installed) -> Result<()> {
        let source = &installed.source;
        if self.rule(source, &installed.record.origin)?.rules().all(|rule| rule.is_signed(installed)) {
            return Ok(());
        }
        let (why, when) = match &installed.record.signer {
            None => ("has no record of a signature", "it was installed before the rule asked for that"),
            Some(_) => ("was signed with another key", "its author may have signed it again"),
        };
        let message = format!("'{source}' has to be signed, and its installed version {why}");
        let command = format!("rustomize plugin install {}", word(source));
        Err(refused(message).hint(format!("{when}; install it again: {command}")))
    }
}

/// The source, as rules name it, of the bundles that a server has for an environment.
fn bundles_of(server: &str, environment: &str) -> String {
    let rest = server.split_once("://").map_or(server, |(_, rest)| rest);
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host::canonical(host).unwrap_or_else(|| host.to_owned());
    let name = environment.to_lowercase();
    let parts = [&host, path.trim_end_matches('/'), "environment", &name];
    parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("/")
}

/// A source as a word for a shell.
fn word(source: &Source) -> String {
    quoted(&source.to_string())
}

/// A text in YAML: in quotes if it is more than letters, digits and the marks of addresses.
fn in_yaml(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"./_-+".contains(&byte);
    let is_word = text.bytes().all(is_plain) && text.starts_with(|c: char| c.is_ascii_alphabetic());
    if is_word { text.to_owned() } else { format!("'{}'", text.replace('\'', "''")) }
}

/// The error of a plugin that asks for permissions that it was not granted.
pub fn not_granted(source: &Source, origin: &Origin, beyond: &Permissions) -> Error {
    refused(format!("'{source}' asks for {beyond}, which is not granted"))
        .hint(format!("if you trust it with that: {}", grant(source, origin, beyond)))
}

/// The command that grants something.
pub fn grant(source: &Source, origin: &Origin, beyond: &Permissions) -> String {
    format!("rustomize plugin trust {} {}{}", word(source), origin.flag(), beyond.flags())
}

fn rule(raw: RawTrustRule<'_>) -> Result<TrustRule> {
    let wrong = |message: String| Error::new(Code::BadValue, message).at(raw.place.clone());
    if raw.source.is_empty() {
        return Err(wrong("a rule has no 'source'".to_owned()).hint("as in source: github.com/acme/*"));
    }
    let pattern = SourcePattern::parse(raw.source).map_err(|e| {
        let error = wrong(format!("the pattern '{}' {e}", raw.source));
        e.hint().into_iter().fold(error, Error::hint)
    })?;
    let from = from_of(&pattern, raw.from).map_err(wrong)?;
    let asks = match (raw.require, raw.keys.is_empty()) {
        ("minisign", true) => return Err(wrong("a signature is required, and 'keys' says whose".to_owned())),
        ("minisign", false) | ("", false) => true,
        ("" | "checksum", true) => false,
        ("checksum", false) => return Err(wrong("there are keys, and 'require' asks for no signature".to_owned())),
        (other, _) => return Err(wrong(format!("'require' is 'checksum' or 'minisign', not '{other}'"))),
    };
    for key in raw.keys.iter().filter(|_| asks) {
        PublicKey::from_base64(key).map_err(|_| {
            wrong(format!("'{key}' is not a public key of minisign"))
                .hint("a public key is the second line of a file minisign.pub, and begins with RW")
        })?;
    }
    let min_age = match raw.min_release_age {
        "" => None,
        text => Some(
            duration::parse(text)
                .map_err(|_| wrong(format!("invalid time '{text}': expected a number and a unit, as in 72h or 7d")))?,
        ),
    };
    Ok(TrustRule {
        pattern,
        from,
        is_allowed: !raw.deny,
        keys: raw.keys.iter().map(|&key| key.to_owned()).collect(),
        min_age,
        permissions: raw.permissions,
        place: raw.place,
    })
}

/// The `from` of a rule, held to what an [`Origin`] can be.
fn from_of(pattern: &SourcePattern, from: &str) -> std::result::Result<Option<String>, String> {
    if from.starts_with('.') {
        return Err(format!("'from' is the relative path '{from}': a rule needs an absolute path"));
    }
    Origin::of_rule(pattern.text(), from, Path::new("/")).map_err(|e| e.to_string())
}

/// Who signed a file, and what the signature says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedBy {
    /// The public key.
    pub key: String,
    pub statement: Statement,
}

impl<'t> Ruling<'t> {
    fn rules(&self) -> impl Iterator<Item = &'t TrustRule> {
        self.own.into_iter().chain(self.others.iter().copied())
    }

    /// Returns whether a signature is asked for.
    pub fn wants_signature(&self) -> bool {
        self.rules().any(TrustRule::wants_signature)
    }

    /// As [`TrustRule::check_permissions`], for each rule.
    ///
    /// # Errors
    /// A plugin asks for more than a rule says that it may be granted.
    pub fn check_permissions(&self, id: &PluginId, asked: &Permissions, home: Option<&Path>) -> Result<()> {
        self.rules().try_for_each(|rule| rule.check_permissions(&id.source, &id.origin, asked, home))
    }

    /// As [`TrustRule::check_age`], for each rule.
    ///
    /// # Errors
    /// A release is younger than a rule asks for, or nothing says how old it is.
    pub fn check_age(&self, shown: &str, released: Option<SystemTime>, now: SystemTime) -> Result<()> {
        self.rules().try_for_each(|rule| rule.check_age(shown, released, now))
    }

    /// Holds a file to its signature, which has to be by one of the keys of each rule that asks for
    /// a signature, and has to say that it is for this plugin.
    ///
    /// # Errors
    /// The signature is by another key, of another file or of another plugin, or does not name its
    /// plugin.
    pub fn check_signature(
        &self,
        download: &Download,
        source: &Source,
        content: &[u8],
        signature: &str,
    ) -> Result<SignedBy> {
        let mut key = "";
        for rule in self.rules().filter(|rule| rule.wants_signature()) {
            key = rule.check_signature(&download.url, content, signature)?;
        }
        let statement = stated(download, source, content, signature)?;
        Ok(SignedBy { key: key.to_owned(), statement })
    }
}

/// The statement of a signature that was checked, held to what the file is.
fn stated(download: &Download, source: &Source, content: &[u8], signature: &str) -> Result<Statement> {
    let (shown, platform) = (&download.url, download.platform.to_string());
    let comment = Signature::decode(signature).map(|signature| signature.trusted_comment().to_owned());
    let comment = comment.unwrap_or_default();
    let again = format!("its author signs it again: rustomize plugin package --key FILE --source {source}");
    let Some(statement) = Statement::parse(&comment) else {
        let message = format!("the signature of '{shown}' does not say which plugin it is of");
        return Err(refused(message).hint(again).hint(format!(
            "or with minisign, for each file: -t 'rustomize-plugin source={source} version=VERSION \
             platform={platform} sha256=SUM'"
        )));
    };
    let any = Platform::any().to_string();
    // A download for any platform is one whose address does not say for which it is.
    let is_platform = [&platform, &any].contains(&&statement.platform)
        || (platform == any && statement.platform == Platform::host().to_string());
    let sum = sha256(content).map_err(|e| Error::new(Code::Io, e.to_string()))?;
    let what = match () {
        () if statement.source != *source => format!("the plugin '{}'", statement.source),
        () if !is_platform => format!("the platform {}", statement.platform),
        () if statement.sum != sum => "another file".to_owned(),
        () => return Ok(statement),
    };
    Err(refused(format!("the signature of '{shown}' is for {what}, and not for '{source}' on {platform}"))
        .hint("whoever put it there may have taken it from another release of the same author; nothing was installed"))
}

impl TrustRule {
    /// Returns true if the rule matches a source and its origin. A rule that denies also matches
    /// everything that is fetched from its address, under any source.
    fn is_for(&self, source: &Source, origin: &Origin) -> bool {
        let is_source = self.pattern.is_for(&source.to_string());
        match (&self.from, origin) {
            (None, _) if !self.is_allowed => {
                is_source || origin.address().is_some_and(|address| self.pattern.is_above(&address))
            }
            (None, Origin::Own) => is_source,
            (None, Origin::Elsewhere(_)) => false,
            (Some(from), Origin::Own) => is_source && from == EVERYWHERE,
            (Some(from), Origin::Elsewhere(text)) => is_source && (from == EVERYWHERE || matches(from, text)),
        }
    }

    /// Returns whether a signature is asked for.
    pub fn wants_signature(&self) -> bool {
        !self.keys.is_empty()
    }

    /// Holds what a plugin asks for to what the rule says that plugins may be granted, if it says
    /// so.
    ///
    /// # Errors
    /// The plugin asks for a permission that the rule does not grant.
    pub fn check_permissions(
        &self,
        source: &Source,
        origin: &Origin,
        asked: &Permissions,
        home: Option<&Path>,
    ) -> Result<()> {
        let beyond = self.permissions.as_ref().map(|granted| asked.beyond(granted, home)).unwrap_or_default();
        match beyond.is_empty() {
            true => Ok(()),
            false => Err(not_granted(source, origin, &beyond).at(self.place.clone())),
        }
    }

    /// Returns whether what is installed was signed by one of the keys, where that is asked for.
    pub fn is_signed(&self, installed: &Installed) -> bool {
        !self.wants_signature() || installed.record.signer.as_ref().is_some_and(|signer| self.keys.contains(signer))
    }

    /// Holds content to the signature that came with it, and gives the key.
    ///
    /// # Errors
    /// The signature is by none of the keys, or of other bytes.
    pub fn check_signature(&self, shown: &str, content: &[u8], signature: &str) -> Result<&str> {
        let signature = Signature::decode(signature)
            .map_err(|_| refused(format!("the signature of '{shown}' is not a minisign signature")))?;
        let is_by =
            |key: &String| PublicKey::from_base64(key).is_ok_and(|key| key.verify(content, &signature, false).is_ok());
        if let Some(key) = self.keys.iter().find(|key| is_by(key)) {
            return Ok(key);
        }
        let message =
            format!("'{shown}' is not signed by one of the keys that are trusted for '{}'", self.pattern.text());
        Err(refused(message).at(self.place.clone()).hint("nothing was installed"))
    }

    /// Holds a release to the time that it has to have been there. `released` is when it came.
    ///
    /// # Errors
    /// The release is younger, or its age is not known.
    pub fn check_age(&self, shown: &str, released: Option<SystemTime>, now: SystemTime) -> Result<()> {
        let Some(wanted) = self.min_age else { return Ok(()) };
        let hours = |time: Duration| time.as_secs() / 3600;
        let message = match released.map(|released| now.duration_since(released).unwrap_or_default()) {
            Some(age) if age >= wanted => return Ok(()),
            Some(age) => format!("'{shown}' is {} hours old, and has to be {}", hours(age), hours(wanted)),
            None => format!("the age of '{shown}' is unknown, and it has to be {} hours", hours(wanted)),
        };
        Err(refused(message).at(self.place.clone()).hint("nothing was installed"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Origin, Permissions, Trust};
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    const HEAD: &str = "apiVersion: rustomize.dev/v1\nkind: TrustPolicy\n";

    fn parse(rules: &str) -> Result<Trust, String> {
        Trust::parse(Path::new("trust.yaml"), format!("{HEAD}{rules}")).map_err(|e| e.to_string())
    }

    #[test]
    fn ages_have_units() {
        let parsed = |age: &str| parse(&format!("rules:\n- {{source: h.io/a/b, minReleaseAge: '{age}'}}\n"));
        assert!(parsed("7d").is_ok() && parsed("1h30m").is_ok());
        for age in ["7", "-1h", "7\u{e9}"] {
            assert!(parsed(age).unwrap_err().contains("invalid time"), "{age}");
        }
    }

    #[test]
    fn the_first_rule_for_a_source_counts_and_others_are_refused() {
        let trust =
            parse("rules:\n- {source: h.io/acme/bad, deny: true}\n- {source: 'h.io/acme/*', minReleaseAge: 48h}\n")
                .unwrap();
        let rule = |source: &str| {
            trust
                .rule(&source.parse().unwrap(), &Origin::Own)
                .map(|ruling| ruling.own.cloned().unwrap())
                .map_err(|e| e.to_string())
        };
        assert!(rule("h.io/acme/bad").unwrap_err().contains("is denied by 'h.io/acme/bad'"));
        assert!(rule("h.io/other/app").unwrap_err().contains("add this rule there: - source: h.io/other/app"));
        let good = rule("h.io/acme/app").unwrap();
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let before = |hours: u64| Some(now - Duration::from_secs(hours * 3600));
        assert!(good.check_age("x", before(48), now).is_ok());
        assert!(
            good.check_age("x", before(47), now).unwrap_err().to_string().contains("is 47 hours old, and has to be 48")
        );
        assert!(good.check_age("x", None, now).unwrap_err().to_string().contains("is unknown"));
        assert!(Trust::default().rule(&"h.io/any/thing".parse().unwrap(), &Origin::Own).unwrap().own.is_none());
    }

    #[test]
    fn a_rule_is_for_a_source_from_a_place() {
        let trust = parse(
            "rules:\n- {source: 'evil.io/**', deny: true}\n- {source: 'h.io/a/*', from: 'https://h.io/**'}\n\
             - {source: 'h.io/a/*'}\n- {source: 'x.io/**', from: '**'}\n",
        );
        let trust = trust.unwrap();
        let line = |source: &str, from: &str| {
            let origin = if from.is_empty() { Origin::Own } else { Origin::Elsewhere(from.to_owned()) };
            let rule = trust.rule(&source.parse().unwrap(), &origin).ok()?.own?;
            rule.place.as_ref().map(|place| place.line)
        };
        for (source, from, want) in [
            ("h.io/a/p", "", Some(6)),
            ("h.io/a/p", "https://h.io/x/y", Some(5)),
            ("h.io/a/p", "/w/p", None),
            ("h.io/a/p", "https://evil.io/x", None),
            ("x.io/a/p", "", Some(7)),
            ("x.io/a/p", "/w/p", Some(7)),
            ("x.io/a/p", "git::https://evil.io/a/b.git", None),
            ("evil.io/a/p", "/w/p", None),
        ] {
            assert_eq!(line(source, from), want, "{source} {from}");
        }
    }

    #[test]
    fn what_another_root_forbids_is_forbidden_and_it_grants_nothing() {
        let key = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
        let other = parse(&format!(
            "rules:\n- {{source: h.io/a/bad, deny: true}}\n\
             - {{source: h.io/a/signed, keys: [{key}], permissions: {{network: true}}}}\n- {{source: 'h.io/a/*'}}\n"
        ));
        let own = "rules:\n- {source: '**', from: '**'}\n";
        for own in [parse(own).unwrap(), Trust::default()] {
            let trust = own.with(vec![other.clone().unwrap(), Trust::default()]);
            let rule = |source: &str| trust.rule(&source.parse().unwrap(), &Origin::Own).map_err(|e| e.to_string());
            assert!(rule("h.io/a/bad").unwrap_err().contains("is denied by"));
            assert!(rule("x.io/a/b").unwrap_err().contains("is not trusted"));
            assert!(rule("h.io/a/signed").unwrap().wants_signature() && !rule("h.io/a/b").unwrap().wants_signature());
            assert!(trust.is_there());
            let asked = Permissions { network: true, ..Permissions::default() };
            let source = "h.io/a/signed".parse().unwrap();
            let beyond = trust.ungranted(&source, &Origin::Own, &asked, &Permissions::default(), None).unwrap();
            assert_eq!(beyond, asked);
        }
    }

    #[test]
    fn a_server_is_a_source_for_each_environment() {
        let trust = parse(
            "rules:\n- {source: 'evil.io/**', deny: true}\n- {source: h.io/environment/prod}\n\
             - {source: h.io/a/b/environment/prod}\n- {source: 'old.io/**', minReleaseAge: 1h}\n",
        )
        .unwrap();
        let check = |server: &str, name: &str| trust.check_server(server, name).map_err(|e| e.to_string());
        for (server, name, words) in [
            ("https://h.io", "prod", ""),
            ("https://u:p@H.io.:443/", "Prod", ""),
            ("https://h.io/a/b/", "prod", ""),
            ("https://h.io", "test", "no rule in 'trust.yaml' is for it"),
            ("https://h.io/a", "prod", "plugin trust h.io/a/environment/prod"),
            ("https://h.io:8443", "prod", "h.io:8443/environment/prod"),
            ("https://h.io/A/b", "prod", "a trust rule cannot name 'prod' of 'https://h.io/A/b'"),
            ("https://h.io/a?x", "prod", "a trust rule cannot name"),
            ("https://evil.io", "prod", "is denied by 'evil.io/**'"),
            ("https://old.io", "prod", "a rule asks for an age"),
        ] {
            let said = check(server, name).err().unwrap_or_default();
            assert!(said.contains(words) && said.is_empty() == words.is_empty(), "{server} {name}: {said}");
        }
        assert!(Trust::default().check_server("https://any", "prod").is_ok());
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (rules, words) in [
            ("rules: [{deny: true}]\n", "no 'source'"),
            ("rules: [{source: h.io/a}]\n", "fewer than three parts"),
            ("rules: [{source: H.io/a/b}]\n", "write it as 'h.io/a/b'"),
            ("rules: [{source: h.io/a/b, from: ./p}]\n", "needs an absolute path"),
            ("rules: [{source: h.io/a/b, from: 'https://H.io/p'}]\n", "another spelling of 'https://h.io/p'"),
            ("rules: [{source: h.io/a/b, require: minisign}]\n", "'keys' says whose"),
            ("rules: [{source: h.io/a/b, keys: [nonsense]}]\n", "is not a public key"),
            ("rules: [{source: h.io/a/b, require: gpg}]\n", "'checksum' or 'minisign'"),
            ("rules: [{source: h.io/a/b, minReleaseAge: soon}]\n", "invalid time"),
            ("rules: [{source: h.io/a/b, allow: true}]\n", "unknown field"),
        ] {
            let error = parse(rules).unwrap_err();
            assert!(error.contains(words), "{rules}: {error}");
        }
    }
}
