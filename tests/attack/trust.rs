//! Names, addresses and files that would be taken for trusted ones.

use crate::hostile::place_any;
use crate::support::environments::Server;
use crate::support::packages::host;
use crate::support::plugins::{install, require, root, script, script_with, tree};
use crate::support::servers::{Files, git_server, sha256};
use crate::support::{Tree, git};
use std::fs;
use std::os::unix::fs::symlink;

/// A directory that is a plugin, for the kind `Made`.
fn directory(tree: &Tree, path: &str, more: &str) {
    tree.write(
        &format!("{path}/plugin.yaml"),
        &format!(
            "apiVersion: rustomize.dev/v1\nkind: Plugin\nversion: 1.0.0\nruntime: bash\n\
             generators: [{{apiVersion: ex.io/v1, kind: Made}}]\n{more}"
        ),
    );
    let main = "printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\ndata: {v: local}\\n'\n";
    tree.write(&format!("{path}/main.sh"), main);
}

fn trust(tree: &Tree, rules: &str) {
    tree.write(
        "../home/.config/rustomize/trust.yaml",
        &format!("apiVersion: rustomize.dev/v1\nkind: TrustPolicy\nrules: {rules}\n"),
    );
}

/// The same server under an address that is not known as an address of this machine.
fn foreign(server: &str) -> String {
    server.replace("127.0.0.1", "0.0.0.0")
}

#[test]
fn installed_file_is_never_written_through_a_link() {
    let tree = tree();
    directory(&tree, "plugins/app", "");
    require(&tree, "{app: {source: h.io/acme/app, from: ./plugins/app}}");
    tree.write("../home/.bashrc", "mine\n");
    for name in [".plugins.lock.partial", "laid/.lock", "laid/.rustomize-lock"] {
        tree.write(&format!("{name}.beside"), "");
        let target = if name.starts_with(".plugins") { ".bashrc" } else { "made-through-a-link" };
        symlink(tree.home().join(target), tree.path().join(name)).unwrap();
    }
    assert!(tree.build(&[]).ok().contains("v: local"));
    assert_eq!(fs::read_to_string(tree.home().join(".bashrc")).unwrap(), "mine\n");
    assert!(tree.path().join("plugins.lock").is_file());
    // The place of the file itself is a link.
    fs::remove_file(tree.path().join("plugins.lock")).unwrap();
    symlink(tree.home().join("made-through-a-link"), tree.path().join("plugins.lock")).unwrap();
    tree.run(&["plugin", "lock"]).ok();
    assert!(!tree.home().join("made-through-a-link").exists(), "a lock was written through a link");
    assert!(tree.path().join("plugins.lock").symlink_metadata().unwrap().is_file());
    // The directories on the way to what is laid, too.
    let _ = tree.run(&["plugin", "sync", "--placement", "laid"]);
    assert!(!tree.home().join("made-through-a-link").exists(), "a lock file was made through a link");
    fs::create_dir(tree.home().join("elsewhere")).unwrap();
    fs::create_dir(tree.path().join("other")).unwrap();
    symlink(tree.home().join("elsewhere"), tree.path().join("other/ex.io")).unwrap();
    tree.run(&["plugin", "sync", "--placement", "other"]).fails_with(&["other/ex.io' is a link"]);
    assert_eq!(fs::read_dir(tree.home().join("elsewhere")).unwrap().count(), 0);
}

#[test]
fn files_of_the_user_in_a_plugin_directory_stay() {
    let tree = tree();
    directory(&tree, "plugins/app", "");
    require(&tree, "{app: {source: h.io/acme/app, from: ./plugins/app}}");
    tree.write("laid/.staging/thesis", "years of work");
    tree.run(&["plugin", "sync", "--placement", "laid"]).ok();
    let thesis = fs::read_to_string(tree.path().join("laid/.staging/thesis")).unwrap_or_default();
    assert_eq!(thesis, "years of work", "a directory of the user is gone");
    assert!(tree.path().join("laid/ex.io/v1/made/Made").is_file());
    // Nothing of its own stays behind but the lock and the list.
    let names = fs::read_dir(tree.path().join("laid")).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    assert_eq!(names, [".rustomize-lock", ".rustomize-placed.json", ".staging", "ex.io"]);
}

