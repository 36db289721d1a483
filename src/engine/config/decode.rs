//! From nodes to typed configuration, with the leniencies of upstream's decoder: kustomization
//! files are YAML 1.1 that becomes JSON that is decoded strictly.
//!
//! A type's fields are one table, `(name, &mut field)`, which `#[derive(Decode)]` writes. Field
//! names match without regard to case; unknown fields are errors with a place and the nearest
//! known name.

use crate::diag::{Code, Error, Errors, Result, nearest_ones};
use indexmap::IndexMap;
use rustomize_yaml::scalar::{self, Int, Kind, on_one_line};
use rustomize_yaml::{Arena, Heap, Key, Node, Pos, Scalar, Style, Tag, Value, first_document, reprint};
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

/// Labels, annotations and other free maps of strings, in bytewise order of their keys.
pub type StringMap<'a> = IndexMap<&'a str, &'a str>;

/// As [`StringMap`], with the place of each value.
pub type WrittenMap<'a> = IndexMap<&'a str, Written<'a>>;

/// The fields of an object that were given and are not null, and their places.
#[derive(Clone, Debug, Default)]
pub struct Given(Vec<(&'static str, Pos)>);

impl Given {
    /// The names, in bytewise order of the keys.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|(name, _)| *name)
    }

    /// The place of a field's key, if the field was given.
    pub fn pos(&self, name: &str) -> Option<Pos> {
        self.0.iter().find(|(given, _)| *given == name).map(|(_, pos)| *pos)
    }
}

/// A text that a user has written, and its place. It derefs to the text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Written<'a> {
    pub text: &'a str,
    pub pos: Pos,
}

/// A text that no user has written: it has no place.
impl<'a> From<&'a str> for Written<'a> {
    fn from(text: &'a str) -> Self {
        Written { text, pos: Pos::NONE }
    }
}

impl Deref for Written<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        self.text
    }
}

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}

/// A value that can be read from a node. Reading into a value that was set already merges, as Go's
/// JSON decoder does for a field that is given in two spellings.
pub trait Decode<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()>;
}

/// The settings of a decoder.
#[derive(Clone, Copy)]
pub struct Decoder<'a> {
    pub arena: Arena<'a>,
    /// True if unknown fields are errors, as in kustomization files. In the configuration objects
    /// of built-ins, and in the files that these read, unknown fields are ignored.
    pub strict: bool,
    /// True if numbers and booleans are accepted where a text is expected.
    converts: bool,
    /// True if types are those of YAML 1.1, where `yes` is a boolean. Configuration objects are
    /// resources, which are YAML 1.2.
    is_yaml_1_1: bool,
    /// True if texts become JSON that is read as YAML: see [`ForBuiltin`].
    through_json: bool,
    /// True if a key that a mapping has twice is an error, as in files of `configurations`.
    /// Elsewhere the last entry counts.
    refuses_repeated: bool,
}

/// A field of a kustomization that upstream passes to a built-in as JSON, which the built-in reads
/// as YAML. Only in such fields control characters are refused.
pub struct ForBuiltin<'f, T>(pub &'f mut T);

impl<'a, T: Decode<'a>> Decode<'a> for ForBuiltin<'_, T> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        self.0.decode(node, &Decoder { through_json: true, ..*cx })
    }
}

/// A text as a built-in gets it: see [`ForBuiltin`].
///
/// # Errors
/// The text has a control character.
pub fn for_builtin<'a>(arena: Arena<'a>, text: &'a str) -> Result<&'a str> {
    let fault = |message| Error::new(Code::NotYaml, message).hint("remove the character");
    match reprint::read_json(text).map_err(fault)? {
        Cow::Owned(text) => Ok(arena.text(&text)),
        Cow::Borrowed(_) => Ok(text),
    }
}

/// Reads a file that no build reads, with memory of its own: `read` gets the first document, if the
/// file has one. Errors call the file `name`.
///
/// # Errors
/// The text is not valid YAML, or `read` fails.
pub fn read_alone<T>(
    name: impl Into<String>,
    text: String,
    read: impl for<'a> FnOnce(Arena<'a>, Option<&Node<'a>>) -> Result<T>,
) -> Result<T> {
    let heap = Heap::new();
    let arena = heap.arena();
    let document = first_document(arena, arena.add_source(name, text)).map_err(Error::from);
    document.and_then(|node| read(arena, node.as_ref())).map_err(|e| e.located(&heap))
}

