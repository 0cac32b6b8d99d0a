//! The simulated model server: reads requests, answers with a reply that it made, and fails in every way that servers
//! do.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::json;

use super::http::{self, Framing, Message};
use super::speech::{ReplyDeed, Speech};
use super::wire::{Network, Received, UpstreamEnd};
use crate::dice::Dice;

/// The header field by which the ends know which call a response is of.
pub(super) const CALL_FIELD: &str = "x-sim-call";

/// What goes wrong with a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ResponseTrouble {
    /// Nothing.
    None,
    /// The connection breaks before the response's end.
    BreaksOff,
    /// An error status.
    Status(u16),
    /// No completion at all.
    Garbage,
    /// It ends without saying that it is done.
    NoDone,
    /// An error in the stream.
    ErrorEvent,
    /// Nothing ever comes.
    Silent,
}

/// How the client learns of a response's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResponseEnd {
    Chunked,
    Length,
    WithConnection,
}

/// One request and its response.
#[derive(Clone, Debug)]
pub(super) struct UpstreamCall {
    /// The request's body.
    pub(super) asked: Vec<u8>,
    /// The status of the response.
    pub(super) status: u16,
    /// The part of the body that is meant to go, transfer coding undone.
    pub(super) body: Vec<u8>,
    /// What the reply says, if it is a proper one.
    pub(super) speech: Option<Rc<Speech>>,
    /// What went wrong.
    pub(super) trouble: ResponseTrouble,
    /// Whether the server said all that it had to say.
    pub(super) is_over: bool,
}

/// The server.
#[derive(Default)]
pub(super) struct Upstream {
    lines: BTreeMap<UpstreamEnd, UpstreamConnection>,
    /// Every call of the run, by its number.
    pub(super) calls: Vec<UpstreamCall>,
}

/// One connection.
#[derive(Default)]
struct UpstreamConnection {
    received: Vec<u8>,
    /// The response under way: its call, its bytes, and how many were sent.
    answering: Option<Answering>,
}

struct Answering {
    call: usize,
    wire: Vec<u8>,
    sent: usize,
    /// What happens once all of it was sent.
    then: AfterAnswer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AfterAnswer {
    KeepAlive,
    Close,
    Reset,
    Nothing,
}

impl Upstream {
    /// Something happens on one of the server's connections. Says whether there was one.
    pub(super) fn step(
        &mut self,
        network: &Network,
        chance: &mut Dice,
        calm: bool,
        make: &mut dyn FnMut(&mut Dice) -> Speech,
    ) -> bool {
        if let Some(end) = network.next_call() {
            let takes = calm || chance.percent(95);
            network.answer_call(end, takes);
            if takes {
                self.lines.insert(end, UpstreamConnection::default());
            }
            return true;
        }
        let ends: Vec<UpstreamEnd> = self.lines.keys().copied().collect();
        if ends.is_empty() {
            return false;
        }
        let end = chance.pick(&ends);
        self.turn(network, end, chance, calm, make);
        true
    }

    /// A turn of every connection.
    pub(super) fn step_all(
        &mut self,
        network: &Network,
        chance: &mut Dice,
        make: &mut dyn FnMut(&mut Dice) -> Speech,
    ) {
        while let Some(end) = network.next_call() {
            network.answer_call(end, true);
            self.lines.insert(end, UpstreamConnection::default());
        }
        let ends: Vec<UpstreamEnd> = self.lines.keys().copied().collect();
        for end in ends {
            self.turn(network, end, chance, true, make);
        }
    }

    /// The proxy's process is gone, and all connections with it.
    pub(super) fn forget_lines(&mut self) {
        self.lines.clear();
    }

