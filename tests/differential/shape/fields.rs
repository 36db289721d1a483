//! The fields of a kustomization.

use super::super::tree::{File, Layer};
use super::super::value::{V, m, one, s, text};
use super::words::{KEYS, NAMESPACES, pattern, string};
use super::{Known, few, map, patches, pick, plugins, rarely, references};
use fastrand::Rng;

/// The schema of the kind Widget.
const CRD: &str = "example.com/v1.Widget:
  Schema:
    properties:
      apiVersion: {type: string}
      kind: {type: string}
      metadata: {type: object}
      spec: {$ref: example.com/v1.WidgetSpec}
example.com/v1.WidgetSpec:
  Schema:
    properties:
      inner: {type: object, x-kubernetes-object-ref-api-version: v1, x-kubernetes-object-ref-kind: ConfigMap}
      marks: {type: object, x-kubernetes-label-selector: ''}
      notes: {type: object, x-kubernetes-annotation: ''}
      size: {type: string, x-kubernetes-identity: ''}
";

/// A schema in which a list of Widget is a set, and nothing is known of other kinds.
const SCHEMA: &str = r#"{"definitions": {"example.v1.Widget": {
  "type": "object",
  "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Widget"}],
  "properties": {"spec": {"type": "object", "properties": {"list": {
    "type": "array", "x-kubernetes-patch-strategy": "merge", "items": {"type": "string"}}}}}}}}
"#;

type Fields = Vec<(String, V)>;

/// Adds random fields to a layer.
pub fn fields(rng: &mut Rng, layer: &mut Layer, known: Known<'_>) {
    let mut out = Fields::new();
    names_and_labels(rng, &mut out);
    values(rng, known, &mut out);
    patched(rng, layer, known, &mut out);
    generated(rng, layer, known, &mut out);
    configured(rng, layer, &mut out);
    of_the_build(rng, &mut out);
    rng.shuffle(&mut out);
    layer.fields().append(&mut out);
}

fn names_and_labels(rng: &mut Rng, out: &mut Fields) {
    if rarely(rng, 3) {
        out.push(("namePrefix".into(), s(pick(rng, &["p-", "x", "\"1\"", "\"\""]))));
    }
    if rarely(rng, 5) {
        out.push(("nameSuffix".into(), s(pick(rng, &["-s", "'2'"]))));
    }
    if rarely(rng, 4) {
        out.push(("namespace".into(), s(pick(rng, &NAMESPACES))));
    }
    if rarely(rng, 5) {
        out.push(("commonLabels".into(), map(rng, &KEYS, string)));
    }
    if rarely(rng, 4) {
        let mut label = vec![("pairs", map(rng, &KEYS, |rng| s(pick(rng, &["x", "'1'"]))))];
        if rng.bool() {
            label.push((if rng.bool() { "includeSelectors" } else { "includeTemplates" }, s("true")));
        }
        if rarely(rng, 4) {
            let field = vec![("path", s("spec/extra")), ("create", s("true")), ("kind", s("Widget"))];
            label.push(("fields", one(m(field))));
        }
        out.push(("labels".into(), one(m(label))));
    }
    if rarely(rng, 4) {
        out.push(("commonAnnotations".into(), map(rng, &KEYS, string)));
    }
}

fn image(rng: &mut Rng) -> V {
    let names = ["nginx", "app", "redis", "reg.example.com:5000/app", "'.*b'", "web"];
    let name = if rarely(rng, 6) { pattern(rng) } else { s(pick(rng, &names)) };
    let mut entries = vec![("name", name)];
    let change = pick(rng, &["newName", "newTag", "digest", "tagSuffix"]);
    let value = match change {
        "newName" => "other/name",
        "newTag" => "'2.0'",
        "digest" => "sha256:abc",
        _ => "-x",
    };
    entries.push((change, s(value)));
    if rarely(rng, 15) {
        entries.remove(0);
    }
    m(entries)
}

fn values(rng: &mut Rng, known: Known<'_>, out: &mut Fields) {
    if rarely(rng, 4) {
        out.push(("images".into(), few(rng, image)));
    }
    if rarely(rng, 6)
        && let Some(scalable) = known.of(rng, &["Deployment", "StatefulSet", "ReplicaSet"])
    {
        let name = text(scalable, &["metadata", "name"]);
        out.push(("replicas".into(), one(m(vec![("name", s(name)), ("count", s("5"))]))));
    }
    if rarely(rng, 20) {
        let image = m(vec![("name", s("nginx")), ("newTag", s("'7'"))]);
        out.push(("imageTags".into(), one(image)));
    }
}

