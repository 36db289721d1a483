//! What authors of plugins write.
//!
//! * [`schema`]: the JSON Schema of a kind's configuration objects; [`rules`]: one subschema;
//!   [`written_schema`]: where manifests have it.
//! * [`conform`]: holding an object to its schema; [`fault`]: what is wrong with it.
//! * [`describe`]: what a plugin says of itself.
//! * [`client`]: the plugins that a plugin needs, as its directory names them.
//! * [`manifest`]: `plugin.yaml`, which makes a directory a plugin.
//! * [`scaffold`]: a new plugin to begin with.

pub mod client;
pub mod conform;
pub mod describe;
mod fault;
pub mod manifest;
mod rules;
pub mod scaffold;
pub mod schema;
mod written_schema;
