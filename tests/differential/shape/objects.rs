//! Objects of Kubernetes, and of a kind that it does not know.

use super::super::value::{V, m, one, s};
use super::words::{KEYS, NAMES, NAMESPACES, odd, string, text};
use super::{map, pick, rarely, some};
use fastrand::Rng;

/// Annotations and labels that kustomize keeps its own notes in.
const NOTES: [(&str, &str); 12] = [
    ("internal.config.kubernetes.io/needsHashSuffix", "enabled"),
    ("internal.config.kubernetes.io/helm-generated", "\"true\""),
    ("config.kubernetes.io/local-config", "\"true\""),
    ("internal.config.kubernetes.io/index", "'3'"),
    ("config.kubernetes.io/path", "x/y.yaml"),
    ("kustomize.config.k8s.io/needs-hash", "'true'"),
    ("kustomize.config.k8s.io/behavior", "merge"),
    ("internal.config.kubernetes.io/generatorBehavior", "replace"),
    ("internal.config.kubernetes.io/previousNames", "web"),
    ("config.kubernetes.io/origin", "|\n  path: x"),
    ("alpha.config.kubernetes.io/transformations", "\"- x\""),
    ("helm.sh/hook", "pre-install"),
];

fn metadata(rng: &mut Rng, layer: usize) -> V {
    // Mostly a name that no other layer has.
    let name = pick(rng, &NAMES);
    let name = if layer == 0 || rng.u8(..8) == 0 { name.to_owned() } else { format!("{name}{layer}") };
    let name = if rarely(rng, 60) { "${X}".to_owned() } else { name };
    let mut entries = vec![("name", s(name))];
    if rng.u8(..3) == 0 {
        entries.push(("namespace", s(pick(rng, &NAMESPACES))));
    }
    if rng.bool() {
        entries.push(("labels", if rarely(rng, 80) { spoilt(rng) } else { map(rng, &KEYS, label) }));
    }
    if rng.u8(..3) == 0 {
        let mut annotations = map(rng, &KEYS, odd);
        if rarely(rng, 8)
            && let V::M(entries) = &mut annotations
        {
            let (key, value) = NOTES[rng.usize(..NOTES.len())];
            let value = if value.starts_with('|') { V::T(vec!["path: x".into()]) } else { s(value) };
            entries.push((key.to_owned(), value));
        }
        entries.push(("annotations", if rarely(rng, 60) { spoilt(rng) } else { annotations }));
    }
    if rng.u8(..8) == 0 {
        entries.push(("finalizers", V::L(vec![s("example.com/f")])));
    }
    m(entries)
}

fn label(rng: &mut Rng) -> V {
    if rng.u8(..8) == 0 { odd(rng) } else { s(pick(rng, &["x", "front", "back", "\"7\""])) }
}

fn labels(rng: &mut Rng) -> V {
    map(rng, &KEYS, |rng| s(pick(rng, &["x", "front"])))
}

fn name(rng: &mut Rng) -> V {
    s(pick(rng, &NAMES))
}

fn container(rng: &mut Rng) -> V {
    let images = [
        "nginx",
        "nginx:1",
        "reg.example.com:5000/app:v1",
        "app@sha256:24a0c4b4",
        "\"redis\"",
        "web:latest",
        "${X}",
        "nginx:v1@sha256:24a0c4b4",
        "reg.example.com/{a}/nginx:1",
    ];
    let common = rng.u8(..6) > 0;
    let image = images[if common { rng.usize(..6) } else { rng.usize(..images.len()) }];
    let mut entries = vec![("name", s(pick(rng, &["main", "side", "a"]))), ("image", s(image))];
    if rng.bool() {
        entries.push(("env", some(rng, 3, env)));
    }
    if rng.u8(..3) == 0 {
        entries.push(("args", some(rng, 3, argument)));
    }
    if rng.u8(..4) == 0 {
        entries.push(("ports", some(rng, 3, port)));
    }
    if rng.u8(..4) == 0 {
        let source = pick(rng, &["configMapRef", "secretRef"]);
        entries.push(("envFrom", one(m(vec![(source, m(vec![("name", name(rng))]))]))));
    }
    if rng.u8(..4) == 0 {
        let mount = |rng: &mut Rng| m(vec![("mountPath", s(pick(rng, &["/a", "/b", "$(VAR)/c"]))), ("name", s("v"))]);
        entries.push(("volumeMounts", some(rng, 2, mount)));
    }
    m(entries)
}

