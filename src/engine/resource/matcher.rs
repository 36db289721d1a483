//! [`Matcher`]: a compiled [`Selector`].

use super::{DEFAULT_NAMESPACE, Hint, Metadatum, ResId, Resource};
use crate::config::Selector;
use crate::diag::{Code, Error, Result};
use crate::schema::Gvk;
use rustomize_base::meter;
use rustomize_go_regexp::{self as go_regexp, GoRegex};

/// The advice for a pattern that is not valid.
const PATTERN_HINT: &str =
    "it is a regular expression in Go's syntax: write '.*' for any text, and '\\' in front of a sign that means itself";

/// Characters that mean something in a pattern. A text without them matches itself alone.
pub(crate) const META: [char; 14] = ['\\', '.', '+', '*', '?', '(', ')', '|', '[', ']', '{', '}', '^', '$'];

/// One part of a selector, classified once: most are literals, which need no pattern engine.
#[derive(Clone, Debug)]
pub enum Pattern<'a> {
    Any,
    Literal(&'a str),
    Regex(GoRegex),
}

/// The pattern that matches a text if `text` matches the whole of that text. Upstream writes it in
/// this way, so that `a)|(?:b` is a valid text.
fn whole(text: &str) -> String {
    format!("^(?:{text})$")
}

impl<'a> Pattern<'a> {
    /// Compiles a pattern that must match a whole text.
    ///
    /// # Errors
    /// The text is not a valid regular expression.
    pub fn new(text: &'a str) -> Result<Self> {
        if text.is_empty() {
            return Ok(Pattern::Any);
        }
        if !text.contains(META) {
            return Ok(Pattern::Literal(text));
        }
        GoRegex::new(&whole(text)).map(Pattern::Regex).map_err(|e| {
            Error::new(Code::BadPattern, format!("the pattern '{text}' is not valid: {e}")).hint(PATTERN_HINT)
        })
    }

    /// Returns true if the whole text matches.
    pub fn is_match(&self, text: &str) -> bool {
        meter::count(1);
        match self {
            Pattern::Any => true,
            Pattern::Literal(literal) => *literal == text,
            Pattern::Regex(regex) => regex.is_match(text),
        }
    }
}

/// A compiled [`Selector`].
#[derive(Debug)]
pub struct Matcher<'a> {
    group: Pattern<'a>,
    version: Pattern<'a>,
    kind: Pattern<'a>,
    name: Pattern<'a>,
    namespace: Pattern<'a>,
    /// True if a resource without namespace is in the namespace `default`.
    has_default: bool,
    /// The beginnings of all names that the pattern for names matches.
    name_starts: Option<Vec<String>>,
    // Upstream reads these only once a resource has passed the rest, so that an invalid selector
    // may remain unnoticed.
    annotations: Result<Requirements<'a>, String>,
    labels: Result<Requirements<'a>, String>,
}

impl<'a> Matcher<'a> {
    /// Compiles a selector.
    ///
    /// # Errors
    /// A part is not a valid regular expression.
    pub fn new(selector: &Selector<'a>) -> Result<Self> {
        let name = Pattern::new(selector.name)?;
        let name_starts =
            if matches!(name, Pattern::Regex(_)) { go_regexp::starts(&whole(selector.name)) } else { None };
        Ok(Matcher {
            group: Pattern::new(selector.group)?,
            version: Pattern::new(selector.version)?,
            kind: Pattern::new(selector.kind)?,
            name,
            name_starts,
            namespace: Pattern::new(selector.namespace)?,
            has_default: false,
            annotations: Requirements::parse(selector.annotation_selector),
            labels: Requirements::parse(selector.label_selector),
        })
    }

    /// A selector whose parts are texts, as those of replacements were before kustomize v5.8.0.
    pub fn of_literals(selector: &Selector<'a>) -> Self {
        let literal = |text: &'a str| if text.is_empty() { Pattern::Any } else { Pattern::Literal(text) };
        Matcher {
            group: literal(selector.group),
            version: literal(selector.version),
            kind: literal(selector.kind),
            name: literal(selector.name),
            name_starts: None,
            namespace: literal(selector.namespace),
            has_default: true,
            annotations: Requirements::parse(selector.annotation_selector),
            labels: Requirements::parse(selector.label_selector),
        }
    }

