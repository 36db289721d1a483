//! The version of kustomize that a command is for: `--compat`, `RUSTOMIZE_COMPAT`, `compat` in
//! `rustomize.yaml`, or the name of the program.

use crate::flags::compat::Versions;
use crate::settings;
use crate::variable::variable;
use anyhow::Result;
use rustomize_base::compat::{Compat, UnknownVersion};
use rustomize_engine::diag::{Code, Error};
use std::path::Path;

/// The variable that names a version.
const VARIABLE: &str = "RUSTOMIZE_COMPAT";

/// The version for the build of a root: that of the first source that names one. `flag` is the flag
/// on the command line.
///
/// # Errors
/// A name is not a known version, or `rustomize.yaml` cannot be read.
pub(super) fn of_root(flag: Option<Versions>, root: &str) -> Result<Compat> {
    if let Some(compat) = said(flag)? {
        return Ok(compat);
    }
    match settings::compat(root)? {
        Some(compat) => Ok(compat),
        None => of_command(None),
    }
}

/// The version for a command that has no root.
///
/// # Errors
/// A name is not a known version.
pub(super) fn of_command(flag: Option<Versions>) -> Result<Compat> {
    Ok(match said(flag)? {
        Some(compat) => compat,
        None => of_program(std::env::args_os().next().unwrap_or_default())?.unwrap_or_default(),
    })
}

/// The version that the flag or else the variable names.
fn said(flag: Option<Versions>) -> Result<Option<Compat>> {
    flag.map_or_else(of_variable, |versions| Ok(Some(versions.new)))
}

/// The version that the variable names; an empty variable counts as unset.
fn of_variable() -> Result<Option<Compat>> {
    let Some(value) = variable(VARIABLE).filter(|value| !value.is_empty()) else { return Ok(None) };
    let unknown = |e| fault(&e).context(format!("in the variable {VARIABLE}"));
    Ok(Some(Compat::parse(&value.to_string_lossy()).map_err(unknown)?))
}

/// The version in the name of a program, as in `kustomize-v5.7.1`. Argo CD passes only the path of
/// a program.
///
/// # Errors
/// The name has a version that is not known.
pub(super) fn of_program(program: impl AsRef<Path>) -> Result<Option<Compat>> {
    let name = program.as_ref().file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    let Some(version) = name.strip_prefix("kustomize-") else { return Ok(None) };
    // A platform may follow, as in `kustomize-v5.7.1-linux`.
    let version = version.split('-').next().unwrap_or_default();
    match version.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit()) {
        true => Ok(Some(Compat::parse(version).map_err(|e| fault(&e).context(format!("in the name '{name}'")))?)),
        false => Ok(None),
    }
}

fn fault(unknown: &UnknownVersion) -> Error {
    Error::new(Code::Usage, unknown.to_string()).hint(format!("the known ones are {}", UnknownVersion::known()))
}

#[cfg(test)]
mod tests {
    use super::of_program;

    #[test]
    fn a_program_is_named_by_a_version() {
        let version = |name: &str| of_program(name).unwrap().map(|compat| compat.version());
        assert_eq!(version("/custom-tools/kustomize-v5.7.1"), Some("5.7.1"));
        assert_eq!(version("kustomize-5.8.2.exe"), Some("5.8.2"));
        assert_eq!(version("kustomize-v5.4.2-linux-amd64"), Some("5.4.2"));
        assert_eq!(version("/usr/bin/kustomize"), None);
        assert_eq!(version("kustomize-rustomize"), None);
        assert!(of_program("kustomize-v9.9.9").unwrap_err().to_string().contains("newer"));
    }
}
