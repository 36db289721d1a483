//! Advice for texts that are not valid YAML.

/// The beginning or another part of the reader's message, and the advice.
const ADVICE: &[(&str, &str)] = &[
    ("quote it", "put quotes around the key, as in \"8080\": or \"true\":"),
    ("already defined", "remove one of the two entries"),
    ("a mapping key is null", "write a key in front of the ':'"),
    ("is null", "write a key in front of the ':'"),
    ("is longer than", "shorten the key, or write it in one of the data's values"),
    ("contains the line break", "write the key on one line, without the character"),
    ("asks for a merge", "rename the key, or put a mapping behind '<<'"),
    ("invalid document separator", "write '---' in a line of its own, and the document below it"),
    ("did not find expected key", "align this line with the lines of its mapping, and close all quotes and brackets"),
    ("did not find expected '-' indicator", "align each '-' of a list with the first one"),
    ("did not find expected ','", "put a ',' between two items, and close the bracket"),
    ("did not find expected node content", "write a value here, or put quotes around a text that begins with a sign"),
    ("tab", "replace the tab with spaces"),
    (
        "mapping values are not allowed",
        "put quotes around a text that has ': ', or correct the indentation of the line",
    ),
    ("could not find expected ':'", "write ': ' behind the key, and indent the lines of a long text below its key"),
    ("cannot start any token", "put quotes around a text that begins with this character"),
    ("control characters", "remove the character"),
    ("unexpected end of stream", "close the quote or bracket that begins here"),
    ("cannot decode", "remove the tag, or correct the value"),
    ("unknown anchor", "define the anchor with '&' in front of its use, in the same document"),
    ("no such number", "put quotes around the value"),
    ("", "look at this line and the one before it: indentation, quotes, brackets"),
];

/// The advice for a message of the reader.
pub fn on_yaml(message: &str) -> &'static str {
    ADVICE.iter().find(|(part, _)| message.contains(part)).map_or("", |(_, advice)| advice)
}

/// The advice for a line that is a template of Helm.
pub fn on_line(line: &str) -> Option<&'static str> {
    let is_template = line.find("{{").is_some_and(|start| line[start..].contains("}}"));
    is_template.then_some("this is a template of Helm: render it first, or list its chart under 'helmCharts'")
}
