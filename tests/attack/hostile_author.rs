//! Mistakes and attacks of authors, in manifests, descriptions and schemas. Each is
//! a clear error: no panic, no endless loop, nothing on stdout.

use crate::support::plugins::{install, script_with};
use crate::support::servers::Files;
use crate::support::{Run, Tree, run};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;

const HEAD: &str = "apiVersion: rustomize.dev/v1\nkind: Plugin\n";

/// A text that is larger than a manifest and a description may be.
pub fn huge() -> String {
    "x".repeat(2 << 20)
}

/// The error of a run, which is one and neither a panic nor a signal.
#[track_caller]
pub fn refused(run: Run, words: &[&str]) -> String {
    let said = run.fails_with(words);
    assert!(!said.contains("panicked") && said.len() < 4000, "{said}");
    said
}

fn describe(tree: &Tree) -> Run {
    tree.run(&["plugin", "describe", "app", "--offline"])
}

/// The fields that a place of a file may have, as the tool itself lists them in the error of a file
/// with an unknown field there.
#[track_caller]
pub fn known_fields(run: Run) -> BTreeSet<String> {
    let said = refused(run, &["unknown field \"qqqqqqqqqqqqqqq\"", "the fields here are: "]);
    let list = said.split("the fields here are: ").nth(1).unwrap().lines().next().unwrap();
    list.split(", ").map(str::to_owned).collect()
}

/// A field of a manifest: a value that is right, values that are not, and the words of the error
/// where it is missing; no words where it may be.
pub type FieldCase = (&'static str, &'static str, &'static [&'static str], &'static str);

const MANIFEST: [FieldCase; 15] = [
    ("apiVersion", "rustomize.dev/v1", &["v2", "[]", "{}", "3"], "missing field \"apiVersion\""),
    ("kind", "Plugin", &["Other", "[]", "{}", "3"], "missing field \"kind\""),
    ("name", "app", &["[]", "{}", "3"], ""),
    ("version", "1.2.3", &["[]", "{}", "3", "1.2", "latest", "1.2.3+x"], ""),
    ("api", "x1.0", &["[]", "{}", "3", "1.0", "x1"], ""),
    ("runtime", "bash", &["[]", "{}", "'no name'", "''"], "missing field \"runtime\""),
    ("entry", "main.sh", &["[]", "{}", "3", "../x", "/x", "-x"], ""),
    ("protocol", "exec", &["[]", "{}", "3", "grpc"], ""),
    ("format", "json", &["[]", "{}", "3", "toml"], ""),
    ("worker", "true", &["[]", "{}", "3", "maybe"], ""),
    ("permissions", "{network: true}", &["x", "[]", "{all: true}", "{read: [x]}", "{network: 3}"], ""),
    ("generators", "[{apiVersion: a/v1, kind: A}]", &["x", "{}", "[[]]", "[{}]"], ""),
    ("transformers", "[made]", &["x", "{}", "[[]]", "['']"], ""),
    ("validators", "[made]", &["x", "{}", "[[]]", "[{kind: X}]"], ""),
    ("dependencies", "{a: {source: h.io/a/a}}", &["x", "[]", "{a: x}", "{a: {source: x}}"], ""),
];

const COMPONENT: [FieldCase; 5] = [
    ("name", "a", &["[]", "{}", "3"], ""),
    (
        "apiVersion",
        "a/v1",
        &["[]", "{}", "3", "''", "../v1", "a/../v1", "/v1", "a//v1", "'a\\v1'", "\"a\\nv1\""],
        "no apiVersion",
    ),
    ("kind", "A", &["[]", "{}", "3", "''", "..", "a/B", "'a\\B'", "\"A\\e[2J\"", "\"A\\u202e\""], "no kind"),
    ("summary", "It is.", &["[]", "{}", "3"], ""),
    ("schema", "{type: object}", &["[]", "3", "{type: x}", "none.json", "../x"], ""),
];