#[test]
fn source_has_one_spelling() {
    let tree = tree();
    trust(&tree, "[{source: github.com/acme/bad, deny: true}, {source: '**', from: '**'}]");
    install(&tree, "github.com/acme/bad", &script("1.0.0", "x")).fails_with(&["denied by"]);
    for spelling in [
        "GitHub.com/acme/bad",
        "github.com/ACME/bad",
        "github.com/acme/Bad",
        "github.com./acme/bad",
        "github.com:443/acme/bad",
        "github.com:0443/acme/bad",
        "user@github.com/acme/bad",
        " github.com/acme/bad",
        "github.com/acme/bad ",
        "github.com/acme/b\u{200b}ad",
        "github.com/acme/b%61d",
        "github.com/%61cme/bad",
        "github.com/acme/bad.git",
    ] {
        let shown = install(&tree, spelling, &script("1.0.0", "x"));
        shown.fails_with(&["is another spelling", "write it as 'github.com/acme/bad'"]);
        require(&tree, &format!("{{bad: {{source: \"{spelling}\", from: ./bad}}}}"));
        tree.run(&["plugin", "install"]).fails_with(&["plugins.yaml:3:", "write it as 'github.com/acme/bad'"]);
        fs::remove_file(tree.path().join("plugins.yaml")).unwrap();
    }
    for (spelling, canonical) in [("127.0.0.1:80/a/b", "127.0.0.1/a/b"), ("[::0:1]/a/b", "[::1]/a/b")] {
        install(&tree, spelling, &script("1.0.0", "x")).fails_with(&[&format!("write it as '{canonical}'")]);
    }
    for nothing in ["h..io/a/b", "127.1/a/b", "h.io/a/100%", "h.io/-a/..", "h.io:99999/a/b"] {
        install(&tree, nothing, &script("1.0.0", "x")).fails_with(&["the source '"]);
    }
    assert!(!root(&tree).join("github.com").exists());
    // A rule that is written otherwise would be for nothing.
    trust(&tree, "[{source: GitHub.com/Acme/*, deny: true}, {source: '**', from: '**'}]");
    install(&tree, "github.com/acme/bad", &script("1.0.0", "x"))
        .fails_with(&["trust.yaml:3:", "write it as 'github.com/acme/*'"]);
    // A plugin from a denied place is denied under every name.
    trust(&tree, "[{source: github.com/acme/*, deny: true}, {source: '**', from: '**'}]");
    for from in ["git::https://github.com/acme/rustomize-plugin-bad.git", "https://github.com/acme/b%61d/app"] {
        tree.run(&["plugin", "install", "--from", from, "h.io/good/app"]).fails_with(&["denied by"]);
    }
    tree.run(&["plugin", "install", "--from", "https://GitHub.com./acme/bad/app", "h.io/good/app"])
        .fails_with(&["https://github.com/acme/bad/app"]);
}

