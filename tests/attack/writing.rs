//! Texts of files, names, plugins, git and servers on their way to a person, a terminal, CI and
//! other programs; commands in hints; and git in repositories of others.

use crate::support::{Run, Tree, git, run};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// A text that would set the title of a terminal, write from right to left, spell what cannot be
/// seen, and begin a command of CI in a line of its own.
const HOSTILE: &str = "x\u{1b}]0;title\u{7}\u{9b}31m\u{202e}\u{2066}\u{200b}\u{feff}\u{e0041}\u{2028}\r\n::error::own";

/// The same in double quotes of YAML.
const IN_YAML: &str = r#""x\e]0;title\a\x9b31m\u202e\u2066\u200b\ufeff\U000e0041\u2028\r\n::error::own""#;

/// The parts of addresses that only their server may know.
const SECRETS: [&str; 3] = ["hunter2", "SIGNATURE", "FRAGMENT"];

const FORMATS: [&str; 5] = ["human", "short", "json", "github", "sarif"];

/// Expects that no byte of the output is for the terminal or for CI, and that no secret is in it.
#[track_caller]
fn check(what: &str, output: &Output) {
    for bytes in [&output.stdout, &output.stderr] {
        let text = std::str::from_utf8(bytes).unwrap_or_else(|_| panic!("{what}: {}", bytes.escape_ascii()));
        let shown = || text.escape_debug().to_string();
        let is_odd = |c: char| {
            c.is_control() && !matches!(c, '\n' | '\t')
                || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
                || matches!(c, '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
        };
        assert!(!text.contains(is_odd), "{what}: {}", shown());
        for line in text.lines().map(str::trim_start).filter(|line| line.starts_with("::")) {
            let is_ours = ["::error ", "::warning "].iter().any(|own| line.starts_with(own));
            assert!(is_ours && what.starts_with("github"), "{what}: {}", shown());
        }
        assert!(!text.contains("##["), "{what}: {}", shown());
        for secret in SECRETS {
            assert!(!text.contains(secret), "{what}: {}", shown());
        }
    }
    if what.starts_with("json") && !output.stderr.is_empty() {
        for line in std::str::from_utf8(&output.stderr).unwrap().lines() {
            let value: Result<serde_json::Value, _> = serde_json::from_str(line);
            assert!(value.is_ok_and(|value| value.is_object()), "{what}: {line}");
        }
    }
}

/// Runs a command in each format of messages, as in GitHub Actions.
#[track_caller]
fn in_all_formats(tree: &Tree, args: &[&str]) -> Vec<Output> {
    let runs = FORMATS.iter().map(|format| {
        let mut command = tree.command(&[&["--error-format", format], args].concat());
        let output = command.env("GITHUB_ACTIONS", "true").output().unwrap();
        check(&format!("{format}: {args:?}"), &output);
        output
    });
    runs.collect()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn control_characters_of_files_do_not_reach_the_terminal() {
    // Each of these fails with a message that has the text.
    let faults = [
        format!("resources: [{IN_YAML}]\n"),
        format!("namePrefix: [{IN_YAML}]\n"),
        format!("{IN_YAML}: 1\n"),
        format!("components: [{IN_YAML}]\n"),
        format!("patches: [{{path: {IN_YAML}}}]\n"),
        format!("patches: [{{patch: {IN_YAML}, target: {{kind: {IN_YAML}}}}}]\n"),
        format!("configMapGenerator: [{{name: a, files: [{IN_YAML}]}}]\n"),
        format!("configMapGenerator: [{{name: a, envs: [{IN_YAML}]}}]\n"),
        format!("images: [{{name: {IN_YAML}, newTag: [1]}}]\n"),
        format!("replacements: [{{source: {{kind: {IN_YAML}}}, targets: [{{select: {{kind: A}}}}]}}]\n"),
        format!("openapi: {{path: {IN_YAML}}}\n"),
        format!("generators: [{{apiVersion: {IN_YAML}, kind: {IN_YAML}, metadata: {{name: {IN_YAML}}}}}]\n"),
        format!("resources: [a.yaml]\npatches: [{{patch: '[{{\"op\": {IN_YAML}}}]', target: {{kind: ConfigMap}}}}]\n"),
    ];
    let map =
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {IN_YAML}}}\ndata: {{{IN_YAML}: {IN_YAML}}}\n");
    for fault in faults {
        let tree = Tree::new("");
        tree.write("kustomization.yaml", &fault);
        tree.write("a.yaml", &map);
        for args in [&["build"][..], &["validate"], &["lint"], &["build", "-v", "--timings"], &["tree"]] {
            in_all_formats(&tree, args);
        }
        for args in [&["edit", "fix"][..], &["tree", "-o", "json"], &["tree", "-o", "dot"], &["cfg", "count", "."]] {
            in_all_formats(&tree, args);
        }
    }
}

