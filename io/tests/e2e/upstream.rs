//! A model server that says what the test queued, and keeps every request it got.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use serde_json::{Value, json};

use crate::harness::PATIENCE;

/// What the upstream answers to one request.
pub(crate) enum Reply {
    /// This text: as events if the request asks for a stream, else as one JSON body.
    Text(String),
    /// A status, a content type and a body.
    Plain(u16, &'static str, Vec<u8>),
    /// The head of an event stream, then these steps.
    Steps(Vec<Step>),
    /// Not even a head: this step alone.
    Silence(Step),
}

/// A step of a streamed reply.
pub(crate) enum Step {
    /// One chunk.
    Chunk(String),
    /// Waits until the test says to go on.
    Await(Receiver<()>),
    /// Resets the connection.
    Reset,
    /// Waits for the proxy to close its side, and says so on this channel.
    Closed(Sender<()>),
}

/// One request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) line: String,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The text of the one system message; empty if there is none.
    pub(crate) fn system(&self) -> String {
        let request = self.json();
        let messages = request["messages"].as_array().unwrap().clone();
        let systems: Vec<&Value> = messages
            .iter()
            .filter(|message| message["role"] == "system")
            .collect();
        assert!(systems.len() < 2, "one system message at most: {request}");
        let system = systems
            .first()
            .map_or("", |message| message["content"].as_str().unwrap());
        // Directly before the user's words, in the newest message.
        let newest = messages.iter().rfind(|message| message["role"] == "user");
        let newest = newest
            .and_then(|message| message["content"].as_str())
            .unwrap_or("");
        let added = newest.rfind("\n[END ").map_or("", |last| {
            let end = newest[last..]
                .find(']')
                .map_or(newest.len(), |at| last + at + 1);
            &newest[..end]
        });
        [system, added]
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join("\n\n")
    }

    /// The messages after the system message, as `role: text`.
    pub(crate) fn conversation(&self) -> Vec<String> {
        let request = self.json();
        let messages = request["messages"].as_array().unwrap();
        messages
            .iter()
            .filter(|message| message["role"] != "system")
            .map(|message| {
                let role = message["role"].as_str().unwrap();
                let text = message["content"].as_str().unwrap_or_default();
                format!("{role}: {text}")
            })
            .collect()
    }
}

/// The server.
pub(crate) struct Upstream {
    pub(crate) url: String,
    queue: Arc<Mutex<VecDeque<Reply>>>,
    pages: Arc<Mutex<Value>>,
    seen: Receiver<Seen>,
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
        let url = format!("http://{}", listener.local_addr().unwrap());
        let queue = Arc::new(Mutex::new(VecDeque::new()));
        let (note, seen) = unbounded();
        let replies = Arc::clone(&queue);
        let pages = Arc::new(Mutex::new(json!({"/props": {"n_ctx": tokens}})));
        let told = Arc::clone(&pages);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (note, replies) = (note.clone(), Arc::clone(&replies));
                let pages = Arc::clone(&told);
                thread::spawn(move || serve(&stream.unwrap(), &pages, &note, &replies));
            }
        });
        Self {
            url,
            queue,
            pages,
            seen,
        }
    }

    /// What it says on its pages from now on, by their paths; all others aren't there.
    pub(crate) fn will_tell(&self, pages: Value) {
        *self.pages.lock().unwrap() = pages;
    }

    /// Queues a reply; without one, requests are answered with `ok`.
    pub(crate) fn will(&self, reply: Reply) {
        self.queue.lock().unwrap().push_back(reply);
    }

    pub(crate) fn will_say(&self, text: impl Into<String>) {
        self.will(Reply::Text(text.into()));
    }

    /// The next request that came, the probes of start-up and `/doctor` left out.
    pub(crate) fn next(&self) -> Seen {
        self.seen
            .recv_timeout(PATIENCE)
            .expect("the upstream sees a request")
    }

    pub(crate) fn saw_nothing(&self) -> bool {
        self.seen.is_empty()
    }
}

/// A step that waits, and what lets it go on.
pub(crate) fn barrier() -> (Sender<()>, Step) {
    let (open, wait) = bounded(1);
    (open, Step::Await(wait))
}

/// A step that ends when the proxy closes, and what tells of it.
pub(crate) fn closing() -> (Receiver<()>, Step) {
    let (tell, told) = bounded(1);
    (told, Step::Closed(tell))
}

