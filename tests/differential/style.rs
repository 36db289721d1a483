//! The habits of somebody who writes YAML: each file of a tree is written with its own.

use super::tree::{Content, File, FileMark, Layer, Tree};
use super::value::{KeyStyle, Lines, Mark, TextStyle, V};
use fastrand::Rng;

/// How often, in a thousand, somebody writes something.
struct Habits {
    same_indent: u16,
    flow: u16,
    lines: u16,
    step: u16,
    above: u16,
    tail: u16,
    below: u16,
    property: u16,
    key: u16,
    text: u16,
}

/// Mostly never, sometimes seldom, sometimes often.
fn rate(rng: &mut Rng) -> u16 {
    match rng.u8(..8) {
        0 => 200,
        1 | 2 => 30,
        _ => 0,
    }
}

impl Habits {
    fn new(rng: &mut Rng) -> Habits {
        Habits {
            same_indent: [0, 1000, 1000, 500][rng.usize(..4)],
            flow: rate(rng),
            lines: rate(rng) / 6,
            step: rate(rng) / 4,
            above: rate(rng),
            tail: rate(rng),
            below: rate(rng),
            property: rate(rng) / 8,
            key: rate(rng) / 2,
            text: [500, 1000, 1000][rng.usize(..3)],
        }
    }
}

fn chance(rng: &mut Rng, rate: u16) -> bool {
    rng.u16(..1000) < rate
}

/// Writes each file in a style.
pub fn style(rng: &mut Rng, tree: &mut Tree) {
    for layer in &mut tree.0 {
        let Layer { kustomization, files, .. } = layer;
        for file in files.iter_mut().chain([kustomization]) {
            style_file(rng, file);
        }
    }
}

fn style_file(rng: &mut Rng, file: &mut File) {
    let habits = Habits::new(rng);
    let is_kustomization = file.name == "kustomization.yaml";
    if let Content::Documents(documents) = &mut file.content {
        for document in documents {
            if rng.u8(..if is_kustomization { 18 } else { 6 }) == 0 {
                share(rng, document);
            }
            for child in document.children_mut() {
                mark(rng, &habits, child);
            }
        }
        let all = [
            (FileMark::Crlf, 40),
            (FileMark::Bom, 60),
            (FileMark::Utf16, 300),
            (FileMark::Start, 10),
            (FileMark::Directive, 200),
            (FileMark::Head, 10),
            (FileMark::Foot, 20),
            (FileMark::EmptyDocuments, 60),
            (FileMark::SeparatorComment, 40),
            (FileMark::End, 60),
            (FileMark::NoNewLine, 40),
            (FileMark::Blanks, 60),
        ];
        for (mark, one_in) in all {
            let is_fitting = !is_kustomization || !matches!(mark, FileMark::EmptyDocuments);
            if is_fitting && rng.u16(..one_in) == 0 {
                file.marks.push(mark);
            }
        }
    }
}

/// Marks a value and all in it.
fn mark(rng: &mut Rng, habits: &Habits, value: &mut V) {
    match value.bare() {
        V::L(_) => {
            if chance(rng, habits.same_indent) {
                value.mark(Mark::SameIndent);
            }
            collection(rng, habits, value);
        }
        V::M(_) => collection(rng, habits, value),
        V::T(_) | V::D(_) => text(rng, habits, value),
        _ => {}
    }
    if chance(rng, habits.above) {
        // No U+FEFF: where it happens to come first in go-yaml's buffer, each line of the buffer
        // loses a character. The documents of `documents.rs`, which are shorter than the buffer,
        // have it.
        let comments = ["# above", "", "#", "# a: \"b", "# - x", "#\ttab {", "# caf\u{e9}"];
        value.mark(Mark::Above(comments[rng.usize(..comments.len())], rng.bool()));
    }
    if chance(rng, habits.tail) {
        value.mark(Mark::Tail(["# tail", "#", "# 'it", "  # [x", "# k: v", "# tail", "#x"][rng.usize(..7)]));
    }
    if chance(rng, habits.property) && !value.parts().0.iter().any(|mark| matches!(mark, Mark::Property(_))) {
        property(rng, value);
    }
    if chance(rng, habits.key) {
        let styles = [
            KeyStyle::Double,
            KeyStyle::Double,
            KeyStyle::Single,
            KeyStyle::Explicit,
            KeyStyle::Spaced,
            KeyStyle::Tagged,
        ];
        value.mark(Mark::Key(styles[rng.usize(..styles.len())]));
    }
    for child in value.children_mut() {
        mark(rng, habits, child);
    }
}

