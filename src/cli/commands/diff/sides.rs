//! The sides of a comparison: builds, files, and stdin.

use crate::commands::diff::origins::{Origins, origins};
use crate::groups::{Grouping, grouped};
use crate::messages::Messages;
use crate::request::BuildRequest;
use crate::status_line;
use anyhow::{Context, Result, bail};
use rustomize_base::meter::{FastMap, FastSet};
use rustomize_base::shell::quoted;
use rustomize_engine::diag::{self, Code, Error, Warned};
use rustomize_engine::load::{FileLimit, Loader, kustomization_file};
use rustomize_engine::stage::Options;
use rustomize_engine::workspace::{Output, build_all};
use rustomize_sources::Disk;
use rustomize_sources::reach;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// One side of a comparison.
pub(crate) struct Side {
    /// The name of the side for the user.
    pub name: String,
    pub content: Content,
    /// The places that the values of resources come from, by the index of the resource's text: of
    /// resources that the other side does not have, if this was asked for.
    pub origins: Origins,
}

impl Side {
    /// A side whose origins are not known.
    fn new(name: String, content: Content) -> Side {
        Side { name, content, origins: Origins::default() }
    }

    /// A side without resources.
    pub(crate) fn nothing() -> Side {
        Side::new("nothing".to_owned(), Content::Built(Arc::default()))
    }

    /// The resources of a build; empty for a file.
    pub(crate) fn texts(&self) -> &[String] {
        match &self.content {
            Content::Built(texts) => texts,
            Content::File(_) => &[],
        }
    }
}

/// The resources of a side, as text.
pub(crate) enum Content {
    /// The bytes of a file.
    File(Vec<u8>),
    /// Each resource as a build prints it.
    Built(Arc<[String]>),
}

/// Two sides to compare.
pub(crate) struct Sides {
    /// The kustomization, if several are compared.
    pub root: Option<String>,
    pub before: Side,
    pub after: Side,
}

/// Reads or builds the two sides that the arguments name.
///
/// # Errors
/// The arguments do not name two sides, or a side cannot be read or built.
pub(crate) fn two_sides(request: &BuildRequest, messages: &mut Messages) -> Result<Sides> {
    let [before, after] = request.directories.as_slice() else {
        return Err(not_two(&request.directories).into());
    };
    if before == "-" && after == "-" {
        bail!("only one side can be read from stdin");
    }
    let given = [read(request.file_limit, before)?, read(request.file_limit, after)?];
    let roots: Vec<String> = [before, after]
        .into_iter()
        .zip(&given)
        .filter(|(_, given)| given.is_none())
        .map(|(name, _)| name.clone())
        .collect();
    let options = request.options_of(&roots)?;
    // Both sides are built at once. The second one is the one whose lines are named.
    let texts_of_first = OnceLock::new();
    let asked = if given[1].is_some() { Asked::Nothing } else { Asked::OfLast(&texts_of_first) };
    let mut built = built(request, &Disk::new(), &roots, &options, asked).into_iter();
    let mut side = |name: &String, given: Option<Side>| match given {
        Some(side) => Ok(side),
        None => {
            let Warned { value, warnings } = built.next().flatten().context("the other side cannot be built")?;
            messages.warnings(&grouped(warnings, Some(name), Grouping::said(request.roots.each)));
            value.with_context(|| format!("in {name}"))
        }
    };
    let [first, second] = given;
    Ok(Sides { root: None, before: side(before, first)?, after: side(after, second)? })
}

/// The error for another number of sides than two.
fn not_two(sides: &[String]) -> Error {
    match sides {
        [side] if !Path::new(side).exists() && side != "-" => {
            let message = format!("'{side}' is neither a file, a directory, nor a revision that git knows");
            Error::new(Code::Usage, message).hint("name two directories or files, or a revision")
        }
        [side] if Path::new(side).is_dir() => {
            let error = Error::new(Code::Usage, "'diff' compares two sides, and 1 is named");
            error.hint(format!("compare it with the last commit: rustomize diff --since HEAD {}", quoted(side)))
        }
        sides => {
            let message = format!("'diff' compares two sides, and {} are named", sides.len());
            let message = if sides.len() == 1 { message.replace(" are ", " is ") } else { message };
            Error::new(Code::Usage, message).hint("name two directories or files, or use --since REVISION")
        }
    }
}

/// The other sides of roots, by the names of the roots.
pub(crate) type Others<'o> = FastMap<&'o str, FastSet<&'o str>>;

/// The origins that builds note.
#[derive(Clone, Copy)]
pub(crate) enum Asked<'o> {
    Nothing,
    /// The origins of resources of the last root that are not among the texts of the first one,
    /// which its build leaves here. Both are built at once: while these texts are not known, the
    /// origins of all resources are noted, and those of equal ones are not asked for.
    OfLast(&'o OnceLock<Arc<[String]>>),
    /// The origins of resources that are not among the texts of the other side.
    OfOthersThan(&'o Others<'o>),
}

/// Builds roots, each into a side.
pub(crate) fn built(
    request: &BuildRequest,
    loader: &dyn Loader,
    roots: &[String],
    options: &[Options],
    asked: Asked<'_>,
) -> Vec<Option<Warned<diag::Result<Side>>>> {
    let side = |i: usize, output: Output<'_>| {
        let texts = output.resources().map(|resource| output.print_one(resource));
        let texts: Arc<[String]> = texts.collect::<diag::Result<_>>()?;
        let origins = match asked {
            Asked::OfLast(first) if i + 1 == roots.len() => {
                let others = first.get().into_iter().flat_map(|texts| texts.iter().map(String::as_str));
                origins(&output, &texts, Some(&others.collect()))
            }
            Asked::OfLast(first) => {
                // Only the first root sets it.
                let _ = first.set(Arc::clone(&texts));
                Origins::default()
            }
            Asked::Nothing => Origins::default(),
            Asked::OfOthersThan(others) => origins(&output, &texts, others.get(&*roots[i])),
        };
        Ok(Side { name: roots[i].clone(), content: Content::Built(texts), origins })
    };
    let built = build_all(loader, roots, |i| options[i].clone(), request.together(), side);
    status_line::end();
    built
}

/// Reads a side that is a file or stdin; `None` for a directory or a remote root, which is built.
fn read(limit: FileLimit, name: &str) -> Result<Option<Side>> {
    let mut text = Vec::new();
    let shown = if name == "-" { "stdin" } else { name };
    if name == "-" {
        std::io::stdin().take(limit.0.saturating_add(1)).read_to_end(&mut text).context("cannot read stdin")?;
    } else {
        let path = Path::new(name);
        if !std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_dir()) {
            return Ok(None);
        }
        if kustomization_file::is_one(path) {
            let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            bail!(
                "'{name}' is a kustomization, not a file with resources\n  hint: name its directory, '{}'",
                directory.display()
            );
        }
        reach::check(path).with_context(|| format!("cannot open '{name}'"))?;
        let file = std::fs::File::open(path).with_context(|| format!("cannot open '{name}'"))?;
        file.take(limit.0.saturating_add(1)).read_to_end(&mut text).with_context(|| format!("cannot read '{name}'"))?;
    }
    limit.check(text.len() as u64).with_context(|| format!("cannot read '{shown}'"))?;
    Ok(Some(Side::new(shown.to_owned(), Content::File(text))))
}
