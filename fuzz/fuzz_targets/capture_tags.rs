//! `cargo fuzz run capture_tags`: see docs/fuzzing.md.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tslp_fuzz::capture_tags(data));
