//! Prints a YAML text again after a change, as go-yaml v3 prints a text that it has read. Order,
//! comments and styles stay, blank lines are removed, mappings are indented by two blanks and lists
//! by none.

use super::noted::{Document, Noted, Notes, Shape};
use super::tree::mapping::Mapping;
use super::tree::node::{Node, Pos, Scalar, Value};
use super::{Entry, Source};
use rustomize_base::meter::FastMap;

/// What a text has beside the values of its tree: comments, anchors, aliases and tags.
#[derive(Debug)]
pub struct Layout<'a> {
    source: &'a Source,
    /// The comments above and below the whole document.
    document: Notes,
    /// What is beside the scalars and aliases, by offset.
    scalars: FastMap<usize, Beside<'a>>,
    /// What is beside the mappings and lists, by the offset of the first key, dash, bracket or
    /// anchor.
    collections: FastMap<usize, Beside<'a>>,
}

/// What a text has beside the value of a node.
#[derive(Clone, Debug, Default)]
struct Beside<'a> {
    notes: Notes,
    /// The name of the anchor, or an empty text.
    anchor: &'a str,
    /// The tag as it is written, or an empty text.
    tag: &'a str,
    /// The name of the anchor that an alias names.
    alias: Option<&'a str>,
}

impl<'a> Layout<'a> {
    /// Finds what a text has beside the values of `root`, the tree that was read from it. In a text
    /// with anchors, tags or merge keys, the tree as it is written takes the place of `root`: an
    /// alias is a text of its sign and its name, and `<<` is a key as any other. `None` if the text
    /// has parts that cannot be printed again: explicit keys, and keys that are lists or mappings.
    /// O(size of the text).
    pub fn of(source: &'a Source, root: &mut Node<'a>) -> Option<Self> {
        let Document { root: noted, notes, .. } = Document::of(source, 0..source.text.len(), root)?;
        if noted.is_resolved() {
            *root = noted.as_written(source);
        }
        let mut layout =
            Layout { source, document: notes, scalars: FastMap::default(), collections: FastMap::default() };
        noted.walk(&mut |node| {
            let alias = if let Shape::Alias(name) = node.shape { Some(name) } else { None };
            let beside = Beside { notes: node.notes.clone(), anchor: node.anchor, tag: node.tag, alias };
            let is_empty = node.anchor.is_empty() && node.tag.is_empty() && alias.is_none();
            let Some(at) = node.at.filter(|_| !is_empty || node.notes != Notes::default()) else { return };
            let into = if node.is_collection() { &mut layout.collections } else { &mut layout.scalars };
            into.insert(at, beside);
        });
        Some(layout)
    }

    /// Returns true if a node of the tree is an alias.
    pub fn is_alias(&self, node: &Node<'_>) -> bool {
        let at = self.source.offset(node.pos()).filter(|_| node.as_scalar().is_some());
        at.and_then(|at| self.scalars.get(&at)).is_some_and(|beside| beside.alias.is_some())
    }

    /// Prints the tree, without a line end after it.
    pub fn print(&self, root: &Node<'a>) -> String {
        let document = Document { notes: self.document.clone(), ..Document::new(self.noted(root)) };
        document.print().trim().to_owned()
    }

    /// The tree with what the text has beside it.
    fn noted(&self, node: &Node<'a>) -> Noted<'a> {
        let at = self.source.offset(node.pos());
        match &node.value {
            Value::Scalar(s) => self.scalar(*s, at),
            Value::Sequence(list) => {
                let items: Vec<_> = list.iter().map(|item| self.noted(item)).collect();
                let in_brackets = list.is_in_brackets();
                beside(Noted::new(Shape::Sequence { items, in_brackets }), at, &self.collections)
            }
            Value::Mapping(m) => {
                let key = |entry: &Entry<'a>| self.scalar(entry.key.as_scalar(), self.source.offset(entry.key.pos));
                let entries = in_order(m).into_iter().map(|entry| (key(entry), self.noted(&entry.value))).collect();
                let in_braces = m.is_in_braces();
                beside(Noted::new(Shape::Mapping { entries, in_braces }), at, &self.collections)
            }
        }
    }

    fn scalar(&self, scalar: Scalar<'a>, at: Option<usize>) -> Noted<'a> {
        beside(Noted::scalar(scalar), at, &self.scalars)
    }
}

/// Adds what a text has beside a node at an offset.
fn beside<'a>(node: Noted<'a>, at: Option<usize>, known: &FastMap<usize, Beside<'a>>) -> Noted<'a> {
    let Beside { notes, anchor, tag, alias } = at.and_then(|at| known.get(&at)).cloned().unwrap_or_default();
    let shape = alias.map_or(node.shape, Shape::Alias);
    Noted { shape, notes, anchor, tag, at }
}

/// The entries in the order of the text, new ones last.
fn in_order<'m, 'a>(m: &'m Mapping<'a>) -> Vec<&'m Entry<'a>> {
    let mut entries: Vec<_> = m.iter().collect();
    entries.sort_by_key(|e| if e.key.pos == Pos::NONE { u32::MAX } else { e.key.pos.0 });
    entries
}

#[cfg(test)]
#[allow(unreachable_pub, reason = "tests/name_hash.rs has this file, too")]
#[path = "../../tests/random_text.rs"]
mod random_text;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Heap, first_document};

    #[track_caller]
    fn check(input: &str, expect: &str) {
        let heap = Heap::new();
        let arena = heap.arena();
        let source = arena.add_source("text", input.to_owned());
        let mut root = first_document(arena, source).unwrap().unwrap();
        let layout = Layout::of(source, &mut root).expect("it is printed anew");
        assert_eq!(layout.print(&root), expect);
    }