/// One event with a piece of text.
pub(crate) fn event(text: &str) -> String {
    let delta = json!({"choices": [{"index": 0, "delta": {"content": text}}]});
    format!("data: {delta}\n\n")
}

/// The events that end a stream properly.
pub(crate) fn last_events() -> String {
    let stop = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    format!("data: {stop}\n\ndata: [DONE]\n\n")
}

/// The whole event stream for a text, in chunks of a few characters that don't respect its lines.
pub(crate) fn events(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let mut chunks: Vec<String> = characters
        .chunks(48)
        .map(|piece| event(&piece.iter().collect::<String>()))
        .collect();
    chunks.push(last_events());
    chunks
}

/// The plain JSON body for a text.
pub(crate) fn completion(text: &str) -> Value {
    json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "finish_reason": "stop",
        }],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    })
}

fn serve(
    stream: &TcpStream,
    pages: &Mutex<Value>,
    note: &Sender<Seen>,
    replies: &Mutex<VecDeque<Reply>>,
) {
    stream.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(stream);
    while let Some(seen) = read_request(&mut reader) {
        if seen.line.ends_with("HTTP/1.0") {
            let path = seen.line.split(' ').nth(1).unwrap_or_default();
            let told = match (pages.lock().unwrap().get(path), path) {
                (Some(page), _) => Some(page.clone()),
                (None, "/v1/models") => Some(json!({"object": "list", "data": [{"id": "m"}]})),
                (None, _) => None,
            };
            let status = if told.is_some() { 200 } else { 404 };
            let told = told.unwrap_or_default().to_string();
            let _ = write_plain(stream, status, "application/json", told.as_bytes());
            return;
        }
        let streams = serde_json::from_slice::<Value>(&seen.body)
            .is_ok_and(|request| request["stream"] == true);
        let reply = replies.lock().unwrap().pop_front();
        let _ = note.send(seen);
        let reply = reply.unwrap_or_else(|| Reply::Text("ok".into()));
        let steps = match reply {
            Reply::Plain(status, media_type, body) => {
                if write_plain(stream, status, media_type, &body).is_err() {
                    return;
                }
                continue;
            }
            Reply::Text(text) if !streams => {
                let body = completion(&text).to_string();
                if write_plain(stream, 200, "application/json", body.as_bytes()).is_err() {
                    return;
                }
                continue;
            }
            Reply::Text(text) => events(&text).into_iter().map(Step::Chunk).collect(),
            Reply::Steps(steps) => steps,
            Reply::Silence(step) => {
                play(stream, &mut reader, vec![step]);
                return;
            }
        };
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
        let mut writer = stream;
        if writer.write_all(head.as_bytes()).is_err() {
            return;
        }
        if !play(stream, &mut reader, steps) {
            return;
        }
    }
}

/// Plays the body of a streamed reply; false if the connection is over.
fn play(mut stream: &TcpStream, reader: &mut impl Read, steps: Vec<Step>) -> bool {
    for step in steps {
        match step {
            Step::Chunk(text) => {
                if write!(stream, "{:x}\r\n{text}\r\n", text.len()).is_err() {
                    return false;
                }
            }
            Step::Await(go_on) => {
                if go_on.recv_timeout(PATIENCE).is_err() {
                    return false;
                }
            }
            Step::Reset => {
                let now = Some(std::time::Duration::ZERO);
                rustix::net::sockopt::set_socket_linger(stream, now).unwrap();
                return false;
            }
            Step::Closed(tell) => {
                stream.set_read_timeout(Some(PATIENCE)).unwrap();
                let closed = match reader.read(&mut [0; 64]) {
                    Ok(count) => count == 0,
                    Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
                };
                if closed {
                    let _ = tell.send(());
                }
                return false;
            }
        }
    }
    stream.write_all(b"0\r\n\r\n").is_ok()
}

/// The next whole request, if one comes.
pub(crate) fn read_request(reader: &mut impl BufRead) -> Option<Seen> {
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        head.push_str(&line);
    }
    let length = head
        .lines()
        .find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length")
                .then(|| value.trim().parse().unwrap())
        })
        .unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Seen {
        line: head.lines().next().unwrap_or_default().to_owned(),
        head,
        body,
    })
}

fn write_plain(
    mut stream: &TcpStream,
    status: u16,
    media_type: &str,
    body: &[u8],
) -> std::io::Result<()> {
    let mut bytes = format!(
        "HTTP/1.1 {status} Said\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    bytes.extend_from_slice(body);
    stream.write_all(&bytes)
}
