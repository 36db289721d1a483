//! Sources, places on the disk, names, discovery and choice of plugins: the table P of
//! docs/requirements.md.

use super::{Releases, file_name, list, names, object, put};
use crate::support::packages::host;
use crate::support::plugins::{install, require, root, script, script_with, tree};
use crate::support::servers::sha256;
use crate::support::{Run, Tree, skip};
use std::fs;
use std::path::Path;

/// The plugin directory of a source.
fn leaf(tree: &Tree, source: &str) -> Vec<String> {
    names(&root(tree).join(source))
}

/// Installs a good plugin under a source, and expects that the source is refused.
#[track_caller]
fn refused(source: &str, words: &[&str]) {
    let tree = tree();
    install(&tree, source, &script("1.0.0", "x")).fails_with(&[&["the source '"], words].concat());
    assert!(!root(&tree).exists(), "nothing was installed");
}

/// Puts one file below the root, and expects that no build uses it; another name is good. The
/// plugin says that it is the version in the file's name: only the name can be the reason.
#[track_caller]
fn ignored(name: &str, good: &str) {
    let tree = tree();
    let version = name.split('_').nth(1).unwrap_or_default().trim_start_matches('v');
    put(&tree, "h.io/acme/app", name, &script(version, "x"));
    tree.build(&[]).fails_with(&["unable to find plugin root"]);
    assert!(list(&tree).iter().all(|plugin| plugin["state"] != "installed"));
    put(&tree, "h.io/acme/app", good, &script("1.0.0", "x"));
    assert!(tree.build(&[]).ok().contains("v: x\n"), "{good}");
}

fn good() -> String {
    file_name("app", "v1.0.0", "x1.0")
}

#[test]
fn a_source_alone_says_where_a_plugin_is_fetched_from() {
    let tree = tree();
    let released = Releases::new(&tree, &["1.0.0"]);
    assert!(tree.run(&["plugin", "install", &released.source]).ok().contains("v1.0.0: "));
    assert!(tree.build(&[]).ok().contains("v: release 1.0.0\n"));
    tree.run(&["plugin", "install", &format!("{}/acme/other", released.server)]).fails_with(&["acme/other"]);
}

#[test]
fn a_local_file_is_installed_under_a_source() {
    let tree = tree();
    assert!(install(&tree, "h.io/acme/app", &script("1.2.3", "local")).ok().starts_with("h.io/acme/app v1.2.3: "));
    assert!(tree.build(&[]).ok().contains("v: local\n"));
}

#[test]
fn a_plugin_without_a_source_is_not_installed() {
    let tree = tree();
    tree.write("app", &script("1.0.0", "x"));
    let run = tree.run(&["plugin", "install", "--path", "app"]);
    assert_eq!(run.status, Some(1), "{}", run.stdout);
    assert!(run.stderr.contains("SOURCE") && run.stdout.is_empty(), "{}", run.stderr);
    assert!(!root(&tree).exists());
}

#[test]
fn the_parts_of_a_source_are_nested_directories() {
    let tree = tree();
    install(&tree, "h.io/a/b/app", &script("1.0.0", "x")).ok();
    let mut folder = root(&tree);
    for part in ["h.io", "a", "b", "app"] {
        assert_eq!(names(&folder).into_iter().filter(|name| !name.starts_with('.')).collect::<Vec<_>>(), [part]);
        folder.push(part);
    }
    assert!(folder.join(good()).is_file());
}

#[test]
fn a_source_has_no_scheme() {
    refused("https://h.io/acme/app", &["scheme"]);
}

#[test]
fn a_source_has_no_fragment() {
    refused("h.io/acme/app#part", &["fragment"]);
}

#[test]
fn a_source_has_no_query() {
    refused("h.io/acme/app?a=b", &["query"]);
}

#[test]
fn a_source_has_a_host_and_at_least_two_parts() {
    refused("h.io", &["fewer than three parts"]);
    refused("h.io/app", &["fewer than three parts"]);
    install(&tree(), "h.io/acme/app", &script("1.0.0", "x")).ok();
}

#[test]
fn a_source_has_at_most_fifteen_parts_behind_its_host() {
    let source = |parts: usize| format!("h.io{}/app", "/p".repeat(parts - 1));
    install(&tree(), &source(15), &script("1.0.0", "x")).ok();
    refused(&source(16), &["16"]);
}

#[test]
fn only_slashes_separate_the_parts_of_a_source() {
    refused("h.io\\acme\\app", &["fewer than three parts"]);
    refused("h.io:acme:app", &["fewer than three parts"]);
    let tree = tree();
    install(&tree, "h.io/a:b\\c/app", &script("1.0.0", "x")).ok();
    assert!(root(&tree).join("h.io").join("a:b\\c").join("app").is_dir());
}

