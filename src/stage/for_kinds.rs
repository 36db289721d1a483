//! [`ForKinds`]: files that entries of kustomizations name, and that are for some kinds of
//! resources.

use crate::config::Written;
use crate::schema::Gvk;
use crate::yaml::Pos;

/// A file of `configurations`, `crds` or `openapi`, and the kinds that it is for. The resources of
/// these kinds may come in a layer above: whether there are any is known once all are there.
#[derive(Clone)]
pub struct ForKinds<'a> {
    pub entry: Written<'a>,
    pub field: KindField,
    pub kinds: Vec<NamedKind<'a>>,
}

/// The field of the entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum KindField {
    Configurations,
    Crds,
    OpenApi,
}

/// A kind that a file names.
#[derive(Clone)]
pub struct NamedKind<'a> {
    pub gvk: Gvk<'a>,
    pub pos: Pos,
}
