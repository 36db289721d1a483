//! Texts as people, terminals and other programs may read them: characters that cannot be seen are
//! escapes, and the secrets of URLs are masked. The command's writer sends every text through this
//! module; a part of a message that stands in a line of its own goes through [`line()`] before.

use crate::meter;
use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;
use unicode_general_category::{GeneralCategory, get_general_category};

/// The text in place of a secret of a URL.
pub const MASK: &str = "...";

/// The names in a query of a URL whose values are no secrets: kustomize reads the first four, and
/// rustomize itself writes the others when it asks a server for lists.
const KNOWN_NAMES: [&str; 7] = ["ref", "version", "timeout", "submodules", "environment", "n", "last"];

/// The characters behind a URL that belong to the sentence around it.
const END_OF_SENTENCE: [char; 7] = [':', ',', '.', ';', ')', ']', '}'];

/// True for a character that moves a cursor, changes the direction of writing, ends a line or has
/// no width.
pub fn is_unseen(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    match c {
        // Fillers, a joiner and a blank Braille cell have no ink, and the system counts them as
        // letters, marks and symbols. Variation selectors of the second block can spell a text.
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}' => true,
        '\u{e0000}'..='\u{e0fff}' => true,
        _ => matches!(
            get_general_category(c),
            GeneralCategory::Control
                | GeneralCategory::Format
                | GeneralCategory::LineSeparator
                | GeneralCategory::ParagraphSeparator
        ),
    }
}

/// A text in one line: line breaks and all unseen characters but tabs are escapes. O(text).
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c == '\t')
}

/// A text of several lines: all unseen characters but tabs and line breaks are escapes. O(text).
pub fn lines(text: &str) -> Cow<'_, str> {
    let stays = |c| matches!(c, '\t' | '\n');
    if is_printable(text, stays) {
        return Cow::Borrowed(text);
    }
    let unix = if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) };
    match escaped(&unix, stays) {
        Cow::Owned(escaped) => Cow::Owned(escaped),
        Cow::Borrowed(_) => unix,
    }
}

/// As [`lines`], for bytes: those that are not UTF-8 are escapes, too.
pub fn bytes(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing into a string cannot fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    lines(&text).into_owned()
}

/// The bytes that [`is_printable`] looks at together: so few that an odd one ends the look early.
const TOGETHER: usize = 64;

/// Returns true if all characters are printable ASCII, or stay. Most texts are such ones, and
/// comparing bytes takes a tenth of the time of looking at characters. O(text).
fn is_printable(text: &str, stays: impl Fn(char) -> bool) -> bool {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') || stays(char::from(byte)) && byte.is_ascii();
    text.as_bytes().chunks(TOGETHER).all(|bytes| bytes.iter().fold(true, |all, byte| all & is_plain(*byte)))
}

fn escaped(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_odd = |c: char| is_unseen(c) && !stays(c);
    if is_printable(text, &stays) || !text.contains(is_odd) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if !is_odd(c) => shown.push(c),
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            c => shown.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(shown)
}

/// A line of a file with a marked part: without the secrets of URLs, and with escapes. A part that
/// a mask covers is marked from the begin of the mask to its end.
pub fn excerpt(line: &str, marked: Range<usize>) -> (String, Range<usize>) {
    let (line, marked) = match masked(line) {
        Cow::Borrowed(line) => (Cow::Borrowed(line), marked),
        Cow::Owned(masked) => {
            let moved = moved(line, &masked, marked);
            (Cow::Owned(masked), moved)
        }
    };
    let mut shown = self::line(&line[..marked.start]).into_owned();
    let start = shown.len();
    shown.push_str(&self::line(&line[marked.clone()]));
    let end = shown.len();
    shown.push_str(&self::line(&line[marked.end..]));
    (shown, start..end)
}

/// The range in a changed text that has what a range of the old text has. A range that begins or
/// ends in what has changed has all of that.
fn moved(old: &str, new: &str, range: Range<usize>) -> Range<usize> {
    let before = old.char_indices().zip(new.chars()).find(|((_, a), b)| a != b);
    let before = before.map_or(old.len().min(new.len()), |((at, _), _)| at);
    let longest = old.len().min(new.len()) - before;
    let behind = old[before..].chars().rev().zip(new[before..].chars().rev()).take_while(|(a, b)| a == b);
    let behind = behind.map(|(c, _)| c.len_utf8()).sum::<usize>().min(longest);
    let place = |at: usize, inside: usize| match at {
        at if at <= before => at,
        at if at >= old.len() - behind => at + new.len() - old.len(),
        _ => inside,
    };
    let start = place(range.start, before);
    start..place(range.end, new.len() - behind).max(start)
}

