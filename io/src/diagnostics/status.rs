//! `tslp status`: what is going on in a workspace, without a model: what was asked last, what became of it, and how the last build and
//! test run ended (docs/memory.md). All of it is derived from the ledger; a place in a file is shown only where disk holds it now.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tslp_core::artifact::{Origin, Transition};
use tslp_core::capture;
use tslp_core::entity::EntityId;
use tslp_core::event::{
    CheckRan, Event, EventKind, Recorded, ReplyOutcome, ToolCallRef, ToolOutcome,
};
use tslp_core::guardian::{CallPart, builds_and_tests, call_parts};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, Seq, SessionId, UnixMillis, VersionId};
use tslp_core::message::Role;
use tslp_core::reason::Reason;
use tslp_core::scope::{OffRules, ScopeChange};
use tslp_decide::goal::{block_of, lines_within};
use tslp_projections::episodes::EpisodeRow;
use tslp_projections::goal::{self, GoalRow};
use tslp_projections::scope::ScopeRow;
use tslp_projections::signals;
use tslp_projections::stale::StaleRow;
use tslp_projections::state_map::StateMapRow;
use tslp_store::ledger::{LedgerError, LedgerReader};
use tslp_store::startup::StartError;

use super::DiagnosedSubject;
use super::runs::{RunResult, run_result};
use super::state::EntityState;
use super::vouched::{self, VouchedPage};
use crate::evidence::describe::reason_words;
use crate::evidence::moments::utc_moment;
use crate::evidence::replies::prompt_words;

/// Most tokens of a status.
pub const STATUS_TOKENS_MAX: usize = 150;

/// The last episodes that a status is made of.
const EPISODES_READ: usize = 64;

/// Results of tools that are looked through for the last runs.
const RESULTS_READ: usize = 200;

/// Entities of a kind that are listed.
const ENTITIES_MAX: usize = 8;

/// A prompt of fewer words says little.
const WORDS_MIN: usize = 4;

/// The longest command that is shown, in characters.
const COMMAND_CHARS_MAX: usize = 80;

/// What is going on.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// What the work is for: the goal first, then what was said of it.
    pub goal: Vec<GoalRow>,
    /// The user's last prompt.
    pub asked: Option<Asked>,
    /// Changes of the model's that were refused, and why, newest first.
    pub in_flight: Vec<(EntityId, Reason)>,
    /// Entities of which disk holds what nobody was shown.
    pub stale: Vec<EntityId>,
    /// What the model has changed, newest first, where disk holds it now.
    pub changed: Vec<Place>,
    /// The last build.
    pub build: Option<Run>,
    /// The last test run.
    pub test: Option<Run>,
    /// Whether the last reply broke off, or asked for tools whose results never came.
    pub is_broken_off: bool,
    /// What is waited for in the last conversation, if it may still come.
    pub waits: Option<Waiting>,
}

/// A reply under way, or tools whose results haven't come, in the last conversation.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// Whether it is the reply, which only a proxy that runs can bring.
    pub for_reply: bool,
    /// When the conversation was last heard of.
    pub since: UnixMillis,
}

/// What the user asked for.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The first words.
    pub words: String,
    /// Those of the last prompt before it that says more, where it says little itself.
    pub before: Option<String>,
    /// The conversation.
    pub session: SessionId,
    /// The last episode in which it was the prompt.
    pub episode: EpisodeId,
    /// When that was.
    pub at: UnixMillis,
}

/// An entity and its lines on disk.
#[derive(Clone, Debug)]
pub struct Place {
    /// The entity.
    pub entity: EntityId,
    /// Its first and last line, counted from 1; `None` for a whole file.
    pub lines: Option<(usize, usize)>,
}

/// A build or a test run that an agent made.
#[derive(Clone, Debug)]
pub struct Run {
    /// The beginning of its command line.
    pub command: String,
    /// How it ended.
    pub result: RunResult,
    /// When its result came.
    pub at: UnixMillis,
}

