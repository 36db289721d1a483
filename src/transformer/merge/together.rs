//! Many patches into one resource, in one walk.
//!
//! Each merge walks the whole resource, so that a hundred patches cost a hundred walks. Here the patches go down the tree
//! together: a field, or an item of a list that is merged by key, is merged with all patches that have it, one after the
//! other, and is otherwise [`untouched`] by them, which is the same once or often. What comes out is what [`super::apply`]
//! makes of the resource patch by patch. Where patches do more than merge mappings and plain lists, a value is merged with
//! one patch at a time, from there down.
//!
//! Cost: O(size of the resource and of all patches), times log for the order of keys.

use super::{DIRECTIVE, brought, check_key, is_unwritten, list, merge, quote, schema_of, set, untouched};
use crate::diag::Result;
use crate::schema::{Schema, Schemas};
use crate::yaml::{Entry, Key, Mapping, Node, Value, natural, steps};
use hashbrown::{HashMap, HashSet};
use std::cmp::Ordering;
use std::ops::Range;

type State = foldhash::fast::RandomState;

/// A value of a patch, with the number of the patch.
type Touch<'a> = (usize, Node<'a>);

/// Merges patches into a resource, in order; `false` if that has to be done one after the other, and nothing was done.
///
/// # Errors
/// A patch cannot be merged; the resource is then spoilt, and the error need not be that of the first such patch.
pub fn apply<'a>(base: &mut Node<'a>, patches: Vec<Node<'a>>, schemas: &Schemas<'_>) -> Result<bool> {
    let Some(root) = base.as_mapping_mut() else { return Ok(false) };
    let schema = schema_of(schemas.unknown(), root, None);
    let fits = |patch: &Node<'a>| {
        patch.as_mapping().is_some_and(|m| is_plain(m) && (!schema.is_unknown() || says_nothing(schema, m)))
    };
    if !is_plain(root) || !patches.iter().all(fits) {
        return Ok(false);
    }
    let all = 0..patches.len();
    mappings(root, patches.into_iter().enumerate().collect(), all, schemas.unknown())?;
    Ok(true)
}

/// Whether a mapping of a patch leaves the schema unknown.
fn says_nothing(schema: Schema<'_>, patch: &Mapping<'_>) -> bool {
    schema_of(schema, &Mapping::new(), Some(patch)).is_unknown()
}

/// Whether a mapping has no directive and no key twice.
fn is_plain(m: &Mapping<'_>) -> bool {
    let mut last = None;
    m.iter().all(|entry| entry.key.text != DIRECTIVE && last.replace(entry.key.text) != Some(entry.key.text))
}

/// Whether a mapping may say of itself what kind it is.
fn names_a_kind(m: &Mapping<'_>) -> bool {
    m.contains("apiVersion") || m.contains("kind")
}

/// A field of a mapping on its way through the patches.
struct Field<'a> {
    key: Key<'a>,
    value: Option<Node<'a>>,
    touches: Vec<(usize, Entry<'a>)>,
}

/// Merges the mappings of some of the patches into a mapping.
fn mappings<'a>(
    base: &mut Mapping<'a>,
    touches: Vec<Touch<'a>>,
    patches: Range<usize>,
    schema: Schema<'_>,
) -> Result<()> {
    let schema = schema_of(schema, base, None);
    let in_braces = base.is_in_braces();
    let mut out = Vec::with_capacity(base.len());
    for mut field in fields(std::mem::take(base), touches) {
        let name = field.key.text;
        check_key(name)?;
        merge_field(&mut field, patches.clone(), schema.field(name)).map_err(|e| e.context(format!("at '{name}'")))?;
        if let Some(value) = field.value {
            out.push(Entry { key: field.key, value });
        }
    }
    *base = Mapping::from_entries(out).with_braces(in_braces);
    Ok(())
}

