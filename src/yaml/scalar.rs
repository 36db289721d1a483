//! Types of plain scalars, in the two dialects that upstream uses.
//!
//! [`resolve`] is the reader's dialect (go-yaml v3: YAML 1.2 words, but `0123`, `1_000` and dates
//! as in 1.1); [`resolve_v2`] is the dialect of kustomization files and of the printer (YAML 1.1:
//! `yes`, `off`, `y` are booleans). One function, [`resolve_in`], holds both.

use super::bytes::{Bytes, only};
use base64::Engine;
use std::borrow::Cow;
use std::fmt;
use std::fmt::LowerExp;
use std::ops::Range;

/// The type of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Str,
    Int,
    Float,
    Bool,
    Null,
    Timestamp,
    Binary,
}

impl Kind {
    /// The type that a tag stands for; `Auto` stands for a string.
    pub fn from_tag(tag: super::Tag) -> Kind {
        use super::Tag;
        match tag {
            Tag::Auto | Tag::Untyped | Tag::Str | Tag::Custom => Kind::Str,
            Tag::Int => Kind::Int,
            Tag::Float => Kind::Float,
            Tag::Bool => Kind::Bool,
            Tag::Null => Kind::Null,
            Tag::Timestamp => Kind::Timestamp,
            Tag::Binary => Kind::Binary,
        }
    }

    /// The word for this type in messages, with its article.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Str | Kind::Binary => "a string",
            Kind::Int | Kind::Float => "a number",
            Kind::Bool => "a boolean",
            Kind::Null => "null",
            Kind::Timestamp => "a date",
        }
    }
}

/// The length of the longest word with a meaning: `false`.
const LONGEST_WORD: usize = 5;

/// The two dialects.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    V2,
    V3,
}

/// The types that are possible for a plain scalar with a given first byte.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hint {
    Text,
    Word,
    Dot,
    Number,
}

const HINTS: [Hint; 256] = {
    let mut t = [Hint::Text; 256];
    let words = b"yYnNtTfFoO~";
    let mut i = 0;
    while i < words.len() {
        t[words[i] as usize] = Hint::Word;
        i += 1;
    }
    let mut d = b'0';
    while d <= b'9' {
        t[d as usize] = Hint::Number;
        d += 1;
    }
    t[b'+' as usize] = Hint::Number;
    t[b'-' as usize] = Hint::Number;
    t[b'.' as usize] = Hint::Dot;
    t
};

/// The type of a plain scalar for the reader of resources. O(1) for texts that start like a word,
/// else O(length).
pub fn resolve(text: &str) -> Kind {
    resolve_in(text, Dialect::V3)
}

/// Returns true if a plain scalar is a null. Gives the same answer as [`resolve`], but faster.
pub fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// The type of a plain scalar in YAML 1.1, the dialect of kustomization files and of the printer.
pub fn resolve_v2(text: &str) -> Kind {
    resolve_in(text, Dialect::V2)
}

/// Returns true if the bytes of a text show that it is a string that is printed plain on one line.
/// It starts with a letter or a sign without a meaning, is printable ASCII without `#`, a blank at
/// its end, or a colon that ends a word, and is not a word with a meaning. `false` means that a
/// closer look is needed.
#[inline]
pub fn is_surely_plain(text: &str) -> bool {
    let ([first, .., last] | [first @ last]) = text.as_bytes() else { return false };
    let all = Bytes::of(text);
    STARTS_PLAIN[usize::from(*first)]
        && all.are_usual
        && *last != b' '
        && !(all.have_colon && has_final_colon(text.as_bytes()))
        && (text.len() > LONGEST_WORD || resolve_v2(text) == Kind::Str)
}

