//! The auditor's thread: puts one shadow audit's question at a time to the model server, while nobody else needs it.
//!
//! It speaks to the upstream by itself, not through the proxy's own routes, so an audit is no episode and never delays a
//! request: the network loop closes its connection (see [`queue`]) before the request goes on.

pub mod queue;

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use serde_json::json;
use tslp_core::event::AuditOutcome;
use tslp_core::ids::EpisodeId;
use tslp_core::policy::Placement;
use tslp_wire::chat::reply::ReplyDecoder;

use crate::channel::ToEngine;
use crate::config::settings::Settings;
use crate::config::upstream::ServerConfig;
use crate::json_client::{self, HttpAnswer};
use crate::upstream::resolve::{self, UpstreamRoute};
use crate::upstream::server::ServerNumber;
use queue::{Audit, AuditQueue, PutOff};

/// Tokens of an answer. A verdict takes some thirty for each entity; the rest is for models that reason first.
const ANSWER_TOKENS_MAX: u32 = 1024;

/// Largest response that is read; many times what the tokens above can take.
const ANSWER_BYTES_MAX: usize = 256 << 10;

/// The thread's state.
pub struct Auditor {
    settings: Arc<Settings>,
    queue: AuditQueue,
    to_engine: Sender<ToEngine>,
    tls: Option<Arc<ClientConfig>>,
}

impl Auditor {
    /// An auditor that has asked nothing yet.
    #[must_use]
    pub const fn new(
        settings: Arc<Settings>,
        queue: AuditQueue,
        to_engine: Sender<ToEngine>,
    ) -> Self {
        Self {
            settings,
            queue,
            to_engine,
            tls: None,
        }
    }

    /// Starts the thread. It ends soon after the queue is closed, or when the engine is gone.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn spawn(self) -> io::Result<JoinHandle<()>> {
        thread::Builder::new()
            .name("auditor".into())
            .spawn(move || self.run())
    }

    fn run(mut self) {
        while let Some(audit) = self.queue.next() {
            let answer = self.request_answer(&audit);
            let (outcome, answer) = match (answer, self.queue.end_audit()) {
                // What was said in full counts, whatever happened since.
                (Ok(answer), _) => (AuditOutcome::Answered, Some(answer)),
                (Err(_), Err(PutOff)) => {
                    self.queue.ask_again(audit);
                    continue;
                }
                (Err(error), Ok(())) => {
                    tracing::info!(episode = %audit.episode, %error, "a shadow audit failed");
                    (AuditOutcome::Failed, None)
                }
            };
            if self.report_outcome(audit.episode, outcome, answer).is_err() {
                return;
            }
        }
    }

    fn report_outcome(
        &self,
        episode: EpisodeId,
        outcome: AuditOutcome,
        answer: Option<String>,
    ) -> Result<(), EngineGone> {
        tracing::debug!(%episode, %outcome, "a shadow audit ended");
        let report = ToEngine::Audited {
            episode,
            outcome,
            answer,
        };
        self.to_engine.send(report).map_err(|_| EngineGone)
    }

    fn request_answer(&mut self, audit: &Audit) -> io::Result<String> {
        let deadline = Instant::now() + self.settings.timeouts.audit;
        let upstream = &self.settings.upstream;
        let model = audit.addressee.model.as_deref();
        let number = ServerNumber::for_model(model, &upstream.named.by_model);
        let server = &upstream.servers()[number.0];
        let route = resolve::resolve_route(server, self.tls.take());
        let route = route.map_err(io::Error::other)?;
        self.tls.clone_from(&route.tls);
        let tcp = self.connect_within(&route, deadline)?;
        // Before a byte is sent: from here on a client's request closes the connection, which ends the read below.
        let handle = tcp.try_clone()?;
        self.queue
            .keep_stream_to_cancel(handle)
            .map_err(io::Error::other)?;
        let request = self.request_bytes(audit, server);
        let stream = DeadlineStream { tcp, deadline };
        let answer = match route.tls {
            None => json_client::request_answer(stream, &request, ANSWER_BYTES_MAX),
            Some(config) => {
                let name =
                    ServerName::try_from(server.url.host.clone()).map_err(io::Error::other)?;
                let session = ClientConnection::new(config, name).map_err(io::Error::other)?;
                let stream = StreamOwned::new(session, stream);
                json_client::request_answer(stream, &request, ANSWER_BYTES_MAX)
            }
        };
        text_of_answer(&answer?)
    }

    fn connect_within(&self, route: &UpstreamRoute, deadline: Instant) -> io::Result<TcpStream> {
        let mut failed = io::Error::other("it has no address");
        for address in &route.addresses {
            let limit = self.settings.timeouts.connect.min(time_left(deadline)?);
            match TcpStream::connect_timeout(address, limit) {
                Ok(tcp) => {
                    tcp.set_nodelay(true)?;
                    return Ok(tcp);
                }
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    fn request_bytes(&self, audit: &Audit, server: &ServerConfig) -> Vec<u8> {
        let url = &server.url;
        let body = request_body(audit, self.settings.policy.placement);
        let clients = || audit.addressee.authorization.clone();
        let authorization = server.own_authorization().or_else(clients);
        let authorization = authorization.map_or_else(String::new, |value| {
            format!("Authorization: {}\r\n", value.reveal())
        });
        let head = format!(
            "POST {}/v1/chat/completions HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Accept: application/json\r\nAccept-Encoding: identity\r\n{authorization}Content-Length: {}\r\n\
             Connection: close\r\n\r\n",
            url.prefix,
            url.authority(),
            body.len()
        );
        [head.into_bytes(), body.into_bytes()].concat()
    }
}

/// The engine has ended.
struct EngineGone;

/// A stream whose every step ends at the deadline.
struct DeadlineStream {
    tcp: TcpStream,
    deadline: Instant,
}

impl Read for DeadlineStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.tcp.set_read_timeout(Some(time_left(self.deadline)?))?;
        self.tcp.read(buffer)
    }
}

