//! Readers of addresses, host names, origins and credentials.

use std::net::{Ipv4Addr, SocketAddr};

use super::secret::Secret;
use crate::loop_config::LocalUsers;

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

/// Host names for `Host` headers, in lower case.
///
/// # Errors
/// If it is none; the text says what is allowed.
pub(super) fn parse_hosts<'a>(names: impl Iterator<Item = &'a str>) -> Result<Vec<String>, String> {
    names
        .map(|name| {
            if is_host(name) {
                Ok(name.to_ascii_lowercase())
            } else {
                Err(format!(
                    "must list host names such as proxy.lan or proxy.lan:4141, which {name:?} isn't"
                ))
            }
        })
        .collect()
}

/// Origins as browsers send them, in lower case.
///
/// # Errors
/// If it is none; the text says what is allowed.
pub(super) fn parse_origins<'a>(
    names: impl Iterator<Item = &'a str>,
) -> Result<Vec<String>, String> {
    names
        .map(|name| {
            let lower = name.to_ascii_lowercase();
            match lower.split_once("://") {
                Some((scheme, host)) if !scheme.is_empty() && is_host(host) => Ok(lower),
                _ => Err(format!(
                    "must list single origins such as https://app.lan:8443, which {name:?} isn't"
                )),
            }
        })
        .collect()
}

/// User ids, or the word `any`.
///
/// # Errors
/// If one is neither; the text says what is allowed.
pub(super) fn parse_users<'a>(users: impl Iterator<Item = &'a str>) -> Result<LocalUsers, String> {
    let mut ids = Vec::new();
    let mut is_any = false;
    for user in users {
        match user.parse() {
            Ok(id) => ids.push(id),
            Err(_) if user == "any" => is_any = true,
            Err(_) => {
                return Err(format!(
                    "must list user ids such as 33 (`id -u NAME` prints one) or be any, which {user:?} isn't"
                ));
            }
        }
    }
    Ok(if is_any {
        LocalUsers::Any
    } else {
        LocalUsers::These(ids)
    })
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

    #[test]
    fn users_are_ids_or_any() {
        let read = |list: &'static str| parse_users(list.split(','));
        check(read("33,1000"), Ok(LocalUsers::These(vec![33, 1000])));
        check(read("33,any"), Ok(LocalUsers::Any));
        check(read("www-data"), Err("id -u"));
        check(read("-1"), Err("user ids"));
    }

    /// Hosts and origins are single names.
    #[test]
    fn single_names() {
        check(
            parse_hosts(["Proxy.LAN:4141"].into_iter()),
            Ok(vec!["proxy.lan:4141".into()]),
        );
        check(parse_hosts(["*"].into_iter()), Err("host names"));
        check(parse_hosts(["a/b"].into_iter()), Err("host names"));
        check(
            parse_origins(["https://App.lan"].into_iter()),
            Ok(vec!["https://app.lan".into()]),
        );
        check(parse_origins(["*"].into_iter()), Err("single origins"));
        check(
            parse_origins(["https://app.lan/x"].into_iter()),
            Err("single origins"),
        );
    }
}
