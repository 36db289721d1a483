//! Findings about the kind of a resource: unknown, deprecated, or removed.

use super::kubernetes::Known;
use crate::diag::{Code, Warning, nearest};
use crate::resource::Resource;
use crate::schema::Gvk;
use rustomize_yaml::Pos;

/// The finding about the kind of a resource whose kind no CustomResourceDefinition defines.
pub(super) fn finding(resource: &Resource<'_>, known: &Known) -> Option<Warning> {
    let gvk = &resource.id().gvk;
    let life = known.life(gvk);
    let version = known.version();
    let warning = |code, field: &str, message: String| {
        let pos = resource.node().get(field).map_or(Pos::NONE, |node| node.pos());
        Warning::new(code, message).at(pos).at(resource.pos()).in_field(field).in_resource(resource.id())
    };
    if let Some(life) = life {
        let instead = life.replacement.map(|to| format!("use {} of {}", to.kind, api_version(&to)));
        let named = format!("{} of {}", gvk.kind, api_version(gvk));
        if let Some(removed) = life.removed.filter(|removed| *removed <= known.minor()) {
            let message = format!("{named} was removed in Kubernetes 1.{removed}");
            return Some(hinted(warning(Code::RemovedApi, "apiVersion", message), instead));
        }
        if let Some(deprecated) = life.deprecated.filter(|deprecated| *deprecated <= known.minor()) {
            let end = life.removed.map_or_else(String::new, |removed| format!(", and is removed in 1.{removed}"));
            let message = format!("{named} is deprecated since Kubernetes 1.{deprecated}{end}");
            return Some(hinted(warning(Code::DeprecatedApi, "apiVersion", message), instead));
        }
    }
    if known.rule(gvk).is_some() || !known.has_group(gvk.group) {
        return None;
    }
    let message = format!("the kind '{}' is unknown in '{}' of Kubernetes {version}", gvk.kind, api_version(gvk));
    let in_versions = known.versions_of(gvk);
    if let Some(first) = in_versions.first() {
        let last = in_versions.last().filter(|last| *last != first);
        let range =
            last.map_or_else(|| format!("version {first} has"), |last| format!("versions {first} to {last} have"));
        return Some(warning(Code::UnknownKind, "kind", message).hint(format!("{range} it")));
    }
    let kinds = known.kinds();
    // The same kind in another version or group, else the nearest name in this one.
    let elsewhere = kinds.iter().find(|other| other.kind == gvk.kind && other.group == gvk.group);
    let elsewhere = elsewhere.or_else(|| kinds.iter().find(|other| other.kind == gvk.kind));
    if let Some(other) = elsewhere {
        let hint = format!("{} is in {}", other.kind, api_version(other));
        return Some(warning(Code::UnknownKind, "apiVersion", message).hint(hint));
    }
    let of_version = kinds.iter().filter(|other| other.group == gvk.group && other.version == gvk.version);
    let near = nearest(gvk.kind, of_version.map(|other| other.kind));
    Some(hinted(warning(Code::UnknownKind, "kind", message), near.map(|near| format!("did you mean '{near}'?"))))
}

fn hinted(warning: Warning, hint: Option<String>) -> Warning {
    hint.into_iter().fold(warning, Warning::hint)
}

/// Group and version as a manifest has them.
pub(super) fn api_version(gvk: &Gvk<'_>) -> String {
    if gvk.group.is_empty() { gvk.version.to_owned() } else { format!("{}/{}", gvk.group, gvk.version) }
}
