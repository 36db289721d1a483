//! The plugin manager: plugins that are installed, pinned and shared, beside those that a user
//! places by hand.
//!
//! * [`source`]: the address that names a plugin; [`host`]: the one spelling of its host;
//!   [`version`]: versions and constraints; [`name`]: the names of installed files.
//! * [`root`]: where managed plugins lie.
//! * [`describe`]: what a plugin says of itself; [`discover`]: what is installed, and what of it is
//!   taken.
//! * [`requirements`]: what a kustomization needs; [`resolve`]: which plugin a configuration object
//!   is for; [`held`]: the copy of it that runs.
//! * [`manifest`]: directories that are plugins; [`runtime`]: what is made of them when they are
//!   installed, by tools in a sandbox (`workshop`) from what their files pin (`pinned`), and known
//!   by sums of its own (`made`); [`sdk`]: how they call each other.
//! * [`location`] and [`fetch`]: where plugins come from; [`archive`]: unpacking them; [`content`]:
//!   what they are known by.
//! * [`policy`]: what may be installed and used, asked by every command; [`trust`]: whose plugins,
//!   from where ([`origin`], [`pattern`]); [`amend`]: one more rule; [`permissions`]: what they may
//!   do.
//! * [`scaffold`]: a new plugin to begin with.
//! * [`serve`] and [`sync`]: bundles for other machines; `listing`: what a server lists.
//! * [`environment`]: bundles of plugins that are there without being installed.
//! * [`placement`]: installed plugins for kustomize and kubectl.
//! * [`install`]: from a requirement to a plugin that runs, and `prepare`, what of it is done for
//!   several at once; [`lock`]: what exactly was installed; [`place`]: putting plugins where they
//!   are found, and taking them away.

pub mod amend;
pub mod archive;
mod clients;
pub mod content;
pub mod describe;
pub mod discover;
pub mod environment;
pub mod fetch;
pub mod held;
pub mod host;
pub mod install;
mod listing;
pub mod location;
pub mod lock;
mod made;
pub mod manifest;
pub mod name;
pub mod origin;
pub mod pattern;
mod pinned;
pub mod place;
pub mod placement;
pub mod plugins;
pub mod policy;
mod prepare;
pub mod requirements;
pub mod resolve;
pub mod root;
pub mod runtime;
pub mod scaffold;
pub mod sdk;
pub mod serve;
pub mod source;
pub mod sync;
pub mod trust;
pub mod version;
mod workshop;
