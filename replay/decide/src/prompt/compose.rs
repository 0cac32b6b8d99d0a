//! What the model is given to see (spec §8, engine: "Prompt assembly").
//!
//! Where the client's own messages go along (`client` history), one rule holds for all that the proxy puts in or takes out:
//! what the model has been shown stays where it was, byte for byte, as long as it isn't wrong. So true code and notices go
//! to the newest message, are on record, and stand there again whenever the client sends that message again.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use memchr::memmem;
use tslp_projections::disk::LastFinding;
use tslp_projections::state::StateView;

use crate::Recorder;
use crate::judge::check;
use crate::judge::lost::LostCode;
use crate::judge::meant::MeantLines;
use crate::prompt::clear::{DecisionEvidence, Messages};
use crate::prompt::facts::{Prompt, RecordedSight};
use crate::prompt::goal;
use crate::prompt::hydrate::{self, Hydration};
use crate::prompt::outside::{self, ToldChanges};
use crate::prompt::receive;
use crate::prompt::recent_context::recent_context;
use crate::prompt::records::{self, About};
use crate::prompt::sight::{self, ShownText, Sight, TextSlot, Withholding};
use crate::scope::off::{OffFilter, OffKnowledge, OffTexts};
use crate::scope::place::Standpoint;
use crate::scope::rules;
use crate::scope::work::WithheldPrompt;
use crate::wording::notice;
use tslp_core::artifact::Origin;
use tslp_core::delimiter;
use tslp_core::entity::EntityId;
use tslp_core::event::{
    ContentKind, Event, History, Injected, NoticeIssued, PromptAmended, PromptComposed, Side,
    Withheld,
};
use tslp_core::hash::{ArtifactHash, MessageKey, SliceHash};
use tslp_core::ids::SessionId;
use tslp_core::limits::{BYTES_PER_TOKEN, NOTICES_PER_PROMPT_MAX};
use tslp_core::message::Role;
use tslp_core::outgoing::{Outgoing, OutgoingMessage};
use tslp_core::path::RelPath;
use tslp_core::policy::{Placement, Policy, Repair};
use tslp_core::reason::{Reason, ReasonClass};
use tslp_core::request::Request;
use tslp_projections::sessions::Amendments;

/// Shorter files are in any text by chance.
const WHOLE_BYTES_MIN: usize = 32;

/// The decision and its text.
#[derive(Clone, Debug)]
pub struct Composed {
    /// What to append.
    pub events: Vec<Event>,
    /// What to send.
    pub outgoing: Outgoing,
}

