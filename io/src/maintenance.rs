//! `tslp verify` and `rebuild`: acts of the user on a ledger that no proxy is using.

use std::ops::ControlFlow;
use std::path::Path;

use tslp_core::ids::Seq;
use tslp_projections::TABLES;
use tslp_store::ledger::history::{self, TableCheck};
use tslp_store::ledger::{LedgerReader, OpenOptions, SqliteLog, TablesState};
use tslp_store::startup::{self, StartError};

use crate::diagnostics::DiagnosedSubject;
use crate::diagnostics::doctor::{self, DoctorReport};

/// Verifies chain, anchor and every event's bytes, and compares each projection's table with a clean fold.
#[must_use]
pub fn verify_subject(subject: &DiagnosedSubject) -> DoctorReport {
    let mut report = DoctorReport::default();
    match subject.readers.open() {
        Ok(reader) => verify_ledger(subject, &reader, &mut report),
        Err(error) => report.add_ledger_check("ledger", Err(&error.into())),
    }
    report
}

fn verify_ledger(subject: &DiagnosedSubject, reader: &LedgerReader, report: &mut DoctorReport) {
    report.add_check("sqlite integrity", doctor::integrity_check(reader));
    report.add_check("identity", doctor::ledger_identity(reader));
    report.add_check("head anchor", doctor::head_anchor(subject, reader));
    let checked = history::check_all(reader, |_| ControlFlow::Continue(()));
    let (state, tables) = match checked.map(|checked| checked.expect("nobody breaks it off")) {
        Ok(checked) => checked,
        Err(error) => {
            report.add_ledger_check("events", Err(&error));
            let why = "not compared, because the events before them can't be trusted";
            return report.add_warning_check("tables", Err(why.into()));
        }
    };
    let events = format!("{} verified, decoded and folded", state.head().0);
    report.add_check("events", Ok(events));
    match reader.tables_state() {
        Ok(TablesState::UpTo(_)) => {
            for TableCheck { table, result } in tables {
                let result = result.map(|hash| format!("{} rows, hash {hash}", hash.rows()));
                let result = result.map_err(|flaw| format!("{flaw}: run `tslp rebuild`"));
                report.add_check(table.name, result);
            }
            let restored = reader.state().map(|_| "fits the rows".to_owned());
            let advice = |why| format!("{why}: run `tslp rebuild`");
            report.add_check("hash of the rows", restored.map_err(advice));
        }
        // What an older tslp folded is no failure: nothing believes it.
        Ok(TablesState::Rebuild { reason }) => {
            let why = format!("not compared: {reason}, so the next start rebuilds them");
            report.add_warning_check("tables", Err(why));
        }
        Err(error) => report.add_check("tables", Err(error.to_string())),
    }
}

/// Throws every projection away and folds it anew. Returns one line for each table: its rows and their hash, which
/// [`verify_subject`] shows, too, and whether that is what it held before.
///
/// # Errors
/// When the ledger is in use, damaged, or can't be written.
pub fn rebuild_tables(
    options: &OpenOptions,
    data_dir: &Path,
    workspace: &Path,
) -> Result<Vec<String>, StartError> {
    let mut opened = options.open(data_dir, workspace)?;
    let hash_of = |log: &SqliteLog, table| log.rows_hash_until(table, Seq(u64::MAX));
    // A table that can't be read counts as another one.
    let before: Vec<_> = (0..TABLES.len())
        .map(|table| hash_of(&opened.log, table).ok())
        .collect();
    startup::rebuild_tables(&mut opened.log)?;
    opened.log.make_durable()?;
    let lines = TABLES.iter().enumerate().map(|(index, table)| {
        let hash = hash_of(&opened.log, index)?;
        let changed = if before[index] == Some(hash) {
            "unchanged"
        } else {
            "CHANGED"
        };
        Ok(format!(
            "{:<17} {:>9} rows  {hash}  {changed}",
            table.name,
            hash.rows()
        ))
    });
    lines.collect()
}