/// The fields of a mapping and of all patches, in the order of their keys.
fn fields<'a>(base: Mapping<'a>, touches: Vec<Touch<'a>>) -> Vec<Field<'a>> {
    let entries = |(patch, node): Touch<'a>| {
        let entries = match node.value {
            Value::Mapping(m) => m.into_entries(),
            _ => Vec::new(),
        };
        entries.into_iter().map(move |entry| (patch, entry))
    };
    let mut touching: Vec<(usize, Entry<'a>)> = touches.into_iter().flat_map(entries).collect();
    steps::add(base.len() + touching.len());
    touching.sort_by(|(_, a), (_, b)| natural::compare(a.key.text, b.key.text));
    let mut touching = touching.into_iter().peekable();
    let mut out: Vec<Field<'a>> = Vec::with_capacity(base.len());
    let add = |patch: usize, entry: Entry<'a>, out: &mut Vec<Field<'a>>| match out.last_mut() {
        Some(field) if field.key.text == entry.key.text => field.touches.push((patch, entry)),
        _ => out.push(Field { key: entry.key, value: None, touches: vec![(patch, entry)] }),
    };
    for entry in base.into_entries() {
        let is_before =
            |(_, touch): &(usize, Entry<'a>)| natural::compare(touch.key.text, entry.key.text) == Ordering::Less;
        while let Some((patch, touch)) = touching.next_if(is_before) {
            add(patch, touch, &mut out);
        }
        out.push(Field { key: entry.key, value: Some(entry.value), touches: Vec::new() });
    }
    touching.for_each(|(patch, touch)| add(patch, touch, &mut out));
    out
}

/// Merges all that patches say of a field into it, and lets the others pass.
fn merge_field<'a>(field: &mut Field<'a>, patches: Range<usize>, schema: Schema<'_>) -> Result<()> {
    let mut next = patches.start;
    let mut touches = std::mem::take(&mut field.touches).into_iter().peekable();
    while let Some((patch, Entry { key, value })) = touches.next() {
        pass(&mut field.value, patch - next, schema)?;
        next = patch + 1;
        let mut run = vec![(patch, value)];
        match &field.value {
            Some(state) if !takes_several(state, schema) || !goes_along(state, &run[0].1, schema) => {}
            Some(state) => {
                while let Some((patch, entry)) = touches.next_if(|(_, entry)| goes_along(state, &entry.value, schema)) {
                    next = patch + 1;
                    run.push((patch, entry.value));
                }
            }
            None => field.key = key,
        }
        if run.len() > 1 {
            merge_run(&mut field.value, run, patch..next, schema)?;
        } else {
            run.into_iter().try_for_each(|(_, value)| merge_one(&mut field.value, value, schema))?;
        }
    }
    pass(&mut field.value, patches.end - next, schema)
}

/// Whether values of patches can be merged into a value together: mappings into a mapping, lists into a list.
fn takes_several(state: &Node<'_>, schema: Schema<'_>) -> bool {
    match &state.value {
        Value::Mapping(base) => is_plain(base),
        Value::Sequence(_) => schema.merge_keys().is_some_and(|keys| !keys.is_empty()),
        Value::Scalar(_) => false,
    }
}

/// Whether a value of a patch can be merged into a value together with others.
fn goes_along(state: &Node<'_>, patch: &Node<'_>, schema: Schema<'_>) -> bool {
    match (&state.value, &patch.value) {
        (Value::Mapping(_), Value::Mapping(p)) => is_plain(p) && !(schema.is_unknown() && names_a_kind(p)),
        (Value::Sequence(_), Value::Sequence(items)) => {
            let is_directive = |m: &Mapping<'_>| m.len() == 1 && m.contains(DIRECTIVE);
            !items.iter().filter_map(Node::as_mapping).any(is_directive)
        }
        _ => false,
    }
}

/// Merges one value of a patch.
fn merge_one<'a>(state: &mut Option<Node<'a>>, mut patch: Node<'a>, schema: Schema<'_>) -> Result<()> {
    let Some(value) = state else {
        *state = brought(&mut patch, schema)?;
        return Ok(());
    };
    let merged = merge(value, &mut patch, schema)?;
    if !set(value, merged, Some(&patch)) {
        *state = None;
    }
    Ok(())
}

/// Lets patches pass that do not mention a value.
fn pass(state: &mut Option<Node<'_>>, times: usize, schema: Schema<'_>) -> Result<()> {
    for time in 0..times {
        let Some(value) = state else { break };
        if time > 0 && is_settled(value, schema) {
            break;
        }
        let merged = untouched(value, schema)?;
        if !set(value, merged, None) {
            *state = None;
        }
    }
    Ok(())
}

/// Whether a value that a patch has passed stays as it is when others pass. In a list that is merged by key, items with
/// other keys than their neighbours, or the same, may become more with every patch.
fn is_settled(node: &Node<'_>, schema: Schema<'_>) -> bool {
    match &node.value {
        Value::Scalar(scalar) => {
            let mut quoted = *scalar;
            quote(&mut quoted);
            quoted.style == scalar.style && !is_unwritten(scalar)
        }
        Value::Mapping(m) => {
            let schema = schema_of(schema, m, None);
            m.iter().all(|entry| is_settled(&entry.value, schema.field(entry.key.text)))
        }
        Value::Sequence(items) => schema.merge_keys().is_none_or(|keys| {
            is_plain_list(items, &used_keys(items.first(), keys), keys)
                && items.iter().all(|item| is_settled(item, schema.items()))
        }),
    }
}

