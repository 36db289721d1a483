//! Random YAML documents, read and printed by us and by kustomize: the same bytes, or both refuse.
//!
//! `RUSTOMIZE_DOCUMENTS=20000 RUSTOMIZE_SEED=1 cargo test --test differential documents -- --nocapture`
//! tries that many. Half of them are well-formed in every style that people write; the other half
//! was, until a few characters were changed.

use super::{cannot_read_its_own_text, number};
use crate::support::reference::{CRASH, Files, Server};
use libyaml_safer::EventData;
use rustomize::load::Disk;
use rustomize::tree::{Heap, Node, Value, documents};
use rustomize::{Options, Workspace, build};
use std::fmt::Write;
use std::path::Path;

/// Writes one document.
struct Maker {
    random: fastrand::Rng,
    out: String,
    anchors: Vec<String>,
}

const WORDS: [&str; 30] = [
    "a",
    "web-1",
    "true",
    "~",
    "12",
    "0x1F",
    "1.5",
    "http://a.b:80/c?d=e",
    "2020-01-02",
    "yes",
    "-1",
    ".5",
    "1e3",
    "a:b",
    "x#y",
    "0o17",
    "1_000",
    "9007199254740993",
    "null",
    "Off",
    "-x",
    "?x",
    ":x",
    "é ü",
    "12:30",
    "<<",
    "=",
    "a'b",
    "a\"b",
    "!x",
];

const KEYS: [&str; 12] = [
    "name",
    "\"q k\"",
    "'s''t'",
    "a.b/c",
    "x-y",
    "k é",
    "\"a\\tb\"",
    "-k",
    "a b",
    "?k",
    "x:y",
    "LONG_KEY_THAT_GOES_ON",
];

/// Keys that are not strings, which are refused below the top.
const ODD_KEYS: [&str; 6] = ["1", "true", "~", "'1'", "0x1F", "2020-01-0"];

