//! From a pattern in Go's syntax to a syntax tree.
//!
//! The pattern is read once, from left to right. Open groups are kept on a list of their own, so
//! that deep nesting needs no stack. A tree says only whether a text matches: groups are not
//! captured, and repetitions are all greedy.

use super::class;
use super::{PatternError, Reason};
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Dot, Hir, Look, Repetition};
use rustomize_base::meter::FastMap;

/// The largest count of a repetition, and the largest product of the counts of nested repetitions.
const MAX_REPEAT: u32 = 1000;

/// The largest height of a tree.
const MAX_HEIGHT: u32 = 1000;

/// The largest number of ranges of characters that all sets of a pattern have together.
const MAX_RANGES: usize = 2 << 20;

/// Makes the tree of a pattern. Returns the tree and its height.
///
/// # Errors
/// Go refuses the pattern, or it has too many ranges of characters.
pub(crate) fn translate(pattern: &str) -> Result<(Hir, u32), PatternError> {
    let mut translator = Translator {
        pattern,
        at: 0,
        flags: Flags::default(),
        open: vec![Group::default()],
        ranges: 0,
        tables: FastMap::default(),
    };
    let mut last_repetition = None;
    while translator.at < pattern.len() {
        last_repetition = translator.token(last_repetition)?;
    }
    match <[Group; 1]>::try_from(std::mem::take(&mut translator.open)) {
        Ok([whole]) => {
            let node = whole.finish();
            translator.check_height(&node)?;
            Ok((node.tree, node.height))
        }
        Err(_) => Err(translator.whole(Reason::NoParenthesis)),
    }
}

/// A part of the tree.
struct Node {
    tree: Hir,
    /// The height, with groups that Go captures.
    height: u32,
    /// The largest product of counts on a path through the tree: the most often that a part is
    /// repeated.
    copies: u32,
    /// True for one character or a set of them: Go makes one set of such alternatives.
    is_char: bool,
}

impl Node {
    fn leaf(tree: Hir) -> Self {
        Node { tree, height: 1, copies: 1, is_char: false }
    }

    fn char(tree: Hir) -> Self {
        Node { is_char: true, ..Node::leaf(tree) }
    }

    /// One node after another.
    fn concatenation(nodes: Vec<Node>) -> Self {
        Node::joined(nodes, Hir::concat)
    }

    /// One node or another.
    fn alternation(nodes: Vec<Node>) -> Self {
        let is_char = nodes.iter().all(|node| node.is_char);
        let node = Node::joined(nodes, Hir::alternation);
        if is_char { Node::char(node.tree) } else { node }
    }

    /// Joins several nodes into one; `join` joins their trees. A single node stays as it is.
    fn joined(mut nodes: Vec<Node>, join: fn(Vec<Hir>) -> Hir) -> Self {
        if nodes.len() == 1
            && let Some(node) = nodes.pop()
        {
            return node;
        }
        let height = 1 + nodes.iter().map(|n| n.height).max().unwrap_or(0);
        let copies = nodes.iter().map(|n| n.copies).max().unwrap_or(1);
        let tree = join(nodes.into_iter().map(|n| n.tree).collect());
        Node { tree, height, copies, is_char: false }
    }

    fn repeated(self, Counts { min, max }: Counts) -> Self {
        let copies = match max.unwrap_or(min) {
            0 if max.is_some() => 1,
            count => self.copies.saturating_mul(count.max(1)),
        };
        let repetition = Repetition { min, max, greedy: true, sub: Box::new(self.tree) };
        Node { tree: Hir::repetition(repetition), height: self.height + 1, copies, is_char: false }
    }
}

/// The flags that `(?i)` and the like set. Greediness is not among them: it does not change whether
/// a text matches.
#[derive(Clone, Copy, Default)]
struct Flags {
    /// `i`: letters match in all cases.
    fold: bool,
    /// `m`: `^` and `$` match at lines.
    lines: bool,
    /// `s`: `.` matches `\n`.
    dot_all: bool,
}

/// The counts of a repetition; no `max` means any number of times.
#[derive(Clone, Copy)]
struct Counts {
    min: u32,
    max: Option<u32>,
}

/// A group that is not closed yet.
#[derive(Default)]
struct Group {
    /// The flags that apply again after the group.
    outer: Flags,
    is_captured: bool,
    alternatives: Vec<Node>,
    sequence: Vec<Node>,
    /// Characters at the end of the sequence that are not yet a node.
    literal: String,
    /// True if the characters match in all cases.
    is_folded: bool,
}

