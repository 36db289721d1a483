//! The author's circle: a new plugin is tested, packaged, served by a plain file server, installed
//! from there, locked, built with, updated and removed. Real programs and a real server on this
//! machine. `tests/author.rs` runs [`circle`] for each language and role.

use crate::author::own_test;
use crate::support::plugins::root;
use crate::support::servers::{Files, Reply, serve, sha256};
use crate::support::{Tree, git, run};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// A tree with a new plugin in bash below `label`.
fn new_plugin() -> Tree {
    let tree = Tree::new("");
    tree.run(&["plugin", "new", "label", "--lang", "bash"]).ok();
    tree
}

/// The files of a directory by their names.
fn files_in(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap())).collect()
}

/// Serves files below a path, as any web server would: no lists, no queries.
fn serve_directory(directory: PathBuf) -> String {
    serve(move |request| {
        let path = request.path.split('?').next().unwrap().trim_start_matches('/');
        fs::read(directory.join(path)).map_or_else(|_| Reply::not_found(), Reply::ok)
    })
}

const ARCHIVE: &str = "rustomize-plugin-label_v0.1.0_x1.0_any_any.tar.gz";
const SUMS: &str = "rustomize-plugin-label_v0.1.0_SHA256SUMS";

/// The place of a release on a file server that is laid out as releases are.
const RELEASE: &str = "team/rustomize-plugin-label/releases/download/v0.1.0";

/// A kustomization that uses the new plugin, in a tree of its own.
fn user(requires: &str) -> Tree {
    let tree = Tree::new("-- kustomization.yaml --\ngenerators: [object.yaml]\n");
    let plugin = new_plugin();
    fs::copy(plugin.path().join("label/example/object.yaml"), tree.path().join("object.yaml")).unwrap();
    fs::copy(plugin.path().join("label/example/expected.yaml"), tree.path().join("../home/expected.yaml")).unwrap();
    if !requires.is_empty() {
        crate::support::plugins::require(&tree, requires);
    }
    tree
}

fn expected(tree: &Tree) -> String {
    fs::read_to_string(tree.home().join("expected.yaml")).unwrap()
}

/// A file with a secret key, and the public key.
fn key(tree: &Tree) -> (String, String) {
    let pair = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
    let path = tree.home().join("minisign.key");
    fs::write(&path, pair.sk.to_box(None).unwrap().into_string()).unwrap();
    (path.to_str().unwrap().to_owned(), pair.pk.to_base64())
}

/// The files of a new plugin in which its version is.
fn files_with_version(language: &str) -> &'static [&'static str] {
    match language {
        "python" => &["plugin/plugin.yaml", "plugin/main.py"],
        "go" => &["plugin/plugin.yaml", "plugin/main.go"],
        "rust" => &["Cargo.toml"],
        _ => &["plugin/plugin.yaml"],
    }
}

/// Releases a plugin from the directory of its author: the files of the release are on a file
/// server, and a bare clone beside them, which has the tag.
fn release(author: &Tree, name: &str, version: &str) {
    let place = format!("../www/team/rustomize-plugin-{name}");
    let out = format!("{place}/releases/download/v{version}");
    let directory = author.path().join(name);
    run(author.command(&["plugin", "package", "-o", &out]).current_dir(&directory)).ok();
    author.assert_nothing_left();
    if !directory.join(".git").exists() {
        git(&directory, &["init", "-q", "-b", "main"]);
        git(&directory, &["init", "-q", "--bare", &format!("{place}.git")]);
    }
    git(&directory, &["add", "."]);
    git(&directory, &["commit", "-qm", version]);
    git(&directory, &["tag", &format!("v{version}")]);
    git(&directory, &["push", "-q", &format!("{place}.git"), "main", &format!("v{version}")]);
    git(&directory.join(format!("{place}.git")), &["update-server-info"]);
}

/// Makes a new plugin and runs its own test.
pub fn new_and_tested(author: &Tree, language: &str, role: &str) {
    let name = format!("team-{role}");
    author.run(&["plugin", "new", &name, "--lang", language, "--role", role]).ok();
    let said = own_test(author, &name).ok();
    assert!(said.ends_with("ok\n"), "{said}");
    // It is found by what it says of itself.
    let listed = author.listed();
    assert!(listed.contains(&format!("example.com/team/{name} v0.1.0 installed")), "{listed:?}");
}

