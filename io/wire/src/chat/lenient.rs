//! JSON of model servers, read by the field and as leniently as clients read it: what isn't as expected is absent, and nothing else is
//! lost.

use serde_json::Value;

use super::json_text::{canonical_json, without_lone_surrogates};

/// What stands in the place of what is no JSON, though some server writes it: no client can tell more.
const NO_NUMBERS: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

/// Reads a value; `None` where no client could.
pub(super) fn value_of(json: &[u8]) -> Option<Value> {
    let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
    let read = serde_json::from_slice(json).ok();
    read.or_else(|| {
        let text = String::from_utf8_lossy(json);
        let text = without_lone_surrogates(&text);
        serde_json::from_str(&with_numbers(&text)).ok()
    })
}

/// JSON in which null stands for what is no number, or too large for one.
fn with_numbers(json: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(json.len()), json);
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.');
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '"' => end_of_string(rest),
            c if is_of_word(c) => rest.find(|c| !is_of_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (part, after) = rest.split_at(end);
        let is_too_large = || part.parse::<f64>().is_ok_and(f64::is_infinite);
        match NO_NUMBERS.contains(&part) || is_of_word(first) && is_too_large() {
            true => out.push_str("null"),
            false => out.push_str(part),
        }
        rest = after;
    }
    out
}

/// The length of a string with its quotes.
fn end_of_string(json: &str) -> usize {
    let mut is_escaped = false;
    let closing = json.bytes().enumerate().skip(1).find(|(_, byte)| {
        let ends = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        ends
    });
    closing.map_or(json.len(), |(at, _)| at + 1)
}

/// Fields of an object, as far as they are what is asked for.
pub(super) trait Fields {
    /// A text; empty if there is none.
    fn text(&self, name: &str) -> &str;
    /// A number, also one that is written as a text or with a point.
    fn number(&self, name: &str) -> Option<u64>;
    /// The same, where it fits.
    fn figure(&self, name: &str) -> Option<u32>;
    /// A list; empty if there is none.
    fn list(&self, name: &str) -> &[Value];
    /// The value, unless it is null, false, 0 or empty.
    fn said(&self, name: &str) -> Option<&Value>;
    /// A word: neither empty nor `null`.
    fn word(&self, name: &str) -> Option<&str>;
    /// A call's arguments as a text, which some servers send as they are.
    fn arguments(&self, name: &str) -> String;
}

impl Fields for Value {
    fn text(&self, name: &str) -> &str {
        self[name].as_str().unwrap_or_default()
    }

    fn number(&self, name: &str) -> Option<u64> {
        match &self[name] {
            Value::String(text) => text.trim().parse().ok(),
            value => value.as_u64().or_else(|| {
                let whole = value.as_f64().filter(|it| it.fract() == 0.0 && *it >= 0.0);
                whole.map(|it| it as u64)
            }),
        }
    }

    fn figure(&self, name: &str) -> Option<u32> {
        u32::try_from(self.number(name)?).ok()
    }

    fn list(&self, name: &str) -> &[Value] {
        self[name].as_array().map_or(&[], Vec::as_slice)
    }

    fn said(&self, name: &str) -> Option<&Value> {
        self.get(name).filter(|value| match value {
            Value::Null => false,
            Value::String(text) => !text.is_empty(),
            Value::Array(items) => !items.is_empty(),
            Value::Object(members) => !members.is_empty(),
            Value::Bool(is_so) => *is_so,
            Value::Number(number) => number.as_f64() != Some(0.0),
        })
    }

    fn word(&self, name: &str) -> Option<&str> {
        let word = self[name].as_str()?.trim();
        Some(word).filter(|word| !matches!(*word, "" | "null" | "None"))
    }

    fn arguments(&self, name: &str) -> String {
        match &self[name] {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            value => canonical_json(&value.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_json() {
        let check = |text: &str, expected: Option<Value>| {
            assert_eq!(value_of(text.as_bytes()), expected, "{text}");
        };
        check("\u{feff}{}", Some(json!({})));
        check(
            r#"{"a": NaN, "b": [-Infinity, 1e400, -2.5e3], "c": "NaN \" 1e400"}"#,
            Some(json!({"a": null, "b": [null, null, -2500.0], "c": "NaN \" 1e400"})),
        );
        check(r#"{"a": "\ud83d x"}"#, Some(json!({"a": "\u{fffd} x"})));
        check("{\"a\": ", None);
        check("upstream is busy", None);
    }

    #[test]
    fn fields() {
        let odd = json!({"a": "3", "b": 3.0, "c": -1, "d": "", "e": "null", "f": {"x": 1}, "g": 7});
        let numbers = ["a", "b", "c", "g", "z"].map(|name| odd.number(name));
        assert_eq!(numbers, [Some(3), Some(3), None, Some(7), None]);
        assert_eq!([odd.word("d"), odd.word("e"), odd.word("g")], [None; 3]);
        assert_eq!(odd.arguments("f"), r#"{"x":1}"#);
        assert!(odd.said("d").is_none() && odd.said("f").is_some());
        assert_eq!((odd.list("f").len(), odd.text("g")), (0, ""));
        // What is no object has no fields.
        assert_eq!(
            (json!("ping").text("a"), json!([1]).number("a")),
            ("", None)
        );
    }
}
