//! Generated ConfigMaps and Secrets that nothing in the output refers to.

use super::parts::makes_pods;
use crate::diag::{Code, Warning};
use crate::resource::{ResMap, Resource};
use crate::stage::{UsedEntries, Uses};
use rustomize_base::meter::{FastMap, FastSet};
use rustomize_yaml::places::Places;
use rustomize_yaml::{Arena, Node, Pos, Value};

/// The length of a hash behind a name, with its `-`.
const HASH: usize = 11;

/// The findings about generated objects whose names are in no text of another resource: neither
/// the name with the hash nor one that the object had before. Objects are left out that have
/// labels or annotations of their own, that the build copies values from, and all objects if the
/// output makes no pods. `used` gets the entries of the others.
///
/// O(scalars of the output), and O(bytes of the output) if an object is not referred to by the
/// name that it has now; on all cores if there are many resources.
pub(super) fn findings<'a>(arena: Arena<'a>, map: &ResMap<'a>, uses: &Uses, used: &UsedEntries) -> Vec<Warning> {
    if uses.generated.is_empty() || !map.iter().any(makes_pods) {
        return Vec::new();
    }
    let is_asked = |resource: &&Resource<'a>| {
        let pos = resource.pos();
        uses.generated.contains(&pos) && !uses.read.contains(&pos) && resource.vars().is_empty()
    };
    let asked: Vec<&Resource<'a>> = map.iter().filter(is_asked).collect();
    let names: FastSet<&str> = asked.iter().map(|resource| resource.id().name).collect();
    let found = exact(arena, map, &names);
    let (used_by_name, open): (Vec<_>, Vec<_>) =
        asked.into_iter().partition(|resource| found.contains(resource.id().name));
    // An entry of a base that two layers have may be used in one of them.
    let mut are_used: FastSet<Pos> = used_by_name.iter().map(|resource| resource.pos()).collect();
    if !open.is_empty() {
        are_used.extend(mentioned(arena, map, &open));
    }
    let places = Places::new(arena.heap());
    are_used.iter().filter_map(|pos| places.place(*pos)).for_each(|place| used.note(&place));
    open.into_iter().filter(|resource| !are_used.contains(&resource.pos())).map(finding).collect()
}

fn finding(resource: &Resource<'_>) -> Warning {
    let id = resource.original_id();
    let message = format!("nothing in the output refers to the {} '{}'", id.gvk.kind, id.name);
    let hint = format!(
        "remove the entry, or refer to '{}'; a program that looks for the name itself needs 'disableNameSuffixHash: true'",
        id.name
    );
    Warning::new(Code::UnusedObject, message).at(resource.pos()).in_resource(resource.id()).hint(hint)
}

/// The names with hashes that are whole texts of resources.
fn exact<'a>(arena: Arena<'a>, map: &ResMap<'a>, names: &FastSet<&'a str>) -> FastSet<&'a str> {
    let look = |run: &[Resource<'a>]| {
        let mut found = FastSet::default();
        for resource in run {
            each_text(resource, &mut |text| {
                let at = text.len().checked_sub(HASH);
                if at.is_some_and(|at| text.as_bytes()[at] == b'-') && names.contains(text) {
                    found.insert(text);
                }
            });
        }
        found
    };
    map.look_at_runs(arena, look).into_iter().flatten().collect()
}

/// The places of objects whose names, or former names, are in texts of other resources.
fn mentioned<'a>(arena: Arena<'a>, map: &ResMap<'a>, objects: &[&Resource<'a>]) -> FastSet<Pos> {
    let mut by_name: FastMap<&'a str, Vec<Pos>> = FastMap::default();
    for object in objects {
        for id in object.any_ids() {
            by_name.entry(id.name).or_default().push(object.pos());
        }
    }
    let by_name = &by_name;
    let look = |run: &[Resource<'a>]| {
        let mut found = FastSet::default();
        for resource in run {
            each_text(resource, &mut |text| {
                for word in words(text) {
                    let parts = [Some(word), word.split_once('.').map(|(first, _)| first)];
                    let named = parts.into_iter().flatten().filter_map(|part| by_name.get(part));
                    found.extend(named.flatten().copied());
                }
            });
        }
        found
    };
    map.look_at_runs(arena, look).into_iter().flatten().collect()
}

/// The parts of a text that may be names of objects.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_of_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    let words = text.split(move |c: char| !is_of_name(c));
    words.map(|word| word.trim_matches(['-', '.'])).filter(|word| !word.is_empty())
}

/// Looks at each text of a resource, keys included, but for its own name.
fn each_text<'a>(resource: &Resource<'a>, look: &mut impl FnMut(&'a str)) {
    for entry in resource.node().as_mapping().into_iter().flat_map(|fields| fields.iter()) {
        let is_metadata = entry.key().text() == "metadata";
        match entry.value().as_mapping().filter(|_| is_metadata) {
            Some(metadata) => {
                let others = metadata.iter().filter(|entry| entry.key().text() != "name");
                others.for_each(|entry| texts(entry.value(), look));
            }
            None => texts(entry.value(), look),
        }
    }
}

fn texts<'a>(node: &Node<'a>, look: &mut impl FnMut(&'a str)) {
    match node.value() {
        Value::Scalar(scalar) => look(scalar.text()),
        Value::Sequence(items) => items.iter().for_each(|item| texts(item, look)),
        Value::Mapping(fields) => fields.iter().for_each(|entry| {
            look(entry.key().text());
            texts(entry.value(), look);
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_of_texts() {
        let of = |text| words(text).collect::<Vec<_>>();
        assert_eq!(of("/etc/web-conf/x.yaml: a"), ["etc", "web-conf", "x.yaml", "a"]);
        assert_eq!(of("web-conf."), ["web-conf"]);
        assert_eq!(of("WEB"), Vec::<&str>::new());
    }
}