/// A new plugin goes round, with no other file of this project than the program: its author tests
/// and releases it; in another home it is added, locked, built with, updated and removed.
pub fn circle(author: &Tree, language: &str, role: &str) {
    let name = format!("team-{role}");
    let kind = format!("Team{}{}", role[..1].to_uppercase(), &role[1..]);
    new_and_tested(author, language, role);
    release(author, &name, "0.1.0");
    let source = format!("{}/team/{name}", serve_directory(author.path().join("www")));
    // The other home has the example, as a page of the plugin would show it.
    let user = Tree::new("");
    let example = author.path().join(&name).join("example");
    for (file, bytes) in files_in(&example).into_iter().filter(|(file, _)| !file.starts_with("plugins.")) {
        fs::write(user.path().join(file), bytes).unwrap();
    }
    let expected = fs::read_to_string(example.join("expected.yaml")).unwrap();
    let built = |version: &str| {
        let lock = fs::read_to_string(user.path().join("plugins.lock")).unwrap();
        let row = format!("{source} v{version} installed");
        assert!(lock.contains(&source) && lock.contains(version) && user.listed().contains(&row), "{lock}");
        assert_eq!(user.build(&["--frozen", "--offline"]).ok(), expected, "{language}, {role}");
        let why = user.run(&["plugin", "why", &format!("example.com/v1/{kind}"), "--as", role]).ok();
        let is_used = |line: &str| line.contains(&format!("{source}/")) && line.ends_with(": used");
        assert!(why.lines().any(|line| is_used(line) && line.contains(&format!("_v{version}_"))), "{why}");
    };
    user.run(&["plugin", "add", &source]).ok();
    built("0.1.0");
    if role == "validator" {
        let resources = user.path().join("resources.yaml");
        let accepted = fs::read(&resources).unwrap();
        fs::copy(example.join("refused.yaml"), &resources).unwrap();
        user.build(&["--frozen"]).fails_with(&["ConfigMap other has no label team"]);
        fs::write(&resources, accepted).unwrap();
    }
    // A new version.
    for file in files_with_version(language) {
        let path = author.path().join(&name).join(file);
        fs::write(&path, fs::read_to_string(&path).unwrap().replacen("0.1.0", "0.2.0", 1)).unwrap();
    }
    // The test of a plugin in Go compiles no file that packaging does not compile.
    if language != "go" {
        own_test(author, &name).ok();
    }
    release(author, &name, "0.2.0");
    user.run(&["plugin", "update"]).ok();
    built("0.2.0");
    user.run(&["plugin", "remove", &source]).ok();
    user.build(&["--frozen", "--offline"]).fails_with(&["rustomize plugin install"]);
    assert!(!user.listed().iter().any(|row| row.ends_with("installed")), "{:?}", user.listed());
}

#[test]
fn new_test_package_serve_install_lock_build() {
    let author = new_plugin();
    // Test.
    assert!(own_test(&author, "label").ok().ends_with("ok\n"));
    // Package, into the place where a file server has releases.
    let www = author.path().join("www");
    let release = www.join(RELEASE);
    let said = author.run(&["plugin", "package", "label", "-o", release.to_str().unwrap()]).ok();
    assert_eq!(said.lines().count(), 2, "{said}");
    let packaged = files_in(&release);
    assert_eq!(packaged.keys().collect::<Vec<_>>(), [SUMS, ARCHIVE]);
    assert_eq!(String::from_utf8_lossy(&packaged[SUMS]), format!("{}  {ARCHIVE}\n", sha256(&packaged[ARCHIVE])));
    author.assert_nothing_left();
    // Serve: the tags of the repository of releases are static files too.
    let repository = www.join("team/rustomize-plugin-label.git");
    let work = author.path().join("label");
    git(&work, &["init", "-q", "-b", "main"]);
    git(&work, &["add", "."]);
    git(&work, &["commit", "-qm", "first"]);
    git(&work, &["tag", "v0.1.0"]);
    git(author.path().as_path(), &["clone", "-q", "--bare", "label", repository.to_str().unwrap()]);
    git(&repository, &["update-server-info"]);
    let server = serve_directory(www);
    // Install, lock and build from the releases, and from a URL with the version in it.
    let template = format!(
        "http://{server}/team/rustomize-plugin-label/releases/download/v{{version}}/rustomize-plugin-label_v{{version}}_x1.0_any_any.tar.gz"
    );
    for requires in [
        format!("{{label: {{source: '{server}/team/label'}}}}"),
        format!("{{label: {{source: h.io/team/label, version: '0.1.0', from: '{template}'}}}}"),
    ] {
        let tree = user(&requires);
        tree.run(&["plugin", "install"]).ok();
        let lock = fs::read_to_string(tree.path().join("plugins.lock")).unwrap();
        assert!(lock.contains(&sha256(&packaged[ARCHIVE])), "{lock}");
        assert_eq!(tree.build(&["--frozen", "--offline"]).ok(), expected(&tree));
        // Another machine has just what was committed.
        fs::remove_dir_all(root(&tree)).unwrap();
        tree.run(&["plugin", "install", "--frozen"]).ok();
        assert_eq!(tree.build(&["--frozen", "--offline"]).ok(), expected(&tree));
    }
    // And by the command that writes plugins.yaml.
    let tree = user("");
    tree.run(&["plugin", "add", &format!("{server}/team/label")]).ok();
    assert_eq!(tree.build(&["--frozen", "--offline"]).ok(), expected(&tree));
}

