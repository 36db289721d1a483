//! Finds the fields that a word names: a path with dots, or a JSON pointer.

use super::view::{Subject, View, label};
use rustomize_base::json_pointer::unescaped;
use rustomize_base::meter::FastMap;
use rustomize_base::shell::quoted;
use rustomize_engine::diag::{Code, Error, Result, nearest};
use rustomize_engine::stage::compare::{Below, push};
use rustomize_engine::stage::history::{Field, Write, find};
use rustomize_yaml::{Node, Sequence, Value};
use std::cell::RefCell;

/// The fields that are explained.
pub struct Fields<'o, 'w> {
    pub fields: Vec<Field<'o, 'w>>,
    /// The writes that have removed fields.
    pub removals: Vec<&'o Write<'w>>,
}

/// The fields of a resource at and below a path; all fields if there is no path.
///
/// # Errors
/// The resource does not have the field, and never had it.
pub fn fields<'o, 'w>(view: &View<'o, 'w>, subject: &Subject<'o, 'w>, word: Option<&str>) -> Result<Fields<'o, 'w>> {
    let Some(node) = subject.node else {
        return Ok(Fields { fields: Vec::new(), removals: Vec::new() });
    };
    let mut fields = view.history.fields(subject.number, node);
    let mut removals = view.history.removals(subject.number, node);
    let Some(word) = word else { return Ok(Fields { fields, removals }) };
    let parts = parts(word)?;
    let path = match word.starts_with('/') {
        true => find(node, word).map(|_| word.to_owned()),
        false => resolve(node, &parts),
    };
    let wanted = path.unwrap_or_else(|| if word.starts_with('/') { word.to_owned() } else { plain_pointer(&parts) });
    let is_wanted =
        |path: &str| path.strip_prefix(&wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    fields.retain(|field| is_wanted(&field.path));
    // A value that was removed with its list item may have had the path of another item of today.
    removals.retain(|write| is_wanted(&write.path) && (fields.is_empty() || !write.is_in_gone_item));
    if fields.is_empty() && removals.is_empty() {
        return Err(missing(view, subject, node, word));
    }
    Ok(Fields { fields, removals })
}

/// The error about a field that does not exist.
fn missing(view: &View<'_, '_>, subject: &Subject<'_, '_>, node: &Node<'_>, word: &str) -> Error {
    let is_pointer = word.starts_with('/');
    let fields = view.history.fields(subject.number, node);
    let paths = DottedPaths::of(node);
    let mut known: Vec<String> = Vec::new();
    for field in &fields {
        // Only values have a history, and the mappings above them.
        let ends = field.path.match_indices('/').map(|(i, _)| i).skip(1).chain([field.path.len()]);
        for end in ends {
            let pointer = &field.path[..end];
            known.push(if is_pointer { pointer.to_owned() } else { paths.dotted(pointer) });
        }
    }
    let label = label(&subject.id);
    let hint = match nearest(word, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean '{near}'?"),
        None => format!("all fields are listed by: rustomize explain {} {}", quoted(view.root), quoted(&label)),
    };
    Error::new(Code::Usage, format!("{label} has no field '{word}'")).hint(hint)
}

/// A part of a path with dots.
#[derive(Debug, PartialEq)]
enum Part {
    /// A key, or a part of one that has dots in it.
    Word(String),
    /// A key in brackets and quotes.
    Key(String),
    Index(usize),
    /// The item whose field has a value: `[name=web]`.
    Item(String, String),
}

/// The parts of a path with dots. A dot in a key is written as `\.` or in brackets.
fn parts(path: &str) -> Result<Vec<Part>> {
    let mut parts = Vec::new();
    let mut word = String::new();
    let mut rest = path.chars();
    let end = |word: &mut String, parts: &mut Vec<Part>| {
        if !word.is_empty() {
            parts.push(Part::Word(std::mem::take(word)));
        }
    };
    while let Some(c) = rest.next() {
        match c {
            '\\' => word.extend(rest.next()),
            '.' => end(&mut word, &mut parts),
            '[' => {
                end(&mut word, &mut parts);
                let text = rest.as_str();
                let close = match text.chars().next() {
                    Some(quote @ ('"' | '\'')) => text[1..].find(&format!("{quote}]")).map(|i| i + 2),
                    _ => text.find(']'),
                };
                let Some(close) = close else { return Err(Error::new(Code::Usage, format!("'{path}' lacks a ']'"))) };
                parts.push(bracketed(&text[..close]));
                rest = text[close + 1..].chars();
            }
            c => word.push(c),
        }
    }
    end(&mut word, &mut parts);
    Ok(parts)
}

/// The part that a text in brackets is.
fn bracketed(text: &str) -> Part {
    let quoted = ['"', '\''].into_iter().find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote));
    match (quoted, text.parse::<usize>(), text.split_once('=')) {
        (Some(key), ..) => Part::Key(key.to_owned()),
        (None, Ok(index), _) => Part::Index(index),
        (None, _, Some((key, value))) => Part::Item(key.to_owned(), value.to_owned()),
        (None, ..) => Part::Key(text.to_owned()),
    }
}