#[test]
fn directories_that_cannot_be_made_are_named() {
    let tree = tree();
    tree.write("../home/.config/rustomize/plugins/h.io", "a file in the way");
    let said = install(&tree, "h.io/acme/app", &script("1.0.0", "x"))
        .fails_with(&["cannot make the directories of", "h.io/acme/app"]);
    assert!(said.contains(&root(&tree).to_string_lossy().into_owned()), "{said}");
    // Names that the file system cannot have are not looked up.
    let part = "x".repeat(300);
    install(&tree, &format!("i.io/{part}/app"), &script("1.0.0", "x")).fails_with(&["cannot make", &part]);
}

#[test]
fn the_last_part_of_a_source_is_the_name_of_the_plugin() {
    let tree = tree();
    install(&tree, "h.io/one/two/three", &script("1.0.0", "x")).ok();
    assert_eq!(leaf(&tree, "h.io/one/two/three")[0], file_name("three", "v1.0.0", "x1.0"));
}

#[test]
fn a_name_with_a_prefix_is_refused_and_the_bare_name_proposed() {
    for prefix in ["rustomize-", "rustomize-plugin-", "packer-plugin-"] {
        refused(&format!("h.io/acme/{prefix}app"), &["use 'app'"]);
    }
    install(&tree(), "h.io/acme/app-rustomize-plugin", &script("1.0.0", "x")).ok();
}

#[test]
fn releases_are_looked_for_in_the_repository_with_the_prefix() {
    let tree = tree();
    let released = Releases::new(&tree, &["1.0.0"]);
    tree.run(&["plugin", "install", &released.source]).ok();
    let paths = released.files.paths();
    let stem = "/acme/rustomize-plugin-app/releases/download/v1.0.0/rustomize-plugin-app_v1.0.0";
    assert!(paths.iter().any(|path| path.starts_with(stem)), "{paths:?}");
    assert!(!paths.iter().any(|path| path.starts_with("/acme/app")), "{paths:?}");
}

#[test]
fn the_old_directory_of_the_user_is_the_root_if_it_exists() {
    let tree = tree();
    fs::create_dir(tree.home().join(".rustomize.d")).unwrap();
    install(&tree, "h.io/acme/app", &script("1.0.0", "old")).ok();
    assert!(tree.home().join(".rustomize.d/plugins/h.io/acme/app").is_dir() && !root(&tree).exists());
    assert!(tree.build(&[]).ok().contains("v: old\n"));
}

#[test]
fn the_root_is_in_the_configuration_directory_of_the_user() {
    let mut tree = tree();
    install(&tree, "h.io/acme/app", &script("1.0.0", "x")).ok();
    assert!(tree.home().join(".config/rustomize/plugins/h.io/acme/app").is_dir());
    assert!(tree.build(&[]).ok().contains("v: x\n"));
    // It is not looked for in the other one.
    let other = tree.home().join("xdg");
    tree.variables.insert("XDG_CONFIG_HOME", other.to_string_lossy().into_owned());
    tree.build(&[]).fails_with(&["unable to find plugin root"]);
    install(&tree, "h.io/acme/app", &script("1.0.0", "of-xdg")).ok();
    assert!(other.join("rustomize/plugins/h.io/acme/app").is_dir());
    assert!(tree.build(&[]).ok().contains("v: of-xdg\n"));
    tree.variables.remove("XDG_CONFIG_HOME");
    assert!(tree.build(&[]).ok().contains("v: x\n"));
}

#[test]
fn the_configuration_directory_is_made_when_it_is_first_needed() {
    let tree = tree();
    assert!(!tree.home().join(".config").exists());
    assert_eq!(tree.run(&["plugin", "list"]).ok(), "");
    assert!(!tree.home().join(".config").exists(), "a command that only looks makes nothing");
    install(&tree, "h.io/acme/app", &script("1.0.0", "x")).ok();
    assert!(tree.home().join(".config/rustomize/plugins").is_dir());
}

#[test]
fn a_variable_moves_the_configuration_directory() {
    let mut tree = tree();
    let moved = tree.home().join("moved");
    tree.variables.insert("RUSTOMIZE_CONFIG_DIR", moved.to_string_lossy().into_owned());
    install(&tree, "h.io/acme/app", &script("1.0.0", "x")).ok();
    assert!(moved.join("plugins/h.io/acme/app").is_dir() && !root(&tree).exists());
    assert!(tree.build(&[]).ok().contains("v: x\n"));
    // The other spelling is read if it alone exists.
    fs::rename(moved.join("plugins"), moved.join("plugin")).unwrap();
    assert!(tree.build(&[]).ok().contains("v: x\n"));
    fs::create_dir(moved.join("plugins")).unwrap();
    tree.build(&[]).fails_with(&["unable to find plugin root"]);
}

#[test]
fn a_variable_sets_the_root_itself() {
    let mut tree = tree();
    let own = tree.home().join("own");
    tree.variables.insert("RUSTOMIZE_PLUGIN_PATH", own.to_string_lossy().into_owned());
    install(&tree, "h.io/acme/app", &script("1.0.0", "x")).ok();
    assert!(own.join("h.io/acme/app").join(good()).is_file() && !root(&tree).exists());
    assert!(tree.build(&[]).ok().contains("v: x\n"));
}

