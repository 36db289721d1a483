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
use crate::config::{FieldSpecs, StringMap};
use crate::diag::Result;
use crate::resource::ResMap;
use crate::stage::{Build, Editor, Overridden, TransformEach};
use rustomize_yaml::{Arena, Pos};

/// `commonAnnotations`.
pub struct AnnotationsTransformer<'a> {
    pub annotations: StringMap<'a>,
    pub specs: FieldSpecs<'a>,
    /// The field, which is the place of new keys.
    pub pos: Pos,
    /// True if the build keeps account of where things come from: kustomize then writes all
    /// annotations of the resource again after every transformer.
    pub keeps_origins: bool,
    /// The earlier patches of the kustomization, if the build is asked for findings.
    pub overridden: Option<Overridden>,
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
}
