//! The directory of installed plugins.
//!
//! * [`root`]: where it is.
//! * [`sibling_files`]: the files beside a plugin; [`record`]: the one with its identity.
//! * [`exclusive`]: one process at a time writes to it.
//! * [`installed_artifacts`]: sums of files that were made during installation.
//! * [`discover`]: which plugins are installed; [`description_cache`]: their descriptions.
//! * [`place`]: adding and removing plugins.
//! * [`verified_copy`]: the copy of a plugin that runs.

pub mod sibling_files;
pub mod description_cache;
pub mod discover;
pub mod exclusive;
pub mod installed_artifacts;
pub mod place;
pub mod record;
pub mod root;
pub mod verified_copy;
