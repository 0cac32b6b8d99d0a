//! `/turn` and `/sent`: one turn for the page, with its texts, and what the model received in it (docs/using.md).

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use serde_json::{Value, json};
use tslp_core::event::{Event, EventKind};
use tslp_core::gate;
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, Seq};
use tslp_core::path::RelPath;
use tslp_projections::episodes::EpisodeRow;
use tslp_projections::proposals::Proposal;
use tslp_projections::stale::StaleRow;
use tslp_projections::state_map::FormerVersionsRow;
use tslp_store::ledger::{LedgerError, LedgerReader};
use tslp_store::startup::StartError;

use super::coloured::coloured;
use super::{DiagnosedSubject, mark_unverified, vouched};
use crate::channel::TurnQuery;
use crate::evidence::describe::outcome_words;
use crate::evidence::log;
use crate::evidence::missing::{self, Place};
use crate::evidence::story::{Entry, Step, Steps, Told};
use crate::sent_prompts::{NotShown, last_sent, sent_in};

/// Bytes of a text that are sent unless the whole is asked for.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// Bytes of a turn's code that are coloured.
const COLOURED_BYTES_MAX: usize = 256 << 10;

/// Fields of requests that models read, in their order.
const READ_FIELDS: [&str; 6] = [
    "tools",
    "system",
    "instructions",
    "messages",
    "input",
    "prompt",
];

/// Characters that are shown of a difference.
const EXCERPT_CHARACTERS: usize = 160;

/// A turn: prompt, judged code with what it was judged against, what was shown and withheld, calls, reply, and all its events.
/// `None` if it isn't one of the last.
///
/// # Errors
/// When the ledger can't be read.
pub(super) fn turn_json(
    subject: &DiagnosedSubject,
    wanted: TurnQuery,
) -> Result<Option<Value>, StartError> {
    let reader = subject.readers.open()?;
    let flaw = vouched::flaw_of_tables(subject, &reader)?;
    let Some(row) = reader.find_row::<EpisodeRow>((wanted.episode,))? else {
        return Ok(None);
    };
    let texts = Texts::new(&reader, wanted);
    let mut turn = json!({ "episode": wanted.episode.0 });
    let mut steps = Steps::whole();
    let mut lists: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    let since = row.seq..=Seq(u64::MAX);
    reader.read_between(&[EventKind::Content], since, &mut |stored, event| {
        let is_own = stored.episode == wanted.episode;
        // What is concluded from a turn's end comes right after it.
        if !is_own && row.outcome.is_some() && stored.seq > row.until {
            return ControlFlow::Break(());
        }
        if is_own {
            add_texts(&event, stored.seq, &texts, &mut turn, &mut lists);
            steps.apply(&stored.recorded(event));
        }
        ControlFlow::Continue(())
    })?;
    let step = steps.steps.remove(&wanted.episode).unwrap_or_default();
    for (name, told) in [
        ("hydrated", Told::Shown),
        ("dropped", Told::LeftOut),
        ("withheld", Told::TakenOut),
        ("notices", Told::Noticed),
        ("notices", Told::Answered),
    ] {
        let entries = step.entries.iter().filter(|it| it.told == told);
        let list = entries.map(|entry| {
            let mut said = said_of(entry);
            if entry.tokens > 0 {
                said["tokens"] = entry.tokens.into();
            }
            said
        });
        lists.entry(name).or_default().extend(list);
    }
    let judged = step.entries.iter();
    let judged = judged.filter(|it| it.told.is_judged() && it.version.is_some());
    let judged = judged.map(|it| judged_json(it, &texts, &step));
    turn["versions"] = judged.collect::<Result<Value, LedgerError>>()?;
    for (name, list) in lists {
        if !list.is_empty() {
            turn[name] = list.into();
        }
    }
    mark_unverified(&mut turn, flaw.as_deref());
    Ok(Some(turn))
}

