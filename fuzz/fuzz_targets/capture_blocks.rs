//! `cargo fuzz run capture_blocks`: see docs/fuzzing.md.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tslp_fuzz::capture_blocks(data));
