//! What authors of plugins write.
//!
//! * [`describe`]: what a plugin says of itself.
//! * [`client`]: the plugins that a plugin needs, as its directory names them.
//! * [`manifest`]: `plugin.yaml`, which makes a directory a plugin.
//! * [`scaffold`]: a new plugin to begin with.

pub mod client;
pub mod describe;
pub mod manifest;
pub mod scaffold;
