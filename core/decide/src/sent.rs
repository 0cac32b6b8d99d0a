//! A prompt has gone to the model: what it was is put on record, each piece once.

use alloc::vec::Vec;
use tslp_projections::state::StateView;

use super::Recorder;
use tslp_core::event::{ContentKind, Event, PromptBase, PromptSent};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::EpisodeId;

/// A piece of a request, as the ledger may hold it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SentPiece {
    /// A piece that the Vault holds, by its address.
    OnRecord(ArtifactHash),
    /// The bytes of a piece that the Vault may not hold.
    New(Vec<u8>),
}

/// A request that has gone to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentPrompt {
    /// Its episode.
    pub episode: EpisodeId,
    /// Everything around its messages.
    pub frame: SentPiece,
    /// The recorded prompt that its first messages are taken from.
    pub base: Option<PromptBase>,
    /// The other messages.
    pub messages: Vec<SentPiece>,
}

/// Records the request, storing each new piece once.
#[must_use]
pub fn record_sent(view: &StateView<'_>, prompt: SentPrompt) -> Vec<Event> {
    let mut recorder = Recorder::new(view);
    let mut stored = |piece: SentPiece| match piece {
        SentPiece::OnRecord(hash) => hash,
        SentPiece::New(bytes) => recorder.store(ContentKind::PromptPiece, &bytes),
    };
    let sent = PromptSent {
        episode: prompt.episode,
        frame: stored(prompt.frame),
        base: prompt.base,
        messages: prompt.messages.into_iter().map(stored).collect(),
    };
    recorder.push(Event::PromptSent(sent));
    recorder.into_events()
}