/// A text without the secrets of its URLs: user and password, the values of a query but those that
/// kustomize reads, and the fragment. A user of ssh without a password is shown. A password in
/// front of a host is masked without a scheme, too: `user:password@host/path`. O(text).
pub fn masked(text: &str) -> Cow<'_, str> {
    if !text.contains("://") && !text.contains(['?', '@']) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = end_of_word(rest);
        mask_word(&rest[..end], &mut shown);
        let next = rest[end..].find(|c: char| !is_between_words(c)).map_or(rest.len(), |at| end + at);
        shown.push_str(&rest[end..next]);
        rest = &rest[next..];
    }
    if shown == text { Cow::Borrowed(text) } else { Cow::Owned(shown) }
}

/// True for a character that no URL has. One that is not a blank can be in a mistyped URL.
fn is_between_words(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '<' | '>' | '`')
}

/// The length of the word that a text begins with: to a blank, or to another character of
/// [`is_between_words`] that is at the end of something.
fn end_of_word(text: &str) -> usize {
    let ends = text.match_indices(is_between_words);
    let is_end = |(at, found): &(usize, &str)| {
        found.trim().is_empty() || text[at + found.len()..].chars().next().is_none_or(ends_sentence)
    };
    { ends }.find(is_end).map_or(text.len(), |(at, _)| at)
}

/// True for a character that can follow a quotation mark which ends a URL.
fn ends_sentence(c: char) -> bool {
    is_between_words(c) || c == '\'' || END_OF_SENTENCE.contains(&c)
}

/// Adds a word without the secrets of its URLs. O(word).
fn mask_word(word: &str, shown: &mut String) {
    let (mut rest, mut is_url) = (word, false);
    // The length of the rest from its first scheme on, which is looked for once.
    let mut from_scheme = from_scheme_of(rest);
    loop {
        let scheme = from_scheme.map(|length| rest.len() - length);
        let before = &rest[..scheme.unwrap_or(rest.len())];
        // A query before a scheme has this URL for a value.
        if let Some(query) = query(before, is_url) {
            mask_before(&rest[..query], is_url, shown);
            (rest, is_url) = (mask_query(&rest[query..], shown), false);
        } else if let Some(at) = scheme {
            mask_before(before, is_url, shown);
            shown.push_str("://");
            let scheme = before.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
            let after = &rest[at + "://".len()..];
            let user = user_info(after);
            match after[..user].strip_suffix('@') {
                Some(name) if scheme.eq_ignore_ascii_case("ssh") && !name.contains(':') => {
                    shown.push_str(&after[..user]);
                }
                Some(_) => shown.extend([MASK, "@"]),
                None => {}
            }
            (rest, is_url) = (&after[user..], true);
        } else {
            return mask_before(rest, is_url, shown);
        }
        if from_scheme.is_some_and(|length| length > rest.len()) {
            from_scheme = from_scheme_of(rest);
        }
    }
}

/// The length of a text from its first scheme on.
fn from_scheme_of(text: &str) -> Option<usize> {
    let at = text.find("://");
    meter::count_text(&text[..at.unwrap_or(text.len())]);
    Some(text.len() - at?)
}

/// Adds a part of a word that has neither scheme nor query: the host and the path of a URL, or
/// another text.
fn mask_before(part: &str, is_url: bool, shown: &mut String) {
    if is_url { shown.push_str(part) } else { mask_user(part, shown) }
}

/// Adds a word without a scheme, and without the user and the password in front of a host.
fn mask_user(word: &str, shown: &mut String) {
    let mut rest = word;
    while let Some(at) = rest.find('@') {
        let (before, after) = (&rest[..at], &rest[at + 1..]);
        let start = before.rfind(BEFORE_USER).map_or(0, |i| i + 1);
        let is_user = before[start..]
            .split_once(':')
            .is_some_and(|(name, password)| !password.is_empty() && !REGISTRIES.contains(&name) && is_host(after));
        match is_user {
            true => shown.extend([&before[..start], MASK, "@"]),
            false => shown.push_str(&rest[..=at]),
        }
        rest = after;
    }
    shown.push_str(rest);
}

