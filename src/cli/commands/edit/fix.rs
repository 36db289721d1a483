//! `edit fix`: turns deprecated fields of the kustomization file into current ones.

use super::notes::show_notes;
use crate::writer::{self, Shown};
use anyhow::Result;
use rustomize_edit::{Place, fix};
use rustomize_engine::diag;
use rustomize_engine::stage::Options;
use rustomize_engine::workspace::{self, Workspace};
use rustomize_sources::Disk;

pub(crate) const ABOUT: &str = "Turn deprecated fields of the kustomization file into current ones: bases, imageTags, patchesJson6902, \
    patchesStrategicMerge, commonLabels and helmChartInflationGenerator, and vars with --vars. The kustomization is \
    built before and after, and a difference is shown.";

const FIXED: &str = "
Fixed fields:
  patchesJson6902 -> patches
  patchesStrategicMerge -> patches
  commonLabels -> labels";

const VARS_ARE_LEFT: &str = "

To convert vars -> replacements, run the command `kustomize edit fix --vars`

WARNING: Converting vars to replacements will potentially overwrite many resource files 
and the resulting files may not produce the same output when `kustomize build` is run. 
We recommend doing this in a clean git repository where the change is easy to undo.";

/// Turns deprecated fields into current ones, and reports if that changes the output of the build.
///
/// # Errors
/// The file cannot be changed.
pub(crate) fn run(place: &mut Place, has_vars: bool) -> Result<()> {
    let before = build(place.options());
    let fixed = fix::fix(place, has_vars);
    show_notes(place);
    fixed?;
    let fixed = format!("{FIXED}{}\n", if has_vars { "\n  vars -> replacements" } else { VARS_ARE_LEFT });
    writer::print(&Shown::message(&fixed))?;
    match build(place.options()) {
        Err(e) => {
            let fault = "Warning: 'Fixed' kustomization now produces the error when running `kustomize build`";
            writer::data([format!("{}\n", Shown::item(&format!("{fault}: {e}")))])?;
        }
        Ok(after) if before.as_ref().ok() != Some(&after) => {
            let fault = "Warning: 'Fixed' kustomization now produces different output when running `kustomize build`";
            writer::print(&Shown::values(&format!("{fault}:\n...{after}...\n")))?;
        }
        Ok(_) => {}
    }
    Ok(())
}

/// The output of `build` with these options.
fn build(options: &Options) -> diag::Result<String> {
    let workspace = Workspace::new();
    let disk = Disk::new();
    workspace::build(&workspace, &disk, ".", options).value?.print()
}
