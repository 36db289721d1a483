//! Parts of a diagnostic that only some have: further resources, and a change that mends it.

use rustomize_yaml::scalar::is_surely_plain;
use std::fmt::{self, Display, Formatter};

/// Resources beside the first one that a finding is about.
#[derive(Clone, Debug, Default)]
pub struct FurtherResources {
    /// The first ids, as messages show them: at most [`FurtherResources::MOST`].
    pub names: Vec<String>,
    /// The number of all.
    pub count: usize,
}

impl FurtherResources {
    /// So many ids are kept; further ones are only counted.
    pub const MOST: usize = 1000;
}

/// A change that mends a finding for sure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mend {
    /// At the place of the finding the file has the text `old`, which becomes `new`.
    Text { old: String, new: String },
    /// The kustomization of the file gets this entry in a file of `configurations`.
    NameReference(NameReference),
}

impl Mend {
    /// At the place of the finding `old` becomes `new`.
    pub fn text(old: impl Into<String>, new: impl Into<String>) -> Mend {
        Mend::Text { old: old.into(), new: new.into() }
    }
}

/// A field of a custom kind with the name of another resource, as `nameReference` describes it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NameReference {
    /// The kind of the resource whose name the field has.
    pub target: String,
    /// The kind and the group of the resource with the field.
    pub kind: String,
    pub group: String,
    /// The path of the field, as kustomize writes paths.
    pub path: String,
}

impl NameReference {
    /// The field in the form of an entry of `fieldSpecs`, on one line.
    pub fn field_spec(&self) -> String {
        let group = if self.group.is_empty() { String::new() } else { format!(", group: {}", word(&self.group)) };
        format!("{{kind: {}{group}, path: {}}}", word(&self.kind), word(&self.path))
    }

    /// The kind of the resource whose name the field has, as YAML.
    pub fn target(&self) -> String {
        word(&self.target)
    }
}

impl Display for NameReference {
    /// The content of a file with this entry alone, on one line.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "nameReference: [{{kind: {}, fieldSpecs: [{}]}}]", self.target(), self.field_spec())
    }
}

/// A text as YAML that is valid in braces.
fn word(text: &str) -> String {
    let is_plain = is_surely_plain(text) && !text.contains([',', '[', ']', '{', '}']);
    if is_plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}
