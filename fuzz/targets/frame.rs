//! Runs [`rustomize_fuzz::frame`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| rustomize_fuzz::frame(input));