/// The JSON pointer of the value that parts lead to. A key may have dots: the longest matching key
/// of a mapping is taken.
fn resolve(node: &Node<'_>, parts: &[Part]) -> Option<String> {
    let (mut node, mut parts, mut pointer) = (node, parts, String::new());
    while let [part, rest @ ..] = parts {
        let (below, value, left) = match (part, node.value()) {
            (Part::Word(_), Value::Mapping(mapping)) => {
                let words: Vec<&str> =
                    parts.iter().map_while(|p| if let Part::Word(w) = p { Some(&**w) } else { None }).collect();
                let joined = (1..=words.len()).rev().map(|n| (n, words[..n].join(".")));
                joined.into_iter().find_map(|(n, key)| {
                    let entry = mapping.iter().find(|entry| entry.key().text() == key)?;
                    Some((Below::Key(entry.key().text()), entry.value(), &parts[n..]))
                })?
            }
            (Part::Key(key), Value::Mapping(mapping)) => {
                let entry = mapping.iter().find(|entry| entry.key().text() == key)?;
                (Below::Key(entry.key().text()), entry.value(), rest)
            }
            (Part::Index(i), Value::Sequence(items)) => (Below::Item(*i), items.get(*i)?, rest),
            (Part::Word(word), Value::Sequence(items)) => {
                let i = word.parse::<usize>().ok()?;
                (Below::Item(i), items.get(i)?, rest)
            }
            (Part::Item(key, value), Value::Sequence(items)) => {
                let field = |item: &Node<'_>| match key.as_str() {
                    "" => item.as_scalar().map(|scalar| scalar.text().to_owned()),
                    key => item.get_text(key).map(str::to_owned),
                };
                let i = items.iter().position(|item| field(item).as_deref() == Some(value))?;
                (Below::Item(i), &items[i], rest)
            }
            _ => return None,
        };
        push(&mut pointer, below);
        (node, parts) = (value, left);
    }
    Some(pointer)
}

/// The JSON pointer of a path that is not in the output: each word is a key.
fn plain_pointer(parts: &[Part]) -> String {
    let mut pointer = String::new();
    for part in parts {
        match part {
            Part::Word(key) | Part::Key(key) => push(&mut pointer, Below::Key(key)),
            Part::Index(i) => push(&mut pointer, Below::Item(*i)),
            Part::Item(key, value) => push(&mut pointer, Below::Key(&format!("[{key}={value}]"))),
        }
    }
    pointer
}

/// The paths of the fields of a resource.
pub struct DottedPaths<'n, 'a> {
    resource: &'n Node<'a>,
    /// The number of items with each name, of the lists that were asked for, by their addresses.
    names: RefCell<FastMap<usize, FastMap<&'a str, usize>>>,
}

impl<'n, 'a> DottedPaths<'n, 'a> {
    /// The paths of the fields of a resource.
    pub fn of(resource: &'n Node<'a>) -> Self {
        DottedPaths { resource, names: RefCell::default() }
    }