#[test]
fn only_a_build_prints_resources_unescaped() {
    let tree =
        Tree::new("-- a/kustomization.yaml --\nresources: [a.yaml]\n-- b/kustomization.yaml --\nresources: [b.yaml]\n");
    // A build refuses the controls of C1.
    let value_in_yaml = IN_YAML.replace(r"\x9b31m", "");
    for (side, value) in [("a", "1"), ("b", "2")] {
        let text = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m, labels: {{{value_in_yaml}: {value_in_yaml}}}}}\ndata: {{k: {value}, {value_in_yaml}: {value_in_yaml}, t{value}: {value_in_yaml}}}\n---\napiVersion: v1\nkind: {value_in_yaml}\nmetadata: {{name: {value_in_yaml}, annotations: {{a: {value}}}}}\n"
        );
        tree.write(&format!("{side}/{side}.yaml"), &text);
    }
    for format in ["human", "markdown", "html", "json"] {
        for output in in_all_formats(&tree, &["diff", "a", "b", "-o", format]) {
            assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        }
    }
    for args in [&["explain", "a"][..], &["explain", "a", "-o", "json"], &["explain", "a", "m"], &["cfg", "count", "a"]]
    {
        for output in in_all_formats(&tree, args) {
            assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output));
        }
    }
    in_all_formats(&tree, &["explain", "a", "m", "-o", "json"]);
    in_all_formats(&tree, &["explain", "a", "--html", "page.html"]);
    let page = fs::read(tree.path().join("page.html")).unwrap();
    check("page", &Output { stdout: page, stderr: Vec::new(), status: Default::default() });
    in_all_formats(&tree, &["build", "a", "--trace", "trace.json", "-o", "out.yaml"]);
    let trace = fs::read(tree.path().join("trace.json")).unwrap();
    check("trace", &Output { stdout: trace, stderr: Vec::new(), status: Default::default() });
    // The resources themselves are data: every byte is kustomize's.
    assert!(tree.run(&["build", "a"]).ok().contains("\n  k: 1\n"));
}

#[test]
fn control_characters_of_file_names_do_not_reach_the_terminal() {
    let tree = Tree::new("");
    let name = HOSTILE.replace('/', "_");
    tree.write(&format!("{name}/kustomization.yaml"), "resources: [a.yaml]\nnamePrefix: 3\n");
    tree.write(&format!("{name}/a.yaml"), "kind: [\n");
    tree.write("::error::top/kustomization.yaml", "resources: [a.yaml]\n");
    tree.write("::error::top/a.yaml", "a: b: c\n");
    for args in [
        &["build", "--all"][..],
        &["validate", "--all", "--keep-going"],
        &["lint", "--all"],
        &["tree", "--all"],
        &["cfg", "count", "."],
        &["cfg", "count", &name],
        &["build", "::error::top"],
        &["build", &name],
        &["diff", &name, "::error::top"],
        &["explain", &name],
        &["vendor", "::error::top"],
        &["localize", &name],
        &["krm-function", &name],
        &[&name],
        &["build", &format!("--{name}")],
        &["plugin", "list", &name],
        &["plugin", "why", &name],
        &["plugin", "add", &name],
        &["plugin", "run", &name],
        &["plugin", "describe", &name],
        &["plugin", "package", &name],
        &["plugin", "trust", &name],
        &["plugin", "remove", &name],
        &["edit", "add", "resource", &name],
        &["edit", "set", "image", &name],
        &["create", "--resources", &name],
    ] {
        in_all_formats(&tree, args);
    }
}

