//! `tslp status`: what is going on in a workspace, without a model: what was asked last, what became of it, and how the last build and
//! test run ended (docs/memory.md). All of it is derived from the ledger; a place in a file is shown only where disk holds it now.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tslp_core::entity::EntityId;
use tslp_core::event::{Event, Recorded, ReplyOutcome, ToolOutcome};
use tslp_core::ids::{EpisodeId, Seq, SessionId, UnixMillis};
use tslp_core::runs::RunResult;
use tslp_core::scope::{OffRules, ScopeChange};
use tslp_decide::prompt::goal::{Work, asked_last, block_of, lines_within};
use tslp_decide::prompt::last_runs::{COMMAND_CHARS_MAX, Run, last_runs};
use tslp_projections::at_hand::{AskedRow, ClientCallRow};
use tslp_projections::checks::CheckRow;
use tslp_projections::episodes::EpisodeRow;
use tslp_projections::goal::{self, GoalRow};
use tslp_projections::scope::ScopeRow;
use tslp_projections::signals;
use tslp_projections::stale::{DiskDifference, StaleRow};
use tslp_store::ledger::{LedgerError, LedgerReader};
use tslp_store::startup::StartError;

use super::DiagnosedSubject;
use super::state::EntityState;
use super::vouched::{self, VouchedPage};
use crate::evidence::describe::reason_words;
use crate::evidence::moments::utc_moment;
use crate::evidence::story::Outcome;

/// Most tokens of a status.
pub const STATUS_TOKENS_MAX: usize = 150;

/// The last episodes that a status is made of.
const EPISODES_READ: usize = 64;

/// Entities of a kind that are listed.
const ENTITIES_MAX: usize = 8;

/// What is going on.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// What the work is for: the goal first, then what was said of it.
    pub goal: Vec<GoalRow>,
    /// What was asked, refused (newest first), tested and built last.
    pub work: Work,
    /// Entities of which disk holds what nobody was shown.
    pub stale: Vec<EntityId>,
    /// What the model has changed, newest first, and where disk holds it now: `path:line-line symbol`, or the path.
    pub changed: Vec<(EntityId, String)>,
    /// Since when the last conversation waits for what may still come, and whether that is a reply, which only a proxy that runs can bring.
    pub waits: Option<(UnixMillis, bool)>,
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
    let recent = episodes.iter().filter(is_prompt).rev().take(EPISODES_READ);
    let from = recent.map(|row| row.seq).min();
    let since = Outcome::since(reader, from.unwrap_or(Seq(1)))?;
    let (places, refused) = (since.changed, since.refused);
    let text = |hash| {
        let bytes = reader.artifact(hash).ok().flatten()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let off = off_rules(reader)?;
    let is_on = |entity: &EntityId| !off.is_off(entity.path.as_str());
    let stale = reader.rows::<StaleRow>()?.into_iter();
    // A refused change that the file holds is told as refused.
    let held = refused_on_disk(reader)?;
    let is_told = |row: &StaleRow| {
        let mut paths = refused.iter().map(|(entity, _)| &entity.path);
        is_of_refusal(row, &held) && paths.any(|path| *path == row.entity.path)
    };
    let stale =
        stale.filter(|row| EntityState::is_stale_word(row.disk_holds.as_str()) && !is_told(row));
    let stale: Vec<EntityId> = stale.map(|row| row.entity).filter(is_on).collect();
    let mut changed = Vec::new();
    for entity in places.iter().filter(|it| is_on(it)).take(ENTITIES_MAX) {
        changed.extend(place_of(subject, reader, entity)?);
    }
    let refused = refused.into_iter().filter(|(entity, _)| is_on(entity));
    let calls: Vec<ClientCallRow> = reader.rows()?;
    let (build, test) = last_runs(calls.iter().rev(), &text);
    let checks: Vec<CheckRow> = reader.rows()?;
    let check = checks.iter().map(|row| row.seq).max();
    let check = check.and_then(|seq| reader.event_at(seq));
    let asked: Vec<AskedRow> = reader.rows()?;
    let was_asked = |session| asked.iter().any(|it| it.session == session);
    let last = episodes.iter().rev().find(|row| was_asked(row.session));
    let mut waiting = calls.iter().filter(|it| it.answered_at.is_none());
    let waiting = waiting.find(|it| last.is_some_and(|last| last.session == it.session));
    let is_over = |last: &EpisodeRow| last.outcome == Some(ReplyOutcome::Completed);
    let ended = signals::last_end(&reader.rows()?);
    let waits = last.filter(|last| ended < last.until).and_then(|last| {
        let for_reply = last.outcome.is_none();
        let for_tools = waiting.filter(|_| is_over(last)).map(|call| call.asked_at);
        let since = for_tools.or_else(|| for_reply.then_some(last.at_ms))?;
        Some((since, for_reply))
    });
    Ok(Status {
        goal: reader.rows()?,
        work: Work {
            asked: asked_last(asked.iter().rev(), &text),
            is_broken_off: last.is_some_and(|last| waiting.is_some() || !is_over(last)),
            in_flight: refused.take(ENTITIES_MAX).collect(),
            test: later_test(test, check),
            build,
        },
        stale: stale.into_iter().take(ENTITIES_MAX).collect(),
        changed,
        waits,
    })
}

/// The rules by which files go to no model: they are in no status, either, since a model reads it.
pub(super) fn off_rules(reader: &LedgerReader) -> Result<OffRules, LedgerError> {
    let rules = reader.rows::<ScopeRow>()?.into_iter();
    let rules = rules.filter(|row| matches!(row.rule, ScopeChange::Off | ScopeChange::On));
    Ok(rules.map(|row| (row.rule, row.pattern)).collect())
}

