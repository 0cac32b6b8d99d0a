//! Tool calls that a model wrote as text: `<tool_call>{json}</tool_call>`, and Qwen's `<function=…><parameter=…>`.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use serde_json::{Map, Value};

use super::block::{Closing, CodeBlock};
use super::ends::{ClosingTags, TagPosition, find_tag};
use super::line::{line_at, over_blanks, without_first_end};
use super::tool_call;
use super::vocabulary::CALL_ARGUMENTS;
use crate::event::Format;

const CALL: &str = "<tool_call>";
const CALL_END: &str = "</tool_call>";
const FUNCTION: &str = "<function=";
const FUNCTION_END: &str = "</function>";
const PARAMETER: &str = "<parameter=";
const PARAMETER_END: &str = "</parameter>";

/// Whether a text begins with a call.
pub(super) fn begins_with_call(text: &str) -> bool {
    text.starts_with(CALL) || text.starts_with(FUNCTION)
}

/// Reads the tool call that a line opens, if it does. A call that changes no file has no blocks.
pub(super) fn read(text: &str, line: &Range<usize>, ends: &mut ClosingTags) -> Option<LeakedCall> {
    memchr::memchr(b'<', &text.as_bytes()[line.clone()])?;
    let start = call_start(text, line)?;
    let after = text[start..]
        .strip_prefix(CALL)
        .unwrap_or(&text[start..])
        .trim_start();
    let body = text.len() - after.len();
    let mut call = if after.starts_with(FUNCTION) {
        read_function(text, body, ends)
    } else {
        read_json(text, body, ends)
    };
    call.outer = start..over_closing_tag(text, call.outer.end);
    Some(call)
}

/// The start of a call on a line; a call in backticks is only mentioned.
fn call_start(text: &str, line: &Range<usize>) -> Option<usize> {
    let shown = &text[line.clone()];
    let found = shown.find(CALL).filter(|at| {
        let next = text[line.start + at + CALL.len()..].trim_start();
        next.starts_with('{') || next.starts_with(FUNCTION)
    });
    let found = found.or_else(|| {
        let at = shown.len() - shown.trim_start().len();
        let (_, below) = shown[at..].strip_prefix(FUNCTION)?.split_once('>')?;
        let next = text[line.end - below.len()..].trim_start();
        (next.starts_with(PARAMETER) || next.starts_with(FUNCTION_END)).then_some(at)
    })?;
    (!shown[..found].contains('`')).then_some(line.start + found)
}

/// A call as it was read.
pub(super) struct LeakedCall {
    pub(super) outer: Range<usize>,
    name: String,
    arguments: CallArguments,
    closing: Closing,
    /// The ranges of its parameters' values in the message.
    values: Vec<Range<usize>>,
}

enum CallArguments {
    Read(Map<String, Value>),
    /// JSON within JSON.
    Encoded(String),
    /// JSON that can't be read, by its start in the message.
    Unread(usize),
}

fn read_json(text: &str, at: usize, ends: &mut ClosingTags) -> LeakedCall {
    let closer = ends.next(text, "tool_call", TagPosition::Edge, at);
    let end = closer.unwrap_or(text.len());
    let mut values = serde_json::Deserializer::from_str(&text[at..end]).into_iter::<Value>();
    let value = values.next();
    let read_to = at + values.byte_offset();
    let object = match value {
        Some(Ok(Value::Object(object))) => Some(object),
        _ => None,
    };
    let rest_is_blank = text[read_to.min(end)..end].trim().is_empty();
    let Some(mut object) = object.filter(|_| closer.is_none() || rest_is_blank) else {
        return LeakedCall {
            name: String::new(),
            arguments: CallArguments::Unread(at),
            outer: at..end,
            closing: Closing::Unclosed,
            values: Vec::new(),
        };
    };
    let name = object
        .get("name")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_string();
    let mut keys = CALL_ARGUMENTS.iter();
    let arguments = keys.find_map(|key| object.remove(*key));
    let arguments = match arguments {
        Some(Value::Object(arguments)) => CallArguments::Read(arguments),
        Some(Value::String(arguments)) => CallArguments::Encoded(arguments),
        _ => CallArguments::Read(Map::new()),
    };
    LeakedCall {
        name,
        arguments,
        // Without a closing tag the end of the JSON ends the call.
        outer: at..if closer.is_some() { end } else { read_to },
        closing: Closing::Closed,
        values: Vec::new(),
    }
}

