//! The scripted model server: after a delay it streams a reply of so many chunks. A thread for each connection.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

const STACK_BYTES: usize = 128 * 1024;

/// What the server does with the next requests.
#[derive(Default)]
pub(crate) struct Script {
    delay_micros: AtomicU64,
    chunks: AtomicU64,
    pause_micros: AtomicU64,
    chunk_bytes: AtomicU64,
    replies: AtomicU64,
}

/// A running server; it ends with the process.
pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    script: Arc<Script>,
}

impl Upstream {
    pub(crate) fn start() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let script = Arc::new(Script::default());
        let shared = Arc::clone(&script);
        thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let script = Arc::clone(&shared);
                let _ = thread::Builder::new()
                    .stack_size(STACK_BYTES)
                    .spawn(move || serve(socket, &script));
            }
        });
        let upstream = Self { address, script };
        upstream.play(Duration::ZERO, 8, Duration::ZERO, 24);
        Ok(upstream)
    }

    /// From now on: the first chunk after `delay`, `chunks` in all, `pause` between two, each with so many bytes of
    /// text.
    pub(crate) fn play(&self, delay: Duration, chunks: u64, pause: Duration, chunk_bytes: usize) {
        let micros = |time: Duration| time.as_micros() as u64;
        self.script
            .delay_micros
            .store(micros(delay), Ordering::Relaxed);
        self.script.chunks.store(chunks, Ordering::Relaxed);
        self.script
            .pause_micros
            .store(micros(pause), Ordering::Relaxed);
        self.script
            .chunk_bytes
            .store(chunk_bytes as u64, Ordering::Relaxed);
    }
}

fn serve(mut socket: TcpStream, script: &Script) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let mut buffer = Vec::new();
    let mut scratch = vec![0; 64 * 1024];
    loop {
        let Some(is_chat) = read_request(&mut socket, &mut buffer, &mut scratch)? else {
            return Ok(());
        };
        if is_chat {
            answer(&mut socket, script)?;
        } else {
            socket.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")?;
        }
    }
}

/// Reads one whole request; `None` at the end of the connection.
fn read_request(
    socket: &mut TcpStream,
    buffer: &mut Vec<u8>,
    scratch: &mut [u8],
) -> io::Result<Option<bool>> {
    buffer.clear();
    let mut total = usize::MAX;
    while buffer.len() < total {
        let read = socket.read(scratch)?;
        if read == 0 {
            return Ok(None);
        }
        let from = buffer.len().saturating_sub(3);
        buffer.extend_from_slice(&scratch[..read]);
        if total == usize::MAX
            && let Some(at) = find(&buffer[from..], b"\r\n\r\n")
        {
            let head = String::from_utf8_lossy(&buffer[..from + at]).to_ascii_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length:"))
                .and_then(|value| value.trim().parse::<usize>().ok());
            total = from + at + 4 + length.unwrap_or(0);
        }
    }
    Ok(Some(buffer.starts_with(b"POST")))
}

/// Where the needle stands.
pub(crate) fn find(hay: &[u8], needle: &[u8]) -> Option<usize> {
    hay.windows(needle.len())
        .position(|window| window == needle)
}

fn answer(socket: &mut TcpStream, script: &Script) -> io::Result<()> {
    let time = |micros: &AtomicU64| Duration::from_micros(micros.load(Ordering::Relaxed));
    let chunks = script.chunks.load(Ordering::Relaxed);
    let pause = time(&script.pause_micros);
    let bytes = script.chunk_bytes.load(Ordering::Relaxed) as usize;
    let delay = time(&script.delay_micros);
    let reply = script.replies.fetch_add(1, Ordering::Relaxed) as usize;
    if !delay.is_zero() {
        thread::sleep(delay);
    }
    let mut out =
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
            .to_vec();
    for at in 0..chunks {
        event(
            &mut out,
            &format!(
                "{{\"id\":\"b\",\"object\":\"chat.completion.chunk\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{}\"}}}}]}}",
                text(reply, at as usize, bytes)
            ),
        );
        // The first chunk leaves at once; without pauses the rest leaves together.
        if at == 0 || !pause.is_zero() {
            socket.write_all(&out)?;
            out.clear();
            thread::sleep(pause);
        }
    }
    event(
        &mut out,
        "{\"id\":\"b\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}",
    );
    event(&mut out, "[DONE]");
    out.extend_from_slice(b"0\r\n\r\n");
    socket.write_all(&out)
}

/// The text of one chunk; no two replies are the same.
fn text(reply: usize, at: usize, bytes: usize) -> String {
    let mut text = format!("{reply}.{at} words that a model says ").repeat(1 + bytes / 24);
    text.truncate(bytes);
    text
}

fn event(out: &mut Vec<u8>, data: &str) {
    out.extend_from_slice(format!("{:x}\r\ndata: {data}\n\n\r\n", data.len() + 8).as_bytes());
}
