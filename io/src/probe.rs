//! Asks a model server one short question over a blocking connection: is it there, and how large is its context?
//!
//! For start-up, `doctor` and the search for a local server; never on the network loop.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::config::secret::Secret;
use crate::config::upstream::{Scheme, UpstreamUrl};
use crate::upstream::tls;

/// Longest wait for each step of a probe.
const STEP: Duration = Duration::from_secs(2);

/// Longest wait for each step while looking for a local server: loopback answers at once or not at all.
const LOCAL_STEP: Duration = Duration::from_millis(300);

/// Largest answer that is read.
const ANSWER_BYTES_MAX: usize = 4 << 20;

/// Local servers and their default ports, in the order in which they are looked for.
pub const LOCAL_SERVERS: [(&str, u16); 4] = [
    ("Ollama", 11434),
    ("llama.cpp", 8080),
    ("LM Studio", 1234),
    ("vLLM", 8000),
];

/// What a server said of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelServer {
    /// Names of its models.
    pub models: Vec<String>,
    /// Tokens of its context, if it told.
    pub context_tokens: Option<u32>,
}

/// How to reach a server.
pub struct Target<'t> {
    /// Its address.
    pub url: &'t UpstreamUrl,
    /// Its key.
    pub api_key: Option<&'t Secret>,
    /// Certificates to trust besides the system's.
    pub ca_file: Option<&'t Path>,
}

/// The first model server on its default local port.
#[must_use]
pub fn find_local() -> Option<(&'static str, UpstreamUrl)> {
    LOCAL_SERVERS.into_iter().find_map(|(name, port)| {
        let url = UpstreamUrl {
            scheme: Scheme::Http,
            host: "127.0.0.1".into(),
            port,
            prefix: String::new(),
        };
        let target = Target {
            url: &url,
            api_key: None,
            ca_file: None,
        };
        let models = models(&target, LOCAL_STEP).ok()?;
        models["data"].is_array().then_some((name, url))
    })
}

/// Asks a server for its models and its context size.
///
/// # Errors
/// In words for people, why it gave no answer.
pub fn ask(target: &Target<'_>) -> Result<ModelServer, String> {
    let models = models(target, STEP).map_err(|error| error.to_string())?;
    let listed = models["data"].as_array().cloned().unwrap_or_default();
    let names = listed.iter().filter_map(|model| model["id"].as_str());
    // vLLM tells with the model; llama.cpp has a page of its own, which others answer with 404.
    let told_by_model = listed
        .first()
        .and_then(|model| model["max_model_len"].as_u64());
    let told = told_by_model.or_else(|| {
        let props = get(target, "/props", STEP).ok()?;
        props["default_generation_settings"]["n_ctx"]
            .as_u64()
            .or_else(|| props["n_ctx"].as_u64())
    });
    Ok(ModelServer {
        models: names.map(str::to_owned).collect(),
        context_tokens: told.and_then(|tokens| u32::try_from(tokens).ok()),
    })
}

fn models(target: &Target<'_>, step: Duration) -> io::Result<Value> {
    get(target, "/v1/models", step)
}

/// One `GET` of a JSON document.
fn get(target: &Target<'_>, path: &str, step: Duration) -> io::Result<Value> {
    let url = target.url;
    let address = (url.host.as_str(), url.port)
        .to_socket_addrs()?
        .next()
        .ok_or_else(|| io::Error::other(format!("{} has no address", url.host)))?;
    let tcp = TcpStream::connect_timeout(&address, step)?;
    tcp.set_read_timeout(Some(step))?;
    tcp.set_write_timeout(Some(step))?;
    let request = request(target, path);
    match url.scheme {
        Scheme::Http => exchange(tcp, &request),
        Scheme::Https => {
            let config = tls::load_config(target.ca_file).map_err(io::Error::other)?;
            let name = url.host.clone().try_into().map_err(io::Error::other)?;
            let session = rustls::ClientConnection::new(Arc::clone(&config), name)
                .map_err(io::Error::other)?;
            exchange(rustls::StreamOwned::new(session, tcp), &request)
        }
    }
}

fn request(target: &Target<'_>, path: &str) -> String {
    let UpstreamUrl { prefix, .. } = target.url;
    let authority = target.url.authority();
    let key = target.api_key.map_or_else(String::new, |key| {
        format!("Authorization: Bearer {}\r\n", key.reveal())
    });
    // HTTP/1.0, so that the answer comes without chunks and ends with the connection.
    format!(
        "GET {prefix}{path} HTTP/1.0\r\nHost: {authority}\r\nAccept: application/json\r\nAccept-Encoding: identity\r\n{key}\r\n"
    )
}

fn exchange(mut stream: impl Read + Write, request: &str) -> io::Result<Value> {
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let Answer { status, body } = match read_answer(&answer)? {
            Some(complete) => complete,
            None => match stream.read(&mut piece)? {
                0 => at_end(&answer)?,
                length if answer.len() + length > ANSWER_BYTES_MAX => {
                    return Err(io::Error::other("its answer is too long"));
                }
                length => {
                    answer.extend_from_slice(&piece[..length]);
                    continue;
                }
            },
        };
        return match status {
            200 => serde_json::from_slice(&body).map_err(io::Error::other),
            status => Err(io::Error::other(format!("it answers with status {status}"))),
        };
    }
}

struct Answer {
    status: u16,
    body: Vec<u8>,
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
