//! Filters events by episode, session, entity, kind, reason and time.

use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::{DiskFinding, DiskObserved, Envelope, Event, EventKind};
use tslp_core::ids::{EpisodeId, SessionId};
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
    pub fn passes(&self, envelope: &Envelope, event: &Event) -> bool {
        let at = envelope.at;
        // Some events speak about a session, which need not be that of their episode.
        let about = match event {
            Event::NoticeIssued(notice) => notice.session,
            Event::CapabilityChanged(changed) => changed.session,
            _ => envelope.session,
        };
        let among_reasons = || {
            event_reasons(event)
                .iter()
                .any(|it| self.reasons.contains(it))
        };
        self.episode.is_none_or(|wanted| envelope.episode == wanted)
            && self.session.is_none_or(|wanted| about == wanted)
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
