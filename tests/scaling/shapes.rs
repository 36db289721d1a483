//! Shapes that once took more steps than their input has entries: two sizes of each.

use super::{Files, file, in_memory, layers_of, lines, resources, steps_taken, steps_with, with_entries};
use rustomize::{Options, Workspace, build};
use rustomize_base::meter;
use std::num::NonZero;

/// Steps per application may grow by this factor from 100 to 400. Order and look-ups in large
/// mappings take n log n comparisons: two doublings add up to a tenth.
const SLACK: f64 = 1.15;

#[track_caller]
fn check(what: &str, kustomization: impl Fn(usize) -> String) {
    check_files(what, |n| vec![("kustomization.yaml".into(), kustomization(n))]);
}

/// As [`check`], with other files beside the kustomization.
#[track_caller]
fn check_files(what: &str, files: impl Fn(usize) -> Files) {
    let per_application = |n: usize| {
        let mut all = vec![file("all.yaml", resources(n)), file("base/all.yaml", resources(n))];
        all.push(file("base/kustomization.yaml", "resources: [all.yaml]\nnamePrefix: b-\n"));
        all.extend(files(n));
        steps_taken(&all) as f64 / n as f64
    };
    let (small, large) = (per_application(100), per_application(400));
    assert!(small > 10.0, "{what}: the steps are not counted");
    assert!(large <= small * SLACK, "{what}: {small:.0} steps an application for 100, {large:.0} for 400");
}

#[test]
fn reading_and_printing() {
    check("plain", |_| "resources: [all.yaml]\n".into());
}

#[test]
fn field_transformers_and_references() {
    check("fields", |_| {
        "resources: [all.yaml]\nnamePrefix: p-\nnamespace: ns\nlabels: [{pairs: {a: b}, includeSelectors: true}]\n\
         commonAnnotations: {c: d}\nimages: [{name: hub.example.com/team/app-1, newTag: '2'}]\n"
            .into()
    });
}

#[test]
fn layers() {
    check("layers", |_| "resources: [base]\nnameSuffix: -s\n".into());
}

#[test]
fn a_patch_for_each_resource() {
    check("strategic merge patches", |n| {
        "resources: [all.yaml]\npatches:\n".to_owned()
            + &lines(n, |i| {
                format!(
                    "- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {{name: app-{i}}}\n    spec: {{replicas: 3}}\n"
                )
            })
    });
    check("deleting patches", |n| {
        "resources: [all.yaml]\npatches:\n".to_owned()
            + &lines(n / 2, |i| {
                format!(
                    "- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {{name: app-{i}}}\n    $patch: delete\n"
                )
            })
    });
    check("JSON patches", |n| {
        "resources: [all.yaml]\npatches:\n".to_owned()
            + &lines(n, |i| {
                format!(
                    "- target: {{kind: Deployment, name: app-{i}}}\n  patch: '[{{\"op\": \"add\", \"path\": \"/spec/x\", \"value\": 1}}]'\n"
                )
            })
    });
}

#[test]
fn generators() {
    check("generated", |n| {
        "resources: [all.yaml]\nconfigMapGenerator:\n".to_owned()
            + &lines(n, |i| format!("- {{name: gen-{i}, literals: [a=b]}}\n"))
    });
    check("merged", |n| {
        "resources: [all.yaml]\nconfigMapGenerator:\n".to_owned()
            + &lines(n, |i| format!("- {{name: settings-{i}, behavior: merge, literals: [a=b]}}\n"))
    });
}

#[test]
fn images_and_replicas() {
    check("images", |n| {
        "resources: [all.yaml]\nimages:\n".to_owned()
            + &lines(n, |i| format!("- {{name: hub.example.com/team/app-{i}, newTag: '2'}}\n"))
    });
    check("images that become each other", |n| {
        let name = |i| format!("hub.example.com/team/app-{i}");
        "resources: [all.yaml]\nimages:\n".to_owned()
            + &lines(n, |i| format!("- {{name: {}, newName: {}}}\n", name(i), name(i + 1)))
    });
    check("images by a pattern", |_| {
        "resources: [all.yaml]\nimages: [{name: 'hub[.]example[.]com/team/app-\\d+', newTag: '2'}]\n".into()
    });
    check("replicas", |n| {
        "resources: [all.yaml]\nreplicas:\n".to_owned() + &lines(n, |i| format!("- {{name: app-{i}, count: 2}}\n"))
    });
}

