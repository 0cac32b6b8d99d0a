//! Fuzz targets as plain functions: each takes any bytes and panics where something that must hold doesn't.
//!
//! The same functions run under libFuzzer (`fuzz_targets/all.rs`, see docs/testing.md) and, over a few thousand generated
//! inputs, in `cargo test`.

mod events;
mod rows;
mod text;

mod edits;

mod code;

mod chat;
mod door;
mod http;
mod shell;

pub mod inputs;

use chat::{chat_request, reply_stream};
use code::{extract_c, extract_cpp, extract_grammars, extract_patterns};
use door::door_line;
use edits::{capture_edits, capture_tags, edit_apply, tool_call};
use events::{decode_event, fold_events, stories};
use http::{http_body, http_request, http_response};
use rows::restore_rows;
use shell::{command_line, policy};
use text::{capture_blocks, delimiters, known_lines, measured, mention_scan, redaction, rel_path};

/// A fuzz target with what a short run of it needs.
pub struct FuzzTarget {
    /// Its name: the function's, and the folder's in `seeds/`.
    pub name: &'static str,
    /// The target.
    pub run: fn(&[u8]),
    /// Generated inputs in a short run.
    pub rounds: u64,
    /// Words that its inputs are made of.
    pub words: &'static [&'static str],
}

/// All targets.
pub const TARGETS: &[FuzzTarget] = &[
    fuzz_target("decode_event", decode_event, 4_000, &[]),
    fuzz_target("restore_rows", restore_rows, 20_000, &[]),
    fuzz_target("fold_events", fold_events, 150, &[]),
    fuzz_target("stories", stories, 6, &[]),
    fuzz_target("capture_blocks", capture_blocks, 4_000, inputs::MARKDOWN),
    fuzz_target("capture_edits", capture_edits, 6_000, inputs::EDITS),
    fuzz_target("capture_tags", capture_tags, 6_000, inputs::TAGS),
    fuzz_target("known_lines", known_lines, 4_000, inputs::OUTPUTS),
    fuzz_target("measure", measured, 4_000, inputs::CODE_LINES),
    fuzz_target("tool_call", tool_call, 6_000, inputs::TOOL_CALLS),
    fuzz_target("edit_apply", edit_apply, 6_000, inputs::LINES),
    fuzz_target("mention_scan", mention_scan, 3_000, inputs::MARKDOWN),
    fuzz_target("delimiters", delimiters, 4_000, inputs::DELIMITERS),
    fuzz_target("redaction", redaction, 4_000, inputs::CREDENTIALS),
    fuzz_target("rel_path", rel_path, 6_000, inputs::PATHS),
    fuzz_target("extract_c", extract_c, 1_000, inputs::C),
    fuzz_target("extract_cpp", extract_cpp, 600, inputs::CPP),
    fuzz_target(
        "extract_grammars",
        extract_grammars,
        1_500,
        inputs::PATTERNS,
    ),
    fuzz_target(
        "extract_patterns",
        extract_patterns,
        3_000,
        inputs::PATTERNS,
    ),
    fuzz_target("chat_request", chat_request, 4_000, inputs::CHAT),
    fuzz_target("reply_stream", reply_stream, 4_000, inputs::EVENT_STREAM),
    fuzz_target("http_request", http_request, 4_000, inputs::HTTP),
    fuzz_target("http_response", http_response, 4_000, inputs::HTTP),
    fuzz_target("http_body", http_body, 4_000, inputs::CHUNKS),
    fuzz_target("command_line", command_line, 12_000, inputs::COMMANDS),
    fuzz_target("policy", policy, 20_000, inputs::POLICY),
    fuzz_target("door_line", door_line, 4_000, inputs::DOOR),
];

/// The target of that name.
#[must_use]
pub fn target_named(name: &str) -> Option<&'static FuzzTarget> {
    TARGETS.iter().find(|target| target.name == name)
}

const fn fuzz_target(
    name: &'static str,
    run: fn(&[u8]),
    rounds: u64,
    words: &'static [&'static str],
) -> FuzzTarget {
    FuzzTarget {
        name,
        run,
        rounds,
        words,
    }
}
