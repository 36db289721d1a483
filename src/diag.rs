//! [`Diagnostic`]: an error or a warning as data: code, message, place, resource, field, the steps
//! of the build that led there, and hints for the user.
//!
//! An [`Error`] ends a request; a [`Warning`] is returned beside its result.

mod advice;
mod code;
mod excerpt;

pub use code::Code;
pub use excerpt::Excerpt;

use crate::yaml::{Heap, Malformed, Place, Pos};
use std::fmt;
use std::io;
use std::ops::Deref;

/// The result of an operation that can fail because of the user's input.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of a diagnostic: an error or a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The request failed.
    Error,
    /// The request succeeded, and the user should know something about it.
    Warning,
}

/// A value, and the warnings that came up on the way to it, in order.
#[derive(Debug)]
pub struct Warned<T> {
    pub value: T,
    pub warnings: Vec<Warning>,
}

/// The spot of a fault. Inside a build it is a position. At the end of the build
/// [`Error::located`] turns the position into a place, so that no step needs the sources.
#[derive(Clone, Debug, Default)]
pub enum Spot {
    /// Not known yet.
    #[default]
    Unknown,
    Pos(Pos),
    Place(Place),
}

impl Spot {
    /// Returns this spot, or `other` if this spot is unknown.
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
    /// A node that a build step has made has no position in a source text: its spot is unknown.
    fn from(pos: Pos) -> Self {
        if pos.is_in_source() { Spot::Pos(pos) } else { Spot::Unknown }
    }
}

impl From<Option<Place>> for Spot {
    fn from(place: Option<Place>) -> Self {
        place.map_or(Spot::Unknown, Spot::Place)
    }
}

/// One fault or warning.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    severity: Severity,
    code: Code,
    message: String,
    spot: Spot,
    excerpt: Option<Excerpt>,
    /// The names of fields, innermost first.
    field: Vec<String>,
    resource: Option<String>,
    chain: Vec<Link>,
    hints: Vec<String>,
}

/// A step of the build that led to a diagnostic.
#[derive(Clone, Debug)]
pub struct Link {
    text: String,
    spot: Spot,
}

impl Link {
    /// The step, as in `applying patch.yaml`.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The place of the entry that asked for the step, if a source text has it.
    pub fn place(&self) -> Option<&Place> {
        self.spot.place()
    }
}

impl Diagnostic {
    fn new(severity: Severity, code: Code, message: String) -> Self {
        let (field, chain, hints) = (Vec::new(), Vec::new(), Vec::new());
        let (spot, excerpt, resource) = (Spot::Unknown, None, None);
        Diagnostic { severity, code, message, spot, excerpt, field, resource, chain, hints }
    }

    /// Error or warning.
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// The subject, as a code that stays the same from version to version.
    pub fn code(&self) -> Code {
        self.code
    }

    /// The fault in one sentence, without place, chain and hints.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The place of the fault, if a source text has it; known once the build has ended.
    pub fn place(&self) -> Option<&Place> {
        self.spot.place()
    }

    /// The line of the fault, if a source text has it; known once the build has ended.
    pub fn excerpt(&self) -> Option<&Excerpt> {
        self.excerpt.as_ref()
    }

    /// The field, as names that are separated by dots: of the resource, or of the file that has the
    /// fault. `None` if no single field is at fault.
    pub fn field(&self) -> Option<String> {
        let names: Vec<&str> = self.field.iter().rev().map(String::as_str).collect();
        Some(names.join(".")).filter(|path| !path.is_empty())
    }

    /// The id of the resource, as messages show it.
    pub fn resource(&self) -> Option<&str> {
        self.resource.as_deref()
    }

    /// The steps of the build that led to the fault, innermost first.
    pub fn chain(&self) -> &[Link] {
        &self.chain
    }

    /// Suggestions for the user.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }

    fn at(&mut self, spot: Spot) {
        self.spot = std::mem::take(&mut self.spot).or(spot);
    }

