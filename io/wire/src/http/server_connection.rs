//! The client's side of one connection: received bytes in, request heads and body pieces out, one request at a time.

use super::body::BodyDecoder;
use super::error::Refusal;
use super::head_scan::HeadScan;
use super::request::{HeadLimits, HeadProgress, RequestHead, parse_head};

/// Most received bytes that may wait during a response; a client that pipelines more isn't read further.
pub const PIPELINE_BYTES_MAX: usize = 64 * 1024;

#[derive(Debug)]
enum RequestPhase {
    Head,
    Body(BodyDecoder),
    /// The request is complete; what follows waits for its response to end.
    Answering,
}

/// An event in a client's bytes.
#[derive(Debug)]
pub enum ClientEvent<'a> {
    /// More bytes are needed.
    NeedMore,
    /// A request has begun.
    Head(Box<RequestHead>),
    /// A piece of its body, transfer coding undone.
    Body(&'a [u8]),
    /// It is complete.
    End,
    /// The bytes are malformed: answer with this, then close.
    Refused(Refusal),
}

/// The part of a request that a client is expected to send next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedPart {
    /// The first byte of a request.
    Request,
    /// The rest of a head.
    Head,
    /// The rest of a body.
    Body,
    /// Nothing: the request is complete.
    Nothing,
}

/// Parser state of one client connection. Holds no memory while the connection is idle.
#[derive(Debug)]
pub struct ServerConnection {
    input: Vec<u8>,
    start: usize,
    scan: HeadScan,
    phase: RequestPhase,
}

impl Default for ServerConnection {
    fn default() -> Self {
        Self {
            input: Vec::new(),
            start: 0,
            scan: HeadScan::default(),
            phase: RequestPhase::Head,
        }
    }
}

impl ServerConnection {
    /// Adds bytes received from the socket.
    pub fn receive(&mut self, bytes: &[u8]) {
        // What was parsed makes room first, so that an upload never adds up here.
        if self.start > 0 {
            self.input.drain(..self.start);
            self.start = 0;
        }
        self.input.extend_from_slice(bytes);
    }

    /// The number of received bytes that aren't parsed yet.
    #[must_use]
    pub fn waiting_bytes(&self) -> usize {
        self.input.len() - self.start
    }

    /// The part that the client is expected to send next.
    #[must_use]
    pub fn expected_part(&self) -> ExpectedPart {
        match self.phase {
            RequestPhase::Head if self.waiting_bytes() == 0 => ExpectedPart::Request,
            RequestPhase::Head => ExpectedPart::Head,
            RequestPhase::Body(_) => ExpectedPart::Body,
            RequestPhase::Answering => ExpectedPart::Nothing,
        }
    }

    /// Whether the current request is complete.
    #[must_use]
    pub fn request_is_complete(&self) -> bool {
        match &self.phase {
            RequestPhase::Head => false,
            RequestPhase::Body(decoder) => decoder.is_complete(),
            RequestPhase::Answering => true,
        }
    }

    /// Allows the next request to be read, after the response to the last one is complete.
    pub fn start_next(&mut self) {
        // A rest of the last request would be read as a request of its own.
        assert!(
            self.request_is_complete(),
            "a request ends before the next one begins"
        );
        self.phase = RequestPhase::Head;
        self.scan = HeadScan::default();
        self.shrink();
    }

    /// Frees the memory of parsed bytes, because a response can take minutes.
    fn shrink(&mut self) {
        if self.waiting_bytes() == 0 {
            self.input = Vec::new();
            self.start = 0;
        }
    }

