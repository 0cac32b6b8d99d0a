//! A reply comes in, piece by piece, and ends.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use tslp_projections::state::StateView;

use crate::Recorder;
use tslp_core::event::{
    ContentKind, Event, PartKind, ReplyEnded, ReplyOutcome, ReplyPart, ReplySegment, ToolCallRef,
};
use tslp_core::hash::ArtifactHash;
use tslp_core::limits::{
    ERROR_BYTES_MAX, REPLY_HELD_BYTES_MAX, REPLY_PARTS_BYTES_MAX, REPLY_PARTS_MAX,
};
use tslp_core::message::{self, Role, ToolCall, message_key};
use tslp_core::redact;

/// A reply as it is collected from its stream.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// The text that is recorded already: each segment's address and length in bytes.
    pub segments: Vec<(ArtifactHash, usize)>,
    /// All text so far, without credentials.
    pub text: String,
    /// Text that is in no segment yet, not redacted.
    pub tail: String,
    /// Tool calls.
    pub tool_calls: Vec<ToolCall>,
    /// The upstream's `finish_reason`.
    pub finish_reason: Option<String>,
    /// Thoughts and other choices: recorded, and used for no decision.
    pub parts: ReplyParts,
}

/// The parts of a reply that aren't judged, by kind and choice.
#[derive(Clone, Debug, Default)]
pub struct ReplyParts {
    parts: BTreeMap<(PartKind, u32), UnrecordedPart>,
    /// Bytes kept of all parts together.
    kept_bytes: usize,
}

/// The tail of one part that isn't recorded yet.
#[derive(Clone, Debug, Default)]
struct UnrecordedPart {
    tail: String,
    kept_bytes: usize,
    left_out_bytes: u64,
}

/// How much of the text collected so far becomes a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentExtent {
    /// Up to the last point that can't be inside a credential, with the pieces of the other parts: more is to come, and a
    /// credential that is cut in two would not be recognised.
    CredentialSafe,
    /// All of it: a part of the reply has ended.
    Whole,
}

impl Reply {
    /// The bytes of its text so far.
    #[must_use]
    pub const fn said_bytes(&self) -> usize {
        self.text.len() + self.tail.len()
    }

    /// Bytes of text that no event holds yet.
    #[must_use]
    pub fn unrecorded_bytes(&self) -> usize {
        self.tail.len() + self.parts.unrecorded_bytes()
    }

    /// Records the text collected so far as a segment, up to `extent`.
    #[must_use]
    pub fn segment(&mut self, view: &StateView<'_>, extent: SegmentExtent) -> Vec<Event> {
        let mut recorder = Recorder::new(view);
        let rest = match extent {
            SegmentExtent::Whole => String::new(),
            SegmentExtent::CredentialSafe => {
                self.parts.record_pieces(&mut recorder);
                // The rest stays unredacted in the tail, so that it is redacted together with the text that follows it.
                self.tail.split_off(credential_safe_cut(&self.tail))
            }
        };
        let content = self.take_tail(&mut recorder);
        self.tail = rest;
        if let Some(content) = content {
            recorder.push(Event::ReplySegment(ReplySegment { content }));
        }
        recorder.into_events()
    }

    fn take_tail(&mut self, recorder: &mut Recorder<'_>) -> Option<ArtifactHash> {
        let raw = core::mem::take(&mut self.tail);
        if raw.is_empty() {
            return None;
        }
        let text = redact::without_credentials(&raw);
        let content = recorder.store(ContentKind::Reply, text.as_bytes());
        self.segments.push((content, text.len()));
        self.text.push_str(&text);
        Some(content)
    }

    /// Records the reply's end with everything that isn't recorded yet.
    #[must_use]
    pub fn end(&mut self, view: &StateView<'_>, outcome: ReplyOutcome) -> Vec<Event> {
        let mut recorder = Recorder::new(view);
        self.parts.record_rest(&mut recorder);
        self.take_tail(&mut recorder);
        let tool_calls = store_calls(&mut recorder, &self.tool_calls);
        recorder.push(Event::ReplyEnded(ReplyEnded {
            outcome,
            finish_reason: self
                .finish_reason
                .as_deref()
                .map(|reason| redact::without_credentials(reason).into_owned()),
            key: message_key(
                Role::Assistant,
                &message::recordable(Role::Assistant, &self.text),
                &self.tool_calls,
            ),
            segments: self.segments.iter().map(|(content, _)| *content).collect(),
            tool_calls,
        }));
        recorder.into_events()
    }
}

