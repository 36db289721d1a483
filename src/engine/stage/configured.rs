//! [`Fields`] and [`Object`]: the two ways to configure a built-in stage, by the fields of a
//! kustomization and by a configuration object; [`Planned`]: a transformer that a field asks for.

use super::{Build, Stage, TransformEach, Transformer};
use crate::config::field_spec::MergedSpecs;
use crate::config::kustomization::Metadata;
use crate::config::{Decode, Decoder, FieldSpec, FieldSpecs, Kustomization, TransformerConfig, UsualSpecs};
use crate::diag::Result;
use crate::load::Root;
use crate::resource::Resource;
use rustomize_yaml::{Arena, Pos};

/// A transformer that a field asks for.
pub struct Planned<'a> {
    pub stage: Stage<'a>,
    /// The kustomize kind.
    pub kind: &'static str,
    /// The field or entry that asks for it.
    pub pos: Pos,
    /// The number of kustomize's transformers that this one stands for: kustomize has one for each
    /// entry of most fields.
    pub instances: usize,
}

/// The fields of a kustomization that transformers of one kind are made of.
pub struct Fields<'f, 'a> {
    pub build: &'f mut Build<'a>,
    pub root: &'f Root,
    pub kustomization: &'f Kustomization<'a>,
    /// The field specs of this root and of its bases.
    pub config: &'f TransformerConfig<'a>,
    /// The kustomize kind of the transformers.
    pub kind: &'static str,
}

impl<'a> Fields<'_, 'a> {
    /// The place of a field.
    pub fn pos(&self, field: &str) -> Pos {
        self.kustomization.place_of(field)
    }

    /// The field specs in a list of the configuration, as a built-in transformer reads them. Those
    /// of the usual configuration are kept in `usual`.
    ///
    /// # Errors
    /// A path of a field spec has a control character.
    pub fn specs(
        &self,
        usual: &'static UsualSpecs,
        list: for<'c, 't> fn(&'c TransformerConfig<'t>) -> &'c MergedSpecs<'t>,
    ) -> Result<FieldSpecs<'a>> {
        match self.config.as_usual() {
            Some(config) => usual.get_or_make(|| Ok(list(config).clone())),
            None => self.read(list(self.config)),
        }
    }

    /// Field specs as a built-in transformer reads them.
    ///
    /// # Errors
    /// A path of a field spec has a control character.
    pub fn read(&self, list: &MergedSpecs<'a>) -> Result<FieldSpecs<'a>> {
        let arena = self.build.arena;
        let mut specs = list.in_order().into_owned();
        specs.iter_mut().try_for_each(|spec| spec.read_for_builtin(arena))?;
        Ok(FieldSpecs::new(arena, specs))
    }

    /// A stage that looks at one resource at a time.
    pub fn each(&self, stage: impl TransformEach<'a> + 'a, pos: Pos) -> Planned<'a> {
        Planned { stage: Stage::each(stage), kind: self.kind, pos, instances: 1 }
    }

    /// A stage that looks at all resources.
    pub fn whole(&self, stage: impl Transformer<'a> + 'a, pos: Pos) -> Planned<'a> {
        Planned { stage: Stage::whole(stage), kind: self.kind, pos, instances: 1 }
    }
}

/// The configuration object of a built-in generator or transformer. Unknown fields have no effect,
/// as in kustomize.
pub struct Object<'o, 'a> {
    pub build: &'o mut Build<'a>,
    /// The root whose kustomization lists the object.
    pub root: &'o Root,
    pub config: &'o Resource<'a>,
}

/// The metadata of an object whose stage uses its name or namespace.
#[derive(Default, Decode)]
struct Identified<'a> {
    metadata: Metadata<'a>,
}

/// The fields that a transformer works on.
#[derive(Default, Decode, crate::config::Described)]
pub struct Specs<'a> {
    /// The fields to work on.
    pub field_specs: Option<Vec<FieldSpec<'a>>>,
}

impl<'a> Object<'_, 'a> {
    /// The arena of the build.
    pub fn arena(&self) -> Arena<'a> {
        self.build.arena
    }

    /// The kustomize kind.
    pub fn kind(&self) -> &'a str {
        self.config.id().gvk.kind
    }

    /// The place of the object.
    pub fn pos(&self) -> Pos {
        self.config.pos()
    }

    /// Reads the fields of a record.
    ///
    /// # Errors
    /// A field has a wrong type.
    pub fn read<T: Decode<'a> + Default>(&self) -> Result<T> {
        let mut value = T::default();
        value.decode(self.config.node(), &Decoder::lenient(self.arena()))?;
        Ok(value)
    }

    /// The name and namespace of the object.
    ///
    /// # Errors
    /// The name or the namespace is not a text.
    pub fn metadata(&self) -> Result<Metadata<'a>> {
        Ok(self.read::<Identified<'a>>()?.metadata)
    }

    /// The field specs of the object: none if it has no list of them.
    ///
    /// # Errors
    /// A field spec has a wrong type.
    pub fn specs(&self) -> Result<FieldSpecs<'a>> {
        let Specs { field_specs } = self.read()?;
        Ok(FieldSpecs::new(self.arena(), field_specs.unwrap_or_default()))
    }
}
