//! Tests of changes: examples, and random texts with random changes.

use super::{FileText, apply};
use crate::{Arena, Heap, Key, Mapping, Node, Pos, Scalar, Sequence, Tag, ValueMut, first_document};
use rustomize_base::meter;

/// Changes the fields of a text.
fn changed(text: &str, change: impl for<'a> FnOnce(Arena<'a>, &mut Mapping<'a>)) -> Result<String, String> {
    let heap = Heap::new();
    let arena = heap.arena();
    let source = arena.add_source("file", text.to_owned());
    let before = first_document(arena, source).unwrap();
    let mut after = before.clone().unwrap_or_else(|| Mapping::new().into());
    change(arena, after.as_mapping_mut().unwrap());
    apply(arena, FileText { source, written: text }, before.as_ref(), &after).map_err(|e| e.message)
}

#[track_caller]
fn check(text: &str, change: impl for<'a> FnOnce(Arena<'a>, &mut Mapping<'a>), want: &str) {
    assert_eq!(changed(text, change).unwrap(), want, "of:\n{text}");
}

/// The node at a path of keys and numbers.
fn at<'n, 'a>(fields: &'n mut Mapping<'a>, path: &str) -> &'n mut Node<'a> {
    let mut names = path.split('.');
    let mut node = fields.get_mut(names.next().unwrap()).unwrap();
    for name in names {
        node = match name.parse::<usize>() {
            Ok(i) => &mut node.as_sequence_mut().unwrap()[i],
            Err(_) => node.as_mapping_mut().unwrap().get_mut(name).unwrap(),
        };
    }
    node
}

fn set<'a>(arena: Arena<'a>, fields: &mut Mapping<'a>, path: &str, text: &str) {
    at(fields, path).set_text(arena.text(text), Tag::Str, Pos::NONE);
}

fn push<'a>(fields: &mut Mapping<'a>, path: &str, node: impl Into<Node<'a>>) {
    at(fields, path).as_sequence_mut().unwrap().push(node.into());
}

fn remove(fields: &mut Mapping<'_>, path: &str, i: usize) {
    at(fields, path).as_sequence_mut().unwrap().remove(i);
}

/// A text that no other entry has.
fn new_text(arena: Arena<'_>, i: usize) -> &str {
    arena.text(&format!("new{i}"))
}

fn map<'a>(entries: &[(&'a str, &'a str)]) -> Node<'a> {
    let mut mapping = Mapping::new();
    for (key, value) in entries {
        mapping.insert(Key::string(key), Node::string(value));
    }
    mapping.into()
}

/// A text with many entries, and the change of one of them.
type Growing = (&'static str, fn(usize) -> String, for<'a> fn(Arena<'a>, &mut Mapping<'a>, usize));

fn many_items(n: usize) -> String {
    format!("list:\n{}", (0..n).map(|i| format!("- i{i}\n")).collect::<String>())
}

fn many_entries(n: usize) -> String {
    format!("map:\n{}", (0..n).map(|i| format!("  k{i}: v\n")).collect::<String>())
}

#[test]
fn many_changes_take_linear_time() {
    let changes: [Growing; 5] = [
        ("values of entries", many_entries, |arena, f, i| set(arena, f, &format!("map.k{i}"), "w")),
        (
            "values of entries, with CRLF",
            |n| many_entries(n).replace('\n', "\r\n"),
            |arena, f, i| {
                set(arena, f, &format!("map.k{i}"), "w");
            },
        ),
        ("new entries", many_entries, |arena, f, i| {
            let map = at(f, "map").as_mapping_mut().unwrap();
            map.insert(Key::string(new_text(arena, i)), Node::string("v"));
        }),
        ("new items", many_items, |arena, f, i| push(f, "list", Node::string(new_text(arena, i)))),
        ("removed items", many_items, |_, f, i| {
            if i % 2 == 0 {
                remove(f, "list", i / 2);
            }
        }),
    ];
    for (what, text, change) in changes {
        let steps = |n: usize| {
            let heap = Heap::new();
            let arena = heap.arena();
            let written = text(n);
            let source = arena.add_source("file", written.replace("\r\n", "\n"));
            let before = first_document(arena, source).unwrap();
            let mut after = before.clone().unwrap();
            (0..n).for_each(|i| change(arena, after.as_mapping_mut().unwrap(), i));
            meter::reset();
            apply(arena, FileText { source, written: &written }, before.as_ref(), &after).unwrap();
            meter::taken()
        };
        let (few, many) = (steps(2_000), steps(8_000));
        assert!(many <= 5 * few, "{what}: {few} steps for 2,000, {many} for 8,000");
    }
}

