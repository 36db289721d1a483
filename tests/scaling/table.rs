//! Every field of kustomization.yaml and every stage, alone and in pairs. A field or stage that has
//! no line here fails a test.

use super::{Files, file, lines, resources, steps_taken};
use crate::reference;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

/// Names that no line has, and why.
const LEFT_OUT: [(&str, &str); 4] = [
    ("helmCharts", "needs helm"),
    ("helmChartInflationGenerator", "needs helm"),
    ("helmGlobals", "needs helm"),
    ("HelmChartInflationGenerator", "needs helm"),
];

/// The text of a field in the kustomization of `n` applications. Where a stage works on every
/// resource for each entry of its field, the line has one entry.
struct Line {
    field: &'static str,
    /// The kustomize kinds that run.
    stages: &'static [&'static str],
    /// The text behind the colon.
    value: fn(usize) -> String,
    /// The files that the value names.
    files: fn(usize) -> Files,
    /// True if the line makes no pairs. Each transformer is noted in each resource where a build
    /// notes transformers: docs/performance.md.
    is_alone: bool,
}

const fn line(field: &'static str, stages: &'static [&'static str], value: fn(usize) -> String) -> Line {
    Line { field, stages, value, files: |_| Files::new(), is_alone: false }
}

impl Line {
    const fn with(self, files: fn(usize) -> Files) -> Line {
        Line { files, ..self }
    }

    const fn alone(self) -> Line {
        Line { is_alone: true, ..self }
    }

    fn name(&self) -> String {
        format!("{} {}", self.field, self.stages.join(" "))
    }

    fn is_list(&self) -> bool {
        (self.value)(1).starts_with("\n- ")
    }
}

/// A list with an entry for each application.
fn list(n: usize, entry: impl Fn(usize) -> String) -> String {
    "\n".to_owned() + &lines(n, |i| format!("- {}\n", entry(i)))
}

/// Inline objects for built-ins.
fn objects(n: usize, kind: &str, fields: impl Fn(usize) -> String) -> String {
    let name = kind.to_lowercase();
    let one = |i| {
        format!(
            "|-\n  apiVersion: builtin\n  kind: {kind}\n  metadata: {{name: {name}-{i}, namespace: all}}\n  {}",
            fields(i)
        )
    };
    list(n, one)
}

/// The text of a ConfigMap.
fn config_map(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{k: v}}\n")
}

fn deployment(i: usize) -> String {
    format!("{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: app-{i}}}, spec: {{paused: true}}}}")
}

fn operation(path: &str) -> String {
    format!("'[{{\"op\": \"add\", \"path\": \"{path}\", \"value\": \"1\"}}]'")
}

fn replacement(i: usize, field: &str) -> String {
    let target =
        format!("{{select: {{kind: Deployment, name: app-{i}}}, fieldPaths: [{field}], options: {{create: true}}}}");
    format!("{{source: {{kind: ConfigMap, name: settings-{i}, fieldPath: data.k}}, targets: [{target}]}}")
}

const ALL_NAMES: &str = "fieldSpecs: [{path: metadata/name}]";

