//! Messages: their frames on a stream, with limits, and the answers to those that cannot be read.

use lsp_server::{ErrorCode, Message, RequestId};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::error::Category;
use std::io::{self, BufRead, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// The largest message that is read, in bytes. A larger one is skipped and refused: an editor sends
/// the whole text of a file that it opens.
const LIMIT: u64 = 64 << 20;

/// The largest head of a message, in bytes. Editors send fewer than a hundred.
const HEAD_LIMIT: u64 = 8 << 10;

/// The memory that is reserved for a message at first: a false announcement of its size takes no
/// more.
const ROOM: u64 = 1 << 20;

/// A request or a notification, whose parameters are not read yet.
pub(crate) struct Incoming {
    /// `None` for a notification.
    pub id: Option<RequestId>,
    pub method: String,
    text: Vec<u8>,
}

/// The content of a frame.
pub(crate) enum Received {
    Call(Incoming),
    /// An answer of the editor: the server asks nothing.
    Answer,
    /// Not a message of the protocol: the reason, for the editor.
    Refused(ErrorCode, String),
    /// The stream has ended between two messages.
    End,
}

/// The fields that tell what a message is.
#[derive(Deserialize)]
struct Head {
    id: Option<RequestId>,
    method: Option<String>,
}

/// The parameters of a message.
#[derive(Deserialize)]
struct Call<P> {
    params: P,
}

impl Incoming {
    /// The parameters of a type. Half of a surrogate pair alone, which a text of an editor may
    /// have, counts as U+FFFD: it takes as many units of UTF-16, so that places stay the same.
    /// O(message).
    ///
    /// # Errors
    /// The parameters are of another type.
    pub(crate) fn params<P: DeserializeOwned>(&self) -> serde_json::Result<P> {
        let call = serde_json::from_slice::<Call<P>>(&self.text).or_else(|e| match without_half_pairs(&self.text) {
            Some(text) => serde_json::from_slice(&text),
            None => Err(e),
        })?;
        Ok(call.params)
    }
}

/// A JSON text in which each escape of half a surrogate pair has become one of U+FFFD; `None` if it
/// has none. O(text).
fn without_half_pairs(text: &[u8]) -> Option<Vec<u8>> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut mended = None;
    let mut at = 0;
    while let Some(found) = text[at..].iter().position(|&byte| byte == b'\\') {
        at += found;
        at += match (unit(at), unit(at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                mended.get_or_insert_with(|| text.to_vec())[at..at + 6].copy_from_slice(b"\\ufffd");
                6
            }
            // Any other escape: the backslash and the character behind it.
            _ => 2,
        };
        at = at.min(text.len());
    }
    mended
}

/// Reads the next message. O(message), in memory of its size.
///
/// # Errors
/// The stream ends inside a message, or the head of a message is malformed: the start of the next
/// message is unknown then.
pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Received> {
    let Some(size) = size(input)? else { return Ok(Received::End) };
    if size > LIMIT {
        let skipped = io::copy(&mut input.take(size), &mut io::sink())?;
        return match skipped < size {
            true => Err(cut(size)),
            false => Ok(Received::Refused(
                ErrorCode::InvalidRequest,
                format!("a message of {size} bytes is larger than {LIMIT} bytes"),
            )),
        };
    }
    let mut text = Vec::new();
    let no_memory = |_| io::Error::new(io::ErrorKind::OutOfMemory, format!("there is no memory for {size} bytes"));
    while (text.len() as u64) < size {
        let more = (size - text.len() as u64).min((text.len() as u64).max(ROOM));
        text.try_reserve_exact(usize::try_from(more).unwrap_or(usize::MAX)).map_err(no_memory)?;
        if input.take(more).read_to_end(&mut text)? == 0 {
            return Err(cut(size));
        }
    }
    Ok(received(text))
}

