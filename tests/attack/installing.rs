//! Attacks by the files of a plugin while it is installed.

use super::secrets::as_ordinary_user;
use crate::support::isolation::can_isolate;
use crate::support::packages::{NpmRegistry, pip_index, tar_gz, wheel, zip_of};
use crate::support::plugins::{require, root};
use crate::support::servers::{Files, Reply, serve, sha256};
use crate::support::{Run, Tree, git, run};
use base64::Engine;
use sha2::Digest;
use std::fs;
use std::path::{Path, PathBuf};

pub const TREE: &str = "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: Made\nmetadata: {name: g}\n";

const PYTHON: &str = "print('apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}')\n";

const GO: &str = "package main\n\nfunc main() {\n\tprintln(\"# run\")\n}\n";

pub fn manifest(runtime: &str) -> String {
    format!(
        "apiVersion: rustomize.dev/v1\nkind: Plugin\nname: app\nversion: 1.0.0\nruntime: {runtime}\ngenerators: [{{apiVersion: ex.io/v1, kind: Made}}]\n"
    )
}

/// A tree that needs a plugin of its own, with these files.
pub fn tree(runtime: &str, files: &[(&str, &str)]) -> Tree {
    let tree = Tree::new(TREE);
    tree.write("plugins/app/plugin.yaml", &manifest(runtime));
    for (name, text) in files {
        tree.write(&format!("plugins/app/{name}"), text);
    }
    require(&tree, "{app: {source: h.io/acme/app, from: ./plugins/app}}");
    tree
}

/// A file that code of the plugin makes when it runs without a sandbox.
fn mark(tree: &Tree) -> PathBuf {
    tree.home().join("mark")
}

fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    if !is_there {
        crate::support::skip(&format!("no {program}"));
    }
    is_there
}

/// Runs a command that succeeds, with nothing installed before: as this user, and where that is
/// root, as an ordinary user, too. `check` looks at what came of each.
fn as_each_user(tree: &Tree, args: &[&str], check: impl Fn()) {
    let _ = fs::remove_dir_all(root(tree));
    tree.run(args).ok();
    check();
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let _ = fs::remove_dir_all(root(tree));
    let Some(mut command) = as_ordinary_user(tree, &[]) else { return };
    run(command.args(args)).ok();
    check();
}

/// Installs, in both ways, and expects that no code of the plugin ran.
#[track_caller]
fn installs(tree: &Tree, check: impl Fn(Run)) {
    for args in [&["plugin", "install"][..], &["build", "--enable-alpha-plugins"]] {
        let _ = fs::remove_dir_all(root(tree));
        let run = tree.run(args);
        assert!(!mark(tree).exists(), "{args:?}: code of the plugin ran\n{}", run.stderr);
        check(run);
    }
    tree.assert_nothing_left();
}

/// Where the plugin is installed.
pub fn installed(tree: &Tree) -> PathBuf {
    root(tree).join("h.io/acme/app/rustomize-plugin-app_v1.0.0_x1.0_any_any")
}

/// Serves an archive with files, and requires the plugin in it.
fn archive(tree: &Tree, files: &[(&str, &str)]) {
    let server = Files::default();
    server.put("/app.tar.gz", tar_gz(files));
    let address = server.serve();
    require(tree, &format!("{{app: {{source: h.io/acme/app, version: 1.0.0, from: 'http://{address}/app.tar.gz'}}}}"));
}

#[test]
fn python_modules_of_a_plugin_are_not_imported_at_install() {
    if !has("python3") {
        return;
    }
    for module in ["venv", "ensurepip", "sysconfig", "subprocess", "sitecustomize", "pip", "site"] {
        let tree = tree("python", &[("main.py", PYTHON)]);
        let text = format!("open({:?}, 'w')\n", mark(&tree));
        tree.write(&format!("plugins/app/{module}.py"), &text);
        let run = tree.run(&["plugin", "install"]);
        assert!(!mark(&tree).exists(), "{module}: code of the plugin ran\n{}", run.stderr);
        run.ok();
    }
}

