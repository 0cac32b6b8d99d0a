//! Lines of the true code that a refused proposal lacks: for people, on `/recent`.

use std::collections::BTreeMap;

use tslp_core::entity::EntityId;
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::EpisodeId;
use tslp_core::slice::{self, Span};
use tslp_decide::judge::lost::missing_lines;
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
    /// Where its code is, if that is known.
    pub(crate) code: Option<(ArtifactHash, Vec<Span>)>,
    /// The place for the missing lines.
    pub(crate) missing: &'r mut Option<MissingCode>,
}

/// Finds the missing lines of refused proposals, where the version that one was judged against is still true.
///
/// # Errors
/// When the rows can't be read.
pub(crate) fn find_missing_lines(
    refused: Vec<RefusedProposal<'_>>,
    reader: &LedgerReader,
    artifact: impl Fn(ArtifactHash) -> Option<Vec<u8>>,
) -> Result<(), LedgerError> {
    let mut truth = BTreeMap::new();
    for entity in refused.iter().map(|it| &it.entity) {
        if !truth.contains_key(entity) {
            truth.insert(entity.clone(), reader.true_entity(entity)?);
        }
    }
    for RefusedProposal {
        episode,
        entity,
        code,
        missing,
    } in refused
    {
        // A version that became true later isn't the one that the proposal was judged against.
        let base = truth.get(&entity).and_then(Option::as_ref);
        let base = base.filter(|base| base.episode <= episode);
        let (Some(base), Some((source, spans))) = (base, code) else {
            continue;
        };
        let before = code_text(base.artifact, &base.spans, &artifact);
        let after = code_text(source, &spans, &artifact);
        let (Some(before), Some(after)) = (before, after) else {
            continue;
        };
        let (lines, more) = missing_lines(&before, &after);
        *missing = (!lines.is_empty()).then_some(MissingCode { lines, more });
    }
    Ok(())
}
