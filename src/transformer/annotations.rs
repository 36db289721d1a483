//! AnnotationsTransformer: sets annotations on resources and their pod templates.
//!
//! *Writes*: the mappings its field specs lead to. *Order*: after labels. *Cost*: O(resources x specs of their kind).

use super::{Transformer, label::set_entries};
use crate::config::{FieldSpecs, StringMap};
use crate::diag::Result;
use crate::pipeline::Session;
use crate::resource::ResMap;

/// `commonAnnotations`.
pub struct AnnotationsTransformer<'a> {
    pub annotations: StringMap<'a>,
    pub specs: FieldSpecs<'a>,
}

impl<'a> Transformer<'a> for AnnotationsTransformer<'a> {
    fn transform(&self, map: &mut ResMap<'a>, _: &Session<'a>) -> Result<()> {
        set_entries(map, &self.annotations, &self.specs)
    }
}
