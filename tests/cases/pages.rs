//! Commands on pages run word for word: those of `sh` blocks and indented blocks line after line in
//! one tree for the page, and each command in a cell of a table in a tree of its own.
//! testdata/pages has a tree for each page, in which `upstream` becomes a repository and all is
//! committed: docs/testing.md.

use crate::support::{Run, Tree, git, program, run, skip};
use crate::testdata;
use libtest_mimic::Trial;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub fn tests() -> Vec<Trial> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut paths = vec![root.join("README.md")];
    paths.extend(crate::support::files(&root.join("docs"), ".md"));
    let mut pages = BTreeMap::new();
    for path in paths {
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        let is_elsewhere = ELSEWHERE.contains(&name.as_str())
            || name.starts_with("docs/gitops/")
            || name.starts_with("docs/reference/");
        let commands = commands(&fs::read_to_string(&path).unwrap());
        if !is_elsewhere && !commands.iter().all(Vec::is_empty) {
            pages.insert(name, commands);
        }
    }
    let texts = pages.values().flatten().flatten().map(|(_, text)| text.clone()).collect::<Vec<_>>();
    let exceptions = Trial::test("pages/exceptions", move || {
        let is_used = |start: &str| texts.iter().any(|text| text.starts_with(start));
        match NOT_RUN.iter().find(|(start, _)| !is_used(start)) {
            Some((start, _)) => Err(format!("no page has the command '{start}'").into()),
            None => Ok(()),
        }
    });
    let pages = pages.into_iter().map(|(name, commands)| {
        Trial::test(format!("pages/{}", name.trim_end_matches(".md")), move || Ok(check(&name, commands)?))
    });
    pages.chain([exceptions]).collect()
}

/// Pages whose commands other tests run: tests/docs.rs, tests/author_circle.rs, tests/release.rs,
/// tests/shelves, tests/embed.rs, .ci/vscode, and tables of commands with the test of each row.
const ELSEWHERE: [&str; 12] = [
    "docs/editor.md",
    "docs/tour.md",
    "docs/fleet.md",
    "docs/plugin/use.md",
    "docs/plugin/package.md",
    "docs/install.md",
    "docs/embed/javascript.md",
    "docs/embed/mcp.md",
    "docs/embed/python.md",
    "docs/release.md",
    "docs/testing.md",
    "docs/compatibility.md",
];

/// Commands that cannot run in a tree of files, and why.
const NOT_RUN: [(&str, &str); 11] = [
    ("curl -fsSL https://", "installs from the releases: tests/shelves"),
    ("uvx ", "installs from the releases: tests/shelves"),
    ("npx ", "installs from the releases: tests/shelves"),
    ("rustomize watch ", "runs until a signal ends it: tests/fleet.rs"),
    ("rustomize fn run my-dir --image", "needs an image"),
    ("rustomize plugin add github.com/acme/app", "fetches from another machine"),
    ("rustomize completion powershell", "is a line for the profile of PowerShell"),
    ("time ", "times both tools, and not every machine has kustomize"),
    ("cd src/engine/schema/generate", "fetches Kubernetes' sources"),
    ("rustomize 0.1.0 (kustomize v5.8.3)", "is the output of a command"),
    ("for root in overlays/*/; do", "compares with kustomize, which not every machine has: tests/differential does"),
];

/// Commands that a cell only names.
const NAMES: [&str; 6] = [
    "rustomize plugin",
    "rustomize diff",
    "rustomize lint",
    "rustomize explain",
    "rustomize doctor",
    "rustomize plugin build",
];

/// A page's commands, each with its line: those of all blocks, then each in a cell.
fn commands(page: &str) -> Vec<Vec<(usize, String)>> {
    let (mut blocks, mut cells): (Vec<(usize, String)>, Vec<_>) = Default::default();
    let mut fence = None;
    for (number, line) in page.lines().enumerate().map(|(i, line)| (i + 1, line)) {
        if let Some(info) = line.strip_prefix("```") {
            fence = if fence.is_some() { None } else { Some(info) };
            continue;
        }
        let command = match fence {
            Some("sh") => line,
            None => line.strip_prefix("    ").filter(|text| text.starts_with("rustomize ")).unwrap_or_default(),
            Some(_) => "",
        };
        match blocks.last_mut() {
            _ if command.is_empty() => {}
            Some((_, last)) if last.ends_with('\\') || last.starts_with("for ") && !last.ends_with("done") => {
                *last += &format!("\n{command}");
            }
            _ => blocks.push((number, command.to_owned())),
        }
        if fence.is_none() && line.starts_with('|') {
            let spans = line.split('`').skip(1).step_by(2).filter(|span| span.starts_with("rustomize "));
            let spans = spans.filter(|span| !NAMES.contains(span));
            cells.extend(spans.map(|span| vec![(number, span.replace("\\|", "|"))]));
        }
    }
    cells.insert(0, blocks);
    cells
}

