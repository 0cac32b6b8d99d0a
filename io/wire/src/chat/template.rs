//! JSON as the ledger keeps it: texts that the Vault holds are named, not stored again, and credentials are left out.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use tslp_core::hash::ArtifactHash;
use tslp_core::redact;

use super::json_text::{json_escaped, write_string};

/// The first byte of a reference; it occurs in no UTF-8 text.
const REFERENCE: u8 = 0xff;

/// The mark, a hash, where the text begins in the artifact, and how long it is.
const REFERENCE_BYTES: usize = 1 + HASH_BYTES + 4 + 4;
const HASH_BYTES: usize = 32;

/// Bytes by which the beginning of a known line is found.
const WINDOW: usize = 32;

/// A shorter text costs less than a reference and what it takes to read it.
const REFERRED_BYTES_MIN: usize = 64;

/// JSON within JSON that is searched for credentials: a tool call's arguments, and what a tool may pack into them.
const NESTED_MAX: usize = 3;

const _: () = assert!(REFERRED_BYTES_MIN > REFERENCE_BYTES && REFERRED_BYTES_MIN >= WINDOW);

/// A text that the Vault holds.
#[derive(Clone, Debug)]
pub struct KnownText<'t> {
    /// Its address.
    pub hash: ArtifactHash,
    /// All of it.
    pub text: Cow<'t, str>,
}

/// An error while a template is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// It has no template's layout.
    #[error("it isn't laid out as tslp lays it out")]
    Malformed,
    /// The Vault lacks a text.
    #[error("the ledger doesn't hold the text {0}")]
    Missing(ArtifactHash),
}

