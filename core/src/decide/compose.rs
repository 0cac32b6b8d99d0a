//! What the model is given to see: true code that the prompt names, notices, recent context (spec §8, engine: "Prompt
//! assembly").

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::found_code::Reading;
use super::outdated::{Outdated, ReadCode};
use super::propose;
use super::receive;
use crate::capture;
use crate::delimiter::{self, RECENT_CLOSE, RECENT_OPEN, STATE_CLOSE, STATE_OPEN};
use crate::directive;
use crate::entity::EntityId;
use crate::event::{Dropped, Event, History, Hydrated, NoticeIssued, PromptComposed};
use crate::extract::{Grammars, Proof};
use crate::hash::ArtifactHash;
use crate::ids::{EpisodeId, SessionId};
use crate::limits::{
    BYTES_PER_TOKEN, HYDRATION_CANDIDATES_MAX, NOTICES_PER_PROMPT_MAX, RECENT_MESSAGE_BYTES_MAX,
    RECENT_MESSAGE_READ_BYTES,
};
use crate::mention::Mentions;
use crate::message::{Message, Request, Role, ToolCall};
use crate::notice;
use crate::path::RelPath;
use crate::policy::{Placement, Policy};
use crate::reason::Reason;
use crate::view::{Current, Divergence, Exchange, View};

/// The prompt as it goes to the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outgoing {
    /// The one system message; empty if there is none.
    pub system: String,
    /// Text to put in front of the current prompt, for models without a system role.
    pub prefix: String,
    /// The client's messages that go along, in order.
    pub messages: Vec<OutgoingMessage>,
}

/// One of the client's messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutgoingMessage {
    /// Its index in the request.
    pub index: usize,
    /// Text parts that differ from what the client sent, by their index among the message's text parts. Empty: the
    /// message goes out byte for byte.
    pub rewritten: Vec<(usize, String)>,
    /// Arguments that differ from what the client sent, by their call's index among the message's tool calls.
    pub arguments: Vec<(usize, String)>,
    /// Thoughts that differ from what the client sent, by their index among the message's.
    pub thoughts: Vec<(usize, String)>,
}

/// The decision and its text.
#[derive(Clone, Debug)]
pub struct Composed {
    /// What to append.
    pub events: Vec<Event>,
    /// What to send.
    pub outgoing: Outgoing,
}

/// What composing needs to know of the prompt.
pub struct Prompt<'r> {
    /// The request.
    pub request: &'r Request,
    /// Its episode.
    pub episode: EpisodeId,
    /// Its session.
    pub session: SessionId,
    /// How older messages are treated.
    pub history: History,
    /// What the current prompt names.
    pub mentions: &'r Mentions,
    /// The blocks of code that the model sees in the client's own messages anyway, where `request` doesn't hold all
    /// messages that went along.
    pub seen: Option<&'r BTreeSet<ArtifactHash>>,
    /// The parsers.
    pub grammars: &'r dyn Grammars,
    /// What is known of older messages' code.
    pub read: &'r ReadCode,
}

/// Composes the prompt. The state must hold what disk says of every candidate, by an observation of this episode.
#[must_use]
pub fn compose(view: &dyn View, policy: &Policy, prompt: &Prompt<'_>) -> Composed {
    let reading = Reading {
        view,
        grammars: prompt.grammars,
        root: &policy.workspace_root,
    };
    let outdated = Outdated::new(reading, prompt.read);
    let messages = outgoing_messages(&outdated, prompt);
    let found;
    let in_prompt = match prompt.seen {
        Some(seen) => seen,
        None => {
            found = artifacts_in(prompt.request, &messages);
            &found
        }
    };
    let hydration = hydrate(view, policy, prompt, in_prompt);
    let mut events: Vec<Event> = hydration
        .notices
        .iter()
        .cloned()
        .map(Event::NoticeIssued)
        .collect();
    let notices = notices_to_show(view, prompt.session, hydration.notices);
    let preface = preface(view, &outdated, prompt, &hydration.blocks, &notices);
    events.push(Event::PromptComposed(PromptComposed {
        episode: prompt.episode,
        history: prompt.history,
        hydrated: hydration.hydrated,
        dropped: hydration.dropped,
        notices: u32::try_from(notices.len()).unwrap_or(u32::MAX),
        budget_tokens: policy.budget_tokens,
    }));
    Composed {
        events,
        outgoing: place(
            policy.placement,
            system(&outdated, prompt.request),
            preface,
            messages,
        ),
    }
}

