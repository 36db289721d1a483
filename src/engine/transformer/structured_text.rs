//! [`visit`]: the nodes that the path of a replacement leads to. A path may lead into a text that
//! holds JSON or YAML: `data.config.server.port`, where `config` is a text with a mapping.
//!
//! JSON is written with sorted keys, in one line or indented as it was. [`Layout`] prints YAML, and
//! keeps order, comments, anchors and tags; a text that it cannot print is refused. A path does not
//! lead through an alias in YAML.

use super::text_pieces::{delimited, spliced};
use crate::config::Written;
use crate::config::field_path::{Part, first_scalar};
use crate::config::kustomization::FieldOptions;
use crate::diag::{Code, Error, Result};
use crate::merge::copies::check_text;
use crate::resource::Resource;
use crate::stage::Hit;
use rustomize_base::compat::Compat;
use rustomize_yaml::rewrite::Layout;
use rustomize_yaml::scalar::{self, Kind};
use rustomize_yaml::shared::Shared;
use rustomize_yaml::{
    Arena, Key, Mapping, Node, Pos, Scalar, Sequence, Style, Tag, Value, ValueMut, document_in_text, json, reprint,
    values,
};
use std::borrow::Cow;

/// The continuation of a path in the text of a field that holds YAML or JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Texts {
    /// A text is the end of a path.
    Closed,
    /// A value in the text is replaced as a whole, whatever the options say.
    Whole,
    /// A value in the text is replaced as one outside of texts.
    AsElsewhere,
}

impl Texts {
    /// The way of a version of kustomize.
    pub(super) fn of(compat: Compat) -> Texts {
        match (compat.replaces_in_texts(), compat.replaces_parts_in_texts()) {
            (false, _) => Texts::Closed,
            (true, false) => Texts::Whole,
            (true, true) => Texts::AsElsewhere,
        }
    }
}

/// The path of a target's field.
pub(super) struct FieldPath<'a> {
    pub written: Written<'a>,
    pub parts: Vec<Part<'a>>,
    /// Noted where a mapping or a list was put into a text, which is empty then.
    pub emptied: Hit,
}

/// Replaces the value at a path that leads into a text; `false` if this path leads to a field
/// outside of texts, or the value cannot be replaced there. With `pieces`, one piece of the text at
/// its end is replaced.
///
/// # Errors
/// The text holds YAML that cannot be printed.
pub(super) fn replace<'a>(
    arena: Arena<'a>,
    resource: &mut Resource<'a>,
    field: &FieldPath<'a>,
    create: Option<&Node<'a>>,
    value: &Node<'a>,
    pieces: Option<&FieldOptions<'a>>,
) -> Result<bool> {
    let (by, path) = (field.written.pos, &field.parts);
    let Some((at, mut content)) = find(arena, resource.node(), path) else { return Ok(false) };
    let mut found = 0;
    let visited = visit(Some(arena), &mut content.node, &path[at..], create, &mut |node| {
        found += 1;
        let old = node.as_scalar().filter(|_| !content.form.is_alias(node));
        match (old, value.as_scalar(), pieces) {
            (Some(old), _, Some(options)) => {
                let text = spliced(old.text(), value.scalar_text(), options);
                node.set_text(arena.text(check_text(&text)?), old.resolved_tag(), Pos::NONE);
            }
            (None, _, Some(_)) => return Err(delimited()),
            (Some(old), new, None) => {
                // A mapping or list has no text.
                if new.is_none() {
                    field.emptied.note();
                }
                node.set_text(new.map_or("", Scalar::text), old.resolved_tag(), Pos::NONE);
            }
            // Comments, an anchor and a tag go with the old value.
            (None, _, None) => *node = Node::new(value.value().clone(), Pos::NONE),
        }
        Ok(())
    });
    if visited.is_err() || found == 0 {
        return Ok(false);
    }
    let Some(node) = lookup_mut(resource.node_mut(), &path[..at]) else { return Ok(false) };
    let Some(old) = node.as_scalar().map(Scalar::text) else { return Ok(false) };
    let printed = match content.form {
        Form::Json => print(&content.node, old),
        Form::Yaml(layout) => Some(layout.print(&content.node)),
        Form::Unprintable => {
            let fault =
                Error::new(Code::NotYaml, "a replacement leads into a text of YAML that cannot be printed anew");
            return Err(fault.at(by).hint(match unquoted_template(old) {
                Some(template) => format!(
                    "put the value of the text that begins with '{template}' into quotes: YAML reads it as a mapping"
                ),
                None => "explicit keys, and keys that are lists or mappings, are not supported there".to_owned(),
            }));
        }
    };
    let Some(printed) = printed else { return Ok(false) };
    node.replace_text(arena.text(check_text(&printed)?), by);
    Ok(true)
}

