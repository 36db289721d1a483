//! The directory of managed plugins.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

/// The reason why a root cannot be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RootError {
    /// `RUSTOMIZE_PLUGIN_PATH` holds several.
    List(Vec<PathBuf>),
    /// Nothing says where the user's files are.
    NoHome,
}

impl fmt::Display for RootError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RootError::List(paths) => {
                f.write_str("RUSTOMIZE_PLUGIN_PATH is one directory, not a list; set it to one of")?;
                paths.iter().try_for_each(|path| write!(f, "\n    RUSTOMIZE_PLUGIN_PATH={}", path.display()))
            }
            RootError::NoHome => {
                f.write_str(
                    "the directory of installed plugins is not known: set HOME to an absolute path, or RUSTOMIZE_PLUGIN_PATH",
                )
            }
        }
    }
}

impl std::error::Error for RootError {}

/// The root of managed plugins, which need not exist: `$RUSTOMIZE_PLUGIN_PATH`,
/// `$RUSTOMIZE_CONFIG_DIR/plugins`, `~/.rustomize.d/plugins` where `~/.rustomize.d` is,
/// `${XDG_CONFIG_HOME:-~/.config}/rustomize/plugins`; on Windows `%APPDATA%/rustomize.d/plugins`.
///
/// # Errors
/// The variable holds a list, or the home directory is not known.
pub fn root(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, RootError> {
    root_on(cfg!(windows), variable)
}

fn root_on(is_windows: bool, variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, RootError> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    if let Some(value) = set("RUSTOMIZE_PLUGIN_PATH") {
        let paths: Vec<PathBuf> = std::env::split_paths(&value).collect();
        return match paths.as_slice() {
            [only] => Ok(only.clone()),
            _ => Err(RootError::List(paths)),
        };
    }
    let configuration = configuration_on(is_windows, &variable)?;
    // An older spelling, where only that exists.
    let (plugins, plugin) = (configuration.join("plugins"), configuration.join("plugin"));
    let is_older = set("RUSTOMIZE_CONFIG_DIR").is_some() && !plugins.is_dir() && plugin.is_dir();
    Ok(if is_older { plugin } else { plugins })
}

/// Where the user's own files for this program are: `$RUSTOMIZE_CONFIG_DIR`, `~/.rustomize.d` where
/// that is, `${XDG_CONFIG_HOME:-~/.config}/rustomize`; on Windows `%APPDATA%/rustomize.d`. A
/// relative path in `HOME`, `XDG_CONFIG_HOME` or `APPDATA` counts as none: it would lead into a
/// tree, whose rules and plugins are those of strangers.
///
/// # Errors
/// The home directory is not known.
pub fn configuration(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, RootError> {
    configuration_on(cfg!(windows), variable)
}

/// Every directory that may be the one of [`configuration`], the first of each spelling, whatever
/// the variables say and whichever exist: rules in one of them hold while another one is in use.
pub fn configurations(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let named = variable("RUSTOMIZE_CONFIG_DIR").filter(|value| !value.is_empty()).map(PathBuf::from);
    let absolute = |name: &str| absolute(variable(name));
    let home = |below: &str| absolute("HOME").map(|home| home.join(below));
    let windows = absolute("APPDATA").filter(|_| cfg!(windows)).map(|data| data.join("rustomize.d"));
    let all = [
        named,
        windows,
        home(".rustomize.d"),
        absolute("XDG_CONFIG_HOME").map(|config| config.join("rustomize")),
        home(".config/rustomize"),
    ];
    let mut found: Vec<PathBuf> = Vec::new();
    for directory in all.into_iter().flatten() {
        if !found.contains(&directory) {
            found.push(directory);
        }
    }
    found
}

fn configuration_on(is_windows: bool, variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, RootError> {
    if let Some(directory) = variable("RUSTOMIZE_CONFIG_DIR").filter(|value| !value.is_empty()) {
        return Ok(directory.into());
    }
    let absolute = |name: &str| absolute(variable(name));
    if is_windows {
        return Ok(absolute("APPDATA").ok_or(RootError::NoHome)?.join("rustomize.d"));
    }
    let home = absolute("HOME");
    if let Some(old) = home.as_ref().map(|home| home.join(".rustomize.d")).filter(|old| old.is_dir()) {
        return Ok(old);
    }
    let config = absolute("XDG_CONFIG_HOME").or_else(|| Some(home?.join(".config")));
    Ok(config.ok_or(RootError::NoHome)?.join("rustomize"))
}

/// The absolute path in a variable.
fn absolute(value: Option<OsString>) -> Option<PathBuf> {
    value.map(PathBuf::from).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::{RootError, root, root_on};
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    fn with(variables: &[(&str, &str)]) -> Result<PathBuf, RootError> {
        root(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value)))
    }

    #[test]
    fn the_old_directory_comes_first_where_it_exists() {
        let home = tempfile::tempdir().unwrap();
        let text = home.path().to_str().unwrap();
        assert_eq!(with(&[("HOME", text)]).unwrap(), home.path().join(".config/rustomize/plugins"));
        assert_eq!(with(&[("HOME", text), ("XDG_CONFIG_HOME", "/c")]).unwrap(), Path::new("/c/rustomize/plugins"));
        std::fs::create_dir(home.path().join(".rustomize.d")).unwrap();
        assert_eq!(with(&[("HOME", text)]).unwrap(), home.path().join(".rustomize.d/plugins"));
        for variables in [&[][..], &[("HOME", "")], &[("HOME", "h"), ("XDG_CONFIG_HOME", "../c")]] {
            assert_eq!(with(variables), Err(RootError::NoHome));
        }
        let relative = [("HOME", text), ("XDG_CONFIG_HOME", "c")];
        assert_eq!(with(&relative).unwrap(), home.path().join(".rustomize.d/plugins"));
    }

    #[test]
    fn variables_move_the_root() {
        let home = tempfile::tempdir().unwrap();
        let text = home.path().to_str().unwrap();
        assert_eq!(with(&[("RUSTOMIZE_CONFIG_DIR", text), ("HOME", "/h")]).unwrap(), home.path().join("plugins"));
        std::fs::create_dir(home.path().join("plugin")).unwrap();
        assert_eq!(with(&[("RUSTOMIZE_CONFIG_DIR", text)]).unwrap(), home.path().join("plugin"));
        std::fs::create_dir(home.path().join("plugins")).unwrap();
        assert_eq!(with(&[("RUSTOMIZE_CONFIG_DIR", text)]).unwrap(), home.path().join("plugins"));
        let both = [("RUSTOMIZE_PLUGIN_PATH", "/p"), ("RUSTOMIZE_CONFIG_DIR", text)];
        assert_eq!(with(&both).unwrap(), Path::new("/p"));
    }

    #[test]
    fn windows_has_one_place() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".rustomize.d")).unwrap();
        let variable = |name: &str| match name {
            "HOME" => Some(home.path().into()),
            "RUSTOMIZE_PLUGIN_PATH" | "RUSTOMIZE_CONFIG_DIR" => None,
            _ => Some(OsString::from(format!("/{name}"))),
        };
        assert_eq!(root_on(true, variable).unwrap(), Path::new("/APPDATA/rustomize.d/plugins"));
        let without = |name: &str| variable(name).filter(|_| name != "APPDATA");
        assert_eq!(root_on(true, without), Err(RootError::NoHome));
        assert_eq!(root_on(false, variable).unwrap(), home.path().join(".rustomize.d/plugins"));
    }

    #[test]
    fn a_list_is_an_error_that_shows_the_choices() {
        let error = with(&[("RUSTOMIZE_PLUGIN_PATH", "/a:/b")]).unwrap_err().to_string();
        assert!(error.contains("RUSTOMIZE_PLUGIN_PATH=/a\n") && error.ends_with("RUSTOMIZE_PLUGIN_PATH=/b"), "{error}");
    }
}
