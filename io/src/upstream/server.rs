//! A model server: where it is, the way to it, and the connections to it that are kept.

use super::pool::ConnectionPool;
use super::resolve::Resolver;
use crate::config::upstream::{ServerConfig, ServerForModels};

/// The network loop's state of one model server.
#[derive(Debug)]
pub struct UpstreamServer {
    /// Its address and limits, as configured.
    pub config: ServerConfig,
    /// The way to it.
    pub resolver: Resolver,
    /// Connections to it that wait for their next request.
    pub pool: ConnectionPool,
    /// Clients whose request waits for its address.
    pub unresolved: Vec<usize>,
}

/// A server's index in the configuration; 0 is the default server, for models that no other is named for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerNumber(pub usize);

impl UpstreamServer {
    /// Nothing is connected yet.
    #[must_use]
    pub fn new(config: ServerConfig) -> Self {
        Self {
            resolver: Resolver::new(config.clone()),
            config,
            pool: ConnectionPool::default(),
            unresolved: Vec::new(),
        }
    }
}

impl ServerNumber {
    /// The server for a request, by the JSON text of its `model`: the first with a pattern that fits.
    #[must_use]
    pub fn for_model(model: Option<&str>, servers: &[ServerForModels]) -> Self {
        let name = model.and_then(|json| serde_json::from_str::<String>(json).ok());
        let place = name.and_then(|name| {
            let fits = |server: &ServerForModels| {
                let mut patterns = server.models.iter();
                patterns.any(|pattern| fits_pattern(name.as_bytes(), pattern.as_bytes()))
            };
            servers.iter().position(fits)
        });
        Self(place.map_or(0, |place| place + 1))
    }
}

/// Whether a name fits a pattern, in which `*` matches any characters, or none; case-insensitive.
fn fits_pattern(name: &[u8], pattern: &[u8]) -> bool {
    // Each part between stars is taken where it comes first; the last one has to be at the end.
    let mut parts = pattern.split(|byte| *byte == b'*');
    let first = parts.next().unwrap_or_default();
    let starts = |text: &[u8], part: &[u8]| {
        let start = text.get(..part.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(part))
    };
    if !starts(name, first) {
        return false;
    }
    let mut rest = &name[first.len()..];
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        let mut places = 0..=rest.len().saturating_sub(part.len());
        let place = match parts.peek() {
            Some(_) => places.find(|at| starts(&rest[*at..], part)),
            None => places.next_back().filter(|at| starts(&rest[*at..], part)),
        };
        let Some(at) = place else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::upstream::UpstreamUrl;

    #[test]
    fn whole_names() {
        let fits = |pattern: &str, name: &str| fits_pattern(name.as_bytes(), pattern.as_bytes());
        for (pattern, name) in [
            ("qwen*", "qwen2.5-coder:7b"),
            ("qwen*", "Qwen"),
            ("*", ""),
            ("*coder*", "qwen2.5-coder:7b"),
            ("a*a", "aa"),
            ("*ab*ab", "abab"),
            ("llama3", "LLAMA3"),
        ] {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("qwen*", "my-qwen"),
            ("llama3", "llama3.1"),
            ("a*a", "a"),
            ("*ab*ab", "ab"),
            ("", "x"),
        ] {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
    }

    /// The first server that is named for a model gets its requests.
    #[test]
    fn first_match_wins() {
        let server = |models: &[&str]| ServerForModels {
            models: models.iter().map(|&model| model.to_owned()).collect(),
            url: UpstreamUrl::parse("http://127.0.0.1:1").unwrap(),
        };
        let servers = [server(&["qwen*", "phi"]), server(&["*:7b"])];
        let chosen = |model| ServerNumber::for_model(model, &servers).0;
        assert_eq!(chosen(Some("\"phi\"")), 1);
        assert_eq!(chosen(Some("\"qwen:7b\"")), 1);
        assert_eq!(chosen(Some("\"llama:7b\"")), 2);
        assert_eq!(chosen(Some("\"llama\"")), 0);
        assert_eq!(chosen(Some("7")), 0);
        assert_eq!(chosen(None), 0);
    }
}
