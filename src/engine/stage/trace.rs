//! [`Trace`]: the steps of a build with the fields that each has written, for builds that are
//! asked.
//!
//! A step is traced from outside: the resources before it and after it are compared. So every
//! stage is traced, plugins among them, and none has a line for it. [`History`] is the trace of a
//! build that is done.
//!
//! *Cost*: nothing in a build without a trace. With one, each step costs a look at the resources
//! that it may have changed, and each resource is kept twice: docs/performance.md has figures.

use super::Build;
use super::compare::{Below, Difference, push, update, update_field};
use super::history::{History, Layer, LayerRole, Move, Run, StepRole, Traced, Write};
use crate::diag::Result;
use crate::resource::{RESOURCE, ResId, ResMap, Resource, Touched};
use rustomize_base::meter::{FastMap, FastSet};
use rustomize_base::observe::Work;
use rustomize_base::parallel;
use rustomize_yaml::{Arena, Pos};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A step, as a trace notes it.
#[derive(Clone, Copy)]
pub struct Step<'s> {
    /// See [`Write::step`].
    pub name: &'s str,
    /// See [`Write::entry`].
    pub entry: Pos,
    /// The part that it has in a build.
    pub role: StepRole,
}

/// The writes of the steps of a build so far.
#[derive(Default)]
pub struct Trace<'a> {
    /// The resources after the last step: that of number 1 first.
    known: Vec<Mutex<Known<'a>>>,
    /// The layers that are being accumulated, the innermost one last.
    open: Vec<u32>,
    /// The entry that asks for the next layer.
    next: Pos,
    history: History<'a>,
}

/// Runs a step on the resources of a layer. A build that is traced notes the changes.
///
/// # Errors
/// The errors of the step.
pub fn traced<'a, T>(
    build: &mut Build<'a>,
    map: &mut ResMap<'a>,
    step: Step<'_>,
    work: impl FnOnce(&mut Build<'a>, &mut ResMap<'a>) -> Result<T>,
) -> Result<T> {
    if build.trace.is_none() {
        return timed(build, step, |build| work(build, map)).map(|(value, _)| value);
    }
    let before = map.numbers(build.arena);
    let (value, time) = timed(build, step, |build| work(build, map))?;
    let arena = build.arena;
    if let Some(trace) = &mut build.trace {
        let at = trace.begin(arena, step, time);
        trace.note_step(arena, at, &before, map);
    }
    Ok(value)
}

/// Generates into the resources of a layer, as [`traced`]. The work returns the places of the
/// resources that it has added or replaced; the trace looks at no others. O(these resources).
///
/// # Errors
/// The errors of the work.
pub fn traced_generator<'a>(
    build: &mut Build<'a>,
    map: &mut ResMap<'a>,
    step: Step<'_>,
    work: impl FnOnce(&mut Build<'a>, &mut ResMap<'a>) -> Result<Vec<usize>>,
) -> Result<()> {
    let (places, time) = timed(build, step, |build| work(build, map))?;
    let arena = build.arena;
    if let Some(trace) = &mut build.trace {
        let at = trace.begin(arena, step, time);
        trace.note_places(at, places, map);
    }
    Ok(())
}

/// Does a step, which the observer notes. Measures its time if the build has a clock.
fn timed<'a, T>(
    build: &mut Build<'a>,
    step: Step<'_>,
    work: impl FnOnce(&mut Build<'a>) -> Result<T>,
) -> Result<(T, Option<Duration>)> {
    let kind = match step.role {
        StepRole::PluginGenerate | StepRole::PluginTransform | StepRole::PluginValidate => Work::Plugin,
        _ => Work::Step,
    };
    let _noted = build.cx.options.observer.begin(kind, || step.name.to_owned());
    let clock = build.cx.options.clock.clone();
    let start = clock.as_ref().map(|clock| clock());
    let value = work(build)?;
    build.arena.check()?;
    Ok((value, clock.zip(start).map(|(clock, start)| clock().saturating_sub(start))))
}

/// Notes where resources come from that no step has seen yet. O(size of the resources), on all
/// cores if they are many.
pub fn trace_read<'a>(build: &mut Build<'a>, resources: &mut [Resource<'a>], step: Step<'_>) {
    let arena = build.arena;
    if let Some(trace) = &mut build.trace {
        let at = trace.begin(arena, step, None);
        trace.add_all(arena, at, resources);
        trace.end(resources.len());
    }
}