#[test]
fn one_large_mapping() {
    check("a large ConfigMap", |n| {
        "resources: [all.yaml]\nconfigMapGenerator:\n- name: large\n  literals:\n".to_owned()
            + &lines(n * 4, |i| format!("  - key-{i}=v\n"))
    });
}

/// A text that is made for each application, and its name in messages.
type Named = (&'static str, fn(usize) -> String);

/// A replacement from one ConfigMap, with targets.
fn replacement(i: usize, targets: &str) -> String {
    format!("- source: {{kind: ConfigMap, name: settings-{i}, fieldPath: data.k}}\n  targets:\n{targets}")
}

/// A target with a selector.
fn target(select: &str) -> String {
    format!("  - select: {{{select}}}\n    fieldPaths: [spec.x]\n    options: {{create: true}}\n")
}

/// A tree with one more resource, and replacements for it.
fn into_large(n: usize, large: String, one: impl Fn(usize) -> String) -> Vec<(String, String)> {
    let kustomization = with_entries(n, "replacements", one).replace("[all.yaml]", "[all.yaml, large.yaml]");
    vec![file("large.yaml", large), file("kustomization.yaml", kustomization)]
}

#[test]
fn replacements() {
    let selectors: [Named; 5] = [
        ("by name", |i| format!("kind: Deployment, name: app-{i}")),
        ("by a pattern with a beginning", |i| format!("kind: Deployment, name: '(app|web)-{i}(|.?0?x)'")),
        ("by namespace", |i| format!("kind: Deployment, namespace: ns-{i}")),
        ("by label", |i| format!("kind: Deployment, labelSelector: tier=t{i}")),
        ("by group", |i| format!("group: group-{i}")),
    ];
    for (what, select) in selectors {
        check(&format!("replacements {what}"), |n| {
            with_entries(n, "replacements", |i| replacement(i, &target(&select(i))))
        });
    }
    check("replacements of labels", |n| {
        with_entries(n, "replacements", |i| {
            let target = target(&format!("kind: Deployment, name: app-{i}"));
            replacement(i, &target.replace("spec.x", "metadata.labels.x"))
        })
    });
    check("replacements of one field", |n| {
        with_entries(n, "replacements", |i| replacement(i, &target("kind: Deployment, name: app-0")))
    });
    check("replacements of a kind", |n| {
        with_entries(n.min(5), "replacements", |_| replacement(0, &target("kind: Deployment")))
    });
    check_files("pieces of one text", |n| {
        let large = config_map("large").replace("k: v", &format!("k: {}x", "x-".repeat(n)));
        let target = "  - select: {kind: ConfigMap, name: large}\n    fieldPaths: [data.k]\n";
        let one = |i: usize| replacement(i, &format!("{target}    options: {{delimiter: '-', index: {i}}}\n"));
        into_large(n, large, one)
    });
    check_files("values in one text of JSON", |n| {
        let large = config_map("large")
            .replace("k: v", &format!("k: '{{{}\"z\": 1}}'", lines(n, |i| format!("\"k{i}\": \"v\", "))));
        let one = |i: usize| {
            replacement(i, &format!("  - select: {{kind: ConfigMap, name: large}}\n    fieldPaths: [data.k.k{i}]\n"))
        };
        into_large(n, large, one)
    });
    check("rejected resources", |n| {
        let rejects = lines(n, |i| format!("    - {{kind: Deployment, name: app-{i}}}\n"));
        let target =
            target("kind: Deployment").replace("    fieldPaths", &format!("    reject:\n{rejects}    fieldPaths"));
        format!("resources: [all.yaml]\nreplacements:\n{}", replacement(0, &target))
    });
    check("targets of one replacement", |n| {
        let targets = lines(n, |i| target(&format!("kind: Deployment, name: app-{i}")));
        format!("resources: [all.yaml]\nreplacements:\n{}", replacement(0, &targets))
    });
    check("field paths of one target", |n| {
        let paths = lines(n, |i| format!("    - spec.y.k{i}\n"));
        let target = target("kind: Deployment, name: app-0").replace("[spec.x]", &format!("\n{paths}"));
        format!("resources: [all.yaml]\nreplacements:\n{}", replacement(0, &target))
    });
    check_files("files of replacements", |n| {
        let one = |i: usize| {
            file(&format!("r{i}.yaml"), replacement(i, &target(&format!("kind: Deployment, name: app-{i}"))))
        };
        let mut files: Files = (0..n).map(one).collect();
        files.push(file("kustomization.yaml", with_entries(n, "replacements", |i| format!("- path: r{i}.yaml\n"))));
        files
    });
}

/// Applications of the same names, each in a namespace of its own.
fn in_namespaces(n: usize) -> (String, String) {
    let one = |i: usize| {
        resources(1)
            .replace("  name: settings-0\ndata", &format!("  name: settings-0\n  namespace: ns-{i}\ndata"))
            .replace("  name: app-0\n", &format!("  name: app-0\n  namespace: ns-{i}\n"))
    };
    file("all.yaml", lines(n, one))
}

#[test]
fn the_same_names_in_many_namespaces() {
    let check = |what: &str, kustomization: &dyn Fn(usize) -> String| {
        check_files(what, |n| vec![in_namespaces(n), file("kustomization.yaml", kustomization(n))]);
    };
    check("references", &|_| "resources: [all.yaml]\nnamePrefix: p-\n".into());
    check("replacements", &|n| {
        with_entries(n, "replacements", |i| {
            let target = target(&format!("kind: Deployment, name: app-0, namespace: ns-{i}"));
            replacement(0, &target).replace("name: settings-0", &format!("name: settings-0, namespace: ns-{i}"))
        })
    });
    check("vars", &|n| {
        with_entries(n, "vars", |i| var(i).replace(&format!("settings-{i}"), &format!("settings-0, namespace: ns-{i}")))
    });
    check("patches", &|n| {
        with_entries(n, "patches", |i| {
            json_patch(&format!("kind: Deployment, name: app-0, namespace: ns-{i}"), "/spec/x")
        })
    });
}

fn var(i: usize) -> String {
    format!(
        "- {{name: V{i}, objref: {{apiVersion: v1, kind: ConfigMap, name: settings-{i}}}, fieldref: {{fieldpath: data.k}}}}\n"
    )
}

#[test]
fn vars() {
    check("vars", |n| with_entries(n, "vars", var));
    check("vars of one resource", |n| {
        with_entries(n, "vars", |i| var(i).replace(&format!("settings-{i}"), "settings-0"))
    });
    check_files("vars that are used", |n| {
        let used = resources(n)
            .replace("        image: team/app:1\n", "        image: team/app:1\n        args: [$(V0), $(V7)$(V9)]\n");
        vec![file("all.yaml", used), file("kustomization.yaml", with_entries(n, "vars", var))]
    });
    check_files("vars of bases", |n| {
        layers_of(n, "resources", |i| {
            let own = format!("resources: [own.yaml]\nvars:\n{}", var(i)).replace(&format!("settings-{i}"), "own");
            vec![
                file("kustomization.yaml", own),
                file("own.yaml", config_map("own").replace("name: own", &format!("name: own\n  namespace: ns-{i}"))),
            ]
        })
        .into_iter()
        .map(|(name, text)| match name.strip_prefix("layer-").and_then(|rest| rest.split_once("/kustomization")) {
            Some((i, _)) => (name.clone(), text.replace("name: own}", &format!("name: own, namespace: ns-{i}}}"))),
            None => (name, text),
        })
        .collect()
    });
}

fn config_map(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  k: v\n")
}

fn json_patch(target: &str, path: &str) -> String {
    format!("- target: {{{target}}}\n  patch: '[{{\"op\": \"add\", \"path\": \"{path}\", \"value\": \"1\"}}]'\n")
}

#[test]
fn targets_of_patches() {
    let selectors: [Named; 5] = [
        ("name", |i| format!("kind: Deployment, name: app-{i}")),
        ("pattern", |i| format!("kind: Deployment, name: 'web-x|app-{i}'")),
        ("label", |i| format!("labelSelector: 'tier in (t{i}, u{i})'")),
        ("annotation", |i| format!("annotationSelector: a=b{i}")),
        ("kind", |i| format!("kind: Kind{i}")),
    ];
    for (what, select) in selectors {
        check(&format!("JSON patches by {what}"), |n| {
            with_entries(n, "patches", |i| json_patch(&select(i), "/spec/x"))
        });
        check(&format!("strategic merge patches by {what}"), |n| {
            with_entries(n, "patches", |i| {
                format!(
                    "- target: {{{}}}\n  patch: |-\n    kind: Deployment\n    metadata: {{name: any}}\n    spec: {{replicas: 3}}\n",
                    select(i)
                )
            })
        });
    }
    check("JSON patches that rename", |n| {
        with_entries(n, "patches", |i| {
            json_patch(&format!("kind: Deployment, name: app-{i}"), "/metadata/name")
                .replace("\"1\"", &format!("\"new-{i}\""))
        })
    });
    check("patches with origins", |n| {
        with_entries(n, "patches", |i| json_patch(&format!("kind: Deployment, name: app-{i}"), "/spec/x"))
            + "buildMetadata: [originAnnotations]\n"
    });
    check("patchesJson6902", |n| {
        with_entries(n, "patchesJson6902", |i| {
            json_patch(&format!("kind: Deployment, version: v1, group: apps, name: app-{i}"), "/spec/x")
        })
    });
    for directive in ["spec: {replicas: 3}", "$patch: delete"] {
        check("patchesStrategicMerge", |n| {
            with_entries(n / 2, "patchesStrategicMerge", |i| {
                format!(
                    "- |-\n  apiVersion: apps/v1\n  kind: Deployment\n  metadata: {{name: app-{i}}}\n  {directive}\n"
                )
            })
        });
    }
    check("PatchTransformers", |n| {
        with_entries(n, "transformers", |i| {
            format!(
                "- |-\n  apiVersion: builtin\n  kind: PatchTransformer\n  metadata: {{name: p{i}}}\n  target: {{name: app-{i}}}\n  patch: '[{{\"op\": \"add\", \"path\": \"/spec/x\", \"value\": 1}}]'\n"
            )
        })
    });
}

#[test]
fn many_edits_of_one_resource() {
    check("operations of one JSON patch", |n| {
        let operations = lines(n, |i| format!("    - {{op: add, path: /data/a{i}, value: b}}\n"));
        format!(
            "resources: [all.yaml]\npatches:\n- target: {{kind: ConfigMap, name: settings-0}}\n  patch: |-\n{operations}"
        )
    });
    check("JSON patches", |n| {
        with_entries(n, "patches", |i| json_patch("kind: ConfigMap, name: settings-0", &format!("/data/a{i}")))
    });
    check("generators that merge", |n| {
        with_entries(n, "configMapGenerator", |i| {
            format!("- {{name: settings-0, behavior: merge, literals: [a{i}=b]}}\n")
        })
    });
    check("a generator that merges much", |n| {
        let literals = lines(n * 4, |i| format!("  - a{i}=b\n"));
        format!(
            "resources: [all.yaml]\nconfigMapGenerator:\n- name: settings-0\n  behavior: merge\n  literals:\n{literals}"
        )
    });
    check("a long list that is merged", |n| {
        let list = |step: usize| lines(n, |i| format!("            - {{name: E{}, value: v}}\n", i * step));
        let patch = |step| {
            format!(
                "- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {{name: app-0}}\n    spec:\n      template:\n        spec:\n          containers:\n          - name: main\n            env:\n{}",
                list(step)
            )
        };
        format!("resources: [all.yaml]\npatches:\n{}{}", patch(1), patch(2))
    });
    check("a long list with an item that has no key", |n| {
        let list = lines(n, |i| format!("            - {{name: E{i}, value: v}}\n"));
        format!(
            "resources: [all.yaml]\npatches:\n- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {{name: app-0}}\n    spec:\n      template:\n        spec:\n          containers:\n          - name: main\n            env:\n{list}            - {{}}\n"
        )
    });
}

#[test]
fn configurations() {
    let sections: [Named; 4] = [
        ("commonLabels", |i| format!("- {{kind: K{i}, path: spec/x{i}, create: true}}\n")),
        ("commonLabels", |i| format!("- {{kind: K{i}, path: spec/x, create: true}}\n")),
        ("varReference", |i| format!("- {{kind: K{i}, path: spec/x{i}}}\n")),
        ("nameReference", |i| {
            format!("- kind: K{i}\n  fieldSpecs: [{{kind: L{i}, path: spec/x{i}}}, {{path: spec/y{i}}}]\n")
        }),
    ];
    for (section, line) in sections {
        check_files(section, |n| {
            let kustomization = format!(
                "resources: [all.yaml]\nnamePrefix: p-\ncommonLabels: {{a: b}}\nconfigurations: [c.yaml]\nvars:\n{}",
                var(0)
            );
            vec![file("c.yaml", format!("{section}:\n{}", lines(n, line))), file("kustomization.yaml", kustomization)]
        });
    }
    for (section, line) in [sections[0], sections[3]] {
        check_files(&format!("files of {section}"), |n| {
            let mut files: Files =
                (0..n).map(|i| file(&format!("c{i}.yaml"), format!("{section}:\n{}", line(i)))).collect();
            files.push(file("kustomization.yaml", with_entries(n, "configurations", |i| format!("- c{i}.yaml\n"))));
            files
        });
        check_files(&format!("bases with {section}"), |n| {
            layers_of(n, "resources", |i| {
                let own = "resources: [own.yaml]\nconfigurations: [c.yaml]\n";
                vec![
                    file("c.yaml", format!("{section}:\n{}", line(i))),
                    file("kustomization.yaml", own),
                    file("own.yaml", config_map(&format!("own-{i}"))),
                ]
            })
        });
    }
    check("fields of labels", |n| {
        let fields = lines(n, |i| format!("  - {{kind: K{i}, path: spec/x, create: true}}\n"));
        format!("resources: [all.yaml]\nlabels:\n- pairs: {{a: b}}\n  fields:\n{fields}")
    });
    check_files("kinds", |n| {
        let kinds =
            lines(n, |i| format!("---\napiVersion: g{i}.io/v1\nkind: K{i}\nmetadata: {{name: a}}\nspec: {{x: a}}\n"));
        let references = lines(n, |i| format!("- kind: K{i}\n  fieldSpecs: [{{kind: K{i}, path: spec/x}}]\n"));
        let order = lines(n, |i| format!("    - K{i}\n"));
        let kustomization = format!(
            "resources: [all.yaml]\nnamePrefix: p-\ncommonLabels: {{a: b}}\nconfigurations: [c.yaml]\nsortOptions:\n  order: legacy\n  legacySortOptions:\n    orderFirst:\n{order}"
        );
        vec![
            file("all.yaml", kinds),
            file("c.yaml", format!("nameReference:\n{references}")),
            file("kustomization.yaml", kustomization),
        ]
    });
}

#[test]
fn many_layers() {
    check_files("bases that add prefixes to the same names", |n| {
        layers_of(n, "resources", |i| {
            vec![
                file("kustomization.yaml", format!("resources: [own.yaml]\nnamePrefix: p{i}-\n")),
                file("own.yaml", resources(1)),
            ]
        })
    });
    check_files("bases with namespaces", |n| {
        layers_of(n, "resources", |i| {
            vec![
                file("kustomization.yaml", format!("resources: [own.yaml]\nnamespace: ns-{i}\n")),
                file("own.yaml", resources(1)),
            ]
        })
    });
    let component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n";
    let fields: [Named; 4] = [
        ("patches", |i| json_patch(&format!("name: app-{i}"), "/spec/x")),
        ("replacements", |i| replacement(i, &target(&format!("kind: Deployment, name: app-{i}")))),
        ("configMapGenerator", |i| format!("- {{name: gen-{i}, literals: [a=b]}}\n")),
        ("replicas", |i| format!("- {{name: app-{i}, count: 2}}\n")),
    ];
    for (field, entry) in fields {
        check_files(&format!("components with {field}"), |n| {
            layers_of(n, "components", |i| {
                vec![file("kustomization.yaml", format!("{component}{field}:\n{}", entry(i)))]
            })
        });
    }
}

#[test]
fn references_with_namespaces() {
    let accounts = |n: usize| {
        lines(n, |i| format!("---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: sa, namespace: ns-{i}}}\n"))
    };
    for (kind, place) in [("ClusterRoleBinding", "{name: b}"), ("RoleBinding", "{name: b, namespace: ns-0}")] {
        check_files(kind, |n| {
            let subjects = lines(n, |i| format!("- {{kind: ServiceAccount, name: sa, namespace: ns-{i}}}\n"));
            let binding = format!(
                "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata: {place}\nroleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}}\nsubjects:\n{subjects}"
            );
            vec![
                file("all.yaml", accounts(n) + &binding),
                file("kustomization.yaml", "resources: [all.yaml]\nnamePrefix: p-\n"),
            ]
        });
    }
    check_files("references from outside of the bases", |n| {
        let mut files = layers_of(n, "resources", |i| {
            vec![
                file("kustomization.yaml", format!("resources: [own.yaml]\nnamePrefix: p{i}-\n")),
                file("own.yaml", config_map("settings-0")),
            ]
        });
        let all = resources(n).replace("kind: ConfigMap", "kind: Other");
        files.push(file("all.yaml", all));
        files
    });
}

/// Two patches, each with a list of `n` items of one container: the second one meets what the first
/// one left.
fn lists_of(field: &str, item: impl Fn(usize) -> String) -> impl Fn(usize) -> String {
    move |n| {
        let patch = |from: usize| {
            let items: Vec<String> = (from..from + n).map(&item).collect();
            format!(
                "- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {{name: app-0}}\n    \
                 spec: {{template: {{spec: {{containers: [{{name: main, {field}: [{}]}}]}}}}}}\n",
                items.join(", ")
            )
        };
        format!("resources: [all.yaml]\npatches:\n{}{}", patch(0), patch(n / 2))
    }
}

#[test]
fn lists_merged_by_key() {
    check("one key", lists_of("env", |i| format!("{{name: e{i}, value: v}}")));
    check("one key and twins", lists_of("env", |i| format!("{{name: e{}, value: v}}", i / 2)));
    check(
        "one key, at times missing",
        lists_of("env", |i| if i % 3 == 0 { "{value: v}".to_owned() } else { format!("{{name: e{i}}}") }),
    );
    check(
        "one key, at times empty",
        lists_of("env", |i| if i % 3 == 0 { "{name: '', value: v}".to_owned() } else { format!("{{name: e{i}}}") }),
    );
    check("two keys", lists_of("ports", |i| format!("{{containerPort: {i}, protocol: TCP}}")));
    check(
        "two keys, at times one",
        lists_of("ports", |i| {
            let protocol = if i % 2 == 0 { ", protocol: TCP" } else { "" };
            format!("{{containerPort: {i}{protocol}}}")
        }),
    );
    check("two keys, never the first", lists_of("ports", |i| format!("{{protocol: P{i}}}")));
    check(
        "two keys with one text in common",
        lists_of("ports", |i| match i % 4 {
            0 => "{containerPort: 80}".to_owned(),
            1 => format!("{{protocol: P{i}}}"),
            _ => format!("{{containerPort: 80, protocol: P{i}}}"),
        }),
    );
}

/// A ConfigMap with `n` entries and as many annotations.
fn large(n: usize) -> String {
    let entries = |indent: &str| lines(n, |i| format!("{indent}k{i}: v\n"));
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: large\n  labels:\n    one: large\n{0}  annotations:\n    a: b\n{0}data:\n  k: v\n{1}",
        entries("    "),
        entries("  ")
    )
}

