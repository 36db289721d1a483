//! [`check`]: holds resources to the schemas of their kinds, as a server would before it takes
//! them: Kubernetes' own kinds in a version of the user's choice, and the kinds that
//! CustomResourceDefinitions among the resources define. Other kinds are left alone.
//!
//! The pass reads trees and nothing else. A message never has a value of a resource in it: the
//! place leads to the value, and a value may be secret.
//!
//! *Cost*: O(size of the trees), on all cores; a definition is compiled once, where a resource has
//! its kind.

mod brought;
mod definition;
mod kept_quotes;
mod kind;
mod kubernetes;
mod rules;
mod scope;
mod show;
mod unions;
mod walk;
mod way;

pub(crate) use brought::{Kinds, MOST_UNKNOWN, Unknown};
pub use kubernetes::{Known, UnknownVersion, versions};
pub use show::{NotShown, fields};

use crate::diag::{Code, Warning, allow};
use crate::resource::{ResMap, Resource};
use crate::schema::Gvk;
use definition::Definition;
use rustomize_base::meter::{FastMap, FastSet};
use rustomize_yaml::places::Places;
use rustomize_yaml::{Arena, Node};

/// The most places whose findings are kept: findings at more places are counted.
const MOST_PLACES: usize = 1000;

/// The most findings that are kept: more are counted.
const MOST_FINDINGS: usize = 10_000;

/// The findings of a check, in the order of the resources.
#[derive(Debug, Default)]
pub struct Findings {
    pub shown: Vec<Warning>,
    /// How many more there are.
    pub left_out: usize,
}

/// The definitions among the resources: by group and kind, those of the kinds that are used.
type Definitions<'a> = FastMap<Gvk<'a>, Definition<'a>>;

/// Checks the resources of an output against the schemas of their kinds. Findings that a comment
/// allows are left out. O(size of the trees).
pub fn check<'a>(arena: Arena<'a>, map: &ResMap<'a>, known: &Known) -> Findings {
    let definitions = definitions(map, |_| true);
    let heap = arena.heap();
    let found = map.look_at_runs(arena, |run| {
        let places = Places::new(heap);
        run.iter().flat_map(|resource| of_resource(&places, resource, known, &definitions)).collect::<Vec<_>>()
    });
    let mut findings = Findings::default();
    let mut places: FastSet<(Option<u32>, Code)> = FastSet::default();
    for warning in allow::not_allowed(heap, found.into_iter().flatten().collect()) {
        let place = (warning.pos().map(|pos| pos.0), warning.code());
        let is_kept = places.contains(&place) || (places.len() < MOST_PLACES && places.insert(place));
        if is_kept && findings.shown.len() < MOST_FINDINGS {
            findings.shown.push(warning);
        } else {
            findings.left_out += 1;
        }
    }
    findings
}

/// The definitions of kinds that a resource has and that are wanted.
fn definitions<'a>(map: &ResMap<'a>, is_wanted: impl Fn(&str) -> bool) -> Definitions<'a> {
    let mut manifests: FastMap<(&'a str, &'a str), &Node<'a>> = FastMap::default();
    for resource in map.iter().filter(|r| is_definition(r)) {
        if let Some(defines) = definition::defined_kind(resource.node()).filter(|(_, kind)| is_wanted(kind)) {
            manifests.entry(defines).or_insert(resource.node());
        }
    }
    let mut definitions = Definitions::default();
    if manifests.is_empty() {
        return definitions;
    }
    for resource in map.iter() {
        let gvk = resource.id().gvk;
        if let Some(manifest) = manifests.get(&(gvk.group, gvk.kind)) {
            definitions.entry(gvk).or_insert_with(|| Definition::new(manifest, gvk.version));
        }
    }
    definitions
}

fn is_definition(resource: &Resource<'_>) -> bool {
    let gvk = resource.id().gvk;
    gvk.kind == "CustomResourceDefinition" && gvk.group == "apiextensions.k8s.io"
}

/// The findings of one resource.
fn of_resource<'a>(
    places: &Places<'a>,
    resource: &Resource<'a>,
    known: &Known,
    definitions: &Definitions<'a>,
) -> Vec<Warning> {
    let gvk = &resource.id().gvk;
    let mut findings = Vec::new();
    match definitions.get(gvk) {
        Some(definition) => {
            findings.extend(definition.unusual_version(resource));
            findings.extend(scope::finding(resource, definition.scope()));
            if let Some(table) = definition.table() {
                walk::custom(places, resource, table, known, &mut findings);
            }
        }
        None => {
            findings.extend(kind::finding(resource, known));
            findings.extend(scope::finding(resource, None));
            if let Some(rule) = known.rule(gvk) {
                walk::builtin(places, resource, known, rule, &mut findings);
            }
        }
    }
    findings
}
