//! ValueAddTransformer: puts one value into fields of resources, or into file paths that they hold.
//!
//! *Kinds*: `ValueAddTransformer`, with `value`, `targets`, and `targetFilePath` for a file with
//! more targets.
//! *Entry*: `Target`.
//! *Selects*: by each target's selector; all resources without one.
//! *Writes*: the field path, made where it is missing; `metadata/namespace` sets the namespace as
//! NamespaceTransformer does.
//! *Order*: among `transformers`.
//! *Cost*: O(targets x resources they select + nodes on the paths).
//! *Quirks*: without `value`, it is the name of the kustomization's directory.
//! *Example*: `testdata/reference/value_add.txtar`

use super::namespace::{NamespaceTransformer, SetRoleBindingSubjects};
use crate::config::{Decode, Decoder, Described, FieldSpec, FieldSpecs, Selector};
use crate::diag::{Code, Error, Result};
use crate::load::Root;
use crate::resource::Matcher;
use crate::resource::{ResMap, Resource};
use crate::schema::Gvk;
use crate::stage::{Build, Transformer};
use rustomize_yaml::{Arena, Mapping, Node, Pos, Scalar, Sequence, Value, ValueMut, first_document, json};

/// A configuration object of this kind.
#[derive(Default)]
pub struct ValueAddTransformer<'a> {
    /// The object, which is the place of what is set.
    pos: Pos,
    value: &'a str,
    targets: Vec<Prepared<'a>>,
}

struct Prepared<'a> {
    matcher: Matcher<'a>,
    path: Vec<Step<'a>>,
    /// The place in a file path, from 1; 0 if the field is not one.
    position: i64,
    is_namespace: bool,
}

/// One step of a field path.
enum Step<'a> {
    Key(&'a str),
    Element { key: &'a str, value: &'a str },
}

/// The place of the value.
#[derive(Clone, Debug, Default, Decode, Described)]
pub struct Target<'a> {
    /// The resources; all if it is left out.
    pub selector: Option<Selector<'a>>,
    /// Keys between slashes; `[name=x]` is an item of a list.
    pub field_path: &'a str,
    /// If the field is a file path: the number of the part that the value becomes, from 1.
    pub file_path_position: i64,
}

impl<'a> ValueAddTransformer<'a> {
    /// Takes the fields of a configuration object; `target_file` names a file with more targets.
    ///
    /// # Errors
    /// Targets are missing, or one lacks a path, or has a negative position or a broken pattern.
    pub fn new(
        build: &mut Build<'a>,
        root: &Root,
        (value, pos): (&'a str, Pos),
        mut targets: Vec<Target<'a>>,
        target_file: &str,
    ) -> Result<Self> {
        let arena = build.arena;
        if !target_file.is_empty() {
            let source = build.cx.files.text(root, target_file)?;
            let node = first_document(arena, source)?.unwrap_or_default();
            json::check_keys(&node)?;
            let mut more: Vec<Target<'a>> = Vec::new();
            Decoder::of_file(arena).object(&node, &mut [("targets", &mut more)])?;
            targets.append(&mut more);
        }
        if targets.is_empty() {
            return Err(Error::new(Code::MissingField, "must specify at least one target"));
        }
        let value = match value.trim() {
            "" => arena.text(&root.real.file_name().unwrap_or_default().to_string_lossy()),
            value => value,
        };
        let targets = targets.iter().map(|target| prepare(arena, target)).collect::<Result<_>>()?;
        Ok(ValueAddTransformer { value, targets, pos })
    }
}

fn prepare<'a>(arena: Arena<'a>, target: &Target<'a>) -> Result<Prepared<'a>> {
    if target.field_path.is_empty() {
        return Err(Error::new(Code::MissingField, "must specify fieldPath"));
    }
    if target.file_path_position < 0 {
        return Err(Error::new(Code::BadValue, "value of filePathPosition cannot be negative"));
    }
    let marked = target.field_path.replace("\\/", "\u{0}");
    let step = |part: &str| {
        let text = arena.text(&part.replace('\u{0}', "/"));
        match text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).and_then(|t| t.split_once('=')) {
            Some((key, value)) => Step::Element { key, value },
            None => Step::Key(text),
        }
    };
    Ok(Prepared {
        matcher: Matcher::new(&target.selector.clone().unwrap_or_default())?,
        path: marked.split('/').filter(|part| !part.is_empty()).map(step).collect(),
        position: target.file_path_position,
        is_namespace: target.field_path == "metadata/namespace",
    })
}