/// A source distribution whose own build backend makes the mark.
fn sdist(mark: &Path) -> Vec<u8> {
    let backend = format!("open({mark:?}, 'w')\nraise SystemExit(1)\n");
    tar_gz(&[
        ("bad-1.0/PKG-INFO", "Metadata-Version: 2.1\nName: bad\nVersion: 1.0\n"),
        (
            "bad-1.0/pyproject.toml",
            "[build-system]\nrequires = []\nbuild-backend = \"backend\"\nbackend-path = [\".\"]\n",
        ),
        ("bad-1.0/backend.py", &backend),
    ])
}

#[test]
fn python_source_distribution_is_not_built() {
    if !has("python3") {
        return;
    }
    let mut tree = tree("python", &[("main.py", PYTHON)]);
    let sdist = sdist(&mark(&tree));
    let pinned = format!("bad==1.0 --hash=sha256:{}\n", sha256(&sdist));
    fs::write(tree.path().join("plugins/app/bad-1.0.tar.gz"), &sdist).unwrap();
    tree.write("plugins/app/requirements.txt", &format!("--no-index\n--find-links .\n{pinned}"));
    installs(&tree, |run| {
        run.fails_with(&["requirements.txt:1", "'--no-index'", "pip-compile --generate-hashes"]);
    });
    // From an index, with its hash.
    tree.variables.insert("PIP_INDEX_URL", pip_index("bad", "bad-1.0.tar.gz", sdist));
    tree.write("plugins/app/requirements.txt", &pinned);
    installs(&tree, |run| {
        run.fails_with(&["pip", "failed", "bad==1.0"]);
    });
}

#[test]
fn python_requirements_need_version_and_hashes() {
    let hash = "a".repeat(64);
    for line in [
        "--find-links .",
        "-e .",
        "-r other.txt",
        "-c other.txt",
        "--index-url https://h.invalid/simple",
        "--extra-index-url=https://h.invalid/simple",
        "--config-settings=x=y",
        "https://h.invalid/bad-1.0-py3-none-any.whl",
        "bad @ https://h.invalid/bad-1.0-py3-none-any.whl",
        "./bad-1.0-py3-none-any.whl",
        "git+https://h.invalid/bad",
        "bad",
        "bad>=1.0",
        "bad==1.*",
        "bad==1.0,<2",
        "bad===1.0",
        "bad==1.0 --hash=md5:0123",
        "bad==1.0 --config-settings=x=y",
        "bad==1.0; python_version > '3' --global-option=x",
        "bad==${HOME}",
    ] {
        let line = match line {
            line if line.contains("--hash") || line.starts_with('-') => line.to_owned(),
            line => format!("{line} --hash=sha256:{hash}"),
        };
        let requirements = format!("# pinned\n\n{line}\n");
        let tree = tree("python", &[("main.py", PYTHON), ("requirements.txt", &requirements)]);
        tree.run(&["plugin", "install"]).fails_with(&["requirements.txt:3", "pip-compile --generate-hashes"]);
    }
    let tree = tree("python", &[("main.py", PYTHON), ("requirements.txt", "\nbad==1.0\n")]);
    tree.run(&["plugin", "install"]).fails_with(&["requirements.txt:2", "--hash"]);
}

#[test]
fn npm_configuration_and_git_packages_are_not_used() {
    if !has("npm") {
        return;
    }
    let tree = tree("nodejs", &[("index.js", "")]);
    tree.write("plugins/app/x", &format!("#!/bin/sh\n: > '{}'\nexit 1\n", mark(&tree).display()));
    tree.write("plugins/app/.npmrc", "git=./x\nregistry=http://127.0.0.1:9/\nignore-scripts=false\nallow-git=all\n");
    let commit = "1".repeat(40);
    let url = format!("git+file:///nowhere/dep.git#{commit}");
    for (wanted, words) in [
        (url.as_str(), ["package.json", "'dep'", "git+file:"]),
        ("^1.0.0", ["package-lock.json:3", "'node_modules/dep'", "git+file:"]),
    ] {
        let needs = format!("\"name\": \"app\", \"version\": \"1.0.0\", \"dependencies\": {{\"dep\": \"{wanted}\"}}");
        tree.write("plugins/app/package.json", &format!("{{{needs}}}"));
        tree.write(
            "plugins/app/package-lock.json",
            &format!(
                "{{\"name\": \"app\", \"version\": \"1.0.0\", \"lockfileVersion\": 3, \"requires\": true, \"packages\": {{\n\
                 \"\": {{{needs}}},\n\"node_modules/dep\": {{\"version\": \"1.0.0\", \"resolved\": \"{url}\"}}}}}}"
            ),
        );
        installs(&tree, |run| {
            run.fails_with(&words);
        });
    }
}

