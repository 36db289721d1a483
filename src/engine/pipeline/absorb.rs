//! Generated resources join the others: they are added, merged into an older object or put in its
//! place.

use super::origin;
use crate::diag::{Code, Error, Result, Warning};
use crate::generator::base64_node;
use crate::resource::similar;
use crate::resource::{Behavior, Found, NEEDS_HASH_SUFFIX, ResId, ResMap, Resource};
use crate::stage::Build;
use rustomize_yaml::{self as yaml, Arena, Mapping, Node, Scalar, json};

/// Adds a generated resource, or merges it into the one that has or has had its id. Returns its
/// place.
pub(super) fn absorb<'a>(build: &mut Build<'a>, map: &mut ResMap<'a>, new: Resource<'a>) -> Result<usize> {
    let arena = build.arena;
    let behavior = new.behavior.unwrap_or_default();
    let id = *new.id();
    let pos = new.pos();
    match (map.find_any(&id), behavior) {
        (Found::None, Behavior::Merge | Behavior::Replace) => {
            Err(Error::new(Code::NoMatch, format!("{id} does not exist; cannot merge or replace"))
                .at(pos)
                .hint(similar::advice(map.iter(), &id))
                .hint("or remove 'behavior': then it is created"))
        }
        (Found::None, _) => map.append(arena, new).map(|()| map.len() - 1),
        (Found::One(i), Behavior::Merge | Behavior::Replace) => {
            if behavior == Behavior::Merge {
                origin::check_own(build, map.get(i))?;
            }
            let replaced = *map.get(i).id();
            build.find(|| merges_nothing(map.get(i), &new).filter(|_| behavior == Behavior::Merge));
            let merges = behavior == Behavior::Merge;
            if merges && build.arena.compat().merges_string_data() {
                map.edit(i, |old| encode_string_data(arena, old, &new))?;
            }
            map.replace_with(i, |old| merged(old, new, merges));
            check_replaced(map, i, &replaced).map_err(|e| e.at(pos)).map(|()| i)
        }
        (Found::One(_), _) => {
            let message = format!(
                "{id} exists; can not use behavior: '{}', behavior must be merge or replace",
                behavior.as_str()
            );
            Err(Error::new(Code::DuplicateId, message)
                .at(pos)
                .hint("set 'behavior: merge' to change it, or choose another name"))
        }
        (Found::Many(places), _) => {
            let ids: Vec<String> = places.iter().map(|&i| map.get(i).id().to_string()).collect();
            Err(Error::new(
                Code::AmbiguousMatch,
                format!("found multiple objects [{}] that could accept merge of {id}", ids.join(", ")),
            )
            .at(pos)
            .hint("merge in the kustomization below, where only one of them exists, or set 'namespace'"))
        }
    }
}

/// The finding about a generated object that an old one contains as a whole. O(new entries x log
/// old entries).
fn merges_nothing(old: &Resource<'_>, new: &Resource<'_>) -> Option<Warning> {
    let is_in = |old: Option<&Node<'_>>, new: &Node<'_>| match (old, new.value()) {
        (Some(old), yaml::Value::Mapping(new)) => {
            new.iter().all(|entry| old.get(entry.key().text()).is_some_and(|value| value.same(entry.value())))
        }
        (Some(old), _) => old.same(new),
        (None, _) => new.is_null_or_empty(),
    };
    let (old_fields, new_fields) = (old.node().as_mapping()?, new.node().as_mapping()?);
    let has_all = new_fields.iter().all(|entry| match entry.key().text() {
        "metadata" => ["labels", "annotations"].into_iter().all(|map| {
            let of_old = old_fields.get("metadata").and_then(|metadata| metadata.get(map));
            entry.value().get(map).is_none_or(|new| is_in(of_old, new))
        }),
        name => is_in(old_fields.get(name), entry.value()),
    });
    // The new object has the fields of the generator alone, and data.
    let loses = |name: &str| !new_fields.contains(name) && !matches!(name, "data" | "binaryData");
    let loses_any = old_fields.iter().any(|entry| loses(entry.key().text()));
    if !has_all || loses_any || old.needs_hash && !new.needs_hash {
        return None;
    }
    let (kind, name) = (old.id().gvk.kind, old.id().name);
    let message = format!("the {kind} '{name}' has all that is merged into it: the entry changes nothing");
    Some(Warning::new(Code::NoEffect, message).at(new.pos()))
}

/// Checks that a generated object has the id of the object that it has replaced, and that no other
/// object has it: kustomize looks for that id once more.
fn check_replaced<'a>(map: &mut ResMap<'a>, place: usize, replaced: &ResId<'a>) -> Result<()> {
    let id = *map.get(place).id();
    let others = map.find_current(&id).into_iter().filter(|&i| i != place).count();
    match (id == *replaced, others) {
        (true, 0) => Ok(()),
        (false, 0) => Err(Error::input(format!("cannot find {id} to replace"))
            .hint(format!("its kind was changed: it is now {replaced}"))),
        (false, 1) => Err(Error::input(format!("the resource {id} was once another one: it cannot be replaced"))),
        (is_own, others) => Err(Error::input(format!("id {id} matched {} resources", others + usize::from(is_own)))),
    }
}

