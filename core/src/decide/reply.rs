//! A reply comes in, piece by piece, and ends.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::Recorder;
use crate::event::{
    ContentKind, Event, PartKind, ReplyEnded, ReplyOutcome, ReplyPart, ReplySegment, ToolCallRef,
};
use crate::hash::ArtifactHash;
use crate::ids::EpisodeId;
use crate::limits::{
    ERROR_BYTES_MAX, REPLY_HELD_BYTES_MAX, REPLY_PARTS_BYTES_MAX, REPLY_PARTS_MAX,
};
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
    /// What it holds besides: it is recorded, and nothing is decided by it.
    pub parts: ReplyParts,
}

/// What a reply holds besides what is judged, by kind and choice.
#[derive(Clone, Debug, Default)]
pub struct ReplyParts {
    parts: BTreeMap<(PartKind, u32), Part>,
    /// Bytes of all of them that were kept.
    kept_bytes: usize,
}

/// One of them, as far as it isn't recorded.
#[derive(Clone, Debug, Default)]
struct Part {
    tail: String,
    kept_bytes: usize,
    left_out_bytes: u64,
}

impl Reply {
    /// Bytes of text that no event holds yet.
    #[must_use]
    pub fn unrecorded_bytes(&self) -> usize {
        self.tail.len() + self.parts.unrecorded_bytes()
    }

    /// Moves the text collected so far into a segment, and what else there is into pieces, as far as no credential can go
    /// on after it: one that was cut in two would not be recognised.
    #[must_use]
    pub fn segment(&mut self, view: &dyn View, episode: EpisodeId) -> Vec<Event> {
        let mut recorder = Recorder::new(view);
        self.parts.record_pieces(&mut recorder, episode);
        let rest = self.tail.split_off(cut(&self.tail));
        let content = self.take_tail(&mut recorder);
        self.tail = rest;
        if let Some(content) = content {
            recorder.push(Event::ReplySegment(ReplySegment { episode, content }));
        }
        recorder.into_events()
    }