#[test]
fn repository_in_an_archive_is_not_read_by_go() {
    if !has("go") {
        return;
    }
    let tree = Tree::new(TREE);
    let work = tree.home().join("work");
    fs::create_dir(&work).unwrap();
    let files =
        [("plugin.yaml", manifest("go")), ("go.mod", "module app\n\ngo 1.21\n".to_owned()), ("main.go", GO.to_owned())];
    for (name, text) in &files {
        fs::write(work.join(name), text).unwrap();
    }
    git(&work, &["init", "-q", "-b", "main"]);
    git(&work, &["add", "."]);
    git(&work, &["commit", "-qm", "one"]);
    let act = format!("sh -c ': > {}'", mark(&tree).display());
    git(&work, &["config", "core.fsmonitor", &act]);
    let folder = |name: &str| -> Vec<(String, Vec<u8>)> {
        let found = crate::support::files(&work.join(name), "");
        let name = |path: &Path| path.strip_prefix(&work).unwrap().display().to_string();
        found.iter().filter(|path| path.is_file()).map(|path| (name(path), fs::read(path).unwrap())).collect()
    };
    let mut tar = tar::Builder::new(Vec::new());
    let sources = files.iter().map(|(name, text)| ((*name).to_owned(), text.clone().into_bytes()));
    for (name, content) in sources.chain(folder(".git")) {
        let mut header = tar::Header::new_ustar();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, content.as_slice()).unwrap();
    }
    let server = Files::default();
    server.put("/app.tar", tar.into_inner().unwrap());
    let address = server.serve();
    require(&tree, &format!("{{app: {{source: h.io/acme/app, version: 1.0.0, from: 'http://{address}/app.tar'}}}}"));
    installs(&tree, |run| {
        run.fails_with(&["refused", ".git"]);
    });
    // A repository around the plugin is not asked, either: the user may keep the home in one.
    git(&tree.home(), &["init", "-q", "-b", "main"]);
    git(&tree.home(), &["config", "core.fsmonitor", &act]);
    for (name, text) in &files {
        tree.write(&format!("plugins/app/{name}"), text);
    }
    require(&tree, "{app: {source: h.io/acme/app, from: ./plugins/app}}");
    tree.run(&["plugin", "install"]).ok();
    assert!(!mark(&tree).exists(), "git ran in the repository around the plugin");
}

#[test]
fn entry_of_a_manifest_cannot_become_an_option() {
    if !has("go") {
        return;
    }
    let tree = tree("go", &[("go.mod", "module app\n\ngo 1.21\n"), ("main.go", GO)]);
    tree.write("plugins/app/evil.sh", &format!("#!/bin/sh\n: > '{}'\nexec \"$@\"\n", mark(&tree).display()));
    tree.write("plugins/app/plugin.yaml", &format!("{}entry: -toolexec=./evil.sh\n", manifest("go")));
    installs(&tree, |run| {
        run.fails_with(&["plugin.yaml:7", "'-toolexec=./evil.sh'", "begins with '-'"]);
    });
}

