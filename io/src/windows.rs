//! How much each model reads at once, and how long prompts are for it: model servers cut off what is too long without a word.
//!
//! The servers say how long their windows are. How many characters a token has is learnt from the usage that they report, model by
//! model: a figure counts only where it agrees with the others.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use tslp_core::event::{PromptCost, ServerKind, ServerUsage, WindowExceeded};
use tslp_core::limits::HYDRATION_TOKENS_DEFAULT;
use tslp_decide::work::WithheldPrompt;
use tslp_projections::state::State;

use crate::config::settings::{TokenBudget, WindowGuard};
use crate::engine::RequestLength;
use crate::probe::ServerWindows;

/// Models of which figures are kept.
const MODELS_KEPT: usize = 16;

/// Prompts of a model that are compared.
const PROMPTS_KEPT: usize = 8;

/// Characters of a token, in hundredths, that no prompt is outside of: beyond are figures that don't count the whole prompt.
const CHARS_PLAUSIBLE: (u64, u64) = (100, 800);

/// Characters of a token, in hundredths, before anything is learnt, and as few as there may be.
const CHARS_UNLEARNT: u64 = 400;
const CHARS_FEW: u64 = 250;

/// How long what a server said holds. Servers load other models, and start anew.
const ASKED_AGAIN: Duration = Duration::from_secs(60);

/// A server that has told nothing so often isn't asked any more.
const FRUITLESS_MAX: u32 = 5;

/// Part of a window that is left to the reply, and the most of it, in tokens.
const REPLY_PART: u32 = 8;
const REPLY_TOKENS_MAX: u32 = 1024;

/// What is known of a model server's models.
#[derive(Default)]
pub(crate) struct Windows {
    said: ServerWindows,
    asked: Option<Instant>,
    fruitless: u32,
    models: BTreeMap<String, ModelFigures>,
}

/// How many tokens a text has.
#[derive(Clone, Copy)]
pub(crate) struct TokensOfText {
    at_least: u32,
    pub(crate) about: u32,
    at_most: u32,
}

/// What a model's prompts were read as.
#[derive(Default)]
struct ModelFigures {
    /// Hundredths of a character for each token, oldest first.
    ratios: VecDeque<u64>,
    /// Characters and tokens of the last prompt.
    last: Option<(u32, u32)>,
    /// Whether the server has reported figures that can't be those of whole prompts, without a window that explains it.
    is_unreliable: bool,
}

impl ModelFigures {
    /// The fewest and the most characters of a token, in hundredths, if the figures agree.
    fn learnt(&self) -> Option<(u64, u64)> {
        let (least, most) = (*self.ratios.iter().min()?, *self.ratios.iter().max()?);
        let agree = self.ratios.len() >= 2 && most * 2 <= least * 3;
        (agree && !self.is_unreliable).then_some((least, most))
    }

    fn tokens_of(&self, chars: u32) -> TokensOfText {
        let tokens = |ratio: u64| u32::try_from(u64::from(chars) * 100 / ratio).unwrap_or(u32::MAX);
        match self.learnt() {
            Some((least, most)) => TokensOfText {
                at_least: tokens(most * 11 / 10),
                about: tokens(most.midpoint(least)),
                at_most: tokens(least * 9 / 10),
            },
            None => TokensOfText {
                at_least: tokens(CHARS_PLAUSIBLE.1),
                about: tokens(CHARS_UNLEARNT),
                at_most: tokens(CHARS_FEW),
            },
        }
    }
}

/// What a request's length means for what goes out.
pub(crate) struct RequestWindow {
    /// Tokens that hydrated code may take.
    pub(crate) hydration: u32,
    /// Whether the client's own part is too long already.
    pub(crate) exceeded: Option<WindowExceeded>,
    /// What the engine is told.
    pub(crate) length: RequestLength,
}

impl Windows {
    /// What the last prompts on record teach.
    pub(crate) fn of_record(state: &State) -> Self {
        let mut windows = Self::default();
        for row in state.episodes().iter() {
            if let (Some(chars_total), Some(chars_anew)) = (row.sent_chars, row.sent_chars_anew) {
                let sent = PromptCost {
                    chars_total,
                    chars_anew,
                };
                let usage = ServerUsage {
                    prompt_tokens: row.prompt_tokens,
                    cached_tokens: row.cached_tokens,
                    evaluated_tokens: row.evaluated_tokens,
                    completion_tokens: None,
                };
                windows.learn(&row.model, sent, Some(&usage));
            }
        }
        windows
    }

