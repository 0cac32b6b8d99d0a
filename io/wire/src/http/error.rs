//! Refusals: error responses of our own, with a body in the client's dialect.

use std::borrow::Cow;

use serde_json::json;

use crate::chat::dialect::{Dialect, ErrorShape};

/// A refusal, which the client gets instead of an answer.
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

    /// The refusal with one more header.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: &'static str) -> Self {
        self.header = Some((name, value));
        self
    }

    /// 400 with code `malformed_request`.
    pub fn malformed(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(400, "malformed_request", message)
    }

    /// The body, as clients of a dialect read it.
    #[must_use]
    pub fn body(&self, shape: ErrorShape) -> Vec<u8> {
        let (message, kind) = (&self.message, error_type(self.status));
        let error = match shape {
            ErrorShape::OpenAi => json!({
                "error": { "message": message, "type": kind, "param": null, "code": self.code }
            }),
            ErrorShape::Anthropic => json!({
                "type": "error",
                "error": { "type": kind, "message": message, "code": self.code }
            }),
            ErrorShape::Ollama => json!({ "error": message, "code": self.code }),
        };
        error.to_string().into_bytes()
    }

    /// The end of a stream that has already begun: an event, or a line where the stream is one of lines.
    #[must_use]
    pub fn stream_end(&self, dialect: Dialect) -> Vec<u8> {
        let shape = dialect.error_shape();
        let (before, body, after): (&[u8], _, &[u8]) = match dialect {
            Dialect::ChatCompletions | Dialect::Completions => {
                (b"data: ", self.body(shape), b"\n\n")
            }
            Dialect::Messages => (b"event: error\ndata: ", self.body(shape), b"\n\n"),
            Dialect::Responses => {
                let error = json!({
                    "type": "error",
                    "code": self.code,
                    "message": self.message,
                    "param": null,
                    "sequence_number": 0
                });
                let body = error.to_string().into_bytes();
                (b"event: error\ndata: ", body, b"\n\n")
            }
            Dialect::OllamaChat | Dialect::OllamaGenerate => (b"", self.body(shape), b"\n"),
        };
        [before, &body, after].concat()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_body() {
        let refusal = Refusal::malformed("say \"no\"\\\n\u{1}ü");
        let value: serde_json::Value =
            serde_json::from_slice(&refusal.body(ErrorShape::OpenAi)).unwrap();
        assert_eq!(value["error"]["message"], "say \"no\"\\\n\u{1}ü");
        assert_eq!(value["error"]["type"], "invalid_request_error");
        assert_eq!(value["error"]["code"], "malformed_request");
        assert!(value["error"]["param"].is_null());
    }
}
