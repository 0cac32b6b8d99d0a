//! How much each model reads at once, and how long prompts are for it: model servers cut off what is too long without a word.
//!
//! The servers say how long their windows are. How many characters a token has is learnt from the usage that they report, model by
//! model: a figure counts only where it agrees with the others.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use tslp_core::event::{PromptCost, ServerKind, ServerUsage, WindowExceeded};
use tslp_core::ids::SessionId;
use tslp_core::limits::{CHARS_PER_TOKEN, CHARS_PER_TOKEN_MAX, HYDRATION_TOKENS_DEFAULT};
use tslp_decide::scope::work::WithheldPrompt;
use tslp_projections::state::State;

use crate::config::settings::{TokenBudget, WindowGuard};
use crate::diagnostics::price::PromptPrice;
use crate::engine::RequestLength;
use crate::probe::ServerWindows;

/// Models of which figures are kept.
const MODELS_KEPT: usize = 16;

/// Prompts of a model that are compared.
const PROMPTS_KEPT: usize = 8;

/// Characters of a token, in hundredths, that no prompt is outside of: beyond are figures that don't count the whole prompt.
const CHARS_PLAUSIBLE: (u64, u64) = (100, CHARS_PER_TOKEN_MAX as u64 * 100);

/// Conversations with a model whose last prompts are kept.
const SESSIONS_KEPT: usize = 32;

/// Characters of a token, in hundredths, before anything is learnt, and as few as there may be.
const CHARS_UNLEARNT: u64 = CHARS_PER_TOKEN as u64 * 100;
const CHARS_FEW: u64 = 250;

