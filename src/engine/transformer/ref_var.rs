//! RefVarTransformer: puts the values of `vars` where `$(NAME)` stands.
//!
//! *Fields*: `vars`.
//! *Entry*: `Var`, `ObjectReference`, `FieldReference`.
//! *Selects*: the fields of `varReference`: the defaults (arguments, commands, environment, mount
//! paths, hosts, labels, annotations) and those of `configurations`.
//! *Writes*: strings, string values of mappings, lists of strings; a string that is nothing but one
//! reference takes the type of the value.
//! *Order*: once, at the root, after the name references, so that values carry prefixes and hashes.
//! *Cost*: O(nodes on the paths + references + vars).
//! *Quirks*: `$$` becomes `$` in every string that is reached, as soon as there is a var (case
//! var-dollars). An unused var is a warning, one whose resource is missing an error.
//! *Example*: `testdata/reference/ref_var.txtar`

use super::left_variables;
use crate::config::field_path::{lookup, var_parts};
use crate::config::field_spec::Create;
use crate::config::var::Var;
use crate::config::{FieldSpec, FieldSpecs};
use crate::diag::{Code, Error, Result, Warning, nearest};
use crate::resource::similar;
use crate::resource::{Hint, ResId, ResMap, Resource};
use crate::stage::{Build, Transformer};
use base64::Engine;
use rustomize_base::meter::{FastIndexMap, FastMap};
use rustomize_yaml::scalar::{self, Kind};
use rustomize_yaml::shared::Shared;
use rustomize_yaml::{Arena, Entry, Node, Pos, Scalar, Style, Tag, Value, ValueMut};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

/// The vars of all layers.
pub struct RefVarTransformer<'a> {
    pub vars: Vec<Var<'a>>,
    pub specs: Vec<FieldSpec<'a>>,
}

/// Lets the resource that a var names remember it: its name may change later. No such resource is
/// fine here.
///
/// # Errors
/// Several resources answer to the reference.
pub fn attach<'a>(map: &mut ResMap<'a>, var: &Var<'a>) -> Result<()> {
    let object = &var.object;
    let wanted = ResId::new(object.gvk, object.name, object.namespace);
    let any_namespace = object.namespace.is_empty() && !wanted.is_cluster_scoped();
    let is_meant = |resource: &Resource<'a>| {
        resource.any_ids().any(|id| {
            id.gvk == wanted.gvk
                && id.name == wanted.name
                && (any_namespace || id.effective_namespace() == wanted.effective_namespace())
        })
    };
    let namespace = (!any_namespace).then(|| wanted.effective_namespace());
    let hint = Hint { kind: Some(wanted.gvk.kind), namespace, ..Hint::named(object.name) };
    let places: Vec<usize> = map.candidates(&hint).into_iter().filter(|&i| is_meant(map.get(i))).collect();
    match places[..] {
        [] => Ok(()),
        [i] => map.edit_in_place(i, |resource| {
            resource.notes_mut().vars.push(var.name);
            Ok(())
        }),
        _ => {
            let count = places.len();
            let error = Error::new(
                Code::AmbiguousMatch,
                format!("found {count} resId matches for var '{}' (unable to disambiguate)", var.name),
            );
            Err(error.at(var.pos).hint("name the namespace in the var's objref"))
        }
    }
}

/// The names of variables in the texts of resources, as in `$(NAME)`. O(size of the resources).
fn references<'m>(map: &'m ResMap<'_>) -> BTreeSet<&'m str> {
    let mut names = BTreeSet::new();
    let mut open: Vec<&Node<'_>> = map.iter().map(Resource::node).collect();
    while let Some(node) = open.pop() {
        match node.value() {
            Value::Mapping(fields) => open.extend(fields.iter().map(Entry::value)),
            Value::Sequence(items) => open.extend(items.iter()),
            Value::Scalar(scalar) => {
                let parts = scalar.text().split("$(").skip(1);
                names.extend(parts.filter_map(|part| part.split_once(')')).map(|(name, _)| name));
            }
        }
    }
    names
}

