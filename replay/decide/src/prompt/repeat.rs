//! Code in a prompt that was sent before: how much of it still counts.

use alloc::vec::Vec;
use tslp_projections::disk::LastFinding;
use tslp_projections::state::StateView;

use crate::judge::found_code::FoundCode;
use crate::judge::promote::MessagePieces;
use crate::observe;
use tslp_core::entity::EntityId;
use tslp_core::event::{Event, NoticeIssued};
use tslp_core::hash::{ArtifactHash, SliceHash};
use tslp_core::ids::{EpisodeId, SessionId};
use tslp_core::limits::SAID_BEFORE_NAMED_MAX;
use tslp_core::reason::Reason;
use tslp_projections::stale::Divergence;

/// A block of code in a prompt that was sent before.
///
/// Nobody can tell whether the user decides again or a client only asks for another reply. So the file decides: its changes
/// since the prompt was first sent win.
pub(crate) struct RepeatedBlock<'r> {
    view: &'r StateView<'r>,
    found: &'r FoundCode,
    containers: &'r MessagePieces,
}

impl<'r> RepeatedBlock<'r> {
    /// The block and the prompt that holds it. The state must already hold an observation of the block's file.
    pub(crate) const fn new(
        view: &'r StateView<'r>,
        found: &'r FoundCode,
        containers: &'r MessagePieces,
    ) -> Self {
        Self {
            view,
            found,
            containers,
        }
    }

    /// Whether the block's version of the entity counts as it did when the prompt was first sent: disk holds it, or neither
    /// disk nor the user's decision has changed since, and disk doesn't hold a later version. `slice` is the block's version;
    /// `None` if the block leaves the entity out.
    pub(crate) fn counts_for(&self, entity: &EntityId, slice: Option<SliceHash>) -> bool {
        match self.view.disk_finding(&entity.path) {
            None | Some(LastFinding::Missing) => !self.is_settled_since(entity),
            Some(LastFinding::Unreadable(_)) => false,
            Some(LastFinding::File(file)) if file.whole == self.found.whole => true,
            Some(LastFinding::File(_)) => {
                let on_disk = observe::slice_on_disk(self.view, entity);
                let truth = self
                    .view
                    .current_version(entity)
                    .map(|current| current.slice);
                let is_written = slice.is_some() && on_disk == slice;
                // Where disk agrees with what is true there is nothing left to be decided.
                let is_undecided = || on_disk != truth && !self.is_settled_since(entity);
                let came_later = |disk| self.view.superseded_later(entity, disk, slice);
                is_written
                    || (is_undecided()
                        && self.is_as_it_was(entity)
                        && !on_disk.is_some_and(came_later))
            }
        }
    }

    /// Whether the block's version of the entity differs from the truth or disk, and doesn't count.
    pub(crate) fn passes_over(&self, entity: &EntityId, slice: SliceHash) -> bool {
        let truth = self
            .view
            .current_version(entity)
            .map(|current| current.slice);
        let is_settled = || match self.view.divergence(entity) {
            None | Some(Divergence::Unreadable) => true,
            Some(
                Divergence::Unknown
                | Divergence::Superseded
                | Divergence::Refused
                | Divergence::Gone
                | Divergence::Contradicted,
            ) => false,
        };
        let says_the_truth = truth == Some(slice) && is_settled();
        !says_the_truth && !self.counts_for(entity, Some(slice))
    }

    /// Whether the user has decided about the entity since the block was first sent.
    fn is_settled_since(&self, entity: &EntityId) -> bool {
        self.texts()
            .any(|text| self.view.user_decided_since(entity, text))
    }

    /// Whether disk holds what it held when the block was first sent.
    fn is_as_it_was(&self, entity: &EntityId) -> bool {
        self.texts()
            .any(|text| self.view.disk_unchanged_since(&entity.path, text))
    }

    /// The addresses of the prompt's pieces and of the block.
    fn texts(&self) -> impl Iterator<Item = ArtifactHash> {
        self.containers.addresses().chain([self.found.artifact])
    }
}

/// Notices about what didn't count: one for each definition, or one for the file where there are many.
pub(crate) fn repetition_notices(
    ids: (EpisodeId, SessionId),
    passed_over: Vec<EntityId>,
) -> Vec<Event> {
    let (mut named, files): (Vec<EntityId>, Vec<EntityId>) = passed_over
        .into_iter()
        .partition(|entity| entity.symbol.is_some());
    if named.len() > SAID_BEFORE_NAMED_MAX {
        named.truncate(1);
        named.iter_mut().for_each(|entity| entity.symbol = None);
    }
    if named.is_empty() {
        named = files;
        named.truncate(1);
    }
    let notice = |entity| NoticeIssued::new(ids, Reason::SaidBefore, Some(entity));
    let notices = named.into_iter().map(notice);
    notices.map(Event::NoticeIssued).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tslp_core::entity::Symbol;
    use tslp_core::path::RelPath;

    fn named(passed_over: &[&str]) -> Vec<Option<EntityId>> {
        let path = || RelPath::from_normalised("src/a.c");
        let entities = passed_over.iter().map(|symbol| match *symbol {
            "" => EntityId::file(path()),
            symbol => EntityId::symbol(path(), Symbol::new(symbol)),
        });
        let events = repetition_notices((EpisodeId(1), SessionId(1)), entities.collect());
        let notices = events.into_iter().map(|event| match event {
            Event::NoticeIssued(notice) if notice.reason == Reason::SaidBefore => notice.entity,
            other => panic!("{other:?}"),
        });
        notices.collect()
    }

    /// Each definition is named; if there are too many, only their file is.
    #[test]
    fn names_or_file() {
        let file = EntityId::file(RelPath::from_normalised("src/a.c"));
        let symbol = |name: &str| Some(EntityId::symbol(file.path.clone(), Symbol::new(name)));
        assert_eq!(named(&[]), []);
        assert_eq!(named(&["", ""]), [Some(file.clone())]);
        assert_eq!(named(&["f", "g", ""]), [symbol("f"), symbol("g")]);
        assert_eq!(named(&["f", "g", "h", "i", ""]), [Some(file.clone())]);
    }
}
