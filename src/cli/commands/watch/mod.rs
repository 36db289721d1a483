//! `watch`: lints or builds again what a change of files touches.

#[cfg_attr(not(target_os = "linux"), path = "changes_by_looks.rs")]
pub(crate) mod changes;

use self::changes::{Changed, Depth, Watcher};
use crate::commands::build::results::Results;
use crate::commands::build::several::build_chosen;
use crate::commands::lint;
use crate::flags::build::BuildFlags;
use crate::flags::heading;
use crate::flags::hidden::hidden;
use crate::flags::look::ErrorFormat;
use crate::flags::schemas::SchemaFlags;
use crate::messages::{Messages, Reported};
use crate::request::{BuildRequest, Repeated};
use crate::roots::{Chosen, chosen, missing};
use anyhow::{Context, Result, bail};
use clap::{Arg, ArgAction, Args};
use rustomize_base::observe::Observer;
use rustomize_base::shown;
use rustomize_engine::load::{FileLimit, kustomization_file};
use rustomize_engine::pipeline::affected::affected;
use rustomize_engine::pipeline::outline::{Kind, outline};
use rustomize_engine::pipeline::roots::FoundRoot;
use rustomize_sources::Disk;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const ABOUT: &str = "Lint every kustomization at and below the directories, with the flags of 'build', and then wait: when files \
    change, lint again the kustomizations that they can affect. With -o, build them instead and write the results. Ctrl-C ends \
    the command.";

const EXAMPLES: &str = "Examples:
  # Find mistakes while you write
  rustomize watch deploy

  # Keep the rendered overlays up to date
  rustomize watch deploy --leaves -o rendered";

/// The most changed files that a line names.
const SHOWN: usize = 3;

/// `watch`.
#[derive(Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
#[command(mut_arg("directory", |flag| flag.help("The directories to watch [default: .]")))]
#[command(mut_arg("leaves", |_| leaves()))]
#[command(mut_arg("output", |flag| flag.help("Build, and write a file for each kustomization into this directory").long_help(None)))]
#[command(mut_args(hidden(["depfile", "strict", "stdin_as", "all", "shard", "keep_going", "affected_by", "timings", "trace", "verbose"])))]
pub(crate) struct Watch {
    #[command(flatten)]
    pub schemas: SchemaFlags,

    #[command(flatten)]
    pub build: BuildFlags,
}

/// `--leaves`, which works without `--all` here.
fn leaves() -> Arg {
    let leaves = Arg::new("leaves").long("leaves").action(ArgAction::SetTrue).help_heading(heading::ROOTS);
    leaves.help("Leave out the kustomizations that others use")
}

/// Runs `watch`, until the user ends it.
///
/// # Errors
/// A flag is not valid, or the system does not watch the directories.
pub(crate) fn run(args: Watch, messages: &mut Messages) -> Result<()> {
    let mut flags = args.build;
    if messages.format() == ErrorFormat::Sarif {
        bail!("'watch' has no end, so it cannot print one SARIF document\n  hint: --error-format json");
    }
    (flags.roots.all, flags.roots.keep_going) = (true, true);
    let writes = flags.output.output.is_some();
    let request = BuildRequest::new(flags, Observer::default())?.with_schemas(&args.schemas)?;
    let mut request = if writes { request } else { request.with_findings(Vec::new()) };
    request.repeated = Some(Repeated::default());
    let watcher = Watcher::start(left_out(&request)).context("cannot watch files")?;
    let here = [".".to_owned()];
    let directories = if request.directories.is_empty() { here.to_vec() } else { request.directories.clone() };
    for directory in &directories {
        match Path::new(directory) {
            path if path.is_dir() => {}
            path if path.exists() => bail!("'{directory}' is not a directory"),
            _ => return Err(missing(directory)),
        }
        watcher.add(Path::new(directory), Depth::All)?;
    }
    let mut all = chosen(&request)?;
    let mut changed: Changed = None;
    let mut is_first = true;
    loop {
        let start = Instant::now();
        let roots = match &changed {
            None => all.clone(),
            Some(files) => match known_roots(&request, &all, files) {
                Some(roots) => roots,
                None => match again(&mut request, files) {
                    Ok((now, roots)) => {
                        all = now;
                        roots
                    }
                    Err(error) => {
                        messages.failure(&error);
                        Vec::new()
                    }
                },
            },
        };
        let paths: Vec<String> = roots.iter().map(|root| root.path.clone()).collect();
        if changed.as_ref().is_none_or(|changed| changed.iter().any(|file| is_kustomization(file))) {
            watch_others(&watcher, &paths)?;
        }
        if !paths.is_empty() || is_first {
            say_start(changed.as_ref(), &paths, messages);
            if let Some(repeated) = &request.repeated {
                paths.iter().for_each(|root| drop(repeated.files().remove(root)));
            }
            let done = match writes {
                true => build_chosen(&request, &roots, Results::Written, messages),
                false => lint::again(&request, &roots, messages),
            };
            if let Err(error) = &done {
                messages.failure(error);
            }
            say_end(&paths, done.is_ok(), start.elapsed(), messages);
            if done.is_err_and(|error| is_of_stdout(&error)) {
                return Ok(());
            }
        }
        is_first = false;
        let Some(seen) = watcher.wait() else { return Ok(()) };
        changed = seen;
        if changed.is_none() {
            messages.note("too many files have changed: everything is looked at again");
            all = chosen(&request).unwrap_or(all);
        }
    }
}

