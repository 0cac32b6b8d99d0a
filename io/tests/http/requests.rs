//! Malformed and unusual requests, and valid ones cut at every byte.

use crate::harness::{Engine, OK, Proxy, Upstream};

/// What the upstream may have seen of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sees {
    Nothing,
    One,
}

struct Case {
    request: &'static str,
    status: u16,
    upstream: Sees,
}

const fn refused(request: &'static str, status: u16) -> Case {
    Case {
        request,
        status,
        upstream: Sees::Nothing,
    }
}

const fn passed(request: &'static str) -> Case {
    Case {
        request,
        status: 200,
        upstream: Sees::One,
    }
}

const SMUGGLED: &str = "GET /v1/smuggled HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n";

/// `P` stands for a POST to a relayed route with a good Host; what follows are further header lines.
const CASES: &[Case] = &[
    // Body framing.
    refused(
        "P Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        400,
    ),
    refused(
        "P Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
        400,
    ),
    refused("P Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 400),
    refused("P Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc", 400),
    refused("P Content-Length: 3, 3\r\n\r\nabc", 400),
    refused("P Content-Length: +3\r\n\r\nabc", 400),
    refused("P Content-Length: -3\r\n\r\nabc", 400),
    refused("P Content-Length: 0x3\r\n\r\nabc", 400),
    refused("P Content-Length: 3 \t3\r\n\r\nabc", 400),
    refused("P Content-Length: 3a\r\n\r\nabc", 400),
    refused("P Content-Length:\r\n\r\nabc", 400),
    refused("P Content-Length: 99999999999999999999\r\n\r\nabc", 400),
    refused("P Content-Length: 18446744073709551619\r\n\r\nabc", 400),
    refused("P Content-Length: 999999999999999999\r\n\r\nabc", 413),
    passed("P Content-Length: 3\r\n\r\nabc"),
    passed("P Content-Length: 003\r\n\r\nabc"),
    passed("P Content-Length:3  \r\n\r\nabc"),
    passed("P Content-Length: 0\r\n\r\n"),
    passed("P \r\n"),
    // Transfer codings.
    passed("P Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"),
    passed("P transfer-ENCODING: CHUNKED\r\n\r\n3\r\nabc\r\n0\r\n\r\n"),
    passed("P Transfer-Encoding: chunked\r\n\r\n3;a=\"b\"\r\nabc\r\n000\r\nX: y\r\n\r\n"),
    refused("P Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 400),
    refused(
        "P Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
        400,
    ),
    refused(
        "P Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        400,
    ),
    refused("P Transfer-Encoding: identity\r\n\r\n", 400),
    refused(
        "P Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n",
        400,
    ),
    refused("P Transfer-Encoding: , chunked\r\n\r\n0\r\n\r\n", 400),
    refused("P Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n", 400),
    refused("P Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n", 400),
    refused("P Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n", 400),
    refused("P Transfer-Encoding:\r\n\r\n0\r\n\r\n", 400),
    refused("P Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
    refused("P Transfer-Encoding: gzip\r\n\r\n0\r\n\r\n", 400),
    refused(
        "P Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        400,
    ),
    refused(
        "P Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
        400,
    ),
    refused("P Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400),
    refused("P Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n", 400),
    refused("P  Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    refused(
        "P X: y\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        400,
    ),
    refused("P X: y\r\n\tfolded\r\n\r\n", 400),
    refused("P Content-Length : 3\r\n\r\nabc", 400),
    refused("P Content_Length\0: 3\r\n\r\nabc", 400),
    // Line ends and characters.
    refused("P X: y\n\r\n", 400),
    refused("P X: y\n\n", 400),
    refused("P X: y\rZ: w\r\n\r\n", 400),
    refused("P X: a\0b\r\n\r\n", 400),
    refused("P X: a\x01b\r\n\r\n", 400),
    refused("P X: a\x7fb\r\n\r\n", 400),
    refused("P : empty\r\n\r\n", 400),
    refused("P no colon\r\n\r\n", 400),
    refused("P X(y): z\r\n\r\n", 400),
    refused("P \"X\": z\r\n\r\n", 400),
    refused("P H\u{e4}: z\r\n\r\n", 400),
    passed("P X: \u{e4}\r\n\r\n"),
    passed("P X:\r\n\r\n"),
    passed("P X: a\tb\r\n\r\n"),
    // Request lines.
    passed("GET /v1/models HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"),
    passed("\r\nGET /v1/models HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"),
    passed("GET /v1/models?a=b&c=%20 HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"),
    passed("GET http://localhost:{port}/v1/models HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"),
    passed("BREW /v1/coffee HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"),
    passed("GET /v1/models HTTP/1.0\r\n\r\n"),
    passed("GET /v1/models HTTP/1.0\r\nHost: localhost:{port}\r\n\r\n"),
    refused(
        "GET http://evil.example/v1/models HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n",
        421,
    ),
    refused(
        "GET http://localhost:{port}@evil.example/v1/models HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n",
        421,
    ),
    refused(
        "GET ftp://localhost:{port}/v1/models HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n",
        400,
    ),
    refused(
        "GET v1/models HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n",
        400,
    ),
    refused("OPTIONS * HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n", 400),
    refused(
        "CONNECT localhost:80 HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n",
        501,
    ),
    refused(
        "GET  /v1/models HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n",
        400,
    ),
    refused(
        "GET /v1/models  HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n",
        400,
    ),
    refused(
        "GET\t/v1/models\tHTTP/1.1\r\nHost: localhost:{port}\r\n\r\n",
        400,
    ),
    refused(
        " GET /v1/models HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n",
        400,
    ),
    refused("GET /v1/models\r\n\r\n", 400),
    refused(
        "GET /v1/models#part HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n",
        400,
    ),
    refused(
        "GET /v1/m\u{f6}dels HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n",
        400,
    ),
    refused(
        "GET /v1\\models HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n",
        400,
    ),
    refused(
        "G<T /v1/models HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n",
        400,
    ),
    refused(
        "GET /v1/models HTTP/2.0\r\nHost: localhost:{port}\r\n\r\n",
        505,
    ),
    refused(
        "GET /v1/models HTTP/1.2\r\nHost: localhost:{port}\r\n\r\n",
        505,
    ),
    refused(
        "GET /v1/models HTTP/1\r\nHost: localhost:{port}\r\n\r\n",
        400,
    ),
    refused(
        "GET /v1/models http/1.1\r\nHost: localhost:{port}\r\n\r\n",
        400,
    ),
    refused(
        "GET /v1/models HTTP/1.10\r\nHost: localhost:{port}\r\n\r\n",
        400,
    ),
    refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    refused("\x16\x03\x01\x02\0\x01\0\x01\u{fc}\x03\x03", 400),
    refused(
        "POST /v1/files HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        400,
    ),
    // Expectations.
    refused("P Expect: 200-ok\r\nContent-Length: 3\r\n\r\nabc", 417),
    // Bodies that the chat route doesn't take.
    refused(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: application/json\r\n\r\n",
        400,
    ),
    refused(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: application/json\r\nContent-Length: 33554433\r\n\r\n",
        400,
    ),
];

fn written_out(proxy: &Proxy, case: &str) -> String {
    let whole = match case.strip_prefix("P ") {
        Some(rest) => format!("POST /v1/files HTTP/1.1\r\nHost: localhost:{{port}}\r\n{rest}"),
        None => case.to_owned(),
    };
    proxy.at(&whole)
}

#[test]
fn the_table() {
    let upstream = Upstream::answering(OK);
    let proxy = Proxy::start(&upstream.url, Engine::Echo);
    for case in CASES {
        let request = written_out(&proxy, case.request);
        let mut client = proxy.client();
        client.send(&request);
        let response = client.message();
        assert_eq!(
            response.status(),
            case.status,
            "{request:?}: {}",
            response.text()
        );
        match case.upstream {
            Sees::One => drop(upstream.next()),
            Sees::Nothing => {
                // What comes behind a refused request is never taken for another one.
                client.try_send(proxy.at(SMUGGLED).as_bytes());
                assert_eq!(client.closed(), "", "{request:?}");
            }
        }
        assert!(upstream.seen.is_empty(), "{request:?}");
    }
}

#[test]
fn bad_chunks() {
    let upstream = Upstream::start(|visit| {
        let text = visit.wire.closed();
        visit.say(&text);
    });
    let proxy = Proxy::start(&upstream.url, Engine::Echo);
    for body in [
        "3\r\nabcd\r\n0\r\n\r\n",
        "g\r\n",
        "3 \r\nabc\r\n",
        "-1\r\n",
        "ffffffffffffffffff\r\n",
        "3\nabc\r\n",
        "0\r\nX: y\n\r\n",
    ] {
        let mut client = proxy.client();
        client.send(written_out(&proxy, "P Transfer-Encoding: chunked\r\n\r\n"));
        client.send(body);
        assert_eq!(client.message().status(), 400, "{body:?}");
        assert_eq!(client.closed(), "");
        let text = upstream.hears();
        assert!(
            !text.ends_with("0\r\n\r\n"),
            "{body:?}: the upstream saw a complete request: {text:?}"
        );
    }
}

#[test]
fn heads_have_limits() {
    let proxy = Proxy::start("http://127.0.0.1:9", Engine::Echo);
    let long_target = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(20_000));
    let long_value = written_out(&proxy, &format!("P X: {}\r\n\r\n", "a".repeat(70_000)));
    let many = written_out(&proxy, &format!("P {}\r\n", "X: y\r\n".repeat(130)));
    for (request, status) in [(long_target, 414), (long_value, 431), (many, 431)] {
        let mut client = proxy.client();
        client.try_send(request.as_bytes());
        assert_eq!(client.message().status(), status);
        assert_eq!(client.closed(), "");
    }
}

#[test]
fn limit_of_chunked_bodies() {
    let upstream = Upstream::answering(OK);
    let proxy = Proxy::with(&upstream.url, Engine::Echo, |config| {
        config.limits.chat_body_bytes_max = 1000
    });
    let mut client = proxy.client();
    let head = "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    client
        .send(proxy.at(head))
        .send("3e8\r\n")
        .send(" ".repeat(1000))
        .send("\r\n1\r\n \r\n");
    assert_eq!(client.message().status(), 400);
    assert!(upstream.seen.is_empty() && proxy.nothing_noted());
}

#[test]
fn slow_heads_and_bodies() {
    let proxy = Proxy::with("http://127.0.0.1:9", Engine::Echo, |config| {
        config.timeouts.head = std::time::Duration::from_millis(50);
        config.timeouts.body_idle = std::time::Duration::from_millis(50);
        config.timeouts.keep_alive = std::time::Duration::from_millis(50);
    });
    let mut client = proxy.client();
    client.send("GET /health HT");
    assert_eq!(client.message().status(), 408);
    let mut client = proxy.client();
    client.send(proxy.chat("{\"a\":1}").trim_end_matches("1}"));
    assert_eq!(client.message().status(), 408);
    let mut client = proxy.client();
    assert_eq!(client.closed(), "", "a silent connection ends silently");
}

#[test]
fn expect_continue() {
    let upstream = Upstream::answering(OK);
    let proxy = Proxy::start(&upstream.url, Engine::Echo);
    for path in ["/v1/chat/completions", "/v1/files"] {
        let mut client = proxy.client();
        client.send(proxy.at(&format!(
            "POST {path} HTTP/1.1\r\nHost: localhost:{{port}}\r\nContent-Type: application/json\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n"
        )));
        assert_eq!(client.head_only().head, "HTTP/1.1 100 Continue\r\n\r\n");
        client.send("{}");
        assert_eq!(client.message().status(), 200);
        assert_eq!(upstream.next().header("expect"), None);
    }
    // A refused request gets its refusal instead.
    let mut client = proxy.client();
    client.send(proxy.at("POST /memory HTTP/1.1\r\nHost: localhost:{port}\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"));
    assert_eq!(client.message().status(), 404);
    assert_eq!(client.closed(), "");
}

#[test]
fn pipelined_in_order() {
    let upstream = Upstream::answering(OK);
    let proxy = Proxy::start(&upstream.url, Engine::Echo);
    let mut client = proxy.client();
    let all = [
        proxy.get("/doctor"),
        proxy.chat("{\"first\":1}"),
        proxy.get("/health"),
        proxy.get("/v1/models"),
        proxy.chat("{\"second\":2}"),
    ];
    client.send(all.concat());
    let texts: Vec<String> = (0..5).map(|_| client.message().text()).collect();
    assert_eq!(
        texts,
        [
            "{\"page\":\"Doctor\"}",
            "{}",
            "{\"mode\":\"BOOT\",\"reason\":\"nothing was tested yet\",\"status\":\"ok\"}",
            "{}",
            "{}"
        ]
    );
    let seen: Vec<String> = (0..3).map(|_| upstream.next().text()).collect();
    assert_eq!(seen, ["{\"first\":1}", "", "{\"second\":2}"]);
}

#[test]
fn ends_of_connections() {
    let proxy = Proxy::start("http://127.0.0.1:9", Engine::Echo);
    let close =
        proxy.at("GET /health HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n");
    let old = "GET /health HTTP/1.0\r\n\r\n";
    for request in [close.as_str(), old] {
        let mut client = proxy.client();
        let response = client.send(request).message();
        assert_eq!(response.header("connection"), Some("close"), "{request}");
        assert_eq!(client.closed(), "");
    }
    let mut client = proxy.client();
    for _ in 0..2 {
        client.send("GET /health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        assert_eq!(client.message().header("connection"), Some("keep-alive"));
    }
}

#[test]
fn same_at_any_split() {
    let upstream = Upstream::answering(OK);
    let proxy = Proxy::start(&upstream.url, Engine::Echo);
    let requests = [
        proxy.chat("{\"model\":\"m\"}"),
        proxy.at("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"mod\r\n8;x=y\r\nel\":\"m\"}\r\n0\r\nT: t\r\n\r\n"),
        proxy.at("POST /v1/embeddings HTTP/1.1\r\nHost: localhost:{port}\r\nTransfer-Encoding: chunked\r\n\r\nd\r\n{\"model\":\"m\"}\r\n0\r\n\r\n"),
        proxy.at("POST /v1/embeddings HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: 13\r\n\r\n{\"model\":\"m\"}"),
    ];
    for request in &requests {
        let mut client = proxy.client();
        for split in 1..request.len() {
            let (head, tail) = request.as_bytes().split_at(split);
            client.send(head);
            // The loop has read the first part once it has answered another client.
            assert_eq!(
                proxy
                    .client()
                    .send("GET /health HTTP/1.0\r\n\r\n")
                    .message()
                    .status(),
                200
            );
            client.send(tail);
            assert_eq!(client.message().text(), "{}", "split at {split}");
            assert_eq!(
                upstream.next().text(),
                "{\"model\":\"m\"}",
                "split at {split}"
            );
        }
    }
}
