//! Who wrote what: the [`Trace`] of a build, for those that ask for one.
//!
//! A step is traced from outside: the resources before it and after it are compared. So every
//! stage is traced, plugins among them, and none has a line for it.
//!
//! *Cost*: nothing in a build without a trace. With one, each step costs a look at all resources of
//! its layer, and each resource is kept twice: docs/performance.md has figures.

use super::Build;
use crate::diag::Result;
use crate::meter::{FastMap, FastSet};
use crate::resource::{ResId, ResMap, Resource};
use crate::yaml::{Arena, Mapping, Node, Pos, Value};
use std::fmt::Write as _;

/// A value that a step of a build has set, changed or taken away.
#[derive(Clone, Debug)]
pub struct Write<'a> {
    /// The resource, as it was called after the step; before it, if the step has taken it away.
    pub resource: ResId<'a>,
    /// The field, as a JSON pointer (RFC 6901); empty for the resource as a whole.
    pub path: String,
    /// The scalar that was there, `{}` or `[]`; `None` if there was none.
    pub before: Option<&'a str>,
    /// The scalar that is there now, `{}` or `[]`; `None` if there is none. Both are `None` for a
    /// resource as a whole, which came or went.
    pub after: Option<&'a str>,
    /// The kind of the built-in or plugin, or the field of the kustomization.
    pub step: &'a str,
    /// The place of the entry that asked for the step.
    pub entry: Pos,
    /// The place of the value that is there now, or of the resource.
    pub value: Pos,
    /// Which resource it is, whatever it is called.
    pub(crate) number: u32,
}

/// A step, for those who ask what it has done.
#[derive(Clone, Copy)]
pub struct Step<'s> {
    /// See [`Write::step`].
    pub name: &'s str,
    /// See [`Write::entry`].
    pub entry: Pos,
}

/// What the steps of a build have written so far.
#[derive(Default)]
pub struct Trace<'a> {
    /// The resources after the last step, by their numbers, which begin with 1.
    known: FastMap<u32, Node<'a>>,
    /// How many resources there were.
    count: u32,
    pub(crate) writes: Vec<Write<'a>>,
}

/// Does a step on the resources of a layer. A build that is traced notes what has changed.
///
/// # Errors
/// Those of the step.
pub fn traced<'a, T>(
    build: &mut Build<'a>,
    map: &mut ResMap<'a>,
    step: Step<'_>,
    work: impl FnOnce(&mut Build<'a>, &mut ResMap<'a>) -> Result<T>,
) -> Result<T> {
    if build.trace.is_none() {
        return work(build, map);
    }
    let before: Vec<(u32, ResId<'a>)> = map.iter().map(|r| (r.number(), *r.id())).collect();
    let value = work(build, map)?;
    let arena = build.arena;
    if let Some(trace) = &mut build.trace {
        trace.note_step(arena, At { step: arena.text(step.name), entry: step.entry }, &before, map)?;
    }
    Ok(value)
}

/// Notes where resources come from that no step has seen yet.
pub fn trace_read<'a>(build: &mut Build<'a>, resources: &mut [Resource<'a>], step: Step<'_>) {
    let arena = build.arena;
    if let Some(trace) = &mut build.trace {
        let at = At { step: arena.text(step.name), entry: step.entry };
        resources.iter_mut().for_each(|resource| resource.set_number(trace.add(at, resource)));
    }
}

/// The step whose writes are noted.
#[derive(Clone, Copy)]
struct At<'a> {
    step: &'a str,
    entry: Pos,
}

/// What a step has changed in a resource: its writes, and the tree after them.
type Changed<'a> = (Vec<Write<'a>>, Node<'a>);

