//! New plugins: in each language and role, a plugin goes round the author's circle
//! (`tests/author_circle.rs`); and what an SDK and `format: json` promise to authors.

use crate::author_circle::{circle, new_and_tested};
use crate::support::{Run, Tree, run, skip};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROLES: [&str; 3] = ["generator", "transformer", "validator"];

#[expect(clippy::disallowed_methods, reason = "where the tools of other languages are")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// True if all programs are in PATH; else says which one is missing.
#[track_caller]
fn has(programs: &[&str]) -> bool {
    match programs.iter().find(|program| !is_in_path(program)) {
        Some(name) => skip(&format!("no {name}")),
        None => return true,
    }
    false
}

fn is_in_path(program: &str) -> bool {
    let path = variable("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// A program of another language, with the tree's home and with the tools' own places. The tool
/// itself is the first in PATH.
fn tool(tree: &Tree, program: &str) -> Command {
    #[expect(clippy::disallowed_methods, reason = "the tools that authors of plugins use")]
    let mut command = Command::new(program);
    let own = Path::new(crate::support::program()).parent().unwrap();
    command.env("PATH", format!("{}:{}", own.display(), variable("PATH").unwrap_or_default()));
    command.env("HOME", tree.home()).env("TMPDIR", tree.tmp()).env_remove("CI").current_dir(tree.path());
    let home = PathBuf::from(variable("HOME").unwrap_or_default());
    for (name, below) in [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo"), ("PYENV_ROOT", ".pyenv")] {
        if variable(name).is_none() && home.join(below).is_dir() {
            command.env(name, home.join(below));
        }
    }
    // Compiled files are kept for the next run of the tests.
    command.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("new-plugins"));
    if is_in_path("go") {
        command.envs(crate::support::go::variables());
    }
    // A plugin is compiled without optimizations, and the crates that it needs are there.
    command.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0").env("CARGO_NET_OFFLINE", "true");
    command
}

/// Makes a new plugin of each role, which goes round the author's circle. A circle in Go compiles
/// Go's library five times, in caches that installations do not share: with `RUSTOMIZE_CIRCLE=all`
/// each role goes round, otherwise one does.
fn each_role_passes(language: &str) -> Tree {
    let tree = Tree::new("");
    let is_all = language != "go" || variable("RUSTOMIZE_CIRCLE").is_some_and(|value| value == "all");
    for role in ROLES {
        match is_all || role == "transformer" {
            true => circle(&tree, language, role),
            false => new_and_tested(&tree, language, role),
        }
    }
    tree
}

/// Runs the `test.sh` of a new plugin.
pub fn own_test(tree: &Tree, name: &str) -> Run {
    run(tool(tree, "bash").arg(tree.path().join(name).join("test.sh")))
}

/// The description that a plugin prints through its SDK.
fn described(mut describe: Command) -> serde_json::Value {
    serde_json::from_str(&run(&mut describe).ok()).unwrap()
}

/// The description of a new transformer, in every SDK.
fn assert_describes_a_transformer(said: &serde_json::Value) {
    let component = &said["transformers"][0];
    assert_eq!(said["version"], "0.2.0", "the circle ends with this version");
    assert_eq!(said["api_version"], "x1.0");
    assert_eq!(said.get("generators"), None);
    assert_eq!(component["kind"], "TeamTransformer");
    assert_eq!(component["apiVersion"], "example.com/v1");
    assert_eq!(component["summary"], "Sets the label team on all resources.");
    let schema = &component["schema"];
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let doc = "The team that owns the resources.";
    assert_eq!(schema["properties"]["team"], serde_json::json!({"type": "string", "description": doc}));
    assert_eq!(schema["properties"]["kind"], serde_json::json!({"const": "TeamTransformer"}));
    assert_eq!(schema["additionalProperties"], false);
    let mut required: Vec<&str> = schema["required"].as_array().unwrap().iter().filter_map(|r| r.as_str()).collect();
    required.sort_unstable();
    assert_eq!(required, ["apiVersion", "kind", "team"]);
}

#[test]
fn new_plugins_in_bash_pass_their_tests() {
    if !has(&["bash", "jq"]) {
        return;
    }
    let tree = each_role_passes("bash");
    // The tests can fail: by another result, and by a validator that takes everything.
    tree.write("team-generator/example/expected.yaml", "apiVersion: v1\n");
    let failed = own_test(&tree, "team-generator");
    assert!(failed.status == Some(1) && failed.stdout.contains("message: Hello"), "{}", failed.stdout);
    tree.write("team-validator/plugin/main.sh", "#!/bin/sh\n");
    let failed = own_test(&tree, "team-validator");
    assert!(failed.status == Some(1) && failed.stdout.contains("accepted example/refused.yaml"), "{}", failed.stdout);
    // A value stays a value, whatever its text: no part becomes YAML or a part of the program.
    let odd = "\"; .x = 1 # \\u2028\": {'";
    let object = "apiVersion: example.com/v1\nkind: TeamTransformer\nmetadata: {name: t}\nteam: ";
    tree.write("team-transformer/example/object.yaml", &format!("{object}{}\n", serde_json::json!(odd)));
    let built = tree.run(&["build", "--enable-alpha-plugins", "team-transformer/example"]).ok();
    assert_eq!(built.matches("    team: '\"; .x = 1 # \\u2028\": {'''\n").count(), 2, "{built}");
}

#[test]
fn new_plugins_in_python_pass_their_tests() {
    if !has(&["bash", "python3"]) {
        return;
    }
    let tree = each_role_passes("python");
    let mut describe = tool(&tree, "python3");
    describe.args(["-B", "team-transformer/plugin/main.py", "describe"]);
    assert_describes_a_transformer(&described(describe));
}

#[test]
fn new_plugins_in_go_pass_their_tests() {
    if !has(&["bash", "go"]) {
        return;
    }
    let tree = each_role_passes("go");
    let mut describe = tool(&tree, "go");
    describe.args(["run", ".", "describe"]).current_dir(tree.path().join("team-transformer/plugin"));
    assert_describes_a_transformer(&described(describe));
    let mut formatted = tool(&tree, "gofmt");
    assert_eq!(run(formatted.args(["-l", "."])).ok(), "");
}

#[test]
fn new_plugins_in_rust_pass_their_tests() {
    if !has(&["bash", "cargo"]) {
        return;
    }
    // Cargo has fetched the crates that the SDK needs.
    crate::sdk::team_label();
    let tree = each_role_passes("rust");
    let program = tree.path().join("team-transformer/bin/team-transformer");
    let mut describe = tool(&tree, &program.to_string_lossy());
    describe.arg("describe");
    assert_describes_a_transformer(&described(describe));
}

/// The dependencies in a manifest, without those that are this project's, and without comments.
fn dependencies(manifest: &str) -> Vec<String> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(manifest)).unwrap();
    let tables = text.split("\n[").filter(|table| table.split(']').next().unwrap().ends_with("dependencies"));
    let lines = tables.filter(|table| !table.starts_with("dev-")).flat_map(str::lines).skip(1);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with(['#', '[']));
    lines.filter(|line| !line.starts_with("rustomize-")).map(str::to_owned).collect()
}