    /// The literal parts of the selector, by which its resources are found.
    pub fn hint(&self) -> Hint<'_> {
        let literal = |pattern: &Pattern<'a>| match pattern {
            Pattern::Literal(text) => Some(*text),
            _ => None,
        };
        Hint {
            kind: literal(&self.kind),
            group: literal(&self.group),
            version: literal(&self.version),
            name: literal(&self.name),
            namespace: literal(&self.namespace),
            entry: self.entry(),
            name_starts: self.name_starts.as_deref(),
        }
    }

    /// Returns true if the selector asks for labels, annotations, or names by a pattern: it is
    /// meant for several resources then.
    pub fn is_meant_for_several(&self) -> bool {
        let asks =
            |requirements: &Result<Requirements<'a>, String>| requirements.as_ref().is_ok_and(|r| !r.0.is_empty());
        matches!(self.name, Pattern::Regex(_)) || asks(&self.labels) || asks(&self.annotations)
    }

    /// A label or an annotation that the selector asks for. None is returned if a selector does
    /// not parse: that is an error for each resource that has passed the rest.
    fn entry(&self) -> Option<Metadatum<'_>> {
        let labels = self.labels.as_ref().ok()?;
        let annotations = self.annotations.as_ref().ok();
        let with_value = labels.entry("labels").or_else(|| annotations?.entry("annotations"));
        with_value.or_else(|| labels.key("labels")).or_else(|| annotations?.key("annotations"))
    }

    /// Returns true if a resource is the target of a patch: namespace and name match the current or
    /// the original id, the rest matches the current one. O(length of the texts).
    ///
    /// # Errors
    /// A label or annotation selector that does not parse, once it is reached.
    pub fn is_match(&self, resource: &Resource<'_>) -> Result<bool> {
        self.is_match_by(resource, Ids::OriginalOrCurrent)
    }

    /// Returns true if a resource is selected, by the ids that count.
    ///
    /// # Errors
    /// As [`Matcher::is_match`].
    pub fn is_match_by(&self, resource: &Resource<'_>, ids: Ids) -> Result<bool> {
        let by_id = match ids {
            Ids::OriginalOrCurrent => self.is_match_by_names(resource),
            Ids::Any => self.is_match_by_any_id(resource),
        };
        Ok(by_id && self.is_match_by_metadata(resource)?)
    }

    /// Returns true if this, as an entry of `reject`, rejects a resource: by any of its ids, or by
    /// its metadata.
    ///
    /// # Errors
    /// As [`Matcher::is_match`].
    pub fn rejects(&self, resource: &Resource<'_>) -> Result<bool> {
        if self.asks_for_id() && self.is_match_by_any_id(resource) {
            return Ok(true);
        }
        Ok(self.asks_for_metadata() && self.is_match_by_metadata(resource)?)
    }

    /// Hints that find the resources that this rejects: by any of their ids, and by their metadata.
    pub fn reject_hints(&self) -> impl Iterator<Item = Hint<'_>> {
        let by_id = self.asks_for_id().then(|| Hint { entry: None, ..self.hint() });
        let by_metadata = self.asks_for_metadata().then(|| Hint { entry: self.entry(), ..Hint::default() });
        by_id.into_iter().chain(by_metadata)
    }

    fn asks_for_id(&self) -> bool {
        let parts = [&self.group, &self.version, &self.kind, &self.name, &self.namespace];
        parts.iter().any(|p| !matches!(p, Pattern::Any))
    }

    fn asks_for_metadata(&self) -> bool {
        [&self.labels, &self.annotations].iter().any(|r| r.as_ref().map_or(true, |r| !r.0.is_empty()))
    }

    fn is_match_by_names(&self, resource: &Resource<'_>) -> bool {
        // Patterns are mostly for names: the comparison of kinds is cheaper and comes first.
        let current = resource.id();
        if !self.is_match_gvk(&current.gvk) {
            return false;
        }
        let original = resource.original_id();
        let either = |p: &Pattern<'_>, a: &str, b: &str| p.is_match(a) || p.is_match(b);
        either(&self.namespace, current.effective_namespace(), original.effective_namespace())
            && either(&self.name, current.name, original.name)
    }

    /// Compares all parts with one id. The current id counts with its namespace as written, others
    /// with the namespace that was noted: the effective one, unless the note is from a manifest.
    fn is_match_by_any_id(&self, resource: &Resource<'_>) -> bool {
        let is_match = |id: &ResId<'_>| {
            let is_default = self.has_default && id.namespace.is_empty();
            let namespace = if is_default { DEFAULT_NAMESPACE } else { id.namespace };
            self.name.is_match(id.name) && self.namespace.is_match(namespace) && self.is_match_gvk(&id.gvk)
        };
        resource.any_ids().any(|id| is_match(&id))
    }

    fn is_match_gvk(&self, gvk: &Gvk<'_>) -> bool {
        self.kind.is_match(gvk.kind) && self.version.is_match(gvk.version) && self.group.is_match(gvk.group)
    }

    fn is_match_by_metadata(&self, resource: &Resource<'_>) -> Result<bool> {
        let bad = |what: &str, e: &String| {
            let error = Error::new(Code::BadPattern, format!("the {what} does not parse: {e}"));
            error.hint(format!("write it as in {what}: app=web, or {what}: app in (web, api)"))
        };
        let labels = self.labels.as_ref().map_err(|e| bad("labelSelector", e))?;
        if !labels.is_match(|key| resource.label(key)) {
            return Ok(false);
        }
        let annotations = self.annotations.as_ref().map_err(|e| bad("annotationSelector", e))?;
        Ok(annotations.is_match(|key| resource.annotation(key)))
    }
}

