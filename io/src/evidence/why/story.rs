//! Selects the events of a ledger that make up one entity's history.

use std::collections::BTreeMap;

use tslp_core::artifact::{Origin, Transition, Version};
use tslp_core::entity::EntityId;
use tslp_core::event::{
    ArtifactCaptured, ArtifactResolved, AuditAnswered, DirectiveGiven, Event, Format,
    PromotionRefused, PromptComposed, Recorded, Transitioned, Verb,
};
use tslp_core::ids::CaptureId;
use tslp_core::words;
use tslp_projections::stale::Divergence;
use tslp_projections::state::State;

use crate::evidence::log::sentence;

words! {
    /// The kind of an event in an entity's history.
    ChapterKind, "kind of chapter" {
        /// The user pasted it.
        Pasted = "pasted",
        /// It was taken as it is on disk.
        Accepted = "accepted",
        /// The model proposed it.
        Proposed = "proposed",
        /// Code for its file couldn't be linked to anything.
        Unresolved = "unresolved",
        /// A version became true.
        Promoted = "promoted",
        /// A proposal stays one.
        Refused = "refused",
        /// A version was replaced.
        Superseded = "superseded",
        /// A proposal was dropped.
        Discarded = "discarded",
        /// It was removed.
        Tombstoned = "tombstoned",
        /// Something new looks like it under another name.
        RenameSuspected = "rename_suspected",
        /// The user gave a directive about it.
        Directive = "directive",
        /// A shadow audit spoke of it.
        Audited = "audited",
        /// Disk began to hold something else.
        Stale = "stale",
        /// Disk holds the same again, or the difference was acknowledged.
        NoLongerStale = "no_longer_stale",
    }
}

/// One thing that happened to an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryEntry {
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

/// A count, with the last episode and reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Occurrences {
    /// The number of times.
    pub times: u64,
    /// The last episode.
    pub last_episode: u64,
    /// The last reason.
    pub last_reason: &'static str,
}

/// Collects an entity's chapters.
pub(super) struct EntityStory {
    entity: EntityId,
    /// Captures that wait for their resolution.
    captures: BTreeMap<CaptureId, ArtifactCaptured>,
    divergence: Option<Divergence>,
    pub(super) chapters: Vec<HistoryEntry>,
    pub(super) shown: Occurrences,
    pub(super) withheld: Occurrences,
}

impl EntityStory {
    pub(super) fn new(entity: EntityId) -> Self {
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
    pub(super) fn add_event(&mut self, recorded: &Recorded, state: &State) {
        match &recorded.event {
            Event::ArtifactCaptured(captured) => {
                self.captures.insert(captured.capture, captured.clone());
            }
            Event::ArtifactResolved(resolved) => self.add_resolution(recorded, resolved),
            Event::Transitioned(transitioned) => self.add_transition(recorded, transitioned),
            Event::PromotionRefused(refused) => self.add_refusal(recorded, refused),
            Event::DirectiveGiven(directive) => self.add_directive(recorded, directive),
            Event::AuditAnswered(answered) => self.add_audit(recorded, answered),
            Event::PromptComposed(composed) => self.count_prompts(recorded, composed),
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
        self.add_disk_change(recorded, state);
    }

    fn add_chapter(
        &mut self,
        recorded: &Recorded,
        episode: Option<u64>,
        what: ChapterKind,
        reason: Option<&'static str>,
        text: String,
    ) {
        self.chapters.push(HistoryEntry {
            seq: recorded.seq.0,
            at: recorded.at.0,
            episode,
            what,
            reason,
            text,
        });
    }

    fn add_resolution(&mut self, recorded: &Recorded, resolved: &ArtifactResolved) {
        let Some(captured) = self.captures.remove(&resolved.capture) else {
            return;
        };
        let episode = recorded.episode.0;
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
                ChapterKind::Accepted => format!("accepted from disk{}", in_episode(episode)),
                ChapterKind::Pasted => format!("pasted{}", in_episode(episode)),
                _ => format!("proposed{}", in_episode(episode)),
            };
            let text = format!(
                "{did}: {}, {} ({reason}), artifact {:.12} as {}",
                sentence::capture_words(&captured),
                resolved.level.as_str(),
                version.slice,
                version.id
            );
            self.add_chapter(recorded, Some(episode), what, Some(reason), text);
        }
        let unlinked = resolved.versions.is_empty()
            && self.entity.symbol.is_none()
            && captured.path.as_ref() == Some(&self.entity.path);
        if unlinked {
            let text = format!(
                "code for this file was not linked to anything{}: {} ({reason})",
                in_episode(episode),
                sentence::capture_words(&captured)
            );
            self.add_chapter(
                recorded,
                Some(episode),
                ChapterKind::Unresolved,
                Some(reason),
                text,
            );
        }
    }

