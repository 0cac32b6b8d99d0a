//! What is around a definition: its file, and the class that it is in. The user's word for a part, and the model's change of one, take what is
//! around it along, or that isn't true any more.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use memchr::memmem;

use crate::Recorder;
use tslp_core::artifact::{Origin, Transition};
use tslp_core::entity::EntityId;
use tslp_core::event::{Event, Transitioned};
use tslp_core::reason::Reason;
use tslp_core::slice::{self, Span};
use tslp_projections::file_code::TrueEntity;
use tslp_projections::proposals::Proposal;
use tslp_projections::stale::Divergence;
use tslp_projections::state::StateView;

/// What holds a part stays the truth about itself only until the part becomes true out of other bytes, or goes: a file, or a class. Then
/// its parts are the truth, until it is supplied again. `moved` are the entities of one file that become true or go.
pub fn supersede_holders<'e>(
    recorder: &mut Recorder<'_>,
    origin: Origin,
    moved: impl IntoIterator<Item = &'e EntityId>,
) {
    let moved: BTreeSet<&EntityId> = moved.into_iter().collect();
    let Some(first) = moved.first() else {
        return;
    };
    let view = recorder.view;
    let mut holders = BTreeSet::from([EntityId::file(first.path.clone())]);
    for part in &moved {
        let around = part.holders().filter(|it| !moved.contains(it));
        holders.extend(around.filter(|it| is_inside(view, part, it)));
    }
    holders.retain(|holder| !moved.contains(holder));
    supersede(recorder, origin, holders);
}

/// Takes back what a part has replaced.
pub fn supersede(
    recorder: &mut Recorder<'_>,
    origin: Origin,
    holders: impl IntoIterator<Item = EntityId>,
) {
    for holder in holders {
        if let Some(version) = recorder.current_version_id(&holder) {
            recorder.push(Event::Transitioned(Transitioned {
                version,
                entity: holder,
                transition: Transition::Supersede,
                origin,
                cause: Reason::PartReplaced,
                report: None,
            }));
        }
    }
}

/// Whether a definition is a part of another one by its name, and stands in that one's true code as it is.
pub(crate) fn is_inside(view: &StateView<'_>, part: &EntityId, holder: &EntityId) -> bool {
    // Names first: nearly all that is asked about is no part by its name.
    let is_named = part.path == holder.path && part.holders().any(|it| it == *holder);
    let currents = || view.current_version(holder).zip(view.current_version(part));
    let Some((outer, inner)) = is_named.then(currents).flatten() else {
        return false;
    };
    if outer.artifact == inner.artifact {
        return inner.is_within(&outer);
    }
    let Some(around) = text_of(view, &outer, &outer.spans) else {
        return false;
    };
    inner.spans.iter().all(|span| {
        let text = text_of(view, &inner, &[*span]);
        text.is_some_and(|text| memmem::find(&around, &text).is_some())
    })
}

/// Whether what is shown of a holder, a file or a class, shows a definition too.
pub(crate) fn covers(view: &StateView<'_>, holder: &EntityId, part: &EntityId) -> bool {
    match holder.symbol {
        None => part.symbol.is_some() && part.path == holder.path,
        Some(_) => is_inside(view, part, holder),
    }
}

fn text_of(view: &StateView<'_>, current: &TrueEntity, spans: &[Span]) -> Option<Vec<u8>> {
    view.artifact_slices(current.artifact, spans)
}

/// Whether a definition of an edited text has stepped down before, and is there as what is around true ones.
pub fn has_stepped_down<'p>(
    view: &StateView<'_>,
    (entity, places): Placed<'_>,
    mut others: impl Iterator<Item = Placed<'p>>,
) -> bool {
    let is_inside = |(part, spans): Placed<'_>| {
        let is_known = part != entity && view.current_version(part).is_some();
        is_known && part.symbol.is_some() && spans.iter().all(|it| it.is_in(places))
    };
    entity.symbol.is_some()
        && view.current_version(entity).is_none()
        && !view.former_versions(entity).is_empty()
        && others.any(is_inside)
}

/// An entity at its places in a text.
pub type Placed<'p> = (&'p EntityId, &'p [Span]);

