//! A prompt has gone to the model: what it was is put on record, each piece once.

use alloc::vec::Vec;
use tslp_projections::state::StateView;

use crate::Recorder;
use tslp_core::event::{ContentKind, Event, PromptSent};
use tslp_core::outgoing::{SentPiece, SentPrompt};

/// Records the request, storing each new piece once.
#[must_use]
pub fn record_sent(view: &StateView<'_>, prompt: SentPrompt) -> Vec<Event> {
    let mut recorder = Recorder::new(view);
    let mut stored = |piece: SentPiece| match piece {
        SentPiece::OnRecord(hash) => hash,
        SentPiece::New(bytes) => recorder.store(ContentKind::PromptPiece, &bytes),
    };
    let sent = PromptSent {
        frame: stored(prompt.frame),
        base: prompt.base,
        messages: prompt.messages.into_iter().map(stored).collect(),
    };
    recorder.push(Event::PromptSent(sent));
    recorder.into_events()
}