/// The ids of a resource that a selector is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ids {
    /// The original and the current id, part by part.
    OriginalOrCurrent,
    /// Each id that the resource has or had, as a whole.
    Any,
}

/// A Kubernetes label selector: all its requirements must hold.
#[derive(Debug, Default)]
pub struct Requirements<'a>(Vec<Requirement<'a>>);

#[derive(Debug)]
struct Requirement<'a> {
    key: &'a str,
    test: Test<'a>,
}

#[derive(Debug)]
enum Test<'a> {
    Exists,
    Absent,
    In(Vec<&'a str>),
    NotIn(Vec<&'a str>),
    Greater(i64),
    Less(i64),
}

impl<'a> Requirements<'a> {
    /// Parses the selector grammar: `k=v`, `k==v`, `k!=v`, `k in (a,b)`, `k notin (a,b)`, `k`,
    /// `!k`, `k>5`, `k<5`, separated by commas.
    ///
    /// # Errors
    /// A message that says which part of the text is invalid.
    pub fn parse(text: &'a str) -> Result<Self, String> {
        let mut requirements = Vec::new();
        let mut rest = text.trim();
        if rest.is_empty() {
            return Ok(Requirements(requirements));
        }
        loop {
            let (requirement, after) = Requirement::parse(rest)?;
            requirements.push(requirement);
            rest = after.trim_start();
            match rest.strip_prefix(',') {
                Some(after) => rest = after.trim_start(),
                None if rest.is_empty() => return Ok(Requirements(requirements)),
                None => return Err(format!("expected ',' before '{rest}'")),
            }
        }
    }

    fn is_match<'v>(&self, value: impl Fn(&str) -> Option<&'v str>) -> bool {
        self.0.iter().all(|r| r.test.holds(value(r.key)))
    }

    /// The first entry that a resource must have with one of some values.
    fn entry(&self, map: &'static str) -> Option<Metadatum<'_>> {
        self.0.iter().find_map(|requirement| match &requirement.test {
            Test::In(values) => Some(Metadatum { map, key: requirement.key, values: Some(values) }),
            _ => None,
        })
    }

    /// The first entry that a resource must have, with any value.
    fn key(&self, map: &'static str) -> Option<Metadatum<'_>> {
        let must_have = |test: &Test<'_>| matches!(test, Test::Exists | Test::Greater(_) | Test::Less(_));
        let requirement = self.0.iter().find(|requirement| must_have(&requirement.test))?;
        Some(Metadatum { map, key: requirement.key, values: None })
    }
}

impl<'a> Requirement<'a> {
    fn parse(text: &'a str) -> Result<(Self, &'a str), String> {
        if let Some(rest) = text.strip_prefix('!') {
            let (key, rest) = word(rest.trim_start());
            return Ok((Requirement { key: valid_key(key)?, test: Test::Absent }, rest));
        }
        let (key, rest) = word(text);
        let key = valid_key(key)?;
        let rest = rest.trim_start();
        let (test, rest) = if let Some(rest) = rest.strip_prefix("==").or_else(|| rest.strip_prefix('=')) {
            let (value, rest) = word(rest.trim_start());
            (Test::In(vec![valid_value(value)?]), rest)
        } else if let Some(rest) = rest.strip_prefix("!=") {
            let (value, rest) = word(rest.trim_start());
            (Test::NotIn(vec![valid_value(value)?]), rest)
        } else if let Some(rest) = rest.strip_prefix('>') {
            let (value, rest) = word(rest.trim_start());
            (Test::Greater(number(value)?), rest)
        } else if let Some(rest) = rest.strip_prefix('<') {
            let (value, rest) = word(rest.trim_start());
            (Test::Less(number(value)?), rest)
        } else {
            match word(rest) {
                ("in", rest) => {
                    let (values, rest) = values(rest)?;
                    (Test::In(values), rest)
                }
                ("notin", rest) => {
                    let (values, rest) = values(rest)?;
                    (Test::NotIn(values), rest)
                }
                _ => (Test::Exists, rest),
            }
        };
        Ok((Requirement { key, test }, rest))
    }
}

impl Test<'_> {
    fn holds(&self, value: Option<&str>) -> bool {
        let compare = |n: i64, f: fn(&i64, &i64) -> bool| value.and_then(|v| v.parse().ok()).is_some_and(|v| f(&v, &n));
        match self {
            Test::Exists => value.is_some(),
            Test::Absent => value.is_none(),
            Test::In(values) => value.is_some_and(|v| values.contains(&v)),
            Test::NotIn(values) => value.is_none_or(|v| !values.contains(&v)),
            Test::Greater(n) => compare(*n, i64::gt),
            Test::Less(n) => compare(*n, i64::lt),
        }
    }
}

/// The text up to the next blank or operator, and the rest.
fn word(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| c.is_whitespace() || "=!<>(),".contains(c)).unwrap_or(text.len());
    text.split_at(end)
}

