//! Causes of faults that the reader sees elsewhere: conflict markers of git, and characters that
//! look like those of YAML.

use super::{Code, Warning};
use memchr::memmem;
use rustomize_yaml::{Pos, Source};
use std::ops::Range;

/// A cause, and the offset of its first byte in the text.
pub(super) struct Cause {
    pub at: usize,
    pub message: String,
    pub hint: String,
}

/// The offset of the first conflict marker of git in a text. O(length), at the speed of memory.
pub fn conflict_marker(text: &[u8]) -> Option<usize> {
    let is_at_start = |at: &usize| *at == 0 || text[at - 1] == b'\n';
    let find = |mark: &str| memmem::find_iter(text, mark).find(is_at_start);
    [find("<<<<<<< "), find(">>>>>>> ")].into_iter().flatten().min()
}

/// The finding about the first conflict marker of git in a text that is read without a fault.
/// O(length of the text).
pub fn conflict(source: &Source) -> Option<Warning> {
    conflict_in(source, 0..source.text.len())
}

/// As [`conflict`], in a part of a text that begins at the start of a line.
pub fn conflict_in(source: &Source, part: Range<usize>) -> Option<Warning> {
    let at = part.start + conflict_marker(source.text.as_bytes().get(part.clone())?)?;
    Some(Warning::new(Code::ConflictMarker, CONFLICT).at(source.pos(at)).hint(RESOLVE))
}

/// The message about a conflict marker, and the hint.
pub(super) const CONFLICT: &str = "a merge conflict is not resolved";
pub(super) const RESOLVE: &str = "keep one of the two sides, and remove the lines '<<<<<<<', '=======' and '>>>>>>>'";

/// The cause of a fault at an offset of a text that is not valid YAML. O(length of the text).
pub(super) fn of_fault(text: &str, offset: usize) -> Option<Cause> {
    if let Some(at) = conflict_marker(text.as_bytes()) {
        return Some(Cause { at, message: CONFLICT.to_owned(), hint: RESOLVE.to_owned() });
    }
    look_alike(text, text.floor_char_boundary(offset))
}

/// The cause of a fault at a key that kustomize does not know: the key begins with a character
/// that looks like one of YAML.
pub(super) fn of_key(text: &str, offset: usize) -> Option<Cause> {
    let first = text.get(offset..)?.chars().next()?;
    LOOK_ALIKES.iter().find(|known| known.character == first).map(|known| known.cause(offset))
}

/// The finding about a value that is in quotes which YAML does not know, or begins or ends with a
/// space which it does not know. `pos` is the place of the value.
pub fn look_alike_in_value(value: &str, pos: Pos) -> Option<Warning> {
    let known = |c: Option<char>| LOOK_ALIKES.iter().find(|known| Some(known.character) == c.filter(|c| !c.is_ascii()));
    let (first, last) = (known(value.chars().next()), known(value.chars().next_back()));
    let found = match (first, last) {
        (Some(first), Some(last)) if first.is_quote() && last.is_quote() => first,
        (Some(space), _) | (_, Some(space)) if space.is_space() => space,
        _ => return None,
    };
    let Cause { message, hint, .. } = found.cause(0);
    let message = format!("the value has {message}");
    Some(Warning::new(Code::LookAlike, message).at(pos).hint(hint))
}

/// A character of YAML that another one looks like.
struct LookAlike {
    character: char,
    name: &'static str,
    stands_for: &'static str,
}

impl LookAlike {
    fn is_quote(&self) -> bool {
        matches!(self.stands_for, "'\"'" | "\"'\"")
    }

    fn is_space(&self) -> bool {
        matches!(self.stands_for, "a space" | "")
    }

    fn cause(&self, at: usize) -> Cause {
        let LookAlike { character, name, stands_for } = self;
        let message = format!("{name} (U+{:04X}), which YAML reads as a part of the text", *character as u32);
        let hint = match *stands_for {
            "" => "remove it".to_owned(),
            stands_for => format!("write {stands_for} in its place"),
        };
        Cause { at, message, hint }
    }
}

const fn look_alike_of(character: char, name: &'static str, stands_for: &'static str) -> LookAlike {
    LookAlike { character, name, stands_for }
}

