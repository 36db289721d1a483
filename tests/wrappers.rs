//! Builds behind wrappers of git and helm, as Argo CD has them in front of both since 3.3.19,
//! 3.4.13 and 3.5.4 (`util/kustomize/gitwrapper.go` and `helmwrapper.go` of argoproj/argo-cd). The
//! wrappers here are our own, and check what those check.

use crate::helm::{is_helm_there, log_in, private_charts};
use crate::support::{Tree, git, in_path, run};
use std::fs;
use std::path::Path;

/// Refuses every fetch but `git fetch --depth=1 REPOSITORY REFERENCE`, and passes on all else.
const GIT: &str = r#"#!/bin/sh
echo "$*" >> "$LOG"
if [ "$1" != fetch ]; then exec REAL "$@"; fi
if [ $# != 4 ] || [ "$2" != --depth=1 ]; then echo "refused: git $*" >&2; exit 1; fi
exec REAL fetch --depth=1 --end-of-options "$3" "$4"
"#;

/// Gives helm a directory of the wrapper's own for its settings, data and plugins.
const HELM: &str = r#"#!/bin/sh
export HELM_DATA_HOME=OWN HELM_CONFIG_HOME=OWN HELM_PLUGINS=OWN/plugins
exec REAL "$@"
"#;

/// Puts a wrapper in front of a program.
fn wrap(tree: &mut Tree, name: &str, wrapper: &str, real: &Path) {
    let own = tree.home().join("wrapper-of-helm").display().to_string();
    fs::create_dir_all(&own).unwrap();
    let wrapper = wrapper.replace("REAL", &real.display().to_string()).replace("OWN", &own);
    tree.write(&format!("../home/wrappers/{name}"), &wrapper);
    let wrappers = tree.home().join("wrappers").display().to_string();
    let path = std::env::var_os("PATH").unwrap().into_string().unwrap();
    tree.variables.insert("PATH", format!("{wrappers}:{path}"));
    tree.variables.insert("LOG", tree.home().join("log").display().to_string());
}

fn repository(tree: &Tree, name: &str) -> String {
    let repository = tree.path().join(name);
    git(&repository, &["init", "-q", "-b", "main"]);
    git(&repository, &["add", "."]);
    git(&repository, &["commit", "-qm", "one"]);
    format!("file://{}", repository.display())
}

#[test]
fn remote_bases_are_fetched_through_a_wrapper_that_knows_one_fetch() {
    let mut tree = Tree::new(
        "-- repo/kustomization.yaml --\nresources: [map.yaml]\n-- repo/map.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: remote}\n-- repo/.gitattributes --\n*.bin filter=lfs\n-- outer/kustomization.yaml --\nresources: [inner]\n",
    );
    let real = in_path("git").unwrap();
    wrap(&mut tree, "git", GIT, &real);
    let url = repository(&tree, "repo");
    git(&tree.path().join("repo"), &["tag", "-a", "v1", "-m", "one"]);
    let commit = git(&tree.path().join("repo"), &["rev-parse", "HEAD"]);
    git(&tree.path().join("outer"), &["init", "-q", "-b", "main"]);
    git(&tree.path().join("outer"), &["submodule", "--quiet", "add", &url, "inner"]);
    let outer = repository(&tree, "outer");
    // The submodule is on this machine.
    for (name, value) in
        [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "protocol.file.allow"), ("GIT_CONFIG_VALUE_0", "always")]
    {
        tree.variables.insert(name, value.to_owned());
    }
    let entries =
        [url.clone(), format!("{url}?ref=main"), format!("{url}?ref=v1"), format!("{url}?ref={commit}"), outer];
    for entry in &entries {
        tree.write("app/kustomization.yaml", &format!("resources: ['{entry}']\n"));
        // The second build finds the clone in the cache, and the third is held to a lock.
        for args in [&["build", "app"][..], &["build", "app"], &["vendor", "app"], &["build", "--locked", "app"]] {
            let done = tree.run(args);
            assert_eq!(done.status, Some(0), "{entry} {args:?}: {}", done.stderr);
            assert!(args[0] == "vendor" || done.stdout.contains("name: remote\n"), "{entry} {args:?}");
        }
        fs::remove_dir_all(tree.home().join(".cache")).unwrap();
        fs::remove_dir_all(tree.path().join("app")).unwrap();
    }
    // Several at a time.
    let several = format!("resources: ['{url}?ref=main', '{url}//?ref=v1']\n");
    tree.write("app/kustomization.yaml", &several);
    tree.run(&["build", "app"]).fails_with(&["already registered id"]);
    // A reference that git would take for an option reaches no git.
    tree.write("app/kustomization.yaml", &format!("resources: ['{url}?ref=--upload-pack=x']\n"));
    tree.run(&["build", "app"]).fails_with(&["security"]);
    tree.assert_nothing_left();
    let log = fs::read_to_string(tree.home().join("log")).unwrap();
    let fetches: Vec<&str> = log.lines().filter(|line| line.starts_with("fetch")).collect();
    assert!(fetches.len() >= entries.len(), "{log}");
    assert!(!log.contains("upload-pack"), "{log}");
}

