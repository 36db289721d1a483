//! [`Error`] and [`Warning`]: what went wrong, where, on what way we got there, and what to do about it.

use crate::yaml::{Arena, Malformed, Place};
use std::fmt;

/// The result of everything that can fail on what a user gave us.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What an [`Error`] is about, for programs that use the library; the command exits with 1 for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The command line asks for something that is not there.
    Usage,
    /// A file holds something that cannot be built.
    Input,
    /// A file cannot be read or written.
    Io,
    /// A server has no such file.
    Absent,
    /// A plugin failed, or did what a plugin must not do.
    Plugin,
}

/// A value, and the warnings that came up on the way to it, in order.
#[derive(Debug)]
pub struct Warned<T> {
    pub value: T,
    pub warnings: Vec<Warning>,
}

/// One fault, with the place it was found at and the chain of entries that led there.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    message: String,
    place: Option<Place>,
    context: Vec<String>,
    hints: Vec<String>,
}

impl Error {
    /// A fault of a kind, in one sentence.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Error(Box::new(Inner { kind, message, place: None, context: Vec::new(), hints: Vec::new() }))
    }

    /// A fault of a file's content.
    pub fn input(message: impl Into<String>) -> Self {
        Error::new(ErrorKind::Input, message)
    }

    /// A text that is no YAML, or that has no form in JSON.
    pub fn malformed(arena: Arena<'_>, fault: Malformed) -> Self {
        Error::input(fault.message).at(arena.place(fault.pos))
    }

    /// Adds the place, unless a more exact one is known already.
    #[must_use]
    pub fn at(mut self, place: Option<Place>) -> Self {
        if self.0.place.is_none() {
            self.0.place = place;
        }
        self
    }

    /// Adds one link of the chain that led here, innermost first.
    #[must_use]
    pub fn context(mut self, link: impl Into<String>) -> Self {
        self.0.context.push(link.into());
        self
    }

    /// Adds what the user can do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hints.push(hint.into());
        self
    }

    /// The fault itself, with its place and without the way that led there: the same for all who
    /// come across it.
    pub fn fault(&self) -> String {
        let place = self.0.place.as_ref().map(|place| format!("\n  at {place}"));
        format!("{}{}", self.0.message, place.unwrap_or_default())
    }

    /// What the fault is about.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The fault in one sentence, without place, chain and hints.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Where the fault was found, if that is in a source.
    pub fn place(&self) -> Option<&Place> {
        self.0.place.as_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        if let Some(place) = &self.0.place {
            write!(f, "\n  at {place}")?;
        }
        for link in &self.0.context {
            write!(f, "\n  {link}")?;
        }
        for hint in &self.0.hints {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// Something the user should know although the build goes on. The library returns them; only the
/// command prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The name among `known` that a mistyped one most likely stands for.
pub fn nearest<'n>(typed: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let typed = typed.to_lowercase();
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&typed, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= 1 + name.len() / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}
