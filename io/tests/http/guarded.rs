//! Requests that must reach neither the engine nor the upstream: strange hosts, pages, types, tokens.

use tslp_io::config::secret::Secret;
use tslp_io::config::settings::AccessConfig;
use tslp_io::guard::{GuardError, RequestGuard};

use crate::harness::{Engine, OK, Proxy, Upstream};

const FORM: &str = "Content-Type: text/plain\r\n";
const JSON: &str = "Content-Type: application/json\r\n";

/// A chat request with these headers gets this status; only 200 gets past the loop.
fn check(proxy: &Proxy, upstream: &Upstream, headers: &str, status: u16) {
    let request =
        format!("POST /v1/chat/completions HTTP/1.1\r\n{headers}Content-Length: 2\r\n\r\n{{}}");
    let mut client = proxy.client();
    client.send(proxy.at(&request));
    let response = client.message();
    assert_eq!(
        response.status(),
        status,
        "{headers:?}: {}",
        response.text()
    );
    if status == 200 {
        upstream.next();
        while !proxy.note().starts_with("end") {}
    } else {
        assert!(
            response.text().starts_with("{\"error\":{\"message\":\""),
            "{}",
            response.text()
        );
        assert_eq!(client.closed(), "", "an unread body ends the connection");
    }
    assert!(
        upstream.seen.is_empty() && proxy.nothing_noted(),
        "{headers:?}"
    );
}

#[test]
fn hosts_origins_and_types() {
    let upstream = Upstream::answering(OK);
    let proxy = Proxy::with(&upstream.url, Engine::Echo, |config| {
        config.access.allowed.hosts = vec!["box.lan".to_owned()];
        config.access.allowed.origins = vec!["https://app.example".to_owned()];
    });
    let own = "Host: localhost:{port}\r\n";
    let cases: [(String, u16); 29] = [
        (format!("{own}{JSON}"), 200),
        (format!("Host: 127.0.0.1:{{port}}\r\n{JSON}"), 200),
        (format!("Host: [::1]:{{port}}\r\n{JSON}"), 200),
        (format!("host: LOCALHOST:{{port}}\r\n{JSON}"), 200),
        (format!("Host: box.lan\r\n{JSON}"), 200),
        (format!("Host: box.lan:{{port}}\r\n{JSON}"), 200),
        (format!("Host: localhost\r\n{JSON}"), 400),
        (format!("Host: localhost:1\r\n{JSON}"), 400),
        (format!("Host: evil.example:{{port}}\r\n{JSON}"), 400),
        (
            format!("Host: localhost.evil.example:{{port}}\r\n{JSON}"),
            400,
        ),
        (format!("Host: 0.0.0.0:{{port}}\r\n{JSON}"), 400),
        (
            format!("Host: localhost:{{port}}@evil.example\r\n{JSON}"),
            400,
        ),
        (format!("Host: localhost.:{{port}}\r\n{JSON}"), 400),
        (format!("Host:\r\n{JSON}"), 400),
        (JSON.to_owned(), 400),
        (format!("{own}{own}{JSON}"), 400),
        (
            format!("{own}{JSON}Origin: http://localhost:{{port}}\r\n"),
            200,
        ),
        (format!("{own}{JSON}Origin: https://app.example\r\n"), 200),
        (format!("{own}{JSON}Origin: http://localhost:1\r\n"), 400),
        (
            format!("{own}{JSON}Origin: https://localhost:{{port}}\r\n"),
            400,
        ),
        (format!("{own}{JSON}Origin: https://evil.example\r\n"), 400),
        (format!("{own}{JSON}Origin: null\r\n"), 400),
        (format!("{own}{JSON}Sec-Fetch-Site: cross-site\r\n"), 400),
        (format!("{own}{FORM}"), 400),
        (own.to_owned(), 200),
        (format!("{own}Origin: https://evil.example\r\n"), 400),
        (format!("{own}Origin: null\r\n"), 400),
        (format!("{own}{JSON}Content-Encoding: gzip\r\n"), 400),
        (format!("{own}{JSON}Content-Encoding: zstd\r\n"), 400),
    ];
    for (headers, status) in &cases {
        check(&proxy, &upstream, headers, *status);
    }
}