#[test]
fn installation_step_is_confined() {
    if !can_isolate() {
        return;
    }
    let mut tree = tree("probe", &[("main", "")]);
    let path = std::env::var_os("PATH").unwrap().into_string().unwrap();
    tree.variables.insert("PATH", format!("{}:{path}", tree.home().join("bin").display()));
    for (name, value) in [("AWS_SECRET", "hunter2"), ("GOFLAGS", "-toolexec=x"), ("NODE_OPTIONS", "--require=x")] {
        tree.variables.insert(name, value.to_owned());
    }
    tree.variables.insert("HTTPS_PROXY", "http://127.0.0.1:3128".to_owned());
    tree.write("../home/.ssh/id", "hunter2");
    let (home, mark) = (tree.home().display().to_string(), mark(&tree).display().to_string());
    let probe = format!(
        "#!/bin/bash\n[ \"$1\" = install-deps ] || exit 0\nexec 2>/dev/null; mkdir -p \"$2/.rustomize\"\n\
         echo own > \"$HOME/x\"; echo own > \"$TMPDIR/x\"\n\
         {{ env; cat '{home}/.ssh/id'; cat /proc/$PPID/environ; [ \"$HOME\" = '{home}' ] && echo user-home; [ \"$PWD\" = \"$2\" ] && echo beside-it; cat \"$HOME/x\" \"$TMPDIR/x\"; [ -t 0 ] && echo terminal; ps -o sid= -p $$; }} > \"$2/.rustomize/got\"\n\
         echo > '{mark}'; echo changed >> \"$2/main\"; echo more > \"$2/more\"; exit 0\n"
    );
    tree.write("../home/bin/rustomize-runtime-probe", &probe);
    for args in [&["plugin", "install"][..], &["build", "--enable-alpha-plugins", "--plugin-isolation=off"]] {
        as_each_user(&tree, args, || is_confined(&tree));
    }
}

fn is_confined(tree: &Tree) {
    let mark = mark(tree);
    let got = fs::read_to_string(installed(tree).join(".rustomize/got")).unwrap();
    assert!(!mark.exists(), "{got}");
    for word in ["hunter2", "toolexec", "NODE_OPTIONS", "user-home", "beside-it", "terminal"] {
        assert!(!got.contains(word), "{word}: {got}");
    }
    assert!(got.contains("HTTPS_PROXY=http://127.0.0.1:3128\n") && got.contains("own\nown\n"), "{got}");
    assert_eq!(fs::read_to_string(installed(tree).join("main")).unwrap(), "");
    assert!(!installed(tree).join("more").exists());
}

/// The beginning of a stand-in for a tool. Its function `note` says of a step whether it has the
/// network and whether it can write to what is kept, in the tool's home, which is removed.
fn notes(tree: &Tree, port: &str) -> String {
    // The plugin is made ready aside. A tool is asked first, outside of the sandbox; deno is not, and
    // gets the path of a file.
    let aside = root(tree).join(".rustomize-staging-*/*/content/.rustomize");
    format!(
        "#!/bin/bash\nfor d in {}; do [ -d \"$d\" ] && echo \"$d\" > \"${{0%/*}}/kept\"; done 2>/dev/null\n\
         kept=$(cat \"${{0%/*}}/kept\" 2>/dev/null) || kept=${{@: -1}}/../.rustomize\nnote() {{\n\
         if (exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null; then net=network; else net=alone; fi\n\
         if (: > \"$kept/x\") 2>/dev/null; then rm \"$kept/x\"; writes=kept; else writes=removed; fi\n\
         echo \"$1 $net $writes\" >> \"$HOME/log\"\n}}\n",
        aside.display()
    )
}

/// A stand-in, its place below the home, what the files of a plugin are called, and where the
/// stand-in leaves its notes.
type StandIn = (&'static str, &'static str, &'static [&'static str], &'static str);

