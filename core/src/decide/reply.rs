//! A reply comes in, piece by piece, and ends.

use alloc::string::String;
use alloc::vec::Vec;

use super::Recorder;
use crate::event::{ContentKind, Event, ReplyEnded, ReplyOutcome, ReplySegment, ToolCallRef};
use crate::hash::ArtifactHash;
use crate::ids::EpisodeId;
use crate::limits::REPLY_HELD_BYTES_MAX;
use crate::message::{self, Role, ToolCall, key_of};
use crate::redact;
use crate::view::View;

/// A reply as it is collected from its stream.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// Text that has an event of its own already: its pieces' addresses and lengths.
    pub segments: Vec<(ArtifactHash, usize)>,
    /// All text so far, without credentials.
    pub text: String,
    /// Text that is in no segment yet, as it came.
    pub tail: String,
    /// Tool calls.
    pub tool_calls: Vec<ToolCall>,
    /// The upstream's `finish_reason`.
    pub finish_reason: Option<String>,
}

impl Reply {
    /// Moves the text collected so far into a segment, as far as no credential can go on after it: one that was cut in
    /// two would not be recognised.
    #[must_use]
    pub fn segment(&mut self, view: &dyn View, episode: EpisodeId) -> Vec<Event> {
        let rest = self.tail.split_off(self.cut());
        let mut recorder = Recorder::new(view);
        let content = self.take_tail(&mut recorder);
        self.tail = rest;
        if let Some(content) = content {
            recorder.push(Event::ReplySegment(ReplySegment { episode, content }));
        }
        recorder.into_events()
    }

    /// Where the text may be cut. What is longer than any credential is cut anywhere, so that memory stays bounded.
    fn cut(&self) -> usize {
        let cut = redact::safe_cut(&self.tail);
        if self.tail.len() - cut > REPLY_HELD_BYTES_MAX {
            self.tail.len()
        } else {
            cut
        }
    }

    fn take_tail(&mut self, recorder: &mut Recorder<'_>) -> Option<ArtifactHash> {
        let raw = core::mem::take(&mut self.tail);
        if raw.is_empty() {
            return None;
        }
        let text = redact::redacted(&raw);
        let content = recorder.store(ContentKind::Reply, text.as_bytes());
        self.segments.push((content, text.len()));
        self.text.push_str(&text);
        Some(content)
    }

    /// Ends the reply.
    #[must_use]
    pub fn end(
        &mut self,
        view: &dyn View,
        episode: EpisodeId,
        outcome: ReplyOutcome,
    ) -> Vec<Event> {
        let mut recorder = Recorder::new(view);
        self.take_tail(&mut recorder);
        let tool_calls = self
            .tool_calls
            .iter()
            .map(|call| ToolCallRef {
                name: redact::redacted(&call.name).into_owned(),
                arguments: recorder.store(
                    ContentKind::ToolArguments,
                    redact::redacted(&call.arguments).as_bytes(),
                ),
            })
            .collect();
        recorder.push(Event::ReplyEnded(ReplyEnded {
            episode,
            outcome,
            finish_reason: self
                .finish_reason
                .as_deref()
                .map(|reason| redact::redacted(reason).into_owned()),
            key: key_of(
                Role::Assistant,
                &message::recordable(&self.text),
                &self.tool_calls,
            ),
            segments: self.segments.iter().map(|(content, _)| *content).collect(),
            tool_calls,
        }));
        recorder.into_events()
    }
}
