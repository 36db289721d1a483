//! `explain`: where values come from, for people, for programs and in a browser.

use crate::browser::Page;
use crate::support::Tree;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;

/// An overlay with a patch, a component that puts a container in front, generators, a replacement,
/// and a resource that a patch deletes.
const SHOP: &str = "\
-- prod/kustomization.yaml --
namespace: shop
namePrefix: prod-
resources: [../base]
components: [../metrics]
images: [{name: web, newTag: v2}]
patches:
- path: limits.yaml
- patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: old}, $patch: delete}'
configMapGenerator:
- name: settings
  behavior: merge
  literals: [level=warn]
replacements:
- source: {kind: Deployment, name: web, fieldPath: spec.replicas}
  targets: [{select: {kind: ConfigMap, name: settings}, fieldPaths: [data.replicas]}]
-- prod/limits.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: {old: null}}
spec:
  replicas: 6
-- metrics/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
- target: {kind: Deployment}
  patch: |
    - {op: add, path: /spec/template/spec/containers/0, value: {name: exporter, image: exporter}}
-- base/kustomization.yaml --
resources: [web.yaml, service.yaml, old.yaml]
configMapGenerator: [{name: settings, literals: [level=info, replicas=0]}]
secretGenerator: [{name: login, literals: [password=correct-horse]}]
-- base/web.yaml --
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  annotations: {old: '1', example.com/a.b: x}
spec:
  replicas: 1
  template:
    spec:
      containers:
      - name: web
        image: web
        args: [a, b]
        envFrom: [{configMapRef: {name: settings}}]
-- base/service.yaml --
apiVersion: v1
kind: Service
metadata: {name: web}
-- base/old.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: old}
";

