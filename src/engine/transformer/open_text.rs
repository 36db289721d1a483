//! [`OpenText`]: a text that replacement after replacement changes a piece of. It is taken apart
//! once, and put together when something else looks at its resource.

use super::structured_text::{self, Texts};
use crate::config::field_path::{Part, first_scalar};
use crate::config::kustomization::FieldOptions;
use crate::diag::Result;
use crate::merge::copies::check_text;
use crate::resource::Resource;
use rustomize_base::meter;
use rustomize_yaml::{Arena, Node, Pos, Scalar, Value};
use std::collections::VecDeque;

/// A text in a resource, taken apart.
pub(super) struct OpenText<'s, 'a> {
    /// The way to the text.
    path: &'s [Part<'a>],
    content: Content<'s, 'a>,
    is_changed: bool,
}

/// The path of a target that leads to a text or into one.
#[derive(Clone, Copy)]
pub(super) struct TextPath<'s, 'a> {
    pub path: &'s [Part<'a>],
    pub options: &'s FieldOptions<'a>,
    pub texts: Texts,
}

enum Content<'s, 'a> {
    Pieces { pieces: VecDeque<&'a str>, delimiter: &'s str },
    Json(Json<'a>),
}

/// A text that holds JSON: it is read when the second replacement changes it.
struct Json<'a> {
    text: &'a str,
    node: Option<Node<'a>>,
}

impl<'s, 'a> OpenText<'s, 'a> {
    /// Puts a value into the text that a path leads to or into. `false` if that has to be done
    /// without taking it apart; no text is open then.
    ///
    /// # Errors
    /// A text that was open cannot be put together.
    pub(super) fn put(
        open: &mut Option<Self>,
        resource: &mut Resource<'a>,
        arena: Arena<'a>,
        at: TextPath<'s, 'a>,
        value: &Scalar<'a>,
    ) -> Result<bool> {
        let TextPath { path, options, texts } = at;
        if !open.as_ref().is_some_and(|text| text.is_at(path, options, texts)) {
            OpenText::close(open, resource, arena)?;
            *open = OpenText::open(resource, arena, at);
        }
        let Some(text) = open else { return Ok(false) };
        let is_put = match &mut text.content {
            Content::Pieces { pieces, delimiter } => put_piece(pieces, delimiter, value.text(), options.index),
            Content::Json(json) => json.put(arena, &path[text.path.len()..], value),
        };
        text.is_changed |= is_put;
        if !is_put {
            OpenText::close(open, resource, arena)?;
        }
        Ok(is_put)
    }

    /// Puts the text of a resource together, if one is open.
    ///
    /// # Errors
    /// The text is too long.
    pub(super) fn close(open: &mut Option<Self>, resource: &mut Resource<'a>, arena: Arena<'a>) -> Result<()> {
        let Some(text) = open.take().filter(|text| text.is_changed) else { return Ok(()) };
        let is_json = matches!(text.content, Content::Json(_));
        let closed = match text.content {
            Content::Pieces { pieces, delimiter } => {
                let pieces: Vec<&str> = pieces.into();
                arena.text(check_text(&pieces.join(delimiter))?)
            }
            Content::Json(json) => check_text(json.print(arena))?,
        };
        let node = structured_text::lookup_mut(resource.node_mut(), text.path);
        let Some(node) = node else { return Ok(()) };
        if is_json {
            node.replace_text(closed, Pos::NONE);
        } else if let Some(tag) = node.as_scalar().map(Scalar::resolved_tag) {
            node.set_text(closed, tag, Pos::NONE);
        }
        if node.is_ahead() {
            resource.settle_shared();
        }
        Ok(())
    }

