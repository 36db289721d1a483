//! LabelTransformer: sets labels on resources, and in selectors and templates where asked.
//!
//! *Fields*: `labels`, `commonLabels`.
//! *Kinds*: `LabelTransformer`, with `labels` and `fieldSpecs`; without specs it does nothing.
//! *Entry*: `Label`, `FieldSpec`.
//! *Selects*: all resources.
//! *Writes*: the mappings that the field specs lead to. Those of an entry of `labels` are its own
//! `fields`, then `metadata/labels`, with `includeTemplates` also pod and claim templates, with
//! `includeSelectors` also selectors. `commonLabels` always sets selectors.
//! *Order*: after the names, before annotations; entries of `labels` in order, then `commonLabels`:
//! later ones win.
//! *Cost*: O(resources x specs of their kind).
//! *Quirks*: a spec for one kind hides a general one with the same path (cases
//! labels-fields-specific-hides-general and fs-specific-drops-general-labels). A new label is one
//! value in all its places: when a later label, patch or replacement changes it in one of them, all
//! change, selectors too, until a JSON patch or a plugin has rewritten the resource (cases
//! shared-label and shared-label-ends).
//! *Example*: `testdata/reference/label.txtar`

use super::edit_fields;
use crate::config::field_spec::{Create, Step, split};
use crate::config::{FieldSpec, FieldSpecs, StringMap};
use crate::diag::{Code, Error, Result, Warning};
use crate::resource::{Hint, ResMap, Resource};
use crate::stage::{Build, Editor, TransformEach};
use crate::yaml::shared::Shared;
use crate::yaml::{Arena, Key, Node, Pos, Scalar, Style, Value, json};

/// One entry of `labels`, or `commonLabels`.
pub struct LabelTransformer<'a> {
    pub labels: StringMap<'a>,
    /// The fields that the entry itself names; they are among the specs, too.
    pub fields: Vec<FieldSpec<'a>>,
    pub specs: FieldSpecs<'a>,
    /// The entry, which is the place of new keys.
    pub pos: Pos,
}

impl<'a> TransformEach<'a> for LabelTransformer<'a> {
    fn editor(&self, arena: Arena<'a>) -> Editor<'_, 'a> {
        let entries = NewEntries::of(&self.labels, self.pos);
        Box::new(move |resource| entries.set(arena, resource, &self.specs, self.pos))
    }

    fn check(&self, map: &mut ResMap<'a>, build: &mut Build<'a>) -> Result<()> {
        let arena = build.arena;
        build
            .find(|| self.fields.iter().filter_map(|field| self.without_effect(map, arena, field)).collect::<Vec<_>>());
        Ok(())
    }
}

impl<'a> LabelTransformer<'a> {
    /// The finding about a field of the entry that no resource has. O(resources of the kind).
    fn without_effect(&self, map: &mut ResMap<'a>, arena: Arena<'a>, field: &FieldSpec<'a>) -> Option<Warning> {
        let kind = Some(field.gvk.kind).filter(|kind| !kind.is_empty());
        let path = split(arena, field.path);
        let mut candidates = map.candidates(&Hint::of_kind(kind)).into_iter().map(|i| map.get(i));
        if candidates.any(|resource| field.gvk.selects(&resource.id().gvk) && leads(resource.node(), &path)) {
            return None;
        }
        let of_kind = kind.map_or_else(String::new, |kind| format!(" of kind '{kind}'"));
        let message = format!("the labels change nothing at '{}': no resource{of_kind} has this field", field.path);
        let finding = Warning::new(Code::NoEffect, message).at(self.pos);
        Some(if field.create { finding } else { finding.hint("'create: true' makes a field that is missing") })
    }
}

/// Returns true if a path leads to a mapping, in any item of the lists on the way.
fn leads(node: &Node<'_>, path: &[Step<'_>]) -> bool {
    match (path.split_first(), node.value()) {
        (_, Value::Sequence(items)) => items.iter().any(|item| leads(item, path)),
        (None, value) => matches!(value, Value::Mapping(_)),
        (Some((step, rest)), Value::Mapping(fields)) => fields.get(step.key).is_some_and(|value| leads(value, rest)),
        (Some(_), Value::Scalar(_)) => false,
    }
}

/// Labels or annotations that a stage sets, each as a new key with a new string.
pub(super) struct NewEntries<'a>(Vec<(Key<'a>, Scalar<'a>)>);

impl<'a> NewEntries<'a> {
    /// Keys have the place `entry`.
    pub(super) fn of(entries: &StringMap<'a>, entry: Pos) -> Self {
        NewEntries(entries.iter().map(|(key, value)| (Key::made(key, entry), json::new_string(value))).collect())
    }

    /// Sets the entries in every mapping that the specs lead to. Values are strings and keep the
    /// old style; where the key is new, the places share the value. Values have the place `entry`.
    /// Upstream has one value for all places, which takes over the style of each value that it
    /// replaces.
    pub(super) fn set(
        &self,
        arena: Arena<'_>,
        resource: &mut Resource<'a>,
        specs: &FieldSpecs<'a>,
        entry: Pos,
    ) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut values: Vec<(Option<Shared>, Scalar<'a>)> =
            self.0.iter().map(|(_, new)| (arena.new_shared(), *new)).collect();
        let mut places = 0;
        let mut is_ahead = false;
        let mut sets_shared = false;
        edit_fields(resource, specs, Create::Mapping, &mut |node| {
            if node.is_null() {
                return Ok(());
            }
            let shape = node.shape();
            let Some(m) = node.as_mapping_mut() else {
                let error = Error::new(Code::WrongType, format!("wrong node kind: expected a mapping, found {shape}"));
                return Err(error.hint("write lines of 'name: value' here"));
            };
            for ((key, new), (shared, value)) in self.0.iter().zip(&mut values) {
                match m.get_mut(key.text()) {
                    Some(node) => {
                        let style = node.as_scalar().map_or(value.style(), Scalar::style);
                        is_ahead |= places > 0 && style != value.style();
                        *value = value.with_style(style);
                        node.set_scalar(*value, entry);
                        sets_shared |= node.is_ahead();
                    }
                    None => {
                        if value.style() == Style::Plain {
                            *value = *new;
                        }
                        m.insert(*key, Node::shared_scalar(*value, entry, *shared));
                    }
                }
            }
            places += 1;
            Ok(())
        })?;
        if sets_shared {
            resource.settle_shared();
        }
        if places > 1 {
            resource.mark_shared();
        }
        if is_ahead {
            let values: Vec<_> = values.into_iter().filter_map(|(shared, value)| Some((shared?, value))).collect();
            resource.set_shared(&values, entry);
        }
        Ok(())
    }
}
