//! What the user keeps for the project, and whether the code that proves it is true now (docs/records.md).

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use serde_json::{Value, json};
use tslp_core::ids::SessionId;
use tslp_core::scope::OffRules;
use tslp_projections::records::RecordRow;
use tslp_projections::stale::StaleRow;
use tslp_projections::state_map::StateMapRow;
use tslp_store::ledger::{LedgerError, LedgerReader};

use super::status::off_rules;
use crate::evidence::moments::utc_moment;

/// The records, each with whether it is grounded: whether prompts may be told of it now.
///
/// # Errors
/// When the ledger can't be read.
pub(crate) fn read_records(reader: &LedgerReader) -> Result<Vec<(RecordRow, bool)>, LedgerError> {
    let off = off_rules(reader)?;
    let rows = reader.rows::<RecordRow>()?.into_iter();
    rows.map(|row| {
        let is_grounded = row.path.is_empty() || is_true_once(reader, &off, &row)?;
        Ok((row, is_grounded))
    })
    .collect()
}

/// As decisions have it (`tslp_decide::records`): whether what it quotes is true of its file, once, as disk held it.
fn is_true_once(
    reader: &LedgerReader,
    off: &OffRules,
    record: &RecordRow,
) -> Result<bool, LedgerError> {
    if off.is_off(&record.path) {
        return Ok(false);
    }
    let mut rows = Vec::new();
    reader.visit_rows_from(&record.path, &mut |row: StateMapRow| {
        if row.entity.path.as_str() != record.path {
            return ControlFlow::Break(());
        }
        rows.push(row);
        ControlFlow::Continue(())
    })?;
    let mut places = BTreeSet::new();
    for row in rows {
        if reader.find_row::<StaleRow>((row.entity,))?.is_some() {
            continue;
        }
        let source = reader.artifact(row.source)?.unwrap_or_default();
        for span in &row.spans {
            let code = source.get(span.start as usize..span.end as usize);
            let code = code.and_then(|code| std::str::from_utf8(code).ok());
            let found = code.unwrap_or_default().match_indices(&record.quotation);
            places.extend(found.map(|(at, _)| (row.source, span.start as usize + at)));
        }
    }
    Ok(places.len() == 1)
}

/// For programs.
pub(crate) fn records_json(records: &[(RecordRow, bool)]) -> Value {
    let records = records.iter().map(|(row, is_grounded)| {
        let is_cited = !row.path.is_empty();
        json!({
            "at": utc_moment(row.at_ms.0),
            "grounded": is_grounded,
            "key": row.key,
            "kind": row.kind.as_str(),
            "path": is_cited.then_some(&row.path),
            "quotation": is_cited.then_some(&row.quotation),
            "said_in": (row.said_in != SessionId(0)).then_some(row.said_in.0),
            "statement": row.statement,
        })
    });
    records.collect()
}
