//! Code that couldn't be read: lines of files at which the parser failed. Definitions there are never true, so a user who misses one
//! should see where to look.

use std::path::Path;
use std::sync::Arc;

use tslp_core::extract::{ExtractError, Extraction, Grammars as _};
use tslp_core::limits::PARSE_BYTES_MAX;
use tslp_core::path::RelPath;
use tslp_grammars::{MARKS_MAX, TOKENS_MAX, TreeSitterGrammars};

use crate::observer::{EtvConfig, FileReader};

/// Lines named of one file.
const LINES_MAX: usize = 8;

/// Source that is read for one page: half a second's work.
const BYTES_MAX: usize = 1 << 20;

/// The lines that couldn't be read, each once, in order.
pub fn unread_lines(source: &[u8], extraction: &Extraction) -> Vec<usize> {
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
pub fn unread_words(path: &str, lines: &[usize]) -> String {
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
pub fn in_files(
    workspace: &Path,
    paths: impl IntoIterator<Item = RelPath>,
) -> (Vec<String>, usize) {
    let reader = FileReader::open(
        workspace,
        EtvConfig::default(),
        Arc::new(TreeSitterGrammars),
    );
    let (mut unread, mut left_out, mut bytes) = (Vec::new(), 0, 0);
    for path in paths {
        // Counted after the fact: one file more than the bound is better than a file that is never looked at.
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