/// A value, and whether anything used it.
struct Named<'a> {
    value: Node<'a>,
    used: Cell<bool>,
}

/// The values of vars by their names, in the order of the vars.
type Values<'a> = FastIndexMap<&'a str, Named<'a>>;

impl<'a> Transformer<'a> for RefVarTransformer<'a> {
    fn transform(&self, map: &mut ResMap<'a>, build: &mut Build<'a>) -> Result<()> {
        let arena = build.arena;
        if self.vars.is_empty() {
            return Ok(());
        }
        let values = self.values(map, arena)?;
        let cx = Expansion { arena, values: &values, warnings: RefCell::default() };
        let specs = FieldSpecs::new(arena, self.specs.iter().cloned());
        let expanded = map.rename(|resource| {
            let mut shared = Vec::new();
            super::edit_fields(resource, &specs, Create::No, &mut |node| cx.field(node, &mut shared))?;
            resource.set_shared(&shared, Pos::NONE);
            Ok(())
        });
        cx.warnings.take().into_iter().for_each(|warning| build.warn(Code::Input, warning));
        expanded?;
        let is_unused = |var: &&Var<'a>| values.get(var.name).is_some_and(|value| !value.used.get());
        let unused: Vec<&Var<'a>> = self.vars.iter().filter(is_unused).collect();
        // A build warns once, as kustomize does. A finding is about one var, at its place.
        let is_lint = build.cx.options.lint;
        let size = if is_lint { 1 } else { unused.len().max(1) };
        let left = if is_lint && !unused.is_empty() { references(map) } else { BTreeSet::new() };
        for (nth, vars) in unused.chunks(size).enumerate() {
            let names: Vec<&str> = vars.iter().map(|var| var.name).collect();
            let message = format!("well-defined vars that were never replaced: {}", names.join(","));
            let warning = Warning::new(Code::Unused, message).at(vars[0].pos);
            let near = if nth < similar::MOST_ADVISED { nearest(names[0], left.iter().copied()) } else { None };
            build.warnings.push(match (is_lint, near) {
                (false, _) => warning,
                (true, Some(near)) if near == names[0] => warning.hint(format!(
                    "no field in which vars are replaced has $({near}): 'varReference' in a file of 'configurations' adds fields"
                )),
                (true, Some(near)) => warning.hint(format!("did you mean it by $({near})?")),
                (true, None) => warning.hint("remove it, or use it in a text of a resource"),
            });
        }
        let names: Vec<&str> = self.vars.iter().map(|var| var.name).collect();
        build.find(|| left_variables::find(map, &names));
        Ok(())
    }
}

impl<'a> RefVarTransformer<'a> {
    /// The values of all vars, read before any is used.
    fn values(&self, map: &ResMap<'a>, arena: Arena<'a>) -> Result<Values<'a>> {
        let mut holders: FastMap<&str, &Resource<'a>> = FastMap::default();
        for resource in map.iter() {
            for name in resource.vars() {
                holders.entry(name).or_insert(resource);
            }
        }
        let value = |var: &Var<'a>| {
            let fault = |message: String| Error::new(Code::BadValue, message).at(var.pos);
            let Some(holder) = holders.get(var.name) else {
                let object = &var.object;
                let wanted = ResId::new(object.gvk, object.name, object.namespace);
                let message = format!(
                    "var '{}' cannot be mapped to a field in the set of known resources: there is no {wanted}",
                    var.name
                );
                return Err(fault(message).with_code(Code::NoMatch).hint(similar::advice(map.iter(), &wanted)));
            };
            let path = if var.field.path.is_empty() { "metadata.name" } else { var.field.path };
            match lookup(holder.node(), &var_parts(arena, path)?)?.cloned().map(typed) {
                Some(node) if is_unreadable_number(&node) => {
                    let message =
                        format!("the value of var '{}' is a number in a spelling that vars cannot have", var.name);
                    Err(fault(message).hint("write it in decimal digits, or put quotes around it"))
                }
                Some(node) => Ok((var.name, Named { value: node, used: Cell::new(false) })),
                None => Err(fault(format!(
                    "field specified in var '{}' not found in corresponding resource: {} has no '{path}'",
                    var.name,
                    holder.id()
                ))
                .hint(crate::config::field_path::advice(holder.node(), &var_parts(arena, path)?))),
            }
        };
        self.vars.iter().map(value).collect()
    }
}