/// Merges values that [go along](goes_along) with each other.
fn merge_run<'a>(
    state: &mut Option<Node<'a>>,
    run: Vec<Touch<'a>>,
    patches: Range<usize>,
    schema: Schema<'_>,
) -> Result<()> {
    match state.as_mut().map(|node| &mut node.value) {
        Some(Value::Mapping(base)) => mappings(base, run, patches, schema),
        Some(Value::Sequence(base)) => match schema.merge_keys().and_then(|keys| Items::new(base, &run, keys)) {
            Some(mut items) => {
                items.touch(run);
                *base = items.merge(patches, schema)?;
                Ok(())
            }
            None => in_turn(state, run, patches, schema),
        },
        _ => in_turn(state, run, patches, schema),
    }
}

/// Merges values one after the other.
fn in_turn<'a>(
    state: &mut Option<Node<'a>>,
    run: Vec<Touch<'a>>,
    patches: Range<usize>,
    schema: Schema<'_>,
) -> Result<()> {
    let mut next = patches.start;
    for (patch, value) in run {
        pass(state, patch - next, schema)?;
        merge_one(state, value, schema)?;
        next = patch + 1;
    }
    Ok(())
}

/// A list that is merged by key, all of whose items have the same keys, no two the same texts there. Each item of a patch is
/// then about one item, and what becomes of it depends on no other.
struct Items<'k, 'a> {
    /// The keys that items have.
    keys: Vec<&'k str>,
    /// All keys of the schema.
    all_keys: &'k [&'k str],
    items: Vec<Item<'a>>,
    places: HashMap<Vec<&'a str>, usize, State>,
}

/// An item on its way through the patches.
struct Item<'a> {
    value: Option<Node<'a>>,
    /// Each with its place in the list of the patch.
    touches: Vec<(usize, Touch<'a>)>,
    /// The patch that the item came with, and its place there; `None` for an item that was there from the start.
    born: Option<(usize, usize)>,
}

