//! [`Texts`]: the texts of open files, and places in the protocol's form.

use super::Contents;
use crate::load::clean;
use lsp_types::{
    Position, PositionEncodingKind, Range, TextDocumentContentChangeEvent, TextDocumentItem,
    TextDocumentPositionParams, Uri,
};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf, Prefix};
use std::sync::Arc;

/// The unit of the columns of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Units {
    Utf8,
    Utf16,
}

impl Units {
    /// The protocol's word.
    pub(crate) fn kind(self) -> PositionEncodingKind {
        match self {
            Units::Utf8 => PositionEncodingKind::UTF8,
            Units::Utf16 => PositionEncodingKind::UTF16,
        }
    }

    fn width(self, c: char) -> usize {
        match self {
            Units::Utf8 => c.len_utf8(),
            Units::Utf16 => c.len_utf16(),
        }
    }

    /// The length of a text, as a column.
    pub(crate) fn length(self, text: &str) -> u32 {
        text.chars().map(|c| self.width(c)).sum::<usize>().try_into().unwrap_or(u32::MAX)
    }

    /// The place of a byte of a text. O(offset).
    pub(crate) fn position(self, text: &str, offset: usize) -> Position {
        let before = &text[..text.floor_char_boundary(offset.min(text.len()))];
        let start = before.rfind('\n').map_or(0, |i| i + 1);
        let line = before.bytes().filter(|&b| b == b'\n').count();
        Position::new(line.try_into().unwrap_or(u32::MAX), self.length(&before[start..]))
    }

    /// The byte of a text at a position. A position past the end of a line or of the text is
    /// clamped. O(offset).
    pub(crate) fn offset(self, text: &str, at: Position) -> usize {
        let mut start = 0;
        for _ in 0..at.line {
            match text[start..].find('\n') {
                Some(i) => start += i + 1,
                None => return text.len(),
            }
        }
        let line = text[start..].split('\n').next().unwrap_or_default();
        let line = line.strip_suffix('\r').unwrap_or(line);
        let mut left = at.character as usize;
        for (i, c) in line.char_indices() {
            if left < self.width(c) {
                return start + i;
            }
            left -= self.width(c);
        }
        start + line.len()
    }
}

/// The largest size of all open texts together, in bytes.
const MAX_OPEN: usize = 256 << 20;

/// The work that the changes of one message may take, in bytes of texts that are copied: each
/// change copies the text of its file.
const MAX_COPIED: usize = 4 << 30;

/// The length of the longest path, in bytes. The system refuses longer ones.
const MAX_PATH: usize = 4096;

/// The texts of the files that the editor has open.
pub(crate) struct Texts {
    pub units: Units,
    open: BTreeMap<PathBuf, Open>,
}

/// An open file, as the editor has it.
pub(crate) struct OpenFile {
    pub path: PathBuf,
    pub text: Arc<str>,
    pub version: i32,
}

struct Open {
    text: Arc<str>,
    version: i32,
}

impl Texts {
    /// An empty set of open files.
    pub(crate) fn new(units: Units) -> Texts {
        Texts { units, open: BTreeMap::new() }
    }

    /// Opens a file. Returns false if the file is not on this machine.
    ///
    /// # Errors
    /// The open texts would be too large together. The file counts as closed then.
    pub(crate) fn open(&mut self, item: TextDocumentItem) -> Result<bool, String> {
        let Some(path) = path_of(&item.uri) else { return Ok(false) };
        self.open.remove(&path);
        self.put(path, item.text, item.version).map(|()| true)
    }

    /// Adds a text, if there is room for it.
    fn put(&mut self, path: PathBuf, text: String, version: i32) -> Result<(), String> {
        let size: usize = self.open.values().map(|open| open.text.len()).sum();
        if size + text.len() > MAX_OPEN {
            return Err(format!(
                "the unsaved text of '{}' is not checked: the open files are larger than {MAX_OPEN} bytes together",
                path.display()
            ));
        }
        self.open.insert(path, Open { text: text.into(), version });
        Ok(())
    }