#[test]
fn a_package_is_the_same_bytes_again_and_its_signatures_are_checked() {
    let author = new_plugin();
    let (secret, public) = key(&author);
    let package = |out: &str| {
        author.run(&["plugin", "package", "label", "-o", out, "--key", &secret, "--source", "h.io/team/label"])
    };
    let run = package("one");
    assert!(run.stderr.contains(&format!("rustomize plugin trust h.io/team/label --key {public}")), "{}", run.stderr);
    run.ok();
    let first = files_in(&author.path().join("one"));
    let names = [SUMS.to_owned(), format!("{SUMS}.minisig"), ARCHIVE.to_owned(), format!("{ARCHIVE}.minisig")];
    assert_eq!(first.keys().cloned().collect::<Vec<_>>(), names);
    // Times, permissions of the group and the order on the disk are in no archive.
    let file = author.path().join("label/plugin/main.sh");
    let text = fs::read(&file).unwrap();
    fs::remove_file(&file).unwrap();
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o700)).unwrap();
    package("one").ok();
    assert!(files_in(&author.path().join("one")) == first, "packaging again changes files");
    package("two").ok();
    assert!(files_in(&author.path().join("two"))[ARCHIVE] == first[ARCHIVE], "the archive differs");
    // With the rule, only what is signed with the key is installed.
    let files = Files::default();
    for (name, bytes) in &first {
        files.put(&format!("/{name}"), bytes.clone());
    }
    let server = files.serve();
    let tree = user(&format!("{{label: {{source: h.io/team/label, from: 'http://{server}/{ARCHIVE}'}}}}"));
    tree.run(&["plugin", "trust", "h.io/team/label", "--from", "**", "--key", &public]).ok();
    tree.run(&["plugin", "install"]).ok();
    assert_eq!(tree.build(&["--frozen"]).ok(), expected(&tree));
    fs::remove_dir_all(root(&tree)).unwrap();
    let (_, other) = key(&author);
    tree.run(&["plugin", "trust", "h.io/team/label", "--from", "**", "--key", &other]).ok();
    tree.run(&["plugin", "install"]).fails_with(&["is not signed by one of the keys that are trusted"]);
    files.put(&format!("/{ARCHIVE}.minisig"), &first[&format!("{SUMS}.minisig")][..]);
    tree.run(&["plugin", "trust", "h.io/team/label", "--from", "**", "--key", &public]).ok();
    tree.run(&["plugin", "install"]).fails_with(&["is not signed by one of the keys that are trusted"]);
}

