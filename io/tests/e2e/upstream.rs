//! A model server that says what the test queued, and keeps every request it got.

use std::collections::VecDeque;
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use crossbeam_channel::{Receiver, unbounded};
use serde_json::{Value, json};
pub(crate) use tslp_scripted::{Answer, Reply, Request, Step, barrier, closing};
use tslp_scripted::{Server, encoded};
use tslp_wire::chat::dialect::Dialect;

use crate::harness::PATIENCE;

/// The server.
pub(crate) struct Upstream {
    pub(crate) url: String,
    queue: Arc<Mutex<VecDeque<Answer>>>,
    pages: Arc<Mutex<Value>>,
    seen: Receiver<Request>,
    _server: Server,
}

impl Upstream {
    pub(crate) fn start() -> Self {
        Self::with_context(1 << 20)
    }

    /// An upstream that tells its context size as llama.cpp does.
    pub(crate) fn with_context(tokens: u32) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").unwrap(), tokens)
    }

    /// An upstream that is called here.
    pub(crate) fn on(listener: TcpListener, tokens: u32) -> Self {
        let queue: Arc<Mutex<VecDeque<Answer>>> = Arc::default();
        let pages = Arc::new(Mutex::new(json!({"/props": {"n_ctx": tokens}})));
        let (note, seen) = unbounded();
        let (queued, told) = (Arc::clone(&queue), Arc::clone(&pages));
        let server = Server::on(listener, move |request| {
            if request.line.ends_with("HTTP/1.0") {
                return page(&told.lock().unwrap(), request.path());
            }
            let answer = queued.lock().unwrap().pop_front();
            let _ = note.send(request);
            answer.unwrap_or_else(|| saying("ok"))
        });
        let server = server.unwrap();
        Self {
            url: server.url(),
            queue,
            pages,
            seen,
            _server: server,
        }
    }

    /// What it says on its pages from now on, by their paths; all others aren't there.
    pub(crate) fn will_tell(&self, pages: Value) {
        *self.pages.lock().unwrap() = pages;
    }

    /// Queues an answer; without one, requests are answered with `ok`.
    pub(crate) fn will(&self, answer: impl Into<Answer>) {
        self.queue.lock().unwrap().push_back(answer.into());
    }

    pub(crate) fn will_say(&self, text: impl Into<String>) {
        self.will(saying(text));
    }

    /// The next request that came, the probes of start-up and `/doctor` left out.
    pub(crate) fn next(&self) -> Request {
        self.seen
            .recv_timeout(PATIENCE)
            .expect("the upstream sees a request")
    }

    pub(crate) fn saw_nothing(&self) -> bool {
        self.seen.is_empty()
    }
}

fn page(pages: &Value, path: &str) -> Answer {
    match (pages.get(path), path) {
        (Some(page), _) => Answer::json(200, page),
        (None, "/v1/models") => {
            Answer::json(200, &json!({"object": "list", "data": [{"id": "m"}]}))
        }
        (None, _) => Answer::json(404, &Value::Null),
    }
}

/// What a model says and nothing else: as events if the request asks for a stream, else as one JSON body.
pub(crate) fn saying(text: impl Into<String>) -> Answer {
    Reply::text(text).in_pieces(48).costing(1, 1).into()
}

/// The events of a streamed chat completion of a text, in chunks of a few characters that don't respect its lines; those that end it are
/// one chunk.
pub(crate) fn events(text: &str) -> Vec<String> {
    let reply = Reply::text(text).in_pieces(48);
    let (_, events) = encoded(Dialect::ChatCompletions, true, &reply);
    let events = events.into_iter();
    let mut events: Vec<String> = events.map(|it| String::from_utf8(it).unwrap()).collect();
    let ending = events.split_off(events.len() - 2).concat();
    events.push(ending);
    events
}

/// One event with a piece of text.
pub(crate) fn event(text: &str) -> String {
    let reply = Reply::text(text).in_pieces(usize::MAX);
    let (_, events) = encoded(Dialect::ChatCompletions, true, &reply);
    String::from_utf8(events[1].clone()).unwrap()
}

/// The events that end a stream properly.
pub(crate) fn last_events() -> String {
    events("").pop().expect("every stream ends")
}

/// The plain JSON body for a text.
pub(crate) fn completion(text: &str) -> Value {
    let reply = Reply::text(text).costing(1, 1);
    let (_, body) = encoded(Dialect::ChatCompletions, false, &reply);
    serde_json::from_slice(&body.concat()).unwrap()
}