#[test]
fn plugin_from_another_origin_inherits_no_trust_rule() {
    let tree = tree();
    directory(&tree, "p", "permissions: {network: true}\n");
    trust(&tree, "[{source: github.com/acme/*, permissions: {network: true}}]");
    require(&tree, "{p: {source: github.com/acme/p, from: ./p}}");
    let own = format!("{}/p", tree.path().canonicalize().unwrap().display());
    let hint = format!("- {{source: github.com/acme/p, from: '{own}'}}");
    tree.run(&["plugin", "install"]).fails_with(&[
        "plugins.yaml:3:",
        "'github.com/acme/p' from",
        "is not trusted",
        &hint,
    ]);
    tree.build(&[]).fails_with(&["is not trusted"]);
    assert!(!root(&tree).join("github.com").exists());
    // With a rule of its own it has what that grants, and not what the other one grants.
    let rules = |grants: &str| {
        trust(
            &tree,
            &format!(
                "[{{source: github.com/acme/p, from: '{own}'{grants}}}, \
                 {{source: github.com/acme/*, permissions: {{network: true}}}}]"
            ),
        );
    };
    rules("");
    tree.run(&["plugin", "install"]).ok();
    let grant = format!("rustomize plugin trust github.com/acme/p --from {own} --allow-net");
    tree.build(&["--offline"]).fails_with(&["asks for the network", &grant]);
    rules(", permissions: {network: true}");
    assert!(tree.build(&["--offline"]).ok().contains("v: local"));
    // Where it came from is remembered beside it: without its rule it does not run any more.
    trust(&tree, "[{source: github.com/acme/*, permissions: {network: true}}]");
    tree.build(&["--offline"]).fails_with(&["is not trusted"]);
    // Without the file that requires it, nothing finds it: a project brought it.
    fs::remove_file(tree.path().join("plugins.yaml")).unwrap();
    fs::remove_file(tree.path().join("plugins.lock")).unwrap();
    tree.build(&["--offline"]).fails_with(&["unable to find plugin root"]);
    // A `from` that is another one than what was locked is not what was locked.
    rules(", permissions: {network: true}");
    require(&tree, "{p: {source: github.com/acme/p, from: ./p}}");
    tree.run(&["plugin", "install"]).ok();
    require(&tree, "{p: {source: github.com/acme/p, from: ./q}}");
    tree.build(&["--offline"]).fails_with(&["is locked from './p', and required from './q'", "rustomize plugin lock"]);
}

#[test]
fn dependency_by_path_comes_from_the_same_repository() {
    let tree = tree();
    let repositories = tree.home().join("repositories");
    let work = repositories.join("work");
    fs::create_dir_all(&work).unwrap();
    directory(
        &tree,
        "../home/repositories/work/app",
        "dependencies: {dep: {source: github.com/acme/dep, from: ../dep}}\n",
    );
    directory(&tree, "../home/repositories/work/dep", "");
    git(&work, &["init", "-q", "-b", "main"]);
    git(&work, &["add", "."]);
    git(&work, &["commit", "-qm", "1"]);
    git(&repositories, &["clone", "-q", "--bare", "work", "app.git"]);
    let server = git_server(repositories, Files::default());
    let from = format!("git::http://{server}/app.git");
    require(&tree, &format!("{{app: {{source: h.io/acme/app, from: '{from}//app?ref=main'}}}}"));
    trust(&tree, &format!("[{{source: github.com/acme/*}}, {{source: h.io/acme/app, from: '{from}'}}]"));
    tree.run(&["plugin", "install"]).fails_with(&["'github.com/acme/dep' from", &from, "is not trusted"]);
    trust(&tree, &format!("[{{source: 'github.com/**', from: '{from}'}}, {{source: h.io/acme/app, from: '{from}'}}]"));
    tree.run(&["plugin", "install"]).ok();
}

