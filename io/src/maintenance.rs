//! `tslp verify` and `rebuild`: acts of the user on a ledger that no proxy is using.

use std::ops::ControlFlow;
use std::path::Path;

use tslp_projections::TABLES;
use tslp_projections::state::State;
use tslp_projections::table::TableDigest;
use tslp_store::ledger::archive_check::ArchiveResult;
use tslp_store::ledger::history;
use tslp_store::ledger::{LedgerReader, OpenOptions, SqliteLog, TablesState};
use tslp_store::startup::{self, StartError};

use crate::diagnostics::DiagnosedSubject;
use crate::diagnostics::doctor::{self, DoctorReport};
use crate::state_check;

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
    let go_on = |_| ControlFlow::Continue(());
    let end = reader.head().map_err(StartError::from);
    let folded = end.and_then(|end| history::fold_history(reader, end, go_on));
    let (state, archives) = match folded.map(|folded| folded.expect("nobody breaks it off")) {
        Ok(folded) => folded,
        Err(error) => {
            report.add_ledger_check("events", Err(&error));
            let why = "not compared, because the events before them can't be trusted";
            return report.add_warning_check("tables", Err(why.into()));
        }
    };
    let head = state.head();
    let events = format!("{} verified, decoded and folded", head.0);
    report.add_check("events", Ok(events));
    match reader.tables_state() {
        Ok(TablesState::Current | TablesState::Doubtful { .. }) => {
            for (index, table) in TABLES.iter().enumerate() {
                let archive = archives.iter().find(|archive| archive.table == index);
                let compared = match archive {
                    Some(archive) => archive_result(reader, archive),
                    None => compare_table(reader, &state, index),
                };
                report.add_check(table.name, compared);
            }
            state_check::check_both_folds(reader, &state, report);
        }
        // What an older tslp folded is no failure: nothing believes it.
        Ok(TablesState::Rebuild { reason }) => {
            let why = format!("not compared: {reason}, so the next start rebuilds them");
            report.add_warning_check("tables", Err(why));
        }
        Err(error) => report.add_check("tables", Err(error.to_string())),
    }
    // Looked at last: the comparisons above aren't one moment's.
    if reader.head().is_ok_and(|now| now.seq != head) {
        report.add_warning_check(
            "concurrency",
            Err("a proxy wrote meanwhile, so tables may differ; stop it and verify again".into()),
        );
    }
}

/// The result for an archive. Its digest is the stored table's, which has been checked row by row.
fn archive_result(reader: &LedgerReader, archive: &ArchiveResult) -> Result<String, String> {
    if let Err(flaw) = &archive.rows {
        return Err(format!("{flaw}: run `tslp rebuild`"));
    }
    let stored = startup::stored_digest(reader, archive.table);
    let digest = stored.map_err(|error| error.to_string())?;
    Ok(digest_text(&digest))
}

fn digest_text(digest: &TableDigest) -> String {
    format!("{} rows, digest {digest}", digest.rows())
}

fn compare_table(reader: &LedgerReader, state: &State, table: usize) -> Result<String, String> {
    let stored = startup::stored_digest(reader, table);
    let stored = stored.map_err(|error| format!("run `tslp rebuild`: {error}"))?;
    let expected = state.digest(table);
    if stored == expected {
        return Ok(digest_text(&stored));
    }
    Err(format!(
        "{} rows with digest {stored}, but the ledger says {} rows with digest {expected}: run `tslp rebuild`",
        stored.rows(),
        expected.rows(),
    ))
}

/// Throws every projection away and folds it anew. Returns one line for each table: its rows and their digest, which
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
    let digests = |log: &SqliteLog| -> Vec<_> {
        // A table that can't be read counts as another one.
        let digest = |table| startup::stored_digest(log, table).ok();
        (0..TABLES.len()).map(digest).collect()
    };
    let before = digests(&opened.log);
    startup::rebuild_tables(&mut opened.log)?;
    opened.log.make_durable()?;
    let lines = TABLES.iter().enumerate().map(|(index, table)| {
        let digest = startup::stored_digest(&opened.log, index)?;
        let changed = if before[index] == Some(digest) {
            "unchanged"
        } else {
            "CHANGED"
        };
        Ok(format!(
            "{:<17} {:>9} rows  {digest}  {changed}",
            table.name,
            digest.rows()
        ))
    });
    lines.collect()
}
