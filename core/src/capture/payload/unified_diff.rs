//! Unified diffs, fenced or bare. Models often get line numbers wrong, so hunks are placed by their lines.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::sections::{FileSection, ParsedEdits};
use crate::capture::line::{line_at, lines_from, without_end};
use crate::capture::path_hint::PathHint;
use crate::edit::{Edit, EditPosition, Hunk, Malformed, MatchUnit};
use crate::event::Format;

/// Whether a line, with the one after it, has the mark of a diff.
pub(super) fn has_diff_mark(line: &str, next: &str) -> bool {
    let line = without_end(line);
    line.starts_with("diff --git ")
        || line.starts_with("@@ ")
        || line == "@@"
        || line.starts_with("--- ") && next.starts_with("+++ ")
        || is_rename(line, next)
}

/// The end of a bare diff that starts at a line, if one does. Empty lines belong to it only if more of it follows.
pub(super) fn bare_diff_end(text: &str, at: usize) -> Option<usize> {
    if !opens_bare_diff(text, at) {
        return None;
    }
    let mut reader = DiffReader::new(text, at);
    let mut end = at;
    while let Some((start, line)) = reader.next_line() {
        if reader.ends_at_blank(line) || reader.read_line(start, line).is_err() {
            break;
        }
        if !line.trim_end_matches('\r').is_empty() {
            end = reader.at;
        }
    }
    Some(end)
}

fn opens_bare_diff(text: &str, at: usize) -> bool {
    let mut lines = lines_from(text, at).map(|(_, line)| line);
    let mut next_line = || lines.next().unwrap_or_default();
    let line = next_line();
    let next = next_line();
    if line.starts_with("diff --git ") {
        let mut starts = PLAIN_LINES.iter().chain(&OPENING_LINES);
        return starts.any(|start| next.starts_with(start));
    }
    is_rename(line, next)
        || line.starts_with("--- ") && next.starts_with("+++ ") && next_line().starts_with("@@")
}

/// Whether two lines are git's headers of a file that gets another path.
fn is_rename(line: &str, next: &str) -> bool {
    line.starts_with("rename from ") && next.starts_with("rename to ")
}

/// The beginnings of header lines that say nothing of an edit.
const PLAIN_LINES: [&str; 5] = [
    "index ",
    "old mode ",
    "new mode ",
    "similarity index ",
    "dissimilarity index ",
];

/// The beginnings of other lines that may follow `diff --git`.
const OPENING_LINES: [&str; 5] = [
    "--- ",
    "new file mode ",
    "deleted file mode ",
    "rename from ",
    "copy from ",
];

/// The beginnings of header lines whose edits can't be read.
const UNREAD_LINES: [&str; 4] = [
    "copy from ",
    "copy to ",
    "Binary files ",
    "GIT binary patch",
];

/// Reads a text that holds one diff. Prose may come before the first header if the text is declared a diff. A diff without a
/// header and without `@@` is one hunk.
pub(super) fn read(piece: &str, is_declared: bool) -> ParsedEdits {
    let start = first_mark(piece).unwrap_or_default();
    let mut is_sound = piece[..start]
        .lines()
        .all(|line| line.trim().is_empty() || is_declared && !line.starts_with(['+', '-']));
    let mut reader = DiffReader::new(piece, start);
    while let Some((start, line)) = reader.next_line() {
        is_sound &= reader.read_line(start, line).is_ok();
    }
    let sections = reader.files.into_iter().map(FileDiff::into_section);
    ParsedEdits::new(Format::UnifiedDiff, sections.collect(), is_sound)
}

fn first_mark(piece: &str) -> Option<usize> {
    let mut lines = lines_from(piece, 0).peekable();
    while let Some((at, line)) = lines.next() {
        let next = lines.peek().map_or("", |(_, line)| *line);
        if has_diff_mark(line, next) {
            return Some(at);
        }
    }
    None
}

struct DiffReader<'t> {
    text: &'t str,
    at: usize,
    files: Vec<FileDiff>,
}

/// One file of the diff, as read so far.
#[derive(Default)]
struct FileDiff {
    start: usize,
    /// `diff --git` came, and no `---` yet.
    announced: bool,
    git: Option<(String, String)>,
    old: Option<String>,
    new: Option<String>,
    rename_from: Option<String>,
    rename_to: Option<String>,
    created: bool,
    deleted: bool,
    hunks: Vec<HunkText>,
    flawed: bool,
}

