//! Runs [`rustomize_fuzz::archive`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| rustomize_fuzz::archive(input));