/// A tree with a generator that writes hostile lines to stderr, and fails or not.
fn talkative(end: &str) -> Tree {
    let tree = Tree::new(
        "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: Any\nmetadata: {name: g}\n",
    );
    let said = r"a\033]0;title\007\n::error::own\n  ::stop-commands::x\n##[error]x\n\302\23331m\342\200\256\377\r\nhttps://u:hunter2@h.example/a?sig=SIGNATURE#FRAGMENT\n{half";
    tree.plugin("Any", &format!("#!/bin/sh\nprintf '{said}' >&2\n{end}\n"));
    tree
}

#[test]
fn stderr_of_a_plugin_is_escaped_and_an_event_in_json() {
    let made = "printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: a}\\n'";
    for (end, status) in [(made, 0), ("exit 3", 1)] {
        let tree = talkative(end);
        let outputs = in_all_formats(&tree, &["build", "--enable-alpha-plugins"]);
        for output in &outputs {
            assert_eq!(output.status.code(), Some(status), "{}", text(output));
        }
        let human = text(&outputs[0]);
        assert!(human.contains("a\\u{1b}]0;title\\u{7}\n\\u{3a}:error::own\n"), "{human}");
        assert!(human.contains("\\u{9b}31m\\u{202e}\\xff\nhttps://...@h.example/a?sig=...#...\n{half"), "{human}");
        let json = String::from_utf8_lossy(&outputs[2].stderr).into_owned();
        let events: Vec<serde_json::Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let said: Vec<&str> =
            events.iter().filter(|e| e["event"] == "stderr").filter_map(|e| e["text"].as_str()).collect();
        assert_eq!((said.len(), said[1], said[6]), (7, "::error::own", "{half"), "{json}");
        in_all_formats(&tree, &["plugin", "run", "ex.io/v1/Any", "--as", "generator"]);
    }
}

#[test]
fn no_printed_line_is_a_command_of_ci() {
    let tree = Tree::new(
        "-- kustomization.yaml --\nresources: [a.yaml]\ncommonLabels: {a: b}\n-- a.yaml --\napiVersion: v1\nkind: '::error::own'\nmetadata: {name: a, annotations: {x: \"\\n::error::value\\n##[error]x\\n\"}}\n",
    );
    for args in [&["cfg", "count", "."][..], &["edit", "fix"], &["lint"], &["explain"], &["diff", ".", "a.yaml"]] {
        in_all_formats(&tree, args);
    }
    let counted = tree.run(&["cfg", "count", "."]).ok();
    assert!(counted.contains("\\u{3a}:error::own: 1\n"), "{counted}");
    // `edit fix` shows what the kustomization builds now.
    tree.write(
        "kustomization.yaml",
        "resources: [a.yaml]\nvars: [{name: A, objref: {apiVersion: v1, kind: B, name: a}}]\n",
    );
    in_all_formats(&tree, &["edit", "fix"]);
    in_all_formats(&tree, &["edit", "fix", "--vars"]);
}

#[test]
fn user_query_and_fragment_of_urls_are_never_printed() {
    let urls = [
        "https://user:hunter2@127.0.0.1:1/o/r?ref=v1&sig=SIGNATURE",
        "git::https://hunter2@127.0.0.1:1/o/r.git?sig=SIGNATURE&ref=v1",
        "http://user:hunter2@127.0.0.1:1/a.yaml?sv=1&sig=SIGNATURE#FRAGMENT",
        "ssh://git:hunter2@127.0.0.1:1/o/r",
        "oci://user:hunter2@127.0.0.1:1/o/r",
        // Mistyped addresses.
        "user:hunter2@127.0.0.1:1/o/r?ref=v1",
        "git::user:hunter2@127.0.0.1:1/o/r",
        "https:/user:hunter2@127.0.0.1:1/a.yaml",
        "ftp://user:hunter2@127.0.0.1:1/a.yaml",
        "https://127.0.0.1:1/a.yaml?sig=a'SIGNATURE",
        "https://127.0.0.1:1/a.yaml?sig=a`SIGNATURE",
        "./a.yaml?token=SIGNATURE",
    ];
    for url in urls {
        let tree = Tree::new("");
        tree.write("kustomization.yaml", &format!("resources:\n- {url}\n"));
        tree.write("odd/kustomization.yaml", &format!("resources: [{{a: '{url}'}}]\n"));
        for args in [
            &["build", "-v", "--timings", "--trace", "trace.json"][..],
            &["build", "odd"],
            &["build", url],
            &["build", url, "."],
            &["validate"],
            &["lint"],
            &["tree"],
            &["tree", "-o", "json"],
            &["tree", "-o", "dot"],
            &["tree", "-o", "mermaid"],
            &["explain"],
            &["vendor"],
            &["localize", ".", "../copy"],
            &["localize", url, "../copy"],
            &["diff", ".", url],
            &["edit", "add", "resource", url],
            &["build", "--offline"],
            &["build", "--locked"],
            &["plugin", "add", "h.io/a/b", "--from", url],
            &["plugin", "trust", "h.io/a/b", "--from", url],
        ] {
            in_all_formats(&tree, args);
        }
        if let Ok(trace) = fs::read(tree.path().join("trace.json")) {
            check("trace", &Output { stdout: trace, stderr: Vec::new(), status: Default::default() });
        }
    }
    // The words of kustomize stay: without them the message would be of no use.
    let tree = Tree::new("-- kustomization.yaml --\nresources: ['https://127.0.0.1:1/o/r?ref=v1&timeout=3s']\n");
    tree.run(&["build"]).fails_with(&["https://127.0.0.1:1/o/r?ref=v1&timeout=3s"]);
}

