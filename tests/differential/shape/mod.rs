//! Random kustomization trees: layers of all fields, over few names, so that things meet.

mod fields;
mod objects;
mod patches;
mod plugins;
mod references;
pub mod versions;
mod words;

use super::style;
use super::tree::{File, Layer, Tree};
use super::value::{V, at, s, text};
use fastrand::Rng;

pub fn pick<'p>(rng: &mut Rng, from: &[&'p str]) -> &'p str {
    from[rng.usize(..from.len())]
}

/// True once in so many times.
pub fn rarely(rng: &mut Rng, one_in: u16) -> bool {
    rng.u16(..one_in) == 0
}

/// Up to `most` values.
fn some(rng: &mut Rng, most: usize, mut make: impl FnMut(&mut Rng) -> V) -> V {
    let n = rng.usize(..=most);
    V::L((0..n).map(|_| make(rng)).collect())
}

/// One or two values.
fn few(rng: &mut Rng, mut make: impl FnMut(&mut Rng) -> V) -> V {
    let n = 1 + rng.usize(..2);
    V::L((0..n).map(|_| make(rng)).collect())
}

/// A mapping with different keys.
fn map(rng: &mut Rng, keys: &[&str], mut make: impl FnMut(&mut Rng) -> V) -> V {
    let mut entries: Vec<(String, V)> = Vec::new();
    for _ in 0..rng.usize(..=3) {
        let key = pick(rng, keys);
        if !entries.iter().any(|(k, _)| k == key) {
            entries.push((key.to_owned(), make(rng)));
        }
    }
    V::M(entries)
}

/// The objects that a layer may speak of.
#[derive(Clone, Copy)]
struct Known<'k>(&'k [V]);

impl<'k> Known<'k> {
    fn pick(&self, rng: &mut Rng) -> Option<&'k V> {
        if self.0.is_empty() { None } else { Some(&self.0[rng.usize(..self.0.len())]) }
    }

    /// An object of one of some kinds.
    fn of(&self, rng: &mut Rng, kinds: &[&str]) -> Option<&'k V> {
        let fitting: Vec<&V> = self.0.iter().filter(|o| kinds.contains(&text(o, &["kind"]).as_str())).collect();
        if fitting.is_empty() { None } else { Some(fitting[rng.usize(..fitting.len())]) }
    }
}

/// A random tree of one to four layers, the last one the root.
pub fn tree(rng: &mut Rng) -> Tree {
    let count = 1 + rng.usize(..4);
    let mut layers: Vec<Layer> = Vec::new();
    let mut known: Vec<V> = Vec::new();
    for i in 0..count {
        let layer = layer(rng, i, i + 1 == count, &layers, &mut known);
        layers.push(layer);
    }
    let mut tree = Tree(layers);
    if rng.u8(..5) > 0 {
        style::style(rng, &mut tree);
    }
    tree
}

fn layer(rng: &mut Rng, i: usize, is_root: bool, below: &[Layer], known: &mut Vec<V>) -> Layer {
    let mut layer = Layer {
        name: format!("l{i}"),
        is_component: !is_root && rng.u8(..4) == 0,
        kustomization: File::documents("kustomization.yaml", vec![V::M(Vec::new())]),
        files: Vec::new(),
    };
    let documents = documents(rng, i);
    // Mostly the layer's own: what is below may have other names by now.
    if rng.u8(..4) == 0 {
        known.extend(documents.iter().cloned());
    } else {
        known.clone_from(&documents);
    }
    let mut resources = Vec::new();
    if !documents.is_empty() {
        for file in files_of(rng, documents) {
            resources.push(s(&file.name));
            layer.files.push(file);
        }
    }
    let mut components = Vec::new();
    for other in below {
        // Each layer is reached from the next one, and sometimes from a later one too.
        let is_next = other.name == format!("l{}", i.wrapping_sub(1));
        if is_next || rng.u8(..6) == 0 {
            let path = s(format!("../{}", other.name));
            if other.is_component { components.push(path) } else { resources.push(path) }
        }
    }
    if rng.bool() {
        resources.reverse();
    }
    let (bases, resources) = match rng.u8(..12) {
        0 => resources.into_iter().partition(|r| matches!(r, V::S(path) if path.starts_with("../"))),
        _ => (Vec::new(), resources),
    };
    for (name, paths) in [("resources", resources), ("bases", bases), ("components", components)] {
        if name == "resources" || !paths.is_empty() {
            layer.fields().push((name.to_owned(), V::L(paths)));
        }
    }
    words::files(rng, &mut layer);
    fields::fields(rng, &mut layer, Known(known));
    if rarely(rng, 5) {
        versions::add(rng, &mut layer);
    }
    layer
}

/// The objects of a layer, mostly of different ids.
fn documents(rng: &mut Rng, layer: usize) -> Vec<V> {
    let mut documents: Vec<V> = Vec::new();
    for _ in 0..rng.usize(if layer == 0 { 1..5 } else { 0..4 }) {
        let new = objects::object(rng, layer);
        let id = |o: &V| [&["kind"][..], &["metadata", "name"], &["metadata", "namespace"]].map(|p| text(o, p));
        if rng.u8(..20) == 0 || !documents.iter().any(|o| id(o) == id(&new)) {
            documents.push(new);
        }
    }
    documents
}

/// Objects in a file or two, some of them inside of a list.
fn files_of(rng: &mut Rng, mut documents: Vec<V>) -> Vec<File> {
    if rarely(rng, 3) {
        for document in &mut documents {
            objects::spoil(rng, document);
        }
    }
    if rarely(rng, 10) {
        documents = objects::in_lists(rng, documents);
    }
    let behind = if rarely(rng, 6) { documents.split_off(documents.len() / 2) } else { Vec::new() };
    let mut files = vec![File::documents(pick(rng, &["r.yaml", "r.yaml", "r.yml", "r"]), documents)];
    if !behind.is_empty() {
        files.push(File::documents("s.yaml", behind));
    }
    files.retain(at_least_one);
    files
}

fn at_least_one(file: &File) -> bool {
    !matches!(&file.content, super::tree::Content::Documents(all) if all.is_empty())
}

/// The kind and name of an object.
fn exact(object: &V) -> V {
    let name = at(object, &["metadata", "name"]).cloned().unwrap_or_else(|| s("a"));
    super::value::m(vec![("kind", s(text(object, &["kind"]))), ("name", name)])
}
