//! One response to the client, whose end waits until the engine has judged it. There may be several rounds: the model asks for
//! tools, gets their results, and goes on.
//!
//! Until a round turns out not to be the last, every byte is passed on as it came. A stream's last events are kept back until it is
//! known whether another round follows, and so is a whole body. What is said after the first round, by the engine or by the model, is
//! more text of the same reply: a stream's further pieces, and the kept end repeats the whole text, where it repeats any, with the
//! usage of all rounds. Calls of the client's own tools are kept back until the engine has judged them: a client can't use one
//! before it is complete. So is a text that may be such calls, from where they would begin.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tslp_core::event::{PartKind, ServerUsage};

pub use super::delivered_calls::DeliveredCalls;
use super::delivered_calls::with_calls;
use super::dialect::Dialect;
use super::ending;
pub use super::ending::ResponseForm;
use super::held_calls::{self, DeniedCalls};
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
    /// Bytes of the first round that weren't passed on: half an event, then those from the first call or from the round's end on; or
    /// a whole body.
    held: Vec<u8>,
    /// Bytes of it that were scanned.
    looked_at: usize,
    /// Whether the client's own tools are called.
    has_calls: bool,
    /// Whether the round's last events have begun.
    ends: bool,
    /// The members that all pieces share, from the first one, where pieces have any.
    shared: Map<String, Value>,
    /// What was said after the first round's text.
    said: String,
    /// The rounds after the first one.
    later: Option<LaterRounds>,
    /// Reads the text, where it may be calls.
    watch: Option<Box<(ReplyDecoder, LostCallWatch)>>,
}

/// The rounds after the first one.
#[derive(Debug)]
struct LaterRounds {
    /// Reads the one that is under way.
    decoder: ReplyDecoder,
    /// What those that are over cost.
    usage: ServerUsage,
    /// Why the last one ended.
    finish_reason: Option<String>,
}

impl LaterRounds {
    fn new(dialect: Dialect) -> Self {
        Self {
            decoder: ReplyDecoder::new(dialect),
            usage: ServerUsage::default(),
            finish_reason: None,
        }
    }