/// How many characters of a value an error shows.
const MOST_SHOWN: usize = 200;

/// The beginning of a value, for errors.
fn clipped(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MOST_SHOWN) {
        None => text.into(),
        Some((end, _)) => format!("{}...", &text[..end]).into(),
    }
}

/// A field in the table that [`Decoder::object`] reads a mapping with.
type FieldEntry<'f, 'a> = (&'static str, &'f mut dyn Decode<'a>);

/// The entries of a table that are known, in their order.
pub fn known<'t, 'f, 'a, const N: usize>(
    table: &'t mut [FieldEntry<'f, 'a>; N],
    is_known: [bool; N],
) -> &'t mut [FieldEntry<'f, 'a>] {
    let mut count = 0;
    for (i, _) in is_known.into_iter().enumerate().filter(|(_, is_known)| *is_known) {
        table.swap(count, i);
        count += 1;
    }
    table.split_at_mut(count).0
}

impl<'a> Decoder<'a> {
    /// The settings for kustomization files.
    pub fn strict(arena: Arena<'a>) -> Self {
        Decoder {
            arena,
            strict: true,
            converts: false,
            is_yaml_1_1: true,
            through_json: false,
            refuses_repeated: false,
        }
    }

    /// The settings for files of `configurations`: of all files, kustomize refuses repeated keys in
    /// these alone.
    pub fn of_configuration(arena: Arena<'a>) -> Self {
        Decoder { refuses_repeated: true, ..Decoder::strict(arena) }
    }

    /// The settings for the configuration objects of built-ins.
    pub fn lenient(arena: Arena<'a>) -> Self {
        Decoder {
            arena,
            strict: false,
            converts: true,
            is_yaml_1_1: false,
            through_json: false,
            refuses_repeated: false,
        }
    }

    /// The settings for the parts of configuration objects that upstream decodes in a separate
    /// step, without a conversion before it.
    pub fn unconverted(arena: Arena<'a>) -> Self {
        Decoder {
            arena,
            strict: false,
            converts: false,
            is_yaml_1_1: false,
            through_json: false,
            refuses_repeated: false,
        }
    }

    /// The settings for the files that built-ins read.
    pub fn of_file(arena: Arena<'a>) -> Self {
        Decoder {
            arena,
            strict: false,
            converts: true,
            is_yaml_1_1: true,
            through_json: false,
            refuses_repeated: false,
        }
    }

    /// An error at the place of a node.
    pub fn error(&self, pos: Pos, message: impl Into<String>) -> Error {
        Error::new(Code::WrongType, message).at(pos)
    }

    fn mismatch(&self, wanted: &str, node: &Node<'_>) -> Error {
        let found = match node.value() {
            Value::Scalar(s) => format!("{} ({})", self.kind(s).word(), clipped(s.text())),
            _ => node.shape().to_owned(),
        };
        let error = self.error(node.pos(), format!("expected {wanted}, found {found}"));
        let is_scalar = node.as_scalar().is_some();
        let lines = "write each item in a line of its own, with '- ' in front of it";
        let item = node.as_scalar().map(|s| s.text()).filter(|text| !text.contains(char::is_whitespace));
        if let (Some(item), "a list") = (item, wanted) {
            return error.hint(format!("{lines}, or write [{}]", on_one_line(&clipped(item))));
        }
        error.hint(match wanted {
            "a string" if is_scalar => "put quotes around it",
            "a string" => "write one text here",
            "a list" => lines,
            "true or false" => "write true or false, without quotes",
            "an integer" => "write a whole number, without quotes",
            _ => "write lines of 'name: value' here, indented below their field",
        })
    }

