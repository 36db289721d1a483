//! [`Excerpt`]: the line of a fault, as messages show it.

use rustomize_base::meter;
use rustomize_yaml::{Place, Source};
use std::ops::Range;

/// The most characters of a longer line that are kept before and behind the start of a fault.
const BEFORE: usize = 60;
const BEHIND: usize = 120;

/// The mark for a part of a line that is not shown.
const LEFT_OUT: char = '…';

/// The line of a source text that has a fault. A very long line is cut at both ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    line: String,
    marked: Range<usize>,
    is_cut: bool,
}

impl Excerpt {
    /// The longest line that is kept whole, in bytes: what shows it cuts it to the terminal.
    pub(super) const LONG: usize = 4096;

    /// The line that has the byte at `offset` of a text, where a key or value begins; `None` if the
    /// line may hold a secret: its field has a name such as `password`, or its document is about
    /// a Secret, which may have one in any line. O(size of the text).
    pub fn of(text: &str, offset: usize) -> Option<Excerpt> {
        let line = line_of(text, offset);
        let is_secret = names_a_secret(&text[line.clone()]) || may_be_secret(&text[document(text, line.start)]);
        (!is_secret).then(|| Excerpt::in_line(&text[line.clone()], offset - line.start))
    }

    /// The excerpt for the byte at `offset` of a line. O(1).
    fn in_line(line: &str, offset: usize) -> Excerpt {
        let at = line.floor_char_boundary(offset);
        if line.len() <= Excerpt::LONG {
            let end = at + extent(&line[at..]);
            return Excerpt { line: line.to_owned(), marked: at..end, is_cut: false };
        }
        let first = line[..at].char_indices().rev().nth(BEFORE).map_or(0, |(i, _)| i);
        let last = line[at..].char_indices().nth(BEHIND).map_or(line.len(), |(i, _)| at + i);
        let end = at + extent(&line[at..last]);
        let line = format!("{LEFT_OUT}{}{LEFT_OUT}", &line[first..last]);
        let moved = |i: usize| i - first + LEFT_OUT.len_utf8();
        Excerpt { line, marked: moved(at)..moved(end), is_cut: true }
    }

    /// True if the columns of [`Excerpt::line`] are not those of the file.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The text of the line, without its end.
    pub fn line(&self) -> &str {
        &self.line
    }

    /// The bytes of [`Excerpt::line`] that the fault is about; empty at the end of the line.
    pub fn marked(&self) -> Range<usize> {
        self.marked.clone()
    }
}

/// Makes the excerpts of many faults: a document or a line that has one fault after the other is
/// searched for secrets once.
#[derive(Default)]
pub(super) struct Excerpts {
    /// The last document: whether it may be about a Secret.
    document: Option<Searched>,
    /// The last line: whether it names a secret.
    line: Option<Searched>,
}

/// A part of a source that was searched for secrets.
struct Searched {
    base: u32,
    part: Range<usize>,
    is_secret: bool,
}

impl Searched {
    /// True for a source and an offset in the part, or at its end.
    fn has(&self, source: &Source, offset: usize) -> bool {
        self.base == source.base && (self.part.start..=self.part.end).contains(&offset)
    }
}

impl Excerpts {
    /// As [`Excerpt::of`], for a source. Of a text that a program has printed, every document
    /// counts: the documents of a text that is not YAML are uncertain.
    pub(super) fn of(&mut self, source: &Source, offset: usize) -> Option<Excerpt> {
        let text = &source.text;
        let line = match self.line.take().filter(|line| line.has(source, offset)) {
            Some(line) => line,
            None => {
                let part = line_of(text, offset);
                meter::count_text(&text[part.clone()]);
                Searched { base: source.base, is_secret: names_a_secret(&text[part.clone()]), part }
            }
        };
        let Searched { part, is_secret, .. } = self.line.insert(line);
        let start = part.start;
        let excerpt = (!*is_secret).then(|| Excerpt::in_line(&text[part.clone()], offset - start))?;
        let document = match self.document.take().filter(|document| document.has(source, start)) {
            Some(document) => document,
            None => {
                let part = if source.is_file { document(text, start) } else { 0..text.len() };
                meter::count_text(&text[part.clone()]);
                let says_secret = !source.is_file && (text.contains("ecret") || text.contains("SECRET"));
                let is_secret = says_secret || may_be_secret(&text[part.clone()]);
                Searched { base: source.base, is_secret, part }
            }
        };
        (!self.document.insert(document).is_secret).then_some(excerpt)
    }
}

/// The line of a text that has the byte at `offset`, without its end.
fn line_of(text: &str, offset: usize) -> Range<usize> {
    let offset = text.floor_char_boundary(offset);
    let start = text[..offset].rfind('\n').map_or(0, |i| i + 1);
    start..start + text[start..].lines().next().unwrap_or_default().len()
}

/// The byte at which a place is in the text of its file. O(size of the text).
pub(super) fn offset_of(text: &str, place: &Place) -> usize {
    let before: usize = text.split_inclusive('\n').take(place.line.saturating_sub(1)).map(str::len).sum();
    let line = text[before..].lines().next().unwrap_or_default();
    before + line.char_indices().nth(place.column.saturating_sub(1)).map_or(line.len(), |(at, _)| at)
}

