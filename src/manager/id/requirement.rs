//! [`Requirement`]: one plugin that is needed, by a kustomization or by another plugin.

use super::location::{Location, LocationError};
use super::source::{Source, SourceError};
use super::version::{Constraint, ConstraintError};
use crate::config::{Decode, Decoder, Written};
use crate::diag::{Code, Error, Result};
use rustomize_base::shown::is_unseen;
use rustomize_yaml::places::Places;
use rustomize_yaml::{Node, Place, Value, json};
use std::collections::HashMap;

/// One plugin that is needed.
#[derive(Clone, Debug)]
pub struct Requirement {
    /// The name in the file.
    pub name: String,
    pub source: Source,
    pub constraint: Constraint,
    /// Where it is fetched from, as it is written; empty for the releases of its source.
    pub from: String,
    /// The parameters that each call gets, as JSON; empty for none.
    pub parameters: String,
    /// The kinds of configuration objects that ask for it; empty if the file does not say.
    pub provides: Vec<ObjectKind>,
    /// Where it stands, for messages.
    pub place: Option<Place>,
}

/// A kind of configuration objects, by its apiVersion and its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectKind {
    pub api_version: String,
    pub kind: String,
}

#[derive(Default, Decode)]
struct RawRequirement<'a> {
    source: Written<'a>,
    version: Written<'a>,
    from: Written<'a>,
    parameters: Node<'a>,
    provides: Vec<RawKind<'a>>,
}

#[derive(Default, Decode)]
struct RawKind<'a> {
    api_version: &'a str,
    kind: &'a str,
}

impl Requirement {
    /// Where it is fetched from.
    ///
    /// # Errors
    /// None after the file was read.
    pub fn location(&self) -> std::result::Result<Location, LocationError> {
        Location::parse(&self.from)
    }
}

/// Reads a mapping of names to plugins, the value of `field`, with at most `most` entries. O(size).
///
/// # Errors
/// It is something else, has more entries, one of them is not of the form, or one source is to come
/// from two places.
pub fn requirements<'a>(cx: &Decoder<'a>, node: &Node<'a>, field: &str, most: usize) -> Result<Vec<Requirement>> {
    let Value::Mapping(entries) = node.value() else {
        if node.is_null() {
            return Ok(Vec::new());
        }
        let error = cx.error(node.pos(), format!("'{field}' is a mapping of names to plugins"));
        return Err(error.hint(format!("as in {field}: {{app: {{source: github.com/acme/app, version: '~> 1.2'}}}}")));
    };
    if entries.len() > most {
        let message = format!("'{field}' has {} plugins; the most are {most}", entries.len());
        return Err(cx.error(node.pos(), message).with_code(Code::TooLarge).hint("make a bundle of several plugins"));
    }
    let mut plugins: Vec<Requirement> = Vec::new();
    let mut froms: HashMap<Source, String> = HashMap::new();
    let places = Places::new(cx.arena.heap());
    for entry in entries.iter() {
        let name = entry.key().text();
        if let Some(c) = name.chars().find(|c| is_unseen(*c)) {
            let message = format!("the name '{name}' has the character {c:?}, which cannot be seen");
            return Err(cx.error(entry.key().pos(), message));
        }
        // Repeated keys are side by side.
        if plugins.last().is_some_and(|known| known.name == name) {
            return Err(cx.error(entry.key().pos(), format!("'{name}' is required twice")));
        }
        let in_entry = |e: Error| e.context(format!("in the requirement '{name}'"));
        let plugin = requirement(cx, name, entry.value(), places.place(entry.key().pos())).map_err(in_entry)?;
        if froms.entry(plugin.source.clone()).or_insert_with(|| plugin.from.clone()) != &plugin.from {
            let message = format!("the source '{}' is required from two places", plugin.source);
            return Err(cx.error(entry.key().pos(), message).hint("one file has one plugin of a source"));
        }
        plugins.push(plugin);
    }
    Ok(plugins)
}

fn requirement<'a>(cx: &Decoder<'a>, name: &str, node: &Node<'a>, place: Option<Place>) -> Result<Requirement> {
    let mut raw = RawRequirement::default();
    raw.decode(node, cx)?;
    let (source, version, from) = (&raw.source, &raw.version, &raw.from);
    if source.text.is_empty() {
        let hint = "write the source of the plugin, as in source: github.com/acme/app";
        return Err(cx.error(node.pos(), "missing field \"source\"").with_code(Code::MissingField).hint(hint));
    }
    let wrong_source = |e: SourceError| {
        let error = cx.error(source.pos, format!("the source '{}' {e}", source.text)).in_field("source");
        let rest = source.text.split_once("://").and_then(|(_, rest)| rest.trim_end_matches(".git").parse().ok());
        let bare = rest.map(|bare: Source| format!("write it as '{bare}'"));
        e.hint().or(bare).into_iter().fold(error, Error::hint)
    };
    let wrong_version = |e: ConstraintError| cx.error(version.pos, e.to_string()).in_field("version").hint(e.hint());
    let wrong_from = |e: LocationError| cx.error(from.pos, e.to_string()).in_field("from");
    let constraint = match version.text {
        "" => Constraint::default(),
        text => text.parse().map_err(wrong_version)?,
    };
    Location::parse(from.text).map_err(wrong_from)?;
    let (source, from) = (source.text.parse().map_err(wrong_source)?, from.text.to_owned());
    let provides = raw.provides.iter();
    let provides =
        provides.map(|p| ObjectKind { api_version: p.api_version.to_owned(), kind: p.kind.to_owned() }).collect();
    let mut parameters = String::new();
    match raw.parameters.value() {
        Value::Mapping(_) => json::write(&mut parameters, &raw.parameters),
        _ if raw.parameters.is_null() => {}
        _ => return Err(cx.error(raw.parameters.pos(), "'parameters' is a mapping of names to values")),
    }
    Ok(Requirement { name: name.to_owned(), source, constraint, from, parameters, provides, place })
}
