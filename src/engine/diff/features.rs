//! Features of a resource: hashes of the values that it holds, by which renamed resources are
//! found.
//!
//! A feature is a scalar with the fields that lead to it, a line of a text of several lines, or a
//! word of the name. The places of items in lists do not count.

use crate::resource::Resource;
use rustomize_base::meter;
use rustomize_yaml::{Node, Value};
use std::hash::BuildHasher;

/// The features of a resource.
pub(super) struct Features {
    /// A hash of all values except the identity; `None` if there are no other values.
    pub content: Option<u64>,
    /// All features, sorted. A feature that occurs twice is in the list twice.
    pub all: Vec<u64>,
}

/// The fields with the identity of a resource.
const IDENTITY: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// The fields of the metadata with the identity of a resource.
const NAMES: [&str; 2] = ["name", "namespace"];

/// Reads the features of a resource. O(nodes and texts).
pub(super) fn of(resource: &Resource<'_>) -> Features {
    let mut collector = Collector { hasher: foldhash::quality::FixedState::default(), found: Vec::new() };
    if let Some(root) = resource.node().as_mapping() {
        for entry in root.iter().filter(|entry| !IDENTITY.contains(&entry.key().text())) {
            collector.add(collector.step(0, entry.key().text()), entry.value());
        }
        let metadata = root.get("metadata").and_then(Node::as_mapping);
        let metadata = metadata.into_iter().flat_map(|metadata| metadata.iter());
        for entry in metadata.filter(|entry| !NAMES.contains(&entry.key().text())) {
            collector.add(collector.step(1, entry.key().text()), entry.value());
        }
    }
    let content =
        Some(&collector.found).filter(|found| !found.is_empty()).map(|found| collector.hasher.hash_one(found));
    let words = resource.id().name.split(['-', '.']).filter(|word| !word.is_empty());
    let words: Vec<u64> = words.map(|word| collector.step(2, word)).collect();
    collector.found.extend(words);
    collector.found.sort_unstable();
    Features { content, all: collector.found }
}

struct Collector {
    hasher: foldhash::quality::FixedState,
    found: Vec<u64>,
}

impl Collector {
    /// The hash of a path with one more field.
    fn step(&self, path: u64, field: &str) -> u64 {
        meter::count_text(field);
        self.hasher.hash_one((path, field))
    }

    fn add(&mut self, path: u64, node: &Node<'_>) {
        match node.value() {
            Value::Scalar(scalar) if scalar.text().contains('\n') => {
                let lines: Vec<u64> = scalar.text().lines().map(|line| self.step(path, line)).collect();
                self.found.extend(lines);
            }
            Value::Scalar(scalar) => self.found.push(self.step(path, scalar.text())),
            Value::Sequence(items) => items.iter().for_each(|item| self.add(path, item)),
            Value::Mapping(mapping) => {
                for entry in mapping.iter() {
                    self.add(self.step(path, entry.key().text()), entry.value());
                }
            }
        }
    }
}

/// The likeness of two resources, from 0 to 1: twice the number of shared features, divided by the
/// number of all features. O(features).
pub(super) fn likeness(a: &[u64], b: &[u64]) -> f64 {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        meter::count(1);
        shared += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    match a.len() + b.len() {
        0 => 0.0,
        all => (2 * shared) as f64 / all as f64,
    }
}
