//! Names that replacements have copied before a prefix, a suffix or a hash changed them.

use crate::config::field_path::{lookup, target_parts};
use crate::diag::{Code, Warning};
use crate::resource::{ResMap, Resource};
use crate::stage::NameCopy;
use rustomize_base::meter::FastMap;
use rustomize_yaml::{Arena, Node, Pos};

/// The findings about copies of names that are still in the output, where the resource has another
/// name by now. Labels and selectors often hold the name without its prefix on purpose.
/// O(resources + copies), if there are copies.
pub(super) fn findings<'a>(arena: Arena<'a>, map: &ResMap<'a>, copies: &[NameCopy]) -> Vec<Warning> {
    let mut at: FastMap<Pos, Vec<&Resource<'a>>> = FastMap::default();
    at.extend(copies.iter().flat_map(|copy| [copy.source, copy.target]).map(|pos| (pos, Vec::new())));
    for resource in map.iter().filter(|_| !copies.is_empty()) {
        if let Some(there) = at.get_mut(&resource.pos()) {
            there.push(resource);
        }
    }
    // A base that two layers have has several resources at one place.
    let only = |pos: Pos| match at.get(&pos).map(Vec::as_slice) {
        Some([only]) => Some(*only),
        _ => None,
    };
    let finding = |copy: &NameCopy| {
        let (source, target) = (only(copy.source)?.id(), only(copy.target)?);
        if *source.name == *copy.name || is_of_labels(&copy.path) {
            return None;
        }
        let parts = target_parts(arena, &copy.path).ok()?;
        let node: &Node<'a> = lookup(target.node(), &parts).ok()??;
        if *node.as_scalar()?.text() != *copy.name {
            return None;
        }
        let (kind, now) = (source.gvk.kind, source.name);
        let message =
            format!("the {kind} is named '{now}' in the output, and this copy of its name is '{}'", copy.name);
        let hint = "copy the name where it is final: in the kustomization that adds the prefix or suffix; a hash comes last, and 'disableNameSuffixHash: true' leaves it out";
        Some(Warning::new(Code::OldName, message).at(copy.pos).in_resource(target.id()).hint(hint))
    };
    copies.iter().filter_map(finding).collect()
}

/// True for the path of a label, or of a selector.
fn is_of_labels(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    path.contains("label") || path.contains("selector")
}