    /// The next event; call until it is [`ClientEvent::NeedMore`].
    pub fn next_event(&mut self, limits: &HeadLimits) -> ClientEvent<'_> {
        match &mut self.phase {
            RequestPhase::Head => self.next_head(limits),
            RequestPhase::Body(decoder) if decoder.is_complete() => {
                self.phase = RequestPhase::Answering;
                self.shrink();
                ClientEvent::End
            }
            RequestPhase::Body(_) => self.next_body(),
            RequestPhase::Answering => ClientEvent::NeedMore,
        }
    }

    fn next_head(&mut self, limits: &HeadLimits) -> ClientEvent<'_> {
        // RFC 9112 §2.2: an empty line before a request line is ignored.
        while self.scan.line_count() == 0 && self.input[self.start..].starts_with(b"\r\n") {
            self.start += 2;
            self.scan = HeadScan::default();
        }
        match parse_head(&self.input[self.start..], &mut self.scan, limits) {
            HeadProgress::Partial => ClientEvent::NeedMore,
            HeadProgress::Refused(refusal) => ClientEvent::Refused(refusal),
            HeadProgress::Complete(head, length) => {
                self.start += length;
                debug_assert!(self.start <= self.input.len(), "a head lies in the input");
                self.phase = RequestPhase::Body(head.body.decoder());
                ClientEvent::Head(head)
            }
        }
    }

    fn next_body(&mut self) -> ClientEvent<'_> {
        let RequestPhase::Body(decoder) = &mut self.phase else {
            return ClientEvent::NeedMore;
        };
        let pending = self.start;
        match decoder.next_piece(&self.input[pending..]) {
            Err(fault) => ClientEvent::Refused(Refusal::malformed(fault.to_string())),
            Ok(step) => {
                self.start += step.consumed;
                debug_assert!(step.data.end <= step.consumed && self.start <= self.input.len());
                if step.consumed == 0 && !decoder.is_complete() {
                    return ClientEvent::NeedMore;
                }
                ClientEvent::Body(&self.input[pending + step.data.start..pending + step.data.end])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(pieces: &[&[u8]]) -> String {
        let limits = HeadLimits::default();
        let mut connection = ServerConnection::default();
        let mut story = String::new();
        let mut body = Vec::new();
        for piece in pieces {
            connection.receive(piece);
            loop {
                match connection.next_event(&limits) {
                    ClientEvent::NeedMore => break,
                    ClientEvent::Head(head) => {
                        story.push_str(&format!("{} {}\n", head.method, head.target));
                    }
                    ClientEvent::Body(bytes) => body.extend_from_slice(bytes),
                    ClientEvent::End => {
                        story.push_str(&format!("{:?}\n", String::from_utf8_lossy(&body)));
                        body.clear();
                        connection.start_next();
                    }
                    ClientEvent::Refused(refusal) => {
                        return format!("{story}{} {}", refusal.status(None), refusal.message);
                    }
                }
            }
        }
        story
    }

    #[test]
    fn pipelined_at_any_split() {
        let whole = b"\r\nPOST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc\
            POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n0\r\n\r\nGET /c HTTP/1.0\r\n\r\n";
        let expected = "POST /a\n\"abc\"\nPOST /b\n\"de\"\nGET /c\n\"\"\n";
        for split in 0..=whole.len() {
            let (head, tail) = whole.split_at(split);
            assert_eq!(events(&[head, tail]), expected, "split at {split}");
        }
        let bytes: Vec<&[u8]> = whole.chunks(1).collect();
        assert_eq!(events(&bytes), expected);
    }

    /// Damaged requests read the same in one piece and byte by byte.
    #[test]
    fn damaged_at_any_split() {
        let whole = b"POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nX: y\r\n\r\nabcPOST /b HTTP/1.1\r\n\
            Transfer-Encoding: chunked\r\n\r\n2;e=f\r\nde\r\n0\r\nT: t\r\n\r\nGET /c HTTP/1.0\r\n\r\n";
        let odd = *b"\0\r\n\t :;,+-09afgPH/.\x7f\x80\xff";
        let mut state = 1_u64;
        let mut random = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as usize % below
        };
        for _ in 0..20_000 {
            let mut damaged = whole.to_vec();
            for _ in 0..=random(3) {
                let at = random(damaged.len());
                let byte = odd[random(odd.len())];
                match random(3) {
                    0 => damaged[at] = byte,
                    1 => damaged.insert(at, byte),
                    _ => drop(damaged.remove(at)),
                }
            }
            let bytes: Vec<&[u8]> = damaged.chunks(1).collect();
            // Which of several faults is seen first may differ; what was understood before it may not.
            let understood =
                |story: String| story.rsplit_once('\n').map(|(before, _)| before.to_owned());
            let (one, many) = (understood(events(&[&damaged])), understood(events(&bytes)));
            assert_eq!(one, many, "{:?}", String::from_utf8_lossy(&damaged));
        }
    }
}