    /// Changes the text of an open file. Returns false if the file is not open, or a newer text is
    /// known. O(text) for each change.
    ///
    /// # Errors
    /// The changes are too much work, or the open texts would be too large together. The file
    /// counts as closed then.
    pub(crate) fn change(
        &mut self,
        uri: &Uri,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
    ) -> Result<bool, String> {
        let units = self.units;
        let Some(path) = path_of(uri) else { return Ok(false) };
        let Some(open) = self.open.get(&path).filter(|open| version >= open.version) else { return Ok(false) };
        let mut text = String::from(&*open.text);
        self.open.remove(&path);
        let mut copied = 0;
        for change in changes {
            copied += text.len();
            if copied > MAX_COPIED || text.len() > MAX_OPEN {
                return Err(format!(
                    "the unsaved text of '{}' is not checked: too many changes of a large text at once",
                    path.display()
                ));
            }
            match change.range {
                None => text = change.text,
                Some(Range { start, end }) => {
                    let start = units.offset(&text, start);
                    let end = units.offset(&text, end).max(start);
                    text.replace_range(start..end, &change.text);
                }
            }
        }
        self.put(path, text, version).map(|()| true)
    }

    /// Closes a file. Returns false if the file is not open.
    pub(crate) fn close(&mut self, uri: &Uri) -> bool {
        path_of(uri).is_some_and(|path| self.open.remove(&path).is_some())
    }

    /// The texts of the open files.
    pub(crate) fn contents(&self) -> Contents {
        self.open.iter().map(|(path, open)| (path.clone(), Arc::clone(&open.text))).collect()
    }

    /// The file of a URI; `None` if it is not open.
    pub(crate) fn file(&self, uri: &Uri) -> Option<OpenFile> {
        let path = path_of(uri)?;
        let open = self.open.get(&path)?;
        Some(OpenFile { text: Arc::clone(&open.text), version: open.version, path })
    }

    /// The file and text of a place, and the byte there; `None` if the file is not open.
    pub(crate) fn at(&self, at: &TextDocumentPositionParams) -> Option<(PathBuf, Arc<str>, usize)> {
        let path = path_of(&at.text_document.uri)?;
        let text = Arc::clone(&self.open.get(&path)?.text);
        let offset = self.units.offset(&text, at.position);
        Some((path, text, offset))
    }
}

/// Characters that a path in a URI escapes.
const ESCAPED: AsciiSet = CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// The path of a file on this machine; `None` for any other URI, also for one with another host,
/// and for a path that the system cannot open.
pub(crate) fn path_of(uri: &Uri) -> Option<PathBuf> {
    let host = uri.authority().map_or("", |authority| authority.as_str());
    if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
        return None;
    }
    if !uri.scheme().is_some_and(|scheme| scheme.as_str().eq_ignore_ascii_case("file")) {
        return None;
    }
    // An escaped byte takes three characters.
    let escaped = Some(uri.path().as_str()).filter(|path| path.len() <= 3 * MAX_PATH)?;
    let decoded = percent_decode_str(escaped).decode_utf8().ok()?;
    match cfg!(windows) {
        true => path(decoded.strip_prefix('/')?).filter(|path| is_on_drive(path)),
        false => path(&decoded),
    }
}

/// Returns true for a path that begins with a drive of Windows. To open a share would tell its
/// server who the user is.
fn is_on_drive(path: &Path) -> bool {
    let first = path.components().next();
    matches!(first, Some(Component::Prefix(prefix)) if matches!(prefix.kind(), Prefix::Disk(_)))
}

/// An absolute path without `.` and `..`; `None` for any other one, and for one that the system
/// cannot open.
pub(crate) fn path(path: &str) -> Option<PathBuf> {
    let is_possible = path.len() <= MAX_PATH && !path.contains('\0');
    is_possible.then(|| PathBuf::from(clean(path))).filter(|path| path.is_absolute())
}

