//! `cargo fuzz run restore_rows`: see docs/fuzzing.md.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tslp_fuzz::restore_rows(data));