    /// The round that was under way is over.
    fn end_round(&mut self) {
        let dialect = self.decoder.dialect();
        let decoder = std::mem::replace(&mut self.decoder, ReplyDecoder::new(dialect));
        let usage = decoder.server_usage().unwrap_or_default();
        for (sum, more) in [
            (&mut self.usage.prompt_tokens, usage.prompt_tokens),
            (&mut self.usage.completion_tokens, usage.completion_tokens),
        ] {
            *sum = match (*sum, more) {
                (Some(sum), Some(more)) => Some(sum.saturating_add(more)),
                (sum, more) => sum.or(more),
            };
        }
        self.finish_reason = decoder.into_parts().1;
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
            held: Vec::new(),
            looked_at: 0,
            has_calls: false,
            ends: false,
            shared: Map::new(),
            said: String::new(),
            later: None,
            watch: None,
        }
    }

    /// Keeps back what may be calls of the tools that the client offers, written as text.
    #[must_use]
    pub fn with_watch(mut self, tools: Arc<OfferedTools>) -> Self {
        let decoder = ReplyDecoder::new(self.dialect);
        self.watch = Some(Box::new((decoder, LostCallWatch::new(tools))));
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

    /// Whether what is kept back may hold calls of the client's own tools.
    #[must_use]
    pub fn may_hold_calls(&self) -> bool {
        let is_chat = self.dialect == Dialect::ChatCompletions;
        match self.form {
            ResponseForm::Stream if is_chat => StreamEvents(&self.held).any(has_calls),
            ResponseForm::Stream => self.has_calls,
            ResponseForm::Whole => body_of(&self.held).is_none_or(|body| match is_chat {
                true => calls_in(&body),
                false => held_calls::body_calls(self.dialect, &body),
            }),
        }
    }

    /// Whether the client's own tools are called in a stream.
    #[must_use]
    pub const fn has_calls(&self) -> bool {
        self.has_calls
    }

    /// Whether text is kept back that may be calls.
    #[must_use]
    pub fn holds_text(&self) -> bool {
        let watch = self.watch.as_ref();
        watch.is_some_and(|watch| self.form == ResponseForm::Whole || !watch.1.held().is_empty())
    }

    /// The client gets calls in the place of the text that they were written as.
    pub fn deliver_calls(&mut self, delivered: &DeliveredCalls) -> Vec<u8> {
        self.held = with_calls(self.dialect, self.form, &self.shared, &self.held, delivered);
        Vec::new()
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
        self.held.len() + later.map_or(0, |later| later.decoder.kept_bytes())
    }

    /// Everything that was kept back, as it came.
    #[must_use]
    pub fn take_held(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }

    /// Takes more of the model server's response; returns the bytes that the client gets now.
    pub fn push(&mut self, data: &[u8]) -> Vec<u8> {
        if let Some(later) = &mut self.later {
            let piece = later.decoder.push(data);
            self.ends = later.decoder.is_finished();
            return self.pass_on(piece);
        }
        self.held.extend_from_slice(data);
        if self.form == ResponseForm::Whole {
            return Vec::new();
        }
        let mut passed = 0;
        while let Some(length) = self.next_event(self.looked_at) {
            let event = &self.held[self.looked_at..self.looked_at + length];
            if self.shared.is_empty() && ending::shares_members(self.dialect) {
                let json = data_of(event).or_else(|| body_of(event));
                self.shared = json.as_ref().map(ending::shared_of).unwrap_or_default();
            }
            if let Some(is_text) = ending::opens_text(self.dialect, event) {
                self.in_text = is_text;
            }
            // The last events say what the whole reply was, which another round would make false: they wait.
            self.ends = match self.ends {
                true => !ending::resumes(self.dialect, event),
                false => ending::begins(self.dialect, event),
            };
            self.has_calls |= match self.dialect {
                Dialect::ChatCompletions => has_calls(event),
                _ => held_calls::opens_call(self.dialect, event),
            };
            self.looked_at += length;
            let may_be_calls = match &mut self.watch {
                Some(watch) => {
                    let (decoder, text) = &mut **watch;
                    text.push(&decoder.push(event).text);
                    // A block that is opened and stays empty goes with the text that it was opened for.
                    !text.held().is_empty() || ending::opens_text_block(self.dialect, event)
                }
                None => false,
            };
            // A call may still be kept back, and what follows it waits too, so that the order stays.
            if !self.ends && !self.has_calls && !may_be_calls {
                passed = self.looked_at;
            }
        }
        debug_assert!(passed <= self.looked_at && self.looked_at <= self.held.len());
        self.looked_at -= passed;
        let rest = self.held.split_off(passed);
        std::mem::replace(&mut self.held, rest)
    }

    /// The length of the event at a place of what is kept back; a line of JSON is one.
    fn next_event(&self, at: usize) -> Option<usize> {
        let rest = &self.held[at..];
        match self.dialect.streams_json_lines() {
            true => memchr::memchr(b'\n', rest).map(|end| end + 1),
            false => event_length(rest),
        }
    }

    /// Says something in the model's place, after all that it said in this round; nothing where a stream ends with no text.
    pub fn say_for_model(&mut self, text: &str) -> Vec<u8> {
        let mut passed = self.close_round();
        if self.in_text {
            passed.extend(self.pass_on(DecodedPiece {
                text: text.to_owned(),
                parts: Vec::new(),
            }));
        }
        passed
    }

    /// The client gets a text in the place of each denied call of its own tools, and the other calls as they came.
    pub fn keep_calls_back(&mut self, denied: &DeniedCalls) -> Vec<u8> {
        if !self.may_hold_calls() {
            return Vec::new();
        }
        let held = std::mem::take(&mut self.held);
        let mut passed = Vec::new();
        if self.dialect != Dialect::ChatCompletions {
            self.held = held_calls::without_denied(self.dialect, self.form, &held, denied);
            return passed;
        }
        match self.form {
            ResponseForm::Whole => self.held = body_without_calls(&held, denied),
            ResponseForm::Stream => {
                let pieces = StreamEvents(&held).flat_map(data_lines).filter_map(body_of);
                let is_left = pieces
                    .flat_map(|piece| call_numbers(&piece))
                    .any(|it| denied.text_for(it).is_none());
                let pieces =
                    StreamEvents(&held).flat_map(|event| without_calls(event, denied, is_left));
                for piece in pieces {
                    if self.held.is_empty() && !ending::begins(self.dialect, &piece) {
                        passed.extend(piece)
                    } else {
                        self.held.extend(piece)
                    }
                }
            }
        }
        passed.extend(self.say_for_model(&denied.joined_text()));
        passed
    }

    /// Another round follows.
    pub fn next_round(&mut self) -> Vec<u8> {
        let passed = self.close_round();
        match &mut self.later {
            Some(later) => later.end_round(),
            None => self.later = Some(LaterRounds::new(self.dialect)),
        }
        self.ends = false;
        passed
    }

    /// No round follows: returns the client's remaining bytes.
    #[must_use]
    pub fn last_bytes(mut self) -> Vec<u8> {
        if self.later.is_none() && self.said.is_empty() {
            return self.held;
        }
        let mut passed = self.close_round();
        let mut addition = ending::Addition {
            text: &self.said,
            ..ending::Addition::default()
        };
        if let Some(later) = &mut self.later {
            later.end_round();
            addition.usage = later.usage;
            addition.finish_reason = later.finish_reason.as_deref();
        }
        passed.extend(ending::completed(
            self.dialect,
            self.form,
            &self.held,
            &addition,
        ));
        passed
    }

    /// Passes on the text that is among the round's last events.
    fn close_round(&mut self) -> Vec<u8> {
        if let Some(later) = &mut self.later {
            let piece = later.decoder.end_message();
            return self.pass_on(piece);
        }
        if self.form == ResponseForm::Whole {
            return Vec::new();
        }
        let (text, held) = ending::without_text(self.dialect, &self.held);
        self.held = held;
        match text.is_empty() {
            true => Vec::new(),
            false => self.piece(PartKind::OtherText, &text),
        }
    }

    /// More of the reply, as the model's own.
    fn pass_on(&mut self, more: DecodedPiece) -> Vec<u8> {
        self.said.push_str(&more.text);
        let mut passed = Vec::new();
        if self.form == ResponseForm::Stream {
            let parts = more.parts.iter();
            let thoughts = parts.filter(|(kind, ..)| *kind == PartKind::Reasoning);
            for (kind, _, thought) in thoughts {
                passed.extend(self.piece(*kind, thought));
            }
            if !more.text.is_empty() {
                passed.extend(self.piece(PartKind::OtherText, &more.text));
            }
        }
        passed
    }

    fn piece(&self, kind: PartKind, text: &str) -> Vec<u8> {
        ending::piece(self.dialect, &self.shared, &self.held, kind, text)
    }
}

