//! [`Source`]: where the value of a replacement comes from.

use super::item_index::ItemIndex;
use super::structured_text::MADE;
use super::text_pieces::delimited;
use crate::config::field_path::{self, Part, lookup};
use crate::config::kustomization::SourceSelector;
use crate::diag::{Code, Error, Result};
use crate::resource::similar;
use crate::resource::{DEFAULT_NAMESPACE, Hint, ResId, ResMap, Resource};
use crate::schema::Gvk;
use rustomize_yaml::{Node, shared};

/// Where the value of a replacement comes from.
pub(super) enum Source<'a> {
    /// A text that is written out. In place of a list or a mapping it is read again, and may be a
    /// number.
    Value(&'a str),
    Field {
        selector: SourceSelector<'a>,
        path: Vec<Part<'a>>,
    },
}

/// At most this many resources are listed that a source matches.
const LISTED: usize = 5;

/// The one resource that a source names: by any id it has had.
fn find_source<'a>(map: &mut ResMap<'a>, selector: &SourceSelector<'a>) -> Result<usize> {
    let name = Some(selector.name).filter(|n| !n.is_empty());
    let wanted = if selector.namespace.is_empty() { None } else { Some(selector.namespace) };
    let is_match = |resource: &Resource<'a>| {
        let current = *resource.id();
        resource.any_ids().enumerate().any(|(nth, id)| {
            // The current id counts as namespaced, whatever its kind.
            let written = if current.namespace.is_empty() { DEFAULT_NAMESPACE } else { current.namespace };
            let namespace = if nth == resource.previous().len() { written } else { id.effective_namespace() };
            selector.gvk.selects(&id.gvk) && name.is_none_or(|n| n == id.name) && wanted.is_none_or(|w| w == namespace)
        })
    };
    let given = |text: &'a str| Some(text).filter(|text| !text.is_empty());
    let Gvk { group, version, kind } = selector.gvk;
    let hint = Hint {
        kind: given(kind),
        group: given(group),
        version: given(version),
        name,
        namespace: wanted,
        ..Hint::default()
    };
    let found: Vec<usize> = map.candidates(&hint).into_iter().filter(|&i| is_match(map.get(i))).collect();
    let shown = || {
        let parts = [("kind", kind), ("group", group), ("version", version), ("name", selector.name)];
        let parts = parts.into_iter().chain([("namespace", selector.namespace)]);
        let given: Vec<String> =
            parts.filter(|(_, text)| !text.is_empty()).map(|(part, text)| format!("{part}: {text}")).collect();
        format!("{{{}}}", given.join(", "))
    };
    match found[..] {
        [i] => Ok(i),
        [] => {
            let wanted = ResId::new(selector.gvk, selector.name, selector.namespace);
            Err(Error::new(Code::NoMatch, format!("nothing selected by {}", shown()))
                .at(selector.pos)
                .hint(similar::advice(map.iter(), &wanted)))
        }
        _ => {
            let mut ids: Vec<String> = found.iter().take(LISTED).map(|&i| map.get(i).id().to_string()).collect();
            if found.len() > LISTED {
                ids.push(format!("{} more", found.len() - LISTED));
            }
            Err(Error::new(Code::AmbiguousMatch, format!("multiple matches for selector {}", shown()))
                .at(selector.pos)
                .hint("add the name, the namespace or the group, so that one resource is left")
                .hint(format!("it matches {}", ids.join(", "))))
        }
    }
}

impl<'a> Source<'a> {
    /// The place of the resource that the value comes from; `None` for a value that is written out.
    pub(super) fn find(&self, map: &mut ResMap<'a>) -> Result<Option<usize>> {
        match self {
            Source::Value(_) => Ok(None),
            Source::Field { selector, .. } => find_source(map, selector).map(Some),
        }
    }

    /// Returns true if the source is read again for each target.
    pub(super) fn is_live(&self) -> bool {
        matches!(self, Source::Field { selector, .. } if selector.options.delimiter.is_empty())
    }

