//! Refusals: error responses of our own, with a body in the client's dialect.

use std::borrow::Cow;

use serde_json::json;

use crate::chat::dialect::Dialect;

/// The causes, and the statuses at which their messages are shown.
const TABLE: &str = include_str!("errors.txt");

/// The cells of the table's only line that begins so.
fn cells(beginning: &[&str]) -> impl Iterator<Item = &'static str> + use<> {
    let words = |line: &'static str| line.split_whitespace();
    let begins = |line: &&'static str| {
        words(line)
            .take(beginning.len())
            .eq(beginning.iter().copied())
    };
    let line = TABLE.lines().find(begins).expect("the table has it");
    words(line).skip(beginning.len())
}

/// The cause of an answer of this kind that is no reply, and what the user can do.
///
/// # Panics
/// If `errors.txt` lacks the kind.
#[must_use]
pub fn cause_of_answer(kind: &str) -> (&'static str, String) {
    let mut cells = cells(&["answer", kind]);
    let code = cells.next().expect("each answer has a cause");
    (code, cells.collect::<Vec<_>>().join(" "))
}

/// A refusal, which the client gets instead of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Stable, documented, snake_case.
    pub code: &'static str,
    /// What happened and what to do.
    pub message: Cow<'static, str>,
    /// One more header that the status asks for (`allow`, `www-authenticate`…).
    pub header: Option<(&'static str, &'static str)>,
    /// The `type` of the error.
    kind: &'static str,
    /// What has to come before the same request can succeed: `user` or `time`.
    after: &'static str,
    /// The status by HTTP's meaning.
    own_status: u16,
}

impl Refusal {
    /// A refusal for a cause of `errors.txt`.
    ///
    /// # Panics
    /// If there is no such cause.
    pub fn new(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        let mut cells = cells(&[code]);
        let mut cell = || cells.next().expect("each cause has all cells");
        Self {
            code,
            message: message.into(),
            header: None,
            kind: cell(),
            after: cell(),
            own_status: cell().parse().expect("it is a status"),
        }
    }

    /// A prompt that a rule of the user's withholds; the code is the rule's.
    pub fn withheld(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        let withheld = Self::new("prompt_withheld", message);
        Self { code, ..withheld }
    }

    /// The refusal with one more header.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: &'static str) -> Self {
        self.header = Some((name, value));
        self
    }

    /// The refusal with the status that a model server gave.
    #[must_use]
    pub fn of_status(mut self, own_status: u16) -> Self {
        self.own_status = own_status;
        self
    }

    /// Whether the same request may succeed without the user having done anything.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        self.after == "time"
    }

    /// 400 with code `malformed_request`.
    pub fn malformed(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new("malformed_request", message)
    }

    /// The HTTP status at which clients of a dialect show the message; `None` stands for what isn't chat.
    ///
    /// # Panics
    /// If `errors.txt` lacks the dialect.
    #[must_use]
    pub fn status(&self, dialect: Option<Dialect>) -> u16 {
        let column = match dialect {
            None => return self.own_status,
            Some(Dialect::ChatCompletions | Dialect::Completions) => "completions",
            Some(Dialect::Responses) => "responses",
            Some(Dialect::Messages) => "messages",
            Some(Dialect::OllamaChat | Dialect::OllamaGenerate) => "ollama",
        };
        let mut shown =
            cells(&[self.after, column]).map(|cell| cell.parse().expect("it is a status"));
        let first = shown.next().expect("there is one");
        let is_own = |status: &u16| *status == self.own_status;
        [first]
            .into_iter()
            .chain(shown)
            .find(is_own)
            .unwrap_or(first)
    }

    /// The body, as clients of a dialect read it.
    #[must_use]
    pub fn body(&self, dialect: Option<Dialect>) -> Vec<u8> {
        let Self {
            code,
            message,
            kind,
            ..
        } = self;
        let error = match dialect {
            Some(Dialect::Messages) => json!({
                "type": "error",
                "error": { "type": kind, "message": message, "code": code }
            }),
            Some(Dialect::OllamaChat | Dialect::OllamaGenerate) => {
                json!({ "error": message, "code": code })
            }
            _ => json!({
                "error": { "message": message, "type": kind, "param": null, "code": code }
            }),
        };
        error.to_string().into_bytes()
    }

    /// The end of a stream that has already begun: an event, or a line where the stream is one of lines.
    #[must_use]
    pub fn stream_end(&self, dialect: Dialect) -> Vec<u8> {
        let body = match dialect {
            Dialect::Responses => {
                let Self { code, message, .. } = self;
                let error = json!({ "type": "error", "code": code, "message": message, "param": null, "sequence_number": 0 });
                error.to_string().into_bytes()
            }
            _ => self.body(Some(dialect)),
        };
        let (before, after): (&[u8], &[u8]) = match dialect {
            Dialect::ChatCompletions | Dialect::Completions => (b"data: ", b"\n\n"),
            Dialect::Messages | Dialect::Responses => (b"event: error\ndata: ", b"\n\n"),
            Dialect::OllamaChat | Dialect::OllamaGenerate => (b"", b"\n"),
        };
        [before, &body, after].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What OpenCode 1.18 and Pi 0.73 take for a failure that passes.
    const PASSING: [&str; 4] = ["server_error", "internal_error", "overloaded", "timeout"];

    #[test]
    fn table() {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
        let mut codes = Vec::new();
        for line in lines {
            let words: Vec<&str> = line.split_whitespace().collect();
            let &[code, kind, after, status] = &words[..] else {
                continue;
            };
            if !matches!(after, "user" | "time") {
                continue;
            }
            codes.push(code);
            let is_chat_cause = !status.starts_with('5')
                || code.starts_with("upstream")
                || code.starts_with("ledger");
            let is_passing = PASSING.iter().any(|it| kind.contains(it));
            assert!(after == "time" || !is_chat_cause || !is_passing, "{line}");
            let refusal = Refusal::new(code, "why");
            assert_eq!(refusal.status(None).to_string(), status);
            for dialect in Dialect::ALL {
                let told = refusal.status(Some(dialect));
                assert!(
                    refusal.may_pass() || matches!(told, 400 | 401 | 404),
                    "{line}: {told}"
                );
            }
        }
        assert!(codes.len() > 40, "{codes:?}");
    }

    #[test]
    fn json_body() {
        let refusal = Refusal::malformed("say \"no\"\\\n\u{1}ü");
        let value: serde_json::Value = serde_json::from_slice(&refusal.body(None)).unwrap();
        assert_eq!(value["error"]["message"], "say \"no\"\\\n\u{1}ü");
        assert_eq!(value["error"]["type"], "invalid_request_error");
        assert_eq!(value["error"]["code"], "malformed_request");
        assert!(value["error"]["param"].is_null());
    }
}
