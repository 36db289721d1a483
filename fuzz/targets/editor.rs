//! Runs [`rustomize_fuzz::editor`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| rustomize_fuzz::editor(input));