/// Reads the status.
///
/// # Errors
/// When the ledger can't be read.
pub fn read_status(subject: &DiagnosedSubject) -> Result<VouchedPage<Status>, StartError> {
    let reader = subject.readers.open()?;
    let flaw = vouched::flaw_of_tables(subject, &reader)?;
    let page = match flaw {
        None => status_of(subject, &reader)?,
        Some(_) => Status::default(),
    };
    Ok(VouchedPage { page, flaw })
}

fn status_of(subject: &DiagnosedSubject, reader: &LedgerReader) -> Result<Status, LedgerError> {
    let episodes = reader.rows::<EpisodeRow>()?;
    let is_prompt = |row: &&EpisodeRow| row.episode != EpisodeId::OUTSIDE;
    let last = episodes.iter().filter(is_prompt).rev().take(EPISODES_READ);
    let mut work = LastWork::default();
    if let Some(from) = last.map(|row| row.seq).min() {
        let left_out = [
            EventKind::Content,
            EventKind::ReplySegment,
            EventKind::ReplyPart,
            EventKind::PromptSent,
        ];
        reader.read_without(&left_out, from, &mut |stored, event| {
            work.apply(&stored.recorded(event));
        })?;
    }
    let text = |hash| {
        let bytes = reader.artifact(hash).ok().flatten();
        bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    let off = off_rules(reader)?;
    let is_on = |entity: &EntityId| !off.is_off(entity.path.as_str());
    let mut stale: Vec<EntityId> = Vec::new();
    for row in reader.rows::<StaleRow>()? {
        let state = EntityState::is_stale_word(row.disk_holds.as_str());
        if state && is_on(&row.entity) && stale.len() < ENTITIES_MAX {
            stale.push(row.entity);
        }
    }
    let mut changed = Vec::new();
    for entity in newest(work.changed.iter().map(|(entity, seq)| (*seq, entity))) {
        if changed.len() < ENTITIES_MAX && is_on(entity) {
            changed.extend(place_of(subject, reader, entity)?);
        }
    }
    let refused = work.refused.iter();
    let refused = newest(refused.map(|(entity, it)| (it.seq, (entity, it.reason))));
    let refused = refused.into_iter().filter(|(entity, _)| is_on(entity));
    let refused = refused.map(|(entity, reason)| (entity.clone(), reason));
    let (build, test) = work.last_runs(&text);
    Ok(Status {
        goal: reader.rows()?,
        asked: work.asked(&text),
        in_flight: refused.take(ENTITIES_MAX).collect(),
        stale,
        changed,
        build,
        test,
        is_broken_off: work.is_broken_off(),
        waits: work.waits(signals::last_end(&reader.rows()?)),
    })
}

/// The rules by which files go to no model: they are in no status, either, since a model reads it.
pub(super) fn off_rules(reader: &LedgerReader) -> Result<OffRules, LedgerError> {
    let rules = reader.rows::<ScopeRow>()?.into_iter();
    let rules = rules.filter(|row| matches!(row.rule, ScopeChange::Off | ScopeChange::On));
    Ok(rules.map(|row| (row.rule, row.pattern)).collect())
}

/// The things in order of their positions, the newest first.
fn newest<T>(things: impl Iterator<Item = (Seq, T)>) -> Vec<T> {
    let mut things: Vec<(Seq, T)> = things.collect();
    things.sort_by_key(|(seq, _)| std::cmp::Reverse(*seq));
    things.into_iter().map(|(_, thing)| thing).collect()
}

/// Where disk holds what is true of an entity now.
fn place_of(
    subject: &DiagnosedSubject,
    reader: &LedgerReader,
    entity: &EntityId,
) -> Result<Option<Place>, LedgerError> {
    let Some(row) = reader.find_row::<StateMapRow>((entity.clone(),))? else {
        return Ok(None);
    };
    let Some(text) = subject.disk_now.text(&entity.path) else {
        return Ok(None);
    };
    let source = reader.artifact(row.source)?.unwrap_or_default();
    let range = row.spans.first().zip(row.spans.last());
    let range = range.map(|(first, last)| first.start as usize..last.end as usize);
    let held = range.and_then(|range| std::str::from_utf8(source.get(range)?).ok());
    let place = held.and_then(|held| {
        let at = text.find(held.trim_end())?;
        let line = |until: usize| text[..until].matches('\n').count() + 1;
        let lines = (line(at), line(at + held.trim_end().len()));
        Some(Place {
            entity: entity.clone(),
            lines: entity.symbol.is_some().then_some(lines),
        })
    });
    Ok(place)
}

/// A fold of the last events.
#[derive(Default)]
struct LastWork {
    prompts: Vec<Prompted>,
    /// Conversations of the model's own subagents.
    subagents: BTreeSet<SessionId>,
    /// The calls of each conversation's last reply.
    calls: BTreeMap<SessionId, Vec<ToolCallRef>>,
    results: Vec<ToolResult>,
    changed: BTreeMap<EntityId, Seq>,
    refused: BTreeMap<EntityId, RefusedChange>,
    outcomes: BTreeMap<SessionId, Option<ReplyOutcome>>,
    /// The last run of the user's check.
    check: Option<(CheckRan, UnixMillis)>,
    /// When each conversation was last heard of.
    heard: BTreeMap<SessionId, (UnixMillis, Seq)>,
}

struct Prompted {
    session: SessionId,
    episode: EpisodeId,
    at: UnixMillis,
    contents: Vec<ArtifactHash>,
}

struct ToolResult {
    call: ToolCallRef,
    content: ArtifactHash,
    at: UnixMillis,
}

struct RefusedChange {
    version: VersionId,
    reason: Reason,
    seq: Seq,
}

impl LastWork {
    fn apply(&mut self, recorded: &Recorded) {
        let session = recorded.session;
        self.heard.insert(session, (recorded.at, recorded.seq));
        match &recorded.event {
            Event::PromptReceived(prompt) => {
                self.outcomes.insert(session, None);
                let current = prompt.messages.current();
                let users = current.iter().filter(|it| it.role == Role::User);
                self.prompts.push(Prompted {
                    session,
                    episode: recorded.episode,
                    at: recorded.at,
                    contents: users.map(|message| message.content).collect(),
                });
                let calls = self.calls.remove(&session).unwrap_or_default();
                let results = current.iter().rev();
                let results = results.take_while(|it| it.role == Role::Tool);
                let results: Vec<ArtifactHash> = results.map(|it| it.content).collect();
                // Which result is whose follows from their order, so only if there is one for each call.
                if results.len() == calls.len() {
                    let pairs = calls.into_iter().zip(results.into_iter().rev());
                    self.results.extend(pairs.map(|(call, content)| ToolResult {
                        call,
                        content,
                        at: recorded.at,
                    }));
                }
            }
            Event::AuthorFound(found) if found.opens_subagent => {
                self.subagents.insert(session);
            }
            Event::ReplyEnded(ended) => {
                self.outcomes.insert(session, Some(ended.outcome));
                self.calls.insert(session, ended.tool_calls.clone());
            }
            Event::CheckRan(ran) => match ran.outcome {
                ToolOutcome::Stopped | ToolOutcome::NotStarted(_) => {}
                _ => self.check = Some((ran.clone(), recorded.at)),
            },
            Event::PromotionRefused(refused) => {
                if let Some(reason) = refused.report.conclusion {
                    let change = RefusedChange {
                        version: refused.version,
                        reason,
                        seq: recorded.seq,
                    };
                    self.refused.insert(refused.entity.clone(), change);
                }
            }
            Event::Transitioned(moved) => {
                let is_promoted = moved.transition == Transition::Promote;
                let is_over =
                    |change: &RefusedChange| is_promoted || change.version == moved.version;
                if self.refused.get(&moved.entity).is_some_and(is_over) {
                    self.refused.remove(&moved.entity);
                }
                match (moved.transition, moved.origin) {
                    (Transition::Promote, Origin::Model) => {
                        self.changed.insert(moved.entity.clone(), recorded.seq);
                    }
                    (Transition::Remove, _) => {
                        self.changed.remove(&moved.entity);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// The prompts that people wrote, newest first.
    fn users_prompts(&self) -> impl Iterator<Item = &Prompted> {
        let prompts = self.prompts.iter().rev();
        prompts.filter(|it| !self.subagents.contains(&it.session))
    }

    fn asked(&self, text: &impl Fn(ArtifactHash) -> Option<String>) -> Option<Asked> {
        let mut prompts = self.users_prompts().filter_map(|prompt| {
            let own = prompt.contents.iter().copied().filter(|content| {
                text(*content).is_some_and(|text| !capture::quotes_a_conversation(&text))
            });
            let own: Vec<ArtifactHash> = own.collect();
            let words = prompt_words(&own, |content| text(content).map(String::into_bytes));
            (words != "…").then_some((prompt, words))
        });
        let (prompt, words) = prompts.next()?;
        // "Go on." says nothing of what to go on with.
        let says_little = |words: &str| words.split_whitespace().count() < WORDS_MIN;
        let before = match says_little(&words) {
            true => prompts.map(|(_, words)| words).find(|it| !says_little(it)),
            false => None,
        };
        Some(Asked {
            words,
            before,
            session: prompt.session,
            episode: prompt.episode,
            at: prompt.at,
        })
    }

    fn is_broken_off(&self) -> bool {
        let Some(last) = self.users_prompts().next() else {
            return false;
        };
        let has_calls = self
            .calls
            .get(&last.session)
            .is_some_and(|it| !it.is_empty());
        let outcome = self.outcomes.get(&last.session).copied().flatten();
        outcome != Some(ReplyOutcome::Completed) || has_calls
    }

    /// What may still come in the last conversation, whose client hasn't told that it is over.
    fn waits(&self, ended: Seq) -> Option<Waiting> {
        let session = self.users_prompts().next()?.session;
        let (since, seq) = *self.heard.get(&session)?;
        let outcome = self.outcomes.get(&session).copied().flatten();
        let for_reply = outcome.is_none();
        let for_tools = outcome == Some(ReplyOutcome::Completed)
            && self.calls.get(&session).is_some_and(|it| !it.is_empty());
        let waits = (for_reply || for_tools) && ended < seq;
        waits.then_some(Waiting { for_reply, since })
    }

    fn last_runs(
        &self,
        text: &impl Fn(ArtifactHash) -> Option<String>,
    ) -> (Option<Run>, Option<Run>) {
        let (mut build, mut test) = (None, None);
        for result in self.results.iter().rev().take(RESULTS_READ) {
            if build.is_some() && test.is_some() {
                break;
            }
            let name = &result.call.name;
            let arguments = text(result.call.arguments).unwrap_or_default();
            let place = match builds_and_tests(name, &arguments) {
                (0, 0) => continue,
                (_, 0) => &mut build,
                _ => &mut test,
            };
            if place.is_some() {
                continue;
            }
            let mut parts = call_parts(name, &arguments).into_iter();
            let shell = parts.find(|(part, _)| *part == CallPart::Shell);
            let command = shell.map(|(_, line)| line).unwrap_or_default();
            let command = command.lines().next().unwrap_or_default().trim();
            *place = Some(Run {
                command: command.chars().take(COMMAND_CHARS_MAX).collect(),
                result: run_result(&text(result.content).unwrap_or_default()),
                at: result.at,
            });
        }
        if let Some((ran, at)) = &self.check
            && test.as_ref().is_none_or(|test| test.at < *at)
        {
            let passed = Some(ran.outcome == ToolOutcome::Exited(0));
            let said = run_result(&text(ran.output).unwrap_or_default());
            let said = said.summary.filter(|_| said.passed == passed);
            test = Some(Run {
                command: ran.command.chars().take(COMMAND_CHARS_MAX).collect(),
                result: RunResult {
                    passed,
                    summary: said.or_else(|| Some(ran.outcome.to_string())),
                },
                at: *at,
            });
        }
        (build, test)
    }
}

impl Status {
    /// Whether there is a goal, or the last work didn't come to its end.
    #[must_use]
    pub fn is_unfinished(&self) -> bool {
        let failed = |run: &Option<Run>| {
            let run = run.as_ref();
            run.is_some_and(|run| run.result.passed == Some(false))
        };
        let is_left = self.is_broken_off
            || !self.in_flight.is_empty()
            || failed(&self.test)
            || failed(&self.build);
        !self.goal.is_empty() || self.asked.is_some() && is_left
    }

    /// What there is to tell while the last conversation is at work: what it leaves is its own.
    #[must_use]
    pub fn with_goal_alone(self) -> Self {
        Self {
            goal: self.goal,
            ..Self::default()
        }
    }

    /// The status for people and models, the most useful first: whole lines, as many as fit.
    #[must_use]
    pub fn lines(&self, tokens_max: usize) -> Vec<String> {
        lines_within(self.all_lines().into_iter(), tokens_max)
    }

    fn all_lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = goal::lines(self.goal.iter()).collect();
        if let Some(asked) = &self.asked {
            let before = asked.before.as_ref();
            let before = before.map_or_else(String::new, |it| format!(" (before: {it})"));
            lines.push(format!("Asked last: {}{before}", asked.words));
        }
        if self.is_broken_off {
            lines.push("The last reply did not come to its end.".to_owned());
        }
        let refused = self.in_flight.iter();
        lines
            .extend(refused.map(|(entity, reason)| {
                format!("In flight: {entity} refused ({})", reason.code())
            }));
        lines.extend(self.test.iter().map(|run| run.line("Last test run")));
        lines.extend(self.build.iter().map(|run| run.line("Last build")));
        let stale = self.stale.iter();
        lines.extend(stale.map(|entity| format!("STALE: {entity}")));
        let changed = self.changed.iter();
        lines.extend(changed.map(|place| format!("Changed: {}", place.shown())));
        lines
    }

    /// The page.
    #[must_use]
    pub fn json_object(&self) -> Value {
        let asked = self.asked.as_ref().map(|asked| {
            json!({
                "at": utc_moment(asked.at.0),
                "before": asked.before,
                "episode_id": asked.episode.0,
                "session_id": asked.session.0,
                "words": asked.words,
            })
        });
        let in_flight = self.in_flight.iter().map(|(entity, reason)| {
            json!({
                "entity": entity.to_string(),
                "reason": reason.code(),
                "words": reason_words(*reason),
            })
        });
        let changed = self
            .changed
            .iter()
            .map(|place| json!({ "entity": place.entity.to_string(), "place": place.shown() }));
        let goal = self.goal.iter().map(|row| {
            json!({ "at": utc_moment(row.at_ms.0), "text": row.text, "what": row.what.as_str() })
        });
        let stale = self.stale.iter().map(ToString::to_string);
        json!({
            "asked": asked,
            "broken_off": self.is_broken_off,
            "build": self.build.as_ref().map(Run::json_object),
            "changed": changed.collect::<Vec<_>>(),
            "goal": goal.collect::<Vec<_>>(),
            "in_flight": in_flight.collect::<Vec<_>>(),
            "stale": stale.collect::<Vec<_>>(),
            "test": self.test.as_ref().map(Run::json_object),
            "unfinished": self.is_unfinished(),
        })
    }

    /// What a conversation that begins anew is told, if the last work is unfinished.
    #[must_use]
    pub fn recovery_block(&self) -> Option<String> {
        let is_told = self.is_unfinished();
        is_told.then(|| block_of(self.all_lines().into_iter()))
    }
}

impl Place {
    /// `path:line-line symbol`, or the path.
    #[must_use]
    pub fn shown(&self) -> String {
        let EntityId { path, symbol } = &self.entity;
        match (self.lines, symbol) {
            (Some((first, last)), Some(symbol)) => format!("{path}:{first}-{last} {symbol}"),
            _ => path.to_string(),
        }
    }
}

impl Run {
    fn line(&self, what: &str) -> String {
        let outcome = match self.result.passed {
            Some(true) => "passed",
            Some(false) => "FAILED",
            None => "its output does not tell how it ended",
        };
        let summary = self.result.summary.as_ref();
        let summary = summary.map_or_else(String::new, |line| format!(" ({line})"));
        format!("{what}: `{}`: {outcome}{summary}", self.command)
    }

    fn json_object(&self) -> Value {
        json!({
            "at": utc_moment(self.at.0),
            "command": self.command,
            "passed": self.result.passed,
            "summary": self.result.summary,
        })
    }
}
