//! `completion`: the script of a shell, and the words that the script asks for.
//!
//! The script runs the tool with [`VARIABLE`] set to the name of the shell. The tool then prints
//! the words that fit at the cursor. They come from the definitions of the flags, and from
//! [`VALUES`] for values that only this machine knows: directories, plugins, kinds.

use super::called::Called;
use super::managed::variable;
use super::writer;
use crate::config::kustomization::FILE_NAMES;
use crate::manager::id::name::Platform;
use crate::manager::store::discover::all;
use crate::manager::store::root;
use crate::schema::builtin_kinds;
use anyhow::{Result, bail};
use clap::{Args, Command};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter};
use clap_complete::env::Shells;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

/// The variable by which a script asks for words. Its value is the name of the shell.
pub const VARIABLE: &str = "RUSTOMIZE_COMPLETE";

/// How many directories are looked at for one completion.
const MOST_DIRECTORIES: usize = 2_000;

/// How deep below the typed directory kustomizations are looked for.
const MOST_DEPTH: usize = 4;

/// `completion`.
#[derive(Args)]
pub struct Completion {
    /// The shell: bash, zsh, fish or powershell
    #[arg(value_name = "SHELL", value_parser = ["bash", "zsh", "fish", "powershell"])]
    pub shell: String,
}

/// Prints the script of a shell for the tool under the name by which it was called.
///
/// # Errors
/// stdout is closed.
pub fn run(args: &Completion, called: Called) -> Result<()> {
    let name = if called == Called::Kustomize { "kustomize" } else { "rustomize" };
    let shells = Shells::builtins();
    let Some(shell) = shells.completer(&args.shell) else { bail!("'{}' is not a known shell", args.shell) };
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, name, name, name, &mut script)?;
    Ok(writer::data([script])?)
}

/// Prints the words that fit at the cursor. The arguments are those of the process: the line of the
/// shell is behind `--`.
///
/// # Errors
/// The shell is unknown, or stdout is closed.
pub fn answer(shell: &OsStr, arguments: Vec<OsString>, program: Command) -> Result<()> {
    let shells = Shells::builtins();
    let shell = shell.to_string_lossy();
    let Some(shell) = shells.completer(&shell) else { bail!("{VARIABLE} names an unknown shell, '{shell}'") };
    let line: Vec<OsString> = arguments.into_iter().skip_while(|word| word != "--").skip(1).collect();
    if line.is_empty() {
        bail!("{VARIABLE} is set, and there is no line to complete behind '--'");
    }
    let mut program = with_values(program);
    if !line.last().is_some_and(|word| word.as_encoded_bytes().starts_with(b"-")) {
        program = with_hidden_flags(program);
    }
    let here = std::env::current_dir().ok();
    let mut words = Vec::new();
    shell.write_complete(&mut program, line, here.as_deref(), &mut words)?;
    Ok(writer::data([words])?)
}

/// The program, with flags that are completed only where nothing else fits: at a word that does not
/// begin with a dash.
fn with_hidden_flags(program: Command) -> Command {
    let hide = |argument: clap::Arg| if argument.is_positional() { argument } else { argument.hide(true) };
    program.mut_args(hide).mut_subcommands(with_hidden_flags)
}

/// Makes the words of an argument.
type Words = fn(&OsStr) -> Vec<CompletionCandidate>;

/// Arguments whose values come from this machine or from kustomize: the command, the argument, and
/// the words.
const VALUES: &[(&str, &[&str], Words)] = &[
    ("build", &["directory"], kustomizations),
    ("explain", &["directory"], kustomizations),
    ("build", &["load_restrictor"], |word| listed(&["LoadRestrictionsRootOnly", "LoadRestrictionsNone"], word)),
    ("build", &["reorder"], |word| listed(&["legacy", "none"], word)),
    ("validate", &["directory"], kustomizations),
    ("validate", &["load_restrictor"], |word| listed(&["LoadRestrictionsRootOnly", "LoadRestrictionsNone"], word)),
    ("diff", &["directory"], files),
    ("diff", &["load_restrictor"], |word| listed(&["LoadRestrictionsRootOnly", "LoadRestrictionsNone"], word)),
    ("tree", &["directories"], kustomizations),
    ("version", &["output"], |word| listed(&["yaml", "json"], word)),
    ("openapi fetch", &["format"], |word| listed(&["json", "yaml"], word)),
    ("cfg count", &["directory"], directories),
    ("cfg cat", &["directory"], directories),
    ("cfg tree", &["directory"], directories),
    ("fn run", &["directory", "fn_path", "results_dir"], directories),
    ("fn run", &["exec_path"], files),
    ("create", &["resources"], files),
    ("localize", &["target", "scope"], directories),
    ("edit add resource", &["words"], files),
    ("edit add base", &["words"], directories),
    ("edit add component", &["words"], directories),
    ("edit add generator", &["words"], files),
    ("edit add transformer", &["words"], files),
    ("edit add validator", &["words"], files),
    ("edit add configuration", &["words"], files),
    ("edit add configmap", &["from_file", "from_env_file"], files),
    ("edit add configmap", &["behavior"], |word| listed(&["create", "merge", "replace"], word)),
    ("edit add secret", &["from_file", "from_env_file"], files),
    ("edit add secret", &["secret_type"], |word| listed(&["Opaque", "kubernetes.io/tls"], word)),
    ("edit add patch", &["path"], files),
    ("edit add patch", &["kind"], kinds),
    ("edit remove patch", &["path"], files),
    ("edit remove patch", &["kind"], kinds),
    ("edit add buildmetadata", &["words"], build_metadata),
    ("edit set buildmetadata", &["words"], build_metadata),
    ("edit remove buildmetadata", &["words"], build_metadata),
    ("plugin remove", &["what"], plugins),
    ("plugin describe", &["what"], plugins),
    ("plugin build", &["directory"], directories),
];

