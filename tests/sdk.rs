//! The examples for plugin authors, built and run: Rust in three ways from one source, C, Go.

use crate::support::Tree;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The Rust example: its shared object and its program. Cargo has mostly built them with these
/// tests. `cargo build` would select other features of dependencies, and compile most of the
/// workspace once more.
pub fn team_label() -> (PathBuf, PathBuf) {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let library = BUILT.get_or_init(|| {
        #[expect(clippy::disallowed_methods, reason = "a real cargo")]
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["test", "--no-run", "--locked", "--workspace", "--message-format", "json"]);
        match cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output() {
            Ok(output) => {
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                shared_object(&String::from_utf8(output.stdout).unwrap()).unwrap()
            }
            // The cargo of the user who has built these tests.
            Err(_) => std::env::current_exe().unwrap().with_file_name("libteam_label.so"),
        }
    });
    let program = Path::new(crate::support::program()).with_file_name("team-label");
    assert!(library.is_file() && program.is_file(), "{} and {}", library.display(), program.display());
    (library.clone(), program)
}

/// The shared object of the example, of the files that cargo says it has built.
fn shared_object(messages: &str) -> Option<PathBuf> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str(line).ok());
    let files = messages.filter_map(|message: serde_json::Value| {
        let is_example = message["target"]["name"] == "team_label";
        is_example.then(|| message["filenames"].as_array().cloned()).flatten()
    });
    let paths = files.flatten().filter_map(|file| file.as_str().map(PathBuf::from));
    paths.into_iter().find(|path| path.ends_with("libteam_label.so"))
}

const CONFIG: &str = "apiVersion: ex.io/v1\nkind: TeamLabel\nmetadata:\n  name: t\n@team: blue\naddress: \"12\"\n";

fn tree(field: &str, annotation: &str) -> Tree {
    let tree = Tree::new("-- cm.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata: {k: v}\n");
    tree.write("kustomization.yaml", &format!("resources: [cm.yaml]\n{field}: [t.yaml]\n"));
    tree.write("t.yaml", &CONFIG.replace('@', annotation));
    tree
}

/// Copies a file to where the plugin for the kind is found.
fn place(tree: &Tree, from: &Path, name: &str) {
    let folder =
        tree.home().join(".config/kustomize/plugin/ex.io/v1").join(name.trim_end_matches(".so").to_lowercase());
    fs::create_dir_all(&folder).unwrap();
    fs::copy(from, folder.join(name)).unwrap();
    fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
}

const LABELED: &str =
    "apiVersion: v1\ndata:\n  k: v\nkind: ConfigMap\nmetadata:\n  labels:\n    example.com/team: blue\n  name: a\n";

/// The same in every way that a plugin can run.
fn all_ways(tree: impl Fn(&str, &str) -> Tree) {
    let (library, program) = team_label();
    for way in ["shared object", "exec"] {
        let place = |tree: &Tree| match way {
            "exec" => place(tree, &program, "TeamLabel"),
            _ => place(tree, &library, "TeamLabel.so"),
        };
        let transforms = tree("transformers", "");
        place(&transforms);
        assert_eq!(transforms.build(&[]).ok(), LABELED, "{way}");
        let generates = tree("generators", "");
        place(&generates);
        let out = generates.build(&[]).ok();
        assert!(out.contains("address: \"12\"\n") && out.contains("name: team-blue-"), "{way}: {out}");
        let validates = tree("validators", "");
        place(&validates);
        assert!(validates.build(&[]).ok().contains("name: a\n"), "{way}");
        validates.write(
            "cm.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels: {example.com/team: red}\n",
        );
        validates.build(&[]).fails_with(&["a belongs to team red"]);
    }
}

#[test]
fn one_rust_source_is_a_shared_object_and_an_exec_plugin() {
    all_ways(tree);
}

#[test]
fn one_rust_source_is_a_function() {
    let (_, program) = team_label();
    let annotation = format!(
        "  annotations:\n    config.kubernetes.io/function: |\n      exec: {{path: '{}'}}\n",
        program.display()
    );
    let run = |tree: &Tree| tree.build(&["--enable-exec"]);
    let transforms = tree("transformers", &annotation);
    assert!(run(&transforms).ok().contains("  labels:\n    example.com/team: blue\n"));
    let broken = tree("transformers", &annotation);
    broken.write("t.yaml", &CONFIG.replace('@', &annotation).replace("team: blue\n", ""));
    run(&broken).fails_with(&["missing field `team`"]);
}

