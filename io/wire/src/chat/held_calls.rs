//! Calls of the client's own tools on their way to the client. Each is kept back until it is complete and the engine has said what
//! becomes of it; one that is denied never goes on, and a text stands in its place.

use memchr::memmem;
use serde_json::{Map, Value, json};
use tslp_core::message::ToolCall;

use super::dialect::Dialect;
use super::dialect::openai_responses::is_clients_call;
use super::encode::{
    HeldEvent, call_value, item_events, message_item, replace_call, shares_members,
};
use super::frames::BodyForm;
use super::json_text::canonical_json;
use super::lenient::Fields as _;
use super::reply_content::{ReadCall, ReplyContent, SURPLUS};
use super::wire_message::input_arguments;

/// Said in the place of what a client may read as calls, and tslp can't read.
const UNREAD: &str = "The Guardian kept the reply's calls of tools back: they can't be read.\n";

/// Where a reply's events and bodies list blocks and items.
const CALL_LISTS: [&str; 4] = [
    "/content",
    "/message/content",
    "/output",
    "/response/output",
];

/// How the calls of the client's own tools reach it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallRule {
    /// Piece by piece as they come; the one that completes a call waits until the engine has looked at the file that it names.
    #[default]
    AsTheyCome,
    /// Each once it is complete, as the engine says.
    Complete,
    /// The same, and what isn't read as a call, or wasn't judged, never reaches a client that may read it as one.
    Judged,
}

/// What becomes of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallVerdict {
    /// The client gets it as it came.
    Passes,
    /// The client gets this one in its place.
    Replaced(ToolCall),
    /// The client gets a text in its place.
    Denied(String),
}

/// The calls of one reply.
#[derive(Debug, Default)]
pub(super) struct CallGate {
    pub(super) rule: CallRule,
    verdicts: Vec<(usize, CallVerdict)>,
    /// The calls that the client has the beginning of, in this order, and whether it has what came.
    passed: Vec<(usize, bool)>,
    /// Calls in whose place the client has a text; [`SURPLUS`] for what nobody could judge.
    replaced: Vec<usize>,
    /// Whether a whole body can't be judged.
    pub(super) is_refused: bool,
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

impl HeldEvent {
    /// Whether it lists blocks or items.
    fn has_list(&self) -> bool {
        let json = self.json.as_ref();
        let lists = |place: &&str| {
            let list = json.and_then(|json| json.pointer(place)?.as_array());
            list.is_some_and(|it| !it.is_empty())
        };
        CALL_LISTS.iter().any(lists)
    }
}

impl CallGate {
    pub(super) fn of_rule(rule: CallRule) -> Self {
        Self {
            rule,
            ..Self::default()
        }
    }

    /// A call was judged.
    pub(super) fn judge(&mut self, number: usize, verdict: CallVerdict) {
        self.verdicts.push((number, verdict));
    }

    fn verdict(&self, number: usize) -> Option<&CallVerdict> {
        let mut verdicts = self.verdicts.iter();
        Some(&verdicts.find(|(judged, _)| *judged == number)?.1)
    }

    /// Whether an event waits for a call to be judged.
    pub(super) fn holds(&self, event: &HeldEvent) -> bool {
        let waits = match self.rule {
            CallRule::AsTheyCome => &event.completes,
            CallRule::Complete | CallRule::Judged => &event.calls,
        };
        let is_open = |number: &usize| *number != SURPLUS && self.verdict(*number).is_none();
        waits.iter().any(is_open)
    }

    /// Whether a call goes on; if calls are judged, one that wasn't doesn't.
    fn passes(&self, number: usize) -> bool {
        match self.verdict(number) {
            Some(verdict) => !matches!(verdict, CallVerdict::Denied(_)),
            None => self.rule != CallRule::Judged,
        }
    }

