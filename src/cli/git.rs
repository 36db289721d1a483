//! Calls of git by this tool: the files of commits and of the index. The working tree and the index
//! of the user stay untouched.

use crate::host;
use anyhow::{Context, Result, anyhow, bail};
use rustomize_base::os_text;
use rustomize_engine::diag::nearest;
use rustomize_process::{Failure, Launch, Limits};
use rustomize_sources::git_command::{self, Filters, VARIABLE};
use rustomize_sources::reach;
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The largest output of git, in bytes: the names of all files.
const MAX_OUTPUT: u64 = 1 << 30;

/// The directory of the working tree.
///
/// # Errors
/// The working directory is not in a repository.
pub(super) fn top() -> Result<PathBuf> {
    in_reach(path_of(&git(Path::new("."), &["rev-parse", "--show-toplevel"], None)?))
}

/// The working directory of a command, relative to the top of the working tree.
///
/// # Errors
/// The working directory is not in a repository.
pub(super) fn prefix() -> Result<PathBuf> {
    Ok(path_of(&git(Path::new("."), &["rev-parse", "--show-prefix"], None)?))
}

/// The directory of the working tree, and the working directory of the command relative to it.
///
/// # Errors
/// The working directory is not in a repository.
pub(super) fn top_and_prefix() -> Result<(PathBuf, PathBuf)> {
    let printed = git(Path::new("."), &["rev-parse", "--show-toplevel", "--show-prefix"], None)?;
    let mut lines = printed.split(|&byte| byte == b'\n');
    match (lines.next(), lines.next(), lines.next(), lines.next()) {
        (Some(top), Some(prefix), Some([]), None) => Ok((in_reach(path_of(top))?, path_of(prefix))),
        // A name has a line break.
        _ => Ok((top()?, prefix()?)),
    }
}

/// The top of a working tree. It is an error if this process may not read the tree, or the
/// directory in which git keeps its commits.
fn in_reach(top: PathBuf) -> Result<PathBuf> {
    reach::check(&top).with_context(|| format!("the repository begins at '{}'", top.display()))?;
    if reach::is_limited() {
        kept_paths()?.iter().try_for_each(|path| {
            reach::check(path).with_context(|| {
                let hint = "name its directory '.git', too, when you start the server";
                format!("git keeps this repository at '{}'\n  hint: {hint}", path.display())
            })
        })?;
    }
    Ok(top)
}

/// The paths below which git keeps the commits and files of the repository around the working
/// directory. A file `.git` and links in a directory `.git` lead to those of other repositories.
fn kept_paths() -> Result<Vec<PathBuf>> {
    const PARTS: [&str; 6] = ["HEAD", "packed-refs", "refs", "objects", "objects/pack", "objects/info/alternates"];
    let words: Vec<&str> =
        ["rev-parse"].into_iter().chain(PARTS.iter().flat_map(|part| ["--git-path", part])).collect();
    let printed = git(Path::new("."), &words, None)?;
    let parts: Vec<PathBuf> = printed.split_inclusive(|&byte| byte == b'\n').map(path_of).collect();
    let [.., objects, packs, alternates] = &parts[..] else { bail!("git does not name the directory '.git'") };
    if parts.len() != PARTS.len() {
        bail!("the path of the repository has a line break");
    }
    if alternates.symlink_metadata().is_ok() {
        bail!("the repository has objects of another one: '{}'", alternates.display());
    }
    let mut paths = parts.clone();
    for directory in [objects, packs].into_iter().filter(|directory| directory.is_dir()) {
        for entry in std::fs::read_dir(directory).with_context(|| format!("cannot read '{}'", directory.display()))? {
            paths.push(entry?.path());
        }
    }
    Ok(paths)
}

/// The directory of the hooks of the repository around the working directory.
///
/// # Errors
/// The working directory is not in a repository.
pub(super) fn hooks() -> Result<PathBuf> {
    let settings = git_command::settings(None, &[], "core.hooksPath", &Filters::default());
    let launch = Launch::new("git").args(["rev-parse", "--git-path", "hooks"]);
    Ok(path_of(&run(launch, Path::new("."), settings)?))
}

