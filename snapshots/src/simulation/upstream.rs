//! The simulated model server: reads requests, answers with made-up replies, and fails as servers do.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::json;
use tslp_scripted::{Call, Change, Odd, Reply, encoded};
use tslp_wire::chat::dialect::Dialect;

use super::http::{self, Framing, Message};
use super::speech::{ModelReply, ReplyKind};
use super::wire::{Network, Received, UpstreamEnd};
use crate::dice::Dice;

/// The header field with the number of a response's call.
pub(super) const CALL_FIELD: &str = "x-sim-call";

/// Events of a stream's text.
const EVENTS_MAX: usize = 200;

/// A failure of a response.
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
    /// It ends without a finish reason or `[DONE]`.
    NoDone,
    /// An error in the stream.
    ErrorEvent,
    /// Nothing ever comes.
    Silent,
}

/// The framing of a response's end.
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
    /// The body of the response, without its transfer coding.
    pub(super) body: Vec<u8>,
    /// The reply in it, if it is one to a chat request.
    pub(super) speech: Option<Rc<ModelReply>>,
    /// The failure.
    pub(super) trouble: ResponseTrouble,
    /// Whether the server sent all of it.
    pub(super) is_over: bool,
}

/// The server.
#[derive(Default)]
pub(super) struct Upstream {
    connections: BTreeMap<UpstreamEnd, UpstreamConnection>,
    /// Every call of the run, by its number.
    pub(super) calls: Vec<UpstreamCall>,
}

/// One connection.
#[derive(Default)]
struct UpstreamConnection {
    received: Vec<u8>,
    /// The response under way.
    response: Option<PendingResponse>,
}

struct PendingResponse {
    call: usize,
    wire: Vec<u8>,
    sent: usize,
    /// What the server does with the connection once all of it is sent.
    then: AfterResponse,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AfterResponse {
    KeepAlive,
    Close,
    Reset,
    Nothing,
}

impl Upstream {
    /// Accepts a connection, or serves one of those that are open; in calm it does both with all of them.
    pub(super) fn step(
        &mut self,
        network: &Network,
        chance: &mut Dice,
        calm: bool,
        make: &mut dyn FnMut(&mut Dice) -> ModelReply,
    ) {
        while let Some(end) = network.next_upstream_connection() {
            let is_accepted = calm || chance.percent(95);
            network.answer_connection(end, is_accepted);
            if is_accepted {
                self.connections.insert(end, UpstreamConnection::default());
            }
            if !calm {
                return;
            }
        }
        let mut ends: Vec<UpstreamEnd> = self.connections.keys().copied().collect();
        if !calm && !ends.is_empty() {
            ends = vec![chance.pick(&ends)];
        }
        for end in ends {
            self.serve_connection(network, end, chance, calm, make);
        }
    }

    /// The proxy's process is gone, and all connections with it.
    pub(super) fn forget_connections(&mut self) {
        self.connections.clear();
    }

    fn serve_connection(
        &mut self,
        network: &Network,
        end: UpstreamEnd,
        chance: &mut Dice,
        calm: bool,
        make: &mut dyn FnMut(&mut Dice) -> ModelReply,
    ) {
        let Some(connection) = self.connections.get_mut(&end) else {
            return;
        };
        if let Some(pending) = &mut connection.response {
            let rest = pending.wire.len() - pending.sent;
            let piece = if calm { rest } else { chance.piece(rest) };
            let from = pending.sent;
            match network.upstream_sends(
                end,
                &pending.wire[from..(from + piece).min(pending.wire.len())],
            ) {
                None => {
                    self.connections.remove(&end);
                    return;
                }
                Some(count) => pending.sent += count,
            }
            if pending.sent == pending.wire.len() {
                let (call, then) = (pending.call, pending.then);
                self.response_sent(network, end, call, then, calm);
            }
            return;
        }
        match network.upstream_receives(end, usize::MAX) {
            Received::Nothing => {
                if !calm && chance.percent(2) {
                    network.upstream_ends(end);
                    self.connections.remove(&end);
                }
            }
            Received::Ended => {
                self.connections.remove(&end);
            }
            Received::Bytes(bytes) => {
                connection.received.extend_from_slice(&bytes);
                let Some(request) =
                    http::read_message(&connection.received, Framing::Request, false)
                else {
                    return;
                };
                if let Some(taken) = request.complete {
                    connection.received.drain(..taken);
                    let call = self.calls.len();
                    let (made, pending) = make_response(&request, call, chance, calm, make);
                    self.calls.push(made);
                    if let Some(connection) = self.connections.get_mut(&end) {
                        connection.response = Some(pending);
                    }
                }
            }
        }
    }

