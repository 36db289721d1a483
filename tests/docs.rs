//! The pages about plugins: the walk of docs/plugin/use.md runs word for word.

use crate::support::{Run, Tree, run, skip};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

/// A block of a page between fences: the words behind the opening fence, the line of the first line
/// in it, and its text.
struct Block {
    info: String,
    line: usize,
    text: String,
}

/// The blocks of a page.
fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), open.as_mut()) {
            (Some(info), None) => {
                open = Some(Block { info: info.to_owned(), line: number + 2, text: String::new() });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => block.text += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

/// A shell in an empty home, with the built tool first in PATH.
struct Shell {
    tree: Tree,
    directory: PathBuf,
}

impl Shell {
    fn new() -> Shell {
        let tree = Tree::new("");
        let bin = tree.path().join("bin");
        fs::create_dir(&bin).unwrap();
        symlink(env!("CARGO_BIN_EXE_rustomize"), bin.join("rustomize")).unwrap();
        let directory = tree.home();
        Shell { tree, directory }
    }

    /// Runs a script in the directory where the last one ended. The first command that fails ends
    /// it.
    fn run(&mut self, script: &str) -> Run {
        let place = self.tree.tmp().join("pwd");
        #[expect(clippy::disallowed_methods, reason = "pages are written for a shell")]
        let mut command = Command::new("/bin/sh");
        command.args(["-euc", &format!("trap 'pwd > \"$PLACE\"' EXIT\n{script}")]).current_dir(&self.directory);
        command.env_clear().stdin(Stdio::null()).env("PLACE", &place).env("HOME", self.tree.home());
        command.env("PATH", format!("{}:/usr/bin:/bin", self.tree.path().join("bin").display()));
        command.env("TMPDIR", self.tree.tmp());
        let done = run(&mut command);
        self.directory = fs::read_to_string(&place).unwrap().trim_end().into();
        done
    }
}

/// Runs the `console` blocks of a page in order in one shell, as docs/testing.md says, and compares
/// what they print with the `text` blocks behind them.
fn walk(name: &str) {
    let page = read(name);
    let blocks = blocks(&page);
    let mut shell = Shell::new();
    let home = shell.tree.home().display().to_string();
    for (i, block) in blocks.iter().enumerate() {
        let wanted_status = match block.info.as_str() {
            "console" => 0,
            "console fails" => 1,
            "text" => {
                let above = i.checked_sub(1).map(|above| blocks[above].info.as_str());
                assert!(above.is_some_and(|info| info.starts_with("console")), "{name}:{}: prints nothing", block.line);
                continue;
            }
            other => panic!("{name}:{}: unknown block '{other}'", block.line),
        };
        let at = format!("{name}:{}", block.line);
        let done = shell.run(&block.text);
        assert_eq!(done.status, Some(wanted_status), "{at}\n{}{}", done.stdout, done.stderr);
        let printed = if wanted_status == 0 { &done.stdout } else { &done.stderr };
        let printed = printed.replace(&home, "/home/you");
        if let Some(wanted) = blocks.get(i + 1).filter(|next| next.info == "text") {
            assert_eq!(printed, wanted.text, "{at}");
        }
    }
}

/// Whether git and bash are where the walk's PATH has them.
fn has_tools() -> bool {
    ["git", "bash"].iter().all(|name| ["/usr/bin", "/bin"].iter().any(|folder| Path::new(folder).join(name).exists()))
}

#[test]
fn the_walk_of_use_runs_word_for_word() {
    if !has_tools() {
        return skip("the walk needs git and bash in /usr/bin");
    }
    walk("docs/plugin/use.md");
}
