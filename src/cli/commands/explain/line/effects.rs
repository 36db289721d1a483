//! [`Effects`]: the values of one output that come from some lines of a file.

use super::extent::Extent;
use rustomize_base::meter::FastMap;
use rustomize_base::shown;
use rustomize_engine::load::Loader;
use rustomize_engine::stage::history::{Field, History, Write};
use rustomize_results::explain::field::DottedPaths;
use rustomize_results::explain::json::identity;
use rustomize_results::explain::view::{Hidden, Subject, View, full_label};
use rustomize_sources::Disk;
use rustomize_yaml::{Node, Place, Pos};
use serde_json::Value;
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// The lines that are asked for.
pub(super) struct Target {
    /// The file, as the user named it.
    pub name: String,
    /// The place of the file; `None` for a file of a clone.
    pub place: Option<PathBuf>,
    pub extent: Extent,
}

/// The effects of the smallest part of the file that has an effect.
#[derive(Default)]
pub(super) struct Effects {
    /// The index of the part in [`Extent::around`].
    pub rank: usize,
    pub fields: Vec<FieldEffect>,
    pub steps: Vec<StepEffect>,
}

impl Effects {
    pub(super) fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.steps.is_empty()
    }
}

/// A field that has, or had, a value of the lines.
pub(super) struct FieldEffect {
    pub resource: String,
    pub identity: Value,
    pub pointer: String,
    pub field: String,
    /// The value that the lines gave to the field.
    pub value: String,
    pub is_hidden: bool,
    pub outcome: Outcome,
}

/// The end of a value.
pub(super) enum Outcome {
    /// It is in the output.
    Kept,
    /// A later step has made another value of it.
    Changed { into: String, by: Cause },
    /// A later step has put another value in its place.
    Overridden { with: String, by: Cause },
    /// A later step has removed the field, or the resource.
    Removed { by: Cause },
}

/// A step, and the place that explains it.
pub(super) struct Cause {
    pub step: String,
    pub place: Option<Place>,
}

/// A step that the lines ask for, or a kustomization that they name.
pub(super) struct StepEffect {
    pub step: String,
    /// The file of the kustomization, for a base or component.
    pub layer: Option<String>,
    /// The resources that it has brought or changed.
    pub resources: Vec<String>,
}

/// The effects of the lines in an output. O(fields and writes).
pub(super) fn of(view: &View<'_, '_>, target: &Target) -> Effects {
    let search = Search { view, target, is_file: RefCell::default() };
    let subjects: Vec<Subject<'_, '_>> = view.subjects().chain(view.removed()).collect();
    let steps = search.steps(&subjects);
    let mut fields: Vec<(usize, FieldEffect)> = Vec::new();
    for subject in &subjects {
        let Some(node) = subject.node.or_else(|| view.history.last(subject.number)) else { continue };
        search.fields(subject, node, &mut fields);
    }
    let ranks = fields.iter().map(|(rank, _)| *rank).chain(steps.iter().map(|(rank, _)| *rank));
    let Some(rank) = ranks.min() else { return Effects::default() };
    let fields: Vec<FieldEffect> = fields.into_iter().filter(|(of, _)| *of == rank).map(|(_, field)| field).collect();
    // A step whose values are listed needs no line of its own.
    let steps = steps.into_iter().filter(|(of, step)| *of == rank && (step.layer.is_some() || fields.is_empty()));
    Effects { rank, steps: steps.map(|(_, step)| step).collect(), fields }
}

struct Search<'s, 'o, 'w> {
    view: &'s View<'o, 'w>,
    target: &'s Target,
    /// Whether a source is the file, by the base of the source.
    is_file: RefCell<FastMap<u32, bool>>,
}

