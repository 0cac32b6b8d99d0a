//! One request to the upstream and the reading of its response; knows no socket.

use core::ops::Range;
use std::sync::Arc;

use tslp_wire::http::body::{BodyDecoder, BodyError};
use tslp_wire::http::head_scan::HeadScan;
use tslp_wire::http::response::{
    ExpectedBody, ResponseFault, ResponseHead, ResponseProgress, parse_head,
};

/// Interim responses (1xx) before the final one; more is no honest server.
const INTERIM_MAX: usize = 16;

/// Sent bytes from which on their memory is given back.
const KEPT_CAPACITY_BYTES: usize = 64 * 1024;

/// A request's bytes on their way to the upstream: a head and a body, or as much of the body as has arrived.
#[derive(Debug, Default)]
pub struct RequestBytes {
    head: Vec<u8>,
    /// Shared with who records it; what is relayed as it comes is nobody else's.
    body: Arc<Vec<u8>>,
    sent: usize,
}

impl RequestBytes {
    /// A head with a whole body, or with the body's beginning.
    #[must_use]
    pub const fn new(head: Vec<u8>, body: Arc<Vec<u8>>) -> Self {
        Self {
            head,
            body,
            sent: 0,
        }
    }

    /// The buffer to which more of the body is appended, with transfer coding applied.
    pub fn body_buffer(&mut self) -> &mut Vec<u8> {
        Arc::make_mut(&mut self.body)
    }

    /// The bytes that still have to be written, in two pieces.
    #[must_use]
    pub fn unsent_pieces(&self) -> (&[u8], &[u8]) {
        let head_sent = self.sent.min(self.head.len());
        (&self.head[head_sent..], &self.body[self.sent - head_sent..])
    }

    /// The number of bytes that still have to be written.
    #[must_use]
    pub fn rest_len(&self) -> usize {
        self.head.len() + self.body.len() - self.sent
    }

    /// Notes that the socket took `count` bytes.
    pub fn mark_sent(&mut self, count: usize) {
        self.sent += count;
        assert!(
            self.sent <= self.head.len() + self.body.len(),
            "sent more than there was"
        );
    }

    /// Starts over on another connection.
    pub fn rewind(&mut self) {
        self.sent = 0;
    }

    /// Forgets what was sent, once it can't be needed again. A part of the body goes when that is worth moving the rest, so
    /// that an upload to a slow server never adds up.
    pub fn forget_sent(&mut self) {
        let body_sent = self.sent.saturating_sub(self.head.len());
        if self.sent > 0 && self.rest_len() == 0 {
            self.head = Vec::new();
            self.sent = 0;
            match Arc::get_mut(&mut self.body) {
                Some(body) if body.capacity() <= KEPT_CAPACITY_BYTES => body.clear(),
                _ => self.body = Arc::default(),
            }
        } else if body_sent >= KEPT_CAPACITY_BYTES
            && body_sent >= self.rest_len()
            && let Some(body) = Arc::get_mut(&mut self.body)
        {
            // Only from then on that half of it was sent: so each byte is moved once at most on the average.
            self.head = Vec::new();
            self.sent = 0;
            body.drain(..body_sent);
        }
    }

    /// Whether nothing is left of it.
    #[must_use]
    pub fn is_forgotten(&self) -> bool {
        self.head.is_empty() && self.body.is_empty()
    }
}

/// A response that can't be read further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResponseError {
    /// In its head.
    #[error("{0}")]
    Head(#[from] ResponseFault),
    /// In its body.
    #[error("{0}")]
    Body(#[from] BodyError),
}

/// The meaning of a piece of the upstream's bytes. `consumed` of the input are used up.
#[derive(Debug)]
pub enum FedBytes {
    /// All of the input was used, and more is needed.
    More,
    /// The final head.
    Head {
        /// The head itself.
        head: Box<ResponseHead>,
        /// Input bytes used.
        consumed: usize,
    },
    /// Body bytes, transfer coding undone.
    Body {
        /// The range of the input that is body.
        data: Range<usize>,
        /// Input bytes used.
        consumed: usize,
    },
    /// The message is complete; what is left of the input doesn't belong to it.
    End,
}

#[derive(Debug)]
enum ReadingState {
    Head {
        bytes: Vec<u8>,
        scan: HeadScan,
        interim: usize,
    },
    Body(BodyDecoder),
}

/// Reads one response.
#[derive(Debug)]
pub struct ResponseReader {
    at: ReadingState,
    asked: ExpectedBody,
    begun: ReceivedSoFar,
}

/// The part of a response that has come so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceivedSoFar {
    /// No byte.
    Nothing,
    /// Bytes, but not the final head.
    Bytes,
    /// The final head.
    Head,
}

