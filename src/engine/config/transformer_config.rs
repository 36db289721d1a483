//! Transformer configurations: more fields for the built-in transformers to work on.
//! [`TransformerConfig`] holds the field specs of all of them, the defaults and those of
//! `configurations` files.
//!
//! *Fields*: `configurations`.
//! *Reads*: files with the sections `namePrefix`, `nameSuffix`, `namespace`, `commonLabels`,
//! `labels`, `templateLabels`, `volumeClaimTemplateLabels`, `commonAnnotations`, `nameReference`,
//! `varReference`, `images` and `replicas`.
//! *Entry*: `FieldSpec`.
//! *Order*: before the resources of the layer. A base's configuration also applies to the layers
//! above it (case fs-config-leaks-to-parent).
//! *Cost*: O(specs).
//! *Quirks*: specs are added and never replaced. But a spec for one kind hides a general one with
//! the same path (case fs-specific-drops-general-labels).
//! *Example*: `testdata/reference/transformer_config.txtar`

use super::defaults::{self, DefaultReference};
use super::field_spec::{DefaultSpec, FieldSpec, MergedSpecs};
use super::{Decode, Described};
use crate::diag::Result;
use crate::schema::Gvk;
use crate::schema::gvk::compare_kinds;
use rustomize_base::compat::Compat;
use rustomize_base::meter::FastMap;
use std::ptr;
use std::sync::{Arc, LazyLock};

/// The configuration that almost every build has.
static USUAL: LazyLock<Arc<TransformerConfig<'static>>> =
    LazyLock::new(|| Arc::new(TransformerConfig::defaults(Compat::default())));

/// The target of name references, and the fields that hold them.
#[derive(Clone, Debug, Default, Decode, Described)]
pub struct NameBackReferences<'a> {
    /// The kinds that are referred to.
    #[field(parts(group, version, kind))]
    pub gvk: Gvk<'a>,
    /// The fields that hold their names.
    #[field(name = "fieldSpecs")]
    pub fields: MergedSpecs<'a>,
}

/// The fields of each transformer.
#[derive(Clone, Debug, Default, Decode, Described)]
pub struct TransformerConfig<'a> {
    /// Fields that `namePrefix` works on.
    pub name_prefix: MergedSpecs<'a>,
    /// Fields that `nameSuffix` works on.
    pub name_suffix: MergedSpecs<'a>,
    /// Fields that `namespace` is written into.
    pub namespace: MergedSpecs<'a>,
    /// Fields that `commonLabels` are written into, and `labels` with `includeSelectors`.
    pub common_labels: MergedSpecs<'a>,
    /// Fields that `labels` are written into.
    pub labels: MergedSpecs<'a>,
    /// Fields that `labels` with `includeTemplates` are written into.
    pub template_labels: MergedSpecs<'a>,
    /// Fields that `labels` with `includeVolumeClaimTemplates` are written into.
    #[field(only_if(takes_volume_claim_template_labels))]
    pub volume_claim_template_labels: MergedSpecs<'a>,
    /// Fields that `commonAnnotations` are written into.
    pub common_annotations: MergedSpecs<'a>,
    /// Fields that hold images.
    pub images: MergedSpecs<'a>,
    /// Fields that hold numbers of replicas.
    pub replicas: MergedSpecs<'a>,
    /// Fields in which `$(NAME)` is replaced by the value of a variable.
    pub var_reference: MergedSpecs<'a>,
    /// Fields that hold names of other resources, by the kind of the other resource.
    pub name_reference: Vec<NameBackReferences<'a>>,
    /// The index of each kind's references, in the list that others were merged into.
    #[field(skip)]
    references: Option<FastMap<Gvk<'a>, usize>>,
}

impl<'a> TransformerConfig<'a> {
    /// As [`TransformerConfig::defaults`]. That of the usual version is made once in a process.
    pub fn shared_defaults(compat: Compat) -> Arc<Self> {
        if compat == Compat::default() { Arc::clone(&USUAL) } else { Arc::new(TransformerConfig::defaults(compat)) }
    }

    /// The usual configuration, which lives as long as the process, if this is it: a table that
    /// is made of the usual configuration can be kept.
    pub fn as_usual(&self) -> Option<&'static TransformerConfig<'static>> {
        let usual: &'static TransformerConfig<'static> = &USUAL;
        ptr::addr_eq(self, usual).then_some(usual)
    }

