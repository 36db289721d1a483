//! The kinds of plugins, their runtimes, and how they are installed: the table U of
//! docs/requirements.md. Real servers, pip, npm and git, all on this machine.

use super::{Releases, list, names, object};
use crate::support::packages::host;
use crate::support::plugins::{install, require, root, script, script_with, tree};
use crate::support::servers::{Files, Reply, registry, serve, sha256};
use crate::support::{Run, Tree, git, skip};
use base64::Engine;
use sha2::Digest;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

/// The manifest of the plugin `app` in a runtime.
fn manifest(runtime: &str, more: &str) -> String {
    format!(
        "apiVersion: rustomize.dev/v1\nkind: Plugin\nversion: 1.0.0\nruntime: {runtime}\ngenerators: [{{apiVersion: ex.io/v1, kind: Made}}]\n{more}"
    )
}

/// Prints a ConfigMap with what the shell left in `v`.
const PRINT: &str =
    "\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata:\\n  name: made\\ndata:\\n  v: \"%s\"\\n' \"$v\"\n";

/// A tree that requires the plugin of its own directory `plugins/app`.
fn requiring(runtime: &str, more: &str, entry: (&str, &str)) -> Tree {
    let tree = tree();
    tree.write("plugins/app/plugin.yaml", &manifest(runtime, more));
    tree.write(&format!("plugins/app/{}", entry.0), entry.1);
    require(&tree, "{app: {source: h.io/acme/app, from: ./plugins/app}}");
    tree
}

/// Puts programs of the test before those of the machine.
fn with_programs(tree: &mut Tree, programs: &[(&str, String)]) {
    for (name, script) in programs {
        tree.write(&format!("../home/bin/{name}"), script);
    }
    #[expect(clippy::disallowed_methods, reason = "where the programs of the machine are")]
    let path = std::env::var("PATH").unwrap();
    tree.variables.insert("PATH", format!("{}:{path}", tree.home().join("bin").display()));
}

#[track_caller]
fn says(out: &str, v: &str) {
    assert!(out.contains(&format!("  v: {v}\n")), "{v} is not in:\n{out}");
}

#[test]
fn a_plugin_runs_in_a_process_of_its_own() {
    let tree = tree();
    let ends = "[ \"$(sed -n 's/^  name: //p' \"$1\")\" != end ] || kill -9 $$\nv=\"pid $$\"";
    let plugin = script("1.0.0", "x").replace("printf 'apiVersion", &format!("{ends}{PRINT}exit\nprintf 'apiVersion"));
    install(&tree, "h.io/acme/app", &plugin).ok();
    tree.write("kustomization.yaml", "generators: [g.yaml]\n");
    let mut command = tree.command(&["build", "--enable-alpha-plugins"]);
    let child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let own = child.id();
    let out = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert!(out.contains("  v: pid ") && !out.contains(&format!("v: pid {own}\n")), "{own}: {out}");
    // The end of a plugin does not end the build, which reports the cause.
    tree.write("g.yaml", &object("Made", "end"));
    tree.build(&[]).fails_with(&["signal: 9", "g.yaml:1:1"]);
}

#[test]
fn generators_and_transformers_have_one_interface() {
    let tree = tree();
    let component = r#"[{"name": "both", "apiVersion": "ex.io/v1", "kind": "Both"}]"#;
    let lists = format!("{component}, \"transformers\": {component}, \"validators\": {component}");
    // The number and names of the arguments, the permissions of the file; and one sum of its
    // content, of the directory and of the names of the variables. That is what a call is given, and
    // nothing of what it is for.
    let names = "env | sed -n 's/^\\([A-Za-z_]*\\)=.*/\\1/p' | sort";
    let sum = format!("{{ cat \"$1\"; basename \"$PWD\"; {names}; }} | cksum | cut -d' ' -f1");
    let given = format!("given=\"$# $(basename \"$1\") $2 $(stat -c %a \"$1\") $({sum})\"");
    let plugin = script_with("1.0.0", "x1.0", &lists, "x").replace(
        "printf 'apiVersion",
        &format!(
            "{given}\ncase $RUSTOMIZE_PLUGIN_ROLE in\ntransformer) sed \"s/  v: .*/&, $given/\"; exit;;\n\
             validator) echo \"$given\" >&2; exit 1;;\nesac\nv=$given{PRINT}exit\nprintf 'apiVersion"
        ),
    );
    install(&tree, "h.io/acme/app", &plugin).ok();
    tree.write("both.yaml", &(object("Both", "b") + "argsOneLiner: more\n"));
    tree.write("kustomization.yaml", "generators: [both.yaml]\ntransformers: [both.yaml]\n");
    let out = tree.build(&[]).ok();
    let line = out.lines().find_map(|line| line.strip_prefix("  v: ")).unwrap();
    let (generator, transformer) = line.split_once(", ").unwrap();
    assert!(generator.starts_with("2 both.yaml more 600 "), "{line}");
    assert_eq!(generator, transformer);
    tree.write("kustomization.yaml", "validators: [both.yaml]\n");
    tree.build(&[]).fails_with(&[generator]);
}

#[test]
fn a_program_in_path_knows_a_language_that_this_program_does_not() {
    let mut tree = requiring("shout", "", ("main", "hello"));
    tree.run(&["plugin", "install"]).fails_with(&["'rustomize-runtime-shout' is not in PATH"]);
    let runtime = format!("#!/bin/sh\n[ \"$1\" = run ] || exit 0\nv=$(tr a-z A-Z < \"$2\"){PRINT}");
    with_programs(&mut tree, &[("rustomize-runtime-shout", runtime)]);
    tree.run(&["plugin", "install"]).ok();
    says(&tree.build(&["--offline"]).ok(), "HELLO");
}