/// Records a call's arguments while its reply is still coming.
#[must_use]
pub fn record_arguments(view: &StateView<'_>, arguments: &str) -> Vec<Event> {
    let mut recorder = Recorder::new(view);
    store_arguments(&mut recorder, arguments);
    recorder.into_events()
}

/// Calls whose arguments are recorded.
#[must_use]
pub fn call_refs(view: &StateView<'_>, calls: &[ToolCall]) -> Vec<ToolCallRef> {
    store_calls(&mut Recorder::new(view), calls)
}

fn store_calls(recorder: &mut Recorder<'_>, calls: &[ToolCall]) -> Vec<ToolCallRef> {
    let stored = calls.iter().map(|call| ToolCallRef {
        name: redact::without_credentials(&call.name).into_owned(),
        arguments: store_arguments(recorder, &call.arguments),
    });
    stored.collect()
}

fn store_arguments(recorder: &mut Recorder<'_>, arguments: &str) -> ArtifactHash {
    let recorded = redact::without_credentials(arguments);
    recorder.store(ContentKind::ToolArguments, recorded.as_bytes())
}

impl ReplyParts {
    /// Adds text to a part. Text beyond the bounds is left out and counted.
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

    /// Counts bytes of a part that came and were left out before they got here.
    pub fn leave_out(&mut self, kind: PartKind, choice: u32, bytes: u64) {
        if let Some(part) = self.parts.get_mut(&(kind, choice)) {
            part.left_out_bytes += bytes;
        }
    }

    fn unrecorded_bytes(&self) -> usize {
        self.parts.values().map(|part| part.tail.len()).sum()
    }

    /// Records of each part what can be redacted without the text that follows.
    fn record_pieces(&mut self, recorder: &mut Recorder<'_>) {
        for (of, part) in &mut self.parts {
            // The count of left-out bytes belongs to the part's last piece.
            if part.left_out_bytes == 0 {
                let rest = part.tail.split_off(credential_safe_cut(&part.tail));
                part.record_tail(recorder, *of);
                part.tail = rest;
            }
        }
    }

    fn record_rest(&mut self, recorder: &mut Recorder<'_>) {
        for (of, part) in &mut self.parts {
            part.record_tail(recorder, *of);
        }
    }
}

impl UnrecordedPart {
    /// Records the tail, and how much was left out after it.
    fn record_tail(&mut self, recorder: &mut Recorder<'_>, (kind, choice): (PartKind, u32)) {
        let mut raw = core::mem::take(&mut self.tail);
        let mut left_out_bytes = core::mem::take(&mut self.left_out_bytes);
        if left_out_bytes > 0 {
            // Half a credential may not look like one.
            let whole = credential_safe_cut(&raw);
            left_out_bytes += (raw.len() - whole) as u64;
            raw.truncate(whole);
        }
        if raw.is_empty() && left_out_bytes == 0 {
            return;
        }
        let content = recorder.store(
            ContentKind::Reply,
            redact::without_credentials(&raw).as_bytes(),
        );
        recorder.push(Event::ReplyPart(ReplyPart {
            kind,
            choice,
            content,
            left_out_bytes,
        }));
    }
}

/// The position up to which text can be redacted by itself. If the tail held back exceeds the
/// longest credential, it is cut anyway, to bound memory.
fn credential_safe_cut(text: &str) -> usize {
    let cut = redact::safe_cut(text);
    debug_assert!(text.is_char_boundary(cut), "words end between characters");
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
    fn beyond_bounds() {
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
    fn bounded_parts() {
        let mut parts = ReplyParts::default();
        for choice in 1..1000 {
            parts.add(PartKind::OtherText, choice, "ab");
        }
        assert_eq!(parts.parts.len(), REPLY_PARTS_MAX);
        let left_out: u64 = parts.parts.values().map(|part| part.left_out_bytes).sum();
        assert_eq!(left_out, 2 * (999 - REPLY_PARTS_MAX as u64));
    }
}
