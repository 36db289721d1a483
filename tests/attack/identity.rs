//! Plugins that would be taken for other plugins: of another project, another plugin, another
//! place, another version, or of the same author.

use crate::support::packages::{host, signer, statement};
use crate::support::plugins::{require, root, script, tree};
use crate::support::servers::Files;
use crate::support::{Tree, git};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Writes a plugin in a directory, for a kind. It prints a ConfigMap with the output of `command`.
fn plugin(tree: &Tree, path: &str, kind: &str, command: &str, more: &str) {
    tree.write(
        &format!("{path}/plugin.yaml"),
        &format!(
            "apiVersion: rustomize.dev/v1\nkind: Plugin\nversion: 1.0.0\nruntime: bash\n\
             generators: [{{apiVersion: ex.io/v1, kind: {kind}}}]\n{more}"
        ),
    );
    let print = "printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\ndata: {v: %s}\\n' \"$v\"";
    tree.write(&format!("{path}/main.sh"), &format!("v=$({command})\n{print}\n"));
}

/// A directory with a kustomization for the kind `Made`, and its requirements.
fn project(tree: &Tree, path: &str, requires: &str) {
    tree.write(&format!("{path}/kustomization.yaml"), "generators: [g.yaml]\n");
    tree.write(&format!("{path}/g.yaml"), "apiVersion: ex.io/v1\nkind: Made\nmetadata: {name: g}\n");
    let head = "apiVersion: rustomize.dev/v1\nkind: PluginRequirements\n";
    tree.write(&format!("{path}/plugins.yaml"), &format!("{head}requires: {requires}\n"));
}

fn rules(tree: &Tree, directory: &str, rules: &str) {
    let text = format!("apiVersion: rustomize.dev/v1\nkind: TrustPolicy\nrules: {rules}\n");
    tree.write(&format!("../home/{directory}/trust.yaml"), &text);
}

/// Calls the dependency `lib` of a plugin.
const CALL: &str = "\"$(dirname \"$0\")/.rustomize/sdk/lib/call\"";

#[test]
fn dependency_belongs_to_its_plugin() {
    let tree = tree();
    for name in ["a", "b"] {
        let needs = format!("dependencies: {{lib: {{source: github.com/acme/lib, from: ../lib-of-{name}}}}}\n");
        plugin(&tree, &format!("plugins/{name}"), if name == "b" { "Made" } else { "A" }, CALL, &needs);
        plugin(&tree, &format!("plugins/lib-of-{name}"), "Lib", "x", "");
        tree.write(&format!("plugins/lib-of-{name}/main.sh"), &format!("echo lib-of-{name}\n"));
    }
    let of = |name: &str| format!("{name}: {{source: h.io/acme/{name}, from: ./plugins/{name}}}");
    // The hostile one is 'a', and comes first in the order of names.
    require(&tree, &format!("{{{}, {}}}", of("b"), of("a")));
    tree.run(&["plugin", "install"]).ok();
    assert!(tree.build(&["--offline"]).ok().contains("v: lib-of-b\n"));
    // The lock has both, and another machine comes to the same.
    let lock = fs::read_to_string(tree.path().join("plugins.lock")).unwrap();
    assert!(lock.contains("github.com/acme/lib from ./plugins/lib-of-b"), "{lock}");
    fs::remove_dir_all(root(&tree)).unwrap();
    tree.run(&["plugin", "install", "--frozen"]).ok();
    assert!(tree.build(&["--offline", "--frozen"]).ok().contains("v: lib-of-b\n"));
    assert_eq!(fs::read_to_string(tree.path().join("plugins.lock")).unwrap(), lock);
    // In the other order the lock is the same: no plugin is first.
    fs::remove_file(tree.path().join("plugins.lock")).unwrap();
    require(&tree, &format!("{{{}, {}}}", of("a"), of("b")));
    tree.run(&["plugin", "install"]).ok();
    assert_eq!(fs::read_to_string(tree.path().join("plugins.lock")).unwrap(), lock);
    // No object resolves to a dependency, neither in the project nor elsewhere.
    tree.write("g.yaml", "apiVersion: ex.io/v1\nkind: Lib\nmetadata: {name: g}\n");
    tree.build(&["--offline"]).fails_with(&["unable to find plugin root"]);
    // A requirement of the same source from its own place is not met by it either.
    require(&tree, "{lib: {source: github.com/acme/lib}}");
    fs::remove_file(tree.path().join("plugins.lock")).unwrap();
    tree.build(&["--offline"]).fails_with(&["'lib' (github.com/acme/lib, any version) is required and not installed"]);
}

