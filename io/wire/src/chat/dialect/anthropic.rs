//! Anthropic's messages, as Claude Code speaks them.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tslp_core::capture;
use tslp_core::event::PartKind;
use tslp_core::message::Role;

use crate::chat::json_text::{present_value, read_object};
use crate::chat::lenient::Fields as _;
use crate::chat::reply_content::{DecodedPiece, EventRole, ReplyContent, SURPLUS};
use crate::chat::wire_message::{WireMessage, own_last, read_content};

/// How Codex begins a message with the project's instructions for agents.
const INSTRUCTIONS_HEAD: &str = "# AGENTS.md instructions for ";

/// Whether a text in a user's message is a client's own: an element by itself, which people don't type.
pub(in crate::chat) fn is_clients_text(text: &str) -> bool {
    let text = text.trim();
    let is_element = || match &*capture::foreign_parts(text) {
        [part] => !part.is_attachment && part.range == (0..text.len()),
        _ => false,
    };
    text.starts_with(INSTRUCTIONS_HEAD) || text.starts_with('<') && is_element()
}

#[derive(Deserialize)]
struct AnthropicMessage<'b> {
    role: String,
    #[serde(borrow, default, deserialize_with = "present_value")]
    content: Option<&'b RawValue>,
}

/// Reads a message. Its tool results are messages of their own.
pub(in crate::chat) fn read_item(item: &str) -> Result<Vec<WireMessage>, serde_json::Error> {
    let wire: AnthropicMessage<'_> = read_object(item)?;
    let mut own = WireMessage::new(Role::parse(&wire.role));
    let mut others = Vec::new();
    if let Some(content) = wire.content {
        read_content(item, content, is_clients_text, &mut own, &mut others)?;
    }
    Ok(own_last(own, others))
}

/// Takes an event of a reply, or a whole one.
pub(in crate::chat) fn take_reply(
    reply: &mut ReplyContent,
    event: &Value,
    said: &mut DecodedPiece,
) {
    let kind = event.text("type");
    if let Some(error) = event.said("error") {
        reply.note_error(error, said);
    }
    let begins = event["content_block"].is_object();
    let number = reply.item_position(event.number("index"), "", begins);
    // A block of this number that begins again is none of the call's.
    let had_ended = reply.has_ended(number) || begins && reply.call(number).is_some();
    if begins && !had_ended {
        take_block(reply, number, &event["content_block"], said);
    }
    for list in [event.list("content"), event["message"].list("content")] {
        for (number, block) in list.iter().enumerate() {
            if reply.has_ended(number) {
                said.calls.push(SURPLUS);
                continue;
            }
            take_block(reply, number, block, said);
            reply.end_call(number);
            said.calls.extend(reply.call(number).map(|_| number));
        }
    }
    let delta = &event["delta"];
    reply.add_block_text(number as u64, delta.text("text"), said);
    said.add_part(PartKind::Reasoning, 0, delta.text("thinking"));
    let more = delta.text("partial_json");
    if !more.is_empty() {
        // Pieces take the place of what the block began with.
        reply.add_call_piece(number, "", more);
    }
    for place in [delta, event] {
        if let Some(reason) = place.word("stop_reason") {
            reply.finish_reason = Some(reason.to_owned());
        }
    }
    for usage in [&event["message"]["usage"], &event["usage"]] {
        take_usage(reply, usage);
    }
    let is_of_call =
        delta.get("partial_json").is_some() || event["content_block"]["type"] == "tool_use";
    let is_stop = kind == "content_block_stop" && !had_ended;
    if reply.call(number).is_some() && (is_of_call || is_stop) {
        said.calls.push(if had_ended { SURPLUS } else { number });
    }
    match kind {
        "content_block_start" => reply.open_block = Some(number as u64),
        "content_block_stop" => {
            reply.end_call(number);
            reply.open_block = None;
        }
        "message_stop" => reply.end_was_said(),
        _ => {}
    }
    said.role = match kind {
        "content_block_start" if event["content_block"]["type"] == "text" => EventRole::OpensText,
        "content_block_start" => EventRole::OpensOther,
        "content_block_stop" | "message_delta" | "message_stop" => EventRole::Ends,
        _ => EventRole::Content,
    };
}

fn take_block(reply: &mut ReplyContent, number: usize, block: &Value, said: &mut DecodedPiece) {
    match block.text("type") {
        "tool_use" => {
            reply.add_call_piece(number, block.text("name"), "");
            // An empty object is a place holder in a stream, and in a whole reply what no arguments are written as.
            reply.begin_arguments(number, block.text("id"), block.arguments("input"));
        }
        "thinking" => said.add_part(PartKind::Reasoning, 0, block.text("thinking")),
        _ => reply.add_block_text(number as u64, block.text("text"), said),
    }
}

/// The prompt's tokens come in three sums.
fn take_usage(reply: &mut ReplyContent, usage: &Value) {
    let fresh = usage.figure("input_tokens");
    let cached = usage.figure("cache_read_input_tokens");
    let stored = usage.figure("cache_creation_input_tokens");
    let known = &mut reply.usage;
    if let Some(fresh) = fresh.filter(|fresh| *fresh > 0) {
        let sums = [cached, stored].into_iter().flatten();
        known.prompt_tokens = Some(sums.fold(fresh, u32::saturating_add));
    }
    known.cached_tokens = cached.or(known.cached_tokens);
    known.completion_tokens = usage.figure("output_tokens").or(known.completion_tokens);
}
