//! `diff`: builds two sides, compares them, and prints what differs.

use super::diff_args::{Diff, DiffFormat};
use super::diff_compat::{self, Upgrade};
use super::messages::Messages;
use super::roots::Failures;
use super::writer::{self, Shown};
use super::{build, diff_html, diff_json, diff_listing, diff_markdown, diff_since, diff_text, status_line};
use crate::config::kustomization::FILE_NAMES;
use crate::diag::{self, Error, Warned};
use crate::diff::{self, Masks, Summary};
use crate::load::{Disk, FileLimit};
use crate::meter::FastMap;
use crate::parallel;
use crate::resource::Resource;
use crate::schema::Schemas;
use crate::stage::Options;
use crate::stage::documents::resources_in;
use crate::workspace::{Output, Together, build_all};
use crate::yaml::{Arena, Heap, encoding};
use anyhow::{Context, Result, bail};
use diff_listing::Section;
use serde_json::Value;
use std::io::Read;
use std::num::NonZero;
use std::path::Path;

/// One side of a comparison.
pub struct Side {
    /// How the user knows it.
    pub name: String,
    pub content: Content,
}

impl Side {
    /// The resources of a build; none of a file.
    pub fn texts(&self) -> &[String] {
        match &self.content {
            Content::Built(texts) => texts,
            Content::File(_) => &[],
        }
    }
}

/// The resources of a side, as text.
pub enum Content {
    /// The bytes of a file.
    File(Vec<u8>),
    /// Each resource as a build prints it.
    Built(Vec<String>),
}

/// Two sides to compare.
pub struct Sides {
    /// The kustomization, where several are compared.
    pub root: Option<String>,
    pub before: Side,
    pub after: Side,
}

/// All differences.
pub struct Report<'s> {
    pub total: Summary,
    /// The behaviours that make the difference, if two versions of kustomize are compared.
    pub upgrade: Option<Upgrade>,
    pub compared: Vec<Compared<'s>>,
}

/// The differences of two sides.
pub struct Compared<'s> {
    pub sides: &'s Sides,
    pub summary: Summary,
    /// The differences as lines; empty if they are printed as JSON.
    pub sections: Vec<Section>,
    /// The differences as JSON; empty unless they are printed so.
    pub changes: Vec<Value>,
}

/// Runs `diff`; returns true if something differs.
///
/// # Errors
/// Flags that exclude each other, a side that cannot be read or built, or stdout is closed. Nothing
/// is on stdout then, unless --keep-going asks for the other kustomizations.
pub fn run(args: &Diff, messages: &mut Messages) -> Result<bool> {
    args.check()?;
    let mut failures = Failures::default();
    let mut upgrade = None;
    let sides = match (diff_compat::versions(args)?, &args.since) {
        (Some(versions), _) => {
            let (sides, found) = diff_compat::sides(args, versions, &mut failures, messages)?;
            upgrade = Some(found);
            sides
        }
        (None, Some(range)) => diff_since::sides(args, range, &mut failures, messages)?,
        (None, None) => vec![two_sides(args, messages)?],
    };
    let count = sides.len() + failures.count();
    if !failures.is_empty() && !args.build.keep_going {
        return failures.report(count, messages).map(|()| true);
    }
    let schemas = Schemas::default();
    let compared = parallel::each(&sides, jobs(args).get(), |sides| compare(sides, args, &schemas));
    let compared = compared.into_iter().collect::<diag::Result<Vec<_>>>()?;
    let mut total = Summary::default();
    compared.iter().for_each(|compared| total += &compared.summary);
    let report = Report { total, upgrade, compared };
    let printed = match args.format {
        DiffFormat::Human if messages.colors_stdout() => Some(Shown::colored(&diff_text::print(&report, true))),
        DiffFormat::Human => Some(Shown::values(&diff_text::print(&report, false))),
        DiffFormat::Markdown => Some(Shown::values(&diff_markdown::print(&report))),
        DiffFormat::Html => Some(Shown::values(&diff_html::print(&report))),
        DiffFormat::Json => None,
    };
    match printed {
        Some(printed) => writer::print(&printed)?,
        None => writer::print_values_json(&diff_json::all(&report))?,
    }
    failures.report(count, messages)?;
    Ok(!report.total.is_same())
}

/// How many threads work at once.
pub fn jobs(args: &Diff) -> NonZero<usize> {
    args.build.jobs.unwrap_or_else(parallel::cores)
}

/// Reads or builds the two sides that the arguments name.
fn two_sides(args: &Diff, messages: &mut Messages) -> Result<Sides> {
    let [before, after] = args.build.directory.as_slice() else {
        bail!(
            "'diff' compares two sides, and {} are named\n  hint: name two directories or files, or use --since REVISION",
            args.build.directory.len()
        );
    };
    if before == "-" && after == "-" {
        bail!("only one side can be read from stdin");
    }
    let given = [read(args, before)?, read(args, after)?];
    let roots: Vec<String> = [before, after]
        .into_iter()
        .zip(&given)
        .filter(|(_, given)| given.is_none())
        .map(|(name, _)| name.clone())
        .collect();
    let mut options: Vec<Options> = Vec::with_capacity(roots.len());
    for root in &roots {
        options.push(build::options(&args.build, root, options.is_empty()).with_context(|| format!("in {root}"))?);
    }
    let mut built = built(args, &roots, &options).into_iter();
    let mut side = |name: &String, given: Option<Side>| match given {
        Some(side) => Ok(side),
        None => {
            let Warned { value, warnings } = built.next().flatten().context("the other side cannot be built")?;
            warnings.iter().for_each(|warning| messages.warning(warning, Some(name)));
            value.with_context(|| format!("in {name}"))
        }
    };
    let [first, second] = given;
    Ok(Sides { root: None, before: side(before, first)?, after: side(after, second)? })
}