/// A generated object in the place of an old one: it keeps the old name, namespace and history, and
/// the labels and annotations that it does not set itself; for a merge also the data.
fn merged<'a>(mut old: Resource<'a>, mut new: Resource<'a>, merge_data: bool) -> Resource<'a> {
    let is_text = old.data_is_text();
    let id = *old.id();
    new.set_name(id.name);
    new.set_namespace(id.namespace);
    let (old_metadata, new_needs_hash) = (old.node().get("metadata"), new.needs_hash);
    for map in ["labels", "annotations"] {
        if let Some(old) = old_metadata.and_then(|m| m.get(map))
            && let Some(metadata) = new.metadata_mut()
        {
            let mut entries = crate::resource::texts(old);
            // A manifest may ask for a hash by hand, and a generator that wants none takes that
            // off.
            entries.retain(|(key, _)| new_needs_hash || *key != NEEDS_HASH_SUFFIX);
            add_missing(metadata, map, &entries);
        }
    }
    if merge_data {
        for map in ["data", "binaryData"] {
            let entries =
                old.node_mut().as_mapping_mut().and_then(|root| root.get_mut(map)).and_then(Node::as_mapping_mut);
            if let Some(entries) = entries.map(std::mem::take)
                && let Some(root) = new.node_mut().as_mapping_mut()
            {
                put_over(root, map, entries, is_text);
            }
        }
    }
    if let Some(root) = new.node_mut().as_mapping_mut() {
        root.retain(|key, value| !matches!(key.text(), "data" | "binaryData") || !value.is_null_or_empty());
    }
    new.inherit(&old, merge_data);
    new = new.with_fresh_id();
    if merge_data {
        new.note_text_data();
    }
    new
}

/// Moves the `stringData` of a Secret that a generated one is merged into to its `data`, in base64.
/// A key of `stringData` wins.
fn encode_string_data<'a>(arena: Arena<'a>, old: &mut Resource<'a>, new: &Resource<'a>) -> Result<()> {
    let gvk = new.id().gvk;
    if (gvk.group, gvk.version, gvk.kind) != ("", "v1", "Secret") {
        return Ok(());
    }
    let Some(root) = old.node_mut().as_mapping_mut() else { return Ok(()) };
    let Some(texts) = root.remove("stringData") else { return Ok(()) };
    let Some(texts) = texts.as_mapping() else { return Ok(()) };
    let Some(data) = crate::resource::mapping_in(root, "data") else { return Ok(()) };
    for entry in texts.iter() {
        let Some(text) = entry.value().as_scalar() else {
            let message = format!("the value of '{}' in 'stringData' is not a text", entry.key().text());
            return Err(Error::new(Code::WrongType, message).at(entry.value().pos()));
        };
        data.insert(entry.key().text(), base64_node(arena, text.text().as_bytes()));
    }
    Ok(())
}

/// Puts the entries of the mapping at `map` over older ones. Upstream writes these again: values
/// are strings, keys are not quoted. O(new entries x log old entries), if the old ones are so
/// already.
fn put_over<'a>(parent: &mut Mapping<'a>, map: &'a str, mut old: Mapping<'a>, is_text: bool) {
    if old.is_empty() {
        return;
    }
    let Some(into) = crate::resource::mapping_in(parent, map) else {
        return;
    };
    if !is_text {
        old.keep_last_of_each();
        let text = |value: &Node<'a>| value.as_scalar().filter(|s| !s.is_null()).map_or("", |s| s.text());
        let entry = |e: yaml::Entry<'a>| yaml::Entry::new(e.key().text(), json::fresh_string(text(e.value())).into());
        old = Mapping::from_entries(old.into_entries().into_iter().map(entry).collect());
    }
    old.set_braces(into.is_in_braces());
    let new = std::mem::replace(into, old);
    into.put_all(new.into_entries());
}

/// Adds the entries that a mapping lacks as upstream writes them: values are strings, keys are not
/// quoted.
fn add_missing<'a>(parent: &mut Mapping<'a>, map: &'a str, entries: &[(&'a str, Scalar<'a>)]) {
    if entries.is_empty() {
        return;
    }
    let Some(into) = crate::resource::mapping_in(parent, map) else {
        return;
    };
    let missing: Vec<_> = entries.iter().filter(|(key, _)| !into.contains(key)).collect();
    for (key, value) in missing {
        into.insert(*key, json::fresh_string(value.text()).into());
    }
}
