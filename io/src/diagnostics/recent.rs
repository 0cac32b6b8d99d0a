//! `/recent`: what the last episodes were about and what became of their code, without any content (spec §14.3).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tslp_core::artifact::Origin;
use tslp_core::event::History;
use tslp_core::ids::{EpisodeId, Seq};
use tslp_core::limits::RECENT_EPISODES_SHOWN;
use tslp_core::reason::Reason;
use tslp_core::record::parse_key;
use tslp_projections::audits::AuditRow;
use tslp_projections::episodes::EpisodeRow;
use tslp_projections::row::outcome_word;

use super::DiagnosedSubject;
use super::price::{self, CacheBreak, PromptPrice};
use super::status::off_rules;
use super::vouched::{self, VouchedPage};
use crate::attention::Attention;
use crate::channel::{MissingLines, RecentQuery};
use crate::evidence::describe::{lost_call_words, reason_words};
use crate::evidence::missing::MissingCode;
use crate::evidence::moments::utc_moment;
use crate::evidence::replies::AskedWords;
use crate::evidence::story::{Entry, Step, Steps, Told};
use tslp_store::ledger::{LedgerError, LedgerReader};
use tslp_store::startup::StartError;

/// One step, a prompt with its reply, or everything outside of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepReport {
    /// What is known of it. Episode 0 is for everything outside of prompts, mostly on the command line.
    pub row: EpisodeRow,
    /// What happened in it.
    pub step: Step,
    /// The first words of what the user asked, and the step in which it was asked, once they were looked for.
    turn: Option<(String, EpisodeId)>,
    /// The shadow audits of its reply (spec §10).
    pub audits: Vec<AuditRow>,
    /// How much it asks of its model's attention.
    pub attention: Option<Attention>,
    /// Where it differs from the prompt before it in its conversation.
    pub cache_break: Option<CacheBreak>,
}

/// Events before the last one outside of prompts that are looked at for others of their kind, at least.
const OUTSIDE_EVENTS_MIN: u64 = 1024;

/// The last steps, newest first; everything outside of them is one entry, at the time of its last act.
///
/// # Errors
/// When the ledger can't be read.
pub fn read_recent(
    subject: &DiagnosedSubject,
    wanted: RecentQuery,
) -> Result<VouchedPage<Vec<StepReport>>, StartError> {
    let reader = subject.readers.open()?;
    let flaw = vouched::flaw_of_tables(subject, &reader)?;
    let limit = wanted.limit.unwrap_or(RECENT_EPISODES_SHOWN);
    let mut page = last_steps(&reader, limit, flaw.as_deref())?;
    if wanted.missing_lines == MissingLines::Shown {
        let mut asked = AskedWords::default();
        for StepReport {
            row, step, turn, ..
        } in page.iter_mut().rev()
        {
            if !is_outside(row) {
                let place = (row.session, row.episode, row.seq);
                *turn = Some(asked.next(&reader, place, &step.prompt));
            }
            for at in 0..step.entries.len() {
                let missing = step.lost_lines(&reader, row.episode, &step.entries[at])?;
                step.entries[at].missing = missing;
            }
        }
    }
    Ok(VouchedPage { page, flaw })
}

