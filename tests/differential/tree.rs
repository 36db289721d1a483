//! Random kustomization trees: layers of all fields, over few names, so that things meet; and the ways to make one smaller.

use fastrand::Rng;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// A value to be written as YAML. Scalars are written as they are: their spelling is part of the test.
#[derive(Clone, Debug)]
pub enum V {
    S(String),
    L(Vec<V>),
    M(Vec<(String, V)>),
}

pub fn s(text: impl Into<String>) -> V {
    V::S(text.into())
}

pub fn m(entries: Vec<(&str, V)>) -> V {
    V::M(entries.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
}

impl V {
    /// Block style, each level two deeper.
    fn write(&self, out: &mut String, indent: usize) {
        match self {
            V::S(text) => {
                let _ = writeln!(out, " {text}");
            }
            V::L(items) if items.is_empty() => out.push_str(" []\n"),
            V::M(entries) if entries.is_empty() => out.push_str(" {}\n"),
            V::L(items) => {
                out.push('\n');
                for item in items {
                    let _ = write!(out, "{:indent$}-", "");
                    item.write_after_dash(out, indent + 2);
                }
            }
            V::M(entries) => {
                out.push('\n');
                for (key, value) in entries {
                    let _ = write!(out, "{:indent$}{key}:", "");
                    value.write(out, indent + 2);
                }
            }
        }
    }

    fn write_after_dash(&self, out: &mut String, indent: usize) {
        match self {
            V::M(entries) if !entries.is_empty() => {
                for (i, (key, value)) in entries.iter().enumerate() {
                    if i == 0 {
                        let _ = write!(out, " {key}:");
                    } else {
                        let _ = write!(out, "{:indent$}{key}:", "");
                    }
                    value.write(out, indent + 2);
                }
            }
            other => other.write(out, indent),
        }
    }

    /// As a document of its own.
    pub fn document(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, 0);
        out.trim_start().to_owned()
    }

    /// In one line.
    pub fn flow(&self) -> String {
        match self {
            V::S(text) => text.clone(),
            V::L(items) => format!("[{}]", items.iter().map(V::flow).collect::<Vec<_>>().join(", ")),
            V::M(entries) => {
                let entries: Vec<String> = entries.iter().map(|(k, v)| format!("{k}: {}", v.flow())).collect();
                format!("{{{}}}", entries.join(", "))
            }
        }
    }
}

/// A file beside a kustomization.
#[derive(Clone, Debug)]
pub enum File {
    Documents(Vec<V>),
    Text(String),
}

/// A kustomization or component: its directory, its fields, its files.
#[derive(Clone, Debug)]
pub struct Layer {
    pub name: String,
    pub is_component: bool,
    pub fields: Vec<(String, V)>,
    pub files: Vec<(String, File)>,
}

/// Layers; the last one is the root of the build.
#[derive(Clone, Debug)]
pub struct Tree(pub Vec<Layer>);

impl Tree {
    /// All files, by their paths.
    pub fn files(&self) -> Vec<(String, String)> {
        let mut all = Vec::new();
        for layer in &self.0 {
            let mut fields = layer.fields.clone();
            if layer.is_component {
                fields.insert(0, ("kind".to_owned(), s("Component")));
                fields.insert(0, ("apiVersion".to_owned(), s("kustomize.config.k8s.io/v1alpha1")));
            }
            all.push((format!("{}/kustomization.yaml", layer.name), V::M(fields).document()));
            for (name, file) in &layer.files {
                let text = match file {
                    File::Text(text) => text.clone(),
                    File::Documents(documents) => documents.iter().map(V::document).collect::<Vec<_>>().join("---\n"),
                };
                all.push((format!("{}/{name}", layer.name), text));
            }
        }
        all
    }

