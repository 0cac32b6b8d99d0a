//! Selects the events of a ledger that make up one entity's history.

use std::collections::BTreeMap;

use tslp_core::artifact::{Origin, Transition, Version};
use tslp_core::entity::EntityId;
use tslp_core::event::{
    ArtifactCaptured, ArtifactResolved, AuditAnswered, DirectiveGiven, Event, Format,
    PromotionRefused, PromptComposed, Recorded, Transitioned, Verb,
};
use tslp_core::ids::CaptureId;
use tslp_core::view::Divergence;
use tslp_replay::state::State;

use super::Occurrences;
use crate::evidence::log::sentence;

/// The kind of an event in an entity's history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChapterKind {
    /// The user pasted it.
    Pasted,
    /// It was taken as it stands on disk.
    Accepted,
    /// The model proposed it.
    Proposed,
    /// Code for its file couldn't be linked to anything.
    Unresolved,
    /// A version became true.
    Promoted,
    /// A proposal stays one.
    Refused,
    /// A version was replaced.
    Superseded,
    /// A proposal was dropped.
    Discarded,
    /// It was removed.
    Tombstoned,
    /// Something new looks like it under another name.
    RenameSuspected,
    /// The user told the proxy something about it.
    Directive,
    /// A shadow audit spoke of it.
    Audited,
    /// Disk began to hold something else.
    Stale,
    /// Disk holds the same again, or the difference was acknowledged.
    NoLongerStale,
}

impl ChapterKind {
    /// A stable snake_case word.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Pasted => "pasted",
            Self::Accepted => "accepted",
            Self::Proposed => "proposed",
            Self::Unresolved => "unresolved",
            Self::Promoted => "promoted",
            Self::Refused => "refused",
            Self::Superseded => "superseded",
            Self::Discarded => "discarded",
            Self::Tombstoned => "tombstoned",
            Self::RenameSuspected => "rename_suspected",
            Self::Directive => "directive",
            Self::Audited => "audited",
            Self::Stale => "stale",
            Self::NoLongerStale => "no_longer_stale",
        }
    }
}

/// One thing that happened to an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chapter {
    /// The event that says so.
    pub seq: u64,
    /// The time, in milliseconds since the Unix epoch.
    pub at: i64,
    /// The episode, if it belongs to one.
    pub episode: Option<u64>,
    /// Its kind.
    pub what: ChapterKind,
    /// The reason code, if there is one.
    pub reason: Option<&'static str>,
    /// A sentence for people.
    pub text: String,
}

/// Collects an entity's chapters.
pub(super) struct Story {
    entity: EntityId,
    /// Captures that wait for their resolution.
    captures: BTreeMap<CaptureId, ArtifactCaptured>,
    divergence: Option<Divergence>,
    pub(super) chapters: Vec<Chapter>,
    pub(super) shown: Occurrences,
    pub(super) withheld: Occurrences,
}

impl Story {
    pub(super) fn of(entity: EntityId) -> Self {
        Self {
            entity,
            captures: BTreeMap::new(),
            divergence: None,
            chapters: Vec::new(),
            shown: Occurrences::default(),
            withheld: Occurrences::default(),
        }
    }

    /// Takes note of an event; the state reflects it already.
    pub(super) fn follow(&mut self, recorded: &Recorded, state: &State) {
        match &recorded.event {
            Event::ArtifactCaptured(captured) => {
                self.captures.insert(captured.capture, captured.clone());
            }
            Event::ArtifactResolved(resolved) => self.resolved(recorded, resolved),
            Event::Transitioned(transitioned) => self.transitioned(recorded, transitioned),
            Event::PromotionRefused(refused) => self.refused(recorded, refused),
            Event::DirectiveGiven(directive) => self.directive(recorded, directive),
            Event::AuditAnswered(answered) => self.audited(recorded, answered),
            Event::PromptComposed(composed) => self.composed(composed),
            Event::RulesInForce(_)
            | Event::DiskObserved(_)
            | Event::Content(_)
            | Event::PromptReceived(_)
            | Event::ReplySegment(_)
            | Event::ReplyEnded(_)
            | Event::AuditAsked(_)
            | Event::SideRequestReceived(_)
            | Event::PromptAmended(_)
            | Event::PromptMeasured(_)
            | Event::ReplyPart(_)
            | Event::PromptSent(_)
            | Event::ActionRequested(_)
            | Event::ActionJudged(_)
            | Event::ToolRan(_)
            | Event::PolicyApproved(_)
            | Event::CapabilityChanged(_)
            | Event::NoticeIssued(_) => {}
        }
        self.compare(recorded, state);
    }

    fn add(
        &mut self,
        recorded: &Recorded,
        episode: Option<u64>,
        what: ChapterKind,
        reason: Option<&'static str>,
        text: String,
    ) {
        self.chapters.push(Chapter {
            seq: recorded.seq.0,
            at: recorded.at.0,
            episode,
            what,
            reason,
            text,
        });
    }

