//! What a tool call does to a file, by the shape of its arguments.

use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use serde_json::{Map, Value};

use super::apply_patch;
use super::search_replace::{self, SearchReplaceDialect};
use super::sections::ParsedEdits;
use super::unified_diff;
use crate::capture::vocabulary::{
    ADDING_TOOLS, CONTENT, CREATE_COMMANDS, CREATING_TOOLS, DIFF, EDITOR_COMMAND, EDITS,
    EVERYWHERE, EXPECTED_REPLACEMENTS, INSERT_COMMANDS, INSERT_LINE, INSERTED, LINE_NUMBERS, NEW,
    NEW_WITHOUT_OLD, OLD, PATCH, PATH, REPLACE_COMMANDS, ROO_DIFF_TAGS, SHELL,
};
use crate::edit::{self, BaseTexts, Edit, EditPosition, Hunk, Malformed, MatchUnit};
use crate::event::Format;

/// The text of a call that changes files.
pub(in crate::capture) struct CallPayload<'v> {
    /// The path that an argument names; a patch names its own.
    pub(in crate::capture) path: Option<String>,
    pub(in crate::capture) piece: &'v str,
    /// The edits; without them the piece is all of the file.
    pub(in crate::capture) edits: Option<ParsedEdits>,
}

impl<'v> CallPayload<'v> {
    /// A call whose arguments can't be read.
    pub(in crate::capture) fn malformed(path: String, written: &'v str) -> Self {
        Self::of_one_file(path, written, Err(Malformed))
    }

    fn of_one_file(path: String, written: &'v str, edit: Result<Edit, Malformed>) -> Self {
        Self {
            path: Some(path),
            piece: written,
            edits: Some(ParsedEdits::one(Format::ToolCall, edit)),
        }
    }
}

