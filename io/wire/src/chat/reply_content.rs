//! What was read of a reply so far: a dialect's `take_reply` adds to it.

use serde_json::Value;
use tslp_core::event::{PartKind, ServerUsage};
use tslp_core::message::ToolCall;

/// JSON of one streamed reply that is read: in chunks that are mostly frame. Far more than any context holds; what is longer
/// is recorded as broken off. What is kept of it has a bound of its own, which is the caller's.
const READ_BYTES_MAX: usize = 64 << 20;

/// Tool calls of one reply that are kept.
const TOOL_CALLS_MAX: usize = 128;

/// Blocks of text of one reply that are told apart.
const TEXT_BLOCKS_MAX: usize = 256;

/// The content decoded from one piece of a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecodedPiece {
    /// New text of the first choice.
    pub text: String,
    /// Other content, with the index of its choice: recorded, but no decision depends on it.
    pub parts: Vec<(PartKind, u32, String)>,
    /// The numbers of the calls that it is about, in their order in it.
    pub(super) calls: Vec<usize>,
}

/// What one reply holds, as far as it was read. A dialect reports text with [`add_text`](DecodedPiece::add_text) (or
/// [`add_block_text`](Self::add_block_text), where texts come in numbered blocks) and the end with
/// [`finish_reason`](Self::finish_reason) or [`end_was_said`](Self::end_was_said); without one of them the reply counts as
/// broken off.
#[derive(Debug, Default)]
pub(super) struct ReplyContent {
    read_bytes: usize,
    pub(super) tool_calls: Vec<ToolCall>,
    /// The number of each call.
    call_numbers: Vec<usize>,
    /// What each call's fragments are known by, as far as the server gives it: an id, an index.
    call_keys: Vec<(String, Option<u64>)>,
    /// Those whose arguments are what their block began with, until there are pieces.
    begun_with: Vec<usize>,
    /// The names of a response's items, in their order.
    items: Vec<String>,
    /// The numbers of those that are complete, in the order in which they became so.
    pub(super) ended_calls: Vec<usize>,
    /// How far each call's arguments have come, in the dialect that shows no end of a call.
    json_ends: Vec<JsonEnd>,
    /// The blocks that there was text of, in the order of their first text, where texts come in blocks.
    text_blocks: Vec<u64>,
    /// Whether thoughts came piece by piece: then they aren't taken again from the whole item.
    pub(super) has_thoughts: bool,
    /// Why the model stopped; with one the reply is done.
    pub(super) finish_reason: Option<String>,
    pub(super) response_id: Option<String>,
    pub(super) usage: ServerUsage,
    pub(super) flaw: Option<ReplyFlaw>,
    /// Whether no more is read.
    pub(super) is_given_up: bool,
    done: bool,
}

/// The number of pieces that no client may get: of a call that has ended, or of another choice than the first.
pub(super) const SURPLUS: usize = usize::MAX - 1;

/// The reason why a reply that came to its end isn't complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReplyFlaw {
    /// It carried an error.
    Error,
    /// It was too large or no JSON.
    Unreadable,
}

impl DecodedPiece {
    /// Adds text of a choice.
    pub(super) fn add_text(&mut self, choice: u32, text: &str) {
        match choice {
            0 => self.text.push_str(text),
            other => self.add_part(PartKind::OtherText, other, text),
        }
    }

    /// Adds a part that isn't text, unless it is empty.
    pub(super) fn add_part(&mut self, kind: PartKind, choice: u32, text: &str) {
        if !text.is_empty() {
            self.parts.push((kind, choice, text.to_owned()));
        }
    }
}

impl ReplyContent {
    /// Lets go of the calls: the reply is no complete one.
    pub(super) fn give_up(&mut self) {
        self.flaw = Some(ReplyFlaw::Unreadable);
        self.is_given_up = true;
        self.tool_calls = Vec::new();
        self.call_numbers = Vec::new();
    }

    /// Whether the reply said itself that it is done, and had no flaw.
    pub(super) const fn is_finished(&self) -> bool {
        self.flaw.is_none() && (self.done || self.finish_reason.is_some())
    }

    /// The reply said that nothing follows.
    pub(super) const fn end_was_said(&mut self) {
        self.done = true;
    }

