//! The lines of files that values of a build come from: a value that a step has set comes from the
//! entry that asks for the step.

use rustomize_base::meter::{FastMap, FastSet};
use rustomize_engine::resource::Resource;
use rustomize_engine::workspace::Output;
use rustomize_yaml::{Node, Value};
use std::sync::Arc;

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileLine {
    pub file: Arc<str>,
    pub line: usize,
}

/// The lines of the nodes of some resources, by the place of the resource in the output. The nodes
/// of a resource are in the order in which they are printed. A new resource has only its first
/// node.
pub(crate) type Origins = FastMap<usize, Vec<Option<FileLine>>>;

/// The origins of the resources of an output whose text the other side does not have. Without the
/// other side, all resources are new. O(nodes of these resources).
pub(crate) fn origins(output: &Output<'_>, texts: &[String], other: Option<&FastSet<&str>>) -> Origins {
    let places = output.places();
    let mut files: FastMap<u32, Arc<str>> = FastMap::default();
    let mut origins = Origins::default();
    for (i, (resource, text)) in output.resources().zip(texts).enumerate() {
        if other.is_some_and(|other| other.contains(text.as_str())) {
            continue;
        }
        let most = if other.is_some() { usize::MAX } else { 1 };
        let mut lines = Vec::new();
        each(resource.node(), &mut |node| {
            if lines.len() < most {
                let pos = if lines.is_empty() { resource.pos() } else { node.pos() };
                let spot = places.spot(pos).filter(|spot| spot.source.is_file);
                lines.push(spot.map(|spot| {
                    let name = || Arc::from(spot.source.name.as_str());
                    FileLine { file: files.entry(spot.source.base).or_insert_with(name).clone(), line: spot.line }
                }));
            }
        });
        origins.insert(i, lines);
    }
    origins
}

/// Calls `found` with each node of a tree, in the order in which they are printed.
fn each<'n, 'a>(node: &'n Node<'a>, found: &mut dyn FnMut(&'n Node<'a>)) {
    found(node);
    match node.value() {
        Value::Scalar(_) => {}
        Value::Sequence(items) => items.iter().for_each(|item| each(item, found)),
        Value::Mapping(mapping) => mapping.iter().for_each(|entry| each(entry.value(), found)),
    }
}

/// The lines of a resource that was read from its printed text.
pub(crate) struct Lines<'o> {
    lines: &'o [Option<FileLine>],
    /// The index of each node, by its address.
    numbers: FastMap<usize, usize>,
}

impl<'o> Lines<'o> {
    /// The lines of a resource; none if its text does not read as the tree that was printed.
    /// O(nodes).
    pub(crate) fn of(resource: &Resource<'_>, lines: &'o [Option<FileLine>]) -> Self {
        let mut numbers = FastMap::default();
        each(resource.node(), &mut |node| {
            let number = numbers.len();
            numbers.insert(std::ptr::from_ref(node).addr(), number);
        });
        if numbers.len() != lines.len() {
            numbers.clear();
        }
        Lines { lines, numbers }
    }

    /// The line that a node comes from.
    pub(crate) fn of_node(&self, node: &Node<'_>) -> Option<FileLine> {
        let number = self.numbers.get(&std::ptr::from_ref(node).addr())?;
        self.lines.get(*number)?.clone()
    }
}

/// The number of patterns that stand for lines.
const MOST_PATTERNS: usize = 3;

/// Lines of files as patterns: `services/*/base/deployment.yaml:21`. Files of one depth and name
/// are one pattern; if that leaves more than a few, lines do not count. O(text of the names).
pub(crate) fn patterns<'l>(lines: impl Iterator<Item = &'l FileLine> + Clone) -> String {
    let mut found = merged(lines.clone().map(|line| (&*line.file, Some(line.line))));
    if found.len() > MOST_PATTERNS {
        found = merged(lines.map(|line| (&*line.file, None)));
    }
    let more = found.len().saturating_sub(MOST_PATTERNS);
    found.truncate(MOST_PATTERNS);
    let text = found.join(", ");
    match more {
        0 => text,
        1 => format!("{text} and 1 more file"),
        more => format!("{text} and {more} more files"),
    }
}

/// Paths with `*` for the parts in which files of one depth, name and line differ.
fn merged<'l>(lines: impl Iterator<Item = (&'l str, Option<usize>)>) -> Vec<String> {
    let mut found: Vec<(Vec<&str>, Option<usize>)> = Vec::new();
    let mut known: FastMap<(&str, usize, Option<usize>), usize> = FastMap::default();
    for (file, line) in lines {
        let parts: Vec<&str> = file.split('/').collect();
        let name = parts.last().copied().unwrap_or_default();
        match known.get(&(name, parts.len(), line)) {
            Some(&at) => {
                let known = found[at].0.iter_mut().zip(parts);
                known.filter(|(known, part)| **known != *part).for_each(|(known, _)| *known = "*");
            }
            None => {
                known.insert((name, parts.len(), line), found.len());
                found.push((parts, line));
            }
        }
    }
    let text = |(parts, line): (Vec<&str>, Option<usize>)| match line {
        Some(line) => format!("{}:{line}", parts.join("/")),
        None => parts.join("/"),
    };
    found.into_iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::{FileLine, patterns};

    #[track_caller]
    fn check(lines: &[(&str, usize)], want: &str) {
        let lines: Vec<FileLine> =
            lines.iter().map(|(file, line)| FileLine { file: (*file).into(), line: *line }).collect();
        assert_eq!(patterns(lines.iter()), want);
    }

    #[test]
    fn lines_become_patterns() {
        check(&[], "");
        check(&[("a/b.yaml", 3)], "a/b.yaml:3");
        check(&[("s/x/base/d.yaml", 3), ("s/y/base/d.yaml", 3), ("s/y/prod/d.yaml", 3)], "s/*/*/d.yaml:3");
        check(&[("s/x/d.yaml", 3), ("s/y/d.yaml", 4), ("t.yaml", 3)], "s/x/d.yaml:3, s/y/d.yaml:4, t.yaml:3");
        check(&[("a/d", 1), ("b/d", 2), ("c/d", 3), ("d/d", 4)], "*/d");
        check(&[("1", 1), ("2", 1), ("3", 1), ("4", 1), ("5", 1)], "1, 2, 3 and 2 more files");
    }
}
