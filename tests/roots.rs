//! `build` with several roots: the bytes of each are those of building it alone.

use crate::support::Tree;
use rustomize::load::loader::{Entry, NotOpened, Opened};
use rustomize::load::{Disk, FileLimit, Loader, Memory, RemoteOptions, Restrictor};
use rustomize::{Options, Together, build_all};
use rustomize_engine::pipeline::affected::affected;
use rustomize_engine::pipeline::roots::{FoundRoot, find};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

const FOREST: &str = "\
-- base/kustomization.yaml --
resources: [service.yaml]
-- base/service.yaml --
apiVersion: v1
kind: Service
metadata: {name: web}
-- overlays/north/kustomization.yaml --
resources: [../../base]
namespace: north
-- overlays/south/kustomization.yaml --
resources: [../../base]
components: [../../part]
namePrefix: s-
-- part/kustomization.yaml --
kind: Component
commonAnnotations: {part: of}
";

#[test]
fn roots_follow_each_other_behind_their_names() {
    let tree = Tree::new(FOREST);
    let alone = |root: &str| tree.run(&["build", root]).ok();
    let (north, south, base) = (alone("overlays/north"), alone("overlays/south"), alone("base"));
    let together = tree.run(&["build", "overlays/north", "overlays/south"]).ok();
    assert_eq!(together, format!("# Root: overlays/north\n{north}---\n# Root: overlays/south\n{south}"));
    let all = tree.run(&["build", "--all"]).ok();
    assert_eq!(all, format!("# Root: base\n{base}---\n{together}"));
    assert_eq!(tree.run(&["build", "--all", "--leaves"]).ok(), together);
    assert_eq!(tree.run(&["build", "--all", "overlays"]).ok(), together);
    for jobs in ["1", "2", "7"] {
        assert_eq!(tree.run(&["build", "--all", "--jobs", jobs]).ok(), all, "{jobs} jobs");
    }
    tree.run(&["build", "--all", "base/service.yaml"]).fails_with(&["cannot look for kustomizations"]);
    fs::create_dir(tree.path().join("empty")).unwrap();
    tree.run(&["build", "--all", "empty"]).fails_with(&["there is no kustomization at or below 'empty'"]);
    tree.write("parts/tls/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n");
    for command in [&["build", "--all"][..], &["images"], &["tree", "--all"]] {
        let words = ["there are only Components at and below 'parts'", "lists 'parts/tls' in 'components'"];
        tree.run(&[command, &["parts"]].concat()).fails_with(&words);
    }
}

#[test]
fn each_root_has_a_file_or_a_directory() {
    let tree = Tree::new(FOREST);
    let read = |path: &str| fs::read_to_string(tree.path().join(path)).unwrap();
    tree.run(&["build", "--all", "-o", "out/deep"]).ok();
    for root in ["base", "overlays/north", "overlays/south"] {
        assert_eq!(read(&format!("out/deep/{root}.yaml")), tree.run(&["build", root]).ok());
    }
    assert!(!tree.path().join("out/deep/part.yaml").exists());
    fs::create_dir(tree.path().join("alone")).unwrap();
    tree.run(&["build", "overlays/north", "-o", "alone"]).ok();
    tree.run(&["build", "--all", "overlays", "-o", "split", "--layout", "resource"]).ok();
    assert_eq!(read("split/north/v1_service_web.yaml"), read("alone/v1_service_web.yaml"));
    assert!(tree.path().join("split/south/v1_service_s-web.yaml").exists());
    tree.run(&["build", "base", "./base", "-o", "twice"]).fails_with(&["'base' and './base' would be one file"]);
    assert!(!tree.path().join("twice").exists());
}

