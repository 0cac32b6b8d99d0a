//! `cargo fuzz run policy`: see docs/fuzzing.md.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tslp_fuzz::policy(data));
