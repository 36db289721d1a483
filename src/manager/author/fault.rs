//! [`Fault`]: something of a configuration object that is not as its schema says, and [`At`], the
//! way to it.

use super::rules::clipped;
use rustomize_yaml::{Node, Pos};

/// Most faults that are told; the others are counted.
pub(super) const MOST_FAULTS: usize = 10;

/// Something that is not as the schema says.
pub(super) struct Fault {
    pub(super) path: Vec<String>,
    pub(super) pos: Pos,
    pub(super) message: String,
    pub(super) hint: Option<String>,
    /// True if a fixed value was expected: such a fault says that an alternative is not meant.
    pub(super) is_const: bool,
}

/// The faults of a value.
pub(super) struct Faults {
    pub(super) list: Vec<Fault>,
    pub(super) count: usize,
    /// True if anybody will read them.
    pub(super) is_kept: bool,
}

impl Faults {
    pub(super) fn kept() -> Faults {
        Faults { list: Vec::new(), count: 0, is_kept: true }
    }

    pub(super) fn dropped() -> Faults {
        Faults { is_kept: false, ..Faults::kept() }
    }

    pub(super) fn add(&mut self, fault: impl FnOnce() -> Fault) {
        self.count += 1;
        if self.is_kept && self.list.len() < MOST_FAULTS {
            self.list.push(fault());
        }
    }

    pub(super) fn add_all(&mut self, other: Faults) {
        let untold = other.count - other.list.len();
        other.list.into_iter().for_each(|fault| self.add(|| fault));
        self.count += untold;
    }
}

/// The fields or items of a value that subschemas have looked at.
#[derive(Default)]
pub(super) struct Seen(Vec<bool>);

impl Seen {
    pub(super) fn mark(&mut self, at: usize) {
        if self.0.len() <= at {
            self.0.resize(at + 1, false);
        }
        self.0[at] = true;
    }

    pub(super) fn has(&self, at: usize) -> bool {
        self.0.get(at).copied().unwrap_or(false)
    }

    pub(super) fn add(&mut self, other: &Seen) {
        (0..other.0.len()).filter(|at| other.has(*at)).for_each(|at| self.mark(at));
    }
}

/// The way to a value from the one that holds it.
#[derive(Clone, Copy)]
pub(super) enum PathStep<'p> {
    Top,
    Field(&'p str),
    Item(usize),
}

/// A value of the object, and the way to it.
pub(super) struct At<'p, 'a> {
    pub(super) node: &'p Node<'a>,
    pub(super) above: Option<&'p At<'p, 'a>>,
    pub(super) step: PathStep<'p>,
    /// Its place, or that of what holds it where a build step has made it.
    pub(super) pos: Pos,
}

impl<'p, 'a> At<'p, 'a> {
    pub(super) fn below(&'p self, node: &'p Node<'a>, step: PathStep<'p>) -> At<'p, 'a> {
        let pos = if node.pos().is_in_source() { node.pos() } else { self.pos };
        At { node, above: Some(self), step, pos }
    }

    /// The names of fields that lead here, outermost first.
    pub(super) fn path(&self) -> Vec<String> {
        let (mut path, mut items, mut next) = (Vec::new(), String::new(), Some(self));
        while let Some(at) = next {
            match at.step {
                PathStep::Top => {}
                PathStep::Item(number) => items.insert_str(0, &format!("[{number}]")),
                PathStep::Field(name) => path.push(format!("{}{}", clipped(name), std::mem::take(&mut items))),
            }
            next = at.above;
        }
        path.reverse();
        path
    }

    pub(super) fn fault(&self, message: impl Into<String>) -> Fault {
        Fault { path: self.path(), pos: self.pos, message: message.into(), hint: None, is_const: false }
    }
}
