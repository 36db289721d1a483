//! Values of charts: `valuesInline`, a values file, and the file that kustomize gives helm. A
//! stand-in for helm copies that file.
//!
//! testdata/generator/values.jsonl holds recorded ones: `UPDATE=1 cargo test --test main values`
//! records them again, from the server that `.ci/oracle` builds. Where the server is,
//! `RUSTOMIZE_VALUES=5000 RUSTOMIZE_SEED=1 cargo test --test main values::random` compares that many
//! new ones.

use super::reference::{CRASH, Server};
use super::{Outcome, number, shown};
use fastrand::Rng;
use rustomize::load::{Disk, HelmProgram};
use rustomize::{HelmOptions, Options, Workspace, build};
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// How many cases are recorded.
const RECORDED: usize = 400;

/// Copies its values file into the chart, whose directory is its third argument.
const HELM: &str = r#"#!/bin/sh
case $1 in
version) echo v3.17.0;;
*)
  chart=$3
  while [ $# -gt 0 ]; do [ "$1" = -f ] && cp "$2" "$chart/given"; shift; done
  printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n';;
esac
"#;

/// Values in two places.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Case {
    merge: String,
    inline: String,
    file: String,
    /// The values file of helm; an error if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    given: Option<String>,
}

/// A directory with a chart and a stand-in for helm.
struct Bench {
    directory: TempDir,
    server: Option<Server>,
}

impl Bench {
    fn new(server: Option<Server>) -> Bench {
        let directory = TempDir::new().unwrap();
        let path = directory.path();
        fs::create_dir_all(path.join("tree/charts/app")).unwrap();
        fs::write(path.join("helm"), HELM).unwrap();
        fs::set_permissions(path.join("helm"), fs::Permissions::from_mode(0o755)).unwrap();
        Bench { directory, server }
    }

    fn write(&self, case: &Case) {
        let tree = self.directory.path().join("tree");
        let kustomization = format!(
            "helmCharts:\n- name: app\n  releaseName: r\n  valuesFile: v.yaml\n  valuesMerge: {}\n  valuesInline: {}\n",
            case.merge, case.inline
        );
        fs::write(tree.join("kustomization.yaml"), kustomization).unwrap();
        fs::write(tree.join("v.yaml"), &case.file).unwrap();
    }

    /// What helm was given.
    fn given(&self, built: Result<(), String>) -> Outcome {
        let given = self.directory.path().join("tree/charts/app/given");
        let text = fs::read_to_string(&given);
        let _ = fs::remove_file(given);
        built.map(|()| text.unwrap())
    }

    fn ours(&self, case: &Case) -> Outcome {
        self.write(case);
        let path = |name: &str| self.directory.path().join(name).to_string_lossy().into_owned();
        let program = Arc::new(HelmProgram::default());
        let helm = HelmOptions { enabled: true, command: path("helm"), program, ..HelmOptions::default() };
        let options = Options { helm, ..Options::default() };
        let built = || build(&Workspace::new(), &Disk::new(), &path("tree"), &options).value.map(drop);
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(built));
        self.given(caught.unwrap_or_else(|_| panic!("{case:?}")).map_err(|e| e.to_string()))
    }

    fn theirs(&mut self, case: &Case) -> Outcome {
        self.write(case);
        let path = |name: &str| self.directory.path().join(name).to_string_lossy().into_owned();
        let args = ["--enable-helm", "--helm-command", &path("helm"), &path("tree")];
        let built = self.server.as_mut().unwrap().build_directory(&args).map(drop);
        self.given(built)
    }
}

/// Returns true if two outcomes may differ: an empty file is a file without values to us, and an
/// alias that kustomize drops may be in its own anchor (deviations/chart-values).
fn may_differ(ours: &Outcome, theirs: &Outcome) -> bool {
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => ours == theirs,
        (Err(_), Err(_)) => true,
        (Ok(_), Err(theirs)) => theirs.contains("could not parse values file into rnode: EOF"),
        (Err(ours), Ok(_)) => ours.contains("an alias stands inside the value it names"),
    }
}

const RECORDING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/generator/values.jsonl");

