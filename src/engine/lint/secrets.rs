//! Secrets that files have in clear text, or that lack a key.

use super::finding::finding;
use super::parts::{Parts, fields};
use crate::diag::{Code, Warning, is_placeholder};
use crate::resource::Resource;
use rustomize_yaml::Node;

/// The beginnings of values that are not secret, as text and in base64: public keys and
/// certificates.
const PUBLIC: [&str; 4] = [
    "-----BEGIN PUBLIC KEY",
    "LS0tLS1CRUdJTiBQVUJMSUMgS0VZ",
    "-----BEGIN CERTIFICATE",
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FUR",
];

/// Adds a finding for each value of a Secret that a file has. Base64 is not encryption. The values
/// of generated Secrets are not in a file: their sources are found in the kustomization.
pub(super) fn clear_text(resource: &Resource<'_>, found: &mut Vec<Warning>) {
    let gvk = resource.id().gvk;
    if gvk.kind != "Secret" || !gvk.group.is_empty() {
        return;
    }
    let fields = ["data", "stringData"].into_iter().filter_map(|field| resource.node().get(field)?.as_mapping());
    for entry in fields.flat_map(|fields| fields.iter()) {
        let is_public = |value: &str| PUBLIC.iter().any(|public| value.starts_with(public));
        let is_clear = |value: &str| !value.is_empty() && !is_public(value) && !is_placeholder(value);
        if entry.value().pos().is_in_source() && text(entry.value()).is_some_and(is_clear) {
            let message = format!("the value of '{}' is a secret in clear text", entry.key().text());
            found.push(finding(Code::ClearTextSecret, resource, entry.value(), message).without_line());
        }
    }
}

/// The keys that Kubernetes asks for in a Secret of a type.
const KEYS: [(&str, &[&str]); 4] = [
    ("kubernetes.io/tls", &["tls.crt", "tls.key"]),
    ("kubernetes.io/dockerconfigjson", &[".dockerconfigjson"]),
    ("kubernetes.io/dockercfg", &[".dockercfg"]),
    ("kubernetes.io/ssh-auth", &["ssh-privatekey"]),
];

/// A Secret without a key that its type asks for.
pub(super) fn without_key(parts: &Parts<'_, '_>) -> Option<Warning> {
    let resource = parts.resource;
    let gvk = resource.id().gvk;
    if gvk.kind != "Secret" || !gvk.group.is_empty() {
        return None;
    }
    let node = resource.node();
    let of_type = node.get("type")?;
    let (name, keys) = KEYS.into_iter().find(|(name, _)| *name == of_type.scalar_text())?;
    let given = || ["data", "stringData"].into_iter().filter_map(|field| node.get(field)).flat_map(fields);
    let missing = keys.iter().find(|missing| given().all(|(key, _)| key != **missing))?;
    let message = format!("a Secret of the type '{name}' has no key '{missing}': Kubernetes refuses it");
    let other = given().map(|(key, _)| key).find(|key| !keys.contains(key));
    // A generator has written the type: its entry has the files.
    let hint = match other.filter(|_| !of_type.pos().is_in_source()) {
        Some(other) => format!("give the file its key, as in {missing}={other}"),
        None => format!("add the key '{missing}', or correct 'type'"),
    };
    Some(finding(Code::MissingKey, resource, of_type, message).hint(hint))
}

fn text<'a>(value: &Node<'a>) -> Option<&'a str> {
    value.as_scalar().filter(|scalar| !scalar.is_null()).map(|scalar| scalar.text())
}