/// Composes the prompt. The state must hold what disk says of every candidate, by an observation of this episode.
///
/// Its sections have one order, whatever the history: the client's system text, recent context, records, locked files, code, notices,
/// the current prompt. Each is filled by candidates that pass the same rules (never, scope, truth, duplicate, budget), and the first rule
/// that one fails is the reason on record ([`hydrate`], [`records`]). `about` are the records that the prompt may be about.
///
/// # Errors
/// If a locked file can't be shown whole: then nothing may go to a model.
pub fn compose(
    view: &StateView<'_>,
    policy: &Policy,
    prompt: &Prompt<'_>,
    about: &About,
) -> Result<Composed, WithheldPrompt> {
    debug_assert_eq!(
        prompt.keys.len(),
        prompt.request.messages.len(),
        "each message has its key, or none"
    );
    if let Some(withheld) = rules::lock_miss(view, prompt.session, &[]) {
        return Err(withheld);
    }
    let request = prompt.request;
    let is_window = prompt.history == History::Window;
    // Of a window the client's messages of this turn go out, and nothing that was put into the older ones.
    let (sent_from, amendments) = match is_window {
        true => (request.current_from(), Amendments::default()),
        false => (0, view.state.sessions().amendments(prompt.session)),
    };
    let positions = MessagePositions::new(request, prompt.omitted_prefix, prompt.known_length);
    let at = |index| positions.position(index);
    let injected = InjectedTexts::new(view, prompt.keys, &amendments, &positions);
    let texts = injected.with_texts_of(request, sent_from);
    let target = match is_window {
        true => Some((sent_from, Side::Before)),
        false => positions.injection_target(prompt.on_record),
    };
    // What is new has no place where all that the client sent went out before.
    let candidates = target.map_or_else(Vec::new, |_| {
        hydrate::hydration_candidates(view, prompt.session, prompt.mentions, request.tools)
    });
    let mut wanted = wanted_symbols(view, &candidates);
    wanted.extend(amendments.withheld.iter().map(|it| it.entity.clone()));
    let withheld_at = amendments.withheld.iter();
    let withheld_at: BTreeSet<(&EntityId, SliceHash, u32)> = withheld_at
        .map(|it| (&it.entity, it.slice, it.position))
        .collect();
    let sight = Sight::new(
        view,
        prompt.session,
        &mut prompt.index.borrow_mut(),
        wanted,
        &texts,
        &|entity, slice, index| withheld_at.contains(&(entity, slice, at(index))),
    );
    let in_tool_chain = target.is_some_and(|(_, side)| side == Side::After);
    let refused = match is_window {
        true => BTreeMap::new(),
        false => last_refusals(view, prompt.session),
    };
    // A refused version that follows the true one is what a model copies.
    let end = target.filter(|_| !is_window).map(|(index, _)| at(index));
    // Who has tools reads the file again, and is told to: what changes in the middle of a prompt costs all that follows.
    let is_older = |index| positions.may_change(index);
    let may_change = |index| !is_window && !request.tools.read_files() && is_older(index);
    let going = sight.going(&texts, &at, &may_change);
    let is_last_in_sight = |part: &EntityId| {
        let shown = sight.last_shown(part).map(at);
        // A reply that is asked for anew isn't in the conversation.
        let refused = refused
            .get(part)
            .filter(|at| end.is_none_or(|end| **at < end));
        sight.shows_truth(part)
            && sight.outlasts(part, &going)
            && refused.is_none_or(|at| shown > Some(*at))
    };
    let in_sight = |entity: &EntityId| match prompt.on_record {
        Some(seen) => seen.in_sight.contains(entity),
        None => {
            all_parts(view, entity, &|part| {
                is_last_in_sight(part) || (in_tool_chain && sight.is_own_edit(part))
            }) || is_whole_in_sight(view, entity, &texts)
        }
    };
    let mut hydration = hydrate::hydrate(view, policy, prompt, candidates, &in_sight);
    if let Some((path, reason)) = &hydration.missed {
        let cause = format!("it can't be shown ({reason}: {})", reason.meaning());
        return Err(rules::missed(path, &cause));
    }
    let shown = hydration.hydrated.iter();
    let shown = shown.filter(|it| it.tokens > 0 || it.reason == Reason::CoveredByFile);
    let added: BTreeSet<EntityId> = shown.map(|shown| shown.entity.clone()).collect();
    // After hydration: what this prompt adds as true must not be withheld elsewhere in it as if it were outdated.
    let mut withholding = sight.withhold(&texts, &at, &may_change, &added);
    let filter = OffFilter::of(view, Standpoint::of(policy, prompt.session), prompt.off);
    // What a prompt on record showed of files that are off is on record.
    let mut off = match (prompt.on_record, &filter) {
        (Some(seen), _) => OffTexts {
            files: seen.off.clone(),
            ..OffTexts::default()
        },
        (None, Some(filter)) => filter.filter(request, &texts, &withholding.rewritten),
        (None, None) => OffTexts::default(),
    };
    withholding.rewritten.append(&mut off.rewritten);
    let withheld: Vec<Withheld> = match prompt.on_record {
        Some(seen) => seen.withheld.clone(),
        None => withholding.new.iter().cloned().collect(),
    };
    let mut older = match is_window {
        true => OlderTurns::of(view, prompt, filter.as_ref(), &mut off.files),
        false => OlderTurns::default(),
    };
    let misleading = match prompt.on_record {
        _ if is_window => core::mem::take(&mut older.withheld),
        Some(seen) => {
            let withheld = seen.withheld.iter().map(|withheld| withheld.entity.clone());
            let noticed = seen.noticed.iter();
            let noticed = noticed.filter_map(|(_, entity)| entity.as_ref());
            let parts = noticed.flat_map(|entity| hydrate::parts_of(view, entity));
            let is_noticed = |part: &EntityId| {
                let notice = hydrate::divergence_notice(view, part);
                notice.is_some_and(|(reason, part)| seen.has_noticed(&part, |it| it == reason))
            };
            withheld.chain(parts.filter(is_noticed)).collect()
        }
        None => sight.misleading(&at, &may_change, &added),
    };
    hydration.notify_stale(view, prompt, misleading);
    hydration.notify_of_messages(prompt, sent_from);
    hydration.note_off(view, prompt, off.files);
    // Between two tool calls an agent has no time for what only its user can resolve: that waits for the next turn.
    let is_due = |notice: &NoticeIssued| !in_tool_chain || notice.reason.is(ReasonClass::NextStep);
    hydration.notices.retain(|notice| {
        // What the model itself has written the user needn't resolve.
        let is_models_own = |entity: &EntityId| match prompt.on_record {
            Some(seen) => !seen.has_noticed(entity, |reason| reason == notice.reason),
            None => sight.is_own_edit(entity),
        };
        let is_own_change = |entity: &EntityId| {
            !is_window && view.divergence(entity).is_some() && is_models_own(entity)
        };
        is_due(notice) && !notice.entity.as_ref().is_some_and(is_own_change)
    });
    if !is_window && request.tools.read_files() && target.is_some() {
        let misleading = || sight.misleading(&at, &is_older, &added);
        let outside = &injected.outside;
        outside.replace_notices(view, prompt, &mut hydration, (&sight, &at), &misleading);
    }
    hydration.gather_by_file(view);
    let notices = core::mem::take(&mut hydration.notices).into_iter();
    let notices = notices.filter(|it| !injected.tells(view, prompt, it));
    let notices: Vec<NoticeIssued> = notices.collect();
    let mut events: Vec<Event> = notices.iter().cloned().map(Event::NoticeIssued).collect();
    let notices = notices_to_show(view, prompt, notices, &|notice, was_shown| {
        let is_told = || {
            notice.reason.is(ReasonClass::ChangedOutside)
                || injected.has_said(&first_sentence(view, prompt, notice))
        };
        target.is_some() && is_due(notice) && (is_window || !was_shown || !is_told())
    });
    let told = target.map(|_| (about, injected.all.as_slice()));
    let (mut sections, composed) = assemble(view, policy, prompt, hydration, &notices, told);
    if let Some(recent) = older.recent {
        // One system message: many models' templates take only one, and only in front.
        match policy.placement {
            Placement::System => add_section(&mut older.system, &recent),
            Placement::User => sections.insert(0, recent),
        }
    }
    let text = sections.join("\n\n");
    let target = target.filter(|_| !text.is_empty());
    // Stored as an injection, and put at the same place in every later prompt: what went out before must not change, or the
    // server's prompt cache is lost and the model reads another past.
    let injection = target.filter(|_| !is_window).and_then(|(index, side)| {
        let message = prompt.keys.get(index).copied().flatten()?;
        let mut recorder = Recorder::new(view);
        let text = recorder.store(ContentKind::Injection, text.as_bytes());
        events.extend(recorder.into_events());
        Some(Injected {
            message,
            position: at(index),
            side,
            text,
        })
    });
    if injection.is_some() || !withheld.is_empty() {
        events.push(Event::PromptAmended(PromptAmended {
            injected: injection,
            withheld,
        }));
    }
    events.push(composed);
    let indices = sent_from..request.messages.len();
    let indices = indices.filter(|at| !is_window || request.messages[*at].role != Role::System);
    let messages = indices.map(|index| injected.outgoing_message(request, index, &withholding));
    let mut messages: Vec<OutgoingMessage> = messages.collect();
    if let Some((at, side)) = target {
        match (messages.iter_mut().find(|it| it.index == at), side) {
            (Some(message), Side::Before) => add_section(&mut message.before, &text),
            (Some(message), Side::After) => add_section(&mut message.after, &text),
            (None, _) => add_section(&mut older.system, &text),
        }
    }
    Ok(Composed {
        events,
        outgoing: Outgoing {
            system: is_window.then_some(older.system),
            messages,
        },
    })
}