impl Maker {
    fn new(seed: u64) -> Maker {
        Maker { random: fastrand::Rng::with_seed(seed), out: String::new(), anchors: Vec::new() }
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.random.u32(..n) == 0
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.random.usize(..from.len())]
    }

    fn pad(&mut self, columns: usize) {
        self.out.push_str(&" ".repeat(columns));
    }

    /// The end of a line, perhaps with a comment, and perhaps with blank lines and comments behind
    /// it.
    fn end_line(&mut self) {
        match self.random.u8(..30) {
            0 => self.out.push_str(" # c: [d"),
            1 => self.out.push_str("  "),
            2 => self.out.push_str("\t# tab"),
            _ => {}
        }
        self.out.push('\n');
        if self.one_in(14) {
            let between = self.pick(&[
                "\n",
                "# between\n",
                "   \n",
                "      # deep\n",
                "\n\n",
                "  # a\n\n  # b\n",
                "# x\n \t\n# y\n",
            ]);
            self.out.push_str(between);
        }
    }

    fn properties(&mut self) -> String {
        let mut text = String::new();
        if self.one_in(14) {
            let name = format!("n{}", self.random.u8(..4));
            let _ = write!(text, "&{name} ");
            self.anchors.push(name);
        }
        if self.one_in(24) {
            let tag = self.pick(&[
                "!!str ",
                "! ",
                "!custom ",
                "!!int ",
                "!!float ",
                "!<tag:yaml.org,2002:str> ",
                "!!null ",
                "!!bool ",
                "!e!x ",
            ]);
            if self.one_in(2) { text.push_str(tag) } else { text.insert_str(0, tag) }
        }
        text
    }

    fn quoted(&mut self, lines: bool, indent: usize) -> String {
        let quote = self.pick(&["\"", "'"]);
        let mut text = quote.to_owned();
        for i in 0..1 + self.random.usize(..4) {
            if i > 0 && lines && self.one_in(3) {
                if quote == "\"" && self.one_in(4) {
                    text.push('\\');
                } else if self.one_in(4) {
                    text.push_str("  ");
                }
                for _ in 0..1 + self.random.usize(..2) {
                    text.push('\n');
                }
                let deep = indent + self.random.usize(..3);
                text.push_str(&" ".repeat(deep));
            } else if i > 0 {
                text.push(' ');
            }
            let piece = match quote {
                "\"" => self.pick(&[
                    "word",
                    "\\n",
                    "\\u00e9",
                    "\\\"",
                    "\\x41",
                    "\\\\",
                    "a: b",
                    "#c",
                    "\\t",
                    "\\ ",
                    "\\_",
                    "\\e",
                    "'",
                    "\\U0001F600",
                    "é",
                ]),
                _ => self.pick(&["word", "''", "a: b", "#c", "\\n", "\"", "- x", "é"]),
            };
            text.push_str(piece);
        }
        text + quote
    }

    fn plain(&mut self, indent: usize) -> String {
        let mut text = self.pick(&WORDS).to_owned();
        while self.one_in(4) {
            if self.one_in(3) {
                for _ in 0..1 + self.random.usize(..2) {
                    text.push('\n');
                }
                let deep = indent + self.random.usize(..3);
                text.push_str(&" ".repeat(deep));
            } else {
                text.push(' ');
            }
            let word = self.pick(&WORDS);
            text.push_str(word);
        }
        text
    }

    fn flow(&mut self, depth: usize, indent: usize) -> String {
        let gap = |maker: &mut Maker| match maker.random.u8(..14) {
            0 => format!("\n{}", " ".repeat(maker.random.usize(..indent + 4))),
            1 => format!(" # in\n{}", " ".repeat(maker.random.usize(..indent + 2))),
            2 => "\t".to_owned(),
            3 => String::new(),
            _ => " ".to_owned(),
        };
        let n = self.random.usize(..4);
        match self.random.u8(..if depth == 0 { 2 } else { 6 }) {
            0 => {
                let word = self.pick(&["a", "128Mi", "8080", "b c", "http://x/?q", "a:b", "-x", "null", "", "d\n e"]);
                self.properties() + word
            }
            1 => self.quoted(true, indent),
            2 | 3 => {
                let mut text = "[".to_owned();
                for i in 0..n {
                    text += &gap(self);
                    if self.one_in(12) {
                        text += "k: ";
                    }
                    text += &self.flow(depth - 1, indent);
                    if i + 1 < n || self.one_in(6) {
                        text += &(self.pick(&["", "", "", " "]).to_owned() + ",");
                    }
                }
                text + &gap(self) + "]"
            }
            _ => {
                let mut text = "{".to_owned();
                for i in 0..n {
                    text += &gap(self);
                    if self.one_in(16) {
                        text += "? ";
                    }
                    let key = format!("{}{i}", self.pick(&["k", "\"q\"", "'s'", "a.b", "x "]));
                    let key =
                        if key.contains('"') || key.contains('\'') { key[..key.len() - 1].to_owned() } else { key };
                    text += &key;
                    if !self.one_in(12) {
                        text += ":";
                        text += &gap(self);
                        text += &self.flow(depth - 1, indent);
                    }
                    if i + 1 < n || self.one_in(6) {
                        text += ",";
                    }
                }
                text + &gap(self) + "}"
            }
        }
    }

    fn block_text(&mut self, indent: usize) {
        let header = self.pick(&["|", "|-", "|+", ">", ">-", ">+", "|2", ">2-", "|+1", ">"]);
        self.out.push_str(header);
        let comment = if self.one_in(10) { " # head\n" } else { "\n" };
        self.out.push_str(comment);
        let hint: usize = header.chars().find_map(|c| c.to_digit(10)).map_or(2, |d| d as usize);
        // The hint counts from the indentation of the block around.
        let deep = indent + hint;
        for i in 0..self.random.usize(..5) {
            if self.one_in(4) {
                let blank = self.random.usize(..deep + 1);
                self.pad(blank);
                self.out.push('\n');
            }
            self.pad(deep);
            if i > 0 || !header.contains(char::is_numeric) {
                let more = self.pick(&["", "", "", "  ", " "]);
                self.out.push_str(if i > 0 { more } else { "" });
            }
            let line = self.pick(&["text: # kept", "a b c", "- x", "\"q", "---x", "é", "more words in a line", "end "]);
            self.out.push_str(line);
            self.out.push('\n');
        }
        for _ in 0..self.random.usize(..3) {
            self.out.push('\n');
        }
    }

    /// A value behind a colon or dash. `indent` is the column of what holds it.
    fn value(&mut self, indent: usize, depth: usize, in_mapping: bool) {
        let gap = self.pick(&[" ", " ", " ", "  ", "\t"]);
        let gap = if in_mapping { gap } else { " " };
        let properties = self.properties();
        match self.random.u8(..if depth == 0 { 6 } else { 14 }) {
            0 => {
                let text = self.plain(indent + 1);
                let _ = write!(self.out, "{gap}{properties}{text}");
                self.end_line();
            }
            1 => {
                let text = self.quoted(true, indent);
                let _ = write!(self.out, "{gap}{properties}{text}");
                self.end_line();
            }
            2 => {
                let text = self.flow(2, indent);
                let _ = write!(self.out, "{gap}{properties}{text}");
                self.end_line();
            }
            3 => {
                let _ = write!(self.out, "{gap}{properties}");
                self.block_text(indent);
            }
            4 => {
                let name = match self.anchors.is_empty() {
                    true => "~".to_owned(),
                    false => format!("*{}", self.anchors[self.random.usize(..self.anchors.len())]),
                };
                let _ = write!(self.out, "{gap}{name}");
                self.end_line();
            }
            5 => {
                if self.one_in(2) {
                    let word = self.pick(&WORDS);
                    let deep = indent + 1 + self.random.usize(..3);
                    let _ = write!(self.out, "{gap}{properties}\n{}{word}", " ".repeat(deep));
                }
                self.end_line();
            }
            6..=9 => {
                let _ = write!(self.out, "{}{}", if properties.is_empty() { "" } else { gap }, properties.trim_end());
                self.end_line();
                let deeper = indent + 1 + self.random.usize(..3);
                self.mapping(deeper, depth - 1, false);
            }
            _ => {
                let _ = write!(self.out, "{}{}", if properties.is_empty() { "" } else { gap }, properties.trim_end());
                self.end_line();
                let deeper = indent + usize::from(!in_mapping) + self.random.usize(..3);
                self.sequence(deeper, depth - 1, false);
            }
        }
    }

    fn mapping(&mut self, indent: usize, depth: usize, mut inline: bool) {
        for i in 0..1 + self.random.usize(..4) {
            if !std::mem::take(&mut inline) {
                self.pad(indent);
            }
            if self.one_in(30) && !self.anchors.is_empty() {
                let name = self.anchors[self.random.usize(..self.anchors.len())].clone();
                let _ = write!(self.out, "<<: *{name}");
                self.end_line();
                continue;
            }
            let properties = self.properties();
            let key = if self.one_in(60) { self.pick(&ODD_KEYS) } else { self.pick(&KEYS) };
            let head = key.len() - usize::from(key.ends_with(['"', '\'']));
            let key = format!("{properties}{}{i}{}", &key[..head], &key[head..]);
            if self.one_in(20) {
                let _ = write!(self.out, "? {key}");
                self.end_line();
                if self.one_in(4) {
                    continue;
                }
                self.pad(indent);
                self.out.push(':');
            } else {
                let blank = if self.one_in(20) { " " } else { "" };
                let _ = write!(self.out, "{key}{blank}:");
            }
            self.value(indent, depth, true);
        }
    }

    fn sequence(&mut self, indent: usize, depth: usize, mut inline: bool) {
        for _ in 0..1 + self.random.usize(..3) {
            if !std::mem::take(&mut inline) {
                self.pad(indent);
            }
            self.out.push('-');
            let blanks = 1 + self.random.usize(..2);
            match self.random.u8(..6) {
                0 | 1 if depth > 0 => {
                    self.pad(blanks);
                    self.mapping(indent + 1 + blanks, depth - 1, true);
                }
                2 if depth > 0 => {
                    self.pad(blanks);
                    self.sequence(indent + 1 + blanks, depth - 1, true);
                }
                _ => self.value(indent, depth, false),
            }
        }
    }

    /// Changes a few characters.
    fn damage(&mut self) {
        const BITS: [&str; 34] = [
            "\n", " ", "  ", "\t", ":", ": ", "- ", "-", "?", "? ", "#", " #", "\"", "'", "[", "]", "{", "}", ",",
            "&a ", "*a", "!", "!!str ", "|", ">", "%", "@", "\\", "\r", "\u{feff}", "\u{85}", "\u{2028}", "---\n",
            "...\n",
        ];
        for _ in 0..1 + self.random.usize(..3) {
            let places: Vec<usize> = self.out.char_indices().map(|(at, _)| at).collect();
            let Some(&at) = places.get(self.random.usize(..places.len().max(1))) else { return };
            match self.random.u8(..4) {
                0 => drop(self.out.remove(at)),
                1 => {
                    let end =
                        places.iter().copied().find(|&p| p > at + self.random.usize(..6)).unwrap_or(self.out.len());
                    self.out.replace_range(at..end, "");
                }
                2 if at > 0 => self.out.truncate(at),
                _ => {
                    let bit = self.pick(&BITS);
                    self.out.insert_str(at, bit);
                }
            }
        }
    }
}

