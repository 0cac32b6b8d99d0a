//! Keeps web pages and strangers away from a local daemon: Host, Origin, content type, token, the caller's user.

use std::io;
use std::net::{IpAddr, SocketAddr};

use constant_time_eq::constant_time_eq;
use rustix::process::geteuid;
use tslp_wire::http::error::Refusal;
use tslp_wire::http::head::HeaderFate;
use tslp_wire::http::request::{HttpVersion, RequestHead};

use crate::config::secret::Secret;
use crate::config::settings::AccessConfig;
use crate::page;

/// An error while the guard is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GuardError {
    /// Anyone on the network could use the proxy.
    #[error(
        "{0} is not a loopback address, and no token is configured: set `token`, or bind 127.0.0.1"
    )]
    TokenNeeded(SocketAddr),
    /// A token that anyone could guess is none.
    #[error("the configured token is empty")]
    TokenEmpty,
}

/// Checks every request before anything else sees it.
#[derive(Clone, Debug)]
pub struct RequestGuard {
    hosts: Vec<String>,
    access: AccessConfig,
    own_user: u32,
}

/// The page that asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    /// No web page of another origin.
    Plain,
    /// A page of a configured origin: it gets CORS headers with this value.
    Page(String),
}

impl RequestGuard {
    /// A guard for a listener bound at `bound`, the port being the real one.
    pub fn new(bound: SocketAddr, access: AccessConfig) -> Result<Self, GuardError> {
        match &access.token {
            None if !bound.ip().is_loopback() => return Err(GuardError::TokenNeeded(bound)),
            Some(token) if token.reveal().is_empty() => return Err(GuardError::TokenEmpty),
            _ => {}
        }
        Ok(Self {
            hosts: allowed_hosts(bound, &access.allowed.hosts),
            access,
            own_user: geteuid().as_raw(),
        })
    }

    /// Host, Origin and token.
    pub fn check(&self, head: &RequestHead) -> Result<Caller, Refusal> {
        self.check_host(head)?;
        let caller = self.check_origin(head)?;
        // A preflight never carries credentials (Fetch standard), and supervisors that ask for health have none.
        let preflight = head.method == "OPTIONS" && matches!(caller, Caller::Page(_));
        let is_open = head.path() == "/health" || page::file_asked_for(head).is_some();
        if !preflight && !is_open {
            self.check_token(head)?;
        }
        Ok(caller)
    }

    /// The user whose program has connected, if nothing else says who may call. Root may: it can read all that we could keep back.
    pub fn check_user(
        &self,
        user: impl FnOnce() -> io::Result<Option<u32>>,
    ) -> Result<(), Refusal> {
        let allowed = &self.access.allowed;
        if self.access.token.is_some() || allowed.is_any_user {
            return Ok(());
        }
        let (who, entry) = match user() {
            Ok(Some(user))
                if user == self.own_user || user == 0 || allowed.users.contains(&user) =>
            {
                return Ok(());
            }
            // Where the system doesn't tell, the loopback address is all that is asked for (docs/security.md).
            Ok(None) => return Ok(()),
            Ok(Some(user)) => (format!("user id {user}"), user.to_string()),
            Err(error) => (format!("an unknown user ({error})"), "any".to_owned()),
        };
        Err(Refusal::new(
            "foreign_user",
            format!(
                "this proxy belongs to user id {}, and the request comes from {who}: other local users could read its workspace. If that \
                 is wanted (a service in front of it, a container's other user), have the owner set `token`, which clients send as \
                 their API key, or `allow = [\"{entry}\"]`",
                self.own_user
            ),
        ))
    }

    fn check_host(&self, head: &RequestHead) -> Result<(), Refusal> {
        let mut hosts = head.headers.all("host");
        let host = match (hosts.next(), hosts.next()) {
            (Some(host), None) => host,
            (None, _) if head.version == HttpVersion::Http10 => return Ok(()),
            (None, _) => return Err(Refusal::malformed("the Host header is missing")),
            (Some(_), Some(_)) => return Err(Refusal::malformed("more than one Host header")),
        };
        // A page whose name was made to resolve to this address (DNS rebinding) counts as the same origin: only its Host
        // gives it away.
        let known = |host: &[u8]| {
            self.hosts
                .iter()
                .any(|own| own.as_bytes().eq_ignore_ascii_case(host))
        };
        let target = head.authority.as_deref().map(str::as_bytes);
        if known(host) && target.is_none_or(known) {
            return Ok(());
        }
        Err(Refusal::new(
            "foreign_host",
            "the Host header names another host than this proxy's; if that name is really yours, add it to `allow`",
        ))
    }

