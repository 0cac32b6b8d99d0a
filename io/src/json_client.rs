//! A blocking client for one JSON document at a time: for probes at start-up, `doctor`, audits and the demo's tour; never
//! on the network loop.

use std::io::{self, Read, Write};

use serde_json::Value;

/// Largest answer that is read.
const ANSWER_BYTES_MAX: usize = 32 << 20;

/// Writes one whole request and reads the JSON body of its answer.
///
/// # Errors
/// When the connection breaks, the answer is no JSON, or its status is not 200.
pub fn exchange(stream: impl Read + Write, request: &[u8]) -> io::Result<Value> {
    let Answer { status, body } = answer(stream, request, ANSWER_BYTES_MAX)?;
    match status {
        200 => serde_json::from_slice(&body).map_err(io::Error::other),
        status => Err(io::Error::other(format!("it answers with status {status}"))),
    }
}

/// Writes one whole request and reads its answer, which may be so long.
///
/// # Errors
/// When the connection breaks, or the answer is no HTTP or longer.
pub fn answer(
    mut stream: impl Read + Write,
    request: &[u8],
    bytes_max: usize,
) -> io::Result<Answer> {
    stream.write_all(request)?;
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        if let Some(answer) = read_answer(&bytes)? {
            return Ok(answer);
        }
        match stream.read(&mut piece)? {
            0 => return at_end(&bytes),
            length => bytes.extend_from_slice(&piece[..length]),
        }
        if bytes.len() > bytes_max {
            return Err(io::Error::other("its answer is too long"));
        }
    }
}

/// A whole answer.
#[derive(Debug)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// The body, transfer coding undone.
    pub body: Vec<u8>,
}

/// The answer, if all of it is there by its own framing. Servers may keep the connection open, whatever was asked.
fn read_answer(bytes: &[u8]) -> io::Result<Option<Answer>> {
    let Some((status, framing, body)) = read_head(bytes)? else {
        return Ok(None);
    };
    let body = match framing {
        Framing::Length(length) => body.get(..length).map(<[u8]>::to_vec),
        Framing::Chunked => unchunked(body)?,
        Framing::ToTheEnd => None,
    };
    Ok(body.map(|body| Answer { status, body }))
}

/// The answer when the connection has ended.
fn at_end(bytes: &[u8]) -> io::Result<Answer> {
    match read_head(bytes)? {
        Some((status, Framing::ToTheEnd, body)) => Ok(Answer {
            status,
            body: body.to_vec(),
        }),
        _ => Err(io::Error::other(
            "it closed the connection in the middle of its answer",
        )),
    }
}

enum Framing {
    Length(usize),
    Chunked,
    ToTheEnd,
}

fn read_head(bytes: &[u8]) -> io::Result<Option<(u16, Framing, &[u8])>> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut head = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(body_at) = head.parse(bytes).map_err(io::Error::other)? else {
        return Ok(None);
    };
    let field = |name: &str| {
        let header = head
            .headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(header.value).ok()
    };
    let framing = match (field("transfer-encoding"), field("content-length")) {
        (Some(_), _) => Framing::Chunked,
        (None, Some(length)) => Framing::Length(length.trim().parse().map_err(io::Error::other)?),
        (None, None) => Framing::ToTheEnd,
    };
    Ok(Some((
        head.code.unwrap_or_default(),
        framing,
        &bytes[body_at..],
    )))
}

/// The body out of its chunks, if the last one is there.
fn unchunked(mut bytes: &[u8]) -> io::Result<Option<Vec<u8>>> {
    let mut body = Vec::new();
    loop {
        let size = httparse::parse_chunk_size(bytes)
            .map_err(|_| io::Error::other("its chunks are malformed"))?;
        let httparse::Status::Complete((at, length)) = size else {
            return Ok(None);
        };
        if length == 0 {
            return Ok(Some(body));
        }
        let end = usize::try_from(length)
            .ok()
            .and_then(|length| at.checked_add(length));
        let Some(chunk) = end.and_then(|end| bytes.get(at..end)) else {
            return Ok(None);
        };
        body.extend_from_slice(chunk);
        bytes = bytes.get(at + chunk.len() + 2..).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The body once `bytes` have come, whether or not the connection stays open.
    fn check(bytes: &str, expected: Option<&str>) {
        let answer = read_answer(bytes.as_bytes()).ok().flatten();
        assert_eq!(
            answer.map(|answer| answer.body),
            expected.map(|body| body.as_bytes().to_vec()),
            "{bytes:?}"
        );
    }

    #[test]
    fn answers_end_by_their_own_framing() {
        check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", Some("{}"));
        check("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}", None);
        check(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
            Some("{}"),
        );
        check(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1",
            None,
        );
        check("HTTP/1.1 200 OK\r\n\r\n{}", None);
        assert!(at_end(b"HTTP/1.1 200 OK\r\n\r\n{}").is_ok());
        assert!(at_end(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}").is_err());
    }
}
