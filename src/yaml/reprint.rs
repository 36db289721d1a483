//! The detours of kustomize: a tree is printed or decoded, and then read again.
//!
//! go-yaml v3 prints a tree and reads it whenever kustomize needs Go values or JSON of a resource:
//! once before the output ([`emit`](super::emit)), in a JSON patch, for a name hash, and after a
//! KRM function. This changes texts in the folded style and values left out in braces; see [`text`]
//! and [`is_empty_text`]. The second half of the detour decides which styles and numbers remain.
//! The functions are named after it:
//!
//! * [`reprinted`]: printed and read, with styles: the output of a KRM function.
//! * [`printed`]: printed and read, without styles: the configuration object of a built-in.
//! * [`through_json`]: printed, then decoded, then JSON with 64-bit floats, then dumped: a JSON
//!   patch.
//! * [`into_json`]: the same, but the numbers are still those of the text: a JSON patch that looks
//!   at the JSON.
//! * [`through_map`]: decoded without printing, then JSON that is read as YAML: the items of a
//!   list.
//!
//! *Cost*: O(size of the tree); a text is copied only if it changes.

use super::json::fresh_string;
use super::scalar::{self, Kind};
use super::tree::mapping::{Entry, Key, Mapping};
use super::tree::node::{Node, Scalar, Style, Tag, Value};
use super::{Arena, Malformed};
use std::borrow::Cow;

/// The length of the longest key, in characters, that go-yaml can read back: it reads `? ` and the
/// key within 1,024 characters.
const MAX_KEY: usize = 1_022;

const TABBED: &str = "a text in a block begins with a tab, which the reference cannot print";

/// The text of a string after go-yaml v3 has printed and read it; `in_braces` says whether it
/// is in a mapping that is written in braces.
///
/// # Errors
/// The text is printed as a block and begins with a tab, which cannot be read; or it is tagged as
/// binary and is not base64.
pub fn text<'t>(s: &Scalar<'t>, in_braces: bool) -> Result<Cow<'t, str>, String> {
    if s.tag == Tag::Binary {
        return scalar::binary(s.text).map(Cow::from).ok_or_else(|| scalar::NOT_BINARY.to_owned());
    }
    let is_tabbed = s.text.starts_with('\t');
    let may_fold = s.style == Style::Folded && s.text.contains(is_break);
    match (is_tabbed || may_fold).then(|| block_style(s, in_braces)).flatten() {
        Some(_) if is_tabbed => Err(TABBED.to_owned()),
        Some(_) if may_fold => Ok(read_folded(&print_folded(s.text), s.text).into()),
        _ => Ok(s.text.into()),
    }
}

/// Returns true if go-yaml v3 prints this null as an empty text in quotes, which is read as a
/// string: an empty value cannot be plain in braces.
pub fn is_empty_text(s: &Scalar<'_>, in_braces: bool) -> bool {
    in_braces && s.text.is_empty() && s.style == Style::Plain && matches!(s.tag, Tag::Auto | Tag::Untyped)
}

/// Returns true if go-yaml v3 prints this time in quotes, so that it is read as a string: a text
/// with a colon cannot be plain in braces.
pub fn is_time_in_braces(s: &Scalar<'_>, in_braces: bool) -> bool {
    let has_tag = !matches!(s.tag, Tag::Auto | Tag::Untyped);
    in_braces && s.style == Style::Plain && !has_tag && s.text.contains(':') && s.kind() == Kind::Timestamp
}

/// The block style in which go-yaml v3 prints a string; `None` for a string on one line or in
/// quotes.
fn block_style(s: &Scalar<'_>, in_braces: bool) -> Option<Style> {
    let style = match s.style {
        Style::Literal | Style::Folded => s.style,
        Style::Plain if s.text.contains('\n') => Style::Literal,
        _ => return None,
    };
    (!in_braces && may_be_block(s.text)).then_some(style)
}

