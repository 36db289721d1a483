//! Runs [`rustomize_fuzz::patch`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| rustomize_fuzz::patch(input));
