//! The tree: [`node`], [`mapping`] and [`sequence`], borrowing their text from an
//! [`Arena`](crate::Arena); [`edit`]: the only way to change its values; [`shared`]: values
//! that are in several places; [`chunks`]: parts of large lists and mappings.
//!
//! The fields of the tree are private to [`yaml`](super), which reads, prints and reprints it.

pub mod chunks;
pub mod edit;
pub mod mapping;
pub mod node;
pub mod sequence;
pub mod shared;
