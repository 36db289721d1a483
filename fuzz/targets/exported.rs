//! Runs [`rustomize_fuzz::exported`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| rustomize_fuzz::exported(input));
