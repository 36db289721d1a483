//! Each command and flag of kustomize v5.8.3, in each spelling that its parser takes. Its exit
//! status, output and files are recorded in testdata/command_line/recorded.json;
//! `UPDATE=1 cargo test --test main command_line::` records them again, where kustomize is in PATH.

use crate::support::{Run, Tree, in_path, run};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const TREE: &str = "-- kustomization.yaml --\nresources: [cm.yaml]\nconfigMapGenerator: [{name: c, literals: [a=b]}]\n\
    patches: [{path: p.txt, target: {kind: ConfigMap}}]\n\
    -- cm.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n\
    -- p.txt --\n- {op: add, path: /data, value: {x: y}}\n\
    -- e.env --\nq=r\n\
    -- far/kustomization.yaml --\nresources: [../cm.yaml]\n\
    -- bin/kubectl --\n#!/bin/sh\necho '{\"b\": [1.50, \"<\"], \"a\": {\"y\": \"n\"}, \"c\": {}}'\n";

/// The name of a flag, and a value for it; `None` for a flag that is on or off.
type Flag = (&'static str, Option<&'static str>);

/// The words of a command and what follows its flags, and the flags.
const COMMANDS: &[(&str, &str, &[Flag])] = &[
    (
        "build",
        ".",
        &[
            ("stack-trace", None),
            ("as-current-user", None),
            ("enable-alpha-plugins", None),
            ("enable-exec", None),
            ("enable-helm", None),
            ("enable-managedby-label", None),
            ("env", Some("A=b")),
            ("helm-api-versions", Some("v1")),
            ("helm-command", Some("helm")),
            ("helm-debug", None),
            ("helm-kube-version", Some("1.30")),
            ("load-restrictor", Some("LoadRestrictionsNone")),
            ("mount", Some("type=bind,src=.,dst=/x")),
            ("network", None),
            ("network-name", Some("n")),
            ("output", Some("out.yaml")),
            ("reorder", Some("legacy")),
        ],
    ),
    ("build", "far", &[("load-restrictor", Some("LoadRestrictionsNone"))]),
    ("version", "", &[("stack-trace", None), ("output", Some("json")), ("short", None)]),
    ("openapi info", "", &[("stack-trace", None)]),
    ("openapi fetch", "", &[("format", Some("yaml"))]),
    ("cfg count", ".", &[("kind", None), ("recurse-subpackages", None)]),
    ("edit add annotation", "a:b", &[("force", None)]),
    (
        "edit add configmap",
        "n",
        &[
            ("from-literal", Some("k=v")),
            ("from-file", Some("cm.yaml")),
            ("from-env-file", Some("e.env")),
            ("disableNameSuffixHash", None),
            ("namespace", Some("x")),
            ("behavior", Some("create")),
        ],
    ),
    ("edit add label", "a:b", &[("force", None), ("without-selector", None), ("include-templates", None)]),
    (
        "edit add patch",
        "",
        &[
            ("path", Some("p.txt")),
            ("patch", Some("[]")),
            ("kind", Some("Service")),
            ("group", Some("apps")),
            ("version", Some("v1")),
            ("name", Some("n")),
            ("namespace", Some("x")),
            ("label-selector", Some("a=b")),
            ("annotation-selector", Some("a=b")),
        ],
    ),
    ("edit add resource", "nope.yaml", &[("no-verify", None)]),
    (
        "edit add secret",
        "n",
        &[
            ("from-literal", Some("k=v")),
            ("from-file", Some("cm.yaml")),
            ("from-env-file", Some("e.env")),
            ("disableNameSuffixHash", None),
            ("namespace", Some("x")),
            ("type", Some("Opaque")),
        ],
    ),
    ("edit fix", "", &[("vars", None)]),
    ("edit remove annotation", "x", &[("ignore-non-existence", None)]),
    ("edit remove configmap", "c", &[("namespace", Some("default"))]),
    ("edit remove label", "x", &[("ignore-non-existence", None)]),
    ("edit remove secret", "c", &[("namespace", Some("default"))]),
    (
        "edit set configmap",
        "c",
        &[("from-literal", Some("a=z")), ("namespace", Some("default")), ("new-namespace", Some("x"))],
    ),
    ("edit set secret", "c", &[("from-literal", Some("a=z")), ("namespace", Some("x")), ("new-namespace", Some("y"))]),
    ("edit set image", "a=b:1", &[("stack-trace", None)]),
];

