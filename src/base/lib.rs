//! The tools that every layer of rustomize works with. Nothing here knows YAML or kustomizations.
//!
//! * [`compat`]: the version of kustomize that a build follows.
//! * [`duration`]: durations with units.
//! * [`host`]: the program around a build, and its user.
//! * [`memory`]: the budget of a build; [`meter`]: the work of a build, counted for tests.
//! * [`parallel`]: work on all cores; no result depends on their number.
//! * [`observe`]: pieces of work as they begin and end.
//! * [`hex`], [`json_pointer`]: how bytes and parts of pointers are written; [`search_path`]:
//!   `PATH`; [`os_text`]: paths that are read as bytes.
//! * [`shell`]: words quoted for commands in hints; [`shown`]: texts made fit to be read;
//!   [`windows_path`]: which paths of Windows name what they seem to name.

pub mod compat;
pub mod duration;
pub mod hex;
pub mod host;
pub mod json_pointer;
pub mod memory;
pub mod meter;
pub mod observe;
pub mod os_text;
pub mod parallel;
pub mod search_path;
pub mod shell;
pub mod shown;
pub mod windows_path;
