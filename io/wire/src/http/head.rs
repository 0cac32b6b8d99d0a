//! Writes message heads and chunk framing; nothing here decides what to send.

use crate::chat::dialect::Dialect;

use super::error::Refusal;
use super::headers::Headers;
use super::request::{HttpVersion, Persistence};
use super::response::ResponseHead;

/// The framing of a response of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseFraming {
    /// `Content-Length`, then the body.
    Length(u64),
    /// Chunked.
    Chunked,
    /// The connection's end.
    Close,
    /// No body follows; the headers keep whatever length they state.
    Bodiless,
}

/// Standard reason phrases of the statuses that TSLP itself sends.
#[must_use]
pub const fn reason_phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        204 => "No Content",
        304 => "Not Modified",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        411 => "Length Required",
        413 => "Content Too Large",
        414 => "URI Too Long",
        415 => "Unsupported Media Type",
        417 => "Expectation Failed",
        421 => "Misdirected Request",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        _ => "",
    }
}

/// The interim response to `Expect: 100-continue`.
pub const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// The last chunk and the empty trailer section.
pub const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// Appends one header line.
pub fn write_field(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

fn write_number_field(out: &mut Vec<u8>, name: &str, value: u64) {
    let mut digits = [0; 20];
    write_field(out, name, decimal_digits(value, &mut digits));
}

fn decimal_digits(mut value: u64, digits: &mut [u8; 20]) -> &[u8] {
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            return &digits[at..];
        }
    }
}

fn write_status_line(out: &mut Vec<u8>, status: u16, reason: &str) {
    let mut digits = [0; 20];
    // RFC 9110 §2.5: a server states its own version, also to a client of HTTP/1.0.
    out.extend_from_slice(b"HTTP/1.1 ");
    out.extend_from_slice(decimal_digits(u64::from(status), &mut digits));
    out.push(b' ');
    out.extend_from_slice(reason.as_bytes());
    out.extend_from_slice(b"\r\n");
}

fn write_persistence_field(out: &mut Vec<u8>, version: HttpVersion, persistence: Persistence) {
    match (version, persistence) {
        (_, Persistence::Close) => write_field(out, "connection", b"close"),
        (HttpVersion::Http10, Persistence::KeepAlive) => {
            write_field(out, "connection", b"keep-alive")
        }
        (HttpVersion::Http11, Persistence::KeepAlive) => {}
    }
}

/// The properties of a request on which a response of ours depends.
#[derive(Clone, Copy, Debug)]
pub struct ResponseTo {
    /// The request's version.
    pub version: HttpVersion,
    /// The connection's state afterwards.
    pub persistence: Persistence,
    /// Whether the body is sent or only measured (HEAD).
    pub content: ResponseContent,
    /// The dialect of errors that the client reads; `None` for what isn't chat.
    pub errors: Option<Dialect>,
}

/// Whether a response carries its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseContent {
    /// Head and body.
    Whole,
    /// The head of what a GET would have got.
    HeadOnly,
}

/// A complete response with a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnAnswer {
    /// HTTP status.
    pub status: u16,
    /// The body's media type.
    pub content_type: &'static str,
    /// All of it.
    pub body: Vec<u8>,
}

impl OwnAnswer {
    /// JSON text.
    #[must_use]
    pub const fn json(status: u16, body: Vec<u8>) -> Self {
        Self {
            status,
            content_type: "application/json",
            body,
        }
    }

    /// A refusal, as clients of a dialect show it.
    #[must_use]
    pub fn refusal(refusal: &Refusal, dialect: Option<Dialect>) -> Self {
        Self::json(refusal.status(dialect), refusal.body(dialect))
    }
}

/// Appends a complete response of our own.
pub fn write_own_response(
    out: &mut Vec<u8>,
    to: ResponseTo,
    extra: &[(&str, &str)],
    answer: &OwnAnswer,
) {
    let OwnAnswer {
        status,
        content_type,
        body,
    } = answer;
    let status = *status;
    write_status_line(out, status, reason_phrase(status));
    // RFC 9110 §8.6: a 204 states no length, and a 304 at most that of what it stands for.
    let is_empty = matches!(status, 204 | 304);
    if !is_empty {
        write_field(out, "content-type", content_type.as_bytes());
        write_number_field(out, "content-length", body.len() as u64);
    }
    if extra.iter().all(|(name, _)| *name != "cache-control") {
        write_field(out, "cache-control", b"no-store");
    }
    // A browser must not take a page's text, in which there may be code, for a script.
    write_field(out, "x-content-type-options", b"nosniff");
    for (name, value) in extra {
        write_field(out, name, value.as_bytes());
    }
    write_persistence_field(out, to.version, to.persistence);
    out.extend_from_slice(b"\r\n");
    if to.content == ResponseContent::Whole && !is_empty {
        out.extend_from_slice(body);
    }
}

/// Appends the head of a stream of server-sent events, which goes on until either side closes the connection.
pub fn write_event_stream_head(out: &mut Vec<u8>, to: ResponseTo, extra: &[(&str, &str)]) {
    write_status_line(out, 200, reason_phrase(200));
    let own = [
        ("content-type", "text/event-stream"),
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
    ];
    for (name, value) in own.iter().chain(extra) {
        write_field(out, name, value.as_bytes());
    }
    write_persistence_field(out, to.version, Persistence::Close);
    out.extend_from_slice(b"\r\n");
}

