//! Labels and annotations: `commonLabels`, `labels`, `commonAnnotations`.

use super::draft::{self, Draft};
use super::{Place, usage, usage_as};
use crate::diag::{Code, Error, Result};
use rustomize_yaml::{Arena, Key, Mapping, Node, Pos, Scalar, Sequence, Tag};
use std::collections::{BTreeMap, BTreeSet};

/// The kind of metadata that is set on resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metadata {
    Label,
    Annotation,
}

impl Metadata {
    fn word(self) -> &'static str {
        match self {
            Metadata::Label => "label",
            Metadata::Annotation => "annotation",
        }
    }

    /// The field of a kustomization that holds them.
    pub fn field(self) -> &'static str {
        match self {
            Metadata::Label => "commonLabels",
            Metadata::Annotation => "commonAnnotations",
        }
    }

    /// Reads `key:value` arguments. A key alone has an empty value; a pair of quotes around a value
    /// is removed.
    ///
    /// # Errors
    /// No argument is given, or an argument lacks a key.
    pub fn pairs(self, arguments: &[String]) -> Result<BTreeMap<String, String>> {
        if arguments.is_empty() {
            let example = format!("add {} team:red", self.word());
            return Err(usage_as(format!("must specify {}", self.word()), &example));
        }
        let pair = |argument: &String| match argument.split_once(':') {
            Some(("", _)) => {
                let fault = "need k:v pair where v may be quoted";
                let example = format!("add {} team:red", self.word());
                Err(usage_as(format!("invalid {}: '{argument}' ({fault})", self.word()), &example))
            }
            Some((key, value)) => {
                let unquoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
                Ok((key.to_owned(), unquoted.unwrap_or(value).to_owned()))
            }
            None => Ok((argument.clone(), String::new())),
        };
        arguments.iter().map(pair).collect()
    }
}

/// The way in which labels and annotations are added.
#[derive(Clone, Copy, Debug, Default)]
pub struct Adding {
    /// True if existing values are replaced.
    pub force: bool,
    /// True if labels are set in `labels`, and not in selectors.
    pub without_selector: bool,
    /// True if labels are set in templates as well.
    pub include_templates: bool,
}

/// `add label`, `add annotation`.
///
/// # Errors
/// An argument is malformed, or a key exists and `force` is false.
pub fn add(place: &mut Place, kind: Metadata, how: Adding, arguments: &[String]) -> Result<()> {
    if !arguments.is_empty() && how.include_templates && !how.without_selector {
        return Err(usage("--without-selector flag must be specified for --include-templates to work"));
    }
    let pairs = kind.pairs(arguments)?;
    place.change(|draft| {
        let arena = draft.arena;
        if !how.without_selector {
            note_other_labels(draft, kind, &pairs);
        }
        let mapping = match how.without_selector {
            true => label(draft, how.include_templates)?,
            false => draft.mapping(kind.field())?,
        };
        for (key, value) in &pairs {
            if mapping.contains(key) && !how.force {
                let message = "already in kustomization file. Use --force to override.";
                return Err(Error::new(Code::BadSource, format!("{} {key} {message}", kind.word())));
            }
            put(arena, mapping, key, value);
        }
        Ok(())
    })
}

/// The pairs of the first entry of `labels` that is not for selectors and whose `includeTemplates`
/// is `include_templates`. A missing entry is made.
fn label<'d, 'a>(draft: &'d mut Draft<'a>, include_templates: bool) -> Result<&'d mut Mapping<'a>> {
    let is_on =
        |item: &Node<'_>, name: &str| draft::get(item, name).and_then(Node::as_scalar).is_some_and(|s| is_true(s));
    let is_it =
        |item: &Node<'_>| !is_on(item, "includeSelectors") && is_on(item, "includeTemplates") == include_templates;
    let list = draft.list("labels")?;
    let at = match list.iter().position(is_it) {
        Some(at) => at,
        None => {
            let mut label = Mapping::new();
            if include_templates {
                draft::set_true(&mut label, "includeTemplates");
            }
            list.push(label.into());
            list.len() - 1
        }
    };
    let broken = || Error::new(Code::WrongType, "an entry of 'labels' is not a mapping");
    let entry = list.get_mut(at).and_then(Node::as_mapping_mut).ok_or_else(broken)?;
    let key =
        entry.iter().map(|entry| entry.key().text()).find(|key| key.eq_ignore_ascii_case("pairs")).unwrap_or("pairs");
    let pairs = entry.get_or_insert_with(key, Node::null);
    if pairs.is_null() {
        pairs.put(Mapping::new(), Pos::NONE);
    }
    pairs.as_mapping_mut().ok_or_else(broken)
}

fn is_true(scalar: &Scalar<'_>) -> bool {
    matches!(scalar.text(), "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "y" | "Y")
}

/// Sets an entry of a map of texts; the case of its keys matters.
fn put<'a>(arena: Arena<'a>, mapping: &mut Mapping<'a>, key: &str, value: &str) {
    match mapping.get_mut(key) {
        Some(node) if node.as_scalar().is_some_and(|old| old.text() == value && !node.is_null()) => {}
        Some(node) => node.set_text(arena.text(value), Tag::Str, Pos::NONE),
        None => drop(mapping.insert(Key::string(arena.text(key)), Node::string(arena.text(value)))),
    }
}

