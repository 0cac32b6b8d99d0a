//! Response heads from the upstream: bytes in, a head or a fault out.

use super::body::BodyDecoder;
use super::head_scan::{HeadFault, HeadScan};
use super::headers::Headers;
use super::request::{FIELDS_MAX, HttpVersion, Persistence, parse_length};

/// Largest response head; model servers send well under 4 KB.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// The reason why an upstream's response can't be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResponseFault {
    /// Line ends or control characters.
    #[error("{0}")]
    Head(HeadFault),
    /// Not an HTTP/1 response.
    #[error("it is not an HTTP/1 response")]
    NotHttp,
    /// Over 64 KB or too many fields.
    #[error("its head is too large")]
    TooLarge,
    /// The end of the body is ambiguous.
    #[error("its framing is ambiguous")]
    Framing,
    /// A switch of protocols that nobody asked for.
    #[error("it switches protocols")]
    Switch,
}

/// The framing of a response's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseBody {
    /// There is none, whatever the headers say (HEAD, 204, 304).
    Absent,
    /// `Content-Length`.
    Known(u64),
    /// Chunked.
    Chunked,
    /// With the connection.
    UntilClose,
}

impl ResponseBody {
    /// The decoder for it.
    #[must_use]
    pub const fn decoder(self) -> BodyDecoder {
        match self {
            Self::Absent => BodyDecoder::with_length(0),
            Self::Known(bytes) => BodyDecoder::with_length(bytes),
            Self::Chunked => BodyDecoder::chunked(),
            Self::UntilClose => BodyDecoder::until_close(),
        }
    }
}

/// A final (not 1xx) response's head.
#[derive(Clone, Debug)]
pub struct ResponseHead {
    /// Status code.
    pub status: u16,
    /// Reason phrase as sent; may be empty.
    pub reason: String,
    /// All fields as sent.
    pub headers: Headers,
    /// The body's framing.
    pub body: ResponseBody,
    /// Whether the upstream keeps the connection open.
    pub persistence: Persistence,
}

impl ResponseHead {
    /// Whether the body is of this media type.
    #[must_use]
    pub fn is_of_type(&self, wanted: &str) -> bool {
        self.headers
            .first_text("content-type")
            .is_some_and(|value| {
                let media_type = value.split_once(';').map_or(value, |(kind, _)| kind);
                media_type.trim().eq_ignore_ascii_case(wanted)
            })
    }
}

/// Whether the request's method lets the response have a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedBody {
    /// HEAD.
    HeadOnly,
    /// Any other method.
    WithBody,
}

/// The result of parsing the bytes received so far.
#[derive(Debug)]
pub enum ResponseProgress {
    /// More bytes are needed.
    Partial,
    /// An interim response (1xx) took this many bytes; scan again after it, from the start.
    Interim(usize),
    /// The final head, and how many bytes it took.
    Complete(Box<ResponseHead>, usize),
}

/// Looks for a response head at the start of `bytes`.
pub fn parse_head(
    bytes: &[u8],
    scan: &mut HeadScan,
    asked: ExpectedBody,
) -> Result<ResponseProgress, ResponseFault> {
    let end = scan.find_end(bytes).map_err(ResponseFault::Head)?;
    if end.unwrap_or(bytes.len()) > HEAD_BYTES_MAX {
        return Err(ResponseFault::TooLarge);
    }
    // From the first bytes on: another protocol may never send the empty line that ends a head.
    if !bytes.starts_with(&b"HTTP/1."[..bytes.len().min(7)]) {
        return Err(ResponseFault::NotHttp);
    }
    let Some(end) = end else {
        return Ok(ResponseProgress::Partial);
    };
    let mut table = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut parsed = httparse::Response::new(&mut table);
    match parsed.parse(&bytes[..end]) {
        Ok(httparse::Status::Complete(length)) if length == end => {}
        Err(httparse::Error::TooManyHeaders) => return Err(ResponseFault::TooLarge),
        _ => return Err(ResponseFault::NotHttp),
    }
    let status = parsed.code.expect("a whole head has a status");
    match status {
        // `Upgrade` isn't relayed, so nobody asked for it.
        101 => return Err(ResponseFault::Switch),
        100..=199 => return Ok(ResponseProgress::Interim(end)),
        200..=599 => {}
        _ => return Err(ResponseFault::NotHttp),
    }
    let head = read_head(&parsed, status, asked)?;
    Ok(ResponseProgress::Complete(Box::new(head), end))
}

fn read_head(
    parsed: &httparse::Response<'_, '_>,
    status: u16,
    asked: ExpectedBody,
) -> Result<ResponseHead, ResponseFault> {
    let version = match parsed.version {
        Some(0) => HttpVersion::Http10,
        _ => HttpVersion::Http11,
    };
    let mut headers = Headers::default();
    for field in parsed.headers.iter() {
        headers.push(field.name, field.value);
    }
    let body = read_body(&headers, status, asked, version)?;
    let closes = match version {
        HttpVersion::Http11 => headers.has_member("connection", "close"),
        HttpVersion::Http10 => !headers.has_member("connection", "keep-alive"),
    };
    let persistence = if closes || body == ResponseBody::UntilClose {
        Persistence::Close
    } else {
        Persistence::KeepAlive
    };
    Ok(ResponseHead {
        status,
        reason: parsed.reason.unwrap_or_default().to_owned(),
        headers,
        body,
        persistence,
    })
}

fn read_body(
    headers: &Headers,
    status: u16,
    asked: ExpectedBody,
    version: HttpVersion,
) -> Result<ResponseBody, ResponseFault> {
    // RFC 9112 §6.3: these have no body, whatever length they state.
    if asked == ExpectedBody::HeadOnly || matches!(status, 204 | 304) {
        return Ok(ResponseBody::Absent);
    }
    let mut codings = headers.members("transfer-encoding");
    let mut lengths = headers.all("content-length");
    match (codings.next(), lengths.next()) {
        (Some(_), Some(_)) => Err(ResponseFault::Framing),
        // RFC 9112 §6.1: HTTP/1.0 has no transfer codings, so a server that states one there has confused something.
        (Some(_), None) if version == HttpVersion::Http10 || codings.next().is_some() => {
            Err(ResponseFault::Framing)
        }
        (Some(coding), None) if coding.eq_ignore_ascii_case(b"chunked") => {
            Ok(ResponseBody::Chunked)
        }
        (Some(_), None) => Err(ResponseFault::Framing),
        (None, Some(length)) => {
            // Repeated but equal lengths are unambiguous, and some servers behind caches send them.
            if lengths.any(|other| other != length) {
                return Err(ResponseFault::Framing);
            }
            parse_length(length)
                .map(ResponseBody::Known)
                .ok_or(ResponseFault::Framing)
        }
        (None, None) if headers.first("transfer-encoding").is_some() => Err(ResponseFault::Framing),
        (None, None) => Ok(ResponseBody::UntilClose),
    }
}
