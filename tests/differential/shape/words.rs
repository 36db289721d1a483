//! The material of the trees: names, keys, scalars in all spellings, texts, patterns.

use super::super::tree::{File, Layer};
use super::super::value::{V, quoted, s};
use super::{pick, rarely};
use fastrand::Rng;

pub const NAMES: [&str; 5] = ["a", "b", "web", "cfg", "p-a"];
pub const NAMESPACES: [&str; 4] = ["default", "prod", "dev", "kube-system"];
pub const KEYS: [&str; 6] = ["app", "tier", "example.com/part", "k1", "UPPER", "x-y.z"];

/// Scalars that are read in different ways by readers of different versions.
#[rustfmt::skip]
const SCALARS: [&str; 68] = [
    "1", "\"1\"", "1.50", "0x1F", "true", "\"true\"", "yes", "'no'", "null", "~", "\"\"", "'it''s'", "2020-01-02", "1e3", "1_000",
    "'a: b'", "é", "\" lead\"", "'trail '", "'#x'", "12345678901234567890", ".5", "0o17", "012", "!!str 5", "-1", "+3", "a b",
    "\"tab\\there\"", "\"two\\nlines\"", "on", "1:30", "'- x'", "a#b", "a:b", "\"\\u00e9\"", "=", "\"1.0\"", "'@at'",
    "9007199254740993", "-9007199254740993", "9223372036854775808", "1.0", "1e21", "1E-7", "100000000000000000000.0", "0b101",
    "-0", "0.0", "08", "1__0", "190:20:30", "2001-12-14t21:59:43.10-05:00", "Null", "NULL", "True", "FALSE", "y", "n", "Y", "No", "OFF",
    "! 1", "! x", "! '1'", "\"end\\n\"", "\"\\n\\n\"", "\"a\\\n          b\"",
];

/// Scalars that many builds fail with.
#[rustfmt::skip]
const REFUSED: [&str; 19] = [
    ".inf", "-.inf", ".NaN", "0xFFFFFFFFFFFFFFFFF", "!!int \"3\"", "!!float 1", "!!bool yes", "!!null ''", "!custom 1", "!!binary eA==",
    "!!timestamp 2020-01-02", "\"\\x01\"", "\"\\u2028\"", "\"a\\u0085b\"", "\"\\/\"", "\"\u{feff}x\"", "@x", "\"x\"# no comment", "\"a\rb\"",
];

const WORDS: [&str; 8] = ["x", "hello", "v1.2", "a/b/c", "nginx", "\"7\"", "'true'", "some text"];

/// Any scalar, odd ones included.
pub fn odd(rng: &mut Rng) -> V {
    match rng.u8(..24) {
        0 if rarely(rng, 4) => s(pick(rng, &REFUSED)),
        0 if rarely(rng, 60) => deep(rng),
        0..7 => s(pick(rng, &SCALARS)),
        7 | 8 => text(rng),
        9 => s(""),
        _ => s(pick(rng, &WORDS)),
    }
}

/// Lists in lists, as deep as nobody nests them.
fn deep(rng: &mut Rng) -> V {
    let depth = [60, 250, 300, 900][rng.usize(..4)];
    s(format!("{}{}", "[".repeat(depth), "]".repeat(depth)))
}

/// A scalar that reads as a string everywhere.
pub fn string(rng: &mut Rng) -> V {
    if rarely(rng, 5) {
        return text(rng);
    }
    let all = [
        "x",
        "hello",
        "\"1\"",
        "'true'",
        "a/b",
        "\"two\\nlines\"",
        "'it''s'",
        "\"\"",
        "'null'",
        "é",
        "\"0x1F\"",
        "'2020-01-02'",
        "\"1e3\"",
        "'y'",
        "'~'",
        "\" #\"",
    ];
    s(pick(rng, &all))
}

