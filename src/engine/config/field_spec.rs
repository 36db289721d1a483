//! [`FieldSpec`]: a field of some kinds that a transformer works on, and the walk to it.

use super::decode::{Decoder, for_builtin};
use super::{Decode, Described, Shape};
use crate::diag::{Code, Error, Result};
use crate::schema::Gvk;
use crate::schema::gvk::compare_kinds;
use rustomize_base::compat::Compat;
use rustomize_base::meter::FastMap;
use rustomize_yaml::{Arena, Mapping, Node, Pos, Scalar, Sequence, ValueMut};
use std::borrow::Cow;
use std::cmp::Ordering;

/// A field spec as the tables of defaults hold it.
#[derive(Debug)]
pub struct DefaultSpec {
    pub group: &'static str,
    pub version: &'static str,
    pub kind: &'static str,
    pub path: &'static str,
    pub create: bool,
    /// The question to which the versions of kustomize that have the spec say yes.
    pub asks: fn(Compat) -> bool,
}

/// A field of the kinds that `gvk` selects: empty parts select any.
#[derive(Clone, Debug, Default, Decode, Described)]
pub struct FieldSpec<'a> {
    /// The kinds that have the field.
    #[field(parts(group, version, kind))]
    pub gvk: Gvk<'a>,
    /// Keys joined by slashes; `\/` is a slash in a key. Lists on the way are entered. `[]` at the
    /// end of a key says that a list is expected there and that nothing is made.
    pub path: &'a str,
    /// Makes a missing field.
    pub create: bool,
}

impl<'a> FieldSpec<'a> {
    /// Replaces the texts by those that a built-in gets: see [`for_builtin`].
    ///
    /// # Errors
    /// A text has a control character.
    pub fn read_for_builtin(&mut self, arena: Arena<'a>) -> Result<()> {
        for text in [&mut self.gvk.group, &mut self.gvk.version, &mut self.gvk.kind, &mut self.path] {
            *text = for_builtin(arena, text)?;
        }
        Ok(())
    }
}

impl From<&DefaultSpec> for FieldSpec<'_> {
    fn from(s: &DefaultSpec) -> Self {
        FieldSpec { gvk: Gvk { group: s.group, version: s.version, kind: s.kind }, path: s.path, create: s.create }
    }
}

/// One element of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step<'a> {
    pub key: &'a str,
    /// True if the key is written with `[]`: nothing is made there, and null becomes an empty list.
    pub list: bool,
    /// True if names of fields may begin with the first character.
    is_name: bool,
}

impl<'a> Step<'a> {
    fn new(part: &'a str) -> Self {
        let (key, list) = part.strip_suffix("[]").map_or((part, false), |key| (key, true));
        let key = key.trim();
        let is_name = !matches!(key.as_bytes(), [] | [b'*' | b'-' | b'+' | b'[' | b'0'..=b'9', ..]);
        Step { key, list, is_name }
    }

    /// Refuses a step that is not the name of a field; called when a mapping is searched for it.
    /// Upstream reads each part of a path in its own path language, which can also name items of
    /// lists.
    ///
    /// # Errors
    /// The step is empty, `*`, `-`, a number or in brackets.
    #[inline]
    pub fn check(&self) -> Result<()> {
        if self.is_name { Ok(()) } else { self.check_rare() }
    }

    fn check_rare(&self) -> Result<()> {
        let is_item = || {
            self.key == "-" || self.key.parse::<i64>().is_ok() || (self.key.starts_with('[') && self.key.ends_with(']'))
        };
        match self.key.as_bytes() {
            [] => Err(Error::new(Code::BadPath, "cannot set or create an empty field name")
                .hint("remove the '/' at the end of the path, or two of them that follow each other")),
            b"*" => Err(Error::new(Code::BadPath, "wildcard is not supported in the path of a field")
                .hint("lists on the way are entered without a sign")),
            _ if is_item() => Err(Error::new(
                Code::WrongType,
                format!("wrong node kind: '{}' is for an item of a list, found a mapping", self.key),
            )
            .hint("correct the path: lists on the way are entered without a sign")),
            _ => Ok(()),
        }
    }

    /// Replaces null by an empty list if the step asks for a list, as upstream does on its way.
    pub fn settle(&self, value: &mut Node<'_>) {
        if self.list && value.is_null() {
            value.put(Sequence::default(), Pos::NONE);
        }
    }
}