    fn resolved(&mut self, recorded: &Recorded, resolved: &ArtifactResolved) {
        let Some(captured) = self.captures.remove(&resolved.capture) else {
            return;
        };
        let episode = captured.episode.0;
        let reason = resolved.reason.code();
        let mine: Vec<&Version> = resolved
            .versions
            .iter()
            .filter(|version| version.entity == self.entity)
            .collect();
        for version in &mine {
            let what = match (captured.origin, captured.format) {
                (Origin::User, Format::Disk) => ChapterKind::Accepted,
                (Origin::User, _) => ChapterKind::Pasted,
                (Origin::Model, _) => ChapterKind::Proposed,
            };
            let did = match what {
                ChapterKind::Accepted => format!("accepted from disk{}", within(episode)),
                ChapterKind::Pasted => format!("pasted{}", within(episode)),
                _ => format!("proposed{}", within(episode)),
            };
            let text = format!(
                "{did}: {}, {} ({reason}), artifact {:.12} as {}",
                sentence::capture(&captured),
                resolved.level.as_str(),
                version.slice,
                version.id
            );
            self.add(recorded, Some(episode), what, Some(reason), text);
        }
        let unlinked = resolved.versions.is_empty()
            && self.entity.symbol.is_none()
            && captured.path.as_ref() == Some(&self.entity.path);
        if unlinked {
            let text = format!(
                "code for this file was not linked to anything{}: {} ({reason})",
                within(episode),
                sentence::capture(&captured)
            );
            self.add(
                recorded,
                Some(episode),
                ChapterKind::Unresolved,
                Some(reason),
                text,
            );
        }
    }

    fn transitioned(&mut self, recorded: &Recorded, event: &Transitioned) {
        if event.entity != self.entity {
            return;
        }
        let (what, did) = match event.transition {
            Transition::Promote => (ChapterKind::Promoted, "promoted to AUTHORITATIVE by"),
            Transition::Supersede => (ChapterKind::Superseded, "superseded:"),
            Transition::Discard => (ChapterKind::Discarded, "proposal dropped:"),
            Transition::Remove => (ChapterKind::Tombstoned, "tombstoned:"),
        };
        let cause = event.cause.code();
        let text = format!("{} {did} {cause}{}", event.version, within(event.episode.0));
        self.add(recorded, Some(event.episode.0), what, Some(cause), text);
    }

    fn refused(&mut self, recorded: &Recorded, event: &PromotionRefused) {
        let conclusion = event.report.conclusion.map(|reason| reason.code());
        let refusal = sentence::refusal(&event.report);
        if event.entity == self.entity {
            let renamed = event.rename_of.as_ref();
            let renamed = renamed.map_or_else(String::new, |known| format!(", looks like {known}"));
            let text = format!(
                "{} refused{}, stays PROPOSED: {refusal}{renamed}",
                event.version,
                within(event.episode.0)
            );
            self.add(
                recorded,
                Some(event.episode.0),
                ChapterKind::Refused,
                conclusion,
                text,
            );
        } else if event.rename_of.as_ref() == Some(&self.entity) {
            let text = format!(
                "{} was refused{}, because it looks like this one under another name or path",
                event.entity,
                within(event.episode.0)
            );
            self.add(
                recorded,
                Some(event.episode.0),
                ChapterKind::RenameSuspected,
                conclusion,
                text,
            );
        }
    }

    fn directive(&mut self, recorded: &Recorded, event: &DirectiveGiven) {
        let target = event.target.as_str();
        if target != self.entity.to_string() && target != self.entity.path.as_str() {
            return;
        }
        let told = match event.verb {
            Verb::Unknown => format!("something that it doesn't know about {target}"),
            verb => format!("to {} {target}", verb.as_str()),
        };
        let text = format!("the user told the proxy {told}{}", within(event.episode.0));
        self.add(
            recorded,
            Some(event.episode.0),
            ChapterKind::Directive,
            None,
            text,
        );
    }

    fn audited(&mut self, recorded: &Recorded, event: &AuditAnswered) {
        let verdict = event.verdicts.iter().find(|it| it.entity == self.entity);
        if let Some(verdict) = verdict {
            let text = format!(
                "a shadow audit says of {}{}: {}",
                verdict.version,
                within(event.episode.0),
                verdict.status.as_str()
            );
            self.add(
                recorded,
                Some(event.episode.0),
                ChapterKind::Audited,
                Some(verdict.status.as_str()),
                text,
            );
        }
    }

    fn composed(&mut self, event: &PromptComposed) {
        let shown = event.hydrated.iter().find(|it| it.entity == self.entity);
        let dropped = event.dropped.iter().find(|it| it.entity == self.entity);
        for (count, reason) in [
            (&mut self.shown, shown.map(|it| it.reason)),
            (&mut self.withheld, dropped.map(|it| it.reason)),
        ] {
            if let Some(reason) = reason {
                count.times += 1;
                count.last_episode = event.episode.0;
                count.last_reason = reason.code();
            }
        }
    }

    /// Notes when disk begins or ceases to hold something else.
    fn compare(&mut self, recorded: &Recorded, state: &State) {
        let now = state.stale().divergence(&self.entity);
        if now == self.divergence {
            return;
        }
        let was = std::mem::replace(&mut self.divergence, now);
        let (what, text) = match now {
            Some(Divergence::Unknown) => (
                ChapterKind::Stale,
                "STALE: disk holds something that the ledger doesn't know",
            ),
            Some(Divergence::Superseded) => {
                (ChapterKind::Stale, "STALE: disk holds an earlier version")
            }
            Some(Divergence::Unreadable) => {
                (ChapterKind::Stale, "withheld: its file can't be read")
            }
            None if was == Some(Divergence::Unreadable) => (
                ChapterKind::NoLongerStale,
                "no longer withheld: its file can be read",
            ),
            None => (ChapterKind::NoLongerStale, "no longer STALE"),
        };
        self.add(recorded, None, what, None, text.to_owned());
    }
}

/// Where it happened: an episode, or the command line.
fn within(episode: u64) -> String {
    match episode {
        0 => " on the command line".to_owned(),
        episode => format!(" in episode {episode}"),
    }
}