/// Accumulates a layer. A build that is traced notes that its steps belong to the layer of this
/// kustomization file.
///
/// # Errors
/// The errors of the work.
pub fn traced_layer<'a, T>(
    build: &mut Build<'a>,
    file: &str,
    is_component: bool,
    work: impl FnOnce(&mut Build<'a>) -> Result<T>,
) -> Result<T> {
    let _noted = build.cx.options.observer.begin(Work::Layer, || file.to_owned());
    let arena = build.arena;
    if let Some(trace) = &mut build.trace {
        trace.open(arena.text(file), is_component);
    }
    let value = work(build)?;
    if let Some(trace) = &mut build.trace {
        trace.open.pop();
    }
    Ok(value)
}

impl Build<'_> {
    /// Notes the entry that asks for the layer which is accumulated next, if the build is traced.
    pub fn trace_entry(&mut self, entry: Pos) {
        if let Some(trace) = &mut self.trace {
            trace.next = entry;
        }
    }
}

/// A resource, as the last step left it.
struct Known<'a> {
    /// Its id, which it has in common with its writes: most steps change no id.
    id: Arc<ResId<'a>>,
    traced: Traced<'a>,
}

impl<'a> Known<'a> {
    /// A resource that a step has brought.
    fn of(at: At<'a>, number: u32, resource: &Resource<'a>) -> Known<'a> {
        let id = Arc::new(*resource.id());
        let write = at.write(number, Arc::clone(&id), "".into(), resource.pos());
        let traced = Traced { last: resource.node().clone(), writes: vec![write], moves: Vec::new() };
        Known { id, traced }
    }
}

/// The state of the resource of a number.
fn state<'k, 'a>(known: &'k [Mutex<Known<'a>>], number: u32) -> Option<&'k Mutex<Known<'a>>> {
    known.get((number as usize).checked_sub(1)?)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The step whose writes are noted.
#[derive(Clone, Copy)]
struct At<'a> {
    step: &'a str,
    entry: Pos,
    run: u32,
}

/// The changes of a step in a run of resources.
#[derive(Default)]
struct Changes {
    /// How many resources the step has changed.
    resources: usize,
    paths: Paths,
}

/// Paths of fields as JSON pointers, each kept once: thousands of resources have the same fields.
#[derive(Default)]
struct Paths {
    known: FastSet<Arc<str>>,
    /// The last path that was asked for.
    last: String,
}

impl Paths {
    fn pointer(&mut self, path: &[Below<'_>]) -> Arc<str> {
        self.last.clear();
        path.iter().for_each(|below| push(&mut self.last, *below));
        if let Some(known) = self.known.get(self.last.as_str()) {
            return Arc::clone(known);
        }
        let new: Arc<str> = self.last.as_str().into();
        self.known.insert(Arc::clone(&new));
        new
    }
}

impl<'a> Trace<'a> {
    /// The trace of a build that is done.
    pub fn finish(self) -> History<'a> {
        let traced = |known: Mutex<Known<'a>>| known.into_inner().unwrap_or_else(PoisonError::into_inner).traced;
        self.history.finish(self.known.into_iter().map(traced).collect())
    }

    fn open(&mut self, file: &'a str, is_component: bool) {
        let above = self.open.last().copied();
        let role = match above {
            _ if is_component => LayerRole::Component,
            Some(_) => LayerRole::Base,
            None => LayerRole::Root,
        };
        self.open.push(self.history.layers.len() as u32);
        let entry = std::mem::take(&mut self.next);
        self.history.layers.push(Layer { file, role, above, entry, first_run: self.history.runs.len() });
    }