/// Patches that each change a little of one large resource.
#[track_caller]
fn check_large(what: &str, kustomization: impl Fn(usize) -> String) {
    check_files(what, |n| {
        let kustomization = kustomization(n).replace("[all.yaml]", "[all.yaml, large.yaml]");
        vec![file("large.yaml", large(n)), file("kustomization.yaml", kustomization)]
    });
}

#[test]
fn many_json_patches_of_one_large_resource() {
    let select = "kind: ConfigMap, name: large";
    let paths: [Named; 4] = [
        ("annotations", |i| format!("/metadata/annotations/k{i}")),
        ("new annotations", |i| format!("/metadata/annotations/n{i}")),
        ("labels", |i| format!("/metadata/labels/k{i}")),
        ("entries", |i| format!("/data/k{i}")),
    ];
    for (what, path) in paths {
        check_large(what, |n| with_entries(n, "patches", |i| json_patch(select, &path(i))));
        check_large(&format!("{what} of patchesJson6902"), |n| {
            with_entries(n, "patchesJson6902", |i| json_patch(&format!("version: v1, {select}"), &path(i)))
        });
        check_large(&format!("{what} found by a label"), |n| {
            with_entries(n, "patches", |i| json_patch(&format!("labelSelector: k{i}=v"), &path(i)))
        });
    }
    check_large("entries, with origins", |n| {
        with_entries(n, "patches", |i| json_patch(select, &format!("/data/k{i}")))
            + "buildMetadata: [originAnnotations]\n"
    });
}