impl Write for DeadlineStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.tcp
            .set_write_timeout(Some(time_left(self.deadline)?))?;
        self.tcp.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.tcp.flush()
    }
}

/// The time that is left, if there is any.
fn time_left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    Ok(left)
}

/// A request of one turn for the model that the client asked.
fn request_body(audit: &Audit, placement: Placement) -> String {
    let question = &audit.question;
    let messages = match placement {
        Placement::System => json!([
            {"role": "system", "content": question.system},
            {"role": "user", "content": question.user},
        ]),
        Placement::User => {
            let text = format!("{}\n\n{}", question.system, question.user);
            json!([{"role": "user", "content": text}])
        }
    };
    let rest = json!({
        "messages": messages, "temperature": 0, "max_tokens": ANSWER_TOKENS_MAX, "stream": false,
    });
    let rest = rest.to_string();
    match &audit.addressee.model {
        None => rest,
        // As the client wrote it: JSON text, which needs no escaping.
        Some(model) => format!("{{\"model\":{model},{}", &rest[1..]),
    }
}

/// The text of a completion.
fn text_of_answer(answer: &HttpAnswer) -> io::Result<String> {
    if answer.status != 200 {
        let status = answer.status;
        return Err(io::Error::other(format!("it answers with status {status}")));
    }
    let mut decoder = ReplyDecoder::default();
    let mut text = decoder.push(&answer.body).text;
    text.push_str(&decoder.end_message().text);
    if !decoder.is_finished() {
        return Err(io::Error::other("its answer is no whole completion"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::secret::Secret;
    use crate::config::upstream::UpstreamUrl;
    use queue::AuditedModel;
    use serde_json::Value;
    use tslp_core::audit::AuditQuestion;

    fn audit(addressee: AuditedModel) -> (AuditQueue, Audit) {
        let queue = AuditQueue::default();
        let audit = Audit {
            episode: EpisodeId(1),
            question: AuditQuestion {
                system: "judge \"it\"".into(),
                user: "code".into(),
            },
            addressee,
        };
        (queue, audit)
    }

    /// The audit's request names the model and the credentials as the client did.
    #[test]
    fn like_the_client() {
        let (queue, audit) = audit(AuditedModel {
            model: Some(r#""q\u0077en""#.into()),
            authorization: Some(Secret::new("Bearer k".into())),
        });
        let mut url = UpstreamUrl::parse("http://models.lan:81/api/v1").unwrap();
        url.prefix = "/api".into();
        let settings = Arc::new(Settings::for_upstream(url));
        let server = settings.upstream.servers().remove(0);
        let (to_engine, _engine) = crossbeam_channel::bounded(1);
        let auditor = Auditor::new(settings, queue, to_engine);
        let request = String::from_utf8(auditor.request_bytes(&audit, &server)).unwrap();
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        assert_eq!(
            head.lines().next(),
            Some("POST /api/v1/chat/completions HTTP/1.1")
        );
        for field in ["Host: models.lan:81", "Authorization: Bearer k"] {
            assert!(head.lines().any(|line| line == field), "{head}");
        }
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())));
        assert!(body.starts_with(r#"{"model":"q\u0077en","#), "{body}");
        let body: Value = serde_json::from_str(body).unwrap();
        assert_eq!(body["stream"], false);
        assert_eq!(body["temperature"], 0);
        assert_eq!(
            body["messages"][0],
            json!({"role": "system", "content": "judge \"it\""})
        );
    }

    #[test]
    fn without_system_role() {
        let (_, audit) = audit(AuditedModel::default());
        let body: Value = serde_json::from_str(&request_body(&audit, Placement::User)).unwrap();
        let expected = json!([{"role": "user", "content": "judge \"it\"\n\ncode"}]);
        assert_eq!(body["messages"], expected);
        assert!(body["model"].is_null());
    }

    /// Only a whole completion says anything.
    #[test]
    fn whole_completions() {
        let check = |status, body: &str, expected: Option<&str>| {
            let answer = HttpAnswer {
                status,
                body: body.into(),
            };
            assert_eq!(text_of_answer(&answer).ok().as_deref(), expected, "{body}");
        };
        let whole = r#"{"choices":[{"message":{"content":"{}"},"finish_reason":"stop"}]}"#;
        check(200, whole, Some("{}"));
        check(500, whole, None);
        check(200, r#"{"error":{"message":"no"}}"#, None);
        check(200, "<html>", None);
        check(200, "", None);
    }
}