#[test]
fn the_root_that_is_set_beats_the_configuration_directory() {
    let mut tree = tree();
    let (path, other) = (tree.home().join("path"), tree.home().join("config"));
    tree.variables.insert("RUSTOMIZE_CONFIG_DIR", other.to_string_lossy().into_owned());
    install(&tree, "h.io/acme/app", &script("1.0.0", "config")).ok();
    tree.variables.insert("RUSTOMIZE_PLUGIN_PATH", path.to_string_lossy().into_owned());
    // Neither for loading nor for installing is the other one looked at.
    tree.build(&[]).fails_with(&["unable to find plugin root"]);
    let before = names(&other.join("plugins/h.io/acme/app"));
    install(&tree, "h.io/acme/app", &script("1.1.0", "path")).ok();
    assert!(path.join("h.io/acme/app").is_dir());
    assert_eq!(names(&other.join("plugins/h.io/acme/app")), before);
    assert!(tree.build(&[]).ok().contains("v: path\n"));
}

#[test]
fn a_list_of_roots_is_refused_with_each_root_as_a_choice() {
    let mut tree = tree();
    tree.variables.insert("RUSTOMIZE_PLUGIN_PATH", "/a:/b".to_owned());
    let choices = ["RUSTOMIZE_PLUGIN_PATH=/a", "RUSTOMIZE_PLUGIN_PATH=/b"];
    tree.build(&[]).fails_with(&choices);
    install(&tree, "h.io/acme/app", &script("1.0.0", "x")).fails_with(&choices);
}

#[test]
fn a_file_outside_the_directory_of_a_source_is_ignored() {
    for folder in ["", "h.io", "h.io/app"] {
        let tree = tree();
        put(&tree, folder, &good(), &script("1.0.0", "x"));
        tree.build(&[]).fails_with(&["unable to find plugin root"]);
        put(&tree, "h.io/acme/app", &good(), &script("1.0.0", "x"));
        assert!(tree.build(&[]).ok().contains("v: x\n"), "'{folder}'");
    }
}

#[test]
fn the_binary_is_in_the_directory_of_its_source() {
    let tree = tree();
    let said = install(&tree, "h.io/acme/app", &script("1.0.0", "x")).ok();
    let path = root(&tree).join("h.io/acme/app").join(good());
    assert!(said.trim_end().ends_with(&path.canonicalize().unwrap().to_string_lossy().into_owned()), "{said}");
    assert_eq!(fs::read_to_string(path).unwrap(), script("1.0.0", "x"));
}

#[test]
fn a_version_has_exactly_one_binary() {
    let tree = tree();
    let binaries = || {
        let names = leaf(&tree, "h.io/acme/app").into_iter();
        names.filter(|name| !name.ends_with("_SHA256SUM") && !name.ends_with("_IDENTITY")).collect::<Vec<_>>()
    };
    install(&tree, "h.io/acme/app", &script("1.0.0", "first")).ok();
    install(&tree, "h.io/acme/app", &script("1.0.0", "second")).ok();
    assert_eq!(binaries(), [good()]);
    assert!(tree.build(&[]).ok().contains("v: second\n"));
    install(&tree, "h.io/acme/app", &script("1.0.1", "third")).ok();
    assert_eq!(binaries(), [good(), file_name("app", "v1.0.1", "x1.0")]);
    // A second file is not another binary of the version: its name says nothing, or another
    // version.
    put(&tree, "h.io/acme/app", "rustomize-plugin-app_v1.0.1_x1.0", &script("1.0.1", "stray"));
    assert!(tree.build(&[]).ok().contains("v: third\n"));
    let there = list(&tree);
    let of_it = there.iter().filter(|plugin| plugin["version"] == "1.0.1" && plugin["state"] == "installed");
    assert_eq!(of_it.count(), 1, "{there:#?}");
}

#[test]
fn a_binary_without_its_sum_is_not_considered() {
    let tree = tree();
    let path = put(&tree, "h.io/acme/app", &good(), &script("1.0.0", "x"));
    let sum = path.with_file_name(format!("{}_SHA256SUM", good()));
    assert!(tree.build(&[]).ok().contains("v: x\n"));
    fs::rename(&sum, tree.home().join("sum")).unwrap();
    tree.build(&[]).fails_with(&["unable to find plugin root", "installed files that cannot be used: 1"]);
    fs::write(&sum, "0".repeat(64)).unwrap();
    tree.build(&[]).fails_with(&["installed files that cannot be used: 1"]);
    fs::rename(tree.home().join("sum"), &sum).unwrap();
    assert!(tree.build(&[]).ok().contains("v: x\n"));
}

#[test]
fn a_sum_file_is_the_bare_sum_in_hexadecimal() {
    let tree = tree();
    install(&tree, "h.io/acme/app", &script("1.0.0", "x")).ok();
    let sum = root(&tree).join("h.io/acme/app").join(format!("{}_SHA256SUM", good()));
    let right = sha256(script("1.0.0", "x").as_bytes());
    assert_eq!(fs::read_to_string(&sum).unwrap().trim_end(), right);
    for wrong in [format!("{right}  {}", good()), right[..63].to_owned(), String::new()] {
        fs::write(&sum, wrong).unwrap();
        tree.build(&[]).fails_with(&["installed files that cannot be used: 1"]);
    }
}