    /// Writes the tree, and gives the directory of its root.
    pub fn write(&self, directory: &Path) -> String {
        for (name, text) in self.files() {
            let path = directory.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        directory.join(&self.0.last().unwrap().name).to_string_lossy().into_owned()
    }

    /// The tree as a case of testdata.
    pub fn txtar(&self, head: &str) -> String {
        let mut out = format!("{head}\n-- args --\nbuild {}\n", self.0.last().unwrap().name);
        for (name, text) in self.files() {
            let _ = write!(out, "-- {name} --\n{text}");
        }
        out
    }

    /// Every tree that is this one less one thing.
    pub fn smaller(&self) -> Vec<Tree> {
        let mut all = Vec::new();
        for i in 0..self.0.len().saturating_sub(1) {
            let mut tree = self.clone();
            let gone = tree.0.remove(i).name;
            let path = format!("../{gone}");
            for layer in &mut tree.0 {
                for (_, value) in &mut layer.fields {
                    if let V::L(items) = value {
                        items.retain(|item| !matches!(item, V::S(text) if *text == path));
                    }
                }
            }
            all.push(tree);
        }
        for (i, layer) in self.0.iter().enumerate() {
            for f in 0..layer.fields.len() {
                let mut tree = self.clone();
                tree.0[i].fields.remove(f);
                all.push(tree);
                for value in smaller(&layer.fields[f].1) {
                    let mut tree = self.clone();
                    tree.0[i].fields[f].1 = value;
                    all.push(tree);
                }
            }
            for (f, (_, file)) in layer.files.iter().enumerate() {
                let File::Documents(documents) = file else { continue };
                for d in 0..documents.len() {
                    let mut less = documents.clone();
                    less.remove(d);
                    let mut tree = self.clone();
                    tree.0[i].files[f].1 = File::Documents(less);
                    all.push(tree);
                    for value in smaller(&documents[d]) {
                        let mut changed = documents.clone();
                        changed[d] = value;
                        let mut tree = self.clone();
                        tree.0[i].files[f].1 = File::Documents(changed);
                        all.push(tree);
                    }
                }
            }
        }
        all
    }
}

/// Every value that is this one less one thing.
pub fn smaller(value: &V) -> Vec<V> {
    let mut all = Vec::new();
    match value {
        V::S(_) => {}
        V::L(items) => {
            for i in 0..items.len() {
                let mut less = items.clone();
                less.remove(i);
                all.push(V::L(less));
                for item in smaller(&items[i]) {
                    let mut changed = items.clone();
                    changed[i] = item;
                    all.push(V::L(changed));
                }
            }
        }
        V::M(entries) => {
            for i in 0..entries.len() {
                if !matches!(entries[i].0.as_str(), "kind" | "apiVersion") {
                    let mut less = entries.clone();
                    less.remove(i);
                    all.push(V::M(less));
                }
                for item in smaller(&entries[i].1) {
                    let mut changed = entries.clone();
                    changed[i].1 = item;
                    all.push(V::M(changed));
                }
            }
        }
    }
    all
}

const NAMES: [&str; 5] = ["a", "b", "web", "cfg", "p-a"];
const NAMESPACES: [&str; 4] = ["default", "prod", "dev", "kube-system"];
const KEYS: [&str; 6] = ["app", "tier", "example.com/part", "k1", "UPPER", "x-y.z"];
const SCALARS: [&str; 40] = [
    "1",
    "\"1\"",
    "1.50",
    "0x1F",
    "true",
    "\"true\"",
    "yes",
    "'no'",
    "null",
    "~",
    "\"\"",
    "'it''s'",
    "2020-01-02",
    "1e3",
    "1_000",
    "'a: b'",
    "é",
    "\" lead\"",
    "'trail '",
    "'#x'",
    "12345678901234567890",
    ".5",
    "0o17",
    "012",
    "!!str 5",
    "-1",
    "+3",
    "a b",
    "\"tab\\there\"",
    "\"two\\nlines\"",
    "on",
    "1:30",
    ".inf",
    "'- x'",
    "a#b",
    "a:b",
    "\"\\u00e9\"",
    "=",
    "\"1.0\"",
    "'@at'",
];
const WORDS: [&str; 8] = ["x", "hello", "v1.2", "a/b/c", "nginx", "\"7\"", "'true'", "some text"];

pub fn pick<'p>(rng: &mut Rng, from: &[&'p str]) -> &'p str {
    from[rng.usize(..from.len())]
}

/// Any scalar, odd ones included.
fn odd(rng: &mut Rng) -> V {
    if rng.u8(..3) == 0 { s(pick(rng, &SCALARS)) } else { s(pick(rng, &WORDS)) }
}

/// A scalar that reads as a string everywhere.
fn string(rng: &mut Rng) -> V {
    s(pick(rng, &["x", "hello", "\"1\"", "'true'", "a/b", "\"two\\nlines\"", "'it''s'", "\"\"", "'null'", "é"]))
}

fn some(rng: &mut Rng, most: usize, mut make: impl FnMut(&mut Rng) -> V) -> V {
    let n = rng.usize(..=most);
    V::L((0..n).map(|_| make(rng)).collect())
}

/// A mapping with different keys.
fn map(rng: &mut Rng, keys: &[&str], mut make: impl FnMut(&mut Rng) -> V) -> V {
    let mut entries: Vec<(String, V)> = Vec::new();
    for _ in 0..rng.usize(..=3) {
        let key = pick(rng, keys);
        if !entries.iter().any(|(k, _)| k == key) {
            entries.push((key.to_owned(), make(rng)));
        }
    }
    V::M(entries)
}

fn metadata(rng: &mut Rng, layer: usize) -> V {
    // Mostly a name that no other layer has.
    let name = pick(rng, &NAMES);
    let name = if layer == 0 || rng.u8(..8) == 0 { name.to_owned() } else { format!("{name}{layer}") };
    let mut entries = vec![("name", s(name))];
    if rng.u8(..3) == 0 {
        entries.push(("namespace", s(pick(rng, &NAMESPACES))));
    }
    if rng.bool() {
        entries.push(("labels", map(rng, &KEYS, if_string)));
    }
    if rng.u8(..3) == 0 {
        entries.push(("annotations", map(rng, &KEYS, odd)));
    }
    if rng.u8(..8) == 0 {
        entries.push(("finalizers", V::L(vec![s("example.com/f")])));
    }
    m(entries)
}

fn if_string(rng: &mut Rng) -> V {
    if rng.u8(..6) == 0 { odd(rng) } else { s(pick(rng, &["x", "front", "back", "\"7\""])) }
}

