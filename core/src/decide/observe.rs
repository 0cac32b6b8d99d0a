//! A look at the disk becomes an event only where it differs from the last look (spec §15).

use crate::entity::EntityId;
use crate::event::{DiskFinding, DiskObserved, Event};
use crate::hash::SliceHash;
use crate::path::RelPath;
use crate::view::View;

/// The event for a finding, unless it says nothing new.
#[must_use]
pub fn observe(view: &dyn View, path: RelPath, finding: DiskFinding) -> Option<Event> {
    if view
        .disk(&path)
        .is_some_and(|known| says_the_same(known, &finding))
    {
        return None;
    }
    Some(Event::DiskObserved(DiskObserved { path, finding }))
}

/// What disk holds of an entity, as it was last seen there.
#[must_use]
pub fn slice_on_disk(view: &dyn View, entity: &EntityId) -> Option<SliceHash> {
    let Some(DiskFinding::File(file)) = view.disk(&entity.path) else {
        return None;
    };
    match &entity.symbol {
        None => Some(file.whole),
        Some(symbol) => file
            .slices
            .iter()
            .find(|slice| slice.symbol == *symbol)
            .and_then(|slice| slice.slice),
    }
}

/// Whether the new finding adds nothing: the same file, and no symbol that wasn't looked for before.
fn says_the_same(known: &DiskFinding, new: &DiskFinding) -> bool {
    match (known, new) {
        (DiskFinding::File(known), DiskFinding::File(new)) => {
            known.whole == new.whole
                && known.grammar == new.grammar
                && new
                    .slices
                    .iter()
                    .all(|slice| known.slices.binary_search(slice).is_ok())
        }
        (known, new) => known == new,
    }
}
