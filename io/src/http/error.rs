//! Responses of our own that say no, with the OpenAI error body.

use std::borrow::Cow;

/// A refusal: what the client is told instead of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// HTTP status.
    pub status: u16,
    /// Stable, documented, snake_case.
    pub code: &'static str,
    /// What happened and what to do.
    pub message: Cow<'static, str>,
    /// One more header that the status asks for (`allow`, `www-authenticate`…).
    pub header: Option<(&'static str, &'static str)>,
}

impl Refusal {
    /// A refusal without an extra header.
    pub fn new(status: u16, code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
            header: None,
        }
    }

    /// The same with one header more.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: &'static str) -> Self {
        self.header = Some((name, value));
        self
    }

    /// 400 with code `malformed_request`.
    pub fn malformed(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(400, "malformed_request", message)
    }

    /// `{"error":{"message","type","param","code"}}`.
    #[must_use]
    pub fn body(&self) -> Vec<u8> {
        let mut text = String::with_capacity(96 + self.message.len());
        text.push_str("{\"error\":{\"message\":\"");
        escape_into(&mut text, &self.message);
        text.push_str("\",\"type\":\"");
        text.push_str(error_type(self.status));
        text.push_str("\",\"param\":null,\"code\":\"");
        text.push_str(self.code);
        text.push_str("\"}}");
        text.into_bytes()
    }

    /// The same body as one server-sent event, for a stream that has already begun.
    #[must_use]
    pub fn event(&self) -> Vec<u8> {
        let mut event = b"data: ".to_vec();
        event.extend_from_slice(&self.body());
        event.extend_from_slice(b"\n\n");
        event
    }
}

const fn error_type(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        403 | 421 => "permission_error",
        404 => "not_found_error",
        400..=499 => "invalid_request_error",
        502 | 504 => "upstream_error",
        _ => "server_error",
    }
}

fn escape_into(text: &mut String, message: &str) {
    for character in message.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            control if (control as u32) < 0x20 => text.push(' '),
            other => text.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_is_json_whatever_the_message_holds() {
        let refusal = Refusal::malformed("say \"no\"\\\n\u{1}ü");
        let value: serde_json::Value = serde_json::from_slice(&refusal.body()).unwrap();
        assert_eq!(value["error"]["message"], "say \"no\"\\\n ü");
        assert_eq!(value["error"]["type"], "invalid_request_error");
        assert_eq!(value["error"]["code"], "malformed_request");
        assert!(value["error"]["param"].is_null());
    }
}