    fn response_sent(
        &mut self,
        network: &Network,
        end: UpstreamEnd,
        call: usize,
        then: AfterResponse,
        calm: bool,
    ) {
        if then == AfterResponse::Nothing && !calm {
            return;
        }
        match then {
            AfterResponse::KeepAlive => {
                self.calls[call].is_over = true;
                if let Some(connection) = self.connections.get_mut(&end) {
                    connection.response = None;
                }
                return;
            }
            AfterResponse::Close => {
                let call = &mut self.calls[call];
                call.is_over = call.trouble != ResponseTrouble::BreaksOff;
                network.upstream_ends(end);
            }
            AfterResponse::Reset | AfterResponse::Nothing => network.upstream_resets(end),
        }
        self.connections.remove(&end);
    }
}

fn make_response(
    request: &Message,
    number: usize,
    chance: &mut Dice,
    calm: bool,
    make: &mut dyn FnMut(&mut Dice) -> ModelReply,
) -> (UpstreamCall, PendingResponse) {
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
        (_, Some(speech)) if streams => (
            200,
            "text/event-stream",
            event_stream(speech, trouble, chance),
        ),
        (_, Some(speech)) => (200, "application/json", completion_body(speech, trouble)),
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
            // The cut may be in the head, in a chunk's size, or in a character.
            let kept = if chance.percent(25) {
                chance.below(head_bytes + 1)
            } else {
                chance.between(head_bytes, wire.len() - 1)
            };
            wire.truncate(kept);
            if ends == ResponseEnd::WithConnection && kept >= head_bytes {
                AfterResponse::Reset
            } else {
                chance.pick(&[AfterResponse::Reset, AfterResponse::Close])
            }
        }
        ResponseTrouble::Silent => {
            wire.clear();
            AfterResponse::Nothing
        }
        _ if ends == ResponseEnd::WithConnection => AfterResponse::Close,
        _ => chance.pick(&[
            AfterResponse::KeepAlive,
            AfterResponse::KeepAlive,
            AfterResponse::Close,
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
    let pending = PendingResponse {
        call: number,
        wire,
        sent: 0,
        then,
    };
    (call, pending)
}

/// The reply as it was made.
fn scripted(speech: &ModelReply) -> Reply {
    let call = speech.call.as_ref();
    let call = call.map(|(name, arguments)| Call::new(name, arguments.as_str().into()));
    let reply = Reply::text(speech.text.as_str()).calling(call);
    match speech.kind {
        ReplyKind::Cut => reply.ending("length"),
        _ => reply,
    }
}

/// The reply as a stream of events.
fn event_stream(speech: &ModelReply, trouble: ResponseTrouble, chance: &mut Dice) -> Vec<u8> {
    // Some texts are long: no more than so many events.
    let size = chance.piece(speech.text.len().max(1));
    let size = size.max(speech.text.len() / EVENTS_MAX);
    let reply = scripted(speech).in_pieces(size);
    let (_, mut events) = encoded(Dialect::ChatCompletions, true, &reply);
    // The reason and `[DONE]` are the last two.
    let said = events.len() - 2;
    match trouble {
        ResponseTrouble::ErrorEvent => {
            events.truncate(chance.between(1, said));
            let error = json!({"error": {"message": "out of memory"}});
            events.push(format!("data: {error}\n\n").into_bytes());
        }
        ResponseTrouble::NoDone => events.truncate(said),
        _ => {}
    }
    events.concat()
}

/// The reply as one JSON body.
fn completion_body(speech: &ModelReply, trouble: ResponseTrouble) -> Vec<u8> {
    let odd = match trouble {
        ResponseTrouble::ErrorEvent => {
            let error = json!({"message": "out of memory"});
            Some(("/error", Change::Set(error)))
        }
        ResponseTrouble::NoDone => Some(("/choices/0/finish_reason", Change::Drop(true))),
        _ => None,
    };
    let mut reply = scripted(speech);
    reply.odd.extend(odd.map(|(field, change)| Odd {
        event: None,
        field: field.to_owned(),
        change,
    }));
    encoded(Dialect::ChatCompletions, false, &reply).1.concat()
}
