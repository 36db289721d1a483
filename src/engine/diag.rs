//! [`Diagnostic`]: an error or a warning as data: code, message, place, resource, field, the steps
//! of the build that led there, and hints for the user.
//!
//! An [`Error`] ends a request, and has all faults that the last phase has found. A phase that
//! continues after a fault notes its faults in [`Errors`]. A [`Warning`] is returned beside the
//! result.

mod advice;
pub mod allow;
pub mod cause;
mod code;
mod excerpt;
mod near;
mod parts;
mod warning;

pub use code::Code;
pub use excerpt::Excerpt;
pub use near::{is_encrypted, is_placeholder, nearest, nearest_ones};
pub use parts::{FurtherResources, Mend, NameReference};
pub use warning::Warning;

use excerpt::Excerpts;
use rustomize_base::memory::Spent;
use rustomize_yaml::places::Places;
use rustomize_yaml::{Heap, Malformed, Place, Pos};
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

    fn located(self, places: &Places<'_>) -> Spot {
        match self {
            Spot::Pos(pos) => places.place(pos).into(),
            known => known,
        }
    }

    fn place(&self) -> Option<&Place> {
        match self {
            Spot::Place(place) => Some(place),
            Spot::Unknown | Spot::Pos(_) => None,
        }
    }

    fn pos(&self) -> Option<Pos> {
        match self {
            Spot::Pos(pos) => Some(*pos),
            Spot::Unknown | Spot::Place(_) => None,
        }
    }
}

/// The places and the lines of many faults.
struct Located<'h> {
    places: Places<'h>,
    excerpts: Excerpts,
}

impl<'h> Located<'h> {
    fn of(heap: &'h Heap) -> Self {
        Located { places: Places::new(heap), excerpts: Excerpts::default() }
    }
}

impl From<Pos> for Spot {
    /// A node that a build step has made lacks a position in a source text: its spot is unknown.
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
    further: FurtherResources,
    chain: Vec<Link>,
    hints: Vec<String>,
    mend: Option<Mend>,
    /// True if the line of the fault may have a secret, and is not shown.
    hides_line: bool,
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
        let (mend, hides_line) = (None, false);
        let further = FurtherResources::default();
        Diagnostic { severity, code, message, spot, excerpt, field, resource, further, chain, hints, mend, hides_line }
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

    /// Further resources of the same build that the message is about.
    pub fn further(&self) -> &FurtherResources {
        &self.further
    }

    /// The steps of the build that led to the fault, innermost first.
    pub fn chain(&self) -> &[Link] {
        &self.chain
    }

    /// Suggestions for the user.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }

    /// The change that mends the fault, where it is sure.
    pub fn mend(&self) -> Option<&Mend> {
        self.mend.as_ref()
    }

    /// True if the line of the fault may have a secret.
    pub fn hides_line(&self) -> bool {
        self.hides_line
    }

    /// Takes the advice for a mistake that the line of the fault shows. O(length of the line).
    fn advise(&mut self, text: &str, offset: usize) {
        let Some(excerpt) = &self.excerpt else { return };
        let before = &text[..text.floor_char_boundary(offset)];
        let above = before.lines().rev().nth(usize::from(!before.ends_with('\n'))).unwrap_or_default();
        let above = if above.len() > Excerpt::LONG { "" } else { above };
        let fault = advice::Fault { message: &self.message, line: excerpt.line(), above };
        if let Some((message, advice)) = advice::on_line(&fault) {
            self.hints = vec![advice];
            if let Some(message) = message {
                message.clone_into(&mut self.message);
            }
        }
    }

    /// The cause of an error, if it is another one than the reader has seen: see [`cause`].
    fn cause(&self, text: &str, offset: usize) -> Option<cause::Cause> {
        match (self.severity, self.code) {
            (Severity::Error, Code::NotYaml | Code::NotAResource) => cause::of_fault(text, offset),
            (Severity::Error, Code::UnknownField) => cause::of_key(text, offset),
            _ => None,
        }
    }

    /// True if another fault says the same about the same spot.
    fn is_same(&self, other: &Diagnostic) -> bool {
        let spot = |fault: &Diagnostic| (fault.spot.pos(), fault.place().cloned());
        self.message == other.message && spot(self) == spot(other)
    }

    /// As [`Error::with_path`].
    fn rename(&mut self, path: &str, known: &str) {
        let links = self.chain.iter_mut().map(|link| (&mut link.text, &mut link.spot));
        let (texts, spots): (Vec<&mut String>, Vec<&mut Spot>) = links.unzip();
        for text in texts.into_iter().chain([&mut self.message]).chain(&mut self.hints) {
            *text = text.replace(path, known);
        }
        for spot in spots.into_iter().chain([&mut self.spot]) {
            if let Spot::Place(place) = spot {
                place.file = place.file.replace(path, known);
            }
        }
    }

