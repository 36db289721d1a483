//! `lint`: what its findings name, its settings, fixes and flags. The trees of testdata/lint are
//! cases of tests/cases/lint.rs.

use crate::support::Tree;
use crate::support::findings::lint;
use rustomize::diag::Code;
use std::collections::BTreeSet;
use std::fs;

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/lint");

fn tree(case: &str) -> Tree {
    Tree::new(&fs::read_to_string(format!("{CASES}/{case}.txtar")).unwrap())
}

#[test]
fn each_code_has_cases_that_fire_and_cases_that_do_not() {
    let codes = fs::read_dir(CASES).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let codes: BTreeSet<String> = codes.collect();
    let known = Code::FINDINGS.iter().map(|code| code.as_str().to_owned());
    assert_eq!(codes, known.collect());
    for code in codes {
        let names = fs::read_dir(format!("{CASES}/{code}")).unwrap();
        let names: Vec<_> = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        for word in ["fires", "silent"] {
            assert!(names.iter().any(|name| name.starts_with(word)), "{code}: {word}");
        }
    }
}

/// Each finding of a tree that fires, by the field that it names or the entry that it is about.
#[test]
fn findings_name_what_they_are_about() {
    let texts = |case: &str| tree(case).run(&["lint", "--error-format", "short"]).stderr;
    for (case, expected) in [
        (
            "no-effect/fires-2",
            &[
                "kustomization.yaml:2:18: 'idle.yaml' changes nothing",
                "kustomization.yaml:3:12: the number of replicas of 'main'",
                "kustomization.yaml:5:3: the labels change nothing at 'spec/labels'",
                "kustomization.yaml:8:3: the ConfigMap 'settings' has all",
                "mistyped.yaml:2:10: no resource is of the kind 'Widgte'",
            ][..],
        ),
        (
            "no-effect/fires-3",
            &[
                "base/kustomization.yaml:2:18: 'names.yaml' changes nothing: no resource is of a kind",
                "kustomization.yaml:4:3: 'types.json' changes nothing: no resource is of a kind",
                "kustomization.yaml:5:3: 'plain.json' changes nothing: no field of its types has an extension",
                "kustomization.yaml:6:10: 'schema.json' is not used: no resource has a kind and version",
                "part/kustomization.yaml:3:18: 'images.yaml' changes nothing: no resource is of a kind",
            ],
        ),
        ("no-effect/fires-4", &["kustomization.yaml:2:10: 'schema.json' is not used: no definition in it says"]),
        (
            "unknown-field-in-patch/fires",
            &[
                "8:53: the patch adds the field 'spec.template.spec.containers[0].imge'",
                "11:7: the patch adds the field 'replicas'",
                "12:70: the patch adds the field 'spec.template.spec.volumes[0].emptydir'",
                "13:3: the patch adds the field 'spec.sise', which a Pool does not have",
                "named.yaml:4:8: the patch adds the field 'spec.replcas', which a Deployment",
            ],
        ),
        ("overridden/fires-label-then-label", &["kustomization.yaml:3:3: the label 'team' is not in the output"]),
        (
            "overridden/fires-merge-patch-then-merge-patch",
            &[
                "first.yaml:5:13: this value is not in the output: a later patch",
                "first.yaml:6:11: this value",
                "first.yaml:7:20: this value",
                "first.yaml:12:16: 2 values from here on are not in the output",
                "first.yaml:13:32: this value",
            ],
        ),
        (
            "overridden/fires-merge-patch-then-json-patch",
            &["first.yaml:5:13: this value", "first.yaml:6:20: this value", "first.yaml:11:32: this value"],
        ),
        (
            "overridden/fires-patch-then-annotation",
            &["kustomization.yaml:7:46: this value is not in", "13:14: this value is not in the output: 'common"],
        ),
        ("overridden/fires-patch-then-deletion", &["kustomization.yaml:7:22: 2 values from here on are not"]),
        (
            "overridden/fires-patch-then-patches-json6902",
            &["kustomization.yaml:13:20: this value", "kustomization.yaml:17:44: this value"],
        ),
        ("nothing-to-replace/fires", &["kustomization.yaml:5:7: nothing to replace at '/spec/replicas'"]),
        (
            "list-replaced/fires",
            &[
                "8:7: the patch replaces the list 'spec.workers' as a whole: 1 of 2 items are gone",
                "9:14: the patch replaces the list 'spec.more.workers' as a whole: 1 of 1 items lose fields",
                "10:7: the patch replaces the list 'spec.rules' as a whole: 1 of 2 items are gone",
            ],
        ),
    ] {
        let text = texts(case);
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("findings:")).collect();
        assert_eq!(lines.len(), expected.len(), "{text}");
        for (line, expected) in lines.iter().zip(expected) {
            assert!(line.replace("Warning: ", "").replace("warning: ", "").contains(expected), "{expected}:\n{text}");
        }
    }
}

