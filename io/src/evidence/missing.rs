//! Lines of the true code that a refused version lacks.

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

/// Where some code is in a captured text.
pub type Place = (ArtifactHash, Vec<Span>);

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

/// The lines that a refused version of an entity lacks, where the version that it was judged against is still true.
///
/// # Errors
/// When the rows can't be read.
pub(crate) fn lost_lines(
    reader: &LedgerReader,
    episode: EpisodeId,
    entity: &EntityId,
    (source, spans): &Place,
) -> Result<Option<MissingCode>, LedgerError> {
    // A version that became true later isn't the one that the proposal was judged against.
    let base = reader.true_entity(entity)?;
    let Some(base) = base.filter(|base| base.episode <= episode) else {
        return Ok(None);
    };
    let artifact = |artifact| reader.artifact(artifact).ok().flatten();
    let before = code_text(base.artifact, &base.spans, &artifact);
    let after = code_text(*source, spans, &artifact);
    let both = before.zip(after);
    let missing = both.map(|(before, after)| missing_lines(&before, &after));
    let missing = missing.map(|(lines, more)| MissingCode { lines, more });
    Ok(missing.filter(|missing| !missing.lines.is_empty()))
}
