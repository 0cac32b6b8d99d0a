//! One reply on its way from the model server to the client, decoded once: bytes pass, are held, or are replaced, and what was read of
//! them goes to the engine.
//!
//! Every byte is passed on as it came as long as nothing holds it: a call of the client's own tools that isn't complete or judged, a
//! text that may be such calls, the end of the reply, or all of it, if it may be asked for once more. The last events wait until it is
//! known whether another round follows, and so does a whole body. What is said after the first round, by the engine or by the model, is
//! more text of the same reply: a stream's further pieces, and the end repeats the whole text, where it repeats any, with the usage of
//! all rounds.

use std::sync::Arc;

use serde_json::{Map, Value};
use tslp_core::delimiter;
use tslp_core::event::{PartKind, ServerUsage};
use tslp_core::message::ToolCall;

pub use super::delivered_calls::DeliveredCalls;
use super::delivered_calls::deliver;
use super::dialect::Dialect;
use super::encode::{self, Addition, HeldEvent};
pub use super::frames::BodyForm;
use super::frames::{Frame, FrameData, Frames};
use super::held_calls::{CallGate, may_open_call};
pub use super::held_calls::{CallRule, CallVerdict};
use super::lost_calls::{LostCallWatch, OfferedTools};
use super::reply::{DecodedPiece, ReadReply, ReplyDecoder};
use super::reply_content::EventRole;

/// Longest body, and longest part of a stream, that is held; a longer one is passed on, and asks for nothing. A server writes some 300
/// bytes for each token of a call.
const HELD_BYTES_MAX: usize = 4 << 20;

/// What clients of OpenAI's streams hear while their reply is held.
pub const SIGN_OF_LIFE: &[u8] = b": the reply is judged before it is shown\n\n";

/// How a reply is piped.
#[derive(Clone, Debug, Default)]
pub struct PipeRules {
    /// How the client's calls reach it.
    pub calls: CallRule,
    /// The client's tools, if a text that may be calls of them is held.
    pub offered: Option<Arc<OfferedTools>>,
}

/// What was read since the engine heard last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplyRead {
    /// Bytes that it was read from.
    pub bytes: usize,
    /// Text, and what is recorded beside it; without text that may be calls.
    pub said: DecodedPiece,
    /// Paths in the calls that have come.
    pub paths: Vec<String>,
    /// The calls that are complete, each with its number: what completes one waits for [`ReplyPipe::call_judged`].
    pub calls: Vec<(usize, ToolCall)>,
    /// Whether the rest goes to the client as it comes, and nothing can be added to it.
    pub is_passed_on: bool,
}

/// The reply so far.
#[derive(Debug)]
pub struct ReplyPipe {
    dialect: Dialect,
    rules: PipeRules,
    /// Reads the round under way.
    decoder: ReplyDecoder,
    form: BodyForm,
    /// Events that the client doesn't have: those that wait for something, then the round's last ones.
    held: Vec<HeldEvent>,
    /// How many of them, from the first on, are known to wait.
    known_to_wait: usize,
    /// Their bytes.
    held_bytes: usize,
    gate: CallGate,
    /// Whether the round's last events have begun.
    ends: bool,
    /// Whether the block that came last is text, where blocks say what they are.
    in_text: bool,
    /// The members that all pieces share, from the first one, where pieces have any.
    shared: Map<String, Value>,
    /// What was said after the first round's text.
    said: String,
    /// Whether it isn't the first: what is held is the first one's end.
    is_continued: bool,
    /// Where the text may be calls.
    watch: Option<Box<LostCallWatch>>,
    /// What other responses cost that were asked for in the same turn.
    usage: ServerUsage,
    read: ReplyRead,
    /// The first reply, while another one is asked for.
    draft: Option<Box<ReplyPipe>>,
    /// Whether the client gets nothing of it before the engine has judged all of it.
    is_held: bool,
}

