//! Runs [`rustomize_fuzz::command`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| rustomize_fuzz::command(input));
