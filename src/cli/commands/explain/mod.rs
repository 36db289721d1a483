//! `explain`: where the values of a build's output come from, and which steps have changed them.

mod blame;
mod line;
mod page;
mod text;
pub(crate) mod code;

use crate::flags::build::BuildFlags;
use crate::flags::hidden::hidden;
use crate::messages::Messages;
use crate::request::BuildRequest;
use crate::root_files::RootFiles;
use crate::writer;
use crate::{output, status_line};
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use rustomize_base::observe::Observer;
use rustomize_engine::diag::{Code, Error};
use rustomize_engine::workspace;
use rustomize_results::explain::view::View;
use rustomize_results::explain::{self as explained, field, json, select};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

#[derive(Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
#[command(mut_arg("directory", |words| words.value_names(["ROOT", "RESOURCE", "FIELD"]).num_args(0..=3)
    .help("The directory with the kustomization, a resource of its output, a field of that [default: .]")
    .long_help(WORDS)))]
#[command(mut_arg("output", |flag| flag.short(None).long("build-output")))]
#[command(mut_args(hidden(["output", "layout", "depfile", "all", "leaves", "affected_by", "keep_going", "shard", "each"])))]
/// `explain`.
pub(crate) struct Explain {
    /// How to print
    #[arg(id = "format", short = 'o', long = "output", value_name = "FORMAT", default_value = "text")]
    pub format: ExplainFormat,

    /// The same as '-o html', into this file
    #[arg(long, value_name = "FILE", hide = true)]
    pub html: Option<PathBuf>,

    /// Show the values of Secrets
    #[arg(long)]
    pub show_secrets: bool,

    /// Print the whole output, with the file and line that each line comes from
    #[arg(long)]
    pub blame: bool,

    /// List the codes of errors and warnings with their meanings
    #[arg(long)]
    pub list: bool,

    #[command(flatten)]
    pub build: BuildFlags,
}

/// How values and their steps are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExplainFormat {
    /// For people, on a terminal
    Text,
    /// One JSON object, for programs
    Json,
    /// One page with all resources, fields and steps, that needs no other file
    Html,
}

const ABOUT: &str = "Build a kustomization, with the flags of 'build', and say of each field of a resource which file and line its \
    value comes from, and which steps have changed it. Without a resource, all resources are listed. A code of an error or a \
    warning in place of a directory prints the page of the code: what it means, why, an example, and how it is mended. \
    FILE:LINE in place of a directory says what the line becomes in each kustomization below this directory that reads it.";

const EXAMPLES: &str = "Examples:
  # List the resources of an overlay, and the files that they come from
  rustomize explain overlays/prod

  # Say who has set the number of replicas
  rustomize explain overlays/prod Deployment/web spec.replicas

  # Print the whole output, with the file and line beside each line
  rustomize explain overlays/prod --blame

  # Say what a line of a file becomes, in all kustomizations that read the file
  rustomize explain base/web.yaml:7

  # Write a page for browsers with all resources, fields and steps
  rustomize explain overlays/prod -o html > prod.html

  # Say what the code of a message means, and list all codes
  rustomize explain no-match
  rustomize explain --list";

const WORDS: &str = "The directory with the kustomization, a resource of its output, a field of that [default: .]\n\n\
    RESOURCE is NAME, KIND/NAME or KIND/NAMESPACE/NAME; KIND may have its group: Deployment.apps. An earlier name does, too.\n\
    FIELD is a path with dots, as spec.template.spec.containers[name=web].image, or a JSON pointer.";

/// Runs `explain`.
///
/// # Errors
/// The flags are not valid, the build fails, or the output lacks the resource or field. Nothing is
/// on stdout then.
pub(crate) fn run(args: Explain, observer: Observer, messages: &mut Messages) -> Result<()> {
    check(&args.build)?;
    if args.list {
        return code::list();
    }
    if let [word] = args.build.directory.as_slice()
        && names_no_file(word)
    {
        if code::run(word)? {
            return Ok(());
        }
        if let Some(hint) = code::hint(word) {
            return Err(Error::new(Code::MissingFile, format!("'{word}': no such file or directory"))
                .hint(hint)
                .into());
        }
    }
    let request = BuildRequest::new(args.build, observer)?;
    let form = Form { format: args.format, blames: args.blame, html: args.html, shows_secrets: args.show_secrets };
    let words: Vec<&str> = request.directories.iter().map(String::as_str).collect();
    if let [word, roots @ ..] = &words[..]
        && !Path::new(word).exists()
        && let Some(place) = line::FileLine::parse(word)
    {
        return explain_line(&request, place, roots, &form, messages);
    }
    let asked = match words[..] {
        [] => Asked { root: ".", resource: None, field: None },
        [root] => Asked { root, resource: None, field: None },
        [root, resource] => Asked { root, resource: Some(resource), field: None },
        [root, resource, field, ..] => Asked { root, resource: Some(resource), field: Some(field) },
    };
    explain_build(&request, asked, &form, messages)
}

