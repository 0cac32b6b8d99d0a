//! A conversation's context cleared: what it held so far goes to no model any more, and where the work stands is told in its place
//! (docs/memory.md, spec 003).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use tslp_core::event::{ContextCleared, ContextCut, Event, NoticeIssued};
use tslp_core::hash::MessageKey;
use tslp_core::ids::{EpisodeId, SessionId};
use tslp_core::message::Role;
use tslp_core::outgoing::Outgoing;
use tslp_core::path::RelPath;
use tslp_core::policy::{Grounding, Policy};
use tslp_core::reason::Reason;
use tslp_core::record::RecordKind;
use tslp_core::request::Request;
use tslp_projections::state::StateView;

use super::prompt_facts::RecordedSight;
use super::records;

/// What lets a conversation be cleared though decisions lack evidence.
pub const FORCE: &str = "force";

/// How many of a hundred decisions need evidence.
const GROUNDED_PERCENT_MIN: usize = 95;

/// Marks a statement that counts as no claim.
const ASSUMPTION: &str = "[ASSUMPTION]";

/// Decisions that are named in an answer.
const NAMED_MAX: usize = 8;

/// The decisions made since a conversation was cleared last, and which of them lack evidence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecisionEvidence {
    claims: usize,
    /// Each with what it lacks.
    ungrounded: Vec<(String, String)>,
}

impl DecisionEvidence {
    /// Assumptions count in neither figure: else the advised remedy wouldn't help.
    #[must_use]
    pub fn of(view: &StateView<'_>) -> Self {
        let last_clear = view.state.sessions().last_clear();
        let mut evidence = Self::default();
        for row in view.state.records().all() {
            let is_claim = row.kind == RecordKind::Decision && !row.statement.contains(ASSUMPTION);
            if !is_claim || row.seq <= last_clear {
                continue;
            }
            evidence.claims += 1;
            let path = || RelPath::from_normalised(&row.path);
            let lacks = if row.path.is_empty() {
                "no citation".into()
            } else if !records::stands(view, &path(), &row.quotation) {
                format!("its quotation is gone from {}", row.path)
            } else {
                continue;
            };
            evidence.ungrounded.push((row.key.clone(), lacks));
        }
        evidence
    }

    /// Whether enough of the decisions have evidence.
    #[must_use]
    pub fn suffices(&self) -> bool {
        let grounded = self.claims - self.ungrounded.len();
        100 * grounded >= GROUNDED_PERCENT_MIN * self.claims
    }

    /// Why the conversation isn't cleared, with the decisions that lack evidence.
    #[must_use]
    pub fn refusal(&self) -> String {
        let lacking = match self.ungrounded.len() {
            1 => "1 decision lacks evidence".into(),
            many => format!("{many} decisions lack evidence"),
        };
        let grounded = self.claims - self.ungrounded.len();
        // Cut, not rounded: what is too little must not look like enough.
        let percent = grounded * 100 / self.claims.max(1);
        let (whole, part) = (percent / 100, percent % 100);
        let mut text = format!(
            "Cannot clear: {lacking}.\nGrounding ratio {whole}.{part:02}, required 0.{GROUNDED_PERCENT_MIN}. Add evidence or mark {ASSUMPTION}."
        );
        for (key, lacks) in self.ungrounded.iter().take(NAMED_MAX) {
            text.push_str(&format!("\n  #{key}: {lacks}"));
        }
        let unnamed = self.ungrounded.len().saturating_sub(NAMED_MAX);
        if unnamed > 0 {
            text.push_str(&format!("\n  and {unnamed} more"));
        }
        text
    }
}

/// Carries out `clear`. In a prompt it takes place at once, from elsewhere with the conversation's next prompt.
#[must_use]
pub fn ask_clear(
    view: &StateView<'_>,
    policy: &Policy,
    ids: (EpisodeId, SessionId),
    said: &str,
) -> Vec<Event> {
    let answer = |reason| Event::NoticeIssued(NoticeIssued::new(ids, reason, None));
    if ids.1 == SessionId(0) {
        return Vec::from([answer(Reason::NothingToDo)]);
    }
    let is_forced = match said.trim_start_matches('-') {
        "" => false,
        FORCE => true,
        _ => return Vec::from([answer(Reason::TargetNotUsable)]),
    };
    let is_lacking =
        policy.grounding != Grounding::Disabled && !DecisionEvidence::of(view).suffices();
    if is_lacking && policy.grounding == Grounding::Strict && !is_forced {
        return Vec::from([answer(Reason::DecisionsUngrounded)]);
    }
    let mut events = Vec::from([Event::ContextCleared(ContextCleared { cut: None })]);
    if is_lacking {
        events.push(answer(Reason::ClearedUngrounded));
    } else if ids.0 == EpisodeId::OUTSIDE {
        // For the terminal alone: the conversation is told when it begins anew.
        let nowhere = (ids.0, SessionId(0));
        let asked = NoticeIssued::new(nowhere, Reason::ClearAsked, None);
        events.push(Event::NoticeIssued(asked));
    }
    events
}

