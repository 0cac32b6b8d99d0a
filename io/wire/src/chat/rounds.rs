//! One response to the client, whose end waits until the engine has judged it. There may be several rounds: the model asks for
//! tools, gets their results, and goes on.
//!
//! Until a round turns out not to be the last, every byte is passed on as it came. A stream's last events are kept back until it is
//! known whether another round follows, and so is a whole body. What is said after the first round, by the engine or by the model, is
//! more text of the same reply: a stream's further pieces, and the kept end repeats the whole text, where it repeats any, with the
//! usage of all rounds. A call of the client's own tools is kept back until it is complete and the engine has judged it: a client
//! can't use one before. A text that may be such calls is kept back from where they would begin.

use std::sync::Arc;

use serde_json::{Map, Value};
use tslp_core::delimiter;
use tslp_core::event::{PartKind, ServerUsage};
use tslp_core::message::ToolCall;

pub use super::delivered_calls::DeliveredCalls;
use super::delivered_calls::with_calls;
use super::dialect::Dialect;
use super::ending;
pub use super::ending::ResponseForm;
use super::held_calls::{self, ALL_CALLS, CallGate, CallVerdict, StreamEvent};
use super::lenient::value_of;
use super::lost_calls::{LostCallWatch, OfferedTools};
use super::reply::{DecodedPiece, ReplyDecoder};

/// Longest body, and longest end of a stream, that is kept back; a longer one is passed on, and asks for nothing.
pub const HELD_BYTES_MAX: usize = 1 << 20;

/// The response so far.
#[derive(Debug)]
pub struct ResponseRounds {
    form: ResponseForm,
    dialect: Dialect,
    /// Whether the block that came last is text, where blocks say what they are.
    in_text: bool,
    /// Events of the first round that weren't passed on, because they are its last ones or follow a call that isn't judged yet.
    waiting: Vec<StreamEvent>,
    /// Half an event; a whole body; the last events, once the round is over.
    held: Vec<u8>,
    /// Reads the first round.
    decoder: ReplyDecoder,
    /// The numbers of a whole body's calls, in their order in it.
    whole_calls: Vec<usize>,
    /// The calls of the client's own tools, once there is one.
    gate: Option<CallGate>,
    /// Whether the round's last events have begun.
    ends: bool,
    /// The members that all pieces share, from the first one, where pieces have any.
    shared: Map<String, Value>,
    /// What was said after the first round's text.
    said: String,
    /// The rounds after the first one.
    later: Option<LaterRounds>,
    /// Where the text may be calls.
    watch: Option<Box<LostCallWatch>>,
    /// What other responses cost that were asked for in the same turn.
    usage: ServerUsage,
}

/// The rounds after the first one.
#[derive(Debug)]
struct LaterRounds {
    /// Reads the one that is under way.
    decoder: ReplyDecoder,
    /// Why the last one ended.
    finish_reason: Option<String>,
}

impl LaterRounds {
    fn new(dialect: Dialect) -> Self {
        Self {
            decoder: ReplyDecoder::new(dialect),
            finish_reason: None,
        }
    }

    /// The round that was under way is over: what it cost.
    fn end_round(&mut self) -> ServerUsage {
        let dialect = self.decoder.dialect();
        let decoder = std::mem::replace(&mut self.decoder, ReplyDecoder::new(dialect));
        let usage = decoder.server_usage().unwrap_or_default();
        self.finish_reason = decoder.into_parts().1;
        usage
    }
}

impl ResponseRounds {
    /// Before the first byte.
    #[must_use]
    pub fn new(form: ResponseForm, dialect: Dialect) -> Self {
        Self {
            form,
            dialect,
            in_text: true,
            waiting: Vec::new(),
            held: Vec::new(),
            decoder: ReplyDecoder::new(dialect),
            whole_calls: Vec::new(),
            gate: None,
            ends: false,
            shared: Map::new(),
            said: String::new(),
            later: None,
            watch: None,
            usage: ServerUsage::default(),
        }
    }

    /// Adds what another response of the same turn cost: the client's figures are those of all.
    pub fn add_usage(&mut self, usage: ServerUsage) {
        for (sum, more) in [
            (&mut self.usage.prompt_tokens, usage.prompt_tokens),
            (&mut self.usage.completion_tokens, usage.completion_tokens),
        ] {
            *sum = match (*sum, more) {
                (Some(sum), Some(more)) => Some(sum.saturating_add(more)),
                (sum, more) => sum.or(more),
            };
        }
    }

