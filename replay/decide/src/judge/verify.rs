//! User verification: who saw a proposal, names it, and is answered by the next change of it has taken it (spec §6, gate B).

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use tslp_projections::state::StateView;

use crate::Recorder;
use crate::judge::found_code::FoundCode;
use crate::judge::holders::{self, BlockOfProposal};
use crate::judge::promote;
use crate::judge::propose::{base_verdict_since, disk_verdict};
use crate::prompt::naming;
use tslp_core::artifact::Origin;
use tslp_core::entity::EntityId;
use tslp_core::event::Event;
use tslp_core::gate::{GateReport, LateGrant};
use tslp_core::ids::SessionId;
use tslp_core::path::RelPath;
use tslp_core::reason::Reason;
use tslp_projections::proposals::Proposal;

/// Promotes the proposals of the turn before from which a reply goes on: the user saw them and named them in `asked`, the last words, and
/// the reply changes them. Code of the user's own would have overruled them. The state must hold observations of their files, made in
/// this episode.
#[must_use]
pub fn verify(
    view: &StateView<'_>,
    session: SessionId,
    asked: &str,
    reply: &[FoundCode],
) -> Vec<Event> {
    let Some(before) = view.state.sessions().turn_before(session) else {
        return Vec::new();
    };
    let mut waiting = view.proposals_in(session);
    waiting.retain(|proposal| {
        before.episodes.contains(&proposal.episode)
            && proposal.refused_for() == Some(Reason::GrantMissing)
            && before.shown.contains(&proposal.entity)
            && naming::names(asked, &proposal.entity)
            && reply.iter().any(|found| changes(found, proposal))
    });
    let doubted = doubted_by_audit(view, session);
    let mut recorder = Recorder::new(view);
    let mut promoted: BTreeSet<EntityId> = BTreeSet::new();
    let mut at_odds: BTreeSet<EntityId> = BTreeSet::new();
    // The newest proposal of an entity is the one that the user has seen last.
    for proposal in waiting.into_iter().rev() {
        if promoted.contains(&proposal.entity) {
            continue;
        }
        let is_fit = |it: &Proposal| verified(view, it).passed;
        let block = BlockOfProposal::of(view, &proposal, is_fit);
        let odd = block.at_odds;
        let block: Vec<Proposal> = block.parts.into_iter().chain(block.around).collect();
        let is_moot = |part: &Proposal| recorder.has_moved(part.version);
        let is_doubted = |part: &Proposal| doubted.contains(&part.entity) || is_moot(part);
        if !block.iter().any(is_doubted) && promote_block(&mut recorder, view, block, &mut promoted)
        {
            at_odds.extend(odd);
        }
    }
    let paths: BTreeSet<&RelPath> = promoted.iter().map(|entity| &entity.path).collect();
    for path in paths {
        let of_path = promoted.iter().filter(|entity| entity.path == *path);
        holders::supersede_holders(&mut recorder, Origin::Model, of_path);
    }
    at_odds.retain(|entity| !promoted.contains(entity));
    holders::supersede(&mut recorder, Origin::Model, at_odds);
    recorder.into_events()
}

/// Promotes a block that only lacked a grant, if disk still agrees with all of it. Whether it was.
fn promote_block(
    recorder: &mut Recorder<'_>,
    view: &StateView<'_>,
    block: Vec<Proposal>,
    promoted: &mut BTreeSet<EntityId>,
) -> bool {
    let granted: Vec<GateReport> = block
        .iter()
        .map(|proposal| verified(view, proposal))
        .collect();
    if !granted.iter().all(|report| report.passed) {
        return false;
    }
    for (proposal, report) in block.into_iter().zip(granted) {
        if promoted.insert(proposal.entity.clone()) {
            let version = (proposal.version, &proposal.entity);
            promote::promote(recorder, Origin::Model, version, report);
        }
    }
    true
}

/// What is said of a proposal that the user has seen, and went on from.
fn verified(view: &StateView<'_>, proposal: &Proposal) -> GateReport {
    let disk = disk_verdict(view, &proposal.entity, proposal.slice);
    // A part has none if the reply holds the same bytes twice, and nothing proved whose the others are.
    let report = proposal.report.clone().unwrap_or_default();
    let base = base_verdict_since(view, proposal);
    report.with_late_grant(LateGrant::UserVerified, base, disk)
}

/// Entities that a shadow audit doubts and whose notices may not have reached the user yet.
fn doubted_by_audit(view: &StateView<'_>, session: SessionId) -> BTreeSet<EntityId> {
    let pending = view.state.sessions().pending_notices(session).into_iter();
    let doubts = pending.filter(|pending| pending.notice.reason == Reason::AuditContested);
    doubts.filter_map(|pending| pending.notice.entity).collect()
}

/// Whether a block changes what a proposal holds, and doesn't only repeat it.
fn changes(found: &FoundCode, proposal: &Proposal) -> bool {
    let EntityId { path, symbol } = &proposal.entity;
    let is_of_file = found.usable_path().is_none_or(|it| it == path);
    let applied = found.edit.as_ref().map(|edit| edit.outcome.as_ref());
    let defines = match (symbol, applied) {
        (Some(symbol), Some(Ok(applied))) => applied.defined.contains(symbol),
        (Some(symbol), _) => found.symbols().contains(symbol),
        (None, _) => found.usable_path().is_some(),
    };
    let repeats = |symbol| found.slices.get(symbol) == Some(&proposal.slice);
    is_of_file && defines && !symbol.as_ref().is_some_and(repeats)
}
