//! `cargo fuzz run command_line`: see docs/fuzzing.md.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tslp_fuzz::command_line(data));
