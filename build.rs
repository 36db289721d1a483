//! How the tool is linked.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // At a fixed address there is nothing to relocate: more than a millisecond of each start, which
    // is most of a small build (docs/performance.md).
    #[expect(clippy::disallowed_methods, reason = "cargo says it there")]
    let target = |part| std::env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo:rustc-link-arg-bin=rustomize=-no-pie");
    }
}
