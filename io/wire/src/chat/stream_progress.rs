//! The progress of a streamed reply, found in its bytes without parsing them: the network loop must know when a client may
//! act on a reply, before the engine has read it.

use memchr::memmem;

use super::dialect::Dialect;

/// The bytes that mark a streamed reply's progress in a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamMarks {
    /// The marks of a tool call's begin and of a complete item; `None` where the end of a call isn't marked.
    pub tool_call: Option<[&'static [u8]; 2]>,
    /// A mark that only the last piece holds.
    pub reply_end: &'static [u8],
}

impl Dialect {
    /// The bytes by which a streamed reply shows how far it has come. A model that writes them in its text, where it can, has
    /// the rest of its reply wait for the end.
    #[must_use]
    pub const fn stream_marks(self) -> StreamMarks {
        let (tool_call, reply_end): (_, &[u8]) = match self {
            // These don't mark the end of a call: clients act on the end of the reply.
            Self::ChatCompletions | Self::Completions => (None, b"[DONE]"),
            Self::Responses => (
                Some([b"_call\"".as_slice(), b"event: response.output_item.done"]),
                b"event: response.completed",
            ),
            Self::Messages => (
                Some([b"\"tool_use\"".as_slice(), b"event: content_block_stop"]),
                b"event: message_stop",
            ),
            // A call comes whole.
            Self::OllamaChat | Self::OllamaGenerate => (
                Some([b"\"tool_calls\"".as_slice(), b"\"tool_calls\""]),
                b"\"done\":true",
            ),
        };
        StreamMarks {
            tool_call,
            reply_end,
        }
    }
}

/// The stages of a streamed reply, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum StreamStage {
    /// Text, or nothing recognised yet.
    #[default]
    Text,
    /// A tool call has begun.
    InToolCall,
    /// A tool call is complete: a client that doesn't wait for the reply's end may run it, and write files.
    ToolCallComplete,
    /// The reply is over, though the response may not be.
    Over,
}

/// Follows a streamed reply from piece to piece.
#[derive(Debug)]
pub struct StreamProgress {
    marks: StreamMarks,
    stage: StreamStage,
    /// The end of the last piece: a mark may be cut anywhere.
    tail: Vec<u8>,
    /// The last bytes: an event's name may be cut off from the number of its block.
    recent: Vec<u8>,
    /// The first bytes, which name the reply.
    head: Vec<u8>,
    /// The content block that is open, where there are blocks.
    open_block: Option<u32>,
    /// Whether a tool is called, in a dialect that doesn't mark the end of a call.
    has_calls: bool,
}

/// Bytes in which a stream's first event gives the reply's name.
const HEAD_BYTES: usize = 512;

/// Bytes from an event's name to the number of its block.
const EVENT_HEAD_BYTES: usize = 96;

impl StreamProgress {
    /// Before the first piece.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        Self {
            marks: dialect.stream_marks(),
            stage: StreamStage::default(),
            tail: Vec::new(),
            recent: Vec::new(),
            head: Vec::new(),
            open_block: None,
            has_calls: false,
        }
    }

    /// The stage after the last piece.
    #[must_use]
    pub const fn stage(&self) -> StreamStage {
        self.stage
    }

    /// Whether a tool of the client's is called.
    #[must_use]
    pub fn calls_tools(&self) -> bool {
        self.has_calls
            || matches!(
                self.stage,
                StreamStage::InToolCall | StreamStage::ToolCallComplete
            )
    }

    /// The content block that is open.
    #[must_use]
    pub(super) const fn open_block(&self) -> Option<u32> {
        self.open_block
    }

    /// The reply's name, if its first event gave one.
    #[must_use]
    pub(super) fn reply_id(&self) -> Option<&str> {
        let head = core::str::from_utf8(&self.head);
        let head = head.unwrap_or_else(|error| {
            core::str::from_utf8(&self.head[..error.valid_up_to()]).unwrap_or_default()
        });
        let (_, rest) = head.split_once("\"id\":")?;
        rest.trim_start().strip_prefix('"')?.split('"').next()
    }

    /// Notes what a stream that is cut has to close.
    fn read_open(&mut self, piece: &[u8]) {
        self.recent.extend_from_slice(piece);
        self.has_calls |= memmem::find(&self.recent, b"\"tool_calls\":[").is_some();
        if let Some(at) = memmem::rfind(&self.recent, b"event: content_block_") {
            let event = &self.recent[at..];
            let index = memmem::find(event, b"\"index\":").map(|index| &event[index + 8..]);
            let digits = index.map(|rest| rest.trim_ascii_start().iter());
            let number = digits.and_then(|digits| {
                let digits = digits.take_while(|byte| byte.is_ascii_digit());
                let digits: Vec<u8> = digits.copied().collect();
                core::str::from_utf8(&digits).ok()?.parse().ok()
            });
            self.open_block = match event.starts_with(b"event: content_block_stop") {
                true => None,
                false => number.or(self.open_block),
            };
        }
        let kept = self.recent.len().saturating_sub(EVENT_HEAD_BYTES);
        self.recent.drain(..kept);
    }

    /// Reads the next piece.
    pub fn read_piece(&mut self, piece: &[u8]) {
        let room = HEAD_BYTES - self.head.len();
        self.head.extend_from_slice(&piece[..room.min(piece.len())]);
        self.read_open(piece);
        let before = self.stage;
        let mut bytes = std::mem::take(&mut self.tail);
        bytes.extend_from_slice(piece);
        let shows = |mark: &[u8]| memmem::find(&bytes, mark).is_some();
        if let Some([call, item_end]) = self.marks.tool_call {
            if self.stage == StreamStage::Text && shows(call) {
                self.stage = StreamStage::InToolCall;
            }
            if self.stage == StreamStage::InToolCall && shows(item_end) {
                self.stage = StreamStage::ToolCallComplete;
            }
        }
        if shows(self.marks.reply_end) {
            self.stage = StreamStage::Over;
        }
        debug_assert!(self.stage >= before, "a reply doesn't go back");
        // One byte less than the longest mark: a whole one was seen already.
        let longest = self.marks.longest();
        bytes.drain(..bytes.len().saturating_sub(longest - 1));
        self.tail = bytes;
    }
}

