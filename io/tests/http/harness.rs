//! The loop on its thread, a fake engine, a scripted upstream and a client that speaks raw bytes.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use tslp_core::audit::AuditQuestion;
use tslp_core::ids::{EpisodeId, Seq};
use tslp_io::auditor::queue::{Audit, AuditQueue, AuditedModel};
use tslp_io::channel::{DiagnosticQuery, ModelRequest, OwnAnswer, ToEngine, ToLoop};
use tslp_io::config::settings::Settings;
use tslp_io::config::upstream::UpstreamUrl;
use tslp_io::main_loop::{LoopChannels, LoopHandle, MainLoop};
use tslp_wire::chat::reply_pipe::PipeRules;

/// Bound on every wait; only a failing test reaches it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// What the fake engine does with a prompt.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    /// Forwards it unchanged and says that it is durable.
    Echo,
    /// Forwards it, and leaves durability to the test.
    EchoUndurable,
    /// Leaves everything to the test.
    Silent,
}

/// A question about a reply.
pub(crate) fn audit() -> Audit {
    Audit {
        episode: EpisodeId(1),
        question: AuditQuestion {
            system: "judge".into(),
            user: "this".into(),
        },
        addressee: AuditedModel::default(),
    }
}

pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    pub(crate) handle: LoopHandle,
    notes: Receiver<String>,
    pub(crate) raw: Receiver<ToEngine>,
    /// What every request for the model calls off.
    pub(crate) audits: AuditQueue,
    /// Disconnects when the loop's thread has ended.
    pub(crate) over: Receiver<()>,
}

impl Proxy {
    pub(crate) fn start(upstream: &str, engine: Engine) -> Self {
        Self::with(upstream, engine, |_| {})
    }

    pub(crate) fn with(upstream: &str, engine: Engine, adjust: impl FnOnce(&mut Settings)) -> Self {
        let mut config = Settings::for_upstream(UpstreamUrl::parse(upstream).unwrap());
        config.listen = "127.0.0.1:0".parse().unwrap();
        adjust(&mut config);
        let (to_engine, from_loop) = bounded(4);
        let (to_diagnostics, queries) = bounded(4);
        let audits = AuditQueue::default();
        let channels = LoopChannels {
            metrics: Arc::default(),
            to_engine,
            to_diagnostics,
            audits: audits.clone(),
        };
        let (main_loop, address, handle) = MainLoop::bind(Arc::new(config), channels).unwrap();
        let (note, notes) = unbounded();
        let (raw_sender, raw) = unbounded();
        let (running, over) = bounded(0);
        thread::spawn(move || {
            main_loop.run().unwrap();
            drop(running);
        });
        let engine_handle = handle.clone();
        thread::spawn(move || run_engine(engine, &from_loop, &engine_handle, &note, &raw_sender));
        let diagnostics_handle = handle.clone();
        thread::spawn(move || run_diagnostics(&queries, &diagnostics_handle));
        Self {
            address,
            handle,
            notes,
            raw,
            audits,
            over,
        }
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(self.address)
    }

    /// The next thing that the engine was told.
    pub(crate) fn note(&self) -> String {
        self.notes
            .recv_timeout(PATIENCE)
            .expect("the engine is told something")
    }

    /// Skips what comes before this.
    pub(crate) fn wait_for(&self, wanted: &str) {
        while self.note() != wanted {}
    }

    pub(crate) fn nothing_noted(&self) -> bool {
        self.notes.is_empty()
    }

    /// Waits for the loop's thread to end.
    pub(crate) fn ended(&self) {
        assert_eq!(
            self.over.recv_timeout(PATIENCE),
            Err(crossbeam_channel::RecvTimeoutError::Disconnected)
        );
    }
}

