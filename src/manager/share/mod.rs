//! Plugins for other machines and for other tools.
//!
//! * [`mounts`]: the files of all bundles of an environment.
//! * [`export`]: these as files for web servers.
//! * [`sync`]: getting the bundles of a server; [`synced`]: before a build.
//! * [`placement`]: installed plugins for kustomize and kubectl.

pub mod export;
pub mod mounts;
pub mod placement;
pub mod sync;
pub mod synced;
