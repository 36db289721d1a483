//! The parts of a release, as far as they can be tested without building one: versions, the SBOM,
//! and the name that kubectl looks for. `release/twice` and `release/package` test the rest.

use crate::support::{Run, Tree, in_path, members, run, skip};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

fn read(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// The SDK for Rust, which `plugin new` lays into new plugins.
const SDK: &str = "plugin/sdk/crate/Cargo.toml";

/// A plugin that shows how one is written.
const EXAMPLE: &str = "plugin/example/rust/Cargo.toml";

#[test]
fn the_crates_have_one_version() {
    let version = format!("version = \"{}\"", env!("CARGO_PKG_VERSION"));
    let members = members().into_iter().map(|member| format!("{member}/Cargo.toml"));
    for name in members.chain(["Cargo.toml".to_owned()]).filter(|name| name != EXAMPLE) {
        let manifest = read(&name);
        let is_own = manifest.contains("\nversion.workspace = true\n");
        assert!(is_own || manifest.contains(&format!("\n{version}\n")), "{name} has another version");
        assert_eq!(manifest.contains("publish = false"), name == SDK, "{name}: whether it can be published");
        for line in manifest.lines().filter(|line| line.starts_with("rustomize-") && line.contains("path = ")) {
            assert!(line.contains(&version.replace("\"0", "\"=0")), "{name} requires another version: {line}");
        }
    }
    assert!(read("release/Dockerfile").contains(&format!("ARG VERSION={}\n", env!("CARGO_PKG_VERSION"))));
    assert!(read("CHANGELOG.md").contains(env!("CARGO_PKG_VERSION")));
}

fn execute(program: &Path, args: &[&str], path: Option<&str>) -> Run {
    #[expect(clippy::disallowed_methods, reason = "this is the outside of the command")]
    let mut command = Command::new(program);
    command.args(args).current_dir(env!("CARGO_MANIFEST_DIR"));
    path.into_iter().for_each(|path| _ = command.env("PATH", path));
    run(&mut command)
}

#[test]
fn kubectl_finds_the_tool_by_its_name() {
    let tree = Tree::new("");
    let link = tree.path().join("kubectl-rustomize");
    symlink(crate::support::program(), &link).unwrap();
    let own = execute(Path::new(crate::support::program()), &["version"], None).ok();
    assert_eq!(execute(&link, &["version"], None).ok(), own);
    for words in ["build", "plugin install"] {
        let args: Vec<&str> = words.split(' ').chain(["--help"]).collect();
        let help = execute(&link, &args, None).ok();
        assert!(help.contains(&format!("Usage: kubectl rustomize {words}")), "{help}");
        let examples = help.split_once("Examples:").unwrap().1;
        let named = format!("  kubectl rustomize {words}");
        assert!(examples.contains(&named) && !examples.contains("  rustomize"), "{examples}");
    }
    let Some(kubectl) = in_path("kubectl") else { return skip("kubectl is not in PATH") };
    #[expect(clippy::disallowed_methods, reason = "where the programs of this machine are")]
    let path = format!("{}:{}", tree.path().display(), std::env::var("PATH").unwrap());
    assert_eq!(execute(&kubectl, &["rustomize", "version"], Some(&path)).ok(), own);
}

#[test]
fn the_sbom_lists_the_crates_that_are_linked() {
    if in_path("python3").is_none() {
        return skip("python3 is not in PATH");
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("release/sbom");
    let done = execute(&script, &[env!("RUSTOMIZE_TARGET")], None);
    assert_eq!(done.stdout, execute(&script, &[env!("RUSTOMIZE_TARGET")], None).ok());
    let bom: Value = serde_json::from_str(&done.ok()).unwrap();
    assert_eq!(bom["bomFormat"], "CycloneDX");
    let parts: BTreeMap<&str, &Value> =
        bom["components"].as_array().unwrap().iter().map(|part| (part["name"].as_str().unwrap(), part)).collect();
    // Needed by the tool itself, by one of its dependencies, by tests, and by the compiler.
    assert!(parts.contains_key("clap") && parts.contains_key("rustls"));
    assert!(!parts.contains_key("libyaml-safer") && !parts.contains_key("serde_derive"));
    for (name, part) in parts {
        assert!(part["licenses"][0]["expression"].is_string(), "{name} has no licence");
        let is_ours = name.starts_with("rustomize");
        assert_ne!(part["hashes"][0]["content"].is_string(), is_ours, "{name}: sums are those of the registry");
    }
}