/// Characters in front of a user in a word.
const BEFORE_USER: [char; 11] = ['/', '\\', '\'', '"', '<', '`', '(', '[', '{', '=', ','];

/// Schemes of packages, whose names have versions behind an `@`.
const REGISTRIES: [&str; 3] = ["npm", "jsr", "pkg"];

/// Returns true if a text begins with a host and a path or a port. The digest of an image is not a
/// host.
fn is_host(text: &str) -> bool {
    let length = text.find(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | '-' | '_')).unwrap_or(text.len());
    let (host, after) = text.split_at(length);
    let is_digest = || {
        let sum = after.trim_start_matches(':').split(|c: char| !c.is_ascii_hexdigit()).next().unwrap_or_default();
        after.starts_with(':') && (matches!(host, "sha256" | "sha384" | "sha512") || sum.len() >= 32)
    };
    host.starts_with(char::is_alphanumeric) && after.starts_with(['/', ':']) && !is_digest()
}

/// The length of the user info, with its `@`, that a text behind `://` begins with.
fn user_info(text: &str) -> usize {
    // Another scheme begins another URL.
    let text = text.find("://").map_or(text, |next| &text[..next]);
    let host = text.find(['/', '?', '#']).unwrap_or(text.len());
    if let Some(at) = text[..host].rfind('@') {
        return at + 1;
    }
    // A password may have the characters that end a host: then what looks like a port is no number.
    let port = text[..host].split_once(':').map_or("", |(_, port)| port.trim_matches('\''));
    match port.bytes().all(|byte| byte.is_ascii_digit()) {
        true => 0,
        false => text.find('@').map_or(0, |at| at + 1),
    }
}

/// The offset of the `?` or `#` of a query or fragment; a text that is no URL has a query if it
/// looks like an address with one.
fn query(text: &str, is_url: bool) -> Option<usize> {
    if is_url {
        return text.find(['?', '#']);
    }
    let at = text.find('?')?;
    let (before, after) = (&text[..at], &text[at + 1..]);
    let name = after.split(['=', '&']).next().unwrap_or_default();
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.%".contains(&byte));
    let is_address = || before.contains('/') || says_secret(name);
    (is_name && after[name.len()..].starts_with('=') && is_address()).then_some(at)
}

/// Adds the query and the fragment that a text begins with, without their secrets. Returns the text
/// that follows them.
fn mask_query<'t>(text: &'t str, shown: &mut String) -> &'t str {
    let ends = |(at, _): &(usize, &str)| text[at + 1..].chars().next().is_none_or(ends_sentence);
    let end = text.match_indices('\'').find(ends).map_or(text.len(), |(at, _)| at);
    let end = text[..end].trim_end_matches(END_OF_SENTENCE).len();
    let (both, left) = text.split_at(end);
    let (query, fragment) = both.split_once('#').map_or((both, None), |(query, fragment)| (query, Some(fragment)));
    if let Some(query) = query.strip_prefix('?') {
        shown.push('?');
        for part in query.split_inclusive(['&', ';']) {
            let pair = part.trim_end_matches(['&', ';']);
            match pair.split_once('=') {
                Some((name, _)) if KNOWN_NAMES.contains(&name) => shown.push_str(pair),
                Some((name, value)) => shown.extend([name, "=", if value.is_empty() { "" } else { MASK }]),
                None if pair.is_empty() => {}
                None => shown.push_str(MASK),
            }
            shown.push_str(&part[pair.len()..]);
        }
    }
    if let Some(fragment) = fragment {
        shown.extend(["#", if fragment.is_empty() { "" } else { MASK }]);
    }
    left
}

/// True for a value that has a URL with a password.
pub fn has_password(value: &str) -> bool {
    value.contains(':')
        && value.split("://").skip(1).any(|after| {
            let after = after.split(char::is_whitespace).next().unwrap_or_default();
            after[..user_info(after)].contains(':')
        })
}