impl<'a> Trace<'a> {
    /// Notes what a step has made of the resources that were there before.
    ///
    /// # Errors
    /// None; the work on all cores has a result.
    fn note_step(
        &mut self,
        arena: Arena<'a>,
        at: At<'a>,
        before: &[(u32, ResId<'a>)],
        map: &mut ResMap<'a>,
    ) -> Result<()> {
        let present: FastSet<u32> = map.iter().filter(|r| !r.is_deleted()).map(Resource::number).collect();
        let mut gone: FastMap<ResId<'a>, u32> = FastMap::default();
        gone.extend(before.iter().filter(|(number, _)| !present.contains(number)).map(|(number, id)| (*id, *number)));
        // A plugin prints resources: one with an id that was there before is that one.
        map.number_each(|resource| match resource.number() {
            0 if !resource.is_deleted() => gone.remove(resource.id()).unwrap_or_else(|| self.add(at, resource)),
            number => number,
        });
        for changed in map.look_at_each(arena, |resource| Ok(self.changed(at, resource)))?.into_iter().flatten() {
            let (writes, node) = changed;
            self.known.insert(writes[0].number, node);
            self.writes.extend(writes);
        }
        for (number, id) in before {
            if gone.get(id) == Some(number) {
                self.known.remove(number);
                self.writes.push(at.write(*number, *id, String::new(), Pos::NONE));
            }
        }
        Ok(())
    }

    /// Notes a resource that is new, and gives its number.
    fn add(&mut self, at: At<'a>, resource: &Resource<'a>) -> u32 {
        self.count += 1;
        self.writes.push(at.write(self.count, *resource.id(), String::new(), resource.pos()));
        self.known.insert(self.count, resource.node().clone());
        self.count
    }

    /// What has changed in a resource; `None` for nothing.
    fn changed(&self, at: At<'a>, resource: &Resource<'a>) -> Option<Changed<'a>> {
        let (number, id) = (resource.number(), *resource.id());
        let old = self.known.get(&number).filter(|_| !resource.is_deleted())?;
        let mut writes: Vec<Write<'a>> = Vec::new();
        compare(&mut Vec::new(), Some(old), Some(resource.node()), &mut |path, before, after| {
            let pos = after.map_or(Pos::NONE, |(_, pos)| pos);
            let after = after.map(|(text, _)| text);
            writes.push(Write { before, after, ..at.write(number, id, pointer(path), pos) });
        });
        (!writes.is_empty()).then(|| (writes, resource.node().clone()))
    }
}

impl<'a> At<'a> {
    fn write(self, number: u32, resource: ResId<'a>, path: String, value: Pos) -> Write<'a> {
        let At { step, entry } = self;
        Write { resource, path, before: None, after: None, step, entry, value, number }
    }
}

/// A step on the way from a resource to a value.
#[derive(Clone, Copy)]
enum Below<'a> {
    Key(&'a str),
    Item(usize),
}

/// A path as a JSON pointer.
fn pointer(path: &[Below<'_>]) -> String {
    path.iter().fold(String::new(), |mut pointer, below| {
        let _ = match below {
            Below::Key(key) => write!(pointer, "/{}", key.replace('~', "~0").replace('/', "~1")),
            Below::Item(i) => write!(pointer, "/{i}"),
        };
        pointer
    })
}

/// Is told of a path, the text that was there, and the text and place of what is there now.
type Found<'f, 'a> = dyn FnMut(&[Below<'a>], Option<&'a str>, Option<(&'a str, Pos)>) + 'f;

/// Compares two values, of which one may be missing, down to their scalars. O(size of both).
fn compare<'a>(path: &mut Vec<Below<'a>>, old: Option<&Node<'a>>, new: Option<&Node<'a>>, found: &mut Found<'_, 'a>) {
    match (old.map(|node| node.value()), new.map(|node| node.value())) {
        (Some(Value::Scalar(_)), Some(Value::Scalar(_))) if old.zip(new).is_some_and(|(old, new)| old.same(new)) => {}
        (Some(Value::Mapping(a)), Some(Value::Mapping(b))) if a.is_empty() == b.is_empty() => {
            compare_mappings(path, a, b, found);
        }
        (Some(Value::Sequence(a)), Some(Value::Sequence(b))) if a.is_empty() == b.is_empty() => {
            compare_lists(path, a, b, found);
        }
        _ => {
            let (before, after) = (old.and_then(text), new.and_then(|new| Some((text(new)?, new.pos()))));
            if before.is_some() || after.is_some() {
                found(path, before, after);
            }
            each_below(path, old, &mut |path, node| compare(path, Some(node), None, found));
            each_below(path, new, &mut |path, node| compare(path, None, Some(node), found));
        }
    }
}

fn compare_mappings<'a>(path: &mut Vec<Below<'a>>, old: &Mapping<'a>, new: &Mapping<'a>, found: &mut Found<'_, 'a>) {
    let has_same_keys = old.len() == new.len() && old.iter().zip(new.iter()).all(|(a, b)| a.key().same_text(b.key()));
    if has_same_keys {
        for (old, new) in old.iter().zip(new.iter()) {
            below(path, Below::Key(new.key().text()), |path| {
                compare(path, Some(old.value()), Some(new.value()), found)
            });
        }
        return;
    }
    for entry in old.iter().filter(|entry| !new.contains(entry.key().text())) {
        below(path, Below::Key(entry.key().text()), |path| compare(path, Some(entry.value()), None, found));
    }
    for entry in new.iter() {
        let old = old.get(entry.key().text());
        below(path, Below::Key(entry.key().text()), |path| compare(path, old, Some(entry.value()), found));
    }
}

/// Of lists of different lengths, items that stay in front and at the end are left out.
fn compare_lists<'a>(path: &mut Vec<Below<'a>>, old: &[Node<'a>], new: &[Node<'a>], found: &mut Found<'_, 'a>) {
    let (mut start, mut end) = (0, 0);
    if old.len() != new.len() {
        let shorter = old.len().min(new.len());
        start = old.iter().zip(new).take_while(|(old, new)| old.same(new)).count();
        let pairs = old.iter().rev().zip(new.iter().rev()).take(shorter - start);
        end = pairs.take_while(|(old, new)| old.same(new)).count();
    }
    let (old, new) = (&old[start..old.len() - end], &new[start..new.len() - end]);
    for i in 0..old.len().max(new.len()) {
        below(path, Below::Item(start + i), |path| compare(path, old.get(i), new.get(i), found));
    }
}

/// Works on the values in a value.
fn each_below<'a, 'n>(
    path: &mut Vec<Below<'a>>,
    node: Option<&'n Node<'a>>,
    work: &mut dyn FnMut(&mut Vec<Below<'a>>, &'n Node<'a>),
) {
    match node.map(|node| node.value()) {
        Some(Value::Mapping(mapping)) => {
            mapping.iter().for_each(|e| below(path, Below::Key(e.key().text()), |path| work(path, e.value())));
        }
        Some(Value::Sequence(items)) => {
            items.iter().enumerate().for_each(|(i, item)| below(path, Below::Item(i), |path| work(path, item)));
        }
        Some(Value::Scalar(_)) | None => {}
    }
}

/// Works with the path of a child.
fn below<'a>(path: &mut Vec<Below<'a>>, step: Below<'a>, work: impl FnOnce(&mut Vec<Below<'a>>)) {
    path.push(step);
    work(path);
    path.pop();
}

/// The text of a value that has no other values in it.
fn text<'a>(node: &Node<'a>) -> Option<&'a str> {
    match node.value() {
        Value::Scalar(scalar) => Some(scalar.text()),
        Value::Mapping(mapping) => mapping.is_empty().then_some("{}"),
        Value::Sequence(items) => items.is_empty().then_some("[]"),
    }
}
