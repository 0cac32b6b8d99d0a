//! How much of a model's attention a conversation takes: the tokens of its last prompt, held against its window (docs/memory.md).
//! Advice, never a block.

use serde_json::{Value, json};
use tslp_core::words;
use tslp_projections::episodes::EpisodeRow;

use crate::diagnostics::price::PromptPrice;

/// From how many tokens on a mark is reached, where the model's window isn't known (spec 003).
const MARKS: [u32; 3] = [5_000, 10_000, 15_000];

/// From how many hundredths of a known window on.
const MARKS_PERCENT: [u64; 3] = [50, 75, 90];

words! {
    /// How much there is for the model to attend to.
    AttentionLevel, "mark of attention" {
        /// Little.
        Green = "green",
        /// Decisions had better be on record.
        Yellow = "yellow",
        /// Enough for a clear.
        Orange = "orange",
        /// Too much.
        Red = "red",
    }
}

impl AttentionLevel {
    /// What the user is advised, in the words of spec 003.
    #[must_use]
    pub const fn advice(self) -> Option<&'static str> {
        match self {
            Self::Green | Self::Yellow => None,
            Self::Orange => Some("Context is filling. Consider /clear when ready."),
            Self::Red => Some("Attention budget high. Recommend /clear."),
        }
    }
}

/// A prompt's tokens and what they mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attention {
    /// Tokens of the whole prompt; estimated, unless the server said.
    pub tokens: u32,
    /// The mark that they reach.
    pub level: AttentionLevel,
}

impl Attention {
    /// Of a prompt with so many tokens to a model that reads so many at once.
    #[must_use]
    pub fn new(tokens: u32, window: Option<u32>) -> Self {
        let marks = match window {
            Some(window) => MARKS_PERCENT.map(|it| u64::from(window) * it / 100),
            None => MARKS.map(u64::from),
        };
        let reached = marks.iter().filter(|mark| u64::from(tokens) >= **mark);
        let level = AttentionLevel::ALL[reached.count()];
        Self { tokens, level }
    }

    /// Of a prompt on record; `None` before its reply has ended.
    #[must_use]
    pub fn of_row(row: &EpisodeRow) -> Option<Self> {
        let tokens = PromptPrice::of_row(row)?.tokens();
        Some(Self::new(tokens, row.measured.as_ref()?.window))
    }

    /// The response's header, from the first mark on.
    #[must_use]
    pub fn header(self) -> Option<(&'static str, String)> {
        let text = format!("{}; tokens={}", self.level.as_str(), self.tokens);
        (self.level > AttentionLevel::Green).then_some(("x-tslp-attention", text))
    }

    /// As JSON.
    #[must_use]
    pub fn json_object(self) -> Value {
        json!({ "level": self.level.as_str(), "tokens": self.tokens })
    }

    /// For one line: `attention 7.2k yellow`.
    #[must_use]
    pub fn words(self) -> String {
        let (whole, part) = (self.tokens / 1000, self.tokens % 1000 / 100);
        format!("attention {whole}.{part}k {}", self.level.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Marks are numbers of tokens or shares of the window.
    #[test]
    fn tokens_or_parts() {
        let check = |tokens, window, level: &str| {
            assert_eq!(Attention::new(tokens, window).level.as_str(), level);
        };
        check(4_999, None, "green");
        check(5_000, None, "yellow");
        check(10_000, None, "orange");
        check(15_000, None, "red");
        check(15_000, Some(32_768), "green");
        check(16_384, Some(32_768), "yellow");
        check(1_024, Some(2_048), "yellow");
        check(1_536, Some(2_048), "orange");
        check(1_844, Some(2_048), "red");
        check(u32::MAX, Some(u32::MAX), "red");
        assert_eq!(Attention::new(7_210, None).words(), "attention 7.2k yellow");
        assert_eq!(Attention::new(4_000, None).header(), None);
    }
}