    /// Keeps back what may be calls of the tools that the client offers, written as text.
    #[must_use]
    pub fn with_watch(mut self, tools: Arc<OfferedTools>) -> Self {
        self.watch = Some(Box::new(LostCallWatch::new(tools)));
        self
    }

    /// The form of the response.
    #[must_use]
    pub const fn response_form(&self) -> ResponseForm {
        self.form
    }

    /// Whether a stream's last events are kept back.
    #[must_use]
    pub const fn is_ending(&self) -> bool {
        self.ends
    }

    /// Whether the response has calls of the client's own tools, or may have one that isn't read yet.
    #[must_use]
    pub fn may_hold_calls(&self) -> bool {
        let may_begin = held_calls::may_open_call(self.dialect, &self.held);
        self.form == ResponseForm::Whole || may_begin || self.has_calls()
    }

    fn is_open(&self, event: &StreamEvent) -> bool {
        let gate = self.gate.as_ref();
        gate.is_some_and(|gate| event.calls.iter().any(|number| gate.is_open(*number)))
    }

    /// Whether there was a call of the client's own tools, or what can't be read.
    #[must_use]
    pub fn has_calls(&self) -> bool {
        !self.decoder.call_numbers().is_empty() || self.decoder.is_unreadable()
    }

    /// Whether text is kept back that may be calls.
    #[must_use]
    pub fn holds_text(&self) -> bool {
        let watch = self.watch.as_ref();
        watch.is_some_and(|watch| self.form == ResponseForm::Whole || !watch.held().is_empty())
    }

    /// The client gets calls in the place of the text that they were written as.
    pub fn deliver_calls(&mut self, delivered: &DeliveredCalls) {
        let held = self.take_held();
        self.held = with_calls(self.dialect, self.form, &self.shared, &held, delivered);
        // They are judged.
        self.gate = None;
    }

    /// Whether there was a round before this one.
    #[must_use]
    pub const fn is_continued(&self) -> bool {
        self.later.is_some()
    }

