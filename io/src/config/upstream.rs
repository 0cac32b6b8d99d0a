//! The model server: a URL, a search on this machine, or the embedded demo.

use std::fmt;
use std::iter;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tslp_core::words;

use super::secret::Secret;

/// The upstream as configured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum UpstreamSetting {
    /// Look for a model server on its usual local port.
    #[default]
    Auto,
    /// The embedded scripted model.
    Demo,
    /// This server.
    Url(UpstreamUrl),
}

/// A server for the models that it is named for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerForModels {
    /// Patterns of their names, in which `*` matches any characters; never empty.
    pub models: Vec<String>,
    /// The server.
    pub url: UpstreamUrl,
}

/// A model server. It is fixed here; a request can but choose by its model.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Base address.
    pub url: UpstreamUrl,
    /// Whether no server was found, and this is where one would be.
    pub is_missing: bool,
    /// Sent as `Authorization: Bearer …` in place of what clients send.
    pub api_key: Option<Secret>,
    /// A PEM file with certificates that are trusted in addition to the system's.
    pub ca_file: Option<PathBuf>,
}

impl ServerConfig {
    /// A server that gets what clients send as their authorization.
    #[must_use]
    pub const fn new(url: UpstreamUrl) -> Self {
        Self {
            url,
            is_missing: false,
            api_key: None,
            ca_file: None,
        }
    }

    /// Replaces a client's `Authorization`.
    #[must_use]
    pub fn own_authorization(&self) -> Option<Secret> {
        let key = self.api_key.as_ref()?;
        Some(Secret::new(format!("Bearer {}", key.reveal())))
    }
}

/// The servers as they are named: one for all models, and others for some.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<WrittenServer>", into = "Vec<String>")]
pub struct NamedServers {
    /// The server.
    pub place: UpstreamSetting,
    /// Servers for some models.
    pub by_model: Vec<ServerForModels>,
}

/// A server as a text, or as a table of the file.
#[derive(Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "must be texts in quotes, or tables `[[upstream]]` with `url = \"…\"` and, for some models, `models = [\"…\"]`"
)]
enum WrittenServer {
    Text(String),
    Table {
        url: String,
        models: Option<Vec<String>>,
    },
}

impl TryFrom<Vec<WrittenServer>> for NamedServers {
    type Error = String;

    fn try_from(written: Vec<WrittenServer>) -> Result<Self, String> {
        if written.is_empty() {
            return Err("must not be empty".into());
        }
        let (mut place, mut by_model) = (None, Vec::new());
        for server in written {
            let text = match server {
                WrittenServer::Text(text) => text,
                WrittenServer::Table { url, models } => models.map_or(url.clone(), |models| {
                    format!("{}{BEFORE_URL}{url}", models.join(BETWEEN_MODELS))
                }),
            };
            match ServerForModels::parse(&text) {
                Some(server) => by_model.push(server?),
                None if place.is_none() => place = Some(UpstreamSetting::parse(&text)?),
                None => {
                    return Err("must name one server for all models; others stand for some, as in qwen*=URL".into());
                }
            }
        }
        Ok(Self {
            place: place.unwrap_or_default(),
            by_model,
        })
    }
}

impl From<NamedServers> for Vec<String> {
    fn from(named: NamedServers) -> Self {
        let for_some = named.by_model.iter().map(ToString::to_string);
        iter::once(named.place.to_string())
            .chain(for_some)
            .collect()
    }
}

/// The separators between the patterns of a server's models, and between these and its URL, where all is one text.
const BETWEEN_MODELS: &str = "|";
const BEFORE_URL: char = '=';

words! {
    /// With or without TLS.
    Scheme, "scheme" {
        /// Plain TCP.
        Http = "http",
        /// TLS.
        Https = "https",
    }
}

/// A model server's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpstreamUrl {
    /// With or without TLS.
    pub scheme: Scheme,
    /// Host name or address; IPv6 without brackets.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// The path before the client's own `/v1/…`: empty, or a path that starts with `/` and doesn't end with one.
    pub prefix: String,
}

impl UpstreamSetting {
    /// Reads `auto`, `demo` or a URL.
    ///
    /// # Errors
    /// If it is none; the text says what is allowed, as the end of a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "demo" => Ok(Self::Demo),
            url => UpstreamUrl::parse(url).map(Self::Url),
        }
    }
}

impl ServerForModels {
    /// Reads `PATTERN|PATTERN=URL`; nothing if the text has no pattern.
    pub fn parse(text: &str) -> Option<Result<Self, String>> {
        let (models, url) = text.split_once(BEFORE_URL)?;
        // Then the `=` is in the URL.
        if models.contains("://") {
            return None;
        }
        let models: Vec<String> = models.split(BETWEEN_MODELS).map(str::to_owned).collect();
        if models.iter().any(String::is_empty) {
            let problem =
                "must name a model, or a pattern such as qwen*, before each `|` and the `=`";
            return Some(Err(problem.into()));
        }
        Some(UpstreamUrl::parse(url).map(|url| Self { models, url }))
    }
}