#[test]
fn errors_quote_no_value_of_a_secret() {
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {replicas: 1, template: {spec: {containers: [{name: c, image: i}]}}}\n";
    let secret =
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {p: hunter2-hunter2}\ndata: {q: hunter2}\n";
    let replacement = |options: &str, to: &str| {
        format!(
            "resources: [s.yaml, d.yaml]\nreplacements:\n- source: {{kind: Secret, fieldPath: stringData.p{options}}}\n  targets: [{{select: {{kind: Deployment}}, fieldPaths: [{to}]}}]\n"
        )
    };
    let patch = |operation: &str| {
        format!("resources: [s.yaml]\npatches:\n- target: {{kind: Secret}}\n  patch: |-\n    - {{{operation}}}\n")
    };
    for (kustomization, fault) in [
        (replacement("", "spec.replicas"), "as an integer"),
        (replacement(", options: {delimiter: '-', index: 7}", "spec.replicas"), "out of bounds"),
        ("resources: [tagged.yaml]\n".to_owned(), "as a boolean"),
        (patch("op: test, path: /stringData/p, value: hunter2"), "test failed"),
        (patch("op: add, path: /stringData/p/x, value: hunter2"), "/stringData/p"),
        ("secretGenerator: [{name: s, literals: [hunter2]}]\n".to_owned(), "invalid literal source"),
        ("secretGenerator: [{name: s, literals: [a=hunter2, a=hunter2]}]\n".to_owned(), "repeats the key"),
    ] {
        let tree = Tree::new("");
        tree.write("d.yaml", deployment);
        tree.write("s.yaml", secret);
        tree.write("tagged.yaml", &secret.replace("hunter2-hunter2", "!!bool 'hunter2'"));
        tree.write("kustomization.yaml", &kustomization);
        tree.run(&["build"]).fails_with(&[fault]);
        for args in [&["build"][..], &["lint"], &["validate"], &["explain"], &["diff", ".", "."]] {
            in_all_formats(&tree, args);
        }
    }
}