#[test]
fn recorded_values_of_charts() {
    if let Some(server) = Server::to_record_with() {
        record(&mut Bench::new(Some(server)));
    }
    let bench = Bench::new(None);
    let mut failures = String::new();
    let text = fs::read_to_string(RECORDING).unwrap();
    for line in text.lines() {
        let case: Case = serde_json::from_str(line).unwrap();
        let ours = bench.ours(&case);
        if ours.as_ref().ok() != case.given.as_ref() {
            let _ = write!(failures, "{case:?}\n== ours ==\n{}", shown(&ours));
        }
    }
    assert!(text.lines().count() >= RECORDED, "cases were lost");
    assert!(failures.is_empty(), "{failures}");
}

/// Records cases that are not accepted differences, written ones first.
fn record(bench: &mut Bench) {
    let mut text = String::new();
    let random = (0..).map(|i| random(&mut Rng::with_seed(i)));
    for mut case in written().into_iter().chain(random) {
        let (ours, theirs) = (bench.ours(&case), bench.theirs(&case));
        let is_alike = ours.is_ok() == theirs.is_ok();
        if is_alike && !theirs.as_ref().is_err_and(|e| e.starts_with(CRASH) || e.starts_with("panic:")) {
            case.given = theirs.ok();
            text.push_str(&serde_json::to_string(&case).unwrap());
            text.push('\n');
        }
        if text.lines().count() == RECORDED {
            break;
        }
    }
    fs::write(RECORDING, text).unwrap();
}

/// What people have reported, and its neighbours, in each mode.
fn written() -> Vec<Case> {
    let pairs = [
        ("{a: 1}", "k:\n"),
        ("{a: 1}", "k: null\nt: ~\n"),
        ("{a: null, b: {c: null}}", "a: 1\n"),
        ("{b: {c: null, d: null}}", "b: {c: 1, d: null, e: null}\n"),
        ("{a: 1}", "x: &x one\nk: *x\n"),
        ("{k: 1}", "x: &x one\nk: *x\n"),
        ("{a: 1}", "x: &x {a: 1, n: , m: null}\nk: [*x]\n"),
        ("{a: 1}", "x: &x {a: 1}\nk: {<<: *x, b: 2}\nl: [{<<: *x, b: 2}]\nm: {<<: {q: 1}, b: 2}\n"),
        ("{a: {b: 1}}", "---\n"),
        ("{a: 1}", "null\n"),
        ("{a: 1}", "{}\n"),
        ("{a: 1}", "[]\n"),
        ("{a: 1}", "text\n"),
        ("{a: 1}", "a: 2\n---\nb: 2\n"),
        ("{a: 1}", "---\n---\nb: 2\n"),
        ("{a: 1}", "# c\n---\nb: 2\n"),
        ("{k: my-secret}", "k: {token: \"\"}\n"),
        ("{m: {x: 1}, t: 2}", "m: text\nt: {x: 1}\n"),
        ("{m: {x: 1}}", "m: text\n"),
        ("{k: [1]}", "k: {a: 1}\n"),
        ("{k: [1]}", "k: [2]\n"),
        ("{k: [{name: a, v: 1}]}", "k: [{name: a, w: 1}, {name: b}]\n"),
        ("{m: {$patch: replace, y: 1}}", "m: {x: 1}\n"),
        ("{m: {$patch: delete}}", "m: {x: 1}\n"),
        ("{m: {$patch: merge, z: 1}}", "m: {x: 1}\n"),
        ("{m: {$patch: other, z: 1}}", "m: {x: 1}\n"),
        ("{$patch: replace, z: 1}", "m: {x: 1}\n"),
        ("{$patch: delete, z: 1}", "m: {x: 1}\n"),
        ("{m: {z: 1}}", "m: {$patch: replace, x: 1}\n"),
        ("{m: {z: 1}}", "m: {$patch: delete, x: 1}\n"),
        ("{a: 1}", "a: {b: 1, b: 2}\n"),
        ("{c: 1}", "a: {b: 1, b: 2}\n"),
        ("{c: 1}", "a: {b: , b: 2}\n"),
        ("{b: null}", "b: 1\nb: 2\n"),
        (
            "{p: {spec: {containers: [{name: a, image: x}, {name: c}]}}}",
            "p: {apiVersion: v1, kind: Pod, spec: {containers: [{name: b}, {name: a, tty: true}]}}\n",
        ),
        ("{a: 1}", "b: yes\nc: 014\nd: 1_000\ne: 2001-01-01\nf: 1.0\ng: 1e3\nh: !!str 1\ni: 0x10\nj: \"1\"\n"),
        ("{a: yes, b: 1000000, c: 1e21, d: 1.50, e: 12345678901234567890}", "b: x\n"),
        ("{a: 1}", "b: 1 # c\n# d\nc: [1] # e\n"),
        ("{a: 1}", "b: |\n  text\n   more\nc: >\n  folded\n  x\n"),
        ("{a: 1}", "null: 1\nb: 2\n"),
        ("{a: 1}", "\"\": 1\n"),
    ];
    let case = |merge: &str, (inline, file): (&str, &str)| Case {
        merge: merge.to_owned(),
        inline: inline.to_owned(),
        file: file.to_owned(),
        given: None,
    };
    pairs.into_iter().flat_map(|pair| ["override", "merge", "replace"].map(|merge| case(merge, pair))).collect()
}

