//! The tokens and the comments of a text, as go-yaml v3 finds them.
//!
//! go-yaml notes comments while it looks for the next token. A comment below a token that is
//! followed by an empty line is the foot of the node that the token ends. The same holds for a
//! comment that is left of its block. All other comments belong to the next token, as comments
//! above it.

use crate::tree::node::{Scalar, Style};
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TokenKind {
    /// The start of the text.
    Start,
    /// `---`.
    Document,
    /// A block mapping begins.
    Mapping,
    /// A block list begins, deeper than its parent.
    List,
    /// A block mapping or list ends.
    End,
    /// The next scalar is a key.
    Key,
    Scalar,
    Alias,
    Anchor,
    Tag,
    Colon,
    Dash,
    Comma,
    /// `{` or `[`.
    Open,
    /// `}` or `]`.
    Close,
    /// The end of the document.
    Stop,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub kind: TokenKind,
    /// Offset in bytes.
    pub at: usize,
}

/// The side of a node on which a comment is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Side {
    Above,
    Behind,
    Below,
}

#[derive(Debug)]
pub(super) struct Comment {
    pub side: Side,
    pub text: String,
    /// The comment belongs to the first token at or after this offset.
    pub mark: usize,
    /// The range that was searched for the comment.
    searched: Range<usize>,
    start: usize,
    column: usize,
}

/// Lines of comments that are one comment, unless they are separated.
struct Group {
    text: String,
    start: usize,
    column: usize,
    /// The line in which it starts.
    line: usize,
}

impl Group {
    fn comment(self, side: Side, mark: usize, searched: Range<usize>) -> Comment {
        Comment { side, text: self.text, mark, searched, start: self.start, column: self.column }
    }
}

/// Finds the tokens and comments of a text.
struct Scanner<'t> {
    text: &'t str,
    /// The end of the first line.
    first_break: usize,
    tokens: Vec<Token>,
    comments: Vec<Comment>,
    at: usize,
    /// The offset at which the line of `at` starts.
    line_start: usize,
    /// The number of line ends since the last character that is not blank.
    breaks: usize,
    /// The columns of the blocks around.
    indents: Vec<usize>,
    /// The number of open brackets.
    flow: usize,
}