/// Short names of flags.
const SHORT: [(&str, &str, char); 8] = [
    ("build", "output", 'o'),
    ("build", "env", 'e'),
    ("version", "output", 'o'),
    ("cfg count", "recurse-subpackages", 'R'),
    ("edit add annotation", "force", 'f'),
    ("edit add label", "force", 'f'),
    ("edit remove annotation", "ignore-non-existence", 'i'),
    ("edit remove label", "ignore-non-existence", 'i'),
];

/// The ways to write a flag.
fn spellings(command: &str, flag: &Flag) -> Vec<Vec<String>> {
    let (name, value) = *flag;
    let long = format!("--{name}");
    let short = SHORT.iter().find(|(c, n, _)| *c == command && *n == name).map(|(.., letter)| format!("-{letter}"));
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let mut all = Vec::new();
    for flag in [Some(long), short].into_iter().flatten() {
        let is_long = flag.starts_with("--");
        let Some(value) = value else {
            all.push(words(&[&flag]));
            all.push(words(&[&flag, &flag]));
            for word in ["true", "false", "T", "0", "FALSE", "maybe", ""] {
                all.push(words(&[&format!("{flag}={word}")]));
            }
            all.push(words(&[&flag, &format!("{flag}=false")]));
            continue;
        };
        all.push(words(&[&flag, value]));
        all.push(words(&[&format!("{flag}={value}")]));
        all.push(words(&[&flag, value, &format!("{flag}={value}")]));
        if is_long {
            all.push(words(&[&format!("{flag}=")]));
            all.push(words(&[&flag, ""]));
        } else {
            all.push(words(&[&format!("{flag}{value}")]));
        }
    }
    all
}

/// All command lines that are tried.
fn command_lines() -> Vec<Vec<String>> {
    let mut lines: BTreeSet<Vec<String>> = BTreeSet::new();
    let split = |words: &str| words.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    for (command, rest, flags) in COMMANDS {
        let (command_words, rest) = (split(command), split(rest));
        for flag in *flags {
            for (i, spelling) in spellings(command, flag).into_iter().enumerate() {
                // Behind the command, behind its arguments, and with an end of flags.
                lines.insert([&command_words[..], &spelling, &rest].concat());
                if i == 0 {
                    lines.insert([&command_words[..], &rest, &spelling].concat());
                    lines.insert([&command_words[..], &spelling, &split("--"), &rest].concat());
                }
            }
            if flag.1.is_some() {
                lines.insert([&command_words[..], &rest, &[format!("--{}", flag.0)]].concat());
            }
            // In front of the command, where kustomize takes it.
            let first = match flag {
                ("stack-trace", _) => vec!["--stack-trace".to_owned()],
                (name, Some(value)) => vec![format!("--{name}"), (*value).to_owned()],
                _ => continue,
            };
            lines.insert([&first[..], &command_words, &rest].concat());
            if let [above, below @ ..] = &command_words[..]
                && !below.is_empty()
            {
                lines.insert([&[above.clone()][..], &first, below, &rest].concat());
            }
        }
    }
    for line in ["-o out.yaml build .", "-oout.yaml build", "-o=out.yaml build .", "--output=out.yaml build", "build"]
        .into_iter()
        .chain([
            "build -- .",
            "build . --",
            "build nope",
            "version x y",
            "openapi info x",
            "build --load-restrictor x .",
        ])
        .chain(["build --reorder up .", "build --reorder none --reorder legacy .", "openapi fetch --format x"])
        .chain(["completion", "completion tcsh", "completion bash x", "version -o x", "edit", "edit add"])
        .chain(["cfg", "fn", "openapi", "", "--help", "-h", "build -h", "help build"])
        .chain([
            "edit alpha-list-builtin-plugin",
            "edit alpha-list-builtin-plugin x",
            "cfg count a b",
            "cfg count nope",
        ])
    {
        lines.insert(split(line));
    }
    lines.into_iter().collect()
}