/// A configured page gets CORS headers, and nobody else does.
#[test]
fn cors_headers() {
    let upstream = Upstream::answering(
        b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: 2\r\n\r\n{}",
    );
    let proxy = Proxy::with(&upstream.url, Engine::Echo, |config| {
        config.access.allowed.origins = vec!["https://app.example".to_owned()];
    });
    let get = |origin: &str| {
        proxy.at(&format!(
            "GET /v1/models HTTP/1.1\r\nHost: localhost:{{port}}\r\n{origin}\r\n"
        ))
    };
    let response = proxy.client().send(get("")).message();
    assert_eq!(response.header("access-control-allow-origin"), None);
    let response = proxy
        .client()
        .send(get("Origin: https://app.example\r\n"))
        .message();
    assert_eq!(
        response.header("access-control-allow-origin"),
        Some("https://app.example")
    );
    let preflight = "OPTIONS /v1/chat/completions HTTP/1.1\r\nHost: localhost:{port}\r\nOrigin: https://app.example\r\nAccess-Control-Request-Headers: anthropic-version,x-api-key\r\n\r\n";
    let response = proxy.client().send(proxy.at(preflight)).message();
    assert_eq!(response.status(), 204);
    assert_eq!(
        response.header("access-control-allow-headers"),
        Some("anthropic-version,x-api-key")
    );
}

#[test]
fn tokens() {
    let upstream = Upstream::answering(OK);
    let proxy = Proxy::with(&upstream.url, Engine::Echo, |config| {
        config.access.token = Some(Secret::new("correct horse".to_owned()));
    });
    let with = |header: &str| {
        proxy.at(&format!(
            "GET /v1/models HTTP/1.1\r\nHost: localhost:{{port}}\r\n{header}\r\n"
        ))
    };
    for wrong in [
        "",
        "Authorization: Bearer wrong horse\r\n",
        "Authorization: Bearer \r\n",
        "Authorization: Basic correct horse\r\n",
        "x-tslp-token: x\r\n",
    ] {
        let response = proxy.client().send(with(wrong)).message();
        assert_eq!(
            (response.status(), response.header("www-authenticate")),
            (401, Some("Bearer")),
            "{wrong}"
        );
    }
    assert!(upstream.seen.is_empty());
    // Our token goes no further; another's key does.
    assert_eq!(
        proxy
            .client()
            .send(with("Authorization: Bearer correct horse\r\n"))
            .message()
            .status(),
        200
    );
    assert_eq!(upstream.next().header("authorization"), None);
    let both = "x-tslp-token: correct horse\r\nAuthorization: Bearer sk-other\r\n";
    assert_eq!(proxy.client().send(with(both)).message().status(), 200);
    let seen = upstream.next();
    assert_eq!(
        (seen.header("authorization"), seen.header("x-tslp-token")),
        (Some("Bearer sk-other"), None)
    );
    assert_eq!(
        proxy.client().send(proxy.get("/health")).message().status(),
        200
    );
}

#[test]
fn configured_key() {
    let upstream = Upstream::answering(OK);
    let proxy = Proxy::with(&upstream.url, Engine::Echo, |config| {
        config.upstream.api_key = Some(Secret::new("sk-ours".to_owned()));
        assert!(!format!("{config:?}").contains("sk-ours"));
    });
    let request = "GET /v1/models HTTP/1.1\r\nHost: localhost:{port}\r\nAuthorization: Bearer sk-client\r\n\r\n";
    assert_eq!(
        proxy.client().send(proxy.at(request)).message().status(),
        200
    );
    let seen = upstream.next();
    assert_eq!(seen.header("authorization"), Some("Bearer sk-ours"));
    assert!(!seen.head.contains("sk-client"));
}