#[test]
fn a_root_that_fails_leaves_nothing_unless_the_rest_is_wanted() {
    let tree = Tree::new(FOREST);
    tree.write("overlays/broken/kustomization.yaml", "resources: [../../bad]\n");
    tree.write("overlays/other/kustomization.yaml", "resources: [../../bad]\n");
    tree.write("bad/kustomization.yaml", "resources: [nothing.yaml]\n");
    let args = ["build", "--all", "--leaves"];
    let error = tree.run(&args).fails_with(&["'nothing.yaml': no such file or directory", "in overlays/broken"]);
    assert!(!error.contains("overlays/other\n"), "{error}");
    tree.run(&[&args[..], &["-o", "out"]].concat()).fails_with(&["nothing.yaml"]);
    assert!(!tree.path().join("out").exists());
    for jobs in ["1", "2", "7"] {
        let run = tree.run(&[&args[..], &["--keep-going", "--jobs", jobs]].concat());
        assert_eq!(run.status, Some(1));
        assert_eq!(run.stdout, tree.run(&["build", "overlays/north", "overlays/south"]).ok());
        let want = ["2 of 4 roots failed", "in overlays/broken, overlays/other"];
        assert!(want.iter().all(|words| run.stderr.contains(words)), "{}", run.stderr);
        assert_eq!(run.stderr.matches("no such file").count(), 1, "{}", run.stderr);
    }
    let run = tree.run(&[&args[..], &["--keep-going", "-o", "out"]].concat());
    assert_eq!(run.status, Some(1));
    assert!(tree.path().join("out/overlays/north.yaml").exists());
    assert!(!tree.path().join("out/overlays/broken.yaml").exists());
}

#[test]
fn shards_are_all_roots_without_an_overlap() {
    let mut tree = Tree::new(FOREST);
    for i in 0..11 {
        tree.write(&format!("many/{i:02}/kustomization.yaml"), "resources: [../../base]\n");
    }
    let roots = |out: &str| -> Vec<String> {
        out.lines().filter_map(|line| line.strip_prefix("# Root: ")).map(str::to_owned).collect()
    };
    let all = roots(&tree.run(&["build", "--all", "many"]).ok());
    assert_eq!(all.len(), 11);
    let mut seen = Vec::new();
    for i in 0..3 {
        let part = roots(&tree.run(&["build", "--all", "many", "--shard", &format!("{i}/3")]).ok());
        assert!((3..=4).contains(&part.len()), "{part:?}");
        tree.variables.insert("JOB_COMPLETION_INDEX", i.to_string());
        assert_eq!(roots(&tree.run(&["build", "--all", "many", "--shard", "3"]).ok()), part);
        tree.variables.remove("JOB_COMPLETION_INDEX");
        seen.extend(part);
    }
    seen.sort();
    assert_eq!(seen, all);
    assert_eq!(tree.run(&["build", "base", "--shard", "1/2"]).ok(), "");
    tree.run(&["build", "--all", "--shard", "3"]).fails_with(&["needs JOB_COMPLETION_INDEX"]);
    for wrong in ["3/3", "0", "a/3", "1/0"] {
        assert_eq!(tree.run(&["build", "--shard", wrong]).stdout, "", "{wrong}");
    }
}

#[test]
fn a_depfile_names_what_each_result_was_made_of() {
    let tree = Tree::new(FOREST);
    tree.write("a b/kustomization.yaml", "resources: [../base, 'c#$.yaml']\n");
    tree.write("a b/c#$.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n");
    tree.run(&["build", "a b", "-o", "out.yaml", "--depfile", "out.d"]).ok();
    let read = |path: &str| fs::read_to_string(tree.path().join(path)).unwrap();
    let base = " \\\n  base/kustomization.yaml \\\n  base/service.yaml";
    let own = " \\\n  a\\ b/c\\#$$.yaml \\\n  a\\ b/kustomization.yaml";
    assert_eq!(read("out.d"), format!("out.yaml:{own}{base}\n"));
    tree.run(&["build", "--all", "overlays", "-o", "out", "--depfile", "all.d"]).ok();
    let south = " \\\n  overlays/south/kustomization.yaml \\\n  part/kustomization.yaml";
    let want = format!("out/north.yaml:{base} \\\n  overlays/north/kustomization.yaml\nout/south.yaml:{base}{south}\n");
    assert_eq!(read("all.d"), want);
    tree.run(&["build", "base", "-o", "out", "--depfile", "x.d"]).fails_with(&["--depfile needs one file"]);
    tree.run(&["build", "--all", "-o", "out", "--layout", "resource", "--depfile", "x.d"])
        .fails_with(&["--depfile needs one file"]);
    assert!(!tree.path().join("x.d").exists());
}

