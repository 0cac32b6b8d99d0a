//! What the user keeps for the project: taken if what it quotes is true, and shown where it matters, as long as that stays so
//! (docs/records.md).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::str;

use super::code_reader;
use super::hydrate::{self, Hydration};
use super::prompt_facts::Prompt;
use tslp_core::delimiter::{MEMORY_CLOSE, MEMORY_OPEN};
use tslp_core::event::{Event, NoticeIssued, RecordChanged, Verb};
use tslp_core::ids::{EpisodeId, SessionId};
use tslp_core::limits::BYTES_PER_TOKEN;
use tslp_core::message::Role;
use tslp_core::path::RelPath;
use tslp_core::policy::Policy;
use tslp_core::reason::Reason;
use tslp_core::record::{self, RecordKind};
use tslp_projections::records::RecordRow;
use tslp_projections::state::StateView;

/// How much of a prompt records may be, in tokens.
const MEMORY_TOKENS_MAX: usize = 500;

/// Carries out `note` or `forget`.
#[must_use]
pub fn change_record(
    view: &StateView<'_>,
    policy: &Policy,
    ids: (EpisodeId, SessionId),
    (verb, said): (Verb, &str),
) -> Vec<Event> {
    let changed = match verb {
        Verb::Forget => forgotten(view, said),
        _ => noted(view, policy, said),
    };
    let (event, reason) = match changed {
        Ok(changed) if changed.statement.is_empty() => (Some(changed), Reason::RecordForgotten),
        Ok(changed) => (Some(changed), Reason::RecordNoted),
        Err(reason) => (None, reason),
    };
    let answer = Event::NoticeIssued(NoticeIssued::new(ids, reason, None));
    let event = event.map(Event::RecordChanged);
    event.into_iter().chain([answer]).collect()
}

fn noted(view: &StateView<'_>, policy: &Policy, said: &str) -> Result<RecordChanged, Reason> {
    let note = record::parse_note(said)?;
    let (path, quotation) = match &note.citation {
        None => (String::new(), String::new()),
        Some((written, quotation)) => {
            let path = code_reader::usable_path(view, &policy.workspace_root, written);
            let path = path.map_err(|_| Reason::QuotationMissing)?;
            if !stands(view, &path, quotation) {
                return Err(Reason::QuotationMissing);
            }
            (String::from(path.as_str()), quotation.clone())
        }
    };
    let known = view.state.records().named(&note.key);
    let is_known = known.is_some_and(|row| {
        (row.kind, &row.statement, &row.path, &row.quotation)
            == (note.kind, &note.statement, &path, &quotation)
    });
    match is_known {
        true => Err(Reason::NothingToDo),
        false => Ok(RecordChanged {
            key: note.key,
            kind: note.kind,
            statement: note.statement,
            path,
            quotation,
        }),
    }
}

fn forgotten(view: &StateView<'_>, said: &str) -> Result<RecordChanged, Reason> {
    let key = record::parse_key(said).ok_or(Reason::RecordNotUsable)?;
    let known = view.state.records().named(&key);
    let known = known.ok_or(Reason::NothingToDo)?;
    Ok(RecordChanged {
        key,
        kind: known.kind,
        statement: String::new(),
        path: String::new(),
        quotation: String::new(),
    })
}

/// Whether code is true of the file, once, as disk holds it, and may be shown. Where in it doesn't matter: code moves.
pub(super) fn stands(view: &StateView<'_>, path: &RelPath, quotation: &str) -> bool {
    if view.state.scope().off().is_off(path.as_str()) {
        return false;
    }
    let mut places = BTreeSet::new();
    for entity in hydrate::true_entities_of(view, path) {
        let Some(current) = view.current_version(&entity) else {
            continue;
        };
        if view.divergence(&entity).is_some() {
            continue;
        }
        for span in &current.spans {
            let code = view.artifact_slices(current.artifact, core::slice::from_ref(span));
            let code = code.unwrap_or_default();
            let Ok(code) = str::from_utf8(&code) else {
                continue;
            };
            // A definition in another one is a part of both.
            let found = code.match_indices(quotation).take(2);
            places.extend(found.map(|(at, _)| (current.artifact, span.start as usize + at)));
        }
    }
    places.len() == 1
}