/// The end of the first event, with the blank line after it.
fn event_length(bytes: &[u8]) -> Option<usize> {
    let mut line = 0;
    let mut has_words = false;
    while let Some(end) = bytes[line..].iter().position(|byte| *byte == b'\n') {
        let is_blank = matches!(&bytes[line..line + end], b"" | b"\r");
        line += end + 1;
        if is_blank && has_words {
            return Some(line);
        }
        has_words |= !is_blank;
    }
    None
}

/// Events of a stream; what isn't a whole one comes last.
struct StreamEvents<'e>(&'e [u8]);

impl<'e> Iterator for StreamEvents<'e> {
    type Item = &'e [u8];

    fn next(&mut self) -> Option<&'e [u8]> {
        if self.0.is_empty() {
            return None;
        }
        let length = event_length(self.0).unwrap_or(self.0.len());
        let (event, rest) = self.0.split_at(length);
        self.0 = rest;
        Some(event)
    }
}

/// The data of an event.
fn data_of(event: &[u8]) -> Option<Value> {
    let data = data_lines(event).next()?;
    serde_json::from_slice(data).ok()
}

/// Clients that read a stream line by line take each of them as an event's.
fn data_lines(event: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = event.split(|byte| matches!(byte, b'\n' | b'\r'));
    let data = lines.filter_map(|line| line.strip_prefix(b"data:"));
    data.map(<[u8]>::trim_ascii)
}

/// The member of a choice that holds its calls: in a piece of a stream, or in a body.
const MESSAGES: [&str; 2] = ["delta", "message"];

