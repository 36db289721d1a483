//! The plugin manager: plugins that are installed, pinned and shared, beside those that a user places by hand.
//!
//! * [`source`]: the address that names a plugin; [`version`]: versions and constraints; [`name`]: the names of installed files.
//! * [`root`]: where managed plugins lie.
//! * [`describe`]: what a plugin says of itself; [`discover`]: what is installed, and what of it is taken.
//! * [`requirements`]: what a kustomization needs; [`resolve`]: which plugin a configuration object is for.
//! * [`install`]: putting plugins where they are found, and taking them away.

pub mod describe;
pub mod discover;
pub mod install;
pub mod name;
pub mod requirements;
pub mod resolve;
pub mod root;
pub mod source;
pub mod version;