#[test]
fn some_codes_are_off_by_default() {
    for code in Code::FINDINGS {
        let is_off = Code::OFF_BY_DEFAULT.contains(code);
        let (found, _) = lint(&tree(&format!("{}/fires", code.as_str())), &[]);
        assert_eq!(found.is_empty(), is_off, "{}", code.as_str());
    }
    let tree = tree("clear-text-secret/fires");
    assert_eq!(lint(&tree, &["-W", "clear-text-secret", "-A", "clear-text-secret"]), (vec![], Some(0)));
    assert_eq!(tree.run(&["build", "--strict"]).status, Some(0));
}

/// The lines of a file with findings, in order.
fn lines(tree: &Tree, file: &str, args: &[&str]) -> Vec<u64> {
    let run = tree.run(&[&["lint", "--error-format", "json"], args].concat());
    let values = run.stderr.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    values.filter(|value| value["file"] == file).map(|value| value["line"].as_u64().unwrap()).collect()
}

#[test]
fn each_line_of_an_env_file_that_is_a_mistake_is_found() {
    let tree = tree("env-syntax/fires");
    assert_eq!(lines(&tree, "a.env", &[]), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(lines(&tree, "b.env", &[]), [1]);
}

#[test]
fn each_source_of_a_secret_is_found() {
    let tree = tree("clear-text-secret/fires");
    let found = |file| lines(&tree, file, &["-W", "clear-text-secret"]);
    assert_eq!((found("kustomization.yaml"), found("a.env"), found("login.yaml")), (vec![4, 6], vec![1], vec![4, 5]));
}

#[test]
fn each_kind_of_dangling_reference_is_found() {
    let tree = tree("dangling-reference/fires");
    assert_eq!((lines(&tree, "web.yaml", &[]), lines(&tree, "scaler.yaml", &[])), (vec![12, 15], vec![6]));
}

#[test]
fn findings_about_secrets_do_not_show_them() {
    for case in ["clear-text-secret/fires", "env-syntax/fires"] {
        for format in ["human", "short", "json", "sarif", "github"] {
            let run = tree(case).run(&["lint", "-W", "clear-text-secret", "--error-format", format]);
            assert!(!run.stderr.is_empty(), "{case} {format}");
            for secret in ["hunter", "aHVudGVyMg", "T0k3n"] {
                assert!(!run.stderr.contains(secret), "{case} {format}: {}", run.stderr);
            }
        }
    }
}

/// A tree with an entry without effect in a base, and a repository around it.
fn repository() -> Tree {
    let tree = tree("no-effect/fires");
    fs::create_dir(tree.path().join(".git")).unwrap();
    tree.write("base/kustomization.yaml", "namePrefix: a-\nimages: [{name: x, newTag: b}]\n");
    tree.write("site/kustomization.yaml", "resources: [../base]\nnameSuffix: -x\n");
    tree
}

#[test]
fn a_file_allows_findings_below_its_directory() {
    let found = |allow: &str, place: &str, root: &str| {
        let tree = repository();
        tree.write(place, &format!("lint:\n  allow:\n  - {allow}\n"));
        let found = lint(&tree, &[root]);
        let strict = tree.run(&["build", "--strict", root]);
        assert_eq!(found.1, strict.status, "{allow}");
        found.0.len()
    };
    let everywhere = "{code: no-effect, reason: sites differ}";
    assert_eq!(found("{code: bad-name, reason: x}", "rustomize.yaml", "site"), 1);
    assert_eq!(found(everywhere, "rustomize.yaml", "site"), 0);
    assert_eq!(found(everywhere, "site/rustomize.yaml", "site"), 0);
    assert_eq!(found(everywhere, "base/rustomize.yaml", "site"), 1);
    let in_base = "{code: no-effect, path: 'base/**', reason: sites differ}";
    assert_eq!(found(in_base, "rustomize.yaml", "site"), 0);
    assert_eq!(found(in_base, "rustomize.yaml", "./site/../site"), 0);
    assert_eq!(found("{code: no-effect, path: 'base/*.yml', reason: x}", "rustomize.yaml", "site"), 1);
}

#[test]
fn a_file_of_settings_that_is_wrong_is_an_error() {
    for (text, words) in [
        ("lint: {allow: [{code: no-effect}]}\n", ["missing field 'reason'", "rustomize.yaml:1:"]),
        ("lint: {alow: []}\n", ["unknown field \"alow\"", "did you mean 'allow'"]),
        ("lint: {allow: [{code: x, reason: why}]}\n", ["'x' is not the code of a finding", "rustomize explain --list"]),
    ] {
        let tree = repository();
        tree.write("rustomize.yaml", text);
        tree.run(&["lint", "site"]).fails_with(&words);
        tree.run(&["build", "--strict", "site"]).fails_with(&words);
        tree.run(&["build", "--strict", "site", "base"]).fails_with(&words);
        assert_eq!(tree.run(&["build", "site"]).status, Some(0));
    }
}

#[test]
fn a_link_in_place_of_a_file_of_settings_is_refused() {
    let tree = repository();
    tree.write("real.yaml", "lint: {allow: [{code: no-effect, reason: x}]}\n");
    std::os::unix::fs::symlink("real.yaml", tree.path().join("rustomize.yaml")).unwrap();
    tree.run(&["lint", "site"]).fails_with(&["is not a regular file", "RUSTOMIZE_SAFE_DIRECTORIES"]);
}

#[test]
fn each_kind_of_entry_without_effect_is_found() {
    let (found, _) = lint(&tree("no-effect/fires"), &[]);
    assert_eq!(found.len(), 4);
}

/// Several threads read the files, and finish in any order.
#[test]
fn findings_come_in_the_order_of_files_and_lines() {
    let names: Vec<String> = (0..40).map(|i| format!("{i:02}.yaml")).collect();
    let reversed: Vec<&str> = names.iter().rev().map(String::as_str).collect();
    let mut files = format!("-- kustomization.yaml --\nresources: [{}]\n", reversed.join(", "));
    for (i, name) in names.iter().enumerate() {
        let comments = "# lint: allow\n# another comment\n# lint: allow\n";
        files += &format!("-- {name} --\n{comments}apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{i}}}\n");
    }
    let tree = Tree::new(&files);
    let order = |args: &[&str]| -> Vec<String> {
        let stderr = tree.run(args).stderr;
        stderr.lines().filter_map(|line| Some(line.split_once(": warning: the comment")?.0.to_owned())).collect()
    };
    let expected: Vec<String> = names.iter().flat_map(|name| [1, 3].map(|line| format!("{name}:{line}:1"))).collect();
    assert_eq!(order(&["lint", "--error-format", "short"]), expected);
    assert_eq!(order(&["build", "--strict", "--error-format", "short"]), expected);
}

#[test]
fn a_strict_build_takes_findings_for_errors() {
    let tree = tree("no-effect/fires");
    let usual = tree.run(&["build"]);
    assert_eq!((usual.status, usual.stderr.as_str()), (Some(0), ""));
    let strict = tree.run(&["build", "--strict"]);
    assert_eq!((strict.status, strict.stdout.as_str()), (Some(1), ""));
}

#[test]
fn a_finding_of_a_shared_base_is_printed_once() {
    let tree = Tree::new("");
    tree.write("base/kustomization.yaml", "namePrefix: a-\nimages: [{name: x, newTag: b}]\n");
    for root in ["one", "two", "three"] {
        tree.write(&format!("{root}/kustomization.yaml"), "resources: [../base]\nnameSuffix: -x\n");
    }
    assert_eq!(lint(&tree, &["one", "two", "three"]), (vec!["no-effect".to_owned()], Some(1)));
}

/// The base and its findings are made once for all roots.
#[test]
fn a_configuration_of_a_shared_base_may_be_for_a_kind_of_one_root() {
    let tree = Tree::new("");
    tree.write("base/kustomization.yaml", "namePrefix: a-\nconfigurations: [names.yaml]\n");
    tree.write("base/names.yaml", "nameReference: [{kind: Widget, fieldSpecs: [{kind: Widget, path: spec/name}]}]\n");
    for root in ["one", "two", "three"] {
        tree.write(&format!("{root}/kustomization.yaml"), "resources: [../base, a.yaml]\nnameSuffix: -x\n");
        tree.write(&format!("{root}/a.yaml"), "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\n");
    }
    assert_eq!(lint(&tree, &["one", "two", "three"]), (vec![], Some(0)));
    let engine = "apiVersion: example.com/v1\nkind: Engine\nmetadata: {name: a}\n";
    tree.write("three/a.yaml", engine);
    assert_eq!(lint(&tree, &["one", "two", "three"]), (vec![], Some(0)));
    assert_eq!(lint(&tree, &["three"]), (vec!["no-effect".to_owned()], Some(1)));
    ["one/a.yaml", "two/a.yaml"].iter().for_each(|file| tree.write(file, engine));
    assert_eq!(lint(&tree, &["one", "two", "three"]), (vec!["no-effect".to_owned()], Some(1)));
}

/// A component works on whatever its users have: an entry may have an effect for another one.
#[test]
fn an_entry_of_a_component_may_be_without_effect() {
    let tree = Tree::new("");
    let head = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n";
    tree.write("part/kustomization.yaml", &format!("{head}images: [{{name: x, newTag: b}}]\n"));
    tree.write("root/kustomization.yaml", "components: [../part]\nnameSuffix: -x\n");
    assert_eq!(lint(&tree, &["root"]), (vec![], Some(0)));
    assert_eq!(lint(&tree, &["part"]), (vec![], Some(0)));
}

/// A base and a component whose configurations are of use for one root each.
const CONFIGURED: &str = "\
-- base/kustomization.yaml --
resources: [web.yaml]
configurations: [widgets.yaml, nowhere.yaml]
-- base/web.yaml --
apiVersion: v1
kind: Service
metadata: {name: web}
-- base/widgets.yaml --
namePrefix: [{kind: Widget, path: spec/name}]
-- base/nowhere.yaml --
namePrefix: [{kind: Rollout, path: spec/name}]
-- part/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
configurations: [gears.yaml]
resources: [settings.yaml]
-- part/gears.yaml --
namePrefix: [{kind: Gear, path: spec/name}]
-- part/settings.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
-- one/kustomization.yaml --
resources: [../base, widget.yaml]
components: [../part]
-- one/widget.yaml --
apiVersion: example.com/v1
kind: Widget
metadata: {name: main}
-- two/kustomization.yaml --
resources: [../base, gear.yaml]
components: [../part]
-- two/gear.yaml --
apiVersion: example.com/v1
kind: Gear
metadata: {name: main}
";

#[test]
fn configurations_that_another_root_uses_are_silent() {
    let tree = Tree::new(CONFIGURED);
    let found = |args: &[&str]| {
        let text = tree.run(&[&["lint", "--error-format", "short"], args].concat()).stderr;
        let findings = text.lines().filter(|line| line.contains("no-effect"));
        findings.map(|line| line.split('\'').nth(1).unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found(&["base"]), ["widgets.yaml", "nowhere.yaml"]);
    assert_eq!(found(&["one"]), ["nowhere.yaml", "gears.yaml"]);
    assert_eq!(found(&["two"]), ["widgets.yaml", "nowhere.yaml"]);
    assert_eq!(found(&["--all"]), ["nowhere.yaml"]);
    assert_eq!(found(&["--all", "--jobs", "1"]), ["nowhere.yaml"]);
    assert_eq!(found(&["one", "two"]), ["nowhere.yaml"]);
    // No user of the component is known here.
    assert_eq!(found(&["part"]), [""; 0]);
}

/// A base whose custom resource has the name of a generated ConfigMap, and mounts a missing one; an
/// overlay that has both.
const PART: &str = "\
-- base/kustomization.yaml --
resources: [app.yaml]
configMapGenerator: [{name: values, literals: [a=b]}]
-- base/app.yaml --
apiVersion: example.com/v1
kind: App
metadata: {name: app}
spec: {valuesFrom: {kind: ConfigMap, name: values}}
---
apiVersion: v1
kind: Pod
metadata: {name: app}
spec:
  containers:
  - name: app
    image: nginx
    envFrom: [{configMapRef: {name: valeus}}]
-- whole/kustomization.yaml --
resources: [../base]
configurations: [references.yaml]
configMapGenerator: [{name: valeus, literals: [a=b]}]
-- whole/references.yaml --
nameReference: [{kind: ConfigMap, fieldSpecs: [{kind: App, group: example.com, path: spec/valuesFrom/name}]}]
";

#[test]
fn a_part_of_another_root_may_lack_what_that_one_has() {
    let tree = Tree::new(PART);
    let found = |args: &[&str]| lint(&tree, args).0;
    assert_eq!(found(&["base"]), ["old-name", "dangling-reference"]);
    assert_eq!(found(&["--all"]), [""; 0]);
    tree.write("half/kustomization.yaml", "resources: [../base]\n");
    assert_eq!(found(&["--all"]), ["old-name", "dangling-reference"]);
    assert_eq!(found(&["--all", "whole"]), [""; 0]);
}

/// A tree with a finding of each kind that can be mended, and one that cannot.
const MENDABLE: &str = "\
-- site/kustomization.yaml --
resources: [../base]
namePrefix: a- # the site
-- base/kustomization.yaml --
# all of it
commonLabels: {app: web}
patchesStrategicMerge: [patch.yaml] # sizes
resources: [web.yaml, none.yaml]
configMapGenerator:
- name: settings
  envs: [settings.env]
-- base/patch.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: none}
data: {size: '2'}
-- base/none.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: none}
-- base/web.yaml --
apiVersion: v1
kind: service # typed by hand
metadata: {name: WEB}
-- base/settings.env --
# settings
export A=1
B: two words
C='3'
D=4 # four
";

