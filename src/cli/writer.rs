//! The only writer of the command: all its output to stdout and stderr is written here, resources
//! too. Texts become [`Shown`] first: invisible characters are escaped, the secrets of URLs are
//! masked, and no line is a command of CI. Resources are data, and are written as they are.

use crate::flags::look::ErrorFormat;
use crate::{colors, status_line};
use rustomize_base::shown;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The form of all output on stderr, once the flags are read.
static FORMAT: OnceLock<ErrorFormat> = OnceLock::new();

/// The texts that are neither errors nor warnings, for the document of [`ErrorFormat::Sarif`].
static NOTES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The state of the last line on stderr.
static LINE: Mutex<Line> = Mutex::new(Line::Whole);

/// The number of the system's error on Windows for a pipe whose other end was closed.
const PIPE_NOT_CONNECTED: i32 = 233;

/// Returns true for the error of a pipe that nobody reads any more.
pub(super) fn is_closed_pipe(fault: &io::Error) -> bool {
    fault.kind() == io::ErrorKind::BrokenPipe || cfg!(windows) && fault.raw_os_error() == Some(PIPE_NOT_CONNECTED)
}

/// The state of a line on stderr. A line of another program may lack its end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    Whole,
    /// The program may continue the line.
    Open,
    /// The program has ended: the next text begins a new line.
    Ended,
}

/// The largest number of notes in the document of [`ErrorFormat::Sarif`].
const MOST_NOTES: usize = 1000;

/// A text that may be written.
#[derive(Debug)]
pub(super) struct Shown(String);

impl Shown {
    /// A text of several lines. The secrets of URLs in it are masked.
    pub(super) fn message(text: &str) -> Shown {
        Shown::values(&shown::masked(text))
    }

    /// A text of several lines with values of resources, whose URLs stay as they are. Names of
    /// files and roots in it were masked by [`shown::masked`].
    pub(super) fn values(text: &str) -> Shown {
        Shown(shown::tamed(&shown::lines(text)).into_owned())
    }

    /// As [`Shown::values`], without a copy of a text that stays as it is.
    pub(super) fn owned_values(text: String) -> Shown {
        let changed = match shown::lines(&text) {
            Cow::Owned(lines) => Some(shown::tamed(&lines).into_owned()),
            Cow::Borrowed(lines) => match shown::tamed(lines) {
                Cow::Owned(tamed) => Some(tamed),
                Cow::Borrowed(_) => None,
            },
        };
        Shown(changed.unwrap_or(text))
    }

    /// A message whose further lines are indented: none of them looks like another message.
    pub(super) fn item(text: &str) -> Shown {
        let mut lines = text.split('\n');
        let mut out = lines.next().unwrap_or_default().to_owned();
        for line in lines {
            let indent = if line.is_empty() || line.starts_with([' ', '\t']) { "" } else { "  " };
            out.extend(["\n", indent, line]);
        }
        Shown::message(&out)
    }

    /// As [`Shown::values`], for a text with colours. All its parts have passed [`shown::line`], so
    /// the only control characters are those of colours.
    pub(super) fn colored(text: &str) -> Shown {
        let mut out = String::with_capacity(text.len());
        let mut parts = text.split("\x1b[");
        out.push_str(&shown::lines(parts.next().unwrap_or_default()));
        for part in parts {
            let end = part.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(part.len());
            match part[end..].starts_with('m') {
                true => out.extend(["\x1b[", &part[..end]]),
                false => out.extend(["\\u{1b}[", &part[..end]]),
            }
            out.push_str(&shown::lines(&part[end..]));
        }
        Shown(shown::tamed(&out).into_owned())
    }

    /// A command of GitHub Actions: its name, its properties and its text.
    pub(super) fn github(name: &str, properties: &[(&str, String)], text: &str) -> Shown {
        let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
        let property = |(name, text): &(&str, String)| {
            let text = data(&shown::line(&shown::masked(text))).replace(':', "%3A").replace(',', "%2C");
            format!("{name}={text}")
        };
        let properties: Vec<String> = properties.iter().map(property).collect();
        let Shown(text) = Shown::message(text);
        Shown(format!("::{name} {}::{}", properties.join(","), data(&text)))
    }