    /// Reads a mapping into its fields. Returns the fields that were given and are not null.
    ///
    /// # Errors
    /// The node is not a mapping; or all fields that are unknown or repeated where that is refused,
    /// and all values that do not fit their fields.
    pub fn object(&self, node: &Node<'a>, fields: &mut [FieldEntry<'_, 'a>]) -> Result<Given> {
        let Value::Mapping(mapping) = node.value() else {
            return if node.is_null() { Ok(Given::default()) } else { Err(self.mismatch("a mapping", node)) };
        };
        let (mut given, mut errors) = (Given::default(), Errors::default());
        let mut entries: Vec<_> = mapping.iter().collect();
        entries.sort_by_key(|e| e.key().text());
        for (i, entry) in entries.iter().enumerate() {
            let repeated = entries.get(i + 1).map(|next| next.key()).filter(|key| key.text() == entry.key().text());
            if let Some(key) = repeated {
                if self.refuses_repeated {
                    let message = format!("key \"{}\" already set in map", key.text());
                    let error = self.error(key.pos(), message).with_code(Code::DuplicateKey);
                    errors.note::<()>(Err(error.hint("remove one of the two entries")));
                }
                continue;
            }
            let is_field = |name: &str| name.eq_ignore_ascii_case(entry.key().text());
            let Some((name, field)) = fields.iter_mut().find(|(name, _)| is_field(name)) else {
                if self.strict {
                    let unknown = self.unknown_field(entry.key(), fields.iter().map(|(name, _)| *name));
                    errors.note::<()>(Err(unknown));
                }
                continue;
            };
            errors.note(field.decode(entry.value(), self).map_err(|e| e.in_field(*name)));
            if !entry.value().is_null() {
                given.0.push((name, entry.key().pos()));
            }
        }
        errors.end(given).map_err(Error::in_order)
    }

    fn unknown_field<'n>(&self, key: &Key<'_>, known: impl Iterator<Item = &'n str> + Clone) -> Error {
        let error = self.error(key.pos(), format!("unknown field \"{}\"", key.text())).with_code(Code::UnknownField);
        match nearest_ones(key.text(), known.clone())[..] {
            [] => error.hint(format!("the fields here are: {}", known.collect::<Vec<_>>().join(", "))),
            [one, other] => error.hint(format!("did you mean '{one}' or '{other}'?")),
            [one, ..] => error.hint(format!("did you mean '{one}'?")),
        }
    }

    /// The type of a scalar, in the YAML version of the file.
    fn kind(&self, scalar: &Scalar<'_>) -> Kind {
        let kind = if self.is_yaml_1_1 && scalar.tag() == Tag::Auto && scalar.style() == Style::Plain {
            scalar::resolve_v2(scalar.text())
        } else {
            scalar.kind()
        };
        if kind == Kind::Timestamp { Kind::Str } else { kind }
    }

    /// The text of a key of a free map: a boolean or number key becomes its canonical text.
    fn key(&self, key: &Key<'a>) -> Result<&'a str> {
        match self.kind(&key.as_scalar()) {
            Kind::Null => Err(self.error(key.pos(), "a key is null")),
            kind => {
                if self.through_json {
                    reprint::check_json_key(key.text()).map_err(|message| self.error(key.pos(), message))?;
                }
                Ok(self.canonical(kind, key.text(), scalar::go_number_32))
            }
        }
    }

    /// The text of a string.
    fn text(&self, text: &'a str, pos: Pos) -> Result<&'a str> {
        match self.through_json {
            true => for_builtin(self.arena, text).map_err(|e| e.at(pos)),
            false => Ok(text),
        }
    }

    /// The text of a value of some type after its conversion to a string; `number` makes that of a
    /// number with a fraction.
    fn canonical(&self, kind: Kind, text: &'a str, number: fn(f64) -> String) -> &'a str {
        match kind {
            Kind::Bool if scalar::truth(text) => "true",
            Kind::Bool => "false",
            Kind::Int => match scalar::int(text) {
                Some(n) => self.arena.text(&n.to_string()),
                None => text,
            },
            Kind::Float => scalar::float(text).map_or(text, |f| self.arena.text(&number(f))),
            _ => text,
        }
    }
}

impl<'a> Decode<'a> for &'a str {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        let Some(s) = node.as_scalar() else {
            return Err(cx.mismatch("a string", node));
        };
        match cx.kind(s) {
            Kind::Null => Ok(()),
            Kind::Str | Kind::Binary | Kind::Timestamp => {
                *self = cx.text(s.text(), node.pos())?;
                Ok(())
            }
            _ if !cx.converts => Err(cx.mismatch("a string", node)),
            kind => {
                *self = cx.canonical(kind, s.text(), scalar::go_string_32);
                Ok(())
            }
        }
    }
}