    fn locate(&mut self, heap: &Heap) {
        if let Spot::Pos(pos) = self.spot {
            self.excerpt = heap.outermost(pos).and_then(|(source, offset)| Excerpt::of(&source.text, offset));
            // A template in a value that YAML can read is not the fault.
            let may_be_template = matches!(self.code, Code::NotYaml | Code::WrongType);
            let line = self.excerpt.as_ref().filter(|_| may_be_template).map(Excerpt::line);
            if let Some(advice) = line.and_then(advice::on_line) {
                self.hints = vec![advice.to_owned()];
            }
        }
        let spots = self.chain.iter_mut().map(|link| &mut link.spot).chain([&mut self.spot]);
        spots.for_each(|spot| *spot = std::mem::take(spot).located(heap));
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(place) = self.place() {
            write!(f, "\n  at {place}")?;
        }
        if let Some(field) = self.field() {
            write!(f, "\n  in field '{field}'")?;
        }
        for link in &self.chain {
            write!(f, "\n  {}", link.text)?;
        }
        for hint in &self.hints {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}

/// The fault that made a request fail.
#[derive(Clone, Debug)]
pub struct Error(Box<Diagnostic>);

impl Deref for Error {
    type Target = Diagnostic;

    fn deref(&self) -> &Diagnostic {
        &self.0
    }
}

impl Error {
    /// A fault, in one sentence.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Error(Box::new(Diagnostic::new(Severity::Error, code, message.into())))
    }

    /// A fault of a file's content that has no code of its own.
    pub fn input(message: impl Into<String>) -> Self {
        Error::new(Code::Input, message)
    }

    /// A fault that the system has reported for a file or directory: its kind decides the code.
    pub fn io(fault: &io::Error, message: impl Into<String>) -> Self {
        Error::new(Code::of(fault), message)
    }

    /// Sets a more exact code.
    #[must_use]
    pub fn with_code(mut self, code: Code) -> Self {
        self.0.code = code;
        self
    }

    /// Adds the spot of the fault, unless a more exact spot is known already.
    #[must_use]
    pub fn at(mut self, spot: impl Into<Spot>) -> Self {
        self.0.at(spot.into());
        self
    }

    /// Adds the name of the field that encloses the fields added so far.
    #[must_use]
    pub fn in_field(mut self, name: impl Into<String>) -> Self {
        self.0.field.push(name.into());
        self
    }

    /// Adds the id of the faulty resource, unless an id is known already.
    #[must_use]
    pub fn in_resource(mut self, id: impl fmt::Display) -> Self {
        self.0.resource.get_or_insert_with(|| id.to_string());
        self
    }

    /// Turns positions into file, line and column. O(size of their sources).
    #[must_use]
    pub fn located(mut self, heap: &Heap) -> Self {
        self.0.locate(heap);
        self
    }

    /// Replaces a path in all texts and places, as that of a private copy by the one that the user
    /// knows.
    #[must_use]
    pub fn with_path(mut self, path: &str, known: &str) -> Self {
        let diagnostic = &mut *self.0;
        let links = diagnostic.chain.iter_mut().map(|link| (&mut link.text, &mut link.spot));
        let (texts, spots): (Vec<&mut String>, Vec<&mut Spot>) = links.unzip();
        for text in texts.into_iter().chain([&mut diagnostic.message]).chain(&mut diagnostic.hints) {
            *text = text.replace(path, known);
        }
        for spot in spots.into_iter().chain([&mut diagnostic.spot]) {
            if let Spot::Place(place) = spot {
                place.file = place.file.replace(path, known);
            }
        }
        self
    }

    /// Adds a link to the chain that led here, innermost first. An empty text adds nothing.
    #[must_use]
    pub fn context(self, link: impl Into<String>) -> Self {
        self.through(Spot::Unknown, link)
    }

    /// As [`Error::context`], for a link with the spot of an entry. If the spot of the fault is not
    /// known yet, it becomes that of the entry.
    #[must_use]
    pub fn through(mut self, entry: impl Into<Spot>, link: impl Into<String>) -> Self {
        let (spot, text) = (entry.into(), link.into());
        self.0.at(spot.clone());
        if !text.is_empty() {
            self.0.chain.push(Link { text, spot });
        }
        self
    }

    /// Puts words in front of the message.
    #[must_use]
    pub fn prefixed(mut self, words: &str) -> Self {
        self.0.message.insert_str(0, words);
        self
    }

    /// Adds a suggestion for the user.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hints.push(hint.into());
        self
    }

    /// The message and the place of the fault, without the chain that led there: the same text on
    /// every way to the fault.
    pub fn fault(&self) -> String {
        let place = self.place().map(|place| format!("\n  at {place}"));
        format!("{}{}", self.message, place.unwrap_or_default())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Error {}

/// A text that is not valid YAML, or that JSON cannot express.
impl From<Malformed> for Error {
    fn from(fault: Malformed) -> Self {
        let advice = advice::on_yaml(&fault.message);
        Error::new(Code::NotYaml, fault.message).at(fault.pos).hint(advice)
    }
}

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

impl Warning {
    /// A warning, in one sentence.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Warning(Box::new(Diagnostic::new(Severity::Warning, code, message.into())))
    }

    /// The position of a warning that is not [`located`](Warning::located) yet.
    pub(crate) fn pos(&self) -> Option<Pos> {
        match self.0.spot {
            Spot::Pos(pos) => Some(pos),
            Spot::Unknown | Spot::Place(_) => None,
        }
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

    /// As [`Error::hint`].
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hints.push(hint.into());
        self
    }

    /// The same as an error, for commands that take no warnings.
    #[must_use]
    pub fn into_error(mut self) -> Error {
        self.0.severity = Severity::Error;
        Error(self.0)
    }

    /// As [`Error::located`].
    #[must_use]
    pub fn located(mut self, heap: &Heap) -> Self {
        self.0.locate(heap);
        self
    }
}

/// Prints only the message: most warnings have kustomize's own text, which names no place.
impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The name among `known` that a mistyped name most likely stands for.
pub fn nearest<'n>(typed: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let typed = typed.to_lowercase();
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&typed, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= 1 + name.len() / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}