/// The length of the key or value that a text begins with.
fn extent(text: &str) -> usize {
    let whole = text.trim_end().len();
    let length = match text.chars().next() {
        Some(quote @ ('"' | '\'')) => text[1..].find(quote).map_or(whole, |end| end + 2),
        Some('{' | '[' | '|' | '>') => text.find(" #").unwrap_or(whole),
        Some(mark @ (',' | ']' | '}')) => mark.len_utf8(),
        _ => [": ", " #", ", ", "]", "}"].iter().filter_map(|end| text.find(end)).fold(whole, usize::min),
    };
    let is_key = text[..length.min(whole)].ends_with(':');
    if is_key { length - 1 } else { length }
}

/// The YAML document of a text that has the line at `start`.
fn document(text: &str, start: usize) -> Range<usize> {
    let first = text[..start].rfind("\n---").map_or(0, |i| i + 1);
    let last = text[start..].find("\n---").map_or(text.len(), |i| start + i);
    first..last
}

/// Words in the names of fields whose values are secret.
const SECRET_WORDS: [&str; 7] = ["password", "passwd", "secret", "token", "credential", "apikey", "privatekey"];

/// True for a line with a word that says that a value is secret.
fn names_a_secret(line: &str) -> bool {
    let letters = line.bytes().filter(|byte| !matches!(byte, b'-' | b'_'));
    let line = String::from_utf8(letters.map(|byte| byte.to_ascii_lowercase()).collect()).unwrap_or_default();
    SECRET_WORDS.iter().any(|word| line.contains(word))
}

/// True for a document that has, or makes, an object whose kind has the word secret.
fn may_be_secret(document: &str) -> bool {
    let is_of_secret = |rest: &str| {
        let value = rest.trim_start_matches(['"', '\'']).trim_start().strip_prefix(':');
        let word = value.map(|v| v.trim_start().split([',', '}', '\n', '#']).next().unwrap_or_default());
        word.is_some_and(|word| word.contains("ecret"))
    };
    document.contains("secretGenerator")
        || document.match_indices("kind").any(|(i, kind)| is_of_secret(&document[i + kind.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustomize_yaml::Heap;

    /// The line and the marked part for the place of `at` in a text.
    #[track_caller]
    fn check(text: &str, at: &str, line: &str, marked: &str) {
        let excerpt = Excerpt::of(text, text.find(at).unwrap()).unwrap();
        assert_eq!((excerpt.line(), &excerpt.line()[excerpt.marked()]), (line, marked));
    }

    #[test]
    fn keys_and_values_are_marked() {
        check("a: 1\nb: two words # x\n", "two", "b: two words # x", "two words");
        check("a:\n  key:\n    x: 1\n", "key", "  key:", "key");
        check("a: [one, {b: c}]\n", "one", "a: [one, {b: c}]", "one");
        check("a: \"x: y\" # z\n", "\"x", "a: \"x: y\" # z", "\"x: y\"");
        check("a: http://x/y\r\n", "http", "a: http://x/y", "http://x/y");
        check("ключ: значение\n", "значение", "ключ: значение", "значение");
    }

    #[test]
    fn the_end_of_a_text_is_marked_by_nothing() {
        let excerpt = Excerpt::of("a: 1\n", 5).unwrap();
        assert_eq!((excerpt.line(), excerpt.marked()), ("", 0..0));
        assert_eq!(Excerpt::of("", 0).map(|e| e.marked()), Some(0..0));
    }

    #[test]
    fn long_lines_are_cut() {
        let text = format!("a: {}X{}\n", "ä".repeat(5_000), "b".repeat(5_000_000));
        let excerpt = Excerpt::of(&text, text.find('X').unwrap()).unwrap();
        assert!(excerpt.is_cut() && excerpt.line().chars().count() <= BEFORE + BEHIND + 3, "{excerpt:?}");
        assert!(excerpt.line()[excerpt.marked()].starts_with("Xbbb"), "{excerpt:?}");
    }

    #[test]
    fn lines_that_may_hold_a_secret_are_not_shown() {
        for text in [
            "kind: Secret\ndata:\n  key: hunter2\n",
            "kind: Secret\nstringData:\n  key: |\n    hunter2: x\n",
            "kind: ConfigMap\n---\ndata: {key: hunter2}\nkind: \"Secret\"\n",
            "{\"kind\":\"Secret\",\"data\":{\"a\":\"hunter2\"}}",
            "secretGenerator:\n- name: a\n  literals: [a=hunter2]\n",
            "secretGenerator:\n- literals:\n  - a=hunter2\n",
            "kind: App\napi_key: hunter2\n",
            "kind: SealedSecret\nspec: hunter2\n",
        ] {
            assert_eq!(Excerpt::of(text, text.find("hunter2").unwrap()), None, "{text}");
        }
        check("kind: ConfigMap\ndata: {a: 1}\n---\nkind: Secret\n", "1", "data: {a: 1}", "1");
    }

    #[test]
    fn excerpts_of_one_long_line_take_linear_time() {
        let steps = |n: usize| {
            let heap = Heap::new();
            let source = heap.arena().add_file("file", format!("a: [{}]\n", "item, ".repeat(n)).into());
            let mut excerpts = Excerpts::default();
            meter::reset();
            (0..n).for_each(|i| assert!(excerpts.of(source, 4 + 6 * i).is_some()));
            meter::taken()
        };
        assert!(steps(8_000) <= 5 * steps(2_000), "{} steps, {}", steps(2_000), steps(8_000));
    }
}