#[test]
fn unencrypted_http_is_for_this_machine_alone() {
    let tree = tree();
    let files = Files::default();
    files.put("/app", script("1.0.0", "http"));
    files.put("/v3/file_metadatas/plugins?environment=prod", "[]");
    files.put("/v3/file_metadatas/schemas?environment=prod", "[]");
    let server = files.serve();
    let other = foreign(&server);
    let words = ["is not encrypted", "https://"];
    let install = |from: &str| tree.run(&["plugin", "install", "--exact", "--from", from, "h.io/acme/app"]);
    install(&format!("http://{other}/app")).fails_with(&words);
    install(&format!("git::http://{other}/app.git")).fails_with(&words);
    require(&tree, &format!("{{app: {{source: h.io/acme/app, from: 'http://{other}/app'}}}}"));
    tree.run(&["plugin", "install"]).fails_with(&["plugins.yaml:3:", words[0], words[1]]);
    // A lock file is written by whoever writes the tree.
    require(&tree, &format!("{{app: {{source: h.io/acme/app, from: 'http://{server}/app'}}}}"));
    tree.run(&["plugin", "install"]).ok();
    let lock = fs::read_to_string(tree.path().join("plugins.lock")).unwrap();
    tree.write(
        "plugins.lock",
        &lock
            .replace("127.0.0.1", "0.0.0.0")
            .replace(&format!("\"from\": \"http://{other}"), &format!("\"from\": \"http://{server}")),
    );
    fs::remove_dir_all(root(&tree)).unwrap();
    files.asked();
    tree.run(&["plugin", "install", "--frozen"]).fails_with(&["which is not where plugins.yaml fetches it"]);
    tree.write("../home/.config/rustomize/environments/prod/modules/x", "");
    let sync = |server: &str| tree.run(&["plugin", "sync", "--environment", "prod", "--from", server]);
    sync(&format!("http://{other}")).fails_with(&words);
    assert_eq!(files.asked(), 0, "something was asked without encryption");
    sync(&format!("http://{server}")).ok();
}

#[test]
fn locked_flag_refuses_unlocked_plugins() {
    let mut tree = tree();
    install(&tree, "h.io/acme/app", &script("1.0.0", "unlocked")).ok();
    let words = ["only locked plugins"];
    assert!(tree.build(&[]).ok().contains("v: unlocked"));
    tree.build(&["--frozen"]).fails_with(&words);
    for ci in ["true", "1", "yes"] {
        tree.variables.insert("CI", ci.to_owned());
        tree.build(&[]).fails_with(&words);
    }
    // A plugin that a build would not use is listed as not trusted.
    assert!(tree.run(&["plugin", "doctor", "ex.io/v1/Made"]).ok().contains("A build fails: "));
    tree.run(&["plugin", "sync", "--placement", "laid"]).fails_with(&words);
    assert!(!tree.path().join("laid").exists());
    install(&tree, "h.io/acme/other", &script("1.0.0", "x")).fails_with(&words);
    tree.run(&["plugin", "install", "h.io/acme/app"]).fails_with(&words);
    assert!(!root(&tree).join("h.io/acme/other").exists());
    // A flag wins, and so does a variable that says no.
    assert!(tree.build(&["--frozen=false"]).ok().contains("v: unlocked"));
    for ci in ["false", "0", ""] {
        tree.variables.insert("CI", ci.to_owned());
        assert!(tree.build(&[]).ok().contains("v: unlocked"), "CI={ci}");
    }
    // A bundle is not locked, either.
    tree.write(
        "../home/.config/rustomize/environments/default/modules/one/plugin/ex.io/v1/made/Made",
        "#!/bin/sh\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\ndata: {v: bundle}\\n'\n",
    );
    fs::remove_dir_all(root(&tree)).unwrap();
    assert!(tree.build(&[]).ok().contains("v: bundle"));
    tree.variables.insert("CI", "1".to_owned());
    tree.build(&[]).fails_with(&words);
    // A requirement that is installed and not locked is not used; a locked one is, and so is a
    // placed plugin.
    directory(&tree, "plugins/app", "");
    require(&tree, "{app: {source: h.io/acme/app, from: ./plugins/app}}");
    tree.run(&["plugin", "lock"]).ok();
    let lock = fs::read_to_string(tree.path().join("plugins.lock")).unwrap();
    fs::remove_file(tree.path().join("plugins.lock")).unwrap();
    tree.build(&["--offline"]).fails_with(&["is required and not locked"]);
    tree.write("plugins.lock", &lock);
    assert!(tree.build(&[]).ok().contains("v: local"));
    tree.run(&["plugin", "sync", "--placement", "laid"]).ok();
    tree.plugin(
        "Made",
        "#!/bin/sh\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\ndata: {v: placed}\\n'\n",
    );
    assert!(tree.build(&[]).ok().contains("v: placed"));
}