const STAND_INS: [(&str, StandIn, &str); 5] = [
    (
        "go",
        (
            "bin/go",
            "[ \"$1\" = env ] && exit 0\nnote \"$1\"\n\
             while [ $# -gt 1 ]; do if [ \"$1\" = -o ]; then cp \"$HOME/log\" \"$2\"; fi; shift; done\n",
            &["go.mod", "go.sum"],
            "bin/plugin",
        ),
        "mod network removed\nbuild alone kept\n",
    ),
    (
        "nodejs",
        (
            "bin/node",
            "[ \"$1\" = -p ] && echo \"$0\" && exit 0\n\
             note \"$2 $(echo \"$*\" | grep -o -e --ignore-scripts -e --offline | tr '\\n' ' ')$(ls)\"\n\
             mkdir node_modules; cp \"$HOME/log\" node_modules/log\n",
            &["package.json", "package-lock.json"],
            "../node_modules/log",
        ),
        "ci --ignore-scripts package-lock.json\npackage.json network removed\n\
         ci --ignore-scripts --offline package-lock.json\npackage.json alone kept\n",
    ),
    (
        "deno",
        (
            "bin/deno",
            "note \"$1 $2\"; cp \"$HOME/log\" \"$DENO_DIR/log\"; echo > \"$DENO_DIR/dep_analysis_cache_v2-wal\"\n",
            &["deno.lock", "main.ts"],
            "deno/log",
        ),
        "cache --node-modules-dir=none network removed\n",
    ),
    (
        "apart",
        (
            "bin/rustomize-runtime-apart",
            "[ \"$1\" = steps ] && echo fetch-deps install-deps && exit 0\nnote \"$1\"\n\
             [ \"$1\" = fetch-deps ] && echo fetched > \"$3/dep\"\n\
             [ \"$1\" = install-deps ] && cat \"$3/dep\" \"$HOME/log\" > \"$2/.rustomize/log\"\nexit 0\n",
            &["main"],
            "log",
        ),
        "fetched\nfetch-deps network removed\ninstall-deps alone kept\n",
    ),
    (
        "single",
        (
            "bin/rustomize-runtime-single",
            "[ \"$1\" = steps ] && exit 1\nnote \"$1 $#\"\ncp \"$HOME/log\" \"$2/.rustomize/log\"\n",
            &["main"],
            "log",
        ),
        "install-deps 2 network kept\n",
    ),
];

#[test]
fn only_the_fetching_step_has_network_and_its_files_are_not_kept() {
    if !can_isolate() {
        return;
    }
    let server = serve(|_| Reply::ok("x"));
    let port = server.rsplit_once(':').unwrap().1;
    for (runtime, (program, script, files, log), want) in STAND_INS {
        let mut tree = tree(runtime, &[]);
        // The entry of each runtime.
        for name in ["index.js", "main.go", "main.py", "main.ts", "main"] {
            tree.write(&format!("plugins/app/{name}"), "");
        }
        for name in files {
            let is_lock = *name == "package-lock.json";
            let text = if is_lock { "{\"lockfileVersion\": 3, \"packages\": {}}" } else { "{}" };
            tree.write(&format!("plugins/app/{name}"), text);
        }
        let path = std::env::var_os("PATH").unwrap().into_string().unwrap();
        tree.variables.insert("PATH", format!("{}:{path}", tree.home().join("bin").display()));
        tree.write(&format!("../home/{program}"), &(notes(&tree, port) + script));
        tree.write("../home/lib/node_modules/npm/bin/npm-cli.js", "");
        as_each_user(&tree, &["plugin", "install"], || {
            let made = installed(&tree).join(".rustomize");
            assert_eq!(fs::read_to_string(made.join(log)).unwrap(), want, "{runtime}");
            assert!(!made.join("deno/dep_analysis_cache_v2-wal").exists());
        });
    }
}

