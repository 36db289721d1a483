//! Resources, their identity, and the list of them that a build works on.

mod facets;
pub mod order;
mod res_id;
mod res_map;
#[allow(clippy::module_inception, reason = "one type, one file, both named by kustomize's word")]
mod resource;

pub use facets::{Facets, Hint, Metadatum};
pub use order::Order;
pub use res_id::{DEFAULT_NAMESPACE, Gvk, NOT_NAMESPACED, PreviousId, ResId};
pub use res_map::{Found, Index, Places, ResMap};
pub use resource::{Behavior, INTERNAL, NEEDS_HASH_SUFFIX, Rare, Resource, mapping_in, set_untyped, stringify, texts};
