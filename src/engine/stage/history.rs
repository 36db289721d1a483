//! The trace of a build that is done: its layers, the steps that ran, and the [`Write`]s of each
//! step. [`History::fields`] follows each field of a resource back through the steps, also where a
//! step has moved the list item that holds it.

use super::compare::{Below, Text, push, text};
use crate::resource::ResId;
use rustomize_base::meter::FastMap;
use rustomize_yaml::{Node, Pos, Value};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// A value that a step of a build has set, changed or taken away.
#[derive(Clone, Debug)]
pub struct Write<'a> {
    /// The resource, as it was called after the step; before it, if the step has taken it away.
    pub resource: Arc<ResId<'a>>,
    /// The field, as a JSON pointer (RFC 6901); empty for the resource as a whole.
    pub path: Arc<str>,
    /// The scalar that was there, `{}` or `[]`; `None` if there was none.
    pub before: Option<&'a str>,
    /// The new scalar, `{}` or `[]`; `None` if the field is gone. Both are `None` for a whole
    /// resource that was added or removed.
    pub after: Option<&'a str>,
    /// The kind of the built-in or plugin, or the field of the kustomization.
    pub step: &'a str,
    /// The place of the entry that asked for the step.
    pub entry: Pos,
    /// The place of the new value, or of the resource.
    pub value: Pos,
    /// The place of the value that was there.
    pub former: Pos,
    /// The number of the resource, which stays when the resource gets another name.
    pub number: u32,
    /// The run of the step: an index of [`History::runs`].
    pub run: u32,
    /// True if the step has removed an item of a list that holds the value: then the path is that
    /// before the step. All other paths are those after the step.
    pub is_in_gone_item: bool,
}

/// An item of a list that a step has moved or made.
#[derive(Debug)]
pub(super) struct Move {
    pub(super) run: u32,
    /// The item after the step, as a JSON pointer.
    pub(super) path: Arc<str>,
    /// Its index before the step; `None` if it is new.
    pub(super) from: Option<usize>,
}

/// The part that a step has in a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepRole {
    /// Reads a file with resources.
    Read,
    Generate,
    Transform,
    Validate,
    /// Ends the build: no entry asks for it.
    Finish,
    /// An external plugin or KRM function generates.
    PluginGenerate,
    /// An external plugin or KRM function transforms.
    PluginTransform,
    /// An external plugin or KRM function validates.
    PluginValidate,
}

/// A step that has run.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// See [`Write::step`].
    pub step: &'a str,
    /// See [`Write::entry`].
    pub entry: Pos,
    pub role: StepRole,
    /// The layer that the step is of: an index of [`History::layers`].
    pub layer: u32,
    /// How long it took, if the build had a clock and the step is more than reading a file.
    pub time: Option<Duration>,
    /// How many resources it has made, changed or removed.
    pub resources: usize,
}

/// The part that a kustomization has in a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerRole {
    /// The kustomization that is built.
    Root,
    /// An entry of `resources`, or of a field for plugins.
    Base,
    Component,
}

/// A kustomization that took part in a build.
#[derive(Clone, Copy, Debug)]
pub struct Layer<'a> {
    /// Its file, as messages name it.
    pub file: &'a str,
    pub role: LayerRole,
    /// The layer that asked for it: an index of [`History::layers`].
    pub above: Option<u32>,
    /// The entry that names it; [`Pos::NONE`] for the root.
    pub entry: Pos,
    /// How many steps had run when it began: an index of [`History::runs`].
    pub first_run: usize,
}

/// A field of a resource of the output, with its writes.
#[derive(Debug)]
pub struct Field<'h, 'a> {
    /// The field in the output, as a JSON pointer (RFC 6901).
    pub path: String,
    /// The scalar, `{}` or `[]`.
    pub value: &'a str,
    /// The value that the field had when the resource was read or generated, and its place; `None`
    /// if a later step has added the field.
    pub origin: Option<Text<'a>>,
    /// The writes of later steps, in order.
    pub writes: Vec<&'h Write<'a>>,
}

