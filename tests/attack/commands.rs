//! Words of a file that would become options of the programs that are started.

use crate::support::servers::{Files, git_server};
use crate::support::{Run, Tree, git};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {v: VALUE}\n";

/// Makes a directory of the tree a repository with one commit, which is returned.
fn commit(tree: &Tree, name: &str) -> String {
    let directory = tree.path().join(name);
    git(&directory, &["init", "-q", "-b", "main"]);
    git(&directory, &["add", "."]);
    git(&directory, &["commit", "-qm", "one"]);
    git(&directory, &["rev-parse", "HEAD"])
}

fn url(tree: &Tree, name: &str) -> String {
    format!("file://{}", tree.path().join(name).display())
}

/// Builds a kustomization with one remote base.
fn build_of(tree: &Tree, entry: &str, args: &[&str]) -> Run {
    tree.write("app/kustomization.yaml", &format!("resources: [\"{entry}\"]\n"));
    let run = tree.run(&[&["build", "app"], args].concat());
    tree.assert_nothing_left();
    run
}

/// A file that a command of the attacker makes.
fn mark(tree: &Tree) -> PathBuf {
    tree.path().join("mark")
}

#[test]
fn git_reference_cannot_become_an_option() {
    let tree = Tree::new("");
    let mark = mark(&tree);
    let upload = format!("--upload-pack=id%3E{}%3B", mark.display());
    let refused = |run: Run, how: &str| {
        assert!(!mark.exists(), "{how}: a command ran");
        run.fails_with(&["git", "begins with '-'"]);
        assert!(!mark.exists());
    };
    for parameter in ["ref", "version"] {
        let entry = format!("file:///x?{parameter}={upload}");
        refused(build_of(&tree, &entry, &[]), parameter);
        tree.write("app/kustomization.yaml", &format!("components: [\"{entry}\"]\n"));
        refused(tree.run(&["build", "app"]), "a component");
        tree.write("app/kustomization.yaml", &format!("resources: [\"{entry}\", \"{entry}x\"]\n"));
        refused(tree.run(&["build", "app"]), "two at once");
        refused(tree.run(&["build", &entry]), "the argument");
        refused(tree.run(&["plugin", "install", "--from", &format!("git::{entry}"), "h.io/acme/x"]), "a plugin");
    }
    // The values of a base from elsewhere.
    for entry in [format!("https://h.invalid/o/r?ref={upload}"), format!("git@h.invalid:o/r?ref={upload}")] {
        tree.write("repo/kustomization.yaml", &format!("resources: [\"{entry}\"]\n"));
        commit(&tree, "repo");
        refused(build_of(&tree, &url(&tree, "repo"), &[]), "inside a remote base");
        fs::remove_dir_all(tree.path().join("repo")).unwrap();
    }
    build_of(&tree, "https://h.invalid/o/r?ref=a%0Ab", &[]).fails_with(&["control character"]);
}

#[test]
fn remote_base_cannot_name_a_local_repository() {
    let tree = Tree::new("");
    tree.write("private/kustomization.yaml", "resources: [a.yaml]\n");
    tree.write("private/a.yaml", &CONFIG_MAP.replace("VALUE", "secret"));
    commit(&tree, "private");
    let private = url(&tree, "private");
    assert!(build_of(&tree, &private, &[]).ok().contains("secret"), "the user's own tree may name it");
    let upper = private.replace("file", "git::FILE");
    for (i, entries) in [format!("['{private}']"), format!("['{upper}', '{private}?ref=main']")].iter().enumerate() {
        for field in ["resources", "components"] {
            let name = format!("base-{i}-{field}");
            tree.write(&format!("{name}/kustomization.yaml"), &format!("{field}: {entries}\n"));
            commit(&tree, &name);
            build_of(&tree, &url(&tree, &name), &[]).fails_with(&["security", "of this machine", &private[7..]]);
        }
    }
}

