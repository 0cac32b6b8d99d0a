//! Calls of the client's own tools on their way to the client. Each is kept back from its first piece on until it is complete and the
//! engine has judged it; one that is denied never goes on, and a text stands in its place.

use memchr::memmem;
use serde_json::{Map, Value, json};
use tslp_core::message::ToolCall;

use super::dialect::Dialect;
use super::dialect::openai_responses::is_clients_call;
use super::ending::{item_events, message_item, piece_bytes, shares_members, values_in};
use super::lenient::value_of;
use super::reply::ReplyDecoder;
use super::reply_content::SURPLUS;
use crate::http::error::Refusal;

/// Where a call's arguments stand, in an event or in the call itself; in a stream the first three hold pieces of them.
const ARGUMENTS: [&str; 8] = [
    "/delta",
    "/delta/partial_json",
    "/function/arguments",
    "/arguments",
    "/input",
    "/item/arguments",
    "/item/input",
    "/content_block/input",
];

/// The number that stands for all calls of a reply that weren't judged.
pub const ALL_CALLS: usize = usize::MAX;

/// What becomes of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallVerdict {
    /// The client gets it as it came.
    Passes,
    /// The client gets it with these arguments.
    Fitted(String),
    /// The client gets a text in its place.
    Denied(String),
}

/// One event of a stream, with the numbers of the calls that it is about, in their order in it.
#[derive(Debug)]
pub(super) struct StreamEvent {
    pub(super) bytes: Vec<u8>,
    pub(super) calls: Vec<usize>,
    /// Whether it is among the reply's last events.
    pub(super) is_end: bool,
    /// Whether it holds a text that may be calls.
    pub(super) may_be_calls: bool,
}

/// How many of an event's values may hold calls, or more of those that have begun, and can't be read, so that these can't be judged.
pub(super) fn unread_in(reply: &ReplyDecoder, event: &[u8]) -> usize {
    let dialect = reply.dialect();
    let values = values_in(dialect, event);
    let has_begun = !reply.call_numbers().is_empty();
    let may_call = |value: &[u8]| has_begun && value != b"[DONE]" || may_open_call(dialect, value);
    let unread = |value: &[u8]| may_call(value) && value_of(value).is_none();
    values.iter().filter(|it| unread(it)).count()
}

/// The calls of one reply.
#[derive(Debug, Default)]
pub(super) struct CallGate {
    asked: Vec<usize>,
    verdicts: Vec<(usize, CallVerdict)>,
    /// Calls that the client has the beginning of, or the text in their place.
    begun: Vec<usize>,
    /// Calls in whose place, or in that of whose arguments, the client has something else.
    replaced: Vec<usize>,
}

/// Whether a call may begin with this event: a name of the dialect's stands in it, or one that is hidden by escapes. A text holds none,
/// since its quotes are escaped.
pub(super) fn may_open_call(dialect: Dialect, event: &[u8]) -> bool {
    let shows = |mark: &str| memmem::find(event, mark.as_bytes()).is_some();
    let is_named = match dialect {
        Dialect::Messages => shows("\"tool_use\""),
        Dialect::Responses => shows("_call\""),
        Dialect::ChatCompletions => shows("\"tool_calls\"") || shows("\"function_call\""),
        Dialect::OllamaChat => shows("\"tool_calls\""),
        Dialect::Completions | Dialect::OllamaGenerate => return false,
    };
    is_named
        || ["\\u004", "\\u005", "\\u006", "\\u007"]
            .into_iter()
            .any(shows)
}

impl CallGate {
    /// The calls that have become complete since this was asked last; all of them once the reply is over.
    pub(super) fn complete_calls(&mut self, reply: &mut ReplyDecoder) -> Vec<(usize, ToolCall)> {
        let is_over = reply.is_finished();
        let numbers = reply.call_numbers().iter().copied();
        let calls = numbers.zip(reply.tool_calls());
        let fresh = calls.filter(|(number, _)| {
            (is_over || reply.ended_calls().contains(number)) && !self.asked.contains(number)
        });
        let fresh: Vec<_> = fresh.map(|(number, call)| (number, call.clone())).collect();
        for (number, _) in &fresh {
            self.asked.push(*number);
            // What is judged is all that there is of it.
            reply.content.end_call(*number);
        }
        fresh
    }

    /// A call was judged.
    pub(super) fn judge(&mut self, number: usize, verdict: CallVerdict) {
        self.verdicts.push((number, verdict));
    }

    fn verdict(&self, number: usize) -> Option<&CallVerdict> {
        let find = |number| self.verdicts.iter().find(|(judged, _)| *judged == number);
        Some(&find(number).or_else(|| find(ALL_CALLS))?.1)
    }