const LOOK_ALIKES: [LookAlike; 21] = [
    look_alike_of('\u{a0}', "a no-break space", "a space"),
    look_alike_of('\u{2002}', "an en space", "a space"),
    look_alike_of('\u{2003}', "an em space", "a space"),
    look_alike_of('\u{2007}', "a figure space", "a space"),
    look_alike_of('\u{2009}', "a thin space", "a space"),
    look_alike_of('\u{202f}', "a narrow no-break space", "a space"),
    look_alike_of('\u{3000}', "an ideographic space", "a space"),
    look_alike_of('\u{200b}', "a zero-width space", ""),
    look_alike_of('\u{2060}', "a word joiner", ""),
    look_alike_of('\u{feff}', "a byte order mark", ""),
    look_alike_of('\u{201c}', "a left double quotation mark", "'\"'"),
    look_alike_of('\u{201d}', "a right double quotation mark", "'\"'"),
    look_alike_of('\u{201e}', "a low double quotation mark", "'\"'"),
    look_alike_of('\u{2018}', "a left single quotation mark", "\"'\""),
    look_alike_of('\u{2019}', "a right single quotation mark", "\"'\""),
    look_alike_of('\u{201a}', "a low single quotation mark", "\"'\""),
    look_alike_of('\u{ff02}', "a full-width quotation mark", "'\"'"),
    look_alike_of('\u{ff1a}', "a full-width colon", "': '"),
    look_alike_of('\u{2010}', "a hyphen", "'-'"),
    look_alike_of('\u{2013}', "an en dash", "'-'"),
    look_alike_of('\u{2014}', "an em dash", "'-'"),
];

/// So many lines above the line of a fault may have its cause.
const LINES_ABOVE: usize = 3;

/// The nearest character, in the line of a fault or in one above it, that looks like one of YAML
/// and is where YAML has such a character: in front of a line's text, behind a `:` or `-`, or in
/// place of a colon.
fn look_alike(text: &str, offset: usize) -> Option<Cause> {
    let end = text[offset..].find('\n').map_or(text.len(), |i| offset + i);
    let mut end = end;
    for _ in 0..=LINES_ABOVE {
        let start = text[..end].rfind('\n').map_or(0, |i| i + 1);
        // The mark at the beginning of a file is no part of the text.
        let found = in_line(&text[start..end]).filter(|(i, _)| start + i > 0 || !text.starts_with('\u{feff}'));
        if let Some((i, found)) = found {
            return Some(found.cause(start + i));
        }
        end = start.checked_sub(1)?;
    }
    None
}

/// The first such character of a line, and its offset.
fn in_line(line: &str) -> Option<(usize, &'static LookAlike)> {
    if line.is_ascii() {
        return None;
    }
    let mut before = ' ';
    let mut is_start = true;
    for (i, c) in line.char_indices() {
        let found = LOOK_ALIKES.iter().find(|known| known.character == c);
        let is_dash = matches!(c, '\u{2010}' | '\u{2013}' | '\u{2014}');
        let is_behind_sign = matches!(before, ':' | '-' | '[' | '{' | ',');
        let is_placed = match c {
            '\u{ff1a}' => line[..i].bytes().all(|b| b.is_ascii_alphanumeric() || b" -_./".contains(&b)),
            _ if is_dash => is_start,
            _ => is_start || is_behind_sign,
        };
        if let Some(found) = found.filter(|_| is_placed) {
            return Some((i, found));
        }
        if !matches!(c, ' ' | '\t') {
            is_start = false;
            before = c;
        } else if is_start {
            before = ' ';
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_at_the_start_of_a_line() {
        let at = |text: &str| conflict_marker(text.as_bytes());
        assert_eq!(at("a: b\n<<<<<<< HEAD\nc\n=======\n>>>>>>> x\n"), Some(5));
        assert_eq!(at("<<<<<<< HEAD\n"), Some(0));
        assert_eq!(at("a\n>>>>>>> x\n"), Some(2));
        assert_eq!(at("a: <<<<<<< HEAD\n=======\n  >>>>>>> x\n<<<<<<<<<\n"), None);
    }

    /// The character that is the cause of a fault in the last line of a text.
    #[track_caller]
    fn check(text: &str, want: Option<(usize, &str)>) {
        let found = look_alike(text, text.len());
        let found = found.as_ref().map(|cause| (cause.at, cause.message.as_str()));
        match (found, want) {
            (None, None) => {}
            (Some((at, message)), Some((place, words))) => {
                assert!(at == place && message.contains(words), "{text:?}: {at} {message}");
            }
            other => panic!("{text:?}: {other:?}"),
        }
    }

    #[test]
    fn characters_that_look_like_those_of_yaml() {
        check("a:\n\u{a0} b: c", Some((3, "a no-break space (U+00A0)")));
        check("a:\n -\u{a0}b: c\nd: e", Some((5, "no-break")));
        check("a: \u{201c}b: c\u{201d}", Some((3, "a left double quotation mark (U+201C)")));
        check("- a\n\u{2013} b", Some((4, "an en dash")));
        check("key\u{ff1a}value\nb: c", Some((3, "a full-width colon")));
        check("a: b\u{a0}c", None);
        check("a: it\u{2019}s: x", None);
        check("a: b \u{2013} c: d", None);
        check("\u{a0}a\n\n\n\n\nb", None);
        check("a: b: c", None);
    }
}