    /// Looks at a request of so many characters: hydration has what it leaves of its model's window.
    pub(crate) fn look(
        &self,
        (hydration, guard): (TokenBudget, WindowGuard),
        model: &str,
        chars: u32,
    ) -> RequestWindow {
        let configured = match (hydration, self.window_of(model)) {
            (TokenBudget::Tokens(tokens), _) => tokens,
            // The other half is for the conversation and the reply.
            (TokenBudget::Auto, Some(window)) => window / 2,
            (TokenBudget::Auto, None) => HYDRATION_TOKENS_DEFAULT,
        };
        let room = self.room(model, chars).unwrap_or(u32::MAX);
        let exceeded = match guard {
            WindowGuard::Off => None,
            WindowGuard::Warn | WindowGuard::Refuse => self.exceeded_by(model, chars),
        };
        let is_refused = guard == WindowGuard::Refuse;
        let refused = exceeded.as_ref().filter(|_| is_refused);
        RequestWindow {
            hydration: configured.min(room),
            length: RequestLength {
                tokens: u64::from(self.tokens_of(model, chars).about),
                refused: refused.map(WithheldPrompt::too_long),
            },
            exceeded,
        }
    }

    /// Takes in what the server says.
    pub(crate) fn hear(&mut self, said: ServerWindows) {
        self.fruitless = match said.windows.is_empty() {
            true => self.fruitless + 1,
            false => 0,
        };
        self.said = said;
    }

    /// Whether the server is to be asked now. Whoever hears that asks it.
    pub(crate) fn is_due(&mut self, model: &str, now: Instant) -> bool {
        let is_old = self
            .asked
            .is_none_or(|at| now.duration_since(at) >= ASKED_AGAIN);
        let is_unknown = self.window_of(model).is_none();
        let is_due = self.fruitless < FRUITLESS_MAX && (is_unknown || is_old);
        if is_due {
            self.asked = Some(now);
        }
        is_due
    }

    /// Tokens that a model reads at once.
    #[must_use]
    pub(crate) fn window_of(&self, model: &str) -> Option<u32> {
        self.said.window_of(model)
    }

    /// Tokens that are left in a model's window beside so many characters and a reply; `None` if the window isn't known.
    #[must_use]
    pub(crate) fn room(&self, model: &str, chars: u32) -> Option<u32> {
        let window = self.window_of(model)?;
        let reply = (window / REPLY_PART).min(REPLY_TOKENS_MAX);
        let taken = self.tokens_of(model, chars).at_most;
        Some(window.saturating_sub(reply).saturating_sub(taken))
    }

    /// Whether so many characters are surely too long for a model.
    #[must_use]
    pub(crate) fn exceeded_by(&self, model: &str, chars: u32) -> Option<WindowExceeded> {
        let window = self.window_of(model)?;
        let TokensOfText {
            at_least, about, ..
        } = self.tokens_of(model, chars);
        (at_least > window).then(|| self.exceeded(model, about, None))
    }

    /// Learns from what the server says that it read of a prompt, and whether that is less than was sent.
    pub(crate) fn learn(
        &mut self,
        model: &str,
        sent: PromptCost,
        usage: Option<&ServerUsage>,
    ) -> Option<WindowExceeded> {
        let read = usage.and_then(whole_prompt)?;
        let chars = sent.chars_total;
        let window = self.window_of(model);
        if !self.models.contains_key(model) && self.models.len() >= MODELS_KEPT {
            self.models.pop_first();
        }
        let figures = self.models.entry(model.to_owned()).or_default();
        let TokensOfText {
            at_least, about, ..
        } = figures.tokens_of(chars);
        let is_cut = at_least > window.unwrap_or(u32::MAX) || {
            // Near the window it shows in the figures: fewer tokens than the same prompt had before it went on, or far fewer than
            // so many characters have.
            let may_be = window.is_none_or(|window| about > window / 10 * 9);
            let goes_on = |(chars_before, _): &(u32, u32)| {
                chars > *chars_before && chars - sent.chars_anew >= chars_before / 10 * 9
            };
            let before = figures.last.filter(goes_on);
            let has_shrunk = before.is_some_and(|(_, tokens)| read < tokens / 20 * 19);
            let is_far_less = u64::from(read) * 10 < u64::from(at_least) * 6;
            figures.learnt().is_some() && may_be && (has_shrunk || is_far_less)
        };
        if is_cut {
            figures.last = None;
            return Some(self.exceeded(model, about, Some(read)));
        }
        let ratio = u64::from(chars) * 100 / u64::from(read.max(1));
        if (CHARS_PLAUSIBLE.0..=CHARS_PLAUSIBLE.1).contains(&ratio) {
            figures.last = Some((chars, read));
            figures.ratios.push_back(ratio);
            if figures.ratios.len() > PROMPTS_KEPT {
                figures.ratios.pop_front();
            }
        } else {
            figures.is_unreliable = true;
        }
        None
    }

