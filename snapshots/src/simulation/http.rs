//! HTTP read as naively as possible, from all bytes so far: for the ends of the simulated connections.

use crate::dice::Dice;

/// The part of a message that has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Message {
    /// The first line.
    pub(super) start: String,
    /// Header fields, names in lower case.
    pub(super) fields: Vec<(String, String)>,
    /// The body so far, transfer coding undone.
    pub(super) body: Vec<u8>,
    /// The length of the message in bytes, once it is complete.
    pub(super) complete: Option<usize>,
}

/// The end of a message without a length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// A request ends with its head.
    Request,
    /// A response ends with its connection.
    Response,
}

impl Message {
    /// A header field.
    #[must_use]
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        let mut fields = self.fields.iter();
        fields
            .find(|(found, _)| found == name)
            .map(|(_, value)| value.as_str())
    }

    /// The status of a response.
    #[must_use]
    pub(super) fn status(&self) -> u16 {
        let status = self.start.split(' ').nth(1);
        status
            .and_then(|status| status.parse().ok())
            .unwrap_or_default()
    }
}

/// Reads a message; `None` before its head is there. `ended` says that no more bytes will come.
#[must_use]
pub(super) fn read_message(bytes: &[u8], framing: Framing, ended: bool) -> Option<Message> {
    let head_end = find_bytes(bytes, b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..head_end]);
    let mut lines = head.split("\r\n");
    let start = lines.next().unwrap_or_default().to_owned();
    let fields = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let mut message = Message {
        start,
        fields,
        body: Vec::new(),
        complete: None,
    };
    let from = head_end + 4;
    let rest = &bytes[from..];
    let chunked = message
        .field("transfer-encoding")
        .is_some_and(|coding| coding.eq_ignore_ascii_case("chunked"));
    let length = message
        .field("content-length")
        .and_then(|length| length.parse::<usize>().ok());
    if chunked {
        let taken = decode_chunks(rest, &mut message.body);
        message.complete = taken.map(|taken| from + taken);
    } else if let Some(length) = length {
        message.body = rest[..length.min(rest.len())].to_vec();
        message.complete = (rest.len() >= length).then_some(from + length);
    } else if framing == Framing::Request {
        message.complete = Some(from);
    } else {
        message.body = rest.to_vec();
        message.complete = ended.then_some(bytes.len());
    }
    Some(message)
}

/// Appends the chunks that have come to `body`; returns their length in bytes if the last one is among them.
fn decode_chunks(bytes: &[u8], body: &mut Vec<u8>) -> Option<usize> {
    let mut at = 0;
    loop {
        let line = find_bytes(&bytes[at..], b"\r\n")?;
        let size = std::str::from_utf8(&bytes[at..at + line]).ok()?;
        let size = usize::from_str_radix(size.trim(), 16).ok()?;
        at += line + 2;
        if size == 0 {
            return bytes[at..].starts_with(b"\r\n").then_some(at + 2);
        }
        let there = &bytes[at..];
        body.extend_from_slice(&there[..size.min(there.len())]);
        at += size + 2;
        if at > bytes.len() {
            return None;
        }
    }
}

/// A whole body in chunks of random lengths.
#[must_use]
pub(super) fn encode_chunks(body: &[u8], chance: &mut Dice) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = body;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(chance.piece(rest.len()).min(rest.len()));
        bytes.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        bytes.extend_from_slice(piece);
        bytes.extend_from_slice(b"\r\n");
        rest = after;
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    bytes
}

/// The index of the first occurrence of the needle.
fn find_bytes(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes
        .windows(needle.len())
        .position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cut() {
        let whole =
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n";
        for cut in 0..whole.len() {
            let read = read_message(&whole[..cut], Framing::Response, false);
            assert!(
                read.is_none_or(|message| message.complete.is_none()),
                "{cut}"
            );
        }
        let message = read_message(whole, Framing::Response, false).unwrap();
        assert_eq!((message.status(), message.body), (200, b"abcd".to_vec()));
        assert_eq!(message.complete, Some(whole.len()));
    }
}