#[test]
fn random_values_of_charts() {
    if Server::find().is_none() {
        crate::support::skip(".ci/oracle has not been run");
        return;
    }
    let (cases, seed) = (number("RUSTOMIZE_VALUES", 200), number("RUSTOMIZE_SEED", 1) as u64);
    let (next, built) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let found: Mutex<Vec<String>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let mut bench = Bench::new(Server::find());
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= cases || found.lock().unwrap().len() >= 10 {
                        return;
                    }
                    let seed = seed << 32 | i as u64;
                    let case = random(&mut Rng::with_seed(seed));
                    let (ours, theirs) = (bench.ours(&case), bench.theirs(&case));
                    built.fetch_add(usize::from(theirs.is_ok()), Ordering::Relaxed);
                    if !may_differ(&ours, &theirs) {
                        let (ours, theirs) = (shown(&ours), shown(&theirs));
                        let Case { merge, inline, file, .. } = case;
                        let report = format!(
                            "seed {seed:x}: {merge}\n{inline}\n-- file --\n{file}== ours ==\n{ours}== theirs ==\n{theirs}"
                        );
                        found.lock().unwrap().push(report);
                    }
                }
            });
        }
    });
    let (found, built) = (found.into_inner().unwrap(), built.into_inner());
    println!("{cases} values of charts from seed {seed}: {built} build, {} differ", found.len());
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(built * 2 > cases, "most cases fail: they test little");
}

/// Whole files that are not mappings, or not one document.
const ODD_FILES: [&str; 8] = ["", "# c\n", "---\n", "~\n", "[]\n", "text\n", "a: 1\n---\nb: 2\n", "--- {a: 1}\n"];

const KEYS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "name", "\"y\""];

fn random(rng: &mut Rng) -> Case {
    let merge = *rng.choice(&["override", "override", "merge", "merge", "replace"]).unwrap();
    let mut inline = Maker { rng, is_file: false, anchors: 0 };
    let inline = inline.mapping(3);
    let mut maker = Maker { rng, is_file: true, anchors: 0 };
    Case { merge: merge.to_owned(), inline, file: maker.file(), given: None }
}

/// Makes values as texts in brackets.
struct Maker<'r> {
    rng: &'r mut Rng,
    /// True for a file, which may have aliases, and keys twice.
    is_file: bool,
    /// How many anchors there are so far.
    anchors: usize,
}