fn container(rng: &mut Rng) -> V {
    let image = pick(
        rng,
        &["nginx", "nginx:1", "reg.example.com:5000/app:v1", "app@sha256:24a0c4b4", "\"redis\"", "web:latest"],
    );
    let mut entries = vec![("name", s(pick(rng, &["main", "side", "a"]))), ("image", s(image))];
    if rng.bool() {
        entries.push(("env", some(rng, 3, env)));
    }
    if rng.u8(..3) == 0 {
        entries
            .push(("args", some(rng, 2, |rng| s(pick(rng, &["--x", "$(VAR)", "\"$$(VAR)\"", "a$(OTHER)b", "\"1\""])))));
    }
    if rng.u8(..4) == 0 {
        entries.push(("ports", some(rng, 3, port)));
    }
    if rng.u8(..4) == 0 {
        let source = pick(rng, &["configMapRef", "secretRef"]);
        entries.push(("envFrom", V::L(vec![m(vec![(source, m(vec![("name", s(pick(rng, &NAMES)))]))])])));
    }
    if rng.u8(..4) == 0 {
        let mount = |rng: &mut Rng| m(vec![("mountPath", s(pick(rng, &["/a", "/b", "$(VAR)/c"]))), ("name", s("v"))]);
        entries.push(("volumeMounts", some(rng, 2, mount)));
    }
    m(entries)
}

fn env(rng: &mut Rng) -> V {
    let name = s(pick(rng, &["A", "B", "C", "\"D\""]));
    if rng.u8(..3) > 0 {
        return m(vec![("name", name), ("value", s(pick(rng, &["x", "\"1\"", "$(VAR)", "\"a $(OTHER) b\"", "''"])))]);
    }
    let source = pick(rng, &["configMapKeyRef", "secretKeyRef"]);
    let reference = m(vec![("key", s("k")), ("name", s(pick(rng, &NAMES)))]);
    m(vec![("name", name), ("valueFrom", m(vec![(source, reference)]))])
}

fn port(rng: &mut Rng) -> V {
    let mut entries = vec![("containerPort", s(pick(rng, &["80", "443", "53"])))];
    if rng.bool() {
        entries.push(("protocol", s(pick(rng, &["TCP", "UDP"]))));
    }
    if rng.bool() {
        entries.push(("name", s(pick(rng, &["http", "dns"]))));
    }
    m(entries)
}

fn volume(rng: &mut Rng) -> V {
    let name = ("name", s(pick(rng, &["v", "w"])));
    match rng.u8(..4) {
        0 => m(vec![name, ("configMap", m(vec![("name", s(pick(rng, &NAMES)))]))]),
        1 => m(vec![name, ("secret", m(vec![("secretName", s(pick(rng, &NAMES)))]))]),
        2 => m(vec![name, ("persistentVolumeClaim", m(vec![("claimName", s(pick(rng, &NAMES)))]))]),
        _ => m(vec![name, ("emptyDir", V::M(Vec::new()))]),
    }
}

fn pod_spec(rng: &mut Rng) -> V {
    let containers = V::L((0..1 + rng.usize(..2)).map(|_| container(rng)).collect());
    let mut entries = vec![("containers", containers)];
    if rng.u8(..4) == 0 {
        entries.push(("initContainers", some(rng, 1, container)));
    }
    if rng.u8(..3) == 0 {
        entries.push(("volumes", some(rng, 2, volume)));
    }
    if rng.u8(..4) == 0 {
        entries.push(("serviceAccountName", s(pick(rng, &NAMES))));
    }
    if rng.u8(..5) == 0 {
        entries.push(("imagePullSecrets", V::L(vec![m(vec![("name", s(pick(rng, &NAMES)))])])));
    }
    m(entries)
}

fn template(rng: &mut Rng) -> V {
    let mut entries = Vec::new();
    if rng.bool() {
        entries.push(("metadata", m(vec![("labels", map(rng, &KEYS, |rng| s(pick(rng, &["x", "front"]))))])));
    }
    entries.push(("spec", pod_spec(rng)));
    m(entries)
}

