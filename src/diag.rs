//! [`Error`] and [`Warning`]: what went wrong, where, on what way we got there, and what to do
//! about it.

use crate::yaml::{Heap, Malformed, Place, Pos};
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

/// Where a fault is. Inside a build that is a position; [`Error::located`] makes a place of it
/// where the build ends, so that nothing on the way needs the sources.
#[derive(Clone, Debug, Default)]
pub enum Spot {
    /// Nobody has said yet.
    #[default]
    Unknown,
    Pos(Pos),
    Place(Place),
}

impl Spot {
    /// This one, or another one if nobody has said yet.
    fn or(self, other: Spot) -> Spot {
        if matches!(self, Spot::Unknown) { other } else { self }
    }

    fn located(self, heap: &Heap) -> Spot {
        match self {
            Spot::Pos(pos) => heap.place(pos).into(),
            known => known,
        }
    }

    fn place(&self) -> Option<&Place> {
        match self {
            Spot::Place(place) => Some(place),
            Spot::Unknown | Spot::Pos(_) => None,
        }
    }
}

impl From<Pos> for Spot {
    /// No source text holds what a build step has made.
    fn from(pos: Pos) -> Self {
        if pos.is_in_source() { Spot::Pos(pos) } else { Spot::Unknown }
    }
}

impl From<Option<Place>> for Spot {
    fn from(place: Option<Place>) -> Self {
        place.map_or(Spot::Unknown, Spot::Place)
    }
}

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    message: String,
    spot: Spot,
    context: Vec<String>,
    hints: Vec<String>,
}

impl Error {
    /// A fault of a kind, in one sentence.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Error(Box::new(Inner { kind, message, spot: Spot::Unknown, context: Vec::new(), hints: Vec::new() }))
    }

    /// A fault of a file's content.
    pub fn input(message: impl Into<String>) -> Self {
        Error::new(ErrorKind::Input, message)
    }

    /// Adds where the fault is, unless a more exact place is known already.
    #[must_use]
    pub fn at(mut self, spot: impl Into<Spot>) -> Self {
        self.0.spot = std::mem::take(&mut self.0.spot).or(spot.into());
        self
    }

    /// Turns the position of the fault into file, line and column. O(size of the source).
    #[must_use]
    pub fn located(mut self, heap: &Heap) -> Self {
        self.0.spot = std::mem::take(&mut self.0.spot).located(heap);
        self
    }

    /// Adds one link of the chain that led here, innermost first; an empty text is none.
    #[must_use]
    pub fn context(mut self, link: impl Into<String>) -> Self {
        self.0.context.extend(Some(link.into()).filter(|link| !link.is_empty()));
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
        let place = self.place().map(|place| format!("\n  at {place}"));
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

    /// Where the fault was found, if that is in a source; known once the build has ended.
    pub fn place(&self) -> Option<&Place> {
        self.0.spot.place()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        if let Some(place) = self.place() {
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

/// A text that is no YAML, or that has no form in JSON.
impl From<Malformed> for Error {
    fn from(fault: Malformed) -> Self {
        Error::input(fault.message).at(fault.pos)
    }
}

/// Something the user should know although the build goes on. The library returns them; only the
/// command prints.
#[derive(Clone, Debug)]
pub struct Warning {
    pub message: String,
    spot: Spot,
}

impl Warning {
    /// A warning, in one sentence.
    pub fn new(message: impl Into<String>) -> Self {
        Warning { message: message.into(), spot: Spot::Unknown }
    }

    /// Adds what the warning is about.
    #[must_use]
    pub fn at(mut self, spot: impl Into<Spot>) -> Self {
        self.spot = self.spot.or(spot.into());
        self
    }

    /// As [`Error::located`].
    #[must_use]
    pub fn located(mut self, heap: &Heap) -> Self {
        self.spot = self.spot.located(heap);
        self
    }

    /// What the warning is about, if that is in a source; known once the build has ended.
    pub fn place(&self) -> Option<&Place> {
        self.spot.place()
    }
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
