//! Filters events by episode, session, entity, kind, reason and time.

use std::collections::BTreeMap;

use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::{
    ActionJudged, ActionRequested, ArtifactCaptured, ArtifactResolved, AuditAnswered, AuditAsked,
    Content, DirectiveGiven, DiskFinding, DiskObserved, Event, EventKind, NoticeIssued,
    PromotionRefused, PromptAmended, PromptComposed, PromptMeasured, PromptSent, ReplyEnded,
    ReplyPart, ReplySegment, SideRequestReceived, ToolRan, Transitioned,
};
use tslp_core::ids::{CaptureId, EpisodeId, SessionId, UnixMillis};
use tslp_core::path::RelPath;
use tslp_core::reason::Reason;

use crate::evidence::describe::unmet_verdicts;

/// Conditions that an event must all meet; one that is empty or `None` is always met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// Belong to this episode.
    pub episode: Option<EpisodeId>,
    /// Belong to this session.
    pub session: Option<SessionId>,
    /// Be about this entity; a path alone means all of the file.
    pub entity: Option<EntityId>,
    /// Be of one of these kinds.
    pub kinds: Vec<EventKind>,
    /// Say one of these reasons.
    pub reasons: Vec<Reason>,
    /// Not have happened before.
    pub since: Option<i64>,
    /// Not have happened after.
    pub until: Option<i64>,
}

impl EventFilter {
    /// The entity that is wanted, if one is.
    #[must_use]
    pub const fn wanted_entity(&self) -> Option<&EntityId> {
        self.entity.as_ref()
    }

    /// Whether an event meets all conditions.
    #[must_use]
    pub fn passes(
        &self,
        event: &Event,
        at: UnixMillis,
        episode: Option<EpisodeId>,
        session: Option<SessionId>,
    ) -> bool {
        let among_reasons = || {
            event_reasons(event)
                .iter()
                .any(|it| self.reasons.contains(it))
        };
        self.episode.is_none_or(|wanted| episode == Some(wanted))
            && self.session.is_none_or(|wanted| session == Some(wanted))
            && (self.kinds.is_empty() || self.kinds.contains(&event.kind()))
            && self.since.is_none_or(|since| at.0 >= since)
            && self.until.is_none_or(|until| at.0 <= until)
            && (self.reasons.is_empty() || among_reasons())
            && self
                .wanted_entity()
                .is_none_or(|wanted| is_about(event, wanted))
    }
}

/// The entity that a person names: `path` or `path::symbol`, the path from the workspace's root, or absolute.
///
/// # Errors
/// When the path can't be one of the workspace.
pub fn entity_named(written: &str, workspace: &str) -> Result<EntityId, String> {
    let (path, symbol) = match written.split_once("::") {
        Some((path, symbol)) if !symbol.is_empty() => (path, Some(Symbol::new(symbol))),
        _ => (written.trim_end_matches(':'), None),
    };
    let path = RelPath::parse(path, workspace).map_err(|reason| {
        format!("`{written}` is no entity: write PATH or PATH::SYMBOL, the path from the workspace's root ({reason})")
    })?;
    Ok(EntityId { path, symbol })
}

/// Derives the episode and session of events that don't name them, from earlier events.
#[derive(Clone, Debug, Default)]
pub struct EventOwners {
    sessions: BTreeMap<EpisodeId, SessionId>,
    /// Captures that wait for their resolution.
    captures: BTreeMap<CaptureId, EpisodeId>,
}

impl EventOwners {
    /// Follows the next event, and returns its episode. Content and looks at the disk have none.
    pub fn episode_of(&mut self, event: &Event) -> Option<EpisodeId> {
        match event {
            Event::Content(Content { .. })
            | Event::DiskObserved(DiskObserved { .. })
            | Event::PolicyApproved(_)
            | Event::CapabilityChanged(_)
            | Event::RulesInForce(_) => None,
            Event::PromptReceived(prompt) => {
                self.sessions.insert(prompt.episode, prompt.session);
                Some(prompt.episode)
            }
            Event::ArtifactCaptured(ArtifactCaptured {
                capture, episode, ..
            }) => {
                self.captures.insert(*capture, *episode);
                Some(*episode)
            }
            Event::ArtifactResolved(ArtifactResolved { capture, .. }) => {
                self.captures.remove(capture)
            }
            Event::ReplySegment(ReplySegment { episode, .. })
            | Event::ReplyEnded(ReplyEnded { episode, .. })
            | Event::DirectiveGiven(DirectiveGiven { episode, .. })
            | Event::AuditAsked(AuditAsked { episode, .. })
            | Event::AuditAnswered(AuditAnswered { episode, .. })
            | Event::PromptMeasured(PromptMeasured { episode, .. })
            | Event::ReplyPart(ReplyPart { episode, .. })
            | Event::PromptSent(PromptSent { episode, .. })
            | Event::Transitioned(Transitioned { episode, .. })
            | Event::PromotionRefused(PromotionRefused { episode, .. })
            | Event::NoticeIssued(NoticeIssued { episode, .. })
            | Event::SideRequestReceived(SideRequestReceived { episode, .. })
            | Event::PromptAmended(PromptAmended { episode, .. })
            | Event::PromptComposed(PromptComposed { episode, .. }) => Some(*episode),
            Event::ActionRequested(ActionRequested { call, .. })
            | Event::ActionJudged(ActionJudged { call, .. })
            | Event::ToolRan(ToolRan { call, .. }) => Some(call.episode),
        }
    }

