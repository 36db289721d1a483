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
//! then writes these anew after every transformer.
//! *Example*: `testdata/reference/annotations.txtar`

use super::{TransformEach, Transformer, label::set_entries, transform_each};
use crate::config::{FieldSpecs, StringMap};
use crate::diag::Result;
use crate::pipeline::Session;
use crate::resource::{ResMap, Resource};

/// `commonAnnotations`.
pub struct AnnotationsTransformer<'a> {
    pub annotations: StringMap<'a>,
    pub specs: FieldSpecs<'a>,
}

impl<'a> Transformer<'a> for AnnotationsTransformer<'a> {
    fn transform(&self, map: &mut ResMap<'a>, session: &Session<'a>) -> Result<()> {
        transform_each(&[(self, "")], map, session)
    }

    fn as_each(&self) -> Option<&dyn TransformEach<'a>> {
        Some(self)
    }
}

impl<'a> TransformEach<'a> for AnnotationsTransformer<'a> {
    fn edit(&self, resource: &mut Resource<'a>, session: &Session<'a>) -> Result<()> {
        set_entries(session.arena, resource, &self.annotations, &self.specs)?;
        if session.keeps_origins() {
            // Upstream then writes all annotations of the resource anew after every transformer.
            resource.unshare_annotations();
        }
        Ok(())
    }
}