    /// The text in a call's place, the first time; the same for all that nobody could judge.
    fn text_instead(&mut self, number: usize) -> Option<String> {
        let (place, text) = match self.verdict(number) {
            Some(CallVerdict::Denied(text)) => (number, text.clone()),
            _ => (SURPLUS, UNREAD.to_owned()),
        };
        let is_first = !self.replaced.contains(&place);
        is_first.then(|| {
            self.replaced.push(place);
            text
        })
    }

    /// Whether there were calls, and the client has none of them.
    fn leaves_none(&self, reply: &ReplyContent) -> bool {
        let had_calls = !self.replaced.is_empty() || !reply.calls.is_empty();
        had_calls && self.passed.is_empty()
    }

    /// What the client gets of an event: a text that is said before it, and the event without the calls that it may not have.
    pub(super) fn pass(
        &mut self,
        reply: &ReplyContent,
        (dialect, form): (Dialect, BodyForm),
        mut event: HeldEvent,
    ) -> (String, HeldEvent) {
        let mut said = String::new();
        if event.json.is_none() {
            let may_call = || !reply.calls.is_empty() || may_open_call(dialect, &event.bytes);
            let is_kept = self.rule == CallRule::Judged
                && (event.is_unread && (form == BodyForm::Whole || may_call())
                    || !event.is_end && may_open_call(dialect, &event.bytes));
            if is_kept {
                self.is_refused |= form == BodyForm::Whole;
                said.extend(self.text_instead(SURPLUS));
                event.bytes = Vec::new();
            }
        } else if self.rule == CallRule::AsTheyCome
            || event.calls.is_empty() && !event.is_end && !event.has_list()
        {
        } else if shares_members(dialect) {
            let numbers = std::mem::take(&mut event.calls);
            event.change(form, |json| {
                self.take_out(reply, (dialect, form), json, numbers.into_iter(), &mut said);
            });
        } else if form == BodyForm::Whole || event.calls.is_empty() || event.has_list() {
            if form == BodyForm::Whole {
                let calls = reply.calls.iter().map(|it| (it.number, true));
                self.passed = calls.filter(|it| self.passes(it.0)).collect();
            }
            event.change(form, |json| self.end_in_blocks(reply, dialect, json));
        } else {
            self.pass_of_block(reply, dialect, &mut event);
        }
        (said, event)
    }

    /// A call in the place of one that can't go on as it came: another was made of it, or clients may read another where calls are
    /// judged.
    fn call_instead(&self, reply: &ReplyContent, number: usize) -> Option<ToolCall> {
        let read = reply.call(number)?;
        match self.verdict(number) {
            Some(CallVerdict::Replaced(call)) => Some(call.clone()),
            _ if read.is_odd && self.rule == CallRule::Judged => Some(read.call.clone()),
            _ => None,
        }
    }

    /// Notes that the client has something of a call; returns which of those it has that is, and whether it has, and gets, what came.
    fn begin(&mut self, number: usize, as_it_came: bool) -> (usize, bool, bool) {
        let known = self.passed.iter().position(|(passed, _)| *passed == number);
        let at = known.unwrap_or_else(|| {
            self.passed.push((number, as_it_came));
            self.passed.len() - 1
        });
        (at, self.passed[at].1, known.is_none())
    }

    /// What goes on of an event about one call, in a dialect with numbered blocks.
    fn pass_of_block(&mut self, reply: &ReplyContent, dialect: Dialect, event: &mut HeldEvent) {
        let (number, json) = (event.calls[0], event.json.take().unwrap_or_default());
        let place = ["index", "output_index"]
            .into_iter()
            .find_map(|name| json.number(name));
        let place = place.unwrap_or(number as u64);
        if !self.passes(number) {
            let text = self.text_instead(number);
            let item = text.map(|text| text_in_place(dialect, number, &text));
            event.bytes = item.map_or_else(Vec::new, |item| item_events(dialect, place, &item));
            return;
        }
        let instead = self.call_instead(reply, number);
        let (_, as_it_came, is_first) = self.begin(number, instead.is_none());
        let Some(call) = instead.filter(|_| !as_it_came) else {
            return;
        };
        let item = [&json["item"], &json["content_block"]]
            .into_iter()
            .find(|it| it.is_object());
        let mut item = match (item, reply.call(number)) {
            (Some(item), _) => item.clone(),
            (None, Some(read)) => call_value(dialect, &read.id, &read.call),
            (None, None) => return,
        };
        replace_call(&mut item, dialect, &call);
        event.bytes = match is_first {
            true => item_events(dialect, place, &item),
            false => Vec::new(),
        };
    }

