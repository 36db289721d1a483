//! Where the values of a traced build come from.
//!
//! * [`view`]: the build, with its resources by name and secret values hidden.
//! * [`select`]: the resource that a word names; [`field`]: its fields.
//! * [`json`]: explanations as JSON.

pub mod view;

pub mod field;
pub mod select;

pub mod json;
