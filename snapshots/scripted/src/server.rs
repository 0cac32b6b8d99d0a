//! The server: a thread for each connection, which asks its script for every answer.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};
use serde::Deserialize;
use serde_json::Value;
use tslp_wire::chat::dialect::Dialect;

use crate::PATIENCE;
use crate::encode::encoded;
use crate::reply::{Encoding, End, Reply};

/// Connections that are served at a time; more are closed.
const CONNECTIONS_MAX: usize = 512;
const STACK_BYTES: usize = 1 << 20;
const HEAD_BYTES_MAX: u64 = 256 * 1024;
const BODY_BYTES_MAX: usize = 64 << 20;

/// A request as it came.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Its first line.
    pub line: String,
    /// Its head, with the first line.
    pub head: String,
    /// Its body.
    pub body: Vec<u8>,
}

/// What of a request's body says how it is answered; the rest, which may be long, isn't kept.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Asked {
    stream: Option<bool>,
    stream_options: StreamOptions,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct StreamOptions {
    include_usage: bool,
}

/// What a request is answered with.
pub enum Answer {
    /// A reply, in the request's dialect and form.
    Reply(Box<Reply>),
    /// A status, a media type and a body.
    Plain(u16, &'static str, Vec<u8>),
    /// The head of an event stream, then these steps.
    Steps(Vec<Step>),
    /// Not even a head: this step alone.
    Silence(Step),
}

/// A step of a streamed answer.
pub enum Step {
    /// One chunk.
    Chunk(String),
    /// Waits until the test says to go on.
    Await(Receiver<()>),
    /// Resets the connection.
    Reset,
    /// Waits for the other side to close, and says so on this channel.
    Closed(Sender<()>),
}

/// A step that waits, and what lets it go on.
#[must_use]
pub fn barrier() -> (Sender<()>, Step) {
    let (open, wait) = bounded(1);
    (open, Step::Await(wait))
}

/// A step that ends when the other side closes, and what tells of it.
#[must_use]
pub fn closing() -> (Receiver<()>, Step) {
    let (tell, told) = bounded(1);
    (told, Step::Closed(tell))
}

impl Request {
    /// The path, without a query.
    #[must_use]
    pub fn path(&self) -> &str {
        let path = self.line.split(' ').nth(1).unwrap_or_default();
        path.split('?').next().unwrap_or_default()
    }

    /// The dialect that its path belongs to, if it asks for a reply.
    #[must_use]
    pub fn dialect(&self) -> Option<Dialect> {
        let is_post = self.line.starts_with("POST ");
        Dialect::of_path(self.path()).filter(|_| is_post)
    }

    /// The body; null if it is no JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The body.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Of a chat completion: the text of its one system message, and what was put before the user's newest words.
    ///
    /// # Panics
    /// When there are several system messages.
    #[must_use]
    pub fn system(&self) -> String {
        let request = self.json();
        let messages = request["messages"].as_array().into_iter().flatten();
        let of = |role: &'static str| {
            let of_role = messages
                .clone()
                .filter(move |message| message["role"] == role);
            of_role.map(|message| message["content"].as_str().unwrap_or_default())
        };
        assert!(
            of("system").count() < 2,
            "one system message at most: {request}"
        );
        let newest = of("user").next_back().unwrap_or_default();
        let end = newest.rfind("\n[END ").and_then(|last| {
            let length = newest[last..].find(']')?;
            Some(last + length + 1)
        });
        let added = &newest[..end.unwrap_or(0)];
        let system = of("system").next().unwrap_or_default();
        let texts = [system, added].into_iter().filter(|text| !text.is_empty());
        texts.collect::<Vec<_>>().join("\n\n")
    }

    /// Of a chat completion: the messages after the system message, as `role: text`.
    #[must_use]
    pub fn conversation(&self) -> Vec<String> {
        let request = self.json();
        let messages = request["messages"].as_array().into_iter().flatten();
        let said = messages.filter(|message| message["role"] != "system");
        let said = said.map(|message| {
            let [role, text] =
                ["role", "content"].map(|it| message[it].as_str().unwrap_or_default());
            format!("{role}: {text}")
        });
        said.collect()
    }

    /// Whether the connection ends with its answer.
    fn is_last(&self) -> bool {
        let closes = |line: &str| line.eq_ignore_ascii_case("connection: close");
        self.line.ends_with("HTTP/1.0") || self.head.lines().any(closes)
    }