    /// Takes calls out of a piece or a body of a dialect whose calls stand in messages. `numbers` are theirs, in order. A call whose
    /// pieces clients put together in several ways, or that differs from what came, goes as a whole with its first piece.
    fn take_out(
        &mut self,
        reply: &ReplyContent,
        (dialect, form): (Dialect, BodyForm),
        json: &mut Value,
        mut numbers: impl Iterator<Item = usize>,
        said: &mut String,
    ) {
        for message in messages_in(dialect, json) {
            let mut keeps = |call: &mut Value| {
                let number = numbers.next().unwrap_or(SURPLUS);
                if !self.passes(number) {
                    said.extend(self.text_instead(number));
                    return false;
                }
                let Some(read) = reply.call(number) else {
                    return true;
                };
                let instead = self.call_instead(reply, number);
                let is_moved = self.rule == CallRule::Judged
                    && form == BodyForm::Events
                    && read.number != self.passed.len();
                let is_usual = instead.is_none() && !is_moved;
                let (at, as_it_came, is_first) = self.begin(number, is_usual);
                if as_it_came {
                    return true;
                }
                let whole = instead.unwrap_or_else(|| read.call.clone());
                let is_named_twice = reply
                    .calls
                    .iter()
                    .any(|it| it.number < number && it.id == read.id);
                let id = match is_named_twice {
                    true => format!("{}_{number}", read.id),
                    false => read.id.clone(),
                };
                // What else stands in it is the client's.
                let members = call.as_object_mut().into_iter();
                members
                    .for_each(|it| it.retain(|name, _| !matches!(&**name, "function" | "custom")));
                let judged = call_value(dialect, &id, &whole);
                for (name, value) in judged.as_object().into_iter().flatten() {
                    call[name] = value.clone();
                }
                if form == BodyForm::Events {
                    call["index"] = at.into();
                }
                if id.is_empty()
                    && let Some(call) = call.as_object_mut()
                {
                    call.remove("id");
                }
                is_first
            };
            let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
            if let Some(calls) = calls.filter(|calls| !calls.is_empty()) {
                calls.retain_mut(&mut keeps);
                if calls.is_empty() {
                    message.remove("tool_calls");
                }
            }
            if message.get("function_call").is_some_and(Value::is_object) {
                let number = numbers.next().unwrap_or(SURPLUS);
                match self.passes(number) {
                    true => _ = self.begin(number, true),
                    false => {
                        said.extend(self.text_instead(number));
                        message.remove("function_call");
                    }
                }
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
    fn end_in_blocks(&self, reply: &ReplyContent, dialect: Dialect, json: &mut Value) {
        if dialect == Dialect::Messages && self.leaves_none(reply) {
            for place in ["/stop_reason", "/delta/stop_reason"] {
                if let Some(reason) = json.pointer_mut(place).filter(|it| *it == "tool_use") {
                    *reason = "end_turn".into();
                }
            }
        }
        for place in CALL_LISTS {
            let items = json.pointer_mut(place).and_then(Value::as_array_mut);
            for (at, item) in items.into_iter().flatten().enumerate() {
                if item["type"] != "tool_use" && !is_clients_call(item.text("type")) {
                    continue;
                }
                let number = reply.item_named(item.text("id")).unwrap_or(at);
                let read = reply.call(number);
                match self.verdict(number) {
                    Some(CallVerdict::Replaced(call)) => replace_call(item, dialect, call),
                    Some(CallVerdict::Denied(text)) => *item = text_in_place(dialect, number, text),
                    _ if self.rule != CallRule::Judged => {}
                    Some(CallVerdict::Passes) if read.is_some_and(|it| is_same(it, item)) => {}
                    _ => *item = text_in_place(dialect, number, UNREAD),
                }
            }
        }
    }
}

/// Whether an item repeats a call as it was read.
fn is_same(read: &ReadCall, item: &Value) -> bool {
    let places = ["arguments", "input", "action", "operation"];
    let arguments = places.map(|name| item.arguments(name)).concat();
    let known = canonical_json(&read.call.arguments);
    let is_same = [arguments.clone(), input_arguments(&arguments)]
        .iter()
        .any(|it| canonical_json(it) == known);
    is_same && (item.text("name").is_empty() || item.text("name") == read.call.name)
}

/// The block or the item of a text in the place of a call.
fn text_in_place(dialect: Dialect, number: usize, text: &str) -> Value {
    match dialect {
        Dialect::Messages => json!({"type": "text", "text": text}),
        _ => message_item(&format!("kept_{number}"), text),
    }
}

/// The objects in which calls stand, in the order in which they are read: in a piece of a stream, or in a body.
fn messages_in(dialect: Dialect, json: &mut Value) -> Vec<&mut Map<String, Value>> {
    let mut messages = Vec::new();
    if dialect == Dialect::OllamaChat {
        messages.extend(json.get_mut("message").and_then(Value::as_object_mut));
        return messages;
    }
    let choices = json.get_mut("choices").and_then(Value::as_array_mut);
    for choice in choices
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut)
    {
        let (mut delta, mut message) = (None, None);
        for (name, value) in choice {
            match &**name {
                "delta" => delta = value.as_object_mut(),
                "message" => message = value.as_object_mut(),
                _ => {}
            }
        }
        messages.extend(delta.into_iter().chain(message));
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::super::reply_pipe::{PipeRules, ReplyPipe};
    use super::*;

    fn pipe() -> ReplyPipe {
        let rules = PipeRules {
            calls: CallRule::Judged,
            ..PipeRules::default()
        };
        ReplyPipe::new(Dialect::ChatCompletions, rules)
    }

    /// Pieces of a chat completion's calls: each with the call's number and more of its arguments.
    fn stream(pieces: &[(usize, &str)]) -> Vec<String> {
        let mut begun = Vec::new();
        let pieces = pieces.iter().map(|(index, arguments)| {
            let mut call = json!({"index": index, "function": {"arguments": arguments}});
            if !begun.contains(index) {
                begun.push(*index);
                call["id"] = format!("id_{index}").into();
                call["function"]["name"] = "bash".into();
            }
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
        let mut pipe = pipe();
        let mut got: Vec<String> = Vec::new();
        let judge = |pipe: &mut ReplyPipe| {
            let mut got = Vec::new();
            for (number, call) in pipe.take_read().calls {
                let denied = call.arguments.contains("rm");
                let verdict = match denied {
                    true => CallVerdict::Denied(format!("no {number}")),
                    false => CallVerdict::Passes,
                };
                got.extend(pipe.call_judged(number, verdict));
            }
            got
        };
        for event in stream(pieces) {
            let mut now = pipe.push(event.as_bytes());
            now.extend(judge(&mut pipe));
            got.push(String::from_utf8(now).unwrap());
        }
        pipe.end();
        judge(&mut pipe);
        got.push(String::from_utf8(pipe.last_bytes()).unwrap());
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
        let mut pipe = pipe();
        let mut got = pipe.push(broken.as_bytes());
        got.extend(pipe.push(events[1..].concat().as_bytes()));
        assert!(pipe.may_hold_calls());
        got.extend(pipe.end());
        got.extend(pipe.last_bytes());
        let got = String::from_utf8(got).unwrap();
        assert!(
            got.contains("can't be read")
                && !got.contains("tool_calls\":")
                && got.ends_with("[DONE]\n\n"),
            "{got}"
        );
    }
}