#[test]
fn field_specs_for_all_kinds() {
    let uses = [
        ("commonLabels", "commonLabels: {a: b}"),
        ("commonAnnotations", "commonAnnotations: {a: b}"),
        ("namePrefix", "namePrefix: p-"),
        ("nameSuffix", "nameSuffix: -s"),
        ("namespace", "namespace: ns"),
        ("images", "images: [{name: a, newTag: b}]"),
        ("replicas", "replicas: [{name: app-0, count: 2}]"),
    ];
    let paths: [fn(usize) -> String; 3] =
        [|i| format!("x{i}/y"), |i| format!("spec/x{i}"), |i| format!("spec/template/spec/containers/x{i}")];
    for ((section, field), path) in uses.into_iter().flat_map(|one| paths.map(|path| (one, path))) {
        check_files(&format!("{section} at {}", path(0)), |n| {
            let specs = lines(n, |i| format!("- path: {}\n", path(i)));
            let kustomization = format!("resources: [all.yaml]\nconfigurations: [c.yaml]\n{field}\n");
            vec![file("c.yaml", format!("{section}:\n{specs}")), file("kustomization.yaml", kustomization)]
        });
    }
}

/// Layers upon each other. Each has a definition of a custom kind, a resource of that kind, and a
/// patch that is merged by the keys of the definition.
#[test]
fn definitions_of_custom_kinds_in_many_layers() {
    let definition = |i: usize| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: a{i}.ex.io}}\nspec:\n  group: ex.io\n  \
             names: {{kind: A{i}}}\n  versions:\n  - name: v1\n    schema: {{openAPIV3Schema: {{properties: {{list: {{type: array, \
             x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {{type: object}}}}}}}}}}\n---\napiVersion: ex.io/v1\n\
             kind: A{i}\nmetadata: {{name: a{i}}}\nlist: [{{k: x}}, {{k: y}}]\n"
        )
    };
    let options = Options { crd_merge_keys: true, ..Options::default() };
    let per_layer = |n: usize| {
        let files = layers_of(n, "resources", |i| {
            let patch = format!(
                "resources: [all.yaml]\npatches:\n- patch: '{{apiVersion: ex.io/v1, kind: A{i}, metadata: {{name: a{i}}}, \
                 list: [{{k: y, v: 1}}]}}'\n"
            );
            vec![file("all.yaml", definition(i)), file("kustomization.yaml", patch)]
        });
        steps_with(&files, &options) as f64 / n as f64
    };
    let (small, large) = (per_layer(100), per_layer(400));
    assert!(small > 10.0, "the steps are not counted");
    assert!(large <= small * SLACK, "{small:.0} steps a layer for 100, {large:.0} for 400");
}

