//! The parts of a release, as far as they can be tested without building one: versions, the table of
//! systems, the SBOM, `install-to`, and the name that kubectl looks for. `release/twice`,
//! `release/package` and `tests/shelves` test the rest.

use crate::support::{Run, Tree, in_path, members, run, skip};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

fn read(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// The SDK for Rust, which `plugin new` lays into new plugins.
const SDK: &str = "plugin/sdk/crate/Cargo.toml";

/// The tool that makes the core for the Go module, and serves nobody else.
const INTERRUPT: &str = "bindings/interrupt/Cargo.toml";

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
        let is_kept = name == SDK || name == INTERRUPT;
        assert_eq!(manifest.contains("publish = false"), is_kept, "{name}: whether it can be published");
        for line in manifest.lines().filter(|line| line.starts_with("rustomize-") && line.contains("path = ")) {
            assert!(line.contains(&version.replace("\"0", "\"=0")), "{name} requires another version: {line}");
        }
    }
    assert!(read("release/Dockerfile").contains(&format!("ARG VERSION={}\n", env!("CARGO_PKG_VERSION"))));
    assert!(read("CHANGELOG.md").contains(env!("CARGO_PKG_VERSION")));
    // What users copy, and what installs this version.
    for (name, text) in [
        ("pyproject.toml", "rustomize=="),
        ("pyproject.toml", "version = \""),
        (".github/actions/build/action.yml", "default: 0"),
        ("docs/install.md", "/releases/download/v"),
        ("docs/install.md", "rustomize_0"),
        ("docs/gitops/github-actions.md", "/.github/actions/build@v"),
        ("docs/gitops/gitlab.md", "/releases/download/v"),
    ] {
        let (text, page) = (text.trim_end_matches('0'), read(name));
        let behind: Vec<&str> = page.split(text).skip(1).collect();
        let named = behind.iter().filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        assert!(named.clone().count() > 0, "{name} does not have '{text}' with a version");
        for rest in named {
            assert!(rest.starts_with(env!("CARGO_PKG_VERSION")), "{name} has another version: {text}{rest:.20}");
        }
    }
}

/// The rows of release/targets: the name of a system, its target without the version of glibc, and
/// the parts of its archive.
fn targets() -> Vec<(String, String, String)> {
    let table = read("release/targets");
    let lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let rows = lines.map(|line| {
        let cells: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(cells.len(), 7, "{line}");
        let target = cells[1].split_once(".2.").map_or(cells[1], |(target, _)| target);
        (cells[0].to_owned(), target.to_owned(), cells[3].to_owned())
    });
    rows.collect()
}

/// `cargo binstall` finds the archive of each system of the table.
#[test]
fn binstall_knows_the_archives() {
    let manifest = read("Cargo.toml");
    let overrides = manifest.split("[package.metadata.binstall.overrides]\n").nth(1).unwrap();
    let overrides = overrides.split("\n\n").next().unwrap();
    for (name, target, parts) in targets() {
        let line = overrides.lines().find(|line| line.starts_with(&target)).unwrap_or_else(|| panic!("no {target}"));
        let suffix = if parts.contains("zip") { "zip" } else { "tar.gz" };
        let file = format!("/releases/download/v{{ version }}/rustomize_{{ version }}_{name}.{suffix}\"");
        assert!(line.contains(&file), "{line}");
    }
    assert_eq!(overrides.lines().count(), targets().len() + 1, "Windows has two names");
}

/// The page for users names the archive of each system, and so do the manifests.
#[test]
fn the_page_names_the_archives() {
    let page = read("docs/install.md");
    for (name, _, _) in targets() {
        assert!(page.contains(&format!("_{name}")), "docs/install.md does not name {name}");
    }
    let manifests = ["krew.yaml", "rustomize.rb", "flake.nix", "rustomize.json"];
    let known: Vec<String> = targets().into_iter().map(|(name, _, _)| name).collect();
    for manifest in manifests {
        let text = read(&format!("release/templates/{manifest}"));
        for mark in ["@URL ", "@SUM ", "@NPM ", "@NAR ", "@begin "] {
            for rest in text.split(mark).skip(1) {
                let name = rest.split('@').next().unwrap();
                assert!(known.iter().any(|known| known == name), "{manifest}: {mark}{name}");
            }
        }
    }
}

/// The program copies itself under the names that are asked for.
#[test]
fn the_program_installs_itself() {
    let tree = Tree::new("-- kustomization.yaml --\nconfigMapGenerator: [{name: a, literals: [b=c]}]\n");
    let own = tree.run(&["build"]).ok();
    let to = tree.path().join("new/bin");
    let place = to.to_string_lossy().into_owned();
    let said = tree.run(&["install-to", &place, "--as", "kustomize", "kustomize-v5.7.1"]).ok();
    assert_eq!(said, format!("{place}/kustomize\n{place}/kustomize-v5.7.1\n"));
    let version = |name: &str| execute(&to.join(name), &["version"], None).ok();
    assert_eq!((version("kustomize").as_str(), version("kustomize-v5.7.1").as_str()), ("v5.8.3\n", "v5.7.1\n"));
    let root = tree.path().to_string_lossy().into_owned();
    assert_eq!(execute(&to.join("kustomize"), &["build", &root], None).ok(), own);
    // Files and links that have the names are replaced, and nothing else is touched.
    fs::write(to.join("other"), "other").unwrap();
    fs::remove_file(to.join("kustomize")).unwrap();
    symlink("other", to.join("kustomize")).unwrap();
    tree.run(&["install-to", &place, "--as", "kustomize", "kustomize-v5.7.1"]).ok();
    assert_eq!(fs::read_to_string(to.join("other")).unwrap(), "other");
    assert!(to.join("kustomize").symlink_metadata().unwrap().is_file());
    assert_eq!(fs::read_link(to.join("kustomize-v5.7.1")).unwrap(), Path::new("kustomize"));
    // A running program is replaced, too: it is the one that is asked.
    assert_eq!(execute(&to.join("kustomize"), &["install-to", &place, "--as", "kustomize"], None).status, Some(0));
    assert_eq!(version("kustomize"), "v5.8.3\n");
    let left: Vec<_> = fs::read_dir(&to).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with(".rustomize-")), "{left:?}");
}