/// The program, with the words of [`VALUES`].
fn with_values(mut program: Command) -> Command {
    program.build();
    for (path, arguments, words) in VALUES {
        let path: Vec<&str> = path.split(' ').collect();
        program = with_words(program, &path, arguments, *words);
    }
    program
}

fn with_words(command: Command, path: &[&str], arguments: &[&str], words: Words) -> Command {
    match path {
        [] => arguments.iter().fold(command, |command, name| {
            let words = move |word: &OsStr| words(word);
            command.mut_arg(name, |argument| argument.add(ArgValueCompleter::new(words)))
        }),
        [first, rest @ ..] => command.mut_subcommand(first, |command| with_words(command, rest, arguments, words)),
    }
}

fn listed<T: AsRef<str>>(words: &[T], typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let fitting = words.iter().map(AsRef::as_ref).filter(|word| word.starts_with(typed.as_ref()));
    fitting.map(CompletionCandidate::new).collect()
}

fn build_metadata(typed: &OsStr) -> Vec<CompletionCandidate> {
    listed(&["originAnnotations", "transformerAnnotations", "managedByLabel"], typed)
}

fn files(typed: &OsStr) -> Vec<CompletionCandidate> {
    PathCompleter::any().complete(typed)
}

fn directories(typed: &OsStr) -> Vec<CompletionCandidate> {
    PathCompleter::dir().complete(typed)
}

/// Kubernetes' own kinds.
fn kinds(typed: &OsStr) -> Vec<CompletionCandidate> {
    let names: BTreeSet<&str> = builtin_kinds().collect();
    listed(&names.into_iter().collect::<Vec<_>>(), typed)
}

/// The sources of installed plugins.
fn plugins(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Ok(root) = root::root(variable) else { return Vec::new() };
    let candidates = all(&root, &Platform::host());
    let sources: BTreeSet<String> =
        candidates.iter().filter_map(|c| c.source.as_ref()).map(ToString::to_string).collect();
    listed(&sources.into_iter().collect::<Vec<_>>(), typed)
}

/// Directories that have a kustomization, at and below the typed directory; all directories if none
/// has one.
fn kustomizations(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Some(typed_text) = typed.to_str() else { return Vec::new() };
    let (parent, _) = typed_text.rsplit_once('/').map_or(("", typed_text), |(parent, name)| (parent, name));
    let parent = if typed_text.starts_with('/') && parent.is_empty() { "/" } else { parent };
    let mut found = Vec::new();
    let mut left = MOST_DIRECTORIES;
    collect(Path::new(parent), MOST_DEPTH, &mut left, &mut found);
    let mut names: Vec<String> = found.iter().filter_map(|path| path.to_str()).map(str::to_owned).collect();
    names.retain(|name| name.starts_with(typed_text) && !name.is_empty());
    names.sort();
    if names.is_empty() { directories(typed) } else { listed(&names, typed) }
}

/// Adds the directories with a kustomization at and below one, without hidden directories and
/// links.
fn collect(directory: &Path, depth: usize, left: &mut usize, found: &mut Vec<PathBuf>) {
    if *left == 0 {
        return;
    }
    *left -= 1;
    let readable = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let Ok(entries) = fs::read_dir(readable) else { return };
    let mut below = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name();
        if FILE_NAMES.iter().any(|known| name == *known) {
            found.push(directory.to_owned());
        }
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) && !name.as_encoded_bytes().starts_with(b".") {
            below.push(directory.join(name));
        }
    }
    if depth > 0 {
        below.sort();
        for directory in below {
            collect(&directory, depth - 1, left, found);
        }
    }
}
