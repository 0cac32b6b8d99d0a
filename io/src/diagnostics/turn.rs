//! `/turn` and `/sent`: one turn for the page, with its texts, and what the model received in it (docs/using.md).

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use serde_json::{Value, json};
use tslp_core::artifact::Transition;
use tslp_core::entity::EntityId;
use tslp_core::event::{Event, EventKind};
use tslp_core::gate::{self, GateReport};
use tslp_core::hash::{ArtifactHash, SliceHash};
use tslp_core::ids::{EpisodeId, Seq, VersionId};
use tslp_core::path::RelPath;
use tslp_core::reason::{Reason, ReasonClass};
use tslp_core::slice::Span;
use tslp_projections::episodes::EpisodeRow;
use tslp_projections::proposals::Proposal;
use tslp_projections::stale::StaleRow;
use tslp_projections::state_map::FormerVersionsRow;
use tslp_store::ledger::{LedgerError, LedgerReader};
use tslp_store::startup::StartError;

use super::coloured::coloured;
use super::{DiagnosedSubject, mark_unverified, missing, vouched};
use crate::channel::TurnQuery;
use crate::evidence::describe::{self, outcome_words};
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

/// A version's code: where it lies.
#[derive(Clone)]
struct Code {
    slice: SliceHash,
    source: ArtifactHash,
    spans: Vec<Span>,
    episode: EpisodeId,
}

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
    let mut events = Vec::new();
    let since = row.seq..=Seq(u64::MAX);
    reader.read_between(&[EventKind::Content], since, &mut |stored, event| {
        let is_own = stored.episode == wanted.episode;
        // What is concluded from a turn's end comes right after it.
        if !is_own && row.outcome.is_some() && stored.seq > row.until {
            return ControlFlow::Break(());
        }
        if is_own {
            events.push((stored, event));
        }
        ControlFlow::Continue(())
    })?;
    let texts = Texts::new(&reader, wanted);
    let mut turn = json!({ "episode": wanted.episode.0 });
    let mut captured = None;
    let mut versions: BTreeMap<VersionId, Code> = BTreeMap::new();
    let mut judged = Vec::new();
    let mut lists: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for (stored, event) in &events {
        if !matches!(event, Event::ReplySegment(_)) {
            let said = json!({
                "kind": event.name(),
                "seq": stored.seq.0,
                "text": describe::sentence(event),
            });
            lists.entry("events").or_default().push(said);
        }
        match event {
            Event::PromptReceived(prompt) => {
                turn["prompt"] = prompt
                    .messages
                    .iter()
                    .map(|message| {
                        let mut text = texts.of(message.content);
                        text["role"] = message.role.as_str().into();
                        text
                    })
                    .collect();
            }
            Event::ArtifactCaptured(capture) => captured = Some(capture.artifact),
            Event::ArtifactResolved(resolved) => {
                let Some(source) = captured.take() else {
                    continue;
                };
                versions.extend(resolved.versions.iter().map(|version| {
                    let code = Code {
                        slice: version.slice,
                        source,
                        spans: version.spans.clone(),
                        episode: wanted.episode,
                    };
                    (version.id, code)
                }));
            }
            Event::PromotionRefused(_) | Event::Transitioned(_) | Event::VersionsPromoted(_) => {
                judged.extend(Judged::of(event))
            }
            Event::PromptComposed(composed) => {
                let hydrated = composed.hydrated.iter().map(|it| {
                    let mut shown = said_of(Some(&it.entity), it.reason);
                    shown["tokens"] = it.tokens.into();
                    shown
                });
                lists.entry("hydrated").or_default().extend(hydrated);
                let dropped = composed.dropped.iter();
                let dropped = dropped.map(|it| said_of(Some(&it.entity), it.reason));
                lists.entry("dropped").or_default().extend(dropped);
            }
            Event::PromptAmended(amended) => {
                let withheld = amended.withheld.iter();
                let withheld =
                    withheld.map(|it| said_of(Some(&it.entity), Reason::NoLongerCurrent));
                lists.entry("withheld").or_default().extend(withheld);
            }
            Event::NoticeIssued(notice) => lists
                .entry("notices")
                .or_default()
                .push(said_of(notice.entity.as_ref(), notice.reason)),
            Event::ActionJudged(_) | Event::ToolRan(_) => lists
                .entry("actions")
                .or_default()
                .push(describe::sentence(event).into()),
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
    let judged = judged.iter().map(|it| it.json(&texts, &versions));
    turn["versions"] = judged.collect::<Result<Value, LedgerError>>()?;
    for (name, list) in lists {
        turn[name] = list.into();
    }
    mark_unverified(&mut turn, flaw.as_deref());
    Ok(Some(turn))
}

/// Something that an event says of an entity.
fn said_of(entity: Option<&EntityId>, reason: Reason) -> Value {
    json!({
        "entity": entity.map(ToString::to_string),
        "meaning": reason.meaning(),
        "reason": reason.code(),
    })
}

/// What became of a version.
pub(super) struct Judged<'e> {
    pub(super) state: &'static str,
    entity: EntityId,
    version: VersionId,
    reason: Reason,
    report: Option<&'e GateReport>,
}

