//! `/recent`: what the last episodes were about and what became of their code, without any content (spec §14.3).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use serde_json::{Value, json};
use tslp_core::artifact::{ArtifactState, Transition};
use tslp_core::event::{EventKind, History, LostCallFound, WindowExceeded};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, Seq};
use tslp_core::limits::RECENT_EPISODES_SHOWN;
use tslp_core::reason::{Reason, ReasonClass};
use tslp_core::record::parse_key;
use tslp_projections::audits::AuditRow;
use tslp_projections::episodes::EpisodeRow;
use tslp_projections::proposals::Proposal;
use tslp_projections::row::outcome_word;

use super::DiagnosedSubject;
use super::missing::{self, MissingCode, RefusedProposal};
use super::price::{self, CacheBreak, PromptPrice};
use super::status::off_rules;
use super::vouched::{self, VouchedPage};
use crate::attention::Attention;
use crate::channel::{MissingLines, RecentQuery};
use crate::evidence::describe::entries::{EpisodeEntries, EpisodeEntry, UNJUDGED};
use crate::evidence::describe::{lost_call_words, reason_words};
use crate::evidence::moments::utc_moment;
use crate::evidence::replies::{AskedWords, asked_before};
use tslp_store::ledger::{LedgerError, LedgerReader};
use tslp_store::startup::StartError;

/// One episode, or everything outside of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EpisodeReport {
    /// What is known of it. Episode 0 is for everything outside of prompts, mostly on the command line.
    pub row: EpisodeRow,
    /// The texts of its prompt.
    prompt: Vec<ArtifactHash>,
    /// The prompt's first words, once they were asked for.
    words: Option<String>,
    /// The episode's entries, in order.
    pub entries: Vec<EntryReport>,
    /// The shadow audits of its reply (spec §10).
    pub audits: Vec<AuditRow>,
    /// Whether its prompt was too long for its model.
    pub exceeded: Option<WindowExceeded>,
    /// What became of calls that its reply wrote as text.
    pub lost_calls: Vec<LostCallFound>,
    /// How much it asks of its model's attention.
    pub attention: Option<Attention>,
    /// Where it differs from the prompt before it in its conversation.
    pub cache_break: Option<CacheBreak>,
}

/// Events before the last one outside of prompts that are looked at for others of their kind, at least.
const OUTSIDE_EVENTS_MIN: u64 = 1024;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryReport {
    /// What an event says.
    pub entry: EpisodeEntry,
    /// The code that a refused proposal lacks.
    pub missing: Option<MissingCode>,
    /// The user's rule by which a file is kept back.
    pub rule: Option<String>,
}

/// The last episodes, newest first; everything outside of them is one entry, at the time of its last act.
///
/// # Errors
/// When the ledger can't be read.
pub fn read_recent(
    subject: &DiagnosedSubject,
    wanted: RecentQuery,
) -> Result<VouchedPage<Vec<EpisodeReport>>, StartError> {
    let reader = subject.readers.open()?;
    let flaw = vouched::flaw_of_tables(subject, &reader)?;
    let limit = wanted.limit.unwrap_or(RECENT_EPISODES_SHOWN);
    let mut episodes = last_episodes(&reader, limit, flaw.as_deref())?;
    if wanted.missing_lines == MissingLines::Shown {
        let artifact = |artifact| reader.artifact(artifact).ok().flatten();
        let mut asked = AskedWords::default();
        for EpisodeReport {
            row, prompt, words, ..
        } in episodes.iter_mut().rev()
        {
            let earlier = || asked_before(&reader, row.session, row.seq);
            let next = || asked.next(row.session, prompt, artifact, earlier);
            *words = (!is_outside(row)).then(next);
        }
        let refused = refused_proposals(&mut episodes, &reader)?;
        missing::find_missing_lines(refused, &reader, artifact)?;
    }
    Ok(VouchedPage {
        page: episodes,
        flaw,
    })
}