/// Makes a note for each key that an entry of `labels` sets, too: `commonLabels`, which a command
/// writes, changes selectors besides.
fn note_other_labels(draft: &mut Draft<'_>, kind: Metadata, pairs: &BTreeMap<String, String>) {
    if kind != Metadata::Label {
        return;
    }
    let others = draft.items("labels").filter_map(|item| draft::get(item, "pairs")?.as_mapping());
    let others: BTreeSet<&str> = others.flat_map(|pairs| pairs.iter()).map(|entry| entry.key().text()).collect();
    let twice: Vec<&String> = pairs.keys().filter(|key| others.contains(key.as_str())).collect();
    for key in twice {
        draft.note(format!(
            "'labels' has {key}, too: 'commonLabels', which this command writes, changes selectors as well; \
             'edit add label --without-selector --force' writes 'labels'"
        ));
    }
}

/// `set label`, `set annotation`.
///
/// # Errors
/// An argument is malformed.
pub fn set(place: &mut Place, kind: Metadata, arguments: &[String]) -> Result<()> {
    let pairs = kind.pairs(arguments)?;
    if kind == Metadata::Annotation && !pairs.keys().all(|key| is_annotation_key(key)) {
        let rules = "https://kubernetes.io/docs/concepts/overview/working-with-objects/annotations/";
        return Err(usage(format!("invalid annotation key: see the syntax and character set rules at {rules}")));
    }
    place.change(|draft| {
        let arena = draft.arena;
        note_other_labels(draft, kind, &pairs);
        let mapping = draft.mapping(kind.field())?;
        pairs.iter().for_each(|(key, value)| put(arena, mapping, key, value));
        Ok(())
    })
}

/// Returns true if a text can be the key of an annotation: a name, with or without a domain and a
/// slash before it.
fn is_annotation_key(key: &str) -> bool {
    let (domain, name) = key.split_once('/').map_or((None, key), |(domain, name)| (Some(domain), name));
    let is_part = |text: &str, first: fn(&char) -> bool, inner: &str, longest: usize| {
        let chars: Vec<char> = text.chars().collect();
        let is_inner = |c: &char| c.is_ascii_alphanumeric() || inner.contains(*c);
        chars.first().is_some_and(first)
            && chars.last().is_some_and(char::is_ascii_alphanumeric)
            && chars.len() <= longest
            && chars.iter().all(is_inner)
    };
    domain.is_none_or(|domain| is_part(domain, char::is_ascii_alphabetic, "-.", 253))
        && is_part(name, char::is_ascii_alphanumeric, "-_.", 63)
}

/// `remove label`, `remove annotation`: removes keys, which are separated by commas. As in
/// kustomize, errors about the argument say "label" for both.
///
/// # Errors
/// The argument is malformed, or a key is missing and `is_missing_fine` is false.
pub fn remove(place: &mut Place, kind: Metadata, arguments: &[String], is_missing_fine: bool) -> Result<()> {
    let [keys] = arguments else {
        let fault =
            if arguments.is_empty() { "must specify label" } else { "labels must be comma-separated, with no spaces" };
        return Err(usage_as(fault, &format!("remove {} team,app", kind.word())));
    };
    let keys: Vec<&str> = keys.split(',').collect();
    if keys.contains(&"") {
        return Err(usage_as("invalid label: '' (name is empty)", &format!("remove {} team,app", kind.word())));
    }
    place.change(|draft| {
        if draft.get(kind.field()).is_none_or(Node::is_null) {
            let message = format!("{} is not defined in kustomization file", kind.field());
            let error = Error::new(Code::NoMatch, message);
            let in_labels = || keys.iter().find_map(|key| draft.items("labels").find_map(|label| pair_of(label, key)));
            return match (is_missing_fine, in_labels().filter(|_| kind.field() == "commonLabels")) {
                (true, _) => Ok(()),
                (false, Some(at)) => Err(error
                    .at(at)
                    .hint("this command changes 'commonLabels' alone: remove the line from 'labels' by hand")),
                (false, None) => Err(error),
            };
        }
        let mapping = draft.mapping(kind.field())?;
        for key in keys {
            if mapping.remove(key).is_none() && !is_missing_fine {
                return Err(Error::new(
                    Code::NoMatch,
                    format!("{} {key} is not defined in kustomization file", kind.word()),
                ));
            }
        }
        draft.drop_if_empty(kind.field())
    })
}

/// The place of a key in the pairs of an entry of `labels`.
fn pair_of(label: &Node<'_>, key: &str) -> Option<Pos> {
    let pairs = draft::get(label, "pairs")?.as_mapping()?;
    pairs.iter().find(|entry| entry.key().text() == key).map(|entry| entry.key().pos())
}

/// Turns the pairs of `commonLabels` into an entry of `labels` with the same effect. The pairs keep
/// their place.
pub fn from_common_labels(pairs: Node<'_>) -> Node<'_> {
    let mut label = Mapping::new();
    draft::set_true(&mut label, "includeSelectors");
    label.insert(Key::string("pairs"), pairs);
    label.into()
}

/// A list of one item, in the place of a value.
pub fn list_of<'a>(item: Node<'a>, pos: Pos) -> Node<'a> {
    Node::new(Sequence::from_iter([item]), pos)
}

#[cfg(test)]
mod tests {
    use super::is_annotation_key;

    #[test]
    fn keys_of_annotations() {
        for key in ["a", "a.b/c", "a-1.b/c_d.e-f", "0a", &format!("a/{}", "b".repeat(63))] {
            assert!(is_annotation_key(key), "{key}");
        }
        for key in ["", "-a", "a-", "a b", "a/b/c", "0a/b", "/a", "a/", &"b".repeat(64)] {
            assert!(!is_annotation_key(key), "{key}");
        }
    }
}
