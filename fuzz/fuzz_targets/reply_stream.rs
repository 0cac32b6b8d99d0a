//! `cargo fuzz run reply_stream`: see docs/fuzzing.md.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tslp_fuzz::reply_stream(data));
