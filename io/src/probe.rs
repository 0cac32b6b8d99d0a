//! Asks a model server: is it there, and how large is its context?

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::config::secret::Secret;
use crate::config::upstream::{Scheme, UpstreamUrl};
use crate::json_client;
use crate::upstream::tls;

/// Longest wait for each step of a probe.
const STEP: Duration = Duration::from_secs(2);

/// Longest wait for each step while looking for a local server: loopback answers at once or not at all.
const LOCAL_STEP: Duration = Duration::from_millis(300);

/// Local servers and their default ports, in the order in which they are looked for.
pub const LOCAL_SERVERS: [(&str, u16); 4] = [
    ("Ollama", 11434),
    ("llama.cpp", 8080),
    ("LM Studio", 1234),
    ("vLLM", 8000),
];

/// A server's models and context size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelServer {
    /// Names of its models.
    pub models: Vec<String>,
    /// Tokens of its context, if it reports them.
    pub context_tokens: Option<u32>,
}

/// A server to be asked.
pub struct ProbeTarget<'t> {
    /// Its address.
    pub url: &'t UpstreamUrl,
    /// Its key.
    pub api_key: Option<&'t Secret>,
    /// Certificates to trust in addition to the system's.
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
        let target = ProbeTarget {
            url: &url,
            api_key: None,
            ca_file: None,
        };
        // Any web server may have such a port: only one that lists models counts.
        let models = listed_models(&target, LOCAL_STEP).ok()?;
        models["data"].is_array().then_some((name, url))
    })
}

/// Asks a server for its models and its context size.
///
/// # Errors
/// If it gives no answer; the text, for people, says why.
pub fn ask_server(target: &ProbeTarget<'_>) -> Result<ModelServer, String> {
    let models = listed_models(target, STEP).map_err(|error| error.to_string())?;
    // A server without a list of models is a server all the same.
    let listed = models["data"].as_array().map_or(&[][..], Vec::as_slice);
    let names = listed.iter().filter_map(|model| model["id"].as_str());
    // vLLM reports it with the model; llama.cpp has a page of its own, which others answer with 404.
    let of_first_model = listed
        .first()
        .and_then(|model| model["max_model_len"].as_u64());
    let reported = of_first_model.or_else(|| {
        let props = get_json(target, "/props", STEP).ok()?;
        props["default_generation_settings"]["n_ctx"]
            .as_u64()
            .or_else(|| props["n_ctx"].as_u64())
    });
    Ok(ModelServer {
        models: names.map(str::to_owned).collect(),
        context_tokens: reported.and_then(|tokens| u32::try_from(tokens).ok()),
    })
}

fn listed_models(target: &ProbeTarget<'_>, step: Duration) -> io::Result<Value> {
    get_json(target, "/v1/models", step)
}

/// One `GET` of a JSON document.
fn get_json(target: &ProbeTarget<'_>, path: &str, step: Duration) -> io::Result<Value> {
    let url = target.url;
    let address = (url.host.as_str(), url.port)
        .to_socket_addrs()?
        .next()
        .ok_or_else(|| io::Error::other(format!("{} has no address", url.host)))?;
    let tcp = TcpStream::connect_timeout(&address, step)?;
    tcp.set_read_timeout(Some(step))?;
    tcp.set_write_timeout(Some(step))?;
    let request = request_text(target, path);
    match url.scheme {
        Scheme::Http => json_client::request_json(tcp, request.as_bytes()),
        Scheme::Https => {
            let config = tls::load_config(target.ca_file).map_err(io::Error::other)?;
            let name = url.host.clone().try_into().map_err(io::Error::other)?;
            let session = rustls::ClientConnection::new(Arc::clone(&config), name)
                .map_err(io::Error::other)?;
            json_client::request_json(rustls::StreamOwned::new(session, tcp), request.as_bytes())
        }
    }
}

fn request_text(target: &ProbeTarget<'_>, path: &str) -> String {
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