/// The roots whose last build has read one of the files; `None` if a file is new, so that any root
/// may name it. O(files of all roots), and nothing is read, unless a root did not build: then its
/// kustomizations are.
fn known_roots(request: &BuildRequest, all: &[Chosen], changed: &BTreeSet<PathBuf>) -> Option<Vec<Chosen>> {
    let repeated = request.repeated.as_ref()?;
    let files = repeated.files();
    let mut readers: BTreeMap<&Path, Vec<&str>> = BTreeMap::new();
    for (root, files) in files.iter() {
        files.iter().for_each(|file| readers.entry(file).or_default().push(root));
    }
    let mut found: BTreeSet<&str> = BTreeSet::new();
    for path in changed {
        let from = (Bound::Included(path.as_path()), Bound::Unbounded);
        let below: Vec<_> = readers.range::<Path, _>(from).take_while(|(file, _)| file.starts_with(path)).collect();
        let decides_leaves = request.roots.leaves && kustomization_file::is_one(path);
        if decides_leaves || (below.is_empty() && path.exists()) {
            return None;
        }
        found.extend(below.into_iter().flat_map(|(_, roots)| roots));
    }
    let unbuilt = all.iter().filter(|root| !files.contains_key(&root.path));
    let unbuilt: Vec<FoundRoot> = unbuilt.map(|root| FoundRoot { path: root.path.clone(), is_used: false }).collect();
    let unbuilt = match unbuilt.is_empty() {
        true => unbuilt,
        false => affected(&Disk::new(), unbuilt, changed.iter().flat_map(|file| with_names(file)), request.file_limit),
    };
    let is_found =
        |root: &&Chosen| found.contains(root.path.as_str()) || unbuilt.iter().any(|one| one.path == root.path);
    Some(all.iter().filter(is_found).cloned().collect())
}

/// All roots as they are now, and those that files can affect.
fn again(request: &mut BuildRequest, changed: &BTreeSet<PathBuf>) -> Result<(Vec<Chosen>, Vec<Chosen>)> {
    let all = chosen(request)?;
    request.roots.affected_by = Some(changed.iter().flat_map(|file| with_names(file)).collect());
    let roots = chosen(request);
    request.roots.affected_by = None;
    Ok((all, roots?))
}

/// The directory of the results, if it exists or can be made: its files are not input.
fn left_out(request: &BuildRequest) -> Option<PathBuf> {
    let output = request.output.output.as_ref()?;
    let _ = fs::create_dir_all(output);
    dunce::canonicalize(output).ok()
}

/// Returns true for an error that leaves nobody who reads.
fn is_of_stdout(error: &anyhow::Error) -> bool {
    !error.is::<Reported>() && error.downcast_ref::<std::io::Error>().is_some_and(crate::writer::is_closed_pipe)
}

fn is_kustomization(file: &Path) -> bool {
    // A path without an ending may be a directory with kustomizations.
    file.extension().is_none() || kustomization_file::is_one(file)
}

/// A changed path; for a directory that has got another name, also the kustomization files that it
/// had.
fn with_names(file: &Path) -> impl Iterator<Item = PathBuf> {
    let names =
        kustomization_file::FILE_NAMES.iter().filter(|_| file.extension().is_none()).map(|name| file.join(name));
    std::iter::once(file.to_owned()).chain(names)
}

/// Watches the directories elsewhere that roots read: those of their bases, components and files.
fn watch_others(watcher: &Watcher, paths: &[String]) -> Result<()> {
    for part in outline(&Disk::new(), paths, FileLimit::default()).parts {
        let path = Path::new(&part.name);
        match part.kind {
            Kind::Kustomization | Kind::Component => watcher.add(path, Depth::One)?,
            Kind::File | Kind::Missing => {
                path.parent().map_or(Ok(()), |folder| watcher.add(folder, Depth::One))?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Says what is looked at, and why.
fn say_start(changed: Option<&BTreeSet<PathBuf>>, paths: &[String], messages: &Messages) {
    let Some(changed) = changed else { return };
    let here = std::env::current_dir().unwrap_or_default();
    let name = |file: &PathBuf| shown::line(&file.strip_prefix(&here).unwrap_or(file).to_string_lossy()).into_owned();
    let names: Vec<String> = changed.iter().take(SHOWN).map(name).collect();
    let more = match changed.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    messages.note(&format!("changed: {}{more}; kustomizations: {}", names.join(", "), paths.len()));
}

/// Says that everything is looked at.
fn say_end(paths: &[String], is_good: bool, time: Duration, messages: &Messages) {
    let data = || json!({"event": "watched", "roots": paths, "ok": is_good, "milliseconds": time.as_millis() as u64});
    let text = || {
        let verdict = if is_good { "no fault" } else { "faults" };
        format!("{verdict} in {} kustomizations ({} ms); waiting for changes", paths.len(), time.as_millis())
    };
    messages.data_or_text(data, text);
}
