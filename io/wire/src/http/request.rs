//! Request heads: bytes in, a head or a refusal out.

use super::body::BodyDecoder;
use super::error::Refusal;
use super::head_scan::HeadScan;
use super::headers::Headers;

/// HTTP version of a message; anything else is refused with 505.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpVersion {
    /// HTTP/1.0.
    Http10,
    /// HTTP/1.1.
    Http11,
}

/// Bounds on a request head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadLimits {
    /// Longest request line; longer is 414.
    pub line_bytes_max: usize,
    /// Largest head; larger is 431.
    pub head_bytes_max: usize,
    /// Most header fields; more is 431.
    pub fields_max: usize,
}

impl Default for HeadLimits {
    fn default() -> Self {
        Self {
            // Twice the length that RFC 9112 §3 recommends.
            line_bytes_max: 16 * 1024,
            // Cookies of other local servers on the same host name can reach tens of KB.
            head_bytes_max: 64 * 1024,
            fields_max: 128,
        }
    }
}

/// Upper bound on [`HeadLimits::fields_max`]: the parser's table is on the stack.
pub const FIELDS_MAX: usize = 256;

/// The framing of a request's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyLength {
    /// Neither `Content-Length` nor `Transfer-Encoding`.
    Absent,
    /// `Content-Length`.
    Known(u64),
    /// `Transfer-Encoding: chunked`.
    Chunked,
}

impl BodyLength {
    /// The decoder for it.
    #[must_use]
    pub const fn decoder(self) -> BodyDecoder {
        match self {
            Self::Absent => BodyDecoder::with_length(0),
            Self::Known(bytes) => BodyDecoder::with_length(bytes),
            Self::Chunked => BodyDecoder::chunked(),
        }
    }
}

/// The connection's state after this message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persistence {
    /// It stays open for the next request.
    KeepAlive,
    /// It ends.
    Close,
}

/// A request's head; its framing has been checked and is unambiguous.
#[derive(Clone, Debug)]
pub struct RequestHead {
    /// As sent; methods are case-sensitive.
    pub method: String,
    /// In origin form (`/path?query`); an absolute-form target was reduced to it.
    pub target: String,
    /// The authority of an absolute-form target.
    pub authority: Option<String>,
    /// As sent.
    pub version: HttpVersion,
    /// As sent.
    pub headers: Headers,
    /// The body's framing.
    pub body: BodyLength,
    /// Whether the client waits for `100 Continue`.
    pub expects_continue: Expectation,
    /// Whether the client keeps the connection open.
    pub persistence: Persistence,
}

/// The `Expect` header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// Not there.
    None,
    /// `100-continue`.
    Continue,
}

impl RequestHead {
    /// The target without its query.
    #[must_use]
    pub fn path(&self) -> &str {
        self.target
            .split_once('?')
            .map_or(&*self.target, |(path, _)| path)
    }

    /// The text after the first `?`.
    #[must_use]
    pub fn query(&self) -> Option<&str> {
        self.target.split_once('?').map(|(_, query)| query)
    }
}

/// The result of parsing the bytes received so far.
#[derive(Debug)]
pub enum HeadProgress {
    /// More bytes are needed.
    Partial,
    /// A head, and how many bytes it took.
    Complete(Box<RequestHead>, usize),
    /// Answer with this and close: nothing after these bytes can be trusted.
    Refused(Refusal),
}

/// Looks for a request head at the start of `bytes`; `scan` is fresh for each request and carries on between calls.
pub fn parse_head(bytes: &[u8], scan: &mut HeadScan, limits: &HeadLimits) -> HeadProgress {
    let end = match scan.find_end(bytes) {
        Ok(end) => end,
        Err(fault) => return HeadProgress::Refused(Refusal::malformed(fault.to_string())),
    };
    if scan.first_line_bytes() > limits.line_bytes_max {
        return refused_head("target_too_long", "the request line is too long");
    }
    if end.unwrap_or(bytes.len()) > limits.head_bytes_max {
        return refused_head("head_too_large", "the request's headers are too large");
    }
    match end {
        None => HeadProgress::Partial,
        // Parsed only when it is whole: a head in many small pieces would otherwise be parsed again with each.
        Some(end) => match read_head(&bytes[..end], limits) {
            Ok(head) => HeadProgress::Complete(Box::new(head), end),
            Err(refusal) => HeadProgress::Refused(refusal),
        },
    }
}

