//! Mistakes and attacks in the files of users: `plugins.yaml`, `plugins.lock`, `trust.yaml` and
//! `environment.yaml`. Each field is left out, of a wrong type, huge and unknown. Each mistake is a
//! clear error: no panic, nothing on stdout.

use crate::hostile_author::{FieldCase, huge, known_fields, refused, with};
use crate::support::plugins::script;
use crate::support::{Run, Tree};
use serde_json::{Value, json};
use std::fs;

/// A form of a file, or of an object in it: its fields, and the whole file around them.
struct Form<'f> {
    fields: &'f [FieldCase],
    whole: &'f dyn Fn(&str) -> String,
}

/// Writes a file with each field of its forms left out, of each wrong value, huge, and with an
/// unknown field. `run` reads the file, and works if it is right.
#[track_caller]
fn each_field(tree: &Tree, file: &str, forms: &[Form<'_>], run: &dyn Fn() -> Run) {
    let place = format!("{}:", file.rsplit('/').next().unwrap());
    for Form { fields, whole } in forms {
        // A field that is new is in the table too.
        tree.write(file, &whole(&format!("qqqqqqqqqqqqqqq: 1\n{}", with(fields, "", None))));
        assert_eq!(known_fields(run()), fields.iter().map(|(name, ..)| (*name).to_owned()).collect());
        let write = |but: &str, value: Option<&str>| tree.write(file, &whole(&with(fields, but, value)));
        write("", None);
        run().ok();
        for (name, _, wrong, missing) in *fields {
            write(name, None);
            match *missing {
                "" => drop(run().ok()),
                words => drop(refused(run(), &[words, &place])),
            }
            for value in *wrong {
                write(name, Some(value));
                let said = refused(run(), &["--> "]);
                assert!(said.contains(&place), "{name}: {value}: {said}");
            }
        }
    }
    // A file that is larger than any file may be; its text is not kept in memory.
    let path = tree.path().join(file);
    fs::File::create(&path).unwrap().set_len(8 << 30).unwrap();
    refused(run(), &["larger than"]);
    fs::remove_file(&path).unwrap();
    tree.write(file, &huge());
    refused(run(), &[&place]);
    fs::write(&path, [b'a', b':', b' ', 0xff, 0xfe, b'\n']).unwrap();
    refused(run(), &[&place[..place.len() - 1]]);
}

/// The fields of an object in a list, below the field of a file.
fn item(head: &str, fields: &str) -> String {
    let lines: String = fields.lines().map(|line| format!("  {line}\n")).collect();
    format!("{head}- x: y\n{lines}").replace("- x: y\n  ", "- ")
}

/// The fields of an object by a name, below the field of a file.
fn named(head: &str, fields: &str) -> String {
    let lines: String = fields.lines().map(|line| format!("    {line}\n")).collect();
    format!("{head}  app:\n{lines}")
}

const KEY: &str = "[RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3]";

#[test]
fn each_field_of_a_trust_file() {
    let tree = Tree::new("");
    let file = [
        ("apiVersion", "rustomize.dev/v1", &["v2", "[]", "{}", "3"][..], "missing field \"apiVersion\""),
        ("kind", "TrustPolicy", &["Other", "[]", "{}", "3"], "missing field \"kind\""),
        ("rules", "[{source: '**'}]", &["x", "{}", "[x]", "[[]]", "[{}]", "3"], ""),
    ];
    let rule = [
        ("source", "'h.io/acme/*'", &["[]", "{}", "3", "''", "x y", "https://h.io/a/b"][..], "a rule has no 'source'"),
        ("from", "'https://h.io/x/**'", &["[]", "{}", "3", "./x"], ""),
        ("deny", "false", &["[]", "{}", "3", "maybe"], ""),
        ("require", "minisign", &["[]", "{}", "3", "gpg", "checksum"], ""),
        ("keys", KEY, &["x", "{}", "[[]]", "[x]", "[3]"], "a signature is required, and 'keys' says whose"),
        ("minReleaseAge", "1h", &["[]", "{}", "3", "soon", "-1h", "99999999999999999999d"], ""),
        ("permissions", "{network: true}", &["x", "[]", "{all: true}", "{read: [x]}", "{network: 3}"], ""),
    ];
    let head = "apiVersion: rustomize.dev/v1\nkind: TrustPolicy\nrules:\n";
    let forms =
        [Form { fields: &file, whole: &str::to_owned }, Form { fields: &rule, whole: &|fields| item(head, fields) }];
    tree.write("app", &script("1.0.0", "app"));
    let trusted = "apiVersion: rustomize.dev/v1\nkind: TrustPolicy\nrules: [{source: '**', from: '**'}]\n";
    tree.write("../home/.config/rustomize/trust.yaml", trusted);
    tree.run(&["plugin", "install", "h.io/acme/app", "--path", "app"]).ok();
    each_field(&tree, "../home/.config/rustomize/trust.yaml", &forms, &|| tree.run(&["plugin", "list", "-o", "json"]));
}

#[test]
fn each_field_of_a_requirements_file() {
    let tree = Tree::new("");
    let file = [
        ("apiVersion", "rustomize.dev/v1", &["v2", "[]", "{}", "3"][..], "missing field \"apiVersion\""),
        ("kind", "PluginRequirements", &["Other", "[]", "{}", "3"], "missing field \"kind\""),
        ("requires", "{app: {source: h.io/a/app}}", &["x", "[]", "{app: x}", "{app: {}}", "{app: {source: x}}"], ""),
    ];
    let requirement = [
        ("source", "h.io/acme/app", &["[]", "{}", "3", "''", "H.io/a/b", "https://h.io/a/b"][..], "missing field"),
        ("version", "'~> 1.2'", &["[]", "{}", "x", "'1.2.3.4'", "'>= 1.x'"], ""),
        ("from", "'https://h.io/app'", &["[]", "{}", "3", "'ftp://h.io/app'", "'http://h.io/app'"], ""),
        ("parameters", "{a: 1}", &["x", "[]", "3"], ""),
        ("provides", "[{apiVersion: a/v1, kind: A}]", &["x", "{}", "[x]", "[[]]", "[{a: b}]"], ""),
    ];
    let head = "apiVersion: rustomize.dev/v1\nkind: PluginRequirements\nrequires:\n";
    let forms = [
        Form { fields: &file, whole: &str::to_owned },
        Form { fields: &requirement, whole: &|fields| named(head, fields) },
    ];
    each_field(&tree, "plugins.yaml", &forms, &|| tree.run(&["plugin", "list", "-o", "json"]));
}

#[test]
fn each_field_of_an_environment() {
    let tree = Tree::new("-- kustomization.yaml --\nresources: []\n");
    let file = [
        ("apiVersion", "rustomize.dev/v1", &["v2", "[]", "{}", "3"][..], "missing field \"apiVersion\""),
        ("kind", "Environment", &["Other", "[]", "{}", "3"], "missing field \"kind\""),
        ("modulePath", "[modules]", &["x", "{}", "[[]]", "[{a: b}]", "[3]"], ""),
        ("sync", "'https://h.io'", &["[]", "{}", "3"], ""),
    ];
    let forms = [Form { fields: &file, whole: &str::to_owned }];
    each_field(&tree, "../home/.config/rustomize/environments/default/environment.yaml", &forms, &|| {
        tree.run(&["plugin", "list", "-o", "json"])
    });
}

/// A value of a lock file, and the way to it.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    let below: Vec<(String, &Value)> = match value {
        Value::Object(fields) => {
            // A source and an image have slashes in their names.
            fields.iter().map(|(name, value)| (name.replace('~', "~0").replace('/', "~1"), value)).collect()
        }
        Value::Array(items) => items.iter().enumerate().map(|(i, value)| (i.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    for (name, value) in below {
        let place = format!("{at}/{name}");
        places(value, &place, found);
        found.push(place);
    }
}

/// The type of a JSON value.
fn kind(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}

#[test]
fn each_field_of_a_lock() {
    let tree = Tree::new(
        "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: Made\nmetadata: {name: g}\n",
    );
    tree.write(
        "app/plugin.yaml",
        "apiVersion: rustomize.dev/v1\nkind: Plugin\nname: app\nversion: 1.0.0\nruntime: bash\n\
         generators: [{apiVersion: ex.io/v1, kind: Made}]\npermissions: {env: [LANG]}\n\
         dependencies: {other: {source: h.io/acme/other, from: ../other}}\n",
    );
    tree.write("app/main.sh", "printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\n'\n");
    tree.write("other", &script("1.0.0", "other"));
    crate::support::plugins::require(&tree, "{app: {source: h.io/acme/app, from: ./app, parameters: {a: b}}}");
    tree.run(&["plugin", "install"]).ok();
    let build = || tree.build(&["--frozen", "--plugin-allow-env", "LANG"]);
    build().ok();
    let path = tree.path().join("plugins.lock");
    let mut right: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    right["images"] = json!({"nginx:1": format!("sha256:{}", "0".repeat(64))});
    // A field with its value, in an object that may lack it.
    let optional = [
        "images",
        "from",
        "origin",
        "parameters",
        "runtime",
        "permissions",
        "dependencies",
        "archive",
        "role",
        "name",
        "apiVersion",
        "kind",
        "env",
    ];
    let refused = |what: &str| {
        let run = build();
        assert!(!run.stderr.contains("panicked"), "{what}: {}", run.stderr);
        run.fails_with(&["plugins.lock"])
    };
    let mut all = Vec::new();
    places(&right, "", &mut all);
    assert!(all.len() > 30, "{all:?}");
    for place in all {
        let (parent, name) = place.rsplit_once('/').unwrap();
        let was = right.pointer(&place).unwrap().clone();
        for value in [json!(null), json!(true), json!(3), json!("x"), json!(["x"]), json!({"x": 1})] {
            let mut other = right.clone();
            *other.pointer_mut(&place).unwrap() = value.clone();
            fs::write(&path, other.to_string()).unwrap();
            if value.is_null() && optional.contains(&name) {
                build();
            } else if kind(&value) == kind(&was) {
                // A value of the right type may be wrong: it is an error then, and no panic.
                let run = build();
                assert!(matches!(run.status, Some(0 | 1)) && !run.stderr.contains("panicked"), "{}", run.stderr);
            } else {
                let said = refused(&format!("{place}: {value}"));
                assert!(said.contains("is not a valid lock file"), "{place}: {value}: {said}");
            }
        }
        let mut other = right.clone();
        let Some(object) = other.pointer_mut(parent).unwrap().as_object_mut() else { continue };
        let key = name.replace("~1", "/").replace("~0", "~");
        object.remove(&key);
        fs::write(&path, other.to_string()).unwrap();
        let is_named = ["/plugins", "/images"].contains(&parent) || parent.ends_with("/platforms");
        match is_named || optional.contains(&name) {
            true => assert!(!build().stderr.contains("panicked"), "{place}"),
            false => assert!(refused(&place).contains(&format!("missing field `{key}`")), "{place}"),
        }
        if !is_named {
            let mut other = right.clone();
            other.pointer_mut(parent).unwrap()["qqq"] = json!(1);
            fs::write(&path, other.to_string()).unwrap();
            assert!(refused(parent).contains("unknown field `qqq`"), "{parent}");
        }
    }
    fs::write(&path, format!("{right}{right}")).unwrap();
    refused("twice");
    fs::write(&path, "[".repeat(100_000)).unwrap();
    refused("deep");
    fs::File::create(&path).unwrap().set_len(8 << 30).unwrap();
    refused("huge");
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    refused("endless");
    fs::remove_file(&path).unwrap();
    fs::write(&path, right.to_string()).unwrap();
    build().ok();
}
