//! Values to be written as YAML, with marks that say how, and the ways to make one smaller.

/// A value. Its spelling is part of the test, so nothing in it has been read.
#[derive(Clone, Debug, PartialEq)]
pub enum V {
    /// A scalar, written as it is spelled here.
    S(String),
    /// Lines of text. A mark says whether they become a plain, quoted, literal or folded text.
    T(Vec<String>),
    /// A text that holds documents, such as an inline patch.
    D(Vec<V>),
    L(Vec<V>),
    M(Vec<(String, V)>),
    /// Another value and how it is written.
    Marked(Vec<Mark>, Box<V>),
}

/// One departure from the plain style: block collections, two columns a level, lists deeper than
/// their key.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// In brackets, on one line.
    Flow,
    /// In brackets, over several lines.
    Lines(Lines),
    /// A list whose dashes stand in the column of its key.
    SameIndent,
    /// So many columns to the first thing inside, in place of two.
    Step(usize),
    /// A comment or a blank line above, in the column of the value, or in the first one.
    Above(&'static str, bool),
    /// A comment at the end of the line.
    Tail(&'static str),
    /// A comment below a collection.
    Below(&'static str),
    /// An anchor or a tag.
    Property(String),
    /// How the key is written.
    Key(KeyStyle),
    /// How a text is written.
    Text(TextStyle),
}

/// Brackets over several lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    /// The column of the items, counted from that of the key.
    pub column: isize,
    /// The column of the closing bracket, counted from that of the key.
    pub close: isize,
    pub trailing_comma: bool,
    pub comment: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeyStyle {
    Double,
    Single,
    /// `? key`.
    Explicit,
    /// `key :`.
    Spaced,
    /// `!!str key`.
    Tagged,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TextStyle {
    /// `|` with a chomping sign; the indentation may be said.
    Literal(&'static str, bool),
    /// `>` with a chomping sign; the indentation may be said.
    Folded(&'static str, bool),
    Plain,
    Single,
    /// With a `\n` for each new line, or over as many lines as there are.
    Double(bool),
}

pub fn s(text: impl Into<String>) -> V {
    V::S(text.into())
}

pub fn m(entries: Vec<(&str, V)>) -> V {
    V::M(entries.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
}

/// A text in single quotes.
pub fn quoted(text: &str) -> V {
    s(format!("'{}'", text.replace('\'', "''")))
}

/// A list of one.
pub fn one(value: V) -> V {
    V::L(vec![value])
}

impl V {
    /// Adds a mark.
    pub fn mark(&mut self, mark: Mark) {
        if let V::Marked(marks, _) = self {
            return marks.push(mark);
        }
        let bare = std::mem::replace(self, V::L(Vec::new()));
        *self = V::Marked(vec![mark], Box::new(bare));
    }

    /// The marks, and the value without them.
    pub fn parts(&self) -> (&[Mark], &V) {
        match self {
            V::Marked(marks, value) => (marks, value),
            value => (&[], value),
        }
    }

    /// The value without its marks.
    pub fn bare(&self) -> &V {
        self.parts().1
    }

    /// The value without its marks.
    pub fn bare_mut(&mut self) -> &mut V {
        match self {
            V::Marked(_, value) => value.bare_mut(),
            value => value,
        }
    }

    /// Takes the comments away that marks add; blank lines stay.
    pub fn remove_comments(&mut self) {
        if let V::Marked(marks, _) = self {
            marks.retain(|mark| match mark {
                Mark::Above(text, _) | Mark::Below(text) => !text.starts_with('#'),
                mark => !matches!(mark, Mark::Tail(_)),
            });
            for mark in marks {
                if let Mark::Lines(lines) = mark {
                    lines.comment = false;
                }
            }
        }
        self.children_mut().into_iter().for_each(V::remove_comments);
    }

    /// The values right inside: items, or values of keys.
    pub fn children_mut(&mut self) -> Vec<&mut V> {
        match self.bare_mut() {
            V::L(items) | V::D(items) => items.iter_mut().collect(),
            V::M(entries) => entries.iter_mut().map(|(_, v)| v).collect(),
            _ => Vec::new(),
        }
    }
}

/// The value at a path of keys.
pub fn at<'v>(value: &'v V, path: &[&str]) -> Option<&'v V> {
    let Some((key, rest)) = path.split_first() else { return Some(value) };
    match value.bare() {
        V::M(entries) => entries.iter().find(|(k, _)| k == key).and_then(|(_, v)| at(v, rest)),
        _ => None,
    }
}

/// The scalar at a path of keys, if it exists.
pub fn text(value: &V, path: &[&str]) -> String {
    match at(value, path).map(V::bare) {
        Some(V::S(text)) => text.clone(),
        _ => String::new(),
    }
}

/// All lists that are this one less one item, then those with one item smaller.
pub fn smaller_list(items: &[V], least: usize) -> Vec<Vec<V>> {
    let without = (0..items.len()).filter(|_| items.len() > least).map(|i| {
        let mut less = items.to_vec();
        less.remove(i);
        less
    });
    let changed = (0..items.len()).flat_map(|i| {
        smaller(&items[i]).into_iter().map(move |item| {
            let mut changed = items.to_vec();
            changed[i] = item;
            changed
        })
    });
    without.chain(changed).collect()
}

fn smaller_map(entries: &[(String, V)]) -> Vec<Vec<(String, V)>> {
    let without = (0..entries.len()).map(|i| {
        let mut less = entries.to_vec();
        less.remove(i);
        less
    });
    let changed = (0..entries.len()).flat_map(|i| {
        smaller(&entries[i].1).into_iter().map(move |value| {
            let mut changed = entries.to_vec();
            changed[i].1 = value;
            changed
        })
    });
    without.chain(changed).collect()
}

/// Every value that is this one less one thing, the large things first.
pub fn smaller(value: &V) -> Vec<V> {
    match value {
        V::S(text) if text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-./*".contains(&b)) => Vec::new(),
        V::S(_) => vec![s("x")],
        V::T(lines) if lines.len() > 1 => (0..lines.len())
            .map(|i| {
                let mut less = lines.clone();
                less.remove(i);
                V::T(less)
            })
            .collect(),
        V::T(_) => vec![s("x")],
        V::D(documents) => smaller_list(documents, 1).into_iter().map(V::D).collect(),
        V::L(items) => smaller_list(items, 0).into_iter().map(V::L).collect(),
        V::M(entries) => smaller_map(entries).into_iter().map(V::M).collect(),
        V::Marked(marks, value) => {
            let mut all = vec![(**value).clone()];
            for i in (0..marks.len()).filter(|_| marks.len() > 1) {
                let mut less = marks.clone();
                less.remove(i);
                all.push(V::Marked(less, value.clone()));
            }
            all.extend(smaller(value).into_iter().map(|v| V::Marked(marks.clone(), Box::new(v))));
            all
        }
    }
}
