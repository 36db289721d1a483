//! Characters: those that are refused, line breaks, and the bytes that may start a plain scalar.

use super::{Malformed, Reader, Source};
use crate::bytes::all_except;
use memchr::{memchr, memchr_iter};
use std::ops::Range;

/// The result of a pass over the whole text.
pub(super) struct Survey {
    /// True if there may be line breaks other than LF.
    pub has_rare_breaks: bool,
    pub has_tabs: bool,
}

/// Checks each character once.
///
/// # Errors
/// The first character that upstream's reader refuses.
pub(super) fn survey(source: &Source, piece: Range<usize>) -> Result<Survey, Malformed> {
    let text = &source.text[piece.clone()];
    let bytes = text.as_bytes();
    let is_control = |b: u8| (b < 0x20 && b != b'\n' && b != b'\t') || b == 0x7f;
    let (mut has_controls, mut has_tabs, mut all) = (false, false, 0);
    for &b in bytes {
        has_controls |= is_control(b);
        has_tabs |= b == b'\t';
        all |= b;
    }
    let survey = Survey { has_rare_breaks: has_controls, has_tabs };
    if !has_controls && (all.is_ascii() || !has_rare_characters(bytes)) {
        return Ok(survey);
    }
    let refused = |&(_, c): &(usize, char)| !matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..);
    match text.char_indices().find(refused) {
        Some((at, _)) => {
            Err(Malformed { message: "control characters are not allowed".into(), pos: source.pos(piece.start + at) })
        }
        None => Ok(Survey { has_rare_breaks: true, ..survey }),
    }
}

/// Returns true if there may be a control character or a line break among the characters beyond
/// ASCII.
fn has_rare_characters(bytes: &[u8]) -> bool {
    let after = |i: usize, k: usize| bytes.get(i + k).copied().unwrap_or(0);
    memchr_iter(0xc2, bytes).any(|i| after(i, 1) < 0xa0)
        || memchr_iter(0xe2, bytes).any(|i| after(i, 1) == 0x80 && matches!(after(i, 2), 0xa8 | 0xa9))
        || memchr_iter(0xef, bytes).any(|i| after(i, 1) == 0xbf && after(i, 2) >= 0xbe)
}

impl<const RARE: bool> Reader<'_, RARE> {
    #[inline(always)]
    pub(super) fn byte(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The length of the line break at an offset; 0 for other bytes.
    #[inline(always)]
    pub(super) fn break_len(&self, at: usize) -> usize {
        if !RARE {
            return usize::from(self.bytes.get(at) == Some(&b'\n'));
        }
        match self.bytes.get(at..).unwrap_or_default() {
            [b'\r', b'\n', ..] => 2,
            [b'\r' | b'\n', ..] => 1,
            [0xc2, 0x85, ..] => 2,
            [0xe2, 0x80, 0xa8 | 0xa9, ..] => 3,
            _ => 0,
        }
    }

    /// The text that the line break at an offset stands for: LF, except for the separators of
    /// Unicode.
    pub(super) fn break_text(&self, at: usize) -> &'static str {
        match self.bytes[at..] {
            [0xe2, 0x80, 0xa8, ..] if RARE => "\u{2028}",
            [0xe2, 0x80, 0xa9, ..] if RARE => "\u{2029}",
            _ => "\n",
        }
    }

    /// The offset of the next line break at or after an offset, or the end of the text.
    #[inline]
    pub(super) fn line_end(&self, from: usize) -> usize {
        if !RARE {
            return memchr(b'\n', &self.bytes[from..]).map_or(self.bytes.len(), |n| from + n);
        }
        (from..self.bytes.len()).find(|&i| self.break_len(i) > 0).unwrap_or(self.bytes.len())
    }

    /// Returns true if there is a blank, a line break or the end of the text at an offset.
    #[inline(always)]
    pub(super) fn is_blank_or_end(&self, at: usize) -> bool {
        match self.bytes.get(at) {
            None | Some(b' ' | b'\n' | b'\t') => true,
            Some(_) => RARE && self.break_len(at) > 0,
        }
    }

    /// Returns true if `at` holds an indicator, which a blank or the end of the line follows.
    #[inline(always)]
    pub(super) fn at_indicator(&self, indicator: u8) -> bool {
        self.byte() == Some(indicator) && self.is_blank_or_end(self.at + 1)
    }

    /// Returns true if no token follows on this line.
    pub(super) fn at_line_end(&self) -> bool {
        matches!(self.byte(), None | Some(b'#')) || self.break_len(self.at) > 0
    }

    /// Returns true if a document marker is at `at`, which must be the start of a line.
    pub(super) fn starts_marker(&self, marker: &[u8; 3]) -> bool {
        self.bytes[self.at..].starts_with(marker) && self.is_blank_or_end(self.at + 3)
    }

    #[inline(always)]
    pub(super) fn skip_spaces(&mut self) {
        while self.bytes[self.at..].first_chunk() == Some(b"        ") {
            self.at += 8;
        }
        while self.byte() == Some(b' ') {
            self.at += 1;
        }
    }

    #[inline(always)]
    pub(super) fn skip_blanks(&mut self) {
        while matches!(self.byte(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Moves to the start of the next line.
    pub(super) fn skip_line(&mut self) {
        let end = self.line_end(self.at);
        self.at = end + self.break_len(end);
        self.line = self.at;
    }

    /// Returns true if a plain scalar may start at `at` in a block.
    #[inline(always)]
    pub(super) fn starts_plain(&self) -> bool {
        match self.byte() {
            Some(b'-' | b'?' | b':') => !self.is_blank_or_end(self.at + 1),
            Some(b) => PLAIN_START[b as usize] && !(RARE && self.break_len(self.at) > 0),
            None => false,
        }
    }
}

/// Bytes that may start a plain scalar, whatever the next byte is.
pub(super) const PLAIN_START: [bool; 256] = all_except(b" \t\r\n-?:,[]{}#&*!|>'\"%@`");
