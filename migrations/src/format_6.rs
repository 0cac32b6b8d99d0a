//! Layouts of format 6 that have changed since.

use rkyv::{Archive, Deserialize, Serialize};
use tslp_core::event::{self, Author, PromptCost, ServerUsage};
use tslp_core::ids::UnixMillis;
use tslp_core::reason::Reason;
use tslp_core::record::{RecordKind, RecordStanding};

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

/// Only the user's word was kept.
#[derive(Archive, Serialize, Deserialize)]
pub struct RecordChanged {
    key: String,
    kind: RecordKind,
    statement: String,
    path: String,
    quotation: String,
}

impl From<RecordChanged> for event::RecordChanged {
    fn from(past: RecordChanged) -> Self {
        Self {
            key: past.key,
            kind: past.kind,
            // What has no statement has ended, whatever else it says.
            standing: RecordStanding::Kept,
            author: Author::User,
            cause: Reason::RecordNoted,
            statement: past.statement,
            path: past.path,
            quotation: past.quotation,
            inputs: Vec::new(),
            expires_at: UnixMillis(0),
        }
    }
}