/// The size that the head of a message announces; `None` at the end of the stream.
fn size(input: &mut impl BufRead) -> io::Result<Option<u64>> {
    let malformed =
        |why: &str| io::Error::new(io::ErrorKind::InvalidData, format!("malformed head of a message: {why}"));
    let too_long = || malformed(&format!("it is longer than {HEAD_LIMIT} bytes"));
    let mut head = input.take(HEAD_LIMIT);
    let mut size = None;
    for line_number in 0.. {
        let mut line = Vec::new();
        if head.read_until(b'\n', &mut line)? == 0 {
            return match (head.limit(), line_number) {
                (0, _) => Err(too_long()),
                (_, 0) => Ok(None),
                _ => Err(malformed("the stream ends in it")),
            };
        }
        let line = match line.strip_suffix(b"\r\n") {
            Some(line) => line,
            None if head.limit() == 0 => return Err(too_long()),
            None => return Err(malformed("a line does not end with CR and LF")),
        };
        if line.is_empty() {
            break;
        }
        let line = std::str::from_utf8(line).map_err(|_| malformed("a line is not UTF-8"))?;
        let (name, value) = line.split_once(':').ok_or_else(|| malformed("a line has no ':'"))?;
        if name.eq_ignore_ascii_case("Content-Length") {
            let value = value.trim();
            let is_number = value.bytes().all(|b| b.is_ascii_digit());
            let number = value.parse().ok().filter(|_| is_number);
            let number = number.ok_or_else(|| malformed("Content-Length is not a number of bytes"))?;
            if size.replace(number).is_some_and(|before| before != number) {
                return Err(malformed("it has two values for Content-Length"));
            }
        }
    }
    size.map(Some).ok_or_else(|| malformed("Content-Length is missing"))
}

/// The error for a stream that ends inside a message.
fn cut(size: u64) -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, format!("the editor ended inside a message of {size} bytes"))
}

/// The kind of a message.
fn received(text: Vec<u8>) -> Received {
    // The parser would accept a list in place of an object.
    if text.iter().find(|b| !b.is_ascii_whitespace()) != Some(&b'{') {
        return Received::Refused(ErrorCode::InvalidRequest, "a message is not a JSON object".to_owned());
    }
    match serde_json::from_slice(&text) {
        Ok(Head { id, method: Some(method) }) => Received::Call(Incoming { id, method, text }),
        Ok(Head { id: Some(_), method: None }) => Received::Answer,
        Ok(_) => Received::Refused(ErrorCode::InvalidRequest, "a message has no method".to_owned()),
        Err(e) => {
            let code = match e.classify() {
                Category::Data => ErrorCode::InvalidRequest,
                _ => ErrorCode::ParseError,
            };
            Received::Refused(code, format!("a message cannot be read: {e}"))
        }
    }
}

/// The stream to the editor, which several threads write to.
pub(crate) struct Editor<W>(Arc<Mutex<W>>);

impl<W> Clone for Editor<W> {
    fn clone(&self) -> Self {
        Editor(Arc::clone(&self.0))
    }
}

impl<W: Write> Editor<W> {
    /// An editor that reads what is written to `output`.
    pub(crate) fn new(output: W) -> Self {
        Editor(Arc::new(Mutex::new(output)))
    }