/// What stands for the older turns in a window (spec §8.4).
#[derive(Default)]
struct OlderTurns {
    /// The client's system text.
    system: String,
    /// Recent Context. State and notices follow it, directly before the request: a model goes by what it read last, and a refused reply
    /// in the window must not come after its correction.
    recent: Option<String>,
    /// What they showed of code that isn't true any more.
    withheld: BTreeSet<EntityId>,
}

impl OlderTurns {
    fn of(
        view: &StateView<'_>,
        prompt: &Prompt<'_>,
        filter: Option<&OffFilter<'_>>,
        off: &mut BTreeSet<RelPath>,
    ) -> Self {
        let mut index = prompt.index.borrow_mut();
        let mut withheld = BTreeSet::new();
        let mut recent = recent_context(view, prompt, &mut index, &mut withheld);
        let mut system = prompt.request.system_text();
        if let Some(filter) = filter {
            for text in recent.iter_mut().chain([&mut system]) {
                if let Some(clean) = filter.filter_text(text, off) {
                    *text = clean;
                }
            }
        }
        let strict =
            Sight::withhold_strictly(view, prompt.session, &mut index, &system, &mut withheld);
        if let Some(clean) = sight::cleaned_text(Role::System, &system, strict) {
            system = clean;
        }
        Self {
            system,
            recent,
            withheld,
        }
    }
}