/// With stand-ins for deno: one leaves a link where its directory was, one writes what a run of
/// deno writes outside of a sandbox.
#[test]
fn deno_downloads_have_a_sum_and_compiled_code_is_not_used() {
    let mut tree = tree("deno", &[("main.ts", ""), ("deno.lock", "{}")]);
    let path = std::env::var_os("PATH").unwrap().into_string().unwrap();
    tree.variables.insert("PATH", format!("{}:{path}", tree.home().join("bin").display()));
    let deno = |script: &str| tree.write("../home/bin/deno", &format!("#!/bin/bash\n{script}\n"));
    let caches = tree.home().join("caches");
    fs::create_dir(&caches).unwrap();
    fs::write(caches.join("dep_analysis_cache_v2"), "of the user").unwrap();
    deno(&format!("rmdir \"$DENO_DIR\" && ln -s '{}' \"$DENO_DIR\"", caches.display()));
    tree.run(&["plugin", "install"]).fails_with(&["cannot keep what deno fetched"]);
    assert!(caches.join("dep_analysis_cache_v2").exists());
    deno(
        "if [ \"$1\" = cache ]; then mkdir \"$DENO_DIR/remote\"; echo dep > \"$DENO_DIR/remote/dep\"; exit; fi\n\
         : > \"$DENO_DIR/node_analysis_cache_v2\"\n\
         printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\ndata: {v: %s}\\n' \"$DENO_EMIT_CACHE_MODE $(echo \"$*\" | grep -c -e '--no-code-cache --frozen --lock=/.*/deno.lock /')\"",
    );
    tree.run(&["plugin", "install"]).ok();
    let built = tree.build(&["--frozen", "--plugin-isolation=off"]).ok();
    assert!(built.contains("v: disable 1\n"), "{built}");
    tree.run(&["plugin", "verify"]).ok();
    let kept = installed(&tree).join(".rustomize/deno");
    // It wrote into the copy that ran. One that an older version has left is not in the sum.
    assert!(!kept.join("node_analysis_cache_v2").exists());
    fs::write(kept.join("node_analysis_cache_v2"), "").unwrap();
    for changed in ["remote/dep", "remote/more", "gen", "v8_code_cache_v2"] {
        let before = fs::read(kept.join(changed)).ok();
        fs::write(kept.join(changed), "changed").unwrap();
        tree.build(&["--frozen"]).fails_with(&["'.rustomize/deno'", "made when it was installed"]);
        match before {
            Some(before) => fs::write(kept.join(changed), before).unwrap(),
            None => fs::remove_file(kept.join(changed)).unwrap(),
        }
        tree.build(&["--frozen"]).ok();
    }
}

#[test]
fn deno_package_is_fetched_without_running_scripts() {
    if !has("deno") {
        return;
    }
    let main = "import v from \"npm:dep@1.0.0\";\nconst text: string = v;\n\
        console.log(`apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\ndata: {v: ${text}}`);\n";
    let mut tree = tree("deno", &[("main.ts", main)]);
    let registry = NpmRegistry::start(&format!("touch {}", mark(&tree).display()));
    tree.write("plugins/app/deno.lock", &registry.deno_lock());
    // Deno asks its cache for a package of this registry, also when it runs.
    tree.variables.insert("NPM_CONFIG_REGISTRY", format!("{}/", registry.url));
    tree.run(&["plugin", "install"]).ok();
    let built = tree.build(&["--offline", "--frozen", "--plugin-allow-env=NPM_CONFIG_REGISTRY"]).ok();
    assert!(!mark(&tree).exists() && built.contains("v: of the package\n"), "{built}");
    tree.run(&["plugin", "verify"]).ok();
    let kept = installed(&tree).join(".rustomize/deno");
    let names: Vec<String> = crate::support::files(&kept, "").iter().map(|path| path.display().to_string()).collect();
    assert!(names.iter().any(|name| name.ends_with("dep/1.0.0/index.js")), "{names:?}");
    assert!(!names.iter().any(|name| name.contains("_cache_v")), "{names:?}");
}

/// Installs a plugin with a package, and expects that a build uses that. A build finds a change of
/// a file with this end, which the installation made.
#[track_caller]
fn uses_its_package(tree: &Tree, made: &str) {
    tree.run(&["plugin", "install"]).ok();
    assert!(!mark(tree).exists(), "code of the package ran");
    let built = tree.build(&["--offline", "--frozen"]).ok();
    assert!(built.contains("v: of the package\n"), "{built}");
    tree.run(&["plugin", "verify"]).ok();
    // Python has a link lib64 beside lib.
    let files = crate::support::files(&installed(tree), made);
    let Some(file) = files.first() else { panic!("no {made}") };
    let content = fs::read(file).unwrap();
    fs::write(file, [&content[..], b"\n"].concat()).unwrap();
    tree.build(&["--offline", "--frozen"]).fails_with(&["made when it was installed"]);
    fs::write(file, content).unwrap();
    tree.build(&["--offline", "--frozen"]).ok();
}

