//! LabelTransformer: sets labels on resources, and in selectors and templates if asked.
//!
//! *Writes*: the mappings its field specs lead to. *Order*: entries of `labels` in order, then `commonLabels`, after
//! the names; later ones win. *Cost*: O(resources x specs of their kind).

use super::{TransformEach, Transformer, edit_fields, transform_each};
use crate::config::field_spec::Create;
use crate::config::{FieldSpecs, StringMap};
use crate::diag::{Error, Result};
use crate::pipeline::Session;
use crate::resource::{ResMap, Resource};
use crate::yaml::{Mapping, Node, Scalar, Value};

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
    fn edit(&self, resource: &mut Resource<'a>, _: &Session<'a>) -> Result<()> {
        set_entries(resource, &self.labels, &self.specs)
    }
}

/// Sets entries in every mapping that the specs lead to. Values are strings and keep the old style.
pub(super) fn set_entries<'a>(
    resource: &mut Resource<'a>,
    entries: &StringMap<'a>,
    specs: &FieldSpecs<'a>,
) -> Result<()> {
    if entries.is_empty() {
        return Ok(());
    }
    edit_fields(resource, specs, Create::Mapping, &mut |node| {
        if node.is_null() {
            return Ok(());
        }
        let shape = node.shape();
        let Some(m) = node.as_mapping_mut() else {
            return Err(Error::input(format!("wrong node kind: expected a mapping, found {shape}")));
        };
        entries.iter().for_each(|(key, value)| set_entry(m, key, value));
        Ok(())
    })
}

fn set_entry<'a>(m: &mut Mapping<'a>, key: &'a str, value: &'a str) {
    match m.get_mut(key) {
        Some(Node { value: Value::Scalar(old), .. }) => *old = Scalar { style: old.style, ..Scalar::string(value) },
        Some(node) => node.value = Value::Scalar(Scalar::string(value)),
        None => drop(m.insert(key, Node::string(value))),
    }
}
