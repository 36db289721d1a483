//! `plugin serve`: what the bundles of an environment hold, over HTTP (M04, M09, M11).
//!
//! Two mounts, each the aggregate of a directory of all bundles: `plugins` (`plugin/`, laid out as
//! a plugin home) and `schemas` (`schemas/`). `GET /v3/file_metadatas/<mount>?environment=<name>`
//! lists the files of one, `GET /v3/file_content/<mount>/<path>?environment=<name>` gives one.

use super::clients::{Client, Clients};
use super::listing::Listing;
use super::mounts::{Files, MOUNTS, files};
use crate::manager::policy::environment::Environment;
use percent_encoding::percent_decode_str;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How many clients may be connected at once.
const MOST_CLIENTS: usize = 256;

/// How long a client may take to ask.
const ASKING: Duration = Duration::from_secs(10);

/// How long a client may take none of its answer.
const TAKING: Duration = Duration::from_secs(30);

/// Most bytes of a request.
const MOST_REQUEST: usize = 16 << 10;

/// Answers whoever connects, for ever, each in a thread of its own. `log` is told each request and
/// how it was answered.
pub fn serve(listener: &TcpListener, environment: &Environment, log: &(dyn Fn(String) + Sync)) {
    let clients = Clients::new(MOST_CLIENTS);
    let server = &Server { environment, listed: MOUNTS.map(|_| Listing::default()) };
    std::thread::scope(|scope| {
        loop {
            let accepted = listener.accept().and_then(|(stream, _)| Ok((clients.enter(&stream)?, stream)));
            let Ok((client, stream)) = accepted else {
                // Too many open files, or a client that has gone: others go on.
                std::thread::sleep(Duration::from_millis(20));
                continue;
            };
            let answer = move || {
                if let Some(line) = one(&client, stream, server) {
                    log(line);
                }
            };
            // Where there is no thread for it, the connection is closed.
            let _ = std::thread::Builder::new().spawn_scoped(scope, answer);
        }
    })
}

/// Answers one request, and says how; nothing where nobody asked anything.
fn one(client: &Client<'_>, mut stream: TcpStream, server: &Server<'_>) -> Option<String> {
    stream.set_write_timeout(Some(TAKING)).ok()?;
    let deadline = Instant::now() + ASKING;
    let mut buffer = vec![0; MOST_REQUEST];
    let mut len = 0;
    let target = loop {
        let left = deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
        stream.set_read_timeout(Some(left)).ok()?;
        let read = stream.read(&mut buffer[len..]).ok()?;
        if read == 0 {
            return None;
        }
        len += read;
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut request = httparse::Request::new(&mut headers);
        match request.parse(&buffer[..len]) {
            Ok(httparse::Status::Complete(_)) if request.method == Some("GET") => {
                break request.path.unwrap_or_default().to_owned();
            }
            Ok(httparse::Status::Partial) if len < buffer.len() => {}
            Ok(httparse::Status::Complete(_)) => {
                let body = b"only GET is answered\n".as_slice();
                return reply(&mut stream, "a request", "405 Method Not Allowed", body, 21);
            }
            _ => return reply(&mut stream, "a request", "400 Bad Request", b"malformed request\n".as_slice(), 18),
        }
    };
    client.has_asked();
    match server.answer(&target) {
        Ok(Some(Answer::Text(text))) => reply(&mut stream, &target, "200 OK", text.as_bytes(), text.len() as u64),
        Ok(Some(Answer::File(file, size))) => reply(&mut stream, &target, "200 OK", file.take(size), size),
        Ok(None) => reply(&mut stream, &target, "404 Not Found", b"the file does not exist\n".as_slice(), 24),
        Err(_) => reply(&mut stream, &target, "500 Internal Server Error", b"it cannot be read\n".as_slice(), 18),
    }
}

fn reply(stream: &mut TcpStream, target: &str, status: &str, mut body: impl Read, size: u64) -> Option<String> {
    let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {size}\r\n\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    io::copy(&mut body, stream).ok()?;
    Some(format!("GET {target}: {status}"))
}

enum Answer {
    Text(String),
    File(File, u64),
}

struct Server<'e> {
    environment: &'e Environment,
    /// The files of each of [`MOUNTS`].
    listed: [Listing; 2],
}

impl Server<'_> {
    fn answer(&self, target: &str) -> io::Result<Option<Answer>> {
        let asked_at = Instant::now();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let asked = query.split('&').find_map(|pair| pair.strip_prefix("environment="));
        if asked.is_some_and(|asked| decoded(asked) != self.environment.name) {
            return Ok(None);
        }
        let mount = |name: &str| MOUNTS.iter().position(|(known, _)| *known == name);
        if let Some(name) = path.strip_prefix("/v3/file_metadatas/") {
            let Some(mount) = mount(name) else { return Ok(None) };
            let all = self.listed[mount].metadata(&*self.list(mount, asked_at)?)?;
            return Ok(Some(Answer::Text(serde_json::to_string(&all)?)));
        }
        let asked = path.strip_prefix("/v3/file_content/").and_then(|rest| rest.split_once('/'));
        let Some((Some(mount), path)) = asked.map(|(name, path)| (mount(name), path)) else { return Ok(None) };
        // Only a file that is listed is given: a path is looked up, and never joined.
        let path = decoded(path);
        let file = match self.listed[mount].last(&path).map(File::open) {
            Some(Ok(file)) => file,
            // It may be newer than the last list.
            _ => match self.list(mount, asked_at)?.get(&path) {
                Some(file) => File::open(file)?,
                None => return Ok(None),
            },
        };
        let size = file.metadata()?.len();
        Ok(Some(Answer::File(file, size)))
    }

    /// The files of a mount, listed after `asked_at`.
    fn list(&self, mount: usize, asked_at: Instant) -> io::Result<Arc<Files>> {
        self.listed[mount].since(asked_at, || files(self.environment, MOUNTS[mount].0))
    }
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}