#[test]
fn python_wheel_is_fetched_and_installed() {
    if !has("python3") {
        return;
    }
    let wheel = wheel("dep", "V = 'of the package'\n");
    let main =
        "import dep\nprint('apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\ndata: {v: %s}' % dep.V)\n";
    let mut tree = tree("python", &[("main.py", main)]);
    let lines = format!(
        "# by pip-compile\ndep==1.0 ; python_version >= \"3\" \\\n    --hash=sha256:{} \\\n    --hash=sha256:{}\n    # via app\n",
        "0".repeat(64),
        sha256(&wheel)
    );
    tree.write("plugins/app/requirements.txt", &lines);
    tree.variables.insert("PIP_INDEX_URL", pip_index("dep", "dep-1.0-py3-none-any.whl", wheel));
    uses_its_package(&tree, "site-packages/dep.py");
}

#[test]
fn npm_package_is_fetched_without_running_scripts() {
    if !has("npm") {
        return;
    }
    let main = "console.log('apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\ndata: {v: ' + require('dep') + '}')\n";
    let tree = tree("nodejs", &[("index.js", main)]);
    let registry = NpmRegistry::start(&format!("touch {}", mark(&tree).display()));
    tree.write("plugins/app/package.json", &format!("{{{}}}", NpmRegistry::NEEDS));
    let integrity = format!("\"integrity\": \"{}\", ", registry.integrity);
    tree.write("plugins/app/package-lock.json", &registry.npm_lock(&integrity));
    uses_its_package(&tree, "node_modules/dep/index.js");
    tree.write("plugins/app/package-lock.json", &registry.npm_lock(""));
    tree.run(&["plugin", "install"]).fails_with(&[
        "package-lock.json:2",
        "has no strong checksum",
        "npm install --package-lock-only",
    ]);
}

/// The checksum that go.sum has for files.
fn h1(files: &[(&str, &str)]) -> String {
    let lines: String = files.iter().map(|(name, text)| format!("{}  {name}\n", sha256(text.as_bytes()))).collect();
    format!("h1:{}", base64::engine::general_purpose::STANDARD.encode(sha2::Sha256::digest(lines)))
}

#[test]
fn go_module_is_built_without_network() {
    if !has("go") {
        return;
    }
    let main = "package main\n\nimport (\n\t\"syscall\"\n\n\t\"example.com/dep\"\n)\n\nfunc main() {\n\tsyscall.Write(1, []byte(\"apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\ndata: {v: \"+dep.V+\"}\\n\"))\n}\n";
    let module = "module example.com/dep\n\ngo 1.21\n";
    let source = "package dep\n\nconst V = \"of the package\"\n";
    let mut tree = tree("go", &[("main.go", main)]);
    tree.write("plugins/app/go.mod", "module app\n\ngo 1.21\n\nrequire example.com/dep v1.0.0\n");
    let packed = [("example.com/dep@v1.0.0/dep.go", source), ("example.com/dep@v1.0.0/go.mod", module)];
    tree.write(
        "plugins/app/go.sum",
        &format!(
            "example.com/dep v1.0.0 {}\nexample.com/dep v1.0.0/go.mod {}\n",
            h1(&packed),
            h1(&[("go.mod", module)])
        ),
    );
    let files = Files::default();
    files.put("/example.com/dep/@v/v1.0.0.info", "{\"Version\": \"v1.0.0\"}");
    files.put("/example.com/dep/@v/v1.0.0.mod", module);
    files.put("/example.com/dep/@v/v1.0.0.zip", zip_of(&packed));
    tree.variables.insert("GOPROXY", format!("http://{}", files.serve()));
    uses_its_package(&tree, "bin/plugin");
    // Dependencies inside the plugin need no network.
    tree.write("plugins/app/vendor/modules.txt", "# example.com/dep v1.0.0\n## explicit; go 1.21\nexample.com/dep\n");
    tree.write("plugins/app/vendor/example.com/dep/dep.go", source);
    let proxy = tree.variables.insert("GOPROXY", "http://127.0.0.1:9".to_owned()).unwrap();
    uses_its_package(&tree, "bin/plugin");
    tree.variables.insert("GOPROXY", proxy);
    fs::remove_dir_all(tree.path().join("plugins/app/vendor")).unwrap();
    // Something else under the same version.
    files.put(
        "/example.com/dep/@v/v1.0.0.zip",
        zip_of(&[packed[1], (packed[0].0, "package dep\n\nconst V = \"other\"\n")]),
    );
    let _ = fs::remove_dir_all(root(&tree));
    tree.run(&["plugin", "install"]).fails_with(&["go mod download", "failed", "checksum mismatch"]);
}