/// A text as it can be written on one line, within brackets too: as it is if it surely is a plain
/// string there, else in single quotes. A relative path may begin with dots. O(length).
pub fn on_one_line(text: &str) -> Cow<'_, str> {
    let is_plain = is_surely_plain(text.trim_start_matches("../").trim_start_matches("./"));
    match is_plain && !text.contains([',', '[', ']', '{', '}']) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(format!("'{}'", text.replace('\'', "''"))),
    }
}

/// Letters, and signs without a meaning: a text that starts with one of them may be plain.
const STARTS_PLAIN: [bool; 256] = only(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/_^$(\\");

/// Returns true if a colon is the last byte, or before a blank.
#[cold]
fn has_final_colon(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b':', bytes).any(|i| matches!(bytes.get(i + 1), None | Some(b' ')))
}

/// Returns true if a YAML 1.1 reader does not read a text as a string, but as a number, a boolean,
/// a null, or a list or mapping on one line. A date counts as a string here, and so does a text
/// that cannot be read.
pub fn is_other_in_v2(text: &str) -> bool {
    if is_surely_plain(text) || text.contains('\n') {
        return false;
    }
    match resolve_v2(text) {
        Kind::Null => !text.is_empty(),
        Kind::Bool | Kind::Int | Kind::Float => true,
        Kind::Timestamp | Kind::Binary => false,
        Kind::Str => match text.as_bytes()[0] {
            b'#' => true,
            b'[' => text.ends_with(']'),
            b'{' => text.ends_with('}'),
            b'\'' | b'"' | b'&' | b'*' | b'!' | b'|' | b'>' | b'%' | b'@' | b'`' => false,
            b'-' | b'?' if text.len() == 1 || text.as_bytes()[1] == b' ' => true,
            _ => text.contains(": ") || text.ends_with(':'),
        },
    }
}

#[inline]
fn resolve_in(text: &str, dialect: Dialect) -> Kind {
    match text.as_bytes().first().map(|&first| HINTS[first as usize]) {
        None => Kind::Null,
        Some(Hint::Text) => Kind::Str,
        Some(Hint::Word) if text.len() > LONGEST_WORD => Kind::Str,
        Some(hint) => resolve_by(hint, text, dialect),
    }
}

fn resolve_by(hint: Hint, text: &str, dialect: Dialect) -> Kind {
    match hint {
        Hint::Text => Kind::Str,
        Hint::Word => word(text, dialect),
        Hint::Dot => match text {
            ".nan" | ".NaN" | ".NAN" | ".inf" | ".Inf" | ".INF" => Kind::Float,
            _ if dotted_float(text) => Kind::Float,
            _ => Kind::Str,
        },
        Hint::Number => number(text),
    }
}

fn word(text: &str, dialect: Dialect) -> Kind {
    match text {
        "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => Kind::Bool,
        "null" | "Null" | "NULL" | "~" => Kind::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" if dialect == Dialect::V2 => Kind::Bool,
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" if dialect == Dialect::V2 => Kind::Bool,
        _ => Kind::Str,
    }
}

/// The error for a text that [`binary`] cannot decode.
pub const NOT_BINARY: &str = "!!binary value contains invalid base64 data";

/// The text that a scalar with the tag `!!binary` stands for: each byte that is not UTF-8 becomes
/// U+FFFD. `None` if it is not base64.
pub fn binary(text: &str) -> Option<String> {
    let digits = text.replace(['\n', '\r'], "");
    let bytes = base64::engine::general_purpose::STANDARD.decode(digits).ok()?;
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    Some(text)
}

/// The truth of a text that resolves to [`Kind::Bool`].
pub fn truth(text: &str) -> bool {
    matches!(text.as_bytes().first(), Some(b't' | b'T' | b'y' | b'Y')) || matches!(text, "on" | "On" | "ON")
}

/// The bytes of which numbers and dates consist.
const NUMERIC: [bool; 256] = only(b"0123456789abcdefABCDEFxXoO_+-.,:tTzZ ");

fn number(text: &str) -> Kind {
    if matches!(text, "+.inf" | "+.Inf" | "+.INF" | "-.inf" | "-.Inf" | "-.INF") {
        return Kind::Float;
    }
    let all_digits = text.len() < 19 && text.as_bytes()[0] != b'0' && text.bytes().all(|b| b.is_ascii_digit());
    if all_digits {
        return Kind::Int;
    }
    if !text.bytes().all(|b| NUMERIC[b as usize]) {
        return Kind::Str;
    }
    if timestamp(text).is_some() {
        return Kind::Timestamp;
    }
    if int(text).is_some() {
        return Kind::Int;
    }
    let clean = without_underscores(text);
    if is_float(&clean) && clean.parse::<f64>().is_ok_and(f64::is_finite) {
        return Kind::Float;
    }
    Kind::Str
}

fn without_underscores(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains('_') { text.replace('_', "").into() } else { text.into() }
}

/// An integer as upstream reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Int {
    Signed(i64),
    Unsigned(u64),
}