impl Group {
    fn push(&mut self, node: Node) {
        self.end_literal();
        self.sequence.push(node);
    }

    fn push_char(&mut self, c: char, is_folded: bool) {
        if self.is_folded != is_folded {
            self.end_literal();
            self.is_folded = is_folded;
        }
        self.literal.push(c);
    }

    /// Removes the part that a repetition after the sequence applies to: one character, or one
    /// node.
    fn pop(&mut self) -> Option<Node> {
        let Some(c) = self.literal.pop() else { return self.sequence.pop() };
        self.end_literal();
        Some(literal(c.encode_utf8(&mut [0; 4]), self.is_folded))
    }

    fn end_literal(&mut self) {
        if !self.literal.is_empty() {
            let node = literal(&self.literal, self.is_folded);
            self.literal.clear();
            self.sequence.push(node);
        }
    }

    fn end_alternative(&mut self) {
        self.end_literal();
        let sequence = std::mem::take(&mut self.sequence);
        self.alternatives.push(Node::concatenation(sequence));
    }

    fn finish(mut self) -> Node {
        self.end_alternative();
        let mut node = Node::alternation(self.alternatives);
        if self.is_captured {
            node.height += 1;
            node.is_char = false;
        }
        node
    }
}

fn literal(text: &str, is_folded: bool) -> Node {
    let tree = if is_folded {
        Hir::concat(text.chars().map(|c| Hir::class(Class::Unicode(class::folded(c)))).collect())
    } else {
        Hir::literal(text.as_bytes())
    };
    Node { is_char: text.chars().nth(1).is_none(), ..Node::leaf(tree) }
}

struct Translator<'p> {
    pattern: &'p str,
    /// Where the next token begins.
    at: usize,
    flags: Flags,
    /// The groups around the next token; the first is the whole pattern.
    open: Vec<Group>,
    /// The number of ranges in all sets of the pattern so far.
    ranges: usize,
    /// Sets that were used by name, each with its case folding.
    tables: FastMap<(&'p str, bool), Option<ClassUnicode>>,
}

