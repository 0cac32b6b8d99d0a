//! JSON text with other strings in the place of some; all else stays byte for byte.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use serde_json::Value;

/// A string in a JSON text, keys left out.
pub(super) struct Text<'j> {
    /// The key that it stands under; a list's strings stand under the list's.
    pub(super) key: Option<&'j str>,
    /// The path that the object around it names.
    pub(super) path: Option<&'j str>,
    /// What it says.
    pub(super) said: &'j str,
}

/// A text is no object, list or string in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoJson;

/// The JSON text with what `other` gives in the place of the strings that it gives anything for; `None` if there are none.
/// `paths` are the keys under which an object names its file.
pub(super) fn with_others(
    json: &str,
    paths: &[&str],
    other: &mut dyn FnMut(Text<'_>) -> Option<String>,
) -> Result<Option<String>, NoJson> {
    if !begins(json) || serde_json::from_str::<Value>(json).is_err() {
        return Err(NoJson);
    }
    let (places, objects) = places(json, paths);
    let mut out = String::new();
    let mut copied = 0;
    for place in &places {
        let Some(said) = decoded(&json[place.range.clone()]) else {
            continue;
        };
        let key = place.key.clone().and_then(|key| decoded(&json[key]));
        let path = place
            .object
            .and_then(|object| decoded(&json[objects[object].clone()?]));
        let text = Text {
            key: key.as_deref(),
            path: path.as_deref(),
            said: &said,
        };
        if let Some(new) = other(text) {
            out.push_str(&json[copied..place.range.start]);
            out.push_str(&Value::from(new).to_string());
            copied = place.range.end;
        }
    }
    if copied == 0 {
        return Ok(None);
    }
    out.push_str(&json[copied..]);
    Ok(Some(out))
}

/// Whether a text begins as an object, a list or a string.
pub(super) fn begins(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[', '"'])
}

fn decoded(token: &str) -> Option<String> {
    serde_json::from_str(token).ok()
}

/// Where a string stands, quotes included.
struct Place {
    range: Range<usize>,
    key: Option<Range<usize>>,
    object: Option<usize>,
}

/// What is open around a place.
struct Open {
    /// Which object it is or stands in.
    object: Option<usize>,
    key: Option<Range<usize>>,
    is_object: bool,
    /// Whether the next string is a key.
    awaits_key: bool,
}

/// All strings of a valid JSON text but its keys, and where each object names its file.
fn places(json: &str, paths: &[&str]) -> (Vec<Place>, Vec<Option<Range<usize>>>) {
    let bytes = json.as_bytes();
    let mut places = Vec::new();
    let mut objects: Vec<Option<Range<usize>>> = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' => {
                open.push(Open {
                    object: Some(objects.len()),
                    key: None,
                    is_object: true,
                    awaits_key: true,
                });
                objects.push(None);
            }
            b'[' => {
                let around = open.last();
                open.push(Open {
                    object: around.and_then(|around| around.object),
                    key: around.and_then(|around| around.key.clone()),
                    is_object: false,
                    awaits_key: false,
                });
            }
            b'}' | b']' => {
                open.pop();
            }
            b',' | b':' => {
                if let Some(around) = open.last_mut() {
                    around.awaits_key = around.is_object && *byte == b',';
                }
            }
            b'"' => {
                let range = at..end_of_string(bytes, at);
                at = range.end - 1;
                match open.last_mut() {
                    Some(around) if around.awaits_key => around.key = Some(range),
                    around => {
                        let (key, object) = around
                            .map_or((None, None), |around| (around.key.clone(), around.object));
                        let names = |key: &Range<usize>| {
                            paths.contains(&json[key.clone()].trim_matches('"'))
                        };
                        if let (Some(object), true) = (object, key.as_ref().is_some_and(names)) {
                            objects[object].get_or_insert(range.clone());
                        }
                        places.push(Place { range, key, object });
                    }
                }
            }
            _ => {}
        }
        at += 1;
    }
    (places, objects)
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
        let changed = with_others(json, &["path"], &mut |text| {
            let key = text.key.unwrap_or("-");
            let path = text.path.unwrap_or("-");
            text.said
                .starts_with('x')
                .then(|| format!("{key} {path} {}", text.said))
        });
        let changed = changed.as_ref().map(Option::as_deref);
        assert_eq!(changed.map_err(|flaw| *flaw), expected, "{json}");
    }

    #[test]
    fn all_else_stays_byte_for_byte() {
        check(
            "{ \"z\" : 1.50, \"a\": \"x\\u00e9\", \"k\":\"\\u0079\" }\n",
            Ok(Some(
                "{ \"z\" : 1.50, \"a\": \"a - xé\", \"k\":\"\\u0079\" }\n",
            )),
        );
        check(
            r#"[{"b":["x","y"],"path":"p.c"},{"c":"x"}, "x"]"#,
            Ok(Some(
                r#"[{"b":["b p.c x","y"],"path":"p.c"},{"c":"c - x"}, "- - x"]"#,
            )),
        );
        check(r#""x\"\\""#, Ok(Some(r#""- - x\"\\""#)));
        check(r#"{"x":"y"}"#, Ok(None));
        for text in [r#"{"a":"x"} {"a":"x"}"#, "x", "{\"a\":\"x"] {
            check(text, Err(NoJson));
        }
    }
}
