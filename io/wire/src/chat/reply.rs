//! Replies as they come from the upstream: server-sent events, JSON lines or one JSON body, decoded in pieces of any size. The decoder
//! never changes what the client gets.

use serde_json::Value;
use tslp_core::capture;
use tslp_core::event::{PartKind, ServerUsage};
use tslp_core::limits::ERROR_BYTES_MAX;
use tslp_core::message::ToolCall;

use super::by_dialect;
use super::dialect::Dialect;
use super::frames::{Frame, FrameData, Frames};
use super::json_text::canonical_json;
use super::lenient::Fields as _;
use super::lost_calls::FoundText;
use super::reply_content::{EventRole, ReplyContent, ReplyFlaw};

pub use super::reply_content::DecodedPiece;

/// Calls and half-read JSON that are kept of a reply: several times what a model says at once. One that is longer is read no further.
pub(super) const KEPT_BYTES_MAX: usize = 1 << 20;

/// Bytes of a call's arguments in which its path is looked for before they are whole.
const PATH_BYTES_AHEAD: usize = 1024;

/// Decodes one reply. Its dialect's `take_reply` gets each JSON value of it.
#[derive(Debug, Default)]
pub struct ReplyDecoder {
    dialect: Dialect,
    pub(super) frames: Frames,
    /// The first bytes, in case they turn out to be no reply.
    beginning: Vec<u8>,
    /// All bytes, read or not.
    came_bytes: u64,
    /// How many JSON values came.
    values: usize,
    pub(super) content: ReplyContent,
    /// Calls whose paths were told, or needn't be looked at again.
    paths_told: usize,
}

/// What there is to know of a reply that is over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadReply {
    /// The calls of the client's tools, each with the number under which it came.
    pub calls: Vec<(usize, ToolCall)>,
    /// Why the model ended, so far as it has said so.
    pub finish_reason: Option<String>,
    /// The name by which the model server keeps the reply, if it gave one.
    pub response_id: Option<String>,
    /// What the server says of its work on the prompt, if it says anything.
    pub usage: Option<ServerUsage>,
    /// Whether the reply said itself that it is done: a finish reason, or the closing event.
    pub is_finished: bool,
    /// Whether a part of it is unreadable, or all that follows, since it is too long.
    pub is_unreadable: bool,
    /// Whether it came piece by piece.
    pub is_stream: bool,
    /// The body's beginning as text, and how many bytes came after it.
    pub beginning: (String, u64),
    /// The end of its text that may be calls of the client's tools.
    pub held_text: String,
    /// What that is.
    pub found: FoundText,
}

impl ReadReply {
    /// Whether the model was stopped in the middle, at the most that it may write.
    #[must_use]
    pub fn was_cut(&self) -> bool {
        let cut = ["length", "max_tokens", "max_output_tokens"];
        let reason = self.finish_reason.as_deref();
        reason.is_some_and(|it| cut.contains(&it))
    }

    /// The client gets no calls but these; without any, the reply ends as one does that made none.
    pub fn keep_calls(&mut self, kept: &[usize]) {
        let had_calls = !self.calls.is_empty();
        self.calls.retain(|(number, _)| kept.contains(number));
        if had_calls
            && self.calls.is_empty()
            && let Some(reason) = &mut self.finish_reason
        {
            match &**reason {
                "tool_calls" | "function_call" => "stop".clone_into(reason),
                "tool_use" => "end_turn".clone_into(reason),
                _ => {}
            }
        }
    }

    /// The client gets a call that is complete as this one.
    pub fn replace_call(&mut self, number: usize, call: ToolCall) {
        let mut calls = self.calls.iter_mut();
        if let Some((_, known)) = calls.find(|(known, _)| *known == number) {
            *known = call;
        }
    }

    /// The client gets these calls in the place of a text that they were written as.
    pub fn deliver_calls(&mut self, calls: Vec<ToolCall>) {
        self.calls = calls.into_iter().enumerate().collect();
    }