#[test]
fn a_validator_sees_what_is_built_before_anything_is_printed() {
    let tree = tree();
    let component = |kind: &str| format!(r#"[{{"name": "{kind}", "apiVersion": "ex.io/v1", "kind": "{kind}"}}]"#);
    let lists = format!("{}, \"validators\": {}", component("Made"), component("Checked"));
    let refuse = "case $(sed -n 's/^kind: //p' \"$1\") in Checked) all=$(cat); case $all in *'v: x'*'name: pre-made'*) exit 0;; esac; echo 'not as it should be' >&2; exit 1;; esac\nprintf 'apiVersion";
    install(&tree, "h.io/acme/app", &script_with("1.0.0", "x1.0", &lists, "x").replace("printf 'apiVersion", refuse))
        .ok();
    tree.write("v.yaml", &object("Checked", "v"));
    // It sees the last state: with the prefix.
    tree.write("kustomization.yaml", "validators: [v.yaml]\ngenerators: [g.yaml]\nnamePrefix: pre-\n");
    assert!(tree.build(&[]).ok().contains("name: pre-made\n"));
    tree.write("kustomization.yaml", "validators: [v.yaml]\ngenerators: [g.yaml]\n");
    tree.build(&[]).fails_with(&["not as it should be", "running the validator"]);
    tree.write("out.yaml", "as before");
    tree.build(&["-o", "out.yaml"]).fails_with(&["not as it should be"]);
    assert_eq!(fs::read_to_string(tree.path().join("out.yaml")).unwrap(), "as before");
}

#[test]
fn a_directory_with_either_manifest_is_a_plugin() {
    let tree = tree();
    let path = |name: &str| tree.path().join(name).to_string_lossy().into_owned();
    let install = |name: &str| tree.run(&["plugin", "install", "--path", &path(name), "h.io/acme/app"]);
    let main = format!("v=of-{{}}{PRINT}");
    tree.write("ours/plugin.yaml", &manifest("bash", ""));
    tree.write("ours/main.sh", &main.replace("{}", "ours"));
    assert!(install("ours").ok().contains("v1.0.0: "));
    says(&tree.build(&[]).ok(), "of-ours");
    // Pulumi's says nothing of versions and components: a tag says the version, the plugin the
    // rest.
    let repository = tree.home().join("theirs");
    let described = script("2.0.0", "of-theirs");
    tree.write(
        "../home/theirs/PulumiPlugin.yaml",
        "runtime:\n  name: bash\nrequiredPulumiVersion: '>=3'\npackages: {}\n",
    );
    tree.write("../home/theirs/main.sh", described.trim_start_matches("#!/bin/sh\n"));
    git(&repository, &["init", "-q", "-b", "main"]);
    git(&repository, &["add", "."]);
    git(&repository, &["commit", "-qm", "one"]);
    git(&repository, &["tag", "v2.0.0"]);
    let from = format!("git::file://{}", repository.display());
    assert!(tree.run(&["plugin", "install", "--exact", "--from", &from, "h.io/acme/app"]).ok().contains("v2.0.0: "));
    says(&tree.build(&[]).ok(), "of-theirs");
    // By its path, too: there the plugin says the version itself.
    fs::remove_dir_all(root(&tree)).unwrap();
    fs::rename(repository.join(".git"), tree.home().join("git-of-theirs")).unwrap();
    let theirs = repository.to_string_lossy().into_owned();
    let of_path = || tree.run(&["plugin", "install", "--path", &theirs, "h.io/acme/app"]);
    assert!(of_path().ok().contains("v2.0.0: "));
    says(&tree.build(&[]).ok(), "of-theirs");
    tree.write("../home/theirs/main.sh", "exit 3\n");
    of_path().fails_with(&[
        "its version is not known",
        "exit status: 3",
        "'version: 1.2.3' into its PulumiPlugin.yaml",
    ]);
    tree.write("neither/main.sh", &main);
    install("neither").fails_with(&["cannot be installed"]);
}

#[test]
fn the_runtime_of_a_manifest_says_what_runs_the_files() {
    let mut tree = requiring("one", "", ("main", "the same file"));
    let runtime = |name: &str| format!("#!/bin/sh\n[ \"$1\" = run ] || exit 0\nv=\"{name} $(cat \"$2\")\"{PRINT}");
    with_programs(&mut tree, &[("rustomize-runtime-one", runtime("one")), ("rustomize-runtime-two", runtime("two"))]);
    tree.run(&["plugin", "install"]).ok();
    says(&tree.build(&["--offline"]).ok(), "one the same file");
    tree.write("plugins/app/plugin.yaml", &manifest("two", ""));
    tree.run(&["plugin", "install"]).ok();
    says(&tree.build(&["--offline"]).ok(), "two the same file");
    tree.write("plugins/app/plugin.yaml", &manifest("", ""));
    tree.run(&["plugin", "install"]).fails_with(&["missing field \"runtime\"", "python, nodejs, go, deno, bash"]);
}

#[test]
fn a_runtime_is_called_with_the_file_and_the_arguments_of_the_call() {
    let mut tree = requiring("probe", "entry: folder/program\n", ("folder/program", ""));
    let runtime = format!(
        "#!/bin/sh\ncase \"$1\" in\nrun) v=\"$# $(basename \"$(dirname \"$2\")\")/$(basename \"$2\") $(basename \"$3\") $4\"{PRINT};;\n\
         install-deps) mkdir -p \"$2/.rustomize\"; echo \"$#\" > \"$2/.rustomize/deps\" ;;\nesac\n"
    );
    with_programs(&mut tree, &[("rustomize-runtime-probe", runtime)]);
    tree.write("g.yaml", &(object("Made", "g") + "argsOneLiner: more\n"));
    let said = tree.run(&["plugin", "install"]).ok();
    let installed = said.trim_end().rsplit(' ').next().unwrap();
    // It has made what the plugin needs when it was installed, and is then asked to run the file.
    assert_eq!(fs::read_to_string(format!("{installed}/.rustomize/deps")).unwrap(), "2\n");
    says(&tree.build(&["--offline"]).ok(), "4 folder/program g.yaml more");
}

#[test]
fn a_directory_needs_no_executable() {
    let tree = requiring("bash", "", ("main.sh", &format!("v=run{PRINT}")));
    let said = tree.run(&["plugin", "install"]).ok();
    let installed = said.trim_end().rsplit(' ').next().unwrap().to_owned();
    for folder in [tree.path().join("plugins/app"), installed.into()] {
        for file in crate::support::files(&folder, "") {
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o111, 0, "{}", file.display());
        }
    }
    says(&tree.build(&["--offline"]).ok(), "run");
}