    #[test]
    fn keeps_order_styles_and_comments() {
        check("b: 1\na: 'x'   # why\n\n# above c\nc:\n    d: \"q\"\n", "b: 1\na: 'x' # why\n# above c\nc:\n  d: \"q\"");
        check(
            "l:\n  - a\n  - b: 1\n    c: {x: 1,  y: [1,2]}\n  - - n\n    - m\n",
            "l:\n- a\n- b: 1\n  c: {x: 1, y: [1, 2]}\n- - n\n  - m",
        );
        check(
            "# top\n\na: 1\n# under a\n\nb: # here\n  c: 1\n  # end of b\nd: 2\n# last\n",
            "# top\n\na: 1\n# under a\n\nb: # here\n  c: 1\n  # end of b\nd: 2\n# last",
        );
        check("---\na:\nb: ~\nc: |\n  x\n   y\n\nd: []\n", "a:\nb: ~\nc: |\n  x\n   y\nd: []");
    }

    #[test]
    fn keeps_anchors_tags_and_merge_keys() {
        check("a: &x   {b: 1}\nc:   *x\n", "a: &x {b: 1}\nc: *x");
        check("a: &x\n    b: 1\nc:\n- *x\n-   *x\n", "a: &x\n  b: 1\nc:\n- *x\n- *x");
        check("a: !!str   1\nb: !Ref c\nd: !Sub {e: f}\n", "a: !!str 1\nb: !Ref c\nd: !Sub {e: f}");
        check("&k a: 1\n*k : 2\n", "&k a: 1\n*k: 2");
        check("a: ! b\nc: !<tag:yaml.org,2002:str> 1\nd: !<a,b> 2\n", "a: b\nc: !!str 1\nd: !<a,b> 2");
        // go-yaml gives the key of a merge its tag.
        check("a: &x {b: 1}\nc:\n  <<:   *x\n", "a: &x {b: 1}\nc:\n  !!merge <<: *x");
    }

    #[test]
    fn texts_over_several_lines() {
        check("a: one\n  two  # c\nb: 1\n", "a: one two # c\nb: 1");
        check("a: one\n\n  two\n", "a: |-\n  one\n  two");
        check("a: 'it''s\n\n\n  b'\n", "a: 'it''s\n\n\n  b'");
        check("a: \"x\n\n  b\\\n  c\"\n", "a: \"x\\nbc\"");
        // The printer writes the line end of a folded text twice.
        check("l:\n- >\n  a\n  b\n- 1\n", "l:\n- >\n  a b\n\n- 1");
        check("a: >-\n  a\n\n  b\n", "a: >-\n  a\n\n  b");
        check("a: [one\n  two, 'b\n\n c']\n", "a: [one two, 'b\n\n    c']");
    }

    /// The printer's treatment of comments, which is that of kustomize.
    #[test]
    fn comments_stand_where_go_yaml_puts_them() {
        // An empty line separates a foot from a line of the same depth.
        check("a: 1\n# foot\n\nb: 2\n", "a: 1\n# foot\n\nb: 2");
        check("a:\n  b: 1\n# left of it\nc: 2\n", "a:\n  b: 1\n# left of it\nc: 2");
        check("a: 1\n\n# of the document\n", "a: 1\n\n# of the document");
        // After a quoted text in the first line no foot is searched.
        check("a: \"1\"\n# head\n\nb: 2\n", "a: \"1\"\n# head\nb: 2");
        check("- # of the entry\n  a: 1\n", "- # of the entry\n  a: 1");
        check("# of the item\n- a: 1\n", "# of the item\n- a: 1");
        check("- a: 1\n  # end of the item\n# end of the list\n", "- a: 1\n  # end of the item\n\n# end of the list");
        check("a: [1, # one\n    2]\n", "a: [1, # one\n  2]");
        check("a: # of the key\n  'text'\n", "a: 'text' # of the key");
    }

    #[test]
    fn some_texts_are_left_alone() {
        let refused = |input: &str| {
            let heap = Heap::new();
            let arena = heap.arena();
            let source = arena.add_source("text", input.to_owned());
            let mut root = first_document(arena, source).unwrap().unwrap();
            Layout::of(source, &mut root).is_none()
        };
        for text in ["? a\n: b\n", "? a\n"] {
            assert!(refused(text), "{text}");
        }
    }

    /// Blocks without comments: a comment behind their sign is printed elsewhere.
    const PARTS: random_text::Parts = random_text::Parts {
        values: &["1", "'it''s'", "\"a\\tb\"", "plain text", "~", "", "[1, {a: b}]", "{}", "true", "a-b", "\"#no\""],
        blocks: &["|"],
        has_left_comments: false,
    };

    #[test]
    fn what_is_printed_reads_the_same() {
        for seed in 0..3000 {
            let mut input = String::new();
            random_text::write(PARTS, &mut fastrand::Rng::with_seed(seed), 0, 0, &mut input);
            let heap = Heap::new();
            let arena = heap.arena();
            let read = |text: &str| {
                let source = arena.add_source("text", text.to_owned());
                (source, first_document(arena, source).ok().flatten())
            };
            let (source, Some(mut root)) = read(&input) else { continue };
            let Some(layout) = Layout::of(source, &mut root) else { continue };
            let printed = layout.print(&root);
            // Upstream cuts off the last line end. Without it, a block at the end would lose its
            // own line end.
            let (_, again) = read(&format!("{printed}\n"));
            let again = again.unwrap_or_else(|| panic!("{input}\n-- becomes --\n{printed}"));
            assert!(again.same(&root), "other values:\n{input}\n-- becomes --\n{printed}");
            // As in go-yaml, this may lose a comment.
            let comments = |text: &str| text.matches("# ").count();
            assert!(comments(&printed) <= comments(&input), "{input}\n-- becomes --\n{printed}");
        }
    }
}
