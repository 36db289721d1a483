//! Plugins that are scripts: their text, their installation, and the files that ask for them.

use super::{Run, Tree};
use std::path::PathBuf;

const TREE: &str = "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: Made\nmetadata:\n  name: g\n";

/// A plugin that describes itself and generates a ConfigMap with `v`. `LANG=fail` makes it fail to
/// describe itself.
pub fn script(version: &str, v: &str) -> String {
    script_with(version, "x1.0", r#"[{"name": "made", "apiVersion": "ex.io/v1", "kind": "Made"}]"#, v)
}

pub fn script_with(version: &str, api: &str, generators: &str, v: &str) -> String {
    format!(
        "#!/bin/sh\nif [ \"$1\" = describe ]; then\n  [ \"$LANG\" != fail ] || exit 3\n  echo '{{\"version\": \"{version}\", \"api_version\": \"{api}\", \"generators\": {generators}}}'\n  exit\nfi\n\
         printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {{name: made}}\\ndata: {{v: {v}, c: \"%s\"}}\\n' \"$RUSTOMIZE_PLUGIN_COMPONENT\"\n"
    )
}

/// A tree, and a place elsewhere with the plugin's executable.
pub fn tree() -> Tree {
    Tree::new(TREE)
}

pub fn install(tree: &Tree, source: &str, script: &str) -> Run {
    tree.write("../home/built", script);
    let path = tree.home().join("built");
    let run = tree.run(&["plugin", "install", "--path", &path.to_string_lossy(), source]);
    tree.assert_nothing_left();
    run
}

pub fn root(tree: &Tree) -> PathBuf {
    tree.home().join(".config/rustomize/plugins")
}

pub fn require(tree: &Tree, requires: &str) {
    tree.write(
        "plugins.yaml",
        &format!("apiVersion: rustomize.dev/v1\nkind: PluginRequirements\nrequires: {requires}\n"),
    );
}