/// The resource file of a seed.
fn document(seed: u64) -> Vec<u8> {
    let mut maker = Maker::new(seed);
    maker.out.push_str("apiVersion: v1\nkind: Thing\nmetadata:\n  name: a\nspec:\n");
    let head = maker.out.len();
    maker.mapping(2, 4, false);
    let mut text = maker.out.clone();
    if maker.one_in(2) {
        maker.out.replace_range(..head, "");
        maker.damage();
        text.truncate(head);
        text.push_str(&maker.out);
    }
    match maker.random.u8(..16) {
        0 => text = text.replace('\n', "\r\n"),
        1 => text.insert(0, '\u{feff}'),
        2 => text = text.trim_end().to_owned(),
        3 => text = text.replace('\n', "\r"),
        4 => {
            let mark = if maker.one_in(2) { [0xff, 0xfe] } else { [0xfe, 0xff] };
            let units =
                text.encode_utf16().flat_map(|u| if mark[0] == 0xff { u.to_le_bytes() } else { u.to_be_bytes() });
            return mark.into_iter().chain(units).collect();
        }
        5 => {
            // kustomize ignores all after the first document of a piece, unless that is malformed
            // near its start.
            let mut rest = Maker::new(seed ^ 1);
            rest.mapping(0, 1, false);
            rest.damage();
            let inner = maker.flow(3, 2);
            let behind = if maker.one_in(2) { "\n...\n" } else { " " };
            text = format!("{{apiVersion: v1, kind: Thing, metadata: {{name: a}}, spec: {inner}}}{behind}{}", rest.out);
        }
        6 => {
            let mut rest = Maker::new(seed ^ 1);
            rest.mapping(0, 1, false);
            rest.damage();
            text = text.lines().map(|line| format!("  {line}\n")).collect::<String>() + &rest.out;
        }
        _ => {}
    }
    text.into_bytes()
}