    /// Moves all text collected so far into a segment: a part of the reply is over.
    #[must_use]
    pub fn whole_segment(&mut self, view: &dyn View, episode: EpisodeId) -> Vec<Event> {
        let mut recorder = Recorder::new(view);
        if let Some(content) = self.take_tail(&mut recorder) {
            recorder.push(Event::ReplySegment(ReplySegment { episode, content }));
        }
        recorder.into_events()
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
        self.parts.record_rest(&mut recorder, episode);
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

impl ReplyParts {
    /// Takes more. Beyond the bounds it is counted, and left out.
    pub fn add(&mut self, kind: PartKind, choice: u32, text: &str) {
        if text.is_empty() {
            return;
        }
        let is_known = self.parts.contains_key(&(kind, choice));
        if !is_known && self.parts.len() == REPLY_PARTS_MAX {
            if let Some((_, last)) = self.parts.iter_mut().next_back() {
                last.left_out_bytes += text.len() as u64;
            }
            return;
        }
        let part = self.parts.entry((kind, choice)).or_default();
        let mut room = REPLY_PARTS_BYTES_MAX - self.kept_bytes;
        if kind == PartKind::Error {
            room = room.min(ERROR_BYTES_MAX - part.kept_bytes);
        }
        // What comes after a gap would read as if there were none.
        let mut kept = if part.left_out_bytes > 0 {
            0
        } else {
            room.min(text.len())
        };
        while !text.is_char_boundary(kept) {
            kept -= 1;
        }
        part.tail.push_str(&text[..kept]);
        part.kept_bytes += kept;
        self.kept_bytes += kept;
        part.left_out_bytes += (text.len() - kept) as u64;
    }

    /// Some of a part came and isn't here.
    pub fn leave_out(&mut self, kind: PartKind, choice: u32, bytes: u64) {
        if let Some(part) = self.parts.get_mut(&(kind, choice)) {
            part.left_out_bytes += bytes;
        }
    }

    fn unrecorded_bytes(&self) -> usize {
        self.parts.values().map(|part| part.tail.len()).sum()
    }

    /// Records what can be redacted by itself.
    fn record_pieces(&mut self, recorder: &mut Recorder<'_>, episode: EpisodeId) {
        for (of, part) in &mut self.parts {
            // What was left out is told with the last piece.
            if part.left_out_bytes == 0 {
                let rest = part.tail.split_off(cut(&part.tail));
                part.record(recorder, episode, *of);
                part.tail = rest;
            }
        }
    }

    fn record_rest(&mut self, recorder: &mut Recorder<'_>, episode: EpisodeId) {
        for (of, part) in &mut self.parts {
            part.record(recorder, episode, *of);
        }
    }
}

impl Part {
    /// Records the tail, and how much was left out after it.
    fn record(
        &mut self,
        recorder: &mut Recorder<'_>,
        episode: EpisodeId,
        (kind, choice): (PartKind, u32),
    ) {
        let mut raw = core::mem::take(&mut self.tail);
        let mut left_out_bytes = core::mem::take(&mut self.left_out_bytes);
        if left_out_bytes > 0 {
            // Half a credential may not look like one.
            let whole = cut(&raw);
            left_out_bytes += (raw.len() - whole) as u64;
            raw.truncate(whole);
        }
        if raw.is_empty() && left_out_bytes == 0 {
            return;
        }
        let content = recorder.store(ContentKind::Reply, redact::redacted(&raw).as_bytes());
        recorder.push(Event::ReplyPart(ReplyPart {
            episode,
            kind,
            choice,
            content,
            left_out_bytes,
        }));
    }
}

/// Where text may be cut. What is longer than any credential is cut anywhere, so that memory stays bounded.
fn cut(text: &str) -> usize {
    let cut = redact::safe_cut(text);
    if text.len() - cut > REPLY_HELD_BYTES_MAX {
        text.len()
    } else {
        cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(parts: &ReplyParts, of: (PartKind, u32), kept: usize, left_out: u64) {
        let part = &parts.parts[&of];
        let found = (part.tail.len(), part.left_out_bytes);
        assert_eq!(found, (kept, left_out), "{of:?}");
    }

    #[test]
    fn what_is_beyond_the_bounds_is_counted() {
        let mut parts = ReplyParts::default();
        let error = (PartKind::Error, 0);
        // A character isn't cut in two, and what follows a gap is left out.
        parts.add(error.0, error.1, &"é".repeat(ERROR_BYTES_MAX / 2 - 1));
        parts.add(error.0, error.1, "xéé");
        parts.add(error.0, error.1, "y");
        check(&parts, error, ERROR_BYTES_MAX - 1, 5);
        let thoughts = (PartKind::Reasoning, 0);
        for _ in 0..3 {
            parts.add(
                thoughts.0,
                thoughts.1,
                &"x".repeat(REPLY_PARTS_BYTES_MAX / 2),
            );
        }
        let kept = REPLY_PARTS_BYTES_MAX - (ERROR_BYTES_MAX - 1);
        let came = REPLY_PARTS_BYTES_MAX / 2 * 3;
        check(&parts, thoughts, kept, (came - kept) as u64);
        assert_eq!(parts.unrecorded_bytes(), REPLY_PARTS_BYTES_MAX);
    }

    #[test]
    fn kinds_and_choices_without_end_are_bounded() {
        let mut parts = ReplyParts::default();
        for choice in 1..1000 {
            parts.add(PartKind::OtherText, choice, "ab");
        }
        assert_eq!(parts.parts.len(), REPLY_PARTS_MAX);
        let left_out: u64 = parts.parts.values().map(|part| part.left_out_bytes).sum();
        assert_eq!(left_out, 2 * (999 - REPLY_PARTS_MAX as u64));
    }
}