impl StreamMarks {
    /// The length of the longest mark, in bytes.
    fn longest(&self) -> usize {
        let calls = self.tool_call.into_iter().flatten();
        let lengths = calls.chain([self.reply_end]).map(<[u8]>::len);
        lengths.max().expect("a reply's end is always marked")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stages that a stream goes through when it comes in pieces of so many bytes, each named once.
    fn stages(dialect: Dialect, stream: &str, piece_bytes: usize) -> Vec<StreamStage> {
        let mut progress = StreamProgress::new(dialect);
        let mut stages = vec![progress.stage()];
        for piece in stream.as_bytes().chunks(piece_bytes) {
            progress.read_piece(piece);
            stages.push(progress.stage());
        }
        stages.dedup();
        stages
    }

    #[test]
    fn complete_calls() {
        use StreamStage::{InToolCall, Over, Text, ToolCallComplete};
        let responses = "event: response.output_item.done\ndata: {\"item\":{\"type\":\"reasoning\"}}\n\n\
            event: response.output_text.delta\ndata: {\"delta\":\"hello, this is text of some length\"}\n\n\
            event: response.output_item.added\ndata: {\"item\":{\"type\":\"custom_tool_call\",\"input\":\"\"}}\n\n\
            event: response.custom_tool_call_input.delta\ndata: {\"delta\":\"a patch of some length, longer than a mark\"}\n\n\
            event: response.output_item.done\ndata: {\"item\":{\"type\":\"custom_tool_call\"}}\n\n\
            event: response.completed\ndata: {}\n\n";
        let messages = "event: content_block_start\ndata: {\"content_block\":{\"type\":\"text\"}}\n\n\
            event: content_block_stop\ndata: {}\n\n\
            event: content_block_start\ndata: {\"content_block\":{\"type\":\"tool_use\",\"name\":\"Edit\"}}\n\n\
            event: content_block_delta\ndata: {\"delta\":{\"partial_json\":\"{}\"}}\n\n\
            event: content_block_stop\ndata: {}\n\n\
            event: message_stop\ndata: {}\n\n";
        for (dialect, stream) in [
            (Dialect::Responses, responses),
            (Dialect::Messages, messages),
        ] {
            // Not longer than what lies between two marks.
            for piece_bytes in 1..25 {
                let stages = stages(dialect, stream, piece_bytes);
                assert_eq!(
                    stages,
                    [Text, InToolCall, ToolCallComplete, Over],
                    "{dialect:?}, {piece_bytes} bytes at a time"
                );
            }
        }
    }

    #[test]
    fn whole_ollama_calls() {
        let stream = "{\"message\":{\"content\":\"hm\"},\"done\":false}\n\
            {\"message\":{\"tool_calls\":[{}]},\"done\":false}\n{\"done\":true}\n";
        let stages = stages(Dialect::OllamaChat, stream, 1);
        use StreamStage::{Over, Text, ToolCallComplete};
        assert_eq!(stages, [Text, ToolCallComplete, Over]);
    }
}