#[test]
fn fixes_mend_what_is_sure_and_leave_all_other_bytes() {
    let tree = Tree::new(MENDABLE);
    let before = |name: &str| fs::read_to_string(tree.path().join(name)).unwrap();
    let (all, _) = lint(&tree, &["site"]);
    assert_eq!(all.len(), 7, "{all:?}");
    let run = tree.run(&["lint", "site", "--fix", "--error-format", "short"]);
    assert_eq!((run.status, run.stdout.as_str()), (Some(1), ""));
    assert_eq!(run.stderr.matches("fixed: ").count(), 6, "{}", run.stderr);
    assert!(run.stderr.contains("fixed: base/kustomization.yaml:2:1: 'commonLabels' is deprecated [deprecated]"));
    assert!(run.stderr.contains("base/settings.env:5:5: warning: the comment becomes"), "{}", run.stderr);
    assert!(run.stderr.contains("warning: Kubernetes refuses the name 'a-WEB'"), "{}", run.stderr);
    assert_eq!(before("base/settings.env"), "# settings\nA=1\nB=two words\nC=3\nD=4 # four\n");
    assert!(before("base/web.yaml").contains("\nkind: Service # typed by hand\n"));
    let kustomization = before("base/kustomization.yaml");
    assert!(kustomization.starts_with("# all of it\n"), "{kustomization}");
    assert!(
        kustomization.contains("{path: patch.yaml}] # sizes") && !kustomization.contains("commonLabels"),
        "{kustomization}"
    );
    assert_eq!(before("site/kustomization.yaml"), "resources: [../base]\nnamePrefix: a- # the site\n");
    let again = tree.run(&["lint", "site", "--fix", "--error-format", "short"]);
    assert!(!again.stderr.contains("fixed: "), "{}", again.stderr);
}

