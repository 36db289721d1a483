//! Compares the resources of two sides.

use crate::commands::diff::args::DiffFormat;
use crate::commands::diff::item::Item;
use crate::commands::diff::report::Compared;
use crate::commands::diff::sides::{Content, Side, Sides};
use rustomize_base::meter::FastMap;
use rustomize_engine::diag::{self, Error};
use rustomize_engine::diff::{self, Change, Masks, Summary};
use rustomize_engine::resource::Resource;
use rustomize_engine::schema::Schemas;
use rustomize_engine::stage::documents::resources_in;
use rustomize_results::diff as json;
use rustomize_yaml::{Arena, Heap, encoding};
use serde_json::Value;
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
    let mut compared = Compared { sides, summary: Summary::default(), items: Vec::new(), changes: Vec::new() };
    let Unshared { before, after, places, same } = unshared(&sides.before.content, &sides.after.content);
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
    // A text of several resources would move the places of those behind it.
    let has_places = places.len() == after.len();
    let address = |resource: &Resource<'_>| std::ptr::from_ref(resource).addr();
    let places = after.iter().map(address).zip(places).filter(|_| has_places);
    let places: FastMap<usize, usize> = places.collect();
    let is_json = form.format == DiffFormat::Json;
    let item = |change: &Change<'_>| {
        let lines = places.get(&address(change.resource())).and_then(|place| sides.after.origins.get(place));
        Item::of(change, lines.map(Vec::as_slice), |field| if is_json { json::field(field) } else { Value::Null })
    };
    compared.items = changes.resources.iter().map(item).collect();
    if is_json {
        compared.changes = changes.resources.iter().map(json::change).collect();
    }
    Ok(compared)
}

/// The text of a side that must be read.
enum Text<'s> {
    File(&'s [u8]),
    Built(Vec<&'s str>),
}

/// The texts of two sides, without the resources that both builds print in the same way: most
/// changes touch few of many resources.
struct Unshared<'s> {
    before: Text<'s>,
    after: Text<'s>,
    /// The places of the second texts in their side.
    places: Vec<usize>,
    /// The number of resources that both have.
    same: usize,
}

/// Leaves out the resources that both sides have. O(size of the texts).
fn unshared<'s>(before: &'s Content, after: &'s Content) -> Unshared<'s> {
    let all = |content: &'s Content| match content {
        Content::File(bytes) => Text::File(bytes),
        Content::Built(texts) => Text::Built(texts.iter().map(String::as_str).collect()),
    };
    let (Content::Built(olds), Content::Built(news)) = (before, after) else {
        let places = match after {
            Content::Built(texts) => (0..texts.len()).collect(),
            Content::File(_) => Vec::new(),
        };
        return Unshared { before: all(before), after: all(after), places, same: 0 };
    };
    let mut open: FastMap<&str, usize> = FastMap::default();
    olds.iter().for_each(|text| *open.entry(text).or_default() += 1);
    let mut take = |text: &str| match open.get_mut(text) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    };
    let (places, new): (Vec<usize>, Vec<&str>) =
        news.iter().map(String::as_str).enumerate().filter(|(_, text)| !take(text)).unzip();
    // Texts that no resource of the other side has matched are on the first side alone.
    let old: Vec<&str> = olds.iter().map(String::as_str).filter(|text| take(text)).collect();
    let same = olds.len() - old.len();
    Unshared { before: Text::Built(old), after: Text::Built(new), places, same }
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
