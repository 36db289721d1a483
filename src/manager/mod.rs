//! The plugin manager: plugins that are installed, pinned and shared, beside those that a user places by hand.
//!
//! * [`source`]: the address that names a plugin; [`version`]: versions and constraints; [`name`]: the names of installed files.
//! * [`root`]: where managed plugins lie.
//! * [`describe`]: what a plugin says of itself; [`discover`]: what is installed, and what of it is taken.

pub mod describe;
pub mod discover;
pub mod name;
pub mod root;
pub mod source;
pub mod version;