/// Returns true if upstream cannot read a number: for vars, integers are 64-bit and decimal, and
/// numbers never have underscores.
fn is_unreadable_number(value: &Node<'_>) -> bool {
    let Some(scalar) = value.as_scalar() else { return false };
    match scalar.kind() {
        Kind::Int => scalar.text().parse::<i64>().is_err(),
        Kind::Float => scalar.text().contains('_') || scalar::float(scalar.text()).is_none_or(|f| !f.is_finite()),
        _ => false,
    }
}

/// The value with the type that vars have of it. A value that a build step has set is a text,
/// whatever it looks like. A value with the tag of a number or a boolean is one, also under the
/// quotes of a patch.
fn typed(mut value: Node<'_>) -> Node<'_> {
    match value.as_scalar().map(Scalar::tag) {
        Some(Tag::Untyped) => value.retag(Tag::Str),
        Some(Tag::Int | Tag::Float | Tag::Bool) => value.restyle(Style::Plain),
        _ => {}
    }
    value
}

/// Replaces `$(NAME)` in texts.
struct Expansion<'v, 'a> {
    arena: Arena<'a>,
    values: &'v Values<'a>,
    /// Warnings for the user.
    warnings: RefCell<Vec<String>>,
}

impl<'a> Expansion<'_, 'a> {
    /// The field of a spec: a string, a mapping of strings, or a list of them. `shared` has the
    /// values that stand in several places, as they are by now.
    fn field(&self, node: &mut Node<'a>, shared: &mut Vec<(Shared, Scalar<'a>)>) -> Result<()> {
        match node.value_mut() {
            ValueMut::Scalar(_) => self.place(node, shared),
            ValueMut::Sequence(items) => items.iter_mut().try_for_each(|item| {
                if !item.as_scalar().is_some_and(is_string) {
                    let message = format!("invalid value type expect a string, found {}", shape(item));
                    let error = Error::new(Code::WrongType, message).at(item.pos());
                    return Err(error.hint("remove the tag, or put quotes around the value"));
                }
                self.place(item, shared)
            }),
            ValueMut::Mapping(m) => m.try_for_each(|key, value| {
                if !is_string(&key.as_scalar()) {
                    let message = format!("invalid map key: '{}' is not a string", key.text());
                    let error = Error::new(Code::WrongType, message).at(key.pos());
                    return Err(error.hint("remove the tag, or put quotes around the value"));
                }
                self.place(value, shared)
            }),
        }
    }

    /// A value in one of its places: a shared value has been replaced before if another of its
    /// places was reached.
    fn place(&self, node: &mut Node<'a>, known: &mut Vec<(Shared, Scalar<'a>)>) -> Result<()> {
        let Some(old) = node.as_scalar().copied() else { return Ok(()) };
        let Some(shared) = node.shared() else {
            node.set_scalar(self.scalar(old)?, Pos::NONE);
            return Ok(());
        };
        let at = known.iter().position(|(other, _)| *other == shared).unwrap_or_else(|| {
            known.push((shared, old));
            known.len() - 1
        });
        known[at].1 = self.scalar(known[at].1)?;
        node.set_scalar(known[at].1, Pos::NONE);
        Ok(())
    }

    /// The new value of a scalar.
    fn scalar(&self, s: Scalar<'a>) -> Result<Scalar<'a>> {
        if !is_string(&s) {
            return Ok(s);
        }
        if let Some(whole) = whole_reference(s.text())
            && let Some(typed) = self.typed(whole)
        {
            return Ok(typed);
        }
        let text = if s.text().contains('$') { self.arena.text(&self.expand(s.text())?) } else { s.text() };
        Ok(Scalar::string(text))
    }

    /// The value of a name, with its type.
    fn typed(&self, name: &str) -> Option<Scalar<'a>> {
        let named = self.values.get(name)?;
        let Some(s) = named.value.as_scalar() else {
            let warning = format!("bad replacement type: the value of var '{name}' is {}", named.value.shape());
            self.warnings.borrow_mut().push(warning);
            return None;
        };
        named.used.set(true);
        Some(match s.kind() {
            // A null is its spelling.
            Kind::Null => Scalar::string(s.text()),
            Kind::Bool => Scalar::plain(if scalar::truth(s.text()) { "true" } else { "false" }),
            Kind::Int => Scalar::plain(self.arena.text(&s.text().parse::<i64>().ok()?.to_string())),
            Kind::Float => match scalar::float(s.text()) {
                Some(f) if f.is_finite() => Scalar::new(self.arena.text(&format!("{f}")), Style::Plain, Tag::Float),
                _ => *s,
            },
            _ => Scalar::string(s.text()),
        })
    }

    /// `$(NAME)` becomes the value of a known name, `$$` becomes `$`; everything else stays, but
    /// for a letter beyond ASCII behind a `$`: upstream takes its first byte for a letter. The text
    /// is then not UTF-8, and printed in base64.
    ///
    /// # Errors
    /// The text is longer than the rest of the budget of the build.
    fn expand(&self, text: &str) -> Result<String> {
        let mut out = Vec::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            out.extend_from_slice(&rest.as_bytes()[..at]);
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix('$') {
                out.push(b'$');
                rest = after;
                continue;
            }
            match rest.strip_prefix('(').and_then(|r| r.split_once(')')) {
                Some((name, after)) => {
                    let value = self.text_of(name);
                    // The text is copied once more.
                    self.arena.budget().has_room(2 * (out.len() + value.len()))?;
                    out.extend_from_slice(value.as_bytes());
                    rest = after;
                }
                None => {
                    out.push(b'$');
                    if let Some(c) = rest.chars().next().filter(|c| !c.is_ascii()) {
                        let (letter, after) = rest.split_at(c.len_utf8());
                        let (first, others) = letter.as_bytes().split_at(1);
                        out.extend_from_slice(char::from(first[0]).encode_utf8(&mut [0; 2]).as_bytes());
                        out.extend_from_slice(others);
                        rest = after;
                    }
                }
            }
        }
        out.extend_from_slice(rest.as_bytes());
        let printed = String::from_utf8(out);
        Ok(printed.unwrap_or_else(|e| base64::engine::general_purpose::STANDARD.encode(e.into_bytes())))
    }

    /// The text for a reference within a text.
    fn text_of(&self, name: &str) -> String {
        match self.typed(name) {
            Some(value) if value.tag() == Tag::Float => {
                scalar::float(value.text()).map_or_else(|| value.text().to_owned(), scalar::go_number)
            }
            Some(value) => value.text().to_owned(),
            None => format!("$({name})"),
        }
    }
}

/// Returns true if upstream takes a scalar for a string: by its tag alone. A scalar that a build
/// step has set lacks a tag, and is a string.
fn is_string(s: &Scalar<'_>) -> bool {
    match s.tag() {
        Tag::Str | Tag::Untyped => true,
        Tag::Auto => s.kind() == Kind::Str,
        _ => false,
    }
}

/// The word for a value that is not a string.
fn shape(node: &Node<'_>) -> &'static str {
    match node.as_scalar() {
        Some(s) if s.kind() == Kind::Str => "a text with a tag of its own",
        _ => node.shape(),
    }
}

/// The name, if the text is one reference and nothing else.
fn whole_reference(text: &str) -> Option<&str> {
    let name = text.strip_prefix("$(")?.strip_suffix(')')?;
    (!name.contains(')')).then_some(name)
}