#[test]
fn a_dry_run_shows_changes_and_makes_none() {
    let tree = Tree::new(MENDABLE);
    let run = tree.run(&["lint", "site", "--fix", "--dry-run"]);
    assert_eq!((run.status, run.stdout.as_str()), (Some(1), ""));
    for line in [
        "would fix: base/web.yaml:2:7: ",
        "- kind: service # typed by hand",
        "+ kind: Service # typed by hand",
        "- C='3'",
        "+ C=3",
    ] {
        assert!(run.stderr.contains(line), "{line}: {}", run.stderr);
    }
    for (name, text) in crate::support::split(MENDABLE).1 {
        assert_eq!(fs::read_to_string(tree.path().join(&name)).unwrap(), text, "{name}");
    }
    tree.run(&["lint", "site", "--dry-run"]).fails_with(&["--fix"]);
}

#[test]
fn fixes_do_not_show_secrets() {
    let tree = tree("env-syntax/fires");
    for args in [&["lint", "--fix", "--dry-run"][..], &["lint", "--fix"]] {
        let run = tree.run(args);
        assert!(run.stderr.contains("b.env:1:1") && !run.stderr.contains("T0k3n"), "{}", run.stderr);
    }
    assert_eq!(fs::read_to_string(tree.path().join("b.env")).unwrap(), "A=T0k3n\n");
}

