//! kustomize, as a server of builds: `.ci/oracle` puts its program into target/oracle.
//!
//! Starting kustomize takes ten times as long as a small build. The server builds a tree that it
//! gets as a message, without a disk, some 1,500 times a second.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The files of a tree by their path, such as `/app/kustomization.yaml`.
pub type Files = BTreeMap<String, Vec<u8>>;

/// The beginning of an error if the server ended, or did not answer in time: kustomize said nothing
/// then.
pub const CRASH: &str = "the reference crashed: ";

/// How long a build may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program of the newest version, if `.ci/oracle` has built it here.
pub fn kustomize() -> PathBuf {
    oracle(rustomize::Compat::default().version()).join("kustomize")
}

/// The directory with the programs of a version of kustomize.
pub fn oracle(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/oracle").join(version)
}

/// A server of kustomize's builds. It is started again after a crash.
pub struct Server {
    version: String,
    program: PathBuf,
    process: Option<Process>,
}

struct Process {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<Vec<u8>>,
}

#[derive(Serialize)]
struct Request<'t> {
    args: &'t [&'t str],
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<BTreeMap<&'t str, String>>,
    fresh: bool,
}

#[derive(Deserialize)]
struct Answer {
    /// Absent if nothing was printed.
    output: Option<String>,
    #[serde(default)]
    error: String,
    failed: bool,
}

impl Server {
    /// The server of the newest version; `None` if `.ci/oracle` has not been run here.
    pub fn find() -> Option<Server> {
        Server::of(rustomize::Compat::default().version())
    }

    /// The server of a version, as in `5.8.1`; `None` if `.ci/oracle` has not built it here.
    pub fn of(version: &str) -> Option<Server> {
        let program = oracle(version).join("kustomize-server");
        program.is_file().then_some(Server { version: version.to_owned(), program, process: None })
    }

    /// The server, if results are to be recorded again: `UPDATE` is set.
    pub fn to_record_with() -> Option<Server> {
        std::env::var_os("UPDATE").and_then(|_| Server::find())
    }

    /// Builds a tree that is not on disk: its bytes, or its error. The last argument is the
    /// directory.
    ///
    /// A tree that names schemas of its own is built with fresh ones, which takes a hundred times
    /// as long.
    pub fn build(&mut self, files: &Files, args: &[&str]) -> Result<Vec<u8>, String> {
        // Names of fields may have letters of any case, and UTF-16 has a zero beside each letter.
        let letters = |text: &[u8]| text.iter().filter(|&&b| b != 0).map(u8::to_ascii_lowercase).collect::<Vec<u8>>();
        let has = |word: &str| files.values().any(|text| String::from_utf8_lossy(&letters(text)).contains(word));
        let encoded = files.iter().map(|(path, text)| (path.as_str(), BASE64.encode(text))).collect();
        self.answer(&Request { args, files: Some(encoded), fresh: has("openapi") || has("crds") })
    }

    /// Builds a directory on disk: its bytes, or its error. The last argument is the directory.
    pub fn build_directory(&mut self, args: &[&str]) -> Result<Vec<u8>, String> {
        self.answer(&Request { args, files: None, fresh: true })
    }

    fn answer(&mut self, request: &Request<'_>) -> Result<Vec<u8>, String> {
        let answer = match self.ask(request) {
            Ok(answer) => answer,
            Err(why) => {
                self.stop();
                return Err(format!("{CRASH}{why}"));
            }
        };
        if answer.failed {
            return Err(answer.error);
        }
        let output = BASE64.decode(answer.output.unwrap_or_default()).unwrap();
        // Old versions know theirs only in the program of kustomize itself.
        match String::from_utf8(output) {
            Ok(text) => Ok(text.replace("kustomize-(devel)", &format!("kustomize-v{}", self.version)).into_bytes()),
            Err(e) => Ok(e.into_bytes()),
        }
    }

    fn ask(&mut self, request: &Request<'_>) -> Result<Answer, String> {
        let process = self.process.get_or_insert_with(|| Process::start(&self.program));
        let mut line = serde_json::to_vec(request).unwrap();
        line.push(b'\n');
        process.requests.write_all(&line).map_err(|e| e.to_string())?;
        let answer = process.answers.recv_timeout(PATIENCE).map_err(|e| e.to_string())?;
        serde_json::from_slice(&answer).map_err(|e| e.to_string())
    }

    /// Ends the process, as a crash of kustomize does. The next build notices it.
    pub fn kill(&mut self) {
        if let Some(process) = &mut self.process {
            let _ = process.child.kill();
            let _ = process.child.wait();
        }
    }

    fn stop(&mut self) {
        self.kill();
        self.process = None;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Process {
    fn start(program: &Path) -> Process {
        #[expect(clippy::disallowed_methods, reason = "kustomize is what we compare with")]
        let mut command = Command::new(program);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let requests = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (send, answers) = channel();
        std::thread::spawn(move || {
            loop {
                let mut line = Vec::new();
                let read = output.read_until(b'\n', &mut line);
                // An incomplete line, or nobody who waits: the server is gone, or not wanted.
                if read.is_err() || line.last() != Some(&b'\n') || send.send(line).is_err() {
                    return;
                }
            }
        });
        Process { child, requests, answers }
    }
}