#[test]
fn a_binary_is_named_by_plugin_version_interface_and_machine() {
    let (os, arch) = host();
    let name = format!("rustomize-plugin-app_v1.0.0_x1.0_{os}_{arch}");
    for other in [
        format!("packer-plugin-app_v1.0.0_x1.0_{os}_{arch}"),
        format!("app_v1.0.0_x1.0_{os}_{arch}"),
        format!("rustomize-plugin-app_v1.0.0_{os}_{arch}_x1.0"),
        format!("rustomize-plugin-app_v1.0.0_x1.0_{os}"),
        "rustomize-plugin-app".to_owned(),
    ] {
        ignored(&other, &name);
    }
}

#[test]
fn a_sum_file_has_the_name_of_its_binary_and_an_ending() {
    let tree = tree();
    install(&tree, "h.io/acme/app", &script("1.0.0", "x")).ok();
    let folder = root(&tree).join("h.io/acme/app");
    let sum = folder.join(format!("{}_SHA256SUM", good()));
    assert!(sum.is_file());
    for other in [format!("{}.sha256", good()), format!("{}_SHA256SUMS", good()), "app_SHA256SUM".to_owned()] {
        fs::rename(&sum, folder.join(&other)).unwrap();
        tree.build(&[]).fails_with(&["unable to find plugin root"]);
        fs::rename(folder.join(&other), &sum).unwrap();
    }
    assert!(tree.build(&[]).ok().contains("v: x\n"));
}

#[test]
fn the_name_in_a_binarys_name_is_that_of_its_directory() {
    ignored(&file_name("other", "v1.0.0", "x1.0"), &good());
}

#[test]
fn a_version_in_a_name_has_three_numbers() {
    for version in ["1.0.0", "v1.0", "v1", "v1.0.0.0", "v1.0.x", "x1.0.0"] {
        ignored(&file_name("app", version, "x1.0"), &good());
    }
    let tree = tree();
    put(&tree, "h.io/acme/app", &file_name("app", "v1.0.0-dev", "x1.0"), &script("1.0.0-dev", "pre"));
    assert!(tree.build(&[]).ok().contains("v: pre\n"));
}

#[test]
fn a_version_in_a_name_has_no_build_metadata() {
    ignored(&file_name("app", "v1.0.0+meta", "x1.0"), &good());
    install(&tree(), "h.io/acme/app", &script("1.0.0+meta", "x")).fails_with(&["build metadata"]);
}

#[test]
fn a_version_of_the_interface_has_two_numbers() {
    for api in ["1.0", "x1", "x1.0.0", "v1.0", "x01.0", "x1.+0"] {
        ignored(&file_name("app", "v1.0.0", api), &good());
        // Nor does a plugin say it of itself, whatever its file is called.
        install(&tree(), "h.io/acme/app", &script_with("1.0.0", api, MADE, "x"))
            .fails_with(&["its own version is not"]);
        let tree = tree();
        put(&tree, "h.io/acme/app", &good(), &script_with("1.0.0", api, MADE, "x"));
        tree.build(&[]).fails_with(&["unable to find plugin root"]);
    }
}

#[test]
fn a_binary_for_another_system_is_ignored() {
    ignored(&format!("rustomize-plugin-app_v1.0.0_x1.0_plan9_{}", host().1), &good());
}

#[test]
fn a_binary_for_another_processor_is_ignored() {
    ignored(&format!("rustomize-plugin-app_v1.0.0_x1.0_{}_mips", host().0), &good());
}

#[test]
fn the_ending_of_windows_is_ignored_elsewhere() {
    ignored(&format!("{}.exe", good()), &good());
}

#[test]
fn builds_validation_and_lists_discover_plugins() {
    let tree = tree();
    tree.run(&["validate", "--enable-alpha-plugins"]).fails_with(&["unable to find plugin root"]);
    install(&tree, "h.io/acme/app", &script("1.0.0", "found")).ok();
    assert!(tree.build(&[]).ok().contains("v: found\n"));
    assert_eq!(tree.listed(), ["h.io/acme/app v1.0.0 installed"]);
    // Validation builds, runs the validators, and prints nothing.
    let validate = |args: &[&str]| tree.run(&[&["validate", "--enable-alpha-plugins"], args].concat());
    assert_eq!(validate(&[]).ok(), "");
    assert_eq!(validate(&[".", "."]).ok(), "");
    tree.write("kustomization.yaml", "generators: [g.yaml]\nvalidators: [v.yaml]\n");
    tree.write("v.yaml", &object("Checked", "v"));
    tree.plugin("Checked", "#!/bin/sh\ngrep -q 'v: found' && exit 0\necho 'not found' >&2\nexit 1\n");
    assert_eq!(validate(&[]).ok(), "");
    tree.plugin("Checked", "#!/bin/sh\necho 'this will not do' >&2\nexit 1\n");
    for args in [&[][..], &[".", "."]] {
        validate(args).fails_with(&["this will not do", "running the validator"]);
    }
    validate(&["-o", "out.yaml"]).fails_with(&["'validate' writes nothing"]);
    assert!(!tree.path().join("out.yaml").exists());
}

