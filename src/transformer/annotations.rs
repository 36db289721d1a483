//! AnnotationsTransformer: sets annotations on resources and their pod templates.
//!
//! *Writes*: the mappings its field specs lead to. *Order*: after labels. *Cost*: O(resources x specs of their kind).

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
    fn edit(&self, resource: &mut Resource<'a>, _: &Session<'a>) -> Result<()> {
        set_entries(resource, &self.annotations, &self.specs)
    }
}
