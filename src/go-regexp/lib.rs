//! Regular expressions in the syntax of Go, in which kustomize's patterns are written: [`GoRegex`].
//!
//! [`translate`] reads a pattern and decides as Go's `regexp/syntax` does; [`class`] makes sets of
//! characters by Go's names and by the Unicode version of Go. The result is a syntax tree of the
//! crate `regex-syntax`, which `regex-automata` compiles. No pattern is printed and parsed again,
//! so the syntax rules of the crate do not apply.

mod class;
mod translate;

use memchr::memmem::Finder;
use regex_automata::meta;
use regex_automata::nfa::thompson::WhichCaptures;
use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Hir, HirKind, Look};
use rustomize_base::meter;
use std::fmt;

/// The longest pattern, in bytes. It bounds the time and memory that translating takes.
const MAX_LENGTH: usize = 64 << 10;

/// The largest automaton, in bytes: more than Go needs for any pattern of a few hundred
/// characters.
const MAX_AUTOMATON: usize = 32 << 20;

/// Trees that are higher than this are compiled on a separate, larger stack.
const HIGH: u32 = 50;

/// The size of the stack for the highest tree that [`translate`] makes. A level takes less than 4
/// KiB, also in a debug build.
const STACK: usize = 16 << 20;

/// A compiled pattern in Go's syntax.
#[derive(Clone, Debug)]
pub struct GoRegex(Compiled);

#[derive(Clone, Debug)]
enum Compiled {
    /// A text that is searched for. An automaton for a long text of few different characters takes
    /// as many steps as text and pattern multiplied.
    Text(Box<Finder<'static>>),
    Automaton(meta::Regex),
}

impl GoRegex {
    /// Compiles a pattern, within fixed limits. O(length of the pattern, with its counted
    /// repetitions written out).
    ///
    /// # Errors
    /// Go refuses the pattern, or it is larger than the limits here.
    pub fn new(pattern: &str) -> Result<Self, PatternError> {
        let too_large = || PatternError { reason: Reason::TooLarge, fragment: pattern.to_owned() };
        if pattern.len() > MAX_LENGTH {
            return Err(too_large());
        }
        let (tree, height) = translate::translate(pattern)?;
        if let HirKind::Literal(text) = tree.kind() {
            return Ok(GoRegex(Compiled::Text(Box::new(Finder::new(&text.0).into_owned()))));
        }
        let compiled = if height > HIGH { compile_on_large_stack(&tree) } else { compile(&tree) };
        compiled.map(|regex| GoRegex(Compiled::Automaton(regex))).ok_or_else(too_large)
    }

    /// Returns true if the pattern matches anywhere in a text. O(text) for the usual pattern, at
    /// most O(text x pattern).
    pub fn is_match(&self, text: &str) -> bool {
        meter::count_text(text);
        match &self.0 {
            Compiled::Text(finder) => finder.find(text.as_bytes()).is_some(),
            Compiled::Automaton(regex) => regex.is_match(text),
        }
    }

    /// The text that the pattern stands for, if it matches exactly the texts that contain it.
    pub fn as_text(&self) -> Option<&str> {
        match &self.0 {
            Compiled::Text(finder) => std::str::from_utf8(finder.needle()).ok(),
            Compiled::Automaton(_) => None,
        }
    }
}

/// Returns texts such that every text that the pattern matches begins with one of them; `None` if a
/// match may begin with anything. `^app-.*$` gives `app-`. O(length of the pattern).
pub fn starts(pattern: &str) -> Option<Vec<String>> {
    let (tree, height) = translate::translate(pattern).ok().filter(|_| pattern.len() <= MAX_LENGTH)?;
    // The extractor is recursive. If a match need not begin at the start of the text, its beginning
    // says nothing about the text.
    if height > HIGH || !tree.properties().look_set_prefix().contains(Look::Start) {
        return None;
    }
    let prefixes = Extractor::new().extract(&tree);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok().filter(|text| !text.is_empty());
    let mut starts: Vec<String> = prefixes.literals()?.iter().map(|l| text(l.as_bytes())).collect::<Option<_>>()?;
    starts.sort_unstable();
    starts.dedup();
    Some(starts)
}

/// Compiles a tree; `None` if the automaton gets too large.
fn compile(tree: &Hir) -> Option<meta::Regex> {
    let config =
        meta::Config::new().nfa_size_limit(Some(MAX_AUTOMATON)).which_captures(WhichCaptures::Implicit).onepass(false);
    meta::Builder::new().configure(config).build_from_hir(tree).ok()
}

/// As [`compile`], which is recursive, for a high tree.
fn compile_on_large_stack(tree: &Hir) -> Option<meta::Regex> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || compile(tree)).ok()?;
        thread.join().ok().flatten()
    })
}