#[test]
fn values_under_secret_names_are_hidden_unless_asked_for() {
    let tree = Tree::new(
        "-- a/kustomization.yaml --\nresources: [../base]\nimages: [{name: i, newTag: '1'}]\npatches: [{path: p.yaml}]\n-- b/kustomization.yaml --\nresources: [../base]\nimages: [{name: i, newTag: '2'}]\nnamePrefix: b-\n-- base/kustomization.yaml --\nresources: [d.yaml]\nconfigMapGenerator: [{name: m, literals: [DB_PASSWORD=hunter2-m, HOST=h]}]\n",
    );
    let pod = |value: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d}}\nspec: {{template: {{spec: {{containers: [{{name: c, image: i, args: ['--api-token={value}-1', --password, {value}-2], env: [{{name: DB_PASSWORD, value: {value}-3}}, {{name: URL, value: 'postgres://u:{value}-4@db/x'}}, {{name: HOST, value: plain}}]}}]}}}}}}\n"
        )
    };
    tree.write("base/d.yaml", &pod("hunter2-base"));
    tree.write("a/p.yaml", &pod("hunter2-patch"));
    for format in ["human", "markdown", "html", "json"] {
        in_all_formats(&tree, &["diff", "a", "b", "-o", format]);
    }
    for args in [
        &["explain", "a", "Deployment/d"][..],
        &["explain", "a", "Deployment/d", "-o", "json"],
        &["explain", "a", "Deployment/d", "spec.template.spec.containers[name=c].env"],
        &["explain", "a", "m"],
        &["explain", "a", "--html", "page.html"],
    ] {
        in_all_formats(&tree, args);
    }
    let page = fs::read(tree.path().join("page.html")).unwrap();
    check("page", &Output { stdout: page, stderr: Vec::new(), status: Default::default() });
    let explained = tree.run(&["explain", "a", "Deployment/d"]).ok();
    assert!(explained.contains("(hidden)") && explained.contains("plain"), "{explained}");
    let diff = tree.run(&["diff", "a", "b"]).stdout;
    assert!(diff.contains("(masked "), "{diff}");
    for args in [&["diff", "a", "b", "--show-secrets"][..], &["explain", "a", "Deployment/d", "--show-secrets"]] {
        assert!(tree.run(args).stdout.contains("hunter2-patch-3"), "{args:?}");
    }
}

/// A repository in the tree whose settings and attributes name programs that write a file.
fn armed() -> Tree {
    armed_by(".gitattributes")
}

/// As [`armed`], with the attributes in another file.
fn armed_by(attributes: &str) -> Tree {
    let tree = Tree::new(
        "-- app/kustomization.yaml --\nresources: [a.yaml]\n-- app/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
    );
    let top = tree.path();
    git(&top, &["init", "-q", "-b", "main"]);
    tree.write(attributes, "* filter=armed\n*.yaml filter=a.b=c\n");
    git(&top, &["add", "."]);
    git(&top, &["commit", "-qm", "one"]);
    git(&top, &["tag", "one"]);
    tree.write("app/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n");
    git(&top, &["add", "."]);
    git(&top, &["commit", "-qm", "two"]);
    tree.write("app/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n");
    tree.write("new.yaml", "a: b\n");
    let ran = tree.home().join("ran");
    let program = |what: &str| format!("echo {what} >> '{}'; cat", ran.display());
    for (key, what) in [
        ("core.fsmonitor", "fsmonitor"),
        ("filter.armed.clean", "clean"),
        ("filter.armed.smudge", "smudge"),
        ("filter.a.b=c.smudge", "smudge2"),
        ("filter.a.b=c.clean", "clean2"),
        ("diff.external", "external"),
        ("diff.armed.textconv", "textconv"),
    ] {
        git(&top, &["config", key, &program(what)]);
    }
    git(&top, &["config", "filter.armed.required", "true"]);
    fs::create_dir_all(top.join("hooks")).unwrap();
    for hook in ["post-index-change", "post-checkout", "reference-transaction"] {
        tree.write(&format!("hooks/{hook}"), &format!("#!/bin/sh\necho {hook} >> '{}'\n", ran.display()));
    }
    git(&top, &["config", "core.hooksPath", top.join("hooks").to_str().unwrap()]);
    let _ = fs::remove_file(ran);
    tree
}

#[track_caller]
fn assert_nothing_ran(tree: &Tree) {
    let ran = fs::read_to_string(tree.home().join("ran")).unwrap_or_default();
    assert_eq!(ran, "");
}

#[test]
fn comparing_commits_runs_nothing_of_the_repository() {
    // With the first file the files of commits are on the disk, with the second one in memory.
    for attributes in [".gitattributes", ".git/info/attributes"] {
        let tree = armed_by(attributes);
        for args in [&["diff", "one"][..], &["diff", "--since", "one..main"], &["diff", "--since", "one...main", "app"]]
        {
            let Run { status, stdout, stderr } = tree.run(args);
            assert_eq!(status, Some(1), "{attributes} {args:?}: {stdout}{stderr}");
            assert_nothing_ran(&tree);
        }
    }
}

