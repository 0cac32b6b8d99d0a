//! Chat completions: requests, as Ollama's chat writes them, too, and replies.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use tslp_core::event::PartKind;
use tslp_core::message::Role;

use crate::chat::json_text::{empty_if_null, present_value, read_object};
use crate::chat::reply_content::{DecodedPiece, ReplyContent};
use crate::chat::wire_message::{
    ArgumentsForm, TextInsertion, WireMessage, own_last, read_content,
};

#[derive(Deserialize)]
struct ChatMessage<'b> {
    role: String,
    #[serde(borrow, default, deserialize_with = "present_value")]
    content: Option<&'b RawValue>,
    #[serde(borrow)]
    tool_calls: Option<Vec<ChatCall<'b>>>,
    #[serde(default, deserialize_with = "empty_if_null")]
    tool_call_id: String,
    #[serde(borrow)]
    reasoning_content: Option<&'b RawValue>,
    #[serde(borrow)]
    reasoning: Option<&'b RawValue>,
    #[serde(borrow)]
    thinking: Option<&'b RawValue>,
}

#[derive(Deserialize)]
struct ChatCall<'b> {
    #[serde(default, deserialize_with = "empty_if_null")]
    id: String,
    #[serde(borrow, default)]
    function: ChatFunction<'b>,
}

#[derive(Default, Deserialize)]
struct ChatFunction<'b> {
    #[serde(default)]
    name: String,
    #[serde(borrow)]
    arguments: Option<&'b RawValue>,
}

/// Reads a message; and how the client calls its role.
pub(in crate::chat) fn read_item(
    item: &str,
) -> Result<(Vec<WireMessage>, String), serde_json::Error> {
    let wire: ChatMessage<'_> = read_object(item)?;
    let mut own = WireMessage::new(Role::parse(&wire.role));
    own.message.answers = wire.tool_call_id;
    let mut others = Vec::new();
    match wire.content {
        Some(content) => read_content(item, content, |_| false, &mut own, &mut others)?,
        None => own.set_new_text(TextInsertion {
            at: item.len() - 1..item.len() - 1,
            before: ",\"content\":",
            after: "",
        }),
    }
    for call in wire.tool_calls.into_iter().flatten() {
        let ChatFunction { name, arguments } = call.function;
        let name = (call.id, name);
        match arguments {
            // Ollama's clients write them as they are.
            Some(arguments) if arguments.get().starts_with('{') => {
                own.add_call(item, name, arguments, ArgumentsForm::Json)?;
            }
            Some(arguments) => own.add_call(item, name, arguments, ArgumentsForm::JsonInString)?,
            None => own.add_bare_call(name),
        }
    }
    let thoughts = [wire.reasoning_content, wire.reasoning, wire.thinking];
    for thought in thoughts.into_iter().flatten() {
        own.add_thought(item, thought);
    }
    Ok((own_last(own, others), wire.role))
}

/// Takes a chunk of a reply, or a whole one.
pub(in crate::chat) fn take_reply(
    reply: &mut ReplyContent,
    json: &[u8],
    said: &mut DecodedPiece,
) -> Result<(), serde_json::Error> {
    let chunk: StreamChunk = serde_json::from_slice(json)?;
    if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
        reply.note_error(&error, said);
    }
    let mut is_read = false;
    for choice in chunk.choices {
        let index = choice.index.unwrap_or(0);
        if index == 0
            && let Some(reason) = choice.finish_reason
        {
            reply.finish_reason = Some(reason);
        }
        if let Some(text) = choice.text {
            said.add_text(index, &text);
            is_read = true;
        }
        if let Some(delta) = choice.delta.or(choice.message) {
            take_delta(reply, index, delta, said);
            is_read = true;
        }
    }
    if is_read {
        reply.count_json_bytes(json.len());
    }
    Ok(())
}

fn take_delta(reply: &mut ReplyContent, choice: u32, delta: ChoiceDelta, said: &mut DecodedPiece) {
    let mut thoughts = String::new();
    let fields = [delta.reasoning_content, delta.reasoning, delta.thinking];
    // Some servers say the same under two names.
    if let Some(thought) = fields.into_iter().flatten().next() {
        thought.push_to(&mut thoughts, &mut String::new());
    }
    let mut text = String::new();
    if let Some(content) = delta.content {
        content.push_to(&mut text, &mut thoughts);
    }
    let mut calls = String::new();
    for (position, fragment) in delta.tool_calls.into_iter().enumerate() {
        let FunctionFragment { name, arguments } = fragment.function;
        if choice == 0 {
            let number = fragment.index.unwrap_or(position);
            reply.add_call_piece(number, &name, &arguments);
            reply.end_closed_call(number, &arguments);
        } else {
            if !name.is_empty() {
                calls.push_str(&format!("\n{name} "));
            }
            calls.push_str(&arguments);
        }
    }
    said.add_part(PartKind::Reasoning, choice, &thoughts);
    said.add_part(PartKind::Refusal, choice, &delta.refusal);
    said.add_text(choice, &text);
    said.add_part(PartKind::OtherToolCalls, choice, &calls);
}

#[derive(Deserialize)]
struct StreamChunk {
    #[serde(default, deserialize_with = "empty_if_null")]
    choices: Vec<ChunkChoice>,
    error: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct ChunkChoice {
    index: Option<u32>,
    delta: Option<ChoiceDelta>,
    message: Option<ChoiceDelta>,
    /// The text of a reply to completions.
    text: Option<String>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct ChoiceDelta {
    content: Option<DeltaContent>,
    #[serde(default, deserialize_with = "empty_if_null")]
    tool_calls: Vec<CallFragment>,
    reasoning_content: Option<DeltaContent>,
    reasoning: Option<DeltaContent>,
    thinking: Option<DeltaContent>,
    #[serde(default, deserialize_with = "empty_if_null")]
    refusal: String,
}

/// Reasoning models of some servers answer in parts, as clients may ask.
#[derive(Deserialize)]
#[serde(untagged)]
enum DeltaContent {
    Text(String),
    Parts(Vec<ContentPart>),
    Other(IgnoredAny),
}

#[derive(Deserialize)]
struct ContentPart {
    #[serde(default, deserialize_with = "empty_if_null")]
    text: String,
    thinking: Option<DeltaContent>,
}

impl DeltaContent {
    fn push_to(self, said: &mut String, thoughts: &mut String) {
        match self {
            Self::Text(text) => said.push_str(&text),
            Self::Parts(parts) => {
                for part in parts {
                    said.push_str(&part.text);
                    if let Some(thinking) = part.thinking {
                        let mut thought = String::new();
                        thinking.push_to(&mut thought, &mut String::new());
                        thoughts.push_str(&thought);
                    }
                }
            }
            Self::Other(_) => {}
        }
    }
}

#[derive(Deserialize)]
struct CallFragment {
    index: Option<usize>,
    #[serde(default)]
    function: FunctionFragment,
}

#[derive(Default, Deserialize)]
struct FunctionFragment {
    #[serde(default, deserialize_with = "empty_if_null")]
    name: String,
    #[serde(default, deserialize_with = "empty_if_null")]
    arguments: String,
}
