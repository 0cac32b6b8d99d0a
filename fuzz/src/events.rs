//! Stored bytes, folds of events without sense, and whole stories.

use tslp_core::event::Event;
use tslp_snapshots::random::{invariants, player};

/// Kinds of stored events; the first input byte picks one.
const KINDS: [&str; 16] = [
    "content.v1",
    "prompt_received.v1",
    "reply_segment.v1",
    "reply_ended.v1",
    "disk_observed.v1",
    "artifact_captured.v1",
    "artifact_resolved.v1",
    "transitioned.v1",
    "promotion_refused.v1",
    "notice_issued.v1",
    "prompt_composed.v1",
    "prompt_measured.v1",
    "reply_part.v1",
    "prompt_sent.v1",
    "content.v2",
    "nothing.v1",
];

/// Any bytes decode to an event or an error; an event that decodes is stored and read again as the same.
pub fn decode_event(data: &[u8]) {
    let Some((first, payload)) = data.split_first() else {
        return;
    };
    let kind = KINDS[usize::from(*first) % KINDS.len()];
    let content = tslp_migrations::decode_content(kind, payload);
    let Ok(event) = tslp_migrations::decode(kind, payload) else {
        return;
    };
    if let Event::Content(whole) = &event {
        let borrowed = content.ok().flatten().map(|content| content.bytes.to_vec());
        assert_eq!(borrowed.as_deref(), Some(&*whole.bytes));
    }
    let encoded = match tslp_migrations::encode(&event) {
        Ok(encoded) => encoded,
        Err(error) => panic!("{event:?} was decoded and can't be encoded: {error}"),
    };
    assert_eq!(encoded.kind, kind);
    assert_eq!(
        tslp_migrations::decode(encoded.kind, &encoded.payload),
        Ok(event)
    );
}

/// Events without sense fold without a panic, and their row changes agree with their rows.
pub fn fold_events(data: &[u8]) {
    invariants::check_nonsense_folds(data);
}

/// The law holds after every step of a random story.
pub fn stories(data: &[u8]) {
    player::play_story(data);
}
