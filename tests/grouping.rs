//! Messages that one place causes in many resources and roots: each is printed once, with the
//! number of resources and roots, or for all of them with `--each`.

use crate::support::fleet::fleet;
use crate::support::{Run, Tree};
use serde_json::Value;
use std::fmt::Write;
use std::fs;

/// The messages of a run in JSON, but notes and the last line of a command.
fn messages(run: &Run) -> Vec<Value> {
    let values = run.stderr.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    values.filter(|value| value["file"].is_string()).collect()
}

#[track_caller]
fn json(tree: &Tree, args: &[&str]) -> Vec<Value> {
    let run = tree.run(&[args, &["--error-format", "json"]].concat());
    assert_eq!((run.status, run.stdout.as_str()), (Some(1), ""), "{}", run.stderr);
    messages(&run)
}

fn replace(tree: &Tree, file: &str, old: &str, new: &str) {
    let text = fs::read_to_string(tree.path().join(file)).unwrap();
    assert!(text.contains(old), "{file}: {old}");
    tree.write(file, &text.replace(old, new));
}

const COMPONENT: &str = "components/observed/metrics.yaml";

/// A typo in a component that 120 environments use, as a finding of the schema check.
#[test]
fn a_typo_in_a_shared_component_is_one_finding() {
    let tree = fleet();
    replace(&tree, COMPONENT, "spec:\n  template", "spec:\n  replcas: 2\n  template");
    for command in
        [&["validate", "--schema", "--all"][..], &["lint", "--schema", "--only", "unknown-field-of-kind", "--all"]]
    {
        let found = json(&tree, command);
        let [finding] = &found[..] else { panic!("{}: {found:?}", found.len()) };
        assert_eq!((&finding["file"], &finding["count"]), (&COMPONENT.into(), &120.into()));
        assert_eq!((&finding["rootCount"], &finding["root"]), (&120.into(), &"services/accounts/dev".into()));
        let (occurrences, roots) = (finding["occurrences"].as_array().unwrap(), finding["roots"].as_array().unwrap());
        assert_eq!((occurrences.len(), roots.len()), (120, 120));
        let last =
            serde_json::json!({"root": "services/sessions/staging", "resource": "apps/v1 Deployment staging/sessions"});
        assert_eq!(occurrences[119], last);
    }
    // One of each in the other forms.
    let command = &["validate", "--schema", "--all"];
    let said = |args: &[&str]| tree.run(&[&command[..], args].concat()).stderr;
    let more = "and 119 more resources in 120 roots: services/accounts/dev, services/accounts/prod, \
        services/accounts/staging and 117 more";
    let github = said(&["--error-format", "github"]);
    assert_eq!(github.matches("title=unknown-field-of-kind").count(), 1);
    assert!(github.contains(&format!("%0A{more}%0Ahint: ")), "{github}");
    let human = said(&[]);
    assert!(human.contains(&format!("\n  = {more}\n")), "{human}");
    assert!(human.ends_with("Error: 120 faults in the resources, at 1 place\n"), "{human}");
    let short = said(&["--error-format", "short"]);
    assert!(short.contains(" (and 119 more resources in 120 roots) [unknown-field-of-kind]\n"), "{short}");
    let sarif: Value = serde_json::from_str(&said(&["--error-format", "sarif"])).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let results: Vec<&Value> = results.iter().filter(|result| result["ruleId"] != "usage").collect();
    assert_eq!((results.len(), &results[0]["occurrenceCount"]), (1, &120.into()));
    let related = results[0]["relatedLocations"].as_array().unwrap();
    let file = &related[0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!((related.len(), file), (100, &"services/accounts/prod/kustomization.yaml".into()));
    // All of them, each with its root.
    let each = json(&tree, &[&command[..], &["--each"]].concat());
    assert_eq!(each.len(), 120);
    assert!(each.iter().all(|finding| finding["count"].is_null() && finding["root"].is_string()));
    let lint = tree.run(&["lint", "--schema", "--only", "unknown-field-of-kind", "--all", "--each"]).stderr;
    assert_eq!(lint.matches("\n  = in services/").count(), 120, "{lint}");
}

#[test]
fn typos_at_two_places_are_two_findings() {
    let tree = fleet();
    replace(&tree, COMPONENT, "spec:\n  template", "spec:\n  replcas: 2\n  paused: 'no'\n  template");
    replace(&tree, "services/maps/base/service.yaml", "ports:", "prots:");
    let found = json(&tree, &["validate", "--schema", "--all"]);
    let mut counts: Vec<_> =
        found.iter().map(|finding| (finding["code"].as_str(), finding["count"].as_u64())).collect();
    counts.sort_unstable();
    let (unknown, missing) = (Some("unknown-field-of-kind"), Some("wrong-type-of-kind"));
    assert_eq!(counts, [(unknown, Some(4)), (unknown, Some(120)), (missing, Some(120))]);
}

/// A finding of lint about names, which differ from root to root.
#[test]
fn a_finding_with_another_name_in_each_root_is_one() {
    let tree = Tree::new("-- base/kustomization.yaml --\nresources: [web.yaml]\n");
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web, tier: back}}\n";
    let labels = "metadata: {labels: {app: web, tier: front}}";
    let deployment = format!(
        "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec: {{template: {{{labels}}}}}\n"
    );
    tree.write("base/web.yaml", &[service, &deployment].concat());
    for root in ["a", "b", "c", "d"] {
        tree.write(&format!("{root}/kustomization.yaml"), &format!("resources: [../base]\nnamePrefix: {root}-\n"));
    }
    let found = json(&tree, &["lint", "--all", "--leaves"]);
    assert_eq!((found.len(), &found[0]["count"], &found[0]["code"]), (1, &4.into(), &"service-without-pods".into()));
    let strict = json(&tree, &["build", "--strict", "--all", "--leaves"]);
    assert_eq!(strict[0], found[0]);
    let human = tree.run(&["lint", "a", "b"]).stderr;
    assert!(human.contains("\n  = and 1 more resource in a, b\n"), "{human}");
    assert!(human.ends_with("findings: 1, roots that do not build: 0, roots: 2\n"), "{human}");
    // One root names none.
    let human = tree.run(&["lint", "a"]).stderr;
    assert!(!human.contains("more resource") && !human.contains("= in a"), "{human}");
    assert_eq!(json(&tree, &["lint", "--each", "--all", "--leaves"]).len(), 4);
}

