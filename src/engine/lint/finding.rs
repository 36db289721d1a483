//! Findings about resources.

use crate::diag::{Code, Warning};
use crate::resource::Resource;
use rustomize_yaml::Node;

/// A finding at a node of a resource, or at the resource if no file has the node.
pub(super) fn finding(code: Code, resource: &Resource<'_>, at: &Node<'_>, message: String) -> Warning {
    Warning::new(code, message).at(at.pos()).at(resource.pos()).in_resource(resource.id())
}