/// Returns true if go-yaml v3 prints a text as a block if the style asks for one. A text with a
/// blank at its end or before a line break, or with a character that needs an escape, is not
/// printed as a block. A tab does not need an escape.
fn may_be_block(text: &str) -> bool {
    let escaped = |c: char| {
        !matches!(c, '\t' | '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}') || c == '\u{feff}'
    };
    let mut after_space = false;
    for c in text.chars() {
        if escaped(c) || (after_space && is_break(c)) {
            return false;
        }
        after_space = c == ' ';
    }
    !after_space && !text.is_empty()
}

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\u{2028}' | '\u{2029}')
}

fn is_blank(c: char) -> bool {
    c == ' ' || c == '\t'
}

/// The lines of a folded block, without their indentation. go-yaml's printer writes a second break
/// after a line, which keeps the first from becoming a space. It should leave it out if the next
/// line is indented, but looks at the first line of the text instead.
pub(super) fn print_folded(text: &str) -> String {
    let doubles = !text.trim_start_matches(is_break).starts_with(is_blank);
    let mut lines = String::with_capacity(text.len() + text.len() / 8);
    let (mut at_start, mut is_indented) = (true, true);
    for c in text.chars() {
        if is_break(c) {
            if c == '\n' && doubles && !at_start && !is_indented {
                lines.push('\n');
            }
            at_start = true;
        } else if at_start {
            (at_start, is_indented) = (false, is_blank(c));
        }
        lines.push(c);
    }
    lines
}

/// The text of a folded block with these lines. The end of `original` decides which breaks at the
/// end are kept.
fn read_folded(lines: &str, original: &str) -> String {
    let mut text = String::with_capacity(lines.len());
    let (mut line_break, mut more_breaks) = ("", String::new());
    let mut after_indented = false;
    for line in lines.split_inclusive(is_break) {
        let content = line.trim_end_matches(is_break);
        let end = &line[content.len()..];
        if content.is_empty() {
            more_breaks.push_str(end);
            continue;
        }
        let is_indented = content.starts_with(is_blank);
        if after_indented || is_indented || !line_break.starts_with('\n') {
            text.push_str(line_break);
        } else if more_breaks.is_empty() {
            text.push(' ');
        }
        text.push_str(&std::mem::take(&mut more_breaks));
        text.push_str(content);
        (line_break, after_indented) = (end, is_indented);
    }
    let mut ends = original.chars().rev();
    match (ends.next().is_some_and(is_break), ends.next().is_none_or(is_break)) {
        (false, _) => {}
        (true, false) => text.push_str(line_break),
        (true, true) => text.extend([line_break, &more_breaks]),
    }
    text
}

/// The depth of a mapping in its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    Top,
    Below,
}

/// Refuses keys that cannot be decoded: a repeated key, a null, and a key below the top that is not
/// a string.
///
/// # Errors
/// A message about the key.
#[inline]
pub fn check_key(key: &Key<'_>, previous: Option<&Key<'_>>, depth: Depth) -> Result<(), String> {
    if previous.is_some_and(|p| p.same_text(key)) {
        return Err(format!("mapping key {:?} already defined", key.text));
    }
    if is_plain_string(key) && key.text != "<<" { Ok(()) } else { check_rare_key(key, depth) }
}

fn check_rare_key(key: &Key<'_>, depth: Depth) -> Result<(), String> {
    let scalar = key.as_scalar();
    if key.text == "<<" && key.style == Style::Plain {
        return Err("mapping key \"<<\" merges a value that is not a mapping".to_owned());
    }
    if let Some(what) = scalar.mismatch() {
        return Err(format!("mapping key {:?} is not {what}, as its tag says", key.text));
    }
    match scalar.kind() {
        Kind::Str | Kind::Binary if matches!(key.tag, Tag::Custom | Tag::Binary) && depth == Depth::Below => {
            return Err(format!("mapping key {:?} has a tag that is not that of a string", key.text));
        }
        Kind::Str | Kind::Binary => {}
        Kind::Null => return Err(format!("mapping key {:?} is null", key.text)),
        _ if depth == Depth::Top => {}
        kind => return Err(format!("mapping key {} is {}: quote it", key.text, kind.word())),
    }
    Ok(())
}

