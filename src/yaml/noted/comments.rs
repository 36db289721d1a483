//! A text into a tree with its comments, each at the node where go-yaml v3 puts it: above the node,
//! after it on its line, or below it.

use super::tokens::{Comment, Side, Token, TokenKind, scan, word};
use super::{Document, Noted, Notes, Shape};
use crate::tree::node::{Scalar, Style, Tag};
use rustomize_base::meter::FastMap;
use std::collections::VecDeque;
use std::ops::Range;

/// Makes the tree of the first document of a text. `scalars` are its scalars and their ranges, in
/// order, none of them empty. `None` if the document contains anything but scalars, aliases,
/// anchors, tags, comments, and the signs of mappings and lists. O(size of the text).
pub(super) fn document<'a>(text: &'a str, scalars: &[(Range<usize>, Scalar<'a>)]) -> Option<Document<'a>> {
    let (tokens, comments) = scan(text, scalars)?;
    let scalars = scalars.iter().map(|(span, scalar)| (span.start, *scalar)).collect();
    let parser = Parser {
        text,
        scalars,
        tokens,
        next: 0,
        comments: comments.into(),
        pending: Notes::default(),
        stem: String::new(),
        depth: 0,
    };
    parser.document()
}

/// Mappings and lists in brackets nested deeper than this are refused.
const MAX_DEPTH: usize = 1_000;

/// The place of a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Behind the colon of a key, where the dashes of a list may be in the column of the key.
    Value,
    Other,
}

/// Makes the nodes that the tokens form, with their comments.
struct Parser<'a> {
    text: &'a str,
    /// The scalars, by offset.
    scalars: FastMap<usize, Scalar<'a>>,
    tokens: Vec<Token>,
    /// The index of the current token.
    next: usize,
    comments: VecDeque<Comment>,
    /// The comments that do not belong to a node yet.
    pending: Notes,
    /// The comment above an item that is a mapping or list.
    stem: String,
    depth: usize,
}

impl<'a> Parser<'a> {
    /// Returns the next token, and collects the comments that belong to it.
    fn peek(&mut self) -> Token {
        let token = self.tokens.get(self.next).copied().unwrap_or(Token { kind: TokenKind::Stop, at: usize::MAX });
        while let Some(comment) = self.comments.pop_front_if(|comment| {
            comment.mark <= token.at && !(comment.side == Side::Above && token.kind == TokenKind::End)
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

    fn document(mut self) -> Option<Document<'a>> {
        self.peek();
        self.skip();
        let head = match self.peek().kind {
            TokenKind::Document => {
                self.skip();
                String::new()
            }
            _ => self.split_head(),
        };
        if self.peek().kind == TokenKind::Stop {
            return None;
        }
        let root = self.node(Place::Other)?;
        if self.peek().kind != TokenKind::Stop {
            return None;
        }
        let Notes { head: below, foot, .. } = self.take();
        let foot = if foot.is_empty() { below } else { foot };
        Some(Document { notes: Notes { head, line: String::new(), foot }, ..Document::new(root) })
    }

    /// Comments above the last empty line belong to the document, not to its first node.
    fn split_head(&mut self) -> String {
        let head = &mut self.pending.head;
        let (above, below) = match head.strip_suffix('\n') {
            Some(above) => (above.to_owned(), String::new()),
            None => match head.rfind("\n\n") {
                Some(i) => (head[..i].to_owned(), head[i + 2..].to_owned()),
                None => return String::new(),
            },
        };
        *head = below;
        above
    }

    /// The text of an anchor, alias or tag, with its sign.
    fn word(&self, at: usize) -> &'a str {
        word(&self.text[at..], true)
    }

    /// A value that the text leaves out.
    fn empty(at: usize) -> Noted<'a> {
        Noted::new(Shape::Scalar(Scalar::plain(""))).at(at)
    }

