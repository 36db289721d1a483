//! [`Known`]: the known facts about the node of a resource.

/// The known facts about a node.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Known {
    /// True if the node is known to be in the form that a detour through JSON gives it.
    pub is_in_json_form: bool,
    /// True if `data` and `binaryData` are known to hold texts as a generator writes them.
    pub has_text_data: bool,
    /// True if several places of the node may share a value.
    pub shares_values: bool,
    /// The part that may have changed since a trace looked at the node.
    touched: Touched,
}

/// The part of a node that may have changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Touched {
    #[default]
    All,
    /// `metadata` alone.
    Metadata,
    Nothing,
}

impl Known {
    /// The facts that are still known after an edit.
    pub(super) fn after_edit(self) -> Self {
        Known { shares_values: self.shares_values, ..Known::default() }
    }

    /// The facts that are still known after an edit below a field of the node.
    pub(super) fn after_edit_below(self, field: &str) -> Self {
        let is_of_metadata = self.touched != Touched::All && field == "metadata";
        let touched = if is_of_metadata { Touched::Metadata } else { Touched::All };
        Known { touched, ..self.after_edit() }
    }

    /// Returns the part that may have changed since the last call, or since the node was made.
    pub(super) fn take_touched(&mut self) -> Touched {
        std::mem::replace(&mut self.touched, Touched::Nothing)
    }

    /// The facts that are still known after an edit that keeps the form of the node.
    pub(super) fn after_edit_in_form(self) -> Self {
        Known { is_in_json_form: self.is_in_json_form, ..self.after_edit() }
    }
}