/// Builds roots, each into a side.
pub fn built(args: &Diff, roots: &[String], options: &[Options]) -> Vec<Option<Warned<diag::Result<Side>>>> {
    let together = Together { jobs: jobs(args), keep_going: args.build.keep_going };
    let side = |i: usize, output: Output<'_>| {
        let texts = output.resources().map(|resource| output.print_one(resource));
        Ok(Side { name: roots[i].clone(), content: Content::Built(texts.collect::<diag::Result<_>>()?) })
    };
    let built = build_all(&Disk::new(), roots, |i| options[i].clone(), together, side);
    status_line::end();
    built
}

/// Reads a side that is a file or stdin; `None` for a directory or something remote, which is
/// built.
fn read(args: &Diff, name: &str) -> Result<Option<Side>> {
    let limit = FileLimit(args.build.file_size_limit);
    let mut text = Vec::new();
    let shown = if name == "-" { "stdin" } else { name };
    if name == "-" {
        std::io::stdin().take(limit.0.saturating_add(1)).read_to_end(&mut text).context("cannot read stdin")?;
    } else {
        let path = Path::new(name);
        if !std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_dir()) {
            return Ok(None);
        }
        if path.file_name().is_some_and(|file| FILE_NAMES.iter().any(|name| file == *name)) {
            let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            bail!(
                "'{name}' is a kustomization, and no file with resources\n  hint: name its directory, '{}'",
                directory.display()
            );
        }
        let file = std::fs::File::open(path).with_context(|| format!("cannot open '{name}'"))?;
        file.take(limit.0.saturating_add(1)).read_to_end(&mut text).with_context(|| format!("cannot read '{name}'"))?;
    }
    limit.check(text.len() as u64).with_context(|| format!("cannot read '{shown}'"))?;
    Ok(Some(Side { name: shown.to_owned(), content: Content::File(text) }))
}

/// Compares two sides.
fn compare<'s>(sides: &'s Sides, args: &Diff, schemas: &Schemas<'_>) -> diag::Result<Compared<'s>> {
    let mut compared = Compared { sides, summary: Summary::default(), sections: Vec::new(), changes: Vec::new() };
    let (before, after, same) = unshared(&sides.before.content, &sides.after.content);
    compared.summary.same = same;
    let heap = Heap::with_jobs(Some(NonZero::<usize>::MIN));
    let arena = heap.arena();
    let resources = |side: &Side, text| resources(arena, side, text).map_err(|e| e.located(&heap));
    let (mut before, mut after) = (resources(&sides.before, before)?, resources(&sides.after, after)?);
    if !args.show_secrets {
        let mut masks = Masks::new(arena);
        before.iter_mut().chain(&mut after).for_each(|resource| masks.hide(resource));
    }
    let changes = diff::compare(&before, &after, schemas);
    compared.summary += &Summary::of(&changes);
    match args.format {
        DiffFormat::Json => compared.changes = changes.resources.iter().map(diff_json::change).collect(),
        _ => compared.sections = changes.resources.iter().map(diff_listing::section).collect(),
    }
    Ok(compared)
}

/// The text of a side that has to be read.
enum Text<'s> {
    File(&'s [u8]),
    Built(Vec<&'s str>),
}

/// The texts of two sides, without the resources that both builds print in the same way, and how
/// many these are: a change is about few resources of many. O(size of the texts).
fn unshared<'s>(before: &'s Content, after: &'s Content) -> (Text<'s>, Text<'s>, usize) {
    let all = |content: &'s Content| match content {
        Content::File(bytes) => Text::File(bytes),
        Content::Built(texts) => Text::Built(texts.iter().map(String::as_str).collect()),
    };
    let (Content::Built(olds), Content::Built(news)) = (before, after) else { return (all(before), all(after), 0) };
    let mut open: FastMap<&str, usize> = FastMap::default();
    olds.iter().for_each(|text| *open.entry(text).or_default() += 1);
    let mut take = |text: &str| match open.get_mut(text) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    };
    let new: Vec<&str> = news.iter().map(String::as_str).filter(|text| !take(text)).collect();
    // Texts that are still open are on the first side alone.
    let old: Vec<&str> = olds.iter().map(String::as_str).filter(|text| take(text)).collect();
    let same = olds.len() - old.len();
    (Text::Built(old), Text::Built(new), same)
}

/// Reads the resources of a side.
fn resources<'a>(arena: Arena<'a>, side: &Side, text: Text<'_>) -> diag::Result<Vec<Resource<'a>>> {
    let invalid = |e: encoding::Invalid| {
        Error::input(format!("'{}' is not valid {} at byte {}", side.name, e.encoding, e.offset))
    };
    let text = match text {
        Text::File(bytes) => encoding::decode(bytes.to_vec()).map_err(invalid)?,
        Text::Built(texts) => texts.join("---\n").into(),
    };
    let source = arena.add_file(side.name.clone(), text);
    Ok(resources_in(arena, source, Error::from)?.all)
}