#[test]
fn archive_cannot_contain_files_made_at_install() {
    for (name, shown) in [
        ("app/.rustomize/bin/plugin", "'.rustomize'"),
        ("app/.rustomize/sdk/x/call", "'.rustomize'"),
        ("app/.Rustomize/x", "'.Rustomize'"),
        ("app/node_modules/a/index.js", "'node_modules'"),
        ("app/lib/NODE_MODULES/a.js", "'NODE_MODULES'"),
        ("app/.git/config", "'.git'"),
        ("app/.git", "'.git'"),
    ] {
        let tree = Tree::new(TREE);
        archive(&tree, &[("app/plugin.yaml", &manifest("bash")), ("app/main.sh", ""), (name, "x")]);
        installs(&tree, |run| {
            run.fails_with(&["the archive", "is refused", shown]);
        });
    }
    // A directory that holds the plugin's directory alone.
    let tree = Tree::new(TREE);
    require(&tree, "{app: {source: h.io/acme/app, from: ./plugins}}");
    tree.write("plugins/app/plugin.yaml", &manifest("python"));
    tree.write("plugins/app/.rustomize/sdk/x/call", "#!/bin/sh\n");
    installs(&tree, |run| {
        run.fails_with(&["'./plugins' holds '.rustomize'"]);
    });
    let tree = Tree::new(TREE);
    let text = "printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\n'\n";
    let harmless =
        [(".gitignore", "x"), (".github/workflows/ci.yaml", "x"), (".gitattributes", "x"), ("main.sh", text)];
    let manifest = manifest("bash");
    archive(&tree, &[&[("plugin.yaml", manifest.as_str())][..], &harmless].concat());
    installs(&tree, |run| drop(run.ok()));
}

#[test]
fn files_made_at_install_have_their_own_sum() {
    if !has("python3") {
        return;
    }
    let tree = tree("python", &[("main.py", PYTHON)]);
    let python = installed(&tree).join(".rustomize/venv/bin/python");
    let changes: [(&str, &dyn Fn()); 4] = [
        ("'.rustomize/venv'", &|| {
            fs::remove_file(&python).unwrap();
            std::os::unix::fs::symlink("/bin/true", &python).unwrap();
        }),
        ("'.rustomize/venv'", &|| fs::write(installed(&tree).join(".rustomize/venv/new.pth"), "import x").unwrap()),
        ("'.rustomize/more'", &|| fs::write(installed(&tree).join(".rustomize/more"), "").unwrap()),
        ("'node_modules'", &|| fs::create_dir(installed(&tree).join("node_modules")).unwrap()),
    ];
    for (shown, change) in changes {
        let _ = fs::remove_dir_all(root(&tree));
        tree.run(&["plugin", "install"]).ok();
        tree.run(&["plugin", "verify"]).ok();
        tree.build(&["--frozen"]).ok();
        change();
        let said = tree.run(&["plugin", "verify"]);
        assert_eq!(said.status, Some(1), "{shown}: {}", said.stdout);
        assert!(said.stdout.contains(shown) && said.stdout.contains("made when it was installed"), "{}", said.stdout);
        tree.build(&["--frozen"]).fails_with(&[shown, "made when it was installed", "rustomize plugin install"]);
        // Repaired by what the hint says.
        tree.run(&["plugin", "install"]).ok();
        tree.run(&["plugin", "verify"]).ok();
        tree.build(&["--frozen"]).ok();
    }
}