fn read_function(text: &str, at: usize, ends: &mut ClosingTags) -> LeakedCall {
    let head = line_at(text, at);
    let (name, _) = text[head][FUNCTION.len()..]
        .split_once('>')
        .unwrap_or_default();
    let closer = ends.next(text, "function", TagPosition::Edge, at);
    let end = closer.unwrap_or(text.len());
    let body = (at + FUNCTION.len() + name.len() + 1).min(end)..end;
    let (arguments, values, sound) = read_parameters(text, body);
    LeakedCall {
        name: name.trim().to_string(),
        arguments: CallArguments::Read(arguments),
        outer: at..closer.map_or(end, |end| end + FUNCTION_END.len()),
        closing: Closing::when(closer.is_some() && sound),
        values,
    }
}

/// All parameters and the ranges of their values; the flag is whether each was closed and nothing else was found.
fn read_parameters(
    text: &str,
    body: Range<usize>,
) -> (Map<String, Value>, Vec<Range<usize>>, bool) {
    let inside = &text[..body.end];
    let mut arguments = Map::new();
    let mut values = Vec::new();
    let mut at = body.start;
    loop {
        let rest = inside[at..].trim_start();
        let Some(parameter) = rest.strip_prefix(PARAMETER) else {
            return (arguments, values, rest.is_empty());
        };
        let Some((key, value)) = parameter
            .split_once('>')
            .filter(|(key, _)| !key.contains('\n'))
        else {
            return (arguments, values, false);
        };
        let start = inside.len() - value.len();
        let closer = find_tag(inside, PARAMETER_END, TagPosition::Edge, start);
        let range = value_range(text, start..closer.unwrap_or(inside.len()));
        arguments.insert(
            key.trim().to_string(),
            Value::String(text[range.clone()].to_string()),
        );
        values.push(range);
        let Some(closer) = closer else {
            return (arguments, values, false);
        };
        at = closer + PARAMETER_END.len();
    }
}

/// A value's range without the line ends next to its tags.
fn value_range(text: &str, range: Range<usize>) -> Range<usize> {
    let start = range.end - without_first_end(&text[range.clone()]).len();
    let value = &text[start..range.end];
    let value = value.strip_suffix('\n').unwrap_or(value);
    start..start + value.strip_suffix('\r').unwrap_or(value).len()
}

/// The position after `</tool_call>`, if it comes next, and after its line, if nothing else is on it.
fn over_closing_tag(text: &str, at: usize) -> usize {
    let rest = text[at..].trim_start();
    let at = match rest.strip_prefix(CALL_END) {
        Some(rest) => text.len() - rest.len(),
        None => at,
    };
    over_blanks(text, at)
}

