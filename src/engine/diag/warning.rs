//! [`Warning`]: what a build that succeeds tells the user.

use super::{Code, Diagnostic, Error, FurtherResources, Located, Mend, Severity, Spot};
use rustomize_yaml::{Heap, Pos};
use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;

/// A message to the user about a build that succeeds. The library returns warnings; only the
/// command prints them.
#[derive(Clone, Debug)]
pub struct Warning(Box<Diagnostic>);

impl Deref for Warning {
    type Target = Diagnostic;

    fn deref(&self) -> &Diagnostic {
        &self.0
    }
}

impl Borrow<Diagnostic> for Warning {
    fn borrow(&self) -> &Diagnostic {
        &self.0
    }
}

impl Warning {
    /// A warning, in one sentence.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Warning(Box::new(Diagnostic::new(Severity::Warning, code, message.into())))
    }

    /// The position of a warning that is not [`located`](Warning::located) yet.
    pub(crate) fn pos(&self) -> Option<Pos> {
        self.0.spot.pos()
    }

    /// Adds the spot of the field or entry that the warning is about.
    #[must_use]
    pub fn at(mut self, spot: impl Into<Spot>) -> Self {
        self.0.at(spot.into());
        self
    }

    /// As [`Error::in_field`].
    #[must_use]
    pub fn in_field(mut self, name: impl Into<String>) -> Self {
        self.0.field.push(name.into());
        self
    }

    /// As [`Error::in_resource`].
    #[must_use]
    pub fn in_resource(mut self, id: impl fmt::Display) -> Self {
        self.0.resource.get_or_insert_with(|| id.to_string());
        self
    }

    /// Adds the ids of further resources that the finding is about.
    #[must_use]
    pub fn also_in(mut self, ids: impl Iterator<Item: fmt::Display>) -> Self {
        let further = &mut self.0.further;
        for id in ids {
            further.count += 1;
            if further.names.len() < FurtherResources::MOST {
                further.names.push(id.to_string());
            }
        }
        self
    }

    /// As [`Error::hint`].
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hints.push(hint.into());
        self
    }

    /// Adds the change that mends the finding.
    #[must_use]
    pub fn mended(mut self, mend: Mend) -> Self {
        self.0.mend = Some(mend);
        self
    }

    /// Says the same in other words.
    #[must_use]
    pub fn reworded(mut self, message: impl Into<String>) -> Self {
        self.0.message = message.into();
        self
    }

    /// Never shows the line of the finding, which may have a secret.
    #[must_use]
    pub fn without_line(mut self) -> Self {
        self.0.hides_line = true;
        self
    }

    /// The same as an error, for commands that take no warnings.
    #[must_use]
    pub fn into_error(mut self) -> Error {
        self.0.severity = Severity::Error;
        Error::of(*self.0)
    }

    /// Turns the positions of warnings into file, line and column. O(size of their sources +
    /// warnings).
    #[must_use]
    pub fn located(warnings: Vec<Warning>, heap: &Heap) -> Vec<Warning> {
        let mut located = Located::of(heap);
        let locate = |mut warning: Warning| {
            warning.0.locate(&mut located);
            warning
        };
        warnings.into_iter().map(locate).collect()
    }

    /// Sorts warnings by file, line and column, then by code and message: texts get their
    /// positions in the order in which threads read them. O(n log n).
    pub fn sort_by_place(warnings: &mut [Warning]) {
        warnings.sort_by_cached_key(Warning::order);
    }

    /// The key of [`Warning::sort_by_place`].
    pub fn order(&self) -> impl Ord + use<> {
        let place = self.place().map(|place| (place.file.clone(), place.line, place.column));
        (place, self.code().as_str(), self.message().to_owned())
    }
}

/// Prints only the message: most warnings have kustomize's own text, which names no place.
impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
