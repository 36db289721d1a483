//! The images of container functions in `plugin lock`.

use crate::flags::transfer::TransferFlags;
use crate::machine::machine;
use anyhow::{Result, bail};
use rustomize_engine::load::FileLimit;
use rustomize_manager::fetch::Transfer;
use rustomize_manager::install::project::Upgrade;
use rustomize_manager::policy::image;
use rustomize_manager::policy::lock::Lock;
use rustomize_plugins::function::images_in;
use rustomize_sources::ReadFile;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The images to lock: those that files below the directory name, and the `named` ones. Locked
/// images stay, unless all images are upgraded.
///
/// # Errors
/// A directory or a file cannot be read.
pub(crate) fn wanted(
    directory: &Path,
    named: &[String],
    upgrade: Upgrade<'_>,
    known: Option<&Lock>,
) -> Result<BTreeSet<String>> {
    let mut wanted: BTreeSet<String> = named.iter().cloned().collect();
    for path in image::files(directory)? {
        // A file that is not text, or is too large, does not hold configuration objects.
        if let Ok(text) = FileLimit::default().read_to_string(&path) {
            wanted.extend(images_in(text));
        }
    }
    wanted.retain(|image| !image.contains('@'));
    let forgets = matches!(upgrade, Upgrade::All);
    wanted.extend(known.filter(|_| !forgets).into_iter().flat_map(|lock| lock.images.keys().cloned()));
    Ok(wanted)
}

/// How the images of a directory are locked.
#[derive(Clone, Copy)]
pub(crate) struct ImageLocking<'u> {
    /// The locked digests that are asked for again.
    pub upgrade: Upgrade<'u>,
    /// True if no registry is asked: every image has to be locked.
    pub is_check: bool,
}

/// The digests of images. A tag that is locked is not asked for again, unless it is upgraded.
///
/// # Errors
/// A name is not valid; a registry cannot be asked or lacks the image; or `is_check` is true and an
/// image is not locked.
pub(crate) fn digests(
    wanted: BTreeSet<String>,
    ImageLocking { upgrade, is_check }: ImageLocking<'_>,
    known: Option<&Lock>,
    transfer: &Transfer,
) -> Result<BTreeMap<String, String>> {
    let is_upgraded = |name: &String| match upgrade {
        Upgrade::Nothing => false,
        Upgrade::All => true,
        Upgrade::Named(names) => names.contains(name),
    };
    let mut known = known.map(|lock| lock.images.clone()).unwrap_or_default();
    known.retain(|name, _| !is_upgraded(name));
    if is_check && let Some(name) = wanted.iter().find(|name| !known.contains_key(*name)) {
        bail!("the image '{name}' is not locked\n  run 'rustomize plugin lock' and commit plugins.lock");
    }
    let resolve = |image: &image::Image| transfer.repository(&image.repository()).digest(&image.tag);
    Ok(image::digests(wanted, &known, resolve)?)
}

/// The digests of the images that a directory names, and of `named` ones.
pub(crate) fn images_of(
    directory: &Path,
    named: &[String],
    locking: ImageLocking<'_>,
    flags: TransferFlags,
) -> Result<BTreeMap<String, String>> {
    let known = Lock::read(directory)?;
    let wanted = wanted(directory, named, locking.upgrade, known.as_ref())?;
    let transfer = machine().transfer(flags.into(), None);
    digests(wanted, locking, known.as_ref(), &transfer)
}