#[test]
fn a_scalar_keeps_its_quotes_and_its_comment() {
    let text = "# first\nnamespace:   'a' # why\n\nnamePrefix: \"b\"\nnameSuffix: c#d # e\n";
    check(text, |a, f| set(a, f, "namespace", "it's"), &text.replace("'a'", "'it''s'"));
    check(text, |a, f| set(a, f, "namePrefix", "x\"y"), &text.replace("\"b\"", "\"x\\\"y\""));
    check(text, |a, f| set(a, f, "nameSuffix", "z"), &text.replace("c#d", "z"));
    check(text, |a, f| set(a, f, "nameSuffix", "1"), &text.replace("c#d", "\"1\""));
    check("a: >-\n  x\n  y\n# c\nb: z\n", |a, f| set(a, f, "a", "q"), "a: q\n# c\nb: z\n");
    check("a: x\n  y # c\nb: z\n", |a, f| set(a, f, "a", "q"), "a: q # c\nb: z\n");
    check("a:\nb: z\n", |a, f| set(a, f, "a", "q"), "a: q\nb: z\n");
    check("a: # c\nb: z\n", |a, f| set(a, f, "a", "q"), "a: q # c\nb: z\n");
    check("a: x\n", |a, f| set(a, f, "a", "1\n2\n"), "a: |\n  1\n  2\n");
}

#[test]
fn items_of_blocks() {
    let text = "r:\n# one\n- a # 1\n\n# two\n- b\n# end\n\nx: y\n";
    check(text, |_, f| push(f, "r", Node::string("c")), &text.replace("- b\n", "- b\n- c\n"));
    check(text, |_, f| remove(f, "r", 0), &text.replace("- a # 1\n", ""));
    check(text, |_, f| remove(f, "r", 1), &text.replace("- b\n", ""));
    check(
        text,
        |_, f| at(f, "r").as_sequence_mut().unwrap().insert(0, Node::string("c")),
        &text.replace("- a", "- c\n- a"),
    );
    check("r:\n  - a", |_, f| push(f, "r", map(&[("n", "1"), ("m", "x")])), "r:\n  - a\n  - m: x\n    \"n\": \"1\"");
    check(
        "r:\n- a: x\n  b:\n  - y\n- c: z\n",
        |_, f| push(f, "r.0.b", Node::string("w")),
        "r:\n- a: x\n  b:\n  - y\n  - w\n- c: z\n",
    );
    check("r: [] # none\nx: y\n", |_, f| push(f, "r", Node::string("a")), "r: # none\n- a\nx: y\n");
    check("r:\n- a: b\n  c: d\n", |_, f| drop(at(f, "r.0").as_mapping_mut().unwrap().remove("a")), "r:\n- c: d\n");
    check("r:\n- a: b\n  c: d\n", |_, f| drop(at(f, "r.0").as_mapping_mut().unwrap().remove("c")), "r:\n- a: b\n");
    let replace = |_: Arena<'_>, f: &mut Mapping<'_>| {
        let list = at(f, "r").as_sequence_mut().unwrap();
        *list = Sequence::from_iter([Node::string("x")]);
    };
    check("r:\n- a # 1\n- b\nx: y\n", replace, "r:\n- x\nx: y\n");
}

