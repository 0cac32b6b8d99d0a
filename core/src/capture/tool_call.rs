//! Tool calls that write or edit files, recognised by the shape of their arguments.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Map, Value};

use super::search_replace::{self, SearchReplaceDialect};
use super::section::ParsedEdits;
use super::{Authorship, Closing, CodeBlock, StatedExtent, apply_patch, json_text, unified_diff};
use crate::edit::{self, BaseTexts, Edit, EditPosition, Hunk, Malformed, MatchUnit};
use crate::event::{Format, PathEvidence};
use crate::limits::{BLOCKS_PER_MESSAGE_MAX, TOUCHING_TEXT_BYTES_MAX};

pub(super) const PATH: [&str; 7] = [
    "filePath",
    "file_path",
    "filepath",
    "path",
    "target_file",
    "filename",
    "file",
];
const CONTENT: [&str; 4] = ["content", "contents", "file_text", "fileText"];
const OLD: [&str; 5] = ["oldString", "old_string", "old_str", "old_text", "oldText"];
const NEW: [&str; 5] = ["newString", "new_string", "new_str", "new_text", "newText"];
const EVERYWHERE: [&str; 3] = ["replaceAll", "replace_all", "allow_multiple"];
const PATCH: [&str; 4] = ["input", "patch", "patchText", "patch_text"];
const SHELL: [&str; 3] = ["command", "cmd", "script"];

/// The blocks that a tool call writes; empty if it only reads or isn't known.
#[must_use]
pub fn tool_call(name: &str, arguments: &str) -> Vec<CodeBlock<'static>> {
    match parse_arguments(arguments) {
        Some(object) => by_shape(name, &object, arguments),
        None => unparsable_call(arguments),
    }
}

/// The path in a call's arguments, whatever the call does.
#[must_use]
pub fn path_of_call(arguments: &str) -> Option<String> {
    path_in(&parse_arguments(arguments)?)
}

/// The path in a call's arguments as soon as its string is complete, even if the rest is still to come.
#[must_use]
pub fn path_begun(arguments: &str) -> Option<String> {
    PATH.iter()
        .find_map(|key| string_at(arguments, find_key(arguments, key)?))
}

fn path_in(object: &Map<String, Value>) -> Option<String> {
    let mut named = PATH.iter().filter_map(|key| object.get(*key)?.as_str());
    let path = named.find(|path| !path.trim().is_empty())?;
    Some(path.trim().to_string())
}

/// Strings in a call's arguments that may name files, such as a path or a command; a file's text is too long.
#[must_use]
pub fn short_strings(arguments: &str) -> Vec<String> {
    let mut strings = Vec::new();
    let _ = json_text::with_others(arguments, &mut |string| {
        if string.len() <= TOUCHING_TEXT_BYTES_MAX {
            strings.push(string.into());
        }
        None
    });
    strings
}

fn parse_arguments(arguments: &str) -> Option<Map<String, Value>> {
    match serde_json::from_str(arguments) {
        Ok(Value::Object(object)) => Some(object),
        // Some models encode their arguments twice.
        Ok(Value::String(inner)) => serde_json::from_str(&inner).ok(),
        _ => None,
    }
}

/// The block of a call whose arguments can't be parsed: a malformed edit, if they name a file to write.
pub(super) fn unparsable_call(written: &str) -> Vec<CodeBlock<'static>> {
    let writes = CONTENT
        .iter()
        .chain(&OLD)
        .chain(&NEW)
        .any(|key| find_key(written, key).is_some());
    let path = PATH
        .iter()
        .find_map(|key| string_at(written, find_key(written, key)?));
    match path.filter(|path| writes && !path.is_empty()) {
        Some(path) => [CodeBlock {
            closing: Closing::Unclosed,
            ..edit_block(&path, Err(Malformed), written)
        }]
        .into(),
        None => Vec::new(),
    }
}

/// The start of a key's value.
fn find_key(written: &str, key: &str) -> Option<usize> {
    memchr::memmem::find_iter(written.as_bytes(), key.as_bytes()).find_map(|at| {
        let end = at + key.len();
        let rest = written[end..]
            .strip_prefix('"')?
            .trim_start()
            .strip_prefix(':')?;
        written[..at]
            .ends_with('"')
            .then(|| written.len() - rest.trim_start().len())
    })
}

fn string_at(written: &str, at: usize) -> Option<String> {
    let mut values = serde_json::Deserializer::from_str(&written[at..]).into_iter::<String>();
    values.next()?.ok()
}

/// The blocks that a call writes, by the shape of its arguments. `written` is the call's own text.
pub(super) fn by_shape(
    name: &str,
    arguments: &Map<String, Value>,
    written: &str,
) -> Vec<CodeBlock<'static>> {
    let call = ToolArguments {
        name,
        arguments,
        written,
    };
    if let Some(patch) = call.patch_text() {
        return section_blocks(patch, apply_patch::read(patch), None);
    }
    match call
        .first_text(&PATH)
        .filter(|path| !path.trim().is_empty())
    {
        Some(path) => call.on_file(path.trim()),
        None => Vec::new(),
    }
}

