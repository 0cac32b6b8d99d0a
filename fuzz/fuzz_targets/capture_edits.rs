//! `cargo fuzz run capture_edits`: see docs/fuzzing.md.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tslp_fuzz::capture_edits(data));