#[test]
fn ninja_builds_again_what_has_changed_and_nothing_else() {
    let tree = Tree::new(FOREST);
    #[expect(clippy::disallowed_methods, reason = "a real ninja")]
    let ninja = || std::process::Command::new("ninja").args(["-C"]).arg(tree.path()).output();
    if ninja().is_err() {
        crate::support::skip("no ninja");
        return;
    }
    tree.write(
        "build.ninja",
        &format!(
            "rule render\n  command = {} build $root -o $out --depfile $out.d\n  depfile = $out.d\n  deps = gcc\n\
             build north.yaml: render\n  root = overlays/north\nbuild south.yaml: render\n  root = overlays/south\n",
            crate::support::program()
        ),
    );
    let run = || String::from_utf8(ninja().unwrap().stdout).unwrap();
    let steps = |out: &str| ["north", "south"].map(|root| out.contains(&format!("-o {root}.yaml")));
    assert_eq!(steps(&run()), [true, true]);
    assert!(run().contains("no work to do"));
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    let change = |path: &str| {
        let file = fs::File::options().append(true).open(tree.path().join(path)).unwrap();
        file.set_modified(later).unwrap();
    };
    change("part/kustomization.yaml");
    assert_eq!(steps(&run()), [false, true]);
    change("base/service.yaml");
    assert_eq!(steps(&run()), [true, true]);
}

/// `--affected-by` builds the roots that the files affect, and leaves out all others, broken ones
/// included.
#[test]
fn only_the_roots_that_files_affect_are_built() {
    let tree = Tree::new(FOREST);
    tree.write("base/NOTES", "notes\n");
    let built = |files: &[&str]| -> Vec<String> {
        let printed = tree.run(&[&["build", "--all", "--affected-by"], files].concat()).ok();
        printed.lines().filter_map(|line| line.strip_prefix("# Root: ")).map(str::to_owned).collect()
    };
    assert_eq!(built(&["base/service.yaml"]), ["base", "overlays/north", "overlays/south"]);
    assert_eq!(built(&["part/kustomization.yaml"]), ["overlays/south"]);
    assert_eq!(built(&["overlays/north/kustomization.yaml", "README.md"]), ["overlays/north"]);
    assert!(built(&["base/NOTES", "gone/x.yaml"]).is_empty());
    let leaves =
        tree.run(&["build", "overlays", "--all", "--leaves", "--affected-by", "base/service.yaml", "-o", "out"]);
    leaves.ok();
    assert!(tree.path().join("out/south.yaml").exists());
    // A root that no file affects may be broken.
    tree.write("overlays/north/kustomization.yaml", "resources: [../../gone]\n");
    tree.run(&["validate", "--all", "--affected-by", "part/kustomization.yaml"]).ok();
    tree.run(&["validate", "--all", "--affected-by", "gone/kustomization.yaml"]).fails_with(&["in overlays/north"]);
    // Names on stdin, with line breaks or NUL between them.
    for names in ["base/service.yaml\npart/kustomization.yaml\n", "part/kustomization.yaml\0x y\0"] {
        tree.write("../tmp-names", names);
        let mut command = tree.command(&["build", "--all", "overlays/south", "--affected-by", "-"]);
        command.stdin(fs::File::open(tree.path().join("../tmp-names")).unwrap());
        assert_eq!(crate::support::run(&mut command).ok().matches("# Root: overlays/south").count(), 1);
    }
    let error = tree.run(&["build", "base", "--affected-by", "base/service.yaml"]);
    assert!(error.status != Some(0) && error.stderr.contains("--all"), "{}", error.stderr);
    // Without a kustomization nothing is affected.
    tree.run(&["validate", "--all", "../home", "--affected-by", "x"]).ok();
}