/// A manifest of some fields, or a component of one, with one field left out or replaced.
pub fn with(cases: &[FieldCase], but: &str, value: Option<&str>) -> String {
    let text = |(name, right, ..): &FieldCase| match (*name == but, value) {
        (true, None) => String::new(),
        (true, Some(value)) => format!("{name}: {value}\n"),
        (false, _) => format!("{name}: {right}\n"),
    };
    cases.iter().map(text).collect()
}

#[test]
fn each_field_of_a_manifest_missing_wrong_huge_and_unknown() {
    let tree = Tree::new("");
    let of_component = |fields: &str| {
        let lines: String = fields.lines().map(|line| format!("  {line}\n")).collect();
        format!("{HEAD}runtime: bash\ngenerators:\n- x: y\n{lines}").replace("- x: y\n  ", "- ")
    };
    // A field that is new is in the table too.
    let unknown = "qqqqqqqqqqqqqqq: 1\n";
    let known = |manifest: &str| {
        tree.write("app/plugin.yaml", manifest);
        known_fields(describe(&tree))
    };
    let of_manifest = known(&format!("{HEAD}{unknown}"));
    assert_eq!(of_manifest, MANIFEST.iter().map(|(name, ..)| (*name).to_owned()).collect());
    assert_eq!(known(&of_component(unknown)), COMPONENT.iter().map(|(name, ..)| (*name).to_owned()).collect());
    for (cases, whole) in [(&MANIFEST[..], &str::to_owned as &dyn Fn(&str) -> String), (&COMPONENT[..], &of_component)]
    {
        let write = |but: &str, value: Option<&str>| tree.write("app/plugin.yaml", &whole(&with(cases, but, value)));
        write("", None);
        describe(&tree).ok();
        for (name, _, wrong, missing) in cases {
            write(name, None);
            match *missing {
                "" => drop(describe(&tree).ok()),
                words => drop(refused(describe(&tree), &[words, "plugin.yaml:"])),
            }
            for value in *wrong {
                write(name, Some(value));
                let said = refused(describe(&tree), &["--> "]);
                assert!(said.contains("app/plugin.yaml:"), "{name}: {value}: {said}");
            }
            write(name, Some(&huge()));
            refused(describe(&tree), &["larger than 1048576 bytes"]);
        }
    }
}

/// A script that prints a description.
fn prints(tree: &Tree, description: &str) -> Run {
    tree.write("say", &format!("#!/bin/sh\ncat <<'END'\n{description}\nEND\n"));
    tree.run(&["plugin", "describe", "./say"])
}

