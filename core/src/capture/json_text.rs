//! Replaces strings in JSON text; everything else stays byte for byte.

use alloc::string::{String, ToString};
use core::ops::Range;

use serde_json::{Deserializer, Value};

/// A text isn't a JSON object, list or string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoJson;

/// The JSON text with each string that isn't a key replaced by what `change` returns for it; `None` if `change` returns `None`
/// for all of them. The strings are handed out in order.
///
/// # Errors
/// [`NoJson`] if the text isn't a JSON object, list or string.
pub fn with_others(
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
    each_string(json, &mut |range, string| {
        if let Some(new) = change(string) {
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

/// The depth of JSON inside strings of JSON up to which strings are replaced.
const NESTED_MAX: u32 = 3;

/// Replaces a text or, if it is JSON, the strings in it by what `change` returns. `None` if nothing changes.
pub fn change_strings(
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

/// Visits each string in a valid JSON text except keys, with its range, quotes included.
fn each_string(json: &str, visit: &mut dyn FnMut(Range<usize>, &str)) {
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'"', &json.as_bytes()[at..]) {
        let start = at + found;
        let mut strings = Deserializer::from_str(&json[start..]).into_iter::<String>();
        let string = strings.next().and_then(Result::ok);
        let string = string.expect("a quote in valid JSON begins a string");
        at = start + strings.byte_offset();
        if !json[at..].trim_start().starts_with(':') {
            visit(start..at, &string);
        }
    }
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
    fn rest_unchanged() {
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