fn argument(rng: &mut Rng) -> V {
    let tame = ["--x", "$(VAR)", "\"$$(VAR)\"", "a$(OTHER)b", "\"1\""];
    let wild = ["$é", "\"$\"", "$(VAR", "$$$(VAR)", "$()", "\"$(VAR)$(OTHER) $(NONE)\"", "http://x/?q=1", "'${VAR}'"];
    match rng.u8(..8) {
        0 => text(rng),
        1 => s(pick(rng, &wild)),
        _ => s(pick(rng, &tame)),
    }
}

fn env(rng: &mut Rng) -> V {
    let variable = s(pick(rng, &["A", "B", "C", "\"D\""]));
    if rng.u8(..3) > 0 {
        let value = match rng.u8(..6) {
            0 => string(rng),
            1 => argument(rng),
            _ => s(pick(rng, &["x", "\"1\"", "$(VAR)", "\"a $(OTHER) b\"", "''", "http://x/?q=1"])),
        };
        return m(vec![("name", variable), ("value", value)]);
    }
    let source = pick(rng, &["configMapKeyRef", "secretKeyRef"]);
    let reference = m(vec![("key", s("k")), ("name", name(rng))]);
    m(vec![("name", variable), ("valueFrom", m(vec![(source, reference)]))])
}

fn port(rng: &mut Rng) -> V {
    ported(rng, "containerPort")
}

/// A port that mostly has its number: some lists are merged by it.
fn ported(rng: &mut Rng, number: &'static str) -> V {
    let mut entries = Vec::new();
    if !rarely(rng, 8) {
        entries.push((number, s(pick(rng, &["80", "443", "53"]))));
    }
    if rng.bool() {
        entries.push(("protocol", s(pick(rng, &["TCP", "UDP"]))));
    }
    if rng.bool() {
        entries.push(("name", s(pick(rng, &["http", "dns"]))));
    }
    if number == "port" {
        entries.push(("targetPort", s(pick(rng, &["80", "http"]))));
    }
    m(entries)
}

fn volume(rng: &mut Rng) -> V {
    let volume = ("name", s(pick(rng, &["v", "w"])));
    match rng.u8(..5) {
        0 => m(vec![volume, ("configMap", m(vec![("name", name(rng))]))]),
        1 => m(vec![volume, ("secret", m(vec![("secretName", name(rng))]))]),
        2 => m(vec![volume, ("persistentVolumeClaim", m(vec![("claimName", name(rng))]))]),
        3 => m(vec![volume, ("emptyDir", s(""))]),
        _ => m(vec![volume, ("emptyDir", V::M(Vec::new()))]),
    }
}

fn pod_spec(rng: &mut Rng) -> V {
    let containers = super::few(rng, container);
    let mut entries = vec![("containers", containers)];
    if rng.u8(..4) == 0 {
        entries.push(("initContainers", some(rng, 1, container)));
    }
    if rng.u8(..3) == 0 {
        entries.push(("volumes", some(rng, 2, volume)));
    }
    if rng.u8(..4) == 0 {
        entries.push(("serviceAccountName", name(rng)));
    }
    if rng.u8(..5) == 0 {
        entries.push(("imagePullSecrets", one(m(vec![("name", name(rng))]))));
    }
    if rng.u8(..8) == 0 {
        entries.push(("nodeSelector", map(rng, &KEYS, string)));
    }
    if rng.u8(..10) == 0 {
        let toleration = |rng: &mut Rng| m(vec![("key", s(pick(rng, &["a", "b"]))), ("operator", s("Exists"))]);
        entries.push(("tolerations", some(rng, 2, toleration)));
    }
    for (key, value) in &mut entries {
        if *key != "serviceAccountName" && rarely(rng, 50) {
            *value = s(pick(rng, &["null", "", "[]", "~"]));
        }
    }
    m(entries)
}

