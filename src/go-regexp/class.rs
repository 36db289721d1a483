//! Sets of characters as Go knows them: by name, and folded.
//!
//! The tables are those of `regex-syntax`, cut to the characters of Unicode 15.0, which is Go's
//! version. Characters of later versions are unassigned in Go: they belong to no script, and have
//! no other case.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};
use std::sync::LazyLock;

/// A character that Unicode 15.1 moved from the category Mn to Mc.
const MOVED: (char, char) = ('\u{1171e}', '\u{1171e}');

/// All characters that Unicode 15.0 assigns.
static KNOWN: LazyLock<ClassUnicode> = LazyLock::new(|| query("age=15.0"));

/// The known characters, without those whose case Unicode 15.1 changed.
static FOLDING: LazyLock<ClassUnicode> = LazyLock::new(|| {
    let mut folding = KNOWN.clone();
    folding.difference(&set(&[('\u{390}', '\u{390}'), ('\u{3b0}', '\u{3b0}'), ('\u{1fd3}', '\u{1fd3}')]));
    folding.difference(&set(&[('\u{1fe3}', '\u{1fe3}'), ('\u{fb05}', '\u{fb06}')]));
    folding
});

/// General categories and their long names, each in the spelling of [`canonical`].
const CATEGORIES: &[&str] = &[
    "C",
    "Cc",
    "Cf",
    "Cn",
    "Co",
    "Cs",
    "L",
    "Lc",
    "Ll",
    "Lm",
    "Lo",
    "Lt",
    "Lu",
    "M",
    "Mc",
    "Me",
    "Mn",
    "N",
    "Nd",
    "Nl",
    "No",
    "P",
    "Pc",
    "Pd",
    "Pe",
    "Pf",
    "Pi",
    "Po",
    "Ps",
    "S",
    "Sc",
    "Sk",
    "Sm",
    "So",
    "Z",
    "Zl",
    "Zp",
    "Zs",
    "Casedletter",
    "Closepunctuation",
    "Cntrl",
    "Combiningmark",
    "Connectorpunctuation",
    "Control",
    "Currencysymbol",
    "Dashpunctuation",
    "Decimalnumber",
    "Digit",
    "Enclosingmark",
    "Finalpunctuation",
    "Format",
    "Initialpunctuation",
    "Letter",
    "Letternumber",
    "Lineseparator",
    "Lowercaseletter",
    "Mark",
    "Mathsymbol",
    "Modifierletter",
    "Modifiersymbol",
    "Nonspacingmark",
    "Number",
    "Openpunctuation",
    "Other",
    "Otherletter",
    "Othernumber",
    "Otherpunctuation",
    "Othersymbol",
    "Paragraphseparator",
    "Privateuse",
    "Punct",
    "Punctuation",
    "Separator",
    "Spaceseparator",
    "Spacingmark",
    "Surrogate",
    "Symbol",
    "Titlecaseletter",
    "Unassigned",
    "Uppercaseletter",
];