    /// Notes that a step has run.
    fn begin(&mut self, arena: Arena<'a>, step: Step<'_>, time: Option<Duration>) -> At<'a> {
        let (run, name) = (self.history.runs.len() as u32, arena.text(step.name));
        let layer = self.open.last().copied().unwrap_or_default();
        self.history.runs.push(Run { step: name, entry: step.entry, role: step.role, layer, time, resources: 0 });
        At { step: name, entry: step.entry, run }
    }

    /// Notes how many resources the last step has touched.
    fn end(&mut self, resources: usize) {
        if let Some(run) = self.history.runs.last_mut() {
            run.resources = resources;
        }
    }

    /// Notes the changes of a step to the resources before it. O(size of the resources that it may
    /// have changed), and O(resources) if it has added, removed or moved one.
    fn note_step(&mut self, arena: Arena<'a>, at: At<'a>, before: &Arc<[u32]>, map: &mut ResMap<'a>) {
        let mut touched = 0;
        let now = map.numbers(arena);
        let are_known = Arc::ptr_eq(&now, before);
        let mut gone = if are_known || now == *before { FastMap::default() } else { self.gone(before, &now) };
        if !are_known && now.contains(&0) {
            // A plugin prints resources: one with an id that was there before is that one.
            map.number_each(|resource| match resource.number() {
                0 if !resource.is_deleted() => gone.remove(resource.id()).unwrap_or_else(|| {
                    touched += 1;
                    self.add(at, resource)
                }),
                number => number,
            });
        }
        let known = &self.known;
        for changes in map.look_at_touched(arena, |resource, touched, changes| {
            compare(known, at, resource, touched, changes);
        }) {
            touched += changes.resources;
        }
        touched += gone.len();
        for (id, number) in gone {
            // Each resource has its own writes: the order of these resources does not matter.
            if let Some(known) = self.known(number) {
                lock(known).traced.writes.push(at.write(number, Arc::new(id), "".into(), Pos::NONE));
            }
        }
        self.end(touched);
    }

    /// The resources of the numbers `before` that are not among those of `now`.
    fn gone(&self, before: &[u32], now: &[u32]) -> FastMap<ResId<'a>, u32> {
        let present: FastSet<u32> = now.iter().copied().collect();
        let gone = before.iter().filter(|number| !present.contains(*number));
        gone.filter_map(|&number| Some((*lock(self.known(number)?).id, number))).collect()
    }

    /// Notes the resources that a generator has added or replaced, by their places.
    fn note_places(&mut self, at: At<'a>, places: Vec<usize>, map: &mut ResMap<'a>) {
        let mut changes = Changes::default();
        let mut added = 0;
        for &place in &places {
            let resource = map.get(place);
            let number = match resource.number() {
                0 => {
                    added += 1;
                    self.add(at, resource)
                }
                number => {
                    compare(&self.known, at, resource, Touched::All, &mut changes);
                    number
                }
            };
            map.number(place, number);
        }
        self.end(added + changes.resources);
    }

    /// The state that a resource was left in by the last step.
    fn known(&self, number: u32) -> Option<&Mutex<Known<'a>>> {
        state(&self.known, number)
    }

    /// Notes a new resource, and returns its number.
    fn add(&mut self, at: At<'a>, resource: &Resource<'a>) -> u32 {
        let number = self.known.len() as u32 + 1;
        self.known.push(Mutex::new(Known::of(at, number, resource)));
        number
    }

    /// Notes new resources, and gives them their numbers. O(size of the resources), on all cores if
    /// they are many.
    fn add_all(&mut self, arena: Arena<'a>, at: At<'a>, resources: &mut [Resource<'a>]) {
        for (number, resource) in (self.known.len() as u32 + 1..).zip(resources.iter_mut()) {
            resource.set_number(number);
        }
        let known = |resource: &Resource<'a>| Mutex::new(Known::of(at, resource.number(), resource));
        let known = parallel::runs(resources, arena.threads(resources.len() * RESOURCE), || {
            |run: &[Resource<'a>]| run.iter().map(known).collect::<Vec<_>>()
        });
        known.into_iter().for_each(|run| self.known.extend(run));
    }
}

/// Adds the changes of a step in the part of a resource that it may have changed. The known state
/// becomes the new one.
fn compare<'a>(
    known: &[Mutex<Known<'a>>],
    at: At<'a>,
    resource: &Resource<'a>,
    touched: Touched,
    changes: &mut Changes,
) {
    let (number, id) = (resource.number(), resource.id());
    let Some(known) = state(known, number).filter(|_| !resource.is_deleted()) else { return };
    let mut known = lock(known);
    if *known.id != *id {
        known.id = Arc::new(*id);
    }
    let Known { id, traced: Traced { last, writes, moves } } = &mut *known;
    let before = writes.len() + moves.len();
    let paths = &mut changes.paths;
    let mut note = |path: &[Below<'a>], difference: Difference<'a>| match difference {
        Difference::Value { before, after, is_in_gone_item } => writes.push(Write {
            before: before.map(|(text, _)| text),
            after: after.map(|(text, _)| text),
            former: before.map_or(Pos::NONE, |(_, pos)| pos),
            is_in_gone_item,
            ..at.write(number, Arc::clone(id), paths.pointer(path), after.map_or(Pos::NONE, |(_, pos)| pos))
        }),
        Difference::Item { from } => moves.push(Move { run: at.run, path: paths.pointer(path), from }),
    };
    match touched {
        Touched::Metadata => update_field(last, resource.node(), "metadata", &mut note),
        Touched::Nothing | Touched::All => update(last, resource.node(), &mut note),
    }
    changes.resources += usize::from(writes.len() + moves.len() > before);
}

impl<'a> At<'a> {
    fn write(self, number: u32, resource: Arc<ResId<'a>>, path: Arc<str>, value: Pos) -> Write<'a> {
        let At { step, entry, run } = self;
        Write {
            resource,
            path,
            before: None,
            after: None,
            step,
            entry,
            value,
            former: Pos::NONE,
            number,
            run,
            is_in_gone_item: false,
        }
    }
}