fn patched(rng: &mut Rng, layer: &mut Layer, known: Known<'_>, out: &mut Fields) {
    if rarely(rng, 2) {
        out.push(("patches".into(), few(rng, |rng| patches::patch(rng, layer, known))));
    }
    if rarely(rng, 8) {
        out.push(("patchesStrategicMerge".into(), one(patches::strategic_merge(rng, layer, known))));
    }
    if rarely(rng, 10) {
        out.push(("patchesJson6902".into(), one(patches::json_6902(rng, layer, known))));
    }
    if rarely(rng, 5) {
        out.push(("replacements".into(), few(rng, |rng| references::replacements(rng, layer, known))));
    }
    if rarely(rng, 8) {
        out.push(("vars".into(), one(references::var(rng, known))));
    }
}

fn generated(rng: &mut Rng, layer: &mut Layer, known: Known<'_>, out: &mut Fields) {
    if rarely(rng, 3) {
        out.push(("configMapGenerator".into(), few(rng, |rng| plugins::generator(rng, false, known))));
    }
    if rarely(rng, 6) {
        out.push(("secretGenerator".into(), one(plugins::generator(rng, true, known))));
    }
    if rarely(rng, 8) {
        out.push(("generatorOptions".into(), plugins::options(rng)));
    }
    if rarely(rng, 6) {
        out.push(("transformers".into(), one(plugins::transformers(rng, layer))));
    }
    if rarely(rng, 12) {
        out.push(("generators".into(), one(plugins::generators(rng, layer))));
    }
    if rarely(rng, 14) {
        out.push(("validators".into(), one(plugins::validators(rng, layer))));
    }
}

fn configured(rng: &mut Rng, layer: &mut Layer, out: &mut Fields) {
    if rarely(rng, 10) {
        layer.files.push(File::documents("config.yaml", vec![plugins::configuration(rng)]));
        out.push(("configurations".into(), one(s("config.yaml"))));
    }
    // Seldom: kustomize reads its schemas again for each such tree, which takes longest of all.
    if rarely(rng, 60) {
        layer.files.push(File::text("crd.yaml", CRD));
        out.push(("crds".into(), one(s("crd.yaml"))));
    }
    if rarely(rng, 60) {
        layer.files.push(File::text("schema.json", SCHEMA));
        out.push(("openapi".into(), m(vec![("path", s("schema.json"))])));
    }
}

fn of_the_build(rng: &mut Rng, out: &mut Fields) {
    if rarely(rng, 20) {
        let [labels, annotations] = [("a", "b"), ("c", "d")].map(|(k, v)| m(vec![(k, s(v))]));
        out.push(("metadata".into(), m(vec![("name", s("k")), ("labels", labels), ("annotations", annotations)])));
    }
    if rarely(rng, 8) {
        let order = |word| ("order", s(word));
        let legacy = m(vec![("orderFirst", one(s("Widget"))), ("orderLast", one(s("ConfigMap")))]);
        out.push((
            "sortOptions".into(),
            match rng.u8(..3) {
                0 => m(vec![order("fifo")]),
                1 => m(vec![order("legacy")]),
                _ => m(vec![order("legacy"), ("legacySortOptions", legacy)]),
            },
        ));
    }
    if rarely(rng, 6) {
        let all = ["originAnnotations", "transformerAnnotations", "managedByLabel"];
        let mut chosen: Vec<V> = all.iter().filter(|_| rng.bool()).map(|name| s(*name)).collect();
        rng.shuffle(&mut chosen);
        out.push(("buildMetadata".into(), V::L(chosen)));
    }
    // Fields that say nothing.
    if rarely(rng, 10) {
        let names = [
            "resources",
            "patches",
            "images",
            "configMapGenerator",
            "labels",
            "vars",
            "transformers",
            "replacements",
            "commonLabels",
        ];
        let name = pick(rng, &names);
        if name != "resources" && out.iter().all(|(n, _)| n != name) {
            let nothing = [s("null"), s(""), V::L(Vec::new()), s("~")][rng.usize(..4)].clone();
            out.push((name.into(), nothing));
        }
    }
}
