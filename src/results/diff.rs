//! Differences of resources as JSON. docs/diff.md documents the members.

use rustomize_engine::diff::{Change, Difference, FieldChange, Summary};
use rustomize_engine::resource::Resource;
use rustomize_yaml::{self as yaml, Node, json};
use serde_json::{Map, Value, json};

/// A change as an object.
pub fn change(change: &Change<'_>) -> Value {
    match change {
        Change::Added(resource) => {
            json!({"change": "added", "after": id(resource), "resource": value(resource.node())})
        }
        Change::Removed(resource) => {
            json!({"change": "removed", "before": id(resource), "resource": value(resource.node())})
        }
        Change::Changed { before, after, matched, fields } => json!({
            "change": "changed",
            "matchedBy": matched.as_str(),
            "before": id(before),
            "after": id(after),
            "fields": fields.iter().map(field).collect::<Vec<_>>(),
        }),
    }
}

/// The numbers of differences as an object.
pub fn summary(summary: &Summary) -> Value {
    let images = summary.images.iter().map(|((old, new), count)| json!({"old": old, "new": new, "count": count}));
    json!({
        "added": summary.added,
        "removed": summary.removed,
        "changed": summary.changed,
        "renamed": summary.renamed,
        "moved": summary.moved,
        "same": summary.same,
        "unchangeable": summary.unchangeable,
        "images": images.collect::<Vec<_>>(),
    })
}

fn id(resource: &Resource<'_>) -> Value {
    let id = resource.id();
    json!({
        "group": id.gvk.group,
        "version": id.gvk.version,
        "kind": id.gvk.kind,
        "namespace": id.namespace,
        "name": id.name,
    })
}

/// A field that differs. The value of a side without the field is missing.
pub fn field(change: &FieldChange<'_>) -> Value {
    let mut members = Map::new();
    members.insert("path".to_owned(), change.path.to_string().into());
    let (old, new, what) = match change.difference {
        Difference::Value { old, new } => (old, new, "value"),
        Difference::Order { old, new } => (Some(old), Some(new), "order"),
    };
    members.insert("differs".to_owned(), what.into());
    for (name, node) in [("old", old), ("new", new)] {
        members.extend(node.map(|node| (name.to_owned(), value(node))));
    }
    if change.is_unchangeable {
        members.insert("unchangeable".to_owned(), true.into());
    }
    if change.follows {
        members.insert("followsNewName".to_owned(), true.into());
    }
    Value::Object(members)
}

/// A tree as a JSON value. A number that JSON cannot hold is a text.
fn value(node: &Node<'_>) -> Value {
    match node.value() {
        yaml::Value::Sequence(items) => items.iter().map(value).collect(),
        yaml::Value::Mapping(mapping) => {
            mapping.iter().map(|entry| (entry.key().text().to_owned(), value(entry.value()))).collect()
        }
        yaml::Value::Scalar(scalar) => {
            let mut text = String::new();
            json::write_exact(&mut text, node);
            serde_json::from_str(&text).unwrap_or_else(|_| scalar.text().into())
        }
    }
}
