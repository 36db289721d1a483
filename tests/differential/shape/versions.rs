//! What versions of kustomize treat in different ways.

use super::super::tree::{File, Layer};
use super::super::value::{V, m, one, quoted, s};
use super::{pick, rarely};
use fastrand::Rng;

/// The file by which a chart is known.
const CHART: &str = "charts/app/Chart.yaml";

/// A part of a tree.
type Part = fn(&mut Rng, &mut Layer);

const PARTS: [Part; 15] = [
    claims,
    image_volumes,
    digests,
    string_data,
    lists,
    namespaces,
    dotted,
    replacements,
    text_replacements,
    admission_policies,
    deletions,
    empty_patches,
    number_keys,
    inherited_namespace,
    chart,
];

/// Adds one or two parts to a layer.
pub fn add(rng: &mut Rng, layer: &mut Layer) {
    for _ in 0..=rng.usize(..2) {
        PARTS[rng.usize(..PARTS.len())](rng, layer);
    }
}

/// Returns true if the files of a layer have to be on disk: those of a chart, and those in
/// directories whose names kustomize does not take in memory.
pub fn needs_disk(layer: &Layer) -> bool {
    layer.files.iter().any(|file| file.name == CHART || file.name.contains(".."))
}

/// Adds an item to a field that is a list.
fn push(layer: &mut Layer, field: &str, item: V) {
    let list = layer.fields().iter_mut().find(|(name, _)| name == field).map(|(_, value)| value.bare_mut());
    match list {
        Some(V::L(items)) => items.push(item),
        Some(other) => *other = one(item),
        None => layer.fields().push((field.to_owned(), one(item))),
    }
}

/// Adds objects in a file of their own.
fn resources(rng: &mut Rng, layer: &mut Layer, objects: Vec<V>) {
    let name = format!("v{}.yaml", rng.u16(..));
    push(layer, "resources", s(&name));
    layer.files.push(File::documents(name, objects));
}

fn object(api_version: &str, kind: &str, name: &str, rest: Vec<(&str, V)>) -> V {
    let head = [("apiVersion", s(api_version)), ("kind", s(kind)), ("metadata", m(vec![("name", s(name))]))];
    m(head.into_iter().chain(rest).collect())
}

/// The template of a workload with one container.
fn template(image: &str, rest: Vec<(&str, V)>) -> V {
    let container = m(vec![("name", s("main")), ("image", s(image))]);
    let spec = [("containers", one(container))].into_iter().chain(rest).collect();
    m(vec![("metadata", m(vec![("labels", m(vec![("app", s("x"))]))])), ("spec", m(spec))])
}

fn claims(rng: &mut Rng, layer: &mut Layer) {
    let mut claim = vec![("name", s("data"))];
    if rng.bool() {
        claim.push(("labels", m(vec![("app", s("y"))])));
    }
    let claims = one(m(vec![("metadata", m(claim))]));
    let spec = m(vec![("template", template("nginx", Vec::new())), ("volumeClaimTemplates", claims)]);
    resources(rng, layer, vec![object("apps/v1", "StatefulSet", "db", vec![("spec", spec)])]);
    let mut label = vec![("pairs", m(vec![(pick(rng, &["team", "app"]), s("shop"))]))];
    let which = pick(rng, &["includeTemplates", "includeSelectors", "includeTemplates", ""]);
    if !which.is_empty() {
        label.push((which, s("true")));
    }
    if rarely(rng, 4) {
        label.push(("includeVolumeClaimTemplates", s(pick(rng, &["true", "false"]))));
    }
    push(layer, "labels", m(label));
}

fn image(rng: &mut Rng, layer: &mut Layer, name: &str) {
    let change = [("newTag", s("'9'")), ("newName", s("mirror/x")), ("digest", s("sha256:12")), ("tagSuffix", s("-z"))];
    let change = change[rng.usize(..change.len())].clone();
    push(layer, "images", m(vec![("name", s(name)), change]));
}