/// Returns true if the cached properties of a key show that [`check_printed_key`] accepts it; true
/// for nearly all keys.
#[inline(always)]
pub fn is_usual_key(key: &Key<'_>, previous: Option<&Key<'_>>) -> bool {
    // False for the key `<<`, which merges.
    is_plain_string(key) && key.text.len() <= MAX_KEY && !previous.is_some_and(|p| p.same_text(key))
}

/// Refuses keys that cannot be decoded once the tree was printed: as [`check_key`], and also a key
/// that is too long to be read back.
///
/// # Errors
/// A message about the key.
#[inline]
pub fn check_printed_key(key: &Key<'_>, previous: Option<&Key<'_>>, depth: Depth) -> Result<(), String> {
    if is_usual_key(key, previous) { Ok(()) } else { check_unusual_key(key, previous, depth) }
}

#[cold]
fn check_unusual_key(key: &Key<'_>, previous: Option<&Key<'_>>, depth: Depth) -> Result<(), String> {
    check_key(key, previous, depth)?;
    if key.text.len() > MAX_KEY && key.text.chars().count() > MAX_KEY {
        return Err(format!("a mapping key is longer than {MAX_KEY} characters"));
    }
    Ok(())
}

/// Makes texts of the keys below the top that are integers, times or texts with a tag of their own:
/// those that Go 1.27 gives them in JSON. Other keys stay, and all do for a version of kustomize
/// that is built by an older Go. Returns true if there was such a key. O(keys).
pub fn make_keys_texts<'a>(arena: Arena<'a>, node: &mut Node<'a>) -> bool {
    texts_of_keys(arena).is_some_and(|arena| keys_below(arena, node, Depth::Top))
}

/// The memory for the texts that keys become in JSON; `None` if they stay.
fn texts_of_keys(arena: Arena<'_>) -> Option<Arena<'_>> {
    arena.compat().takes_keys_that_are_not_texts().then_some(arena)
}

fn keys_below<'a>(arena: Arena<'a>, node: &mut Node<'a>, depth: Depth) -> bool {
    let mut any = false;
    match &mut node.value {
        Value::Scalar(_) => {}
        Value::Sequence(items) => items.iter_mut().for_each(|item| any |= keys_below(arena, item, Depth::Below)),
        Value::Mapping(m) => {
            m.for_each_value(|value| any |= keys_below(arena, value, Depth::Below));
            any |= depth == Depth::Below && own_keys(arena, m);
        }
    }
    any
}

/// As [`make_keys_texts`], for the keys of one mapping.
fn own_keys<'a>(arena: Arena<'a>, m: &mut Mapping<'a>) -> bool {
    if m.iter().all(|entry| is_plain_string(&entry.key) || text_of_key(arena, &entry.key).is_none()) {
        return false;
    }
    let mut entries = m.take_entries();
    for entry in entries.as_mut_slice() {
        let key = &mut entry.key;
        let text = text_of_key(arena, key);
        *key = text.map_or(*key, |text| Key::new(text, Style::Double, Tag::Auto, key.pos));
    }
    m.set_entries(entries);
    true
}

/// Returns true if a key is a string by its bytes and its tag, as nearly all keys are.
#[inline]
fn is_plain_string(key: &Key<'_>) -> bool {
    key.is_plain() && matches!(key.tag, Tag::Auto | Tag::Untyped | Tag::Str)
}

/// The text that a key becomes in JSON; `None` for a string, and for a key without a text in JSON.
fn text_of_key<'a>(arena: Arena<'a>, key: &Key<'a>) -> Option<&'a str> {
    if is_plain_string(key) {
        return None;
    }
    let scalar = key.as_scalar();
    match scalar.kind() {
        _ if scalar.mismatch().is_some() => None,
        Kind::Int => scalar::int(key.text).map(|n| arena.text(&n.to_string())),
        Kind::Timestamp => scalar::timestamp(key.text).map(|time| arena.text(&time)),
        Kind::Str | Kind::Binary if key.tag == Tag::Binary => scalar::binary(key.text).map(|text| arena.text(&text)),
        Kind::Str if key.tag == Tag::Custom => Some(key.text),
        _ => None,
    }
}

/// Refuses a tree that go-yaml v3 cannot decode into Go values. The decoded values are not
/// returned.
///
/// # Errors
/// A key cannot be decoded, or a text does not fit its type.
pub fn check_decoded(node: &Node<'_>) -> Result<(), Malformed> {
    check_parts(node, Depth::Top)
}