/// Words that say, as a part of a name without its separators, that a value is secret.
const SECRET_PARTS: [&str; 11] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "credential",
    "apikey",
    "accesskey",
    "privatekey",
    "signingkey",
    "encryptionkey",
];

/// Words that say, as a whole word of a name, that a value is secret.
const SECRET_WORDS: [&str; 13] =
    ["pass", "pgpass", "pwd", "pw", "key", "keys", "auth", "authorization", "dsn", "jwt", "bearer", "salt", "sas"];

/// Returns false for a name that [`says_secret`] surely does not hold for. Each of its words has
/// three letters of those below in a row, or the two of `pw`: most names are told by that.
fn may_say_secret(name: &str) -> bool {
    let (mut first, mut second) = (0, 0);
    let letters = name.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase());
    for letter in letters {
        match [first, second, letter] {
            [_, b'p', b'w'] => return true,
            [b'p', b'a', b's'] | [b'c', b'r', b'e'] | [b't', b'o', b'k'] | [b'k', b'e', b'y'] => return true,
            [b'a', b'u', b't'] | [b'd', b's', b'n'] | [b'j', b'w', b't'] | [b'b', b'e', b'a'] => return true,
            [b's', b'a', b'l' | b's'] => return true,
            _ => (first, second) = (second, letter),
        }
    }
    false
}

/// True for the name of a variable, of an option or of a key of data whose value is secret:
/// `DB_PASSWORD`, `api-key`, `clientSecret`. O(name).
pub fn says_secret(name: &str) -> bool {
    if !may_say_secret(name) {
        return false;
    }
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    if SECRET_PARTS.iter().any(|part| plain.contains(part)) {
        return true;
    }
    let mut words = String::with_capacity(name.len() + 8);
    let mut was_lower = false;
    for c in name.chars() {
        if c.is_uppercase() && was_lower {
            words.push(' ');
        }
        was_lower = c.is_lowercase() || c.is_ascii_digit();
        words.push(if c.is_alphanumeric() { c.to_ascii_lowercase() } else { ' ' });
    }
    words.split(' ').any(|word| SECRET_WORDS.contains(&word))
}

/// JSON whose unseen characters are escapes of JSON: the same value, and nothing in it that a
/// terminal or a reader of logs takes for a command. O(text).
pub fn json(text: String) -> String {
    let is_odd = |c: char| c != '\n' && is_unseen(c);
    let has_odd = || !is_printable(&text, |c| c == '\n') && text.contains(is_odd);
    if !has_odd() && !text.contains("##") {
        return text;
    }
    let mut shown = String::with_capacity(text.len() + 64);
    let mut last = ' ';
    for c in text.chars() {
        match c {
            // Between the values of JSON there is no '#', and line breaks alone are unseen.
            '#' if last == '#' => shown.push_str("\\u0023"),
            c if is_odd(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(shown, "\\u{unit:04x}");
                }
            }
            c => shown.push(c),
        }
        last = c;
    }
    shown
}

/// A text whose lines are no commands of CI: GitHub Actions runs a line that begins with `::`,
/// blanks aside, and others run `##[...]` and `##vso[...]` wherever they are. O(text).
pub fn tamed(text: &str) -> Cow<'_, str> {
    if !text.contains("::") && !text.contains("##") {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for line in text.split_inclusive('\n') {
        let blank = line.len() - line.trim_start().len();
        let (blank, rest) = line.split_at(blank);
        shown.push_str(blank);
        let rest = match rest.strip_prefix("::") {
            Some(command) => {
                shown.push_str("\\u{3a}:");
                command
            }
            None => rest,
        };
        let mut begin = 0;
        for (at, _) in rest.match_indices('#').filter(|(at, _)| rest[..*at].ends_with('#')) {
            let word = rest[at + 1..].trim_start_matches(|c: char| c.is_ascii_alphanumeric());
            if word.starts_with('[') {
                shown.extend([&rest[begin..at], "\\u{23}"]);
                begin = at + 1;
            }
        }
        shown.push_str(&rest[begin..]);
    }
    if shown == text { Cow::Borrowed(text) } else { Cow::Owned(shown) }
}

#[cfg(test)]
mod tests {
    use super::{
        SECRET_PARTS, SECRET_WORDS, bytes, excerpt, has_password, json, line, lines, masked, says_secret, tamed,
    };
    use crate::meter;

