//! Tool calls that write or edit files, recognised by the shape of their arguments.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Map, Value};

use super::search_replace::{self, Dialect};
use super::section::Edits;
use super::{Block, Closing, Part, Standing, apply_patch, json_text, unified_diff};
use crate::edit::{self, Bases, Edit, Hunk, Malformed, Place, Unit};
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
/// What a tool call does to files; nothing, if it only reads or isn't known.
#[must_use]
pub fn tool_call(name: &str, arguments: &str) -> Vec<Block<'static>> {
    match parsed(arguments) {
        Some(object) => by_shape(name, &object, arguments),
        None => unread(arguments),
    }
}

/// The path that a call's arguments name, whatever the call does.
#[must_use]
pub fn path_of_call(arguments: &str) -> Option<String> {
    path_in(&parsed(arguments)?)
}

/// The path that a call's arguments name, as soon as it is there whole; the rest of them may be still to come.
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

/// Strings in a call's arguments that may name files: its path, a command; not a file's text.
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

fn parsed(arguments: &str) -> Option<Map<String, Value>> {
    match serde_json::from_str(arguments) {
        Ok(Value::Object(object)) => Some(object),
        // Some models encode their arguments twice.
        Ok(Value::String(inner)) => serde_json::from_str(&inner).ok(),
        _ => None,
    }
}

/// What arguments do that can't be parsed: an edit that is refused, if they name a file to write.
pub(super) fn unread(written: &str) -> Vec<Block<'static>> {
    let writes = CONTENT
        .iter()
        .chain(&OLD)
        .chain(&NEW)
        .any(|key| find_key(written, key).is_some());
    let path = PATH
        .iter()
        .find_map(|key| string_at(written, find_key(written, key)?));
    match path.filter(|path| writes && !path.is_empty()) {
        Some(path) => [Block {
            closing: Closing::Unclosed,
            ..change(&path, Err(Malformed), written)
        }]
        .into(),
        None => Vec::new(),
    }
}

/// Where the value of a key starts.
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

/// What arguments do, as far as their shape says. `written` is the call as it stands.
pub(super) fn by_shape(
    name: &str,
    arguments: &Map<String, Value>,
    written: &str,
) -> Vec<Block<'static>> {
    let call = Call {
        name,
        arguments,
        written,
    };
    if let Some(patch) = call.patch() {
        return sections(patch, apply_patch::read(patch), None);
    }
    match call.text(&PATH).filter(|path| !path.trim().is_empty()) {
        Some(path) => call.on_file(path.trim()),
        None => Vec::new(),
    }
}

/// A block for each file of an edit.
fn sections(piece: &str, edits: Edits, path: Option<&str>) -> Vec<Block<'static>> {
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
            Block {
                evidence: named
                    .as_ref()
                    .map_or(PathEvidence::None, |_| PathEvidence::Header),
                path: named,
                ..change("", section.edit, written)
            }
        })
        .collect()
}

fn change(path: &str, edit: Result<Edit, Malformed>, written: &str) -> Block<'static> {
    Block {
        part: match edit {
            Ok(Edit::Create(_)) => Part::Whole,
            _ => Part::Unsaid,
        },
        edit: Some(edit),
        ..file(path, written)
    }
}

/// All of a file.
fn file(path: &str, code: &str) -> Block<'static> {
    Block {
        format: Format::ToolCall,
        outer: 0..code.len(),
        verbatim: None,
        code: Cow::Owned(code.to_string()),
        edit: None,
        language: None,
        path: Some(path.to_string()),
        evidence: PathEvidence::Header,
        part: Part::Whole,
        standing: Standing::Said,
        closing: Closing::Closed,
    }
}

struct Call<'v> {
    name: &'v str,
    arguments: &'v Map<String, Value>,
    written: &'v str,
}