/// A registry with one plugin, and the line that requires it.
fn required_from_a_registry(content: &str) -> String {
    let (os, arch) = host();
    let (server, _) = registry("acme/app", "v1.4.0", &[(os, arch, content.as_bytes().to_vec())]);
    format!("{{app: {{source: h.io/acme/app, version: '~> 1.2', from: 'oci://{server}/acme/app'}}}}")
}

/// Expects that the plugin of `required_from_a_registry` is installed and locked, whatever did
/// that.
#[track_caller]
fn is_installed(tree: &Tree, content: &str) {
    let (os, arch) = host();
    let file = format!("rustomize-plugin-app_v1.4.0_x1.0_{os}_{arch}");
    let want = [file.clone(), format!("{file}_IDENTITY"), format!("{file}_SHA256SUM")];
    assert_eq!(names(&root(tree).join("h.io/acme/app")), want);
    let lock: serde_json::Value = serde_json::from_slice(&fs::read(tree.path().join("plugins.lock")).unwrap()).unwrap();
    let locked = &lock["plugins"]["h.io/acme/app"];
    assert_eq!(locked["version"], "1.4.0");
    assert_eq!(locked["platforms"][format!("{os}_{arch}")]["content"], sha256(content.as_bytes()));
    assert!(tree.build(&["--frozen", "--offline"]).ok().contains("v: registry\n"));
}

#[test]
fn a_build_installs_and_locks_what_it_needs() {
    let content = script("1.4.0", "registry");
    let tree = tree();
    require(&tree, &required_from_a_registry(&content));
    assert!(tree.build(&[]).ok().contains("v: registry\n"));
    is_installed(&tree, &content);
}

#[test]
fn an_installation_of_the_project_installs_and_locks_what_it_needs() {
    let content = script("1.4.0", "registry");
    let tree = tree();
    require(&tree, &required_from_a_registry(&content));
    assert!(tree.run(&["plugin", "install"]).ok().contains("h.io/acme/app v1.4.0: "));
    is_installed(&tree, &content);
}

#[test]
fn adding_a_plugin_requires_installs_and_locks_it() {
    let content = script("1.4.0", "registry");
    let tree = tree();
    let line = required_from_a_registry(&content);
    let from = line.split('\'').nth(3).unwrap();
    tree.run(&["plugin", "add", "h.io/acme/app@~> 1.2", "--from", from]).ok();
    is_installed(&tree, &content);
    let text = fs::read_to_string(tree.path().join("plugins.yaml")).unwrap();
    assert!(text.contains("app: {source: h.io/acme/app, version: '~> 1.2', from: 'oci://"), "{text}");
}

#[test]
fn one_plugin_is_installed_by_its_source() {
    let content = script("1.4.0", "registry");
    let tree = tree();
    let other = "other: {source: h.io/acme/other, from: ./own, provides: [{apiVersion: ex.io/v1, kind: Other}]}";
    tree.write("own", &script("1.0.0", "other"));
    require(&tree, &required_from_a_registry(&content).replace("}}", &format!("}}, {other}}}")));
    assert!(tree.run(&["plugin", "install", "h.io/acme/app"]).ok().contains("h.io/acme/app v1.4.0: "));
    is_installed(&tree, &content);
    assert!(!root(&tree).join("h.io/acme/other").exists(), "one plugin was asked for");
}

#[test]
fn what_else_is_installed_matters_only_without_a_version() {
    let tree = tree();
    install(&tree, "h.io/acme/app", &script("1.0.0", "one")).ok();
    install(&tree, "h.io/acme/app", &script("2.0.0", "two")).ok();
    require(&tree, "{app: {source: h.io/acme/app, version: 1.0.0}}");
    assert!(tree.build(&["--offline"]).ok().contains("v: one\n"));
    require(&tree, "{app: {source: h.io/acme/app}}");
    assert!(tree.build(&["--offline"]).ok().contains("v: two\n"));
    // Not where only locked plugins may be used, whatever is installed.
    tree.build(&["--offline", "--frozen"]).fails_with(&["required and not locked"]);
    tree.write("own", &script("1.0.0", "locked"));
    require(&tree, "{app: {source: h.io/acme/app, from: ./own}}");
    tree.run(&["plugin", "install"]).ok();
    assert!(tree.build(&["--offline", "--frozen"]).ok().contains("v: locked\n"));
}

/// A zip archive of files.
fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in files {
        archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    if !is_there {
        skip(&format!("no {program}"));
    }
    is_there
}

