//! The entries of `images` that an image matches: [`ImageNames`].

use crate::resource::matcher::META;
use rustomize_base::compat::Compat;
use rustomize_base::meter::{self, FastMap};
use rustomize_go_regexp::{GoRegex, PatternError};
use std::borrow::Cow;

/// The names of all entries. A name is a pattern, but in nearly all names only dots have a meaning:
/// those are looked up in tables. Of the others, those are tried that begin as the image does.
#[derive(Debug, Default)]
pub(super) struct ImageNames<'a> {
    compat: Compat,
    /// One table for all names whose dots are at the same places, which are counted in characters.
    tables: Vec<(Vec<usize>, Table<'a>)>,
    /// The other names, each once.
    patterns: Vec<NamePattern>,
    /// Patterns by the text that an image must begin with. There is one table for all texts of one
    /// length whose dots are at the same places.
    starts: Vec<(Start, FastMap<&'a str, Vec<usize>>)>,
}

/// A name that is a pattern, and the places of its entries in ascending order.
#[derive(Debug)]
struct NamePattern {
    regex: GoRegex,
    entries: Vec<usize>,
}

/// The length of a text and the places of its dots, both in characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Start {
    length: usize,
    dots: Vec<usize>,
}

/// Names, each with the places of its entries in ascending order.
type Table<'a> = FastMap<&'a str, Vec<usize>>;

impl<'a> ImageNames<'a> {
    /// Sorts the names of entries into tables and patterns. O(length of the names).
    ///
    /// # Errors
    /// A name is not a valid regular expression; its place comes along.
    pub(super) fn new(compat: Compat, names: impl Iterator<Item = &'a str>) -> Result<Self, (usize, PatternError)> {
        let mut all = ImageNames { compat, ..ImageNames::default() };
        let mut table_of: FastMap<Vec<usize>, usize> = FastMap::default();
        let mut pattern_of: FastMap<&'a str, usize> = FastMap::default();
        let mut start_of: FastMap<Start, usize> = FastMap::default();
        for (entry, name) in names.enumerate() {
            if name.contains(|c| c != '.' && META.contains(&c)) {
                if let Some(&known) = pattern_of.get(name) {
                    all.patterns[known].entries.push(entry);
                    continue;
                }
                let regex = match GoRegex::new(&pattern(compat, name)) {
                    Ok(regex) => regex,
                    Err(_) if compat.takes_broken_image_patterns() => continue,
                    Err(e) => return Err((entry, e)),
                };
                pattern_of.insert(name, all.patterns.len());
                let text = start(name);
                let known = Start { length: text.chars().count(), dots: dots(text) };
                let table = *start_of.entry(known).or_insert_with_key(|known| {
                    all.starts.push((known.clone(), FastMap::default()));
                    all.starts.len() - 1
                });
                all.starts[table].1.entry(text).or_default().push(all.patterns.len());
                all.patterns.push(NamePattern { regex, entries: vec![entry] });
                continue;
            }
            let table = *table_of.entry(dots(name)).or_insert_with_key(|dots| {
                all.tables.push((dots.clone(), Table::default()));
                all.tables.len() - 1
            });
            all.tables[table].1.entry(name).or_default().push(entry);
        }
        Ok(all)
    }

    /// The patterns that may match an image. O(tables of beginnings + answer).
    fn patterns_for(&self, image: &str) -> impl Iterator<Item = &NamePattern> {
        let found = self.starts.iter().filter_map(|(Start { length, dots }, table)| {
            let end = image.char_indices().map(|(i, _)| i).chain([image.len()]).nth(*length)?;
            table.get(&*with_dots(&image[..end], dots)?)
        });
        meter::counted(found.flatten()).map(|&pattern| &self.patterns[pattern])
    }

    /// The first entry, from a given one on, that an image matches. O(tables + patterns that begin
    /// as the image) for an image of usual length.
    pub(super) fn next(&self, image: &str, from: usize) -> Option<usize> {
        let mut first = None;
        for name in names_of(self.compat, image) {
            for (dots, table) in &self.tables {
                let Some(entries) = with_dots(name, dots).and_then(|name| table.get(&*name)) else { continue };
                let entry = entries.get(entries.partition_point(|&entry| entry < from)).copied();
                first = [first, entry].into_iter().flatten().min();
            }
        }
        for pattern in self.patterns_for(image) {
            let entries = &pattern.entries;
            let Some(&entry) = entries.get(entries.partition_point(|&entry| entry < from)) else { continue };
            if first.is_none_or(|first| entry < first) && pattern.regex.is_match(image) {
                first = Some(entry);
            }
        }
        first
    }
}

/// The places of the dots in a text, in characters.
fn dots(text: &str) -> Vec<usize> {
    text.chars().enumerate().filter(|(_, c)| *c == '.').map(|(i, _)| i).collect()
}

