//! Tool calls that write or edit files, as containers of what their arguments say.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Map, Value};

use super::block::{Authorship, Closing, CodeBlock, StatedExtent};
use super::container::Container;
use super::json_text;
use super::path_hint::PathHint;
use super::payload::call::{self, CallPayload};
use super::payload::{PayloadKind, ReadPayload};
use super::vocabulary::{CONTENT, NEW, OLD, PATH};
use crate::event::Format;
use crate::limits::{BLOCKS_PER_MESSAGE_MAX, TOUCHING_TEXT_BYTES_MAX};
use crate::path;

/// The blocks that a tool call writes; empty if it only reads or isn't known.
#[must_use]
pub fn tool_call(name: &str, arguments: &str) -> Vec<CodeBlock<'static>> {
    match parse_arguments(arguments) {
        Some(object) => blocks_of(name, &object, arguments, Closing::Closed),
        None => unparsable_call(arguments),
    }
}

/// The blocks of a call whose arguments are read. `written` is the call's own text.
pub(super) fn blocks_of(
    name: &str,
    arguments: &Map<String, Value>,
    written: &str,
    closing: Closing,
) -> Vec<CodeBlock<'static>> {
    let payload = call::read(name, arguments, written);
    let mut blocks = payload.map_or_else(Vec::new, |payload| into_blocks(payload, closing));
    let folder = ["workdir", "cwd", "working_directory"];
    if let Some(folder) = folder
        .iter()
        .find_map(|name| arguments.get(*name)?.as_str())
    {
        let paths = blocks.iter_mut().filter_map(|block| block.path.as_mut());
        for path in paths.filter(|path| !path::is_absolute(path)) {
            *path = [folder, path.as_str()].join("/");
        }
    }
    blocks
}

fn into_blocks(call: CallPayload<'_>, closing: Closing) -> Vec<CodeBlock<'static>> {
    let range = 0..call.piece.len();
    let payload = match call.edits {
        Some(edits) => ReadPayload::Edits(edits.of_call(closing)),
        None => ReadPayload::Code(Format::ToolCall, Authorship::Own),
    };
    let container = Container {
        outer: range.clone(),
        raw: range,
        piece: Cow::Owned(call.piece.to_string()),
        kind: PayloadKind::Read(payload),
        language: None,
        hint: call.path.map(|path| PathHint {
            stated_extent: StatedExtent::Whole,
            ..PathHint::header(path)
        }),
        closing,
    };
    let mut blocks = container.into_blocks(call.piece);
    blocks.truncate(BLOCKS_PER_MESSAGE_MAX);
    blocks
}

/// The block of a call whose arguments can't be parsed: a malformed edit, if they name a file to write.
pub(super) fn unparsable_call(written: &str) -> Vec<CodeBlock<'static>> {
    let mut keys = [CONTENT, OLD, NEW].into_iter().flatten();
    let writes = keys.any(|key| find_key(written, key).is_some());
    match path_begun(written).filter(|path| writes && !path.is_empty()) {
        Some(path) => into_blocks(CallPayload::malformed(path, written), Closing::Unclosed),
        None => Vec::new(),
    }
}

/// The path in a call's arguments as soon as its string is complete, even if the rest is still to come.
#[must_use]
pub fn path_begun(arguments: &str) -> Option<String> {
    PATH.iter()
        .find_map(|key| string_at(arguments, find_key(arguments, key)?))
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

#[cfg(test)]
mod tests;
