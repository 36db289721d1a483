//! Shared objects in the place of plugins: each class of files is told apart, and none is opened.

use crate::support::Tree;
use crate::support::compiler::cc;
use std::fs;

const TREE: &str = "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: Gen\nmetadata: {name: g}\n";

/// Places bytes where the shared object for the kind Gen is found, and expects the build to say all
/// of `words`.
#[track_caller]
fn check(bytes: &[u8], words: &[&str]) {
    let tree = Tree::new(TREE);
    let folder = tree.home().join(".config/kustomize/plugin/ex.io/v1/gen");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("Gen.so"), bytes).unwrap();
    tree.build(&[]).fails_with(&[&["/ex.io/v1/gen/Gen.so'"], words].concat());
}

/// Compiles a C source; `None` where there is no C compiler.
fn compile(source: &str, args: &[&str]) -> Option<Vec<u8>> {
    let directory = tempfile::TempDir::new().unwrap();
    let (from, to) = (directory.path().join("plugin.c"), directory.path().join("out"));
    fs::write(&from, source).unwrap();
    let compiled = cc(&from, &to, args);
    if compiled.is_none() {
        crate::support::skip("no C compiler");
    }
    compiled.map(|()| fs::read(to).unwrap())
}

const SHARED: [&str; 3] = ["-shared", "-fPIC", "-nostdlib"];

#[test]
fn non_elf_files_are_classified() {
    check(b"", &["is empty", "not copied or built to its end"]);
    check(b"hello\n", &["is a text file"]);
    check(b"#!/bin/sh\ncat\n", &["is a text file", "take the .so off its name"]);
    check(&[&[0xcf, 0xfa, 0xed, 0xfe, 7, 0, 0, 1][..], &[0; 64]].concat(), &["is a Mach-O (macOS) file"]);
    let mut pe = vec![0; 0x100];
    pe[..2].copy_from_slice(b"MZ");
    pe[0x3c] = 0x80;
    pe[0x80..0x84].copy_from_slice(b"PE\0\0");
    pe[0x98..0x9a].copy_from_slice(&[0x0b, 0x02]);
    check(&pe, &["is a PE (Windows) file"]);
    check(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19], &["is no shared object"]);
}

#[test]
fn elf_files_are_classified() {
    let Some(foreign) = compile("int f(void) { return 1; }", &SHARED) else { return };
    check(&foreign, &["is a shared object without 'rustomize_plugin_abi_version'"]);
    let mut other = foreign.clone();
    other[18] = if other[18] == 0xb7 { 0x3e } else { 0xb7 };
    check(&other, &["is for ", "this machine is "]);
    let mut narrow = foreign.clone();
    narrow[4] = 1;
    check(&narrow, &["is for a 32-bit processor"]);
    for part in [1, 2, 3] {
        check(&foreign[..foreign.len() * part / 4], &["is truncated"]);
    }
    let ours = compile("int rustomize_plugin_abi_version(void) { return 1; }", &SHARED).unwrap();
    // A missing function is found when the file is opened.
    check(&ours, &["does not export 'rustomize_plugin_describe'"]);
    let program = compile("int main(void) { return 0; }", &[]).unwrap();
    check(&program, &["is an executable, not a shared object"]);
    let object = compile("int f(void) { return 1; }", &["-c"]).unwrap();
    check(&object, &["is an object file, not a shared object"]);
}

#[test]
fn a_go_plugin_is_known_by_its_build_information() {
    let modules = "0123456789abcdefpath\tcommand-line-arguments\ndep\tsigs.k8s.io/kustomize/api\tv0.21.1\th1:x\nbuild\t-trimpath=true\n0123456789abcdef";
    let mut information = b"\xff Go buildinf:\x08\x02".to_vec();
    information.resize(32, 0);
    for text in ["go1.26.8", modules] {
        information.extend([(text.len() & 0x7f) as u8 | if text.len() > 0x7f { 0x80 } else { 0 }]);
        if text.len() > 0x7f {
            information.push((text.len() >> 7) as u8);
        }
        information.extend(text.as_bytes());
    }
    let bytes: Vec<String> = information.iter().map(u8::to_string).collect();
    let source = format!(
        "__attribute__((section(\".go.buildinfo\"), used)) const unsigned char information[] = {{{}}};\n\
         int plugin __asm__(\"main.KustomizePlugin\") = 1;\n",
        bytes.join(",")
    );
    let Some(plugin) = compile(&source, &SHARED) else { return };
    check(
        &plugin,
        &[
            "is a Go plugin (go1.26.8, sigs.k8s.io/kustomize/api v0.21.1, -trimpath)",
            "only a Go program",
            "rustomize plugin adopt",
        ],
    );
}
