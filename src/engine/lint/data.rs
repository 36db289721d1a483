//! The data of ConfigMaps and Secrets: keys and values that Kubernetes refuses.

use super::finding::finding;
use super::parts::{Parts, items};
use crate::diag::{Code, Warning, is_encrypted, is_placeholder};
use crate::generator::key_values::file_source;
use crate::schema::{LONGEST_DATA_KEY, is_data_key, is_of_data_key};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustomize_yaml::{Mapping, Node};

/// The first value in the data of a Secret that is not base64. The value is not shown.
pub(super) fn bad_base64(parts: &Parts<'_, '_>) -> Option<Warning> {
    let resource = parts.resource;
    let gvk = resource.id().gvk;
    if gvk.kind != "Secret" || !gvk.group.is_empty() {
        return None;
    }
    let data = resource.node().get("data").and_then(Node::as_mapping)?;
    let is_base64 = |text: &str| {
        let text: String = text.chars().filter(|c| !matches!(c, '\n' | '\r')).collect();
        // sops puts the base64 back; other tools replace these signs in the output. `@` is in
        // addresses that people forget to encode.
        is_encrypted(&text) || text.contains(['$', '{', '%', '<']) || STANDARD.decode(text).is_ok()
    };
    let bad =
        data.iter().find(|entry| entry.value().as_scalar().is_some_and(|s| !s.is_null() && !is_base64(s.text())))?;
    let message = format!("the value of '{}' in the data of a Secret is not base64", bad.key().text());
    Some(finding(Code::BadBase64, resource, bad.value(), message).hint("put text into 'stringData'"))
}

/// The first key in the data of a ConfigMap or Secret that Kubernetes refuses. The keys of
/// generated objects are found in the entry of the generator, and in the lines of env files.
pub(super) fn bad_key(parts: &Parts<'_, '_>) -> Option<Warning> {
    let resource = parts.resource;
    let gvk = resource.id().gvk;
    if !gvk.group.is_empty() || !matches!(gvk.kind, "ConfigMap" | "Secret") {
        return None;
    }
    let data = ["data", "binaryData", "stringData"].into_iter().filter_map(|field| resource.node().get(field));
    let mut entries =
        data.filter(|data| data.pos().is_in_source()).filter_map(Node::as_mapping).flat_map(Mapping::iter);
    let bad = entries.find(|entry| is_refused(entry.key().text()))?;
    let finding = refused(bad.key().text(), gvk.kind).at(bad.key().pos()).at(resource.pos());
    Some(finding.in_resource(resource.id()))
}

/// The sources of an object that name its keys; those in env files are found with their lines.
const SOURCES: [&str; 2] = ["literals", "files"];

/// The findings about literals and files of the generators of a kustomization whose keys Kubernetes
/// refuses.
pub(super) fn bad_sources(node: &Node<'_>) -> impl Iterator<Item = Warning> {
    let generators = [("configMapGenerator", "ConfigMap"), ("secretGenerator", "Secret")];
    let entries = generators.into_iter().flat_map(|(field, kind)| items(node, field).map(move |entry| (entry, kind)));
    let sources = entries.flat_map(|(entry, kind)| {
        SOURCES.into_iter().flat_map(move |field| items(entry, field).map(move |source| (field, source, kind)))
    });
    sources.filter_map(|(field, source, kind)| {
        let text = source.as_scalar()?.text();
        let key = match field {
            "files" => file_source(text).ok()?.0,
            _ => text.split_once('=')?.0,
        };
        let finding = match (kind, field) {
            _ if !is_refused(key) => return None,
            // A secret in base64, which ends with '=', may be the whole literal.
            ("Secret", "literals") => {
                Warning::new(Code::BadDataKey, "Kubernetes refuses the key of this literal").hint(RULE)
            }
            _ => refused(key, kind),
        };
        let finding = finding.at(source.pos());
        Some(if kind == "Secret" { finding.without_line() } else { finding })
    })
}

fn is_refused(key: &str) -> bool {
    !is_data_key(key) && !is_placeholder(key)
}

/// The rule for keys, as hints say it.
const RULE: &str = "a key has letters, digits, '-', '_' and '.' alone, and does not begin with '..'";

/// The finding about a key that an object of a kind must not have, with a key like it.
fn refused(key: &str, kind: &str) -> Warning {
    let rule = match key.len() > LONGEST_DATA_KEY {
        true => format!("a key has at most {LONGEST_DATA_KEY} characters"),
        false => RULE.to_owned(),
    };
    let near = key.trim().trim_start_matches('.').replace(|c| !is_of_data_key(c), "-");
    let hint = match is_data_key(&near) && near.contains(|c: char| c.is_ascii_alphanumeric()) {
        true => format!("{rule}, as in '{near}'"),
        false => rule,
    };
    Warning::new(Code::BadDataKey, format!("Kubernetes refuses the key '{key}' in the data of a {kind}")).hint(hint)
}
