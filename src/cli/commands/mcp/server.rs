//! The server: answers messages in the order in which they arrive, and runs calls of tools beside
//! each other.

use super::READS_BELOW;
use super::call::{self, Caller};
use super::protocol::{self, BUSY, Client, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, Received, Refusal};
use super::tools::{TOOLS, Tool, ToolCommand};
use rustomize_base::parallel;
use rustomize_process::Children;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// The versions of the protocol that this server speaks, newest first. They differ in nothing that
/// it uses, but that results with data came later.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The most calls that wait. More are refused.
const MOST_WAITING: usize = 100;

const INSTRUCTIONS: &str = "Kubernetes kustomizations: build them, find mistakes, ask where a value comes from, compare, and see what \
    an edit would change. Nothing is written. A long result is cut, and its end says how to get the rest.";

/// The server.
pub(crate) struct Server<W> {
    program: PathBuf,
    /// The directories that may be read, without links.
    directories: Vec<PathBuf>,
    reads_below: OsString,
    client: Client<W>,
    /// The processes of the calls that wait or run, by the id of the request.
    calls: Mutex<BTreeMap<String, Children>>,
}

/// A call that waits.
struct Call {
    id: Value,
    command: ToolCommand,
    children: Children,
}

/// The answer to a request.
type Answer = Result<Value, Refusal>;

impl<W: Write + Send> Server<W> {
    /// A server whose calls run `program`, and read the directories alone. The first one is their
    /// working directory.
    pub(crate) fn new(program: PathBuf, directories: Vec<PathBuf>, reads_below: OsString, output: W) -> Self {
        Server { program, directories, reads_below, client: Client::new(output), calls: Mutex::default() }
    }

    /// Answers messages until the input ends, and the calls that have come before that.
    ///
    /// # Errors
    /// The input cannot be read.
    pub(crate) fn serve(&self, input: &mut impl BufRead) -> io::Result<()> {
        let (waiting, taken) = sync_channel(MOST_WAITING);
        let taken = Mutex::new(taken);
        thread::scope(|scope| {
            for _ in 0..parallel::cores().get() {
                scope.spawn(|| self.run_calls(&taken));
            }
            let end = self.read(input, &waiting);
            // The threads end once no call can come.
            drop(waiting);
            end
        })
    }

    /// Ends all calls, without an answer.
    pub(crate) fn end_calls(&self) {
        self.calls().values().for_each(Children::end);
    }

    fn calls(&self) -> MutexGuard<'_, BTreeMap<String, Children>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, input: &mut impl BufRead, waiting: &SyncSender<Call>) -> io::Result<()> {
        loop {
            match protocol::read(input)? {
                Received::Call { id: Some(id), method, params } => {
                    if let Some(answer) = self.request(&id, &method, params, waiting) {
                        self.client.answer(&id, answer);
                    }
                }
                Received::Call { id: None, method, params } if method == "notifications/cancelled" => {
                    // The call may have ended meanwhile.
                    if let Some(children) =
                        self.calls().get(&params.get("requestId").unwrap_or(&Value::Null).to_string())
                    {
                        children.end();
                    }
                }
                Received::Call { id: None, .. } | Received::Answer => {}
                Received::Refused(refusal) => self.client.answer(&Value::Null, Err(refusal)),
                Received::End => return Ok(()),
            }
        }
    }

    /// The answer to a request; `None` if it comes later.
    fn request(
        &self,
        id: &Value,
        method: &str,
        mut params: Map<String, Value>,
        waiting: &SyncSender<Call>,
    ) -> Option<Answer> {
        Some(match method {
            "initialize" => Ok(initialized(&params)),
            "ping" => Ok(json!({})),
            "tools/list" => Ok(json!({"tools": TOOLS.iter().map(Tool::described).collect::<Vec<_>>()})),
            "tools/call" => {
                let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
                let Some(tool) = Tool::named(name) else {
                    let known: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
                    let why = format!("unknown tool '{name}': this server has {}", known.join(", "));
                    return Some(Err(Refusal::new(INVALID_PARAMS, why)));
                };
                let arguments = params.remove("arguments").unwrap_or_default();
                match tool.command(&arguments, &self.directories) {
                    Ok(command) => return self.enqueue(id, command, waiting).err().map(Err),
                    Err(why) => Ok(call::refused(&why)),
                }
            }
            _ => Err(Refusal::new(METHOD_NOT_FOUND, format!("unknown method '{method}'"))),
        })
    }

    /// Lets a call wait for a thread.
    fn enqueue(&self, id: &Value, command: ToolCommand, waiting: &SyncSender<Call>) -> Result<(), Refusal> {
        let children = Children::new();
        let mut calls = self.calls();
        if calls.contains_key(&id.to_string()) {
            return Err(Refusal::new(INVALID_REQUEST, format!("a call with the id {id} is running")));
        }
        waiting.try_send(Call { id: id.clone(), command, children: children.clone() }).map_err(|e| match e {
            TrySendError::Full(_) => Refusal::new(BUSY, format!("{MOST_WAITING} calls wait: call again later")),
            TrySendError::Disconnected(_) => Refusal::new(BUSY, "the server ends"),
        })?;
        calls.insert(id.to_string(), children);
        Ok(())
    }

    /// Runs calls, until no more can come. A call that was cancelled is not answered.
    fn run_calls(&self, taken: &Mutex<Receiver<Call>>) {
        let directory = self.directories.first().cloned().unwrap_or_default();
        let caller = Caller {
            program: &self.program,
            directory: &directory,
            reads_below: (READS_BELOW, self.reads_below.clone()),
        };
        let next = || taken.lock().unwrap_or_else(PoisonError::into_inner).recv();
        while let Ok(Call { id, command, children }) = next() {
            let result = (!children.have_ended()).then(|| caller.call(command, &children));
            self.calls().remove(&id.to_string());
            if let Some(result) = result.filter(|_| !children.have_ended()) {
                self.client.answer(&id, Ok(result));
            }
        }
    }
}

/// The answer to `initialize`: the client's version of the protocol, if it is known here.
fn initialized(params: &Map<String, Value>) -> Value {
    let asked = params.get("protocolVersion").and_then(Value::as_str);
    let version = VERSIONS.into_iter().find(|version| Some(*version) == asked).unwrap_or(VERSIONS[0]);
    json!({
        "protocolVersion": version,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "rustomize", "title": "rustomize", "version": env!("CARGO_PKG_VERSION")},
        "instructions": INSTRUCTIONS,
    })
}