fn refused_head(code: &'static str, message: &'static str) -> HeadProgress {
    HeadProgress::Refused(Refusal::new(code, message))
}

fn read_head(bytes: &[u8], limits: &HeadLimits) -> Result<RequestHead, Refusal> {
    let mut table = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let fields = limits.fields_max.min(FIELDS_MAX);
    let mut parsed = httparse::Request::new(&mut table[..fields]);
    match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(length)) if length == bytes.len() => {}
        Ok(_) => return Err(Refusal::malformed("the request's head is malformed")),
        Err(error) => return Err(parse_refusal(error, bytes)),
    }
    let version = match parsed.version {
        Some(0) => HttpVersion::Http10,
        _ => HttpVersion::Http11,
    };
    let mut headers = Headers::default();
    for field in parsed.headers.iter() {
        check_value(field.value)?;
        headers.push(field.name, field.value);
    }
    let (Some(method), Some(path)) = (parsed.method, parsed.path) else {
        return Err(Refusal::malformed("the request line is malformed"));
    };
    let (target, authority) = read_target(path, method)?;
    Ok(RequestHead {
        body: read_length(&headers, version)?,
        expects_continue: read_expectation(&headers, version)?,
        persistence: read_persistence(&headers, version),
        method: method.to_owned(),
        target,
        authority,
        version,
        headers,
    })
}

fn parse_refusal(error: httparse::Error, bytes: &[u8]) -> Refusal {
    match error {
        httparse::Error::TooManyHeaders => {
            Refusal::new("too_many_headers", "the request has too many headers")
        }
        httparse::Error::Version => version_refusal(bytes),
        httparse::Error::HeaderName => Refusal::malformed(
            "a header name is malformed (only token characters, and no blank before the colon)",
        ),
        httparse::Error::HeaderValue => {
            Refusal::malformed("a header value holds a control character")
        }
        _ => Refusal::malformed("the request line is malformed"),
    }
}

fn version_refusal(bytes: &[u8]) -> Refusal {
    let mut lines = bytes.split(|byte| *byte == b'\r');
    let line = lines.next().expect("a split has a first part");
    let mut words = line.rsplit(|byte| *byte == b' ');
    let name = words.next().expect("a split has a last part");
    let well_formed = line.iter().filter(|byte| **byte == b' ').count() == 2
        && name.len() == 8
        && name.starts_with(b"HTTP/")
        && name[5].is_ascii_digit()
        && name[6] == b'.'
        && name[7].is_ascii_digit();
    if well_formed {
        Refusal::new("http_version", "only HTTP/1.0 and HTTP/1.1 are spoken here")
    } else {
        Refusal::malformed("the request line is malformed")
    }
}

fn check_value(value: &[u8]) -> Result<(), Refusal> {
    if value
        .iter()
        .any(|byte| (*byte < b' ' && *byte != b'\t') || *byte == 127)
    {
        return Err(Refusal::malformed(
            "a header value holds a control character",
        ));
    }
    Ok(())
}

fn read_target(target: &str, method: &str) -> Result<(String, Option<String>), Refusal> {
    // Its target is an authority, and a tunnel would carry bytes past the guard.
    if method == "CONNECT" {
        return Err(Refusal::new(
            "method_not_implemented",
            "this is no forward proxy: CONNECT is not spoken here",
        ));
    }
    let odd =
        |byte: u8| byte <= b' ' || byte >= 127 || matches!(byte, b'#' | b'\\' | b'"' | b'<' | b'>');
    if target.bytes().any(odd) {
        return Err(Refusal::malformed(
            "the request target holds a character that must be percent-encoded",
        ));
    }
    if target.starts_with('/') {
        return Ok((target.to_owned(), None));
    }
    // RFC 9112 §3.2.2: a server takes the absolute form, too; its authority counts, and the guard checks it.
    let absolute = target
        .get(..7)
        .filter(|scheme| scheme.eq_ignore_ascii_case("http://"))
        .map(|_| &target[7..]);
    let Some(rest) = absolute else {
        return Err(Refusal::malformed(
            "the request target must be a path that begins with /",
        ));
    };
    let cut = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(cut);
    let path = if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("/{path}")
    };
    Ok((path, Some(authority.to_owned())))
}