impl LeakedCall {
    pub(super) fn into_blocks(self, text: &str) -> Vec<CodeBlock<'_>> {
        let outer = &self.outer;
        let written = &text[outer.clone()];
        let mut blocks = match &self.arguments {
            CallArguments::Read(arguments) => {
                tool_call::blocks_of(&self.name, arguments, written, self.closing)
            }
            CallArguments::Encoded(arguments) => tool_call::tool_call(&self.name, arguments),
            CallArguments::Unread(at) => tool_call::unparsable_call(&text[*at..outer.end]),
        };
        for (index, block) in blocks.iter_mut().enumerate() {
            block.format = Format::LeakedToolCall;
            // Together they cover the call; the first one covers it alone.
            block.outer = if index == 0 { outer.start } else { outer.end }..outer.end;
            self.place_verbatim(text, block);
        }
        blocks
    }

    /// Marks a file's text as verbatim in the message if a parameter holds it.
    fn place_verbatim<'t>(&self, text: &'t str, block: &mut CodeBlock<'t>) {
        if block.edit.is_some() {
            return;
        }
        if let Some(range) = self
            .values
            .iter()
            .find(|range| text[(*range).clone()] == *block.code)
        {
            block.verbatim = Some(range.clone());
            block.code = Cow::Borrowed(&text[range.clone()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::{self, tests::shown};
    use alloc::format;

    /// One line a block: path, what it is, closing.
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = capture::blocks(text)
            .into_iter()
            .map(|block| {
                assert_eq!(block.format, Format::LeakedToolCall);
                let what = shown::payload(&block);
                format!(
                    "{} {what} {:?}",
                    block.path.as_deref().unwrap_or("-"),
                    block.closing
                )
            })
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn json_in_tags() {
        let write =
            r#"{"name": "write", "arguments": {"filePath": "src/a.c", "content": "int x;\n"}}"#;
        let expected = &["src/a.c \"int x;\\n\" Closed"];
        check(&format!("<tool_call>\n{write}\n</tool_call>\n"), expected);
        check(&format!("<tool_call>{write}</tool_call>"), expected);
        check(&format!("I'll write it. <tool_call>\n{write}\n"), expected);
        check(
            r#"<tool_call>{"name": "edit", "arguments": "{\"path\":\"a.c\",\"old_string\":\"x\",\"new_string\":\"y\"}"}</tool_call>"#,
            &["a.c change 1 Closed"],
        );
        check(
            r#"<tool_call>{"name": "read", "arguments": {"path": "a.c"}}</tool_call>"#,
            &[],
        );
    }

    #[test]
    fn functions_in_tags() {
        let call = "<function=write_file>\n<parameter=path>\nsrc/a.c\n</parameter>\n<parameter=content>\nint x;\n\n</parameter>\n</function>\n";
        for text in [
            format!("<tool_call>\n{call}</tool_call>\n"),
            call.to_string(),
            format!("{call}</tool_call>"),
        ] {
            check(&text, &["src/a.c \"int x;\\n\" Closed"]);
        }
        check(
            "<function=edit>\n<parameter=file_path>a.c</parameter>\n<parameter=old_string>x</parameter>\n<parameter=new_string>\n</parameter>\n<parameter=replace_all>true</parameter>\n</function>",
            &["a.c change 1 Closed"],
        );
        check(
            "<function=read_file>\n<parameter=path>\na.c\n</parameter>\n</function>",
            &[],
        );
    }

    #[test]
    fn verbatim_parameter() {
        let text = "<function=write_file>\n<parameter=path>a.c</parameter>\n<parameter=content>\nint x;\n</parameter>\n</function>";
        let block = capture::blocks(text).pop().expect("one block");
        assert_eq!(&text[block.verbatim.expect("verbatim")], "int x;");
    }

    #[test]
    fn broken_off() {
        check(
            r#"<tool_call>{"name": "write", "arguments": {"path": "a.c", "content": "int"#,
            &["a.c malformed Unclosed"],
        );
        check(
            "<function=write_file>\n<parameter=path>\na.c\n</parameter>\n<parameter=content>\nint x;",
            &["a.c \"int x;\" Unclosed"],
        );
        check(
            "<function=edit>\n<parameter=path>a.c</parameter>\n<parameter=old_str>\nx\n</parameter>\n<parameter=new_str>\ny",
            &["a.c malformed Unclosed"],
        );
        check(
            "<tool_call>{\"name\": \"read\", \"arguments\": {\"path\": \"a.c",
            &[],
        );
    }

    #[test]
    fn prose_about_tags() {
        check("Wrap it in `<tool_call>{...}</tool_call>` tags.", &[]);
        check("<tool_call>\nis a tag\n", &[]);
        check("<function=x>\nis a tag\n", &[]);
    }
}
