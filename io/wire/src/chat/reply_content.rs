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

/// What an event is to the reply that it belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum EventRole {
    /// A part of what is said.
    #[default]
    Content,
    /// A block or an item of text begins with it.
    OpensText,
    /// Another block or item begins with it.
    OpensOther,
    /// The events that say what the whole reply was begin with it. More of it may follow, if a block or an item begins.
    Ends,
}

/// The content decoded from one piece of a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecodedPiece {
    /// New text of the first choice.
    pub text: String,
    /// Other content, with the index of its choice: recorded, but no decision depends on it.
    pub parts: Vec<(PartKind, u32, String)>,
    /// The numbers of the calls that it is about, in their order in it.
    pub(super) calls: Vec<usize>,
    pub(super) role: EventRole,
}

/// What one reply holds, as far as it was read. A dialect reports text with [`add_text`](DecodedPiece::add_text) (or
/// [`add_block_text`](Self::add_block_text), where texts come in numbered blocks) and the end with
/// [`finish_reason`](Self::finish_reason) or [`end_was_said`](Self::end_was_said); without one of them the reply counts as
/// broken off.
#[derive(Debug, Default)]
pub(super) struct ReplyContent {
    read_bytes: usize,
    /// The calls of the client's tools, in the order in which they began.
    pub(super) calls: Vec<ReadCall>,
    /// The names of a response's items, in their order.
    items: Vec<String>,
    /// The blocks that there was text of, in the order of their first text, where texts come in blocks.
    text_blocks: Vec<u64>,
    /// The block that is open, where blocks are opened and closed.
    pub(super) open_block: Option<u64>,
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

/// A call of one of the client's tools, as far as it was read.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadCall {
    /// Its number among the calls, or its block's or item's number where those have some.
    pub(super) number: usize,
    /// What its pieces are known by, as far as the server gives it.
    pub(super) id: String,
    index: Option<u64>,
    pub(super) call: ToolCall,
    /// Whether its arguments are what its block began with, until there are pieces.
    is_begun_with: bool,
    /// How far its arguments have come, in the dialect that shows no end of a call.
    json_end: JsonEnd,
    /// Whether nothing more comes of it.
    pub(super) has_ended: bool,
    /// Whether clients may put its pieces together in other ways than we do.
    pub(super) is_odd: bool,
    /// Whether a piece of it may be in what can't be read.
    is_torn: bool,
    /// Whether the engine was told that it is complete.
    is_told: bool,
}

/// The number of pieces that no client may get: of a call that has ended, or of another choice than the first.
pub(super) const SURPLUS: usize = usize::MAX;

/// The reason why a reply that came to its end isn't complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReplyFlaw {
    /// It carried an error.
    Error,
    /// It was too large or no JSON.
    Unreadable,
}

