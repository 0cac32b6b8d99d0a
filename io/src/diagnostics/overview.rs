//! `/overview`: the proxy and what its systems hold, for the page (docs/using.md).

use std::ops::ControlFlow;

use serde_json::{Value, json};
use tslp_projections::guardian::ToolSessionRow;
use tslp_projections::rules::{self, RulesRow};
use tslp_projections::scope::ScopeRow;
use tslp_projections::stale::StaleRow;
use tslp_store::ledger::LedgerReader;
use tslp_store::startup::StartError;

use super::guardian::GuardianTables;
use super::records::{RecordNow, read_records};
use super::state::EntityState;
use super::{DiagnosedSubject, mark_unverified, row_object, status, vouched};
use tslp_projections::row::{Row, StoredRow};

/// Tokens of what is said of the work under way.
const STATUS_TOKENS_MAX: usize = 2000;

/// Most rows of one kind, the last ones.
const ROWS_MAX: usize = 200;

/// What the ledger and the tables say of the proxy as a whole.
///
/// # Errors
/// When the ledger can't be read.
pub(super) fn overview_json(subject: &DiagnosedSubject) -> Result<Value, StartError> {
    let reader = subject.readers.open()?;
    let flaw = vouched::flaw_of_tables(subject, &reader)?;
    let mut stale = Vec::new();
    reader.visit_rows(&mut |row: StaleRow| {
        if stale.len() == ROWS_MAX {
            return ControlFlow::Break(());
        }
        let disk = row.disk_holds.as_str();
        if EntityState::is_stale_word(disk) {
            stale.push(json!({ "disk": disk, "entity": row.entity.to_string() }));
        }
        ControlFlow::Continue(())
    })?;
    let work = status::read_status(subject)?.page;
    let guardian = GuardianTables::read(&reader)?;
    let rules_in_force = reader.rows::<RulesRow>()?.into_iter().flat_map(|row| {
        let named = rules::names_and_values(&row.rules).into_iter();
        named.map(move |(name, value)| json!({ "name": name, "seq": row.seq.0, "value": value }))
    });
    let rules_in_force: Vec<Value> = rules_in_force.collect();
    let mut json = json!({
        "budgets": guardian.budgets_json(),
        "calls": guardian.calls_json(),
        "grants": guardian.grants_json(),
        "head": reader.head()?.seq.0,
        "ledger_bytes": reader.bytes_on_disk(),
        "records": read_records(subject)?.iter().map(RecordNow::json).collect::<Vec<_>>(),
        "recovery": work.recovery_block(),
        "rules": rules_in_force,
        "safe_mode": subject.safe_mode_reason(),
        "scope": rows::<ScopeRow>(&reader)?,
        "sessions": rows::<ToolSessionRow>(&reader)?,
        "stale": stale,
        "status": work.lines(STATUS_TOKENS_MAX),
        "upstream": subject.upstream.as_ref().map(ToString::to_string),
        "usage": guardian.usage_json(),
        "workspace": subject.settings.workspace.to_string_lossy(),
    });
    mark_unverified(&mut json, flaw.as_deref());
    Ok(json)
}

fn rows<R: StoredRow + Row + Clone>(reader: &LedgerReader) -> Result<Vec<Value>, StartError> {
    let rows = reader.rows::<R>()?;
    let shown = rows.len().saturating_sub(ROWS_MAX);
    Ok(rows[shown..].iter().map(row_object).collect())
}
