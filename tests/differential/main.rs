//! Random trees, built by us and by kustomize: the bytes must be the same, or both must fail.
//!
//! Compares with the newest kustomize where `.ci/oracle` has put its server, else with a `kustomize`
//! or `kubectl` in PATH. `RUSTOMIZE_VERSIONS=5.8.1,5.7.1` compares with these versions, one after
//! another. `RUSTOMIZE_TREES=20000 RUSTOMIZE_SEED=1 cargo test --test differential random_trees`
//! builds that many trees. A difference is made as small as it gets and written to testdata/differential,
//! to be looked at and then kept as a case or explained. What is accepted is listed in
//! [`accepted`], with its reason. `RUSTOMIZE_FOUND=500` runs on until there are that many,
//! `RUSTOMIZE_WHY=1` prints why trees do not build: those test little, and should be few;
//! `RUSTOMIZE_WHY=tree` prints them, too. `RUSTOMIZE_TREE=fa1000000e1` builds the one tree of this
//! name.

#![allow(unreachable_pub, reason = "`pub` is for the other modules of this program")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod documents;
mod identities;
mod lists;
mod server;
mod shape;
mod style;
#[path = "../support/mod.rs"]
mod support;
mod texts;
mod tree;
mod value;
mod values;
mod write;

use crate::support::reference::{self, Files, Server};
use crate::support::{program, skip};
use rustomize::load::{Disk, HelmProgram, Loader, Memory};
use rustomize::{Compat, HelmOptions, Options, Workspace, build};

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use tree::Tree;

/// A build: its bytes, or what it failed with.
type Outcome = Result<String, String>;

/// The tool that results are compared with.
enum Theirs {
    Server(Server),
    /// The first words of a command that builds a directory.
    Command(Vec<String>),
}

/// kubectl differs in ways of its own: what it finds is shown, and fails nothing.
const OLDER: &str = "kubectl, which has an older kustomize";

impl Theirs {
    /// The best that is here, and its name.
    fn find(compat: Compat) -> Option<(Theirs, String)> {
        if let Some(server) = Server::of(compat.version()) {
            return Some((Theirs::Server(server), format!("kustomize {compat}")));
        }
        if compat != Compat::default() {
            return None;
        }
        let paths: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
        let find = |name: &str| paths.iter().map(|p| p.join(name)).find(|p| p.is_file());
        let text = |p: PathBuf| p.to_string_lossy().into_owned();
        if let Some(kustomize) = find("kustomize") {
            return Some((
                Theirs::Command(vec![text(kustomize), "build".to_owned()]),
                "the kustomize in PATH".to_owned(),
            ));
        }
        let kubectl = find("kubectl")?;
        Some((Theirs::Command(vec![text(kubectl), "kustomize".to_owned()]), OLDER.to_owned()))
    }

    /// Builds a tree, which also exists as a directory.
    fn build(&mut self, tree: &Tree, directory: &str) -> Outcome {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        match self {
            Theirs::Server(server) if tree.needs_disk() => {
                let helm = helm().to_string_lossy();
                server.build_directory(&["--enable-helm", "--helm-command", &helm, directory]).map(text)
            }
            Theirs::Server(server) => server.build(&tree.files(), &[&tree.root()]).map(text),
            Theirs::Command(words) => run(words, directory),
        }
    }
}

fn run(words: &[String], directory: &str) -> Outcome {
    #[expect(clippy::disallowed_methods, reason = "kustomize is what we compare with")]
    let mut command = Command::new(&words[0]);
    // It lives for a moment: collecting garbage would only take time.
    let output = command.args(&words[1..]).arg(directory).env("GOGC", "off").stdin(Stdio::null()).output().unwrap();
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// The beginning of our error after a crash: that is a difference whatever kustomize does.
const PANIC: &str = "rustomize crashed";

/// Builds a directory: in this process, or by the program that `RUSTOMIZE_PROGRAM` names.
fn ours(compat: Compat, directory: &str) -> Outcome {
    if setting("RUSTOMIZE_PROGRAM").is_some() {
        let helm = helm().to_string_lossy();
        let words = [program(), "build", "--compat", compat.version(), "--enable-helm", "--helm-command", &helm];
        let outcome = run(&words.map(str::to_owned), directory);
        let is_crash = |e: &str| !e.contains("Error: ") || e.contains("the build broke off");
        return outcome.map_err(|e| if is_crash(&e) { PANIC.to_owned() } else { e });
    }
    let program = Arc::new(HelmProgram::default());
    let helm = HelmOptions { enabled: true, command: helm().display().to_string(), program, ..HelmOptions::default() };
    printed(&Disk::new(), directory, &Options { compat, helm, ..Options::default() })
}

/// A stand-in for helm: it prints the release and the namespace that it is given.
fn helm() -> &'static Path {
    static HELM: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let make = || {
        let directory = tempfile::TempDir::new().unwrap();
        let program = directory.path().join("helm");
        fs::write(&program, include_str!("helm.sh")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        (directory, program)
    };
    &HELM.get_or_init(make).1
}

/// Builds a directory of files that are not on disk.
fn ours_in_memory(files: &Files, directory: &str) -> Outcome {
    let texts = files.iter().map(|(path, text)| (path.clone(), std::str::from_utf8(text).unwrap()));
    printed(&texts.collect::<Memory>(), directory, &Options::default())
}

/// An outcome for people.
fn shown(outcome: &Outcome) -> String {
    outcome.clone().unwrap_or_else(|e| format!("fails: {e}\n"))
}

fn printed(loader: &dyn Loader, directory: &str, options: &Options) -> Outcome {
    let printed = || {
        let workspace = Workspace::new();
        let output = build(&workspace, loader, directory, options).value;
        output.and_then(|output| output.print()).map_err(|e| e.to_string())
    };
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(printed));
    caught.unwrap_or_else(|_| Err(PANIC.to_owned()))
}