impl<'v> Call<'v> {
    fn value(&self, keys: &[&str]) -> Option<&'v Value> {
        keys.iter().find_map(|key| self.arguments.get(*key))
    }

    fn text(&self, keys: &[&str]) -> Option<&'v str> {
        self.value(keys)?.as_str()
    }

    /// The text of a patch, alone or in a shell's command.
    fn patch(&self) -> Option<&'v str> {
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

    /// What is done to one file.
    fn on_file(&self, path: &str) -> Vec<Block<'static>> {
        if let Some(command) = self.text(&["command"]) {
            return self
                .command(command)
                .map(|edit| change(path, edit, self.written))
                .into_iter()
                .collect();
        }
        if let Some(diff) = self.text(&["diff"]) {
            return self.diff(path, diff);
        }
        if let Some(edit) = self.edit() {
            return [change(path, edit, self.written)].into();
        }
        self.whole(path).into_iter().collect()
    }

    /// `file_editor{command, …}`.
    fn command(&self, command: &str) -> Option<Result<Edit, Malformed>> {
        match command {
            "create" => Some(self.text(&CONTENT).map(created).ok_or(Malformed)),
            "str_replace" => {
                Some(self.text(&OLD).ok_or(Malformed).and_then(|old| {
                    replace(old, self.text(&NEW).unwrap_or_default(), self.place()?)
                }))
            }
            "insert" => {
                let text = self
                    .text(&NEW)
                    .or_else(|| self.text(&["insert_text", "text"]));
                Some(
                    self.line()
                        .zip(text)
                        .map(|(line, text)| insert(line, text))
                        .ok_or(Malformed),
                )
            }
            _ => None,
        }
    }

    /// A diff in one of the formats that stand in text, too.
    fn diff(&self, path: &str, diff: &str) -> Vec<Block<'static>> {
        let dialect = match self.name.contains("apply_diff") {
            true => Dialect::Roo,
            false => Dialect::Cline,
        };
        let edits = match diff.lines().any(search_replace::marks) {
            true => search_replace::read(diff, dialect),
            false => unified_diff::read_fenced(diff, true),
        };
        let edits = if edits.sections.len() > 1 {
            edits.spoiled()
        } else {
            edits
        };
        let mut blocks = sections(diff, edits, Some(path));
        blocks.truncate(1);
        blocks
    }

    fn edit(&self) -> Option<Result<Edit, Malformed>> {
        if let Some(edits) = self.value(&["edits", "replacements"]) {
            return Some(self.several(edits));
        }
        if let Some(old) = self.value(&OLD) {
            let parts = old.as_str().zip(self.text(&NEW)).ok_or(Malformed);
            return Some(parts.and_then(|(old, new)| replace(old, new, self.place()?)));
        }
        // The line that the text goes in front of.
        let text = self.value(&["new_text", "newText"])?;
        Some(match (self.value(&["insert_line"]), text.as_str()) {
            (None, Some(text)) => Ok(created(text)),
            (Some(_), Some(text)) => self
                .line()
                .and_then(|line| line.checked_sub(1))
                .map(|line| insert(line, text))
                .ok_or(Malformed),
            (_, None) => Err(Malformed),
        })
    }

    /// `edits: [{old, new}, …]`, one after another; an empty old text first makes the file.
    fn several(&self, edits: &Value) -> Result<Edit, Malformed> {
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
            let call = Call {
                arguments: edit.as_object().ok_or(Malformed)?,
                ..*self
            };
            let (old, new) = call.text(&OLD).zip(call.text(&NEW)).ok_or(Malformed)?;
            match replace(old, new, call.place()?)? {
                Edit::Create(text) if index == 0 => start = Some(text),
                Edit::Change(more) => hunks.extend(more),
                _ => return Err(Malformed),
            }
        }
        match start {
            Some(text) => {
                let changed = edit::apply(&hunks, Bases::Whole(&text)).map_err(|_| Malformed)?;
                Ok(Edit::Create(
                    changed.into_iter().next().flatten().unwrap_or(text),
                ))
            }
            None if hunks.is_empty() => Err(Malformed),
            None => Ok(Edit::Change(hunks)),
        }
    }

    /// Where an old text must stand. A number of places is more than can be held to.
    fn place(&self) -> Result<Place, Malformed> {
        let everywhere = match self.value(&EVERYWHERE) {
            Some(Value::Bool(everywhere)) => *everywhere,
            Some(Value::String(word)) => word.trim().eq_ignore_ascii_case("true"),
            None | Some(Value::Null) => false,
            Some(_) => return Err(Malformed),
        };
        let expected = self.value(&["expected_replacements"]).and_then(number);
        match (everywhere, expected) {
            (true, _) => Ok(Place::Everywhere),
            (false, None | Some(1)) => Ok(Place::Once),
            (false, Some(_)) => Err(Malformed),
        }
    }

    fn line(&self) -> Option<u32> {
        number(self.value(&["insert_line"])?)
    }

    /// All of a file, if the tool's name doesn't say that it does something else with it.
    fn whole(&self, path: &str) -> Option<Block<'static>> {
        let content = self.value(&CONTENT)?;
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
            None => change(path, Err(Malformed), self.written),
            Some(_) if adds || names_lines => change(path, Err(Malformed), self.written),
            Some(text) if name.contains("create") => change(path, Ok(created(text)), self.written),
            Some(text) => file(path, text),
        })
    }
}

fn holds_patch(text: &str) -> bool {
    text.lines().any(apply_patch::begins)
}

fn number(value: &Value) -> Option<u32> {
    let number = match value {
        Value::String(digits) => digits.trim().parse().ok(),
        value => value.as_u64(),
    };
    number.and_then(|number| u32::try_from(number).ok())
}

fn created(text: &str) -> Edit {
    Edit::Create(text.to_string())
}

fn insert(after_lines: u32, text: &str) -> Edit {
    let text = text.to_string();
    Edit::Change([Hunk::Insert { after_lines, text }].into())
}

/// An empty old text makes a file; it never overwrites one.
fn replace(old: &str, new: &str, place: Place) -> Result<Edit, Malformed> {
    if old.is_empty() {
        return Ok(created(new));
    }
    let hunk = Hunk::Replace {
        old: old.to_string(),
        new: new.to_string(),
        place,
        unit: Unit::Text,
    };
    Ok(Edit::Change([hunk].into()))
}

#[cfg(test)]
mod tests;