#[test]
fn the_rust_example_describes_itself() {
    let (library, program) = team_label();
    let folder = tempfile::TempDir::new().unwrap();
    let run = |args: &[&str], variables: &[(&str, &str)]| {
        #[expect(clippy::disallowed_methods, reason = "the plugin itself")]
        let mut command = Command::new(&program);
        command.args(args).envs(variables.iter().copied()).current_dir(folder.path()).stdin(Stdio::null());
        crate::support::run(&mut command)
    };
    let said: serde_json::Value = serde_json::from_str(&run(&["describe"], &[]).ok()).unwrap();
    let schema = &said["transformers"][0]["schema"];
    assert_eq!(schema["properties"]["team"]["description"], "The team that owns the resources.");
    assert_eq!(schema["required"], serde_json::json!(["team", "apiVersion", "kind"]));
    assert_eq!((&said["generators"], &said["validators"]), (&said["transformers"], &said["transformers"]));
    assert_eq!(said["modes"], serde_json::json!(["generate", "transform", "validate"]));
    // The shared object says the same.
    let tree = tree("transformers", "");
    tree.write("../home/plugins/team/plugin.yaml", &run(&["describe", "--manifest", "libteam_label.so"], &[]).ok());
    fs::copy(&library, tree.home().join("plugins/team/libteam_label.so")).unwrap();
    let from = tree.home().join("plugins/team");
    tree.write("t.yaml", &CONFIG.replace('@', "").replace("ex.io", "example.com"));
    tree.run(&["plugin", "install", "--path", &from.to_string_lossy(), "h.io/acme/team-label"]).ok();
    assert_eq!(tree.build(&[]).ok(), LABELED);
    // A file of that name is a configuration where it is a path.
    fs::write(folder.path().join("describe"), CONFIG.replace('@', "")).unwrap();
    let generated = run(&["./describe"], &[("KUSTOMIZE_PLUGIN_MODE", "generate")]).ok();
    assert!(generated.contains("name: team-blue\n"), "{generated}");
    run(&["describe", "--manifest"], &[]).fails_with(&["expected: describe, or describe --manifest FILE.so"]);
    run(&["./describe"], &[("RUSTOMIZE_PLUGIN_ROLE", "dancer")]).fails_with(&["'dancer'", "transformer or validator"]);
    run(&["nothing"], &[]).fails_with(&["cannot read the configuration 'nothing'"]);
}

#[test]
fn the_c_example_works() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin");
    let tree = Tree::new(
        "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: Greeting\nmetadata: {name: g}\ntext: 'hello: you'\n",
    );
    let built = tree.home().join("Greeting.so");
    let include = format!("-I{}", root.join("abi/include").display());
    let args = ["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", &include];
    if crate::support::compiler::cc(&root.join("example/c/Greeting.c"), &built, &args).is_none() {
        crate::support::skip("no C compiler");
        return;
    }
    place(&tree, &built, "Greeting.so");
    assert!(tree.build(&[]).ok().contains("data:\n  text: 'hello: you'\n"));
    tree.write("g.yaml", "apiVersion: ex.io/v1\nkind: Greeting\nmetadata: {name: g}\n");
    tree.build(&[]).fails_with(&["the configuration has no field 'text'"]);
    tree.write("kustomization.yaml", "transformers: [g.yaml]\n");
    tree.build(&[]).fails_with(&["is not a transformer"]);
}

#[test]
fn the_go_example_works() {
    let tree = Tree::new(
        "-- kustomization.yaml --\nresources: [s.yaml]\ntransformers: [t.yaml]\n\
         -- s.yaml --\napiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec:\n  ports: [{port: 80}, {port: 81, name: kept}]\n\
         -- t.yaml --\napiVersion: ex.io/v1\nkind: PortName\nmetadata: {name: t}\nprefix: p\n",
    );
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin/example/go/portname");
    let Some(built) = crate::support::go::build_plugin(&tree, &folder) else { return };
    place(&tree, &built, "PortName.so");
    assert!(tree.build(&[]).ok().contains("  - name: p80\n    port: 80\n  - name: kept\n    port: 81\n"));
}