/// True if kustomize cannot read a text that it has printed itself, with a comment in the wrong
/// place.
pub(crate) fn cannot_read_its_own_text(error: &str) -> bool {
    let words = ["could not find expected ':'", "invalid map key", "did not find expected ','"];
    error.contains("map[string]interface {}{") && words.iter().any(|words| error.contains(words))
}

/// Why a difference needs no repair. [`Builder::is_about_comments`] knows another reason.
fn accepted(ours: &Outcome, theirs: &Outcome) -> Option<&'static str> {
    let theirs_says = |words: &str| theirs.as_ref().is_err_and(|e| e.contains(words));
    match (ours, theirs) {
        (Err(e), _) if e == PANIC => None,
        (Ok(a), Ok(b)) if a == b => Some("the same bytes"),
        (Err(_), Err(_)) => Some("both fail"),
        (Err(e), Ok(_)) if e.contains("asks for a name hash, which only") => Some("deviations/hash-other-kinds"),
        (Ok(_), Err(_))
            if theirs_says("name reference in")
                && (theirs_says("expected sequence or mapping node")
                    || theirs_says("no 'name' field in node")
                    || theirs_says("is expected to be either a string or a map of string")) =>
        {
            Some("deviations/references-unseen")
        }
        (Err(_), Ok(text)) if text.contains("\n  name: null\n") || text.contains("\nkind: null\n") => {
            Some("deviations/nameless")
        }
        (Err(e), Ok(_)) if e.contains("in the image name") => Some("deviations/crash"),
        // The validators here change nothing.
        (Ok(_), Err(_)) if theirs_says("validator shouldn't modify") => Some("deviations/validator-style"),
        (Ok(_), Err(_)) if theirs_says("panic:") || theirs_says("goroutine") || theirs_says(reference::CRASH) => {
            Some("the reference crashed")
        }
        _ => None,
    }
}

/// One of several that build trees both ways, each in a directory of its own.
struct Builder {
    compat: Compat,
    theirs: Theirs,
    directory: tempfile::TempDir,
}

impl Builder {
    fn outcomes(&mut self, tree: &Tree) -> (Outcome, Outcome) {
        let directory = self.directory.path();
        let _ = fs::remove_dir_all(directory);
        let root = tree.write(directory);
        (ours(self.compat, &root), self.theirs.build(tree, &root))
    }

    /// True if kustomize fails over comments that it has printed in the wrong place, or makes text
    /// of them (deviations/comments): without its comments the tree is built to what it is built
    /// here with them, and that needs no repair.
    fn is_about_comments(&mut self, tree: &Tree, ours: &Outcome) -> bool {
        if ours.is_err() {
            return false;
        }
        [tree.without_comments(), tree.without_comment_lines()].iter().any(|bare| {
            let (our_bare, their_bare) = self.outcomes(bare);
            our_bare == *ours && accepted(&our_bare, &their_bare).is_some()
        })
    }

    fn is_accepted(&mut self, tree: &Tree, ours: &Outcome, theirs: &Outcome) -> bool {
        accepted(ours, theirs).is_some() || tree.has_no_order() || self.is_about_comments(tree, ours)
    }