/// A client's own request. Where it repeats a conversation, what was put into that goes along, so that the model server has read all but
/// the question before.
#[must_use]
pub fn compose_side_request(
    view: &StateView<'_>,
    policy: &Policy,
    request: &Request,
    known: &OffKnowledge,
) -> Outgoing {
    let mut injected = InjectedTexts::default();
    let mut kept = None;
    if let Some((session, keys)) = receive::repeated_conversation(view, request) {
        let messages = Messages {
            request,
            keys: &keys,
            omitted_prefix: 0,
        };
        let first = messages.first_kept(view, session);
        kept = first.map(|first| messages.kept_from(first));
        let positions = MessagePositions::new(request, 0, 0);
        let amendments = view.state.sessions().amendments(session);
        injected = InjectedTexts::new(view, &keys, &amendments, &positions);
    }
    let filter = OffFilter::of(view, Standpoint::of(policy, SessionId(0)), known);
    let texts = injected.with_texts_of(request, 0);
    let off = filter.map(|filter| filter.filter(request, &texts, &BTreeMap::new()));
    let mut withholding = Withholding {
        rewritten: off.map_or_else(BTreeMap::new, |off| off.rewritten),
        ..Withholding::default()
    };
    // Such requests quote the conversation, with what its user was told.
    for shown in &texts {
        let key = (shown.message, shown.slot);
        let text = withholding
            .rewritten
            .get(&key)
            .map_or(shown.text, String::as_str);
        if let Some(text) = delimiter::without_quoted_user_lines(text) {
            withholding.rewritten.insert(key, text);
        }
    }
    let mut outgoing = Outgoing::unchanged(request);
    for message in &mut outgoing.messages {
        let all = (message.index, TextSlot::Before)..=(message.index, TextSlot::After);
        let is_changed = withholding.rewritten.range(all.clone()).next().is_some()
            || !request.messages[message.index].is_safe();
        if is_changed || injected.texts.range(all).next().is_some() {
            *message = injected.outgoing_message(request, message.index, &withholding);
        }
    }
    if let Some(kept) = kept {
        kept.leave_out(&mut outgoing);
    }
    outgoing
}

/// What the proxy adds to the prompt, section by section, and the record of it: records, code, then notices.
///
/// `told` are the records that the prompt may be about, and the texts of ours that go along with the client's messages; `None` where
/// nothing has a place.
fn assemble(
    view: &StateView<'_>,
    policy: &Policy,
    prompt: &Prompt<'_>,
    mut hydration: Hydration,
    notices: &[NoticeIssued],
    told: Option<(&About, &[String])>,
) -> (Vec<String>, Event) {
    let memory = told.map(|(about, told)| {
        let of = (prompt.request, prompt.index);
        records::memory_block(view, policy, of, about, &hydration, told)
    });
    let (memory, unsaid) = memory.unwrap_or_default();
    hydration.dropped.extend(unsaid);
    let mut sections: Vec<String> = memory.into_iter().chain(hydration.blocks).collect();
    let mut shown: BTreeSet<&EntityId> = hydration.hydrated.iter().map(|it| &it.entity).collect();
    let (outside, other): (Vec<_>, Vec<_>) = notices
        .iter()
        .partition(|notice| notice.reason.is(ReasonClass::ChangedOutside));
    let bytes_max = policy.budget_tokens as usize * BYTES_PER_TOKEN;
    let blocks = other.iter().map(|notice| {
        let about = notice.entity.as_ref();
        // The code of one entity once.
        let is_new = about.is_none_or(|about| shown.insert(about));
        notice_block(view, prompt, notice, is_new.then_some(bytes_max))
    });
    let blocks: Vec<String> = blocks.collect();
    sections.extend(blocks);
    sections.extend(outside::blocks(&outside));
    let composed = PromptComposed {
        history: prompt.history,
        hydrated: hydration.hydrated,
        dropped: hydration.dropped,
        notices: u32::try_from(notices.len()).unwrap_or(u32::MAX),
        budget_tokens: policy.budget_tokens,
    };
    (sections, Event::PromptComposed(composed))
}

