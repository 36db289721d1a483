//! The messages of a client: JSON-RPC 2.0, each in a line, with limits.

use serde_json::{Map, Value, json};
use std::io::{self, BufRead, Read, Write};
use std::sync::{Mutex, PoisonError};

/// The largest message that is read, in bytes. A larger one is skipped and refused.
const LIMIT: u64 = 4 << 20;

/// The protocol's codes of errors.
pub(crate) const PARSE_ERROR: i32 = -32700;
pub(crate) const INVALID_REQUEST: i32 = -32600;
pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
pub(crate) const INVALID_PARAMS: i32 = -32602;
/// A code of this server: too many calls wait.
pub(crate) const BUSY: i32 = -32000;

/// The error that answers a message.
#[derive(Debug, PartialEq)]
pub(crate) struct Refusal {
    pub code: i32,
    pub why: String,
}

impl Refusal {
    /// A refusal for a reason.
    pub(crate) fn new(code: i32, why: impl Into<String>) -> Self {
        Refusal { code, why: why.into() }
    }
}

/// A line of a client.
#[derive(Debug, PartialEq)]
pub(crate) enum Received {
    /// A request, or a notification if it has no id.
    Call { id: Option<Value>, method: String, params: Map<String, Value> },
    /// An answer: the server asks nothing.
    Answer,
    /// Not a message of the protocol.
    Refused(Refusal),
    /// The stream has ended.
    End,
}

/// Reads the next message; empty lines are skipped. O(message), in memory of its size.
///
/// # Errors
/// The stream cannot be read.
pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Received> {
    loop {
        let mut line = Vec::new();
        if input.take(LIMIT + 1).read_until(b'\n', &mut line)? == 0 {
            return Ok(Received::End);
        }
        if line.len() as u64 > LIMIT {
            if line.last() != Some(&b'\n') {
                skip_line(input)?;
            }
            let why = format!("a message is larger than {LIMIT} bytes");
            return Ok(Received::Refused(Refusal::new(INVALID_REQUEST, why)));
        }
        if !line.trim_ascii().is_empty() {
            return Ok(received(&line));
        }
    }
}

/// Skips the rest of a line.
fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    input.skip_until(b'\n').map(drop)
}

/// The kind of a message.
fn received(line: &[u8]) -> Received {
    let refused = |why: &str| Received::Refused(Refusal::new(INVALID_REQUEST, why));
    let mut message = match serde_json::from_slice(line) {
        Ok(Value::Object(message)) => message,
        Ok(Value::Array(_)) => return refused("batches are not supported: send each message in a line of its own"),
        Ok(_) => return refused("a message is not a JSON object"),
        Err(e) => return Received::Refused(Refusal::new(PARSE_ERROR, format!("a message is not valid JSON: {e}"))),
    };
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return refused("'jsonrpc' is not \"2.0\"");
    }
    let id = message.remove("id");
    if !matches!(id, None | Some(Value::String(_) | Value::Number(_))) {
        return refused("'id' is neither a string nor a number");
    }
    let method = match message.remove("method") {
        Some(Value::String(method)) => method,
        None if id.is_some() && (message.contains_key("result") || message.contains_key("error")) => {
            return Received::Answer;
        }
        _ => return refused("'method' is not a string"),
    };
    match message.remove("params") {
        None => Received::Call { id, method, params: Map::new() },
        Some(Value::Object(params)) => Received::Call { id, method, params },
        Some(_) => refused("'params' is not an object"),
    }
}

/// The stream to the client, which several threads write to.
pub(crate) struct Client<W>(Mutex<W>);

impl<W: Write> Client<W> {
    /// A client that reads what is written to `output`.
    pub(crate) fn new(output: W) -> Self {
        Client(Mutex::new(output))
    }

    /// Answers a request. An answer to a client that is gone is lost, without an error.
    pub(crate) fn answer(&self, id: &Value, result: Result<Value, Refusal>) {
        let message = match result {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(Refusal { code, why }) => {
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": why}})
            }
        };
        let mut output = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = output.write_all(format!("{message}\n").as_bytes()).and_then(|()| output.flush());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All messages of a stream, each in short.
    #[track_caller]
    fn check(stream: &[u8], expect: &[&str]) {
        let (mut input, mut found) = (stream, Vec::new());
        loop {
            found.push(match read(&mut input).unwrap() {
                Received::End => break,
                Received::Answer => "answer".to_owned(),
                Received::Refused(Refusal { code, why }) => format!("{code} {why}"),
                Received::Call { id, method, params } => {
                    format!("{} {method} {}", id.unwrap_or_default(), Value::Object(params))
                }
            });
        }
        assert_eq!(found, expect);
    }

    #[test]
    fn messages_are_lines() {
        check(
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n\n  \n\
              {\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"a\":[1]}}\n\
              {\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{}}\n\
              {\"jsonrpc\":\"2.0\",\"id\":\"y\",\"method\":\"last\"}",
            &["1 ping {}", "null m {\"a\":[1]}", "answer", "\"y\" last {}"],
        );
    }

    #[test]
    fn what_is_not_a_message_is_refused_and_the_next_one_is_read() {
        for (line, why) in [
            ("[]", "-32600 batches are not supported: send each message in a line of its own"),
            ("1", "-32600 a message is not a JSON object"),
            ("{}", "-32600 'jsonrpc' is not \"2.0\""),
            (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, "-32600 'id' is neither a string nor a number"),
            (r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, "-32600 'id' is neither a string nor a number"),
            (r#"{"jsonrpc":"2.0","id":1}"#, "-32600 'method' is not a string"),
            (r#"{"jsonrpc":"2.0","id":1,"method":1}"#, "-32600 'method' is not a string"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[]}"#, "-32600 'params' is not an object"),
        ] {
            check(format!("{line}\n{{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"n\"}}\n").as_bytes(), &[why, "2 n {}"]);
        }
        let deep = "[".repeat(100_000);
        for broken in [b"{" as &[u8], b"\xff\xfe", deep.as_bytes()] {
            let mut input = broken;
            assert!(matches!(read(&mut input).unwrap(), Received::Refused(Refusal { code: PARSE_ERROR, .. })));
        }
    }

    #[test]
    fn a_message_that_is_too_large_is_skipped() {
        let large = format!("\"{}\"", "x".repeat(LIMIT as usize));
        let stream = format!("{large}\n{{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"n\"}}\n{large}");
        let refused = "-32600 a message is larger than 4194304 bytes";
        check(stream.as_bytes(), &[refused, "2 n {}", refused]);
    }
}