/// The text with which all images begin that a pattern matches; dots in it stand for any character.
fn start(pattern: &str) -> &str {
    let Some(end) = pattern.find(|c| c != '.' && META.contains(&c)).filter(|_| !pattern.contains('|')) else {
        return "";
    };
    let (text, rest) = pattern.split_at(end);
    // A repetition is about the character before it.
    let last = text.chars().next_back().filter(|_| rest.starts_with(['*', '+', '?', '{']));
    &text[..text.len() - last.map_or(0, char::len_utf8)]
}

/// The pattern of all images with a name, which is a pattern itself. Its alternatives are not
/// grouped.
fn pattern(compat: Compat, name: &str) -> String {
    let algorithm = if compat.matches_all_digests() { "[a-zA-Z0-9]+([.+_-][a-zA-Z0-9]+)*" } else { "sha256" };
    format!("^{name}(:[a-zA-Z0-9_.{{}}-]*)?(@{algorithm}:[a-zA-Z0-9_.{{}}-]*)?$")
}

/// The possible names in an image text: the text, and the text without a possible tag, digest, or
/// both.
fn names_of(compat: Compat, image: &str) -> impl Iterator<Item = &str> {
    let without_tag = |text| str::rsplit_once(text, ':').filter(|(_, tag)| is_tag(tag)).map(|(name, _)| name);
    let is_digest = |digest: &str| {
        let is_known = |algorithm: &str| match compat.matches_all_digests() {
            true => is_algorithm(algorithm),
            false => algorithm == "sha256",
        };
        digest.split_once(':').is_some_and(|(algorithm, sum)| is_known(algorithm) && is_tag(sum))
    };
    let without_digest = image.rsplit_once('@').filter(|(_, digest)| is_digest(digest)).map(|(name, _)| name);
    let without_both = without_digest.and_then(without_tag);
    [Some(image), without_tag(image), without_digest, without_both].into_iter().flatten()
}

/// Returns true for the name of a digest's algorithm, such as `sha512` and `multihash+base58`.
fn is_algorithm(text: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric());
    text.split(['.', '+', '_', '-']).all(is_part)
}

fn is_tag(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'{' | b'}' | b'-'))
}

/// A text with dots at some places; `None` if there is nothing that a dot may stand for.
fn with_dots<'t>(text: &'t str, dots: &[usize]) -> Option<Cow<'t, str>> {
    let Some(last) = dots.last() else { return Some(Cow::Borrowed(text)) };
    if text.len() <= *last {
        return None;
    }
    // The places count bytes then.
    if text.is_ascii() && dots.iter().all(|&dot| text.as_bytes()[dot] == b'.') {
        return Some(Cow::Borrowed(text));
    }
    let mut dots = dots.iter().copied().peekable();
    let mut dotted = String::with_capacity(text.len());
    let mut length = 0;
    for (i, c) in text.chars().enumerate() {
        length = i + 1;
        let is_dot = dots.next_if_eq(&i).is_some();
        if is_dot && c == '\n' {
            return None;
        }
        dotted.push(if is_dot { '.' } else { c });
    }
    (length > *last).then_some(Cow::Owned(dotted))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer of each entry for an image, with all names as patterns.
    fn slowly(compat: Compat, names: &[&str], image: &str) -> Vec<usize> {
        let is_match = |name: &str| GoRegex::new(&pattern(compat, name)).unwrap().is_match(image);
        (0..names.len()).filter(|&i| is_match(names[i])).collect()
    }

    fn quickly(names: &ImageNames<'_>, image: &str) -> Vec<usize> {
        let mut from = 0;
        std::iter::from_fn(|| names.next(image, from).inspect(|&entry| from = entry + 1)).collect()
    }

    #[test]
    fn tables_and_patterns_agree() {
        const PIECES: [&str; 18] = [
            "a",
            "b",
            "é",
            ".",
            ".",
            ":",
            ":1",
            "@",
            "@sha256:",
            "@sha256:ab",
            "@sha512:",
            "@b+x:c",
            "/",
            "-",
            "{x}",
            "sha256",
            "\n",
            "a.b",
        ];
        let mut rng = fastrand::Rng::with_seed(3);
        let mut text = |most| (0..rng.usize(0..=most)).map(|_| PIECES[rng.usize(0..PIECES.len())]).collect::<String>();
        let mut matches = 0;
        for round in 0..100 {
            let compat = Compat::all().nth(round % Compat::all().count()).unwrap();
            let name = |i| match i {
                3 => "a|b".to_owned(),
                6 | 8 => "a.+".to_owned(),
                7 => "a.?(:1|b).*".to_owned(),
                _ => text(3),
            };
            let names: Vec<String> = (0..9).map(name).filter(|n| !n.contains('{')).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let tables = ImageNames::new(compat, names.iter().copied()).unwrap();
            for _ in 0..20 {
                let image = text(5);
                let want = slowly(compat, &names, &image);
                assert_eq!(quickly(&tables, &image), want, "{names:?} and {image:?}");
                matches += want.len();
            }
        }
        assert!(matches > 1000, "{matches}");
    }
}
