//! Patches: which resources they are for, merges, and JSON patches.

use super::super::tree::{File, Layer};
use super::super::value::{V, at, m, one, s, text};
use super::words::{NAMES, NAMESPACES, odd, pattern};
use super::{Known, exact, objects, pick, rarely};
use fastrand::Rng;

/// A selector of resources, with patterns.
pub fn selector(rng: &mut Rng) -> V {
    let mut entries = Vec::new();
    if rng.u8(..4) > 0 {
        let kinds = ["Deployment", "ConfigMap", "Widget", "'Stateful.*|Deployment'", "Service"];
        entries.push(("kind", s(pick(rng, &kinds))));
    }
    if rng.bool() {
        let name = if rarely(rng, 4) { pattern(rng) } else { s(pick(rng, &["a", "b", "web", "'.*'", "'w.b'", "cfg"])) };
        entries.push(("name", name));
    }
    if rng.u8(..5) == 0 {
        let labels =
            ["app=x", "'tier in (front, back)'", "'!app'", "'app'", "app!=x", "'app=x,tier'", "'app notin (x)'"];
        entries.push(("labelSelector", s(pick(rng, &labels))));
    }
    if rarely(rng, 12) {
        entries.push(("annotationSelector", s(pick(rng, &["app=x", "'example.com/part'", "'!k1'"]))));
    }
    if rng.u8(..8) == 0 {
        let namespace = if rarely(rng, 4) { pattern(rng) } else { s(pick(rng, &NAMESPACES)) };
        entries.push(("namespace", namespace));
    }
    if rarely(rng, 12) {
        entries.push(("group", s(pick(rng, &["apps", "'.*'", "\"\"", "'example.com'"]))));
    }
    m(entries)
}

/// A target that an object fits, or any.
fn target_of(rng: &mut Rng, object: Option<&V>) -> V {
    match object {
        Some(o) if rng.u8(..4) > 0 => exact(o),
        _ => selector(rng),
    }
}

/// A place in an object: its JSON pointer, and its value.
fn place(rng: &mut Rng, value: &V, depth: usize) -> (String, V) {
    let stops = depth > 0 && rarely(rng, 8);
    match value.bare() {
        V::M(entries) if !entries.is_empty() && depth < 6 && !stops => {
            let (key, inner) = &entries[rng.usize(..entries.len())];
            let (rest, found) = place(rng, inner, depth + 1);
            (format!("/{}{rest}", key.trim_matches('"').replace('~', "~0").replace('/', "~1")), found)
        }
        V::L(items) if !items.is_empty() && depth < 6 && !stops => {
            let i = rng.usize(..items.len());
            let (rest, found) = place(rng, &items[i], depth + 1);
            (format!("/{i}{rest}"), found)
        }
        value => (String::new(), value.clone()),
    }
}

const ANYWHERE: [&str; 14] = [
    "/metadata/labels/new",
    "/spec/replicas",
    "/metadata/annotations/a~1b",
    "/spec/list/-",
    "/spec/list/0",
    "/metadata/name",
    "/metadata/namespace",
    "/spec/template/spec/containers/0/image",
    "/spec/template/spec/containers/-",
    "/spec/-1",
    "spec",
    "/",
    "/spec/template/spec/volumes",
    "/data/k",
];

/// The places of a resource that kustomize keeps notes in, and what is put there.
fn root_place(rng: &mut Rng, object: Option<&V>) -> (String, V) {
    let path = pick(rng, &["/metadata", "/metadata/annotations", "/metadata/annotations", "/metadata/labels", ""]);
    let annotations = m(vec![("new", odd(rng))]);
    let value = match path {
        "" => object.cloned().unwrap_or_else(|| objects::object(rng, 0)),
        "/metadata" => m(vec![("name", s(pick(rng, &NAMES))), ("annotations", annotations)]),
        _ => annotations,
    };
    let value = if rarely(rng, 6) { s(pick(rng, &["null", "{}", "x"])) } else { value };
    (path.to_owned(), value)
}

