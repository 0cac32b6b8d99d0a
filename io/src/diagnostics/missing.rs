//! Lines of the true code that a refused proposal lacks: for people, on `/recent`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use tslp_core::artifact::ArtifactState;
use tslp_core::entity::EntityId;
use tslp_core::hash::ArtifactHash;
use tslp_core::slice::{self, Span};
use tslp_decide::lost::missing_lines;
use tslp_projections::proposals::ProposalRow;
use tslp_projections::state_map::StateMapRow;

use super::recent::EpisodeReport;
use super::verified::RowSource;
use tslp_store::ledger::LedgerError;

/// Lines of what is true that a proposal doesn't have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingCode {
    /// The first of them, without indentation.
    pub lines: Vec<String>,
    /// The number of missing lines beyond those listed.
    pub more: usize,
}

/// The text of some code in captured bytes.
fn code_text(
    source: ArtifactHash,
    spans: &[Span],
    artifact: &impl Fn(ArtifactHash) -> Option<Vec<u8>>,
) -> Option<String> {
    let bytes = artifact(source)?;
    let is_whole = spans.iter().all(|span| span.end as usize <= bytes.len());
    is_whole.then(|| String::from_utf8_lossy(&slice::joined(&bytes, spans)).into_owned())
}

/// Adds the missing lines to refusals for missing code, where the proposal is still open and the version that it was judged
/// against is still true.
///
/// # Errors
/// When the rows can't be read.
pub(crate) fn add_missing_lines(
    episodes: &mut [EpisodeReport],
    rows: RowSource<'_>,
    artifact: impl Fn(ArtifactHash) -> Option<Vec<u8>>,
) -> Result<(), LedgerError> {
    let mut refused: Vec<_> = episodes
        .iter_mut()
        .flat_map(|episode| {
            let id = episode.row.episode;
            episode.entries.iter_mut().map(move |entry| (id, entry))
        })
        .filter(|(_, entry)| {
            let entry = &entry.entry;
            entry.what == ArtifactState::Proposed.as_str() && entry.reason.is_lost_code()
        })
        .collect();
    if refused.is_empty() {
        return Ok(());
    }
    let wanted: BTreeSet<EntityId> = refused
        .iter()
        .filter_map(|(_, entry)| entry.entry.entity.clone())
        .collect();
    let mut proposed = BTreeMap::new();
    rows.visit(&mut |row: ProposalRow| {
        if wanted.contains(&row.entity) {
            proposed.insert((row.episode, row.entity.clone()), row);
        }
        ControlFlow::Continue(())
    })?;
    let mut truth = BTreeMap::new();
    rows.visit(&mut |row: StateMapRow| {
        if wanted.contains(&row.entity) {
            truth.insert(row.entity.clone(), row);
        }
        ControlFlow::Continue(())
    })?;
    for (episode, entry) in &mut refused {
        let Some(entity) = entry.entry.entity.clone() else {
            continue;
        };
        let base = truth.get(&entity).filter(|base| base.episode <= *episode);
        let (Some(base), Some(proposal)) = (base, proposed.get(&(*episode, entity))) else {
            continue;
        };
        let before = code_text(base.source, &base.spans, &artifact);
        let after = code_text(proposal.source, &proposal.spans, &artifact);
        let (Some(before), Some(after)) = (before, after) else {
            continue;
        };
        let (lines, more) = missing_lines(&before, &after);
        entry.missing = (!lines.is_empty()).then_some(MissingCode { lines, more });
    }
    Ok(())
}
