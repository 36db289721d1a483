//! How plugins are named and known.
//!
//! * [`source`]: the addresses of plugins.
//! * [`version`]: versions and constraints.
//! * [`name`]: the names of installed files.
//! * [`pattern`]: patterns of sources.
//! * [`location`]: where a plugin is fetched from.
//! * [`requirement`]: one plugin that is needed.
//! * [`statement`]: what a signature says of a plugin.
//! * [`content`]: sums of files and directories.
//! * [`head`]: the first lines of the own files.
//! * [`shell`]: words for the shell.

pub mod content;
pub mod head;
pub mod location;
pub mod name;
pub mod pattern;
pub mod requirement;
pub mod shell;
pub mod source;
pub mod statement;
pub mod version;
