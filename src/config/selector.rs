//! Which resources a patch or replacement is for: [`Selector`], and its compiled form [`Matcher`].

use super::decode::{Decode, Decoder};
use super::go_regexp::GoRegex;
use crate::diag::{Error, Result};
use crate::resource::{Gvk, Resource};
use crate::yaml::{Node, steps};

/// A `target`: every part is a pattern that must match the whole text; an empty part matches anything.
#[derive(Clone, Debug, Default)]
pub struct Selector<'a> {
    /// API group, as in `apps`; `^$` for the core group.
    pub group: &'a str,
    /// API version, as in `v1`.
    pub version: &'a str,
    /// Kind, as in `Deployment`.
    pub kind: &'a str,
    /// Name; the original one counts beside the current one.
    pub name: &'a str,
    /// Namespace; `default` stands for none.
    pub namespace: &'a str,
    /// Kubernetes selector over annotations, as in `zone in (eu, us), !draft`.
    pub annotation_selector: &'a str,
    /// Kubernetes selector over labels.
    pub label_selector: &'a str,
}

impl Selector<'_> {
    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        [self.group, self.version, self.kind, self.name, self.namespace, self.annotation_selector, self.label_selector]
            .iter()
            .all(|part| part.is_empty())
    }
}

impl<'a> Decode<'a> for Selector<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        cx.object(
            node,
            &mut [
                ("group", &mut self.group),
                ("version", &mut self.version),
                ("kind", &mut self.kind),
                ("name", &mut self.name),
                ("namespace", &mut self.namespace),
                ("annotationSelector", &mut self.annotation_selector),
                ("labelSelector", &mut self.label_selector),
            ],
        )?;
        Ok(())
    }
}

/// Characters that mean something in a pattern. A text without them matches itself alone.
pub(crate) const META: [char; 14] = ['\\', '.', '+', '*', '?', '(', ')', '|', '[', ']', '{', '}', '^', '$'];

/// One part of a selector, classified once: most are literals, which need no pattern engine.
#[derive(Clone, Debug)]
pub enum Pattern<'a> {
    Any,
    Literal(&'a str),
    Regex(GoRegex),
}

