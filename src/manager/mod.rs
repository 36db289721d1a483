//! The plugin manager: plugins that are installed, pinned and shared, beside those that a user
//! places by hand. Eight groups, each using only those before it:
//!
//! * [`id`]: how plugins are named: sources, versions, file names, locations, sums of contents.
//! * [`fetch`]: getting bytes from where plugins are released, and unpacking them.
//! * [`author`]: what authors write: manifests, descriptions, new plugins.
//! * [`store`]: the directory of installed plugins.
//! * [`policy`]: what may be installed and used: requirements, locks, trust, environments.
//! * [`resolve`]: which plugin a configuration object is for.
//! * [`install`]: from a requirement to a plugin that runs.
//! * [`share`]: bundles for other machines, installed plugins for kustomize.

pub mod id;

pub mod fetch;

pub mod author;

pub mod store;

pub mod policy;

pub mod resolve;

pub mod install;

pub mod share;