impl fmt::Display for Int {
    /// Writes the decimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Int::Signed(n) => write!(f, "{n}"),
            Int::Unsigned(n) => write!(f, "{n}"),
        }
    }
}

/// Reads an integer in any of the accepted spellings: decimal, `0x`, `0b`, `0o`, leading `0` for
/// octal, underscores anywhere. `None` if the text is not an integer of at most 64 bits.
pub fn int(text: &str) -> Option<Int> {
    let clean = without_underscores(text);
    let (negative, digits) = match clean.as_bytes().first()? {
        b'-' => (true, &clean[1..]),
        b'+' => (false, &clean[1..]),
        _ => (false, &clean[..]),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    if !digits.bytes().next()?.is_ascii_alphanumeric() {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, radix).ok()?;
    if negative {
        return (magnitude <= 1 << 63).then(|| Int::Signed((magnitude as i64).wrapping_neg()));
    }
    match i64::try_from(magnitude) {
        Ok(n) => Some(Int::Signed(n)),
        // An explicit plus is not accepted for the unsigned range.
        Err(_) if !clean.starts_with('+') => Some(Int::Unsigned(magnitude)),
        Err(_) => None,
    }
}

/// `[-+]? ( .digits | digits [. digits*] ) ( [eE] [-+]? digits )?`
fn is_float(text: &str) -> bool {
    let b = text.as_bytes();
    let digits = |mut i: usize| {
        while i < b.len() && b[i].is_ascii_digit() {
            i += 1;
        }
        i
    };
    let start = usize::from(matches!(b.first(), Some(b'+' | b'-')));
    let mut i = digits(start);
    let whole = i > start;
    if b.get(i) == Some(&b'.') {
        let after = digits(i + 1);
        if !whole && after == i + 1 {
            return false;
        }
        i = after;
    } else if !whole {
        return false;
    }
    if matches!(b.get(i), Some(b'e' | b'E')) {
        let from = i + 1 + usize::from(matches!(b.get(i + 1), Some(b'+' | b'-')));
        let to = digits(from);
        return to > from && to == b.len();
    }
    i == b.len()
}

/// Returns true for a text that starts with a dot and that Go's `ParseFloat` accepts: underscores
/// are only allowed between digits.
fn dotted_float(text: &str) -> bool {
    let b = text.as_bytes();
    let between = |i: usize| b[i - 1].is_ascii_digit() && b.get(i + 1).is_some_and(u8::is_ascii_digit);
    if (0..b.len()).any(|i| b[i] == b'_' && !between(i)) {
        return false;
    }
    let clean = without_underscores(text);
    is_float(&clean) && clean.parse::<f64>().is_ok_and(f64::is_finite)
}

/// The value of a text that resolves to [`Kind::Float`] or [`Kind::Int`], including infinities and
/// NaN.
pub fn float(text: &str) -> Option<f64> {
    match int(text) {
        Some(Int::Signed(n)) => return Some(n as f64),
        Some(Int::Unsigned(n)) => return Some(n as f64),
        None => {}
    }
    let unsigned = text.trim_start_matches(['+', '-']);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Some(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY });
    }
    if matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Some(f64::NAN);
    }
    without_underscores(text).parse().ok()
}

