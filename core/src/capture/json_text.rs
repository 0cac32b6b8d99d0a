//! JSON text with other strings in the place of some; all else stays byte for byte.

use alloc::string::{String, ToString};
use core::ops::Range;

use serde_json::Value;

/// A text is no object, list or string in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoJson;

/// The JSON text with what `change` gives in the place of the strings that it gives anything for, keys left out; `None` if
/// there are none. The strings are handed out in order.
///
/// # Errors
/// When the text is no JSON.
pub(crate) fn with_others(
    json: &str,
    change: &mut dyn FnMut(&str) -> Option<String>,
) -> Result<Option<String>, NoJson> {
    if !json.trim_start().starts_with(['{', '[', '"'])
        || serde_json::from_str::<Value>(json).is_err()
    {
        return Err(NoJson);
    }
    let mut out = String::new();
    let mut copied = 0;
    each_string(json, &mut |range| {
        let Ok(said) = serde_json::from_str::<String>(&json[range.clone()]) else {
            return;
        };
        if let Some(new) = change(&said) {
            out.push_str(&json[copied..range.start]);
            out.push_str(&Value::from(new).to_string());
            copied = range.end;
        }
    });
    if copied == 0 {
        return Ok(None);
    }
    out.push_str(&json[copied..]);
    Ok(Some(out))
}

/// JSON in JSON in JSON: what is nested deeper isn't looked into.
const NESTED_MAX: u32 = 3;

/// Hands out a text, or the strings in it if it is JSON, and takes other texts for them. `None` if nothing changes.
pub(crate) fn change_strings(
    text: &str,
    change: &mut dyn FnMut(&str) -> Option<String>,
) -> Option<String> {
    change_nested(text, NESTED_MAX, change)
}

fn change_nested(
    text: &str,
    nested_max: u32,
    change: &mut dyn FnMut(&str) -> Option<String>,
) -> Option<String> {
    if nested_max > 0 {
        let strings = with_others(text, &mut |string| {
            change_nested(string, nested_max - 1, change)
        });
        if let Ok(changed) = strings {
            return changed;
        }
        if is_json_by_lines(text) {
            return each_line(text, &mut |line| change_nested(line, nested_max, change));
        }
    }
    change(text)
}

/// Whether a text is several lines of JSON.
fn is_json_by_lines(text: &str) -> bool {
    let mut lines = text.lines();
    let is_json = |line: &str| with_others(line, &mut |_| None).is_ok();
    text.starts_with(['{', '[']) && lines.next().is_some_and(is_json) && lines.next().is_some()
}

fn each_line(text: &str, change: &mut dyn FnMut(&str) -> Option<String>) -> Option<String> {
    let mut changed = None;
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches('\n');
        match change(content) {
            Some(new) => {
                changed = Some(());
                out.push_str(&new);
                out.push_str(&line[content.len()..]);
            }
            None => out.push_str(line),
        }
    }
    changed.map(|()| out)
}

/// Every string of a valid JSON text but its keys, quotes included.
fn each_string(json: &str, visit: &mut dyn FnMut(Range<usize>)) {
    let bytes = json.as_bytes();
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'"', &bytes[at..]) {
        let start = at + found;
        at = end_of_string(bytes, start);
        let mut behind = bytes[at..]
            .iter()
            .filter(|byte| !byte.is_ascii_whitespace());
        if behind.next() != Some(&b':') {
            visit(start..at);
        }
    }
}

/// Behind the quote that ends the string which starts at `start`.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(found) = bytes
        .get(at..)
        .and_then(|rest| memchr::memchr2(b'"', b'\\', rest))
    {
        if bytes[at + found] == b'"' {
            return at + found + 1;
        }
        at += found + 2;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    fn check(json: &str, expected: Result<Option<&str>, NoJson>) {
        let changed = with_others(json, &mut |said| {
            said.starts_with('x').then(|| format!("new {said}"))
        });
        let changed = changed.as_ref().map(Option::as_deref);
        assert_eq!(changed.map_err(|flaw| *flaw), expected, "{json}");
    }

    #[test]
    fn all_else_stays_byte_for_byte() {
        check(
            "{ \"z\" : 1.50, \"x\" : \"x\\u00e9\", \"k\":\"\\u0079\" }\n",
            Ok(Some(
                "{ \"z\" : 1.50, \"x\" : \"new xé\", \"k\":\"\\u0079\" }\n",
            )),
        );
        check(
            r#"[{"b":["x","y"],"path":"p.c"},{"c":"x"}, "x"]"#,
            Ok(Some(
                r#"[{"b":["new x","y"],"path":"p.c"},{"c":"new x"}, "new x"]"#,
            )),
        );
        check(r#""x\"\\""#, Ok(Some(r#""new x\"\\""#)));
        check(r#"{"x":"y"}"#, Ok(None));
        for text in [r#"{"a":"x"} {"a":"x"}"#, "x", "{\"a\":\"x"] {
            check(text, Err(NoJson));
        }
    }
}