#[test]
fn two_directories_of_a_repository_are_two_plugins() {
    let tree = tree();
    let repository = tree.home().join("libraries");
    for name in ["a", "b"] {
        plugin(&tree, &format!("../home/libraries/{name}"), "Lib", "x", "");
        tree.write(&format!("../home/libraries/{name}/main.sh"), &format!("echo lib-of-{name}\n"));
    }
    git(&repository, &["init", "-q", "-b", "main"]);
    git(&repository, &["add", "."]);
    git(&repository, &["commit", "-qm", "one"]);
    for name in ["a", "b"] {
        let from = format!("git::file://{}//{name}?ref=main", repository.display());
        let needs = format!("dependencies: {{lib: {{source: h.io/acme/lib, from: '{from}'}}}}\n");
        plugin(&tree, &format!("plugins/{name}"), if name == "b" { "Made" } else { "A" }, CALL, &needs);
    }
    let of = |name: &str| format!("{name}: {{source: h.io/acme/{name}, from: ./plugins/{name}}}");
    require(&tree, &format!("{{{}, {}}}", of("b"), of("a")));
    tree.run(&["plugin", "install"]).ok();
    assert!(tree.build(&["--offline"]).ok().contains("v: lib-of-b\n"));
    fs::remove_dir_all(root(&tree)).unwrap();
    tree.run(&["plugin", "install", "--frozen"]).ok();
    assert!(tree.build(&["--offline", "--frozen"]).ok().contains("v: lib-of-b\n"));
}

#[test]
fn requirement_is_met_only_by_its_own_origin() {
    let tree = tree();
    for name in ["a", "b"] {
        plugin(&tree, &format!("{name}/plugins/app"), "Made", &format!("echo of-{name}"), "");
        project(&tree, name, "{app: {source: h.io/acme/app, from: ./plugins/app}}");
    }
    let lock = |name: &str| tree.path().join(name).join("plugins.lock");
    let install = |name: &str| tree.run(&["plugin", "install", "--directory", name]).ok();
    let build = |args: &[&str]| tree.run(&[&["build", "--enable-alpha-plugins", "--offline"], args].concat());
    let missing = ["'app' (h.io/acme/app, any version) is required and not installed"];
    install("b");
    // Neither with the lock of the other project nor without one.
    build(&["a"]).fails_with(&missing);
    fs::copy(lock("b"), lock("a")).unwrap();
    build(&["a"]).fails_with(&["'./plugins/app' has changed since it was locked"]);
    fs::remove_file(lock("a")).unwrap();
    fs::remove_file(lock("b")).unwrap();
    build(&["a"]).fails_with(&missing);
    build(&["a", "b"]).fails_with(&missing);
    // The store has both of one version, and each project its own: also in one build of both, and
    // whichever was installed last.
    install("a");
    for last in ["a", "b"] {
        install(last);
        for name in ["a", "b"] {
            assert!(build(&[name]).ok().contains(&format!("v: of-{name}\n")), "{name} after {last}");
        }
        let both = build(&["a", "b"]).ok();
        assert!(both.contains("v: of-a\n") && both.contains("v: of-b\n"), "{both}");
    }
    assert_eq!(tree.listed(), ["h.io/acme/app v1.0.0 installed", "h.io/acme/app v1.0.0 installed"]);
    // A project that requires nothing has neither.
    project(&tree, "c", "{}");
    build(&["c"]).fails_with(&["unable to find plugin root"]);
    // One file cannot mean both.
    require(&tree, "{a: {source: h.io/acme/app, from: ./a}, b: {source: h.io/acme/app, from: ./b}}");
    tree.run(&["plugin", "install"]).fails_with(&["plugins.yaml:3:", "'h.io/acme/app' is required from two places"]);
}

