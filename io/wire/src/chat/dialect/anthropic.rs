//! Anthropic's messages, as Claude Code speaks them.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tslp_core::capture;
use tslp_core::event::PartKind;
use tslp_core::message::Role;

use crate::chat::json_text::{canonical_json, empty_if_null, present_value, read_object};
use crate::chat::reply_content::{DecodedPiece, ReplyContent};
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

#[derive(Deserialize)]
struct StreamEvent {
    #[serde(rename = "type", default)]
    kind: String,
    index: Option<u32>,
    content_block: Option<ContentBlock>,
    delta: Option<BlockDelta>,
    /// The message of a `message_start` event.
    message: Option<Value>,
    /// The blocks of a message that came as one body.
    #[serde(default, deserialize_with = "empty_if_null")]
    content: Vec<ContentBlock>,
    stop_reason: Option<String>,
    usage: Option<Value>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct ContentBlock {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default, deserialize_with = "empty_if_null")]
    text: String,
    #[serde(default, deserialize_with = "empty_if_null")]
    thinking: String,
    #[serde(default, deserialize_with = "empty_if_null")]
    name: String,
    input: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct BlockDelta {
    #[serde(default, deserialize_with = "empty_if_null")]
    text: String,
    #[serde(default, deserialize_with = "empty_if_null")]
    thinking: String,
    partial_json: Option<String>,
    stop_reason: Option<String>,
}

/// Takes an event of a reply, or a whole one.
pub(in crate::chat) fn take_reply(
    reply: &mut ReplyContent,
    json: &[u8],
    said: &mut DecodedPiece,
) -> Result<(), serde_json::Error> {
    let event: StreamEvent = serde_json::from_slice(json)?;
    reply.count_json_bytes(json.len());
    let index = event.index.unwrap_or(0);
    if let Some(error) = event.error.filter(|error| !error.is_null()) {
        reply.note_error(&error, said);
    }
    if let Some(block) = event.content_block {
        take_block(reply, index, block, BlockWholeness::Begun, said);
    }
    for (index, block) in (0..).zip(event.content) {
        take_block(reply, index, block, BlockWholeness::Whole, said);
    }
    if let Some(delta) = event.delta {
        reply.add_block_text(index.into(), &delta.text, said);
        said.add_part(PartKind::Reasoning, 0, &delta.thinking);
        if let Some(json) = delta.partial_json {
            reply.add_call_piece(index as usize, "", &json);
        }
        if let Some(reason) = delta.stop_reason {
            reply.finish_reason = Some(reason);
        }
    }
    if let Some(reason) = event.stop_reason {
        reply.finish_reason = Some(reason);
    }
    let begun = event
        .message
        .as_ref()
        .and_then(|message| message.get("usage"));
    for usage in [begun, event.usage.as_ref()].into_iter().flatten() {
        take_usage(reply, usage);
    }
    match event.kind.as_str() {
        "content_block_stop" => reply.end_call(index as usize),
        "message_stop" => reply.end_was_said(),
        _ => {}
    }
    Ok(())
}

/// Whether more of a block follows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BlockWholeness {
    Begun,
    Whole,
}

fn take_block(
    reply: &mut ReplyContent,
    index: u32,
    block: ContentBlock,
    wholeness: BlockWholeness,
    said: &mut DecodedPiece,
) {
    match block.kind.as_str() {
        "tool_use" => {
            let arguments = match (wholeness, &block.input) {
                (BlockWholeness::Whole, Some(input)) => canonical_json(input.get()),
                // What a block begins with is a place holder.
                _ => String::new(),
            };
            reply.add_call_piece(index as usize, &block.name, &arguments);
            if wholeness == BlockWholeness::Whole {
                reply.end_call(index as usize);
            }
        }
        "thinking" => said.add_part(PartKind::Reasoning, 0, &block.thinking),
        _ => reply.add_block_text(index.into(), &block.text, said),
    }
}

/// The prompt's tokens come in three sums.
fn take_usage(reply: &mut ReplyContent, usage: &Value) {
    let figure = |name: &str| u32::try_from(usage.get(name)?.as_u64()?).ok();
    let fresh = figure("input_tokens");
    let cached = figure("cache_read_input_tokens");
    let stored = figure("cache_creation_input_tokens");
    let known = &mut reply.usage;
    if let Some(fresh) = fresh.filter(|fresh| *fresh > 0) {
        let sums = [cached, stored].into_iter().flatten();
        known.prompt_tokens = Some(sums.fold(fresh, u32::saturating_add));
    }
    known.cached_tokens = cached.or(known.cached_tokens);
    known.completion_tokens = figure("output_tokens").or(known.completion_tokens);
}