impl DecodedPiece {
    /// What came after it.
    pub(super) fn append(&mut self, more: Self) {
        self.text.push_str(&more.text);
        for (kind, choice, text) in more.parts {
            match self.parts.last_mut() {
                Some((last, of, known)) if (*last, *of) == (kind, choice) => known.push_str(&text),
                _ => self.parts.push((kind, choice, text)),
            }
        }
    }

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
        self.calls = Vec::new();
    }

    /// Whether the reply said itself that it is done, and had no flaw.
    pub(super) const fn is_finished(&self) -> bool {
        self.flaw.is_none() && (self.done || self.finish_reason.is_some())
    }

    /// The reply said that nothing follows.
    pub(super) const fn end_was_said(&mut self) {
        self.done = true;
    }

    /// Whether the reply said that nothing follows.
    pub(super) const fn was_end_said(&self) -> bool {
        self.done
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
        let is_other = |it: &ReadCall| index.is_some() && it.index != index && !name.is_empty();
        let is_named = |it: &&ReadCall| !id.is_empty() && it.id == id && !is_other(it);
        if let Some(call) = self.calls.iter().rev().find(is_named) {
            return call.number;
        }
        let mut calls = self.calls.iter_mut().rev();
        let last = calls.find(|it| index.is_none() || it.index == index);
        let goes_on = |it: &&mut ReadCall| {
            let is_same = id.is_empty() || it.id.is_empty() || name.is_empty();
            is_same && (index.is_some() || name.is_empty() || it.call.arguments.is_empty())
        };
        match last.filter(goes_on) {
            Some(call) => {
                if call.id.is_empty() {
                    id.clone_into(&mut call.id);
                }
                call.number
            }
            None => self.new_call(id, index),
        }
    }

    /// The number of a call that is none of those before it; of too many nobody gets any.
    pub(super) fn new_call(&mut self, id: &str, index: Option<u64>) -> usize {
        if self.calls.len() >= TOOL_CALLS_MAX {
            return SURPLUS;
        }
        let number = self.calls.len();
        self.calls.push(ReadCall {
            number,
            id: id.to_owned(),
            index,
            is_odd: !id.is_empty() && self.calls.iter().any(|it| it.id == id),
            ..ReadCall::default()
        });
        number
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

    /// The call of this number, if one has begun.
    pub(super) fn call(&self, number: usize) -> Option<&ReadCall> {
        self.calls.iter().find(|it| it.number == number)
    }

    /// Whether nothing more is to come of a call.
    pub(super) fn has_ended(&self, number: usize) -> bool {
        self.call(number).is_some_and(|it| it.has_ended)
    }

    /// A fragment of a tool call. Those of one call come under one number; only the first names the tool.
    pub(super) fn add_call_piece(&mut self, number: usize, name: &str, arguments: &str) {
        // What is told of a call is all that there is of it.
        if let Some(read) = self.call_at(number).filter(|it| !it.is_told) {
            if !arguments.is_empty() && std::mem::take(&mut read.is_begun_with) {
                read.call.arguments.clear();
            }
            // Some servers repeat the name with each piece.
            if read.call.name != name {
                read.call.name.push_str(name);
            }
            read.call.arguments.push_str(arguments);
        }
    }

    /// What a call's block begins with: its arguments, unless pieces follow.
    pub(super) fn begin_arguments(&mut self, number: usize, id: &str, arguments: String) {
        if let Some(read) = self.call_at(number) {
            id.clone_into(&mut read.id);
            read.call.arguments = arguments;
            read.is_begun_with = true;
        }
    }

    /// A tool call that came whole, whatever came of it before.
    pub(super) fn set_call(&mut self, number: usize, (id, name): (&str, &str), arguments: String) {
        if let Some(read) = self.call_at(number).filter(|it| !it.is_told) {
            read.is_odd |= !read.call.arguments.is_empty() && read.call.arguments != arguments;
            id.clone_into(&mut read.id);
            name.clone_into(&mut read.call.name);
            read.call.arguments = arguments;
            read.has_ended = true;
        }
    }

    /// Nothing more comes of a call.
    pub(super) fn end_call(&mut self, number: usize) {
        let call = self.calls.iter_mut().find(|it| it.number == number);
        call.into_iter().for_each(|it| it.has_ended = true);
    }

    /// A fragment of a call came whose end no event shows: it is complete with the brace that closes its arguments.
    pub(super) fn end_closed_call(&mut self, number: usize, fragment: &str) {
        if let Some(read) = self.calls.iter_mut().find(|it| it.number == number) {
            read.has_ended |= read.json_end.closes(fragment);
        }
    }

    /// Clients may put a call's pieces together in other ways than we do.
    pub(super) fn note_odd_call(&mut self, number: usize) {
        if let Some(read) = self.calls.iter_mut().find(|it| it.number == number) {
            read.is_odd = true;
        }
    }

    /// A part can't be read, in which there may be more of the calls under way: nobody can say what they are.
    pub(super) fn note_unread(&mut self) {
        self.flaw = Some(ReplyFlaw::Unreadable);
        let open = self.calls.iter_mut().filter(|it| !it.has_ended);
        open.for_each(|it| it.is_torn = true);
    }

    /// The calls that have become complete since this was asked last; all of them once the reply is over. What was told is all
    /// that there is of a call.
    pub(super) fn take_complete_calls(&mut self, is_over: bool) -> Vec<(usize, ToolCall)> {
        let calls = self.calls.iter_mut();
        let complete = calls.filter(|it| {
            (is_over || it.has_ended) && !it.is_told && !it.is_torn && !it.call.name.is_empty()
        });
        let told = complete.map(|it| {
            (it.is_told, it.has_ended) = (true, true);
            (it.number, it.call.clone())
        });
        told.collect()
    }

    /// `None` if there are too many.
    fn call_at(&mut self, number: usize) -> Option<&mut ReadCall> {
        let known = self.calls.iter().position(|it| it.number == number);
        let at = match known {
            Some(at) => at,
            None if number == SURPLUS || self.calls.len() >= TOOL_CALLS_MAX => return None,
            None => {
                self.calls.push(ReadCall {
                    number,
                    ..ReadCall::default()
                });
                self.calls.len() - 1
            }
        };
        self.calls.get_mut(at)
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
