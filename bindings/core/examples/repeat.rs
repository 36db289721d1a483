//! Builds a kustomization many times in one process, as a program does that embeds the core:
//! `repeat N DIRECTORY`. A profiler then shows the cost of a build that is not the first one:
//!
//!     cargo build --profile bench -p rustomize-core --example repeat
//!     valgrind --tool=callgrind target/release/examples/repeat 101 DIRECTORY

use std::collections::VecDeque;
use std::env;
use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// A host with the files of the machine, which asks for the same build again and again.
struct Host {
    request: Vec<u8>,
    /// The requests that are still to come.
    left: usize,
    /// The bytes that the core reads next.
    input: VecDeque<u8>,
    /// The bytes of a message of the core that is not complete.
    output: Vec<u8>,
    /// The last message of the last request.
    end: Vec<u8>,
}

/// One of the two streams between the host and the core.
struct Stream(Arc<Mutex<Host>>);

impl Host {
    fn send(&mut self, kind: u8, payload: &[u8]) {
        let length = u32::try_from(payload.len() + 1).unwrap_or(u32::MAX);
        self.input.extend(length.to_le_bytes());
        self.input.push_back(kind);
        self.input.extend(payload);
    }

    /// Answers a message of the core.
    fn take(&mut self, kind: u8, payload: &[u8]) {
        let path = String::from_utf8_lossy(payload);
        let found = match kind {
            b'y' => return,
            b'.' => {
                self.end = payload.to_vec();
                return;
            }
            b'd' | b'o' => fs::canonicalize(&*path)
                .ok()
                .filter(|place| place.is_dir() == (kind == b'd'))
                .map(|place| place.to_string_lossy().into_owned().into_bytes()),
            b'r' => fs::read(&*path).ok(),
            _ => None,
        };
        match found {
            Some(answer) => self.send(b'+', &answer),
            None => {
                let letter = if Path::new(&*path).is_dir() { "d" } else { "n" };
                self.send(b'-', format!("{letter}\0it cannot be read").as_bytes());
            }
        }
    }
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut host = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if host.input.is_empty() && host.left > 0 {
            host.left -= 1;
            let request = host.request.clone();
            host.send(b'R', &request);
        }
        host.input.read(into)
    }
}

impl Write for Stream {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        let mut host = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        host.output.extend_from_slice(from);
        while let Some((length, rest)) = host.output.split_first_chunk::<4>() {
            let length = u32::from_le_bytes(*length) as usize;
            let Some((message, rest)) = rest.split_at_checked(length) else { break };
            let (message, rest) = (message.to_vec(), rest.to_vec());
            host.output = rest;
            if let Some((kind, payload)) = message.split_first() {
                host.take(*kind, payload);
            }
        }
        Ok(from.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn main() -> io::Result<()> {
    let mut arguments = env::args().skip(1);
    let (Some(times), Some(directory)) = (arguments.next().and_then(|n| n.parse().ok()), arguments.next()) else {
        return Err(io::Error::other("usage: repeat N DIRECTORY"));
    };
    let directory = serde_json::Value::from(directory);
    let request =
        format!(r#"{{"op":"build","root":{directory},"options":{{"loadRestrictor":"","reorder":"legacy"}}}}"#);
    let host = Arc::new(Mutex::new(Host {
        request: request.into_bytes(),
        left: times,
        input: VecDeque::new(),
        output: Vec::new(),
        end: Vec::new(),
    }));
    let begin = Instant::now();
    rustomize_core::serve(Stream(Arc::clone(&host)), Stream(Arc::clone(&host)))?;
    let took = begin.elapsed();
    let host = host.lock().unwrap_or_else(PoisonError::into_inner);
    println!(
        "{:?} for each of {times} builds: {}",
        took / u32::try_from(times.max(1)).unwrap_or(1),
        String::from_utf8_lossy(&host.end)
    );
    Ok(())
}
