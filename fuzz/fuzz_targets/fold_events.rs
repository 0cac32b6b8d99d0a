//! `cargo fuzz run fold_events`: see docs/fuzzing.md.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tslp_fuzz::fold_events(data));