/// What was put into the conversation's messages before, message by message.
#[derive(Default)]
struct InjectedTexts {
    /// What they say of changes outside of the conversation.
    outside: ToldChanges,
    /// By the message's index in the request and the side, each with its hash.
    texts: BTreeMap<(usize, TextSlot), (String, ArtifactHash)>,
    /// All of the session's, also of messages that the client no longer sends, the latest last.
    all: Vec<String>,
}

impl InjectedTexts {
    fn new(
        view: &StateView<'_>,
        keys: &[Option<MessageKey>],
        amendments: &Amendments,
        positions: &MessagePositions<'_>,
    ) -> Self {
        let mut injected = Self {
            outside: ToldChanges::default(),
            texts: BTreeMap::new(),
            all: Vec::new(),
        };
        for Injected {
            message,
            position,
            side,
            text,
        } in &amendments.injected
        {
            // What can't be read can't be said again; the conversation goes on without it.
            let hash = *text;
            let Some(text) = view.text(hash) else {
                continue;
            };
            let mut here = positions.messages_at(*position);
            if let Some(index) = here.find(|index| keys[*index] == Some(*message)) {
                let slot = match side {
                    Side::Before => TextSlot::Before,
                    Side::After => TextSlot::After,
                };
                injected
                    .texts
                    .entry((index, slot))
                    .and_modify(|(sections, hash)| {
                        add_section(sections, &text);
                        *hash = ArtifactHash::of(sections.as_bytes());
                    })
                    .or_insert_with(|| (text.clone(), hash));
            }
            injected.outside.add(*position, &text);
            injected.all.push(text);
        }
        injected
    }

    /// All that the model sees of the messages from one on, in order.
    fn with_texts_of<'t>(&'t self, request: &'t Request, from: usize) -> Vec<ShownText<'t>> {
        let mut texts = Vec::new();
        for (index, message) in request.messages.iter().enumerate().skip(from) {
            texts.extend(self.injected_at(index, TextSlot::Before));
            texts.extend(sight::texts_of(index, message));
            texts.extend(self.injected_at(index, TextSlot::After));
        }
        texts
    }

    fn injected_at(&self, message: usize, slot: TextSlot) -> Option<ShownText<'_>> {
        let (text, hash) = self.texts.get(&(message, slot))?;
        Some(ShownText {
            message,
            slot,
            text,
            hash: *hash,
        })
    }

    /// Whether the model was given exactly this sentence.
    fn has_said(&self, sentence: &str) -> bool {
        self.all.iter().any(|text| text.contains(sentence))
    }

    /// Whether the model was given this notice, and what it is about hasn't been shown to it since.
    fn tells(&self, view: &StateView<'_>, prompt: &Prompt<'_>, notice: &NoticeIssued) -> bool {
        let Some(entity) = notice.entity.as_ref().filter(|_| !self.all.is_empty()) else {
            return notice.reason == Reason::QuotesDelimiters
                && self.has_said(&first_sentence(view, prompt, notice));
        };
        let file = EntityId::file(entity.path.clone());
        let of_file = Some(file).filter(|_| notice.reason.is(ReasonClass::Divergence));
        let mut abouts = of_file.into_iter().chain([entity.clone()]);
        abouts.any(|about| {
            let is_refused = notice.reason == Reason::DiskHoldsRefused;
            let refusal = notice::refusal_opening(&format!("{about}"));
            let said = NoticeIssued {
                entity: Some(about),
                ..notice.clone()
            };
            self.has_said_since_shown(entity, &first_sentence(view, prompt, &said))
                || is_refused && self.has_said(&refusal)
        })
    }

    /// Whether the model was given this sentence and hasn't been shown the entity's code since.
    fn has_said_since_shown(&self, entity: &EntityId, sentence: &str) -> bool {
        let line = hydrate::entity_line(entity);
        let lines = [format!("{line}\n"), format!("{line}::")];
        let said = self.all.iter().rposition(|text| text.contains(sentence));
        let is_shown = |text: &String| lines.iter().any(|line| text.contains(line));
        let shown = self.all.iter().rposition(is_shown);
        said.is_some() && said >= shown
    }

    /// A message as it goes out, but for what is put into it now.
    fn outgoing_message(
        &self,
        request: &Request,
        index: usize,
        withholding: &Withholding,
    ) -> OutgoingMessage {
        let rewritten = |slot| withholding.rewritten.get(&(index, slot)).cloned();
        let side = |slot| {
            let known = || self.texts.get(&(index, slot)).map(|(text, _)| text.clone());
            rewritten(slot).or_else(known).unwrap_or_default()
        };
        let message = &request.messages[index];
        let all = (index, TextSlot::Before)..=(index, TextSlot::After);
        let may_change = !message.is_safe()
            || self.texts.range(all.clone()).next().is_some()
            || withholding.rewritten.range(all).next().is_some();
        if !may_change {
            return OutgoingMessage {
                index,
                ..OutgoingMessage::default()
            };
        }
        let changed = |texts: &[String],
                       slot: &dyn Fn(usize) -> TextSlot|
         -> Vec<(usize, String)> {
            let texts = texts.iter().enumerate();
            let texts = texts.map(|(at, text)| (at, text, rewritten(slot(at))));
            let texts = texts.filter(|(.., rewritten)| rewritten.is_some() || !message.is_safe());
            texts
                .filter_map(|(at, text, rewritten)| {
                    Some((at, sight::cleaned_text(message.role, text, rewritten)?))
                })
                .collect()
        };
        OutgoingMessage {
            index,
            before: side(TextSlot::Before),
            after: side(TextSlot::After),
            rewritten: changed(&message.parts, &TextSlot::Part),
            arguments: (0..message.tool_calls.len())
                .filter_map(|at| Some((at, rewritten(TextSlot::Arguments(at))?)))
                .collect(),
            thoughts: changed(&message.thoughts, &TextSlot::Thought),
        }
    }
}

