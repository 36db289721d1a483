//! One call: runs a command of this program, and makes a bounded result of its output.

use super::tools::ToolCommand;
use rustomize_base::host::Host;
use rustomize_process::{Children, Failed, Failure, Launch, Limits, Stderr};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The longest time that a call takes.
const TIMEOUT: Duration = Duration::from_mins(2);

/// The largest output of a command, in bytes: a result is a part of it.
const MOST_OUTPUT: u64 = 64 << 20;

/// The largest result, in bytes. A language model reads each of them.
const MOST_RESULT: usize = 40_000;

/// The largest text of the messages that a result has as data, too, in bytes.
const MOST_DATA: usize = 20_000;

/// Runs commands for a client.
pub(crate) struct Caller<'a> {
    /// The program whose commands are run.
    pub program: &'a Path,
    /// The working directory of the commands.
    pub directory: &'a Path,
    /// The variable that tells a command which directories it may read, and its value.
    pub reads_below: (&'static str, OsString),
}

impl Caller<'_> {
    /// Runs the command of a tool as one of `children`, and returns the result of the tool.
    pub(crate) fn call(&self, ToolCommand { words, offset }: ToolCommand, children: &Children) -> Value {
        let stderr = Arc::new(Collected::default());
        let (name, directories) = &self.reads_below;
        let launch = Launch::new(self.program)
            .args(words)
            .in_directory(self.directory)
            .variables([((*name).into(), directories.clone())])
            .limited(Limits { timeout: Some(TIMEOUT), output: MOST_OUTPUT, ..Limits::default() });
        let launch = Launch { stderr: Stderr::Relayed(Arc::clone(&stderr) as Arc<dyn Host>), ..launch };
        let (output, failure) = match children.run(launch) {
            Ok(output) => (output, None),
            Err(Failed { failure, stdout, .. }) => (stdout, Some(failure)),
        };
        let messages = Messages::read(&stderr.take());
        let has_failed = match &failure {
            None => false,
            // `lint` and `diff` say so that they have found something.
            Some(Failure::Status(_)) => messages.have_error || (output.is_empty() && messages.data.is_empty()),
            Some(_) => true,
        };
        let mut text = String::from_utf8_lossy(&output).into_owned();
        if let Some(why) = failure.filter(|_| has_failed).and_then(in_words) {
            text.push_str(&format!("error: {why}\n"));
        }
        text.push_str(&messages.text);
        if text.is_empty() {
            text.push_str("the result is empty\n");
        }
        result(&text, offset, has_failed, messages.data)
    }
}

/// The result of a tool that was not run.
pub(crate) fn refused(why: &str) -> Value {
    result(&format!("error: {why}\n"), 0, true, Vec::new())
}

/// A result with a part of a text.
fn result(text: &str, offset: usize, has_failed: bool, messages: Vec<Value>) -> Value {
    let text = part(text, offset, MOST_RESULT);
    let mut result = json!({"content": [{"type": "text", "text": text}], "isError": has_failed});
    if !messages.is_empty() {
        result["structuredContent"] = json!({"messages": messages});
    }
    result
}

/// The part of a text from an offset on, which ends at the end of a line, if that is near; and a
/// line that says how much is missing, and how to get it.
fn part(text: &str, offset: usize, most: usize) -> String {
    let start = text.floor_char_boundary(offset);
    let end = text.floor_char_boundary(start.saturating_add(most));
    let shown = &text[start..end];
    let shown = match shown.rfind('\n') {
        Some(line_end) if end < text.len() && line_end >= most / 2 => &shown[..=line_end],
        _ => shown,
    };
    let end = start + shown.len();
    match (start, text.len() - end) {
        (0, 0) => shown.to_owned(),
        (_, 0) => format!("{shown}\n[bytes {start} to {end}: this is the end]\n"),
        (_, left) => format!(
            "{shown}\n[cut: bytes {start} to {end} of {} are shown; for the other {left}, call again with \"offset\": {end}]\n",
            text.len()
        ),
    }
}

/// The messages of a command.
#[derive(Default)]
struct Messages {
    /// As people read them.
    text: String,
    /// As data, while the text is short.
    data: Vec<Value>,
    have_error: bool,
}

