//! One line a reply, for people: on the terminal of `tslp serve`, and for `tslp log --follow`. Both read the ledger, so both
//! say the same.

use std::collections::{BTreeMap, BTreeSet};

use tslp_core::artifact::{Origin, Transition};
use tslp_core::entity::EntityId;
use tslp_core::event::{
    DirectiveGiven, Event, EventKind, PromptMeasured, PromptReceived, Recorded, ReplyOutcome, Verb,
};
use tslp_core::first_words::first_words;
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, Seq, SessionId, VersionId};
use tslp_core::message::Role;
use tslp_core::reason::{Reason, ReasonClass};
use tslp_core::slice::Span;
use tslp_projections::at_hand::AskedRow;
use tslp_store::ledger::{LedgerError, LedgerReader};

use super::describe::{goes_along, outcome_words, reason_words};
use crate::acts;
use crate::diagnostics::missing::{self, MissingCode, RefusedProposal};

/// Most names of one kind in a line.
const NAMES_MAX: usize = 4;

/// Characters of a token, where the model server doesn't count them.
const CHARACTERS_PER_TOKEN: u64 = 4;

/// Follows a ledger and tells what became of each reply.
pub struct ReplyReporter {
    reader: LedgerReader,
    next: Seq,
    replies: ReplyFold,
}

/// What is known of replies that aren't over.
#[derive(Default)]
struct ReplyFold {
    open: BTreeMap<EpisodeId, OpenReply>,
    asked: AskedWords,
    answering: AnsweringStep,
}

/// Something to be told.
enum Told {
    Line(String),
    Reply(EpisodeId, Box<OpenReply>),
}

/// What is known so far of a prompt and its reply.
#[derive(Default)]
struct OpenReply {
    words: String,
    outcome: Option<ReplyOutcome>,
    /// Definitions that became true by the reply, and those that did before it, by the prompt or as disk held them.
    promoted: BTreeSet<EntityId>,
    taken: BTreeSet<EntityId>,
    removed: BTreeSet<EntityId>,
    refused: Vec<RefusedVersion>,
    /// Changes that nothing here could judge.
    unjudged: usize,
    /// The block that was captured last, with whether it is the model's for a named file, and where the code of each version is.
    captured: Option<(ArtifactHash, bool)>,
    code: BTreeMap<VersionId, (ArtifactHash, Vec<Span>)>,
    /// Replies to it that were refused before the client had them.
    drafts: usize,
    measured: Option<PromptMeasured>,
}

