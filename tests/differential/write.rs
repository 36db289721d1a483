//! Writes a value as YAML, in the style that its marks say.

use super::value::{KeyStyle, Lines, Mark, TextStyle, V};
use std::fmt::Write;

/// The text in front of a value on its line.
#[derive(Clone, Copy, PartialEq)]
enum After {
    /// Nothing: a document starts.
    Nothing,
    Key,
    Dash,
}

/// A document of its own, with a new line at its end.
pub fn document(value: &V) -> String {
    let mut out = Writer(String::new());
    out.value(value, -1, After::Nothing);
    let text = out.0;
    text.strip_prefix([' ', '\n']).map(str::to_owned).unwrap_or(text)
}

/// Documents one behind the other.
pub fn documents(all: &[V]) -> String {
    all.iter().map(document).collect::<Vec<_>>().join("---\n")
}

/// A value in one line.
pub fn flow(value: &V) -> String {
    let (marks, bare) = value.parts();
    let mut out = properties(marks);
    out.push_str(&match bare {
        V::S(text) if text.is_empty() => "null".to_owned(),
        // A character that ends a plain text in brackets is quoted there.
        V::S(text) if text.contains(['{', '}', '[', ']', ',', '?']) && !text.starts_with(['\'', '"', '[', '{']) => {
            format!("'{text}'")
        }
        V::S(text) => text.clone(),
        V::T(lines) => match text_style(marks) {
            Some(TextStyle::Single) => format!("'{}'", lines.join(" ").replace('\'', "''")),
            _ => double(&lines.join("\n")),
        },
        V::D(all) => double(&documents(all)),
        V::L(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        V::M(entries) => {
            let entries = entries.iter().map(|(k, v)| format!("{} {}", key(k, v.parts().0), flow(v)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        V::Marked(..) => flow(bare),
    });
    out
}

/// A text in double quotes, with escapes.
fn double(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if (c as u32) < 0x20 => {
                let _ = write!(out, "\\x{:02x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn text_style(marks: &[Mark]) -> Option<TextStyle> {
    marks.iter().find_map(|mark| if let Mark::Text(style) = mark { Some(*style) } else { None })
}

fn key_style(marks: &[Mark]) -> Option<KeyStyle> {
    marks.iter().find_map(|mark| if let Mark::Key(style) = mark { Some(*style) } else { None })
}

/// A key and its colon. The style is a mark of the value.
fn key(key: &str, marks: &[Mark]) -> String {
    let is_quoted = key.starts_with(['"', '\'', '*']) || key == "<<";
    match key_style(marks).filter(|_| !is_quoted) {
        Some(KeyStyle::Double) => format!("\"{key}\":"),
        Some(KeyStyle::Single) => format!("'{key}':"),
        Some(KeyStyle::Spaced) => format!("{key} :"),
        Some(KeyStyle::Tagged) => format!("!!str {key}:"),
        Some(KeyStyle::Explicit) | None => format!("{key}:"),
    }
}

fn properties(marks: &[Mark]) -> String {
    let words = marks.iter().filter_map(|mark| if let Mark::Property(text) = mark { Some(text) } else { None });
    words.fold(String::new(), |out, word| out + word + " ")
}

struct Writer(String);

impl Writer {
    fn spaces(&mut self, column: isize) {
        self.0.extend(std::iter::repeat_n(' ', column.max(0) as usize));
    }

    /// Writes what follows a key or a dash, with the end of its line. `parent` is the column of
    /// the collection that it is in.
    fn value(&mut self, value: &V, parent: isize, after: After) {
        let (marks, bare) = value.parts();
        let has_items = match bare {
            V::L(items) => !items.is_empty(),
            V::M(entries) => !entries.is_empty(),
            _ => false,
        };
        let lines = marks.iter().find_map(|mark| if let Mark::Lines(lines) = mark { Some(lines) } else { None });
        if after != After::Nothing {
            let properties = properties(marks);
            if !properties.is_empty() {
                let _ = write!(self.0, " {}", properties.trim_end());
            }
        }
        match (bare, lines) {
            (V::T(lines), _) => self.text(lines, marks, parent),
            (V::D(all), _) => self.embedded(&documents(all), marks, parent),
            (_, Some(lines)) if has_items => self.lines(bare, lines, marks, parent),
            _ if has_items && !marks.contains(&Mark::Flow) => self.block(bare, marks, parent, after),
            (V::S(text), _) if text.is_empty() => self.tail(marks),
            (V::S(text), _) => {
                let _ = write!(self.0, " {text}");
                self.tail(marks);
            }
            _ => {
                // The properties have been written.
                let text = flow(bare);
                let _ = write!(self.0, " {text}");
                self.tail(marks);
            }
        }
    }

    /// The comment of a line, and its end.
    fn tail(&mut self, marks: &[Mark]) {
        if let Some(Mark::Tail(comment)) = marks.iter().find(|mark| matches!(mark, Mark::Tail(_))) {
            let _ = write!(self.0, " {comment}");
        }
        self.0.push('\n');
    }

    fn above(&mut self, value: &V, column: isize) {
        for mark in value.parts().0 {
            if let Mark::Above(comment, is_at_start) = mark {
                if !is_at_start && !comment.is_empty() {
                    self.spaces(column);
                }
                let _ = writeln!(self.0, "{comment}");
            }
        }
    }

    fn block(&mut self, bare: &V, marks: &[Mark], parent: isize, after: After) {
        let step = step(marks);
        let is_list = matches!(bare, V::L(_));
        let column = match after {
            After::Nothing => 0,
            After::Key if is_list && marks.contains(&Mark::SameIndent) => parent,
            After::Key | After::Dash => parent + step,
        };
        // One column behind the dash is the dash's own blank: the first entry has a line of its
        // own.
        let fits_behind_dash = step > 1 && !marks.iter().any(|m| matches!(m, Mark::Property(_) | Mark::Tail(_)));
        let starts_here = after == After::Dash && fits_behind_dash;
        if starts_here {
            self.spaces(step - 1);
        } else if after == After::Nothing {
            self.spaces(column);
        } else {
            self.tail(marks);
        }
        match bare {
            V::L(items) => self.items(items, column, starts_here),
            V::M(entries) => self.entries(entries, column, starts_here),
            _ => {}
        }
        for mark in marks {
            if let Mark::Below(comment) = mark {
                self.spaces(column);
                let _ = writeln!(self.0, "{comment}");
            }
        }
    }

    fn items(&mut self, items: &[V], column: isize, starts_here: bool) {
        for (i, item) in items.iter().enumerate() {
            if i > 0 || !starts_here {
                self.above(item, column);
                self.spaces(column);
            }
            self.0.push('-');
            self.value(item, column, After::Dash);
        }
    }

    fn entries(&mut self, entries: &[(String, V)], column: isize, starts_here: bool) {
        for (i, (name, value)) in entries.iter().enumerate() {
            if i > 0 || !starts_here {
                self.above(value, column);
                self.spaces(column);
            }
            let marks = value.parts().0;
            if key_style(marks) == Some(KeyStyle::Explicit) {
                let _ = writeln!(self.0, "? {name}");
                self.spaces(column);
                self.0.push(':');
            } else {
                self.0.push_str(&key(name, marks));
            }
            self.value(value, column, After::Key);
        }
    }

    /// A collection in brackets over several lines.
    fn lines(&mut self, bare: &V, style: &Lines, marks: &[Mark], parent: isize) {
        let (open, close, items) = match bare {
            V::L(items) => ('[', ']', items.iter().map(flow).collect::<Vec<_>>()),
            V::M(entries) => {
                let entry = |(k, v): &(String, V)| format!("{} {}", key(k, v.parts().0), flow(v));
                ('{', '}', entries.iter().map(entry).collect())
            }
            _ => return,
        };
        let _ = write!(self.0, " {open}");
        let count = items.len();
        for (i, item) in items.into_iter().enumerate() {
            self.0.push_str(if style.comment && i == 0 { " # opened\n" } else { "\n" });
            self.spaces(parent + style.column);
            self.0.push_str(&item);
            if i + 1 < count || style.trailing_comma {
                self.0.push(',');
            }
        }
        self.0.push_str(if style.comment { " # last\n" } else { "\n" });
        self.spaces(parent + style.close);
        self.0.push(close);
        self.tail(marks);
    }

    fn text(&mut self, lines: &[String], marks: &[Mark], parent: isize) {
        let column = parent.max(0) + step(marks);
        match text_style(marks).unwrap_or(TextStyle::Double(false)) {
            style @ (TextStyle::Literal(..) | TextStyle::Folded(..)) => self.block_text(style, lines, marks, parent),
            TextStyle::Plain => {
                let lines: Vec<String> = lines.iter().map(|line| plain(line)).collect();
                let text = lines.join("\n");
                self.folded(if text.trim().is_empty() { "x" } else { text.trim() }, column);
                self.tail(marks);
            }
            TextStyle::Single => {
                self.folded(&format!("'{}'", lines.join("\n").replace('\'', "''")), column);
                self.tail(marks);
            }
            TextStyle::Double(true) => {
                let lines: Vec<String> = lines.iter().map(|l| double(l).trim_matches('"').to_owned()).collect();
                self.folded(&format!("\"{}\"", lines.join("\n")), column);
                self.tail(marks);
            }
            TextStyle::Double(false) => {
                let _ = write!(self.0, " {}", double(&lines.join("\n")));
                self.tail(marks);
            }
        }
    }

    /// A text that continues in the next lines, where the reader makes a space of each end.
    fn folded(&mut self, text: &str, column: isize) {
        for (i, line) in text.split('\n').enumerate() {
            if i > 0 {
                self.0.push('\n');
            }
            if i == 0 {
                self.0.push(' ');
            } else if !line.is_empty() {
                self.spaces(column);
            }
            self.0.push_str(line);
        }
    }

    fn block_text(&mut self, style: TextStyle, lines: &[String], marks: &[Mark], parent: isize) {
        let (sign, chomp, says) = match style {
            TextStyle::Folded(chomp, says) => ('>', chomp, says),
            TextStyle::Literal(chomp, says) => ('|', chomp, says),
            _ => return,
        };
        let step = step(marks);
        let first = lines.iter().find(|line| !line.trim_matches(' ').is_empty());
        let _ = write!(self.0, " {sign}");
        if says || first.is_none_or(|line| line.starts_with(' ')) {
            let _ = write!(self.0, "{step}");
        }
        self.0.push_str(chomp);
        self.tail(marks);
        for line in lines {
            if !line.is_empty() {
                self.spaces(parent.max(0) + step);
            }
            let _ = writeln!(self.0, "{line}");
        }
    }

    /// Documents in a text, which are the same in every style.
    fn embedded(&mut self, documents: &str, marks: &[Mark], parent: isize) {
        let lines: Vec<String> = documents.trim_end().split('\n').map(str::to_owned).collect();
        match text_style(marks).unwrap_or(TextStyle::Literal("-", false)) {
            style @ TextStyle::Literal(..) => self.block_text(style, &lines, marks, parent),
            style @ TextStyle::Folded(..) if lines.len() == 1 => self.block_text(style, &lines, marks, parent),
            TextStyle::Single => {
                let text = documents.trim_end().replace('\'', "''").replace('\n', "\n\n");
                // A folded line loses the spaces that it begins with.
                match text.contains("\n ") {
                    true => self.block_text(TextStyle::Literal("", true), &lines, marks, parent),
                    false => {
                        self.folded(&format!("'{text}'"), parent.max(0) + step(marks));
                        self.tail(marks);
                    }
                }
            }
            _ => {
                let _ = write!(self.0, " {}", double(documents));
                self.tail(marks);
            }
        }
    }
}

fn step(marks: &[Mark]) -> isize {
    let step = marks.iter().find_map(|mark| if let Mark::Step(step) = mark { Some(*step) } else { None });
    step.unwrap_or(2) as isize
}

/// A line that may stand in a plain text: no signs that mean something there.
fn plain(line: &str) -> String {
    let text: String = line.chars().filter(|c| c.is_alphanumeric() || " /.=()$-".contains(*c)).collect();
    text.trim().trim_start_matches(['-', '=', '.', ' ']).to_owned()
}