#[test]
fn an_error_of_a_shared_part_is_one() {
    let tree = fleet();
    replace(&tree, COMPONENT, "  name: any\n", "  nam: any\n");
    for command in ["build", "validate", "lint"] {
        let run = tree.run(&[command, "--all", "--leaves", "--keep-going"]);
        assert_eq!((run.status, run.stdout.as_str()), (Some(1), ""));
        assert_eq!(run.stderr.matches("missing metadata.name").count(), 1, "{}", run.stderr);
        let roots = "\n  = in 120 roots: services/accounts/dev, services/accounts/prod, services/accounts/staging and 117 more\n";
        assert!(run.stderr.contains(roots), "{}", run.stderr);
        let each = tree.run(&[command, "--all", "--leaves", "--keep-going", "--each"]).stderr;
        assert_eq!(each.matches("missing metadata.name").count(), 120);
    }
    let found = json(&tree, &["build", "--all", "--leaves", "--keep-going"]);
    assert_eq!((found.len(), &found[0]["rootCount"]), (1, &120.into()));
}

/// Roots have one fault in common, and one of them another one.
#[test]
fn roots_may_share_some_of_their_faults() {
    let tree = Tree::new("-- base/kustomization.yaml --\nnamePrefix: [a]\n");
    for root in ["a", "b", "c", "d"] {
        let own = if root == "c" { "resources: [../base, gone.yaml]\n" } else { "resources: [../base]\n" };
        tree.write(&format!("{root}/kustomization.yaml"), own);
    }
    let run = tree.run(&["build", "--all", "--leaves", "--keep-going"]);
    assert_eq!(run.stderr.matches("Error: expected a string").count(), 1, "{}", run.stderr);
    assert!(run.stderr.contains("\n  = in 4 roots: a, b, c and 1 more\n"), "{}", run.stderr);
    assert!(run.stderr.contains("gone.yaml") && run.stderr.contains("\n  = in c\n"), "{}", run.stderr);
    assert!(run.stderr.ends_with("Error: 4 of 4 roots failed\n"), "{}", run.stderr);
}

#[test]
fn a_warning_of_a_base_is_printed_once() {
    let tree = Tree::new("-- base/kustomization.yaml --\nresources: [a.yaml]\ncommonLabels: {a: b}\n");
    tree.write("base/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    for root in ["a", "b", "c", "d", "e"] {
        tree.write(&format!("{root}/kustomization.yaml"), "resources: [../base]\n");
    }
    let said = |args: &[&str]| tree.run(&[&["build", "--all", "--leaves", "-o", "out"], args].concat()).stderr;
    let (one, each) = (said(&[]), said(&["--each"]));
    assert!(one.starts_with("5 roots: a, b, c and 2 more: # Warning: 'commonLabels' is deprecated."), "{one}");
    assert_eq!((one.lines().count(), each.lines().count()), (1, 5), "{one}{each}");
    assert!(each.starts_with("a: # Warning: ") && each.contains("\ne: # Warning: "), "{each}");
}

/// One patch of one root brings an unknown field to several resources.
#[test]
fn a_finding_counts_the_resources_of_one_root() {
    let tree = Tree::new(
        "-- kustomization.yaml --\nresources: [all.yaml]\npatches: [{path: p.yaml, target: {kind: Deployment}}]\n",
    );
    let item =
        |name: &str| format!("---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec: {{}}\n");
    tree.write("all.yaml", &["d", "b", "a", "c", "e"].map(item).concat());
    tree.write("p.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: any}\nspec: {replcas: 2}\n");
    let found = json(&tree, &["lint"]);
    let resources: Vec<&Value> =
        found[0]["occurrences"].as_array().unwrap().iter().map(|one| &one["resource"]).collect();
    assert_eq!(resources, ["a", "b", "c", "d", "e"].map(|name| format!("apps/v1 Deployment {name}")).each_ref());
    assert_eq!((found.len(), &found[0]["count"], &found[0]["resource"]), (1, &5.into(), resources[0]));
    let human = tree.run(&["lint"]).stderr;
    let words = "and 4 more resources: apps/v1 Deployment b, apps/v1 Deployment c, apps/v1 Deployment d and 1 more\n";
    assert!(human.contains(words), "{human}");
    let each = json(&tree, &["lint", "--each"]);
    assert_eq!(each.iter().map(|finding| &finding["resource"]).collect::<Vec<_>>(), resources);
}

