//! [`FieldSpec`]: which field of which kind a transformer works on, and the walk to it.

use super::decode::{Decode, Decoder};
use crate::diag::{Error, Result};
use crate::resource::Gvk;
use crate::yaml::{Arena, Mapping, Node, Scalar, Value};

/// A field spec as the tables hold it.
#[derive(Debug)]
pub struct DefaultSpec {
    pub group: &'static str,
    pub version: &'static str,
    pub kind: &'static str,
    pub path: &'static str,
    pub create: bool,
}

/// A field of the kinds that `gvk` selects: empty parts select any.
#[derive(Clone, Debug, Default)]
pub struct FieldSpec<'a> {
    /// The kinds it is for.
    pub gvk: Gvk<'a>,
    /// Keys joined by slashes; `\/` is a slash in a key. Lists on the way are entered, `[]` behind a key says
    /// that one is expected there and nothing is made.
    pub path: &'a str,
    /// Whether a missing field is made.
    pub create: bool,
}

impl<'a> Decode<'a> for FieldSpec<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        cx.object(
            node,
            &mut [
                ("group", &mut self.gvk.group),
                ("version", &mut self.gvk.version),
                ("kind", &mut self.gvk.kind),
                ("path", &mut self.path),
                ("create", &mut self.create),
            ],
        )?;
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
    /// Written with `[]`: never made.
    pub list: bool,
}

/// Splits a path at its slashes.
pub fn split<'a>(arena: &'a Arena, path: &'a str) -> Vec<Step<'a>> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let step = |part: &'a str| {
        let key = part.trim();
        key.strip_suffix("[]").map_or(Step { key, list: false }, |key| Step { key, list: true })
    };
    if !path.contains("\\/") {
        return path.split('/').map(step).collect();
    }
    let marked = arena.text(&path.replace("\\/", "\u{0}"));
    marked.split('/').map(|part| step(arena.text(&part.replace('\u{0}', "/")))).collect()
}

/// What a missing field becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Create {
    No,
    Scalar,
    Mapping,
}

/// Calls `edit` on every node that a path leads to. O(nodes on the way).
///
/// # Errors
/// A scalar stands on the way, a part of the path is empty, or those of `edit`.
pub fn walk<'a>(
    node: &mut Node<'a>,
    path: &[Step<'a>],
    create: Create,
    edit: &mut dyn FnMut(&mut Node<'a>) -> Result<()>,
) -> Result<()> {
    let Some((step, rest)) = path.split_first() else {
        return edit(node);
    };
    match &mut node.value {
        Value::Sequence(items) => items.iter_mut().try_for_each(|item| walk(item, path, create, edit)),
        Value::Scalar(s) if s.is_null() => Ok(()),
        Value::Scalar(_) => Err(Error::input("expected sequence or mapping node, found a scalar")),
        Value::Mapping(m) => {
            if step.key.is_empty() {
                return Err(Error::input("cannot set or create an empty field name"));
            }
            let makes = create != Create::No && !step.list;
            if !makes && !m.contains(step.key) {
                return Ok(());
            }
            let value = m.get_or_insert_with(step.key, || Scalar::plain("").into());
            if create != Create::No && value.is_null() {
                value.value = match (step.list, rest.is_empty(), create, &value.value) {
                    (true, ..) => Value::Sequence(Vec::new()),
                    // A null that is written is a text to the transformer.
                    (false, true, Create::Scalar, Value::Scalar(written)) => Value::Scalar(*written),
                    _ => Value::Mapping(Mapping::new()),
                };
            }
            walk(value, rest, create, edit)
        }
    }
}

/// A list of field specs, with their paths split, and for each kind the ones that apply.
#[derive(Clone, Debug, Default)]
pub struct FieldSpecs<'a> {
    specs: Vec<(FieldSpec<'a>, Vec<Step<'a>>)>,
}

impl<'a> FieldSpecs<'a> {
    /// Splits the paths of some specs.
    pub fn new(arena: &'a Arena, specs: impl IntoIterator<Item = FieldSpec<'a>>) -> Self {
        let with_path = |spec: FieldSpec<'a>| (split(arena, spec.path), spec);
        FieldSpecs { specs: specs.into_iter().map(with_path).map(|(path, spec)| (spec, path)).collect() }
    }

    /// Whether there are no specs.
    pub fn is_empty(&self) -> bool {
        self.specs.is_empty()
    }

    /// Whether there is just one spec, with this path and for all kinds.
    pub fn is_one_for_all(&self, path: &str) -> bool {
        matches!(self.specs.as_slice(), [(spec, _)] if spec.path == path && spec.gvk == Gvk::default())
    }

    /// The specs for one kind, in order.
    pub fn for_gvk<'s>(&'s self, gvk: Gvk<'s>) -> impl Iterator<Item = (&'s FieldSpec<'a>, &'s [Step<'a>])> + 's {
        self.specs.iter().filter(move |(spec, _)| spec.gvk.selects(&gvk)).map(|(spec, path)| (spec, &path[..]))
    }
}

/// Adds specs to a list as upstream merges them: one with a path that is there already for
/// the same or more kinds is dropped.
///
/// # Errors
/// The two disagree about `create`.
pub fn merge<'a>(into: &mut Vec<FieldSpec<'a>>, specs: impl IntoIterator<Item = FieldSpec<'a>>) -> Result<()> {
    for spec in specs {
        match into.iter().find(|have| have.path == spec.path && spec.gvk.selects(&have.gvk)) {
            None => into.push(spec),
            Some(have) if have.create == spec.create => {}
            Some(_) => {
                return Err(Error::input(format!("conflicting fieldspecs for path '{}'", spec.path)));
            }
        }
    }
    Ok(())
}