/// The JSON, or a piece of it that is cut outside of its strings, with each long run of lines of a known text replaced by a
/// reference. Where it holds credentials they are redacted, and nothing else is changed.
#[must_use]
pub fn json_template(json: &str, known: &[KnownText<'_>]) -> Vec<u8> {
    let json = redacted_json(json, known, NESTED_MAX);
    let bytes = json.as_bytes();
    let mut known: Vec<EscapedText> = known
        .iter()
        .filter(|known| known.text.len() >= WINDOW)
        .map(EscapedText::from_known)
        .collect();
    // Of two that begin with the same line the longer one goes on for longer.
    known.sort_by_key(|known| Reverse(known.json.len()));
    // Most texts are there from their beginnings on, and then nobody has to remember where their lines are.
    let beginnings = KnownLines::of_beginnings(&known);
    let mut shared = beginnings.shared_with(bytes, 0..bytes.len());
    let ends = shared.iter().map(|part| part.bytes.end);
    let starts = shared.iter().map(|part| part.bytes.start);
    let gaps: Vec<Range<usize>> = core::iter::once(0)
        .chain(ends)
        .zip(starts.chain([bytes.len()]))
        .map(|(start, end)| start..end)
        .filter(|gap| gap.len() >= REFERRED_BYTES_MIN)
        .collect();
    let lines = KnownLines::in_gaps(&known, bytes, &gaps);
    shared.extend(
        gaps.into_iter()
            .flat_map(|gap| lines.shared_with(bytes, gap)),
    );
    shared.sort_by_key(|part| part.bytes.start);
    let mut out = Vec::new();
    let mut copied = 0;
    for part in shared {
        out.extend_from_slice(&bytes[copied..part.bytes.start]);
        out.push(REFERENCE);
        out.extend_from_slice(&part.hash.0);
        out.extend_from_slice(&part.start.to_le_bytes());
        out.extend_from_slice(&part.length.to_le_bytes());
        copied = part.bytes.end;
    }
    out.extend_from_slice(&bytes[copied..]);
    out
}

/// The JSON that a template was made of. `look_up` gives the bytes of an artifact.
///
/// # Errors
/// See [`TemplateError`].
pub fn expand_template(
    template: &[u8],
    look_up: &mut dyn FnMut(ArtifactHash) -> Option<Vec<u8>>,
) -> Result<Vec<u8>, TemplateError> {
    let mut out = Vec::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.iter().position(|byte| *byte == REFERENCE) {
        out.extend_from_slice(&rest[..at]);
        let reference = rest
            .get(at + 1..at + REFERENCE_BYTES)
            .ok_or(TemplateError::Malformed)?;
        let (hash, place) = reference.split_at(HASH_BYTES);
        let (start, length) = place.split_at(4);
        let hash = ArtifactHash(hash.try_into().map_err(|_| TemplateError::Malformed)?);
        let text = look_up(hash).ok_or(TemplateError::Missing(hash))?;
        let start = parse_number(start)?;
        let text = text
            .get(start..start.saturating_add(parse_number(length)?))
            .and_then(|text| core::str::from_utf8(text).ok())
            .ok_or(TemplateError::Malformed)?;
        out.extend_from_slice(json_escaped(text).as_bytes());
        rest = &rest[at + REFERENCE_BYTES..];
    }
    out.extend_from_slice(rest);
    Ok(out)
}

fn parse_number(bytes: &[u8]) -> Result<usize, TemplateError> {
    let bytes = bytes.try_into().map_err(|_| TemplateError::Malformed)?;
    usize::try_from(u32::from_le_bytes(bytes)).map_err(|_| TemplateError::Malformed)
}

/// Hands every place to `visit` where a line may begin in escaped text: after a quote, an escaped line end, and a line end
/// that was escaped twice. It says from where on to go on.
fn for_each_line(json: &[u8], places: Range<usize>, mut visit: impl FnMut(usize) -> usize) {
    let mut at = places.start;
    while let Some(found) = json
        .get(at..places.end)
        .and_then(|rest| memchr::memchr2(b'"', b'\\', rest))
    {
        let mark = at + found;
        let (next, begins) = match &json[mark..] {
            [b'"', ..] => (mark + 1, true),
            [b'\\', b'n', ..] => (mark + 2, true),
            [b'\\', b'\\', b'n', ..] => (mark + 3, true),
            _ => ((mark + 2).min(json.len()), false),
        };
        at = if begins { visit(next).max(next) } else { next };
    }
}

/// A known text, escaped.
struct EscapedText {
    hash: ArtifactHash,
    json: String,
}

impl EscapedText {
    fn from_known(known: &KnownText<'_>) -> Self {
        Self {
            hash: known.hash,
            json: json_escaped(&known.text),
        }
    }

    /// The length of the whole characters and escapes within `bytes` from `start`, and their length unescaped.
    fn whole_characters(&self, start: usize, bytes: usize) -> (usize, usize) {
        let json = self.json.as_bytes();
        let mut end = start + bytes;
        while !self.json.is_char_boundary(end) {
            end -= 1;
        }
        let (mut at, mut length) = (start, 0);
        while at < end {
            let escape = match json[at..] {
                [b'\\', b'u', ..] => 6,
                [b'\\', ..] => 2,
                _ => 1,
            };
            if at + escape > end {
                break;
            }
            at += escape;
            length += 1;
        }
        (at - start, length)
    }
}

/// Where a line of a known text is: the index of its text, its position in it, and in the escaped form.
type KnownPlace = (usize, usize, usize);

/// Lines of known texts, by their first bytes; of equal ones the first.
struct KnownLines<'e> {
    known: &'e [EscapedText],
    /// Those that are looked for, and where they are if they are known.
    places: HashMap<&'e [u8], Option<KnownPlace>>,
}

/// A part of a known text in some JSON.
struct SharedPart {
    bytes: Range<usize>,
    hash: ArtifactHash,
    start: u32,
    length: u32,
}

impl<'e> KnownLines<'e> {
    /// The first line of each text.
    fn of_beginnings(known: &'e [EscapedText]) -> Self {
        let mut places = HashMap::new();
        for (index, text) in known.iter().enumerate() {
            if let Some(window) = text.json.as_bytes().get(..WINDOW) {
                places.entry(window).or_insert(Some((index, 0, 0)));
            }
        }
        Self { known, places }
    }

