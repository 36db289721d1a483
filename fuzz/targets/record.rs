//! Runs [`rustomize_fuzz::record`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| rustomize_fuzz::record(input));