#[test]
fn names_that_cannot_be_installed_are_refused() {
    let tree = Tree::new("");
    for (name, words) in [
        ("a/b", "'a/b' is not the name of a file"),
        ("..", "'..' is not the name of a file"),
        ("", "'' is not the name of a file"),
        ("kustomize-v9.9.9", "newer than kustomize"),
        ("rustomize-plugin-host", "another program of rustomize"),
    ] {
        tree.run(&["install-to", "bin", "--as", "rustomize", name]).fails_with(&[words]);
        assert!(!tree.path().join("bin").exists(), "{name}");
    }
}

/// The names of the entries of a directory with what they are.
fn entries(directory: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let described = entries.map(|entry| {
        let content = match entry.file_type().unwrap() {
            kind if kind.is_dir() => "a directory".to_owned(),
            kind if kind.is_symlink() => fs::read_link(entry.path()).unwrap().display().to_string(),
            _ => fs::read_to_string(entry.path()).unwrap_or_default(),
        };
        (entry.file_name().into_string().unwrap(), content)
    });
    described.collect()
}

/// A directory that has a name is found before anything is written, whichever name it has.
#[test]
fn a_directory_in_the_way_of_a_name_is_named_and_nothing_is_installed() {
    for taken in ["kustomize", "kustomize-v5.7.1", "kustomize-v5.8.1"] {
        let tree = Tree::new("");
        tree.write(&format!("bin/{taken}/file"), "content");
        for name in ["kustomize", "kustomize-v5.7.1", "rustomize-plugin-host"].iter().filter(|name| **name != taken) {
            tree.write(&format!("bin/{name}"), "before");
        }
        let bin = tree.path().join("bin");
        let before = entries(&bin);
        let names = ["install-to", "bin", "--as", "kustomize", "kustomize-v5.7.1", "kustomize-v5.8.1"];
        tree.run(&names).fails_with(&[&format!("'bin/{taken}' is a directory"), "--as"]);
        assert_eq!(entries(&bin), before, "{taken}");
        assert_eq!(fs::read_to_string(bin.join(taken).join("file")).unwrap(), "content");
        // A link to a directory is replaced, and the directory is not touched.
        fs::rename(bin.join(taken), tree.path().join("moved")).unwrap();
        symlink("../moved", bin.join(taken)).unwrap();
        tree.run(&names).ok();
        let version = execute(&bin.join(taken), &["version"], None).ok();
        assert_eq!(version.trim_end(), taken.strip_prefix("kustomize-").unwrap_or("v5.8.3"));
        assert_eq!(fs::read_dir(tree.path().join("moved")).unwrap().count(), 1);
    }
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

/// The debug build has a table of symbols, and a copy of it that `strip` has made has none.
#[test]
fn a_program_of_a_release_has_no_symbols() {
    let Some(strip) = in_path("strip").filter(|_| in_path("python3").is_some()) else {
        return skip("strip or python3 is not in PATH");
    };
    let check = Path::new(env!("CARGO_MANIFEST_DIR")).join("release/no-symbols");
    let tree = Tree::new("");
    let (program, stripped) = (env!("CARGO_BIN_EXE_rustomize"), tree.path().join("stripped"));
    let stripped = stripped.to_str().unwrap();
    execute(&check, &[program], None).fails_with(&["has symbols", "strip in Cargo.toml"]);
    execute(&strip, &["-o", stripped, program], None).ok();
    execute(&check, &[stripped], None).ok();
    let text = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    execute(&check, &[text], None).fails_with(&["is not a program for Linux, Windows or macOS"]);
}

/// The linker skips names that are gone, so nothing else says that the list is old.
#[test]
#[expect(clippy::disallowed_methods, reason = "nm is a program of this machine")]
fn the_order_of_functions_names_functions_of_the_program() {
    let Some(nm) = in_path("nm") else { return skip("nm is not in PATH") };
    let symbols = Command::new(nm).arg(env!("CARGO_BIN_EXE_rustomize")).output().unwrap();
    let symbols = String::from_utf8(symbols.stdout).unwrap();
    // A name ends with a hash, which each profile changes.
    let name = |text: &str| text.rsplit_once("17h").map(|(name, _)| name.to_owned());
    let defined: HashSet<String> = symbols.split_whitespace().filter_map(name).collect();
    let order = read("release/order.ld");
    let listed = order.lines().filter_map(|line| line.trim().strip_prefix("*(.text._ZN")?.split_once("17h*"));
    let (found, gone): (Vec<_>, Vec<_>) =
        listed.map(|(name, _)| format!("_ZN{name}")).partition(|name| defined.contains(name));
    assert!(found.len() > 9 * gone.len(), "call release/order: {} functions are gone: {gone:#?}", gone.len());
}