/// A block for each file of an edit.
fn section_blocks(piece: &str, edits: ParsedEdits, path: Option<&str>) -> Vec<CodeBlock<'static>> {
    let ends: Vec<usize> = edits
        .sections
        .iter()
        .skip(1)
        .map(|section| section.start)
        .collect();
    let mut start = 0;
    edits
        .sections
        .into_iter()
        .take(BLOCKS_PER_MESSAGE_MAX)
        .enumerate()
        .map(|(index, section)| {
            let end = ends.get(index).copied().unwrap_or(piece.len());
            let written = &piece[core::mem::replace(&mut start, end)..end];
            let own = section.hint.and_then(|hint| hint.path);
            let named = path.map(ToString::to_string).or(own);
            CodeBlock {
                evidence: named
                    .as_ref()
                    .map_or(PathEvidence::None, |_| PathEvidence::Header),
                path: named,
                ..edit_block("", section.edit, written)
            }
        })
        .collect()
}

fn edit_block(path: &str, edit: Result<Edit, Malformed>, written: &str) -> CodeBlock<'static> {
    CodeBlock {
        part: match edit {
            Ok(Edit::Create(_)) => StatedExtent::Whole,
            _ => StatedExtent::Unsaid,
        },
        edit: Some(edit),
        ..whole_file_block(path, written)
    }
}

/// All of a file.
fn whole_file_block(path: &str, code: &str) -> CodeBlock<'static> {
    CodeBlock {
        format: Format::ToolCall,
        outer: 0..code.len(),
        verbatim: None,
        code: Cow::Owned(code.to_string()),
        edit: None,
        language: None,
        path: Some(path.to_string()),
        evidence: PathEvidence::Header,
        part: StatedExtent::Whole,
        standing: Authorship::Said,
        closing: Closing::Closed,
    }
}

struct ToolArguments<'v> {
    name: &'v str,
    arguments: &'v Map<String, Value>,
    written: &'v str,
}

