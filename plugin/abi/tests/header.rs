//! A C compiler compares the header with the structs of this crate; and plugins in C are opened and
//! called.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on fails; a real compiler makes plugins"
)]

use rustomize_plugin_abi::types::{Buffer, Request, Response, Text};
use rustomize_plugin_abi::{Asked, CallError, Mode, OpenError, Plugin};
use std::mem::offset_of;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// Compiles a C source that sees the header; `None` where there is no C compiler.
fn compile(source: &str, args: &[&str]) -> Option<(TempDir, PathBuf)> {
    let directory = TempDir::new().unwrap();
    let (from, to) = (directory.path().join("plugin.c"), directory.path().join("plugin.so"));
    std::fs::write(&from, format!("#include \"rustomize_plugin.h\"\n{source}")).unwrap();
    let include = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/include");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c11", "-Wall", "-Wextra", "-Werror", include]).args(args);
    let Ok(output) = compiler.arg("-o").arg(&to).arg(&from).output() else {
        assert!(std::env::var_os("RUSTOMIZE_TESTS").is_none_or(|value| value != "all"), "there is no C compiler");
        println!("skipped: no C compiler");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some((directory, to))
}

const SHARED: [&str; 2] = ["-shared", "-fPIC"];

#[test]
fn structs_are_those_of_the_header() {
    let source = r#"
        #include <stdio.h>
        #define S(t) printf(#t " %zu\n", sizeof(t))
        #define F(t, f) printf(#t "." #f " %zu\n", offsetof(t, f))
        int main(void) {
            S(rustomize_text); S(rustomize_buffer); S(rustomize_request); S(rustomize_response);
            F(rustomize_text, len); F(rustomize_buffer, len); F(rustomize_buffer, capacity);
            F(rustomize_request, mode); F(rustomize_request, config); F(rustomize_request, root);
            F(rustomize_request, resources); F(rustomize_request, options);
            F(rustomize_response, flags); F(rustomize_response, output); F(rustomize_response, error);
            return 0;
        }"#;
    let Some((_directory, program)) = compile(source, &[]) else { return };
    let output = Command::new(program).output().unwrap();
    let ours = [
        ("rustomize_text", size_of::<Text>()),
        ("rustomize_buffer", size_of::<Buffer>()),
        ("rustomize_request", size_of::<Request>()),
        ("rustomize_response", size_of::<Response>()),
        ("rustomize_text.len", offset_of!(Text, len)),
        ("rustomize_buffer.len", offset_of!(Buffer, len)),
        ("rustomize_buffer.capacity", offset_of!(Buffer, capacity)),
        ("rustomize_request.mode", offset_of!(Request, mode)),
        ("rustomize_request.config", offset_of!(Request, config)),
        ("rustomize_request.root", offset_of!(Request, root)),
        ("rustomize_request.resources", offset_of!(Request, resources)),
        ("rustomize_request.options", offset_of!(Request, options)),
        ("rustomize_response.flags", offset_of!(Response, flags)),
        ("rustomize_response.output", offset_of!(Response, output)),
        ("rustomize_response.error", offset_of!(Response, error)),
    ];
    let ours: String = ours.iter().map(|(name, n)| format!("{name} {n}\n")).collect();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), ours);
}

