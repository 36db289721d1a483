//! Odd spellings of a resource's identity, and what the stages of a build make of them.
//!
//! One part of a resource (its version, kind, name, namespace, a label, an annotation, or the name
//! that it refers to) is spelled as a number, null, a tagged text and so on. One to three layers,
//! sometimes with a component, then apply stages to it, which
//! testdata/transformer/identities-stages.txt lists.
//!
//! testdata/transformer/identities.jsonl has recorded trees, each with the hashes of its files and
//! of kustomize's output: `UPDATE=1 cargo test --test differential identities` records them again, with the
//! server that `.ci/oracle` builds. With the server, `RUSTOMIZE_IDENTITIES=20000 RUSTOMIZE_SEED=1
//! cargo test random_identities` compares that many new trees. A tree that differs is made smaller
//! as long as it differs.

use super::{Outcome, accepted, number, ours_in_memory, shown};
use crate::support::reference::{CRASH, Files, Server};
use crate::support::servers::sha256;
use crate::support::{skip, split};
use fastrand::Rng;
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

/// The files and stages of all trees; its head describes the format.
const STAGES: &str = include_str!("../../testdata/transformer/identities-stages.txt");

/// How many trees are recorded.
const RECORDED: u64 = 600;

/// A tree that kustomize refuses tests little: up to so many times, it loses half of its stages.
const MOST_THINNED: u32 = 3;

const SPELLINGS: [&str; 36] = [
    "v1",
    "1.0",
    "0x1F",
    "1e3",
    "010",
    "''",
    "",
    "~",
    "null",
    "Null",
    "'null'",
    "true",
    "!!str 1.0",
    "!!int 1",
    "!!str ''",
    "!!null ''",
    "!!int '5'",
    "2001-01-01",
    "1_000",
    "-0",
    "'1.0'",
    "yes",
    "'a/b'",
    "a/v1",
    "'/v1'",
    "'a/'",
    "{a: b}",
    "[a]",
    "&x y",
    "!x 1",
    "a b",
    "'*'",
    "'.*'",
    "'a,b'",
    "!!binary YQ==",
    OVER_LINES,
];

/// Only a label has this spelling: most other places are in braces.
const OVER_LINES: &str = "|-\n      x";

/// The part of a resource that has the odd spelling.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Version,
    Kind,
    Name,
    Namespace,
    Label,
    Annotation,
    Reference,
}

const PARTS: [Part; 7] =
    [Part::Version, Part::Kind, Part::Name, Part::Namespace, Part::Label, Part::Annotation, Part::Reference];

/// The files of [`STAGES`] and the fields of its stages.
struct Table {
    resource: String,
    second: String,
    deployment: String,
    configuration: String,
    stages: Vec<String>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let (_, mut sections) = split(STAGES);
    let mut file = |name: &str| {
        assert_eq!(sections[0].0, name, "the files come first");
        sections.remove(0).1
    };
    let [resource, second] = ["resource.yaml", "second.yaml"].map(&mut file);
    let [deployment, configuration] = ["deployment.yaml", "configuration.yaml"].map(&mut file);
    let stages = sections.into_iter().map(|(_, text)| text).collect();
    Table { resource, second, deployment, configuration, stages }
});