/// An object of a random kind.
pub fn object(rng: &mut Rng, layer: usize) -> V {
    let (api_version, kind, mut rest): (&str, &str, Vec<(&str, V)>) = match rng.u8(..20) {
        0..3 => ("v1", "ConfigMap", vec![("data", map(rng, &["k", "other", "app.conf"], string))]),
        3 => ("v1", "Secret", vec![("type", s("Opaque")), ("data", map(rng, &["k", "p"], |_| s("eA==")))]),
        4..9 => {
            let kind = pick(rng, &["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"]);
            let mut spec = vec![("template", template(rng))];
            if rng.bool() {
                spec.push(("replicas", s(pick(rng, &["1", "3", "\"2\""]))));
            }
            if rng.bool() {
                spec.push(("selector", m(vec![("matchLabels", map(rng, &KEYS, |rng| s(pick(rng, &["x", "front"]))))])));
            }
            if kind == "StatefulSet" {
                spec.push(("serviceName", s(pick(rng, &NAMES))));
            }
            ("apps/v1", kind, vec![("spec", m(spec))])
        }
        9 => {
            let port = |rng: &mut Rng| {
                m(vec![("port", s(pick(rng, &["80", "443"]))), ("targetPort", s(pick(rng, &["80", "http"])))])
            };
            let spec =
                vec![("selector", map(rng, &KEYS, |rng| s(pick(rng, &["x", "front"])))), ("ports", some(rng, 2, port))];
            ("v1", "Service", vec![("spec", m(spec))])
        }
        10 => {
            let job = m(vec![("spec", m(vec![("template", template(rng))]))]);
            ("batch/v1", "CronJob", vec![("spec", m(vec![("jobTemplate", job), ("schedule", s("'* * * * *'"))]))])
        }
        11 => {
            let service =
                m(vec![("service", m(vec![("name", s(pick(rng, &NAMES))), ("port", m(vec![("number", s("80"))]))]))]);
            let path = m(vec![("path", s("/")), ("backend", service)]);
            let rule = m(vec![("host", s("$(VAR).example.com")), ("http", m(vec![("paths", V::L(vec![path]))]))]);
            let tls = m(vec![("secretName", s(pick(rng, &NAMES))), ("hosts", V::L(vec![s("h.example.com")]))]);
            (
                "networking.k8s.io/v1",
                "Ingress",
                vec![("spec", m(vec![("rules", V::L(vec![rule])), ("tls", V::L(vec![tls]))]))],
            )
        }
        12 => {
            let kind = pick(rng, &["Role", "ClusterRole"]);
            let rule =
                m(vec![("resourceNames", some(rng, 2, |rng| s(pick(rng, &NAMES)))), ("verbs", V::L(vec![s("get")]))]);
            ("rbac.authorization.k8s.io/v1", kind, vec![("rules", V::L(vec![rule]))])
        }
        13 => {
            let kind = pick(rng, &["RoleBinding", "ClusterRoleBinding"]);
            let role = pick(rng, &["Role", "ClusterRole"]);
            let reference = m(vec![
                ("apiGroup", s("rbac.authorization.k8s.io")),
                ("kind", s(role)),
                ("name", s(pick(rng, &NAMES))),
            ]);
            let subject = |rng: &mut Rng| {
                let mut entries = vec![("kind", s("ServiceAccount")), ("name", s(pick(rng, &["a", "b", "default"])))];
                if rng.bool() {
                    entries.push(("namespace", s(pick(rng, &NAMESPACES))));
                }
                m(entries)
            };
            let subjects = some(rng, 2, subject);
            ("rbac.authorization.k8s.io/v1", kind, vec![("roleRef", reference), ("subjects", subjects)])
        }
        14 => ("v1", "ServiceAccount", Vec::new()),
        15 => ("v1", pick(rng, &["Namespace", "PersistentVolumeClaim"]), Vec::new()),
        16 => {
            let target =
                m(vec![("apiVersion", s("apps/v1")), ("kind", s("Deployment")), ("name", s(pick(rng, &NAMES)))]);
            ("autoscaling/v1", "HorizontalPodAutoscaler", vec![("spec", m(vec![("scaleTargetRef", target)]))])
        }
        17 => ("v1", "Pod", vec![("spec", pod_spec(rng))]),
        _ => {
            let list = some(rng, 3, odd);
            let inner = map(rng, &["name", "value", "n1", "\"2\""], odd);
            ("example.com/v1", "Widget", vec![("spec", m(vec![("list", list), ("inner", inner), ("size", odd(rng))]))])
        }
    };
    let mut entries = vec![("apiVersion", s(api_version)), ("kind", s(kind)), ("metadata", metadata(rng, layer))];
    entries.append(&mut rest);
    m(entries)
}

fn selector(rng: &mut Rng) -> V {
    let mut entries = Vec::new();
    if rng.u8(..4) > 0 {
        entries
            .push(("kind", s(pick(rng, &["Deployment", "ConfigMap", "Widget", "'Stateful.*|Deployment'", "Service"]))));
    }
    if rng.bool() {
        entries.push(("name", s(pick(rng, &["a", "b", "web", "'.*'", "'w.b'", "cfg"]))));
    }
    if rng.u8(..5) == 0 {
        entries.push(("labelSelector", s(pick(rng, &["app=x", "'tier in (front, back)'", "'!app'", "'app'"]))));
    }
    if rng.u8(..8) == 0 {
        entries.push(("namespace", s(pick(rng, &NAMESPACES))));
    }
    m(entries)
}

/// An operation on an object, or on anything.
fn operation(rng: &mut Rng, object: Option<&V>) -> V {
    let anywhere =
        ["/metadata/labels/new", "/spec/replicas", "/metadata/annotations/a~1b", "/spec/list/-", "/metadata/name"];
    let inside = object.map(|o| path_in(rng, o, 0)).filter(|p| !p.contains('*') && !p.contains("\\.") && !p.is_empty());
    let path = match inside {
        Some(path) if rng.u8(..5) > 0 => format!("/{}", path.replace('/', "~1").replace('.', "/")),
        _ => pick(rng, &anywhere).to_owned(),
    };
    // Builds that make nonsense of identities are for cases of their own.
    let is_identity = matches!(path.as_str(), "/kind" | "/apiVersion" | "/metadata" | "/metadata/annotations");
    if is_identity || (path.starts_with("/metadata/name") && rng.u8(..4) > 0) {
        return m(vec![("op", s("add")), ("path", s("/metadata/finalizers")), ("value", odd(rng))]);
    }
    match rng.u8(..6) {
        0 => m(vec![("op", s("remove")), ("path", s(path))]),
        1 if rng.bool() => m(vec![("op", s("test")), ("path", s(path)), ("value", odd(rng))]),
        2 => m(vec![("op", s("copy")), ("from", s("/metadata/name")), ("path", s(path))]),
        3 => m(vec![("op", s("replace")), ("path", s(path)), ("value", odd(rng))]),
        _ => m(vec![("op", s("add")), ("path", s(path)), ("value", odd(rng))]),
    }
}

