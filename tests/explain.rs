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
               \x20   web -> web:v2  ImageTagTransformer, prod/kustomization.yaml:5:1\n";
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
    // A generated resource: its fields come from the entry, a second generator changes one.
    assert_eq!(
        field(&tree, "settings", "data"),
        "data.level: warn\n\
         \x20   info          ConfigMapGenerator, base/kustomization.yaml:2:22\n\
         \x20   info -> warn  ConfigMapGenerator, prod/kustomization.yaml:10:3\n\
         \n\
         data.replicas: 6\n\
         \x20   0       ConfigMapGenerator, base/kustomization.yaml:2:22\n\
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
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: map-{i}}}\ndata: {{key: value-{i}}}\n"
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