const RENAMED: &str = "-- site/kustomization.yaml --
resources: [../base]
namePrefix: dev-
-- base/kustomization.yaml --
# all of it
resources: [route.yaml, web.yaml] # two files
-- base/web.yaml --
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 80}]}
---
apiVersion: v1
kind: Secret
metadata: {name: key}
-- base/route.yaml --
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web}
spec: {rules: [{backendRefs: [{name: web, port: 80}]}], secretName: key}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: other}
spec: {rules: [{backendRefs: [{name: web, port: 80}]}]}
";

#[test]
fn references_that_stay_behind_get_an_entry_of_configurations() {
    let tree = Tree::new(RENAMED);
    let written = |name: &str| fs::read_to_string(tree.path().join(name)).ok();
    let dry = tree.run(&["lint", "site", "--fix", "--dry-run"]);
    assert!(dry.stderr.contains("base/name-references.yaml:\n+ nameReference:\n+ - kind: Secret\n"), "{}", dry.stderr);
    assert_eq!(written("base/name-references.yaml"), None);
    tree.run(&["lint", "site", "--fix"]).ok();
    let kustomization = written("base/kustomization.yaml").unwrap();
    assert_eq!(
        kustomization,
        "# all of it\nresources: [route.yaml, web.yaml] # two files\nconfigurations:\n- name-references.yaml\n"
    );
    let group = "group: gateway.networking.k8s.io";
    let entries = format!(
        "nameReference:\n- kind: Secret\n  fieldSpecs:\n  - {{kind: HTTPRoute, {group}, path: spec/secretName}}\n\
         - kind: Service\n  fieldSpecs:\n  - {{kind: HTTPRoute, {group}, path: spec/rules/backendRefs/name}}\n"
    );
    assert_eq!(written("base/name-references.yaml").unwrap(), entries);
    let output = tree.run(&["build", "site"]).ok();
    assert_eq!(output.matches("name: dev-web").count(), 4, "{output}");
    // A second reference is added to the list.
    let more = "---\napiVersion: example.com/v1\nkind: Door\nmetadata: {name: a}\nspec: {secretName: key}\n";
    tree.write("base/route.yaml", &(written("base/route.yaml").unwrap() + more));
    tree.run(&["lint", "site", "--fix"]).ok();
    let more = "- kind: Secret\n  fieldSpecs:\n  - {kind: Door, group: example.com, path: spec/secretName}\n";
    assert_eq!(written("base/name-references.yaml").unwrap(), entries + more);
    assert_eq!(written("base/kustomization.yaml").unwrap(), kustomization);
}

