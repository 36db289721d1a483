//! The flags of commands: values, and groups of flags that several commands have. No file here uses
//! a command.

pub(super) mod build;
pub(super) mod compat;
pub(super) mod complete;
pub(super) mod files;
pub(super) mod format;
pub(super) mod heading;
pub(super) mod helm;
pub(super) mod hidden;
pub(super) mod look;
pub(super) mod output;
pub(super) mod plugins;
pub(super) mod project;
pub(super) mod remote;
pub(super) mod role;
pub(super) mod roots;
pub(super) mod schemas;
pub(super) mod size;
pub(super) mod switch;
pub(super) mod transfer;
pub(super) mod watch;
pub(super) mod word;
