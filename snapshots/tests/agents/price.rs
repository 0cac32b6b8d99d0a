//! What a model server has to read anew of a session's requests, as `agents/measure.py` counts it.

use std::fmt::Write as _;

use serde_json::Value;

/// For each body, the characters that follow its longest common prefix with any body before it.
pub(super) fn read_anew<'b>(bodies: impl Iterator<Item = &'b [u8]>) -> Vec<usize> {
    let mut known: Vec<String> = Vec::new();
    bodies
        .map(|body| {
            let text = rendered(&serde_json::from_slice(body).expect("a body"));
            let shared = known.iter().map(|other| shared_prefix(other, &text)).max();
            let anew = text[shared.unwrap_or(0)..].chars().count();
            known.push(text);
            anew
        })
        .collect()
}

/// A request as a ChatML-like template shows it to a model: the tools, then every message with its calls.
fn rendered(body: &Value) -> String {
    let mut text = String::new();
    for tool in body["tools"].as_array().into_iter().flatten() {
        let _ = writeln!(text, "{tool}");
    }
    for message in body["messages"].as_array().into_iter().flatten() {
        let _ = writeln!(
            text,
            "<|im_start|>{}",
            message["role"].as_str().unwrap_or_default()
        );
        match &message["content"] {
            Value::String(content) => text.push_str(content),
            Value::Array(parts) => {
                text.extend(parts.iter().filter_map(|part| part["text"].as_str()));
            }
            _ => {}
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let _ = writeln!(text, "{}", call.get("function").unwrap_or(call));
        }
        text.push_str("<|im_end|>\n");
    }
    text
}

/// How many bytes two texts share in front, in whole characters.
fn shared_prefix(one: &str, other: &str) -> usize {
    // By blocks first: each body is compared with every one before it.
    let (one, bytes) = (one.as_bytes(), other.as_bytes());
    let blocks = one.chunks(4096).zip(bytes.chunks(4096));
    let alike = blocks.take_while(|(a, b)| a == b);
    let alike: usize = alike.map(|(block, _)| block.len()).sum();
    let rest = one[alike..].iter().zip(&bytes[alike..]);
    let mut shared = alike + rest.take_while(|(a, b)| a == b).count();
    while !other.is_char_boundary(shared) {
        shared -= 1;
    }
    shared
}

/// What any earlier request began with is known.
#[test]
fn earlier_beginnings() {
    let body = |texts: &[&str]| {
        let messages = texts
            .iter()
            .map(|text| serde_json::json!({"content": text}));
        serde_json::json!({"messages": messages.collect::<Vec<_>>()}).to_string()
    };
    let bodies = [body(&["ab"]), body(&["xy"]), body(&["ab", "ö"])];
    let anew = read_anew(bodies.iter().map(String::as_bytes));
    let alone = "<|im_start|>\n".len() + 2 + "<|im_end|>\n".len();
    assert_eq!(anew, [alone, alone - 13, alone - 1]);
}
