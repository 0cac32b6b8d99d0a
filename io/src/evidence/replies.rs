//! One line a reply, for people: on the terminal of `tslp serve`, and for `tslp log --follow`. Both read the ledger, so both
//! say the same.

use std::collections::{BTreeMap, BTreeSet};

use tslp_core::artifact::Origin;
use tslp_core::entity::EntityId;
use tslp_core::event::{
    DirectiveGiven, Event, EventKind, PromptMeasured, Recorded, ReplyOutcome, Verb,
};
use tslp_core::first_words::first_words;
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, Seq, SessionId};
use tslp_core::reason::{Reason, ReasonClass};
use tslp_projections::at_hand::AskedRow;
use tslp_store::ledger::{LedgerError, LedgerReader};

use super::describe::{outcome_words, reason_words};
use super::story::{self, Entry, Step, Steps};
use crate::acts;
use crate::diagnostics::price::PromptPrice;

/// Most names of one kind in a line.
const NAMES_MAX: usize = 4;

/// Follows a ledger and tells what became of each reply.
pub struct ReplyReporter {
    reader: LedgerReader,
    next: Seq,
    replies: OpenReplies,
}

/// What is known of replies that aren't over.
struct OpenReplies {
    steps: Steps,
    /// The first words of each prompt.
    words: BTreeMap<EpisodeId, String>,
    asked: AskedWords,
    answering: AnsweringStep,
}

/// Something to be told.
enum Told {
    Line(String),
    Reply(EpisodeId, String, Box<Step>),
}

/// The directives of a step, in order, and their answers.
#[derive(Default)]
pub(crate) struct AnsweringStep {
    open: Vec<DirectiveGiven>,
    answered: usize,
    /// Each directive that was answered, and how.
    pub(crate) answers: Vec<(DirectiveGiven, Reason)>,
}

impl AnsweringStep {
    /// Takes the step's next event. Directives are recorded before they are carried out, one after the other.
    pub(crate) fn apply(&mut self, event: &Event) {
        match event {
            Event::DirectiveGiven(given) => self.open.push(given.clone()),
            Event::NoticeIssued(notice) if notice.reason.is(ReasonClass::Answer) => {
                if let Some(given) = self.open.get(self.answered) {
                    self.answers.push((given.clone(), notice.reason));
                    self.answered += 1;
                }
            }
            _ => {}
        }
    }

    /// The answer to a directive, for people.
    pub(crate) fn answer_line((given, reason): &(DirectiveGiven, Reason)) -> String {
        let verb = match given.verb {
            Verb::Unknown => "",
            verb => verb.as_str(),
        };
        let told = [verb, &*given.target].join(" ");
        let words = acts::answer_words(given.verb, &given.target, *reason);
        format!("{}: {words}", told.trim())
    }
}

impl ReplyReporter {
    /// Begins at this position.
    #[must_use]
    pub fn from(reader: LedgerReader, next: Seq) -> Self {
        Self {
            reader,
            next,
            replies: OpenReplies {
                steps: Steps::whole(),
                words: BTreeMap::new(),
                asked: AskedWords::default(),
                answering: AnsweringStep::default(),
            },
        }
    }

    /// What has come to its end since the last call, a line each.
    ///
    /// # Errors
    /// When the ledger can't be read.
    pub fn new_lines(&mut self) -> Result<Vec<String>, LedgerError> {
        let mut told = Vec::new();
        let (reader, next, replies) = (&self.reader, &mut self.next, &mut self.replies);
        reader.read_without(&[EventKind::Content], *next, &mut |stored, event| {
            *next = stored.seq.next();
            replies.apply(&stored.recorded(event), reader, &mut told);
        })?;
        // A reply's end, what is decided about it and what it cost are appended together.
        replies.end_all_but(None, &mut told);
        let lines = told.into_iter().map(|told| match told {
            Told::Line(line) => Ok(line),
            Told::Reply(episode, words, step) => self.reply_line(episode, &words, &step),
        });
        lines.collect()
    }

    fn reply_line(
        &self,
        episode: EpisodeId,
        words: &str,
        step: &Step,
    ) -> Result<String, LedgerError> {
        let mut parts = Vec::new();
        match step.outcome {
            None | Some(ReplyOutcome::Completed) => {}
            Some(outcome) => parts.push(outcome_words(outcome)),
        }
        // A file counts where nothing in it has a name.
        let definitions = |told: story::Told, is_users: bool| -> BTreeSet<&EntityId> {
            let entries = step.entries.iter().filter(|it| it.told == told);
            let entries = entries.filter(|it| {
                told == story::Told::Removed || (it.origin == Some(Origin::User)) == is_users
            });
            let entities = entries.filter_map(|it| it.entity.as_ref());
            entities.filter(|it| it.symbol.is_some()).collect()
        };
        let promoted = definitions(story::Told::True, false).len();
        if promoted > 0 {
            parts.push(format!("+{promoted} true"));
        }
        let removed = definitions(story::Told::Removed, false);
        if !removed.is_empty() {
            parts.push(format!("{} removed", names(removed.into_iter())));
        }
        let taken = definitions(story::Told::True, true).len();
        if taken > 0 {
            parts.push(format!("{taken} taken as yours"));
        }
        parts.extend(self.refused_part(episode, step)?);
        let unjudged = step.entries.iter();
        let unjudged = unjudged.filter(|it| it.told == story::Told::Unjudged);
        match unjudged.filter(|it| it.origin.is_some()).count() {
            0 => {}
            unjudged => parts.push(format!("{unjudged} unjudged")),
        }
        match step.drafts {
            0 => {}
            1 => parts.push("asked for once more".into()),
            _ => parts.push("asked for once more, no better".into()),
        }
        parts.extend(step.measured.as_ref().map(tokens_part));
        if parts.is_empty() {
            parts.push("no code".into());
        }
        Ok(format!("{episode} \"{words}\": {}", parts.join(", ")))
    }

