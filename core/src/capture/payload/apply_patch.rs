//! `apply_patch` envelopes: `*** Begin Patch` … `*** End Patch`, also in a heredoc.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::sections::{FileSection, ParsedEdits};
use crate::capture::line::{lines_from, without_end};
use crate::capture::path_hint::PathHint;
use crate::edit::{Edit, EditPosition, Hunk, Malformed, MatchUnit};
use crate::event::Format;

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";

/// Whether a line has the mark of a patch.
pub(super) fn has_patch_mark(line: &str) -> bool {
    begins_patch(line)
        || [ADD, DELETE, UPDATE]
            .iter()
            .any(|header| line.starts_with(header))
}

/// Whether a line begins a patch.
pub(super) fn begins_patch(line: &str) -> bool {
    line.trim() == BEGIN
}

/// Whether a line hands a heredoc to the tool, and the line after it begins the patch.
pub(super) fn opens_heredoc(line: &str, next: &str) -> bool {
    line.contains("apply_patch") && line.contains("<<") && begins_patch(next)
}

/// The end of a bare patch that starts at `at`, its heredoc's end included. The flag is whether it has an end marker.
pub(super) fn bare_patch_end(text: &str, at: usize) -> (usize, bool) {
    let mut lines = lines_from(text, at);
    let word = lines.next().and_then(|(_, line)| heredoc_word(line));
    let Some((start, line)) = lines.find(|(_, line)| line.trim() == END) else {
        return (text.len(), false);
    };
    let end = start + line.len();
    let closes = |line: &str| word.is_some_and(|word| line.trim().starts_with(word));
    match lines.next() {
        Some((start, line)) if closes(line) => (start + line.len(), true),
        _ => (end, true),
    }
}

/// The word that ends a heredoc: of `<<'EOF'` it is `EOF`.
fn heredoc_word(line: &str) -> Option<&str> {
    let (_, after) = line.split_once("<<")?;
    let word = after.trim_start_matches(['-', ' ', '\'', '"', '\\']);
    let end = word
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(word.len());
    (end > 0).then(|| &word[..end])
}

