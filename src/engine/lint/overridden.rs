//! The search for values of patches that a later patch or field of the same kustomization replaces:
//! a pass over its transformers before they run. Each of them notes such values while it runs, and
//! reports those of which nothing is left.

use crate::config::Kustomization;
use crate::stage::{Overridden, Overriding, PatchPart, PatchTexts, Planned, Watched};
use rustomize_yaml::Arena;

/// Sets for each transformer of a kustomization the patches whose values it may replace. O(patches
/// x kinds of transformers).
pub fn watch<'a>(arena: Arena<'a>, kustomization: &Kustomization<'a>, planned: &mut [Planned<'a>]) {
    // A component works on the resources of each of its users; and a patch may ask for a value
    // before it is replaced.
    let counts = !kustomization.is_component() && !asks_for_labels(kustomization);
    let all = planned.iter_mut().filter_map(|planned| planned.stage.overriding()).flat_map(|stage| stage.patches());
    let all: Vec<PatchPart> = all.collect();
    let are_several = PatchTexts::of(arena, all.iter().map(|part| part.pos)).are_several();
    let (mut parts, mut has_test) = (Vec::new(), false);
    let mut of_patches: Option<Overridden> = None;
    for of_kind in planned.chunk_by_mut(|a, b| a.kind == b.kind) {
        let mut stages: Vec<&mut dyn Overriding> =
            of_kind.iter_mut().filter_map(|planned| planned.stage.overriding()).collect();
        for stage in &stages {
            parts.extend(stage.patches());
            has_test |= stage.has_test();
        }
        let Some(watched) = stages.first().map(|stage| stage.watched()) else { continue };
        let texts = texts(arena, &parts, watched);
        let is_looked_for = match watched {
            Watched::SeveralTexts => counts && !has_test && are_several,
            Watched::UnaskedFor => counts,
            Watched::JsonPatches | Watched::All => true,
        };
        if !is_looked_for {
            continue;
        }
        // The patches of one list know which resources those of an earlier list have changed.
        let shared = match of_patches.as_ref().filter(|_| watched == Watched::SeveralTexts) {
            Some(earlier) => earlier.with_texts(texts.clone()),
            None => Overridden::of(texts.clone()),
        };
        if watched == Watched::SeveralTexts {
            of_patches = Some(shared.clone());
        }
        let last = stages.len() - 1;
        for (i, stage) in stages.iter_mut().enumerate() {
            stage.note_in(match watched {
                // Labels run in one pass, and each reports for itself.
                Watched::UnaskedFor => Overridden::of(texts.clone()),
                Watched::All if i < last => shared.left_to_later(),
                Watched::SeveralTexts | Watched::JsonPatches | Watched::All => shared.clone(),
            });
        }
    }
}

/// The texts of the patches whose values count for a stage.
fn texts(arena: Arena<'_>, parts: &[PatchPart], watched: Watched) -> PatchTexts {
    let counts = |part: &&PatchPart| watched != Watched::JsonPatches || part.is_json;
    PatchTexts::of(arena, parts.iter().filter(counts).map(|part| part.pos))
}

/// Returns true if a patch of the kustomization finds its resources by labels or annotations, which
/// an earlier patch may have set.
fn asks_for_labels(kustomization: &Kustomization<'_>) -> bool {
    let patches = kustomization.patches.iter().chain(&kustomization.patches_json6902);
    let mut targets = patches.filter_map(|patch| patch.target.as_ref());
    targets.any(|target| !target.label_selector.is_empty() || !target.annotation_selector.is_empty())
}