/// Each file that a root is made of affects it: what `--affected-by` leaves out, a build does not
/// read. Returns how many pairs of a root and a file there were.
fn check_affected(loader: &dyn Loader, directory: &str, options: &Options) -> usize {
    let roots = find(loader, directory, FileLimit::default()).unwrap();
    let paths: Vec<String> = roots.iter().map(|root| root.path.clone()).collect();
    let together = Together { jobs: NonZero::new(2).unwrap(), keep_going: true };
    let built = build_all(loader, &paths, |_| options.clone(), together, |_, output| Ok(output.files()));
    let mut users: BTreeMap<PathBuf, Vec<&FoundRoot>> = BTreeMap::new();
    for (root, built) in roots.iter().zip(built) {
        for file in built.unwrap().value.unwrap_or_default() {
            users.entry(file).or_default().push(root);
        }
    }
    // Of a project with many files, some.
    for (file, users) in users.iter().step_by(users.len() / 40 + 1) {
        let affected = affected(loader, roots.clone(), [file.clone()], FileLimit::default());
        let missing: Vec<&&FoundRoot> = users.iter().filter(|root| !affected.contains(root)).collect();
        assert!(missing.is_empty(), "{} affects {missing:?}", file.display());
    }
    users.values().map(Vec::len).sum()
}

#[test]
fn files_that_a_build_reads_affect_its_root() {
    let mut random = fastrand::Rng::with_seed(17);
    let pairs: usize =
        (0..forests()).map(|_| check_affected(&random_forest(&mut random).0, ".", &Options::default())).sum();
    assert!(pairs > 10 * forests(), "{pairs} pairs");
    let real = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/realworld/src");
    if !real.is_dir() {
        return crate::support::skip("real kustomizations are not here");
    }
    let remote = Arc::new(RemoteOptions { offline: true, ..RemoteOptions::default() });
    let options = Options { remote, restrictor: Restrictor::None, ..Options::default() };
    let projects = fs::read_dir(real).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let pairs: usize = projects.map(|project| check_affected(&Disk::new(), &project.to_string_lossy(), &options)).sum();
    assert!(pairs > 1_000, "{pairs} pairs");
}

/// How many random forests are built: `RUSTOMIZE_FORESTS`, or a few.
#[expect(clippy::disallowed_methods, reason = "the number of forests")]
fn forests() -> usize {
    std::env::var("RUSTOMIZE_FORESTS").ok().and_then(|n| n.parse().ok()).unwrap_or(40)
}

/// The text of a random layer over some of the layers before it.
fn random_layer(random: &mut fastrand::Rng, i: usize) -> String {
    let mut text = "apiVersion: kustomize.config.k8s.io/v1beta1\n".to_owned();
    let bases: Vec<String> = (0..i).filter(|_| random.u8(..4) == 0).map(|base| format!("../r{base}")).collect();
    text += &format!("resources: [own.yaml, {}]\n", bases.join(", "));
    let fields = [
        format!("namePrefix: p{i}-\n"),
        format!("namespace: n{i}\n"),
        format!("commonLabels: {{l: '{i}'}}\n"),
        format!("labels: [{{pairs: {{m: '{i}'}}}}]\n"),
        format!("configMapGenerator: [{{name: g{i}, literals: [v={i}]}}]\n"),
        format!("patches: [{{target: {{kind: ConfigMap}}, patch: '[{{op: add, path: /data/p{i}, value: x}}]'}}]\n"),
        format!("vars: [{{name: V{i}, objref: {{apiVersion: v1, kind: ConfigMap, name: n{i}}}}}]\n"),
        format!("components: [../c{}]\n", random.u8(..3)),
        "configurations: [names.yaml]\n".to_owned(),
    ];
    let weights = [2, 3, 3, 3, 3, 3, 6, 3, 5];
    let chosen = fields.into_iter().zip(weights).filter(|(_, weight)| random.u8(..*weight) == 0);
    text.extend(chosen.map(|(field, _)| field));
    text += match random.u8(..40) {
        0 => "unknown: 1\n",
        1 => "transformers: [plugin.yaml]\n",
        2 => "buildMetadata: [originAnnotations]\n",
        3 => "openapi: {path: schema.json}\n",
        4 => "patches: [{path: gone.yaml}]\n",
        5 => "replacements: [{source: {kind: Gone}, targets: [{select: {kind: ConfigMap}, fieldPaths: [data.v]}]}]\n",
        _ => "",
    };
    text
}