/// Returns true if YAML 1.1 would read the text as a base-60 number:
/// `[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?`.
pub fn is_base60(text: &str) -> bool {
    let b = text.as_bytes();
    let mut i = usize::from(matches!(b.first(), Some(b'+' | b'-')));
    if !b.get(i).is_some_and(u8::is_ascii_digit) {
        return false;
    }
    while b.get(i).is_some_and(|c| c.is_ascii_digit() || *c == b'_') {
        i += 1;
    }
    let mut groups = 0;
    while b.get(i) == Some(&b':') {
        let digit = |k: usize| b.get(k).filter(|c| c.is_ascii_digit());
        i += match (digit(i + 1), digit(i + 2)) {
            (Some(b'0'..=b'5'), Some(_)) => 3,
            (Some(_), None) => 2,
            _ => return false,
        };
        groups += 1;
    }
    if groups > 0 && b.get(i) == Some(&b'.') {
        i += 1;
        while b.get(i).is_some_and(|c| c.is_ascii_digit() || *c == b'_') {
            i += 1;
        }
    }
    groups > 0 && i == b.len()
}

/// Reads a timestamp in the spellings that upstream accepts. Returns it in RFC 3339 with as many
/// fraction digits as it needs; `None` if the text is not a timestamp.
pub fn timestamp(text: &str) -> Option<String> {
    let b = text.as_bytes();
    if b.len() < 8 || !b[..4].iter().all(u8::is_ascii_digit) || b[4] != b'-' {
        return None;
    }
    let mut p = Digits { b, i: 5 };
    let year: u32 = text[..4].parse().ok()?;
    let month = p.one_or_two()?;
    p.literal(b'-')?;
    let day = p.one_or_two()?;
    if !(1..=12).contains(&month) || day < 1 || day > days_in(year, month) {
        return None;
    }
    let date = format!("{year:04}-{month:02}-{day:02}");
    let separator = match p.next() {
        None => return Some(date + "T00:00:00Z"),
        Some(c @ (b'T' | b't' | b' ')) => c,
        Some(_) => return None,
    };
    let hour = p.one_or_two()?;
    p.literal(b':')?;
    let minute = p.one_or_two()?;
    p.literal(b':')?;
    let second = p.one_or_two()?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let fraction = p.fraction();
    let zone = if separator == b' ' { "Z".to_owned() } else { p.zone()? };
    (p.i == b.len()).then(|| format!("{date}T{hour:02}:{minute:02}:{second:02}{fraction}{zone}"))
}

/// A reader of the parts of a timestamp.
struct Digits<'t> {
    b: &'t [u8],
    i: usize,
}

impl Digits<'_> {
    fn next(&mut self) -> Option<u8> {
        let c = self.b.get(self.i).copied()?;
        self.i += 1;
        Some(c)
    }

    fn literal(&mut self, want: u8) -> Option<()> {
        (self.next()? == want).then_some(())
    }

    fn digit(&mut self) -> Option<u32> {
        let c = self.b.get(self.i).filter(|c| c.is_ascii_digit())?;
        self.i += 1;
        Some(u32::from(c - b'0'))
    }

    fn one_or_two(&mut self) -> Option<u32> {
        let first = self.digit()?;
        Some(self.digit().map_or(first, |second| first * 10 + second))
    }

    fn two(&mut self) -> Option<u32> {
        Some(self.digit()? * 10 + self.digit()?)
    }

    /// An optional fraction, normalised: at most nine digits, without trailing zeros, and without a
    /// dot if no digits are left.
    fn fraction(&mut self) -> String {
        if !matches!(self.b.get(self.i), Some(b'.' | b',')) || !self.b.get(self.i + 1).is_some_and(u8::is_ascii_digit) {
            return String::new();
        }
        self.i += 1;
        let mut digits = String::from(".");
        while let Some(d) = self.digit() {
            if digits.len() <= 9 {
                digits.push(char::from(b'0' + d as u8));
            }
        }
        digits.trim_end_matches('0').trim_end_matches('.').to_owned()
    }

    fn zone(&mut self) -> Option<String> {
        let sign = self.next()?;
        if sign == b'Z' {
            return Some("Z".to_owned());
        }
        if sign != b'+' && sign != b'-' {
            return None;
        }
        let hours = self.two()?;
        self.literal(b':')?;
        let minutes = self.two()?;
        if hours > 24 || minutes > 59 {
            return None;
        }
        Some(if hours == 0 && minutes == 0 {
            "Z".to_owned()
        } else {
            format!("{}{hours:02}:{minutes:02}", sign as char)
        })
    }
}

