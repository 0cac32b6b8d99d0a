//! Asks a model server: is it there, and how large is its context?

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use tslp_core::event::ServerKind;

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

/// A server's models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelServer {
    /// Names of its models.
    pub models: Vec<String>,
    /// How much they read at once, as far as it says.
    pub windows: ServerWindows,
}

/// How much a server's models read at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerWindows {
    /// What the server is, if it said.
    pub kind: Option<ServerKind>,
    /// Models with their tokens; an empty name stands for all.
    pub windows: Vec<(String, u32)>,
}

impl ServerWindows {
    /// Tokens that a model reads at once. Ollama's models are the latest of their name.
    #[must_use]
    pub fn window_of(&self, model: &str) -> Option<u32> {
        let is_it = |name: &str| {
            let latest = name.strip_suffix(":latest");
            name.is_empty() || name == model || latest == Some(model)
        };
        let mut windows = self.windows.iter();
        windows
            .find(|(name, _)| is_it(name))
            .map(|(_, tokens)| *tokens)
    }
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

/// What to do where no model server was found.
pub const NONE_FOUND: &str = "no model server answered on the ports of Ollama, llama.cpp, LM Studio or vLLM: start Ollama, which is found \
     from then on, or start another one and then tslp anew, or name yours with `--upstream URL`";

/// Where the first of [`LOCAL_SERVERS`] would be. Other programs use the ports of the others, so a prompt goes there only once such
/// a server was found.
#[must_use]
pub fn usual_place() -> UpstreamUrl {
    local_url(LOCAL_SERVERS[0].1)
}

fn local_url(port: u16) -> UpstreamUrl {
    UpstreamUrl {
        scheme: Scheme::Http,
        host: "127.0.0.1".into(),
        port,
        prefix: String::new(),
    }
}

/// The first model server on its default local port.
#[must_use]
pub fn find_local() -> Option<(&'static str, UpstreamUrl)> {
    LOCAL_SERVERS.into_iter().find_map(|(name, port)| {
        let url = local_url(port);
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

/// Asks a server for its models and how much they read at once.
///
/// # Errors
/// If it gives no answer, or none that [`json_client::request_json`] takes.
pub fn ask_server(target: &ProbeTarget<'_>) -> io::Result<ModelServer> {
    let models = listed_models(target, STEP)?;
    // A server without a list of models is a server all the same.
    let names = items(&models, "data").filter_map(|model| model["id"].as_str());
    Ok(ModelServer {
        models: names.map(str::to_owned).collect(),
        windows: ask_for_windows(target, &models),
    })
}

/// vLLM says it with its models; the others have pages of their own, which a server of another kind answers with 404.
fn ask_for_windows(target: &ProbeTarget<'_>, models: &Value) -> ServerWindows {
    let ask = |path| get_json(target, path, STEP).unwrap_or_default();
    let of = |kind, windows: Vec<(String, u32)>| {
        let kind = Some(kind);
        (!windows.is_empty()).then_some(ServerWindows { kind, windows })
    };
    let llama_cpp = || {
        let props = ask("/props");
        let of_slot = tokens_at(&props["default_generation_settings"], "n_ctx");
        // In all, which the slots share.
        let slots = props["total_slots"].as_u64().unwrap_or(1).max(1);
        let shared = || Some(tokens_at(&props, "n_ctx")? / u32::try_from(slots).ok()?);
        of(
            ServerKind::LlamaCpp,
            vec![(String::new(), of_slot.or_else(shared)?)],
        )
    };
    // What was allocated for the models that are loaded, which is less than they could read.
    let ollama = || {
        let loaded = ask("/api/ps");
        loaded["models"].is_array().then(|| ServerWindows {
            kind: Some(ServerKind::Ollama),
            windows: windows_in(&loaded, "models", "name", "context_length"),
        })
    };
    let lm_studio = || {
        windows_in(
            &ask("/api/v0/models"),
            "data",
            "id",
            "loaded_context_length",
        )
    };
    let vllm = windows_in(models, "data", "id", "max_model_len");
    of(ServerKind::Vllm, vllm)
        .or_else(llama_cpp)
        .or_else(ollama)
        .or_else(|| of(ServerKind::LmStudio, lm_studio()))
        .unwrap_or_default()
}

fn windows_in(list: &Value, field: &str, name: &str, tokens: &str) -> Vec<(String, u32)> {
    let windows = items(list, field).filter_map(|model| {
        let name = model[name].as_str()?;
        Some((name.to_owned(), tokens_at(model, tokens)?))
    });
    windows.collect()
}

/// A figure that can be a window's: 0 stands for none.
fn tokens_at(value: &Value, field: &str) -> Option<u32> {
    let tokens = u32::try_from(value[field].as_u64()?).ok()?;
    (tokens > 0).then_some(tokens)
}

fn items<'v>(value: &'v Value, field: &str) -> impl Iterator<Item = &'v Value> {
    value[field].as_array().into_iter().flatten()
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
