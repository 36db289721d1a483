//! Files that authors of plugins write.
//!
//! * [`schema`]: the JSON Schema of a kind's configuration objects; [`rules`]: one subschema;
//!   [`written_schema`]: where manifests have it.
//! * [`conform`]: holding an object to its schema; [`fault`]: what is wrong with it.
//! * [`describe`]: what a plugin says of itself.
//! * [`bundle`]: the content of a bundle's directory.
//! * [`client`]: the plugins that a plugin needs, as its directory names them; [`bindings`]: their
//!   types in Python.
//! * [`manifest`]: `plugin.yaml`, which makes a directory a plugin or a bundle.
//! * [`scaffold`]: a new plugin to begin with; [`source`]: the plugin in its author's directory.
//! * [`export`]: a description as `plugin.yaml`, as a page, as a schema for editors.
//! * [`package`]: the files of a release; [`sign`]: their signatures.

pub mod bindings;
pub mod bundle;
pub mod client;
pub mod conform;
pub mod describe;
pub mod export;
mod fault;
pub mod manifest;
pub mod package;
mod rules;
pub(crate) mod runtime_files;
pub mod scaffold;
pub mod schema;
pub mod sign;
pub mod source;
mod written_schema;