/// The trace of a build: see the [module](self).
#[derive(Default)]
pub struct History<'a> {
    pub layers: Vec<Layer<'a>>,
    /// In the order in which they ran.
    pub runs: Vec<Run<'a>>,
    /// The resources: that of number 1 first.
    resources: Vec<Traced<'a>>,
}

/// A resource of a build that is traced.
#[derive(Debug)]
pub(super) struct Traced<'a> {
    /// The tree after the last step. A value that no step has changed is at the place that it was
    /// read from, also if a plugin has printed it.
    pub(super) last: Node<'a>,
    /// In the order of the steps.
    pub(super) writes: Vec<Write<'a>>,
    /// In the order of the steps.
    pub(super) moves: Vec<Move>,
}

/// A field of a resource of the output with its writes, while the resource is walked: see
/// [`Field`].
#[derive(Clone, Copy)]
pub struct Seen<'s, 'h, 'a> {
    pub path: &'s str,
    pub value: &'a str,
    pub origin: Option<Text<'a>>,
    pub writes: &'s [&'h Write<'a>],
}

/// The writes of the fields of a resource.
enum WritesOfFields<'h, 'a> {
    /// No step has moved an item of a list: each field had one path at all times. Most fields have
    /// few writes.
    ByPath(FastMap<&'h str, SmallVec<[&'h Write<'a>; 4]>>),
    /// The writes and moves of each step that has changed the resource, the last one first.
    ByStep(Vec<Turn<'h, 'a>>),
}

/// The writes and moves of one run of a step in one resource.
#[derive(Default)]
struct Turn<'h, 'a> {
    writes: FastMap<&'h str, &'h Write<'a>>,
    moves: FastMap<&'h str, Option<usize>>,
}

impl<'a> History<'a> {
    /// The same, with its resources.
    pub(super) fn finish(self, resources: Vec<Traced<'a>>) -> Self {
        History { resources, ..self }
    }

    fn traced(&self, number: u32) -> Option<&Traced<'a>> {
        self.resources.get((number as usize).checked_sub(1)?)
    }

    /// All writes, grouped by resource, each group in the order of the steps.
    pub fn writes(&self) -> impl Iterator<Item = &Write<'a>> {
        self.resources.iter().flat_map(|traced| &traced.writes)
    }

    /// The writes of a resource, in order.
    pub fn writes_of(&self, number: u32) -> &[Write<'a>] {
        self.traced(number).map_or(&[], |traced| &traced.writes)
    }

    /// For each resource that a step has removed, the write that brought it, and the one that
    /// removed it; in the order of the steps.
    pub fn removed(&self) -> Vec<(&Write<'a>, &Write<'a>)> {
        let mut removed: Vec<_> = self.resources.iter().filter_map(Traced::removed).collect();
        removed.sort_by_key(|(_, removal)| removal.run);
        removed
    }

    /// The tree that the last step left of a resource, also of one that a step has removed.
    pub fn last(&self, number: u32) -> Option<&Node<'a>> {
        self.traced(number).map(|traced| &traced.last)
    }

    /// The fields of a resource whose tree is `node` now, in its order, each with its history.
    /// O(fields + writes); O(fields x steps that have changed the resource) if a step has moved
    /// items of its lists.
    pub fn fields(&self, number: u32, node: &Node<'a>) -> Vec<Field<'_, 'a>> {
        self.some_fields(number, node, |_| true)
    }

    /// As [`History::fields`], for the fields whose paths are wanted.
    pub fn some_fields(&self, number: u32, node: &Node<'a>, is_wanted: impl Fn(&str) -> bool) -> Vec<Field<'_, 'a>> {
        let mut fields = Vec::new();
        self.each_field(number, node, &is_wanted, &mut |seen| {
            let Seen { path, value, origin, writes } = seen;
            fields.push(Field { path: path.to_owned(), value, origin, writes: writes.to_vec() });
        });
        fields
    }

    /// Calls `found` with each field of [`History::some_fields`], without a copy of it.
    pub fn each_field<'h>(
        &'h self,
        number: u32,
        node: &Node<'a>,
        is_wanted: &dyn Fn(&str) -> bool,
        found: &mut dyn FnMut(Seen<'_, 'h, 'a>),
    ) {
        let traced = self.traced(number);
        let writes = match traced.filter(|traced| !traced.moves.is_empty()) {
            None => WritesOfFields::by_path(self.writes_of(number)),
            Some(traced) => WritesOfFields::ByStep(traced.turns()),
        };
        each_pair(&mut String::new(), node, traced.map(|traced| &traced.last), &mut |path, value, last| {
            if !is_wanted(path) {
                return;
            }
            let writes = writes.of(path);
            let origin = match writes.first() {
                Some(first) => first.before.map(|text| (text, first.former)),
                None => last.and_then(text),
            };
            found(Seen { path, value, origin, writes: &writes });
        });
    }

    /// The writes that have removed fields which the resource does not have any more: the last one
    /// of each field, in order.
    pub fn removals(&self, number: u32, node: &Node<'a>) -> Vec<&Write<'a>> {
        let is_there = |write: &Write<'_>| !write.is_in_gone_item && find(node, &write.path).is_some();
        let removals =
            self.writes_of(number).iter().filter(|w| w.before.is_some() && w.after.is_none() && !is_there(w));
        let mut last: FastMap<(&str, bool), &Write<'a>> = FastMap::default();
        removals.clone().for_each(|w| {
            last.insert((&*w.path, w.is_in_gone_item), w);
        });
        let is_last = |w: &&Write<'a>| last.get(&(&*w.path, w.is_in_gone_item)).is_some_and(|l| std::ptr::eq(*l, *w));
        removals.filter(is_last).collect()
    }
}