#[test]
fn package_with_wrong_sums_is_not_installed() {
    let author = new_plugin();
    let www = author.path().join("www");
    let release = www.join(RELEASE);
    author.run(&["plugin", "package", "label", "-o", release.to_str().unwrap()]).ok();
    git(&author.path().join("label"), &["init", "-q"]);
    git(&author.path().join("label"), &["add", "."]);
    git(&author.path().join("label"), &["commit", "-qm", "first"]);
    git(&author.path().join("label"), &["tag", "v0.1.0"]);
    let repository = www.join("team/rustomize-plugin-label.git");
    git(&author.path(), &["clone", "-q", "--bare", "label", repository.to_str().unwrap()]);
    git(&repository, &["update-server-info"]);
    let server = serve_directory(www);
    let sums = release.join(SUMS);
    let honest = fs::read_to_string(&sums).unwrap();
    for (lie, words) in [
        (honest.replacen(|c: char| c.is_ascii_hexdigit(), "", 1), "does not name a file of this plugin"),
        (format!("{}{}", "0".repeat(64), &honest[64..]), "is not what was announced"),
        (String::new(), "does not name a file of this plugin"),
        (honest.replace("_any_any", "_plan9_mips"), "only for plan9_mips"),
    ] {
        fs::write(&sums, &lie).unwrap();
        let tree = user("");
        tree.run(&["plugin", "install", &format!("{server}/team/label")]).fails_with(&[words]);
        assert!(!root(&tree).join(&server).exists(), "{lie}");
    }
}

/// A plugin that could not be installed is not packaged, and no file is left.
#[test]
fn what_cannot_be_installed_is_not_packaged() {
    let manifest = |fields: &str| format!("apiVersion: rustomize.dev/v1\nkind: Plugin\nruntime: bash\n{fields}");
    let full = "name: label\nversion: 0.1.0\ngenerators: [{apiVersion: ex.io/v1, kind: Made}]\n";
    let tree = Tree::new("");
    let fails = |args: &[&str], words: &[&str]| {
        tree.run(&[&["plugin", "package"], args].concat()).fails_with(words);
        tree.assert_nothing_left();
        assert!(!tree.path().join("dist").exists(), "{args:?} leaves something");
    };
    tree.write("app/main.sh", "#!/bin/sh\n");
    for (fields, words) in [
        (full.replace("version: 0.1.0\n", ""), "says no version"),
        (full.replace("0.1.0", "0.1.0-dev"), "is not a release"),
        (full.replace("label", "rustomize-label"), "--name label"),
        (full.replace("label", "a/b"), "is not a name for a plugin"),
        (full.replace("ex.io/v1", "''"), "no apiVersion"),
        (format!("{full}entry: none.sh\n"), "the entry 'none.sh' does not exist"),
        (format!("{full}dependencies: {{b: {{source: h.io/a/b, from: ../b}}}}\n"), "a place of this machine"),
        (format!("{full}schema: {{}}\n"), "unknown field"),
        (full.replace("kind: Made", "kind: Made, schema: none.json"), "does not exist"),
    ] {
        tree.write("app/plugin.yaml", &manifest(&fields));
        fails(&["app"], &[words]);
    }
    tree.write("app/plugin.yaml", &manifest(full));
    fails(&["app", "-o", "app/dist"], &["in the directory that is packaged", "-o ../dist"]);
    fails(&["app", "--name", "other"], &["says that it is 'label'"]);
    fails(&["app", "--platform", "linux_arm64=app/main.sh"], &["is for every platform"]);
    fails(&["nothing"], &["'nothing': no such file or directory"]);
    tree.run(&["plugin", "new", "compiled", "--lang", "rust"]).ok();
    fails(&["compiled"], &["no executable in 'bin'", "build it first: compiled/test.sh"]);
    tree.run(&["plugin", "describe", "compiled"]).fails_with(&["build it first: compiled/test.sh"]);
    tree.write("app/deep/.git/config", "x");
    fails(&["app"], &["belong to one machine"]);
    fs::remove_dir_all(tree.path().join("app/deep")).unwrap();
    symlink("/etc/passwd", tree.path().join("app/link")).unwrap();
    fails(&["app"], &["neither a file nor a directory"]);
    fs::remove_file(tree.path().join("app/link")).unwrap();
    // Keys: none, another file, one with a password and nobody to say it, and one that would get
    // in.
    for (text, words) in [
        ("", "not a secret key of minisign"),
        ("untrusted comment: x\nAAAA\n", "not a secret key of minisign"),
        ("untrusted comment: x\nnot base64\n", "not a secret key of minisign"),
    ] {
        tree.write("key", text);
        let said = tree.run(&["plugin", "package", "app", "--key", "key"]).fails_with(&[words]);
        assert!(!said.contains("AAAA") && !said.contains("not base64"), "{said}");
    }
    fails(&["app", "--key", "none"], &["cannot read the key"]);
    let (secret, _) = key(&tree);
    fails(&["app", "--key", &secret], &["a signature names the source", "--source github.com/acme/label"]);
    fails(&["app", "--key", &secret, "--source", "h.io/team/other"], &["is not one of the plugin 'label'"]);
    fs::copy(secret, tree.path().join("app/secret.key")).unwrap();
    fails(&["app", "--key", "app/secret.key"], &["in the directory that is packaged", "keep it elsewhere"]);
    fs::remove_file(tree.path().join("app/secret.key")).unwrap();
    // Executables that do not say what they are.
    for (script, words) in [
        ("exit 3", "exit status: 3"),
        ("echo '{}'", "says no version"),
        ("echo '{\"version\": \"1.0\"}'", "invalid version"),
        ("echo '{\"version\": \"1.0.0\"}'", "no api_version"),
        ("echo '{\"version\": \"1.0.0\", \"api_version\": \"x9.0\"}'", "it is for x9.0"),
        ("echo '{\"version\": \"1.0.0\", \"api_version\": \"x1.0\"}'", "says nothing of what it does"),
    ] {
        tree.write("built", &format!("#!/bin/sh\n{script}\n"));
        fails(&["built"], &[words]);
    }
    fails(&[".", "--platform", "plan9_mips=built"], &["no executable for this machine"]);
    tree.run(&["plugin", "package", "app", "-o", "dist"]).ok();
    assert_eq!(files_in(&tree.path().join("dist")).len(), 2);
}