/// The id of the commit that a user names.
///
/// # Errors
/// git does not know the commit.
pub(super) fn commit(top: &Path, revision: &str) -> Result<String> {
    if revision.starts_with('-') {
        bail!("'{revision}' is not a revision: it begins with a dash");
    }
    let printed = git(top, &["rev-parse", "--verify", "--quiet", &format!("{revision}^{{commit}}")], None);
    let printed = printed.map_err(|e| {
        let names = git(top, &["for-each-ref", "--format=%(refname:short)"], None).unwrap_or_default();
        let names = String::from_utf8_lossy(&names).into_owned();
        let hint = match nearest(revision, names.lines()) {
            Some(near) => format!("did you mean '{near}'?"),
            None => "name a branch, a tag or a commit; a shallow clone lacks commits: git fetch --unshallow".to_owned(),
        };
        let cause = e.to_string();
        let cause = if cause.trim().is_empty() { String::new() } else { format!(": {}", cause.trim()) };
        anyhow!("git knows no commit '{revision}'{cause}\n  hint: {hint}")
    })?;
    Ok(String::from_utf8_lossy(&printed).trim().to_owned())
}

/// The files that differ, as paths from the top of the repository: between two commits, or between
/// a commit or the index and the working tree. `sides` are the words of `git diff` that name them.
///
/// # Errors
/// git fails.
pub(super) fn differing(top: &Path, sides: &[&str]) -> Result<Vec<PathBuf>> {
    let words = ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=dirty"];
    Ok(paths_of(&git(top, &[&words, sides, &["--"]].concat(), None)?).collect())
}

/// Writes the files of a commit, or of the index, into a new directory `name` below `directory`,
/// and returns its path.
///
/// # Errors
/// git fails, or the directory cannot be written to.
pub(super) fn export(top: &Path, directory: &Path, name: &str, commit: Option<&str>) -> Result<PathBuf> {
    let index = match commit {
        Some(commit) => {
            let index = directory.join(format!("{name}.index"));
            git(top, &["read-tree", commit], Some(&index))?;
            Some(index)
        }
        None => None,
    };
    let tree = directory.join(name);
    std::fs::create_dir(&tree)?;
    let mut prefix = OsString::from("--prefix=");
    prefix.push(&tree);
    prefix.push("/");
    git(top, &[OsStr::new("checkout-index"), OsStr::new("--all"), &prefix], index.as_deref())?;
    Ok(tree)
}

/// The most bytes of a commit's files that are read into memory.
const MOST_IN_MEMORY: u64 = 256 << 20;

/// The files of a commit: the path from the top, and the content.
pub(super) type CommitFiles = Vec<(PathBuf, Vec<u8>)>;

/// Reads the files of a commit, as [`export`] would write them. `None` if a build cannot take them
/// from memory: links, names that are not UTF-8, more than a part of the memory, or a file that
/// `is_refused`.
///
/// # Errors
/// git fails.
pub(super) fn files_of(top: &Path, commit: &str, is_refused: impl Fn(&Path) -> bool) -> Result<Option<CommitFiles>> {
    let listed = git(top, &["ls-tree", "-r", "-l", "-z", "--full-tree", commit], None)?;
    let (mut paths, mut input, mut size) = (Vec::new(), Vec::new(), 0);
    for entry in listed.split(|&byte| byte == 0).filter(|entry| !entry.is_empty()) {
        let Some(Listed { mode, object, length, name }) = Listed::of(entry) else { return Ok(None) };
        match mode {
            "100644" | "100755" => {}
            // A submodule, which has no files here.
            "160000" => continue,
            _ => return Ok(None),
        }
        size += length;
        if is_refused(Path::new(name)) || name.contains('\n') || size > MOST_IN_MEMORY {
            return Ok(None);
        }
        input.extend_from_slice(format!("{object} {name}\n").as_bytes());
        paths.push(PathBuf::from(name));
    }
    // The conversions that the attributes of the files ask for, such as that of line ends.
    let launch = Launch::new("git").args(["cat-file", "--batch", "--filters"]).with_input(input);
    let printed = run_launch(launch, top)?;
    let mut rest = printed.as_slice();
    let mut files = Vec::with_capacity(paths.len());
    for path in paths {
        let Some((content, left)) = batched(rest) else { return Ok(None) };
        files.push((path, content.to_vec()));
        rest = left;
    }
    Ok(Some(files))
}

/// An entry of a tree, as `git ls-tree -l` prints it.
struct Listed<'t> {
    mode: &'t str,
    object: &'t str,
    length: u64,
    name: &'t str,
}

