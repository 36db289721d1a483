//! [`Changes`]: the parts of identities that an edit may change.

/// The parts of identities that an edit may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Changes {
    /// Nothing that is looked up before the identities are read again.
    Content,
    /// Names or namespaces, in the same way for all resources whose kind is and was the same: ids
    /// that differ before still differ after, and kinds stay.
    NamesAlike,
    /// Anything.
    Names,
}
