//! The dialects that clients and model servers speak. A module below turns a request's items into messages (`read_item`) and a
//! reply's pieces into text (`take_reply`); `by_dialect.rs` chooses among them; the methods of [`Dialect`] say what else differs.
//! Completions read a request as `prompt_text` and a reply as `openai_chat`; Ollama's chat is read as `openai_chat`. A new dialect
//! needs a variant here (the compiler asks for the rest), its row in docs/clients.md, and a conversation in
//! `io/tests/e2e/dialects.rs`.
//!
//! | dialect | route | messages | system message | reply |
//! |---|---|---|---|---|
//! | OpenAI chat completions | `/v1/chat/completions` | `messages` | among them | server-sent events |
//! | OpenAI completions | `/v1/completions` | `prompt` | none | server-sent events |
//! | OpenAI responses | `/v1/responses` | `input` | `instructions` | server-sent events |
//! | Anthropic messages | `/v1/messages` | `messages` | `system` | server-sent events |
//! | Ollama chat | `/api/chat` | `messages` | among them | JSON lines |
//! | Ollama generate | `/api/generate` | `prompt` | `system` | JSON lines |

pub(super) mod anthropic;
pub(super) mod ollama;
pub(super) mod openai_chat;
pub(super) mod openai_responses;
pub(super) mod prompt_text;

/// An API for chat requests and their replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// OpenAI's chat completions, which every model server speaks.
    #[default]
    ChatCompletions,
    /// OpenAI's completions: a text that the model goes on with.
    Completions,
    /// OpenAI's responses.
    Responses,
    /// Anthropic's messages.
    Messages,
    /// Ollama's chat.
    OllamaChat,
    /// Ollama's generate.
    OllamaGenerate,
}

/// The JSON form of a request's messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum MessagesForm {
    /// An array.
    #[default]
    Array,
    /// One text.
    Text,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::ChatCompletions,
        Self::Completions,
        Self::Responses,
        Self::Messages,
        Self::OllamaChat,
        Self::OllamaGenerate,
    ];

    /// The dialect whose route this is.
    #[must_use]
    pub fn of_path(path: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|dialect| dialect.route_path() == path)
    }

    /// The route, at the proxy and at the model server.
    #[must_use]
    pub const fn route_path(self) -> &'static str {
        match self {
            Self::ChatCompletions => "/v1/chat/completions",
            Self::Completions => "/v1/completions",
            Self::Responses => "/v1/responses",
            Self::Messages => "/v1/messages",
            Self::OllamaChat => "/api/chat",
            Self::OllamaGenerate => "/api/generate",
        }
    }

    /// The name that people know it by.
    #[must_use]
    pub const fn display_name(self) -> &'static str {
        match self {
            Self::ChatCompletions => "OpenAI's chat completions",
            Self::Completions => "OpenAI's completions",
            Self::Responses => "OpenAI's responses",
            Self::Messages => "Anthropic's messages",
            Self::OllamaChat => "Ollama's chat",
            Self::OllamaGenerate => "Ollama's generate",
        }
    }

    /// The field of a request that holds the messages.
    pub(super) const fn messages_field(self) -> &'static str {
        match self {
            Self::ChatCompletions | Self::Messages | Self::OllamaChat => "messages",
            Self::Responses => "input",
            Self::Completions | Self::OllamaGenerate => "prompt",
        }
    }

    /// The field of a request that holds the system message, where that isn't one of the messages.
    pub(super) const fn system_field(self) -> Option<&'static str> {
        match self {
            Self::ChatCompletions | Self::OllamaChat | Self::Completions => None,
            Self::Messages | Self::OllamaGenerate => Some("system"),
            Self::Responses => Some("instructions"),
        }
    }

    /// Whether system messages are among the messages.
    pub(super) const fn has_system_messages(self) -> bool {
        matches!(self, Self::ChatCompletions | Self::OllamaChat)
    }

    /// Whether a request may come without messages: Ollama loads a model at one without a prompt, and a prompt may be a list of
    /// tokens.
    pub(super) const fn may_lack_messages(self) -> bool {
        !matches!(self, Self::ChatCompletions | Self::Messages)
    }

    /// Whether the prompt is a text that need not be anybody's words.
    #[must_use]
    pub const fn is_bare_prompt(self) -> bool {
        matches!(self, Self::Completions | Self::OllamaGenerate)
    }

    /// Whether a stream has a JSON value in each line, and not server-sent events.
    pub(super) const fn streams_json_lines(self) -> bool {
        matches!(self, Self::OllamaChat | Self::OllamaGenerate)
    }

    /// Whether its clients parse a call's arguments and write them anew when they send them back.
    pub(super) const fn rewrites_arguments(self) -> bool {
        matches!(self, Self::Messages)
    }

    /// Whether the messages may be a single text.
    pub(super) const fn takes_text(self) -> bool {
        matches!(
            self,
            Self::Responses | Self::Completions | Self::OllamaGenerate
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documented_routes() {
        let page = include_str!("../../../../docs/clients.md");
        for dialect in Dialect::ALL {
            let route = dialect.route_path();
            assert!(page.contains(route), "docs/clients.md lacks {route}");
        }
    }
}