#[test]
fn failing_required_plugin_is_not_replaced() {
    let tree = tree();
    let none = "[{\"name\": \"other\", \"apiVersion\": \"ex.io/v1\", \"kind\": \"Other\"}]";
    install(&tree, "h.io/acme/app", &script("1.0.0", "required")).ok();
    install(&tree, "h.io/evil/app", &script("9.0.0", "evil")).ok();
    install(&tree, "h.io/acme/beside", &script_with("1.0.0", "x1.0", none, "other")).ok();
    require(&tree, "{app: {source: h.io/acme/app}, beside: {source: h.io/acme/beside}}");
    assert!(tree.build(&[]).ok().contains("v: required"));
    // From now on it does not say what it does.
    let path = fs::read_dir(root(&tree).join("h.io/acme/app")).unwrap().map(|e| e.unwrap().path());
    let binary = path.into_iter().find(|p| p.to_string_lossy().ends_with(host().1)).unwrap();
    let failing = fs::read_to_string(&binary).unwrap().replace("[ \"$LANG\" != fail ]", "false");
    fs::write(&binary, &failing).unwrap();
    fs::write(format!("{}_SHA256SUM", binary.display()), sha256(failing.as_bytes())).unwrap();
    tree.build(&[]).fails_with(&["plugins.yaml:3:", "plugin 'app' (h.io/acme/app)", "'describe' failed"]);
}

#[test]
fn shared_object_cannot_be_a_dependency() {
    let tree = tree();
    if !place_any(&tree, "Made", "", &[]) {
        crate::support::skip("no C compiler");
        return;
    }
    let made = tree.home().join(".config/kustomize/plugin/ex.io/v1/made/Made.so");
    fs::create_dir_all(tree.path().join("so")).unwrap();
    fs::copy(&made, tree.path().join("so/plugin.so")).unwrap();
    tree.write(
        "so/plugin.yaml",
        "apiVersion: rustomize.dev/v1\nkind: Plugin\nversion: 1.0.0\nruntime: so\ngenerators: [{apiVersion: ex.io/v1, kind: So}]\n",
    );
    directory(&tree, "app", "dependencies: {so: {source: h.io/acme/so, from: ../so}}\n");
    require(&tree, "{app: {source: h.io/acme/app, from: ./app}}");
    let words = ["'so' (h.io/acme/so)", "is a shared object", "cannot call"];
    tree.run(&["plugin", "install"]).fails_with(&words);
    // Where it is required besides, too.
    require(&tree, "{so: {source: h.io/acme/so, from: ./so}, app: {source: h.io/acme/app, from: ./app}}");
    tree.run(&["plugin", "install"]).fails_with(&words);
    assert!(!tree.path().join("plugins.lock").exists());
    assert!(!root(&tree).join("h.io/acme/app").exists());
    require(&tree, "{so: {source: h.io/acme/so, from: ./so}}");
    tree.run(&["plugin", "install"]).ok();
}

#[test]
fn plugin_runs_only_in_its_own_role() {
    let tree = tree();
    install(&tree, "h.io/acme/app", &script("1.0.0", "made")).ok();
    assert!(tree.build(&[]).ok().contains("v: made"));
    let words = ["'h.io/acme/app' is a generator", "not a transformer"];
    tree.write("kustomization.yaml", "transformers: [g.yaml]\n");
    tree.build(&[]).fails_with(&words);
    require(&tree, "{app: {source: h.io/acme/app}}");
    tree.build(&[]).fails_with(&words);
    let named =
        "apiVersion: ex.io/v1\nkind: Any\nmetadata:\n  name: g\n  annotations: {rustomize.dev/plugin: app-made}\n";
    tree.write("g.yaml", named);
    tree.build(&[]).fails_with(&words);
    tree.write("kustomization.yaml", "validators: [g.yaml]\n");
    tree.build(&[]).fails_with(&["'h.io/acme/app' is a generator", "not a validator"]);
    // The same kind in two roles: each where it belongs.
    let script = script("1.0.1", "made").replace(
        "}'\n  exit",
        ", \"transformers\": [{\"name\": \"changed\", \"apiVersion\": \"ex.io/v1\", \"kind\": \"Made\"}]}'\n  exit",
    );
    install(&tree, "h.io/acme/app", &script).ok();
    tree.write("g.yaml", "apiVersion: ex.io/v1\nkind: Made\nmetadata: {name: g}\n");
    tree.write("kustomization.yaml", "transformers: [g.yaml]\n");
    assert!(tree.build(&[]).ok().contains("c: changed"));
    tree.write("kustomization.yaml", "generators: [g.yaml]\n");
    assert!(tree.build(&[]).ok().contains("c: made"));
}