    /// A value in one line, for programs. The secrets of its URLs are masked.
    pub(super) fn json(value: Value) -> Shown {
        Shown(shown::json(masked(value).to_string()))
    }
}

/// A value without the secrets of the URLs in its texts.
pub(super) fn masked(value: Value) -> Value {
    match value {
        Value::String(text) => match shown::masked(&text) {
            Cow::Borrowed(_) => Value::String(text),
            Cow::Owned(masked) => Value::String(masked),
        },
        Value::Array(items) => items.into_iter().map(masked).collect(),
        Value::Object(members) => {
            let member = |(name, value): (String, Value)| (shown::masked(&name).into_owned(), masked(value));
            Value::Object(members.into_iter().map(member).collect())
        }
        other => other,
    }
}

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Decides the form of everything that is written to stderr. The first call counts.
pub(super) fn decide(format: ErrorFormat) {
    let _ = FORMAT.set(format);
}

fn format() -> ErrorFormat {
    FORMAT.get().copied().unwrap_or_default()
}

/// Returns true if stdout is a terminal.
pub(super) fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Returns true if stdout is a terminal with colours.
pub(super) fn stdout_shows_colors() -> bool {
    stdout_is_terminal() && colors::are_on_stdout()
}

/// The number of columns of stdout, if it is a terminal.
pub(super) fn stdout_columns() -> Option<usize> {
    let (columns, _) = terminal_size::terminal_size_of(io::stdout()).filter(|_| stdout_is_terminal())?;
    Some(usize::from(columns.0))
}

/// Returns true if stderr is a terminal.
pub(super) fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Returns true if stderr is a terminal with colours.
pub(super) fn stderr_shows_colors() -> bool {
    stderr_is_terminal() && colors::are_on_stderr()
}

/// Returns true if stderr is a terminal that can erase a line. Windows has no TERM.
pub(super) fn stderr_erases_lines() -> bool {
    let term = std::env::var_os("TERM").filter(|term| !term.is_empty());
    stderr_shows_colors() && term.map_or(cfg!(windows), |term| term != "dumb")
}

/// Writes a message and a line end to stderr. The caller has given the message the form that the
/// flags ask for. An error of stderr is ignored.
pub(super) fn report(message: &Shown) {
    write(&format!("{}\n", message.0), Line::Whole);
}

/// Writes a text to stderr, and notes the state of the line after it. The text begins a new line,
/// unless it continues the output of a program.
fn write(text: &str, end: Line) {
    let mut line = LINE.lock().unwrap_or_else(PoisonError::into_inner);
    let is_part = *line == Line::Open && end == Line::Open;
    let before = if *line == Line::Whole || is_part { "" } else { "\n" };
    let _ = status_line::aside(|| io::stderr().lock().write_all(format!("{before}{text}").as_bytes()));
    *line = end;
}

/// Writes lines to stderr that are neither an error nor a warning. In a format for programs they
/// are an event.
pub(super) fn say(text: &str) {
    event("note", text);
}

/// Shows the stderr of another program: whole lines, a part of a long line, or nothing at the end
/// of its last line.
pub(super) fn relay(bytes: &[u8]) {
    let text = shown::bytes(bytes);
    if matches!(format(), ErrorFormat::Json | ErrorFormat::Sarif) {
        return text.lines().for_each(|line| event("stderr", line));
    }
    let is_open = {
        let mut line = LINE.lock().unwrap_or_else(PoisonError::into_inner);
        if bytes.is_empty() && *line == Line::Open {
            *line = Line::Ended;
        }
        *line == Line::Open
    };
    match text.rsplit_once('\n') {
        _ if text.is_empty() => {}
        // The end of a long line, and whole lines.
        Some((whole, "")) if is_open => {
            write(&Shown::message(whole).0, Line::Open);
            write("", Line::Whole);
        }
        Some((whole, "")) => report(&Shown::message(whole)),
        _ => write(&Shown::message(&text).0, Line::Open),
    }
}

