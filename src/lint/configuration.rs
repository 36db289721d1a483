//! Findings in a file of `configurations`, once all resources of the build are there.

use crate::config::Written;
use crate::diag::{Code, Warning, nearest};
use crate::resource::ResMap;
use crate::schema::{Gvk, builtin_kinds};
use crate::yaml::{Mapping, Node, Pos, Value};
use std::collections::BTreeSet;

/// A kind that a configuration names.
struct Named<'a> {
    gvk: Gvk<'a>,
    pos: Pos,
}

/// The findings in a configuration, whose file `entry` names. Most files are for more kinds than
/// one root has, so that a file counts as a whole. A kind of its own is a finding if it is nearly
/// one that exists. O(size of the file + resources).
pub fn findings<'a>(map: &ResMap<'a>, entry: &Written<'a>, node: &Node<'a>) -> Vec<Warning> {
    let mut named = Vec::new();
    // A section without a kind is for all kinds, and has an effect on any resource.
    let has_kinds = node.as_mapping().into_iter().flat_map(Mapping::iter).all(|e| kinds(e.value(), &mut named));
    if !has_kinds || named.is_empty() || map.is_empty() {
        return Vec::new();
    }
    let present: BTreeSet<Gvk<'a>> = map.iter().flat_map(|resource| resource.any_ids().map(|id| id.gvk)).collect();
    let is_idle = |named: &&Named<'a>| !present.iter().any(|gvk| named.gvk.selects(gvk));
    let idle: Vec<&Named<'a>> = named.iter().filter(is_idle).collect();
    let misspelt = idle.iter().filter(|named| !builtin_kinds().any(|kind| kind == named.gvk.kind));
    let misspelt = misspelt.filter_map(|named| {
        let near =
            nearest(named.gvk.kind, present.iter().map(|gvk| gvk.kind)).filter(|near| *near != named.gvk.kind)?;
        let message = format!("no resource is of the kind '{}': the field spec changes nothing", named.gvk.kind);
        Some(Warning::new(Code::NoEffect, message).at(named.pos).hint(format!("did you mean '{near}'?")))
    });
    let findings: Vec<Warning> = misspelt.collect();
    if findings.is_empty() && idle.len() == named.len() {
        let message = format!("'{entry}' changes nothing: no resource is of a kind that it names");
        return vec![Warning::new(Code::NoEffect, message).at(entry.pos)];
    }
    findings
}

/// Adds the kinds that a value names. Returns false if one of its mappings lacks a kind.
fn kinds<'a>(node: &Node<'a>, named: &mut Vec<Named<'a>>) -> bool {
    match node.value() {
        Value::Scalar(_) => true,
        Value::Sequence(items) => items.iter().all(|item| kinds(item, named)),
        Value::Mapping(fields) => {
            let Some(kind) = fields.get("kind").and_then(Node::as_scalar).filter(|kind| !kind.text().is_empty()) else {
                return false;
            };
            let part = |name| node.get_text(name).unwrap_or_default();
            let gvk = Gvk { group: part("group"), version: part("version"), kind: kind.text() };
            named.push(Named { gvk, pos: fields.get("kind").map_or(Pos::NONE, Node::pos) });
            fields.get("fieldSpecs").is_none_or(|specs| kinds(specs, named))
        }
    }
}
