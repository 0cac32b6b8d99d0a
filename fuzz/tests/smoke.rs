//! A short run of every fuzz target: its seeds, then generated inputs, the same ones each time.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test helper that fails is a test that fails, and says on what"
)]

use std::fs;
use std::panic;
use std::path::{Path, PathBuf};

use tslp_fuzz::{TARGETS, inputs, target_named};

fn seeds_of(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("seeds")
        .join(name);
    let Ok(entries) = fs::read_dir(&folder) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

fn run(name: &str) {
    let target = target_named(name).unwrap();
    let seeds = seeds_of(name);
    let generated =
        (0..target.rounds).map(|round| inputs::generate_input(round, target.words, &seeds));
    for input in seeds.iter().cloned().chain(generated) {
        if let Err(panic) = panic::catch_unwind(|| (target.run)(&input)) {
            eprintln!("{name} fails on {:?}", String::from_utf8_lossy(&input));
            panic::resume_unwind(panic);
        }
    }
}

macro_rules! smoke {
    ($($name:ident)+) => {
        $(#[test] fn $name() { run(stringify!($name)); })+

        #[test]
        fn every_target_is_run() {
            let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(names, [$(stringify!($name)),+]);
        }
    };
}

smoke! {
    decode_event restore_rows fold_events stories
    capture_blocks capture_edits capture_tags known_lines measure tool_call edit_apply
    mention_scan delimiters redaction rel_path
    extract_c extract_cpp extract_grammars extract_patterns
    chat_request reply_stream
    http_request http_response http_body
    command_line policy door_line
}
