//! What models read and wrote: by day, model and conversation.

use alloc::string::String;

use tslp_core::budget::{Prices, day_of};
use tslp_core::event::{Event, PromptMeasured, Recorded};
use tslp_core::ids::{SessionId, UnixMillis};

use crate::changes::Changes;
use crate::episodes::Episodes;
use crate::row::Row as _;
use crate::row_map::RowMap;

row! {
    /// `usage`: what a conversation used of a model on a day, of the last so many.
    pub struct UsageRow in table "usage", version 1;
    key {
        /// The beginning of the day, in UTC.
        day: UnixMillis,
        /// The model's name in the requests.
        model: String,
        /// The conversation; 0 is for requests outside of all.
        session: SessionId,
    }
    values {
        /// Requests that were answered.
        requests: u64,
        /// Tokens that the model read.
        read: u64,
        /// Those of them that the server had in its cache.
        cached: u64,
        /// Tokens that the model wrote.
        written: u64,
        /// Those of both that the server didn't report: estimated.
        estimated: u64,
    }
}

impl UsageRow {
    /// What it costs, in millionths.
    #[must_use]
    pub fn cost(&self, prices: &Prices) -> u64 {
        prices.cost(&self.model, self.read, self.written)
    }

    /// Adds what another one used.
    pub const fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.read += other.read;
        self.cached += other.cached;
        self.written += other.written;
        self.estimated += other.estimated;
    }
}

/// Rows that are kept.
const ROWS_KEPT: usize = 4096;

/// A token has about four characters.
const TOKEN_CHARS: u32 = 4;

/// What models read and wrote.
#[derive(Default)]
pub struct Usage {
    pub(crate) rows: RowMap<UsageRow>,
}

impl Usage {
    /// Folds one event in. The episodes know what model was asked.
    pub fn apply(&mut self, recorded: &Recorded, episodes: &Episodes, changes: &mut Changes) {
        let Event::PromptMeasured(measured) = &recorded.event else {
            return;
        };
        let used = TokensUsed::of(measured);
        let (day, session) = (day_of(recorded.at), recorded.session);
        let model = episodes.model_of(recorded.episode).unwrap_or_default();
        let mut row = UsageRow {
            day,
            model: String::from(model),
            session,
            requests: 1,
            read: used.read,
            cached: used.cached,
            written: used.written,
            estimated: used.estimated,
        };
        if let Some(known) = self.rows.get(&row.key()) {
            row.add(known);
        }
        self.rows.put(row, changes);
        self.rows.keep_last(ROWS_KEPT, changes);
    }

    /// What was used on the day of this moment, by all conversations.
    pub fn of_day(&self, at: UnixMillis) -> impl Iterator<Item = &UsageRow> {
        let from = (day_of(at), String::new(), SessionId(0));
        self.rows.range(from..).map(|(_, row)| row)
    }
}

/// Tokens of a prompt and its reply: the server's figures, else estimates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokensUsed {
    /// Read.
    pub read: u64,
    /// Of them from a cache.
    pub cached: u64,
    /// Written.
    pub written: u64,
    /// Of all of them those that were estimated.
    pub estimated: u64,
}

impl TokensUsed {
    /// Of a measured prompt.
    #[must_use]
    pub fn of(measured: &PromptMeasured) -> Self {
        let server = measured.server.unwrap_or_default();
        let figure = |reported: Option<u32>, chars: u32| match reported {
            Some(tokens) => (u64::from(tokens), 0),
            None => (
                u64::from(chars / TOKEN_CHARS),
                u64::from(chars / TOKEN_CHARS),
            ),
        };
        let (read, unsure) = figure(server.prompt_tokens, measured.sent.chars_total);
        let (written, unsure_too) = figure(server.completion_tokens, measured.reply_bytes);
        Self {
            read,
            cached: u64::from(server.cached_tokens.unwrap_or(0)),
            written,
            estimated: unsure + unsure_too,
        }
    }
}