fn collection(rng: &mut Rng, habits: &Habits, value: &mut V) {
    if chance(rng, habits.flow) {
        value.mark(Mark::Flow);
    } else if chance(rng, habits.lines) {
        value.mark(Mark::Lines(Lines {
            column: [2, 2, 4, 1, 0, -2][rng.usize(..6)],
            close: [0, 0, 2, 1, -2][rng.usize(..5)],
            trailing_comma: rng.bool(),
            comment: rng.u8(..3) == 0,
        }));
    } else {
        if chance(rng, habits.step) {
            value.mark(Mark::Step([1, 3, 4, 8][rng.usize(..4)]));
        }
        if chance(rng, habits.below) {
            value.mark(Mark::Below(["# below", "", "#- x"][rng.usize(..3)]));
        }
    }
}

fn text(rng: &mut Rng, habits: &Habits, value: &mut V) {
    if !chance(rng, habits.text) {
        return;
    }
    let chomp = ["", "-", "+"][rng.usize(..3)];
    let says = rng.u8(..8) == 0;
    let style = match rng.u8(..8) {
        0..3 => TextStyle::Literal(chomp, says),
        3..5 => TextStyle::Folded(chomp, says),
        5 => TextStyle::Plain,
        6 => TextStyle::Single,
        _ => TextStyle::Double(rng.bool()),
    };
    value.mark(Mark::Text(style));
    if rng.u8(..12) == 0 {
        value.mark(Mark::Step([1, 4][rng.usize(..2)]));
    }
}

/// An anchor that nothing refers to, or a tag.
fn property(rng: &mut Rng, value: &mut V) {
    let words: &[&str] = match value.bare() {
        V::L(_) => &["&list", "!!seq", "!custom", "!"],
        V::M(_) => &["&map", "!!map", "!custom", "!"],
        _ => &["&it", "!!str", "!", "!custom", "!!int", "!!float", "!!binary", "!<tag:yaml.org,2002:str>"],
    };
    // The choice of the word matters little, but many tags make the build fail: so half of the
    // values get the anchor.
    let word = if rng.bool() { words[0] } else { words[rng.usize(..words.len())] };
    value.mark(Mark::Property(word.to_owned()));
}

/// The kind of a value: values of a kind may be each other's aliases.
fn sort_of<'k>(key: &'k str, value: &V) -> Option<(&'k str, u8)> {
    let key = match key {
        "labels" | "matchLabels" | "pairs" | "commonLabels" | "annotations" | "commonAnnotations" | "inner"
        | "data" => "texts",
        "kind" | "apiVersion" | "resources" | "components" | "patches" => return None,
        key => key,
    };
    match value.bare() {
        V::S(_) | V::T(_) => Some((key, 0)),
        V::L(items) if !items.is_empty() => Some((key, 1)),
        V::M(entries) if !entries.is_empty() => Some((key, 2)),
        _ => None,
    }
}

/// Calls `visit` with all values of keys, in the order of the text.
fn each_value(value: &mut V, visit: &mut impl FnMut(&str, &mut V)) {
    match value.bare_mut() {
        V::M(entries) => {
            for (key, value) in entries {
                visit(key, value);
                each_value(value, visit);
            }
        }
        V::L(items) => items.iter_mut().for_each(|item| each_value(item, visit)),
        _ => {}
    }
}

/// Gives a value an anchor, and makes a later one of the same kind its alias, or merges it there.
fn share(rng: &mut Rng, document: &mut V) {
    let mut sorts: Vec<Option<(String, u8)>> = Vec::new();
    let mut sizes: Vec<usize> = Vec::new();
    each_value(document, &mut |key, value| {
        sorts.push(sort_of(key, value).map(|(k, n)| (k.to_owned(), n)));
        let mut size = 0;
        each_value(value, &mut |_, _| size += 1);
        sizes.push(size);
    });
    // Not what is inside: nothing may hold itself.
    let pairs: Vec<(usize, usize)> = (0..sorts.len())
        .flat_map(|i| (i + 1 + sizes[i]..sorts.len()).map(move |j| (i, j)))
        .filter(|&(i, j)| sorts[i].is_some() && sorts[i] == sorts[j])
        .collect();
    if pairs.is_empty() {
        return;
    }
    let (from, to) = pairs[rng.usize(..pairs.len())];
    let merges = rng.bool();
    let mut i = 0;
    each_value(document, &mut |_, value| {
        if i == from {
            value.mark(Mark::Property("&a1".to_owned()));
        } else if i == to {
            match value.bare_mut() {
                V::M(entries) if merges => {
                    let at = rng.usize(..=entries.len());
                    entries.insert(at, ("<<".to_owned(), V::S(["*a1", "[*a1]"][rng.usize(..2)].to_owned())));
                }
                value => *value = V::S("*a1".to_owned()),
            }
        }
        i += 1;
    });
}