/// The part of an outcome that has to be the same: the status, the output unless it is help, and
/// for builds the file that is written.
fn outcome(tree: &Tree, line: &[String], run: &Run) -> Value {
    let is_help = run.stdout.contains("Usage:") || line.iter().any(|word| word == "completion");
    let is_edit = line.iter().any(|word| word == "edit") && !line.iter().any(|word| word.starts_with("alpha-"));
    let printed = if is_help || is_edit { "" } else { &run.stdout };
    // Not the version of the Go that made kustomize; and it lists its plugins in random order.
    let mut lines: Vec<&str> = printed.split_inclusive('\n').filter(|line| !line.contains("goVersion")).collect();
    if printed.starts_with("Builtin plugins") {
        lines.sort_unstable();
    }
    let printed = lines.concat();
    let written = fs::read_to_string(tree.path().join("out.yaml")).ok();
    json!({"status": run.status, "printed": printed, "written": written})
}

fn recorded_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/command_line/recorded.json")
}

/// Differences on purpose: kustomize refuses these lines, or answers them in another way.
fn is_other_here(line: &[String]) -> bool {
    let text = line.join(" ");
    // Flags of `build` may come before it whether or not they take a value.
    text.starts_with("--") && !text.starts_with("--stack-trace")
}

fn ran(program: &Path, line: &[String]) -> (Tree, Run) {
    let tree = Tree::new(TREE);
    #[expect(clippy::disallowed_methods, reason = "this is the outside of the command")]
    let mut command = Command::new(program);
    #[expect(clippy::disallowed_methods, reason = "where the programs of this machine are")]
    let path = format!("{}:{}", tree.path().join("bin").display(), std::env::var("PATH").unwrap());
    let run = run(command.args(line).current_dir(tree.path()).env("PATH", path).env("HOME", tree.home()));
    (tree, run)
}

