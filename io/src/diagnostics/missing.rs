//! Lines of the true code that a refused proposal lacks: for people, on `/recent`.

use std::collections::BTreeMap;

use tslp_core::hash::ArtifactHash;
use tslp_core::reason::Reason;
use tslp_core::slice;
use tslp_decide::lost::missing_lines;
use tslp_projections::table::{Value as Cell, parse_spans};
use tslp_projections::{PROPOSALS, STATE_MAP};

use super::recent::EpisodeReport;
use super::{TableRow, entity_name};

/// Lines of what is true that a proposal doesn't have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingCode {
    /// The first of them, without indentation.
    pub lines: Vec<String>,
    /// The number of missing lines beyond those listed.
    pub more: usize,
}

/// The location of some code.
struct CodeLocation {
    episode: i64,
    source: ArtifactHash,
    spans: String,
}

impl CodeLocation {
    fn code_text(&self, artifact: &impl Fn(ArtifactHash) -> Option<Vec<u8>>) -> Option<String> {
        let spans = parse_spans(&self.spans)?;
        let bytes = artifact(self.source)?;
        let is_within = |span: &slice::Span| span.end as usize <= bytes.len();
        let is_whole = spans.iter().all(is_within);
        is_whole.then(|| String::from_utf8_lossy(&slice::joined(&bytes, &spans)).into_owned())
    }
}

/// Adds the missing lines to refusals for missing code, where the proposal is still open and the version that it was judged
/// against is still true.
///
/// # Errors
/// When the rows can't be read.
pub(crate) fn add_missing_lines<E>(
    episodes: &mut [EpisodeReport],
    rows: impl Fn(usize) -> Result<Vec<Vec<Cell>>, E>,
    artifact: impl Fn(ArtifactHash) -> Option<Vec<u8>>,
) -> Result<(), E> {
    let mut refused: Vec<_> = episodes
        .iter_mut()
        .flat_map(|episode| {
            let id = episode.id;
            episode.entries.iter_mut().map(move |entry| (id, entry))
        })
        .filter(|(_, entry)| {
            let reason = Reason::from_code(&entry.reason);
            entry.what == "PROPOSED" && reason.is_some_and(Reason::is_lost_code)
        })
        .collect();
    if refused.is_empty() {
        return Ok(());
    }
    let proposed: BTreeMap<(i64, String), CodeLocation> = rows(PROPOSALS)?
        .iter()
        .filter_map(|row| {
            let code = code_location(row, 7, 4, 10)?;
            Some(((code.episode, row_entity_name(row, 1)), code))
        })
        .collect();
    let is_wanted = |name: &String| {
        let mut entities = refused.iter().map(|(_, entry)| &entry.entity);
        entities.any(|entity| entity.as_ref() == Some(name))
    };
    let truth: BTreeMap<String, CodeLocation> = rows(STATE_MAP)?
        .iter()
        .map(|row| (row_entity_name(row, 0), row))
        .filter(|(name, _)| is_wanted(name))
        .filter_map(|(name, row)| Some((name, code_location(row, 9, 4, 5)?)))
        .collect();
    for (episode, entry) in &mut refused {
        let Some(entity) = entry.entity.clone() else {
            continue;
        };
        let base = truth.get(&entity).filter(|base| base.episode <= *episode);
        let (Some(base), Some(proposal)) = (base, proposed.get(&(*episode, entity))) else {
            continue;
        };
        let (Some(before), Some(after)) =
            (base.code_text(&artifact), proposal.code_text(&artifact))
        else {
            continue;
        };
        let (lines, more) = missing_lines(&before, &after);
        entry.missing = (!lines.is_empty()).then_some(MissingCode { lines, more });
    }
    Ok(())
}

fn row_entity_name(row: &[Cell], path: usize) -> String {
    let (path, symbol) = (row.optional_text_at(path), row.optional_text_at(path + 1));
    entity_name(path.unwrap_or_default(), symbol.unwrap_or_default())
}

fn code_location(
    row: &[Cell],
    episode: usize,
    source: usize,
    spans: usize,
) -> Option<CodeLocation> {
    let Some(Cell::Hash(hash)) = row.get(source) else {
        return None;
    };
    Some(CodeLocation {
        episode: row.number_at(episode),
        source: ArtifactHash(*hash),
        spans: row.optional_text_at(spans)?.to_owned(),
    })
}