#[test]
fn hooks_before_commit_and_push_run_nothing_of_the_repository() {
    let tree = armed();
    fs::write(tree.path().join("app/kustomization.yaml"), "resources: [a.yaml]\nnamePrefix: x-\n").unwrap();
    let index = |args: &[&str]| {
        git(&tree.path(), &[&["-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null"], args].concat())
    };
    index(&[
        "update-index",
        "--add",
        "--cacheinfo",
        &format!("100644,{},app/b.yaml", index(&["rev-parse", "HEAD:app/a.yaml"])),
    ]);
    let _ = fs::remove_file(tree.home().join("ran"));
    tree.run(&["hook", "run", "pre-commit"]).ok();
    assert_nothing_ran(&tree);
    let pushed = tree.path().join("pushed");
    let (one, main) = (index(&["rev-parse", "one"]), index(&["rev-parse", "main"]));
    let _ = fs::remove_file(tree.home().join("ran"));
    fs::write(&pushed, format!("refs/heads/main {main} refs/heads/main {one}\n")).unwrap();
    run(tree.command(&["hook", "run", "pre-push"]).stdin(fs::File::open(&pushed).unwrap())).ok();
    assert_nothing_ran(&tree);
    // The hooks' own directory is still the one that git names.
    tree.run(&["hook", "install"]).ok();
    assert!(tree.path().join("hooks/pre-commit").is_file());
}

