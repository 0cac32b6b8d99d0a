//! Who changed a file: the time of the change says which calls were out then.

use tslp_core::artifact::Origin;
use tslp_core::event::FileAuthor;
use tslp_core::guardian;
use tslp_core::ids::UnixMillis;
use tslp_core::path::RelPath;
use tslp_projections::at_hand::ClientCallRow;
use tslp_projections::state::StateView;

/// How far a file system's clock may be behind the one by which calls are recorded.
const CLOCK_LAG_MILLIS: i64 = 20;

/// A call that has no answer after so long isn't under way any more.
const ANSWER_MILLIS_MAX: i64 = 60 * 60 * 1000;

/// The author of a change of this time: the last call that names the file, of those that can write and were out, else the last of those.
#[must_use]
pub fn author_of(view: &StateView<'_>, path: &RelPath, changed_at: UnixMillis) -> FileAuthor {
    let was_out = |call: &&ClientCallRow| {
        let until = UnixMillis(call.asked_at.0.saturating_add(ANSWER_MILLIS_MAX));
        let until = call.answered_at.unwrap_or(until);
        changed_at.0.saturating_add(CLOCK_LAG_MILLIS) >= call.asked_at.0 && changed_at <= until
    };
    let mut author = FileAuthor::USER;
    for call in view.state.at_hand().calls().rev().filter(was_out) {
        let arguments = view.text(call.arguments).unwrap_or_default();
        if !guardian::can_write(&call.name, &arguments) {
            continue;
        }
        let reply = call.episode;
        if names_file(&arguments, path.basename()) {
            let origin = Origin::Model;
            return FileAuthor { origin, reply };
        }
        if author == FileAuthor::USER && !guardian::writes_named_alone(&call.name, &arguments) {
            let origin = Origin::Unattributed;
            author = FileAuthor { origin, reply };
        }
    }
    author
}

/// Whether a call's arguments hold a file's name, by itself or at a path's end.
fn names_file(arguments: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    arguments.match_indices(name).any(|(at, _)| {
        let (before, after) = (&arguments[..at], &arguments[at + name.len()..]);
        // What is in front of it may be an escape of JSON's: `\nnotes.py`.
        let is_escaped = before.len() >= 2 && before.as_bytes()[before.len() - 2] == b'\\';
        (!before.ends_with(is_part) || is_escaped) && !after.starts_with(is_part)
    })
}