impl<'p> Translator<'p> {
    fn rest(&self) -> &'p str {
        &self.pattern[self.at..]
    }

    fn next_char(&mut self) -> Option<char> {
        let c = self.rest().chars().next()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Skips a text, if it is next. Returns true if it was.
    fn eat(&mut self, text: &str) -> bool {
        let is_next = self.rest().starts_with(text);
        self.at += if is_next { text.len() } else { 0 };
        is_next
    }

    /// An error about the text between `from` and the next token.
    fn fault(&self, reason: Reason, from: usize) -> PatternError {
        PatternError { reason, fragment: self.pattern[from..self.at].to_owned() }
    }

    /// An error about the whole pattern.
    fn whole(&self, reason: Reason) -> PatternError {
        PatternError { reason, fragment: self.pattern.to_owned() }
    }

    fn check_height(&self, node: &Node) -> Result<(), PatternError> {
        if node.height > MAX_HEIGHT { Err(self.whole(Reason::TooDeep)) } else { Ok(()) }
    }

    /// The innermost open group. There always is one: the whole pattern is never closed.
    #[expect(clippy::expect_used, reason = "close_group keeps the first group")]
    fn group(&mut self) -> &mut Group {
        self.open.last_mut().expect("the whole pattern is open")
    }

    fn push(&mut self, tree: Hir) {
        self.group().push(Node::leaf(tree));
    }

    fn push_char(&mut self, c: char) {
        let is_folded = self.flags.fold;
        self.group().push_char(c, is_folded);
    }

    /// Reads one token. `last_repetition` is the start of the previous token if that was a
    /// repetition; the result is the same for this token.
    fn token(&mut self, last_repetition: Option<usize>) -> Result<Option<usize>, PatternError> {
        let start = self.at;
        let Some(c) = self.next_char() else { return Ok(None) };
        let Flags { lines, dot_all, .. } = self.flags;
        match c {
            '(' => self.open_group(start)?,
            ')' => self.close_group()?,
            '|' => self.end_alternative()?,
            '^' => self.push(Hir::look(if lines { Look::StartLF } else { Look::Start })),
            '$' => self.push(Hir::look(if lines { Look::EndLF } else { Look::End })),
            '.' => {
                let dot = if dot_all { Dot::AnyChar } else { Dot::AnyCharExceptLF };
                self.group().push(Node::char(Hir::dot(dot)));
            }
            '[' => self.class(start)?,
            '\\' => self.escape(start)?,
            '*' | '+' | '?' => {
                let counts = Counts { min: u32::from(c == '+'), max: (c == '?').then_some(1) };
                self.repeat(start, last_repetition, counts)?;
                return Ok(Some(start));
            }
            '{' => match self.counts() {
                Some(counts) => {
                    let counts = self.valid_counts(start, counts)?;
                    self.repeat(start, last_repetition, counts)?;
                    return Ok(Some(start));
                }
                None => self.push_char('{'),
            },
            c => self.push_char(c),
        }
        Ok(None)
    }

    fn end_alternative(&mut self) -> Result<(), PatternError> {
        self.group().end_alternative();
        match self.group().alternatives.last().map(|node| node.height) {
            Some(height) if height > MAX_HEIGHT => Err(self.whole(Reason::TooDeep)),
            _ => Ok(()),
        }
    }

    /// Reads the text after a `(`.
    fn open_group(&mut self, start: usize) -> Result<(), PatternError> {
        let outer = self.flags;
        let is_captured = !self.eat("?") || self.name(start)?;
        if is_captured || self.flags(start)? {
            self.open.push(Group { outer, is_captured, ..Group::default() });
        }
        Ok(())
    }

    /// Reads the name of a group after `(?`, if it has one: `P<name>` or `<name>`.
    fn name(&mut self, start: usize) -> Result<bool, PatternError> {
        let rest = self.rest();
        let Some(rest) = rest.strip_prefix("P<").or(rest.strip_prefix('<')).filter(|rest| !rest.is_empty()) else {
            return Ok(false);
        };
        let Some(end) = rest.find('>') else {
            self.at = self.pattern.len();
            return Err(self.fault(Reason::NamedCapture, start));
        };
        self.at = self.pattern.len() - rest.len() + end + 1;
        let is_valid = end > 0 && rest[..end].bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric());
        if is_valid { Ok(true) } else { Err(self.fault(Reason::NamedCapture, start)) }
    }

    /// Reads the flags after `(?`. Returns true if they open a group.
    fn flags(&mut self, start: usize) -> Result<bool, PatternError> {
        let mut flags = self.flags;
        let (mut is_on, mut is_used) = (true, true);
        while let Some(c) = self.next_char() {
            match c {
                'i' => flags.fold = is_on,
                'm' => flags.lines = is_on,
                's' => flags.dot_all = is_on,
                'U' => {}
                '-' if is_on => {
                    (is_on, is_used) = (false, false);
                    continue;
                }
                ':' | ')' if is_used => {
                    self.flags = flags;
                    return Ok(c == ':');
                }
                _ => break,
            }
            is_used = true;
        }
        Err(self.fault(Reason::PerlSyntax, start))
    }

    fn close_group(&mut self) -> Result<(), PatternError> {
        let is_nested = self.open.len() > 1;
        let Some(group) = self.open.pop_if(|_| is_nested) else {
            return Err(self.whole(Reason::UnexpectedParenthesis));
        };
        self.flags = group.outer;
        let node = group.finish();
        self.check_height(&node)?;
        self.group().push(node);
        Ok(())
    }

    /// Reads the counts after a `{`, as in `{2}`, `{2,}` or `{2,3}`. If the text does not have one
    /// of these forms, the `{` is an ordinary character.
    fn counts(&mut self) -> Option<Counts> {
        let (min, rest) = number(self.rest())?;
        let (max, rest) = match rest.strip_prefix(',') {
            None => (Some(min), rest),
            Some(rest) if rest.starts_with('}') => (None, rest),
            Some(rest) => number(rest).map(|(max, rest)| (Some(max), rest))?,
        };
        let rest = rest.strip_prefix('}')?;
        self.at = self.pattern.len() - rest.len();
        Some(Counts { min, max })
    }

    fn valid_counts(&self, start: usize, counts: Counts) -> Result<Counts, PatternError> {
        let Counts { min, max } = counts;
        let is_valid = min <= MAX_REPEAT && max.is_none_or(|max| min <= max && max <= MAX_REPEAT);
        if is_valid { Ok(counts) } else { Err(self.fault(Reason::RepeatCount, start)) }
    }

    /// Repeats the part before a repetition that began at `start`.
    fn repeat(&mut self, start: usize, last_repetition: Option<usize>, counts: Counts) -> Result<(), PatternError> {
        self.eat("?");
        if let Some(last) = last_repetition {
            return Err(self.fault(Reason::NestedRepetition, last));
        }
        let Some(node) = self.group().pop() else { return Err(self.fault(Reason::NothingToRepeat, start)) };
        let node = node.repeated(counts);
        self.check_height(&node)?;
        if node.copies > MAX_REPEAT {
            return Err(self.fault(Reason::RepeatCount, start));
        }
        self.group().push(node);
        Ok(())
    }

    /// Reads the text after a `\`, outside of a set.
    fn escape(&mut self, start: usize) -> Result<(), PatternError> {
        match self.rest().as_bytes().first() {
            Some(b'A') => self.push(Hir::look(Look::Start)),
            Some(b'z') => self.push(Hir::look(Look::End)),
            Some(b'b') => self.push(Hir::look(Look::WordAscii)),
            Some(b'B') => self.push(Hir::look(Look::WordAsciiNegate)),
            Some(b'Q') => {
                self.quoted();
                return Ok(());
            }
            _ => {
                if let Some(class) = self.named_set(start)? {
                    return self.push_class(class);
                }
                match char::from_u32(self.escaped(start)?) {
                    Some(c) => self.push_char(c),
                    // Half of a surrogate pair: texts cannot contain it.
                    None => self.push(Hir::fail()),
                }
                return Ok(());
            }
        }
        self.at += 1;
        Ok(())
    }

    /// Reads `Q...\E` after a `\`: everything in between is literal.
    fn quoted(&mut self) {
        let rest = &self.rest()[1..];
        let (text, rest) = rest.split_once("\\E").unwrap_or((rest, ""));
        text.chars().for_each(|c| self.push_char(c));
        self.at = self.pattern.len() - rest.len();
    }

    /// Reads a set after a `\`, if there is one: `pN`, `p{Greek}`, `P{^Greek}`, `d`, `W`.
    fn named_set(&mut self, start: usize) -> Result<Option<ClassUnicode>, PatternError> {
        let Some(&letter) = self.rest().as_bytes().first() else { return Ok(None) };
        let is_negated = letter.is_ascii_uppercase();
        if matches!(letter, b'p' | b'P') {
            return self.unicode_set(start, is_negated).map(Some);
        }
        let Some(class) = class::perl(letter) else { return Ok(None) };
        self.at += 1;
        Ok(Some(self.adjusted(class, is_negated)))
    }

    fn unicode_set(&mut self, start: usize, is_negated: bool) -> Result<ClassUnicode, PatternError> {
        self.at += 1;
        let name_start = self.at;
        let name = if self.next_char() == Some('{') {
            let end = self.pattern[start..].find('}').map(|end| start + end);
            self.at = end.map_or(self.pattern.len(), |end| end + 1);
            match end {
                Some(end) => &self.pattern[name_start + 1..end],
                None => return Err(self.fault(Reason::ClassRange, start)),
            }
        } else {
            &self.pattern[name_start..self.at]
        };
        let (name, is_negated) = name.strip_prefix('^').map_or((name, is_negated), |name| (name, !is_negated));
        let is_folded = self.flags.fold;
        let table = self.tables.entry((name, is_folded)).or_insert_with(|| class::named(name, is_folded));
        let Some(class) = table.clone() else { return Err(self.fault(Reason::ClassRange, start)) };
        Ok(if is_negated { class::negated(class) } else { class })
    }

    /// Folds or negates a set as the flags and its sign demand.
    fn adjusted(&self, mut class: ClassUnicode, is_negated: bool) -> ClassUnicode {
        if self.flags.fold {
            class::fold(&mut class);
        }
        if is_negated { class::negated(class) } else { class }
    }

    /// Reads the escape of one character after a `\`.
    fn escaped(&mut self, start: usize) -> Result<u32, PatternError> {
        let Some(c) = self.next_char() else {
            self.at = self.pattern.len();
            return Err(PatternError { reason: Reason::TrailingBackslash, fragment: String::new() });
        };
        let next_is_octal = self.rest().starts_with(|c| matches!(c, '0'..='7'));
        let char = match c {
            '0' => Some(self.octal(c)),
            '1'..='7' if next_is_octal => Some(self.octal(c)),
            'x' => self.hexadecimal(),
            'a' => Some(0x07),
            'f' => Some(0x0c),
            'n' => Some(0x0a),
            'r' => Some(0x0d),
            't' => Some(0x09),
            'v' => Some(0x0b),
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => Some(u32::from(c)),
            _ => None,
        };
        char.ok_or_else(|| self.fault(Reason::Escape, start))
    }

    /// Up to three octal digits, of which the first has been read.
    fn octal(&mut self, first: char) -> u32 {
        let more = self.rest().chars().take(2).map_while(|c| c.to_digit(8));
        let digits: Vec<u32> = first.to_digit(8).into_iter().chain(more).collect();
        self.at += digits.len() - 1;
        digits.into_iter().fold(0, |value, digit| value * 8 + digit)
    }

    /// Two digits, or any number of them in braces.
    fn hexadecimal(&mut self) -> Option<u32> {
        let first = self.next_char()?;
        if first != '{' {
            let second = self.next_char()?;
            return Some(first.to_digit(16)? * 16 + second.to_digit(16)?);
        }
        let mut value = None;
        loop {
            match self.next_char()? {
                '}' => return value,
                c => value = Some(value.unwrap_or(0) * 16 + c.to_digit(16)?),
            }
            if value > Some(u32::from(char::MAX)) {
                return None;
            }
        }
    }

    /// Reads a set in brackets, of which the `[` has been read.
    fn class(&mut self, start: usize) -> Result<(), PatternError> {
        let is_negated = self.eat("^");
        let (mut ranges, mut sets) = (Vec::new(), Vec::new());
        let mut is_first = true;
        while is_first || !self.rest().starts_with(']') {
            is_first = false;
            if let Some(class) = self.set_in_class()? {
                self.count_ranges(&class)?;
                sets.extend(class.ranges().iter().copied());
                continue;
            }
            let (from, to) = self.range(start)?;
            // The halves of surrogate pairs, which texts cannot contain, are in between.
            for (from, to) in [(from, to.min(0xd7ff)), (from.max(0xe000), to)] {
                if let (Some(from), Some(to)) = (char::from_u32(from), char::from_u32(to))
                    && from <= to
                {
                    ranges.push(ClassUnicodeRange::new(from, to));
                }
            }
        }
        self.at += 1;
        let mut class = self.adjusted(ClassUnicode::new(ranges), false);
        class.union(&ClassUnicode::new(sets));
        self.push_class(if is_negated { class::negated(class) } else { class })
    }

    /// Reads a set inside of brackets, if one is next: `[:alpha:]`, `\pN`, `\d`.
    fn set_in_class(&mut self) -> Result<Option<ClassUnicode>, PatternError> {
        let start = self.at;
        if let Some(rest) = self.rest().strip_prefix("[:")
            && let Some((name, rest)) = rest.split_once(":]")
        {
            self.at = self.pattern.len() - rest.len();
            let (name, is_negated) = name.strip_prefix('^').map_or((name, false), |name| (name, true));
            let class = class::posix(name).ok_or_else(|| self.fault(Reason::ClassRange, start))?;
            return Ok(Some(self.adjusted(class, is_negated)));
        }
        if !self.eat("\\") {
            return Ok(None);
        }
        let set = self.named_set(start)?;
        if set.is_none() {
            self.at = start;
        }
        Ok(set)
    }

    /// Reads one character or a range inside of the brackets that began at `class_start`.
    fn range(&mut self, class_start: usize) -> Result<(u32, u32), PatternError> {
        let start = self.at;
        let from = self.class_char(class_start)?;
        let rest = self.rest();
        if !rest.starts_with('-') || rest.len() == 1 || rest.starts_with("-]") {
            return Ok((from, from));
        }
        self.at += 1;
        let to = self.class_char(class_start)?;
        if to < from {
            return Err(self.fault(Reason::ClassRange, start));
        }
        Ok((from, to))
    }

    fn class_char(&mut self, class_start: usize) -> Result<u32, PatternError> {
        let start = self.at;
        match self.next_char() {
            None => Err(self.fault(Reason::NoBracket, class_start)),
            Some('\\') => self.escaped(start),
            Some(c) => Ok(u32::from(c)),
        }
    }

    fn push_class(&mut self, class: ClassUnicode) -> Result<(), PatternError> {
        self.count_ranges(&class)?;
        self.group().push(Node::char(Hir::class(Class::Unicode(class))));
        Ok(())
    }

    fn count_ranges(&mut self, class: &ClassUnicode) -> Result<(), PatternError> {
        self.ranges += class.ranges().len();
        if self.ranges > MAX_RANGES { Err(self.whole(Reason::TooLarge)) } else { Ok(()) }
    }
}

/// A decimal number without leading zeros at the start of a text, and the rest. A number that is
/// far too large is cut.
fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let is_number = !digits.is_empty() && (digits.len() == 1 || !digits.starts_with('0'));
    is_number.then(|| (digits.parse().unwrap_or(u32::MAX), rest))
}
