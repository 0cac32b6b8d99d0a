//! What models read and wrote: by day, model and conversation.

use alloc::string::String;

use tslp_core::budget::{Prices, day_of};
use tslp_core::event::{Event, PromptMeasured, Recorded};
use tslp_core::ids::{SessionId, UnixMillis};

use crate::episodes::Episodes;
use crate::row::Row as _;
use crate::row_map::RowMap;

row! {
    /// `usage`: what a conversation used of a model on a day, of the last so many.
    pub struct UsageRow in table "usage", version 2;
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

/// More tokens than any model reads at once.
const TOKENS_MAX: u32 = 1 << 24;

/// What models read and wrote.
#[derive(Default)]
pub struct Usage {
    pub(crate) rows: RowMap<UsageRow>,
}

impl Usage {
    /// Folds one event in. The episodes know what model was asked.
    pub fn apply(&mut self, recorded: &Recorded, episodes: &Episodes) {
        let Event::PromptMeasured(measured) = &recorded.event else {
            return;
        };
        let used = TokensUsed::of(measured);
        let (day, session) = (day_of(recorded.at), recorded.session);
        let model = episodes.model_of(recorded.episode).unwrap_or_default();
        let mut added = UsageRow {
            day,
            model: String::from(model),
            session,
            requests: 1,
            read: used.read,
            cached: used.cached,
            written: used.written,
            estimated: used.estimated,
        };
        if let Some(before) = self.rows.get(&added.key()) {
            added.add(before);
        }
        self.rows.put(added);
        self.rows.keep_last(ROWS_KEPT);
    }

    /// What was used on the day of this moment, by all conversations.
    pub fn of_day(&self, at: UnixMillis) -> impl Iterator<Item = &UsageRow> {
        let from = (day_of(at), String::new(), SessionId(0));
        self.rows.range(from..).map(|(_, row)| row)
    }
}

/// Tokens of a prompt and its reply: the server's figures where they can be, else estimates, and never more than the model's window.
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
        let most = measured.window.unwrap_or(TOKENS_MAX);
        // A server isn't believed that counts none of a text, or more than its model reads at once.
        let figure = |reported: Option<u32>, chars: u32| {
            let estimate = (chars / TOKEN_CHARS).min(most);
            match reported.filter(|it| *it <= most && (*it > 0 || estimate == 0)) {
                Some(tokens) => (u64::from(tokens), 0),
                None => (u64::from(estimate), u64::from(estimate)),
            }
        };
        let (read, unsure) = figure(server.prompt_tokens, measured.sent.chars_total);
        let (written, unsure_too) = figure(server.completion_tokens, measured.reply_bytes);
        Self {
            read,
            cached: u64::from(server.cached_tokens.unwrap_or(0)).min(read),
            written,
            estimated: unsure + unsure_too,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tslp_core::event::{PromptCost, ServerUsage};

    fn check(reported: (u32, u32, u32), window: Option<u32>, expected: (u64, u64, u64, u64)) {
        let sent = PromptCost {
            chars_total: 40_000,
            chars_anew: 40_000,
        };
        let (read, cached, written) = reported;
        let used = TokensUsed::of(&PromptMeasured {
            client: sent,
            sent,
            server: Some(ServerUsage {
                prompt_tokens: Some(read),
                cached_tokens: Some(cached),
                completion_tokens: Some(written),
                evaluated_tokens: None,
            }),
            reply_bytes: 400,
            user_agent: String::new(),
            added_micros: None,
            window,
        });
        let figures = (used.read, used.cached, used.written, used.estimated);
        assert_eq!(figures, expected, "{reported:?} {window:?}");
    }

    #[test]
    fn absurd_figures() {
        check((9000, 8000, 90), None, (9000, 8000, 90, 0));
        check((u32::MAX, 5, 90), None, (10_000, 5, 90, 10_000));
        check((9000, u32::MAX, u32::MAX), None, (9000, 9000, 100, 100));
        check((0, 0, 0), None, (10_000, 0, 100, 10_100));
        check((4000, 0, 90), Some(4096), (4000, 0, 90, 0));
        check((9000, 0, 5000), Some(4096), (4096, 0, 100, 4196));
    }
}
