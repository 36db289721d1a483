//! Finds the images of a build's output, and for each the place that decides its tag.

use rustomize_base::meter::{FastMap, FastSet};
use rustomize_base::shown::masked;
use rustomize_engine::stage::history::{Field, History, LayerRole, Run, Write};
use rustomize_engine::transformer::image_tag::{ImageEntries, decides_tag, is_container_list};
use rustomize_engine::workspace::Output;
use rustomize_yaml::places::Places;
use rustomize_yaml::{Pos, first_document};
use std::rc::Rc;

/// The built-in that `images` asks for.
const STEP: &str = "ImageTagTransformer";

/// An image of a root's output.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FoundImage {
    /// As it is in the output.
    pub image: String,
    pub source: TagSource,
    /// The last entry of `images` that works on the image, whether it decides the tag or not.
    pub last_entry: Option<ImageEntry>,
}

/// An entry of `images`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ImageEntry {
    pub file: String,
    /// The place of the entry among those of the file.
    pub index: usize,
}

/// The place that decides the tag of an image.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum TagSource {
    /// An entry of `images` in a kustomization file.
    Entry {
        file: String,
        line: usize,
        /// The place of the entry among those of the file.
        entry: usize,
    },
    /// The text of an image in a file of resources or patches.
    Text {
        file: String,
        line: usize,
        /// The byte of the file with which the value begins, its quote included.
        offset: usize,
        /// The image as it is written.
        text: String,
    },
    /// A chart, a plugin, or another step whose value is in no file.
    Step {
        /// The entry that asks for the step, as `FILE:LINE`.
        place: String,
        step: String,
    },
}

impl TagSource {
    /// The place, as `FILE:LINE`.
    pub(crate) fn place(&self) -> String {
        match self {
            TagSource::Entry { file, line, .. } | TagSource::Text { file, line, .. } => {
                format!("{}:{line}", masked(file))
            }
            TagSource::Step { place, .. } => place.clone(),
        }
    }

    /// The word for programs.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            TagSource::Entry { .. } => "images",
            TagSource::Text { .. } => "text",
            TagSource::Step { .. } => "step",
        }
    }
}

/// A point in the history of an image at which its whole text is known.
struct Start<'a> {
    text: &'a str,
    /// The position of the text.
    pos: Pos,
    /// The entry that asked for the step which wrote the text, and the step.
    entry: Pos,
    step: &'a str,
    /// The run of that step.
    run: u32,
}

struct Survey<'o, 'w> {
    history: &'o History<'w>,
    places: Places<'w>,
    /// The entries of each kustomization file, by the base of its source.
    entries: FastMap<u32, Option<Rc<ImageEntries<'w>>>>,
    /// The runs of the built-in.
    runs: Vec<ImageRun>,
}

/// A run of the built-in.
#[derive(Clone, Copy)]
struct ImageRun {
    /// The index of the run among those of all steps.
    index: u32,
    /// The entry that asks for it.
    entry: Pos,
    /// The layer whose resources it works on.
    layer: u32,
}

/// The images of a build with a trace, each with its place once. O(size of the resources + images x
/// steps that have changed their resources).
pub(crate) fn images(output: &Output<'_>) -> FastSet<FoundImage> {
    let Some(history) = output.trace() else { return FastSet::default() };
    let runs = history.runs.iter().enumerate().filter(|(_, run)| run.step == STEP);
    let run = |(i, run): (usize, &Run<'_>)| {
        let layer = layer_of_resources(history, run.layer);
        ImageRun { index: i as u32, entry: run.entry, layer }
    };
    let runs = runs.map(run).collect();
    let mut survey = Survey { history, places: output.places(), entries: FastMap::default(), runs };
    let mut found = FastSet::default();
    for resource in output.resources() {
        let number = resource.number();
        let writes = history.writes_of(number);
        let set: FastSet<&str> = writes.iter().filter(|write| write.step == STEP).map(|write| &*write.path).collect();
        let is_image = |path: &str| is_of_container(path) || set.contains(path);
        let Some(origin) = writes.iter().find(|write| write.path.is_empty()) else { continue };
        for field in history.some_fields(number, resource.node(), is_image) {
            if let Some((source, last_entry)) = survey.source(&field, origin) {
                found.insert(FoundImage { image: field.value.to_owned(), source, last_entry });
            }
        }
    }
    found
}