#[test]
fn the_wrapper_of_git_refuses_other_fetches() {
    let mut tree = Tree::new("");
    wrap(&mut tree, "git", GIT, &in_path("git").unwrap());
    for args in [&["fetch"][..], &["fetch", "--all"], &["fetch", "--depth=1", "--tags", "x", "y"]] {
        #[expect(clippy::disallowed_methods, reason = "the wrapper itself")]
        let mut wrapper = std::process::Command::new(tree.home().join("wrappers/git"));
        let done = run(wrapper.args(args).envs(&tree.variables));
        assert_eq!(done.status, Some(1));
        assert!(done.stderr.contains("refused"), "{args:?}: {}", done.stderr);
    }
}

#[test]
fn charts_are_rendered_through_a_wrapper_that_names_the_places_of_helm() {
    let mut tree = Tree::new(
        "-- charts/app/values.yaml --\na: 1\n-- kustomization.yaml --\nhelmGlobals: {configHome: config}\nhelmCharts: [{name: app, releaseName: r, valuesInline: {b: 2}}]\n",
    );
    // Prints its places and its values.
    tree.write(
        "../home/real/helm",
        "#!/bin/sh\nif [ \"$1\" = version ]; then echo v3.17.0; exit; fi\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: %s}\\ndata:\\n  data: %s\\n  config: %s\\n  plugins: %s\\n  cache: %s\\n' \"$2\" \"$HELM_DATA_HOME\" \"$HELM_CONFIG_HOME\" \"$HELM_PLUGINS\" \"$HELM_CACHE_HOME\"\nwhile [ $# -gt 0 ]; do [ \"$1\" = -f ] && sed 's/^/  /' \"$2\"; shift; done\n",
    );
    let real = tree.home().join("real/helm");
    wrap(&mut tree, "helm", HELM, &real);
    let out = tree.run(&["build", "--enable-helm"]).ok();
    let own = tree.home().join("wrapper-of-helm").display().to_string();
    for place in [format!("data: {own}\n"), format!("config: {own}\n"), format!("plugins: {own}/plugins\n")] {
        assert!(out.contains(&place), "{place}: {out}");
    }
    assert!(!out.contains(&format!("cache: {own}")), "the cache stays apart: {out}");
    assert!(out.contains("\n  a: 1\n  b: 2\n"), "the values are merged: {out}");
    tree.assert_nothing_left();
}

#[test]
fn the_real_helm_pulls_and_renders_through_the_wrapper() {
    if !is_helm_there() {
        return;
    }
    let server = private_charts();
    let mut tree = Tree::new(&format!(
        "-- kustomization.yaml --\nhelmCharts: [{{name: app, releaseName: r, version: 0.1.0, repo: 'http://{server}', valuesInline: {{greeting: hi}}}}]\n"
    ));
    wrap(&mut tree, "helm", HELM, &in_path("helm").unwrap());
    log_in(&tree, &server);
    tree.run(&["build", "--enable-helm"]).fails_with(&["401"]);
    // The files of the user are named one by one, so that the wrapper does not hide them.
    let built = tree.run(&["build", "--enable-helm", "--helm-user-config"]).ok();
    assert!(built.contains("greeting: hi"), "{built}");
    // Without the network, the chart that was pulled is rendered.
    assert_eq!(tree.run(&["build", "--enable-helm", "--offline"]).ok(), built);
    tree.assert_nothing_left();
}
