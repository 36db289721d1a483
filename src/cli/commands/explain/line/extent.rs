//! [`Extent`]: the parts of a file that have a line.

use rustomize_engine::load::kustomization_file;
use rustomize_yaml::places::Places;
use rustomize_yaml::{Heap, Node, Scalar, Style, Value, documents};
use std::path::Path;

/// The parts of a file that have a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// The first and last line of each part, the smallest part first.
    pub around: Vec<(usize, usize)>,
    /// Why a line of this kind has no effect, if it has none.
    pub reason: Reason,
}

/// The reason for which a line may have no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    Blank,
    Comment,
    /// The line that divides documents.
    Separator,
    /// The line says something.
    Text,
}

impl Extent {
    /// The extent of a line in a file that is not here.
    pub(super) fn of_line(line: usize) -> Self {
        Extent { around: vec![(line, line)], reason: Reason::Text }
    }

    /// The parts of a file that have a line; `None` if the file does not have the line. O(size).
    pub(super) fn of(name: &str, text: &str, line: usize) -> Option<Self> {
        let written = line.checked_sub(1).filter(|_| line <= line_count(text)).and_then(|i| text.split('\n').nth(i))?;
        let reason = match written.trim() {
            "" => Reason::Blank,
            "---" | "..." => Reason::Separator,
            trimmed if trimmed.starts_with('#') => Reason::Comment,
            _ => Reason::Text,
        };
        let parts = is_yaml(name).then(|| parts(text, kustomization_file::is_one(Path::new(name)))).flatten();
        let Some(parts) = parts else { return Some(Extent { reason, ..Extent::of_line(line) }) };
        let has = |part: &&Part| part.from <= line && line <= part.to;
        let is_in_value = parts.iter().filter(has).any(|part| part.is_value);
        if reason != Reason::Text && !is_in_value {
            return Some(Extent { around: Vec::new(), reason });
        }
        let mut around: Vec<(usize, usize)> = parts.iter().filter(has).map(|part| (part.from, part.to)).collect();
        around.sort_by_key(|(from, to)| (to - from, *from));
        around.dedup();
        if !around.contains(&(line, line)) {
            around.insert(0, (line, line));
        }
        Some(Extent { around, reason: Reason::Text })
    }
}

/// The number of lines of a text.
pub(super) fn line_count(text: &str) -> usize {
    text.strip_suffix('\n').unwrap_or(text).split('\n').count() - usize::from(text.is_empty())
}

fn is_yaml(name: &str) -> bool {
    let ending = Path::new(name).extension();
    ending.is_some_and(|ending| ["yaml", "yml", "json"].iter().any(|known| ending == *known))
        || kustomization_file::is_one(Path::new(name))
}

/// A value with its key, or an item of a list.
struct Part {
    from: usize,
    to: usize,
    /// True for a scalar.
    is_value: bool,
}

/// All parts of a file; `None` for a text that is not YAML. Fields of a kustomization have nothing
/// to do with each other: the whole of it is not a part.
fn parts(text: &str, is_kustomization: bool) -> Option<Vec<Part>> {
    let heap = Heap::new();
    let arena = heap.arena();
    let documents = documents(arena, arena.add_file("", text.to_owned().into())).ok()?;
    let mut walk =
        Walk { places: Places::new(&heap), lines: text.split('\n').collect(), starts: Vec::new(), parts: Vec::new() };
    documents.iter().for_each(|document| walk.note_starts(document));
    walk.starts.sort_unstable();
    for document in &documents {
        walk.part(document, None);
        if is_kustomization && document.as_mapping().is_some() {
            walk.parts.pop();
        }
    }
    Some(walk.parts)
}

struct Walk<'h, 't> {
    places: Places<'h>,
    lines: Vec<&'t str>,
    /// The lines on which keys and values begin, in ascending order.
    starts: Vec<usize>,
    parts: Vec<Part>,
}

impl Walk<'_, '_> {
    /// The line on which a node begins, and its column, both from 1.
    fn place(&self, node: &Node<'_>) -> (usize, usize) {
        self.places.spot(node.pos()).map_or((0, 1), |spot| (spot.line, spot.column))
    }

    fn note_starts(&mut self, node: &Node<'_>) {
        self.starts.push(self.place(node).0);
        match node.value() {
            Value::Scalar(_) => {}
            Value::Sequence(items) => items.iter().for_each(|item| self.note_starts(item)),
            Value::Mapping(fields) => {
                for entry in fields.iter() {
                    self.starts.extend(self.places.spot(entry.key().pos()).map(|spot| spot.line));
                    self.note_starts(entry.value());
                }
            }
        }
    }