impl<'a> Transformer<'a> for ValueAddTransformer<'a> {
    fn transform(&self, map: &mut ResMap<'a>, build: &mut Build<'a>) -> Result<()> {
        for target in &self.targets {
            for i in map.candidates(&target.matcher.hint()) {
                if target.matcher.is_match(map.get(i))? {
                    let id = *map.get(i).id();
                    let apply = |resource: &mut Resource<'a>| self.apply(build, resource, target);
                    map.edit(i, apply).map_err(|e| e.in_resource(id).context(format!("adding a value to {id}")))?;
                }
            }
        }
        Ok(())
    }
}

impl<'a> ValueAddTransformer<'a> {
    fn apply(&self, build: &Build<'a>, resource: &mut Resource<'a>, target: &Prepared<'a>) -> Result<()> {
        let arena = build.arena;
        if target.is_namespace {
            let spec = FieldSpec { gvk: Gvk::default(), path: "metadata/namespace", create: true };
            let namespace = NamespaceTransformer {
                namespace: self.value,
                specs: FieldSpecs::new(arena, [spec]),
                subjects: SetRoleBindingSubjects::DefaultOnly,
                unset_only: false,
                spares_charts: build.arena.compat().leaves_namespaces_to_charts(),
                pos: self.pos,
                overridden: None,
            };
            return namespace.edit(resource);
        }
        let Some(node) = walk(resource.node_mut(), &target.path)? else { return Ok(()) };
        let scalar = super::scalar_of(node)?;
        let old = if scalar.is_null() { "" } else { scalar.text() };
        let text = match usize::try_from(target.position) {
            Ok(0) | Err(_) => self.value,
            Ok(position) => arena.text(&inserted(old, self.value, position)),
        };
        node.set_untyped(text, self.pos);
        if node.is_ahead() {
            resource.settle_shared();
        }
        Ok(())
    }
}

/// The node at a path; missing nodes are made. `None` if a null is on the way, as upstream ends
/// there.
fn walk<'n, 'a>(node: &'n mut Node<'a>, path: &[Step<'a>]) -> Result<Option<&'n mut Node<'a>>> {
    let mut node = node;
    for (i, step) in path.iter().enumerate() {
        if node.is_null() {
            return Ok(None);
        }
        let shape = node.shape();
        let missing = || match path.get(i + 1) {
            None => Scalar::plain("").into(),
            Some(Step::Key(_)) => Mapping::new().into(),
            Some(Step::Element { .. }) => Value::Sequence(Sequence::default()).into(),
        };
        node = match (step, node.value_mut()) {
            (Step::Key(key), ValueMut::Mapping(m)) => m.get_or_insert_with(key, missing),
            (Step::Element { key, value }, ValueMut::Sequence(items)) => {
                let at = items.iter().position(|item| item.get_text(key) == Some(value)).unwrap_or_else(|| {
                    let mut item = Mapping::new();
                    item.insert(*key, Scalar::plain(value).into());
                    items.push(item.into());
                    items.len() - 1
                });
                &mut items[at]
            }
            (Step::Key(key), _) => {
                return Err(Error::new(
                    Code::WrongType,
                    format!("wrong node kind: expected a mapping with '{key}', found {shape}"),
                ));
            }
            (Step::Element { .. }, _) => {
                return Err(Error::new(Code::WrongType, format!("wrong node kind: expected a list, found {shape}")));
            }
        };
    }
    Ok(Some(node))
}

/// A file path with one more part. A slash in front does not count as a part; beyond the end the
/// part is appended.
fn inserted(path: &str, part: &str, position: usize) -> String {
    let (start, rest) = path.strip_prefix('/').map_or(("", path), |rest| ("/", rest));
    let mut parts: Vec<&str> = rest.split('/').filter(|p| !p.is_empty()).collect();
    parts.insert((position - 1).min(parts.len()), part);
    format!("{start}{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_file_paths() {
        assert_eq!(inserted("data/logs/x", "v", 2), "data/v/logs/x");
        assert_eq!(inserted("/data/logs", "v", 1), "/v/data/logs");
        assert_eq!(inserted("raw", "v", 99), "raw/v");
        assert_eq!(inserted("", "v", 3), "v");
    }
}
