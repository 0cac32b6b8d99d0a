//! The upstream's base address.

use std::fmt;

/// How the upstream is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Plain TCP.
    Http,
    /// TLS.
    Https,
}

/// Why a base address can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Neither `http://` nor `https://`.
    #[error("the upstream must begin with http:// or https://, for example http://127.0.0.1:11434")]
    Scheme,
    /// Empty, malformed, or with user information.
    #[error(
        "the upstream's host is missing or malformed (user names in it are not taken; use `api_key`)"
    )]
    Host,
    /// Not 1–65535.
    #[error("the upstream's port is not a number from 1 to 65535")]
    Port,
    /// Query, fragment, blanks, or characters that need percent-encoding.
    #[error(
        "the upstream's path may hold neither query, fragment, blanks nor raw non-ASCII characters"
    )]
    Path,
}

/// `http://127.0.0.1:11434`, or with a path prefix. A `/v1` at its end is taken as part of the routes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpstreamUrl {
    /// How it is spoken to.
    pub scheme: Scheme,
    /// Name or address, without brackets.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Path prefix without a slash at its end; may be empty.
    pub base_path: String,
}

impl UpstreamUrl {
    /// Reads a base address.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let (scheme, rest) = if let Some(rest) = strip_scheme(text, "http://") {
            (Scheme::Http, rest)
        } else if let Some(rest) = strip_scheme(text, "https://") {
            (Scheme::Https, rest)
        } else {
            return Err(UrlError::Scheme);
        };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (host, port) = split_authority(authority, scheme)?;
        let odd = |byte: u8| byte <= b' ' || byte >= 127 || matches!(byte, b'?' | b'#' | b'\\');
        if path.bytes().any(odd) {
            return Err(UrlError::Path);
        }
        let path = path.trim_end_matches('/');
        Ok(Self {
            scheme,
            host,
            port,
            base_path: path.strip_suffix("/v1").unwrap_or(path).to_owned(),
        })
    }

    /// The `Host` header's value.
    #[must_use]
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') {
            format!("[{}]", self.host)
        } else {
            self.host.clone()
        };
        match (self.scheme, self.port) {
            (Scheme::Http, 80) | (Scheme::Https, 443) => host,
            (_, port) => format!("{host}:{port}"),
        }
    }
}

fn strip_scheme<'a>(text: &'a str, scheme: &str) -> Option<&'a str> {
    let start = text.get(..scheme.len())?;
    start
        .eq_ignore_ascii_case(scheme)
        .then(|| &text[scheme.len()..])
}

fn split_authority(authority: &str, scheme: Scheme) -> Result<(String, u16), UrlError> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']').ok_or(UrlError::Host)?;
            host.parse::<std::net::Ipv6Addr>()
                .map_err(|_| UrlError::Host)?;
            let port = match after.strip_prefix(':') {
                Some(port) => Some(port),
                None if after.is_empty() => None,
                None => return Err(UrlError::Host),
            };
            (host, port)
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':');
    if host.is_empty() || !host.bytes().all(fits) {
        return Err(UrlError::Host);
    }
    let port = match (port, scheme) {
        (None, Scheme::Http) => 80,
        (None, Scheme::Https) => 443,
        (Some(port), _) => port
            .parse()
            .ok()
            .filter(|port| *port != 0)
            .ok_or(UrlError::Port)?,
    };
    Ok((host.to_ascii_lowercase(), port))
}

impl fmt::Display for UpstreamUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        write!(f, "{scheme}://{}{}", self.authority(), self.base_path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let found = match UpstreamUrl::parse(text) {
            Ok(url) => url.to_string(),
            Err(error) => format!("{error:?}"),
        };
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn base_addresses() {
        check("http://127.0.0.1:11434", "http://127.0.0.1:11434");
        check("http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434");
        check("https://OpenRouter.ai/api/v1", "https://openrouter.ai/api");
        check("http://[::1]:8080/x", "http://[::1]:8080/x");
        check("http://h:80", "http://h");
        check("ftp://h", "Scheme");
        check("http://", "Host");
        check("http://user:pw@h", "Port");
        check("http://user@h", "Host");
        check("http://h:0", "Port");
        check("http://h/a?b", "Path");
    }
}
