//! [`Diagnostic`]: an error or a warning as data: code, message, place, resource, field, the steps
//! of the build that led there, and hints for the user.
//!
//! An [`Error`] ends a request; a [`Warning`] is returned beside its result.

mod excerpt;

pub use excerpt::Excerpt;

use crate::yaml::{Heap, Malformed, Place, Pos};
use std::fmt;
use std::ops::Deref;

/// The result of everything that can fail on what a user gave us.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Whether a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The request failed.
    Error,
    /// The request succeeded, and the user should know something about it.
    Warning,
}

/// The subject of a diagnostic, for programs. The command exits with 1 for every error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// The command line asks for something that is not there.
    Usage,
    /// A file holds something that cannot be built.
    Input,
    /// A text is not valid YAML, or a tree cannot be written as YAML or JSON.
    Yaml,
    /// A field is unknown, or its value has another type.
    Field,
    /// Two resources have one id.
    Duplicate,
    /// No resource matches a patch or another entry.
    NoMatch,
    /// A file cannot be read or written.
    Io,
    /// A server has no such file.
    Absent,
    /// A remote part is not in the lock, or only the network has it and the build is offline.
    NotFetched,
    /// A plugin failed, did what a plugin must not do, or has something to say.
    Plugin,
    /// A field or flag still works and should be replaced by another one.
    Deprecated,
    /// A field or flag has no effect.
    Unused,
    /// A finding: an entry of a kustomization has changed nothing.
    NoEffect,
    /// A finding: a kind is a kind of Kubernetes in other upper and lower case letters.
    KindCase,
    /// A finding: a key is given twice in one mapping of a kustomization.
    DuplicateKey,
    /// A finding: a kustomization file has documents that kustomize does not read.
    ExtraDocument,
    /// A finding: a value in the `data` of a Secret is not base64.
    BadBase64,
    /// A finding: Kubernetes refuses the name of a resource.
    BadName,
    /// A finding: the selector of a workload does not match the labels of its own pods.
    SelectorMismatch,
}

impl Code {
    /// The codes of findings, which [`crate::Options::lint`] asks for.
    pub const FINDINGS: [Code; 8] = [
        Code::BadBase64,
        Code::BadName,
        Code::Deprecated,
        Code::DuplicateKey,
        Code::ExtraDocument,
        Code::KindCase,
        Code::NoEffect,
        Code::SelectorMismatch,
    ];

    /// The word for the code, which stays the same from version to version.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::Usage => "usage",
            Code::Input => "input",
            Code::Yaml => "yaml",
            Code::Field => "field",
            Code::Duplicate => "duplicate",
            Code::NoMatch => "no-match",
            Code::Io => "io",
            Code::Absent => "absent",
            Code::NotFetched => "not-fetched",
            Code::Plugin => "plugin",
            Code::Deprecated => "deprecated",
            Code::Unused => "unused",
            Code::NoEffect => "no-effect",
            Code::KindCase => "kind-case",
            Code::DuplicateKey => "duplicate-key",
            Code::ExtraDocument => "extra-document",
            Code::BadBase64 => "bad-base64",
            Code::BadName => "bad-name",
            Code::SelectorMismatch => "selector-mismatch",
        }
    }
}

/// A value, and the warnings that came up on the way to it, in order.
#[derive(Debug)]
pub struct Warned<T> {
    pub value: T,
    pub warnings: Vec<Warning>,
}

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

/// The fault that ended what was asked for.
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

    /// A fault of a file's content.
    pub fn input(message: impl Into<String>) -> Self {
        Error::new(Code::Input, message)
    }

    /// Sets a more exact code.
    #[must_use]
    pub fn with_code(mut self, code: Code) -> Self {
        self.0.code = code;
        self
    }

    /// Adds where the fault is, unless a more exact place is known already.
    #[must_use]
    pub fn at(mut self, spot: impl Into<Spot>) -> Self {
        self.0.at(spot.into());
        self
    }

    /// Adds the name of the field that holds what was looked at so far.
    #[must_use]
    pub fn in_field(mut self, name: impl Into<String>) -> Self {
        self.0.field.push(name.into());
        self
    }

    /// Adds the id of the resource that was looked at, unless that of another one is known already.
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

    /// Adds one link of the chain that led here, innermost first; an empty text is none.
    #[must_use]
    pub fn context(self, link: impl Into<String>) -> Self {
        self.through(Spot::Unknown, link)
    }

    /// As [`Error::context`], of an entry at a place. Where the place of the fault is not known, it
    /// is that of the entry.
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
        format!("{}{}", self.message, place.unwrap_or_default())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Error {}

/// A text that is no YAML, or that has no form in JSON.
impl From<Malformed> for Error {
    fn from(fault: Malformed) -> Self {
        Error::new(Code::Yaml, fault.message).at(fault.pos)
    }
}

/// Something the user should know although the build goes on. The library returns them; only the
/// command prints.
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

    /// Adds what the user can do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hints.push(hint.into());
        self
    }

    /// Adds the id of the resource that the warning is about.
    #[must_use]
    pub fn in_resource(mut self, id: impl fmt::Display) -> Self {
        self.0.resource.get_or_insert_with(|| id.to_string());
        self
    }

    /// The position of a warning that is not [`located`](Warning::located) yet.
    pub(crate) fn pos(&self) -> Option<Pos> {
        match self.0.spot {
            Spot::Pos(pos) => Some(pos),
            Spot::Unknown | Spot::Place(_) => None,
        }
    }

    /// Adds what the warning is about.
    #[must_use]
    pub fn at(mut self, spot: impl Into<Spot>) -> Self {
        self.0.at(spot.into());
        self
    }

    /// As [`Error::located`].
    #[must_use]
    pub fn located(mut self, heap: &Heap) -> Self {
        self.0.locate(heap);
        self
    }
}

/// Prints the message alone: most warnings have kustomize's own text, which names no place.
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