/// A prompt of a conversation: its messages, and how each is recognised.
#[derive(Clone, Copy)]
pub struct Messages<'r> {
    /// The request.
    pub request: &'r Request,
    /// The messages' keys; `None` of system messages.
    pub keys: &'r [Option<MessageKey>],
    /// Messages of the conversation before the request's first one; nonzero only on replay.
    pub omitted_prefix: u32,
}

/// Begins the conversation anew where the user's prompt begins, if that was asked for.
#[must_use]
pub fn clear(
    view: &StateView<'_>,
    ids: (EpisodeId, SessionId),
    messages: Messages<'_>,
    seen: Option<&RecordedSight>,
) -> Vec<Event> {
    if !view.state.sessions().clear(ids.1).is_asked {
        return Vec::new();
    }
    // The record lacks messages that were known before, so it says itself where the conversation begins.
    let cut = match seen {
        Some(seen) => seen.cut,
        None => messages.next_cut(view, ids.1),
    };
    let Some(cut) = cut else {
        return Vec::new();
    };
    let cleared = ContextCleared { cut: Some(cut) };
    let told = NoticeIssued::new(ids, Reason::ContextCleared, None);
    Vec::from([Event::ContextCleared(cleared), Event::NoticeIssued(told)])
}

impl Messages<'_> {
    /// The conversation's messages with their indices and positions, system messages left out.
    fn spoken(&self) -> impl DoubleEndedIterator<Item = (usize, u32)> {
        let all = self.request.messages.iter().enumerate();
        let spoken = all.filter(|(_, message)| message.role != Role::System);
        let spoken: Vec<usize> = spoken.map(|(index, _)| index).collect();
        let positions = (self.omitted_prefix.saturating_add(1)..).take(spoken.len());
        let positions: Vec<u32> = positions.collect();
        spoken.into_iter().zip(positions)
    }

    /// The cut before the user's prompt. No call is parted from its result; where the model server keeps the messages, and while
    /// an agent is at work, there is none.
    fn next_cut(&self, view: &StateView<'_>, session: SessionId) -> Option<ContextCut> {
        let all = &self.request.messages;
        let (last, _) = self.spoken().next_back()?;
        if self.request.continues.is_some() || all[last].role != Role::User {
            return None;
        }
        let mut before = None;
        let mut begins = None;
        for (index, position) in self.spoken() {
            let follows_tool = before.is_some_and(|before: usize| {
                all[before].role == Role::Tool || !all[before].tool_calls.is_empty()
            });
            if all[index].role == Role::User && !follows_tool {
                begins = Some((index, position));
            }
            before = Some(index);
        }
        let (index, position) = begins?;
        Some(ContextCut {
            position,
            message: self.keys[index]?,
            reply: view.state.sessions().last_reply(session),
        })
    }

    /// The index of the first message that is kept of a cleared conversation. `None` where nothing is left out: of a history that the
    /// client has written anew nobody knows what was meant.
    #[must_use]
    pub fn first_kept(&self, view: &StateView<'_>, session: SessionId) -> Option<usize> {
        let (cut, _) = view.state.sessions().clear(session).cut?;
        let mut before = None;
        let mut elsewhere = None;
        for (index, position) in self.spoken() {
            let is_message = self.keys[index] == Some(cut.message);
            let follows_reply = before.is_some() && before == cut.reply;
            if position == cut.position && (is_message || follows_reply) {
                return Some(index);
            }
            if is_message && (follows_reply || cut.reply.is_none()) {
                elsewhere = Some(index);
            }
            before = self.keys[index];
        }
        elsewhere
    }

    /// The prompt as it is from its first message that is kept on, with the system messages before it.
    #[must_use]
    pub fn kept_from(&self, first: usize) -> KeptMessages {
        let is_kept =
            |index: &usize| *index >= first || self.request.messages[*index].role == Role::System;
        let indices: Vec<usize> = (0..self.request.messages.len()).filter(is_kept).collect();
        let left_out = self.request.messages.len() - indices.len();
        let messages = indices.iter().map(|at| self.request.messages[*at].clone());
        KeptMessages {
            request: Request {
                messages: messages.collect(),
                ..self.request.clone()
            },
            keys: indices.iter().map(|at| self.keys[*at]).collect(),
            omitted_prefix: self
                .omitted_prefix
                .saturating_add(u32::try_from(left_out).unwrap_or(u32::MAX)),
            indices,
        }
    }
}

/// What a clear leaves of a prompt.
pub struct KeptMessages {
    /// The request without the messages that are left out.
    pub request: Request,
    /// The keys of its messages.
    pub keys: Vec<Option<MessageKey>>,
    /// Messages of the conversation before its first one.
    pub omitted_prefix: u32,
    /// The index of each of its messages in the client's request.
    indices: Vec<usize>,
}

impl KeptMessages {
    /// The prompt as composed from these messages, for the client's own request.
    #[must_use]
    pub fn in_request(&self, mut outgoing: Outgoing) -> Outgoing {
        for message in &mut outgoing.messages {
            message.index = self.indices[message.index];
        }
        outgoing
    }
}