/// Where disk holds what is true of an entity now.
fn place_of(
    subject: &DiagnosedSubject,
    reader: &LedgerReader,
    entity: &EntityId,
) -> Result<Option<(EntityId, String)>, LedgerError> {
    let Some(row) = reader.true_entity(entity)? else {
        return Ok(None);
    };
    let Some(text) = subject.disk_now.text(&entity.path) else {
        return Ok(None);
    };
    let source = reader.artifact(row.artifact)?.unwrap_or_default();
    let range = row.spans.first().zip(row.spans.last());
    let range = range.map(|(first, last)| first.start as usize..last.end as usize);
    let held = range.and_then(|range| std::str::from_utf8(source.get(range)?).ok());
    let place = held.map(str::trim_end).and_then(|held| {
        let at = text.find(held)?;
        let line = |until: usize| text[..until].matches('\n').count() + 1;
        let (first, last) = (line(at), line(at + held.len()));
        let EntityId { path, symbol } = entity;
        let symbol = symbol.as_ref();
        let shown = symbol.map(|symbol| format!("{path}:{first}-{last} {symbol}"));
        Some((entity.clone(), shown.unwrap_or_else(|| path.to_string())))
    });
    Ok(place)
}

/// The entities of which disk holds a refused change.
///
/// # Errors
/// When the rows can't be read.
pub fn refused_on_disk(reader: &LedgerReader) -> Result<BTreeSet<EntityId>, LedgerError> {
    let rows = reader.rows::<StaleRow>()?.into_iter();
    let held = rows.filter(|row| row.disk_holds == DiskDifference::Refused);
    Ok(held.map(|row| row.entity).collect())
}

/// Whether disk differs in an entity for a refused change: in what was changed, or in the file around it.
#[must_use]
pub fn is_of_refusal(row: &StaleRow, held: &BTreeSet<EntityId>) -> bool {
    let is_around = |it: &EntityId| it.path == row.entity.path;
    row.disk_holds == DiskDifference::Refused
        || row.entity.symbol.is_none() && held.iter().any(is_around)
}

/// The last test run, or the user's check if that ran later.
fn later_test(test: Option<Run>, check: Option<Recorded>) -> Option<Run> {
    let Some((at, Event::CheckRan(ran))) = check.map(|check| (check.at, check.event)) else {
        return test;
    };
    let is_later = test.as_ref().is_none_or(|test| test.at < at);
    let has_ended = !matches!(
        ran.outcome,
        ToolOutcome::Stopped | ToolOutcome::NotStarted(_)
    );
    let run = || Run {
        command: ran.command.chars().take(COMMAND_CHARS_MAX).collect(),
        result: RunResult {
            passed: Some(ran.outcome == ToolOutcome::Exited(0)),
            summary: Some(ran.outcome.to_string()),
        },
        at,
        session: SessionId(0),
    };
    if is_later && has_ended {
        Some(run())
    } else {
        test
    }
}

impl Status {
    /// Whether there is a goal, or the last work didn't come to its end.
    #[must_use]
    pub fn is_unfinished(&self) -> bool {
        let is_left = self.work.is_broken_off || self.work.is_left(|_| true);
        !self.goal.is_empty() || self.work.asked.is_some() && is_left
    }

    /// The status for people and models, the most useful first: whole lines, as many as fit.
    #[must_use]
    pub fn lines(&self, tokens_max: usize) -> Vec<String> {
        lines_within(self.all_lines().into_iter(), tokens_max)
    }

    fn all_lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = goal::lines(self.goal.iter()).collect();
        lines.extend(self.work.lines());
        let stale = self.stale.iter();
        lines.extend(stale.map(|entity| format!("STALE: {entity}")));
        let changed = self.changed.iter();
        lines.extend(changed.map(|(_, place)| format!("Changed: {place}")));
        lines
    }

    /// The page.
    #[must_use]
    pub fn json_object(&self) -> Value {
        let asked = self.work.asked.as_ref().map(|(asked, words, before)| {
            json!({
                "at": utc_moment(asked.at_ms.0),
                "before": before,
                "episode_id": asked.episode.0,
                "session_id": asked.session.0,
                "words": words,
            })
        });
        let in_flight = self.work.in_flight.iter().map(|(entity, reason)| {
            json!({
                "entity": entity.to_string(),
                "reason": reason.code(),
                "words": reason_words(*reason),
            })
        });
        let changed = self.changed.iter();
        let changed =
            changed.map(|(entity, place)| json!({ "entity": entity.to_string(), "place": place }));
        let goal = self.goal.iter().map(|row| {
            json!({ "at": utc_moment(row.at_ms.0), "text": row.text, "what": row.what.as_str() })
        });
        let stale = self.stale.iter().map(ToString::to_string);
        json!({
            "asked": asked,
            "broken_off": self.work.is_broken_off,
            "build": self.work.build.as_ref().map(run_json),
            "changed": changed.collect::<Vec<_>>(),
            "goal": goal.collect::<Vec<_>>(),
            "in_flight": in_flight.collect::<Vec<_>>(),
            "stale": stale.collect::<Vec<_>>(),
            "test": self.work.test.as_ref().map(run_json),
            "unfinished": self.is_unfinished(),
        })
    }

    /// What a conversation that begins anew is told, if the last work is unfinished.
    #[must_use]
    pub fn recovery_block(&self) -> Option<String> {
        self.is_unfinished()
            .then(|| block_of(self.all_lines().into_iter()))
    }
}

fn run_json(run: &Run) -> Value {
    json!({
        "at": utc_moment(run.at.0),
        "command": run.command,
        "passed": run.result.passed,
        "summary": run.result.summary,
    })
}
