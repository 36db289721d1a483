//! The styles that the characters of a text allow: [`Analysis`].

use super::bytes::Bytes;
use super::scalar::{self, Kind};
use super::tree::node::Style;

pub(super) fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

pub(super) fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}') && c != '\u{feff}'
}

/// The meaning of a character to the printer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Fits,
    Space,
    Tab,
    Break,
    /// A line break that is written as an escape.
    OtherBreak,
    Colon,
    Hash,
    /// `-` and `?`: indicators at the start, if a blank follows.
    Hyphen,
    /// Indicators at the start.
    Indicator,
    /// Written as an escape.
    Special,
}

impl Class {
    /// The classes of the ASCII characters.
    const ASCII: [Class; 128] = {
        let mut table = [Class::Special; 128];
        let mut c = b' ';
        while c < 0x7f {
            table[c as usize] = match c {
                b' ' => Class::Space,
                b':' => Class::Colon,
                b'#' => Class::Hash,
                b'-' | b'?' => Class::Hyphen,
                b',' | b'[' | b']' | b'{' | b'}' | b'&' | b'*' | b'!' | b'|' | b'>' | b'\'' | b'"' | b'%' | b'@'
                | b'`' => Class::Indicator,
                _ => Class::Fits,
            };
            c += 1;
        }
        table[b'\t' as usize] = Class::Tab;
        table[b'\n' as usize] = Class::Break;
        table[b'\r' as usize] = Class::OtherBreak;
        table
    };

    fn of(c: char) -> Class {
        match Class::ASCII.get(c as usize) {
            Some(&class) => class,
            None if c == '\u{85}' => Class::OtherBreak,
            None if is_break(c) => Class::Break,
            None if is_printable(c) => Class::Fits,
            None => Class::Special,
        }
    }

    fn is_break(self) -> bool {
        matches!(self, Class::Break | Class::OtherBreak)
    }

    fn is_blank(self) -> bool {
        matches!(self, Class::Space | Class::Tab) || self.is_break()
    }
}

/// The use of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TextUse {
    /// A key without a `?`: it must be on one line.
    SimpleKey,
    /// A value, or a key after a `?`.
    Other,
}

/// The styles that the characters of a text allow.
#[cfg_attr(test, derive(PartialEq, Debug))]
pub(super) struct Analysis {
    pub(super) multiline: bool,
    plain_allowed: bool,
    single_allowed: bool,
    block_allowed: bool,
}

impl Analysis {
    /// Looks at the characters of a text. O(length).
    #[inline]
    pub(super) fn of(text: &str) -> Analysis {
        Analysis::of_known(text, Bytes::of(text))
    }

    /// As [`Analysis::of`], for a text whose bytes are known.
    #[inline]
    pub(super) fn of_known(text: &str, bytes: Bytes) -> Analysis {
        if bytes.are_usual && !bytes.have_colon { Analysis::of_ends(text) } else { Analysis::of_all(text) }
    }

    /// As [`Analysis::of`], for a text of printable ASCII without `#` and colons: only its ends
    /// matter.
    fn of_ends(text: &str) -> Analysis {
        let bytes = text.as_bytes();
        let is_space_at = |at: Option<&u8>| at.is_none_or(|&b| b == b' ');
        let has_indicator = match bytes.first().map(|&first| Class::of(char::from(first))) {
            Some(Class::Hyphen) => is_space_at(bytes.get(1)) || text.starts_with("---"),
            class => class == Some(Class::Indicator) || text.starts_with("..."),
        };
        let ends_in_space = is_space_at(bytes.last());
        Analysis {
            multiline: false,
            plain_allowed: !(has_indicator || is_space_at(bytes.first()) || ends_in_space),
            single_allowed: true,
            block_allowed: !ends_in_space,
        }
    }

    /// As [`Analysis::of`], for any text.
    fn of_all(text: &str) -> Analysis {
        let first = text.chars().next().map_or(Class::Break, Class::of);
        let mut indicators = matches!(first, Class::Indicator | Class::Hash)
            || (first == Class::Hyphen && text[1..].chars().next().is_none_or(is_blank))
            || text.starts_with("---")
            || text.starts_with("...");
        let (mut special, mut multiline, mut break_space, mut space_break) = (false, false, false, false);
        let mut previous = Class::Fits;
        for this in text.chars().map(Class::of) {
            match this {
                Class::Fits | Class::Colon | Class::Hyphen | Class::Indicator => {}
                Class::Hash => indicators |= previous.is_blank(),
                Class::Special => special = true,
                Class::Space | Class::Tab | Class::Break | Class::OtherBreak => {
                    indicators |= previous == Class::Colon;
                    break_space |= this == Class::Space && previous.is_break();
                    space_break |= this.is_break() && previous == Class::Space;
                    multiline |= this.is_break();
                    special |= matches!(this, Class::Tab | Class::OtherBreak);
                }
            }
            previous = this;
        }
        indicators |= previous == Class::Colon;
        let edges = [first, previous].iter().any(|&edge| edge == Class::Space || edge.is_break());
        Analysis {
            multiline,
            plain_allowed: !(indicators || special || multiline || edges || text.is_empty()),
            single_allowed: !(special || break_space || space_break),
            block_allowed: !(special || space_break || previous == Class::Space || text.is_empty()),
        }
    }

    /// The style that the printer chooses.
    pub(super) fn style(&self, text: &str, text_use: TextUse) -> Style {
        let simple_key = text_use == TextUse::SimpleKey;
        let wanted = if self.multiline && text.contains('\n') {
            Style::Literal
        } else if scalar::resolve_v2(text) == Kind::Str && !scalar::is_base60(text) {
            Style::Plain
        } else {
            Style::Double
        };
        match wanted {
            Style::Plain if self.plain_allowed => Style::Plain,
            Style::Plain if self.single_allowed && !(simple_key && self.multiline) => Style::Single,
            Style::Literal if self.block_allowed && !simple_key => Style::Literal,
            _ => Style::Double,
        }
    }
}

/// Returns true if the printer can write a string without quotes. O(length of the text).
pub(super) fn may_be_plain(text: &str) -> bool {
    Analysis::of(text).plain_allowed
}

pub(super) fn is_blank(c: char) -> bool {
    c == ' ' || c == '\t' || is_break(c)
}

#[cfg(test)]
mod tests {
    use super::Analysis;

    #[test]
    fn the_ends_of_a_usual_text_show_what_all_characters_show() {
        let characters = ['a', '1', ' ', '-', '?', '.', '\'', '[', '~'];
        let mut texts = vec![String::new()];
        for length in 1..5 {
            let longer = texts.iter().filter(|text| text.len() == length - 1).collect::<Vec<_>>();
            let longer: Vec<String> = longer.iter().flat_map(|text| characters.map(|c| format!("{text}{c}"))).collect();
            texts.extend(longer);
        }
        for text in texts {
            assert_eq!(Analysis::of_ends(&text), Analysis::of_all(&text), "{text:?}");
        }
    }
}
