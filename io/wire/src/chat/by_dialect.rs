//! The one place that knows the modules of all dialects, and chooses among them.

use serde_json::Value;
use tslp_core::message::Role;

use super::dialect::{Dialect, MessagesForm};
use super::dialect::{anthropic, ollama, openai_chat, openai_responses, prompt_text};
use super::reply_content::{DecodedPiece, ReplyContent};
use super::wire_message::WireMessage;

/// Reads the messages of one JSON value of a request. With them comes the client's name for the role, where system messages are
/// among the messages.
///
/// # Errors
/// When the value is no message of the dialect.
pub(super) fn read_messages(
    dialect: Dialect,
    form: MessagesForm,
    json: &str,
) -> Result<(Vec<WireMessage>, Option<String>), serde_json::Error> {
    match (dialect, form) {
        (_, MessagesForm::Text) => Ok((prompt_text::read_text(json, Role::User)?, None)),
        (Dialect::Messages, _) => Ok((anthropic::read_item(json)?, None)),
        (Dialect::Responses, _) => Ok((openai_responses::read_items(json)?, None)),
        (
            Dialect::ChatCompletions
            | Dialect::OllamaChat
            | Dialect::Completions
            | Dialect::OllamaGenerate,
            _,
        ) => {
            let (messages, role) = openai_chat::read_item(json)?;
            Ok((messages, Some(role)))
        }
    }
}

/// Tells the items of the model's turns from all others, where several items of a request may make up one turn.
pub(super) fn turn_items(dialect: Dialect) -> Option<fn(&str) -> bool> {
    match dialect {
        Dialect::Responses => Some(openai_responses::is_of_model),
        Dialect::ChatCompletions
        | Dialect::Completions
        | Dialect::Messages
        | Dialect::OllamaChat
        | Dialect::OllamaGenerate => None,
    }
}

/// Takes a JSON value of a reply: a part of a stream, or a whole reply.
pub(super) fn take_reply(
    dialect: Dialect,
    content: &mut ReplyContent,
    json: &Value,
    said: &mut DecodedPiece,
) {
    match dialect {
        Dialect::ChatCompletions | Dialect::Completions => {
            openai_chat::take_reply(content, json, said);
        }
        Dialect::Responses => openai_responses::take_reply(content, json, said),
        Dialect::Messages => anthropic::take_reply(content, json, said),
        Dialect::OllamaChat | Dialect::OllamaGenerate => ollama::take_reply(content, json, said),
    }
}
