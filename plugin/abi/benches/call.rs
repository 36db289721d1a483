//! The cost of a call of a shared object in the caller's process. `benches/plugin.rs` of the tool has
//! the cost in a process of its own.
//! `cargo bench -p rustomize-plugin-abi`; needs a C compiler.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a bench that cannot go on ends")]

use rustomize_plugin_abi::{Asked, Mode, Plugin};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

fn main() {
    let directory = tempfile::tempdir().unwrap();
    let crate_directory = Path::new(env!("CARGO_MANIFEST_DIR"));
    let include = format!("-I{}", crate_directory.join("include").display());
    let made = directory.path().join("plugin.so");
    let compiler = ["-shared", "-fPIC", "-O2", &include, "-o"];
    let source = crate_directory.join("../../testdata/plugin/any.c");
    let Ok(status) = Command::new("cc").args(compiler).arg(&made).arg(source).status() else {
        println!("skipped: no C compiler");
        return;
    };
    assert!(status.success());
    let small = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n".to_owned();
    let large = small.repeat(20_000);
    let asked = |resources| Asked { mode: Mode::Transform, config: "kind: A\n", root: "/", resources, options: "{}" };
    // SAFETY: the source keeps the rules of the header, and one thread makes one call at a time.
    let open = || unsafe { Plugin::open(&made) }.unwrap();

    // A process opens the file once and never closes it; the first time loads it.
    let plugin = open();
    println!("| | in this process |");
    println!("|---|---|");
    let first = median(50, || {
        let plugin = open();
        plugin.describe().unwrap();
        plugin.run(&asked(&small)).unwrap();
    });
    println!("| first call | {first:?} |");
    for (name, text) in [("60 bytes", &small), ("1 MB", &large)] {
        let later = median(200, || drop(plugin.run(&asked(text)).unwrap()));
        println!("| later call, {name} | {later:?} |");
    }
}

fn median(times: usize, mut run: impl FnMut()) -> Duration {
    let mut taken: Vec<Duration> = (0..times)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    taken.sort();
    taken[times / 2]
}