fn values(text: &str) -> Result<(Vec<&str>, &str), String> {
    let inner = text.trim_start().strip_prefix('(').ok_or("expected '(' after in or notin")?;
    let (inner, rest) = inner.split_once(')').ok_or("expected ')' after the values")?;
    let values = inner.split(',').map(|v| valid_value(v.trim())).collect::<Result<_, _>>()?;
    Ok((values, rest))
}

fn number(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| format!("'{text}' is no integer"))
}

fn valid_value(text: &str) -> Result<&str, String> {
    if is_label_text(text) || text.is_empty() { Ok(text) } else { Err(format!("invalid label value '{text}'")) }
}

fn valid_key(text: &str) -> Result<&str, String> {
    let (prefix, name) = text.split_once('/').map_or((None, text), |(p, n)| (Some(p), n));
    let is_dns = |p: &str| {
        let part =
            |l: &str| !l.is_empty() && l.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        p.len() <= 253 && p.split('.').all(|l| part(l) && !l.starts_with('-') && !l.ends_with('-'))
    };
    let valid = is_label_text(name) && prefix.is_none_or(is_dns);
    if valid { Ok(text) } else { Err(format!("invalid label key '{text}'")) }
}

fn is_label_text(text: &str) -> bool {
    let inner = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    let bytes = text.as_bytes();
    bytes.len() <= 63
        && bytes.iter().all(|&b| inner(b))
        && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::ResMap;
    use rustomize_yaml::{Arena, Heap, first_document};

    #[track_caller]
    fn check(selector: &str, labels: &[(&str, &str)], want: Result<bool, ()>) {
        let got = Requirements::parse(selector).map_err(|_| ());
        let value = |key: &str| labels.iter().find(|(k, _)| *k == key).map(|(_, v)| *v);
        assert_eq!(got.map(|r| r.is_match(value)), want, "{selector}");
    }

    #[test]
    fn selectors() {
        let labels = [("app", "web"), ("tier", "7")];
        check("app=web", &labels, Ok(true));
        check("app == web, tier>5", &labels, Ok(true));
        check("app!=web", &labels, Ok(false));
        check("zone!=eu", &labels, Ok(true));
        check("zone notin (eu, us)", &labels, Ok(true));
        check("app in (db,web)", &labels, Ok(true));
        check("!zone,app", &labels, Ok(true));
        check("tier<7", &labels, Ok(false));
        check("app in ()", &[("app", "")], Ok(true));
        check("app=", &[("app", "")], Ok(true));
        check("note=a/b", &labels, Err(()));
        check("app=web tier", &labels, Err(()));
        check("a b", &labels, Err(()));
    }

    const NAMES: [&str; 4] = ["app", "app-1", "app-2", "web"];
    const NAMESPACES: [&str; 4] = ["", "default", "a", "b"];
    const KINDS: [&str; 3] = ["Deployment", "Service", "ClusterRole"];

    fn resource<'a>(arena: Arena<'a>, random: &mut fastrand::Rng) -> Resource<'a> {
        let mut text = format!("apiVersion: v1\nkind: {}\nmetadata:\n  name: x\n", random.choice(KINDS).unwrap());
        text += &format!("  labels: {{l: '{}', m: n}}\n", random.u8(..3));
        let source = arena.add_source("a resource", text);
        Resource::new(arena, first_document(arena, source).unwrap().unwrap()).unwrap()
    }

    /// Gives a resource another name and namespace, and lets it remember the old ones.
    fn rename<'a>(arena: Arena<'a>, resource: &mut Resource<'a>, random: &mut fastrand::Rng) {
        if random.bool() {
            resource.record_previous();
        }
        resource.set_name(random.choice(NAMES).unwrap());
        resource.set_namespace(random.choice(NAMESPACES).unwrap());
        resource.add_metadata_entries("labels", [("l", arena.text(&random.u8(..3).to_string()).into())]);
    }

    fn selector(random: &mut fastrand::Rng) -> Selector<'static> {
        let mut choose = |texts: &[&'static str]| if random.bool() { *random.choice(texts).unwrap() } else { "" };
        Selector {
            kind: choose(&["Deployment", "Service", "ClusterRole", "Deploy.*"]),
            name: choose(&["app", "app-1", "app-.", "web|app", "(?i)APP.*", ".*-1", "w?eb|app-2"]),
            namespace: choose(&["default", "a", "b", "_non_namespaceable_", "a|b"]),
            label_selector: choose(&["l=1", "l in (0, 2),m=n", "l!=1", "m,l=0", "m", "l>0", "!x", "x"]),
            version: choose(&["v1", "v2"]),
            ..Selector::default()
        }
    }

    #[test]
    fn every_selected_resource_is_found() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut selected = 0;
        for _ in 0..300 {
            let heap = Heap::new();
            let arena = heap.arena();
            let mut map: ResMap<'_> = (0..12).map(|_| resource(arena, &mut random)).collect();
            for _ in 0..30 {
                let i = random.usize(..12);
                map.edit(i, |resource| {
                    rename(arena, resource, &mut random);
                    Ok(())
                })
                .unwrap();
                let selector = selector(&mut random);
                let matcher = Matcher::new(&selector).unwrap();
                let found = map.candidates(&matcher.hint());
                let rejected: Vec<usize> = matcher.reject_hints().flat_map(|hint| map.candidates(&hint)).collect();
                for i in 0..12 {
                    let resource = map.get(i);
                    for ids in [Ids::Any, Ids::OriginalOrCurrent] {
                        if matcher.is_match_by(resource, ids).unwrap() {
                            selected += 1;
                            assert!(
                                found.contains(&i),
                                "{selector:?} selects {} {:?}",
                                resource.id(),
                                resource.previous()
                            );
                        }
                    }
                    assert!(
                        !matcher.rejects(resource).unwrap() || rejected.contains(&i),
                        "{selector:?} rejects {}",
                        resource.id()
                    );
                }
            }
        }
        assert!(selected > 1000, "{selected}");
    }
}
