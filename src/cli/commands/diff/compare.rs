//! Compares the resources of two sides.

use crate::cli::commands::diff::args::DiffFormat;
use crate::cli::commands::diff::report::Compared;
use crate::cli::commands::diff::sides::{Content, Side, Sides};
use crate::cli::commands::diff::{json, listing};
use crate::diag::{self, Error};
use crate::diff::{self, Masks, Summary};
use crate::resource::Resource;
use crate::schema::Schemas;
use crate::stage::documents::resources_in;
use rustomize_base::meter::FastMap;
use rustomize_yaml::{Arena, Heap, encoding};
use std::num::NonZero;

/// The form of the printed differences.
#[derive(Clone, Copy)]
pub(crate) struct DiffForm {
    pub format: DiffFormat,
    /// True if the values of Secrets are shown.
    pub shows_secrets: bool,
}

/// Compares two sides.
///
/// # Errors
/// The resources of a side cannot be read.
pub(crate) fn compare<'s>(sides: &'s Sides, form: DiffForm, schemas: &Schemas<'_>) -> diag::Result<Compared<'s>> {
    let mut compared = Compared { sides, summary: Summary::default(), sections: Vec::new(), changes: Vec::new() };
    let (before, after, same) = unshared(&sides.before.content, &sides.after.content);
    compared.summary.same = same;
    let heap = Heap::with_jobs(Some(NonZero::<usize>::MIN));
    let arena = heap.arena();
    let resources = |side: &Side, text| resources(arena, side, text).map_err(|e| e.located(&heap));
    let (mut before, mut after) = (resources(&sides.before, before)?, resources(&sides.after, after)?);
    if !form.shows_secrets {
        let mut masks = Masks::new(arena);
        before.iter_mut().chain(&mut after).for_each(|resource| masks.hide(resource));
    }
    let changes = diff::compare(&before, &after, schemas);
    compared.summary += &Summary::of(&changes);
    match form.format {
        DiffFormat::Json => compared.changes = changes.resources.iter().map(json::change).collect(),
        _ => compared.sections = changes.resources.iter().map(listing::section).collect(),
    }
    Ok(compared)
}

/// The text of a side that must be read.
enum Text<'s> {
    File(&'s [u8]),
    Built(Vec<&'s str>),
}

/// The texts of two sides, without the resources that both builds print in the same way, and the
/// number of these: most changes touch few of many resources. O(size of the texts).
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
    // Texts that no resource of the other side has matched are on the first side alone.
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