#[test]
fn trust_pattern_that_matches_nothing_is_refused() {
    let tree = tree();
    for (pattern, words) in [
        ("github.com/acme", "fewer than three parts"),
        ("github.com", "fewer than three parts"),
        ("github.com/*", "fewer than three parts"),
        ("github.com/**/app", "use '**' at the end only"),
        ("github.com/acme/rustomize-plugin-app", "use 'app'"),
        ("github.com//app", "the part ''"),
    ] {
        trust(&tree, &format!("[{{source: '{pattern}'}}]"));
        install(&tree, "github.com/acme/app", &script("1.0.0", "x")).fails_with(&["trust.yaml:3:", pattern, words]);
        fs::remove_file(tree.home().join(".config/rustomize/trust.yaml")).unwrap();
        tree.run(&["plugin", "trust", pattern]).fails_with(&[pattern, words]);
        assert!(!tree.home().join(".config/rustomize/trust.yaml").exists());
    }
    for pattern in ["**", "github.com/**", "*/*/*", "github.com/acme/*", "github.com/acme/app-*"] {
        trust(&tree, &format!("[{{source: '{pattern}'}}]"));
        tree.run(&["plugin", "trust"]).ok();
    }
}

#[test]
fn trusting_one_source_keeps_others_allowed() {
    let tree = tree();
    let install = |source: &str| install(&tree, source, &script("1.0.0", "x"));
    tree.run(&["plugin", "trust", "h.io/acme/app"]).ok();
    install("h.io/acme/app").ok();
    install("h.io/other/app").ok();
    tree.run(&["plugin", "trust", "h.io/acme/bad", "--deny"]).ok();
    install("h.io/acme/bad").fails_with(&["is denied"]);
    // A rule for many does not take the place of what is said of one of them.
    tree.run(&["plugin", "trust", "h.io/acme/*", "--from", "**"]).ok();
    install("h.io/acme/bad").fails_with(&["is denied"]);
    // A user who wants to shut out all others says so.
    tree.run(&["plugin", "trust", "**", "--deny"]).ok();
    install("h.io/acme/one").ok();
    install("h.io/other/two").fails_with(&["is denied"]);
}

#[test]
fn later_trust_rule_keeps_earlier_grants() {
    let mut tree = tree();
    directory(&tree, "p", "permissions: {network: true, env: [ONE]}\n");
    require(&tree, "{p: {source: h.io/acme/p, from: ./p}}");
    tree.run(&["plugin", "install"]).ok();
    // The commands of the hints, one after the other, end in a build.
    let mut grants = 0;
    let mut follow = |tree: &Tree| loop {
        let installed = tree.run(&["plugin", "install"]);
        let run = if installed.status == Some(0) { tree.build(&["--offline"]) } else { installed };
        let Some(at) = run.stderr.find("rustomize plugin trust ") else {
            assert!(run.ok().contains("v: local"));
            break;
        };
        let words = run.stderr[at..].lines().next().unwrap().replace('\'', "");
        let words: Vec<&str> = words.split(' ').skip(1).collect();
        tree.run(&words).ok();
        grants += 1;
        assert!(grants < 5, "the hints go in a circle: {words:?}");
    };
    follow(&tree);
    directory(&tree, "p", "permissions: {network: true, env: [ONE, TWO]}\n");
    follow(&tree);
    assert_eq!(grants, 2, "{}", tree.run(&["plugin", "trust"]).stdout);
    // A grant does not drop the signature that a wider rule asks for.
    let key = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
    trust(&tree, &format!("\n- source: h.io/acme/*\n  require: minisign\n  keys: [{key}]"));
    tree.variables.insert("ONE", "1".to_owned());
    tree.run(&["plugin", "trust", "h.io/acme/p", "--allow-net"]).ok();
    let rules = tree.run(&["plugin", "trust"]).ok();
    let first = rules.lines().find(|line| line.contains("h.io/acme/p")).unwrap();
    assert!(first.contains(key) && first.contains("network: true"), "{rules}");
}