/// Reads a call's arguments; `None` if it changes no file. `written` is the call's own text.
pub(in crate::capture) fn read<'v>(
    name: &'v str,
    arguments: &'v Map<String, Value>,
    written: &'v str,
) -> Option<CallPayload<'v>> {
    let call = ToolArguments {
        name,
        arguments,
        written,
    };
    if let Some(patch) = call.patch_text() {
        return Some(CallPayload {
            path: None,
            piece: patch,
            edits: Some(apply_patch::read(patch)),
        });
    }
    let path = call.first_text(PATH)?.trim();
    if path.is_empty() {
        return None;
    }
    call.on_file(path)
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
            .chain(SHELL)
            .find_map(|key| match self.arguments.get(*key)? {
                Value::String(text) => Some(text.as_str()).filter(|text| holds_patch(text)),
                Value::Array(words) => words
                    .iter()
                    .filter_map(Value::as_str)
                    .find(|word| holds_patch(word)),
                _ => None,
            })
    }

    fn on_file(&self, path: &str) -> Option<CallPayload<'v>> {
        let path = path.to_string();
        let edit = if let Some(command) = self.first_text(EDITOR_COMMAND) {
            self.editor_command(command)?
        } else if let Some(diff) = self.first_text(DIFF) {
            return Some(self.diff_of_file(path, diff));
        } else if let Some(edit) = self.change_of_file() {
            edit
        } else {
            let content = self.first_value(CONTENT)?;
            match content.as_str().filter(|_| !self.adds_to_file()) {
                None => Err(Malformed),
                Some(text) if names_one(&self.name.to_ascii_lowercase(), CREATING_TOOLS) => {
                    Ok(create_edit(text))
                }
                Some(text) => {
                    return Some(CallPayload {
                        path: Some(path),
                        piece: text,
                        edits: None,
                    });
                }
            }
        };
        Some(CallPayload::of_one_file(path, self.written, edit))
    }

    /// `file_editor{command, …}`.
    fn editor_command(&self, command: &str) -> Option<Result<Edit, Malformed>> {
        let new = self.first_text(NEW);
        if CREATE_COMMANDS.contains(&command) {
            return Some(self.first_text(CONTENT).map(create_edit).ok_or(Malformed));
        }
        if REPLACE_COMMANDS.contains(&command) {
            return Some(self.replace_old_text(Some(new.unwrap_or_default())));
        }
        INSERT_COMMANDS.contains(&command).then(|| {
            insertion(
                self.insert_line(),
                new.or_else(|| self.first_text(INSERTED)),
            )
        })
    }

    /// A diff, in one of the formats that are also used in text.
    fn diff_of_file(&self, path: String, diff: &'v str) -> CallPayload<'v> {
        let dialect = if names_one(self.name, ROO_DIFF_TAGS) {
            SearchReplaceDialect::Roo
        } else {
            SearchReplaceDialect::Cline
        };
        let edits = if diff.lines().any(search_replace::has_marker) {
            search_replace::read(diff, dialect)
        } else {
            unified_diff::read(diff, true)
        };
        let mut sections = edits.sections;
        let edit = match sections.pop() {
            Some(section) if sections.is_empty() => section.edit,
            _ => Err(Malformed),
        };
        CallPayload::of_one_file(path, diff, edit)
    }

    /// The edit of a call with an old text, a list of edits, or a new text alone.
    fn change_of_file(&self) -> Option<Result<Edit, Malformed>> {
        if let Some(edits) = self.first_value(EDITS) {
            return Some(self.edit_list(edits));
        }
        // Where both are numbers, they count something, such as the lines around a match.
        let mut values = [OLD, NEW]
            .into_iter()
            .filter_map(|keys| self.first_value(keys));
        if self.first_value(OLD).is_some() && values.any(|value| !value.is_number()) {
            return Some(self.replace_old_text(self.first_text(NEW)));
        }
        // Here `insert_line` is the line before which the text goes; in `file_editor` the one after which.
        let text = self.first_value(NEW_WITHOUT_OLD)?.as_str();
        Some(match self.first_value(INSERT_LINE) {
            None => text.map(create_edit).ok_or(Malformed),
            Some(_) => {
                let line = self.insert_line().and_then(|line| line.checked_sub(1));
                insertion(line, text)
            }
        })
    }

    /// The old text of the arguments replaced by a new one.
    fn replace_old_text(&self, new: Option<&str>) -> Result<Edit, Malformed> {
        let (old, new) = self.first_text(OLD).zip(new).ok_or(Malformed)?;
        replace_or_create(old, new, self.edit_position()?)
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
            match call.replace_old_text(call.first_text(NEW))? {
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
        let everywhere = match self.first_value(EVERYWHERE) {
            Some(Value::Bool(everywhere)) => *everywhere,
            Some(Value::String(word)) => word.trim().eq_ignore_ascii_case("true"),
            None | Some(Value::Null) => false,
            Some(_) => return Err(Malformed),
        };
        let expected = self
            .first_value(EXPECTED_REPLACEMENTS)
            .and_then(line_number);
        match (everywhere, expected) {
            (true, _) => Ok(EditPosition::Everywhere),
            (false, None | Some(1)) => Ok(EditPosition::Once),
            (false, Some(_)) => Err(Malformed),
        }
    }

    fn insert_line(&self) -> Option<u32> {
        line_number(self.first_value(INSERT_LINE)?)
    }

    /// Whether the tool's name, or a line that it names, says that it only adds to the file.
    fn adds_to_file(&self) -> bool {
        names_one(&self.name.to_ascii_lowercase(), ADDING_TOOLS)
            || self.first_value(LINE_NUMBERS).is_some()
    }
}

/// Whether a tool's name contains one of these.
fn names_one(name: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| name.contains(part))
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

fn insertion(after_lines: Option<u32>, text: Option<&str>) -> Result<Edit, Malformed> {
    let (after_lines, text) = after_lines.zip(text).ok_or(Malformed)?;
    let text = text.to_string();
    Ok(Edit::Change(vec![Hunk::Insert { after_lines, text }]))
}

/// An empty old text makes a file; it never overwrites one.
fn replace_or_create(old: &str, new: &str, place: EditPosition) -> Result<Edit, Malformed> {
    if old.is_empty() {
        return Ok(create_edit(new));
    }
    let hunk = Hunk::Replace {
        old: old.to_string(),
        new: new.to_string(),
        place,
        unit: MatchUnit::Text,
    };
    Ok(Edit::Change(vec![hunk]))
}
