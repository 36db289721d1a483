//! `set replicas`.

use super::{Place, lists, usage_as};
use crate::diag::Result;
use rustomize_base::shell::quoted;
use rustomize_yaml::{Arena, Key, Node, Pos, Scalar};
use std::collections::BTreeMap;

/// `set replicas`: replaces the entry of that name, or inserts a new one before the first entry
/// with a greater name, so that a sorted list stays sorted.
///
/// # Errors
/// No argument is given, or an argument is not `name=count`.
pub fn set(place: &mut Place, arguments: &[String]) -> Result<()> {
    if arguments.is_empty() {
        return Err(usage_as("no replicas specified", "set replicas web=3"));
    }
    let count = |argument: &String| {
        let name = argument.split(['=', ':']).next().filter(|name| !name.is_empty()).unwrap_or("web");
        let example = format!("set replicas {}=3", quoted(name));
        let message = "invalid format of replica, use the following format: <name>=<count>";
        let invalid = || usage_as(message, &example);
        let (name, count) = argument.split_once('=').ok_or_else(invalid)?;
        Ok((name.to_owned(), count.parse::<i64>().map_err(|_| invalid())?))
    };
    let counts = arguments.iter().map(count).collect::<Result<BTreeMap<_, _>>>()?;
    place.change(|draft| {
        let arena = draft.arena;
        let list = draft.list("replicas")?;
        lists::put_named(arena, list, &counts, |entry, count| set_count(arena, entry, &count.to_string()));
        Ok(())
    })
}

/// Sets the number of replicas of an entry.
pub(super) fn set_count<'a>(arena: Arena<'a>, entry: &mut Node<'a>, count: &str) {
    let Some(entry) = entry.as_mapping_mut() else { return };
    let is_count = |key: &&str| key.eq_ignore_ascii_case("count");
    let key = entry.iter().map(|entry| entry.key().text()).find(is_count);
    let count = Scalar::plain(arena.text(count));
    match key.and_then(|key| entry.get_mut(key)) {
        Some(node) => node.set_scalar(count, Pos::NONE),
        None => drop(entry.insert(Key::string("count"), count.into())),
    }
}