impl<'a> Pattern<'a> {
    /// Compiles a pattern that must match a whole text. Upstream puts it between `^(?:` and `)$`, so
    /// `a)|(?:b` is a valid one.
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
        GoRegex::new(&format!("^(?:{text})$")).map(Pattern::Regex).map_err(|e| Error::input(e.to_string()))
    }

    /// Whether a whole text matches.
    pub fn is_match(&self, text: &str) -> bool {
        match self {
            Pattern::Any => true,
            Pattern::Literal(literal) => *literal == text,
            Pattern::Regex(regex) => {
                steps::add(1);
                regex.is_match(text)
            }
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
    // Upstream reads these only once a resource has passed the rest, so that a bad one may go unnoticed.
    annotations: Result<Requirements<'a>, String>,
    labels: Result<Requirements<'a>, String>,
}

impl<'a> Matcher<'a> {
    /// Compiles a selector.
    ///
    /// # Errors
    /// A part is not a valid regular expression.
    pub fn new(selector: &Selector<'a>) -> Result<Self> {
        Ok(Matcher {
            group: Pattern::new(selector.group)?,
            version: Pattern::new(selector.version)?,
            kind: Pattern::new(selector.kind)?,
            name: Pattern::new(selector.name)?,
            namespace: Pattern::new(selector.namespace)?,
            annotations: Requirements::parse(selector.annotation_selector),
            labels: Requirements::parse(selector.label_selector),
        })
    }

    /// The name, if the selector takes just one.
    pub fn literal_name(&self) -> Option<&'a str> {
        match self.name {
            Pattern::Literal(name) => Some(name),
            _ => None,
        }
    }

    /// The kind, if the selector takes just one.
    pub fn literal_kind(&self) -> Option<&'a str> {
        match self.kind {
            Pattern::Literal(kind) => Some(kind),
            _ => None,
        }
    }

    /// Whether a resource is the target of a patch: namespace and name by the current or the
    /// original id, the rest by the current one. O(length of the texts).
    ///
    /// # Errors
    /// A label or annotation selector that does not parse, once it is reached.
    pub fn is_match(&self, resource: &Resource<'_>) -> Result<bool> {
        self.is_match_by(resource, Ids::OriginalOrCurrent)
    }

    /// Whether a resource is selected, by the ids that count.
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

    /// Whether this, as an entry of `reject`, rejects a resource: by any of its ids, or by its metadata.
    ///
    /// # Errors
    /// As [`Matcher::is_match`].
    pub fn rejects(&self, resource: &Resource<'_>) -> Result<bool> {
        let asks_for_id = [&self.group, &self.version, &self.kind, &self.name, &self.namespace]
            .iter()
            .any(|p| !matches!(p, Pattern::Any));
        if asks_for_id && self.is_match_by_any_id(resource) {
            return Ok(true);
        }
        let asks_for_metadata =
            [&self.labels, &self.annotations].iter().any(|r| r.as_ref().map_or(true, |r| !r.0.is_empty()));
        Ok(asks_for_metadata && self.is_match_by_metadata(resource)?)
    }

    fn is_match_by_names(&self, resource: &Resource<'_>) -> bool {
        // The cheapest question first: patterns are for names.
        let current = resource.id();
        if !self.is_match_gvk(&current.gvk) {
            return false;
        }
        let original = resource.original_id();
        let either = |p: &Pattern<'_>, a: &str, b: &str| p.is_match(a) || p.is_match(b);
        either(&self.namespace, current.effective_namespace(), original.effective_namespace())
            && either(&self.name, current.name, original.name)
    }

    /// All parts against one id. The current one counts with its namespace as written, others with the effective one.
    fn is_match_by_any_id(&self, resource: &Resource<'_>) -> bool {
        resource.any_ids().enumerate().any(|(nth, id)| {
            let is_current = nth == resource.previous().len();
            let namespace = if is_current { id.namespace } else { id.effective_namespace() };
            self.name.is_match(id.name) && self.namespace.is_match(namespace) && self.is_match_gvk(&id.gvk)
        })
    }

    fn is_match_gvk(&self, gvk: &Gvk<'_>) -> bool {
        self.kind.is_match(gvk.kind) && self.version.is_match(gvk.version) && self.group.is_match(gvk.group)
    }

    fn is_match_by_metadata(&self, resource: &Resource<'_>) -> Result<bool> {
        let bad = |what: &str, e: &String| Error::input(format!("the {what} does not parse: {e}"));
        let labels = self.labels.as_ref().map_err(|e| bad("labelSelector", e))?;
        if !labels.is_match(|key| resource.label(key)) {
            return Ok(false);
        }
        let annotations = self.annotations.as_ref().map_err(|e| bad("annotationSelector", e))?;
        Ok(annotations.is_match(|key| resource.annotation(key)))
    }
}

/// Which ids of a resource a selector looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ids {
    /// The original and the current one, part by part.
    OriginalOrCurrent,
    /// Each it has had, as a whole.
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
    /// Parses the selector grammar: `k=v`, `k==v`, `k!=v`, `k in (a,b)`, `k notin (a,b)`, `k`, `!k`, `k>5`, `k<5`,
    /// separated by commas.
    ///
    /// # Errors
    /// What is wrong with the text.
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
    if is_label_text(text) || text.is_empty() { Ok(text) } else { Err(format!("'{text}' is no valid label value")) }
}

fn valid_key(text: &str) -> Result<&str, String> {
    let (prefix, name) = text.split_once('/').map_or((None, text), |(p, n)| (Some(p), n));
    let is_dns = |p: &str| {
        let part =
            |l: &str| !l.is_empty() && l.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        p.len() <= 253 && p.split('.').all(|l| part(l) && !l.starts_with('-') && !l.ends_with('-'))
    };
    let valid = is_label_text(name) && prefix.is_none_or(is_dns);
    if valid { Ok(text) } else { Err(format!("'{text}' is no valid label key")) }
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
}
