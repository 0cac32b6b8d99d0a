//! HTTP/1.1 from the wire: the same bytes mean the same, however they are cut.

use std::fmt::Write as _;

use tslp_wire::http::body::BodyDecoder;
use tslp_wire::http::head_scan::HeadScan;
use tslp_wire::http::request::HeadLimits;
use tslp_wire::http::response::{ExpectedBody, ResponseProgress, parse_head};
use tslp_wire::http::server_connection::{ClientEvent, ServerConnection};

/// Requests on one connection, each answered as soon as it is complete.
pub(crate) fn http_request(data: &[u8]) {
    let whole = read_requests([data]);
    assert_eq!(whole, read_requests(data.chunks(1)));
    assert_eq!(whole, read_requests(data.chunks(5)));
}

/// What the connection makes of its bytes; pieces of one body are joined.
fn read_requests<'d>(pieces: impl IntoIterator<Item = &'d [u8]>) -> String {
    let limits = HeadLimits::default();
    let mut connection = ServerConnection::default();
    let mut told = String::new();
    for piece in pieces {
        connection.receive(piece);
        loop {
            match connection.next_event(&limits) {
                ClientEvent::NeedMore => break,
                ClientEvent::Head(head) => {
                    let _ = writeln!(told, "{head:?}");
                }
                ClientEvent::Body(bytes) => {
                    for byte in bytes {
                        let _ = write!(told, "{byte:02x}");
                    }
                }
                ClientEvent::End => {
                    told.push_str("\nend\n");
                    connection.start_next();
                }
                ClientEvent::Refused(refusal) => {
                    let _ = write!(told, "\n{refusal:?}");
                    return told;
                }
            }
        }
    }
    told
}

/// A response's head.
pub(crate) fn http_response(data: &[u8]) {
    let asked = match data.first() {
        Some(byte) if byte % 2 == 1 => ExpectedBody::HeadOnly,
        _ => ExpectedBody::WithBody,
    };
    assert_eq!(
        read_response(data, data.len().max(1), asked),
        read_response(data, 1, asked)
    );
    assert_eq!(
        read_response(data, data.len().max(1), asked),
        read_response(data, 5, asked)
    );
}

fn read_response(data: &[u8], step: usize, asked: ExpectedBody) -> String {
    let mut scan = HeadScan::default();
    let mut start = 0;
    let mut end = 0;
    let mut told = String::new();
    loop {
        match parse_head(&data[start..end], &mut scan, asked) {
            Ok(ResponseProgress::Partial) if end == data.len() => return told + "partial",
            Ok(ResponseProgress::Partial) => end = (end + step).min(data.len()),
            Ok(ResponseProgress::Interim(length)) => {
                assert!(length > 0 && start + length <= end);
                told.push_str("interim\n");
                start += length;
                scan = HeadScan::default();
            }
            Ok(ResponseProgress::Complete(head, length)) => {
                assert!(start + length <= end);
                let _ = write!(told, "{head:?} {length}");
                return told;
            }
            // Of several faults, which one is met first depends on where the bytes end.
            Err(_) => return told + "fault",
        }
    }
}

/// A body: chunked, or of a length that the first byte gives.
pub(crate) fn http_body(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else {
        return;
    };
    let decoder = match first % 3 {
        0 => BodyDecoder::with_length(u64::from(*first)),
        1 => BodyDecoder::until_close(),
        _ => BodyDecoder::chunked(),
    };
    let whole = read_body(decoder.clone(), [rest]);
    assert_eq!(whole, read_body(decoder.clone(), rest.chunks(1)));
    assert_eq!(whole, read_body(decoder, rest.chunks(3)));
}

fn read_body<'d>(
    mut decoder: BodyDecoder,
    pieces: impl IntoIterator<Item = &'d [u8]>,
) -> (Vec<u8>, bool, Option<String>) {
    let mut data = Vec::new();
    for mut piece in pieces {
        while !piece.is_empty() {
            match decoder.next_piece(piece) {
                Ok(step) if step.consumed == 0 => break,
                Ok(step) => {
                    data.extend_from_slice(&piece[step.data]);
                    piece = &piece[step.consumed..];
                }
                Err(error) => return (data, false, Some(error.to_string())),
            }
        }
    }
    (data, decoder.is_complete(), None)
}
