//! Paths of fields, to complete: `fieldPath` and `fieldPaths` of replacements, and `path` and
//! `from` of JSON patches. The fields are those that the known resources have in their files.

use super::Files;
use super::check::KnownResource;
use super::links::{PlacedText, texts_of};
use crate::load::{FileLimit, Loader};
use rustomize_yaml::places::Places;
use rustomize_yaml::{Arena, Heap, Node, Value, documents};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// At most so many resources are read for the fields of a path.
const MOST_RESOURCES: usize = 100;

/// The way in which a path is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// `spec.template`, as in replacements.
    Dots,
    /// `/spec/template`, as in JSON patches.
    Slashes,
}

/// The style of the paths in a field of a kustomization; `None` for a field without paths.
pub(crate) fn style_of(field: &[String]) -> Option<Style> {
    let is_of_replacement = field.first().is_some_and(|name| name == "replacements");
    let is_path = matches!(field.last().map(String::as_str), Some("fieldPath" | "fieldPaths"));
    (is_of_replacement && is_path).then_some(Style::Dots)
}

/// The kinds that the selectors beside a path name: those of the same replacement or patch. `field`
/// is the field with the path, or with the patch around it, and `line` the line of the path. No
/// kind means any. O(text).
pub(crate) fn kinds_beside(text: &str, field: &[String], style: Style, line: usize) -> BTreeSet<String> {
    let found = texts_of(text);
    let above = found.iter().rfind(|t| t.line() <= line && t.path == field);
    // A path is on its line, and a patch begins above it.
    let Some(own) = above.filter(|own| style == Style::Slashes || own.line() == line) else {
        return BTreeSet::new();
    };
    let selector: &[&str] = match field.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["replacements", "source", _] => &["replacements", "source", "kind"],
        ["replacements", "targets", _] => &["replacements", "targets", "select", "kind"],
        [list, _] => &[list, "target", "kind"],
        _ => return BTreeSet::new(),
    };
    // Mappings are numbered in the order of the text: those of an item come before the next item.
    let outer = &field[..field.len() - 1];
    let is_item = |t: &&PlacedText| t.path.len() == field.len() && t.path.starts_with(outer);
    let next = found.iter().filter(is_item).map(|t| t.mapping).filter(|other| *other > own.mapping).min();
    let is_beside = |t: &&PlacedText| {
        t.path == selector && t.mapping >= own.mapping && next.is_none_or(|next| t.mapping < next) && !t.text.is_empty()
    };
    found.iter().filter(is_beside).map(|t| t.text.clone()).collect()
}

/// The paths that a typed path may become, up to the next field. O(files of the resources).
pub(crate) fn complete<'k>(
    files: &Files,
    resources: impl Iterator<Item = &'k KnownResource>,
    style: Style,
    typed: &str,
) -> Vec<String> {
    let (above, _) = split(style, typed);
    let mut by_file: BTreeMap<&Path, Vec<usize>> = BTreeMap::new();
    for resource in resources.take(MOST_RESOURCES) {
        by_file.entry(&resource.file).or_default().push(resource.line as usize + 1);
    }
    let mut found = BTreeSet::new();
    for (file, lines) in by_file {
        let read = files.open(file).ok().and_then(|opened| opened.read(FileLimit::default()).ok());
        let Some(text) = read.and_then(|bytes| String::from_utf8(bytes.to_vec()).ok()) else { continue };
        let heap = Heap::new();
        let arena: Arena<'_> = heap.arena();
        let source = arena.add_file("", text.into());
        let places = Places::new(&heap);
        for document in documents(arena, source).unwrap_or_default() {
            if places.line(document.pos()).is_some_and(|(_, line)| lines.contains(&line)) {
                for node in below(&document, style, &above) {
                    found.extend(next_of(node, style));
                }
            }
        }
    }
    let start = &typed[..typed.len() - split(style, typed).1.len()];
    // A path of a JSON patch begins with a slash.
    let start = if style == Style::Slashes && start.is_empty() { "/" } else { start };
    found.into_iter().map(|name| format!("{start}{name}")).collect()
}