fn last_steps(
    reader: &LedgerReader,
    limit: usize,
    flaw: Option<&str>,
) -> Result<Vec<StepReport>, LedgerError> {
    let mut audits: BTreeMap<EpisodeId, Vec<AuditRow>> = BTreeMap::new();
    for row in reader.rows::<AuditRow>()? {
        audits.entry(row.episode).or_default().push(row);
    }
    let mut episodes = reader.rows::<EpisodeRow>()?;
    // It has number 0, so it is the first row; it is shown at the time of its last act.
    if episodes.first().is_some_and(is_outside) {
        let outside = episodes.remove(0);
        let place = episodes.partition_point(|row| row.at_ms <= outside.at_ms);
        episodes.insert(place, outside);
    }
    let mut breaks = price::cache_breaks(&episodes);
    let surplus = episodes.len().saturating_sub(limit);
    episodes.drain(..surplus);
    let first_event = |row: &EpisodeRow| {
        let before = if is_outside(row) {
            OUTSIDE_EVENTS_MIN
        } else {
            0
        };
        row.seq.0.saturating_sub(before)
    };
    let mut steps = Steps::default();
    if let Some(from) = episodes.iter().map(first_event).min() {
        // Where the ledger is known to be damaged, those before the damage are shown.
        match (steps.read(reader, Seq(from.max(1))), flaw) {
            (Err(error), None) => return Err(error),
            (Ok(()), _) | (Err(_), Some(_)) => {}
        }
    }
    let scope = off_rules(reader)?;
    let rule_of = |entry: &Entry| {
        let is_off = matches!(entry.reason, Reason::OffByUser | Reason::OffInMessage);
        let entity = entry.entity.as_ref().filter(|_| is_off)?;
        scope.pattern_for(entity.path.as_str()).map(str::to_owned)
    };
    let reports = episodes.into_iter().rev().map(|row| {
        let mut step = steps.steps.remove(&row.episode).unwrap_or_default();
        for entry in &mut step.entries {
            entry.rule = rule_of(entry);
        }
        StepReport {
            step,
            turn: None,
            audits: audits.remove(&row.episode).unwrap_or_default(),
            attention: Attention::of_row(&row),
            cache_break: breaks.remove(&row.episode),
            row,
        }
    });
    Ok(reports.collect())
}

fn is_outside(row: &EpisodeRow) -> bool {
    row.episode == EpisodeId::OUTSIDE
}

/// The page.
#[must_use]
pub fn recent_json(steps: &[StepReport]) -> Value {
    let episodes: Vec<Value> = steps.iter().map(step_json).collect();
    json!({ "episodes": episodes })
}

fn step_json(report: &StepReport) -> Value {
    let StepReport {
        row, step, audits, ..
    } = report;
    let entries = &step.entries;
    let entities: BTreeSet<String> = entries.iter().filter_map(entity_name).collect();
    let of = |state: &str| -> Vec<Value> {
        let entries = entries.iter().filter(|it| it.told.state() == state);
        let page = entries.map(|entry| {
            let mut page = json!({ "entity": entity_name(entry), "reason": entry.reason.code() });
            if let Some(rule) = &entry.rule {
                page["rule"] = json!(rule);
            }
            page
        });
        page.collect()
    };
    let is_state = |state: &str| state.chars().all(|c| c.is_ascii_uppercase());
    let states = entries.iter().filter(|it| is_state(it.told.state()));
    let audits = audits.iter();
    let audits: Vec<Value> = audits
        .map(|audit| json!({ "entity": audit.entity.to_string(), "status": audit.status.as_str() }))
        .collect();
    let measured = row.measured.as_ref();
    let added_micros = measured.and_then(|it| it.added_micros);
    let mut json = json!({
        "added_ms": added_micros.map(|micros| f64::from(micros) / 1000.0),
        "artifact_states": states.map(|it| state_json(it, report.turn.is_some())).collect::<Vec<_>>(),
        "at": utc_moment(row.at_ms.0),
        "attention": report.attention.map(Attention::json_object),
        "audits": audits,
        "cache_break": report.cache_break.map(|it| it.json_object()),
        "client": client_name(measured.map_or("", |it| &it.user_agent)),
        "entities": entities,
        "episode_id": row.episode.0,
        "from": if is_outside(row) { "command line" } else { "prompt" },
        "history": row.history.map(History::as_str),
        "hydrated": of("hydrated"),
        "model": row.model,
        "lost_calls": step.lost_calls,
        "notices": of("notice"),
        "outcome": row.outcome.map(outcome_word),
        "price": PromptPrice::of_row(row).map(|price| price.json_object()),
        "session_id": row.session.0,
        "window": step.exceeded,
        "window_tokens": measured.and_then(|it| it.window),
        "withheld": of("withheld"),
    });
    // Only where a reply was asked for once more.
    let first = of("asked again");
    if !first.is_empty() {
        json["refused_drafts"] = json!({ "first": first, "second": of("no better") });
    }
    // They are content: only who asks for missing lines gets them.
    if let Some((words, turn)) = &report.turn {
        json["words"] = words.as_str().into();
        json["turn"] = turn.0.into();
    }
    json
}

