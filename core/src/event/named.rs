//! The entities and files that an event names.

use super::Event;
use crate::entity::EntityId;
use crate::path::RelPath;

impl Event {
    /// Hands every entity that it names to `visit`. A look at a file and a captured block name the file apart from its symbols, and a
    /// directive names what its user typed: see [`Self::visit_paths`].
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
            // A test holds what is visited against the JSON of arbitrary events of every kind.
            _ => {}
        }
    }

    /// Hands the path of every file that it is about to `visit`, some of them more than once.
    pub fn visit_paths(&self, visit: &mut dyn FnMut(&RelPath)) {
        match self {
            Self::DiskObserved(observed) => visit(&observed.path),
            Self::ArtifactCaptured(captured) => captured.path.iter().for_each(visit),
            Self::VersionsPromoted(promoted) => visit(&promoted.path),
            Self::DirectiveGiven(given) => {
                let (path, _) = given.target.split_once("::").unwrap_or((&given.target, ""));
                visit(&RelPath::from_normalised(path));
            }
            _ => self.visit_entities(&mut |entity| visit(&entity.path)),
        }
    }
}
