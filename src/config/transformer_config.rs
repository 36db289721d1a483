//! Transformer configurations: more fields for the built-in transformers to work on. [`TransformerConfig`] holds the field specs of
//! all of them, the defaults and those of `configurations` files.
//!
//! *Fields*: `configurations`.
//! *Reads*: files with the sections `namePrefix`, `nameSuffix`, `namespace`, `commonLabels`, `labels`, `templateLabels`,
//! `commonAnnotations`, `nameReference`, `varReference`, `images` and `replicas`.
//! *Entry*: `FieldSpec`.
//! *Order*: before the resources of the layer. A base's configuration holds for the layers above it too (case
//! fs-config-leaks-to-parent).
//! *Cost*: O(specs).
//! *Quirks*: all is added, nothing replaces; but a spec for one kind hides a general one with the same path (case
//! fs-specific-drops-general-labels).
//! *Example*: `testdata/reference/transformer_config.txtar`

use super::decode::{Decode, Decoder};
use super::defaults::{self, DefaultReference};
use super::field_spec::{self, DefaultSpec, FieldSpec};
use crate::diag::Result;
use crate::resource::{Gvk, order};
use crate::yaml::Node;

/// What a name reference points to, and the fields that hold it.
#[derive(Clone, Debug, Default)]
pub struct NameBackReferences<'a> {
    pub gvk: Gvk<'a>,
    pub fields: Vec<FieldSpec<'a>>,
}

impl<'a> Decode<'a> for NameBackReferences<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        cx.object(
            node,
            &mut [
                ("group", &mut self.gvk.group),
                ("version", &mut self.gvk.version),
                ("kind", &mut self.gvk.kind),
                ("fieldSpecs", &mut self.fields),
            ],
        )?;
        Ok(())
    }
}

impl From<&DefaultReference> for NameBackReferences<'_> {
    fn from(r: &DefaultReference) -> Self {
        let gvk = Gvk { group: r.group, version: r.version, kind: r.kind };
        NameBackReferences { gvk, fields: r.fields.iter().map(FieldSpec::from).collect() }
    }
}

/// Where each transformer finds its fields.
#[derive(Clone, Debug, Default)]
pub struct TransformerConfig<'a> {
    pub name_prefix: Vec<FieldSpec<'a>>,
    pub name_suffix: Vec<FieldSpec<'a>>,
    pub namespace: Vec<FieldSpec<'a>>,
    pub common_labels: Vec<FieldSpec<'a>>,
    pub labels: Vec<FieldSpec<'a>>,
    pub template_labels: Vec<FieldSpec<'a>>,
    pub common_annotations: Vec<FieldSpec<'a>>,
    pub images: Vec<FieldSpec<'a>>,
    pub replicas: Vec<FieldSpec<'a>>,
    pub var_reference: Vec<FieldSpec<'a>>,
    pub name_reference: Vec<NameBackReferences<'a>>,
}

impl<'a> Decode<'a> for TransformerConfig<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        cx.object(
            node,
            &mut [
                ("namePrefix", &mut self.name_prefix),
                ("nameSuffix", &mut self.name_suffix),
                ("namespace", &mut self.namespace),
                ("commonLabels", &mut self.common_labels),
                ("labels", &mut self.labels),
                ("templateLabels", &mut self.template_labels),
                ("commonAnnotations", &mut self.common_annotations),
                ("images", &mut self.images),
                ("replicas", &mut self.replicas),
                ("varReference", &mut self.var_reference),
                ("nameReference", &mut self.name_reference),
            ],
        )?;
        Ok(())
    }
}

impl<'a> TransformerConfig<'a> {
    /// The configuration every build starts with.
    pub fn defaults() -> Self {
        let specs = |table: &[DefaultSpec]| table.iter().map(FieldSpec::from).collect();
        TransformerConfig {
            name_prefix: specs(&defaults::NAME_PREFIX),
            name_suffix: specs(&defaults::NAME_SUFFIX),
            namespace: specs(&defaults::NAMESPACE),
            common_labels: specs(&defaults::COMMON_LABELS),
            labels: Vec::new(),
            template_labels: specs(&defaults::TEMPLATE_LABELS),
            common_annotations: specs(&defaults::COMMON_ANNOTATIONS),
            images: specs(&defaults::IMAGES),
            replicas: specs(&defaults::REPLICAS),
            var_reference: specs(&defaults::VAR_REFERENCE),
            name_reference: defaults::NAME_REFERENCES.iter().map(NameBackReferences::from).collect(),
        }
    }

    fn sections(&mut self) -> [&mut Vec<FieldSpec<'a>>; 10] {
        [
            &mut self.name_prefix,
            &mut self.name_suffix,
            &mut self.namespace,
            &mut self.common_labels,
            &mut self.labels,
            &mut self.template_labels,
            &mut self.common_annotations,
            &mut self.images,
            &mut self.replicas,
            &mut self.var_reference,
        ]
    }

    /// Adds another configuration: nothing replaces anything, but a spec is dropped for one
    /// that covers it.
    ///
    /// # Errors
    /// Two specs of one path disagree about `create`.
    pub fn merge(&mut self, mut other: TransformerConfig<'a>) -> Result<()> {
        for (mine, theirs) in self.sections().into_iter().zip(other.sections()) {
            field_spec::merge(mine, std::mem::take(theirs))?;
        }
        for reference in other.name_reference {
            match self.name_reference.iter_mut().find(|r| r.gvk == reference.gvk) {
                Some(have) => field_spec::merge(&mut have.fields, reference.fields)?,
                None => self.name_reference.push(reference),
            }
        }
        self.sort();
        Ok(())
    }

    /// Brings every list into the order in which it is applied: by kind.
    fn sort(&mut self) {
        for section in self.sections() {
            section.sort_by(|a, b| order::compare_kinds(&a.gvk, &b.gvk));
        }
        self.name_reference.sort_by(|a, b| order::compare_kinds(&a.gvk, &b.gvk));
        for reference in &mut self.name_reference {
            reference.fields.sort_by(|a, b| order::compare_kinds(&a.gvk, &b.gvk));
        }
    }
}