/// What `explain prod` says of a field, without the two lines about the resource.
#[track_caller]
fn field(tree: &Tree, resource: &str, field: &str) -> String {
    let text = tree.run(&["explain", "prod", resource, field]).ok();
    text.lines().skip(3).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_field_says_where_it_comes_from_and_what_has_changed_it() {
    let tree = Tree::new(SHOP);
    assert_eq!(
        tree.run(&["explain", "prod", "Deployment/web", "spec.replicas"]).ok(),
        "Deployment/shop/prod-web\n\
         \x20 from  base/web.yaml:1:1  resources, base/kustomization.yaml:1:13\n\
         \n\
         spec.replicas: 6\n\
         \x20   1       base/web.yaml:7:13\n\
         \x20   1 -> 6  PatchTransformer, prod/limits.yaml:5:13\n"
    );
    // The component's container is in front of this one: it was the first item, and is followed.
    let web = "spec.template.spec.containers[name=web].image: web:v2\n\
               \x20   web            base/web.yaml:12:16\n\
               \x20   web -> web:v2  ImageTagTransformer, prod/kustomization.yaml:5:22\n";
    for path in [
        "spec.template.spec.containers[name=web].image",
        "spec.template.spec.containers.[name=web].image",
        ".spec.template.spec.containers[1].image",
        "/spec/template/spec/containers/1/image",
    ] {
        assert_eq!(field(&tree, "Deployment/web", path), web, "{path}");
    }
    assert_eq!(
        field(&tree, "Deployment/web", "/spec/template/spec/containers/0/name"),
        "spec.template.spec.containers[name=exporter].name: exporter\n\
         \x20   none -> exporter  PatchTransformer, metrics/kustomization.yaml:6:71\n"
    );
    // A generated resource: its fields come from the literals, a second generator changes one.
    assert_eq!(
        field(&tree, "settings", "data"),
        "data.level: warn\n\
         \x20   info          ConfigMapGenerator, base/kustomization.yaml:2:50\n\
         \x20   info -> warn  ConfigMapGenerator, prod/kustomization.yaml:12:14\n\
         \n\
         data.replicas: 6\n\
         \x20   0       ConfigMapGenerator, base/kustomization.yaml:2:62\n\
         \x20   0 -> 6  ReplacementTransformer, prod/kustomization.yaml:15:70\n"
    );
    let name = field(&tree, "settings", "metadata.name");
    let steps: Vec<&str> = name.lines().skip(1).filter_map(|line| line.rsplit("  ").next()).collect();
    let wanted = [
        "ConfigMapGenerator, base/kustomization.yaml:2:22",
        "PrefixTransformer, prod/kustomization.yaml:2:1",
        "HashTransformer",
    ];
    assert_eq!(steps, wanted, "{name}");
    // A reference follows the name.
    let reference = field(&tree, "Deployment/web", "spec.template.spec.containers[1].envFrom");
    assert!(reference.contains("settings -> prod-settings-"), "{reference}");
    assert!(reference.contains("  NameReferenceTransformer\n"), "{reference}");
    // A field that a patch has removed.
    assert_eq!(
        field(&tree, "Deployment/web", "metadata.annotations.old"),
        "metadata.annotations.old: removed\n\
         \x20   1 -> none  PatchTransformer, prod/kustomization.yaml:6:1\n"
    );
    assert_eq!(
        field(&tree, "Deployment/web", "metadata.annotations.example.com/a.b"),
        "metadata.annotations.example.com/a.b: x  base/web.yaml:5:44\n"
    );
}

/// A tree with a value of each source that has lines of its own.
const SOURCES: &str = "\
-- kustomization.yaml --
resources:
- web.yaml
labels:
- includeTemplates: true
  pairs:
    team: shop
    tier: front
commonAnnotations:
  owner: us
images:
- name: web
  newTag: v2
- name: log
  newName: example.com/log
  digest: sha256:1234
replicas:
- name: web
  count: 3
configMapGenerator:
- name: settings
  envs: [app.env]
  files: [app.ini, other=app.ini]
  literals:
  - LEVEL=warn
-- app.env --
# comment
\u{20}
  PORT=80
MODE=fast
-- app.ini --
[main]
a = 1
-- web.yaml --
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  template:
    spec:
      containers:
      - name: web
        image: web:v1
      - name: log
        image: log
";

#[test]
fn a_value_leads_to_the_line_that_causes_it() {
    let tree = Tree::new(SOURCES);
    // Windows' line ends count as one.
    tree.write("app.env", "\u{feff}# comment\r\n \r\n  PORT=80\r\nMODE=fast\r\n");
    let place = |resource: &str, field: &str| {
        let text = tree.run(&["explain", ".", resource, field]).ok();
        text.trim_end().rsplit([' ', '\n']).next().unwrap().to_owned()
    };
    let check = |resource: &str, field: &str, want: &str| assert_eq!(place(resource, field), want, "{field}");
    check("settings", "data.PORT", "app.env:3:3");
    check("settings", "data.MODE", "app.env:4:1");
    check("settings", "data.LEVEL", "kustomization.yaml:24:5");
    check("settings", "data['app.ini']", "app.ini:1:1");
    check("settings", "data.other", "app.ini:1:1");
    check("Deployment/web", "spec.replicas", "kustomization.yaml:18:3");
    check("Deployment/web", "spec.template.spec.containers[name=web].image", "kustomization.yaml:12:3");
    check("Deployment/web", "spec.template.spec.containers[name=log].image", "kustomization.yaml:15:3");
    check("Deployment/web", "metadata.labels.team", "kustomization.yaml:6:11");
    check("Deployment/web", "metadata.labels.tier", "kustomization.yaml:7:11");
    check("Deployment/web", "spec.template.metadata.labels.tier", "kustomization.yaml:7:11");
    check("Deployment/web", "metadata.annotations.owner", "kustomization.yaml:9:10");
    // A file that is not a text has no lines: the entry names it.
    fs::write(tree.path().join("app.ini"), b"\xff\x00").unwrap();
    check("settings", "binaryData.other", "kustomization.yaml:22:20");
}

#[test]
fn blame_prints_the_output_with_the_line_that_each_line_comes_from() {
    let tree = Tree::new(SOURCES);
    let blame = tree.run(&["explain", "--blame"]).ok();
    let lines: Vec<(&str, &str)> = blame.lines().map(|line| line.split_once(" | ").unwrap()).collect();
    let text: String = lines.iter().map(|(_, text)| format!("{text}\n")).collect();
    assert_eq!(text, tree.run(&["build"]).ok(), "the text beside the places is that of a build");
    let places: Vec<String> =
        lines.iter().map(|(place, text)| format!("{} {}", place.trim_end(), text.trim_start())).collect();
    for want in [
        "app.env:3 PORT: \"80\"",
        "kustomization.yaml:24 LEVEL: warn",
        // The lines of a file are those of the value.
        "app.ini:1 app.ini: |",
        "app.ini:1 [main]",
        "app.ini:2 a = 1",
        // A key has the place of its own.
        "web.yaml:5 spec:",
        "web.yaml:8 spec:",
        "kustomization.yaml:18 replicas: 3",
        "kustomization.yaml:12 - image: web:v2",
        "web.yaml:10 name: web",
        "kustomization.yaml:20 kind: ConfigMap",
        " ---",
    ] {
        assert!(places.iter().any(|line| line == want), "{want}: {blame}");
    }
    // A block of YAML has its own lines.
    tree.write("web.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata:\n  a: |\n    x\n    y\n");
    tree.write("kustomization.yaml", "resources: [web.yaml]\n");
    assert_eq!(
        tree.run(&["explain", "--blame"]).ok(),
        "web.yaml:1 | apiVersion: v1\nweb.yaml:4 | data:\nweb.yaml:5 |   a: |\nweb.yaml:6 |     x\nweb.yaml:7 |     y\n\
         web.yaml:2 | kind: ConfigMap\nweb.yaml:3 | metadata:\nweb.yaml:3 |   name: web\n"
    );
    let fails = |args: &[&str], words: &[&str]| {
        tree.run(&[&["explain", "--blame"], args].concat()).fails_with(words);
    };
    fails(&[".", "web"], &["leave RESOURCE out"]);
    fails(&["-o", "html"], &["text and json"]);
}

/// What `explain FILE:LINE` says, without its first line.
#[track_caller]
fn line(tree: &Tree, args: &[&str]) -> String {
    let text = tree.run(&[&["explain"], args].concat()).ok();
    text.split_once('\n').unwrap().1.to_owned()
}

#[test]
fn a_line_says_what_it_becomes_in_which_roots() {
    let tree = Tree::new(SHOP);
    assert_eq!(
        tree.run(&["explain", "base/web.yaml:7"]).ok(),
        "base/web.yaml:7\n\
         \n\
         spec.replicas: 1\n\
         \x20   Deployment.apps/web            base\n\
         \x20   Deployment.apps/shop/prod-web  prod  overridden, 6: PatchTransformer, prod/limits.yaml:5:13\n"
    );
    // A place with a column, and one root.
    assert_eq!(
        line(&tree, &["base/web.yaml:4:9", "prod"]),
        "\nmetadata.name: web\n\
         \x20   Deployment.apps/shop/prod-web  prod  becomes prod-web: PrefixTransformer, prod/kustomization.yaml:2:1\n"
    );
    let removed = line(&tree, &["base/web.yaml:5"]);
    assert!(removed.contains("prod  removed: PatchTransformer, prod/kustomization.yaml:6:1\n"), "{removed}");
    let gone = line(&tree, &["base/old.yaml:2"]);
    assert!(gone.contains("ConfigMap/old  prod  removed: PatchTransformer"), "{gone}");
    // An entry, a literal, a base and a component.
    assert_eq!(
        line(&tree, &["prod/kustomization.yaml:5"]),
        "\nspec.template.spec.containers[name=web].image: web:v2\n    Deployment.apps/shop/prod-web  prod\n"
    );
    let base = line(&tree, &["prod/kustomization.yaml:3"]);
    assert!(base.starts_with("\nbase/kustomization.yaml\n    ConfigMap/shop/prod-settings-"), "{base}");
    assert_eq!(
        line(&tree, &["prod/kustomization.yaml:4"]),
        "\nmetrics/kustomization.yaml\n    Deployment.apps/shop/prod-web  prod\n"
    );
    // The name in a patch is a part of a patch.
    assert_eq!(
        tree.run(&["explain", "prod/limits.yaml:3", "prod"]).ok(),
        "prod/limits.yaml:3, a part of the lines 1 to 5\n\nspec.replicas: 6\n    Deployment.apps/shop/prod-web  prod\n"
    );
    // A secret is not shown, unless it is asked for.
    let secret = line(&tree, &["base/kustomization.yaml:3", "base"]);
    assert!(secret.contains("data.password: (hidden)\n") && !secret.contains("correct-horse"), "{secret}");
    let secret = line(&tree, &["base/kustomization.yaml:3", "base", "--show-secrets"]);
    assert!(secret.contains("data.password: Y29ycmVjdC1ob3JzZQ==\n"), "{secret}");
}

#[test]
fn a_line_without_effect_says_why() {
    let tree = Tree::new(SOURCES);
    let check = |line: usize, words: &str| {
        let place = format!("app.env:{line}");
        assert_eq!(tree.run(&["explain", &place]).ok(), format!("{place} has no effect: {words}\n"));
    };
    check(1, "the line is a comment");
    check(2, "the line is empty");
    assert_eq!(line(&tree, &["app.env:3"]).lines().nth(1), Some("data.PORT: 80"));
    // All lines of a file are parts of the value that it becomes.
    assert!(line(&tree, &["app.ini:2"]).starts_with("\ndata.app.ini: [main]\\na = 1"));
    tree.write("web.yaml", "# web\napiVersion: v1\nkind: Service\n---\n# end\n");
    tree.write("kustomization.yaml", "resources: [web.yaml]\nnameSuffix: ''\n");
    let text = tree.run(&["explain", "web.yaml:1"]);
    assert!(text.stderr.contains("web.yaml"), "a root that does not build is named: {}", text.stderr);
    tree.write("web.yaml", "# web\napiVersion: v1\nkind: Service\nmetadata: {name: web}\n---\n");
    for (place, reason) in [
        ("web.yaml:1", "the line is a comment"),
        ("web.yaml:5", "the line divides documents"),
        ("kustomization.yaml:2", "no value of the output comes from the line, or the value was there before, in ."),
    ] {
        assert_eq!(tree.run(&["explain", place]).ok(), format!("{place} has no effect: {reason}\n"));
    }
}

#[test]
fn a_line_that_cannot_be_explained_is_an_error_with_advice() {
    let tree = Tree::new(SHOP);
    let fails = |args: &[&str], words: &[&str]| {
        tree.run(&[&["explain"], args].concat()).fails_with(words);
    };
    fails(&["base/web.yaml:99"], &["'base/web.yaml' has no line 99", "rustomize explain base/web.yaml:14\n"]);
    fails(&["base/web.yaml:0"], &["has no line 0"]);
    fails(&["base/none.yaml:1"], &["'base/none.yaml': no such file"]);
    fails(&["base:1"], &["'base'"]);
    let remote = "https://example.com/shop?ref=v1/web.yaml:3";
    fails(&[remote], &["name the root that uses it"]);
    assert!(tree.run(&["explain", remote, "prod"]).ok().contains("has no effect"));
    tree.write("elsewhere.yaml", "a: 1\n");
    fails(
        &["elsewhere.yaml:1"],
        &["no kustomization below this directory reads", "rustomize explain elsewhere.yaml:1 ROOT"],
    );
    fails(&["base/web.yaml:1", "-o", "html"], &["text and json"]);
    fails(&["base/web.yaml:1", "--blame"], &["in one"]);
    // A root that does not build does not hide the others.
    tree.write("broken/kustomization.yaml", "resources: [../base, none.yaml]\n");
    let run = tree.run(&["explain", "base/web.yaml:7"]);
    assert!(run.stdout.contains("spec.replicas: 1"), "{}", run.stdout);
    assert!(run.stderr.contains("1 of 3 roots failed"), "{}", run.stderr);
}

#[test]
fn without_a_resource_all_are_listed() {
    let tree = Tree::new(SHOP);
    let text = tree.run(&["explain", "prod"]).ok();
    let rows: Vec<Vec<&str>> =
        text.lines().map(|line| line.split("  ").filter(|c| !c.is_empty()).map(str::trim).collect()).collect();
    assert_eq!(rows[0], ["RESOURCE", "FROM", "WRITES"]);
    assert_eq!(rows[3], ["Service/shop/prod-web", "base/service.yaml:1", "2"]);
    assert_eq!(
        rows[5],
        ["ConfigMap/old", "base/old.yaml:1", "removed by PatchTransformer, prod/kustomization.yaml:6:1"]
    );
    assert_eq!(rows.len(), 6, "{text}");
}

#[test]
fn resources_are_found_by_each_form_of_their_name() {
    let tree = Tree::new(SHOP);
    for word in [
        "Deployment/prod-web",
        "deployment/prod-web",
        "Deployment/web",
        "Deployment.apps/web",
        "Deployment.v1.apps/web",
        "Deployment/shop/prod-web",
        "deployment.apps/shop/web",
    ] {
        let text = tree.run(&["explain", "prod", word, "kind"]).ok();
        assert!(text.starts_with("Deployment/shop/prod-web\n"), "{word}: {text}");
    }
    // One that a step has removed says which.
    let removed = tree.run(&["explain", "prod", "ConfigMap/old"]).ok();
    assert!(removed.contains("\n  removed  "), "{removed}");
    let fails = |args: &[&str], words: &[&str]| {
        tree.run(&[&["explain", "prod"], args].concat()).fails_with(words);
    };
    fails(&["web"], &["'web' names 2 resources", "Service/shop/prod-web\n", "Deployment.apps/shop/prod-web\n"]);
    fails(&["Deployment/wbe"], &["has no resource 'Deployment/wbe'", "did you mean 'Deployment/web'?"]);
    fails(&["Pod/prod-web"], &["resources of this name", "Deployment.apps/shop/prod-web"]);
    fails(&["nothing-like-it"], &["all resources are listed by: rustomize explain prod\n"]);
    fails(&["a/b/c/d"], &["does not name a resource", "Deployment/shop/web"]);
    fails(&["Deployment/web", "spec.replica"], &["has no field 'spec.replica'", "did you mean 'spec.replicas'?"]);
    fails(&["Deployment/web", "/spec/replica"], &["did you mean '/spec/replicas'?"]);
    fails(&["Deployment/web", "nothing.like.it"], &["rustomize explain prod Deployment/shop/prod-web"]);
    fails(&["Deployment/web", "spec[x"], &["'spec[x' lacks a ']'"]);
    fails(&["-o", "yaml"], &["invalid value 'yaml'", "possible values: text, json, html"]);
    fails(&["-o", "html", "Deployment/web"], &["one page with all resources: leave RESOURCE out"]);
    fails(&["--all"], &["leave --all out"]);
}

/// A plugin prints all resources again: what it has not changed comes from where it came from.
#[test]
fn a_plugin_is_a_step_like_any_other() {
    let tree = Tree::new(SHOP);
    tree.write("plugged/kustomization.yaml", "resources: [../base]\ntransformers: [copy.yaml]\n");
    tree.write("plugged/copy.yaml", "apiVersion: ex.io/v1\nkind: Copy\nmetadata: {name: copy}\n");
    tree.plugin("Copy", "#!/bin/sh\nsed 's/replicas: 1/replicas: 5/'\n");
    let explain =
        |field: &str| tree.run(&["explain", "--enable-alpha-plugins", "plugged", "Deployment/web", field]).ok();
    assert!(
        explain("spec.replicas")
            .ends_with("spec.replicas: 5\n    1       base/web.yaml:7:13\n    1 -> 5  Copy, plugged/copy.yaml:1:1\n")
    );
    assert!(explain("metadata.name").ends_with("metadata.name: web  base/web.yaml:4:9\n"));
    let text = tree.run(&["explain", "--enable-alpha-plugins", "plugged", "-o", "json"]).ok();
    let all: Value = serde_json::from_str(&text).unwrap();
    let step = all["steps"].as_array().unwrap().iter().find(|step| step["step"] == "Copy").unwrap();
    assert_eq!((step["isPlugin"].as_bool(), step["role"].as_str()), (Some(true), Some("transform")));
    assert!(step["seconds"].as_f64().unwrap() > 0.0);
}

#[test]
fn secrets_are_hidden_unless_they_are_asked_for() {
    let tree = Tree::new(SHOP);
    tree.write(
        "prod/kept.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: kept, annotations: {kubectl.kubernetes.io/last-applied-configuration: Y29ycmVjdC1ob3JzZQ}}\n\
         stringData: {a: correct-horse}\n",
    );
    tree.write(
        "prod/kustomization.yaml",
        "resources: [../base, kept.yaml]\npatches: [{patch: '{apiVersion: v1, kind: Secret, metadata: {name: kept}, \
         stringData: {a: other-correct-horse}}'}]\n",
    );
    let page = tree.path().join("page.html");
    let page = page.to_str().unwrap();
    let secret = ["correct-horse", "Y29ycmVjdC1ob3JzZQ"];
    let has_secret = |text: &str| secret.iter().any(|secret| text.contains(secret));
    for (args, is_shown) in [(&["prod", "kept"][..], false), (&["prod", "kept", "--show-secrets"], true)] {
        let text = tree.run(&[&["explain"], args].concat()).ok();
        assert_eq!(has_secret(&text), is_shown, "{text}");
        assert_eq!(text.contains("(hidden) -> (hidden)"), !is_shown, "{text}");
        let json = tree.run(&[&["explain", "-o", "json"], args].concat()).ok();
        assert_eq!(has_secret(&json), is_shown, "{json}");
        tree.run(&[&["explain", "--html", page], args].concat()).ok();
        assert_eq!(has_secret(&fs::read_to_string(page).unwrap()), is_shown);
    }
    let login = tree.run(&["explain", "prod", "login", "data"]).ok();
    assert!(login.contains("data.password: (hidden)"), "{login}");
}

/// The names of the fields of a JSON value, as docs/explain.md lists them.
fn names(value: &Value, prefix: &str, into: &mut std::collections::BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| names(item, prefix, into)),
        Value::Object(entries) => {
            for (name, value) in entries {
                let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
                names(value, &name, into);
                into.insert(name);
            }
        }
        _ => {}
    }
}