/// Words for a template, each with its name there.
type Words = Vec<(&'static str, String)>;

/// Puts words into a template in place of their names.
fn filled(template: &str, words: &Words) -> String {
    let mut text = template.to_owned();
    for (name, word) in words {
        text = text.replace(&format!("'{{{name}}}'"), &format!("'{}'", bare(word)));
        text = text.replace(&format!("{{{name}}}"), word);
    }
    text
}

/// The text of a scalar, without the quotes, tags and anchors of its spelling.
fn bare(spelling: &str) -> String {
    let is_property = |word: &&str| word.starts_with(['!', '&']);
    let words: Vec<&str> = spelling.split_whitespace().skip_while(is_property).collect();
    words.join(" ").replace('\'', "")
}

/// A text without its lines that begin with `start`.
fn without_line(text: &str, start: &str) -> String {
    text.split_inclusive('\n').filter(|line| !line.starts_with(start)).collect()
}

/// The words for a resource of which one part has an odd spelling.
fn words(rng: &mut Rng, part: Part, spelling: &'static str) -> Words {
    let value = if spelling == OVER_LINES { "x" } else { spelling };
    let mut spelled = |this: Part, usual: &[&str]| {
        let usual = *rng.choice(usual).unwrap();
        if this == part { spelling.to_owned() } else { usual.to_owned() }
    };
    let version = spelled(Part::Version, &["v1", "v1", "v1", "v1", "v1", "v1", "v1", "v1", "apps/v1", ""]);
    let kind = spelled(Part::Kind, &["ConfigMap", "ConfigMap", "Widget", "Secret", "ServiceAccount"]);
    let name = spelled(Part::Name, &["web"]);
    let namespace = spelled(Part::Namespace, &["n"]);
    let (label, annotation) = (spelled(Part::Label, &["l"]), spelled(Part::Annotation, &["a"]));
    let reference = spelled(Part::Reference, &["web"]);
    let selector = match part {
        Part::Version => format!("version: '{}'", bare(value)),
        Part::Kind => format!("kind: '{}'", bare(value)),
        Part::Name => format!("name: '{}'", bare(value)),
        Part::Namespace => format!("namespace: '{}'", bare(value)),
        Part::Label => format!("labelSelector: 'l={}'", bare(value)),
        Part::Annotation => format!("annotationSelector: 'k={}'", bare(value)),
        Part::Reference => "name: web".to_owned(),
    };
    let is_word = !value.is_empty() && value.chars().all(char::is_alphanumeric);
    let mut pick = |from: &[&str]| (*rng.choice(from).unwrap()).to_owned();
    vec![
        ("second kind", pick(&[&kind, "ConfigMap"])),
        ("second name", pick(&[&name, "other"])),
        ("second namespace", pick(&["n", "o", "default", value])),
        ("version", version),
        ("kind", kind),
        ("name", name),
        ("namespace", namespace),
        ("label", label),
        ("annotation", annotation),
        ("reference", reference),
        ("selector", selector),
        ("word", if is_word { value } else { "l" }.to_owned()),
        ("value", value.to_owned()),
    ]
}

/// The fields of a kustomization that has some stages.
fn fields(stages: &[String]) -> String {
    let mut fields: Vec<(&str, String)> = Vec::new();
    for stage in stages {
        let mut added: Vec<(&str, String)> = Vec::new();
        for line in stage.split_inclusive('\n') {
            match line.split_once(':') {
                Some((key, value)) if !line.starts_with([' ', '-']) => added.push((key, value.to_owned())),
                _ => added.last_mut().unwrap().1.push_str(line),
            }
        }
        for (key, value) in added {
            match fields.iter_mut().find(|(other, _)| *other == key) {
                Some((_, list)) if list.starts_with('\n') => list.push_str(&value[1..]),
                Some((_, earlier)) => *earlier = value,
                None => fields.push((key, value)),
            }
        }
    }
    fields.iter().map(|(key, value)| format!("{key}:{value}")).collect()
}

/// Layers, the last of which is the root of the build. The first one has the objects.
#[derive(Clone)]
struct Tree {
    spelling: &'static str,
    objects: Vec<String>,
    layers: Vec<Vec<String>>,
    component: Vec<String>,
}

/// How a JSON patch adds a key that kustomize reads as a boolean afterwards.
const BOOLEAN_KEY: &str = "y: 'yes'}}";

/// The path by which a stage adds the component.
const COMPONENT: &str = "../component";

impl Tree {
    fn random(rng: &mut Rng) -> Tree {
        let part = *rng.choice(&PARTS).unwrap();
        let spelling = *rng.choice(&SPELLINGS).unwrap();
        let spelling = if spelling == OVER_LINES && part != Part::Label { "v1" } else { spelling };
        let mut words = words(rng, part, spelling);
        let mut resource = filled(&TABLE.resource, &words);
        if part != Part::Annotation {
            resource = without_line(&resource, "  annotations:");
        }
        for (name, line) in [("version", "apiVersion:"), ("namespace", "  namespace:")] {
            if rng.u8(..6) == 0 {
                resource = without_line(&resource, line);
                // Most stages look for the resource as it is now, some in vain.
                if rng.u8(..4) > 0 {
                    words.iter_mut().find(|(other, _)| *other == name).unwrap().1.clear();
                }
            }
        }
        let mut objects = vec![resource];
        if rng.u8(..8) == 0 {
            objects.push(filled(&TABLE.second, &words));
        }
        objects.push(filled(&TABLE.deployment, &words));
        let layers = (0..*rng.choice(&[1, 1, 2, 2, 3]).unwrap()).map(|_| stages(rng, &words)).collect();
        let mut component = stages(rng, &words);
        component.retain(|stage| !stage.contains(COMPONENT));
        Tree { spelling, objects, layers, component }
    }

    /// The tree of a seed, which has lost half of its stages `thinned` times.
    fn of(seed: u64, thinned: u32) -> Tree {
        let mut rng = Rng::with_seed(seed);
        let mut tree = Tree::random(&mut rng);
        for _ in 0..thinned {
            tree.layers.iter_mut().chain([&mut tree.component]).for_each(|stages| stages.retain(|_| rng.bool()));
        }
        tree
    }

    fn root(&self) -> String {
        format!("/layer{}", self.layers.len())
    }

    fn files(&self) -> Files {
        let mut files = Files::new();
        let mut write = |directory: &str, head: &str, stages: &[String]| {
            let fields = fields(stages);
            if fields.contains("configuration.yaml") {
                files.insert(format!("{directory}/configuration.yaml"), TABLE.configuration.clone().into_bytes());
            }
            files.insert(format!("{directory}/kustomization.yaml"), format!("{head}{fields}").into_bytes());
        };
        for (i, stages) in self.layers.iter().enumerate() {
            let below = if i == 0 { "objects.yaml".to_owned() } else { format!("../layer{i}") };
            write(&format!("/layer{}", i + 1), &format!("resources: [{below}]\n"), stages);
        }
        if self.layers.iter().flatten().any(|stage| stage.contains(COMPONENT)) {
            let head = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n";
            write("/component", head, &self.component);
        }
        files.insert("/layer1/objects.yaml".to_owned(), self.objects.join("---\n").into_bytes());
        files
    }

    fn outcomes(&self, server: &mut Server) -> (Outcome, Outcome) {
        let (files, root) = (self.files(), self.root());
        let theirs = server.build(&files, &[&root]).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        (ours_in_memory(&files, &root), theirs)
    }

    /// Every tree that is this one less a layer, a stage, an object, or a line of an object.
    fn smaller(&self) -> Vec<Tree> {
        let mut all = Vec::new();
        let mut add = |change: &mut dyn FnMut(&mut Tree)| {
            let mut tree = self.clone();
            change(&mut tree);
            all.push(tree);
        };
        if self.layers.len() > 1 {
            (0..self.layers.len()).for_each(|i| add(&mut |tree| drop(tree.layers.remove(i))));
        }
        if self.objects.len() > 1 {
            (0..self.objects.len()).for_each(|i| add(&mut |tree| drop(tree.objects.remove(i))));
        }
        for (i, stages) in self.layers.iter().enumerate() {
            (0..stages.len()).for_each(|j| add(&mut |tree| drop(tree.layers[i].remove(j))));
        }
        (0..self.component.len()).for_each(|i| add(&mut |tree| drop(tree.component.remove(i))));
        for (i, object) in self.objects.iter().enumerate() {
            let lines: Vec<&str> = object.split_inclusive('\n').collect();
            for j in 0..lines.len() {
                add(&mut |tree| tree.objects[i] = [&lines[..j], &lines[j + 1..]].concat().concat());
            }
        }
        all
    }

    fn report(&self, seed: u64, ours: &Outcome, theirs: &str) -> String {
        let mut text = format!("seed {seed:x}\n");
        for (path, content) in self.files() {
            let _ = write!(text, "-- {} --\n{}", &path[1..], String::from_utf8_lossy(&content));
        }
        format!("{text}== ours, of {} ==\n{}== theirs ==\n{theirs}", self.root(), shown(ours))
    }
}

/// One to three stages.
fn stages(rng: &mut Rng, words: &Words) -> Vec<String> {
    let count = *rng.choice(&[1, 1, 2, 2, 3]).unwrap();
    let mut stages = rng.choose_multiple(&TABLE.stages, count);
    rng.shuffle(&mut stages);
    stages.into_iter().map(|stage| filled(stage, words)).collect()
}

/// Why a difference needs no repair.
fn reason(tree: &Tree, ours: &Outcome, theirs: &Outcome) -> Option<&'static str> {
    if let Some(reason) = accepted(ours, theirs) {
        return Some(reason);
    }
    let theirs_says = |words: &str| theirs.as_ref().is_err_and(|e| e.contains(words));
    // kustomize joins former names, kinds and namespaces with commas, and counts too many if one of
    // them has a comma. Where it does not panic over that, it prints this error.
    if ours.is_ok() && tree.spelling.contains(',') && theirs_says("number of previous names") {
        return Some("deviations/crash");
    }
    // After a JSON patch the key `y` of this stage is a boolean. kustomize's next JSON patch fails,
    // even if something removes the key; here only a boolean key that is printed is an error.
    let mut stages = tree.layers.iter().flatten().chain(&tree.component);
    if ours.is_ok()
        && stages.any(|stage| stage.contains(BOOLEAN_KEY))
        && theirs_says("json: unsupported type: map[interface {}]interface {}")
    {
        return Some("deviations/boolean-keys");
    }
    None
}