    /// Whether a call waits to be judged.
    pub(super) fn is_open(&self, number: usize) -> bool {
        number != SURPLUS && self.verdict(number).is_none()
    }

    /// Whether a call may go on; what wasn't judged may not.
    fn passes(&self, number: usize) -> bool {
        matches!(
            self.verdict(number),
            Some(CallVerdict::Passes | CallVerdict::Fitted(_))
        )
    }

    /// Gives a call its arguments where some are: in a stream all of them with the first piece.
    fn refill(&mut self, number: usize, json: &mut Value) {
        let Some(CallVerdict::Fitted(arguments)) = self.verdict(number).cloned() else {
            return;
        };
        for (at, place) in ARGUMENTS.iter().enumerate() {
            match json.pointer_mut(place) {
                Some(Value::String(text)) if !text.is_empty() => {
                    let is_more = at < 3 && self.replaced.contains(&number);
                    *text = if is_more {
                        String::new()
                    } else {
                        arguments.clone()
                    };
                    self.replaced.extend((at < 3).then_some(number));
                }
                Some(whole @ Value::Object(_)) if at > 0 && *whole != json!({}) => {
                    *whole = value_of(arguments.as_bytes()).unwrap_or_default();
                }
                _ => {}
            }
        }
    }

    /// The text in a call's place, the first time.
    fn text_instead(&mut self, number: usize) -> Option<String> {
        let CallVerdict::Denied(text) = self.verdict(number)?.clone() else {
            return None;
        };
        let place = match self.verdicts.iter().any(|(judged, _)| *judged == number) {
            true => number,
            false => ALL_CALLS,
        };
        let is_first = !self.replaced.contains(&place);
        is_first.then(|| {
            self.replaced.push(place);
            text
        })
    }

    /// Whether there were calls, and the client has none of them.
    fn leaves_none(&self, reply: &ReplyDecoder) -> bool {
        let is_denied =
            |(_, verdict): &(usize, CallVerdict)| matches!(verdict, CallVerdict::Denied(_));
        let denied = self.verdicts.iter().any(is_denied);
        (denied || !reply.call_numbers().is_empty()) && self.begun.is_empty()
    }

    /// What the client gets of an event: a text that is said before it, and the event without the calls that it may not have.
    pub(super) fn pass(&mut self, reply: &ReplyDecoder, event: StreamEvent) -> (String, Vec<u8>) {
        let dialect = reply.dialect();
        let (mut said, mut out) = (String::new(), Vec::new());
        let may_change = event.is_end || !event.calls.is_empty();
        let values = values_in(dialect, &event.bytes);
        // Of what isn't found in it nothing goes on.
        let mut is_same = event.calls.is_empty() || !values.is_empty();
        let mut numbers = event.calls.into_iter();
        for data in values.iter().filter(|_| may_change) {
            let is_done = **data == b"[DONE]"[..];
            let read = value_of(data);
            let Some(mut json) = read.clone() else {
                // What can't be read can't be judged.
                match numbers.next().filter(|_| !is_done) {
                    Some(number) => said.extend(self.text_instead(number)),
                    None => out.extend([b"data: ", &**data, b"\n\n"].concat()),
                }
                is_same &= is_done;
                continue;
            };
            if shares_members(dialect) {
                self.take_out(reply, &mut json, &mut numbers, &mut said);
            } else if let Some(number) = numbers.next() {
                if !self.passes(number) {
                    let text = self.text_instead(number);
                    out.extend(text.into_iter().flat_map(|text| {
                        let item = text_in_place(dialect, number, &text);
                        item_events(dialect, number as u64, &item)
                    }));
                    is_same = false;
                    continue;
                }
                self.begin(number);
                self.refill(number, &mut json);
            } else {
                self.end_in_blocks(reply, &mut json);
            }
            is_same &= read.as_ref() == Some(&json);
            let name = json["type"].as_str().unwrap_or_default();
            out.extend(piece_bytes(dialect, name, &json));
        }
        match is_same {
            true => (said, event.bytes),
            false => (said, out),
        }
    }

    /// Notes that the client has something of a call; returns which of those it has that is.
    fn begin(&mut self, number: usize) -> usize {
        let at = self.begun.iter().position(|begun| *begun == number);
        at.unwrap_or_else(|| {
            self.begun.push(number);
            self.begun.len() - 1
        })
    }