impl Maker<'_> {
    fn one_in(&mut self, n: usize) -> bool {
        self.rng.usize(..n) == 0
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.rng.usize(..from.len())]
    }

    fn file(&mut self) -> String {
        if self.one_in(25) {
            return self.pick(&ODD_FILES).to_owned();
        }
        let mut text = String::new();
        for (key, value) in self.entries(3) {
            let end = if self.one_in(10) { " # c" } else { "" };
            let _ = writeln!(text, "{key}: {value}{end}");
        }
        if text.is_empty() { "{}\n".to_owned() } else { text }
    }

    fn entries(&mut self, depth: usize) -> Vec<(String, String)> {
        let mut entries: Vec<(String, String)> = Vec::new();
        for _ in 0..self.rng.usize(1..5) {
            let key = self.pick(&KEYS).to_owned();
            let is_twice = entries.iter().any(|(known, _)| *known == key);
            if !is_twice || (self.is_file && self.one_in(20)) {
                // A key has one kind of value mostly, or nothing could be merged.
                let value = match &*key {
                    _ if self.one_in(12) => self.value(depth),
                    "a" | "b" if depth > 0 => self.anchored(|maker| maker.mapping(depth - 1)),
                    "c" if depth > 0 => self.anchored(|maker| maker.list(depth - 1)),
                    "d" if depth > 0 && self.one_in(2) => self.pod(),
                    _ => self.anchored(Maker::scalar),
                };
                entries.push((key, value));
            }
        }
        if self.one_in(12) {
            let directive = self.pick(&["replace", "delete", "merge", "replace", "delete", "merge", "other"]);
            entries.push(("$patch".to_owned(), directive.to_owned()));
        }
        if self.is_file && self.one_in(12) {
            let merged = if self.anchors > 0 && self.one_in(2) { self.alias() } else { "{f: 1, g: 2}".to_owned() };
            entries.push(("<<".to_owned(), merged));
        }
        entries
    }

    fn mapping(&mut self, depth: usize) -> String {
        let entries: Vec<String> = self.entries(depth).into_iter().map(|(k, v)| format!("{k}: {v}")).collect();
        format!("{{{}}}", entries.join(", "))
    }

    fn list(&mut self, depth: usize) -> String {
        let item = |maker: &mut Self| match maker.rng.u8(..8) {
            0 => maker.value(depth),
            1 => "{$patch: replace}".to_owned(),
            2 | 3 => maker.named(),
            _ => maker.anchored(Maker::scalar),
        };
        let items: Vec<String> = (0..self.rng.usize(..4)).map(|_| item(self)).collect();
        format!("[{}]", items.join(", "))
    }

    fn named(&mut self) -> String {
        let (name, value) = (self.pick(&["a", "b", "c"]), self.scalar());
        let key = self.pick(&["image", "tty", "v"]);
        format!("{{name: {name}, {key}: {value}}}")
    }

    /// Values with the lists of a kind that is known, or the lists alone.
    fn pod(&mut self) -> String {
        let kind = if self.one_in(3) { "" } else { "apiVersion: v1, kind: Pod, " };
        let items: Vec<String> = (0..self.rng.usize(..4)).map(|_| self.named()).collect();
        let more = if self.one_in(4) { ", {$patch: delete, name: a}" } else { "" };
        let finalizers = self.pick(&["[a, b]", "[b, c]", "[]"]);
        let items = items.join(", ");
        let items = if items.is_empty() { String::new() } else { format!("{items}{more}") };
        format!("{{{kind}metadata: {{finalizers: {finalizers}}}, spec: {{containers: [{items}]}}}}")
    }

    fn value(&mut self, depth: usize) -> String {
        match self.rng.u8(..4) {
            0 if depth > 0 => self.mapping(depth - 1),
            1 if depth > 0 => self.list(depth - 1),
            _ => self.anchored(Maker::scalar),
        }
    }

    /// A value, sometimes with an anchor, or an alias in its place.
    fn anchored(&mut self, make: impl FnOnce(&mut Self) -> String) -> String {
        if !self.is_file || !self.one_in(5) {
            return make(self);
        }
        if self.anchors > 0 && self.one_in(2) {
            return self.alias();
        }
        let value = make(self);
        self.anchors += 1;
        format!("&x{} {value}", self.anchors)
    }

    fn alias(&mut self) -> String {
        format!("*x{} ", self.rng.usize(1..=self.anchors))
    }

    fn scalar(&mut self) -> String {
        let texts = [
            "1",
            "2",
            "x",
            "'1'",
            "null",
            "~",
            "",
            "yes",
            "1.50",
            "0x10",
            "2001-01-01",
            "\"\"",
            "true",
            "1e3",
            "text",
            "'null'",
            "\"a b\"",
            "-0.5",
            "12345678901",
            "x",
        ];
        self.pick(&texts).to_owned()
    }
}
