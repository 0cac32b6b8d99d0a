//! Chat bodies and reply streams from the wire.

use tslp_core::message::{Role, ToolCall};
use tslp_core::outgoing::{Outgoing, OutgoingMessage};
use tslp_core::request::Request;
use tslp_wire::chat::dialect::Dialect;
use tslp_wire::chat::reply::ReplyDecoder;
use tslp_wire::chat::request::{self, KnownMessages, RequestBody, RequestEnvelope};
use tslp_wire::chat::rewrite::RewrittenMessages;

/// A body that is read can be written with the same messages, and means the same when it is read again, whatever dialect it
/// is taken for.
pub(crate) fn chat_request(data: &[u8]) {
    for dialect in Dialect::ALL {
        request_in(dialect, data);
    }
}

fn read_request<'d>(
    dialect: Dialect,
    data: &'d [u8],
    known: &mut KnownMessages,
) -> Option<(RequestBody<'d>, Request)> {
    let envelope = RequestEnvelope {
        dialect,
        ..RequestEnvelope::default()
    };
    request::read_request(data, envelope, known).ok()?
}

fn request_in(dialect: Dialect, data: &[u8]) {
    let mut known = KnownMessages::default();
    let Some((body, request)) = read_request(dialect, data, &mut known) else {
        return;
    };
    assert!(!request.messages.is_empty());
    let (_, known_request) =
        read_request(dialect, data, &mut known).expect("what was read before is read again");
    assert_eq!(request, known_request);
    let spoken = conversation_messages(&request);
    let outgoing = Outgoing {
        system: Some(request.system_text()),
        messages: spoken
            .iter()
            .map(|index| OutgoingMessage {
                index: *index,
                ..OutgoingMessage::default()
            })
            .collect(),
    };
    let written = body
        .with_messages(
            &request,
            &outgoing,
            &mut RewrittenMessages::default(),
            Vec::with_capacity,
        )
        .bytes;
    if spoken.is_empty() && outgoing.system.is_none_or(|system| system.is_empty()) {
        return;
    }
    let Some((_, again)) = read_request(dialect, &written, &mut KnownMessages::default()) else {
        panic!("{dialect:?}: {}", String::from_utf8_lossy(&written));
    };
    assert_eq!(again.model, request.model);
    assert_eq!(again.tools, request.tools);
    let before: Vec<_> = spoken
        .iter()
        .map(|index| &request.messages[*index])
        .collect();
    let after: Vec<_> = self::conversation_messages(&again)
        .into_iter()
        .map(|index| again.messages[index].clone())
        .collect();
    assert!(before.into_iter().eq(after.iter()));
}

/// Indices of all messages that aren't the system's.
fn conversation_messages(request: &Request) -> Vec<usize> {
    (0..request.messages.len())
        .filter(|index| request.messages[*index].role != Role::System)
        .collect()
}

/// A reply that comes to its end says the same, however its bytes are cut. One that is flawed counts for nothing, and
/// where it stops being read depends on the cuts.
pub(crate) fn reply_stream(data: &[u8]) {
    for dialect in Dialect::ALL {
        let whole = decode_reply(dialect, [data]);
        let bytes = decode_reply(dialect, data.chunks(1));
        let pieces = decode_reply(dialect, data.chunks(7));
        assert_eq!(whole, bytes, "{dialect:?}");
        assert_eq!(whole, pieces, "{dialect:?}");
    }
}

/// Text, tool calls and finish reason of a reply that came to its end.
type DecodedReply = Option<(String, Vec<ToolCall>, Option<String>)>;

fn decode_reply<'d>(dialect: Dialect, pieces: impl IntoIterator<Item = &'d [u8]>) -> DecodedReply {
    let mut decoder = ReplyDecoder::new(dialect);
    let mut text = String::new();
    for piece in pieces {
        text.push_str(&decoder.push(piece).text);
    }
    text.push_str(&decoder.end_message().text);
    if !decoder.is_finished() {
        return None;
    }
    let read = decoder.read_reply();
    let tool_calls = read.calls.into_iter().map(|(_, call)| call).collect();
    Some((text, tool_calls, read.finish_reason))
}