/// The URI of a file.
pub(crate) fn uri_of(path: &Path) -> Option<Uri> {
    let path = path.to_str()?;
    let path = if cfg!(windows) { Cow::Owned(format!("/{}", path.replace('\\', "/"))) } else { Cow::Borrowed(path) };
    format!("file://{}", utf8_percent_encode(&path, &ESCAPED)).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_in_the_units_of_the_editor() {
        let text = "a: 1\nß😀: x\r\nend";
        let offset = text.find('x').unwrap();
        for (units, column) in [(Units::Utf8, 8), (Units::Utf16, 5)] {
            assert_eq!(units.position(text, offset), Position::new(1, column));
            assert_eq!(units.offset(text, Position::new(1, column)), offset);
            assert_eq!(units.offset(text, Position::new(1, 99)), offset + 1);
            assert_eq!(units.offset(text, Position::new(9, 0)), text.len());
        }
        assert_eq!(Units::Utf16.offset(text, Position::new(1, 2)), text.find('😀').unwrap());
    }

    #[test]
    fn changes_of_a_part_are_applied_in_order() {
        let uri: Uri = "file:///a%20b/k.yaml".parse().unwrap();
        let mut texts = Texts::new(Units::Utf16);
        let item = TextDocumentItem::new(uri.clone(), "yaml".to_owned(), 1, "a\nbcd\n".to_owned());
        assert_eq!(texts.open(item), Ok(true));
        let change = |start: (u32, u32), end: (u32, u32), text: &str| TextDocumentContentChangeEvent {
            range: Some(Range::new(Position::new(start.0, start.1), Position::new(end.0, end.1))),
            range_length: None,
            text: text.to_owned(),
        };
        let changes = vec![change((1, 1), (1, 2), "XX"), change((0, 0), (1, 1), "")];
        assert_eq!(texts.change(&uri, 2, changes), Ok(true));
        assert_eq!(&*texts.contents()[0].1, "XXd\n");
        assert_eq!(texts.contents()[0].0, Path::new("/a b/k.yaml"));
        // A late or backward change does no harm.
        assert_eq!(texts.change(&uri, 1, vec![change((0, 0), (0, 1), "")]), Ok(false));
        assert_eq!(texts.change(&uri, 3, vec![change((7, 7), (0, 0), "!")]), Ok(true));
        assert_eq!(&*texts.contents()[0].1, "XXd\n!");
        assert!(texts.close(&uri) && !texts.close(&uri));
    }

    #[test]
    fn paths_and_uris() {
        let path = Path::new("/tmp/a b/ü#%.yaml");
        let uri = uri_of(path).unwrap();
        assert_eq!(uri.as_str(), "file:///tmp/a%20b/%C3%BC%23%25.yaml");
        assert_eq!(path_of(&uri).unwrap(), path);
        assert_eq!(path_of(&"untitled:x".parse().unwrap()), None);
        for elsewhere in
            ["https://a/b", "file://h.io/a", "file://u:p@h.io/a", "file://localhost:80/a", "file://[::1]/a"]
        {
            assert_eq!(path_of(&elsewhere.parse().unwrap()), None, "{elsewhere}");
        }
        assert_eq!(path_of(&"FILE://LocalHost/a".parse().unwrap()).as_deref(), Some(Path::new("/a")));
        assert_eq!(path_of(&format!("file:///{}", "a/".repeat(500_000)).parse().unwrap()), None);
        assert_eq!(path_of(&"file:///a%00b".parse().unwrap()), None);
    }

    #[test]
    fn texts_that_are_too_large_together_count_as_closed() {
        let mut texts = Texts::new(Units::Utf8);
        let uri = |name: &str| format!("file:///{name}").parse::<Uri>().unwrap();
        let open = |texts: &mut Texts, name: &str, size: usize| {
            texts.open(TextDocumentItem::new(uri(name), "yaml".to_owned(), 1, "x".repeat(size)))
        };
        assert_eq!(open(&mut texts, "a", MAX_OPEN - 1), Ok(true));
        assert!(open(&mut texts, "b", 2).is_err_and(|why| why.contains("'/b' is not checked")));
        assert_eq!(open(&mut texts, "b", 1), Ok(true));
        assert_eq!(open(&mut texts, "a", 100 << 20), Ok(true));
        let range = Some(Range::new(Position::new(0, 0), Position::new(0, 0)));
        let change = TextDocumentContentChangeEvent { range, range_length: None, text: "y".to_owned() };
        assert!(texts.change(&uri("a"), 2, vec![change; 50]).is_err_and(|why| why.contains("too many changes")));
        assert!(!texts.close(&uri("a")) && texts.close(&uri("b")));
    }
}
