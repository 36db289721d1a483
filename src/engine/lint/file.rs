//! Findings in a kustomization file.

use super::parts::items;
use super::{data, marks};
use crate::diag::{Code, Warning, cause, is_placeholder, nearest};
use crate::resource::Behavior;
use crate::stage::BuildMetadata;
use rustomize_yaml::{Arena, Node, Source, Value, documents};
use std::collections::BTreeMap;

/// The findings in a file, whose first document is `node`. O(size of the file).
pub fn findings<'a>(arena: Arena<'a>, source: &'a Source, node: Option<&Node<'a>>) -> Vec<Warning> {
    let mut found = marks::in_source(source);
    if let Some(node) = node {
        found.extend(unknown_words(node));
        found.extend(unknown_behaviors(node));
        found.extend(data::bad_sources(node));
        in_tree(node, &mut found);
        clear_text(node, &mut found);
        found.extend(without_resources(node));
        found.extend(options_of_none(node));
    }
    found.extend(extra_document(arena, source));
    found
}

/// The fields from which a kustomization has its resources.
const SOURCES: [&str; 9] = [
    "resources",
    "bases",
    "components",
    "configMapGenerator",
    "secretGenerator",
    "generators",
    "helmCharts",
    "helmChartInflationGenerator",
    "transformers",
];

/// The empty list of resources of a kustomization that has no other source of them: it builds
/// nothing.
fn without_resources(node: &Node<'_>) -> Option<Warning> {
    let fields = node.as_mapping()?;
    let is_component = node.get_text("kind") == Some("Component");
    let resources = fields.iter().find(|field| field.key().text() == "resources")?;
    if is_component || SOURCES.iter().any(|source| node.get(source).is_some_and(|value| !value.is_null_or_empty())) {
        return None;
    }
    let message = "the list of resources is empty, and nothing else makes resources: the output is empty";
    let finding = Warning::new(Code::NoEffect, message).at(resources.key().pos());
    Some(finding.hint("list the files to build, as in resources: [web.yaml]"))
}

/// The options for generators in a kustomization that has none: they are not for those of its
/// bases.
fn options_of_none(node: &Node<'_>) -> Option<Warning> {
    let has = |field: &str| node.get(field).is_some_and(|value| !value.is_null_or_empty());
    let options = node.as_mapping()?.iter().find(|field| field.key().text() == "generatorOptions")?;
    if options.value().is_null_or_empty() || has("configMapGenerator") || has("secretGenerator") {
        return None;
    }
    let message = "'generatorOptions' change nothing: they are for the generators of this file alone, and it has none";
    let hint = "move them to the kustomization with the generators, or give an entry there its own 'options'";
    Some(Warning::new(Code::NoEffect, message).at(options.key().pos()).hint(hint))
}

/// The findings about words of `buildMetadata` that kustomize does not know, and ignores.
fn unknown_words(node: &Node<'_>) -> impl Iterator<Item = Warning> {
    let words = items(node, "buildMetadata").filter_map(|word| Some((word, word.as_scalar()?.text())));
    let unknown = words.filter(|(_, text)| !BuildMetadata::WORDS.contains(text));
    unknown.map(|(word, text)| {
        let message = format!("kustomize does not know '{text}' in 'buildMetadata': the word does nothing");
        unknown_word(word, text, BuildMetadata::WORDS, message)
    })
}

/// The findings about words of `behavior` that kustomize does not know, and ignores.
fn unknown_behaviors(node: &Node<'_>) -> impl Iterator<Item = Warning> {
    let entries = ["configMapGenerator", "secretGenerator"].into_iter().flat_map(|field| items(node, field));
    let words = entries.filter_map(|entry| entry.get("behavior")).filter(|word| !word.is_null_or_empty());
    let words = words.filter_map(|word| Some((word, word.as_scalar()?.text())));
    let unknown = words.filter(|(_, text)| !text.is_empty() && !Behavior::WORDS.contains(text));
    unknown.map(|(word, text)| {
        let message = format!("kustomize does not know the behavior '{text}': the object is created");
        unknown_word(word, text, Behavior::WORDS, message)
    })
}

/// The finding about a word that is not one of those that kustomize knows.
fn unknown_word(word: &Node<'_>, text: &str, known: [&str; 3], message: String) -> Warning {
    let hint = match nearest(text, known) {
        Some(near) => format!("did you mean '{near}'?"),
        None => format!("the words are: {}", known.join(", ")),
    };
    Warning::new(Code::UnknownWord, message).at(word.pos()).hint(hint)
}

/// The second document of a file, if it has one. Only a text with a line that can end a document
/// is read again.
fn extra_document<'a>(arena: Arena<'a>, source: &'a Source) -> Option<Warning> {
    let ends_document = |line: &str| line.starts_with("---") || line.starts_with("...");
    if !source.text.lines().skip(1).any(ends_document) {
        return None;
    }
    let second = documents(arena, source).ok()?.into_iter().nth(1).filter(|second| !second.is_null())?;
    let message = "kustomize reads the first document of this file, and no other";
    let finding = Warning::new(Code::ExtraDocument, message).at(second.pos());
    Some(finding.hint("move its fields into the first document, or remove it"))
}

/// The sources of a generator of Secrets, with the words for each. The generator itself looks into
/// env files.
const SECRET_SOURCES: [(&str, &str); 2] = [
    ("literals", "the value of a literal is a secret in clear text"),
    ("files", "the file of a Secret is in clear text"),
];

/// Adds a finding for each source of a Secret. Values are not shown.
fn clear_text(node: &Node<'_>, found: &mut Vec<Warning>) {
    let entries = items(node, "secretGenerator");
    for (entry, (field, message)) in entries.flat_map(|entry| SECRET_SOURCES.map(|source| (entry, source))) {
        for source in items(entry, field).filter(|source| source.as_scalar().is_some_and(|s| is_clear(s.text(), field)))
        {
            found.push(Warning::new(Code::ClearTextSecret, message).at(source.pos()).without_line());
        }
    }
}

/// True if a source of a Secret has a value, and the value is not a placeholder.
fn is_clear(source: &str, field: &str) -> bool {
    let value = if field == "literals" { source.split_once('=').map_or("", |(_, value)| value) } else { source };
    !value.is_empty() && !is_placeholder(value)
}

/// The finding about a value, or about the value of a literal behind its key. A text of several
/// lines may be anything.
fn look_alike(text: &str, node: &Node<'_>) -> Option<Warning> {
    let value = text.split_once('=').map_or(text, |(_, value)| value);
    if text.is_ascii() || text.contains('\n') {
        return None;
    }
    [text, value].into_iter().find_map(|value| cause::look_alike_in_value(value, node.pos()))
}

/// Adds a finding for each key that has a later one of the same text in its mapping, and for values
/// with characters that look like those of YAML.
fn in_tree(node: &Node<'_>, found: &mut Vec<Warning>) {
    match node.value() {
        Value::Scalar(scalar) => found.extend(look_alike(scalar.text(), node)),
        Value::Sequence(items) => items.iter().for_each(|item| in_tree(item, found)),
        Value::Mapping(mapping) => {
            let mut last = BTreeMap::new();
            for entry in mapping.iter() {
                if let Some(earlier) = last.insert(entry.key().text(), entry.key().pos()) {
                    let message =
                        format!("the key '{}' is given again below: this one does not count", entry.key().text());
                    found.push(Warning::new(Code::DuplicateKey, message).at(earlier));
                }
                in_tree(entry.value(), found);
            }
        }
    }
}