fn add_section(sections: &mut String, section: &str) {
    if !sections.is_empty() && !section.is_empty() {
        sections.push_str("\n\n");
    }
    sections.push_str(section);
}

/// Where a prompt's messages stand in their conversation.
struct MessagePositions<'p> {
    request: &'p Request,
    /// How many messages were in the conversation before.
    known_length: u32,
    /// Of each message, how many there are in the conversation up to it, system messages left out.
    positions: Vec<u32>,
    /// The index of the message that the current turn begins with.
    current_from: usize,
    /// How many messages at the beginning are a client's examples of another code base.
    examples: usize,
}

impl<'p> MessagePositions<'p> {
    fn new(request: &'p Request, mut position: u32, known_length: u32) -> Self {
        let positions = request.messages.iter().map(|message| {
            position = position.saturating_add(u32::from(message.role != Role::System));
            position
        });
        Self {
            request,
            known_length,
            positions: positions.collect(),
            current_from: request.current_from(),
            examples: request.example_count(),
        }
    }

    fn position(&self, index: usize) -> u32 {
        self.positions[index]
    }

    /// The messages at a position.
    fn messages_at(&self, position: u32) -> impl Iterator<Item = usize> {
        let positions = &self.positions;
        let first = positions.partition_point(|other| *other < position);
        (first..positions.len()).take_while(move |index| positions[*index] == position)
    }

    /// Where what is new goes: in front of the user's words in a new turn, after what a tool returned within one; never
    /// into a message that went out before without it.
    fn injection_target(&self, on_record: Option<&RecordedSight>) -> Option<(usize, Side)> {
        let mut messages = self.request.messages.iter().enumerate();
        let (index, message) =
            messages.rfind(|(_, message)| matches!(message.role, Role::User | Role::Tool))?;
        let is_new = match on_record {
            Some(seen) => !seen.nothing_new,
            None => self.position(index) > self.known_length,
        };
        let side = match message.role {
            Role::User => Side::Before,
            _ => Side::After,
        };
        is_new.then_some((index, side))
    }

    /// Whether code may be withheld from a message from now on: not from what is new, nor from the user's own words of
    /// this turn, nor from a client's examples of another code base.
    fn may_change(&self, index: usize) -> bool {
        let went_out = self.position(index) <= self.known_length;
        let is_older = index < self.current_from || (index > self.current_from && went_out);
        is_older && index >= self.examples
    }
}