#[test]
fn signature_is_for_one_plugin_version_and_platform() {
    let tree = tree();
    let (os, arch) = host();
    let own = format!("{os}_{arch}");
    let content = script("1.0.0", "signed").into_bytes();
    let (key, sign) = signer();
    let files = Files::default();
    files.put("/app", content.clone());
    let server = files.serve();
    rules(&tree, ".config/rustomize", &format!("[{{source: 'h.io/**', from: '**', keys: ['{key}']}}]"));
    let from = format!("http://{server}/app");
    let install = || tree.run(&["plugin", "install", "--from", &from, "h.io/acme/app"]);
    let other = script("1.0.0", "other").into_bytes();
    for (says, words) in [
        (Some(statement("h.io/acme/other", "1.0.0", &own, &content)), "is for the plugin 'h.io/acme/other'"),
        (Some(statement("h.io/acme/app", "2.0.0", &own, &content)), "is for v2.0.0, and not for v1.0.0"),
        (Some(statement("h.io/acme/app", "1.0.0", "plan9_amd64", &content)), "is for the platform plan9_amd64"),
        (Some(statement("h.io/acme/app", "1.0.0", &own, &other)), "is for another file"),
        // As earlier versions of this program and minisign itself sign.
        (Some("file:app".to_owned()), "does not say which plugin it is of"),
        (None, "does not say which plugin it is of"),
    ] {
        files.put("/app.minisig", sign(&content, says.as_deref()));
        install().fails_with(&[words]);
        assert!(!root(&tree).join("h.io").exists(), "{words}");
    }
    for platform in [own.as_str(), "any_any"] {
        files.put("/app.minisig", sign(&content, Some(&statement("h.io/acme/app", "1.0.0", platform, &content))));
        install().ok();
        assert!(tree.build(&[]).ok().contains("v: signed\n"));
        fs::remove_dir_all(root(&tree)).unwrap();
    }
}

#[test]
fn plugin_of_a_withdrawn_key_does_not_run() {
    let tree = tree();
    let content = script("1.0.0", "signed").into_bytes();
    let ((key, sign), (other, _)) = (signer(), signer());
    let files = Files::default();
    files.put("/app", content.clone());
    files.put("/app.minisig", sign(&content, Some(&statement("h.io/acme/app", "1.0.0", "any_any", &content))));
    let from = format!("http://{}/app", files.serve());
    require(&tree, &format!("{{app: {{source: h.io/acme/app, version: '1.0.0', from: '{from}'}}}}"));
    let trusts = |key: &str| {
        rules(&tree, ".config/rustomize", &format!("[{{source: 'h.io/**', from: '**', keys: ['{key}']}}]"));
    };
    trusts(&key);
    tree.run(&["plugin", "lock"]).ok();
    assert!(tree.build(&[]).ok().contains("v: signed\n"));
    // Neither the lock nor the record of the installed plugin brings the key back.
    trusts(&other);
    for flags in [&[][..], &["--offline"], &["--frozen"]] {
        tree.build(flags).fails_with(&["was signed with another key"]);
    }
    tree.run(&["plugin", "install"]).fails_with(&["is not signed by one of the keys"]);
    fs::remove_dir_all(root(&tree)).unwrap();
    tree.build(&[]).fails_with(&["is not signed by one of the keys"]);
}

#[test]
fn statement_of_a_signature_has_one_spelling() {
    let tree = tree();
    let content = script("1.0.0", "signed").into_bytes();
    let (key, sign) = signer();
    let files = Files::default();
    files.put("/app", content.clone());
    let from = format!("http://{}/app", files.serve());
    rules(&tree, ".config/rustomize", &format!("[{{source: 'h.io/**', from: '**', keys: ['{key}']}}]"));
    let says = statement("h.io/acme/app", "1.0.0", "any_any", &content);
    let install = || tree.run(&["plugin", "install", "--from", &from, "h.io/acme/app"]);
    for more in ["\u{1b}[2J", "\t", " ", "\u{202e}", "\u{a0}", " version=2.0.0", "\u{85}", "\u{2028}"] {
        files.put("/app.minisig", sign(&content, Some(&format!("{says}{more}"))));
        let said = install();
        assert!(!said.stderr.contains(['\u{1b}', '\u{202e}', '\u{85}', '\u{2028}']), "{}", said.stderr.escape_debug());
        said.fails_with(&["the signature of "]);
    }
    // Of two signatures in a file the first counts.
    let (good, bad) = (sign(&content, Some(&says)), sign(&content, Some(&says.replace("1.0.0", "2.0.0"))));
    files.put("/app.minisig", format!("{bad}{good}"));
    install().fails_with(&["is for v2.0.0, and not for v1.0.0"]);
    files.put("/app.minisig", format!("{good}{bad}"));
    install().ok();
}

