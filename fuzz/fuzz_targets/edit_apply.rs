//! `cargo fuzz run edit_apply`: see docs/fuzzing.md.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tslp_fuzz::edit_apply(data));
