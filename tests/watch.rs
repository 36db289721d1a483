//! The work of builds for the user: `--timings`, `--trace`, `--verbose`, and the line on a
//! terminal.

use crate::support::servers::Files;
use crate::support::{Run, Tree, skip};
use serde_json::Value;

const TREE: &str = "\
-- app/kustomization.yaml --
resources: [../base]
namePrefix: my-
labels: [{pairs: {team: blue}}]
transformers: [pass.yaml]
-- app/pass.yaml --
apiVersion: ex.io/v1
kind: Pass
metadata: {name: p}
-- base/kustomization.yaml --
resources: [map.yaml]
-- base/map.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: m}
";

fn tree() -> Tree {
    let tree = Tree::new(TREE);
    tree.plugin("Pass", "#!/bin/sh\ncat\n");
    tree
}

/// The events of a trace: kind of work, name, thread, start and end in microseconds.
fn events(tree: &Tree, file: &str) -> Vec<(String, String, u64, f64, f64)> {
    let text = std::fs::read_to_string(tree.path().join(file)).unwrap();
    let trace: Value = serde_json::from_str(&text).unwrap();
    let event = |event: &Value| {
        assert_eq!(event["ph"], "X");
        let (start, time) = (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
        let text = |key: &str| event[key].as_str().unwrap().to_owned();
        (text("cat"), text("name"), event["tid"].as_u64().unwrap(), start, start + time)
    };
    trace["traceEvents"].as_array().unwrap().iter().map(event).collect()
}

#[test]
fn a_trace_has_every_root_layer_step_plugin_and_file_each_in_its_place() {
    let tree = tree();
    let plain = tree.build(&["app"]).ok();
    assert_eq!(tree.build(&["app", "--trace", "trace.json"]).ok(), plain);
    let events = events(&tree, "trace.json");
    let find = |work: &str, name: &str| {
        let found = events.iter().find(|(w, n, ..)| w == work && n == name);
        found.unwrap_or_else(|| panic!("{work} {name} is not among {events:?}"))
    };
    let is_in = |inner: (&str, &str), outer: (&str, &str)| {
        let (inner, outer) = (find(inner.0, inner.1), find(outer.0, outer.1));
        assert!(inner.2 == outer.2 && inner.3 >= outer.3 && inner.4 <= outer.4, "{inner:?} {outer:?}");
    };
    let (app, base) = (("kustomization", "app/kustomization.yaml"), ("kustomization", "base/kustomization.yaml"));
    is_in(app, ("root", "app"));
    is_in(base, app);
    is_in(("file", "base/map.yaml"), base);
    // Neighbours share a pass.
    is_in(("step", "PrefixTransformer, LabelTransformer"), app);
    is_in(("plugin", "Pass"), app);
    is_in(("step", "NameReferenceTransformer"), ("root", "app"));
    assert!(find("print", "resources").3 >= find("root", "app").4);
    // A build that fails has a trace as well, which shows how far it came.
    tree.write("app/kustomization.yaml", "resources: [../base, gone.yaml]\n");
    tree.build(&["app", "--trace", "failed.json"]).fails_with(&["gone.yaml"]);
    assert!(crate::watch::events(&tree, "failed.json").iter().any(|(_, name, ..)| name == "base/map.yaml"));
    tree.build(&["base", "--trace", "no/such/trace.json"]).fails_with(&["no/such/trace.json", "mkdir -p no/such"]);
}

#[test]
fn roots_side_by_side_are_in_one_trace() {
    let tree = tree();
    tree.run(&["validate", "--enable-alpha-plugins", "app", "base", "--jobs", "2", "--trace", "t.json"]).ok();
    let events = events(&tree, "t.json");
    for root in ["app", "base"] {
        assert!(events.iter().any(|(work, name, ..)| work == "root" && name == root), "{events:?}");
    }
    // Events of one thread are one in another or apart.
    for (_, _, thread, start, end) in &events {
        for (work, name, other_thread, other_start, other_end) in &events {
            let is_apart = thread != other_thread || other_end <= start || other_start >= end;
            let is_nested = (other_start >= start && other_end <= end) || (start >= other_start && end <= other_end);
            assert!(is_apart || is_nested, "{work} {name}");
        }
    }
}

#[test]
fn timings_are_a_table_for_people_and_data_for_programs() {
    let tree = tree();
    let done = tree.build(&["app", "--timings"]);
    let rows: Vec<Vec<&str>> = done.stderr.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["milliseconds", "count", "part"]);
    let row = |end: &[&str]| rows.iter().find(|row| row.ends_with(end)).unwrap_or_else(|| panic!("{rows:?}"));
    assert_eq!(row(&["plugin", "Pass", "in", "app/kustomization.yaml"])[1], "1");
    assert_eq!(row(&["file", "all", "files"])[1], "4");
    assert!(row(&["root", "app"])[0].parse::<f64>().unwrap() > 0.0);
    assert!(done.ok().contains("my-m"));
    let done = tree.build(&["app", "--timings", "--error-format", "json"]);
    let data: Value = serde_json::from_str(&done.stderr).unwrap();
    let plugin = data["timings"].as_array().unwrap().iter().find(|row| row["work"] == "plugin").unwrap();
    assert_eq!((&plugin["name"], &plugin["count"]), (&Value::from("Pass"), &Value::from(1)));
    assert!(plugin["milliseconds"].as_f64().unwrap() > 0.0);
}