    /// Sends a message. A message to an editor that is gone is lost, without an error.
    pub(crate) fn send(&self, message: &Message) {
        let _ = message.write(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Answers a message whose id is not known.
    pub(crate) fn refuse(&self, code: ErrorCode, message: &str) {
        let error = serde_json::json!({
            "jsonrpc": "2.0", "id": null, "error": {"code": code as i32, "message": message},
        });
        let text = error.to_string();
        let mut output = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = write!(output, "Content-Length: {}\r\n\r\n{text}", text.len()).and_then(|()| output.flush());
    }
}

#[cfg(test)]
mod tests {
    use super::{HEAD_LIMIT, LIMIT, Received, read};

    /// The messages of a stream, in short, up to its end or an error.
    fn all(stream: &str) -> Vec<String> {
        let (mut input, mut found) = (stream.as_bytes(), Vec::new());
        loop {
            found.push(match read(&mut input) {
                Ok(Received::Call(call)) => format!("{} {:?}", call.method, call.id.map(|id| id.to_string())),
                Ok(Received::Answer) => "answer".to_owned(),
                Ok(Received::Refused(code, why)) => format!("{} {why}", code as i32),
                Ok(Received::End) => return found,
                Err(e) => {
                    found.push(e.to_string());
                    return found;
                }
            });
        }
    }

    fn framed(text: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{text}", text.len())
    }

    #[test]
    fn half_of_a_surrogate_pair_is_one_unit_of_a_text() {
        for (json, text) in [
            (r"a\ud83db", "a\u{fffd}b"),
            (r"\udc00\uD83D\uDE00\ud83d", "\u{fffd}\u{1f600}\u{fffd}"),
            (r"\\ud83d \ud83d\ud83d", "\\ud83d \u{fffd}\u{fffd}"),
            (r"\ud83d\n\u0041", "\u{fffd}\nA"),
        ] {
            let stream = framed(&format!(r#"{{"method": "m", "params": ["{json}"]}}"#));
            let Ok(Received::Call(call)) = read(&mut stream.as_bytes()) else { panic!("{json}") };
            assert_eq!(call.params::<Vec<String>>().unwrap(), [text], "{json}");
        }
    }

    #[test]
    fn each_message_is_a_call_an_answer_or_refused() {
        let deep = format!(r#"{{"method": "m", "params": {}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        for (text, wanted) in [
            (r#"{"method": "m", "id": 1}"#, r#"m Some("1")"#),
            (r#"{"method": "m", "id": null}"#, "m None"),
            (&deep, "m None"),
            (r#"{"id": "x", "result": {}}"#, "answer"),
            ("{}", "-32600 a message has no method"),
            (r#"[1, "m"]"#, "-32600 a message is not a JSON object"),
            (r#"{"method": 5}"#, "-32600 a message cannot be read: invalid type"),
            ("{\"method\"", "-32700 a message cannot be read: EOF"),
            ("{\"method\": \"\u{1}\"}", "-32700 a message cannot be read: control character"),
        ] {
            let [first, then] = &all(&(framed(text) + &framed(r#"{"method": "next"}"#)))[..] else { panic!("{text}") };
            assert!(first.starts_with(wanted), "{first} is not {wanted}");
            assert_eq!(then, "next None");
        }
    }

    #[test]
    fn a_size_that_is_only_announced_takes_no_memory() {
        for size in ["4294967296", "9223372036854775808", "18446744073709551615"] {
            let ends = format!("the editor ended inside a message of {size} bytes");
            assert_eq!(all(&format!("Content-Length: {size}\r\n\r\n{{}}")), [ends]);
        }
        let large = " ".repeat(LIMIT as usize + 1);
        let [first, then] = &all(&(framed(&large) + &framed(r#"{"method": "next"}"#)))[..] else { panic!() };
        assert!(first.starts_with("-32600 a message of 67108865 bytes is larger than"), "{first}");
        assert_eq!(then, "next None");
    }

    #[test]
    fn a_head_that_is_none_ends_the_stream() {
        for (head, why) in [
            ("X".repeat(HEAD_LIMIT as usize), "it is longer than 8192 bytes"),
            ("A: b\r\n".repeat(HEAD_LIMIT as usize), "it is longer than 8192 bytes"),
            ("A: b\r\n".to_owned(), "the stream ends in it"),
            ("Content-Length: 1".to_owned(), "a line does not end with CR and LF"),
            ("Content-Length: -1\r\n\r\n".to_owned(), "Content-Length is not a number of bytes"),
            ("Content-Length: 18446744073709551616\r\n\r\n".to_owned(), "Content-Length is not a number of bytes"),
            ("Content-Length: +1\r\n\r\n".to_owned(), "Content-Length is not a number of bytes"),
            ("Content-Length: 1\r\nContent-Length: 2\r\n\r\n".to_owned(), "it has two values for Content-Length"),
            ("x\r\n\r\n".to_owned(), "a line has no ':'"),
            ("\r\n".to_owned(), "Content-Length is missing"),
        ] {
            assert_eq!(all(&head), [format!("malformed head of a message: {why}")], "{head:.40}");
        }
    }
}