    /// The reply carried an error.
    pub(super) fn note_error(&mut self, error: &Value, said: &mut DecodedPiece) {
        self.flaw = Some(ReplyFlaw::Error);
        said.add_part(PartKind::Error, 0, &error.to_string());
    }

    /// Text of one of the reply's blocks. They are put together as the blocks of a message are that the client sends back.
    pub(super) fn add_block_text(&mut self, block: u64, text: &str, said: &mut DecodedPiece) {
        if text.is_empty() {
            return;
        }
        if !self.has_block_text(block) {
            if !self.text_blocks.is_empty() {
                said.add_text(0, "\n");
            }
            if self.text_blocks.len() < TEXT_BLOCKS_MAX {
                self.text_blocks.push(block);
            }
        }
        said.add_text(0, text);
    }

    /// Whether there was text of this block.
    pub(super) fn has_block_text(&self, block: u64) -> bool {
        self.text_blocks.contains(&block)
    }

    /// A reply that never ends is relayed, but no longer read.
    pub(super) fn count_json_bytes(&mut self, bytes: usize) {
        self.read_bytes += bytes;
        if self.read_bytes > READ_BYTES_MAX {
            self.give_up();
        }
    }

    /// The number of the call that a fragment belongs to. A new id with a name is a new call; then its index tells, then the order: without
    /// either a name begins one. Clients differ: some join what has one index, others what has one id.
    pub(super) fn call_number(&mut self, id: &str, index: Option<u64>, name: &str) -> usize {
        let keys = || self.call_keys.iter().enumerate().rev();
        let is_other =
            |key: &(String, Option<u64>)| index.is_some() && key.1 != index && !name.is_empty();
        let of_id = keys().find(|(_, key)| !id.is_empty() && key.0 == id && !is_other(key));
        let of_index = || match index {
            Some(_) => keys().find(|(_, key)| key.1 == index),
            None => keys().next(),
        };
        let goes_on = |(at, key): &(usize, &(String, Option<u64>))| {
            let is_same = id.is_empty() || key.0.is_empty() || name.is_empty();
            let is_begun = || {
                self.tool_calls
                    .get(*at)
                    .is_some_and(|call| !call.arguments.is_empty())
            };
            is_same && (index.is_some() || name.is_empty() || !is_begun())
        };
        let known = of_id
            .or_else(|| of_index().filter(goes_on))
            .map(|(at, _)| at);
        let Some(at) = known else {
            return self.new_call(id, index);
        };
        let key = &mut self.call_keys[at];
        if key.0.is_empty() {
            id.clone_into(&mut key.0);
        }
        at
    }

    /// The number of a call that is none of those before it; of too many nobody gets any.
    pub(super) fn new_call(&mut self, id: &str, index: Option<u64>) -> usize {
        if self.call_keys.len() >= TOOL_CALLS_MAX {
            return SURPLUS;
        }
        self.call_keys.push((id.to_owned(), index));
        self.call_keys.len() - 1
    }

    /// The position of an item of a response by its name.
    pub(super) fn item_named(&self, id: &str) -> Option<usize> {
        self.items.iter().position(|it| !id.is_empty() && it == id)
    }

    /// The position of an item of a response: as its event says, else by its name, else the one that came last; a new one is after all
    /// others.
    pub(super) fn item_position(&mut self, stated: Option<u64>, id: &str, is_new: bool) -> usize {
        let named = self.item_named(id);
        let last = self.items.len().checked_sub(1).filter(|_| !is_new);
        let is_free = |at: &usize| {
            self.items
                .get(*at)
                .is_none_or(|it| it.is_empty() || it == id)
        };
        let stated = stated.and_then(|it| usize::try_from(it).ok());
        let stated = stated.filter(|at| id.is_empty() || is_free(at));
        let at = named.or(stated).or(last).unwrap_or(self.items.len());
        if at >= self.items.len() && at < TEXT_BLOCKS_MAX {
            self.items.resize(at + 1, String::new());
        }
        if let Some(item) = self.items.get_mut(at).filter(|it| it.is_empty()) {
            id.clone_into(item);
        }
        at
    }

    /// Whether a call of this number has begun.
    pub(super) fn has_call(&self, number: usize) -> bool {
        self.call_numbers.contains(&number)
    }

    /// Whether nothing more is to come of a call.
    pub(super) fn has_ended(&self, number: usize) -> bool {
        self.ended_calls.contains(&number)
    }