/// The scripts that Go finds. It does not find a script whose name has more than one word.
const SCRIPTS: &[&str] = &[
    "Adlam",
    "Ahom",
    "Arabic",
    "Armenian",
    "Avestan",
    "Balinese",
    "Bamum",
    "Batak",
    "Bengali",
    "Bhaiksuki",
    "Bopomofo",
    "Brahmi",
    "Braille",
    "Buginese",
    "Buhid",
    "Carian",
    "Chakma",
    "Cham",
    "Cherokee",
    "Chorasmian",
    "Common",
    "Coptic",
    "Cuneiform",
    "Cypriot",
    "Cyrillic",
    "Deseret",
    "Devanagari",
    "Dogra",
    "Duployan",
    "Elbasan",
    "Elymaic",
    "Ethiopic",
    "Georgian",
    "Glagolitic",
    "Gothic",
    "Grantha",
    "Greek",
    "Gujarati",
    "Gurmukhi",
    "Han",
    "Hangul",
    "Hanunoo",
    "Hatran",
    "Hebrew",
    "Hiragana",
    "Inherited",
    "Javanese",
    "Kaithi",
    "Kannada",
    "Katakana",
    "Kawi",
    "Kharoshthi",
    "Khmer",
    "Khojki",
    "Khudawadi",
    "Lao",
    "Latin",
    "Lepcha",
    "Limbu",
    "Lisu",
    "Lycian",
    "Lydian",
    "Mahajani",
    "Makasar",
    "Malayalam",
    "Mandaic",
    "Manichaean",
    "Marchen",
    "Medefaidrin",
    "Miao",
    "Modi",
    "Mongolian",
    "Mro",
    "Multani",
    "Myanmar",
    "Nabataean",
    "Nandinagari",
    "Newa",
    "Nko",
    "Nushu",
    "Ogham",
    "Oriya",
    "Osage",
    "Osmanya",
    "Palmyrene",
    "Phoenician",
    "Rejang",
    "Runic",
    "Samaritan",
    "Saurashtra",
    "Sharada",
    "Shavian",
    "Siddham",
    "Sinhala",
    "Sogdian",
    "Soyombo",
    "Sundanese",
    "Syriac",
    "Tagalog",
    "Tagbanwa",
    "Takri",
    "Tamil",
    "Tangsa",
    "Tangut",
    "Telugu",
    "Thaana",
    "Thai",
    "Tibetan",
    "Tifinagh",
    "Tirhuta",
    "Toto",
    "Ugaritic",
    "Vai",
    "Vithkuqi",
    "Wancho",
    "Yezidi",
    "Yi",
];

/// The set that `\p{name}` names, ignoring case, blanks, `_` and `-`; with all cases if `is_folded`
/// is true.
pub(crate) fn named(name: &str, is_folded: bool) -> Option<ClassUnicode> {
    let name = canonical(name);
    let mut class = table(&name)?;
    // Go has a table of other cases for each set except this one.
    if is_folded && !matches!(name.as_str(), "Lc" | "Casedletter") {
        fold(&mut class);
    }
    Some(class)
}

fn table(name: &str) -> Option<ClassUnicode> {
    match name {
        "Any" => return Some(set(&[('\0', char::MAX)])),
        "Ascii" => return Some(set(&[('\0', '\x7f')])),
        "Assigned" => {
            return table("Cn").map(negated);
        }
        // Texts cannot contain surrogates.
        "Cs" | "Surrogate" => return Some(ClassUnicode::empty()),
        _ => {}
    }
    if CATEGORIES.contains(&name) {
        let mut class = query(&format!("gc={name}"));
        class.intersect(&KNOWN);
        match name {
            "C" | "Other" | "Cn" | "Unassigned" => class.union(&negated(KNOWN.clone())),
            "Mc" | "Spacingmark" => class.difference(&set(&[MOVED])),
            "Mn" | "Nonspacingmark" => class.union(&set(&[MOVED])),
            _ => {}
        }
        return Some(class);
    }
    if SCRIPTS.contains(&name) {
        let mut class = query(&format!("sc={name}"));
        class.intersect(&KNOWN);
        return Some(class);
    }
    None
}

/// The name with its first letter in upper case, the others in lower case, and without separators.
fn canonical(name: &str) -> String {
    let mut canonical: String = name.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).collect();
    canonical.make_ascii_lowercase();
    if let Some(first) = canonical.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    canonical
}

/// The set of a property in the syntax of the crate `regex-syntax`.
fn query(property: &str) -> ClassUnicode {
    let tree = regex_syntax::parse(&format!("\\p{{{property}}}")).map(regex_syntax::hir::Hir::into_kind);
    match tree {
        Ok(HirKind::Class(Class::Unicode(class))) => class,
        // The crate turns a set of one character into a literal.
        Ok(HirKind::Literal(literal)) => {
            let char = std::str::from_utf8(&literal.0).ok().and_then(|text| text.chars().next());
            set(&char.map(|c| (c, c)).into_iter().collect::<Vec<_>>())
        }
        _ => ClassUnicode::empty(),
    }
}