impl Messages {
    /// Reads the lines of stderr, which are JSON objects. Another line is a part of the text.
    fn read(stderr: &str) -> Messages {
        let mut messages = Messages::default();
        for line in stderr.lines().filter(|line| !line.is_empty()) {
            match serde_json::from_str::<Value>(line) {
                Ok(message) if message["severity"].is_string() => messages.add(message),
                Ok(event) if event["text"].is_string() => messages.line("", &event["text"]),
                _ => messages.line("", &Value::from(line)),
            }
        }
        messages
    }

    /// Adds a message with its place, its causes and its hints.
    fn add(&mut self, message: Value) {
        self.have_error |= message["severity"] == "error";
        let place: Vec<String> = ["file", "line", "column"]
            .into_iter()
            .filter_map(|part| match &message[part] {
                Value::String(text) => Some(text.clone()),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            })
            .collect();
        let place = if place.is_empty() { String::new() } else { format!("{}: ", place.join(":")) };
        let word = |name: &str| message[name].as_str().unwrap_or_default();
        self.text.push_str(&format!("{place}{}: {} [{}]\n", word("severity"), word("message"), word("code")));
        for (name, start) in [("resource", "  in "), ("field", "  in field ")] {
            if message[name].is_string() {
                self.line(start, &message[name]);
            }
        }
        let links = message["chain"].as_array().into_iter().flatten().map(|link| ("  ", &link["text"]));
        let hints = message["hints"].as_array().into_iter().flatten().map(|hint| ("  hint: ", hint));
        links.chain(hints).for_each(|(start, text)| self.line(start, text));
        if self.text.len() <= MOST_DATA {
            self.data.push(message);
        }
    }

    fn line(&mut self, start: &str, text: &Value) {
        self.text.push_str(&format!("{start}{}\n", text.as_str().unwrap_or_default()));
    }
}

/// The reason why a command has no result; `None` for one that has said it.
fn in_words(failure: Failure) -> Option<String> {
    match failure {
        Failure::Status(_) => None,
        Failure::NotStarted(e) => Some(format!("the command cannot be started: {e}")),
        Failure::Ended(status) => Some(format!("the command ended: {status}")),
        Failure::TimedOut(limit) => {
            let seconds = limit.as_secs();
            Some(format!("the call took longer than {seconds} s\n  hint: name a directory with fewer kustomizations"))
        }
        Failure::TooMuchOutput(limit) => {
            Some(format!("the result is larger than {limit} bytes\n  hint: name a smaller kustomization"))
        }
        Failure::Io(e) => Some(format!("talking to the command failed: {e}")),
    }
}

/// The stderr of a command.
#[derive(Debug, Default)]
struct Collected(Mutex<Vec<u8>>);

impl Collected {
    fn take(&self) -> String {
        let bytes = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Host for Collected {
    fn relay(&self, bytes: &[u8]) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if (all.len() + bytes.len()) as u64 <= MOST_OUTPUT {
            all.extend_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Messages, part};

    #[test]
    fn a_result_is_cut_at_the_end_of_a_line() {
        let text = "one two\nthree\nfour\n";
        assert_eq!(part(text, 0, 100), text);
        let first = part(text, 0, 16);
        assert!(
            first.starts_with("one two\nthree\n\n[cut: bytes 0 to 14 of 19 are shown; for the other 5, "),
            "{first}"
        );
        assert!(first.ends_with("call again with \"offset\": 14]\n"), "{first}");
        assert_eq!(part(text, 14, 16), "four\n\n[bytes 14 to 19: this is the end]\n");
        assert_eq!(part(text, 99, 16), "\n[bytes 19 to 19: this is the end]\n");
        // A line that is longer than a result, and a character at its end.
        assert!(part("ää", 1, 3).starts_with("ä\n[cut: bytes 0 to 2 of 4"), "{}", part("ää", 1, 3));
    }

    #[test]
    fn messages_have_place_and_hint() {
        let stderr = concat!(
            r#"{"severity":"error","code":"no-match","message":"m","file":"a.yaml","line":2,"column":3,"#,
            r#""field":"f","resource":null,"chain":[{"text":"c"}],"hints":["h"]}"#,
            "\n{\"event\":\"note\",\"text\":\"n\"}\nplain\n"
        );
        let messages = Messages::read(stderr);
        assert_eq!(messages.text, "a.yaml:2:3: error: m [no-match]\n  in field f\n  c\n  hint: h\nn\nplain\n");
        assert!(messages.have_error && messages.data.len() == 1);
    }
}