    fn at(&mut self, spot: Spot) {
        self.spot = std::mem::take(&mut self.spot).or(spot);
    }

    fn locate(&mut self, Located { places, excerpts }: &mut Located<'_>) {
        if let Spot::Pos(pos) = self.spot
            && !self.hides_line
            && let Some((source, offset)) = places.heap().outermost(pos)
        {
            let cause = self.cause(&source.text, offset);
            let offset = cause.as_ref().map_or(offset, |cause| cause.at);
            self.excerpt = excerpts.of(source, offset);
            if let Some(cause) = cause {
                (self.message, self.hints) = (cause.message, vec![cause.hint]);
                self.spot = source.pos(offset).into();
            } else if matches!(self.code, Code::NotYaml | Code::WrongType | Code::BadOutput) {
                // A template in a value that YAML can read is not the fault.
                self.advise(&source.text, offset);
            }
        }
        let spots = self.chain.iter_mut().map(|link| &mut link.spot).chain([&mut self.spot]);
        spots.for_each(|spot| *spot = std::mem::take(spot).located(places));
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

/// The faults that made a request fail. It derefs to the first one.
#[derive(Clone, Debug)]
pub struct Error(Box<Faults>);

#[derive(Clone, Debug)]
struct Faults {
    first: Diagnostic,
    others: Vec<Diagnostic>,
    left_out: usize,
}

impl Deref for Error {
    type Target = Diagnostic;

    fn deref(&self) -> &Diagnostic {
        &self.0.first
    }
}

impl Error {
    /// So many faults are kept; further ones are only counted.
    pub const MOST: usize = 20;

    fn of(first: Diagnostic) -> Self {
        Error(Box::new(Faults { first, others: Vec::new(), left_out: 0 }))
    }

    /// All faults that are kept, the first one first.
    pub fn faults(&self) -> impl Iterator<Item = &Diagnostic> {
        std::iter::once(&self.0.first).chain(&self.0.others)
    }

    /// The number of faults that are not kept.
    pub fn left_out(&self) -> usize {
        self.0.left_out
    }

    /// This error with the faults of another one behind its own. A fault is left out that this
    /// error has already, at the same spot.
    #[must_use]
    pub fn and(mut self, other: Error) -> Self {
        let Faults { first, others, left_out } = *other.0;
        self.0.left_out += left_out;
        for fault in std::iter::once(first).chain(others) {
            if self.faults().any(|known| known.is_same(&fault)) {
                continue;
            }
            match self.0.others.len() + 1 < Error::MOST {
                true => self.0.others.push(fault),
                false => self.0.left_out += 1,
            }
        }
        self
    }

    /// This error with its faults in the order of their positions.
    #[must_use]
    pub fn in_order(mut self) -> Self {
        if !self.0.others.is_empty() {
            let Faults { first, others, left_out } = *self.0;
            let mut faults: Vec<Diagnostic> = std::iter::once(first).chain(others).collect();
            faults.sort_by_key(|fault| fault.spot.pos().map_or(u32::MAX, |pos| pos.0));
            let first = faults.remove(0);
            self.0 = Box::new(Faults { first, others: faults, left_out });
        }
        self
    }

    /// Changes each fault.
    fn each(mut self, mut change: impl FnMut(&mut Diagnostic)) -> Self {
        change(&mut self.0.first);
        self.0.others.iter_mut().for_each(change);
        self
    }

    /// A fault, in one sentence.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Error::of(Diagnostic::new(Severity::Error, code, message.into()))
    }

    /// A fault of a file's content without a code of its own.
    pub fn input(message: impl Into<String>) -> Self {
        Error::new(Code::Input, message)
    }

    /// A fault that the system has reported for a file or directory: its kind decides the code.
    pub fn io(fault: &io::Error, message: impl Into<String>) -> Self {
        Error::new(Code::of(fault), message)
    }

    /// Sets a more exact code.
    #[must_use]
    pub fn with_code(self, code: Code) -> Self {
        self.each(|fault| fault.code = code)
    }

    /// Adds the spot of the fault, unless a more exact spot is known already.
    #[must_use]
    pub fn at(self, spot: impl Into<Spot>) -> Self {
        let spot = spot.into();
        self.each(|fault| fault.at(spot.clone()))
    }

    /// Adds the name of the field that encloses the fields added so far.
    #[must_use]
    pub fn in_field(self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.each(|fault| fault.field.push(name.clone()))
    }

    /// Adds the id of the faulty resource, unless an id is known already.
    #[must_use]
    pub fn in_resource(self, id: impl fmt::Display) -> Self {
        self.each(|fault| {
            fault.resource.get_or_insert_with(|| id.to_string());
        })
    }

    /// Turns positions into file, line and column. O(size of their sources + faults).
    #[must_use]
    pub fn located(self, heap: &Heap) -> Self {
        let mut located = Located::of(heap);
        self.each(|fault| fault.locate(&mut located))
    }

    /// Replaces a path in all texts and places, as that of a private copy by the one that the user
    /// knows.
    #[must_use]
    pub fn with_path(self, path: &str, known: &str) -> Self {
        self.each(|fault| fault.rename(path, known))
    }

    /// Adds the lines of faults that have none; `read` gives the text of a file. O(their size).
    #[must_use]
    pub fn with_excerpts(self, read: impl Fn(&str) -> Option<String>) -> Self {
        self.each(|fault| {
            if let Some(place) = fault.place().filter(|_| fault.excerpt.is_none() && !fault.hides_line)
                && let Some(text) = read(&place.file)
            {
                fault.excerpt = Excerpt::of(&text, excerpt::offset_of(&text, place));
            }
        })
    }

    /// Gives the files of all places other names, as for a user in another directory.
    #[must_use]
    pub fn with_files(self, name: impl Fn(&str) -> String) -> Self {
        self.each(|fault| {
            for spot in fault.chain.iter_mut().map(|link| &mut link.spot).chain([&mut fault.spot]) {
                if let Spot::Place(place) = spot {
                    place.file = name(&place.file);
                }
            }
        })
    }

    /// Adds a link to the chain that led here, innermost first. An empty text adds nothing.
    #[must_use]
    pub fn context(self, link: impl Into<String>) -> Self {
        self.through(Spot::Unknown, link)
    }

    /// As [`Error::context`], for a link with the spot of an entry. If the spot of the fault is not
    /// known yet, it becomes that of the entry.
    #[must_use]
    pub fn through(self, entry: impl Into<Spot>, link: impl Into<String>) -> Self {
        let (spot, text) = (entry.into(), link.into());
        self.each(|fault| {
            fault.at(spot.clone());
            if !text.is_empty() {
                fault.chain.push(Link { text: text.clone(), spot: spot.clone() });
            }
        })
    }

    /// Puts words in front of the message.
    #[must_use]
    pub fn prefixed(self, words: &str) -> Self {
        self.each(|fault| fault.message.insert_str(0, words))
    }

    /// Replaces the suggestions of each fault for which `advice` has a better one.
    #[must_use]
    pub fn advised(self, advice: impl Fn(&Diagnostic) -> Option<String>) -> Self {
        self.each(|fault| {
            if let Some(better) = advice(fault) {
                fault.hints = vec![better];
            }
        })
    }

    /// Adds a suggestion for the user.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        let hint = hint.into();
        self.each(|fault| fault.hints.push(hint.clone()))
    }