/// Characters of a token, in hundredths, that no long text has on the whole.
const CHARS_MANY: u64 = 600;

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
    /// Characters and tokens of each conversation's last prompt.
    last: BTreeMap<SessionId, (u32, u32)>,
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

    /// The fewest tokens of a prompt that goes on in a conversation: those of the part that it had before, and of what is new, which
    /// may be text of another kind.
    fn least_after(
        &self,
        session: SessionId,
        sent: PromptCost,
        is_near_window: bool,
    ) -> Option<u32> {
        let (chars_before, tokens_before) = *self.last.get(&session)?;
        let (_, most) = self.learnt()?;
        let gone = chars_before.saturating_sub(sent.chars_total.saturating_sub(sent.chars_anew));
        let kept = tokens_before.saturating_sub(gone);
        let most = match is_near_window {
            true => (most * 3 / 2).min(CHARS_PLAUSIBLE.1),
            false => CHARS_PLAUSIBLE.1,
        };
        let new = u64::from(sent.chars_anew) * 100 / most;
        Some(kept.saturating_add(u32::try_from(new).unwrap_or(u32::MAX)))
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
            if let Some(price) = PromptPrice::of_row(row) {
                let usage = Some(&price.server);
                windows.learn((&row.model, row.session), price.sent, usage);
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
        let exceeded = self.exceeded_by(model, chars);
        let exceeded = exceeded.filter(|_| guard != WindowGuard::Off);
        let refused = exceeded.as_ref().filter(|_| guard == WindowGuard::Refuse);
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
        let age = self.asked.map(|at| now.duration_since(at));
        let is_old = age.is_none_or(|age| age >= ASKED_AGAIN);
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
        (model, session): (&str, SessionId),
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
        let ratio = u64::from(chars) * 100 / u64::from(read.max(1));
        let TokensOfText {
            at_least, about, ..
        } = figures.tokens_of(chars);
        // Near the window it shows in the figures: fewer tokens than so many characters have, or than the part that the
        // conversation's last prompt had, too.
        let may_be = window.is_none_or(|window| about > window / 10 * 9);
        let expected = figures
            .least_after(session, sent, window.is_some())
            .filter(|_| may_be);
        let has_shrunk = expected.is_some_and(|expected| read < expected / 100 * 97);
        // Without a window any text of another kind has far fewer; none of some length has so few.
        let is_far_less = u64::from(read) * 10 < u64::from(at_least) * 6
            && (window.is_some() || ratio > CHARS_MANY);
        let is_cut = at_least > window.unwrap_or(u32::MAX)
            || figures.learnt().is_some() && may_be && (has_shrunk || is_far_less);
        let is_plausible = (CHARS_PLAUSIBLE.0..=CHARS_PLAUSIBLE.1).contains(&ratio);
        if is_cut || is_plausible {
            if figures.last.len() >= SESSIONS_KEPT {
                figures.last.pop_first();
            }
            figures.last.insert(session, (chars, read));
        }
        if is_cut {
            return Some(self.exceeded(model, about, Some(read)));
        }
        if is_plausible {
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
    use std::fs;
    use std::path::Path;

    use serde_json::Value;

    use super::*;
    use crate::channel::ExchangeId;
    use crate::prompt_cost::PromptCosts;

    const SESSION: SessionId = SessionId(1);

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
            windows.learn(("m", SESSION), sent, Some(&usage)).is_some()
        });
        cut.collect()
    }

    /// What a server cuts off shows in the number of tokens it reports as read.
    #[test]
    fn cuts_in_figures() {
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

    /// Figures that mean something else are no cuts.
    #[test]
    fn other_figures() {
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
    fn room_in_window() {
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

    /// Numbers that look random and are the same each time.
    struct Dice(u64);

    impl Dice {
        fn roll(&mut self, from: u32, to: u32) -> u32 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            from + u32::try_from((self.0 >> 33) % u64::from(to - from)).unwrap()
        }
    }

    /// Messages of a conversation: characters and tokens of each.
    #[derive(Default)]
    struct Conversation(Vec<(u32, u32)>);

    impl Conversation {
        /// `chars`: of a token, in hundredths.
        fn add(&mut self, tokens: u32, chars: u32) {
            self.0.push((tokens * chars / 100, tokens));
        }

        fn chars(&self) -> u32 {
            self.0.iter().map(|(chars, _)| chars).sum()
        }

        fn tokens(&self) -> u32 {
            self.0.iter().map(|(_, tokens)| tokens).sum()
        }
    }

    /// The tokens that a server reads of a prompt that is longer than a window.
    type Cut = fn(&Conversation, u32) -> u32;

    /// How servers make a prompt fit, silently.
    const CUTS: [(&str, Cut); 5] = [
        // Ollama's runner until 0.40, and llama.cpp's truncation: whole halves of the window go.
        ("half", |_, window| window / 2 + 2),
        // Ollama's chat: the oldest messages but the system's.
        ("oldest messages", |it, window| {
            let mut left = it.tokens();
            for (_, tokens) in &it.0[1..it.0.len() - 1] {
                if left > window {
                    left -= tokens;
                }
            }
            left.min(window)
        }),
        // LM Studio's and llama.cpp's with a part kept: the middle goes, and a part is left to the reply.
        ("middle", |_, window| window - window / 4),
        ("end", |_, window| window - 1),
        // The system message and the last one are left.
        ("nearly all", |it, window| {
            let (first, last) = (it.0.first().unwrap(), it.0.last().unwrap());
            (first.1 + last.1).min(window)
        }),
    ];

    #[test]
    fn staged_cuts() {
        let mut missed = Vec::new();
        let mut staged = 0;
        for (name, cut) in CUTS {
            for window in [2048, 8192, 32_768] {
                for told in [Some(window), None] {
                    for chars in [230, 330, 480] {
                        let mut windows = windows(told);
                        let mut dice = Dice(u64::from(window + chars));
                        let mut talk = Conversation::default();
                        let mut before = 0;
                        // What takes away hardly more than the new part shows only where the window is told.
                        if told.is_none() && matches!(name, "oldest messages" | "end") {
                            continue;
                        }
                        let mut seen = false;
                        let mut over = 0;
                        while over < 2 {
                            talk.add(window / dice.roll(5, 9), dice.roll(chars - 15, chars + 15));
                            let whole = talk.tokens();
                            over += u32::from(whole > window);
                            let read = match whole > window {
                                true => cut(&talk, window),
                                false => whole,
                            };
                            let sent = PromptCost {
                                chars_total: talk.chars(),
                                chars_anew: talk.chars() - before,
                            };
                            before = talk.chars();
                            let known = windows.exceeded_by("m", sent.chars_total).is_some();
                            let usage = ServerUsage {
                                prompt_tokens: Some(read),
                                ..ServerUsage::default()
                            };
                            let found = windows.learn(("m", SESSION), sent, Some(&usage)).is_some()
                                || known;
                            assert!(!found || over > 0, "{name} {window} {told:?} {chars}");
                            seen |= found;
                        }
                        staged += 1;
                        if !seen {
                            missed.push((name, window, told, chars));
                        }
                    }
                }
            }
        }
        assert_eq!(staged, 72);
        assert_eq!(missed, [], "{} of {staged} missed", missed.len());
    }

    /// Conversations of all kinds of text that end, are compacted, and take turns at a model; nothing of them is cut.
    #[test]
    fn whole_prompts() {
        let mut dice = Dice(7);
        let mut alarms = Vec::new();
        for window in [None, Some(65_536)] {
            for style in 0..5 {
                let mut windows = windows(window);
                let mut talks = [Conversation::default(), Conversation::default()];
                let mut befores = [0, 0];
                for turn in 0..1000 {
                    let at = usize::from(dice.roll(0, 10) > 7);
                    let (talk, before) = (&mut talks[at], &mut befores[at]);
                    if talk.tokens() > 50_000 || dice.roll(0, 40) == 0 {
                        // Compacted: the first message, and a summary.
                        talk.0.truncate(1);
                        talk.add(dice.roll(100, 900), 420);
                        *before = talk.0[0].0;
                    }
                    let chars = match style {
                        0 => dice.roll(380, 460),
                        1 => dice.roll(280, 400),
                        // Code, prose, base64 and tables by turns.
                        2 => [430, 320, 150, 250][dice.roll(0, 4) as usize],
                        3 => [420, 110][usize::from(dice.roll(0, 30) == 0)],
                        _ => dice.roll(200, 600),
                    };
                    talk.add(dice.roll(5, 3000), chars);
                    let total = talk.chars();
                    let sent = PromptCost {
                        chars_total: total,
                        chars_anew: total.saturating_sub(*before),
                    };
                    *before = total;
                    let usage = ServerUsage {
                        // With what the model's template adds.
                        prompt_tokens: Some(talk.tokens() + 20 + 4 * talk.0.len() as u32),
                        ..ServerUsage::default()
                    };
                    let known = windows.exceeded_by("m", total);
                    let session = SessionId(at as u64);
                    let cut = windows.learn(("m", session), sent, Some(&usage));
                    if cut.or(known).is_some() {
                        alarms.push((window, style, turn));
                    }
                }
            }
        }
        assert_eq!(alarms, []);
    }

    /// The requests of a recorded session, as its client sent them.
    fn recorded(file: &Path) -> Vec<String> {
        let text = fs::read_to_string(file).expect("a recording");
        let mut texts: Vec<String> = Vec::new();
        let (mut fields, mut messages) = (Vec::new(), Vec::new());
        let mut bodies = Vec::new();
        let numbers = |row: &Value| row.as_u64().and_then(|it| usize::try_from(it).ok());
        for line in text.lines() {
            let row: Value = serde_json::from_str(line).expect("each line is JSON");
            match row["kind"].as_str() {
                Some("text") => {
                    let part: Vec<char> = row["text"].as_str().expect("a text").chars().collect();
                    let like = numbers(&row["like"]).map(|it| texts[it].chars().collect());
                    let like: Vec<char> = like.unwrap_or_default();
                    let head = numbers(&row["head"]).unwrap_or(0);
                    let tail = like.len() - numbers(&row["tail"]).unwrap_or(0);
                    texts.push(
                        [&like[..head], &part, &like[tail..]]
                            .concat()
                            .iter()
                            .collect(),
                    );
                }
                Some("fields") => fields.push(with_texts(&row["fields"], &texts)),
                Some("message") => messages.push(with_texts(&row["message"], &texts)),
                Some("request") => {
                    let all = row["messages"].as_array().expect("messages").iter();
                    let all = all.map(|it| messages[numbers(it).expect("a number")].clone());
                    let mut body = fields[numbers(&row["fields"]).expect("a number")].clone();
                    body["messages"] = all.collect();
                    bodies.push(body.to_string());
                }
                _ => {}
            }
        }
        bodies
    }

    /// A value with the long texts that it refers to.
    fn with_texts(value: &Value, texts: &[String]) -> Value {
        match value {
            Value::Object(fields) => match (fields.len(), fields.get("text")) {
                (1, Some(Value::Number(at))) => {
                    let at = at.as_u64().and_then(|it| usize::try_from(it).ok());
                    texts[at.expect("a number")].clone().into()
                }
                _ => fields
                    .iter()
                    .map(|(name, it)| (name.clone(), with_texts(it, texts)))
                    .collect(),
            },
            Value::Array(all) => all.iter().map(|it| with_texts(it, texts)).collect(),
            other => other.clone(),
        }
    }

    /// Tokens of a text for a model whose longest pieces of words, of digits and of white space have so many characters.
    fn tokens_in(text: &str, (word, digits, blanks): (usize, usize, usize)) -> u32 {
        let kind = |c: &char| match c {
            c if c.is_alphabetic() => (0, word),
            c if c.is_ascii_digit() => (1, digits),
            c if c.is_whitespace() => (2, blanks),
            // Punctuation goes in pairs at most.
            _ => (3, 2),
        };
        let (mut tokens, mut last, mut length) = (0, 4, 0);
        for c in text.chars() {
            let (now, most) = kind(&c);
            length = if now == last { length + 1 } else { 1 };
            if length > most || length == 1 {
                (tokens, length) = (tokens + 1, 1);
            }
            last = now;
        }
        tokens
    }

    /// Turns of the recorded sessions of real clients, one session after the other, two at a time, and with another model at each turn;
    /// by several models' ways of reading text, windows and kinds of reports. Nothing of them is cut.
    #[test]
    fn whole_recorded_turns() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../snapshots/agents/recorded");
        let files = fs::read_dir(folder).expect("the recordings");
        let mut files: Vec<_> = files.map(|it| it.expect("a file").path()).collect();
        files.sort();
        let sessions: Vec<Vec<String>> = files.iter().map(|file| recorded(file)).collect();
        let readers = [
            (4, 3, 8),
            (6, 1, 1),
            (3, 1, 4),
            (9, 3, 16),
            (5, 2, 2),
            (7, 3, 3),
            (12, 1, 8),
            (2, 1, 1),
        ];
        let counted: Vec<Vec<[u32; 8]>> = sessions
            .iter()
            .map(|bodies| {
                bodies
                    .iter()
                    .map(|body| readers.map(|it| tokens_in(body, it)))
                    .collect()
            })
            .collect();
        let longest = counted
            .iter()
            .flatten()
            .flatten()
            .max()
            .copied()
            .expect("turns");
        // Each order is of turns: which session, and which of its requests.
        let one_by_one =
            (0..sessions.len()).flat_map(|it| (0..sessions[it].len()).map(move |at| (it, at)));
        let mut by_turns: Vec<(usize, usize)> = one_by_one.clone().collect();
        by_turns.sort_by_key(|(session, at)| (session / 2, *at));
        let orders: [Vec<(usize, usize)>; 2] = [one_by_one.collect(), by_turns];
        let (mut judged, mut alarms) = (0, Vec::new());
        for (order, models) in orders.iter().flat_map(|it| [(it, 1), (it, 3)]) {
            let mut costs = PromptCosts::default();
            let turns = order.iter().enumerate();
            let turns: Vec<_> = turns
                .map(|(turn, (session, at))| {
                    let model = turn % models;
                    let pieces = || std::iter::once(sessions[*session][*at].as_bytes());
                    let name = format!("m{model}");
                    let cost =
                        costs.measure(ExchangeId(turn as u64), Some(&name), pieces(), pieces());
                    (*session, *at, model, name, cost.sent)
                })
                .collect();
            let windows_told = [None, Some(longest + 100), Some(131_072)];
            let ways = windows_told
                .iter()
                .flat_map(|it| (0..readers.len()).map(move |reader| (it, reader)));
            for ((window, reader), adds) in ways.flat_map(|it| [(it, 0), (it, 70)]) {
                let mut windows = windows(*window);
                windows.said.windows.iter_mut().for_each(|it| it.0.clear());
                for (session, at, model, name, sent) in &turns {
                    // Some servers tell what they had to read and what was cached, and templates add some tokens.
                    let tokens = counted[*session][*at][(reader + model) % readers.len()] + adds;
                    let usage = match at % 2 {
                        0 => ServerUsage {
                            prompt_tokens: Some(tokens),
                            ..ServerUsage::default()
                        },
                        _ => ServerUsage {
                            evaluated_tokens: Some(tokens / 3),
                            cached_tokens: Some(tokens - tokens / 3),
                            ..ServerUsage::default()
                        },
                    };
                    let known = windows.exceeded_by(name, sent.chars_total);
                    let of = SessionId(*session as u64);
                    let cut = windows.learn((name, of), *sent, Some(&usage));
                    judged += 1;
                    if let Some(alarm) = cut.or(known) {
                        alarms.push((files[*session].file_name(), *at, reader, alarm));
                    }
                }
            }
        }
        assert!(judged >= 10_000, "{judged} turns were judged");
        assert!(
            alarms.is_empty(),
            "{} alarms, such as {:?}",
            alarms.len(),
            &alarms[..alarms.len().min(9)]
        );
    }
}
