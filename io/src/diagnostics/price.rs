//! The prompts' cost to the model server, for people: of one episode, and of the last ones together.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tslp_core::event::{PromptCost, PromptMeasured, ServerUsage};
use tslp_core::ids::{EpisodeId, SessionId};
use tslp_core::limits::{CHARS_PER_TOKEN, CHARS_PER_TOKEN_MAX};
use tslp_projections::episodes::EpisodeRow;

/// The figures' meaning.
const MEANING: &str = "A model server reads a prompt anew from its first change on; \"directly\" is what the clients' own \
    prompts would have cost without the proxy.";

/// The price of one prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptPrice {
    /// As the client wrote it.
    pub client: PromptCost,
    /// As it was sent.
    pub sent: PromptCost,
    /// The model server's own figures.
    pub server: ServerUsage,
}

impl PromptPrice {
    /// The price in a row of `episodes`, once there is one.
    pub(crate) fn of_row(row: &EpisodeRow) -> Option<Self> {
        row.measured.as_ref().map(Self::of)
    }

    /// The price of a prompt that was measured.
    pub(crate) fn of(measured: &PromptMeasured) -> Self {
        Self {
            client: measured.client,
            sent: measured.sent,
            server: ServerUsage {
                completion_tokens: None,
                ..measured.server.unwrap_or_default()
            },
        }
    }

    /// Tokens of the whole prompt: the server's count, or an estimate where it counted only what it had to read.
    #[must_use]
    pub fn tokens(&self) -> u32 {
        let characters = self.sent.chars_total;
        let is_whole = |tokens: &u32| tokens.saturating_mul(CHARS_PER_TOKEN_MAX) >= characters;
        let counted = self.server.prompt_tokens.filter(is_whole);
        counted.unwrap_or(characters / CHARS_PER_TOKEN)
    }

    /// Tokens that had to be read anew, if the server said so.
    #[must_use]
    pub fn counted_anew(&self) -> Option<u32> {
        let server = &self.server;
        let uncached = || server.prompt_tokens?.checked_sub(server.cached_tokens?);
        server.evaluated_tokens.or_else(uncached)
    }

    /// Tokens that had to be read anew, estimated where the server didn't say so.
    #[must_use]
    pub fn tokens_anew(&self) -> u32 {
        let estimated = || self.sent.chars_anew.div_ceil(CHARS_PER_TOKEN);
        self.counted_anew().unwrap_or_else(estimated)
    }

    /// The page's object.
    #[must_use]
    pub fn json_object(&self) -> Value {
        let counts =
            |cost: PromptCost| counts_object(cost.chars_anew.into(), cost.chars_total.into());
        let server = self.server;
        let server = (server != ServerUsage::default()).then(|| {
            json!({
                "cached_tokens": server.cached_tokens,
                "evaluated_tokens": server.evaluated_tokens,
                "prompt_tokens": server.prompt_tokens,
            })
        });
        json!({
            "client": counts(self.client),
            "sent": counts(self.sent),
            "server": server,
            "tokens": self.tokens(),
            "tokens_anew": self.tokens_anew(),
        })
    }

    /// One line for people.
    #[must_use]
    pub fn text_line(&self) -> String {
        let mut words = format!(
            "{} of {} characters read anew, directly {} of {}",
            self.sent.chars_anew,
            self.sent.chars_total,
            self.client.chars_anew,
            self.client.chars_total
        );
        if let Some((cached, prompt)) = cached_share(&self.server) {
            words.push_str(&format!("; {cached} of {prompt} tokens were cached"));
        }
        words
    }
}

/// A prompt that doesn't begin with the one before it in its conversation: the server reads all behind the change anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheBreak {
    /// The first changed character of the prompt, to within a block.
    pub at: u64,
    /// Whether the client itself changed it.
    pub is_clients: bool,
    /// Tokens that were read before and had to be read again, estimated.
    pub tokens: u64,
}

/// A prompt's beginning is compared by blocks of so many characters, and the message that carries a reply is written anew.
const SLACK_CHARS: u64 = 512;