    /// A fragment of a tool call. Those of one call come under one number; only the first names the tool.
    pub(super) fn add_call_piece(&mut self, number: usize, name: &str, arguments: &str) {
        let is_first = !arguments.is_empty() && self.begun_with.contains(&number);
        self.begun_with.retain(|it| !is_first || *it != number);
        if let Some(call) = self.tool_call_at(number) {
            if is_first {
                call.arguments.clear();
            }
            // Some servers repeat the name with each piece.
            if call.name != name {
                call.name.push_str(name);
            }
            call.arguments.push_str(arguments);
        }
    }

    /// What a call's block begins with: its arguments, unless pieces follow.
    pub(super) fn begin_arguments(&mut self, number: usize, arguments: String) {
        if let Some(call) = self.tool_call_at(number) {
            call.arguments = arguments;
            self.begun_with.push(number);
        }
    }

    /// A tool call that came whole, whatever came of it before.
    pub(super) fn set_call(&mut self, number: usize, name: &str, arguments: String) {
        if let Some(call) = self.tool_call_at(number) {
            name.clone_into(&mut call.name);
            call.arguments = arguments;
        }
        self.end_call(number);
    }

    pub(super) fn call_numbers(&self) -> &[usize] {
        &self.call_numbers
    }

    /// Takes calls in the place of a text.
    pub(super) fn deliver_calls(&mut self, calls: Vec<ToolCall>) {
        self.call_numbers = (0..calls.len()).collect();
        self.tool_calls = calls;
    }

    /// Nothing more comes of a call.
    pub(super) fn end_call(&mut self, number: usize) {
        if self.call_numbers.contains(&number) && !self.ended_calls.contains(&number) {
            self.ended_calls.push(number);
        }
    }

    /// A fragment of a call came whose end no event shows: it is complete with the brace that closes its arguments.
    pub(super) fn end_closed_call(&mut self, number: usize, fragment: &str) {
        let at = self.call_numbers.iter().position(|known| *known == number);
        let Some(at) = at else { return };
        self.json_ends
            .resize(self.call_numbers.len(), JsonEnd::default());
        if self.json_ends[at].closes(fragment) {
            self.end_call(number);
        }
    }

    /// Forgets the calls that the client doesn't get: all but these.
    pub(super) fn keep_calls(&mut self, kept: &[usize]) {
        let had_calls = !self.tool_calls.is_empty();
        let numbers = self.call_numbers.iter().copied();
        let calls = numbers.zip(std::mem::take(&mut self.tool_calls));
        let left = calls.filter(|(number, _)| kept.contains(number));
        (self.call_numbers, self.tool_calls) = left.unzip();
        if had_calls
            && self.tool_calls.is_empty()
            && let Some(reason) = &mut self.finish_reason
        {
            let instead = match &**reason {
                "tool_calls" | "function_call" => "stop",
                "tool_use" => "end_turn",
                _ => return,
            };
            instead.clone_into(reason);
        }
    }

    /// `None` if there are too many.
    fn tool_call_at(&mut self, number: usize) -> Option<&mut ToolCall> {
        if number == SURPLUS {
            return None;
        }
        let known = self.call_numbers.iter().position(|known| *known == number);
        let at = match known {
            Some(at) => at,
            None if self.tool_calls.len() >= TOOL_CALLS_MAX => return None,
            None => {
                self.call_numbers.push(number);
                self.tool_calls.push(ToolCall::default());
                self.tool_calls.len() - 1
            }
        };
        debug_assert_eq!(self.call_numbers.len(), self.tool_calls.len());
        self.tool_calls.get_mut(at)
    }
}

/// How far a JSON text has come, piece by piece.
#[derive(Clone, Copy, Debug, Default)]
struct JsonEnd {
    depth: u32,
    in_text: bool,
    is_escaped: bool,
}

impl JsonEnd {
    /// Reads more of the text; whether the outermost object or list ends in it.
    fn closes(&mut self, more: &str) -> bool {
        let mut closes = false;
        for byte in more.bytes() {
            let was_escaped = std::mem::take(&mut self.is_escaped);
            match byte {
                _ if was_escaped => {}
                b'\\' => self.is_escaped = self.in_text,
                b'"' => self.in_text = !self.in_text,
                _ if self.in_text => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    closes |= self.depth == 1;
                    self.depth = self.depth.saturating_sub(1);
                }
                _ => {}
            }
        }
        closes
    }
}
