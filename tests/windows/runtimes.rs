//! Plugins that run in Python and Node for Windows: `.ci/windows-runtimes` fetches these.

use super::{is_windows, z};
use crate::support::packages::{NpmRegistry, pip_index, wheel};
use crate::support::plugins::require;
use crate::support::{Tree, files, program, skip};
use std::fs;
use std::path::{Path, PathBuf};

/// The directory of a runtime for Windows; `None` if the test is skipped, whose output says why.
fn runtime(name: &str) -> Option<PathBuf> {
    if !is_windows() {
        return None;
    }
    let place = Path::new(program()).with_file_name(name);
    if !place.is_dir() {
        skip(&format!("no {name} for Windows beside the program"));
        return None;
    }
    Some(place)
}

/// A tree with a plugin in a directory, whose runtime is in PATH.
fn tree_with(runtime: &str, place: &Path, entry: &str, code: &str) -> Tree {
    let mut tree = Tree::new(super::GENERATOR);
    let manifest = format!(
        "apiVersion: rustomize.dev/v1\nkind: Plugin\nversion: 1.0.0\nruntime: {runtime}\n\
         generators: [{{apiVersion: ex.io/v1, kind: Made}}]\n"
    );
    tree.write("plugins/app/plugin.yaml", &manifest);
    tree.write(&format!("plugins/app/{entry}"), code);
    require(&tree, "{app: {source: h.io/acme/app, from: ./plugins/app}}");
    tree.variables.insert("WINEPATH", z(place));
    tree
}

/// Installs the plugin, and expects that a build without the network uses its package. A change of
/// a file of the package is found.
#[track_caller]
fn uses_its_package(tree: &Tree, file: &str) {
    tree.run(&["plugin", "install"]).ok();
    let built = tree.build(&["--offline", "--frozen"]).ok();
    assert!(built.contains("v: of the package\n  w: grün\n"), "{built}");
    tree.run(&["plugin", "verify"]).ok();
    let root = tree.home().join("AppData/Roaming/rustomize.d/plugins");
    let installed = files(&root, file);
    assert_eq!(installed.len(), 1, "{installed:?}");
    fs::write(&installed[0], "changed").unwrap();
    tree.build(&["--offline", "--frozen"]).fails_with(&["made when it was installed"]);
}

#[test]
fn python_has_an_environment_with_its_packages() {
    let Some(python) = runtime("python") else { return };
    let code = "import dep\nprint('apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\ndata: {v: %s, w: grün}' % dep.V)\n";
    let mut tree = tree_with("python", &python, "main.py", code);
    // Python is in the user's home by default, and the name of a user may have letters beyond ASCII.
    let place = tree.home().join("grün");
    std::os::unix::fs::symlink(python, &place).unwrap();
    tree.variables.insert("WINEPATH", z(&place));
    tree.variables.insert("LANG", "C.UTF-8".to_owned());
    let wheel = wheel("dep", "V = 'of the package'\n");
    let pinned = format!("dep==1.0 --hash=sha256:{}\n", crate::support::servers::sha256(&wheel));
    tree.write("plugins/app/requirements.txt", &pinned);
    tree.variables.insert("PIP_INDEX_URL", pip_index("dep", "dep-1.0-py3-none-any.whl", wheel));
    uses_its_package(&tree, "site-packages/dep.py");
}

#[test]
fn node_has_its_packages() {
    let Some(node) = runtime("node") else { return };
    let code = "console.log('apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\ndata: {v: ' + require('dep') + ', w: grün}')\n";
    let tree = tree_with("nodejs", &node, "index.js", code);
    let registry = NpmRegistry::start("exit 1");
    tree.write("plugins/app/package.json", &format!("{{{}}}", NpmRegistry::NEEDS));
    let integrity = format!("\"integrity\": \"{}\", ", registry.integrity);
    tree.write("plugins/app/package-lock.json", &registry.npm_lock(&integrity));
    uses_its_package(&tree, "node_modules/dep/index.js");
}

#[test]
fn the_entry_of_a_plugin_is_a_file_of_its_directory() {
    let Some(node) = runtime("node") else { return };
    let tree = tree_with("nodejs", &node, "index.js", "");
    tree.write("outside.js", "console.log('apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: outside}')\n");
    let manifest = fs::read_to_string(tree.path().join("plugins/app/plugin.yaml")).unwrap();
    let absolute = z(&tree.path().join("outside.js"));
    for entry in
        [&absolute, absolute.trim_start_matches("Z:"), r"..\..\outside.js", r"\\server\share\x.js", "index.js:x"]
    {
        tree.write("plugins/app/plugin.yaml", &format!("{manifest}entry: '{entry}'\n"));
        tree.run(&["plugin", "install"]).fails_with(&["is not in the directory"]);
    }
}