impl ResponseReader {
    /// A reader for the response to a request of this kind.
    #[must_use]
    pub fn new(asked: ExpectedBody) -> Self {
        Self {
            at: ReadingState::Head {
                bytes: Vec::new(),
                scan: HeadScan::default(),
                interim: 0,
            },
            asked,
            begun: ReceivedSoFar::Nothing,
        }
    }

    /// The part of the response that has come so far.
    #[must_use]
    pub const fn received_so_far(&self) -> ReceivedSoFar {
        self.begun
    }

    /// Whether the connection may end here without cutting the message.
    #[must_use]
    pub const fn may_end(&self) -> bool {
        match &self.at {
            ReadingState::Head { .. } => false,
            ReadingState::Body(decoder) => decoder.ends_with_connection(),
        }
    }

    /// Takes the next bytes; call again with what wasn't consumed.
    pub fn feed(&mut self, input: &[u8]) -> Result<FedBytes, ResponseError> {
        if self.begun == ReceivedSoFar::Nothing && !input.is_empty() {
            self.begun = ReceivedSoFar::Bytes;
        }
        match &mut self.at {
            ReadingState::Head { .. } => self.feed_head(input),
            ReadingState::Body(decoder) if decoder.is_complete() => Ok(FedBytes::End),
            ReadingState::Body(decoder) => {
                let step = decoder.next_piece(input)?;
                if step.consumed == 0 {
                    return Ok(FedBytes::More);
                }
                Ok(FedBytes::Body {
                    data: step.data,
                    consumed: step.consumed,
                })
            }
        }
    }

    fn feed_head(&mut self, input: &[u8]) -> Result<FedBytes, ResponseError> {
        let ReadingState::Head {
            bytes,
            scan,
            interim,
        } = &mut self.at
        else {
            return Ok(FedBytes::More);
        };
        bytes.extend_from_slice(input);
        loop {
            match parse_head(bytes, scan, self.asked)? {
                ResponseProgress::Partial => return Ok(FedBytes::More),
                // RFC 9110 §15.2: a client reads past any number of these, asked for or not.
                ResponseProgress::Interim(length) => {
                    bytes.drain(..length);
                    *scan = HeadScan::default();
                    *interim += 1;
                    if *interim > INTERIM_MAX {
                        return Err(ResponseFault::TooLarge.into());
                    }
                }
                ResponseProgress::Complete(head, length) => {
                    debug_assert!(
                        bytes.len() - length <= input.len(),
                        "what came before was only a part of the head"
                    );
                    let consumed = input.len() - (bytes.len() - length);
                    self.at = ReadingState::Body(head.body.decoder());
                    self.begun = ReceivedSoFar::Head;
                    return Ok(FedBytes::Head { head, consumed });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An upload to a server that never quite caught up was kept whole.
    #[test]
    fn slow_server() {
        let mut request = RequestBytes::new(b"head".to_vec(), Arc::default());
        let mut said = (0_u8..=250).cycle();
        let mut heard = b"head".to_vec().into_iter().chain((0_u8..=250).cycle());
        for _ in 0..100 {
            request.body_buffer().extend(said.by_ref().take(20_000));
            let count = request.rest_len().saturating_sub(5000);
            let rest = [request.unsent_pieces().0, request.unsent_pieces().1].concat();
            let expected: Vec<u8> = heard.by_ref().take(count).collect();
            assert_eq!(rest[..count], expected);
            request.mark_sent(count);
            request.forget_sent();
        }
        assert!(
            request.body_buffer().capacity() < 256 << 10,
            "{}",
            request.body_buffer().capacity()
        );
        request.mark_sent(request.rest_len());
        request.forget_sent();
        assert!(request.is_forgotten());
    }
}
