//! Random kustomizations: two fields with n entries each, over resources of a random shape. The
//! steps for each byte of input and output must not grow with n. `cargo test` builds a few with a
//! fixed seed; `RUSTOMIZE_GROWTH=3600 cargo test --test main scaling::random -- --nocapture` builds
//! for an hour, from `RUSTOMIZE_SEED` on, and lists everything that grows.

use super::{Files, in_memory, lines};
use fastrand::Rng;
use rustomize::{Options, Workspace, build};
use rustomize_base::meter;
use std::num::NonZero;
use std::time::{Duration, Instant};

/// The entries of the smallest build; two more builds have twice and four times as many.
const ENTRIES: usize = 60;

/// The largest exponent of the growth. A sort of n texts, and a look-up in a large mapping, take
/// some more steps for each doubling.
const BOUND: f64 = 1.3;

/// The kustomizations of a short run.
const FEW: u64 = 24;

/// A resource or an entry by its number, of n.
type Text = fn(usize, usize) -> String;

/// Resources, and what identifies that of an entry.
struct Shape {
    name: &'static str,
    resources: fn(usize) -> String,
    /// The fields of a selector for the resource of an entry.
    target: Text,
}

fn config_map(metadata: &str, data: &str) -> String {
    format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{{metadata}}}\ndata:\n  k: v\n{data}")
}

fn deployment(name: &str, containers: &str) -> String {
    format!(
        "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec:\n  replicas: 1\n  template:\n    spec:\n      containers:\n{containers}"
    )
}

fn container(i: usize) -> String {
    format!("      - {{name: c{i}, image: hub.example.com/team/app-{i}:1, env: [{{name: A, value: b}}]}}\n")
}

const SHAPES: [Shape; 6] = [
    Shape {
        name: "a ConfigMap and a Deployment for each entry",
        resources: |n| {
            lines(n, |i| {
                let own = format!("name: a{i}, labels: {{l: v{i}, l{i}: v}}, annotations: {{l: v{i}, l{i}: v}}");
                config_map(&own, "") + &deployment(&format!("a{i}"), &container(i))
            })
        },
        target: |i, _| format!("name: a{i}"),
    },
    Shape {
        name: "one ConfigMap with a key for each entry",
        resources: |n| config_map("name: a0", &lines(n, |i| format!("  k{i}: v\n"))),
        target: |_, _| "kind: ConfigMap, name: a0".to_owned(),
    },
    Shape {
        name: "one Deployment with a container for each entry",
        resources: |n| deployment("a0", &lines(n, container)),
        target: |_, _| "kind: Deployment, name: a0".to_owned(),
    },
    Shape {
        name: "a ConfigMap with a text with a piece for each entry",
        resources: |n| config_map("name: a0", &format!("  t: {}z\n", "x,".repeat(n))),
        target: |_, _| "kind: ConfigMap, name: a0".to_owned(),
    },
    Shape {
        name: "the same name in a namespace for each entry",
        resources: |n| {
            lines(n, |i| {
                config_map(&format!("name: a0, namespace: n{i}"), "")
                    + &deployment("a0", &container(0)).replace("name: a0", &format!("name: a0, namespace: n{i}"))
            })
        },
        target: |i, _| format!("name: a0, namespace: n{i}"),
    },
    Shape {
        name: "a kind for each entry",
        resources: |n| {
            lines(n, |i| format!("---\napiVersion: g{i}.io/v1\nkind: K{i}\nmetadata: {{name: a{i}}}\nspec: {{k: a}}\n"))
        },
        target: |i, _| format!("kind: K{i}"),
    },
];