/// Each field and stage.
static TABLE: &[Line] = &[
    line("apiVersion", &[], |_| " kustomize.config.k8s.io/v1beta1\n".into()),
    line("kind", &[], |_| " Kustomization\n".into()),
    line("metadata", &[], |n| "\n  labels:\n".to_owned() + &lines(n, |i| format!("    l{i}: v\n"))),
    line("resources", &[], |n| list(n, |i| format!("own-{i}.yaml")))
        .with(|n| (0..n).map(|i| file(&format!("own-{i}.yaml"), config_map(&format!("own-{i}")))).collect()),
    line("bases", &[], |n| list(n, |i| format!("base-{i}"))).with(|n| {
        let own = |i: usize| {
            let kustomization = format!("resources: [own.yaml]\nnamePrefix: p{i}-\n");
            [
                file(&format!("base-{i}/kustomization.yaml"), kustomization),
                file(&format!("base-{i}/own.yaml"), config_map("below")),
            ]
        };
        (0..n).flat_map(own).collect()
    }),
    line("components", &[], |n| list(n, |i| format!("component-{i}"))).with(|n| {
        let head = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n";
        let own = |i: usize| format!("{head}patches:\n- patch: '{}'\n", deployment(i));
        (0..n).map(|i| file(&format!("component-{i}/kustomization.yaml"), own(i))).collect()
    }),
    line("configMapGenerator", &["ConfigMapGenerator"], |n| list(n, |i| format!("{{name: new-{i}, literals: [a=b]}}"))),
    line("configMapGenerator", &["ConfigMapGenerator"], |n| {
        list(n, |i| format!("{{name: settings-{i}, behavior: merge, literals: [m=n]}}"))
    }),
    line("secretGenerator", &["SecretGenerator"], |n| list(n, |i| format!("{{name: new-{i}, literals: [a=b]}}"))),
    line("generatorOptions", &[], |_| " {labels: {made: here}, annotations: {by: us}}\n".into()),
    line("generators", &["IAMPolicyGenerator"], |n| {
        objects(n, "IAMPolicyGenerator", |i| {
            let account = "serviceAccount: {name: a, projectId: p}";
            format!("cloud: gke\n  kubernetesService: {{name: new-{i}}}\n  {account}")
        })
    }),
    line("transformers", &["AnnotationsTransformer"], |_| {
        objects(1, "AnnotationsTransformer", |_| {
            "annotations: {e: f}\n  fieldSpecs: [{path: metadata/annotations, create: true}]".into()
        })
    }),
    line("transformers", &["HashTransformer"], |_| objects(1, "HashTransformer", |_| String::new())),
    line("transformers", &["ImageTagTransformer"], |_| {
        objects(1, "ImageTagTransformer", |_| "imageTag: {name: hub.example.com/team/app-0, newTag: '3'}".into())
    }),
    line("transformers", &["LabelTransformer"], |_| {
        objects(1, "LabelTransformer", |_| {
            "labels: {g: h}\n  fieldSpecs: [{path: metadata/labels, create: true}]".into()
        })
    }),
    line("transformers", &["NamespaceTransformer"], |_| {
        objects(1, "NamespaceTransformer", |_| "fieldSpecs: [{path: metadata/namespace, create: true}]".into())
    }),
    line("transformers", &["PatchJson6902Transformer"], |n| {
        objects(n, "PatchJson6902Transformer", |i| {
            let target = format!("target: {{group: apps, version: v1, kind: Deployment, name: app-{i}}}");
            format!("{target}\n  jsonOp: {}", operation("/spec/x6902"))
        })
    }),
    line("transformers", &["PatchStrategicMergeTransformer"], |n| {
        objects(n, "PatchStrategicMergeTransformer", |i| format!("patches: '{}'", deployment(i)))
    }),
    line("transformers", &["PatchTransformer"], |n| {
        objects(n, "PatchTransformer", |i| {
            format!("target: {{kind: Deployment, name: app-{i}}}\n  patch: {}", operation("/spec/xpatch"))
        })
    }),
    line("transformers", &["PrefixSuffixTransformer"], |_| {
        objects(1, "PrefixSuffixTransformer", |_| format!("prefix: a-\n  suffix: -z\n  {ALL_NAMES}"))
    }),
    line("transformers", &["PrefixTransformer"], |_| {
        objects(1, "PrefixTransformer", |_| format!("prefix: b-\n  {ALL_NAMES}"))
    }),
    line("transformers", &["ReplacementTransformer"], |n| {
        objects(n, "ReplacementTransformer", |i| format!("replacements: [{}]", replacement(i, "spec.xobject")))
    }),
    line("transformers", &["ReplicaCountTransformer"], |n| {
        objects(n, "ReplicaCountTransformer", |i| {
            format!(
                "replica: {{name: app-{i}, count: 4}}\n  fieldSpecs: [{{kind: Deployment, path: spec/replicas, create: true}}]"
            )
        })
    }),
    line("transformers", &["SuffixTransformer"], |_| {
        objects(1, "SuffixTransformer", |_| format!("suffix: -y\n  {ALL_NAMES}"))
    }),
    line("transformers", &["ValueAddTransformer"], |n| {
        objects(n, "ValueAddTransformer", |i| {
            let target = format!("{{selector: {{kind: Deployment, name: app-{i}}}, fieldPath: spec/added}}");
            format!("value: some\n  targets: [{target}]")
        })
    }),
    line("validators", &["AnnotationsTransformer"], |_| {
        objects(1, "AnnotationsTransformer", |_| "annotations: {}".into())
    }),
    line("namePrefix", &["PrefixTransformer"], |_| " p-\n".into()),
    line("nameSuffix", &["SuffixTransformer"], |_| " -s\n".into()),
    line("namespace", &["NamespaceTransformer"], |_| " all\n".into()),
    line("commonLabels", &["LabelTransformer"], |_| " {a: b}\n".into()),
    line("labels", &["LabelTransformer"], |_| list(1, |_| "{pairs: {c: d}, includeTemplates: true}".into())),
    line("commonAnnotations", &["AnnotationsTransformer"], |_| " {a: b}\n".into()),
    line("patchesStrategicMerge", &["PatchStrategicMergeTransformer"], |n| list(n, |i| format!("'{}'", deployment(i)))),
    line("patchesJson6902", &["PatchJson6902Transformer"], |n| {
        list(n, |i| {
            let target = format!("{{group: apps, version: v1, kind: Deployment, name: app-{i}}}");
            format!("{{target: {target}, patch: {}}}", operation("/spec/xjson"))
        })
    }),
    line("patches", &["PatchTransformer"], |n| list(n, |i| format!("patch: '{}'", deployment(i)))),
    line("patches", &["PatchTransformer"], |n| {
        list(n, |i| {
            let target = format!("{{kind: Deployment, name: app-{i}}}");
            format!("{{target: {target}, patch: {}}}", operation("/metadata/annotations"))
                .replace("\"1\"", "{\"patched\": \"1\"}")
        })
    }),
    line("patches", &["PatchTransformer"], |n| {
        let target = "{kind: ConfigMap, name: settings-0}";
        list(n, |i| format!("{{target: {target}, patch: {}}}", operation(&format!("/data/key-{i}"))))
    }),
    line("patches", &["PatchTransformer"], |n| {
        let patch = |step: usize| {
            let items = (0..n).map(|i| format!("{{name: e{}, value: v}}, ", i * step)).collect::<String>();
            let containers = format!("[{{name: main, env: [{items}]}}]");
            let object =
                deployment(0).replace("paused: true", &format!("template: {{spec: {{containers: {containers}}}}}"));
            format!("patch: '{object}'")
        };
        list(2, |i| patch(i + 1))
    }),
    line("images", &["ImageTagTransformer"], |n| {
        list(n, |i| format!("{{name: hub.example.com/team/app-{i}, newTag: '2'}}"))
    }),
    line("imageTags", &["ImageTagTransformer"], |n| {
        list(n, |i| format!("{{name: hub.example.com/team/app-{i}, newName: hub.example.com/new/app-{i}}}"))
    }),
    line("replicas", &["ReplicaCountTransformer"], |n| list(n, |i| format!("{{name: app-{i}, count: 2}}"))),
    line("replacements", &["ReplacementTransformer"], |n| list(n, |i| replacement(i, "spec.xfield"))),
    line("sortOptions", &[], |_| " {order: legacy}\n".into()),
    line("buildMetadata", &[], |_| " [managedByLabel, originAnnotations, transformerAnnotations]\n".into()).alone(),
    line("configurations", &[], |_| list(1, |_| "configuration.yaml".into())).with(|n| {
        let specs = lines(n, |i| format!("- {{kind: K{i}, path: spec/x, create: true}}\n"));
        let references = lines(n, |i| format!("- {{kind: K{i}, fieldSpecs: [{{kind: L{i}, path: spec/x}}]}}\n"));
        let text = format!("commonLabels:\n{specs}commonAnnotations:\n{specs}nameReference:\n{references}");
        vec![file("configuration.yaml", text)]
    }),
    line("crds", &[], |_| list(1, |_| "crds.json".into())).with(|n| {
        let spec = "{\"x-kubernetes-object-ref-api-version\": \"v1\", \"x-kubernetes-object-ref-kind\": \"ConfigMap\"}";
        let one = |i: usize| {
            format!(
                "{}\"example.com/v1.Bee{i}\": {{\"Schema\": {{\"properties\": {{\"apiVersion\": {{}}, \"kind\": {{}}, \
                 \"metadata\": {{}}, \"spec\": {spec}}}}}}}",
                if i == 0 { "" } else { ",\n" }
            )
        };
        vec![file("crds.json", format!("{{{}}}\n", lines(n, one)))]
    }),
    line("openapi", &[], |_| " {path: schema.json}\n".into()).with(|n| {
        let one = |i: usize| {
            let kind = format!("[{{\"group\": \"example.com\", \"version\": \"v1\", \"kind\": \"Bee{i}\"}}]");
            let comma = if i == 0 { "" } else { ",\n" };
            format!("{comma}\"example.Bee{i}\": {{\"type\": \"object\", \"x-kubernetes-group-version-kind\": {kind}}}")
        };
        vec![file("schema.json", format!("{{\"definitions\": {{{}}}}}\n", lines(n, one)))]
    }),
    line("vars", &[], |n| {
        list(n, |i| {
            let object = format!("{{apiVersion: v1, kind: ConfigMap, name: settings-{i}}}");
            format!("{{name: V{i}, objref: {object}, fieldref: {{fieldpath: data.k}}}}")
        })
    }),
];

