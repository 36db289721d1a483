//! The cost of a call of a shared object in a process of its own. `plugin/abi/benches/call.rs` has
//! the cost in the caller's process.
//! `cargo bench --bench plugin`; needs a C compiler.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a bench that cannot go on ends")]

use rustomize::{FixedHost, PluginOptions};
use rustomize_plugin_abi::{Asked, Mode};
use rustomize_plugins::shared_object::{LoadableObject, SharedObjectLoader, SharedObjectProcess};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// That of the tool.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let directory = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let include = format!("-I{}", root.join("plugin/abi/include").display());
    let made = directory.path().join("plugin.so");
    let compiler = ["-shared", "-fPIC", "-O2", &include, "-o"];
    let source = root.join("testdata/plugin/any.c");
    let Ok(status) = Command::new("cc").args(compiler).arg(&made).arg(source).status() else {
        println!("skipped: no C compiler");
        return;
    };
    assert!(status.success());
    let helper = Some(env!("CARGO_BIN_EXE_rustomize-plugin-host").into());
    let host = Arc::new(FixedHost { helper, ..FixedHost::default() });
    let options = PluginOptions { host, ..PluginOptions::default() };
    let object = LoadableObject::placed(made, SharedObjectLoader::Helper);
    let small = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n".to_owned();
    let large = small.repeat(20_000);
    let asked = |resources| Asked { mode: Mode::Transform, config: "kind: A\n", root: "/", resources, options: "{}" };

    println!("| | in its own process |");
    println!("|---|---|");
    let first = median(50, || {
        let host = SharedObjectProcess::start(&options, &options.isolation, &object, None).unwrap();
        host.ask(&asked(&small)).unwrap();
        // It ends with the build, and is not a part of a call.
        std::mem::forget(host);
    });
    println!("| first call | {first:?} |");
    let host = SharedObjectProcess::start(&options, &options.isolation, &object, None).unwrap();
    for (name, text) in [("60 bytes", &small), ("1 MB", &large)] {
        let later = median(200, || drop(host.ask(&asked(text)).unwrap()));
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
