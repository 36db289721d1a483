//! Random trees, built by us and by kustomize: the bytes must be the same, or both must fail.
//!
//! Runs where `kustomize` or `kubectl` is in PATH. `RUSTOMIZE_TREES=20000 RUSTOMIZE_SEED=1 cargo test differential` builds that
//! many; a difference is made as small as it gets and written to testdata/differential, to be looked at and then kept as a
//! case or explained. `RUSTOMIZE_WHY=1` prints why trees do not build: those test little, and should be few. What is accepted is listed in [`accepted`], with its reason.

mod documents;
mod lists;
pub mod reference;
mod tree;

use rustomize::pipeline::{self, Options, Session};
use rustomize::yaml::Arena;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use tree::Tree;

/// A build: its bytes, or what it failed with.
type Outcome = Result<String, String>;

/// The command that builds a directory: its first words.
fn reference() -> Option<Vec<String>> {
    let paths: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let find = |name: &str| paths.iter().map(|p| p.join(name)).find(|p| p.is_file());
    let text = |p: PathBuf| p.to_string_lossy().into_owned();
    if let Some(kustomize) = find("kustomize") {
        return Some(vec![text(kustomize), "build".to_owned()]);
    }
    find("kubectl").map(|kubectl| vec![text(kubectl), "kustomize".to_owned()])
}

fn theirs(command: &[String], directory: &str) -> Outcome {
    #[expect(clippy::disallowed_methods, reason = "kustomize is what we compare with")]
    let mut kustomize = Command::new(&command[0]);
    // It lives for a moment: collecting garbage would only take time.
    let output = kustomize.args(&command[1..]).arg(directory).env("GOGC", "off").stdin(Stdio::null()).output().unwrap();
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

fn ours(directory: &str) -> Outcome {
    let arena = Arena::new();
    let session = Session::new(&arena, Options::default());
    let map = pipeline::build(&session, directory).map_err(|e| e.to_string())?;
    pipeline::print(&arena, &map).map_err(|e| e.to_string())
}

/// Why a difference is none, if it is.
fn accepted(ours: &Outcome, theirs: &Outcome) -> Option<&'static str> {
    let theirs_says = |words: &str| theirs.as_ref().is_err_and(|e| e.contains(words));
    match (ours, theirs) {
        (Ok(a), Ok(b)) if a == b => Some("the same bytes"),
        (Err(_), Err(_)) => Some("both fail"),
        (Err(e), Ok(_)) if e.contains("asks for a name hash, which only") => Some("deviations/hash-other-kinds"),
        (Ok(_), Err(_))
            if theirs_says("name reference in")
                && (theirs_says("expected sequence or mapping node") || theirs_says("no 'name' field in node")) =>
        {
            Some("deviations/references-unseen")
        }
        (Err(_), Ok(text)) if text.contains("\n  name: null\n") => Some("deviations/nameless"),
        // The validators here change nothing.
        (Ok(_), Err(_)) if theirs_says("validator shouldn't modify") => Some("deviations/validator-style"),
        (Ok(_), Err(_)) if theirs_says("panic:") || theirs_says("goroutine") => Some("the reference crashed"),
        _ => None,
    }
}

/// Builds a tree both ways, in a directory that is emptied first.
fn outcomes(tree: &Tree, command: &[String], directory: &Path) -> (Outcome, Outcome) {
    let _ = fs::remove_dir_all(directory);
    let root = tree.write(directory);
    (ours(&root), theirs(command, &root))
}

fn differs(tree: &Tree, command: &[String], directory: &Path) -> bool {
    let (ours, theirs) = outcomes(tree, command, directory);
    accepted(&ours, &theirs).is_none()
}

/// Takes things away as long as the difference stays.
fn shrunk(mut tree: Tree, command: &[String], directory: &Path) -> Tree {
    'again: loop {
        for smaller in tree.smaller() {
            if differs(&smaller, command, directory) {
                tree = smaller;
                continue 'again;
            }
        }
        return tree;
    }
}

#[expect(clippy::disallowed_methods, reason = "a test of another length is asked for by name")]
fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn number(name: &str, default: usize) -> usize {
    setting(name).and_then(|v| v.parse().ok()).unwrap_or(default)
}

#[test]
fn random_trees_build_to_the_same_bytes() {
    let Some(command) = reference() else {
        println!("skipped: neither kustomize nor kubectl is in PATH");
        return;
    };
    let (trees, seed) = (number("RUSTOMIZE_TREES", 100), number("RUSTOMIZE_SEED", 1));
    let says_why = setting("RUSTOMIZE_WHY").is_some();
    let next = AtomicUsize::new(0);
    let built = AtomicUsize::new(0);
    let found: Mutex<Vec<String>> = Mutex::default();
    let keep = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/differential");
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let directory = tempfile::TempDir::new().unwrap();
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= trees || found.lock().unwrap().len() >= 10 {
                        return;
                    }
                    let seed = (seed as u64) << 32 | i as u64;
                    let tree = tree::tree(&mut fastrand::Rng::with_seed(seed));
                    let (ours, theirs) = outcomes(&tree, &command, directory.path());
                    if let (Err(e), true) = (&ours, says_why) {
                        println!("why: {}", e.lines().take(3).collect::<Vec<_>>().join(" | "));
                    }
                    built.fetch_add(usize::from(theirs.is_ok()), Ordering::Relaxed);
                    if accepted(&ours, &theirs).is_none() {
                        let small = shrunk(tree, &command, directory.path());
                        let (ours, theirs) = outcomes(&small, &command, directory.path());
                        let text = report(seed, &small, &ours, &theirs);
                        // At once: a long run may be stopped.
                        fs::create_dir_all(&keep).unwrap();
                        fs::write(keep.join(format!("tree-{seed:x}.txt")), &text).unwrap();
                        found.lock().unwrap().push(text);
                    }
                }
            });
        }
    });
    let found = found.into_inner().unwrap();
    let reports = found.join("\n");
    let built = built.into_inner();
    println!("{trees} trees from seed {seed}: {built} build, {} differ", found.len());
    assert!(found.is_empty(), "{reports}");
    assert!(built * 5 > trees, "most trees do not build: they test nothing");
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
