//! Runs [`rustomize_fuzz::tree`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| rustomize_fuzz::tree(input));