#[test]
fn token_for_open_binds() {
    let open = "0.0.0.0:0".parse().unwrap();
    let none = AccessConfig::default();
    assert!(matches!(
        RequestGuard::new(open, none.clone()),
        Err(GuardError::TokenNeeded(_))
    ));
    let empty = AccessConfig {
        token: Some(Secret::new(String::new())),
        ..none
    };
    assert!(matches!(
        RequestGuard::new(open, empty),
        Err(GuardError::TokenEmpty)
    ));
}

/// law 14.3 | `/health`: the process lives
#[test]
fn routes_and_methods() {
    let upstream = Upstream::answering(OK);
    let proxy = Proxy::start(&upstream.url, Engine::Echo);
    let cases = [
        (
            "GET /health",
            200,
            "{\"mode\":\"BOOT\",\"reason\":\"nothing was tested yet\",\"status\":\"ok\"}",
        ),
        ("GET /doctor", 200, "{\"page\":\"Doctor\"}"),
        ("GET /state", 200, "State(StateQuery"),
        (
            "GET /recent",
            200,
            "{\"page\":\"Recent(RecentQuery { limit: None, missing_lines: Hidden })\"}",
        ),
        (
            "GET /recent?limit=3",
            200,
            "{\"page\":\"Recent(RecentQuery { limit: Some(3), missing_lines: Hidden })\"}",
        ),
        (
            "GET /recent?limit=99999999999999999999999&missing_lines=true",
            200,
            "missing_lines: Shown })\"}",
        ),
        ("GET /recent?limit=-3", 400, "must be a number"),
        ("GET /recent?missing_lines=1", 400, "must be true or false"),
        ("GET /debug/last-prompt", 404, "unknown_route"),
        ("GET /memory", 404, "unknown_route"),
        ("GET /search", 404, "unknown_route"),
        ("GET /replay", 404, "unknown_route"),
        ("GET /summaries", 404, "unknown_route"),
        ("GET /similar", 404, "unknown_route"),
        ("POST /rewrite", 404, "unknown_route"),
        (
            "GET /",
            200,
            "{\"mode\":\"BOOT\",\"reason\":\"nothing was tested yet\",\"status\":\"ok\"}",
        ),
        ("POST /", 405, "GET, HEAD"),
        ("GET /v1", 404, "unknown_route"),
        ("GET /api/../tags", 400, "dot segments"),
        ("POST /v1//messages", 400, "spelt exactly so"),
        ("POST /API/Chat/", 404, "spelt exactly so"),
        ("GET /api/chat", 405, "POST"),
        ("POST /health", 405, "GET, HEAD"),
        ("DELETE /state", 405, "GET, HEAD"),
        ("GET /v1/chat/completions", 405, "POST"),
        ("OPTIONS /v1/chat/completions", 405, "POST"),
        ("GET /v1/../admin", 400, "dot segments"),
        ("GET /v1/%2e%2E/admin", 400, "dot segments"),
    ];
    let mut client = proxy.client();
    for (line, status, text) in cases {
        client.send(proxy.at(&format!(
            "{line} HTTP/1.1\r\nHost: localhost:{{port}}\r\n\r\n"
        )));
        let response = client.message();
        assert_eq!(response.status(), status, "{line}");
        assert!(
            response.text().contains(text),
            "{line}: {}",
            response.text()
        );
        if status == 405 {
            assert_eq!(response.header("allow"), Some(text));
        }
        assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
    }
    assert!(upstream.seen.is_empty());
}

#[test]
fn debug_page() {
    let proxy = Proxy::with("http://127.0.0.1:9", Engine::Echo, |config| {
        config.debug = true
    });
    let mut client = proxy.client();
    assert_eq!(
        client
            .send(proxy.get("/debug/last-prompt"))
            .message()
            .text(),
        "{\"page\":\"LastPrompt\"}"
    );
    client.send(proxy.at("HEAD /debug/last-prompt HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"));
    assert_eq!(client.head_only().header("content-length"), Some("21"));
    assert_eq!(client.send(proxy.get("/health")).message().status(), 200);
}