/// Splits a path at its slashes.
pub fn split<'a>(arena: Arena<'a>, path: &'a str) -> Vec<Step<'a>> {
    let mut steps = Vec::new();
    split_into(|text| arena.text(text), path, &mut steps);
    steps
}

/// Appends the steps of a path to a list. `keep` copies a text that has to outlive the call: a key
/// with a slash.
pub fn split_into<'a>(keep: impl Fn(&str) -> &'a str, path: &'a str, steps: &mut Vec<Step<'a>>) {
    let path = path.strip_prefix('/').unwrap_or(path);
    if !path.as_bytes().contains(&b'\\') {
        return steps.extend(parts(path).map(Step::new));
    }
    let marked = path.replace("\\/", "\u{0}");
    steps.extend(parts(&marked).map(|part| Step::new(keep(&part.replace('\u{0}', "/")))));
}

/// The parts of a text between slashes. `str::split` is made for long texts, and parts are short.
fn parts(path: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(path);
    std::iter::from_fn(move || {
        let text = rest?;
        let end = text.bytes().position(|byte| byte == b'/');
        rest = end.map(|end| &text[end + 1..]);
        Some(&text[..end.unwrap_or(text.len())])
    })
}

/// The value that a missing field gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Create {
    No,
    Scalar,
    Mapping,
}

/// Calls `edit` on every node that a path leads to. O(nodes on the way).
///
/// # Errors
/// A scalar is on the way, a part of the path is not a field, or `edit` fails.
pub fn walk<'a>(
    node: &mut Node<'a>,
    path: &[Step<'a>],
    create: Create,
    edit: &mut dyn FnMut(&mut Node<'a>) -> Result<()>,
) -> Result<()> {
    let pos = node.pos();
    let Some((step, rest)) = path.split_first() else {
        return edit(node).map_err(|e| e.at(pos));
    };
    match node.value_mut() {
        ValueMut::Sequence(items) => items.iter_mut().try_for_each(|item| walk(item, path, create, edit)),
        ValueMut::Scalar(s) if s.is_null() => Ok(()),
        ValueMut::Scalar(_) => Err(Error::new(Code::WrongType, "expected sequence or mapping node, found a scalar")
            .at(pos)
            .hint("the path of a field leads through this value: write lines of 'name: value' here")),
        ValueMut::Mapping(m) => {
            step.check().map_err(|e| e.at(pos))?;
            let makes = create != Create::No && !step.list;
            let value = match makes {
                true => m.get_or_insert_with(step.key, || Scalar::plain("").into()),
                false => match m.get_mut(step.key) {
                    Some(value) => value,
                    None => return Ok(()),
                },
            };
            step.settle(value);
            // A null that the file has is a text for a transformer that makes texts.
            let is_text = rest.is_empty() && create == Create::Scalar;
            if makes && value.is_null() && !is_text {
                value.put(Mapping::new(), Pos::NONE);
            }
            walk(value, rest, create, edit)
        }
    }
}

/// A list of field specs that other specs are merged into.
#[derive(Clone, Debug, Default)]
pub struct MergedSpecs<'a> {
    specs: Vec<FieldSpec<'a>>,
    known: KnownSpecs<'a>,
    /// True if the specs are applied in the order of their kinds, and not in the order of the file.
    is_sorted: bool,
}

/// Specs by path and kind, and by path alone.
#[derive(Clone, Debug, Default)]
struct KnownSpecs<'a> {
    of_kind: FastMap<(&'a str, &'a str), Group<'a>>,
    of_path: FastMap<&'a str, Group<'a>>,
    /// True if all specs of the list are in these tables.
    is_complete: bool,
    /// The number of merges into the list since it became a sorted one.
    merges: u32,
}

/// The kinds of the specs of one path, each with its `create`. Specs of earlier merges come first,
/// in the order in which they are applied.
#[derive(Clone, Debug, Default)]
struct Group<'a> {
    specs: Vec<(Gvk<'a>, bool)>,
    sorted: usize,
    merge: u32,
}

impl<'a> Group<'a> {
    fn add(&mut self, spec: &FieldSpec<'a>, merge: u32) {
        self.settle(merge);
        self.specs.push((spec.gvk, spec.create));
    }