#[test]
fn clone_cannot_choose_a_filter_of_the_user() {
    let mut tree = Tree::new(
        "-- ../home/.gitconfig --\n[filter \"armed\"]\n\tsmudge = touch ~/ran; cat\n\trequired = true\n[filter \"lfs\"]\n\tsmudge = git-lfs smudge -- %f; touch ~/ran\n",
    );
    let remote = tree.path().join("remote");
    tree.write("remote/kustomization.yaml", "resources: [a.yaml]\n");
    tree.write("remote/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    tree.write("remote/.gitattributes", "*.yaml filter=armed\nkustomization.yaml filter=lfs\n");
    git(&remote, &["init", "-q", "-b", "main"]);
    git(&remote, &["add", "."]);
    git(&remote, &["commit", "-qm", "one"]);
    tree.write("kustomization.yaml", &format!("resources: ['git::file://{}?ref=main']\n", remote.display()));
    tree.variables.insert("XDG_CACHE_HOME", tree.home().join("cache").display().to_string());
    assert!(tree.run(&["build"]).ok().contains("name: a"));
    assert_nothing_ran(&tree);
}

/// Runs a line in a shell, in a directory.
#[expect(clippy::disallowed_methods, reason = "a user pastes hints into a shell")]
fn paste(line: &str, directory: &Path) {
    let _ = Command::new("bash").args(["-c", line]).current_dir(directory).output();
}

#[test]
fn pasted_hint_runs_only_our_command() {
    let tree = Tree::new("");
    let here = tree.path();
    let evil = "/etc/app'; touch pasted; : '";
    tree.write(
        "p/plugin.yaml",
        &format!("apiVersion: rustomize.dev/v1\nkind: Plugin\nname: app\nversion: 1.0.0\nruntime: bash\nentry: run.sh\ngenerators: [{{apiVersion: ex.io/v1, kind: Made}}]\npermissions: {{read: [\"{evil}\"]}}\n"),
    );
    tree.write("p/run.sh", "#!/bin/sh\n");
    let mut commands: Vec<String> = Vec::new();
    for source in ["h.io/a/b;touch${IFS}pasted", "h.io/a/`touch${ifs}pasted`", "h.io/a/app"] {
        let asked = [
            tree.run(&["plugin", "install", source, "--path", "p"]),
            tree.run(&["plugin", "remove", source]),
            tree.run(&["plugin", "install", source, "--frozen"]),
        ];
        tree.write("plugins.yaml", &format!("apiVersion: rustomize.dev/v1\nkind: Plugins\nrequires: {{app: {{source: '{source}', from: './p', version: 1.0.0}}}}\n"));
        tree.write("kustomization.yaml", "generators: [g.yaml]\n");
        tree.write("g.yaml", "apiVersion: ex.io/v1\nkind: Made\nmetadata: {name: a}\n");
        tree.write(
            "../home/.config/rustomize/trust.yaml",
            "apiVersion: rustomize.dev/v1\nkind: TrustRules\nrules: [{source: other.io/a/b}]\n",
        );
        let trusted = [tree.run(&["plugin", "install"]), tree.run(&["build", "--enable-alpha-plugins"])];
        for run in asked.into_iter().chain(trusted) {
            let all = run.stdout + &run.stderr;
            commands.extend(all.split('\n').filter_map(|line| Some(line[line.find("rustomize plugin")?..].to_owned())));
        }
        fs::remove_file(here.join("plugins.yaml")).unwrap();
        fs::remove_file(tree.home().join(".config/rustomize/trust.yaml")).unwrap();
    }
    assert!(commands.iter().any(|line| line.contains("trust")), "{commands:?}");
    for line in commands {
        paste(&line.replace("rustomize ", "true "), &here);
        assert!(!here.join("pasted").exists(), "{line}");
    }
}

#[test]
fn invisible_characters_in_arguments_are_refused() {
    let tree = Tree::new("-- p/run.sh --\n#!/bin/sh\n");
    let manifest = |read: &str| {
        format!(
            "apiVersion: rustomize.dev/v1\nkind: Plugin\nname: app\nversion: 1.0.0\nruntime: bash\nentry: run.sh\ngenerators: [{{apiVersion: ex.io/v1, kind: Made}}]\npermissions: {{read: [{read}]}}\n"
        )
    };
    for odd in [r#""/etc/a\r/b""#, r#""/etc/a\e[2K""#, r#""/etc/a\u202eb""#, r#""~/a\u200b""#] {
        tree.write("p/plugin.yaml", &manifest(odd));
        tree.run(&["plugin", "install", "h.io/a/app", "--path", "p"]).fails_with(&["which cannot be seen"]);
    }
    let requires = |name: &str, source: &str, from: &str| {
        format!(
            "apiVersion: rustomize.dev/v1\nkind: Plugins\nrequires: {{{name}: {{source: {source}, from: {from}}}}}\n"
        )
    };
    for (name, source, from) in [
        (r#""a\rb""#, "h.io/a/b", "./p"),
        ("a", r#""h.io/a/b\e[2K""#, "./p"),
        ("a", r#""h.io/a/b\u202e""#, "./p"),
        ("a", "h.io/a/b", r#""./p\u200b""#),
    ] {
        tree.write("plugins.yaml", &requires(name, source, from));
        tree.run(&["plugin", "install"]).fails_with(&[]);
    }
    for args in [&["--allow-read", "/a\rb"], &["--allow-env", "A\u{202e}"], &["--allow-write", "/a\u{1b}"]] {
        tree.run(&[&["plugin", "trust", "h.io/a/b"], &args[..]].concat()).fails_with(&["which cannot be seen"]);
    }
    // Another letter is an error of its own, and not another spelling.
    let error = tree.run(&["plugin", "add", "h.io/acme/\u{fc}n\u{ef}"]).fails_with(&["the character '\u{fc}'"]);
    assert!(!error.contains("h.io/acme/n"), "{error}");
}

/// A key that completes a line, and Enter, run no command that the name of a file has.
#[test]
fn completions_offer_no_file_name_that_is_a_command() {
    let hostile = [
        "$(touch own).yaml",
        "a;touch own",
        "`own`",
        "a&b",
        "a|b",
        "a>b",
        "x\u{1b}]0;t\u{7}",
        "n\ntouch own\n",
        "u\u{202e}",
    ];
    let tree = Tree::new("-- kustomization.yaml --\n-- plain-1.yaml --\n-- \u{fc}.yaml --\n");
    hostile.iter().for_each(|name| tree.write(name, ""));
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let mut command = tree.command(&["--", "rustomize", "edit", "add", "resource", ""]);
        command.env("RUSTOMIZE_COMPLETE", shell).env("_CLAP_COMPLETE_INDEX", "4");
        // As the script of the shell asks for it.
        command.env("_CLAP_IFS", if shell == "bash" { "\u{b}" } else { "\n" });
        let offers = run(&mut command).ok();
        for name in ["kustomization.yaml", "plain-1.yaml", "\u{fc}.yaml"] {
            assert!(offers.contains(name), "{shell}: {offers:?}");
        }
        let is_odd = |c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\u{b}') || c == '\u{202e}';
        assert!(!offers.contains(is_odd), "{shell}: {offers:?}");
        // The other shells put quotes around an offer.
        if matches!(shell, "bash" | "powershell") {
            assert!(!offers.contains(['$', ';', '`', '&', '|', '>']), "{shell}: {offers:?}");
            assert!(shell != "bash" || !offers.contains('\n'), "{offers:?}");
        }
    }
}
