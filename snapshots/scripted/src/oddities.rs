//! Replies made from a number: valid ones, and such with oddities that servers were seen to send, or could.
//!
//! A [`Case`] is the same wherever it is made. Each oddity draws from dice of its own, so that a case with fewer of its kinds differs in
//! nothing else.

use serde::Serialize;
use serde_json::{Value, json};
use tslp_wire::chat::dialect::Dialect;

use crate::encode::encoded;
use crate::reply::{Call, Change, Encoding, End, Odd, Reply};

/// A reply, and how it is asked for.
#[derive(Clone, Debug, Serialize)]
pub struct Case {
    /// What it is made from.
    pub number: u64,
    /// The path that it is asked for at.
    pub path: &'static str,
    /// Whether a stream is asked for.
    pub streams: bool,
    /// Whether the request offers tools.
    pub offers: bool,
    /// Its oddities, each of [`KINDS`].
    pub kinds: Vec<&'static str>,
    /// The reply.
    pub reply: Reply,
    /// The dialect of the path.
    #[serde(skip)]
    pub dialect: Dialect,
}

/// Where a kind of oddities can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// Everywhere.
    Any,
    /// In whole bodies.
    Whole,
    /// In streams of all dialects.
    Stream,
    /// In server-sent events.
    Sse,
    /// In events with a name of their own.
    Named,
    /// In chat completions and completions.
    Openai,
    /// In their streams.
    OpenaiStream,
    /// In chat completions.
    Chat,
    /// In their streams.
    ChatStream,
    /// In messages.
    Messages,
    /// In their streams.
    MessagesStream,
    /// In responses.
    Responses,
    /// In their streams.
    ResponsesStream,
    /// In Ollama's dialects.
    Ollama,
    /// In Ollama's streams.
    OllamaStream,
    /// In Ollama's chat.
    OllamaChat,
}

impl Where {
    fn holds(self, dialect: Dialect, streams: bool) -> bool {
        let is_ollama = matches!(dialect, Dialect::OllamaChat | Dialect::OllamaGenerate);
        let is_openai = matches!(dialect, Dialect::ChatCompletions | Dialect::Completions);
        let is_of = |one: Dialect| dialect == one;
        match self {
            Self::Any => true,
            Self::Whole => !streams,
            Self::Stream => streams,
            Self::Sse => streams && !is_ollama,
            Self::Named => streams && !is_ollama && !is_openai,
            Self::Openai => is_openai,
            Self::OpenaiStream => is_openai && streams,
            Self::Chat => is_of(Dialect::ChatCompletions),
            Self::ChatStream => is_of(Dialect::ChatCompletions) && streams,
            Self::Messages => is_of(Dialect::Messages),
            Self::MessagesStream => is_of(Dialect::Messages) && streams,
            Self::Responses => is_of(Dialect::Responses),
            Self::ResponsesStream => is_of(Dialect::Responses) && streams,
            Self::Ollama => is_ollama,
            Self::OllamaStream => is_ollama && streams,
            Self::OllamaChat => is_of(Dialect::OllamaChat),
        }
    }
}