    /// How many were refused and why, with the number of lines that the first ones lost.
    fn refused_part(&self, episode: EpisodeId, step: &Step) -> Result<Option<String>, LedgerError> {
        let mut known = BTreeSet::new();
        let refused = step.entries.iter().filter(|it| {
            it.told == story::Told::Refused && it.report.is_some() && known.insert(&it.entity)
        });
        let refused: Vec<&Entry> = refused.collect();
        let mut told = Vec::new();
        for entry in refused.iter().take(NAMES_MAX) {
            let entity = entry.entity.as_ref().expect("a refusal names its entity");
            let name = short_name(entity);
            let lost = step.lost_lines(&self.reader, episode, entry)?;
            told.push(match lost.map(|lost| lost.lines.len() + lost.more) {
                Some(1) => format!("{name} lost 1 line"),
                Some(lines) => format!("{name} lost {lines} lines"),
                None => format!("{name}: {}", reason_words(entry.reason)),
            });
        }
        if refused.len() > told.len() {
            told.push(format!("and {} more", refused.len() - told.len()));
        }
        let count = refused.len();
        Ok((count > 0).then(|| format!("{count} refused: {}", told.join("; "))))
    }
}

impl OpenReplies {
    fn apply(&mut self, recorded: &Recorded, reader: &LedgerReader, told: &mut Vec<Told>) {
        let episode = recorded.episode;
        self.end_all_but(Some(episode), told);
        self.answering.apply(&recorded.event);
        self.steps.apply(recorded);
        if let Event::PromptReceived(_) = &recorded.event {
            let prompt = &self.steps.steps[&episode].prompt;
            let (words, _) =
                self.asked
                    .next(reader, (recorded.session, episode, recorded.seq), prompt);
            self.words.insert(episode, words);
        }
        if !recorded.ends_step {
            return;
        }
        let place = match episode {
            EpisodeId::OUTSIDE => "tslp".to_owned(),
            episode => format!("{episode} @tslp"),
        };
        let answered = std::mem::take(&mut self.answering).answers;
        let lines = answered.iter().map(AnsweringStep::answer_line);
        told.extend(lines.map(|line| Told::Line(format!("{place} {line}"))));
    }

    /// Ends the replies that are over, except for one of which more may come. Steps whose prompt came before aren't told.
    fn end_all_but(&mut self, kept: Option<EpisodeId>, told: &mut Vec<Told>) {
        let steps = self.steps.steps.iter();
        let over = steps.filter(|(episode, step)| {
            let is_open = self.words.contains_key(episode) && step.outcome.is_none();
            !is_open && Some(**episode) != kept
        });
        let over: Vec<EpisodeId> = over.map(|(episode, _)| *episode).collect();
        for episode in over {
            let step = self.steps.steps.remove(&episode).expect("it was listed");
            let words = self.words.remove(&episode);
            told.extend(words.map(|words| Told::Reply(episode, words, Box::new(step))));
        }
    }
}

/// The prompt's price, in the model server's own tokens if it has counted them.
fn tokens_part(measured: &PromptMeasured) -> String {
    let price = PromptPrice::of(measured);
    let about = if price.counted_anew().is_none() {
        "about "
    } else {
        ""
    };
    format!("{about}{} tokens read anew", price.tokens_anew())
}

/// The first names, and how many more there are.
fn names<'e>(entities: impl ExactSizeIterator<Item = &'e EntityId>) -> String {
    let all = entities.len();
    let first: Vec<String> = entities.take(NAMES_MAX).map(short_name).collect();
    match all - first.len() {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// A definition's name, or its file's.
fn short_name(entity: &EntityId) -> String {
    let symbol = entity.symbol.as_ref();
    symbol.map_or_else(|| entity.path.to_string(), ToString::to_string)
}

/// What the user said last in each conversation, in its first words, and in which step: an agent's steps go on from it.
#[derive(Default)]
pub(crate) struct AskedWords(BTreeMap<SessionId, (String, EpisodeId)>);

impl AskedWords {
    /// The words of a conversation's next prompt, of which these are the user's messages, and the step that its turn began with.
    pub(crate) fn next(
        &mut self,
        reader: &LedgerReader,
        (session, episode, seq): (SessionId, EpisodeId, Seq),
        contents: &[ArtifactHash],
    ) -> (String, EpisodeId) {
        let words_of = |content| {
            let text = reader.artifact(content).ok().flatten()?;
            let words = first_words(&String::from_utf8_lossy(&text));
            (!words.is_empty()).then_some(words)
        };
        let own = contents.iter().rev().find_map(|content| words_of(*content));
        let asked = own.map(|words| (words, episode));
        let asked = asked.or_else(|| self.0.get(&session).cloned());
        let asked = asked.or_else(|| {
            // Words alone hang on it.
            let rows: Vec<AskedRow> = reader.rows().unwrap_or_default();
            let before = rows
                .iter()
                .filter(|row| row.session == session && row.seq < seq);
            let mut before = before.rev();
            before.find_map(|row| Some((words_of(row.text)?, row.episode)))
        });
        let asked = asked.unwrap_or_else(|| ("…".into(), episode));
        self.0.insert(session, asked.clone());
        asked
    }
}
