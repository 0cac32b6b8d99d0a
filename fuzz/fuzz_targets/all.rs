//! `TSLP_FUZZ_TARGET=decode_event cargo fuzz run all`: see docs/testing.md.

#![no_main]
#![allow(
    clippy::print_stderr,
    reason = "the names are for whoever calls it without one"
)]

use std::env;
use std::process;
use std::sync::OnceLock;

use tslp_fuzz::FuzzTarget;

static TARGET: OnceLock<&FuzzTarget> = OnceLock::new();

/// The target by its name. Not an argument: libFuzzer reads those itself, and starts itself anew with them.
fn chosen_target() -> &'static FuzzTarget {
    let name = env::var("TSLP_FUZZ_TARGET").unwrap_or_default();
    tslp_fuzz::target_named(&name).unwrap_or_else(|| {
        let names: Vec<&str> = tslp_fuzz::TARGETS.iter().map(|it| it.name).collect();
        eprintln!(
            "no fuzz target `{name}`; set TSLP_FUZZ_TARGET to one of these:\n{}",
            names.join("\n")
        );
        process::exit(2)
    })
}

libfuzzer_sys::fuzz_target!(
    init: {
        TARGET.get_or_init(chosen_target);
    },
    |data: &[u8]| {
        (TARGET.get_or_init(chosen_target).run)(data);
    }
);
