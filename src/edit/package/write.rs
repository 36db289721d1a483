//! Items into text, as kustomize writes them to stdout.

use super::Item;
use super::annotations::{self, INDEX, PATH, SEQUENCE_INDENT};
use crate::diag::{Code, Error, Result};
use rustomize_yaml::noted::{Noted, Shape, Unprinted};
use rustomize_yaml::{Arena, Node, Scalar, first_document, json};

/// How items are written.
#[derive(Clone, Debug, Default)]
pub struct Writing<'a> {
    /// True if the annotations that a reader has set stay.
    pub keeps_annotations: bool,
    /// True if the path stays, and only the number of the document is removed.
    pub keeps_path: bool,
    /// The kind and version of a list around the items; without a kind there is none.
    pub wrapping: Option<(&'a str, &'a str)>,
    /// The `functionConfig` of that list.
    pub function_config: Option<Noted<'a>>,
    /// The styles of each document.
    pub style: PrintStyle,
}

/// The styles of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrintStyle {
    /// True if the user asks for a style. Braces that no user asks for become lines.
    pub is_given: bool,
    /// True if values are printed in braces.
    pub in_braces: bool,
    /// True if values are printed with their tags.
    pub is_tagged: bool,
}

/// Prints items. O(size).
///
/// # Errors
/// An item is not a mapping.
pub fn print<'a>(arena: Arena<'a>, items: &[Item<'a>], writing: &Writing<'a>) -> Result<String> {
    let is_json = match items {
        [only] if writing.wrapping.is_none() => {
            PATH.into_iter().find_map(|key| annotations::get(only, key)).is_some_and(|path| path.ends_with(".json"))
        }
        _ => false,
    };
    let mut cleaned = Vec::with_capacity(items.len());
    for item in items {
        let mut item = item.clone();
        let is_wide = annotations::get(&item, SEQUENCE_INDENT) == Some("wide");
        if !writing.keeps_annotations {
            INDEX.into_iter().chain([SEQUENCE_INDENT]).for_each(|key| annotations::clear(&mut item, key));
            if !writing.keeps_path {
                PATH.into_iter().for_each(|key| annotations::clear(&mut item, key));
            }
        }
        annotations::clear_empty(&mut item)?;
        apply(&mut item.document.root, writing.style);
        cleaned.push((item, is_wide));
    }
    let Some((kind, version)) = writing.wrapping else {
        let mut before = Unprinted::default();
        let print = |(item, is_wide): &(Item<'_>, bool)| item.document.print_behind(&mut before, *is_wide);
        let texts: Vec<String> = cleaned.iter().map(print).collect();
        let text = texts.join("---\n");
        return if is_json { as_json(arena, text) } else { Ok(text) };
    };
    let plain = |text: &str| Noted::scalar(Scalar::plain(arena.text(text)));
    let items = Noted::sequence(cleaned.into_iter().map(|(item, _)| item.document.root).collect());
    let mut entries =
        vec![(plain("apiVersion"), plain(version)), (plain("kind"), plain(kind)), (plain("items"), items)];
    if let Some(config) = &writing.function_config {
        entries.push((plain("functionConfig"), config.clone()));
    }
    let mut list = Noted::mapping(entries);
    apply(&mut list, writing.style);
    Ok(list.print())
}

/// A document as kustomize writes it into a file of JSON, or to stdout if its item is from a file
/// of JSON.
fn as_json<'a>(arena: Arena<'a>, text: String) -> Result<String> {
    let source = arena.add_source("a resource", text);
    let mut node = first_document(arena, source).map_err(Error::from)?.unwrap_or_else(Node::null);
    json::from_yaml_1_1(arena, &mut node);
    let mut compact = String::new();
    json::write(&mut compact, &node);
    let value: serde_json::Value =
        serde_json::from_str(&compact).map_err(|e| Error::new(Code::NotYaml, e.to_string()))?;
    let pretty = serde_json::to_string_pretty(&value).map_err(|e| Error::new(Code::NotYaml, e.to_string()))?;
    Ok(pretty.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026") + "\n")
}

fn apply(root: &mut Noted<'_>, style: PrintStyle) {
    if !style.is_given {
        return;
    }
    let tag = match &mut root.shape {
        Shape::Mapping { in_braces, .. } => {
            *in_braces = style.in_braces;
            "!!map"
        }
        Shape::Sequence { in_brackets, .. } => {
            *in_brackets = style.in_braces;
            "!!seq"
        }
        Shape::Scalar(_) | Shape::Alias(_) => return,
    };
    if style.is_tagged && root.tag.is_empty() {
        root.tag = tag;
    }
}
