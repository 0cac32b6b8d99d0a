//! Stored bytes, folds of events without sense, and whole stories.

use tslp_core::event::Event;
use tslp_migrations::{NUMBERS, kind_of};
use tslp_snapshots::random::{invariants, player};

/// Any bytes decode to an event or an error; an event that decodes is stored, printed and read again as the same. The first byte
/// is the number of its kind.
pub(crate) fn decode_event(data: &[u8]) {
    let Some((first, payload)) = data.split_first() else {
        return;
    };
    let kind = match *first {
        u8::MAX => u32::MAX,
        other => NUMBERS[usize::from(other) % NUMBERS.len()],
    };
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
    // What an older layout held is written in the newest.
    assert_eq!(kind_of(encoded.kind), kind_of(kind));
    let printed = serde_json::to_string(&event).ok();
    let read = printed.and_then(|text| serde_json::from_str(&text).ok());
    assert_eq!(read.as_ref(), Some(&event));
    assert_eq!(
        tslp_migrations::decode(encoded.kind, &encoded.payload),
        Ok(event)
    );
}

/// Events without sense fold without a panic, and their row changes agree with their rows.
pub(crate) fn fold_events(data: &[u8]) {
    invariants::check_nonsense_folds(data);
}

/// The law holds after every step of a random story.
pub(crate) fn stories(data: &[u8]) {
    player::play_story(data);
}