/// The complete names of a typed path, and the one that is being typed.
fn split(style: Style, typed: &str) -> (Vec<String>, &str) {
    let (mut names, mut name, mut start) = (Vec::new(), String::new(), 0);
    let (mut chars, mut in_brackets) = (typed.char_indices().peekable(), false);
    while let Some((at, c)) = chars.next() {
        let ends = match style {
            Style::Dots => c == '.' && !in_brackets,
            Style::Slashes => c == '/',
        };
        match c {
            _ if ends => {
                names.push(std::mem::take(&mut name));
                start = at + 1;
            }
            '\\' if style == Style::Dots => name.extend(chars.next().map(|(_, c)| c)),
            _ => {
                in_brackets = c == '[' && name.is_empty() || in_brackets && c != ']';
                name.push(c);
            }
        }
    }
    if style == Style::Slashes {
        // In front of the first slash there is nothing.
        let names = names.into_iter().skip(1).map(|name| name.replace("~1", "/").replace("~0", "~")).collect();
        return (names, &typed[start..]);
    }
    (names, &typed[start..])
}

/// The nodes that names lead to. An item of a list may be named by its number or by a value that it
/// has, and `*` or `-` stands for all.
fn below<'n, 'a>(root: &'n Node<'a>, style: Style, names: &[String]) -> Vec<&'n Node<'a>> {
    let mut nodes = vec![root];
    for name in names {
        let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).filter(|_| style == Style::Dots);
        let pair = bare.and_then(|bare| bare.split_once('='));
        let name = bare.unwrap_or(name);
        nodes = nodes
            .into_iter()
            .flat_map(|node| match node.value() {
                Value::Mapping(fields) => fields.iter().filter(|e| e.key().text() == name).map(|e| e.value()).collect(),
                Value::Sequence(items) => match (pair, name.parse::<usize>()) {
                    (Some((key, value)), _) => {
                        items.iter().filter(|item| item.get_text(key) == Some(value)).collect::<Vec<_>>()
                    }
                    (None, Ok(number)) => items.iter().skip(number).take(1).collect(),
                    (None, Err(_)) => items.iter().filter(|_| matches!(name, "*" | "-")).collect(),
                },
                Value::Scalar(_) => Vec::new(),
            })
            .collect();
    }
    nodes
}

/// The names by which a path goes on from a node.
fn next_of(node: &Node<'_>, style: Style) -> Vec<String> {
    match (node.value(), style) {
        (Value::Mapping(fields), Style::Dots) => {
            fields.iter().map(|entry| entry.key().text().replace('\\', "\\\\").replace('.', "\\.")).collect()
        }
        (Value::Mapping(fields), Style::Slashes) => {
            fields.iter().map(|entry| entry.key().text().replace('~', "~0").replace('/', "~1")).collect()
        }
        (Value::Sequence(items), Style::Dots) => {
            let named = items.iter().filter_map(|item| item.get_text("name")).map(|name| format!("[name={name}]"));
            named.chain(["*".to_owned()]).chain((0..items.len()).map(|number| number.to_string())).collect()
        }
        (Value::Sequence(items), Style::Slashes) => {
            (0..items.len()).map(|number| number.to_string()).chain(["-".to_owned()]).collect()
        }
        (Value::Scalar(_), _) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_path_is_split_at_its_separators() {
        let split = |style, typed| {
            let (names, last) = split(style, typed);
            format!("{} + {last}", names.join(" "))
        };
        assert_eq!(split(Style::Dots, "spec.te"), "spec + te");
        assert_eq!(split(Style::Dots, r"data.a\.yaml.b"), "data a.yaml + b");
        assert_eq!(split(Style::Dots, "containers.[image=a.b/c:1].en"), "containers [image=a.b/c:1] + en");
        assert_eq!(split(Style::Dots, ""), " + ");
        assert_eq!(split(Style::Slashes, "/spec/a~1b/"), "spec a/b + ");
        assert_eq!(split(Style::Slashes, "/"), " + ");
        assert_eq!(split(Style::Slashes, "sp"), " + sp");
    }
}