/// Prints a tree with go-yaml v3 and reads it again. Styles stay, except for those that the
/// printer cannot keep.
///
/// # Errors
/// A text cannot be printed.
pub fn reprinted<'a>(arena: Arena<'a>, node: &mut Node<'a>) -> Result<(), Malformed> {
    let scalar = |s: &mut Scalar<'a>, in_braces| {
        if s.tag == Tag::Binary {
            return Ok(());
        }
        if is_empty_text(s, in_braces) || is_time_in_braces(s, in_braces) {
            (s.style, s.tag) = (Style::Single, Tag::Auto);
        }
        let style = block_style(s, in_braces);
        if let Cow::Owned(new) = text(s, in_braces)? {
            s.text = arena.text(&new);
        }
        s.style = match (style, s.style) {
            (Some(style), _) => style,
            (None, Style::Literal | Style::Folded) => Style::Double,
            (None, Style::Plain) if s.kind() == Kind::Str && needs_quotes(s) => Style::Double,
            (None, style) => style,
        };
        Ok(())
    };
    Parts { texts_of_keys: None, key: any_key, scalar, in_braces: |was, is_empty| was || is_empty }.detour(node)
}

/// Returns true if a plain string must be printed in quotes to remain a string.
fn needs_quotes(s: &Scalar<'_>) -> bool {
    s.text.contains('\n') || (s.tag == Tag::Str && !s.is_tagged() && scalar::resolve(s.text) != Kind::Str)
}

/// The tree after it was printed and read, for a reader that ignores styles. A tree whose values do
/// not change is returned as it is.
///
/// # Errors
/// A text cannot be printed.
pub fn printed<'n, 'a>(arena: Arena<'a>, node: &'n Node<'a>) -> Result<Cow<'n, Node<'a>>, Malformed> {
    if !may_change(node, false) {
        return Ok(Cow::Borrowed(node));
    }
    let mut copy = node.clone();
    reprinted(arena, &mut copy)?;
    let scalar = |s: &mut Scalar<'a>, _| decode_binary(arena, s);
    Parts { texts_of_keys: None, key: any_key, scalar, in_braces: |was, _| was }.detour(&mut copy)?;
    Ok(Cow::Owned(copy))
}

/// Replaces the text of a scalar tagged as binary by the text that it encodes.
fn decode_binary<'a>(arena: Arena<'a>, s: &mut Scalar<'a>) -> Result<(), String> {
    if s.tag == Tag::Binary {
        s.put(Scalar::string(arena.text(&text(s, false)?)));
    }
    Ok(())
}

/// Returns true if printing and reading may change the value of a scalar in the tree.
fn may_change(node: &Node<'_>, in_braces: bool) -> bool {
    match &node.value {
        Value::Scalar(s) => {
            let is_decoded = s.style == Style::Folded || s.tag == Tag::Binary;
            is_decoded || s.text.starts_with('\t') || is_empty_text(s, in_braces) || is_time_in_braces(s, in_braces)
        }
        Value::Sequence(items) => items.iter().any(|item| may_change(item, in_braces || items.is_in_brackets())),
        Value::Mapping(m) => m.iter().any(|entry| may_change(&entry.value, in_braces || m.is_in_braces())),
    }
}

/// Changes a tree as kustomize does when it prints and decodes the tree, makes JSON of the result,
/// and reads and dumps the JSON: keys become texts as in [`make_keys_texts`], numbers become 64-bit
/// floats in Go's shortest form, styles are those of a fresh dump, nulls are explicit. Returns true
/// if the tree has a text that [`check_dumped`] refuses.
///
/// # Errors
/// A key or text cannot be printed or decoded, a number is infinite or not a number, or a text does
/// not fit its type.
pub fn through_json<'a>(arena: Arena<'a>, node: &mut Node<'a>) -> Result<bool, Malformed> {
    let shorten = |_: &str, number: f64| arena.text(&scalar::go_number(number));
    to_json(arena, node, shorten)
}