    fn turn(
        &mut self,
        network: &Network,
        end: UpstreamEnd,
        chance: &mut Dice,
        calm: bool,
        make: &mut dyn FnMut(&mut Dice) -> Speech,
    ) {
        let Some(line) = self.lines.get_mut(&end) else {
            return;
        };
        if let Some(answering) = &mut line.answering {
            let rest = answering.wire.len() - answering.sent;
            let piece = if calm {
                rest
            } else {
                chance.piece_length(rest)
            };
            let from = answering.sent;
            match network.upstream_sends(
                end,
                &answering.wire[from..(from + piece).min(answering.wire.len())],
            ) {
                None => {
                    self.lines.remove(&end);
                    return;
                }
                Some(count) => answering.sent += count,
            }
            if answering.sent == answering.wire.len() {
                let (call, then) = (answering.call, answering.then);
                self.answered(network, end, call, then, calm);
            }
            return;
        }
        match network.upstream_receives(end, usize::MAX) {
            Received::Nothing => {
                if !calm && chance.percent(2) {
                    network.upstream_ends(end);
                    self.lines.remove(&end);
                }
            }
            Received::Ended => {
                self.lines.remove(&end);
            }
            Received::Bytes(bytes) => {
                line.received.extend_from_slice(&bytes);
                let Some(request) = http::read_message(&line.received, Framing::Request, false)
                else {
                    return;
                };
                if let Some(taken) = request.complete {
                    line.received.drain(..taken);
                    let call = self.calls.len();
                    let (made, answering) = answer(&request, call, chance, calm, make);
                    self.calls.push(made);
                    if let Some(line) = self.lines.get_mut(&end) {
                        line.answering = Some(answering);
                    }
                }
            }
        }
    }

    fn answered(
        &mut self,
        network: &Network,
        end: UpstreamEnd,
        call: usize,
        then: AfterAnswer,
        calm: bool,
    ) {
        if then == AfterAnswer::Nothing && !calm {
            return;
        }
        match then {
            AfterAnswer::KeepAlive => {
                self.calls[call].is_over = true;
                if let Some(line) = self.lines.get_mut(&end) {
                    line.answering = None;
                }
                return;
            }
            AfterAnswer::Close => {
                let call = &mut self.calls[call];
                call.is_over = call.trouble != ResponseTrouble::BreaksOff;
                network.upstream_ends(end);
            }
            AfterAnswer::Reset | AfterAnswer::Nothing => network.upstream_resets(end),
        }
        self.lines.remove(&end);
    }
}

fn answer(
    request: &Message,
    number: usize,
    chance: &mut Dice,
    calm: bool,
    make: &mut dyn FnMut(&mut Dice) -> Speech,
) -> (UpstreamCall, Answering) {
    let is_chat = request.start.starts_with("POST /v1/chat/completions ");
    let asked: Option<serde_json::Value> = serde_json::from_slice(&request.body).ok();
    let streams = asked
        .as_ref()
        .is_some_and(|asked| asked["stream"] == json!(true));
    let trouble = match chance.below(100) {
        _ if calm => ResponseTrouble::None,
        0..=3 => ResponseTrouble::Status(chance.pick(&[400, 429, 500, 503])),
        4..=9 => ResponseTrouble::BreaksOff,
        10..=11 => ResponseTrouble::Garbage,
        12..=13 => ResponseTrouble::NoDone,
        14..=15 => ResponseTrouble::ErrorEvent,
        16 => ResponseTrouble::Silent,
        _ => ResponseTrouble::None,
    };
    let speech = is_chat.then(|| Rc::new(make(chance)));
    let (status, media, body) = match (trouble, &speech) {
        (ResponseTrouble::Status(status), _) => (
            status,
            "application/json",
            br#"{"error":{"message":"no","type":"server"}}"#.to_vec(),
        ),
        (ResponseTrouble::Garbage, _) => {
            let mut bytes = b"<html>\xff\xfe".to_vec();
            bytes.extend((0..chance.below(300)).map(|_| chance.below(256) as u8));
            (200, "text/html", bytes)
        }
        (_, None) => (200, "application/json", br#"{"data":[]}"#.to_vec()),
        (_, Some(speech)) if streams => (200, "text/event-stream", events(speech, trouble, chance)),
        (_, Some(speech)) => (200, "application/json", completion(speech, trouble)),
    };
    let ends = chance.pick(&[
        ResponseEnd::Chunked,
        ResponseEnd::Chunked,
        ResponseEnd::Length,
        ResponseEnd::WithConnection,
    ]);
    let mut head = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: {media}\r\n{CALL_FIELD}: {number}\r\nServer: sim\r\n"
    );
    match ends {
        ResponseEnd::Chunked => head.push_str("Transfer-Encoding: chunked\r\n\r\n"),
        ResponseEnd::Length => head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len())),
        ResponseEnd::WithConnection => head.push_str("Connection: close\r\n\r\n"),
    }
    let mut wire = head.into_bytes();
    let head_bytes = wire.len();
    if ends == ResponseEnd::Chunked {
        wire.extend(http::encode_chunks(&body, chance));
    } else {
        wire.extend_from_slice(&body);
    }
    let then = match trouble {
        ResponseTrouble::BreaksOff => {
            // Anywhere: in the head, in a chunk's size, in a character.
            let kept = if chance.percent(25) {
                chance.below(head_bytes + 1)
            } else {
                chance.between(head_bytes, wire.len() - 1)
            };
            wire.truncate(kept);
            if ends == ResponseEnd::WithConnection && kept >= head_bytes {
                AfterAnswer::Reset
            } else {
                chance.pick(&[AfterAnswer::Reset, AfterAnswer::Close])
            }
        }
        ResponseTrouble::Silent => {
            wire.clear();
            AfterAnswer::Nothing
        }
        _ if ends == ResponseEnd::WithConnection => AfterAnswer::Close,
        _ => chance.pick(&[
            AfterAnswer::KeepAlive,
            AfterAnswer::KeepAlive,
            AfterAnswer::Close,
        ]),
    };
    let call = UpstreamCall {
        asked: request.body.clone(),
        status,
        body,
        speech,
        trouble,
        is_over: false,
    };
    let answering = Answering {
        call: number,
        wire,
        sent: 0,
        then,
    };
    (call, answering)
}