/// A client's name for people: the first product that it names, without its version (RFC 9110 §10.1.5).
pub(crate) fn client_name(user_agent: &str) -> Option<&str> {
    let product = user_agent.split_whitespace().next()?;
    let is_version = |it: &(&str, &str)| it.1.starts_with(|c: char| c.is_ascii_digit());
    let versioned = product.rsplit_once('/').filter(is_version);
    Some(versioned.map_or(product, |(name, _)| name))
}

fn entity_name(entry: &Entry) -> Option<String> {
    entry.entity.as_ref().map(ToString::to_string)
}

fn state_json(entry: &Entry, tells_author: bool) -> Value {
    let mut json = json!({
        "entity": entity_name(entry),
        "reason": entry.reason.code(),
        "state": entry.told.state(),
    });
    if tells_author && entry.origin == Some(Origin::User) {
        json["by"] = Origin::User.as_str().into();
    }
    if let Some(missing) = &entry.missing {
        json["missing_lines"] = json!({ "lines": missing.lines, "more": missing.more });
    }
    json
}

/// The page for people: turns, newest first, each with what became of code in all of its steps.
#[must_use]
pub fn recent_lines(steps: &[StepReport]) -> Vec<String> {
    if steps.is_empty() {
        return vec!["Nothing has happened yet.".into()];
    }
    let mut lines = Vec::new();
    let is_same_turn = |one: &StepReport, next: &StepReport| {
        let turn = |it: &StepReport| it.turn.as_ref().map(|(_, turn)| (*turn, it.row.session));
        turn(one).is_some() && turn(one) == turn(next)
    };
    for turn in steps.chunk_by(is_same_turn) {
        let (last, first) = (&turn[0].row, &turn[turn.len() - 1].row);
        let at = utc_moment(last.at_ms.0);
        lines.push(if is_outside(last) {
            format!("command line, last at {at}")
        } else {
            let outcome = last.outcome.map_or_else(|| "open".into(), outcome_word);
            let episodes = match turn.len() {
                1 => format!("episode {}", last.episode.0),
                steps => format!(
                    "episodes {} to {} ({steps} steps)",
                    first.episode.0, last.episode.0
                ),
            };
            format!(
                "{episodes} of session {}, {at}, model {}: {}",
                last.session.0, last.model, &*outcome
            )
        });
        let words = turn[0].turn.as_ref();
        lines.extend(words.map(|(words, _)| format!("  \"{words}\"")));
        let entries = turn.iter().rev().flat_map(|report| &report.step.entries);
        lines.extend(file_lines(&told_once(entries.collect())));
        lines.extend(turn.iter().rev().flat_map(cost_lines));
    }
    lines
}

/// The entries of a turn, without refusals that came to nothing or were repeated: the last one is what counts.
fn told_once(mut entries: Vec<&Entry>) -> Vec<&Entry> {
    let mut settled = BTreeSet::new();
    entries.reverse();
    entries.retain(|entry| match entry.told {
        Told::True | Told::Removed => {
            settled.insert((entry.entity.as_ref(), entry.told));
            true
        }
        Told::Refused => {
            let is_over = settled.contains(&(entry.entity.as_ref(), Told::True));
            !is_over && settled.insert((entry.entity.as_ref(), Told::Refused))
        }
        _ => true,
    });
    entries.reverse();
    entries
}

