//! The plugin manager: plugins that are installed, pinned and shared, beside those that a user
//! places by hand. Eight groups, each using only those before it:
//!
//! * [`id`]: how plugins are named: sources, versions, file names, locations, sums of contents.
//! * [`fetch`]: getting bytes from where plugins are released, and unpacking them.
//! * [`author`]: what authors write: manifests, descriptions, new plugins.
//! * [`store`]: the directory of installed plugins.
//! * [`policy`]: what may be installed and used: requirements, locks, trust, environments;
//!   [`Machine`](policy::machine::Machine) is where a program says which machine that is for.
//! * [`install`]: from a requirement to a plugin that runs.
//! * [`resolve`]: which plugin a configuration object is for, and which plugins a build installs.
//! * [`share`]: bundles for other machines, installed plugins for kustomize.
//!
//! A plugin takes these forms, in this order:
//!
//! 1. [`Requirement`](id::requirement::Requirement): `plugins.yaml` or another plugin asks for it.
//! 2. [`Location`](id::location::Location): the place that it is fetched from.
//! 3. `VersionChoice`: a version that the requirement allows, with one
//!    [`Download`](fetch::Download) for each platform.
//! 4. `UnpackedPlugin`: the download of this machine, unpacked and compared with its sums;
//!    `StagedPlugin`: that with its manifest.
//! 5. [`Installed`](store::discover::Installed): the plugin in its directory below the root.
//! 6. [`LockedPlugin`](policy::lock::LockedPlugin): its entry in `plugins.lock`, with a
//!    [`LockedDownload`](policy::lock::LockedDownload) for each platform.
//!
//! A build begins with an object, which is a [`PluginRequest`](resolve::PluginRequest) for the
//! resolver. The answer is a [`Resolution`](resolve::Resolution) with a
//! [`Chosen`](resolve::Chosen) plugin.

// The modules of this crate name those of the engine by their own paths.
use rustomize_engine::{config, diag, load, resource, stage};

pub mod id;

pub mod fetch;

pub mod author;

pub mod store;

pub mod policy;

pub mod install;

pub mod resolve;

pub mod share;
