//! Installing plugins from all kinds of sources, locking them, and building with them. Real servers
//! on this machine, real git.

use crate::support::packages::{host, signer, statement, tar_gz, zip};
use crate::support::plugins::{install as install_path, require, root, script, script_with, tree};
use crate::support::servers::{Files, Reply, git_server, registry, serve, sha256};
use crate::support::{Tree, git};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A plugin for one kind, which generates a ConfigMap of its name.
fn generator(version: &str, kind: &str) -> String {
    let generators = format!(r#"[{{"name": "made", "apiVersion": "ex.io/v1", "kind": "{kind}"}}]"#);
    script_with(version, "x1.0", &generators, kind).replace("name: made}", &format!("name: {}}}", kind.to_lowercase()))
}

const MANIFEST: &str = "apiVersion: rustomize.dev/v1\nkind: Plugin\nname: local\nversion: 0.1.0\nruntime: bash\ngenerators: [{apiVersion: ex.io/v1, kind: Local}]\n";
const MAIN: &str = "printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: local}\\ndata: {v: local}\\n'\n";

fn lock(tree: &Tree) -> serde_json::Value {
    serde_json::from_slice(&fs::read(tree.path().join("plugins.lock")).unwrap()).unwrap()
}

/// A repository with a plugin in Python below `plugin`, tagged as two versions.
fn repository(directory: &Path) {
    fs::create_dir_all(directory.join("plugin")).unwrap();
    let write = |version: &str| {
        let manifest = MANIFEST
            .replace("local", "scripted")
            .replace("0.1.0", version)
            .replace("bash", "python")
            .replace("Local", "Scripted");
        fs::write(directory.join("plugin/plugin.yaml"), manifest).unwrap();
        let main = format!(
            "print('apiVersion: v1\\nkind: ConfigMap\\nmetadata: {{name: scripted}}\\ndata: {{v: \"{version}\"}}')\n"
        );
        fs::write(directory.join("plugin/main.py"), main).unwrap();
    };
    git(directory, &["init", "-q", "-b", "main"]);
    for version in ["1.0.0", "1.1.0"] {
        write(version);
        git(directory, &["add", "."]);
        git(directory, &["commit", "-qm", version]);
        git(directory, &["tag", &format!("v{version}")]);
    }
}

/// A tree that needs a plugin of each kind of source: over HTTP, from git, from a registry, and of
/// its own.
fn everything() -> (Tree, Files, Files) {
    let tree = Tree::new("-- kustomization.yaml --\ngenerators: [g.yaml]\n");
    let object = |kind: &str| format!("apiVersion: ex.io/v1\nkind: {kind}\nmetadata: {{name: x}}\n---\n");
    tree.write("g.yaml", &["Http", "Scripted", "Oci", "Local"].map(object).concat());
    let files = Files::default();
    let (os, arch) = host();
    for (os, arch) in [(os, arch), ("plan9", "mips"), ("windows", "amd64")] {
        files.put(
            &format!("/app_1.2.3_{os}_{arch}.tar.gz"),
            tar_gz(&[("app/rustomize-plugin-http", &generator("1.2.3", "Http")), ("app/README", "x")]),
        );
    }
    let http = files.serve();
    let repositories = tree.home().join("repositories");
    repository(&repositories.join("scripted"));
    git(&repositories, &["clone", "-q", "--bare", "scripted", "scripted.git"]);
    let remote = git_server(repositories, Files::default());
    let plugins = [(os, arch, generator("2.0.0", "Oci").into_bytes()), ("windows", "amd64", b"MZ".to_vec())];
    let (oci, blobs) = registry("acme/oci", "v2.0.0", &plugins);
    tree.write("plugins/local/plugin.yaml", MANIFEST);
    tree.write("plugins/local/main.sh", MAIN);
    require(
        &tree,
        &format!(
            "\n  http: {{source: h.io/acme/http, version: 1.2.3, from: 'http://{http}/app_{{version}}_{{os}}_{{arch}}.tar.gz'}}\n  \
             scripted: {{source: h.io/acme/scripted, version: '~> 1.0', from: 'git::http://{remote}/scripted.git//plugin'}}\n  \
             oci: {{source: h.io/acme/oci, from: 'oci://{oci}/acme/oci'}}\n  \
             local: {{source: h.io/acme/local, from: ./plugins/local}}\n"
        ),
    );
    (tree, files, blobs)
}

#[test]
fn plugins_come_from_http_git_registries_and_paths() {
    let (tree, files, blobs) = everything();
    let said = tree.run(&["plugin", "install"]).ok();
    for line in ["acme/http v1.2.3", "acme/scripted v1.1.0", "acme/oci v2.0.0", "acme/local v0.1.0"] {
        assert!(said.contains(line), "{said}");
    }
    let built = tree.build(&[]).ok();
    for line in ["name: http", "name: scripted", "v: 1.1.0", "name: oci", "name: local"] {
        assert!(built.contains(line), "{line}: {built}");
    }
    // The lock has all platforms that there are, with sizes and sums.
    let lock = lock(&tree);
    let (os, arch) = host();
    let http = &lock["plugins"]["h.io/acme/http"];
    let platforms: BTreeSet<&String> = http["platforms"].as_object().unwrap().keys().collect();
    assert_eq!(platforms.len(), 2, "this machine and windows_amd64: {http:#}");
    let archive = tar_gz(&[("app/rustomize-plugin-http", &generator("1.2.3", "Http")), ("app/README", "x")]);
    let here = &http["platforms"][format!("{os}_{arch}")];
    assert_eq!(here["size"], archive.len());
    assert_eq!(here["archive"], sha256(&archive));
    assert_eq!(here["content"], sha256(generator("1.2.3", "Http").as_bytes()));
    assert_eq!(http["provides"][0]["kind"], "Http");
    assert_eq!(lock["plugins"]["h.io/acme/oci"]["platforms"]["windows_amd64"]["content"], sha256(b"MZ"));
    assert_eq!(lock["plugins"]["h.io/acme/scripted"]["runtime"], "python");
    let url = lock["plugins"]["h.io/acme/scripted"]["platforms"]["any_any"]["url"].as_str().unwrap();
    assert!(url.contains("?ref=") && url.len() > 60, "a commit: {url}");
    // Again: nothing is fetched, nothing changes; and so it is without any network.
    let _ = (files.asked(), blobs.asked());
    let before = fs::read(tree.path().join("plugins.lock")).unwrap();
    for args in
        [&["plugin", "install"][..], &["plugin", "install", "--frozen", "--offline"], &["plugin", "lock", "--check"]]
    {
        tree.run(args).ok();
        assert_eq!((files.asked(), blobs.asked()), (0, 0), "{args:?}");
    }
    assert_eq!(fs::read(tree.path().join("plugins.lock")).unwrap(), before);
    assert_eq!(tree.build(&["--frozen", "--offline"]).ok(), built);
    // Another machine, with the lock alone.
    fs::remove_dir_all(root(&tree)).unwrap();
    tree.build(&["--offline"]).fails_with(&["is required and not installed", "rustomize plugin install"]);
    tree.run(&["plugin", "install", "--frozen"]).ok();
    assert_eq!(tree.build(&["--frozen"]).ok(), built);
    // U13 to U25: a build installs missing plugins in the same way, and so does a sync.
    for args in [&["build", "--enable-alpha-plugins", "--frozen"][..], &["plugin", "sync", "--placement", "laid"]] {
        fs::remove_dir_all(root(&tree)).unwrap();
        tree.run(args).ok();
        assert_eq!(fs::read(tree.path().join("plugins.lock")).unwrap(), before, "{args:?}");
        assert_eq!(tree.build(&["--offline"]).ok(), built);
    }
    fs::remove_dir_all(root(&tree)).unwrap();
    fs::remove_file(tree.path().join("plugins.lock")).unwrap();
    assert_eq!(tree.build(&[]).ok(), built);
    assert_eq!(fs::read(tree.path().join("plugins.lock")).unwrap(), before);
    tree.assert_nothing_left();
}

#[test]
fn locked_plugin_is_what_is_installed_and_run() {
    let (mut tree, files, _) = everything();
    tree.run(&["plugin", "install"]).ok();
    // The server has something else now: with the same name, and as valid.
    let (os, arch) = host();
    let path = format!("/app_1.2.3_{os}_{arch}.tar.gz");
    let other = tar_gz(&[("rustomize-plugin-http", &generator("1.2.3", "Http").replace("x1.0", "x1.0 "))]);
    files.put(&path, other);
    let folder = root(&tree).join("h.io/acme/http");
    fs::remove_dir_all(&folder).unwrap();
    tree.run(&["plugin", "install"]).fails_with(&["were announced", "acme/http"]);
    assert!(!folder.exists());
    // A binary that was swapped after it was installed, with a sum that fits it.
    files.put(&path, tar_gz(&[("app/rustomize-plugin-http", &generator("1.2.3", "Http")), ("app/README", "x")]));
    tree.run(&["plugin", "install"]).ok();
    let binary = folder.join(format!("rustomize-plugin-http_v1.2.3_x1.0_{os}_{arch}"));
    let swapped = generator("1.2.3", "Http").replace("v: Http", "v: swapped");
    fs::write(&binary, &swapped).unwrap();
    tree.build(&["--offline"]).fails_with(&["acme/http"]);
    fs::write(
        folder.join(format!("rustomize-plugin-http_v1.2.3_x1.0_{os}_{arch}_SHA256SUM")),
        sha256(swapped.as_bytes()),
    )
    .unwrap();
    tree.build(&[]).fails_with(&["with another checksum than plugins.lock has", "plugin install"]);
    tree.run(&["plugin", "install", "--frozen"]).ok();
    assert!(tree.build(&[]).ok().contains("v: Http\n"));
    // A required plugin that is not locked is refused where CI is set, and in a build wherever
    // another one is locked.
    let text = fs::read_to_string(tree.path().join("plugins.yaml")).unwrap();
    tree.write(
        "plugins.yaml",
        &text.replace("local: {", "new: {source: h.io/acme/new, from: ./plugins/local}\n  local: {"),
    );
    tree.variables.insert("CI", "true".to_owned());
    tree.run(&["plugin", "install"]).fails_with(&["acme/new", "not locked", "rustomize plugin lock"]);
    tree.build(&[]).fails_with(&["'new' (h.io/acme/new) is required and not locked", "plugins.yaml:"]);
    tree.run(&["plugin", "lock", "--check"]).fails_with(&["rustomize plugin lock"]);
    tree.write("plugins.yaml", &text.replace("version: 1.2.3", "version: '> 2'"));
    tree.run(&["plugin", "install"]).fails_with(&["acme/http", "not locked as plugins.yaml requires it"]);
    tree.build(&[]).fails_with(&["is locked as v1.2.3, which is not > 2"]);
    fs::remove_file(tree.path().join("plugins.lock")).unwrap();
    tree.run(&["plugin", "install"]).fails_with(&["plugins.lock' does not exist", "rustomize plugin lock"]);
    tree.build(&[]).fails_with(&["required and not locked"]);
}

#[test]
fn releases_are_found_where_github_puts_them() {
    let tree = tree();
    let files = Files::default();
    let (os, arch) = host();
    let repositories = tree.home().join("repositories/acme");
    fs::create_dir_all(&repositories).unwrap();
    let work = repositories.join("work");
    repository(&work);
    git(&work, &["tag", "v1.2.0"]);
    git(&work, &["tag", "v2.0.0-rc1"]);
    git(&work, &["tag", "unrelated"]);
    git(&repositories, &["clone", "-q", "--bare", "work", "rustomize-plugin-app.git"]);
    // The highest says of itself that it is another: the next lower one is taken.
    for (version, says) in [("1.0.0", "1.0.0"), ("1.1.0", "1.1.0"), ("1.2.0", "1.1.9")] {
        let base = format!("/acme/rustomize-plugin-app/releases/download/v{version}");
        let stem = format!("rustomize-plugin-app_v{version}");
        let name = format!("{stem}_x1.0_{os}_{arch}.zip");
        let archive = zip(&format!("{stem}_x1.0_{os}_{arch}"), &script(says, &format!("release {version}")));
        let sums = format!(
            "{}  {name}\n{}  {stem}_x1.0_plan9_mips.zip\n{}  notes.txt\n",
            sha256(&archive),
            "0".repeat(64),
            "0".repeat(64)
        );
        files.put(&format!("{base}/{name}"), archive);
        files.put(&format!("{base}/{stem}_SHA256SUMS"), sums);
    }
    let server = git_server(tree.home().join("repositories"), files.clone());
    let source = format!("{server}/acme/app");
    let run = tree.run(&["plugin", "install", &source]);
    assert!(run.stderr.contains("Skipping a version") && run.stderr.contains("1.1.9"), "{}", run.stderr);
    assert!(run.ok().contains("v1.1.0: "));
    assert!(tree.build(&[]).ok().contains("v: release 1.1.0"));
    // U29, U30: an installed version is enough; U31: not where a version is named exactly.
    files.asked();
    for what in [source.clone(), format!("{source}@> 1"), format!("{source}@1.0.0")] {
        assert!(tree.run(&["plugin", "install", &what]).ok().contains("v1.1.0: "));
    }
    assert_eq!(files.asked(), 0);
    let exact = format!("{source}@1.0.0");
    assert!(tree.run(&["plugin", "install", "--exact", &exact]).ok().contains("v1.0.0: "));
    tree.run(&["plugin", "install", "--exact", &format!("{source}@> 2")])
        .fails_with(&["no version is > 2", "v1.0.0, v1.1.0, v1.2.0"]);
    // A file that does not match its checksum.
    files.put(
        &format!(
            "/acme/rustomize-plugin-app/releases/download/v1.0.0/rustomize-plugin-app_v1.0.0_x1.0_{os}_{arch}.zip"
        ),
        "swapped",
    );
    tree.run(&["plugin", "remove", &format!("{source}@1.0.0")]).ok();
    tree.run(&["plugin", "install", "--exact", &exact]).fails_with(&["is not what was announced"]);
    // A release with the checksums of another version.
    let sums = |version: &str| {
        format!("/acme/rustomize-plugin-app/releases/download/v{version}/rustomize-plugin-app_v{version}_SHA256SUMS")
    };
    files.put(&sums("1.0.0"), files.get(&sums("1.1.0")).2);
    tree.run(&["plugin", "install", "--exact", &exact])
        .fails_with(&["v1.0.0_SHA256SUMS' does not name a file of this plugin"]);
    tree.run(&["plugin", "install", "h.io/acme/none", "--offline"]).fails_with(&["offline"]);
}

#[test]
fn downloads_that_are_wrong_leave_nothing() {
    let server = serve(|request| match request.path.as_str() {
        "/truncated" => Reply("200 OK", vec![("Content-Length".to_owned(), "1000".to_owned())], b"#!/bin/sh".to_vec()),
        "/elsewhere" => {
            Reply("302 Found", vec![("Location".to_owned(), "http://other.example.com/x".to_owned())], Vec::new())
        }
        "/hangs" => Reply::ok("#!/bin/sh\nsleep 600 &\nexec sleep 600\n"),
        "/floods" => Reply::ok("#!/bin/sh\nexec yes\n"),
        "/fails" => Reply::ok("#!/bin/sh\necho 'no luck' >&2\nexit 3\n"),
        "/trails" => Reply::ok("#!/bin/sh\necho '{\"version\": \"1.0.0\", \"api_version\": \"x1.0\"} trailing'\n"),
        "/newer" => Reply::ok("#!/bin/sh\necho '{\"version\": \"1.0.0\", \"api_version\": \"x9.0\"}'\n"),
        "/many.tar.gz" => Reply::ok(tar_gz(&[("one", "x"), ("two", "y")])),
        "/damaged.tar.gz" => Reply::ok(&tar_gz(&[("one", &"x".repeat(5000))])[..40]),
        _ => Reply::not_found(),
    });
    let tree = tree();
    for (path, words) in [
        ("truncated", "cannot be read"),
        ("elsewhere", "another host"),
        ("nothing", "404"),
        ("floods", "printed more than"),
        ("fails", "exit status: 3"),
        ("trails", "printed no description"),
        ("newer", "it is for x9.0"),
        ("many.tar.gz", "does not hold a plugin 'app'"),
        ("damaged.tar.gz", "is damaged"),
    ] {
        let from = format!("http://{server}/{path}");
        tree.run(&["plugin", "install", "--from", &from, "h.io/acme/app"]).fails_with(&[words, "h.io/acme/app"]);
    }
    let left: Vec<String> =
        fs::read_dir(root(&tree)).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(left, [".rustomize-lock"]);
    tree.assert_nothing_left();
}

/// A plugin in bash, in a directory of the tree, that needs others.
fn needing(tree: &Tree, name: &str, needs: &[&str]) {
    let dependencies: String =
        needs.iter().map(|need| format!("  {need}: {{source: h.io/acme/{need}, from: ../{need}}}\n")).collect();
    let dependencies = if needs.is_empty() { String::new() } else { format!("dependencies:\n{dependencies}") };
    let manifest = MANIFEST.replace("local", name).replace("Local", &format!("Kind{name}"));
    tree.write(&format!("plugins/{name}/plugin.yaml"), &format!("{manifest}{dependencies}"));
    tree.write(&format!("plugins/{name}/main.sh"), MAIN);
}

#[test]
fn dependencies_install_first_and_circles_are_refused() {
    let tree = tree();
    needing(&tree, "top", &["left", "right"]);
    needing(&tree, "left", &["bottom"]);
    needing(&tree, "right", &["bottom"]);
    needing(&tree, "bottom", &[]);
    require(&tree, "{top: {source: h.io/acme/top, from: ./plugins/top}}");
    let run = tree.run(&["plugin", "install"]);
    assert_eq!(
        run.stderr.matches("plugins/bottom").count() + run.stderr.matches("../bottom").count(),
        1,
        "{}",
        run.stderr
    );
    assert_eq!(run.ok().lines().count(), 4);
    let lock = lock(&tree);
    assert_eq!(
        lock["plugins"]["h.io/acme/top"]["dependencies"],
        serde_json::json!(["h.io/acme/left", "h.io/acme/right"])
    );
    tree.run(&["plugin", "install", "--frozen", "--offline"]).ok();
    needing(&tree, "bottom", &["top"]);
    fs::remove_file(tree.path().join("plugins.lock")).unwrap();
    fs::remove_dir_all(root(&tree)).unwrap();
    tree.run(&["plugin", "install"])
        .fails_with(&["in a circle: h.io/acme/top -> h.io/acme/left -> h.io/acme/bottom -> h.io/acme/top"]);
}

#[test]
fn plugin_whose_runtime_fails_is_present_and_not_installed() {
    let tree = Tree::new(
        "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: Local\nmetadata: {name: x}\n",
    );
    tree.write("plugins/local/plugin.yaml", &MANIFEST.replace("bash", "python"));
    tree.write("plugins/local/main.py", "print('apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: python}')\n");
    // Nothing pins it.
    tree.write("plugins/local/requirements.txt", "no-such-package-of-anybody\n");
    require(&tree, "{local: {source: h.io/acme/local, from: ./plugins/local}}");
    tree.run(&["plugin", "install"]).fails_with(&["requirements.txt:1", "--hash", "acme/local"]);
    let list = tree.run(&["plugin", "list", "-o", "json"]).ok();
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    assert!(list[0]["state"] == "present" && list[0]["reason"].as_str().unwrap().contains("--hash"), "{list:#}");
    tree.build(&["--offline"]).fails_with(&["not installed"]);
    // U43: absent, present, installed.
    let yaml = fs::read_to_string(tree.path().join("plugins.yaml")).unwrap();
    require(&tree, "{gone: {source: h.io/acme/gone}}");
    assert_eq!(tree.listed().last().unwrap(), "h.io/acme/gone any version absent");
    assert!(tree.run(&["plugin", "list", "-o", "json"]).ok().contains("\"state\": \"absent\""));
    tree.write("plugins.yaml", &yaml);
    // Repaired, and installed by the next run.
    tree.write("plugins/local/requirements.txt", "# nothing\n");
    tree.run(&["plugin", "install"]).ok();
    assert!(tree.build(&[]).ok().contains("name: python"));
    let list = tree.run(&["plugin", "list", "-o", "json"]).ok();
    assert!(list.contains("\"installed\"") && !list.contains("\"present\""), "{list}");
}

#[test]
fn two_installations_at_once_wait_for_each_other() {
    let (tree, _, _) = everything();
    let run = || tree.run(&["plugin", "install"]);
    let runs: Vec<_> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
        started.into_iter().map(|handle| handle.join().unwrap()).collect()
    });
    for run in runs {
        assert_eq!(run.ok().lines().count(), 4);
    }
    tree.build(&[]).ok();
}

