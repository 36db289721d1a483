//! Plugins for other machines and for other tools.
//!
//! * [`mounts`]: the files of all bundles of an environment.
//! * [`serve`]: a server of bundles.
//! * [`listing`]: what a server lists.
//! * [`clients`]: how many clients a server has.
//! * [`sync`]: getting the bundles of a server.
//! * [`placement`]: installed plugins for kustomize and kubectl.

pub mod clients;
pub mod listing;
pub mod mounts;
pub mod placement;
pub mod serve;
pub mod sync;