/// A plugin that answers with its request, and fails if its configuration says so.
const ECHO: &str = r#"
    #include <stdlib.h>
    #include <string.h>
    static int frees = 0;
    static rustomize_buffer copy(const void *data, size_t len) {
        rustomize_buffer b = {malloc(len + 1), len, len + 1};
        memcpy(b.data, data, len);
        return b;
    }
    static int is(rustomize_text t, const char *s) { return t.len == strlen(s) && memcmp(t.data, s, t.len) == 0; }
    uint32_t rustomize_plugin_abi_version(void) { return RUSTOMIZE_PLUGIN_ABI; }
    int32_t rustomize_plugin_describe(rustomize_response *r) {
        char text[64];
        int n = 0;
        while (n < frees) text[n++] = '.';
        r->output = copy(text, n);
        return RUSTOMIZE_OK;
    }
    int32_t rustomize_plugin_run(const rustomize_request *q, rustomize_response *r) {
        if (q->size != sizeof *q || r->size != sizeof *r) return 9;
        if (is(q->config, "fail")) { r->error = copy("no luck", 7); return RUSTOMIZE_ERROR; }
        if (is(q->config, "panic")) { r->error = copy("oh", 2); return RUSTOMIZE_PANIC; }
        if (is(q->config, "odd")) return 77;
        if (is(q->config, "bytes")) { r->output = copy("\xff\xfe", 2); return RUSTOMIZE_OK; }
        if (is(q->config, "nowhere")) { r->output.len = 5; return RUSTOMIZE_OK; }
        if (q->mode == RUSTOMIZE_VALIDATE) return RUSTOMIZE_UNSUPPORTED;
        r->output = copy(q->resources.data, q->resources.len);
        return RUSTOMIZE_OK;
    }
    void rustomize_plugin_free(rustomize_buffer *b) {
        if (b->data) frees++;
        free(b->data);
        memset(b, 0, sizeof *b);
    }"#;

fn call<'c>(mode: Mode, config: &'c str, resources: &'c str) -> Asked<'c> {
    Asked { mode, config, root: "/", resources, options: "{}" }
}

#[test]
fn a_plugin_in_c_is_called_and_its_buffers_go_back() {
    let Some((_directory, path)) = compile(ECHO, &SHARED) else { return };
    // SAFETY: the source above keeps the rules of the header.
    let plugin = unsafe { Plugin::open(&path) }.unwrap();
    let run = |mode, config, resources| plugin.run(&call(mode, config, resources)).map(|output| output.to_owned());
    assert_eq!(&*plugin.describe().unwrap(), "");
    assert_eq!(run(Mode::Transform, "x", "a: \u{e9}\n"), Ok("a: \u{e9}\n".to_owned()));
    assert_eq!(run(Mode::Generate, "x", ""), Ok(String::new()));
    assert_eq!(run(Mode::Transform, "fail", ""), Err(CallError::Failed("no luck".to_owned())));
    assert_eq!(run(Mode::Transform, "panic", ""), Err(CallError::Panicked("oh".to_owned())));
    assert_eq!(run(Mode::Validate, "x", ""), Err(CallError::Unsupported));
    assert_eq!(run(Mode::Transform, "odd", ""), Err(CallError::Broken("it returned 77".to_owned())));
    let broken = |config| match run(Mode::Transform, config, "") {
        Err(CallError::Broken(how)) => how,
        other => unreachable!("{other:?}"),
    };
    assert_eq!(broken("bytes"), "a text that is not valid UTF-8 at byte 0");
    assert_eq!(broken("nowhere"), "5 bytes at a null address");
    // Describe, two outputs, two errors, and the bytes that were not a text: each was freed once.
    assert_eq!(plugin.describe().unwrap().len(), 6);
}

#[test]
fn what_is_no_plugin_is_refused() {
    let open = |source: &str| {
        let (_directory, path) = compile(source, &SHARED)?;
        // SAFETY: the sources below have no constructors, and their functions do nothing.
        Some(unsafe { Plugin::open(&path) }.map(drop))
    };
    let version = |n: u32| format!("uint32_t rustomize_plugin_abi_version(void) {{ return {n}; }}");
    let Some(none) = open("int f(void); int f(void) { return 1; }") else { return };
    assert!(matches!(none, Err(OpenError::Missing("rustomize_plugin_abi_version"))), "{none:?}");
    assert!(matches!(open(&version(2)), Some(Err(OpenError::Version(2)))));
    assert!(matches!(open(&version(1)), Some(Err(OpenError::Missing("rustomize_plugin_describe")))));
    let unresolved = open("int nowhere(void); uint32_t rustomize_plugin_abi_version(void) { return nowhere(); }");
    match unresolved {
        Some(Err(OpenError::Loader(words))) => assert!(words.contains("nowhere"), "{words}"),
        other => unreachable!("{other:?}"),
    }
}