/// Adds what an event says, and its texts.
fn add_texts(
    event: &Event,
    seq: Seq,
    texts: &Texts<'_>,
    turn: &mut Value,
    lists: &mut BTreeMap<&str, Vec<Value>>,
) {
    if !matches!(event, Event::ReplySegment(_)) {
        let text = log::sentence(event);
        let said = json!({ "kind": event.name(), "seq": seq.0, "text": text });
        lists.entry("events").or_default().push(said);
    }
    match event {
        Event::PromptReceived(prompt) => {
            let messages = prompt.messages.iter().map(|message| {
                let mut text = texts.of(message.content);
                text["role"] = message.role.as_str().into();
                text
            });
            turn["prompt"] = messages.collect();
        }
        Event::ActionJudged(_) | Event::ToolRan(_) => {
            let actions = lists.entry("actions").or_default();
            actions.push(log::sentence(event).into());
        }
        Event::ReplyPart(part) => {
            let mut text = texts.of(part.content);
            text["kind"] = part.kind.as_str().into();
            lists.entry("parts").or_default().push(text);
        }
        Event::ReplyEnded(reply) => {
            let calls = reply.tool_calls.iter().map(|call| {
                let mut text = texts.of(call.arguments);
                text["name"] = call.name.as_str().into();
                text
            });
            lists.entry("tool_calls").or_default().extend(calls);
            let pieces = reply.segments.iter().filter_map(|it| texts.bytes(*it));
            turn["reply"] = texts.cut(&pieces.flatten().collect::<Vec<u8>>());
            turn["outcome"] = outcome_words(reply.outcome).into();
        }
        _ => {}
    }
}

/// Something that was said of an entity.
fn said_of(entry: &Entry) -> Value {
    json!({
        "entity": entry.entity.as_ref().map(ToString::to_string),
        "meaning": entry.reason.meaning(),
        "reason": entry.reason.code(),
    })
}

/// What became of a version, next to what it was judged against.
fn judged_json(entry: &Entry, texts: &Texts<'_>, step: &Step) -> Result<Value, LedgerError> {
    let reader = texts.reader;
    let mut json = said_of(entry);
    let (Some(entity), Some(version)) = (&entry.entity, entry.version) else {
        return Ok(json);
    };
    let mut truths = Vec::new();
    let former = reader.find_row::<FormerVersionsRow>((entity.clone(),))?;
    let former = former.into_iter().flat_map(|row| row.versions);
    truths.extend(former.map(|it| (it.episode, (it.artifact, it.spans))));
    let now = reader.true_entity(entity)?;
    truths.extend(now.map(|it| (it.episode, (it.artifact, it.spans))));
    let own = match step.code.get(&version) {
        Some(place) => Some(place.clone()),
        // It was proposed in an earlier turn.
        None => reader
            .find_row::<Proposal>((version,))?
            .map(|row| (row.artifact, row.spans)),
    };
    let until = texts.wanted.episode;
    let mut earlier = truths.iter().filter(|(episode, _)| *episode <= until);
    // The last that was true and isn't this one: a later one isn't what it was judged against.
    let truth = earlier.rfind(|(_, place)| Some(place) != own.as_ref());
    let own = own.filter(|_| entry.told != Told::Removed);
    let path = &entity.path;
    json["state"] = entry.told.as_str().into();
    json["proposed"] = own.map_or(Value::Null, |place| texts.code(path, &place));
    json["truth"] = truth.map_or(Value::Null, |(_, place)| texts.code(path, place));
    json["truth_from"] = truth.map(|(episode, _)| episode.0).into();
    let stale = reader.find_row::<StaleRow>((entity.clone(),))?;
    json["disk"] = stale.map(|row| row.disk_holds.as_str()).into();
    let rules = entry.report.iter().flat_map(|it| &it.verdicts);
    let rules = rules.map(|it| {
        json!({
            "is_needed": gate::is_needed(it.rule),
            "meaning": it.rule.meaning(),
            "met": it.met,
            "needed": it.needed,
            "rule": it.rule.code(),
            "seen": it.seen,
        })
    });
    json["rules"] = rules.collect();
    Ok(json)
}

/// The texts of a turn, cut unless they are wanted whole.
struct Texts<'r> {
    reader: &'r LedgerReader,
    wanted: TurnQuery,
    /// Parsing takes time: what is judged beyond so much code has no colours.
    coloured_bytes_left: Cell<usize>,
}

impl<'r> Texts<'r> {
    const fn new(reader: &'r LedgerReader, wanted: TurnQuery) -> Self {
        Self {
            reader,
            wanted,
            coloured_bytes_left: Cell::new(COLOURED_BYTES_MAX),
        }
    }
}