#[test]
fn items_of_brackets() {
    let add = |_: Arena<'_>, f: &mut Mapping<'_>| push(f, "r", map(&[("n", "a,b"), ("m", "x")]));
    check("r: [a, b]  # c\n", add, "r: [a, b, {m: x, \"n\": \"a,b\"}]  # c\n");
    let lines = "r: [\n  a, # 1\n  b, # 2\n] # c\n";
    let add = |_: Arena<'_>, f: &mut Mapping<'_>| push(f, "r", Node::string("c"));
    check(lines, add, "r: [\n  a, # 1\n  b, # 2\n  c,\n] # c\n");
    check("r: [\n  a,\n  b # 2\n]\n", add, "r: [\n  a,\n  b, # 2\n  c\n]\n");
    check("r: [a, b, c]\n", |_, f| remove(f, "r", 0), "r: [b, c]\n");
    check("r: [a, b, c]\n", |_, f| remove(f, "r", 1), "r: [a, c]\n");
    check("r: [a, b, c]\n", |_, f| remove(f, "r", 2), "r: [a, b]\n");
    check("{r: [a], n: x}\n", |a, f| set(a, f, "n", "y, z"), "{r: [a], n: \"y, z\"}\n");
    let add = |_: Arena<'_>, f: &mut Mapping<'_>| drop(f.insert(Key::string("p"), Node::string("q")));
    check("{r: [a], n: x}\n", add, "{r: [a], n: x, p: q}\n");
    check("{r: [a], n: x}\n", |_, f| drop(f.remove("r")), "{n: x}\n");
    check("{}\n", add, "p: q\n");
}

#[test]
fn fields_of_a_document() {
    let add = |_: Arena<'_>, f: &mut Mapping<'_>| drop(f.insert(Key::string("p"), Node::string("q")));
    check("", add, "p: q\n");
    check("# only\n", add, "# only\np: q\n");
    check("---\na: b\n# end\n\n", add, "---\na: b\n# end\np: q\n\n");
    check("a: b\n\nc: d", add, "a: b\n\nc: d\n\np: q\n");
    check("a: b\n---\nc: d\n", add, "a: b\np: q\n---\nc: d\n");
    check("a: b\r\nc:\r\n- d\r\n", add, "a: b\r\nc:\r\n- d\r\np: q\r\n");
    check("a: b # x\n# y\nc: d\n", |_, f| drop(f.remove("a")), "# y\nc: d\n");
    check("a: |\n  x\n\n  # no comment\n# y\nc: d\n", |_, f| drop(f.remove("a")), "# y\nc: d\n");
    check("a: b\n", |_, f| drop(f.remove("a")), "");
    check("a: |-\n  x\n    ", add, "a: |-\n  x\n    \np: q\n");
    let rename = |_: Arena<'_>, f: &mut Mapping<'_>| {
        let list = f.remove("bases").unwrap();
        f.insert(Key::string("resources"), list);
        push(f, "resources", Node::string("c"));
    };
    check("bases: # 1\n- a # 2\nx: y\n", rename, "resources: # 1\n- a # 2\n- c\nx: y\n");
}

#[test]
fn moved_values_take_their_comments_along() {
    let join = |_: Arena<'_>, f: &mut Mapping<'_>| {
        let Ok(moved) = f.remove("bases").unwrap().into_sequence() else { return };
        moved.into_items().into_iter().for_each(|item| push(f, "resources", item));
    };
    check("bases:\n# 1\n- 'a' # 2\nresources:\n  - c # 3\n", join, "resources:\n  - c # 3\n  # 1\n  - 'a' # 2\n");
    let wrap = |_: Arena<'_>, f: &mut Mapping<'_>| {
        let pairs = f.remove("commonLabels").unwrap();
        let mut label = Mapping::new();
        label.insert(Key::string("includeSelectors"), Scalar::plain("true").into());
        let pos = pairs.pos();
        label.insert(Key::string("pairs"), pairs);
        f.insert(Key::string("labels"), Node::new(Sequence::from_iter([label.into()]), pos));
    };
    check(
        "commonLabels: # 1\n  a: 'b' # 2\n  # 3\n  c: d # 4\nx: y\n",
        wrap,
        "labels: # 1\n- includeSelectors: true\n  pairs:\n    a: 'b' # 2\n    # 3\n    c: d # 4\nx: y\n",
    );
}

