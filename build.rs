//! How the tool is linked, and for what.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[expect(clippy::disallowed_methods, reason = "cargo says it there")]
    let variable = |name| std::env::var(name).unwrap_or_default();
    println!("cargo:rustc-env=RUSTOMIZE_TARGET={}", variable("TARGET"));
    if variable("CARGO_CFG_TARGET_OS") != "linux" {
        return;
    }
    // At a fixed address there is nothing to relocate: more than a millisecond of each start, which
    // is most of a small build (docs/performance.md).
    if variable("CARGO_CFG_TARGET_ENV") == "gnu" {
        println!("cargo:rustc-link-arg-bin=rustomize=-no-pie");
    }
    // The functions that builds execute stand side by side: a build reads and keeps fewer pages of
    // the program. Only `dist` and `bench` compile this crate for speed; programs of other profiles
    // are linked by whatever linker people have, and not all linkers know scripts.
    let order = std::path::Path::new(&variable("CARGO_MANIFEST_DIR")).join("release/order.ld");
    println!("cargo:rerun-if-changed={}", order.display());
    if variable("OPT_LEVEL") == "3" && order.is_file() {
        println!("cargo:rustc-link-arg-bin=rustomize=-T{}", order.display());
    }
}