/// A field of a kustomization with an entry for each number. `{T}` stands for the target of the
/// entry.
const FIELDS: [(&str, Text); 27] = [
    ("patches", |i, _| operation(&format!("op: add, path: /metadata/labels, value: {{x: y{i}}}"))),
    ("patches", |_, _| operation("op: add, path: /spec, value: {x: y}")),
    ("patches", |i, n| operation(&format!("op: add, path: /data/n{}, value: x", n - i))),
    ("patches", |i, _| operation(&format!("op: remove, path: /data/k{i}"))),
    ("patches", |i, n| operation(&format!("op: move, from: /data/k{i}, path: /data/m{}", n - i))),
    ("patches", |_, _| operation("op: copy, from: /data/k, path: /data/copy")),
    ("patches", |i, _| operation(&format!("op: add, path: /spec/template/spec/containers/0, value: {{name: x{i}}}"))),
    ("patches", |_, _| operation("op: remove, path: /spec/template/spec/containers/0")),
    ("patches", |i, _| {
        format!("- target: {{labelSelector: 'l{i}'}}\n  patch: |-\n    - {{op: add, path: /spec, value: {{}}}}\n")
    }),
    ("patches", |i, _| {
        format!(
            "- target: {{annotationSelector: 'l in (v{i}, w)'}}\n  patch: |-\n    - {{op: add, path: /spec, value: {{}}}}\n"
        )
    }),
    ("patches", |i, _| {
        format!("- target: {{name: 'a{i}|b.*'}}\n  patch: |-\n    - {{op: add, path: /spec, value: {{}}}}\n")
    }),
    ("images", |i, _| format!("- {{name: hub.example.com/team/app-{i}, newTag: '2'}}\n")),
    ("images", |i, _| format!("- {{name: 'hub.example.com/team/app-{i}x*', newTag: '2'}}\n")),
    ("images", |_, _| "- {name: 'hub.example.com/other/ap+', newTag: '2'}\n".to_owned()),
    ("images", |i, _| format!("- {{name: r{i}.example.com/team/app, newName: s{i}}}\n")),
    ("replacements", |_, _| replacement("kind: ConfigMap, name: source", "data.x", "options: {create: true}")),
    ("replacements", |i, _| {
        replacement("kind: ConfigMap, name: source", &format!("data.x{i}"), "options: {create: true}")
    }),
    ("replacements", |i, _| {
        replacement("kind: ConfigMap, name: source", "data.t", &format!("options: {{delimiter: ',', index: {i}}}"))
    }),
    ("vars", |i, _| {
        format!(
            "- {{name: V{i}, objref: {{apiVersion: v1, kind: ConfigMap, name: source}}, fieldref: {{fieldpath: data.k}}}}\n"
        )
    }),
    ("configMapGenerator", |i, _| format!("- {{name: g{i}, literals: [a=b]}}\n")),
    ("configMapGenerator", |i, _| format!("- {{name: source, behavior: merge, literals: [a{i}=b]}}\n")),
    ("secretGenerator", |i, n| format!("- {{name: s{}, literals: [a=b]}}\n", n - i)),
    ("replicas", |i, _| format!("- {{name: r{i}, count: 2}}\n")),
    ("commonLabels", |i, _| format!("  c{i}: v\n")),
    ("commonAnnotations", |i, n| format!("  c{}: v\n", n - i)),
    ("transformers", |i, _| {
        format!(
            "- |-\n  apiVersion: builtin\n  kind: PatchTransformer\n  metadata: {{name: t{i}}}\n  target: {{{{T}}}}\n  patch: '[{{\"op\": \"add\", \"path\": \"/spec\", \"value\": {{}}}}]'\n"
        )
    }),
    ("sortOptions", |i, n| match i {
        0 => "  order: legacy\n  legacySortOptions:\n    orderFirst:\n    - K0\n".to_owned(),
        i => format!("    - K{}\n", n - i),
    }),
];

/// An entry of `patches` with one operation.
fn operation(operation: &str) -> String {
    format!("- target: {{{{T}}}}\n  patch: |-\n    - {{{operation}}}\n")
}

fn replacement(source: &str, path: &str, options: &str) -> String {
    format!(
        "- source: {{{source}, fieldPath: data.k}}\n  targets:\n  - {{select: {{{{T}}}}, fieldPaths: [{path}], {options}}}\n"
    )
}

/// What a choice is multiplied by in all builds, beside the number of entries: each field is there
/// for all entries, or for one.
#[derive(Clone, Copy, Debug)]
struct Choice {
    shape: usize,
    fields: [usize; 2],
    trace: bool,
    origins: bool,
}

impl Choice {
    fn random(rng: &mut Rng) -> Self {
        Choice {
            shape: rng.usize(..SHAPES.len()),
            fields: [rng.usize(..FIELDS.len()), rng.usize(..FIELDS.len())],
            trace: rng.u8(..4) == 0,
            origins: rng.u8(..8) == 0,
        }
    }