    fn asked(&self) -> Asked {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Whether a reply may say what it cost: in a stream of OpenAI's only who asks for it is told.
    fn may_tell_usage(&self) -> bool {
        let is_openai = matches!(
            self.dialect(),
            Some(Dialect::ChatCompletions | Dialect::Completions)
        );
        !is_openai || !self.streams() || self.asked().stream_options.include_usage
    }

    /// Whether a stream is asked for: of Ollama it is, where nothing is said.
    #[must_use]
    pub fn streams(&self) -> bool {
        let is_ollama = matches!(
            self.dialect(),
            Some(Dialect::OllamaChat | Dialect::OllamaGenerate)
        );
        self.asked().stream.unwrap_or(is_ollama)
    }
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        Self::Reply(Box::new(reply))
    }
}

impl Answer {
    /// JSON with a status.
    #[must_use]
    pub fn json(status: u16, body: &Value) -> Self {
        Self::Plain(status, "application/json", body.to_string().into_bytes())
    }
}

/// What answers a request: on the thread of its connection.
type Script = dyn Fn(Request) -> Answer + Send + Sync;

/// A running server; ended when dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
}

impl Server {
    /// Starts at a free port of the loopback address.
    ///
    /// # Errors
    /// When no port can be had, or no thread.
    pub fn start(script: impl Fn(Request) -> Answer + Send + Sync + 'static) -> io::Result<Self> {
        Self::on(TcpListener::bind("127.0.0.1:0")?, script)
    }

    /// Starts at this address.
    ///
    /// # Errors
    /// When no thread can be had.
    pub fn on(
        listener: TcpListener,
        script: impl Fn(Request) -> Answer + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let script: Arc<Script> = Arc::new(script);
        thread::Builder::new()
            .name("scripted-model".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || accept(&listener, &stopped, &script))?;
        Ok(Self { address, stop })
    }

    /// Its address.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its base URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        // Wakes the listener; if that fails, it ends with the process.
        let _ = TcpStream::connect(self.address);
    }
}

