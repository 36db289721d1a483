//! [`Cursor`]: the field of a YAML text that a place is in. The field is found line by line, by
//! indentation, so it is also found in a text that is not valid YAML yet, such as a half-typed key.
//! In braces or brackets on one line, it is the field whose value is in them.

use std::ops::Range;

/// The place of a cursor in a text of block mappings and lists.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// The names of the fields around the value that the cursor is in, outermost first. Items of
    /// lists count as the list.
    pub path: Vec<String>,
    /// True if the document is a list, and not a mapping.
    pub in_list: bool,
    /// True in a key, false in a value or an item of a list that is a text.
    pub in_key: bool,
    /// The bytes of the key or value that the cursor is in or after.
    pub word: Range<usize>,
    /// The keys that the mapping around the cursor has, without the one that the cursor is in.
    pub siblings: Vec<String>,
}

/// A line of the text, taken apart.
#[derive(Clone, Debug)]
struct Line<'t> {
    /// The columns of the dashes in front of the content.
    dashes: Vec<usize>,
    /// The column of the content.
    column: usize,
    /// The offset of the content.
    start: usize,
    /// The content, without the comment after it.
    content: &'t str,
    key: Option<&'t str>,
}

/// A mapping or list that is open at a line.
#[derive(Debug)]
enum Level {
    Key { column: usize, name: String },
    Item { column: usize },
}

/// The levels that are open at a line, outermost first.
#[derive(Debug, Default)]
struct Levels(Vec<Level>);

/// The part of a text that a place is in.
enum Part {
    Field(Cursor),
    /// The value of several lines of a field.
    Block {
        field: Vec<String>,
        start: usize,
    },
}

impl Level {
    /// Returns true if the level ends before a line whose first character is in a column, and is
    /// not a dash.
    fn ends_before(&self, column: usize) -> bool {
        let (Level::Key { column: own, .. } | Level::Item { column: own }) = self;
        column <= *own
    }

    /// Returns true if the level ends before a dash in a column. The dashes of a list may be in the
    /// column of its key.
    fn ends_before_dash(&self, column: usize) -> bool {
        match self {
            Level::Key { column: own, .. } => column < *own,
            Level::Item { column: own } => column <= *own,
        }
    }
}

impl Cursor {
    /// The field at a byte of a text; `None` in a comment and in a text of several lines. O(text).
    pub(crate) fn at(text: &str, offset: usize) -> Option<Cursor> {
        match Part::at(text, offset)? {
            Part::Field(cursor) => Some(cursor),
            Part::Block { .. } => None,
        }
    }

    /// The field whose value of several lines has a byte of a text, and the field there of that
    /// value, which is read as YAML. O(text).
    pub(crate) fn in_block(text: &str, offset: usize) -> Option<(Vec<String>, Cursor)> {
        let Part::Block { field, start } = Part::at(text, offset)? else { return None };
        let cursor = Cursor::at(&text[start..], offset - start)?;
        let word = cursor.word.start + start..cursor.word.end + start;
        Some((field, Cursor { word, ..cursor }))
    }

    /// The field that a byte of a text is in, if the value of this one is in braces or brackets on
    /// one line; else this field. O(value).
    pub(crate) fn in_braces(self, text: &str, offset: usize) -> Cursor {
        let begin = self.word.start.min(offset);
        let value = &text[begin..offset];
        if !value.starts_with(['{', '[']) {
            return self;
        }
        let (mut open, mut start, mut quote): (Vec<Open<'_>>, _, _) = (Vec::new(), 0, None);
        for (at, c) in value.char_indices() {
            if quote.is_some() {
                quote = quote.filter(|quote| *quote != c);
                continue;
            }
            let token = value[start..at].trim();
            match (c, open.last_mut()) {
                ('{' | '[', _) if token.is_empty() => {
                    open.push(Open { in_braces: c == '{', key: None, keys: Vec::new() });
                    start = at + 1;
                }
                ('\'' | '"', _) if token.is_empty() => quote = Some(c),
                ('}' | ']', _) => {
                    open.pop();
                    start = at + 1;
                }
                (',', last) => {
                    if let Some(Open { key, keys, .. }) = last {
                        keys.extend(key.take());
                    }
                    start = at + 1;
                }
                (':', Some(Open { in_braces: true, key, .. })) if key.is_none() && !token.is_empty() => {
                    *key = Some(token.trim_matches(['"', '\'']));
                    start = at + 1;
                }
                _ => {}
            }
        }
        let Some(last) = open.last() else { return self };
        let word = begin + start + (value[start..].len() - value[start..].trim_start().len());
        let ends = |c: char| quote.map_or(matches!(c, ',' | ']' | '}'), |quote| c == quote);
        let rest = &text[offset..self.word.end.max(offset)];
        let end = offset + rest.find(ends).unwrap_or(rest.len());
        let names = open.iter().filter_map(|open| open.key).map(str::to_owned);
        Cursor {
            path: self.path.into_iter().chain(names).collect(),
            in_key: last.key.is_none(),
            word: word..end,
            siblings: last.keys.iter().map(|key| (*key).to_owned()).collect(),
            ..self
        }
    }
}

/// Braces or brackets that are open at a place.
struct Open<'t> {
    in_braces: bool,
    /// The key whose value the place is in.
    key: Option<&'t str>,
    /// The keys before it.
    keys: Vec<&'t str>,
}