/// Finds the tokens and the comments of the first document of a text, each in its order. `scalars`
/// are its scalars and their ranges, in order, none of them empty. `None` if the document contains
/// anything but scalars, aliases, anchors, tags, comments, and the signs of mappings and lists.
/// O(size of the text).
pub(super) fn scan(text: &str, scalars: &[(Range<usize>, Scalar<'_>)]) -> Option<(Vec<Token>, Vec<Comment>)> {
    let scanner = Scanner {
        text,
        first_break: text.find('\n').unwrap_or(text.len()),
        tokens: vec![Token { kind: TokenKind::Start, at: 0 }],
        comments: Vec::new(),
        at: 0,
        line_start: 0,
        breaks: 0,
        indents: Vec::new(),
        flow: 0,
    };
    scanner.scan(scalars)
}

impl Scanner<'_> {
    fn scan(mut self, scalars: &[(Range<usize>, Scalar<'_>)]) -> Option<(Vec<Token>, Vec<Comment>)> {
        let mut scalars = scalars.iter().peekable();
        loop {
            let searched = self.at;
            self.gap();
            self.end_blocks(Some(self.column()), searched);
            let rest = &self.text[self.at..];
            let is_marker =
                self.column() == 0 && rest.get(3..).is_some_and(|r| r.is_empty() || r.starts_with([' ', '\n']));
            if is_marker && rest.starts_with("---") && self.tokens.len() == 1 {
                self.tokens.push(Token { kind: TokenKind::Document, at: self.at });
                self.pass(self.at + 3);
                continue;
            }
            if rest.is_empty() || is_marker && (rest.starts_with("---") || rest.starts_with("...")) {
                self.end_blocks(None, self.at);
                self.tokens.push(Token { kind: TokenKind::Stop, at: self.at });
                return Some((self.tokens, self.comments));
            }
            let before = self.tokens.last().map_or(0, |token| token.at);
            let mut mark = self.at;
            match scalars.next_if(|(span, _)| span.start == self.at) {
                Some((span, scalar)) => {
                    self.tokens.push(Token { kind: TokenKind::Scalar, at: span.start });
                    self.header_comment(span, scalar.style());
                    self.pass(span.end);
                    // go-yaml ends a plain or literal scalar after all empty lines below it.
                    if matches!(scalar.style(), Style::Plain | Style::Literal) {
                        self.blank();
                    }
                }
                None => {
                    let sign = rest.as_bytes()[0];
                    if sign == b':' && self.flow == 0 || sign == b',' {
                        mark = before;
                    }
                    self.sign(sign)?;
                }
            }
            if self.tokens.last().is_some_and(|token| token.kind != TokenKind::Dash) {
                self.line_comment(mark);
            }
        }
    }

    fn sign(&mut self, sign: u8) -> Option<()> {
        let kind = match sign {
            b':' => {
                let key =
                    self.tokens.pop().filter(|token| matches!(token.kind, TokenKind::Scalar | TokenKind::Alias))?;
                // A key begins with its anchor and tag, if they are on its line.
                let line = self.text[..key.at].rfind('\n').map_or(0, |i| i + 1);
                let is_of_key =
                    |token: &Token| matches!(token.kind, TokenKind::Anchor | TokenKind::Tag) && token.at >= line;
                let properties = self.tokens.iter().rev().take_while(|token| is_of_key(token)).count();
                let mut own = self.tokens.split_off(self.tokens.len() - properties);
                own.push(key);
                let start = own[0].at;
                let column = start - line;
                if self.flow == 0 && self.indents.last().is_none_or(|indent| *indent < column) {
                    self.indents.push(column);
                    self.tokens.push(Token { kind: TokenKind::Mapping, at: start });
                }
                self.tokens.push(Token { kind: TokenKind::Key, at: start });
                self.tokens.append(&mut own);
                TokenKind::Colon
            }
            b'&' | b'*' | b'!' => {
                let rest = &self.text[self.at..];
                let is_in_brackets = self.flow > 0;
                let len = word(rest, is_in_brackets).len();
                let kind = match sign {
                    b'&' => TokenKind::Anchor,
                    b'*' => TokenKind::Alias,
                    _ => TokenKind::Tag,
                };
                self.tokens.push(Token { kind, at: self.at });
                self.pass(self.at + len);
                return Some(());
            }
            // A reader that resolves merges leaves this key out of its tree.
            b'<' if self.text[self.at..].starts_with("<<") => {
                self.tokens.push(Token { kind: TokenKind::Scalar, at: self.at });
                self.pass(self.at + 2);
                return Some(());
            }
            b'-' if self.flow == 0 => {
                let column = self.column();
                if self.indents.last().is_none_or(|indent| *indent < column) {
                    self.indents.push(column);
                    self.tokens.push(Token { kind: TokenKind::List, at: self.at });
                }
                TokenKind::Dash
            }
            b',' => TokenKind::Comma,
            b'{' | b'[' => {
                self.flow += 1;
                TokenKind::Open
            }
            b'}' | b']' => {
                self.flow = self.flow.checked_sub(1)?;
                TokenKind::Close
            }
            _ => return None,
        };
        self.tokens.push(Token { kind, at: self.at });
        self.pass(self.at + 1);
        Some(())
    }

    /// Notes the comment after the sign of a literal or folded text.
    fn header_comment(&mut self, span: &Range<usize>, style: Style) {
        if !matches!(style, Style::Literal | Style::Folded) {
            return;
        }
        let header = self.text[span.start..].lines().next().unwrap_or_default();
        if let Some(i) = header.find('#') {
            let (text, start) = (header[i..].to_owned(), span.start + i);
            let mark = span.start;
            self.comments.push(Comment { side: Side::Behind, text, mark, searched: 0..0, start, column: usize::MAX });
        }
    }

    fn column(&self) -> usize {
        self.at - self.line_start
    }

    /// Moves to an offset after characters that are not blank.
    fn pass(&mut self, to: usize) {
        // The range of a literal block includes its last line ends.
        let passed = self.text[self.at..to].trim_end();
        if let Some(i) = passed.rfind('\n') {
            self.line_start = self.at + i + 1;
        }
        self.at += passed.len();
        self.breaks = 0;
    }

    /// Skips blanks and line ends.
    fn blank(&mut self) {
        while let Some(byte @ (b' ' | b'\t' | b'\n')) = self.text.as_bytes().get(self.at) {
            self.at += 1;
            if *byte == b'\n' {
                self.breaks += 1;
                self.line_start = self.at;
            }
        }
    }

    /// Moves to the next token, and notes the comments before it.
    fn gap(&mut self) {
        let searched = self.at;
        self.blank();
        if self.text[self.at..].starts_with('#') {
            self.comments(searched);
            self.blank();
        }
    }

    fn line_comment(&mut self, mark: usize) {
        let rest = &self.text[self.at..];
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        if self.breaks > 0 || !rest[blanks..].starts_with('#') {
            return;
        }
        let start = self.at + blanks;
        let text = self.text[start..].lines().next().unwrap_or_default().to_owned();
        self.at = start + text.len();
        self.comments.push(Comment { side: Side::Behind, text, mark, searched: 0..0, start, column: usize::MAX });
    }

    /// Notes the comments from here to the next token. The search for them has begun at `searched`.
    fn comments(&mut self, mut searched: usize) {
        let mut tokens = self.tokens.iter().rev();
        let last = tokens.next().map(|t| if t.kind == TokenKind::Comma { tokens.next().unwrap_or(t) } else { t });
        let is_value = last.is_some_and(|token| token.kind == TokenKind::Colon);
        let mut mark = last.map_or(0, |token| token.at);
        let indent = self.indents.last().copied().unwrap_or_default();
        // A foot starts in the line below the token. Lines are counted from the first comment.
        let foot_line = match self.breaks {
            _ if searched <= self.first_break => None,
            0 => Some(1 + usize::from(self.column() > 1)),
            1 => Some(0),
            _ => None,
        };
        let mut may_be_foot = self.breaks <= 1;
        let mut was_empty = false;
        let mut lines = 0;
        let mut counted = 0;
        let (mut at, mut line_start) = (self.at, self.line_start);
        let mut group: Option<Group> = None;
        let bytes = self.text.as_bytes();
        loop {
            while matches!(bytes.get(at), Some(b' ' | b'\t')) {
                at += 1;
            }
            let column = at - line_start;
            let next = bytes.get(at).copied();
            let closes = self.flow > 0 && matches!(next, Some(b'}' | b']'));
            let is_end = closes || matches!(next, None | Some(b'\n'));
            let is_foot = group.as_ref().is_some_and(|group| match is_end {
                true => {
                    let is_below = Some(group.line) == foot_line && !is_value;
                    closes || !was_empty && may_be_foot && (is_below || group.column < indent)
                }
                false => column < indent && column != group.column,
            });
            if is_foot && let Some(group) = group.take() {
                let mark = if is_end && group.column < indent { group.start } else { mark };
                self.comments.push(group.comment(Side::Below, mark, searched..at));
            } else if let Some(group) = &mut group
                && is_end
                && !was_empty
                && next.is_some()
            {
                group.text.push('\n');
            }
            if is_foot {
                (searched, mark) = (at, at);
            }
            match next {
                Some(b'\n') => {
                    (may_be_foot, was_empty) = (false, true);
                    at += 1;
                    lines += 1;
                    counted += 1;
                }
                Some(b'#') => {
                    was_empty = false;
                    let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |i| at + i);
                    match &mut group {
                        Some(group) => group.text.push('\n'),
                        None => group = Some(Group { text: String::new(), start: at, column, line: counted }),
                    }
                    group.iter_mut().for_each(|group| group.text.push_str(&self.text[at..end]));
                    (self.at, self.line_start, self.breaks) = (end, line_start, 0);
                    // go-yaml does not count the line end of a comment.
                    counted = lines;
                    lines += 1;
                    at = (end + 1).min(bytes.len());
                }
                _ => break,
            }
            line_start = at;
        }
        if let Some(group) = group {
            let mark = group.start;
            self.comments.push(group.comment(Side::Above, mark, searched..at.saturating_sub(1)));
        }
    }

    /// Ends the blocks that are deeper than a column; for `None` all of them. A block ends before
    /// the comments that were found, or at the first comment in its column.
    fn end_blocks(&mut self, column: Option<usize>, searched: usize) {
        if self.flow > 0 {
            return;
        }
        let mut at = searched.saturating_sub(1);
        while let Some(indent) = self.indents.pop_if(|indent| column.is_none_or(|column| *indent > column)) {
            let mut from = at;
            for comment in self.comments.iter().rev() {
                if comment.side == Side::Behind || comment.searched.end < from {
                    break;
                }
                if comment.column == indent {
                    at = comment.start;
                }
                from = comment.searched.start;
            }
            self.tokens.push(Token { kind: TokenKind::End, at });
        }
    }
}

/// The anchor, alias or tag at the beginning of a text, with its sign.
pub(super) fn word(text: &str, in_brackets: bool) -> &str {
    let ends = |c: char| c.is_whitespace() || in_brackets && matches!(c, ',' | '[' | ']' | '{' | '}');
    let end = match text.starts_with("!<") {
        true => text.find('>').map(|last| last + 1),
        false => text.find(ends),
    };
    &text[..end.unwrap_or(text.len())]
}
