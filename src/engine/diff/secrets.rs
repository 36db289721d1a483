//! The values of a resource that its names call secret: variables such as `DB_PASSWORD`, keys of
//! ConfigMaps, fields such as `password`, options such as `--token=...`, and URLs with a password.
//! All output for people hides these, as it hides the values of a Secret.

use crate::stage::compare::{Below, Path, push};
use rustomize_base::shown::{has_password, says_secret};
use rustomize_yaml::{Node, Value};

/// The annotation in which kubectl keeps a whole resource.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The fields of a Secret that hold its values.
const VALUES: [&str; 2] = ["data", "stringData"];

/// Words in the names of fields with secret texts, in resources of any kind.
const FIELDS: [&str; 9] = [
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "clientsecret",
    "connectionstring",
];

/// Adds the JSON pointer of each scalar of a resource that is secret. O(nodes and texts).
pub fn secrets(kind: &str, resource: &Node<'_>, found: &mut Vec<String>) {
    Search { kind, path: Path::new(), found }.value("", resource);
}

/// Returns true if kind, JSON pointer and text show that a value is secret. For a value whose
/// neighbours are no longer known. O(path and text).
pub fn is_secret(kind: &str, path: &str, text: &str) -> bool {
    is_secret_field(kind, path) || is_secret_text(text)
}

/// Returns true if kind and JSON pointer show that a value is secret. O(path).
pub fn is_secret_field(kind: &str, path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let (key, parent) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    says_secret(key) && (says_variables(kind, parent) || is_name_of_field(key))
}

/// Returns true for a name that says secret, if a field of any kind with that name has a secret
/// text.
fn is_name_of_field(name: &str) -> bool {
    let plain = || -> String { name.chars().filter(|c| !matches!(c, '-' | '_')).collect::<String>().to_lowercase() };
    name == "token" || FIELDS.iter().any(|word| plain().contains(word))
}

/// Returns true if the mapping at `key` has names of variables as its keys.
fn says_variables(kind: &str, key: &str) -> bool {
    let is_map = kind == "ConfigMap" && (key == "data" || key == "binaryData");
    is_map || key.starts_with("env") || key.ends_with("Env") || key.ends_with("Envs") || key.ends_with("EnvVars")
}

/// Returns true for a text that is secret in itself: a URL with a password, or `--token=...`.
pub fn is_secret_text(text: &str) -> bool {
    // Most texts have none of the two.
    if !text.bytes().any(|byte| matches!(byte, b':' | b'=')) {
        return false;
    }
    if has_password(text) {
        return true;
    }
    let option = text.split_once('=').map(|(name, _)| name);
    option.is_some_and(|name| is_name(name.trim_start_matches('-')) && says_secret(name))
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

struct Search<'s, 'n> {
    kind: &'s str,
    /// The way to the value that is looked at. Few values are secret, so few ways become texts.
    path: Path<'n>,
    found: &'s mut Vec<String>,
}

impl<'n> Search<'_, 'n> {
    /// Looks through a value, which is below the key `key`.
    fn value(&mut self, key: &str, node: &'n Node<'_>) {
        match node.value() {
            Value::Scalar(scalar) => {
                if is_secret_text(scalar.text()) {
                    self.found();
                }
            }
            Value::Mapping(mapping) => {
                let names = ["name", "key"].into_iter().filter_map(|name| mapping.get(name)?.as_scalar());
                let is_pair = mapping.contains("value") && { names }.any(|name| says_secret(name.text()));
                let has_variables = says_variables(self.kind, key);
                for entry in mapping.iter() {
                    let (own, value) = (entry.key().text(), entry.value());
                    let text = value.as_scalar().map(|scalar| scalar.text());
                    let is_secret_object = self.kind == "Secret" && self.path.is_empty() && VALUES.contains(&own);
                    self.path.push(Below::Key(own));
                    let is_copy = own == LAST_APPLIED
                        && text.is_some_and(|text| self.kind == "Secret" || says_secret(text) || has_password(text));
                    if is_secret_object
                        || is_copy
                        || is_pair && own == "value"
                        || (has_variables || text.is_some())
                            && says_secret(own)
                            && (has_variables || is_name_of_field(own))
                    {
                        self.all(value);
                    } else {
                        self.value(own, value);
                    }
                    self.path.pop();
                }
            }
            Value::Sequence(items) => {
                // An option and its value can be two items.
                let mut is_value = false;
                for (i, item) in items.iter().enumerate() {
                    self.path.push(Below::Item(i));
                    let text = item.as_scalar().map(|scalar| scalar.text());
                    match is_value && text.is_some_and(|text| !text.starts_with('-')) {
                        true => self.all(item),
                        false => self.value("", item),
                    }
                    is_value = text.is_some_and(|text| text.starts_with('-') && is_name(text) && says_secret(text));
                    self.path.pop();
                }
            }
        }
    }

    /// Adds all scalars of a value.
    fn all(&mut self, node: &'n Node<'_>) {
        match node.value() {
            Value::Scalar(_) => self.found(),
            Value::Mapping(mapping) => {
                for entry in mapping.iter() {
                    self.path.push(Below::Key(entry.key().text()));
                    self.all(entry.value());
                    self.path.pop();
                }
            }
            Value::Sequence(items) => {
                for (i, item) in items.iter().enumerate() {
                    self.path.push(Below::Item(i));
                    self.all(item);
                    self.path.pop();
                }
            }
        }
    }

    /// Adds the value that the path leads to.
    fn found(&mut self) {
        let mut pointer = String::new();
        self.path.iter().for_each(|below| push(&mut pointer, *below));
        self.found.push(pointer);
    }
}

#[cfg(test)]
mod tests {
    use super::secrets;
    use rustomize_yaml::{Heap, documents};

    #[track_caller]
    fn check(text: &str, want: &[&str]) {
        let heap = Heap::new();
        let arena = heap.arena();
        let nodes = documents(arena, arena.add_source("test", text.to_owned())).unwrap();
        let mut found = Vec::new();
        secrets(nodes[0].get_text("kind").unwrap_or_default(), &nodes[0], &mut found);
        assert_eq!(found, want, "{text}");
    }

    #[test]
    fn values_behind_names_that_say_secret_are_found() {
        check("{env: [{name: DB_PASSWORD, value: x}, {name: HOST, value: y}]}", &["/env/0/value"]);
        check("{env: [{name: TOKEN, valueFrom: {secretKeyRef: {name: s, key: token}}}]}", &[]);
        check("{env: {API_KEY: x, HOST: y}, extraEnv: {PW: z}}", &["/env/API_KEY", "/extraEnv/PW"]);
        check("{kind: ConfigMap, data: {DB_PASS: x, a: y}}", &["/data/DB_PASS"]);
        check("{kind: Secret, data: {a: x}, type: Opaque}", &["/data/a"]);
        check("{spec: {auth: {adminPassword: x, passwordSecretRef: {name: s}}}}", &["/spec/auth/adminPassword"]);
        check("{args: [--token=x, --password, y, --port, '80', -v=1]}", &["/args/0", "/args/2"]);
        check("{url: 'postgres://u:p@h/d', other: 'https://h/a'}", &["/url"]);
        check("{spec: {secretName: a, topologyKey: b, serviceAccountToken: {path: token}}}", &[]);
        check(
            &format!("{{metadata: {{annotations: {{{}: '{{\"password\":\"x\"}}'}}}}}}", super::LAST_APPLIED),
            &["/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration"],
        );
    }
}
