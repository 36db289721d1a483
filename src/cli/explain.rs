//! `explain`: where the values of a build's output come from, and which steps have changed them.

mod field;
mod json;
mod page;
mod select;
mod text;
mod view;

use super::args::{Build, Format};
use super::messages::Messages;
use super::writer::{self, Shown};
use super::{build, explain_code, output, status_line};
use crate::diag::{Code, Error};
use crate::workspace::{self, Workspace};
use anyhow::{Result, bail};
use clap::Args;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use view::View;

#[derive(Args)]
#[command(mut_arg("directory", |words| words.value_names(["ROOT", "RESOURCE", "FIELD"]).num_args(0..=3)
    .help("The directory with the kustomization, a resource of its output, a field of that [default: .]")
    .long_help(WORDS)))]
#[command(mut_arg("output", |format| format.value_name("FORMAT").help("How to print: text or json").long_help(None)))]
#[command(mut_arg("layout", |flag| flag.hide(true)), mut_arg("depfile", |flag| flag.hide(true)))]
#[command(mut_arg("all", |flag| flag.hide(true)), mut_arg("leaves", |flag| flag.hide(true)))]
#[command(mut_arg("affected_by", |flag| flag.hide(true)), mut_arg("keep_going", |flag| flag.hide(true)))]
#[command(mut_arg("shard", |flag| flag.hide(true)))]
/// `explain`.
pub struct Explain {
    #[command(flatten)]
    pub build: Build,

    /// Write a page for browsers, with all resources, fields and steps, to this file
    ///
    /// The page is one file, and loads nothing.
    #[arg(long, value_name = "FILE", help_heading = super::args::heading::OUTPUT)]
    pub html: Option<PathBuf>,

    /// Show the values of Secrets
    #[arg(long, help_heading = super::args::heading::OUTPUT)]
    pub show_secrets: bool,

    /// List the codes of errors and warnings with their meanings
    #[arg(long, help_heading = super::args::heading::OUTPUT)]
    pub list: bool,
}

const WORDS: &str = "The directory with the kustomization, a resource of its output, a field of that [default: .]\n\n\
    RESOURCE is NAME, KIND/NAME or KIND/NAMESPACE/NAME; KIND may have its group: Deployment.apps. An earlier name does, too.\n\
    FIELD is a path with dots, as spec.template.spec.containers[name=web].image, or a JSON pointer.";

/// Runs `explain`.
///
/// # Errors
/// Flags that cannot be, a build that fails, a resource or field that the output does not have.
/// Nothing is on stdout then.
pub fn run(args: &Explain, messages: &mut Messages) -> Result<()> {
    let flags = &args.build;
    let format = format(flags)?;
    let words: Vec<&str> = flags.directory.iter().map(String::as_str).collect();
    if args.list {
        return explain_code::list();
    }
    if let [word] = words[..]
        && !Path::new(word).exists()
    {
        if explain_code::run(word)? {
            return Ok(());
        }
        if let Some(hint) = explain_code::hint(word) {
            return Err(Error::new(Code::MissingFile, format!("'{word}': no such file or directory"))
                .hint(hint)
                .into());
        }
    }
    let (root, resource, field) = match words[..] {
        [] => (".", None, None),
        [root] => (root, None, None),
        [root, resource] => (root, Some(resource), None),
        [root, resource, field, ..] => (root, Some(resource), Some(field)),
    };
    let mut options = build::options(flags, root, true)?;
    options.trace = true;
    options.clock = Some(clock);
    // The process ends after this: its texts need not be freed.
    let workspace = ManuallyDrop::new(flags.jobs.map_or_else(Workspace::new, Workspace::with_jobs));
    let files = build::Files::of(flags, root)?;
    let built = workspace::build(&workspace, &*files.loader, root, &options);
    status_line::end();
    for warning in built.warnings {
        messages.warning(&warning, None);
    }
    let built = built.value?;
    files.check_given(&built)?;
    let Some(history) = built.trace() else { bail!("the build has no trace") };
    let view = View::new(root, &built, history, args.show_secrets);
    if let Some(file) = &args.html {
        output::write_text(&page::page(&view), file)?;
        if resource.is_none() {
            built.leave();
            return Ok(());
        }
    }
    let is_colored = messages.colors_stdout();
    let people = |text: &str| if is_colored { Shown::colored(text) } else { Shown::values(text) };
    match resource {
        None if format == Format::Json => writer::print_values_json(&json::all(&view))?,
        None => writer::print(&people(&text::all(&view, is_colored)))?,
        Some(resource) => {
            let resource = select::resource(&view, resource)?;
            let fields = field::fields(&view, &resource, field)?;
            match format {
                Format::Json => writer::print_values_json(&json::one(&view, &resource, &fields))?,
                Format::Text => writer::print(&people(&text::one(&view, &resource, &fields, is_colored)))?,
            }
        }
    }
    built.leave();
    Ok(())
}

/// The form of the output. Flags of `build` that are about several roots, or about files for the
/// output, are errors.
fn format(build: &Build) -> Result<Format> {
    let is_given = [
        ("--all", build.all),
        ("--shard", build.shard.is_some()),
        ("--keep-going", build.keep_going),
        ("--layout", build.layout.is_some()),
        ("--depfile", build.depfile.is_some()),
    ];
    if let Some((flag, _)) = is_given.into_iter().find(|(_, is_given)| *is_given) {
        bail!("'explain' builds one kustomization and prints no manifests: leave {flag} out");
    }
    match build.output.as_deref().map(Path::to_string_lossy).as_deref() {
        None | Some("text") => Ok(Format::Text),
        Some("json") => Ok(Format::Json),
        Some(other) => bail!(
            "invalid value '{other}' for '--output <FORMAT>': expected text or json\n  hint: a page is written by \
             '--html FILE'"
        ),
    }
}

/// The time since the first call.
fn clock() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}
