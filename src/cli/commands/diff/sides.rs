//! The sides of a comparison: builds, files, and stdin.

use crate::cli::groups::{Grouping, grouped};
use crate::cli::messages::Messages;
use crate::cli::request::BuildRequest;
use crate::cli::status_line;
use crate::config::kustomization::FILE_NAMES;
use crate::diag::{self, Warned};
use crate::load::{Disk, FileLimit};
use crate::stage::Options;
use crate::workspace::{Output, build_all};
use anyhow::{Context, Result, bail};
use std::io::Read;
use std::path::Path;

/// One side of a comparison.
pub(crate) struct Side {
    /// The name of the side for the user.
    pub name: String,
    pub content: Content,
}

impl Side {
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
    Built(Vec<String>),
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
        bail!(
            "'diff' compares two sides, and {} are named\n  hint: name two directories or files, or use --since REVISION",
            request.directories.len()
        );
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
    let mut built = built(request, &roots, &options).into_iter();
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

/// Builds roots, each into a side.
pub(crate) fn built(
    request: &BuildRequest,
    roots: &[String],
    options: &[Options],
) -> Vec<Option<Warned<diag::Result<Side>>>> {
    let side = |i: usize, output: Output<'_>| {
        let texts = output.resources().map(|resource| output.print_one(resource));
        Ok(Side { name: roots[i].clone(), content: Content::Built(texts.collect::<diag::Result<_>>()?) })
    };
    let built = build_all(&Disk::new(), roots, |i| options[i].clone(), request.together(), side);
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
        if path.file_name().is_some_and(|file| FILE_NAMES.iter().any(|name| file == *name)) {
            let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            bail!(
                "'{name}' is a kustomization, not a file with resources\n  hint: name its directory, '{}'",
                directory.display()
            );
        }
        let file = std::fs::File::open(path).with_context(|| format!("cannot open '{name}'"))?;
        file.take(limit.0.saturating_add(1)).read_to_end(&mut text).with_context(|| format!("cannot read '{name}'"))?;
    }
    limit.check(text.len() as u64).with_context(|| format!("cannot read '{shown}'"))?;
    Ok(Some(Side { name: shown.to_owned(), content: Content::File(text) }))
}