#[test]
fn what_cannot_be_changed_is_an_error() {
    let text = "a: &x\n- p\nb: *x\n";
    // The field with the alias is replaced as a whole.
    check(text, |_, f| push(f, "b", Node::string("q")), "a: &x\n- p\nb:\n- p\n- q\n");
    assert!(changed(text, |_, f| push(f, "a", Node::string("q"))).is_err());
    check(text, |_, f| drop(f.insert(Key::string("p"), Node::string("q"))), "a: &x\n- p\nb: *x\np: q\n");
}

/// Writes random trees in random ways.
struct Writer {
    random: fastrand::Rng,
    text: String,
}

const WORDS: [&str; 8] = ["a", "web.yaml", "it's", "1", "yes", "x: y", "# z", "two words"];

impl Writer {
    fn comment(&mut self, column: usize) {
        if self.random.u8(..4) == 0 {
            let column = if self.random.bool() { column } else { 0 };
            self.text.push_str(&format!("{}# note {}\n", " ".repeat(column), self.random.u8(..)));
        }
        if self.random.u8(..6) == 0 {
            self.text.push('\n');
        }
    }

    fn end_line(&mut self) {
        self.text.push_str(if self.random.u8(..4) == 0 { " # tail\n" } else { "\n" });
    }

    fn scalar(&mut self, in_flow: bool) {
        let word = WORDS[self.random.usize(..WORDS.len())];
        match self.random.u8(..3) {
            0 => self.text.push_str(&format!("'{}'", word.replace('\'', "''"))),
            1 => self.text.push_str(&format!("\"{word}\"")),
            _ if in_flow => self.text.push_str("plain"),
            _ => self.text.push_str(if word.starts_with(['#', 'x']) { "plain" } else { word }),
        }
    }

    fn flow(&mut self, depth: usize) {
        let breaks = self.random.u8(..4) == 0;
        let (open, close, is_map) = if self.random.bool() { ('[', ']', false) } else { ('{', '}', true) };
        self.text.push(open);
        for i in 0..self.random.usize(..4) {
            self.text.push_str(if i > 0 { "," } else { "" });
            self.text.push_str(if breaks {
                "\n      "
            } else if i > 0 {
                " "
            } else {
                ""
            });
            if is_map {
                self.text.push_str(&format!("k{i}: "));
            }
            if depth > 0 && self.random.u8(..4) == 0 { self.flow(depth - 1) } else { self.scalar(true) }
        }
        self.text.push(close);
    }

    /// The value after a colon, with its line break.
    fn field(&mut self, column: usize, depth: usize) {
        match self.random.u8(..if depth == 0 { 4 } else { 8 }) {
            0 => self.end_line(),
            1 => {
                self.text.push(' ');
                self.flow(1);
                self.end_line();
            }
            2 if self.random.bool() => {
                let pad = " ".repeat(column + 2);
                self.text.push_str(&format!(" |\n{pad}one\n\n{pad}  # two\n"));
            }
            4 | 5 => {
                self.end_line();
                self.entries(column + 2, depth - 1);
            }
            6 | 7 => {
                self.end_line();
                let indent = 2 * self.random.usize(..2);
                self.items(column + indent, depth - 1);
            }
            _ => {
                self.text.push(' ');
                self.scalar(false);
                self.end_line();
            }
        }
    }

    fn entries(&mut self, column: usize, depth: usize) {
        for i in 0..self.random.usize(1..4) {
            self.comment(column);
            self.text.push_str(&format!("{}k{i}:", " ".repeat(column)));
            self.field(column, depth);
        }
    }

    fn items(&mut self, column: usize, depth: usize) {
        for _ in 0..self.random.usize(1..4) {
            self.comment(column);
            self.text.push_str(&format!("{}-", " ".repeat(column)));
            if depth > 0 && self.random.bool() {
                self.text.push_str(" k:");
                self.field(column + 2, depth - 1);
                if self.random.bool() {
                    self.text.push_str(&format!("{}l: m\n", " ".repeat(column + 2)));
                }
            } else {
                self.text.push(' ');
                self.scalar(false);
                self.end_line();
            }
        }
    }
}