#[test]
fn a_path_installs_as_everything_else_does() {
    let tree = tree();
    install_path(&tree, "h.io/acme/app", &script("1.0.0", "x")).ok();
    let path = tree.home().join("built");
    tree.run(&["plugin", "install", "--path", &path.to_string_lossy(), "h.io/acme/app@1.0.0"])
        .fails_with(&["has a constraint, and --path"]);
    tree.write("local/plugin.yaml", MANIFEST);
    tree.write("local/main.sh", MAIN);
    assert!(tree.run(&["plugin", "install", "--path", "local", "h.io/acme/local"]).ok().contains("v0.1.0: "));
    tree.run(&["plugin", "install", "--path", "local", "h.io/acme/other"])
        .fails_with(&["it is the plugin 'local', not 'other'"]);
}

#[test]
fn installed_plugins_are_exported_where_kustomize_looks() {
    let (mut tree, _, _) = everything();
    tree.run(&["plugin", "install"]).ok();
    let built = tree.build(&[]).ok();
    let dry = tree.run(&["plugin", "sync", "--placement", "home", "--dry-run"]).ok();
    assert!(!tree.path().join("home").exists());
    assert_eq!(tree.run(&["plugin", "sync", "--placement", "home"]).ok(), dry);
    assert_eq!(dry.lines().count(), 4, "{dry}");
    assert_eq!(tree.run(&["plugin", "sync", "--placement", "home"]).ok(), "");
    // As placed plugins, without the installed plugins.
    let home = tree.path().join("home").to_string_lossy().into_owned();
    tree.variables.insert("KUSTOMIZE_PLUGIN_HOME", home);
    fs::rename(tree.path().join("plugins.yaml"), tree.path().join("elsewhere.yaml")).unwrap();
    assert_eq!(tree.build(&[]).ok(), built);
    fs::rename(tree.path().join("elsewhere.yaml"), tree.path().join("plugins.yaml")).unwrap();
    // Plugins that are not required any more are removed, and nothing else.
    tree.write("home/ex.io/v1/mine/Mine", "#!/bin/sh\n");
    require(&tree, "{local: {source: h.io/acme/local, from: ./plugins/local}}");
    let said = tree.run(&["plugin", "sync", "--placement", "home"]).ok();
    assert_eq!(said.lines().filter(|line| line.starts_with("- ")).count(), 3, "{said}");
    let kinds: BTreeSet<String> = fs::read_dir(tree.path().join("home/ex.io/v1"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(kinds, ["local", "mine"].map(str::to_owned).into());
    // Placed plugins stay.
    fs::remove_file(tree.path().join("home/.rustomize-placed.json")).unwrap();
    tree.run(&["plugin", "sync", "--placement", "home"])
        .fails_with(&["ex.io/v1/local/Local", "was not exported by rustomize"]);
}

#[test]
fn a_plugin_is_added_to_the_file_and_locked() {
    let tree = tree();
    let files = Files::default();
    let (os, arch) = host();
    let (oci, _) = registry("acme/app", "v1.4.2", &[(os, arch, script("1.4.2", "added").into_bytes())]);
    let from = format!("oci://{oci}/acme/app");
    tree.write("plugins.yaml", "# what we need\napiVersion: rustomize.dev/v1\nkind: PluginRequirements\n");
    tree.run(&["plugin", "add", "h.io/acme/app@> 2", "--from", &from]).fails_with(&["no version is > 2"]);
    assert!(!tree.path().join("plugins.lock").exists());
    tree.run(&["plugin", "add", "h.io/acme/app", "--from", &from]).ok();
    let text = fs::read_to_string(tree.path().join("plugins.yaml")).unwrap();
    assert!(
        text.starts_with("# what we need\n")
            && text.contains("app: {source: h.io/acme/app, version: '~> 1.4', from: 'oci://"),
        "{text}"
    );
    assert!(tree.build(&["--frozen"]).ok().contains("v: added"));
    tree.run(&["plugin", "lock", "--check"]).ok();
    tree.run(&["plugin", "add", "h.io/acme/app", "--from", &from]).fails_with(&["'app' is required already"]);
    // A directory without the file gets one.
    tree.write("other/plugin.yaml", MANIFEST);
    tree.write("other/main.sh", MAIN);
    fs::remove_file(tree.path().join("plugins.yaml")).unwrap();
    fs::remove_file(tree.path().join("plugins.lock")).unwrap();
    tree.run(&["plugin", "add", "h.io/acme/local", "--from", "./other", "--name", "mine"]).ok();
    assert!(
        fs::read_to_string(tree.path().join("plugins.yaml"))
            .unwrap()
            .ends_with("requires:\n  mine: {source: h.io/acme/local, from: './other'}\n")
    );
    assert_eq!(files.asked(), 0);
}

#[test]
fn describe_verify_and_doctor_report_installed_plugins() {
    let tree = tree();
    install_path(&tree, "h.io/acme/app", &script("1.0.0", "x")).ok();
    install_path(&tree, "h.io/acme/app", &script("1.1.0", "x")).ok();
    tree.write("local/plugin.yaml", MANIFEST);
    tree.write("local/main.sh", MAIN);
    for what in ["h.io/acme/app", "local", "../home/built"] {
        let said: serde_json::Value = serde_json::from_str(&tree.run(&["plugin", "describe", what]).ok()).unwrap();
        assert_eq!(said["generators"][0]["apiVersion"], "ex.io/v1", "{what}");
    }
    tree.run(&["plugin", "describe", "--offline", "h.io/acme/none"])
        .fails_with(&["installing 'none' (h.io/acme/none)"]);
    assert_eq!(tree.run(&["plugin", "verify"]).ok().matches(": ok\n").count(), 2);
    let said = tree.run(&["plugin", "why", "ex.io/v1/Made"]).ok();
    assert!(said.contains("not for this kind: another version is better") && said.contains("Placed by hand"), "{said}");
    assert!(
        said.lines().last().unwrap().contains("A build uses") && said.lines().last().unwrap().contains("v1.1.0"),
        "{said}"
    );
    let said = tree.run(&["plugin", "doctor", "ex.io/v1/Other"]).ok();
    assert!(said.contains("not for this kind: it is for ex.io/v1/Made"), "{said}");
    assert!(said.contains("A build fails: no plugin is for ex.io/v1/Other"), "{said}");
    // A plugin whose executable is replaced, and a plugin that is required but not installed.
    require(&tree, "{other: {source: h.io/acme/other}}");
    let folder = root(&tree).join("h.io/acme/app");
    let binary = fs::read_dir(&folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .find(|p| p.to_string_lossy().contains("v1.1.0") && p.to_string_lossy().ends_with(host().1))
        .unwrap();
    fs::write(&binary, "#!/bin/sh\n").unwrap();
    let run = tree.run(&["plugin", "verify"]);
    assert_eq!(run.status, Some(1), "{}", run.stderr);
    assert!(
        run.stdout.contains("its content has changed since it was installed")
            && run.stdout.contains("other (h.io/acme/other): it is required and not installed"),
        "{}",
        run.stdout
    );
    assert!(run.stderr.contains("plugins with a fault: 2"), "{}", run.stderr);
    let said = tree.run(&["plugin", "doctor"]).ok();
    assert!(said.contains("refused: its content has changed since it was installed"), "{said}");
}

#[test]
fn trust_file_restricts_sources_and_signers() {
    let tree = tree();
    let files = Files::default();
    let (os, arch) = host();
    let good = script("1.0.0", "signed").into_bytes();
    let server = files.serve();
    let (key, by_key) = signer();
    let (_, by_other) = signer();
    let says = |content: &[u8]| statement("h.io/acme/app", "1.0.0", &format!("{os}_{arch}"), content);
    let sign = |content: &[u8]| by_key(content, Some(&says(content)));
    let other = |content: &[u8]| by_other(content, Some(&says(content)));
    files.put("/app", good.clone());
    let trust = |rules: &str| {
        tree.write(
            "../home/.config/rustomize/trust.yaml",
            &format!("apiVersion: rustomize.dev/v1\nkind: TrustPolicy\nrules: {rules}\n"),
        );
    };
    let install = |from: &str| tree.run(&["plugin", "install", "--from", from, "h.io/acme/app"]);
    let http = format!("http://{server}/app");
    trust("[{source: h.io/other/*}, {source: h.io/acme/*}]");
    let rule = format!("- {{source: h.io/acme/app, from: '{http}'}}");
    install(&http).fails_with(&["'h.io/acme/app' from", "is not trusted", "trust.yaml", &rule]);
    trust("[{source: h.io/acme/app, deny: true}]");
    install(&http).fails_with(&["is denied by"]);
    // Unsigned, signed with another key, and signed with the trusted key.
    trust(&format!("[{{source: h.io/acme/*, from: '**', require: minisign, keys: ['{key}']}}]"));
    install(&http).fails_with(&["404", "app.minisig"]);
    files.put("/app.minisig", other(&good));
    install(&http).fails_with(&["is not signed by one of the keys that are trusted", "trust.yaml"]);
    files.put("/app.minisig", sign(b"something else"));
    install(&http).fails_with(&["is not signed by one of the keys"]);
    assert!(!root(&tree).join("h.io").exists());
    files.put("/app.minisig", sign(&good));
    install(&http).ok();
    assert!(tree.build(&[]).ok().contains("v: signed"));
    // A plugin that was installed before a signature was required does not run until it is fetched
    // again.
    let files_of = |end: &str| crate::support::files(&root(&tree), end);
    let [identity] = files_of("_IDENTITY").try_into().unwrap();
    let text = fs::read_to_string(&identity).unwrap();
    assert!(text.contains(&format!("\"signer\": \"{key}\"")), "{text}");
    fs::write(&identity, text.replace(&format!("\"signer\": \"{key}\","), "")).unwrap();
    tree.build(&[]).fails_with(&["'h.io/acme/app' has to be signed", "rustomize plugin install h.io/acme/app"]);
    fs::write(&identity, text.replace(&key, &signer().0)).unwrap();
    tree.build(&[]).fails_with(&["'h.io/acme/app' has to be signed"]);
    install(&http).ok();
    assert!(tree.build(&[]).ok().contains("v: signed"));
    // An installed plugin that is not trusted any more does not run either.
    trust("[]");
    tree.build(&[]).fails_with(&["'h.io/acme/app' from", "is not trusted"]);
    trust(&format!("[{{source: h.io/acme/*, from: '**', require: minisign, keys: ['{key}']}}]"));
    // From a registry: the signature is a tag of its own. From a path: no signature exists.
    fs::remove_dir_all(root(&tree)).unwrap();
    let (oci, blobs) = registry("acme/app", "v1.0.0", &[(os, arch, good.clone())]);
    install(&format!("oci://{oci}/acme/app")).fails_with(&["404", ".minisig"]);
    let signature = sign(&good);
    let digest = sha256(signature.as_bytes());
    blobs.put(&format!("/v2/acme/app/blobs/sha256:{digest}"), signature);
    let manifest = format!(r#"{{"layers": [{{"digest": "sha256:{digest}", "size": 1}}]}}"#);
    blobs.put(&format!("/v2/acme/app/manifests/sha256-{}.minisig", sha256(&good)), manifest);
    install(&format!("oci://{oci}/acme/app")).ok();
    fs::remove_dir_all(root(&tree)).unwrap();
    install_path(&tree, "h.io/acme/app", &script("1.0.0", "x")).fails_with(&["has no signature"]);
}

#[test]
fn release_must_have_a_minimum_age() {
    let tree = tree();
    tree.write(
        "../home/.config/rustomize/trust.yaml",
        "apiVersion: rustomize.dev/v1\nkind: TrustPolicy\nrules: [{source: 'h.io/**', from: '**', minReleaseAge: 7d}]\n",
    );
    let at = |days: u64| {
        httpdate::fmt_http_date(std::time::SystemTime::now() - std::time::Duration::from_secs(days * 86400))
    };
    let server = serve(move |request| {
        let modified = match request.path.as_str() {
            "/old" => vec![("Last-Modified".to_owned(), at(8))],
            "/new" => vec![("Last-Modified".to_owned(), at(6))],
            _ => Vec::new(),
        };
        Reply("200 OK", modified, script("1.0.0", "x").into_bytes())
    });
    let install =
        |path: &str| tree.run(&["plugin", "install", "--from", &format!("http://{server}/{path}"), "h.io/acme/app"]);
    install("new").fails_with(&["is 144 hours old, and has to be 168"]);
    install("unknown").fails_with(&["the age of"]);
    install("old").ok();
    // A named file that does not exist does not allow everything.
    let mut tree = tree;
    tree.variables.insert("RUSTOMIZE_TRUST", "/nowhere/trust.yaml".to_owned());
    tree.run(&["plugin", "install", "h.io/acme/other"]).fails_with(&["cannot read '/nowhere/trust.yaml'"]);
}

#[test]
fn changed_plugin_of_the_tree_is_locked_again() {
    let tree = Tree::new(
        "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: Local\nmetadata: {name: x}\n",
    );
    tree.write("plugins/local/plugin.yaml", MANIFEST);
    tree.write("plugins/local/main.sh", MAIN);
    require(&tree, "{local: {source: h.io/acme/local, from: ./plugins/local}}");
    tree.run(&["plugin", "install"]).ok();
    let first = lock(&tree);
    tree.write("plugins/local/main.sh", &MAIN.replace("v: local", "v: changed"));
    tree.build(&[]).fails_with(&["'./plugins/local' has changed since it was locked", "rustomize plugin lock"]);
    tree.run(&["plugin", "install", "--frozen"]).fails_with(&["is not what was locked", "rustomize plugin lock"]);
    tree.run(&["plugin", "lock", "--check"]).fails_with(&["rustomize plugin lock"]);
    tree.run(&["plugin", "install"]).ok();
    assert_ne!(lock(&tree), first);
    assert!(tree.build(&["--frozen"]).ok().contains("v: changed"));
    // From another directory, too: paths are relative to the file.
    let run = tree.run(&["build", "--enable-alpha-plugins", "../tree"]);
    assert!(run.ok().contains("v: changed"));
    tree.write("sub/nothing", "");
    let elsewhere = tree.run(&["plugin", "install", "--directory", "../tree", "--frozen"]);
    elsewhere.ok();
}

#[test]
fn failed_server_never_drops_a_platform_from_the_lock() {
    let tree = tree();
    let (os, arch) = host();
    let server = serve(move |request| match request.path.as_str() {
        path if path.ends_with(&format!("{os}_{arch}")) => Reply::ok(script("1.0.0", "x")),
        path if path.ends_with("windows_amd64") => Reply("503 Service Unavailable", Vec::new(), Vec::new()),
        _ => Reply::not_found(),
    });
    require(
        &tree,
        &format!(
            "{{app: {{source: h.io/acme/app, version: 1.0.0, from: 'http://{server}/{{version}}_{{os}}_{{arch}}'}}}}"
        ),
    );
    tree.run(&["plugin", "install"]).fails_with(&["503", "locking it for windows_amd64"]);
    assert!(!tree.path().join("plugins.lock").exists());
}

#[test]
fn trust_is_given_by_the_user_alone() {
    let mut tree = tree();
    let path = tree.home().join("built");
    tree.write("../home/built", &script("1.0.0", "x"));
    let path = path.to_string_lossy().into_owned();
    let install = |tree: &Tree, source: &str| tree.run(&["plugin", "install", "--path", &path, source]);
    assert_eq!(tree.run(&["plugin", "trust"]).ok(), "");
    tree.run(&["plugin", "trust", "h.io/acme/*", "--from", &path]).ok();
    tree.run(&["plugin", "trust", "**", "--deny"]).ok();
    install(&tree, "h.io/acme/app").ok();
    install(&tree, "h.io/other/app").fails_with(&["is denied"]);
    // A rule for one source counts before a rule for many.
    tree.run(&["plugin", "trust", "h.io/acme/app", "--deny"]).ok();
    install(&tree, "h.io/acme/app").fails_with(&["is denied"]);
    let (key, _) = signer();
    let rule = ["plugin", "trust", "h.io/acme/app", "--from", &path, "--key"];
    tree.run(&["plugin", "trust", "h.io/acme/app"]).ok();
    tree.run(&[&rule[..], &[&key, "--min-release-age", "7d"]].concat()).ok();
    install(&tree, "h.io/acme/app").fails_with(&["the age of"]);
    tree.run(&[&rule[..], &["nonsense"]].concat()).fails_with(&["is not a public key of minisign"]);
    assert_eq!(tree.run(&["plugin", "trust"]).ok().matches("\n- ").count(), 5);
    // Files of a repository grant nothing.
    tree.write("trust.yaml", "apiVersion: rustomize.dev/v1\nkind: TrustPolicy\nrules: [{source: '**', from: '**'}]\n");
    install(&tree, "h.io/other/app").fails_with(&["is denied"]);
    tree.variables.insert("RUSTOMIZE_TRUST", tree.path().join("trust.yaml").to_string_lossy().into_owned());
    install(&tree, "h.io/other/app").ok();
}

#[test]
fn versions_that_nothing_needs_are_pruned() {
    let tree = tree();
    for version in ["1.0.0", "1.1.0", "1.2.0"] {
        install_path(&tree, "h.io/acme/app", &script(version, version)).ok();
    }
    tree.write("built", &script("1.0.0", "1.0.0"));
    require(&tree, "{app: {source: h.io/acme/app, version: 1.0.0, from: ./built}}");
    tree.run(&["plugin", "install"]).ok();
    let dry = tree.run(&["plugin", "prune", "--dry-run"]).ok();
    // The locked version is that of the project; the same version of the user is another plugin.
    assert!(dry.lines().count() == 2 && dry.contains("v1.1.0") && dry.contains("v1.0.0"), "{dry}");
    assert_eq!(tree.run(&["plugin", "prune"]).ok(), dry);
    assert_eq!(tree.run(&["plugin", "prune"]).ok(), "");
    assert_eq!(tree.listed(), ["h.io/acme/app v1.2.0 installed", "h.io/acme/app v1.0.0 installed"]);
    assert!(tree.build(&["--frozen"]).ok().contains("v: 1.0.0"));
}

#[test]
fn unwritable_files_are_an_error_and_leave_nothing() {
    let (mut tree, _, _) = everything();
    // No more than 512 bytes in a file, as on a disk that is full.
    let command = format!("trap '' XFSZ; ulimit -f 1; exec {} plugin install", crate::support::program());
    #[expect(clippy::disallowed_methods, reason = "a shell that limits what it runs")]
    let mut limited = std::process::Command::new("bash");
    limited.args(["-c", &command]).current_dir(tree.path()).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    limited.env("HOME", tree.home());
    crate::support::run(&mut limited).fails_with(&["File too large", "acme/"]);
    assert!(!tree.path().join("plugins.lock").exists());
    let list = tree.run(&["plugin", "list", "-o", "json"]).ok();
    assert!(!list.contains("refused"), "what is there is whole: {list}");
    tree.run(&["plugin", "install"]).ok();
    // A directory of plugins that cannot be made: its parent is a file.
    tree.write("file", "");
    tree.variables.insert("RUSTOMIZE_PLUGIN_PATH", tree.path().join("file/plugins").to_string_lossy().into_owned());
    tree.run(&["plugin", "install"]).fails_with(&["cannot make the directory", "file/plugins"]);
}

#[test]
fn a_plugin_from_git_brings_what_it_needs_from_its_own_repository() {
    let tree = Tree::new(
        "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: Top\nmetadata: {name: x}\n",
    );
    let repository = tree.home().join("repository");
    for (name, kind, more) in [
        ("top", "Top", "dependencies: {base: {source: h.io/acme/base, from: ../base}}\n"),
        ("base", "Base", ""),
        (
            "greedy",
            "Greedy",
            "dependencies: {base: {source: h.io/acme/base, from: ../../../../../../../../../../../../../../tmp}}\n",
        ),
    ] {
        let manifest = MANIFEST.replace("local", name).replace("Local", kind);
        tree.write(&format!("../home/repository/{name}/plugin.yaml"), &format!("{manifest}{more}"));
        tree.write(&format!("../home/repository/{name}/main.sh"), &MAIN.replace("local", name));
    }

    git(&repository, &["init", "-q", "-b", "main"]);
    git(&repository, &["add", "."]);
    git(&repository, &["commit", "-qm", "one"]);
    git(&repository, &["tag", "v0.1.0"]);
    let from = |name: &str| format!("git::file://{}//{name}", repository.display());
    let said = tree.run(&["plugin", "add", "h.io/acme/top", "--from", &from("top")]).ok();
    assert!(said.contains("acme/base v0.1.0") && said.contains("acme/top v0.1.0"), "{said}");
    assert!(tree.build(&["--frozen"]).ok().contains("name: top"));
    // Again from the lock alone, and without the network: the clone is kept.
    fs::remove_dir_all(root(&tree)).unwrap();
    tree.run(&["plugin", "install", "--frozen", "--offline"]).ok();
    assert!(tree.run(&["plugin", "list"]).ok().contains("h.io/acme/base  v0.1.0   installed"));
    // A repository lists only its own files, and no path of this machine.
    tree.run(&["plugin", "install", "--from", &from("greedy"), "h.io/acme/greedy"])
        .fails_with(&["leads out of the repository that names it"]);
}
