//! Whether all code of the tracked files can be read.

use std::collections::BTreeSet;

use tslp_core::path::RelPath;
use tslp_workspace::unread_code;

use tslp_store::ledger::LedgerReader;

use super::DiagnosedSubject;

/// Files named on a page.
const FILES_MAX: usize = 5;

/// Whether all code of the tracked files can be read, as it is on disk.
///
/// # Errors
/// The files and lines that can't be read, or why the ledger can't be.
pub(crate) fn of_tracked(
    subject: &DiagnosedSubject,
    reader: &LedgerReader,
) -> Result<String, String> {
    let files = reader.tracked_files();
    let files = files.map_err(|error| error.to_string())?.into_iter();
    let paths: BTreeSet<RelPath> = files.map(|(path, _)| path).collect();
    let count = paths.len();
    let (unread, left_out) = unread_code::in_files(&subject.settings.workspace, paths);
    let looked_at = match left_out {
        0 => format!("{count} tracked files"),
        left_out => format!("the first {} of {count} tracked files", count - left_out),
    };
    if unread.is_empty() {
        return Ok(format!("all code of {looked_at} can be read"));
    }
    let named: Vec<&str> = unread.iter().take(FILES_MAX).map(String::as_str).collect();
    let more = match unread.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more files"),
    };
    Err(format!(
        "of {looked_at}, this can't be read, so what is defined there is never true: {}{more}",
        named.join("; ")
    ))
}
