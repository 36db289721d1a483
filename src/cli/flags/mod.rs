//! The flags of commands: values, and groups of flags that several commands have. No file here uses
//! a command.

pub mod build;
pub mod compat;
pub mod complete;
pub mod files;
pub mod format;
pub mod heading;
pub mod helm;
pub mod hidden;
pub mod look;
pub mod output;
pub mod plugins;
pub mod project;
pub mod remote;
pub mod role;
pub mod roots;
pub mod size;
pub mod switch;
pub mod transfer;
pub mod watch;
pub mod word;