#[test]
fn executables_are_packaged_for_each_platform() {
    let tree = Tree::new(
        "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: Made\nmetadata:\n  name: g\n",
    );
    tree.write("../home/built/app", &crate::support::plugins::script("1.2.3", "packaged"));
    tree.write("../home/built/other", "for another machine");
    let (os, arch) = crate::support::packages::host();
    let built = tree.home().join("built");
    let other = format!("plan9_mips={}", built.join("other").display());
    let app = built.join("app");
    tree.run(&["plugin", "package", app.to_str().unwrap(), "--platform", &other, "-o", "../home/dist"]).ok();
    let packaged = files_in(&tree.home().join("dist"));
    let own = format!("rustomize-plugin-app_v1.2.3_x1.0_{os}_{arch}.tar.gz");
    let names =
        ["rustomize-plugin-app_v1.2.3_SHA256SUMS", own.as_str(), "rustomize-plugin-app_v1.2.3_x1.0_plan9_mips.tar.gz"];
    assert_eq!(packaged.len(), 3);
    assert!(names.iter().all(|name| packaged.contains_key(*name)), "{:?}", packaged.keys());
    let server = serve_directory(tree.home().join("dist"));
    let from = format!("http://{server}/rustomize-plugin-app_v1.2.3_x1.0_{{os}}_{{arch}}.tar.gz");
    tree.run(&["plugin", "add", "h.io/acme/app@= 1.2.3", "--from", &from]).ok();
    assert!(tree.build(&["--frozen"]).ok().contains("v: packaged"));
}

