//! From the text of a file to its documents.

use super::{Arena, Node, Pos, Source, fast, full};
use std::ops::Range;

/// Mappings and lists nested deeper than this are refused; the reference stops at 10,000.
pub const MAX_DEPTH: usize = 1_000;

/// Nodes that the aliases of one document may add to it. The reference has no limit and can be made to fill
/// the memory with a few hundred bytes.
pub const MAX_ALIAS_NODES: usize = 1_000_000;

/// Why a text is no YAML: what is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    pub message: String,
    pub pos: Pos,
}

/// Reads all documents of a resource file. Empty documents are left out. The text is split as kyaml does it
/// (`splitDocuments`) before any of it is parsed, so that only the first YAML document of each piece counts.
///
/// # Errors
/// The first piece that is no YAML, or a separator line with something behind its dashes.
///
/// Cost: O(text).
pub fn documents<'a>(arena: &'a Arena, source: &'a Source) -> Result<Vec<Node<'a>>, Malformed> {
    let pieces = split(source)?;
    let mut documents = Vec::with_capacity(pieces.len());
    for piece in pieces {
        documents.extend(parse(arena, source, piece)?);
    }
    Ok(documents)
}

/// Reads the first document of a text and ignores what follows, as the reference does with a kustomization file.
/// `None` if there is none.
pub fn first_document<'a>(arena: &'a Arena, source: &'a Source) -> Result<Option<Node<'a>>, Malformed> {
    let text = source.text.as_str();
    // Comments may stand before the marker that starts the first document.
    let blank = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    let head: usize = text.split_inclusive('\n').take_while(|line| blank(line)).map(str::len).sum();
    let mut from = head + if text[head..].starts_with("---") { 3 } else { 0 };
    while let Some(found) = memchr::memmem::find(&text.as_bytes()[from..], b"\n---") {
        let end = from + found + 1;
        if matches!(text.as_bytes().get(end + 3), None | Some(b' ' | b'\t' | b'\n')) {
            return parse(arena, source, 0..end);
        }
        from = end;
    }
    parse(arena, source, 0..text.len())
}

fn parse<'a>(arena: &'a Arena, source: &'a Source, piece: Range<usize>) -> Result<Option<Node<'a>>, Malformed> {
    match fast::parse(arena, source, piece.clone()) {
        Ok(node) => Ok(node),
        Err(fast::Unusual) => full::parse(arena, source, piece),
    }
}

