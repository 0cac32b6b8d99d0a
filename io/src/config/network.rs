//! Readers of addresses, host names, origins and credentials.

use std::net::{Ipv4Addr, SocketAddr};

use serde::{Deserialize, Serialize};

use super::secret::Secret;

/// Shorter tokens can be guessed.
const TOKEN_CHARACTERS_MIN: usize = 16;

/// A socket address; `localhost` is 127.0.0.1.
///
/// # Errors
/// If it is none; the text says what is allowed.
pub(super) fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let local = text
        .strip_prefix("localhost:")
        .and_then(|port| port.parse().ok())
        .map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    local.or_else(|| text.parse().ok()).ok_or_else(|| {
        "must be ADDR:PORT with a numeric address, such as 127.0.0.1:4141 or [::1]:0".into()
    })
}

/// The token that clients must send.
///
/// # Errors
/// If it is none; the text says what is allowed.
pub(super) fn parse_token(text: &str) -> Result<Secret, String> {
    if text.len() < TOKEN_CHARACTERS_MIN {
        return Err(format!(
            "must have at least {TOKEN_CHARACTERS_MIN} characters; `openssl rand -hex 32` makes a good one"
        ));
    }
    parse_credential(text)
}

/// Something that fits into a header's value.
///
/// # Errors
/// If it is none; the text says what is allowed.
pub(super) fn parse_credential(text: &str) -> Result<Secret, String> {
    if text.is_empty() || !text.chars().all(|c| c.is_ascii_graphic()) {
        return Err("must be visible ASCII characters without blanks".into());
    }
    Ok(Secret::new(text.to_owned()))
}

/// Callers that are let in by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Allowed {
    /// Names in `Host` headers besides the loopback ones, with or without a port; lower case.
    pub hosts: Vec<String>,
    /// Origins of web pages, as browsers send them; lower case. They get CORS headers.
    pub origins: Vec<String>,
    /// Ids of local users that may call without a token, besides the proxy's own and root.
    pub users: Vec<u32>,
    /// Whether any local user may.
    pub is_any_user: bool,
}

impl TryFrom<Vec<String>> for Allowed {
    type Error = String;

    /// Reads hosts, origins, user ids, and the word `any`.
    fn try_from(callers: Vec<String>) -> Result<Self, String> {
        let mut allowed = Self::default();
        for caller in callers {
            let lower = caller.to_ascii_lowercase();
            match (lower.parse(), lower.split_once("://")) {
                _ if lower == "any" => allowed.is_any_user = true,
                (Ok(id), _) => allowed.users.push(id),
                (_, Some((scheme, host))) if !scheme.is_empty() && is_host(host) => {
                    allowed.origins.push(lower);
                }
                (_, None) if is_host(&lower) => allowed.hosts.push(lower),
                _ => {
                    return Err(format!(
                        "must list host names such as proxy.lan, single origins such as https://app.lan:8443, or user ids such as 33 \
                         (`id -u NAME` prints one), which {caller:?} isn't"
                    ));
                }
            }
        }
        Ok(allowed)
    }
}

impl From<Allowed> for Vec<String> {
    fn from(allowed: Allowed) -> Self {
        let ids = allowed.users.iter().map(ToString::to_string);
        let any = allowed.is_any_user.then(|| "any".to_owned());
        let names = allowed.hosts.into_iter().chain(allowed.origins);
        names.chain(ids).chain(any).collect()
    }
}

fn is_host(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | ':' | '[' | ']'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: PartialEq + std::fmt::Debug>(read: Result<T, String>, expected: Result<T, &str>) {
        match (read, expected) {
            (Ok(value), Ok(wanted)) => assert_eq!(value, wanted),
            (Err(problem), Err(wanted)) => assert!(problem.contains(wanted), "{problem}"),
            (read, _) => panic!("{read:?}"),
        }
    }

    #[test]
    fn numeric_addresses() {
        check(parse_address("127.0.0.1:0"), Ok(([127, 0, 0, 1], 0).into()));
        check(
            parse_address("localhost:80"),
            Ok(([127, 0, 0, 1], 80).into()),
        );
        check(parse_address("4141"), Err("ADDR:PORT"));
        check(parse_address("example.com:80"), Err("numeric"));
    }

    #[test]
    fn usable_tokens() {
        check(parse_token("short"), Err("16 characters"));
        check(parse_token("sixteen and more letters"), Err("blanks"));
        check(parse_credential("a\r\nb"), Err("blanks"));
        check(
            parse_token("0123456789abcdef"),
            Ok(Secret::new("0123456789abcdef".into())),
        );
    }

    /// Each is a single name, an origin or a user's id.
    #[test]
    fn callers_by_name() {
        let shown = |list: &str| {
            let callers: Vec<String> = list.split(',').map(str::to_owned).collect();
            Allowed::try_from(callers).map(|it| Vec::from(it).join(","))
        };
        check(shown("33,Proxy.LAN:4141"), Ok("proxy.lan:4141,33".into()));
        check(
            shown("any,https://App.lan,1000"),
            Ok("https://app.lan,1000,any".into()),
        );
        for wrong in ["*", "a/b", "https://app.lan/x", "://a", "a b"] {
            check(shown(wrong), Err("single origins"));
        }
    }
}