    #[test]
    fn what_cannot_be_seen_is_an_escape() {
        for (text, want) in [
            ("a\u{1b}[31m\u{7}b", "a\\u{1b}[31m\\u{7}b"),
            ("a\r\nb\n\tc", "a\\r\\nb\\n\tc"),
            ("\u{9b}31m\u{85}", "\\u{9b}31m\\u{85}"),
            ("\u{202e}\u{2066}\u{200f}\u{61c}", "\\u{202e}\\u{2066}\\u{200f}\\u{61c}"),
            ("\u{200b}\u{200d}\u{feff}\u{ad}\u{2028}", "\\u{200b}\\u{200d}\\u{feff}\\u{ad}\\u{2028}"),
            ("\u{e0041}\u{3164}\u{7f}", "\\u{e0041}\\u{3164}\\u{7f}"),
            ("ü ß 漢字 🚀", "ü ß 漢字 🚀"),
        ] {
            assert_eq!(line(text), want);
        }
        assert_eq!(lines("a\r\nb\rc\n\td\u{1b}"), "a\nb\\rc\n\td\\u{1b}");
        assert_eq!(bytes(b"a\xff\xc3\xbc\x1b\n"), "a\\xffü\\u{1b}\n");
    }

    #[test]
    fn secrets_of_urls_are_masked_and_the_words_of_kustomize_stay() {
        for (text, want) in [
            ("'https://h/o/r?ref=v1': gone", "'https://h/o/r?ref=v1': gone"),
            ("https://h/o/r?ref=v1&timeout=9s&submodules=0", "https://h/o/r?ref=v1&timeout=9s&submodules=0"),
            ("x https://u:p@h:80/a, y", "x https://...@h:80/a, y"),
            ("https://token@h/a", "https://...@h/a"),
            ("HTTPS://u:p@h", "HTTPS://...@h"),
            ("https://u:p@ss@h/a", "https://...@h/a"),
            ("https://u:p/a#s?s@h/a", "https://...@h/a"),
            ("https://h:80/a@1.0", "https://h:80/a@1.0"),
            ("oci://h/a@sha256:12", "oci://h/a@sha256:12"),
            ("ssh://git@h/o/r and git@h:o/r", "ssh://git@h/o/r and git@h:o/r"),
            ("ssh://git:pw@h/o/r", "ssh://...@h/o/r"),
            ("git::https://u:p@h/o", "git::https://...@h/o"),
            ("'https://h/a?sv=1&sig=a%2Fb%3D&ref=x': 404", "'https://h/a?sv=...&sig=...&ref=x': 404"),
            ("(https://h/a?sig=abc).", "(https://h/a?sig=...)."),
            ("https://h/a?abc", "https://h/a?..."),
            ("https://h/a#abc: no", "https://h/a#...: no"),
            ("https://h/a?ref=v1#abc", "https://h/a?ref=v1#..."),
            ("https://h/a?next=https://u:p@h/b?c=d", "https://h/a?next=..."),
            ("a=https://u:p@h/,b=https://v:q@h/", "a=https://...@h/,b=https://...@h/"),
            ("h.io/o/r?ref=v1&sig=abc", "h.io/o/r?ref=v1&sig=..."),
            ("'https://h/a?sig=a'b': no", "'https://h/a?sig=...': no"),
            ("\"https://h/a?sig=a\"b\", c", "\"https://h/a?sig=...\", c"),
            ("<https://u:p@h/a?b=c>, `https://u:\"p@h/`.", "<https://...@h/a?b=...>, `https://...@h/`."),
            ("{\"a\":\"https://h/?s=x\",\"b\":\"c@d\"}", "{\"a\":\"https://h/?s=...\",\"b\":\"c@d\"}"),
            ("'u:p@h.io/o/r': gone", "'...@h.io/o/r': gone"),
            ("git::u:p@h:1/o https:/u:p@h/a https:\\\\u:p@h/a", "...@h:1/o https:/...@h/a https:\\\\...@h/a"),
            ("a=u:p@h/b,c=v:q@h/d", "a=...@h/b,c=...@h/d"),
            ("u:p@h.io/o/r?ref=v1", "...@h.io/o/r?ref=v1"),
            ("a.yaml?token=x a.yaml?page=x", "a.yaml?token=... a.yaml?page=x"),
            ("git@h:o/r h:80/a@1.0/b npm:a@1/b a:1@b", "git@h:o/r h:80/a@1.0/b npm:a@1/b a:1@b"),
            (
                "h:5000/a:1.2@sha256:0123456789abcdef0123456789abcdef",
                "h:5000/a:1.2@sha256:0123456789abcdef0123456789abcdef",
            ),
            ("web:5@sha256:33 h:5000/web:5@sha512:33", "web:5@sha256:33 h:5000/web:5@sha512:33"),
            ("is it a/b? yes=no", "is it a/b? yes=no"),
            ("did you mean 'x'?", "did you mean 'x'?"),
        ] {
            assert_eq!(masked(text), want, "{text}");
        }
    }