/// A target that an object fits, or any.
fn target_of(rng: &mut Rng, object: Option<&V>) -> V {
    match object {
        Some(o) if rng.u8(..4) > 0 => exact(o),
        _ => selector(rng),
    }
}

/// The kind and name of an object.
fn exact(object: &V) -> V {
    m(vec![("kind", s(text(object, &["kind"]))), ("name", s(text(object, &["metadata", "name"])))])
}

/// The objects that a layer may speak of.
#[derive(Clone, Copy)]
struct Known<'k>(&'k [V]);

impl Known<'_> {
    fn pick(&self, rng: &mut Rng) -> Option<&V> {
        if self.0.is_empty() { None } else { Some(&self.0[rng.usize(..self.0.len())]) }
    }

    /// An object of one of some kinds.
    fn of(&self, rng: &mut Rng, kinds: &[&str]) -> Option<&V> {
        let fitting: Vec<&V> = self.0.iter().filter(|o| kinds.contains(&text(o, &["kind"]).as_str())).collect();
        if fitting.is_empty() { None } else { Some(fitting[rng.usize(..fitting.len())]) }
    }
}

/// The value at a path of keys.
fn at<'v>(value: &'v V, path: &[&str]) -> Option<&'v V> {
    let Some((key, rest)) = path.split_first() else { return Some(value) };
    match value {
        V::M(entries) => entries.iter().find(|(k, _)| k == key).and_then(|(_, v)| at(v, rest)),
        _ => None,
    }
}

fn text(value: &V, path: &[&str]) -> String {
    match at(value, path) {
        Some(V::S(text)) => text.clone(),
        _ => String::new(),
    }
}

/// A strategic merge patch, mostly for an object that is there.
fn merge_patch(rng: &mut Rng, known: Known<'_>) -> V {
    let target = known.pick(rng).cloned().filter(|_| rng.u8(..16) > 0);
    let mut patch = match &target {
        None => object(rng, 0),
        Some(target) => {
            let same_kind = |o: &V| text(o, &["kind"]) == text(target, &["kind"]);
            (0..60).map(|_| object(rng, 0)).find(same_kind).unwrap_or_else(|| target.clone())
        }
    };
    if let (V::M(entries), Some(target)) = (&mut patch, &target) {
        for (key, value) in entries.iter_mut().filter(|(key, _)| key == "metadata") {
            let mut metadata = vec![("name", s(text(target, &["metadata", "name"])))];
            let namespace = text(target, &["metadata", "namespace"]);
            if !namespace.is_empty() {
                metadata.push(("namespace", s(namespace)));
            }
            for map in ["labels", "annotations"] {
                metadata.extend(at(value, &[map]).cloned().map(|v| (map, v)));
            }
            assert_eq!(key, "metadata");
            *value = m(metadata);
        }
    }
    if let V::M(entries) = &mut patch {
        if rng.u8(..14) == 0 {
            entries.push(("$patch".to_owned(), s("delete")));
        }
        if rng.u8(..6) == 0 {
            entries.push(("extra".to_owned(), s("null")));
        }
    }
    patch
}

fn field_path(rng: &mut Rng) -> V {
    s(pick(
        rng,
        &[
            "metadata.name",
            "metadata.namespace",
            "data.k",
            "spec.replicas",
            "spec.template.spec.containers.0.image",
            "'spec.template.spec.containers.[name=main].image'",
            "metadata.labels.app",
            "'spec.list.*'",
            "spec.inner.name",
            "'metadata.annotations.[example.com/part]'",
            "'spec.template.spec.containers.*.name'",
        ],
    ))
}

/// A path that leads to something in an object.
fn path_in(rng: &mut Rng, value: &V, depth: usize) -> String {
    match value {
        V::M(entries) if !entries.is_empty() && depth < 6 => {
            let (key, inner) = &entries[rng.usize(..entries.len())];
            let key = key.trim_matches('"').replace('.', "\\.");
            match path_in(rng, inner, depth + 1) {
                rest if rest.is_empty() => key,
                rest => format!("{key}.{rest}"),
            }
        }
        V::L(items) if !items.is_empty() && depth < 6 => {
            let i = rng.usize(..items.len());
            match (rng.u8(..3), path_in(rng, &items[i], depth + 1)) {
                (0, rest) if !rest.is_empty() => format!("*.{rest}"),
                (_, rest) if rest.is_empty() => i.to_string(),
                (_, rest) => format!("{i}.{rest}"),
            }
        }
        _ => String::new(),
    }
}

/// A path as it is written; where it says all annotations, it says one of them: see deviations/build-annotations.md. What a
/// resource is stays: builds that make nonsense of it are for cases of their own.
fn quoted(path: &str) -> V {
    let path = match path {
        "metadata.annotations" => "metadata.annotations.app",
        "kind" | "apiVersion" | "metadata" => "metadata.name",
        path => path,
    };
    s(format!("'{}'", path.replace('\'', "''")))
}