#[derive(Default)]
struct HunkText {
    old: HunkSide,
    new: HunkSide,
    /// The numbers of its heading: lines on both sides.
    counts: Option<(u32, u32)>,
    from_nothing: bool,
    /// The number of blank lines without a mark read last; they belong to the hunk only if more of it follows.
    blanks: u32,
    changes: bool,
    last_mark: Option<char>,
}

#[derive(Default)]
struct HunkSide {
    text: String,
    lines: u32,
    /// Whether its last line has no newline.
    is_bare: bool,
}

impl<'t> DiffReader<'t> {
    fn new(text: &'t str, at: usize) -> Self {
        Self {
            text,
            at,
            files: Vec::new(),
        }
    }

    /// The start of the next line, and the line without its newline.
    fn next_line(&mut self) -> Option<(usize, &'t str)> {
        let range = line_at(self.text, self.at);
        self.at = range.end;
        let line = self.text[range.clone()].trim_end_matches('\n');
        (!range.is_empty()).then_some((range.start, line))
    }

    /// Whether a blank line ends a bare diff: its last hunk has all that its heading promises.
    fn ends_at_blank(&self, line: &str) -> bool {
        let hunk = self.files.last().and_then(|file| file.hunks.last());
        line.trim().is_empty()
            && hunk.is_some_and(|hunk| hunk.counts == Some((hunk.old.lines, hunk.new.lines)))
    }

    /// Reads the line that `self.at` is after.
    fn read_line(&mut self, start: usize, line: &str) -> Result<(), Malformed> {
        let text = line.trim_end_matches('\r');
        let git = text.strip_prefix("diff --git ");
        if git.is_some() || text.starts_with("Index: ") {
            self.files.push(FileDiff {
                announced: true,
                git: git.and_then(git_paths),
                ..FileDiff::at(start)
            });
            return Ok(());
        }
        if self.is_header(line) {
            self.start_file(start, text);
            return Ok(());
        }
        if text.starts_with("@@") {
            if self.files.is_empty() {
                self.files.push(FileDiff::default());
            }
            let file = self.files.last_mut().ok_or(Malformed)?;
            file.announced = false;
            file.hunks.push(HunkText::with_heading(text));
            return Ok(());
        }
        let file = self.files.last_mut();
        match file.and_then(|file| file.hunks.last_mut()) {
            Some(hunk) => hunk.read_line(line),
            None => self.read_extended_header(start, line),
        }
    }

    /// `--- old` with `+++ new` below it. Within a hunk it could be a removed line, so more is asked there.
    fn is_header(&self, line: &str) -> bool {
        if !line.starts_with("--- ") {
            return false;
        }
        let next = line_at(self.text, self.at);
        let third = line_at(self.text, next.end);
        let hunk = self.files.last().and_then(|file| file.hunks.last());
        let promised = hunk.is_some_and(|hunk| {
            hunk.counts
                .is_some_and(|(old, new)| hunk.old.lines < old && hunk.new.lines < new)
        });
        self.text[next].starts_with("+++ ")
            && !promised
            && (hunk.is_none() || self.text[third].starts_with("@@"))
    }

    fn start_file(&mut self, start: usize, old: &str) {
        let next = line_at(self.text, self.at);
        self.at = next.end;
        let announced = self
            .files
            .pop_if(|file| file.announced && file.hunks.is_empty());
        self.files.push(FileDiff {
            announced: false,
            old: Some(header_path(&old[4..])),
            new: Some(header_path(&without_end(&self.text[next])[4..])),
            ..announced.unwrap_or_else(|| FileDiff::at(start))
        });
    }

