//! Budgets: how much agents may do until the Operator says that they may go on.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::ids::UnixMillis;
use crate::stored::stored_words;

stored_words! {
    /// What is counted of the agents' work.
    Counter, "thing that a budget can count" {
        /// Requests to the model.
        Requests = "requests",
        /// Tokens that the model read and wrote: the server's figures, else a quarter of the characters.
        Tokens = "tokens",
        /// Minutes from a prompt to the reply's end and from there to the next prompt, pauses of more than five minutes left out.
        Minutes = "minutes",
        /// Different files that replies change.
        Files = "files",
        /// Lines of code that replies write.
        Lines = "lines",
        /// Builds that the client is asked to run.
        Builds = "builds",
        /// Test runs that the client is asked for.
        Tests = "tests",
        /// Money for the tokens, by the configured prices; in millionths.
        Money = "money",
    }
}

/// Millionths of a unit of money, as a budget is written.
const MONEY_UNIT: u64 = 1_000_000;

impl Counter {
    /// A figure of this as people write it.
    #[must_use]
    pub fn shown(self, figure: u64) -> String {
        match (self, figure % MONEY_UNIT) {
            (Self::Money, 0) => (figure / MONEY_UNIT).to_string(),
            (Self::Money, part) => {
                let text = format!("{}.{part:06}", figure / MONEY_UNIT);
                text.trim_end_matches('0').to_string()
            }
            _ => figure.to_string(),
        }
    }

    fn parse(self, text: &str) -> Option<u64> {
        match self {
            Self::Money => parse_money(text),
            _ => parse_number(text),
        }
    }
}

/// How much of each there may be; what isn't named has no bound.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Budget {
    limits: Vec<(Counter, u64)>,
}

impl Budget {
    /// Whether nothing is bounded.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.limits.is_empty()
    }

    /// What is bounded, each once, in the order of [`Counter::ALL`].
    #[must_use]
    pub fn limits(&self) -> &[(Counter, u64)] {
        &self.limits
    }
}

impl FromStr for Budget {
    type Err = String;

    /// Reads `requests 200, tokens 500k`; `k` is a thousand, `m` a million.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut limits: Vec<(Counter, u64)> = Vec::new();
        for item in text.split(',').map(str::trim).filter(|it| !it.is_empty()) {
            let mut words = item.split_whitespace();
            let (word, number) = (words.next().unwrap_or_default(), words.next());
            let counter = Counter::of_word(word)
                .ok_or_else(|| format!("`{word}` isn't counted: {}", Counter::WORDS.join(", ")))?;
            let limit = number
                .and_then(|it| counter.parse(it))
                .filter(|limit| *limit > 0);
            let (Some(limit), None) = (limit, words.next()) else {
                return Err(format!("`{item}`: write a number, such as `{word} 200`"));
            };
            if limits.iter().any(|(other, _)| *other == counter) {
                return Err(format!("`{word}` is named twice"));
            }
            limits.push((counter, limit));
        }
        limits.sort();
        Ok(Self { limits })
    }
}