impl<'e> Judged<'e> {
    /// What an event says of versions.
    pub(super) fn of(event: &'e Event) -> Vec<Self> {
        let report = match event {
            Event::PromotionRefused(refused) => {
                let reason = refused.report.conclusion.unwrap_or(Reason::GrantMissing);
                let is_unjudged = reason.is(ReasonClass::Unjudged);
                return Vec::from([Self {
                    state: if is_unjudged { "unjudged" } else { "refused" },
                    entity: refused.entity.clone(),
                    version: refused.version,
                    reason,
                    report: Some(&refused.report),
                }]);
            }
            Event::Transitioned(moved) => moved.report.as_ref(),
            Event::VersionsPromoted(promoted) => promoted.report.as_ref(),
            _ => None,
        };
        let moves = event.transitions();
        let moves = moves.filter(|moved| moved.transition != Transition::Supersede);
        let judged = moves.map(|moved| Self {
            state: match moved.transition {
                Transition::Promote => "true",
                Transition::Discard => "dropped",
                _ => "removed",
            },
            version: moved.version,
            reason: moved.cause,
            entity: moved.into_owned().entity,
            report,
        });
        judged.collect()
    }

    fn json(
        &self,
        texts: &Texts<'_>,
        of_turn: &BTreeMap<VersionId, Code>,
    ) -> Result<Value, LedgerError> {
        let reader = texts.reader;
        let mut truths = Vec::new();
        let former = reader.find_row::<FormerVersionsRow>((self.entity.clone(),))?;
        let former = former.into_iter().flat_map(|row| row.versions);
        truths.extend(former.map(|version| Code {
            slice: version.slice,
            source: version.artifact,
            spans: version.spans,
            episode: version.episode,
        }));
        let now = reader.true_entity(&self.entity)?;
        truths.extend(now.map(|truth| Code {
            slice: truth.slice,
            source: truth.artifact,
            spans: truth.spans,
            episode: truth.episode,
        }));
        let own = match of_turn.get(&self.version) {
            Some(code) => Some(code.clone()),
            // It was proposed in an earlier turn.
            None => reader
                .find_row::<Proposal>((self.version,))?
                .map(|row| Code {
                    slice: row.slice,
                    source: row.artifact,
                    spans: row.spans,
                    episode: row.episode,
                }),
        };
        let is_own = |truth: &&Code| own.as_ref().is_some_and(|own| own.slice == truth.slice);
        let until = texts.wanted.episode;
        let mut earlier = truths.iter().filter(|truth| truth.episode <= until);
        // The last that was true and isn't this one: a later one isn't what it was judged against.
        let truth = earlier.rfind(|truth| !is_own(truth));
        let own = match self.state {
            "removed" => None,
            _ => own,
        };
        let mut json = said_of(Some(&self.entity), self.reason);
        json["state"] = self.state.into();
        let path = &self.entity.path;
        json["proposed"] = own.map_or(Value::Null, |code| texts.code(path, &code));
        json["truth"] = truth.map_or(Value::Null, |code| texts.code(path, code));
        json["truth_from"] = truth.map(|code| code.episode.0).into();
        let stale = reader.find_row::<StaleRow>((self.entity.clone(),))?;
        json["disk"] = stale.map(|row| row.disk_holds.as_str()).into();
        let rules = self.report.into_iter().flat_map(|it| &it.verdicts);
        json["rules"] = rules
            .map(|it| {
                json!({
                    "is_needed": gate::is_needed(it.rule),
                    "meaning": it.rule.meaning(),
                    "met": it.met,
                    "needed": it.needed,
                    "rule": it.rule.code(),
                    "seen": it.seen,
                })
            })
            .collect();
        Ok(json)
    }
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
    fn code(&self, path: &RelPath, code: &Code) -> Value {
        let text = missing::code_text(code.source, &code.spans, &|it| self.bytes(it));
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
