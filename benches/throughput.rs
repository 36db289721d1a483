//! Megabytes a second: read, sort and print resources, and whole builds. Large texts are read on
//! all cores that the process may use: `taskset -c 0 cargo bench` measures one. `cargo bench`.

#![allow(clippy::unwrap_used, reason = "a bench that cannot go on fails")]

use rustomize::load::Disk;
use rustomize::tree::{Heap, documents};
use rustomize::{Options, Workspace};
use rustomize_yaml::emit;
use std::fmt::Write;
use std::hint::black_box;
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The least time of each measurement.
const PATIENCE: Duration = Duration::from_secs(2);

fn config_map(text: &mut String, i: usize) {
    let _ = write!(
        text,
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings-{i}\n  labels:\n    app: app-{i}\ndata:\n  LOG_LEVEL: info\n  \
         ENDPOINT: http://app-{i}.example.com:8080/v1\n  application.properties: |\n    server.port=8080\n    feature.{i}=true\n    \
         greeting=Hello from application number {i}\n    storage.path=/var/lib/application/{i}/data\n"
    );
}

fn deployment(text: &mut String, i: usize) {
    let _ = write!(
        text,
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app-{i}\n  labels:\n    app: app-{i}\n    tier: \"back\"\nspec:\n  replicas: 2\n  \
         selector:\n    matchLabels:\n      app: app-{i}\n  template:\n    metadata:\n      labels:\n        app: app-{i}\n      annotations:\n        \
         prometheus.io/scrape: \"true\"\n    spec:\n      containers:\n      - name: main\n        image: registry.example.com/team/app:1.{i}.0\n        \
         args: [\"--verbose\", \"--shard={i}\"]\n        envFrom:\n        - configMapRef:\n            name: settings-{i}\n        resources:\n          \
         requests: {{cpu: 100m, memory: 128Mi}}\n        livenessProbe:\n          httpGet: {{path: /healthz, port: 8080}}\n          periodSeconds: 10\n"
    );
}

fn service(text: &mut String, i: usize) {
    let _ = write!(
        text,
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: app-{i}\nspec:\n  selector:\n    app: app-{i}\n  ports:\n  - name: http\n    port: 80\n    \
         targetPort: 8080\n"
    );
}

/// Much of what clusters hold is schemas: deep, with long descriptions.
fn definition(text: &mut String, i: usize) {
    let _ = write!(
        text,
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: things{i}.example.com\nspec:\n  group: example.com\n  \
         names:\n    kind: Thing{i}\n    plural: things{i}\n  scope: Namespaced\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    \
         schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n"
    );
    for field in 0..44 {
        let _ = write!(
            text,
            "          field{field}:\n            description: |-\n              The field number {field} of this thing says what it is to do, and when.\n              \
             It is optional; without it the thing waits until somebody asks for it.\n            type: string\n            maxLength: 253\n"
        );
    }
}

/// About four megabytes in the mix of facts that are known of clusters: two parts in five
/// Deployments and Services, one part ConfigMaps with block scalars, two parts schemas; a line has
/// 37 bytes in the mean, a resource 3.9 KB.
fn corpus() -> String {
    let mut text = String::new();
    let mut i = 0;
    while text.len() < 4_000_000 {
        for make in [deployment, service, config_map, definition, definition] {
            if !text.is_empty() {
                text.push_str("---\n");
            }
            make(&mut text, i);
            i += 1;
        }
    }
    text
}