/// Entities that may be hydrated for this prompt, in the order of admission, each with its reason.
#[must_use]
pub fn candidates(
    view: &dyn View,
    session: SessionId,
    mentions: &Mentions,
) -> Vec<(EntityId, Reason)> {
    let mut list: Vec<(EntityId, Reason)> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut add = |entity: EntityId, reason| {
        if list.len() < HYDRATION_CANDIDATES_MAX && seen.insert(entity.clone()) {
            list.push((entity, reason));
        }
    };
    for entity in &mentions.symbols {
        add(entity.clone(), Reason::Mentioned);
    }
    for proposal in view.proposals_in(session) {
        // An edit that didn't apply proposes something about the whole file: what there is of it must be seen.
        if proposal.entity.symbol.is_some() {
            add(proposal.entity, Reason::UnderProposal);
        } else {
            for entity in known_of(view, &proposal.entity.path) {
                add(entity, Reason::UnderProposal);
            }
        }
    }
    for path in &mentions.files {
        for entity in known_of(view, path) {
            add(entity, Reason::FileMentioned);
        }
    }
    list
}

/// The file as a whole, or what is known of it.
fn known_of(view: &dyn View, path: &RelPath) -> Vec<EntityId> {
    let file = EntityId::file(path.clone());
    if view.current(&file).is_some() {
        return Vec::from([file]);
    }
    let symbols = view.symbols_of(path).into_iter();
    symbols
        .map(|symbol| EntityId::symbol(path.clone(), symbol))
        .collect()
}

#[derive(Default)]
struct Hydration {
    blocks: Vec<String>,
    hydrated: Vec<Hydrated>,
    dropped: Vec<Dropped>,
    notices: Vec<NoticeIssued>,
}

fn hydrate(
    view: &dyn View,
    policy: &Policy,
    prompt: &Prompt<'_>,
    in_prompt: &BTreeSet<ArtifactHash>,
) -> Hydration {
    let mut hydration = Hydration::default();
    let mut admitted: Vec<(Hydrated, String)> = Vec::new();
    let mut tokens_left = policy.budget_tokens;
    for entity in &prompt.mentions.ambiguous {
        hydration.drop(prompt, entity.clone(), Reason::AmbiguousName);
    }
    for (entity, reason) in candidates(view, prompt.session, prompt.mentions) {
        let Some(current) = view.current(&entity) else {
            continue;
        };
        let covered = covered_tokens(&admitted, &entity);
        match admit(view, &entity, &current, in_prompt, tokens_left + covered) {
            Err(refusal) => hydration.drop(prompt, entity, refusal),
            Ok((text, tokens)) => {
                tokens_left = tokens_left + covered - tokens;
                let hydrated = Hydrated {
                    entity,
                    version: current.version,
                    reason,
                    tokens,
                };
                admitted.push((hydrated, text));
            }
        }
    }
    drop_covered(&mut admitted, &mut hydration);
    warn_of_files(view, prompt, &admitted, &mut hydration);
    keep_order(&mut admitted, &view.hydration_order(prompt.session));
    for (hydrated, text) in admitted {
        hydration.hydrated.push(hydrated);
        hydration.blocks.push(text);
    }
    hydration
}

/// A part that is shown can't be changed while its file is STALE as a whole: said before somebody tries.
fn warn_of_files(
    view: &dyn View,
    prompt: &Prompt<'_>,
    admitted: &[(Hydrated, String)],
    hydration: &mut Hydration,
) {
    let files: BTreeSet<EntityId> = admitted
        .iter()
        .filter_map(|(hydrated, _)| propose::stale_file(view, &hydrated.entity))
        .collect();
    for file in files {
        let is_told = |notice: &NoticeIssued| notice.entity.as_ref() == Some(&file);
        if let Some(divergence) = view.divergence(&file)
            && !hydration.notices.iter().any(is_told)
        {
            hydration.tell(prompt, file, reason_of(divergence));
        }
    }
}

/// What a whole file's parts cost, which it covers if it is shown.
fn covered_tokens(admitted: &[(Hydrated, String)], entity: &EntityId) -> u32 {
    if entity.symbol.is_some() {
        return 0;
    }
    let parts = admitted
        .iter()
        .filter(|(hydrated, _)| hydrated.entity.path == entity.path);
    parts.map(|(hydrated, _)| hydrated.tokens).sum()
}

