//! Documents that are damaged, deep or large: each ends in an error with its place, or in the same
//! bytes as kustomize's, in little memory.

use crate::support::Tree;
use std::process::Command;

/// Memory that a build may address, in KiB.
const MEMORY: usize = 512 * 1024;

/// Builds a tree with this resource file: its output, or what it says.
fn build(resource: &[u8]) -> Result<String, String> {
    let tree = Tree::new("-- kustomization.yaml --\nresources: [r.yaml]\n");
    std::fs::write(tree.path().join("r.yaml"), resource).unwrap();
    let limited = format!("ulimit -v {MEMORY}; exec \"$0\" build \"$1\"");
    #[expect(clippy::disallowed_methods, reason = "the tool is run under a limit of the shell's")]
    let run = Command::new("sh").args(["-c", &limited, crate::support::program()]).arg(tree.path()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let stderr = text(run.stderr);
    assert!(!stderr.contains("panicked"), "{stderr}");
    match run.status.code() {
        Some(0) => Ok(text(run.stdout)),
        Some(1) => {
            assert!(run.stdout.is_empty(), "an error comes with output");
            Err(stderr)
        }
        other => panic!("the tool ended with {other:?}: {stderr}"),
    }
}

const HEAD: &str = "apiVersion: v1\nkind: Thing\nmetadata: {name: a}\n";

fn thing(rest: &str) -> Vec<u8> {
    format!("{HEAD}{rest}").into_bytes()
}

#[track_caller]
fn refused(resource: &[u8], words: &str) {
    let why = build(resource).unwrap_err();
    assert!(why.contains(words), "'{words}' is not in: {why}");
}

#[test]
fn a_lone_carriage_return_ends_a_line() {
    let built = build(&thing("x: \"a\rb\"\ry: 'c\r\rd'\r")).unwrap();
    assert!(built.contains("x: a b\n") && built.contains("  c\n  d"), "{built}");
}

#[test]
fn a_file_in_utf_16_is_read_in_either_order_of_its_bytes() {
    let text = format!("\u{feff}{HEAD}x: \u{e9}\u{1f600}\n");
    let built = build(text.trim_start_matches('\u{feff}').as_bytes()).unwrap();
    let units = || text.encode_utf16();
    assert_eq!(build(&units().flat_map(u16::to_le_bytes).collect::<Vec<_>>()).as_ref(), Ok(&built));
    assert_eq!(build(&units().flat_map(u16::to_be_bytes).collect::<Vec<_>>()).as_ref(), Ok(&built));
    assert!(built.contains("x: \"\u{e9}\\U0001F600\"\n"), "{built}");
}

#[test]
fn badly_indented_texts_are_read_once() {
    let text = "  key: \"a text of\nmany lines\nthat starts\n at the left\"\n";
    let many: String = (0..20_000).map(|i| text.replacen("key", &format!("key{i}"), 1)).collect();
    let resource = thing(&format!("data:\n{many}"));
    assert!(resource.len() > 945_000);
    let built = build(&resource).unwrap();
    assert!(built.contains("key19999: a text of many lines that starts at the left\n"));
}

#[test]
fn depth_has_one_limit_in_every_style() {
    let brackets = |n: usize| format!("x: {}{}\n", "[".repeat(n), "]".repeat(n));
    let braces = |n: usize| format!("x: {}1{}\n", "{a: ".repeat(n), "}".repeat(n));
    let dashes = |n: usize| format!("x:\n{}1\n", "- ".repeat(n));
    let keys = |n: usize| (0..n).map(|i| format!("{}k:\n", " ".repeat(i))).collect::<String>();
    for (what, deep) in
        [("brackets", &brackets as &dyn Fn(usize) -> String), ("braces", &braces), ("dashes", &dashes), ("keys", &keys)]
    {
        assert!(build(&thing(&deep(990))).is_ok(), "{what}");
        for n in [1_001, 100_000] {
            if what == "keys" && n > 5_000 {
                // Its text would be five gigabytes.
                continue;
            }
            refused(&thing(&deep(n)), "nested deeper than 1000 levels");
        }
    }
}

#[test]
fn bytes_that_are_not_text_have_a_place() {
    refused(b"a: \0\n", "r.yaml:1:4");
    refused(&[b"a: b\nc: ", &b"\xff\xfe"[..]].concat(), "is not valid UTF-8 at byte 8");
    refused(&[0xff, 0xfe, b'a', 0, 0x3d, 0xd8], "is not valid UTF-16 at byte 4");
    refused(&[0xfe, 0xff, 0, b'a', 0], "is not valid UTF-16 at byte 4");
    refused(&thing("x: \"\\ud83d\"\n"), "found invalid Unicode character escape code");
}

#[test]
fn a_file_may_end_anywhere() {
    let whole = "data:\n  a: &x \"q \\u00e9 \\\"\"\n  b: 'it''s'\n  c: |+2\n     text\n  d: >-\n    folded\n\n    text\n  ? e\n  : [1, {f: !!str g}, *x]\n  \
                 h: plain text\n    of two lines # comment\n  <<: {i: j}\n";
    let whole = format!("{HEAD}{whole}");
    build(whole.as_bytes()).unwrap();
    let mut built = 0;
    for end in (0..whole.len()).filter(|&end| whole.is_char_boundary(end)) {
        match build(&whole.as_bytes()[..end]) {
            Ok(_) => built += 1,
            Err(why) => assert!(why.contains("r.yaml") || why.contains("kustomization.yaml"), "{end}: {why}"),
        }
    }
    assert!(built > 40, "{built} of the beginnings are documents");
}