    /// Bytes that are kept back.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        let later = self.later.as_ref();
        let waiting = self.waiting.iter().map(|event| event.bytes.len());
        self.held.len()
            + waiting.sum::<usize>()
            + later.map_or(0, |later| later.decoder.kept_bytes())
    }

    /// Everything that was kept back, as it came.
    #[must_use]
    pub fn take_held(&mut self) -> Vec<u8> {
        let waiting = std::mem::take(&mut self.waiting).into_iter();
        let mut held: Vec<u8> = waiting.flat_map(|event| event.bytes).collect();
        held.append(&mut self.held);
        held
    }

    /// Takes more of the model server's response; returns the bytes that the client gets now.
    pub fn push(&mut self, data: &[u8]) -> Vec<u8> {
        if let Some(later) = &mut self.later {
            let piece = later.decoder.push(data);
            self.ends = later.decoder.is_finished();
            return self.pass_on(&piece);
        }
        self.held.extend_from_slice(data);
        if self.form == ResponseForm::Whole {
            return Vec::new();
        }
        let mut came = std::mem::take(&mut self.held);
        let mut at = 0;
        while let Some(length) = self.event_length(&came[at..]) {
            self.take_event(came[at..at + length].to_vec());
            at += length;
        }
        self.held = came.split_off(at);
        self.let_go(false)
    }

    /// The length of the first event; a line of JSON is one.
    fn event_length(&self, bytes: &[u8]) -> Option<usize> {
        match self.dialect.streams_json_lines() {
            true => memchr::memchr(b'\n', bytes).map(|end| end + 1),
            false => event_length(bytes),
        }
    }

    fn take_event(&mut self, bytes: Vec<u8>) {
        let event = &bytes[..];
        // Hardly any event has several lines of data.
        let has_lines = memchr::memmem::find_iter(event, b"data:").nth(1).is_some();
        if has_lines && !ending::shares_members(self.dialect) {
            let values = ending::values_in(self.dialect, event);
            if values.len() > 1 {
                // Each is about an item of its own.
                let events = values.iter().map(|it| [b"data: ", &**it, b"\n\n"].concat());
                return events.for_each(|event| self.take_event(event));
            }
        }
        if self.shared.is_empty() && ending::shares_members(self.dialect) {
            let values = ending::values_in(self.dialect, event);
            let json = values.first().and_then(|value| value_of(value));
            self.shared = json.as_ref().map(ending::shared_of).unwrap_or_default();
        }
        if let Some(is_text) = ending::opens_text(self.dialect, event) {
            self.in_text = is_text;
        }
        let piece = self.decoder.push(event);
        let mut calls = piece.calls;
        if self.decoder.is_given_up() {
            calls.extend(held_calls::may_open_call(self.dialect, event).then_some(ALL_CALLS));
        } else if self.decoder.is_unreadable() {
            let unread = held_calls::unread_in(&self.decoder, event);
            calls.extend(std::iter::repeat_n(ALL_CALLS, unread));
        }
        if self.has_calls() || !calls.is_empty() {
            self.gate.get_or_insert_default();
            // A reply with real calls needs no search for written ones.
            self.watch = None;
        }
        let may_be_calls = self.watch.as_mut().is_some_and(|watch| {
            watch.push(&piece.text);
            // A block that is opened and stays empty goes with the text that it was opened for.
            !watch.held().is_empty() || ending::opens_text_block(self.dialect, event)
        });
        if !may_be_calls {
            let waiting = self.waiting.iter_mut();
            waiting.for_each(|event| event.may_be_calls = false);
        }
        // The last events say what the whole reply was, which another round would make false: they wait. A call's own block has
        // nothing in it that could go on.
        let begins = ending::begins(self.dialect, event);
        self.ends = match self.ends {
            true => !ending::resumes(self.dialect, event),
            false => begins && (calls.is_empty() || self.dialect != Dialect::Messages),
        };
        if !self.ends {
            self.waiting
                .iter_mut()
                .for_each(|event| event.is_end = false);
        }
        let is_end = self.ends;
        self.waiting.push(StreamEvent {
            bytes,
            calls,
            is_end,
            may_be_calls,
        });
    }

    /// The calls of the client's own tools that have become complete, each once. `is_over`: the whole response came.
    pub fn complete_calls(&mut self, is_over: bool) -> Vec<(usize, ToolCall)> {
        let is_unread = self.form == ResponseForm::Whole && self.gate.is_none();
        if is_over && is_unread && self.later.is_none() {
            self.gate = Some(CallGate::default());
            self.whole_calls = self.decoder.push(&self.held).calls;
            self.whole_calls.extend(self.decoder.end_message().calls);
        } else if is_over && self.form == ResponseForm::Stream && self.later.is_none() {
            // Not every server ends its last event.
            let rest = std::mem::take(&mut self.held);
            if !rest.is_empty() {
                self.take_event([&*rest, b"\n\n"].concat());
            }
            let calls = self.decoder.end_message().calls;
            if let Some(last) = self.waiting.last_mut().filter(|_| !calls.is_empty()) {
                self.gate.get_or_insert_default();
                last.calls.extend(calls);
            }
        }
        let gate = self.gate.as_mut();
        gate.map_or_else(Vec::new, |gate| gate.complete_calls(&mut self.decoder))
    }

    /// A call was judged; returns the bytes that the client gets now.
    pub fn call_judged(&mut self, number: usize, verdict: CallVerdict) -> Vec<u8> {
        if let Some(gate) = &mut self.gate {
            gate.judge(number, verdict);
        }
        self.let_go(false)
    }

    /// Passes on the events that wait for nothing any more; once the round is over all of them, but for the last ones, which are held.
    /// Pieces of a call may overtake those of another one that isn't judged yet, since each has its call's number.
    fn let_go(&mut self, is_over: bool) -> Vec<u8> {
        let (mut passed, mut kept) = (Vec::new(), Vec::new());
        let rest = match is_over {
            true => std::mem::take(&mut self.held),
            false => Vec::new(),
        };
        let mut waits_for_text = false;
        for event in std::mem::take(&mut self.waiting) {
            waits_for_text |= event.may_be_calls;
            let waits = match event.calls.is_empty() {
                true => waits_for_text || !kept.is_empty(),
                false => waits_for_text || self.is_open(&event),
            };
            let is_end = event.is_end;
            if !is_over && (waits || is_end) {
                kept.push(event);
                continue;
            }
            let (said, bytes) = match &mut self.gate {
                Some(gate) => gate.pass(&self.decoder, event),
                None => (String::new(), event.bytes),
            };
            passed.extend(self.say(&said));
            match is_end {
                true => self.held.extend(bytes),
                false => passed.extend(bytes),
            }
        }
        self.held.extend(rest);
        self.waiting = kept;
        passed
    }

    /// Says something in the model's place, after all that it said in this round; nothing where a stream ends with no text.
    pub fn say_for_model(&mut self, text: &str) -> Vec<u8> {
        let mut passed = self.close_round();
        if self.in_text {
            passed.extend(self.say(text));
        }
        passed
    }

    /// Another round follows.
    pub fn next_round(&mut self) -> Vec<u8> {
        let passed = self.close_round();
        match &mut self.later {
            Some(later) => {
                let usage = later.end_round();
                self.add_usage(usage);
            }
            None => self.later = Some(LaterRounds::new(self.dialect)),
        }
        self.ends = false;
        passed
    }

    /// No round follows: returns the client's remaining bytes.
    #[must_use]
    pub fn last_bytes(mut self) -> Vec<u8> {
        let mut passed = self.end_first_round();
        if self.later.is_some() || !self.said.is_empty() {
            passed.extend(self.close_round());
        } else if self.usage == ServerUsage::default() && !self.repeats_blocks() {
            passed.extend(self.held);
            return passed;
        }
        let mut later = self.later.take();
        if let Some(usage) = later.as_mut().map(LaterRounds::end_round) {
            self.add_usage(usage);
        }
        let addition = ending::Addition {
            text: &self.said,
            usage: self.usage,
            finish_reason: later.as_ref().and_then(|it| it.finish_reason.as_deref()),
            ..ending::Addition::default()
        };
        passed.extend(ending::completed(
            self.dialect,
            self.form,
            &self.held,
            &addition,
        ));
        passed
    }

    /// Whether a whole body may repeat what the proxy told the model: the client gets it without.
    fn repeats_blocks(&self) -> bool {
        self.form == ResponseForm::Whole && delimiter::is_in(&self.held)
    }

    /// Passes on the text that is among the round's last events.
    fn close_round(&mut self) -> Vec<u8> {
        if let Some(later) = &mut self.later {
            let piece = later.decoder.end_message();
            return self.pass_on(&piece);
        }
        let mut passed = self.end_first_round();
        if self.form == ResponseForm::Stream {
            let (text, held) = ending::without_text(self.dialect, &self.held);
            self.held = held;
            if !text.is_empty() {
                passed.extend(self.piece(PartKind::OtherText, &text));
            }
        }
        passed
    }

    /// The first round is over: its calls are judged, or never will be.
    fn end_first_round(&mut self) -> Vec<u8> {
        if self.form == ResponseForm::Stream {
            return self.let_go(true);
        }
        if let Some(mut gate) = self.gate.take() {
            let (said, body) = gate.pass_body(
                &self.decoder,
                std::mem::take(&mut self.whole_calls),
                &self.held,
            );
            self.held = body;
            self.said.push_str(&said);
        }
        Vec::new()
    }

    /// More of the reply, as the model's own.
    fn pass_on(&mut self, more: &DecodedPiece) -> Vec<u8> {
        let mut passed = Vec::new();
        let is_stream = self.form == ResponseForm::Stream;
        for (kind, _, thought) in more.parts.iter().filter(|_| is_stream) {
            if *kind == PartKind::Reasoning {
                passed.extend(self.piece(*kind, thought));
            }
        }
        passed.extend(self.say(&more.text));
        passed
    }

    /// More of the reply's text.
    fn say(&mut self, text: &str) -> Vec<u8> {
        self.said.push_str(text);
        match self.form {
            ResponseForm::Stream if !text.is_empty() => self.piece(PartKind::OtherText, text),
            _ => Vec::new(),
        }
    }

    fn piece(&self, kind: PartKind, text: &str) -> Vec<u8> {
        ending::piece(self.dialect, &self.shared, &self.held, kind, text)
    }
}

/// The end of the first event, with the blank line after it; lines end LF, CRLF or CR.
fn event_length(bytes: &[u8]) -> Option<usize> {
    let mut line = 0;
    let mut has_words = false;
    while let Some(end) = memchr::memchr2(b'\n', b'\r', &bytes[line..]) {
        let next = match &bytes[line + end..] {
            [b'\r', b'\n', ..] => end + 2,
            // An LF may follow.
            [b'\r'] => return None,
            _ => end + 1,
        };
        line += next;
        if end == 0 && has_words {
            return Some(line);
        }
        has_words |= end > 0;
    }
    None
}