#[test]
fn description_prints_as_manifest_schema_and_page() {
    let tree = Tree::new("");
    let schema = r#"{"type": "object", "additionalProperties": false, "required": ["team"], "properties": {"team": {"type": "string", "description": "The value | of the label.", "examples": ["blue"]}, "mode": {"enum": ["add", "set"], "default": "add"}}}"#;
    let described = format!(
        r#"{{"version": "1.2.3", "api_version": "x1.0", "protocol": "exec", "format": "json", "worker": true, "permissions": {{"read": ["/etc/app"]}}, "transformers": [{{"name": "label", "apiVersion": "example.com/v1", "kind": "TeamLabel", "summary": "Sets the label team.", "schema": {schema}}}]}}"#
    );
    tree.write(
        "label.sh",
        &format!("#!/usr/bin/env bash\n[ \"$1\" = describe ] || exit 3\ncat <<'END'\n{described}\nEND\n"),
    );
    let json = |args: &[&str]| -> serde_json::Value { serde_json::from_str(&tree.run(args).ok()).unwrap() };
    // A manifest that says the same as the script.
    let said = json(&["plugin", "describe", "./label.sh"]);
    let manifest = tree.run(&["plugin", "describe", "./label.sh", "-o", "yaml"]).ok();
    assert!(
        manifest.starts_with("apiVersion: rustomize.dev/v1\nkind: Plugin\nname: label\nversion: 1.2.3\n"),
        "{manifest}"
    );
    assert!(manifest.contains("\nruntime: bash\nentry: label.sh\nformat: json\nworker: true\n"), "{manifest}");
    tree.write("imported/plugin.yaml", &manifest);
    fs::copy(tree.path().join("label.sh"), tree.path().join("imported/label.sh")).unwrap();
    assert_eq!(json(&["plugin", "describe", "imported"]), said);
    assert_eq!(tree.run(&["plugin", "describe", "imported", "-o", "yaml"]).ok(), manifest);
    tree.run(&["plugin", "package", "imported"]).ok();
    // What was imported runs as before, in each role.
    let role = |kind: &str| format!(r#"[{{"name": "{kind}", "apiVersion": "example.com/v1", "kind": "{kind}"}}]"#);
    let all = format!(
        r#"{{"version": "2.0.0", "api_version": "x1.0", "generators": {}, "transformers": {}, "validators": {}}}"#,
        role("Made"),
        role("Changed"),
        role("Checked")
    );
    tree.write("all.sh", &format!("#!/bin/bash\n[ \"$1\" != describe ] || exec echo '{all}'\n\
        case $RUSTOMIZE_PLUGIN_ROLE in\ngenerator) printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {{name: made}}\\ndata: {{v: old}}\\n';;\n\
        transformer) sed s/old/new/;;\nvalidator) grep -q 'v: new' || exit 1;;\nesac\n"));
    tree.write("all/plugin.yaml", &tree.run(&["plugin", "describe", "./all.sh", "-o", "yaml"]).ok());
    fs::rename(tree.path().join("all.sh"), tree.path().join("all/all.sh")).unwrap();
    tree.run(&["plugin", "install", "--path", "all", "h.io/acme/all"]).ok();
    for kind in ["Made", "Changed", "Checked"] {
        let object = format!("apiVersion: example.com/v1\nkind: {kind}\nmetadata: {{name: a}}\n");
        tree.write(&format!("build/{kind}.yaml"), &object);
    }
    tree.write(
        "build/kustomization.yaml",
        "generators: [Made.yaml]\ntransformers: [Changed.yaml]\nvalidators: [Checked.yaml]\n",
    );
    assert!(tree.build(&["build"]).ok().contains("v: new\n"));
    // The schema of whole objects, for editors.
    let whole = json(&["plugin", "describe", "imported", "--schema"]);
    assert_eq!(whole["properties"]["kind"]["const"], "TeamLabel");
    assert_eq!(whole["properties"]["team"]["type"], "string");
    assert_eq!(whole["$schema"], "https://json-schema.org/draft/2020-12/schema");
    tree.run(&["plugin", "describe", "imported", "--schema", "--kind", "Other"])
        .fails_with(&["no schema for 'Other'", "TeamLabel"]);
    // The page.
    let page = tree.run(&["plugin", "describe", "imported", "-o", "markdown"]).ok();
    for words in [
        "# label\n",
        "## TeamLabel\n\nSets the label team.\n",
        "| role | `transformer` |",
        "| `team` | string | yes |  | The value \\| of the label. |",
        "| `mode` | `add`, `set` |  | `\"add\"` |  |",
        "kind: TeamLabel\nmetadata:\n  name: example\nteam: blue\n```",
        "- reads `/etc/app`",
    ] {
        assert!(page.contains(words), "{words}:\n{page}");
    }
    // A description without such a form is refused with a message.
    tree.write("plain.sh", &format!("#!/bin/dash\necho '{}'\n", described.replace(schema, "null")));
    tree.run(&["plugin", "describe", "./plain.sh", "--schema"]).fails_with(&["has no schema", "plugin.yaml"]);
}

#[test]
fn plugin_header_is_the_specification_byte_for_byte() {
    let tree = Tree::new("");
    let header =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin/abi/include/rustomize_plugin.h"))
            .unwrap();
    assert_eq!(tree.run(&["plugin", "header"]).ok(), header);
    assert_eq!(tree.run(&["plugin", "header", "-o", "own.h"]).ok(), "");
    assert_eq!(fs::read_to_string(tree.path().join("own.h")).unwrap(), header);
}