impl Hydration {
    /// Records why a candidate isn't shown, and tells the model where it would otherwise guess.
    fn drop(&mut self, prompt: &Prompt<'_>, entity: EntityId, reason: Reason) {
        let is_worth_a_notice = matches!(
            reason,
            Reason::Stale
                | Reason::DiskHoldsSuperseded
                | Reason::DiskUnreadable
                | Reason::OverBudget
                | Reason::QuotesDelimiters
        );
        if is_worth_a_notice {
            self.tell(prompt, entity.clone(), reason);
        }
        self.dropped.push(Dropped { entity, reason });
    }

    fn tell(&mut self, prompt: &Prompt<'_>, entity: EntityId, reason: Reason) {
        self.notices.push(NoticeIssued {
            episode: prompt.episode,
            session: prompt.session,
            reason,
            entity: Some(entity),
            other: None,
        });
    }
}

/// The block for one entity and the tokens it takes, or why it isn't shown.
fn admit(
    view: &dyn View,
    entity: &EntityId,
    current: &Current,
    in_prompt: &BTreeSet<ArtifactHash>,
    tokens_left: u32,
) -> Result<(String, u32), Reason> {
    if let Some(divergence) = divergence_within(view, entity) {
        return Err(reason_of(divergence));
    }
    if in_prompt.contains(&current.artifact) {
        return Err(Reason::InPrompt);
    }
    let code = view
        .slices(current.artifact, &current.spans)
        .ok_or(Reason::ContentMissing)?;
    let code = core::str::from_utf8(&code).map_err(|_| Reason::ContentMissing)?;
    if delimiter::quoted_in(code) {
        return Err(Reason::QuotesDelimiters);
    }
    let text = state_block(entity, current, code);
    let tokens = tokens_of(&text);
    if tokens > tokens_left {
        return Err(Reason::OverBudget);
    }
    Ok((text, tokens))
}

const fn reason_of(divergence: Divergence) -> Reason {
    match divergence {
        Divergence::Unknown => Reason::Stale,
        Divergence::Superseded => Reason::DiskHoldsSuperseded,
        Divergence::Unreadable => Reason::DiskUnreadable,
    }
}

/// How disk diverges from an entity or, of a whole file, from a definition that its text would show as well: no prompt
/// shows code and says that it is withheld.
fn divergence_within(view: &dyn View, entity: &EntityId) -> Option<Divergence> {
    let own = view.divergence(entity);
    if own.is_some() || entity.symbol.is_some() {
        return own;
    }
    let symbols = view.symbols_of(&entity.path).into_iter();
    symbols
        .map(|symbol| EntityId::symbol(entity.path.clone(), symbol))
        .find_map(|part| view.divergence(&part))
}

/// The law's template (spec §8.2), to the letter; what a pattern confirmed (§4.1, step 2) isn't said to be read by AST.
fn state_block(entity: &EntityId, current: &Current, code: &str) -> String {
    let source = match current.proof {
        Proof::Ast => "AST",
        Proof::Pattern | Proof::PartialPattern => "pattern",
    };
    format!(
        "{STATE_OPEN}\nEntity: {entity}\nArtifact: {}\nSource: Confirmed via {source}\n\n{}\n{STATE_CLOSE}",
        current.slice,
        code.trim_end_matches(['\n', '\r'])
    )
}

/// A count that rather overestimates.
fn tokens_of(text: &str) -> u32 {
    u32::try_from(text.len().div_ceil(BYTES_PER_TOKEN)).unwrap_or(u32::MAX)
}

/// Where a whole file is shown, its parts aren't shown again.
fn drop_covered(admitted: &mut Vec<(Hydrated, String)>, hydration: &mut Hydration) {
    let files: BTreeSet<_> = admitted
        .iter()
        .filter(|(hydrated, _)| hydrated.entity.symbol.is_none())
        .map(|(hydrated, _)| hydrated.entity.path.clone())
        .collect();
    admitted.retain(|(hydrated, _)| {
        let is_covered = hydrated.entity.symbol.is_some() && files.contains(&hydrated.entity.path);
        if is_covered {
            hydration.dropped.push(Dropped {
                entity: hydrated.entity.clone(),
                reason: Reason::CoveredByFile,
            });
        }
        !is_covered
    });
}

/// First hydrated first, so that a local model's prefix cache survives from turn to turn.
fn keep_order(admitted: &mut [(Hydrated, String)], order: &[EntityId]) {
    let rank = |entity: &EntityId| {
        order
            .iter()
            .position(|known| known == entity)
            .unwrap_or(order.len())
    };
    admitted.sort_by_key(|(hydrated, _)| rank(&hydrated.entity));
}