/// A random forest: layers over layers, with components that they share.
fn random_forest(random: &mut fastrand::Rng) -> (Memory, Vec<String>) {
    let mut files = Memory::new();
    let map = |name: &str, value: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{v: '{value}'}}\n")
    };
    for i in 0..3 {
        let head = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n";
        let labels = format!("labels: [{{pairs: {{c{i}: $(V{i})}}, includeTemplates: true}}]\nresources: [../o{i}]\n");
        files.set(format!("c{i}/kustomization.yaml"), format!("{head}{labels}"));
        files.set(format!("o{i}/kustomization.yaml"), "resources: [map.yaml]\n");
        files.set(format!("o{i}/map.yaml"), map(&format!("o{i}"), "$(V0)"));
    }
    let roots: Vec<String> = (0..8).map(|i| format!("r{i}")).collect();
    for (i, root) in roots.iter().enumerate() {
        files.set(format!("{root}/kustomization.yaml"), random_layer(random, i));
        let name = if random.u8(..8) == 0 { "same".to_owned() } else { format!("n{i}") };
        files.set(format!("{root}/own.yaml"), map(&name, &format!("{i} $(V{i})")));
        files.set(format!("{root}/plugin.yaml"), "apiVersion: example.com/v1\nkind: Gone\nmetadata: {name: gone}\n");
        files.set(format!("{root}/schema.json"), "{definitions: {}}");
        files.set(format!("{root}/names.yaml"), "namePrefix: [{path: data/v, kind: ConfigMap}]\n");
    }
    (files, roots)
}

/// Random layers over shared bases: bytes, faults, warnings and files of each root are those that
/// it has alone.
#[test]
fn forests_give_what_their_roots_give_alone() {
    let mut random = fastrand::Rng::with_seed(16);
    let (mut built, mut failed) = (0, 0);
    for _ in 0..forests() {
        let (files, roots) = random_forest(&mut random);
        let print = |jobs: usize, roots: &[String]| -> Vec<_> {
            let together = Together { jobs: NonZero::new(jobs).unwrap(), keep_going: true };
            let finish = |_, output: rustomize::Output<'_>| Ok((output.print()?, output.files()));
            let built = build_all(&files, roots, |_| Options::default(), together, finish);
            let told = |built: rustomize::diag::Warned<rustomize::diag::Result<_>>| {
                let warnings: Vec<String> = built.warnings.iter().map(ToString::to_string).collect();
                (built.value.map_err(|e| e.to_string()), warnings)
            };
            built.into_iter().map(|built| told(built.unwrap())).collect()
        };
        let alone: Vec<_> = roots.iter().flat_map(|root| print(1, std::slice::from_ref(root))).collect();
        for (jobs, roots) in
            [1, 2, 7].into_iter().zip([roots.clone(), roots.clone(), roots.iter().rev().cloned().collect()])
        {
            let mut together = print(jobs, &roots);
            if roots[0] == "r7" {
                together.reverse();
            }
            assert_eq!(together, alone);
        }
        built += alone.iter().filter(|(value, _)| value.is_ok()).count();
        failed += alone.iter().filter(|(value, _)| value.is_err()).count();
    }
    assert!(built > failed / 4 && failed > built / 4, "{built} built, {failed} failed");
}

