//! Runs [`rustomize_fuzz::pattern`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| rustomize_fuzz::pattern(input));