    fn add_transition(&mut self, recorded: &Recorded, event: &Transitioned) {
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
        let text = format!(
            "{} {did} {cause}{}",
            event.version,
            in_episode(recorded.episode.0)
        );
        self.add_chapter(recorded, Some(recorded.episode.0), what, Some(cause), text);
    }

    fn add_refusal(&mut self, recorded: &Recorded, event: &PromotionRefused) {
        let conclusion = event.report.conclusion.map(|reason| reason.code());
        let refusal = sentence::refusal_words(&event.report);
        if event.entity == self.entity {
            let renamed = event.rename_of.as_ref();
            let renamed = renamed.map_or_else(String::new, |known| format!(", looks like {known}"));
            let text = format!(
                "{} refused{}, stays PROPOSED: {refusal}{renamed}",
                event.version,
                in_episode(recorded.episode.0)
            );
            self.add_chapter(
                recorded,
                Some(recorded.episode.0),
                ChapterKind::Refused,
                conclusion,
                text,
            );
        } else if event.rename_of.as_ref() == Some(&self.entity) {
            let text = format!(
                "{} was refused{}, because it looks like this one under another name or path",
                event.entity,
                in_episode(recorded.episode.0)
            );
            self.add_chapter(
                recorded,
                Some(recorded.episode.0),
                ChapterKind::RenameSuspected,
                conclusion,
                text,
            );
        }
    }

    fn add_directive(&mut self, recorded: &Recorded, event: &DirectiveGiven) {
        let target = event.target.as_str();
        if target != self.entity.to_string() && target != self.entity.path.as_str() {
            return;
        }
        let told = match event.verb {
            Verb::Unknown => format!("something that it doesn't know about {target}"),
            verb => format!("to {} {target}", verb.as_str()),
        };
        let text = format!(
            "the user told the proxy {told}{}",
            in_episode(recorded.episode.0)
        );
        self.add_chapter(
            recorded,
            Some(recorded.episode.0),
            ChapterKind::Directive,
            None,
            text,
        );
    }

    fn add_audit(&mut self, recorded: &Recorded, event: &AuditAnswered) {
        let verdict = event.verdicts.iter().find(|it| it.entity == self.entity);
        if let Some(verdict) = verdict {
            let text = format!(
                "a shadow audit says of {}{}: {}",
                verdict.version,
                in_episode(recorded.episode.0),
                verdict.status.as_str()
            );
            self.add_chapter(
                recorded,
                Some(recorded.episode.0),
                ChapterKind::Audited,
                Some(verdict.status.as_str()),
                text,
            );
        }
    }

    fn count_prompts(&mut self, recorded: &Recorded, event: &PromptComposed) {
        let shown = event.hydrated.iter().find(|it| it.entity == self.entity);
        let dropped = event.dropped.iter().find(|it| it.entity == self.entity);
        for (count, reason) in [
            (&mut self.shown, shown.map(|it| it.reason)),
            (&mut self.withheld, dropped.map(|it| it.reason)),
        ] {
            if let Some(reason) = reason {
                count.times += 1;
                count.last_episode = recorded.episode.0;
                count.last_reason = reason.code();
            }
        }
    }

    /// Notes when disk begins or ceases to hold something else.
    fn add_disk_change(&mut self, recorded: &Recorded, state: &State) {
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
        self.add_chapter(recorded, None, what, None, text.to_owned());
    }
}

/// The place of an event: an episode, or the command line.
fn in_episode(episode: u64) -> String {
    match episode {
        0 => " on the command line".to_owned(),
        episode => format!(" in episode {episode}"),
    }
}