/// Whether an event calls tools of the client's.
fn has_calls(event: &[u8]) -> bool {
    // A text holds no such name, since its quotes are escaped.
    let names = |data: &&[u8]| data.windows(CALLS.len()).any(|it| it == CALLS);
    let mut pieces = data_lines(event).filter(names).filter_map(body_of);
    pieces.any(|piece| calls_in(&piece))
}

/// Whether a piece or a body calls tools of the client's.
fn calls_in(piece: &Value) -> bool {
    let choices = piece["choices"].as_array().into_iter().flatten();
    let mut messages = choices.flat_map(|choice| MESSAGES.map(|name| &choice[name]));
    messages.any(|message| {
        let calls = message["tool_calls"].as_array();
        calls.is_some_and(|calls| !calls.is_empty())
    })
}

const CALLS: &[u8] = b"\"tool_calls\"";

/// The numbers of the calls in a piece or a body.
fn call_numbers(piece: &Value) -> Vec<usize> {
    let choices = piece["choices"].as_array().into_iter().flatten();
    let messages = choices.flat_map(|choice| MESSAGES.map(|name| &choice[name]));
    let calls = messages.flat_map(|message| {
        message["tool_calls"]
            .as_array()
            .into_iter()
            .flatten()
            .enumerate()
    });
    calls
        .map(|(position, call)| call_number(position, call))
        .collect()
}

fn call_number(position: usize, call: &Value) -> usize {
    let index = call["index"]
        .as_u64()
        .and_then(|index| usize::try_from(index).ok());
    index.unwrap_or(position)
}

/// An event's pieces without the denied calls; if no other is left, the reply ends as one does that made none. What can't be read
/// is left out.
fn without_calls(event: &[u8], denied: &DeniedCalls, is_left: bool) -> Vec<Vec<u8>> {
    let pieces = data_lines(event).filter_map(|data| match body_of(data) {
        None => (data == b"[DONE]").then(|| b"data: [DONE]\n\n".to_vec()),
        Some(mut piece) => {
            let choices = piece["choices"].as_array_mut();
            let choices = choices.into_iter().flatten();
            choices.for_each(|choice| leave_out_calls(choice, denied, is_left));
            Some(event_of(&piece))
        }
    });
    pieces.collect()
}

/// A body without the denied calls; one that can't be read becomes an empty reply.
fn body_without_calls(body: &[u8], denied: &DeniedCalls) -> Vec<u8> {
    let mut body = body_of(body)
        .filter(Value::is_object)
        .unwrap_or_else(|| json!({}));
    let is_left = call_numbers(&body)
        .into_iter()
        .any(|it| denied.text_for(it).is_none());
    let choice = body["choices"]
        .as_array_mut()
        .and_then(|choices| choices.pop());
    let choice = choice.filter(|choice| choice["message"].is_object());
    let mut choice = choice.unwrap_or_else(
        || json!({ "index": 0, "message": { "role": "assistant" }, "finish_reason": "stop" }),
    );
    leave_out_calls(&mut choice, denied, is_left);
    body["choices"] = json!([choice]);
    body.to_string().into_bytes()
}

fn leave_out_calls(choice: &mut Value, denied: &DeniedCalls, is_left: bool) {
    for name in MESSAGES {
        let Some(message) = choice[name].as_object_mut() else {
            continue;
        };
        let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
        let Some(calls) = calls else { continue };
        let mut position = 0;
        calls.retain_mut(|call| {
            let number = call_number(position, call);
            position += 1;
            // Clients put the pieces of calls together by numbers without gaps.
            if call["index"].is_u64() {
                call["index"] = (number - denied.count_before(number)).into();
            }
            denied.text_for(number).is_none()
        });
        if calls.is_empty() {
            message.remove("tool_calls");
        }
    }
    if !is_left && choice["finish_reason"].is_string() {
        choice["finish_reason"] = "stop".into();
    }
}

fn event_of(json: &Value) -> Vec<u8> {
    format!("data: {json}\n\n").into_bytes()
}