    fn check_origin(&self, head: &RequestHead) -> Result<Caller, Refusal> {
        let foreign = || {
            Refusal::new(
                "foreign_origin",
                "a web page of another origin may not use this proxy; if it is yours, add it to `allow`",
            )
        };
        let mut origins = head.headers.all("origin");
        let Some(origin) = origins.next() else {
            // A page's plain GET carries no Origin, but browsers add this header to it, and pages can't take it away.
            return match head.headers.first("sec-fetch-site") {
                Some(b"cross-site" | b"same-site") => Err(foreign()),
                _ => Ok(Caller::Plain),
            };
        };
        let origin = core::str::from_utf8(origin)
            .map_err(|_| foreign())?
            .to_ascii_lowercase();
        if origins.next().is_some() {
            return Err(foreign());
        }
        if self.access.allowed.origins.contains(&origin) {
            return Ok(Caller::Page(origin));
        }
        match origin.strip_prefix("http://") {
            Some(host) if self.hosts.iter().any(|own| own == host) => Ok(Caller::Plain),
            _ => Err(foreign()),
        }
    }

    fn check_token(&self, head: &RequestHead) -> Result<(), Refusal> {
        let Some(token) = &self.access.token else {
            return Ok(());
        };
        let given = head
            .headers
            .all("authorization")
            .filter_map(bearer_token)
            .chain(head.headers.all("x-tslp-token"));
        if given.into_iter().any(|value| equals_token(value, token)) {
            return Ok(());
        }
        let message =
            "a token is needed: send it as `Authorization: Bearer …` or `x-tslp-token: …`";
        Err(Refusal::new("token_needed", message).with_header("www-authenticate", "Bearer"))
    }

    /// Whether a request header must not reach the upstream: our own ones, and our own token.
    #[must_use]
    pub fn keeps_back(&self, name: &str, value: &[u8]) -> HeaderFate {
        let own = name
            .get(..7)
            .is_some_and(|start| start.eq_ignore_ascii_case("x-tslp-"));
        let token = name.eq_ignore_ascii_case("authorization")
            && self.access.token.as_ref().is_some_and(|token| {
                bearer_token(value).is_some_and(|given| equals_token(given, token))
            });
        if own || token {
            HeaderFate::Dropped
        } else {
            HeaderFate::Relayed
        }
    }
}

/// The chat routes take JSON, uncompressed, and nothing that a web form could send.
pub fn check_chat_content(head: &RequestHead) -> Result<(), Refusal> {
    // LiteLLM sends Ollama no type at all. A web page can do that, too, but not without its Origin, which was checked.
    if let Some(media_type) = head.headers.first("content-type") {
        let mut parts = media_type.split(|byte| *byte == b';');
        let media_type = parts.next().expect("a split has a first part").trim_ascii();
        if !media_type.eq_ignore_ascii_case(b"application/json") {
            return Err(Refusal::new(
                "content_type",
                "send the request as `Content-Type: application/json` (curl: -H 'Content-Type: application/json')",
            ));
        }
    }
    let coded = head
        .headers
        .members("content-encoding")
        .any(|coding| !coding.eq_ignore_ascii_case(b"identity"));
    if coded {
        return Err(Refusal::new(
            "content_encoding",
            "compressed request bodies are not taken: send it without Content-Encoding (Codex, the only client known to compress: \
             `codex --disable enable_request_compression`)",
        )
        .with_header("accept-encoding", "identity"));
    }
    Ok(())
}

fn allowed_hosts(bound: SocketAddr, extra: &[String]) -> Vec<String> {
    let port = bound.port();
    let mut names = vec![
        "localhost".to_owned(),
        "127.0.0.1".to_owned(),
        "[::1]".to_owned(),
    ];
    match bound.ip() {
        // The unspecified address is no name for anything (and browsers reach loopback by it).
        ip if ip.is_unspecified() => {}
        IpAddr::V4(ip) => names.push(ip.to_string()),
        IpAddr::V6(ip) => names.push(format!("[{ip}]")),
    }
    let mut hosts: Vec<String> = names.iter().map(|name| format!("{name}:{port}")).collect();
    if port == 80 {
        hosts.extend(names);
    }
    for name in extra {
        hosts.extend([name.clone(), format!("{name}:{port}")]);
    }
    hosts
}

fn bearer_token(value: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = value.split_at_checked(7)?;
    scheme
        .eq_ignore_ascii_case(b"bearer ")
        .then(|| token.trim_ascii())
}

fn equals_token(given: &[u8], token: &Secret) -> bool {
    constant_time_eq(given, token.reveal().as_bytes())
}