fn run_engine(
    engine: Engine,
    from_loop: &Receiver<ToEngine>,
    handle: &LoopHandle,
    note: &Sender<String>,
    raw: &Sender<ToEngine>,
) {
    let mut seq = 0;
    for message in from_loop {
        let text = match &message {
            ToEngine::Prompt {
                body,
                session_name,
                retry,
                ..
            } => {
                let session = session_name.as_deref().unwrap_or("-");
                format!(
                    "prompt {} {session} retry={retry}",
                    String::from_utf8_lossy(body)
                )
            }
            ToEngine::ReplyRead { read, .. } => format!("read {}", read.said.text),
            ToEngine::ReplyEnd { ending, .. } => format!("end {ending:?}"),
            ToEngine::ToolsTested(_)
            | ToEngine::LinksSeen { .. }
            | ToEngine::CheckEnded { .. }
            | ToEngine::ToolEnded { .. } => "tools".to_owned(),
            ToEngine::Audited { outcome, .. } => format!("audited {outcome:?}"),
            ToEngine::WindowsSaid(said) => format!("windows {said:?}"),
            ToEngine::Parsed(..) => "parsed".to_owned(),
            ToEngine::Act { .. } | ToEngine::AdoptFile { .. } | ToEngine::AdoptAsked { .. } => {
                "acted".to_owned()
            }
            ToEngine::Shutdown => "shutdown".to_owned(),
        };
        if let (ToEngine::Prompt { exchange, body, .. }, Engine::Echo | Engine::EchoUndurable) =
            (&message, engine)
        {
            seq += 1;
            let durable_at = Seq(seq);
            handle.send(ToLoop::Forward {
                exchange: *exchange,
                request: ModelRequest {
                    model: None,
                    body: body.clone().into(),
                },
                durable_at,
                episode: EpisodeId(seq),
                headers: Vec::new(),
                rules: PipeRules::default(),
                may_ask_again: false,
            });
            if engine == Engine::Echo {
                handle.send(ToLoop::Durable(durable_at));
            }
        }
        // There are no files to look at.
        if let ToEngine::ReplyEnd { exchange, .. } = &message {
            handle.send(ToLoop::Looked(*exchange));
        }
        let is_a_reminder = matches!(&message, ToEngine::ReplyRead { read, .. } if read.bytes == 0);
        let _ = raw.send(message);
        // Whether one comes is a matter of time.
        if !is_a_reminder {
            let _ = note.send(text);
        }
    }
}

fn run_diagnostics(queries: &Receiver<DiagnosticQuery>, handle: &LoopHandle) {
    for query in queries {
        let body = format!("{{\"page\":\"{:?}\"}}", query.page).into_bytes();
        handle.send(ToLoop::Answer {
            exchange: query.exchange,
            answer: OwnAnswer::json(200, body),
        });
    }
}

/// A connection with a read buffer, from either side.
pub(crate) struct Wire {
    pub(crate) stream: TcpStream,
    buffer: Vec<u8>,
}

pub(crate) type Client = Wire;

#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Message {
    pub(crate) fn status(&self) -> u16 {
        self.head
            .get(9..12)
            .and_then(|digits| digits.parse().ok())
            .unwrap_or(0)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (field, value) = line.split_once(':')?;
            field.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Wire {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        Self::new(TcpStream::connect(address).unwrap())
    }

    fn new(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            stream,
            buffer: Vec::new(),
        }
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.stream.write_all(bytes.as_ref()).unwrap();
        self
    }

    /// Sends what the peer may refuse to take.
    pub(crate) fn try_send(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }

    /// More bytes; false at the end or on a reset.
    pub(crate) fn fill(&mut self) -> bool {
        let mut piece = [0; 16 * 1024];
        match self.stream.read(&mut piece) {
            Ok(0) => false,
            Ok(count) => {
                self.buffer.extend_from_slice(&piece[..count]);
                true
            }
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => false,
            Err(error) => panic!(
                "reading: {error}; so far {:?}",
                String::from_utf8_lossy(&self.buffer)
            ),
        }
    }

    pub(crate) fn until(&mut self, mark: &[u8]) -> Vec<u8> {
        loop {
            if let Some(at) = self
                .buffer
                .windows(mark.len())
                .position(|window| window == mark)
            {
                return self.buffer.drain(..at + mark.len()).collect();
            }
            assert!(
                self.fill(),
                "ended before {:?}: {:?}",
                String::from_utf8_lossy(mark),
                String::from_utf8_lossy(&self.buffer)
            );
        }
    }

    pub(crate) fn exactly(&mut self, count: usize) -> Vec<u8> {
        while self.buffer.len() < count {
            assert!(
                self.fill(),
                "ended within a body: {:?}",
                String::from_utf8_lossy(&self.buffer)
            );
        }
        self.buffer.drain(..count).collect()
    }

    /// Everything to the end of the connection.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        while self.fill() {}
        std::mem::take(&mut self.buffer)
    }

    /// The next whole message with a body by its framing; requests without one have none.
    pub(crate) fn message(&mut self) -> Message {
        let head = String::from_utf8(self.until(b"\r\n\r\n")).unwrap();
        let mut message = Message {
            head,
            body: Vec::new(),
        };
        if let Some(length) = message.header("content-length") {
            let length = length.parse().unwrap();
            message.body = self.exactly(length);
        } else if message.header("transfer-encoding") == Some("chunked") {
            message.body = self.chunks();
        } else if message.head.starts_with("HTTP/") && ![204, 304, 100].contains(&message.status())
        {
            message.body = self.rest();
        }
        message
    }

    /// A response without a body, as HEAD gets it.
    pub(crate) fn head_only(&mut self) -> Message {
        let head = String::from_utf8(self.until(b"\r\n\r\n")).unwrap();
        Message {
            head,
            body: Vec::new(),
        }
    }

    fn chunks(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let line = String::from_utf8(self.until(b"\r\n")).unwrap();
            let size = usize::from_str_radix(line.trim_end(), 16).unwrap();
            body.extend(self.exactly(size));
            assert_eq!(self.exactly(2), b"\r\n");
            if size == 0 {
                return body;
            }
        }
    }

    /// Waits for the peer to close, and gives what it still sent.
    pub(crate) fn closed(&mut self) -> String {
        String::from_utf8_lossy(&self.rest()).into_owned()
    }

    /// True if anything comes, false if the peer closes first.
    pub(crate) fn answers_at_all(&mut self) -> bool {
        self.fill()
    }

    pub(crate) fn half_close(&self) {
        self.stream.shutdown(Shutdown::Write).unwrap();
    }
}

