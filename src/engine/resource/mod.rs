//! Resources, their identity, and the list of them that a build works on.

pub mod annotations;
mod behavior;
mod build_notes;
mod changes;
mod distinct;
mod facets;
mod ids;
mod known;
pub mod matcher;
mod metadata;
pub mod order;
pub mod print;
mod res_id;
mod res_map;
#[allow(clippy::module_inception, reason = "one type, one file, both named by kustomize's word")]
mod resource;
pub mod similar;
mod untraced;

pub use annotations::{
    HELM_GENERATED, INTERNAL, NEEDS_HASH, NEEDS_HASH_SUFFIX, ORIGIN, TRANSFORMATIONS, is_build_annotation,
};
pub use behavior::Behavior;
pub use build_notes::BuildNotes;
pub use changes::Changes;
pub use distinct::distinct;
pub use facets::{Facets, Hint, Metadatum};
pub use ids::Places;
pub use known::Touched;
pub use matcher::Matcher;
pub use metadata::{empty_key, mapping_in, set_untyped, stringify, texts};
pub use order::Order;
pub use print::{check_printable, print, print_in_parts, print_in_pieces, print_one};
pub use res_id::{DEFAULT_NAMESPACE, NOT_NAMESPACED, PreviousId, ResId, Scope};
pub use res_map::{Found, Index, RESOURCE, ResMap, Taken};
pub use resource::{Resource, internal_annotations};
