//! `tree`: the parts of kustomizations, in each form.

use crate::support::Tree;
use serde_json::Value;

const SHOP: &str = "\
-- base/kustomization.yaml --
resources: [web.yaml]
configMapGenerator: [{name: settings, files: [key=app.ini], envs: [e.env]}]
transformers: [owner.yaml]
-- base/web.yaml --
kind: Nothing that is read
-- base/app.ini --
a=b
-- base/e.env --
a=b
-- base/owner.yaml --
apiVersion: shop.example.com/v1
kind: Owner
metadata: {name: owner}
-- overlays/prod/kustomization.yaml --
resources:
- ../../base
- https://user:secret@git.example.com/team/app?ref=v1
- gone.yaml
components: [../../part]
patches:
- path: patch.yaml
- patch: |-
    - {op: remove, path: /a}
  target: {kind: Deployment}
helmCharts: [{name: redis, version: 1.2.3, repo: 'https://charts.example.com'}]
-- overlays/prod/patch.yaml --
a: b
-- overlays/test/kustomization.yaml --
resources: [../../base]
-- part/kustomization.yaml --
kind: Component
resources: [../base]
-- circle/a/kustomization.yaml --
resources: [../b]
-- circle/b/kustomization.yaml --
resources: [../a]
-- broken/kustomization.yaml --
resources: [
";

const PROD: &str = "\
overlays/prod
├── resources: base
│   ├── resources: base/web.yaml
│   ├── configMapGenerator: base/app.ini
│   ├── configMapGenerator: base/e.env
│   └── transformers: base/owner.yaml
│       └── plugin: shop.example.com/v1 Owner
├── resources: https://...@git.example.com/team/app?ref=v1 (remote)
├── resources: overlays/prod/gone.yaml (missing)
├── components: part
│   └── resources: base (*)
├── helmCharts: redis 1.2.3 from https://charts.example.com
├── patches: overlays/prod/patch.yaml
└── patches: patch (inline)
";

#[test]
fn a_tree_for_people() {
    let tree = Tree::new(SHOP);
    assert_eq!(tree.run(&["tree", "overlays/prod"]).ok(), PROD);
    assert_eq!(tree.run(&["graph", "overlays/prod"]).ok(), PROD);
    let mut command = tree.command(&["tree"]);
    let here = crate::support::run(command.current_dir(tree.path().join("overlays/test"))).ok();
    assert!(here.starts_with(".\n└── resources: ../../base\n    ├── resources: ../../base/web.yaml\n"), "{here}");
}

#[test]
fn all_kustomizations_below_a_directory() {
    let tree = Tree::new(SHOP);
    let all = tree.run(&["tree", "--all"]).ok();
    let circle = "circle/a\n└── resources: circle/b\n    └── resources: circle/a (cycle)\n";
    let want = format!("broken (cannot be read)\n{PROD}overlays/test\n└── resources: base (*)\n{circle}");
    assert_eq!(all, want);
}

#[test]
fn graphs_for_programs() {
    let tree = Tree::new(SHOP);
    let dot = tree.run(&["tree", "overlays/test", "-o", "dot"]).ok();
    let want = "digraph kustomizations {\n  rankdir=LR;\n  node [shape=box];\n  p0 [label=\"overlays/test\", style=bold];\n  p1 [label=\"base\", style=bold];\n";
    assert!(dot.starts_with(want) && dot.contains("  p0 -> p1 [label=\"resources\"];\n"), "{dot}");
    let mermaid = tree.run(&["tree", "overlays/test", "-o", "mermaid"]).ok();
    let want = "graph LR\n  p0[\"overlays/test\"]\n  p1[\"base\"]\n";
    assert!(mermaid.starts_with(want) && mermaid.contains("  p0 -->|resources| p1\n"), "{mermaid}");
    let json: Value = serde_json::from_str(&tree.run(&["tree", "--all", "-o", "json"]).ok()).unwrap();
    let parts = json["parts"].as_array().unwrap();
    let named = |name: &str| parts.iter().filter(|part| part["name"] == name).collect::<Vec<_>>();
    assert_eq!((named("base").len(), &named("base")[0]["kind"]), (1, &Value::from("kustomization")));
    assert_eq!(named("part")[0]["kind"], "component");
    assert_eq!(json["roots"].as_array().unwrap().len(), 6);
    for format in ["text", "dot", "mermaid", "json"] {
        let out = tree.run(&["tree", "--all", "-o", format]).ok();
        assert!(!out.contains("secret@"), "{format}: {out}");
    }
}

/// Names cannot end a label, or become HTML or commands of a terminal.
#[test]
fn hostile_names_are_text() {
    let tree = Tree::new("");
    tree.write("kustomization.yaml", "resources: [\"a\\\"];\\e[2J<b>x\\\\\"]\n");
    for format in ["text", "dot", "mermaid"] {
        let out = tree.run(&["tree", "-o", format]).ok();
        assert!(!out.contains('\u{1b}'), "{format}: {out}");
    }
    let dot = tree.run(&["tree", "-o", "dot"]).ok();
    assert!(dot.contains(r#"label="a\"];\\u{1b}[2J<b>x\\""#), "{dot}");
    let mermaid = tree.run(&["tree", "-o", "mermaid"]).ok();
    assert!(mermaid.contains("[/\"a#34;") || mermaid.contains("[\"a#34;#93;#59;"), "{mermaid}");
    assert!(!mermaid.contains('<'), "{mermaid}");
}

#[test]
fn a_directory_without_a_kustomization_is_an_error() {
    let tree = Tree::new(SHOP);
    tree.run(&["tree", "overlays"]).fails_with(&["'overlays' has no kustomization", "rustomize tree --all overlays"]);
    tree.run(&["tree", "--all", "overlays"]).ok();
    tree.run(&["tree", "nowhere"]).fails_with(&["'nowhere': no such file or directory"]);
    tree.write("empty/x", "");
    tree.run(&["tree", "--all", "empty"]).fails_with(&["there is no kustomization at or below 'empty'"]);
}