/// The pieces of a file: separated by lines that hold `---` and at most a comment. A first line `---`, and one at
/// the very end without a line break, belong to their piece.
fn split(source: &Source) -> Result<Vec<Range<usize>>, Malformed> {
    let text = source.text.as_str();
    let bytes = text.as_bytes();
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut from = 0;
    while let Some(found) = memchr::memmem::find(&bytes[from..], b"\n---") {
        let line = from + found + 1;
        let Some(len) = memchr::memchr(b'\n', &bytes[line..]) else {
            break;
        };
        let rest = text[line + 3..line + len].trim_matches([' ', '\t', '\r']);
        if !rest.is_empty() && !rest.starts_with('#') {
            let message = format!("invalid document separator: {}", text[line..line + len].trim_end());
            return Err(Malformed { message, pos: source.pos(line) });
        }
        pieces.push(start..line);
        start = line + len + 1;
        from = start;
    }
    pieces.push(start..text.len());
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::emit;

    /// A random document of the common grammar.
    struct Maker {
        random: fastrand::Rng,
        text: String,
    }

    const PLAIN: [&str; 14] = [
        "a",
        "web-1",
        "true",
        "~",
        "12",
        "0x1F",
        "1.5",
        "http://a.b:80/c?d=e",
        "x # no",
        "2020-01-02",
        "yes",
        "-1",
        "a: b",
        ".5",
    ];

    impl Maker {
        fn scalar(&mut self) -> String {
            let word = PLAIN[self.random.usize(..PLAIN.len())];
            match self.random.u8(..4) {
                0 => format!("\"{}\\n\\u00e9\"", word.replace('"', "")),
                1 => format!("'{word}''s'"),
                _ => word.replace(": ", ":").replace(" #", "#"),
            }
        }

        fn flow(&mut self, depth: usize) -> String {
            let n = self.random.usize(..3);
            match self.random.u8(..if depth == 0 { 1 } else { 3 }) {
                0 => ["a", "\"b c\"", "'d'", "128Mi", "8080"][self.random.usize(..5)].to_owned(),
                1 => format!("[{}]", (0..n).map(|_| self.flow(depth - 1)).collect::<Vec<_>>().join(", ")),
                _ => format!(
                    "{{{}}}",
                    (0..n).map(|i| format!("k{i}: {}", self.flow(depth - 1))).collect::<Vec<_>>().join(", ")
                ),
            }
        }

        fn line(&mut self, text: &str) {
            self.text.push_str(text);
            if self.random.u8(..8) == 0 {
                self.text.push_str(" # a comment");
            }
            self.text.push('\n');
            if self.random.u8(..10) == 0 {
                self.text.push_str(["\n", "# between\n", "   \n"][self.random.usize(..3)]);
            }
        }

        fn literal(&mut self, indent: usize) {
            let header = ["|", "|-", "|+"][self.random.usize(..3)];
            self.line(header);
            let pad = " ".repeat(indent + 2);
            for i in 0..1 + self.random.usize(..3) {
                let blank = if i > 0 && self.random.bool() { "\n" } else { "" };
                let deeper = if i > 0 && self.random.bool() { "  " } else { "" };
                self.text.push_str(&format!("{blank}{pad}{deeper}text {i}: # kept\n"));
            }
            if self.random.u8(..3) == 0 {
                self.text.push('\n');
            }
        }

        /// A value behind a colon or dash; the line so far is written.
        fn value(&mut self, indent: usize, depth: usize) {
            match self.random.u8(..if depth == 0 { 3 } else { 6 }) {
                0 => {
                    let text = format!(" {}", self.scalar());
                    self.line(&text);
                }
                1 => {
                    let text = format!(" {}", self.flow(2));
                    self.line(&text);
                }
                2 => {
                    self.text.push(' ');
                    self.literal(indent);
                }
                3 => {
                    self.line("");
                    let deeper = indent + 1 + self.random.usize(..3);
                    self.mapping(deeper, depth - 1, false);
                }
                _ => {
                    self.line("");
                    let deeper = indent + 1 + self.random.usize(..2);
                    self.sequence(deeper, depth - 1);
                }
            }
        }

        fn mapping(&mut self, indent: usize, depth: usize, mut inline: bool) {
            for i in 0..1 + self.random.usize(..4) {
                if !inline {
                    self.text.push_str(&" ".repeat(indent));
                }
                inline = false;
                let key = ["name", "\"q k\"", "'s'", "a.b/c", "x-y"][self.random.usize(..5)];
                self.text.push_str(&format!(
                    "{}{i}{}:",
                    &key[..key.len() - usize::from(!key.ends_with(char::is_alphanumeric))],
                    &key[key.len() - usize::from(!key.ends_with(char::is_alphanumeric))..]
                ));
                self.value(indent, depth);
            }
        }

        fn sequence(&mut self, indent: usize, depth: usize) {
            for _ in 0..1 + self.random.usize(..3) {
                self.text.push_str(&" ".repeat(indent));
                self.text.push('-');
                if depth > 0 && self.random.bool() {
                    self.text.push(' ');
                    self.mapping(indent + 2, depth - 1, true);
                } else {
                    self.value(indent, depth);
                }
            }
        }
    }

    /// The two layers, on what the first one reads, give the same tree and the same text.
    #[test]
    fn the_layers_agree() {
        let (mut read, mut unusual) = (0, 0);
        for seed in 0..3_000 {
            let mut maker = Maker { random: fastrand::Rng::with_seed(seed), text: String::new() };
            maker.mapping(0, 4, false);
            let arena = Arena::new();
            let source = arena.add_source("made", maker.text);
            let piece = 0..source.text.len();
            let Ok(first) = fast::parse(&arena, source, piece.clone()) else {
                unusual += 1;
                continue;
            };
            read += 1;
            let second = full::parse(&arena, source, piece)
                .unwrap_or_else(|e| panic!("seed {seed}: the full layer refuses: {e:?}\n{}", source.text));
            let (first, second) = (first.unwrap(), second.unwrap());
            assert!(first.same(&second), "seed {seed}: the trees differ\n{}", source.text);
            let print = |node| {
                let mut out = String::new();
                emit::document(&mut out, node).map(|()| out)
            };
            assert_eq!(
                print(&first).map_err(|e| e.message),
                print(&second).map_err(|e| e.message),
                "seed {seed}\n{}",
                source.text
            );
        }
        assert!(read > unusual, "{read} documents were read by the first layer, {unusual} were not");
    }

    /// What is printed reads as what was printed, and prints the same.
    #[test]
    fn printing_is_a_fixed_point() {
        for seed in 0..1_000 {
            let mut maker = Maker { random: fastrand::Rng::with_seed(seed), text: String::new() };
            maker.mapping(0, 4, false);
            let arena = Arena::new();
            let source = arena.add_source("made", maker.text);
            let Ok(Some(node)) = parse(&arena, source, 0..source.text.len()) else { continue };
            let mut once = String::new();
            if emit::document(&mut once, &node).is_err() {
                continue;
            }
            let printed = arena.add_source("printed", once.clone());
            let again = parse(&arena, printed, 0..printed.text.len()).unwrap().unwrap();
            let mut twice = String::new();
            emit::document(&mut twice, &again).unwrap();
            assert_eq!(once, twice, "seed {seed}");
        }
    }
}