/// The smallest tree that differs as this one does. `failing` says of both whether they fail.
fn shrunk(mut tree: Tree, server: &mut Server, failing: (bool, bool)) -> Tree {
    let mut candidates = tree.smaller();
    while let Some(smaller) = candidates.into_iter().find(|tree| {
        let (ours, theirs) = tree.outcomes(server);
        (ours.is_err(), theirs.is_err()) == failing && reason(tree, &ours, &theirs).is_none()
    }) {
        candidates = smaller.smaller();
        tree = smaller;
    }
    tree
}

/// A recorded tree.
#[derive(Serialize, Deserialize)]
struct Record {
    seed: u64,
    thinned: u32,
    /// The hash of the files.
    files: String,
    /// The hash of kustomize's output; an error if it prints nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output: Option<String>,
}

/// Enough of a SHA-256 to see that something has changed.
fn hash(text: &[u8]) -> String {
    sha256(text)[..16].to_owned()
}

fn hash_of_files(tree: &Tree) -> String {
    let files = tree.files().into_iter();
    let all: Vec<u8> = files.flat_map(|(path, text)| [path.as_bytes(), b"\0", &text, b"\0"].concat()).collect();
    hash(&all)
}

const RECORDING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/transformer/identities.jsonl");

#[test]
fn recorded_identities() {
    if let Some(mut server) = Server::to_record_with() {
        record(&mut server);
    }
    let text = fs::read_to_string(RECORDING).unwrap();
    let mut failures = Vec::new();
    for line in text.lines() {
        let Record { seed, thinned, files, output } = serde_json::from_str(line).unwrap();
        let tree = Tree::of(seed, thinned);
        assert!(
            hash_of_files(&tree) == files,
            "the generator has changed: record again with UPDATE=1, where the server of .ci/oracle is"
        );
        let ours = ours_in_memory(&tree.files(), &tree.root());
        if ours.as_ref().ok().map(|text| hash(text.as_bytes())) != output {
            let theirs = output.map_or("fails\n".to_owned(), |hash| format!("another output, of hash {hash}\n"));
            failures.push(tree.report(seed, &ours, &theirs));
        }
    }
    assert!(text.lines().count() as u64 >= RECORDED, "trees were lost");
    assert!(failures.is_empty(), "{} differ:\n{}", failures.len(), failures.join("\n"));
}