/// As [`through_json`], but numbers keep their text, for [`spelling`](super::spelling).
///
/// # Errors
/// As [`through_json`].
pub fn into_json<'a>(arena: Arena<'a>, node: &mut Node<'a>) -> Result<bool, Malformed> {
    to_json(arena, node, |text, _| text)
}

fn to_json<'a>(
    arena: Arena<'a>,
    node: &mut Node<'a>,
    number: impl Fn(&'a str, f64) -> &'a str,
) -> Result<bool, Malformed> {
    let mut has_unreadable = false;
    let scalar = |s: &mut Scalar<'a>, in_braces| {
        check_type(s)?;
        s.put(match s.kind() {
            Kind::Null if is_empty_text(s, in_braces) => fresh_string(""),
            Kind::Timestamp if is_time_in_braces(s, in_braces) => fresh_string(s.text),
            Kind::Str | Kind::Binary => match text(s, in_braces)? {
                Cow::Owned(new) => fresh_string(arena.text(&new)),
                Cow::Borrowed(same) => fresh_string(same),
            },
            Kind::Int | Kind::Float if !is_short_integer(s.text) => Scalar::plain(number(s.text, finite(s)?)),
            _ => decoded(arena, s),
        });
        has_unreadable |= is_unreadable(s);
        Ok(())
    };
    // The dump writes empty mappings and lists in braces or brackets, and all others as blocks.
    Parts { texts_of_keys: texts_of_keys(arena), key: check_printed_key, scalar, in_braces: |_, is_empty| is_empty }
        .detour(node)?;
    Ok(has_unreadable)
}

/// Returns true if a string, in the style of a fresh dump, is printed as a block that cannot be
/// read.
fn is_unreadable(s: &Scalar<'_>) -> bool {
    s.text.starts_with('\t') && block_style(s, false).is_some()
}

/// Refuses a tree in the form that [`through_json`] gives it if the dump of the tree cannot be
/// read. O(nodes).
///
/// # Errors
/// A text of several lines begins with a tab.
pub fn check_dumped(node: &Node<'_>) -> Result<(), Malformed> {
    match &node.value {
        Value::Scalar(s) if is_unreadable(s) => Err(Malformed { message: TABBED.to_owned(), pos: node.pos() }),
        Value::Scalar(_) => Ok(()),
        Value::Sequence(items) => items.iter().try_for_each(check_dumped),
        Value::Mapping(m) => m.iter().try_for_each(|entry| check_dumped(&entry.value)),
    }
}

/// Changes a tree as kustomize does when it decodes it and reads its JSON as YAML: keys become
/// texts as in [`make_keys_texts`], integers keep their digits, other numbers are those of JSON,
/// strings are in double quotes, mappings in braces.
///
/// # Errors
/// A key cannot be decoded, a number is infinite or not a number, a text does not fit its type, or
/// a text has a control character.
pub fn through_map<'a>(arena: Arena<'a>, node: &mut Node<'a>) -> Result<(), Malformed> {
    let key = |key: &Key<'_>, previous: Option<&Key<'_>>, depth| {
        check_printed_key(key, previous, depth)?;
        check_json_key(key.text)
    };
    let scalar = |s: &mut Scalar<'a>, _| {
        check_type(s)?;
        decode_binary(arena, s)?;
        s.put(match s.kind() {
            Kind::Float => Scalar::plain(arena.text(&scalar::json_number(finite(s)?))),
            _ => decoded(arena, s),
        });
        if s.kind() == Kind::Str {
            let text = match read_json(s.text)? {
                Cow::Owned(new) => arena.text(&new),
                Cow::Borrowed(same) => same,
            };
            s.put(Scalar::new(text, Style::Double, Tag::Auto));
        }
        Ok(())
    };
    Parts { texts_of_keys: texts_of_keys(arena), key, scalar, in_braces: |_, _| true }.detour(node)
}

