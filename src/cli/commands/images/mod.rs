//! `images`: the images of kustomizations, where they are set, and `images set`, which changes the
//! places.

pub(crate) mod args;
pub(crate) mod set;
pub(crate) mod survey;

use self::args::{ImagesCommand, List, Verb};
use self::survey::{FoundImage, images};
use crate::failures::Failures;
use crate::flags::format::Format;
use crate::messages::Messages;
use crate::request::BuildRequest;
use crate::writer::{self, Shown};
use crate::{roots, status_line};
use anyhow::Result;
use rustomize_base::observe::Observer;
use rustomize_base::shown;
use rustomize_engine::transformer::image_tag::split;
use rustomize_engine::workspace::{Together, build_all};
use rustomize_sources::Disk;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The most roots that a line names.
const SHOWN: usize = 3;

/// Runs `images`.
///
/// # Errors
/// A root cannot be built, or stdout is closed. For `images set`: see [`set::run`].
pub(crate) fn run(command: ImagesCommand, observer: Observer, messages: &mut Messages) -> Result<()> {
    match command.verb {
        None => list(command.list, observer, messages),
        Some(Verb::Set(set)) => set::run(*set, observer, messages),
    }
}

/// Lists the images of roots. Of a root that cannot be built the fault is printed after the list.
fn list(list: List, observer: Observer, messages: &mut Messages) -> Result<()> {
    let mut build = list.build;
    build.roots.all = true;
    let request = BuildRequest::new(build, observer)?;
    let paths = roots::directories(&request)?;
    let mut options = request.options_of(&paths)?;
    options.iter_mut().for_each(|of_root| of_root.trace = true);
    let together = Together { keep_going: true, ..request.together() };
    let look = |_: usize, output: rustomize_engine::workspace::Output<'_>| Ok(images(&output));
    let built = build_all(&Disk::new(), &paths, |i| options[i].clone(), together, look);
    status_line::end();
    let mut failures = Failures::default();
    let mut found: BTreeMap<FoundImage, Vec<&str>> = BTreeMap::new();
    for (root, built) in paths.iter().zip(built) {
        match built.map(|built| built.value) {
            Some(Ok(images)) => {
                let places: BTreeSet<FoundImage> =
                    images.into_iter().map(|image| FoundImage { last_entry: None, ..image }).collect();
                places.into_iter().for_each(|image| found.entry(image).or_default().push(root));
            }
            Some(Err(error)) => failures.add(root, &error),
            None => {}
        }
    }
    if list.printing.format == Format::Json {
        writer::print_json(found.iter().map(|(image, roots)| value(image, roots)).collect())?;
    } else {
        writer::print(&Shown::message(&table(&found)))?;
    }
    failures.report(paths.len(), messages)
}

/// The list for people: a line for each image and place.
fn table(found: &BTreeMap<FoundImage, Vec<&str>>) -> String {
    let row = |(found, roots): (&FoundImage, &Vec<&str>)| {
        let named = roots.iter().take(SHOWN).map(|root| shown::line(root)).collect::<Vec<_>>().join(", ");
        let more = match roots.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let step = match &found.source {
            survey::TagSource::Step { step, .. } => format!(" ({step})"),
            _ => String::new(),
        };
        let place = format!("{}{step}", found.source.place());
        [shown::line(&found.image).into_owned(), shown::line(&place).into_owned(), format!("{named}{more}")]
    };
    let rows: Vec<[String; 3]> = found.iter().map(row).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1)];
    let line = |[image, place, roots]: &[String; 3]| {
        format!("{image:w0$}  {place:w1$}  {roots}\n", w0 = widths[0], w1 = widths[1])
    };
    rows.iter().map(line).collect()
}

/// An image for programs.
fn value(found: &FoundImage, roots: &[&str]) -> Value {
    let (name, tag, digest) = split(&found.image);
    let mut value = json!({
        "image": found.image,
        "name": name,
        "tag": tag,
        "digest": digest,
        "set": found.source.word(),
        "place": found.source.place(),
        "roots": roots,
    });
    if let survey::TagSource::Step { step, .. } = &found.source {
        value["step"] = json!(step);
    }
    value
}