#[test]
fn documented_json_fields_are_those_that_are_printed() {
    let tree = Tree::new(SHOP);
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/explain.md")).unwrap();
    for (head, calls) in [
        ("Without a resource", &[&["prod"][..]][..]),
        ("With a resource", &[&["prod", "Deployment/web"], &["prod", "ConfigMap/old"], &["prod", "settings"]]),
        ("With `--blame`", &[&["prod", "--blame"]]),
        ("Of a line", &[&["base/web.yaml:7"], &["prod/kustomization.yaml:3"]]),
    ] {
        let mut printed = std::collections::BTreeSet::new();
        for args in calls {
            let text = tree.run(&[&["explain", "-o", "json"], *args].concat()).ok();
            names(&serde_json::from_str(&text).unwrap(), "", &mut printed);
        }
        let section = page.split_once(&format!("### {head}\n")).unwrap().1.split("\n#").next().unwrap();
        let rows = section.lines().filter(|line| line.starts_with("| `"));
        let documented = rows.flat_map(|row| {
            row.split('|').nth(1).unwrap().split(',').map(|name| name.trim_matches([' ', '`']).to_owned())
        });
        assert_eq!(documented.collect::<std::collections::BTreeSet<_>>(), printed, "{head}");
    }
}

#[test]
fn colours_are_for_terminals_and_odd_characters_are_escaped() {
    let tree = Tree::new(SHOP);
    tree.write(
        "base/service.yaml",
        "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {a: \"x\\e[31m\\ny\", b: ''}\n",
    );
    let spec = |args: &[&str]| tree.run(&[&["explain", "prod", "Service/web", "spec"], args].concat()).ok();
    let plain = spec(&[]);
    assert!(plain.contains("spec.a: x\\u{1b}[31m\\ny  ") && plain.contains("spec.b: \"\"  "), "{plain}");
    assert!(!plain.contains('\x1b'));
    let colored = spec(&["--color", "always"]);
    assert!(colored.contains("\x1b[1mspec.a\x1b[0m: x\\u{1b}[31m"), "{colored}");
}

