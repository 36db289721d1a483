//! Runs [`rustomize_fuzz::reference`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| rustomize_fuzz::reference(input));
