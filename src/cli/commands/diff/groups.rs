//! Groups of equal differences: a change that many resources have is shown once.

use crate::commands::diff::item::{Item, Part, Sum};
use crate::commands::diff::listing::{Line, Section, name, note};
use crate::commands::diff::origins::{FileLine, patterns};
use rustomize_base::meter::{FastIndexMap, FastMap, FastSet};
use serde_json::{Value as Json, json};

/// The largest number of resources, roots and lines that the data of a group names.
const MOST_KEPT: usize = 1000;

/// The number of names in a sentence.
const MOST_NAMED: usize = 3;

/// The items of a comparison.
pub(crate) struct OfRoot {
    /// The kustomization, if several are compared.
    pub root: Option<String>,
    pub items: Vec<Item>,
}

/// Resources with equal differences.
pub(crate) struct DiffGroup {
    pub section: Section,
    /// The number of resources.
    pub count: usize,
    pub json: Json,
}

/// All differences, in groups.
#[derive(Default)]
pub(crate) struct Grouped {
    /// The groups of several resources: those first that Kubernetes refuses, and those of most
    /// resources.
    pub groups: Vec<DiffGroup>,
    /// The sections of the other differences, by root.
    pub sections: Vec<Vec<Section>>,
    /// The data of all groups, also of those of one resource.
    pub json: Vec<Json>,
}

/// One difference, with all items that have it.
#[derive(Default)]
struct Class {
    /// The numbers of the items.
    members: Vec<u32>,
    /// The indexes of the parts of the first item that have the difference.
    parts: Vec<usize>,
    /// The sum of the first part.
    exact: Sum,
    /// True if the lines of the items differ in their own names.
    is_starred: bool,
    origins: Vec<FileLine>,
    known: FastSet<FileLine>,
}

/// Groups the items of all roots. O(parts).
pub(crate) fn grouped(all: &[OfRoot], is_json: bool) -> Grouped {
    let items: Vec<(usize, &Item)> =
        all.iter().enumerate().flat_map(|(root, of_root)| of_root.items.iter().map(move |item| (root, item))).collect();
    let mut classes: FastIndexMap<Sum, Class> = FastIndexMap::default();
    for (number, (_, item)) in (0..).zip(&items) {
        for (at, part) in item.parts.iter().enumerate() {
            classes.entry(part.starred).or_default().add(number, at, part);
        }
    }
    // Classes of the same items are one group, in the order of the first item.
    let mut by_members: FastIndexMap<&[u32], Vec<&Class>> = FastIndexMap::default();
    for class in classes.values() {
        by_members.entry(&class.members).or_default().push(class);
    }
    let mut grouped = Grouped { sections: all.iter().map(|_| Vec::new()).collect(), ..Grouped::default() };
    let mut alone: FastMap<u32, Section> = FastMap::default();
    for (members, classes) in &mut by_members {
        let found: Vec<(&OfRoot, &Item)> =
            members.iter().map(|number| items[*number as usize]).map(|(root, item)| (&all[root], item)).collect();
        let parts = parts(classes, found.as_slice());
        let group = group(&found, &parts, is_json);
        match members {
            [only] => {
                grouped.json.push(group.json);
                alone.insert(*only, group.section);
            }
            _ => grouped.groups.push(group),
        }
    }
    for (number, (root, _)) in (0..).zip(&items) {
        grouped.sections[*root].extend(alone.remove(&number));
    }
    grouped.groups.sort_by_key(|group| (!group.section.is_unchangeable, std::cmp::Reverse(group.count)));
    let several: Vec<Json> = grouped.groups.iter_mut().map(|group| group.json.take()).collect();
    grouped.json.splice(0..0, several);
    grouped
}

impl Class {
    fn add(&mut self, number: u32, at: usize, part: &Part) {
        if self.members.is_empty() {
            self.exact = part.exact;
        }
        self.is_starred |= self.exact != part.exact;
        if self.members.last() != Some(&number) {
            self.members.push(number);
            // Equal masks of two comparisons may stand for different values.
            self.is_starred |= part.is_masked && self.members.len() > 1;
        }
        if self.members.len() == 1 {
            self.parts.push(at);
        }
        if let Some(origin) = &part.origin
            && self.known.insert(origin.clone())
        {
            self.origins.push(origin.clone());
        }
    }
}

/// A difference of a group: its lines, its data, and the lines of files that cause it.
struct Shared<'c> {
    at: usize,
    lines: Vec<Line>,
    json: Json,
    origins: &'c [FileLine],
    is_unchangeable: bool,
}

/// The differences of items that have them all, in the order of the first item.
fn parts<'c>(classes: &[&'c Class], items: &[(&OfRoot, &Item)]) -> Vec<Shared<'c>> {
    let Some((_, first)) = items.first() else { return Vec::new() };
    let mut shared = Vec::new();
    for class in classes {
        let is_starred = class.is_starred && items.len() > 1;
        for &at in class.parts.iter().take(if is_starred { 1 } else { usize::MAX }) {
            let part = &first.parts[at];
            let (lines, json) = match is_starred {
                true => (first.starred_lines(part), first.starred_json(part)),
                false => (part.lines.clone(), part.json.clone()),
            };
            shared.push(Shared { at, lines, json, origins: &class.origins, is_unchangeable: part.is_unchangeable });
        }
    }
    shared.sort_by_key(|part| part.at);
    shared
}