    /// A line after a file's header and before its first hunk.
    fn read_extended_header(&mut self, start: usize, line: &str) -> Result<(), Malformed> {
        let text = line.trim_end_matches('\r');
        if text.trim().is_empty() {
            return Ok(());
        }
        let is_body = text.starts_with(['+', '-', ' ']);
        let renames = text.starts_with("rename from ");
        if (is_body || renames) && self.files.is_empty() {
            self.files.push(FileDiff {
                announced: renames,
                ..FileDiff::at(start)
            });
        }
        let file = self.files.last_mut().ok_or(Malformed)?;
        let begins_with = |starts: &[&str]| starts.iter().any(|start| text.starts_with(start));
        if let Some(path) = text.strip_prefix("rename from ") {
            file.rename_from = Some(path.trim().to_string());
        } else if let Some(path) = text.strip_prefix("rename to ") {
            file.rename_to = Some(path.trim().to_string());
        } else if text.starts_with("new file mode ") {
            file.created = true;
        } else if text.starts_with("deleted file mode ") {
            file.deleted = true;
        } else if begins_with(&UNREAD_LINES) {
            file.flawed = true;
        } else if is_body && !file.announced {
            file.hunks.push(HunkText::default());
            return self.read_line(start, line);
        } else if !begins_with(&PLAIN_LINES) && !text.starts_with("=====") {
            return Err(Malformed);
        }
        Ok(())
    }
}

impl HunkText {
    fn with_heading(heading: &str) -> Self {
        Self {
            counts: heading_counts(heading),
            from_nothing: heading.starts_with("@@ -0,0 "),
            ..Self::default()
        }
    }

    fn read_line(&mut self, line: &str) -> Result<(), Malformed> {
        if line.trim_end_matches('\r').is_empty() {
            self.blanks += 1;
            return Ok(());
        }
        let mark = match line.chars().next() {
            Some(mark @ (' ' | '+' | '-' | '\\')) => mark,
            _ => return Err(Malformed),
        };
        if mark == '\\' {
            return self.drop_newline();
        }
        for _ in 0..core::mem::take(&mut self.blanks) {
            // On a side that has ended, a blank line is no line of the file.
            let _ = self.push(' ', "");
        }
        self.push(mark, &line[1..])
    }

    fn push(&mut self, mark: char, line: &str) -> Result<(), Malformed> {
        if self.sides_with(mark).any(|side| side.is_bare) {
            return Err(Malformed);
        }
        for side in self.sides_with(mark) {
            side.text.push_str(line);
            side.text.push('\n');
            side.lines += 1;
        }
        self.changes |= mark != ' ';
        self.last_mark = Some(mark);
        Ok(())
    }

    /// The sides that a line with this mark belongs to.
    fn sides_with(&mut self, mark: char) -> impl Iterator<Item = &mut HunkSide> {
        let old = (mark != '+').then_some(&mut self.old);
        let new = (mark != '-').then_some(&mut self.new);
        old.into_iter().chain(new)
    }

    /// `\ No newline at end of file`, said of the line before.
    fn drop_newline(&mut self) -> Result<(), Malformed> {
        let mark = self.last_mark.ok_or(Malformed)?;
        for side in self.sides_with(mark).filter(|side| !side.is_bare) {
            side.text.pop();
            side.is_bare = true;
        }
        Ok(())
    }

    /// A hunk that only adds lines appends them if it has no line numbers (aider's rule). With numbers it is malformed: numbers
    /// alone aren't trusted to name a position.
    fn into_hunk(self, only: bool) -> Result<Hunk, Malformed> {
        if !self.changes || self.adds_only() && !(only && self.counts.is_none()) {
            return Err(Malformed);
        }
        if self.adds_only() {
            return Ok(Hunk::Append(self.new.text));
        }
        Ok(Hunk::Replace {
            old: self.old.text,
            new: self.new.text,
            place: EditPosition::Once,
            unit: MatchUnit::Lines,
        })
    }

    fn adds_only(&self) -> bool {
        self.old.text.is_empty()
    }
}

/// The counts of `@@ -1,2 +3,4 @@`; a missing one is 1.
fn heading_counts(heading: &str) -> Option<(u32, u32)> {
    let mut words = heading.trim_start_matches('@').split_whitespace();
    let count = |word: &str, mark: char| {
        let numbers = word.strip_prefix(mark)?;
        let (start, count) = numbers.split_once(',').unwrap_or((numbers, "1"));
        start.parse::<u32>().ok()?;
        count.parse().ok()
    };
    Some((count(words.next()?, '-')?, count(words.next()?, '+')?))
}