/// The files of a build with some lines of the table.
fn files_of(chosen: &[&Line], n: usize) -> Files {
    let mut fields: BTreeMap<&str, String> = BTreeMap::from([("resources", "\n- all.yaml\n".to_owned())]);
    let mut files = vec![file("all.yaml", resources(n))];
    for line in chosen {
        *fields.entry(line.field).or_default() += &(line.value)(n);
        files.extend((line.files)(n));
    }
    let text: Vec<String> = fields.into_iter().map(|(field, value)| format!("{field}:{value}")).collect();
    files.push(file("kustomization.yaml", text.concat()));
    files
}

/// The steps of a build with some lines of the table.
fn steps(chosen: &[&Line], n: usize) -> f64 {
    steps_taken(&files_of(chosen, n)) as f64
}

#[test]
fn every_field_and_stage_has_a_line() {
    let have: BTreeSet<&str> = TABLE.iter().flat_map(|line| line.stages.iter().chain([&line.field])).copied().collect();
    let left_out = LEFT_OUT.map(|(name, _)| name);
    // Each stage of the plan is in the tables of built-in ones: it asserts that.
    for name in reference::kustomization_fields().chain(reference::builtin_kinds()) {
        let is_known = have.contains(name) != left_out.contains(&name);
        assert!(
            is_known,
            "{name} has no line in the table of tests/scaling/table.rs, or is left out there and has one"
        );
    }
}

