//! A chat request's answer that is no reply: why, and what its user can do.

use std::time::Duration;

use serde_json::Value;
use tslp_core::redact;
use tslp_wire::chat::dialect::Dialect;
use tslp_wire::http::error::{self, Refusal};
use tslp_wire::http::response::ResponseHead;

use crate::config::upstream::UpstreamUrl;

/// Bytes that are kept of such an answer.
pub(super) const KEPT_BYTES_MAX: usize = 16 << 10;

/// Most that is quoted of what a model server says.
const QUOTED_CHARS_MAX: usize = 300;

/// How long failures that may pass go on before a client's user hears of them: clients that ask again hide them.
const HIDDEN_MAX: Duration = Duration::from_secs(20);

/// An answer that is no reply, kept until it is complete.
#[derive(Debug)]
pub(super) struct FailedAnswer {
    pub(super) head: ResponseHead,
    /// The first bytes of its body.
    pub(super) body: Vec<u8>,
}

impl FailedAnswer {
    /// Whether an answer is none of a model: an error's, a redirect, or a web page.
    pub(super) fn is_one(head: &ResponseHead) -> bool {
        !matches!(head.status, 200..=299) || head.is_of_type("text/html")
    }

    /// What the client gets in its place, in a form that its user sees; `None` if the answer has such a form itself. Failures that may
    /// pass and have `lasted` are shown like those that don't.
    pub(super) fn explained(
        &self,
        dialect: Dialect,
        url: &UpstreamUrl,
        lasted: Duration,
    ) -> Option<Refusal> {
        let status = self.head.status;
        let said = Said::by(&self.body, dialect);
        let place = self.head.headers.first_text("location");
        let kind = match status {
            // Following it would take the user's code and key to a server that they didn't name.
            300..=399 => "redirect",
            401 | 403 => "key",
            404 | 405 | 501 if said.is_about_route(dialect) => "route",
            200..=299 => "page",
            404 => "model",
            // A 500 of Ollama or llama.cpp means too little memory, or a template that fails: it stays so.
            408 | 425 | 429 | 502..=599 if lasted >= HIDDEN_MAX => "lasting",
            408 | 425 | 429 | 502..=599 => "passing",
            _ => "request",
        };
        let answers = match status {
            // OpenCode and Pi take the number for a failure that passes.
            _ if status == 500 || kind == "lasting" => "fails at".to_owned(),
            status => format!("answers status {status} to"),
        };
        let (code, advice) = error::cause_of_answer(kind);
        let message = format!(
            "the model server at {url} {answers} {}, {}{}; {advice}",
            dialect.display_name(),
            place.unwrap_or(dialect.route_path()),
            said.quoted(),
        );
        // The message goes into the log as well.
        let message = redact::without_credentials(&message).into_owned();
        let refusal = Refusal::new(code, message).of_status(status);
        let may_be_shown = said.is_told && matches!(kind, "model" | "passing" | "request");
        let is_shown = may_be_shown && refusal.status(Some(dialect)) == status;
        (!is_shown).then_some(refusal)
    }
}

/// What an answer says.
struct Said {
    text: String,
    /// Whether clients of the dialect find it there.
    is_told: bool,
    is_json: bool,
}

impl Said {
    fn by(body: &[u8], dialect: Dialect) -> Self {
        let answer = serde_json::from_slice::<Value>(body);
        let is_json = answer.is_ok();
        let answer = answer.unwrap_or_else(|_| String::from_utf8_lossy(body).into());
        let error = &answer["error"];
        let (nested, message, detail) = (&error["message"], &answer["message"], &answer["detail"]);
        let own = match dialect {
            Dialect::OllamaChat | Dialect::OllamaGenerate => error,
            _ => nested,
        };
        let mut places = [nested, error, message, detail, &answer].into_iter();
        let text = places.find_map(Value::as_str).unwrap_or_default();
        Self {
            text: text.trim().to_owned(),
            is_told: own.is_string(),
            is_json,
        }
    }

    /// Whether a 404 is about the route, and not about one of the things that the request names: it is no JSON, or its message says
    /// no more than that something wasn't found, or talks of the route itself.
    fn is_about_route(&self, dialect: Dialect) -> bool {
        let message = self.text.trim_end_matches('.').to_lowercase();
        let words = [dialect.route_path(), "endpoint", "route"];
        !self.is_json
            || matches!(
                &*message,
                "" | "not found" | "file not found" | "method not allowed"
            )
            || words.iter().any(|word| message.contains(word))
    }

    /// As a part of a sentence; of a page nothing.
    fn quoted(&self) -> String {
        let text: String = self.text.chars().take(QUOTED_CHARS_MAX).collect();
        match text.is_empty() || text.starts_with('<') {
            true => String::new(),
            false => format!(" (\"{text}\")"),
        }
    }
}