    #[test]
    fn masking_takes_linear_time() {
        for part in ["/?a=b',", "://a:b", "x://u:p@h/?a=b',", "u:p@h/", "?a", "\"a"] {
            let steps = |n: usize| {
                meter::reset();
                assert!(masked(&part.repeat(n)).len() >= n);
                meter::taken()
            };
            assert!(steps(4_000) <= 5 * steps(1_000), "{part}: {} steps, {}", steps(1_000), steps(4_000));
        }
    }

    #[test]
    fn a_marked_part_stays_marked() {
        let check = |text: &str, part: &str, want: &str, want_part: &str| {
            let at = text.find(part).unwrap();
            let (shown, marked) = excerpt(text, at..at + part.len());
            assert_eq!((shown.as_str(), &shown[marked]), (want, want_part));
        };
        check("- a\u{1b}b # x", "a\u{1b}b", "- a\\u{1b}b # x", "a\\u{1b}b");
        check("\u{1b}: k", "k", "\\u{1b}: k", "k");
        check("- https://u:p@h/a # x", "https://u:p@h/a", "- https://...@h/a # x", "https://...@h/a");
        check("- https://u:p@h/a # x", "x", "- https://...@h/a # x", "x");
        check("- https://u:p@h/a # x", "p@h", "- https://...@h/a # x", "...@h");
    }

    #[test]
    fn names_say_that_a_value_is_secret() {
        for name in [
            "DB_PASSWORD",
            "password",
            "API_KEY",
            "apikey",
            "api-key",
            "clientSecret",
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "PGPASS",
            "DB_PASS",
            "smtp.pwd",
            "sshKey",
            "KEY",
            "BASIC_AUTH",
            "SENTRY_DSN",
            "PrivateKey",
        ] {
            assert!(says_secret(name), "{name}");
        }
        for word in SECRET_PARTS.iter().chain(&SECRET_WORDS) {
            assert!(says_secret(word) && says_secret(&word.to_uppercase()), "{word}");
        }
        for name in ["HOST", "KEYCLOAK_URL", "MONKEY", "AUTHOR", "COMPASS_DIR", "LOG_LEVEL", "passive", ""] {
            assert!(!says_secret(name), "{name}");
        }
        assert!(has_password("postgres://u:p@db/x") && has_password("a https://h b amqp://u:p@q"));
        assert!(!has_password("https://u@h/a:b@c") && !has_password("https://h:80/a@b") && !has_password("u:p@h"));
    }

    #[test]
    fn json_stays_the_same_value() {
        let value = serde_json::json!({"a\u{1b}": "\u{9b}\u{202e}\u{e0041}##[error]é\n"});
        let text = json(format!("{value:#}\n"));
        assert!(!text.contains(|c: char| c != '\n' && super::is_unseen(c)) && !text.contains("##"), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }

    #[test]
    fn no_line_is_a_command_of_ci() {
        for (text, want) in [
            ("::error::x\n  ::set-env name=a::b\na::b", "\\u{3a}:error::x\n  \\u{3a}:set-env name=a::b\na::b"),
            ("\u{a0}::x", "\u{a0}\\u{3a}:x"),
            ("a ##[group]b ##vso[task.x] ## c [d]", "a #\\u{23}[group]b #\\u{23}vso[task.x] ## c [d]"),
            ("###[x]", "##\\u{23}[x]"),
            ("## Heading\n### `x`", "## Heading\n### `x`"),
        ] {
            assert_eq!(tamed(text), want);
        }
    }
}