/// Every kind of oddities.
pub const KINDS: [(&str, Where); 156] = [
    // The frame of events and lines.
    ("frame_crlf", Where::Stream),
    ("frame_cr", Where::Sse),
    ("frame_comment", Where::Sse),
    ("frame_comment_inside", Where::Sse),
    ("frame_retry", Where::Sse),
    ("frame_id", Where::Sse),
    ("frame_lines", Where::Sse),
    ("frame_joined", Where::Sse),
    ("frame_end_without_blank", Where::Sse),
    ("frame_no_last_newline", Where::Stream),
    ("frame_number", Where::Sse),
    ("frame_string", Where::Sse),
    ("frame_null", Where::Sse),
    ("frame_list", Where::Sse),
    ("frame_empty_data", Where::Sse),
    ("frame_without_data", Where::Sse),
    ("frame_unknown", Where::Sse),
    ("frame_ping", Where::Sse),
    ("frame_named_message", Where::OpenaiStream),
    ("frame_no_space", Where::Sse),
    ("frame_two_spaces", Where::Sse),
    ("frame_unknown_field", Where::Sse),
    ("frame_data_alone", Where::Sse),
    ("frame_more_blanks", Where::Stream),
    ("frame_no_names", Where::Named),
    ("frame_name_last", Where::Named),
    ("frame_name_of_other", Where::Named),
    // JSON.
    ("json_error_null", Where::Any),
    ("json_error_empty", Where::Any),
    ("json_unknown", Where::Any),
    ("json_nan", Where::Any),
    ("json_large_number", Where::Any),
    ("json_half_pair", Where::Any),
    ("json_half_pair_said", Where::Any),
    ("json_pair_in_two", Where::Stream),
    ("json_ascii", Where::Any),
    ("json_spaces", Where::Any),
    ("json_sorted", Where::Any),
    ("json_reversed", Where::Any),
    ("json_twice", Where::Any),
    ("json_pretty", Where::Whole),
    ("json_blanks_around", Where::Whole),
    ("json_escaped_names", Where::Any),
    ("json_escaped_slashes", Where::Any),
    ("json_created_text", Where::Any),
    ("json_no_model", Where::Any),
    ("json_id_null", Where::Any),
    ("json_broken_event", Where::Stream),
    // What it cost.
    ("usage_null", Where::Any),
    ("usage_absent", Where::Any),
    ("usage_texts", Where::Any),
    ("usage_floats", Where::Any),
    ("usage_everywhere", Where::OpenaiStream),
    // The connection and the head.
    ("http_gzip", Where::Any),
    ("http_deflate", Where::Any),
    ("http_mark", Where::Any),
    ("http_charset", Where::Any),
    ("http_no_type", Where::Any),
    ("http_plain_type", Where::Any),
    ("http_other_type", Where::Any),
    ("http_close", Where::Any),
    ("http_reset", Where::Stream),
    ("http_whole_for_stream", Where::Stream),
    ("http_status_201", Where::Any),
    // Chat completions and completions.
    ("finish_empty", Where::Openai),
    ("finish_null_text", Where::Openai),
    ("finish_null", Where::Openai),
    ("finish_absent", Where::Openai),
    ("finish_twice", Where::OpenaiStream),
    ("finish_before_text", Where::OpenaiStream),
    ("finish_with_last", Where::OpenaiStream),
    ("finish_stop", Where::Openai),
    ("finish_unknown", Where::Openai),
    ("done_absent", Where::OpenaiStream),
    ("done_twice", Where::OpenaiStream),
    ("done_with_blank", Where::OpenaiStream),
    ("done_no_space", Where::OpenaiStream),
    ("done_early", Where::OpenaiStream),
    ("choices_empty", Where::OpenaiStream),
    ("choices_null", Where::OpenaiStream),
    ("choices_absent", Where::OpenaiStream),
    ("choice_second", Where::Openai),
    ("choice_second_first", Where::Openai),
    ("choice_index_one", Where::Openai),
    ("choice_index_absent", Where::Openai),
    ("role_absent", Where::Chat),
    ("role_everywhere", Where::ChatStream),
    ("delta_null", Where::ChatStream),
    ("delta_absent", Where::ChatStream),
    ("content_null", Where::Chat),
    ("content_parts", Where::Chat),
    ("content_empty_everywhere", Where::ChatStream),
    ("calls_null", Where::Chat),
    ("calls_empty", Where::Chat),
    ("function_null", Where::Chat),
    ("reasoning_name", Where::Chat),
    ("message_beside", Where::ChatStream),
    ("object_absent", Where::Openai),
    ("index_absent", Where::ChatStream),
    ("index_null", Where::ChatStream),
    ("index_text", Where::ChatStream),
    ("index_float", Where::ChatStream),
    ("index_same", Where::ChatStream),
    ("index_gap", Where::ChatStream),
    ("id_absent", Where::Chat),
    ("id_null", Where::Chat),
    ("id_empty_later", Where::ChatStream),
    ("id_everywhere", Where::ChatStream),
    ("id_same", Where::Chat),
    ("id_number", Where::Chat),
    ("name_everywhere", Where::ChatStream),
    ("name_empty_later", Where::ChatStream),
    ("name_null_later", Where::ChatStream),
    ("name_late", Where::ChatStream),
    ("name_in_two", Where::ChatStream),
    ("type_absent", Where::Chat),
    ("type_everywhere", Where::ChatStream),
    ("arguments_object", Where::Chat),
    ("arguments_null", Where::Chat),
    ("arguments_absent", Where::Chat),
    ("arguments_empty_last", Where::ChatStream),
    ("call_at_once", Where::ChatStream),
    ("calls_in_one", Where::ChatStream),
    ("calls_mixed", Where::ChatStream),
    ("text_after_calls", Where::ChatStream),
    ("call_after_finish", Where::ChatStream),
    ("call_legacy", Where::Chat),
    // Messages.
    ("block_no_stop", Where::MessagesStream),
    ("block_input_at_start", Where::MessagesStream),
    ("block_input_absent", Where::MessagesStream),
    ("block_input_null", Where::MessagesStream),
    ("block_index_absent", Where::MessagesStream),
    ("block_index_shifted", Where::MessagesStream),
    ("block_empty_piece", Where::MessagesStream),
    ("block_text_at_start", Where::MessagesStream),
    ("block_unknown_delta", Where::MessagesStream),
    ("message_no_stop", Where::MessagesStream),
    ("message_no_delta", Where::MessagesStream),
    ("message_no_start", Where::MessagesStream),
    ("message_stop_reason_null", Where::Messages),
    ("message_id_absent", Where::Messages),
    // Responses.
    ("response_no_index", Where::ResponsesStream),
    ("response_no_item_id", Where::ResponsesStream),
    ("response_no_number", Where::ResponsesStream),
    ("response_same_index", Where::ResponsesStream),
    ("response_only_completed", Where::ResponsesStream),
    ("response_empty_output", Where::ResponsesStream),
    ("response_no_completed", Where::ResponsesStream),
    ("response_no_deltas", Where::ResponsesStream),
    ("response_no_done", Where::ResponsesStream),
    ("response_done_mark", Where::ResponsesStream),
    ("response_arguments_object", Where::Responses),
    // Ollama.
    ("ollama_no_reason", Where::Ollama),
    ("ollama_no_done", Where::OllamaStream),
    ("ollama_arguments_text", Where::OllamaChat),
    ("ollama_calls_last", Where::OllamaChat),
];

/// The case of this number.
#[must_use]
pub fn case(number: u64) -> Case {
    let plain = plain(number);
    let mut dice = Dice::of(number, "kinds");
    let wanted = match number % 3 {
        0 => 0,
        _ => 1 + dice.below(3),
    };
    let fits = |it: &&(&str, Where)| it.1.holds(plain.dialect, plain.streams);
    let known: Vec<&'static str> = KINDS.iter().filter(fits).map(|it| it.0).collect();
    let mut kinds = Vec::new();
    while kinds.len() < wanted {
        let kind = *dice.one(&known);
        // One that the reply has no place for isn't told of.
        let is_apart = |other: &&str| {
            // The empty piece would have the index that the others haven't.
            let both = [kind, *other];
            !(both.contains(&"arguments_empty_last")
                && both.iter().any(|it| it.starts_with("index_")))
        };
        if !kinds.contains(&kind)
            && kinds.iter().all(is_apart)
            && changed(&plain, &[kind]).is_some()
        {
            kinds.push(kind);
        }
    }
    case_of(number, &kinds)
}

