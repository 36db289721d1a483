//! [`Behavior`]: the effect of a generated resource on the one that has its id.

/// The effect of a generated resource on an existing resource with the same id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Behavior {
    #[default]
    Unspecified,
    Create,
    Merge,
    Replace,
}

impl Behavior {
    /// The words that a user may write.
    pub const WORDS: [&str; 3] = ["create", "merge", "replace"];

    /// Parses the word of the option. As upstream, any other text than the three words counts as
    /// unspecified.
    pub fn parse(text: &str) -> Behavior {
        match text {
            "create" => Behavior::Create,
            "merge" => Behavior::Merge,
            "replace" => Behavior::Replace,
            _ => Behavior::Unspecified,
        }
    }

    /// The word in annotations and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Behavior::Unspecified => "unspecified",
            Behavior::Create => "create",
            Behavior::Merge => "merge",
            Behavior::Replace => "replace",
        }
    }
}