impl ReplyPipe {
    /// Before the first byte.
    #[must_use]
    pub fn new(dialect: Dialect, rules: PipeRules) -> Self {
        let watch = rules.offered.clone();
        Self {
            dialect,
            decoder: ReplyDecoder::new(dialect),
            form: BodyForm::Unknown,
            held: Vec::new(),
            known_to_wait: 0,
            held_bytes: 0,
            gate: CallGate::of_rule(rules.calls),
            ends: false,
            in_text: true,
            shared: Map::new(),
            said: String::new(),
            is_continued: false,
            watch: watch.map(|tools| Box::new(LostCallWatch::new(tools))),
            usage: ServerUsage::default(),
            read: ReplyRead::default(),
            draft: None,
            is_held: false,
            rules,
        }
    }

    /// The model server says that its body is one value.
    pub const fn expect_one_value(&mut self) {
        self.decoder.frames.expect_one_value();
    }

    /// Whether the body is one value, or nothing came of it.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        matches!(self.form, BodyForm::Whole | BodyForm::Unknown)
    }

    /// The body's form, as far as its first byte has shown it.
    #[must_use]
    pub const fn form(&self) -> BodyForm {
        self.form
    }

    /// Adds what another response of the same turn cost: the client's figures are those of all.
    fn add_usage(&mut self, usage: ServerUsage) {
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

    /// Whether a stream's last events are held.
    #[must_use]
    pub const fn is_ending(&self) -> bool {
        self.ends
    }

    /// Whether anything is held that the client could have by now.
    #[must_use]
    pub fn holds_anything(&self) -> bool {
        !self.held.is_empty() || self.draft.is_some()
    }

    /// Whether a stream that doesn't end is over: it has said so, or what is held must be judged before it goes on.
    #[must_use]
    pub fn counts_as_over(&self) -> bool {
        let watch = self.watch.as_ref();
        let holds_text = watch.is_some_and(|watch| !watch.held().is_empty());
        self.decoder.content.was_end_said() || self.is_held || holds_text
    }

    /// Whether its end waits for the engine, which may add to it, or has calls to judge.
    #[must_use]
    pub fn waits_for_engine(&self) -> bool {
        !self.read.is_passed_on || self.gate.rule == CallRule::Judged
    }

    /// Whether the reply calls tools of the client's.
    #[must_use]
    pub const fn has_calls(&self) -> bool {
        self.decoder.has_calls()
    }

    /// Whether a response that can't be read is of no use: no call may reach the client unjudged, or more of a reply is expected.
    #[must_use]
    pub fn must_be_read(&self) -> bool {
        self.gate.rule == CallRule::Judged || self.is_continued || self.draft.is_some()
    }

    /// Whether something of it must not reach the client unjudged, as far as it was read.
    #[must_use]
    pub fn may_hold_calls(&self) -> bool {
        let is_open = self.is_whole() || self.has_calls() || self.decoder.is_unreadable();
        let may_open = || may_open_call(self.dialect, self.decoder.frames.rest());
        self.gate.rule == CallRule::Judged && (is_open || may_open())
    }

    /// What is held of a response that broke off, as it came.
    #[must_use]
    pub fn take_held(&mut self) -> Vec<u8> {
        let mut held = self.release();
        if !self.is_continued && !self.may_hold_calls() {
            held.extend(self.take_events());
            held.extend_from_slice(self.decoder.frames.rest());
        }
        held
    }

    /// Whether a reply was asked for in the place of another, which is kept.
    #[must_use]
    pub const fn has_draft(&self) -> bool {
        self.draft.is_some()
    }

    /// Whether there was a round before this one.
    #[must_use]
    pub const fn is_continued(&self) -> bool {
        self.is_continued
    }

    /// Bytes that are held.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        let draft = self.draft.as_ref().map_or(0, |draft| draft.held_bytes());
        self.decoder.kept_bytes() + self.held_bytes + self.said.len() + draft
    }

    /// Whether it is longer than what is held of one.
    #[must_use]
    pub fn is_too_long(&self) -> bool {
        let draft = self.draft.as_ref().map_or(0, |draft| draft.held_bytes());
        self.held_bytes() - draft > HELD_BYTES_MAX || self.decoder.is_given_up()
    }

    /// What was read since this was asked last.
    #[must_use]
    pub fn take_read(&mut self) -> ReplyRead {
        let next = ReplyRead {
            is_passed_on: self.read.is_passed_on,
            ..ReplyRead::default()
        };
        std::mem::replace(&mut self.read, next)
    }

    /// Whether the engine has to hear of what was read before more of it goes to the client.
    #[must_use]
    pub const fn is_read_urgent(&self) -> bool {
        !self.read.calls.is_empty()
    }

    /// Bytes that the engine hasn't heard of.
    #[must_use]
    pub const fn unheard_bytes(&self) -> usize {
        self.read.bytes
    }

    /// The reply under way as it was read, once the model server's message is over.
    #[must_use]
    pub fn ended_reply(&self) -> ReadReply {
        let mut read = self.decoder.read_reply();
        if let Some(watch) = &self.watch {
            (read.held_text, read.found) = (watch.held().to_owned(), watch.found());
        }
        read
    }

    /// From now on nothing waits but calls that have to be judged, and nothing is added. Returns what the client gets now.
    #[must_use]
    pub fn pass_on(&mut self) -> Vec<u8> {
        self.read.is_passed_on = true;
        self.forget_watch();
        self.ends = false;
        self.is_held = false;
        self.known_to_wait = 0;
        if self.gate.rule == CallRule::Complete {
            self.gate.rule = CallRule::AsTheyCome;
        }
        let mut passed = match self.is_continued {
            true => self.last_bytes(),
            false => self.let_go(false),
        };
        if self.decoder.is_given_up() && !self.waits_for_engine() {
            passed.extend(self.take_events());
            passed.extend_from_slice(self.decoder.frames.rest());
            self.decoder.frames = Frames::default();
        }
        passed
    }

    /// What is held, as far as it is whole.
    fn take_events(&mut self) -> Vec<u8> {
        (self.known_to_wait, self.held_bytes) = (0, 0);
        let held = std::mem::take(&mut self.held);
        held.into_iter().flat_map(|event| event.bytes).collect()
    }

    /// What was said is text, whatever it looks like.
    fn forget_watch(&mut self) {
        if let Some(watch) = self.watch.take() {
            self.read.said.text.push_str(watch.held());
        }
    }

    /// Takes more of the model server's response; returns the bytes that the client gets now.
    pub fn push(&mut self, data: &[u8]) -> Vec<u8> {
        self.read.bytes += data.len();
        let frames = self.decoder.split(data);
        let mut passed = self.take_frames(frames);
        if self.is_continued {
            self.ends = self.decoder.is_finished() && !self.read.is_passed_on;
        }
        let is_raw = !self.waits_for_engine();
        if is_raw && self.is_continued {
            passed = data.to_vec();
        } else if is_raw && self.decoder.is_given_up() {
            let rest = std::mem::take(&mut self.decoder.frames);
            let rest = Some(rest.rest()).filter(|it| !it.is_empty());
            passed.extend_from_slice(rest.unwrap_or(data));
        }
        passed
    }

    /// The model server's message is over: reads the rest of it.
    pub fn end(&mut self) -> Vec<u8> {
        let frames = self.decoder.split_rest();
        let passed = self.take_frames(frames);
        self.decoder.note_unread_body();
        self.take_complete_calls(self.decoder.is_finished());
        passed
    }

    /// What the client gets of frames; those of a later round are put into the first one's form.
    fn take_frames(&mut self, frames: Vec<Frame>) -> Vec<u8> {
        let mut later = DecodedPiece::default();
        if !self.is_continued {
            self.form = self.decoder.frames.form();
        }
        for frame in frames {
            match self.is_continued {
                true => self.decoder.read_frame(&frame, &mut later),
                false => self.take_frame(frame),
            }
        }
        self.read.paths.extend(self.decoder.take_paths());
        match self.is_continued {
            true => self.pass_later(later),
            false => self.let_go(false),
        }
    }

    /// Notes which calls have become complete.
    fn take_complete_calls(&mut self, is_over: bool) -> Vec<usize> {
        let complete = self.decoder.content.take_complete_calls(is_over);
        let numbers = complete.iter().map(|(number, _)| *number).collect();
        let told = complete.into_iter();
        let told = told.map(|(number, call)| (number, self.decoder.on_record(call)));
        self.read.calls.extend(told);
        numbers
    }

    fn take_frame(&mut self, frame: Frame) {
        let mut piece = DecodedPiece::default();
        self.decoder.read_frame(&frame, &mut piece);
        if self.decoder.is_given_up() && self.gate.rule == CallRule::Judged {
            // What isn't read may be a call; the loop breaks the response off.
            return;
        }
        let is_over = self.decoder.content.was_end_said() || self.form == BodyForm::Whole;
        let completes = self.take_complete_calls(is_over);
        if self.has_calls() {
            // A reply with real calls needs no search for written ones.
            self.forget_watch();
        }
        let role = piece.role;
        if let EventRole::OpensText | EventRole::OpensOther = role
            && self.dialect == Dialect::Messages
        {
            self.in_text = role == EventRole::OpensText;
        }
        let calls = std::mem::take(&mut piece.calls);
        let may_be_calls = match &mut self.watch {
            Some(watch) => {
                self.read.said.text.push_str(&watch.push(&piece.text));
                piece.text.clear();
                // A block that is opened and stays empty goes with the text that it was opened for.
                !watch.held().is_empty() || role == EventRole::OpensText
            }
            None => false,
        };
        if !may_be_calls && self.held.last().is_some_and(|it| it.may_be_calls) {
            self.held.iter_mut().for_each(|it| it.may_be_calls = false);
            self.known_to_wait = 0;
        }
        self.read.said.append(piece);
        // The last events say what the whole reply was, which another round would make false: they wait. A call's own block has
        // nothing in it that could go on.
        self.ends = match (self.ends, role) {
            (true, EventRole::OpensText | EventRole::OpensOther) => false,
            (true, _) => true,
            (false, EventRole::Ends) => calls.is_empty() || self.dialect != Dialect::Messages,
            (false, _) => self.form == BodyForm::Whole,
        };
        if !self.ends && self.held.last().is_some_and(|it| it.is_end) {
            self.held.iter_mut().for_each(|it| it.is_end = false);
            self.known_to_wait = 0;
        }
        let is_unread = frame.data == FrameData::Unread;
        let json = match frame.data {
            FrameData::Value(json) => Some(json),
            _ => None,
        };
        if self.shared.is_empty() && encode::shares_members(self.dialect) {
            self.shared = json.as_ref().map(encode::shared_of).unwrap_or_default();
        }
        self.held_bytes += frame.bytes.len();
        self.held.push(HeldEvent {
            bytes: frame.bytes,
            name: frame.name,
            json,
            is_unread,
            calls,
            completes,
            is_end: self.ends,
            may_be_calls,
        });
    }

    /// A call was judged; returns the bytes that the client gets now.
    pub fn call_judged(&mut self, number: usize, verdict: CallVerdict) -> Vec<u8> {
        self.gate.judge(number, verdict);
        self.known_to_wait = 0;
        self.let_go(false)
    }

    /// Passes on the events that wait for nothing any more; once the round is over all of them, but for the last ones. Pieces of a call
    /// that is judged may overtake those of another one, since each has its call's number.
    fn let_go(&mut self, is_over: bool) -> Vec<u8> {
        let mut passed = Vec::new();
        let first = if is_over { 0 } else { self.known_to_wait };
        let fresh = self.held.split_off(first);
        let last = self.held.last();
        let mut waits_for_text = self.is_held || last.is_some_and(|it| it.may_be_calls);
        for event in fresh {
            waits_for_text |= event.may_be_calls;
            let overtakes = !event.calls.is_empty() && self.gate.rule != CallRule::AsTheyCome;
            let comes_after = !overtakes && !self.held.is_empty();
            let waits = waits_for_text || self.gate.holds(&event) || comes_after;
            if event.is_end && !self.read.is_passed_on || waits && !is_over {
                self.held.push(event);
                continue;
            }
            self.held_bytes = self.held_bytes.saturating_sub(event.bytes.len());
            let (said, event) = self.pass(event);
            passed.extend(self.say(&said));
            passed.extend(event.bytes);
        }
        self.known_to_wait = self.held.len();
        passed
    }

    fn pass(&mut self, event: HeldEvent) -> (String, HeldEvent) {
        let form = (self.dialect, self.form);
        self.gate.pass(&self.decoder.content, form, event)
    }

    /// What the gate makes of all that is held.
    fn pass_held(&mut self) -> Vec<u8> {
        let mut passed = Vec::new();
        for event in std::mem::take(&mut self.held) {
            let (said, event) = self.pass(event);
            passed.extend(self.say(&said));
            self.held.push(event);
        }
        // It passes once.
        self.gate.rule = CallRule::AsTheyCome;
        passed
    }

    /// The first round is over: its calls are judged, or never will be.
    fn end_first_round(&mut self) -> Vec<u8> {
        let mut passed = self.let_go(true);
        passed.extend(self.pass_held());
        passed
    }

    /// Whether the body can't be judged, so that the client gets an error in its place.
    #[must_use]
    pub const fn is_refused(&self) -> bool {
        self.gate.is_refused
    }

    /// Says something in the model's place, after all that it said in this round; nothing where a stream ends with no text.
    pub fn say_for_model(&mut self, text: &str) -> Vec<u8> {
        self.is_held = false;
        let mut passed = self.close_round();
        if self.in_text {
            passed.extend(self.say(text));
        }
        passed
    }

    /// Another round follows.
    pub fn next_round(&mut self) -> Vec<u8> {
        let passed = self.close_round();
        self.end_later_round();
        self.is_continued = true;
        self.decoder = ReplyDecoder::new(self.dialect);
        self.ends = false;
        passed
    }

    /// A round is over. What the first one cost, the events that it ended with say.
    fn end_later_round(&mut self) {
        if self.is_continued {
            self.add_usage(self.decoder.server_usage().unwrap_or_default());
        }
    }

    /// Another reply is asked for in the place of this one, which cost so much.
    pub fn set_aside(&mut self, usage: ServerUsage) {
        let mut other = Self::new(self.dialect, self.rules.clone());
        other.is_held = true;
        other.add_usage(usage);
        other.draft = Some(Box::new(std::mem::replace(
            self,
            Self::new(self.dialect, PipeRules::default()),
        )));
        *self = other;
    }

    /// The reply that was set aside is the one that the client gets.
    pub fn take_draft_back(&mut self, usage: ServerUsage) {
        if let Some(draft) = self.draft.take() {
            *self = *draft;
            self.add_usage(usage);
        }
    }

    /// Nobody wants the reply that was set aside.
    pub fn forget_draft(&mut self) {
        self.draft = None;
    }

    /// The client gets calls in the place of the text that they were written as.
    pub fn deliver_calls(&mut self, delivered: &DeliveredCalls) {
        // Of another choice there may be some.
        self.pass_held();
        let held = std::mem::take(&mut self.held);
        self.held = deliver((self.dialect, self.form), &self.shared, held, delivered);
        self.watch = None;
    }

    /// What waited goes to the client, and what follows as it comes.
    pub fn release(&mut self) -> Vec<u8> {
        self.is_held = false;
        self.known_to_wait = 0;
        self.let_go(false)
    }

    /// No round follows: returns the client's remaining bytes.
    #[must_use]
    pub fn last_bytes(&mut self) -> Vec<u8> {
        let mut passed = self.end_first_round();
        if !self.said.is_empty() {
            passed.extend(self.close_round());
        }
        self.end_later_round();
        let repeats_blocks =
            self.is_whole() && self.held.iter().any(|it| delimiter::is_in(&it.bytes));
        let has_more = !self.said.is_empty() || self.usage != ServerUsage::default();
        if self.is_continued || has_more || repeats_blocks {
            let reason = self.decoder.content.finish_reason.as_deref();
            let addition = Addition {
                text: &self.said,
                usage: self.usage,
                finish_reason: reason.filter(|_| self.is_continued),
                ..Addition::default()
            };
            encode::complete_events(self.dialect, self.form, &mut self.held, &addition);
        }
        passed.extend(self.take_events());
        passed
    }

    /// Passes on the text that is among the round's last events.
    fn close_round(&mut self) -> Vec<u8> {
        if self.is_continued {
            return Vec::new();
        }
        let mut passed = self.end_first_round();
        if !self.is_whole() {
            let text = encode::take_text(self.dialect, self.form, &mut self.held);
            if !text.is_empty() {
                passed.extend(self.piece(PartKind::OtherText, &text));
            }
        }
        passed
    }

    /// More of the reply in a later round, as the model's own.
    fn pass_later(&mut self, more: DecodedPiece) -> Vec<u8> {
        let mut passed = Vec::new();
        let thoughts = more
            .parts
            .iter()
            .filter(|(kind, ..)| *kind == PartKind::Reasoning);
        for (kind, _, thought) in thoughts.filter(|_| !self.is_whole()) {
            passed.extend(self.piece(*kind, thought));
        }
        passed.extend(self.say(&more.text));
        self.read.said.append(more);
        passed
    }

    /// More of the reply's text.
    fn say(&mut self, text: &str) -> Vec<u8> {
        self.said.push_str(text);
        match self.is_whole() || text.is_empty() {
            true => Vec::new(),
            false => self.piece(PartKind::OtherText, text),
        }
    }

    fn piece(&self, kind: PartKind, text: &str) -> Vec<u8> {
        let form = (self.dialect, self.form);
        encode::piece(
            form,
            &self.shared,
            &self.held,
            (text, kind == PartKind::Reasoning),
        )
    }

    /// A sign of life for a client whose reply is held, in the dialect's own form; nothing where there is none.
    #[must_use]
    pub fn sign_of_life(&self) -> Vec<u8> {
        if let Some(draft) = &self.draft {
            return draft.sign_of_life();
        }
        match (self.dialect, self.form) {
            (_, BodyForm::Whole | BodyForm::Unknown) => Vec::new(),
            (Dialect::Messages, _) => b"event: ping\ndata: {\"type\":\"ping\"}\n\n".to_vec(),
            (_, BodyForm::Events) => SIGN_OF_LIFE.to_vec(),
            (_, BodyForm::JsonLines) => self.piece(PartKind::OtherText, ""),
        }
    }

    /// The end of a stream that is cut on purpose: a text, and what a client of the dialect takes for a reply's proper end; `None` if it
    /// calls tools, since a client may act on a call that looks complete, whatever comes after it.
    #[must_use]
    pub fn stopped_stream(&self, text: &str) -> Option<Vec<u8>> {
        let content = &self.decoder.content;
        let open = (content.response_id.as_deref(), content.open_block);
        let form = (self.dialect, self.form);
        (!self.has_calls()).then(|| encode::stopped_stream(form, &self.shared, open, text))
    }
}