#[test]
fn references_stay_where_an_entry_is_not_sure_to_help() {
    // A file of the user with the name, which has more than references.
    let tree = Tree::new(RENAMED);
    tree.write("base/name-references.yaml", "images: []\n");
    let run = tree.run(&["lint", "site", "--fix"]);
    assert_eq!(run.status, Some(1));
    assert!(run.stderr.contains("base/kustomization.yaml: references stay: "), "{}", run.stderr);
    assert_eq!(fs::read_to_string(tree.path().join("base/name-references.yaml")).unwrap(), "images: []\n");
    // A pipe in the place of the file is not read.
    let tree = Tree::new(RENAMED);
    let pipe = tree.path().join("base/name-references.yaml");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
    tree.run(&["lint", "site", "--fix"]).fails_with(&["cannot read 'base/name-references.yaml'"]);
    // The kustomization in the directory of the file does not list it.
    let tree = Tree::new(RENAMED);
    tree.write("base/kustomization.yaml", "resources: []\n");
    tree.write("site/kustomization.yaml", "resources: [../base/route.yaml, ../base/web.yaml]\nnamePrefix: dev-\n");
    let run = tree.run(&["lint", "site", "--fix", "--load-restrictor", "LoadRestrictionsNone"]);
    assert!(run.stderr.contains("their file belongs to another kustomization"), "{}", run.stderr);
    assert!(!tree.path().join("base/name-references.yaml").exists());
}