/// RFC 9112 §6.3, with everything doubtful refused rather than repaired.
fn read_length(headers: &Headers, version: HttpVersion) -> Result<BodyLength, Refusal> {
    let mut lengths = headers.all("content-length");
    let length = lengths.next();
    if lengths.next().is_some() {
        return Err(Refusal::malformed("more than one Content-Length"));
    }
    let mut codings = headers.all("transfer-encoding");
    match (codings.next(), length) {
        // RFC 9112 §6.1 lets Transfer-Encoding win; whoever reads the length instead sees another request.
        (Some(_), Some(_)) => Err(Refusal::malformed(
            "both Content-Length and Transfer-Encoding",
        )),
        // RFC 9112 §6.1: the framing of such a message is to be taken for faulty.
        (Some(_), None) if version == HttpVersion::Http10 => Err(Refusal::malformed(
            "Transfer-Encoding in an HTTP/1.0 request",
        )),
        (Some(_), None) if codings.next().is_some() => {
            Err(Refusal::malformed("more than one Transfer-Encoding"))
        }
        (Some(coding), None) => read_coding(coding),
        (None, Some(length)) => parse_length(length)
            .map(BodyLength::Known)
            .ok_or_else(|| Refusal::malformed("Content-Length is not a plain decimal number")),
        (None, None) => Ok(BodyLength::Absent),
    }
}

fn read_coding(coding: &[u8]) -> Result<BodyLength, Refusal> {
    if coding.eq_ignore_ascii_case(b"chunked") {
        return Ok(BodyLength::Chunked);
    }
    let known = |name: &&[u8]| {
        [
            &b"gzip"[..],
            b"x-gzip",
            b"deflate",
            b"compress",
            b"x-compress",
        ]
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
    };
    let members: Vec<&[u8]> = coding
        .split(|byte| *byte == b',')
        .map(<[u8]>::trim_ascii)
        .collect();
    match members.split_last() {
        Some((last, others))
            if last.eq_ignore_ascii_case(b"chunked") && others.iter().all(known) =>
        {
            Err(Refusal::new(
                "transfer_coding",
                "the only transfer coding spoken here is chunked",
            ))
        }
        _ => Err(Refusal::malformed(
            "Transfer-Encoding is not exactly `chunked`",
        )),
    }
}

/// Digits only, and small enough for arithmetic without overflow.
#[must_use]
pub fn parse_length(value: &[u8]) -> Option<u64> {
    // 18 digits stay below 2^63.
    if value.is_empty() || value.len() > 18 || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    core::str::from_utf8(value).ok()?.parse().ok()
}

fn read_expectation(headers: &Headers, version: HttpVersion) -> Result<Expectation, Refusal> {
    match headers.first("expect") {
        None => Ok(Expectation::None),
        // RFC 9110 §10.1.1: in an HTTP/1.0 request it must be ignored.
        Some(_) if version == HttpVersion::Http10 => Ok(Expectation::None),
        Some(value) if value.eq_ignore_ascii_case(b"100-continue") => Ok(Expectation::Continue),
        Some(_) => Err(Refusal::new(
            "expectation",
            "the only expectation spoken here is 100-continue",
        )),
    }
}

fn read_persistence(headers: &Headers, version: HttpVersion) -> Persistence {
    match version {
        // RFC 9112 §9.3: `close` counts most, then the version's default.
        HttpVersion::Http11 if headers.has_member("connection", "close") => Persistence::Close,
        HttpVersion::Http11 => Persistence::KeepAlive,
        HttpVersion::Http10
            if headers.has_member("connection", "keep-alive")
                && !headers.has_member("connection", "close") =>
        {
            Persistence::KeepAlive
        }
        HttpVersion::Http10 => Persistence::Close,
    }
}
