//! A client on one kept-alive connection that takes the time to the first data chunk.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::upstream::find;

/// One connection.
pub(crate) struct Client {
    socket: TcpStream,
    host: SocketAddr,
    request: Vec<u8>,
    response: Vec<u8>,
    scratch: Vec<u8>,
}

impl Client {
    pub(crate) fn connect(host: SocketAddr) -> io::Result<Self> {
        let socket = TcpStream::connect(host)?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(Duration::from_secs(60)))?;
        Ok(Self {
            socket,
            host,
            request: Vec::new(),
            response: Vec::new(),
            scratch: vec![0; 64 * 1024],
        })
    }

    /// Sends a chat request and reads the whole reply. Returns the time from the last byte sent to the first data
    /// chunk received.
    pub(crate) fn chat(&mut self, body: &str) -> io::Result<Duration> {
        self.request.clear();
        write!(
            self.request,
            "POST /v1/chat/completions HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.host,
            body.len()
        )?;
        self.socket.write_all(&self.request)?;
        let sent = Instant::now();
        let mut first = None;
        self.response.clear();
        loop {
            let read = self.socket.read(&mut self.scratch)?;
            let now = Instant::now();
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let from = self.response.len().saturating_sub(8);
            self.response.extend_from_slice(&self.scratch[..read]);
            if first.is_none() && find(&self.response[from..], b"data: ").is_some() {
                first = Some(now - sent);
            }
            if self.response.ends_with(b"\r\n0\r\n\r\n") {
                break;
            }
            if first.is_none() && find(&self.response, b"\r\n\r\n").is_some() {
                let text = String::from_utf8_lossy(&self.response);
                if !text.starts_with("HTTP/1.1 200") {
                    return Err(io::Error::other(text.into_owned()));
                }
            }
        }
        first.ok_or_else(|| io::Error::other("a reply without data"))
    }

    /// The text of the last reply.
    pub(crate) fn reply(&self) -> String {
        let response = String::from_utf8_lossy(&self.response);
        let texts = response.split("\"content\":\"").skip(1);
        texts
            .filter_map(|rest| rest.split_once('"'))
            .map(|(text, _)| text)
            .collect()
    }
}
