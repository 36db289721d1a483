//! The directory of installed plugins.
//!
//! * [`root`]: where it is.
//! * [`beside`]: the files beside a plugin; [`record`]: the one with its identity.
//! * [`exclusive`]: one process at a time writes to it.
//! * [`made`]: sums of files that were made during installation.
//! * [`discover`]: which plugins are installed; [`description_cache`]: their descriptions.
//! * [`place`]: adding and removing plugins.
//! * [`verified_copy`]: the copy of a plugin that runs.

pub mod beside;
pub mod description_cache;
pub mod discover;
pub mod exclusive;
pub mod made;
pub mod place;
pub mod record;
pub mod root;
pub mod verified_copy;