/// A repository whose tags are versions of a plugin; `says` is the version in the file of each.
fn versions(tree: &Tree, tags: &[&str], says: impl Fn(&str) -> String) -> String {
    let repository = tree.home().join("app");
    fs::create_dir_all(&repository).unwrap();
    git(&repository, &["init", "-q", "-b", "main"]);
    for tag in tags {
        plugin(tree, "../home/app", "Made", &format!("echo {tag}"), "");
        let file = repository.join("plugin.yaml");
        let text = fs::read_to_string(&file).unwrap().replace("1.0.0", &says(tag));
        fs::write(&file, text).unwrap();
        git(&repository, &["add", "."]);
        git(&repository, &["commit", "-qm", tag]);
        git(&repository, &["tag", &format!("v{tag}")]);
    }
    format!("git::file://{}", repository.display())
}

#[test]
fn downgrade_needs_permission() {
    let tree = tree();
    let from = versions(&tree, &["1.0.0", "1.1.0", "1.2.0"], str::to_owned);
    let requires = |constraint: &str| {
        require(&tree, &format!("{{app: {{source: h.io/acme/app, version: '{constraint}', from: '{from}'}}}}"));
    };
    let withhold = |version: &str| git(&tree.home().join("app"), &["tag", "-d", &format!("v{version}")]);
    let lock = || fs::read_to_string(tree.path().join("plugins.lock")).unwrap();
    requires("~> 1.0");
    tree.run(&["plugin", "lock"]).ok();
    let before = lock();
    assert!(before.contains("\"version\": \"1.2.0\""), "{before}");
    withhold("1.2.0");
    let words = ["v1.1.0 is the highest version", "v1.2.0 was locked before", "plugin update --allow-older"];
    tree.run(&["plugin", "update"]).fails_with(&words);
    tree.run(&["plugin", "update", "app"]).fails_with(&words);
    assert_eq!(lock(), before);
    // A constraint that excludes the version is a word, and the lock remembers it nevertheless.
    requires("< 1.2");
    tree.run(&["plugin", "lock"]).ok();
    assert!(lock().contains("\"version\": \"1.1.0\"") && lock().contains("\"highest\": \"1.2.0\""), "{}", lock());
    tree.run(&["plugin", "lock", "--check"]).ok();
    assert!(tree.build(&["--frozen", "--offline"]).ok().contains("v: 1.1.0\n"));
    requires("~> 1.0");
    tree.run(&["plugin", "lock"]).ok();
    tree.run(&["plugin", "update"]).fails_with(&words);
    withhold("1.1.0");
    requires("< 1.2");
    tree.run(&["plugin", "update"]).fails_with(&["v1.0.0 is the highest version", "v1.1.0 was locked before"]);
    // The flag is the other word.
    tree.run(&["plugin", "update", "--allow-older"]).ok();
    assert!(lock().contains("\"version\": \"1.0.0\"") && !lock().contains("highest"), "{}", lock());
    tree.run(&["plugin", "update"]).ok();
}