fn ours(directory: &Path, resource: &[u8]) -> Result<Vec<u8>, String> {
    std::fs::write(directory.join("r.yaml"), resource).unwrap();
    let (workspace, disk) = (Workspace::new(), Disk::new());
    let output = build(&workspace, &disk, &directory.to_string_lossy(), &Options::default()).value;
    output.and_then(|output| output.print()).map(String::into_bytes).map_err(|e| e.to_string())
}

fn theirs(server: &mut Server, resource: &[u8]) -> Result<Vec<u8>, String> {
    let files = Files::from([
        ("/kustomization.yaml".to_owned(), KUSTOMIZATION.to_vec()),
        ("/r.yaml".to_owned(), resource.to_vec()),
    ]);
    server.build(&files, &["/"])
}

/// Bytes without a piece of them, wherever it is.
fn without(text: &[u8], piece: &[u8]) -> Vec<u8> {
    let mut left = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with(piece) {
            at += piece.len();
        } else {
            left.push(text[at]);
            at += 1;
        }
    }
    left
}

/// True if kustomize has printed the comment behind the indicator of a block scalar as a line of
/// that scalar: without the comment both tools print our output.
fn is_comment_in_text(server: &mut Server, directory: &Path, resource: &[u8], ours: &Result<Vec<u8>, String>) -> bool {
    let comment: Vec<u16> = " # head".encode_utf16().collect();
    let in_encodings = [
        b" # head".to_vec(),
        comment.iter().flat_map(|unit| unit.to_le_bytes()).collect(),
        comment.iter().flat_map(|unit| unit.to_be_bytes()).collect(),
    ];
    let bare = in_encodings.iter().fold(resource.to_vec(), |text, comment| without(&text, comment));
    bare != resource && ours.is_ok() && self::ours(directory, &bare) == *ours && theirs(server, &bare) == *ours
}

