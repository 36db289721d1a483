//! [`ForeignSelectors`]: selectors of other pods that labels of a kustomization change, found
//! before they are changed.

use crate::config::field_spec::Step;
use crate::config::{FieldSpecs, WrittenMap};
use crate::diag::{Code, Warning};
use crate::resource::Resource;
use rustomize_yaml::{Mapping, Node, Pos, Value};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The selectors of other pods that a transformer has changed: by the place of the changed part,
/// the resource and the message.
#[derive(Debug, Default)]
pub(super) struct ForeignSelectors(Mutex<BTreeMap<Pos, (String, String)>>);

/// A selector on its way, with the part of a NetworkPolicy that it is in.
struct Selector<'n, 'a> {
    labels: &'n Mapping<'a>,
    pos: Pos,
    /// True if it selects pods of the namespaces of another selector.
    is_of_namespaces: bool,
}

impl ForeignSelectors {
    /// Looks at the selectors of a resource that are about to be changed. O(specs of the kind +
    /// size of affinities and peers).
    pub(super) fn look_at<'a>(&self, resource: &Resource<'a>, specs: &FieldSpecs<'a>, new: &WrittenMap<'a>) {
        let node = resource.node();
        if !may_have_some(resource) {
            return;
        }
        for (_, path) in specs.for_node(resource.id().gvk, node).filter(|(_, path)| is_of_others(path)) {
            let own = own_labels(node, path);
            each(node, path, false, &mut |selector| {
                for (label, value) in new {
                    let old = selector.labels.get(label).and_then(Node::as_scalar).map(|old| old.text());
                    let is_own = || own.and_then(|own| own.get(label)?.as_scalar()).map(|s| s.text()) == old;
                    let message = match old {
                        Some(old) if old != value.text && !is_own() => format!(
                            "this selector is for other pods, and the labels of the kustomization change '{label}' in it to '{}'",
                            value.text
                        ),
                        None if selector.is_of_namespaces => format!(
                            "this selector is for pods of other namespaces, and the labels of the kustomization add '{label}' to it"
                        ),
                        _ => continue,
                    };
                    let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                    let id = resource.id().to_string();
                    // The result is the same in any order of the threads.
                    match found.get(&selector.pos) {
                        Some(known) if *known <= (id.clone(), message.clone()) => {}
                        _ => drop(found.insert(selector.pos, (id, message))),
                    }
                }
            });
        }
    }

    /// The findings about all selectors. `otherwise` is a place for those that no file has.
    pub(super) fn findings(&self, otherwise: Pos) -> Vec<Warning> {
        let found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let hint = "write it with 'matchExpressions', which kustomize leaves alone, or set the labels without selectors: 'labels' with 'includeTemplates: true'";
        let finding = |(pos, (id, message)): (&Pos, &(String, String))| {
            Warning::new(Code::ForeignSelector, message).at(*pos).at(otherwise).in_resource(id).hint(hint)
        };
        found.iter().map(finding).collect()
    }
}

/// False for a resource without affinities, constraints and peers, as nearly all are: its specs
/// need not be looked at. O(1).
fn may_have_some(resource: &Resource<'_>) -> bool {
    let Some(spec) = resource.node().get("spec") else { return false };
    let of_job = spec.get("jobTemplate").and_then(|job| job.get("spec"));
    let pod = of_job.unwrap_or(spec).get("template").and_then(|template| template.get("spec"));
    let has = |field: &str| pod.is_some_and(|pod| pod.get(field).is_some());
    resource.id().gvk.kind == "NetworkPolicy" || has("affinity") || has("topologySpreadConstraints")
}

/// True for the path of selectors that may be for other pods than those of the resource.
fn is_of_others(path: &[Step<'_>]) -> bool {
    let has = |keys: &[&str]| path.iter().any(|step| keys.contains(&step.key));
    has(&["affinity", "topologySpreadConstraints"]) || has(&["from", "to"]) && has(&["podSelector"])
}

/// The labels of the pods of the resource itself: those of the template that a path leads into, or
/// of the pods that a NetworkPolicy is for.
fn own_labels<'n, 'a>(node: &'n Node<'a>, path: &[Step<'_>]) -> Option<&'n Mapping<'a>> {
    let labels = match path.iter().position(|step| step.key == "template") {
        Some(template) => {
            let template = path[..=template].iter().try_fold(node, |node, step| node.get(step.key))?;
            template.get("metadata")?.get("labels")
        }
        None => node.get("spec")?.get("podSelector")?.get("matchLabels"),
    };
    labels?.as_mapping()
}

/// Looks at each mapping that a path leads to, in all items of the lists on the way.
fn each<'n, 'a>(
    node: &'n Node<'a>,
    path: &[Step<'_>],
    is_of_namespaces: bool,
    look: &mut impl FnMut(Selector<'n, 'a>),
) {
    match (path.split_first(), node.value()) {
        (_, Value::Sequence(items)) => items.iter().for_each(|item| each(item, path, is_of_namespaces, look)),
        (None, Value::Mapping(labels)) => look(Selector { labels, pos: node.pos(), is_of_namespaces }),
        (Some((step, rest)), Value::Mapping(fields)) => {
            let is_of_namespaces =
                is_of_namespaces || step.key == "podSelector" && fields.contains("namespaceSelector");
            fields.get(step.key).into_iter().for_each(|value| each(value, rest, is_of_namespaces, look));
        }
        (_, Value::Scalar(_)) => {}
    }
}
