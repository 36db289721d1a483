//! Servers on this machine: files over HTTP, an OCI registry, git over HTTP.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// The request of a client.
pub struct Request {
    pub method: String,
    /// With its query.
    pub path: String,
    /// By lower-case name.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

/// The answer that a client gets: a status line, headers, content.
pub struct Reply(pub &'static str, pub Vec<(String, String)>, pub Vec<u8>);

impl Reply {
    pub fn ok(body: impl Into<Vec<u8>>) -> Reply {
        Reply("200 OK", Vec::new(), body.into())
    }

    pub fn not_found() -> Reply {
        Reply("404 Not Found", Vec::new(), b"nothing here".to_vec())
    }
}

/// Serves until the test ends, each connection in a thread of its own. Gives `127.0.0.1:<port>`.
pub fn serve(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> String {
    serve_until(Arc::default(), answer).0
}

/// The same until a connection comes after `is_over` was set. Gives the thread, too: the port is
/// closed when it ends.
fn serve_until(
    is_over: Arc<AtomicBool>,
    answer: impl Fn(&Request) -> Reply + Send + Sync + 'static,
) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answer = Arc::new(answer);
    let thread = std::thread::spawn(move || {
        for stream in listener.incoming() {
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            let answer = answer.clone();
            // A client may close the connection.
            std::thread::spawn(move || drop(one(stream.unwrap(), &*answer)));
        }
    });
    (address.to_string(), thread)
}

/// A plain file server: it gives the files of a directory, whatever the query says, until it is
/// dropped.
pub struct FileServer {
    pub url: String,
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl FileServer {
    pub fn start(directory: PathBuf) -> FileServer {
        let (asked, is_over): (Arc<Mutex<Vec<String>>>, Arc<AtomicBool>) = Default::default();
        let log = asked.clone();
        let (address, thread) = serve_until(is_over.clone(), move |request| {
            let path = request.path.split('?').next().unwrap().to_owned();
            // A client that was killed may have asked nothing.
            log.lock().unwrap().extend(Some(path.clone()).filter(|path| !path.is_empty()));
            std::fs::read(directory.join(path.trim_start_matches('/'))).map_or_else(|_| Reply::not_found(), Reply::ok)
        });
        FileServer { url: format!("http://{address}"), address, asked, is_over, thread: Some(thread) }
    }

    /// The paths that were asked for since this was last called.
    pub fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

impl Drop for FileServer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes the thread.
        drop(TcpStream::connect(&self.address));
        self.thread.take().unwrap().join().unwrap();
    }
}

fn one(mut stream: TcpStream, answer: &dyn Fn(&Request) -> Reply) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split(' ').map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").and_then(|n: &String| n.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let Reply(status, headers, body) = answer(&Request { method, path, headers, body });
    let mut head = format!("HTTP/1.1 {status}\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| name == "Content-Length") {
        head.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}\r\n").as_bytes())?;
    stream.write_all(&body)
}

/// Files by their path, which a test may change, and how often each was asked for.
#[derive(Clone, Default)]
pub struct Files {
    files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Files {
    pub fn put(&self, path: &str, content: impl Into<Vec<u8>>) {
        self.files.lock().unwrap().insert(path.to_owned(), content.into());
    }

    pub fn get(&self, path: &str) -> Reply {
        self.asked.lock().unwrap().push(path.to_owned());
        self.files.lock().unwrap().get(path).map_or_else(Reply::not_found, |content| Reply::ok(content.clone()))
    }

    /// How many requests there were since this was last asked.
    pub fn asked(&self) -> usize {
        std::mem::take(&mut *self.asked.lock().unwrap()).len()
    }

    /// The paths of the requests since this or `asked` was last called.
    pub fn paths(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }

    pub fn serve(&self) -> String {
        let files = self.clone();
        serve(move |request| files.get(&request.path))
    }
}

pub fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A registry with a repository: one plugin for each platform, behind a token that anybody gets.
pub fn registry(path: &'static str, tag: &'static str, plugins: &[(&str, &str, Vec<u8>)]) -> (String, Files) {
    let files = Files::default();
    let base = format!("/v2/{path}");
    files.put(&format!("{base}/tags/list?n=1000"), format!(r#"{{"name": "{path}", "tags": ["latest", "{tag}"]}}"#));
    let mut manifests = Vec::new();
    for (os, arch, content) in plugins {
        let digest = sha256(content);
        files.put(&format!("{base}/blobs/sha256:{digest}"), content.clone());
        let layer = format!(
            r#"{{"mediaType": "application/octet-stream", "digest": "sha256:{digest}", "size": {}}}"#,
            content.len()
        );
        let manifest =
            format!(r#"{{"schemaVersion": 2, "config": {{"digest": "sha256:0", "size": 2}}, "layers": [{layer}]}}"#);
        let sum = sha256(manifest.as_bytes());
        files.put(&format!("{base}/manifests/sha256:{sum}"), manifest);
        manifests.push(format!(
            r#"{{"digest": "sha256:{sum}", "size": 1, "platform": {{"os": "{os}", "architecture": "{arch}"}}}}"#
        ));
    }
    let index = format!(r#"{{"schemaVersion": 2, "manifests": [{}]}}"#, manifests.join(", "));
    files.put(&format!("{base}/manifests/{tag}"), index);
    files.put(&format!("/token?service=test&scope=repository:{path}:pull"), r#"{"token": "open"}"#);
    let served = files.clone();
    let address = serve(move |request| {
        let is_let_in = request.headers.get("authorization").is_some_and(|given| given == "Bearer open");
        if request.path.starts_with("/v2/") && !is_let_in {
            let host = &request.headers["host"];
            let wants =
                format!("Bearer realm=\"http://{host}/token\",service=\"test\",scope=\"repository:{path}:pull\"");
            return Reply("401 Unauthorized", vec![("WWW-Authenticate".to_owned(), wants)], Vec::new());
        }
        served.get(&request.path)
    });
    (address, files)
}

/// The repositories of a directory over HTTP, through git's own program for that. Other paths are
/// `files`.
#[expect(clippy::disallowed_methods, reason = "git's own server")]
pub fn git_server(directory: PathBuf, files: Files) -> String {
    serve(move |request| {
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        if !path.contains(".git/") {
            return files.get(&request.path);
        }
        let header = |name: &str| request.headers.get(name).cloned().unwrap_or_default();
        let mut child = Command::new("git")
            .arg("http-backend")
            .env("GIT_PROJECT_ROOT", &directory)
            .env("GIT_HTTP_EXPORT_ALL", "1")
            .env("PATH_INFO", path)
            .env("QUERY_STRING", query)
            .env("REQUEST_METHOD", &request.method)
            .env("CONTENT_TYPE", header("content-type"))
            .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
            .env("GIT_PROTOCOL", header("git-protocol"))
            // The repositories belong to whoever runs the tests.
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "safe.directory")
            .env("GIT_CONFIG_VALUE_0", "*")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&request.body).unwrap();
        let out = child.wait_with_output().unwrap().stdout;
        let end = out.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let head = String::from_utf8_lossy(&out[..end]).into_owned();
        // Git's program answers with a status only where something is wrong.
        let is_missing = head.contains("Status: ");
        let pairs = head.lines().filter_map(|line| line.split_once(": "));
        let headers = pairs.filter(|(name, _)| *name != "Status").map(|(n, v)| (n.to_owned(), v.to_owned()));
        let status = if is_missing { "404 Not Found" } else { "200 OK" };
        Reply(status, headers.collect(), out[end + 4..].to_vec())
    })
}