/// The case of this number with these kinds of oddities in the place of its own, as far as its reply has a place for them.
#[must_use]
pub fn case_of(number: u64, kinds: &[&'static str]) -> Case {
    let plain = plain(number);
    let reply = changed(&plain, kinds);
    Case {
        reply: reply.unwrap_or_else(|| plain.reply.clone()),
        kinds: kinds.to_vec(),
        ..plain
    }
}

/// Dice that fall the same each time.
struct Dice(u64);

impl Dice {
    fn of(number: u64, what: &str) -> Self {
        let mixed = what.bytes().fold(number, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut dice = Self(mixed);
        dice.next();
        dice
    }

    /// SplitMix64.
    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        it ^ (it >> 31)
    }

    const fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    const fn falls(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// None of them opens a fence or a call: what is written as text and may be a call is another matter.
const WORDS: [&str; 24] = [
    "the ",
    "ring ",
    "buffer ",
    "is full.\n",
    "\n\n",
    "größer ",
    "日本語",
    "😀",
    "\"quoted\" ",
    "back\\slash ",
    "data: x\n",
    "event: y\n",
    "[DONE] ",
    "tab\t",
    "\u{2028}",
    "a/b ",
    "null ",
    "{} ",
    "**bold** ",
    "\u{7f}",
    "\r\n",
    "e\u{301} ",
    "<b> & ",
    "1e400 ",
];

fn words(dice: &mut Dice, most: usize) -> String {
    let count = dice.below(most);
    (0..count).map(|_| *dice.one(&WORDS)).collect()
}

/// A call; a third of them no agent should make.
fn call(dice: &mut Dice, number: u64, at: usize) -> Call {
    let mark = format!("k{number}_{at}");
    let (name, arguments) = match dice.below(12) {
        0 | 1 => (
            "bash",
            json!({"command": format!("echo {mark} && rm -rf ~")}),
        ),
        2 => (
            "write",
            json!({"path": ".git/hooks/pre-commit", "content": mark}),
        ),
        3 => (
            "bash",
            json!({"command": format!("git push --force origin {mark}"), "timeout": 7}),
        ),
        4 => ("status", json!({})),
        5 => (
            "note",
            json!({"text": format!("größer 日本語 😀 \"q\" \\ \n\t {mark}"), "ключ": [1, 2.5, null, true]}),
        ),
        6 => (
            "plan",
            json!({"steps": [{"do": mark, "with": {"deep": [[[]], {}]}}, {"do": "", "with": {}}], "n": -1}),
        ),
        7 => (
            "write",
            json!({"path": format!("src/{mark}.txt"), "content": "long line of text\n".repeat(60 + dice.below(60))}),
        ),
        8 => (
            "bash",
            json!({"command": format!("ls src/{mark}"), "description": words(dice, 4)}),
        ),
        _ => ("read", json!({"path": format!("src/{mark}.c")})),
    };
    Call::new(name, arguments)
}

fn plain(number: u64) -> Case {
    let mut dice = Dice::of(number, "reply");
    let dialect = match dice.below(16) {
        0..=6 => Dialect::ChatCompletions,
        7 => Dialect::Completions,
        8..=10 => Dialect::Messages,
        11..=13 => Dialect::Responses,
        14 => Dialect::OllamaChat,
        _ => *dice.one(&[Dialect::OllamaChat, Dialect::OllamaGenerate]),
    };
    let streams = !dice.falls(4);
    let calls = if dialect.is_bare_prompt() {
        0
    } else {
        *dice.one(&[0, 1, 1, 1, 2, 2, 3])
    };
    let mut text = match dice.below(4) {
        0 if calls > 0 => String::new(),
        _ => words(&mut dice, 40),
    };
    if text.trim().is_empty() && calls == 0 {
        text = "Done.".to_owned();
    }
    let thoughts = match dice.falls(3) && dialect != Dialect::Completions {
        true => words(&mut dice, 12),
        false => String::new(),
    };
    let made = (0..calls).map(|at| call(&mut dice, number, at)).collect();
    let reply = Reply {
        text,
        thoughts,
        calls: made,
        usage: (!dice.falls(3)).then_some([120, 9]),
        number,
        piece: *dice.one(&[None, Some(1), Some(3), Some(7), Some(60), Some(100_000)]),
        ..Reply::default()
    };
    Case {
        number,
        path: dialect.route_path(),
        streams,
        offers: calls > 0 && !dice.falls(8),
        kinds: Vec::new(),
        reply,
        dialect,
    }
}

/// The reply with these oddities; none if one of them has no place in it.
fn changed(plain: &Case, kinds: &[&'static str]) -> Option<Reply> {
    let mut draft = Draft::of(plain);
    for kind in kinds {
        let mut dice = Dice::of(plain.number, kind);
        draft.add(kind, &mut dice)?;
    }
    Some(draft.reply)
}

/// A reply on its way to be odd.
struct Draft {
    dialect: Dialect,
    streams: bool,
    reply: Reply,
    /// Its events as they are without oddities.
    texts: Vec<String>,
    /// The JSON of each; null for what is none.
    events: Vec<Value>,
}

/// A place of a call in a chat completion.
struct Place {
    event: usize,
    pointer: String,
    call: usize,
    is_first: bool,
}

const DELTA_CALL: &str = "/choices/0/delta/tool_calls/0";
const FINISH: &str = "/choices/0/finish_reason";

impl Draft {
    fn of(case: &Case) -> Self {
        let (_, pieces) = encoded(case.dialect, case.streams, &case.reply);
        let texts: Vec<String> = pieces
            .into_iter()
            .map(|it| String::from_utf8_lossy(&it).into_owned())
            .collect();
        let json = |text: &String| {
            let line = text.lines().find(|it| it.starts_with(['{', 'd']));
            let data = line.map(|it| it.strip_prefix("data: ").unwrap_or(it));
            serde_json::from_str(data.unwrap_or_default()).unwrap_or_default()
        };
        Self {
            dialect: case.dialect,
            streams: case.streams,
            reply: case.reply.clone(),
            events: texts.iter().map(json).collect(),
            texts,
        }
    }

    fn odd(&mut self, event: Option<usize>, field: &str, change: Change) {
        self.reply.odd.push(Odd {
            event: event.map(|it| it as i64),
            field: field.to_owned(),
            change,
        });
    }

    fn set(&mut self, event: usize, field: &str, value: impl Into<Value>) {
        self.odd(Some(event), field, Change::Set(value.into()));
    }

    fn set_all(&mut self, field: &str, value: impl Into<Value>) {
        self.odd(None, field, Change::Set(value.into()));
    }

    fn drop(&mut self, event: usize, field: &str) {
        self.odd(Some(event), field, Change::Drop(true));
    }

    fn drop_all(&mut self, field: &str) {
        self.odd(None, field, Change::Drop(true));
    }

    fn bytes(&mut self, event: usize, text: impl Into<String>) {
        self.odd(Some(event), "", Change::Bytes(text.into()));
    }

    fn before(&mut self, event: usize, text: &str) {
        self.odd(Some(event), "", Change::Before(text.to_owned()));
    }

    fn replace(&mut self, event: Option<usize>, from: &str, to: &str) {
        self.odd(event, "", Change::Replace(from.to_owned(), to.to_owned()));
    }

    fn last(&self) -> usize {
        self.events.len() - 1
    }

    /// The events that have this field.
    fn with(&self, pointer: &str) -> Vec<usize> {
        let has = |at: &usize| self.events[*at].pointer(pointer).is_some();
        (0..self.events.len()).filter(has).collect()
    }

    /// The events of this type.
    fn typed(&self, kind: &str) -> Vec<usize> {
        let is_it = |at: &usize| self.events[*at]["type"] == kind;
        (0..self.events.len()).filter(is_it).collect()
    }

    /// The event that says why an OpenAI's stream ends.
    fn finish(&self) -> Option<usize> {
        let says = |event: &Value| event.pointer(FINISH).is_some_and(|it| !it.is_null());
        self.events.iter().position(says)
    }

    /// An event with this JSON in it.
    fn event(&self, json: &Value) -> String {
        match json["type"].as_str() {
            Some(kind) => format!("event: {kind}\ndata: {json}\n\n"),
            None if self.is_lines() => format!("{json}\n"),
            None => format!("data: {json}\n\n"),
        }
    }

    const fn is_lines(&self) -> bool {
        matches!(self.dialect, Dialect::OllamaChat | Dialect::OllamaGenerate)
    }

    /// Every event's JSON, written in another way.
    fn rewrite(&mut self, write: impl Fn(&Value) -> String) {
        for (at, json) in self.events.clone().into_iter().enumerate() {
            if json.is_null() {
                continue;
            }
            let text = self.texts[at].replace(&json.to_string(), &write(&json));
            self.bytes(at, text);
        }
    }

    /// Where pieces of text are: event, pointer and piece.
    fn said(&self) -> Vec<(usize, &'static str, String)> {
        let pointers: &[&'static str] = match (self.dialect, self.streams) {
            (Dialect::ChatCompletions, true) => &["/choices/0/delta/content"],
            (Dialect::ChatCompletions, false) => &["/choices/0/message/content"],
            (Dialect::Completions, _) => &["/choices/0/text"],
            (Dialect::Messages, true) => &["/delta/text"],
            (Dialect::Messages, false) => &["/content/0/text", "/content/1/text"],
            (Dialect::Responses, true) => &["/delta"],
            (Dialect::Responses, false) => {
                &["/output/0/content/0/text", "/output/1/content/0/text"]
            }
            (Dialect::OllamaChat, _) => &["/message/content"],
            (Dialect::OllamaGenerate, _) => &["/response"],
        };
        let mut found = Vec::new();
        for pointer in pointers {
            for at in self.with(pointer) {
                let event = &self.events[at];
                let is_other = event["type"].as_str().is_some_and(|kind| {
                    kind.starts_with("response.") && kind != "response.output_text.delta"
                });
                let text = event.pointer(pointer).and_then(Value::as_str);
                if let Some(text) = text.filter(|it| !it.is_empty() && !is_other) {
                    found.push((at, *pointer, text.to_owned()));
                }
            }
        }
        found
    }

    /// Where calls are in a chat completion.
    fn places(&self) -> Vec<Place> {
        if !self.streams {
            let calls = 0..self.reply.calls.len();
            let place = |call| Place {
                event: 0,
                pointer: format!("/choices/0/message/tool_calls/{call}"),
                call,
                is_first: true,
            };
            return calls.map(place).collect();
        }
        let events = self.with(DELTA_CALL).into_iter();
        let place = |event: usize| {
            let piece = self.events[event].pointer(DELTA_CALL)?;
            Some(Place {
                event,
                pointer: DELTA_CALL.to_owned(),
                call: piece["index"].as_u64()? as usize,
                is_first: piece.get("id").is_some(),
            })
        };
        events.filter_map(place).collect()
    }

    /// Adds an oddity, if the reply has a place for it.
    fn add(&mut self, kind: &str, dice: &mut Dice) -> Option<()> {
        let (group, _) = kind.split_once('_')?;
        match group {
            "frame" => self.add_frame(kind, dice),
            "json" => self.add_json(kind, dice),
            "usage" => self.add_usage(kind),
            "http" => self.add_http(kind, dice),
            "finish" | "done" | "choices" | "choice" | "object" => self.add_openai(kind, dice),
            "block" | "message" if self.dialect == Dialect::Messages => {
                self.add_message(kind, dice)
            }
            "response" => self.add_response(kind),
            "ollama" => self.add_ollama(kind),
            "role" | "delta" | "content" | "reasoning" | "function" | "message" | "text" => {
                self.add_chat(kind, dice)
            }
            _ => self.add_chat_call(kind, dice),
        }
    }

    fn add_frame(&mut self, kind: &str, dice: &mut Dice) -> Option<()> {
        let (at, last) = (dice.below(self.events.len()), self.last());
        match kind {
            "frame_crlf" => self.replace(None, "\n", "\r\n"),
            "frame_cr" => self.replace(None, "\n", "\r"),
            "frame_comment" => self.before(at, ": keep-alive\n\n"),
            "frame_comment_inside" => self.before(at, ": processing\n"),
            "frame_retry" => self.before(at, "retry: 3000\n\n"),
            "frame_id" => (0..=last).for_each(|at| self.before(at, &format!("id: {at}\n"))),
            "frame_lines" => self.odd(Some(at), "", Change::Lines(2 + dice.below(4))),
            "frame_joined" => self.replace(Some(at), "\n\n", "\n"),
            "frame_end_without_blank" => self.replace(Some(last), "\n\n", "\n"),
            "frame_no_last_newline" => {
                let end = if self.is_lines() { "\n" } else { "\n\n" };
                self.replace(Some(last), end, "");
            }
            "frame_number" => self.before(at, "data: 7\n\n"),
            "frame_string" => self.before(at, "data: \"ping\"\n\n"),
            "frame_null" => self.before(at, "data: null\n\n"),
            "frame_list" => self.before(at, "data: []\n\n"),
            "frame_empty_data" => {
                let data = if dice.falls(2) { "data:" } else { "data: " };
                self.before(at, &format!("{data}\n\n"));
            }
            "frame_without_data" => self.before(at, "event: ping\n\n"),
            "frame_unknown" => {
                self.before(at, "event: x.new\ndata: {\"type\":\"x.new\",\"x\":[1]}\n\n")
            }
            "frame_ping" => self.before(at, "event: ping\ndata: {\"type\": \"ping\"}\n\n"),
            "frame_named_message" => (0..=last).for_each(|at| self.before(at, "event: message\n")),
            "frame_no_space" => self.replace(None, "data: {", "data:{"),
            "frame_two_spaces" => self.replace(None, "data: {", "data:  {"),
            "frame_unknown_field" => self.before(at, "x-field: 1\n"),
            "frame_data_alone" => self.before(at, "data\n"),
            "frame_more_blanks" => self.before(at, "\n\n"),
            "frame_no_names" => {
                for at in 0..=last {
                    let name = self.texts[at].split('\n').next().unwrap_or_default();
                    let name = format!("{name}\n");
                    self.replace(Some(at), &name, "");
                }
            }
            "frame_name_last" => {
                let (name, data) = self.texts[at].split_once('\n')?;
                let text = format!("{}\n{name}\n\n", data.trim_end());
                self.bytes(at, text);
            }
            "frame_name_of_other" => {
                let (name, data) = self.texts[at].split_once('\n')?;
                let other = self.texts[dice.below(self.texts.len())].split_once('\n')?.0;
                let text = (other != name).then(|| format!("{other}\n{data}"))?;
                self.bytes(at, text);
            }
            _ => return None,
        }
        Some(())
    }

    fn add_json(&mut self, kind: &str, dice: &mut Dice) -> Option<()> {
        let at = dice.below(self.events.len());
        let mark = |draft: &mut Self, written: &str| {
            draft.events[at].as_object()?;
            draft.set(at, "/x_number", "NUMBER");
            draft.replace(Some(at), "\"NUMBER\"", written);
            Some(())
        };
        match kind {
            "json_error_null" => self.set_all("/error", Value::Null),
            "json_error_empty" => self.set_all("/error", ""),
            "json_unknown" => self.set_all(
                "/x_more",
                json!({"error": {"a": [1, {"b": "tool_calls"}]}, "type": "x"}),
            ),
            "json_nan" => mark(self, "NaN")?,
            "json_large_number" => mark(self, "1e400")?,
            "json_half_pair" => mark(self, "\"\\ud83d\"")?,
            "json_half_pair_said" => {
                let said = self.said();
                let (at, pointer, text) = said.get(dice.below(said.len().max(1)))?;
                self.set(*at, pointer, format!("{text}HALF"));
                self.replace(Some(*at), "HALF\"", "\\ud83d\"");
            }
            "json_pair_in_two" => {
                let said = self.said();
                let first = dice.below(said.len().max(2) - 1);
                let ((at, pointer, text), (next, _, more)) =
                    (said.get(first)?, said.get(first + 1)?);
                self.set(*at, pointer, format!("{text}HALF"));
                self.replace(Some(*at), "HALF\"", "\\ud83d\"");
                self.set(*next, pointer, format!("HALF{more}"));
                self.replace(Some(*next), "\"HALF", "\"\\ude00");
            }
            "json_ascii" => self.rewrite(ascii),
            "json_spaces" => self.rewrite(spaced),
            "json_sorted" => self.rewrite(|json| ordered(json, false).to_string()),
            "json_reversed" => self.rewrite(|json| ordered(json, true).to_string()),
            "json_twice" => {
                let said = self.said();
                let (at, pointer, _) = said.get(dice.below(said.len().max(1)))?;
                self.odd(Some(*at), pointer, Change::Twice("former".into()));
            }
            "json_pretty" => self.rewrite(|json| format!("{json:#}")),
            "json_blanks_around" => {
                let text = format!("\n\n  {}\r\n\n", self.texts[0]);
                self.bytes(0, text);
            }
            "json_escaped_names" => {
                for (name, written) in [
                    ("tool_calls\":", "tool\\u005fcalls\":"),
                    ("content\":", "cont\\u0065nt\":"),
                    ("\"tool_use\"", "\"tool\\u005fuse\""),
                    ("function_call\"", "function\\u005fcall\""),
                ] {
                    self.replace(None, name, written);
                }
            }
            "json_escaped_slashes" => self.rewrite(|json| json.to_string().replace('/', "\\/")),
            "json_created_text" => {
                self.set_all("/created", "1");
                self.set_all(
                    "/created_at",
                    dice.one(&[json!("1"), json!(1.5), Value::Null]).clone(),
                );
            }
            "json_no_model" => self.drop_all("/model"),
            "json_id_null" => self.set_all("/id", Value::Null),
            "json_broken_event" => {
                let at = dice.below(self.events.len());
                let text = self.texts[at].replace("}\n", "\n");
                self.bytes(at, text);
            }
            _ => return None,
        }
        Some(())
    }

    fn add_usage(&mut self, kind: &str) -> Option<()> {
        let fields: &[&str] = match self.dialect {
            Dialect::OllamaChat | Dialect::OllamaGenerate => {
                &["/prompt_eval_count", "/eval_count", "/total_duration"]
            }
            Dialect::Messages => &["/usage", "/message/usage"],
            Dialect::Responses => &["/usage", "/response/usage"],
            _ => &["/usage"],
        };
        let mut is_there = false;
        for field in fields {
            for at in self.with(field) {
                is_there = true;
                let value = self.events[at].pointer(field).cloned().unwrap_or_default();
                match kind {
                    "usage_null" => self.set(at, field, Value::Null),
                    "usage_absent" => self.drop(at, field),
                    "usage_texts" => {
                        self.set(at, field, numbers(&value, &|it| it.to_string().into()))
                    }
                    "usage_floats" => self.set(
                        at,
                        field,
                        numbers(&value, &|it| json!(it.as_f64().unwrap_or_default() + 0.5)),
                    ),
                    _ => {}
                }
            }
        }
        if kind == "usage_everywhere" {
            let figures = json!({"prompt_tokens": 120, "completion_tokens": 3, "total_tokens": 123, "x": null});
            self.set_all("/usage", figures);
            is_there = true;
        }
        is_there.then_some(())
    }

    fn add_http(&mut self, kind: &str, dice: &mut Dice) -> Option<()> {
        let (streams, is_lines) = (self.streams, self.is_lines());
        let mut typed = |media: &str| {
            self.reply.head.retain(|it| it.0 != "Content-Type");
            self.reply
                .head
                .push(("Content-Type".to_owned(), media.to_owned()));
        };
        match kind {
            "http_gzip" => self.reply.encoding = Encoding::Gzip,
            "http_deflate" => self.reply.encoding = Encoding::Deflate,
            "http_mark" => self.reply.encoding = Encoding::Mark,
            "http_charset" => typed(match (streams, is_lines) {
                (false, _) => "application/json; charset=UTF-8",
                (true, true) => "application/x-ndjson; charset=utf-8",
                (true, false) => "text/event-stream;charset=utf-8",
            }),
            "http_no_type" => typed(""),
            "http_plain_type" => typed("text/plain"),
            "http_other_type" => typed(match (streams, is_lines) {
                (false, _) => "text/event-stream",
                (true, true) => "application/json",
                (true, false) if dice.falls(2) => "application/json",
                (true, false) => "application/octet-stream",
            }),
            "http_close" | "http_reset" => {
                let length: usize = self.texts.iter().map(String::len).sum();
                let end = 1 + dice.below(length);
                self.reply.end = if kind == "http_close" {
                    End::Close(end)
                } else {
                    End::Reset(end)
                };
            }
            "http_whole_for_stream" => {
                let (media, body) = encoded(self.dialect, false, &self.reply);
                self.reply.body = Some(String::from_utf8_lossy(&body.concat()).into_owned());
                self.reply
                    .head
                    .push(("Content-Type".to_owned(), media.to_owned()));
            }
            "http_status_201" => self.reply.status = Some(201),
            _ => return None,
        }
        Some(())
    }

    fn add_openai(&mut self, kind: &str, dice: &mut Dice) -> Option<()> {
        let last = self.last();
        let at = dice.below(self.events.len());
        let extra = |draft: &Self, choices: Option<Value>| {
            let mut json = draft.events[0].clone();
            match choices {
                Some(choices) => json["choices"] = choices,
                None => drop(json.as_object_mut()?.shift_remove("choices")),
            }
            Some(draft.event(&json))
        };
        match kind {
            "finish_empty" | "finish_null_text" => {
                let word = if kind == "finish_empty" { "" } else { "null" };
                let is_all = dice.falls(2);
                for at in self.with(FINISH) {
                    if is_all || self.events[at].pointer(FINISH) == Some(&Value::Null) {
                        self.set(at, FINISH, word);
                    }
                }
            }
            "finish_null" => self.set_all(FINISH, Value::Null),
            "finish_absent" => self.drop_all(FINISH),
            "finish_twice" => {
                let finish = self.finish()?;
                let text = self.texts[finish].clone();
                self.before(finish, &text);
            }
            "finish_before_text" => {
                let finish = self.finish()?;
                let (text, former) = (self.texts[finish].clone(), self.texts[finish - 1].clone());
                self.bytes(finish - 1, text);
                self.bytes(finish, former);
            }
            "finish_with_last" => {
                let finish = self.finish()?;
                let word = self.events[finish].pointer(FINISH)?.clone();
                self.bytes(finish, "");
                self.set(finish.checked_sub(1)?, FINISH, word);
            }
            "finish_stop" if !self.reply.calls.is_empty() => {
                let at = self.finish()?;
                self.set(at, FINISH, "stop");
            }
            "finish_unknown" => {
                let at = self.finish()?;
                self.set(at, FINISH, *dice.one(&["eos", "end_turn", "length"]));
            }
            "done_absent" => self.bytes(last, ""),
            "done_twice" => self.before(last, "data: [DONE]\n\n"),
            "done_with_blank" => self.bytes(last, "data: [DONE] \n\n"),
            "done_no_space" => self.bytes(last, "data:[DONE]\n\n"),
            "done_early" => self.before(at, "data: [DONE]\n\n"),
            "choices_empty" => {
                let text = extra(self, Some(json!([])))?;
                self.before(at, &text);
            }
            "choices_null" => {
                let text = extra(self, Some(Value::Null))?;
                self.before(at, &text);
            }
            "choices_absent" => {
                let text = extra(self, None)?;
                self.before(at, &text);
            }
            "choice_second" | "choice_second_first" => {
                let is_first = kind == "choice_second_first";
                let is_other = dice.falls(2);
                for at in self.with("/choices/0") {
                    let mut other = self.events[at]["choices"][0].clone();
                    other["index"] = 1.into();
                    if is_other {
                        for place in ["delta", "message"] {
                            if other.get(place).is_some() {
                                other[place] = json!({"content": "Another."});
                            }
                        }
                    }
                    let own = self.events[at]["choices"][0].clone();
                    let choices = if is_first {
                        json!([other, own])
                    } else {
                        json!([own, other])
                    };
                    self.set(at, "/choices", choices);
                }
            }
            "choice_index_one" => self.set_all("/choices/0/index", 1),
            "choice_index_absent" => self.drop_all("/choices/0/index"),
            "object_absent" => self.drop_all("/object"),
            _ => return None,
        }
        Some(())
    }

    fn add_chat(&mut self, kind: &str, dice: &mut Dice) -> Option<()> {
        let place = if self.streams {
            "/choices/0/delta"
        } else {
            "/choices/0/message"
        };
        let finish = self.finish()?;
        match kind {
            "role_absent" => self.drop_all(&format!("{place}/role")),
            "role_everywhere" => self.set_all("/choices/0/delta/role", "assistant"),
            "delta_null" => self.set(finish, place, Value::Null),
            "delta_absent" => self.drop(finish, place),
            "content_null" if self.streams => {
                for at in 0..self.events.len() {
                    let delta = self.events[at].pointer(place);
                    if delta.is_some_and(|it| it["content"].as_str().is_none_or(str::is_empty)) {
                        self.set(at, &format!("{place}/content"), Value::Null);
                    }
                }
            }
            "content_null" if self.reply.text.is_empty() => {
                self.drop_all(&format!("{place}/content"))
            }
            "content_parts" => {
                let said = self.said();
                said.first()?;
                for (at, pointer, text) in said {
                    self.set(at, pointer, json!([{"type": "text", "text": text}]));
                }
            }
            "content_empty_everywhere" => {
                for at in self.with(DELTA_CALL) {
                    self.set(at, "/choices/0/delta/content", "");
                }
            }
            "function_null" => self.set_all(&format!("{place}/function_call"), Value::Null),
            "reasoning_name" if !self.reply.thoughts.is_empty() => {
                self.replace(None, "\"reasoning_content\"", "\"reasoning\"")
            }
            "message_beside" => {
                let (_, body) = encoded(self.dialect, false, &self.reply);
                let whole: Value = serde_json::from_slice(&body.concat()).ok()?;
                let message = whole.pointer("/choices/0/message")?.clone();
                self.set(finish, "/choices/0/message", message);
            }
            "text_after_calls" if !self.reply.calls.is_empty() => {
                let mut json = self.events[finish].clone();
                json["choices"][0] =
                    json!({"index": 0, "delta": {"content": "And more."}, "finish_reason": null});
                let at = if dice.falls(2) {
                    finish
                } else {
                    *self.with(DELTA_CALL).last()?
                };
                let text = self.event(&json);
                self.before(at, &text);
            }
            _ => return None,
        }
        Some(())
    }

    fn add_chat_call(&mut self, kind: &str, dice: &mut Dice) -> Option<()> {
        if matches!(kind, "calls_null" | "calls_empty") {
            let place = if self.streams {
                "/choices/0/delta"
            } else {
                "/choices/0/message"
            };
            let value = if kind == "calls_null" {
                Value::Null
            } else {
                json!([])
            };
            for at in self.with(place) {
                if self.events[at].pointer(place)?.get("tool_calls").is_none() {
                    self.set(at, &format!("{place}/tool_calls"), value.clone());
                }
            }
            return Some(());
        }
        let places = self.places();
        places.first()?;
        if matches!(
            kind,
            "call_at_once" | "calls_in_one" | "calls_mixed" | "call_after_finish" | "call_legacy"
        ) {
            return self.add_moved_calls(kind, &places);
        }
        let calls = self.reply.calls.clone();
        let id = |call: usize| Value::from(format!("call_{}_{call}", self.reply.number));
        let ids: Vec<Value> = (0..calls.len()).map(id).collect();
        let float = dice.falls(2);
        let mut is_there = false;
        for (number, place) in places.iter().enumerate() {
            let field = |name: &str| format!("{}/{name}", place.pointer);
            let (name, arguments) = (field("function/name"), field("function/arguments"));
            let is_last = places
                .get(number + 1)
                .is_none_or(|it| it.call != place.call);
            let at = place.event;
            let (field, value) = match (kind, place.is_first) {
                ("index_absent", _) => (field("index"), None),
                ("index_null", _) => (field("index"), Some(Value::Null)),
                ("index_text", _) => (field("index"), Some(place.call.to_string().into())),
                ("index_float", _) => (
                    field("index"),
                    Some(if float {
                        json!(place.call as f64)
                    } else {
                        json!(place.call as f64 + 0.5)
                    }),
                ),
                ("index_same", _) if calls.len() > 1 => (field("index"), Some(0.into())),
                ("index_gap", _) => (field("index"), Some((place.call * 2 + 3).into())),
                ("id_absent", true) => (field("id"), None),
                ("id_null", true) => (field("id"), Some(Value::Null)),
                ("id_empty_later", false) => (field("id"), Some("".into())),
                ("id_everywhere", false) => (field("id"), Some(ids[place.call].clone())),
                ("id_same", true) if calls.len() > 1 => (field("id"), Some("call_x".into())),
                ("id_number", true) => (field("id"), Some(place.call.into())),
                ("name_everywhere", false) => (name, Some(calls[place.call].name.as_str().into())),
                ("name_empty_later", false) => (name, Some("".into())),
                ("name_null_later", false) => (name, Some(Value::Null)),
                ("name_late", true) => (name, None),
                ("name_late", false) if places[number - 1].is_first => {
                    (name, Some(calls[place.call].name.as_str().into()))
                }
                ("name_in_two", true) => (name, Some(calls[place.call].name[..1].into())),
                ("name_in_two", false) if places[number - 1].is_first => {
                    (name, Some(calls[place.call].name[1..].into()))
                }
                ("type_absent", true) => (field("type"), None),
                ("type_everywhere", false) => (field("type"), Some("function".into())),
                ("arguments_object", true) => {
                    (arguments, Some(calls[place.call].arguments.clone()))
                }
                ("arguments_object", false) => {
                    self.bytes(at, "");
                    continue;
                }
                ("arguments_null", true) => (arguments, Some(Value::Null)),
                ("arguments_absent", true) => (arguments, None),
                ("arguments_empty_last", false) if is_last => {
                    let mut json = self.events[at].clone();
                    json["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"] =
                        "".into();
                    let text = self.texts[at].clone() + &self.event(&json);
                    self.bytes(at, text);
                    is_there = true;
                    continue;
                }
                _ => continue,
            };
            is_there = true;
            match value {
                Some(value) => self.set(at, &field, value),
                None => self.drop(at, &field),
            }
        }
        is_there.then_some(())
    }

    /// Calls in other events than those that they were in.
    fn add_moved_calls(&mut self, kind: &str, places: &[Place]) -> Option<()> {
        let finish = self.finish()?;
        let calls = self.reply.calls.clone();
        let number = self.reply.number;
        let whole = |at: usize, call: &Call| json!({"index": at, "id": format!("call_{number}_{at}"), "type": "function", "function": {"name": call.name, "arguments": call.text()}});
        let firsts: Vec<usize> = places
            .iter()
            .filter(|it| it.is_first)
            .map(|it| it.event)
            .collect();
        let event = |draft: &Self, calls: Value| {
            let mut json = draft.events[firsts[0]].clone();
            json["choices"][0]["delta"] = json!({"tool_calls": calls});
            draft.event(&json)
        };
        match kind {
            "call_legacy" => {
                let call = calls.first()?;
                let function = json!({"name": call.name, "arguments": call.text()});
                let place = if self.streams { "delta" } else { "message" };
                for at in places
                    .iter()
                    .map(|it| it.event)
                    .filter(|_| self.streams)
                    .collect::<Vec<_>>()
                {
                    self.bytes(at, "");
                }
                let at = if self.streams { 0 } else { finish };
                self.drop(at, "/choices/0/message/tool_calls");
                self.set(at, &format!("/choices/0/{place}/function_call"), function);
                self.set(finish, FINISH, "function_call");
            }
            "call_after_finish" => {
                let last = places.last()?.call;
                let moved: String = places
                    .iter()
                    .filter(|it| it.call == last)
                    .map(|it| self.texts[it.event].clone())
                    .collect();
                for place in places.iter().filter(|it| it.call == last) {
                    self.bytes(place.event, "");
                }
                let text = self.texts[finish].clone() + &moved;
                self.bytes(finish, text);
            }
            "call_at_once" | "calls_in_one" => {
                if kind == "calls_in_one" && calls.len() < 2 {
                    return None;
                }
                for place in places {
                    self.bytes(place.event, "");
                }
                let all: Vec<Value> = calls
                    .iter()
                    .enumerate()
                    .map(|(at, call)| whole(at, call))
                    .collect();
                if kind == "calls_in_one" {
                    let text = event(self, all.into());
                    self.bytes(firsts[0], text);
                } else {
                    for (at, one) in firsts.iter().zip(all) {
                        let text = event(self, json!([one]));
                        self.bytes(*at, text);
                    }
                }
            }
            _ => {
                if calls.len() < 2 {
                    return None;
                }
                // The pieces of all calls in turn.
                let mut queues: Vec<Vec<usize>> = vec![Vec::new(); calls.len()];
                for place in places {
                    queues[place.call].push(place.event);
                }
                let most = queues.iter().map(Vec::len).max()?;
                let turns = (0..most).flat_map(|turn| {
                    queues
                        .iter()
                        .filter_map(move |queue| queue.get(turn).copied())
                });
                for (place, moved) in places.iter().zip(turns.collect::<Vec<_>>()) {
                    let text = self.texts[moved].clone();
                    self.bytes(place.event, text);
                }
            }
        }
        Some(())
    }

    fn add_message(&mut self, kind: &str, dice: &mut Dice) -> Option<()> {
        let starts = self.typed("content_block_start");
        let tools: Vec<usize> = starts
            .iter()
            .copied()
            .filter(|at| self.events[*at]["content_block"]["type"] == "tool_use")
            .collect();
        match kind {
            "block_no_stop" => {
                let is_all = dice.falls(2);
                let stops = self.typed("content_block_stop");
                let one = stops.len().checked_sub(1)?;
                for at in stops.into_iter().skip(if is_all { 0 } else { one }) {
                    self.bytes(at, "");
                }
            }
            "block_input_at_start" => {
                tools.first()?;
                for (at, call) in tools.into_iter().zip(self.reply.calls.clone()) {
                    self.set(at, "/content_block/input", call.arguments);
                }
                for at in self.with("/delta/partial_json") {
                    self.bytes(at, "");
                }
            }
            "block_input_absent" | "block_input_null" => {
                tools.first()?;
                for at in tools {
                    match kind {
                        "block_input_null" => self.set(at, "/content_block/input", Value::Null),
                        _ => self.drop(at, "/content_block/input"),
                    }
                }
            }
            "block_index_absent" => self.drop_all("/index"),
            "block_index_shifted" => {
                for at in self.with("/index") {
                    let index = self.events[at]["index"].as_u64()? + 1;
                    self.set(at, "/index", index);
                }
            }
            "block_empty_piece" => {
                let pieces = self.with("/delta/partial_json");
                let mut json = self.events[*pieces.first()?].clone();
                json["delta"]["partial_json"] = "".into();
                let text = self.event(&json);
                self.before(pieces[0], &text);
            }
            "block_text_at_start" => {
                let at = *starts
                    .iter()
                    .find(|at| self.events[**at]["content_block"]["type"] == "text")?;
                self.set(at, "/content_block/text", "First. ");
            }
            "block_unknown_delta" => {
                let at = *starts.first()?;
                let json = json!({"type": "content_block_delta", "index": self.events[at]["index"], "delta": {"type": "x_delta", "x": 1}});
                let text = self.texts[at].clone() + &self.event(&json);
                self.bytes(at, text);
            }
            "message_no_stop" => self.bytes(self.last(), ""),
            "message_no_delta" => {
                let at = *self.typed("message_delta").first()?;
                self.bytes(at, "");
            }
            "message_no_start" => self.bytes(0, ""),
            "message_stop_reason_null" => {
                for field in ["/delta/stop_reason", "/stop_reason"] {
                    for at in self.with(field) {
                        self.set(at, field, Value::Null);
                    }
                }
            }
            "message_id_absent" => {
                self.drop_all("/message/id");
                self.drop_all("/content_block/id");
                self.drop_all("/id");
            }
            _ => return None,
        }
        Some(())
    }

    fn add_response(&mut self, kind: &str) -> Option<()> {
        let last = self.last();
        let is_ending = |kind: &str| kind.starts_with("response.completed");
        match kind {
            "response_no_index" => self.drop_all("/output_index"),
            "response_no_item_id" => self.drop_all("/item_id"),
            "response_no_number" => self.drop_all("/sequence_number"),
            "response_same_index" => self.set_all("/output_index", 0),
            "response_only_completed" => (1..last).for_each(|at| self.bytes(at, "")),
            "response_empty_output" => self.set(last, "/response/output", json!([])),
            "response_no_completed" => self.bytes(last, ""),
            "response_no_deltas" => self
                .with("/delta")
                .into_iter()
                .for_each(|at| self.bytes(at, "")),
            "response_no_done" => {
                for at in 0..last {
                    let name = self.events[at]["type"].as_str().unwrap_or_default();
                    if name.ends_with(".done") && !is_ending(name) {
                        self.bytes(at, "");
                    }
                }
            }
            "response_done_mark" => {
                let text = self.texts[last].clone() + "data: [DONE]\n\n";
                self.bytes(last, text);
            }
            "response_arguments_object" if !self.reply.calls.is_empty() => {
                for at in 0..self.events.len() {
                    let event = self.events[at].clone();
                    for (list, items) in [
                        ("/output", &event["output"]),
                        ("/response/output", &event["response"]["output"]),
                    ] {
                        for (number, item) in items.as_array().into_iter().flatten().enumerate() {
                            if let Some(arguments) = object_of(&item["arguments"]) {
                                self.set(at, &format!("{list}/{number}/arguments"), arguments);
                            }
                        }
                    }
                    for field in ["/item/arguments", "/arguments"] {
                        if let Some(arguments) = event.pointer(field).and_then(object_of) {
                            self.set(at, field, arguments);
                        }
                    }
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn add_ollama(&mut self, kind: &str) -> Option<()> {
        let last = self.last();
        let calls = "/message/tool_calls";
        match kind {
            "ollama_no_reason" => self.drop_all("/done_reason"),
            "ollama_no_done" => (0..last).for_each(|at| self.drop(at, "/done")),
            "ollama_arguments_text" => {
                let at = *self.with(calls).first()?;
                for (number, call) in self.reply.calls.clone().iter().enumerate() {
                    self.set(
                        at,
                        &format!("{calls}/{number}/function/arguments"),
                        call.text(),
                    );
                }
            }
            "ollama_calls_last" if self.streams => {
                let at = *self.with(calls).first()?;
                let value = self.events[at].pointer(calls)?.clone();
                self.bytes(at, "");
                self.set(last, calls, value);
            }
            _ => return None,
        }
        Some(())
    }
}

fn object_of(value: &Value) -> Option<Value> {
    serde_json::from_str(value.as_str()?).ok()
}

/// JSON with each number in it changed.
fn numbers(value: &Value, change: &dyn Fn(&serde_json::Number) -> Value) -> Value {
    match value {
        Value::Number(number) => change(number),
        Value::Object(members) => {
            let changed = members
                .iter()
                .map(|(key, value)| (key.clone(), numbers(value, change)));
            Value::Object(changed.collect())
        }
        value => value.clone(),
    }
}

/// JSON as Python writes it by default.
fn ascii(json: &Value) -> String {
    let mut out = String::new();
    for sign in json.to_string().chars() {
        if sign.is_ascii() {
            out.push(sign);
        } else {
            let mut units = [0; 2];
            for unit in sign.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

/// JSON with a blank after each comma and colon.
fn spaced(json: &Value) -> String {
    match json {
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(key, value)| format!("{}: {}", Value::from(key.as_str()), spaced(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => format!(
            "[{}]",
            items.iter().map(spaced).collect::<Vec<_>>().join(", ")
        ),
        json => json.to_string(),
    }
}

/// JSON with its members in another order.
fn ordered(json: &Value, is_reversed: bool) -> Value {
    match json {
        Value::Object(members) => {
            let mut members: Vec<(String, Value)> = members
                .iter()
                .map(|(key, value)| (key.clone(), ordered(value, is_reversed)))
                .collect();
            if is_reversed {
                members.reverse();
            } else {
                members.sort_by(|one, other| one.0.cmp(&other.0));
            }
            Value::Object(members.into_iter().collect())
        }
        Value::Array(items) => items.iter().map(|it| ordered(it, is_reversed)).collect(),
        json => json.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_made() {
        let mut missing: Vec<&str> = KINDS.iter().map(|it| it.0).collect();
        let mut numbers = 0..5000;
        while let Some(number) = numbers.next().filter(|_| !missing.is_empty()) {
            let kinds = case(number).kinds;
            missing.retain(|it| !kinds.contains(it));
        }
        assert!(missing.is_empty(), "{missing:?}");
    }

    /// What is printed is read as the same reply.
    #[test]
    fn read_back() {
        for number in 0..300 {
            let case = case(number);
            let line = serde_json::to_string(&case.reply).unwrap_or_default();
            let read: Option<Reply> = serde_json::from_str(&line).ok();
            assert_eq!(read.as_ref(), Some(&case.reply), "{line}");
        }
    }
}
