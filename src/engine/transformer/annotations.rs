//! AnnotationsTransformer: sets annotations on resources and their pod templates.
//!
//! *Fields*: `commonAnnotations`.
//! *Kinds*: `AnnotationsTransformer`, with `annotations` and `fieldSpecs`; without specs it does
//! nothing.
//! *Selects*: all resources.
//! *Writes*: the mappings that the field specs lead to: `metadata/annotations` of everything and of
//! the pod templates of workloads and CronJobs.
//! *Order*: after labels, before patchesJson6902.
//! *Cost*: O(resources x specs of their kind).
//! *Quirks*: a new annotation is one value in all its places, as a new label is: see
//! LabelTransformer. Not so for `metadata/annotations` where the root has `buildMetadata`: upstream
//! then writes them again after every transformer.
//! *Example*: `testdata/reference/annotations.txtar`

use super::label::NewEntries;
use super::objects::Annotations;
use crate::config::{FieldSpecs, UsualSpecs, WrittenMap};
use crate::diag::Result;
use crate::resource::ResMap;
use crate::stage::{Build, Editor, Fields, Object, Overridden, Overriding, Planned, Stage, TransformEach, Watched};
use rustomize_yaml::{Arena, Pos};

/// `commonAnnotations`.
pub struct AnnotationsTransformer<'a> {
    annotations: WrittenMap<'a>,
    specs: FieldSpecs<'a>,
    /// The field, which is the place of new keys.
    pos: Pos,
    /// True if the build notes the origin of each resource: kustomize then writes all annotations
    /// of the resource again after every transformer.
    keeps_origins: bool,
    /// The values of patches that it replaces, if the build is asked for findings.
    overridden: Option<Overridden>,
}

impl<'a> AnnotationsTransformer<'a> {
    /// The transformer of `commonAnnotations`.
    ///
    /// # Errors
    /// A field spec is wrong.
    pub fn from_fields(fields: &mut Fields<'_, 'a>) -> Result<Vec<Planned<'a>>> {
        let annotations = fields.kustomization.common_annotations.clone();
        if annotations.is_empty() {
            return Ok(Vec::new());
        }
        static USUAL: UsualSpecs = UsualSpecs::unmade();
        let specs = fields.specs(&USUAL, |config| &config.common_annotations)?;
        let (pos, keeps_origins) = (fields.pos("commonAnnotations"), fields.build.keeps_origins());
        let stage = AnnotationsTransformer { annotations, specs, pos, keeps_origins, overridden: None };
        Ok(vec![fields.each(stage, pos)])
    }

    /// The transformer of a configuration object.
    ///
    /// # Errors
    /// A field has a wrong type.
    pub fn from_object(object: &mut Object<'_, 'a>) -> Result<Stage<'a>> {
        let Annotations { annotations } = object.read()?;
        let (specs, keeps_origins) = (object.specs()?, object.build.keeps_origins());
        let pos = object.pos();
        Ok(Stage::each(AnnotationsTransformer { annotations, specs, pos, keeps_origins, overridden: None }))
    }
}

impl<'a> TransformEach<'a> for AnnotationsTransformer<'a> {
    fn editor(&self, _: Arena<'a>) -> Editor<'_, 'a> {
        let entries = NewEntries::of(&self.annotations, self.pos, self.overridden.as_ref());
        Box::new(move |resource| {
            entries.set(resource, &self.specs)?;
            if self.keeps_origins {
                resource.unshare_annotations();
            }
            Ok(())
        })
    }

    fn check(&self, map: &mut ResMap<'a>, build: &mut Build<'a>) -> Result<()> {
        let message = "this value is not in the output: 'commonAnnotations' replaces it";
        build.find(|| self.overridden.iter().flat_map(|overridden| overridden.findings(map, message)));
        Ok(())
    }

    fn overriding(&mut self) -> Option<&mut dyn Overriding> {
        Some(self)
    }
}

impl Overriding for AnnotationsTransformer<'_> {
    fn watched(&self) -> Watched {
        Watched::UnaskedFor
    }

    fn note_in(&mut self, overridden: Overridden) {
        self.overridden = Some(overridden);
    }
}