    /// Takes things away as long as the difference stays, and who of the two fails, for a while.
    fn shrunk(&mut self, mut tree: Tree, first: (bool, bool)) -> Tree {
        let start = Instant::now();
        loop {
            let mut i = 0;
            let mut is_smaller = false;
            // A part that could not be taken away is tried again only when all have been.
            let mut candidates = tree.smaller();
            while i < candidates.len() {
                if start.elapsed() > SHRINKING {
                    return tree;
                }
                let (ours, theirs) = self.outcomes(&candidates[i]);
                if (ours.is_ok(), theirs.is_ok()) == first && !self.is_accepted(&candidates[i], &ours, &theirs) {
                    tree = candidates.swap_remove(i);
                    candidates = tree.smaller();
                    is_smaller = true;
                } else {
                    i += 1;
                }
            }
            if !is_smaller {
                return tree;
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a test of another length is asked for by name")]
fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn number(name: &str, default: usize) -> usize {
    setting(name).and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// The number of tries for a tree that does not build, with fewer fields each time.
const ATTEMPTS: usize = 5;

/// How long a tree is made smaller: for some, kustomize takes a second each time.
const SHRINKING: Duration = Duration::from_secs(120);

/// How long a tree may take.
const PATIENCE: Duration = Duration::from_secs(300);

/// The work that several threads share.
#[derive(Default)]
struct Run {
    /// The trees that are worked on, by seed, and since when.
    busy: Mutex<Vec<(u64, Instant)>>,
    next: AtomicUsize,
    built: AtomicUsize,
    found: Mutex<Vec<String>>,
}

#[test]
fn random_trees_build_to_the_same_bytes() {
    let named = setting("RUSTOMIZE_VERSIONS").unwrap_or_else(|| Compat::default().version().to_owned());
    for version in named.split([',', ' ']).filter(|version| !version.is_empty()) {
        compare(Compat::parse(version).unwrap());
    }
}

fn compare(compat: Compat) {
    let Some((_, name)) = Theirs::find(compat) else {
        skip(&format!(".ci/oracle {compat} has not been run, and neither kustomize nor kubectl is in PATH"));
        return;
    };
    let (mut trees, mut seed) = (number("RUSTOMIZE_TREES", 100), number("RUSTOMIZE_SEED", 1));
    let run = Run::default();
    if let Some(name) = setting("RUSTOMIZE_TREE") {
        let name = usize::from_str_radix(&name, 16).unwrap();
        let index = name & 0xffff_ffff;
        (seed, trees) = (name >> 32, index + 1);
        run.next.store(index, Ordering::Relaxed);
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| work(compat, &run, trees, seed as u64))).collect();
        while workers.iter().any(|worker| !worker.is_finished()) {
            std::thread::sleep(Duration::from_millis(50));
            let busy = run.busy.lock().unwrap();
            // A build that does not end is ended with the test: nothing else ends it.
            if let Some((seed, _)) = busy.iter().find(|(_, since)| since.elapsed() > PATIENCE) {
                eprintln!("tree {seed:x} takes too long");
                std::process::exit(1);
            }
        }
    });
    let found = run.found.into_inner().unwrap();
    let built = run.built.into_inner();
    let trees = if setting("RUSTOMIZE_TREE").is_some() { 1 } else { trees };
    println!("{trees} trees from seed {seed}, compared with {name}: {built} build, {} differ", found.len());
    if name == OLDER {
        return println!("{}", found.join("\n"));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(built * 2 > trees || trees == 1, "most trees do not build: they test nothing");
}

fn work(compat: Compat, run: &Run, trees: usize, seed: u64) {
    let Some((theirs, _)) = Theirs::find(compat) else { return };
    let directory = tempfile::TempDir::new().unwrap();
    let mut builder = Builder { compat, theirs, directory };
    let keep = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/differential");
    let most = number("RUSTOMIZE_FOUND", 10);
    let says_why = setting("RUSTOMIZE_WHY");
    loop {
        let i = run.next.fetch_add(1, Ordering::Relaxed);
        if i >= trees || run.found.lock().unwrap().len() >= most {
            return;
        }
        let seed = seed << 32 | i as u64;
        run.busy.lock().unwrap().push((seed, Instant::now()));
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut tree = shape::tree(&mut rng);
        // The first error of a tree hides the rest: then a smaller tree is built.
        for _ in 0..ATTEMPTS {
            let (ours, theirs) = builder.outcomes(&tree);
            if let (Err(e), Some(how)) = (&theirs, &says_why) {
                let tree = if how == "tree" { tree.txtar("") } else { String::new() };
                println!("why {seed:x}: {}{tree}", e.lines().take(3).collect::<Vec<_>>().join(" | "));
            }
            if !builder.is_accepted(&tree, &ours, &theirs) {
                let small = builder.shrunk(tree, (ours.is_ok(), theirs.is_ok()));
                let (ours, theirs) = builder.outcomes(&small);
                let text = report(seed, &small, &ours, &theirs);
                // At once: a long run may be stopped.
                fs::create_dir_all(&keep).unwrap();
                fs::write(keep.join(format!("{}-tree-{seed:x}.txt", compat.version())), &text).unwrap();
                run.found.lock().unwrap().push(text);
                break;
            }
            if theirs.is_ok() {
                run.built.fetch_add(1, Ordering::Relaxed);
                break;
            }
            // A smaller tree might take kustomize as long.
            if theirs.is_err_and(|e| e.starts_with(reference::CRASH)) {
                break;
            }
            tree = tree.thinned(&mut rng);
        }
        run.busy.lock().unwrap().retain(|(busy, _)| *busy != seed);
    }
}

fn report(seed: u64, tree: &Tree, ours: &Outcome, theirs: &Outcome) -> String {
    let show = |outcome: &Outcome| match outcome {
        Ok(text) => format!("-- stdout --\n{text}"),
        Err(text) => format!("-- stderr --\n{text}"),
    };
    format!(
        "{}\n==== ours ====\n{}\n==== theirs ====\n{}",
        tree.txtar(&format!("Seed {seed:x}.")),
        show(ours),
        show(theirs)
    )
}