/// Names and values that would do something if a page took them for markup.
const HOSTILE: &str = "\
-- kustomization.yaml --
resources: [map.yaml]
namePrefix: a
-- map.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: '</script><script>window.hurt = 1</script>'}
data:
  '<img src=x onerror=\"window.hurt = 2\">': '<!--<script>'
  line: \"\\L\\P\"
  text: '{policy} {style} {script} {data}'
";

#[test]
fn a_page_is_one_file_that_loads_nothing() {
    let tree = Tree::new(HOSTILE);
    assert_eq!(tree.run(&["explain", "--html", "page.html"]).ok(), "");
    let page = fs::read_to_string(tree.path().join("page.html")).unwrap();
    let printed = tree.run(&["explain", "-o", "html"]).ok();
    assert_eq!(printed.lines().count(), page.lines().count(), "stdout and a file have the same page");
    let (head, data) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    let (data, tail) = data.split_once("</script>").unwrap();
    assert!(!data.contains(['<', '>', '\u{2028}', '\u{2029}']), "{data}");
    assert_eq!(tail.trim(), "</body>\n</html>");
    let data: Value = serde_json::from_str(data).unwrap();
    let texts = data["texts"].as_array().unwrap();
    for text in [
        "a</script><script>window.hurt = 1</script>",
        "<!--<script>",
        // What cannot be seen is an escape for the reader of the page, too.
        r"\u{2028}\u{2029}",
        "{policy} {style} {script} {data}",
    ] {
        assert!(texts.iter().any(|one| one == text), "{text}");
    }
    assert!(head.contains("default-src 'none'; style-src 'sha256-"), "{head}");
    // Addresses, and attributes that load a file.
    let namespace = "http://www.w3.org/2000/svg";
    let head = head.replace(namespace, "");
    for word in ["http:", "https:", " src=", "url(", "@import", "fetch(", "XMLHttp", "innerHTML"] {
        assert!(!head.contains(word), "{word}");
    }
    // With a resource both are made.
    let text =
        tree.run(&["explain", "--html", "other.html", ".", "ConfigMap/a</script><script>window.hurt = 1</script>"]);
    assert!(text.stderr.contains("does not name a resource"), "{}", text.stderr);
    tree.run(&["explain", "--html", "nowhere/page.html"]).fails_with(&["nowhere/page.html"]);
}