fn days_in(year: u32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400) => 29,
        2 => 28,
        _ => 31,
    }
}

/// The shortest decimal digits of a finite number, and the exponent of the first digit
/// (`d.ddd * 10^exponent`).
#[derive(Default)]
struct Decimal {
    digits: String,
    exponent: i32,
}

/// The spelling of numbers.
struct Notation {
    /// The exponents of numbers that are written without an exponent.
    positional: Range<i32>,
    /// The least number of digits of a written exponent.
    exponent_digits: usize,
}

fn shortest(f: impl LowerExp) -> Decimal {
    let text = format!("{f:e}");
    let (mantissa, exp) = text.trim_start_matches('-').split_once('e').unwrap_or((&text, "0"));
    Decimal { digits: mantissa.replace('.', ""), exponent: exp.parse().unwrap_or(0) }
}

/// Go's `%f`-like or `%e` text of a number.
fn format_float(f: f64, decimal: Decimal, notation: &Notation) -> String {
    let (Decimal { digits, exponent: exp }, exp_digits) = (decimal, notation.exponent_digits);
    let sign = if f.is_sign_negative() { "-" } else { "" };
    if f != 0.0 && !notation.positional.contains(&exp) {
        let (head, tail) = digits.split_at(1);
        let dot = if tail.is_empty() { "" } else { "." };
        let e = exp.unsigned_abs();
        return format!("{sign}{head}{dot}{tail}e{}{e:0exp_digits$}", if exp < 0 { '-' } else { '+' });
    }
    if exp < 0 {
        return format!("{sign}0.{}{digits}", "0".repeat((-exp - 1) as usize));
    }
    let whole = exp as usize + 1;
    if digits.len() <= whole {
        return format!("{sign}{digits}{}", "0".repeat(whole - digits.len()));
    }
    format!("{sign}{}.{}", &digits[..whole], &digits[whole..])
}

/// A number as Go's JSON encoder writes it: exponent form below 1e-6 and from 1e21 on.
pub fn json_number(f: f64) -> String {
    // The encoder shortens a two-digit negative exponent: e-09 becomes e-9.
    format_float(f, shortest(f), &Notation { positional: -6..21, exponent_digits: 1 })
}

/// A number as Go's shortest `%g` writes it: exponent form below 1e-4 and from 1e6 on.
pub fn go_number(f: f64) -> String {
    go_text(f, shortest(f))
}

/// A number as [`go_number`] writes it, with the digits of a 32-bit number at most: the text of a
/// number that is a key, for a reader that makes JSON of YAML.
pub fn go_number_32(f: f64) -> String {
    let narrow = f as f32;
    if narrow.is_infinite() { go_text(narrow.into(), Default::default()) } else { go_text(f, shortest(narrow)) }
}