    /// The lines that these gaps in some JSON have, too. Only where a line begins: looking at every byte of a long conversation would
    /// cost more than it saves.
    fn in_gaps(known: &'e [EscapedText], json: &'e [u8], gaps: &[Range<usize>]) -> Self {
        let mut places = HashMap::new();
        if known.is_empty() || gaps.is_empty() {
            return Self { known, places };
        }
        for gap in gaps {
            let mut look_for = |at: usize| {
                if let Some(window) = json[..gap.end].get(at..at + WINDOW) {
                    places.insert(window, None);
                }
                at
            };
            look_for(gap.start);
            for_each_line(json, gap.clone(), look_for);
        }
        for (index, text) in known.iter().enumerate() {
            let json = text.json.as_bytes();
            let (mut before, mut start) = (0, 0);
            let mut add = |at: usize| {
                start += text.whole_characters(before, at - before).1;
                before = at;
                let window = json.get(at..at + WINDOW);
                if let Some(place) = window.and_then(|window| places.get_mut(window)) {
                    place.get_or_insert((index, start, at));
                }
                at
            };
            add(0);
            for_each_line(json, 0..json.len(), add);
        }
        Self { known, places }
    }

    /// What these bytes of some JSON share with known texts and is worth a reference, in order.
    fn shared_with(&self, json: &[u8], bytes: Range<usize>) -> Vec<SharedPart> {
        let mut shared: Vec<SharedPart> = Vec::new();
        let mut look = |at: usize| match self.longest_at(json, at..bytes.end) {
            Some(part) => {
                let end = part.bytes.end;
                shared.push(part);
                end
            }
            None => at,
        };
        let from = look(bytes.start);
        for_each_line(json, from..bytes.end, look);
        shared
    }

    /// The part that a known text shares with the beginning of these bytes.
    fn longest_at(&self, json: &[u8], bytes: Range<usize>) -> Option<SharedPart> {
        let rest = json.get(bytes.clone())?;
        let (index, start, at) = (*self.places.get(rest.get(..WINDOW)?)?)?;
        let text = &self.known[index];
        let same = text.json.as_bytes()[at..]
            .iter()
            .zip(rest)
            .take_while(|(one, other)| one == other)
            .count();
        let (escaped_bytes, length) = text.whole_characters(at, same);
        if escaped_bytes < REFERRED_BYTES_MIN {
            return None;
        }
        Some(SharedPart {
            bytes: bytes.start..bytes.start + escaped_bytes,
            hash: text.hash,
            start: u32::try_from(start).ok()?,
            length: u32::try_from(length).ok()?,
        })
    }
}