    /// What the client gets of a whole body, after its calls were judged; and the text that goes on with the reply's.
    pub(super) fn pass_body(
        &mut self,
        reply: &ReplyDecoder,
        calls: Vec<usize>,
        body: &[u8],
    ) -> (String, Vec<u8>) {
        let mut said = String::new();
        let read = value_of(body);
        let Some(mut json) = read.clone() else {
            // Some client may read what we can't.
            let is_denied = |number: &usize| !self.passes(*number);
            let why = match self.verdict(ALL_CALLS) {
                Some(CallVerdict::Denied(why)) => why.trim_end(),
                _ if reply.call_numbers().iter().any(is_denied) => {
                    "its calls of tools can't be read"
                }
                _ => return (said, body.to_vec()),
            };
            let refusal = Refusal::new(502, "calls_not_judged", why.to_owned());
            return (said, refusal.body(reply.dialect().error_shape()));
        };
        let numbers = reply.call_numbers().to_vec();
        if !shares_members(reply.dialect()) {
            self.begun = numbers.into_iter().filter(|it| self.passes(*it)).collect();
            self.end_in_blocks(reply, &mut json);
        } else {
            self.take_out(reply, &mut json, &mut calls.into_iter(), &mut said);
        }
        match read.as_ref() == Some(&json) {
            true => (said, body.to_vec()),
            false => (said, json.to_string().into_bytes()),
        }
    }

    /// Takes calls out of a piece or a body of a dialect whose calls stand in messages. `numbers` are theirs, in order.
    fn take_out(
        &mut self,
        reply: &ReplyDecoder,
        json: &mut Value,
        numbers: &mut impl Iterator<Item = usize>,
        said: &mut String,
    ) {
        for message in messages_in(json) {
            let mut keeps = |call: &mut Value| {
                let number = numbers.next().unwrap_or(SURPLUS);
                if !self.passes(number) {
                    said.extend(self.text_instead(number));
                    return false;
                }
                let at = self.begin(number);
                // Clients put the pieces of calls together by numbers without gaps.
                if let Some(index) = call.get_mut("index") {
                    *index = at.into();
                }
                self.refill(number, call);
                true
            };
            let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
            if let Some(calls) = calls.filter(|calls| !calls.is_empty()) {
                calls.retain_mut(&mut keeps);
                if calls.is_empty() {
                    message.remove("tool_calls");
                }
            }
            let legacy = message.get_mut("function_call").filter(|it| it.is_object());
            if legacy.is_some_and(|call| !keeps(call)) {
                message.remove("function_call");
            }
        }
        let reason = json.pointer_mut("/choices/0/finish_reason");
        let is_of_calls =
            |reason: &&mut Value| matches!(reason.as_str(), Some("tool_calls" | "function_call"));
        if let Some(reason) = reason
            .filter(is_of_calls)
            .filter(|_| self.leaves_none(reply))
        {
            *reason = "stop".into();
        }
    }

    /// What the last events, or the body, of a dialect with numbered blocks repeat of the calls.
    fn end_in_blocks(&mut self, reply: &ReplyDecoder, json: &mut Value) {
        let dialect = reply.dialect();
        if dialect == Dialect::Messages && self.leaves_none(reply) {
            for place in ["/stop_reason", "/delta/stop_reason"] {
                if let Some(reason) = json.pointer_mut(place).filter(|it| *it == "tool_use") {
                    *reason = "end_turn".into();
                }
            }
        }
        for place in ["/content", "/output", "/response/output"] {
            let items = json.pointer_mut(place).and_then(Value::as_array_mut);
            for (at, item) in items.into_iter().flatten().enumerate() {
                let named = item["id"]
                    .as_str()
                    .and_then(|id| reply.content.item_named(id));
                let number = named.unwrap_or(at);
                let is_known = reply.call_numbers().contains(&number);
                let is_call = item["type"] == "tool_use"
                    || is_clients_call(item["type"].as_str().unwrap_or_default());
                if is_call && is_known {
                    self.refill(number, item);
                }
                if !is_call || is_known && self.passes(number) {
                    continue;
                }
                let text = match self.verdict(number) {
                    Some(CallVerdict::Denied(text)) => text.clone(),
                    _ => String::new(),
                };
                *item = text_in_place(dialect, number, &text);
            }
        }
    }
}

/// The block or the item of a text in the place of a call.
fn text_in_place(dialect: Dialect, number: usize, text: &str) -> Value {
    match dialect {
        Dialect::Messages => json!({"type": "text", "text": text}),
        _ => message_item(&format!("kept_{number}"), text),
    }
}

