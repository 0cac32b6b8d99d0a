//! A prompt that is one text: completions and Ollama's generate, and responses whose input is a text.

use serde_json::value::RawValue;
use tslp_core::message::Role;

use crate::chat::wire_message::WireMessage;

/// Texts that only a chat template or a fill-in-the-middle prompt holds, each with what follows soon after it.
const TEMPLATE_TOKENS: [(&str, &str); 10] = [
    ("<|", "|>"),
    ("<\u{ff5c}", "\u{ff5c}>"),
    ("<fim_", ">"),
    ("<start_of_turn>", ""),
    ("<PRE>", ""),
    ("<s>", ""),
    ("[INST]", ""),
    ("[SUFFIX]", ""),
    ("[PREFIX]", ""),
    ("<<SYS>>", ""),
];

/// Characters between the two ends of such a token, at most.
const TOKEN_CHARS_MAX: usize = 48;

/// Whether a client has put a whole conversation, or the code around a cursor, into the text: its authors can't be
/// distinguished.
pub(in crate::chat) fn is_templated(text: &str) -> bool {
    TEMPLATE_TOKENS.iter().any(|(open, close)| {
        text.match_indices(open).any(|(at, _)| {
            let near = text[at + open.len()..].chars().take(TOKEN_CHARS_MAX);
            close.is_empty() || near.collect::<String>().contains(close)
        })
    })
}

/// Reads a text as the user's message.
pub(in crate::chat) fn read_text(
    unit: &str,
    role: Role,
) -> Result<Vec<WireMessage>, serde_json::Error> {
    let literal: &RawValue = serde_json::from_str(unit)?;
    let mut message = WireMessage::new(role);
    message.add_part(unit, literal)?;
    Ok(vec![message])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_detected() {
        for templated in [
            "<|im_start|>user\nhi<|im_end|>",
            "a<fim_prefix>b<fim_suffix>",
            "<\u{ff5c}User\u{ff5c}>hi",
            "[INST] hi [/INST]",
            "<start_of_turn>user",
        ] {
            assert!(is_templated(templated), "{templated}");
        }
        for text in ["a <| b", "x |> f <| y", "if (a<s) b;", "arr[PRE]", ""] {
            assert!(!is_templated(text), "{text}");
        }
    }
}