/// The conversion of `patchesStrategicMerge` changes the order of patches.
#[test]
fn a_fix_that_would_change_the_output_is_left() {
    let tree = Tree::new("");
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {size: '1'}\n";
    tree.write("a.yaml", map);
    tree.write("first.yaml", &map.replace("'1'", "'2'"));
    tree.write("second.yaml", &map.replace("'1'", "'3'"));
    let text = "resources: [a.yaml]\npatches: [{path: second.yaml}]\npatchesStrategicMerge: [first.yaml]\n";
    tree.write("kustomization.yaml", text);
    let built = tree.run(&["build"]).stdout;
    let run = tree.run(&["lint", "--fix"]);
    assert_eq!(tree.run(&["build"]).stdout, built);
    let after = fs::read_to_string(tree.path().join("kustomization.yaml")).unwrap();
    assert_eq!(after == text, run.stderr.contains("deprecated fields stay: the output would change"), "{}", run.stderr);
    assert_eq!(after, text);
}

/// The warnings of a build that are findings of `lint`, too.
#[test]
fn what_is_not_used_is_told_with_its_place() {
    let tree = Tree::new("");
    let var = |name: &str| {
        format!(
            "- name: {name}\n  objref: {{apiVersion: v1, kind: ConfigMap, name: a}}\n  fieldref: {{fieldpath: data.k}}\n"
        )
    };
    let vars = [var("USED"), var("IDLE"), var("ALSO_IDLE")].concat();
    tree.write("kustomization.yaml", &format!("resources: [a.yaml]\nsortOptions: {{order: fifo}}\nvars:\n{vars}"));
    let labels = "metadata: {name: a, annotations: {x: $(USED)}}";
    tree.write("a.yaml", &format!("apiVersion: v1\nkind: ConfigMap\n{labels}\ndata: {{k: v}}\n"));
    let unused = |args: &[&str]| {
        let run = tree.run(&[args, &["--error-format", "short"]].concat());
        let lines = run.stderr.lines().filter(|line| line.ends_with("[unused]"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let never = "warning: well-defined vars that were never replaced:";
    assert_eq!(
        unused(&["lint"]),
        [
            format!("kustomization.yaml:7:3: {never} IDLE [unused]"),
            format!("kustomization.yaml:10:3: {never} ALSO_IDLE [unused]"),
        ]
    );
    // A build warns once, as kustomize does.
    assert_eq!(unused(&["build"]), [format!("kustomization.yaml:7:3: {never} IDLE,ALSO_IDLE [unused]")]);
    let twice = unused(&["build", "--reorder", "none"]);
    assert!(twice[0].starts_with("kustomization.yaml:2:1: warning: ") && twice.len() == 2, "{twice:?}");
}

/// A patch is for two resources, and a later one gives another kind to one of them.
#[test]
fn an_unknown_field_names_a_resource_that_keeps_its_kind() {
    let tree = Tree::new("");
    let web = |name: &str| {
        format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, labels: {{app: web}}}}\nspec: {{}}\n")
    };
    tree.write("web.yaml", &[web("agent"), web("web")].join("---\n"));
    tree.write(
        "kustomization.yaml",
        "resources: [web.yaml]\npatches:\n- target: {labelSelector: app=web}\n  patch: |-\n    - {op: add, path: /spec/serviceName, value: web}\n\
         - target: {name: agent}\n  patch: '[{\"op\": \"replace\", \"path\": \"/kind\", \"value\": \"StatefulSet\"}]'\n",
    );
    let run = tree.run(&["lint", "--error-format", "json"]);
    let finding: serde_json::Value = serde_json::from_str(run.stderr.trim()).unwrap();
    assert_eq!((&finding["code"], run.status), (&"unknown-field-in-patch".into(), Some(1)));
    assert!(finding["resource"].as_str().unwrap().ends_with(" web"), "{finding}");
}

#[test]
fn lint_can_check_schemas_too() {
    let tree = Tree::new("");
    tree.write("kustomization.yaml", "resources: [a.yaml]\n");
    tree.write("a.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {prots: []}\n");
    assert_eq!(lint(&tree, &[]), (vec![], Some(0)));
    let code = "unknown-field-of-kind".to_owned();
    assert_eq!(lint(&tree, &["--schema"]), (vec![code.clone()], Some(1)));
    assert_eq!(lint(&tree, &["--kubernetes-version", "1.31"]), (vec![code.clone()], Some(1)));
    assert_eq!(lint(&tree, &["--schema", "-A", &code]), (vec![], Some(0)));
    tree.write("rustomize.yaml", "lint: {allow: [{code: unknown-field-of-kind, path: a.yaml, reason: old}]}\n");
    assert_eq!(lint(&tree, &["--schema"]), (vec![], Some(0)));
    fs::remove_file(tree.path().join("rustomize.yaml")).unwrap();
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {prots: []} # lint: allow ";
    tree.write("a.yaml", &format!("{service}unknown-field-of-kind our server takes it\n"));
    assert_eq!(lint(&tree, &["--schema"]), (vec![], Some(0)));
    tree.write("a.yaml", &format!("{service}unknown-kind our server takes it\n"));
    assert_eq!(lint(&tree, &["--schema"]), (vec![code], Some(1)));
    tree.write("a.yaml", &format!("{service}unknown-field-of-kind\n"));
    assert_eq!(lint(&tree, &["-A", "unknown-field-of-kind"]), (vec!["bad-allow".to_owned()], Some(1)));
}

/// A plain build warns as kustomize does, whatever comments allow.
#[test]
fn a_comment_allows_a_deprecated_field() {
    let tree = tree("deprecated/silent");
    assert_eq!(lint(&tree, &[]), (vec![], Some(0)));
    let strict = tree.run(&["build", "--strict"]);
    assert_eq!((strict.status, strict.stderr.as_str()), (Some(0), ""));
    let usual = tree.run(&["build"]);
    assert_eq!((usual.status, usual.stderr.matches("is deprecated").count()), (Some(0), 2), "{}", usual.stderr);
}

/// Several roots of which none is built for itself alone.
#[test]
fn a_comment_allows_a_deprecated_field_of_a_shared_base() {
    let tree = tree("deprecated/silent");
    for root in ["one", "two", "three"] {
        tree.write(&format!("{root}/kustomization.yaml"), "resources: [../base]\nnameSuffix: -x\n");
    }
    assert_eq!(lint(&tree, &["one", "two", "three"]), (vec![], Some(0)));
}

#[test]
fn a_build_with_warnings_names_lint_on_a_terminal() {
    let tree = Tree::new("");
    tree.write("kustomization.yaml", "commonLabels: {a: b}\nconfigMapGenerator: [{name: a}]\n");
    tree.write("quiet/kustomization.yaml", "configMapGenerator: [{name: a}]\n");
    assert!(!tree.run(&["build"]).stderr.contains("lint"));
    let Some(warned) = tree.run_on_terminal("build .") else {
        crate::support::skip("no program 'script'");
        return;
    };
    let warned = warned.ok();
    assert!(warned.contains("'rustomize lint' looks for more mistakes"), "{warned}");
    assert!(!tree.run_on_terminal("build quiet").unwrap().ok().contains("lint"));
}