impl<'a> Decode<'a> for Written<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        self.pos = node.pos();
        self.text.decode(node, cx)
    }
}

impl<'a> Decode<'a> for bool {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        let Some(s) = node.as_scalar() else {
            return Err(cx.mismatch("true or false", node));
        };
        match cx.kind(s) {
            Kind::Null => Ok(()),
            Kind::Bool => {
                *self = scalar::truth(s.text());
                Ok(())
            }
            _ => Err(cx.mismatch("true or false", node)),
        }
    }
}

impl<'a> Decode<'a> for i64 {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        if node.is_null() {
            return Ok(());
        }
        let integer = |s: &Scalar<'_>| match cx.kind(s) {
            Kind::Int => match scalar::int(s.text()) {
                Some(Int::Signed(n)) => Some(n),
                _ => None,
            },
            // Upstream reads the number from JSON, where 5.0 is written as 5.
            Kind::Float => scalar::json_number(scalar::float(s.text())?).parse().ok(),
            _ => None,
        };
        match node.as_scalar().and_then(integer) {
            Some(n) => {
                *self = n;
                Ok(())
            }
            _ => Err(cx.mismatch("an integer", node)),
        }
    }
}

impl<'a, T: Decode<'a> + Default> Decode<'a> for Option<T> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        if node.is_null() {
            *self = None;
            return Ok(());
        }
        self.get_or_insert_default().decode(node, cx)
    }
}

impl<'a, T: Decode<'a> + Default> Decode<'a> for Vec<T> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        let Value::Sequence(items) = node.value() else {
            if node.is_null() {
                self.clear();
                return Ok(());
            }
            return Err(cx.mismatch("a list", node));
        };
        self.resize_with(items.len(), T::default);
        let mut errors = Errors::default();
        self.iter_mut().zip(items.iter()).for_each(|(into, item)| {
            errors.note(into.decode(item, cx));
        });
        errors.end(())
    }
}

/// A mapping with any keys.
impl<'a, T: MapValue<'a>> Decode<'a> for IndexMap<&'a str, T> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        let Value::Mapping(mapping) = node.value() else {
            return if node.is_null() { Ok(()) } else { Err(cx.mismatch(T::MAPPING, node)) };
        };
        let mut errors = Errors::default();
        for entry in mapping.iter() {
            let Some(key) = errors.note(cx.key(entry.key())) else { continue };
            let mut value = T::default();
            errors.note(value.decode(entry.value(), cx).map_err(|e| e.in_field(key)));
            self.insert(key, value);
        }
        self.sort_unstable_keys();
        errors.end(())
    }
}

/// A value in a mapping with any keys.
pub trait MapValue<'a>: Decode<'a> + Default {
    /// The mapping, for errors.
    const MAPPING: &'static str;
}

impl<'a> MapValue<'a> for &'a str {
    const MAPPING: &'static str = "a mapping of strings";
}

impl<'a> MapValue<'a> for Written<'a> {
    const MAPPING: &'static str = "a mapping of strings";
}

impl MapValue<'_> for bool {
    const MAPPING: &'static str = "a mapping of booleans";
}

/// A value that is kept unchanged.
impl<'a> Decode<'a> for Node<'a> {
    fn decode(&mut self, node: &Node<'a>, _: &Decoder<'a>) -> Result<()> {
        *self = node.clone();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_no_entry_of_an_unknown_field() {
        let (mut a, mut b, mut c, mut d) = (false, 0i64, false, 0i64);
        let mut table: [FieldEntry<'_, '_>; 4] = [("a", &mut a), ("b", &mut b), ("c", &mut c), ("d", &mut d)];
        let heap = Heap::new();
        let arena = heap.arena();
        let node = first_document(arena, arena.add_source("test", "{a: true, c: true, d: 7}".to_owned()));
        let (node, cx) = (node.unwrap().unwrap(), Decoder::strict(arena));
        let table = known(&mut table, [true, false, true, true]);
        assert_eq!(table.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["a", "c", "d"]);
        assert_eq!(cx.object(&node, table).unwrap().names().count(), 3);
        assert_eq!((a, b, c, d), (true, 0, true, 7));
    }
}