/// Records trees with one outcome in kustomize and here: [`random_identities`] reports the others.
fn record(server: &mut Server) {
    let (mut text, mut count) = (String::new(), 0);
    for seed in 0.. {
        if count == RECORDED {
            break;
        }
        let (thinned, tree, ours, theirs) = thinned_until_built(seed, server);
        let is_plain = matches!(reason(&tree, &ours, &theirs), Some("the same bytes" | "both fail"));
        if is_plain && !theirs.as_ref().is_err_and(|e| e.starts_with(CRASH) || e.starts_with("panic:")) {
            let output = theirs.ok().map(|text| hash(text.as_bytes()));
            let record = Record { seed, thinned, files: hash_of_files(&tree), output };
            text.push_str(&serde_json::to_string(&record).unwrap());
            text.push('\n');
            count += 1;
        }
    }
    fs::write(RECORDING, text).unwrap();
}

/// The tree of a seed, thinned until kustomize builds it or the two differ, with both outcomes.
fn thinned_until_built(seed: u64, server: &mut Server) -> (u32, Tree, Outcome, Outcome) {
    let mut thinned = 0;
    loop {
        let tree = Tree::of(seed, thinned);
        let (ours, theirs) = tree.outcomes(server);
        if theirs.is_ok() || reason(&tree, &ours, &theirs).is_none() || thinned == MOST_THINNED {
            return (thinned, tree, ours, theirs);
        }
        thinned += 1;
    }
}

#[test]
fn random_identities() {
    if Server::find().is_none() {
        skip(".ci/oracle has not been run");
        return;
    }
    let (trees, seed) = (number("RUSTOMIZE_IDENTITIES", 200), number("RUSTOMIZE_SEED", 1) as u64);
    let most = number("RUSTOMIZE_FOUND", 10);
    let (next, built) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let found: Mutex<Vec<String>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let mut server = Server::find().unwrap();
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= trees || found.lock().unwrap().len() >= most {
                        return;
                    }
                    let seed = seed << 32 | i as u64;
                    let (_, tree, ours, theirs) = thinned_until_built(seed, &mut server);
                    built.fetch_add(usize::from(theirs.is_ok()), Ordering::Relaxed);
                    if reason(&tree, &ours, &theirs).is_none() {
                        let small = shrunk(tree, &mut server, (ours.is_err(), theirs.is_err()));
                        let (ours, theirs) = small.outcomes(&mut server);
                        found.lock().unwrap().push(small.report(seed, &ours, &shown(&theirs)));
                    }
                }
            });
        }
    });
    let (found, built) = (found.into_inner().unwrap(), built.into_inner());
    println!("{trees} trees of odd identities from seed {seed}: {built} build, {} differ", found.len());
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(built * 2 > trees, "most trees do not build: they test little");
}
