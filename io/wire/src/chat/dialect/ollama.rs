//! Replies of Ollama's own routes: a JSON value in each line. Its requests are those of chat completions, or a text.

use serde_json::Value;
use tslp_core::event::PartKind;
use tslp_core::hash::ArtifactHash;

use crate::chat::json_text::canonical_json;
use crate::chat::lenient::Fields as _;
use crate::chat::reply_content::{DecodedPiece, EventRole, ReplyContent};

/// The name of a conversation that client and server keep as tokens; `None` without any.
pub(in crate::chat) fn context_id(tokens: &str) -> Option<String> {
    let tokens = canonical_json(tokens);
    let is_list = tokens.starts_with('[') && tokens.len() > "[]".len();
    is_list.then(|| ArtifactHash::of(tokens.as_bytes()).to_string())
}

/// Takes a line of a reply, or a whole one.
pub(in crate::chat) fn take_reply(reply: &mut ReplyContent, line: &Value, said: &mut DecodedPiece) {
    if let Some(error) = line.said("error") {
        reply.note_error(error, said);
    }
    said.add_text(0, line.text("response"));
    said.add_part(PartKind::Reasoning, 0, line.text("thinking"));
    let message = &line["message"];
    said.add_text(0, message.text("content"));
    said.add_part(PartKind::Reasoning, 0, message.text("thinking"));
    // Each call comes whole.
    for call in message.list("tool_calls") {
        let function = &call["function"];
        let arguments = match function.arguments("arguments") {
            empty if empty.is_empty() => "{}".to_owned(),
            arguments => canonical_json(&arguments),
        };
        let number = reply.calls.len();
        reply.set_call(number, (call.text("id"), function.text("name")), arguments);
        said.calls.push(number);
    }
    if line["done"] == true {
        said.role = EventRole::Ends;
        reply.end_was_said();
        let reason = line.word("done_reason").unwrap_or("stop");
        reply.finish_reason = Some(reason.to_owned());
        let context = line
            .get("context")
            .and_then(|it| context_id(&it.to_string()));
        reply.response_id = context.or(reply.response_id.take());
        let usage = &mut reply.usage;
        usage.prompt_tokens = line.figure("prompt_eval_count").or(usage.prompt_tokens);
        usage.completion_tokens = line.figure("eval_count").or(usage.completion_tokens);
    }
}