/// A number with `k` or `m` behind it.
fn parse_number(text: &str) -> Option<u64> {
    let (digits, factor) = match text.char_indices().last()? {
        (end, 'k' | 'K') => (&text[..end], 1_000),
        (end, 'm' | 'M') => (&text[..end], 1_000_000),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// An amount with at most six digits behind its point, in millionths.
fn parse_money(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || part.len() > 6 || !is_digits(whole) || !is_digits(part) {
        return None;
    }
    let part: u64 = format!("{part:0<6}").parse().ok()?;
    whole
        .parse::<u64>()
        .ok()?
        .checked_mul(MONEY_UNIT)?
        .checked_add(part)
}

/// What models' tokens cost: a million read and a million written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Prices {
    /// A model's name, or its beginning before a `*`, with both prices in millionths.
    prices: Vec<(String, u64, u64)>,
}

impl Prices {
    /// What so many tokens read and written of a model cost, in millionths; 0 for a model without a price.
    #[must_use]
    pub fn cost(&self, model: &str, read: u64, written: u64) -> u64 {
        let is_of = |name: &str| match name.strip_suffix('*') {
            Some(beginning) => model.starts_with(beginning),
            None => name == model,
        };
        let price = self.prices.iter().find(|(name, ..)| is_of(name));
        price.map_or(0, |(_, for_read, for_written)| {
            let cost = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
            let sum = cost(read, *for_read) + cost(written, *for_written);
            u64::try_from(sum / u128::from(MONEY_UNIT)).unwrap_or(u64::MAX)
        })
    }
}

impl FromStr for Prices {
    type Err = String;

    /// Reads `gpt-5* 1.25 10, qwen3 0.1 0.1`: names, and what a million tokens read and written cost.
    fn from_str(text: &str) -> Result<Self, String> {
        let items = text.split(',').map(str::trim).filter(|it| !it.is_empty());
        let prices = items.map(|item| {
            let words: Vec<&str> = item.split_whitespace().collect();
            let price = match words[..] {
                [name, read, written] => parse_money(read)
                    .zip(parse_money(written))
                    .map(|(read, written)| (name.to_string(), read, written)),
                _ => None,
            };
            price.ok_or_else(|| {
                format!("`{item}`: write a model's name and what a million tokens read and written cost, such as `gpt-5* 1.25 10`")
            })
        });
        prices
            .collect::<Result<_, _>>()
            .map(|prices| Self { prices })
    }
}

impl fmt::Display for Prices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, read, written)) in self.prices.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            let shown = |price: u64| Counter::Money.shown(price);
            write!(f, "{comma}{name} {} {}", shown(*read), shown(*written))?;
        }
        Ok(())
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (counter, limit)) in self.limits.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            write!(f, "{comma}{counter} {}", counter.shown(*limit))?;
        }
        Ok(())
    }
}

/// Stored and told as the text that is configured; arbitrary ones are among these examples.
macro_rules! as_text {
    ($($setting:ident $examples:expr;)+) => {$(
        #[cfg(feature = "arbitrary")]
        impl<'a> arbitrary::Arbitrary<'a> for $setting {
            fn arbitrary(u: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
                Ok(u.choose(&$examples)?.parse().expect("an example is well-formed"))
            }
        }

        impl TryFrom<String> for $setting {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                text.parse()
            }
        }

        impl From<$setting> for String {
            fn from(setting: $setting) -> Self {
                setting.to_string()
            }
        }
    )+};
}

as_text! {
    Budget ["", "requests 1", "minutes 3, files 4, lines 10, builds 2, tests 1", "tokens 2m, money 0.5"];
    Prices ["", "m 0.1 2", "gpt-5* 1.25 10, qwen 0 0"];
}

/// What was done, by [`Counter`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkDone([u64; Counter::ALL.len()]);

impl WorkDone {
    /// The figures in the order of [`Counter::ALL`].
    #[must_use]
    pub const fn of_figures(figures: [u64; Counter::ALL.len()]) -> Self {
        Self(figures)
    }

    /// How much of one.
    #[must_use]
    pub const fn of(&self, counter: Counter) -> u64 {
        self.0[counter as usize]
    }
}

/// The beginning of a moment's day, in UTC.
#[must_use]
pub const fn day_of(at: UnixMillis) -> UnixMillis {
    UnixMillis(at.0 - at.0.rem_euclid(24 * 60 * 60 * 1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_and_written() {
        let budget: Budget = " tokens 500k , requests 200,minutes 30 ".parse().unwrap();
        assert_eq!(
            budget.to_string(),
            "requests 200, tokens 500000, minutes 30"
        );
        assert_eq!(budget.to_string().parse::<Budget>().unwrap(), budget);
        assert_eq!(
            "tokens 2M".parse::<Budget>().unwrap().limits()[0].1,
            2_000_000
        );
        assert!("".parse::<Budget>().unwrap().is_empty());
    }

    #[test]
    fn unknown_units() {
        for (text, said) in [
            ("dollars 5", "`dollars` isn't counted: requests, tokens"),
            ("tokens", "write a number"),
            ("tokens many", "write a number"),
            ("tokens 0", "write a number"),
            ("tokens 5 6", "write a number"),
            ("tokens 99999999999999999999", "write a number"),
            ("tokens 99999999999999999m", "write a number"),
            ("tokens 5, tokens 6", "named twice"),
        ] {
            let error = text.parse::<Budget>().unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
