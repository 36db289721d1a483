//! How the tool is linked, and for what.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[expect(clippy::disallowed_methods, reason = "cargo says it there")]
    let variable = |name| std::env::var(name).unwrap_or_default();
    println!("cargo:rustc-env=RUSTOMIZE_TARGET={}", variable("TARGET"));
    // At a fixed address there is nothing to relocate: more than a millisecond of each start, which
    // is most of a small build (docs/performance.md).
    if variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu" {
        println!("cargo:rustc-link-arg-bin=rustomize=-no-pie");
    }
}