#[test]
fn each_field_of_a_description_missing_wrong_huge_and_unknown() {
    let tree = Tree::new("");
    let component =
        json!({"name": "a", "apiVersion": "a/v1", "kind": "A", "summary": "It is.", "schema": {"type": "object"}});
    let right = json!({
        "version": "1.2.3", "api_version": "x1.0", "sdk_version": "1.0.0", "protocol": "krm", "format": "json",
        "worker": true,
        "permissions": {"network": true}, "generators": [component.clone()], "transformers": [component.clone()],
        "validators": ["a"], "builders": ["a"], "provisioners": ["a"], "post_processors": ["a"],
    });
    // A field that is new is among them.
    let said: Value = serde_json::from_str(&prints(&tree, &right.to_string()).ok()).unwrap();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(keys(&said), keys(&right));
    assert_eq!(keys(&said["generators"][0]), keys(&component));
    assert_eq!(said["generators"], right["generators"]);
    let wrong = [json!(3), json!([[]]), json!([3]), json!({"x": 1}), json!("grpc"), json!(true)];
    for name in keys(&right) {
        let mut other = right.clone();
        other.as_object_mut().unwrap().remove(&name);
        prints(&tree, &other.to_string()).ok();
        other[&name] = Value::Null;
        prints(&tree, &other.to_string()).ok();
        for value in &wrong {
            // Any text will do for some, until the description is held to a file.
            if value.is_string() && name.ends_with("version") || value.is_boolean() && name == "worker" {
                continue;
            }
            other[&name] = value.clone();
            let said = refused(prints(&tree, &other.to_string()), &["printed no description", &name]);
            assert!(said.contains("expected") || name == "permissions", "{said}");
        }
    }
    for name in keys(&component) {
        for value in &wrong {
            let is_right = value.is_string() && name != "schema"
                || name == "schema" && (value.is_boolean() || value.get("x").is_some());
            let mut other = right.clone();
            other["generators"][0][&name] = value.clone();
            match is_right {
                true => drop(prints(&tree, &other.to_string()).ok()),
                false => drop(refused(prints(&tree, &other.to_string()), &["printed no description", "generators[0]"])),
            }
        }
        let mut other = right.clone();
        other["generators"][0].as_object_mut().unwrap().remove(&name);
        match name.as_str() {
            "kind" => drop(refused(
                prints(&tree, &other.to_string()),
                &["generators[0]: it has the apiVersion 'a/v1' and no kind"],
            )),
            "apiVersion" => drop(refused(
                prints(&tree, &other.to_string()),
                &["generators[0]: it has the kind 'A' and no apiVersion"],
            )),
            _ => drop(prints(&tree, &other.to_string()).ok()),
        }
    }
    let paths = ["../v1", "/v1", "v1/", "a/../v1", "a\\v1", "a\nv1", "a\u{1b}[2J", "a\u{202e}v1"];
    for (name, value) in paths.iter().flat_map(|path| [("apiVersion", path), ("kind", path)]) {
        let mut other = right.clone();
        other["generators"][0][name] = (*value).into();
        let said = refused(prints(&tree, &other.to_string()), &["printed no description", "generators[0]"]);
        assert!(said.contains("not a valid file name") || said.contains("cannot be seen"), "{said}");
    }
    let mut more = right.clone();
    more["of_a_newer_host"] = json!({"x": [1]});
    prints(&tree, &more.to_string()).ok();
    more["version"] = huge().into();
    refused(prints(&tree, &more.to_string()), &["printed more than 1048576 bytes"]);
    for text in ["", "[]", "null", "{} {}", "{\"version\": \"1", &"[".repeat(100_000), "\u{feff}{}"] {
        refused(prints(&tree, text), &["printed no description"]);
    }
}

