//! How much of a prompt a model reads at once, and what happens to the rest.

use alloc::format;
use alloc::string::String;

use crate::event::{ServerKind, WindowExceeded};

impl ServerKind {
    /// What lets a model read so many tokens there.
    fn remedy(self, tokens: u32) -> String {
        let way = match self {
            Self::Ollama => format!("Set OLLAMA_CONTEXT_LENGTH={tokens} for Ollama"),
            Self::LlamaCpp => format!("Start llama.cpp with --ctx-size {tokens} (for each slot)"),
            Self::LmStudio => {
                format!("Load the model with a context length of {tokens} in LM Studio")
            }
            Self::Vllm => format!("Start vLLM with --max-model-len {tokens}"),
            Self::Other => format!("Give the model a context of {tokens} tokens"),
        };
        format!("{way}, or begin a new conversation.")
    }
}

impl WindowExceeded {
    /// What happened, and what the user can do: one or two sentences.
    #[must_use]
    pub fn sentence(&self) -> String {
        let (model, prompt) = (&*self.model, self.prompt);
        let model = if model.is_empty() { "The model" } else { model };
        let needed = prompt
            .saturating_add(prompt / 4)
            .max(1024)
            .next_power_of_two();
        let remedy = self.server.remedy(needed);
        match (self.window, self.read) {
            (Some(window), None) => format!(
                "{model} reads {window} tokens, and this request has about {prompt}: the server cuts a part of it off. {remedy}"
            ),
            (Some(window), Some(read)) => format!(
                "{model} reads {window} tokens, and of a request of about {prompt} the server read {read}: the rest was cut off. {remedy}"
            ),
            (None, Some(read)) => format!(
                "{model} read {read} tokens of a request of about {prompt}: the server cut the rest off. {remedy}"
            ),
            (None, None) => format!("{model} may not read all of about {prompt} tokens. {remedy}"),
        }
    }
}
