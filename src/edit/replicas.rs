//! `set replicas`.

use super::{Place, draft, usage_as};
use crate::diag::Result;
use rustomize_base::shell::quoted;
use rustomize_yaml::{Key, Mapping, Node, Pos, Scalar};
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
        for (name, count) in &counts {
            let count = Scalar::plain(arena.text(&count.to_string()));
            let mut is_first = true;
            list.retain(|item| draft::text(item, "name") != name || std::mem::take(&mut is_first));
            let found = list.iter_mut().find(|item| draft::text(item, "name") == name);
            match found.and_then(Node::as_mapping_mut) {
                Some(entry) => {
                    let is_count = |key: &&str| key.eq_ignore_ascii_case("count");
                    let key = entry.iter().map(|entry| entry.key().text()).find(is_count).unwrap_or("count");
                    entry.get_or_insert_with(key, Node::null).set_scalar(count, Pos::NONE);
                }
                None => {
                    let at = list.iter().position(|item| draft::text(item, "name") > name.as_str());
                    let at = at.unwrap_or(list.len());
                    let mut entry = Mapping::new();
                    entry.insert(Key::string("name"), Node::string(arena.text(name)));
                    entry.insert(Key::string("count"), count.into());
                    list.insert(at, entry.into());
                }
            }
        }
        Ok(())
    })
}