fn image_volumes(rng: &mut Rng, layer: &mut Layer) {
    let volumes = || one(m(vec![("name", s("v")), ("image", m(vec![("reference", s("nginx:1"))]))]));
    let pod = template("nginx", vec![("volumes", volumes())]);
    let objects = [
        object("v1", "Pod", "volumes", vec![("spec", m(vec![("volumes", volumes())]))]),
        object("apps/v1", "Deployment", "volumes", vec![("spec", m(vec![("template", pod.clone())]))]),
        object(
            "batch/v1",
            "CronJob",
            "volumes",
            vec![("spec", m(vec![("jobTemplate", m(vec![("spec", m(vec![("template", pod)]))]))]))],
        ),
    ];
    let objects = objects.into_iter().filter(|_| rng.bool()).collect();
    resources(rng, layer, objects);
    image(rng, layer, "nginx");
}

fn digests(rng: &mut Rng, layer: &mut Layer) {
    let images = [
        "nginx@sha512:ab12",
        "nginx:v1@sha512:ab",
        "nginx@sha512+b64u:x_-",
        "nginx@sha256:ab",
        "nginx@md5",
        "nginx@a:b@c:d",
    ];
    let spec = m(vec![("template", template(pick(rng, &images), Vec::new()))]);
    resources(rng, layer, vec![object("apps/v1", "Deployment", "digests", vec![("spec", spec)])]);
    let name = pick(rng, &["nginx", "nginx", "'ng.*'", "'*broken'", "'(x'"]);
    image(rng, layer, name);
}

fn string_data(rng: &mut Rng, layer: &mut Layer) {
    let mut fields = vec![("stringData", m(vec![("k", s("plain")), ("both", s("'x'"))]))];
    if rng.bool() {
        fields.push(("data", m(vec![("both", s("eA==")), ("old", s("b2xk"))])));
    }
    let name = format!("{}-strings", layer.name);
    resources(rng, layer, vec![object("v1", "Secret", &name, fields)]);
    let entry = vec![
        ("name", s(name)),
        ("behavior", s(pick(rng, &["merge", "merge", "replace"]))),
        ("literals", one(s(pick(rng, &["k=new", "more=1", "both=z"])))),
    ];
    push(layer, "secretGenerator", m(entry));
}

fn lists(rng: &mut Rng, layer: &mut Layer) {
    let kind = pick(rng, &["WidgetList", "ConfigMapList", "PlayList", "List"]);
    let mut fields = vec![("spec", m(vec![("size", s("3"))]))];
    if rarely(rng, 3) {
        fields.push(("items", s(pick(rng, &["[]", "null", ""]))));
    }
    resources(rng, layer, vec![object("example.com/v1", kind, "all", fields)]);
}

fn namespaces(rng: &mut Rng, layer: &mut Layer) {
    let mut all = vec![
        object("example.com/v1", "Namespace", "two", Vec::new()),
        object("v1", "Namespace", "one", Vec::new()),
        object("a.example.com/v1", "Namespace", "one", Vec::new()),
    ];
    rng.shuffle(&mut all);
    resources(rng, layer, all);
    if layer.fields().iter().all(|(name, _)| name != "sortOptions") {
        layer.fields().push(("sortOptions".to_owned(), m(vec![("order", s("legacy"))])));
    }
}

fn dotted(rng: &mut Rng, layer: &mut Layer) {
    let directory = pick(rng, &["d..r", "..d", "d..", "a/b..c"]);
    layer.files.push(File::text(format!("{directory}/kustomization.yaml"), "resources: [one.yaml]\n"));
    let one = object("v1", "ConfigMap", "dotted", Vec::new());
    layer.files.push(File::documents(format!("{directory}/one.yaml"), vec![one]));
    push(layer, "resources", s(directory));
}