/// The outcomes of a program for all lines; a line is its words with a separator between them.
fn outcomes(program: &Path, lines: &[Vec<String>]) -> Vec<(String, Value)> {
    let one = |line: &Vec<String>| {
        let (tree, run) = ran(program, line);
        (line.join("\u{1f}"), outcome(&tree, line, &run))
    };
    std::thread::scope(|scope| {
        let parts: Vec<_> = lines.chunks(lines.len().div_ceil(4)).collect();
        let threads: Vec<_> =
            parts.iter().map(|part| scope.spawn(|| part.iter().map(one).collect::<Vec<_>>())).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn every_spelling_of_every_flag() {
    let file = recorded_file();
    let mut recorded: BTreeMap<String, Value> = match fs::read_to_string(&file) {
        Ok(text) => serde_json::from_str(&text).unwrap(),
        Err(_) => BTreeMap::new(),
    };
    let lines: Vec<_> = command_lines().into_iter().filter(|line| !is_other_here(line)).collect();
    assert!(lines.len() > 600, "{} command lines", lines.len());
    if std::env::var_os("UPDATE").is_some() {
        let kustomize = in_path("kustomize").expect("kustomize in PATH");
        recorded.clear();
        recorded.extend(outcomes(&kustomize, &lines));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let rows: Vec<String> =
            recorded.iter().map(|(line, outcome)| format!("{}: {outcome}", Value::from(line.as_str()))).collect();
        fs::write(&file, format!("{{\n{}\n}}\n", rows.join(",\n"))).unwrap();
    }
    let home = Tree::new("");
    let own = home.path().join("kustomize");
    std::os::unix::fs::symlink(crate::support::program(), &own).unwrap();
    let mut faults = Vec::new();
    for (line, ours) in outcomes(&own, &lines) {
        match recorded.get(&line) {
            None => faults.push(format!("{line:?} is not recorded")),
            Some(theirs) if ours != *theirs => {
                faults.push(format!("{line:?}\n  kustomize: {theirs}\n  here:      {ours}"));
            }
            Some(_) => {}
        }
    }
    assert!(faults.is_empty(), "{} differences:\n{}", faults.len(), faults.join("\n"));
}

/// The spellings of kustomize v3, which chartify passes to a version that it does not know.
#[test]
fn old_spellings() {
    let tree = Tree::new(TREE);
    for (old, new) in [
        ("--enable_alpha_plugins", "--enable-alpha-plugins"),
        ("--enable_exec", "--enable-exec"),
        ("--enable_helm", "--enable-helm"),
        ("--enable_managedby_label", "--enable-managedby-label"),
        ("--load_restrictor=LoadRestrictionsNone", "--load-restrictor=LoadRestrictionsNone"),
        ("--helm_command=helm", "--helm-command=helm"),
    ] {
        assert_eq!(
            tree.run(&["build", "far/../far", old]).status,
            tree.run(&["build", "far/../far", new]).status,
            "{old}"
        );
        assert_eq!(tree.run(&["build", old]).ok(), tree.run(&["build", new]).ok(), "{old}");
    }
}

#[test]
fn words_of_other_tools_are_understood() {
    let tree = Tree::new("");
    for (words, tip) in [
        (&["render", "."][..], "run 'rustomize build DIR'"),
        (&["template"], "run 'rustomize build DIR'"),
        (&["apply"], "run 'rustomize build DIR | kubectl apply -f -'"),
        (&["get"], "run 'rustomize plugin add SOURCE'"),
        (&["install"], "run 'rustomize plugin install'"),
        (&["uninstall", "x"], "run 'rustomize plugin remove SOURCE'"),
        (&["upgrade"], "run 'rustomize plugin update'"),
        (&["ls"], "run 'rustomize plugin list'"),
        (&["vet"], "run 'rustomize validate DIR'"),
        (&["plugin", "get"], "run 'rustomize plugin add SOURCE'"),
        (&["plugin", "init"], "run 'rustomize plugin new DIR'"),
        (&["buidl"], "a similar subcommand exists: 'build'"),
        (&["plugin", "instal"], "'install'"),
        (&["edit", "set", "imge", "a=b:1"], "a similar subcommand exists: 'image'"),
        (&["edit", "set", "tag", "a:1"], "run 'rustomize edit set image NAME:TAG'"),
        (&["edit", "rmove", "resource", "a.yaml"], "a similar subcommand exists: 'remove'"),
        (&["edit", "remove", "vars", "a"], "the commands of 'rustomize edit remove': resource, component, "),
        (&["edit", "--stack-trace", "ad"], "a similar subcommand exists: 'add'"),
        (&["cfg", "fmt", "."], "run 'rustomize cfg cat DIR'"),
        (&["cfg", "nope"], "the commands of 'rustomize cfg': "),
        (&["fn", "runn"], "a similar subcommand exists: 'run'"),
        (&["openapi", "nope"], "the commands of 'rustomize openapi': info, show, fetch"),
        (&["build", "--enable-hlem"], "a similar argument exists: '--enable-helm'"),
        (&["build", "--load-restricter=x"], "a similar argument exists: '--load-restrictor'"),
    ] {
        tree.run(words).fails_with(&[tip]);
    }
}

#[test]
fn resources_are_counted() {
    let tree = Tree::new(
        "-- a.yaml --\nkind: B\n---\n# nothing\n---\nkind: A\n---\nkind: B\n-- .hidden/b.yml --\nkind: C\n-- c.json --\n{\"kind\": \"D\"}\n\
         -- no.yaml --\nx: y\n-- pkg/Krmfile --\nkind: Krmfile\n-- pkg/p.yaml --\nkind: P\n-- pkg/in/q.yaml --\nkind: P\n\
         -- pkg/sub/Krmfile --\n\n-- pkg/sub/s.yaml --\nkind: List\nitems: [{kind: A}]\n",
    );
    let all = "./\n: 1\nA: 1\nB: 2\nC: 1\n\npkg/\nP: 2\n\npkg/sub/\nList: 1\n";
    let theirs = |args: &[&str]| {
        let kustomize = in_path("kustomize")?;
        #[expect(clippy::disallowed_methods, reason = "kustomize is what we compare with")]
        let mut command = Command::new(kustomize);
        Some(run(command.args(args).current_dir(tree.path())).ok())
    };
    for (args, want) in [
        (&["cfg", "count", "."][..], all),
        (&["cfg", "count", ".", "--kind=false"], "./\n5\n\npkg/\n2\n\npkg/sub/\n1\n"),
        (&["cfg", "count", "-R=false", "."], "./\n: 1\nA: 1\nB: 2\nC: 1\n"),
        (&["cfg", "count", "pkg/sub"], "pkg/sub/\nList: 1\n"),
        (&["cfg", "count", "a.yaml"], "a.yaml/\nA: 1\nB: 2\n"),
    ] {
        assert_eq!(tree.run(args).ok(), want, "{args:?}");
        assert_eq!(theirs(args).as_deref().unwrap_or(want), want, "{args:?}");
    }
    tree.write("bad.yaml", "a: [\n");
    tree.run(&["cfg", "count", "."]).fails_with(&["bad.yaml:"]);
    tree.run(&["cfg", "count", "nowhere"]).fails_with(&["nowhere"]);
    tree.write("bad.yaml", "a: b\n");
    tree.write("pkg/.krmignore", "x\n");
    tree.run(&["cfg", "count", "."]).fails_with(&["pkg/.krmignore"]);
}

/// The rows of the table in docs/compatibility.md: command, flag, whether it exists here, test.
fn rows() -> Vec<[String; 4]> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/compatibility.md")).unwrap();
    let table = text.split("| command | flag | here | test |").nth(1).unwrap().split("\n## ").next().unwrap();
    let cells = |row: &str| {
        let cells: Vec<String> =
            row.trim_matches('|').split('|').map(|c| c.trim().trim_matches('`').to_owned()).collect();
        <[String; 4]>::try_from(cells).unwrap_or_else(|_| panic!("not four cells: {row}"))
    };
    table.lines().filter(|line| line.starts_with("| `")).map(cells).collect()
}

/// The flags of a command and the commands below it, by the help of kustomize.
fn walk(kustomize: &Path, command: &[String], found: &mut BTreeSet<(String, String)>) {
    #[expect(clippy::disallowed_methods, reason = "kustomize is what we compare with")]
    let help = run(Command::new(kustomize).args(command).arg("--help")).ok();
    let name = if command.is_empty() { "kustomize".to_owned() } else { command.join(" ") };
    found.insert((name.clone(), String::new()));
    let section = |heading: &str| {
        let (_, rest) = help.split_once(&format!("\n{heading}:\n"))?;
        Some(rest.split("\n\n").next()?.to_owned())
    };
    for line in section("Flags").unwrap_or_default().lines() {
        let Some(at) = line.find("--").filter(|at| *at < 8) else { continue };
        let flag = line[at..].split(' ').next().unwrap();
        let short = line[..at].trim().trim_end_matches(',');
        if flag != "--help" {
            let shown = if short.is_empty() { flag.to_owned() } else { format!("{short}, {flag}") };
            found.insert((name.clone(), shown));
        }
    }
    for line in section("Available Commands").unwrap_or_default().lines() {
        if let Some(below) = line.strip_prefix("  ").and_then(|line| line.split(' ').next()).filter(|w| !w.is_empty()) {
            walk(kustomize, &[command, &[below.to_owned()]].concat(), found);
        }
    }
}

/// Commands and flags that kustomize does not show.
const HIDDEN: [(&str, &str); 3] =
    [("build", "--enable-managedby-label"), ("build", "--reorder"), ("version", "--short")];

#[test]
fn every_command_and_flag_of_kustomize_has_a_row() {
    let Some(kustomize) = in_path("kustomize") else { return println!("not compared: no kustomize in PATH") };
    let mut theirs = BTreeSet::new();
    walk(&kustomize, &[], &mut theirs);
    walk(&kustomize, &["openapi".to_owned()], &mut theirs);
    theirs.extend(HIDDEN.map(|(command, flag)| (command.to_owned(), flag.to_owned())));
    let rows: BTreeSet<(String, String)> = rows().into_iter().map(|[command, flag, ..]| (command, flag)).collect();
    let missing: Vec<_> = theirs.difference(&rows).collect();
    let unknown: Vec<_> = rows.difference(&theirs).collect();
    assert!(missing.is_empty() && unknown.is_empty(), "without a row: {missing:?}\nonly in the table: {unknown:?}");
}

#[test]
fn output_with_a_slash_at_its_end_is_a_directory() {
    let tree = Tree::new("-- kustomization.yaml --\nconfigMapGenerator: [{name: a, literals: [k=v]}]\n");
    assert_eq!(tree.run(&["build", "-o", "new/rendered/"]).ok(), "");
    let names = fs::read_dir(tree.path().join("new/rendered")).unwrap().map(|entry| entry.unwrap().file_name());
    let names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    assert!(names.len() == 1 && names[0].starts_with("v1_configmap_a-"), "{names:?}");
    tree.run(&["build", "-o", "kustomization.yaml/"]).fails_with(&["kustomization.yaml"]);
}