fn finish_reason(speech: &Speech) -> &'static str {
    match speech.deed {
        ReplyDeed::Cut => "length",
        _ if speech.call.is_some() => "tool_calls",
        _ => "stop",
    }
}

/// The reply as a stream of events.
fn events(speech: &Speech, trouble: ResponseTrouble, chance: &mut Dice) -> Vec<u8> {
    let mut out = String::new();
    let mut event = |data: &str| {
        out.push_str("data: ");
        out.push_str(data);
        out.push_str("\n\n");
    };
    let mut rest = speech.text.as_str();
    while !rest.is_empty() {
        let mut cut = chance.piece_length(rest.len()).min(rest.len());
        while !rest.is_char_boundary(cut) {
            cut += 1;
        }
        let (piece, after) = rest.split_at(cut);
        event(&json!({"choices": [{"index": 0, "delta": {"content": piece}}]}).to_string());
        rest = after;
        if trouble == ResponseTrouble::ErrorEvent && chance.percent(30) {
            break;
        }
    }
    if let Some((name, arguments)) = &speech.call {
        let call = json!({"index": 0, "id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}});
        event(&json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}).to_string());
    }
    match trouble {
        ResponseTrouble::ErrorEvent => {
            event(&json!({"error": {"message": "out of memory"}}).to_string());
        }
        ResponseTrouble::NoDone => {}
        _ => {
            let reason = finish_reason(speech);
            let last = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]});
            event(&last.to_string());
            event("[DONE]");
        }
    }
    out.into_bytes()
}

/// The reply as one JSON body.
fn completion(speech: &Speech, trouble: ResponseTrouble) -> Vec<u8> {
    let mut message = json!({"role": "assistant", "content": speech.text});
    if let Some((name, arguments)) = &speech.call {
        message["tool_calls"] = json!([{"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}]);
    }
    let mut choice = json!({"index": 0, "message": message});
    if trouble != ResponseTrouble::NoDone {
        choice["finish_reason"] = json!(finish_reason(speech));
    }
    let mut body = json!({"choices": [choice]});
    if trouble == ResponseTrouble::ErrorEvent {
        body["error"] = json!({"message": "out of memory"});
    }
    body.to_string().into_bytes()
}
