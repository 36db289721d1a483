//! `diff`: two directories, files, commits; the output in each form, and the exit status.

use crate::support::fleet::fleet_in_git;
use crate::support::{Run, Tree, git};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::process::Stdio;

const SHOP: &str = "\
-- base/kustomization.yaml --
resources: [web.yaml, service.yaml]
configMapGenerator:
- name: settings
  literals: [mode=plain]
  files: [app.conf]
secretGenerator:
- name: keys
  literals: [password=hunter2, other=same]
-- base/app.conf --
one
two
three
four
five
six
seven
eight
nine
ten
-- base/web.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  template:
    spec:
      containers:
      - name: proxy
        image: envoy:1
      - name: main
        image: nginx:1.25
        envFrom:
        - configMapRef: {name: settings}
        - secretRef: {name: keys}
-- base/service.yaml --
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 80}], selector: {app: web}}
-- test/kustomization.yaml --
resources: [../base]
-- prod/kustomization.yaml --
resources: [../base]
replicas: [{name: web, count: 3}]
images: [{name: nginx, newTag: '1.26'}]
-- alone/kustomization.yaml --
resources: [map.yaml]
-- alone/map.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: alone}
data: {a: b}
";

impl Run {
    /// Expects a difference, and nothing on stderr.
    #[track_caller]
    fn differs(self) -> String {
        assert_eq!((self.status, self.stderr.as_str()), (Some(1), ""), "{}", self.stdout);
        self.stdout
    }

    /// Expects an error that says all of `words`.
    #[track_caller]
    fn exits_with_trouble(self, words: &[&str]) -> String {
        assert_eq!((self.status, self.stdout.as_str()), (Some(2), ""), "{}", self.stderr);
        words.iter().for_each(|word| assert!(self.stderr.contains(word), "{word}: {}", self.stderr));
        self.stderr
    }
}

/// A repository with [`SHOP`] as its first commit.
fn repository() -> Tree {
    let tree = Tree::new(SHOP);
    git(&tree.path(), &["init", "-q", "-b", "main"]);
    commit(&tree, "first");
    tree
}

fn commit(tree: &Tree, message: &str) {
    git(&tree.path(), &["add", "."]);
    git(&tree.path(), &["commit", "-q", "-m", message]);
}