#[test]
fn a_page_takes_nothing_for_markup() {
    let tree = Tree::new(HOSTILE);
    tree.run(&["explain", "--html", "page.html"]).ok();
    let Some(mut page) = Page::open(&tree.path().join("page.html"), (1200, 800)) else {
        return;
    };
    assert_eq!(page.text("document.querySelector('.row b').textContent"), "a</script><script>window.hurt = 1</script>");
    page.press("ArrowDown");
    page.evaluate("document.querySelectorAll('.field > .line').forEach(line => line.click())");
    let paths = page.text("[...document.querySelectorAll('.path')].map(path => path.textContent).join(' ')");
    assert!(paths.contains("data.<img src=x onerror=\"window.hurt = 2\">"), "{paths}");
    let values = page.text("[...document.querySelectorAll('.history pre')].map(one => one.textContent).join(' ')");
    assert!(values.contains("<!--<script>") && values.contains("{policy} {style} {script} {data}"), "{values}");
    assert_eq!(page.evaluate("document.querySelectorAll('img, script').length"), 2, "the page has two scripts");
    assert_eq!(page.text("typeof window.hurt"), "undefined");
}

#[test]
fn a_page_is_used_by_keys() {
    let tree = Tree::new(SHOP);
    tree.run(&["explain", "prod", "--html", "page.html"]).ok();
    let Some(mut page) = Page::open(&tree.path().join("page.html"), (1200, 800)) else {
        return;
    };
    // The pipeline: a card for each kustomization, and a line from each base and component.
    let cards = "[...document.querySelectorAll('.layer h3')].map(head => head.textContent).join(' ')";
    assert_eq!(
        page.text(cards),
        "basebase/kustomization.yaml componentmetrics/kustomization.yaml rootprod/kustomization.yaml"
    );
    assert_eq!(page.evaluate("document.querySelectorAll('#graph svg path').length"), 2);
    let title = "document.querySelector('h2').textContent";
    let rows = "document.querySelectorAll('.row').length";
    assert_eq!(page.evaluate(rows), 5);
    for key in ["/", "v", "2"] {
        page.press(key);
    }
    // One resource has the text in a field.
    assert_eq!(page.evaluate(rows), 1);
    assert_eq!(page.text("document.getElementById('count').textContent"), "1 resource, 1 by a field");
    page.press("Enter");
    assert_eq!(page.text(title), "prod-web Deployment.apps in shop");
    // The first field has the focus; fields are opened with arrows.
    let path = "document.activeElement.querySelector('.path').textContent";
    assert_eq!(page.text(path), "apiVersion");
    while page.text(path) != "spec.replicas" {
        page.press("ArrowDown");
    }
    page.press("ArrowRight");
    let history = "[...document.querySelectorAll('.history li')].map(item => item.textContent).join('; ')";
    assert_eq!(page.text(history), "from base/web.yaml:7:131; PatchTransformer prod/limits.yaml:5:1316");
    let address = page.text("location.hash");
    assert!(address.contains("f=%2Fspec%2Freplicas"), "{address}");
    page.press("ArrowLeft");
    assert_eq!(page.text(history), "");
    // Back to the list, then to the pipeline; the search is given up.
    page.press("Escape");
    assert_eq!(page.text("document.activeElement.id"), "list");
    page.press("Escape");
    assert_eq!(page.text(title), "Pipeline");
    page.press("/");
    page.press("Escape");
    assert_eq!(page.evaluate(rows), 5);
    // A step lists the resources that it has touched.
    page.evaluate(
        "[...document.querySelectorAll('.steps button')].find(one => one.textContent.startsWith('ImageTag')).click()",
    );
    assert_eq!(page.evaluate(rows), 1);
    assert_eq!(page.text("document.getElementById('filter').textContent"), "Touched by ImageTagTransformer clear");
    // An address leads to a field.
    page.evaluate(&format!("location.hash = '{address}'"));
    page.evaluate("new Promise(done => setTimeout(done))");
    assert_eq!(page.text(history), "from base/web.yaml:7:131; PatchTransformer prod/limits.yaml:5:1316");
}

