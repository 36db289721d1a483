//! The comments of a text, each at the node where go-yaml v3 puts it: above the node, after it on
//! its line, or below it.
//!
//! go-yaml notes comments while it looks for the next token. A comment below a token that is
//! followed by an empty line is the foot of the node that the token ends. The same holds for a
//! comment that is left of its block. All other comments belong to the next token, as comments
//! above it.
//!
//! [`Scanner`] finds tokens and comments, and [`Parser`] gives the comments to nodes.

use super::tree::node::Style;
use crate::meter::FastMap;
use std::ops::Range;

/// The comments of one node. Each may have several lines, or is empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    /// Above the node.
    pub head: String,
    /// After the node, on its line.
    pub line: String,
    /// Below the node.
    pub foot: String,
}

/// The comments of a text.
#[derive(Debug, Default)]
pub(super) struct Comments {
    /// The comments above and below the whole document.
    pub document: Notes,
    /// The comments of scalars, by offset. A comment below a value belongs to its key.
    pub scalars: FastMap<usize, Notes>,
    /// The comments of mappings and lists, by the offset of the first key, dash or bracket.
    pub collections: FastMap<usize, Notes>,
}

impl Comments {
    /// Finds the comments of the first document of a text. `scalars` are the ranges of its scalars,
    /// in order, none of them empty. `None` if the document contains anything but scalars,
    /// comments, and the signs of mappings and lists. O(size of the text).
    pub fn of(text: &str, scalars: &[(Range<usize>, Style)]) -> Option<Comments> {
        let scanner = Scanner {
            text,
            first_break: text.find('\n').unwrap_or(text.len()),
            tokens: vec![Token { kind: Kind::Start, at: 0 }],
            comments: Vec::new(),
            at: 0,
            line_start: 0,
            breaks: 0,
            indents: Vec::new(),
            flow: 0,
        };
        let (tokens, comments) = scanner.scan(scalars)?;
        let mut parser = Parser { tokens, comments: comments.into(), ..Parser::default() };
        parser.document()?;
        Some(parser.found)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
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
struct Token {
    kind: Kind,
    /// Offset in bytes.
    at: usize,
}

/// The side of a node on which a comment is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Side {
    Above,
    Behind,
    Below,
}

#[derive(Debug)]
struct Comment {
    side: Side,
    text: String,
    /// The comment belongs to the first token at or after this offset.
    mark: usize,
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

impl Scanner<'_> {
    fn scan(mut self, scalars: &[(Range<usize>, Style)]) -> Option<(Vec<Token>, Vec<Comment>)> {
        let mut scalars = scalars.iter().peekable();
        loop {
            let searched = self.at;
            self.gap();
            self.end_blocks(Some(self.column()), searched);
            let rest = &self.text[self.at..];
            let is_marker =
                self.column() == 0 && rest.get(3..).is_some_and(|r| r.is_empty() || r.starts_with([' ', '\n']));
            if is_marker && rest.starts_with("---") && self.tokens.len() == 1 {
                self.tokens.push(Token { kind: Kind::Document, at: self.at });
                self.pass(self.at + 3);
                continue;
            }
            if rest.is_empty() || is_marker && (rest.starts_with("---") || rest.starts_with("...")) {
                self.end_blocks(None, self.at);
                self.tokens.push(Token { kind: Kind::Stop, at: self.at });
                return Some((self.tokens, self.comments));
            }
            let before = self.tokens.last().map_or(0, |token| token.at);
            let mut mark = self.at;
            match scalars.next_if(|(span, _)| span.start == self.at) {
                Some((span, style)) => {
                    self.tokens.push(Token { kind: Kind::Scalar, at: span.start });
                    self.pass(span.end);
                    // The end of such a scalar is found after all empty lines.
                    if matches!(style, Style::Plain | Style::Literal) {
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
            if self.tokens.last().is_some_and(|token| token.kind != Kind::Dash) {
                self.line_comment(mark);
            }
        }
    }

    fn sign(&mut self, sign: u8) -> Option<()> {
        let kind = match sign {
            b':' => {
                let key = self.tokens.pop().filter(|token| token.kind == Kind::Scalar)?;
                let column = key.at - self.text[..key.at].rfind('\n').map_or(0, |i| i + 1);
                if self.flow == 0 && self.indents.last().is_none_or(|indent| *indent < column) {
                    self.indents.push(column);
                    self.tokens.push(Token { kind: Kind::Mapping, at: key.at });
                }
                self.tokens.extend([Token { kind: Kind::Key, at: key.at }, key]);
                Kind::Colon
            }
            b'-' if self.flow == 0 => {
                let column = self.column();
                if self.indents.last().is_none_or(|indent| *indent < column) {
                    self.indents.push(column);
                    self.tokens.push(Token { kind: Kind::List, at: self.at });
                }
                Kind::Dash
            }
            b',' => Kind::Comma,
            b'{' | b'[' => {
                self.flow += 1;
                Kind::Open
            }
            b'}' | b']' => {
                self.flow = self.flow.checked_sub(1)?;
                Kind::Close
            }
            _ => return None,
        };
        self.tokens.push(Token { kind, at: self.at });
        self.pass(self.at + 1);
        Some(())
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
        let last = tokens.next().map(|t| if t.kind == Kind::Comma { tokens.next().unwrap_or(t) } else { t });
        let is_value = last.is_some_and(|token| token.kind == Kind::Colon);
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
            self.tokens.push(Token { kind: Kind::End, at });
        }
    }
}

/// Assigns the comments to the nodes that the tokens form.
#[derive(Default)]
struct Parser {
    tokens: Vec<Token>,
    /// The index of the current token.
    next: usize,
    comments: std::collections::VecDeque<Comment>,
    /// The comments that do not belong to a node yet.
    pending: Notes,
    /// The comment above an item that is a mapping or list.
    stem: String,
    found: Comments,
}

impl Parser {
    /// Returns the next token, and collects the comments that belong to it.
    fn peek(&mut self) -> Token {
        let token = self.tokens.get(self.next).copied().unwrap_or(Token { kind: Kind::Stop, at: usize::MAX });
        while let Some(comment) = self.comments.pop_front_if(|comment| {
            comment.mark <= token.at && !(comment.side == Side::Above && token.kind == Kind::End)
        }) {
            let into = match comment.side {
                Side::Above => &mut self.pending.head,
                Side::Behind => &mut self.pending.line,
                Side::Below => &mut self.pending.foot,
            };
            if !into.is_empty() {
                into.push('\n');
            }
            into.push_str(&comment.text);
        }
        token
    }

    fn skip(&mut self) {
        self.next += 1;
    }

    fn take(&mut self) -> Notes {
        self.stem.clear();
        std::mem::take(&mut self.pending)
    }

    fn document(&mut self) -> Option<()> {
        self.peek();
        self.skip();
        match self.peek().kind {
            Kind::Document => self.skip(),
            _ => self.split_head(),
        }
        if self.peek().kind != Kind::Stop {
            self.node()?;
        }
        if self.peek().kind != Kind::Stop {
            return None;
        }
        let Notes { head, foot, .. } = self.take();
        self.found.document.foot = if foot.is_empty() { head } else { foot };
        Some(())
    }

    /// Comments above the last empty line belong to the document, not to its first node.
    fn split_head(&mut self) {
        let head = &mut self.pending.head;
        let (above, below) = match head.strip_suffix('\n') {
            Some(above) => (above.to_owned(), String::new()),
            None => match head.rfind("\n\n") {
                Some(i) => (head[..i].to_owned(), head[i + 2..].to_owned()),
                None => return,
            },
        };
        self.found.document.head = above;
        *head = below;
    }

    /// Reads a node. Returns true if it is a collection, and the offset at which its comments are
    /// kept.
    fn node(&mut self) -> Option<(bool, usize)> {
        let Token { kind, at } = self.peek();
        match kind {
            Kind::Scalar => {
                let notes = self.take();
                self.found.scalars.insert(at, notes);
                self.skip();
            }
            Kind::Open => self.brackets(at)?,
            Kind::Mapping => self.mapping(at)?,
            Kind::List => {
                self.begin(at);
                self.skip();
                while self.peek().kind == Kind::Dash {
                    self.item(&[Kind::Dash, Kind::End])?;
                }
                (self.peek().kind == Kind::End).then(|| self.skip())?;
            }
            Kind::Dash => {
                while self.peek().kind == Kind::Dash {
                    self.item(&[Kind::Dash, Kind::Key, Kind::Colon, Kind::End])?;
                }
            }
            _ => return None,
        }
        Some((kind != Kind::Scalar, at))
    }

    /// Begins a block mapping or list.
    fn begin(&mut self, at: usize) {
        let head = std::mem::take(&mut self.stem);
        self.found.collections.insert(at, Notes { head, ..Notes::default() });
    }

    /// Reads an item. `behind` are the tokens that follow an empty item.
    fn item(&mut self, behind: &[Kind]) -> Option<()> {
        let above = self.pending.head.len();
        self.skip();
        let kind = self.peek().kind;
        if above > 0 && matches!(kind, Kind::List | Kind::Mapping) {
            let below = self.pending.head.split_off(above);
            let below = below.strip_prefix('\n').unwrap_or(&below).to_owned();
            self.stem = std::mem::replace(&mut self.pending.head, below);
        }
        if !behind.contains(&kind) {
            self.node()?;
        }
        Some(())
    }

    fn mapping(&mut self, at: usize) -> Option<()> {
        self.begin(at);
        self.skip();
        let mut previous = None;
        while self.peek().kind == Kind::Key {
            let key = self.key()?;
            // A comment that ends the previous value is found at this key: it belongs to the
            // previous key.
            if let Some(previous) = previous
                && let Some(notes) = self.found.scalars.get_mut(&key)
                && !notes.foot.is_empty()
            {
                let foot = std::mem::take(&mut notes.foot);
                self.found.scalars.entry(previous).or_default().foot = foot;
            }
            self.value(key, &[Kind::Key, Kind::Colon, Kind::End])?;
            previous = Some(key);
        }
        (self.peek().kind == Kind::End).then_some(())?;
        let Notes { line, foot, .. } = self.take();
        self.skip();
        self.found.collections.entry(at).or_default().line = line;
        if let (Some(previous), false) = (previous, foot.is_empty()) {
            self.found.scalars.entry(previous).or_default().foot = foot;
        }
        Some(())
    }

    /// Reads a key with its colon. Returns its offset.
    fn key(&mut self) -> Option<usize> {
        self.skip();
        let Token { kind, at } = self.peek();
        (kind == Kind::Scalar).then_some(())?;
        let notes = self.take();
        self.found.scalars.insert(at, notes);
        self.skip();
        (self.peek().kind == Kind::Colon).then(|| self.skip())?;
        Some(at)
    }

    /// Reads a key's value, and gives the comment below the value to the key. `behind` are the
    /// tokens that follow an empty value.
    fn value(&mut self, key: usize, behind: &[Kind]) -> Option<()> {
        if behind.contains(&self.peek().kind) {
            return Some(());
        }
        let (is_collection, value) = self.node()?;
        let found = &mut self.found;
        let nodes = if is_collection { &mut found.collections } else { &mut found.scalars };
        let foot = nodes.get(&value).map(|notes| notes.foot.clone()).unwrap_or_default();
        let own = found.scalars.entry(key).or_default();
        if own.foot.is_empty() && !foot.is_empty() {
            own.foot = foot;
            let nodes = if is_collection { &mut found.collections } else { &mut found.scalars };
            nodes.entry(value).or_default().foot.clear();
        }
        Some(())
    }

    fn brackets(&mut self, at: usize) -> Option<()> {
        let Notes { head, .. } = self.take();
        self.skip();
        loop {
            match self.peek().kind {
                Kind::Close => break,
                Kind::Comma => self.skip(),
                Kind::Key => {
                    let key = self.key()?;
                    self.value(key, &[Kind::Comma, Kind::Close])?;
                }
                _ => {
                    self.node()?;
                }
            }
        }
        let Notes { line, foot, .. } = self.take();
        self.found.collections.insert(at, Notes { head, line, foot });
        self.skip();
        Some(())
    }
}
