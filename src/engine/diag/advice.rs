//! Advice for texts that are not valid YAML: what people write by mistake, by the line of the fault
//! and by the reader's message.

use super::cause;

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
        shows: |fault| ["<<<<<<<", "=======", ">>>>>>>"].iter().any(|mark| fault.line.starts_with(mark)),
        message: Some(cause::CONFLICT),
        advice: |_| cause::RESOLVE.to_owned(),
    },
    Mistake {
        shows: |fault| fault.line.find("{{").is_some_and(|start| fault.line[start..].contains("}}")),
        message: None,
        advice: |_| "this is a template of Helm: render it first, or list its chart under 'helmCharts'".to_owned(),
    },
    Mistake {
        shows: |fault| fault.line.trim_end() == "--",
        message: None,
        advice: |_| "write three dashes between two documents: ---".to_owned(),
    },
    Mistake {
        shows: |fault| fault.message.contains("expected ','") && fault.line.contains(".["),
        message: None,
        advice: |_| "put quotes around a path that has '[': \"spec.containers.[name=web].image\"".to_owned(),
    },
    Mistake {
        shows: |fault| {
            let item = fault.line.trim_start().strip_prefix('-');
            fault.message.contains("':'") && item.is_some_and(|rest| !rest.starts_with(['-', ' ']) && !rest.is_empty())
        },
        message: None,
        advice: |_| "write a space behind '-', which begins an item of a list".to_owned(),
    },
    Mistake {
        shows: |fault| fault.message.ends_with("expected key") && fault.line.trim_start().starts_with("- "),
        message: None,
        advice: |_| "align each '-' of a list with the first one".to_owned(),
    },
    Mistake {
        shows: |fault| fault.message.starts_with("mapping values") && indented_more(fault).is_some(),
        message: None,
        advice: |fault| {
            format!("begin this line below '{}', in the same column", indented_more(fault).unwrap_or_default())
        },
    },
    Mistake {
        shows: |fault| fault.message.starts_with("control characters") && is_no_text(fault.line),
        message: None,
        advice: |_| "this is not a text file: correct its path".to_owned(),
    },
    Mistake {
        shows: |fault| fault.message.starts_with("mapping values") && without_blank(fault.above).is_some(),
        message: None,
        advice: |fault| {
            let (key, value) = without_blank(fault.above).unwrap_or_default();
            format!("write ': ' behind the key of the line before: {key}: {value}")
        },
    },
];

/// The key of the line above that has a value already, if the line of the fault is a field that is
/// indented more.
fn indented_more<'t>(fault: &Fault<'t>) -> Option<&'t str> {
    let column = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let field = |line: &'t str| {
        let (key, value) = line.trim_start_matches(' ').split_once(':')?;
        let is_key =
            !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
        (is_key && (value.is_empty() || value.starts_with(' '))).then_some((key, value.trim()))
    };
    let ((above, value), _) = (field(fault.above)?, field(fault.line)?);
    let is_plain = !value.is_empty() && !value.starts_with(['"', '\'', '|', '>', '#', '{', '[', '&', '*', '!']);
    (is_plain && column(fault.line) > column(fault.above)).then_some(above)
}

/// Returns true if many characters of a line are none of a text.
fn is_no_text(line: &str) -> bool {
    let controls = line.chars().filter(|c| c.is_control() && !c.is_whitespace()).count();
    controls > 1 && controls * 10 > line.chars().count()
}

/// The key and value of a line without a blank after its colon.
fn without_blank(line: &str) -> Option<(&str, &str)> {
    let is_key = |key: &str| !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let (key, value) = line.trim().split_once(':')?;
    (is_key(key) && !value.is_empty() && !value.starts_with([' ', '/', '"', '\''])).then_some((key, value))
}

/// The message and the advice for a fault whose line shows a mistake.
pub(super) fn on_line(fault: &Fault<'_>) -> Option<(Option<&'static str>, String)> {
    let mistake = MISTAKES.iter().find(|mistake| (mistake.shows)(fault))?;
    Some((mistake.message, (mistake.advice)(fault)))
}

/// A part of the reader's message, and the advice.
const ADVICE: &[(&str, &str)] = &[
    ("a boolean: quote it", "put quotes around the key: YAML reads y, n, yes, no, on and off as true or false"),
    ("quote it", "put quotes around the key, as in \"8080\": or \"true\":"),
    ("\"apiVersion\" already defined", "write a line '---' between two objects, or remove one of the two entries"),
    ("\"kind\" already defined", "write a line '---' between two objects, or remove one of the two entries"),
    ("already defined", "remove one of the two entries"),
    ("duplicate", "remove one of the two"),
    ("is null", "write a key in front of the ':'"),
    ("is longer than", "shorten the key, or write it in one of the data's values"),
    ("contains the line break", "write the key on one line, without the character"),
    ("merges a value that is not a mapping", "rename the key, or put a mapping behind '<<'"),
    ("map merge requires", "put a mapping, or a list of mappings, behind '<<'"),
    ("as its tag says", "remove the tag, or correct the value"),
    ("that is not that of a string", "remove the tag"),
    ("invalid document separator", "write '---' in a line of its own, and the document below it"),
    ("<document start>", "write '---' in a line of its own in front of each further document"),
    ("document indicator", "close the quote that begins here, in front of the next document"),
    ("expected key", "align this line with the lines of its mapping, and close all quotes and brackets"),
    ("expected '-' indicator", "align each '-' of a list with the first one"),
    ("expected ','", "put a ',' between two items, and close the bracket"),
    ("expected node content", "write a value here, or put quotes around a text that begins with a sign"),
    ("a tab", "replace the tab with spaces"),
    (
        "mapping values are not allowed",
        "put quotes around a text that has ': ', or correct the indentation of the line",
    ),
    ("entries are not allowed", "write the list in a line of its own below the key"),
    ("keys are not allowed", "write the key in a line of its own"),
    ("not allowed in this context", "write this in a line of its own"),
    ("expected ':'", "write ': ' behind the key, and indent the lines of a long text below its key"),
    ("must be a scalar", "write a text as the key; put quotes around a value that begins with '{' or '['"),
    ("alphabetic or numeric", "put quotes around a text that begins with '*' or '&'"),
    ("cannot start any token", "put quotes around a text that begins with this character"),
    ("control character", "remove the character"),
    ("unexpected end of stream", "close the quote or bracket that begins here"),
    (
        "as null",
        "a replacement puts a text here, and the field keeps the type of the null: write a value in its place, as in \"\"",
    ),
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