    /// Adds a value, whose key is on the line `key`, and all values in it. Returns its last line.
    fn part(&mut self, node: &Node<'_>, key: Option<usize>) -> usize {
        let (line, column) = self.place(node);
        let from = key.unwrap_or(line);
        let to = match node.value() {
            Value::Scalar(scalar) => self.end(scalar, line, column),
            Value::Sequence(items) => items.iter().map(|item| self.part(item, None)).fold(line, usize::max),
            Value::Mapping(fields) => {
                let entry = |this: &mut Self, entry: &rustomize_yaml::Entry<'_>| {
                    let key = this.places.spot(entry.key().pos()).map(|spot| spot.line);
                    this.part(entry.value(), key)
                };
                fields.iter().map(|field| entry(self, field)).fold(line, usize::max)
            }
        };
        let to = to.max(from);
        self.parts.push(Part { from, to, is_value: node.as_scalar().is_some() });
        to
    }

    /// The last line of a scalar that begins at a place.
    fn end(&self, scalar: &Scalar<'_>, line: usize, column: usize) -> usize {
        let next = self.starts.partition_point(|start| *start <= line);
        let before_next = self.starts.get(next).map_or(self.lines.len(), |start| start - 1);
        let written = |number: usize| self.lines.get(number - 1).copied().unwrap_or_default();
        let indent = |text: &str| text.len() - text.trim_start().len();
        let is_block = matches!(scalar.style(), Style::Literal | Style::Folded);
        if !is_block && (line == 0 || self.ends_in_line(scalar, written(line), column)) {
            return line;
        }
        let content = (line + 1..=before_next).map(written).find(|text| !text.trim().is_empty()).map_or(0, indent);
        let is_part = |number: &usize| {
            let text = written(*number);
            let is_odd = text.trim().is_empty() || text.starts_with("---") || text.starts_with("...");
            !is_odd && indent(text) >= content && (is_block || !text.trim().starts_with('#'))
        };
        (line + 1..=before_next).rev().find(is_part).unwrap_or(line)
    }

    /// Returns true if a scalar that is not a block ends in the line where it begins.
    fn ends_in_line(&self, scalar: &Scalar<'_>, written: &str, column: usize) -> bool {
        let rest: String = written.chars().skip(column - 1).collect();
        match scalar.style() {
            Style::Single => rest.get(1..).is_some_and(|rest| rest.contains('\'')),
            Style::Double => rest.get(1..).is_some_and(|rest| rest.contains('"')),
            _ => rest.starts_with(scalar.text()) || scalar.is_null(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Extent, Reason};

    const FILE: &str = "\
# head
a: 1
b:
  - c: 2
    d: |
      x
      # y

  # note
  - e
---
f: \"g
  h\"
i: {j: 1,
  k: 2}
";

    #[track_caller]
    fn check(line: usize, around: &[(usize, usize)], reason: Reason) {
        assert_eq!(Extent::of("a.yaml", FILE, line), Some(Extent { around: around.to_vec(), reason }), "{line}");
    }

    #[test]
    fn parts_around_a_line_are_found_from_the_smallest_on() {
        check(1, &[], Reason::Comment);
        check(2, &[(2, 2), (2, 10)], Reason::Text);
        check(3, &[(3, 3), (3, 10), (2, 10)], Reason::Text);
        check(4, &[(4, 4), (4, 7), (3, 10), (2, 10)], Reason::Text);
        check(6, &[(6, 6), (5, 7), (4, 7), (3, 10), (2, 10)], Reason::Text);
        // A comment in a text is a part of the text.
        check(7, &[(7, 7), (5, 7), (4, 7), (3, 10), (2, 10)], Reason::Text);
        check(8, &[], Reason::Blank);
        check(9, &[], Reason::Comment);
        check(10, &[(10, 10), (3, 10), (2, 10)], Reason::Text);
        check(11, &[], Reason::Separator);
        check(13, &[(13, 13), (12, 13), (12, 15)], Reason::Text);
        check(15, &[(15, 15), (14, 15), (12, 15)], Reason::Text);
        assert_eq!(Extent::of("a.yaml", FILE, 16), None);
        assert_eq!(Extent::of("a.yaml", FILE, 0), None);
        assert_eq!(Extent::of("a.yaml", "", 1), None);
        let alone = Extent { around: vec![(1, 1)], reason: Reason::Text };
        assert_eq!(Extent::of("base/kustomization.yml", "namePrefix: a\nnameSuffix: b\n", 1), Some(alone));
    }

    #[test]
    fn lines_of_other_files_stand_alone() {
        let one = |reason| Some(Extent { around: vec![(1, 1)], reason });
        assert_eq!(Extent::of("a.env", "A=1\n", 1), one(Reason::Text));
        assert_eq!(Extent::of("a.env", "# A=1\n", 1), one(Reason::Comment));
        assert_eq!(Extent::of("a.yaml", "a: [\n", 1), one(Reason::Text));
    }
}