/// The reason why a pattern is refused, in Go's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    reason: Reason,
    /// The invalid part of the pattern.
    fragment: String,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = match self.reason {
            Reason::ClassRange => "invalid character class range",
            Reason::Escape => "invalid escape sequence",
            Reason::NamedCapture => "invalid named capture",
            Reason::PerlSyntax => "invalid or unsupported Perl syntax",
            Reason::NestedRepetition => "invalid nested repetition operator",
            Reason::RepeatCount => "invalid repeat count",
            Reason::NoBracket => "missing closing ]",
            Reason::NoParenthesis => "missing closing )",
            Reason::NothingToRepeat => "missing argument to repetition operator",
            Reason::TrailingBackslash => "trailing backslash at end of expression",
            Reason::UnexpectedParenthesis => "unexpected )",
            Reason::TooDeep => "expression nests too deeply",
            Reason::TooLarge => "expression too large",
        };
        write!(f, "error parsing regexp: {reason}: `{}`", self.fragment)
    }
}

impl std::error::Error for PatternError {}

/// The rule that a pattern breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    ClassRange,
    Escape,
    NamedCapture,
    PerlSyntax,
    NestedRepetition,
    RepeatCount,
    NoBracket,
    NoParenthesis,
    NothingToRepeat,
    TrailingBackslash,
    UnexpectedParenthesis,
    TooDeep,
    TooLarge,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_starts(pattern: &str, want: Option<&[&str]>) {
        let want = want.map(|texts| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        assert_eq!(starts(pattern), want, "{pattern}");
    }

    #[test]
    fn starts_of_patterns() {
        check_starts("^(?:app-.*|web)$", Some(&["app-", "web"]));
        check_starts("^(?:(?i)ap.)$", Some(&["AP", "Ap", "aP", "ap"]));
        check_starts("^(?:a[bc]+)$", Some(&["ab", "ac"]));
        check_starts("^(?:.*-web)$", None);
        check_starts("^(?:a?.*)$", None);
        // The second alternative matches at the end of any text.
        check_starts("^(?:a)|(?:b)$", None);
        check_starts("app", None);
        check_starts("^(?:[)$", None);
        check_starts(&format!("^a{}$", "(?:b".repeat(60) + &")*".repeat(60)), None);
    }

    #[test]
    fn large_patterns_end_with_an_error() {
        let refused = |pattern: &str| GoRegex::new(pattern).err().map(|e| e.reason);
        assert_eq!(refused(&"a".repeat(MAX_LENGTH)), None);
        assert_eq!(refused(&"a".repeat(MAX_LENGTH + 1)), Some(Reason::TooLarge));
        assert_eq!(refused(&r"\pL{1000}".repeat(50)), Some(Reason::TooLarge));
        assert_eq!(refused(&r"[\pL\x00]".repeat(MAX_LENGTH / 9)), Some(Reason::TooLarge));
        assert_eq!(refused(&"(?i)a".repeat(MAX_LENGTH / 5)), None);
        assert_eq!(refused(&"(?:a*".repeat(1001)), Some(Reason::NoParenthesis));
        let nested = |n: usize| format!("{}b{}", "(?:a|".repeat(n), ")*".repeat(n));
        assert_eq!(refused(&nested(300)), None);
        assert_eq!(refused(&nested(6000)), Some(Reason::TooDeep));
    }

    #[test]
    fn counted_sets_of_many_characters() {
        for pattern in [r"^.{999}$", r"^[^/]{999}$", r"^\PN{99}\pL{99}\p{Greek}{801}$"] {
            let regex = GoRegex::new(pattern).unwrap();
            assert!(regex.is_match(&"α".repeat(999)), "{pattern}");
            assert!(!regex.is_match(&"α".repeat(998)), "{pattern}");
        }
    }
}
