//! [`Bounds`]: the kustomization to copy, the limit of its paths, and the place of the copy.

use super::LocalizeRequest;
use super::names;
use crate::diag::{Code, Error, Result};
use crate::load::{Files, RepoSpec, Root, path};
use std::path::{Path, PathBuf};

/// The arguments, checked.
pub(super) struct Bounds {
    /// The kustomization that is copied.
    pub root: Root,
    /// The directory that limits the local paths of the kustomization, without links: for a
    /// repository, its clone.
    pub scope: PathBuf,
    /// The directory of the copy, without links. It does not exist yet.
    pub destination: PathBuf,
}

impl Bounds {
    /// Loads the target, and checks scope and destination.
    ///
    /// # Errors
    /// A repository without a version; a target that cannot be loaded; a scope that does not
    /// contain the target; a destination that exists, or whose parent does not.
    pub(super) fn find(files: &Files<'_>, request: &LocalizeRequest<'_>) -> Result<Bounds> {
        let target = request.target;
        if let Some(spec) = RepoSpec::parse(target) {
            check_reference(&spec)?;
        }
        let root = files.root(target);
        let root = root.map_err(|e| e.prefixed(&format!("unable to establish localize target \"{target}\": ")))?;
        let scope = scope(&root, request);
        let scope = scope.map_err(|e| e.prefixed(&format!("invalid localize scope \"{}\": ", request.scope)))?;
        let destination = destination(&root, request.destination);
        let destination = destination
            .map_err(|e| e.prefixed(&format!("invalid localize destination \"{}\": ", request.destination)))?;
        Ok(Bounds { root, scope, destination })
    }

    /// The path of the target in the copy, which has the directories of the scope.
    ///
    /// # Errors
    /// The path is not UTF-8.
    pub(super) fn target_in_copy(&self) -> Result<String> {
        names::relative(&self.scope, &self.root.real)
    }
}

/// Refuses a reference to a repository without a version, whose copy would depend on the day.
///
/// # Errors
/// The reference lacks a version.
pub(super) fn check_reference(spec: &RepoSpec) -> Result<()> {
    if spec.reference.is_empty() {
        let message = format!("localize remote root \"{}\" missing ref query string parameter", spec.raw);
        return Err(Error::new(Code::BadReference, message).hint("add the version: '?ref=TAG' at the end"));
    }
    Ok(())
}

fn scope(root: &Root, request: &LocalizeRequest<'_>) -> Result<PathBuf> {
    let (scope, target) = (request.scope, request.target);
    match (root.remote(), scope) {
        (Some(remote), "") => Ok(remote.directory.clone()),
        (Some(_), _) => {
            Err(Error::new(Code::Usage, format!("scope \"{scope}\" specified for remote localize target \"{target}\"")))
        }
        (None, "") => Ok(root.real.to_path_buf()),
        (None, _) => {
            let unusable = |fault: &std::io::Error| format!("unable to establish localize scope: '{scope}': {fault}");
            let real = dunce::canonicalize(scope).map_err(|fault| Error::io(&fault, unusable(&fault)))?;
            if !real.is_dir() {
                return Err(Error::new(
                    Code::MissingFile,
                    format!("unable to establish localize scope: '{scope}' is not a directory"),
                ));
            }
            if !root.real.starts_with(&real) {
                let at = root.real.display();
                let message = format!("localize scope \"{scope}\" does not contain target \"{target}\" at \"{at}\"");
                return Err(Error::new(Code::OutsideRoot, message));
            }
            Ok(real)
        }
    }
}

/// The directory above a place.
pub(super) fn parent(place: &Path) -> &Path {
    rustomize_files::atomic::folder_of(place)
}

fn destination(root: &Root, given: &str) -> Result<PathBuf> {
    let default = default_name(root);
    let named = if given.is_empty() { default.as_str() } else { given };
    let place = Path::new(named);
    if let Some(fault) = path::fault(named) {
        return Err(Error::new(Code::Refused, format!("'{named}' {fault}")).hint("name another directory"));
    }
    if place.symlink_metadata().is_ok() {
        let error = Error::new(Code::Exists, format!("localize destination \"{named}\" already exists"));
        return Err(error.hint("remove it, or name another directory"));
    }
    let unusable = |code: Code, fault: &str| {
        Error::new(code, format!("unable to create localize destination directory: '{named}': {fault}"))
    };
    let parent = dunce::canonicalize(parent(place)).map_err(|fault| unusable(Code::of(&fault), &fault.to_string()))?;
    match place.file_name() {
        Some(name) if parent.is_dir() => Ok(parent.join(name)),
        _ => Err(unusable(Code::MissingFile, "not a directory")),
    }
}

/// The name of the copy if the user gives none: the name of the target, and its version too if it
/// is in a repository or an artifact.
fn default_name(root: &Root) -> String {
    let base = root.real.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    match root.remote() {
        Some(remote) => {
            let is_top = *remote.directory == *root.real;
            let repository = remote.url.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
            let base = if is_top { repository } else { &base };
            format!("localized-{base}-{}", remote.reference.replace(['/', ':'], "-"))
        }
        None if base.is_empty() => "localized".to_owned(),
        None => format!("localized-{base}"),
    }
}