#[test]
fn different_hosts_have_different_token_variables() {
    use rustomize_sources::client::token_variable;
    let hosts = [
        "api.github.test",
        "api-github.test",
        "api.github-test",
        "a.b",
        "a-b",
        "a--b",
        "a-b.c",
        "a.b-c",
        "a.b:1",
        "[::1]:5",
        "[::1]",
    ];
    let names: Vec<Option<String>> = hosts.iter().map(|host| token_variable(host)).collect();
    for (i, name) in names.iter().enumerate() {
        assert!(name.is_some() && !names[..i].contains(name), "{}: {name:?}", hosts[i]);
    }
    assert_eq!(names[1].as_deref(), Some("RUSTOMIZE_TOKEN_API__GITHUB_TEST"));
    for none in ["a_b.c", "A.b", "a.-b", "u@a.b", "a.b.", "a.b:443", "", "a..b"] {
        assert_eq!(token_variable(none), None, "{none}");
    }
}

#[test]
fn synced_plugin_runs_in_a_sandbox() {
    let host = Tree::new("");
    let mut client = tree();
    client.variables.insert("SECRET_KEY", "of-the-user".to_owned());
    client.write("../home/.secret", "in-the-home");
    let script = format!(
        "#!/bin/sh\nread -r home < '{}/.secret'\nprintf 'apiVersion: v1\\nkind: ConfigMap\\n\
         metadata: {{name: made}}\\ndata: {{v: saw-%s}}\\n' \"$home$SECRET_KEY\"\n",
        client.home().display()
    );
    host.write("../home/.config/rustomize/environments/prod/modules/one/plugin/ex.io/v1/made/Made", &script);
    client.write("../home/.config/rustomize/environments/prod/modules/one/README", "none");
    let server = Server::start(&host, "prod");
    client.run(&["plugin", "sync", "--environment", "prod", "--from", &server.url]).ok();
    let build = |level: &[&str]| client.build(&[&["--environment", "prod", "--no-sync"], level].concat()).ok();
    assert!(build(&["--plugin-isolation=off"]).contains("v: saw-in-the-homeof-the-user\n"));
    if crate::support::isolation::can_isolate() {
        let seen = build(&[]);
        assert!(seen.contains("v: saw-\n"), "{seen}");
    }
}

/// A host with a bundle that has a plugin and a schema, and a client that syncs from it.
fn synced() -> (Tree, Server, Tree) {
    let (host, client) = (Tree::new(""), tree());
    let script =
        "#!/bin/sh\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\ndata: {v: synced}\\n'\n";
    host.write("../home/.config/rustomize/environments/prod/modules/one/plugin/ex.io/v1/made/Made", script);
    host.write("../home/.config/rustomize/environments/prod/modules/one/schemas/a.yaml", "definitions: {}\n");
    client.write("../home/.config/rustomize/environments/prod/modules/one/README", "none");
    let server = Server::start(&host, "prod");
    (host, server, client)
}

