//! Who said which text first, for the newest texts: what a user's message repeats of them isn't the user's.

use alloc::collections::BTreeSet;
use core::ops::Bound;

use tslp_core::event::{Author, ContentKind, Event, Recorded};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, Seq};
use tslp_core::limits::AUTHORED_TEXTS_KEPT;
use tslp_core::message::Role;

use crate::row_map::RowMap;

row! {
    #[derive(Copy)]
    /// `provenance`: a text with who said it first.
    pub struct ProvenanceRow in table "provenance", version 2;
    key {
        /// The event that says so.
        seq: Seq,
        /// Which of that event's texts.
        position: u32,
    }
    values {
        /// The text.
        text: ArtifactHash,
        /// Who.
        author: Author,
        /// The episode.
        episode: EpisodeId,
    }
}

/// The newest texts, each with its author.
#[derive(Default)]
pub struct Provenance {
    pub(crate) texts: RowMap<ProvenanceRow>,
    known: BTreeSet<ArtifactHash>,
}

impl Provenance {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded) {
        match &recorded.event {
            Event::Content(content) => {
                let author = match content.kind {
                    ContentKind::ToolArguments => Author::Call,
                    ContentKind::Evidence => Author::Tool,
                    _ => return,
                };
                self.add(recorded, 0, content.hash, author);
            }
            Event::ReplySegment(segment) => {
                self.add(recorded, 0, segment.content, Author::Model);
            }
            Event::ReplyImported(reply) => {
                self.add(recorded, 0, reply.content, Author::Model);
            }
            Event::ReplyPart(part) => {
                self.add(recorded, 0, part.content, Author::Thought);
            }
            Event::ReplyEnded(ended) => {
                let segments = ended.segments.iter().map(|it| (*it, Author::Model));
                // They are new here only if they were forgotten, or first recorded as something else.
                let calls = ended.tool_calls.iter();
                let calls = calls.map(|call| (call.arguments, Author::Call));
                for (position, (text, author)) in (0..).zip(segments.chain(calls)) {
                    self.add(recorded, position, text, author);
                }
            }
            Event::PromptReceived(prompt) => {
                for (position, message) in (0..).zip(prompt.messages.iter()) {
                    let author = match message.role {
                        Role::User => Author::User,
                        Role::Assistant => Author::Model,
                        Role::Tool => Author::Tool,
                        Role::System | Role::Other => continue,
                    };
                    self.add(recorded, position, message.content, author);
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, recorded: &Recorded, position: u32, text: ArtifactHash, author: Author) {
        if !self.known.insert(text) {
            return;
        }
        let said = ProvenanceRow {
            seq: recorded.seq,
            position,
            text,
            author,
            episode: recorded.episode,
        };
        self.texts.put(said);
        if self.texts.len() > AUTHORED_TEXTS_KEPT
            && let Some(oldest) = self.oldest()
            && let Some(said) = self.texts.remove(&oldest)
        {
            self.known.remove(&said.text);
        }
    }

    pub(crate) fn finish_restoring(&mut self) {
        self.known = self.texts.values().map(|said| said.text).collect();
    }

    /// Where the first of the texts stands: the event that says so, and which of its texts.
    #[must_use]
    pub fn oldest(&self) -> Option<(Seq, u32)> {
        self.texts.first_key_value().map(|(place, _)| *place)
    }

    /// The texts said after the one that stands there, the first said first; without one, all.
    pub fn texts_after(&self, place: Option<(Seq, u32)>) -> impl Iterator<Item = ProvenanceRow> {
        let from = place.map_or(Bound::Unbounded, Bound::Excluded);
        self.texts
            .range((from, Bound::Unbounded))
            .map(|(_, said)| *said)
    }
}
