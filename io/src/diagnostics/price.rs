//! The prompts' cost to the model server, for people: of one episode, and of the last ones together.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tslp_core::ids::{EpisodeId, SessionId};
use tslp_projections::episodes::EpisodeRow;

/// The figures' meaning.
const MEANING: &str = "A model server reads a prompt anew from its first change on; \"directly\" is what the clients' own \
    prompts would have cost without the proxy.";

/// The price of one prompt, or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PromptPrice {
    /// As the client wrote it.
    pub client: CharacterCounts,
    /// As it was sent.
    pub sent: CharacterCounts,
    /// The model server's own figures.
    pub server: Option<TokenCounts>,
}

/// The part of a prompt that was not in the server's cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CharacterCounts {
    /// All of it.
    pub total: u64,
    /// The part that the model server had to read.
    pub anew: u64,
}

/// The model server's own figures; those that it didn't report are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenCounts {
    /// The whole prompt.
    pub prompt: Option<u64>,
    /// Tokens from its cache.
    pub cached: Option<u64>,
    /// Tokens that it read.
    pub evaluated: Option<u64>,
}

impl PromptPrice {
    /// The price in a row of `episodes`, once there is one.
    pub(super) fn of_row(row: &EpisodeRow) -> Option<Self> {
        let server = TokenCounts {
            prompt: row.prompt_tokens.map(u64::from),
            cached: row.cached_tokens.map(u64::from),
            evaluated: row.evaluated_tokens.map(u64::from),
        };
        Some(Self {
            client: CharacterCounts {
                total: row.client_chars?.into(),
                anew: row.client_chars_anew?.into(),
            },
            sent: CharacterCounts {
                total: row.sent_chars?.into(),
                anew: row.sent_chars_anew?.into(),
            },
            server: (server != TokenCounts::default()).then_some(server),
        })
    }

    /// The page's object.
    #[must_use]
    pub fn json_object(&self) -> Value {
        json!({
            "client": self.client.json_object(),
            "sent": self.sent.json_object(),
            "server": self.server.map(|tokens| json!({
                "cached_tokens": tokens.cached,
                "evaluated_tokens": tokens.evaluated,
                "prompt_tokens": tokens.prompt,
            })),
        })
    }

    /// One line for people.
    #[must_use]
    pub fn text_line(&self) -> String {
        let mut words = format!(
            "{} of {} characters read anew, directly {} of {}",
            self.sent.anew, self.sent.total, self.client.anew, self.client.total
        );
        if let Some((cached, prompt)) = self.server.and_then(|tokens| tokens.cached_share()) {
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

/// A token has about four characters.
const TOKEN_CHARS: u64 = 4;

impl CacheBreak {
    /// Between two prompts of a conversation.
    pub(super) fn between(before: &PromptPrice, after: &PromptPrice) -> Option<Self> {
        let known = |it: CharacterCounts| it.total - it.anew;
        let breaks = |before: CharacterCounts, after: CharacterCounts| {
            known(after) + SLACK_CHARS < before.total
        };
        breaks(before.sent, after.sent).then(|| Self {
            at: known(after.sent),
            is_clients: breaks(before.client, after.client),
            tokens: (before.sent.total.min(after.sent.total) - known(after.sent)) / TOKEN_CHARS,
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
        let by = match self.is_clients {
            true => "the client",
            false => "tslp",
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

impl CharacterCounts {
    fn json_object(self) -> Value {
        json!({ "anew": self.anew, "chars": self.total })
    }

    fn add_counts(&mut self, other: Self) {
        self.total += other.total;
        self.anew += other.anew;
    }
}

impl TokenCounts {
    /// Tokens in the cache and in all, where the server has said enough to know both.
    fn cached_share(&self) -> Option<(u64, u64)> {
        // llama.cpp says how many tokens it read, OpenAI-style servers how many it had.
        let from_evaluated = || self.prompt?.checked_sub(self.evaluated?);
        let cached = self.cached.or_else(from_evaluated)?;
        let prompt = self.prompt.or_else(|| Some(cached + self.evaluated?))?;
        Some((cached, prompt))
    }
}

/// The prices of the episodes that are kept, together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PriceSum {
    episodes: usize,
    client: CharacterCounts,
    sent: CharacterCounts,
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
            sum.client.add_counts(price.client);
            sum.sent.add_counts(price.sent);
            if let Some((cached, prompt)) = price.server.and_then(|tokens| tokens.cached_share()) {
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
            "client": self.client.json_object(),
            "episodes": self.episodes,
            "meaning": MEANING,
            "sent": self.sent.json_object(),
            "sent_percent": percent_of(self.sent.anew, self.client.anew),
            "server": server,
        })
    }

    /// Characters that the model server read anew: of what was sent, and of what clients wrote.
    #[must_use]
    pub const fn read_anew(&self) -> (u64, u64) {
        (self.sent.anew, self.client.anew)
    }

    /// One line for people, and what it means.
    #[must_use]
    pub fn text_line(&self) -> String {
        if self.episodes == 0 {
            return "no prompt has been measured yet".into();
        }
        let mut words = format!(
            "{} characters read anew as sent, {} directly",
            self.sent.anew, self.client.anew
        );
        if let Some(percent) = percent_of(self.sent.anew, self.client.anew) {
            words.push_str(&format!(" ({percent} %)"));
        }
        let prompts = if self.episodes == 1 {
            "prompt"
        } else {
            "prompts"
        };
        words.push_str(&format!(", in the last {} {prompts}", self.episodes));
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

    fn price(client: (u64, u64), sent: (u64, u64), server: Option<TokenCounts>) -> PromptPrice {
        let characters = |(total, anew)| CharacterCounts { total, anew };
        PromptPrice {
            client: characters(client),
            sent: characters(sent),
            server,
        }
    }

    fn tokens(prompt: Option<u64>, cached: Option<u64>, evaluated: Option<u64>) -> TokenCounts {
        TokenCounts {
            prompt,
            cached,
            evaluated,
        }
    }

    #[test]
    fn the_cached_share_comes_of_whatever_two_figures_are_there() {
        let check = |prompt, cached, evaluated, expected| {
            assert_eq!(tokens(prompt, cached, evaluated).cached_share(), expected);
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
    fn one_prompts_price_is_one_line() {
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