/// The newest notices that still matter, each thing said once.
fn notices_to_show(
    view: &dyn View,
    session: SessionId,
    new: Vec<NoticeIssued>,
) -> Vec<NoticeIssued> {
    let mut pending = view.pending_notices(session);
    pending.retain(|notice| still_matters(view, notice));
    pending.extend(new);
    let mut said = BTreeSet::new();
    pending
        .retain(|notice| said.insert((notice.reason, notice.entity.clone(), notice.other.clone())));
    let surplus = pending.len().saturating_sub(NOTICES_PER_PROMPT_MAX);
    pending.split_off(surplus)
}

/// Of disk, and of what waits, only what is so now is said: by now it may be settled.
fn still_matters(view: &dyn View, notice: &NoticeIssued) -> bool {
    let Some(entity) = &notice.entity else {
        return true;
    };
    let is_settled = match (notice.reason, &notice.other) {
        (Reason::GrantMissing, _) => view
            .proposals_for(entity)
            .iter()
            .all(|proposal| proposal.refused_for() != Some(Reason::GrantMissing)),
        // That it was not accepted stays so, whatever disk holds by now.
        (Reason::Stale, Some(part)) => view.proposals_for(part).is_empty(),
        (Reason::Stale | Reason::DiskHoldsSuperseded | Reason::DiskUnreadable, _) => {
            view.divergence(entity).is_none()
        }
        _ => false,
    };
    !is_settled
}

/// Code, then notices, then recent context.
fn preface(
    view: &dyn View,
    outdated: &Outdated<'_>,
    prompt: &Prompt<'_>,
    blocks: &[String],
    notices: &[NoticeIssued],
) -> String {
    let mut sections: Vec<String> = blocks.to_vec();
    sections.extend(notices.iter().map(|notice| {
        let seen = |entity: &EntityId| view.disk(&entity.path);
        notice::block(notice, notice.entity.as_ref().and_then(seen))
    }));
    if prompt.history == History::Window {
        sections.extend(recent_context(view, outdated, prompt.session));
    }
    sections.join("\n\n")
}

fn recent_context(view: &dyn View, outdated: &Outdated<'_>, session: SessionId) -> Option<String> {
    let exchanges = view.recent(session);
    if exchanges.is_empty() {
        return None;
    }
    let mut text = String::from(RECENT_OPEN);
    for Exchange { user, assistant } in exchanges {
        for (name, speaker, pieces) in [
            ("User", Role::User, user),
            ("Assistant", Role::Assistant, assistant),
        ] {
            text.push_str(&format!(
                "\n{name}:\n{}\n",
                recent_message(view, outdated, speaker, &pieces)
            ));
        }
    }
    text.push_str(RECENT_CLOSE);
    Some(text)
}

/// One message of the window: code that is no longer true withheld, delimiters defused, cut hard at its cap.
fn recent_message(
    view: &dyn View,
    outdated: &Outdated<'_>,
    speaker: Role,
    pieces: &[ArtifactHash],
) -> String {
    let text = recent_text(view, pieces);
    let text = clean(speaker, &text, outdated.withheld(&text)).unwrap_or(text);
    let mut cut = text.len().min(RECENT_MESSAGE_BYTES_MAX);
    while !text.is_char_boundary(cut) {
        cut -= 1;
    }
    String::from(text[..cut].trim_end())
}

/// A message of the window as it was recorded, as far as it is looked at.
pub(super) fn recent_text(view: &dyn View, pieces: &[ArtifactHash]) -> String {
    let mut text = String::new();
    for piece in pieces {
        let bytes = view.content(*piece).unwrap_or_default();
        text.push_str(&String::from_utf8_lossy(&bytes));
        if text.len() > RECENT_MESSAGE_READ_BYTES {
            break;
        }
    }
    text
}

/// A text as an older message may say it: without injected blocks, delimiters defused, and code that isn't true any
/// more replaced by a one-line marker, as in `withheld`. `None` if nothing changes.
fn clean(speaker: Role, text: &str, withheld: Option<String>) -> Option<String> {
    let safe = safe(speaker, withheld.as_deref().unwrap_or(text));
    safe.or(withheld)
}

