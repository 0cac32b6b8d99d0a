//! `tslp verify`, `rebuild` and `salvage`: acts of the user on a ledger that no proxy is using.

use std::path::Path;

use tslp_core::ids::Seq;
use tslp_projections::TABLES;
use tslp_projections::state::State;
use tslp_projections::table::TableDigest;
use tslp_replay::fold::ChainCheck;
use tslp_replay::log::{Log, Stored};

use crate::archive_check::ArchiveResult;
use crate::diagnostics::DiagnosedSubject;
use crate::diagnostics::doctor::{self, DoctorReport};
use crate::ledger::{LedgerError, LedgerReader, OpenOptions, SqliteLog, TablesState};
use crate::startup::{self, NewProgress, StartError};
use crate::state_check;

/// Events written to a new ledger in one transaction.
const SALVAGE_BATCH: usize = 4096;

/// An error of a salvage.
#[derive(Debug, thiserror::Error)]
pub enum SalvageError {
    /// The old or the new ledger can't be opened or read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Another version of tslp wrote the old ledger. Its events would be left behind.
    #[error("nothing was salvaged: {0}")]
    OtherVersion(Box<StartError>),
    /// The new ledger's projections can't be made.
    #[error(transparent)]
    Rebuild(Box<StartError>),
    /// The new ledger isn't empty.
    #[error("{0} holds a ledger already; name a folder that doesn't exist yet")]
    NotEmpty(String),
    /// The new ledger takes no events.
    #[error("the new ledger can't be written: {0}")]
    Append(String),
}

/// The result of a salvage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SalvageResult {
    /// The last event of the new ledger.
    pub head: Seq,
    /// The error at the next event, if the old ledger goes on.
    pub flaw: Option<String>,
}

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
    let folded = startup::fold_checked(|visit| reader.read(Seq(1), visit), reader);
    let (state, archives) = match folded {
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
    let stored = startup::stored_digest(|visit| reader.read_table(archive.table, visit));
    let digest = stored.map_err(|error| error.to_string())?;
    Ok(digest_text(&digest))
}

fn digest_text(digest: &TableDigest) -> String {
    format!("{} rows, digest {digest}", digest.rows())
}

fn compare_table(reader: &LedgerReader, state: &State, table: usize) -> Result<String, String> {
    let stored = startup::stored_digest(|visit| reader.read_table(table, visit));
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
    bar: NewProgress,
) -> Result<Vec<String>, StartError> {
    let mut opened = options.open(data_dir, workspace)?;
    let digests = |log: &SqliteLog| -> Vec<_> {
        // A table that can't be read counts as another one.
        let digest = |table| startup::stored_digest(|visit| log.read_table(table, visit)).ok();
        (0..TABLES.len()).map(digest).collect()
    };
    let before = digests(&opened.log);
    startup::rebuild_tables(&mut opened.log, bar)?;
    opened.log.make_durable()?;
    let lines = TABLES.iter().enumerate().map(|(index, table)| {
        let digest = startup::stored_digest(|visit| opened.log.read_table(index, visit))?;
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

/// Copies the longest valid prefix of a ledger into a new one, opened with `options`. The old one is only read.
///
/// # Errors
/// See [`SalvageError`].
pub fn salvage_ledger(
    options: &OpenOptions,
    from: &LedgerReader,
    to: &Path,
    workspace: &Path,
    bar: NewProgress,
) -> Result<SalvageResult, SalvageError> {
    if let Err(error) = startup::verify_chain(from)
        && error.is_other_version()
    {
        return Err(SalvageError::OtherVersion(Box::new(error)));
    }
    let mut opened = options.open(to, workspace)?;
    if opened.log.head()?.seq != Seq(0) {
        return Err(SalvageError::NotEmpty(to.display().to_string()));
    }
    let mut chain = ChainCheck::default();
    let mut waiting: Vec<Stored> = Vec::new();
    let mut written = Ok(());
    let read = startup::visit_all(
        |visit| from.read(Seq(1), visit),
        |stored| {
            chain.step_decoded(stored, tslp_migrations::decode)?;
            waiting.push(stored.clone());
            if waiting.len() == SALVAGE_BATCH && written.is_ok() {
                written = append_waiting(&mut opened.log, &mut waiting);
            }
            Ok(())
        },
    );
    written.and_then(|()| append_waiting(&mut opened.log, &mut waiting))?;
    let head = chain.head().seq;
    let rebuilt = startup::rebuild_tables(&mut opened.log, bar);
    rebuilt.map_err(|error| SalvageError::Rebuild(Box::new(error)))?;
    Ok(SalvageResult {
        head,
        flaw: read.err().map(|error| match error {
            StartError::Damaged(flaw) => flaw.to_string(),
            other => other.to_string(),
        }),
    })
}

fn append_waiting(log: &mut SqliteLog, waiting: &mut Vec<Stored>) -> Result<(), SalvageError> {
    log.append_waiting(waiting).map_err(SalvageError::Append)
}
