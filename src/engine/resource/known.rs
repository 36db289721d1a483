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
    /// True if the node has not changed since a trace looked at it.
    pub is_untouched: bool,
}

impl Known {
    /// The facts that are still known after an edit.
    pub(super) fn after_edit(self) -> Self {
        Known { shares_values: self.shares_values, ..Known::default() }
    }

    /// The facts that are still known after an edit that keeps the form of the node.
    pub(super) fn after_edit_in_form(self) -> Self {
        Known { is_in_json_form: self.is_in_json_form, ..self.after_edit() }
    }
}