fn template(rng: &mut Rng) -> V {
    let mut entries = Vec::new();
    if rng.bool() {
        let mut metadata = vec![("labels", labels(rng))];
        if rarely(rng, 4) {
            metadata.push(("annotations", map(rng, &KEYS, string)));
        }
        entries.push(("metadata", m(metadata)));
    }
    entries.push(("spec", pod_spec(rng)));
    m(entries)
}

fn workload(rng: &mut Rng) -> (&'static str, &'static str, Vec<(&'static str, V)>) {
    let kind = pick(rng, &["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"]);
    let mut spec = vec![("template", template(rng))];
    if rng.bool() {
        spec.push(("replicas", s(pick(rng, &["1", "3", "\"2\"", "0x3"]))));
    }
    if rng.bool() {
        spec.push(("selector", m(vec![("matchLabels", labels(rng))])));
    }
    if kind == "StatefulSet" {
        spec.push(("serviceName", name(rng)));
    }
    ("apps/v1", kind, vec![("spec", m(spec))])
}

fn ingress(rng: &mut Rng) -> (&'static str, &'static str, Vec<(&'static str, V)>) {
    let service = m(vec![("service", m(vec![("name", name(rng)), ("port", m(vec![("number", s("80"))]))]))]);
    let path = m(vec![("path", s("/")), ("backend", service)]);
    let rule = m(vec![("host", s("$(VAR).example.com")), ("http", m(vec![("paths", one(path))]))]);
    let tls = m(vec![("secretName", name(rng)), ("hosts", one(s("h.example.com")))]);
    ("networking.k8s.io/v1", "Ingress", vec![("spec", m(vec![("rules", one(rule)), ("tls", one(tls))]))])
}

fn binding(rng: &mut Rng) -> (&'static str, &'static str, Vec<(&'static str, V)>) {
    let kind = pick(rng, &["RoleBinding", "ClusterRoleBinding"]);
    let role = pick(rng, &["Role", "ClusterRole"]);
    let reference =
        m(vec![("apiGroup", s("rbac.authorization.k8s.io")), ("kind", s(role)), ("name", s(pick(rng, &NAMES)))]);
    let subject = |rng: &mut Rng| {
        let mut entries = vec![("kind", s("ServiceAccount")), ("name", s(pick(rng, &["a", "b", "default"])))];
        if rng.bool() {
            let blank = rarely(rng, 20);
            entries
                .push(("namespace", s(if blank { pick(rng, &["", "null", "\"\""]) } else { pick(rng, &NAMESPACES) })));
        }
        m(entries)
    };
    let subjects = some(rng, 2, subject);
    ("rbac.authorization.k8s.io/v1", kind, vec![("roleRef", reference), ("subjects", subjects)])
}

/// A resource of a kind that Kubernetes does not know, with values of all kinds.
fn widget(rng: &mut Rng) -> (&'static str, &'static str, Vec<(&'static str, V)>) {
    let item = |rng: &mut Rng| match rng.u8(..6) {
        0 => m(vec![("name", name(rng)), ("value", odd(rng))]),
        1 => V::L(vec![odd(rng), odd(rng)]),
        _ => odd(rng),
    };
    let list = some(rng, 3, item);
    let keys: &[&str] = match rarely(rng, 20) {
        true => &["8", "true", "~", "y", "1.5", LONG],
        false => &["name", "value", "n1", "\"2\""],
    };
    let inner = map(rng, keys, odd);
    ("example.com/v1", "Widget", vec![("spec", m(vec![("list", list), ("inner", inner), ("size", odd(rng))]))])
}

/// A key that does not fit in a line.
const LONG: &str = "\"a key of words that is so long that it has to be written behind a question mark: one hundred and twenty-eight signs \
                    and a few more of them\"";

/// An object of a random kind.
pub fn object(rng: &mut Rng, layer: usize) -> V {
    let (api_version, kind, mut rest): (&str, &str, Vec<(&str, V)>) = match rng.u8(..20) {
        0..3 => ("v1", "ConfigMap", vec![("data", map(rng, &["k", "other", "app.conf", "\"8080\""], string))]),
        3 => ("v1", "Secret", vec![("type", s("Opaque")), ("data", map(rng, &["k", "p"], |_| s("eA==")))]),
        4..9 => workload(rng),
        9 => {
            let spec = vec![("selector", labels(rng)), ("ports", some(rng, 3, |rng| ported(rng, "port")))];
            ("v1", "Service", vec![("spec", m(spec))])
        }
        10 => {
            let job = m(vec![("spec", m(vec![("template", template(rng))]))]);
            if rng.bool() {
                ("batch/v1", "Job", vec![("spec", m(vec![("template", template(rng))]))])
            } else {
                ("batch/v1", "CronJob", vec![("spec", m(vec![("jobTemplate", job), ("schedule", s("'* * * * *'"))]))])
            }
        }
        11 => ingress(rng),
        12 => {
            let kind = pick(rng, &["Role", "ClusterRole"]);
            let rule = m(vec![("resourceNames", some(rng, 2, name)), ("verbs", one(s("get")))]);
            ("rbac.authorization.k8s.io/v1", kind, vec![("rules", one(rule))])
        }
        13 => binding(rng),
        14 => ("v1", "ServiceAccount", Vec::new()),
        15 => ("v1", pick(rng, &["Namespace", "PersistentVolumeClaim"]), Vec::new()),
        16 => {
            let target = m(vec![("apiVersion", s("apps/v1")), ("kind", s("Deployment")), ("name", name(rng))]);
            ("autoscaling/v1", "HorizontalPodAutoscaler", vec![("spec", m(vec![("scaleTargetRef", target)]))])
        }
        17 => ("v1", "Pod", vec![("spec", pod_spec(rng))]),
        _ => widget(rng),
    };
    let mut entries = vec![("apiVersion", s(api_version)), ("kind", s(kind)), ("metadata", metadata(rng, layer))];
    entries.append(&mut rest);
    if rarely(rng, 100) {
        entries.remove(0);
    }
    m(entries)
}

/// Puts a null, an empty collection or a text in the place of something, in some objects.
pub fn spoil(rng: &mut Rng, object: &mut V) {
    if rarely(rng, 6) {
        spoil_in(rng, object, 0);
    }
}

fn spoil_in(rng: &mut Rng, value: &mut V, depth: usize) {
    let goes_on = depth < 2 || rng.u8(..4) > 0;
    match value {
        V::M(entries) if goes_on && !entries.is_empty() => {
            let i = rng.usize(..entries.len());
            let (key, inner) = &mut entries[i];
            // The identity stays, mostly: without it nothing is built.
            let is_identity = matches!(key.as_str(), "apiVersion" | "kind") || (key == "name" && depth == 1);
            if !is_identity || rarely(rng, 8) {
                spoil_in(rng, inner, depth + 1);
            }
        }
        V::L(items) if !items.is_empty() && rng.bool() => {
            let i = rng.usize(..items.len());
            spoil_in(rng, &mut items[i], depth + 1);
        }
        _ => *value = spoilt(rng),
    }
}

fn spoilt(rng: &mut Rng) -> V {
    match rng.u8(..12) {
        0..3 => s(pick(rng, &["null", "~", "", "Null"])),
        3 | 4 => V::L(Vec::new()),
        5 | 6 => V::M(Vec::new()),
        7 => one(s("x")),
        8 => s("\"\""),
        9 => one(V::M(Vec::new())),
        10 => one(s("null")),
        _ => s(pick(rng, &["text", "5", "[x]", "{x: y}"])),
    }
}

/// Objects inside of lists, beside others, and inside of lists in lists.
pub fn in_lists(rng: &mut Rng, mut documents: Vec<V>) -> Vec<V> {
    let list = |kind: &str, items: Vec<V>| m(vec![("apiVersion", s("v1")), ("kind", s(kind)), ("items", V::L(items))]);
    let kind = pick(rng, &["List", "List", "FooList", "ConfigMapList", "DeploymentList"]);
    let outside = documents.split_off(rng.usize(..=documents.len()));
    let mut items = documents;
    if rng.bool() && !items.is_empty() {
        let inner = items.split_off(items.len() / 2);
        let at = rng.usize(..=items.len());
        items.insert(at, list(pick(rng, &["List", "FooList"]), inner));
    }
    let mut all = vec![list(kind, items)];
    if rarely(rng, 4) && outside.len() > 1 {
        all.push(list("List", outside));
    } else {
        all.extend(outside);
    }
    if rng.bool() {
        all.reverse();
    }
    all
}