    /// The session of an event of this episode.
    #[must_use]
    pub fn session_of(&self, event: &Event, episode: Option<EpisodeId>) -> Option<SessionId> {
        match event {
            Event::NoticeIssued(notice) => Some(notice.session),
            Event::CapabilityChanged(changed) => Some(changed.session),
            _ => self.sessions.get(&episode?).copied(),
        }
    }
}

/// Hands every entity that an event names to `visit`.
pub fn visit_entities(event: &Event, visit: &mut dyn FnMut(&EntityId)) {
    match event {
        Event::Content(_)
        | Event::RulesInForce(_)
        | Event::PromptReceived(_)
        | Event::SideRequestReceived(_)
        | Event::ReplySegment(_)
        | Event::ReplyEnded(_)
        | Event::DiskObserved(_)
        | Event::DirectiveGiven(_)
        | Event::PromptMeasured(_)
        | Event::ReplyPart(_)
        | Event::PromptSent(_)
        | Event::ActionRequested(_)
        | Event::ActionJudged(_)
        | Event::ToolRan(_)
        | Event::PolicyApproved(_)
        | Event::CapabilityChanged(_)
        | Event::ArtifactCaptured(_) => {}
        Event::PromptAmended(amended) => {
            amended.withheld.iter().for_each(|it| visit(&it.entity));
        }
        Event::ArtifactResolved(resolved) => {
            resolved.versions.iter().for_each(|it| visit(&it.entity));
        }
        Event::Transitioned(transitioned) => visit(&transitioned.entity),
        Event::PromotionRefused(refused) => {
            visit(&refused.entity);
            refused.rename_of.iter().for_each(visit);
        }
        Event::AuditAsked(asked) => asked.about.iter().for_each(|it| visit(&it.entity)),
        Event::AuditAnswered(answered) => {
            answered.verdicts.iter().for_each(|it| visit(&it.entity));
        }
        Event::NoticeIssued(notice) => {
            notice.entity.iter().chain(&notice.other).for_each(visit);
        }
        Event::PromptComposed(composed) => {
            composed.hydrated.iter().for_each(|it| visit(&it.entity));
            composed.dropped.iter().for_each(|it| visit(&it.entity));
        }
    }
}

/// Whether an event is about an entity; a path without a symbol means all of the file.
#[must_use]
pub fn is_about(event: &Event, wanted: &EntityId) -> bool {
    match event {
        Event::DiskObserved(DiskObserved { path, finding }) => {
            *path == wanted.path
                && match (&wanted.symbol, finding) {
                    (Some(symbol), DiskFinding::File(file)) if file.grammar.is_some() => {
                        file.slices.iter().any(|slice| slice.symbol == *symbol)
                    }
                    _ => true,
                }
        }
        Event::ArtifactCaptured(captured) => {
            wanted.symbol.is_none() && captured.path.as_ref() == Some(&wanted.path)
        }
        Event::DirectiveGiven(directive) => {
            directive.target == wanted.to_string() || directive.target == wanted.path.as_str()
        }
        _ => {
            let mut about = false;
            visit_entities(event, &mut |entity| {
                about |= entity.path == wanted.path
                    && (wanted.symbol.is_none() || entity.symbol == wanted.symbol);
            });
            about
        }
    }
}

/// Every reason that an event says: causes, conclusions, and rules that weren't met.
#[must_use]
pub fn event_reasons(event: &Event) -> Vec<Reason> {
    match event {
        Event::Content(_)
        | Event::RulesInForce(_)
        | Event::PromptReceived(_)
        | Event::SideRequestReceived(_)
        | Event::PromptAmended(_)
        | Event::ReplySegment(_)
        | Event::ReplyEnded(_)
        | Event::DiskObserved(_)
        | Event::DirectiveGiven(_)
        | Event::PromptMeasured(_)
        | Event::ReplyPart(_)
        | Event::PromptSent(_)
        | Event::ArtifactCaptured(_)
        | Event::AuditAsked(_)
        | Event::ActionRequested(_)
        | Event::ActionJudged(_)
        | Event::ToolRan(_)
        | Event::PolicyApproved(_)
        | Event::CapabilityChanged(_)
        | Event::AuditAnswered(_) => Vec::new(),
        Event::ArtifactResolved(resolved) => vec![resolved.reason],
        Event::Transitioned(transitioned) => vec![transitioned.cause],
        Event::PromotionRefused(refused) => {
            let unmet = unmet_verdicts(&refused.report).map(|verdict| verdict.rule);
            refused.report.conclusion.into_iter().chain(unmet).collect()
        }
        Event::NoticeIssued(notice) => vec![notice.reason],
        Event::PromptComposed(composed) => {
            let shown = composed.hydrated.iter().map(|it| it.reason);
            let dropped = composed.dropped.iter().map(|it| it.reason);
            shown.chain(dropped).collect()
        }
    }
}