/// The block of records for a prompt of whose `hydration` files are shown or named. `told` are texts of ours that the conversation holds
/// already, in order: what they say as it is now isn't said again, and what they say and isn't so any more is taken back, once.
#[must_use]
pub(super) fn memory_block(
    view: &StateView<'_>,
    prompt: &Prompt<'_>,
    hydration: &Hydration,
    told: &[String],
) -> Option<String> {
    let records = view.state.records();
    let mut told = last_told(told);
    if records.all().next().is_none() && told.is_empty() {
        return None;
    }
    let shown = hydration.hydrated.iter().map(|it| &it.entity);
    let named = shown.chain(hydration.dropped.iter().map(|it| &it.entity));
    let paths: BTreeSet<&str> = named.map(|entity| entity.path.as_str()).collect();
    let keys = named_keys(prompt);
    let mut left = MEMORY_TOKENS_MAX * BYTES_PER_TOKEN;
    let mut sections: [(&str, Vec<String>); 3] = [
        ("Facts:", Vec::new()),
        ("Constraints:", Vec::new()),
        ("Open Issues:", Vec::new()),
    ];
    for row in records.all() {
        let was_told = told.remove(&row.key);
        let matters = row.kind == RecordKind::Preference
            || paths.contains(row.path.as_str())
            || keys.contains(row.key.as_str());
        if !matters && was_told.is_none() {
            continue;
        }
        let line = record_line(row);
        // What has no place needn't be looked up.
        if was_told.is_none() && line.len() >= left {
            continue;
        }
        let is_grounded = row.path.is_empty()
            || stands(view, &RelPath::from_normalised(&row.path), &row.quotation);
        let (section, line) = if is_grounded {
            (usize::from(row.kind != RecordKind::Fact), line)
        } else if was_told.is_some() {
            (
                2,
                gone_line(&row.key, "the code that it quotes has changed"),
            )
        } else {
            continue;
        };
        // What is taken back always has a place.
        if was_told != Some(line.as_str()) && (section == 2 || line.len() < left) {
            left = left.saturating_sub(line.len() + 1);
            sections[section].1.push(line);
        }
    }
    // What is left was told, and is forgotten.
    for (key, line) in told {
        let gone = gone_line(&key, "the user took it back");
        if line != gone {
            sections[2].1.push(gone);
        }
    }
    let mut lines: Vec<&str> = Vec::from([MEMORY_OPEN]);
    for (title, of_section) in &sections {
        if !of_section.is_empty() {
            lines.push(title);
            lines.extend(of_section.iter().map(String::as_str));
        }
    }
    lines.push(MEMORY_CLOSE);
    (lines.len() > 2).then(|| lines.join("\n"))
}

fn record_line(row: &RecordRow) -> String {
    match row.path.as_str() {
        "" => format!("#{}: {}", row.key, row.statement),
        path => format!("#{}: {} ({path})", row.key, row.statement),
    }
}

fn gone_line(key: &str, why: &str) -> String {
    format!("#{key}: no longer holds, {why}.")
}

/// The keys that the prompt names.
fn named_keys<'r>(prompt: &Prompt<'r>) -> BTreeSet<&'r str> {
    let current = &prompt.request.messages[prompt.request.current_from()..];
    let of_user = current.iter().filter(|message| message.role == Role::User);
    let texts = of_user.flat_map(|message| message.texts());
    let words = texts.flat_map(str::split_whitespace);
    words
        .filter_map(|word| word.trim_start_matches('(').strip_prefix('#'))
        .map(|word| word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')']))
        .collect()
}

/// Of each key the last line that was told of it.
fn last_told(texts: &[String]) -> BTreeMap<String, &str> {
    let mut told = BTreeMap::new();
    // Most of what was told holds no block of records.
    for text in texts.iter().filter(|text| text.contains(MEMORY_OPEN)) {
        let mut is_memory = false;
        for line in text.lines() {
            match line {
                MEMORY_OPEN => is_memory = true,
                MEMORY_CLOSE => is_memory = false,
                _ if is_memory => {
                    let key = line
                        .split_once(':')
                        .and_then(|(key, _)| record::parse_key(key));
                    told.extend(key.map(|key| (key, line)));
                }
                _ => {}
            }
        }
    }
    told
}