/// The JSON with the credentials in its strings redacted; other bytes stay as they are.
fn redacted_json<'j>(json: &'j str, known: &[KnownText<'_>], nested: usize) -> Cow<'j, str> {
    let mut out = Vec::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(literal) = next_literal(json.as_bytes(), at) {
        at = literal.end;
        let raw = &json[literal.clone()];
        // A lone surrogate is no text; its escape can't be a part of a key.
        let text: Cow<'_, str> = if raw.contains('\\') {
            serde_json::from_str::<String>(raw).map_or_else(|_| Cow::Borrowed(raw), Cow::Owned)
        } else {
            Cow::Borrowed(&raw[1..raw.len() - 1])
        };
        if let Some(clean) = redacted_text(&text, known, nested) {
            drop(text);
            out.reserve(json.len() - copied);
            out.extend_from_slice(&json.as_bytes()[copied..literal.start]);
            write_string(&clean, &mut out);
            copied = literal.end;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    out.extend_from_slice(&json.as_bytes()[copied..]);
    Cow::Owned(String::from_utf8(out).expect("JSON is UTF-8"))
}

/// A string's text without credentials, also where it is JSON itself; `None` if there are none.
fn redacted_text(text: &str, known: &[KnownText<'_>], nested: usize) -> Option<String> {
    // What the Vault holds was searched before it got there.
    let clean = match known.iter().any(|known| known.text == text) {
        true => Cow::Borrowed(text),
        false => redact::without_credentials(text),
    };
    let is_json = nested > 0 && clean.starts_with(['{', '[']) && clean.contains('\\');
    let cleaner = if is_json {
        redacted_json(&clean, known, nested - 1)
    } else {
        Cow::Borrowed(&*clean)
    };
    (cleaner != text).then(|| cleaner.into_owned())
}

/// The next string with its quotes.
fn next_literal(json: &[u8], from: usize) -> Option<Range<usize>> {
    let start = from + json[from..].iter().position(|byte| *byte == b'"')?;
    let mut at = start + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', json.get(at..)?)?;
        if json[at] == b'"' {
            return Some(start..at + 1);
        }
        at += 2;
    }
}

impl fmt::Debug for EscapedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} as JSON", self.hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-proj-abcdEFGH1234567890abcd";

    fn known(text: &str) -> KnownText<'_> {
        KnownText {
            hash: ArtifactHash::of(text.as_bytes()),
            text: Cow::Borrowed(text),
        }
    }

    /// Makes a template and reads it; gives its length.
    fn check(json: &str, texts: &[&str], expected: &str) -> usize {
        let known: Vec<KnownText<'_>> = texts.iter().copied().map(known).collect();
        let made = json_template(json, &known);
        let mut look_up = |hash: ArtifactHash| {
            let text = known.iter().find(|text| text.hash == hash)?;
            Some(text.text.as_bytes().to_vec())
        };
        let read = expand_template(&made, &mut look_up).expect("a template");
        assert_eq!(
            String::from_utf8(read).expect("UTF-8"),
            expected,
            "{texts:?}"
        );
        made.len()
    }

    fn message(text: &str) -> String {
        serde_json::json!({ "role": "tool", "content": text }).to_string()
    }

    fn code(lines: usize) -> String {
        (0..lines)
            .map(|line| format!("    slot[{line}] = \"é\\n\"; /* \u{1} */\n"))
            .collect()
    }

    /// A known text is referenced and not stored again.
    #[test]
    fn known_text() {
        let text = code(100);
        let json = message(&text);
        let frame = message("").len();
        assert_eq!(check(&json, &[&text], &json), frame + REFERENCE_BYTES);
        assert_eq!(check(&json, &[], &json), json.len());
        assert_eq!(
            check(&json, &["no", &code(2), &text], &json),
            frame + REFERENCE_BYTES
        );
    }

    #[test]
    fn parts_found() {
        let text = code(100);
        let (first, second) = text.split_at(text.find("slot[50]").expect("a line") - 4);
        for around in [
            format!("state\n\n{text}\n\nmore"),
            format!("{first}[withheld]\n{second}"),
            format!("{}{}", &first[7..], second),
        ] {
            let json = message(&around);
            let length = check(&json, &[&text], &json);
            assert!(
                length < message("").len() + 3 * REFERENCE_BYTES + 40,
                "{length}"
            );
        }
        let parts = serde_json::json!({"content": [{"text": first}, {"text": second}]}).to_string();
        assert!(check(&parts, &[&text], &parts) < 150);
    }

    /// What other writers escape stays as they wrote it.
    #[test]
    fn other_escapes() {
        let text = format!("{}für \u{7f} </script>\n{}", code(10), code(20));
        let json = message(&text);
        for (one, other) in [
            ("ü", "\\u00fc"),
            ("</", "<\\/"),
            ("é", "\\u00e9"),
            ("\\u0001", "\\u0001"),
        ] {
            let json = json.replace(one, other);
            check(&json, &[&text], &json);
        }
        let odd = "{ \"a\" : \"\\ud800\" , \"b\":\"\\\\\\\"\\n\" }";
        check(odd, &[&text], odd);
    }

    #[test]
    fn escaped_arguments() {
        let arguments = serde_json::json!({"path": "a.c", "content": code(30)}).to_string();
        let json = serde_json::json!({"function": {"arguments": arguments}}).to_string();
        assert!(check(&json, &[&arguments], &json) < 100);
        let changed = arguments.replace("slot[10]", "slots[10]");
        let json = serde_json::json!({"function": {"arguments": changed}}).to_string();
        assert!(check(&json, &[&arguments], &json) < 250);
    }

    #[test]
    fn deep_credentials() {
        let pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n";
        for secret in [KEY, pem] {
            let text = format!("a\n{secret}\nb\n");
            let deep = serde_json::json!({"content": text}).to_string();
            let deeper = serde_json::json!({ "x": deep }).to_string();
            for text in [&text, &deep, &deeper] {
                let made = json_template(&message(text), &[]);
                let made = String::from_utf8(made).expect("UTF-8");
                assert!(made.contains(redact::MARKER), "{made}");
                assert!(
                    !made.contains("MIIE") && !made.contains("1234567890"),
                    "{made}"
                );
                let _: serde_json::Value = serde_json::from_str(&made).expect("JSON");
            }
        }
        // Redacted as it is in the Vault, the rest of the text is known.
        let text = format!("{}key = {KEY}\n{}", code(20), code(30));
        let recorded = redact::without_credentials(&text).into_owned();
        let length = check(&message(&text), &[&recorded], &message(&recorded));
        assert!(length < 150, "{length}");
    }

    #[test]
    fn repeated_line() {
        let text = "the same line again and again, and so on for ever\n".repeat(50_000);
        let json = message(&text[..text.len() - 7]);
        assert!(check(&json, &[&text], &json) < 200);
        let json = message(&text.replace("ever", "long"));
        check(&json, &[&text], &json);
    }

    #[test]
    fn malformed_refused() {
        let mut nothing = |_| None;
        let of = |bytes: &[u8], look_up: &mut dyn FnMut(ArtifactHash) -> Option<Vec<u8>>| {
            expand_template(bytes, look_up)
        };
        assert_eq!(
            of(&[REFERENCE], &mut nothing),
            Err(TemplateError::Malformed)
        );
        let hash = ArtifactHash([7; 32]);
        let mut reference = vec![REFERENCE];
        reference.extend_from_slice(&hash.0);
        reference.extend_from_slice(&[1, 0, 0, 0, 255, 255, 255, 255]);
        assert_eq!(
            of(&reference, &mut nothing),
            Err(TemplateError::Missing(hash))
        );
        let mut short = |_| Some(b"abc".to_vec());
        assert_eq!(of(&reference, &mut short), Err(TemplateError::Malformed));
        reference.truncate(37);
        reference.extend_from_slice(&[2, 0, 0, 0]);
        assert_eq!(of(&reference, &mut short), Ok(b"bc".to_vec()));
    }

    #[test]
    fn random_pieces() {
        let pieces = [
            "int main(void) {\n",
            "\\n",
            "\n",
            "\"",
            "é",
            "\u{1}",
            "    return 0; /* a long comment line */\n",
            "x",
            "static const char *names[] = { \"one\", \"two\" };\n",
        ];
        let mut state = 7_u64;
        let mut below = |end: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as usize % end
        };
        let mut shorter = 0;
        for _ in 0..2_000 {
            let mut text = |count: usize| -> String {
                (0..count).map(|_| pieces[below(pieces.len())]).collect()
            };
            let (one, two) = (text(30), text(10));
            let half: String = one.chars().take(200).filter(|c| *c != 'x').collect();
            let json = message(&format!("{two}{one}{two}\n{half}"));
            shorter += usize::from(check(&json, &[&one, &two], &json) < json.len());
        }
        assert!(shorter > 1_000, "{shorter}");
    }
}