/// What a step cost, and what became of its prompt and its calls.
fn cost_lines(report: &StepReport) -> Vec<String> {
    let mut lines = Vec::new();
    for audit in &report.audits {
        let (entity, status) = (&audit.entity, audit.status.as_str());
        lines.push(format!("  audit of {entity}: {status}"));
    }
    if let Some(price) = PromptPrice::of_row(&report.row) {
        lines.push(format!("  price: {}", price.text_line()));
    }
    if let Some(cache_break) = &report.cache_break {
        lines.push(format!("  cache: {}", cache_break.text_line()));
    }
    if let Some((attention, advice)) = report
        .attention
        .and_then(|it| Some((it, it.level.advice()?)))
    {
        lines.push(format!("  {}: {advice}", attention.words()));
    }
    if let Some(exceeded) = &report.step.exceeded {
        lines.push(format!("  window: {}", exceeded.sentence()));
    }
    let lost_calls = report.step.lost_calls.iter().map(lost_call_words);
    lines.extend(lost_calls.map(|words| format!("  calls: {words}")));
    lines
}

/// Entities of one file of which the same is to be said.
struct EntryGroup<'e> {
    label: &'static str,
    reason: Reason,
    names: Vec<String>,
    missing: Option<&'e MissingCode>,
    rule: Option<&'e str>,
}

/// Most names of a group.
const NAMES_MAX: usize = 8;

/// What happened, file by file.
fn file_lines(entries: &[&Entry]) -> Vec<String> {
    let mut files: Vec<(&str, Vec<EntryGroup<'_>>)> = Vec::new();
    for entry in entries {
        let Some(label) = entry_label(entry) else {
            continue;
        };
        let entity = entry.entity.as_ref();
        let file = entity.map_or("", |entity| entity.path.as_str());
        let at = files.iter().position(|(known, _)| *known == file);
        let at = at.unwrap_or_else(|| {
            files.push((file, Vec::new()));
            files.len() - 1
        });
        let groups = &mut files[at].1;
        let symbol = entity.and_then(|entity| entity.symbol.as_ref());
        let whole = entity.map(|entity| match parse_key(entity.path.as_str()) {
            Some(_) => "the statement".to_owned(),
            None => "the file".to_owned(),
        });
        let name = symbol.map(ToString::to_string).or(whole);
        let rule = entry.rule.as_deref();
        let same = groups.iter_mut().find(|group| {
            (group.label, group.reason, group.rule) == (label, entry.reason, rule)
                && group.missing.is_none()
                && entry.missing.is_none()
        });
        match same {
            Some(group) => group.names.extend(name),
            None => groups.push(EntryGroup {
                label,
                reason: entry.reason,
                names: Vec::from_iter(name),
                missing: entry.missing.as_ref(),
                rule,
            }),
        }
    }
    let mut lines = Vec::new();
    for (file, groups) in files {
        if !file.is_empty() {
            lines.push(format!("  {file}"));
        }
        for group in groups {
            lines.push(group.line());
            if let Some(missing) = group.missing {
                let gone = missing.lines.iter();
                lines.extend(gone.map(|line| format!("      - {line}")));
                if missing.more > 0 {
                    lines.push(format!("      and {} more lines", missing.more));
                }
            }
        }
    }
    lines
}

impl EntryGroup<'_> {
    fn line(&self) -> String {
        let mut names = self.names.clone();
        names.dedup();
        let more = names.len().saturating_sub(NAMES_MAX);
        names.truncate(NAMES_MAX);
        let mut reason = reason_words(self.reason);
        if let Some(rule) = self.rule {
            reason = format!("{reason}: {rule}");
        }
        match (names.is_empty(), more) {
            (true, _) => format!("    {}: {reason}", self.label),
            (false, 0) => format!("    {}: {} ({reason})", self.label, names.join(", ")),
            (false, more) => {
                let names = names.join(", ");
                format!("    {}: {names} and {more} more ({reason})", self.label)
            }
        }
    }
}

