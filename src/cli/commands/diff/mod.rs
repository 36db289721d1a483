//! `diff`: builds two sides, compares them, and prints the differences.

pub(crate) mod args;
pub(crate) mod origins;
pub(crate) mod sides;
pub(crate) mod state;
pub(crate) mod since;
pub(crate) mod versions;
pub(crate) mod report;
pub(crate) mod compare;
pub(crate) mod item;
pub(crate) mod groups;
pub(crate) mod listing;
pub(crate) mod text;
pub(crate) mod stat;
pub(crate) mod markdown;
pub(crate) mod github;
pub(crate) mod html;
pub(crate) mod json;

use crate::commands::diff::args::{Diff, DiffFormat};
use crate::commands::diff::compare::{DiffForm, compare};
use crate::commands::diff::groups::{OfRoot, grouped};
use crate::commands::diff::item::Item;
use crate::commands::diff::report::{Compared, Report, RootReport};
use crate::commands::diff::sides::two_sides;
use crate::commands::diff::versions::Upgrade;
use crate::failures::Failures;
use crate::flags::roots::RootFlags;
use crate::messages::Messages;
use crate::request::BuildRequest;
use crate::writer::{self, Shown};
use anyhow::Result;
use rustomize_base::observe::Observer;
use rustomize_base::parallel;
use rustomize_engine::diag;
use rustomize_engine::diff::Summary;
use rustomize_engine::schema::Schemas;

/// Runs `diff`. Returns true if there is a difference.
///
/// # Errors
/// Two flags exclude each other, a side cannot be read or built, or stdout is closed. Nothing is on
/// stdout then, unless --keep-going asks for the other kustomizations.
pub(crate) fn run(args: Diff, observer: Observer, messages: &mut Messages) -> Result<bool> {
    let args = args.resolved();
    args.check()?;
    let Diff { since, format, stat, show_secrets, build } = args;
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
    let is_same = total.is_same();
    let is_colored = messages.colors_stdout();
    let people = |text: &str| if is_colored { Shown::colored(text) } else { Shown::values(text) };
    if stat {
        writer::print(&people(&stat::print(&compared, &total, is_colored)))?;
    } else {
        let report = report(compared, total, upgrade, &request.roots, format);
        match format {
            DiffFormat::Human => writer::print(&people(&text::print(&report, is_colored)))?,
            DiffFormat::Markdown => writer::print(&Shown::values(&markdown::print(&report)))?,
            DiffFormat::Github => writer::print(&Shown::values(&github::print(&report)))?,
            DiffFormat::Html => writer::print(&Shown::values(&html::print(&report)))?,
            DiffFormat::Json => writer::print_values_json(&json::all(&report))?,
        }
    }
    failures.report(count, messages)?;
    Ok(!is_same)
}

/// Groups the differences, unless `--each` asks for those of each resource.
fn report<'s>(
    compared: Vec<Compared<'s>>,
    total: Summary,
    upgrade: Option<Upgrade>,
    flags: &RootFlags,
    format: DiffFormat,
) -> Report<'s> {
    let is_json = format == DiffFormat::Json;
    let mut roots = Vec::new();
    let mut all = Vec::new();
    for Compared { sides, summary, items, changes } in compared {
        all.push(OfRoot { root: sides.root.clone(), items });
        roots.push(RootReport { sides, summary, sections: Vec::new(), changes });
    }
    let (mut groups, mut group_data) = (Vec::new(), Vec::new());
    if flags.each && !is_json {
        for (root, OfRoot { items, .. }) in roots.iter_mut().zip(all) {
            root.sections = items.into_iter().map(Item::section).collect();
        }
    } else {
        let grouped = grouped(&all, is_json);
        (groups, group_data) = (grouped.groups, grouped.json);
        for (root, sections) in roots.iter_mut().zip(grouped.sections) {
            root.sections = sections;
        }
    }
    Report { total, upgrade, groups, group_data, roots }
}