impl Part {
    fn at(text: &str, offset: usize) -> Option<Part> {
        let first = document_start(text, offset);
        let mut levels = Levels::default();
        let mut block: Option<usize> = None;
        let mut block_start = first;
        let mut start = first;
        for raw in text[first..].split_inclusive('\n') {
            let end = start + raw.len();
            let is_last = offset < end || (end == text.len() && !raw.ends_with('\n'));
            let indent = raw.len() - raw.trim_start_matches(' ').len();
            let is_blank = raw.trim().is_empty();
            if block.is_some_and(|column| is_blank || indent > column) {
                if is_last && !(is_blank && offset - start <= block.unwrap_or_default()) {
                    return Some(Part::Block { field: levels.names(), start: block_start });
                }
            } else if !is_blank {
                block = None;
            }
            let line = Line::of(raw, start);
            if is_last {
                return place(text, &line, &mut levels, offset).map(Part::Field);
            }
            start = end;
            if block.is_some() || is_blank || line.content.is_empty() {
                continue;
            }
            levels.open(&line);
            let value =
                line.key.map_or(line.content, |key| line.content[key.len()..].trim_start_matches([':', '"', '\'']));
            if value.trim_start().starts_with(['|', '>']) {
                block_start = end;
                block =
                    Some(if line.key.is_some() { line.column } else { *line.dashes.last().unwrap_or(&line.column) });
            }
        }
        place(text, &Line::of("", start), &mut levels, offset).map(Part::Field)
    }
}

/// The start of the document that a byte is in.
fn document_start(text: &str, offset: usize) -> usize {
    let before = &text[..offset];
    let line = before.rfind("\n---").map(|i| i + 1).or(before.starts_with("---").then_some(0));
    line.map_or(0, |line| text[line..].find('\n').map_or(text.len(), |end| line + end + 1).min(offset))
}

impl<'t> Line<'t> {
    fn of(raw: &'t str, offset: usize) -> Line<'t> {
        let raw = raw.trim_end_matches(['\n', '\r']);
        let mut column = raw.len() - raw.trim_start_matches(' ').len();
        let mut dashes = Vec::new();
        while raw[column..].starts_with("- ") || &raw[column..] == "-" {
            dashes.push(column);
            let behind = &raw[column + 1..];
            column = raw.len() - behind.trim_start_matches(' ').len();
        }
        let content = without_comment(&raw[column..]);
        Line { dashes, column, start: offset + column, content, key: key(content) }
    }
}

/// A content without the comment after it.
fn without_comment(content: &str) -> &str {
    if content.starts_with('#') { "" } else { content.find(" #").map_or(content, |i| &content[..i]) }
}

/// The key that a content begins with.
fn key(content: &str) -> Option<&str> {
    if content.starts_with(['{', '[']) {
        return None;
    }
    let end = content.find(": ").or_else(|| content.trim_end().strip_suffix(':').map(str::len))?;
    Some(&content[..end])
}

impl Levels {
    /// Opens the levels of a line.
    fn open(&mut self, line: &Line<'_>) {
        self.open_items(line);
        if let Some(key) = line.key {
            self.close_before(line.column);
            let name = key.trim_matches(['"', '\'']).to_owned();
            self.0.push(Level::Key { column: line.column, name });
        }
    }

    /// Opens the items that the dashes of a line begin.
    fn open_items(&mut self, line: &Line<'_>) {
        for &column in &line.dashes {
            self.close(|level| level.ends_before_dash(column));
            self.0.push(Level::Item { column });
        }
    }

    /// Closes the levels that end before a line whose first character is in a column, and is not a
    /// dash.
    fn close_before(&mut self, column: usize) {
        self.close(|level| level.ends_before(column));
    }

