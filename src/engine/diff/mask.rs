//! Hides secret values: each becomes a label, and the same value the same label, so that it
//! shows whether values differ and nothing else of them.

use super::secrets::secrets;
use crate::resource::Resource;
use rustomize_base::meter::FastMap;
use rustomize_yaml::{Arena, Mapping, Node, Pos, Scalar, ValueMut};

/// The labels of the values that were hidden so far.
pub struct Masks<'a> {
    arena: Arena<'a>,
    labels: FastMap<&'a str, &'a str>,
}

impl<'a> Masks<'a> {
    /// No labels. The text of labels is made in the arena.
    pub fn new(arena: Arena<'a>) -> Self {
        Masks { arena, labels: FastMap::default() }
    }

    /// Hides the values of a resource that are secret: all of a resource of kind Secret, whatever
    /// its group, and of others those behind names that say so. O(nodes).
    pub fn hide(&mut self, resource: &mut Resource<'a>) {
        let mut found = Vec::new();
        secrets(resource.id().gvk.kind, resource.node(), &mut found);
        for pointer in found {
            if let Some(node) = find_mut(resource.node_mut(), &pointer) {
                self.hide_all(node);
            }
        }
    }

    /// Hides all scalars of a tree, but not the keys.
    fn hide_all(&mut self, node: &mut Node<'a>) {
        match node.value_mut() {
            ValueMut::Scalar(scalar) => {
                let label = self.label(*scalar);
                node.put(Scalar::string(label), Pos::NONE);
            }
            ValueMut::Sequence(items) => items.iter_mut().for_each(|item| self.hide_all(item)),
            ValueMut::Mapping(mapping) => self.hide_values(mapping),
        }
    }

    fn hide_values(&mut self, mapping: &mut Mapping<'a>) {
        mapping.iter_mut().for_each(|(_, value)| self.hide_all(value));
    }

    /// The label of a value. They are counted: a hash of the value would let it be guessed.
    fn label(&mut self, value: Scalar<'a>) -> &'a str {
        let next = self.labels.len() + 1;
        let arena = self.arena;
        self.labels.entry(value.text()).or_insert_with(|| arena.text(&format!("(masked {next})")))
    }
}

/// The value of a tree at a JSON pointer, to change it.
fn find_mut<'n, 'a>(node: &'n mut Node<'a>, pointer: &str) -> Option<&'n mut Node<'a>> {
    pointer.split('/').skip(1).try_fold(node, |node, part| match node.value_mut() {
        ValueMut::Mapping(mapping) => mapping.get_mut(&part.replace("~1", "/").replace("~0", "~")),
        ValueMut::Sequence(items) => items.get_mut(part.parse::<usize>().ok()?),
        ValueMut::Scalar(_) => None,
    })
}