#[test]
fn everything_fetched_by_an_installer_has_a_sum() {
    let tree = tree();
    plugin(&tree, "app", "Made", "echo x", "entry: main.sh\n");
    let manifest = fs::read_to_string(tree.path().join("app/plugin.yaml")).unwrap();
    let runtime = |runtime: &str| tree.write("app/plugin.yaml", &manifest.replace("bash", runtime));
    let install = || {
        let path = tree.path().join("app").to_string_lossy().into_owned();
        tree.run(&["plugin", "install", "--path", &path, "h.io/acme/app"])
    };
    // No tool is asked before the file is right.
    runtime("nodejs");
    let needs = "\"name\": \"app\", \"version\": \"1.0.0\", \"dependencies\": {\"a\": \"1.0.0\"}";
    tree.write("app/package.json", &format!("{{{needs}}}"));
    let sum = format!("sha512-{}==", "A".repeat(86));
    let strong = format!("\"integrity\": \"{sum}\"");
    let at = "\"resolved\": \"http://127.0.0.1:1/b.tgz\"";
    for entry in [
        format!("{{\"version\": \"1.0.0\", {at}, \"inBundle\": true}}"),
        "{\"version\": \"1.0.0\", \"inBundle\": true}".to_owned(),
        format!("{{\"version\": \"1.0.0\", {at}}}"),
        format!("{{\"version\": \"1.0.0\", {at}, \"integrity\": \"sha512-\"}}"),
        format!("{{\"version\": \"1.0.0\", {at}, \"integrity\": \"sha512-AAAA\"}}"),
        format!("{{\"version\": \"1.0.0\", {at}, \"integrity\": \"{sum}?x\"}}"),
        format!("{{\"version\": \"1.0.0\", {at}, \"integrity\": \" \"}}"),
        format!("{{\"version\": \"1.0.0\", {at}, \"integrity\": \"sha1-AAAA {sum}\"}}"),
        format!("{{\"version\": \"1.0.0\", {at}, {strong}, \"hasShrinkwrap\": true}}"),
    ] {
        let lock = format!(
            "{{\"name\": \"app\", \"lockfileVersion\": 3, \"packages\": {{\"\": {{{needs}}},\n\
             \"node_modules/a\": {{\"version\": \"1.0.0\", {at}, {strong}}},\n\
             \"node_modules/a/node_modules/b\": {entry}}}}}"
        );
        tree.write("app/package-lock.json", &lock);
        install().fails_with(&["package-lock.json:3:", "'node_modules/a/node_modules/b'"]);
    }
    runtime("deno");
    for (lists, key) in [
        ("\"npm\": {\"b@1.0.0\": {}}", "b@1.0.0"),
        ("\"npm\": {\"b@1.0.0\": {\"integrity\": \"sha512-\"}}", "b@1.0.0"),
        (&format!("\"npm\": {{\"b@1.0.0\": {{{strong}, \"tarball\": \"http://h.io/b\"}}}}"), "b@1.0.0"),
        ("\"packages\": {\"npm\": {\"b@1.0.0\": {}}}", "b@1.0.0"),
        ("\"jsr\": {\"@std/b@1.0.0\": {}}", "@std/b@1.0.0"),
        ("\"remote\": {\"https://h.io/b.ts\": \"\"}", "https://h.io/b.ts"),
    ] {
        tree.write("app/deno.lock", &format!("{{\"version\": \"5\",\n{lists}}}"));
        install().fails_with(&["deno.lock:2:", key, "checksum"]);
    }
    runtime("python");
    tree.write("app/requirements.txt", "b==1.0.0\n");
    install().fails_with(&["'b==1.0.0' is not a version with --hash"]);
}

#[test]
fn configuration_root_cannot_allow_what_another_forbids() {
    let mut tree = tree();
    let install = |tree: &Tree, source: &str| crate::support::plugins::install(tree, source, &script("1.0.0", "x"));
    tree.run(&["plugin", "trust", "h.io/bad/*", "--deny"]).ok();
    install(&tree, "h.io/good/app").ok();
    install(&tree, "h.io/bad/app").fails_with(&["is denied by"]);
    let denied = |tree: &Tree| {
        install(tree, "h.io/bad/app").fails_with(&["is denied by", ".config/rustomize/trust.yaml"]);
        let said = tree.run(&["doctor"]).ok();
        assert!(said.contains("/.config/rustomize/trust.yaml: only its denials apply"), "{said}");
        let said: serde_json::Value = serde_json::from_str(&tree.run(&["doctor", "-o", "json"]).ok()).unwrap();
        assert!(said["trust"]["others"][0].as_str().unwrap().ends_with("/.config/rustomize/trust.yaml"), "{said}");
    };
    // A directory that takes the place of the one in use, without rules and with rules.
    fs::create_dir(tree.home().join(".rustomize.d")).unwrap();
    denied(&tree);
    rules(&tree, ".rustomize.d", "[{source: '**', from: '**', permissions: {network: true}}]");
    denied(&tree);
    install(&tree, "h.io/good/app").ok();
    fs::remove_dir_all(tree.home().join(".rustomize.d")).unwrap();
    // So do variables that name a directory. The one that names the file is the user's word.
    rules(&tree, "other", "[{source: '**', from: '**'}]");
    rules(&tree, "other/rustomize", "[{source: '**', from: '**'}]");
    for name in ["XDG_CONFIG_HOME", "RUSTOMIZE_CONFIG_DIR"] {
        tree.variables.insert(name, tree.home().join("other").to_string_lossy().into_owned());
        denied(&tree);
        tree.variables.remove(name);
    }
    let named = tree.home().join("other/trust.yaml").to_string_lossy().into_owned();
    tree.variables.insert("RUSTOMIZE_TRUST", named);
    install(&tree, "h.io/bad/app").ok();
    tree.variables.remove("RUSTOMIZE_TRUST");
    // What is not named in the other file is as it would be there: not trusted.
    rules(&tree, ".config/rustomize", "[{source: 'h.io/good/*', from: '**'}]");
    rules(&tree, ".rustomize.d", "[{source: '**', from: '**'}]");
    install(&tree, "h.io/good/app").ok();
    install(&tree, "h.io/other/app").fails_with(&["is not trusted"]);
}