/// The proposals that were refused for missing code, with the code of those that are still open.
fn refused_proposals<'r>(
    episodes: &'r mut [EpisodeReport],
    reader: &LedgerReader,
) -> Result<Vec<RefusedProposal<'r>>, LedgerError> {
    let is_refused = |EntryReport { entry, .. }: &EntryReport| {
        entry.what == ArtifactState::Proposed.as_str() && entry.reason.is(ReasonClass::LostCode)
    };
    let mut refused = Vec::new();
    for EpisodeReport { row, entries, .. } in episodes {
        let lacking = entries.iter_mut().filter(|it| is_refused(it));
        refused.extend(lacking.filter_map(|EntryReport { entry, missing, .. }| {
            Some(RefusedProposal {
                episode: row.episode,
                entity: entry.entity.clone()?,
                code: None,
                missing,
            })
        }));
    }
    if !refused.is_empty() {
        reader.visit_rows(&mut |row: Proposal| {
            let is_it = |it: &&mut RefusedProposal<'_>| {
                (it.episode, &it.entity) == (row.episode, &row.entity)
            };
            for proposal in refused.iter_mut().filter(is_it) {
                proposal.code = Some((row.artifact, row.spans.clone()));
            }
            ControlFlow::Continue(())
        })?;
    }
    Ok(refused)
}

/// The entries of episodes from a position on. Where the ledger is known to be damaged, those before the damage.
fn entries_since(
    reader: &LedgerReader,
    from: Seq,
    flaw: Option<&str>,
) -> Result<EpisodeEntries, LedgerError> {
    let mut entries = EpisodeEntries::default();
    let read = reader.read_without(&[EventKind::Content], from, &mut |stored, event| {
        entries.apply(&stored.recorded(event));
    });
    match (read, flaw) {
        (Err(error), None) => Err(error),
        (Ok(()), _) | (Err(_), Some(_)) => Ok(entries),
    }
}

fn last_episodes(
    reader: &LedgerReader,
    limit: usize,
    flaw: Option<&str>,
) -> Result<Vec<EpisodeReport>, LedgerError> {
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
    let mut entries = match episodes.iter().map(first_event).min() {
        Some(from) => entries_since(reader, Seq(from.max(1)), flaw)?,
        None => EpisodeEntries::default(),
    };
    let scope = off_rules(reader)?;
    let rule_of = |entry: &EpisodeEntry| {
        let is_off = matches!(entry.reason, Reason::OffByUser | Reason::OffInMessage);
        let entity = entry.entity.as_ref().filter(|_| is_off)?;
        scope.pattern_for(entity.path.as_str()).map(str::to_owned)
    };
    let episodes = episodes.into_iter().rev().map(|row| {
        let story = entries.stories.remove(&row.episode).unwrap_or_default();
        let reported = story.entries.into_iter().map(|entry| EntryReport {
            rule: rule_of(&entry),
            entry,
            missing: None,
        });
        EpisodeReport {
            entries: reported.collect(),
            audits: audits.remove(&row.episode).unwrap_or_default(),
            prompt: story.prompt,
            exceeded: story.exceeded,
            lost_calls: story.lost_calls,
            attention: Attention::of_row(&row),
            cache_break: breaks.remove(&row.episode),
            words: None,
            row,
        }
    });
    Ok(episodes.collect())
}

fn is_outside(row: &EpisodeRow) -> bool {
    row.episode == EpisodeId::OUTSIDE
}

/// The page.
#[must_use]
pub fn recent_json(episodes: &[EpisodeReport]) -> Value {
    let episodes: Vec<Value> = episodes.iter().map(episode_json).collect();
    json!({ "episodes": episodes })
}