impl<'v> ToolArguments<'v> {
    fn first_value(&self, keys: &[&str]) -> Option<&'v Value> {
        keys.iter().find_map(|key| self.arguments.get(*key))
    }

    fn first_text(&self, keys: &[&str]) -> Option<&'v str> {
        self.first_value(keys)?.as_str()
    }

    /// The text of a patch, alone or in a shell's command.
    fn patch_text(&self) -> Option<&'v str> {
        PATCH
            .iter()
            .chain(&SHELL)
            .find_map(|key| match self.arguments.get(*key)? {
                Value::String(text) => Some(text.as_str()).filter(|text| holds_patch(text)),
                Value::Array(words) => words
                    .iter()
                    .filter_map(Value::as_str)
                    .find(|word| holds_patch(word)),
                _ => None,
            })
    }

    /// The blocks of a call on one file.
    fn on_file(&self, path: &str) -> Vec<CodeBlock<'static>> {
        if let Some(command) = self.first_text(&["command"]) {
            return self
                .editor_command(command)
                .map(|edit| edit_block(path, edit, self.written))
                .into_iter()
                .collect();
        }
        if let Some(diff) = self.first_text(&["diff"]) {
            return self.diff_blocks(path, diff);
        }
        if let Some(edit) = self.replacement_edit() {
            return [edit_block(path, edit, self.written)].into();
        }
        self.whole_file(path).into_iter().collect()
    }

    /// `file_editor{command, …}`.
    fn editor_command(&self, command: &str) -> Option<Result<Edit, Malformed>> {
        match command {
            "create" => Some(self.first_text(&CONTENT).map(create_edit).ok_or(Malformed)),
            "str_replace" => Some(self.first_text(&OLD).ok_or(Malformed).and_then(|old| {
                replace_edit(
                    old,
                    self.first_text(&NEW).unwrap_or_default(),
                    self.edit_position()?,
                )
            })),
            "insert" => {
                let text = self
                    .first_text(&NEW)
                    .or_else(|| self.first_text(&["insert_text", "text"]));
                Some(
                    self.insert_line()
                        .zip(text)
                        .map(|(line, text)| insert_edit(line, text))
                        .ok_or(Malformed),
                )
            }
            _ => None,
        }
    }

    /// The blocks of a diff, in one of the formats that are also used in text.
    fn diff_blocks(&self, path: &str, diff: &str) -> Vec<CodeBlock<'static>> {
        let dialect = if self.name.contains("apply_diff") {
            SearchReplaceDialect::Roo
        } else {
            SearchReplaceDialect::Cline
        };
        let edits = if diff.lines().any(search_replace::has_marker) {
            search_replace::read(diff, dialect)
        } else {
            unified_diff::read_fenced(diff, true)
        };
        let edits = if edits.sections.len() > 1 {
            edits.all_malformed()
        } else {
            edits
        };
        let mut blocks = section_blocks(diff, edits, Some(path));
        blocks.truncate(1);
        blocks
    }

    fn replacement_edit(&self) -> Option<Result<Edit, Malformed>> {
        if let Some(edits) = self.first_value(&["edits", "replacements"]) {
            return Some(self.edit_list(edits));
        }
        if let Some(old) = self.first_value(&OLD) {
            let parts = old.as_str().zip(self.first_text(&NEW)).ok_or(Malformed);
            return Some(
                parts.and_then(|(old, new)| replace_edit(old, new, self.edit_position()?)),
            );
        }
        // Here `insert_line` is the line before which the text goes; in `file_editor` the one after which.
        let text = self.first_value(&["new_text", "newText"])?;
        Some(match (self.first_value(&["insert_line"]), text.as_str()) {
            (None, Some(text)) => Ok(create_edit(text)),
            (Some(_), Some(text)) => self
                .insert_line()
                .and_then(|line| line.checked_sub(1))
                .map(|line| insert_edit(line, text))
                .ok_or(Malformed),
            (_, None) => Err(Malformed),
        })
    }

    /// `edits: [{old, new}, …]`, one after another; an empty old text first makes the file.
    fn edit_list(&self, edits: &Value) -> Result<Edit, Malformed> {
        let parsed = edits
            .as_str()
            .and_then(|edits| serde_json::from_str::<Value>(edits).ok());
        let edits = parsed
            .as_ref()
            .unwrap_or(edits)
            .as_array()
            .ok_or(Malformed)?;
        let mut start = None;
        let mut hunks = Vec::with_capacity(edits.len());
        for (index, edit) in edits.iter().enumerate() {
            let call = ToolArguments {
                arguments: edit.as_object().ok_or(Malformed)?,
                ..*self
            };
            let (old, new) = call
                .first_text(&OLD)
                .zip(call.first_text(&NEW))
                .ok_or(Malformed)?;
            match replace_edit(old, new, call.edit_position()?)? {
                Edit::Create(text) if index == 0 => start = Some(text),
                Edit::Change(more) => hunks.extend(more),
                _ => return Err(Malformed),
            }
        }
        match start {
            Some(text) => {
                let changed =
                    edit::apply(&hunks, BaseTexts::Whole(&text)).map_err(|_| Malformed)?;
                Ok(Edit::Create(
                    changed.into_iter().next().flatten().unwrap_or(text),
                ))
            }
            None if hunks.is_empty() => Err(Malformed),
            None => Ok(Edit::Change(hunks)),
        }
    }

    /// The positions at which an old text is replaced. An exact number of them other than 1 can't be guaranteed.
    fn edit_position(&self) -> Result<EditPosition, Malformed> {
        let everywhere = match self.first_value(&EVERYWHERE) {
            Some(Value::Bool(everywhere)) => *everywhere,
            Some(Value::String(word)) => word.trim().eq_ignore_ascii_case("true"),
            None | Some(Value::Null) => false,
            Some(_) => return Err(Malformed),
        };
        let expected = self
            .first_value(&["expected_replacements"])
            .and_then(line_number);
        match (everywhere, expected) {
            (true, _) => Ok(EditPosition::Everywhere),
            (false, None | Some(1)) => Ok(EditPosition::Once),
            (false, Some(_)) => Err(Malformed),
        }
    }

    fn insert_line(&self) -> Option<u32> {
        line_number(self.first_value(&["insert_line"])?)
    }

    /// All of a file, unless the tool's name says that it adds to the file or creates it.
    fn whole_file(&self, path: &str) -> Option<CodeBlock<'static>> {
        let content = self.first_value(&CONTENT)?;
        let name = self.name.to_ascii_lowercase();
        let adds = ["append", "insert", "prepend"]
            .iter()
            .any(|word| name.contains(word));
        let names_lines = self.arguments.keys().any(|key| {
            matches!(
                key.as_str(),
                "line" | "insert_line" | "start_line" | "end_line" | "offset" | "append"
            )
        });
        Some(match content.as_str() {
            None => edit_block(path, Err(Malformed), self.written),
            Some(_) if adds || names_lines => edit_block(path, Err(Malformed), self.written),
            Some(text) if name.contains("create") => {
                edit_block(path, Ok(create_edit(text)), self.written)
            }
            Some(text) => whole_file_block(path, text),
        })
    }
}

fn holds_patch(text: &str) -> bool {
    text.lines().any(apply_patch::begins_patch)
}

fn line_number(value: &Value) -> Option<u32> {
    let number = match value {
        Value::String(digits) => digits.trim().parse().ok(),
        value => value.as_u64(),
    };
    number.and_then(|number| u32::try_from(number).ok())
}

fn create_edit(text: &str) -> Edit {
    Edit::Create(text.to_string())
}

fn insert_edit(after_lines: u32, text: &str) -> Edit {
    let text = text.to_string();
    Edit::Change([Hunk::Insert { after_lines, text }].into())
}

/// An empty old text makes a file; it never overwrites one.
fn replace_edit(old: &str, new: &str, place: EditPosition) -> Result<Edit, Malformed> {
    if old.is_empty() {
        return Ok(create_edit(new));
    }
    let hunk = Hunk::Replace {
        old: old.to_string(),
        new: new.to_string(),
        place,
        unit: MatchUnit::Text,
    };
    Ok(Edit::Change([hunk].into()))
}

#[cfg(test)]
mod tests;