impl<'o, 'w> Search<'_, 'o, 'w> {
    /// The index of the smallest part of the file that has a position.
    fn rank(&self, pos: Pos) -> Option<usize> {
        let spot = self.view.spot(pos)?;
        let is_file =
            *self.is_file.borrow_mut().entry(spot.source.base).or_insert_with(|| self.is_target(&spot.source.name));
        let has = |(from, to): &(usize, usize)| (*from..=*to).contains(&spot.line);
        is_file.then(|| self.target.extent.around.iter().position(has)).flatten()
    }

    /// As [`Search::rank`], for the place of a value. All lines of a file are parts of a value that
    /// is the whole file.
    fn rank_of_value(&self, pos: Pos, value: &str) -> Option<usize> {
        let is_whole = || {
            let spot = self.view.spot(pos)?;
            let is_target = pos.0 == spot.source.base && self.is_target(&spot.source.name);
            (is_target && spot.source.text == value).then_some(0)
        };
        self.rank(pos).or_else(is_whole)
    }

    fn is_target(&self, name: &str) -> bool {
        match &self.target.place {
            Some(place) => Disk::new().open(Path::new(name)).is_ok_and(|opened| opened.place == *place),
            None => name == self.target.name || shown::masked(name) == self.target.name,
        }
    }

    /// Adds the fields of a resource that have, or had, a value of the lines.
    fn fields(&self, subject: &Subject<'o, 'w>, node: &'o Node<'w>, found: &mut Vec<(usize, FieldEffect)>) {
        let view = self.view;
        let paths = DottedPaths::of(node);
        let mut hidden: Option<Hidden<'w>> = None;
        let mut add = |rank: usize, path: &str, old: &str, value: &str, outcome: &dyn Fn(&Hidden<'w>) -> Outcome| {
            let hidden = hidden.get_or_insert_with(|| view.hidden(subject));
            let effect = FieldEffect {
                resource: full_label(&subject.id),
                identity: identity(&subject.id),
                pointer: path.to_owned(),
                field: paths.dotted(path),
                value: hidden.shown([path, old], value).to_owned(),
                is_hidden: hidden.hides([path, old], value),
                outcome: outcome(hidden),
            };
            found.push((rank, effect));
        };
        for field in view.history.fields(subject.number, node) {
            let origin = field.origin.map(|(text, pos)| (pos, text, &*field.path));
            let writes =
                field.writes.iter().map(|write| (view.cause(write), write.after.unwrap_or_default(), &*write.path));
            let skipped = usize::from(origin.is_some());
            for (i, (pos, value, old)) in origin.into_iter().chain(writes).enumerate() {
                let Some(rank) = self.rank_of_value(pos, value) else { continue };
                let later = &field.writes[(i + 1).saturating_sub(skipped)..];
                add(rank, &field.path, old, value, &|hidden| self.outcome(subject, &field, value, later, hidden));
            }
        }
        for write in view.history.removals(subject.number, node) {
            if let (Some(rank), Some(before)) = (self.rank(write.former), write.before) {
                add(rank, &write.path, &write.path, before, &|_| Outcome::Removed { by: self.cause(write) });
            }
        }
    }

    /// The end of a value that `later` writes followed.
    fn outcome(
        &self,
        subject: &Subject<'_, 'w>,
        field: &Field<'_, 'w>,
        value: &str,
        later: &[&Write<'w>],
        hidden: &Hidden<'w>,
    ) -> Outcome {
        if let Some(removal) = subject.removal {
            return Outcome::Removed { by: self.cause(removal) };
        }
        let shown =
            |write: &Write<'w>| hidden.shown([&field.path, &write.path], write.after.unwrap_or_default()).to_owned();
        let is_part = |write: &&&Write<'w>| write.after.is_some_and(|after| !value.is_empty() && after.contains(value));
        match later {
            [] => Outcome::Kept,
            [.., last] if later.iter().all(|write| is_part(&write)) => {
                Outcome::Changed { into: shown(last), by: self.cause(last) }
            }
            later => match later.iter().find(|write| !is_part(write)) {
                Some(next) => Outcome::Overridden { with: shown(next), by: self.cause(next) },
                None => Outcome::Kept,
            },
        }
    }

    fn cause(&self, write: &Write<'_>) -> Cause {
        let place = self.view.spot(self.view.cause(write));
        let place = place.map(|spot| Place {
            file: shown::masked(&spot.source.name).into_owned(),
            line: spot.line,
            column: spot.column,
        });
        Cause { step: write.step.to_owned(), place }
    }

    /// The steps and layers that the lines ask for. O(writes + steps + layers × depth), and the
    /// resources that they have touched.
    fn steps(&self, subjects: &[Subject<'o, 'w>]) -> Vec<(usize, StepEffect)> {
        let History { runs, layers, .. } = self.view.history;
        let ranks_of_runs: Vec<Option<usize>> = runs.iter().map(|run| self.rank(run.entry)).collect();
        let ranks_of_layers: Vec<Option<usize>> = layers.iter().map(|layer| self.rank(layer.entry)).collect();
        if ranks_of_runs.iter().chain(&ranks_of_layers).all(Option::is_none) {
            return Vec::new();
        }
        let touched = self.touched(subjects);
        let labels = |places: &[usize]| places.iter().map(|at| full_label(&subjects[*at].id)).collect::<Vec<_>>();
        let mut found = Vec::new();
        for ((run, rank), touched) in runs.iter().zip(ranks_of_runs).zip(&touched) {
            if let Some(rank) = rank.filter(|_| !touched.is_empty()) {
                found.push((rank, StepEffect { step: run.step.to_owned(), layer: None, resources: labels(touched) }));
            }
        }
        // The nearest layer at or above each layer that the lines ask for. A layer comes after the
        // one that asks for it.
        let mut nearest: Vec<Option<usize>> = Vec::with_capacity(layers.len());
        for (i, layer) in layers.iter().enumerate() {
            let above = layer.above.and_then(|above| *nearest.get(above as usize)?);
            nearest.push(if ranks_of_layers[i].is_some() { Some(i) } else { above });
        }
        let mut touched_by_layer: Vec<Vec<usize>> = vec![Vec::new(); layers.len()];
        for (run, touched) in runs.iter().zip(&touched) {
            let mut open = nearest.get(run.layer as usize).copied().flatten();
            while let Some(at) = open {
                touched_by_layer[at].extend(touched);
                open = layers[at].above.and_then(|above| nearest[above as usize]);
            }
        }
        for ((layer, rank), mut touched) in layers.iter().zip(ranks_of_layers).zip(touched_by_layer) {
            let Some(rank) = rank else { continue };
            touched.sort_unstable();
            touched.dedup();
            let file = Some(shown::masked(layer.file).into_owned());
            let resources = labels(&touched);
            found.push((rank, StepEffect { step: "resources".to_owned(), layer: file, resources }));
        }
        found
    }

    /// The places among `subjects` of the resources that each step has touched, in order.
    /// O(writes of the subjects).
    fn touched(&self, subjects: &[Subject<'o, 'w>]) -> Vec<Vec<usize>> {
        let mut touched: Vec<Vec<usize>> = vec![Vec::new(); self.view.history.runs.len()];
        for (at, subject) in subjects.iter().enumerate() {
            for write in self.view.history.writes_of(subject.number) {
                let of_run = touched.get_mut(write.run as usize).filter(|of_run| of_run.last() != Some(&at));
                of_run.into_iter().for_each(|of_run| of_run.push(at));
            }
        }
        touched
    }
}