fn accept(listener: &TcpListener, stop: &AtomicBool, script: &Arc<Script>) {
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        if stop.load(Ordering::Acquire) {
            return;
        }
        let Ok(stream) = stream else {
            continue;
        };
        if open.fetch_add(1, Ordering::AcqRel) >= CONNECTIONS_MAX {
            open.fetch_sub(1, Ordering::AcqRel);
            continue;
        }
        let (counted, script) = (Arc::clone(&open), Arc::clone(script));
        let thread = thread::Builder::new()
            .name("scripted-reply".to_owned())
            .stack_size(STACK_BYTES);
        let spawned = thread.spawn(move || {
            // The other side may go at any time: that is what is tried.
            let _ = serve(stream, &*script);
            counted.fetch_sub(1, Ordering::AcqRel);
        });
        if spawned.is_err() {
            open.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

fn serve(stream: TcpStream, script: &Script) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some(request) = read_request(&mut reader)? {
        let (dialect, streams) = (request.dialect().unwrap_or_default(), request.streams());
        let may_tell_usage = request.may_tell_usage();
        let is_last = request.is_last();
        let mut to = &stream;
        let goes_on = match script(request) {
            Answer::Plain(status, media, body) => {
                to.write_all(plain_head(status, media, &[], Some(body.len())).as_bytes())?;
                to.write_all(&body)?;
                true
            }
            Answer::Reply(mut reply) => {
                reply.usage = reply.usage.filter(|_| may_tell_usage);
                send(&stream, &mut reader, (dialect, streams), &reply)?
            }
            Answer::Steps(steps) => {
                let head = plain_head(200, "text/event-stream", &[], None);
                to.write_all(head.as_bytes())?;
                let goes_on = play(&stream, &mut reader, steps)?;
                if goes_on {
                    to.write_all(b"0\r\n\r\n")?;
                }
                goes_on
            }
            Answer::Silence(step) => {
                play(&stream, &mut reader, vec![step])?;
                false
            }
        };
        if is_last || !goes_on {
            return Ok(());
        }
    }
    Ok(())
}

/// Without a length the body comes in chunks.
fn plain_head(
    status: u16,
    media: &str,
    more: &[(String, String)],
    length: Option<usize>,
) -> String {
    let mut head = format!("HTTP/1.1 {status} Said\r\n");
    let named = |name: &str| {
        more.iter()
            .any(|(known, _)| known.eq_ignore_ascii_case(name))
    };
    if !named("content-type") {
        head += &format!("Content-Type: {media}\r\n");
    }
    match length {
        Some(length) if !named("content-length") => {
            head += &format!("Content-Length: {length}\r\n")
        }
        None => head += "Transfer-Encoding: chunked\r\n",
        Some(_) => {}
    }
    for (name, value) in more.iter().filter(|it| !it.1.is_empty()) {
        head += &format!("{name}: {value}\r\n");
    }
    head + "\r\n"
}

/// Sends a reply; false if the connection is over.
fn send(
    stream: &TcpStream,
    reader: &mut impl Read,
    (dialect, streams): (Dialect, bool),
    reply: &Reply,
) -> io::Result<bool> {
    let (media, events) = encoded(dialect, streams, reply);
    let coding = match reply.encoding {
        Encoding::Plain | Encoding::Mark => None,
        Encoding::Gzip => Some("gzip"),
        Encoding::Deflate => Some("deflate"),
    };
    let mut more = reply.head.clone();
    more.extend(coding.map(|it| ("Content-Encoding".to_owned(), it.to_owned())));
    let length = (!streams).then(|| events.iter().map(Vec::len).sum());
    let head = plain_head(reply.status.unwrap_or(200), media, &more, length);
    let mut room = match reply.end {
        End::Whole => usize::MAX,
        End::Close(bytes) | End::Reset(bytes) | End::Silent(bytes) => bytes,
    };
    thread::sleep(Duration::from_millis(reply.wait));
    let (mut to, mut out) = (stream, head.into_bytes());
    for (at, event) in events.iter().enumerate() {
        let event = &event[..event.len().min(room)];
        room -= event.len();
        if streams && !event.is_empty() {
            out.extend_from_slice(format!("{:x}\r\n", event.len()).as_bytes());
            out.extend_from_slice(event);
            out.extend_from_slice(b"\r\n");
        } else {
            out.extend_from_slice(event);
        }
        // The first leaves at once; without pauses the rest leaves together.
        if at == 0 || reply.delay > 0 {
            to.write_all(&out)?;
            out.clear();
            if at + 1 < events.len() {
                thread::sleep(Duration::from_millis(reply.delay));
            }
        }
        if room == 0 {
            break;
        }
    }
    to.write_all(&out)?;
    match reply.end {
        End::Whole if streams => to.write_all(b"0\r\n\r\n").map(|()| true),
        End::Whole => Ok(true),
        End::Close(_) => Ok(false),
        End::Reset(_) => reset(stream).map(|()| false),
        End::Silent(_) => {
            // Until the other side is tired of it.
            let _ = reader.read(&mut [0; 64]);
            Ok(false)
        }
    }
}

fn reset(stream: &TcpStream) -> io::Result<()> {
    rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO))?;
    Ok(())
}

/// Plays steps; false if the connection is over.
fn play(mut stream: &TcpStream, reader: &mut impl Read, steps: Vec<Step>) -> io::Result<bool> {
    for step in steps {
        match step {
            Step::Chunk(text) => write!(stream, "{:x}\r\n{text}\r\n", text.len())?,
            Step::Await(go_on) => {
                if go_on.recv_timeout(PATIENCE).is_err() {
                    return Ok(false);
                }
            }
            Step::Reset => {
                reset(stream)?;
                return Ok(false);
            }
            Step::Closed(tell) => {
                stream.set_read_timeout(Some(PATIENCE))?;
                let closed = match reader.read(&mut [0; 64]) {
                    Ok(count) => count == 0,
                    Err(error) => error.kind() == io::ErrorKind::ConnectionReset,
                };
                if closed {
                    let _ = tell.send(());
                }
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// The next whole request, if one comes.
///
/// # Errors
/// When the connection breaks, or the body is too long.
pub fn read_request(reader: &mut impl BufRead) -> io::Result<Option<Request>> {
    let mut bounded = reader.by_ref().take(HEAD_BYTES_MAX);
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if bounded.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        if line == "\r\n" {
            break;
        }
        head.push_str(&line);
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let is_length = name.eq_ignore_ascii_case("content-length");
        is_length.then(|| value.trim().parse().unwrap_or(usize::MAX))
    });
    let length = length.unwrap_or(0);
    if length > BODY_BYTES_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let line = head.lines().next().unwrap_or_default().to_owned();
    Ok(Some(Request { line, head, body }))
}