/// A tree with the built tool first in PATH, then the programs of the tree's `bin`.
struct Place {
    tree: Tree,
    bin: PathBuf,
}

impl Place {
    fn new(files: &str) -> Place {
        let tree = Tree::new(files);
        let bin = tree.home().join("bin");
        fs::create_dir(&bin).unwrap();
        symlink(program(), bin.join("rustomize")).unwrap();
        let upstream = tree.path().join("upstream");
        let mut settings = "[user]\nname = you\nemail = you@example.com\n".to_owned();
        if upstream.exists() {
            let place = tree.home().join("upstream");
            fs::rename(&upstream, &place).unwrap();
            git(&place, &["init", "-q"]);
            git(&place, &["add", "."]);
            git(&place, &["commit", "-q", "--allow-empty", "-m", "first"]);
            git(&place, &["tag", "v1.2.3"]);
            settings += &format!(
                "[url \"file://{}\"]\ninsteadOf = https://github.com/example/app\n[protocol \"file\"]\nallow = always\n",
                place.display()
            );
        }
        fs::write(tree.home().join(".gitconfig"), settings).unwrap();
        git(&tree.path(), &["init", "-q", "-b", "main"]);
        git(&tree.path(), &["add", "."]);
        git(&tree.path(), &["commit", "-q", "--allow-empty", "-m", "first"]);
        git(&tree.path(), &["update-ref", "refs/remotes/origin/main", "HEAD"]);
        git(&tree.path(), &["branch", "feature"]);
        Place { tree, bin }
    }

    /// Runs a command in the tree's directory `here`, or in the tree.
    fn run(&self, text: &str) -> Run {
        let here = self.tree.path().join("here");
        let directory = if here.exists() { here } else { self.tree.path() };
        #[expect(clippy::disallowed_methods, reason = "pages are written for a shell")]
        let mut command = Command::new("/bin/sh");
        command.args(["-euc", text]).current_dir(directory).env_clear().stdin(Stdio::null());
        let stand_ins = self.tree.path().join("bin");
        command.env("PATH", format!("{}:{}:/usr/bin:/bin", self.bin.display(), stand_ins.display()));
        command.env("HOME", self.tree.home()).env("TMPDIR", self.tree.tmp()).env("GITHUB_BASE_REF", "main");
        run(&mut command)
    }
}

/// Runs the commands of a page.
fn check(name: &str, mut blocks: Vec<Vec<(usize, String)>>) -> Result<(), String> {
    if !["/usr/bin/git", "/bin/git"].iter().any(|git| Path::new(git).exists()) {
        skip("pages need git in /usr/bin");
        return Ok(());
    }
    for block in &mut blocks {
        block.retain(|(_, text)| NOT_RUN.iter().all(|(start, _)| !text.starts_with(start)));
    }
    if blocks.iter().all(Vec::is_empty) {
        return Ok(());
    }
    let files = testdata("pages").join(Path::new(name).file_stem().unwrap()).with_extension("txtar");
    let Ok(files) = fs::read_to_string(&files) else { return Err(format!("{} is missing", files.display())) };
    let mut faults = String::new();
    for block in blocks {
        let place = Place::new(&files);
        for (line, text) in block {
            let done = place.run(&text);
            // Of these commands 1 is an answer: there are differences, or findings.
            let answers = ["rustomize diff ", "rustomize lint ", "| rustomize diff "];
            let is_answer = done.status == Some(1)
                && answers.iter().any(|start| text.starts_with(start) || text.contains(" | rustomize diff "))
                && !done.stderr.contains("Error");
            if done.status != Some(0) && !is_answer {
                faults += &format!("{name}:{line}: {text}\n{:?}\n{}{}\n", done.status, done.stdout, done.stderr);
            }
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}