/// Returns true for the path of the image of a container.
fn is_of_container(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    parts.next() == Some("image")
        && parts.next().is_some_and(|index| index.parse::<usize>().is_ok())
        && parts.next().is_some_and(|list| is_container_list(list) || list == "ephemeralContainers")
}

/// The layer whose resources a layer works on: a component works on those of the kustomization that
/// has it.
fn layer_of_resources(history: &History<'_>, mut layer: u32) -> u32 {
    while let Some(of) = history.layers.get(layer as usize)
        && of.role == LayerRole::Component
        && let Some(above) = of.above
    {
        layer = above;
    }
    layer
}

impl<'w> Survey<'_, 'w> {
    /// The place that decides the tag of an image, and the last entry that works on it; `None` for
    /// a field without a history.
    fn source(&mut self, field: &Field<'_, 'w>, origin: &Write<'w>) -> Option<(TagSource, Option<ImageEntry>)> {
        let start = start(field, origin)?;
        let mut text = start.text.to_owned();
        let (mut decided, mut last_entry) = (None, None);
        let layer = self.history.runs.get(origin.run as usize).map_or(0, |run| run.layer);
        let above = self.layers_above(layer);
        for at in 0..self.runs.len() {
            let ImageRun { index, entry, layer } = self.runs[at];
            if index <= start.run || !above.contains(&layer) {
                continue;
            }
            let Some(entries) = self.entries_at(entry) else { continue };
            let (way, after) = entries.way(&text);
            if let Some(&last) = way.iter().rev().find(|&&at| decides_tag(&entries.entries[at])) {
                decided = Some((entries.tags[last], last));
            }
            if let Some(&index) = way.last() {
                let spot = self.places.spot(entry);
                last_entry = spot.map(|spot| ImageEntry { file: spot.source.name.clone(), index });
            }
            text = after;
        }
        let source = match decided {
            Some((tag, entry)) => {
                let spot = self.places.spot(tag)?;
                TagSource::Entry { file: spot.source.name.clone(), line: spot.line, entry }
            }
            None => self.written(&start),
        };
        Some((source, last_entry))
    }

    /// The place of an image that no entry of `images` gives a tag.
    fn written(&self, start: &Start<'w>) -> TagSource {
        let in_file = |pos| self.places.spot(pos).filter(|spot| spot.source.is_file);
        match in_file(start.pos).zip(self.places.outermost(start.pos)) {
            Some((spot, (_, offset))) if start.step != STEP => {
                TagSource::Text { file: spot.source.name.clone(), line: spot.line, offset, text: start.text.to_owned() }
            }
            _ => {
                let place = in_file(start.entry).map(|spot| format!("{}:{}", masked(&spot.source.name), spot.line));
                TagSource::Step { place: place.unwrap_or_default(), step: start.step.to_owned() }
            }
        }
    }

    /// A layer and those above it.
    fn layers_above(&self, layer: u32) -> Vec<u32> {
        std::iter::successors(Some(layer), |&layer| self.history.layers.get(layer as usize)?.above).collect()
    }

    /// The entries of `images` in the file of a position; `None` for a configuration object.
    fn entries_at(&mut self, pos: Pos) -> Option<Rc<ImageEntries<'w>>> {
        let source = self.places.spot(pos)?.source;
        let arena = self.places.heap().arena();
        let read = || {
            let document = first_document(arena, source).ok()??;
            document.get("kind").is_none_or(|kind| kind.scalar_text() != STEP).then_some(())?;
            ImageEntries::of(arena, &document).map(Rc::new)
        };
        self.entries.entry(source.base).or_insert_with(read).clone()
    }
}

/// The last point at which another step than that of `images` has written the whole text.
fn start<'w>(field: &Field<'_, 'w>, origin: &Write<'w>) -> Option<Start<'w>> {
    let write = field.writes.iter().rev().find(|write| write.step != STEP && write.after.is_some());
    match (write, field.origin) {
        (Some(write), _) => Some(Start {
            text: write.after?,
            // A value that kept its former position was edited in place.
            pos: if write.value == write.former { Pos::NONE } else { write.value },
            entry: write.entry,
            step: write.step,
            run: write.run,
        }),
        (None, Some((text, pos))) => Some(Start { text, pos, entry: origin.entry, step: origin.step, run: origin.run }),
        // A configuration object may write a field that was not there.
        (None, None) => field.writes.last().and_then(|write| {
            Some(Start { text: write.after?, pos: Pos::NONE, entry: write.entry, step: write.step, run: write.run })
        }),
    }
}