/// The beginning of a value that is a template outside of quotes, as in `zone: {{ .zone }}`.
fn unquoted_template(text: &str) -> Option<&str> {
    let value = |line: &'_ str| -> Option<usize> {
        let at = line.find(": {{").map(|at| at + 2).or_else(|| line.find("- {{").map(|at| at + 2))?;
        Some(at).filter(|at| !line[..*at].contains(['"', '\'', '#']))
    };
    let line = text.lines().find(|line| value(line).is_some())?;
    let template = &line[value(line)?..];
    Some(template.find("}}").map_or(template, |end| &template[..end + 2]))
}

/// Prints JSON in the layout of an old text; `None` if kustomize cannot make JSON of it: a
/// scalar's text is not of its type, or a key is not a string or given twice.
pub(super) fn print(content: &Node<'_>, old: &str) -> Option<String> {
    let mut content = Cow::Borrowed(content);
    if old.contains("<<") {
        values::resolve_merges(content.to_mut()).ok()?;
    }
    if !has_json_keys(&content) {
        return None;
    }
    let indent = old.contains('\n') && old.contains("  ");
    let mut out = String::with_capacity(old.len());
    json::write_with(&mut out, &content, indent.then_some(0), &write_scalar).then_some(out)
}

/// The content of a text.
pub(super) struct Content<'a> {
    pub node: Node<'a>,
    form: Form<'a>,
}

impl<'a> Content<'a> {
    /// The alias through which a path leads, with its sign; `None` if there is none.
    fn alias_on(&self, path: &[Part<'a>]) -> Option<&'a str> {
        let (_, scalar) = first_scalar(&self.node, &path[..path.len().saturating_sub(1)])?;
        let is_yaml = matches!(self.form, Form::Yaml(_));
        // A text without quotes cannot begin with this sign.
        Some(scalar.text()).filter(|text| is_yaml && scalar.style() == Style::Plain && text.starts_with('*'))
    }
}

/// The form in which the content of a text is printed.
enum Form<'a> {
    Json,
    Yaml(Box<Layout<'a>>),
    /// YAML that cannot be printed.
    Unprintable,
}

impl Form<'_> {
    /// Returns true if a node of the content is an alias. In JSON it is the value that it names.
    fn is_alias(&self, node: &Node<'_>) -> bool {
        matches!(self, Form::Yaml(layout) if layout.is_alias(node))
    }
}

/// The content of a text; `None` if it cannot be read. O(size of the text).
pub(super) fn read<'a>(arena: Arena<'a>, text: &str) -> Option<Content<'a>> {
    let source = arena.add_source("a text", text.to_owned());
    let mut node = document_in_text(arena, source).ok()??;
    let form = match source.text.trim_start().starts_with(['{', '[']) {
        true => Form::Json,
        false => Layout::of(source, &mut node).map_or(Form::Unprintable, |layout| Form::Yaml(Box::new(layout))),
    };
    Some(Content { node, form })
}