impl CacheBreak {
    /// Between two prompts of a conversation.
    pub(super) fn between(before: &PromptPrice, after: &PromptPrice) -> Option<Self> {
        let known = |it: PromptCost| u64::from(it.chars_total - it.chars_anew);
        let breaks = |before: PromptCost, after: PromptCost| {
            known(after) + SLACK_CHARS < u64::from(before.chars_total)
        };
        let both = before.sent.chars_total.min(after.sent.chars_total);
        breaks(before.sent, after.sent).then(|| Self {
            at: known(after.sent),
            is_clients: breaks(before.client, after.client),
            tokens: (u64::from(both) - known(after.sent)) / u64::from(CHARS_PER_TOKEN),
        })
    }

    /// The page's object.
    #[must_use]
    pub fn json_object(&self) -> Value {
        let by = if self.is_clients { "client" } else { "tslp" };
        json!({ "at_char": self.at, "by": by, "tokens": self.tokens })
    }

    /// One line for people.
    #[must_use]
    pub fn text_line(&self) -> String {
        let by = if self.is_clients {
            "the client"
        } else {
            "tslp"
        };
        format!(
            "{by} changed the prompt from about character {} on: some {} tokens were read again",
            self.at, self.tokens
        )
    }
}

/// The episodes whose prompts don't begin with the one before it in their conversation.
pub(super) fn cache_breaks(episodes: &[EpisodeRow]) -> BTreeMap<EpisodeId, CacheBreak> {
    let mut last: BTreeMap<SessionId, PromptPrice> = BTreeMap::new();
    let mut breaks = BTreeMap::new();
    for row in episodes {
        let Some(price) = PromptPrice::of_row(row) else {
            continue;
        };
        let before = last.insert(row.session, price);
        let found = before.and_then(|before| CacheBreak::between(&before, &price));
        breaks.extend(found.map(|it| (row.episode, it)));
    }
    breaks
}

fn counts_object(anew: u64, chars: u64) -> Value {
    json!({ "anew": anew, "chars": chars })
}

/// Tokens in the cache and in all, where the server has said enough to know both.
fn cached_share(server: &ServerUsage) -> Option<(u64, u64)> {
    // llama.cpp says how many tokens it read, OpenAI-style servers how many it had.
    let from_evaluated = || server.prompt_tokens?.checked_sub(server.evaluated_tokens?);
    let cached = u64::from(server.cached_tokens.or_else(from_evaluated)?);
    let whole = || Some(cached + u64::from(server.evaluated_tokens?));
    let prompt = server.prompt_tokens.map(u64::from).or_else(whole)?;
    Some((cached, prompt))
}

/// The prices of the episodes that are kept, together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PriceSum {
    episodes: usize,
    /// Characters that were read anew, and all.
    client: (u64, u64),
    sent: (u64, u64),
    /// Episodes whose replies said how much of the prompt was cached.
    episodes_reported: usize,
    cached_tokens: u64,
    prompt_tokens: u64,
}

impl PriceSum {
    /// The totals of all these.
    #[must_use]
    pub fn sum_of(prices: impl IntoIterator<Item = PromptPrice>) -> Self {
        let mut sum = Self::default();
        for price in prices {
            sum.episodes += 1;
            for (sum, cost) in [(&mut sum.client, price.client), (&mut sum.sent, price.sent)] {
                sum.0 += u64::from(cost.chars_anew);
                sum.1 += u64::from(cost.chars_total);
            }
            if let Some((cached, prompt)) = cached_share(&price.server) {
                sum.episodes_reported += 1;
                sum.cached_tokens += cached;
                sum.prompt_tokens += prompt;
            }
        }
        sum
    }

    /// The page's object.
    #[must_use]
    pub fn json_object(&self) -> Value {
        let server = (self.episodes_reported > 0).then(|| {
            json!({
                "cached_percent": percent_of(self.cached_tokens, self.prompt_tokens),
                "cached_tokens": self.cached_tokens,
                "episodes": self.episodes_reported,
                "prompt_tokens": self.prompt_tokens,
            })
        });
        json!({
            "client": counts_object(self.client.0, self.client.1),
            "episodes": self.episodes,
            "meaning": MEANING,
            "sent": counts_object(self.sent.0, self.sent.1),
            "sent_percent": percent_of(self.sent.0, self.client.0),
            "server": server,
        })
    }