    fn close(&mut self, has_ended: impl Fn(&Level) -> bool) {
        while self.0.last().is_some_and(&has_ended) {
            self.0.pop();
        }
    }

    /// The names of the fields.
    fn names(&self) -> Vec<String> {
        let name = |level: &Level| if let Level::Key { name, .. } = level { Some(name.clone()) } else { None };
        self.0.iter().filter_map(name).collect()
    }
}

/// The field at a byte of a line, with the levels that are open above it.
fn place(text: &str, line: &Line<'_>, levels: &mut Levels, offset: usize) -> Option<Cursor> {
    let end = line.start + line.content.len();
    // The cursor is in a comment.
    if offset > end && text[end..offset].contains('#') {
        return None;
    }
    levels.open_items(line);
    let line_start = text[..offset].rfind('\n').map_or(0, |i| i + 1);
    let column = if line.content.is_empty() {
        (offset - line_start).max(line.column.min(offset - line_start))
    } else {
        line.column
    };
    levels.close_before(column);
    let siblings = || siblings(text, line, column);
    let in_list = matches!(levels.0.first(), Some(Level::Item { .. }));
    let Some(key) = line.key else {
        let start = line.start.min(offset);
        return Some(Cursor {
            path: levels.names(),
            in_list,
            in_key: true,
            word: start..end.max(offset),
            siblings: siblings(),
        });
    };
    if offset <= line.start + key.len() {
        let word = line.start..line.start + key.len();
        return Some(Cursor { path: levels.names(), in_list, in_key: true, word, siblings: siblings() });
    }
    let mut path = levels.names();
    path.push(key.trim_matches(['"', '\'']).to_owned());
    let behind = line.start + key.len() + 1;
    let value = &text[behind.min(text.len())..end.max(behind).min(text.len())];
    let start = behind + (value.len() - value.trim_start().len());
    Some(Cursor { path, in_list, in_key: false, word: start.min(offset)..end.max(offset), siblings: Vec::new() })
}

/// The keys of the mapping that a line is in, by the lines around it.
fn siblings(text: &str, line: &Line<'_>, column: usize) -> Vec<String> {
    let own = text[..line.start.min(text.len())].rfind('\n').map_or(0, |i| i + 1);
    let after = text[own..].find('\n').map_or(text.len(), |i| own + i + 1);
    let mut keys: Vec<String> = Vec::new();
    let mut add = |line: &Line<'_>| keys.extend(line.key.map(|key| key.trim_matches(['"', '\'']).to_owned()));
    let is_nothing = |raw: &str| raw.trim().is_empty() || raw.trim_start().starts_with('#');
    if line.dashes.is_empty() {
        for raw in text[..own].lines().rev().filter(|raw| !is_nothing(raw)) {
            let above = Line::of(raw, 0);
            if raw.starts_with("---") || above.column < column {
                break;
            }
            let outermost = above.dashes.first().copied().unwrap_or(above.column);
            if above.column == column {
                add(&above);
            }
            if outermost < column {
                break;
            }
        }
    }
    for raw in text[after..].lines().filter(|raw| !is_nothing(raw)) {
        let below = Line::of(raw, 0);
        let outermost = below.dashes.first().copied().unwrap_or(below.column);
        if raw.starts_with("---") || outermost < column {
            break;
        }
        if outermost == column && below.dashes.is_empty() {
            add(&below);
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The place of `|` in a text, as `path key|value word (siblings)`.
    #[track_caller]
    fn check(marked: &str, want: &str) {
        let offset = marked.find('^').unwrap();
        let text = marked.replacen('^', "", 1);
        let found = Cursor::at(&text, offset).map(|cursor| {
            let side = if cursor.in_key { "key" } else { "value" };
            let siblings = cursor.siblings.join(" ");
            format!("{} {side} '{}' ({siblings})", cursor.path.join("."), &text[cursor.word])
        });
        assert_eq!(found.unwrap_or_default(), want, "{marked}");
    }

    #[test]
    fn keys() {
        check("na^", " key 'na' ()");
        check("kind: x\nres^ources:\n- a\nnamespace: b\n", " key 'resources' (kind namespace)");
        check("images:\n- name: a\n  new^\n  digest: x\n- newTag: y\n", "images key 'new' (name digest)");
        check("images:\n  - ^", "images key '' ()");
        check("patches:\n- target:\n    ki^\n    name: b\n  path: x\n", "patches.target key 'ki' (name)");
        check("patches:\n- target:\n    kind: A\n    ^\n", "patches.target key '' (kind)");
        check("patches:\n- target:\n    kind: A\n  ^\n  path: b\n", "patches key '' (target path)");
        check("a:\n  b: 1\n^\nc: 2\n", " key '' (a c)");
        check("---\na: 1\n---\nb^\n", " key 'b' ()");
        check("a: 1\nb:\n  c: 2\n^", " key '' (b a)");
    }

    #[test]
    fn values() {
        check("kind: Kus^t # x\n", "kind value 'Kust' ()");
        check("kind: ^\n", "kind value '' ()");
        check("resources:\n- ba^se\n- b\n", "resources key 'base' ()");
        check("patches:\n  - path: \"a^\"\n", "patches.path value '\"a\"' ()");
        check("a:\n- b:\n  - c: d^\n", "a.b.c value 'd' ()");
        check("'a': b^\n", "a value 'b' ()");
        check("a: b\r\nc: d^\r\n", "c value 'd' ()");
    }

    #[test]
    fn texts_and_comments_are_no_fields() {
        check("patch: |-\n  kind: ^x\n", "");
        check("patch: |-\n  kind: x\nna^\n", " key 'na' (patch)");
        check("- patch: |-\n    a: b\n  pa^\n", " key 'pa' (patch)");
        check("a: b # ^c\n", "");
        check("# ^c\n", "");
    }

    /// The place of `^` in a value of several lines, as `field: path 'word'`.
    #[track_caller]
    fn check_block(marked: &str, want: &str) {
        let offset = marked.find('^').unwrap();
        let text = marked.replacen('^', "", 1);
        let found = Cursor::in_block(&text, offset);
        let found = found
            .map(|(field, cursor)| format!("{}: {} '{}'", field.join("."), cursor.path.join("."), &text[cursor.word]));
        assert_eq!(found.unwrap_or_default(), want, "{marked}");
    }

    #[test]
    fn values_of_several_lines_have_fields() {
        check_block("patches:\n- patch: |-\n    - op: ad^\n      path: /a\n", "patches.patch: op 'ad'");
        check_block("patches:\n- patch: |-\n    - op: add\n\n    - op: ^\n  path: b\n", "patches.patch: op ''");
        check_block("- |\n  a:\n    b: ^c", ": a.b 'c'");
        check_block("patches:\n- patch: |-\n    - op: add\n  path: b^\n", "");
        check_block("a: |\n  # ^b\n", "");
    }

    #[test]
    fn any_text_and_place_is_taken() {
        let texts = [
            "",
            "-",
            "- - -a:",
            "a: |\n\n",
            ":\n",
            "---",
            "--- a\n- ",
            "\t- a",
            "é: ü\n  ß",
            "{a: [",
            "a:\n-\n -\n  -",
        ];
        for text in texts {
            for offset in (0..=text.len()).filter(|&i| text.is_char_boundary(i)) {
                let in_block = Cursor::in_block(text, offset).map(|(_, cursor)| cursor);
                for cursor in Cursor::at(text, offset).into_iter().chain(in_block) {
                    assert!(text.get(cursor.word.clone()).is_some(), "{text:?} {offset} {cursor:?}");
                }
            }
        }
    }

    /// The field in braces at `^`, as `path key|value word (siblings)`.
    #[track_caller]
    fn check_braces(marked: &str, want: &str) {
        let offset = marked.find('^').unwrap();
        let text = marked.replacen('^', "", 1);
        let cursor = Cursor::at(&text, offset).unwrap().in_braces(&text, offset);
        let side = if cursor.in_key { "key" } else { "value" };
        let found = format!(
            "{} {side} '{}' ({})",
            cursor.path.join("."),
            &text[cursor.word.clone()],
            cursor.siblings.join(" ")
        );
        assert_eq!(found, want, "{marked}");
    }

    #[test]
    fn fields_in_braces_are_found() {
        check_braces("a: {kind: B, name: c^d}\n", "a.name value 'cd' (kind)");
        check_braces("a: {kind: B, na^me: cd}\n", "a key 'name: cd' (kind)");
        check_braces("a: {kind: B, ^}\n", "a key '' (kind)");
        check_braces("a: {b: {c: d}, e: [f, 'g.[h=i].j^', k]}\n", "a.e key ''g.[h=i].j' ()");
        check_braces("a: [b.c, d^]\n", "a key 'd' ()");
        check_braces("- {op: te^}\n", "op value 'te' ()");
        check_braces("a: {b: c} ^\n", "a value '{b: c} ' ()");
        check_braces("a: b^c\n", "a value 'bc' ()");
    }
}