/// The shortest beginning of a path that leads to a text with more than the path in it.
fn find<'a>(arena: Arena<'a>, node: &Node<'a>, path: &[Part<'a>]) -> Option<(usize, Content<'a>)> {
    let (at, scalar) = first_scalar(node, &path[..path.len().saturating_sub(1)])?;
    Some((at, read(arena, scalar.text())?))
}

/// The node at a path that names one.
pub(super) fn lookup_mut<'n, 'a>(node: &'n mut Node<'a>, path: &[Part<'a>]) -> Option<&'n mut Node<'a>> {
    let mut node = node;
    for part in path {
        node = match (part, node.value_mut()) {
            (Part::Key(key), ValueMut::Mapping(m)) => m.get_mut(key)?,
            (Part::Element { key, value, .. }, ValueMut::Sequence(items)) => {
                items.iter_mut().find(|item| crate::config::field_path::element_text(item, key) == Some(*value))?
            }
            (Part::Index(i), ValueMut::Sequence(items)) => items.get_mut(*i)?,
            (Part::Last, ValueMut::Sequence(items)) => items.last_mut()?,
            _ => return None,
        };
    }
    Some(node)
}

/// Returns true if all keys are strings, each given once.
fn has_json_keys(node: &Node<'_>) -> bool {
    match node.value() {
        Value::Scalar(_) => true,
        Value::Sequence(items) => items.iter().all(has_json_keys),
        Value::Mapping(m) => {
            let mut previous: Option<&Key<'_>> = None;
            m.iter().all(|entry| {
                let key = entry.key();
                let is_new = !previous.replace(key).is_some_and(|previous| previous.same_text(key));
                is_new && key.kind() == Kind::Str && has_json_keys(entry.value())
            })
        }
    }
}

/// Appends a scalar as Go writes it; `false` if its text is not of its type.
fn write_scalar(out: &mut String, s: &Scalar<'_>) -> bool {
    match s.kind() {
        // Upstream prints the text as YAML first, in braces or brackets.
        Kind::Null if reprint::is_empty_text(s, true) => json::write_string(out, ""),
        Kind::Str => json::write_string(out, s.text()),
        Kind::Binary => match scalar::binary(s.text()) {
            Some(text) => json::write_string(out, &text),
            None => return false,
        },
        Kind::Timestamp => match scalar::timestamp(s.text()) {
            Some(text) => json::write_string(out, &text),
            None => return false,
        },
        Kind::Null => out.push_str("null"),
        Kind::Bool if scalar::resolve(s.text()) == Kind::Bool => {
            out.push_str(if scalar::truth(s.text()) { "true" } else { "false" });
        }
        Kind::Int => match scalar::int(s.text()) {
            Some(n) => out.push_str(&n.to_string()),
            None => return false,
        },
        Kind::Float => match scalar::float(s.text()) {
            Some(f) if f.is_finite() => out.push_str(&scalar::json_number(f)),
            _ => return false,
        },
        Kind::Bool => return false,
    }
    true
}

/// Calls `edit` on every node at a target's path. With `create`, missing nodes on the way are made,
/// and at the end of the path a copy of `create`. `texts` is the arena for the content of texts on
/// the way; without it a path does not lead into texts.
pub(super) fn visit<'a>(
    texts: Option<Arena<'a>>,
    node: &mut Node<'a>,
    path: &[Part<'a>],
    create: Option<&Node<'a>>,
    edit: &mut dyn FnMut(&mut Node<'a>) -> Result<()>,
) -> Result<()> {
    let Some((part, rest)) = path.split_first() else {
        return edit(node);
    };
    if let Some(scalar) = node.as_scalar() {
        if !scalar.is_null() {
            return Err(wrong_kind());
        }
        return match (part, create) {
            (Part::NotAnElement, _) => Err(Part::not_an_element()),
            (Part::All, _) => Ok(()),
            (Part::Index(i), None) => Err(out_of_bounds(*i, 0)),
            (_, None) => Ok(()),
            // kustomize puts the value that it makes into the null itself, which is printed without
            // it.
            (_, Some(create)) => visit_made(texts, &mut MADE.into(), path, create, edit),
        };
    }
    match (part, node.value_mut()) {
        (Part::NotAnElement, _) => Err(Part::not_an_element()),
        (Part::Key(""), _) => Err(Error::new(Code::BadPath, "the path of a target has an empty field name")
            .hint("write one dot between two names; '\\.' is a dot in a name")),
        (Part::Key(key), ValueMut::Mapping(m)) => visit_key(texts, m, key, rest, create, edit),
        // Only the path of a source has a sign for the last item.
        (Part::Last, ValueMut::Mapping(m)) => visit_key(texts, m, "-", rest, create, edit),
        (Part::All, ValueMut::Sequence(items)) => {
            items.iter_mut().try_for_each(|n| visit(texts, n, rest, create, edit))
        }
        (Part::Element { key, value, pattern }, ValueMut::Sequence(items)) => {
            let mut places = pattern.matches(items, key)?;
            if create.is_some() && places.is_empty() {
                items.push(new_element(key, value));
                places = pattern.matches(items, key)?;
            }
            // Upstream does not look into an item that matches as a whole.
            let rest = if key.is_empty() { &[] } else { rest };
            places.into_iter().try_for_each(|i| visit(texts, &mut items[i], rest, create, edit))
        }
        (Part::Index(i), ValueMut::Sequence(items)) => {
            let len = items.len();
            if let Some(create) = create.filter(|_| *i == len) {
                items.push(MADE.into());
                return items.last_mut().map_or(Ok(()), |made| visit_made(texts, made, rest, create, edit));
            }
            let item = items.get_mut(*i).ok_or_else(|| out_of_bounds(*i, len))?;
            let shared = item.shared_item();
            visit(texts, item, rest, create, edit)?;
            if let Some(shared) = shared {
                copy_to_places(items, *i, shared);
            }
            Ok(())
        }
        (Part::Last, _) => Err(Error::new(Code::WrongType, "expected a mapping with '-', found a list")
            .hint("a target's path has no last item")),
        (Part::Key(key), _) => {
            Err(Error::new(Code::WrongType, format!("expected a mapping with '{key}', found a list")))
        }
        _ => Err(Error::new(Code::WrongType, "expected a list, found a mapping")
            .hint("'*' and numbers name items of a list: write the name of a field")),
    }
}

/// Adds the places to which a path leads from a node at the end of `way`, without patterns: they
/// stay the same when an item that a pattern matches changes. A path into a text is left as it is.
/// O(matches, each with its path).
///
/// # Errors
/// A pattern is not valid.
pub(super) fn places_of<'a>(
    node: &Node<'a>,
    path: &[Part<'a>],
    way: &mut Vec<Part<'a>>,
    found: &mut Vec<Vec<Part<'a>>>,
) -> Result<()> {
    let Some((part, rest)) = path.split_first() else {
        found.push(way.clone());
        return Ok(());
    };
    let mut step = |node: Option<&Node<'a>>, part, rest| {
        let Some(node) = node else { return Ok(()) };
        way.push(part);
        let result = places_of(node, rest, way, found);
        way.pop();
        result
    };
    match (part, node.value()) {
        (Part::Key(key), Value::Mapping(m)) => step(m.get(key), part.clone(), rest),
        (Part::Last, Value::Mapping(m)) => step(m.get("-"), Part::Last, rest),
        (Part::Index(i), Value::Sequence(items)) => step(items.get(*i), Part::Index(*i), rest),
        (Part::All, Value::Sequence(items)) => {
            items.iter().enumerate().try_for_each(|(i, item)| step(Some(item), Part::Index(i), rest))
        }
        (Part::Element { key, pattern, .. }, Value::Sequence(items)) => {
            let rest = if key.is_empty() { &[] } else { rest };
            let places = pattern.matches(items, key)?;
            places.into_iter().try_for_each(|i| step(items.get(i), Part::Index(i), rest))
        }
        _ => {
            found.push(way.iter().chain(path).cloned().collect());
            Ok(())
        }
    }
}

/// Copies an item of a list to the other places of the mapping that it was. O(items).
fn copy_to_places(items: &mut Sequence<'_>, i: usize, shared: Shared) {
    let mut edited = items[i].clone();
    edited.share_item(Some(shared));
    for item in items.iter_mut().filter(|item| item.shared_item() == Some(shared)) {
        item.clone_from(&edited);
    }
    items[i] = edited;
}

/// As [`visit`], from a node that was made, which gets a value of the kind that the path asks for.
fn visit_made<'a>(
    texts: Option<Arena<'a>>,
    made: &mut Node<'a>,
    path: &[Part<'a>],
    create: &Node<'a>,
    edit: &mut dyn FnMut(&mut Node<'a>) -> Result<()>,
) -> Result<()> {
    match path.first() {
        None => *made = create.clone(),
        Some(Part::Key(_) | Part::All | Part::Last) => made.put(Mapping::new(), Pos::NONE),
        Some(_) => made.put(Sequence::default(), Pos::NONE),
    }
    visit(texts, made, path, Some(create), edit)
}

/// As [`visit`], from a key and the rest of the path, which may lead into a text.
fn visit_key<'a>(
    texts: Option<Arena<'a>>,
    m: &mut Mapping<'a>,
    key: &'a str,
    rest: &[Part<'a>],
    create: Option<&Node<'a>>,
    edit: &mut dyn FnMut(&mut Node<'a>) -> Result<()>,
) -> Result<()> {
    let Some(field) = m.get_mut(key) else {
        return match create {
            Some(create) => visit_made(texts, m.get_or_insert_with(key, || MADE.into()), rest, create, edit),
            None => Ok(()),
        };
    };
    match (field.as_scalar(), texts) {
        // Upstream changes a copy of the content, and drops it: the text stays.
        (Some(scalar), Some(arena)) if !rest.is_empty() => {
            let mut copy = read(arena, scalar.text()).ok_or_else(wrong_kind)?;
            if let Some(alias) = copy.alias_on(rest) {
                let message = format!("the path leads through the alias '{alias}' of the text");
                return Err(Error::new(Code::WrongType, message)
                    .hint(format!("lead it to the value of the anchor, '&{}'", alias.trim_start_matches('*'))));
            }
            visit(texts, &mut copy.node, rest, create, edit)
        }
        _ => visit(texts, field, rest, create, edit),
    }
}

fn wrong_kind() -> Error {
    Error::new(Code::WrongType, "wrong node kind: expected a mapping or a list, found a text")
        .hint("end the path at the text, or use 'delimiter' and 'index' for a part of it")
}

fn out_of_bounds(index: usize, len: usize) -> Error {
    Error::new(Code::MissingPath, format!("index {index} specified but only {len} elements found"))
        .hint("the first item of a list has the index 0")
}

/// A scalar that is made in place of a missing one.
pub(super) const MADE: Scalar<'static> = Scalar::new("", Style::Plain, Tag::Untyped);

/// An empty value of the kind of another one: upstream makes it where a path ends in nothing.
pub(super) fn empty_like<'a>(value: &Node<'a>) -> Node<'a> {
    match value.value() {
        Value::Scalar(_) => MADE.into(),
        Value::Sequence(_) => Node::new(Sequence::default(), Pos::NONE),
        Value::Mapping(_) => Mapping::new().into(),
    }
}

fn new_element<'a>(key: &'a str, value: &'a str) -> Node<'a> {
    if key.is_empty() {
        return MADE.with_text(value).into();
    }
    let mut m = Mapping::new();
    m.insert(key, MADE.with_text(value).into());
    m.into()
}