/// A ConfigMap whose fields are the sources and the targets of replacements.
fn of_replacements(rng: &mut Rng, layer: &mut Layer, name: &str) {
    let text = V::T(vec!["a: {b: 1, list: [x, y]}".to_owned(), "host: one.example.com/path".to_owned()]);
    let json = quoted("{\"a\": {\"b\": 1, \"host\": \"one.example.com/path\"}}");
    let data = m(vec![("from", s("two.example.org")), ("text", text), ("json", json), ("plain", s("a/b/c"))]);
    let mut entries = vec![("data", data)];
    if rng.bool() {
        entries.push(("metadata", m(vec![("name", s(name)), ("namespace", s(pick(rng, &["default", "prod"])))])));
    }
    let head = vec![("apiVersion", s("v1")), ("kind", s("ConfigMap"))];
    let has_metadata = entries.iter().any(|(key, _)| *key == "metadata");
    let metadata = (!has_metadata).then(|| ("metadata", m(vec![("name", s(name))])));
    resources(rng, layer, vec![m(head.into_iter().chain(metadata).chain(entries).collect())]);
}

fn replacement(rng: &mut Rng, layer: &mut Layer, select: V, path: &str) {
    let mut target = vec![("select", select), ("fieldPaths", one(quoted(path)))];
    if rarely(rng, 4) {
        target.push(("reject", one(m(vec![("name", s(pick(rng, &["re.*", "web", "'^repl'"])))]))));
    }
    let mut options = Vec::new();
    if rng.bool() {
        options.push(("delimiter", s(pick(rng, &["'/'", "'.'"]))));
        options.push(("index", s(pick(rng, &["0", "1", "-1", "7"]))));
    }
    if rarely(rng, 4) {
        options.push(("create", s("true")));
    }
    if !options.is_empty() {
        target.push(("options", m(options)));
    }
    let source = m(vec![("kind", s("ConfigMap")), ("name", s("repl")), ("fieldPath", s("data.from"))]);
    let from = if rarely(rng, 3) { ("sourceValue", s("constant")) } else { ("source", source) };
    push(layer, "replacements", m(vec![from, ("targets", one(m(target)))]));
}

fn replacements(rng: &mut Rng, layer: &mut Layer) {
    of_replacements(rng, layer, "repl");
    let key = pick(rng, &["name", "kind", "namespace", "group", "version"]);
    let value =
        pick(rng, &["re.*", "repl", "'Config|Secret'", "ConfigMap", "default", "pro.", "v1", "'[x'", "'^r'", "epl"]);
    replacement(rng, layer, m(vec![(key, s(value))]), "data.plain");
}

fn text_replacements(rng: &mut Rng, layer: &mut Layer) {
    of_replacements(rng, layer, "repl");
    let paths = [
        "data.text.a.b",
        "data.text.host",
        "data.json.a.b",
        "data.json.a.host",
        "data.json.a.new",
        "data.text.a.list.1",
    ];
    let path = pick(rng, &paths);
    replacement(rng, layer, m(vec![("kind", s("ConfigMap")), ("name", s("repl"))]), path);
}

fn admission_policies(rng: &mut Rng, layer: &mut Layer) {
    let api = pick(
        rng,
        &["admissionregistration.k8s.io/v1", "admissionregistration.k8s.io/v1", "admissionregistration.k8s.io/v1beta1"],
    );
    let binding = vec![("spec", m(vec![("policyName", s("guard"))]))];
    let all = vec![
        object(api, "ValidatingAdmissionPolicy", "guard", Vec::new()),
        object(api, "ValidatingAdmissionPolicyBinding", "guard", binding),
    ];
    resources(rng, layer, all);
    let field = if rng.bool() { "namePrefix" } else { "namespace" };
    if layer.fields().iter().all(|(name, _)| name != field) {
        layer.fields().push((field.to_owned(), s("sub")));
    }
}

