//! PrefixTransformer and SuffixTransformer: put a text before or behind every name.
//!
//! *Fields*: `namePrefix`, `nameSuffix`.
//! *Kinds*: `PrefixTransformer`, with `prefix` and `fieldSpecs`; `SuffixTransformer`, with `suffix`
//! and `fieldSpecs`; `PrefixSuffixTransformer`, with all three.
//! *Selects*: all resources but CustomResourceDefinitions, Namespaces and APIServices, by their
//! original id.
//! *Writes*: `metadata/name`, and the fields that `configurations` add.
//! *Order*: after `namespace`, before labels; the prefix first.
//! *Cost*: O(resources).
//! *Quirks*: the new text keeps the old style, so that a plain `e5` with prefix `1` becomes a
//! number (case prefix-makes-number).
//! *Example*: `testdata/reference/prefix.txtar`

use super::objects::Affixes;
use super::{edit_fields, scalar_of};
use crate::config::field_spec::Create;
use crate::config::{FieldSpecs, UsualSpecs};
use crate::diag::{Code, Error, Result};
use crate::resource::{Changes, Resource};
use crate::schema::Gvk;
use crate::stage::{Editor, Fields, Object, Planned, Specs, Stage, TransformEach};
use rustomize_yaml::{Arena, Pos};

/// `namePrefix` or `nameSuffix`.
pub struct NameAffixTransformer<'a> {
    text: &'a str,
    specs: FieldSpecs<'a>,
    side: Side,
    /// The entry, which is the place of the names that are set.
    pos: Pos,
}

/// The side of a name at which a text is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Prefix,
    Suffix,
}

impl<'a> NameAffixTransformer<'a> {
    /// The transformer of `namePrefix`.
    ///
    /// # Errors
    /// A field spec is wrong.
    pub fn prefix_from_fields(fields: &mut Fields<'_, 'a>) -> Result<Vec<Planned<'a>>> {
        let (text, pos) = (fields.kustomization.name_prefix, fields.pos("namePrefix"));
        if text.is_empty() {
            return Ok(Vec::new());
        }
        static USUAL: UsualSpecs = UsualSpecs::unmade();
        let specs = fields.specs(&USUAL, |config| &config.name_prefix)?;
        Ok(vec![fields.each(NameAffixTransformer { text, specs, side: Side::Prefix, pos }, pos)])
    }

    /// The transformer of `nameSuffix`.
    ///
    /// # Errors
    /// A field spec is wrong.
    pub fn suffix_from_fields(fields: &mut Fields<'_, 'a>) -> Result<Vec<Planned<'a>>> {
        let (text, pos) = (fields.kustomization.name_suffix, fields.pos("nameSuffix"));
        if text.is_empty() {
            return Ok(Vec::new());
        }
        static USUAL: UsualSpecs = UsualSpecs::unmade();
        let specs = fields.specs(&USUAL, |config| &config.name_suffix)?;
        Ok(vec![fields.each(NameAffixTransformer { text, specs, side: Side::Suffix, pos }, pos)])
    }

    /// The transformers of a configuration object: two for PrefixSuffixTransformer, else one.
    ///
    /// # Errors
    /// `fieldSpecs` is missing, or a field has a wrong type.
    pub fn from_object(object: &mut Object<'_, 'a>) -> Result<Vec<Stage<'a>>> {
        let (pos, kind) = (object.pos(), object.kind());
        if object.read::<Specs<'a>>()?.field_specs.is_none() {
            return Err(Error::new(Code::MissingField, "fieldSpecs is not expected to be nil").at(pos));
        }
        let Affixes { prefix, suffix } = object.read()?;
        let specs = object.specs()?;
        let sides = [("SuffixTransformer", prefix, Side::Prefix), ("PrefixTransformer", suffix, Side::Suffix)];
        let has = sides.into_iter().filter(|(kind_of_other, ..)| *kind_of_other != kind);
        let stage = |(_, text, side)| Stage::each(NameAffixTransformer { text, specs: specs.clone(), side, pos });
        Ok(has.map(stage).collect())
    }
}

impl<'a> TransformEach<'a> for NameAffixTransformer<'a> {
    fn editor(&self, arena: Arena<'a>) -> Editor<'_, 'a> {
        Box::new(move |resource| self.edit(resource, arena))
    }

    fn changes(&self) -> Changes {
        if self.specs.is_one_for_all("metadata/name") { Changes::NamesAlike } else { Changes::Names }
    }
}

impl<'a> NameAffixTransformer<'a> {
    fn edit(&self, resource: &mut Resource<'a>, arena: Arena<'a>) -> Result<()> {
        let original = resource.original_id().gvk;
        if is_skipped(&original) || self.specs.for_gvk(original).next().is_none() {
            return Ok(());
        }
        // A text that is empty changes nothing, but the fields are looked for.
        if !self.text.is_empty() && self.specs.rename(resource.id().gvk) && self.specs.rename(original) {
            resource.record_previous();
            match self.side {
                Side::Prefix => resource.add_prefix(self.text),
                Side::Suffix => resource.add_suffix(self.text),
            }
        }
        edit_fields(resource, &self.specs, Create::Scalar, &mut |node| {
            let old = scalar_of(node)?.text();
            let parts = match self.side {
                Side::Prefix => [self.text, old],
                Side::Suffix => [old, self.text],
            };
            node.set_untyped(arena.concat(&parts), self.pos);
            Ok(())
        })
    }
}

fn is_skipped(gvk: &Gvk<'_>) -> bool {
    matches!(gvk.kind, "CustomResourceDefinition" | "Namespace")
        || (gvk.kind == "APIService" && gvk.group == "apiregistration.k8s.io")
}
