//! The user's configuration: kustomization files, selectors, field specs, and their defaults.

pub mod decode;
pub mod defaults;
mod examples;
pub mod field_path;
pub mod field_spec;
pub mod field_specs;
pub mod helm;
pub mod kustomization;
pub mod record;
pub mod selector;
pub mod transformer_config;
pub mod var;

pub use decode::{Decode, Decoder, StringMap, Written, WrittenMap, read_alone};
pub use field_spec::FieldSpec;
pub use field_specs::{FieldSpecs, UsualSpecs};
pub use kustomization::Kustomization;
pub use record::{Described, Field, Record, Shape};
pub use rustomize_derive::{Decode, Described};
pub use selector::Selector;
pub use transformer_config::TransformerConfig;