    /// It is no complete one, so nothing of it counts.
    pub fn give_up(&mut self) {
        (self.is_finished, self.is_unreadable) = (false, true);
        self.calls = Vec::new();
    }
}

impl ReplyDecoder {
    /// A decoder of replies in this dialect.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            frames: Frames::new(dialect),
            ..Self::default()
        }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) -> DecodedPiece {
        let frames = self.split(bytes);
        self.read_frames(&frames)
    }

    /// The upstream's message is over.
    pub fn end_message(&mut self) -> DecodedPiece {
        let frames = self.split_rest();
        let said = self.read_frames(&frames);
        self.note_unread_body();
        said
    }

    fn read_frames(&mut self, frames: &[Frame]) -> DecodedPiece {
        let mut said = DecodedPiece::default();
        for frame in frames {
            self.read_frame(frame, &mut said);
        }
        said
    }

    /// Takes the next bytes; returns the frames that are whole with them, to be read.
    pub(super) fn split(&mut self, bytes: &[u8]) -> Vec<Frame> {
        let room = ERROR_BYTES_MAX - self.beginning.len();
        self.beginning
            .extend_from_slice(&bytes[..room.min(bytes.len())]);
        self.came_bytes += bytes.len() as u64;
        if self.is_given_up() {
            return Vec::new();
        }
        let frames = self.frames.push(bytes);
        if self.kept_bytes() > KEPT_BYTES_MAX {
            self.content.give_up();
        }
        frames
    }

    /// The upstream's message is over; returns what is left of it.
    pub(super) fn split_rest(&mut self) -> Vec<Frame> {
        match self.is_given_up() {
            true => Vec::new(),
            false => self.frames.end(),
        }
    }

    /// A body that says nothing is none of the dialect's.
    pub(super) fn note_unread_body(&mut self) {
        let says_nothing = self.came_bytes > 0 && self.values == 0 && !self.is_finished();
        if says_nothing && self.content.flaw.is_none() {
            self.content.flaw = Some(ReplyFlaw::Unreadable);
        }
    }

    /// Reads a frame.
    pub(super) fn read_frame(&mut self, frame: &Frame, said: &mut DecodedPiece) {
        if self.is_given_up() {
            return;
        }
        match &frame.data {
            FrameData::Nothing => {}
            FrameData::Done => {
                self.content.end_was_said();
                said.role = EventRole::Ends;
            }
            FrameData::Unread => self.content.note_unread(),
            FrameData::Error(line) => {
                self.content.flaw = Some(ReplyFlaw::Error);
                said.parts.push((PartKind::Error, 0, line.clone()));
            }
            FrameData::Value(value) => {
                self.values += 1;
                self.content.count_json_bytes(frame.bytes.len());
                if !self.is_given_up() {
                    by_dialect::take_reply(self.dialect, &mut self.content, value, said);
                    add_reported_usage(value, &mut self.content.usage);
                }
            }
        }
    }

    /// Whether the reply calls any of the client's tools.
    #[must_use]
    pub const fn has_calls(&self) -> bool {
        !self.content.calls.is_empty()
    }

    /// Bytes that are kept until the reply's end, its text left out.
    #[must_use]
    pub fn kept_bytes(&self) -> usize {
        let calls = self.content.calls.iter();
        let calls = calls.map(|it| it.call.name.len() + it.call.arguments.len());
        self.frames.waiting_bytes() + calls.sum::<usize>()
    }

    /// Whether a part of the reply is unreadable, or all that follows, since it is too long.
    #[must_use]
    pub fn is_unreadable(&self) -> bool {
        self.content.flaw == Some(ReplyFlaw::Unreadable)
    }

    /// Whether decoding stopped early.
    #[must_use]
    pub const fn is_given_up(&self) -> bool {
        self.content.is_given_up
    }

    /// Whether the reply said itself that it is done: a finish reason, or the closing event.
    #[must_use]
    pub const fn is_finished(&self) -> bool {
        self.content.is_finished()
    }

    /// What the server says of its work on the prompt, if it says anything. Many clients don't ask for it
    /// (`stream_options.include_usage`).
    #[must_use]
    pub fn server_usage(&self) -> Option<ServerUsage> {
        (self.content.usage != ServerUsage::default()).then_some(self.content.usage)
    }

    /// What there is to know of the reply, once it is over or given up.
    #[must_use]
    pub fn read_reply(&self) -> ReadReply {
        let calls = self.content.calls.iter();
        let calls = calls.map(|it| (it.number, self.on_record(it.call.clone())));
        let text = match core::str::from_utf8(&self.beginning) {
            // A character may have been cut in two.
            Err(error) if error.error_len().is_none() => &self.beginning[..error.valid_up_to()],
            _ => &self.beginning,
        };
        let left_out = self.came_bytes - text.len() as u64;
        ReadReply {
            calls: calls.collect(),
            finish_reason: self.content.finish_reason.clone(),
            response_id: self.content.response_id.clone(),
            usage: self.server_usage(),
            is_finished: self.is_finished(),
            is_unreadable: self.is_unreadable(),
            is_stream: self.values > 1,
            beginning: (String::from_utf8_lossy(text).into_owned(), left_out),
            ..ReadReply::default()
        }
    }

    /// A call with its arguments in the form in which clients of the dialect send them back.
    pub(super) fn on_record(&self, mut call: ToolCall) -> ToolCall {
        if self.dialect.rewrites_arguments() {
            call.arguments = match &*call.arguments {
                "" => "{}".to_owned(),
                arguments => canonical_json(arguments),
            };
        }
        call
    }

    /// The paths in the calls that have come since this was asked last, as far as they are whole.
    pub(super) fn take_paths(&mut self) -> Vec<String> {
        let mut paths = Vec::new();
        for read in self.content.calls.iter().skip(self.paths_told) {
            match capture::path_begun(&read.call.arguments) {
                Some(path) => paths.push(path),
                // A path comes first, where models are concerned; one that comes late is read with the reply's end.
                None if read.call.arguments.len() > PATH_BYTES_AHEAD => {}
                None => break,
            }
            self.paths_told += 1;
        }
        paths
    }
}

