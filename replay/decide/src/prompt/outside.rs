//! What was changed outside of a conversation whose client has tools: told at the prompt's end, in one line for all of it, and
//! taken back in one line. The model can read the files again; older messages stay as they went out.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use tslp_projections::disk::LastFinding;
use tslp_projections::state::StateView;

use crate::prompt::facts::Prompt;
use crate::prompt::hydrate::{self, Hydration};
use crate::prompt::sight::Sight;
use tslp_core::delimiter::{NOTICE_CLOSE, NOTICE_OPEN};
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::NoticeIssued;
use tslp_core::path::RelPath;
use tslp_core::reason::{Reason, ReasonClass};
use tslp_projections::stale::Divergence;

/// What comes before and after the names of what was changed.
const CHANGED: (&str, &str) = (
    "Changed outside since you read it: ",
    "; read it again before you edit.",
);

/// What comes before and after the names of what is again as the model has read it.
const RESTORED: (&str, &str) = ("As you read it before, unchanged: ", ".");

/// What a conversation was told before.
#[derive(Default)]
pub(crate) struct ToldChanges {
    /// The position of the last line about a file or a symbol, and whether that says that it was changed.
    last: BTreeMap<EntityId, (u32, bool)>,
}

impl ToldChanges {
    /// Takes in a text that was injected at a position.
    pub(crate) fn add(&mut self, position: u32, text: &str) {
        for line in text.lines() {
            for ((front, back), is_change) in [(CHANGED, true), (RESTORED, false)] {
                let names = line
                    .strip_prefix(front)
                    .and_then(|rest| rest.strip_suffix(back));
                for name in names.into_iter().flat_map(|names| names.split(", ")) {
                    self.last.insert(entity_named(name), (position, is_change));
                }
            }
        }
    }

    /// Where the conversation was told that the entity was changed, if that was the last word on it.
    fn told_at(&self, entity: &EntityId) -> Option<u32> {
        let file = EntityId::file(entity.path.clone());
        let told = [entity, &file].into_iter();
        let told = told.filter_map(|about| self.last.get(about));
        let (at, is_change) = told.max()?;
        is_change.then_some(*at)
    }

    /// Replaces the notices about what differs on disk by those about all that was changed outside: what the prompt names and
    /// what is `misleading`, unless the conversation was told since it was shown, or has made the change itself.
    pub(crate) fn replace_notices(
        &self,
        view: &StateView<'_>,
        prompt: &Prompt<'_>,
        hydration: &mut Hydration,
        (sight, position): (&Sight<'_>, &dyn Fn(usize) -> u32),
        misleading: &dyn Fn() -> BTreeSet<EntityId>,
    ) {
        let shown_at = |entity: &EntityId| sight.last_shown(entity).map(position);
        let mut changed = BTreeSet::new();
        hydration.notices.retain(|notice| {
            let is_change = matches!(notice.reason, Reason::Stale | Reason::DiskHoldsSuperseded)
                && notice.other.is_none();
            changed.extend(notice.entity.clone().filter(|_| is_change));
            // A look that took too long says nothing of a file, and the client's tools can read it.
            !is_change && notice.reason != Reason::DiskUnreadable
        });
        let about: Vec<(Reason, EntityId)> = match prompt.on_record {
            Some(seen) => {
                let noticed = seen.noticed.iter();
                let outside = noticed.filter(|(reason, _)| reason.is(ReasonClass::ChangedOutside));
                let about = |(reason, entity): &(Reason, Option<EntityId>)| {
                    Some((*reason, entity.clone()?))
                };
                outside.filter_map(about).collect()
            }
            None => {
                changed.extend(misleading());
                // What is gone can't be read again, what was never read here will be read as it is, and what was refused isn't from outside.
                changed.retain(|entity| {
                    let parts = hydrate::parts_of(view, entity);
                    let was_shown = |part: &EntityId| shown_at(part).is_some();
                    view.disk_finding(&entity.path) != Some(LastFinding::Missing)
                        && !matches!(
                            view.divergence(entity),
                            Some(Divergence::Refused | Divergence::Unreadable)
                        )
                        && (parts.is_empty() || parts.iter().any(was_shown))
                });
                let restored = self.restored(view, &changed, sight, &shown_at);
                changed.retain(|entity| {
                    let told = self.told_at(entity);
                    !sight.is_own_edit(entity) && (told.is_none() || shown_at(entity) > told)
                });
                let restored = restored.into_iter().map(|it| (Reason::DiskAgrees, it));
                let changed = changed.into_iter();
                let changed = changed.map(|it| (Reason::NoLongerCurrent, it));
                changed.chain(restored).collect()
            }
        };
        for (reason, entity) in about {
            hydration.add_notice(prompt, entity, reason);
        }
    }

    /// What was called changed, and is what the conversation showed before that.
    fn restored(
        &self,
        view: &StateView<'_>,
        changed: &BTreeSet<EntityId>,
        sight: &Sight<'_>,
        shown_at: &dyn Fn(&EntityId) -> Option<u32>,
    ) -> Vec<EntityId> {
        let told = self.last.iter().filter(|(_, (_, is_change))| *is_change);
        let mut restored = Vec::new();
        for (entity, (at, _)) in told {
            let parts = hydrate::parts_of(view, entity);
            let is_as_shown = |part: &EntityId| {
                shown_at(part).is_none_or(|shown| {
                    shown <= *at && !changed.contains(part) && sight.shows_truth(part)
                }) && view.divergence(part).is_none()
            };
            let is_shown = |part: &EntityId| shown_at(part).is_some();
            if parts.iter().all(is_as_shown) && parts.iter().any(is_shown) {
                restored.push(entity.clone());
            }
        }
        restored
    }
}

/// The entity of a name as it is shown.
fn entity_named(name: &str) -> EntityId {
    match name.split_once("::") {
        Some((path, symbol)) => {
            EntityId::symbol(RelPath::from_normalised(path), Symbol::new(symbol))
        }
        None => EntityId::file(RelPath::from_normalised(name)),
    }
}

/// One notice for all that was changed, and one for all that is as it was.
#[must_use]
pub fn blocks(notices: &[&NoticeIssued]) -> Vec<String> {
    let kinds = [
        (Reason::NoLongerCurrent, CHANGED),
        (Reason::DiskAgrees, RESTORED),
    ];
    let block = |(reason, (front, back))| {
        let about = notices.iter().filter(|notice| notice.reason == reason);
        let names: Vec<String> = about
            .filter_map(|notice| Some(format!("{}", notice.entity.as_ref()?)))
            .collect();
        (!names.is_empty()).then(|| {
            format!(
                "{NOTICE_OPEN}\n{front}{}{back}\n{NOTICE_CLOSE}",
                names.join(", ")
            )
        })
    };
    kinds.into_iter().filter_map(block).collect()
}