/// True if two builds of a document are the same. Comments that kustomize turns into text do not
/// count, nor do its crashes.
fn agree(resource: &[u8], ours: &Result<Vec<u8>, String>, theirs: &Result<Vec<u8>, String>) -> bool {
    let is_crash = theirs.as_ref().is_err_and(|e| e.starts_with(CRASH) || e.starts_with("panic"));
    match (ours, theirs) {
        (Ok(a), Ok(b)) => a == b,
        (Ok(_), Err(e)) => is_crash || resource.contains(&b'#') && cannot_read_its_own_text(e),
        (a, b) => is_crash || a.is_ok() == b.is_ok(),
    }
}

/// A document as libyaml reads it: the texts of its scalars and its brackets in order; `None` for
/// a document with aliases or merge keys, whose nodes are elsewhere too. Its port into Rust scans
/// as go-yaml does.
fn library(text: &str) -> Result<Option<Vec<String>>, String> {
    let mut parser = libyaml_safer::Parser::new();
    let mut input = text.as_bytes();
    parser.set_input_string(&mut input);
    let (mut tokens, mut is_plain_tree) = (Vec::new(), true);
    loop {
        match parser.parse().map_err(|e| e.to_string())?.data {
            EventData::DocumentEnd { .. } | EventData::StreamEnd => return Ok(is_plain_tree.then_some(tokens)),
            EventData::Alias { .. } => is_plain_tree = false,
            EventData::Scalar { value, tag, .. } => {
                // A binary is decoded here.
                is_plain_tree &= value != "<<" && !tag.is_some_and(|tag| tag.ends_with("binary"));
                tokens.push(value);
            }
            EventData::SequenceStart { .. } | EventData::SequenceEnd => tokens.push("[]".to_owned()),
            EventData::MappingStart { .. } | EventData::MappingEnd => tokens.push("{}".to_owned()),
            EventData::StreamStart { .. } | EventData::DocumentStart { .. } => {}
        }
    }
}

/// The same of our tree.
fn flat(node: &Node<'_>, tokens: &mut Vec<String>) {
    match node.value() {
        Value::Scalar(s) => tokens.push(s.text().to_owned()),
        Value::Sequence(items) => {
            tokens.push("[]".to_owned());
            items.iter().for_each(|item| flat(item, tokens));
            tokens.push("[]".to_owned());
        }
        Value::Mapping(m) => {
            tokens.push("{}".to_owned());
            for entry in m.iter() {
                tokens.push(entry.key().text().to_owned());
                flat(entry.value(), tokens);
            }
            tokens.push("{}".to_owned());
        }
    }
}

/// Why we refuse what libyaml takes: it puts no nodes together.
const COMPOSING: [&str; 8] = [
    "unknown anchor",
    "an alias is inside",
    "a mapping key must be a scalar",
    "map merge requires",
    "duplicate merge key",
    "base64",
    "nested deeper",
    "aliases add more",
];

/// Errors of the port of libyaml where go-yaml has none: a marker of documents after the first one,
/// text that begins like one, a colon in front of a bracket or comma, a comma in a tag, and `\'`.
const STRICTER: [&str; 5] = [
    "did not find expected <document start>",
    "document indicator",
    "found unexpected ':'",
    "while scanning a tag",
    "found unknown escape character",
];

