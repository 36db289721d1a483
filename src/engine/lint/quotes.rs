//! Placeholders in quotes, which kustomize prints without them: another tool then puts a number or
//! a boolean where Kubernetes takes a text alone.

use super::finding::finding;
use super::parts::{Parts, fields, listed};
use crate::diag::{Code, Warning};
use rustomize_yaml::scalar::Kind;
use rustomize_yaml::{Node, Scalar, Style};

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
/// whose name or default says that its value is a number or a boolean. Looked at are fields that
/// must be texts: labels, annotations, the data of ConfigMaps, `stringData` of Secrets, and the
/// environment and arguments of containers. O(size of these).
pub(super) fn lost(parts: &Parts<'_, '_>, found: &mut Vec<Warning>) {
    let mut look = |node: &Node<'_>| found.extend(of_text(parts, node));
    let of_pods = parts.metadata_of_pods().filter(|_| parts.resource.id().gvk.kind != "Pod");
    for metadata in parts.metadata.into_iter().chain(of_pods) {
        for map in ["labels", "annotations"] {
            metadata.get(map).into_iter().flat_map(fields).for_each(|(_, value)| look(value));
        }
    }
    let gvk = parts.resource.id().gvk;
    let data = match (gvk.group, gvk.kind) {
        ("", "ConfigMap") => Some("data"),
        ("", "Secret") => Some("stringData"),
        _ => None,
    };
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