#[test]
fn fetched_plugin_cannot_depend_on_a_local_repository() {
    let tree = Tree::new("");
    let manifest = "apiVersion: rustomize.dev/v1\nkind: Plugin\nname: NAME\nversion: 0.1.0\nruntime: bash\ngenerators: [{apiVersion: ex.io/v1, kind: NAME}]\n";
    tree.write("private/plugin.yaml", &manifest.replace("NAME", "private"));
    commit(&tree, "private");
    git(&tree.path().join("private"), &["tag", "v0.1.0"]);
    let needs =
        format!("dependencies: {{private: {{source: h.io/acme/private, from: 'git::{}'}}}}\n", url(&tree, "private"));
    tree.write("top/plugin.yaml", &(manifest.replace("NAME", "top") + &needs));
    tree.write("top/main.sh", "");
    tree.write("private/main.sh", "");
    commit(&tree, "top");
    git(&tree.path().join("top"), &["tag", "v0.1.0"]);
    let from = format!("git::{}", url(&tree, "top"));
    tree.run(&["plugin", "install", "--from", &from, "h.io/acme/top"]).fails_with(&["of this machine", "private"]);
}

/// A repository whose tree has the programs that the user's git would call by relative paths.
#[test]
fn clone_runs_no_program_of_the_repository() {
    let tree = Tree::new("");
    let mark = mark(&tree);
    let evil = format!("#!/bin/sh\necho $0 >> {}\n", mark.display());
    tree.write("repo/kustomization.yaml", "resources: [a.yaml]\n");
    tree.write("repo/a.yaml", &CONFIG_MAP.replace("VALUE", "1"));
    tree.write("repo/hooks/post-checkout", &evil);
    let one = commit(&tree, "repo");
    let ext = format!("ext::sh -c touch% {}", mark.display());
    tree.write("repo/.gitmodules", &format!("[submodule \"s\"]\n\tpath = s\n\turl = {ext}\n"));
    let repo = tree.path().join("repo");
    git(&repo, &["update-index", "--add", "--cacheinfo", &format!("160000,{one},s")]);
    git(&repo, &["add", ".gitmodules"]);
    git(&repo, &["commit", "-qm", "two"]);
    tree.write("../home/.gitconfig", "[core]\n\thooksPath = hooks\n[protocol \"ext\"]\n\tallow = always\n");
    let said = |reference: &str| build_of(&tree, &format!("{}?{reference}", url(&tree, "repo")), &[]);
    assert!(said("submodules=false").ok().contains("name: a"));
    assert!(!mark.exists(), "ran: {}", fs::read_to_string(&mark).unwrap());
    said("ref=main").fails_with(&["git submodule update"]);
    assert!(!mark.exists(), "ran: {}", fs::read_to_string(&mark).unwrap());
}

#[test]
fn remote_submodule_cannot_name_a_local_repository() {
    let tree = Tree::new("");
    tree.write("private/kustomization.yaml", "resources: [a.yaml]\n");
    tree.write("private/a.yaml", &CONFIG_MAP.replace("VALUE", "secret"));
    let private = commit(&tree, "private");
    tree.write("repo/kustomization.yaml", "resources: [s]\n");
    let text = format!("[submodule \"s\"]\n\tpath = s\n\turl = {}\n", tree.path().join("private").display());
    tree.write("repo/.gitmodules", &text);
    commit(&tree, "repo");
    let repo = tree.path().join("repo");
    git(&repo, &["update-index", "--add", "--cacheinfo", &format!("160000,{private},s")]);
    git(&repo, &["commit", "-qm", "two"]);
    git(&tree.path(), &["clone", "-q", "--bare", "repo", "served.git"]);
    // As it was before git itself forbade this.
    tree.write("../home/.gitconfig", "[protocol \"file\"]\n\tallow = always\n");
    let server = git_server(tree.path(), Files::default());
    build_of(&tree, &format!("http://{server}/served.git"), &[]).fails_with(&["git submodule update"]);
}

