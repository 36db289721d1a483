//! Findings in the resources that a build ends with, once names are final.

use crate::diag::{Code, Warning};
use crate::resource::{ResMap, Resource};
use crate::schema::builtin_kinds;
use crate::yaml::{Mapping, Node};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The findings in all resources, in order. O(size of what is looked at).
pub fn findings(map: &ResMap<'_>) -> Vec<Warning> {
    let checks = [kind_case, bad_name, bad_base64, selector_mismatch];
    map.iter().flat_map(|resource| checks.map(|check| check(resource))).flatten().collect()
}

fn finding(code: Code, resource: &Resource<'_>, at: &Node<'_>, message: String) -> Warning {
    Warning::new(code, message).at(at.pos()).at(resource.pos()).in_resource(resource.id())
}

/// A kind of a group of Kubernetes that has no such kind, but one in other letters.
fn kind_case(resource: &Resource<'_>) -> Option<Warning> {
    let kind = resource.id().gvk.kind;
    let is_of_kubernetes = matches!(resource.id().gvk.group, "" | "apps" | "batch" | "autoscaling" | "policy");
    let is_other = |known: &&str| *known != kind && known.eq_ignore_ascii_case(kind);
    if !is_of_kubernetes || builtin_kinds().any(|known| known == kind) {
        return None;
    }
    let known = builtin_kinds().find(is_other)?;
    let message = format!("Kubernetes has no kind '{kind}' in this group");
    Some(
        finding(Code::KindCase, resource, resource.node().get("kind")?, message)
            .hint(format!("did you mean '{known}'?")),
    )
}

/// A name that is not a DNS subdomain (RFC 1123), of a kind whose name must be one.
fn bad_name(resource: &Resource<'_>) -> Option<Warning> {
    let id = resource.id();
    let needs_subdomain = match id.gvk.group {
        "" => matches!(id.gvk.kind, "ConfigMap" | "Secret" | "Service" | "ServiceAccount" | "Pod" | "Namespace"),
        "apps" => matches!(id.gvk.kind, "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet"),
        "batch" => matches!(id.gvk.kind, "Job" | "CronJob"),
        _ => false,
    };
    // Other tools replace `$` and braces in the output.
    if !needs_subdomain || id.name.contains(['$', '{', '%', '@', '<']) || is_subdomain(id.name) {
        return None;
    }
    let name = resource.node().get("metadata").and_then(|metadata| metadata.get("name"))?;
    let message = format!("Kubernetes refuses the name '{}'", id.name);
    let hint = "a name has lower case letters, digits, '-' and '.', and begins and ends with a letter or digit";
    Some(finding(Code::BadName, resource, name, message).hint(hint))
}

fn is_subdomain(name: &str) -> bool {
    let is_alphanumeric = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let is_label = |label: &str| {
        let bytes = label.as_bytes();
        bytes.first().is_some_and(is_alphanumeric)
            && bytes.last().is_some_and(is_alphanumeric)
            && bytes.iter().all(|b| is_alphanumeric(b) || *b == b'-')
    };
    name.len() <= 253 && name.split('.').all(is_label)
}

/// The first value in the data of a Secret that is not base64. The value is not shown.
fn bad_base64(resource: &Resource<'_>) -> Option<Warning> {
    let gvk = resource.id().gvk;
    if gvk.kind != "Secret" || !gvk.group.is_empty() {
        return None;
    }
    let data = resource.node().get("data").and_then(Node::as_mapping)?;
    let is_base64 = |text: &str| {
        let text: String = text.chars().filter(|c| !matches!(c, '\n' | '\r')).collect();
        // Other tools replace `$` and braces in the output.
        text.contains(['$', '{', '%', '<']) || STANDARD.decode(text).is_ok()
    };
    let bad =
        data.iter().find(|entry| entry.value().as_scalar().is_some_and(|s| !s.is_null() && !is_base64(s.text())))?;
    let message = format!("the value of '{}' in the data of a Secret is not base64", bad.key().text());
    Some(finding(Code::BadBase64, resource, bad.value(), message).hint("put text into 'stringData'"))
}

/// A workload whose selector asks for a label that its own pod template does not have.
fn selector_mismatch(resource: &Resource<'_>) -> Option<Warning> {
    let gvk = resource.id().gvk;
    if gvk.group != "apps" || !matches!(gvk.kind, "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet") {
        return None;
    }
    let spec = resource.node().get("spec")?;
    let wanted = spec.get("selector").and_then(|selector| selector.get("matchLabels")).and_then(Node::as_mapping)?;
    let labels = spec.get("template")?.get("metadata").and_then(|m| m.get("labels")).and_then(Node::as_mapping);
    let has = |key: &str, value: &Node<'_>| {
        let label = labels.and_then(|labels: &Mapping<'_>| labels.get(key)).and_then(Node::as_scalar);
        label.map(|s| s.text()) == value.as_scalar().map(|s| s.text())
    };
    let missing = wanted.iter().find(|entry| !has(entry.key().text(), entry.value()))?;
    let message =
        format!("the selector asks for the label '{}', which the pod template does not have", missing.key().text());
    Some(finding(Code::SelectorMismatch, resource, missing.value(), message))
}
