//! `fn run`: runs functions on the resources of a directory, or of stdin.

use crate::commands::cfg::input::stdin;
use crate::flags::complete;
use crate::flags::switch::Switch;
use crate::{plugin_options, user, writer};
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCompleter;
use rustomize_edit::package::function::{self, FunctionCall, NamedFunction};
use rustomize_edit::package::read::{self, Annotate, Below, Files};
use rustomize_edit::package::write::{self, Writing};
use rustomize_edit::package::{Item, annotations, store};
use rustomize_engine::stage::{Context as BuildContext, Options};
use rustomize_files::Place;
use rustomize_plugins::PluginOptions;
use rustomize_plugins::function::{Alone, Function};
use rustomize_sources::Disk;
use rustomize_yaml::{Arena, Heap};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const EXAMPLES: &str = "Examples:
  # Run the functions of a directory on its resources, and write the result into the files
  rustomize fn run my-dir

  # Print the result
  rustomize fn run my-dir --dry-run

  # Run an image with a configuration
  rustomize fn run my-dir --image registry.example/set-namespace:1 -- namespace=staging

  # Run an executable on stdin
  rustomize build overlays/prod | rustomize fn run --enable-exec --exec-path ./fn.sh";

/// `fn`.
#[derive(Args)]
pub(crate) struct Fn {
    #[command(subcommand)]
    pub command: FnCommand,
}

/// The commands of `fn`.
#[derive(Subcommand)]
pub(crate) enum FnCommand {
    /// Run functions on the resources of a directory, or of stdin
    #[command(after_long_help = EXAMPLES)]
    Run(Box<FnRun>),
}

/// `fn run`.
#[derive(Args)]
pub(crate) struct FnRun {
    /// The directory, or a file; without it, stdin
    #[arg(value_name = "DIR", add = ArgValueCompleter::new(complete::directories))]
    pub directory: Vec<String>,

    /// Also read packages below the directory; this is always done
    #[arg(long, hide = true, switch())]
    pub include_subpackages: Option<bool>,

    /// Print the resources, and write no file
    #[arg(long, switch())]
    pub dry_run: Option<bool>,

    /// Give each function all resources, not only those of its directory
    #[arg(long, switch())]
    pub global_scope: Option<bool>,

    /// Run the functions of these directories, and not those of DIR
    #[arg(long, value_name = "DIR", value_delimiter = ',', allow_hyphen_values = true, add = ArgValueCompleter::new(complete::directories))]
    pub fn_path: Vec<String>,

    /// Run this image, and not the functions of DIR
    #[arg(long, value_name = "IMAGE", allow_hyphen_values = true)]
    pub image: Option<String>,

    /// Run functions that are executables: they can do whatever you can do
    #[arg(long, switch())]
    pub enable_exec: Option<bool>,

    /// Run this executable, and not the functions of DIR
    #[arg(long, value_name = "FILE", allow_hyphen_values = true, add = ArgValueCompleter::new(complete::files))]
    pub exec_path: Option<String>,

    /// Write the results of functions into files of this directory
    #[arg(long, value_name = "DIR", allow_hyphen_values = true, add = ArgValueCompleter::new(complete::directories))]
    pub results_dir: Option<PathBuf>,

    /// Let containers that ask for it use the network of this machine
    #[arg(long, switch())]
    pub network: Option<bool>,

    /// A mount for all containers: type=bind,src=DIR,dst=DIR,rw=true; may be repeated
    #[arg(long, value_name = "MOUNT", allow_hyphen_values = true)]
    pub mount: Vec<String>,

    /// Say on stderr which function runs
    #[arg(long, switch())]
    pub log_steps: Option<bool>,

    /// A variable for functions: NAME=VALUE, or NAME for containers; may be repeated
    #[arg(short, long, value_name = "VARIABLE", allow_hyphen_values = true)]
    pub env: Vec<String>,

    /// Run containers as the user of this process, not as nobody
    #[arg(long, switch())]
    pub as_current_user: Option<bool>,

    /// The configuration of --image or --exec-path: [KIND] KEY=VALUE...
    #[arg(last = true, value_name = "DATA")]
    pub data: Option<Vec<String>>,
}

fn is_on(flag: Option<bool>) -> bool {
    flag.unwrap_or(false)
}