/// What an entry says, for people; `None` if another entry says it.
fn entry_label(entry: &Entry) -> Option<&'static str> {
    match (entry.told, entry.reason) {
        // What took its place is listed.
        (Told::Replaced, _) => None,
        (Told::LeftOut, Reason::CoveredByFile | Reason::InSight) => Some(Told::Shown.label()),
        (told, _) => Some(told.label()),
    }
}

#[cfg(test)]
mod tests {
    use tslp_core::entity::{EntityId, Symbol};
    use tslp_core::ids::{SessionId, UnixMillis};
    use tslp_core::path::RelPath;

    use super::*;

    /// What happened is grouped by file and cause.
    #[test]
    fn grouped_entries() {
        let entry = |told, name: &str, reason| {
            let path = RelPath::from_normalised("src/a.c");
            let entity = EntityId::symbol(path, Symbol::new(name));
            Entry::of(Seq(1), told, Some(&entity), reason)
        };
        let promoted = |name| entry(Told::True, name, Reason::WriteHead);
        let names: Vec<String> = (0..10).map(|number| format!("f{number}")).collect();
        let mut entries: Vec<Entry> = names.iter().map(|name| promoted(name)).collect();
        entries.extend([
            entry(Told::LeftOut, "g", Reason::CoveredByFile),
            entry(Told::Replaced, "f0", Reason::Replaced),
            entry(Told::Dropped, "h", Reason::Stale),
            entry(Told::Refused, "k", Reason::RemovedUnasked),
            entry(Told::LeftOut, "", Reason::QuotationMissing),
        ]);
        entries[14].entity = Some(EntityId::file(RelPath::from_normalised("#limits")));
        entries[13].missing = Some(MissingCode {
            lines: vec!["return 0;".to_owned()],
            more: 2,
        });
        let expected = [
            "  src/a.c",
            "    true now: f0, f1, f2, f3, f4, f5, f6, f7 and 2 more (the user supplied the code)",
            "    shown to the model: g (it is shown as a part of its file or class)",
            "    proposal dropped: h (the file on disk differs from what is held true)",
            "    refused: k (code was removed without a replacement, and nobody asked for that)",
            "      - return 0;",
            "      and 2 more lines",
            "  #limits",
            "    not shown to the model: the statement (the code that the statement quotes isn't true of the file)",
        ];
        assert_eq!(file_lines(&Vec::from_iter(&entries)), expected);
    }

    /// An agent's steps lie in the turn that the user asked for, and what a later one made good isn't told as refused.
    #[test]
    fn steps_of_a_turn() {
        let report = |episode, told| {
            let path = RelPath::from_normalised("src/a.c");
            let entity = EntityId::symbol(path, Symbol::new("f"));
            let reason = match told {
                Told::Refused => Reason::SymbolsLost,
                _ => Reason::StructuralParity,
            };
            StepReport {
                row: EpisodeRow {
                    episode: EpisodeId(episode),
                    session: SessionId(1),
                    at_ms: UnixMillis(0),
                    seq: Seq(episode),
                    model: "m".into(),
                    attempts: 0,
                    outcome: None,
                    until: Seq(episode),
                    history: None,
                    measured: None,
                },
                step: Step {
                    entries: [Entry::of(Seq(episode), told, Some(&entity), reason)].into(),
                    ..Step::default()
                },
                turn: Some(("make f faster".into(), EpisodeId(1))),
                audits: Vec::new(),
                attention: None,
                cache_break: None,
            }
        };
        let lines = |second| recent_lines(&[report(2, second), report(1, Told::Refused)]);
        let heading =
            "episodes 1 to 2 (2 steps) of session 1, 1970-01-01T00:00:00.000Z, model m: open";
        let told = |what| Vec::from([heading, "  \"make f faster\"", "  src/a.c", what]);
        assert_eq!(
            lines(Told::True),
            told("    true now: f (same or expanded symbol set)")
        );
        assert_eq!(
            lines(Told::Refused),
            told("    refused: f (a top-level symbol of the base is missing)")
        );
    }
}
