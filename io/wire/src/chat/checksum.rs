//! Claude Code's checksum at the top of its system prompt: another with each request, so a model server reads everything anew.

use memchr::memmem;

/// Where the text that holds it begins, in JSON.
const HEADER: &[u8] = b"\"x-anthropic-billing-header:";

/// Gives the checksum of a request's body one value for ever, as long as it was; nothing else changes.
pub fn hold_checksum(body: &mut [u8]) {
    let starts: Vec<usize> = memmem::find_iter(body, HEADER).collect();
    for start in starts {
        let is_quoted = body[..start].ends_with(b"\\");
        let text = &body[start + HEADER.len()..];
        let end = text.iter().position(|byte| *byte == b'"');
        let found = memmem::find(&text[..end.unwrap_or(text.len())], b" cch=");
        if let Some(at) = found.filter(|_| !is_quoted) {
            let value = body[start + HEADER.len() + at..].iter_mut().skip(5);
            value
                .take_while(|byte| byte.is_ascii_alphanumeric())
                .for_each(|byte| *byte = b'0');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only the checksum is held.
    #[test]
    fn held_alone() {
        let held = |body: &str| {
            let mut body = body.as_bytes().to_vec();
            hold_checksum(&mut body);
            String::from_utf8(body).unwrap()
        };
        let body = |value: &str| {
            format!(
                r#"{{"messages":[{{"role":"user","content":"\"x-anthropic-billing-header: cch=1a2b3;\" cch=77777;"}}],"system":[{{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1.37.0d1; cc_entrypoint=cli; cch={value};"}},{{"type":"text","text":"You are. cch=12345;"}}]}}"#
            )
        };
        assert_eq!(held(&body("f09a1")), body("00000"));
        for left in [
            r#"{"system":"x-anthropic-billing-header: cc_version=2;"}"#,
            "\"x-anthropic-billing-header: cch",
            "",
            "\"x-anthropic-billing-header: cch=",
        ] {
            assert_eq!(held(left), left);
        }
    }
}