    fn open(
        resource: &Resource<'a>,
        arena: Arena<'a>,
        TextPath { path, options, texts }: TextPath<'s, 'a>,
    ) -> Option<Self> {
        let is_plain = |part: &Part<'_>| matches!(part, Part::Key(_) | Part::Index(_));
        if !path.iter().all(is_plain) {
            return None;
        }
        let (at, scalar) = first_scalar(resource.node(), path)?;
        let content = if at < path.len() {
            scalar
                .text()
                .trim_start()
                .starts_with(['{', '['])
                .then_some(Json { text: scalar.text(), node: None })
                .filter(|_| replaces_whole(options, texts))
                .filter(|json| structured_text::read(arena, json.text).is_some())
                .map(Content::Json)?
        } else {
            let delimiter = options.delimiter;
            let is_set = !delimiter.is_empty() && !scalar.text().is_empty();
            meter::count_text(scalar.text());
            is_set.then(|| Content::Pieces { pieces: scalar.text().split(delimiter).collect(), delimiter })?
        };
        Some(OpenText { path: &path[..at], content, is_changed: false })
    }

    /// Returns true if a path leads to, or into, this text.
    fn is_at(&self, path: &[Part<'a>], options: &FieldOptions<'a>, texts: Texts) -> bool {
        let is_same = |(a, b): (&Part<'_>, &Part<'_>)| match (a, b) {
            (Part::Key(a), Part::Key(b)) => a == b,
            (Part::Index(a), Part::Index(b)) => a == b,
            _ => false,
        };
        let is_below = path.len() >= self.path.len()
            && path.iter().zip(self.path).all(is_same)
            && path.iter().all(|part| matches!(part, Part::Key(_) | Part::Index(_)));
        let is_whole = path.len() == self.path.len();
        is_below
            && match &self.content {
                Content::Pieces { delimiter, .. } => is_whole && *delimiter == options.delimiter,
                Content::Json(_) => !is_whole && replaces_whole(options, texts),
            }
    }
}

/// Returns true if a value in a text is replaced as a whole.
fn replaces_whole(options: &FieldOptions<'_>, texts: Texts) -> bool {
    match texts {
        Texts::Closed => false,
        Texts::Whole => true,
        Texts::AsElsewhere => options.delimiter.is_empty(),
    }
}

/// As a replacement does it to the text; `false` if the piece is several.
fn put_piece<'a>(pieces: &mut VecDeque<&'a str>, delimiter: &str, piece: &'a str, index: i64) -> bool {
    if piece.contains(delimiter) {
        return false;
    }
    match usize::try_from(index) {
        Err(_) => pieces.push_front(piece),
        Ok(i) if i < pieces.len() => pieces[i] = piece,
        Ok(_) => pieces.push_back(piece),
    }
    true
}

impl<'a> Json<'a> {
    fn put(&mut self, arena: Arena<'a>, path: &[Part<'a>], value: &Scalar<'a>) -> bool {
        let is_first = self.node.is_none();
        let read = |text| Some(structured_text::read(arena, text)?.node);
        let Some(mut node) = self.node.take().or_else(|| read(self.text)) else { return false };
        let is_put =
            structured_text::lookup_mut(&mut node, path).is_some_and(|n| put_scalar(arena, n, value, is_first));
        if is_put && is_first {
            // Printed and read, values have other types: the next replacement has to see these.
            match structured_text::print(&node, self.text) {
                Some(text) => self.text = arena.text(&text),
                None => return false,
            }
            self.node = read(self.text);
            return true;
        }
        self.node = Some(node).filter(|_| !is_first);
        is_put
    }

    fn print(self, arena: Arena<'a>) -> &'a str {
        let printed = self.node.and_then(|node| structured_text::print(&node, self.text));
        printed.map_or(self.text, |text| arena.text(&text))
    }
}

/// Puts a text into a scalar of JSON, which keeps its type; `false` if it does not have that type.
/// A scalar that stays is left as it is printed and read.
fn put_scalar<'a>(arena: Arena<'a>, node: &mut Node<'a>, value: &Scalar<'a>, is_first: bool) -> bool {
    let Value::Scalar(old) = node.value() else { return false };
    let new = Scalar::new(value.text(), old.style(), old.resolved_tag());
    let Some(printed) = structured_text::print(&new.into(), "") else { return false };
    let read = || {
        structured_text::read(arena, &format!("[{printed}]"))
            .and_then(|list| list.node.as_sequence()?.first()?.as_scalar().copied())
    };
    match if is_first { Some(new) } else { read() } {
        Some(scalar) => node.set_scalar(scalar, Pos::NONE),
        None => return false,
    }
    true
}
