//! A blocking client for one JSON document at a time: for probes at start-up, `doctor`, audits and the demo's tour; never
//! on the network loop.

use std::io::{self, Read, Write};

use serde_json::Value;

use tslp_wire::http::head_scan::HeadScan;
use tslp_wire::http::response::{ExpectedBody, ResponseProgress, parse_head};

/// Largest answer that is read.
const ANSWER_BYTES_MAX: usize = 32 << 20;

/// Writes one whole request and reads the JSON body of its answer.
///
/// # Errors
/// When the connection breaks, the answer is no JSON, or its status is not 200; of the kind `PermissionDenied` where it wants a key.
pub fn request_json(stream: impl Read + Write, request: &[u8]) -> io::Result<Value> {
    let HttpAnswer { status, body } = request_answer(stream, request, ANSWER_BYTES_MAX)?;
    match status {
        200 => serde_json::from_slice(&body).map_err(io::Error::other),
        401 | 403 => Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("it answers with status {status}"),
        )),
        status => Err(io::Error::other(format!("it answers with status {status}"))),
    }
}

/// Writes one whole request and reads its answer, whose head and body may each be so long.
///
/// # Errors
/// When the connection breaks, or the answer is no HTTP or longer.
pub fn request_answer(
    mut stream: impl Read + Write,
    request: &[u8],
    bytes_max: usize,
) -> io::Result<HttpAnswer> {
    stream.write_all(request)?;
    let (mut bytes, mut scan) = (Vec::new(), HeadScan::default());
    let head = loop {
        match parse_head(&bytes, &mut scan, ExpectedBody::WithBody).map_err(io::Error::other)? {
            ResponseProgress::Partial => {
                if read_more(&mut stream, &mut bytes, bytes_max)? == 0 {
                    return Err(broken_off());
                }
            }
            ResponseProgress::Interim(length) => {
                bytes.drain(..length);
                scan = HeadScan::default();
            }
            ResponseProgress::Complete(head, length) => {
                bytes.drain(..length);
                break head;
            }
        }
    };
    let (mut body, mut decoder) = (Vec::new(), head.body.decoder());
    loop {
        let step = decoder.next_piece(&bytes).map_err(io::Error::other)?;
        body.extend_from_slice(&bytes[step.data]);
        bytes.drain(..step.consumed);
        // Servers may keep the connection open, whatever was asked.
        if decoder.is_complete() {
            break;
        }
        if step.consumed == 0 && read_more(&mut stream, &mut bytes, bytes_max - body.len())? == 0 {
            if !decoder.ends_with_connection() {
                return Err(broken_off());
            }
            break;
        }
    }
    Ok(HttpAnswer {
        status: head.status,
        body,
    })
}

/// Appends what the stream has next; 0 bytes at its end.
fn read_more(stream: &mut impl Read, bytes: &mut Vec<u8>, bytes_max: usize) -> io::Result<usize> {
    let mut piece = [0; 4096];
    let length = stream.read(&mut piece)?;
    bytes.extend_from_slice(&piece[..length]);
    if bytes.len() > bytes_max {
        return Err(io::Error::other("its answer is too long"));
    }
    Ok(length)
}

fn broken_off() -> io::Error {
    io::Error::other("it closed the connection in the middle of its answer")
}

/// A whole answer.
#[derive(Debug)]
pub struct HttpAnswer {
    /// HTTP status.
    pub status: u16,
    /// The body, transfer coding undone.
    pub body: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives these bytes one at a time, and then what a connection gives that stays open, or that ends.
    struct Server<'b>(&'b [u8], io::Result<usize>);

    impl Read for Server<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.split_first() {
                Some((byte, rest)) => {
                    buffer[0] = *byte;
                    self.0 = rest;
                    Ok(1)
                }
                None => std::mem::replace(&mut self.1, Ok(0)),
            }
        }
    }

    impl Write for Server<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// The body once `bytes` have come over a connection that stays open, and over one that ends.
    fn check(bytes: &str, open: Option<&str>, ended: Option<&str>) {
        let open_end = Err(io::ErrorKind::TimedOut.into());
        for (end, expected) in [(open_end, open), (Ok(0), ended)] {
            let answer = request_answer(Server(bytes.as_bytes(), end), b"", 1000).ok();
            let body = answer.map(|answer| String::from_utf8(answer.body).unwrap());
            assert_eq!(body.as_deref(), expected, "{bytes:?}");
        }
    }

    /// Answers end where their own framing says.
    #[test]
    fn end_of_answers() {
        let whole = Some("{}");
        check(
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
            whole,
            whole,
        );
        check("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}", None, None);
        let chunked =
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n";
        check(chunked, whole, whole);
        check(&chunked[..chunked.len() - 8], None, None);
        check("HTTP/1.1 200 OK\r\n\r\n{}", None, whole);
        check(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n{}",
            None,
            whole,
        );
        check(
            &format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(1001)),
            None,
            None,
        );
    }
}
