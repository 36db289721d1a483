//! `explain FILE:LINE`: the values of outputs that a line of an input file becomes, in which
//! resources and roots.
//!
//! Each root that reads the file is built, with a trace. A line of which no value comes may be a
//! part of an entry that has an effect: the smallest part around the line that has one counts.

mod answer;
mod effects;
mod extent;
mod place;
mod show;

pub(super) use place::FileLine;

use crate::failures::Failures;
use crate::messages::Messages;
use crate::request::BuildRequest;
use crate::status_line;
use crate::writer::{self, Shown};
use answer::Answer;
use anyhow::{Context, Result, bail};
use effects::{Effects, Target};
use extent::Extent;
use rustomize_base::shell::quoted;
use rustomize_engine::diag::{Code, Error, Warned};
use rustomize_engine::load::Loader;
use rustomize_engine::pipeline::affected::affected;
use rustomize_engine::pipeline::roots::find;
use rustomize_engine::workspace::{Output, Together, build_all};
use rustomize_results::explain::view::View;
use rustomize_sources::Disk;
use rustomize_yaml::encoding;
use std::io;
use std::path::{Path, PathBuf};

/// The line that is explained, and how.
#[derive(Clone, Copy)]
pub(super) struct Asked<'t> {
    pub place: FileLine<'t>,
    /// The one root that is built; `None` for all that read the file.
    pub root: Option<&'t str>,
    pub shows_secrets: bool,
    /// True if the answer is for a program.
    pub is_json: bool,
}

/// Explains a line, in one root or in all roots below the working directory that read the file.
///
/// # Errors
/// The file has no such line, no root reads it, or no root that reads it can be built.
pub(super) fn run(request: &BuildRequest, asked: Asked<'_>, messages: &mut Messages) -> Result<()> {
    let Asked { place, root, shows_secrets, .. } = asked;
    let target = target(request, place, root.is_some())?;
    let roots = match root {
        Some(root) => vec![root.to_owned()],
        None => readers(request, &target, place)?,
    };
    let mut options = request.options_of(&roots)?;
    options.iter_mut().for_each(|options| options.trace = true);
    let explain = |i: usize, output: Output<'_>| {
        let effects = match output.trace() {
            Some(history) => {
                let view = View::new(&roots[i], &output, history, shows_secrets);
                effects::of(&view, &target)
            }
            None => Effects::default(),
        };
        output.leave();
        Ok(effects)
    };
    let together = Together { jobs: request.jobs(), keep_going: true };
    let built = build_all(&Disk::new(), &roots, |i| options[i].clone(), together, explain);
    status_line::end();
    let mut failures = Failures::default();
    let mut explained = Vec::new();
    for (root, built) in roots.iter().zip(built) {
        let Some(Warned { value, .. }) = built else { continue };
        match value {
            Ok(effects) => explained.push((root.clone(), effects)),
            Err(error) => failures.add(root, &error),
        }
    }
    let answer = Answer::of(place, &target, explained);
    if !answer.roots.is_empty() {
        print(&answer, asked.is_json, messages)?;
    }
    failures.report(roots.len(), messages)
}

fn print(answer: &Answer<'_>, is_json: bool, messages: &Messages) -> Result<()> {
    if is_json {
        return Ok(writer::print_values_json(&show::json(answer))?);
    }
    let is_colored = messages.colors_stdout();
    let text = show::text(answer, is_colored);
    Ok(writer::print(&if is_colored { Shown::colored(&text) } else { Shown::values(&text) })?)
}

/// The file of a line, and the parts of the file that have the line.
fn target(request: &BuildRequest, place: FileLine<'_>, has_root: bool) -> Result<Target> {
    let FileLine { file, line } = place;
    let read = |path: &Path| -> io::Result<(PathBuf, Vec<u8>)> {
        let opened = Disk::new().open(path).map_err(|e| e.error)?;
        Ok((opened.place.clone(), opened.read(request.file_limit)?))
    };
    let (found, bytes) = match read(Path::new(file)) {
        Ok(found) => found,
        // A file of a clone has a place in messages, and none on this disk.
        Err(e) if e.kind() == io::ErrorKind::NotFound && has_root => {
            return Ok(Target { name: file.to_owned(), place: None, extent: Extent::of_line(line) });
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            let error = Error::new(Code::MissingFile, format!("'{file}': no such file"));
            let hint = match file.contains("://") || file.contains("?ref=") {
                true => {
                    format!("name the root that uses it: rustomize explain {} ROOT", quoted(&format!("{file}:{line}")))
                }
                false => "write FILE:LINE with a path that begins in this directory".to_owned(),
            };
            return Err(error.hint(hint).into());
        }
        Err(e) => return Err(e).with_context(|| format!("cannot read '{file}'")),
    };
    let text = match encoding::decode(bytes) {
        Ok(text) => text.text.replace("\r\n", "\n"),
        Err(_) => bail!("'{file}' is not a text: it has no lines"),
    };
    let Some(extent) = Extent::of(file, &text, line) else {
        let count = extent::line_count(&text);
        let error = Error::new(Code::BadValue, format!("'{file}' has no line {line}"));
        let hint = match count {
            0 => "the file is empty".to_owned(),
            count => format!("its last line is {count}: rustomize explain {}", quoted(&format!("{file}:{count}"))),
        };
        return Err(error.hint(hint).into());
    };
    Ok(Target { name: file.to_owned(), place: Some(found), extent })
}

/// The roots below the working directory that read the file.
fn readers(request: &BuildRequest, target: &Target, place: FileLine<'_>) -> Result<Vec<String>> {
    let disk = Disk::new();
    let roots = find(&disk, ".", request.file_limit).context("cannot look for kustomizations in this directory")?;
    let changed = target.place.clone();
    let found = affected(&disk, roots, changed, request.file_limit);
    if found.is_empty() {
        let FileLine { file, line } = place;
        let error = Error::new(Code::NoMatch, format!("no kustomization below this directory reads '{file}'"));
        let hint = format!(
            "run it in a directory above the kustomizations, or name one: rustomize explain {} ROOT",
            quoted(&format!("{file}:{line}"))
        );
        return Err(error.hint(hint).into());
    }
    Ok(found.into_iter().map(|root| root.path).collect())
}