/// The set of the letter in an escape such as `\d`.
pub(crate) fn perl(letter: u8) -> Option<ClassUnicode> {
    Some(match letter.to_ascii_lowercase() {
        b'd' => set(&[('0', '9')]),
        b's' => set(&[('\t', '\n'), ('\x0c', '\r'), (' ', ' ')]),
        b'w' => set(&[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')]),
        _ => return None,
    })
}

/// The set that `[:name:]` names.
pub(crate) fn posix(name: &str) -> Option<ClassUnicode> {
    Some(match name {
        "alnum" => set(&[('0', '9'), ('A', 'Z'), ('a', 'z')]),
        "alpha" => set(&[('A', 'Z'), ('a', 'z')]),
        "ascii" => set(&[('\0', '\x7f')]),
        "blank" => set(&[('\t', '\t'), (' ', ' ')]),
        "cntrl" => set(&[('\0', '\x1f'), ('\x7f', '\x7f')]),
        "digit" => set(&[('0', '9')]),
        "graph" => set(&[('!', '~')]),
        "lower" => set(&[('a', 'z')]),
        "print" => set(&[(' ', '~')]),
        "punct" => set(&[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')]),
        "space" => set(&[('\t', '\r'), (' ', ' ')]),
        "upper" => set(&[('A', 'Z')]),
        "word" => set(&[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')]),
        "xdigit" => set(&[('0', '9'), ('A', 'F'), ('a', 'f')]),
        _ => return None,
    })
}

/// A set of ranges.
pub(crate) fn set(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(ranges.iter().map(|&(from, to)| ClassUnicodeRange::new(from, to)))
}

/// All characters that are not in a set.
pub(crate) fn negated(mut class: ClassUnicode) -> ClassUnicode {
    // The crate does not treat ranges on both sides of the surrogates as neighbours, and negates
    // them to a range of both ends.
    let has = |end: fn(&ClassUnicodeRange) -> char, c: char| class.ranges().iter().any(|range| end(range) == c);
    if has(ClassUnicodeRange::end, '\u{d7ff}') && has(ClassUnicodeRange::start, '\u{e000}') {
        class.push(ClassUnicodeRange::new('\u{d7ff}', '\u{e000}'));
    }
    class.negate();
    class
}

/// Adds the other cases of all characters.
pub(crate) fn fold(class: &mut ClassUnicode) {
    let mut folded = class.clone();
    folded.intersect(&FOLDING);
    folded.case_fold_simple();
    folded.intersect(&FOLDING);
    class.union(&folded);
}

/// A character in all its cases.
pub(crate) fn folded(c: char) -> ClassUnicode {
    let mut class = set(&[(c, c)]);
    match c {
        'k' | 'K' | 's' | 'S' => fold(&mut class),
        _ if c.is_ascii() => class.case_fold_simple(),
        _ => fold(&mut class),
    }
    class
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Count and hash (FNV-1a over UTF-8) of the characters of a set.
    fn fingerprint(class: &ClassUnicode) -> String {
        let (mut count, mut hash) = (0, 0xcbf2_9ce4_8422_2325_u64);
        for range in class.ranges() {
            for c in range.start()..=range.end() {
                count += 1;
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
                }
            }
        }
        format!("{count}\t{hash:016x}")
    }

    #[test]
    fn sets_by_name() {
        let mut count = 0;
        for line in include_str!("../../testdata/go_regexp/sets.tsv").lines() {
            let (name, want) = line.split_once('\t').unwrap();
            let (name, is_folded) = name.strip_prefix("(?i)").map_or((name, false), |name| (name, true));
            let got = named(name, is_folded).map(|mut class| {
                class.union(&set(&[('\n', '\n'), ('\r', '\r')]));
                fingerprint(&class)
            });
            assert_eq!(got.as_deref().unwrap_or("refused"), want, "{line}");
            count += 1;
        }
        assert!(count > 400);
    }

    #[test]
    fn cases() {
        let mut without = set(&[('\0', char::MAX)]);
        for line in include_str!("../../testdata/go_regexp/folding.txt").lines() {
            let mut letters: Vec<char> = line.chars().collect();
            letters.sort_unstable();
            let want = set(&letters.iter().map(|&c| (c, c)).collect::<Vec<_>>());
            for &c in &letters {
                assert_eq!(folded(c), want, "{c}");
            }
            without.difference(&want);
        }
        let mut folded = without.clone();
        fold(&mut folded);
        assert_eq!(folded, without);
    }
}