/// Lines of a text, which are the same text in no two styles.
const LINES: [&str; 24] = [
    "one line",
    "another line of words",
    "",
    "",
    "  deeper",
    "    deeper still",
    "- item",
    "key: value",
    "# no comment",
    "trailing ",
    "it's \"quoted\"",
    "\ttab",
    "a\tb",
    "é ü 漢字",
    "back\\slash \\n",
    "a line that is so long that a printer which breaks lines would have broken it: more than eighty columns, surely",
    "a-line-without-any-space-that-is-so-long-that-a-printer-which-breaks-lines-would-have-wanted-to-break-it",
    "...",
    "---",
    "$(VAR) and $$(VAR)",
    "{{ .Values.x }}",
    "%percent",
    "\u{2028}sep",
    "end:",
];

/// A text of some lines.
pub fn text(rng: &mut Rng) -> V {
    let count = 1 + rng.usize(..5);
    let common = rng.u8(..3) > 0;
    let lines = (0..count).map(|_| LINES[if common { rng.usize(..9) } else { rng.usize(..LINES.len()) }].to_owned());
    let mut lines: Vec<String> = lines.collect();
    // A tree of its own for each: they are refused, or change what is around them.
    if rarely(rng, 60) {
        lines.push(
            pick(rng, &["mark \u{feff} inside", "next\u{85}line", "\u{2029}", "nul \u{7f}", "\u{feff}"]).to_owned(),
        );
    }
    V::T(lines)
}

/// Parts of patterns. Most are taken by all engines and mean the same; the others are what
/// differs.
#[rustfmt::skip]
const ATOMS: [&str; 62] = [
    "a", "b", "web", "cfg", "p-a", ".*", ".+", "w.b", "[a-z]+", "(a|b)", "^a", "b$", "(?:web)", "\\w+", "[^a]*", "a?",
    "web|a", "[a-c]", "\\.", "(?i)WEB", "[[:alpha:]]+", "\\d*", "a{1,2}", "a{1}",
    "\\${X}", "{X}", "a{", "{", "{{a}}", "a{X}", "}", "]", "\\Qa\\E", "[[]", "\\07", "\\141", "[[a]]", "[a&&b]", "[a--b]", "\\<a\\>",
    "a{ 2}", "a{,2}", "\\b{start}", "\\ba", "a**", "a++", "a{1001}", "a{2,1}", "(a{1}){2}", "\\u0061", "\\x61", "\\x{61}", "(?x) a",
    "(?u)a", "(?s).", "(?U)a*", "\\p{alpha}", "\\pL", "\\p{Greek}", "(?P<n>a)", "(", "\\z",
];

/// A pattern that may be in Go's syntax alone.
pub fn pattern(rng: &mut Rng) -> V {
    let tame = rng.u8(..3) > 0;
    let atom = |rng: &mut Rng| if tame { ATOMS[rng.usize(..24)] } else { pick(rng, &ATOMS) };
    let first = atom(rng);
    quoted(&match rng.u8(..4) {
        0 => format!("{first}{}", atom(rng)),
        1 => format!("{first}.*"),
        _ => first.to_owned(),
    })
}

/// Texts of files that generators read.
pub fn files(rng: &mut Rng, layer: &mut Layer) {
    let texts = [
        "line one\nline two: \"q\"\n",
        "line one\nline two: \"q\"\n",
        "\u{feff}with a mark\n",
        "crlf\r\nlines\r\n",
        "a lone\rcarriage return\n",
        "  begins deeper\nthan it goes on\n",
        "trailing \n\n\n",
        "\n\nfirst lines are empty",
        "next\u{85}line and \u{2028} and \u{2029}",
        "control \u{1} sign\n",
        "\ttab\n",
        "",
        "\n",
    ];
    let common = rng.u8(..3) > 0;
    let file = texts[if common { 0 } else { rng.usize(..texts.len()) }];
    layer.files.push(File::text("file.txt", file));
    layer.files.push(File::text("bin.dat", "tab\there \u{1f600}, no end of line"));
    let variables = [
        "E1=one\n# no\nE2='two'\n",
        "E1=one\n# no\nE2='two'\n",
        "\u{feff}E1=one\r\nE2=\"two\"\r\n",
        "  E1 = one\nE2\n",
        "8080=x\nE1=\u{1}\n",
        "E1=a=b # c\n\n\n",
    ];
    let variables = variables[if common { 0 } else { rng.usize(..variables.len()) }];
    layer.files.push(File::text("vars.env", variables));
}
