//! A conversation's context cleared: what it held so far goes to no model any more, and where the work stands is told in its place
//! (docs/memory.md, spec 003).

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use tslp_core::event::{ContextCleared, ContextCut, Event, NoticeIssued};
use tslp_core::hash::MessageKey;
use tslp_core::ids::{EpisodeId, SessionId};
use tslp_core::message::{Message, Role};
use tslp_core::outgoing::Outgoing;
use tslp_core::policy::{Grounding, Policy};
use tslp_core::read_message::ReadMessage;
use tslp_core::reason::Reason;
use tslp_core::record::{ASSUMPTION, RecordKind};
use tslp_core::request::Request;
use tslp_projections::state::StateView;

use crate::prompt::facts::RecordedSight;
use crate::prompt::records;

/// What lets a conversation be cleared though decisions lack evidence.
pub const FORCE: &str = "force";

/// How many of a hundred decisions need evidence.
const GROUNDED_PERCENT_MIN: usize = 95;

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
    /// The evidence of those that are kept.
    #[must_use]
    pub fn of(view: &StateView<'_>) -> Self {
        let last_clear = view.state.sessions().last_clear();
        let mut evidence = Self::default();
        let entries = view.state.records().all().iter();
        let decided =
            entries.filter(|entry| entry.kind == RecordKind::Decision && entry.seq > last_clear);
        for row in decided.filter_map(|entry| view.record(entry)) {
            evidence.claims += 1;
            let lacks = if row.path.is_empty() {
                "no citation".into()
            } else if let Err(reason) = records::ground(view, &row) {
                format!("{} ({})", records::why_gone(reason), row.path)
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

    /// The prompt as it is from its first message that is kept on, with what the client itself says before it: system messages, and the
    /// project's instructions and the like at the beginning.
    #[must_use]
    pub fn kept_from(&self, first: usize) -> KeptMessages {
        let all = &self.request.messages;
        let mut spoken = all.iter();
        let opening = spoken
            .position(|it| matches!(it.role, Role::Assistant | Role::Tool))
            .unwrap_or(all.len());
        let has_context = all[..opening.min(first)]
            .iter()
            .any(|it| is_clients_own(it));
        let mut kept = KeptMessages {
            request: Request {
                messages: Vec::new(),
                ..self.request.clone()
            },
            keys: Vec::new(),
            omitted_prefix: self.omitted_prefix,
            indices: Vec::new(),
            replaced: BTreeMap::new(),
        };
        for (index, message) in all.iter().enumerate() {
            let is_whole = index >= first || message.role == Role::System;
            let is_context = index < opening && is_clients_own(message);
            // A client's text and the user's may be parts of one message.
            let is_beside = index < opening && has_context && message.role == Role::User;
            if !is_whole && !is_context && !is_beside {
                kept.omitted_prefix = kept.omitted_prefix.saturating_add(1);
                continue;
            }
            let mut message = Arc::clone(message);
            if !is_whole && is_beside {
                let mut changed = Message::clone(&message);
                changed.parts.fill(CLEARED.into());
                let parts = changed.parts.iter().cloned().enumerate();
                kept.replaced.insert(index, parts.collect());
                message = changed.into();
            }
            kept.request.messages.push(message);
            kept.keys.push(self.keys[index]);
            kept.indices.push(index);
        }
        kept
    }
}

/// Stands in the place of what the user said beside the client's own text.
const CLEARED: &str = "(cleared)";

/// Whether a message is a text of the client's own, such as the project's instructions or its environment.
fn is_clients_own(message: &ReadMessage) -> bool {
    message.role == Role::Other && !message.recorded().is_empty()
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
    /// Of messages that are kept in part the other texts, by the message's index in the client's request.
    replaced: BTreeMap<usize, Vec<(usize, String)>>,
}

impl KeptMessages {
    /// The prompt as composed from these messages, for the client's own request.
    #[must_use]
    pub fn in_request(&self, mut outgoing: Outgoing) -> Outgoing {
        for message in &mut outgoing.messages {
            message.index = self.indices[message.index];
        }
        self.leave_out(&mut outgoing);
        outgoing
    }

    /// Leaves out of a prompt what is cleared.
    pub(crate) fn leave_out(&self, outgoing: &mut Outgoing) {
        let messages = &mut outgoing.messages;
        messages.retain(|message| self.indices.binary_search(&message.index).is_ok());
        for message in messages {
            for (part, text) in self.replaced.get(&message.index).into_iter().flatten() {
                message.rewritten.retain(|(rewritten, _)| rewritten != part);
                message.rewritten.push((*part, text.clone()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nineteen of twenty decisions with evidence are enough.
    #[test]
    fn evidence_threshold() {
        let check = |grounded: usize, claims: usize, suffices: bool| {
            let lacking = (grounded..claims).map(|it| (format!("d{it}"), "no citation".into()));
            let evidence = DecisionEvidence {
                claims,
                ungrounded: lacking.collect(),
            };
            assert_eq!(evidence.suffices(), suffices, "{grounded} of {claims}");
            evidence.refusal()
        };
        check(0, 0, true);
        check(19, 20, true);
        let refused = check(18, 19, false);
        assert!(
            refused.starts_with(
                "Cannot clear: 1 decision lacks evidence.\nGrounding ratio 0.94, required 0.95. "
            ),
            "{refused}"
        );
        let refused = check(0, 10_000, false);
        assert!(
            refused.ends_with("#d7: no citation\n  and 9992 more"),
            "{refused}"
        );
    }
}
