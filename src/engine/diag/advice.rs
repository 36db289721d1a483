//! Advice for texts that are not valid YAML: what people write by mistake, by the line of the fault
//! and by the reader's message.

/// A fault of a text, as its reader tells it.
pub(super) struct Fault<'t> {
    pub message: &'t str,
    /// The line of the fault, and the one above it.
    pub line: &'t str,
    pub above: &'t str,
}

/// A mistake that a line shows.
struct Mistake {
    shows: fn(&Fault<'_>) -> bool,
    /// The message in place of the reader's, if that would mislead.
    message: Option<&'static str>,
    advice: fn(&Fault<'_>) -> String,
}

/// The mistakes, the most certain one first.
const MISTAKES: &[Mistake] = &[
    Mistake {
        shows: |fault| ["    ("as null", "the field that gets this value is null: write a value in place of the null, in its resource"),
    ("cannot decode", "remove the tag, or correct the value"),
    ("unknown anchor", "define the anchor with '&' in front of its use, in the same document"),
    ("inside the value it names", "remove the alias: a value cannot contain itself"),
    ("aliases add more than", "write fewer aliases of values that have aliases themselves"),
    ("nested deeper", "nest fewer levels"),
    ("no such number", "put quotes around the value"),
    ("is not a number", "put quotes around the value"),
    ("too large a number", "put quotes around the value"),
    ("tag", "remove the tag, or put quotes around a text that begins with '!'"),
    ("expected '>'", "close the tag with '>'"),
    ("whitespace or line break", "write a blank behind the tag, the anchor or the alias"),
    ("URI", "put quotes around a text that begins with '!'"),
    ("UTF-8 octet", "put quotes around a text that begins with '!'"),
    ("directive", "remove the line, or put quotes around a text that begins with '%'"),
    ("incompatible YAML document", "remove the line %YAML"),
    ("escape character", "double the '\\', or use single quotes"),
    ("escape code", "write a character that Unicode has"),
    ("number", "write the digits that the escape needs, or double the '\\'"),
    ("indentation indicator", "write a number from 1 to 9 behind '|' or '>', or none"),
    ("comment or line break", "begin the text in the line below '|' or '>'"),
];

/// The advice for a message of the reader; `None` for one that says enough.
pub(super) fn on_yaml(message: &str) -> Option<&'static str> {
    ADVICE.iter().find(|(part, _)| message.contains(part)).map(|(_, advice)| *advice)
}

#[cfg(test)]
mod tests {
    use super::{Fault, on_line, on_yaml};
    use crate::diag::Error;
    use rustomize_yaml::{Heap, documents};

    /// The advice for the fault of a text.
    fn advice(text: &str) -> Option<String> {
        let heap = Heap::new();
        let arena = heap.arena();
        let fault = documents(arena, arena.add_source("x", text.to_owned())).unwrap_err();
        let error = Error::from(fault).located(&heap);
        error.hints().first().cloned()
    }

    #[test]
    fn lines_show_mistakes() {
        let shows = |message: &str, line: &str, above: &str| on_line(&Fault { message, line, above }).map(|(_, a)| a);
        assert!(shows("x", "<<<<<<< HEAD", "").unwrap().starts_with("keep one"));
        assert!(shows("could not find expected ':'", "-a", "").unwrap().starts_with("write a space"));
        assert_eq!(shows("could not find expected ':'", "- a", ""), None);
        assert_eq!(shows("mapping values are not allowed", "b: 1", "url: http://x"), None);
        assert_eq!(shows("mapping values are not allowed", "b: 1", "http://x"), None);
    }

    #[test]
    fn faults_of_all_kinds_have_advice() {
        for text in [
            "a: 'b\n",
            "a: [b\n",
            "a: {b\n",
            "a:\n\t- b\n",
            "a\nb: c\n",
            "a: b: c\n",
            "a: *b\n",
            "a: @b\n",
            "a: \"\\q\"\n",
            "a: |0\n  b\n",
            "a: | b\n",
            "a: *.b\n",
            "a: !<b\n",
            "{a: b}: c\n",
            "a: b\n - c\n",
            "a: - b\n",
            "%YAML 2.0\n---\na\n",
            "a: \"\\xzz\"\n",
            "- a\nb: c\n",
            "? [a]\n: b\n",
            "a: b\n--- !x y\n: :\n",
            "<<: 1\na: b\n",
            "a: \u{1}\n",
        ] {
            if documents_fail(text) {
                assert!(advice(text).is_some(), "no advice for {text:?}");
            }
        }
        assert_eq!(on_yaml("something else"), None);
    }

    fn documents_fail(text: &str) -> bool {
        let heap = Heap::new();
        let arena = heap.arena();
        documents(arena, arena.add_source("x", text.to_owned())).is_err()
    }
}
