//! Layouts of format 6 that have changed since.

use rkyv::{Archive, Deserialize, Serialize};
use tslp_core::event::{self, PromptCost, ServerUsage};

/// Didn't say which client had sent the prompt, how long it took to pass it on, and how much the model reads at once.
#[derive(Archive, Serialize, Deserialize)]
pub struct PromptMeasured {
    client: PromptCost,
    sent: PromptCost,
    server: Option<ServerUsage>,
    reply_bytes: u32,
}

impl From<PromptMeasured> for event::PromptMeasured {
    fn from(past: PromptMeasured) -> Self {
        let PromptMeasured {
            client,
            sent,
            server,
            reply_bytes,
        } = past;
        Self {
            client,
            sent,
            server,
            reply_bytes,
            user_agent: String::new(),
            added_micros: None,
            window: None,
        }
    }
}