fn body_of(bytes: &[u8]) -> Option<Value> {
    serde_json::from_slice(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(id: &str, content: &str) -> String {
        format!(
            "data: {{\"id\":\"{id}\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{}}},\"finish_reason\":null}}]}}\n\n",
            Value::from(content)
        )
    }

    fn ending(id: &str, tokens: u32) -> String {
        format!(
            "data: {{\"id\":\"{id}\",\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"stop\"}}]}}\n\n\
             data: {{\"id\":\"{id}\",\"choices\":[],\"usage\":{{\"prompt_tokens\":{tokens},\"completion_tokens\":1,\"total_tokens\":{}}}}}\n\n\
             data: [DONE]\n\n",
            tokens + 1
        )
    }

    /// What a client reads: text, ids, finish reasons and usage.
    fn read(stream: &[u8]) -> (String, Vec<String>, u32, Vec<Value>, usize) {
        let (mut text, mut ids, mut finished) = (String::new(), Vec::new(), 0);
        let (mut usage, mut done) = (Vec::new(), 0);
        for event in StreamEvents(stream) {
            done += usize::from(event.starts_with(b"data: [DONE]"));
            let Some(json) = data_of(event) else { continue };
            ids.push(json["id"].as_str().unwrap_or_default().to_owned());
            let choice = &json["choices"][0];
            text.push_str(choice["delta"]["content"].as_str().unwrap_or_default());
            finished += u32::from(choice["finish_reason"].is_string());
            usage.extend(json.get("usage").filter(|it| it.is_object()).cloned());
        }
        ids.dedup();
        (text, ids, finished, usage, done)
    }

    #[test]
    fn one_round_is_passed_on_byte_for_byte_wherever_it_is_cut() {
        let stream = format!(
            "{}: ping\r\n\r\n{}{}",
            chunk("a", "x"),
            chunk("a", "[DONE]"),
            ending("a", 5)
        );
        for cut in 0..=stream.len() {
            let mut rounds = ResponseRounds::new(ResponseForm::Stream, Dialect::ChatCompletions);
            let mut out = rounds.push(&stream.as_bytes()[..cut]);
            out.extend(rounds.push(&stream.as_bytes()[cut..]));
            assert!(!out.windows(6).any(|bytes| bytes == b"\"stop\""), "{cut}");
            out.extend(rounds.last_bytes());
            assert_eq!(String::from_utf8_lossy(&out), stream, "{cut}");
        }
    }

    #[test]
    fn several_rounds_are_one_stream() {
        let mut rounds = ResponseRounds::new(ResponseForm::Stream, Dialect::ChatCompletions);
        let mut out = Vec::new();
        // The last text comes with the finish.
        let last = "data: {\"id\":\"a\",\"choices\":[{\"delta\":{\"content\":\"two\"},\"finish_reason\": \"stop\"}]}\n\n";
        out.extend(rounds.push(chunk("a", "one ").as_bytes()));
        out.extend(rounds.push(last.as_bytes()));
        let (_, usage) = ending("a", 5)
            .split_once("\n\n")
            .map(|(stop, rest)| (stop.len(), rest.to_owned()))
            .unwrap();
        out.extend(rounds.push(usage.as_bytes()));
        out.extend(rounds.say_for_model(" three"));
        out.extend(rounds.next_round());
        let second = chunk("b", " four") + &ending("b", 7);
        out.extend(rounds.push(second.as_bytes()));
        out.extend(rounds.last_bytes());
        let usage = json!({"prompt_tokens": 12, "completion_tokens": 2, "total_tokens": 14});
        assert_eq!(
            read(&out),
            (
                "one two three four".into(),
                vec!["a".into()],
                1,
                vec![usage],
                1
            )
        );
    }

    fn all_denied(why: &str) -> DeniedCalls {
        DeniedCalls(vec![(held_calls::ALL_CALLS, why.into())])
    }

    /// What a stream gives by and by, and what is left at its end.
    fn streamed(stream: &str, why: Option<&str>) -> (String, String) {
        let mut rounds = ResponseRounds::new(ResponseForm::Stream, Dialect::ChatCompletions);
        let mut passed = Vec::new();
        for bytes in stream.as_bytes().chunks(7) {
            passed.extend(rounds.push(bytes));
        }
        let mut rest = why.map_or_else(Vec::new, |why| rounds.keep_calls_back(&all_denied(why)));
        rest.extend(rounds.last_bytes());
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (text(passed), text(rest))
    }

    #[test]
    fn calls_wait_to_be_judged_and_come_as_they_were_or_not_at_all() {
        let call = |arguments: &str| {
            let calls = json!([{"index": 0, "function": {"name": "sh", "arguments": arguments}}]);
            let delta = json!({"role": "assistant", "content": null, "tool_calls": calls});
            json!({"id": "a", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
        };
        let before = chunk("a", "I look at \"tool_calls\": [1].");
        let both = format!("data: {}\ndata: {}\n\n", chunk("a", "x").trim(), call("rm"));
        let last = ending("a", 5).replace("\"stop\"", "\"tool_calls\"");
        for calls in [format!("data: {}\r\n\r\n", call("rm")), both] {
            let stream = format!("{before}{calls}{}{last}", chunk("a", " So."));
            let (passed, rest) = streamed(&stream, None);
            assert_eq!(
                (passed.as_str(), passed.clone() + &rest),
                (&*before, stream.clone())
            );
            let (passed, rest) = streamed(&stream, Some(" Kept back."));
            assert_eq!(passed, before);
            assert!(
                !rest.contains("rm") && !rest.contains("tool_calls"),
                "{rest}"
            );
            let (text, ids, finished, usage, done) = read((passed + &rest).as_bytes());
            assert!(text.ends_with(" So. Kept back."), "{text}");
            assert_eq!(
                (ids, finished, usage.len(), done),
                (vec!["a".to_owned()], 1, 1, 1)
            );
        }
        // One without calls stays as it is.
        let stream = before + &ending("a", 5);
        let (passed, rest) = streamed(&stream, Some("no"));
        assert_eq!(passed + &rest, stream);
    }

    #[test]
    fn a_body_loses_its_calls() {
        let check = |body: &str, expected: &Value| {
            let mut rounds = ResponseRounds::new(ResponseForm::Whole, Dialect::ChatCompletions);
            rounds.push(body.as_bytes());
            rounds.keep_calls_back(&all_denied("Kept back."));
            let whole: Value = serde_json::from_slice(&rounds.last_bytes()).unwrap();
            assert_eq!(whole["choices"][0]["message"], *expected, "{whole}");
            assert_eq!(whole["choices"][0]["finish_reason"], "stop");
        };
        let told = json!({"role": "assistant", "content": "Kept back."});
        let message = json!({"role": "assistant", "content": null, "tool_calls": [{"id": "x"}]});
        let choice = json!({"message": message, "finish_reason": "tool_calls"});
        check(&json!({ "choices": [choice] }).to_string(), &told);
        check("data: no body", &told);
    }

    #[test]
    fn a_response_that_ends_at_a_limit_ends_once() {
        let mut rounds = ResponseRounds::new(ResponseForm::Stream, Dialect::ChatCompletions);
        let mut out = rounds.push((chunk("a", "one") + &ending("a", 5)).as_bytes());
        out.extend(rounds.say_for_model(" two"));
        out.extend(rounds.last_bytes());
        let (text, ids, finished, usage, done) = read(&out);
        assert_eq!(
            (&*text, ids.len(), finished, usage.len(), done),
            ("one two", 1, 1, 1, 1)
        );
    }

    #[test]
    fn several_rounds_are_one_body() {
        let body = |id: &str, text: &str| {
            let choice = json!({"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"});
            let usage = json!({"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7});
            json!({"id": id, "choices": [choice], "usage": usage}).to_string()
        };
        let mut rounds = ResponseRounds::new(ResponseForm::Whole, Dialect::ChatCompletions);
        assert!(rounds.push(body("a", "one").as_bytes()).is_empty());
        rounds.say_for_model(" two");
        rounds.next_round();
        rounds.push(body("b", " three").as_bytes());
        let whole: Value = serde_json::from_slice(&rounds.last_bytes()).unwrap();
        assert_eq!(whole["id"], "a");
        assert_eq!(whole["choices"][0]["message"]["content"], "one two three");
        assert_eq!(whole["usage"]["total_tokens"], 14);
        let mut alone = ResponseRounds::new(ResponseForm::Whole, Dialect::ChatCompletions);
        alone.push(b"{ \"id\": 1 }");
        assert_eq!(alone.last_bytes(), b"{ \"id\": 1 }");
    }
}
