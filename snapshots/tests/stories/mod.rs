//! Stories with their golden ends, by topic. Each golden file says in one line what its story shows.

mod evidence;
mod extent;
mod resolution;

mod clear;
mod code_spec;
mod gates;
mod goals;
mod write_head;

mod tombstones;

mod stale;

mod hydration;
mod links;
mod loops;
mod mentioned;
mod mentions;
mod older_code;
mod older_shapes;
mod recent_context;
mod records;
mod repeats;
mod scope;
mod sessions;

mod delimiters;
mod refusals;

mod cpp;

mod directives;

mod edits;
mod edits_of_pieces;
mod patterns;

mod agents;
mod audits;
mod authors;
mod moving_files;
mod renames;
mod unseen;
mod users_word;
mod verification;

use tslp_snapshots::golden::play;

/// The user pastes a file with an include and two functions.
const PASTED_FILE: &str = "
        user
        | ```c:src/a.c
        | #include <a.h>
        |
        | int clamp(int x, int low, int high) {
        |     if (x < low) return low;
        |     if (x > high) return high;
        |     return x;
        | }
        |
        | int twice(int x) {
        |     int sum = x + x;
        |     return sum;
        | }
        | ```
";

/// Plays a story and compares its end with `golden/NAME.snap`; `about` says there what the story shows.
#[track_caller]
fn check(name: &str, about: &str, story: &str) {
    insta::with_settings!({
        omit_expression => true,
        description => about,
        snapshot_path => "../../golden",
        prepend_module_to_snapshot => false,
    }, {
        insta::assert_snapshot!(name, play(story));
    });
}
