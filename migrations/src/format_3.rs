//! Layouts of format 3 that have changed since.

use rkyv::{Archive, Deserialize, Serialize};
use tslp_core::event::{self, PromptCost};

/// Didn't say how long the reply was.
#[derive(Archive, Serialize, Deserialize)]
pub struct PromptMeasured {
    client: PromptCost,
    sent: PromptCost,
    server: Option<ServerUsage>,
}

#[derive(Archive, Serialize, Deserialize)]
struct ServerUsage {
    prompt_tokens: Option<u32>,
    cached_tokens: Option<u32>,
    evaluated_tokens: Option<u32>,
}

impl From<PromptMeasured> for event::PromptMeasured {
    fn from(past: PromptMeasured) -> Self {
        let PromptMeasured {
            client,
            sent,
            server,
        } = past;
        Self {
            client,
            sent,
            server: server.map(|server| event::ServerUsage {
                prompt_tokens: server.prompt_tokens,
                cached_tokens: server.cached_tokens,
                evaluated_tokens: server.evaluated_tokens,
                completion_tokens: None,
            }),
            reply_bytes: 0,
            user_agent: String::new(),
            added_micros: None,
            window: None,
        }
    }
}
