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

use super::{TransformEach, Transformer, edit_fields, transform_each};
use crate::config::field_spec::Create;
use crate::config::{FieldSpecs, StringMap};
use crate::diag::{Error, Result};
use crate::pipeline::Session;
use crate::resource::{ResMap, Resource};
use crate::yaml::{Arena, Mapping, Node, Pos, Scalar, Value, json};

/// One entry of `labels`, or `commonLabels`.
pub struct LabelTransformer<'a> {
    pub labels: StringMap<'a>,
    pub specs: FieldSpecs<'a>,
}

impl<'a> Transformer<'a> for LabelTransformer<'a> {
    fn transform(&self, map: &mut ResMap<'a>, session: &Session<'a>) -> Result<()> {
        transform_each(&[(self, "")], map, session)
    }

    fn as_each(&self) -> Option<&dyn TransformEach<'a>> {
        Some(self)
    }
}

impl<'a> TransformEach<'a> for LabelTransformer<'a> {
    fn edit(&self, resource: &mut Resource<'a>, session: &Session<'a>) -> Result<()> {
        set_entries(session.arena, resource, &self.labels, &self.specs)
    }
}

/// Sets entries in every mapping that the specs lead to. Values are strings and keep the old style;
/// where the key is new, the places share the value.
pub(super) fn set_entries<'a>(
    arena: &Arena,
    resource: &mut Resource<'a>,
    entries: &StringMap<'a>,
    specs: &FieldSpecs<'a>,
) -> Result<()> {
    if entries.is_empty() {
        return Ok(());
    }
    let values: Vec<Pos> = entries.iter().map(|_| arena.shared_pos()).collect();
    let mut places = 0;
    edit_fields(resource, specs, Create::Mapping, &mut |node| {
        if node.is_null() {
            return Ok(());
        }
        let shape = node.shape();
        let Some(m) = node.as_mapping_mut() else {
            return Err(Error::input(format!("wrong node kind: expected a mapping, found {shape}")));
        };
        places += 1;
        entries.iter().zip(&values).for_each(|((key, value), pos)| set_entry(m, key, value, *pos));
        Ok(())
    })?;
    resource.settle_shared();
    if places > 1 {
        resource.mark_shared();
    }
    Ok(())
}

fn set_entry<'a>(m: &mut Mapping<'a>, key: &'a str, value: &'a str, pos: Pos) {
    let value = json::new_string(value);
    match m.get_mut(key) {
        Some(node) => node.set_scalar(Scalar { style: node.as_scalar().map_or(value.style, |old| old.style), ..value }),
        None => drop(m.insert(key, Node { value: Value::Scalar(value), pos })),
    }
}