    /// A field as a path with dots, which [`fields`] reads: items by their names if they have one.
    /// O(path), and O(items) for the first item of each list.
    pub fn dotted(&self, pointer: &str) -> String {
        let mut path = String::new();
        let mut at = Some(self.resource);
        for part in pointer.split('/').skip(1) {
            let key = unescaped(part);
            match at.map(|node| node.value()) {
                Some(Value::Sequence(items)) => {
                    let item = part.parse::<usize>().ok().and_then(|i| items.get(i));
                    let name = item.and_then(|item| item.get_text("name"));
                    let is_plain = |name: &&str| !name.contains([']', '\'', '"']) && self.is_only(items, name);
                    match name.filter(is_plain) {
                        Some(name) => path.extend(["[name=", name, "]"]),
                        None => path.extend(["[", part, "]"]),
                    }
                    at = item;
                }
                value => {
                    let is_odd = key.is_empty() || key.contains(['[', ']', '\\']) || key.starts_with('/');
                    match is_odd {
                        true => path.extend(["['", &key, "']"]),
                        false if path.is_empty() => path.push_str(&key),
                        false => path.extend([".", &key]),
                    }
                    at = match value {
                        Some(Value::Mapping(mapping)) => mapping.get(&key),
                        _ => None,
                    };
                }
            }
        }
        path
    }

    /// Returns true if one item of a list has a name.
    fn is_only(&self, items: &Sequence<'a>, name: &str) -> bool {
        let mut names = self.names.borrow_mut();
        let counts = names.entry(std::ptr::from_ref(items).addr()).or_insert_with(|| {
            let mut counts = FastMap::default();
            items
                .iter()
                .filter_map(|item| item.get_text("name"))
                .for_each(|name| *counts.entry(name).or_default() += 1);
            counts
        });
        counts.get(name) == Some(&1)
    }
}

#[cfg(test)]
mod tests {
    use super::{DottedPaths, parts, resolve};
    use rustomize_base::meter;
    use rustomize_yaml::{Heap, first_document};

    /// The pointer that a path leads to in a resource, and that pointer as a path again.
    #[track_caller]
    fn check(path: &str, pointer: &str, again: &str) {
        let heap = Heap::new();
        let text = "metadata: {annotations: {a.b/c: 1, a: {b: 2}, '[x': 3, a.b: 4}}\n\
                    spec: {containers: [{name: log}, {name: web, image: w}], args: [x, y], ports: [{port: 80}]}\n";
        let node = first_document(heap.arena(), heap.arena().add_source("text", text.to_owned())).unwrap().unwrap();
        let found = resolve(&node, &parts(path).unwrap());
        assert_eq!(found.as_deref(), Some(pointer).filter(|p| !p.is_empty()), "{path}");
        if let Some(found) = found {
            assert_eq!(DottedPaths::of(&node).dotted(&found), again);
            assert_eq!(resolve(&node, &parts(again).unwrap()), Some(found), "{again}");
        }
    }

    #[test]
    fn paths_into_one_list_take_linear_time() {
        let steps = |n: usize| {
            let heap = Heap::new();
            let text = format!("list: [{}]", (0..n).map(|i| format!("{{name: i{i}}}, ")).collect::<String>());
            let node = first_document(heap.arena(), heap.arena().add_source("text", text)).unwrap().unwrap();
            let paths = DottedPaths::of(&node);
            meter::reset();
            for i in 0..n {
                assert_eq!(paths.dotted(&format!("/list/{i}/name")), format!("list[name=i{i}].name"));
            }
            meter::taken()
        };
        assert!(steps(4_000) <= 5 * steps(1_000), "{} steps, {}", steps(1_000), steps(4_000));
    }

    #[test]
    fn paths_lead_to_values() {
        check("spec.containers[name=web].image", "/spec/containers/1/image", "spec.containers[name=web].image");
        check("spec.containers.[name=web].image", "/spec/containers/1/image", "spec.containers[name=web].image");
        check(".spec.containers[1].image", "/spec/containers/1/image", "spec.containers[name=web].image");
        check("spec.containers.1.image", "/spec/containers/1/image", "spec.containers[name=web].image");
        check("spec.args[=y]", "/spec/args/1", "spec.args[1]");
        check("spec.ports[port=80]", "/spec/ports/0", "spec.ports[0]");
        check("metadata.annotations.a.b/c", "/metadata/annotations/a.b~1c", "metadata.annotations.a.b/c");
        check("metadata.annotations.a\\.b/c", "/metadata/annotations/a.b~1c", "metadata.annotations.a.b/c");
        check("metadata.annotations['[x']", "/metadata/annotations/[x", "metadata.annotations['[x']");
        check("metadata.annotations.a.b", "/metadata/annotations/a.b", "metadata.annotations.a.b");
        check("spec.containers[2]", "", "");
        check("spec.args.z", "", "");
        assert!(parts("a[b").is_err() && parts("a['b]").is_err());
    }
}