#[test]
fn a_build_installs_the_packages_that_a_plugin_in_python_pins() {
    if !has("python3") {
        return;
    }
    let wheel = "polite-1.0-py3-none-any.whl";
    let content = archive(&[
        ("polite/__init__.py", "def greet(name):\n    return 'good day, ' + name\n"),
        ("polite-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: polite\nVersion: 1.0\n"),
        (
            "polite-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        ),
        (
            "polite-1.0.dist-info/RECORD",
            "polite/__init__.py,,\npolite-1.0.dist-info/METADATA,,\npolite-1.0.dist-info/WHEEL,,\npolite-1.0.dist-info/RECORD,,\n",
        ),
    ]);
    let main = "import polite\nprint('apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\ndata: {v: \"' + polite.greet('all') + '\"}')\n";
    let mut tree = requiring("python", "", ("main.py", main));
    let sum = sha256(&content);
    tree.write("plugins/app/requirements.txt", &format!("polite==1.0 --hash=sha256:{sum}\n"));
    let index = Files::default();
    let page = format!("<!DOCTYPE html><a href=\"/{wheel}\">{wheel}</a>").into_bytes();
    index.put(&format!("/{wheel}"), content);
    let served = index.clone();
    let server = serve(move |request| match request.path.as_str() {
        "/simple/polite/" => Reply("200 OK", vec![("Content-Type".to_owned(), "text/html".to_owned())], page.clone()),
        path => served.get(path),
    });
    tree.variables.insert("PIP_INDEX_URL", format!("http://{server}/simple"));
    says(&tree.build(&[]).ok(), "good day, all");
    assert_eq!(index.paths(), [format!("/{wheel}")], "it was fetched from the index, once");
    // It is installed: nothing is fetched again, and nobody's packages are found in its place.
    tree.variables.insert("PIP_INDEX_URL", "http://127.0.0.1:9/simple".to_owned());
    says(&tree.build(&["--offline"]).ok(), "good day, all");
    assert_eq!(index.asked(), 0);
    // Another sum is another package.
    tree.variables.insert("PIP_INDEX_URL", format!("http://{server}/simple"));
    tree.write("plugins/app/requirements.txt", &format!("polite==1.0 --hash=sha256:{}\n", "0".repeat(64)));
    tree.run(&["plugin", "install"]).fails_with(&["pip", "failed"]);
}

#[test]
fn a_requirement_without_a_version_is_met_by_what_is_installed_or_by_the_latest() {
    let tree = tree();
    let released = Releases::new(&tree, &["1.0.0", "1.2.0"]);
    require(&tree, &format!("{{app: {{source: '{}'}}}}", released.source));
    tree.run(&["plugin", "install", "--no-project", "--exact", &format!("{}@1.0.0", released.source)]).ok();
    released.files.asked();
    assert!(tree.build(&[]).ok().contains("v: release 1.0.0\n"));
    assert_eq!(released.files.asked(), 0, "nothing was fetched");
    // It is locked, and stays until the lock is gone.
    fs::remove_dir_all(root(&tree)).unwrap();
    assert!(tree.build(&["--frozen"]).ok().contains("v: release 1.0.0\n"));
    fs::remove_file(tree.path().join("plugins.lock")).unwrap();
    fs::remove_dir_all(root(&tree)).unwrap();
    assert!(tree.build(&[]).ok().contains("v: release 1.2.0\n"));
}

#[test]
fn a_build_installs_by_the_file_of_the_project() {
    let tree = tree();
    let released = Releases::new(&tree, &["1.0.0", "1.1.0", "2.0.0"]);
    require(&tree, &format!("{{app: {{source: '{}', version: '~> 1.0'}}}}", released.source));
    tree.build(&["--offline"]).fails_with(&["'app'", "required and not installed"]);
    assert!(tree.build(&[]).ok().contains("v: release 1.1.0\n"), "the highest that the file allows");
    let lock = fs::read_to_string(tree.path().join("plugins.lock")).unwrap();
    assert!(lock.contains("\"version\": \"1.1.0\"") && lock.contains("\"constraint\": \"~> 1.0\""), "{lock}");
}

#[test]
fn installing_before_a_build_and_by_a_build_come_to_the_same() {
    let content = script("1.4.0", "registry");
    let line = required_from_a_registry(&content);
    let result = |args: &[&str]| {
        let tree = tree();
        require(&tree, &line);
        tree.run(args).ok();
        let folder = root(&tree).join("h.io/acme/app");
        let read = |name: &String| (name.clone(), fs::read(folder.join(name)).unwrap());
        let files: Vec<(String, Vec<u8>)> = names(&folder).iter().map(read).collect();
        (files, fs::read(tree.path().join("plugins.lock")).unwrap())
    };
    let before = result(&["plugin", "install"]);
    assert_eq!(result(&["build", "--enable-alpha-plugins"]), before);
    // Where an older version is installed that will do, both take that and lock it.
    let older = |args: &[&str]| {
        let tree = tree();
        let released = Releases::new(&tree, &["1.0.0", "1.2.0"]);
        tree.run(&["plugin", "install", "--exact", &format!("{}@1.0.0", released.source)]).ok();
        require(&tree, &format!("{{app: {{source: '{}', version: '~> 1.0'}}}}", released.source));
        tree.run(args).ok();
        let lock = fs::read_to_string(tree.path().join("plugins.lock")).unwrap();
        assert!(tree.build(&["--frozen", "--offline"]).ok().contains("v: release 1.0.0\n"));
        lock.replace(&released.server, "SERVER")
    };
    let before = older(&["plugin", "install"]);
    assert!(before.contains("\"version\": \"1.0.0\""), "{before}");
    assert_eq!(older(&["build", "--enable-alpha-plugins"]), before);
}

#[test]
fn what_a_plugin_of_a_path_needs_is_installed_first() {
    let tree = requiring(
        "bash",
        "dependencies: {lib: {source: h.io/acme/lib, from: ../lib}}\n",
        ("main.sh", &format!("v=$(\"$(dirname \"$0\")/.rustomize/sdk/lib/call\"){PRINT}")),
    );
    // Its dependencies cannot be installed, so the plugin itself cannot be.
    tree.write("plugins/lib/plugin.yaml", &manifest("missing", "").replace("Made", "Lib"));
    tree.write("plugins/lib/main", "");
    tree.run(&["plugin", "install"]).fails_with(&["h.io/acme/lib", "'rustomize-runtime-missing' is not in PATH"]);
    assert!(!root(&tree).join("h.io/acme/app").exists(), "the plugin comes behind what it needs");
    tree.write("plugins/lib/plugin.yaml", &manifest("bash", "").replace("Made", "Lib"));
    tree.write("plugins/lib/main.sh", "echo of the library\n");
    tree.run(&["plugin", "install"]).ok();
    says(&tree.build(&["--offline"]).ok(), "of the library");
}

/// A tree beside releases, of which one is installed.
fn with_installed(version: &str) -> (Tree, Releases) {
    let tree = tree();
    let released = Releases::new(&tree, &["1.0.0", "1.1.0", "1.2.0"]);
    let exact = format!("{}@{version}", released.source);
    tree.run(&["plugin", "install", "--exact", &exact]).ok();
    released.files.asked();
    (tree, released)
}

#[test]
fn an_installed_version_will_do_if_none_is_asked_for() {
    let (tree, released) = with_installed("1.0.0");
    assert!(tree.run(&["plugin", "install", &released.source]).ok().contains("v1.0.0: "));
    assert_eq!(released.files.asked(), 0, "nothing was fetched");
    let versions: Vec<_> = list(&tree).iter().map(|plugin| plugin["version"].clone()).collect();
    assert_eq!(versions, ["1.0.0"]);
}

#[test]
fn a_lower_version_than_the_installed_one_is_not_installed() {
    let (tree, released) = with_installed("1.1.0");
    let run = tree.run(&["plugin", "install", &format!("{}@1.0.0", released.source)]);
    assert!(run.stdout.contains("v1.1.0: "), "{}{}", run.stdout, run.stderr);
    assert_eq!(released.files.asked(), 0);
    assert_eq!(list(&tree).len(), 1);
    // A higher one is.
    assert!(tree.run(&["plugin", "install", &format!("{}@1.2.0", released.source)]).ok().contains("v1.2.0: "));
}

#[test]
fn an_exact_installation_takes_what_is_asked_for() {
    let (tree, released) = with_installed("1.1.0");
    let exact = |what: &str| tree.run(&["plugin", "install", "--exact", &format!("{}{what}", released.source)]).ok();
    assert!(exact("@1.0.0").contains("v1.0.0: "), "a lower one");
    assert!(exact("").contains("v1.2.0: "), "without a version the latest one");
    assert_eq!(list(&tree).len(), 3);
}

#[test]
fn an_installation_of_one_plugin_knows_the_project_unless_told_otherwise() {
    let content = script("1.4.0", "registry");
    for what in ["app", "h.io/acme/app"] {
        let tree = tree();
        require(&tree, &required_from_a_registry(&content));
        tree.run(&["plugin", "install", what]).ok();
        is_installed(&tree, &content);
    }
    let tree = tree();
    let line = required_from_a_registry(&content);
    require(&tree, &line.replace("version: '~> 1.2'", "version: '> 7'"));
    let from = line.split('\'').nth(3).unwrap();
    tree.run(&["plugin", "install", "--no-project", "--from", from, "h.io/acme/app"]).ok();
    assert!(!tree.path().join("plugins.lock").exists());
    tree.run(&["plugin", "install", "--no-project", "app"]).fails_with(&["the source 'app'"]);
    // The file's own constraint counts, and with the flag it does not.
    let tree = crate::support::plugins::tree();
    let released = Releases::new(&tree, &["1.0.0", "2.0.0"]);
    require(&tree, &format!("{{app: {{source: '{}', version: '~> 1.0'}}}}", released.source));
    let with = |flags: &[&str]| tree.run(&[&["plugin", "install", &released.source], flags].concat()).ok();
    assert!(with(&["--no-project"]).contains("v2.0.0: "));
    assert!(!tree.path().join("plugins.lock").exists());
    assert!(with(&[]).contains("v1.0.0: "));
}

#[test]
fn a_plugin_that_is_added_brings_what_it_needs() {
    let tree = tree();
    let more = "dependencies: {lib: {source: h.io/acme/lib, from: ../lib}}\n";
    tree.write("plugins/app/plugin.yaml", &manifest("bash", more));
    tree.write("plugins/app/main.sh", &format!("v=$(\"$(dirname \"$0\")/.rustomize/sdk/lib/call\"){PRINT}"));
    tree.write("plugins/lib/plugin.yaml", &manifest("bash", "").replace("Made", "Lib"));
    tree.write("plugins/lib/main.sh", "echo of the library\n");
    tree.run(&["plugin", "add", "h.io/acme/app", "--from", "./plugins/app"]).ok();
    let lock: serde_json::Value = serde_json::from_slice(&fs::read(tree.path().join("plugins.lock")).unwrap()).unwrap();
    assert_eq!(lock["plugins"]["h.io/acme/app"]["dependencies"], serde_json::json!(["h.io/acme/lib"]));
    says(&tree.build(&["--frozen", "--offline"]).ok(), "of the library");
}

#[test]
fn an_installation_succeeds_when_the_plugin_has_described_itself() {
    let tree = tree();
    for (script, words) in [
        ("#!/bin/sh\nexit 3\n", "exit status: 3"),
        ("#!/bin/sh\necho hello\n", "printed no description"),
        ("#!/no/such/interpreter\n", "cannot be installed"),
    ] {
        install(&tree, "h.io/acme/app", script).fails_with(&[words]);
        assert!(list(&tree).iter().all(|plugin| plugin["state"] != "installed"));
        tree.build(&[]).fails_with(&["unable to find plugin root"]);
    }
    install(&tree, "h.io/acme/app", &script("1.0.0", "x")).ok();
    assert_eq!(list(&tree)[0]["state"], "installed");
}

#[test]
fn a_plugin_is_fetched_only_if_it_is_not_there() {
    let tree = tree();
    let files = Files::default();
    files.put("/app", script("1.0.0", "x"));
    let server = files.serve();
    require(&tree, &format!("{{app: {{source: h.io/acme/app, from: 'http://{server}/app'}}}}"));
    tree.run(&["plugin", "install"]).ok();
    assert_eq!(files.paths(), ["/app"]);
    for args in [&["plugin", "install"][..], &["build", "--enable-alpha-plugins"], &["plugin", "lock"]] {
        tree.run(args).ok();
        assert_eq!(files.asked(), 0, "{args:?}");
    }
    fs::remove_dir_all(root(&tree)).unwrap();
    tree.run(&["plugin", "install"]).ok();
    assert_eq!(files.paths(), ["/app"]);
    // An exact version of a release, too: of one that is installed only the sums are fetched.
    let (tree, released) = with_installed("1.1.0");
    for what in ["@1.1.0", "@~> 1.1.0"] {
        tree.run(&["plugin", "install", "--exact", &format!("{}{what}", released.source)]).ok();
        let paths = released.files.paths();
        assert!(paths.iter().all(|path| path.ends_with("_SHA256SUMS")), "{paths:?}");
    }
}

#[test]
fn npm_installs_the_packages_that_a_plugin_pins() {
    if !has("node") || !has("npm") {
        return;
    }
    let package = "{\"name\": \"polite\", \"version\": \"1.0.0\", \"main\": \"index.js\", \"scripts\": {\"install\": \"touch \\\"$HOME/ran\\\"; exit 1\"}}";
    let content = crate::support::packages::tar_gz(&[
        ("package/package.json", package),
        ("package/index.js", "exports.greet = (name) => 'good day, ' + name;\n"),
    ]);
    let integrity =
        format!("sha512-{}", base64::engine::general_purpose::STANDARD.encode(sha2::Sha512::digest(&content)));
    let index = Files::default();
    index.put("/polite/-/polite-1.0.0.tgz", content);
    let server = index.serve();
    let url = format!("http://{server}/polite/-/polite-1.0.0.tgz");
    let main = "const {greet} = require('polite');\nconsole.log('apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\ndata: {v: \"' + greet('all') + '\"}');\n";
    let mut tree = requiring("nodejs", "", ("index.js", main));
    let needs = "\"name\": \"app\", \"version\": \"1.0.0\", \"dependencies\": {\"polite\": \"1.0.0\"}";
    tree.write("plugins/app/package.json", &format!("{{{needs}}}"));
    let lock = format!(
        "{{\"name\": \"app\", \"version\": \"1.0.0\", \"lockfileVersion\": 3, \"requires\": true, \"packages\": {{\"\": {{{needs}}},\n\
         \"node_modules/polite\": {{\"version\": \"1.0.0\", \"resolved\": \"{url}\", \"integrity\": \"{integrity}\", \"hasInstallScript\": true}}}}}}"
    );
    tree.write("plugins/app/package-lock.json", &lock);
    tree.variables.insert("NPM_CONFIG_REGISTRY", format!("http://{server}/"));
    tree.run(&["plugin", "install"]).ok();
    assert_eq!(index.paths(), ["/polite/-/polite-1.0.0.tgz"], "it was fetched from the registry, once");
    says(&tree.build(&["--offline"]).ok(), "good day, all");
    assert!(!tree.home().join("ran").exists(), "the script of the package ran");
}

/// The state of the plugin `app`, and its reason.
fn state(tree: &Tree) -> (String, String) {
    let list = list(tree);
    let [plugin] = list.as_slice() else { panic!("{list:#?}") };
    let text = |field: &str| plugin[field].as_str().unwrap_or_default().to_owned();
    (text("state"), text("reason"))
}

#[test]
fn a_plugin_is_absent_present_or_installed() {
    let mut tree = requiring("probe", "", ("main", ""));
    assert_eq!(state(&tree).0, "absent");
    let runtime = |status: u8| format!("#!/bin/sh\n[ \"$1\" = install-deps ] && exit {status}\nv=run{PRINT}");
    with_programs(&mut tree, &[("rustomize-runtime-probe", runtime(1))]);
    tree.run(&["plugin", "install"]).fails_with(&["rustomize-runtime-probe"]);
    assert_eq!(state(&tree).0, "present");
    tree.build(&["--offline"]).fails_with(&["required and not installed"]);
    with_programs(&mut tree, &[("rustomize-runtime-probe", runtime(0))]);
    tree.run(&["plugin", "install"]).ok();
    assert_eq!(state(&tree).0, "installed");
    says(&tree.build(&["--offline"]).ok(), "run");
    // What is installed and has changed is refused.
    let main = crate::support::files(&root(&tree), "/main").pop().unwrap();
    fs::write(&main, "changed").unwrap();
    assert_eq!(state(&tree).0, "refused");
    tree.build(&["--offline"]).fails_with(&["h.io/acme/app"]);
}

#[test]
fn a_plugin_that_is_present_keeps_the_last_error() {
    let mut tree = requiring("probe", "", ("main", ""));
    let runtime = |status: u8| format!("#!/bin/sh\n[ \"$1\" = install-deps ] && exit {status}\nexit 0\n");
    for status in [3, 4] {
        with_programs(&mut tree, &[("rustomize-runtime-probe", runtime(status))]);
        tree.run(&["plugin", "install"]).fails_with(&[&format!("exit status: {status}")]);
        let (state, reason) = state(&tree);
        assert!(state == "present" && reason.contains(&format!("exit status: {status}")), "{state}: {reason}");
        assert!(tree.run(&["plugin", "list"]).ok().contains(&format!("exit status: {status}")));
    }
}

#[test]
fn a_file_beside_a_plugin_marks_what_is_not_installed_to_its_end() {
    let tree = tree();
    tree.write("own", &script("1.0.0", "x"));
    require(&tree, "{app: {source: h.io/acme/app, from: ./own}}");
    tree.run(&["plugin", "install"]).ok();
    let folder = root(&tree).join("h.io/acme/app");
    let binary = folder.join(&names(&folder)[0]);
    let marker = folder.join(format!("{}.partial", names(&folder)[0]));
    assert!(!marker.exists() && binary.is_file());
    assert!(tree.build(&["--offline"]).ok().contains("v: x\n"));
    fs::write(&marker, "").unwrap();
    tree.build(&["--offline"]).fails_with(&["required and not installed"]);
    assert_eq!(state(&tree).0, "present");
    // The next installation repairs it.
    tree.run(&["plugin", "install"]).ok();
    assert!(!marker.exists());
    assert!(tree.build(&["--offline"]).ok().contains("v: x\n"));
}

/// A tree with a plugin that has a schema and needs the plugin `lib`, which a server has.
fn with_schema() -> Tree {
    let server = serve(move |request| match request.path.as_str() {
        "/lib" => Reply::ok(script("1.0.0", "lib")),
        _ => Reply::not_found(),
    });
    let tree = tree();
    let manifest = format!(
        "apiVersion: rustomize.dev/v1\nkind: Plugin\nname: app\nversion: 1.0.0\nruntime: bash\ngenerators:\n- apiVersion: ex.io/v1\n  kind: Made\n  schema: {{type: object, required: [team], properties: {{team: {{type: string}}}}}}\ndependencies: {{lib: {{source: h.io/acme/lib, version: 1.0.0, from: 'http://{server}/lib'}}}}\n"
    );
    tree.write("plugins/app/plugin.yaml", &manifest);
    tree.write("plugins/app/main.sh", &format!("v=made{PRINT}"));
    require(&tree, "{app: {source: h.io/acme/app, from: ./plugins/app}}");
    tree
}

#[test]
fn describing_a_schema_installs_the_plugin() {
    let tree = requiring("bash", "", ("main.sh", ""));
    let text = fs::read_to_string(tree.path().join("plugins/app/plugin.yaml")).unwrap();
    let schema = "kind: Made, schema: {type: object, properties: {team: {type: string}}}}";
    tree.write("plugins/app/plugin.yaml", &text.replace("kind: Made}", schema));
    assert!(!root(&tree).exists());
    let printed = tree.run(&["plugin", "describe", "app", "--schema"]).ok();
    let printed: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(printed["properties"]["team"]["type"], "string", "{printed}");
    assert_eq!(tree.listed(), ["h.io/acme/app v1.0.0 installed"]);
}

#[test]
fn a_build_installs_a_plugin_and_checks_its_configuration_against_the_schema() {
    let tree = with_schema();
    tree.build(&[]).fails_with(&["team", "g.yaml:1:1"]);
    assert!(tree.listed().contains(&"h.io/acme/app v1.0.0 installed".to_owned()));
    tree.write("g.yaml", &format!("{}team: 3\n", object("Made", "g")));
    tree.build(&[]).fails_with(&["team", "g.yaml:5:7", "string"]);
    tree.write("g.yaml", &format!("{}team: blue\n", object("Made", "g")));
    says(&tree.build(&[]).ok(), "made");
}

#[test]
fn the_schema_of_a_plugin_that_needs_others_is_printed() {
    let tree = with_schema();
    let printed = tree.run(&["plugin", "describe", "app", "--schema"]).ok();
    let printed: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(printed["required"], serde_json::json!(["team"]));
    assert_eq!(tree.listed(), ["h.io/acme/app v1.0.0 installed", "h.io/acme/lib v1.0.0 installed"]);
}

#[test]
fn a_plugin_that_needs_others_is_packaged() {
    let tree = with_schema();
    tree.run(&["plugin", "package", "plugins/app", "-o", "dist"]).ok();
    let archive = tree.path().join("dist/rustomize-plugin-app_v1.0.0_x1.0_any_any.tar.gz");
    let content = fs::read(&archive).unwrap_or_else(|e| panic!("{e}: {:?}", names(&tree.path().join("dist"))));
    let server = serve(move |_| Reply::ok(content.clone()));
    // Whoever installs the package gets the other plugin, too.
    let user = crate::support::plugins::tree();
    require(&user, &format!("{{app: {{source: h.io/acme/app, version: 1.0.0, from: 'http://{server}/app.tar.gz'}}}}"));
    user.run(&["plugin", "install"]).ok();
    assert_eq!(user.listed(), ["h.io/acme/app v1.0.0 installed", "h.io/acme/lib v1.0.0 installed"]);
}

#[test]
fn the_configuration_of_a_plugin_that_needs_others_is_typed_by_the_sdks() {
    if !has("python3") {
        return;
    }
    let tree = with_schema();
    let sdk = include_str!("../../plugin/sdk/python/rustomize_plugin.py");
    let text = fs::read_to_string(tree.path().join("plugins/app/plugin.yaml")).unwrap();
    tree.write("plugins/app/plugin.yaml", &text.replace("runtime: bash", "runtime: python\nformat: json"));
    tree.write("plugins/app/rustomize_plugin.py", sdk);
    let main = "from dataclasses import dataclass\nimport rustomize_plugin\n\n@dataclass\nclass Made(rustomize_plugin.Plugin):\n    VERSION = \"1.0.0\"\n    API_VERSION = \"ex.io/v1\"\n    team: str\n\n    def generate(self, call):\n        metadata = {\"name\": call.name}\n        return [{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": metadata, \"data\": {\"v\": self.team.upper()}}]\n\nrustomize_plugin.main(Made)\n";
    tree.write("plugins/app/main.py", main);
    tree.write("g.yaml", &format!("{}team: [3]\n", object("Made", "g")));
    tree.build(&[]).fails_with(&["team", "g.yaml:5:7"]);
    assert_eq!(tree.listed(), ["h.io/acme/app v1.0.0 installed", "h.io/acme/lib v1.0.0 installed"]);
    tree.write("g.yaml", &format!("{}team: blue\n", object("Made", "g")));
    says(&tree.build(&[]).ok(), "BLUE");
}

/// A plugin in Python that needs `lib`, with `body` as what it generates.
fn needing_types(schema: &str, body: &str) -> Tree {
    let tree = requiring("python", "dependencies: {lib: {source: h.io/acme/lib, from: ../lib}}\n", ("main.py", ""));
    let sdk = concat!(env!("CARGO_MANIFEST_DIR"), "/plugin/sdk/python/rustomize_plugin.py");
    tree.write("plugins/app/rustomize_plugin.py", &fs::read_to_string(sdk).unwrap());
    tree.write(
        "plugins/app/main.py",
        &format!(
            "import json, sys, typing\nimport rustomize_plugin\nlib = rustomize_plugin.need('lib')\n\
             def made(v):\n    print('---\\n' + json.dumps({{'apiVersion': 'v1', 'kind': 'ConfigMap', \
             'metadata': {{'name': 'made'}}, 'data': {{'v': str(v)}}}}))\n{body}"
        ),
    );
    tree.write(
        "plugins/lib/plugin.yaml",
        &format!(
            "{}format: json\n",
            manifest("bash", "").replace("kind: Made}]", &format!("kind: Lib, schema: {schema}}}]"))
        ),
    );
    tree.write(
        "plugins/lib/main.sh",
        "config=$(tr -d '\\n' < \"$1\" | sed 's/\"/\\\\\"/g')\n\
         echo '{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"lib\"}, \
         \"data\": {\"config\": \"'\"$config\"'\", \"mode\": \"'$KUSTOMIZE_PLUGIN_MODE'\"}}'\n",
    );
    tree.run(&["plugin", "install"]).ok();
    tree
}

#[test]
fn a_plugin_gets_a_typed_client_of_each_plugin_that_it_needs() {
    const SCHEMA: &str = "{type: object, required: [team], additionalProperties: false, $defs: {Port: {type: object, \
        properties: {number: {type: integer}}}}, properties: {apiVersion: {type: string}, kind: {type: string}, \
        metadata: {type: object}, team: {type: string, description: Who owns it}, \
        color: {enum: [red, green]}, ports: {type: array, items: {$ref: '#/$defs/Port'}}, \
        if-not: {type: boolean}, any: {}, limits: {type: object, additionalProperties: {type: number}}}}";
    if !has("python3") {
        return;
    }
    // The types are those of the schema.
    let hints = "print_hints = {n: str(t) for n, t in typing.get_type_hints(lib.Lib).items()}\n\
                 print_hints['number'] = str(typing.get_type_hints(lib.LibPortsItem)['number'])\nmade(print_hints)\n";
    let tree = needing_types(SCHEMA, hints);
    // Without the lines and quotes in which YAML has the text.
    let text = |run: Run| run.ok().replace("''", "'").split_whitespace().collect::<Vec<_>>().join(" ");
    let printed = text(tree.build(&["--offline"]));
    for hint in [
        "'team': \"<class 'str'>\"",
        "'color': \"typing.Optional[typing.Literal['red', 'green']]\"",
        "'if_not': 'typing.Optional[bool]'",
        "'limits': 'typing.Optional[typing.Dict[str, float]]'",
        "LibPortsItem",
        "'number': 'typing.Optional[int]'",
    ] {
        assert!(printed.contains(hint), "no {hint} in\n{printed}");
    }
    // An object is what the plugin gets, and what it prints is what the call gives.
    let body = "got = lib.Lib(team='sea', if_not=True, ports=[lib.LibPortsItem(number=80)]).generate(name='n')\n\
                made(got[0]['data']['mode'] + ' ' + json.dumps(json.loads(got[0]['data']['config']), sort_keys=True))\n";
    let printed = text(needing_types(SCHEMA, body).build(&["--offline"]));
    let object = r#"generate {"apiVersion": "ex.io/v1", "if-not": true, "kind": "Lib", "metadata": {"name": "n"}, "ports": [{"number": 80}], "team": "sea"}"#;
    assert!(printed.contains(object), "{printed}");
    // A field that the schema does not have is refused with its place in the source.
    let wrong = needing_types(SCHEMA, "lib.Lib(taem='sea')\n").build(&["--offline"]);
    wrong.fails_with(&["unexpected keyword argument 'taem'", "main.py"]);
    needing_types(SCHEMA, "lib.Lib()\n").build(&["--offline"]).fails_with(&["missing 1 required", "'team'"]);
}
