//! [`Plugin::open`]: opens a shared object as a [`Plugin`].

use crate::plugin::Plugin;
use crate::types::AbiVersion;
use crate::{ABI_SYMBOL, ABI_VERSION};
#[cfg(unix)]
use libloading::os::unix::Library;
#[cfg(windows)]
use libloading::os::windows::Library;
use std::fmt;
use std::mem::ManuallyDrop;
use std::path::Path;

/// The reason why a file cannot be used as a plugin.
#[derive(Debug)]
pub enum OpenError {
    /// The system's loader refuses the file, in the loader's words.
    Loader(String),
    /// The file lacks one of the functions.
    Missing(&'static str),
    /// The file is for another version of the interface.
    Version(u32),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::Loader(words) => write!(f, "cannot be loaded: {words}"),
            OpenError::Missing(symbol) => write!(f, "does not export '{symbol}'"),
            OpenError::Version(version) => {
                write!(f, "is for version {version} of the plugin interface; this is version {ABI_VERSION}")
            }
        }
    }
}

impl std::error::Error for OpenError {}

impl Plugin {
    /// Opens a shared object, which runs its constructors.
    ///
    /// Only the process of a plugin calls this: see [`serve`](crate::process::serve), which is safe.
    ///
    /// ```compile_fail,E0133
    /// let plugin = rustomize_plugin_abi::Plugin::open("plugin.so".as_ref());
    /// ```
    ///
    /// # Safety
    /// The constructors of the file and of the libraries that it needs are sound to run here. If
    /// the file exports `rustomize_plugin_abi_version`, it keeps the rules of the header: its
    /// functions have the header's types, and write to no memory but the plugin's own and the
    /// response. No other [`Plugin`] of the same file is called while a call of this one runs, or
    /// while an `Output` of this one exists.
    ///
    /// # Errors
    /// The loader refuses the file, a function is missing, or the file is for another version.
    pub unsafe fn open(path: &Path) -> Result<Plugin, OpenError> {
        // SAFETY: the caller says that the constructors are sound.
        let library = unsafe { load(path) };
        let library = ManuallyDrop::new(library.map_err(|e| OpenError::Loader(reason(&e)))?);
        // SAFETY: the caller says that a symbol of this name has the type of the header.
        let version = unsafe { symbol::<AbiVersion>(&library, ABI_SYMBOL)? };
        // SAFETY: the function takes no arguments, and the header says that it may be called at any
        // time.
        let found = unsafe { version() };
        if found != ABI_VERSION {
            return Err(OpenError::Version(found));
        }
        // SAFETY: as for the version; the caller guarantees the effects of the functions.
        unsafe {
            Ok(Plugin::from_parts(
                symbol(&library, "rustomize_plugin_describe")?,
                symbol(&library, "rustomize_plugin_run")?,
                symbol(&library, "rustomize_plugin_free")?,
            ))
        }
    }
}

/// Loads a file: each function that it needs must exist, and others do not see its functions.
///
/// # Safety
/// The constructors of the file are sound to run.
#[cfg(unix)]
unsafe fn load(path: &Path) -> Result<Library, libloading::Error> {
    use libloading::os::unix::{RTLD_LOCAL, RTLD_NOW};
    // SAFETY: the caller says so.
    unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }
}

/// Loads a file. The libraries that it needs are looked for beside it and in the system's
/// directory, and not in the working directory or in PATH.
///
/// # Safety
/// The constructors of the file are sound to run.
#[cfg(windows)]
unsafe fn load(path: &Path) -> Result<Library, libloading::Error> {
    use libloading::os::windows::{LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR, LOAD_LIBRARY_SEARCH_SYSTEM32};
    // The flags need a whole path, with the separators of the system.
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    // SAFETY: the caller says so.
    unsafe { Library::load_with_flags(path, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_SYSTEM32) }
}

/// The loader's own words, without the path, which the caller knows.
fn reason(error: &libloading::Error) -> String {
    let words = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    words.split_once(": ").map_or(words.clone(), |(_, reason)| reason.to_owned())
}

/// # Safety
/// The symbol is of the type `T`, which is a pointer to a function.
unsafe fn symbol<T: Copy>(library: &Library, name: &'static str) -> Result<T, OpenError> {
    // SAFETY: the caller keeps the rules under `# Safety`.
    let symbol = unsafe { library.get::<T>(name.as_bytes()) };
    symbol.map(|symbol| *symbol).map_err(|_| OpenError::Missing(name))
}