    /// Characters that the model server read anew: of what was sent, and of what clients wrote.
    #[must_use]
    pub const fn read_anew(&self) -> (u64, u64) {
        (self.sent.0, self.client.0)
    }

    /// One line for people, and what it means.
    #[must_use]
    pub fn text_line(&self) -> String {
        if self.episodes == 0 {
            return "no prompt has been measured yet".into();
        }
        let mut words = format!(
            "{} characters read anew as sent, {} directly",
            self.sent.0, self.client.0
        );
        if let Some(percent) = percent_of(self.sent.0, self.client.0) {
            words.push_str(&format!(" ({percent} %)"));
        }
        let plural = if self.episodes == 1 { "" } else { "s" };
        words.push_str(&format!(", in the last {} prompt{plural}", self.episodes));
        if let Some(percent) = percent_of(self.cached_tokens, self.prompt_tokens) {
            words.push_str(&format!(
                "; the model server says that {percent} % of {} tokens were cached",
                self.prompt_tokens
            ));
        }
        words.push_str(&format!(". {MEANING}"));
        words
    }
}

/// Rounded down; `None` if there is nothing to compare with.
fn percent_of(part: u64, whole: u64) -> Option<u64> {
    part.saturating_mul(100).checked_div(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(client: (u32, u32), sent: (u32, u32), server: Option<ServerUsage>) -> PromptPrice {
        let cost = |(chars_total, chars_anew)| PromptCost {
            chars_total,
            chars_anew,
        };
        PromptPrice {
            client: cost(client),
            sent: cost(sent),
            server: server.unwrap_or_default(),
        }
    }

    fn tokens(prompt: Option<u32>, cached: Option<u32>, evaluated: Option<u32>) -> ServerUsage {
        ServerUsage {
            prompt_tokens: prompt,
            cached_tokens: cached,
            evaluated_tokens: evaluated,
            completion_tokens: None,
        }
    }

    /// The cached share follows from any two of the server's figures.
    #[test]
    fn two_figures_suffice() {
        let check = |prompt, cached, evaluated, expected| {
            assert_eq!(cached_share(&tokens(prompt, cached, evaluated)), expected);
        };
        check(Some(10), Some(4), None, Some((4, 10)));
        check(None, Some(4), Some(6), Some((4, 10)));
        check(Some(10), None, Some(6), Some((4, 10)));
        check(Some(10), Some(4), Some(6), Some((4, 10)));
        check(Some(10), None, None, None);
        check(None, Some(4), None, None);
        check(None, None, Some(6), None);
        // Figures that contradict one another say nothing.
        check(Some(5), None, Some(6), None);
    }

    #[test]
    fn prices_add_up() {
        let sum = PriceSum::sum_of([
            price((100, 100), (120, 120), None),
            price(
                (200, 150),
                (220, 30),
                Some(tokens(Some(60), Some(45), None)),
            ),
        ]);
        let words = sum.text_line();
        let head = "150 characters read anew as sent, 250 directly (60 %), in the last 2 prompts; the model server \
            says that 75 % of 60 tokens were cached. A model server reads";
        assert!(words.starts_with(head), "{words}");
        assert_eq!(
            PriceSum::default().text_line(),
            "no prompt has been measured yet"
        );
        assert_eq!(
            PriceSum::default().json_object()["sent_percent"],
            Value::Null
        );
    }

    #[test]
    fn line_of_one_prompt() {
        let check = |server, expected: &str| {
            let price = price((100, 90), (120, 8), server);
            assert_eq!(price.text_line(), expected);
        };
        let measured = "8 of 120 characters read anew, directly 90 of 100";
        check(None, measured);
        check(Some(tokens(Some(5), None, None)), measured);
        let cached = Some(tokens(Some(50), Some(40), None));
        check(cached, &format!("{measured}; 40 of 50 tokens were cached"));
    }
}