/// Reads a piece of text that is one patch, at most with a shell command around it. A patch that can't be read to its end
/// changes no file.
pub(super) fn read(piece: &str) -> ParsedEdits {
    let mut reader = PatchReader {
        place: EnvelopePosition::Before,
        folder: None,
        word: None,
        sections: Vec::new(),
    };
    let mut is_sound = true;
    for (at, line) in lines_from(piece, 0) {
        is_sound &= reader.read_line(at, without_end(line)).is_ok();
    }
    let sections = reader.sections.into_iter().map(FilePatch::into_section);
    let sections: Vec<FileSection> = sections.collect();
    is_sound &= reader.place == EnvelopePosition::After;
    is_sound &= sections.iter().all(|section| section.edit.is_ok());
    ParsedEdits::new(Format::ApplyPatch, sections, is_sound)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EnvelopePosition {
    Before,
    Inside,
    After,
}

struct PatchReader {
    place: EnvelopePosition,
    /// The folder that the shell changes to first.
    folder: Option<String>,
    word: Option<String>,
    sections: Vec<FilePatch>,
}

/// One file of the patch, as read so far.
struct FilePatch {
    start: usize,
    path: String,
    action: FileAction,
}

enum FileAction {
    Add(String),
    Delete,
    Update {
        to: Option<String>,
        chunks: Vec<PatchChunk>,
    },
}

#[derive(Default)]
struct PatchChunk {
    context: Option<String>,
    old: String,
    new: String,
    empty: bool,
    at_end: bool,
}

impl PatchReader {
    fn read_line(&mut self, at: usize, line: &str) -> Result<(), Malformed> {
        match self.place {
            EnvelopePosition::Before => self.read_before(line),
            EnvelopePosition::Inside => self.read_inside(at, line),
            EnvelopePosition::After => self.read_after(line),
        }
    }

    fn read_before(&mut self, line: &str) -> Result<(), Malformed> {
        if begins_patch(line) {
            self.place = EnvelopePosition::Inside;
            return Ok(());
        }
        if line.trim().is_empty() {
            return Ok(());
        }
        let calls = line.contains("apply_patch") || line.contains("<<");
        if !calls || self.word.is_some() {
            return Err(Malformed);
        }
        self.word = heredoc_word(line).map(ToString::to_string);
        self.folder = shell_folder(line)?.map(ToString::to_string);
        Ok(())
    }

    fn read_after(&self, line: &str) -> Result<(), Malformed> {
        let rest = line.trim();
        let rest = match &self.word {
            Some(word) => rest.strip_prefix(word.as_str()).unwrap_or(rest),
            None => rest,
        };
        let is_shell = rest
            .chars()
            .all(|c| matches!(c, '"' | '\'' | ')' | ']' | '}' | ';' | ' '));
        if is_shell { Ok(()) } else { Err(Malformed) }
    }

    fn read_inside(&mut self, at: usize, line: &str) -> Result<(), Malformed> {
        if line.trim() == END {
            self.place = EnvelopePosition::After;
            return Ok(());
        }
        if let Some((path, action)) = file_header(line) {
            let path = self.path_from_root(path)?;
            self.sections.push(FilePatch {
                start: at,
                path,
                action,
            });
            return Ok(());
        }
        if let Some(path) = line.trim_end().strip_prefix(MOVE) {
            let path = self.path_from_root(path)?;
            return match self.sections.last_mut().map(|file| &mut file.action) {
                Some(FileAction::Update { to, chunks, .. })
                    if to.is_none() && chunks.is_empty() =>
                {
                    *to = Some(path);
                    Ok(())
                }
                _ => Err(Malformed),
            };
        }
        match self.sections.last_mut() {
            Some(file) => file.action.read_line(line),
            None if line.trim().is_empty() => Ok(()),
            None => Err(Malformed),
        }
    }

    /// A path of the patch, seen from the folder that the shell was in before.
    fn path_from_root(&self, written: &str) -> Result<String, Malformed> {
        let written = written.trim();
        match &self.folder {
            _ if written.is_empty() => Err(Malformed),
            Some(folder) if !written.starts_with('/') => {
                Ok(format!("{}/{written}", folder.trim_end_matches('/')))
            }
            _ => Ok(written.to_string()),
        }
    }
}

fn file_header(line: &str) -> Option<(&str, FileAction)> {
    let line = line.trim_end();
    if let Some(path) = line.strip_prefix(ADD) {
        return Some((path, FileAction::Add(String::new())));
    }
    if let Some(path) = line.strip_prefix(DELETE) {
        return Some((path, FileAction::Delete));
    }
    let path = line.strip_prefix(UPDATE)?;
    let action = FileAction::Update {
        to: None,
        chunks: Vec::new(),
    };
    Some((path, action))
}

/// The folder of `cd FOLDER && apply_patch …`; one that isn't a plain word can't be followed.
fn shell_folder(line: &str) -> Result<Option<&str>, Malformed> {
    let mut words = line
        .split_whitespace()
        .skip_while(|word| word.trim_matches(['\'', '"']) != "cd");
    if words.next().is_none() {
        return Ok(None);
    }
    let folder = words.next().ok_or(Malformed)?.trim_matches(['\'', '"']);
    let is_plain =
        !folder.is_empty() && !folder.contains(['$', '~', '`', '\\', '(', ';', '\'', '"']);
    match words.next() {
        Some("&&") if is_plain && !words.any(|word| word == "cd") => Ok(Some(folder)),
        _ => Err(Malformed),
    }
}

impl FileAction {
    fn read_line(&mut self, line: &str) -> Result<(), Malformed> {
        match self {
            Self::Add(text) => match line.strip_prefix('+') {
                Some(added) => {
                    text.push_str(added);
                    text.push('\n');
                    Ok(())
                }
                None if line.trim().is_empty() => Ok(()),
                None => Err(Malformed),
            },
            Self::Delete if line.trim().is_empty() => Ok(()),
            Self::Delete => Err(Malformed),
            Self::Update { chunks, .. } => read_chunk_line(chunks, line),
        }
    }
}

fn read_chunk_line(chunks: &mut Vec<PatchChunk>, line: &str) -> Result<(), Malformed> {
    if let Some(context) = line.strip_prefix("@@") {
        chunks.push(PatchChunk {
            context: context_line(context),
            empty: true,
            ..PatchChunk::default()
        });
        return Ok(());
    }
    if line.trim_end() == END_OF_FILE {
        let chunk = chunks
            .last_mut()
            .filter(|chunk| !chunk.empty && !chunk.at_end);
        chunk.ok_or(Malformed)?.at_end = true;
        return Ok(());
    }
    let is_first = chunks.is_empty();
    if is_first {
        chunks.push(PatchChunk::default());
    }
    let chunk = chunks
        .last_mut()
        .filter(|chunk| !chunk.at_end)
        .ok_or(Malformed)?;
    let (mark, rest) = match line.chars().next() {
        None => (' ', ""),
        Some(mark @ (' ' | '+' | '-')) => (mark, &line[1..]),
        Some(_) => return Err(Malformed),
    };
    chunk.empty = false;
    for side in [
        (mark != '+').then_some(&mut chunk.old),
        (mark != '-').then_some(&mut chunk.new),
    ]
    .into_iter()
    .flatten()
    {
        side.push_str(rest);
        side.push('\n');
    }
    Ok(())
}

/// The context line in `@@ …`; line numbers, as git writes them, are none.
fn context_line(after_mark: &str) -> Option<String> {
    let context = after_mark.trim();
    let is_numbers = context.starts_with('-') && context.contains("@@");
    (!context.is_empty() && !is_numbers).then(|| context.trim_end_matches("@@").trim().to_string())
}

impl FilePatch {
    fn into_section(self) -> FileSection {
        let edit = match self.action {
            FileAction::Add(text) => Ok(Edit::Create(text)),
            FileAction::Delete => Ok(Edit::Delete),
            FileAction::Update { to, chunks } => update_edit(to, chunks),
        };
        FileSection {
            start: self.start,
            hint: Some(PathHint::header(self.path)),
            edit,
        }
    }
}

fn update_edit(to: Option<String>, chunks: Vec<PatchChunk>) -> Result<Edit, Malformed> {
    let hunks = chunks
        .into_iter()
        .map(PatchChunk::into_hunk)
        .collect::<Result<Vec<Hunk>, Malformed>>()?;
    match to {
        Some(to) => Ok(Edit::Move { to, hunks }),
        None if hunks.is_empty() => Err(Malformed),
        None => Ok(Edit::Change(hunks)),
    }
}

impl PatchChunk {
    /// A chunk that only adds lines puts them at the file's end, as the tool does; after a named line that may not be
    /// what is meant.
    fn into_hunk(self) -> Result<Hunk, Malformed> {
        match (self.context, self.old.is_empty()) {
            _ if self.empty => Err(Malformed),
            (Some(_), true) => Err(Malformed),
            (None, true) => Ok(Hunk::Append(self.new)),
            (context, false) => Ok(Hunk::Replace {
                old: self.old,
                new: self.new,
                place: match context {
                    _ if self.at_end => EditPosition::End,
                    Some(line) => EditPosition::After(line),
                    None => EditPosition::Once,
                },
                unit: MatchUnit::Lines,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::tests::shown;

    /// One line a file: its path and what is done to it.
    fn check(piece: &str, expected: &[&str]) {
        assert_eq!(shown::files(&read(piece)), expected, "{piece}");
    }

    #[test]
    fn section_of_each_file() {
        check(
            "*** Begin Patch\n*** Add File: a.c\n+int a;\n+\n*** Delete File: b.c\n*** Update File: c.c\n*** Move to: d.c\n@@\n-x\n+y\n*** End Patch\n",
            &[
                "a.c Create(\"int a;\\n\\n\")",
                "b.c Delete",
                "c.c to d.c \"x\\n\">\"y\\n\"",
            ],
        );
    }

    #[test]
    fn chunk_positions() {
        check(
            "*** Begin Patch\n*** Update File: a.c\n a\n-b\n+c\n\n@@ int f(void)\n-x\n+y\n@@\n-z\n*** End of File\n*** End Patch",
            &[
                "a.c \"a\\nb\\n\\n\">\"a\\nc\\n\\n\" After(\"int f(void)\") \"x\\n\">\"y\\n\" End \"z\\n\">\"\"",
            ],
        );
        check(
            "*** Begin Patch\n*** Update File: a.c\n@@\n+x\n*** End Patch",
            &["a.c Append(\"x\\n\")"],
        );
        check(
            "*** Begin Patch\n*** Update File: a.c\n@@ -1,2 +1,2 @@ int f(void)\n-x\n+y\n*** End Patch",
            &["a.c \"x\\n\">\"y\\n\""],
        );
    }

    #[test]
    fn shell_wrapper() {
        let patch = "*** Begin Patch\n*** Delete File: b.c\n*** End Patch\n";
        for (before, after) in [
            ("apply_patch <<'EOF'\n", "EOF\n"),
            ("$ apply_patch << \"PATCH\"\n", "PATCH\n\n"),
            ("bash -lc \"apply_patch <<EOF\n", "EOF\"\n"),
            ("cat <<EOF | apply_patch\n", "EOF"),
            ("\n", "\n"),
        ] {
            check(&format!("{before}{patch}{after}"), &["b.c Delete"]);
        }
        check(
            &format!("cd sub && apply_patch <<'EOF'\n{patch}EOF\n"),
            &["sub/b.c Delete"],
        );
        check(
            &format!("cd $HOME && apply_patch <<'EOF'\n{patch}EOF\n"),
            &["b.c malformed"],
        );
    }

    /// One flaw makes the whole patch malformed.
    #[test]
    fn flawed_patch() {
        for body in [
            "*** Delete File: a.c\n*** Update File: a.c\nint x;\n*** End Patch",
            "*** Delete File: a.c\n*** Update File: a.c\n*** End Patch",
            "*** Delete File: a.c\n*** Update File: a.c\n@@\n*** End Patch",
            "*** Delete File: a.c\n*** Update File: a.c\n@@ f\n+x\n*** End Patch",
            "*** Delete File: a.c\n*** Update File: a.c\n@@ class A\n@@ f\n-x\n*** End Patch",
            "*** Delete File: a.c\n*** Add File: a.c\nint x;\n*** End Patch",
            "*** Delete File: a.c\n*** Add File: a.c\n+int x;\n",
            "*** Delete File: a.c\n*** Add File: a.c\n+int x;\n*** End Patch\nassert!(x);\n",
        ] {
            check(
                &format!("*** Begin Patch\n{body}"),
                &["a.c malformed", "a.c malformed"],
            );
        }
        check("*** Begin Patch\n*** End Patch\n", &["- malformed"]);
        check(
            "let x = r\"\n*** Begin Patch\n*** Delete File: a.c\n*** End Patch\n",
            &["a.c malformed"],
        );
        check("*** Update File: a.c\n-x\n", &["- malformed"]);
    }

    #[test]
    fn end_of_bare_patch() {
        let text = "apply_patch <<'EOF'\n*** Begin Patch\n*** End Patch\nEOF\nrest";
        assert_eq!(bare_patch_end(text, 0), (text.len() - 4, true));
        assert_eq!(
            bare_patch_end("*** Begin Patch\n*** End Patch\nrest", 0),
            (30, true)
        );
        assert_eq!(bare_patch_end("*** Begin Patch\nrest", 0), (20, false));
    }
}