    /// Returns true if the value is the whole name of a resource.
    pub(super) fn is_name(&self) -> bool {
        let Source::Field { selector, path } = self else { return false };
        selector.options.delimiter.is_empty()
            && matches!(path.as_slice(), [Part::Key(metadata), Part::Key(name)] if *metadata == "metadata" && *name == "name")
    }

    /// The value; `place` is that of [`Source::find`].
    pub(super) fn value(&self, map: &ResMap<'a>, place: Option<usize>) -> Result<Node<'a>> {
        match (self, place) {
            (Source::Value(text), _) => Ok(MADE.with_text(text).into()),
            (Source::Field { .. }, None) => Ok(Node::null()),
            (Source::Field { selector, path }, Some(i)) => Source::read(map.get(i), selector, path, None),
        }
    }

    /// As [`Source::value`]. Sources that follow each other in one long list find its items by the
    /// index.
    pub(super) fn value_by<'s>(
        &'s self,
        map: &ResMap<'a>,
        place: Option<usize>,
        items: &mut ItemIndex<'s, 'a>,
    ) -> Result<Node<'a>> {
        let (Source::Field { selector, path }, Some(i)) = (self, place) else { return self.value(map, place) };
        Source::read(map.get(i), selector, path, items.value(i, map.get(i), path))
    }

    /// The value of this source in its own resource, as it is by now.
    pub(super) fn value_now(&self, own: &Resource<'a>) -> Result<Node<'a>> {
        match self {
            Source::Value(text) => Ok(MADE.with_text(text).into()),
            Source::Field { selector, path } => Source::read(own, selector, path, None),
        }
    }

    /// Where this source is in its own resource, as long as that is not edited above it.
    pub(super) fn place(&self, own: &Resource<'a>) -> Option<*const Node<'a>> {
        match self {
            Source::Value(_) => None,
            Source::Field { path, .. } => lookup(own.node(), path).ok().flatten().map(std::ptr::from_ref),
        }
    }

    /// The value at the path of a source, or of the node there if it is known.
    fn read(
        resource: &Resource<'a>,
        selector: &SourceSelector<'a>,
        path: &[Part<'a>],
        known: Option<&Node<'a>>,
    ) -> Result<Node<'a>> {
        let missing = || {
            let message =
                format!("fieldPath `{}` is missing for replacement source {}", selector.field_path, resource.id());
            Error::new(Code::MissingPath, message)
                .at(selector.field_path.pos)
                .at(selector.pos)
                .hint(field_path::advice(resource.node(), path))
        };
        let node = match known {
            Some(node) => Some(node),
            None => lookup(resource.node(), path)?,
        };
        let node = node.filter(|n| !n.is_null_or_empty()).ok_or_else(missing)?;
        let options = &selector.options;
        if options.delimiter.is_empty() {
            let mut value = node.clone();
            shared::unshare(&mut value);
            return Ok(value);
        }
        let Some(scalar) = node.as_scalar() else {
            return Err(delimited().at(selector.options.pos).at(selector.pos));
        };
        let mut pieces = scalar.text().split(options.delimiter);
        let piece = usize::try_from(options.index).ok().and_then(|n| pieces.nth(n));
        // The value, which may come from a Secret, is not in the message.
        let out_of_bounds = || {
            let value = format!("'{}' of {}", selector.field_path, resource.id());
            Error::new(
                Code::MissingPath,
                format!("options.index {} is out of bounds for the value of {value}", options.index),
            )
            .hint(format!(
                "'{}' divides it into {} parts, and the first one has the index 0",
                options.delimiter,
                scalar.text().split(options.delimiter).count()
            ))
        };
        let text = piece.ok_or_else(out_of_bounds).map_err(|e| e.at(options.pos))?;
        Ok(scalar.with_text(text).into())
    }
}
