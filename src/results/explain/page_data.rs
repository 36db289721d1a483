//! The data of the page of a traced build: JSON in lists of numbers, which page.js reads. Each text
//! and each place is written once and has a number. The fields and steps of a resource are its
//! shape, which it mostly has in common with others. For a large build this takes a thirtieth of
//! the size of objects.

use super::digits;
use super::view::{HIDDEN, Hidden, Subject, View, origin_of};
use rustomize_base::meter::FastIndexMap;
use rustomize_base::shown::{json, lines, masked};
use rustomize_engine::stage::history::{LayerRole, Seen, StepRole, Write};
use rustomize_yaml::Pos;
use rustomize_yaml::json::write_string;
use std::borrow::Cow;

/// The number of a text or place that does not exist.
const NONE: i64 = -1;

/// The mark of a field that was read or generated: its first value and its place follow.
const HAS_ORIGIN: i64 = 1;

/// The mark of a field whose value is not that of its last write.
const HAS_VALUE: i64 = 2;

/// The mark of a field whose place is in the file of its resource: the shape has the number of
/// lines below the place of the resource, and the column.
const IS_NEAR: i64 = 4;

/// The mark of a write whose place is not that of the entry of its step.
const HAS_PLACE: i64 = 1;

/// The mark of a write whose former value is not that of the write before it.
const HAS_FORMER: i64 = 2;

/// A field, while its values are written.
struct Field<'s> {
    /// Its path now.
    path: &'s str,
    /// True if the path says that its values are secret.
    is_hidden: bool,
    /// The number of the value that was written last.
    last: i64,
}

/// A resource, while its fields are written. A shape has the number of fields; for each field its
/// path, its marks and the number of its writes; for each write the step and its marks; and path,
/// step and marks of each write that has removed a field.
struct Fields<'p, 'v, 'o, 'w> {
    part: &'p mut Part<'o>,
    view: &'v View<'o, 'w>,
    hidden: Hidden<'w>,
    /// The place of the resource.
    home: Pos,
    shape: Vec<i64>,
    /// The texts and places of the fields.
    values: Vec<i64>,
}

/// The bits from this one on say what a number in a [`Part`] stands for: a text, a path, a place
/// or a shape. A number without such bits stands for itself.
const SHIFT: u32 = 48;
const TEXT: i64 = 1 << SHIFT;
const PATH: i64 = 2 << SHIFT;
const PLACE: i64 = 3 << SHIFT;
const SHAPE: i64 = 4 << SHIFT;

/// Rows of a page, and the texts and places that they name by numbers of this part. Each thread
/// writes parts of its own.
#[derive(Default)]
struct Part<'o> {
    named: Named<'o>,
    rows: Vec<Vec<i64>>,
}

/// Things that have numbers, in the order in which they were named first.
#[derive(Default)]
struct Named<'o> {
    texts: FastIndexMap<Cow<'o, str>, ()>,
    /// The file, line and column of each place, by its position.
    places: FastIndexMap<u32, [i64; 3]>,
    /// The parts that resources have in common: see [`Fields`].
    shapes: FastIndexMap<Vec<i64>, ()>,
    /// Paths of fields, which are copied because their texts do not live long enough.
    paths: FastIndexMap<String, ()>,
}

/// The numbers in the page of what a part has named.
struct Numbers {
    texts: Vec<i64>,
    places: Vec<i64>,
    shapes: Vec<i64>,
    paths: Vec<i64>,
}

impl Numbers {
    /// The number in the page of a number of the part.
    fn of(&self, n: i64) -> i64 {
        let at = (n & ((1 << SHIFT) - 1)) as usize;
        match n & !((1 << SHIFT) - 1) {
            TEXT => self.texts[at],
            PLACE => self.places[at],
            SHAPE => self.shapes[at],
            PATH => self.paths[at],
            _ => n,
        }
    }
}

impl<'o> Named<'o> {
    /// Adds what a part has named, and gives its rows.
    fn rows(&mut self, part: Part<'o>) -> Rows {
        Rows { numbers: self.add(part.named), rows: part.rows }
    }

    /// Adds what a part has named. Parts are added in their order, so that numbers are those of
    /// one part with all rows.
    fn add(&mut self, part: Named<'o>) -> Numbers {
        let texts = part.texts.into_keys().map(|text| number(self.texts.insert_full(text, ()).0)).collect();
        let paths = part.paths.into_keys().map(|path| number(self.paths.insert_full(path, ()).0)).collect();
        let (places, shapes) = Default::default();
        let mut numbers = Numbers { texts, paths, places, shapes };
        for (pos, place) in part.places {
            let place = place.map(|n| numbers.of(n));
            let entry = self.places.entry(pos);
            numbers.places.push(number(entry.index()));
            entry.or_insert(place);
        }
        for (mut shape, ()) in part.shapes {
            shape.iter_mut().for_each(|n| *n = numbers.of(*n));
            numbers.shapes.push(number(self.shapes.insert_full(shape, ()).0));
        }
        numbers
    }
}