impl fmt::Display for ServerForModels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let models = self.models.join(BETWEEN_MODELS);
        write!(f, "{models}{BEFORE_URL}{}", self.url)
    }
}

impl UpstreamUrl {
    /// Reads a base URL, with or without the `/v1` that OpenAI-style clients end theirs with.
    ///
    /// # Errors
    /// If it is none; the text says what is allowed, as the end of a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (scheme, rest) = split_scheme(text)?;
        let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        if authority.contains('@') {
            return Err("must not hold credentials; use upstream_api_key for those".into());
        }
        if text.contains(['?', '#']) || text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err("must be a plain base URL without query, fragment or blanks".into());
        }
        let (host, port) = split_port(authority, scheme)?;
        let path = path.trim_end_matches('/');
        // The clients' own paths begin with it.
        let prefix = path.strip_suffix("/v1").unwrap_or(path);
        Ok(Self {
            scheme,
            host,
            port,
            prefix: prefix.trim_end_matches('/').to_owned(),
        })
    }

    /// `host:port` as a `Host` header has it: brackets around IPv6, no port where the scheme implies it.
    #[must_use]
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') {
            format!("[{}]", self.host)
        } else {
            self.host.clone()
        };
        if self.port == self.scheme.port() {
            host
        } else {
            format!("{host}:{}", self.port)
        }
    }
}

impl Scheme {
    /// The port that the scheme implies.
    #[must_use]
    pub const fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

impl fmt::Display for UpstreamSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Demo => f.write_str("demo"),
            Self::Url(url) => url.fmt(f),
        }
    }
}

impl fmt::Display for UpstreamUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}://{}{}",
            self.scheme.as_str(),
            self.authority(),
            self.prefix
        )
    }
}

fn split_scheme(text: &str) -> Result<(Scheme, &str), String> {
    let with = |scheme: Scheme| {
        let (head, rest) = text.split_once("://")?;
        head.eq_ignore_ascii_case(scheme.as_str())
            .then_some((scheme, rest))
    };
    with(Scheme::Http)
        .or_else(|| with(Scheme::Https))
        .ok_or_else(|| "must be auto, demo, or a URL that starts with http:// or https://".into())
}

fn split_port(authority: &str, scheme: Scheme) -> Result<(String, u16), String> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(bracketed) => {
            let (host, after) = bracketed
                .split_once(']')
                .ok_or("must close the bracket around its IPv6 address")?;
            host.parse::<std::net::Ipv6Addr>()
                .map_err(|_| "must hold an IPv6 address between its brackets")?;
            match after.strip_prefix(':') {
                None if !after.is_empty() => {
                    return Err("must have nothing but a port after its IPv6 address".into());
                }
                port => (host, port),
            }
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    let is_host_character =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | ':');
    if host.is_empty() || !host.chars().all(is_host_character) {
        return Err("must name a host, such as http://127.0.0.1:8080".into());
    }
    let port = match port {
        None => scheme.port(),
        Some(digits) => digits
            .parse()
            .ok()
            .filter(|port| *port != 0)
            .ok_or("must have a port from 1 to 65535")?,
    };
    Ok((host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, &str>) {
        let parsed = UpstreamSetting::parse(text).map(|upstream| upstream.to_string());
        match (&parsed, expected) {
            (Ok(shown), Ok(wanted)) => assert_eq!(shown, wanted, "{text}"),
            (Err(problem), Err(wanted)) => assert!(problem.contains(wanted), "{text}: {problem}"),
            _ => panic!("{text}: {parsed:?}"),
        }
    }

    #[test]
    fn words_and_base_urls() {
        check("auto", Ok("auto"));
        check("demo", Ok("demo"));
        check("http://127.0.0.1:8080", Ok("http://127.0.0.1:8080"));
        check("HTTP://localhost:11434/v1/", Ok("http://localhost:11434"));
        check(
            "https://openrouter.ai/api/v1",
            Ok("https://openrouter.ai/api"),
        );
        check("http://[::1]:1234/v1", Ok("http://[::1]:1234"));
        check("http://models.lan:80", Ok("http://models.lan"));
    }

    #[test]
    fn invalid_base_urls() {
        check("localhost:8080", Err("http://"));
        check("ftp://host", Err("http://"));
        check("http://", Err("name a host"));
        check("http://host:0", Err("port"));
        check("http://host:99999", Err("port"));
        check("http://user:pw@host/", Err("upstream_api_key"));
        check("http://host/?a=b", Err("query"));
        check("http://ho st/", Err("blanks"));
        check("http://[::1", Err("bracket"));
        check("http://[host]/", Err("IPv6"));
        check("http://[::1]8080/", Err("IPv6"));
    }
}