/// A tree whose cache has a clone, the address of its base, and the place of the clone.
fn cached() -> (Tree, String, PathBuf) {
    let tree = Tree::new("");
    tree.write("repo/kustomization.yaml", "resources: [a.yaml]\n");
    tree.write("repo/a.yaml", &CONFIG_MAP.replace("VALUE", "real"));
    let commit = commit(&tree, "repo");
    let entry = format!("{}?ref={commit}", url(&tree, "repo"));
    assert!(build_of(&tree, &entry, &[]).ok().contains("real"));
    let git = tree.home().join(".cache/rustomize/git");
    let repository = fs::read_dir(&git).unwrap().next().unwrap().unwrap().path();
    (tree, entry, repository.join(format!("{commit}-submodules")))
}

/// Builds with a clone in the cache that somebody has changed.
#[track_caller]
fn is_not_used(tree: &Tree, entry: &str, version: &Path) {
    fs::write(version.join("a.yaml"), CONFIG_MAP.replace("VALUE", "planted")).unwrap();
    let built = build_of(tree, entry, &[]).ok();
    assert!(built.contains("real") && !built.contains("planted"), "{built}");
    build_of(tree, entry, &["--offline"]).fails_with(&["offline"]);
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn cached_clone_writable_by_others_is_not_used() {
    for (above, mode) in [(0, 0o777), (0, 0o770), (1, 0o777), (1, 0o1777), (1, 0o720), (2, 0o777), (3, 0o777)] {
        let (tree, entry, version) = cached();
        set_mode(version.ancestors().nth(above).unwrap(), mode);
        is_not_used(&tree, &entry, &version);
    }
    // Where only the owner of an entry may rename it, what is ours is ours.
    let (tree, entry, version) = cached();
    set_mode(version.ancestors().nth(3).unwrap(), 0o1777);
    fs::rename(tree.path().join("repo"), tree.path().join("gone")).unwrap();
    assert!(build_of(&tree, &entry, &[]).ok().contains("real"));
}

#[test]
fn cached_clone_that_is_a_link_is_not_used() {
    for above in [0, 1, 2] {
        let (tree, entry, version) = cached();
        let link = version.ancestors().nth(above).unwrap();
        let elsewhere = tree.home().join("elsewhere");
        fs::rename(link, &elsewhere).unwrap();
        symlink(&elsewhere, link).unwrap();
        is_not_used(&tree, &entry, &version);
    }
}

#[test]
fn cached_clone_of_another_user_is_not_used() {
    if !rustix::process::geteuid().is_root() {
        crate::support::skip("only root gives files to other users");
        return;
    }
    for above in [0, 1, 2, 3] {
        let (tree, entry, version) = cached();
        std::os::unix::fs::chown(version.ancestors().nth(above).unwrap(), Some(1), None).unwrap();
        is_not_used(&tree, &entry, &version);
    }
}

/// Says a version, and notes the arguments of all else, one a line.
const HELM: &str = r#"#!/bin/sh
[ "$1" = version ] && { echo v3.14.1; exit; }
printf '%s\n' "$@" >> "$CALLS"
while [ $# -gt 0 ]; do case $1 in --untardir) mkdir -p "$2/app"; : > "$2/app/values.yaml";; esac; shift; done
"#;

fn helm(txtar: &str) -> Tree {
    let mut tree = Tree::new(txtar);
    tree.write("charts/app/values.yaml", "");
    tree.write("../home/helm", HELM);
    tree.variables.insert("CALLS", tree.home().join("calls").to_string_lossy().into_owned());
    tree
}

fn inflate(tree: &Tree, directory: &str) -> Run {
    let helm = tree.home().join("helm").to_string_lossy().into_owned();
    let run = tree.run(&["build", directory, "--enable-helm", "--helm-command", &helm]);
    tree.assert_nothing_left();
    run
}

fn calls(tree: &Tree) -> String {
    fs::read_to_string(tree.home().join("calls")).unwrap_or_default()
}

#[test]
fn chart_value_cannot_become_an_option_of_helm() {
    for field in ["releaseName", "version", "repo", "namespace", "kubeVersion", "nameTemplate", "name"] {
        let tree = helm("");
        let name = if field == "name" { "" } else { "name: app, " };
        tree.write("kustomization.yaml", &format!("helmCharts: [{{{name}{field}: '--post-renderer=./x'}}]\n"));
        inflate(&tree, ".").fails_with(&[field, "begin", "'-'", "kustomization.yaml:1:14"]);
        assert_eq!(calls(&tree), "", "{field}");
    }
    let tree = helm("");
    tree.write("kustomization.yaml", "helmCharts: [{name: app, apiVersions: [v1, '--post-renderer=./x']}]\n");
    inflate(&tree, ".").fails_with(&["apiVersions", "'-'"]);
    // The namespace of the kustomization is a value, too.
    tree.write("kustomization.yaml", "namespace: '--debug'\nhelmCharts: [{name: app, releaseName: r}]\n");
    inflate(&tree, ".").fails_with(&["namespace", "'-'"]);
    assert_eq!(calls(&tree), "");
    // A harmless value is one argument, whatever it looks like.
    tree.write("kustomization.yaml", "helmCharts: [{name: app, releaseName: r, namespace: 'n --debug'}]\n");
    inflate(&tree, ".").ok();
    let start = format!("template\nr\n{}/charts/app\n--namespace\nn --debug\n-f\n", tree.path().display());
    assert!(calls(&tree).starts_with(&start), "{}", calls(&tree));
}

#[test]
fn chart_version_cannot_leave_the_chart_home() {
    for version in ["1/../../../x", "../x", "1/x", "/x"] {
        let tree = helm("");
        let chart = format!("{{name: app, releaseName: r, repo: 'https://h.invalid', version: '{version}'}}");
        tree.write("kustomization.yaml", &format!("helmCharts: [{chart}]\n"));
        inflate(&tree, ".").fails_with(&["version", "kustomization.yaml:1:14"]);
        assert_eq!(calls(&tree), "", "{version}");
        assert!(!tree.path().join("x").exists() && !tree.path().join("../x").exists());
    }
    // Nor does a name.
    for name in ["../x", "a/../../x", "/x", ".."] {
        let tree = helm("");
        tree.write("x/values.yaml", "");
        let chart = format!("{{name: '{name}', releaseName: r, repo: 'https://h.invalid', version: '1'}}");
        tree.write("kustomization.yaml", &format!("helmCharts: [{chart}]\n"));
        inflate(&tree, ".").fails_with(&["name may not lead out of the chart home", "kustomization.yaml:1:14"]);
        assert_eq!(calls(&tree), "", "{name}");
    }
    let tree = helm("");
    tree.write(
        "kustomization.yaml",
        "helmCharts: [{name: app, repo: 'https://h.invalid', version: '>=1.0 <2 || ^3'}]\n",
    );
    inflate(&tree, ".").ok();
}

#[test]
fn chart_values_file_names_one_file() {
    let tree = helm("");
    // helm takes what stands between commas for files of their own.
    tree.write("x,/etc/passwd", "");
    tree.write(
        "kustomization.yaml",
        "helmCharts: [{name: app, releaseName: r, additionalValuesFiles: ['x,/etc/passwd']}]\n",
    );
    inflate(&tree, ".").ok();
    let said = calls(&tree);
    assert!(said.contains(&format!("-f\n\"{}/x,/etc/passwd\"\n", tree.path().display())), "{said}");
    let tree = helm("");
    tree.write("charts/app,b/values.yaml", "");
    tree.write("kustomization.yaml", "helmCharts: [{name: 'app,b', releaseName: r}]\n");
    inflate(&tree, ".").ok();
    assert!(calls(&tree).contains("app,b-kustomize-values.yaml\"\n"), "{}", calls(&tree));
}

#[test]
fn charts_of_a_remote_base_stay_in_it() {
    let tree = helm("");
    tree.write("../home/.charts/app/values.yaml", "v: secret\n");
    let outside = tree.home().join(".charts");
    let pulled = "name: new, version: '1', repo: 'https://h.invalid'";
    for (i, (globals, chart)) in [
        (format!("chartHome: {}", outside.display()), "name: app"),
        (format!("chartHome: {}", outside.display()), pulled),
        ("chartHome: link".to_owned(), "name: app"),
        ("chartHome: ../../../x".to_owned(), pulled),
        (format!("configHome: {}", outside.display()), "name: app"),
        ("configHome: link".to_owned(), "name: app"),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("base{i}");
        let text = format!("helmGlobals: {{{globals}}}\nhelmCharts: [{{{chart}, releaseName: r}}]\n");
        tree.write(&format!("{name}/kustomization.yaml"), &text);
        tree.write(&format!("{name}/charts/app/values.yaml"), "");
        symlink(&outside, tree.path().join(&name).join("link")).unwrap();
        commit(&tree, &name);
        tree.write("app/kustomization.yaml", &format!("resources: ['{}']\n", url(&tree, &name)));
        inflate(&tree, "app").fails_with(&["security", "must be within the repo"]);
        assert_eq!(calls(&tree), "", "{globals}");
    }
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1, "something was pulled there");
    // Links below the chart home: of the chart, in it by a name that is not UTF-8, and behind one
    // that stays in the repository.
    let name = std::ffi::OsStr::from_bytes(b"\xff");
    let links = [Path::new("charts/app"), &Path::new("charts/app").join(name), Path::new("other/link")];
    for (i, link) in links.into_iter().enumerate() {
        let base = format!("linked{i}");
        tree.write(&format!("{base}/kustomization.yaml"), "helmCharts: [{name: app, releaseName: r}]\n");
        for directory in ["charts", "other"] {
            tree.write(&format!("{base}/{directory}/empty"), "");
        }
        let place = tree.path().join(&base);
        if i > 0 {
            tree.write(&format!("{base}/charts/app/values.yaml"), "");
            symlink("../../other", place.join("charts/app/inside")).unwrap();
        }
        symlink(outside.join("app"), place.join(link)).unwrap();
        commit(&tree, &base);
        tree.write("app/kustomization.yaml", &format!("resources: ['{}']\n", url(&tree, &base)));
        inflate(&tree, "app").fails_with(&["security", "must be within the repo"]);
    }
}

#[test]
fn links_in_a_chart_cannot_leave_it() {
    let tree = helm(
        "-- app/kustomization.yaml --\nhelmCharts: [{name: app, releaseName: r}]\n-- app/charts/app/values.yaml --\n-- app/shared/x --\ninside\n",
    );
    tree.write("../home/.secret", "hunter2");
    let (chart, secret) = (tree.path().join("app/charts/app"), tree.home().join(".secret"));
    fs::create_dir(chart.join("files")).unwrap();
    let refused = |link: &Path, to: &Path| {
        symlink(to, link).unwrap();
        let _ = fs::remove_file(tree.home().join("calls"));
        inflate(&tree, "app").fails_with(&["security", "has a link that leads out of", "--load-restrictor"]);
        assert!(!calls(&tree).contains("template"), "{}", calls(&tree));
        let helm = tree.home().join("helm").to_string_lossy().into_owned();
        let free = ["build", "app", "--enable-helm", "--helm-command", &helm, "--load-restrictor=LoadRestrictionsNone"];
        tree.run(&free).ok();
        fs::remove_file(link).unwrap();
    };
    refused(&chart.join("files/key"), &secret);
    refused(&chart.join("files/home"), &tree.home());
    refused(&chart.join("templates"), &tree.home());
    refused(&chart.join("files/relative"), Path::new("../../../../../home/.secret"));
    refused(&chart.join("crds"), Path::new("/etc"));
    // Behind a link that stays in the root.
    symlink("../../../shared", chart.join("files/shared")).unwrap();
    inflate(&tree, "app").ok();
    refused(&tree.path().join("app/shared/key"), &secret);
    // The chart itself.
    fs::rename(&chart, tree.home().join("app")).unwrap();
    refused(&chart, &tree.home().join("app"));
}

#[test]
fn helm_loads_no_plugin_from_the_tree() {
    let mut tree = helm("");
    tree.variables.remove("CALLS");
    tree.write(
        "../home/helm",
        "#!/bin/sh\n[ \"$1\" = version ] && { echo v3.14.1; exit; }\nenv | grep ^HELM_ > $HOME/env\n",
    );
    let home = tree.home();
    let environment = || fs::read_to_string(home.join("env")).unwrap();
    tree.write("kustomization.yaml", "helmGlobals: {configHome: conf}\nhelmCharts: [{name: app, releaseName: r}]\n");
    tree.write("conf/.data/plugins/evil/plugin.yaml", "");
    inflate(&tree, ".").ok();
    assert!(environment().contains("HELM_CONFIG_HOME=conf\n"), "{}", environment());
    let said = environment();
    let plugins = said.lines().find_map(|line| line.strip_prefix("HELM_PLUGINS=")).unwrap();
    assert!(Path::new(plugins).is_absolute() && !plugins.contains("conf"), "{plugins}");
    // The user's own.
    let own = tree.home().join("conf");
    let text = format!("helmGlobals: {{configHome: {}}}\nhelmCharts: [{{name: app, releaseName: r}}]\n", own.display());
    tree.write("kustomization.yaml", &text);
    inflate(&tree, ".").ok();
    assert!(environment().contains(&format!("HELM_DATA_HOME={}/.data\n", own.display())), "{}", environment());
    assert!(!environment().contains("HELM_PLUGINS"), "{}", environment());
}

/// Runs a container of a function with a stand-in for its engine, and gives the engine's arguments.
fn container(spec: &str, prepare: impl Fn(&Path)) -> (Run, String) {
    let mut tree = Tree::new("-- kustomization.yaml --\nresources: [a.yaml]\ntransformers: [f.yaml]\n");
    tree.write("a.yaml", &CONFIG_MAP.replace("VALUE", "1"));
    let annotation = format!("config.kubernetes.io/function: |\n      container: {spec}\n");
    tree.write(
        "f.yaml",
        &format!("apiVersion: ex.io/v1\nkind: F\nmetadata:\n  name: f\n  annotations:\n    {annotation}"),
    );
    tree.write("../home/engine", "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"$HOME/calls\"\ncat\n");
    tree.variables.insert("KRM_FN_RUNTIME", tree.home().join("engine").to_string_lossy().into_owned());
    prepare(&tree.path());
    let run = tree.build(&[]);
    let root = tree.path().to_string_lossy().into_owned();
    (run, calls(&tree).replace(&root, "ROOT"))
}

#[track_caller]
fn no_container(spec: &str, prepare: impl Fn(&Path), words: &[&str]) {
    let (run, called) = container(spec, prepare);
    assert_eq!(called, "", "the engine was called");
    run.fails_with(&[&["f.yaml"], words].concat());
}

#[test]
fn container_mount_stays_in_the_root() {
    let link = |root: &Path| {
        fs::create_dir(root.join("data")).unwrap();
        symlink("/etc", root.join("link")).unwrap();
        symlink("/etc", root.join("data/deep")).unwrap();
        symlink("data", root.join("inside")).unwrap();
    };
    for source in ["link", "./link", "data/deep", "link/ssl", "link/new", "inside/deep/new"] {
        let spec = format!("{{image: i, mounts: [{{type: bind, src: {source}, dst: /x}}]}}");
        no_container(&spec, link, &["mount paths must be under the current kustomization directory"]);
    }
    for (source, want) in [("inside", "data"), ("data", "data"), ("data/new", "data/new")] {
        let (run, called) = container(&format!("{{image: i, mounts: [{{type: bind, src: {source}, dst: /x}}]}}"), link);
        run.ok();
        assert!(called.contains(&format!("type=bind,source=ROOT/{want},target=/x,readonly\n")), "{called}");
    }
}

#[test]
fn mount_field_cannot_add_another_field() {
    let nothing = |_: &Path| {};
    for mount in [
        "type: 'bind,source=/etc', src: a, dst: /x",
        "type: bind, src: a, dst: '/x,source=/etc'",
        "type: bind, src: 'a,source=/etc', dst: /x",
        "type: bind, src: a, dst: \"/x\\nsource=/etc\"",
        "type: bind, src: a, dst: '\"/x'",
    ] {
        no_container(&format!("{{image: i, mounts: [{{{mount}}}]}}"), nothing, &["mount"]);
    }
    for kind in ["glob", "image", "devpts", "npipe"] {
        no_container(&format!("{{image: i, mounts: [{{type: {kind}, src: a, dst: /x}}]}}"), nothing, &[kind]);
    }
}

#[test]
fn image_cannot_become_an_option_of_the_engine() {
    let nothing = |_: &Path| {};
    for image in ["--privileged", "-v/:/host", "\"a\\nb\""] {
        no_container(&format!("{{image: {image}}}"), nothing, &["image"]);
    }
}

#[test]
fn plugin_from_git_copies_nothing_from_outside() {
    let tree = Tree::new("");
    let manifest = "apiVersion: rustomize.dev/v1\nkind: Plugin\nname: p\nversion: 0.1.0\nruntime: bash\ngenerators: [{apiVersion: ex.io/v1, kind: P}]\n";
    let outside = tree.home().join("outside");
    for directory in ["../home/outside", "repo/inside"] {
        tree.write(&format!("{directory}/plugin.yaml"), manifest);
        tree.write(&format!("{directory}/main.sh"), "");
    }
    let link = |to: &Path, name: &str| {
        fs::create_dir_all(tree.path().join("repo/deep")).unwrap();
        symlink(to, tree.path().join("repo").join(name)).unwrap();
    };
    link(&outside, "link");
    link(&tree.home(), "above");
    link(Path::new("../inside"), "deep/to-inside");
    tree.write("repo/file/plugin.yaml", manifest);
    link(&outside.join("main.sh"), "file/main.sh");
    commit(&tree, "repo");
    git(&tree.path().join("repo"), &["tag", "v0.1.0"]);
    let install = |path: &str| {
        let from = format!("git::{}//{path}", url(&tree, "repo"));
        tree.run(&["plugin", "install", "--from", &from, "h.io/acme/p"])
    };
    install("link").fails_with(&["'link' leads out of the repository"]);
    install("above/outside").fails_with(&["'above/outside' leads out of the repository"]);
    install("file").fails_with(&["is neither a file nor a directory"]);
    let installed = crate::support::files(&tree.home(), "plugin.yaml");
    assert!(installed.iter().all(|path| !path.to_string_lossy().contains("acme")), "{installed:?}");
    install("deep/to-inside").ok();
}

/// A tree may have a program with the name of one that a build starts.
#[test]
fn program_in_a_relative_directory_of_path_is_not_started() {
    let mut tree = Tree::new(
        "-- kustomization.yaml --\nhelmCharts: [{name: web, repo: http://127.0.0.1:9/}]\n\
         -- remote/kustomization.yaml --\nresources: [\"file:///nowhere/repository.git?ref=main\"]\n",
    );
    let script = format!("#!/bin/sh\n: > {}\necho v3.17.0\n", mark(&tree).display());
    for place in ["helm", "git", "remote/git", "bin/helm", "bin/git"] {
        tree.write(place, &script);
        fs::set_permissions(tree.path().join(place), fs::Permissions::from_mode(0o755)).unwrap();
    }
    for path in [".", "", "bin", ".:/nowhere"] {
        tree.variables.insert("PATH", path.to_owned());
        println!("{}", tree.run(&["build", "--enable-helm"]).fails_with(&["helm"]));
        println!("{}", tree.run(&["build", "remote"]).fails_with(&["git"]));
        assert!(!mark(&tree).exists(), "PATH={path}");
    }
}
