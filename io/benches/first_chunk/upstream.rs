//! The scripted model server: after a delay it streams a reply of so many chunks.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;
use tslp_scripted::{Answer, Reply, Server};

/// What the server does with the next requests.
#[derive(Default)]
struct Script {
    delay_millis: AtomicU64,
    chunks: AtomicU64,
    pause_millis: AtomicU64,
    chunk_bytes: AtomicU64,
    replies: AtomicU64,
}

/// A running server.
pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    script: Arc<Script>,
    _server: Server,
}

impl Upstream {
    pub(crate) fn start() -> io::Result<Self> {
        let script = Arc::new(Script::default());
        let shared = Arc::clone(&script);
        let server = Server::start(move |request| match request.dialect() {
            Some(_) => shared.reply().into(),
            None => Answer::json(404, &Value::Null),
        })?;
        let upstream = Self {
            address: server.address(),
            script,
            _server: server,
        };
        upstream.play(Duration::ZERO, 8, Duration::ZERO, 24);
        Ok(upstream)
    }

    /// From now on: the first chunk after `delay`, `chunks` in all, `pause` between two, each with so many bytes of
    /// text. Times count in milliseconds.
    pub(crate) fn play(&self, delay: Duration, chunks: u64, pause: Duration, chunk_bytes: usize) {
        let script = &self.script;
        for (figure, value) in [
            (&script.delay_millis, delay.as_millis() as u64),
            (&script.chunks, chunks),
            (&script.pause_millis, pause.as_millis() as u64),
            (&script.chunk_bytes, chunk_bytes as u64),
        ] {
            figure.store(value, Ordering::Relaxed);
        }
    }
}

impl Script {
    /// No two replies are the same.
    fn reply(&self) -> Reply {
        let figure = |figure: &AtomicU64| figure.load(Ordering::Relaxed);
        let bytes = figure(&self.chunk_bytes) as usize;
        let reply = self.replies.fetch_add(1, Ordering::Relaxed);
        let chunks = (0..figure(&self.chunks)).map(|at| {
            let mut text = format!("{reply}.{at} words that a model says ").repeat(1 + bytes / 24);
            text.truncate(bytes);
            text
        });
        Reply {
            wait: figure(&self.delay_millis),
            delay: figure(&self.pause_millis),
            ..Reply::text(chunks.collect::<String>()).in_pieces(bytes)
        }
    }
}

/// Where the needle stands.
pub(crate) fn find(hay: &[u8], needle: &[u8]) -> Option<usize> {
    hay.windows(needle.len())
        .position(|window| window == needle)
}