fn deletions(rng: &mut Rng, layer: &mut Layer) {
    let map = |name: &str| object("v1", "ConfigMap", name, vec![("data", m(vec![("k", s("v"))]))]);
    let names = ["gone1", "gone2", "stays"];
    resources(rng, layer, names.iter().map(|name| map(name)).collect());
    let mut documents: Vec<V> = names[..1 + rng.usize(..2)]
        .iter()
        .map(|name| object("v1", "ConfigMap", name, vec![("$patch", s("delete"))]))
        .collect();
    if rng.bool() {
        let at = rng.usize(..=documents.len());
        documents.insert(at, object("v1", "ConfigMap", "stays", vec![("data", m(vec![("k", s("new"))]))]));
    }
    let name = format!("gone{}.yaml", rng.u16(..));
    layer.files.push(File::documents(&name, documents));
    push(layer, "patches", m(vec![("path", s(name))]));
}

fn empty_patches(rng: &mut Rng, layer: &mut Layer) {
    let name = format!("nothing{}.yaml", rng.u16(..));
    layer.files.push(File::text(&name, pick(rng, &["", "\n", "# nothing\n", "---\n", "null\n", "[]\n", "---\n---\n"])));
    let mut entry = vec![("path", s(name))];
    if rng.bool() {
        entry.push(("target", m(vec![("kind", s(pick(rng, &["ConfigMap", "Deployment", "None"])))])));
    }
    if rarely(rng, 4) {
        let option = pick(rng, &["allowNameChange", "allowKindChange", "allowOther", "allownamechange"]);
        entry.push(("options", m(vec![(option, s(pick(rng, &["true", "false", "x"])))])));
    }
    push(layer, "patches", m(entry));
}

fn number_keys(rng: &mut Rng, layer: &mut Layer) {
    let keys = ["12", "'12'", "9", "1_000", "0x10", "-3", "+5", "2024-01-01", "1.5", "true", "\"8\"", "b"];
    let mut entries: Vec<(String, V)> = Vec::new();
    for _ in 0..=rng.usize(..3) {
        // Numbers that are equal would be one entry.
        let key = if rarely(rng, 4) { pick(rng, &keys) } else { pick(rng, &keys[..5]) };
        if !entries.iter().any(|(known, _)| known == key) {
            entries.push((key.to_owned(), s("x")));
        }
    }
    let field = pick(rng, &["spec", "data", "inner"]);
    let value = if field == "inner" { m(vec![("list", one(V::M(entries)))]) } else { V::M(entries) };
    resources(rng, layer, vec![object("example.com/v1", "Widget", "numbers", vec![(field, value)])]);
    if rarely(rng, 3) {
        let patch = m(vec![("op", s("add")), ("path", s("/spec2")), ("value", s("1"))]);
        let target = m(vec![("kind", s("Widget")), ("name", s("numbers"))]);
        push(layer, "patches", m(vec![("patch", V::D(vec![one(patch)])), ("target", target)]));
    }
}

fn inherited_namespace(rng: &mut Rng, layer: &mut Layer) {
    layer.fields().retain(|(name, _)| name != "namespace");
    if rng.bool() {
        layer.fields().push(("namespace".to_owned(), s(pick(rng, &["team", "default"]))));
    }
}

/// A chart, for a stand-in of helm that prints its release and namespace.
fn chart(rng: &mut Rng, layer: &mut Layer) {
    if layer.is_component && rng.bool() {
        return;
    }
    layer.files.push(File::text(CHART, "apiVersion: v2\nname: app\nversion: 1.0.0\n"));
    layer.files.push(File::text("charts/app/values.yaml", "size: 1\n"));
    let mut entry = vec![("name", s("app")), ("releaseName", s(format!("{}-r", layer.name)))];
    if rarely(rng, 3) {
        entry.push(("namespace", s(pick(rng, &["prod", "own"]))));
    }
    for field in ["debug", "devel"] {
        if rarely(rng, 12) {
            entry.push((field, s(pick(rng, &["true", "false"]))));
        }
    }
    push(layer, "helmCharts", m(entry));
    if rng.bool() {
        inherited_namespace(rng, layer);
    }
}