#[test]
fn schemas_that_are_wrong_or_hostile_are_refused_where_they_stand() {
    let mut tree = Tree::new("");
    let files = Files::default();
    files.put("/s.json", "{}");
    let server = files.serve();
    let remote = format!(r#"{{"$ref": "http://{server}/s.json"}}"#);
    let chain: String = (0..20_000).map(|n| format!(r##""d{n}": {{"$ref": "#/$defs/d{}"}}, "##, n + 1)).collect();
    let chain = format!(r##"{{"$ref": "#/$defs/d0", "$defs": {{{chain}"d20000": true}}}}"##);
    let deep = format!("{}1{}", r#"{"not": "#.repeat(100), "}".repeat(100));
    let very_deep = format!("{}1{}", r#"{"not": "#.repeat(100_000), "}".repeat(100_000));
    let patterns: Vec<String> = (0..300).map(|n| format!(r#""p{n}": {{"pattern": "{n}"}}"#)).collect();
    let patterns = format!(r#"{{"properties": {{{}}}}}"#, patterns.join(", "));
    let ten = format!(r#"{{"enum": ["{}"]}}"#, "x".repeat(10 << 20));
    let cases: [(&str, &[&str]); 15] = [
        (r#"{"type": "objct"}"#, &["'objct' is not a type", "did you mean 'object'?"]),
        (r#"{"propertees": {}}"#, &["did you mean 'properties'?"]),
        (r#"{"properties": {"a": 3}}"#, &["/properties/a", "expected a schema"]),
        (
            r##"{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}"##,
            &["leads back to itself"],
        ),
        (r##"{"anyOf": [{"$ref": "#"}]}"##, &["leads back to itself"]),
        (&remote, &["leads out of the schema", "nothing is fetched"]),
        (r#"{"$ref": "file:///etc/passwd"}"#, &["leads out of the schema"]),
        (r#"{"$ref": "other.json"}"#, &["leads out of the schema"]),
        (r#"{"pattern": "^(?=a)b$"}"#, &["look-around"]),
        (r#"{"pattern": "((a{100}){100}){100}"}"#, &["too large"]),
        (&chain, &["more than 10000 subschemas"]),
        (&deep, &["nested more than 64 levels"]),
        (&very_deep, &["is"]),
        (&patterns, &["more than 200 patterns"]),
        (&ten, &["has more than 1048576 bytes"]),
    ];
    let manifest =
        |schema: &str| format!("{HEAD}runtime: bash\ngenerators:\n- apiVersion: a/v1\n  kind: A\n  schema: {schema}\n");
    tree.write("app/main.sh", "");
    tree.variables.insert("RUST_MIN_STACK", "2000000".to_owned());
    for (schema, words) in cases {
        // In a file, in JSON and in YAML.
        tree.write("app/s.json", schema);
        tree.write("app/s.yaml", schema);
        for file in ["s.json", "s.yaml"] {
            tree.write("app/plugin.yaml", &manifest(file));
            let own: &[&str] = if words == ["is"] { &["schema"] } else { words };
            refused(describe(&tree), &[own, &["app/"]].concat());
            tree.run(&["plugin", "package", "app"]).fails_with(own);
        }
        if schema.len() > 1 << 20 {
            continue;
        }
        // In place, and in what a program says.
        tree.write("app/plugin.yaml", &manifest(schema));
        let place: &[&str] = if words == ["is"] { &["plugin.yaml:7:"] } else { &["plugin.yaml:7:", words[0]] };
        refused(describe(&tree), place);
        let description = format!(
            r#"{{"version": "1.0.0", "api_version": "x1.0", "generators": [{{"apiVersion": "a/v1", "kind": "A", "schema": {schema}}}]}}"#
        );
        let own: &[&str] = if words == ["is"] || words == ["nested more than 64 levels"] { &[] } else { words };
        if description.len() < 1 << 20 {
            refused(prints(&tree, &description), &[own, &["printed no description"]].concat());
        }
    }
    assert_eq!(files.asked(), 0, "a schema was fetched");
}

#[test]
fn files_with_schemas_are_the_plugins_own() {
    let tree = Tree::new("");
    let manifest =
        |path: &str| format!("{HEAD}runtime: bash\ngenerators:\n- {{apiVersion: a/v1, kind: A, schema: '{path}'}}\n");
    tree.write("app/main.sh", "");
    tree.write("outside.json", "{}");
    fs::create_dir(tree.path().join("app/folder")).unwrap();
    symlink("../outside.json", tree.path().join("app/link.json")).unwrap();
    symlink("/dev/zero", tree.path().join("app/zero.json")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, tree.path().join("app/pipe"), rustix::fs::Mode::RWXU).unwrap();
    tree.write("app/empty.yaml", "");
    tree.write("app/broken.json", "{\n  \"a\": }");
    fs::write(tree.path().join("app/bytes.json"), [0xff, 0xfe, 0]).unwrap();
    tree.write(
        "app/bomb.yaml",
        &format!(
            "a0: &a0 [x, x]\n{}",
            (1..40).map(|n| format!("a{n}: &a{n} [*a{0}, *a{0}]\n", n - 1)).collect::<String>()
        ),
    );
    for (path, words) in [
        ("none.json", "does not exist"),
        ("../outside.json", "is not in the plugin's directory"),
        ("/etc/passwd", "is not in the plugin's directory"),
        ("folder/../../outside.json", "is not in the plugin's directory"),
        ("link.json", "is a link that leads out"),
        ("zero.json", "is a link that leads out"),
        ("folder", "is not a file"),
        ("pipe", "is not a file"),
        ("empty.yaml", "is empty"),
        ("broken.json", "line 2 column 8"),
        ("bytes.json", "cannot be read"),
        ("bomb.yaml", "bomb.yaml"),
    ] {
        tree.write("app/plugin.yaml", &manifest(path));
        refused(describe(&tree), &[words, "app/"]);
    }
    tree.write("app/own.yaml", "type: object\nproperties:\n  count: {type: intger}\n");
    tree.write("app/plugin.yaml", &manifest("own.yaml"));
    refused(describe(&tree), &["(/properties/count/type)", "app/own.yaml:3:17", "did you mean 'integer'?"]);
}

/// A plugin with a schema that says on stderr that it runs.
fn counting(tree: &Tree, schema: &str) -> Run {
    let generators = format!(r#"[{{"apiVersion": "ex.io/v1", "kind": "Made", "schema": {schema}}}]"#);
    install(
        tree,
        "h.io/acme/app",
        &script_with("1.0.0", "x1.0", &generators, "v").replacen("printf", "echo IT RUNS >&2\nprintf", 1),
    )
}

#[test]
fn an_object_is_held_to_the_schema_before_the_plugin_runs() {
    let tree = Tree::new("-- kustomization.yaml --\ngenerators: [g.yaml]\n");
    counting(&tree, r#"{"additionalProperties": false, "required": ["count"], "properties": {"count": {"type": "integer"}, "password": {"maxLength": 3}}}"#).ok();
    let object = |fields: &str| {
        tree.write("g.yaml", &format!("apiVersion: ex.io/v1\nkind: Made\nmetadata:\n  name: g\n{fields}"))
    };
    object("count: 3\n");
    let run = tree.build(&[]);
    assert!(run.stderr.contains("IT RUNS"), "{}", run.stderr);
    run.ok();
    for (fields, words) in [
        (
            "count: '3'\n",
            &["expected an integer, found a string", "--> g.yaml:5:8", "in field 'count'", "h.io/acme/app"][..],
        ),
        (
            "cuont: 3\n",
            &["2 faults", "g.yaml:5:1: unknown field \"cuont\" (did you mean 'count'?)", "missing field \"count\""],
        ),
        (
            "count: 3\npassword: hunter2\n",
            &["expected at most 3 characters, found 7", "g.yaml:6:11", "in field 'password'"],
        ),
    ] {
        object(fields);
        for args in [&["build", "--enable-alpha-plugins"][..], &["plugin", "run", "g.yaml"]] {
            let said = refused(tree.run(args), words);
            assert!(!said.contains("IT RUNS") && !said.contains("hunter2"), "{said}");
        }
    }
    // An object that a generator makes has the place of its entry.
    tree.write("kustomization.yaml", "generators: [../outer]\n");
    tree.write("../outer/kustomization.yaml", "resources: [g.yaml]\nnameSuffix: -x\n");
    tree.write("../outer/g.yaml", "apiVersion: ex.io/v1\nkind: Made\nmetadata: {name: g}\ncount: x\n");
    refused(tree.build(&["--load-restrictor", "LoadRestrictionsNone"]), &["expected an integer", "outer/g.yaml:4:8"]);
    // A plugin whose schema is not one is not installed.
    refused(counting(&tree, r#"{"type": "x"}"#), &["printed no description", "'x' is not a type"]);
}

#[test]
fn a_pattern_or_a_branching_schema_takes_no_more_than_its_steps() {
    let tree = Tree::new("-- kustomization.yaml --\ngenerators: [g.yaml]\n");
    let object = |text: &str| {
        tree.write("g.yaml", &format!("apiVersion: ex.io/v1\nkind: Made\nmetadata: {{name: g}}\ntext: {text}\n"))
    };
    counting(&tree, r#"{"properties": {"text": {"pattern": "^(([a-z])+.)+[A-Z]([a-z])+$"}}}"#).ok();
    object(&"a".repeat(50_000));
    refused(tree.build(&[]), &["matches the pattern", "g.yaml:4:7"]);
    let defs: String = (0..60)
        .map(|n| format!(r##""d{n}": {{"anyOf": [{{"$ref": "#/$defs/d{0}"}}, {{"$ref": "#/$defs/d{0}"}}]}}, "##, n + 1))
        .collect();
    counting(&tree, &format!(r##"{{"$ref": "#/$defs/d0", "$defs": {{{defs}"d60": false}}}}"##)).ok();
    refused(tree.build(&[]), &["takes too long to check", "tell its author"]);
    object(&format!("{}1{}", "[".repeat(900), "]".repeat(900)));
    refused(tree.build(&[]), &["more than 256 levels"]);
}

#[test]
fn descriptions_from_before_schemas_still_work() {
    let tree = Tree::new(
        "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: Made\nmetadata: {name: g}\n",
    );
    counting(&tree, "null").ok();
    tree.build(&[]).ok();
    let kept = crate::support::files(&tree.home(), ".json")
        .into_iter()
        .find(|path| path.to_string_lossy().contains("describe"))
        .unwrap();
    let text = fs::read_to_string(&kept).unwrap();
    let mut old: Value = serde_json::from_str(&text).unwrap();
    old.as_object_mut().unwrap().remove("format");
    fs::write(&kept, old.to_string()).unwrap();
    tree.build(&[]).ok();
    // A cache that is damaged is asked again, and not believed.
    fs::write(&kept, r#"{"generators": [{"kind": 3}]}"#).unwrap();
    run(&mut tree.command(&["build", "--enable-alpha-plugins"])).ok();
}

#[test]
fn an_error_of_a_manifest_names_the_file_that_the_author_can_edit() {
    let tree = Tree::new("");
    let install = ["plugin", "install", "h.io/acme/app", "--path", "app"];
    tree.write("app/main.sh", "#!/bin/sh\n");
    let file = "app/plugin.yaml";
    let good = with(&MANIFEST, "", None);
    for (text, place, words) in [
        (String::new(), "", "is empty"),
        ("[]\n".to_owned(), ":1:1", "expected a mapping"),
        (with(&MANIFEST, "runtime", None), ":1:1", "missing field \"runtime\""),
        (
            format!("{good}dependencies: {{a: {{}}}}\n").replace("dependencies: {a: {source: h.io/a/a}}\n", ""),
            "",
            "missing field \"source\"",
        ),
    ] {
        tree.write("app/plugin.yaml", &text);
        let said = refused(tree.run(&install), &[words, &format!("{file}{place}")]);
        assert!(!said.contains("staging"), "{said}");
    }
}

#[test]
fn a_plugin_without_the_file_that_its_runtime_runs_is_not_installed() {
    let tree = Tree::new("");
    let manifest = "apiVersion: rustomize.dev/v1\nkind: Plugin\nname: app\nversion: 1.0.0\n";
    let install = |runtime: &str, entry: &str| {
        let rest = format!("runtime: {runtime}\nentry: {entry}\ngenerators: [{{apiVersion: ex.io/v1, kind: Made}}]\n");
        tree.write("app/plugin.yaml", &format!("{manifest}{rest}"));
        tree.run(&["plugin", "package", "app", "-o", "dist"]).fails_with(&["the entry '"]);
        tree.run(&["plugin", "install", "h.io/acme/app", "--path", "app"])
    };
    for runtime in ["bash", "python", "so", "nodejs", "deno", "upper"] {
        install(runtime, "gone").fails_with(&["the entry 'gone' does not exist", &format!("{runtime} runs that file")]);
    }
    install("go", "./gone").fails_with(&["the entry './gone' has no Go file"]);
    // A test is not the plugin.
    tree.write("app/folder/main_test.go", "package main\n");
    install("go", "./folder").fails_with(&["the entry './folder' has no Go file"]);
    install("go", "gone.go").fails_with(&["the entry 'gone.go' has no Go file"]);
    install("bash", "folder").fails_with(&["the entry 'folder' does not exist"]);
}

#[test]
fn node_finds_an_entry_by_its_name_without_the_ending() {
    if crate::support::in_path("node").is_none() {
        return crate::support::skip("no node");
    }
    let tree = Tree::new(
        "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: Made\nmetadata: {name: g}\n",
    );
    let program = "console.log(JSON.stringify({apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'made'}}))\n";
    tree.write("app/main.js", program);
    tree.write("app/lib/index.js", program);
    for entry in ["main.js", "main", "lib", "./lib"] {
        let manifest = format!(
            "{HEAD}name: app\nversion: 1.0.0\nruntime: nodejs\nentry: {entry}\ngenerators: [{{apiVersion: ex.io/v1, kind: Made}}]\n"
        );
        tree.write("app/plugin.yaml", &manifest);
        tree.run(&["plugin", "install", "h.io/acme/app", "--path", "app"]).ok();
        assert!(tree.build(&[]).ok().contains("name: made"), "{entry}");
    }
}