/// An operation of a JSON patch, on an object or on anything.
fn operation(rng: &mut Rng, object: Option<&V>) -> V {
    let inside = object.map(|o| place(rng, o, 0)).filter(|(path, _)| !path.is_empty());
    let (path, found) = match inside {
        _ if rarely(rng, 12) => root_place(rng, object),
        Some(inside) if rng.u8(..5) > 0 => inside,
        _ => (pick(rng, &ANYWHERE).to_owned(), odd(rng)),
    };
    // Builds that make nonsense of identities are mostly refused.
    let is_identity = matches!(path.as_str(), "/kind" | "/apiVersion" | "/metadata/name");
    if is_identity && rng.u8(..4) > 0 {
        return m(vec![("op", s("add")), ("path", s("/metadata/finalizers")), ("value", odd(rng))]);
    }
    let is_root = path.is_empty() || path.starts_with("/metadata");
    let value = match rng.u8(..6) {
        0 => found.clone(),
        1 => m(vec![("name", s(pick(rng, &NAMES))), ("value", odd(rng))]),
        _ if is_root && !matches!(found, V::S(_) | V::T(_)) => found.clone(),
        _ => odd(rng),
    };
    let path = if path.is_empty() { s("\"\"") } else { s(path) };
    let from = |rng: &mut Rng| {
        let other = object.map(|o| place(rng, o, 0).0).filter(|from| !from.is_empty());
        s(other.filter(|_| rng.bool()).unwrap_or_else(|| {
            pick(rng, &["/metadata/name", "/metadata", "/metadata/annotations", "/metadata/labels"]).to_owned()
        }))
    };
    let mut operation = match rng.u8(..12) {
        0 | 1 => vec![("op", s("remove")), ("path", path)],
        2 => vec![("op", s("test")), ("path", path), ("value", if rarely(rng, 6) { value } else { found })],
        3 => vec![("op", s("copy")), ("from", from(rng)), ("path", path)],
        4 => vec![("op", s("move")), ("from", from(rng)), ("path", path)],
        5 | 6 => vec![("op", s("replace")), ("path", path), ("value", value)],
        _ => vec![("op", s("add")), ("path", path), ("value", value)],
    };
    if rarely(rng, 60) {
        operation.remove(rng.usize(..operation.len()));
    }
    if rarely(rng, 120) {
        let i = rng.usize(..2);
        if let Some((name, _)) = operation.get_mut(i) {
            *name = ["OP", "Path"][i];
        }
    }
    m(operation)
}

/// A text of a JSON patch: a list, a list in braces, or JSON.
pub fn json_patch(rng: &mut Rng, object: Option<&V>) -> V {
    super::few(rng, |rng| operation(rng, object))
}

/// A strategic merge patch, mostly for an object that exists.
pub fn merge_patch(rng: &mut Rng, known: Known<'_>) -> V {
    let target = known.pick(rng).filter(|_| rng.u8(..16) > 0);
    let mut patch = match target {
        None => objects::object(rng, 0),
        Some(target) if rng.bool() => {
            let mut patch = target.clone();
            vary(rng, &mut patch, 0);
            patch
        }
        Some(target) => {
            let same_kind = |o: &V| text(o, &["kind"]) == text(target, &["kind"]);
            (0..60).map(|_| objects::object(rng, 0)).find(same_kind).unwrap_or_else(|| target.clone())
        }
    };
    if let (V::M(entries), Some(target)) = (&mut patch, target) {
        for (_, value) in entries.iter_mut().filter(|(key, _)| key == "metadata") {
            *value = same_identity(rng, target, value);
        }
    }
    if let V::M(entries) = &mut patch {
        if rng.u8(..14) == 0 {
            entries.push(("$patch".to_owned(), s(pick(rng, &["delete", "delete", "replace", "merge"]))));
        }
        if rng.u8(..6) == 0 {
            entries.push(("extra".to_owned(), s("null")));
        }
        if rarely(rng, 100) {
            entries.retain(|(key, _)| key != "apiVersion");
        }
    }
    patch
}

/// The metadata of a patch for an object.
fn same_identity(rng: &mut Rng, target: &V, patch: &V) -> V {
    let mut metadata = Vec::new();
    for key in ["name", "namespace"] {
        metadata.extend(at(target, &["metadata", key]).cloned().map(|v| (key, v)));
    }
    for map in ["labels", "annotations"] {
        let of = if rng.bool() { patch } else { target };
        metadata.extend(at(of, &[map]).or_else(|| at(of, &["metadata", map])).cloned().map(|v| (map, v)));
    }
    m(metadata)
}

/// Makes a patch of a copy: some things stay, some change, some are told to go.
fn vary(rng: &mut Rng, value: &mut V, depth: usize) {
    match value.bare_mut() {
        V::M(entries) => {
            // The fields that identify a resource or an item stay, mostly.
            let is_known_by = |key: &str| matches!(key, "apiVersion" | "kind" | "metadata");
            entries.retain(|(key, _)| is_known_by(key) || rng.u8(..4) > 0);
            for (key, inner) in entries.iter_mut() {
                let stays = is_known_by(key) || (key == "name" && rng.u8(..4) > 0);
                if !stays {
                    vary(rng, inner, depth + 1);
                }
            }
            if depth > 0 && rarely(rng, 14) {
                entries.push(directive(rng));
            }
        }
        V::L(items) => vary_list(rng, items, depth),
        scalar => match rng.u8(..6) {
            0 => *scalar = s(pick(rng, &["null", "null", "\"\"", ""])),
            1..3 => *scalar = odd(rng),
            _ => {}
        },
    }
}