#[test]
fn a_required_plugin_is_loaded() {
    let tree = tree();
    tree.write("app", &script("1.0.0", "required"));
    require(&tree, "{app: {source: h.io/acme/app, from: ./app}}");
    tree.build(&["--offline"]).fails_with(&["'app' (h.io/acme/app, any version) is required and not installed"]);
    tree.run(&["plugin", "install"]).ok();
    assert!(tree.build(&["--offline"]).ok().contains("v: required\n"));
    // It is not discovered: a higher version is installed, and a plugin of another source.
    put(&tree, "h.io/acme/app", &file_name("app", "v2.0.0", "x1.0"), &script("2.0.0", "higher"));
    put(&tree, "h.io/other/app", &file_name("app", "v3.0.0", "x1.0"), &script("3.0.0", "other"));
    assert!(tree.build(&["--offline"]).ok().contains("v: required\n"));
    fs::remove_file(tree.path().join("plugins.yaml")).unwrap();
    tree.build(&["--offline"]).fails_with(&["several installed plugins"]);
}

#[test]
fn other_installed_plugins_are_discovered() {
    let tree = tree();
    tree.write("app", &script_with("1.0.0", "x1.0", "[]", "required"));
    require(&tree, "{app: {source: h.io/acme/app, from: ./app}}");
    tree.run(&["plugin", "install"]).ok();
    tree.build(&["--offline"]).fails_with(&["g.yaml:1:1"]);
    // Nothing names this plugin.
    install(&tree, "h.io/other/found", &script("3.0.0", "discovered")).ok();
    assert!(tree.build(&["--offline"]).ok().contains("v: discovered\n"));
}

#[test]
fn a_requirement_has_a_source_and_a_constraint() {
    let tree = tree();
    for version in ["1.0.0", "1.5.0", "2.0.0"] {
        install(&tree, "h.io/acme/app", &script(version, version)).ok();
    }
    for (constraint, want) in [("'~> 1.0'", "1.5.0"), ("'< 1.5'", "1.0.0"), ("'>= 1, != 1.5.0, < 2'", "1.0.0")] {
        require(&tree, &format!("{{app: {{source: h.io/acme/app, version: {constraint}}}}}"));
        assert!(tree.build(&["--offline"]).ok().contains(&format!("v: {want}\n")), "{constraint}");
    }
    require(&tree, "{app: {version: '~> 1.0'}}");
    tree.build(&["--offline"]).fails_with(&["plugins.yaml:3", "source"]);
}

#[test]
fn a_required_plugin_beats_what_is_discovered() {
    let tree = tree();
    install(&tree, "h.io/acme/app", &script("1.0.0", "required")).ok();
    install(&tree, "h.io/other/app", &script("9.0.0", "other")).ok();
    require(&tree, "{app: {source: h.io/acme/app}}");
    assert!(tree.build(&["--offline"]).ok().contains("v: required\n"));
    // It is not replaced where it is missing, and not where it fails to say what it does.
    require(&tree, "{app: {source: h.io/acme/app, version: '> 2'}}");
    tree.build(&["--offline"]).fails_with(&["is required and not installed"]);
    put(&tree, "h.io/acme/app", &file_name("app", "v3.0.0", "x1.0"), "#!/bin/sh\nexit 3\n");
    tree.build(&["--offline"]).fails_with(&["plugin 'app' (h.io/acme/app) cannot be used", "exit status: 3"]);
}

#[test]
fn a_bad_candidate_is_skipped_and_the_doctor_says_why() {
    let tree = tree();
    put(&tree, "h.io/acme/app", &good(), &script("1.0.0", "good"));
    let v = |version: &str| file_name("app", version, "x1.0");
    // Each looks better than the good one.
    put(&tree, "h.io/acme/app", &v("v1.1.0"), "#!/bin/sh\nexit 3\n");
    put(&tree, "h.io/acme/app", &v("v1.2.0"), &script("1.2.1", "lies"));
    put(&tree, "h.io/acme/app", &v("v1.3.0"), "#!/bin/sh\necho nonsense\n");
    let swapped = put(&tree, "h.io/acme/app", &v("v1.4.0"), &script("1.4.0", "swapped"));
    fs::write(&swapped, script("1.4.0", "other")).unwrap();
    put(&tree, "h.io/acme/app", &v("v1.5.0"), "no program");
    assert!(tree.build(&[]).ok().contains("v: good\n"));
    let said = tree.run(&["plugin", "doctor", "ex.io/v1/Made"]).ok();
    for (version, why) in [
        ("v1.1.0", "exit status: 3"),
        ("v1.2.0", "it says that it is version 1.2.1"),
        ("v1.3.0", "printed no description"),
        ("v1.4.0", "its content has changed since it was installed"),
        ("v1.5.0", "not executable"),
    ] {
        let line = said.lines().find(|line| line.contains(version)).unwrap_or_else(|| panic!("{version}: {said}"));
        assert!(line.contains(why), "{version}: {said}");
    }
}

