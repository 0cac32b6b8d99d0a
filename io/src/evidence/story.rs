//! What happened in episodes, for people (spec §14.3, `/recent`). No decision needs it and it is most of what an episode's events
//! say, so no table holds it: it is folded from those events when somebody asks.

use std::collections::{BTreeMap, VecDeque};

use tslp_core::artifact::{Level, Origin, Transition};
use tslp_core::entity::EntityId;
use tslp_core::event::{Event, LostCallFound, Recorded, WindowExceeded};
use tslp_core::gate::Completeness;
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::EpisodeId;
use tslp_core::reason::{Reason, ReasonClass};

use super::goes_along;
use crate::evidence::replies::prompt_contents;

/// What an entry is of a change that nothing here could judge.
pub(crate) const UNJUDGED: &str = "UNJUDGED";

/// Most entries kept of one episode; the rest is in the ledger.
const ENTRIES_PER_EPISODE: usize = 64;

/// One event of an episode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EpisodeEntry {
    /// The kind of event: `hydrated`, `withheld`, `notice`, a level of confidence, an artifact's state or `UNJUDGED`.
    pub what: &'static str,
    /// The transition, if it is one: two of them end in the same state.
    pub transition: Option<Transition>,
    /// The entity concerned.
    pub entity: Option<EntityId>,
    /// The reason.
    pub reason: Reason,
}

/// What happened in one episode.
#[derive(Clone, Debug, Default)]
pub struct EpisodeStory {
    /// In the order of their events.
    pub entries: VecDeque<EpisodeEntry>,
    /// The texts of its prompt's own messages.
    pub prompt: Vec<ArtifactHash>,
    /// Whether its prompt was too long for its model.
    pub exceeded: Option<WindowExceeded>,
    /// What became of calls that its reply wrote as text.
    pub lost_calls: Vec<LostCallFound>,
}

/// What happened in episodes.
#[derive(Default)]
pub struct EpisodeEntries {
    /// Each episode's.
    pub stories: BTreeMap<EpisodeId, EpisodeStory>,
    /// The episode and the file of the last captured block.
    captured: Option<CapturedBlock>,
}

/// A captured block whose resolution comes next.
struct CapturedBlock {
    episode: EpisodeId,
    /// The file, if a usable path was named.
    file: Option<EntityId>,
    /// Who wrote it.
    origin: Origin,
    /// The reason why none of it becomes true, if the text alone shows it: such code of the user's is never judged.
    not_whole: Option<Reason>,
}