fn episode_json(episode: &EpisodeReport) -> Value {
    let EpisodeReport {
        row,
        entries,
        audits,
        exceeded,
        lost_calls,
        attention,
        cache_break,
        words,
        ..
    } = episode;
    let named = entries.iter().filter_map(|it| entity_name(&it.entry));
    let entities: BTreeSet<String> = named.collect();
    let of = |what: &str| -> Vec<Value> {
        let entries = entries.iter().filter(|it| it.entry.what == what);
        let page = entries.map(|EntryReport { entry, rule, .. }| {
            let mut page = json!({ "entity": entity_name(entry), "reason": entry.reason.code() });
            if let Some(rule) = rule {
                page["rule"] = json!(rule);
            }
            page
        });
        page.collect()
    };
    let is_state = |what: &str| what.chars().all(|c| c.is_ascii_uppercase());
    let states = entries.iter().filter(|it| is_state(it.entry.what));
    let audits = audits.iter();
    let audits: Vec<Value> = audits
        .map(|audit| json!({ "entity": audit.entity.to_string(), "status": audit.status.as_str() }))
        .collect();
    let measured = row.measured.as_ref();
    let added_micros = measured.and_then(|it| it.added_micros);
    let mut json = json!({
        "added_ms": added_micros.map(|micros| f64::from(micros) / 1000.0),
        "artifact_states": states.map(state_json).collect::<Vec<_>>(),
        "at": utc_moment(row.at_ms.0),
        "attention": attention.map(Attention::json_object),
        "audits": audits,
        "cache_break": cache_break.map(|it| it.json_object()),
        "client": client_name(measured.map_or("", |it| &it.user_agent)),
        "entities": entities,
        "episode_id": row.episode.0,
        "from": if is_outside(row) { "command line" } else { "prompt" },
        "history": row.history.map(History::as_str),
        "hydrated": of("hydrated"),
        "model": row.model,
        "lost_calls": lost_calls,
        "notices": of("notice"),
        "outcome": row.outcome.map(outcome_word),
        "price": PromptPrice::of_row(row).map(|price| price.json_object()),
        "session_id": row.session.0,
        "window": exceeded,
        "window_tokens": measured.and_then(|it| it.window),
        "withheld": of("withheld"),
    });
    // Only where a reply was asked for once more.
    let first = of("asked again");
    if !first.is_empty() {
        json["refused_drafts"] = json!({ "first": first, "second": of("no better") });
    }
    // They are content: only who asks for missing lines gets them.
    if let Some(words) = words {
        json["words"] = words.as_str().into();
    }
    json
}

/// A client's name for people: the first product that it names, without its version (RFC 9110 §10.1.5).
fn client_name(user_agent: &str) -> Option<&str> {
    let product = user_agent.split_whitespace().next()?;
    let is_version = |it: &(&str, &str)| it.1.starts_with(|c: char| c.is_ascii_digit());
    let versioned = product.rsplit_once('/').filter(is_version);
    Some(versioned.map_or(product, |(name, _)| name))
}

fn entity_name(entry: &EpisodeEntry) -> Option<String> {
    entry.entity.as_ref().map(ToString::to_string)
}

fn state_json(EntryReport { entry, missing, .. }: &EntryReport) -> Value {
    let mut json = json!({
        "entity": entity_name(entry),
        "reason": entry.reason.code(),
        "state": entry.what,
    });
    if let Some(missing) = missing {
        json["missing_lines"] = json!({ "lines": missing.lines, "more": missing.more });
    }
    json
}