/// A string after a YAML reader has read it from JSON. Go's encoder leaves U+0085 in JSON as it is.
/// To the reader it is a line break, which is folded together with the blanks around it.
///
/// # Errors
/// The text has a control character that JSON allows and YAML does not.
pub fn read_json(text: &str) -> Result<Cow<'_, str>, String> {
    if text.is_ascii() && memchr::memchr(0x7f, text.as_bytes()).is_none() {
        return Ok(text.into());
    }
    check_characters(text)?;
    if !text.contains('\u{85}') {
        return Ok(text.into());
    }
    let mut out = String::with_capacity(text.len());
    let (mut spaces, mut breaks) = (0, 0);
    for c in text.chars().map(Some).chain([None]) {
        match c {
            Some('\u{85}') => (spaces, breaks) = (0, breaks + 1),
            Some(' ') => spaces += usize::from(breaks == 0),
            other => {
                let (blank, n) = match breaks {
                    0 => (' ', spaces),
                    1 => (' ', 1),
                    n => ('\n', n - 1),
                };
                out.extend(std::iter::repeat_n(blank, n).chain(other));
                (spaces, breaks) = (0, 0);
            }
        }
    }
    Ok(out.into())
}

/// Refuses a mapping key that a YAML reader cannot read from JSON, where a key must be on one line.
///
/// # Errors
/// As [`read_json`], or the key contains the line break U+0085.
pub fn check_json_key(text: &str) -> Result<(), String> {
    if text.contains('\u{85}') {
        return Err("a mapping key contains the line break U+0085".to_owned());
    }
    check_characters(text)
}

fn check_characters(text: &str) -> Result<(), String> {
    let refused = |c: char| matches!(c, '\x7f'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}');
    match text.chars().find(|&c| refused(c)) {
        Some(c) => Err(format!("control characters are not allowed: U+{:04X}", c as u32)),
        None => Ok(()),
    }
}

/// Returns true if an integer has so few digits that it is printed as it is written.
pub fn is_short_integer(text: &str) -> bool {
    text.len() < 7 && !text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit())
}

fn finite(s: &Scalar<'_>) -> Result<f64, String> {
    let infinite = || format!("json: unsupported value: {} (JSON has no such number; quote it)", s.text);
    scalar::float(s.text).filter(|f| f.is_finite()).ok_or_else(infinite)
}

/// The Go value of a scalar, dumped; a float is left unchanged.
fn decoded<'a>(arena: Arena<'a>, s: &Scalar<'a>) -> Scalar<'a> {
    match s.kind() {
        Kind::Str | Kind::Binary => fresh_string(s.text),
        Kind::Null => Scalar::NULL,
        Kind::Bool => Scalar::plain(if scalar::truth(s.text) { "true" } else { "false" }),
        Kind::Timestamp => fresh_string(scalar::timestamp(s.text).map_or(s.text, |t| arena.text(&t))),
        Kind::Int | Kind::Float => match scalar::int(s.text) {
            _ if is_short_integer(s.text) => Scalar::plain(s.text),
            Some(n) => Scalar::plain(arena.text(&n.to_string())),
            None => *s,
        },
    }
}

/// Accepts every key.
fn any_key(_: &Key<'_>, _: Option<&Key<'_>>, _: Depth) -> Result<(), String> {
    Ok(())
}

/// Refuses a scalar whose text does not fit the type that it was given. The text, which may come
/// from a Secret, is not in the message.
fn check_type(s: &Scalar<'_>) -> Result<(), String> {
    s.mismatch().map_or(Ok(()), |what| Err(format!("cannot decode the value as {what}")))
}

fn check_parts(node: &Node<'_>, depth: Depth) -> Result<(), Malformed> {
    match &node.value {
        Value::Scalar(s) => {
            let is_binary = s.tag == Tag::Binary;
            let checked = if is_binary { text(s, false).map(drop) } else { check_type(s) };
            checked.map_err(|message| Malformed { message, pos: node.pos() })
        }
        Value::Sequence(items) => items.iter().try_for_each(|item| check_parts(item, Depth::Below)),
        Value::Mapping(m) => {
            let mut previous = None;
            for Entry { key, value } in m.iter() {
                check_key(key, previous, depth).map_err(|message| Malformed { message, pos: key.pos })?;
                previous = Some(key);
                check_parts(value, Depth::Below)?;
            }
            Ok(())
        }
    }
}

