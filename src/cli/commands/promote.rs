//! `promote`: copies the versions that one kustomization pins to another.

use crate::changes::{self, below};
use crate::flags::compat::{self, Versions};
use crate::flags::complete;
use crate::flags::format::Format;
use crate::messages::Messages;
use crate::request::plain_options;
use crate::roots::real;
use crate::writer::{self, Shown};
use crate::{git, host};
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use clap_complete::engine::ArgValueCompleter;
use rustomize_base::shell::quoted;
use rustomize_base::shown;
use rustomize_edit::batch::Batch;
use rustomize_edit::promote::{Kind, Outcome, Pin, Pins, Wanted};
use rustomize_edit::{Change, place};
use rustomize_engine::diag;
use rustomize_engine::stage::Options;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const ABOUT: &str = "Copy what one kustomization pins to another, as from staging to prod: tags and digests in 'images', numbers of \
    'replicas', versions of remote bases (?ref=) and of charts. Only these values change in the file of TO: comments, order and \
    all else stay. The changed lines are shown first. Pins of which only one side knows are named; those of images and \
    replicas are added to TO.";

const EXAMPLES: &str = "Examples:
  # See what would change
  rustomize promote overlays/staging overlays/prod --dry-run

  # Promote the images alone, without a question
  rustomize promote overlays/staging overlays/prod --only images --yes

Exit status: 0 success, also if nothing changes; 1 error, or the answer is no.";

/// `promote`.
#[derive(Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Promote {
    /// The directory with the kustomization whose pins are copied
    #[arg(value_name = "FROM", add = ArgValueCompleter::new(complete::kustomizations))]
    pub from: String,

    /// The directory with the kustomization that gets them
    #[arg(value_name = "TO", add = ArgValueCompleter::new(complete::kustomizations))]
    pub to: String,

    /// Copy these pins alone [default: all of them]
    #[arg(long, value_name = "PINS", value_delimiter = ',')]
    pub only: Vec<PinKind>,

    /// Copy 'newName' of images, too
    #[arg(long)]
    pub names: bool,

    /// Show the lines that would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Change the file without a question
    #[arg(short, long, conflicts_with = "dry_run")]
    pub yes: bool,

    /// How to print the changes: text or json; json needs --yes or --dry-run
    #[arg(short, long, value_name = "FORMAT", default_value = "text", hide_possible_values = true)]
    pub output: Format,

    /// The version of kustomize whose fields the files may have, as in 5.7.1 or kubectl-1.34
    /// [default: the newest]
    #[arg(long, value_name = "VERSION", value_parser = compat::version)]
    pub compat: Option<Versions>,
}

/// A kind of pins, as a word of `--only`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PinKind {
    Images,
    Replicas,
    Bases,
    Charts,
}

impl From<PinKind> for Kind {
    fn from(kind: PinKind) -> Kind {
        match kind {
            PinKind::Images => Kind::Images,
            PinKind::Replicas => Kind::Replicas,
            PinKind::Bases => Kind::Bases,
            PinKind::Charts => Kind::Charts,
        }
    }
}

/// A kustomization file that was read.
struct Side {
    /// The name of the file in its directory.
    file: &'static str,
    /// As the user names it.
    name: String,
    /// Without links.
    path: PathBuf,
    text: String,
    options: Options,
}

/// Runs `promote`.
///
/// # Errors
/// A side has no kustomization or a faulty one, the file of TO cannot be changed, nobody has
/// agreed, or stdout is closed. No file has changed then.
pub(crate) fn run(args: &Promote, messages: &Messages) -> Result<()> {
    if args.output == Format::Json && !args.yes && !args.dry_run {
        bail!("'-o json' asks no question: say --yes or --dry-run");
    }
    let kinds = match args.only.as_slice() {
        [] => PinKind::value_variants(),
        some => some,
    };
    let mut kinds: Vec<Kind> = kinds.iter().copied().map(Kind::from).collect();
    kinds.dedup();
    let wanted = Wanted { kinds, has_names: args.names };
    let mut batch = Batch::within(&[real(&args.to)?])?;
    batch.lock([&args.from, &args.to])?;
    let (from, to) = (Side::read(args, &args.from)?, Side::read(args, &args.to)?);
    if from.path == to.path {
        bail!("FROM and TO are one kustomization, '{}'\n  hint: name the directories of two", to.name);
    }
    let named = |side: &Side, error: diag::Error| {
        let directory = Path::new(&side.name).parent().map(|parent| parent.to_string_lossy().into_owned());
        error.with_files(|file| below(&directory.clone().unwrap_or_default(), file))
    };
    let pins = Pins::of(from.file, from.text.clone(), from.options.clone()).map_err(|error| named(&from, error))?;
    let done = pins.promoted(to.file, to.text.clone(), to.options.clone(), &wanted);
    let done = done.map_err(|error| named(&to, error))?;
    if let Some(after) = done.text {
        batch.add(Change { name: to.name.clone(), path: to.path.clone(), before: to.text.clone(), after })?;
    }
    if args.output == Format::Text {
        let lines = done.pins.iter().map(|pin| format!("{}\n", Shown::item(&line(pin))));
        writer::data(lines)?;
    }
    let pins: Vec<Value> = done.pins.iter().map(value).collect();
    finish(args, batch, json!({ "pins": pins }), messages)
}

/// Shows the changed lines, asks, and writes the file.
fn finish(args: &Promote, batch: Batch, summary: Value, messages: &Messages) -> Result<()> {
    let showing = changes::Showing { is_dry: args.dry_run, is_json: args.output == Format::Json };
    if batch.changes().next().is_none() && !showing.is_json {
        messages.note(&format!("'{}' has the pins of '{}' already", args.to, args.from));
        return Ok(());
    }
    if showing.is_dry || showing.is_json {
        return changes::finish(batch, showing, summary, messages);
    }
    changes::show_lines(batch.changes(), messages)?;
    if !args.yes && !host::host().confirms("Write these lines? [y/N] ") {
        bail!(
            "nothing is written without a yes\n  hint: rustomize promote {} {} --yes",
            quoted(&args.from),
            quoted(&args.to)
        );
    }
    changes::finish(batch, showing, summary, messages)
}

impl Side {
    /// The kustomization file of a directory.
    fn read(args: &Promote, directory: &str) -> Result<Side> {
        let found = git::within(Path::new(directory), || {
            let (file, text) = place::only_file()?;
            let path = dunce::canonicalize(file).with_context(|| format!("cannot read '{file}'"))?;
            Ok(Side { file, name: below(directory, file), path, text, options: plain_options(args.compat)? })
        });
        found.with_context(|| format!("in {directory}"))
    }
}

/// A pin for people.
fn line(pin: &Pin) -> String {
    let name = shown::masked(&pin.name);
    let kind = pin.kind.word();
    match &pin.outcome {
        Outcome::Changed { before, after } => format!("{kind}: {name}: {before} -> {after}"),
        Outcome::Added { after } => format!("{kind}: {name}: {after} is added"),
        Outcome::Stays { why } => format!("{kind}: {name} stays: {why}"),
    }
}

/// A pin for programs.
fn value(pin: &Pin) -> Value {
    let (kind, name) = (pin.kind.word(), pin.name.as_str());
    match &pin.outcome {
        Outcome::Changed { before, after } => {
            json!({"kind": kind, "name": name, "outcome": "changed", "before": before, "after": after})
        }
        Outcome::Added { after } => json!({"kind": kind, "name": name, "outcome": "added", "after": after}),
        Outcome::Stays { why } => json!({"kind": kind, "name": name, "outcome": "stays", "why": why}),
    }
}
