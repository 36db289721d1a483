//! `diff`: builds two sides, compares them, and prints the differences.

pub(crate) mod args;
pub(crate) mod sides;
pub(crate) mod since;
pub(crate) mod versions;
pub(crate) mod report;
pub(crate) mod compare;
pub(crate) mod listing;
pub(crate) mod text;
pub(crate) mod markdown;
pub(crate) mod html;
pub(crate) mod json;

use crate::cli::commands::diff::args::{Diff, DiffFormat};
use crate::cli::commands::diff::compare::{DiffForm, compare};
use crate::cli::commands::diff::report::Report;
use crate::cli::commands::diff::sides::two_sides;
use crate::cli::failures::Failures;
use crate::cli::messages::Messages;
use crate::cli::request::BuildRequest;
use crate::cli::writer::{self, Shown};
use crate::diag;
use crate::diff::Summary;
use crate::schema::Schemas;
use anyhow::Result;
use rustomize_base::observe::Observer;
use rustomize_base::parallel;

/// Runs `diff`. Returns true if there is a difference.
///
/// # Errors
/// Two flags exclude each other, a side cannot be read or built, or stdout is closed. Nothing is on
/// stdout then, unless --keep-going asks for the other kustomizations.
pub(crate) fn run(args: Diff, observer: Observer, messages: &mut Messages) -> Result<bool> {
    args.check()?;
    let Diff { since, format, show_secrets, build } = args;
    let versions = versions::versions(build.output.compat, since.as_deref())?;
    let request = BuildRequest::new(build, observer)?;
    let mut failures = Failures::new(request.roots.each);
    let mut upgrade = None;
    let sides = match (versions, &since) {
        (Some(versions), _) => {
            let (sides, found) = versions::sides(&request, versions, &mut failures, messages)?;
            upgrade = Some(found);
            sides
        }
        (None, Some(range)) => since::sides(&request, range, &mut failures, messages)?,
        (None, None) => vec![two_sides(&request, messages)?],
    };
    let count = sides.len() + failures.count();
    if !failures.is_empty() && !request.roots.keep_going {
        return failures.report(count, messages).map(|()| true);
    }
    let schemas = Schemas::default();
    let form = DiffForm { format, shows_secrets: show_secrets };
    let compared = parallel::each(&sides, request.jobs().get(), |sides| compare(sides, form, &schemas));
    let compared = compared.into_iter().collect::<diag::Result<Vec<_>>>()?;
    let mut total = Summary::default();
    compared.iter().for_each(|compared| total += &compared.summary);
    let report = Report { total, upgrade, compared };
    let printed = match format {
        DiffFormat::Human => {
            let is_colored = messages.colors_stdout();
            let printed = text::print(&report, is_colored);
            Some(if is_colored { Shown::colored(&printed) } else { Shown::values(&printed) })
        }
        DiffFormat::Markdown => Some(Shown::values(&markdown::print(&report))),
        DiffFormat::Html => Some(Shown::values(&html::print(&report))),
        DiffFormat::Json => None,
    };
    match printed {
        Some(printed) => writer::print(&printed)?,
        None => writer::print_values_json(&json::all(&report))?,
    }
    failures.report(count, messages)?;
    Ok(!report.total.is_same())
}
