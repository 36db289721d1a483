//! Merges of lists: a base, a patch, and what kustomize makes of them.
//!
//! testdata/transformer/lists.jsonl holds recorded ones: `UPDATE=1 cargo test --test differential lists`
//! records them again, from the server that `.ci/oracle` builds. Where the server is,
//! `RUSTOMIZE_LISTS=20000 RUSTOMIZE_SEED=1 cargo test lists` compares that many new ones, each made
//! smaller as long as it differs.

use super::value::{V, m, s, smaller};
use super::write::flow;
use super::{Outcome, accepted, number, ours, shown};
use crate::support::reference::{CRASH, Files, Server};
use fastrand::Rng;
use rustomize::Compat;
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Kinds whose lists are merged as a schema of the kustomization's own says.
const SCHEMA: &str = include_str!("../../testdata/transformer/lists-schema.yaml");

/// How many merges are recorded.
const RECORDED: usize = 1000;

/// How a patch is named in a kustomization.
const WAYS: [&str; 3] = [
    "patches: [{path: patch.yaml}]",
    "patches: [{path: patch.yaml, target: {name: x}}]",
    "patchesStrategicMerge: [patch.yaml]",
];

/// A merge: its resource and its patch, both in one line.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Merge {
    way: usize,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    own_schema: bool,
    base: String,
    patch: String,
    /// The output of kustomize; an error if it prints nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output: Option<String>,
}

impl Merge {
    fn files(&self) -> Vec<(&'static str, String)> {
        let schema = if self.own_schema { "openapi: {path: schema.yaml}\n" } else { "" };
        let mut files = vec![
            ("kustomization.yaml", format!("resources: [base.yaml]\n{}\n{schema}", WAYS[self.way])),
            ("base.yaml", format!("{}\n", self.base)),
            ("patch.yaml", format!("{}\n", self.patch)),
        ];
        if self.own_schema {
            files.push(("schema.yaml", SCHEMA.to_owned()));
        }
        files
    }

    fn ours(&self, directory: &Path) -> Outcome {
        for (name, text) in self.files() {
            fs::write(directory.join(name), text).unwrap();
        }
        ours(Compat::default(), &directory.to_string_lossy())
    }

    fn theirs(&self, server: &mut Server) -> Outcome {
        let files: Files = self.files().into_iter().map(|(n, t)| (format!("/app/{n}"), t.into_bytes())).collect();
        server.build(&files, &["/app"]).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    fn report(&self, ours: &Outcome, theirs: &Outcome) -> String {
        let mut text = String::new();
        for (name, content) in self.files().iter().filter(|(name, _)| *name != "schema.yaml") {
            let _ = write!(text, "-- {name} --\n{content}");
        }
        format!("{text}== ours ==\n{}== theirs ==\n{}", shown(ours), shown(theirs))
    }
}

const RECORDING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/transformer/lists.jsonl");

#[test]
fn recorded_merges_of_lists() {
    if let Some(mut server) = Server::to_record_with() {
        record(&mut server);
    }
    let directory = tempfile::TempDir::new().unwrap();
    let mut failures = Vec::new();
    let text = fs::read_to_string(RECORDING).unwrap();
    for line in text.lines() {
        let merge: Merge = serde_json::from_str(line).unwrap();
        let ours = merge.ours(directory.path());
        if ours.as_ref().ok() != merge.output.as_ref() {
            failures.push(merge.report(&ours, &merge.output.clone().ok_or(String::new())));
        }
    }
    assert!(text.lines().count() >= RECORDED, "merges were lost");
    assert!(failures.is_empty(), "{} differ:\n{}", failures.len(), failures.join("\n"));
}

/// Records merges that are not accepted differences.
fn record(server: &mut Server) {
    let directory = tempfile::TempDir::new().unwrap();
    let (mut text, mut count) = (String::new(), 0);
    for i in 0.. {
        if count == RECORDED {
            break;
        }
        let mut merge = random(&mut Rng::with_seed(i)).merge();
        let theirs = merge.theirs(server);
        let is_plain =
            matches!(accepted(&merge.ours(directory.path()), &theirs), None | Some("the same bytes" | "both fail"));
        if is_plain && !theirs.as_ref().is_err_and(|e| e.starts_with(CRASH) || e.starts_with("panic:")) {
            merge.output = theirs.ok();
            text.push_str(&serde_json::to_string(&merge).unwrap());
            text.push('\n');
            count += 1;
        }
    }
    fs::write(RECORDING, text).unwrap();
}

#[test]
fn random_merges_of_lists() {
    if Server::find().is_none() {
        crate::support::skip(".ci/oracle has not been run");
        return;
    }
    let (merges, seed) = (number("RUSTOMIZE_LISTS", 300), number("RUSTOMIZE_SEED", 1) as u64);
    let (next, built) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let found: Mutex<Vec<String>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let directory = tempfile::TempDir::new().unwrap();
                let mut server = Server::find().unwrap();
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= merges || found.lock().unwrap().len() >= 10 {
                        return;
                    }
                    let seed = seed << 32 | i as u64;
                    let case = random(&mut Rng::with_seed(seed));
                    let merge = case.merge();
                    let (ours, theirs) = (merge.ours(directory.path()), merge.theirs(&mut server));
                    built.fetch_add(usize::from(theirs.is_ok()), Ordering::Relaxed);
                    if accepted(&ours, &theirs).is_none() {
                        let report = shrunk(case, directory.path(), &mut server);
                        found.lock().unwrap().push(format!("seed {seed:x}\n{report}"));
                    }
                }
            });
        }
    });
    let (found, built) = (found.into_inner().unwrap(), built.into_inner());
    println!("{merges} merges of lists from seed {seed}: {built} build, {} differ", found.len());
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(built * 2 > merges, "most merges fail: they test little");
}