    /// Returns true for the cases that docs/performance.md lists as quadratic.
    fn is_known(self) -> bool {
        let is_one = SHAPES[self.shape].name.starts_with("one");
        self.fields.into_iter().any(|field| {
            let (name, text) = FIELDS[field];
            let merges = text(0, 1).contains("behavior: merge");
            // A trace compares the resource that each step changes; each stage of its own is noted in
            // all resources; shared values are settled after each replacement.
            let compares = self.trace && (merges || is_one && name == "transformers");
            let is_noted = self.origins && ["replicas", "transformers"].contains(&name);
            let other = self.fields.into_iter().any(|field| FIELDS[field].0 == "replacements");
            compares || is_noted || is_one && other && name == "commonLabels"
        })
    }

    fn name(self) -> String {
        let entry = |field: usize| {
            let (name, text) = FIELDS[field];
            format!("{name} {}", text(1, 9).trim().replace('\n', " "))
        };
        let fields = self.fields.map(entry).join(" AND ");
        format!("{} (trace {}, origins {}): {fields}", SHAPES[self.shape].name, self.trace, self.origins)
    }

    fn files(self, n: usize) -> Files {
        let shape = &SHAPES[self.shape];
        let mut text = "resources: [all.yaml]\n".to_owned();
        if self.origins {
            text += "buildMetadata: [originAnnotations]\n";
        }
        let mut fields = self.fields.map(|field| (FIELDS[field].0, field));
        fields.sort_unstable();
        let mut last = "";
        for (name, field) in fields {
            if name != last {
                text += &format!("{name}:\n");
            }
            last = name;
            text += &lines(n, |i| FIELDS[field].1(i, n).replace("{T}", &(shape.target)(i, n)));
        }
        let mut all = (shape.resources)(n) + &config_map("name: source", "");
        if fields.iter().any(|(name, _)| *name == "replicas") {
            all += &lines(n, |i| deployment(&format!("r{i}"), &container(i)));
        }
        vec![("all.yaml".to_owned(), all), ("kustomization.yaml".to_owned(), text)]
    }

    /// Steps, and bytes of input and output, of a build with n entries; `None` if it fails.
    fn measure(self, n: usize) -> Option<[f64; 2]> {
        let files = self.files(n);
        let size: usize = files.iter().map(|(_, text)| text.len()).sum();
        let (files, workspace) = (in_memory(&files), Workspace::with_jobs(NonZero::<usize>::MIN));
        let options = Options { trace: self.trace, ..Options::default() };
        meter::reset();
        let output = build(&workspace, &files, "root", &options).value.ok()?;
        let printed = output.print().ok()?;
        Some([meter::taken() as f64, (size + printed.len()) as f64])
    }

    /// The exponent of the growth of the steps with the bytes; `None` if a build fails.
    fn growth(self) -> Option<f64> {
        let [a, b, c] = [1, 2, 4].map(|times| self.measure(times * ENTRIES));
        let ([a, b], c) = ([a?, b?], c?);
        let more = |from: [f64; 2], to: [f64; 2]| [to[0] - from[0], to[1] - from[1]];
        let (first, second) = (more(a, b), more(b, c));
        Some((second[0] / first[0]).ln() / (second[1] / first[1]).ln())
    }
}

#[test]
fn pairs_of_fields_over_shapes() {
    let number = |name: &str| std::env::var_os(name).and_then(|text| text.to_str()?.parse::<u64>().ok());
    let (time, seed) = (number("RUSTOMIZE_GROWTH").map(Duration::from_secs), number("RUSTOMIZE_SEED").unwrap_or(1));
    let (mut rng, start) = (Rng::with_seed(seed), Instant::now());
    let (mut built, mut found) = (0, Vec::new());
    while time.map_or(built < FEW, |time| start.elapsed() < time) {
        let choice = Choice::random(&mut rng);
        let Some(growth) = Some(choice).filter(|choice| !choice.is_known()).and_then(Choice::growth) else { continue };
        built += 1;
        if growth > BOUND {
            let line = format!("{growth:.2} {}", choice.name());
            println!("{line}");
            found.push(line);
        }
    }
    println!("{built} kustomizations, {} of them grow", found.len());
    assert!(found.is_empty(), "{}", found.join("\n"));
}
