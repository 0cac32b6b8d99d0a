//! Lines of the true code that a refused proposal lacks: for people, on `/recent`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use tslp_core::entity::EntityId;
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::EpisodeId;
use tslp_core::slice::{self, Span};
use tslp_decide::lost::missing_lines;
use tslp_projections::proposals::ProposalRow;
use tslp_store::ledger::{LedgerError, LedgerReader};

/// Lines of what is true that a proposal doesn't have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingCode {
    /// The first of them, without indentation.
    pub lines: Vec<String>,
    /// The number of missing lines beyond those listed.
    pub more: usize,
}

/// The text of some code in captured bytes.
pub(crate) fn code_text(
    source: ArtifactHash,
    spans: &[Span],
    artifact: &impl Fn(ArtifactHash) -> Option<Vec<u8>>,
) -> Option<String> {
    let bytes = artifact(source)?;
    let is_whole = spans.iter().all(|span| span.end as usize <= bytes.len());
    is_whole.then(|| String::from_utf8_lossy(&slice::joined(&bytes, spans)).into_owned())
}

/// A proposal that was refused for missing code.
pub(crate) struct RefusedProposal<'r> {
    /// The episode that brought it.
    pub(crate) episode: EpisodeId,
    /// What it was to replace.
    pub(crate) entity: EntityId,
    /// The place for the missing lines.
    pub(crate) missing: &'r mut Option<MissingCode>,
}

/// Finds the missing lines of refused proposals that are still open, where the version that one was judged against is still true.
///
/// # Errors
/// When the rows can't be read.
pub(crate) fn find_missing_lines(
    refused: Vec<RefusedProposal<'_>>,
    reader: &LedgerReader,
    artifact: impl Fn(ArtifactHash) -> Option<Vec<u8>>,
) -> Result<(), LedgerError> {
    if refused.is_empty() {
        return Ok(());
    }
    let wanted: BTreeSet<EntityId> = refused.iter().map(|it| it.entity.clone()).collect();
    let mut proposed = BTreeMap::new();
    reader.visit_rows(&mut |row: ProposalRow| {
        if wanted.contains(&row.entity) {
            proposed.insert((row.episode, row.entity.clone()), row);
        }
        ControlFlow::Continue(())
    })?;
    let mut truth = BTreeMap::new();
    for entity in wanted {
        truth.extend(reader.true_entity(&entity)?.map(|truth| (entity, truth)));
    }
    for RefusedProposal {
        episode,
        entity,
        missing,
    } in refused
    {
        // A version that became true later isn't the one that the proposal was judged against.
        let base = truth.get(&entity).filter(|base| base.episode <= episode);
        let (Some(base), Some(proposal)) = (base, proposed.get(&(episode, entity))) else {
            continue;
        };
        let before = code_text(base.source, &base.spans, &artifact);
        let after = code_text(proposal.source, &proposal.spans, &artifact);
        let (Some(before), Some(after)) = (before, after) else {
            continue;
        };
        let (lines, more) = missing_lines(&before, &after);
        *missing = (!lines.is_empty()).then_some(MissingCode { lines, more });
    }
    Ok(())
}