#[test]
fn a_page_of_many_resources_makes_the_rows_that_are_seen() {
    let tree = Tree::new("-- kustomization.yaml --\nresources: [all.yaml]\nnamePrefix: a-\n");
    let mut all = String::new();
    (0..2000).for_each(|i| {
        let _ = write!(
            all,
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: map-{i}}}\ndata: {{size: value-{i}}}\n"
        );
    });
    tree.write("all.yaml", &all);
    tree.run(&["explain", "--html", "page.html"]).ok();
    let Some(mut page) = Page::open(&tree.path().join("page.html"), (1200, 800)) else {
        return;
    };
    let rows = page.evaluate("document.querySelectorAll('.row').length").as_u64().unwrap();
    assert!((10..40).contains(&rows), "{rows}");
    let last = "[...document.querySelectorAll('.row b')].at(-1).textContent";
    page.evaluate("new Promise(done => { list.onscroll = () => requestAnimationFrame(done); list.scrollTop = 1e9; })");
    // The output is in the order of names.
    assert_eq!(page.text(last), "a-map-999");
    // The list shows the resource of an address.
    page.evaluate("location.hash = '#r=ConfigMap/a-map-1500'; new Promise(done => setTimeout(done))");
    assert_eq!(page.text("document.querySelector('[aria-selected=true] b').textContent"), "a-map-1500");
    page.evaluate("search.value = 'value-1234'; search.dispatchEvent(new Event('input'))");
    assert_eq!(page.text(last), "a-map-1234");
}

