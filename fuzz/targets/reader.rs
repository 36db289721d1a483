//! Runs [`rustomize_fuzz::reader`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| rustomize_fuzz::reader(input));