impl EpisodeEntries {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded) {
        let episode = recorded.episode;
        match &recorded.event {
            Event::PromptReceived(prompt) => {
                self.story(episode).prompt = prompt_contents(prompt);
            }
            Event::PromptComposed(composed) => {
                for hydrated in &composed.hydrated {
                    self.add(episode, "hydrated", Some(&hydrated.entity), hydrated.reason);
                }
                for dropped in &composed.dropped {
                    self.add(episode, "withheld", Some(&dropped.entity), dropped.reason);
                }
            }
            Event::PromptAmended(amended) => {
                let reason = Reason::NoLongerCurrent;
                for withheld in &amended.withheld {
                    self.add(episode, "withheld", Some(&withheld.entity), reason);
                }
            }
            Event::WindowExceeded(exceeded) => {
                self.story(episode).exceeded = Some(exceeded.clone());
            }
            Event::LostCallFound(found) => {
                self.story(episode).lost_calls.push(found.clone());
            }
            Event::ArtifactCaptured(captured) => {
                let file = captured.path.clone().map(EntityId::file);
                self.captured = Some(CapturedBlock {
                    episode,
                    file,
                    origin: captured.origin,
                    not_whole: match (captured.origin, captured.completeness) {
                        (Origin::User, Completeness::Elided) => Some(Reason::Elided),
                        (Origin::User, Completeness::Truncated) => Some(Reason::Truncated),
                        (Origin::User, Completeness::Full)
                        | (Origin::Model | Origin::Unattributed, _) => None,
                    },
                });
            }
            Event::ArtifactResolved(resolved) => {
                let Some(captured) = self.captured.take() else {
                    return;
                };
                let (episode, file) = (captured.episode, captured.file.as_ref());
                if resolved.level != Level::Confirmed {
                    // Clients send examples in their rules with every prompt; what the user should hear of, a notice says.
                    let is_models = captured.origin != Origin::User;
                    let is_unjudged =
                        is_models && file.is_some() && resolved.reason.is(ReasonClass::Unjudged);
                    let level = resolved.level.as_str();
                    let what = if is_unjudged { UNJUDGED } else { level };
                    if is_models || resolved.reason != Reason::NoDefinition {
                        self.add(episode, what, file, resolved.reason);
                    }
                } else if let Some(reason) = captured.not_whole {
                    for version in &resolved.versions {
                        self.add(episode, "PROPOSED", Some(&version.entity), reason);
                    }
                }
            }
            event @ (Event::Transitioned(_) | Event::VersionsPromoted(_)) => {
                for moved in event.transitions() {
                    self.add_entry(
                        episode,
                        EpisodeEntry {
                            what: moved.transition.to().as_str(),
                            transition: Some(moved.transition),
                            entity: Some(moved.entity.clone()),
                            reason: moved.cause,
                        },
                    );
                }
            }
            Event::PromotionRefused(refused) => {
                let reason = refused.report.conclusion.unwrap_or(Reason::GrantMissing);
                let what = match reason.is(ReasonClass::Unjudged) {
                    true => UNJUDGED,
                    false => "PROPOSED",
                };
                let told = self.story(episode).entries.iter();
                let told = told.filter(|it| it.what == what);
                let mut told = told.filter_map(|it| it.entity.as_ref());
                let is_told = told.any(|it| it.path == refused.entity.path);
                if !(is_told && goes_along(refused)) {
                    self.add(episode, what, Some(&refused.entity), reason);
                }
            }
            Event::DraftRefused(draft) => {
                let what = match draft.told {
                    Some(_) => "asked again",
                    None => "no better",
                };
                for fault in &draft.refused {
                    self.add(episode, what, Some(&fault.entity), fault.reason);
                }
            }
            Event::NoticeIssued(notice) => {
                let entity = notice.entity.as_ref();
                self.add(episode, "notice", entity, notice.reason);
            }
            _ => {}
        }
    }

    fn add(
        &mut self,
        episode: EpisodeId,
        what: &'static str,
        entity: Option<&EntityId>,
        reason: Reason,
    ) {
        let entry = EpisodeEntry {
            what,
            transition: None,
            entity: entity.cloned(),
            reason,
        };
        self.add_entry(episode, entry);
    }

    fn add_entry(&mut self, episode: EpisodeId, entry: EpisodeEntry) {
        let entries = &mut self.story(episode).entries;
        if entries.len() >= ENTRIES_PER_EPISODE {
            // The first entries of an episode say most about it. Episode 0 has no end, so there the last ones are kept.
            if episode != EpisodeId::OUTSIDE {
                return;
            }
            entries.pop_front();
        }
        entries.push_back(entry);
    }

    fn story(&mut self, episode: EpisodeId) -> &mut EpisodeStory {
        self.stories.entry(episode).or_default()
    }
}

#[cfg(test)]
mod tests {
    use tslp_core::event::{Envelope, NoticeIssued};
    use tslp_core::ids::{Seq, SessionId, UnixMillis};
    use tslp_core::path::RelPath;

    use super::*;

    /// An episode keeps its first entries, and what happens outside it only its last.
    #[test]
    fn first_and_last_kept() {
        let notice = |episode, number: usize| {
            let path = format!("{number}.c");
            Recorded {
                envelope: Envelope {
                    episode,
                    ..Envelope::outside(Seq(1), UnixMillis(0))
                },
                event: Event::NoticeIssued(NoticeIssued {
                    episode,
                    session: SessionId(1),
                    reason: Reason::NoEntity,
                    entity: Some(EntityId::file(RelPath::from_normalised(&path))),
                    other: None,
                }),
            }
        };
        let mut entries = EpisodeEntries::default();
        for number in 0..ENTRIES_PER_EPISODE + 2 {
            entries.apply(&notice(EpisodeId(7), number));
            entries.apply(&notice(EpisodeId::OUTSIDE, number));
        }
        let files = |episode| -> Vec<_> {
            let entries = entries.stories[&episode].entries.iter();
            let entity = entries.map(|entry| entry.entity.as_ref().unwrap().path.as_str());
            entity.collect()
        };
        for (episode, first, last) in [
            (EpisodeId(7), "0.c", "63.c"),
            (EpisodeId::OUTSIDE, "2.c", "65.c"),
        ] {
            let files = files(episode);
            assert_eq!(files.len(), ENTRIES_PER_EPISODE);
            assert_eq!((files[0], files[63]), (first, last));
        }
        assert!(!entries.stories.contains_key(&EpisodeId(8)));
    }
}
