//! [`BuildNotes`]: notes of a build about a resource, beside its node.

use super::Scope;

/// Facts about a resource that only few builds need. They are kept apart, so that other builds do
/// not pay for them.
#[derive(Clone, Debug, Default)]
pub struct BuildNotes<'a> {
    /// Names of the vars whose values this resource has.
    pub vars: Vec<&'a str>,
    /// The origin of the resource: the text of the origin annotation.
    pub origin: Option<&'a str>,
    /// The transformers that changed the resource: items of the list in the transformations
    /// annotation, each with the number of times that it occurs.
    pub transformations: Vec<(&'a str, usize)>,
    /// True if helm generated the resource: its namespace must not be set here.
    pub helm_generated: bool,
    /// True if a patch was merged that may change the name.
    pub allows_name_change: bool,
    /// True if a patch was merged that may change the kind.
    pub allows_kind_change: bool,
    /// The scope of the kind, if the built-in tables do not say it.
    pub scope: Option<Scope>,
    /// The number by which a trace knows the resource; 0 if it has none.
    pub number: u32,
}

impl BuildNotes<'_> {
    /// The text of the transformations annotation.
    pub fn transformations_text(&self) -> String {
        self.transformations.iter().map(|(item, times)| item.repeat(*times)).collect()
    }
}