    /// Tokens of so many characters for a model.
    pub(crate) fn tokens_of(&self, model: &str, chars: u32) -> TokensOfText {
        let nothing = ModelFigures::default();
        let figures = self.models.get(model).unwrap_or(&nothing);
        figures.tokens_of(chars)
    }

    fn exceeded(&self, model: &str, prompt: u32, read: Option<u32>) -> WindowExceeded {
        WindowExceeded {
            model: model.to_owned(),
            window: self.window_of(model),
            prompt,
            read,
            server: self.said.kind.unwrap_or(ServerKind::Other),
        }
    }
}

/// Tokens of the whole prompt, as far as the server read it.
fn whole_prompt(usage: &ServerUsage) -> Option<u32> {
    let sum = || Some(usage.evaluated_tokens?.saturating_add(usage.cached_tokens?));
    usage.prompt_tokens.or_else(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(window: Option<u32>) -> Windows {
        let mut windows = Windows::default();
        windows.hear(ServerWindows {
            kind: Some(ServerKind::Ollama),
            windows: window
                .map(|it| ("m:latest".into(), it))
                .into_iter()
                .collect(),
        });
        windows
    }

    /// A conversation that goes on: characters in all, and what the server says it read. For each prompt, whether it was cut.
    fn cuts(window: Option<u32>, prompts: &[(u32, u32)]) -> Vec<bool> {
        let mut windows = windows(window);
        let mut before = 0;
        let cut = prompts.iter().map(|(chars_total, read)| {
            let sent = PromptCost {
                chars_total: *chars_total,
                chars_anew: chars_total.saturating_sub(before),
            };
            before = *chars_total;
            let usage = ServerUsage {
                prompt_tokens: Some(*read),
                ..ServerUsage::default()
            };
            windows.learn("m", sent, Some(&usage)).is_some()
        });
        cut.collect()
    }

    #[test]
    fn what_a_server_cuts_off_shows_in_what_it_says_it_read() {
        // Far over the window: with the first prompt.
        assert_eq!(cuts(Some(4096), &[(60_000, 4000)]), [true]);
        // Ollama before 0.40: half a window is left. Slightly over it, after two prompts.
        let grows = [(8000, 2000), (12_000, 3000), (17_200, 2050)];
        assert_eq!(cuts(Some(4096), &grows), [false, false, true]);
        assert_eq!(cuts(None, &grows), [false, false, true]);
        // Ollama since: the oldest messages go, and what is left is nearly a window.
        let grows = [(8000, 2000), (15_600, 3900), (16_800, 3500)];
        assert_eq!(cuts(Some(4096), &grows), [false, false, true]);
    }

    #[test]
    fn figures_that_say_something_else_are_no_cuts() {
        // A server that counts what it had to read, and one that counts nothing.
        let evaluated = [(8000, 2000), (12_000, 1000), (16_000, 12), (24_000, 2000)];
        for window in [None, Some(32_768)] {
            assert_eq!(cuts(window, &evaluated), [false; 4]);
            assert_eq!(
                cuts(window, &[(8000, 1), (9000, 1), (12_000, 1)]),
                [false; 3]
            );
        }
        // Other text has other tokens: base64, then blanks.
        let mixed = [
            (8000, 2000),
            (12_000, 3100),
            (20_000, 8000),
            (60_000, 14_000),
        ];
        assert_eq!(cuts(Some(32_768), &mixed), [false; 4]);
        // A conversation that was compacted.
        assert_eq!(
            cuts(Some(8192), &[(8000, 2000), (28_000, 7000), (6000, 1500)]),
            [false; 3]
        );
    }

    #[test]
    fn room_is_what_a_window_leaves() {
        let windows = windows(Some(4096));
        assert_eq!(windows.room("m", 0), Some(4096 - 512));
        assert_eq!(windows.room("m", 5000), Some(4096 - 512 - 2000));
        assert_eq!(windows.room("m", 100_000), Some(0));
        assert_eq!(windows.room("other", 0), None);
        assert!(windows.exceeded_by("m", 32_000).is_none());
        let said = windows.exceeded_by("m", 33_600).unwrap().sentence();
        assert_eq!(
            said,
            "m reads 4096 tokens, and this request has about 8400: the server cuts a part of it off. Set \
             OLLAMA_CONTEXT_LENGTH=16384 for Ollama, or begin a new conversation."
        );
    }
}