/// The group of some items.
fn group(items: &[(&OfRoot, &Item)], parts: &[Shared<'_>], is_json: bool) -> DiffGroup {
    let first = items[0].1;
    let mut roots: Vec<&str> = items.iter().filter_map(|(of_root, _)| of_root.root.as_deref()).collect();
    roots.dedup();
    let mut lines = Vec::new();
    let title = match items {
        [_] => first.title.clone(),
        _ => {
            lines.push(note(&names(items, &roots)));
            title(items, &roots)
        }
    };
    let mut origin = String::new();
    for part in parts {
        let patterns = patterns(part.origins.iter());
        if patterns != origin && !patterns.is_empty() {
            lines.push(note(&format!("from {patterns}")));
        }
        origin = patterns;
        lines.extend(part.lines.iter().cloned());
    }
    let json = if is_json { group_json(items, &roots, parts) } else { Json::Null };
    let is_unchangeable = parts.iter().any(|part| part.is_unchangeable);
    let section = Section { word: first.word, title, is_unchangeable, lines };
    DiffGroup { section, count: items.len(), json }
}

/// Some of the names of the roots of a group, or of its resources.
fn names(items: &[(&OfRoot, &Item)], roots: &[&str]) -> String {
    let (named, count): (Vec<String>, usize) = match roots {
        [] | [_] => (items.iter().take(MOST_NAMED).map(|(_, item)| item.title.clone()).collect(), items.len()),
        roots => (roots.iter().take(MOST_NAMED).map(|root| name(root)).collect(), roots.len()),
    };
    let text = named.join(", ");
    let of = match roots {
        [root] => format!(" in {}", name(root)),
        _ => String::new(),
    };
    let in_roots = if roots.len() > 1 { "in " } else { "" };
    match count.saturating_sub(named.len()) {
        0 => format!("{in_roots}{text}{of}"),
        more => format!("{in_roots}{text} and {more} more{of}"),
    }
}

/// The number of resources of each kind, and of their roots.
fn title(items: &[(&OfRoot, &Item)], roots: &[&str]) -> String {
    let mut kinds: FastIndexMap<&str, usize> = FastIndexMap::default();
    for (_, item) in items {
        *kinds.entry(&item.kind).or_default() += 1;
    }
    let named = kinds.iter().take(MOST_NAMED).map(|(kind, count)| format!("{count} {}", plural(kind, *count)));
    let mut text = named.collect::<Vec<_>>().join(", ");
    let others: usize = kinds.values().skip(MOST_NAMED).sum();
    if others > 0 {
        text = format!("{text} and {others} of other kinds");
    }
    if roots.len() > 1 {
        text = format!("{text} in {} roots", roots.len());
    }
    match items[0].1.identity.as_str() {
        "" => text,
        identity => format!("{text}: {identity}"),
    }
}

/// A kind, for a number of resources.
fn plural(kind: &str, count: usize) -> String {
    let stem = kind.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']));
    match stem {
        _ if count == 1 || kind == "Endpoints" => kind.to_owned(),
        Some(stem) => format!("{stem}ies"),
        None if kind.ends_with(['s', 'x']) || kind.ends_with("ch") => format!("{kind}es"),
        None => format!("{kind}s"),
    }
}

/// A group for programs.
fn group_json(items: &[(&OfRoot, &Item)], roots: &[&str], parts: &[Shared<'_>]) -> Json {
    let origins = |lines: &[FileLine]| -> Json {
        lines.iter().take(MOST_KEPT).map(|origin| json!({"file": &*origin.file, "line": origin.line})).collect()
    };
    let field = |part: &Shared<'_>| {
        let mut field = part.json.clone();
        field["origins"] = origins(part.origins);
        field
    };
    let resource = |(of_root, item): &(&OfRoot, &Item)| {
        json!({
            "root": of_root.root.as_deref().map(rustomize_base::shown::masked),
            "group": item.group,
            "kind": item.kind,
            "namespace": item.namespace,
            "name": item.name,
        })
    };
    json!({
        "change": items[0].1.word,
        "count": items.len(),
        "rootCount": roots.len(),
        "resources": items.iter().take(MOST_KEPT).map(resource).collect::<Vec<_>>(),
        "fields": parts.iter().filter(|part| !part.json.is_null()).map(field).collect::<Vec<_>>(),
        "origins": origins(&parts.iter().flat_map(|part| part.origins).cloned().collect::<Vec<_>>()),
        "unchangeable": parts.iter().any(|part| part.is_unchangeable),
    })
}

#[cfg(test)]
mod tests {
    use super::plural;

    #[test]
    fn kinds_have_plurals() {
        let all = [("Pod", "Pods"), ("Ingress", "Ingresses"), ("NetworkPolicy", "NetworkPolicies")];
        all.iter().for_each(|(kind, many)| assert_eq!(plural(kind, 2), *many));
        assert_eq!((plural("Gateway", 3), plural("Endpoints", 3)), ("Gateways".to_owned(), "Endpoints".to_owned()));
        assert_eq!(plural("Pod", 1), "Pod");
    }
}
