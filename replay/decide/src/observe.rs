//! A look at the disk becomes an event only where it differs from the last look (spec §15).

use alloc::vec::Vec;

use crate::judge::file_author;
use tslp_projections::disk::LastFinding;
use tslp_projections::state::StateView;

use tslp_core::artifact::{Origin, Transition};
use tslp_core::entity::EntityId;
use tslp_core::event::{DiskFinding, DiskObserved, Event, Transitioned};
use tslp_core::hash::SliceHash;
use tslp_core::ids::{UnixMillis, VersionId};
use tslp_core::path::RelPath;
use tslp_core::reason::Reason;
use tslp_projections::stale::Divergence;

/// The event for a look at the disk; `None` if it found nothing new.
#[must_use]
pub fn observe(
    view: &StateView<'_>,
    at: UnixMillis,
    path: RelPath,
    finding: DiskFinding,
) -> Option<Event> {
    if !is_news(view, &path, &finding) {
        return None;
    }
    let author = match (view.disk_finding(&path), &finding) {
        // Other symbols of it were looked for.
        (Some(LastFinding::File(known)), DiskFinding::File(new)) if known.whole == new.whole => {
            view.disk_author(&path)
        }
        (_, DiskFinding::File(file)) => file_author::author_of(view, &path, file.changed_at),
        // It is gone since the last look: no time tells when.
        (_, DiskFinding::Missing | DiskFinding::Unreadable(_)) => {
            file_author::author_of(view, &path, at)
        }
    };
    Some(Event::DiskObserved(DiskObserved {
        path,
        finding,
        author,
    }))
}

/// Whether what disk holds there in place of the truth is no word of the user's.
#[must_use]
pub fn is_of_others(view: &StateView<'_>, entity: &EntityId) -> bool {
    view.disk_author(&entity.path).origin != Origin::User
        && matches!(
            view.divergence(entity),
            Some(
                Divergence::Unknown
                    | Divergence::Superseded
                    | Divergence::Refused
                    | Divergence::Gone
            )
        )
}

/// Whether a look at the disk found something new.
#[must_use]
pub fn is_news(view: &StateView<'_>, path: &RelPath, finding: &DiskFinding) -> bool {
    let known = view.disk_finding(path);
    known.is_none_or(|known| !says_the_same(view, path, (known, finding)))
}

/// The refused proposals that a file holds as it was last seen, or whose losses it has.
#[must_use]
pub fn refused_in_file(view: &StateView<'_>, path: &RelPath) -> Vec<VersionId> {
    let is_refused = |entity: &EntityId| view.divergence(entity) == Some(Divergence::Refused);
    let mut entities = view.state.state_map().entities_in(path).into_iter();
    let has_losses = entities.any(|it| is_refused(&it));
    let mut held = view.proposals_under(path);
    held.retain(|it| is_refused(&it.entity) || has_losses && it.entity.symbol.is_none());
    held.into_iter().map(|it| it.version).collect()
}

/// Discards the proposals whose base disk has just contradicted (spec §15.6), except those that disk itself now holds, or whose
/// losses it has: they are the change. Those that it [held](refused_in_file) are over once it agrees with what is true.
#[must_use]
pub fn discard_contradicted(
    view: &StateView<'_>,
    path: &RelPath,
    held: &[VersionId],
) -> Vec<Event> {
    let losses = refused_in_file(view, path);
    let file = EntityId::file(path.clone());
    let current = view.current_version(&file);
    let agrees = current.is_some_and(|it| slice_on_disk(view, &file) == Some(it.slice));
    let discarded = view
        .proposals_under(path)
        .into_iter()
        .filter_map(|proposal| {
            let divergence = view.divergence(&proposal.entity);
            let is_contradicted = matches!(
                divergence,
                Some(Divergence::Unknown | Divergence::Superseded | Divergence::Gone)
            );
            let is_contradicted = is_contradicted
                && slice_on_disk(view, &proposal.entity) != Some(proposal.slice)
                && !losses.contains(&proposal.version);
            let is_over = agrees && held.contains(&proposal.version);
            let cause = match is_contradicted {
                true => Reason::Stale,
                false => Reason::DiskAgrees,
            };
            (is_contradicted || is_over).then_some(Transitioned {
                version: proposal.version,
                entity: proposal.entity,
                transition: Transition::Discard,
                origin: Origin::User,
                cause,
                report: None,
            })
        });
    discarded.map(Event::Transitioned).collect()
}

/// The entity's slice on disk, as it was last observed.
#[must_use]
pub fn slice_on_disk(view: &StateView<'_>, entity: &EntityId) -> Option<SliceHash> {
    let Some(LastFinding::File(file)) = view.disk_finding(&entity.path) else {
        return None;
    };
    match &entity.symbol {
        None => Some(file.whole),
        Some(symbol) => view.state.state_map().slice_on_disk(&entity.path, symbol)?,
    }
}

/// Whether the new finding adds nothing: the same file, and no symbol that wasn't looked for before.
fn says_the_same(
    view: &StateView<'_>,
    path: &RelPath,
    (known, new): (LastFinding<'_>, &DiskFinding),
) -> bool {
    match (known, new) {
        (LastFinding::File(known), DiskFinding::File(new)) => {
            known.whole == new.whole
                && known.grammar == new.grammar.as_ref()
                && view.state.state_map().held_on_disk(path, &new.slices)
        }
        (known, new) => known == new.into(),
    }
}