/// Runs `fn run`. If a function fails, nothing is printed or written.
///
/// # Errors
/// The flags do not fit together, a function fails, or a file cannot be read or written.
pub(crate) fn run(command: &Fn) -> Result<()> {
    let FnCommand::Run(args) = &command.command;
    let image = args.image.as_deref().filter(|image| !image.is_empty());
    let executable = args.exec_path.as_deref().filter(|path| !path.is_empty());
    if executable.is_some() && !is_on(args.enable_exec) {
        bail!(
            "must specify --enable-exec with --exec-path\n  hint: if you trust the executable, add --enable-exec: it can do whatever you can do"
        );
    }
    if args.data.is_some() && image.is_none() && executable.is_none() {
        bail!("must specify --image\n  hint: what follows '--' is the configuration of --image or --exec-path");
    }
    if args.directory.len() > 1 {
        bail!("0 or 1 arguments supported, function arguments go after '--'\n  hint: name one directory");
    }
    let heap = Heap::new();
    let arena = heap.arena();
    let named = match (image, executable) {
        (Some(image), _) => Some(NamedFunction::Container { image, has_network: is_on(args.network) }),
        (None, Some(path)) => Some(NamedFunction::Exec { path }),
        (None, None) => None,
    };
    let config = named.map(|named| function::config(arena, named, args.data.as_deref().unwrap_or_default()));
    let config = config.transpose()?;
    let place = args.directory.first().map(Path::new);
    let items = match place {
        Some(place) => read::directory(arena, place, Files::YamlAndJson, Below::All)?,
        None => read::stream(arena, "stdin", stdin()?, Annotate::Index)?.items,
    };
    let before = store::files(&items);
    let runner = Runner::new(args, arena)?;
    let functions = functions(args, arena, &items, config)?;
    let Some(items) = runner.run_all(items, &functions)? else { return Ok(()) };
    match place.filter(|_| !is_on(args.dry_run)) {
        Some(place) => Ok(store::write(arena, place, items, &before)?),
        None => {
            let writing = Writing { keeps_path: true, ..Writing::default() };
            Ok(writer::data([write::print(arena, &items, &writing)?])?)
        }
    }
}

/// The configurations that may be functions, each with true if the command line names it.
fn functions<'a>(
    args: &FnRun,
    arena: Arena<'a>,
    items: &[Item<'a>],
    config: Option<Item<'a>>,
) -> Result<Vec<(Item<'a>, bool)>> {
    let mut functions = Vec::new();
    if args.fn_path.is_empty() && config.is_none() {
        let mut own = items.to_vec();
        function::sort(&mut own);
        functions.extend(own.into_iter().map(|item| (item, false)));
    }
    for path in &args.fn_path {
        let found = read::directory(arena, Path::new(path), Files::Yaml, Below::All)?;
        functions.extend(found.into_iter().map(|item| (item, true)));
    }
    functions.extend(config.map(|config| (config, true)));
    Ok(functions)
}

/// Runs functions.
struct Runner<'r, 'a> {
    args: &'r FnRun,
    arena: Arena<'a>,
    options: Arc<PluginOptions>,
    root: rustomize_engine::load::Root,
}

impl<'r, 'a> Runner<'r, 'a> {
    fn new(args: &'r FnRun, arena: Arena<'a>) -> Result<Self> {
        let disk = Disk::new();
        let heap = Heap::new();
        let root = BuildContext::new(&heap, &disk, Options::default()).files.root(".")?;
        let mut options = plugin_options::for_functions();
        let functions = &mut options.functions;
        functions.exec = is_on(args.enable_exec);
        functions.network = is_on(args.network);
        functions.mounts.clone_from(&args.mount);
        functions.variables.clone_from(&args.env);
        functions.user = is_on(args.as_current_user).then(user::for_containers).flatten();
        Ok(Runner { args, arena, options: Arc::new(options), root })
    }

    /// Runs functions one after the other. Returns `None` when no resource is left.
    fn run_all(&self, mut items: Vec<Item<'a>>, functions: &[(Item<'a>, bool)]) -> Result<Option<Vec<Item<'a>>>> {
        let mut loaded = Vec::new();
        for (config, is_global) in functions {
            let name = format!("function {} {}", config.text("kind"), config.metadata("name"));
            let found = Function::alone(self.arena, &self.options, &self.root, &config.document.print(), name);
            match found.map_err(|e| e.located(self.arena.heap()))? {
                Alone::Runs(function) => loaded.push((config, *is_global, function)),
                Alone::IsDisabled(path) => writer::say(&format!(
                    "the function '{path}' is an executable and does not run: if you trust it, pass --enable-exec"
                )),
                Alone::IsNone => {}
            }
        }
        for (i, (config, is_global, function)) in loaded.iter().enumerate() {
            if is_on(self.args.log_steps) {
                writer::say(&format!("Running {}", function.program_name()));
            }
            let mut results = None;
            // As in kustomize, only a container that is named gets all resources.
            let is_global = is_on(self.args.global_scope) || *is_global && function.is_container();
            let call = FunctionCall { config, is_global, is_resource: !self.is_named() };
            let left = annotations::step(self.arena, items, |items| {
                let (items, found) = call.run(self.arena, items, |input| function.output(input))?;
                results = found;
                Ok(items)
            })?;
            self.write_results(i, results)?;
            match left {
                Some(left) => items = left,
                None => return Ok(None),
            }
        }
        Ok(Some(items))
    }

    /// Returns true if the command line names the functions.
    fn is_named(&self) -> bool {
        let is_given = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.is_empty());
        !self.args.fn_path.is_empty() || is_given(&self.args.image) || is_given(&self.args.exec_path)
    }

    fn write_results(&self, i: usize, results: Option<rustomize_yaml::noted::Noted<'a>>) -> Result<()> {
        let (Some(directory), Some(results)) = (&self.args.results_dir, results) else { return Ok(()) };
        let path = directory.join(format!("results-{i}.yaml"));
        let write = || {
            let place = Place::of(&path)?;
            let mut staged = place.stage()?;
            staged.write_all(results.print().as_bytes())?;
            place.put(staged, 0o600)
        };
        write().with_context(|| format!("cannot write {}", path.display()))
    }
}
