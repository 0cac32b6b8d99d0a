//! A conversation as data, and as a request in each dialect.

use serde_json::{Value, json};
use tslp_wire::chat::dialect::Dialect;

use crate::reply::Call;

/// A request for a reply.
#[derive(Clone, Debug, Default)]
pub struct Prompt {
    /// The system message; none if it is empty.
    pub system: String,
    /// The conversation. A bare prompt has its texts, a line each.
    pub turns: Vec<Turn>,
    /// The tools that are offered: name and schema.
    pub tools: Vec<(String, Value)>,
    /// Whether a stream is asked for.
    pub streams: bool,
}

/// One message.
#[derive(Clone, Debug)]
pub enum Turn {
    /// The user's.
    User(String),
    /// The model's, with its calls.
    Model(String, Vec<Call>),
    /// What the model's last call of this number returned.
    Result(usize, String),
}

impl Prompt {
    /// One message of the user's.
    #[must_use]
    pub fn user(text: &str) -> Self {
        Self {
            turns: vec![Turn::User(text.to_owned())],
            ..Self::default()
        }
    }

    /// With one more message.
    #[must_use]
    pub fn then(mut self, turn: Turn) -> Self {
        self.turns.push(turn);
        self
    }

    /// With a tool of which the schema is an object with these texts, all of them required.
    #[must_use]
    pub fn offering(mut self, name: &str, texts: &[&str]) -> Self {
        let properties = texts
            .iter()
            .map(|it| ((*it).to_owned(), json!({"type": "string"})));
        let properties: serde_json::Map<String, Value> = properties.collect();
        let schema = json!({"type": "object", "properties": properties, "required": texts});
        self.tools.push((name.to_owned(), schema));
        self
    }

    /// For a stream, or for a whole reply.
    #[must_use]
    pub const fn streaming(mut self, streams: bool) -> Self {
        self.streams = streams;
        self
    }

    /// The request's body.
    #[must_use]
    pub fn body(&self, dialect: Dialect) -> Value {
        let mut body = json!({"model": "m", "stream": self.streams});
        let messages = self.turns.iter().enumerate();
        let messages = messages.flat_map(|(at, turn)| self.message(dialect, at, turn));
        let messages: Vec<Value> = messages.collect();
        let has_system = !self.system.is_empty();
        match dialect {
            Dialect::ChatCompletions | Dialect::OllamaChat => {
                let system = json!({"role": "system", "content": self.system});
                let system = Some(system).filter(|_| has_system);
                body["messages"] = system.into_iter().chain(messages).collect();
            }
            Dialect::Messages => {
                body["max_tokens"] = 4096.into();
                if has_system {
                    body["system"] = json!([{"type": "text", "text": self.system}]);
                }
                body["messages"] = messages.into();
            }
            Dialect::Responses => {
                if has_system {
                    body["instructions"] = self.system.as_str().into();
                }
                body["input"] = messages.into();
            }
            Dialect::Completions | Dialect::OllamaGenerate => {
                if has_system && dialect == Dialect::OllamaGenerate {
                    body["system"] = self.system.as_str().into();
                }
                let texts = self.turns.iter().map(|turn| match turn {
                    Turn::User(text) | Turn::Model(text, _) | Turn::Result(_, text) => &**text,
                });
                body["prompt"] = texts.collect::<Vec<_>>().join("\n").into();
            }
        }
        if !self.tools.is_empty() && !dialect.is_bare_prompt() {
            let tools = self.tools.iter().map(|(name, schema)| match dialect {
                Dialect::Messages => json!({"name": name, "input_schema": schema}),
                Dialect::Responses => {
                    json!({"type": "function", "name": name, "parameters": schema})
                }
                _ => json!({"type": "function", "function": {"name": name, "parameters": schema}}),
            });
            body["tools"] = tools.collect();
        }
        body
    }

    /// One turn as the dialect's messages or items.
    fn message(&self, dialect: Dialect, at: usize, turn: &Turn) -> Vec<Value> {
        let typed = |role: &str, kind: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
        let function = |call: &Call| json!({"name": call.name, "arguments": call.text()});
        match (turn, dialect) {
            (Turn::User(text), Dialect::Responses) => vec![typed("user", "input_text", text)],
            (Turn::User(text), _) => vec![json!({"role": "user", "content": text})],
            (Turn::Model(text, calls), Dialect::Responses) => {
                let said =
                    Some(typed("assistant", "output_text", text)).filter(|_| !text.is_empty());
                let calls = calls.iter().enumerate().map(|(number, call)| {
                    json!({"type": "function_call", "call_id": id(at, number), "name": call.name, "arguments": call.text()})
                });
                said.into_iter().chain(calls).collect()
            }
            (Turn::Model(text, calls), Dialect::Messages) => {
                let said = Some(json!({"type": "text", "text": text})).filter(|_| !text.is_empty());
                let calls = calls.iter().enumerate().map(|(number, call)| {
                    json!({"type": "tool_use", "id": id(at, number), "name": call.name, "input": call.arguments})
                });
                let content: Vec<Value> = said.into_iter().chain(calls).collect();
                vec![json!({"role": "assistant", "content": content})]
            }
            (Turn::Model(text, calls), dialect) => {
                let mut message = json!({"role": "assistant", "content": text});
                if !calls.is_empty() {
                    let calls = calls.iter().enumerate().map(|(number, call)| match dialect {
                        Dialect::OllamaChat => json!({"function": {"name": call.name, "arguments": call.arguments}}),
                        _ => json!({"id": id(at, number), "type": "function", "function": function(call)}),
                    });
                    message["tool_calls"] = calls.collect();
                }
                vec![message]
            }
            (Turn::Result(number, text), _) => {
                let asked = self.turns[..at]
                    .iter()
                    .rposition(|it| matches!(it, Turn::Model(..)));
                let id = id(asked.unwrap_or_default(), *number);
                let name = asked.and_then(|asked| match &self.turns[asked] {
                    Turn::Model(_, calls) => calls.get(*number).map(|call| call.name.clone()),
                    _ => None,
                });
                vec![match dialect {
                    Dialect::Responses => {
                        json!({"type": "function_call_output", "call_id": id, "output": text})
                    }
                    Dialect::Messages => {
                        let part =
                            json!({"type": "tool_result", "tool_use_id": id, "content": text});
                        json!({"role": "user", "content": [part]})
                    }
                    Dialect::OllamaChat => {
                        json!({"role": "tool", "tool_name": name, "content": text})
                    }
                    _ => json!({"role": "tool", "tool_call_id": id, "content": text}),
                }]
            }
        }
    }
}

/// The id of a call in a conversation.
fn id(turn: usize, number: usize) -> String {
    format!("c{turn}_{number}")
}