#[test]
fn the_sdk_of_new_plugins_in_rust_is_the_one_that_is_tested() {
    for (laid, tested) in [
        ("plugin/sdk/rust/Cargo.toml.in", "plugin/sdk/crate/Cargo.toml"),
        ("plugin/sdk/rust/abi/Cargo.toml.in", "plugin/abi/Cargo.toml"),
    ] {
        assert!(!dependencies(laid).is_empty() && dependencies(laid) == dependencies(tested), "{laid}");
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = root.join("plugin/new/rust/Cargo.lock.in");
    let (found, wanted) = (fs::read_to_string(&file).unwrap(), lock_of_new_plugins());
    if variable("UPDATE").is_some() {
        fs::write(&file, &wanted).unwrap();
    } else {
        assert!(found == wanted, "{} differs: write it with UPDATE=1", file.display());
    }
    // The tool has every source, of both crates.
    let tree = Tree::new("");
    tree.run(&["plugin", "new", "label", "--lang", "rust"]).ok();
    for (laid, own) in [("sdk/src", "plugin/sdk/rust/src"), ("sdk/abi/src", "plugin/abi/src")] {
        let names = |folder: PathBuf| {
            let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        assert_eq!(names(tree.path().join("label").join(laid)), names(root.join(own)));
    }
}

/// The part of this workspace's lock that the example in Rust needs, which depends on what a new
/// plugin depends on.
fn lock_of_new_plugins() -> String {
    let lock = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock")).unwrap();
    let mut packages = lock.split("\n\n");
    let head = packages.next().unwrap();
    let field = |package: &str, name: &str| {
        let line = package.lines().find_map(|line| line.strip_prefix(&format!("{name} = \"")).map(str::to_owned));
        line.unwrap().trim_end_matches('"').to_owned()
    };
    let known: Vec<((String, String), &str)> =
        packages.map(|text| ((field(text, "name"), field(text, "version")), text.trim_end())).collect();
    let mut wanted = BTreeMap::new();
    let mut queue = vec!["team-label".to_owned()];
    while let Some(dependency) = queue.pop() {
        let (name, version) = dependency.split_once(' ').unwrap_or((&dependency, ""));
        let is_it =
            |known: &&((String, String), &str)| known.0.0 == name && (version.is_empty() || known.0.1 == version);
        let (id, text) = known.iter().find(is_it).unwrap();
        // A lock has what the tests of the workspace's crates need, too.
        let mut text = (*text).to_owned();
        if name.starts_with("rustomize-plugin") {
            text = text.replace(" \"tempfile\",\n", "").replace(" \"k8s-openapi\",\n", "");
            text = text.replace(&format!("version = \"{}\"", id.1), "version = \"@VERSION@\"");
        }
        if let Entry::Vacant(place) = wanted.entry(id) {
            let needs = text.lines().filter_map(|line| line.strip_prefix(" \"")?.strip_suffix("\","));
            queue.extend(needs.map(str::to_owned));
            place.insert(text);
        }
    }
    let texts = wanted.into_iter().filter(|(id, _)| id.0 != "team-label").map(|(_, text)| text);
    [head.to_owned()].into_iter().chain(texts).collect::<Vec<_>>().join("\n\n") + "\n"
}

#[test]
fn new_plugins_in_c_pass_their_tests() {
    if !has(&["bash", "cc", "pkg-config"]) {
        return;
    }
    let tree = Tree::new("");
    if run(tool(&tree, "pkg-config").args(["--exists", "yaml-0.1"])).status != Some(0) {
        skip("no libyaml that pkg-config knows");
        return;
    }
    let tree = each_role_passes("c");
    // Values keep their types, and comments nothing breaks.
    let object = "apiVersion: example.com/v1\nkind: TeamTransformer\nmetadata: {name: t}\nteam: \"12\" # text\n";
    tree.write("team-transformer/example/object.yaml", object);
    let built = tree.run(&["build", "--enable-alpha-plugins", "team-transformer/example"]).ok();
    assert_eq!(built.matches("    team: \"12\"\n").count(), 2, "{built}");
    tree.write("team-transformer/example/object.yaml", &object.replace("team: \"12\"", "team: [a]"));
    let refused = tree.run(&["build", "--enable-alpha-plugins", "team-transformer/example"]);
    refused.fails_with(&["team-transformer/example/object.yaml"]);
}

#[test]
fn the_commands_of_the_page_on_writing_plugins_work() {
    if !has(&["bash", "python3"]) {
        return;
    }
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/plugin/write.md")).unwrap();
    let blocks: Vec<&str> =
        page.split("```console\n").skip(1).map(|after| after.split("```").next().unwrap()).collect();
    let [start, kustomization, shared_object, bundle] = blocks[..] else {
        panic!("the page has {} blocks", blocks.len())
    };
    let tree = Tree::new(
        "-- app/kustomization.yaml --\nresources: [cm.yaml]\ntransformers: [team.yaml]\n\
         -- app/cm.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n\
         -- app/team.yaml --\napiVersion: example.com/v1\nkind: TeamLabel\nmetadata: {name: t}\nteam: blue\n",
    );
    let shell = |folder: &str, commands: &str| {
        let mut bash = tool(&tree, "bash");
        run(bash.args(["-euo", "pipefail", "-c", commands]).current_dir(tree.path().join(folder))).ok()
    };
    assert!(shell("", start).ends_with("ok\n"));
    assert!(shell("", bundle).ends_with("ok\n"));
    assert!(shell("app", kustomization).ends_with("  labels:\n    team: blue\n  name: a\n"));
    // The example in Rust has this name and is in the directory of the tool.
    crate::sdk::team_label();
    shell("", shared_object);
    let manifest = fs::read_to_string(tree.path().join("plugin.yaml")).unwrap();
    assert!(manifest.contains("entry: libteam_label.so\n") && manifest.contains("kind: TeamLabel\n"), "{manifest}");
}

#[test]
fn a_new_plugin_appears_whole_or_not_at_all() {
    let tree = Tree::new("-- file --\n");
    let nothing_new = |names: &[&str]| {
        let mut left: Vec<String> = fs::read_dir(tree.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        left.sort();
        assert_eq!(left, names);
    };
    tree.run(&["plugin", "new", "Team"]).fails_with(&["invalid plugin name 'Team'", "as in team-label"]);
    tree.run(&["plugin", "new", "self"]).fails_with(&["'self' has a meaning", "team-self"]);
    tree.run(&["plugin", "new", "file"]).fails_with(&["'file' already exists"]);
    tree.run(&["plugin", "new", "file/x"]).fails_with(&["cannot write 'file/x'"]);
    for flags in [["--lang", "cobol"], ["--role", "dancer"]] {
        let refused = tree.run(&["plugin", "new", "x", flags[0], flags[1]]);
        assert!(refused.status != Some(0) && refused.stdout.is_empty());
        assert!(refused.stderr.contains(&format!("invalid value '{}'", flags[1])), "{}", refused.stderr);
    }
    nothing_new(&["file"]);
    // No more than 512 bytes in a file, as on a disk that is full.
    let command =
        format!("trap '' XFSZ; ulimit -f 1; exec {} plugin new full --lang python", crate::support::program());
    run(tool(&tree, "bash").args(["-c", &command])).fails_with(&["cannot write 'full'", "File too large"]);
    nothing_new(&["file"]);
    tree.run(&["plugin", "new", "deep/er/team-label"]).ok();
    assert!(tree.path().join("deep/er/team-label/test.sh").is_file());
    tree.run(&["plugin", "new", "deep/er/team-label"]).fails_with(&["already exists"]);
}

#[test]
fn the_python_sdk_makes_a_schema_of_types() {
    if !has(&["python3"]) {
        return;
    }
    let tree = Tree::new(PYTHON_TYPES);
    let sdk = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin/sdk/python");
    let main = |args: &[&str]| {
        let mut python = tool(&tree, "python3");
        python.args(["-B", "main.py"]).args(args).env("PYTHONPATH", &sdk).env_remove("RUSTOMIZE_PLUGIN_ROLE");
        python
    };
    let said = described(main(&["describe"]));
    let schema = &said["generators"][0]["schema"];
    assert_eq!(said["generators"], said["validators"]);
    assert_eq!(
        schema["properties"]["inner"],
        serde_json::json!({
            "type": "array", "description": "More of them.", "items": {
                "type": "object", "additionalProperties": false, "required": ["on"],
                "properties": {"on": {"type": "boolean"}, "way": {"enum": ["up", "down"]}, "self": {"type": "array", "items": {}}},
            },
        })
    );
    assert_eq!(
        schema["properties"]["sizes"],
        serde_json::json!({
            "type": "object", "additionalProperties": {"type": "integer"},
        })
    );
    assert_eq!(schema["required"], serde_json::json!(["apiVersion", "kind", "inner"]));
    // The plugin gets objects of its types, also out of YAML where there is a reader for it.
    let config = r#"{"metadata": {"name": "n"}, "inner": [{"on": true, "self": [{"on": false}]}], "sizes": {"a": 7}}"#;
    tree.write("config", config);
    let mut generate = main(&["config"]);
    generate.env("KUSTOMIZE_PLUGIN_MODE", "generate");
    assert_eq!(run(&mut generate).ok(), "{\"n\": [true, false, 7]}\n");
    tree.write("config", "inner: [\n");
    let failed = run(&mut generate);
    assert!(failed.status == Some(1) && failed.stdout.is_empty(), "{}", failed.stderr);
    // An error of the plugin is a sentence, and nothing of Python's.
    tree.write("config", &config.replace("\"n\"", "\"wrong\""));
    let failed = run(&mut generate);
    assert_eq!((failed.status, failed.stderr.as_str()), (Some(1), "Error: not this name\n"));
    // A file that is called as the argument `describe` is.
    tree.write("describe", config);
    assert!(run(main(&["./describe"]).env("KUSTOMIZE_PLUGIN_MODE", "generate")).ok().contains("\"n\""));
}

const PYTHON_TYPES: &str = r#"
-- main.py --
from dataclasses import dataclass, field
from typing import Annotated, Dict, List, Literal, Optional
import rustomize_plugin

@dataclass
class Inner:
    on: bool
    way: Optional[Literal["up", "down"]] = None
    self: List["Inner"] = field(default_factory=list)

@dataclass
class All(rustomize_plugin.Plugin):
    """Everything."""
    API_VERSION = "example.com/v1"
    inner: Annotated[List[Inner], "More of them."]
    sizes: Optional[Dict[str, int]] = None

    def generate(self, call):
        if call.name == "wrong":
            raise rustomize_plugin.Error("not this name")
        inner = self.inner[0]
        return [{call.name: [inner.on, inner.self[0].on, self.sizes["a"]]}]

    def validate(self, call, resources):
        pass

rustomize_plugin.main(All)
"#;

#[test]
fn the_go_sdk_makes_a_schema_of_types() {
    if !has(&["go"]) {
        return;
    }
    let tree = Tree::new(GO_TYPES);
    let sdk = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin/sdk/go/rustomize.go");
    fs::create_dir(tree.path().join("rustomize")).unwrap();
    fs::copy(sdk, tree.path().join("rustomize/rustomize.go")).unwrap();
    run(tool(&tree, "go").args(["build", "-o", "all", "."])).ok();
    let program = tree.path().join("all");
    let main = |args: &[&str]| {
        let mut all = tool(&tree, &program.to_string_lossy());
        all.args(args);
        all
    };
    let said = described(main(&["describe"]));
    let schema = &said["transformers"][0]["schema"];
    assert_eq!(
        schema["properties"]["inner"],
        serde_json::json!({
            "type": "array", "description": "More of them.", "items": {
                "type": "object", "additionalProperties": false, "required": ["shared", "on", "self"],
                "properties": {
                    "on": {"type": "boolean"}, "any": {}, "self": {"type": "array", "items": {}}, "shared": {"type": "number"},
                },
            },
        })
    );
    assert_eq!(schema["required"], serde_json::json!(["apiVersion", "kind", "inner"]));
    assert_eq!(schema["properties"]["sizes"]["additionalProperties"], serde_json::json!({"type": "integer"}));
    tree.write("config", r#"{"metadata": {"name": "n"}, "inner": [{"on": true}]}"#);
    tree.write("resources", "{\"a\": 18446744073709551615, \"b\": \"<&>\", \"c\": 1.50}\n{\"kind\": \"B\"}\n");
    let mut transform = main(&["config"]);
    let stdin = || fs::File::open(tree.path().join("resources")).unwrap();
    transform.env("KUSTOMIZE_PLUGIN_MODE", "transform").stdin(stdin());
    let printed = run(&mut transform).ok();
    let want = "{\"a\":18446744073709551615,\"b\":\"<&>\",\"c\":1.50,\"x\":{\"y\":true}}\n{\"kind\":\"B\",\"x\":{\"y\":true}}\n";
    assert_eq!(printed, want, "numbers keep their digits, texts their signs");
    let failed = run(main(&["config"]).env("RUSTOMIZE_PLUGIN_ROLE", "generator").stdin(stdin()));
    assert_eq!((failed.status, failed.stderr.as_str()), (Some(1), "Error: All is not a generator\n"));
    tree.write("config", "kind: All\n");
    let failed = run(transform.stdin(stdin()));
    assert!(failed.status == Some(1) && failed.stderr.contains("rustomize plugin add"), "{}", failed.stderr);
}

const GO_TYPES: &str = r#"
-- go.mod --
module example.com/all

go 1.21
-- main.go --
package main

import "example.com/all/rustomize"

type Shared struct {
	Shared float64 `json:"shared"`
}

type Inner struct {
	Shared
	On   bool    `json:"on"`
	Any  any     `json:"any,omitempty"`
	Self []Inner `json:"self"`
	none string
}

type All struct {
	Inner []Inner         `json:"inner" doc:"More of them."`
	Sizes *map[string]int `json:"sizes"`
	Not   string          `json:"-"`
}

func (a *All) Transform(_ rustomize.Call, resources []rustomize.Object) ([]rustomize.Object, error) {
	for _, resource := range resources {
		resource.Map("x")["y"] = a.Inner[0].On
	}
	return resources, nil
}

func main() {
	rustomize.Main(rustomize.Plugin{Version: "1.0.0", APIVersion: "example.com/v1", Kind: "All"}, &All{})
}
"#;

const JSON_MANIFEST: &str = "apiVersion: rustomize.dev/v1\nkind: Plugin\nname: echo\nversion: 1.0.0\nruntime: bash\nformat: json\n\
    transformers: [{apiVersion: ex.io/v1, kind: Echo}]\nvalidators: [{apiVersion: ex.io/v1, kind: Echo}]\n";

/// A kustomization with one resource and a plugin that speaks JSON.
fn echo(field: &str, resource: &str, script: &str) -> Tree {
    let tree = Tree::new(
        "-- object.yaml --\napiVersion: ex.io/v1\nkind: Echo\nmetadata: {name: e}\nflag: yes\ndate: 2020-01-01\n\
         -- plugins.yaml --\napiVersion: rustomize.dev/v1\nkind: PluginRequirements\nrequires: {echo: {source: h.io/acme/echo, from: ./plugin}}\n",
    );
    tree.write("kustomization.yaml", &format!("resources: [r.yaml]\n{field}: [object.yaml]\n"));
    tree.write("r.yaml", resource);
    tree.write("plugin/plugin.yaml", JSON_MANIFEST);
    tree.write("plugin/main.sh", script);
    tree
}

const ODD: &str = "apiVersion: v1
data:
  date: 2020-01-01
  text: \"12\"
  word: \"yes\"
kind: A
metadata:
  annotations:
    a: |
      ---
      two
  name: a
spec:
  big: 18446744073709551615
  float: 1.50
  large: 1e+30
  none: null
  octal: 0x1F
  sign: '<&> é'
  truth: true
";

#[test]
fn values_come_back_from_a_plugin_that_speaks_json() {
    if !has(&["bash"]) {
        return;
    }
    for field in ["transformers", "validators"] {
        let tree = echo(field, ODD, "#!/bin/sh\nexec cat\n");
        let built = tree.build(&[]).ok();
        // JSON has neither dates nor other digits. kustomize, too, prints the resources of a layer
        // with validators by way of JSON, and its dates are times.
        let date = if field == "validators" { "\"2020-01-01T00:00:00Z\"" } else { "\"2020-01-01\"" };
        let want = ODD.replace("date: 2020-01-01", &format!("date: {date}"));
        let want = want.replace("1.50", "1.5").replace("0x1F", "31").replace("'<&> é'", "<&> é");
        assert_eq!(built, want, "{field}");
    }
    let changes = "#!/bin/sh\nsed 's/1.50/1.25/'\n";
    echo("validators", ODD, changes).build(&[]).fails_with(&["validator shouldn't modify", "it changed A a"]);
    let adds = "#!/bin/sh\nexec sed 's/\"name\":\"a\"/\"name\":\"a\",\"labels\":{\"validated-by\":\"me\"}/'\n";
    let plain = "apiVersion: v1\nkind: A\nmetadata:\n  name: a\n";
    assert!(echo("validators", plain, adds).build(&[]).ok().contains("    validated-by: me\n"));
}

#[test]
fn a_plugin_that_speaks_json_gets_one_object_in_a_line() {
    if !has(&["bash"]) {
        return;
    }
    let two = format!("{ODD}---\n# a comment\napiVersion: v1\nkind: B\nmetadata: {{name: b}}\n");
    let script = "#!/bin/sh\ncat \"$1\" >&2\ncat >&2\nexit 1\n";
    let said = echo("transformers", &two, script).build(&[]).fails_with(&["'bash' failed"]);
    let lines: Vec<serde_json::Value> =
        said.lines().filter_map(|line| serde_json::from_str(line.trim_start()).ok()).collect();
    let [config, a, b, ..] = &lines[..] else { panic!("{said}") };
    assert_eq!(
        (&config["kind"], &config["flag"], &config["date"]),
        (&"Echo".into(), &"yes".into(), &"2020-01-01".into())
    );
    assert_eq!((&a["kind"], &a["spec"]["big"]), (&"A".into(), &u64::MAX.into()));
    assert_eq!(b["kind"], "B");
}

#[test]
fn a_plugin_that_speaks_json_prints_nothing_else() {
    if !has(&["bash"]) {
        return;
    }
    let cases: [(&str, &[&str]); 5] = [
        (
            "printf 'apiVersion: v1\\n'",
            &["the output of plugin", "is not valid JSON", "line 1 column 1", "format: json"],
        ),
        ("printf '{\"kind\": \"A\"'", &["is not valid JSON", "EOF"]),
        ("printf '\\377'", &["not valid UTF-8 at byte 0"]),
        ("echo '[1]'", &["reading what the plugin printed"]),
        ("head -c 100000 /dev/zero | tr '\\0' '['", &["is not valid JSON", "recursion limit"]),
    ];
    for (script, words) in cases {
        echo("transformers", ODD, &format!("#!/bin/sh\n{script}\n")).build(&[]).fails_with(words);
    }
    // In lines or not, and with the escapes of JSON.
    let printed = r#"{"apiVersion": "v1", "kind": "A",
        "metadata": {"name": "\ud83d\ude00\u0041\/"}}{"apiVersion":"v1","kind":"B","metadata":{"name":"b"}}"#;
    let built = echo("transformers", ODD, &format!("#!/bin/sh\ncat <<'END'\n{printed}\nEND\n")).build(&[]).ok();
    assert!(built.contains("name: \"\\U0001F600A/\"\n") && built.contains("kind: B\n"), "{built}");
    assert_eq!(echo("transformers", ODD, "#!/bin/sh\n").build(&[]).ok(), "");
}

#[test]
fn a_plugin_is_told_its_role() {
    for (field, role, mode) in [
        ("generators", "generator", "generate"),
        ("transformers", "transformer", "transform"),
        ("validators", "validator", "transform"),
    ] {
        let tree = Tree::new("-- object.yaml --\napiVersion: ex.io/v1\nkind: Role\nmetadata: {name: r}\n");
        tree.write("kustomization.yaml", &format!("{field}: [object.yaml]\n"));
        tree.plugin("Role", "#!/bin/sh\necho \"as $RUSTOMIZE_PLUGIN_ROLE, $KUSTOMIZE_PLUGIN_MODE\" >&2\nexit 1\n");
        tree.build(&[]).fails_with(&[&format!("as {role}, {mode}")]);
    }
}