/// The command, with a text on stdin.
fn with_stdin(tree: &Tree, args: &[&str], text: &str) -> Run {
    let mut command = tree.command(args);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { status: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

#[test]
fn two_directories() {
    let tree = Tree::new(SHOP);
    assert_eq!(tree.run(&["diff", "base", "test"]).ok(), "");
    let want = "\
1 changed, 3 the same
image nginx:1.25 -> nginx:1.26

changed Deployment.apps web
@ from prod/kustomization.yaml:2
- spec.replicas: 1
+ spec.replicas: 3
@ from prod/kustomization.yaml:3
- spec.template.spec.containers[name=main].image: nginx:1.25
+ spec.template.spec.containers[name=main].image: nginx:1.26
";
    assert_eq!(tree.run(&["diff", "test", "prod"]).differs(), want);
    for jobs in ["1", "2", "7"] {
        assert_eq!(tree.run(&["diff", "-j", jobs, "test", "prod"]).differs(), want);
    }
    assert_eq!(tree.run(&["diff", "alone", "alone", "-o", "markdown"]).ok(), "**Nothing differs in 1 resources**\n");
}

#[test]
fn directories_files_and_stdin() {
    let tree = Tree::new(SHOP);
    let test = tree.run(&["build", "test"]).ok();
    tree.write("test.yaml", &test);
    assert_eq!(tree.run(&["diff", "test.yaml", "test"]).ok(), "");
    let want = tree.run(&["diff", "test", "prod"]).differs();
    assert_eq!(tree.run(&["diff", "test.yaml", "prod"]).differs(), want);
    assert_eq!(with_stdin(&tree, &["diff", "-", "prod"], &test).differs(), want);
    // The items of a List are resources, whatever its form.
    tree.write("list.json", r#"{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "alone"}, "data": {"a": "c"}}]}"#);
    let lines = tree.run(&["diff", "alone", "list.json"]).differs();
    assert_eq!(lines, "1 changed, 0 the same\n\nchanged ConfigMap alone\n- data.a: b\n+ data.a: c\n");
}

#[test]
fn changed_name_hash_is_a_change_not_another_resource() {
    let tree = Tree::new(SHOP);
    tree.write("before.yaml", &tree.run(&["build", "test"]).ok());
    let conf = fs::read_to_string(tree.path().join("base/app.conf")).unwrap();
    tree.write("base/app.conf", &conf.replace("five", "5").replace("ten\n", "ten\neleven\n"));
    let out = tree.run(&["diff", "before.yaml", "test"]).differs();
    assert!(out.starts_with("2 changed, 2 the same\n"), "{out}");
    assert!(out.contains("\nchanged ConfigMap settings-"), "{out}");
    let want = "
@ data[\"app.conf\"]: |
@   ...
    two
    three
    four
-   five
+   5
    six
    seven
    eight
    nine
    ten
+   eleven

changed Deployment.apps web
";
    assert!(out.contains(want), "{out}");
    let follows = out.lines().find(|line| line.ends_with("# follows a new name")).unwrap();
    assert!(follows.starts_with("+ spec.template.spec.containers[name=main].envFrom[0].configMapRef.name: settings-"));
}

#[test]
fn values_of_secrets_are_shown_only_where_that_is_asked_for() {
    let tree = Tree::new(SHOP);
    tree.write("before.yaml", &tree.run(&["build", "base"]).ok());
    let text = fs::read_to_string(tree.path().join("base/kustomization.yaml")).unwrap();
    tree.write("base/kustomization.yaml", &text.replace("hunter2", "hunter3"));
    tree.write("more/kustomization.yaml", "secretGenerator: [{name: keys, literals: [password=hunter2]}]\n");
    let (old, new) = ("aHVudGVyMg==", "aHVudGVyMw==");
    for format in ["human", "json", "markdown", "github", "html"] {
        for (a, b) in [("before.yaml", "base"), ("base", "more"), ("more", "alone"), ("alone", "more")] {
            let out = tree.run(&["diff", "-o", format, a, b]).differs();
            assert!(!out.contains(old) && !out.contains(new) && !out.contains("c2FtZQ"), "{format}: {out}");
            let out = tree.run(&["diff", "--show-secrets", "-o", format, a, b]).differs();
            assert!(out.contains(old) || out.contains(new), "{format}: {out}");
        }
    }
    let out = tree.run(&["diff", "before.yaml", "base"]).differs();
    assert!(out.contains("- data.password: (masked 2)\n+ data.password: (masked 3)\n"), "{out}");
    assert!(!out.contains("data.other"), "{out}");
}

#[test]
fn a_commit_and_the_working_tree() {
    let tree = repository();
    assert_eq!(tree.run(&["diff", "--since", "HEAD"]).ok(), "");
    let text = fs::read_to_string(tree.path().join("base/service.yaml")).unwrap();
    tree.write("base/service.yaml", &text.replace("80", "8080"));
    tree.write("new/kustomization.yaml", "resources: [map.yaml]\n");
    tree.write("new/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: new}\n");
    let out = tree.run(&["diff", "--since", "HEAD"]).differs();
    let want =
        "\nchanged 3 Services in 3 roots\n@ in base, prod, test\n@ from base/service.yaml:4\n+ spec.ports[port=8080]";
    assert!(out.contains(want), "{out}");
    assert!(out.contains("# Root: new\n\nadded ConfigMap new\n@ from new/map.yaml:1\n+ apiVersion: v1\n"), "{out}");
    let each = tree.run(&["diff", "--since", "HEAD", "--each"]).differs();
    let roots: Vec<&str> = each.lines().filter_map(|line| line.strip_prefix("# Root: ")).collect();
    assert_eq!(roots, ["base", "new", "prod", "test"], "{each}");
    assert_eq!(each.matches("\nchanged Service web\n+ spec").count(), 3, "{each}");
    // The same without the flag, and from a revision alone.
    assert_eq!(tree.run(&["diff"]).differs(), out);
    assert_eq!(tree.run(&["diff", "HEAD"]).differs(), out);
    // The roots that others use are left out, or those that are named are looked at.
    let out = tree.run(&["diff", "--leaves"]).differs();
    assert!(out.contains("\nchanged 2 Services in 2 roots\n@ in prod, test\n"), "{out}");
    let out = tree.run(&["diff", "--since", "HEAD", "prod", "alone"]).differs();
    assert_eq!(out.matches("# Root: ").count(), 1, "{out}");
    // From a directory of the repository.
    let mut command = tree.command(&["diff", "--since", "main", "../prod"]);
    let run = crate::support::run(command.current_dir(tree.path().join("alone")));
    assert!(run.differs().contains("# Root: ../prod"));
    // A root that is gone.
    git(&tree.path(), &["stash", "-q", "-u"]);
    fs::remove_dir_all(tree.path().join("alone")).unwrap();
    let out = tree.run(&["diff", "--since", "HEAD"]).differs();
    assert!(out.contains("# Root: alone\n\nremoved ConfigMap alone\n- apiVersion: v1\n"), "{out}");
    tree.assert_nothing_left();
}

#[test]
fn two_commits_and_the_place_where_a_branch_begins() {
    let tree = repository();
    git(&tree.path(), &["checkout", "-q", "-b", "feature"]);
    let text = fs::read_to_string(tree.path().join("prod/kustomization.yaml")).unwrap();
    tree.write("prod/kustomization.yaml", &text.replace("1.26", "1.27"));
    commit(&tree, "feature");
    git(&tree.path(), &["checkout", "-q", "main"]);
    tree.write("alone/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: alone}\ndata: {a: c}\n");
    commit(&tree, "main");
    let status = || git(&tree.path(), &["status", "--porcelain", "--branch"]);
    let before = status();
    let roots = |range: &str| -> Vec<String> {
        let out = tree.run(&["diff", "--since", range]).differs();
        assert_eq!(tree.run(&["diff", range]).differs(), out);
        out.lines().filter_map(|line| line.strip_prefix("# Root: ")).map(str::to_owned).collect()
    };
    assert_eq!(roots("main..feature"), ["alone", "prod"]);
    assert_eq!(roots("main...feature"), ["prod"]);
    assert_eq!(roots("...feature"), ["prod"]);
    assert_eq!(roots("main~1.."), ["alone"]);
    assert_eq!(roots("feature"), ["alone", "prod"]);
    assert_eq!((status(), tree.path().join("prod").exists()), (before, true));
    tree.assert_nothing_left();
}

/// Files of commits are in memory, or on the disk where a build reads some of them by itself.
#[test]
fn commits_in_memory_and_on_the_disk_are_the_same() {
    let out = |name: &str, text: &str, args: &[&str]| {
        let tree = Tree::new(SHOP);
        git(&tree.path(), &["init", "-q", "-b", "main"]);
        tree.write("sub/app/kustomization.yaml", "resources: [../../base]\nnamePrefix: a-\n");
        match text.strip_prefix("-> ") {
            Some(target) => std::os::unix::fs::symlink(target, tree.path().join(name)).unwrap(),
            None => tree.write(name, text),
        }
        commit(&tree, "first");
        let text = fs::read_to_string(tree.path().join("base/service.yaml")).unwrap();
        tree.write("base/service.yaml", &text.replace("80", "8080"));
        tree.write("gone/kustomization.yaml", "namePrefix: a-\n");
        commit(&tree, "second");
        fs::remove_dir_all(tree.path().join("alone")).unwrap();
        let mut command = tree.command(&[&["diff"], args].concat());
        let run = crate::support::run(command.current_dir(tree.path().join("sub")));
        tree.assert_nothing_left();
        (run.status, run.stdout, run.stderr)
    };
    for args in
        [&["main~1"][..], &["main~1..main"], &["--since", "main~1", "../prod", "app"], &["main~1", "--keep-going"]]
    {
        let memory = out("notes.txt", "x", args);
        assert!(memory.1.contains("app"), "{memory:?}");
        for (name, text) in [(".gitattributes", ""), ("link", "-> base"), ("base/rustomize.yaml", "compat: 5.8.3\n")] {
            assert_eq!(out(name, text, args), memory, "{name} {args:?}");
        }
    }
}

/// A root that no change can affect is not built: it may be broken.
#[test]
fn only_roots_that_the_changes_affect_are_built() {
    let tree = Tree::new(SHOP);
    git(&tree.path(), &["init", "-q", "-b", "main"]);
    tree.write("broken/kustomization.yaml", "resources: [nothing.yaml]\n");
    commit(&tree, "first");
    tree.write("alone/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: alone}\n");
    let out = tree.run(&["diff", "--since", "HEAD"]).differs();
    assert_eq!(out, "1 changed, 0 the same\n\n# Root: alone\n\nchanged ConfigMap alone\n- data:\n-   a: b\n");
    tree.write("broken/kustomization.yaml", "resources: [other.yaml]\n");
    let error = tree.run(&["diff", "--since", "HEAD"]).exits_with_trouble(&["broken of HEAD", "nothing.yaml"]);
    assert!(!error.contains("panicked"), "{error}");
    let run = tree.run(&["diff", "--since", "HEAD", "--keep-going"]);
    assert_eq!(run.status, Some(2));
    assert_eq!(run.stdout, out);
    let both = ["in broken of HEAD", "in broken of the working tree", "nothing.yaml", "other.yaml"];
    both.iter().for_each(|words| assert!(run.stderr.contains(words), "{words}: {}", run.stderr));
    tree.assert_nothing_left();
}

#[test]
fn failure_of_diff_has_its_own_exit_status() {
    let tree = Tree::new(SHOP);
    tree.write("bad.yaml", "kind: [\n");
    tree.run(&["diff", "base", "bad.yaml"]).exits_with_trouble(&["bad.yaml:"]);
    tree.run(&["diff", "base", "missing"]).exits_with_trouble(&["missing"]);
    let since = "rustomize diff --since HEAD base";
    tree.run(&["diff", "base"]).exits_with_trouble(&["'diff' compares two sides, and 1 is named", since]);
    tree.run(&["diff", "nowhere"]).exits_with_trouble(&["'nowhere' is neither a file, a directory, nor a revision"]);
    tree.run(&["diff", "-"]).exits_with_trouble(&["and 1 is named"]);
    tree.run(&["diff", "a", "b", "c"]).exits_with_trouble(&["and 3 are named"]);
    tree.run(&["diff"]).exits_with_trouble(&["not a git repository"]);
    tree.run(&["diff", "base", "prod", "--stat", "-o", "json"]).exits_with_trouble(&["leave out --output"]);
    tree.run(&["diff", "base", "prod", "--nonsense"]).exits_with_trouble(&["--nonsense"]);
    tree.run(&["--color", "never", "diff", "base", "prod", "--nonsense"]).exits_with_trouble(&["--nonsense"]);
    tree.run(&["diff", "base", "prod/kustomization.yaml"]).exits_with_trouble(&["is a kustomization", "'prod'"]);
    tree.run(&["diff", "base", "prod", "--all"]).exits_with_trouble(&["'diff' does not take --all without --since"]);
    tree.run(&["diff", "-", "-"]).exits_with_trouble(&["only one side"]);
    tree.run(&["diff", "--since", "HEAD"]).exits_with_trouble(&["not a git repository"]);
    let limit = ["diff", "--file-size-limit", "10", "base", "bad.yaml", "--load-restrictor", "none"];
    tree.run(&limit).exits_with_trouble(&["--load-restrictor"]);
    tree.write("large.yaml", "# 0123456789\n");
    tree.run(&["diff", "--file-size-limit", "10", "large.yaml", "bad.yaml"])
        .exits_with_trouble(&["larger than 10 bytes"]);
    let tree = repository();
    tree.run(&["diff", "--since", "nowhere"]).exits_with_trouble(&["git knows no commit 'nowhere'"]);
    tree.run(&["diff", "--since=--output=x"]).exits_with_trouble(&["begins with a dash"]);
    tree.run(&["diff", "--since", "HEAD", "missing"]).exits_with_trouble(&["'missing' has no kustomization"]);
    tree.run(&["diff", "--since", "HEAD", "../x"]).exits_with_trouble(&["not a directory of this repository"]);
    tree.run(&["diff", "--since", "HEAD", "/tmp"]).exits_with_trouble(&["not a directory of this repository"]);
    assert!(!tree.path().join("x").exists());
    tree.assert_nothing_left();
}

#[test]
fn json_is_for_programs() {
    let tree = repository();
    tree.write("alone/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\ndata: {a: b}\n");
    let out: Value = serde_json::from_str(&tree.run(&["diff", "--since", "HEAD", "-o", "json"]).differs()).unwrap();
    assert_eq!(out["summary"]["renamed"], 1);
    let comparison = &out["comparisons"][0];
    assert_eq!((&comparison["root"], &comparison["before"]), (&"alone".into(), &"alone of HEAD".into()));
    let change = &comparison["resources"][0];
    assert_eq!((&change["matchedBy"], &change["after"]["name"]), (&"rename".into(), &"other".into()));
    let out: Value = serde_json::from_str(&tree.run(&["diff", "-o", "json", "test", "prod"]).differs()).unwrap();
    let fields = &out["comparisons"][0]["resources"][0]["fields"];
    assert_eq!(fields[0], serde_json::json!({"path": "spec.replicas", "differs": "value", "old": 1, "new": 3}));
    let images = serde_json::json!([{"old": "nginx:1.25", "new": "nginx:1.26", "count": 1}]);
    assert_eq!(out["summary"]["images"], images);
    let out: Value = serde_json::from_str(&tree.run(&["diff", "-o", "json", "test", "base"]).ok()).unwrap();
    assert_eq!((&out["summary"]["same"], &out["comparisons"][0]["resources"]), (&4.into(), &serde_json::json!([])));
}

/// Names and values cannot become HTML, Markdown, or commands of a terminal.
#[test]
fn hostile_names_are_text() {
    let tree = Tree::new("");
    let hostile = "<script>alert(1)</script>&\\\"'";
    tree.write("a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: same}\n");
    tree.write(
        "b.yaml",
        &format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: same\n  annotations: {{\"{hostile}\": \"{hostile}\", up: \"```\\n\\n# x\\n````\", esc: \"\\e[2J\\u202e\"}}\n---\napiVersion: v1\nkind: \"{hostile}\"\nmetadata: {{name: \"`{hostile}\\e[2J``\"}}\n"
        ),
    );
    let html = tree.run(&["diff", "-o", "html", "a.yaml", "b.yaml"]).differs();
    assert!(!html.contains("<script") && html.contains("&lt;script&gt;alert(1)&lt;/script&gt;&amp;"), "{html}");
    assert!(html.contains("default-src 'none'") && !html.contains("http://") && !html.contains("https://"), "{html}");
    for format in ["human", "markdown", "html"] {
        let out = tree.run(&["diff", "-o", format, "a.yaml", "b.yaml"]).differs();
        assert!(!out.contains('\u{1b}') && !out.contains('\u{202e}'), "{format}: {out}");
    }
    let markdown = tree.run(&["diff", "-o", "markdown", "a.yaml", "b.yaml"]).differs();
    assert!(markdown.contains("\n`````diff\n") && markdown.contains("\n`````\n"), "{markdown}");
    assert!(markdown.lines().any(|line| line.starts_with("added ```") && line.ends_with("```")), "{markdown}");
    let github = tree.run(&["diff", "-o", "github", "a.yaml", "b.yaml"]).differs();
    assert_eq!(github.matches("<details>").count(), 2, "{github}");
    assert!(github.contains("<code>ConfigMap same</code>") && github.contains("&lt;script&gt;alert(1)"), "{github}");
    assert!(!outside_of_code(&github).contains("<script"), "{github}");
    let json: Value = serde_json::from_str(&tree.run(&["diff", "-o", "json", "a.yaml", "b.yaml"]).differs()).unwrap();
    assert_eq!(json["summary"]["added"], 1);
}

#[test]
fn colours_are_for_terminals() {
    let tree = Tree::new(SHOP);
    assert!(!tree.run(&["diff", "test", "prod"]).differs().contains('\u{1b}'));
    let out = tree.run(&["diff", "--color", "always", "test", "prod"]).differs();
    assert!(out.contains("\u{1b}[31m- spec.replicas: 1\u{1b}[0m\n\u{1b}[32m+ spec.replicas: 3\u{1b}[0m\n"), "{out}");
}

/// Plugins see a commit's own files, and helm-like generators their own directory.
#[test]
fn plugins_run_in_the_files_of_the_commit() {
    let tree = Tree::new(
        "-- kustomization.yaml --\ngenerators: [made.yaml]\n-- made.yaml --\napiVersion: ex.io/v1\nkind: Made\nmetadata: {name: made}\n-- value.txt --\nold\n",
    );
    tree.plugin(
        "Made",
        "#!/bin/sh\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\ndata: {value: %s}\\n' \"$(cat value.txt)\"\n",
    );
    git(&tree.path(), &["init", "-q"]);
    commit(&tree, "first");
    tree.write("value.txt", "new\n");
    tree.write("made.yaml", "apiVersion: ex.io/v1\nkind: Made\nmetadata: {name: made}\nfile: value.txt\n");
    let out = tree.run(&["diff", "--since", "HEAD", "--enable-alpha-plugins"]).differs();
    assert!(out.contains("- data.value: old\n+ data.value: new\n"), "{out}");
    tree.run(&["diff", "--since", "HEAD"]).exits_with_trouble(&["external plugins disabled"]);
    tree.assert_nothing_left();
}

/// 200 roots of which 3 are affected.
#[test]
fn of_many_roots_the_affected_ones_are_compared() {
    let tree = Tree::new(SHOP);
    for i in 0..200 {
        tree.write(
            &format!("many/r{i:03}/kustomization.yaml"),
            &format!("namePrefix: r{i}-\nresources: [../../part{}]\n", i % 67),
        );
    }
    for i in 0..67 {
        let text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m}}\ndata: {{part: p{i}}}\n");
        tree.write(&format!("part{i}/kustomization.yaml"), "resources: [map.yaml]\n");
        tree.write(&format!("part{i}/map.yaml"), &text);
    }
    git(&tree.path(), &["init", "-q"]);
    commit(&tree, "first");
    tree.write("part5/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {part: x}\n");
    let out = tree.run(&["diff", "--since", "HEAD", "--leaves"]).differs();
    let want = "\
3 changed, 0 the same

changed 3 ConfigMaps in 3 roots
@ in many/r005, many/r072, many/r139
@ from part5/map.yaml:4
- data.part: p5
+ data.part: x
";
    assert_eq!(out, want);
}

/// The fleet with a change in each service, one in the component, and one in a single environment.
fn changed_fleet() -> Tree {
    let tree = fleet_in_git();
    let replace = |file: &str, old: &str, new: &str| {
        let text = fs::read_to_string(tree.path().join(file)).unwrap();
        assert!(text.contains(old), "{file}");
        tree.write(file, &text.replace(old, new));
    };
    for entry in fs::read_dir(tree.path().join("services")).unwrap() {
        let service = entry.unwrap().file_name().into_string().unwrap();
        replace(&format!("services/{service}/base/deployment.yaml"), "cpu: 100m", "cpu: 250m");
    }
    replace("components/observed/metrics.yaml", "9090", "9191");
    replace("services/maps/prod/kustomization.yaml", "count: ", "count: 1");
    replace("services/media/base/deployment.yaml", "app: media", "app: medium");
    tree
}

#[test]
fn equal_changes_of_a_fleet_are_shown_once() {
    let tree = changed_fleet();
    let out = tree.run(&["diff", "--leaves"]).differs();
    let first = "\
120 changed, 240 the same; 3 in fields that nobody can change in a cluster

changed 3 Deployments in 3 roots
@ in services/media/dev, services/media/prod, services/media/staging
@ from services/media/base/deployment.yaml:8
@ spec.selector.matchLabels.app: Kubernetes refuses this change: the object must be deleted and created again
";
    assert!(out.starts_with(first), "{out}");
    let roots = "services/accounts/dev, services/accounts/prod, services/accounts/staging and 117 more";
    let both = format!(
        "
changed 120 Deployments in 120 roots
@ in {roots}
@ from components/observed/metrics.yaml:10
- spec.template.metadata.annotations[\"prometheus.io/port\"]: \"9090\"
+ spec.template.metadata.annotations[\"prometheus.io/port\"]: \"9191\"
@ from services/*/base/deployment.yaml:25
- spec.template.spec.containers[name=*].resources.requests.cpu: 100m
+ spec.template.spec.containers[name=*].resources.requests.cpu: 250m
"
    );
    assert!(out.contains(&both), "{out}");
    assert!(
        out.contains("\n# Root: services/maps/prod\n\nchanged Deployment.apps prod/maps\n@ from services/maps/prod/"),
        "{out}"
    );
    assert!(out.lines().count() < 40, "{out}");
    let each = tree.run(&["diff", "--leaves", "--each"]).differs();
    assert_eq!(each.matches("\nchanged Deployment.apps ").count(), 120);
    assert!(!each.contains("\nchanged 1") && !each.contains("@ in ") && !each.contains("@ from "));
    for jobs in ["1", "3"] {
        assert_eq!(tree.run(&["diff", "--leaves", "-j", jobs]).differs(), out);
    }
    tree.assert_nothing_left();
}

#[test]
fn all_forms_have_the_groups_of_a_fleet() {
    let tree = changed_fleet();
    let out = |form: &str| tree.run(&["diff", "--leaves", "-o", form]).differs();
    let json: Value = serde_json::from_str(&out("json")).unwrap();
    let groups = json["groups"].as_array().unwrap();
    let counts: Vec<u64> = groups.iter().map(|group| group["count"].as_u64().unwrap()).collect();
    assert_eq!(counts, [3, 120, 1]);
    let group = &groups[1];
    assert_eq!(
        (&group["change"], &group["rootCount"], &group["unchangeable"]),
        (&"changed".into(), &120.into(), &false.into())
    );
    assert_eq!(group["resources"].as_array().unwrap().len(), 120);
    let resource = serde_json::json!({
        "root": "services/accounts/dev", "group": "apps", "kind": "Deployment", "namespace": "dev", "name": "accounts",
    });
    assert_eq!(group["resources"][0], resource);
    let field = &group["fields"][1];
    let path = "spec.template.spec.containers[name=*].resources.requests.cpu";
    assert_eq!((&field["path"], &field["old"], &field["new"]), (&path.into(), &"100m".into(), &"250m".into()));
    assert_eq!(field["origins"].as_array().unwrap().len(), 40);
    let origin = serde_json::json!({"file": "services/accounts/base/deployment.yaml", "line": 25});
    assert_eq!(field["origins"][0], origin);
    // All resources are there as before.
    assert_eq!(json["comparisons"].as_array().unwrap().len(), 120);
    for form in ["markdown", "github", "html"] {
        let text = out(form);
        assert_eq!(text.matches("120 Deployments in 120 roots").count(), 1, "{form}: {text}");
        assert!(text.contains("services/*/base/deployment.yaml:25") && text.contains("services/maps/prod"), "{text}");
    }
}

#[test]
fn stat_has_a_line_for_each_kind_of_a_root() {
    let tree = changed_fleet();
    let out = tree.run(&["diff", "--leaves", "--stat"]).differs();
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 121, "{out}");
    assert_eq!(lines[0], " services/accounts/dev        Deployment.apps  1 resource, 2 fields  ++--");
    assert!(lines.contains(&" services/maps/prod           Deployment.apps  1 resource, 3 fields  +++---"), "{out}");
    assert_eq!(lines[120], "120 changed, 240 the same; 3 in fields that nobody can change in a cluster");
    let tree = Tree::new(SHOP);
    let out = tree.run(&["diff", "alone", "test", "--stat"]).differs();
    let want = [" ConfigMap        2 resources, ", " Deployment.apps  1 resource, ", " Secret           1 resource, "];
    want.iter().for_each(|line| assert!(out.contains(line), "{out}"));
    assert_eq!(tree.run(&["diff", "base", "test", "--stat"]).ok(), "");
    let longest = out.lines().map(|line| line.chars().filter(|c| "+-".contains(*c)).count()).max().unwrap();
    assert!(longest <= 41, "{out}");
}

/// The lines of Markdown that are not in a block of code.
#[track_caller]
fn outside_of_code(text: &str) -> String {
    let (mut fence, mut plain) = (None, String::new());
    for line in text.lines() {
        match fence {
            Some(open) if line == open => fence = None,
            Some(_) => assert!(line.is_empty() || line.starts_with(['@', '-', '+', ' ']), "{line}"),
            None if line.starts_with("```") => fence = Some(line.trim_end_matches("diff")),
            None => plain.extend([line, "\n"]),
        }
    }
    assert_eq!(fence, None);
    plain
}

/// A comment is not longer than GitHub takes, whatever differs; and what it has is whole.
#[test]
fn a_comment_fits() {
    let tree = Tree::new("");
    let hostile = "</details>\\n\\n```\\n<script>@all #1\\n````";
    let (mut before, mut after) = (String::new(), String::new());
    for i in 0..3000 {
        let head = format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: \"m{i}`|</summary>\"}}\n");
        before.push_str(&format!("{head}data: {{k: \"{hostile}{i}\"}}\n"));
        let long = if i % 500 == 7 { "##[x] ::error:: ".repeat(9000) } else { String::new() };
        after.push_str(&format!("{head}data: {{k: \"{hostile}x{i}\", l: \"{long}{i}\"}}\n"));
    }
    tree.write("a.yaml", &before);
    tree.write("b.yaml", &after);
    let out = tree.run(&["diff", "-o", "github", "a.yaml", "b.yaml"]).differs();
    assert!((50_000..=65_536).contains(&out.chars().count()), "{}", out.chars().count());
    assert!(out.starts_with("**3000 changed, 0 the same**\n"), "{out}");
    assert!(out.ends_with(" more differences do not fit into this comment.\n"), "{out}");
    // Each block is closed, and nothing of a name or value is outside of code.
    assert_eq!(out.matches("\n<details><summary>").count(), out.matches("\n</details>\n").count());
    let plain = outside_of_code(&out);
    assert!(!plain.contains("<script") && !plain.contains("@all") && !plain.contains("details> "), "{plain}");
    let small = tree.run(&["diff", "-o", "github", "a.yaml", "a.yaml"]).ok();
    assert_eq!(small, "**Nothing differs in 3000 resources**\n");
}

/// Changes that look alike and are not: other values, other fields, other kinds of change.
#[test]
fn unequal_changes_are_not_grouped() {
    let tree = Tree::new("");
    let map = |name: &str, data: &str| {
        format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{{data}}}\n")
    };
    let write = |file: &str, all: &[(&str, &str)]| {
        tree.write(file, &all.iter().map(|(name, data)| map(name, data)).collect::<String>());
    };
    write("a.yaml", &[("one", "k: a"), ("two", "k: a"), ("three", "l: a"), ("four", "k: '1'")]);
    write("b.yaml", &[("one", "k: b"), ("two", "k: c"), ("three", "l: b"), ("four", "k: '2'"), ("five", "k: b")]);
    let out = tree.run(&["diff", "a.yaml", "b.yaml"]).differs();
    assert_eq!(out, tree.run(&["diff", "--each", "a.yaml", "b.yaml"]).differs());
    // Own names in values are equal; a name inside of another word is not a name.
    write("a.yaml", &[("one", "k: h/one-db:1"), ("two", "k: h/two-db:1"), ("three", "k: h/threes:1")]);
    write("b.yaml", &[("one", "k: h/one-db:2"), ("two", "k: h/two-db:2"), ("three", "k: h/threes:2")]);
    let out = tree.run(&["diff", "a.yaml", "b.yaml"]).differs();
    let group = "\nchanged 2 ConfigMaps\n@ ConfigMap one, ConfigMap two\n- data.k: h/*-db:1\n+ data.k: h/*-db:2\n";
    assert!(out.contains(group) && out.contains("\nchanged ConfigMap three\n"), "{out}");
}

/// Values of Secrets have labels that are those of one comparison.
#[test]
fn groups_of_secrets_do_not_say_that_values_are_equal() {
    let tree = Tree::new("");
    for (root, value) in [("a", "x"), ("b", "y")] {
        let text = |value: &str| format!("secretGenerator: [{{name: s, literals: [k={value}]}}]\n");
        tree.write(&format!("{root}/kustomization.yaml"), &text(value));
    }
    git(&tree.path(), &["init", "-q"]);
    commit(&tree, "first");
    for (root, value) in [("a", "x2"), ("b", "y2")] {
        tree.write(
            &format!("{root}/kustomization.yaml"),
            &format!("secretGenerator: [{{name: s, literals: [k={value}]}}]\n"),
        );
    }
    let out = tree.run(&["diff"]).differs();
    assert!(
        out.contains("changed 2 Secrets in 2 roots\n") && out.contains("- data.k: (masked)\n+ data.k: (masked)\n"),
        "{out}"
    );
}

/// Resources in a new namespace, with a new prefix, or that are new in many roots.
#[test]
fn moved_renamed_and_added_resources_are_grouped() {
    let tree = Tree::new("-- base/kustomization.yaml --\nresources: [all.yaml]\n");
    let item = |kind: &str, name: &str| {
        format!("---\napiVersion: v1\nkind: {kind}\nmetadata: {{name: {name}}}\ndata: {{of: {name}}}\n")
    };
    tree.write("base/all.yaml", &["one", "two", "three"].map(|name| item("ConfigMap", name)).concat());
    for root in ["dev", "prod"] {
        let text = format!("resources: [../base]\nnamespace: {root}\nnamePrefix: a-\n");
        tree.write(&format!("{root}/kustomization.yaml"), &text);
    }
    git(&tree.path(), &["init", "-q"]);
    commit(&tree, "first");
    for root in ["dev", "prod"] {
        let text = format!("resources: [../base]\nnamespace: {root}\nnamePrefix: b-\n");
        tree.write(&format!("{root}/kustomization.yaml"), &text);
    }
    let out = tree.run(&["diff"]).differs();
    assert!(out.contains("\nrenamed 6 ConfigMaps in 2 roots: a* -> b*\n"), "{out}");
    git(&tree.path(), &["checkout", "-q", "."]);
    for root in ["dev", "prod"] {
        tree.write(&format!("{root}/kustomization.yaml"), "resources: [../base]\nnamespace: new\nnamePrefix: a-\n");
    }
    let out = tree.run(&["diff"]).differs();
    assert!(
        out.contains("\nmoved 3 ConfigMaps: dev/* -> new/*\n@ ")
            && out.contains("\nmoved 3 ConfigMaps: prod/* -> new/*\n"),
        "{out}"
    );
    git(&tree.path(), &["checkout", "-q", "."]);
    let all = ["one", "two", "three", "four"].map(|name| item("ConfigMap", name)).concat();
    tree.write("base/all.yaml", &all);
    let out = tree.run(&["diff"]).differs();
    let want = "\nadded 3 ConfigMaps in 3 roots\n@ in base, dev, prod\n@ from base/all.yaml:";
    let want_leaves = "\nadded 2 ConfigMaps in 2 roots\n@ in dev, prod\n@ from base/all.yaml:";
    assert!(out.contains(want) || out.contains(want_leaves), "{out}");
}

/// Names of roots and files that look like markup, commands of CI or other lines.
#[test]
fn hostile_names_of_groups_are_text() {
    let roots = ["a\n::error::b", "`<script>`", "|x|\n```", "::set-env::"];
    let tree = Tree::new("");
    for root in roots {
        tree.write(&format!("{root}/kustomization.yaml"), "resources: [\"<script>`.yaml\"]\n");
        tree.write(
            &format!("{root}/<script>`.yaml"),
            "apiVersion: v1\nkind: \"K`<script>\"\nmetadata: {name: x}\nk: 1\n",
        );
    }
    git(&tree.path(), &["init", "-q"]);
    commit(&tree, "first");
    for root in roots {
        tree.write(
            &format!("{root}/<script>`.yaml"),
            "apiVersion: v1\nkind: \"K`<script>\"\nmetadata: {name: x}\nk: 2\n",
        );
    }
    let out = |form: &str| {
        let out = tree.run(&["diff", "-o", form]).differs();
        assert!(!out.lines().any(|line| line.trim_start().starts_with("::")), "{form}: {out}");
        out
    };
    assert!(out("human").contains("changed 4 K`<script>s in 4 roots\n@ "), "{}", out("human"));
    for form in ["markdown", "github"] {
        let text = out(form);
        assert_eq!(text.matches(" in 4 roots").count(), 1, "{text}");
        let plain: String = outside_of_code(&text).split("``").step_by(2).collect();
        assert!(!plain.contains("<script"), "{form}: {text}");
    }
    assert!(!out("html").contains("<script") && out("html").contains("*/&lt;script&gt;`.yaml:4"), "{}", out("html"));
    let json: Value = serde_json::from_str(&out("json")).unwrap();
    assert_eq!((&json["groups"][0]["count"], json["groups"].as_array().unwrap().len()), (&4.into(), 1));
    let stat = tree.run(&["diff", "--stat"]).differs();
    assert_eq!(stat.lines().count(), 5, "{stat}");
}