/// A merge as values, which can be made smaller.
#[derive(Clone)]
struct Case {
    way: usize,
    own_schema: bool,
    base: V,
    patch: V,
}

impl Case {
    fn merge(&self) -> Merge {
        let (base, patch) = (flow(&self.base), flow(&self.patch));
        Merge { way: self.way, own_schema: self.own_schema, base, patch, output: None }
    }

    fn smaller(&self) -> Vec<Case> {
        let bases = smaller(&self.base).into_iter().map(|base| Case { base, ..self.clone() });
        let patches = smaller(&self.patch).into_iter().map(|patch| Case { patch, ..self.clone() });
        bases.chain(patches).collect()
    }
}

fn shrunk(mut case: Case, directory: &Path, server: &mut Server) -> String {
    'again: loop {
        for smaller in case.smaller() {
            let merge = smaller.merge();
            if accepted(&merge.ours(directory), &merge.theirs(server)).is_none() {
                case = smaller;
                continue 'again;
            }
        }
        let merge = case.merge();
        return merge.report(&merge.ours(directory), &merge.theirs(server));
    }
}

/// A list in a kind: where it is, and the keys of its items.
type Place = (&'static [&'static str], &'static [&'static str]);

const POD: [Place; 10] = [
    (&["containers"], &["name"]),
    (&["initContainers"], &["name"]),
    (&["volumes"], &["name"]),
    (&["ephemeralContainers"], &["name"]),
    (&["hostAliases"], &["ip"]),
    (&["topologySpreadConstraints"], &["topologyKey", "whenUnsatisfiable"]),
    (&["tolerations"], &["key"]),
    (&["dnsConfig", "nameservers"], &[]),
    (&["readinessGates"], &["conditionType"]),
    (&["$setElementOrder/containers"], &["name"]),
];

const CONTAINER: [Place; 7] = [
    (&["env"], &["name"]),
    (&["ports"], &["containerPort", "protocol"]),
    (&["volumeMounts"], &["mountPath"]),
    (&["envFrom"], &["prefix"]),
    (&["args"], &[]),
    (&["volumeDevices"], &["devicePath"]),
    (&["$setElementOrder/env"], &["name"]),
];

const METADATA: [Place; 3] =
    [(&["finalizers"], &[]), (&["ownerReferences"], &["uid"]), (&["$deleteFromPrimitiveList/finalizers"], &[])];

const SERVICE: [Place; 3] =
    [(&["ports"], &["port", "protocol"]), (&["externalIPs"], &[]), (&["$setElementOrder/ports"], &["port"])];