/// A text without injected blocks, delimiters defused, and the user's without directives. What a tool printed is no
/// directive, however it begins. `None` if nothing changes.
fn safe(speaker: Role, text: &str) -> Option<String> {
    let prose = match speaker {
        Role::User => directive::stripped(text),
        _ => Cow::Borrowed(text),
    };
    let stripped = delimiter::strip_blocks(&prose);
    let defused = delimiter::defused(&stripped);
    if defused.trim().is_empty() && !prose.trim().eq(text.trim()) {
        return Some(String::from(ONLY_DIRECTIVES));
    }
    (defused != text).then(|| defused.into_owned())
}

/// What the model sees of a prompt that only told the proxy something.
const ONLY_DIRECTIVES: &str =
    "(A directive to the state ledger; what came of it stands in the state notices.)";

/// The client's messages that go along.
fn outgoing_messages(outdated: &Outdated<'_>, prompt: &Prompt<'_>) -> Vec<OutgoingMessage> {
    let current_from = prompt.request.current_from();
    let first = match prompt.history {
        History::Window => current_from,
        History::Client => 0,
    };
    let examples = capture::examples(&prompt.request.messages);
    prompt
        .request
        .messages
        .iter()
        .enumerate()
        .skip(first)
        .filter(|(_, message)| message.role != Role::System)
        .map(|(index, message)| {
            if index < current_from && index >= examples {
                older_message(outdated, &prompt.request.messages, index)
            } else {
                OutgoingMessage {
                    index,
                    rewritten: rewritten(&message.parts, |part| safe(message.role, part)),
                    arguments: Vec::new(),
                    thoughts: rewritten(&message.thoughts, |part| safe(message.role, part)),
                }
            }
        })
        .collect()
}

fn older_message(outdated: &Outdated<'_>, messages: &[Message], index: usize) -> OutgoingMessage {
    let message = &messages[index];
    let call = call_of(messages, index);
    let calls = message.tool_calls.iter().enumerate();
    OutgoingMessage {
        index,
        rewritten: rewritten(&message.parts, |part| {
            let withheld = match message.role {
                Role::Tool => outdated.withheld_result(part, call),
                _ => outdated.withheld(part),
            };
            clean(message.role, part, withheld)
        }),
        arguments: calls
            .filter_map(|(call, made)| Some((call, outdated.withheld_arguments(made)?)))
            .collect(),
        thoughts: rewritten(&message.thoughts, |thought| {
            clean(message.role, thought, outdated.withheld(thought))
        }),
    }
}

/// The call that a tool's result answers: results stand behind their calls, in the same order.
pub(super) fn call_of(messages: &[Message], result: usize) -> Option<&ToolCall> {
    let before = &messages[..result];
    let asked = before
        .iter()
        .rposition(|message| message.role != Role::Tool)?;
    before[asked].tool_calls.get(result - asked - 1)
}

fn rewritten(texts: &[String], rewrite: impl Fn(&str) -> Option<String>) -> Vec<(usize, String)> {
    texts
        .iter()
        .enumerate()
        .filter_map(|(index, text)| Some((index, rewrite(text)?)))
        .collect()
}

/// The blocks of code that the model sees in the client's own messages anyway.
fn artifacts_in(request: &Request, messages: &[OutgoingMessage]) -> BTreeSet<ArtifactHash> {
    let mut artifacts = BTreeSet::new();
    for outgoing in messages {
        let message = &request.messages[outgoing.index];
        for (index, part) in message.parts.iter().enumerate() {
            let rewritten = outgoing.rewritten.iter().find(|(part, _)| *part == index);
            let text = rewritten.map_or(part.as_str(), |(_, text)| text);
            artifacts.extend(
                capture::blocks(text)
                    .iter()
                    .map(|block| ArtifactHash::of(block.code.as_bytes())),
            );
        }
    }
    artifacts
}

/// The client's own system messages, as one.
fn system(outdated: &Outdated<'_>, request: &Request) -> String {
    let system = receive::system_text(request);
    clean(Role::System, &system, outdated.withheld(&system)).unwrap_or(system)
}

fn place(
    placement: Placement,
    system: String,
    preface: String,
    messages: Vec<OutgoingMessage>,
) -> Outgoing {
    match placement {
        Placement::System if system.is_empty() => Outgoing {
            system: preface,
            prefix: String::new(),
            messages,
        },
        Placement::System if preface.is_empty() => Outgoing {
            system,
            prefix: String::new(),
            messages,
        },
        Placement::System => Outgoing {
            system: format!("{system}\n\n{preface}"),
            prefix: String::new(),
            messages,
        },
        Placement::User => Outgoing {
            system,
            prefix: preface,
            messages,
        },
    }
}