#[test]
fn verbose_says_what_was_used_and_why() {
    let (tree, files) = (tree(), Files::default());
    let server = files.serve();
    files.put("/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: far}\n");
    let url = format!("http://me:password@{server}/a.yaml");
    tree.write("base/kustomization.yaml", &format!("resources: [map.yaml, '{url}']\n"));
    let lines = |run: Run| {
        assert_eq!(run.status, Some(0), "{}", run.stderr);
        assert!(!run.stderr.contains("password"), "{}", run.stderr);
        run.stderr.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let home = tree.home();
    let plugin = format!(
        "plugin: ex.io/v1 Pass ({}/.config/kustomize/plugin/ex.io/v1/pass/Pass, placed by hand)",
        home.display()
    );
    let fetch = |from: &str| format!("fetch: http://...@{server}/a.yaml ({from})");
    let wanted = |from| {
        let files = |names: &[&str]| names.iter().map(|name| format!("file: {name}")).collect::<Vec<_>>();
        let mut lines = files(&["app/kustomization.yaml", "base/kustomization.yaml", "base/map.yaml"]);
        lines.push(fetch(from));
        lines.extend(files(&["app/pass.yaml"]));
        lines.push(plugin.clone());
        lines
    };
    assert_eq!(lines(tree.build(&["app", "-v"])), wanted("the server"));
    assert_eq!(lines(tree.build(&["app", "--verbose", "--offline"])), wanted("the cache"));
}

/// The text on the screen after some bytes: line ends, returns, and the commands that move the
/// cursor up and down and erase.
fn screen(text: &str) -> String {
    let mut lines: Vec<Vec<char>> = vec![Vec::new()];
    let (mut row, mut column) = (0_usize, 0_usize);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\r' => column = 0,
            '\n' => row += 1,
            '\u{1b}' => {
                chars.next();
                let mut number = String::new();
                let command = loop {
                    match chars.next() {
                        Some(c) if c.is_ascii_alphabetic() => break c,
                        Some(c) => number.push(c),
                        // The rest has not come yet.
                        None => break 'm',
                    }
                };
                let number: usize = number.parse().unwrap_or_default();
                match (command, number) {
                    ('A', n) => row = row.saturating_sub(n.max(1)),
                    ('B', n) => row += n.max(1),
                    ('K', 2) => lines[row].clear(),
                    ('K', 0) => lines[row].truncate(column),
                    ('J', 0) => {
                        lines[row].truncate(column);
                        lines.truncate(row + 1);
                    }
                    ('m' | 'l' | 'h', _) => {}
                    _ => panic!("an unknown command of the terminal: {number} {command}"),
                }
            }
            c => {
                if lines[row].len() <= column {
                    lines[row].resize(column + 1, ' ');
                }
                lines[row][column] = c;
                column += 1;
            }
        }
        if lines.len() <= row {
            lines.resize(row + 1, Vec::new());
        }
    }
    let lines: Vec<String> = lines.iter().map(|line| line.iter().collect()).collect();
    lines.join("\n")
}

#[test]
fn slow_build_shows_on_a_terminal_what_it_waits_for() {
    let mut tree = tree();
    // The line comes after half a second.
    tree.plugin("Pass", "#!/bin/sh\nsleep 2\necho 'from the plugin' >&2\ncat\n");
    tree.variables.insert("TERM", "xterm".to_owned());
    let Some(shown) = tree.run_on_terminal("build --enable-alpha-plugins app") else {
        return skip("a terminal needs script");
    };
    let shown = shown.ok();
    assert!(shown.contains("running Pass ("), "{shown:?}");
    // The plugin's message and the result remain, and nothing of the line.
    let plain = tree.build(&["app"]).ok();
    assert_eq!(screen(&shown), format!("from the plugin\n{plain}"), "{shown:?}");
    let shown = tree.run_on_terminal("build --enable-alpha-plugins --jobs 1 base app").unwrap().ok();
    assert!(shown.contains("1 of 2 roots done, running Pass ("), "{shown:?}");
    assert!(screen(&shown).ends_with(&plain), "{shown:?}");
    // Without a terminal, and on a terminal that cannot erase, no line is shown.
    assert_eq!(tree.build(&["app"]).stderr, "from the plugin\n");
    tree.variables.insert("TERM", "dumb".to_owned());
    let dumb = tree.run_on_terminal("build --enable-alpha-plugins app").unwrap().ok();
    assert!(!dumb.contains("running") && !dumb.contains('\u{1b}'), "{dumb:?}");
}