#[test]
fn a_page_of_a_fleet_draws_repeated_parts_once() {
    let mut tree = String::from("-- kustomization.yaml --\nresources:\n");
    for i in 0..20 {
        let _ = writeln!(tree, "- services/{i:02}/prod");
    }
    tree.push_str("-- part/kustomization.yaml --\nkind: Component\ncommonAnnotations: {a: b}\n");
    for i in 0..20 {
        let _ = write!(
            tree,
            "-- services/{i:02}/base/kustomization.yaml --\nresources: [map.yaml]\n\
             -- services/{i:02}/base/map.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: map-{i}}}\n\
             -- services/{i:02}/prod/kustomization.yaml --\nresources: [../base]\ncomponents: [../../../part]\nnamePrefix: p-\n"
        );
    }
    let tree = Tree::new(&tree);
    tree.run(&["explain", "--html", "page.html"]).ok();
    let Some(mut page) = Page::open(&tree.path().join("page.html"), (1440, 900)) else {
        return;
    };
    let heads = "[...document.querySelectorAll('.layer h3')].map(head => head.textContent).sort().join('; ')";
    assert_eq!(
        page.text(heads),
        "base × 20services/*/base/kustomization.yaml; base × 20services/*/prod/kustomization.yaml; \
         component × 20part/kustomization.yaml; rootkustomization.yaml"
    );
    assert_eq!(page.evaluate("document.querySelectorAll('#graph svg path').length"), 3);
    // A folded card lists its kustomizations, and one of them is shown alone.
    let card = "[...document.querySelectorAll('.layer')].find(one => one.textContent.includes('*/prod/'))";
    assert_eq!(page.evaluate(&format!("{card}.querySelectorAll('.members button').length")), 0);
    page.evaluate(&format!("{card}.querySelector('.fold').click()"));
    assert_eq!(page.evaluate(&format!("{card}.querySelectorAll('.members button').length")), 20);
    page.evaluate(&format!("{card}.querySelectorAll('.members button')[7].click()"));
    assert_eq!(
        page.text(heads),
        "baseservices/07/base/kustomization.yaml; baseservices/07/prod/kustomization.yaml; \
         componentpart/kustomization.yaml; rootkustomization.yaml"
    );
    page.press("Escape");
    assert!(page.text(heads).contains("base × 20services/*/prod/"));
    // Each card is in the window, at each width.
    for width in [1440, 800, 390] {
        let size = serde_json::json!({"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": false});
        page.send("Emulation.setDeviceMetricsOverride", size);
        page.evaluate(
            "location.hash = '#pipeline'; new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))",
        );
        let outside = "[...document.querySelectorAll('.layer')].filter(one => one.getBoundingClientRect().right > innerWidth).length";
        assert_eq!(page.evaluate(outside), 0, "{width}");
    }
    // The number of a line is never cut, however long the name of its file is.
    page.evaluate("location.hash = '#r=ConfigMap/p-map-7'; new Promise(done => setTimeout(done, 50))");
    let cut = "[...document.querySelectorAll('.badge .at')].filter(at => at.getBoundingClientRect().right > \
               at.closest('.line').getBoundingClientRect().right || at.scrollWidth > at.offsetWidth + 1).length";
    assert!(page.evaluate("document.querySelectorAll('.badge .at').length").as_u64().unwrap() > 0);
    assert_eq!(page.evaluate(cut), 0);
}