/// A trace looks at what a generator has added or replaced, and not at everything that is there.
#[test]
fn a_trace_of_generators() {
    let options = Options { trace: true, ..Options::default() };
    for (what, behavior) in [("gen", "create"), ("settings", "merge")] {
        let per_generator = |n: usize| {
            let entry = |i| format!("- {{name: {what}-{i}, behavior: {behavior}, literals: [a=b]}}\n");
            let kustomization = "resources: [all.yaml]\nconfigMapGenerator:\n".to_owned() + &lines(n, entry);
            let files = vec![file("all.yaml", resources(n)), file("kustomization.yaml", kustomization)];
            steps_with(&files, &options) as f64 / n as f64
        };
        let (small, large) = (per_generator(100), per_generator(400));
        assert!(small > 10.0, "the steps are not counted");
        assert!(large <= small * SLACK, "{behavior}: {small:.0} steps a generator for 100, {large:.0} for 400");
    }
}

/// The lines and columns of many faults, and of many findings, are found in one walk over a file.
#[test]
fn places_of_many_faults_and_findings() {
    let per_fault = |n: usize| {
        let files = vec![
            file("kustomization.yaml", "resources: [all.yaml]\n"),
            file("all.yaml", lines(n, |i| format!("---\nkind: ConfigMap\ndata: {{a: {i}}}\n"))),
        ];
        let (files, workspace) = (in_memory(&files), Workspace::with_jobs(NonZero::<usize>::MIN));
        meter::reset();
        assert!(build(&workspace, &files, "root", &Options::default()).value.is_err());
        meter::taken() as f64 / n as f64
    };
    let per_finding = |n: usize| {
        let images = lines(n, |i| format!("- {{name: nobody-{i}, newTag: a}}\n"));
        let kustomization = format!("resources: [all.yaml]\nimages:\n{images}");
        let files = vec![file("all.yaml", resources(10)), file("kustomization.yaml", kustomization)];
        steps_with(&files, &Options { lint: true, ..Options::default() }) as f64 / n as f64
    };
    // Each Service selects the pods of all workloads, none of which has its port.
    let per_service = |n: usize| {
        let all = lines(n, |i| {
            format!(
                "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: app-{i}}}\nspec:\n  template:\n    \
                 metadata: {{labels: {{part: front}}}}\n    spec: {{containers: [{{name: a, image: a, \
                 ports: [{{name: http}}]}}]}}\n---\napiVersion: v1\nkind: Service\nmetadata: {{name: web-{i}}}\nspec: \
                 {{selector: {{part: front}}, ports: [{{targetPort: grpc}}]}}\n"
            )
        });
        let files = vec![file("kustomization.yaml", "resources: [all.yaml]\n"), file("all.yaml", all)];
        steps_with(&files, &Options { lint: true, ..Options::default() }) as f64 / n as f64
    };
    // Each Pod has a variable with the same long value.
    let per_variable = |n: usize| {
        let pods = lines(n, |i| {
            format!(
                "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: pod-{i}}}\nspec: {{containers: [{{name: a, image: a, \
                 env: [{{name: A, valueFrom: {{configMapKeyRef: {{name: long, key: a}}}}}}]}}]}}\n"
            )
        });
        let long = "x".repeat(100 * n);
        let map =
            format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: long}}\ndata: {{a: \"{long}\\n\"}}\n");
        let files = vec![file("kustomization.yaml", "resources: [all.yaml]\n"), file("all.yaml", pods + &map)];
        steps_with(&files, &Options { lint: true, ..Options::default() }) as f64 / n as f64
    };
    for (what, [small, large]) in [
        ("variable", [100, 400].map(per_variable)),
        ("fault", [100, 400].map(per_fault)),
        ("finding", [100, 400].map(per_finding)),
        ("Service", [200, 800].map(per_service)),
    ] {
        assert!(small > 10.0, "the steps are not counted");
        assert!(large <= small * SLACK, "{small:.0} steps a {what} for few, {large:.0} for four times as many");
    }
}