#[test]
fn a_discovered_plugin_is_called_as_its_file_says() {
    let tree = tree();
    // The name is that in the file's name without the prefix, and nothing else says it.
    let components = r#"["extra"]"#;
    put(&tree, "h.io/x/coffee", &file_name("coffee", "v1.0.0", "x1.0"), &script_with("1.0.0", "x1.0", components, "x"));
    let annotated = |name: &str| {
        let annotation = format!("  annotations: {{rustomize.dev/plugin: {name}}}\n");
        tree.write("g.yaml", &(object("Any", "g") + &annotation));
        tree.build(&[])
    };
    assert!(annotated("coffee-extra").ok().contains("c: extra\n"));
    annotated("rustomize-plugin-coffee-extra").fails_with(&["no installed plugin provides"]);
}

/// A tree whose object asks for a component by name.
fn component(tree: &Tree, name: &str) -> Run {
    tree.write("g.yaml", &format!("{}  annotations: {{rustomize.dev/plugin: {name}}}\n", object("Any", "g")));
    tree.build(&[])
}

#[test]
fn components_are_addressed_with_the_plugins_name() {
    let tree = tree();
    install(&tree, "h.io/acme/app", &script_with("1.0.0", "x1.0", r#"["default", "extra"]"#, "x")).ok();
    assert!(component(&tree, "app-extra").ok().contains("c: extra\n"));
    assert!(component(&tree, "app").ok().contains("c: default\n"), "the default one has the plugin's name alone");
    component(&tree, "extra").fails_with(&["no installed plugin provides 'extra'"]);
    component(&tree, "app-none").fails_with(&["no installed plugin provides 'app-none'"]);
    let run = tree.run(&["plugin", "run", "app-extra"]);
    assert!(run.ok().contains("c: extra\n"));
}

#[test]
fn discovery_asks_a_plugin_to_describe_itself_in_a_sandbox() {
    let report = Tree::new("").run(&["doctor", "-o", "json"]).ok();
    if !report.contains("\"enforced\": true") {
        return skip("the system has no sandbox");
    }
    let mut tree = tree();
    let written = tree.home().join("written");
    let tries = format!("echo x 2>/dev/null > '{}'; [ -z \"$SECRET\" ] || exit 4; ", written.display());
    // With LANG=fail a plugin that is asked fails.
    let asked = "[ \"$LANG\" != fail ] || exit 3";
    let describing = script("1.0.0", "x").replace(asked, &(tries + asked));
    put(&tree, "h.io/acme/app", &good(), &describing);
    tree.variables.insert("SECRET", "hunter2".to_owned());
    assert!(tree.build(&[]).ok().contains("v: x\n"));
    assert!(!written.exists(), "it wrote into the user's home");
    // It is asked once for each content: the kept answer will do, and another content is asked.
    let cache = tree.home().join(".cache/rustomize/describe");
    assert_eq!(names(&cache), [format!("{}.json", sha256(describing.as_bytes()))]);
    tree.variables.insert("LANG", "fail".to_owned());
    assert!(tree.build(&[]).ok().contains("v: x\n"), "it was asked again");
    let other = describing.replace("v: x", "v: other");
    put(&tree, "h.io/acme/app", &good(), &other);
    tree.build(&[]).fails_with(&["unable to find plugin root"]);
    tree.variables.remove("LANG");
    tree.build(&[]).fails_with(&["unable to find plugin root"]);
    let third = describing.replace("v: x", "v: third");
    put(&tree, "h.io/acme/app", &good(), &third);
    assert!(tree.build(&[]).ok().contains("v: third\n"));
    assert!(names(&cache).contains(&format!("{}.json", sha256(third.as_bytes()))));
}

/// A plugin that appends a word to the data of each resource, as its object says.
fn appender(version: &str, lists: &str) -> String {
    format!(
        "#!/bin/sh\nif [ \"$1\" = describe ]; then\n  echo '{{\"version\": \"{version}\", \"sdk_version\": \"0.1.0\", \"api_version\": \"x1.0\", {lists}}}'\n  exit\nfi\n\
         if [ \"$KUSTOMIZE_PLUGIN_MODE\" = generate ]; then\n  printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {{name: made}}\\ndata: {{v: old}}\\n'\n  exit\nfi\n\
         word=$(sed -n 's/^  name: //p' \"$1\")\nsed \"s/  v: .*/&-$word/\"\n"
    )
}

#[test]
fn a_description_has_lists_of_components_and_post_processors_run_last() {
    let tree = tree();
    let component = |kind: &str| format!(r#"[{{"name": "{kind}", "apiVersion": "ex.io/v1", "kind": "{kind}"}}]"#);
    // The words of this program and Packer's.
    let lists = format!(
        r#""generators": {}, "builders": {}, "transformers": {}, "provisioners": {}, "post_processors": {}, "validators": {}, "datasources": ["none"]"#,
        component("Generated"),
        component("Built"),
        component("Changed"),
        component("Provisioned"),
        component("Post"),
        component("Checked"),
    );
    let installed = install(&tree, "h.io/acme/app", &appender("1.0.0", &lists));
    // No build asks a data source. The installation says so, and the kind has no plugin.
    assert!(installed.stderr.contains("h.io/acme/app: no build asks its data sources, which are left out: none"));
    installed.ok();
    let written = tree.run(&["plugin", "describe", "h.io/acme/app", "-o", "markdown"]);
    assert!(written.stderr.contains("app: no build asks its data sources"), "{}", written.stderr);
    assert!(tree.run(&["plugin", "describe", "h.io/acme/app"]).ok().contains("\"datasources\""));
    tree.write("g.yaml", &format!("{}  annotations: {{rustomize.dev/plugin: app-none}}\n", object("Any", "g")));
    tree.build(&[]).fails_with(&["no installed plugin provides 'app-none'"]);
    for kind in ["Generated", "Built", "Changed", "Provisioned", "Post", "Checked"] {
        tree.write(&format!("{kind}.yaml"), &object(kind, &kind.to_lowercase()));
    }
    tree.write("Post2.yaml", &object("Post", "post2"));
    tree.plugin("Placed", "#!/bin/sh\nsed 's/  v: .*/&-placed/'\n");
    tree.write("Placed.yaml", &object("Placed", "placed"));
    let built = |generator: &str, transformers: &str| {
        let text = format!("generators: [{generator}.yaml]\ntransformers: [{transformers}]\n");
        tree.write("kustomization.yaml", &text);
        let out = tree.build(&[]).ok();
        out.lines().find_map(|line| line.strip_prefix("  v: ")).unwrap().to_owned()
    };
    assert_eq!(built("Generated", "Changed.yaml, Provisioned.yaml"), "old-changed-provisioned");
    assert_eq!(built("Built", "Provisioned.yaml, Changed.yaml"), "old-provisioned-changed");
    // Post-processors run behind all others, and among themselves in the order of the list.
    let listed = "Post2.yaml, Changed.yaml, Post.yaml, Placed.yaml";
    assert_eq!(built("Generated", listed), "old-changed-placed-post2-post");
    assert_eq!(built("Generated", "Post.yaml, Post2.yaml, Changed.yaml"), "old-changed-post-post2");
    tree.write("kustomization.yaml", "generators: [Generated.yaml]\nvalidators: [Checked.yaml]\n");
    tree.build(&[]).fails_with(&["validator shouldn't modify"]);
    tree.write("kustomization.yaml", "generators: [Post.yaml]\n");
    tree.build(&[]).fails_with(&["is a transformer for", "list the object under 'transformers'"]);
    // It is one JSON object.
    install(&tree, "h.io/acme/one", "#!/bin/sh\necho '[]'\n").fails_with(&["printed no description"]);
    let two = "{\"version\": \"1.0.0\", \"api_version\": \"x1.0\"}";
    install(&tree, "h.io/acme/two", &format!("#!/bin/sh\necho '{two} {two}'\n"))
        .fails_with(&["printed no description"]);
}

#[test]
fn a_plugin_that_says_another_version_than_its_file_is_refused() {
    let tree = tree();
    put(&tree, "h.io/acme/app", &file_name("app", "v1.0.1", "x1.0"), &script("1.0.2", "x"));
    tree.build(&[]).fails_with(&["unable to find plugin root"]);
    let said = tree.run(&["plugin", "doctor", "ex.io/v1/Made"]).ok();
    assert!(said.contains("it says that it is version 1.0.2, its file v1.0.1"), "{said}");
    put(&tree, "h.io/acme/app", &file_name("app", "v1.0.2", "x1.0"), &script("1.0.2", "right"));
    assert!(tree.build(&[]).ok().contains("v: right\n"));
}

#[test]
fn a_version_with_leading_zeros_is_refused() {
    ignored(&file_name("app", "v1.00.01", "x1.0"), &good());
    install(&tree(), "h.io/acme/app", &script("1.00.01", "x")).fails_with(&["1.00.01"]);
}

#[test]
fn a_plugin_that_says_another_interface_than_its_file_is_refused() {
    let tree = tree();
    put(&tree, "h.io/acme/app", &good(), &script_with("1.0.0", "x1.1", MADE, "x"));
    tree.build(&[]).fails_with(&["unable to find plugin root"]);
    let said = tree.run(&["plugin", "doctor", "ex.io/v1/Made"]).ok();
    assert!(said.contains("it says that it is for x1.1, its file x1.0"), "{said}");
}

/// A list with the generator of these trees.
const MADE: &str = r#"[{"name": "made", "apiVersion": "ex.io/v1", "kind": "Made"}]"#;

#[test]
fn a_pre_release_is_dev_or_refused() {
    for version in ["v1.0.0-rc1", "v1.0.0-beta", "v1.0.0-dev.1", "v1.0.0-DEV"] {
        ignored(&file_name("app", version, "x1.0"), &good());
    }
    install(&tree(), "h.io/acme/app", &script("1.0.0-rc1", "x")).fails_with(&["a pre-release other than -dev"]);
    let tree = tree();
    install(&tree, "h.io/acme/app", &script("1.0.0-dev", "dev")).ok();
    assert!(tree.build(&[]).ok().contains("v: dev\n"));
}

#[test]
fn the_highest_installed_version_that_is_allowed_is_chosen() {
    let tree = tree();
    for version in ["1.10.0", "1.9.0", "2.0.0", "1.2.0"] {
        install(&tree, "h.io/acme/app", &script(version, version)).ok();
    }
    assert!(tree.build(&[]).ok().contains("v: 2.0.0\n"));
    require(&tree, "{app: {source: h.io/acme/app, version: '~> 1.0'}}");
    assert!(tree.build(&["--offline"]).ok().contains("v: 1.10.0\n"));
    // A lock beats that.
    tree.write("own", &script("1.9.0", "1.9.0"));
    require(&tree, "{app: {source: h.io/acme/app, version: '~> 1.0', from: ./own}}");
    tree.run(&["plugin", "install"]).ok();
    assert!(tree.build(&["--offline"]).ok().contains("v: 1.9.0\n"));
}

#[test]
fn a_release_beats_its_own_pre_release_and_loses_to_the_next() {
    let tree = tree();
    let chosen =
        || tree.build(&[]).ok().lines().find_map(|line| line.strip_prefix("  v: ").map(str::to_owned)).unwrap();
    install(&tree, "h.io/acme/app", &script("1.0.1-dev", "dev")).ok();
    install(&tree, "h.io/acme/app", &script("1.0.0", "before")).ok();
    assert_eq!(chosen(), "dev");
    install(&tree, "h.io/acme/app", &script("1.0.1", "final")).ok();
    assert_eq!(chosen(), "final");
}

#[test]
fn a_pre_release_satisfies_what_its_release_would() {
    let tree = tree();
    install(&tree, "h.io/acme/app", &script("1.0.1-dev", "dev")).ok();
    require(&tree, "{app: {source: h.io/acme/app, version: '>= 1.0.1'}}");
    assert!(tree.build(&["--offline"]).ok().contains("v: dev\n"));
    require(&tree, "{app: {source: h.io/acme/app, version: '> 1.0.1'}}");
    tree.build(&["--offline"]).fails_with(&["is required and not installed"]);
}

#[test]
fn an_interface_of_another_major_or_a_newer_minor_version_does_not_run() {
    for api in ["x0.0", "x2.0", "x1.1", "x1.7"] {
        let tree = tree();
        install(&tree, "h.io/acme/app", &script_with("1.0.0", api, MADE, "x"))
            .fails_with(&[&format!("it is for {api}, this is x1.0")]);
        put(&tree, "h.io/acme/app", &file_name("app", "v1.0.0", api), &script_with("1.0.0", api, MADE, "x"));
        tree.build(&[]).fails_with(&["unable to find plugin root"]);
    }
}

#[test]
fn one_name_from_two_sources_is_two_plugins() {
    let tree = tree();
    install(&tree, "h.io/acme/app", &script("1.0.0", "acme")).ok();
    install(&tree, "h.io/other/app", &script("1.0.0", "other")).ok();
    assert_eq!(tree.listed(), ["h.io/acme/app v1.0.0 installed", "h.io/other/app v1.0.0 installed"]);
    let sources: Vec<_> = list(&tree).iter().map(|plugin| plugin["source"].as_str().unwrap().to_owned()).collect();
    assert_eq!(sources, ["h.io/acme/app", "h.io/other/app"]);
}

#[test]
fn two_sources_for_one_kind_are_an_error_with_the_lines_that_settle_it() {
    let tree = tree();
    install(&tree, "h.io/acme/app", &script("1.0.0", "acme")).ok();
    install(&tree, "h.io/other/app", &script("2.0.0", "other")).ok();
    tree.build(&[]).fails_with(&[
        "g.yaml:1:1",
        "'h.io/acme/app', 'h.io/other/app'",
        "requires: {app: {source: h.io/acme/app, version: '1.0.0'}}",
        "requires: {app: {source: h.io/other/app, version: '2.0.0'}}",
    ]);
}

#[test]
fn a_requirement_settles_which_of_two_sources_is_used() {
    let tree = tree();
    install(&tree, "h.io/acme/app", &script("1.0.0", "acme")).ok();
    install(&tree, "h.io/other/app", &script("2.0.0", "other")).ok();
    let said = tree.build(&[]).fails_with(&["several installed plugins"]);
    let mut settled = Vec::new();
    // Each of the lines that the error proposes works where it is pasted.
    for line in said.lines().filter_map(|line| line.trim().strip_prefix("requires: ")) {
        require(&tree, line);
        let out = tree.build(&["--offline"]).ok();
        settled.push(out.lines().find_map(|line| line.strip_prefix("  v: ")).unwrap().to_owned());
    }
    assert_eq!(settled, ["acme", "other"]);
    assert!(Path::new(&root(&tree)).join("h.io/other/app").is_dir());
}