/// The data of a page, as JSON that is safe in a script element: it has no `<`. O(size of the
/// output, and its writes), on all cores.
pub fn data(view: &View<'_, '_>) -> String {
    let mut all = Named::default();
    let [layers, steps] = [Part::layers(view), Part::steps(view)].map(|part| all.rows(part));
    let subjects: Vec<Subject<'_, '_>> = view.subjects().chain(view.removed()).collect();
    let parts = view.on_all_cores(&subjects, Part::resources);
    let resources: Vec<Rows> = parts.into_iter().map(|part| all.rows(part)).collect();
    let written = view.on_all_cores(&resources, |_, parts| parts.iter().map(Rows::print).collect::<Vec<_>>());
    let mut out = String::from("{\"root\":");
    write_string(&mut out, &masked(view.root));
    out.push_str(",\"version\":");
    write_string(&mut out, env!("CARGO_PKG_VERSION"));
    out.push_str(",\"texts\":");
    list(&mut out, all.texts.keys(), |out, text| write_string(out, text));
    out.push_str(",\"paths\":");
    list(&mut out, all.paths.keys(), |out, text| write_string(out, text));
    out.push_str(",\"places\":");
    list(&mut out, all.places.values(), |out, place| numbers(out, place.iter().copied()));
    out.push_str(",\"shapes\":");
    list(&mut out, all.shapes.keys(), |out, shape| numbers(out, shape.iter().copied()));
    for (name, part) in [("layers", &layers), ("steps", &steps)] {
        out.extend([",\"", name, "\":[", &part.print(), "]"]);
    }
    out.push_str(",\"resources\":");
    let written = written.iter().flatten().filter(|rows| !rows.is_empty());
    list(&mut out, written, |out, rows| out.push_str(rows));
    out.push('}');
    json(out)
}

/// Rows of a part, with the numbers of the page.
struct Rows {
    numbers: Numbers,
    rows: Vec<Vec<i64>>,
}

impl Rows {
    /// The rows as items of a list in JSON.
    fn print(&self) -> String {
        let mut out = String::new();
        for (i, row) in self.rows.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            numbers(&mut out, row.iter().map(|n| self.numbers.of(*n)));
        }
        out
    }
}

impl<'o> Part<'o> {
    /// The kustomizations of the build.
    fn layers<'w: 'o>(view: &View<'o, 'w>) -> Self {
        let mut part = Part::default();
        for layer in &view.history.layers {
            let role = match layer.role {
                LayerRole::Root => 0,
                LayerRole::Base => 1,
                LayerRole::Component => 2,
            };
            let row = vec![
                part.masked_text(masked(layer.file)),
                role,
                layer.above.map_or(NONE, i64::from),
                number(layer.first_run),
            ];
            part.rows.push(row);
        }
        part
    }

    /// The steps that have run.
    fn steps<'w: 'o>(view: &View<'o, 'w>) -> Self {
        let mut part = Part::default();
        for run in &view.history.runs {
            let role = match run.role {
                StepRole::Read => 0,
                StepRole::Generate => 1,
                StepRole::Transform => 2,
                StepRole::Validate => 3,
                StepRole::Finish => 4,
                StepRole::PluginGenerate => 5,
                StepRole::PluginTransform => 6,
                StepRole::PluginValidate => 7,
            };
            let micros = run.time.map_or(NONE, |time| i64::try_from(time.as_micros()).unwrap_or(i64::MAX));
            let place = part.place(view, run.entry);
            let row = vec![part.text(run.step), place, role, i64::from(run.layer), micros, number(run.resources)];
            part.rows.push(row);
        }
        part
    }

    /// Some resources.
    fn resources<'w: 'o>(view: &View<'o, 'w>, subjects: &[Subject<'o, 'w>]) -> Self {
        let mut part = Part::default();
        for subject in subjects {
            let row = part.resource(view, subject);
            part.rows.push(row);
        }
        part
    }

    /// The number of a text.
    fn text(&mut self, text: &'o str) -> i64 {
        self.masked_text(Cow::Borrowed(text))
    }

    /// The number of a text after its secrets are hidden.
    fn masked_text(&mut self, text: Cow<'o, str>) -> i64 {
        // A browser obeys direction marks as a terminal does.
        let text = match lines(&text) {
            Cow::Owned(shown) => Cow::Owned(shown),
            Cow::Borrowed(_) => text,
        };
        TEXT | number(self.named.texts.insert_full(text, ()).0)
    }

    fn path(&mut self, path: &str) -> i64 {
        let path = &*lines(path);
        let paths = &mut self.named.paths;
        let known = paths.get_index_of(path);
        PATH | number(known.unwrap_or_else(|| paths.insert_full(path.to_owned(), ()).0))
    }