/// `a/x b/x`; names with spaces are read from the lines below.
fn git_paths(paths: &str) -> Option<(String, String)> {
    let (old, new) = paths.split_once(' ')?;
    (!new.contains([' ', '"']) && !old.contains('"'))
        .then(|| (old.to_string(), new.trim().to_string()))
}

/// The path of a header line, without the time that may follow it.
fn header_path(written: &str) -> String {
    let path = written.split('\t').next().unwrap_or(written).trim();
    let quoted = path
        .strip_prefix('"')
        .and_then(|path| path.strip_suffix('"'));
    quoted.unwrap_or(path).to_string()
}

const NOTHING: &str = "/dev/null";

impl FileDiff {
    fn at(start: usize) -> Self {
        Self {
            start,
            ..Self::default()
        }
    }

    fn into_section(self) -> FileSection {
        let start = self.start;
        let (old, new) = self.old_and_new_path();
        let path = old.clone().or_else(|| new.clone());
        FileSection {
            start,
            hint: path.map(PathHint::header),
            edit: self.into_edit(old, new),
        }
    }

    /// The paths before and after; `None` if the file is created or deleted, or the diff names none.
    fn old_and_new_path(&self) -> (Option<String>, Option<String>) {
        if let (Some(from), Some(to)) = (&self.rename_from, &self.rename_to) {
            return (Some(from.clone()), Some(to.clone()));
        }
        let (old, new) = match (&self.old, &self.new, &self.git) {
            (Some(old), Some(new), _) | (_, _, Some((old, new))) => (old.as_str(), new.as_str()),
            _ => return (None, None),
        };
        let prefixed = |path: &str, prefix: &str| path.starts_with(prefix) || path == NOTHING;
        let strips = prefixed(old, "a/") && prefixed(new, "b/");
        let read = |path: &str| {
            let path = if strips && path != NOTHING {
                &path[2..]
            } else {
                path
            };
            (path != NOTHING && !path.is_empty()).then(|| path.to_string())
        };
        let (old, new) = (read(old), read(new));
        match (&old, &new) {
            (Some(before), Some(after)) if is_backup(before, after) => (new.clone(), new),
            _ if self.created => (None, new),
            _ if self.deleted => (old, None),
            _ => (old, new),
        }
    }

    fn into_edit(self, old: Option<String>, new: Option<String>) -> Result<Edit, Malformed> {
        let names_a_file = self.git.is_some() || self.old.is_some();
        // Git quotes odd names with escapes, which aren't read here.
        let quoted =
            |path: &Option<String>| path.as_ref().is_some_and(|path| path.contains(['\\', '"']));
        if self.flawed || quoted(&old) || quoted(&new) {
            return Err(Malformed);
        }
        let only = self.hunks.len() == 1;
        let makes_a_file = match self.hunks.as_slice() {
            [] => self.created,
            // `@@ -0,0 +1,9 @@`: nothing was there before.
            [hunk] => hunk.adds_only() && (hunk.from_nothing || old.is_none() && names_a_file),
            _ => false,
        };
        match (old, new) {
            (None, None) if names_a_file => Err(Malformed),
            (Some(_), None) => Ok(Edit::Delete),
            (Some(old), Some(to)) if old != to => Ok(Edit::Move {
                to,
                hunks: into_hunks(self.hunks, only)?,
            }),
            _ if makes_a_file => Ok(Edit::Create(
                self.hunks
                    .into_iter()
                    .next()
                    .map(|hunk| hunk.new.text)
                    .unwrap_or_default(),
            )),
            (None, Some(_)) => Err(Malformed),
            _ if self.hunks.is_empty() => Err(Malformed),
            _ => Ok(Edit::Change(into_hunks(self.hunks, only)?)),
        }
    }
}

fn into_hunks(texts: Vec<HunkText>, only: bool) -> Result<Vec<Hunk>, Malformed> {
    texts.into_iter().map(|text| text.into_hunk(only)).collect()
}

/// `a.c.orig` is what `diff` compares `a.c` with, not a file that is renamed.
fn is_backup(old: &str, new: &str) -> bool {
    matches!(old.strip_prefix(new), Some(".orig" | ".old" | ".bak" | "~"))
}

#[cfg(test)]
mod tests;
