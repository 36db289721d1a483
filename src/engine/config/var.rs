//! [`Var`]: a value of one resource, under a name by which others use it. Replacements supersede
//! it.

use super::decode::{Decoder, Given};
use super::{Decode, Described};
use crate::diag::Result;
use crate::schema::Gvk;
use rustomize_yaml::Pos;
use std::mem::take;

/// An entry of `vars`.
#[derive(Clone, Debug, Default, Decode, Described)]
pub struct Var<'a> {
    /// The name in `$(...)`.
    pub name: &'a str,
    /// The resource that has the value.
    #[field(name = "objref")]
    pub object: ObjectReference<'a>,
    /// The field that has the value; `metadata.name` if it is empty.
    #[field(name = "fieldref")]
    pub field: FieldReference<'a>,
    pub pos: Pos,
}

/// Names one resource. Group and version come from `apiVersion`, if it is given.
#[derive(Clone, Debug, Default, Decode, Described)]
#[record(finish)]
pub struct ObjectReference<'a> {
    /// The type of the resource; `apiVersion` gives group and version in one text.
    api_version: &'a str,
    /// The type of the resource; `apiVersion` gives group and version in one text.
    #[field(parts(group, version, kind))]
    pub gvk: Gvk<'a>,
    /// Its name.
    pub name: &'a str,
    /// The namespace; any namespace if it is empty.
    pub namespace: &'a str,
}

impl<'a> ObjectReference<'a> {
    fn finish(&mut self, _: &Given, _: &Decoder<'a>) -> Result<()> {
        let api_version = take(&mut self.api_version);
        if !api_version.is_empty() {
            self.gvk = Gvk::new(api_version, self.gvk.kind);
        }
        Ok(())
    }
}

/// Names one field, by a path with dots.
#[derive(Clone, Debug, Default, Decode, Described)]
pub struct FieldReference<'a> {
    /// Keys between dots; `[0]` is an item of a list.
    #[field(name = "fieldPath")]
    pub path: &'a str,
}
