//! JSON as text: where its values are, and other values in their places.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// A replacement in some JSON.
pub(super) type JsonReplacement = (Range<usize>, Vec<u8>);

/// The position of `part` in `bytes`, of which it must be a subslice.
pub(super) fn range_in(bytes: &[u8], part: &[u8]) -> Range<usize> {
    let start = part.as_ptr().addr().wrapping_sub(bytes.as_ptr().addr());
    assert!(
        start <= bytes.len() && part.len() <= bytes.len() - start,
        "a part lies within its text"
    );
    start..start + part.len()
}

/// JSON as the same value is always written: a client reads a call's arguments and writes them anew.
pub(super) fn canonical_json(json: &str) -> String {
    match serde_json::from_str::<serde_json::Value>(json) {
        Ok(value) => value.to_string(),
        Err(_) => json.to_owned(),
    }
}

/// JSON whose every text can be read: halves of a surrogate pair that stand alone, such as an emoji cut in two by a JavaScript client
/// leaves, are replaced by U+FFFD. Both escapes are six bytes long, so what is found here has the same position in `json`.
pub(super) fn without_lone_surrogates(json: &str) -> Cow<'_, str> {
    let bytes = json.as_bytes();
    let half = |at: usize| {
        let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        let value = u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()?;
        (0xD800..0xE000).contains(&value).then_some(value)
    };
    let mut mended: Option<Vec<u8>> = None;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &bytes[at..]) {
        at += found;
        match half(at) {
            Some(0xD800..0xDC00) if half(at + 6).is_some_and(|low| low >= 0xDC00) => at += 12,
            Some(_) => {
                let mended = mended.get_or_insert_with(|| bytes.to_vec());
                mended[at..at + 6].copy_from_slice(b"\\ufffd");
                at += 6;
            }
            // An escape is two bytes at least; the second one may be a backslash, too.
            None => at = (at + 2).min(bytes.len()),
        }
    }
    match mended {
        Some(mended) => String::from_utf8(mended)
            .expect("an escape in place of another keeps UTF-8")
            .into(),
        None => json.into(),
    }
}

/// The position of a value in the JSON that it was read from.
pub(super) fn place_in(unit: &str, value: &RawValue) -> Range<usize> {
    range_in(unit.as_bytes(), value.get().as_bytes())
}

/// Adds a text as a JSON string.
pub(super) fn write_string(text: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, text).expect("a string is JSON, and a Vec takes all of it");
}

/// A text as a JSON string.
pub(super) fn json_string(text: &str) -> Vec<u8> {
    let mut json = Vec::with_capacity(text.len() + text.len() / 16 + 2);
    write_string(text, &mut json);
    json
}

/// A text as it is between the quotes of a JSON string.
pub(super) fn json_escaped(text: &str) -> String {
    let mut json = String::from_utf8(json_string(text)).expect("JSON is UTF-8");
    json.pop();
    json.remove(0);
    json
}

/// Writes JSON with other values in the places that are given in order.
pub(super) fn write_replaced(json: &str, replacements: &[JsonReplacement], out: &mut Vec<u8>) {
    let mut copied = 0;
    for (place, value) in replacements {
        debug_assert!(copied <= place.start, "places are in order and apart");
        out.extend_from_slice(&json.as_bytes()[copied..place.start]);
        out.extend_from_slice(value);
        copied = place.end;
    }
    out.extend_from_slice(&json.as_bytes()[copied..]);
}

/// An object; an array of the fields' values, which serde takes for one, is none.
///
/// # Errors
/// When it is something else, or isn't what `T` wants.
pub(super) fn read_object<'b, T: Deserialize<'b>>(json: &'b str) -> Result<T, serde_json::Error> {
    if !json.starts_with('{') {
        return Err(serde::de::Error::custom("not an object"));
    }
    serde_json::from_str(json)
}

/// A field that may be missing or null, both of which mean that there is nothing in it.
///
/// # Errors
/// When it is something else than a `T`.
pub(super) fn empty_if_null<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// A field that is there, even if it is null.
///
/// # Errors
/// When it is no JSON.
pub(super) fn present_value<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates() {
        let check = |json: &str, mended: &str| {
            let found = without_lone_surrogates(json);
            assert_eq!(found, mended);
            assert_eq!(found.len(), json.len());
            assert!(
                serde_json::from_str::<serde_json::Value>(&found).is_ok(),
                "{found}"
            );
        };
        check(r#""a\ud83d""#, r#""a\ufffd""#);
        check(r#""\ud83d\ude00""#, r#""\ud83d\ude00""#);
        check(
            r#""\uDE00\uD83D\uD83D\uDE00x""#,
            r#""\ufffd\ufffd\uD83D\uDE00x""#,
        );
        check(r#""\\ud83d""#, r#""\\ud83d""#);
        check(r#""\\\ud83d\n""#, r#""\\\ufffd\n""#);
        check(r#""\u00e9é""#, r#""\u00e9é""#);
    }
}