#[test]
fn random_documents_are_read_as_libyaml_reads_them() {
    let (count, seed) = (number("RUSTOMIZE_DOCUMENTS", 3_000), number("RUSTOMIZE_SEED", 1));
    let mut server = Server::find();
    let directory = tempfile::TempDir::new().unwrap();
    std::fs::write(directory.path().join("kustomization.yaml"), KUSTOMIZATION).unwrap();
    let (mut compared, mut read, mut refused) = (0, 0, 0);
    for i in 0..count {
        let Ok(text) = String::from_utf8(document((seed as u64) << 32 | i as u64)) else { continue };
        let text = text.replace("\r\n", "\n");
        if text.contains("\n---") || text.contains("\n...") || !text.trim_start_matches('\u{feff}').starts_with('a') {
            // We split documents at markers, as kustomize does; and go-yaml looks further behind a
            // document.
            continue;
        }
        if !text.ends_with('\n') || text.trim_start_matches('\u{feff}').contains('\u{feff}') {
            // The port panics at a block scalar that the end of the text cuts off. It skips marks
            // at the start of a line, as go-yaml means to do.
            continue;
        }
        compared += 1;
        let heap = Heap::new();
        let arena = heap.arena();
        let nodes = documents(arena, arena.add_source("made", text.clone()));
        match (library(&text), nodes) {
            (Err(_), Err(_)) => refused += 1,
            (Ok(tokens), Ok(nodes)) => {
                read += 1;
                let Some(mut want) = tokens else { continue };
                let mut got = Vec::new();
                nodes.iter().for_each(|node| flat(node, &mut got));
                // Our mappings are sorted.
                want.sort();
                got.sort();
                assert_eq!(got, want, "document {i}:\n{text}");
            }
            (Ok(_), Err(e)) => {
                // libyaml takes a question mark inside a plain text between brackets, go-yaml does
                // not.
                let is_question = text.contains('?') && e.message.contains("did not find expected ','");
                let is_composing = COMPOSING.iter().any(|words| e.message.contains(words));
                assert!(is_question || is_composing, "document {i}: {e:?}\n{text}");
            }
            (Err(e), Ok(_)) => {
                // go-yaml gathers comments, and does not mind a tab before one that it has found.
                let is_tab = text.contains('\t') && text.contains('#') && e.contains("cannot start any token");
                let is_known = is_tab || STRICTER.iter().any(|words| e.contains(words));
                assert!(is_known, "document {i}: only libyaml: {e}\n{text}");
                // Then kustomize has the last word.
                if let Some(server) = &mut server {
                    let built = (ours(directory.path(), text.as_bytes()), theirs(server, text.as_bytes()));
                    assert!(agree(text.as_bytes(), &built.0, &built.1), "document {i}: libyaml: {e}\n{text}{built:?}");
                }
            }
        }
    }
    println!("{compared} documents from seed {seed}: {read} read by both, {refused} refused by both");
    assert!(compared * 2 > count && read * 4 > compared && refused * 4 > compared, "the documents test little");
}

/// The output reads as the document that was printed, and prints the same.
#[test]
fn printing_is_a_fixed_point() {
    let directory = tempfile::TempDir::new().unwrap();
    std::fs::write(directory.path().join("kustomization.yaml"), KUSTOMIZATION).unwrap();
    let mut printed = 0;
    for seed in 0..1_000 {
        let Ok(once) = ours(directory.path(), &document(seed)) else { continue };
        let again = ours(directory.path(), &once).unwrap();
        assert_eq!(String::from_utf8_lossy(&once), String::from_utf8_lossy(&again), "seed {seed}");
        printed += 1;
    }
    assert!(printed > 200, "only {printed} documents were printed");
}

const KUSTOMIZATION: &[u8] = b"resources: [r.yaml]\n";

#[test]
fn random_documents_are_read_as_kustomize_reads_them() {
    let Some(mut server) = Server::find() else {
        crate::support::skip(".ci/oracle has not been run");
        return;
    };
    let (count, seed) = (number("RUSTOMIZE_DOCUMENTS", 1_000), number("RUSTOMIZE_SEED", 1));
    let most = number("RUSTOMIZE_FOUND", 10);
    let directory = tempfile::TempDir::new().unwrap();
    std::fs::write(directory.path().join("kustomization.yaml"), KUSTOMIZATION).unwrap();
    let (mut built, mut differences) = (0, Vec::new());
    for i in 0..count {
        let resource = document((seed as u64) << 32 | i as u64);
        let ours = ours(directory.path(), &resource);
        if ours.as_ref().is_err_and(|e| e.contains("an alias is inside the value that it names")) {
            // kustomize fills a gigabyte of stack before it ends.
            continue;
        }
        let theirs = theirs(&mut server, &resource);
        built += usize::from(theirs.is_ok());
        if !agree(&resource, &ours, &theirs) && !is_comment_in_text(&mut server, directory.path(), &resource, &ours) {
            let show = |outcome: &Result<Vec<u8>, String>| match outcome {
                Ok(text) => String::from_utf8_lossy(text).into_owned(),
                Err(e) => format!("ERROR {e}\n"),
            };
            let text = String::from_utf8_lossy(&resource).into_owned();
            differences.push(format!(
                "==== document {i}\n{text}\n---- ours\n{}---- theirs\n{}",
                show(&ours),
                show(&theirs)
            ));
            if differences.len() >= most {
                break;
            }
        }
    }
    println!("{count} documents from seed {seed}: {built} build, {} differ", differences.len());
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(built * 4 > count, "most documents do not build: they test nothing");
}