/// The figures in a chunk or a body. Later ones replace earlier ones.
fn add_reported_usage(json: &Value, known: &mut ServerUsage) {
    let (usage, timings) = (&json["usage"], &json["timings"]);
    let cached = usage["prompt_tokens_details"].figure("cached_tokens");
    // llama.cpp reports both the tokens from its cache and those it read.
    let cached = cached.or(timings.figure("cache_n"));
    let written = usage.figure("completion_tokens");
    let written = written.or(timings.figure("predicted_n"));
    known.prompt_tokens = usage.figure("prompt_tokens").or(known.prompt_tokens);
    known.cached_tokens = cached.or(known.cached_tokens);
    known.completion_tokens = written.or(known.completion_tokens);
    known.evaluated_tokens = timings.figure("prompt_n").or(known.evaluated_tokens);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decodes the same bytes split at every position; all splits must say the same.
    fn check(bytes: &[u8], text: &str, finish_reason: Option<&str>, finished: bool) {
        check_in(Dialect::default(), bytes, text, finish_reason, finished);
    }

    fn check_in(
        dialect: Dialect,
        bytes: &[u8],
        text: &str,
        finish_reason: Option<&str>,
        finished: bool,
    ) {
        for split in 0..=bytes.len() {
            let mut decoder = ReplyDecoder::new(dialect);
            let mut said = decoder.push(&bytes[..split]).text;
            said.push_str(&decoder.push(&bytes[split..]).text);
            said.push_str(&decoder.end_message().text);
            assert_eq!(said, text, "split at {split}");
            assert_eq!(decoder.is_finished(), finished, "split at {split}");
            assert_eq!(
                decoder.read_reply().finish_reason.as_deref(),
                finish_reason,
                "split at {split}"
            );
        }
    }

    /// What llama.cpp's server said in each dialect, whole and streamed, to one question with 16 tokens at the most.
    #[test]
    fn recorded_replies() {
        macro_rules! recorded {
            ($name:literal) => {
                include_bytes!(concat!("../../tests/exchanges/llama.cpp/", $name)).as_slice()
            };
        }
        let echo = "What does `ring_put` of ring.c return? Answer in five";
        let shown = "\n\n[CURRENT STATE: AUTHORITATIVE]\nEntity: ring.c\n";
        let check = |dialect, bytes: &[u8], text: &str, finish: &str| {
            check_in(dialect, bytes, text, Some(finish), true);
        };
        use Dialect::{ChatCompletions, Completions, Messages, Responses};
        check(ChatCompletions, recorded!("chat-whole.txt"), echo, "length");
        check(
            ChatCompletions,
            recorded!("chat-stream.txt"),
            echo,
            "length",
        );
        check(
            Completions,
            recorded!("completions-whole.txt"),
            shown,
            "length",
        );
        check(
            Completions,
            recorded!("completions-stream.txt"),
            shown,
            "length",
        );
        check(
            Responses,
            recorded!("responses-whole.txt"),
            echo,
            "completed",
        );
        check(
            Responses,
            recorded!("responses-stream.txt"),
            echo,
            "completed",
        );
        check(
            Messages,
            recorded!("messages-whole.txt"),
            echo,
            "max_tokens",
        );
        check(
            Messages,
            recorded!("messages-stream.txt"),
            echo,
            "max_tokens",
        );
    }

    #[test]
    fn line_endings() {
        let stream = "\u{feff}: ping\n\ndata: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"hé\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"llo\"},\"finish_reason\":null}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":{}}\n\ndata: [DONE]\n\n";
        check(stream.as_bytes(), "héllo", Some("stop"), true);
        check(
            stream.replace('\n', "\r\n").as_bytes(),
            "héllo",
            Some("stop"),
            true,
        );
        check(
            stream.replace('\n', "\r").as_bytes(),
            "héllo",
            Some("stop"),
            true,
        );
    }

    #[test]
    fn unfinished_streams() {
        check(
            b"data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n",
            "x",
            None,
            false,
        );
        check(b"data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\ndata: {\"error\":{\"message\":\"m\"}}\n\n", "x", None, false);
    }

    #[test]
    fn plain_bodies() {
        let body = br#"{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}"#;
        check(body, "hi", Some("stop"), true);
        check(br#"{"error":{"message":"m"}}"#, "", None, false);
        check(b"<html>", "", None, false);
    }

    /// All parts of a reply in all splits, each kind and choice put together.
    fn check_parts(bytes: &str, parts: &[(PartKind, u32, &str)]) {
        for split in 0..=bytes.len() {
            let mut decoder = ReplyDecoder::default();
            let mut together: Vec<(PartKind, u32, String)> = Vec::new();
            let pieces = [
                decoder.push(&bytes.as_bytes()[..split]),
                decoder.push(&bytes.as_bytes()[split..]),
                decoder.end_message(),
            ];
            for (kind, choice, text) in pieces.into_iter().flat_map(|said| said.parts) {
                let mut known = together.iter_mut();
                match known.find(|part| (part.0, part.1) == (kind, choice)) {
                    Some(part) => part.2.push_str(&text),
                    None => together.push((kind, choice, text)),
                }
            }
            let together: Vec<(PartKind, u32, &str)> = together
                .iter()
                .map(|(kind, choice, text)| (*kind, *choice, text.as_str()))
                .collect();
            assert_eq!(together, parts, "{bytes} split at {split}");
        }
    }

    #[test]
    fn unjudged_parts() {
        use PartKind::{Error, OtherText, OtherToolCalls, Reasoning, Refusal};
        let stream = |deltas: &[&str]| -> String {
            let events = deltas.iter();
            let events = events.map(|delta| format!("data: {{\"choices\":[{delta}]}}\n\n"));
            events.collect()
        };
        check_parts(
            &stream(&[
                r#"{"delta":{"reasoning_content":"I th","reasoning":"I th"}}"#,
                r#"{"delta":{"reasoning_content":"ink","content":null}}"#,
                r#"{"delta":{"thinking":7,"content":[{"type":"thinking","thinking":[{"text":"!"}]},{"text":"hi"}]}}"#,
            ]),
            &[(Reasoning, 0, "I think!")],
        );
        check_parts(
            &stream(&[
                r#"{"index":1,"delta":{"content":"b"}},{"index":0,"delta":{"content":"a","refusal":"no"}}"#,
                r#"{"index":2,"delta":{"tool_calls":[{"function":{"name":"f","arguments":"{"}}]}}"#,
                r#"{"index":2,"delta":{"tool_calls":[{"function":{"arguments":"}"}}]}},{"index":1,"delta":{"content":"c"},"finish_reason":"stop"}"#,
            ]),
            &[
                (OtherText, 1, "bc"),
                (Refusal, 0, "no"),
                (OtherToolCalls, 2, "\nf {}"),
            ],
        );
        let error = r#"{"message":"full"}"#;
        check_parts(
            &format!("data: {{\"error\":{error}}}\n\n"),
            &[(Error, 0, error)],
        );
        check_parts("x\n{\"error\":1}\n", &[(Error, 0, "{\"error\":1}")]);
    }

    #[test]
    fn first_bytes_kept() {
        let mut decoder = ReplyDecoder::default();
        let page = "<html>é</html>".repeat(1000);
        for piece in page.as_bytes().chunks(7) {
            decoder.push(piece);
        }
        decoder.end_message();
        let (beginning, left_out) = decoder.read_reply().beginning;
        assert!(page.starts_with(&beginning), "{beginning}");
        assert_eq!(beginning.len() as u64 + left_out, page.len() as u64);
        assert!((ERROR_BYTES_MAX - 3..=ERROR_BYTES_MAX).contains(&beginning.len()));
    }

    /// Such a reply was taken for one that had broken off.
    #[test]
    fn content_parts() {
        let parts = br#"data: {"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"no"}]},{"type":"text","text":"hi"}]},"finish_reason":"stop"}]}

"#;
        check(parts, "hi", Some("stop"), true);
        let odd = br#"{"choices":[{"message":{"content":{"x":1}},"finish_reason":"stop"}]}"#;
        check(odd, "", Some("stop"), true);
    }

    /// The server's figures in all splits of a finished reply.
    fn check_usage(bytes: &str, figures: [Option<u32>; 3]) {
        check_usages(bytes, figures, None);
    }

    fn check_usages(bytes: &str, figures: [Option<u32>; 3], completion_tokens: Option<u32>) {
        let [prompt_tokens, cached_tokens, evaluated_tokens] = figures;
        let expected = ServerUsage {
            prompt_tokens,
            cached_tokens,
            evaluated_tokens,
            completion_tokens,
        };
        let expected = (figures != [None; 3]).then_some(expected);
        for split in 0..=bytes.len() {
            let mut decoder = ReplyDecoder::default();
            decoder.push(&bytes.as_bytes()[..split]);
            decoder.push(&bytes.as_bytes()[split..]);
            decoder.end_message();
            assert!(decoder.is_finished(), "{bytes}");
            assert_eq!(decoder.server_usage(), expected, "{bytes} split at {split}");
        }
    }

    #[test]
    fn servers_figures() {
        let stream = |choice: &str, last: &str| {
            format!(
                "data: {{\"choices\":[{{\"delta\":{{\"content\":\"hi\"}}}}],\"usage\":null}}\n\n\
                 data: {{\"choices\":[{{\"delta\":{{}},\"finish_reason\":\"stop\"}}]{choice}}}\n\n{last}\
                 data: [DONE]\n\n"
            )
        };
        check_usage(&stream("", ""), [None; 3]);
        let last = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"prompt_tokens_details\":{\"cached_tokens\":7}}}\n\n";
        check_usage(&stream("", last), [Some(9), Some(7), None]);
        let last = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"prompt_tokens_details\":null}}\n\n";
        check_usage(&stream("", last), [Some(9), None, None]);
        let timings = ",\"timings\":{\"cache_n\":236,\"prompt_n\":1,\"prompt_ms\":30.9}";
        check_usage(&stream(timings, ""), [None, Some(236), Some(1)]);
        check_usage(&stream(timings, last), [Some(9), Some(236), Some(1)]);
        let body = r#"{"choices":[{"message":{"content":"a \"usage\" of"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1},"timings":{"prompt_n":2}}"#;
        check_usages(body, [Some(3), None, Some(2)], Some(1));
    }

    #[test]
    fn odd_figures() {
        for odd in [
            "7",
            "\"x\"",
            "[]",
            "{}",
            "[1,2]",
            "{\"prompt_tokens\":-1,\"prompt_tokens_details\":[3]}",
            "{\"prompt_tokens\":1.5,\"prompt_tokens_details\":{\"cached_tokens\":\"x\"}}",
            "{\"prompt_tokens\":99999999999}",
        ] {
            let body = format!(
                "{{\"choices\":[{{\"message\":{{\"content\":\"hi\"}},\"finish_reason\":\"stop\"}}],\"timings\":{odd},\"usage\":{odd}}}"
            );
            check_usage(&body, [None; 3]);
        }
    }

    #[test]
    fn calls_by_index() {
        let mut decoder = ReplyDecoder::default();
        decoder.push(b"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"write\",\"arguments\":\"{\\\"a\"}}]}}]}\n\n");
        decoder.push(b"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"\\\":1}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n");
        let ReadReply {
            calls,
            finish_reason: reason,
            ..
        } = decoder.read_reply();
        assert_eq!(calls.len(), 1);
        assert_eq!(
            (calls[0].1.name.as_str(), calls[0].1.arguments.as_str()),
            ("write", "{\"a\":1}")
        );
        assert_eq!(reason.as_deref(), Some("tool_calls"));
    }

    /// What a reply in some dialect says, the same in all splits: text, thoughts, and its tool calls.
    fn check_dialect(
        dialect: Dialect,
        bytes: &str,
        text: &str,
        thoughts: &str,
        calls: &[(&str, &str)],
    ) {
        for split in 0..=bytes.len() {
            let mut decoder = ReplyDecoder::new(dialect);
            let pieces = [
                decoder.push(&bytes.as_bytes()[..split]),
                decoder.push(&bytes.as_bytes()[split..]),
                decoder.end_message(),
            ];
            let said: String = pieces.iter().map(|said| said.text.as_str()).collect();
            assert_eq!(said, text, "{dialect:?} split at {split}");
            let parts = pieces.iter().flat_map(|said| &said.parts);
            let reasoning = parts.filter(|part| part.0 == PartKind::Reasoning);
            let reasoning: String = reasoning.map(|part| part.2.as_str()).collect();
            assert_eq!(reasoning, thoughts, "{dialect:?} split at {split}");
            assert!(decoder.is_finished(), "{dialect:?} split at {split}");
            assert_eq!(
                decoder.server_usage().and_then(|usage| usage.prompt_tokens),
                Some(9)
            );
            let found = decoder.read_reply().calls;
            let found: Vec<_> = found
                .iter()
                .map(|(_, call)| (call.name.as_str(), call.arguments.as_str()))
                .collect();
            assert_eq!(found, calls, "{dialect:?} split at {split}");
        }
    }

    fn events(events: &[&str]) -> String {
        let events = events.iter();
        events
            .map(|event| format!("event: x\ndata: {event}\n\n"))
            .collect()
    }

    #[test]
    fn every_dialect() {
        let calls = [("read", r#"{"path":"a"}"#)];
        check_dialect(
            Dialect::Messages,
            &events(&[
                r#"{"type":"message_start","message":{"usage":{"input_tokens":4,"cache_read_input_tokens":5}}}"#,
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}"#,
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"x"}}"#,
                r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
                r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"hé"}}"#,
                r#"{"type":"ping"}"#,
                r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","name":"read","input":{}}}"#,
                r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"path\": "}}"#,
                r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"\"a\"}"}}"#,
                r#"{"type":"content_block_start","index":3,"content_block":{"type":"text","text":"b"}}"#,
                r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":3}}"#,
                r#"{"type":"message_stop"}"#,
            ]),
            "hé\nb",
            "hm",
            &calls,
        );
        check_dialect(
            Dialect::Messages,
            r#"{"type":"message","content":[{"type":"text","text":"a"},{"type":"tool_use","name":"read","input":{"path": "a"}}],"stop_reason":"tool_use","usage":{"input_tokens":9}}"#,
            "a",
            "",
            &calls,
        );
        let item = r#"{"type":"function_call","name":"read","arguments":"{\"path\":\"a\"}"}"#;
        let patch = r#"{"type":"custom_tool_call","name":"apply_patch","input":"p"}"#;
        let message = r#"{"type":"message","content":[{"type":"output_text","text":"hé"}]}"#;
        let thought = r#"{"type":"reasoning","summary":[{"text":"hm"}]}"#;
        let both = [calls[0], ("apply_patch", r#"{"input":"p"}"#)];
        let end = r#""status":"completed","error":null,"usage":{"input_tokens":9}"#;
        check_dialect(
            Dialect::Responses,
            &events(&[
                r#"{"type":"response.created","response":{"status":"in_progress","error":null}}"#,
                r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"hm"}"#,
                &format!(
                    r#"{{"type":"response.output_item.done","output_index":0,"item":{thought}}}"#
                ),
                r#"{"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"h"}"#,
                r#"{"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"é"}"#,
                &format!(
                    r#"{{"type":"response.output_item.done","output_index":1,"item":{message}}}"#
                ),
                r#"{"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","name":"read","arguments":""}}"#,
                r#"{"type":"response.function_call_arguments.delta","output_index":2,"delta":"{\"path\""}"#,
                &format!(
                    r#"{{"type":"response.output_item.done","output_index":2,"item":{item}}}"#
                ),
                &format!(
                    r#"{{"type":"response.output_item.done","output_index":3,"item":{patch}}}"#
                ),
                &format!(
                    r#"{{"type":"response.completed","response":{{"output":[{message}],{end}}}}}"#
                ),
            ]),
            "hé",
            "hm",
            &both,
        );
        check_dialect(
            Dialect::Responses,
            &format!(
                r#"{{"object":"response","output":[{thought},{message},{item},{patch}],{end}}}"#
            ),
            "hé",
            "hm",
            &both,
        );
        let last =
            r#"{"message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":9}"#;
        check_dialect(
            Dialect::OllamaChat,
            &format!(
                "{}\n{}\n{}\n{last}\n",
                r#"{"message":{"content":"","thinking":"hm"},"done":false}"#,
                r#"{"message":{"content":"hé"},"done":false}"#,
                r#"{"message":{"content":"","tool_calls":[{"function":{"name":"read","arguments":{"path": "a"}}}]},"done":false}"#,
            ),
            "hé",
            "hm",
            &calls,
        );
        check_dialect(
            Dialect::OllamaGenerate,
            "{\"response\":\"h\",\"done\":false}\n{\"response\":\"i\",\"done\":true,\"prompt_eval_count\":9}",
            "hi",
            "",
            &[],
        );
        check_dialect(
            Dialect::Completions,
            "data: {\"choices\":[{\"text\":\"h\"}]}\n\ndata: {\"choices\":[{\"text\":\"i\",\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":9}}\n\ndata: [DONE]\n\n",
            "hi",
            "",
            &[],
        );
    }
}