/// A number in YAML as a reader that makes JSON of YAML puts it into a field of type string:
/// written as by [`go_number_32`], but infinities and not-a-number as `+Inf`, `-Inf` and `NaN`.
pub fn go_string_32(f: f64) -> String {
    match go_number_32(f).as_str() {
        ".nan" => "NaN".to_owned(),
        ".inf" => "+Inf".to_owned(),
        "-.inf" => "-Inf".to_owned(),
        number => number.to_owned(),
    }
}

fn go_text(f: f64, decimal: Decimal) -> String {
    if f.is_nan() {
        return ".nan".to_owned();
    }
    if f.is_infinite() {
        return if f > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    format_float(f, decimal, &Notation { positional: -4..6, exponent_digits: 2 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types() {
        for (text, want) in [
            ("017", Kind::Int),
            ("08", Kind::Float),
            ("1_000", Kind::Int),
            ("0x1F", Kind::Int),
            ("-0b11", Kind::Int),
            ("0o17", Kind::Int),
            ("0o8", Kind::Str),
            ("1e400", Kind::Str),
            ("1e3", Kind::Float),
            (".5", Kind::Float),
            ("5.", Kind::Float),
            (".1_0", Kind::Float),
            (".", Kind::Str),
            ("-", Kind::Str),
            ("+", Kind::Str),
            ("2020-01-01", Kind::Timestamp),
            ("2020-13-01", Kind::Str),
            ("yes", Kind::Str),
            ("tRUE", Kind::Str),
            ("~", Kind::Null),
            ("", Kind::Null),
            ("18446744073709551615", Kind::Int),
            ("18446744073709551616", Kind::Float),
            ("1.2.3", Kind::Str),
            ("é", Kind::Str),
        ] {
            assert_eq!(resolve(text), want, "{text}");
        }
        assert_eq!(resolve_v2("yes"), Kind::Bool);
        assert!(truth("on") && !truth("off") && truth("Yes") && !truth("NO"));
    }

    #[test]
    fn numbers_are_written_as_go_does() {
        for (f, json, go) in [
            (1e21, "1e+21", "1e+21"),
            (1e-7, "1e-7", "1e-07"),
            (1234567.5, "1234567.5", "1.2345675e+06"),
            (123456.7, "123456.7", "123456.7"),
            (0.00001, "0.00001", "1e-05"),
            (1e20, "100000000000000000000", "1e+20"),
            (1.5, "1.5", "1.5"),
            (0.0, "0", "0"),
            (1e6, "1000000", "1e+06"),
        ] {
            assert_eq!(json_number(f), json);
            assert_eq!(go_number(f), go);
        }
    }

    #[test]
    fn numbers_of_32_bits() {
        for (f, key, string) in [
            (1.2345678901, "1.2345679", "1.2345679"),
            (16_777_217.5, "1.6777218e+07", "1.6777218e+07"),
            (-1e40, "-.inf", "-Inf"),
            (f64::INFINITY, ".inf", "+Inf"),
            (f64::NAN, ".nan", "NaN"),
            (1e-50, "0", "0"),
            (-0.0, "-0", "-0"),
        ] {
            assert_eq!((go_number_32(f).as_str(), go_string_32(f).as_str()), (key, string));
        }
    }

    #[test]
    fn timestamps() {
        let check = |text: &str, want: Option<&str>| assert_eq!(timestamp(text).as_deref(), want, "{text}");
        check("2020-01-02", Some("2020-01-02T00:00:00Z"));
        check("2001-12-14t21:59:43.10-05:00", Some("2001-12-14T21:59:43.1-05:00"));
        check("2001-12-14 21:59:43.10", Some("2001-12-14T21:59:43.1Z"));
        check("2001-1-2T1:2:3Z", Some("2001-01-02T01:02:03Z"));
        check("2021-02-29", None);
        check("20-01-02", None);
    }

    #[test]
    fn base60() {
        assert!(is_base60("12:30") && is_base60("190:20:30.15"));
        assert!(!is_base60("1:99") && !is_base60("1:") && !is_base60("a:1"));
    }
}