/// Whether a text changes nothing of what is true of a holder but some of its parts, each of which has as many places as before.
pub fn changes_parts_alone<'p>(
    view: &StateView<'_>,
    code: &[u8],
    (holder, places): Placed<'_>,
    parts: impl Iterator<Item = Placed<'p>>,
) -> bool {
    let ([around], Some(current)) = (places, view.current_version(holder)) else {
        return false;
    };
    let Some(known) = text_of(view, &current, &current.spans) else {
        return false;
    };
    let mut replaced: Vec<(Span, Vec<u8>)> = Vec::new();
    for (part, spans) in parts.filter(|(part, _)| part.symbol.is_some()) {
        // Names that one statement binds are no parts of each other.
        let is_part = |it: &Span| it.is_in(places) && it != around;
        if !spans.iter().all(is_part) {
            continue;
        }
        match view.current_version(part) {
            // A new one: without it, what is around it was the same.
            None => replaced.extend(spans.iter().map(|span| (*span, Vec::new()))),
            Some(current) if spans.len() == current.spans.len() => {
                let truths = current.spans.iter();
                let truths = truths.filter_map(|it| text_of(view, &current, &[*it]));
                replaced.extend(spans.iter().copied().zip(truths));
            }
            Some(_) => {}
        }
    }
    // Those around others come first: what is inside of another part is that one's.
    replaced.sort_by_key(|(span, _)| (span.start, u32::MAX - span.end));
    let (mut restored, mut reached) = (Vec::new(), around.start);
    let between = |from: u32, to: u32| code.get(from as usize..to as usize);
    for (span, truth) in replaced {
        if reached <= span.start {
            restored.extend_from_slice(between(reached, span.start).unwrap_or_default());
            restored.extend(truth);
            reached = span.end;
        }
    }
    restored.extend_from_slice(between(reached, around.end).unwrap_or_default());
    reached > around.start
        && (restored == known || slice::differ_in_layout_alone(&restored, &known))
}

/// A proposal with what its block changes inside of it and around it.
pub struct BlockOfProposal {
    /// The proposal, and what is inside of it.
    pub parts: Vec<Proposal>,
    /// What is around it and changes in nothing else.
    pub around: Vec<Proposal>,
    /// What is around it and changes in something else, too.
    pub at_odds: Vec<EntityId>,
}

impl BlockOfProposal {
    /// The block of a proposal; what is around it goes along if it `is_fit`.
    pub fn of(
        view: &StateView<'_>,
        proposal: &Proposal,
        is_fit: impl Fn(&Proposal) -> bool,
    ) -> Self {
        let mut block = view.proposals_under(&proposal.entity.path);
        block.retain(|it| (it.episode, it.artifact) == (proposal.episode, proposal.artifact));
        // A reply may hold the same bytes twice.
        let newest = block.into_iter().map(|it| (it.entity.clone(), it));
        let mut block: BTreeMap<EntityId, Proposal> = newest.collect();
        block.insert(proposal.entity.clone(), proposal.clone());
        let holds = |outer: &Proposal, inner: &Proposal| {
            let is_larger = outer.entity.symbol.is_none() || inner.entity.symbol.is_some();
            is_larger && inner.spans.iter().all(|it| it.is_in(&outer.spans))
        };
        let block = block.into_values();
        let (parts, others): (Vec<Proposal>, Vec<Proposal>) =
            block.partition(|it| holds(proposal, it));
        let others = others.into_iter().filter(|it| holds(it, proposal));
        let code = view.artifact_content(proposal.artifact).unwrap_or_default();
        let placed = parts.iter().map(|it| (&it.entity, &it.spans[..]));
        let goes_along = |around: &Proposal| {
            let divergence = view.divergence(&around.entity);
            let is_doubted = matches!(
                divergence,
                Some(Divergence::Contradicted | Divergence::Refused)
            );
            let place = (&around.entity, &around.spans[..]);
            !is_doubted && is_fit(around) && changes_parts_alone(view, &code, place, placed.clone())
        };
        let (around, left): (Vec<Proposal>, Vec<Proposal>) = others.partition(goes_along);
        let at_odds = left.into_iter().map(|it| it.entity).collect();
        Self {
            parts,
            around,
            at_odds,
        }
    }
}