    /// The configuration that every build for a version of kustomize starts with.
    pub fn defaults(compat: Compat) -> Self {
        let specs = |table: &'static [DefaultSpec]| -> MergedSpecs<'a> {
            table.iter().filter(|spec| (spec.asks)(compat)).map(FieldSpec::from).collect::<Vec<_>>().into()
        };
        let references = |r: &'static DefaultReference| {
            let fields = specs(r.fields);
            let gvk = Gvk { group: r.group, version: r.version, kind: r.kind };
            (fields.len() > 0).then_some(NameBackReferences { gvk, fields })
        };
        TransformerConfig {
            name_prefix: specs(&defaults::NAME_PREFIX),
            name_suffix: specs(&defaults::NAME_SUFFIX),
            namespace: specs(&defaults::NAMESPACE),
            common_labels: specs(&defaults::COMMON_LABELS),
            labels: MergedSpecs::default(),
            template_labels: specs(&defaults::TEMPLATE_LABELS),
            volume_claim_template_labels: specs(&defaults::VOLUME_CLAIM_TEMPLATE_LABELS),
            common_annotations: specs(&defaults::COMMON_ANNOTATIONS),
            images: specs(&defaults::IMAGES),
            replicas: specs(&defaults::REPLICAS),
            var_reference: specs(&defaults::VAR_REFERENCE),
            name_reference: defaults::NAME_REFERENCES.iter().filter_map(references).collect(),
            references: None,
        }
    }

    fn sections(&mut self) -> [&mut MergedSpecs<'a>; 11] {
        [
            &mut self.name_prefix,
            &mut self.name_suffix,
            &mut self.namespace,
            &mut self.common_labels,
            &mut self.labels,
            &mut self.template_labels,
            &mut self.volume_claim_template_labels,
            &mut self.common_annotations,
            &mut self.images,
            &mut self.replicas,
            &mut self.var_reference,
        ]
    }

    /// Adds another configuration. Nothing is replaced. A spec is dropped if there is one with the
    /// same path for the same or fewer kinds. O(size of `other`).
    ///
    /// # Errors
    /// Two specs of one path disagree about `create`.
    pub fn merge(&mut self, mut other: TransformerConfig<'a>) -> Result<()> {
        for (mine, theirs) in self.sections().into_iter().zip(other.sections()) {
            mine.merge_by_kind(std::mem::take(theirs).in_order().into_owned())?;
        }
        let list = &mut self.name_reference;
        let known =
            self.references.get_or_insert_with(|| list.iter().enumerate().rev().map(|(i, r)| (r.gvk, i)).collect());
        let is_merged = other.references.is_some();
        for reference in in_order(other.name_reference, is_merged) {
            match known.get(&reference.gvk) {
                Some(&have) => list[have].fields.merge_by_kind(reference.fields.in_order().into_owned())?,
                None => {
                    known.insert(reference.gvk, list.len());
                    list.push(reference);
                }
            }
        }
        Ok(())
    }

    /// The name references, in the order in which they are followed.
    pub fn references(&self) -> Vec<NameBackReferences<'a>> {
        in_order(self.name_reference.clone(), self.references.is_some())
    }
}

/// Sorts references by the kind that they refer to, if others were merged into them.
fn in_order<'a>(mut references: Vec<NameBackReferences<'a>>, by_kind: bool) -> Vec<NameBackReferences<'a>> {
    if by_kind {
        references.sort_by(|a, b| compare_kinds(&a.gvk, &b.gvk));
        references.iter_mut().for_each(|reference| reference.fields.sort_by_kind());
    }
    references
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustomize_yaml::Heap;

    // The specs of the usual configuration are kept without this step.
    #[test]
    fn a_builtin_reads_the_texts_of_the_tables_as_they_are() {
        let heap = Heap::new();
        for compat in Compat::all() {
            let mut config = TransformerConfig::defaults(compat);
            for specs in config.sections() {
                for spec in specs.in_order().iter() {
                    let mut read = spec.clone();
                    read.read_for_builtin(heap.arena()).unwrap();
                    assert_eq!((read.gvk, read.path), (spec.gvk, spec.path));
                }
            }
        }
    }

    #[test]
    fn a_copy_of_the_usual_configuration_is_not_the_usual_one() {
        let shared = TransformerConfig::shared_defaults(Compat::default());
        assert!(shared.as_usual().is_some());
        assert!(TransformerConfig::clone(&shared).as_usual().is_none());
        assert!(TransformerConfig::shared_defaults(Compat::all().next().unwrap()).as_usual().is_none());
    }
}