/// The page for people.
#[must_use]
pub fn recent_lines(episodes: &[EpisodeReport]) -> Vec<String> {
    if episodes.is_empty() {
        return vec!["Nothing has happened yet.".into()];
    }
    let mut lines = Vec::new();
    for EpisodeReport {
        row,
        words,
        entries,
        audits,
        attention,
        exceeded,
        lost_calls,
        cache_break,
        ..
    } in episodes
    {
        let at = utc_moment(row.at_ms.0);
        lines.push(if is_outside(row) {
            format!("command line, last at {at}")
        } else {
            let outcome = row.outcome.map_or_else(|| "open".into(), outcome_word);
            format!(
                "episode {} of session {}, {at}, model {}: {}",
                row.episode.0, row.session.0, row.model, &*outcome
            )
        });
        lines.extend(words.as_ref().map(|words| format!("  \"{words}\"")));
        lines.extend(file_lines(entries));
        for audit in audits {
            let (entity, status) = (&audit.entity, audit.status.as_str());
            lines.push(format!("  audit of {entity}: {status}"));
        }
        if let Some(price) = PromptPrice::of_row(row) {
            lines.push(format!("  price: {}", price.text_line()));
        }
        if let Some(cache_break) = cache_break {
            lines.push(format!("  cache: {}", cache_break.text_line()));
        }
        if let Some((attention, advice)) = attention.and_then(|it| Some((it, it.level.advice()?))) {
            lines.push(format!("  {}: {advice}", attention.words()));
        }
        if let Some(exceeded) = exceeded {
            lines.push(format!("  window: {}", exceeded.sentence()));
        }
        let lost_calls = lost_calls.iter().map(lost_call_words);
        lines.extend(lost_calls.map(|words| format!("  calls: {words}")));
    }
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
fn file_lines(entries: &[EntryReport]) -> Vec<String> {
    let mut files: Vec<(&str, Vec<EntryGroup<'_>>)> = Vec::new();
    for EntryReport {
        entry,
        missing,
        rule,
    } in entries
    {
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
        let same = groups.iter_mut().find(|group| {
            (group.label, group.reason, group.rule) == (label, entry.reason, rule.as_deref())
                && group.missing.is_none()
                && missing.is_none()
        });
        match same {
            Some(group) => group.names.extend(name),
            None => groups.push(EntryGroup {
                label,
                reason: entry.reason,
                names: Vec::from_iter(name),
                missing: missing.as_ref(),
                rule: rule.as_deref(),
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
fn entry_label(entry: &EpisodeEntry) -> Option<&'static str> {
    Some(match (entry.transition, entry.what, entry.reason) {
        (Some(Transition::Promote), ..) => "true now",
        (Some(Transition::Discard), ..) => "proposal dropped",
        (Some(Transition::Remove), ..) => "removed",
        // What took its place is listed.
        (Some(_), ..) => return None,
        (None, "hydrated", _) | (None, "withheld", Reason::CoveredByFile | Reason::InSight) => {
            "shown to the model"
        }
        (None, "withheld", Reason::NoLongerCurrent) => "taken out of older messages",
        (None, "withheld", _) => "not shown to the model",
        (None, "notice", reason) if reason.is(ReasonClass::Answer) => "your directive",
        (None, "notice", _) => "the model is told of",
        (None, UNJUDGED, _) => "unjudged",
        (None, "PROPOSED", _) => "refused",
        (None, "asked again", _) => "refused before you had it, and asked for once more",
        (None, "no better", _) => "no better when asked for once more",
        _ => "not linked to what is known",
    })
}

#[cfg(test)]
mod tests {
    use tslp_core::entity::{EntityId, Symbol};
    use tslp_core::path::RelPath;

    use super::*;

    /// What happened is grouped by file and cause.
    #[test]
    fn grouped_entries() {
        let entry = |what, transition: Option<Transition>, name: &str, reason| EntryReport {
            entry: EpisodeEntry {
                what: transition.map_or(what, |transition| transition.to().as_str()),
                transition,
                entity: Some(EntityId::symbol(
                    RelPath::from_normalised("src/a.c"),
                    Symbol::new(name),
                )),
                reason,
            },
            missing: None,
            rule: None,
        };
        let promoted = |name| entry("", Some(Transition::Promote), name, Reason::WriteHead);
        let names: Vec<String> = (0..10).map(|number| format!("f{number}")).collect();
        let mut entries: Vec<EntryReport> = names.iter().map(|name| promoted(name)).collect();
        entries.extend([
            entry("withheld", None, "g", Reason::CoveredByFile),
            entry("", Some(Transition::Supersede), "f0", Reason::Replaced),
            entry("", Some(Transition::Discard), "h", Reason::Stale),
            entry("PROPOSED", None, "k", Reason::RemovedUnasked),
            entry("withheld", None, "", Reason::QuotationMissing),
        ]);
        entries[14].entry.entity = Some(EntityId::file(RelPath::from_normalised("#limits")));
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
        assert_eq!(file_lines(&entries), expected);
    }
}