/// Of many roots every second fails, each with a fault of its own or with that of a shared base.
#[test]
fn the_failures_of_many_roots_are_told_apart() {
    let mut files = Memory::new();
    files.set("base/kustomization.yaml", "resources: [gone.yaml]\n");
    let roots: Vec<String> = (0..10_000).map(|i| format!("r{i}")).collect();
    for (i, root) in roots.iter().enumerate() {
        let text = match i % 4 {
            1 => "resources: [../base]\n".to_owned(),
            3 => format!("resources: [own-{i}.yaml]\n"),
            _ => format!("resources: [map.yaml]\nnamePrefix: p{i}-\n"),
        };
        files.set(format!("{root}/kustomization.yaml"), text);
        files.set(format!("{root}/map.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n");
    }
    let together = Together { jobs: NonZero::new(2).unwrap(), keep_going: true };
    let built = build_all(&files, &roots, |_| Options::default(), together, |_, output| output.print());
    for (i, built) in built.into_iter().enumerate() {
        let told = built.unwrap().value.map_err(|e| e.to_string());
        let want = match i % 4 {
            1 => "gone.yaml".to_owned(),
            3 => format!("own-{i}.yaml"),
            _ => format!("name: p{i}-m\n"),
        };
        assert_eq!(told.is_err(), i % 2 == 1, "{i}");
        assert!(told.unwrap_or_else(|e| e).contains(&want), "{i}");
    }
}

/// Counts how often each file is opened.
struct Counting {
    files: Memory,
    opened: Mutex<BTreeMap<PathBuf, usize>>,
}

impl Loader for Counting {
    fn directory(&self, path: &Path) -> io::Result<PathBuf> {
        self.files.directory(path)
    }

    fn open(&self, path: &Path) -> Result<Opened, NotOpened> {
        *self.opened.lock().unwrap().entry(path.to_owned()).or_default() += 1;
        self.files.open(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>> {
        self.files.list(directory)
    }
}

/// Twenty overlays on one base, which has a base, too: its files are opened by the first, and
/// by the second for all. What only one build can know is worked out by each, as where resources
/// come from.
#[test]
fn a_base_of_many_roots_is_not_built_by_each() {
    let opened = |own: &str| {
        let mut files = Memory::new();
        files.set("deep/kustomization.yaml", "resources: [map.yaml]\n");
        files.set("deep/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n");
        files.set("base/kustomization.yaml", "resources: [../deep]\nnamePrefix: b-\n");
        let roots: Vec<String> = (0..20).map(|i| format!("r{i}")).collect();
        for root in &roots {
            files.set(format!("{root}/kustomization.yaml"), format!("resources: [../base]\n{own}"));
        }
        let files = Counting { files, opened: Mutex::default() };
        let together = Together { jobs: NonZero::<usize>::MIN, keep_going: false };
        let built = build_all(&files, &roots, |_| Options::default(), together, |_, output| output.print());
        assert!(built.into_iter().all(|built| built.unwrap().value.unwrap().contains("name: b-m")));
        let opened = files.opened.lock().unwrap();
        let file = opened.iter().find(|(path, _)| path.ends_with("deep/map.yaml"));
        *file.unwrap().1
    };
    assert_eq!(opened(""), 2);
    assert_eq!(opened("buildMetadata: [originAnnotations]\n"), 20);
}

/// Panics at one file.
struct Panicking(Memory);

impl Loader for Panicking {
    fn directory(&self, path: &Path) -> io::Result<PathBuf> {
        self.0.directory(path)
    }

    fn open(&self, path: &Path) -> Result<Opened, NotOpened> {
        assert!(!path.ends_with("b/map.yaml"), "a fault of the loader");
        self.0.open(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>> {
        self.0.list(directory)
    }
}

#[test]
fn a_panic_is_the_error_of_its_root() {
    let mut files = Memory::new();
    for root in ["a", "b", "c"] {
        files.set(format!("{root}/kustomization.yaml"), "resources: [map.yaml]\n");
        files.set(format!("{root}/map.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n");
    }
    let roots = ["a", "b", "c"].map(str::to_owned);
    let together = Together { jobs: NonZero::new(2).unwrap(), keep_going: true };
    let built = build_all(&Panicking(files), &roots, |_| Options::default(), together, |_, output| output.print());
    let results: Vec<_> = built.into_iter().map(|built| built.unwrap().value.map_err(|e| e.to_string())).collect();
    assert!(results[0].is_ok() && results[2].is_ok(), "{results:?}");
    assert!(results[1].as_ref().is_err_and(|e| e.contains("a fault of the loader")), "{results:?}");
}