    /// The messages and the places of all faults, without the chain that led there: the same text
    /// on every way to the fault.
    pub fn fault(&self) -> String {
        let one = |fault: &Diagnostic| {
            let place = fault.place().map(|place| format!("\n  at {place}"));
            format!("{}{}", fault.message, place.unwrap_or_default())
        };
        self.faults().map(one).collect::<Vec<_>>().join("\n")
    }
}

/// Prints each fault, with an empty line between two.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.first.fmt(f)?;
        self.0.others.iter().try_for_each(|fault| write!(f, "\n\n{fault}"))?;
        match self.0.left_out {
            0 => Ok(()),
            count => write!(f, "\n\nand {count} more errors"),
        }
    }
}

impl std::error::Error for Error {}

/// The faults of a phase that continues after each fault.
#[derive(Debug, Default)]
pub struct Errors(Option<Error>);

impl Errors {
    /// Returns the value of a result, or notes its faults.
    pub fn note<T>(&mut self, result: Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.0 = Some(match self.0.take() {
                    Some(known) => known.and(error),
                    None => error,
                });
                None
            }
        }
    }

    /// True if no fault was noted.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Ends the phase: returns `value`, or the faults.
    ///
    /// # Errors
    /// The faults, if some were noted.
    pub fn end<T>(self, value: T) -> Result<T> {
        self.0.map_or(Ok(value), Err)
    }
}

/// A text that is not valid YAML, or that JSON cannot express.
impl From<Malformed> for Error {
    fn from(fault: Malformed) -> Self {
        let advice = advice::on_yaml(&fault.message);
        let error = Error::new(Code::NotYaml, fault.message).at(fault.pos);
        match advice {
            Some(advice) => error.hint(advice),
            None => error,
        }
    }
}

/// The steps of a build make more than they may.
impl From<Spent> for Error {
    fn from(Spent { limit }: Spent) -> Self {
        let message = format!("the steps of the build make more than {limit} bytes of texts, copies and output");
        Error::new(Code::TooLarge, message).hint("--build-size-limit sets the limit")
    }
}
