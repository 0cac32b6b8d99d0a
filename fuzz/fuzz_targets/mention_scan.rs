//! `cargo fuzz run mention_scan`: see docs/fuzzing.md.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tslp_fuzz::mention_scan(data));
