//! The process of a plugin. Such a process has one thread, so this test runs without a harness.
//! Without arguments it starts itself in different ways; with arguments it is a started process.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on fails; it starts itself, and a real compiler"
)]

use rustomize_plugin_abi::frame::{Frame, answer, head};
use rustomize_plugin_abi::{Mode, process};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};

/// The status of a process that refuses to open a plugin.
const REFUSED: u8 = 7;

/// SIGKILL.
const KILL: i32 = 9;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", path] => serve(path),
        ["serve-beside-a-thread", path] => std::thread::scope(|scope| {
            let (sender, receiver) = std::sync::mpsc::channel::<()>();
            scope.spawn(move || receiver.recv().is_ok());
            let code = serve(path);
            drop(sender);
            code
        }),
        _ => {
            test();
            ExitCode::SUCCESS
        }
    }
}

/// Written when a caller's destructor runs.
struct Destructor;

impl Drop for Destructor {
    fn drop(&mut self) {
        eprintln!("a destructor of the caller ran");
    }
}

fn serve(path: &str) -> ExitCode {
    let _destructor = Destructor;
    let requests = File::from(std::io::stdin().as_fd().try_clone_to_owned().unwrap());
    let answers = File::from(std::io::stdout().as_fd().try_clone_to_owned().unwrap());
    let Err(e) = process::serve(Path::new(path), requests, answers);
    eprintln!("{e}");
    ExitCode::from(REFUSED)
}

/// A plugin that answers with its request; a constructor and an exit handler report that they ran.
const ECHO: &str = r#"
    #include "rustomize_plugin.h"
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    static void at_exit(void) { fprintf(stderr, "an exit handler ran\n"); }
    __attribute__((constructor)) static void load(void) { fprintf(stderr, "opened\n"); atexit(at_exit); }
    static rustomize_buffer copy(const void *data, size_t len) {
        rustomize_buffer b = {malloc(len + 1), len, len + 1};
        memcpy(b.data, data, len);
        return b;
    }
    uint32_t rustomize_plugin_abi_version(void) { return VERSION; }
    int32_t rustomize_plugin_describe(rustomize_response *r) { r->output = copy("{}", 2); return 0; }
    int32_t rustomize_plugin_run(const rustomize_request *q, rustomize_response *r) {
        for (volatile int i = q->mode == RUSTOMIZE_GENERATE; i;) {}
        r->output = copy(q->resources.data, q->resources.len);
        return 0;
    }
    void rustomize_plugin_free(rustomize_buffer *b) { free(b->data); memset(b, 0, sizeof *b); }"#;

/// Compiles the plugin for a version of the interface; false where there is no C compiler.
fn compile(version: u32, to: &Path) -> bool {
    let source = to.with_extension("c");
    std::fs::write(&source, ECHO).unwrap();
    let include = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/include");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-Wall", "-Werror", include]).arg(format!("-DVERSION={version}"));
    compiler.arg("-o").arg(to).arg(&source).status().is_ok_and(|status| status.success())
}

/// Starts this program as a process of a plugin, in a process group of its own.
fn start(how: &str, path: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg(how).arg(path).process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn request(mode: Mode, root: &str, resources: &str) -> Vec<u8> {
    let texts = ["kind: A\n", root, resources, "{}"];
    let content: Vec<u8> =
        texts.iter().flat_map(|text| [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()).collect();
    [&head(mode as u8, content.len())[..], &content].concat()
}

/// The next answer: its kind and its text.
#[track_caller]
fn read(child: &mut Child) -> (u8, String) {
    let mut frame = Frame::default();
    assert!(frame.read(child.stdout.as_mut().unwrap()).unwrap());
    (frame.kind, String::from_utf8(frame.content).unwrap())
}

/// Closes stdin, and returns how the process ended and what it printed to stderr.
fn finish(mut child: Child) -> (ExitStatus, String) {
    drop(child.stdin.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (child.wait().unwrap(), said)
}

fn test() {
    let directory = tempfile::tempdir().unwrap();
    let (plugin, foreign) = (directory.path().join("plugin.so"), directory.path().join("foreign.so"));
    if !compile(1, &plugin) || !compile(2, &foreign) {
        assert!(std::env::var_os("RUSTOMIZE_TESTS").is_none_or(|value| value != "all"), "there is no C compiler");
        println!("skipped: no C compiler");
        return;
    }

    // A plugin answers until stdin ends. Then the process is killed: no code of its caller runs.
    let mut child = start("serve", &plugin);
    assert_eq!(read(&mut child), (answer::OUTPUT, "{}".to_owned()));
    for text in ["", "a: \u{e9}\n"] {
        child.stdin.as_mut().unwrap().write_all(&request(Mode::Transform, "/", text)).unwrap();
        assert_eq!(read(&mut child), (answer::OUTPUT, text.to_owned()));
    }
    child.stdin.as_mut().unwrap().write_all(&request(Mode::Transform, "/nowhere", "")).unwrap();
    let (kind, why) = read(&mut child);
    assert!(kind == answer::FAILED && why.contains("cannot change to the directory '/nowhere'"), "{why}");
    child.stdin.as_mut().unwrap().write_all(&head(9, 0)).unwrap();
    assert_eq!(read(&mut child), (answer::BROKEN, "a malformed request".to_owned()));
    let (status, said) = finish(child);
    assert_eq!((status.signal(), said.as_str()), (Some(KILL), "opened\n"));

    // The same holds if a call does not return, or a request is cut off.
    let endless = request(Mode::Generate, "/", "");
    for bytes in [&endless[..], &endless[..20]] {
        let mut child = start("serve", &plugin);
        read(&mut child);
        child.stdin.as_mut().unwrap().write_all(bytes).unwrap();
        let (status, said) = finish(child);
        assert_eq!((status.signal(), said.as_str()), (Some(KILL), "opened\n"));
    }

    // A file that is refused was loaded: the process does not return either.
    let mut child = start("serve", &foreign);
    let (kind, why) = read(&mut child);
    assert!(kind == answer::NOT_OPENED && why.contains("version 2"), "{why}");
    let (status, said) = finish(child);
    assert_eq!((status.signal(), said.as_str()), (Some(KILL), "opened\n"));

    // Code of the caller runs in another thread: nothing is opened.
    let (status, said) = finish(start("serve-beside-a-thread", &plugin));
    assert_eq!(status.code(), Some(i32::from(REFUSED)), "{said}");
    assert!(said.contains("this one has 2") && !said.contains("opened\n"), "{said}");
}
