//! `cargo fuzz run extract_grammars`: see docs/fuzzing.md.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tslp_fuzz::extract_grammars(data));