/// Of the kinds in [`SCHEMA`].
const OWN: [Place; 7] = [
    (&["two"], &["port", "protocol"]),
    (&["three"], &["a", "b", "c"]),
    (&["deep"], &["a", "b"]),
    (&["one"], &["name"]),
    (&["set"], &[]),
    (&["atomic"], &["name"]),
    (&["more", "x"], &["name"]),
];

/// The parts of a random merge.
struct Maker<'r> {
    rng: &'r mut Rng,
    /// Out of a hundred, how often something is not as it should be.
    wild: usize,
    is_patch: bool,
}

fn random(rng: &mut Rng) -> Case {
    let wild = *rng.choice(&[0, 3, 3, 10, 30]).unwrap();
    let kind = rng.usize(..100);
    let own_schema = rng.usize(..50) == 0;
    let way = *rng.choice(&[0, 0, 0, 1, 2]).unwrap();
    let mut side = |is_patch| {
        let mut maker = Maker { rng, wild, is_patch };
        if own_schema { maker.own() } else { maker.resource(kind) }
    };
    Case { way, own_schema, base: side(false), patch: side(true) }
}

impl Maker<'_> {
    fn one_in(&mut self, n: usize) -> bool {
        self.rng.usize(..n) == 0
    }

    fn is_wild(&mut self) -> bool {
        self.rng.usize(..100) < self.wild
    }

    fn pick(&mut self, texts: &[&str]) -> V {
        s(*self.rng.choice(texts).unwrap())
    }

    /// A resource; both sides of a merge have the same kind.
    fn resource(&mut self, kind: usize) -> V {
        match kind {
            0..40 => {
                let spec = self.fields(&POD, 3);
                self.object("v1", "Pod", spec)
            }
            40..60 => {
                let pod = self.fields(&POD, 3);
                let mut template = vec![("spec", pod)];
                if self.one_in(4) {
                    template.push(("metadata", self.fields(&METADATA, 1)));
                }
                self.object("apps/v1", "Deployment", m(vec![("template", m(template))]))
            }
            60..80 => {
                let spec = self.fields(&SERVICE, 2);
                self.object("v1", "Service", spec)
            }
            80..90 => {
                let spec = self.fields(&OWN, 2);
                self.object("example.com/v1", "Unknown", spec)
            }
            // A resource inside of one whose kind is not known.
            _ => {
                let pod = self.fields(&POD, 2);
                let inner = self.object("v1", "Pod", pod);
                self.object("example.com/v1", "Unknown", m(vec![("inner", inner)]))
            }
        }
    }

    fn own(&mut self) -> V {
        let spec = self.fields(&OWN, 4);
        self.object("example.com/v1", "Own", spec)
    }

    fn object(&mut self, api_version: &str, kind: &str, spec: V) -> V {
        let mut metadata = vec![("name".to_owned(), s("x"))];
        if self.one_in(4)
            && let V::M(entries) = self.fields(&METADATA, 1)
        {
            metadata.extend(entries);
        }
        m(vec![("apiVersion", s(api_version)), ("kind", s(kind)), ("metadata", V::M(metadata)), ("spec", spec)])
    }

    /// A mapping with lists at some of the places.
    fn fields(&mut self, places: &[Place], most: usize) -> V {
        let mut entries: Vec<(String, V)> = Vec::new();
        for _ in 0..self.rng.usize(1..=most) {
            // The first places are the usual ones.
            let at = self.rng.usize(..places.len()).min(self.rng.usize(..places.len()));
            let (path, keys) = places[at];
            if entries.iter().any(|(key, _)| key == path[0]) || (path[0].starts_with('$') && !self.is_patch) {
                continue;
            }
            let list = self.list(path[path.len() - 1], keys);
            let value = path[1..].iter().rev().fold(list, |value, key| m(vec![(key, value)]));
            entries.push((path[0].to_owned(), value));
        }
        self.add_directive(&mut entries, 25);
        if self.is_patch && self.one_in(25) {
            entries.push(("$retainKeys".to_owned(), V::L(vec![s("containers"), s("a")])));
        }
        if self.one_in(4) {
            entries.push(("other".to_owned(), self.scalar()));
        }
        V::M(entries)
    }

    fn add_directive(&mut self, entries: &mut Vec<(String, V)>, one_in: usize) {
        let rarely = if self.is_patch { one_in } else { 40 * one_in };
        if self.one_in(rarely) {
            let directive = if self.is_wild() {
                self.pick(&["bogus", "null", "''", "{}", "[delete]"])
            } else {
                self.pick(&["delete", "delete", "replace", "merge"])
            };
            entries.push(("$patch".to_owned(), directive));
        }
    }

    fn list(&mut self, name: &str, keys: &[&str]) -> V {
        if self.is_wild() {
            return self.pick(&["null", "", "{}", "{a: b}", "text", "[]", "~"]);
        }
        let most = if self.one_in(10) { 12 } else { 5 };
        let mut items: Vec<V> = (0..self.rng.usize(0..most)).map(|_| self.item(name, keys)).collect();
        if self.is_patch && self.one_in(12) {
            let mut directive = Vec::new();
            self.add_directive(&mut directive, 1);
            items.insert(self.rng.usize(..=items.len()), V::M(directive));
        }
        if self.one_in(6)
            && let Some(twin) = self.rng.choice(&items).cloned()
        {
            items.push(twin);
        }
        V::L(items)
    }

    fn item(&mut self, name: &str, keys: &[&str]) -> V {
        if self.is_wild() {
            return self.odd_item();
        }
        if keys.is_empty() {
            return if self.is_wild() { self.odd_item() } else { self.text() };
        }
        let mut entries: Vec<(String, V)> = Vec::new();
        for (i, key) in keys.iter().enumerate() {
            // A second key is often left out.
            let is_missing = match i {
                0 if keys.len() < 3 => self.one_in(20) || self.is_wild(),
                _ => self.one_in(2),
            };
            if !is_missing {
                entries.push(((*key).to_owned(), self.key(key)));
            }
        }
        if name == "containers" || name == "initContainers" {
            if self.one_in(2)
                && let V::M(more) = self.fields(&CONTAINER, 3)
            {
                entries.extend(more);
            }
        } else if name == "deep"
            && let V::M(more) = self.fields(&OWN[3..], 2)
        {
            // Not those with several keys: see deviations/item-twice.
            entries.extend(more);
        }
        if !entries.iter().any(|(key, _)| key == "$patch") {
            self.add_directive(&mut entries, 8);
        }
        if self.one_in(2) {
            entries.push(("v".to_owned(), self.scalar()));
        }
        if self.one_in(6) {
            let inner = vec![("k".to_owned(), self.scalar())];
            entries.push(("map".to_owned(), self.mapping(inner)));
        }
        V::M(entries)
    }

    fn mapping(&mut self, mut entries: Vec<(String, V)>) -> V {
        self.add_directive(&mut entries, 6);
        V::M(entries)
    }

    fn odd_item(&mut self) -> V {
        self.pick(&["null", "~", "{}", "{}", "[]", "text", "1", "''", "[a]", "{a: b}", "{$patch: delete}", "null"])
    }

    fn key(&mut self, key: &str) -> V {
        if self.is_wild() {
            return self.pick(&["null", "''", "~", "{}", "[]", "'null'", "{a: b}", "[a]", "\"\"", "'~'", "null"]);
        }
        match key {
            "port" | "containerPort" => self.pick(&["80", "80", "443", "\"80\"", "8080", "0x50"]),
            "protocol" => self.pick(&["TCP", "UDP"]),
            "a" | "b" | "c" => self.pick(&["a", "a", "b", "1"]),
            _ => self.text(),
        }
    }

    fn text(&mut self) -> V {
        self.pick(&["a", "a", "b", "c", "\"a\"", "'b'", "1", "'1'", "yes", "\"yes\"", "true", "1.0", "d", "e"])
    }

    fn scalar(&mut self) -> V {
        self.pick(&[
            "1",
            "2",
            "x",
            "\"x\"",
            "'2'",
            "null",
            "yes",
            "'no'",
            "''",
            "{}",
            "[]",
            "[x, null]",
            "~",
            "{k: null}",
        ])
    }
}
