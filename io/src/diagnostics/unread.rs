//! Code that couldn't be read: lines of tracked files at which the parser failed. Definitions there are never true, so a user
//! who misses one should see where to look.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use tslp_core::extract::{ExtractError, Extraction, Grammars as _};
use tslp_core::limits::PARSE_BYTES_MAX;
use tslp_core::path::RelPath;
use tslp_grammars::{MARKS_MAX, TOKENS_MAX, TreeSitterGrammars};
use tslp_projections::state_map::StateMapRow;

use crate::config::settings::EtvConfig;
use crate::ledger::{LedgerError, LedgerReader};
use crate::observer::FileReader;

use super::DiagnosedSubject;

/// Lines named of one file.
const LINES_MAX: usize = 8;

/// Files named on a page.
const FILES_MAX: usize = 5;

/// Source that is read for one page: a second's work.
const BYTES_MAX: usize = 8 << 20;

/// The lines that couldn't be read, each once, in order.
pub(crate) fn unread_lines(source: &[u8], extraction: &Extraction) -> Vec<usize> {
    let mut lines = Vec::new();
    let (mut line, mut at) = (1, 0);
    for unread in &extraction.unread {
        let start = (unread.start as usize).clamp(at, source.len());
        line += source[at..start]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        at = start;
        if lines.last() != Some(&line) {
            lines.push(line);
        }
    }
    lines
}

/// `src/a.c: line 3`, `src/b.c: lines 3, 9 and 4 more`.
pub(crate) fn unread_words(path: &str, lines: &[usize]) -> String {
    let named: Vec<String> = lines.iter().take(LINES_MAX).map(usize::to_string).collect();
    let more = match lines.len().saturating_sub(LINES_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match lines {
        [] => path.to_owned(),
        [line] => format!("{path}: line {line}"),
        _ => format!("{path}: lines {}{more}", named.join(", ")),
    }
}

/// What couldn't be read of a file's text, if anything couldn't.
fn of_text(path: &RelPath, source: &[u8]) -> Option<String> {
    let language = TreeSitterGrammars.language_of_path(path)?;
    let name = path.as_str();
    match TreeSitterGrammars.extract(language, source) {
        Ok(extraction) if extraction.clean => None,
        Ok(extraction) => Some(unread_words(
            path.as_str(),
            &unread_lines(source, &extraction),
        )),
        Err(ExtractError::TooLarge) => Some(format!(
            "{name}: all of it, for it is larger than the {} KiB that are parsed at once, and no \
             definition at the margin shows where to cut it; it has to be split",
            PARSE_BYTES_MAX >> 10
        )),
        Err(ExtractError::TooDense) => Some(format!(
            "{name}: all of it, for it has more than the {TOKENS_MAX} tokens (outside of C and C++ {MARKS_MAX} words \
             and marks) that are parsed at once; it has to be split"
        )),
        Err(ExtractError::Unparsable) => Some(format!(
            "{name}: all of it, for the parser gave up in its bounded time"
        )),
    }
}

/// What couldn't be read of the files whose paths begin so: a sentence for each, and how many were too much to look at.
pub(crate) fn in_files(
    workspace: &std::path::Path,
    paths: impl IntoIterator<Item = RelPath>,
) -> (Vec<String>, usize) {
    let reader = FileReader::open(
        workspace,
        EtvConfig::default(),
        Arc::new(TreeSitterGrammars),
    );
    let (mut unread, mut left_out, mut bytes) = (Vec::new(), 0, 0);
    for path in paths {
        if bytes >= BYTES_MAX {
            left_out += 1;
        } else if let Ok(reader) = &reader
            && let Ok(Some(source)) = reader.read(&path)
        {
            bytes += source.len();
            unread.extend(of_text(&path, &source));
        }
    }
    (unread, left_out)
}

/// Whether all code of the tracked files can be read, as it is on disk.
///
/// # Errors
/// The files and lines that can't be read, or why the ledger can't be.
pub(crate) fn of_tracked(
    subject: &DiagnosedSubject,
    reader: &LedgerReader,
) -> Result<String, String> {
    let paths = tracked_files(reader).map_err(|error| error.to_string())?;
    let count = paths.len();
    let (unread, left_out) = in_files(&subject.workspace, paths);
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

fn tracked_files(reader: &LedgerReader) -> Result<BTreeSet<RelPath>, LedgerError> {
    let mut paths = BTreeSet::new();
    reader.visit_rows(&mut |row: StateMapRow| {
        paths.insert(row.entity.path);
        ControlFlow::Continue(())
    })?;
    Ok(paths)
}
