//! The files that a build of one root reads: files of the disk, and stdin in place of one.

use crate::request::BuildRequest;
use anyhow::{Context, Result, bail};
use rustomize_base::shell::quoted;
use rustomize_engine::load::{Loader, Memory, Overlay, clean};
use rustomize_engine::workspace::Output;
use rustomize_sources::Disk;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The files that a build of one root reads.
pub(super) struct RootFiles {
    pub loader: Box<dyn Loader>,
    /// The directory, the file that stdin replaces as --stdin-as names it, and the place of that
    /// file.
    given: Option<(String, PathBuf, PathBuf)>,
}

impl RootFiles {
    /// The files of the disk, with stdin in place of the file that --stdin-as names.
    ///
    /// # Errors
    /// The directory does not exist, or stdin cannot be read.
    pub(super) fn of(request: &BuildRequest, directory: &str) -> Result<RootFiles> {
        let Some(file) = &request.stdin_as else { return Ok(RootFiles { loader: Box::new(Disk::new()), given: None }) };
        let (place, text) = given(directory, file)?;
        let text = Memory::from_iter([(&place, text.as_slice())]);
        let loader = Box::new(Overlay::new(Disk::new(), text));
        Ok(RootFiles { loader, given: Some((directory.to_owned(), file.clone(), place)) })
    }

    /// Refuses a --stdin-as whose file the build has not read.
    ///
    /// # Errors
    /// The build has not read the file.
    pub(super) fn check_given(&self, output: &Output<'_>) -> Result<()> {
        match &self.given {
            Some((directory, file, place)) if !output.files().contains(place) => bail!(
                "the kustomization does not read '{}', which --stdin-as names\n  hint: add it: cd {} && rustomize edit add \
                 resource --no-verify {}",
                file.display(),
                quoted(directory),
                quoted(&file.to_string_lossy())
            ),
            _ => Ok(()),
        }
    }
}

/// The place of the file that stdin replaces, and the bytes of stdin.
fn given(directory: &str, file: &Path) -> Result<(PathBuf, Vec<u8>)> {
    let place = Disk::new().directory(Path::new(directory)).with_context(|| format!("'{directory}'"))?;
    let place = PathBuf::from(clean(&place.join(file).to_string_lossy()));
    let mut text = Vec::new();
    std::io::stdin().read_to_end(&mut text).context("cannot read stdin")?;
    Ok((place, text))
}
