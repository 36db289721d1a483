//! Values where Kubernetes takes a text alone: values that are not texts, and placeholders in
//! quotes. kustomize prints the placeholders without quotes, so that another tool puts a number or
//! a boolean there.

use super::finding::finding;
use super::parts::{Parts, fields, listed};
use crate::diag::{Code, Warning};
use rustomize_yaml::scalar::Kind;
use rustomize_yaml::{Heap, Node, Scalar, Style};

/// The words in names of variables whose values are numbers or booleans, at the end of a name.
const LAST_WORDS: [&str; 32] = [
    "PORT", "COUNT", "REPLICAS", "SIZE", "NUMBER", "NUM", "TIMEOUT", "TTL", "SECONDS", "MINUTES", "HOURS", "DAYS",
    "LIMIT", "MAX", "MIN", "RATE", "WEIGHT", "PRIORITY", "VERSION", "ENABLED", "DISABLED", "ENABLE", "DISABLE",
    "DEBUG", "VERBOSE", "INDEX", "SHARDS", "WORKERS", "THREADS", "RETRIES", "BYTES", "PERCENT",
];

/// Such words at the beginning of a name.
const FIRST_WORDS: [&str; 11] =
    ["ENABLE", "ENABLED", "DISABLE", "DISABLED", "IS", "HAS", "USE", "MAX", "MIN", "NUM", "ALLOW"];

/// Adds a finding for each placeholder of a resource that was in quotes, is all of a text, and
/// whose name or default says that its value is a number or a boolean; and for each value that is
/// not a text. Looked at are fields that must be texts: labels, annotations, the data of
/// ConfigMaps, `stringData` of Secrets, and the environment and arguments of containers. O(size of
/// these).
pub(super) fn texts(parts: &Parts<'_, '_>, found: &mut Vec<Warning>) {
    let of_pods = parts.metadata_of_pods().filter(|_| parts.resource.id().gvk.kind != "Pod");
    for metadata in parts.metadata.into_iter().chain(of_pods) {
        for map in ["labels", "annotations"] {
            let values = metadata.get(map).into_iter().flat_map(fields);
            found.extend(values.filter_map(|(_, value)| of_text(parts, value)));
        }
    }
    let gvk = parts.resource.id().gvk;
    let data = match (gvk.group, gvk.kind) {
        ("", "ConfigMap") => Some("data"),
        ("", "Secret") => Some("stringData"),
        _ => None,
    };
    // The annotations of the resource itself are printed as texts; labels are those of `bad-label`.
    let annotations = of_pods.and_then(|metadata| metadata.get("annotations"));
    found.extend(annotations.into_iter().flat_map(fields).filter_map(|(_, value)| not_text(parts, value)));
    let mut look = |node: &Node<'_>| found.extend(of_text(parts, node).or_else(|| not_text(parts, node)));
    let data = data.and_then(|field| parts.resource.node().get(field));
    data.into_iter().flat_map(fields).for_each(|(_, value)| look(value));
    for container in parts.pod().into_iter().flat_map(|pod| &pod.containers) {
        listed(container.env).filter_map(|item| item.get("value")).for_each(&mut look);
        [container.args, container.command].into_iter().flat_map(listed).for_each(&mut look);
    }
}

/// The finding about a text.
fn of_text(parts: &Parts<'_, '_>, node: &Node<'_>) -> Option<Warning> {
    let scalar = node.as_scalar()?;
    if !matches!(scalar.style(), Style::Single | Style::Double) || !may_be_number(scalar.text()) {
        return None;
    }
    let text = scalar.text();
    let message = format!("the quotes are not in the output: it has {text}, which may become a number or a boolean");
    let hint = "give the variable a value with quotes of its own, as in '\"8080\"': Kubernetes takes a text alone here";
    Some(finding(Code::LostQuotes, parts.resource, node, message).hint(hint))
}

/// The finding about a value that is not a text. Kubernetes takes a null for a missing value. The
/// value is not shown, because it may be a secret.
fn not_text(parts: &Parts<'_, '_>, node: &Node<'_>) -> Option<Warning> {
    let is_text = |scalar: &Scalar<'_>| !matches!(scalar.kind(), Kind::Int | Kind::Float | Kind::Bool);
    if node.as_scalar().is_some_and(is_text) {
        return None;
    }
    let message = format!("Kubernetes takes a text alone here, found {}", node.shape());
    let found = finding(Code::NotText, parts.resource, node, message);
    Some(if node.as_scalar().is_some() { found } else { found.hint("write one text here") })
}

/// Adds the advice to a finding about a scalar that is not a text, as its file has it.
pub(super) fn advised(heap: &Heap, found: Warning) -> Warning {
    if found.code() != Code::NotText || !found.hints().is_empty() {
        return found;
    }
    let written = found.pos().and_then(|pos| heap.outermost(pos));
    let written = written.and_then(|(source, offset)| source.text.get(offset..)).unwrap_or_default();
    found.hint(match written.trim_start_matches(['"', '\'']).starts_with("$(") {
        true => "a variable keeps the type of its field: copy the value into a text in quotes, with 'replacements'",
        false => "put the value into quotes",
    })
}

/// True for a text that is one placeholder, as `${PORT}` or `${PORT:=80}`, whose name or default
/// says that its value is a number or a boolean.
fn may_be_number(text: &str) -> bool {
    let Some(inner) = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) else { return false };
    let name = inner.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
    let rest = &inner[name.len()..];
    let default = [":=", ":-", "=", "-"].iter().find_map(|sign| rest.strip_prefix(sign));
    if name.is_empty() || inner.contains("${") || !rest.is_empty() && default.is_none() {
        return false;
    }
    if let Some(default) = default.filter(|default| !default.is_empty()) {
        return matches!(Scalar::plain(default).kind(), Kind::Int | Kind::Float | Kind::Bool);
    }
    let name = name.to_ascii_uppercase();
    let words = || name.split('_').filter(|word| !word.is_empty());
    let is_one = |word: Option<&str>, list: &[&str]| word.is_some_and(|word| list.contains(&word));
    is_one(words().next_back(), &LAST_WORDS) || words().count() > 1 && is_one(words().next(), &FIRST_WORDS)
}

#[cfg(test)]
mod tests {
    use super::may_be_number;

    #[test]
    fn placeholders_of_numbers() {
        for text in ["${PORT}", "${http_port}", "${MAX_SIZE_X}", "${X:=80}", "${X:-true}", "${PORT:-1.5}", "${USE_TLS}"]
        {
            assert!(may_be_number(text), "{text}");
        }
        for text in
            ["${HOST}", "${X:=a}", "${PORT:=http}", "${A}${PORT}", "x${PORT}", "$PORT", "${PORT", "${}", "${A/PORT}"]
        {
            assert!(!may_be_number(text), "{text}");
        }
    }
}