impl<'k, 'a> Items<'k, 'a> {
    /// The items of a list, if it and those of the patches are plain.
    fn new(base: &mut Vec<Node<'a>>, run: &[Touch<'a>], all_keys: &'k [&'k str]) -> Option<Self> {
        let lists = || run.iter().filter_map(|(_, node)| node.as_sequence());
        let first = base.iter().chain(lists().flatten()).next()?;
        let keys = used_keys(Some(first), all_keys);
        let fits = |list: &[Node<'a>]| is_plain_list(list, &keys, all_keys);
        if !fits(base) || !lists().all(fits) {
            return None;
        }
        let mut items = Items { keys, all_keys, items: Vec::new(), places: HashMap::default() };
        for node in std::mem::take(base) {
            let at = items.place(&node);
            items.items[at].value = Some(node);
        }
        Some(items)
    }

    /// The place of the item with the keys of a node, made if there is none.
    fn place(&mut self, node: &Node<'a>) -> usize {
        steps::add(1);
        let texts = texts(node, &self.keys, self.all_keys).unwrap_or_default();
        let next = self.items.len();
        let at = *self.places.entry(texts).or_insert(next);
        if at == next {
            self.items.push(Item { value: None, touches: Vec::new(), born: None });
        }
        at
    }

    /// Hands the items of the patches to those that they are about.
    fn touch(&mut self, run: Vec<Touch<'a>>) {
        for (patch, node) in run {
            let Value::Sequence(list) = node.value else { continue };
            for (i, item) in list.into_iter().enumerate() {
                let at = self.place(&item);
                self.items[at].touches.push((i, (patch, item)));
            }
        }
    }

    /// The list that comes of it. Items that a patch names come first, in its order; with several keys only those that it
    /// brings.
    fn merge(mut self, patches: Range<usize>, schema: Schema<'_>) -> Result<Vec<Node<'a>>> {
        let last = |item: &Item<'a>| item.touches.last().map(|(place, (patch, _))| (*patch, *place));
        let named: Vec<Option<(usize, usize)>> = self.items.iter().map(last).collect();
        for item in &mut self.items {
            item.merge(self.all_keys, patches.clone(), schema)?;
        }
        let is_one_key = self.keys.len() == 1;
        let front =
            |(item, named): (Item<'a>, Option<(usize, usize)>)| (if is_one_key { named } else { item.born }, item);
        let mut items: Vec<_> = self.items.into_iter().zip(named).map(front).collect();
        items.sort_by_key(|(front, _)| front.map_or((1, 0, 0), |(patch, place)| (0, usize::MAX - patch, place)));
        Ok(items.into_iter().filter_map(|(_, item)| item.value).collect())
    }
}

/// The keys that an item has.
fn used_keys<'k>(item: Option<&Node<'_>>, all_keys: &[&'k str]) -> Vec<&'k str> {
    all_keys.iter().filter(|key| item.is_some_and(|item| item.get(key).is_some())).copied().collect()
}

/// Whether all items have these keys, and no two the same texts there. A set of scalars is no such list.
fn is_plain_list(list: &[Node<'_>], keys: &[&str], all_keys: &[&str]) -> bool {
    let mut seen = HashSet::with_capacity_and_hasher(list.len(), State::default());
    list.is_empty()
        || !keys.is_empty() && list.iter().all(|item| texts(item, keys, all_keys).is_some_and(|t| seen.insert(t)))
}

/// The texts of an item at its keys; `None` if it has others of the keys, or one that is not a text.
fn texts<'a>(item: &Node<'a>, keys: &[&str], all_keys: &[&str]) -> Option<Vec<&'a str>> {
    let m = item.as_mapping()?;
    if all_keys.iter().filter(|key| m.contains(key)).count() != keys.len() {
        return None;
    }
    let text = |key: &&str| m.get(key)?.as_scalar().filter(|s| !s.is_null() && !s.text.is_empty()).map(|s| s.text);
    keys.iter().map(text).collect()
}

impl<'a> Item<'a> {
    fn merge(&mut self, keys: &[&str], patches: Range<usize>, schema: Schema<'_>) -> Result<()> {
        let mut next = patches.start;
        let mut touches = std::mem::take(&mut self.touches).into_iter().peekable();
        while let Some((place, (patch, value))) = touches.next() {
            self.pass(patch - next, keys, schema)?;
            next = patch + 1;
            let mut run = vec![(patch, value)];
            let items = schema.items();
            if let Some(state) = &self.value
                && takes_several(state, items)
                && goes_along(state, &run[0].1, items)
            {
                while let Some((_, touch)) = touches.next_if(|(_, (_, value))| goes_along(state, value, items)) {
                    next = touch.0 + 1;
                    run.push(touch);
                }
            }
            match (&mut self.value, run.len()) {
                (Some(Node { value: Value::Mapping(base), .. }), 2..) => {
                    mappings(base, run, patch..next, schema.items())?
                }
                _ => {
                    let was_there = self.value.is_some();
                    run.into_iter().try_for_each(|(_, value)| self.list(value, keys, schema))?;
                    if !was_there {
                        self.born = Some((patch, place));
                    }
                }
            }
        }
        self.pass(patches.end - next, keys, schema)
    }

    /// Merges the item as a list of its own with an item of a patch.
    fn list(&mut self, patch: Node<'a>, keys: &[&str], schema: Schema<'_>) -> Result<()> {
        let mut base: Vec<Node<'a>> = self.value.take().into_iter().collect();
        let merged = list::merge(&mut base, &mut vec![patch], keys, schema.items())?;
        self.value = merged.unwrap_or_default().into_iter().next();
        Ok(())
    }

    /// Lets patches pass that do not mention the item.
    fn pass(&mut self, times: usize, keys: &[&str], schema: Schema<'_>) -> Result<()> {
        for time in 0..times {
            let Some(value) = self.value.take_if(|value| time == 0 || !is_settled(value, schema.items())) else {
                break;
            };
            self.value = list::untouched(&mut vec![value], keys, schema.items())?.into_iter().next();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{Arena, emit, first_document};
    use fastrand::Rng;

    const WORDS: [&str; 7] = ["a", "b", "yes", "'1'", "", "null", "12"];

    fn scalar(rng: &mut Rng) -> String {
        WORDS[rng.usize(..WORDS.len())].to_owned()
    }

    /// A scalar that can be an item of a list in brackets.
    fn text(rng: &mut Rng) -> String {
        let text = scalar(rng);
        if text.is_empty() { "~".to_owned() } else { text }
    }

    fn list(rng: &mut Rng, item: &mut dyn FnMut(&mut Rng) -> String) -> String {
        let items: Vec<String> = (0..rng.usize(..4)).map(|_| item(rng)).collect();
        format!("[{}]", items.join(", "))
    }

    /// An item with some of these keys; odd ones lack a key, or have another directive.
    fn item(rng: &mut Rng, keys: &[&str], odd: u32, more: &str) -> String {
        let mut fields: Vec<String> = Vec::new();
        for key in keys {
            if rng.u32(..100) >= odd {
                fields.push(format!("{key}: k{}", rng.usize(..4)));
            }
        }
        if rng.bool() {
            fields.push(format!("value: {}", scalar(rng)));
        }
        fields.extend((!more.is_empty()).then(|| more.to_owned()));
        if rng.u32(..100) < odd {
            fields.push(format!("$patch: {}", ["delete", "replace", "merge"][rng.usize(..3)]));
        }
        format!("{{{}}}", fields.join(", "))
    }

    fn mapping(rng: &mut Rng, odd: u32, depth: u32) -> String {
        let mut fields = Vec::new();
        for key in ["a", "b", "kind", "$patch"] {
            let value = match key {
                "$patch" if rng.u32(..100) >= odd => continue,
                "$patch" => ["delete", "replace", "merge"][rng.usize(..3)].to_owned(),
                "kind" if rng.u32(..100) >= odd => continue,
                _ if rng.bool() => continue,
                _ if depth > 0 && rng.bool() => mapping(rng, odd, depth - 1),
                _ if rng.u32(..100) < odd => list(rng, &mut text),
                _ => scalar(rng),
            };
            fields.push(format!("{key}: {value}"));
        }
        format!("{{{}}}", fields.join(", "))
    }

    fn container(rng: &mut Rng, odd: u32) -> String {
        let env = list(rng, &mut |rng| item(rng, &["name"], odd, ""));
        let ports = list(rng, &mut |rng| item(rng, &["containerPort", "protocol"], odd, ""));
        let args = list(rng, &mut text);
        let more = [format!("env: {env}"), format!("ports: {ports}"), format!("args: {args}"), String::new()];
        let more = &more[rng.usize(..4)];
        item(rng, &["name"], odd / 2, more)
    }

    fn deployment(rng: &mut Rng, odd: u32) -> String {
        let containers = list(rng, &mut |rng| container(rng, odd));
        let (selector, finalizers) = (mapping(rng, odd, 2), list(rng, &mut text));
        let more = match rng.u32(..5) {
            0 => format!(", finalizers: {finalizers}"),
            1 => format!(", labels: {selector}"),
            _ => String::new(),
        };
        let spec = match rng.u32(..5) {
            0 => format!("{{selector: {selector}}}"),
            1 => "null".to_owned(),
            _ => format!("{{template: {{spec: {{containers: {containers}}}}}}}"),
        };
        format!("{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: x{more}}}, spec: {spec}}}")
    }

    /// One after the other: the fate of the resource, and what is left of it.
    fn in_turn<'a>(mut base: Node<'a>, patches: &[Node<'a>], schemas: &Schemas<'_>) -> Option<Node<'a>> {
        for patch in patches {
            super::super::apply(&mut base, patch.clone(), schemas).ok()?;
        }
        Some(base)
    }

    #[test]
    fn together_is_one_after_the_other() {
        let schemas = Schemas::default();
        let (mut rng, mut done) = (Rng::with_seed(8), 0);
        for round in 0..3_000 {
            let arena = Arena::new();
            let read = |text: String| first_document(&arena, arena.add_source("test", text)).unwrap().unwrap();
            let odd = [0, 3, 25][round % 3];
            let texts: Vec<String> = (0..rng.usize(3..7)).map(|_| deployment(&mut rng, odd)).collect();
            let mut nodes: Vec<Node<'_>> = texts.iter().cloned().map(read).collect();
            let mut base = nodes.remove(0);
            let wanted = in_turn(base.clone(), &nodes, &schemas);
            let got = match apply(&mut base, nodes.clone(), &schemas) {
                Ok(false) => continue,
                Ok(true) => Some(base),
                Err(_) => None,
            };
            done += 1;
            let shown = |node: &Option<Node<'_>>| {
                let mut out = String::new();
                let printed = node.as_ref().map(|node| emit::document(&mut out, node));
                format!("{out}\n{}\n{node:?}", printed.is_some())
            };
            assert_eq!(shown(&got), shown(&wanted), "{texts:#?}");
        }
        assert!(done > 2_000, "{done} were merged together");
    }
}