#[test]
fn numbers_of_plugins_and_dependencies_are_limited() {
    let tree = tree();
    let many = |count: usize| {
        let one = |i: usize| format!("  p{i}: {{source: h.io/acme/p{i}}}\n");
        format!("\n{}", (0..count).map(one).collect::<String>())
    };
    require(&tree, &many(200_000));
    for args in [&["plugin", "install"][..], &["build", "--enable-alpha-plugins"], &["plugin", "list"]] {
        tree.run(args).fails_with(&["plugins.yaml:", "'requires' has 200000 plugins; the most are 100000"]);
    }
    plugin(&tree, "app", "Made", "echo x", &format!("dependencies:{}", many(2000)));
    require(&tree, "{app: {source: h.io/acme/app, from: ./app}}");
    tree.run(&["plugin", "install"]).fails_with(&["app/plugin.yaml:", "has 2000 plugins; the most are 1000"]);
    // A chain, each of whose plugins needs one plugin more.
    for i in 0..60 {
        let more = format!("dependencies: {{n: {{source: h.io/acme/n{}, from: ../n{}}}}}\n", i + 1, i + 1);
        plugin(&tree, &format!("n{i}"), "Made", "echo x", &more);
    }
    require(&tree, "{n: {source: h.io/acme/n0, from: ./n0}}");
    tree.run(&["plugin", "install"]).fails_with(&["more than 32 plugins in a chain of dependencies"]);
}

#[test]
fn plugin_without_description_is_asked_once() {
    let tree = tree();
    crate::support::plugins::install(&tree, "h.io/acme/app", &script("1.0.0", "x")).ok();
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let files = || crate::support::files(&root(&tree), host().1);
    let binary = files().pop().unwrap();
    let put = |body: &str| {
        let text = format!("#!/bin/sh\n{body}\n");
        fs::write(&binary, &text).unwrap();
        fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)).unwrap();
        let sum = crate::support::servers::sha256(text.as_bytes());
        fs::write(binary.with_file_name(format!("{}_SHA256SUM", name(&binary))), &sum).unwrap();
        sum
    };
    let sum = put("exit 3");
    require(&tree, "{app: {source: h.io/acme/app}}");
    let again = "so it was when it was last asked; to ask it again: rustomize plugin verify";
    let first = tree.build(&["--offline"]).fails_with(&["'describe' failed: exit status: 3"]);
    assert!(!first.contains(again), "{first}");
    assert!(tree.home().join(format!(".cache/rustomize/describe/{sum}.failed")).is_file());
    tree.build(&["--offline"]).fails_with(&["'describe' failed: exit status: 3", again]);
    // Whoever asks again gets the answer of today, and so do builds from then on.
    let said = tree.run(&["plugin", "verify"]);
    assert!(said.stdout.contains("exit status: 3") && !said.stdout.contains(again), "{}", said.stdout);
    // Another content is asked.
    put(script("1.0.0", "mended").trim_start_matches("#!/bin/sh\n"));
    assert!(tree.build(&["--offline"]).ok().contains("v: mended\n"));
    // And so is the same content when it is installed again.
    put("exit 3");
    tree.build(&["--offline"]).fails_with(&["exit status: 3", again]);
}

#[test]
fn installation_stops_after_ten_mislabelled_versions() {
    let tree = tree();
    let tags: Vec<String> = (0..15).map(|i| format!("1.{i}.0")).collect();
    let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
    let from = versions(&tree, &tags, |_| "9.9.9".to_owned());
    require(&tree, &format!("{{app: {{source: h.io/acme/app, from: '{from}'}}}}"));
    let said = tree.run(&["plugin", "install"]).fails_with(&[
        "10 versions are not what they say, so no other is tried",
        "it describes itself as v9.9.9; v1.5.0 was expected",
    ]);
    assert!(!said.contains("v1.4.0 was expected"), "{said}");
    assert!(!tree.path().join("plugins.lock").exists());
}