    /// The number of a place.
    fn place<'w: 'o>(&mut self, view: &View<'o, 'w>, pos: Pos) -> i64 {
        if let Some(i) = self.named.places.get_index_of(&pos.0) {
            return PLACE | number(i);
        }
        let Some(spot) = view.spot(pos) else { return NONE };
        let place = [self.masked_text(masked(&spot.source.name)), number(spot.line), number(spot.column)];
        PLACE | number(self.named.places.insert_full(pos.0, place).0)
    }

    /// A resource: version, group, kind, namespace, name, place, the steps that added and removed
    /// it; then the number of its shape, and its texts and places.
    fn resource<'w: 'o>(&mut self, view: &View<'o, 'w>, subject: &Subject<'o, 'w>) -> Vec<i64> {
        let id = subject.id;
        let mut row: Vec<i64> =
            [id.gvk.version, id.gvk.group, id.gvk.kind, id.namespace, id.name].map(|text| self.text(text)).to_vec();
        let home = subject.origin.map_or(Pos::NONE, origin_of);
        row.push(self.place(view, home));
        row.push(subject.origin.map_or(NONE, |write| i64::from(write.run)));
        row.push(subject.removal.map_or(NONE, |write| i64::from(write.run)));
        let Some(node) = subject.node else { return row };
        let hidden = view.hidden(subject);
        let mut fields = Fields { part: self, view, hidden, home, shape: vec![0], values: Vec::new() };
        view.history.each_field(subject.number, node, &|_| true, &mut |seen| fields.add(&seen));
        for write in view.history.removals(subject.number, node) {
            fields.add_removal(write);
        }
        let Fields { shape, values, .. } = fields;
        row.push(SHAPE | number(self.named.shapes.insert_full(shape, ()).0));
        row.extend(values);
        row
    }
}

impl<'o, 'w: 'o> Fields<'_, '_, 'o, 'w> {
    /// Adds a field of the resource.
    fn add(&mut self, seen: &Seen<'_, '_, 'w>) {
        self.shape[0] += 1;
        let marks = self.shape.len() + 1;
        let path = self.part.path(seen.path);
        self.shape.extend([path, 0, number(seen.writes.len())]);
        let is_hidden = self.hidden.hides_field(seen.path);
        let mut field = Field { path: seen.path, is_hidden, last: NONE };
        if let Some((text, pos)) = seen.origin {
            field.last = self.value(is_hidden, text);
            self.values.push(field.last);
            self.shape[marks] |= HAS_ORIGIN;
            let (home, at) = (self.view.spot(self.home), self.view.spot(pos));
            match home.zip(at).filter(|(home, at)| home.source.base == at.source.base) {
                Some((home, at)) => {
                    self.shape[marks] |= IS_NEAR;
                    self.shape.extend([number(at.line) - number(home.line), number(at.column)]);
                }
                None => self.values.push(self.part.place(self.view, pos)),
            }
        }
        for write in seen.writes {
            self.add_write(&mut field, write);
            self.values.push(field.last);
        }
        let value = self.value(is_hidden, seen.value);
        if value != field.last {
            self.shape[marks] |= HAS_VALUE;
            self.values.push(value);
        }
    }

    /// Adds a write that has removed a field.
    fn add_removal(&mut self, write: &Write<'w>) {
        self.shape.push(self.part.path(&write.path));
        let is_hidden = self.hidden.hides_field(&write.path);
        self.add_write(&mut Field { path: &write.path, is_hidden, last: NONE }, write);
    }

    /// Adds a write, but for its new value, which is then the last one of the field.
    fn add_write(&mut self, field: &mut Field<'_>, write: &Write<'w>) {
        let place = self.part.place(self.view, self.view.cause(write));
        let is_hidden = field.is_hidden || *write.path != *field.path && self.hidden.hides_field(&write.path);
        let [before, after] =
            [write.before, write.after].map(|text| text.map_or(NONE, |text| self.value(is_hidden, text)));
        let of_step =
            self.view.history.runs.get(write.run as usize).map_or(NONE, |run| self.part.place(self.view, run.entry));
        let mut marks = 0;
        if place != of_step {
            marks |= HAS_PLACE;
            self.values.push(place);
        }
        if before != field.last {
            marks |= HAS_FORMER;
            self.values.push(before);
        }
        self.shape.extend([i64::from(write.run), marks]);
        field.last = after;
    }

    /// The number of a value, or of the text in its place.
    fn value(&mut self, is_hidden: bool, value: &'w str) -> i64 {
        self.part.text(if is_hidden || self.hidden.hides_text(value) { HIDDEN } else { value })
    }
}

fn number(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn numbers(out: &mut String, row: impl Iterator<Item = i64>) {
    list(out, row, |out, n| {
        if n < 0 {
            out.push('-');
        }
        digits(out, n.unsigned_abs());
    });
}

/// A list in JSON.
fn list<T>(out: &mut String, items: impl Iterator<Item = T>, mut item: impl FnMut(&mut String, T)) {
    out.push('[');
    for (i, one) in items.enumerate() {
        if i > 0 {
            out.push(',');
        }
        item(out, one);
    }
    out.push(']');
}
