//! [`Var`]: a value of one resource, by the name under which others use it. Deprecated by replacements.

use super::decode::{Decode, Decoder};
use crate::diag::Result;
use crate::schema::Gvk;
use crate::yaml::{Node, Pos};

/// An entry of `vars`.
#[derive(Clone, Debug, Default)]
pub struct Var<'a> {
    /// What `$(...)` names.
    pub name: &'a str,
    /// The resource that has the value.
    pub object: ObjectReference<'a>,
    /// The field that has the value; `metadata.name` if it is empty.
    pub field: FieldReference<'a>,
    pub pos: Pos,
}

impl<'a> Decode<'a> for Var<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        self.pos = node.pos;
        cx.object(node, &mut [("name", &mut self.name), ("objref", &mut self.object), ("fieldref", &mut self.field)])?;
        Ok(())
    }
}

/// Names one resource. Group and version come from `apiVersion`, if there is one.
#[derive(Clone, Debug, Default)]
pub struct ObjectReference<'a> {
    /// The type of the resource; `apiVersion` says group and version at once.
    pub gvk: Gvk<'a>,
    /// Its name.
    pub name: &'a str,
    /// Any namespace will do if it is empty.
    pub namespace: &'a str,
}

impl<'a> Decode<'a> for ObjectReference<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        let mut api_version = "";
        cx.object(
            node,
            &mut [
                ("apiVersion", &mut api_version),
                ("group", &mut self.gvk.group),
                ("version", &mut self.gvk.version),
                ("kind", &mut self.gvk.kind),
                ("name", &mut self.name),
                ("namespace", &mut self.namespace),
            ],
        )?;
        if !api_version.is_empty() {
            self.gvk = Gvk::new(api_version, self.gvk.kind);
        }
        Ok(())
    }
}

/// Names one field, by a path with dots.
#[derive(Clone, Debug, Default)]
pub struct FieldReference<'a> {
    /// Keys between dots; `[0]` is an item of a list.
    pub path: &'a str,
}

impl<'a> Decode<'a> for FieldReference<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        cx.object(node, &mut [("fieldPath", &mut self.path)])?;
        Ok(())
    }
}