/// Names that look like commands of CI, markup or other messages.
#[test]
fn hostile_names_stay_in_one_message() {
    let tree = Tree::new("-- base/kustomization.yaml --\nresources: [web.yaml]\n");
    let name = "X\\n::error::y`|";
    let item = |kind: &str| format!("apiVersion: v1\nkind: {kind}\nmetadata: {{name: \"{name}\"}}\n");
    tree.write("base/web.yaml", &item("Service"));
    for root in ["a\n::error::b", "`<script>`", "::set-env::", "Error: x\nError: y"] {
        tree.write(&format!("{root}/kustomization.yaml"), "resources: [../base]\nnamespace: prod\n");
    }
    let base = ["lint", "--all", "--leaves", "--error-format"];
    for (format, lines) in [("github", 1), ("short", 1), ("json", 1), ("sarif", 1)] {
        let said = tree.run(&[&base[..], &[format]].concat()).stderr;
        let shown: Vec<&str> = said.lines().filter(|line| !line.starts_with("findings: ")).collect();
        assert_eq!((shown.len(), said.contains("bad-name")), (lines, true), "{format}: {said}");
        assert!(!said.lines().any(|line| line.trim_start().starts_with("::error::")), "{format}: {said}");
    }
    let human = tree.run(&["lint", "--all", "--leaves"]).stderr;
    assert!(human.contains("in 4 roots: ") && human.contains("\\n"), "{human}");
    assert!(!human.lines().any(|line| line.trim_start().starts_with("::") || line.starts_with("Error:")), "{human}");
}

/// 10,000 resources have the fault of one patch, and 10,000 others a fault of their own.
#[test]
fn ten_thousand_findings_of_one_place_are_one() {
    let mut text = String::new();
    for i in 0..10_000 {
        writeln!(text, "---\napiVersion: v1\nkind: Service\nmetadata: {{name: s{i}}}\nspec: {{ports: [{{port: 80}}]}}")
            .unwrap();
    }
    let tree = Tree::new(
        "-- kustomization.yaml --\nresources: [all.yaml]\npatches: [{path: p.yaml, target: {kind: Service}}]\n",
    );
    tree.write("all.yaml", &text);
    tree.write("p.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: any}\nspec:\n  slector: {a: b}\n");
    let found = json(&tree, &["validate", "--schema"]);
    assert_eq!(
        (found.len(), &found[0]["count"], found[0]["occurrences"].as_array().unwrap().len()),
        (1, &10_000.into(), 1000)
    );
    assert!(tree.run(&["validate", "--schema"]).stderr.contains("and 9999 more resources: Service s1, Service s"));
    // The limit of a code counts places.
    tree.write("p.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: any}\nspec: {selector: {a: b}}\n");
    tree.write("all.yaml", &text.replace("name: s", "name: S"));
    let run = tree.run(&["lint", "--only", "bad-name", "--error-format", "short"]);
    assert_eq!(run.stderr.matches(" [bad-name]\n").count(), 100, "{}", run.stderr);
    assert!(run.stderr.contains("9900 more findings of bad-name are not shown\n"), "{}", run.stderr);
    let each = tree.run(&["lint", "--only", "bad-name", "--error-format", "short", "--each"]).stderr;
    assert_eq!(each.matches(" [bad-name]\n").count(), 10_000);
}

/// A plugin changes the file that has the finding while it is being built.
#[test]
fn a_finding_shows_the_line_that_was_read() {
    for change in ["rm web.yaml kustomization.yaml", "echo > web.yaml", "seq 1 9999 > web.yaml"] {
        let tree = Tree::new("-- kustomization.yaml --\nresources: [web.yaml]\ngenerators: [made.yaml]\n");
        tree.write("web.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: WEB}\n");
        tree.write("made.yaml", "apiVersion: ex.io/v1\nkind: Maker\nmetadata: {name: m}\n");
        tree.plugin("Maker", &format!("#!/bin/sh\n{change}\n"));
        let args = ["lint", "--enable-alpha-plugins", "--plugin-isolation", "off"];
        let said = tree.run(&args).stderr;
        assert!(said.contains(" --> web.yaml:3:18\n") && said.contains("3 | metadata: {name: WEB}\n"), "{said}");
        let sarif: Value =
            serde_json::from_str(&tree.run(&[&args[..], &["--error-format", "sarif"]].concat()).stderr).unwrap();
        assert!(sarif["runs"][0]["results"].is_array());
    }
}