    fn node(&mut self, place: Place) -> Option<Noted<'a>> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let (mut anchor, mut tag, mut start) = ("", "", None);
        let token = loop {
            let token = self.peek();
            match token.kind {
                TokenKind::Anchor => anchor = &self.word(token.at)[1..],
                TokenKind::Tag => tag = self.word(token.at),
                _ => break token,
            }
            start.get_or_insert(token.at);
            self.skip();
        };
        let mut node = match token.kind {
            TokenKind::Scalar => self.scalar(token.at)?,
            TokenKind::Alias => {
                let notes = self.take();
                self.skip();
                Noted { notes, ..Noted::new(Shape::Alias(&self.word(token.at)[1..])).at(token.at) }
            }
            TokenKind::Open => self.brackets(token.at)?,
            TokenKind::Mapping => self.mapping(token.at)?,
            TokenKind::List => {
                let head = std::mem::take(&mut self.stem);
                self.skip();
                let mut items = Vec::new();
                while self.peek().kind == TokenKind::Dash {
                    items.push(self.item(&[TokenKind::Dash, TokenKind::End])?);
                }
                (self.peek().kind == TokenKind::End).then(|| self.skip())?;
                let notes = Notes { head, ..Notes::default() };
                Noted { notes, ..Noted::new(Shape::Sequence { items, in_brackets: false }).at(token.at) }
            }
            TokenKind::Dash if place == Place::Value => {
                let mut items = Vec::new();
                while self.peek().kind == TokenKind::Dash {
                    items.push(self.item(&[TokenKind::Dash, TokenKind::Key, TokenKind::Colon, TokenKind::End])?);
                }
                Noted::new(Shape::Sequence { items, in_brackets: false }).at(token.at)
            }
            // A node may consist of an anchor or a tag alone.
            _ => Self::empty(start?),
        };
        (node.anchor, node.tag) = (anchor, tag);
        if let Shape::Scalar(s) = &mut node.shape {
            *s = match tag {
                "!!str" if s.text().is_empty() => Scalar::new("", Style::Plain, Tag::Str).tagged(true),
                // This tag names no type.
                "!" => Scalar::new(s.text(), s.style(), Tag::Auto),
                _ => *s,
            };
        }
        if let Some(start) = start {
            node.at = Some(start);
        }
        self.depth -= 1;
        Some(node)
    }

    fn scalar(&mut self, at: usize) -> Option<Noted<'a>> {
        let scalar = match self.scalars.get(&at) {
            Some(scalar) => *scalar,
            None => Scalar::plain("<<"),
        };
        let notes = self.take();
        self.skip();
        Some(Noted { notes, ..Noted::new(Shape::Scalar(scalar)).at(at) })
    }

    /// Reads an item. `behind` are the tokens that follow an empty item.
    fn item(&mut self, behind: &[TokenKind]) -> Option<Noted<'a>> {
        let above = self.pending.head.len();
        let dash = self.peek();
        self.skip();
        let kind = self.peek().kind;
        if above > 0 && matches!(kind, TokenKind::List | TokenKind::Mapping) {
            let below = self.pending.head.split_off(above);
            let below = below.strip_prefix('\n').unwrap_or(&below).to_owned();
            self.stem = std::mem::replace(&mut self.pending.head, below);
        }
        if behind.contains(&kind) { Some(Self::empty(dash.at + 1)) } else { self.node(Place::Other) }
    }

    fn mapping(&mut self, at: usize) -> Option<Noted<'a>> {
        let head = std::mem::take(&mut self.stem);
        self.skip();
        let mut entries: Vec<(Noted<'a>, Noted<'a>)> = Vec::new();
        while self.peek().kind == TokenKind::Key {
            let mut key = self.key()?;
            // A comment that ends the previous value is found at this key: it belongs to the
            // previous key.
            if let Some((previous, _)) = entries.last_mut()
                && !key.notes.foot.is_empty()
            {
                previous.notes.foot = std::mem::take(&mut key.notes.foot);
            }
            let value = self.value(&mut key, &[TokenKind::Key, TokenKind::Colon, TokenKind::End])?;
            entries.push((key, value));
        }
        (self.peek().kind == TokenKind::End).then_some(())?;
        let Notes { line, foot, .. } = self.take();
        self.skip();
        if let (Some((previous, _)), false) = (entries.last_mut(), foot.is_empty()) {
            previous.notes.foot = foot;
        }
        let notes = Notes { head, line, foot: String::new() };
        Some(Noted { notes, ..Noted::new(Shape::Mapping { entries, in_braces: false }).at(at) })
    }

    /// Reads a key with its colon.
    fn key(&mut self) -> Option<Noted<'a>> {
        self.skip();
        let key = self.node(Place::Other)?;
        (!key.is_collection() && self.peek().kind == TokenKind::Colon).then_some(key)
    }

    /// Reads the value of a key, and gives the comment below the value to the key. `behind` are the
    /// tokens that follow an empty value.
    fn value(&mut self, key: &mut Noted<'a>, behind: &[TokenKind]) -> Option<Noted<'a>> {
        let colon = self.peek();
        self.skip();
        let next = self.peek();
        if behind.contains(&next.kind) {
            // In brackets go-yaml puts an empty value at the next token.
            let is_in_brackets = behind.contains(&TokenKind::Close);
            return Some(Self::empty(if is_in_brackets { next.at } else { colon.at + 1 }));
        }
        let mut value = self.node(Place::Value)?;
        if key.notes.foot.is_empty() {
            key.notes.foot = std::mem::take(&mut value.notes.foot);
        }
        Some(value)
    }

    fn brackets(&mut self, at: usize) -> Option<Noted<'a>> {
        let is_mapping = self.text[at..].starts_with('{');
        let Notes { head, .. } = self.take();
        self.skip();
        let (mut entries, mut items) = (Vec::new(), Vec::new());
        loop {
            let token = self.peek();
            match token.kind {
                TokenKind::Close => break,
                TokenKind::Comma => self.skip(),
                TokenKind::Key => {
                    let mut key = self.key()?;
                    let value = self.value(&mut key, &[TokenKind::Comma, TokenKind::Close])?;
                    match is_mapping {
                        true => entries.push((key, value)),
                        // A list may have an entry of a mapping without braces.
                        false => items.push(
                            Noted::new(Shape::Mapping { entries: vec![(key, value)], in_braces: true }).at(token.at),
                        ),
                    }
                }
                _ => {
                    let node = self.node(Place::Other)?;
                    match is_mapping {
                        true => {
                            (!node.is_collection()).then_some(())?;
                            let behind = self.peek().at;
                            entries.push((node, Self::empty(behind)));
                        }
                        false => items.push(node),
                    }
                }
            }
        }
        let Notes { line, foot, .. } = self.take();
        self.skip();
        let shape = match is_mapping {
            true => Shape::Mapping { entries, in_braces: true },
            false => Shape::Sequence { items, in_brackets: true },
        };
        Some(Noted { notes: Notes { head, line, foot }, ..Noted::new(shape).at(at) })
    }
}