#[test]
fn synced_plugin_needs_a_trust_rule() {
    let (_host, server, client) = synced();
    let url = server.url.clone();
    let environment = format!("apiVersion: rustomize.dev/v1\nkind: Environment\nsync: {url}\n");
    client.write("../home/.config/rustomize/environments/prod/environment.yaml", &environment);
    let source = format!("{}/environment/prod", url.trim_start_matches("http://"));
    let rules = |text: &str| {
        let text = format!("apiVersion: rustomize.dev/v1\nkind: TrustPolicy\nrules:\n{text}");
        client.write("../home/.config/rustomize/trust.yaml", &text);
    };
    let syncs: [&[&str]; 3] = [
        &["plugin", "sync", "--environment", "prod"],
        &["plugin", "sync", "--environment", "prod", "--from", &url],
        &["build", "--enable-alpha-plugins", "--environment", "prod"],
    ];
    let denied = format!("- {{source: '{}/**', deny: true}}\n- source: '**'\n", source.split('/').next().unwrap());
    let signed = "- {source: '**', keys: [RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3]}\n";
    for (text, words) in [
        ("- source: 'h.io/**'\n", "is not trusted: no rule in"),
        (denied.as_str(), "is denied by"),
        ("- {source: '**', minReleaseAge: 1h}\n", "a rule asks for an age"),
        (signed, "a rule asks for a signature"),
    ] {
        rules(text);
        for args in syncs {
            client.run(args).fails_with(&[&source, words]);
        }
        assert_eq!(server.asked(), (0, 0), "{text}");
    }
    // The rule that the hint proposes.
    rules("- source: 'h.io/**'\n");
    client.run(&["plugin", "trust", &source]).ok();
    for args in syncs {
        client.run(args).ok();
    }
    assert_eq!(server.asked(), (9, 2));
    // The contents of this bundle need the rule, too: its plugins and its schemas.
    let build = || client.build(&["--environment", "prod", "--no-sync"]);
    assert!(build().ok().contains("v: synced"));
    let current = client.home().join(".cache/rustomize/sync/prod/current");
    rules("- source: 'h.io/**'\n");
    build().fails_with(&[&source, "is not trusted"]);
    fs::remove_dir_all(current.join("schemas")).unwrap();
    build().fails_with(&[&source, "is not trusted"]);
    rules(&format!("- source: {source}\n"));
    assert!(build().ok().contains("v: synced"));
    // Synced from elsewhere, or by a version that did not write it down.
    fs::write(current.join("server"), "https://evil.io\n").unwrap();
    build().fails_with(&["evil.io/environment/prod", "is not trusted"]);
    fs::remove_file(current.join("server")).unwrap();
    build().fails_with(&["the synced files of 'prod' do not name their server", "plugin sync --environment prod"]);
    client.run(&["plugin", "sync", "--environment", "prod"]).ok();
    assert!(build().ok().contains("v: synced"));
}

#[test]
fn locked_flag_refuses_synced_schemas() {
    let (_host, server, client) = synced();
    client.run(&["plugin", "sync", "--environment", "prod", "--from", &server.url]).ok();
    client.write("kustomization.yaml", "resources: [g.yaml]\n");
    let build = |frozen: &[&str]| client.build(&[&["--environment", "prod", "--no-sync"], frozen].concat());
    build(&["--frozen"]).fails_with(&["a schema that was synced for 'prod' is not locked", "--frozen=false"]);
    build(&[]).ok();
    // A schema alone needs the rule for its server.
    let rules = "apiVersion: rustomize.dev/v1\nkind: TrustPolicy\nrules: [{source: 'h.io/**'}]\n";
    client.write("../home/.config/rustomize/trust.yaml", rules);
    build(&[]).fails_with(&["/environment/prod", "is not trusted"]);
    fs::remove_file(client.home().join(".config/rustomize/trust.yaml")).unwrap();
    fs::remove_dir_all(client.home().join(".cache/rustomize/sync/prod/current/schemas")).unwrap();
    build(&["--frozen"]).ok();
}