/// The faults in the steps at three sizes. The steps that one more application takes may grow
/// by half of what they would grow by if each took a walk over all: walks take n x n steps, so
/// that from a to b one more takes a + b. What does not depend on n falls out. A sort of n texts
/// adds some five steps for each doubling.
fn complaint(chosen: &[&Line], sizes: [usize; 3], steps: [f64; 3]) -> Option<String> {
    let [a, b, c] = sizes;
    let [first, second] = [(0, b - a), (1, c - b)].map(|(i, more)| (steps[i + 1] - steps[i]) / more as f64);
    let names: Vec<String> = chosen.iter().map(|line| line.name()).collect();
    let is_linear = second - first <= (c - a) as f64 / 2.0;
    let growth = format!("{first:.0} steps for one more from {a} to {b}, {second:.0} from {b} to {c}");
    (!is_linear).then(|| format!("{}: {growth}", names.join(" and ")))
}

#[test]
fn each_line_alone() {
    in_turns(TABLE.iter().map(|line| vec![line]).collect(), |chosen| {
        let sizes = [50, 100, 200, 400];
        let taken = sizes.map(|n| steps(chosen, n));
        assert!(taken[0] > 50.0, "{}: the steps are not counted", chosen[0].name());
        let of = |i: usize| {
            complaint(chosen, [sizes[i], sizes[i + 1], sizes[i + 2]], [taken[i], taken[i + 1], taken[i + 2]])
        };
        of(0).or_else(|| of(1))
    });
}

/// Two lines together must not take steps that grow faster than those of each alone.
#[test]
fn each_pair_of_lines() {
    let sizes = [8, 16, 48];
    let none = sizes.map(|n| steps(&[], n));
    let alone: Vec<(&Line, [f64; 3])> = TABLE.iter().map(|line| (line, sizes.map(|n| steps(&[line], n)))).collect();
    let may_meet = |a: &Line, b: &Line| !a.is_alone && !b.is_alone && (a.field != b.field || a.is_list());
    let mut pairs = Vec::new();
    for (i, (a, _)) in alone.iter().enumerate() {
        pairs.extend((i + 1..alone.len()).filter(|&k| may_meet(a, alone[k].0)).map(|k| (i, k)));
    }
    in_turns(pairs, |&(i, k)| {
        let ((a, with_a), (b, with_b)) = (alone[i], alone[k]);
        let both = sizes.map(|n| steps(&[a, b], n));
        let beyond = [0, 1, 2].map(|size| both[size] - with_a[size] - with_b[size] + none[size]);
        complaint(&[a, b], sizes, beyond)
    });
}

/// Checks each choice of lines, on two threads; the complaints fail the test together.
fn in_turns<T: Send>(choices: Vec<T>, check: impl Fn(&T) -> Option<String> + Sync) {
    let (choices, complaints) = (Mutex::new(choices), Mutex::new(Vec::new()));
    let next = || choices.lock().unwrap().pop();
    let work = || {
        while let Some(choice) = next() {
            complaints.lock().unwrap().extend(check(&choice));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let complaints = complaints.into_inner().unwrap();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