/// Returns true for a word that is neither a file nor a line of one, as the code of an error.
fn names_no_file(word: &str) -> bool {
    !Path::new(word).exists() && line::FileLine::parse(word).is_none()
}

/// The form of an explanation.
struct Form {
    format: ExplainFormat,
    /// True to print the whole output, each line with its place.
    blames: bool,
    /// The file for a page, beside what is printed.
    html: Option<PathBuf>,
    shows_secrets: bool,
}

impl Form {
    /// Refuses forms that do not go together, or not with a resource.
    fn check(&self, resource: Option<&str>) -> Result<()> {
        let is_html = self.format == ExplainFormat::Html;
        if is_html && resource.is_some() {
            bail!("'-o html' prints one page with all resources: leave RESOURCE out");
        }
        if self.blames && resource.is_some() {
            bail!("'--blame' prints all resources: leave RESOURCE out");
        }
        if self.blames && is_html {
            bail!("'--blame' has the formats text and json");
        }
        Ok(())
    }
}

/// The part of a build that is explained.
#[derive(Clone, Copy)]
struct Asked<'w> {
    root: &'w str,
    resource: Option<&'w str>,
    field: Option<&'w str>,
}

/// Explains a line of a file in some roots; in all that read the file if none is named.
fn explain_line(
    request: &BuildRequest,
    place: line::FileLine<'_>,
    roots: &[&str],
    form: &Form,
    messages: &mut Messages,
) -> Result<()> {
    if form.blames || roots.len() > 1 {
        bail!("a line is explained in all roots that read the file, or in one: rustomize explain FILE:LINE ROOT");
    }
    if form.format == ExplainFormat::Html {
        bail!("a line is explained in the formats text and json");
    }
    let is_json = form.format == ExplainFormat::Json;
    let asked = line::Asked { place, root: roots.first().copied(), shows_secrets: form.shows_secrets, is_json };
    line::run(request, asked, messages)
}

/// Builds a root with a trace, and explains its output.
fn explain_build(request: &BuildRequest, asked: Asked<'_>, form: &Form, messages: &mut Messages) -> Result<()> {
    form.check(asked.resource)?;
    let root = asked.root;
    let mut options = request.options(root)?;
    options.trace = true;
    let start = Instant::now();
    options.clock = Some(Arc::new(move || start.elapsed()));
    // The process ends after this: its texts need not be freed.
    let workspace = ManuallyDrop::new(request.workspace());
    let files = RootFiles::of(request, root)?;
    let built = workspace::build(&workspace, &*files.loader, root, &options);
    status_line::end();
    for warning in built.warnings {
        messages.warning(&warning);
    }
    let built = built.value?;
    files.check_given(&built)?;
    let Some(history) = built.trace() else { bail!("the build has no trace") };
    let view = View::new(root, &built, history, form.shows_secrets);
    if let Some(file) = &form.html {
        output::write_text(&page::page(&view), file)?;
    }
    if form.html.is_none() || asked.resource.is_some() {
        print(&view, asked, form, messages.colors_stdout())?;
    }
    built.leave();
    Ok(())
}

/// Prints an explanation.
fn print(view: &View<'_, '_>, asked: Asked<'_>, form: &Form, is_colored: bool) -> Result<()> {
    match (form.format, asked.resource) {
        (ExplainFormat::Json, None) if form.blames => {
            writer::print_values_json(&explained::blame::json(view)?)?;
        }
        (_, None) if form.blames => {
            let texts = blame::text(view, is_colored, writer::stdout_columns())?;
            texts.iter().try_for_each(writer::print)?;
        }
        (ExplainFormat::Html, _) => writer::data([page::page(view)])?,
        (ExplainFormat::Json, None) => writer::print_values_json(&json::all(view))?,
        (ExplainFormat::Text, None) => writer::print(&text::for_people(text::all(view, is_colored), is_colored))?,
        (ExplainFormat::Json | ExplainFormat::Text, Some(resource)) => {
            let resource = select::resource(view, resource)?;
            let fields = field::fields(view, &resource, asked.field)?;
            if form.format == ExplainFormat::Json {
                writer::print_values_json(&json::one(view, &resource, &fields))?;
            } else {
                let text = text::one(view, &resource, &fields, is_colored);
                writer::print(&text::for_people(text, is_colored))?;
            }
        }
    }
    Ok(())
}

/// Refuses the flags of `build` that are about several roots, or about files for the output.
fn check(build: &BuildFlags) -> Result<()> {
    let is_given = [
        ("--all", build.roots.all),
        ("--shard", build.roots.shard.is_some()),
        ("--keep-going", build.roots.keep_going),
        ("--layout", build.output.layout.is_some()),
        ("--depfile", build.output.depfile.is_some()),
        ("--build-output", build.output.output.is_some()),
    ];
    match is_given.into_iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => {
            bail!("'explain' builds one kustomization and prints no manifests: leave {flag} out")
        }
        None => Ok(()),
    }
}