/// A definition as generators write it: descriptions of many lines, plain and quoted, folded at 80
/// columns, and keys that are too long for one line.
fn generated_definition(text: &mut String, i: usize) {
    let _ = write!(
        text,
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  annotations:\n    \
         controller-gen.kubebuilder.io/version: v0.14.0\n  name: parts{i}.example.com\nspec:\n  group: example.com\n  names:\n    \
         kind: Part{i}\n    listKind: Part{i}List\n    plural: parts{i}\n  scope: Namespaced\n  versions:\n  - name: v1\n    \
         schema:\n      openAPIV3Schema:\n        properties:\n          spec:\n            properties:\n"
    );
    for field in 0..30 {
        let pad = "              ";
        let _ = write!(
            text,
            "{pad}field{field}:\n{pad}  description: Field number {field} is a list of references to objects in the same\n{pad}    \
             namespace that are used for pulling any of the images. If specified, these\n{pad}    objects are passed to the \
             individual implementations for them to use. More\n{pad}    info at https://example.com/docs/concepts#field{field}\n{pad}  \
             items:\n{pad}    properties:\n{pad}      key:\n{pad}        description: 'Name of the referent. More info: \
             https://example.com/docs/names#names\n{pad}          TODO: Add other useful fields. apiVersion, kind, uid? It''s \
             optional.'\n{pad}        type: string\n{pad}      other:\n{pad}        description: \"The part of the \\\"other\\\" \
             field that is to be looked\n{pad}          at: one of Always, Never, or IfNotPresent.\\n Defaults to Always if\n{pad}          \
             no tag is specified.\"\n{pad}        type: string\n{pad}    required:\n{pad}    - key\n{pad}    type: object\n{pad}  \
             type: array\n"
        );
        if field % 10 == 0 {
            let long = "a pattern of a key that is longer than the printer writes on one line ".repeat(2);
            let _ = write!(
                text,
                "{pad}? {long}{field}\n{pad}: description: A field with a long name.\n{pad}  type: string\n"
            );
        }
    }
    text.push_str("            type: object\n        type: object\n    served: true\n    storage: true\n");
}

/// About four megabytes of definitions as generators write them.
fn generated_definitions() -> String {
    let mut text = String::new();
    let mut i = 0;
    while text.len() < 4_000_000 {
        if i > 0 {
            text.push_str("---\n");
        }
        generated_definition(&mut text, i);
        i += 1;
    }
    text
}

/// Runs until the patience is at an end and prints the best speed. A word behind `--` on the
/// command line names what is measured.
fn measure(what: &str, bytes: usize, mut run: impl FnMut()) {
    if std::env::args().skip(1).any(|arg| !arg.starts_with("--") && !what.contains(&arg)) {
        return;
    }
    let end = Instant::now() + PATIENCE;
    let mut best = Duration::MAX;
    while Instant::now() < end {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed());
    }
    println!("{what:34} {:7.1} ms {:7.0} MB/s", best.as_secs_f64() * 1e3, bytes as f64 / 1e6 / best.as_secs_f64());
}

fn main() {
    let text = corpus();
    println!(
        "{:.1} MB of resources, {:.0} bytes a line, {} cores, best of the runs of {} s",
        text.len() as f64 / 1e6,
        text.len() as f64 / text.lines().count() as f64,
        std::thread::available_parallelism().map_or(1, usize::from),
        PATIENCE.as_secs()
    );
    measure("read", text.len(), || {
        let heap = Heap::new();
        let arena = heap.arena();
        let source = arena.add_source("bench", text.clone());
        black_box(documents(arena, source).unwrap());
    });
    measure("read, sort and print", text.len(), || {
        let heap = Heap::new();
        let arena = heap.arena();
        let source = arena.add_source("bench", text.clone());
        let mut out = String::with_capacity(2 * text.len());
        for node in documents(arena, source).unwrap() {
            out.push_str("---\n");
            emit::document(&mut out, &node).unwrap();
        }
        black_box(out);
    });
    let definitions = generated_definitions();
    measure("read generated CRDs", definitions.len(), || {
        let heap = Heap::new();
        let arena = heap.arena();
        let source = arena.add_source("bench", definitions.clone());
        black_box(documents(arena, source).unwrap());
    });
    let directory = tempfile::TempDir::new().unwrap();
    std::fs::write(directory.path().join("all.yaml"), &text).unwrap();
    let path = directory.path().to_string_lossy().into_owned();
    let build = |fields: &str| {
        std::fs::write(directory.path().join("kustomization.yaml"), format!("resources: [all.yaml]\n{fields}"))
            .unwrap();
        let (workspace, disk) = (Workspace::new(), Disk::new());
        let output = rustomize::build(&workspace, &disk, &path, &Options::default()).value.unwrap();
        black_box(output.print().unwrap());
    };
    measure("build: resources alone", text.len(), || build(""));
    measure("build: prefix and namespace", text.len(), || build("namePrefix: p-\nnamespace: ns\n"));
    measure("build: labels with selectors", text.len(), || {
        build("labels: [{pairs: {a: b}, includeSelectors: true}]\n")
    });
    measure("build: images", text.len(), || build("images: [{name: registry.example.com/team/app, newTag: '2'}]\n"));
}
