//! Replacements, vars, and the paths of fields.

use super::super::tree::{File, Layer};
use super::super::value::{V, at, m, one, quoted, s, text};
use super::words::{NAMES, pattern};
use super::{Known, exact, few, patches, pick, rarely};
use fastrand::Rng;

const PATHS: [&str; 18] = [
    "metadata.name",
    "metadata.namespace",
    "data.k",
    "spec.replicas",
    "spec.template.spec.containers.0.image",
    "spec.template.spec.containers.[name=main].image",
    "metadata.labels.app",
    "spec.list.*",
    "spec.list.-",
    "spec.inner.name",
    "spec.inner.new",
    "metadata.annotations.[example.com/part]",
    "metadata.annotations.new",
    "spec.template.spec.containers.*.name",
    "spec.template.spec.nodeSelector.app",
    "spec.template.spec.containers.[name=\"main\"].image",
    "metadata.labels.[a/b]",
    "kind",
];

fn field_path(rng: &mut Rng) -> String {
    if rarely(rng, 8) {
        let pattern = match pattern(rng) {
            V::S(pattern) => pattern.trim_matches('\'').to_owned(),
            _ => String::new(),
        };
        return format!("spec.template.spec.containers.[name={pattern}].image");
    }
    pick(rng, &PATHS).to_owned()
}

/// A key in a path.
fn step(rng: &mut Rng, key: &str) -> String {
    let key = key.trim_matches('"');
    match key.contains(['.', '/']) {
        true if rarely(rng, 3) => format!("[{key}]"),
        _ => key.replace('.', "\\."),
    }
}

/// A path that leads to something in an object.
fn path_in(rng: &mut Rng, value: &V, depth: usize) -> String {
    let stops = depth > 1 && rarely(rng, 12);
    let (first, inner) = match value.bare() {
        V::M(entries) if !entries.is_empty() && depth < 6 && !stops => {
            let (key, inner) = &entries[rng.usize(..entries.len())];
            (step(rng, key), inner)
        }
        V::L(items) if !items.is_empty() && depth < 6 && !stops => {
            let i = rng.usize(..items.len());
            let name = text(&items[i], &["name"]);
            let first = match rng.u8(..4) {
                0 => "*".to_owned(),
                1 if !name.is_empty() && rarely(rng, 8) => format!("[name=\"{name}\"]"),
                1 if !name.is_empty() => format!("[name={name}]"),
                _ => i.to_string(),
            };
            (first, &items[i])
        }
        _ => return String::new(),
    };
    match path_in(rng, inner, depth + 1) {
        rest if rest.is_empty() => first,
        rest => format!("{first}.{rest}"),
    }
}

/// A path in an object, or any.
fn path(rng: &mut Rng, object: Option<&V>) -> String {
    let path = match object {
        Some(object) if rng.u8(..6) > 0 => path_in(rng, object, 0),
        _ => field_path(rng),
    };
    // The identity of a resource stays, mostly: builds that destroy it are refused. All
    // annotations of a resource are for testdata/deviations/build-annotations.md.
    match path.as_str() {
        "metadata" | "metadata.annotations" => "metadata.annotations.app".to_owned(),
        "kind" | "apiVersion" if rng.u8(..8) > 0 => "metadata.name".to_owned(),
        _ => path,
    }
}

fn delimiter(rng: &mut Rng) -> (&'static str, V) {
    ("delimiter", s(pick(rng, &["'/'", "'-'", "'.'", "':'", "\"\""])))
}

fn source(rng: &mut Rng, object: Option<&V>) -> V {
    let mut source = match object {
        Some(o) => vec![("kind", s(text(o, &["kind"]))), ("name", s(text(o, &["metadata", "name"])))],
        None => vec![("kind", s("ConfigMap")), ("name", s(pick(rng, &NAMES)))],
    };
    let from = path(rng, object);
    if !rarely(rng, 12) {
        source.push(("fieldPath", if from.contains('*') { s("metadata.name") } else { quoted(&from) }));
    }
    if rng.u8(..6) == 0 {
        source.push(("options", m(vec![delimiter(rng), ("index", s(pick(rng, &["0", "1", "-1", "9"])))])));
    }
    m(source)
}

fn target(rng: &mut Rng, object: Option<&V>) -> V {
    let select = match object {
        Some(o) if rng.u8(..4) > 0 => exact(o),
        _ => patches::selector(rng),
    };
    let makes = rarely(rng, 4);
    let path = |rng: &mut Rng| path(rng, object) + if makes { ".new" } else { "" };
    let mut target = vec![("select", select), ("fieldPaths", few(rng, |rng| quoted(&path(rng))))];
    if makes || rng.u8(..3) == 0 {
        let mut options = Vec::new();
        if makes || rng.bool() {
            options.push(("create", s("true")));
        }
        if rng.bool() {
            options.push(delimiter(rng));
            options.push(("index", s(pick(rng, &["0", "1", "-1", "2"]))));
        }
        target.push(("options", m(options)));
    }
    if rng.u8(..6) == 0 {
        let reject = if rng.bool() { patches::selector(rng) } else { m(vec![("name", s(pick(rng, &NAMES)))]) };
        target.push(("reject", one(reject)));
    }
    m(target)
}

fn replacement(rng: &mut Rng, known: Known<'_>) -> V {
    let from = known.pick(rng);
    let to = known.pick(rng);
    let source = match rarely(rng, 4) {
        true => ("sourceValue", s(pick(rng, &["x", "\"\"", "''", "'1'", "a/b", "5", "\"two\\nlines\""]))),
        false => ("source", source(rng, from)),
    };
    m(vec![source, ("targets", few(rng, |rng| target(rng, to)))])
}

/// An item of `replacements`: inline, or a file with one or a list of them.
pub fn replacements(rng: &mut Rng, layer: &mut Layer, known: Known<'_>) -> V {
    if rng.u8(..4) > 0 {
        return replacement(rng, known);
    }
    let name = format!("replacement{}.yaml", layer.files.len());
    let document = if rng.bool() { few(rng, |rng| replacement(rng, known)) } else { replacement(rng, known) };
    layer.files.push(File::documents(&name, vec![document]));
    m(vec![("path", s(name))])
}

/// An item of `vars`.
pub fn var(rng: &mut Rng, known: Known<'_>) -> V {
    let name = pick(rng, &["VAR", "VAR", "OTHER", "OTHER", "X-1"]);
    let object = known.pick(rng).map(|o| [&["apiVersion"][..], &["kind"], &["metadata", "name"]].map(|p| text(o, p)));
    let [api_version, kind, of] = object.unwrap_or(["v1", "ConfigMap", "a"].map(str::to_owned));
    let object = m(vec![("apiVersion", s(api_version)), ("kind", s(kind)), ("name", s(of))]);
    let mut entries = vec![("name", s(name)), ("objref", object)];
    let fields =
        ["metadata.name", "metadata.name", "metadata.name", "kind", "data.k", "spec.replicas", "metadata.labels"];
    if !rarely(rng, 6) {
        entries.push(("fieldref", m(vec![("fieldpath", s(pick(rng, &fields)))])));
    }
    m(entries)
}

/// The namespace of an object, if it says one.
pub fn namespace_of(object: &V) -> Option<V> {
    at(object, &["metadata", "namespace"]).cloned()
}