/// A version that a gate kept out.
struct RefusedVersion {
    version: VersionId,
    entity: EntityId,
    reason: Reason,
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
            replies: ReplyFold::default(),
        }
    }

    /// What has come to its end since the last call, a line each.
    ///
    /// # Errors
    /// When the ledger can't be read.
    pub fn new_lines(&mut self) -> Result<Vec<String>, LedgerError> {
        let mut told = Vec::new();
        let (reader, next, replies) = (&self.reader, &mut self.next, &mut self.replies);
        let artifact = |hash| reader.artifact(hash).ok().flatten();
        reader.read_without(&[EventKind::Content], *next, &mut |stored, event| {
            *next = stored.seq.next();
            let recorded = stored.recorded(event);
            let earlier = || asked_before(reader, recorded.session, recorded.seq);
            replies.apply(&recorded, artifact, earlier, &mut told);
        })?;
        // A reply's end, what is decided about it and what it cost are appended together.
        replies.end_all_but(None, &mut told);
        let lines = told.into_iter().map(|told| match told {
            Told::Line(line) => Ok(line),
            Told::Reply(episode, reply) => self.reply_line(episode, &reply),
        });
        lines.collect()
    }

    fn reply_line(&self, episode: EpisodeId, reply: &OpenReply) -> Result<String, LedgerError> {
        let mut parts = Vec::new();
        match reply.outcome {
            None | Some(ReplyOutcome::Completed) => {}
            Some(outcome) => parts.push(outcome_words(outcome)),
        }
        if !reply.promoted.is_empty() {
            parts.push(format!("+{} true", reply.promoted.len()));
        }
        if !reply.removed.is_empty() {
            parts.push(format!("{} removed", names(reply.removed.iter())));
        }
        if !reply.taken.is_empty() {
            parts.push(format!("{} taken as yours", reply.taken.len()));
        }
        if !reply.refused.is_empty() {
            parts.push(self.refused_part(episode, reply)?);
        }
        if reply.unjudged > 0 {
            parts.push(format!("{} unjudged", reply.unjudged));
        }
        match reply.drafts {
            0 => {}
            1 => parts.push("asked for once more".into()),
            _ => parts.push("asked for once more, no better".into()),
        }
        if let Some(measured) = &reply.measured {
            parts.push(tokens_part(measured));
        }
        if parts.is_empty() {
            parts.push("no code".into());
        }
        Ok(format!(
            "{episode} \"{}\": {}",
            reply.words,
            parts.join(", ")
        ))
    }

    /// How many were refused and why, with the number of lines that the first ones lost. Their code is what the reply's events say:
    /// the proposal may have been decided on since.
    fn refused_part(&self, episode: EpisodeId, reply: &OpenReply) -> Result<String, LedgerError> {
        let refused = &reply.refused;
        let mut lost: Vec<Option<MissingCode>> = vec![None; refused.len().min(NAMES_MAX)];
        let proposals = refused.iter().zip(&mut lost);
        let proposals = proposals.filter(|(refused, _)| refused.reason.is(ReasonClass::LostCode));
        let proposals = proposals.map(|(refused, missing)| RefusedProposal {
            episode,
            entity: refused.entity.clone(),
            code: reply.code.get(&refused.version).cloned(),
            missing,
        });
        let proposals = proposals.collect();
        let artifact = |hash| self.reader.artifact(hash).ok().flatten();
        missing::find_missing_lines(proposals, &self.reader, artifact)?;
        let told = refused.iter().zip(&lost).map(|(refused, lost)| {
            let RefusedVersion { entity, reason, .. } = refused;
            let name = short_name(entity);
            match lost.as_ref().map(|lost| lost.lines.len() + lost.more) {
                Some(1) => format!("{name} lost 1 line"),
                Some(lines) => format!("{name} lost {lines} lines"),
                None => format!("{name}: {}", reason_words(*reason)),
            }
        });
        let mut told: Vec<String> = told.collect();
        if refused.len() > told.len() {
            told.push(format!("and {} more", refused.len() - told.len()));
        }
        Ok(format!("{} refused: {}", refused.len(), told.join("; ")))
    }
}