fn replacement(rng: &mut Rng, known: Known<'_>) -> V {
    let path = |rng: &mut Rng, object: Option<&V>| match object {
        Some(object) if rng.u8(..6) > 0 => quoted(&path_in(rng, object, 0)),
        _ => field_path(rng),
    };
    let source_object = known.pick(rng);
    let mut source = match source_object {
        Some(o) => vec![("kind", s(text(o, &["kind"]))), ("name", s(text(o, &["metadata", "name"])))],
        None => vec![("kind", s("ConfigMap")), ("name", s(pick(rng, &NAMES)))],
    };
    let from = match path(rng, source_object) {
        V::S(path) if path.contains('*') => s("metadata.name"),
        path => path,
    };
    source.push(("fieldPath", from));
    if rng.u8(..6) == 0 {
        source.push(("options", s("{delimiter: '-', index: 0}")));
    }
    let object = known.pick(rng);
    let select = match object {
        Some(o) if rng.u8(..4) > 0 => exact(o),
        // Kustomize before 5.8 knows no patterns here.
        _ => m(vec![("kind", s(pick(rng, &["Deployment", "ConfigMap", "Widget", "Service"])))]),
    };
    let mut target = vec![("select", select), ("fieldPaths", V::L(vec![path(rng, object)]))];
    if rng.u8(..3) == 0 {
        let options = ["{create: true}", "{delimiter: '/', index: 1}", "{delimiter: '-', index: -1}"];
        target.push(("options", s(pick(rng, &options))));
    }
    if rng.u8(..6) == 0 {
        target.push(("reject", V::L(vec![m(vec![("name", s(pick(rng, &NAMES)))])])));
    }
    m(vec![("source", m(source)), ("targets", V::L(vec![m(target)]))])
}

fn generator(rng: &mut Rng, is_secret: bool, known: Known<'_>) -> V {
    let there = known.of(rng, &[if is_secret { "Secret" } else { "ConfigMap" }]).filter(|_| rng.u8(..3) == 0);
    let name = match there {
        Some(object) => text(object, &["metadata", "name"]),
        None => format!("{}-g{}", pick(rng, &NAMES), rng.u8(..20)),
    };
    let mut entries = vec![("name", s(name))];
    let literals = ["k=v", "'other=\"q\"'", "p=a=b", "'e='", "k2=1"];
    let mut chosen: Vec<V> = literals.iter().filter(|_| rng.bool()).map(|l| s(*l)).collect();
    if chosen.is_empty() {
        chosen.push(s("z=1"));
    }
    entries.push(("literals", V::L(chosen)));
    if rng.u8(..3) == 0 {
        entries.push(("files", V::L(vec![s(pick(rng, &["file.txt", "renamed=file.txt", "bin.dat"]))])));
    }
    if rng.u8(..4) == 0 {
        entries.push(("envs", V::L(vec![s("vars.env")])));
    }
    if let Some(object) = there {
        entries.push(("behavior", s(pick(rng, &["merge", "merge", "replace", "create"]))));
        let namespace = text(object, &["metadata", "namespace"]);
        if !namespace.is_empty() {
            entries.push(("namespace", s(namespace)));
        }
    } else if rng.u8(..5) == 0 {
        entries.push(("namespace", s(pick(rng, &NAMESPACES))));
    }
    if rng.u8(..4) == 0 {
        let options =
            ["{disableNameSuffixHash: true}", "{labels: {gen: x}}", "{immutable: true}", "{annotations: {note: '1'}}"];
        entries.push(("options", s(pick(rng, &options))));
    }
    if is_secret && rng.u8(..3) == 0 {
        entries.push(("type", s("example.com/t")));
    }
    m(entries)
}

fn builtin(rng: &mut Rng) -> String {
    let name = format!("metadata: {{name: t{}}}", rng.u8(..100));
    let text = match rng.u8(..7) {
        0 => "kind: PrefixTransformer\nprefix: t-\nfieldSpecs: [{path: metadata/name}]".to_owned(),
        1 => "kind: LabelTransformer\nlabels: {by: transformer}\nfieldSpecs: [{path: metadata/labels, create: true}]".to_owned(),
        2 => "kind: AnnotationsTransformer\nannotations: {by: '1'}\nfieldSpecs: [{path: metadata/annotations, create: true}]".to_owned(),
        3 => "kind: ImageTagTransformer\nimageTag: {name: nginx, newTag: '9'}".to_owned(),
        4 => format!(
            "kind: PatchTransformer\ntarget: {}\npatch: '[{{\"op\": \"add\", \"path\": \"/metadata/annotations/p\", \"value\": \"x\"}}]'",
            selector(rng).flow()
        ),
        5 => return format!("apiVersion: builtin\nkind: NamespaceTransformer\nmetadata: {{name: n, namespace: prod}}\nunsetOnly: {}\nfieldSpecs: [{{path: metadata/namespace, create: true}}]\n", rng.bool()),
        _ => "kind: SuffixTransformer\nsuffix: -t\nfieldSpecs: [{path: metadata/name, kind: ConfigMap}]".to_owned(),
    };
    format!("apiVersion: builtin\n{name}\n{text}\n")
}

/// What the kind Widget says of itself.
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