/// The objects in which calls stand: in a piece of a stream, or in a body.
fn messages_in(json: &mut Value) -> Vec<&mut Map<String, Value>> {
    let mut messages = Vec::new();
    for (name, value) in json.as_object_mut().into_iter().flatten() {
        match (&**name, value) {
            ("message", Value::Object(message)) => messages.push(message),
            ("choices", Value::Array(choices)) => {
                let members = choices
                    .iter_mut()
                    .filter_map(Value::as_object_mut)
                    .flatten();
                let held = members.filter(|(name, _)| matches!(&***name, "delta" | "message"));
                messages.extend(held.filter_map(|(_, value)| value.as_object_mut()));
            }
            _ => {}
        }
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::super::rounds::{ResponseForm, ResponseRounds};
    use super::*;

    /// Pieces of a chat completion's calls: each with the call's number and more of its arguments.
    fn stream(pieces: &[(usize, &str)]) -> Vec<String> {
        let pieces = pieces.iter().map(|(index, arguments)| {
            let function = json!({"name": "bash", "arguments": arguments});
            let call = json!({"index": index, "function": function});
            let choice = json!({"index": 0, "delta": {"tool_calls": [call]}});
            format!("data: {}\n\n", json!({"id": "c", "choices": [choice]}))
        });
        let last = json!({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
        pieces
            .chain([format!("data: {last}\n\n"), "data: [DONE]\n\n".into()])
            .collect()
    }

    /// What a client gets if calls that name `rm` are denied as soon as they are complete, `\n` after each piece that came.
    fn passed(pieces: &[(usize, &str)]) -> Vec<String> {
        let mut rounds = ResponseRounds::new(ResponseForm::Stream, Dialect::ChatCompletions);
        let mut got: Vec<String> = Vec::new();
        let judge = |rounds: &mut ResponseRounds, is_over| {
            let mut got = Vec::new();
            for (number, call) in rounds.complete_calls(is_over) {
                let denied = call.arguments.contains("rm");
                let verdict = match denied {
                    true => CallVerdict::Denied(format!("no {number}")),
                    false => CallVerdict::Passes,
                };
                got.extend(rounds.call_judged(number, verdict));
            }
            got
        };
        for event in stream(pieces) {
            let mut now = rounds.push(event.as_bytes());
            now.extend(judge(&mut rounds, false));
            got.push(String::from_utf8(now).unwrap());
        }
        judge(&mut rounds, true);
        got.push(String::from_utf8(rounds.last_bytes()).unwrap());
        got
    }

    /// Parallel calls go on, each when it is complete.
    #[test]
    fn parallel_calls() {
        let pieces = [
            (0, "{\"a\":\"}"),
            (1, "{\"b\":"),
            (0, "\\\"{\"}"),
            (1, "1}"),
        ];
        let events = stream(&pieces);
        let got = passed(&pieces);
        assert_eq!(got[..2], ["", ""]);
        assert_eq!(got[2], [&*events[0], &events[2]].concat());
        assert_eq!(got[3], [&*events[1], &events[3]].concat());
        assert_eq!(got[4..].concat(), events[4..].concat());
    }

    /// A denied call leaves no gap, and nothing of it passes.
    #[test]
    fn denied_call() {
        let pieces = [(0, "{\"a\":\"rm\"}"), (1, "{}"), (1, "x"), (2, "{\"a\":")];
        let got = passed(&pieces);
        assert!(
            got[0].contains("no 0") && !got[0].contains("rm"),
            "{}",
            got[0]
        );
        // Clients put calls together by numbers without gaps.
        assert!(
            got[1].contains("\"index\":0,") || got[1].contains("\"index\":0}"),
            "{}",
            got[1]
        );
        let all = got.concat();
        assert!(
            !all.contains("\"x\""),
            "what follows a call's end isn't judged: {all}"
        );
        assert!(
            !all.contains("\"index\":2")
                && all.contains("\"tool_calls\"")
                && all.ends_with("[DONE]\n\n"),
            "{all}"
        );
        let all = passed(&pieces[..1]).concat();
        assert!(
            all.contains("\"finish_reason\":\"stop\"") && !all.contains("tool_calls"),
            "{all}"
        );
    }

    #[test]
    fn unreadable_call() {
        let events = stream(&[(0, "{}")]);
        let broken = events[0].replace("}]}}]}", "}]}}");
        let mut rounds = ResponseRounds::new(ResponseForm::Stream, Dialect::ChatCompletions);
        let mut got = rounds.push(broken.as_bytes());
        got.extend(rounds.push(events[1..].concat().as_bytes()));
        assert!(rounds.may_hold_calls());
        got.extend(rounds.call_judged(ALL_CALLS, CallVerdict::Denied("no".into())));
        got.extend(rounds.last_bytes());
        let got = String::from_utf8(got).unwrap();
        assert!(
            got.contains("\"no\"") && !got.contains("tool_calls\":") && got.ends_with("[DONE]\n\n"),
            "{got}"
        );
    }
}