impl<'a> Traced<'a> {
    /// The write that brought the resource, and the one that removed it; `None` for a resource
    /// that no step has removed.
    fn removed(&self) -> Option<(&Write<'a>, &Write<'a>)> {
        match &*self.writes {
            [origin, .., removal] if removal.path.is_empty() => Some((origin, removal)),
            _ => None,
        }
    }

    /// The steps that have changed the resource, the last one first.
    fn turns(&self) -> Vec<Turn<'_, 'a>> {
        let mut turns: Vec<Turn<'_, 'a>> = Vec::new();
        let (mut writes, mut moves) = (self.writes.iter().rev().peekable(), self.moves.iter().rev().peekable());
        loop {
            let runs = [writes.peek().map(|write| write.run), moves.peek().map(|item| item.run)];
            let Some(run) = runs.into_iter().flatten().max() else { break };
            let mut turn = Turn::default();
            while let Some(write) = writes.next_if(|write| write.run == run) {
                if !write.is_in_gone_item && !write.path.is_empty() {
                    turn.writes.insert(&write.path, write);
                }
            }
            while let Some(item) = moves.next_if(|item| item.run == run) {
                turn.moves.insert(&item.path, item.from);
            }
            turns.push(turn);
        }
        turns
    }
}

impl<'h, 'a> WritesOfFields<'h, 'a> {
    fn by_path(writes: &'h [Write<'a>]) -> Self {
        let mut of_path: FastMap<&str, SmallVec<[&Write<'a>; 4]>> = FastMap::default();
        for write in writes.iter().filter(|write| !write.is_in_gone_item && !write.path.is_empty()) {
            of_path.entry(&write.path).or_default().push(write);
        }
        WritesOfFields::ByPath(of_path)
    }

    /// The writes of the field that is at a path now, in order. O(1), or O(steps) if items have
    /// moved.
    fn of(&self, path: &str) -> Cow<'_, [&'h Write<'a>]> {
        match self {
            WritesOfFields::ByPath(of_path) if of_path.is_empty() => Cow::Borrowed(&[]),
            WritesOfFields::ByPath(of_path) => of_path.get(path).map_or(&[][..], |writes| &**writes).into(),
            WritesOfFields::ByStep(turns) => followed(turns, path).into(),
        }
    }
}