/// The symbols that may be hydrated.
fn wanted_symbols(view: &StateView<'_>, candidates: &[(EntityId, Reason)]) -> Vec<EntityId> {
    let mut wanted = Vec::new();
    for (entity, reason) in candidates {
        match entity.symbol {
            Some(_) => {
                wanted.push(entity.clone());
                if view.divergence(entity).is_some() {
                    wanted.extend(hydrate::parts_within(view, entity));
                }
            }
            None if *reason != Reason::LeftToTools => {
                wanted.extend(view.state.state_map().entities_in(&entity.path))
            }
            None => {}
        }
    }
    wanted
}

/// Whether something holds of a symbol, or of every symbol of a file.
fn all_parts(view: &StateView<'_>, entity: &EntityId, holds: &dyn Fn(&EntityId) -> bool) -> bool {
    let parts = hydrate::parts_of(view, entity);
    !parts.is_empty() && parts.iter().all(holds)
}

/// Whether a text shows a file of which nothing but the whole is true, such as the rules that clients bring along.
fn is_whole_in_sight(view: &StateView<'_>, entity: &EntityId, texts: &[ShownText<'_>]) -> bool {
    // Before its text is read: nearly all candidates have parts.
    let current = Some(entity).filter(|it| hydrate::parts_of(view, it).is_empty());
    let current = current.and_then(|it| view.current_version(it));
    let code = current.and_then(|it| view.artifact_slices(it.artifact, &it.spans));
    let Some(code) = code else { return false };
    let code = code.trim_ascii();
    let mut texts = texts.iter();
    code.len() >= WHOLE_BYTES_MIN
        && texts.any(|it| memmem::find(it.text.as_bytes(), code).is_some())
}

/// For each symbol whose proposal waits in this session, the position of the last reply that proposed it.
fn last_refusals(view: &StateView<'_>, session: SessionId) -> BTreeMap<EntityId, u32> {
    let mut last = BTreeMap::new();
    for proposal in view.proposals_in(session) {
        let sessions = view.state.sessions();
        if let Some(at) = sessions.reply_position(session, proposal.episode) {
            let known: &mut u32 = last.entry(proposal.entity).or_default();
            *known = at.max(*known);
        }
    }
    last
}

/// The newest notices that still matter, each thing said once. `is_due` says which of those that wait are given now.
fn notices_to_show(
    view: &StateView<'_>,
    prompt: &Prompt<'_>,
    new: Vec<NoticeIssued>,
    is_due: &dyn Fn(&NoticeIssued, bool) -> bool,
) -> Vec<NoticeIssued> {
    let sessions = view.state.sessions();
    let mut notices: Vec<NoticeIssued> = sessions
        .pending_notices(prompt.session)
        .into_iter()
        .filter(|it| still_matters(view, &it.notice) && is_due(&it.notice, it.was_shown))
        .map(|pending| pending.notice)
        .collect();
    notices.extend(new);
    let mut said = BTreeSet::new();
    notices
        .retain(|notice| said.insert((notice.reason, notice.entity.clone(), notice.other.clone())));
    // What a refused change has lost is said with the refusal.
    let refusals = notices
        .iter()
        .filter(|it| it.reason.is(ReasonClass::LostCode));
    let told: BTreeSet<EntityId> = refusals.filter_map(|it| it.entity.clone()).collect();
    let is_told = |entity: &EntityId| {
        told.contains(entity) || told.contains(&EntityId::file(entity.path.clone()))
    };
    notices.retain(|notice| {
        notice.reason != Reason::DiskHoldsRefused || !notice.entity.as_ref().is_some_and(is_told)
    });
    // All changes outside are one line.
    let (outside, mut notices): (Vec<_>, Vec<_>) = notices
        .into_iter()
        .partition(|notice| notice.reason.is(ReasonClass::ChangedOutside));
    let surplus = notices.len().saturating_sub(NOTICES_PER_PROMPT_MAX);
    notices.drain(..surplus);
    notices.extend(outside);
    notices
}

/// Whether a notice still holds: one about disk, or about a proposal that waits, may have been resolved meanwhile.
fn still_matters(view: &StateView<'_>, notice: &NoticeIssued) -> bool {
    let Some(entity) = &notice.entity else {
        return notice.reason != Reason::DecisionsUngrounded
            || !DecisionEvidence::of(view).suffices();
    };
    let is_settled = match (notice.reason, &notice.other) {
        (Reason::GrantMissing, _) => view
            .proposals_for(entity)
            .iter()
            .all(|proposal| proposal.refused_for() != Some(Reason::GrantMissing)),
        (Reason::FileGone, _) => {
            view.disk_finding(&entity.path) != Some(LastFinding::Missing)
                || !view.state.state_map().tracks(&entity.path)
        }
        (reason, _) if reason.is(ReasonClass::Divergence) => {
            hydrate::divergence_within(view, entity).is_none()
        }
        (Reason::UnsavedElsewhere, _) => !view.state.stale().is_unsaved(entity),
        _ => false,
    };
    !is_settled
}

