//! What is around a definition: its file, and the class that it is in. A holder is never true at odds with what it holds.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use memchr::memmem;

use super::Recorder;
use tslp_core::artifact::{Origin, Transition};
use tslp_core::entity::EntityId;
use tslp_core::event::{Event, Transitioned};
use tslp_core::reason::Reason;
use tslp_core::slice::Span;
use tslp_projections::proposals::Proposal;
use tslp_projections::state::StateView;

/// What holds a part stays the truth about itself only until the part becomes true out of other bytes, or goes: a file, or a class. Then
/// its parts are the truth, until it is supplied again. `promoted` are entities of one file.
pub fn supersede_holders<'e>(
    recorder: &mut Recorder<'_>,
    origin: Origin,
    promoted: impl IntoIterator<Item = &'e EntityId>,
) {
    let promoted: BTreeSet<&EntityId> = promoted.into_iter().collect();
    let Some(first) = promoted.first() else {
        return;
    };
    let view = recorder.view;
    let holds = |holder: &EntityId, part: &EntityId| {
        let texts = text_of(view, holder).zip(text_of(view, part));
        texts.is_some_and(|(outer, inner)| memmem::find(&outer, &inner).is_some())
    };
    let mut holders = BTreeSet::from([EntityId::file(first.path.clone())]);
    for part in &promoted {
        let around = part.holders().filter(|it| !promoted.contains(it));
        holders.extend(around.filter(|it| holds(it, part)));
    }
    for holder in holders {
        let current = recorder.current_version_id(&holder);
        let current = current.filter(|_| !promoted.contains(&holder));
        if let Some(version) = current {
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

/// An entity's true text.
fn text_of(view: &StateView<'_>, entity: &EntityId) -> Option<Vec<u8>> {
    let current = view.current_version(entity)?;
    view.artifact_slices(current.artifact, &current.spans)
}

/// An entity at its places in a text.
pub type Placed<'p> = (&'p EntityId, &'p [Span]);

/// Whether a text changes nothing of what is true of a holder but some of its parts.
pub fn changes_parts_alone<'p>(
    view: &StateView<'_>,
    code: &[u8],
    (holder, places): Placed<'_>,
    parts: impl Iterator<Item = Placed<'p>>,
) -> bool {
    let ([around], Some(known)) = (places, text_of(view, holder)) else {
        return false;
    };
    let is_inside = |span: &Span| around.start <= span.start && span.end <= around.end;
    let parts = parts.filter(|(part, spans)| *part != holder && spans.iter().all(is_inside));
    let mut parts: Vec<Placed<'_>> = parts.filter(|(part, _)| part.symbol.is_some()).collect();
    // Those around others come first: what is inside of another part is that one's.
    parts.sort_by_key(|(_, spans)| spans.first().map(|it| (it.start, u32::MAX - it.end)));
    let (mut restored, mut reached) = (Vec::new(), around.start);
    for (part, spans) in parts {
        for span in spans {
            if reached <= span.start {
                restored.extend_from_slice(&code[reached as usize..span.start as usize]);
                reached = span.end;
            }
        }
        if spans.last().is_some_and(|last| last.end == reached) {
            restored.extend(text_of(view, part).unwrap_or_default());
        }
    }
    restored.extend_from_slice(&code[reached as usize..around.end as usize]);
    let squeezed = |text: Vec<u8>| -> Vec<u8> {
        let kept = text.into_iter().filter(|byte| !byte.is_ascii_whitespace());
        kept.collect()
    };
    reached > around.start && squeezed(known) == squeezed(restored)
}

/// The proposals that become true together with this one: of what its block changes all that is inside of it, and of what is around it
/// what changes in nothing else, if it is fit.
pub fn with_its_block(
    view: &StateView<'_>,
    proposal: Proposal,
    is_fit: impl Fn(&Proposal) -> bool,
) -> Vec<Proposal> {
    let mut block = view.proposals_under(&proposal.entity.path);
    block.retain(|it| (it.episode, it.artifact) == (proposal.episode, proposal.artifact));
    let holds = |outer: &Proposal, inner: &Proposal| {
        let mut around = outer.spans.iter();
        let holds = |span: &Span| around.any(|it| it.start <= span.start && span.end <= it.end);
        let is_larger = outer.entity.symbol.is_none() || inner.entity.symbol.is_some();
        is_larger && inner.spans.iter().all(holds)
    };
    let (mut chosen, others): (Vec<Proposal>, Vec<Proposal>) =
        block.into_iter().partition(|it| holds(&proposal, it));
    let code = view.artifact_content(proposal.artifact).unwrap_or_default();
    let placed: Vec<Placed<'_>> = chosen
        .iter()
        .map(|it| (&it.entity, &it.spans[..]))
        .collect();
    let is_explained = |around: &&Proposal| {
        let parts = placed.iter().copied();
        holds(around, &proposal)
            && is_fit(around)
            && changes_parts_alone(view, &code, (&around.entity, &around.spans), parts)
    };
    let around: Vec<Proposal> = others.iter().filter(is_explained).cloned().collect();
    chosen.extend(around);
    chosen
}
