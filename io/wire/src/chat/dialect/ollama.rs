//! Replies of Ollama's own routes: a JSON value in each line. Its requests are those of chat completions, or a text.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tslp_core::event::PartKind;
use tslp_core::hash::ArtifactHash;

use crate::chat::json_text::{canonical_json, empty_if_null};
use crate::chat::reply_content::{DecodedPiece, ReplyContent};

#[derive(Deserialize)]
struct StreamLine {
    message: Option<LineMessage>,
    /// The text of a reply to generate.
    #[serde(default, deserialize_with = "empty_if_null")]
    response: String,
    #[serde(default, deserialize_with = "empty_if_null")]
    thinking: String,
    #[serde(default)]
    done: bool,
    done_reason: Option<String>,
    /// The tokens of the conversation, by which a client of generate goes on from this reply.
    context: Option<Box<RawValue>>,
    prompt_eval_count: Option<u32>,
    eval_count: Option<u32>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct LineMessage {
    #[serde(default, deserialize_with = "empty_if_null")]
    content: String,
    #[serde(default, deserialize_with = "empty_if_null")]
    thinking: String,
    tool_calls: Option<Vec<LineCall>>,
}

#[derive(Deserialize)]
struct LineCall {
    #[serde(default)]
    function: LineFunction,
}

#[derive(Default, Deserialize)]
struct LineFunction {
    #[serde(default)]
    name: String,
    arguments: Option<Box<RawValue>>,
}

/// The name of a conversation that client and server keep as tokens; `None` without any.
pub(in crate::chat) fn context_id(tokens: &str) -> Option<String> {
    let tokens = canonical_json(tokens);
    let is_list = tokens.starts_with('[') && tokens.len() > "[]".len();
    is_list.then(|| ArtifactHash::of(tokens.as_bytes()).to_string())
}

/// Takes a line of a reply, or a whole one.
pub(in crate::chat) fn take_reply(
    reply: &mut ReplyContent,
    json: &[u8],
    said: &mut DecodedPiece,
) -> Result<(), serde_json::Error> {
    let line: StreamLine = serde_json::from_slice(json)?;
    reply.count_json_bytes(json.len());
    if let Some(error) = line.error.filter(|error| !error.is_null()) {
        reply.note_error(&error, said);
    }
    said.add_text(0, &line.response);
    said.add_part(PartKind::Reasoning, 0, &line.thinking);
    if let Some(message) = line.message {
        said.add_text(0, &message.content);
        said.add_part(PartKind::Reasoning, 0, &message.thinking);
        // Each call comes whole.
        for LineCall { function } in message.tool_calls.into_iter().flatten() {
            let arguments = function
                .arguments
                .map_or("{}".to_owned(), |arguments| canonical_json(arguments.get()));
            let number = reply.tool_calls.len();
            reply.set_call(number, &function.name, arguments);
        }
    }
    if line.done {
        let reason = line.done_reason.unwrap_or_else(|| "stop".to_owned());
        reply.finish_reason = Some(reason);
        let context = line.context.and_then(|it| context_id(it.get()));
        reply.response_id = context.or(reply.response_id.take());
        let usage = &mut reply.usage;
        usage.prompt_tokens = line.prompt_eval_count.or(usage.prompt_tokens);
        usage.completion_tokens = line.eval_count.or(usage.completion_tokens);
    }
    Ok(())
}