impl ReplyFold {
    fn apply(
        &mut self,
        recorded: &Recorded,
        artifact: impl Fn(ArtifactHash) -> Option<Vec<u8>>,
        earlier: impl Fn() -> Vec<ArtifactHash>,
        told: &mut Vec<Told>,
    ) {
        let episode = recorded.episode;
        self.end_all_but(Some(episode), told);
        self.answering.apply(&recorded.event);
        if let Event::PromptReceived(prompt) = &recorded.event {
            let contents = prompt_contents(prompt);
            let words = self
                .asked
                .next(recorded.session, &contents, artifact, earlier);
            let reply = OpenReply {
                words,
                ..OpenReply::default()
            };
            self.open.insert(episode, reply);
        }
        if let Some(reply) = self.open.get_mut(&episode) {
            reply.apply(&recorded.event);
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

    /// Ends the replies that are over, but for one of which more may come.
    fn end_all_but(&mut self, kept: Option<EpisodeId>, told: &mut Vec<Told>) {
        let open = self.open.iter();
        let over =
            open.filter(|(episode, reply)| reply.outcome.is_some() && Some(**episode) != kept);
        let over: Vec<EpisodeId> = over.map(|(episode, _)| *episode).collect();
        let over = over
            .into_iter()
            .filter_map(|episode| self.open.remove_entry(&episode));
        told.extend(over.map(|(episode, reply)| Told::Reply(episode, Box::new(reply))));
    }
}

impl OpenReply {
    fn apply(&mut self, event: &Event) {
        for moved in event.transitions() {
            let into = match (moved.transition, moved.origin) {
                (Transition::Promote, Origin::Model | Origin::Unattributed) => &mut self.promoted,
                (Transition::Promote, Origin::User) => &mut self.taken,
                (Transition::Remove, _) => &mut self.removed,
                _ => continue,
            };
            // A file counts where nothing in it has a name.
            if moved.entity.symbol.is_some() {
                into.insert(moved.entity.clone());
            }
        }
        match event {
            Event::ReplyEnded(ended) => self.outcome = Some(ended.outcome),
            Event::PromptMeasured(measured) => self.measured = Some(measured.clone()),
            Event::DraftRefused(_) => self.drafts += 1,
            Event::ArtifactCaptured(captured) => {
                let is_models_file = captured.origin == Origin::Model && captured.path.is_some();
                self.captured = Some((captured.artifact, is_models_file));
            }
            Event::ArtifactResolved(resolved) => {
                let captured = self.captured.take();
                let is_models_file = captured.is_some_and(|(_, is_models_file)| is_models_file);
                self.unjudged +=
                    usize::from(is_models_file && resolved.reason.is(ReasonClass::Unjudged));
                let code = captured.into_iter().flat_map(|(source, _)| {
                    let versions = resolved.versions.iter();
                    versions.map(move |it| (it.id, (source, it.spans.clone())))
                });
                self.code.extend(code);
            }
            Event::PromotionRefused(refused) => {
                if refused
                    .report
                    .conclusion
                    .is_some_and(|it| it.is(ReasonClass::Unjudged))
                {
                    return;
                }
                let reason = refused.report.conclusion.unwrap_or(Reason::GrantMissing);
                let is_told = |known: &RefusedVersion| {
                    let along = goes_along(refused) && known.entity.path == refused.entity.path;
                    known.entity == refused.entity || along
                };
                if !self.refused.iter().any(is_told) {
                    self.refused.push(RefusedVersion {
                        version: refused.version,
                        entity: refused.entity.clone(),
                        reason,
                    });
                }
            }
            _ => {}
        }
    }
}

/// The prompt's price, in the model server's own tokens if it has counted them.
fn tokens_part(measured: &PromptMeasured) -> String {
    let server = measured.server.as_ref();
    let evaluated = server.and_then(|server| {
        let cached = || server.prompt_tokens?.checked_sub(server.cached_tokens?);
        server.evaluated_tokens.or_else(cached)
    });
    match evaluated {
        Some(tokens) => format!("{tokens} tokens read anew"),
        None => {
            let tokens = u64::from(measured.sent.chars_anew).div_ceil(CHARACTERS_PER_TOKEN);
            format!("about {tokens} tokens read anew")
        }
    }
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

/// The texts of a prompt's own messages that are a user's. An agent's step brings results of tools alone.
pub(crate) fn prompt_contents(prompt: &PromptReceived) -> Vec<ArtifactHash> {
    let messages = prompt.messages.current().iter();
    let own = messages.filter(|message| message.role == Role::User);
    own.map(|message| message.content).collect()
}

/// What the user said last in each conversation, in its first words: an agent's steps go on from it.
#[derive(Default)]
pub(crate) struct AskedWords(BTreeMap<SessionId, String>);

impl AskedWords {
    /// The words of a conversation's next prompt, of which these are the user's messages. `earlier` gives those that were said before the
    /// first prompt that was asked about.
    pub(crate) fn next(
        &mut self,
        session: SessionId,
        contents: &[ArtifactHash],
        artifact: impl Fn(ArtifactHash) -> Option<Vec<u8>>,
        earlier: impl Fn() -> Vec<ArtifactHash>,
    ) -> String {
        let words_of = |contents: &[ArtifactHash]| {
            contents.iter().rev().find_map(|content| {
                let text = artifact(*content)?;
                let words = first_words(&String::from_utf8_lossy(&text));
                (!words.is_empty()).then_some(words)
            })
        };
        let known = || self.0.get(&session).cloned();
        let words = words_of(contents).or_else(known);
        let words = words.or_else(|| words_of(&earlier()));
        let words = words.unwrap_or_else(|| "…".into());
        self.0.insert(session, words.clone());
        words
    }
}

/// What the user of a conversation said before an event, oldest first, as far as it is kept.
pub(crate) fn asked_before(
    reader: &LedgerReader,
    session: SessionId,
    seq: Seq,
) -> Vec<ArtifactHash> {
    // Words alone hang on it.
    let rows: Vec<AskedRow> = reader.rows().unwrap_or_default();
    let own = rows
        .iter()
        .filter(|row| row.session == session && row.seq < seq);
    own.map(|row| row.text).collect()
}
