//! Routes that pass through: bytes both ways, framing of our own, connections kept and lost.

use crate::harness::{Engine, OK, Proxy, Upstream};

/// What a client gets for `GET /v1/x` when the upstream answers these bytes and closes.
fn answered(bytes: &'static [u8], request: &str) -> (u16, String, String) {
    let upstream = Upstream::start(move |visit| {
        visit.request();
        visit.wire.try_send(bytes);
    });
    let proxy = Proxy::start(&upstream.url, Engine::Echo);
    let mut client = proxy.client();
    client.send(proxy.at(request));
    let head = client.head_only();
    (head.status(), head.head.clone(), client.closed())
}

const GET: &str = "GET /v1/x HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n";

/// Responses keep their bytes and get the proxy's own framing.
#[test]
fn framing_of_responses() {
    let cases: [(&[u8], u16, &str); 16] = [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", 200, "abc"),
        (b"HTTP/1.1 200\r\nContent-Length: 3\r\n\r\nabc", 200, "abc"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 200, "abc"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n2;x\r\nbc\r\n0\r\nT: t\r\n\r\n", 200, "3\r\nabc\r\n0\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\n\r\nabc", 200, "3\r\nabc\r\n0\r\n\r\n"),
        (b"HTTP/1.0 200 OK\r\n\r\nabc", 200, "3\r\nabc\r\n0\r\n\r\n"),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\nX: y\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na", 200, "a"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204, ""),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 77\r\n\r\n", 304, ""),
        (b"HTTP/1.1 307 Moved\r\nLocation: http://evil.example/\r\nContent-Length: 0\r\n\r\n", 307, ""),
        (b"HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\nno", 500, "no"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nabc", 200, "a"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", 200, "abc"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz", 200, "3\r\nabc\r\n"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", 200, "3\r\nabc\r\n"),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9\r\n\r\ndata", 200, "data"),
    ];
    for (bytes, status, body) in cases {
        let text = String::from_utf8_lossy(bytes);
        let found = answered(bytes, GET);
        // Chunks are cut where reads end, which is one read for so few bytes, but for what a decoder splits.
        let joined = found.2.replace("1\r\na\r\n2\r\nbc\r\n", "3\r\nabc\r\n");
        assert_eq!((found.0, joined.as_str()), (status, body), "{text:?}");
    }
}

#[test]
fn bad_responses() {
    let cases: [&[u8]; 14] = [
        b"",
        b"nonsense\r\n\r\n",
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/2 200 OK\r\n\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/1.1 999 Odd\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3",
        b"HTTP/1.1 200 OK\nContent-Length: 3\n\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: a\r\n folded\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n",
    ];
    for bytes in cases {
        let text = String::from_utf8_lossy(bytes);
        let (status, _, body) = answered(bytes, GET);
        assert_eq!(status, 502, "{text:?}");
        assert!(
            body.contains("the model server at http://127.0.0.1:"),
            "{body}"
        );
    }
}

#[test]
fn http_1_0_client() {
    let request = "GET /v1/x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
    let chunked =
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\n\r\n";
    let (_, head, body) = answered(chunked, request);
    assert!(
        !head.to_ascii_lowercase().contains("transfer-encoding"),
        "{head}"
    );
    assert!(head.contains("connection: close"), "{head}");
    assert_eq!(body, "abc");
}

#[test]
fn head_requests() {
    let upstream = Upstream::answering(b"HTTP/1.1 200 OK\r\nContent-Length: 77\r\n\r\n");
    let proxy = Proxy::start(&upstream.url, Engine::Echo);
    let mut client = proxy.client();
    for _ in 0..2 {
        client.send(proxy.at("HEAD /v1/models HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"));
        let response = client.head_only();
        assert_eq!(
            (response.status(), response.header("content-length")),
            (200, Some("77"))
        );
    }
    client.send(proxy.at("HEAD /nowhere HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"));
    assert_eq!(client.head_only().status(), 404);
    client.send(proxy.get("/health"));
    assert_eq!(
        client.message().text(),
        "{\"mode\":\"BOOT\",\"reason\":\"nothing was tested yet\",\"status\":\"ok\"}"
    );
}

#[test]
fn responses_at_any_split() {
    let whole = b"HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nX: y\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;e\r\nc\r\n0\r\nT: t\r\n\r\n";
    let upstream = Upstream::start(move |visit| {
        while visit.request() {
            let (head, tail) = whole.split_at(next_split(whole.len()));
            visit.wire.send(head).send(tail);
        }
    });
    let proxy = Proxy::start(&upstream.url, Engine::Echo);
    let mut client = proxy.client();
    for _ in 1..whole.len() {
        let response = client.send(proxy.get("/v1/x")).message();
        assert_eq!(
            (response.text().as_str(), response.header("x")),
            ("abc", Some("y"))
        );
    }
}

fn next_split(length: usize) -> usize {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static SPLIT: AtomicUsize = AtomicUsize::new(0);
    SPLIT.fetch_add(1, Ordering::Relaxed) % (length - 1) + 1
}

#[test]
fn streamed_uploads() {
    let upstream = Upstream::start(|visit| {
        let head = String::from_utf8(visit.wire.until(b"\r\n\r\n")).unwrap();
        visit.say(&head);
        let first = visit.wire.until(b"first");
        visit.say(&String::from_utf8_lossy(&first));
        visit.wire.until(b"last");
        visit.wire.try_send(OK);
    });
    let proxy = Proxy::start(&upstream.url, Engine::Echo);
    let mut client = proxy.client();
    client.send(proxy.at("POST /v1/audio HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: multipart/form-data; boundary=x\r\nAccept-Encoding: gzip\r\nContent-Length: 9\r\n\r\nfirst"));
    let head = upstream.hears();
    assert!(
        head.contains("Content-Type: multipart/form-data; boundary=x\r\n")
            && head.contains("content-length: 9\r\n"),
        "{head}"
    );
    assert!(head.contains("Accept-Encoding: gzip\r\n"), "{head}");
    assert_eq!(upstream.hears(), "first");
    client.send("last");
    assert_eq!(client.message().text(), "{}");
}

#[test]
fn large_bodies_pass() {
    let upstream = Upstream::start(|visit| {
        visit.wire.until(b"\r\n\r\n");
        let body = visit.wire.exactly(20_000_000);
        visit
            .wire
            .send("HTTP/1.1 200 OK\r\nContent-Length: 20000000\r\n\r\n")
            .send(body);
    });
    let proxy = Proxy::start(&upstream.url, Engine::Echo);
    let body: Vec<u8> = (0..20_000_000_u32)
        .map(|index| (index % 251) as u8)
        .collect();
    let mut client = proxy.client();
    client
        .send(proxy.at(
            "POST /v1/files HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: 20000000\r\n\r\n",
        ))
        .send(&body);
    assert!(client.message().body == body);
}

#[test]
fn base_path() {
    let upstream = Upstream::answering(OK);
    let proxy = Proxy::start(&format!("{}/api/v1", upstream.url), Engine::Echo);
    assert_eq!(
        proxy
            .client()
            .send(proxy.get("/v1/models?x=y"))
            .message()
            .status(),
        200
    );
    assert!(
        upstream
            .next()
            .head
            .starts_with("GET /api/v1/models?x=y HTTP/1.1\r\n")
    );
    assert_eq!(
        proxy.client().send(proxy.chat("{}")).message().status(),
        200
    );
    assert!(
        upstream
            .next()
            .head
            .starts_with("POST /api/v1/chat/completions HTTP/1.1\r\n")
    );
}