fn vary_list(rng: &mut Rng, items: &mut Vec<V>, depth: usize) {
    items.retain(|_| rng.u8(..5) > 0);
    for item in items.iter_mut() {
        vary(rng, item, depth + 1);
        if rarely(rng, 16) {
            *item = [s("null"), V::M(Vec::new()), s("text")][rng.usize(..3)].clone();
        }
    }
    if let Some(first) = items.first().cloned()
        && rarely(rng, 8)
    {
        items.push(first);
    }
    if rarely(rng, 10) {
        let at = rng.usize(..=items.len());
        let mut item = vec![directive(rng)];
        if rng.bool() {
            item.push(("name".to_owned(), s(pick(rng, &["main", "a", "v", "A", "http", "null"]))));
        }
        items.insert(at, V::M(item));
    }
    if rng.u8(..8) == 0 {
        items.reverse();
    }
}

fn directive(rng: &mut Rng) -> (String, V) {
    let word = if rarely(rng, 30) { "retain" } else { pick(rng, &["delete", "delete", "replace", "merge"]) };
    ("$patch".to_owned(), s(word))
}

/// Where the text of something is: in the kustomization, or in a file beside it.
pub fn inline_or_file(rng: &mut Rng, layer: &mut Layer, stem: &str, documents: Vec<V>) -> Result<V, String> {
    if rng.u8(..3) > 0 {
        return Ok(V::D(documents));
    }
    let name = format!("{stem}{}.yaml", layer.files.len());
    layer.files.push(File::documents(&name, documents));
    Err(name)
}

/// An item of `patches`.
pub fn patch(rng: &mut Rng, layer: &mut Layer, known: Known<'_>) -> V {
    let (target, documents) = match rng.u8(..3) {
        0 => {
            let object = known.pick(rng);
            (Some(target_of(rng, object)), vec![json_patch(rng, object)])
        }
        1 => (None, if rarely(rng, 6) { two(rng, known) } else { vec![merge_patch(rng, known)] }),
        _ => (Some(selector(rng)), vec![merge_patch(rng, known)]),
    };
    let mut entries: Vec<(&str, V)> = target.map(|target| ("target", target)).into_iter().collect();
    entries.push(match inline_or_file(rng, layer, "patch", documents) {
        Ok(text) => ("patch", text),
        Err(name) => ("path", s(name)),
    });
    if rarely(rng, 12) {
        let which = pick(rng, &["allowNameChange", "allowKindChange"]);
        entries.push(("options", m(vec![(which, s("true"))])));
    }
    m(entries)
}

fn two(rng: &mut Rng, known: Known<'_>) -> Vec<V> {
    vec![merge_patch(rng, known), merge_patch(rng, known)]
}

/// An item of `patchesStrategicMerge`.
pub fn strategic_merge(rng: &mut Rng, layer: &mut Layer, known: Known<'_>) -> V {
    let documents = if rarely(rng, 4) { two(rng, known) } else { vec![merge_patch(rng, known)] };
    inline_or_file(rng, layer, "sm", documents).unwrap_or_else(s)
}

/// An item of `patchesJson6902`.
pub fn json_6902(rng: &mut Rng, layer: &mut Layer, known: Known<'_>) -> V {
    let object = known.pick(rng);
    let target = match object {
        Some(object) => exact(object),
        None => m(vec![("version", s("v1")), ("kind", s("ConfigMap")), ("name", s(pick(rng, &NAMES)))]),
    };
    let patch = json_patch(rng, object);
    let text = match inline_or_file(rng, layer, "json", vec![patch]) {
        Ok(text) => ("patch", text),
        Err(name) => ("path", s(name)),
    };
    m(vec![("target", target), text])
}

/// A patch of a PatchTransformer, with its target.
pub fn for_transformer(rng: &mut Rng) -> Vec<(&'static str, V)> {
    let add = m(vec![("op", s("add")), ("path", s("/metadata/annotations/p")), ("value", s("x"))]);
    vec![("target", selector(rng)), ("patch", V::D(vec![one(add)]))]
}
