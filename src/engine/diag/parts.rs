//! Parts of a diagnostic that only some have: further resources, and a change that mends it.

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

/// A change of a file that mends a finding for sure: at the place of the finding the file has the
/// text `old`, which becomes `new`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mend {
    pub old: String,
    pub new: String,
}