impl Texts<'_> {
    fn bytes(&self, artifact: ArtifactHash) -> Option<Vec<u8>> {
        self.reader.artifact(artifact).ok().flatten()
    }

    /// `null` as the text says that the Vault doesn't hold it.
    fn of(&self, artifact: ArtifactHash) -> Value {
        match self.bytes(artifact) {
            Some(bytes) => self.cut(&bytes),
            None => json!({ "text": null }),
        }
    }

    /// Its colours are runs, each with its length as scripts count it (UTF-16).
    fn code(&self, path: &RelPath, (source, spans): &Place) -> Value {
        let text = missing::code_text(*source, spans, &|it| self.bytes(it));
        let Some(text) = text else {
            return json!({ "text": null });
        };
        let mut json = self.cut(text.as_bytes());
        if let Some(left) = self.coloured_bytes_left.get().checked_sub(text.len()) {
            self.coloured_bytes_left.set(left);
            let runs = coloured(path, &text).into_iter();
            let runs = runs.map(|(colour, text)| json!([colour, text.encode_utf16().count()]));
            json["colours"] = runs.collect();
        }
        json
    }

    fn cut(&self, bytes: &[u8]) -> Value {
        let is_cut = !self.wanted.is_whole && bytes.len() > TEXT_BYTES_MAX;
        let shown = if is_cut {
            &bytes[..TEXT_BYTES_MAX]
        } else {
            bytes
        };
        let mut json = json!({ "text": String::from_utf8_lossy(shown) });
        if is_cut {
            json["bytes"] = bytes.len().into();
        }
        json
    }
}

/// The request that the model received in a turn, the texts of tslp's own in it, and how much of it is that of the turn before.
///
/// # Errors
/// See [`NotShown`].
pub(super) fn sent_json(subject: &DiagnosedSubject, wanted: TurnQuery) -> Result<Value, NotShown> {
    let reader = subject.readers.open()?;
    let sent = sent_in(&reader, wanted.episode)?;
    let body = sent.body;
    let texts = Texts::new(&reader, wanted);
    let rows = reader.rows::<EpisodeRow>()?;
    let session = rows.iter().find(|row| row.episode == wanted.episode);
    let session = session.map(|row| row.session);
    let mut before = rows.iter().filter(|row| row.episode < wanted.episode);
    let before = before.rfind(|row| Some(row.session) == session);
    let before = match before {
        Some(row) => last_sent(&reader, Some(row.episode))?,
        None => None,
    };
    let body_text = String::from_utf8_lossy(&body);
    let own_texts = sent.own_texts.into_iter().filter_map(|text| {
        let text = String::from_utf8(texts.bytes(text)?).ok()?;
        let quoted = json!(text).to_string();
        let quoted = &quoted[1..quoted.len() - 1];
        (!text.is_empty() && body_text.contains(quoted)).then_some(text)
    });
    let own_texts: std::collections::BTreeSet<String> = own_texts.collect();
    let same = before.map(|earlier| first_difference(earlier.episode, &earlier.body, &body));
    Ok(json!({
        "body": texts.cut(&body),
        "bytes": body.len(),
        "episode": wanted.episode.0,
        "ours": own_texts,
        "same_as_before": same,
    }))
}

/// How far two prompts are alike, by what the model reads in its order: JSON's spaces tell it nothing.
fn first_difference(episode: EpisodeId, earlier: &[u8], later: &[u8]) -> Value {
    let [earlier, later] = [earlier, later].map(|body| {
        let request: Value = serde_json::from_slice(body).unwrap_or_default();
        let parts = READ_FIELDS.iter().filter_map(|field| request.get(field));
        parts.map(ToString::to_string).collect::<String>()
    });
    let both = earlier.bytes().zip(later.bytes());
    let same = both.take_while(|(one, other)| one == other).count();
    let excerpt = |text: &str| {
        let rest = String::from_utf8_lossy(&text.as_bytes()[same..]);
        rest.chars().take(EXCERPT_CHARACTERS).collect::<String>()
    };
    let mut json = json!({ "bytes": same, "episode": episode.0, "of": later.len() });
    // Where only something was added, nothing differs: the list's end gives way to its next message.
    if earlier.trim_end_matches(']').len() > same {
        json["was"] = excerpt(&earlier).into();
        json["is"] = excerpt(&later).into();
    }
    json
}