/// The writes of a field, in order: it is followed back through the steps.
fn followed<'h, 'a>(turns: &[Turn<'h, 'a>], path: &str) -> Vec<&'h Write<'a>> {
    let mut old = Cow::Borrowed(path);
    let mut found: Vec<&Write<'a>> = Vec::new();
    for turn in turns {
        found.extend(turn.writes.get(old.as_ref()).copied());
        match before(&turn.moves, &old) {
            Before::Same => {}
            Before::At(path) => old = path.into(),
            Before::New => break,
        }
    }
    found.reverse();
    found
}

/// Where a value was before a step.
enum Before {
    Same,
    At(String),
    New,
}

/// Where the value of a path was before a step that has moved items of lists.
fn before(moves: &FastMap<&str, Option<usize>>, path: &str) -> Before {
    if moves.is_empty() {
        return Before::Same;
    }
    let (mut old, mut is_same) = (String::new(), true);
    let mut end = 0;
    for part in path.split('/').skip(1) {
        end += 1 + part.len();
        match moves.get(&path[..end]) {
            None => {
                old.push('/');
                old.push_str(part);
            }
            Some(Some(from)) => {
                push(&mut old, Below::Item(*from));
                is_same = false;
            }
            Some(None) => return Before::New,
        }
    }
    if is_same { Before::Same } else { Before::At(old) }
}

/// Calls `found` with each scalar and each empty value of a tree, in its order, with its path.
pub fn each_value<'a>(path: &mut String, node: &Node<'a>, found: &mut dyn FnMut(&str, &'a str)) {
    let length = path.len();
    match (text(node), node.value()) {
        (Some((text, _)), _) => found(path, text),
        (None, Value::Mapping(mapping)) => {
            for entry in mapping.iter() {
                push(path, Below::Key(entry.key().text()));
                each_value(path, entry.value(), found);
                path.truncate(length);
            }
        }
        (None, Value::Sequence(items)) => {
            for (i, item) in items.iter().enumerate() {
                push(path, Below::Item(i));
                each_value(path, item, found);
                path.truncate(length);
            }
        }
        (None, Value::Scalar(_)) => {}
    }
}

/// As [`each_value`], with the value that another tree has at the path: mostly a tree with the same
/// keys in the same order.
fn each_pair<'n, 'a>(
    path: &mut String,
    node: &Node<'a>,
    other: Option<&'n Node<'a>>,
    found: &mut dyn FnMut(&str, &'a str, Option<&'n Node<'a>>),
) {
    let length = path.len();
    match (text(node), node.value()) {
        (Some((text, _)), _) => found(path, text, other),
        (None, Value::Mapping(mapping)) => {
            let others = other.and_then(|other| other.as_mapping());
            let mut in_order = others.map(|others| others.iter());
            for entry in mapping.iter() {
                let key = entry.key().text();
                let beside = in_order.as_mut().and_then(Iterator::next).filter(|beside| beside.key().text() == key);
                let other = beside.map(|beside| beside.value()).or_else(|| others?.get(key));
                push(path, Below::Key(key));
                each_pair(path, entry.value(), other, found);
                path.truncate(length);
            }
        }
        (None, Value::Sequence(items)) => {
            let others = other.and_then(|other| other.as_sequence());
            for (i, item) in items.iter().enumerate() {
                push(path, Below::Item(i));
                each_pair(path, item, others.and_then(|others| others.get(i)), found);
                path.truncate(length);
            }
        }
        (None, Value::Scalar(_)) => {}
    }
}

/// The value of a tree at a JSON pointer.
pub fn find<'n, 'a>(node: &'n Node<'a>, pointer: &str) -> Option<&'n Node<'a>> {
    pointer.split('/').skip(1).try_fold(node, |node, part| match node.value() {
        Value::Mapping(mapping) if part.contains('~') => mapping.get(&rustomize_base::json_pointer::unescaped(part)),
        Value::Mapping(mapping) => mapping.get(part),
        Value::Sequence(items) => items.get(part.parse::<usize>().ok()?),
        Value::Scalar(_) => None,
    })
}
