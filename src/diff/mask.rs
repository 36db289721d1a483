//! Hides the values of Secrets: each becomes a label, and the same value the same label, so that it
//! shows whether values differ and nothing else of them.

use crate::meter::FastMap;
use crate::resource::Resource;
use crate::yaml::{Arena, Mapping, Node, Pos, Scalar, ValueMut};

/// The fields of a Secret that hold its values.
const VALUES: [&str; 2] = ["data", "stringData"];

/// The annotation in which kubectl keeps a whole resource.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

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

    /// Hides the values of a resource of kind Secret, whatever its group. O(nodes).
    pub fn hide(&mut self, resource: &mut Resource<'a>) {
        if resource.id().gvk.kind != "Secret" {
            return;
        }
        let Some(root) = resource.node_mut().as_mapping_mut() else { return };
        for (key, value) in root.iter_mut() {
            match key.text() {
                field if VALUES.contains(&field) => self.hide_all(value),
                "metadata" => self.hide_last_applied(value),
                _ => {}
            }
        }
    }

    fn hide_last_applied(&mut self, metadata: &mut Node<'a>) {
        let annotations = metadata.as_mapping_mut().and_then(|metadata| metadata.get_mut("annotations"));
        if let Some(value) = annotations.and_then(Node::as_mapping_mut).and_then(|all| all.get_mut(LAST_APPLIED)) {
            self.hide_all(value);
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