fn event(name: &str, text: &str) {
    match format() {
        ErrorFormat::Json => report(&Shown::json(json!({"event": name, "text": text}))),
        ErrorFormat::Sarif => {
            let mut notes = NOTES.lock().unwrap_or_else(PoisonError::into_inner);
            if notes.len() < MOST_NOTES {
                notes.push(text.to_owned());
            }
        }
        ErrorFormat::Human | ErrorFormat::Short | ErrorFormat::Github => report(&Shown::message(text)),
    }
}

/// Takes the texts for the document of [`ErrorFormat::Sarif`].
pub(super) fn take_notes() -> Vec<String> {
    std::mem::take(&mut *NOTES.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Asks a question on stderr, without a line end: the answer of the user ends the line.
pub(super) fn ask(question: &str) {
    write(&Shown::message(question).0, Line::Whole);
}

/// Writes a text to stdout.
///
/// # Errors
/// stdout is closed.
pub(super) fn print(text: &Shown) -> io::Result<()> {
    data([text.0.as_str()])
}

/// Writes a value to stdout, in several lines, for programs. The secrets of its URLs are masked.
///
/// # Errors
/// stdout is closed.
pub(super) fn print_json(value: Value) -> io::Result<()> {
    print_values_json(&masked(value))
}

/// As [`print_json`], for a value with values of resources, whose URLs stay as they are.
///
/// # Errors
/// stdout is closed.
pub(super) fn print_values_json(value: &Value) -> io::Result<()> {
    data([shown::json(format!("{value:#}\n"))])
}

/// Writes resources, or a file for another program, to stdout as they are.
///
/// # Errors
/// stdout is closed.
pub(super) fn data<P: AsRef<[u8]>>(pieces: impl IntoIterator<Item = P>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    pieces.into_iter().try_for_each(|piece| out.write_all(piece.as_ref()))?;
    out.flush()
}

/// The stdout for a protocol, whose messages are data for a program.
pub(super) fn protocol() -> io::Stdout {
    io::stdout()
}

/// Prints the answer of the parser of arguments: help to stdout, an error to stderr.
pub(super) fn usage(answer: &clap::Error) {
    let plain = answer.render().to_string();
    let is_error = answer.use_stderr();
    if Shown::message(&plain).0 == plain && !is_error {
        // clap's own print keeps the colours.
        let _ = answer.print();
    } else if Shown::message(&plain).0 == plain && stderr_shows_colors() {
        report(&Shown::colored(&as_error(&answer.render().ansi().to_string())));
    } else {
        report(&Shown::message(&as_error(&plain)));
    }
}

/// An error of clap, which begins as all errors begin here.
fn as_error(text: &str) -> String {
    text.trim_end().replacen("error:", "Error:", 1)
}

#[cfg(test)]
mod tests {
    use super::{Shown, masked};
    use serde_json::json;

    #[test]
    fn colours_are_all_that_a_colored_text_keeps() {
        let Shown(text) = Shown::colored("\x1b[1;31ma\x1b[0m \x1b[2J \x1b]0;x\x07 \x1b[\u{9b}m\n::b");
        assert_eq!(text, "\x1b[1;31ma\x1b[0m \\u{1b}[2J \\u{1b}]0;x\\u{7} \\u{1b}[\\u{9b}m\n\\u{3a}:b");
    }

    #[test]
    fn a_command_of_github_has_one_line_and_our_name() {
        let Shown(text) = Shown::github("error", &[("file", "a,b:c\n::x".to_owned())], "1\n::stop\u{1b} 5%");
        assert_eq!(text, "::error file=a%2Cb%3Ac\\n%3A%3Ax::1%0A\\u{3a}:stop\\u{1b} 5%25");
    }

    #[test]
    fn urls_in_values_for_programs_are_masked() {
        let value = masked(json!({"https://u:p@h": ["https://h/?sig=x", 1, null]}));
        assert_eq!(value, json!({"https://...@h": ["https://h/?sig=...", 1, null]}));
    }
}