/// A model server that follows a script on each connection.
pub(crate) struct Upstream {
    pub(crate) url: String,
    pub(crate) seen: Receiver<Message>,
    pub(crate) said: Receiver<String>,
}

/// One connection from the proxy.
pub(crate) struct Visit {
    pub(crate) wire: Wire,
    pub(crate) number: usize,
    seen: Sender<Message>,
    said: Sender<String>,
}

impl Visit {
    /// The next request, noted; `None` once the proxy has closed.
    pub(crate) fn request(&mut self) -> bool {
        while !self
            .wire
            .buffer
            .windows(4)
            .any(|window| window == b"\r\n\r\n")
        {
            if !self.wire.fill() {
                return false;
            }
        }
        let message = self.wire.message();
        let _ = self.seen.send(message);
        true
    }

    pub(crate) fn say(&self, text: &str) {
        let _ = self.said.send(text.to_owned());
    }
}

impl Upstream {
    pub(crate) fn start(script: impl Fn(&mut Visit) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (seen_sender, seen) = unbounded();
        let (said_sender, said) = unbounded();
        let script = Arc::new(script);
        thread::spawn(move || {
            for (index, stream) in listener.incoming().enumerate() {
                let mut visit = Visit {
                    wire: Wire::new(stream.unwrap()),
                    number: index + 1,
                    seen: seen_sender.clone(),
                    said: said_sender.clone(),
                };
                let script = Arc::clone(&script);
                thread::spawn(move || script(&mut visit));
            }
        });
        Self { url, seen, said }
    }

    /// Answers every request with these bytes, on kept-alive connections.
    pub(crate) fn answering(bytes: &'static [u8]) -> Self {
        Self::start(move |visit| {
            while visit.request() {
                visit.wire.try_send(bytes);
            }
        })
    }

    pub(crate) fn next(&self) -> Message {
        self.seen
            .recv_timeout(PATIENCE)
            .expect("the upstream sees a request")
    }

    pub(crate) fn hears(&self) -> String {
        self.said
            .recv_timeout(PATIENCE)
            .expect("the upstream's script says something")
    }
}

pub(crate) const OK: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";

/// A chat request with this body.
pub(crate) fn chat(body: &str) -> String {
    format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost:{{port}}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

impl Proxy {
    /// Fills the port into a request.
    pub(crate) fn at(&self, request: &str) -> String {
        request.replace("{port}", &self.address.port().to_string())
    }

    pub(crate) fn chat(&self, body: &str) -> String {
        self.at(&chat(body))
    }

    pub(crate) fn get(&self, path: &str) -> String {
        self.at(&format!(
            "GET {path} HTTP/1.1\r\nHost: localhost:{{port}}\r\n\r\n"
        ))
    }
}
