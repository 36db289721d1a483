//! Copies a kustomization with all files that it names, for `rustomize localize`: remote files and
//! repositories become files of the copy. The rules and bytes are those of `kustomize localize`.
//!
//! 1. [`arguments`]: the kustomization to copy, the limit of its paths, the place of the copy.
//! 2. [`copy`]: each kustomization with its files; [`written`]: the fields of a kustomization file
//!    as kustomize writes them; [`plugins`]: configurations of plugins; [`charts`]: directories of
//!    charts; [`names`]: the paths of remote files in the copy; [`tree`]: the new files.
//! 3. [`verify`]: the original and the copy give the same build.
//!
//! The copy is made in a directory next to its place, and renamed in the last step. A failure
//! leaves nothing behind. kustomize leaves a copy that does not build.

mod arguments;
mod charts;
mod copy;
mod names;
mod plugins;
mod resources;
mod tree;
mod verify;
mod written;

use crate::diag::{Error, Result, Warned};
use crate::stage::{Context, Options};
use arguments::Bounds;
use copy::Copier;
use rustomize_process::Children;
use rustomize_sources::Disk;
use rustomize_yaml::Heap;
use std::io;
use std::path::{Path, PathBuf};
use tree::Tree;

/// The arguments of `localize`.
pub struct LocalizeRequest<'r> {
    /// A directory or a repository.
    pub target: &'r str,
    /// The directory that limits the paths of a local target; by default the target.
    pub scope: &'r str,
    /// The directory of the copy; empty for a directory named after the target.
    pub destination: &'r str,
    /// True if the original and the copy are built and compared.
    pub is_verified: bool,
    /// The options for building the original and the copy, which also say what may be fetched.
    pub options: &'r Options,
    /// Has the directory in which the copy is made.
    pub children: &'r Children,
}

/// Makes the copy, and returns its place.
///
/// # Errors
/// The arguments do not fit, a file is missing or out of bounds, the kustomization does not build,
/// or the copy does not build to the same resources. In each case no copy is left behind.
pub fn localize(request: &LocalizeRequest<'_>) -> Warned<Result<PathBuf>> {
    let mut warnings = Vec::new();
    let heap = Heap::new();
    let disk = Disk::new();
    let cx = Context::new(&heap, &disk, request.options.clone());
    let mut make = || -> Result<PathBuf> {
        let bounds = Bounds::find(&cx.files, request)?;
        let place = bounds.destination.clone();
        let unusable = |fault: io::Error| Error::io(&fault, format!("'{}': {fault}", place.display()));
        let staging = request.children.directory_in(arguments::parent(&place), rustomize_files::atomic::PREFIX);
        let staging = staging.map_err(unusable)?;
        let top = staging.path().join("copy");
        std::fs::create_dir(&top).map_err(unusable)?;
        let target = bounds.target_in_copy()?;
        let copied = Copier::new(&cx, &bounds, Tree::new(top.clone(), staging.path().to_owned())).all(&target);
        copied.map_err(|e| e.prefixed(&format!("unable to localize target \"{}\": ", request.target)))?;
        if request.is_verified {
            let mut copy = top.clone();
            copy.push(&target);
            let found = verify::compare(request, &copy);
            warnings.extend(found.warnings);
            found.value?;
        }
        move_to(&top, &place).map_err(unusable)?;
        Ok(place)
    };
    let value = make().map_err(|e| e.located(&heap));
    Warned { value, warnings }
}

/// Moves the copy to its place, unless another process has taken the place.
fn move_to(top: &Path, place: &Path) -> io::Result<()> {
    match place.symlink_metadata() {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => std::fs::rename(top, place),
    }
}
