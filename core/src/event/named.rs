//! The entities and files that an event names.

use super::Event;
use crate::entity::EntityId;
use crate::path::RelPath;

impl Event {
    /// Hands every entity that it names to `visit`. Some events name a file apart from its symbols, and a directive names
    /// what its user typed: see [`Self::visit_paths`].
    pub fn visit_entities(&self, visit: &mut dyn FnMut(&EntityId)) {
        match self {
            Self::PromptAmended(amended) => {
                amended.withheld.iter().for_each(|it| visit(&it.entity));
            }
            Self::ArtifactResolved(resolved) => {
                resolved.versions.iter().for_each(|it| visit(&it.entity));
            }
            Self::DraftRefused(draft) => draft.refused.iter().for_each(|it| visit(&it.entity)),
            Self::Transitioned(transitioned) => visit(&transitioned.entity),
            Self::VersionsPromoted(promoted) => {
                promoted.transitions().for_each(|it| visit(&it.entity));
            }
            Self::PromotionRefused(refused) => {
                visit(&refused.entity);
                refused.rename_of.iter().for_each(visit);
            }
            Self::AuditAsked(asked) => asked.about.iter().for_each(|it| visit(&it.entity)),
            Self::AuditAnswered(answered) => {
                answered.verdicts.iter().for_each(|it| visit(&it.entity));
            }
            Self::NoticeIssued(notice) => {
                notice.entity.iter().chain(&notice.other).for_each(visit);
            }
            Self::PromptComposed(composed) => {
                composed.hydrated.iter().for_each(|it| visit(&it.entity));
                composed.dropped.iter().for_each(|it| visit(&it.entity));
            }
            // Every kind is listed, so that a new one isn't left out of a file's history by accident.
            Self::RulesInForce(_)
            | Self::Content(_)
            | Self::PromptReceived(_)
            | Self::SideRequestReceived(_)
            | Self::ReplySegment(_)
            | Self::ReplyEnded(_)
            | Self::DiskObserved(_)
            | Self::PlaceObserved(_)
            | Self::PathResolved(_)
            | Self::DirectiveGiven(_)
            | Self::PromptMeasured(_)
            | Self::WindowExceeded(_)
            | Self::ReplyPart(_)
            | Self::PromptSent(_)
            | Self::CheckRan(_)
            | Self::ActionRequested(_)
            | Self::ToolRan(_)
            | Self::PolicyApproved(_)
            | Self::ReplyImported(_)
            | Self::LostCallFound(_)
            | Self::ArtifactCaptured(_)
            | Self::ActionJudged(_)
            | Self::CapabilityChanged(_)
            | Self::AuthorFound(_)
            | Self::WorkCounted(_)
            | Self::ScopeChanged(_)
            | Self::GoalChanged(_)
            | Self::RecordChanged(_)
            | Self::ContextCleared(_) => {}
        }
    }

    /// Hands the path of every file that it is about to `visit`, some of them more than once.
    pub fn visit_paths(&self, visit: &mut dyn FnMut(&RelPath)) {
        match self {
            Self::DiskObserved(observed) => visit(&observed.path),
            Self::PathResolved(resolved) => resolved.file.iter().for_each(visit),
            Self::ArtifactCaptured(captured) => captured.path.iter().for_each(visit),
            // A promotion without symbols has a path and no entity.
            Self::VersionsPromoted(promoted) => visit(&promoted.path),
            Self::WorkCounted(work) => work.files.iter().for_each(visit),
            Self::DirectiveGiven(given) => {
                let (path, _) = given.target.split_once("::").unwrap_or((&given.target, ""));
                visit(&RelPath::from_normalised(path));
            }
            _ => self.visit_entities(&mut |entity| visit(&entity.path)),
        }
    }
}

#[cfg(test)]
#[cfg(feature = "arbitrary")]
mod tests {
    use alloc::collections::BTreeSet;
    use alloc::format;
    use alloc::string::String;

    use arbitrary::Unstructured;

    use super::*;
    use crate::event::EventKind;

    /// Whether `visited` has every value of a type in an event's debug text, which names the type of each: so a field of a
    /// new event is found, too.
    fn check(text: &str, named: &str, visited: &BTreeSet<String>) -> usize {
        let found = text.match_indices(named);
        found
            .map(|(at, _)| {
                let is_visited = visited.iter().any(|one| text[at..].starts_with(one));
                assert!(is_visited, "not visited at byte {at}: {text}");
            })
            .count()
    }

    #[test]
    fn every_path_and_entity_is_visited() {
        let (mut paths_found, mut entities_found) = (0, 0);
        for kind in EventKind::ALL {
            for round in 0..64_u32 {
                let mut bytes = [0; 4096];
                let mut noise = blake3::Hasher::new();
                noise
                    .update(&round.to_le_bytes())
                    .finalize_xof()
                    .fill(&mut bytes);
                let event = Event::arbitrary_of(*kind, &mut Unstructured::new(&bytes)).unwrap();
                let (mut paths, mut entities) = (BTreeSet::new(), BTreeSet::new());
                event.visit_paths(&mut |path| {
                    paths.insert(format!("{path:?}"));
                });
                event.visit_entities(&mut |entity| {
                    entities.insert(format!("{entity:?}"));
                });
                let text = format!("{event:?}");
                paths_found += check(&text, "RelPath(", &paths);
                entities_found += check(&text, "EntityId {", &entities);
            }
        }
        assert!(
            paths_found > 100 && entities_found > 100,
            "{paths_found} {entities_found}"
        );
    }
}
