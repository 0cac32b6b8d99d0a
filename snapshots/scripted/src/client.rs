//! A client of one connection: requests out, whole or half-read responses back. What goes wrong is a failing test, and says so.
#![allow(
    clippy::unwrap_used,
    reason = "a harness whose step fails is a test that fails"
)]

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// Bound on every wait; only a failing test reaches it.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A response, transfer coding undone.
#[derive(Clone, Debug)]
pub struct Response {
    /// Its head, without the empty line.
    pub head: String,
    /// Its body.
    pub body: Vec<u8>,
    /// Whether its framing says that it is all there.
    pub whole: bool,
}

impl Response {
    /// The status; 0 if the head has none.
    #[must_use]
    pub fn status(&self) -> u16 {
        let digits = self.head.get(9..12);
        digits.and_then(|it| it.parse().ok()).unwrap_or(0)
    }

    /// A field of the head.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (field, value) = line.split_once(':')?;
            field.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The body as text.
    ///
    /// # Panics
    /// When it is none.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    /// The body as JSON.
    ///
    /// # Panics
    /// When it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error} in {}: {}", self.head, self.text()))
    }

    /// The number in `x-tslp-episode: e7`.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn episode(&self) -> u64 {
        let name = self
            .header("x-tslp-episode")
            .unwrap_or_else(|| panic!("no episode: {}", self.head));
        name.strip_prefix('e').unwrap().parse().unwrap()
    }

    /// The assistant's text of a chat completion, from events or from one JSON body.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn said(&self) -> String {
        let text = self.text();
        if text.starts_with('{') {
            let content = &self.json()["choices"][0]["message"]["content"];
            return content.as_str().unwrap().to_owned();
        }
        text.lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .filter_map(|data| serde_json::from_str::<Value>(data).ok())
            .filter_map(|event| {
                let content = &event["choices"][0]["delta"]["content"];
                content.as_str().map(str::to_owned)
            })
            .collect()
    }
}

/// One connection.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    /// Connects.
    ///
    /// # Panics
    /// When nobody listens.
    #[must_use]
    pub fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            stream,
            buffer: Vec::new(),
        }
    }

    /// Sends a request whose connection ends with its response.
    ///
    /// # Panics
    /// When its head can't be sent.
    pub fn send(&mut self, method: &str, path: &str, fields: &[(&str, &str)], body: &[u8]) {
        let host = self.stream.peer_addr().unwrap();
        let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n");
        for (name, value) in fields {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        if method == "POST" {
            request.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        request.push_str("Connection: close\r\n\r\n");
        self.stream.write_all(request.as_bytes()).unwrap();
        // A body that is refused early may not be taken to its end.
        let _ = self.stream.write_all(body);
    }

    /// Whether this has come.
    #[must_use]
    pub fn has(&self, mark: &str) -> bool {
        let mark = mark.as_bytes();
        self.buffer.windows(mark.len()).any(|found| found == mark)
    }

    /// Reads until this has come.
    ///
    /// # Panics
    /// When it ends before.
    pub fn until(&mut self, mark: &str) {
        while !self.has(mark) {
            let so_far = String::from_utf8_lossy(&self.buffer).into_owned();
            assert!(self.fill(), "ended before it was said: {so_far}");
        }
    }

    /// Reads to the end.
    ///
    /// # Panics
    /// When no head comes.
    #[expect(clippy::must_use_candidate, reason = "some only wait for its end")]
    pub fn response(mut self) -> Response {
        while self.fill() {}
        let at = self
            .buffer
            .windows(4)
            .position(|window| window == b"\r\n\r\n")
            .unwrap_or_else(|| panic!("no response: {:?}", String::from_utf8_lossy(&self.buffer)));
        let head = String::from_utf8(self.buffer[..at].to_vec()).unwrap();
        let rest = self.buffer[at + 4..].to_vec();
        let mut response = Response {
            head,
            body: rest,
            whole: true,
        };
        if response.header("transfer-encoding") == Some("chunked") {
            (response.body, response.whole) = unchunked(&response.body);
        } else if let Some(length) = response.header("content-length") {
            response.whole = length.parse() == Ok(response.body.len());
        }
        response
    }

    /// More bytes; false at the end or on a reset.
    fn fill(&mut self) -> bool {
        let mut piece = [0; 16 * 1024];
        match self.stream.read(&mut piece) {
            Ok(0) => false,
            Ok(count) => {
                self.buffer.extend_from_slice(&piece[..count]);
                true
            }
            Err(error) if error.kind() == ErrorKind::ConnectionReset => false,
            Err(error) if error.kind() == ErrorKind::Interrupted => true,
            Err(error) => panic!(
                "reading: {error}; so far {:?}",
                String::from_utf8_lossy(&self.buffer)
            ),
        }
    }
}

/// The body, and whether its last chunk came.
fn unchunked(mut bytes: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    loop {
        let Some(at) = bytes.windows(2).position(|window| window == b"\r\n") else {
            return (body, false);
        };
        let size = std::str::from_utf8(&bytes[..at]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        let rest = &bytes[at + 2..];
        if size == 0 {
            return (body, true);
        }
        if rest.len() < size + 2 {
            body.extend_from_slice(&rest[..size.min(rest.len())]);
            return (body, false);
        }
        body.extend_from_slice(&rest[..size]);
        bytes = &rest[size + 2..];
    }
}
