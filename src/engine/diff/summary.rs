//! Counts of what differs, and the images that differ.

use super::{Change, Changes, Difference, FieldChange, Match, Step};
use rustomize_yaml::Node;
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// The fields whose items are containers.
const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// The differences in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub added: usize,
    pub removed: usize,
    /// Resources whose fields differ, and whose identity does not.
    pub changed: usize,
    /// Resources with another name, but for its hash.
    pub renamed: usize,
    /// Resources in another namespace or group.
    pub moved: usize,
    pub same: usize,
    /// Changed resources with a field that Kubernetes lets nobody change.
    pub unchangeable: usize,
    /// How often each image became another image.
    pub images: BTreeMap<(String, String), usize>,
}

impl Summary {
    /// Counts what differs. O(fields that differ).
    pub fn of(changes: &Changes<'_>) -> Summary {
        let mut summary = Summary { same: changes.same, ..Summary::default() };
        for change in &changes.resources {
            match change {
                Change::Added(_) => summary.added += 1,
                Change::Removed(_) => summary.removed += 1,
                Change::Changed { matched, fields, .. } => {
                    match matched {
                        Match::Identity | Match::Hash => summary.changed += 1,
                        Match::Group | Match::Namespace => summary.moved += 1,
                        Match::Rename => summary.renamed += 1,
                    }
                    summary.unchangeable += usize::from(fields.iter().any(|field| field.is_unchangeable));
                    for images in fields.iter().filter_map(images) {
                        *summary.images.entry(images).or_default() += 1;
                    }
                }
            }
        }
        summary
    }

    /// True if nothing differs.
    pub fn is_same(&self) -> bool {
        [self.added, self.removed, self.changed, self.renamed, self.moved] == [0; 5]
    }
}

impl AddAssign<&Summary> for Summary {
    fn add_assign(&mut self, other: &Summary) {
        self.added += other.added;
        self.removed += other.removed;
        self.changed += other.changed;
        self.unchangeable += other.unchangeable;
        self.renamed += other.renamed;
        self.moved += other.moved;
        self.same += other.same;
        for (images, count) in &other.images {
            *self.images.entry(images.clone()).or_default() += count;
        }
    }
}

/// The old and the new image, if the field is the image of a container.
fn images(change: &FieldChange<'_>) -> Option<(String, String)> {
    let Difference::Value { old: Some(old), new: Some(new) } = change.difference else { return None };
    let is_image = match change.path.0[..] {
        [.., Step::Field(list), Step::Keys(_) | Step::Index(_), Step::Field("image")] => CONTAINERS.contains(&list),
        _ => false,
    };
    let text = |node: &Node<'_>| node.as_scalar().map(|scalar| scalar.text().to_owned());
    if is_image { Some((text(old)?, text(new)?)) } else { None }
}