/// Makes a random change in a value. Returns true if it made one.
fn disturb<'a>(random: &mut fastrand::Rng, node: &mut Node<'a>) -> bool {
    let new = match random.u8(..4) {
        0 => map(&[("p", "q"), ("r", "yes")]),
        1 => Node::string("two\nlines"),
        2 => Node::new(Sequence::from_iter([map(&[("p", "q")]), Node::string("r")]), Pos::NONE),
        _ => Node::string(WORDS[random.usize(..WORDS.len())]),
    };
    let deeper = random.u8(..3) > 0;
    match node.value_mut() {
        ValueMut::Sequence(items) if !items.is_empty() && deeper => {
            let i = random.usize(..items.len());
            disturb(random, &mut items[i])
        }
        ValueMut::Mapping(mapping) if !mapping.is_empty() && deeper => {
            let i = random.usize(..mapping.len());
            mapping.iter_mut().nth(i).is_some_and(|(_, value)| disturb(random, value))
        }
        ValueMut::Sequence(items) => {
            let i = random.usize(..=items.len());
            if i < items.len() && random.bool() {
                items.remove(i);
            } else {
                items.insert(i, new);
            }
            true
        }
        ValueMut::Mapping(mapping) => {
            let i = random.usize(..=mapping.len());
            let key = mapping.iter().nth(i).map(|entry| entry.key);
            match key {
                Some(key) if random.bool() => drop(mapping.remove(key.text)),
                Some(key) => drop(mapping.insert(key, new)),
                None => drop(mapping.insert(Key::string("new"), new)),
            }
            true
        }
        ValueMut::Scalar(_) => {
            *node = Node::new(new.into_value(), node.pos());
            true
        }
    }
}

/// The lines of each field of a text, with the comments above it.
fn chunks(text: &str) -> Vec<(String, String)> {
    let mut chunks = vec![(String::new(), String::new())];
    for line in text.split_inclusive('\n') {
        if line.starts_with(|c: char| c.is_alphabetic()) {
            chunks.push((line.split(':').next().unwrap().to_owned(), String::new()));
        }
        chunks.last_mut().unwrap().1.push_str(line);
    }
    chunks
}

#[test]
fn nothing_outside_of_the_changed_field_moves() {
    for seed in 0..6_000 {
        let mut writer = Writer { random: fastrand::Rng::with_seed(seed), text: String::new() };
        writer.entries(0, 3);
        let Writer { mut random, text } = writer;
        let text = if seed % 3 == 0 { text.replace('\n', "\r\n") } else { text };
        let heap = Heap::new();
        let arena = heap.arena();
        let source = arena.add_source("file", text.clone());
        let before =
            first_document(arena, source).unwrap_or_else(|e| panic!("seed {seed}: {}\n{text}", e.message)).unwrap();
        let mut after = before.clone();
        let fields = after.as_mapping_mut().unwrap();
        let i = random.usize(..fields.len());
        let name = fields.iter().nth(i).unwrap().key.text;
        for _ in 0..random.usize(1..4) {
            disturb(&mut random, fields.get_mut(name).unwrap());
        }
        let result = apply(arena, FileText { source, written: &text }, Some(&before), &after)
            .unwrap_or_else(|e| panic!("seed {seed}, field {name}: {}\n{text}", e.message));
        let (old, new) = (chunks(&text), chunks(&result));
        let names = |chunks: &[(String, String)]| chunks.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&old), names(&new), "seed {seed}\n{text}\n{result}");
        for ((field, old), (_, new)) in old.iter().zip(&new) {
            assert!(field == name || old == new, "seed {seed}, field {name}\n{text}\n{result}");
        }
        let is_wrong = |line: &str| line.ends_with("\r\n") != (seed % 3 == 0);
        assert!(!result.split_inclusive('\n').any(is_wrong), "seed {seed}\n{result:?}");
        // Comments stay, except those inside of values that are replaced.
        let comments = |text: &str| text.lines().filter(|line| line.trim_start().starts_with("# note")).count();
        let of = |chunks: &[(String, String)]| {
            chunks.iter().filter(|(field, _)| field != name).map(|(_, text)| comments(text)).sum::<usize>()
        };
        assert_eq!(of(&old), of(&new), "seed {seed}");
    }
}