/// `code_bytes_max`: how much of the code that a refused change has lost may be shown.
fn notice_block(
    view: &StateView<'_>,
    prompt: &Prompt<'_>,
    notice: &NoticeIssued,
    code_bytes_max: Option<usize>,
) -> String {
    let is_off = |it: &EntityId| view.state.scope().off().is_off(it.path.as_str());
    if prompt.policy.repair != Repair::Off
        && let Some(file) = notice.entity.as_ref().filter(|it| !is_off(it))
        && let Some(meant) = MeantLines::of_notice(view, notice)
    {
        return notice::notice_of(&meant.text(file));
    }
    if notice.reason == Reason::ContextCleared {
        return goal::block_after_clear(view, prompt.session);
    }
    if notice.reason == Reason::DecisionsUngrounded {
        return notice::notice_of(&DecisionEvidence::of(view).refusal());
    }
    if notice.reason == Reason::CheckRan
        && let Some(text) = check::told(view, notice.session)
    {
        return notice::notice_of(&text);
    }
    let has_goal = view.state.goal().current().is_some();
    if (notice.reason == Reason::GoalTold || notice.reason == Reason::GoalChanged && has_goal)
        && let Some(block) = goal::recovery_block(view, prompt)
    {
        return block;
    }
    if is_about_users_code(view, prompt, notice)
        && let Some(text) = notice::users_code_notice(notice)
    {
        return text;
    }
    if let Some(entity) = &notice.entity
        && notice.reason == Reason::NotConfirmable
        && let Some(is_edit) = is_unlinked_edit(view, entity)
    {
        return notice::not_linked_notice(entity, is_edit);
    }
    let seen = |entity: &EntityId| view.disk_finding(&entity.path);
    let read_by = (prompt.grammars, &prompt.policy.code_spec);
    let lost = LostCode::of_notice(view, read_by, notice, code_bytes_max);
    let entity = notice.entity.as_ref();
    let lost = lost.filter(|_| !entity.is_some_and(is_off));
    let disk = notice.entity.as_ref().and_then(seen);
    notice::block(notice, disk, lost.as_ref())
}

/// What a notice says first, by which it is recognised.
fn first_sentence(view: &StateView<'_>, prompt: &Prompt<'_>, notice: &NoticeIssued) -> String {
    let block = notice_block(view, prompt, notice, None);
    block.lines().nth(1).unwrap_or_default().into()
}

/// Whether a notice is about code of the user's: what is said in this episode, before the model has answered, and what an
/// agent's client made of a refused edit isn't the cause.
fn is_about_users_code(view: &StateView<'_>, prompt: &Prompt<'_>, notice: &NoticeIssued) -> bool {
    let path = notice.entity.as_ref().map(|entity| &entity.path);
    let proposed = path.map(|path| view.proposals_under(path));
    let mut proposed = proposed.into_iter().flatten();
    let is_new = |other: &NoticeIssued| other.episode == prompt.episode;
    let is_same = |other: &NoticeIssued| {
        (other.reason, &other.entity) == (notice.reason, &notice.entity) && is_new(other)
    };
    let pending = view.state.sessions().pending_notices(prompt.session);
    let is_of_this_prompt =
        is_new(notice) || pending.iter().any(|pending| is_same(&pending.notice));
    is_of_this_prompt
        && !proposed.any(|it| it.origin != Origin::User && it.episode == prompt.episode)
}

/// Whether what was last proposed of an entity is an edit that doesn't apply; `None` if it is linked to it.
fn is_unlinked_edit(view: &StateView<'_>, entity: &EntityId) -> Option<bool> {
    let newest = view.proposals_for(entity).pop()?;
    let report = newest.report.as_ref()?;
    let fails = |rule: Reason| report.verdicts.iter().any(|it| it.rule == rule && !it.met);
    let mut rules = report.verdicts.iter().map(|it| it.rule);
    let is_correlated = rules.any(|rule| rule == Reason::CorrelatedWithOneFile);
    fails(Reason::Confirmed).then(|| fails(Reason::BaseUnmoved) && !is_correlated)
}