    /// Sorts the specs of earlier merges.
    fn settle(&mut self, merge: u32) {
        if self.merge == merge {
            return;
        }
        if self.specs.len() - self.sorted > 1 {
            self.specs.sort_by(|(a, _), (b, _)| compare_kinds(a, b));
        } else if let Some((new, rest)) = self.specs.split_last()
            && self.sorted == rest.len()
        {
            let at = rest.partition_point(|(have, _)| compare_kinds(have, &new.0) != Ordering::Greater);
            self.specs[at..].rotate_right(1);
        }
        (self.sorted, self.merge) = (self.specs.len(), merge);
    }
}

// Not a record, but a list of records.
impl<'a> Decode<'a> for MergedSpecs<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        self.specs.decode(node, cx)
    }
}

impl<'a> Described for MergedSpecs<'a> {
    const SHAPE: Shape = <Vec<FieldSpec<'a>>>::SHAPE;
}

impl<'a> From<Vec<FieldSpec<'a>>> for MergedSpecs<'a> {
    fn from(specs: Vec<FieldSpec<'a>>) -> Self {
        MergedSpecs { specs, ..MergedSpecs::default() }
    }
}

impl<'a> MergedSpecs<'a> {
    /// The specs in the order in which they are applied: by kind if they were
    /// [merged by kind](MergedSpecs::merge_by_kind), else as they were given. O(n log n).
    pub fn in_order(&self) -> Cow<'_, [FieldSpec<'a>]> {
        let mut specs = Cow::Borrowed(&*self.specs);
        if self.is_sorted {
            specs.to_mut().sort_by(|a, b| compare_kinds(&a.gvk, &b.gvk));
        }
        specs
    }

    /// The number of specs.
    pub(crate) fn len(&self) -> usize {
        self.specs.len()
    }

    /// Adds a spec to a list into which nothing is merged.
    pub fn push(&mut self, spec: FieldSpec<'a>) {
        self.specs.push(spec);
    }

    /// Adds specs as upstream merges them: a spec is dropped if the list has one with the same path
    /// for the same or fewer kinds. O(specs).
    ///
    /// # Errors
    /// Two specs disagree about `create`.
    pub fn merge(&mut self, specs: impl IntoIterator<Item = FieldSpec<'a>>) -> Result<()> {
        let known = &mut self.known;
        if !std::mem::replace(&mut known.is_complete, true) {
            self.specs.iter().for_each(|spec| known.add(spec));
        }
        known.merges += u32::from(self.is_sorted);
        for spec in specs {
            match known.first(&spec) {
                None => {
                    known.add(&spec);
                    self.specs.push(spec);
                }
                Some(create) if create == spec.create => {}
                Some(_) => {
                    return Err(Error::new(
                        Code::ConflictingFields,
                        format!("conflicting fieldspecs for path '{}'", spec.path),
                    ));
                }
            }
        }
        Ok(())
    }

    /// From now on the specs are applied in the order of their kinds.
    pub fn sort_by_kind(&mut self) {
        self.is_sorted = true;
    }

    /// As [`MergedSpecs::merge`], for a list whose specs are applied in the order of their kinds.
    ///
    /// # Errors
    /// As [`MergedSpecs::merge`].
    pub fn merge_by_kind(&mut self, specs: impl IntoIterator<Item = FieldSpec<'a>>) -> Result<()> {
        self.sort_by_kind();
        self.merge(specs)
    }
}

impl<'a> KnownSpecs<'a> {
    fn add(&mut self, spec: &FieldSpec<'a>) {
        self.of_kind.entry((spec.path, spec.gvk.kind)).or_default().add(spec, self.merges);
        self.of_path.entry(spec.path).or_default().add(spec, self.merges);
    }

    /// The `create` of the first spec with the same path that is for the same or fewer kinds.
    fn first(&mut self, spec: &FieldSpec<'a>) -> Option<bool> {
        let group = match spec.gvk.kind {
            "" => self.of_path.get_mut(spec.path),
            kind => self.of_kind.get_mut(&(spec.path, kind)),
        }?;
        group.settle(self.merges);
        group.specs.iter().find(|(have, _)| spec.gvk.selects(have)).map(|(_, create)| *create)
    }
}