/// The changes that a detour makes to the parts of a tree.
struct Parts<'a, K, S> {
    /// As [`texts_of_keys`].
    texts_of_keys: Option<Arena<'a>>,
    /// Refuses a key. The arguments are the key, the previous key, and the depth of the mapping.
    key: K,
    /// Edits a scalar; the flag is true in braces.
    scalar: S,
    /// Decides if a mapping is written in braces, or a list in brackets, after the detour. The
    /// arguments are true if it was before, and true if it is empty.
    in_braces: fn(bool, bool) -> bool,
}

impl<'a, K, S> Parts<'a, K, S> {
    fn detour(&mut self, node: &mut Node<'a>) -> Result<(), Malformed>
    where
        K: FnMut(&Key<'_>, Option<&Key<'_>>, Depth) -> Result<(), String>,
        S: FnMut(&mut Scalar<'a>, bool) -> Result<(), String>,
    {
        self.walk(node, false, Depth::Top)
    }

    fn walk(&mut self, node: &mut Node<'a>, in_braces: bool, depth: Depth) -> Result<(), Malformed>
    where
        K: FnMut(&Key<'_>, Option<&Key<'_>>, Depth) -> Result<(), String>,
        S: FnMut(&mut Scalar<'a>, bool) -> Result<(), String>,
    {
        // A value that is read again is shared with no other place.
        node.unshare();
        let pos = node.pos();
        match &mut node.value {
            Value::Scalar(s) => (self.scalar)(s, in_braces).map_err(|message| Malformed { message, pos }),
            Value::Sequence(items) => {
                let is_inside = in_braces || items.is_in_brackets();
                items.set_brackets((self.in_braces)(items.is_in_brackets(), items.is_empty()));
                items.iter_mut().try_for_each(|item| self.walk(item, is_inside, Depth::Below))
            }
            Value::Mapping(m) => {
                if let (Some(arena), Depth::Below) = (self.texts_of_keys, depth) {
                    own_keys(arena, m);
                }
                let is_inside = in_braces || m.is_in_braces();
                m.set_braces((self.in_braces)(m.is_in_braces(), m.is_empty()));
                let mut previous = None;
                m.try_for_each(|key, value| {
                    (self.key)(key, previous.as_ref(), depth).map_err(|message| Malformed { message, pos: key.pos })?;
                    previous = Some(*key);
                    self.walk(value, is_inside, Depth::Below)
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(folded: &str, want: &str) {
        let s = Scalar::new(folded, Style::Folded, Tag::Auto);
        assert_eq!(text(&s, false).unwrap(), want, "{folded:?}");
    }

    #[test]
    fn folded_texts() {
        check("a b", "a b");
        check("a\nb\n", "a\nb\n");
        check("a\n  b\nc\n", "a\n\n  b\nc\n");
        check("a\n\n\nb\n", "a\n\n\nb\n");
        check("a\n\n", "a\n\n\n");
        check(" a\nb", " a\nb");
        check(" a\nb\nc", " a\nb c");
        check("\n a\nb\n\nc\n", "\n a\nb\nc\n");
        check("a\n\tb\nc", "a\n\n\tb\nc");
        check("\n", "\n");
    }

    #[test]
    fn texts_that_are_no_blocks() {
        let folded = |text| Scalar::new(text, Style::Folded, Tag::Auto);
        assert_eq!(text(&folded("a\n  b"), true).unwrap(), "a\n  b");
        assert_eq!(text(&folded("a\n  b "), false).unwrap(), "a\n  b ");
        assert_eq!(text(&folded("a \n  b"), false).unwrap(), "a \n  b");
        assert!(text(&folded("\ta\n"), false).is_err());
        assert!(text(&folded("\ta\n"), true).is_ok());
    }

    #[track_caller]
    fn check_json(text: &str, want: &str) {
        assert_eq!(read_json(text).unwrap(), want, "{text:?}");
    }

    #[test]
    fn json_texts() {
        check_json("a  b", "a  b");
        check_json("a \u{85}  b\u{e9} ", "a b\u{e9} ");
        check_json("a\u{85} \u{85}b", "a\nb");
        check_json("\u{85}a\u{85}", " a ");
        assert!(read_json("\u{7f}").is_err());
    }
}