/// Appends a complete refusal.
pub fn write_refusal(out: &mut Vec<u8>, to: ResponseTo, refusal: &Refusal, extra: &[(&str, &str)]) {
    let mut fields: Vec<(&str, &str)> = extra.to_vec();
    fields.extend(refusal.header);
    if !refusal.may_pass() {
        // Clients would ask again for minutes, and show nothing meanwhile.
        fields.push(("x-should-retry", "false"));
    }
    write_own_response(out, to, &fields, &OwnAnswer::refusal(refusal, to.errors));
}

/// Appends the upstream's response head with framing of ours.
pub fn write_relayed_response(
    out: &mut Vec<u8>,
    to: ResponseTo,
    head: &ResponseHead,
    framing: ResponseFraming,
    extra: &[(&str, &str)],
) {
    assert!(
        framing != ResponseFraming::Chunked || to.version == HttpVersion::Http11,
        "HTTP/1.0 has no chunks"
    );
    write_status_line(out, head.status, &head.reason);
    for (name, value) in head.headers.iter() {
        let ours =
            name.eq_ignore_ascii_case("content-length") && framing != ResponseFraming::Bodiless;
        // CORS headers and the episode header come from this proxy alone.
        let starts = |with: &str| {
            name.get(..with.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(with))
        };
        let withheld = starts("access-control-") || starts("x-tslp-");
        if !ours && !withheld && !head.headers.is_hop_by_hop(name) {
            write_field(out, name, value);
        }
    }
    match framing {
        ResponseFraming::Length(bytes) => write_number_field(out, "content-length", bytes),
        ResponseFraming::Chunked => write_field(out, "transfer-encoding", b"chunked"),
        ResponseFraming::Close | ResponseFraming::Bodiless => {}
    }
    for (name, value) in extra {
        write_field(out, name, value.as_bytes());
    }
    write_persistence_field(out, to.version, to.persistence);
    out.extend_from_slice(b"\r\n");
}

/// The target of a relayed request and its added headers.
#[derive(Clone, Copy, Debug)]
pub struct RequestTo<'a> {
    /// The `Host` header.
    pub host: &'a str,
    /// The whole origin-form target.
    pub target: &'a str,
    /// Replaces the client's `Authorization`.
    pub authorization: Option<&'a [u8]>,
    /// The body's framing.
    pub framing: RequestFraming,
    /// The content codings that the upstream may use.
    pub coding: ContentCoding,
}

/// The framing of a request of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestFraming {
    /// No body and no length.
    Bodiless,
    /// `Content-Length`.
    Length(u64),
    /// Chunked.
    Chunked,
}

/// The handling of the client's `Accept-Encoding`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentCoding {
    /// Relayed as it is.
    AsAsked,
    /// Replaced by `identity`, because the engine reads along.
    Identity,
}

/// Appends a request head made from the client's: end-to-end headers stay in order, the framing is ours. `dropped` decides
/// which further headers aren't relayed.
pub fn write_relayed_request(
    out: &mut Vec<u8>,
    method: &str,
    headers: &Headers,
    to: &RequestTo<'_>,
    dropped: impl Fn(&str, &[u8]) -> HeaderFate,
) {
    out.extend_from_slice(method.as_bytes());
    out.push(b' ');
    out.extend_from_slice(to.target.as_bytes());
    out.extend_from_slice(b" HTTP/1.1\r\n");
    write_field(out, "host", to.host.as_bytes());
    for (name, value) in headers.iter() {
        // `Expect` was answered by this proxy: the model server has nothing to allow.
        let replaced = ["host", "content-length", "expect"]
            .iter()
            .any(|own| name.eq_ignore_ascii_case(own))
            || (to.coding == ContentCoding::Identity
                && name.eq_ignore_ascii_case("accept-encoding"))
            || (to.authorization.is_some() && name.eq_ignore_ascii_case("authorization"));
        let stays = !replaced
            && !headers.is_hop_by_hop(name)
            && dropped(name, value) == HeaderFate::Relayed;
        if stays {
            write_field(out, name, value);
        }
    }
    if let Some(value) = to.authorization {
        write_field(out, "authorization", value);
    }
    if to.coding == ContentCoding::Identity {
        write_field(out, "accept-encoding", b"identity");
    }
    match to.framing {
        RequestFraming::Bodiless => {}
        RequestFraming::Length(bytes) => write_number_field(out, "content-length", bytes),
        RequestFraming::Chunked => write_field(out, "transfer-encoding", b"chunked"),
    }
    out.extend_from_slice(b"\r\n");
}

/// Whether a header is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderFate {
    /// It is relayed.
    Relayed,
    /// It is dropped.
    Dropped,
}

/// Appends one chunk; an empty one is skipped, because it would end the body.
pub fn write_chunk(out: &mut Vec<u8>, data: &[u8]) {
    if data.is_empty() {
        return;
    }
    let mut digits = [0; 16];
    let mut at = digits.len();
    let mut size = data.len();
    while size > 0 {
        at -= 1;
        digits[at] = b"0123456789abcdef"[size % 16];
        size /= 16;
    }
    out.extend_from_slice(&digits[at..]);
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(data);
    out.extend_from_slice(b"\r\n");
}