/// Adds random fields to a layer.
fn fields(rng: &mut Rng, layer: &mut Layer, known: Known<'_>) {
    let chance = |rng: &mut Rng, one_in: u8| rng.u8(..one_in) == 0;
    let list = |name: &str, items: Vec<V>| (name.to_owned(), V::L(items));
    let mut out: Vec<(String, V)> = Vec::new();
    if chance(rng, 3) {
        out.push(("namePrefix".into(), s(pick(rng, &["p-", "x", "\"1\""]))));
    }
    if chance(rng, 5) {
        out.push(("nameSuffix".into(), s(pick(rng, &["-s", "'2'"]))));
    }
    if chance(rng, 4) {
        out.push(("namespace".into(), s(pick(rng, &NAMESPACES))));
    }
    if chance(rng, 5) {
        out.push(("commonLabels".into(), map(rng, &KEYS, string)));
    }
    if chance(rng, 4) {
        let mut label = vec![("pairs", map(rng, &KEYS, |rng| s(pick(rng, &["x", "'1'"]))))];
        if rng.bool() {
            label.push((if rng.bool() { "includeSelectors" } else { "includeTemplates" }, s("true")));
        }
        if chance(rng, 4) {
            label.push(("fields", s("[{path: spec/extra, create: true, kind: Widget}]")));
        }
        out.push(list("labels", vec![m(label)]));
    }
    if chance(rng, 4) {
        out.push(("commonAnnotations".into(), map(rng, &KEYS, string)));
    }
    if chance(rng, 4) {
        let image = |rng: &mut Rng| {
            let mut entries =
                vec![("name", s(pick(rng, &["nginx", "app", "redis", "reg.example.com:5000/app", "'.*b'"])))];
            let change = pick(rng, &["newName", "newTag", "digest", "tagSuffix"]);
            let value = match change {
                "newName" => "other/name",
                "newTag" => "'2.0'",
                "digest" => "sha256:abc",
                _ => "-x",
            };
            entries.push((change, s(value)));
            m(entries)
        };
        out.push(list("images", (0..1 + rng.usize(..2)).map(|_| image(rng)).collect()));
    }
    if chance(rng, 6)
        && let Some(scalable) = known.of(rng, &["Deployment", "StatefulSet", "ReplicaSet"])
    {
        let name = text(scalable, &["metadata", "name"]);
        out.push(list("replicas", vec![m(vec![("name", s(name)), ("count", s("5"))])]));
    }
    if chance(rng, 3) {
        let patch = |rng: &mut Rng| match rng.u8(..3) {
            0 => {
                let object = known.pick(rng);
                let operations: Vec<String> =
                    (0..1 + rng.usize(..2)).map(|_| format!("- {}", operation(rng, object).flow())).collect();
                let patch = format!("|-\n      {}", operations.join("\n      "));
                m(vec![("target", target_of(rng, object)), ("patch", s(patch))])
            }
            1 => {
                let text = merge_patch(rng, known).flow();
                m(vec![("patch", s(format!("|-\n      {text}")))])
            }
            _ => {
                let text = merge_patch(rng, known).flow();
                m(vec![("target", selector(rng)), ("patch", s(format!("|-\n      {text}")))])
            }
        };
        out.push(list("patches", (0..1 + rng.usize(..2)).map(|_| patch(rng)).collect()));
    }
    if chance(rng, 8) {
        layer.files.push(("sm.yaml".into(), File::Documents(vec![merge_patch(rng, known)])));
        out.push(list("patchesStrategicMerge", vec![s("sm.yaml")]));
    }
    if chance(rng, 10) {
        let object = known.pick(rng);
        let target = match object {
            Some(object) => exact(object),
            None => m(vec![("version", s("v1")), ("kind", s("ConfigMap")), ("name", s(pick(rng, &NAMES)))]),
        };
        let patch = format!("|-\n      - {}", operation(rng, object).flow());
        out.push(list("patchesJson6902", vec![m(vec![("target", target), ("patch", s(patch))])]));
    }
    if chance(rng, 3) {
        out.push(list("configMapGenerator", (0..1 + rng.usize(..2)).map(|_| generator(rng, false, known)).collect()));
    }
    if chance(rng, 6) {
        out.push(list("secretGenerator", vec![generator(rng, true, known)]));
    }
    if chance(rng, 8) {
        let options =
            ["{disableNameSuffixHash: true}", "{labels: {all: x}, immutable: true}", "{annotations: {o: 'yes'}}"];
        out.push(("generatorOptions".into(), s(pick(rng, &options))));
    }
    if chance(rng, 5) {
        out.push(list("replacements", (0..1 + rng.usize(..2)).map(|_| replacement(rng, known)).collect()));
    }
    if chance(rng, 8) {
        let var = |name: &str, rng: &mut Rng| {
            let object =
                known.pick(rng).map(|o| [&["apiVersion"][..], &["kind"], &["metadata", "name"]].map(|p| text(o, p)));
            let [api_version, kind, name_of] = object.unwrap_or(["v1", "ConfigMap", "a"].map(str::to_owned));
            let object = m(vec![("apiVersion", s(api_version)), ("kind", s(kind)), ("name", s(name_of))]);
            let fields = ["metadata.name", "metadata.name", "metadata.name", "metadata.name", "kind", "kind", "data.k"];
            let field = pick(rng, &fields);
            m(vec![("name", s(name)), ("objref", object), ("fieldref", m(vec![("fieldpath", s(field))]))])
        };
        out.push(list("vars", vec![var(pick(rng, &["VAR", "OTHER"]), rng)]));
    }
    if chance(rng, 6) {
        out.push(list("transformers", vec![s(format!("|-\n    {}", builtin(rng).replace('\n', "\n    ").trim_end()))]));
    }
    if chance(rng, 12) {
        let text = "apiVersion: builtin\n    kind: ConfigMapGenerator\n    metadata: {name: made}\n    literals: [m=1]";
        out.push(list("generators", vec![s(format!("|-\n    {text}"))]));
    }
    if chance(rng, 12) {
        let text = "namePrefix: [{path: spec/inner/name, kind: Widget}]\nvarReference: [{path: spec/size, kind: Widget}]\ncommonLabels: [{path: spec/labels, create: true, kind: Widget}]\nnameReference:\n- kind: ConfigMap\n  version: v1\n  fieldSpecs: [{path: spec/inner/value, kind: Widget}]\n";
        layer.files.push(("config.yaml".into(), File::Text(text.into())));
        out.push(list("configurations", vec![s("config.yaml")]));
    }
    if chance(rng, 14) {
        layer.files.push(("crd.yaml".into(), File::Text(CRD.into())));
        out.push(list("crds", vec![s("crd.yaml")]));
    }
    if chance(rng, 16) {
        layer.files.push(("schema.json".into(), File::Text(SCHEMA.into())));
        out.push(("openapi".into(), s("{path: schema.json}")));
    }
    if chance(rng, 14) {
        let validators = [
            "kind: LabelTransformer\n    labels: {validated-by: v}\n    fieldSpecs: [{path: metadata/labels, create: true}]",
            "kind: AnnotationsTransformer\n    annotations: {a: b}",
            "kind: PrefixTransformer\n    prefix: ''\n    fieldSpecs: [{path: metadata/name}]",
        ];
        let text = format!("|-\n    apiVersion: builtin\n    metadata: {{name: v}}\n    {}", pick(rng, &validators));
        out.push(list("validators", vec![s(text)]));
    }
    if chance(rng, 20) {
        out.push(("imageTags".into(), s("[{name: nginx, newTag: '7'}]")));
    }
    if chance(rng, 20) {
        out.push(("metadata".into(), s("{name: k, labels: {a: b}, annotations: {c: d}}")));
    }
    if chance(rng, 8) {
        let options = [
            "{order: fifo}",
            "{order: legacy}",
            "{order: legacy, legacySortOptions: {orderFirst: [Widget], orderLast: [ConfigMap]}}",
        ];
        out.push(("sortOptions".into(), s(pick(rng, &options))));
    }
    if chance(rng, 8) {
        out.push((
            "buildMetadata".into(),
            s(pick(
                rng,
                &["[originAnnotations]", "[transformerAnnotations]", "[originAnnotations, transformerAnnotations]"],
            )),
        ));
    }
    rng.shuffle(&mut out);
    layer.fields.append(&mut out);
}

