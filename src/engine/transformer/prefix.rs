//! PrefixTransformer and SuffixTransformer: put a text before or behind every name.
//!
//! *Fields*: `namePrefix`, `nameSuffix`.
//! *Kinds*: `PrefixTransformer`, with `prefix` and `fieldSpecs`; `SuffixTransformer`, with `suffix`
//! and `fieldSpecs`; `PrefixSuffixTransformer`, with all three.
//! *Selects*: all resources but CustomResourceDefinitions, Namespaces and APIServices, by their
//! original id.
//! *Writes*: `metadata/name`, and what `configurations` add.
//! *Order*: after `namespace`, before labels; the prefix first.
//! *Cost*: O(resources).
//! *Quirks*: the new text keeps the old style, so that a plain `e5` with prefix `1` becomes a
//! number (case prefix-makes-number).
//! *Example*: `testdata/reference/prefix.txtar`

use super::{edit_fields, scalar_of};
use crate::config::FieldSpecs;
use crate::config::field_spec::Create;
use crate::diag::Result;
use crate::resource::{Changes, Resource};
use crate::schema::Gvk;
use crate::stage::{Editor, TransformEach};
use rustomize_yaml::{Arena, Pos};

/// `namePrefix` or `nameSuffix`.
pub struct NameAffixTransformer<'a> {
    pub text: &'a str,
    pub specs: FieldSpecs<'a>,
    pub is_suffix: bool,
    /// The entry, which is the place of what is set.
    pub pos: Pos,
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
            if self.is_suffix { resource.add_suffix(self.text) } else { resource.add_prefix(self.text) }
        }
        edit_fields(resource, &self.specs, Create::Scalar, &mut |node| {
            let old = scalar_of(node)?.text();
            let parts = if self.is_suffix { [old, self.text] } else { [self.text, old] };
            node.set_untyped(arena.concat(&parts), self.pos);
            Ok(())
        })
    }
}

fn is_skipped(gvk: &Gvk<'_>) -> bool {
    matches!(gvk.kind, "CustomResourceDefinition" | "Namespace")
        || (gvk.kind == "APIService" && gvk.group == "apiregistration.k8s.io")
}
