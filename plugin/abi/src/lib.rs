//! The C interface between rustomize and plugins that are shared objects.
//! `include/rustomize_plugin.h` is its specification. This crate implements both sides of the
//! interface in Rust, and is the only crate of the project with unsafe code.
//!
//! * [`types`]: the structs of the header.
//! * [`plugin`]: the host's side: an open shared object. To open it is unsafe, to call it is safe.
//! * [`guest`]: the plugin's side: the functions of a shared object, for a type that needs no
//!   unsafe code.
//! * [`frame`]: the messages between a build and the process of a plugin.
//! * `process`: the process of a plugin. To become that process is safe.
//! * `fork`, on Linux: a process that splits in two, and waits for signals; `job` and `console`, on
//!   Windows: processes that end together; the colours and the events of a console.

#[cfg(windows)]
pub mod console;
#[cfg(target_os = "linux")]
pub mod fork;
pub mod frame;
pub mod guest;
#[cfg(windows)]
pub mod job;
#[cfg(any(unix, windows))]
mod open;
pub mod plugin;
#[cfg(any(unix, windows))]
pub mod process;
pub mod types;

pub use guest::{Asked, Guest};
#[cfg(any(unix, windows))]
pub use open::OpenError;
pub use plugin::{CallError, Output, Plugin};

/// The C header, which is the specification of the interface.
pub const HEADER: &str = include_str!("../include/rustomize_plugin.h");

/// The sources of this crate, by their paths in it. `plugin new` writes them into new plugins in
/// Rust.
pub const SOURCES: [(&str, &str); 13] = [
    ("include/rustomize_plugin.h", HEADER),
    ("src/console.rs", include_str!("console.rs")),
    ("src/fork.rs", include_str!("fork.rs")),
    ("src/frame.rs", include_str!("frame.rs")),
    ("src/guest.rs", include_str!("guest.rs")),
    ("src/job.rs", include_str!("job.rs")),
    ("src/lib.rs", include_str!("lib.rs")),
    ("src/open.rs", include_str!("open.rs")),
    ("src/plugin.rs", include_str!("plugin.rs")),
    ("src/process.rs", include_str!("process.rs")),
    ("src/process_of_unix.rs", include_str!("process_of_unix.rs")),
    ("src/process_of_windows.rs", include_str!("process_of_windows.rs")),
    ("src/types.rs", include_str!("types.rs")),
];

/// The function that every plugin exports first.
pub const ABI_SYMBOL: &str = "rustomize_plugin_abi_version";

/// The version of the interface.
pub const ABI_VERSION: u32 = 1;

/// The purpose of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Mode {
    Generate = 1,
    Transform = 2,
    Validate = 3,
}