impl<'t> Listed<'t> {
    fn of(entry: &'t [u8]) -> Option<Listed<'t>> {
        let (head, name) = std::str::from_utf8(entry).ok()?.split_once('\t')?;
        let mut words = head.split_ascii_whitespace();
        let (mode, _, object, length) = (words.next()?, words.next()?, words.next()?, words.next()?);
        Some(Listed { mode, object, length: length.parse().unwrap_or_default(), name })
    }
}

/// The content of the first object in the output of `git cat-file --batch`, and what follows it.
fn batched(printed: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = printed.iter().position(|&byte| byte == b'\n')?;
    let head = std::str::from_utf8(&printed[..end]).ok()?;
    let length = head.rsplit_once(' ').and_then(|(_, length)| length.parse::<usize>().ok())?;
    let content = &printed[end + 1..];
    Some((content.get(..length)?, content.get(length + 1..)?))
}

/// Runs an action in another working directory.
///
/// # Errors
/// The directory does not exist, or the action fails.
pub(super) fn within<T>(directory: &Path, action: impl FnOnce() -> Result<T>) -> Result<T> {
    let here = std::env::current_dir()?;
    std::env::set_current_dir(directory)?;
    let done = action();
    let back = std::env::set_current_dir(here);
    let done = done?;
    back?;
    Ok(done)
}

/// The paths that git has printed, with NUL between them.
pub(super) fn paths_of(printed: &[u8]) -> impl Iterator<Item = PathBuf> {
    printed.split(|&byte| byte == 0).filter(|name| !name.is_empty()).map(path_of)
}

/// A path that git has printed.
pub(super) fn path_of(printed: &[u8]) -> PathBuf {
    os_text::from_bytes(printed.strip_suffix(b"\n").unwrap_or(printed).to_vec()).into()
}

/// Runs git in a directory, with an index of its own if one is named, and returns its output. The
/// repository may be somebody else's: none of its hooks, monitors and filters runs, no filter of
/// the user that its attributes name runs, and nothing is fetched.
///
/// # Errors
/// git is missing, or fails.
pub(super) fn git<S: AsRef<OsStr>>(directory: &Path, args: &[S], index: Option<&Path>) -> Result<Vec<u8>> {
    let launch = Launch::new("git").args(args.iter().map(|arg| arg.as_ref().to_owned()));
    let index = index.map(|path| (Cow::from("GIT_INDEX_FILE"), path.as_os_str().to_owned()));
    run_launch(launch.variables(index), directory)
}

/// As [`git`], for a command with an input or variables of its own.
fn run_launch(launch: Launch, directory: &Path) -> Result<Vec<u8>> {
    /// All commands of a process work in one repository.
    static FILTERS: OnceLock<Filters> = OnceLock::new();
    let known = || std::env::var_os(VARIABLE);
    let filters = FILTERS.get_or_init(|| {
        let settings = git_command::settings(known(), &[], "", &Filters::default());
        let listed = Filters::LIST.arguments().map_err(Into::into);
        let listed = listed.and_then(|list| run(Launch::new("git").args(list), directory, settings));
        Filters::all(&listed.unwrap_or_default())
    });
    run(launch, directory, git_command::settings(known(), &[], "", filters))
}

fn run(launch: Launch, directory: &Path, settings: Vec<u8>) -> Result<Vec<u8>> {
    let ours = [
        (Cow::from(VARIABLE), os_text::from_bytes(settings)),
        // A partial clone fetches missing files with programs that its settings name.
        (Cow::from("GIT_NO_LAZY_FETCH"), "1".into()),
        (Cow::from("GIT_ALLOW_PROTOCOL"), "".into()),
    ];
    let launch =
        launch.in_directory(directory).variables(ours).limited(Limits { output: MAX_OUTPUT, ..Limits::default() });
    host::children().run(launch).map_err(|failed| match failed.failure {
        Failure::NotStarted(e) if e.kind() == ErrorKind::NotFound => {
            anyhow::anyhow!("no 'git' program on path\n  hint: install git")
        }
        Failure::NotStarted(e) | Failure::Io(e) => anyhow::anyhow!("git cannot be run: {e}"),
        _ if ["not allowed", "lazy fetching disabled"].iter().any(|words| failed.stderr.contains(words)) => {
            anyhow::anyhow!(
                "{}\n  hint: a partial clone lacks these files; fetch them first: git fetch --refetch --no-filter",
                failed.stderr.trim_end()
            )
        }
        _ => anyhow::anyhow!("{}", failed.stderr.trim_end()),
    })
}