/// A random tree of one to four layers, the last one the root.
pub fn tree(rng: &mut Rng) -> Tree {
    let count = 1 + rng.usize(..4);
    let mut layers: Vec<Layer> = Vec::new();
    let mut known: Vec<V> = Vec::new();
    for i in 0..count {
        let is_root = i + 1 == count;
        let is_component = !is_root && rng.u8(..4) == 0;
        let mut layer = Layer { name: format!("l{i}"), is_component, fields: Vec::new(), files: Vec::new() };
        let mut resources = Vec::new();
        let mut documents: Vec<V> = Vec::new();
        for _ in 0..rng.usize(if i == 0 { 1..5 } else { 0..4 }) {
            let new = object(rng, i);
            let id = |o: &V| [&["kind"][..], &["metadata", "name"], &["metadata", "namespace"]].map(|p| text(o, p));
            if rng.u8(..20) == 0 || !documents.iter().any(|o| id(o) == id(&new)) {
                documents.push(new);
            }
        }
        // Mostly the layer's own: what is below may have other names by now.
        if rng.u8(..4) == 0 {
            known.extend(documents.iter().cloned())
        } else {
            known.clone_from(&documents)
        }
        if !documents.is_empty() {
            layer.files.push(("r.yaml".into(), File::Documents(documents)));
            resources.push(s("r.yaml"));
        }
        let mut components = Vec::new();
        for below in &layers {
            // Each layer is reached from the next one, and sometimes from a later one too.
            let is_next = below.name == format!("l{}", i.wrapping_sub(1));
            if is_next || rng.u8(..6) == 0 {
                let path = s(format!("../{}", below.name));
                if below.is_component { components.push(path) } else { resources.push(path) }
            }
        }
        if rng.bool() {
            resources.reverse();
        }
        let (bases, resources) = match rng.u8(..12) {
            0 => resources.into_iter().partition(|r| matches!(r, V::S(path) if path.starts_with("../"))),
            _ => (Vec::new(), resources),
        };
        layer.fields.push(("resources".into(), V::L(resources)));
        if !bases.is_empty() {
            layer.fields.push(("bases".into(), V::L(bases)));
        }
        if !components.is_empty() {
            layer.fields.push(("components".into(), V::L(components)));
        }
        layer.files.push(("file.txt".into(), File::Text("line one\nline two: \"q\"\n".into())));
        layer.files.push(("bin.dat".into(), File::Text("tab\there \u{1f600}, no end of line".into())));
        layer.files.push(("vars.env".into(), File::Text("E1=one\n# no\nE2='two'\n".into())));
        fields(rng, &mut layer, Known(&known));
        layers.push(layer);
    }
    Tree(layers)
}
